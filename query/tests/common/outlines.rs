//! Outlines and filters of polygons, by reference.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "every test file uses its own part"
)]

use throng_query::mesh::{Filter, QueryFilter};
use throng_soa::DVec3;
use throng_soa::mesh::{PolyRef, TiledMesh};

pub fn passes(mesh: &TiledMesh, poly: PolyRef, filter: &QueryFilter) -> bool {
    mesh.resolve(poly)
        .is_some_and(|(tile, i)| filter.passes(tile.poly_flags[i], tile.poly_area[i]))
}

pub fn ring(mesh: &TiledMesh, poly: PolyRef) -> Vec<DVec3> {
    let (tile, index) = mesh.resolve(poly).unwrap();
    tile.poly_ring(index).to_vec()
}

/// Area that two convex outlines share, by cutting one with the edges of the other.
pub fn common_area(a: &[DVec3], b: &[DVec3]) -> f64 {
    let mut cut: Vec<DVec3> = a.to_vec();
    for i in 0..b.len() {
        let (p, q) = (b[i], b[(i + 1) % b.len()]);
        let side = |r: DVec3| (q.x - p.x) * (r.z - p.z) - (q.z - p.z) * (r.x - p.x);
        let mut kept = Vec::new();
        for k in 0..cut.len() {
            let (from, to) = (cut[k], cut[(k + 1) % cut.len()]);
            let (side_from, side_to) = (side(from), side(to));
            if side_from >= 0.0 {
                kept.push(from);
            }
            if (side_from >= 0.0) != (side_to >= 0.0) {
                kept.push(from + (to - from) * (side_from / (side_from - side_to)));
            }
        }
        cut = kept;
    }
    let mut area = 0.0;
    for k in 1..cut.len().saturating_sub(1) {
        let (u, v) = (cut[k] - cut[0], cut[k + 1] - cut[0]);
        area += 0.5 * (u.x * v.z - u.z * v.x);
    }
    area
}

//! Whether polygons lie over each other, seen from above.
//!
//! In: two polygons of a mesh. Out: whether their interiors meet. Exact: touching is not overlap, and
//! neither is what rounding makes of one border seen from two tiles.

use core::cmp::Ordering;
use throng_soa::DVec3;
use throng_soa::mesh::{Tile, TiledMesh};
use throng_soa::predicates::orient2d;

/// Whether the interiors of two polygons meet.
pub(super) fn polys_overlap(mesh: &TiledMesh, a: (&Tile, usize), b: (&Tile, usize)) -> bool {
    let bounds = |(tile, index): (&Tile, usize)| (tile.bounds_min[index], tile.bounds_max[index]);
    let ((low, high), (other_low, other_high)) = (bounds(a), bounds(b));
    low.x < other_high.x
        && high.x > other_low.x
        && low.z < other_high.z
        && high.z > other_low.z
        && !apart_by_grid(mesh, a, b)
        && outlines_overlap(a.0.poly_ring(a.1), b.0.poly_ring(b.1))
}

/// Whether a line of the tile grid separates two polygons, told in tile-local numbers: the two
/// world positions of one border can differ in their last bit, and touching is not overlap.
fn apart_by_grid(mesh: &TiledMesh, a: (&Tile, usize), b: (&Tile, usize)) -> bool {
    let size = mesh.params().tile_size;
    let extent = |(tile, index): (&Tile, usize), axis: usize| {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &vertex in tile.poly_vertices(index) {
            let value = f64::from(tile.data().vertices[usize::from(vertex)][axis]);
            low = low.min(value);
            high = high.max(value);
        }
        (low, high)
    };
    let place = |(tile, _): (&Tile, usize)| [tile.data().tile_x, tile.data().tile_z];
    [0, 2].iter().any(|&axis| {
        let (at, other_at) = (place(a)[axis / 2], place(b)[axis / 2]);
        let (below, above) = match at.cmp(&other_at) {
            Ordering::Less => (a, b),
            Ordering::Greater => (b, a),
            Ordering::Equal => return false,
        };
        extent(below, axis).1 <= size && extent(above, axis).0 >= 0.0
    })
}

/// Whether the interiors of two convex counter-clockwise rings meet, seen from above: no edge of
/// either has the whole other ring on its outer side. Exact; touching is not overlap.
fn outlines_overlap(a: &[DVec3], b: &[DVec3]) -> bool {
    !has_separating_edge(a, b) && !has_separating_edge(b, a)
}

fn has_separating_edge(ring: &[DVec3], other: &[DVec3]) -> bool {
    let flat = |p: DVec3| [p.x, p.z];
    let Some(&last) = ring.last() else {
        return true;
    };
    let mut a = last;
    ring.iter().any(|&b| {
        let separates = other
            .iter()
            .all(|&p| orient2d(flat(a), flat(b), flat(p)) <= 0.0);
        a = b;
        separates
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(points: &[(f64, f64)]) -> Vec<DVec3> {
        points.iter().map(|&(x, z)| DVec3::new(x, 0.0, z)).collect()
    }

    #[test]
    fn overlap_is_of_interiors_only() {
        let a = ring(&[(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)]);
        let beside = ring(&[(2.0, 0.0), (4.0, 0.0), (4.0, 2.0), (2.0, 2.0)]);
        let corner = ring(&[(2.0, 2.0), (4.0, 2.0), (4.0, 4.0)]);
        let inside = ring(&[(0.5, 0.5), (1.0, 0.5), (1.0, 1.0)]);
        let cross = ring(&[(-1.0, 0.9), (3.0, 0.9), (3.0, 1.1), (-1.0, 1.1)]);
        assert!(!outlines_overlap(&a, &beside) && !outlines_overlap(&a, &corner));
        assert!(outlines_overlap(&a, &inside) && outlines_overlap(&inside, &a));
        assert!(outlines_overlap(&a, &cross) && outlines_overlap(&a, &a));
    }
}

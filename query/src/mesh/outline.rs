//! Plane geometry shared by the queries: segments seen from above and polygon outlines.
//!
//! Everything here is X/Z arithmetic on world doubles in a written order; heights ride along by
//! linear interpolation. Polygons are convex and counter-clockwise with X right and Z up, so the
//! inside lies left of every edge.

use throng_soa::DVec3;
use throng_soa::mesh::Tile;
use throng_soa::world::distance_xz_sq;

/// Ends of edge `edge` of polygon `poly` (from vertex `edge` to the next), world units.
#[inline]
pub(crate) fn edge_ends(tile: &Tile, poly: usize, edge: usize) -> (DVec3, DVec3) {
    let ring = tile.poly_ring(poly);
    let next = if edge + 1 < ring.len() { edge + 1 } else { 0 };
    (ring[edge], ring[next])
}

/// Calls `visit(edge, a, b)` for every edge of a ring, in edge order.
#[inline]
pub(crate) fn for_each_edge(ring: &[DVec3], mut visit: impl FnMut(usize, DVec3, DVec3)) {
    let Some((&first, rest)) = ring.split_first() else {
        return;
    };
    let mut a = first;
    for (edge, &b) in rest.iter().enumerate() {
        visit(edge, a, b);
        a = b;
    }
    visit(rest.len(), a, first);
}

/// Twice the signed area of the triangle a, b, c seen from above: positive when `c` is left of
/// the line from `a` to `b`.
#[inline]
pub(crate) fn turn(a: DVec3, b: DVec3, c: DVec3) -> f64 {
    (b.x - a.x) * (c.z - a.z) - (b.z - a.z) * (c.x - a.x)
}

/// Parameter in [0, 1] of the point of segment `a`-`b` nearest to `p` in X/Z (0 for a point).
#[inline]
pub(crate) fn nearest_parameter(a: DVec3, b: DVec3, p: DVec3) -> f64 {
    let (ex, ez) = (b.x - a.x, b.z - a.z);
    let length_sq = ex * ex + ez * ez;
    if length_sq > 0.0 {
        (((p.x - a.x) * ex + (p.z - a.z) * ez) / length_sq).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

/// `a + (b − a)·t`, the ends returned exactly.
#[inline]
pub(crate) fn lerp(a: DVec3, b: DVec3, t: f64) -> DVec3 {
    if t == 0.0 {
        a
    } else if t == 1.0 {
        b
    } else {
        DVec3::new(
            a.x + (b.x - a.x) * t,
            a.y + (b.y - a.y) * t,
            a.z + (b.z - a.z) * t,
        )
    }
}

/// Squared X/Z distance from `p` to segment `a`-`b`.
#[inline]
pub(crate) fn segment_distance_sq(a: DVec3, b: DVec3, p: DVec3) -> f64 {
    distance_xz_sq(lerp(a, b, nearest_parameter(a, b, p)), p)
}

/// Whether `p` is inside a ring or on it, seen from above.
#[inline]
pub(crate) fn outline_contains(ring: &[DVec3], p: DVec3) -> bool {
    let Some(&last) = ring.last() else {
        return false;
    };
    let mut a = last;
    for &b in ring {
        if turn(a, b, p) < 0.0 {
            return false;
        }
        a = b;
    }
    true
}

/// The point of a ring nearest to `p` in X/Z, height interpolated along its edge, and the
/// squared distance. The lowest edge wins a tie.
#[inline]
pub(crate) fn outline_nearest(ring: &[DVec3], p: DVec3) -> (DVec3, f64) {
    let (mut best, mut best_sq) = (p, f64::INFINITY);
    for_each_edge(ring, |_, a, b| {
        let point = lerp(a, b, nearest_parameter(a, b, p));
        let distance_sq = distance_xz_sq(point, p);
        if distance_sq < best_sq {
            (best, best_sq) = (point, distance_sq);
        }
    });
    (best, best_sq)
}

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

/// Most edges of a polygon.
pub(crate) const MAX_VERTICES: usize = 16;

/// [`segment_distance_sq`] of every edge of a ring, the same bits, by edge; the rest of `out` stays.
///
/// Without a branch: where on an edge the nearest point lies, no predictor can call, and the divisions
/// of one edge overlap those of the next.
#[inline]
pub(crate) fn edge_distances_sq(ring: &[DVec3], p: DVec3, out: &mut [f64; MAX_VERTICES]) {
    let Some((last_out, &last)) = out.get_mut(ring.len().wrapping_sub(1)).zip(ring.last()) else {
        return;
    };
    let distance_sq = |a: DVec3, b: DVec3| {
        let (ex, ez) = (b.x - a.x, b.z - a.z);
        let length_sq = ex * ex + ez * ez;
        let t = ((p.x - a.x) * ex + (p.z - a.z) * ez) / length_sq;
        let t = if t > 0.0 { t } else { 0.0 };
        // A point for an edge has divided nothing by nothing, which is not above 0.
        let (x, z) = if t < 1.0 {
            (a.x + ex * t, a.z + ez * t)
        } else {
            (b.x, b.z)
        };
        let (dx, dz) = (x - p.x, z - p.z);
        dx * dx + dz * dz
    };
    *last_out = distance_sq(last, ring[0]);
    for (out, pair) in out.iter_mut().zip(ring.windows(2)) {
        *out = distance_sq(pair[0], pair[1]);
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use throng_soa::rng::SplitMix64;

    #[test]
    fn distances_of_all_edges_are_those_of_each() {
        let mut rng = SplitMix64::new(11);
        let mut at = || (rng.next_below(41) as f64 - 20.0) * 0.3;
        for round in 0..20_000 {
            let count = 1 + round % MAX_VERTICES;
            let mut ring: Vec<DVec3> = (0..count).map(|_| DVec3::new(at(), at(), at())).collect();
            if round % 5 == 0 {
                ring[count / 2] = ring[0];
            }
            let p = DVec3::new(at(), at(), at());
            let mut all = [0.0; MAX_VERTICES];
            edge_distances_sq(&ring, p, &mut all);
            for_each_edge(&ring, |edge, a, b| {
                assert_eq!(all[edge].to_bits(), segment_distance_sq(a, b, p).to_bits());
            });
        }
    }
}

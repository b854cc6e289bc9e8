//! The shapes of area searches, and the exact tests between portals, shapes and outlines.
//!
//! A circle is met by squared distance. A convex polygon is met by exact orientation tests on
//! closed segments; orientations below 2^-100 in magnitude read as zero.

use throng_soa::DVec3;
use throng_soa::predicates::orient2d;

/// Most points of a convex shape.
const MAX_POINTS: usize = 64;
/// Orientations smaller than this read as zero (2^-100).
const TINY: f64 = 1.0 / (1_u128 << 100) as f64;

/// The shape of the search in hand.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    /// Circle centre, or the mean of the polygon's points.
    pub(super) reference: DVec3,
    /// Circle radius; 0 for polygons.
    pub(super) radius: f64,
    /// Counter-clockwise corners (X, Z); empty for a circle.
    corners: Vec<[f64; 2]>,
}

impl Shape {
    /// Becomes a circle.
    pub(super) fn set_circle(&mut self, center: DVec3, radius: f64) {
        self.reference = center;
        self.radius = radius;
        self.corners.clear();
    }

    /// Becomes a convex polygon; false (and no corners) when the points are none.
    pub(super) fn set_convex(&mut self, points: &[DVec3]) -> bool {
        self.corners.clear();
        self.radius = 0.0;
        if !(3..=MAX_POINTS).contains(&points.len()) {
            return false;
        }
        self.corners.extend(points.iter().map(|p| [p.x, p.z]));
        let corners = &mut self.corners;
        // The exact test decides which way the points turn; rounding could not.
        if !is_convex(corners) {
            corners.reverse();
            if !is_convex(corners) {
                corners.clear();
                return false;
            }
        }
        let (mut x, mut z) = (0.0, 0.0);
        for &[px, pz] in &*corners {
            x += px;
            z += pz;
        }
        let count = corners.len() as f64;
        self.reference = DVec3::new(x / count, 0.0, z / count);
        true
    }

    /// Whether portal `a`-`b`, at squared distance `distance_sq` from the reference point, touches
    /// the shape.
    #[inline]
    pub(super) fn touches(&self, distance_sq: f64, a: DVec3, b: DVec3) -> bool {
        if self.corners.is_empty() {
            distance_sq <= self.radius * self.radius
        } else {
            segment_meets_convex(&self.corners, [a.x, a.z], [b.x, b.z])
        }
    }
}

/// Whether the corners run once counter-clockwise round a convex polygon with an area, no point
/// twice: no corner right of any edge, one strictly left of each.
fn is_convex(corners: &[[f64; 2]]) -> bool {
    for (i, &a) in corners.iter().enumerate() {
        let b = corners[(i + 1) % corners.len()];
        let mut has_left = false;
        for (j, &c) in corners.iter().enumerate() {
            if j != i && c == a {
                return false;
            }
            let side = orient2d(a, b, c);
            if side < 0.0 {
                return false;
            }
            has_left |= side > 0.0;
        }
        if !has_left {
            return false;
        }
    }
    true
}

#[inline]
fn side_of(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    let side = orient2d(a, b, c);
    if side.abs() < TINY { 0.0 } else { side }
}

/// Whether a closed segment has a point in a closed convex polygon.
fn segment_meets_convex(corners: &[[f64; 2]], p: [f64; 2], q: [f64; 2]) -> bool {
    let edges = || (0..corners.len()).map(|i| (corners[i], corners[(i + 1) % corners.len()]));
    let holds = |point| edges().all(|(a, b)| side_of(a, b, point) >= 0.0);
    holds(p) || holds(q) || edges().any(|(a, b)| segments_meet(a, b, p, q))
}

/// Whether two closed segments share a point.
fn segments_meet(a: [f64; 2], b: [f64; 2], p: [f64; 2], q: [f64; 2]) -> bool {
    let (side_p, side_q) = (side_of(a, b, p), side_of(a, b, q));
    let (side_a, side_b) = (side_of(p, q, a), side_of(p, q, b));
    let apart = |s: f64, t: f64| (s > 0.0 && t < 0.0) || (s < 0.0 && t > 0.0);
    if apart(side_p, side_q) && apart(side_a, side_b) {
        return true;
    }
    let between = |from: [f64; 2], to: [f64; 2], point: [f64; 2]| {
        (0..2).all(|axis| {
            point[axis] >= from[axis].min(to[axis]) && point[axis] <= from[axis].max(to[axis])
        })
    };
    (side_p == 0.0 && between(a, b, p))
        || (side_q == 0.0 && between(a, b, q))
        || (side_a == 0.0 && between(p, q, a))
        || (side_b == 0.0 && between(p, q, b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(points: &[(f64, f64)]) -> Vec<DVec3> {
        points.iter().map(|&(x, z)| DVec3::new(x, 0.0, z)).collect()
    }

    #[test]
    fn convex_shapes_of_either_winding_are_taken_and_others_refused() {
        let mut shape = Shape::default();
        let square = ring(&[(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)]);
        let mut clockwise = square.clone();
        clockwise.reverse();
        assert!(shape.set_convex(&square));
        assert_eq!(shape.reference, DVec3::new(1.0, 0.0, 1.0));
        assert!(shape.set_convex(&clockwise));
        let collinear = ring(&[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (0.0, 2.0)]);
        assert!(shape.set_convex(&collinear));
        for bad in [
            ring(&[(0.0, 0.0), (1.0, 0.0)]),
            ring(&[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)]),
            ring(&[(0.0, 0.0), (2.0, 0.0), (1.0, 0.5), (0.0, 2.0)]),
            ring(&[(0.0, 0.0), (2.0, 2.0), (2.0, 0.0), (0.0, 2.0)]),
            ring(&[(0.0, 0.0), (2.0, 0.0), (2.0, 0.0), (0.0, 2.0)]),
            ring(&[(0.0, 0.0), (2.0, 0.0), (0.0, 2.0), (0.0, 0.0)]),
        ] {
            assert!(!shape.set_convex(&bad), "{bad:?}");
        }
        let many: Vec<DVec3> = (0..65)
            .map(|i| DVec3::new(f64::from(i), 0.0, 0.0))
            .collect();
        assert!(!shape.set_convex(&many));
    }

    #[test]
    fn segments_touch_a_convex_shape_inside_across_and_at_a_corner() {
        let mut shape = Shape::default();
        assert!(shape.set_convex(&ring(&[(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)])));
        let touches = |a: (f64, f64), b: (f64, f64)| {
            shape.touches(
                f64::INFINITY,
                DVec3::new(a.0, 5.0, a.1),
                DVec3::new(b.0, 0.0, b.1),
            )
        };
        assert!(touches((0.5, 0.5), (1.0, 0.5)));
        assert!(touches((-1.0, 1.0), (3.0, 1.0)));
        assert!(touches((2.0, 2.0), (3.0, 3.0)));
        assert!(touches((-1.0, 1.0), (1.0, -1.0)));
        assert!(!touches((-1.0, 0.9), (0.9, -1.0)));
        assert!(!touches((2.0 + 1e-12, 0.0), (3.0, 1.0)));
    }
}

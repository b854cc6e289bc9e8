//! Exact geometric predicates: the sign is always that of the real-number determinant.
//!
//! Shewchuk's adaptive arithmetic ("Adaptive Precision Floating-Point Arithmetic and Fast Robust
//! Geometric Predicates", 1997) through the `robust` crate. Only `+ - *` are used, so the value
//! too is the same on every machine. Inputs must be finite; magnitudes of products must stay
//! inside the normal range, which coordinates bounded by 2^21 and away from zero by 2^-100 do.

use robust::Coord;

/// Positive when `c` lies left of the line from `a` to `b` (the triangle is counter-clockwise),
/// negative when it lies right, 0 when the three are collinear. The sign is exact.
#[inline]
#[must_use]
pub fn orient2d(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    robust::orient2d(coord(a), coord(b), coord(c))
}

/// Positive when `d` lies inside the circle through the counter-clockwise `a`, `b`, `c`, negative
/// outside, 0 on it. The sign is exact.
#[inline]
#[must_use]
pub fn in_circle(a: [f64; 2], b: [f64; 2], c: [f64; 2], d: [f64; 2]) -> f64 {
    robust::incircle(coord(a), coord(b), coord(c), coord(d))
}

#[inline]
fn coord(p: [f64; 2]) -> Coord<f64> {
    Coord { x: p[0], y: p[1] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orientation_is_exact_where_doubles_round_away() {
        let (a, b) = ([12.0, 12.0], [24.0, 24.0]);
        let step = 2.0_f64.sqrt() * 0.0; // keep the point exactly on the diagonal
        assert_eq!(orient2d([0.5 + step, 0.5], a, b), 0.0);
        let up = f64::from_bits(0.5_f64.to_bits() + 1);
        assert!(orient2d([0.5, up], a, b) > 0.0);
        assert!(orient2d([up, 0.5], a, b) < 0.0);
    }

    #[test]
    fn in_circle_sign_on_the_unit_circle() {
        let (a, b, c) = ([1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]);
        assert!(in_circle(a, b, c, [0.0, 0.0]) > 0.0);
        assert_eq!(in_circle(a, b, c, [0.0, -1.0]), 0.0);
        assert!(in_circle(a, b, c, [0.0, -2.0]) < 0.0);
    }
}

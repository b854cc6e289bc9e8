//! World coordinates: the rule every position obeys and the few vector operations whose order of
//! rounding is part of a result.
//!
//! Positions are `f64`, Y up, strictly inside ±2^21 units. Vectors are glam's for storage and
//! component-wise arithmetic; dot products and lengths are written out here, so no feature flag
//! of another crate in a host's build can change how they round.

use crate::error::ArgumentError;
pub use glam::{DVec2, DVec3};

/// Coordinates must be strictly inside plus or minus this (2^21 world units).
pub const COORDINATE_LIMIT: f64 = 2_097_152.0;

/// Whether `value` is finite and strictly inside ±[`COORDINATE_LIMIT`].
#[inline]
#[must_use]
pub fn is_coordinate(value: f64) -> bool {
    value.abs() < COORDINATE_LIMIT
}

/// Whether all three coordinates of `point` are inside the bound.
#[inline]
#[must_use]
pub fn is_point(point: DVec3) -> bool {
    is_coordinate(point.x) && is_coordinate(point.y) && is_coordinate(point.z)
}

/// Checks one coordinate.
///
/// # Errors
/// Names `argument`, the value and the bound when the value is not finite or too large.
#[inline]
pub fn check_coordinate(argument: &str, value: f64) -> Result<(), ArgumentError> {
    if is_coordinate(value) {
        Ok(())
    } else {
        Err(outside(argument, value))
    }
}

/// Checks the three coordinates of a position.
///
/// # Errors
/// Names `argument` with the component, the value and the bound.
#[inline]
pub fn check_point(argument: &str, point: DVec3) -> Result<(), ArgumentError> {
    if is_point(point) {
        return Ok(());
    }
    for (name, value) in [("x", point.x), ("y", point.y), ("z", point.z)] {
        if !is_coordinate(value) {
            return Err(outside(&format!("{argument}.{name}"), value));
        }
    }
    Ok(())
}

#[cold]
fn outside(argument: &str, value: f64) -> ArgumentError {
    ArgumentError::new(
        argument,
        value,
        "finite and strictly inside ±2097152 (2^21)",
    )
}

/// `(x·x + y·y) + z·z` of two vectors.
#[inline]
#[must_use]
pub fn dot3(a: DVec3, b: DVec3) -> f64 {
    a.x * b.x + a.y * b.y + a.z * b.z
}

/// Squared Euclidean distance.
#[inline]
#[must_use]
pub fn distance3_sq(a: DVec3, b: DVec3) -> f64 {
    let d = a - b;
    dot3(d, d)
}

/// Euclidean distance.
#[inline]
#[must_use]
pub fn distance3(a: DVec3, b: DVec3) -> f64 {
    distance3_sq(a, b).sqrt()
}

/// Squared distance seen from above.
#[inline]
#[must_use]
pub fn distance_xz_sq(a: DVec3, b: DVec3) -> f64 {
    let (dx, dz) = (a.x - b.x, a.z - b.z);
    dx * dx + dz * dz
}

/// Distance seen from above.
#[inline]
#[must_use]
pub fn distance_xz(a: DVec3, b: DVec3) -> f64 {
    distance_xz_sq(a, b).sqrt()
}

/// Dot product in the plane.
#[inline]
#[must_use]
pub fn dot2(a: DVec2, b: DVec2) -> f64 {
    a.x * b.x + a.y * b.y
}

/// `a.x·b.y − a.y·b.x`.
#[inline]
#[must_use]
pub fn cross2(a: DVec2, b: DVec2) -> f64 {
    a.x * b.y - a.y * b.x
}

/// Length in the plane.
#[inline]
#[must_use]
pub fn length2(v: DVec2) -> f64 {
    dot2(v, v).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_itself_is_outside_and_the_error_names_the_component() {
        assert!(check_coordinate("x", 2_097_151.999).is_ok());
        for bad in [COORDINATE_LIMIT, -COORDINATE_LIMIT, f64::NAN, f64::INFINITY] {
            let error = check_point("start", DVec3::new(0.0, bad, 0.0)).unwrap_err();
            assert_eq!(error.argument, "start.y");
        }
    }
}

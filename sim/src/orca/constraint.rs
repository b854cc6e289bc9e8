//! From a neighbour or a wall to a half-plane of permitted velocities.
//!
//! In: a point or segment relative to the steered agent, a radius, a horizon. Out: a
//! [`HalfPlane`] in velocity space. The velocity obstacle of a segment `a–b` grown by `r` over the
//! horizon `tau` is the convex set of velocities that reach the grown segment in time; its support
//! function is known in closed form, so the boundary point closest to a velocity is the best of a
//! handful of candidate normals. For another agent (a point) the same point is found case by case.

use throng_soa::DVec2;
use throng_soa::world::{cross2, dot2, length2};

/// The permitted velocities `v` with `(v − point) · normal ≥ 0`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HalfPlane {
    /// A velocity on the boundary line.
    pub point: DVec2,
    /// Unit normal, towards the permitted side.
    pub normal: DVec2,
}

impl HalfPlane {
    /// Positive inside; negative by the depth of the violation.
    #[inline]
    #[must_use]
    pub fn signed_distance(&self, velocity: DVec2) -> f64 {
        dot2(velocity - self.point, self.normal)
    }
}

/// The half-plane for another agent at relative position `position` (other minus own), with
/// combined radius `radius` over the horizon `tau`. The agent takes `share` of the change of
/// velocity; `dt` is the time in which an overlap must end.
#[must_use]
pub fn for_agent(
    position: DVec2,
    own_velocity: DVec2,
    other_velocity: DVec2,
    radius: f64,
    tau: f64,
    dt: f64,
    share: f64,
) -> HalfPlane {
    let relative = own_velocity - other_velocity;
    let distance_sq = dot2(position, position);
    let (change, normal) = if distance_sq <= radius * radius {
        let (depth, normal) = nearest_boundary(position, position, relative, radius, dt, true);
        (normal * -depth, normal)
    } else {
        truncated_cone(position, relative, radius, tau, distance_sq)
    };
    HalfPlane {
        point: own_velocity + change * share,
        normal,
    }
}

/// The change that brings `velocity` to the boundary of the cone around `center` cut off at time
/// `tau`, and the outward normal there (section 4 of the paper).
#[inline]
fn truncated_cone(
    center: DVec2,
    velocity: DVec2,
    radius: f64,
    tau: f64,
    distance_sq: f64,
) -> (DVec2, DVec2) {
    let w = velocity - center / tau;
    let along_axis = dot2(w, center);
    let w_sq = dot2(w, w);
    if along_axis < 0.0 && along_axis * along_axis > radius * radius * w_sq {
        // The cut-off arc is nearest.
        let length = w_sq.sqrt();
        let normal = w / length;
        return (normal * (radius / tau - length), normal);
    }
    let leg = (distance_sq - radius * radius).sqrt();
    let (direction, normal);
    if cross2(center, w) > 0.0 {
        direction = DVec2::new(
            center.x * leg - center.y * radius,
            center.x * radius + center.y * leg,
        ) / distance_sq;
        normal = DVec2::new(-direction.y, direction.x);
    } else {
        // Exactly on the axis both agents of a pair take this leg and turn the same way.
        direction = DVec2::new(
            center.x * leg + center.y * radius,
            center.y * leg - center.x * radius,
        ) / distance_sq;
        normal = DVec2::new(direction.y, -direction.x);
    }
    (direction * dot2(velocity, direction) - velocity, normal)
}

/// The half-plane for a static two-sided segment from `a` to `b` (relative to the agent): the
/// agent avoids it alone (section 5.4).
#[must_use]
pub fn for_segment(a: DVec2, b: DVec2, radius: f64, tau: f64, dt: f64) -> HalfPlane {
    let overlap = segment_distance_sq(a, b) <= radius * radius;
    let horizon = if overlap { dt } else { tau };
    let (depth, normal) = nearest_boundary(a, b, DVec2::ZERO, radius, horizon, overlap);
    HalfPlane {
        point: normal * -depth,
        normal,
    }
}

/// Squared distance from the origin to the segment `a–b`.
#[must_use]
pub fn segment_distance_sq(a: DVec2, b: DVec2) -> f64 {
    let e = b - a;
    let length_sq = dot2(e, e);
    let t = if length_sq > 0.0 {
        (-dot2(a, e) / length_sq).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let nearest = a + e * t;
    dot2(nearest, nearest)
}

/// Signed distance of velocity `x` from the velocity obstacle of the segment `a–b` grown by
/// `radius` over `tau`, and the outward normal at its boundary point closest to `x`. With
/// `bounded` the obstacle is the grown segment cut off at `tau` (the overlap case), so every
/// direction supports it.
fn nearest_boundary(
    a: DVec2,
    b: DVec2,
    x: DVec2,
    radius: f64,
    tau: f64,
    bounded: bool,
) -> (f64, DVec2) {
    let wa = x - a / tau;
    let wb = x - b / tau;
    let is_segment = a != b;
    let tolerance_a = 1e-9 * (length2(a) + radius);
    let tolerance_b = 1e-9 * (length2(b) + radius);
    let value = |n: DVec2| dot2(n, wa).min(dot2(n, wb));
    let mut best: Option<(f64, DVec2)> = None;
    let mut offer = |n: DVec2| {
        let supports =
            bounded || (dot2(n, a) + radius <= tolerance_a && dot2(n, b) + radius <= tolerance_b);
        let v = value(n);
        if supports && best.is_none_or(|(most, _)| v > most) {
            best = Some((v, n));
        }
    };
    let ends = if is_segment { &[wa, wb][..] } else { &[wa][..] };
    for &w in ends {
        let length = length2(w);
        if length > 0.0 {
            offer(w / length);
        }
    }
    if is_segment {
        let e = b - a;
        let length = length2(e);
        if length > 0.0 {
            let side = DVec2::new(-e.y, e.x) / length;
            offer(side);
            offer(-side);
        }
    }
    if !bounded {
        let ends = if is_segment { &[a, b][..] } else { &[a][..] };
        for &p in ends {
            let rho_sq = dot2(p, p);
            let leg = (rho_sq - radius * radius).sqrt();
            let c = p * -radius;
            let q = DVec2::new(-p.y * leg, p.x * leg);
            offer((c + q) / rho_sq);
            offer((c - q) / rho_sq);
        }
    }
    let (most, normal) = best.unwrap_or_else(|| {
        let sum = a + b;
        let length = length2(sum);
        let n = if length > 0.0 {
            -sum / length
        } else {
            DVec2::X
        };
        (value(n), n)
    });
    (most - radius / tau, normal)
}

/// The half-plane for a stretch `a → b` of a walkable area's boundary (relative to the agent, the
/// walkable side on the left), or `None` when the stretch does not face the agent: the agent is
/// beside it (grazing a corner is no collision), or behind it.
///
/// The agent's centre may come as near as `clearance` in the time `tau`, may always move along or
/// away, and is pushed off when nearer. One-sided and without corner legs, unlike section 5.4: the
/// surface the agent moves on takes care of corners.
#[inline]
#[must_use]
pub fn for_boundary(a: DVec2, b: DVec2, clearance: f64, tau: f64) -> Option<HalfPlane> {
    let e = b - a;
    let length_sq = dot2(e, e);
    if length_sq == 0.0 {
        return None;
    }
    let length = length_sq.sqrt();
    let s = -dot2(a, e) / length_sq;
    let margin = (clearance + 1e-6) / length;
    if s <= margin || s >= 1.0 - margin {
        return None;
    }
    let normal = DVec2::new(-e.y, e.x) / length;
    let distance = -dot2(a, normal);
    if distance < -1e-6 {
        return None;
    }
    Some(HalfPlane {
        point: -normal * (distance - clearance) / tau,
        normal,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_soa::rng::SplitMix64;

    fn random(rng: &mut SplitMix64, size: f64) -> DVec2 {
        DVec2::new(rng.range(-size, size), rng.range(-size, size))
    }

    #[test]
    fn the_case_form_finds_the_point_of_the_support_form() {
        let mut rng = SplitMix64::new(11);
        for _ in 0..20_000 {
            let (p, x) = (random(&mut rng, 8.0), random(&mut rng, 4.0));
            let (r, tau) = (rng.range(0.1, 2.0), rng.range(0.3, 4.0));
            if length2(p) < r * 1.001 {
                continue;
            }
            let (depth, normal) = nearest_boundary(p, p, x, r, tau, false);
            let (change, case_normal) = truncated_cone(p, x, r, tau, dot2(p, p));
            assert!(
                length2(change - normal * -depth) < 1e-6,
                "{p} {x} {r} {tau}"
            );
            // On the seam between two cases either normal is right.
            assert!(depth.abs() < 1e-6 || length2(normal - case_normal) < 1e-4);
        }
    }

    /// Whether velocity `x` brings a disc of radius `r` into the segment within `tau`, by walking
    /// along time in small steps.
    fn reaches(a: DVec2, b: DVec2, x: DVec2, r: f64, tau: f64) -> bool {
        (1..=400).any(|i| {
            let t = tau * f64::from(i) / 400.0;
            segment_distance_sq(a - x * t, b - x * t) < r * r
        })
    }

    #[test]
    fn the_boundary_point_parts_reaching_from_missing_velocities() {
        let mut rng = SplitMix64::new(12);
        for _ in 0..400 {
            let (a, b) = (random(&mut rng, 6.0), random(&mut rng, 6.0));
            let (r, tau) = (rng.range(0.2, 1.0), rng.range(0.5, 3.0));
            if segment_distance_sq(a, b) < (r * 1.1) * (r * 1.1) {
                continue;
            }
            let x = random(&mut rng, 4.0);
            let (depth, normal) = nearest_boundary(a, b, x, r, tau, false);
            let boundary = x - normal * depth;
            assert!(!reaches(a, b, boundary + normal * 0.05, r, tau));
            if depth < -0.05 {
                assert!(reaches(a, b, x, r, tau), "{a} {b} {x} {r} {tau}");
            } else if depth > 0.05 {
                assert!(!reaches(a, b, x, r, tau));
            }
        }
    }

    #[test]
    fn an_overlap_is_left_within_one_step() {
        let mut rng = SplitMix64::new(13);
        for _ in 0..1000 {
            let p = random(&mut rng, 0.5);
            let (own, other) = (random(&mut rng, 2.0), random(&mut rng, 2.0));
            let plane = for_agent(p, own, other, 1.2, 2.0, 0.1, 1.0);
            // Taking the whole change, the pair touches after dt.
            let apart = p - (plane.point - other) * 0.1;
            assert!((length2(apart) - 1.2).abs() < 1e-9);
        }
        let same_place = for_agent(DVec2::ZERO, DVec2::ZERO, DVec2::ZERO, 1.0, 2.0, 0.1, 0.5);
        assert_eq!(same_place.normal, DVec2::X);
    }

    #[test]
    fn a_wall_is_ignored_beside_and_behind_and_pushes_when_too_near() {
        let ahead = |d: f64| for_boundary(DVec2::new(-5.0, -d), DVec2::new(5.0, -d), 0.05, 1.0);
        let far = ahead(2.0).unwrap();
        assert_eq!(far.normal, DVec2::Y);
        assert!((far.point.y + 1.95).abs() < 1e-12);
        assert!(ahead(0.01).unwrap().point.y > 0.0);
        assert!(ahead(-0.1).is_none(), "the far side of a thin wall");
        assert!(for_boundary(DVec2::new(1.0, -1.0), DVec2::new(5.0, -1.0), 0.05, 1.0).is_none());
        assert!(for_boundary(DVec2::ONE, DVec2::ONE, 0.05, 1.0).is_none());
    }
}

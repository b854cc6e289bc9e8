//! The velocity an agent takes: inside the disc of its speed and every half-plane, closest to the
//! one it prefers; and when there is none, the one that violates the worst constraint least.
//!
//! In: half-planes in order, the first `hard` of them never relaxed; the speed limit; the
//! preferred velocity. Out: a [`Solution`]. Source: sections 5.1 and 5.3 of the paper, after the
//! incremental program of de Berg et al., "Computational Geometry", chapter 4. Departures: the
//! order is fixed, and the fallback raises the least signed distance constraint by constraint,
//! each step a 2D program.

use super::constraint::HalfPlane;
use throng_soa::DVec2;
use throng_soa::world::{dot2, length2};

/// Lines whose directions differ by less than this (sine of the angle) count as parallel.
const PARALLEL: f64 = 1e-12;
/// Normals closer than this (squared) are the same direction.
const SAME_NORMAL_SQ: f64 = 1e-24;

/// What the program found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solution {
    /// The velocity.
    pub velocity: DVec2,
    /// Whether every half-plane holds; otherwise the fallback chose.
    pub feasible: bool,
}

/// Reused storage of the fallback.
#[derive(Clone, Debug, Default)]
pub struct ProgramScratch {
    planes: Vec<HalfPlane>,
}

/// Solves for the velocity nearest `preferred` with `|v| ≤ limit`. The first `hard` planes are
/// kept even when the rest cannot all be.
pub fn solve(
    planes: &[HalfPlane],
    hard: usize,
    limit: f64,
    preferred: DVec2,
    scratch: &mut ProgramScratch,
) -> Solution {
    let speed = length2(preferred);
    let start = if speed <= limit {
        preferred
    } else {
        (preferred / speed) * limit
    };
    match run(planes, limit, start, Toward::Point(preferred)) {
        Ok(velocity) => Solution {
            velocity,
            feasible: true,
        },
        Err(failed) => {
            let hard = hard.min(planes.len());
            // Hard planes built by this crate always leave room; if rounding says otherwise they
            // alone are relaxed.
            let velocity = if failed.at < hard {
                relax(&planes[..hard], 0, limit, scratch)
            } else {
                relax(planes, hard, limit, scratch)
            };
            Solution {
                velocity,
                feasible: false,
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Toward {
    Point(DVec2),
    Direction(DVec2),
}

struct Failed {
    at: usize,
    velocity: DVec2,
}

#[inline]
fn run(planes: &[HalfPlane], limit: f64, start: DVec2, toward: Toward) -> Result<DVec2, Failed> {
    let mut velocity = start;
    for (i, plane) in planes.iter().enumerate() {
        if plane.signed_distance(velocity) >= 0.0 {
            continue;
        }
        match on_line(planes, i, limit, toward, velocity) {
            Some(v) => velocity = v,
            None => return Err(Failed { at: i, velocity }),
        }
    }
    Ok(velocity)
}

/// The best velocity on the boundary line of plane `i`, inside the disc and planes `0..i`.
#[inline]
fn on_line(
    planes: &[HalfPlane],
    i: usize,
    limit: f64,
    toward: Toward,
    current: DVec2,
) -> Option<DVec2> {
    let HalfPlane { point, normal } = planes[i];
    let direction = DVec2::new(-normal.y, normal.x);
    let along = dot2(point, direction);
    let discriminant = along * along + limit * limit - dot2(point, point);
    if discriminant < 0.0 {
        return None;
    }
    let root = discriminant.sqrt();
    let (mut low, mut high) = (-along - root, -along + root);
    for other in &planes[..i] {
        let denominator = dot2(direction, other.normal);
        let numerator = dot2(point - other.point, other.normal);
        if denominator.abs() <= PARALLEL {
            if numerator < 0.0 {
                return None;
            }
            continue;
        }
        let t = -numerator / denominator;
        if denominator > 0.0 {
            low = if t > low { t } else { low };
        } else {
            high = if t < high { t } else { high };
        }
        if low > high {
            return None;
        }
    }
    let clamp = |t: f64| {
        if t < low {
            low
        } else if t > high {
            high
        } else {
            t
        }
    };
    let t = match toward {
        Toward::Point(preferred) => clamp(dot2(direction, preferred - point)),
        Toward::Direction(objective) => {
            let rise = dot2(direction, objective);
            if rise > 0.0 {
                high
            } else if rise < 0.0 {
                low
            } else {
                clamp(dot2(direction, current - point))
            }
        }
    };
    Some(point + direction * t)
}

/// The velocity that maximizes the least signed distance of the planes from `hard` on, inside the
/// disc and the first `hard` planes.
fn relax(planes: &[HalfPlane], hard: usize, limit: f64, scratch: &mut ProgramScratch) -> DVec2 {
    let (kept, soft) = planes.split_at(hard);
    let Some(first) = soft.first() else {
        return DVec2::ZERO;
    };
    let list = &mut scratch.planes;
    let mut velocity = match farthest(kept, limit, first.normal) {
        Ok(v) => v,
        Err(failed) => failed.velocity,
    };
    let mut level = first.signed_distance(velocity);
    for (j, plane) in soft.iter().enumerate().skip(1) {
        if plane.signed_distance(velocity) >= level {
            continue;
        }
        list.clear();
        list.extend_from_slice(kept);
        for earlier in &soft[..j] {
            let m = earlier.normal - plane.normal;
            let length_sq = dot2(m, m);
            if length_sq <= SAME_NORMAL_SQ {
                continue;
            }
            let length = length_sq.sqrt();
            let unit = m / length;
            let offset = dot2(earlier.point, earlier.normal) - dot2(plane.point, plane.normal);
            list.push(HalfPlane {
                point: unit * (offset / length),
                normal: unit,
            });
        }
        if let Ok(v) = farthest(list, limit, plane.normal) {
            velocity = v;
            level = plane.signed_distance(velocity);
        }
    }
    velocity
}

fn farthest(planes: &[HalfPlane], limit: f64, direction: DVec2) -> Result<DVec2, Failed> {
    let start = (direction / length2(direction)) * limit;
    run(planes, limit, start, Toward::Direction(direction))
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_soa::rng::SplitMix64;

    fn random_planes(rng: &mut SplitMix64, count: usize) -> Vec<HalfPlane> {
        (0..count)
            .map(|_| {
                let n = DVec2::new(rng.range(-1.0, 1.0), rng.range(-1.0, 1.0));
                let normal = n / length2(n).max(1e-3);
                let normal = normal / length2(normal);
                let point = normal * rng.range(-2.5, 1.5);
                HalfPlane { point, normal }
            })
            .collect()
    }

    /// Every point where the optimum can be: crossings of two boundaries (lines or the circle),
    /// feet of the preferred velocity, and the preferred velocity itself.
    fn candidates(planes: &[HalfPlane], limit: f64, preferred: DVec2) -> Vec<DVec2> {
        let speed = length2(preferred);
        let mut points = vec![preferred, preferred / speed.max(1e-12) * limit];
        for (i, a) in planes.iter().enumerate() {
            let d = DVec2::new(-a.normal.y, a.normal.x);
            points.push(a.point + d * dot2(d, preferred - a.point));
            let along = dot2(a.point, d);
            let disc = along * along + limit * limit - dot2(a.point, a.point);
            if disc >= 0.0 {
                points.push(a.point + d * (-along + disc.sqrt()));
                points.push(a.point + d * (-along - disc.sqrt()));
            }
            for b in &planes[..i] {
                let denominator = dot2(d, b.normal);
                if denominator.abs() > 1e-9 {
                    points.push(a.point + d * (-dot2(a.point - b.point, b.normal) / denominator));
                }
            }
        }
        points
    }

    #[test]
    fn a_feasible_program_is_optimal_against_vertex_enumeration() {
        let mut rng = SplitMix64::new(21);
        let (mut feasible, mut infeasible) = (0, 0);
        let mut scratch = ProgramScratch::default();
        for _ in 0..20_000 {
            let count = 1 + rng.next_below(7) as usize;
            let planes = random_planes(&mut rng, count);
            let preferred = DVec2::new(rng.range(-3.0, 3.0), rng.range(-3.0, 3.0));
            let limit = 2.0;
            let solution = solve(&planes, 0, limit, preferred, &mut scratch);
            let allowed = |v: DVec2, slack: f64| {
                length2(v) <= limit + slack && planes.iter().all(|p| p.signed_distance(v) >= -slack)
            };
            let best = candidates(&planes, limit, preferred)
                .into_iter()
                .filter(|&v| allowed(v, 1e-7))
                .map(|v| length2(v - preferred))
                .fold(f64::INFINITY, f64::min);
            if solution.feasible {
                feasible += 1;
                assert!(allowed(solution.velocity, 1e-6));
                assert!(length2(solution.velocity - preferred) <= best + 1e-5);
            } else {
                infeasible += 1;
                // Nothing strictly inside may exist.
                let strictly = candidates(&planes, limit, preferred).into_iter().any(|v| {
                    length2(v) < limit - 1e-4 && planes.iter().all(|p| p.signed_distance(v) >= 1e-4)
                });
                assert!(!strictly);
            }
        }
        assert!(
            feasible > 5_000 && infeasible > 500,
            "{feasible} {infeasible}"
        );
    }

    /// The largest least-distance over points where three of the surfaces can meet.
    fn best_level(planes: &[HalfPlane], hard: usize, limit: f64) -> f64 {
        let (kept, soft) = planes.split_at(hard);
        let level = |v: DVec2| {
            soft.iter()
                .map(|p| p.signed_distance(v))
                .fold(f64::INFINITY, f64::min)
        };
        // Level sets of equal distance of two soft planes are lines; add them to the boundaries.
        let mut lines = kept.to_vec();
        for (i, a) in soft.iter().enumerate() {
            for b in &soft[..i] {
                let m = a.normal - b.normal;
                let length = length2(m);
                if length > 1e-9 {
                    let offset = dot2(a.point, a.normal) - dot2(b.point, b.normal);
                    lines.push(HalfPlane {
                        point: m / length * (offset / length),
                        normal: m / length,
                    });
                }
            }
        }
        let mut points = candidates(&lines, limit, DVec2::X);
        points.extend(soft.iter().map(|p| p.normal * limit));
        points
            .into_iter()
            .filter(|&v| {
                length2(v) <= limit + 1e-7 && kept.iter().all(|p| p.signed_distance(v) >= -1e-7)
            })
            .map(level)
            .fold(f64::NEG_INFINITY, f64::max)
    }

    #[test]
    fn the_fallback_has_the_least_largest_violation() {
        let mut rng = SplitMix64::new(22);
        let mut scratch = ProgramScratch::default();
        let mut seen = 0;
        for _ in 0..20_000 {
            let count = 3 + rng.next_below(5) as usize;
            let mut planes = random_planes(&mut rng, count);
            let hard = rng.next_below(3) as usize;
            for plane in &mut planes[..hard] {
                plane.point = plane.normal * rng.range(-2.0, -0.1); // zero stays permitted
            }
            let solution = solve(&planes, hard, 2.0, DVec2::new(1.0, 0.3), &mut scratch);
            if solution.feasible {
                continue;
            }
            seen += 1;
            let v = solution.velocity;
            let level = planes[hard..]
                .iter()
                .map(|p| p.signed_distance(v))
                .fold(f64::INFINITY, f64::min);
            assert!(length2(v) <= 2.0 + 1e-6);
            assert!(planes[..hard].iter().all(|p| p.signed_distance(v) >= -1e-6));
            assert!(level >= best_level(&planes, hard, 2.0) - 1e-5);
        }
        assert!(seen > 2_000, "{seen}");
    }
}

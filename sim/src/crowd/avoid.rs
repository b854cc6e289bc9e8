//! Stage 2: the velocity each agent takes, given what everybody wanted.
//!
//! Separation and a slight preference for one side bend the wanted velocity; walls give hard
//! half-planes and neighbours soft ones; the program picks the permitted velocity nearest to it.

use super::neighbors::{Neighbor, NeighborGrid};
use super::options::{AvoidanceQuality, MOST_NEIGHBORS, Profile};
use super::plan::AgentPlan;
use super::snapshot::StartTable;
use super::stats::StepStats;
use super::walls::{FacingWalls, WallPiece};
use crate::orca::{HalfPlane, ProgramScratch, for_agent, solve};
use std::hint::black_box;
use std::ops::Range;
use throng_soa::agents::{Walk, WallTable};
use throng_soa::world::{DVec2, DVec3, distance_xz, dot2, length2};

/// Relative position of two agents at one place.
const APART: f64 = 1e-3;
/// Centres nearer than this have no direction.
const TOGETHER: f64 = 1e-9;
/// An agent slower than this share of what it wants is blocked.
const BLOCKED_SHARE: f64 = 0.3;
/// An agent nearer to its destination than this many radii queues instead of going round.
const QUEUE_RADII: f64 = 8.0;
/// A wall within this many radii on the preferred side turns the preference round.
const SIDE_RADII: f64 = 4.0;
/// Cosine of an eighth turn.
const EIGHTH_TURN: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// What stage 2 reads.
pub(super) struct AvoidView<'a> {
    pub(super) profile_of: &'a [u32],
    pub(super) starts: &'a StartTable,
    pub(super) plans: &'a [AgentPlan],
    pub(super) walks: &'a [Walk],
    pub(super) walls: &'a WallTable,
    pub(super) pieces: &'a [Box<[WallPiece]>],
    pub(super) max_walls: usize,
    pub(super) profiles: &'a [Profile],
    pub(super) grid: &'a NeighborGrid,
    pub(super) dt: f64,
}

/// A worker's storage for stage 2.
#[derive(Debug, Default)]
pub(super) struct AvoidScratch {
    /// Half-planes of the agent in hand, walls first.
    pub(super) planes: Vec<HalfPlane>,
    /// How many of them are walls.
    pub(super) hard: usize,
    /// What was solved since somebody asked.
    pub(super) counts: StepStats,
    wall_distances: Vec<f64>,
    facing: FacingWalls,
    program: ProgramScratch,
}

/// What stage 2 writes for one slot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Avoided {
    /// The velocity to take.
    pub(crate) velocity: DVec2,
    /// The velocity wanted, separation and side preference included.
    pub(crate) wanted: DVec2,
}

/// Reads from the plans and boundary pieces of a run of ranks, side by side, before each is needed.
pub(super) fn warm_up(view: &AvoidView<'_>, ranks: Range<usize>) {
    let mut sum = 0;
    for &slot in &view.grid.order()[ranks] {
        let slot = slot as usize;
        let pieces = &view.pieces[slot][..view.walls.count[slot] as usize];
        sum ^= u64::from(view.plans[slot].crossing) ^ view.plans[slot].plan.wanted.x.to_bits();
        sum = pieces
            .iter()
            .fold(sum, |sum, piece| sum ^ piece.a.x.to_bits());
    }
    black_box(sum);
}

/// The velocity of the agent of a rank.
pub(super) fn avoid(view: &AvoidView<'_>, rank: usize, scratch: &mut AvoidScratch) -> Avoided {
    scratch.planes.clear();
    scratch.hard = 0;
    let slot = view.grid.order()[rank] as usize;
    let plan = &view.plans[slot];
    let alone = Avoided {
        velocity: plan.plan.wanted,
        wanted: plan.plan.wanted,
    };
    if plan.crossing {
        return alone;
    }
    let profile = &view.profiles[view.profile_of[slot] as usize];
    if profile.options.quality == AvoidanceQuality::Off {
        return alone;
    }
    let position = view.starts.position[rank];
    let mut near = [Neighbor::default(); MOST_NEIGHBORS];
    let found = view.grid.nearest(
        position.x,
        position.z,
        profile.neighbor_distance,
        slot as u32,
        &mut near[..profile.options.quality.max_neighbors()],
    );
    let near = &near[..found];
    let mut wanted = plan.plan.wanted;
    if profile.options.separation_distance > 0.0 {
        wanted = separate(view, rank, profile, near, wanted);
    }
    wall_planes(view, slot, position, profile, scratch);
    wanted = prefer_side(profile, wanted, scratch);
    neighbor_planes(view, rank, profile, near, scratch);
    let limit = profile.options.max_speed;
    let mut velocity = permitted(limit, wanted, scratch);
    let away = || distance_xz(position, view.walks[slot].destination);
    if is_blocked(view, away, profile, near, wanted, velocity) {
        velocity = way_round(limit, wanted, velocity, scratch);
    }
    Avoided { velocity, wanted }
}

fn permitted(limit: f64, wanted: DVec2, scratch: &mut AvoidScratch) -> DVec2 {
    let AvoidScratch {
        planes,
        hard,
        program,
        counts,
        ..
    } = scratch;
    let solution = solve(planes, *hard, limit, wanted, program);
    counts.programs += 1;
    counts.fallbacks += u64::from(!solution.feasible);
    solution.velocity
}

/// Adds a push away from every neighbour nearer than the separation distance.
fn separate(
    view: &AvoidView<'_>,
    rank: usize,
    profile: &Profile,
    near: &[Neighbor],
    wanted: DVec2,
) -> DVec2 {
    let options = &profile.options;
    let own = view.starts.position[rank];
    let slot = view.grid.order()[rank];
    let mut sum = wanted;
    for neighbor in near {
        let distance = neighbor.distance_sq.sqrt();
        if distance >= options.separation_distance {
            continue;
        }
        let t = 1.0 - distance / options.separation_distance;
        let strength = options.separation_weight * options.max_speed * (t * t);
        let other = view.starts.position[neighbor.rank as usize];
        let away = if distance <= TOGETHER {
            if neighbor.slot < slot {
                DVec2::X
            } else {
                -DVec2::X
            }
        } else {
            DVec2::new(own.x - other.x, own.z - other.z) / distance
        };
        sum += away * strength;
    }
    let speed = length2(sum);
    if speed > options.max_speed {
        sum = (sum / speed) * options.max_speed;
    }
    sum
}

fn wall_planes(
    view: &AvoidView<'_>,
    slot: usize,
    position: DVec3,
    profile: &Profile,
    scratch: &mut AvoidScratch,
) {
    let pieces = &view.pieces[slot][..view.walls.count[slot] as usize];
    scratch.wall_distances.clear();
    scratch.facing.collect(
        pieces,
        position,
        profile,
        view.max_walls,
        &mut scratch.planes,
        &mut scratch.wall_distances,
    );
    scratch.hard = scratch.planes.len();
}

/// Turns the wanted velocity slightly to one side; to the other when a wall is near on that side.
fn prefer_side(profile: &Profile, wanted: DVec2, scratch: &AvoidScratch) -> DVec2 {
    let preference = profile.options.side_preference;
    let speed = length2(wanted);
    if preference == 0.0 || speed == 0.0 {
        return wanted;
    }
    let side = DVec2::new(wanted.y, -wanted.x);
    let within = SIDE_RADII * profile.options.radius;
    let walled = scratch.planes.iter().zip(&scratch.wall_distances);
    let walled = walled.clone().any(|(plane, &distance_sq)| {
        distance_sq <= within * within && dot2(plane.normal, side) < -0.5 * speed
    });
    if walled {
        wanted - side * preference
    } else {
        wanted + side * preference
    }
}

fn neighbor_planes(
    view: &AvoidView<'_>,
    rank: usize,
    profile: &Profile,
    near: &[Neighbor],
    scratch: &mut AvoidScratch,
) {
    let starts = view.starts;
    let own = starts.position[rank];
    let slot = view.grid.order()[rank];
    let priority = starts.priority[rank];
    for neighbor in near {
        let other = neighbor.rank as usize;
        let at = starts.position[other];
        let mut relative = DVec2::new(at.x - own.x, at.z - own.z);
        if relative == DVec2::ZERO {
            relative.x = if slot > neighbor.slot { APART } else { -APART };
        }
        let share = if starts.crossing[other] {
            1.0
        } else {
            let theirs = starts.priority[other];
            theirs / (priority + theirs)
        };
        scratch.planes.push(for_agent(
            relative,
            starts.velocity[rank],
            starts.velocity[other],
            profile.options.radius + starts.radius[other],
            profile.time_horizon,
            view.dt,
            share,
        ));
    }
}

/// Whether somebody standing holds the agent up, far from where it wants to be.
fn is_blocked(
    view: &AvoidView<'_>,
    away: impl FnOnce() -> f64,
    profile: &Profile,
    near: &[Neighbor],
    wanted: DVec2,
    velocity: DVec2,
) -> bool {
    let wanted_sq = dot2(wanted, wanted);
    let slow = dot2(velocity, velocity) < (BLOCKED_SHARE * BLOCKED_SHARE) * wanted_sq;
    slow && near.iter().any(|n| !view.plans[n.slot as usize].walking)
        && away() > QUEUE_RADII * profile.options.radius
}

/// The fastest of the permitted velocities nearest to the wanted one and its quarter and eighth
/// turns.
fn way_round(limit: f64, wanted: DVec2, velocity: DVec2, scratch: &mut AvoidScratch) -> DVec2 {
    let DVec2 { x, y: z } = wanted;
    let mut best = velocity;
    for turned in [
        DVec2::new(-z, x),
        DVec2::new(z, -x),
        DVec2::new(x - z, x + z) * EIGHTH_TURN,
        DVec2::new(x + z, z - x) * EIGHTH_TURN,
    ] {
        let candidate = permitted(limit, turned, scratch);
        if dot2(candidate, candidate) > dot2(best, best) {
            best = candidate;
        }
    }
    best
}

//! The step of a follower that walks alone: steering, walking in hops from corner to corner, and
//! noticing that it stands.

use super::upkeep::{Upkeep, arrive, start_over, steering_corner, upkeep, wanted_speed, way_left};
use super::{FollowerOptions, FollowerRow, link};
use crate::corridor::{find_corners, move_along, move_position};
use crate::navigator::Navigator;
use throng_query::mesh::{Filter, QueryStatus, StraightFlags};
use throng_soa::agents::AgentState;
use throng_soa::error::ArgumentError;
use throng_soa::mesh::TiledMesh;
use throng_soa::world::{DVec3, distance_xz};

/// Corners passed in one step.
const MOST_HOPS: usize = 4;

/// One step of `dt` seconds.
///
/// # Errors
/// `dt` is not positive and finite.
pub fn step<F: Filter + ?Sized>(
    row: &mut FollowerRow<'_>,
    mesh: &TiledMesh,
    filter: &F,
    options: &FollowerOptions,
    dt: f64,
    navigator: &mut Navigator,
) -> Result<(), ArgumentError> {
    check_dt(dt)?;
    match *row.state {
        AgentState::Moving => {}
        AgentState::OffMeshLink => {
            link::advance(row, mesh, filter, options, dt);
            return Ok(());
        }
        _ => {
            *row.velocity = DVec3::ZERO;
            return Ok(());
        }
    }
    let corner = match upkeep(row, mesh, filter, options, false, dt, navigator) {
        Upkeep::Walk { corner } => corner,
        Upkeep::AtEntry => {
            link::begin(row, options);
            return Ok(());
        }
        Upkeep::Ended => return Ok(()),
    };
    let position = *row.position;
    let way = way_left(position, navigator.corners());
    let speed = wanted_speed(options, way);
    let aim = navigator.corners()[corner].position;
    let velocity = accelerate(*row.velocity, toward(position, aim, speed), options, dt);
    let length = length_xz(velocity) * dt;
    walk(row, mesh, filter, options, corner, length, navigator);
    let moved = *row.position - position;
    if *row.state == AgentState::Moving {
        row.report_velocity(moved, dt);
        let walked = distance_xz(*row.position, position);
        *row.remaining_distance = match way {
            Some((left, true)) => (left - walked).max(0.0),
            _ => f64::INFINITY,
        };
        check_progress(row, options, speed >= options.max_speed, dt);
    }
    Ok(())
}

/// # Errors
/// `dt` is not positive and finite.
pub(crate) fn check_dt(dt: f64) -> Result<(), ArgumentError> {
    if dt > 0.0 && dt.is_finite() {
        return Ok(());
    }
    Err(ArgumentError::new("dt", dt, "positive and finite"))
}

fn length_xz(v: DVec3) -> f64 {
    distance_xz(v, DVec3::ZERO)
}

fn toward(from: DVec3, aim: DVec3, speed: f64) -> DVec3 {
    let (dx, dz) = (aim.x - from.x, aim.z - from.z);
    let distance = (dx * dx + dz * dz).sqrt();
    if distance > 0.0 {
        DVec3::new(dx / distance * speed, 0.0, dz / distance * speed)
    } else {
        DVec3::ZERO
    }
}

fn accelerate(current: DVec3, wanted: DVec3, options: &FollowerOptions, dt: f64) -> DVec3 {
    let change = DVec3::new(wanted.x - current.x, 0.0, wanted.z - current.z);
    let size = length_xz(change);
    let limit = options.max_acceleration * dt;
    if size > limit {
        let current = DVec3::new(current.x, 0.0, current.z);
        current + (change / size) * limit
    } else {
        wanted
    }
}

/// Walks `length` along the corners: onto a corner exactly when it is reached, and on from there.
fn walk<F: Filter + ?Sized>(
    row: &mut FollowerRow<'_>,
    mesh: &TiledMesh,
    filter: &F,
    options: &FollowerOptions,
    mut corner: usize,
    mut length: f64,
    navigator: &mut Navigator,
) {
    for _ in 0..MOST_HOPS {
        let target = navigator.corners()[corner];
        let from = *row.position;
        let distance = distance_xz(from, target.position);
        let reaches = length >= distance;
        let to = if reaches {
            target.position
        } else {
            from + (target.position - from) * (length / distance)
        };
        if !advance_to(row, mesh, filter, to, target.poly, navigator)
            && !start_over(row, mesh, filter, options)
        {
            return;
        }
        row.settle();
        if !reaches {
            return;
        }
        length -= distance;
        if target.flags.contains(StraightFlags::END) {
            if row.corridor.head.complete || !row.corridor.head.needs_replan {
                arrive(row);
            }
            return;
        }
        if target.flags.contains(StraightFlags::OFF_MESH_CONNECTION) || length <= 0.0 {
            return;
        }
        let most = options.max_corners as usize;
        if find_corners(&mut row.corridor, mesh, most, navigator) != QueryStatus::Success {
            return;
        }
        match steering_corner(*row.position, navigator.corners()) {
            Some(next) => corner = next,
            None => return,
        }
    }
}

/// Moves within the corridor up to the corner's polygon, else along the surface.
pub(super) fn advance_to<F: Filter + ?Sized>(
    row: &mut FollowerRow<'_>,
    mesh: &TiledMesh,
    filter: &F,
    to: DVec3,
    corner_poly: throng_soa::mesh::PolyRef,
    navigator: &mut Navigator,
) -> bool {
    let corridor = &mut row.corridor;
    let limit = corridor.polys().iter().position(|&p| p == corner_poly);
    let limit = limit.map_or(corridor.head.count as usize, |i| i + 1);
    move_along(corridor, mesh, to, limit) || move_position(corridor, mesh, filter, to, navigator)
}

/// Counts time at full speed without progress; replans, and at last gives up. An agent that slows,
/// or is not watched at all, starts its count anew.
pub(super) fn check_progress(
    row: &mut FollowerRow<'_>,
    options: &FollowerOptions,
    full_speed: bool,
    dt: f64,
) {
    if options.stuck_window <= 0.0 || !full_speed {
        row.walk.stuck_clock = 0.0;
        row.walk.stuck_anchor = *row.position;
        return;
    }
    row.walk.stuck_clock += dt;
    if row.walk.stuck_clock < options.stuck_window {
        return;
    }
    let moved = distance_xz(*row.position, row.walk.stuck_anchor);
    let enough = options.max_speed * options.stuck_window * options.stuck_progress;
    row.walk.stuck_clock = 0.0;
    row.walk.stuck_anchor = *row.position;
    if moved >= enough {
        return;
    }
    row.walk.stuck_recoveries = row.walk.stuck_recoveries.saturating_add(1);
    if row.walk.stuck_recoveries > options.max_stuck_recoveries {
        row.stop(AgentState::Stuck);
    } else {
        row.corridor.request_replan();
    }
}

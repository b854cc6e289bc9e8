//! Crossing off-mesh links.
//!
//! An agent that came near enough to an entry has its crossing written down ([`prepare`]) and then
//! begins it ([`begin`]): a lone follower at once, one of a crowd when the crowd lets it. While it
//! waits, `duration` is 0 and `elapsed` is the time it has waited; so the wait is part of the saved
//! state.

use super::upkeep::start_over;
use super::{FollowerOptions, FollowerRow, OffMeshMode};
use throng_query::mesh::{Filter, StraightPathPoint, closest_point_on_poly, off_mesh_way};
use throng_soa::agents::{AgentState, Crossing};
use throng_soa::mesh::TiledMesh;
use throng_soa::world::{DVec3, distance3};

/// A longer wait counts as this one, seconds.
const LONGEST_WAIT: f64 = 1e9;

/// Writes down the crossing whose entry is corner `entry`, or adds `dt` to the wait for it.
pub(super) fn prepare(
    row: &mut FollowerRow<'_>,
    mesh: &TiledMesh,
    entry: usize,
    corners: &[StraightPathPoint],
    dt: f64,
) {
    let exit_poly = corners[entry].poly;
    let polys = row.corridor.polys();
    // The corner behind the entry is the exit, unless both are one point and were merged: the link
    // itself knows.
    let ends = polys.windows(2).find(|pair| pair[1] == exit_poly);
    let ends = ends.and_then(|pair| off_mesh_way(mesh, pair[0], pair[1]));
    let (start, end) = ends.unwrap_or((corners[entry].position, corners[entry + 1].position));
    let last = &*row.crossing;
    let waits_on = last.duration == 0.0 && last.start == start && last.end == end;
    let waited = if waits_on { last.elapsed + dt } else { 0.0 };
    *row.crossing = Crossing {
        start,
        end,
        elapsed: waited.min(LONGEST_WAIT),
        duration: 0.0,
        exit_poly,
    };
}

/// Begins the crossing that [`prepare`] wrote down: the corridor is trimmed to the polygon in front
/// of the link and the agent stands at the entry.
pub(super) fn begin(row: &mut FollowerRow<'_>, options: &FollowerOptions) {
    let Crossing {
        start,
        end,
        exit_poly,
        ..
    } = *row.crossing;
    row.crossing.elapsed = 0.0;
    row.crossing.duration = distance3(start, end) / options.off_mesh_speed;
    let exit = row.corridor.polys().iter().position(|&p| p == exit_poly);
    row.corridor
        .trim_front(exit.map_or(0, |i| i.saturating_sub(1)));
    row.corridor.set_position(start, 0);
    row.settle();
    *row.velocity = DVec3::ZERO;
    *row.state = AgentState::OffMeshLink;
}

/// One step of a crossing. With [`OffMeshMode::Host`] nothing moves.
pub(super) fn advance<F: Filter + ?Sized>(
    row: &mut FollowerRow<'_>,
    mesh: &TiledMesh,
    filter: &F,
    options: &FollowerOptions,
    dt: f64,
) {
    if options.off_mesh_mode == OffMeshMode::Host {
        *row.velocity = DVec3::ZERO;
        return;
    }
    row.crossing.elapsed += dt;
    let Crossing {
        start,
        end,
        elapsed,
        duration,
        ..
    } = *row.crossing;
    let from = *row.position;
    if elapsed >= duration {
        complete(row, mesh, filter, options);
    } else {
        *row.position = start + (end - start) * (elapsed / duration);
    }
    let moved = *row.position - from;
    row.report_velocity(moved, dt);
}

/// Ends a crossing: the agent stands at the exit and walks on. When the exit lies beside the polygon it
/// is attached to, it stands on that polygon's nearest point.
pub(crate) fn complete<F: Filter + ?Sized>(
    row: &mut FollowerRow<'_>,
    mesh: &TiledMesh,
    filter: &F,
    options: &FollowerOptions,
) {
    let Crossing { end, exit_poly, .. } = *row.crossing;
    *row.state = AgentState::Moving;
    let beside = closest_point_on_poly(mesh, exit_poly, end).filter(|on| !on.over_polygon);
    let landing = beside.map_or(end, |on| on.point);
    row.corridor.set_position(landing, 0);
    row.walk.stuck_clock = 0.0;
    row.walk.stuck_anchor = landing;
    let exit = row.corridor.polys().iter().position(|&p| p == exit_poly);
    match exit {
        Some(first) => {
            row.corridor.trim_front(first);
            row.settle();
        }
        None => {
            start_over(row, mesh, filter, options);
        }
    }
}

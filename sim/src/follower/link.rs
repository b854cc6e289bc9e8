//! Crossing off-mesh links.

use super::upkeep::start_over;
use super::{FollowerOptions, FollowerRow, OffMeshMode};
use throng_query::mesh::{Filter, StraightPathPoint};
use throng_soa::agents::{AgentState, Crossing};
use throng_soa::mesh::TiledMesh;
use throng_soa::world::{DVec3, distance3};

/// Writes down the crossing whose entry is corner `entry`; [`begin`] starts it.
pub(super) fn prepare(
    row: &mut FollowerRow<'_>,
    options: &FollowerOptions,
    entry: usize,
    corners: &[StraightPathPoint],
) {
    let (start, end) = (corners[entry].position, corners[entry + 1].position);
    *row.crossing = Crossing {
        start,
        end,
        elapsed: 0.0,
        duration: distance3(start, end) / options.off_mesh_speed,
        exit_poly: corners[entry].poly,
    };
}

/// Begins the crossing that [`prepare`] wrote down: the corridor is trimmed to the polygon in front
/// of the link and the agent stands at the entry.
pub(crate) fn begin(row: &mut FollowerRow<'_>) {
    let Crossing {
        start, exit_poly, ..
    } = *row.crossing;
    let exit = row.corridor.polys().iter().position(|&p| p == exit_poly);
    row.corridor
        .trim_front(exit.map_or(0, |i| i.saturating_sub(1)));
    row.corridor.head.position = start;
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

/// Ends a crossing: the agent stands at the exit and walks on.
pub(crate) fn complete<F: Filter + ?Sized>(
    row: &mut FollowerRow<'_>,
    mesh: &TiledMesh,
    filter: &F,
    options: &FollowerOptions,
) {
    let Crossing { end, exit_poly, .. } = *row.crossing;
    *row.state = AgentState::Moving;
    row.corridor.head.position = end;
    row.walk.stuck_clock = 0.0;
    row.walk.stuck_anchor = end;
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

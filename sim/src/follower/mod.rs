//! Following: one agent walks its corridor to a destination.
//!
//! In: a follower row (position, velocity, state, route), the mesh, a filter, options, `dt`.
//! Out: the row one step later. A lone follower takes [`step`]; a crowd plans with [`plan`], lets
//! avoidance change the velocity, and moves with [`apply`] or [`nudge`]. Arrival slows as in
//! Reynolds, "Steering Behaviors for Autonomous Characters", 1999.

mod crowd_moves;
mod link;
mod options;
mod standalone;
pub(crate) mod state;
mod step;
mod upkeep;

pub use crowd_moves::{Plan, SteerKind, apply, enter, nudge, plan};
pub use options::{FollowerOptions, OffMeshMode};
pub use standalone::PathFollower;
pub use step::step;

pub(crate) use link::complete as complete_link;
pub(crate) use options::{LARGEST, check_size};
pub(crate) use step::check_dt;

use crate::corridor::{CorridorRow, refine, relocate, replan};
use crate::navigator::Navigator;
use throng_query::mesh::{Filter, PathStatus, QueryStatus, find_nearest_poly};
use throng_soa::agents::{AgentState, Crossing, Walk};
use throng_soa::error::ArgumentError;
use throng_soa::mesh::TiledMesh;
use throng_soa::world::{DVec3, check_point};

/// One follower: references into its row of every column.
#[derive(Debug)]
pub struct FollowerRow<'a> {
    /// World position, on the mesh.
    pub position: &'a mut DVec3,
    /// Displacement over time of the last step.
    pub velocity: &'a mut DVec3,
    /// What it is doing.
    pub state: &'a mut AgentState,
    /// Whether it stands at its destination.
    pub reached_target: &'a mut bool,
    /// Way left, or infinite when the end is not among the next corners.
    pub remaining_distance: &'a mut f64,
    /// Counters.
    pub walk: &'a mut Walk,
    /// Off-mesh crossing.
    pub crossing: &'a mut Crossing,
    /// Corridor.
    pub corridor: CorridorRow<'a>,
}

impl FollowerRow<'_> {
    /// Reports a displacement over `dt`. A time too short to divide by reports no velocity.
    fn report_velocity(&mut self, moved: DVec3, dt: f64) {
        let velocity = moved / dt;
        *self.velocity = if velocity.is_finite() {
            velocity
        } else {
            DVec3::ZERO
        };
    }

    fn stop(&mut self, state: AgentState) {
        *self.state = state;
        *self.velocity = DVec3::ZERO;
    }

    /// Takes the corridor's position.
    fn settle(&mut self) {
        *self.position = self.corridor.head.position;
    }
}

/// Puts a follower on the accepted polygon nearest to `position`, standing, without a
/// destination. False, and nothing changed, when there is none.
///
/// # Errors
/// The position is outside the coordinate bound.
pub fn place<F: Filter + ?Sized>(
    row: &mut FollowerRow<'_>,
    mesh: &TiledMesh,
    filter: &F,
    position: DVec3,
    options: &FollowerOptions,
) -> Result<bool, ArgumentError> {
    check_point("position", position)?;
    let nearest = find_nearest_poly(mesh, position, options.search_extents, filter)?;
    if !nearest.poly.is_valid() {
        return Ok(false);
    }
    row.corridor.reset(nearest.poly, nearest.point);
    row.settle();
    row.stop(AgentState::Idle);
    *row.reached_target = false;
    *row.remaining_distance = 0.0;
    *row.crossing = Crossing::default();
    *row.walk = Walk {
        destination: *row.position,
        stuck_anchor: *row.position,
        ..Walk::default()
    };
    Ok(true)
}

/// Sends a follower to `target`: one replan from where it stands. During an off-mesh crossing the
/// target is only recorded and the replan follows the crossing.
///
/// # Errors
/// The target is outside the coordinate bound.
pub fn set_destination<F: Filter + ?Sized>(
    row: &mut FollowerRow<'_>,
    mesh: &TiledMesh,
    filter: &F,
    target: DVec3,
    options: &FollowerOptions,
    navigator: &mut Navigator,
) -> Result<PathStatus, ArgumentError> {
    check_point("target", target)?;
    *row.walk = Walk {
        destination: target,
        step_count: row.walk.step_count,
        stuck_anchor: *row.position,
        ..Walk::default()
    };
    *row.reached_target = false;
    *row.remaining_distance = f64::INFINITY;
    if row.crossing.duration == 0.0 {
        // Whoever waited for a link and is sent elsewhere has left the queue.
        row.crossing.elapsed = 0.0;
    }
    row.corridor.set_target(target)?;
    if *row.state == AgentState::OffMeshLink {
        return Ok(PathStatus::InProgress);
    }
    let budget = options.replan_budget as u32;
    let extents = options.search_extents;
    let mut found = replan(&mut row.corridor, mesh, filter, extents, budget, navigator)?;
    if found.status == QueryStatus::InvalidStartPoly
        && row.corridor.head.count > 0
        && relocate(&mut row.corridor, mesh, filter, extents)?
    {
        // The ground under a standing agent was rebuilt since its last step.
        row.settle();
        found = replan(&mut row.corridor, mesh, filter, extents, budget, navigator)?;
    }
    let (state, status) = match found.status {
        QueryStatus::Success => (AgentState::Moving, PathStatus::Found),
        QueryStatus::Partial => (AgentState::Moving, PathStatus::Partial),
        QueryStatus::InProgress => {
            row.walk.replan_rounds = 1;
            (AgentState::Moving, PathStatus::InProgress)
        }
        QueryStatus::NoEndNearby => (AgentState::NoPath, PathStatus::GoalInvalid),
        _ => (AgentState::NoPath, PathStatus::StartInvalid),
    };
    if found.status == QueryStatus::Success {
        let budget = options.refine_budget as u32;
        refine(&mut row.corridor, mesh, filter, budget, navigator);
    }
    *row.state = state;
    if state == AgentState::NoPath {
        *row.velocity = DVec3::ZERO;
    }
    Ok(status)
}

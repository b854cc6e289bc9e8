//! Stage 3: the moves.

use super::options::Profile;
use super::plan::{AgentPlan, follower_row, touch_routes};
use crate::corridor::CorridorMemory;
use crate::follower::{apply, nudge};
use crate::navigator::Navigator;
use std::hint::black_box;
use throng_query::mesh::QueryFilter;
use throng_soa::agents::{AgentChunk, RouteChunk};
use throng_soa::mesh::{PolyRef, TiledMesh};
use throng_soa::table::Chunk;
use throng_soa::world::{DVec2, length2};

/// What stage 3 writes: a run of rows of these tables.
pub(super) struct MotionRows<'a> {
    pub(super) agents: AgentChunk<'a>,
    pub(super) routes: RouteChunk<'a>,
    pub(super) paths: &'a mut [Box<[PolyRef]>],
    pub(super) memories: &'a mut [Option<Box<CorridorMemory>>],
}

impl Chunk for MotionRows<'_> {
    fn rows(&self) -> usize {
        self.agents.rows()
    }

    fn split(self, at: usize) -> (Self, Self) {
        let agents = self.agents.split(at);
        let routes = self.routes.split(at);
        let paths = self.paths.split_at_mut(at);
        let memories = self.memories.split_at_mut(at);
        (
            Self {
                agents: agents.0,
                routes: routes.0,
                paths: paths.0,
                memories: memories.0,
            },
            Self {
                agents: agents.1,
                routes: routes.1,
                paths: paths.1,
                memories: memories.1,
            },
        )
    }
}

impl MotionRows<'_> {
    /// Reads from what the moves will need, as [`PlanRows::warm_up`](super::plan::PlanRows::warm_up)
    /// does.
    pub(super) fn warm_up(&self) {
        black_box(touch_routes(
            self.memories,
            self.paths,
            CorridorMemory::touch_for_move,
        ));
    }
}

/// What stages 0 to 2 found for one agent.
pub(super) struct MotionStep<'a> {
    pub(super) plan: &'a AgentPlan,
    pub(super) start_velocity: DVec2,
    pub(super) solved: DVec2,
    pub(super) dt: f64,
}

/// Moves row `i` of the run. The change of velocity since the step began is limited; a walking
/// agent follows its corridor, any other is pushed along the surface.
pub(super) fn move_agent(
    rows: &mut MotionRows<'_>,
    i: usize,
    mesh: &TiledMesh,
    filter: &QueryFilter,
    profiles: &[Profile],
    step: &MotionStep<'_>,
    navigator: &mut Navigator,
) {
    if !rows.agents.active[i] || step.plan.crossing {
        return;
    }
    let profile = &profiles[rows.agents.profile[i] as usize];
    let limit = profile.options.max_acceleration * step.dt;
    let velocity = limited(step.start_velocity, step.solved, limit);
    let mut row = follower_row(
        &mut rows.agents,
        &mut rows.routes,
        rows.paths,
        rows.memories,
        i,
    );
    if step.plan.walking {
        let (options, plan) = (&profile.follower, &step.plan.plan);
        apply(
            &mut row, mesh, filter, options, plan, velocity, step.dt, navigator,
        );
    } else {
        nudge(&mut row, mesh, filter, velocity, step.dt, navigator);
    }
}

/// `to`, or as far toward it from `from` as `limit` allows.
fn limited(from: DVec2, to: DVec2, limit: f64) -> DVec2 {
    let change = to - from;
    let size = length2(change);
    if size > limit {
        from + (change / size) * limit
    } else {
        to
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_scales_the_unit_change() {
        // The other order, change * (limit / size), rounds differently here.
        let (from, to) = (DVec2::new(0.1, 0.2), DVec2::new(1.5, -0.9));
        let change = to - from;
        let size = length2(change);
        let exact = DVec2::new(
            from.x + change.x / size * 0.4,
            from.y + change.y / size * 0.4,
        );
        let other = from + change * (0.4 / size);
        assert_eq!(limited(from, to, 0.4), exact);
        assert_ne!(limited(from, to, 0.4), other);
        assert_eq!(limited(from, to, 2.0), to);
    }
}

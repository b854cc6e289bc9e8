//! Stage 0: positions and velocities as the step begins, in the order of the neighbour grid.
//!
//! Every later stage reads these columns, so no agent sees another's half-done step. Sorted by cell,
//! what avoidance needs of an agent's neighbours lies close together. One thread.

use super::neighbors::NeighborGrid;
use super::options::Profile;
use super::plan::AgentPlan;
use throng_soa::agents::AgentTable;
use throng_soa::world::{DVec2, DVec3};

throng_soa::index! {
    /// Place of an agent in the order of the grid's cells.
    pub(crate) struct Rank;
}

throng_soa::table! {
    /// Every agent as the step begins, by rank. Rebuilt each step, never saved.
    pub(crate) struct StartTable, index Rank, chunk StartChunk {
        /// World position.
        pub(crate) position: DVec3,
        /// Velocity the last step ended with (x, z).
        pub(crate) velocity: DVec2,
        /// Body radius.
        pub(crate) radius: f64,
        /// Weight against others.
        pub(crate) priority: f64,
        /// Whether an off-mesh link carries it in this step; known after stage 1.
        pub(crate) crossing: bool,
    }
}

/// Sorts the agents into the grid and copies what others see of them.
pub(super) fn take_snapshot(
    agents: &AgentTable,
    profiles: &[Profile],
    reach: f64,
    starts: &mut StartTable,
    velocities: &mut [DVec2],
    grid: &mut NeighborGrid,
) {
    for (start, velocity) in velocities.iter_mut().zip(&agents.velocity) {
        *start = DVec2::new(velocity.x, velocity.z);
    }
    grid.rebuild(reach, &agents.active, |slot| {
        let position = agents.position[slot];
        (position.x, position.z)
    });
    starts.resize(grid.order().len());
    for (rank, &slot) in grid.order().iter().enumerate() {
        let slot = slot as usize;
        starts.position[rank] = agents.position[slot];
        starts.velocity[rank] = velocities[slot];
        starts.radius[rank] = profiles[agents.profile[slot] as usize].options.radius;
        starts.priority[rank] = agents.priority[slot];
        starts.crossing[rank] = false;
    }
}

/// Notes who is carried by a link.
pub(super) fn note_crossings(plans: &[AgentPlan], grid: &NeighborGrid, starts: &mut StartTable) {
    if plans.iter().all(|plan| !plan.crossing) {
        return;
    }
    for (crossing, &slot) in starts.crossing.iter_mut().zip(grid.order()) {
        *crossing = plans[slot as usize].crossing;
    }
}

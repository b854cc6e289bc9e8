//! Stage 0: positions and velocities as the step begins, and the neighbour grid.
//!
//! Every later stage reads these columns, so no agent sees another's half-done step. One thread.

use super::neighbors::NeighborGrid;
use throng_soa::agents::{AgentSlot, AgentTable};
use throng_soa::world::{DVec2, DVec3};

throng_soa::table! {
    /// Every slot as the step begins. Rebuilt each step, never saved.
    pub(crate) struct StartTable, index AgentSlot, chunk StartChunk {
        /// World position.
        pub(crate) position: DVec3,
        /// Velocity the last step ended with (x, z).
        pub(crate) velocity: DVec2,
    }
}

/// Copies the agents' positions and velocities and sorts them into the grid.
pub(super) fn take_snapshot(
    agents: &AgentTable,
    reach: f64,
    starts: &mut StartTable,
    grid: &mut NeighborGrid,
) {
    starts.position.copy_from_slice(&agents.position);
    for (start, velocity) in starts.velocity.iter_mut().zip(&agents.velocity) {
        *start = DVec2::new(velocity.x, velocity.z);
    }
    grid.rebuild(reach, &agents.active, |slot| {
        let position = agents.position[slot];
        (position.x, position.z)
    });
}

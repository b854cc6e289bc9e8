//! Looking at a crowd: one agent, or whole columns.

use super::{AgentId, AgentOptions, Crowd, WallPiece};
use crate::orca::HalfPlane;
use throng_soa::agents::{AgentState, Crossing};
use throng_soa::mesh::PolyRef;
use throng_soa::world::{DVec2, DVec3};

/// Columns of a crowd, one entry per slot.
#[derive(Clone, Copy, Debug)]
pub struct CrowdColumns<'a> {
    /// World positions, on the mesh.
    pub position: &'a [DVec3],
    /// Velocities: displacement of the last step over its time.
    pub velocity: &'a [DVec3],
    /// What agents are doing.
    pub state: &'a [AgentState],
    /// Whether they stand at their destination.
    pub reached_target: &'a [bool],
    /// Way left; infinite when the end is not among the next corners.
    pub remaining_distance: &'a [f64],
    /// Agents' numbers.
    pub id: &'a [u64],
    /// Whether the slot holds an agent; the other columns mean nothing where it does not.
    pub active: &'a [bool],
}

/// One agent of a crowd, as it is now.
#[derive(Clone, Copy, Debug)]
pub struct Agent<'a> {
    crowd: &'a Crowd,
    slot: usize,
}

impl<'a> Agent<'a> {
    pub(super) fn new(crowd: &'a Crowd, slot: usize) -> Self {
        Self { crowd, slot }
    }

    /// Its name.
    #[must_use]
    pub fn id(&self) -> AgentId {
        self.crowd.id_at(self.slot)
    }

    /// World position, on the mesh.
    #[must_use]
    pub fn position(&self) -> DVec3 {
        self.crowd.agents.position[self.slot]
    }

    /// Displacement of the last step over its time.
    #[must_use]
    pub fn velocity(&self) -> DVec3 {
        self.crowd.agents.velocity[self.slot]
    }

    /// What it is doing.
    #[must_use]
    pub fn state(&self) -> AgentState {
        self.crowd.agents.state[self.slot]
    }

    /// Whether it stands at its destination, and not at the nearest reachable place.
    #[must_use]
    pub fn reached_target(&self) -> bool {
        self.crowd.agents.reached_target[self.slot]
    }

    /// Way left; infinite when the end is not among the next corners.
    #[must_use]
    pub fn remaining_distance(&self) -> f64 {
        self.crowd.agents.remaining_distance[self.slot]
    }

    /// Where it was sent (its own place before it was sent anywhere).
    #[must_use]
    pub fn destination(&self) -> DVec3 {
        self.crowd.routes.walk[self.slot].destination
    }

    /// Whether it has a route to follow.
    #[must_use]
    pub fn has_path(&self) -> bool {
        matches!(self.state(), AgentState::Moving | AgentState::OffMeshLink)
    }

    /// Whether its route leads to the destination itself.
    #[must_use]
    pub fn route_is_complete(&self) -> bool {
        self.crowd.routes.corridor[self.slot].complete
    }

    /// The polygons still ahead, its own first.
    #[must_use]
    pub fn corridor(&self) -> &'a [PolyRef] {
        let count = self.crowd.routes.corridor[self.slot].count as usize;
        &self.crowd.paths[self.slot][..count]
    }

    /// The off-mesh link it is crossing; [`TiledMesh::link_of`](throng_soa::mesh::TiledMesh::link_of)
    /// gives its `user_id`.
    #[must_use]
    pub fn crossing(&self) -> Option<&'a Crossing> {
        let crossing = &self.crowd.routes.crossing[self.slot];
        (self.state() == AgentState::OffMeshLink).then_some(crossing)
    }

    /// Its settings.
    #[must_use]
    pub fn options(&self) -> &'a AgentOptions {
        let profile = self.crowd.agents.profile[self.slot];
        &self.crowd.profiles.get(profile).options
    }

    /// Its weight against others.
    #[must_use]
    pub fn priority(&self) -> f64 {
        self.crowd.agents.priority[self.slot]
    }

    /// The velocity it wanted in the last step (x, z), separation and side preference included,
    /// before avoidance.
    #[must_use]
    pub fn wanted_velocity(&self) -> DVec2 {
        self.crowd.solved[self.slot].wanted
    }

    /// The velocity avoidance chose for it in the last step (x, z), before acceleration is limited.
    #[must_use]
    pub fn solved_velocity(&self) -> DVec2 {
        self.crowd.solved[self.slot].velocity
    }

    /// The boundary pieces around it, as last looked up.
    #[must_use]
    pub fn walls(&self) -> &'a [WallPiece] {
        let count = self.crowd.walls.count[self.slot] as usize;
        &self.crowd.pieces[self.slot][..count]
    }

    /// The half-planes of the last step, walls first, and how many are walls. Empty unless the
    /// crowd records them.
    #[must_use]
    pub fn constraints(&self) -> (&'a [HalfPlane], usize) {
        let recorded = self.crowd.recorded.get(self.slot);
        recorded.map_or((&[], 0), |r| (&r.planes, r.walls))
    }
}

//! A follower that owns its row, for a caller with a single agent.

use super::state::{self, FollowerView};
use super::{FollowerOptions, FollowerRow, complete_link, place, set_destination, step};
use crate::corridor::CorridorRow;
use crate::navigator::Navigator;
use throng_query::mesh::{Filter, PathStatus};
use throng_soa::agents::{AgentState, CorridorHead, Crossing, Walk};
use throng_soa::bytes::{Reader, Writer};
use throng_soa::error::{ArgumentError, DataError};
use throng_soa::mesh::{PolyRef, TiledMesh};
use throng_soa::world::DVec3;

/// One agent with a corridor and no crowd around it.
#[derive(Clone, Debug)]
pub struct PathFollower {
    options: FollowerOptions,
    position: DVec3,
    velocity: DVec3,
    state: AgentState,
    reached_target: bool,
    remaining_distance: f64,
    walk: Walk,
    crossing: Crossing,
    head: CorridorHead,
    path: Vec<PolyRef>,
}

impl PathFollower {
    /// A follower that is not placed yet.
    ///
    /// # Errors
    /// Names the option that is out of range.
    pub fn new(options: FollowerOptions) -> Result<Self, ArgumentError> {
        options.validate()?;
        let capacity = options.corridor_capacity as usize;
        Ok(Self {
            options,
            position: DVec3::ZERO,
            velocity: DVec3::ZERO,
            state: AgentState::Idle,
            reached_target: false,
            remaining_distance: 0.0,
            walk: Walk::default(),
            crossing: Crossing::default(),
            head: CorridorHead {
                capacity: capacity as u32,
                ..CorridorHead::default()
            },
            path: vec![PolyRef::INVALID; capacity],
        })
    }

    /// Puts it on the accepted polygon nearest to `position`. False when there is none.
    ///
    /// # Errors
    /// The position is outside the coordinate bound.
    pub fn place<F: Filter + ?Sized>(
        &mut self,
        mesh: &TiledMesh,
        filter: &F,
        position: DVec3,
    ) -> Result<bool, ArgumentError> {
        let options = self.options;
        place(&mut self.row(), mesh, filter, position, &options)
    }

    /// Sends it to `target`.
    ///
    /// # Errors
    /// The target is outside the coordinate bound.
    pub fn set_destination<F: Filter + ?Sized>(
        &mut self,
        mesh: &TiledMesh,
        filter: &F,
        target: DVec3,
        navigator: &mut Navigator,
    ) -> Result<PathStatus, ArgumentError> {
        let options = self.options;
        set_destination(&mut self.row(), mesh, filter, target, &options, navigator)
    }

    /// One step of `dt` seconds.
    ///
    /// # Errors
    /// `dt` is not positive and finite.
    pub fn step<F: Filter + ?Sized>(
        &mut self,
        mesh: &TiledMesh,
        filter: &F,
        dt: f64,
        navigator: &mut Navigator,
    ) -> Result<(), ArgumentError> {
        let options = self.options;
        step(&mut self.row(), mesh, filter, &options, dt, navigator)
    }

    /// Ends a crossing that the host drives. False when there is none.
    pub fn complete_off_mesh_link<F: Filter + ?Sized>(
        &mut self,
        mesh: &TiledMesh,
        filter: &F,
    ) -> bool {
        let crossing = self.state == AgentState::OffMeshLink;
        if crossing {
            let options = self.options;
            complete_link(&mut self.row(), mesh, filter, &options);
        }
        crossing
    }

    /// The follower as a row.
    pub fn row(&mut self) -> FollowerRow<'_> {
        FollowerRow {
            position: &mut self.position,
            velocity: &mut self.velocity,
            state: &mut self.state,
            reached_target: &mut self.reached_target,
            remaining_distance: &mut self.remaining_distance,
            walk: &mut self.walk,
            crossing: &mut self.crossing,
            corridor: CorridorRow {
                head: &mut self.head,
                path: &mut self.path,
                memory: None,
            },
        }
    }

    /// World position.
    #[must_use]
    pub fn position(&self) -> DVec3 {
        self.position
    }

    /// Displacement over time of the last step.
    #[must_use]
    pub fn velocity(&self) -> DVec3 {
        self.velocity
    }

    /// What it is doing.
    #[must_use]
    pub fn state(&self) -> AgentState {
        self.state
    }

    /// Whether it stands at its destination.
    #[must_use]
    pub fn reached_target(&self) -> bool {
        self.reached_target
    }

    /// Way left; infinite when the end is not among the next corners.
    #[must_use]
    pub fn remaining_distance(&self) -> f64 {
        self.remaining_distance
    }

    /// The corridor's polygons, the agent's first.
    #[must_use]
    pub fn polys(&self) -> &[PolyRef] {
        &self.path[..self.head.count as usize]
    }

    /// The corridor's position, target and flags.
    #[must_use]
    pub fn corridor(&self) -> &CorridorHead {
        &self.head
    }

    /// The crossing in progress, when there is one.
    #[must_use]
    pub fn crossing(&self) -> Option<&Crossing> {
        (self.state == AgentState::OffMeshLink).then_some(&self.crossing)
    }

    /// The follower's state: equal states, equal bytes. Options are not state.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let view = FollowerView {
            position: self.position,
            velocity: self.velocity,
            state: self.state,
            reached_target: self.reached_target,
            remaining_distance: self.remaining_distance,
            walk: &self.walk,
            crossing: &self.crossing,
            corridor: &self.head,
            polys: self.polys(),
        };
        let mut writer = Writer::new(Vec::with_capacity(view.length()));
        state::write(&mut writer, &view);
        writer.into_sink()
    }

    /// Takes over a saved state; on an error nothing changes.
    ///
    /// # Errors
    /// Truncated or trailing bytes, another version, a corridor of another capacity, a value out
    /// of its range.
    pub fn read(&mut self, bytes: &[u8]) -> Result<(), DataError> {
        let mut reader = Reader::new("follower state", bytes);
        let mut fresh = self.clone();
        let capacity = fresh.path.len();
        state::read(&mut reader, capacity, &mut fresh.row())?;
        reader.finish()?;
        *self = fresh;
        Ok(())
    }
}

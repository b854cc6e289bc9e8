//! The crowd: agents in slots, their settings and the staged step.
//!
//! A crowd never owns a mesh: every call that needs one is given it, and it should be the same one.
//! After another mesh was put in its place, or this one was edited, agents whose polygons are gone
//! find new ground by themselves, and boundary pieces are looked up anew. Agents live in slots, lowest
//! free slot first; an [`AgentId`] holds the slot and a number that is never used twice, so it
//! stays right through save and restore and a removed agent's id never comes alive again.
//! Everything is evaluated in slot order.

mod avoid;
mod entries;
mod motion;
pub(crate) mod neighbors;
mod options;
mod orders;
mod plan;
mod settings_bytes;
mod snapshot;
mod state;
mod state_with_mesh;
mod stats;
mod step;
mod view;
mod walls;

pub use options::{AgentOptions, AvoidanceQuality, CrowdOptions, MAX_AGENTS, MAX_WALLS_PER_AGENT};
pub use state_with_mesh::{mesh_of_state, mesh_of_state_with};
pub use stats::StepStats;
pub use step::Stage;
pub use view::{Agent, CrowdColumns};
pub use walls::WallPiece;

use crate::corridor::CorridorMemory;
use crate::follower::{self, FollowerRow};
use crate::navigator::Navigator;
use crate::orca::HalfPlane;
use crate::workers::Workers;
use avoid::{AvoidScratch, Avoided};
use entries::EntryScratch;
use neighbors::NeighborGrid;
use options::{Profiles, check_priority};
use plan::{AgentPlan, follower_row};
use snapshot::StartTable;
use std::fmt;
use thiserror::Error;
use throng_query::mesh::{NodeModel, QueryFilter, find_nearest_poly};
use throng_soa::agents::{AgentSlot, AgentTable, RouteTable, WallTable};
use throng_soa::error::ArgumentError;
use throng_soa::mesh::{PolyRef, TiledMesh};
use throng_soa::world::{DVec2, DVec3, check_point};

/// Nodes of a worker's searches around an agent.
const LOCAL_NODES: u32 = 8192;

/// Names one agent for its whole life.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentId {
    /// Row of the agent in every column.
    pub slot: u32,
    /// Agents ever added before it; never used twice.
    pub id: u64,
}

impl fmt::Debug for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "agent {}@{}", self.id, self.slot)
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A refused call. The crowd is unchanged.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CrowdError {
    /// An argument is outside its range.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// No walkable polygon is near the position.
    #[error("position {position} has no walkable polygon near it")]
    OffMesh {
        /// Where the agent was to stand.
        position: DVec3,
    },
    /// The crowd holds as many agents as its options allow (or, in theory, has used up every id).
    #[error("the crowd is full: it holds {max_agents} agents")]
    Full {
        /// The limit.
        max_agents: u32,
    },
    /// The agent was removed.
    #[error("{id} is not in the crowd (any more)")]
    Stale {
        /// The id passed.
        id: AgentId,
    },
}

/// Storage of one worker.
#[derive(Debug)]
struct Scratch {
    navigator: Navigator,
    avoid: AvoidScratch,
}

/// Half-planes an agent was given in the last step.
#[derive(Clone, Debug, Default)]
struct Recorded {
    walls: usize,
    planes: Vec<HalfPlane>,
}

/// Tens of thousands of agents on one mesh.
#[derive(Debug)]
pub struct Crowd {
    options: CrowdOptions,
    workers: Workers<Scratch>,
    profiles: Profiles,
    // State, by slot.
    agents: AgentTable,
    routes: RouteTable,
    paths: Vec<Box<[PolyRef]>>,
    memories: Vec<Option<Box<CorridorMemory>>>,
    walls: WallTable,
    pieces: Vec<Box<[WallPiece]>>,
    plans: Vec<AgentPlan>,
    solved: Vec<Avoided>,
    count: u32,
    lowest_free: u32,
    next_id: u64,
    step_count: u64,
    // Made anew by every step.
    starts: StartTable,
    start_velocities: Vec<DVec2>,
    avoided: Vec<Avoided>,
    grid: NeighborGrid,
    entries: EntryScratch,
    recorded: Vec<Recorded>,
    stats: StepStats,
    // Reused by restores.
    restore: state::RestoreScratch,
}

impl Crowd {
    /// An empty crowd.
    ///
    /// # Errors
    /// Names the option that is out of range.
    pub fn new(options: CrowdOptions) -> Result<Self, ArgumentError> {
        options.validate()?;
        let nodes = options.query_nodes;
        let workers = Workers::new(options.threads, || Scratch {
            navigator: Navigator::new(NodeModel::Polygon, nodes, LOCAL_NODES),
            avoid: AvoidScratch::default(),
        })?;
        Ok(Self {
            options,
            workers,
            profiles: Profiles::default(),
            agents: AgentTable::default(),
            routes: RouteTable::default(),
            paths: Vec::new(),
            memories: Vec::new(),
            walls: WallTable::default(),
            pieces: Vec::new(),
            plans: Vec::new(),
            count: 0,
            lowest_free: 0,
            next_id: 0,
            step_count: 0,
            starts: StartTable::default(),
            start_velocities: Vec::new(),
            avoided: Vec::new(),
            grid: NeighborGrid::default(),
            entries: EntryScratch::default(),
            solved: Vec::new(),
            recorded: Vec::new(),
            stats: StepStats::default(),
            restore: state::RestoreScratch::default(),
        })
    }

    /// The crowd's settings.
    #[must_use]
    pub fn options(&self) -> &CrowdOptions {
        &self.options
    }

    /// Number of agents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there are no agents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Number of slots, free ones included. Slots are never given back.
    #[must_use]
    pub fn slot_count(&self) -> usize {
        self.agents.len()
    }

    /// Steps taken.
    #[must_use]
    pub fn step_count(&self) -> u64 {
        self.step_count
    }

    /// Adds an agent on the walkable polygon nearest to `position`, standing, in the lowest free
    /// slot.
    ///
    /// # Errors
    /// An option or coordinate out of range, no polygon near, or a full crowd.
    pub fn add(
        &mut self,
        mesh: &TiledMesh,
        position: DVec3,
        options: &AgentOptions,
    ) -> Result<AgentId, CrowdError> {
        options.validate()?;
        check_point("position", position)?;
        if self.count >= self.options.max_agents || self.next_id >= state::COUNTER_LIMIT {
            return Err(CrowdError::Full {
                max_agents: self.options.max_agents,
            });
        }
        let extents = options.to_follower_options().search_extents;
        let nearest = find_nearest_poly(mesh, position, extents, &self.options.filter)?;
        if !nearest.poly.is_valid() {
            return Err(CrowdError::OffMesh { position });
        }
        let slot = self.take_slot();
        let profile = self.profiles.acquire(options);
        self.agents.profile[slot] = profile;
        self.agents.priority[slot] = options.priority;
        self.agents.active[slot] = true;
        self.agents.id[slot] = self.next_id;
        self.next_id += 1;
        self.count += 1;
        let follower = self.profiles.get(profile).follower;
        self.routes.corridor[slot].capacity = follower.corridor_capacity as u32;
        self.make_room(slot);
        self.with_row(slot, |row, filter, _| {
            follower::place(row, mesh, filter, position, &follower)
        })?;
        Ok(self.id_at(slot))
    }

    /// [`add`](Self::add) that gives `None` when no polygon is near or the crowd is full.
    ///
    /// # Errors
    /// An option or coordinate out of range.
    pub fn try_add(
        &mut self,
        mesh: &TiledMesh,
        position: DVec3,
        options: &AgentOptions,
    ) -> Result<Option<AgentId>, ArgumentError> {
        match self.add(mesh, position, options) {
            Ok(id) => Ok(Some(id)),
            Err(CrowdError::Argument(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Removes an agent and frees its slot. False when it is not in the crowd.
    pub fn remove(&mut self, id: AgentId) -> bool {
        let Some(slot) = self.slot_of(id) else {
            return false;
        };
        self.clear_slot(slot);
        self.count -= 1;
        self.lowest_free = self.lowest_free.min(slot as u32);
        true
    }

    fn clear_slot(&mut self, slot: usize) {
        if self.agents.active[slot] {
            self.profiles.release(self.agents.profile[slot]);
        }
        let row = AgentSlot(slot as u32);
        self.agents.reset(row);
        self.routes.reset(row);
        self.walls.reset(row);
        self.plans[slot] = AgentPlan::default();
        self.solved[slot] = Avoided::default();
        if let Some(recorded) = self.recorded.get_mut(slot) {
            recorded.walls = 0;
            recorded.planes.clear();
        }
    }

    /// The agent, while it is in the crowd.
    #[must_use]
    pub fn agent(&self, id: AgentId) -> Option<Agent<'_>> {
        Some(Agent::new(self, self.slot_of(id)?))
    }

    /// The agents in slot order.
    pub fn agents(&self) -> impl Iterator<Item = Agent<'_>> {
        let active = |&slot: &usize| self.agents.active[slot];
        (0..self.agents.len())
            .filter(active)
            .map(|slot| Agent::new(self, slot))
    }

    /// The id of the agent with this number.
    #[must_use]
    pub fn find(&self, id: u64) -> Option<AgentId> {
        let is_it = |&slot: &usize| self.agents.active[slot] && self.agents.id[slot] == id;
        let slot = (0..self.agents.len()).find(is_it)?;
        Some(self.id_at(slot))
    }

    /// The columns, one entry per slot; `active` says which slots hold an agent.
    #[must_use]
    pub fn columns(&self) -> CrowdColumns<'_> {
        CrowdColumns {
            position: &self.agents.position,
            velocity: &self.agents.velocity,
            state: &self.agents.state,
            reached_target: &self.agents.reached_target,
            remaining_distance: &self.agents.remaining_distance,
            id: &self.agents.id,
            active: &self.agents.active,
        }
    }

    /// Replaces a live agent's settings. Its position, velocity, destination and route stay; its
    /// priority becomes that of the options, and the boundary is looked up anew.
    ///
    /// # Errors
    /// An option out of range, a corridor capacity or corner count other than the agent's (they
    /// cannot change), or the agent is gone.
    pub fn set_options(&mut self, id: AgentId, options: &AgentOptions) -> Result<(), CrowdError> {
        options.validate()?;
        let slot = self.live(id)?;
        let old = self.profiles.get(self.agents.profile[slot]).follower;
        let new = options.to_follower_options();
        for (name, value, kept) in [
            (
                "path.corridor_capacity",
                new.corridor_capacity,
                old.corridor_capacity,
            ),
            ("path.max_corners", new.max_corners, old.max_corners),
        ] {
            if value != kept {
                let allowed = format!("{kept}, as when the agent was added");
                return Err(ArgumentError::new(name, value, allowed).into());
            }
        }
        let profile = self.profiles.acquire(options);
        self.profiles.release(self.agents.profile[slot]);
        self.agents.profile[slot] = profile;
        self.agents.priority[slot] = options.priority;
        self.walls.stamp[slot] = 0;
        Ok(())
    }

    /// Changes an agent's weight against others.
    ///
    /// # Errors
    /// `priority` is not above 0, or the agent is gone.
    pub fn set_priority(&mut self, id: AgentId, priority: f64) -> Result<(), CrowdError> {
        check_priority(priority)?;
        let slot = self.live(id)?;
        self.agents.priority[slot] = priority;
        Ok(())
    }

    /// Heap bytes held for agents: every column, corridor and boundary piece. The workers' scratch,
    /// which does not grow with agents, is not counted.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let paths = self.paths.iter().map(|path| size_of_val(&path[..]));
        let pieces = self.pieces.iter().map(|pieces| size_of_val(&pieces[..]));
        self.agents.heap_bytes()
            + self.routes.heap_bytes()
            + self.walls.heap_bytes()
            + self.starts.heap_bytes()
            + self.grid.heap_bytes()
            + self.entries.heap_bytes()
            + self.paths.capacity() * size_of::<Box<[PolyRef]>>()
            + self.pieces.capacity() * size_of::<Box<[WallPiece]>>()
            + self.plans.capacity() * size_of::<AgentPlan>()
            + (self.solved.capacity() + self.avoided.capacity()) * size_of::<Avoided>()
            + self.memories.capacity() * size_of::<Option<Box<CorridorMemory>>>()
            + self.memories.iter().flatten().count() * size_of::<CorridorMemory>()
            + self.start_velocities.capacity() * size_of::<DVec2>()
            + paths.sum::<usize>()
            + pieces.sum::<usize>()
    }

    fn live(&self, id: AgentId) -> Result<usize, CrowdError> {
        self.slot_of(id).ok_or(CrowdError::Stale { id })
    }

    fn slot_of(&self, id: AgentId) -> Option<usize> {
        let slot = id.slot as usize;
        let active = *self.agents.active.get(slot)?;
        (active && self.agents.id[slot] == id.id).then_some(slot)
    }

    fn id_at(&self, slot: usize) -> AgentId {
        AgentId {
            slot: slot as u32,
            id: self.agents.id[slot],
        }
    }

    /// The lowest free slot, made when there is none.
    fn take_slot(&mut self) -> usize {
        let first = self.lowest_free as usize;
        let free = (first..self.agents.len()).find(|&slot| !self.agents.active[slot]);
        let slot = free.unwrap_or(self.agents.len());
        if slot == self.agents.len() {
            self.set_slots(slot + 1);
        }
        self.lowest_free = slot as u32 + 1;
        slot
    }

    /// Grows or cuts every column to `slots`.
    fn set_slots(&mut self, slots: usize) {
        self.agents.resize(slots);
        self.routes.resize(slots);
        self.walls.resize(slots);
        self.start_velocities.resize(slots, DVec2::ZERO);
        self.plans.resize(slots, AgentPlan::default());
        self.solved.resize(slots, Avoided::default());
        self.paths.resize_with(slots, Box::default);
        self.memories.resize_with(slots, || None);
        self.pieces.resize_with(slots, Box::default);
        if self.options.record_constraints {
            self.recorded.resize_with(slots, Recorded::default);
        }
    }

    /// Gives a slot room for its agent's corridor and the boundary pieces of ordinary ground; where
    /// there are more, the room for them grows. A slot keeps its room for the next agent of the same
    /// needs.
    fn make_room(&mut self, slot: usize) {
        self.memories[slot].get_or_insert_default().clear();
        let profile = self.profiles.get(self.agents.profile[slot]);
        let polygons = profile.follower.corridor_capacity as usize;
        if self.paths[slot].len() != polygons {
            self.paths[slot] = vec![PolyRef::INVALID; polygons].into();
        }
        let most = self.options.max_walls_per_agent as usize;
        walls::make_room(&mut self.pieces[slot], 1, most);
    }

    /// Runs `body` on one agent's row with the first worker's scratch.
    fn with_row<R>(
        &mut self,
        slot: usize,
        body: impl FnOnce(&mut FollowerRow<'_>, &QueryFilter, &mut Navigator) -> R,
    ) -> R {
        let mut agents = self.agents.chunk();
        let mut routes = self.routes.chunk();
        let mut row = follower_row(
            &mut agents,
            &mut routes,
            &mut self.paths,
            &mut self.memories,
            slot,
        );
        let filter = &self.options.filter;
        self.workers
            .with(|scratch| body(&mut row, filter, &mut scratch.navigator))
    }
}

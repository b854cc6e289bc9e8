//! What a crowd knows about its agents, as columns.
//!
//! Hot columns (read by every stage, every step) stand in [`AgentTable`]; the route and its
//! bookkeeping in [`RouteTable`]; the boundary around an agent in [`WallTable`]. A corridor's
//! polygons have fixed room beside the tables, made when the agent is added; the room for its wall
//! pieces grows, rarely, between stages. Otherwise the agents that walk allocate nothing. Settings are
//! shared profiles, an index per agent.

use crate::mesh::PolyRef;
use crate::world::{DVec2, DVec3};

crate::index! {
    /// A slot of a crowd: the row of an agent in every table. Reused after a removal.
    pub struct AgentSlot;
}

/// What an agent is doing. Zero is the state of an agent that was never sent anywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum AgentState {
    /// Placed, without a destination.
    #[default]
    Idle = 0,
    /// On its way.
    Moving = 1,
    /// Crossing an off-mesh link.
    OffMeshLink = 2,
    /// At the end of its route.
    Arrived = 3,
    /// Gave up after standing too long; waits for a new destination.
    Stuck = 4,
    /// No route: nothing walkable near the destination or the agent.
    NoPath = 5,
}

impl AgentState {
    /// The state saved as `byte`.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            0 => Self::Idle,
            1 => Self::Moving,
            2 => Self::OffMeshLink,
            3 => Self::Arrived,
            4 => Self::Stuck,
            5 => Self::NoPath,
            _ => return None,
        })
    }
}

/// A corridor without its polygons: the part of fixed size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CorridorHead {
    /// Polygons in the corridor.
    pub count: u32,
    /// Most polygons it may hold.
    pub capacity: u32,
    /// Whether the last polygon is the target polygon.
    pub complete: bool,
    /// Whether a replan is wanted.
    pub needs_replan: bool,
    /// Whether that replan starts at the agent and not at the end of the valid part.
    pub from_start: bool,
    /// Where the agent is, on the surface of the first polygon.
    pub position: DVec3,
    /// Where it wants to go.
    pub target: DVec3,
    /// The polygon under the target, as the last replan found it.
    pub target_poly: PolyRef,
}

/// Counters of a walk.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Walk {
    /// Where the agent was sent.
    pub destination: DVec3,
    /// Steps walked since it was placed.
    pub step_count: u64,
    /// Unfinished searches for this destination.
    pub replan_rounds: i32,
    /// Times it was found standing.
    pub stuck_recoveries: i32,
    /// Seconds since the last progress check.
    pub stuck_clock: f64,
    /// Where the agent was at that check.
    pub stuck_anchor: DVec3,
}

/// A crossing of an off-mesh link. Which one it is, and its `user_id`, tells
/// [`TiledMesh::link_of`](crate::mesh::TiledMesh::link_of).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Crossing {
    /// Entry point.
    pub start: DVec3,
    /// Exit point.
    pub end: DVec3,
    /// Seconds since the entry; while `duration` is 0, seconds waited at an entry. After the landing it
    /// goes on as long as the agent keeps others from landing.
    pub elapsed: f64,
    /// Seconds the crossing takes.
    pub duration: f64,
    /// The polygon at the exit.
    pub exit_poly: PolyRef,
}

crate::table! {
    /// The columns every stage reads.
    pub struct AgentTable, index AgentSlot, chunk AgentChunk {
        /// World position, on the mesh.
        pub position: DVec3,
        /// Displacement of the last step over its time.
        pub velocity: DVec3,
        /// What the agent is doing.
        pub state: AgentState,
        /// Whether it stands at its destination (and not at the nearest reachable place).
        pub reached_target: bool,
        /// Way left, when the end is among the next corners; else infinite.
        pub remaining_distance: f64,
        /// Weight against others: higher gives way less.
        pub priority: f64,
        /// Settings, an index into the crowd's profiles.
        pub profile: u32,
        /// Whether the slot holds an agent.
        pub active: bool,
        /// The agent's number, never used twice.
        pub id: u64,
    }
}

crate::table! {
    /// Routes and their bookkeeping.
    pub struct RouteTable, index AgentSlot, chunk RouteChunk {
        /// Corridor heads; the polygons stand beside the table.
        pub corridor: CorridorHead,
        /// Walk counters.
        pub walk: Walk,
        /// Off-mesh crossings.
        pub crossing: Crossing,
    }
}

crate::table! {
    /// Boundary pieces around each agent; the pieces stand beside the table.
    pub struct WallTable, index AgentSlot, chunk WallChunk {
        /// Mesh revision the pieces belong to; 0 when they must be looked up again.
        pub stamp: u64,
        /// Where they were looked up (x, z).
        pub center: DVec2,
        /// Pieces kept.
        pub count: u32,
    }
}

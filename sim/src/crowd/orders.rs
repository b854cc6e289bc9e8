//! Orders: where agents are sent, put down, or let off a link.
//!
//! One at a time, or many at once on the crowd's threads ([`Crowd::set_destinations`]). An order plans a
//! route, which is the most expensive thing an agent ever does; orders to different agents have nothing
//! to do with each other, so they can be worked off side by side.

use super::avoid::Avoided;
use super::plan::{AgentPlan, follower_row};
use super::{AgentId, Crowd, CrowdError};
use crate::corridor::CorridorMemory;
use crate::follower::{self, complete_link};
use std::ops::Range;
use throng_query::mesh::PathStatus;
use throng_soa::agents::{AgentChunk, AgentState, RouteChunk};
use throng_soa::mesh::{PolyRef, TiledMesh};
use throng_soa::table::{Chunk, for_each_chunk};
use throng_soa::world::{DVec3, check_point};

impl Crowd {
    /// Sends an agent to `destination`: plans its route now, with the budget of its settings.
    /// [`PathStatus::Found`], [`PathStatus::Partial`] (it walks to the nearest reachable place),
    /// [`PathStatus::InProgress`] (steps go on searching), [`PathStatus::GoalInvalid`] or
    /// [`PathStatus::StartInvalid`].
    ///
    /// # Errors
    /// A coordinate out of range, or the agent is gone.
    pub fn set_destination(
        &mut self,
        mesh: &TiledMesh,
        id: AgentId,
        destination: DVec3,
    ) -> Result<PathStatus, CrowdError> {
        check_point("destination", destination)?;
        let slot = self.live(id)?;
        let follower = self.profiles.get(self.agents.profile[slot]).follower;
        let status = self.with_row(slot, |row, filter, navigator| {
            follower::set_destination(row, mesh, filter, destination, &follower, navigator)
        })?;
        Ok(status)
    }

    /// Puts an agent down elsewhere, standing, without a destination. False, and nothing changed,
    /// when no polygon is near `position`.
    ///
    /// # Errors
    /// A coordinate out of range, or the agent is gone.
    pub fn teleport(
        &mut self,
        mesh: &TiledMesh,
        id: AgentId,
        position: DVec3,
    ) -> Result<bool, CrowdError> {
        check_point("position", position)?;
        let slot = self.live(id)?;
        let follower = self.profiles.get(self.agents.profile[slot]).follower;
        let placed = self.with_row(slot, |row, filter, _| {
            follower::place(row, mesh, filter, position, &follower)
        })?;
        if placed {
            self.plans[slot] = AgentPlan::default();
            self.solved[slot] = Avoided::default();
            self.walls.stamp[slot] = 0;
        }
        Ok(placed)
    }

    /// Sends many agents at once, on the crowd's threads. The state afterwards is that of
    /// [`set_destination`](Self::set_destination) called for each order in turn, an agent named twice
    /// included. Returns each order's status, in the order given. Allocates.
    ///
    /// ```
    /// use throng_query::mesh::PathStatus;
    /// use throng_sim::crowd::{AgentOptions, Crowd, CrowdOptions};
    /// # use throng_build::{NavSettings, build_soup};
    /// # use throng_soa::DVec3;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
    /// #     .map(|(x, z)| DVec3::new(x, 0.0, z));
    /// # let settings = NavSettings::HUMANOID;
    /// # let mesh = build_soup(&vertices, &[[0, 1, 2], [2, 1, 3]], &settings, 1)?;
    /// let mut crowd = Crowd::new(CrowdOptions { threads: 2, ..CrowdOptions::default() })?;
    /// let goal = DVec3::new(36.0, 0.0, 36.0);
    /// let mut orders = Vec::new();
    /// for row in 0..10 {
    ///     let place = DVec3::new(3.0, 0.0, 3.0 * f64::from(row + 1));
    ///     orders.push((crowd.add(&mesh, place, &AgentOptions::HUMANOID)?, goal));
    /// }
    /// let statuses = crowd.set_destinations(&mesh, &orders)?;
    /// assert!(statuses.iter().all(|&status| status == PathStatus::Found));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A coordinate out of range, or an agent is gone: then no order is carried out.
    pub fn set_destinations(
        &mut self,
        mesh: &TiledMesh,
        orders: &[(AgentId, DVec3)],
    ) -> Result<Vec<PathStatus>, CrowdError> {
        let mut sorted: Vec<Order> = Vec::with_capacity(orders.len());
        for (place, &(id, destination)) in orders.iter().enumerate() {
            check_point("destination", destination)?;
            sorted.push(Order {
                slot: self.live(id)?,
                place,
                destination,
                status: PathStatus::InProgress,
            });
        }
        // Orders to one agent stay in their order.
        sorted.sort_unstable_by_key(|order| (order.slot, order.place));
        let (filter, profiles) = (&self.options.filter, self.profiles.all());
        let rows = OrderRows {
            first_slot: 0,
            agents: self.agents.chunk(),
            routes: self.routes.chunk(),
            paths: &mut self.paths,
            memories: &mut self.memories,
            orders: &mut sorted,
        };
        let workers = &self.workers;
        let stage = |_: Range<usize>, mut rows: OrderRows<'_>| {
            if rows.orders.is_empty() {
                return;
            }
            workers.with(|scratch| {
                for order in &mut *rows.orders {
                    let i = order.slot - rows.first_slot;
                    let profile = &profiles[rows.agents.profile[i] as usize];
                    let (agents, routes) = (&mut rows.agents, &mut rows.routes);
                    let mut row = follower_row(agents, routes, rows.paths, rows.memories, i);
                    let sent = follower::set_destination(
                        &mut row,
                        mesh,
                        filter,
                        order.destination,
                        &profile.follower,
                        &mut scratch.navigator,
                    );
                    // Every destination was checked above.
                    order.status = sent.unwrap_or(PathStatus::GoalInvalid);
                }
            });
        };
        workers.run(|parallel| for_each_chunk(parallel, rows, &stage));
        let mut statuses = vec![PathStatus::InProgress; orders.len()];
        for order in &sorted {
            statuses[order.place] = order.status;
        }
        Ok(statuses)
    }

    /// Ends a crossing that the host drives: the agent stands at the link's exit. False when it is
    /// not crossing.
    ///
    /// # Errors
    /// The agent is gone.
    pub fn complete_off_mesh_link(
        &mut self,
        mesh: &TiledMesh,
        id: AgentId,
    ) -> Result<bool, CrowdError> {
        let slot = self.live(id)?;
        if self.agents.state[slot] != AgentState::OffMeshLink {
            return Ok(false);
        }
        let follower = self.profiles.get(self.agents.profile[slot]).follower;
        self.with_row(slot, |row, filter, _| {
            complete_link(row, mesh, filter, &follower);
        });
        Ok(true)
    }
}

/// One order of many.
struct Order {
    slot: usize,
    /// Its place among the orders given.
    place: usize,
    destination: DVec3,
    status: PathStatus,
}

/// A run of slots, and the orders to agents in it, by slot.
struct OrderRows<'a> {
    first_slot: usize,
    agents: AgentChunk<'a>,
    routes: RouteChunk<'a>,
    paths: &'a mut [Box<[PolyRef]>],
    memories: &'a mut [Option<Box<CorridorMemory>>],
    orders: &'a mut [Order],
}

impl Chunk for OrderRows<'_> {
    fn rows(&self) -> usize {
        self.agents.rows()
    }

    fn split(self, at: usize) -> (Self, Self) {
        let second = self.first_slot + at;
        let before = self.orders.partition_point(|order| order.slot < second);
        let agents = self.agents.split(at);
        let routes = self.routes.split(at);
        let paths = self.paths.split_at_mut(at);
        let memories = self.memories.split_at_mut(at);
        let orders = self.orders.split_at_mut(before);
        (
            Self {
                first_slot: self.first_slot,
                agents: agents.0,
                routes: routes.0,
                paths: paths.0,
                memories: memories.0,
                orders: orders.0,
            },
            Self {
                first_slot: second,
                agents: agents.1,
                routes: routes.1,
                paths: paths.1,
                memories: memories.1,
                orders: orders.1,
            },
        )
    }
}

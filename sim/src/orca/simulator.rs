//! The open field: agents and segment obstacles in the plane, no mesh.
//!
//! In: agents with positions, velocities, wishes and their own parameters. Out: new velocities and
//! positions. A step first solves every agent against the state the step began with, then moves
//! all of them, so any split over threads gives the same bits.

use std::ops::Range;

use super::constraint::{HalfPlane, for_agent, for_segment, segment_distance_sq};
use super::program::{ProgramScratch, solve};
use crate::crowd::neighbors::{Neighbor, NeighborGrid};
use crate::workers::Workers;
use throng_soa::error::ArgumentError;
use throng_soa::table::for_each_chunk;
use throng_soa::world::{DVec2, check_coordinate, dot2, length2};

/// Settings and start of one agent. Units: metres and seconds, or any consistent pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrcaAgent {
    /// Where it starts.
    pub position: DVec2,
    /// Its velocity at the start.
    pub velocity: DVec2,
    /// The velocity it would take alone.
    pub preferred: DVec2,
    /// Body radius, not negative.
    pub radius: f64,
    /// Speed limit, not negative.
    pub max_speed: f64,
    /// How far it looks for others.
    pub neighbor_distance: f64,
    /// How many others it avoids, 1 to 256.
    pub max_neighbors: usize,
    /// Horizon against agents, above 0.
    pub time_horizon: f64,
    /// Horizon against obstacles, above 0.
    pub obstacle_horizon: f64,
}

impl Default for OrcaAgent {
    fn default() -> Self {
        Self {
            position: DVec2::ZERO,
            velocity: DVec2::ZERO,
            preferred: DVec2::ZERO,
            radius: 0.5,
            max_speed: 2.0,
            neighbor_distance: 15.0,
            max_neighbors: 10,
            time_horizon: 5.0,
            obstacle_horizon: 5.0,
        }
    }
}

/// The agents of an open field.
#[derive(Debug)]
pub struct OrcaSimulator {
    workers: Workers<Scratch>,
    agents: Vec<OrcaAgent>,
    obstacles: Vec<(DVec2, DVec2)>,
    solved: Vec<DVec2>,
    everyone: Vec<bool>,
    grid: NeighborGrid,
}

#[derive(Debug, Default)]
struct Scratch {
    planes: Vec<HalfPlane>,
    near: Vec<(f64, u32)>,
    neighbors: Vec<Neighbor>,
    program: ProgramScratch,
}

impl OrcaSimulator {
    /// An empty field stepped by `threads` threads.
    ///
    /// # Errors
    /// `threads` is 0 or above 256, or the threads cannot be started.
    pub fn new(threads: usize) -> Result<Self, ArgumentError> {
        Ok(Self {
            workers: Workers::new(threads, Scratch::default)?,
            agents: Vec::new(),
            obstacles: Vec::new(),
            solved: Vec::new(),
            everyone: Vec::new(),
            grid: NeighborGrid::default(),
        })
    }

    /// Adds an agent and returns its index.
    ///
    /// # Errors
    /// Names the field that is out of range.
    pub fn add_agent(&mut self, agent: OrcaAgent) -> Result<usize, ArgumentError> {
        check_plane("agent.position", agent.position)?;
        check_plane("agent.velocity", agent.velocity)?;
        check_plane("agent.preferred", agent.preferred)?;
        for (name, value) in [
            ("agent.radius", agent.radius),
            ("agent.max_speed", agent.max_speed),
            ("agent.neighbor_distance", agent.neighbor_distance),
        ] {
            if !(0.0..1e6).contains(&value) {
                return Err(ArgumentError::new(name, value, "0 to below 1000000"));
            }
        }
        for (name, value) in [
            ("agent.time_horizon", agent.time_horizon),
            ("agent.obstacle_horizon", agent.obstacle_horizon),
        ] {
            if !(value > 0.0 && value < 1e6) {
                return Err(ArgumentError::new(name, value, "above 0 and below 1000000"));
            }
        }
        if !(1..=256).contains(&agent.max_neighbors) {
            return Err(ArgumentError::new(
                "agent.max_neighbors",
                agent.max_neighbors,
                "1 to 256",
            ));
        }
        self.agents.push(agent);
        Ok(self.agents.len() - 1)
    }

    /// Adds a two-sided segment obstacle and returns its index.
    ///
    /// # Errors
    /// An end is outside the coordinate bound.
    pub fn add_obstacle(&mut self, a: DVec2, b: DVec2) -> Result<usize, ArgumentError> {
        check_plane("a", a)?;
        check_plane("b", b)?;
        self.obstacles.push((a, b));
        Ok(self.obstacles.len() - 1)
    }

    /// The agents, with their current positions and velocities.
    #[must_use]
    pub fn agents(&self) -> &[OrcaAgent] {
        &self.agents
    }

    /// Sets what an agent wants next.
    ///
    /// # Errors
    /// `agent` is not an agent, or the velocity is not finite.
    pub fn set_preferred(&mut self, agent: usize, preferred: DVec2) -> Result<(), ArgumentError> {
        check_plane("preferred", preferred)?;
        let count = self.agents.len();
        match self.agents.get_mut(agent) {
            Some(found) => {
                found.preferred = preferred;
                Ok(())
            }
            None => Err(ArgumentError::new("agent", agent, format!("below {count}"))),
        }
    }

    /// One step of `dt`: every agent solves, then every agent moves.
    ///
    /// # Errors
    /// `dt` is not positive and finite.
    pub fn step(&mut self, dt: f64) -> Result<(), ArgumentError> {
        if !(dt > 0.0 && dt.is_finite()) {
            return Err(ArgumentError::new("dt", dt, "positive and finite"));
        }
        let agents = &self.agents;
        let obstacles = &self.obstacles;
        let reach = agents
            .iter()
            .map(|a| a.neighbor_distance)
            .fold(0.0, f64::max);
        self.everyone.resize(agents.len(), true);
        self.grid.rebuild(reach, &self.everyone, |i| {
            (agents[i].position.x, agents[i].position.y)
        });
        self.solved.resize(agents.len(), DVec2::ZERO);
        let grid = &self.grid;
        let workers = &self.workers;
        let solved = self.solved.as_mut_slice();
        workers.run(|parallel| {
            for_each_chunk(
                parallel,
                solved,
                &|rows: Range<usize>, out: &mut [DVec2]| {
                    workers.with(|scratch| {
                        for (row, velocity) in rows.zip(out) {
                            *velocity = new_velocity(agents, obstacles, grid, row, dt, scratch);
                        }
                    });
                },
            );
        });
        for (agent, &velocity) in self.agents.iter_mut().zip(&self.solved) {
            agent.velocity = velocity;
            agent.position += velocity * dt;
        }
        Ok(())
    }
}

fn new_velocity(
    agents: &[OrcaAgent],
    obstacles: &[(DVec2, DVec2)],
    grid: &NeighborGrid,
    index: usize,
    dt: f64,
    scratch: &mut Scratch,
) -> DVec2 {
    let own = agents[index];
    scratch.planes.clear();
    obstacle_planes(obstacles, &own, dt, scratch);
    let hard = scratch.planes.len();
    scratch
        .neighbors
        .resize(own.max_neighbors, Neighbor::default());
    let found = grid.nearest(
        own.position.x,
        own.position.y,
        own.neighbor_distance,
        index as u32,
        &mut scratch.neighbors,
    );
    for neighbor in &scratch.neighbors[..found] {
        let other = agents[neighbor.slot as usize];
        scratch.planes.push(for_agent(
            other.position - own.position,
            own.velocity,
            other.velocity,
            own.radius + other.radius,
            own.time_horizon,
            dt,
            0.5,
        ));
    }
    let planes = &scratch.planes;
    solve(
        planes,
        hard,
        own.max_speed,
        own.preferred,
        &mut scratch.program,
    )
    .velocity
}

/// Obstacles within reach, nearest first, ties by index.
fn obstacle_planes(obstacles: &[(DVec2, DVec2)], own: &OrcaAgent, dt: f64, scratch: &mut Scratch) {
    let reach = own.obstacle_horizon * own.max_speed + own.radius;
    scratch.near.clear();
    for (i, &(a, b)) in obstacles.iter().enumerate() {
        let distance_sq = segment_distance_sq(a - own.position, b - own.position);
        if distance_sq <= reach * reach {
            scratch.near.push((distance_sq, i as u32));
        }
    }
    scratch
        .near
        .sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    for &(_, i) in &scratch.near {
        let (a, b) = obstacles[i as usize];
        scratch.planes.push(for_segment(
            a - own.position,
            b - own.position,
            own.radius,
            own.obstacle_horizon,
            dt,
        ));
    }
}

fn check_plane(name: &str, v: DVec2) -> Result<(), ArgumentError> {
    check_coordinate(name, v.x)?;
    check_coordinate(name, v.y)
}

impl OrcaSimulator {
    /// The deepest overlap of any two agents, in units; 0 when none overlap. `O(n²)`.
    #[must_use]
    pub fn deepest_overlap(&self) -> f64 {
        let mut deepest: f64 = 0.0;
        for (i, a) in self.agents.iter().enumerate() {
            for b in &self.agents[..i] {
                let d = a.position - b.position;
                if dot2(d, d) < 1e6 {
                    deepest = deepest.max(a.radius + b.radius - length2(d));
                }
            }
        }
        deepest
    }
}

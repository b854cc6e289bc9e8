//! A crowd: agents and their velocities, routes, walls and the half-planes of avoidance.
//!
//! In: agents of a crowd between two steps ([`Crowd::agents`](crate::Crowd::agents), all or filtered).
//! Out: columns in their order; what differs in length per agent stands in a pool with prefix
//! offsets. Each part is its own function; [`CrowdDebug`] is all of them.

use super::corridor::append_corners;
use super::lines::{LineKind, Lines};
use std::ops::Range;
use throng_query::mesh::{FunnelScratch, Outlines, StraightPathPoint};
use throng_sim::crowd::{Agent, AgentId, Crowd, WallPiece};
use throng_sim::orca::HalfPlane;
use throng_soa::agents::{AgentState, Crossing};
use throng_soa::mesh::TiledMesh;
use throng_soa::world::{DVec2, DVec3};

/// Everything there is to see of a crowd. Row `i` of every part is the same agent.
///
/// ```
/// use throng::debug::{Agents, CrowdDebug, LineKind};
/// use throng::{AgentOptions, Crowd, CrowdOptions, DVec3, NavMesh, NavSettings};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
///     .map(|(x, z)| DVec3::new(x, 0.0, z));
/// let mesh = NavMesh::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &NavSettings::HUMANOID)?;
/// let mut crowd = Crowd::new(CrowdOptions { record_constraints: true, ..CrowdOptions::default() })?;
/// for (x, goal) in [(18.0, 25.0), (22.0, 15.0)] {
///     let id = crowd.add(&mesh, DVec3::new(x, 0.0, 20.0), &AgentOptions::HUMANOID)?;
///     crowd.set_destination(&mesh, id, DVec3::new(goal, 0.0, 20.0))?;
/// }
/// crowd.step(&mesh, 0.05)?;
///
/// let shown = CrowdDebug::collect(&mesh, &crowd);
/// assert_eq!(shown.agents.len(), 2);
/// // Each of the two is one half-plane to the other; no wall is near.
/// let lines = shown.constraints.lines(&shown.agents, 1.0);
/// assert_eq!(lines.kind, [LineKind::AgentPlane; 2]);
/// // Any part alone, and of some agents alone.
/// let fast = crowd.agents().filter(|agent| agent.velocity().length() > 100.0);
/// assert!(Agents::collect(fast).is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CrowdDebug {
    /// The agents.
    pub agents: Agents,
    /// Corridors, corners and crossings.
    pub routes: Routes,
    /// Boundary pieces around each agent.
    pub walls: Walls,
    /// Half-planes of the last step, where the crowd records them.
    pub constraints: Constraints,
}

impl CrowdDebug {
    /// Collects all parts of all agents, in slot order.
    #[must_use]
    pub fn collect(mesh: &TiledMesh, crowd: &Crowd) -> Self {
        Self::of(mesh, || crowd.agents())
    }

    /// Collects all parts of some agents; `agents` is called once per part.
    #[must_use]
    pub fn of<'c, I: Iterator<Item = Agent<'c>>>(mesh: &TiledMesh, agents: impl Fn() -> I) -> Self {
        Self {
            agents: Agents::collect(agents()),
            routes: Routes::collect(mesh, agents()),
            walls: Walls::collect(agents()),
            constraints: Constraints::collect(agents()),
        }
    }
}

/// Agents as columns of one length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agents {
    /// Names.
    pub id: Vec<AgentId>,
    /// Body radii.
    pub radius: Vec<f64>,
    /// World positions, on the mesh.
    pub position: Vec<DVec3>,
    /// What they are doing.
    pub state: Vec<AgentState>,
    /// Where they were sent.
    pub destination: Vec<DVec3>,
    /// Displacement of the last step over its time.
    pub velocity: Vec<DVec3>,
    /// Velocities wanted in the last step (x, z), before avoidance.
    pub wanted: Vec<DVec2>,
    /// Velocities avoidance chose in the last step (x, z), before acceleration is limited.
    pub solved: Vec<DVec2>,
}

impl Agents {
    /// Collects agents.
    #[must_use]
    pub fn collect<'c>(agents: impl Iterator<Item = Agent<'c>>) -> Self {
        let mut columns = Self::default();
        for agent in agents {
            columns.id.push(agent.id());
            columns.radius.push(agent.options().radius);
            columns.position.push(agent.position());
            columns.state.push(agent.state());
            columns.destination.push(agent.destination());
            columns.velocity.push(agent.velocity());
            columns.wanted.push(agent.wanted_velocity());
            columns.solved.push(agent.solved_velocity());
        }
        columns
    }

    /// Number of agents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.id.is_empty()
    }

    /// Three lines per agent, from where it is: [`LineKind::Wanted`], [`LineKind::Solved`],
    /// [`LineKind::Velocity`].
    #[must_use]
    pub fn velocity_lines(&self) -> Lines {
        let mut lines = Lines::default();
        let chosen = self.wanted.iter().zip(&self.solved);
        let agents = self.position.iter().zip(&self.velocity).zip(chosen);
        for ((&at, &velocity), (&wanted, &solved)) in agents {
            lines.push(LineKind::Wanted, at, level(at, wanted));
            lines.push(LineKind::Solved, at, level(at, solved));
            lines.push(LineKind::Velocity, at, at + velocity);
        }
        lines
    }
}

/// The point a plane velocity leads to from `at` in a second, at the same height.
fn level(at: DVec3, velocity: DVec2) -> DVec3 {
    DVec3::new(at.x + velocity.x, at.y, at.z + velocity.y)
}

/// Row `i` of a pool with prefix offsets; empty when there is no such row.
fn row(first: &[u32], i: usize) -> Range<usize> {
    match (first.get(i), first.get(i + 1)) {
        (Some(&from), Some(&to)) => from as usize..to as usize,
        _ => 0..0,
    }
}

/// Routes of agents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Routes {
    /// Prefix offsets of the agents into `corridors`; one more entry than agents.
    pub corridor_first: Vec<u32>,
    /// The polygons still ahead of each agent, its own first.
    pub corridors: Outlines,
    /// Prefix offsets of the agents into `corners`.
    pub corner_first: Vec<u32>,
    /// The strings through the corridors: start, corners, end. None for an agent without a route, or
    /// with a corridor that does not hold together any more.
    pub corners: Vec<StraightPathPoint>,
    /// Agents on an off-mesh link, by row.
    pub crossing_agent: Vec<u32>,
    /// What each of them is crossing.
    pub crossing: Vec<Crossing>,
}

impl Routes {
    /// Collects the routes of agents. Pulls a string per agent.
    #[must_use]
    pub fn collect<'c>(mesh: &TiledMesh, agents: impl Iterator<Item = Agent<'c>>) -> Self {
        let mut routes = Self {
            corridor_first: vec![0],
            corner_first: vec![0],
            ..Self::default()
        };
        let mut funnel = FunnelScratch::new();
        for (index, agent) in agents.enumerate() {
            let polys = agent.corridor();
            routes.corridors.extend(mesh, polys.iter().copied());
            if agent.has_path() {
                let ends = (agent.position(), agent.destination());
                append_corners(mesh, ends, polys, &mut funnel, &mut routes.corners);
            }
            if let Some(&crossing) = agent.crossing() {
                routes.crossing_agent.push(index as u32);
                routes.crossing.push(crossing);
            }
            routes.corridor_first.push(routes.corridors.len() as u32);
            routes.corner_first.push(routes.corners.len() as u32);
        }
        routes
    }

    /// The polygons of agent `i`: its range in `corridors`.
    #[must_use]
    pub fn corridor(&self, i: usize) -> Range<usize> {
        row(&self.corridor_first, i)
    }

    /// The string of agent `i`.
    #[must_use]
    pub fn corners(&self, i: usize) -> &[StraightPathPoint] {
        self.corners.get(row(&self.corner_first, i)).unwrap_or(&[])
    }

    /// All strings as lines, agent by agent, then the crossings as [`LineKind::OffMesh`].
    #[must_use]
    pub fn lines(&self) -> Lines {
        let mut lines = Lines::default();
        for i in 0..self.corner_first.len().saturating_sub(1) {
            lines.append(&Lines::of_string(self.corners(i)));
        }
        for crossing in &self.crossing {
            lines.push(LineKind::OffMesh, crossing.start, crossing.end);
        }
        lines
    }
}

/// Boundary pieces around agents, as each last looked them up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Walls {
    /// Prefix offsets of the agents into `pieces`; one more entry than agents.
    pub first: Vec<u32>,
    /// The pieces. One near several agents is there for each of them.
    pub pieces: Vec<WallPiece>,
}

impl Walls {
    /// Collects the walls of agents.
    #[must_use]
    pub fn collect<'c>(agents: impl Iterator<Item = Agent<'c>>) -> Self {
        let mut walls = Self {
            first: vec![0],
            pieces: Vec::new(),
        };
        for agent in agents {
            walls.pieces.extend_from_slice(agent.walls());
            walls.first.push(walls.pieces.len() as u32);
        }
        walls
    }

    /// The pieces of agent `i`.
    #[must_use]
    pub fn of(&self, i: usize) -> &[WallPiece] {
        self.pieces.get(row(&self.first, i)).unwrap_or(&[])
    }

    /// The pieces as [`LineKind::Wall`], each once, in the order of polygon, edge and ends.
    #[must_use]
    pub fn lines(&self) -> Lines {
        let key = |piece: &WallPiece| {
            let ends = [piece.a, piece.b].map(|p| [p.x, p.y, p.z].map(f64::to_bits));
            (piece.poly, piece.edge, ends)
        };
        let mut pieces = self.pieces.clone();
        pieces.sort_unstable_by_key(key);
        pieces.dedup_by_key(|piece| key(piece));
        let mut lines = Lines::default();
        for piece in pieces {
            lines.push(LineKind::Wall, piece.a, piece.b);
        }
        lines
    }
}

/// The half-planes of velocities that avoidance kept agents to in the last step. Empty rows unless the
/// crowd records them, and for agents that do not avoid or were on a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Constraints {
    /// Prefix offsets of the agents into the columns below; one more entry than agents.
    pub first: Vec<u32>,
    /// The half-planes, in the order they were solved: walls, then neighbours, each nearest first.
    pub plane: Vec<HalfPlane>,
    /// Whether each is a wall's; else another agent's.
    pub is_wall: Vec<bool>,
}

impl Constraints {
    /// Collects the half-planes of agents.
    #[must_use]
    pub fn collect<'c>(agents: impl Iterator<Item = Agent<'c>>) -> Self {
        let mut constraints = Self {
            first: vec![0],
            ..Self::default()
        };
        for agent in agents {
            let (planes, walls) = agent.constraints();
            constraints.plane.extend_from_slice(planes);
            let is_wall = (0..planes.len()).map(|i| i < walls);
            constraints.is_wall.extend(is_wall);
            constraints.first.push(constraints.plane.len() as u32);
        }
        constraints
    }

    /// The half-planes of agent `i`: its range in the columns.
    #[must_use]
    pub fn of(&self, i: usize) -> Range<usize> {
        row(&self.first, i)
    }

    /// The edges of the half-planes as lines, in their order: [`LineKind::WallPlane`] and
    /// [`LineKind::AgentPlane`]. A velocity is drawn where it leads from the agent in a second; each
    /// edge reaches `half_length` units to either side of the half-plane's point. Permitted
    /// velocities are on the left from first to second end (with X right and Z up).
    ///
    /// `agents` are the same agents, as they are now; the half-planes were made where they stood a
    /// step before.
    #[must_use]
    pub fn lines(&self, agents: &Agents, half_length: f64) -> Lines {
        let mut lines = Lines::default();
        for (i, &at) in agents.position.iter().enumerate() {
            let rows = self.of(i);
            let planes = self.plane.get(rows.clone()).unwrap_or(&[]);
            let is_wall = self.is_wall.get(rows).unwrap_or(&[]);
            for (plane, &is_wall) in planes.iter().zip(is_wall) {
                let kind = if is_wall {
                    LineKind::WallPlane
                } else {
                    LineKind::AgentPlane
                };
                let along = DVec2::new(plane.normal.y, -plane.normal.x) * half_length;
                let (from, to) = (plane.point - along, plane.point + along);
                lines.push(kind, level(at, from), level(at, to));
            }
        }
        lines
    }
}

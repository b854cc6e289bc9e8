//! Stage 1: what each agent wants, and the boundary around it.

use super::options::{CrowdOptions, Profile};
use super::walls::{WallPiece, refresh_walls};
use crate::corridor::{CorridorMemory, CorridorRow};
use crate::follower::{self, FollowerRow, OffMeshMode, Plan, SteerKind, enter, set_destination};
use crate::navigator::Navigator;
use std::hint::black_box;
use throng_query::mesh::closest_point_on_poly;
use throng_soa::agents::{AgentChunk, AgentState, RouteChunk, WallChunk};
use throng_soa::mesh::{PolyRef, TiledMesh};
use throng_soa::table::Chunk;
use throng_soa::world::distance_xz;

/// What stage 1 writes: a run of rows of these tables.
pub(super) struct PlanRows<'a> {
    pub(super) agents: AgentChunk<'a>,
    pub(super) routes: RouteChunk<'a>,
    pub(super) paths: &'a mut [Box<[PolyRef]>],
    pub(super) memories: &'a mut [Option<Box<CorridorMemory>>],
    pub(super) walls: WallChunk<'a>,
    pub(super) pieces: &'a mut [Box<[WallPiece]>],
    pub(super) plans: &'a mut [AgentPlan],
}

impl Chunk for PlanRows<'_> {
    fn rows(&self) -> usize {
        self.plans.len()
    }

    fn split(self, at: usize) -> (Self, Self) {
        let agents = self.agents.split(at);
        let routes = self.routes.split(at);
        let paths = self.paths.split_at_mut(at);
        let memories = self.memories.split_at_mut(at);
        let walls = self.walls.split(at);
        let pieces = self.pieces.split_at_mut(at);
        let plans = self.plans.split_at_mut(at);
        (
            Self {
                agents: agents.0,
                routes: routes.0,
                paths: paths.0,
                memories: memories.0,
                walls: walls.0,
                pieces: pieces.0,
                plans: plans.0,
            },
            Self {
                agents: agents.1,
                routes: routes.1,
                paths: paths.1,
                memories: memories.1,
                walls: walls.1,
                pieces: pieces.1,
                plans: plans.1,
            },
        )
    }
}

/// The plan of one slot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct AgentPlan {
    pub(crate) plan: Plan,
    /// Whether it follows its route this step.
    pub(crate) walking: bool,
    /// Whether an off-mesh link carries it: others give way alone.
    pub(crate) crossing: bool,
}

impl PlanRows<'_> {
    /// Reads from what planning will need of every agent of the run that lies apart from the columns.
    /// Independent reads are fetched side by side; met one after the other in the midst of the work,
    /// each would be waited for.
    pub(super) fn warm_up(&self) {
        black_box(touch_routes(
            self.memories,
            self.paths,
            CorridorMemory::touch,
        ));
    }
}

/// Reads from the corridor of every agent, and what `touch` says of its memory; the value means nothing.
pub(super) fn touch_routes(
    memories: &[Option<Box<CorridorMemory>>],
    paths: &[Box<[PolyRef]>],
    touch: impl Fn(&CorridorMemory) -> u64,
) -> u64 {
    let mut sum = 0;
    for memory in memories.iter().flatten() {
        sum ^= touch(memory);
    }
    for path in paths {
        for line in path[..path.len().min(TOUCHED)].chunks(LINE) {
            sum ^= line[0].bits();
        }
    }
    sum
}

/// Corridor polygons worth fetching ahead, and how many share a cache line.
const TOUCHED: usize = 16;
const LINE: usize = 8;

/// Plans row `i` of the run.
pub(super) fn plan_agent(
    rows: &mut PlanRows<'_>,
    i: usize,
    mesh: &TiledMesh,
    options: &CrowdOptions,
    profiles: &[Profile],
    dt: f64,
    navigator: &mut Navigator,
) {
    if !rows.agents.active[i] {
        return;
    }
    let profile = &profiles[rows.agents.profile[i] as usize];
    let filter = &options.filter;
    let mut row = follower_row(
        &mut rows.agents,
        &mut rows.routes,
        rows.paths,
        rows.memories,
        i,
    );
    if *row.state == AgentState::Arrived && was_pushed_away(&row, mesh, profile) {
        let destination = row.walk.destination;
        // The destination was checked when it was set.
        let _ = set_destination(
            &mut row,
            mesh,
            filter,
            destination,
            &profile.follower,
            navigator,
        );
    }
    let was_crossing = *row.state == AgentState::OffMeshLink;
    let mut plan = follower::plan(&mut row, mesh, filter, &profile.follower, dt, navigator);
    let at_entry = plan.kind == SteerKind::AtEntry;
    if at_entry
        && profile.follower.off_mesh_mode == OffMeshMode::Host
        && enter(&mut row, &profile.follower)
    {
        plan = Plan::default();
    }
    let crossing = was_crossing || *row.state == AgentState::OffMeshLink;
    rows.plans[i] = AgentPlan {
        plan,
        walking: plan.kind != SteerKind::None,
        crossing,
    };
    // Who stands at an entry may cross yet, and then needs no walls.
    if !crossing && !at_entry {
        refresh_walls(rows, i, mesh, options, profile, navigator);
    }
}

/// Whether an agent that had reached its destination was pushed off it.
fn was_pushed_away(row: &FollowerRow<'_>, mesh: &TiledMesh, profile: &Profile) -> bool {
    if !*row.reached_target {
        return false;
    }
    // The place it stood at is the target's nearest point on the mesh.
    let head = &row.corridor.head;
    let Some(goal) = closest_point_on_poly(mesh, head.target_poly, head.target) else {
        return true;
    };
    distance_xz(*row.position, goal.point) > 2.0 * profile.follower.arrival_radius + 0.01
}

/// The follower in row `i` of a run.
pub(super) fn follower_row<'r>(
    agents: &'r mut AgentChunk<'_>,
    routes: &'r mut RouteChunk<'_>,
    paths: &'r mut [Box<[PolyRef]>],
    memories: &'r mut [Option<Box<CorridorMemory>>],
    i: usize,
) -> FollowerRow<'r> {
    FollowerRow {
        position: &mut agents.position[i],
        velocity: &mut agents.velocity[i],
        state: &mut agents.state[i],
        reached_target: &mut agents.reached_target[i],
        remaining_distance: &mut agents.remaining_distance[i],
        walk: &mut routes.walk[i],
        crossing: &mut routes.crossing[i],
        corridor: CorridorRow {
            head: &mut routes.corridor[i],
            path: &mut paths[i],
            memory: memories[i].as_deref_mut(),
        },
    }
}

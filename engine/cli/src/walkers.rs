//! The agents as the run sees them: where each was sent, how far it walked, whether it arrived.

use throng::parts::soa::world::distance_xz;
use throng::{
    AgentId, AgentState, ArgumentError, Crowd, DVec3, MeshQuery, PathOptions, SplitMix64, TiledMesh,
};

use crate::args::{OnArrival, SimulateArgs};
use crate::host::Failure;
use crate::simulate::{TICK, bar};
use crate::spawn::Ground;

/// What the run keeps per slot, besides the crowd.
#[derive(Debug, Default)]
pub(crate) struct Walkers {
    pub(crate) ids: Vec<AgentId>,
    /// Where the agent was a step ago.
    pub(crate) last: Vec<DVec3>,
    pub(crate) goal: Vec<DVec3>,
    /// Horizontal length walked, and that of the planned route, since it was sent.
    pub(crate) walked: Vec<f64>,
    pub(crate) route: Vec<f64>,
    /// Whether it has arrived where it was sent.
    pub(crate) done: Vec<bool>,
    /// Walked over route, one per arrival.
    pub(crate) ratios: Vec<f64>,
    pub(crate) arrivals: u64,
}

impl Walkers {
    /// Begins to count: everybody has just been sent off.
    pub(crate) fn begin(&mut self, crowd: &Crowd) {
        let agents = self.ids.len();
        self.last = crowd.columns().position.to_vec();
        self.walked = vec![0.0; agents];
        self.route = vec![0.0; agents];
        self.done = vec![false; agents];
    }

    /// Finds the length of everybody's planned route, on all threads.
    pub(crate) fn measure_routes(
        &mut self,
        args: &SimulateArgs,
        mesh: &TiledMesh,
        crowd: &Crowd,
    ) -> Result<(), Failure> {
        let agents = self.ids.len();
        let bar = bar(args, "routing", agents as u64, "routes");
        let share = agents.div_ceil(crowd.options().threads).max(1);
        let measured: Result<(), ArgumentError> = std::thread::scope(|scope| {
            let shares = self.route.chunks_mut(share);
            let ends = self.last.chunks(share).zip(self.goal.chunks(share));
            let workers: Vec<_> = shares
                .zip(ends)
                .map(|(routes, (starts, goals))| {
                    let bar = &bar;
                    scope.spawn(move || {
                        let mut query = MeshQuery::default();
                        for (index, route) in routes.iter_mut().enumerate() {
                            *route = route_length(&mut query, mesh, starts[index], goals[index])?;
                            if index % TICK == TICK - 1 {
                                bar.inc(TICK as u64);
                            }
                        }
                        Ok(())
                    })
                })
                .collect();
            // A worker that panicked has said so itself.
            workers
                .into_iter()
                .try_for_each(|worker| worker.join().unwrap_or(Ok(())))
        });
        bar.finish_and_clear();
        Ok(measured?)
    }

    /// Takes a step into account: ways walked and arrivals.
    pub(crate) fn observe(&mut self, crowd: &Crowd) {
        let columns = crowd.columns();
        for slot in (0..self.ids.len()).filter(|&slot| columns.active[slot]) {
            let position = columns.position[slot];
            if !self.done[slot] {
                self.walked[slot] += distance_xz(position, self.last[slot]);
            }
            self.last[slot] = position;
            let arrived = columns.state[slot] == AgentState::Arrived;
            if arrived && columns.reached_target[slot] && !self.done[slot] {
                self.done[slot] = true;
                self.arrivals += 1;
                // A way shorter than a metre says nothing about detours.
                if self.route[slot] >= 1.0 {
                    self.ratios.push(self.walked[slot] / self.route[slot]);
                }
            }
        }
    }

    /// Removes the arrived, or sends them on, in slot order.
    pub(crate) fn follow_up(
        &mut self,
        what: OnArrival,
        mesh: &TiledMesh,
        ground: &Ground,
        crowd: &mut Crowd,
        rng: &mut SplitMix64,
        query: &mut MeshQuery,
    ) -> Result<(), Failure> {
        for slot in 0..self.ids.len() {
            let id = self.ids[slot];
            let columns = crowd.columns();
            if !(columns.active[slot] && columns.state[slot] == AgentState::Arrived) {
                continue;
            }
            if what == OnArrival::Remove {
                crowd.remove(id);
                continue;
            }
            let goal = ground.draw(mesh, rng);
            crowd.set_destination(mesh, id, goal)?;
            self.goal[slot] = goal;
            self.walked[slot] = 0.0;
            self.route[slot] = route_length(query, mesh, self.last[slot], goal)?;
            self.done[slot] = false;
        }
        Ok(())
    }
}

/// Length of the planned route seen from above; 0 when there is none.
fn route_length(
    query: &mut MeshQuery,
    mesh: &TiledMesh,
    start: DVec3,
    goal: DVec3,
) -> Result<f64, ArgumentError> {
    let route = query.find_path(mesh, start, goal, &PathOptions::default())?;
    let pairs = route.points.windows(2);
    Ok(pairs
        .map(|pair| distance_xz(pair[0].position, pair[1].position))
        .sum())
}

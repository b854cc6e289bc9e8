//! The crowd's step: snapshot, plan, avoid, motion.
//!
//! A stage takes the slots 32 at a time. Whatever it reads was finished before it began, and whatever
//! it writes belongs to one agent, so it does not matter how many threads share the runs:
//!
//! | stage | reads | writes |
//! |---|---|---|
//! | [`snapshot`](super::snapshot) | agents | start columns, neighbour grid |
//! | [`plan`](super::plan) | own row, mesh | own route, plan, wall pieces |
//! | [`entries`](super::entries) | plans, agents, crossings | crossings that begin, wall pieces |
//! | [`avoid`](super::avoid) | start columns, plans, own walls | own wanted and solved velocity, by rank |
//! | [`motion`](super::motion) | own plan and solved velocity, mesh | own position and route |

use super::Crowd;
use super::avoid::{AvoidView, Avoided, avoid, warm_up};
use super::entries::enter_links;
use super::motion::{MotionRows, move_agent};
use super::plan::{PlanRows, plan_agent};
use super::snapshot::{note_crossings, take_snapshot};
use super::state::COUNTER_LIMIT;
use super::walls::grow_rooms;
use crate::follower::check_dt;
use std::ops::Range;
use throng_soa::error::ArgumentError;
use throng_soa::mesh::TiledMesh;
use throng_soa::table::for_each_chunk;

/// The rows stage 1 writes, all of them, borrowed field by field.
macro_rules! plan_rows {
    ($crowd:expr) => {
        PlanRows {
            agents: $crowd.agents.chunk(),
            routes: $crowd.routes.chunk(),
            paths: &mut $crowd.paths,
            memories: &mut $crowd.memories,
            walls: $crowd.walls.chunk(),
            pieces: &mut $crowd.pieces,
            plans: &mut $crowd.plans,
        }
    };
}

/// A stage of the step, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Positions and velocities as the step begins, and who is near whom.
    Snapshot,
    /// Corridor upkeep, wanted velocities, wall lookups, turns at off-mesh links.
    Plan,
    /// Velocities that avoid others and walls.
    Avoid,
    /// The moves.
    Motion,
}

impl Crowd {
    /// One step of `dt` seconds on `mesh`. Allocates nothing once buffers have grown and the tiles walked
    /// on have been looked at before, or all at once by
    /// [`derive_lookups`](throng_soa::mesh::TiledMesh::derive_lookups).
    ///
    /// # Errors
    /// `dt` is not positive and finite.
    pub fn step(&mut self, mesh: &TiledMesh, dt: f64) -> Result<(), ArgumentError> {
        self.step_observed(mesh, dt, |_| {})
    }

    /// [`step`](Self::step) that reports when each stage ends (from one of the workers): for a
    /// caller with a clock.
    ///
    /// ```
    /// use throng_sim::crowd::{Crowd, CrowdOptions, Stage};
    /// # use throng_build::{NavSettings, build_soup};
    /// # use throng_soa::DVec3;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
    /// #     .map(|(x, z)| DVec3::new(x, 0.0, z));
    /// # let settings = NavSettings::HUMANOID;
    /// # let mesh = build_soup(&vertices, &[[0, 1, 2], [2, 1, 3]], &settings, 1)?;
    /// let mut crowd = Crowd::new(CrowdOptions::default())?;
    /// let mut ended = Vec::new();
    /// crowd.step_observed(&mesh, 0.05, |stage| ended.push(stage))?; // take the time here
    /// assert_eq!(ended, [Stage::Snapshot, Stage::Plan, Stage::Avoid, Stage::Motion]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `dt` is not positive and finite.
    pub fn step_observed(
        &mut self,
        mesh: &TiledMesh,
        dt: f64,
        ended: impl FnMut(Stage) + Send,
    ) -> Result<(), ArgumentError> {
        check_dt(dt)?;
        // Orders between steps count for nobody.
        let _ = self.take_counts();
        let entry = self.workers.entry();
        entry.run(|| self.stages(mesh, dt, ended));
        self.stats = self.take_counts();
        self.step_count = (self.step_count + 1).min(COUNTER_LIMIT);
        Ok(())
    }

    fn stages(&mut self, mesh: &TiledMesh, dt: f64, mut ended: impl FnMut(Stage)) {
        take_snapshot(
            &self.agents,
            self.profiles.all(),
            self.profiles.reach(),
            &mut self.starts,
            &mut self.start_velocities,
            &mut self.grid,
        );
        ended(Stage::Snapshot);
        self.plan_all(mesh, dt);
        self.settle_plans(mesh, dt);
        ended(Stage::Plan);
        self.avoid_all(dt);
        ended(Stage::Avoid);
        self.move_all(mesh, dt);
        ended(Stage::Motion);
    }

    fn plan_all(&mut self, mesh: &TiledMesh, dt: f64) {
        let (workers, options, profiles) = (&self.workers, &self.options, self.profiles.all());
        let rows = plan_rows!(self);
        workers.run(|parallel| {
            for_each_chunk(
                parallel,
                rows,
                &|range: Range<usize>, mut rows: PlanRows<'_>| {
                    rows.warm_up();
                    workers.with(|scratch| {
                        for i in 0..range.len() {
                            plan_agent(
                                &mut rows,
                                i,
                                mesh,
                                options,
                                profiles,
                                dt,
                                &mut scratch.navigator,
                            );
                        }
                    });
                },
            );
        });
    }

    /// What planning leaves to one thread: turns at links, and room for more boundary pieces.
    fn settle_plans(&mut self, mesh: &TiledMesh, dt: f64) {
        let (options, profiles) = (&self.options, self.profiles.all());
        let entries = &mut self.entries;
        self.workers.with(|scratch| {
            let navigator = &mut scratch.navigator;
            if mesh.has_off_mesh_links() {
                let rows = plan_rows!(self);
                enter_links(rows, mesh, options, profiles, dt, entries, navigator);
            }
            grow_rooms(plan_rows!(self), mesh, options, profiles, navigator);
        });
    }

    fn avoid_all(&mut self, dt: f64) {
        note_crossings(&self.plans, &self.grid, &mut self.starts);
        let (workers, options) = (&self.workers, &self.options);
        let view = AvoidView {
            profile_of: &self.agents.profile,
            starts: &self.starts,
            plans: &self.plans,
            walks: &self.routes.walk,
            walls: &self.walls,
            pieces: &self.pieces,
            max_walls: options.max_walls_avoided as usize,
            profiles: self.profiles.all(),
            grid: &self.grid,
            dt,
        };
        let order = self.grid.order();
        self.avoided.resize(order.len(), Avoided::default());
        if options.record_constraints {
            // Records are kept by slot; taking them is for looking at, not for speed.
            workers.with(|scratch| {
                for (rank, (&slot, out)) in order.iter().zip(&mut self.avoided).enumerate() {
                    *out = avoid(&view, rank, &mut scratch.avoid);
                    let record = &mut self.recorded[slot as usize];
                    record.walls = scratch.avoid.hard;
                    record.planes.clear();
                    record.planes.extend_from_slice(&scratch.avoid.planes);
                }
            });
        } else {
            let stage = |range: Range<usize>, avoided: &mut [Avoided]| {
                warm_up(&view, range.clone());
                workers.with(|scratch| {
                    for (rank, out) in range.zip(avoided) {
                        *out = avoid(&view, rank, &mut scratch.avoid);
                    }
                });
            };
            let avoided = self.avoided.as_mut_slice();
            workers.run(|parallel| for_each_chunk(parallel, avoided, &stage));
        }
        for (&slot, &avoided) in order.iter().zip(&self.avoided) {
            self.solved[slot as usize] = avoided;
        }
    }

    fn move_all(&mut self, mesh: &TiledMesh, dt: f64) {
        let (workers, options, profiles) = (&self.workers, &self.options, self.profiles.all());
        let (plans, starts, solved) = (&self.plans, &self.start_velocities, &self.solved);
        let rows = MotionRows {
            agents: self.agents.chunk(),
            routes: self.routes.chunk(),
            paths: &mut self.paths,
            memories: &mut self.memories,
        };
        workers.run(|parallel| {
            for_each_chunk(
                parallel,
                rows,
                &|range: Range<usize>, mut rows: MotionRows<'_>| {
                    rows.warm_up();
                    workers.with(|scratch| {
                        for (i, slot) in range.enumerate() {
                            let step = super::motion::MotionStep {
                                plan: &plans[slot],
                                start_velocity: starts[slot],
                                solved: solved[slot].velocity,
                                dt,
                            };
                            let navigator = &mut scratch.navigator;
                            move_agent(
                                &mut rows,
                                i,
                                mesh,
                                &options.filter,
                                profiles,
                                &step,
                                navigator,
                            );
                        }
                    });
                },
            );
        });
    }
}

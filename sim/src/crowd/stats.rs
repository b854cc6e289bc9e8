//! What a step did, in numbers.
//!
//! Every worker counts what it does; a step adds the counts up at its end. Each event happens on exactly
//! one worker, so the sums do not depend on the number of threads. There is no clock here: a caller with
//! one takes the stages' times with [`Crowd::step_observed`].

use super::Crowd;
use std::ops::AddAssign;

/// Counts of one step. Equal for any number of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepStats {
    /// Route searches begun or gone on with.
    pub route_searches: u64,
    /// Searches for a shorter way around the agent.
    pub shortcut_searches: u64,
    /// Nodes expanded by both kinds of search.
    pub expansions: u64,
    /// Shortcuts taken: by sight or by search.
    pub shortcuts: u64,
    /// Times an agent looked the boundary around it up.
    pub wall_lookups: u64,
    /// Velocity programs solved.
    pub programs: u64,
    /// Programs whose half-planes could not all hold, so that the fallback chose.
    pub fallbacks: u64,
}

impl AddAssign for StepStats {
    fn add_assign(&mut self, other: Self) {
        self.route_searches += other.route_searches;
        self.shortcut_searches += other.shortcut_searches;
        self.expansions += other.expansions;
        self.shortcuts += other.shortcuts;
        self.wall_lookups += other.wall_lookups;
        self.programs += other.programs;
        self.fallbacks += other.fallbacks;
    }
}

impl Crowd {
    /// What the last step did; zeros before the first. Constant time.
    ///
    /// ```
    /// use throng_sim::crowd::{AgentOptions, Crowd, CrowdOptions, StepStats};
    /// # use throng_build::{NavSettings, build_soup};
    /// # use throng_soa::DVec3;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
    /// #     .map(|(x, z)| DVec3::new(x, 0.0, z));
    /// # let settings = NavSettings::HUMANOID;
    /// # let mesh = build_soup(&vertices, &[[0, 1, 2], [2, 1, 3]], &settings, 1)?;
    /// let mut crowd = Crowd::new(CrowdOptions::default())?;
    /// let walker = crowd.add(&mesh, DVec3::new(3.0, 0.0, 3.0), &AgentOptions::HUMANOID)?;
    /// crowd.set_destination(&mesh, walker, DVec3::new(36.0, 0.0, 36.0))?;
    /// assert_eq!(crowd.step_stats(), StepStats::default());
    /// crowd.step(&mesh, 0.05)?;
    /// assert_eq!(crowd.step_stats().wall_lookups, 1); // it knew nothing of its surroundings yet
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn step_stats(&self) -> StepStats {
        self.stats
    }

    /// Takes the workers' counts, which then begin anew.
    pub(super) fn take_counts(&mut self) -> StepStats {
        let mut sum = StepStats::default();
        self.workers.each(|scratch| {
            sum += std::mem::take(&mut scratch.navigator.counts);
            sum += std::mem::take(&mut scratch.avoid.counts);
        });
        sum
    }
}

//! Replanning: finding a route to the target and splicing it onto what still holds.
//!
//! Search 1 goes on from the end of the valid part of the corridor; when that cannot start or
//! finds no route, or a replan from the start was asked for, search 2 starts at the agent. Both
//! count expansions, and any way of slicing the same work gives the same corridor.

use super::CorridorRow;
use super::cut_loops;
use super::shortcuts::adopt;
use crate::navigator::Navigator;
use throng_query::mesh::{Filter, QueryStatus, closest_point_on_poly, find_nearest_poly};
use throng_soa::error::ArgumentError;
use throng_soa::mesh::{PolyRef, TiledMesh};
use throng_soa::world::DVec3;

/// How a replan ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplanOutcome {
    /// [`QueryStatus::Success`], [`QueryStatus::Partial`] (no route: the corridor leads to the
    /// nearest reachable polygon), [`QueryStatus::InProgress`] (budget used up),
    /// [`QueryStatus::InvalidStartPoly`] or [`QueryStatus::NoEndNearby`] (corridor untouched).
    pub status: QueryStatus,
    /// Expansions spent.
    pub iterations: u64,
}

/// A replan spread over several calls: `begin`, `update` until it no longer says in progress,
/// `apply`. The navigator's route search must not be used for anything else in between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorridorReplan {
    status: QueryStatus,
    from_start: bool,
    /// Corridor polygons kept in front of the route's first polygon.
    kept: usize,
    target_poly: PolyRef,
    end: DVec3,
    /// Expansions of an earlier search of this replan.
    spent: u64,
}

impl CorridorReplan {
    /// Finds the polygon under the target and starts the first search.
    ///
    /// # Errors
    /// The target or the extents are outside their range.
    pub fn begin<F: Filter + ?Sized>(
        corridor: &CorridorRow<'_>,
        mesh: &TiledMesh,
        filter: &F,
        extents: DVec3,
        navigator: &mut Navigator,
    ) -> Result<Self, ArgumentError> {
        let nearest = find_nearest_poly(mesh, corridor.head.target, extents, filter)?;
        let mut replan = Self {
            status: QueryStatus::NoEndNearby,
            from_start: corridor.head.from_start,
            kept: 0,
            target_poly: nearest.poly,
            end: nearest.point,
            spent: 0,
        };
        if !nearest.poly.is_valid() {
            return Ok(replan);
        }
        if !replan.from_start {
            replan.begin_at_end(corridor, mesh, filter, navigator)?;
        }
        if replan.from_start {
            replan.begin_at_agent(corridor, mesh, filter, navigator)?;
        }
        Ok(replan)
    }

    /// Search 1; falls back to search 2 when it cannot start.
    fn begin_at_end<F: Filter + ?Sized>(
        &mut self,
        corridor: &CorridorRow<'_>,
        mesh: &TiledMesh,
        filter: &F,
        navigator: &mut Navigator,
    ) -> Result<(), ArgumentError> {
        let polys = corridor.polys();
        self.from_start = true;
        let Some(&last) = polys.last() else {
            return Ok(());
        };
        let Some(start) = closest_point_on_poly(mesh, last, corridor.head.position) else {
            return Ok(());
        };
        let search = &mut navigator.search;
        self.status = search.begin(mesh, last, self.target_poly, start.point, self.end, filter)?;
        if self.status == QueryStatus::InProgress {
            self.from_start = false;
            self.kept = polys.len() - 1;
        }
        Ok(())
    }

    /// Search 2.
    fn begin_at_agent<F: Filter + ?Sized>(
        &mut self,
        corridor: &CorridorRow<'_>,
        mesh: &TiledMesh,
        filter: &F,
        navigator: &mut Navigator,
    ) -> Result<(), ArgumentError> {
        self.from_start = true;
        self.kept = 0;
        let first = corridor.polys().first().copied().unwrap_or_default();
        let start = corridor.head.position;
        self.status =
            navigator
                .search
                .begin(mesh, first, self.target_poly, start, self.end, filter)?;
        Ok(())
    }

    /// Spends at most `budget` expansions.
    pub fn update<F: Filter + ?Sized>(
        &mut self,
        corridor: &CorridorRow<'_>,
        mesh: &TiledMesh,
        filter: &F,
        budget: u32,
        navigator: &mut Navigator,
    ) -> QueryStatus {
        if self.status != QueryStatus::InProgress {
            return self.status;
        }
        let before = navigator.search.iterations();
        self.status = navigator.search.update(mesh, filter, budget);
        let used = navigator.search.iterations();
        navigator.counts.route_searches += 1;
        navigator.counts.expansions += used - before;
        if self.status == QueryStatus::Partial && !self.from_start {
            self.spent += used;
            let left = u64::from(budget).saturating_sub(used - before) as u32;
            // The positions were checked when the replan began.
            let again = self.begin_at_agent(corridor, mesh, filter, navigator);
            if again.is_ok() && self.status == QueryStatus::InProgress {
                self.status = navigator.search.update(mesh, filter, left);
                navigator.counts.route_searches += 1;
                navigator.counts.expansions += navigator.search.iterations();
            }
        }
        self.status
    }

    /// Splices the route of the search that ended (or how far it got) into the corridor.
    pub fn apply(
        &mut self,
        corridor: &mut CorridorRow<'_>,
        navigator: &mut Navigator,
    ) -> ReplanOutcome {
        let searched = matches!(
            self.status,
            QueryStatus::Success | QueryStatus::Partial | QueryStatus::InProgress
        );
        let last = if searched {
            navigator.search.iterations()
        } else {
            0
        };
        let outcome = ReplanOutcome {
            status: self.status,
            iterations: self.spent + last,
        };
        if !searched {
            return outcome;
        }
        let kept = self.kept.min(corridor.head.count as usize);
        let route = &mut navigator.route;
        route.clear();
        route.extend_from_slice(&corridor.path[..kept]);
        route.extend_from_slice(navigator.search.corridor().0);
        cut_loops(route, kept);
        let head = &mut corridor.head;
        head.target_poly = self.target_poly;
        head.complete = self.status == QueryStatus::Success;
        // An unfinished search is a guess: the next round starts again from the agent.
        head.needs_replan = self.status == QueryStatus::InProgress;
        head.from_start = self.status == QueryStatus::InProgress;
        adopt(corridor, &navigator.route);
        outcome
    }
}

/// A whole replan in one call of at most `budget` expansions; what it found by then is applied.
///
/// # Errors
/// The target or the extents are outside their range.
pub fn replan<F: Filter + ?Sized>(
    corridor: &mut CorridorRow<'_>,
    mesh: &TiledMesh,
    filter: &F,
    extents: DVec3,
    budget: u32,
    navigator: &mut Navigator,
) -> Result<ReplanOutcome, ArgumentError> {
    let mut replan = CorridorReplan::begin(corridor, mesh, filter, extents, navigator)?;
    replan.update(corridor, mesh, filter, budget, navigator);
    Ok(replan.apply(corridor, navigator))
}

//! Path queries cut into slices: a task that is stepped, and an async form that steps itself.
//!
//! In: two positions, options, a query object to search with. Out: the bits of
//! [`MeshQuery::find_path`], whatever the slices: a slice only decides where the same loop pauses,
//! and it counts expansions, never time. Dropping a task, or the future of the async form, abandons
//! the search. Nothing moves to another thread: whoever steps does the work.

use super::filter::{Filter, QueryFilter};
use super::front::{MeshQuery, PathOptions, PathResult, check_options};
use super::nearest::find_nearest_poly;
use super::status::{PathStatus, QueryStatus};
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use throng_soa::mesh::TiledMesh;
use throng_soa::world::check_point;
use throng_soa::{ArgumentError, DVec3};

/// A path query that is under way. It borrows the mesh, so the mesh cannot change under it.
///
/// `Q` is where the search lives: a [`MeshQuery`] of its own, a borrowed one, or one from a pool.
#[derive(Clone, Debug)]
pub struct PathTask<'m, F: Filter = QueryFilter, Q: AsMut<MeshQuery> = MeshQuery> {
    mesh: &'m TiledMesh,
    query: Q,
    filter: F,
    /// The ends, moved to the mesh.
    start: DVec3,
    end: DVec3,
    max_corridor: usize,
    status: QueryStatus,
    iterations: u64,
}

impl<'m, Q: AsMut<MeshQuery>> PathTask<'m, QueryFilter, Q> {
    /// Finds the polygons at both ends and begins the search; nothing is expanded yet.
    ///
    /// # Errors
    /// A position outside the coordinate rule or an option out of range.
    pub fn begin(
        mesh: &'m TiledMesh,
        query: Q,
        start: DVec3,
        end: DVec3,
        options: &PathOptions,
    ) -> Result<Self, ArgumentError> {
        Self::begin_with(mesh, query, start, end, options, options.filter.clone())
    }
}

impl<'m, F: Filter, Q: AsMut<MeshQuery>> PathTask<'m, F, Q> {
    /// [`begin`](PathTask::begin) with a filter of any kind in place of the options' own.
    ///
    /// # Errors
    /// As [`begin`](PathTask::begin).
    pub fn begin_with(
        mesh: &'m TiledMesh,
        mut query: Q,
        start: DVec3,
        end: DVec3,
        options: &PathOptions,
        filter: F,
    ) -> Result<Self, ArgumentError> {
        check_options(options)?;
        check_point("start", start)?;
        check_point("end", end)?;
        let from = find_nearest_poly(mesh, start, options.half_extents, &filter)?;
        let to = find_nearest_poly(mesh, end, options.half_extents, &filter)?;
        let status = if !from.poly.is_valid() {
            QueryStatus::NoStartNearby
        } else if !to.poly.is_valid() {
            QueryStatus::NoEndNearby
        } else {
            let search = &mut query.as_mut().search;
            search.begin(mesh, from.poly, to.poly, from.point, to.point, &filter)?
        };
        Ok(Self {
            mesh,
            query,
            filter,
            start: from.point,
            end: to.point,
            max_corridor: options.max_corridor,
            status,
            iterations: 0,
        })
    }

    /// Goes on for at most `iterations` expansions. [`PathStatus::InProgress`] while there is work
    /// left; a task that is done stays as it is.
    pub fn step(&mut self, iterations: u32) -> PathStatus {
        if self.status == QueryStatus::InProgress {
            let search = &mut self.query.as_mut().search;
            self.status = search.update(self.mesh, &self.filter, iterations);
            self.iterations = search.iterations();
        }
        self.status()
    }

    /// Where the task stands.
    #[must_use]
    pub fn status(&self) -> PathStatus {
        self.status.to_path_status()
    }

    /// Whether a step would still do something.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.status == QueryStatus::InProgress
    }

    /// Expansions so far.
    #[must_use]
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// The result, string pulled. A task that still had work left gives the way to the nearest
    /// place so far, with status [`PathStatus::InProgress`].
    #[must_use]
    pub fn finish(mut self) -> PathResult {
        match self.status {
            QueryStatus::NoStartNearby | QueryStatus::NoEndNearby => {
                PathResult::without_path(self.status)
            }
            _ => {
                let query = self.query.as_mut();
                query.collect(self.mesh, self.start, self.end, self.max_corridor)
            }
        }
    }

    /// Steps to the end, `iterations_per_slice` expansions at a time, and lets other work of the
    /// executor run in between.
    pub async fn run(mut self, iterations_per_slice: u32) -> PathResult {
        while self.step(iterations_per_slice.max(1)) == PathStatus::InProgress {
            YieldNow::default().await;
        }
        self.finish()
    }
}

impl AsMut<MeshQuery> for MeshQuery {
    fn as_mut(&mut self) -> &mut MeshQuery {
        self
    }
}

impl MeshQuery {
    /// [`find_path`](Self::find_path) with a filter of any kind in place of the options' own: a
    /// struct of the caller's, or a closure over flags and area.
    ///
    /// # Errors
    /// As [`find_path`](Self::find_path).
    pub fn find_path_with<F: Filter + ?Sized>(
        &mut self,
        mesh: &TiledMesh,
        start: DVec3,
        end: DVec3,
        options: &PathOptions,
        filter: &F,
    ) -> Result<PathResult, ArgumentError> {
        let mut task = PathTask::begin_with(mesh, self, start, end, options, ByRef(filter))?;
        while task.step(u32::MAX) == PathStatus::InProgress {}
        Ok(task.finish())
    }

    /// [`find_path`](Self::find_path) in slices of
    /// [`iterations_per_slice`](PathOptions::iterations_per_slice) expansions, pending between two of
    /// them. Runs on any executor and on whatever thread polls it; dropping the future abandons the
    /// search. The options are copied.
    ///
    /// # Errors
    /// As [`find_path`](Self::find_path), when first polled.
    pub fn find_path_async<'a>(
        &'a mut self,
        mesh: &'a TiledMesh,
        start: DVec3,
        end: DVec3,
        options: &PathOptions,
    ) -> impl Future<Output = Result<PathResult, ArgumentError>> + use<'a> {
        let options = options.clone();
        async move {
            let task = PathTask::begin(mesh, self, start, end, &options)?;
            Ok(task.run(options.iterations_per_slice).await)
        }
    }
}

/// A borrowed filter as a filter. (`&F` itself cannot be one: it might also be a closure.)
struct ByRef<'a, F: ?Sized>(&'a F);

impl<F: Filter + ?Sized> Filter for ByRef<'_, F> {
    #[inline]
    fn passes(&self, flags: u16, area: u8) -> bool {
        self.0.passes(flags, area)
    }

    #[inline]
    fn area_cost(&self, area: u8) -> f64 {
        self.0.area_cost(area)
    }

    #[inline]
    fn min_area_cost(&self) -> f64 {
        self.0.min_area_cost()
    }

    #[inline]
    fn as_query_filter(&self) -> Option<&QueryFilter> {
        self.0.as_query_filter()
    }
}

/// Pending once, and woken at once: the executor may do something else in between.
#[derive(Debug, Default)]
struct YieldNow {
    was_pending: bool,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.was_pending {
            return Poll::Ready(());
        }
        self.was_pending = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

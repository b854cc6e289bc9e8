//! Query objects from the pool, and the forms of a path query that take their time.
//!
//! Every call borrows a query object for its length: a spare of the mesh when there is one, a new
//! one otherwise. Query objects hold no result between calls, so a spare gives the bits a new one
//! gives, whatever was asked or edited before. Any number of threads may ask one `&NavMesh`.

use std::ops::{Deref, DerefMut};
use std::sync::Mutex;

use crate::NavMesh;
use crate::navmesh::NEAR;
use throng_query::mesh::{
    Filter, MeshQuery, PathOptions, PathResult, PathTask, QueryFilter, RandomPoint, RaycastStatus,
    WallHit, find_nearest_poly, surface_height,
};
use throng_soa::error::ArgumentError;
use throng_soa::mesh::PolyRef;
use throng_soa::rng::SplitMix64;
use throng_soa::world::{DVec3, check_point, distance_xz};

/// Query objects kept for the next call.
const SPARES: usize = 4;

/// A [`MeshQuery`] borrowed from a mesh; it goes back when dropped. Dereferences to it.
#[derive(Debug)]
pub struct PooledQuery<'m> {
    spares: &'m Mutex<Vec<MeshQuery>>,
    /// There until it is dropped.
    query: Option<MeshQuery>,
}

impl AsMut<MeshQuery> for PooledQuery<'_> {
    fn as_mut(&mut self) -> &mut MeshQuery {
        self
    }
}

impl Deref for PooledQuery<'_> {
    type Target = MeshQuery;

    fn deref(&self) -> &MeshQuery {
        match &self.query {
            Some(query) => query,
            None => unreachable!("only dropping takes it out"),
        }
    }
}

impl DerefMut for PooledQuery<'_> {
    fn deref_mut(&mut self) -> &mut MeshQuery {
        self.query.get_or_insert_default()
    }
}

impl Drop for PooledQuery<'_> {
    fn drop(&mut self) {
        if let (Some(query), Ok(mut spares)) = (self.query.take(), self.spares.lock()) {
            if spares.len() < SPARES {
                spares.push(query);
            }
        }
    }
}

/// A path query under way on a [`NavMesh`]; see [`NavMesh::begin_path`].
pub type MeshPathTask<'m, F = QueryFilter> = PathTask<'m, F, PooledQuery<'m>>;

/// Where a walk straight ahead ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NavMeshHit {
    /// A wall (or a start off the mesh) stopped it before its end.
    pub blocked: bool,
    /// Where it ends, on the surface; `from` itself when that is off the mesh.
    pub position: DVec3,
    /// Outward unit normal of the wall in X/Z; zero when nothing was hit.
    pub normal: DVec3,
    /// Length of the walk in X/Z, world units.
    pub distance: f64,
    /// The polygon it ends in; invalid when the start is off the mesh.
    pub poly: PolyRef,
}

impl NavMesh {
    /// A query object from the pool, for callers who ask several questions in a row.
    ///
    /// ```
    /// # use throng::{DVec3, NavMesh, NavSettings, PathOptions};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
    /// #     .map(|(x, z)| DVec3::new(x, 0.0, z));
    /// # let mesh = NavMesh::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &NavSettings::HUMANOID)?;
    /// let (from, to) = (DVec3::new(3.0, 0.0, 3.0), DVec3::new(36.0, 0.0, 36.0));
    /// let options = PathOptions::default();
    /// let mut query = mesh.query();
    /// let there = query.find_path(&mesh, from, to, &options)?;
    /// let back = query.find_path(&mesh, to, from, &options)?;
    /// assert_eq!(there.points.len(), back.points.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn query(&self) -> PooledQuery<'_> {
        let spare = self.spares.lock().ok().and_then(|mut spares| spares.pop());
        PooledQuery {
            spares: &self.spares,
            query: Some(spare.unwrap_or_default()),
        }
    }

    /// Asks with a query object from the pool. Any number of threads may ask at once, each with its
    /// own.
    ///
    /// ```
    /// # use throng::{DVec3, NavMesh, NavSettings, PathOptions};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
    /// #     .map(|(x, z)| DVec3::new(x, 0.0, z));
    /// # let mesh = NavMesh::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &NavSettings::HUMANOID)?;
    /// let (from, options) = (DVec3::new(3.0, 0.0, 3.0), PathOptions::default());
    /// let goals = [8.0, 16.0, 24.0, 36.0].map(|x| DVec3::new(x, 0.0, 36.0));
    /// let mut lengths = [0.0; 4];
    /// std::thread::scope(|scope| {
    ///     for (length, &goal) in lengths.iter_mut().zip(&goals) {
    ///         let (mesh, options) = (&mesh, &options);
    ///         scope.spawn(move || {
    ///             let route = mesh.with_query(|query| query.find_path(mesh, from, goal, options));
    ///             *length = route.map_or(f64::NAN, |route| route.length);
    ///         });
    ///     }
    /// });
    /// for (&length, &goal) in lengths.iter().zip(&goals) {
    ///     assert_eq!(length, mesh.find_path(from, goal, &options)?.length);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_query<R>(&self, ask: impl FnOnce(&mut MeshQuery) -> R) -> R {
        ask(self.query().as_mut())
    }

    /// Begins a path query that is stepped by hand. Stepped to the end in any slices, it gives the
    /// bits of [`find_path`](Self::find_path); dropping it abandons the search.
    ///
    /// ```
    /// use throng::{DVec3, NavMesh, NavSettings, PathOptions, PathStatus};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
    /// #     .map(|(x, z)| DVec3::new(x, 0.0, z));
    /// # let mesh = NavMesh::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &NavSettings::HUMANOID)?;
    /// let (from, to) = (DVec3::new(3.0, 0.0, 3.0), DVec3::new(36.0, 0.0, 36.0));
    /// let mut task = mesh.begin_path(from, to, &PathOptions::default())?;
    /// while task.step(256) == PathStatus::InProgress {
    ///     // a frame goes by
    /// }
    /// let route = task.finish();
    /// assert_eq!(route, mesh.find_path(from, to, &PathOptions::default())?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A position outside the coordinate bound or an option out of range.
    pub fn begin_path(
        &self,
        start: DVec3,
        end: DVec3,
        options: &PathOptions,
    ) -> Result<MeshPathTask<'_>, ArgumentError> {
        PathTask::begin(self, self.query(), start, end, options)
    }

    /// [`begin_path`](Self::begin_path) with a filter of any kind in place of the options' own: a
    /// struct of the caller's, or a closure over flags and area.
    ///
    /// # Errors
    /// As [`begin_path`](Self::begin_path).
    pub fn begin_path_with<F: Filter>(
        &self,
        start: DVec3,
        end: DVec3,
        options: &PathOptions,
        filter: F,
    ) -> Result<MeshPathTask<'_, F>, ArgumentError> {
        PathTask::begin_with(self, self.query(), start, end, options, filter)
    }

    /// [`find_path`](Self::find_path) with a filter of any kind in place of the options' own.
    ///
    /// ```
    /// # use throng::{DVec3, NavMesh, NavSettings, PathOptions};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
    /// #     .map(|(x, z)| DVec3::new(x, 0.0, z));
    /// # let mesh = NavMesh::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &NavSettings::HUMANOID)?;
    /// # let (from, to) = (DVec3::new(3.0, 0.0, 3.0), DVec3::new(36.0, 0.0, 36.0));
    /// let dry = |flags: u16, _area: u8| flags & 0x10 == 0;
    /// let route = mesh.find_path_with(from, to, &PathOptions::default(), &dry)?;
    /// assert!(route.status.has_path());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`find_path`](Self::find_path).
    pub fn find_path_with<F: Filter + ?Sized>(
        &self,
        start: DVec3,
        end: DVec3,
        options: &PathOptions,
        filter: &F,
    ) -> Result<PathResult, ArgumentError> {
        self.with_query(|query| query.find_path_with(self, start, end, options, filter))
    }

    /// [`find_path`](Self::find_path) that asks `keep_going(expansions so far)` after every
    /// [`iterations_per_slice`](PathOptions::iterations_per_slice) expansions. A refused search ends
    /// with status `InProgress` and the way to the nearest place so far.
    ///
    /// ```
    /// # use throng::{DVec3, NavMesh, NavSettings, PathOptions, PathStatus, levels};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let level = levels::generate("rooms", 96.0, 3).ok_or("no such level")?;
    /// let mesh = NavMesh::build_soup(&level, &NavSettings::HUMANOID)?;
    /// let (from, to) = (DVec3::new(3.0, 0.0, 3.0), DVec3::new(92.0, 0.0, 92.0));
    /// let options = PathOptions { iterations_per_slice: 4, ..PathOptions::default() };
    /// let given_up = mesh.find_path_while(from, to, &options, |expansions| expansions < 8)?;
    /// assert_eq!(given_up.status, PathStatus::InProgress);
    /// let route = mesh.find_path_while(from, to, &options, |_| true)?;
    /// assert_eq!(route, mesh.find_path(from, to, &options)?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`find_path`](Self::find_path).
    pub fn find_path_while(
        &self,
        start: DVec3,
        end: DVec3,
        options: &PathOptions,
        keep_going: impl FnMut(u64) -> bool,
    ) -> Result<PathResult, ArgumentError> {
        self.with_query(|query| query.find_path_while(self, start, end, options, keep_going))
    }

    /// [`find_path`](Self::find_path) in slices of
    /// [`iterations_per_slice`](PathOptions::iterations_per_slice) expansions, pending between two
    /// of them. It needs no particular executor and starts no thread: whoever polls it searches.
    /// Dropping the future cancels. The answer has the bits of `find_path`. The options are copied.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::task::{Context, Poll, Waker};
    /// # use throng::{DVec3, NavMesh, NavSettings, PathOptions};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
    /// #     .map(|(x, z)| DVec3::new(x, 0.0, z));
    /// # let mesh = NavMesh::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &NavSettings::HUMANOID)?;
    /// let (mesh, from, to) = (Arc::new(mesh), DVec3::new(3.0, 0.0, 3.0), DVec3::new(36.0, 0.0, 36.0));
    /// let asked = mesh.clone();
    /// // Owns all it needs, so it can be handed to any executor.
    /// let mut task = Box::pin(async move {
    ///     let options = PathOptions { iterations_per_slice: 1, ..PathOptions::default() };
    ///     asked.find_path_async(from, to, &options).await
    /// });
    /// // The smallest executor there is:
    /// let mut context = Context::from_waker(Waker::noop());
    /// let route = loop {
    ///     if let Poll::Ready(route) = task.as_mut().poll(&mut context) {
    ///         break route?;
    ///     }
    /// };
    /// assert_eq!(route, mesh.find_path(from, to, &PathOptions::default())?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`find_path`](Self::find_path), when first polled.
    pub fn find_path_async<'m>(
        &'m self,
        start: DVec3,
        end: DVec3,
        options: &PathOptions,
    ) -> impl Future<Output = Result<PathResult, ArgumentError>> + use<'m> {
        let options = options.clone();
        async move {
            let task = self.begin_path(start, end, &options)?;
            Ok(task.run(options.iterations_per_slice).await)
        }
    }

    /// Walks straight from `from` (moved to the mesh first) toward `to`; where that ends, as a
    /// position with its distance. [`raycast`](Self::raycast) is the same walk in terms of the ray.
    ///
    /// # Errors
    /// A position outside the coordinate bound.
    pub fn raycast_hit<F: Filter + ?Sized>(
        &self,
        from: DVec3,
        to: DVec3,
        filter: &F,
    ) -> Result<NavMeshHit, ArgumentError> {
        check_point("from", from)?;
        check_point("to", to)?;
        let start = find_nearest_poly(self.tiles_mesh(), from, NEAR, filter)?;
        let hit = throng_query::mesh::raycast(self, start.poly, start.point, to, filter, &mut []);
        let place = self.resolve(hit.last_poly);
        let (RaycastStatus::Ok, Some((tile, index))) = (hit.status, place) else {
            return Ok(NavMeshHit {
                blocked: true,
                position: from,
                normal: DVec3::ZERO,
                distance: 0.0,
                poly: PolyRef::INVALID,
            });
        };
        let (x, z) = if hit.hit {
            let way = to - start.point;
            (start.point.x + way.x * hit.t, start.point.z + way.z * hit.t)
        } else {
            (to.x, to.z)
        };
        let position = DVec3::new(x, surface_height(tile, index, x, z), z);
        Ok(NavMeshHit {
            blocked: hit.hit,
            position,
            normal: hit.normal,
            distance: distance_xz(start.point, position),
            poly: hit.last_poly,
        })
    }

    /// The wall nearest to `position` (moved to the mesh first) within `max_distance`, measured in
    /// X/Z; `None` when the position is off the mesh or no wall is so near. Heights do not count: where
    /// floors lie over each other, the walls of every floor count that can be reached within this
    /// distance, so a larger one can find a nearer wall. Costs what lies within the nearest wall; near
    /// tile borders, where floors lie over each other, at thin corners and beside polygons the filter
    /// rejects, what lies within `max_distance`.
    ///
    /// ```
    /// # use throng::{DVec3, NavMesh, NavSettings, QueryFilter};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
    /// #     .map(|(x, z)| DVec3::new(x, 0.0, z));
    /// # let mesh = NavMesh::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &NavSettings::HUMANOID)?;
    /// let (position, filter) = (DVec3::new(5.0, 0.0, 20.0), QueryFilter::default());
    /// let wall = mesh.distance_to_wall(position, 10.0, &filter)?.ok_or("no wall so near")?;
    /// assert!(wall.distance < 5.0 && wall.point.x < 1.0);
    /// assert_eq!(mesh.distance_to_wall(position, 2.0, &filter)?, None);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A position outside the coordinate bound or a distance outside 0 to 2^22.
    pub fn distance_to_wall<F: Filter + ?Sized>(
        &self,
        position: DVec3,
        max_distance: f64,
        filter: &F,
    ) -> Result<Option<WallHit>, ArgumentError> {
        let start = find_nearest_poly(self.tiles_mesh(), position, NEAR, filter)?;
        let hit = self.with_query(|query| {
            let area = &mut query.area;
            area.distance_to_wall(self, start.poly, start.point, max_distance, filter)
        })?;
        Ok(hit.found.then_some(hit))
    }

    /// A point drawn evenly from the part of the surface around `center` (moved to the mesh first)
    /// that can be reached inside a circle of `radius`; `None` when the centre is off the mesh or
    /// 64 draws missed.
    ///
    /// ```
    /// # use throng::{DVec3, NavMesh, NavSettings, QueryFilter, SplitMix64};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
    /// #     .map(|(x, z)| DVec3::new(x, 0.0, z));
    /// # let mesh = NavMesh::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &NavSettings::HUMANOID)?;
    /// let (mut rng, camp) = (SplitMix64::new(5), DVec3::new(20.0, 0.0, 20.0));
    /// let place = mesh.random_point_around(&mut rng, camp, 6.0, &QueryFilter::default())?;
    /// let point = place.ok_or("no ground near the camp")?.point;
    /// assert!((point.x - camp.x).powi(2) + (point.z - camp.z).powi(2) <= 36.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A position outside the coordinate bound or a radius outside 0 to 2^22.
    pub fn random_point_around<F: Filter + ?Sized>(
        &self,
        rng: &mut SplitMix64,
        center: DVec3,
        radius: f64,
        filter: &F,
    ) -> Result<Option<RandomPoint>, ArgumentError> {
        let start = find_nearest_poly(self.tiles_mesh(), center, NEAR, filter)?;
        self.with_query(|query| {
            let area = &mut query.area;
            area.random_point_around(self, rng, start.poly, start.point, radius, filter)
        })
    }
}

//! A navigation mesh with the settings it was built with, and one-call queries.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex};

use crate::save;
use throng_build::input::Soup;
use throng_build::{BuildError, BuildOptions, NavSettings, build_soup_with};
use throng_query::mesh::{
    Filter, MeshQuery, NearestPoly, PathOptions, PathResult, QueryFilter, RandomPoint, RaycastHit,
    RaycastStatus, SurfaceSampler, find_nearest_poly, random_point,
};
use throng_soa::error::{ArgumentError, DataError};
use throng_soa::mesh::TiledMesh;
use throng_soa::mesh::format::read_mesh_parallel;
use throng_soa::rng::SplitMix64;
use throng_soa::world::{DVec3, check_point, distance3};

/// Half extents in which a position looks for the polygon it stands on.
pub(crate) const NEAR: DVec3 = DVec3::new(2.0, 4.0, 2.0);

/// A navigation mesh for one agent class.
///
/// Dereferences to its [`TiledMesh`], so a crowd and the lower-level queries take `&mesh` as it
/// is. The one-call queries below borrow search storage from a small pool and may run on many
/// threads at once; hold a [`MeshQuery`] to ask repeatedly without the pool.
#[derive(Debug)]
pub struct NavMesh {
    mesh: TiledMesh,
    settings: NavSettings,
    pub(crate) spares: Mutex<Vec<MeshQuery>>,
    /// Areas added up for the last random point. Held only to copy or to swap the pointer.
    sampler: Mutex<Option<Arc<Sums>>>,
}

/// The areas of a mesh and the filter they were added up for.
#[derive(Debug)]
struct Sums {
    filter: QueryFilter,
    sampler: SurfaceSampler,
}

impl NavMesh {
    /// Builds a mesh from level triangles on the calling thread: Y up, counter-clockwise seen from
    /// the walkable side. A level without walkable ground gives an empty mesh.
    ///
    /// # Errors
    /// A setting, vertex or index out of range, or a limit of the format exceeded.
    pub fn build(
        vertices: &[DVec3],
        triangles: &[[u32; 3]],
        settings: &NavSettings,
    ) -> Result<Self, BuildError> {
        Self::build_with(vertices, triangles, settings, &BuildOptions::default())
    }

    /// [`build`](Self::build) with worker threads, area volumes or a progress callback. The thread
    /// count never changes a byte of the mesh.
    ///
    /// # Errors
    /// As [`build`](Self::build), more than 256 threads, or [`BuildError::Cancelled`].
    pub fn build_with(
        vertices: &[DVec3],
        triangles: &[[u32; 3]],
        settings: &NavSettings,
        options: &BuildOptions<'_>,
    ) -> Result<Self, BuildError> {
        let mesh = build_soup_with(vertices, triangles, settings, options)?;
        Ok(Self::from_parts(mesh, settings.clone()))
    }

    /// Builds a mesh from a triangle soup (a read OBJ file, a generated level).
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_soup(soup: &Soup, settings: &NavSettings) -> Result<Self, BuildError> {
        Self::build_soup_with(soup, settings, &BuildOptions::default())
    }

    /// [`build_with`](Self::build_with) from a triangle soup.
    ///
    /// # Errors
    /// As [`build_with`](Self::build_with).
    pub fn build_soup_with(
        soup: &Soup,
        settings: &NavSettings,
        options: &BuildOptions<'_>,
    ) -> Result<Self, BuildError> {
        Self::build_with(soup.vertices(), soup.triangles(), settings, options)
    }

    pub(crate) fn from_parts(mesh: TiledMesh, settings: NavSettings) -> Self {
        Self {
            mesh,
            settings,
            spares: Mutex::new(Vec::new()),
            sampler: Mutex::new(None),
        }
    }

    /// The settings the mesh was built with.
    #[must_use]
    pub fn settings(&self) -> &NavSettings {
        &self.settings
    }

    /// The tiles and their links.
    #[must_use]
    pub fn tiles_mesh(&self) -> &TiledMesh {
        &self.mesh
    }

    /// The baked mesh as bytes, settings included: the same mesh, the same bytes.
    ///
    /// # Panics
    /// The mesh is longer than the 4 GiB that its length field holds; [`try_save`](Self::try_save)
    /// gives `None` then.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        save::write(&self.mesh, &self.settings)
    }

    /// Length of the bytes of [`save`](Self::save). Allocates nothing.
    #[must_use]
    pub fn save_size(&self) -> usize {
        save::size(&self.mesh, &self.settings)
    }

    /// Writes the bytes of [`save`](Self::save) into `buffer` and returns their number, or `None`
    /// when the buffer is too short or the mesh is longer than the format holds, 4 GiB (its contents
    /// then mean nothing). Allocates nothing.
    pub fn try_save(&self, buffer: &mut [u8]) -> Option<usize> {
        save::try_write(&self.mesh, &self.settings, buffer)
    }

    /// Loads what [`save`](Self::save) wrote. Linear in the bytes; every rule of every tile is checked.
    /// Its tiles' world positions, trees, lookup grids and which polygons lie over each other are left
    /// to the first search that needs them (see [`derive_lookups`](Self::derive_lookups)).
    ///
    /// # Errors
    /// Truncated or trailing bytes, another format or version, settings that do not belong to the
    /// mesh, or a broken rule of a tile.
    pub fn load(bytes: &[u8]) -> Result<Self, DataError> {
        let (mesh, settings) = save::read(bytes)?;
        Ok(Self::from_parts(mesh, settings))
    }

    /// [`load`](Self::load) with the tiles read and checked on the current rayon pool: the same mesh
    /// and the same error. That is most of the work of a large file (50 MB on two threads: about a
    /// quarter less time); the tiles are still joined on one thread. The global pool, which the first
    /// call starts, unless called inside
    /// [`rayon::ThreadPool::install`](https://docs.rs/rayon).
    ///
    /// ```
    /// # use throng::{DVec3, NavMesh, NavSettings};
    /// # let corners = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)];
    /// # let corners = corners.map(|(x, z)| DVec3::new(x, 0.0, z));
    /// # let mesh = NavMesh::build(&corners, &[[0, 1, 2], [2, 1, 3]], &NavSettings::HUMANOID)?;
    /// let bytes = mesh.save();
    /// assert_eq!(NavMesh::load_parallel(&bytes)?.save(), bytes);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_parallel(bytes: &[u8]) -> Result<Self, DataError> {
        let (mesh, settings) = save::read_on(bytes, read_mesh_parallel)?;
        Ok(Self::from_parts(mesh, settings))
    }

    /// Derives now what tiles derive when a search first asks for it: world positions, trees, lookup grids,
    /// what lies over what. Without it a search that comes to a fresh tile does it in passing, some ten
    /// microseconds, and for its first nearest wall about one for each polygon of the tile; a world of which
    /// little is walked on never pays for the rest. Results are the same.
    ///
    /// ```
    /// # use throng::{DVec3, NavMesh, NavSettings};
    /// # let corners = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)];
    /// # let corners = corners.map(|(x, z)| DVec3::new(x, 0.0, z));
    /// # let mesh = NavMesh::build(&corners, &[[0, 1, 2], [2, 1, 3]], &NavSettings::HUMANOID)?;
    /// let mesh = NavMesh::load(&mesh.save())?;
    /// mesh.derive_lookups();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn derive_lookups(&self) {
        self.mesh.derive_lookups();
    }

    /// [`load`](Self::load) that also takes bare mesh bytes, which carry no settings: they must be
    /// those the mesh was built with.
    ///
    /// # Errors
    /// As [`load`](Self::load), or settings other than the mesh's.
    pub fn load_with(bytes: &[u8], settings: &NavSettings) -> Result<Self, DataError> {
        let (mesh, settings) = save::read_with(bytes, settings)?;
        Ok(Self::from_parts(mesh, settings))
    }

    /// The path between two positions: the nearest polygon at each end, the least-cost corridor,
    /// the string pulled through it. A goal that cannot be reached gives the way to the nearest
    /// reachable place ([`PathStatus::Partial`](crate::PathStatus::Partial)).
    ///
    /// # Errors
    /// A position outside the coordinate bound or an option out of range.
    pub fn find_path(
        &self,
        start: DVec3,
        end: DVec3,
        options: &PathOptions,
    ) -> Result<PathResult, ArgumentError> {
        self.with_query(|query| query.find_path(&self.mesh, start, end, options))
    }

    /// The polygon nearest to `position` among those `filter` accepts whose bounding box meets the box
    /// `position` plus and minus `half_extents`: what turns a position into a
    /// [`PolyRef`](crate::PolyRef) to edit, or to start a search from. Without one the reference is
    /// invalid and the point `position` itself; `over_polygon` says whether it stands on what was found.
    ///
    /// ```
    /// # use throng::{DVec3, NavMesh, NavSettings, QueryFilter};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
    /// #     .map(|(x, z)| DVec3::new(x, 0.0, z));
    /// let mut mesh = NavMesh::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &NavSettings::HUMANOID)?;
    /// let (door, reach) = (DVec3::new(20.0, 0.5, 20.0), DVec3::splat(1.0));
    /// let found = mesh.nearest_poly(door, reach, &QueryFilter::default())?;
    /// assert!(found.over_polygon);
    /// mesh.set_poly_area(found.poly, 9)?; // shut it
    /// let open = |_flags: u16, area: u8| area != 9;
    /// assert!(!mesh.nearest_poly(door, reach, &open)?.poly.is_valid());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A position outside the coordinate bound or half extents that are negative or not finite.
    pub fn nearest_poly<F: Filter + ?Sized>(
        &self,
        position: DVec3,
        half_extents: DVec3,
        filter: &F,
    ) -> Result<NearestPoly, ArgumentError> {
        check_point("position", position)?;
        find_nearest_poly(&self.mesh, position, half_extents, filter)
    }

    /// The nearest point of the mesh within `max_distance`, when there is one.
    ///
    /// ```
    /// # use throng::{DVec3, NavMesh, NavSettings, QueryFilter};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
    /// #     .map(|(x, z)| DVec3::new(x, 0.0, z));
    /// # let mesh = NavMesh::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &NavSettings::HUMANOID)?;
    /// let (filter, above) = (QueryFilter::default(), DVec3::new(20.0, 3.0, 20.0));
    /// let ground = mesh.sample_position(above, 5.0, &filter)?.ok_or("no ground")?;
    /// assert_eq!((ground.x, ground.z), (20.0, 20.0));
    /// assert_eq!(mesh.sample_position(above, 1.0, &filter)?, None);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A position outside the coordinate bound or a distance that is negative or not finite.
    pub fn sample_position<F: Filter + ?Sized>(
        &self,
        position: DVec3,
        max_distance: f64,
        filter: &F,
    ) -> Result<Option<DVec3>, ArgumentError> {
        check_point("position", position)?;
        if !(max_distance.is_finite() && max_distance >= 0.0) {
            let allowed = "finite and not negative";
            return Err(ArgumentError::new("max_distance", max_distance, allowed));
        }
        let extents = DVec3::splat(max_distance);
        let nearest = find_nearest_poly(&self.mesh, position, extents, filter)?;
        let near = nearest.poly.is_valid() && distance3(position, nearest.point) <= max_distance;
        Ok(near.then_some(nearest.point))
    }

    /// Walks straight from `from` (moved to the mesh first) toward `to` and tells where a wall
    /// stops it. A start with no mesh near it counts as stopped at once (`t` 0). The polygons on the
    /// way are not listed: `visited_count` is 0 and `truncated` false. ([`MeshQuery::raycast`] lists
    /// them.)
    ///
    /// ```
    /// # use throng::{DVec3, NavMesh, NavSettings, QueryFilter};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
    /// #     .map(|(x, z)| DVec3::new(x, 0.0, z));
    /// # let mesh = NavMesh::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &NavSettings::HUMANOID)?;
    /// let (eye, filter) = (DVec3::new(20.0, 0.0, 20.0), QueryFilter::default());
    /// assert!(!mesh.raycast(eye, DVec3::new(30.0, 0.0, 20.0), &filter)?.hit);
    /// let hit = mesh.raycast(eye, DVec3::new(60.0, 0.0, 20.0), &filter)?;
    /// assert_eq!((hit.hit, hit.normal), (true, DVec3::X));
    /// assert!(hit.t < 0.5); // the edge of the level is half way
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A position outside the coordinate bound.
    pub fn raycast<F: Filter + ?Sized>(
        &self,
        from: DVec3,
        to: DVec3,
        filter: &F,
    ) -> Result<RaycastHit, ArgumentError> {
        check_point("from", from)?;
        check_point("to", to)?;
        let start = find_nearest_poly(&self.mesh, from, NEAR, filter)?;
        let mut hit =
            throng_query::mesh::raycast(&self.mesh, start.poly, start.point, to, filter, &mut []);
        if hit.status != RaycastStatus::Ok {
            hit.hit = true;
            hit.t = 0.0;
        }
        // No list was asked for, so none was too short.
        hit.truncated = false;
        Ok(hit)
    }

    /// A point drawn evenly from the whole surface, or `None` when the filter accepts none of it
    /// (the generator then does not advance). With a [`QueryFilter`] without a predicate the areas are
    /// added up once per filter and mesh content, and a point costs their logarithm; any other filter
    /// is asked about every polygon for every point.
    ///
    /// ```
    /// # use throng::{DVec3, NavMesh, NavSettings, QueryFilter, SplitMix64};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
    /// #     .map(|(x, z)| DVec3::new(x, 0.0, z));
    /// # let mesh = NavMesh::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &NavSettings::HUMANOID)?;
    /// let (mut rng, filter) = (SplitMix64::new(7), QueryFilter::default());
    /// let spawn = mesh.random_point(&mut rng, &filter).ok_or("no ground")?;
    /// assert!(mesh.resolve(spawn.poly).is_some());
    /// assert_eq!(mesh.random_point(&mut SplitMix64::new(7), &filter), Some(spawn));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn random_point<F: Filter + ?Sized>(
        &self,
        rng: &mut SplitMix64,
        filter: &F,
    ) -> Option<RandomPoint> {
        match filter.as_query_filter().and_then(|known| self.sums(known)) {
            Some(sums) => sums.sampler.draw(&self.mesh, rng, filter),
            None => random_point(&self.mesh, rng, filter),
        }
    }

    /// The areas for a filter, added up now unless they are there. `None` when adding up does not pay
    /// or another thread has its hand on them at this moment: a draw without them gives the same bits.
    fn sums(&self, filter: &QueryFilter) -> Option<Arc<Sums>> {
        // A predicate may answer otherwise next time.
        if filter.has_predicate() {
            return None;
        }
        let kept = self.sampler.try_lock().ok()?.clone();
        let fits = |sums: &Arc<Sums>| sums.sampler.fits(&self.mesh) && sums.filter == *filter;
        if let Some(sums) = kept.filter(fits) {
            return Some(sums);
        }
        let sums = Arc::new(Sums {
            filter: filter.clone(),
            sampler: SurfaceSampler::new(&self.mesh, filter),
        });
        let mut last = Some(sums.clone());
        if let Ok(mut kept) = self.sampler.try_lock() {
            std::mem::swap(&mut *kept, &mut last);
        }
        // What was kept before is freed here, with the lock given back.
        drop(last);
        Some(sums)
    }
}

impl Deref for NavMesh {
    type Target = TiledMesh;

    fn deref(&self) -> &TiledMesh {
        &self.mesh
    }
}

impl DerefMut for NavMesh {
    fn deref_mut(&mut self) -> &mut TiledMesh {
        &mut self.mesh
    }
}

impl Clone for NavMesh {
    fn clone(&self) -> Self {
        Self::from_parts(self.mesh.clone(), self.settings.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_build::input::levels;

    #[test]
    fn a_point_never_waits_for_the_areas_of_another() {
        let soup = levels::generate("rooms", 40.0, 2).unwrap();
        let mesh = NavMesh::build_soup(&soup, &NavSettings::HUMANOID).unwrap();
        let filter = QueryFilter::default();
        let draw = |mesh: &NavMesh| mesh.random_point(&mut SplitMix64::new(4), &filter);
        let alone = draw(&mesh);
        assert!(alone.is_some());
        let sums = |mesh: &NavMesh| mesh.sampler.lock().unwrap().clone();
        let kept = sums(&mesh).unwrap();
        // Somebody else holds them: waiting here would be for ever.
        let held = mesh.sampler.lock().unwrap();
        assert_eq!(draw(&mesh), alone);
        drop(held);
        assert!(Arc::ptr_eq(&kept, &sums(&mesh).unwrap()));
        // Another filter takes their place; a predicate does not.
        let other = QueryFilter::default().with_flags(1, 0);
        assert_eq!(mesh.random_point(&mut SplitMix64::new(4), &other), alone);
        assert!(!Arc::ptr_eq(&kept, &sums(&mesh).unwrap()));
        let kept = sums(&mesh).unwrap();
        let asked = filter.clone().with_predicate(|_, _| true);
        assert_eq!(mesh.random_point(&mut SplitMix64::new(4), &asked), alone);
        assert!(Arc::ptr_eq(&kept, &sums(&mesh).unwrap()));
    }
}

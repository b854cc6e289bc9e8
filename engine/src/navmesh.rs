//! A navigation mesh with the settings it was built with, and one-call queries.

use std::ops::{Deref, DerefMut};
use std::sync::Mutex;

use crate::save;
use throng_build::input::Soup;
use throng_build::{BuildError, BuildOptions, NavSettings, build_soup_with};
use throng_query::mesh::{
    MeshQuery, PathOptions, PathResult, QueryFilter, RandomPoint, RaycastHit, RaycastStatus,
    SurfaceSampler, find_nearest_poly, random_point,
};
use throng_soa::error::{ArgumentError, DataError};
use throng_soa::mesh::TiledMesh;
use throng_soa::rng::SplitMix64;
use throng_soa::world::{DVec3, check_point, distance3};

/// Half extents in which a ray's start looks for the mesh.
const RAY_START: DVec3 = DVec3::new(2.0, 4.0, 2.0);

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
    /// Areas added up for the last random point.
    sampler: Mutex<Option<(QueryFilter, SurfaceSampler)>>,
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
    /// As [`build`](Self::build).
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
        Self::build(soup.vertices(), soup.triangles(), settings)
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
    /// when the buffer is too short (its contents then mean nothing). Allocates nothing.
    pub fn try_save(&self, buffer: &mut [u8]) -> Option<usize> {
        save::try_write(&self.mesh, &self.settings, buffer)
    }

    /// Loads what [`save`](Self::save) wrote.
    ///
    /// # Errors
    /// Truncated or trailing bytes, another format or version, settings that do not belong to the
    /// mesh, or a broken rule of a tile.
    pub fn load(bytes: &[u8]) -> Result<Self, DataError> {
        let (mesh, settings) = save::read(bytes)?;
        Ok(Self::from_parts(mesh, settings))
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

    /// The nearest point of the mesh within `max_distance`, when there is one.
    ///
    /// # Errors
    /// A position outside the coordinate bound or a distance that is negative or not finite.
    pub fn sample_position(
        &self,
        position: DVec3,
        max_distance: f64,
        filter: &QueryFilter,
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
    /// stops it. A start with no mesh near it counts as stopped at once (`t` 0).
    ///
    /// # Errors
    /// A position outside the coordinate bound.
    pub fn raycast(
        &self,
        from: DVec3,
        to: DVec3,
        filter: &QueryFilter,
    ) -> Result<RaycastHit, ArgumentError> {
        check_point("from", from)?;
        check_point("to", to)?;
        let start = find_nearest_poly(&self.mesh, from, RAY_START, filter)?;
        let mut hit =
            throng_query::mesh::raycast(&self.mesh, start.poly, start.point, to, filter, &mut []);
        if hit.status != RaycastStatus::Ok {
            hit.hit = true;
            hit.t = 0.0;
        }
        Ok(hit)
    }

    /// A point drawn evenly from the whole surface, or `None` when the filter accepts none of it
    /// (the generator then does not advance). The areas are added up once per filter and mesh content.
    #[must_use]
    pub fn random_point(&self, rng: &mut SplitMix64, filter: &QueryFilter) -> Option<RandomPoint> {
        // A predicate may answer otherwise next time, and may ask this mesh itself.
        if filter.has_predicate() {
            return random_point(&self.mesh, rng, filter);
        }
        let Ok(mut kept) = self.sampler.lock() else {
            return random_point(&self.mesh, rng, filter);
        };
        let fits = |(known, sums): &(QueryFilter, SurfaceSampler)| {
            sums.fits(&self.mesh) && known == filter
        };
        if !kept.as_ref().is_some_and(fits) {
            *kept = Some((filter.clone(), SurfaceSampler::new(&self.mesh, filter)));
        }
        let (_, sums) = kept.as_ref()?;
        sums.draw(&self.mesh, rng, filter)
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

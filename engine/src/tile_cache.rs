//! A mesh that changes while it is used: obstacles and area volumes that come and go.
//!
//! The handle over [`throng_build::cache`]: it keeps the mesh and what is needed to rebuild its
//! tiles together, so the two cannot be mixed up.

use std::ops::Deref;

use crate::{
    ArgumentError, BuildError, BuildOptions, ConvexVolume, DVec3, DataError, NavMesh, NavSettings,
    SnapshotMode, Soup, TileFlaw, TileLibrary,
};
use throng_build::cache::{
    CacheTables, Obstacle, ObstacleId, RebuildCounts, RebuildError, ShapeStatus, VolumeId,
    build_chunk_cached, build_heightfield_cached, build_soup_cached,
};
use throng_build::input::{SolidHeightfield, VoxelChunk};
use throng_soa::mesh::TiledMesh;

/// A navigation mesh with what it takes to change it at run time.
///
/// Dereferences to its [`NavMesh`], so queries and crowds take `&cache` where they take `&mesh`.
/// Requests ([`add_obstacle`](Self::add_obstacle) and the others) only queue the tiles near a
/// shape; [`update`](Self::update) rebuilds them, as many as the caller has time for. Once the
/// queue is empty the mesh is, tile for tile, the one a fresh build with the same shapes gives.
///
/// Tiles rebuild fastest with [`PartitionType::Layers`](crate::PartitionType::Layers), a
/// `detail_sample_distance` of 0 and tiles of about 64 cells.
///
/// ```
/// use throng::{
///     DVec3, NavSettings, Obstacle, PartitionType, PathOptions, SnapshotMode, TileCache,
///     TileLibrary,
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
///     .map(|(x, z)| DVec3::new(x, 0.0, z));
/// let settings = NavSettings {
///     partition: PartitionType::Layers,
///     detail_sample_distance: 0.0,
///     tile_size: 16.0,
///     ..NavSettings::HUMANOID
/// };
/// let mut cache = TileCache::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &settings)?;
/// let (from, to) = (DVec3::new(3.0, 0.0, 20.0), DVec3::new(37.0, 0.0, 20.0));
/// let free = cache.find_path(from, to, &PathOptions::default())?.length;
/// let before = cache.snapshot(SnapshotMode::Full);
///
/// // A barricade across the middle: the way leads round it.
/// let barricade = Obstacle::aligned_box(DVec3::new(19.0, -1.0, 8.0), DVec3::new(21.0, 2.0, 32.0))?;
/// let id = cache.add_obstacle(barricade)?;
/// while cache.queued_tiles().len() > 0 {
///     cache.update(2)?; // two tiles a frame
/// }
/// assert!(cache.find_path(from, to, &PathOptions::default())?.length > free + 5.0);
///
/// assert!(cache.remove_obstacle(id));
/// cache.update_all()?;
/// assert_eq!(cache.find_path(from, to, &PathOptions::default())?.length, free);
///
/// // Roll back to the start, ids and polygon references included.
/// cache.restore(&before, &TileLibrary::new())?;
/// assert_eq!(cache.snapshot(SnapshotMode::Full), before);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct TileCache {
    mesh: NavMesh,
    tables: CacheTables,
}

impl TileCache {
    /// [`NavMesh::build`] with a cache: the same mesh.
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

    /// [`NavMesh::build_with`] with a cache. Volumes and obstacles of `options` are part of the
    /// level from then on; its threads also rebuild tiles, to the same bytes.
    ///
    /// # Errors
    /// As [`build`](Self::build), more than 256 threads, or [`BuildError::Cancelled`].
    pub fn build_with(
        vertices: &[DVec3],
        triangles: &[[u32; 3]],
        settings: &NavSettings,
        options: &BuildOptions<'_>,
    ) -> Result<Self, BuildError> {
        let built = build_soup_cached(vertices, triangles, settings, options)?;
        Ok(Self::from_built(built, settings))
    }

    /// [`build`](Self::build) from a triangle soup.
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

    /// The mesh of a voxel chunk, with a cache. `material_areas` is the area id of each material's
    /// top, 0 where nobody walks; all ordinary ground when left out.
    ///
    /// # Errors
    /// A setting, area or option out of range, or a limit of the format exceeded.
    pub fn build_chunk(
        chunk: &VoxelChunk,
        material_areas: Option<&[u8; 256]>,
        settings: &NavSettings,
        options: &BuildOptions<'_>,
    ) -> Result<Self, BuildError> {
        let built = build_chunk_cached(chunk, material_areas, settings, options)?;
        Ok(Self::from_built(built, settings))
    }

    /// The mesh of a solid heightfield, with a cache.
    ///
    /// # Errors
    /// A setting or option out of range, or a limit of the format exceeded.
    pub fn build_heightfield(
        field: &SolidHeightfield,
        settings: &NavSettings,
        options: &BuildOptions<'_>,
    ) -> Result<Self, BuildError> {
        let built = build_heightfield_cached(field, settings, options)?;
        Ok(Self::from_built(built, settings))
    }

    fn from_built((mesh, tables): (TiledMesh, CacheTables), settings: &NavSettings) -> Self {
        Self {
            mesh: NavMesh::from_parts(mesh, settings.clone()),
            tables,
        }
    }

    /// The mesh as it is now.
    #[must_use]
    pub fn mesh(&self) -> &NavMesh {
        &self.mesh
    }

    /// The mesh, for edits of polygon areas, flags and link switches: a tile that is rebuilt to
    /// other content loses them. What is put in the place of the cache's own tiles stays until the
    /// tile is rebuilt for a shape near it, which makes it good.
    ///
    /// Do not restore the mesh alone: the shapes in force and the queue would stay as they are, and
    /// tiles that do not wait would lack what their shapes say. Whole states go through
    /// [`snapshot`](Self::snapshot) and [`restore`](Self::restore), and a crowd's beside them.
    pub fn mesh_mut(&mut self) -> &mut NavMesh {
        &mut self.mesh
    }

    /// The mesh alone; it can no longer be rebuilt.
    #[must_use]
    pub fn into_mesh(self) -> NavMesh {
        self.mesh
    }

    /// Adds an obstacle and queues the tiles near it. Its id was never given before.
    ///
    /// # Errors
    /// There are 2^20 obstacles already, or the ids are used up.
    pub fn add_obstacle(&mut self, obstacle: Obstacle) -> Result<ObstacleId, ArgumentError> {
        self.tables.add_obstacle(obstacle)
    }

    /// Takes an obstacle away and queues the tiles near it; false when there is none with this id.
    pub fn remove_obstacle(&mut self, id: ObstacleId) -> bool {
        self.tables.remove_obstacle(id)
    }

    /// Adds an area volume over the ones there are, and queues the tiles near it.
    ///
    /// # Errors
    /// There are 2^20 volumes already, or the ids are used up.
    pub fn add_volume(&mut self, volume: ConvexVolume) -> Result<VolumeId, ArgumentError> {
        self.tables.add_volume(volume)
    }

    /// Takes a volume away and queues the tiles near it; false when there is none with this id.
    pub fn remove_volume(&mut self, id: VolumeId) -> bool {
        self.tables.remove_volume(id)
    }

    /// How far the mesh has followed an obstacle.
    #[must_use]
    pub fn obstacle_status(&self, id: ObstacleId) -> ShapeStatus {
        self.tables.obstacle_status(id)
    }

    /// How far the mesh has followed a volume.
    #[must_use]
    pub fn volume_status(&self, id: VolumeId) -> ShapeStatus {
        self.tables.volume_status(id)
    }

    /// The obstacles in force, by id.
    pub fn obstacles(&self) -> impl ExactSizeIterator<Item = (ObstacleId, &Obstacle)> {
        self.tables.obstacles()
    }

    /// The volumes in force, by id: later ones lie over earlier ones.
    pub fn volumes(&self) -> impl ExactSizeIterator<Item = (VolumeId, &ConvexVolume)> {
        self.tables.volumes()
    }

    /// Tiles waiting to be rebuilt, front first, as (column, row).
    pub fn queued_tiles(&self) -> impl ExactSizeIterator<Item = (i32, i32)> {
        self.tables.queued_tiles()
    }

    /// Tiles that were refused with the shapes in force, as (column, row), in the order they were
    /// queued, with the reason. There the mesh is as it was before. Each is tried again once a shape
    /// near it comes or goes, after a restore, and after [`retry_refused`](Self::retry_refused).
    pub fn refused_tiles(&self) -> impl Iterator<Item = ((i32, i32), &BuildError)> {
        self.tables.refused_tiles()
    }

    /// Tiles some of whose regions lost ground when they were last built, row by row: with an empty
    /// queue, those of which a fresh build with the same shapes tells
    /// [`on_flaw`](BuildOptions::on_flaw). After a restore a tile is left out until it is rebuilt.
    pub fn flawed_tiles(&self) -> impl Iterator<Item = TileFlaw> {
        self.tables.flawed_tiles()
    }

    /// Lets refused tiles wait again, each in its old place in the queue. Only of use when the mesh
    /// itself had no room for a tile: what is too much for one stays too much.
    pub fn retry_refused(&mut self) {
        self.tables.retry_refused();
    }

    /// Rebuilds up to `max_tiles` tiles from the front of the queue. One tile is one iteration,
    /// so the same budget does the same tiles everywhere; how the work is cut up leaves no trace. A
    /// refused tile is no iteration, and is tried once until something changes.
    ///
    /// # Errors
    /// A tile exceeds a limit of the format. The mesh keeps what it has there, and the tile is not
    /// tried again until something near it changes; the others are done all the same, and the
    /// error says how many.
    pub fn update(&mut self, max_tiles: usize) -> Result<RebuildCounts, RebuildError> {
        self.tables.update(&mut self.mesh, max_tiles)
    }

    /// Rebuilds every tile that waits.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub fn update_all(&mut self) -> Result<RebuildCounts, RebuildError> {
        self.tables.update_all(&mut self.mesh)
    }

    /// The state (shapes, queue and mesh) as bytes: the same state in the same mode, the same
    /// bytes.
    ///
    /// # Panics
    /// The mesh's own snapshot is longer than its length field holds, 4 GiB;
    /// [`try_snapshot`](Self::try_snapshot) gives `None` then.
    #[must_use]
    pub fn snapshot(&self, mode: SnapshotMode) -> Vec<u8> {
        self.tables.snapshot(&self.mesh, mode)
    }

    /// Length of the snapshot in a mode.
    #[must_use]
    pub fn snapshot_size(&self, mode: SnapshotMode) -> usize {
        self.tables.snapshot_size(&self.mesh, mode)
    }

    /// Writes the snapshot into `buffer` and returns its length, or `None` when the buffer is too
    /// short (its contents then mean nothing) or the mesh is too large for the format.
    pub fn try_snapshot(&self, mode: SnapshotMode, buffer: &mut [u8]) -> Option<usize> {
        self.tables.try_snapshot(&self.mesh, mode, buffer)
    }

    /// Puts the cache and its mesh back into the state of a snapshot taken of a cache of the same
    /// level and settings. All or nothing. `library` is where named tiles are found; an empty one
    /// does for full snapshots.
    ///
    /// # Errors
    /// Truncated or trailing bytes, another format or version, a broken rule, or a snapshot of
    /// another level or other settings as far as that shows.
    pub fn restore(&mut self, bytes: &[u8], library: &TileLibrary) -> Result<(), DataError> {
        self.tables.restore(&mut self.mesh, bytes, library)
    }
}

impl Deref for TileCache {
    type Target = NavMesh;

    fn deref(&self) -> &NavMesh {
        &self.mesh
    }
}

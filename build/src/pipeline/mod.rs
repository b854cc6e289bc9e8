//! A whole level: triangles, voxels or a solid heightfield to a tiled mesh.
//!
//! In: a level, settings. Out: a [`TiledMesh`]. The level is cut into the tiles of the settings'
//! grid; tiles build independently, on as many threads as asked for, and join the mesh row by row,
//! so the mesh is the same for any number of threads. Every kind of level is a [`TileSource`], and
//! everything that walks tiles goes through [`for_each_tile`].

mod cells;
mod driver;
mod soup;

use thiserror::Error;
use throng_soa::mesh::{MeshEditError, NavTile, TileData, TiledMesh};
use throng_soa::{ArgumentError, DVec3, DataError};

pub use cells::{ChunkSource, HeightfieldSource};
pub use driver::{TileRange, TileSource, for_each_tile, for_one_tile};
pub(crate) use driver::{for_each_tile_on, start_threads};
pub use soup::{SoupSource, TriangleBatch};

pub use crate::voxel::tile::{ErodedTile, Worker};

use crate::cache::Obstacle;
use crate::input::chunk::VoxelChunk;
use crate::input::heightfield::SolidHeightfield;
use crate::links::LinkTable;
use crate::settings::NavSettings;
use crate::voxel::plan::TilePlan;
use crate::voxel::tile::{OutlineFlaws, finish};
use crate::voxel::volumes::ConvexVolume;

/// Most tiles of one build (2^20).
pub const MAX_TILES: u64 = 1 << 20;
pub use throng_soa::table::MAX_THREADS;

/// Why a build stopped. Nothing was built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A setting, vertex or index is out of range.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// A tile breaks a rule of the mesh format.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A tile needs more of something than the format can hold.
    #[error("tile ({tile_x}, {tile_z}): {what}")]
    Limit {
        /// Tile column.
        tile_x: i32,
        /// Tile row.
        tile_z: i32,
        /// What there is too much of, and the limit.
        what: String,
    },
    /// The mesh refused a tile.
    #[error(transparent)]
    Mesh(#[from] MeshEditError),
    /// [`BuildOptions::is_cancelled`] said so.
    #[error("the build was cancelled")]
    Cancelled,
    /// The worker threads could not be started.
    #[error("cannot start {threads} worker threads: {reason}")]
    Threads {
        /// The number asked for.
        threads: usize,
        /// The system's reason.
        reason: String,
    },
}

/// How to run a build, besides what to build.
#[derive(Clone, Copy)]
pub struct BuildOptions<'a> {
    /// Worker threads, at most 256; 0 and 1 build on the calling thread.
    pub threads: usize,
    /// Convex volumes that give walkable ground inside them another area, in order.
    pub volumes: &'a [ConvexVolume],
    /// Obstacles that take the walkability of what stands in them, grown by the agent's radius. A
    /// cache built with them never takes them back.
    pub obstacles: &'a [Obstacle],
    /// Called after each tile with the tiles done and the tiles in all, from any worker.
    pub on_tile: Option<&'a (dyn Fn(usize, usize) + Sync)>,
    /// Called for each tile in which a region could not be triangulated in full, from any worker.
    /// The mesh holds the rest of that region and every other region all the same. A build with a
    /// cache calls it for the first build; of rebuilds see
    /// [`CacheTables::flawed_tiles`](crate::cache::CacheTables::flawed_tiles).
    pub on_flaw: Option<&'a (dyn Fn(TileFlaw) + Sync)>,
    /// Asked at the beginning and before each tile, from any worker, whether to give up. A tile is not
    /// begun for which the answer is yes, and the build ends with [`BuildError::Cancelled`] (or with the
    /// error of an earlier tile). A build that is never told to give up does not depend on it. One tile,
    /// however large, is built to its end, and so is the joining of all tiles.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicBool, Ordering};
    /// use throng_build::{BuildError, BuildOptions, NavSettings, build_soup_with, input::levels};
    ///
    /// let city = levels::city(256.0, 1);
    /// let stop = AtomicBool::new(false); // shared with whoever may give up
    /// let is_cancelled = || stop.load(Ordering::Relaxed);
    /// let on_tile = |done, _| stop.store(done == 3, Ordering::Relaxed);
    /// let options = BuildOptions {
    ///     is_cancelled: Some(&is_cancelled),
    ///     on_tile: Some(&on_tile),
    ///     ..BuildOptions::default()
    /// };
    /// let built = build_soup_with(
    ///     city.vertices(), city.triangles(), &NavSettings::HUMANOID, &options);
    /// assert_eq!(built.err(), Some(BuildError::Cancelled));
    /// ```
    pub is_cancelled: Option<&'a (dyn Fn() -> bool + Sync)>,
}

impl BuildOptions<'_> {
    /// Gives up when the caller has.
    pub(crate) fn go_on(&self) -> Result<(), BuildError> {
        match self.is_cancelled {
            Some(is_cancelled) if is_cancelled() => Err(BuildError::Cancelled),
            _ => Ok(()),
        }
    }

    /// Lets the caller know of a tile's flaws, if it has any.
    pub(crate) fn report_flaws(&self, tile_x: i32, tile_z: i32, flaws: OutlineFlaws) {
        if let Some(on_flaw) = self.on_flaw.filter(|_| !flaws.is_empty()) {
            on_flaw(TileFlaw {
                tile_x,
                tile_z,
                flaws,
            });
        }
    }
}

/// A tile some of whose regions lost ground, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileFlaw {
    /// Tile column.
    pub tile_x: i32,
    /// Tile row.
    pub tile_z: i32,
    /// What was lost.
    pub flaws: OutlineFlaws,
}

impl Default for BuildOptions<'_> {
    fn default() -> Self {
        Self {
            threads: 1,
            volumes: &[],
            obstacles: &[],
            on_tile: None,
            on_flaw: None,
            is_cancelled: None,
        }
    }
}

/// Builds a mesh from triangles on `threads` threads.
///
/// Y is up. A level without walkable ground gives a mesh without tiles. Every level size within the
/// coordinate bound works; cost grows with the covered cells. Only the tiles have to begin inside
/// the bound as well: where the lowest column or row of tiles does not, `origin_x`, `origin_z` or
/// `tile_size` of the settings move it.
///
/// # Errors
/// A setting or index is out of range, `threads` is above 256, a used vertex is not a world
/// coordinate, the level covers more than 2^20 tiles, a tile that may have ground begins at or
/// beyond the coordinate bound, or a tile exceeds a limit of the format.
pub fn build_soup(
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
    settings: &NavSettings,
    threads: usize,
) -> Result<TiledMesh, BuildError> {
    let options = BuildOptions {
        threads,
        ..BuildOptions::default()
    };
    build_soup_with(vertices, triangles, settings, &options)
}

/// [`build_soup`] with all options.
///
/// # Errors
/// As [`build_soup`], or the build was cancelled.
pub fn build_soup_with(
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
    settings: &NavSettings,
    options: &BuildOptions<'_>,
) -> Result<TiledMesh, BuildError> {
    let plan = TilePlan::new(settings)?;
    let source = SoupSource::new(&plan, vertices, triangles)?;
    build_from(&source, &plan, settings, options)
}

/// Builds a mesh from voxels. One voxel is one cell wide and deep and one row high: choose a tile
/// size that is a whole multiple of the cell size. Voxel `(i, j, k)` is cell `i`, row `j`, cell `k`
/// from `(origin_x, 0, origin_z)` of the settings.
///
/// `material_areas` is the area id of each material's top, 0 where nobody walks; without it every
/// material is ordinary walkable ground. Agents do not fit through openings lower than they are,
/// and nothing is too steep: a slope of voxels is a stair.
///
/// # Errors
/// A setting, area id or option is out of range, the chunk and the agent together are more than 65535 rows
/// high, the chunk covers more than 2^20 tiles, a tile exceeds a limit of the format, or the build was
/// cancelled.
pub fn build_chunk_with(
    chunk: &VoxelChunk,
    material_areas: Option<&[u8; 256]>,
    settings: &NavSettings,
    options: &BuildOptions<'_>,
) -> Result<TiledMesh, BuildError> {
    let plan = TilePlan::new(settings)?;
    let source = ChunkSource::new(&plan, chunk, material_areas)?;
    build_from(&source, &plan, settings, options)
}

/// Builds a mesh from a solid heightfield: its spans are taken as they are, cell `(0, 0)` at
/// `(origin_x, origin_z)` of the settings. Of its frame only the size and the height of the origin
/// count; the cells measure what the settings say.
///
/// # Errors
/// A setting or option is out of range, the heightfield and the agent together are more than 65535 rows high,
/// the field covers more than 2^20 tiles, a tile exceeds a limit of the format, or the build was cancelled.
pub fn build_heightfield_with(
    field: &SolidHeightfield,
    settings: &NavSettings,
    options: &BuildOptions<'_>,
) -> Result<TiledMesh, BuildError> {
    let plan = TilePlan::new(settings)?;
    let source = HeightfieldSource::new(&plan, field)?;
    build_from(&source, &plan, settings, options)
}

/// Builds the mesh of any source.
///
/// # Errors
/// As the build of that source.
pub fn build_from<S: TileSource>(
    source: &S,
    plan: &TilePlan,
    settings: &NavSettings,
    options: &BuildOptions<'_>,
) -> Result<TiledMesh, BuildError> {
    let mut mesh = TiledMesh::new(plan.params)?;
    let links = LinkTable::new(&settings.off_mesh_links, &plan.params)?;
    let tiles = for_each_tile(source, plan, options, |tile| {
        let layers = finish_tile(plan, &links, options, tile)?;
        checked_tiles(plan, layers)
    })?;
    mesh.add_tiles(tiles.into_iter().flatten())?;
    Ok(mesh)
}

/// The layers of an eroded tile, links included, lowest first. Of `options` the volumes and
/// obstacles count here. `tile.spans` holds the areas after them and the regions afterwards.
///
/// # Errors
/// The tile exceeds a limit of the format.
pub fn finish_tile(
    plan: &TilePlan,
    links: &LinkTable<'_>,
    options: &BuildOptions<'_>,
    tile: &mut ErodedTile<'_>,
) -> Result<Vec<TileData>, BuildError> {
    let (x, z) = (tile.tile_x, tile.tile_z);
    let mut layers = finish(plan, tile, options.volumes, options.obstacles)?;
    links.bake(&plan.params, x, z, &mut layers);
    options.report_flaws(x, z, tile.scratch.take_flaws());
    Ok(layers)
}

/// The layers of a tile, checked against the rules of the format.
///
/// # Errors
/// A rule is broken.
pub fn checked_tiles(plan: &TilePlan, layers: Vec<TileData>) -> Result<Vec<NavTile>, BuildError> {
    let mut tiles = Vec::with_capacity(layers.len());
    for data in layers {
        tiles.push(NavTile::create(data, &plan.params)?);
    }
    Ok(tiles)
}

/// The settings with one tile that covers the level's bounds and one cell more, its corner at the
/// bounds' minimum.
///
/// # Errors
/// A setting or vertex is out of range, there is no triangle, or the level is too wide for one tile.
pub fn solo_settings(
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
    settings: &NavSettings,
) -> Result<NavSettings, ArgumentError> {
    settings.validate()?;
    soup::check_soup(vertices, triangles)?;
    let Some((min, max)) = soup::ground_bounds(vertices, triangles) else {
        return Err(ArgumentError::new(
            "triangles",
            "empty",
            "at least one triangle",
        ));
    };
    let extent = (max[0] - min[0]).max(max[1] - min[1]);
    let cells = (extent / settings.cell_size).ceil() + 1.0;
    let mut tile_size = (cells * settings.cell_size) as f32;
    // Rounding to float32 must not cut into the last cell that counts.
    if f64::from(tile_size) < extent {
        tile_size = f32::from_bits(tile_size.to_bits() + 1);
    }
    let solo = NavSettings {
        tile_size: f64::from(tile_size),
        origin_x: min[0],
        origin_z: min[1],
        ..settings.clone()
    };
    TilePlan::new(&solo)?;
    Ok(solo)
}

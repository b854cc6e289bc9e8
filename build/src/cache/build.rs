//! The first build: a mesh, and the cache that can change it.
//!
//! In: a level of any kind and the options of a plain build. Out: exactly the mesh the plain build
//! gives, and its [`CacheTables`].

use std::collections::VecDeque;
use std::sync::Mutex;

use throng_soa::DVec3;
use throng_soa::mesh::TiledMesh;

use super::layers::cache_tile;
use super::shapes::Shapes;
use super::tables::CacheTables;
use super::tile_grid::TileGrid;
use crate::input::chunk::VoxelChunk;
use crate::input::heightfield::SolidHeightfield;
use crate::links::LinkTable;
use crate::pipeline::{
    BuildError, BuildOptions, ChunkSource, HeightfieldSource, SoupSource, TileSource,
    for_each_tile_on, start_threads,
};
use crate::settings::NavSettings;
use crate::voxel::plan::TilePlan;

/// [`build_soup_with`](crate::build_soup_with) with a cache for run-time changes. The threads of
/// `options` also rebuild tiles.
///
/// # Errors
/// As the plain build.
pub fn build_soup_cached(
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
    settings: &NavSettings,
    options: &BuildOptions<'_>,
) -> Result<(TiledMesh, CacheTables), BuildError> {
    let plan = TilePlan::new(settings)?;
    let source = SoupSource::new(&plan, vertices, triangles)?;
    build_cached_from(&source, plan, settings, options)
}

/// [`build_chunk_with`](crate::build_chunk_with) with a cache for run-time changes.
///
/// # Errors
/// As the plain build.
pub fn build_chunk_cached(
    chunk: &VoxelChunk,
    material_areas: Option<&[u8; 256]>,
    settings: &NavSettings,
    options: &BuildOptions<'_>,
) -> Result<(TiledMesh, CacheTables), BuildError> {
    let plan = TilePlan::new(settings)?;
    let source = ChunkSource::new(&plan, chunk, material_areas)?;
    build_cached_from(&source, plan, settings, options)
}

/// [`build_heightfield_with`](crate::build_heightfield_with) with a cache for run-time changes.
///
/// # Errors
/// As the plain build.
pub fn build_heightfield_cached(
    field: &SolidHeightfield,
    settings: &NavSettings,
    options: &BuildOptions<'_>,
) -> Result<(TiledMesh, CacheTables), BuildError> {
    let plan = TilePlan::new(settings)?;
    let source = HeightfieldSource::new(&plan, field)?;
    build_cached_from(&source, plan, settings, options)
}

fn build_cached_from<S: TileSource>(
    source: &S,
    plan: TilePlan,
    settings: &NavSettings,
    options: &BuildOptions<'_>,
) -> Result<(TiledMesh, CacheTables), BuildError> {
    let mut mesh = TiledMesh::new(plan.params)?;
    let links = LinkTable::new(&settings.off_mesh_links, &plan.params)?;
    // The threads that rebuild tiles later build them first.
    let pool = start_threads(options.threads)?;
    let tiles = for_each_tile_on(pool.as_ref(), source, &plan, options, |tile| {
        cache_tile(&plan, &links, options, tile)
    })?;
    mesh.add_tiles(
        tiles
            .iter()
            .flat_map(|tile| tile.first_tiles.iter().cloned()),
    )?;
    let tables = CacheTables {
        fingerprint: plan.params.fingerprint(),
        plan,
        links: settings.off_mesh_links.clone(),
        grid: TileGrid::new(&tiles),
        tiles,
        shapes: Shapes::default(),
        queue: VecDeque::new(),
        repair: true,
        pool,
        workers: (0..options.threads.max(1))
            .map(|_| Mutex::default())
            .collect(),
    };
    Ok((mesh, tables))
}

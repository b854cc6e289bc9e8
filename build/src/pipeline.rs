//! A whole level: triangles to a tiled mesh.
//!
//! In: vertices, triangles wound counter-clockwise seen from the walkable side, settings. Out: a
//! [`TiledMesh`]. The level is cut into the tiles of the settings' grid; tiles build independently,
//! on as many threads as asked for, and join the mesh row by row, so the mesh is the same for any
//! number of threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use thiserror::Error;
use throng_soa::mesh::{MeshEditError, NavTile, TileData, TiledMesh};
use throng_soa::world::{check_point, is_point};
use throng_soa::{ArgumentError, DVec3, DataError};

use crate::links::LinkTable;
use crate::settings::NavSettings;
use crate::voxel::plan::TilePlan;
use crate::voxel::tile::{TileScratch, build_tile};
use crate::voxel::volumes::ConvexVolume;

/// Most tiles of one build (2^20).
pub const MAX_TILES: u64 = 1 << 20;

/// Most (tile, triangle) pairs gathered before their tiles are built.
const BATCH_ENTRIES: u64 = 1 << 22;
/// Most (tile, triangle) pairs of one tile row, which is gathered at once.
const ROW_ENTRIES: u64 = 1 << 26;

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
    /// Worker threads; 0 and 1 build on the calling thread.
    pub threads: usize,
    /// Convex volumes that give walkable ground inside them another area, in order.
    pub volumes: &'a [ConvexVolume],
    /// Called after each tile with the tiles done and the tiles in all, from any worker.
    pub on_tile: Option<&'a (dyn Fn(usize, usize) + Sync)>,
}

impl Default for BuildOptions<'_> {
    fn default() -> Self {
        Self {
            threads: 1,
            volumes: &[],
            on_tile: None,
        }
    }
}

/// Builds a mesh from triangles on `threads` threads.
///
/// Y is up. A level without walkable ground gives a mesh without tiles. Every level size within the
/// coordinate bound works; cost grows with the covered cells.
///
/// # Errors
/// A setting or index is out of range, a used vertex is not a world coordinate, the level covers
/// more than 2^20 tiles, or a tile exceeds a limit of the format.
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
/// As [`build_soup`].
pub fn build_soup_with(
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
    settings: &NavSettings,
    options: &BuildOptions<'_>,
) -> Result<TiledMesh, BuildError> {
    let plan = TilePlan::new(settings)?;
    let mut mesh = TiledMesh::new(plan.params)?;
    check_soup(vertices, triangles)?;
    let links = LinkTable::new(&settings.off_mesh_links, &plan.params)?;
    let Some(range) = tile_range(&plan, vertices, triangles)? else {
        return Ok(mesh);
    };
    let soup = Soup {
        vertices,
        triangles,
        boxes: triangles
            .iter()
            .map(|t| range.tiles_of(&plan, vertices, t))
            .collect(),
        may_be_walkable: triangles
            .iter()
            .map(|t| may_be_walkable(&plan, vertices, t))
            .collect(),
    };
    let job = Job {
        plan: &plan,
        soup: &soup,
        links: &links,
        range,
        options,
        done: AtomicUsize::new(0),
    };
    let tiles = if options.threads > 1 {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(options.threads)
            .build()
            .map_err(|error| BuildError::Threads {
                threads: options.threads,
                reason: error.to_string(),
            })?;
        pool.install(|| job.run(true))?
    } else {
        job.run(false)?
    };
    mesh.add_tiles(tiles)?;
    Ok(mesh)
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
    check_soup(vertices, triangles)?;
    let Some((min, max)) = ground_bounds(vertices, triangles) else {
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

fn check_soup(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Result<(), ArgumentError> {
    for (index, &corner) in triangles.iter().flatten().enumerate() {
        match vertices.get(corner as usize) {
            Some(&vertex) if is_point(vertex) => {}
            Some(&vertex) => check_point(&format!("vertices[{corner}]"), vertex)?,
            None => {
                return Err(ArgumentError::new(
                    format!("triangles[{}][{}]", index / 3, index % 3),
                    corner,
                    format!("below the vertex count {}", vertices.len()),
                ));
            }
        }
    }
    Ok(())
}

/// Smallest and largest x and z of the vertices that triangles use.
fn ground_bounds(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Option<([f64; 2], [f64; 2])> {
    let mut bounds: Option<([f64; 2], [f64; 2])> = None;
    for &corner in triangles.iter().flatten() {
        let v = vertices[corner as usize];
        let (min, max) = bounds.get_or_insert(([v.x, v.z], [v.x, v.z]));
        *min = [min[0].min(v.x), min[1].min(v.z)];
        *max = [max[0].max(v.x), max[1].max(v.z)];
    }
    bounds
}

/// Whether a triangle could be flat enough to stand on: looser than the rasterizer's own test, so
/// skipping tiles by it never changes a result.
fn may_be_walkable(plan: &TilePlan, vertices: &[DVec3], triangle: &[u32; 3]) -> bool {
    let [a, b, c] = triangle.map(|i| vertices[i as usize]);
    let (u, v) = (b - a, c - a);
    let normal = DVec3::new(
        u.y * v.z - u.z * v.y,
        u.z * v.x - u.x * v.z,
        u.x * v.y - u.y * v.x,
    );
    let length = (normal.x * normal.x + normal.y * normal.y + normal.z * normal.z).sqrt();
    length > 0.0 && normal.y >= (f64::from(plan.spans.slope_cosine) - 1e-3) * length
}

/// A block of tiles, ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TileRange {
    min_x: i32,
    min_z: i32,
    max_x: i32,
    max_z: i32,
}

/// The tiles under the level, refused when there are too many; nothing without triangles.
fn tile_range(
    plan: &TilePlan,
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
) -> Result<Option<TileRange>, ArgumentError> {
    let Some((min, max)) = ground_bounds(vertices, triangles) else {
        return Ok(None);
    };
    let params = &plan.params;
    let tile = |v: f64, origin: f64| ((v - origin) / params.tile_size).floor();
    let low = [tile(min[0], params.origin.x), tile(min[1], params.origin.z)];
    let high = [tile(max[0], params.origin.x), tile(max[1], params.origin.z)];
    let count = (high[0] - low[0] + 1.0) * (high[1] - low[1] + 1.0);
    let farthest = low
        .into_iter()
        .chain(high)
        .fold(0.0_f64, |m, v| m.max(v.abs()));
    if count > MAX_TILES as f64 || farthest > f64::from(1 << 30) {
        return Err(ArgumentError::new(
            "tile_size",
            format!("{} ({count} tiles for this level)", params.tile_size),
            format!("large enough for at most {MAX_TILES} tiles"),
        ));
    }
    Ok(Some(TileRange {
        min_x: low[0] as i32,
        min_z: low[1] as i32,
        max_x: high[0] as i32,
        max_z: high[1] as i32,
    }))
}

impl TileRange {
    /// The tiles of this range whose grid, border included, the triangle's box touches.
    fn tiles_of(&self, plan: &TilePlan, vertices: &[DVec3], triangle: &[u32; 3]) -> Self {
        let [a, b, c] = triangle.map(|i| vertices[i as usize]);
        let params = &plan.params;
        let margin = f64::from(plan.border) * plan.cell_size;
        let tile = |v: f64, origin: f64, low: i32, high: i32| {
            let index = ((v - origin) / params.tile_size).floor();
            index.clamp(f64::from(low), f64::from(high)) as i32
        };
        let x = |v: f64| tile(v, params.origin.x, self.min_x, self.max_x);
        let z = |v: f64| tile(v, params.origin.z, self.min_z, self.max_z);
        Self {
            min_x: x(a.x.min(b.x).min(c.x) - margin),
            min_z: z(a.z.min(b.z).min(c.z) - margin),
            max_x: x(a.x.max(b.x).max(c.x) + margin),
            max_z: z(a.z.max(b.z).max(c.z) + margin),
        }
    }

    fn columns(&self) -> usize {
        (self.max_x - self.min_x + 1) as usize
    }

    fn rows(&self) -> usize {
        (self.max_z - self.min_z + 1) as usize
    }
}

/// The level with what tile selection needs per triangle.
struct Soup<'a> {
    vertices: &'a [DVec3],
    triangles: &'a [[u32; 3]],
    boxes: Vec<TileRange>,
    may_be_walkable: Vec<bool>,
}

/// Triangles of the tiles of some rows: `first[i]..first[i + 1]` of `triangles` for tile `i`.
#[derive(Default)]
struct Batch {
    first: Vec<u32>,
    triangles: Vec<u32>,
}

/// A worker's buffers.
#[derive(Default)]
struct Worker {
    tile: TileScratch,
    triangles: Vec<[u32; 3]>,
}

struct Job<'a> {
    plan: &'a TilePlan,
    soup: &'a Soup<'a>,
    links: &'a LinkTable<'a>,
    range: TileRange,
    options: &'a BuildOptions<'a>,
    done: AtomicUsize,
}

impl Job<'_> {
    /// All tiles with polygons, in row-major order.
    fn run(&self, parallel: bool) -> Result<Vec<NavTile>, BuildError> {
        let workers: Vec<Mutex<Worker>> = if parallel {
            (0..rayon::current_num_threads())
                .map(|_| Mutex::default())
                .collect()
        } else {
            vec![Mutex::default()]
        };
        let mut tiles = Vec::new();
        let mut batch = Batch::default();
        let row_entries = self.count_row_entries();
        if let Some(row) = row_entries.iter().position(|&n| n > ROW_ENTRIES) {
            return Err(BuildError::Limit {
                tile_x: self.range.min_x,
                tile_z: self.range.min_z + row as i32,
                what: format!(
                    "its row of tiles holds {} pairs of tile and triangle, at most {ROW_ENTRIES}; \
                     use larger tiles",
                    row_entries[row]
                ),
            });
        }
        let mut row = 0;
        while row < self.range.rows() {
            let mut end = row + 1;
            let mut entries = row_entries[row];
            while end < row_entries.len() && entries + row_entries[end] <= BATCH_ENTRIES {
                entries += row_entries[end];
                end += 1;
            }
            self.gather(row, end, &mut batch);
            let count = (end - row) * self.range.columns();
            let build = |index: usize| self.build(row, index, &batch, &workers);
            if parallel {
                let built: Vec<_> = (0..count)
                    .into_par_iter()
                    .with_max_len(1)
                    .map(build)
                    .collect();
                for result in built {
                    tiles.extend(result?);
                }
            } else {
                for index in 0..count {
                    tiles.extend(build(index)?);
                }
            }
            row = end;
        }
        Ok(tiles)
    }

    /// (tile, triangle) pairs per tile row.
    fn count_row_entries(&self) -> Vec<u64> {
        let rows = self.range.rows();
        let mut change = vec![0_i64; rows + 1];
        for b in &self.soup.boxes {
            let columns = b.columns() as i64;
            change[(b.min_z - self.range.min_z) as usize] += columns;
            change[(b.max_z - self.range.min_z) as usize + 1] -= columns;
        }
        let mut running = 0;
        change[..rows]
            .iter()
            .map(|delta| {
                running += delta;
                running as u64
            })
            .collect()
    }

    /// Lists, for every tile of rows `row..end`, its triangles in input order.
    fn gather(&self, row: usize, end: usize, batch: &mut Batch) {
        let columns = self.range.columns();
        let tiles = (end - row) * columns;
        batch.first.clear();
        batch.first.resize(tiles + 1, 0);
        let each = |visit: &mut dyn FnMut(usize, u32)| {
            for (triangle, b) in self.soup.boxes.iter().enumerate() {
                let low = ((b.min_z - self.range.min_z) as usize).max(row);
                let high = ((b.max_z - self.range.min_z) as usize + 1).min(end);
                for z in low..high {
                    for x in b.min_x..=b.max_x {
                        let column = (x - self.range.min_x) as usize;
                        visit((z - row) * columns + column, triangle as u32);
                    }
                }
            }
        };
        let first = &mut batch.first;
        each(&mut |tile, _| first[tile + 1] += 1);
        for i in 1..first.len() {
            first[i] += first[i - 1];
        }
        batch.triangles.clear();
        batch.triangles.resize(first[tiles] as usize, 0);
        // Filling moves each start to the next tile's; shifting them back restores the offsets.
        let list = &mut batch.triangles;
        each(&mut |tile, triangle| {
            list[first[tile] as usize] = triangle;
            first[tile] += 1;
        });
        for i in (1..first.len()).rev() {
            first[i] = first[i - 1];
        }
        first[0] = 0;
    }

    fn build(
        &self,
        row: usize,
        index: usize,
        batch: &Batch,
        workers: &[Mutex<Worker>],
    ) -> Result<Vec<NavTile>, BuildError> {
        let own = rayon::current_thread_index().unwrap_or(0) % workers.len();
        let columns = self.range.columns();
        let tile_x = self.range.min_x + (index % columns) as i32;
        let tile_z = self.range.min_z + (row + index / columns) as i32;
        let list = &batch.triangles[batch.first[index] as usize..batch.first[index + 1] as usize];
        let mut built = Vec::new();
        if list.iter().any(|&t| self.soup.may_be_walkable[t as usize]) {
            let mut worker = match workers[own].lock() {
                Ok(worker) => worker,
                Err(poisoned) => poisoned.into_inner(),
            };
            let Worker { tile, triangles } = &mut *worker;
            triangles.clear();
            triangles.extend(list.iter().map(|&t| self.soup.triangles[t as usize]));
            let mut layers: Vec<TileData> = build_tile(
                self.plan,
                tile_x,
                tile_z,
                self.soup.vertices,
                triangles,
                self.options.volumes,
                tile,
            )?;
            self.links
                .bake(&self.plan.params, tile_x, tile_z, &mut layers);
            for data in layers {
                built.push(NavTile::create(data, &self.plan.params)?);
            }
        }
        if let Some(on_tile) = self.options.on_tile {
            let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
            on_tile(done, self.range.columns() * self.range.rows());
        }
        Ok(built)
    }
}

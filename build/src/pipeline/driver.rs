//! Tile after tile, from any source of matter to whatever the caller makes of a tile.
//!
//! In: a [`TileSource`] (triangles, voxels, a solid heightfield) and a visitor. Out: what the visitor
//! returned for each tile with matter to walk on, row by row. The visitor sees a tile after erosion
//! ([`ErodedTile`]); a build finishes it, a cache keeps it. Tiles are visited on as many threads as
//! asked for; the order and content of the results do not depend on that.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use throng_soa::ArgumentError;

use super::{BuildError, BuildOptions, MAX_THREADS};
use crate::voxel::frame::HeightfieldFrame;
use crate::voxel::plan::TilePlan;
use crate::voxel::tile::{ErodedTile, Worker};

/// A block of tiles, ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileRange {
    /// Lowest tile column.
    pub min_x: i32,
    /// Lowest tile row.
    pub min_z: i32,
    /// Highest tile column.
    pub max_x: i32,
    /// Highest tile row.
    pub max_z: i32,
}

impl TileRange {
    /// The range without a tile.
    pub const EMPTY: Self = Self {
        min_x: 0,
        min_z: 0,
        max_x: -1,
        max_z: -1,
    };

    /// Tiles along x; 0 when the ends are the wrong way round.
    #[must_use]
    pub fn columns(&self) -> usize {
        length(self.min_x, self.max_x)
    }

    /// Tiles along z; 0 when the ends are the wrong way round.
    #[must_use]
    pub fn rows(&self) -> usize {
        length(self.min_z, self.max_z)
    }

    /// Whether a tile is in the range.
    #[must_use]
    pub fn contains(&self, (tile_x, tile_z): (i32, i32)) -> bool {
        (self.min_x..=self.max_x).contains(&tile_x) && (self.min_z..=self.max_z).contains(&tile_z)
    }

    /// The tiles in both ranges.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self {
            min_x: self.min_x.max(other.min_x),
            min_z: self.min_z.max(other.min_z),
            max_x: self.max_x.min(other.max_x),
            max_z: self.max_z.min(other.max_z),
        }
    }

    /// The tile at `index`, counted row by row; nothing past the last.
    #[must_use]
    pub fn tile(&self, index: usize) -> Option<(i32, i32)> {
        let columns = self.columns();
        let (x, z) = (index.checked_rem(columns)?, index.checked_div(columns)?);
        let place = |low: i32, steps: usize| i32::try_from(i64::from(low) + steps as i64).ok();
        (z < self.rows())
            .then(|| place(self.min_x, x).zip(place(self.min_z, z)))
            .flatten()
    }

    /// Place of a tile of this range, counted row by row; nothing for any other tile.
    #[must_use]
    pub fn index(&self, tile_x: i32, tile_z: i32) -> Option<usize> {
        if !self.contains((tile_x, tile_z)) {
            return None;
        }
        let row = length(self.min_z, tile_z) - 1;
        row.checked_mul(self.columns())?
            .checked_add(length(self.min_x, tile_x) - 1)
    }
}

/// Numbers from `low` to `high`, ends included.
fn length(low: i32, high: i32) -> usize {
    usize::try_from(i64::from(high) - i64::from(low) + 1).unwrap_or(0)
}

/// Where the matter of tiles comes from.
pub trait TileSource: Sync {
    /// What is gathered for a block of tiles before they are visited.
    type Batch: Default + Sync;

    /// The tiles that may have matter; nothing for an empty level.
    fn tiles(&self) -> Option<TileRange>;

    /// The last tile row to be gathered together with row `first`, at least `first` (anything less
    /// counts as `first`). All of them, unless the source says otherwise.
    fn last_row_of_batch(&self, first: i32) -> i32 {
        self.tiles().map_or(first, |range| range.max_z)
    }

    /// Prepares `batch` for the tiles of `block`; those outside [`tiles`](Self::tiles) are left
    /// out. Nothing to do, unless the source says otherwise.
    fn gather(&self, _block: TileRange, _batch: &mut Self::Batch) {}

    /// The eroded spans of a tile of the gathered block and the frame they stand in; nothing when
    /// no agent could stand anywhere on the tile's grid, and for a tile outside
    /// [`tiles`](Self::tiles).
    ///
    /// # Errors
    /// The tile exceeds a limit of the builder, or `batch` does not fit: it was
    /// gathered for other tiles, or from a level of another size.
    fn erode_tile(
        &self,
        plan: &TilePlan,
        batch: &Self::Batch,
        tile: (i32, i32),
        worker: &mut Worker,
    ) -> Result<Option<HeightfieldFrame>, BuildError>;
}

/// Visits every tile of `source` on which an agent could stand and returns the visitor's results,
/// row by row. Of `options` the threads, the progress callback and the cancellation count here; volumes
/// are the visitor's business.
///
/// # Errors
/// The first error, in row order, of a tile or of the visitor, the cancellation among them; or the threads
/// are more than [`MAX_THREADS`] or cannot be started.
pub fn for_each_tile<S: TileSource, R: Send>(
    source: &S,
    plan: &TilePlan,
    options: &BuildOptions<'_>,
    visit: impl Fn(&mut ErodedTile<'_>) -> Result<R, BuildError> + Sync,
) -> Result<Vec<R>, BuildError> {
    let pool = start_threads(options.threads)?;
    for_each_tile_on(pool.as_ref(), source, plan, options, visit)
}

/// The threads of a build; nothing when it stays on the calling thread.
///
/// # Errors
/// The threads are more than [`MAX_THREADS`], or cannot be started.
pub(crate) fn start_threads(threads: usize) -> Result<Option<rayon::ThreadPool>, BuildError> {
    if threads > MAX_THREADS {
        let allowed = format!("at most {MAX_THREADS}");
        return Err(ArgumentError::new("threads", threads, allowed).into());
    }
    if threads <= 1 {
        return Ok(None);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    let pool = pool.build().map_err(|error| BuildError::Threads {
        threads,
        reason: error.to_string(),
    })?;
    Ok(Some(pool))
}

/// [`for_each_tile`] on threads that run already.
///
/// # Errors
/// The first error, in row order, of a tile or of the visitor, the cancellation among them.
pub(crate) fn for_each_tile_on<S: TileSource, R: Send>(
    pool: Option<&rayon::ThreadPool>,
    source: &S,
    plan: &TilePlan,
    options: &BuildOptions<'_>,
    visit: impl Fn(&mut ErodedTile<'_>) -> Result<R, BuildError> + Sync,
) -> Result<Vec<R>, BuildError> {
    options.go_on()?;
    let Some(range) = source.tiles() else {
        return Ok(Vec::new());
    };
    let job = Job {
        source,
        plan,
        range,
        options,
        visit: &visit,
        done: AtomicUsize::new(0),
    };
    match pool {
        Some(pool) => pool.install(|| job.run(true)),
        None => job.run(false),
    }
}

/// Visits one tile of `source`; nothing when it is outside the level or nobody could stand on it.
/// Gives what [`for_each_tile`] gives for that tile. Cost: one pass over the level's triangles, and
/// the tile.
///
/// # Errors
/// As [`for_each_tile`].
pub fn for_one_tile<S: TileSource, R>(
    source: &S,
    plan: &TilePlan,
    tile: (i32, i32),
    worker: &mut Worker,
    visit: impl FnOnce(&mut ErodedTile<'_>) -> Result<R, BuildError>,
) -> Result<Option<R>, BuildError> {
    let (x, z) = tile;
    if !source.tiles().is_some_and(|range| range.contains(tile)) {
        return Ok(None);
    }
    let mut batch = S::Batch::default();
    let block = TileRange {
        min_x: x,
        min_z: z,
        max_x: x,
        max_z: z,
    };
    source.gather(block, &mut batch);
    visit_tile(source, plan, &batch, tile, worker, visit)
}

fn visit_tile<S: TileSource, R>(
    source: &S,
    plan: &TilePlan,
    batch: &S::Batch,
    tile: (i32, i32),
    worker: &mut Worker,
    visit: impl FnOnce(&mut ErodedTile<'_>) -> Result<R, BuildError>,
) -> Result<Option<R>, BuildError> {
    let Some(frame) = source.erode_tile(plan, batch, tile, worker)? else {
        return Ok(None);
    };
    worker.scratch.take_flaws();
    visit(&mut ErodedTile {
        tile_x: tile.0,
        tile_z: tile.1,
        frame,
        spans: &mut worker.spans,
        graph: &mut worker.graph,
        scratch: &mut worker.scratch,
    })
    .map(Some)
}

struct Job<'a, S, V> {
    source: &'a S,
    plan: &'a TilePlan,
    range: TileRange,
    options: &'a BuildOptions<'a>,
    visit: &'a V,
    done: AtomicUsize,
}

impl<S: TileSource, V> Job<'_, S, V> {
    /// The results of all tiles, batch by batch.
    fn run<R: Send>(&self, parallel: bool) -> Result<Vec<R>, BuildError>
    where
        V: Fn(&mut ErodedTile<'_>) -> Result<R, BuildError> + Sync,
    {
        let workers: Vec<Mutex<Worker>> = if parallel {
            (0..rayon::current_num_threads())
                .map(|_| Mutex::default())
                .collect()
        } else {
            vec![Mutex::default()]
        };
        let mut results = Vec::new();
        let mut batch = S::Batch::default();
        let mut first = self.range.min_z;
        while first <= self.range.max_z {
            let last = self.source.last_row_of_batch(first);
            let last = last.clamp(first, self.range.max_z);
            let block = TileRange {
                min_z: first,
                max_z: last,
                ..self.range
            };
            self.source.gather(block, &mut batch);
            let count = block.rows() * block.columns();
            let visit = |index: usize| match block.tile(index) {
                Some(tile) => self.visit(tile, &batch, &workers),
                None => Ok(None),
            };
            if parallel {
                let visited: Vec<_> = (0..count)
                    .into_par_iter()
                    .with_max_len(1)
                    .map(visit)
                    .collect();
                for result in visited {
                    results.extend(result?);
                }
            } else {
                for index in 0..count {
                    results.extend(visit(index)?);
                }
            }
            first = last + 1;
        }
        Ok(results)
    }

    fn visit<R>(
        &self,
        tile: (i32, i32),
        batch: &S::Batch,
        workers: &[Mutex<Worker>],
    ) -> Result<Option<R>, BuildError>
    where
        V: Fn(&mut ErodedTile<'_>) -> Result<R, BuildError>,
    {
        self.options.go_on()?;
        let own = rayon::current_thread_index().unwrap_or(0) % workers.len();
        let mut worker = match workers[own].lock() {
            Ok(worker) => worker,
            Err(poisoned) => poisoned.into_inner(),
        };
        let visited = visit_tile(self.source, self.plan, batch, tile, &mut worker, self.visit)?;
        drop(worker);
        if let Some(on_tile) = self.options.on_tile {
            let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
            on_tile(done, self.range.columns() * self.range.rows());
        }
        Ok(visited)
    }
}

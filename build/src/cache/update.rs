//! The queue worked off: tiles rebuilt and swapped into the mesh.
//!
//! In: the cache, its mesh and a budget of tiles. Out: the mesh as if it had been built with the
//! shapes in force, as far as the budget goes. Tiles are done in the order they were queued, each
//! from the shapes in force when its turn comes, so how the work is cut up leaves no trace once no
//! tile waits. A tile that is refused is passed over: the mesh keeps what it has there, and the
//! tiles behind it are done.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use rayon::prelude::*;
use thiserror::Error;
use throng_soa::ArgumentError;
use throng_soa::mesh::{NavTile, TiledMesh};

use super::layers::CachedTile;
use super::rebuild::{Job, Outcome, RebuildCounts, RebuildScratch, rebuild_tile};
use super::same::same_content;
use super::tables::CacheTables;
use crate::links::LinkTable;
use crate::pipeline::BuildError;

/// Tiles a worker gets at a time when tiles are rebuilt side by side.
const TILES_PER_WORKER: usize = 4;

/// An update that could not do all it came to.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{error} ({} tiles refused, {} done)", .counts.refused, .counts.tiles)]
pub struct RebuildError {
    /// What was done all the same, and how many tiles were refused.
    pub counts: RebuildCounts,
    /// Why the first of the refused tiles was (the others are in
    /// [`CacheTables::refused_tiles`]); or, when none was, why nothing was begun.
    #[source]
    pub error: Box<BuildError>,
}

impl From<RebuildError> for BuildError {
    fn from(refused: RebuildError) -> Self {
        *refused.error
    }
}

impl CacheTables {
    /// Rebuilds up to `max_tiles` tiles from the front of the queue into `mesh`, the mesh that was
    /// built with this cache. With more threads than one, tiles are rebuilt side by side and
    /// swapped in by their order in the queue: the same bytes.
    ///
    /// # Errors
    /// `mesh` is of other settings: nothing is done. Or a tile exceeds a limit of the format or the
    /// mesh: the mesh keeps its layers of that tile as they were, unless it is the mesh that
    /// refused one of them; the tiles behind it are done all the same, as many as the budget
    /// allows, a refused tile not counted; and it is not tried again until something near it
    /// changes, the cache is restored or [`retry_refused`](Self::retry_refused) asks for it.
    pub fn update(
        &mut self,
        mesh: &mut TiledMesh,
        max_tiles: usize,
    ) -> Result<RebuildCounts, RebuildError> {
        let not_begun = |error: BuildError| RebuildError {
            counts: RebuildCounts::default(),
            error: Box::new(error),
        };
        if mesh.fingerprint() != self.fingerprint {
            let found = "a mesh of other settings";
            let wanted = "the mesh built with this cache";
            return Err(not_begun(ArgumentError::new("mesh", found, wanted).into()));
        }
        let table = match LinkTable::new(&self.links, &self.plan.params) {
            Ok(table) => table,
            Err(error) => return Err(not_begun(error.into())),
        };
        let job = Job {
            plan: &self.plan,
            links: &table,
            shapes: &self.shapes,
            repair: self.repair,
        };
        let mut pass = Pass::new(&mut self.queue, max_tiles);
        match &self.pool {
            Some(pool) => {
                rebuild_side_by_side(
                    &job,
                    &mut pass,
                    mesh,
                    &mut self.tiles,
                    (pool, &self.workers),
                );
            }
            None => rebuild_in_turn(&job, &mut pass, mesh, &mut self.tiles, &mut self.workers),
        }
        pass.end()
    }

    /// Rebuilds every tile that waits.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub fn update_all(&mut self, mesh: &mut TiledMesh) -> Result<RebuildCounts, RebuildError> {
        self.update(mesh, usize::MAX)
    }
}

fn rebuild_in_turn(
    job: &Job<'_>,
    pass: &mut Pass<'_>,
    mesh: &mut TiledMesh,
    tiles: &mut [CachedTile],
    workers: &mut [Mutex<RebuildScratch>],
) {
    let Some(scratch) = workers.first_mut() else {
        return;
    };
    let scratch = match scratch.get_mut() {
        Ok(scratch) => scratch,
        Err(poisoned) => poisoned.into_inner(),
    };
    while pass.left() > 0 {
        let Some(index) = pass.next(tiles) else {
            break;
        };
        let tile = &mut tiles[index as usize];
        forget_what_others_changed(mesh, tile);
        let outcome = rebuild_tile(job, tile, scratch);
        pass.settle(mesh, tile, outcome);
    }
}

fn rebuild_side_by_side(
    job: &Job<'_>,
    pass: &mut Pass<'_>,
    mesh: &mut TiledMesh,
    tiles: &mut [CachedTile],
    (pool, workers): (&rayon::ThreadPool, &[Mutex<RebuildScratch>]),
) {
    let most = workers.len() * TILES_PER_WORKER;
    loop {
        // No more than are left of the budget, so that none is done that would not be done one by
        // one.
        let places = pass.waiting(tiles, most.min(pass.left()));
        if places.is_empty() {
            break;
        }
        // Out of the table while workers change them; each index is in the queue once.
        let mut batch: Vec<CachedTile> = places
            .iter()
            .map(|&index| core::mem::take(&mut tiles[index as usize]))
            .collect();
        for tile in &mut batch {
            forget_what_others_changed(mesh, tile);
        }
        let rebuild = |tile: &mut CachedTile| {
            let own = rayon::current_thread_index().unwrap_or(0) % workers.len();
            let mut scratch = match workers[own].lock() {
                Ok(scratch) => scratch,
                Err(poisoned) => poisoned.into_inner(),
            };
            rebuild_tile(job, tile, &mut scratch)
        };
        let outcomes: Vec<Result<Outcome, BuildError>> = pool.install(|| {
            let tiles = batch.par_iter_mut().with_max_len(1);
            tiles.map(rebuild).collect()
        });
        for (&index, tile) in places.iter().zip(batch) {
            tiles[index as usize] = tile;
        }
        for outcome in outcomes {
            if let Some(index) = pass.next(tiles) {
                pass.settle(mesh, &mut tiles[index as usize], outcome);
            }
        }
    }
}

/// A walk along the queue that takes out what is done and leaves what is refused.
struct Pass<'a> {
    queue: &'a mut VecDeque<u32>,
    /// Place of the tile at hand; everything before it is refused.
    at: usize,
    max_tiles: usize,
    counts: RebuildCounts,
    error: Option<Box<BuildError>>,
}

impl<'a> Pass<'a> {
    fn new(queue: &'a mut VecDeque<u32>, max_tiles: usize) -> Self {
        Self {
            queue,
            at: 0,
            max_tiles,
            counts: RebuildCounts::default(),
            error: None,
        }
    }

    /// What is left of the budget. Refused tiles take nothing of it: a restored cache tries them once
    /// more, and has to do the same tiles behind them as the one that was saved.
    fn left(&self) -> usize {
        self.max_tiles.saturating_sub(self.counts.tiles)
    }

    /// The next tile that waits.
    fn next(&mut self, tiles: &[CachedTile]) -> Option<u32> {
        loop {
            let index = *self.queue.get(self.at)?;
            if tiles[index as usize].waits() {
                return Some(index);
            }
            self.at += 1;
        }
    }

    /// The next `count` tiles that wait.
    fn waiting(&self, tiles: &[CachedTile], count: usize) -> Vec<u32> {
        let rest = self.queue.iter().skip(self.at).copied();
        rest.filter(|&index| tiles[index as usize].waits())
            .take(count)
            .collect()
    }

    /// Swaps in what became of the tile at hand, or notes why nothing did.
    fn settle(
        &mut self,
        mesh: &mut TiledMesh,
        tile: &mut CachedTile,
        outcome: Result<Outcome, BuildError>,
    ) {
        match outcome.and_then(|outcome| swap_in(mesh, tile, outcome)) {
            Ok(counts) => {
                self.counts += counts;
                tile.queued = false;
                self.queue.remove(self.at);
            }
            Err(error) => {
                self.counts.refused += 1;
                let error = Box::new(error);
                self.error.get_or_insert_with(|| error.clone());
                tile.refused = Some(error);
            }
        }
    }

    fn end(self) -> Result<RebuildCounts, RebuildError> {
        let counts = self.counts;
        match self.error {
            None => Ok(counts),
            Some(error) => Err(RebuildError { counts, error }),
        }
    }
}

/// Marks a tile as one of which the cache does not know what the mesh holds.
pub(super) fn forget(tile: &mut CachedTile) {
    for piece in &mut tile.pieces {
        piece.known = false;
    }
}

/// Marks the layers whose tile in the mesh is not the one the cache left there: the mesh alone was
/// restored, or tiles were changed by hand. A tile is told by its identity: one that
/// was put there by another hand is rebuilt in full, and kept if its content comes out the same.
fn forget_what_others_changed(mesh: &TiledMesh, tile: &mut CachedTile) {
    let (x, z) = (tile.tile_x, tile.tile_z);
    let slots = mesh.column(x, z).iter();
    let there = || {
        slots
            .clone()
            .filter_map(|&slot| Some(mesh.tile(slot)?.built()))
    };
    if !tile.by_layer {
        let same = there().count() == tile.in_mesh.len()
            && there().zip(&tile.in_mesh).all(|(a, b)| Arc::ptr_eq(a, b));
        if !same {
            forget(tile);
        }
        return;
    }
    for (layer, piece) in tile.pieces.iter_mut().enumerate() {
        let own = |built: &&Arc<NavTile>| built.data().layer == layer as i32;
        let same = match (there().find(own), tile.in_mesh.iter().find(own)) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        piece.known &= same;
    }
}

/// Puts the layers of a rebuilt tile into the mesh: first the ones that are there, lowest first,
/// then those that go. A layer of the same content keeps its tile, and so its references and edits.
fn swap_in(
    mesh: &mut TiledMesh,
    tile: &mut CachedTile,
    outcome: Outcome,
) -> Result<RebuildCounts, BuildError> {
    let counts = outcome.counts;
    let (x, z) = (tile.tile_x, tile.tile_z);
    match swap_layers(mesh, x, z, outcome) {
        Ok(()) => {
            let left = mesh.column(x, z).iter();
            let left = left.filter_map(|&slot| Some(mesh.tile(slot)?.built().clone()));
            tile.in_mesh.clear();
            tile.in_mesh.extend(left);
            Ok(counts)
        }
        Err(error) => {
            forget(tile);
            Err(error)
        }
    }
}

fn swap_layers(mesh: &mut TiledMesh, x: i32, z: i32, outcome: Outcome) -> Result<(), BuildError> {
    let mut going: Vec<i32> = Vec::new();
    if outcome.whole {
        let layer_of = |&slot: &u32| mesh.tile(slot).map(|tile| tile.data().layer);
        let there = mesh.column(x, z).iter().filter_map(layer_of);
        let stays = |layer: &i32| outcome.layers.iter().any(|(new, _)| new == layer);
        going.extend(there.filter(|layer| !stays(layer)));
    }
    for (layer, built) in outcome.layers {
        let there = mesh.tile_slot_at(x, z, layer);
        match (built, there.and_then(|slot| mesh.tile(slot))) {
            (None, _) => going.push(layer),
            (Some(built), None) => {
                mesh.add_tile(built)?;
            }
            (Some(built), Some(old)) => {
                let old: &NavTile = old.built();
                if !core::ptr::eq(old, &*built) && !same_content(old.data(), built.data()) {
                    mesh.replace_tile(built)?;
                }
            }
        }
    }
    going.sort_unstable();
    for layer in going {
        let slot = mesh.tile_slot_at(x, z, layer);
        if let Some(tile) = slot.and_then(|slot| mesh.tile_ref(slot)) {
            mesh.remove_tile(tile)?;
        }
    }
    Ok(())
}

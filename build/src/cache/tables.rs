//! Requests, the queue, and the swap of rebuilt tiles into the mesh.
//!
//! In: obstacles and volumes to add or take away, and a budget of tiles. Out: the mesh as if it had
//! been built with the shapes in force. A request costs a look at the tiles near it; the work is
//! done by [`CacheTables::update`], a tile an iteration, in the order the tiles were queued. A tile
//! is rebuilt from the shapes in force when its turn comes, so how the work is cut up leaves no
//! trace once the queue is empty.

use std::collections::VecDeque;
use std::sync::Mutex;

use rayon::prelude::*;
use throng_soa::ArgumentError;
use throng_soa::mesh::{NavTile, TiledMesh};
use throng_soa::world::DVec3;

use super::layers::CachedTile;
use super::obstacles::Obstacle;
use super::rebuild::{Job, Outcome, RebuildCounts, RebuildScratch, rebuild_tile};
use super::same::same_content;
use super::shapes::{LISTED_TILES, MAX_NEXT_ID, MAX_SHAPES, PlacedVolume, Shapes, grid_meets};
use crate::links::LinkTable;
use crate::pipeline::BuildError;
use crate::settings::OffMeshLinkDefinition;
use crate::voxel::plan::TilePlan;
use crate::voxel::volumes::ConvexVolume;

/// Tiles a worker gets at a time when tiles are rebuilt side by side.
const TILES_PER_WORKER: usize = 4;

/// Names an obstacle of one cache. Ids count from 1 and are never given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObstacleId(pub u32);

/// Names an area volume of one cache. Ids count from 1 and are never given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VolumeId(pub u32);

/// How far the mesh has followed a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeStatus {
    /// The id was never given out.
    Unknown,
    /// In force, and some tile near it still waits to be rebuilt (for this shape or another).
    Waiting,
    /// In force, and in the mesh. At once for a shape that touches no tile.
    Applied,
    /// Taken away. Tiles near it may still wait.
    Removed,
}

/// What the cache keeps of a level, and the shapes in force. See the module header of
/// [`cache`](super).
#[derive(Debug)]
pub struct CacheTables {
    pub(super) plan: TilePlan,
    pub(super) fingerprint: [u8; 16],
    pub(super) links: Vec<OffMeshLinkDefinition>,
    /// By row, then column.
    pub(super) tiles: Vec<CachedTile>,
    pub(super) shapes: Shapes,
    /// Indices into `tiles`, each at most once.
    pub(super) queue: VecDeque<u32>,
    pub(super) repair: bool,
    pub(super) pool: Option<rayon::ThreadPool>,
    pub(super) workers: Vec<Mutex<RebuildScratch>>,
}

impl CacheTables {
    /// Adds an obstacle and queues the tiles near it.
    ///
    /// # Errors
    /// There are 2^20 obstacles already, or the ids are used up.
    pub fn add_obstacle(&mut self, obstacle: Obstacle) -> Result<ObstacleId, ArgumentError> {
        let (count, next) = (self.shapes.obstacles.len(), self.shapes.next_obstacle);
        check_room("obstacle", count, next)?;
        self.shapes.next_obstacle += 1;
        self.shapes.obstacles.insert(next, obstacle);
        let near = self.tiles_near_obstacle(&obstacle, usize::MAX);
        self.list_obstacle(next, &near);
        self.enqueue(&near);
        Ok(ObstacleId(next))
    }

    /// Takes an obstacle away and queues the tiles near it; false when there is none with this id.
    pub fn remove_obstacle(&mut self, id: ObstacleId) -> bool {
        let Some(obstacle) = self.shapes.obstacles.remove(&id.0) else {
            return false;
        };
        let near = self.tiles_near_obstacle(&obstacle, usize::MAX);
        let forget = |list: &mut Vec<u32>| {
            if let Ok(at) = list.binary_search(&id.0) {
                list.remove(at);
            }
        };
        if near.len() > LISTED_TILES {
            forget(&mut self.shapes.wide);
        } else {
            for &tile in &near {
                forget(&mut self.tiles[tile as usize].obstacles);
            }
        }
        self.enqueue(&near);
        true
    }

    /// Adds an area volume over the ones there are and queues the tiles near it.
    ///
    /// # Errors
    /// There are 2^20 volumes already, or the ids are used up.
    pub fn add_volume(&mut self, volume: ConvexVolume) -> Result<VolumeId, ArgumentError> {
        let (count, next) = (self.shapes.volumes.len(), self.shapes.next_volume);
        check_room("volume", count, next)?;
        self.shapes.next_volume += 1;
        let placed = PlacedVolume::new(volume);
        let near = self.tiles_near_volume(&placed);
        self.shapes.volumes.insert(next, placed);
        self.enqueue(&near);
        Ok(VolumeId(next))
    }

    /// Takes a volume away and queues the tiles near it; false when there is none with this id.
    pub fn remove_volume(&mut self, id: VolumeId) -> bool {
        let Some(placed) = self.shapes.volumes.remove(&id.0) else {
            return false;
        };
        let near = self.tiles_near_volume(&placed);
        self.enqueue(&near);
        true
    }

    /// An obstacle in force.
    #[must_use]
    pub fn obstacle(&self, id: ObstacleId) -> Option<&Obstacle> {
        self.shapes.obstacles.get(&id.0)
    }

    /// The obstacles in force, by id.
    pub fn obstacles(&self) -> impl ExactSizeIterator<Item = (ObstacleId, &Obstacle)> {
        self.shapes
            .obstacles
            .iter()
            .map(|(&id, o)| (ObstacleId(id), o))
    }

    /// A volume in force.
    #[must_use]
    pub fn volume(&self, id: VolumeId) -> Option<&ConvexVolume> {
        self.shapes.volumes.get(&id.0).map(|placed| &placed.volume)
    }

    /// The volumes in force, by id: later ones lie over earlier ones.
    pub fn volumes(&self) -> impl ExactSizeIterator<Item = (VolumeId, &ConvexVolume)> {
        let volumes = self.shapes.volumes.iter();
        volumes.map(|(&id, placed)| (VolumeId(id), &placed.volume))
    }

    /// How far the mesh has followed an obstacle. Cost: the tiles near it.
    #[must_use]
    pub fn obstacle_status(&self, id: ObstacleId) -> ShapeStatus {
        let obstacle = self.obstacle(id);
        let near = obstacle.map(|obstacle| self.tiles_near_obstacle(obstacle, usize::MAX));
        self.status(near, id.0, self.shapes.next_obstacle)
    }

    /// How far the mesh has followed a volume. Cost: the tiles near it.
    #[must_use]
    pub fn volume_status(&self, id: VolumeId) -> ShapeStatus {
        let placed = self.shapes.volumes.get(&id.0);
        let near = placed.map(|placed| self.tiles_near_volume(placed));
        self.status(near, id.0, self.shapes.next_volume)
    }

    fn status(&self, near: Option<Vec<u32>>, id: u32, next: u32) -> ShapeStatus {
        let Some(near) = near else {
            let given = (1..next).contains(&id);
            return if given {
                ShapeStatus::Removed
            } else {
                ShapeStatus::Unknown
            };
        };
        let waits = |&tile: &u32| self.tiles[tile as usize].queued;
        if !self.queue.is_empty() && near.iter().any(waits) {
            ShapeStatus::Waiting
        } else {
            ShapeStatus::Applied
        }
    }

    /// Tiles waiting to be rebuilt, front first, as (column, row).
    pub fn queued_tiles(&self) -> impl ExactSizeIterator<Item = (i32, i32)> {
        self.queue.iter().map(|&index| {
            let tile = &self.tiles[index as usize];
            (tile.tile_x, tile.tile_z)
        })
    }

    /// Tiles the cache can rebuild, row by row, as (column, row).
    pub fn cached_tiles(&self) -> impl ExactSizeIterator<Item = (i32, i32)> {
        self.tiles.iter().map(|tile| (tile.tile_x, tile.tile_z))
    }

    /// Whether layers that only lost spans are repaired; on unless switched off. The mesh is the
    /// same either way.
    pub fn set_repair(&mut self, repair: bool) {
        self.repair = repair;
    }

    /// Rebuilds up to `max_tiles` tiles from the front of the queue into `mesh`, the mesh that was
    /// built with this cache. With more threads than one, tiles are rebuilt side by side and
    /// swapped in by their order in the queue: the same bytes.
    ///
    /// # Errors
    /// `mesh` is of other settings, or a tile exceeds a limit of the format or the mesh. The tiles
    /// before that one are done; it and the others wait, and the mesh keeps its layers as they were
    /// unless it is the mesh that refused one of them.
    pub fn update(
        &mut self,
        mesh: &mut TiledMesh,
        max_tiles: usize,
    ) -> Result<RebuildCounts, BuildError> {
        if mesh.fingerprint() != self.fingerprint {
            let found = "a mesh of other settings";
            let wanted = "the mesh built with this cache";
            return Err(ArgumentError::new("mesh", found, wanted).into());
        }
        let links = core::mem::take(&mut self.links);
        let table = LinkTable::new(&links, &self.plan.params);
        let counts = match table {
            Ok(table) if self.pool.is_some() => self.update_parallel(mesh, max_tiles, &table),
            Ok(table) => self.update_serial(mesh, max_tiles, &table),
            Err(error) => Err(error.into()),
        };
        self.links = links;
        counts
    }

    fn update_serial(
        &mut self,
        mesh: &mut TiledMesh,
        max_tiles: usize,
        links: &LinkTable<'_>,
    ) -> Result<RebuildCounts, BuildError> {
        let mut counts = RebuildCounts::default();
        let job = Job {
            plan: &self.plan,
            links,
            shapes: &self.shapes,
            repair: self.repair,
        };
        let Some(scratch) = self.workers.first_mut() else {
            return Ok(counts);
        };
        let scratch = match scratch.get_mut() {
            Ok(scratch) => scratch,
            Err(poisoned) => poisoned.into_inner(),
        };
        while counts.tiles < max_tiles {
            let Some(&index) = self.queue.front() else {
                break;
            };
            let tile = &mut self.tiles[index as usize];
            let outcome = rebuild_tile(&job, tile, scratch)?;
            counts += outcome.counts;
            swap_in(mesh, tile, outcome)?;
            tile.queued = false;
            self.queue.pop_front();
        }
        Ok(counts)
    }

    fn update_parallel(
        &mut self,
        mesh: &mut TiledMesh,
        max_tiles: usize,
        links: &LinkTable<'_>,
    ) -> Result<RebuildCounts, BuildError> {
        let mut counts = RebuildCounts::default();
        let job = Job {
            plan: &self.plan,
            links,
            shapes: &self.shapes,
            repair: self.repair,
        };
        let (Some(pool), workers) = (&self.pool, &self.workers) else {
            return Ok(counts);
        };
        let most = workers.len() * TILES_PER_WORKER;
        while counts.tiles < max_tiles && !self.queue.is_empty() {
            let count = most.min(max_tiles - counts.tiles).min(self.queue.len());
            // Out of the table while workers change them; each index is in the queue once.
            let tiles = &mut self.tiles;
            let mut batch: Vec<CachedTile> = self
                .queue
                .iter()
                .take(count)
                .map(|&index| core::mem::take(&mut tiles[index as usize]))
                .collect();
            let rebuild = |tile: &mut CachedTile| {
                let own = rayon::current_thread_index().unwrap_or(0) % workers.len();
                let mut scratch = match workers[own].lock() {
                    Ok(scratch) => scratch,
                    Err(poisoned) => poisoned.into_inner(),
                };
                rebuild_tile(&job, tile, &mut scratch)
            };
            let outcomes: Vec<Result<Outcome, BuildError>> = pool.install(|| {
                let tiles = batch.par_iter_mut().with_max_len(1);
                tiles.map(rebuild).collect()
            });
            for (&index, tile) in self.queue.iter().zip(batch) {
                tiles[index as usize] = tile;
            }
            let mut failed = None;
            for outcome in outcomes {
                let Some(&index) = self.queue.front().filter(|_| failed.is_none()) else {
                    break;
                };
                let tile = &mut tiles[index as usize];
                let done = outcome.and_then(|outcome| {
                    counts += outcome.counts;
                    swap_in(mesh, tile, outcome)
                });
                match done {
                    Ok(()) => {
                        tile.queued = false;
                        self.queue.pop_front();
                    }
                    Err(error) => failed = Some(error),
                }
            }
            if let Some(error) = failed {
                // What was built ahead never reached the mesh.
                for &index in self.queue.iter().take(count) {
                    forget(&mut tiles[index as usize]);
                }
                return Err(error);
            }
        }
        Ok(counts)
    }

    /// Rebuilds every queued tile.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub fn update_all(&mut self, mesh: &mut TiledMesh) -> Result<RebuildCounts, BuildError> {
        self.update(mesh, usize::MAX)
    }

    /// Tiles of which an obstacle may cover cells, row by row; `most` of them at the most.
    pub(super) fn tiles_near_obstacle(&self, obstacle: &Obstacle, most: usize) -> Vec<u32> {
        let (min, max) = obstacle.bounds();
        let radius = f64::from(self.plan.spans.walkable_radius) * self.plan.cell_size;
        self.tiles_near(min, max, obstacle.corner_lead(radius), most)
    }

    fn tiles_near_volume(&self, placed: &PlacedVolume) -> Vec<u32> {
        self.tiles_near(placed.min, placed.max, 0.0, usize::MAX)
    }

    /// Tiles whose grid, widened by the agent's radius, a cell and `more`, meets a box seen from
    /// above, row by row; `most` of them at the most.
    fn tiles_near(&self, min: DVec3, max: DVec3, more: f64, most: usize) -> Vec<u32> {
        let params = &self.plan.params;
        let margin = f64::from(self.plan.spans.walkable_radius + 1) * self.plan.cell_size + more;
        let reach = margin + f64::from(self.plan.border) * self.plan.cell_size;
        // A tile too many on each side: the exact test decides.
        let low = |v: f64, origin: f64| ((v - reach - origin) / params.tile_size).floor() - 1.0;
        let high = |v: f64, origin: f64| ((v + reach - origin) / params.tile_size).floor() + 1.0;
        let (min_x, max_x) = (low(min.x, params.origin.x), high(max.x, params.origin.x));
        let (min_z, max_z) = (low(min.z, params.origin.z), high(max.z, params.origin.z));
        let mut near = Vec::new();
        let seek = |x: f64, z: f64| {
            let key = (z as i32, x as i32);
            self.tiles
                .partition_point(|tile| (tile.tile_z, tile.tile_x) < key)
        };
        let mut at = seek(min_x, min_z);
        while let Some(tile) = self.tiles.get(at) {
            let (x, z) = (f64::from(tile.tile_x), f64::from(tile.tile_z));
            if z > max_z || near.len() >= most {
                break;
            }
            if x < min_x {
                at = seek(min_x, z);
            } else if x > max_x {
                at = seek(min_x, z + 1.0);
            } else {
                if grid_meets(tile, min, max, margin) {
                    near.push(at as u32);
                }
                at += 1;
            }
        }
        near
    }

    /// Lets the tiles near an obstacle know of it.
    pub(super) fn list_obstacle(&mut self, id: u32, near: &[u32]) {
        if near.len() > LISTED_TILES {
            self.shapes.wide.push(id);
        } else {
            for &tile in near {
                self.tiles[tile as usize].obstacles.push(id);
            }
        }
    }

    /// Appends tiles to the queue that are not in it.
    pub(super) fn enqueue(&mut self, near: &[u32]) {
        for &index in near {
            let tile = &mut self.tiles[index as usize];
            if !tile.queued {
                tile.queued = true;
                self.queue.push_back(index);
            }
        }
    }
}

/// Marks a tile as one of which the cache does not know what the mesh holds.
pub(super) fn forget(tile: &mut CachedTile) {
    for piece in &mut tile.pieces {
        piece.known = false;
    }
}

fn check_room(what: &str, count: usize, next: u32) -> Result<(), ArgumentError> {
    if count >= MAX_SHAPES {
        let allowed = format!("at most {MAX_SHAPES} at a time");
        return Err(ArgumentError::new(format!("{what}s"), count + 1, allowed));
    }
    if next >= MAX_NEXT_ID {
        let allowed = format!("below {MAX_NEXT_ID}, and ids are never given twice");
        return Err(ArgumentError::new(format!("{what} id"), next, allowed));
    }
    Ok(())
}

/// Puts the layers of a rebuilt tile into the mesh: first the ones that are there, lowest first,
/// then those that go. A layer of the same content keeps its tile, and so its references and edits.
fn swap_in(
    mesh: &mut TiledMesh,
    tile: &mut CachedTile,
    outcome: Outcome,
) -> Result<(), BuildError> {
    let swapped = swap_layers(mesh, tile.tile_x, tile.tile_z, outcome);
    if swapped.is_err() {
        forget(tile);
    }
    swapped
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

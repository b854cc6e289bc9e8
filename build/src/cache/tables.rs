//! Requests, and the queue they fill.
//!
//! In: obstacles and volumes to add or take away. Out: the tiles to rebuild, in the order they were
//! queued, and how far the mesh has followed each shape. A request costs a look at the tiles near
//! it; the work is done by [`CacheTables::update`].
//!
//! A tile that was refused keeps its place in the queue but no longer waits: it is passed over
//! until something near it changes. So the queue alone, waiting or not, says what the mesh still
//! lacks, and a snapshot needs no more than that.

use std::collections::{VecDeque, vec_deque};
use std::sync::Mutex;

use throng_soa::ArgumentError;
use throng_soa::world::DVec3;

use super::layers::CachedTile;
use super::obstacles::Obstacle;
use super::rebuild::RebuildScratch;
use super::shapes::{LISTED_TILES, MAX_NEXT_ID, MAX_SHAPES, PlacedVolume, Shapes};
use super::tile_grid::TileGrid;
use crate::pipeline::{BuildError, TileFlaw, TileRange};
use crate::settings::OffMeshLinkDefinition;
use crate::voxel::plan::TilePlan;
use crate::voxel::volumes::ConvexVolume;

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
    /// In force, no tile near it waits, and at least one was refused with the shapes in force now
    /// (see [`CacheTables::refused_tiles`]): there the mesh is as it was before.
    Refused,
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
    /// Where they stand.
    pub(super) grid: TileGrid,
    pub(super) shapes: Shapes,
    /// Indices into `tiles`, each at most once: tiles that wait and tiles that were refused.
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
        let near = self.tiles_near_obstacle(&obstacle);
        self.list_obstacle(next, &near);
        self.enqueue(&near);
        Ok(ObstacleId(next))
    }

    /// Takes an obstacle away and queues the tiles near it; false when there is none with this id.
    pub fn remove_obstacle(&mut self, id: ObstacleId) -> bool {
        let Some(obstacle) = self.shapes.obstacles.remove(&id.0) else {
            return false;
        };
        let near = self.tiles_near_obstacle(&obstacle);
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
        let near = obstacle.map(|obstacle| self.tiles_near_obstacle(obstacle));
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
        let near = || near.iter().map(|&tile| &self.tiles[tile as usize]);
        if near().any(CachedTile::waits) {
            ShapeStatus::Waiting
        } else if near().any(|tile| tile.refused.is_some()) {
            ShapeStatus::Refused
        } else {
            ShapeStatus::Applied
        }
    }

    /// Tiles waiting to be rebuilt, front first, as (column, row). Cost: the queue.
    pub fn queued_tiles(&self) -> impl ExactSizeIterator<Item = (i32, i32)> {
        let waits = |&&index: &&u32| self.tiles[index as usize].waits();
        WaitingTiles {
            left: self.queue.iter().filter(waits).count(),
            tiles: &self.tiles,
            queue: self.queue.iter(),
        }
    }

    /// Tiles that were refused with the shapes in force, as (column, row), in the order they were
    /// queued, with the reason. Each is tried again once a shape near it comes or goes, after a
    /// restore, and after [`retry_refused`](Self::retry_refused). Cost: the queue.
    pub fn refused_tiles(&self) -> impl Iterator<Item = ((i32, i32), &BuildError)> {
        self.queue.iter().filter_map(|&index| {
            let tile = &self.tiles[index as usize];
            let error = tile.refused.as_deref()?;
            Some(((tile.tile_x, tile.tile_z), error))
        })
    }

    /// Tiles some of whose regions lost ground when they were last built, row by row: of a cache
    /// whose queue is empty, those of which a fresh build with the same shapes tells `on_flaw`. Tiles
    /// that are not the cache's own (after a restore, until they are rebuilt) are left out. Cost: all
    /// cached tiles.
    pub fn flawed_tiles(&self) -> impl Iterator<Item = TileFlaw> {
        self.tiles.iter().filter_map(|tile| {
            let known = tile.pieces.iter().all(|piece| piece.known);
            let flaws = tile.flaws();
            (known && !flaws.is_empty()).then_some(TileFlaw {
                tile_x: tile.tile_x,
                tile_z: tile.tile_z,
                flaws,
            })
        })
    }

    /// Lets refused tiles wait again, each in its old place. What is too much for a tile stays too
    /// much while the shapes near it stay; a mesh that had no room for a tile may have some now.
    pub fn retry_refused(&mut self) {
        for &index in &self.queue {
            self.tiles[index as usize].refused = None;
        }
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

    /// Tiles of which an obstacle may cover cells, row by row.
    fn tiles_near_obstacle(&self, obstacle: &Obstacle) -> Vec<u32> {
        self.tiles_in(self.block_near_obstacle(obstacle))
    }

    fn tiles_near_volume(&self, placed: &PlacedVolume) -> Vec<u32> {
        self.tiles_in(self.block_near(placed.min, placed.max, 0.0))
    }

    fn tiles_in(&self, block: TileRange) -> Vec<u32> {
        let mut near = Vec::new();
        self.grid.push_tiles(block, &mut near);
        near
    }

    fn block_near_obstacle(&self, obstacle: &Obstacle) -> TileRange {
        let (min, max) = obstacle.bounds();
        let radius = f64::from(self.plan.spans.walkable_radius) * self.plan.cell_size;
        self.block_near(min, max, obstacle.corner_lead(radius))
    }

    /// The columns and rows of tiles whose grids, widened by the agent's radius, a cell and `more`,
    /// meet a box seen from above. Cost: a binary search for each side.
    fn block_near(&self, min: DVec3, max: DVec3, more: f64) -> TileRange {
        let plan = &self.plan;
        let margin = f64::from(plan.spans.walkable_radius + 1) * plan.cell_size + more;
        // As a frame measures it.
        let side = f64::from(plan.grid_cells()) * f64::from(plan.cell_size as f32);
        let (low_x, low_z) = (|x| plan.grid_low_x(x), |z| plan.grid_low_z(z));
        let range = self.grid.range();
        let (from_x, to_x) = (range.min_x, range.max_x);
        let (from_z, to_z) = (range.min_z, range.max_z);
        TileRange {
            min_x: first_where(from_x, to_x, |x| low_x(x) + side + margin >= min.x),
            min_z: first_where(from_z, to_z, |z| low_z(z) + side + margin >= min.z),
            max_x: first_where(from_x, to_x, |x| low_x(x) - margin > max.x) - 1,
            max_z: first_where(from_z, to_z, |z| low_z(z) - margin > max.z) - 1,
        }
    }

    /// Lets the tiles near every obstacle know of it; they know of none.
    pub(super) fn list_obstacles(&mut self) {
        let obstacles = core::mem::take(&mut self.shapes.obstacles);
        let mut near = Vec::new();
        for (&id, obstacle) in &obstacles {
            let block = self.block_near_obstacle(obstacle);
            if self.grid.count(block) > LISTED_TILES {
                self.shapes.wide.push(id);
                continue;
            }
            near.clear();
            self.grid.push_tiles(block, &mut near);
            self.list_obstacle(id, &near);
        }
        self.shapes.obstacles = obstacles;
    }

    /// Lets the tiles near an obstacle know of it.
    fn list_obstacle(&mut self, id: u32, near: &[u32]) {
        if near.len() > LISTED_TILES {
            self.shapes.wide.push(id);
        } else {
            for &tile in near {
                self.tiles[tile as usize].obstacles.push(id);
            }
        }
    }

    /// Appends tiles to the queue that are not in it. Those that are keep their place and wait,
    /// refused or not.
    pub(super) fn enqueue(&mut self, near: &[u32]) {
        for &index in near {
            let tile = &mut self.tiles[index as usize];
            tile.refused = None;
            if !tile.queued {
                tile.queued = true;
                self.queue.push_back(index);
            }
        }
    }
}

/// The lowest of the numbers from `low` to `high` for which `holds`, which holds for all above it
/// as well; one more than `high` when it holds for none.
fn first_where(low: i32, high: i32, holds: impl Fn(i32) -> bool) -> i32 {
    let (mut low, mut end) = (low, high + 1);
    while low < end {
        let middle = low + (end - low) / 2;
        if holds(middle) {
            end = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// Positions of the tiles in a queue that wait.
struct WaitingTiles<'a> {
    tiles: &'a [CachedTile],
    queue: vec_deque::Iter<'a, u32>,
    left: usize,
}

impl Iterator for WaitingTiles<'_> {
    type Item = (i32, i32);

    fn next(&mut self) -> Option<(i32, i32)> {
        let waiting = |&index: &u32| {
            let tile = &self.tiles[index as usize];
            tile.waits().then_some((tile.tile_x, tile.tile_z))
        };
        let found = self.queue.find_map(waiting);
        self.left -= usize::from(found.is_some());
        found
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for WaitingTiles<'_> {}

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

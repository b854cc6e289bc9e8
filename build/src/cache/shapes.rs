//! The obstacles and volumes in force, by id, and which of them a layer has to look at.
//!
//! In: checked shapes. Out: ids from 1, never given twice, and the marking of a piece's areas. An
//! obstacle over few tiles is listed with each of them; one over many stands in one list that every
//! tile reads, so that memory follows the number of shapes and not the ground they cover.

use std::collections::BTreeMap;

use throng_soa::world::DVec3;

use super::layers::Piece;
use super::obstacles::Obstacle;
use crate::voxel::frame::HeightfieldFrame;
use crate::voxel::volumes::ConvexVolume;

/// Most obstacles, and most volumes, at a time.
pub const MAX_SHAPES: usize = 1 << 20;
/// The largest value of a next id: ids stay below it.
pub(crate) const MAX_NEXT_ID: u32 = i32::MAX as u32;
/// Tiles an obstacle is listed with; one that touches more is wide.
pub(crate) const LISTED_TILES: usize = 16;

/// A volume with its bounding box.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlacedVolume {
    pub(crate) volume: ConvexVolume,
    pub(crate) min: DVec3,
    pub(crate) max: DVec3,
}

impl PlacedVolume {
    pub(crate) fn new(volume: ConvexVolume) -> Self {
        let (low, high) = volume.y_range();
        let mut min = DVec3::new(f64::INFINITY, low, f64::INFINITY);
        let mut max = DVec3::new(f64::NEG_INFINITY, high, f64::NEG_INFINITY);
        for corner in volume.corners() {
            min = DVec3::new(min.x.min(corner.x), low, min.z.min(corner.y));
            max = DVec3::new(max.x.max(corner.x), high, max.z.max(corner.y));
        }
        Self { volume, min, max }
    }
}

/// What is in force.
#[derive(Debug)]
pub(crate) struct Shapes {
    pub(crate) obstacles: BTreeMap<u32, Obstacle>,
    pub(crate) volumes: BTreeMap<u32, PlacedVolume>,
    pub(crate) next_obstacle: u32,
    pub(crate) next_volume: u32,
    /// Ids of the obstacles over more than [`LISTED_TILES`] tiles, ascending.
    pub(crate) wide: Vec<u32>,
}

impl Default for Shapes {
    fn default() -> Self {
        Self {
            obstacles: BTreeMap::new(),
            volumes: BTreeMap::new(),
            next_obstacle: 1,
            next_volume: 1,
            wide: Vec::new(),
        }
    }
}

impl Shapes {
    /// Gives `piece.spans` the areas in force, from those of the first build; `before` receives the
    /// areas it had. Cost: the cells under the shapes near the piece.
    pub(crate) fn mark(
        &self,
        listed: &[u32],
        frame: &HeightfieldFrame,
        walkable_radius: i32,
        piece: &mut Piece,
        before: &mut Vec<u8>,
    ) {
        before.clone_from(&piece.base_area);
        core::mem::swap(before, &mut piece.spans.area);
        let Some(ground) = piece.ground else {
            return;
        };
        let cell = f64::from(frame.cell_size);
        let radius = f64::from(walkable_radius) * cell;
        for id in listed.iter().chain(&self.wide) {
            if let Some(obstacle) = self.obstacles.get(id) {
                let (min, max) = obstacle.bounds();
                // A cell more than the grown shape reaches: the exact test is by cell centres.
                let growth = radius + cell + obstacle.corner_lead(radius);
                if touches(ground, min, max, growth) {
                    obstacle.apply(frame, walkable_radius, &mut piece.spans);
                }
            }
        }
        for placed in self.volumes.values() {
            if touches(ground, placed.min, placed.max, cell) {
                placed.volume.apply(frame, &mut piece.spans);
            }
        }
    }
}

/// Whether a box, grown across but not up, meets the ground of a piece.
fn touches((low, high): (DVec3, DVec3), min: DVec3, max: DVec3, growth: f64) -> bool {
    min.x - growth <= high.x
        && max.x + growth >= low.x
        && min.z - growth <= high.z
        && max.z + growth >= low.z
        && min.y <= high.y
        && max.y >= low.y
}

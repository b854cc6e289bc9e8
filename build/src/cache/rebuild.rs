//! One tile for the shapes in force.
//!
//! In: a cached tile and the shapes. Out: the layers that have to change in the mesh, with their
//! new tiles. A layer whose areas are those of the last build is left alone, one whose areas are
//! those of the first build takes the tile of the first build, one that only lost spans is
//! repaired, and only what is left is built from its areas. None of that changes a result: a layer
//! is a function of its areas.

use std::sync::Arc;

use throng_soa::mesh::{NavTile, TileData};
use throng_soa::spans::NULL_AREA;

use super::first::{build_layer, fill_layer};
use super::layers::{CachedTile, Piece};
use super::repair::{RepairScratch, repair_outlines};
use super::shapes::Shapes;
use crate::links::LinkTable;
use crate::pipeline::{BuildError, checked_tiles};
use crate::voxel::plan::TilePlan;
use crate::voxel::stages::{OutlineFlaws, Place, StageScratch};

/// How the layers of rebuilt tiles came about. Tiles that are not built layer by layer count as one
/// layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RebuildCounts {
    /// Queued tiles done.
    pub tiles: usize,
    /// Queued tiles that were refused; their layers count nowhere.
    pub refused: usize,
    /// Layers whose areas were those of the last build.
    pub unchanged: usize,
    /// Layers that took the tile of the first build.
    pub reused: usize,
    /// Layers repaired from the first build.
    pub repaired: usize,
    /// Layers built from their areas.
    pub built: usize,
    /// What the outlines of the reused, repaired and built layers lost. Tile by tile see
    /// [`CacheTables::flawed_tiles`](super::CacheTables::flawed_tiles).
    pub flaws: OutlineFlaws,
}

impl core::ops::AddAssign for RebuildCounts {
    fn add_assign(&mut self, other: Self) {
        self.tiles += other.tiles;
        self.refused += other.refused;
        self.unchanged += other.unchanged;
        self.reused += other.reused;
        self.repaired += other.repaired;
        self.built += other.built;
        self.flaws.add(&other.flaws);
    }
}

/// Everything a rebuild reads.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    pub(crate) plan: &'a TilePlan,
    pub(crate) links: &'a LinkTable<'a>,
    pub(crate) shapes: &'a Shapes,
    pub(crate) repair: bool,
}

/// A worker's buffers, reused from tile to tile.
#[derive(Debug, Default)]
pub(crate) struct RebuildScratch {
    stages: StageScratch,
    repair: RepairScratch,
    before: Vec<u8>,
    changed: Vec<bool>,
    removed: Vec<u32>,
    data: Vec<TileData>,
}

/// What a rebuilt tile changes in the mesh.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Layers with their tiles, lowest first; `None` for a layer without polygons.
    pub(crate) layers: Vec<(i32, Option<Arc<NavTile>>)>,
    /// Whether layers not named go.
    pub(crate) whole: bool,
    pub(crate) counts: RebuildCounts,
}

/// Builds what differs from the last build. After an error the tile forgets what the mesh holds, so
/// that the next rebuild is a full one.
///
/// # Errors
/// The tile exceeds a limit of the format.
pub(crate) fn rebuild_tile(
    job: &Job<'_>,
    tile: &mut CachedTile,
    scratch: &mut RebuildScratch,
) -> Result<Outcome, BuildError> {
    let outcome = rebuild(job, tile, scratch);
    for piece in &mut tile.pieces {
        piece.known = outcome.is_ok();
    }
    outcome
}

fn rebuild(
    job: &Job<'_>,
    tile: &mut CachedTile,
    scratch: &mut RebuildScratch,
) -> Result<Outcome, BuildError> {
    let mut outcome = Outcome::default();
    outcome.counts.tiles = 1;
    let Some(frame) = tile.frame else {
        return Ok(outcome);
    };
    let radius = job.plan.spans.walkable_radius;
    let mut known = false;
    let mut first = true;
    // Left over from a tile that was refused.
    scratch.stages.take_flaws();
    scratch.changed.clear();
    for piece in &mut tile.pieces {
        let before = &mut scratch.before;
        job.shapes
            .mark(&tile.obstacles, &frame, radius, piece, before);
        let changed = !piece.known || piece.spans.area != *before;
        known |= piece.known;
        first &= piece.spans.area == piece.base_area;
        scratch.changed.push(changed);
    }
    let changed = scratch.changed.iter().filter(|c| **c).count();
    if changed == 0 {
        outcome.counts.unchanged = tile.pieces.len();
        return Ok(outcome);
    }
    outcome.whole = !tile.by_layer || tile.has_links || !known;
    if outcome.whole && first {
        outcome.counts.reused = tile.pieces.len();
        for piece in &mut tile.pieces {
            piece.flaws = piece.first_flaws;
            outcome.counts.flaws.add(&piece.flaws);
        }
        let tiles = tile.first_tiles.iter();
        outcome.layers = tiles.map(|t| (t.data().layer, Some(t.clone()))).collect();
        return Ok(outcome);
    }
    let place = tile.place(job.plan, &frame);
    scratch.data.clear();
    for (layer, piece) in tile.pieces.iter_mut().enumerate() {
        if !outcome.whole && !scratch.changed[layer] {
            outcome.counts.unchanged += 1;
            continue;
        }
        if !outcome.whole && piece.spans.area == piece.base_area {
            outcome.counts.reused += 1;
            piece.flaws = piece.first_flaws;
            outcome.counts.flaws.add(&piece.flaws);
            let layer = layer as i32;
            let tiles = &tile.first_tiles;
            let kept = tiles.iter().find(|t| t.data().layer == layer).cloned();
            outcome.layers.push((layer, kept));
            continue;
        }
        let stages = &mut scratch.stages;
        if !tile.by_layer {
            outcome.counts.built += 1;
            piece.build(&place, stages, &mut scratch.data)?;
            piece.flaws = stages.take_flaws();
            outcome.counts.flaws.add(&piece.flaws);
            continue;
        }
        let layer = layer as u32;
        let repairable = job.repair && list_removed(piece, &mut scratch.removed);
        build_piece(
            &place,
            layer,
            piece,
            repairable,
            scratch,
            &mut outcome.counts,
        )?;
        piece.flaws = scratch.stages.take_flaws();
        outcome.counts.flaws.add(&piece.flaws);
        if !outcome.whole {
            let data = core::mem::take(&mut scratch.data);
            let built = checked_tiles(job.plan, data)?.pop().map(Arc::new);
            outcome.layers.push((layer as i32, built));
        }
    }
    if outcome.whole {
        let mut data = core::mem::take(&mut scratch.data);
        let (x, z) = (tile.tile_x, tile.tile_z);
        job.links.bake(&job.plan.params, x, z, &mut data);
        let tiles = checked_tiles(job.plan, data)?.into_iter();
        outcome.layers = tiles.map(|t| (t.data().layer, Some(Arc::new(t)))).collect();
    }
    Ok(outcome)
}

/// Repairs one layer, or builds it when it cannot be repaired.
fn build_piece(
    place: &Place<'_>,
    layer: u32,
    piece: &mut Piece,
    repairable: bool,
    scratch: &mut RebuildScratch,
    counts: &mut RebuildCounts,
) -> Result<(), BuildError> {
    let stages = &mut scratch.stages;
    let repaired = repairable
        && repair_outlines(
            place.plan,
            piece,
            &scratch.removed,
            &mut scratch.repair,
            &mut stages.contour,
            &mut stages.contours,
        );
    if !repaired {
        counts.built += 1;
        return build_layer(place, layer, piece, stages, &mut scratch.data, |_| {});
    }
    counts.repaired += 1;
    let regions = piece.first.as_deref().map_or(0, |first| first.border);
    fill_layer(place, layer, regions, stages, &mut scratch.data)
}

/// Lists the spans that lost their walkability since the first build, ascending; false when some
/// area changed in another way.
fn list_removed(piece: &Piece, removed: &mut Vec<u32>) -> bool {
    const CHUNK: usize = 64;
    removed.clear();
    let (base, now) = (&piece.base_area[..], &piece.spans.area[..]);
    for (chunk, (before, after)) in base.chunks(CHUNK).zip(now.chunks(CHUNK)).enumerate() {
        if before == after {
            continue;
        }
        for (at, (before, after)) in before.iter().zip(after).enumerate() {
            if before != after {
                if *after != NULL_AREA {
                    return false;
                }
                removed.push((chunk * CHUNK + at) as u32);
            }
        }
    }
    true
}

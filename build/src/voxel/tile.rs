//! One tile, from its triangles to the arrays a mesh stores.
//!
//! In: a [`TilePlan`] and the triangles that touch the tile's grid, or spans. Out: one [`TileData`]
//! per height layer that has polygons, lowest layer first. [`voxelize`] is the part that depends on
//! geometry, [`finish`] the part that depends on areas; a cache runs only the second again.

use throng_soa::mesh::{MAX_LAYER, TileData};
use throng_soa::spans::{MAX_COLUMN_SPANS, MAX_SPANS, OpenSpans, SpanColumns, SpanGraph};
use throng_soa::world::DVec3;

use super::frame::HeightfieldFrame;
use super::layers_first::{LayerSplit, split_layer};
use super::plan::TilePlan;
use super::rasterize::classify_triangles;
use super::regions::span_layers;
use super::spans::{SpanScratch, build_open_spans, finish_open_spans};
pub use super::stages::OutlineFlaws;
use super::stages::{Place, StageScratch, build_stages};
use super::volumes::ConvexVolume;
use crate::cache::Obstacle;
use crate::pipeline::BuildError;
use crate::settings::PartitionType;

/// A worker's buffers for everything between triangles and tile arrays.
#[derive(Debug, Default)]
pub struct TileScratch {
    areas: Vec<u8>,
    voxels: SpanScratch,
    pub(crate) layers: Vec<u32>,
    pub(crate) stages: StageScratch,
    pub(crate) split: LayerSplit,
    layer_spans: OpenSpans,
    layer_graph: SpanGraph,
    layer_zero: Vec<u32>,
}

impl TileScratch {
    /// The columns that take a tile's matter before [`voxelize_columns`]; reset them first.
    pub fn columns_mut(&mut self) -> &mut SpanColumns {
        &mut self.voxels.columns
    }

    /// The flaws of everything built since the last call.
    pub fn take_flaws(&mut self) -> OutlineFlaws {
        self.stages.take_flaws()
    }
}

/// A worker's buffers, reused from tile to tile.
#[derive(Debug, Default)]
pub struct Worker {
    /// Buffers of the stages.
    pub scratch: TileScratch,
    /// The spans of the tile at hand.
    pub spans: OpenSpans,
    /// Their graph.
    pub graph: SpanGraph,
    /// The triangles of the tile at hand.
    pub triangles: Vec<[u32; 3]>,
}

/// One tile after erosion, before any area volume.
///
/// A visitor may change, or take, `spans` and `graph`: they are rebuilt for every tile.
#[derive(Debug)]
pub struct ErodedTile<'a> {
    /// Tile column.
    pub tile_x: i32,
    /// Tile row.
    pub tile_z: i32,
    /// Where the grid, border included, stands.
    pub frame: HeightfieldFrame,
    /// The eroded spans.
    pub spans: &'a mut OpenSpans,
    /// Their graph.
    pub graph: &'a mut SpanGraph,
    /// Buffers for the stages that follow.
    pub scratch: &'a mut TileScratch,
}

/// Fills `worker.spans` and `worker.graph` with the eroded open spans of a tile, made of
/// `worker.triangles` in their order, and returns the frame they stand in; nothing without triangles.
///
/// # Errors
/// A coordinate or index is out of range, or a column or the tile holds too many spans.
pub fn voxelize(
    plan: &TilePlan,
    (tile_x, tile_z): (i32, i32),
    vertices: &[DVec3],
    worker: &mut Worker,
) -> Result<Option<HeightfieldFrame>, BuildError> {
    let Worker {
        scratch,
        spans,
        graph,
        triangles,
    } = worker;
    if triangles.is_empty() {
        return Ok(None);
    }
    let (mut min_y, mut max_y) = (f64::INFINITY, f64::NEG_INFINITY);
    for &corner in triangles.iter().flatten() {
        let y = vertices.get(corner as usize).map_or(f64::NAN, |v| v.y);
        min_y = min_y.min(y);
        max_y = max_y.max(y);
    }
    let frame = plan.frame(tile_x, tile_z, min_y, max_y)?;
    classify_triangles(
        &frame,
        vertices,
        triangles,
        plan.spans.slope_cosine,
        &mut scratch.areas,
    )?;
    let built = build_open_spans(
        &frame,
        vertices,
        triangles,
        &scratch.areas,
        &[],
        &plan.spans,
        &mut scratch.voxels,
        spans,
        graph,
    );
    refuse_overfull(tile_x, tile_z, &scratch.voxels.columns)?;
    built?;
    Ok(Some(frame))
}

/// As [`voxelize`], for matter that stands in the worker's columns already (see
/// [`TileScratch::columns_mut`]).
///
/// # Errors
/// A column or the tile holds too many spans.
pub fn voxelize_columns(
    plan: &TilePlan,
    (tile_x, tile_z): (i32, i32),
    frame: &HeightfieldFrame,
    worker: &mut Worker,
) -> Result<(), BuildError> {
    let Worker {
        scratch,
        spans,
        graph,
        ..
    } = worker;
    refuse_overfull(tile_x, tile_z, &scratch.voxels.columns)?;
    finish_open_spans(frame, &[], &plan.spans, &mut scratch.voxels, spans, graph)?;
    Ok(())
}

fn refuse_overfull(tile_x: i32, tile_z: i32, columns: &SpanColumns) -> Result<(), BuildError> {
    if !columns.overfull() {
        return Ok(());
    }
    Err(BuildError::Limit {
        tile_x,
        tile_z,
        what: format!(
            "more than {MAX_COLUMN_SPANS} solid spans over each other, or {MAX_SPANS} in all"
        ),
    })
}

/// Regions to tile arrays, for the areas the tile has after erosion, `volumes` and `obstacles`.
///
/// # Errors
/// A limit of the format is exceeded.
pub fn finish(
    plan: &TilePlan,
    tile: &mut ErodedTile<'_>,
    volumes: &[ConvexVolume],
    obstacles: &[Obstacle],
) -> Result<Vec<TileData>, BuildError> {
    let mut layers = core::mem::take(&mut tile.scratch.layers);
    // From geometry alone: before volumes.
    let built = decide_layers(plan, tile, &mut layers).and_then(|count| {
        mark_areas(plan, tile, volumes, obstacles);
        build_layers(plan, tile, &layers, count)
    });
    tile.scratch.layers = layers;
    built
}

/// Decides the height layer of every span from the eroded spans alone, so that areas painted later
/// move no floor to another layer. Returns the number of layers: 1, and no entry in `layers`, when
/// the plan does not partition by layers.
///
/// # Errors
/// There are more layers than the format can number.
pub fn decide_layers(
    plan: &TilePlan,
    tile: &mut ErodedTile<'_>,
    layers: &mut Vec<u32>,
) -> Result<u32, BuildError> {
    layers.clear();
    if plan.partition != PartitionType::Layers {
        return Ok(1);
    }
    let limit = |what: String| BuildError::Limit {
        tile_x: tile.tile_x,
        tile_z: tile.tile_z,
        what,
    };
    let regions = &mut tile.scratch.stages.regions;
    let count = span_layers(
        tile.spans,
        tile.graph,
        &mut regions.layers,
        &mut regions.monotone,
        &mut regions.filter,
        layers,
    )
    .map_err(|error| limit(error.to_string()))?;
    if count > MAX_LAYER as u32 + 1 {
        return Err(limit(format!("{count} layers; a tile holds at most 1024")));
    }
    Ok(count)
}

/// Lays volumes, in order, and obstacles over the tile's areas.
pub fn mark_areas(
    plan: &TilePlan,
    tile: &mut ErodedTile<'_>,
    volumes: &[ConvexVolume],
    obstacles: &[Obstacle],
) {
    for volume in volumes {
        volume.apply(&tile.frame, tile.spans);
    }
    for obstacle in obstacles {
        obstacle.apply(&tile.frame, plan.spans.walkable_radius, tile.spans);
    }
}

/// Regions to tile arrays, for the areas the tile has and the `layer_count` layers that
/// [`decide_layers`] gave. Regions of its spans are overwritten.
///
/// # Errors
/// A limit of the format is exceeded.
pub fn build_layers(
    plan: &TilePlan,
    tile: &mut ErodedTile<'_>,
    layers: &[u32],
    layer_count: u32,
) -> Result<Vec<TileData>, BuildError> {
    let place = Place {
        plan,
        tile_x: tile.tile_x,
        tile_z: tile.tile_z,
        origin_y: tile.frame.origin.y,
    };
    let TileScratch {
        stages,
        split,
        layer_spans,
        layer_graph,
        layer_zero,
        ..
    } = &mut *tile.scratch;
    let (spans, graph) = (&mut *tile.spans, &*tile.graph);
    let mut tiles = Vec::new();
    if layer_count == 1 || plan.detail.samples() {
        build_stages(&place, spans, graph, layers, 0, stages, &mut tiles)?;
        return Ok(tiles);
    }
    split.rebuild(layers, layer_count);
    for layer in 0..layer_count {
        split_layer(spans, graph, layers, split, layer, layer_spans, layer_graph);
        layer_zero.clear();
        layer_zero.resize(layer_spans.span_count(), 0);
        build_stages(
            &place,
            layer_spans,
            layer_graph,
            layer_zero,
            layer,
            stages,
            &mut tiles,
        )?;
    }
    Ok(tiles)
}

//! What is kept of a tile: the spans that geometry alone decides, and the tiles first built.
//!
//! In: an eroded tile from the builder. Out: a [`CachedTile`] and the tiles of the first build.
//!
//! A tile built layer by layer keeps a [`Piece`] per layer; any other keeps one piece, the whole
//! tile. A piece's links never change, so its graph is built once.

use std::sync::Arc;

use throng_soa::mesh::{NavTile, TileData};
use throng_soa::spans::{NULL_AREA, OpenSpans, SpanGraph};
use throng_soa::world::DVec3;

use super::first::FirstBuild;
use crate::links::LinkTable;
use crate::pipeline::{BuildError, BuildOptions, ErodedTile, checked_tiles};
use crate::settings::PartitionType;
use crate::voxel::frame::HeightfieldFrame;
use crate::voxel::layers_first::split_layer;
use crate::voxel::plan::TilePlan;
use crate::voxel::stages::{OutlineFlaws, Place, StageScratch, build_stages};
use crate::voxel::tile::{TileScratch, decide_layers, mark_areas};

/// A tile, ready to be finished again.
#[derive(Debug, Default)]
pub(crate) struct CachedTile {
    pub(crate) tile_x: i32,
    pub(crate) tile_z: i32,
    pub(crate) frame: Option<HeightfieldFrame>,
    /// The layers, lowest first, or the whole tile.
    pub(crate) pieces: Vec<Piece>,
    /// Whether each piece is one layer of the tile.
    pub(crate) by_layer: bool,
    /// Whether authored links start here: they choose among all layers, so none is built alone.
    pub(crate) has_links: bool,
    /// The tiles of the first build, lowest layer first.
    pub(crate) first_tiles: Vec<Arc<NavTile>>,
    /// The tiles of the column as the cache last left them in the mesh. Another tile there, be it
    /// of the same content, was not put there by the cache.
    pub(crate) in_mesh: Vec<Arc<NavTile>>,
    /// Obstacles near this tile and few others, ascending.
    pub(crate) obstacles: Vec<u32>,
    /// Whether the tile is in the queue.
    pub(crate) queued: bool,
    /// Why the mesh does not hold the tile for the shapes in force, and will not while they stay.
    /// Only of tiles in the queue.
    pub(crate) refused: Option<Box<BuildError>>,
}

/// The spans of a layer, or of a whole tile.
#[derive(Debug, Default)]
pub(crate) struct Piece {
    /// Spans; `area` is what the piece was last built from, `region` is scratch.
    pub(crate) spans: OpenSpans,
    pub(crate) graph: SpanGraph,
    /// Layer of each span, for a whole tile that is partitioned by layers; else empty.
    pub(crate) layers: Vec<u32>,
    /// Areas of the first build: every rebuild starts from them.
    pub(crate) base_area: Vec<u8>,
    /// Whether the cache put what `spans.area` says into the mesh. Not after a restore.
    pub(crate) known: bool,
    /// Lowest and highest corner of the walkable spans' columns and floors; `None` without any.
    pub(crate) ground: Option<(DVec3, DVec3)>,
    /// What the outlines lost in the first build, and in the last one.
    pub(crate) first_flaws: OutlineFlaws,
    pub(crate) flaws: OutlineFlaws,
    /// What a repair starts from; pieces that are not one layer have none.
    pub(crate) first: Option<Box<FirstBuild>>,
}

impl CachedTile {
    /// Whether the tile waits to be rebuilt.
    pub(crate) fn waits(&self) -> bool {
        self.queued && self.refused.is_none()
    }

    /// What the outlines of all layers lost in the last build.
    pub(crate) fn flaws(&self) -> OutlineFlaws {
        let mut flaws = OutlineFlaws::default();
        for piece in &self.pieces {
            flaws.add(&piece.flaws);
        }
        flaws
    }

    /// Where the tile stands, for the stages.
    pub(crate) fn place<'a>(&self, plan: &'a TilePlan, frame: &HeightfieldFrame) -> Place<'a> {
        Place {
            plan,
            tile_x: self.tile_x,
            tile_z: self.tile_z,
            origin_y: frame.origin.y,
        }
    }
}

/// Finishes an eroded tile as the plain build does, and keeps it.
///
/// # Errors
/// The tile exceeds a limit of the format.
pub(crate) fn cache_tile(
    plan: &TilePlan,
    links: &LinkTable<'_>,
    options: &BuildOptions<'_>,
    tile: &mut ErodedTile<'_>,
) -> Result<CachedTile, BuildError> {
    let (x, z, frame) = (tile.tile_x, tile.tile_z, tile.frame);
    let mut layers = Vec::new();
    let count = decide_layers(plan, tile, &mut layers)?;
    mark_areas(plan, tile, options.volumes, options.obstacles);
    let mut cached = CachedTile {
        tile_x: x,
        tile_z: z,
        frame: Some(frame),
        by_layer: plan.partition == PartitionType::Layers && !plan.detail.samples(),
        has_links: links.any_in(x, z),
        ..CachedTile::default()
    };
    if cached.by_layer {
        cached.pieces = split_pieces(tile, &layers, count);
    } else {
        cached.pieces.push(Piece {
            spans: core::mem::take(tile.spans),
            graph: core::mem::take(tile.graph),
            layers,
            ..Piece::default()
        });
    }
    let place = cached.place(plan, &frame);
    let mut data = Vec::new();
    let by_layer = cached.by_layer;
    for (layer, piece) in cached.pieces.iter_mut().enumerate() {
        piece.seal(&frame);
        let stages = &mut tile.scratch.stages;
        if by_layer {
            let first = FirstBuild::build(&place, layer as u32, piece, stages, &mut data)?;
            piece.first = Some(Box::new(first));
        } else {
            piece.build(&place, stages, &mut data)?;
        }
        piece.first_flaws = stages.take_flaws();
        piece.flaws = piece.first_flaws;
    }
    options.report_flaws(x, z, cached.flaws());
    links.bake(&plan.params, x, z, &mut data);
    let tiles = checked_tiles(plan, data)?;
    cached.first_tiles = tiles.into_iter().map(Arc::new).collect();
    cached.in_mesh.clone_from(&cached.first_tiles);
    Ok(cached)
}

/// The layers of a tile, each on its own.
fn split_pieces(tile: &mut ErodedTile<'_>, layers: &[u32], count: u32) -> Vec<Piece> {
    let TileScratch { split, .. } = &mut *tile.scratch;
    if count == 1 {
        return vec![Piece {
            spans: core::mem::take(tile.spans),
            graph: core::mem::take(tile.graph),
            ..Piece::default()
        }];
    }
    split.rebuild(layers, count);
    let mut pieces = Vec::new();
    for layer in 0..count {
        let mut piece = Piece::default();
        let (spans, graph) = (&mut piece.spans, &mut piece.graph);
        split_layer(tile.spans, tile.graph, layers, split, layer, spans, graph);
        pieces.push(piece);
    }
    pieces
}

impl Piece {
    /// Remembers the areas as those of the first build, and what they cover.
    fn seal(&mut self, frame: &HeightfieldFrame) {
        self.base_area.clone_from(&self.spans.area);
        self.known = true;
        let (size, height) = (f64::from(frame.cell_size), f64::from(frame.cell_height));
        for (span, &area) in self.base_area.iter().enumerate() {
            if area == NULL_AREA {
                continue;
            }
            let cell = self.graph.cell[span];
            let low = frame.origin
                + DVec3::new(
                    f64::from(cell % frame.width) * size,
                    f64::from(self.spans.floor[span]) * height,
                    f64::from(cell / frame.width) * size,
                );
            let high = low + DVec3::new(size, 0.0, size);
            let (min, max) = self.ground.get_or_insert((low, high));
            *min = min.min(low);
            *max = max.max(high);
        }
        // Links are resolved in the graph, which is kept.
        self.spans.links = Vec::new();
    }

    /// Builds the piece from its areas alone and appends its tiles; for a piece that is the whole
    /// tile.
    ///
    /// # Errors
    /// The tile exceeds a limit of the format.
    pub(crate) fn build(
        &mut self,
        place: &Place<'_>,
        stages: &mut StageScratch,
        tiles: &mut Vec<TileData>,
    ) -> Result<(), BuildError> {
        let (spans, graph) = (&mut self.spans, &self.graph);
        build_stages(place, spans, graph, &self.layers, 0, stages, tiles)
    }
}

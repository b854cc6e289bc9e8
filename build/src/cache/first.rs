//! What the first build leaves of a layer, so that a rebuild can start from it.
//!
//! In: the spans of one layer. Out: its tile, as the stages build it, and a [`FirstBuild`]: the
//! region of every span, each region's size and first span, every traced loop with its simplified
//! form, the loop that owns each cell edge, and every region's contours. All of it is immutable.

use throng_soa::mesh::TileData;
use throng_soa::spans::OpenSpans;

use super::layers::Piece;
use crate::pipeline::BuildError;
use crate::voxel::contours::trace::LoopSet;
use crate::voxel::contours::{ContourSet, ContourVertex};
use crate::voxel::stages::{
    Place, StageScratch, cut_border, fill_outlines, outline_regions, partition,
};

/// The stages' tables after the first build of a layer.
#[derive(Debug, Default)]
pub(crate) struct FirstBuild {
    /// Region of each span before the border was cut; regions run on into the border.
    pub(crate) whole: Vec<u32>,
    /// Spans of each such region; entry 0 counts nothing.
    pub(crate) size: Vec<u32>,
    /// First span of each such region.
    pub(crate) start: Vec<u32>,
    /// Region of each span with the border cut: what outlines were traced on.
    pub(crate) region: Vec<u32>,
    /// Number of the border's region, the largest.
    pub(crate) border: u32,
    /// Area id of each region of `region`.
    pub(crate) region_area: Vec<u8>,
    /// Per span the directions whose edge is on an outline.
    pub(crate) edges: Vec<u8>,
    /// Loop of every such edge, by span and direction.
    pub(crate) owners: Vec<u32>,
    /// First entry of each span in `owners`.
    pub(crate) owner_first: Vec<u32>,
    /// Every loop as traced.
    pub(crate) loops: LoopSet,
    /// Every loop as simplified, with prefix offsets.
    pub(crate) simplified: Vec<ContourVertex>,
    pub(crate) simplified_first: Vec<u32>,
    /// Loops by region, in order of discovery, with prefix offsets.
    pub(crate) loop_order: Vec<u32>,
    pub(crate) loop_first: Vec<u32>,
    pub(crate) contours: ContourSet,
    /// The regions that dropped holes, ascending, with how many.
    pub(crate) dropped: Vec<(u32, u32)>,
    /// First contour of each region, and their number at the end.
    pub(crate) contour_first: Vec<u32>,
}

impl FirstBuild {
    /// Builds one layer from scratch, appends its tile if it has one, and keeps the tables.
    ///
    /// # Errors
    /// The tile exceeds a limit of the format.
    pub(crate) fn build(
        place: &Place<'_>,
        layer: u32,
        piece: &mut Piece,
        stages: &mut StageScratch,
        tiles: &mut Vec<TileData>,
    ) -> Result<Self, BuildError> {
        let mut first = Self::default();
        build_layer(place, layer, piece, stages, tiles, |spans| {
            first.measure(spans);
        })?;
        first.region.clone_from(&piece.spans.region);
        first.border = piece.spans.region_count;
        let traced = first.region.iter().any(|&r| r != 0 && r != first.border);
        if traced {
            first.keep_outlines(stages);
        } else {
            // Nothing was traced: the scratch holds some other layer's outlines.
            first.edges.resize(first.region.len(), 0);
            first.contours.clear();
            first.simplified_first.push(0);
            first.region_area.resize(first.border as usize + 1, 0);
        }
        first.index();
        Ok(first)
    }

    /// Sizes and first spans of the regions of `spans`.
    fn measure(&mut self, spans: &OpenSpans) {
        self.whole.clone_from(&spans.region);
        let rows = spans.region_count as usize + 1;
        self.size.resize(rows, 0);
        self.start.resize(rows, u32::MAX);
        for (span, &region) in self.whole.iter().enumerate() {
            if region != 0 {
                let region = region as usize;
                self.size[region] += 1;
                self.start[region] = self.start[region].min(span as u32);
            }
        }
    }

    fn keep_outlines(&mut self, stages: &StageScratch) {
        let scratch = &stages.contour;
        self.region_area.clone_from(&scratch.region_area);
        self.edges.clone_from(&scratch.trace.edges);
        self.loops.clone_from(&scratch.loops);
        self.simplified.clone_from(&scratch.simplified);
        self.simplified_first.clone_from(&scratch.simplified_first);
        self.loop_order.clone_from(&scratch.loop_order);
        self.loop_first.clone_from(&scratch.loop_first);
        self.contours.clone_from(&stages.contours);
        self.dropped.clone_from(&scratch.dropped);
    }

    /// Derives the tables that find loops by edge and contours by region.
    fn index(&mut self) {
        let mut count = 0;
        self.owner_first.extend(self.edges.iter().map(|bits| {
            let first = count;
            count += (bits & 15).count_ones();
            first
        }));
        self.owners.resize(count as usize, u32::MAX);
        for index in 0..self.loops.len() {
            for &edge in self.loops.loop_edges(index) {
                if let Some(slot) = self.owner_slot(edge) {
                    self.owners[slot] = index as u32;
                }
            }
        }
        self.loop_first.resize(self.border as usize + 2, 0);
        self.contour_first.resize(self.border as usize + 2, 0);
        for &region in &self.contours.region {
            self.contour_first[region as usize + 1] += 1;
        }
        for region in 0..=self.border as usize {
            self.contour_first[region + 1] += self.contour_first[region];
        }
    }

    /// The loop that owns a cell edge, if the edge is on an outline.
    #[inline]
    pub(crate) fn owner(&self, edge: u32) -> Option<u32> {
        self.owner_slot(edge).map(|slot| self.owners[slot])
    }

    #[inline]
    fn owner_slot(&self, edge: u32) -> Option<usize> {
        let (span, direction) = ((edge >> 2) as usize, edge & 3);
        let bits = self.edges[span];
        (bits >> direction & 1 != 0).then(|| {
            let below = bits & ((1 << direction) - 1);
            (self.owner_first[span] + below.count_ones()) as usize
        })
    }
}

/// Regions, outlines, polygons and detail of one layer from its areas alone; appends its tile if it
/// has one. `regions_known` sees the spans before the border is cut.
///
/// # Errors
/// The tile exceeds a limit of the format.
pub(crate) fn build_layer(
    place: &Place<'_>,
    layer: u32,
    piece: &mut Piece,
    stages: &mut StageScratch,
    tiles: &mut Vec<TileData>,
    regions_known: impl FnOnce(&OpenSpans),
) -> Result<(), BuildError> {
    // The stages see a tile of one layer, number 0.
    let mut layers = core::mem::take(&mut stages.region_layer);
    layers.clear();
    layers.resize(piece.spans.span_count(), 0);
    let spans = &mut piece.spans;
    let labelled = partition(
        place.plan,
        spans,
        &piece.graph,
        &layers,
        &mut stages.regions,
    );
    stages.region_layer = layers;
    labelled?;
    regions_known(spans);
    if !cut_border(place.plan, spans) {
        return Ok(());
    }
    outline_regions(place.plan, spans, &piece.graph, stages);
    fill_layer(place, layer, spans.region_count, stages, tiles)
}

/// Polygons and detail of `stages.contours`, all of one layer; appends its tile if it has one.
///
/// # Errors
/// The tile exceeds a limit of the format.
pub(crate) fn fill_layer(
    place: &Place<'_>,
    layer: u32,
    region_count: u32,
    stages: &mut StageScratch,
    tiles: &mut Vec<TileData>,
) -> Result<(), BuildError> {
    stages.region_layer.clear();
    stages.region_layer.resize(region_count as usize + 1, 0);
    fill_outlines(place, None, 1, layer, stages, tiles)
}

//! The stages after the spans, on one set of them: a whole tile or one layer of it.
//!
//! In: spans with their areas, and their graph. Out: one [`TileData`] per height layer that has
//! polygons, lowest layer first, and what the outlines lost on the way. A cache enters here.

use throng_soa::mesh::TileData;
use throng_soa::spans::{OpenSpans, SpanGraph};

use super::contours::{ContourScratch, ContourSet, SpanView, build_contours};
use super::detail::{DetailScratch, DetailSet, build_detail};
use super::plan::TilePlan;
use super::polygons::{PolygonScratch, PolygonSet, build_polygons};
use super::regions::{RegionScratch, build_monotone, build_watershed, label_layer_components};
use super::tile_arrays::write_tile;
use crate::pipeline::BuildError;
use crate::settings::PartitionType;

/// Where a tile stands and what it is built for.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) plan: &'a TilePlan,
    pub(crate) tile_x: i32,
    pub(crate) tile_z: i32,
    pub(crate) origin_y: f64,
}

impl Place<'_> {
    #[cold]
    pub(super) fn limit(&self, what: String) -> BuildError {
        BuildError::Limit {
            tile_x: self.tile_x,
            tile_z: self.tile_z,
            what,
        }
    }
}

/// Buffers of the stages after the spans.
#[derive(Debug, Default)]
pub(crate) struct StageScratch {
    pub(crate) regions: RegionScratch,
    pub(crate) contour: ContourScratch,
    pub(crate) contours: ContourSet,
    polygon: PolygonScratch,
    pub(super) polygons: PolygonSet,
    detail: DetailScratch,
    pub(super) details: DetailSet,
    pub(crate) region_layer: Vec<u32>,
    pub(super) renumber: Vec<u32>,
    flaws: OutlineFlaws,
}

impl StageScratch {
    /// The flaws of everything built since the last call.
    pub(crate) fn take_flaws(&mut self) -> OutlineFlaws {
        core::mem::take(&mut self.flaws)
    }
}

/// What the outlines of regions lost on their way to polygons. A region with a flaw is kept as far as
/// it could be triangulated, or left out; the others are not touched by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutlineFlaws {
    /// Corners that had to be cut off although they were no proper ears: area around them may be
    /// missing.
    pub forced_corners: u32,
    /// Holes that could not be joined to their outline and were filled.
    pub dropped_holes: u32,
    /// Outlines that gave no polygon.
    pub lost_outlines: u32,
}

impl OutlineFlaws {
    /// Whether nothing was lost.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn add(&mut self, more: &Self) {
        let add = |total: &mut u32, more: u32| *total = total.saturating_add(more);
        add(&mut self.forced_corners, more.forced_corners);
        add(&mut self.dropped_holes, more.dropped_holes);
        add(&mut self.lost_outlines, more.lost_outlines);
    }
}

/// Runs regions, contours, polygons and detail on one set of spans and appends its tiles. The
/// numbers in `layers` count from `first_layer`.
pub(crate) fn build_stages(
    place: &Place<'_>,
    spans: &mut OpenSpans,
    graph: &SpanGraph,
    layers: &[u32],
    first_layer: u32,
    scratch: &mut StageScratch,
    tiles: &mut Vec<TileData>,
) -> Result<(), BuildError> {
    partition(place.plan, spans, graph, layers, &mut scratch.regions)?;
    if !cut_border(place.plan, spans) {
        return Ok(());
    }
    outline_regions(place.plan, spans, graph, scratch);
    let layer_count = layers_of_regions(spans, layers, &mut scratch.region_layer);
    fill_outlines(place, Some(spans), layer_count, first_layer, scratch, tiles)
}

/// Contours of the regions of `spans`, whose border has been cut, into `scratch.contours`.
pub(crate) fn outline_regions(
    plan: &TilePlan,
    spans: &OpenSpans,
    graph: &SpanGraph,
    scratch: &mut StageScratch,
) {
    let mut contour_settings = plan.contours;
    contour_settings.border_region = spans.region_count;
    build_contours(
        &SpanView {
            width: spans.width,
            depth: spans.depth,
            floor: &spans.floor,
            area: &spans.area,
            region: &spans.region,
            neighbor: &graph.neighbor,
            cell: &graph.cell,
            region_count: spans.region_count,
        },
        &contour_settings,
        &mut scratch.contour,
        &mut scratch.contours,
    );
}

/// Polygons and detail of `scratch.contours`, appended as one tile per layer that has a polygon.
/// `scratch.region_layer` holds the layer of every region. `spans` may be left out when no heights
/// are sampled.
pub(crate) fn fill_outlines(
    place: &Place<'_>,
    spans: Option<&OpenSpans>,
    layer_count: u32,
    first_layer: u32,
    scratch: &mut StageScratch,
    tiles: &mut Vec<TileData>,
) -> Result<(), BuildError> {
    let plan = place.plan;
    build_polygons(
        &scratch.contours,
        plan.max_vertices,
        &plan.coordinates,
        &mut scratch.polygon,
        &mut scratch.polygons,
    );
    scratch.flaws.add(&OutlineFlaws {
        forced_corners: scratch.polygons.degenerate_ears,
        dropped_holes: scratch.contours.dropped_holes,
        lost_outlines: scratch.polygons.lost_contours,
    });
    if scratch.polygons.is_empty() {
        return Ok(());
    }
    let rows = scratch.polygons.vertices.iter().map(|v| v[1]);
    let (min_row, max_row) = rows.fold((i32::MAX, i32::MIN), |(a, b), y| (a.min(y), b.max(y)));
    let reach = f64::from(max_row - min_row + 2 * (plan.spans.walkable_climb + 1));
    if reach * plan.cell_height > plan.params.max_local_extent() {
        return Err(place.limit(format!(
            "its walkable ground spans {} units of height; a tile holds {}",
            reach * plan.cell_height,
            plan.params.max_local_extent()
        )));
    }
    build_detail(
        &scratch.polygons,
        spans,
        &plan.detail,
        &plan.coordinates,
        min_row,
        &mut scratch.detail,
        &mut scratch.details,
    );
    for layer in 0..layer_count {
        if let Some(tile) = write_tile(place, scratch, layer, first_layer, min_row)? {
            tiles.push(tile);
        }
    }
    Ok(())
}

/// Regions of `spans` by the plan's partition, before the border is cut.
pub(crate) fn partition(
    plan: &TilePlan,
    spans: &mut OpenSpans,
    graph: &SpanGraph,
    layers: &[u32],
    scratch: &mut RegionScratch,
) -> Result<(), BuildError> {
    let settings = &plan.regions;
    match plan.partition {
        PartitionType::Watershed => build_watershed(
            spans,
            graph,
            settings,
            &mut scratch.watershed,
            &mut scratch.filter,
        )?,
        PartitionType::Monotone => build_monotone(
            spans,
            graph,
            settings,
            &mut scratch.monotone,
            &mut scratch.filter,
        )?,
        PartitionType::Layers => label_layer_components(
            spans,
            graph,
            layers,
            settings,
            &mut scratch.layers,
            &mut scratch.filter,
        )?,
    }
    Ok(())
}

/// Gives every region span outside the tile's own cells one new region id, the largest. Returns
/// whether any region is left inside.
pub(crate) fn cut_border(plan: &TilePlan, spans: &mut OpenSpans) -> bool {
    let border_id = spans.region_count + 1;
    let (low, high) = (plan.border, plan.border + plan.tile_cells);
    let mut inside = false;
    let mut repaint = |region: &mut [u32], outside: bool| {
        if outside {
            for id in region.iter_mut().filter(|id| **id != 0) {
                *id = border_id;
            }
        } else {
            inside = inside || region.iter().any(|&id| id != 0);
        }
    };
    let (width, first) = (spans.width, &spans.cell_first);
    for z in 0..spans.depth {
        // A row of columns is one run of spans; cut it at the tile's two sides.
        let at = |x: u32| first[(x.min(width) + z * width) as usize] as usize;
        let row_outside = z < low || z >= high;
        repaint(&mut spans.region[at(0)..at(low)], true);
        repaint(&mut spans.region[at(low)..at(high)], row_outside);
        repaint(&mut spans.region[at(high)..at(width)], true);
    }
    spans.region_count = border_id;
    inside
}

/// Layer of every region, and the number of layers; all 0 when spans have no layers.
fn layers_of_regions(spans: &OpenSpans, layers: &[u32], out: &mut Vec<u32>) -> u32 {
    out.clear();
    out.resize(spans.region_count as usize + 1, 0);
    let mut count = 1;
    for (&region, &layer) in spans.region.iter().zip(layers) {
        if region != 0 {
            out[region as usize] = layer;
            count = count.max(layer + 1);
        }
    }
    count
}

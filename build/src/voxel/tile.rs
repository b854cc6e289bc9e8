//! One tile, from its triangles to the arrays a mesh stores.
//!
//! In: a [`TilePlan`] and the triangles that touch the tile's grid. Out: one [`TileData`] per
//! height layer that has polygons, lowest layer first. [`voxelize`] is the part that depends on
//! geometry, [`finish`] the part that depends on areas; a cache runs only the second again.

use throng_soa::mesh::assemble::{LocalPolygons, from_local_polygons};
use throng_soa::mesh::{DetailMesh, MAX_LAYER, TileData};
use throng_soa::spans::{
    MAX_COLUMN_SPANS, MAX_SPANS, OpenSpans, SpanColumns, SpanGraph, WALKABLE_AREA,
};
use throng_soa::world::DVec3;

use super::contours::{ContourScratch, ContourSet, SpanView, build_contours};
use super::detail::{DetailScratch, DetailSet, build_detail};
use super::frame::HeightfieldFrame;
use super::layers_first::{LayerSplit, split_layer};
use super::plan::TilePlan;
use super::polygons::{PolygonScratch, PolygonSet, build_polygons};
use super::rasterize::classify_triangles;
use super::regions::{
    RegionScratch, build_monotone, build_watershed, label_layer_components, span_layers,
};
use super::spans::{SpanScratch, build_open_spans, finish_open_spans};
use super::volumes::ConvexVolume;
use crate::cache::Obstacle;
use crate::pipeline::BuildError;
use crate::settings::PartitionType;

/// A worker's buffers for everything between triangles and tile arrays.
#[derive(Debug, Default)]
pub struct TileScratch {
    areas: Vec<u8>,
    voxels: SpanScratch,
    spans: OpenSpans,
    graph: SpanGraph,
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

/// Buffers of the stages after the spans.
#[derive(Debug, Default)]
pub(crate) struct StageScratch {
    pub(crate) regions: RegionScratch,
    pub(crate) contour: ContourScratch,
    pub(crate) contours: ContourSet,
    polygon: PolygonScratch,
    polygons: PolygonSet,
    detail: DetailScratch,
    details: DetailSet,
    pub(crate) region_layer: Vec<u32>,
    renumber: Vec<u32>,
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

/// Builds one tile from the triangles given, in their order.
///
/// # Errors
/// A coordinate or index is out of range, or a limit of the format is exceeded.
pub fn build_tile(
    plan: &TilePlan,
    tile_x: i32,
    tile_z: i32,
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
    volumes: &[ConvexVolume],
    scratch: &mut TileScratch,
) -> Result<Vec<TileData>, BuildError> {
    let mut spans = core::mem::take(&mut scratch.spans);
    let mut graph = core::mem::take(&mut scratch.graph);
    let built = voxelize(
        plan, tile_x, tile_z, vertices, triangles, scratch, &mut spans, &mut graph,
    )
    .and_then(|frame| match frame {
        Some(frame) => finish(
            plan,
            tile_x,
            tile_z,
            &frame,
            volumes,
            &[],
            &mut spans,
            &graph,
            scratch,
        ),
        None => Ok(Vec::new()),
    });
    scratch.spans = spans;
    scratch.graph = graph;
    built
}

/// The eroded open spans of a tile, and the frame they stand in; nothing without triangles.
///
/// # Errors
/// As [`build_tile`].
pub fn voxelize(
    plan: &TilePlan,
    tile_x: i32,
    tile_z: i32,
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
    scratch: &mut TileScratch,
    spans: &mut OpenSpans,
    graph: &mut SpanGraph,
) -> Result<Option<HeightfieldFrame>, BuildError> {
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

/// The eroded open spans of a tile whose matter stands in `scratch`'s columns already (see
/// [`TileScratch::columns_mut`]).
///
/// # Errors
/// A column holds too many spans.
pub fn voxelize_columns(
    plan: &TilePlan,
    tile_x: i32,
    tile_z: i32,
    frame: &HeightfieldFrame,
    scratch: &mut TileScratch,
    spans: &mut OpenSpans,
    graph: &mut SpanGraph,
) -> Result<(), BuildError> {
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

/// Regions to tile arrays, for the areas `spans` has after erosion, `volumes` and `obstacles`.
///
/// # Errors
/// A limit of the format is exceeded.
pub fn finish(
    plan: &TilePlan,
    tile_x: i32,
    tile_z: i32,
    frame: &HeightfieldFrame,
    volumes: &[ConvexVolume],
    obstacles: &[Obstacle],
    spans: &mut OpenSpans,
    graph: &SpanGraph,
    scratch: &mut TileScratch,
) -> Result<Vec<TileData>, BuildError> {
    let mut layers = core::mem::take(&mut scratch.layers);
    // From geometry alone: before volumes.
    let built =
        decide_layers(plan, tile_x, tile_z, spans, graph, scratch, &mut layers).and_then(|count| {
            for volume in volumes {
                volume.apply(frame, spans);
            }
            for obstacle in obstacles {
                obstacle.apply(frame, plan.spans.walkable_radius, spans);
            }
            build_layers(
                plan, tile_x, tile_z, frame, spans, graph, &layers, count, scratch,
            )
        });
    scratch.layers = layers;
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
    tile_x: i32,
    tile_z: i32,
    spans: &mut OpenSpans,
    graph: &SpanGraph,
    scratch: &mut TileScratch,
    layers: &mut Vec<u32>,
) -> Result<u32, BuildError> {
    layers.clear();
    if plan.partition != PartitionType::Layers {
        return Ok(1);
    }
    let regions = &mut scratch.stages.regions;
    let count = span_layers(
        spans,
        graph,
        &mut regions.layers,
        &mut regions.monotone,
        &mut regions.filter,
        layers,
    )?;
    if count > MAX_LAYER as u32 + 1 {
        return Err(BuildError::Limit {
            tile_x,
            tile_z,
            what: format!("{count} layers; a tile holds at most 1024"),
        });
    }
    Ok(count)
}

/// Regions to tile arrays, for the areas of `spans` and the `layer_count` layers that
/// [`decide_layers`] gave. Regions of `spans` are overwritten.
///
/// # Errors
/// A limit of the format is exceeded.
pub fn build_layers(
    plan: &TilePlan,
    tile_x: i32,
    tile_z: i32,
    frame: &HeightfieldFrame,
    spans: &mut OpenSpans,
    graph: &SpanGraph,
    layers: &[u32],
    layer_count: u32,
    scratch: &mut TileScratch,
) -> Result<Vec<TileData>, BuildError> {
    let TileScratch {
        stages,
        split,
        layer_spans,
        layer_graph,
        layer_zero,
        ..
    } = scratch;
    let place = Place {
        plan,
        tile_x,
        tile_z,
        origin_y: frame.origin.y,
    };
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
    fn limit(&self, what: String) -> BuildError {
        BuildError::Limit {
            tile_x: self.tile_x,
            tile_z: self.tile_z,
            what,
        }
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

/// The arrays of one layer, or nothing when it has no polygon.
fn write_tile(
    place: &Place<'_>,
    scratch: &mut StageScratch,
    layer: u32,
    first_layer: u32,
    min_row: i32,
) -> Result<Option<TileData>, BuildError> {
    let plan = place.plan;
    let polygons = &scratch.polygons;
    let region_layer = &scratch.region_layer;
    let in_layer = |index: &usize| region_layer[polygons.region[*index] as usize] == layer;
    let renumber = &mut scratch.renumber;
    renumber.clear();
    renumber.resize(polygons.vertices.len(), u32::MAX);
    let mut poly_count = 0;
    for index in (0..polygons.len()).filter(in_layer) {
        poly_count += 1;
        for &vertex in polygons.polygon(index) {
            renumber[vertex as usize] = 0;
        }
    }
    if poly_count == 0 {
        return Ok(None);
    }
    let mut vertices = Vec::new();
    for (&[x, y, z], number) in polygons.vertices.iter().zip(renumber.iter_mut()) {
        if *number == 0 {
            *number = vertices.len() as u32;
            vertices.push([
                plan.coordinates.corner(x),
                (f64::from(y - min_row) * plan.cell_height) as f32,
                plan.coordinates.corner(z),
            ]);
        }
    }
    if vertices.len() > 1 << 16 {
        return Err(place.limit(format!(
            "{} vertices in a layer; a tile holds at most 65536 (use smaller tiles)",
            vertices.len()
        )));
    }
    let mut local = LocalPolygons {
        tile_x: place.tile_x,
        tile_z: place.tile_z,
        layer: (first_layer + layer) as i32,
        origin_y: place.origin_y + f64::from(min_row) * plan.cell_height,
        vertices,
        poly_vertex_counts: Vec::with_capacity(poly_count),
        poly_indices: Vec::new(),
        areas: Vec::with_capacity(poly_count),
        flags: vec![plan.flags; poly_count],
    };
    let details = &scratch.details;
    let mut detail_meshes = Vec::with_capacity(poly_count);
    let mut detail_vertices: Vec<[f32; 3]> = Vec::new();
    let mut detail_triangles: Vec<[u8; 4]> = Vec::new();
    for index in (0..polygons.len()).filter(in_layer) {
        let ring = polygons.polygon(index);
        local.poly_vertex_counts.push(ring.len() as u8);
        local
            .poly_indices
            .extend(ring.iter().map(|&v| renumber[v as usize] as u16));
        let area = polygons.area[index];
        local.areas.push(if area == WALKABLE_AREA {
            plan.area
        } else {
            area
        });
        let extra = details.first_vertex[index] as usize..details.first_vertex[index + 1] as usize;
        let faces =
            details.first_triangle[index] as usize..details.first_triangle[index + 1] as usize;
        if faces.len() > usize::from(u16::MAX) {
            return Err(place.limit(format!("{} detail triangles in a polygon", faces.len())));
        }
        detail_meshes.push(DetailMesh {
            vertex_base: detail_vertices.len() as u32,
            triangle_base: detail_triangles.len() as u32,
            vertex_count: extra.len() as u16,
            triangle_count: faces.len() as u16,
        });
        detail_vertices.extend_from_slice(&details.vertices[extra]);
        detail_triangles.extend_from_slice(&details.triangles[faces]);
    }
    let mut data = from_local_polygons(local, &plan.params)?;
    data.detail_meshes = detail_meshes;
    data.detail_vertices = detail_vertices;
    data.detail_triangles = detail_triangles;
    Ok(Some(data))
}

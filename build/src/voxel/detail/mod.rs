//! Height detail: extra points where a polygon's plane strays from the floor.
//!
//! In: polygons on the tile's grid and the spans they were made from. Out: a [`DetailSet`], per
//! polygon extra vertices and triangles in the tile-local float32 positions a tile stores. All
//! geometry decisions are exact predicates on those positions; errors and lookups are plain double
//! arithmetic in a fixed order.
//!
//! Steps per polygon: points along the edges (`edges`), a Delaunay triangulation of the outline
//! (`hull`; Lawson, "Software for C1 surface interpolation", 1977, for the flips), then the sample
//! with the largest error is inserted until none is above the limit (`refine`; after Garland and
//! Heckbert, "Fast polygonal approximation of terrains and height fields", 1995).

mod edges;
mod heights;
mod hull;
mod refine;
mod triangulation;

use throng_soa::spans::OpenSpans;

use crate::voxel::coordinates::TileCoordinates;
use crate::voxel::polygons::PolygonSet;
use heights::Heights;
use triangulation::{Point, Triangulation};

/// Most vertices of a polygon with its detail: triangle corners are bytes.
pub const MAX_DETAIL_VERTICES: usize = 255;

/// What the detail stage is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DetailSettings {
    /// Spacing of samples, cells. At most 0.9 turns detail off.
    pub sample_distance: f64,
    /// Largest error left at a sample, world units.
    pub max_error: f64,
    /// Height of a row, world units.
    pub cell_height: f64,
    /// Highest step of the agent, rows: how far from the expected row a floor is looked for.
    pub walkable_climb: i32,
}

impl DetailSettings {
    /// Whether heights are sampled at all.
    #[must_use]
    pub fn samples(&self) -> bool {
        self.sample_distance > 0.9
    }
}

/// Detail of all polygons, flat.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DetailSet {
    /// First extra vertex of each polygon, and the count at the end.
    pub first_vertex: Vec<u32>,
    /// First triangle of each polygon, and the count at the end.
    pub first_triangle: Vec<u32>,
    /// Extra vertices, tile-local.
    pub vertices: Vec<[f32; 3]>,
    /// Triangles: three corners (polygon vertices first, then extra ones) and edge flags.
    pub triangles: Vec<[u8; 4]>,
}

impl DetailSet {
    fn clear(&mut self) {
        self.first_vertex.clear();
        self.first_vertex.push(0);
        self.first_triangle.clear();
        self.first_triangle.push(0);
        self.vertices.clear();
        self.triangles.clear();
    }

    fn close_polygon(&mut self) {
        self.first_vertex.push(self.vertices.len() as u32);
        self.first_triangle.push(self.triangles.len() as u32);
    }
}

/// Buffers a worker keeps between tiles.
#[derive(Debug, Default)]
pub struct DetailScratch {
    corners: Vec<[i32; 3]>,
    points: Vec<Point>,
    ring: Vec<u16>,
    edges: edges::EdgeScratch,
    hull: hull::HullScratch,
    mesh: Triangulation,
    refine: refine::RefineScratch,
}

/// Builds the detail of every polygon. `spans` may be left out when nothing is sampled.
///
/// `min_row` is the row at the tile's local height 0.
pub fn build_detail(
    polygons: &PolygonSet,
    spans: Option<&OpenSpans>,
    settings: &DetailSettings,
    coordinates: &TileCoordinates,
    min_row: i32,
    scratch: &mut DetailScratch,
    out: &mut DetailSet,
) {
    out.clear();
    let place = Placement {
        coordinates,
        min_row: f64::from(min_row),
        cell_height: settings.cell_height,
    };
    let heights = spans
        .filter(|_| settings.samples())
        .map(|spans| Heights::new(spans, settings.walkable_climb));
    for index in 0..polygons.len() {
        scratch.corners.clear();
        scratch.corners.extend(
            polygons
                .polygon(index)
                .iter()
                .map(|&v| polygons.vertices[v as usize]),
        );
        build_one(
            polygons.region[index],
            heights.as_ref(),
            settings,
            &place,
            scratch,
            out,
        );
    }
}

/// From cells and rows to stored positions.
#[derive(Clone, Copy)]
struct Placement<'a> {
    coordinates: &'a TileCoordinates,
    min_row: f64,
    cell_height: f64,
}

impl Placement<'_> {
    fn height(&self, row: f64) -> f32 {
        ((row - self.min_row) * self.cell_height) as f32
    }

    fn point(&self, x: f64, row: f64, z: f64) -> Point {
        Point::stored(
            self.coordinates.local(x),
            self.height(row),
            self.coordinates.local(z),
        )
    }
}

fn build_one(
    region: u32,
    heights: Option<&Heights<'_>>,
    settings: &DetailSettings,
    place: &Placement<'_>,
    scratch: &mut DetailScratch,
    out: &mut DetailSet,
) {
    let count = scratch.corners.len();
    scratch.points.clear();
    for &[x, y, z] in &scratch.corners {
        scratch.points.push(Point::stored(
            place.coordinates.corner(x),
            place.height(f64::from(y)),
            place.coordinates.corner(z),
        ));
    }
    scratch.ring.clear();
    match heights {
        Some(heights) => edges::add_edge_points(
            &scratch.corners,
            heights,
            settings,
            place,
            &mut scratch.edges,
            &mut scratch.points,
            &mut scratch.ring,
        ),
        None => scratch.ring.extend(0..count as u16),
    }
    hull::triangulate_ring(
        &scratch.points,
        &scratch.ring,
        &mut scratch.hull,
        &mut scratch.mesh,
    );
    if let Some(heights) = heights {
        refine::collect_samples(
            &scratch.corners,
            region,
            heights,
            settings,
            place,
            &mut scratch.refine,
        );
        refine::insert_worst_samples(
            settings.max_error,
            &mut scratch.points,
            &mut scratch.mesh,
            &mut scratch.refine,
        );
    }
    out.vertices
        .extend(scratch.points[count..].iter().map(|p| p.as_stored()));
    out.triangles.extend(scratch.mesh.output());
    out.close_polygon();
}

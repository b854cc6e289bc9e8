//! Convex polygons from contours.
//!
//! In: a [`ContourSet`] on the corner grid. Out: a [`PolygonSet`] over welded vertices, every
//! polygon convex and counter-clockwise both on the grid and in the float32 positions a tile stores,
//! with at most the wanted number of corners. Steps per contour: straight wall corners are taken
//! back (`walls`), ears are clipped (`ears`), corners are welded (`weld`) and triangles merged
//! (`merge`). Contours are handled in order and never merged with each other.

mod ears;
mod merge;
#[cfg(test)]
mod oracle_tests;
mod walls;
mod weld;

use crate::voxel::contours::{ContourSet, ContourVertex};
use crate::voxel::coordinates::TileCoordinates;

/// Polygons over shared vertices, flat.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolygonSet {
    /// Vertices as x (cells), y (rows), z (cells) of the tile's grid.
    pub vertices: Vec<[i32; 3]>,
    /// First index of each polygon, and the index count at the end.
    pub first: Vec<u32>,
    /// Vertex numbers of all polygons.
    pub indices: Vec<u32>,
    /// Region of each polygon.
    pub region: Vec<u32>,
    /// Area id of each polygon.
    pub area: Vec<u8>,
    /// Corners that had to be cut off although they were not proper ears.
    pub degenerate_ears: u32,
    /// Contours that gave no polygon at all.
    pub lost_contours: u32,
}

impl PolygonSet {
    /// Number of polygons.
    #[must_use]
    pub fn len(&self) -> usize {
        self.region.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.region.is_empty()
    }

    /// Vertex numbers of one polygon.
    #[must_use]
    pub fn polygon(&self, index: usize) -> &[u32] {
        &self.indices[self.first[index] as usize..self.first[index + 1] as usize]
    }

    fn clear(&mut self) {
        self.vertices.clear();
        self.first.clear();
        self.first.push(0);
        self.indices.clear();
        self.region.clear();
        self.area.clear();
        self.degenerate_ears = 0;
        self.lost_contours = 0;
    }
}

/// A triangle over welded vertices; `wall[k]` tells about the side from vertex `k`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WeldedTriangle {
    pub(crate) vertex: [u32; 3],
    pub(crate) wall: [bool; 3],
}

/// Buffers a worker keeps between tiles.
#[derive(Debug, Default)]
pub struct PolygonScratch {
    ring: Vec<ContourVertex>,
    ears: ears::EarScratch,
    triangles: Vec<[u32; 3]>,
    welder: weld::Welder,
    welded: Vec<u32>,
    welded_triangles: Vec<WeldedTriangle>,
    merge: merge::MergeScratch,
}

/// Turns every contour into convex polygons of at most `max_vertices` corners (3 to 16).
///
/// Cost: about `n log n` in the corners of a contour.
pub fn build_polygons(
    contours: &ContourSet,
    max_vertices: usize,
    coordinates: &TileCoordinates,
    scratch: &mut PolygonScratch,
    out: &mut PolygonSet,
) {
    out.clear();
    let max_vertices = max_vertices.clamp(3, 16);
    scratch.welder.start(contours.vertices.len());
    for index in 0..contours.len() {
        let polygons_before = out.len();
        walls::without_straight_wall_corners(contours.contour(index), &mut scratch.ring);
        let ring = &scratch.ring;
        scratch.triangles.clear();
        out.degenerate_ears +=
            ears::clip_ears(ring, coordinates, &mut scratch.ears, &mut scratch.triangles);
        scratch.welded.clear();
        for corner in ring {
            let position = [corner.x, corner.y, corner.z];
            let vertex = scratch.welder.vertex(&mut out.vertices, position);
            scratch.welded.push(vertex);
        }
        weld_triangles(
            ring,
            &scratch.welded,
            &scratch.triangles,
            &mut scratch.welded_triangles,
        );
        merge::merge_triangles(
            &scratch.welded_triangles,
            max_vertices,
            contours.region[index],
            contours.area[index],
            coordinates,
            &mut scratch.merge,
            out,
        );
        out.lost_contours += u32::from(out.len() == polygons_before);
    }
}

/// Renames triangle corners to welded vertices and marks wall sides; triangles that lost a corner
/// to welding are dropped.
fn weld_triangles(
    ring: &[ContourVertex],
    welded: &[u32],
    triangles: &[[u32; 3]],
    out: &mut Vec<WeldedTriangle>,
) {
    out.clear();
    for triangle in triangles {
        let vertex = triangle.map(|corner| welded[corner as usize]);
        if vertex[0] == vertex[1] || vertex[1] == vertex[2] || vertex[2] == vertex[0] {
            continue;
        }
        let mut wall = [false; 3];
        for k in 0..3 {
            let (from, to) = (triangle[k] as usize, triangle[(k + 1) % 3] as usize);
            let follows = to == if from + 1 == ring.len() { 0 } else { from + 1 };
            wall[k] = follows && ring[from].neighbor == 0;
        }
        out.push(WeldedTriangle { vertex, wall });
    }
}

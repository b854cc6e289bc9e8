//! Outlines of regions: traced along cell edges, simplified, holes joined in.
//!
//! In: the spans of one tile (or one layer of it) with their regions and mutual neighbours. Out: a
//! [`ContourSet`], one counter-clockwise loop of corners per outline, holes joined to it by
//! bridges. Corner coordinates are cells of the tile grid, heights are rows.
//!
//! Integer arithmetic, except that squared distances are compared as doubles of exactly
//! representable integers, so both sides of a shared border take the same decisions. Nothing
//! depends on hash order or thread count.
//!
//! Steps: [`trace`], [`simplify`] (after Douglas and Peucker, "Algorithms for the reduction of the
//! number of points required to represent a digitized line", 1973), [`holes`]. Departures from the
//! paper: a stretch's farthest vertex is found by distance to the segment, not the line, and ties
//! go to the lexicographically smaller corner.

pub mod holes;
#[cfg(test)]
mod oracle_tests;
pub mod simplify;
pub mod trace;

use simplify::{SimplifyRule, SimplifyScratch, simplify_loop};
use trace::{LoopSet, TraceScratch, trace_loops};

/// Neighbour value of an edge on the rim of the tile's grid.
pub const TILE_BORDER: i32 = -1;

/// A corner of an outline and the edge that leaves it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContourVertex {
    /// Corner, in cells of the grid.
    pub x: i32,
    /// Floor row at the corner.
    pub y: i32,
    /// Corner, in cells of the grid.
    pub z: i32,
    /// What lies beyond the edge to the next corner: a region, 0 (a wall) or [`TILE_BORDER`]. The
    /// contour's own region on the two edges of a hole bridge.
    pub neighbor: i32,
}

impl ContourVertex {
    #[inline]
    pub(crate) fn same_corner(self, other: Self) -> bool {
        self.x == other.x && self.z == other.z
    }

    #[inline]
    pub(crate) fn distance_squared(self, other: Self) -> i64 {
        let dx = i64::from(self.x - other.x);
        let dz = i64::from(self.z - other.z);
        dx * dx + dz * dz
    }
}

/// The spans outlines are traced on: columns of one tile or one layer of a tile.
#[derive(Clone, Copy, Debug)]
pub struct SpanView<'a> {
    /// Cells along x.
    pub width: u32,
    /// Cells along z.
    pub depth: u32,
    /// Floor row per span.
    pub floor: &'a [u16],
    /// Area id per span.
    pub area: &'a [u8],
    /// Region per span, 0 for none.
    pub region: &'a [u32],
    /// Mutual neighbour per span and direction (−x, +z, +x, −z), `u32::MAX` for none.
    pub neighbor: &'a [[u32; 4]],
    /// Column `x + z * width` per span.
    pub cell: &'a [u32],
    /// Largest region number.
    pub region_count: u32,
}

/// How outlines are simplified.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContourSettings {
    /// How far a wall may stray from the traced corners. Cells; 0 keeps every bend.
    pub max_error: f32,
    /// Longest wall edge before it is split in half. Cells; 0 never splits.
    pub max_edge_length: i32,
    /// Whether borders between two regions of one area become single edges between their ends.
    pub straight_region_borders: bool,
    /// A region that stands for the band around a tile: its border is always followed closely and
    /// its own outlines are not traced. 0 for none.
    pub border_region: u32,
}

impl Default for ContourSettings {
    fn default() -> Self {
        Self {
            max_error: 1.3,
            max_edge_length: 12,
            straight_region_borders: true,
            border_region: 0,
        }
    }
}

/// The outlines of all regions, by region and then in the order they were found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContourSet {
    /// Region of each contour.
    pub region: Vec<u32>,
    /// Area id of each contour's region.
    pub area: Vec<u8>,
    /// First vertex of each contour, and the vertex count at the end.
    pub first: Vec<u32>,
    /// Vertices of all contours, counter-clockwise (x right, z up).
    pub vertices: Vec<ContourVertex>,
    /// Holes that could not be joined to an outline.
    pub dropped_holes: u32,
    /// Loops whose simplified form crossed itself and was replaced.
    pub raw_fallbacks: u32,
}

impl ContourSet {
    /// Number of contours.
    #[must_use]
    pub fn len(&self) -> usize {
        self.region.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.region.is_empty()
    }

    /// The vertices of one contour.
    #[must_use]
    pub fn contour(&self, index: usize) -> &[ContourVertex] {
        &self.vertices[self.first[index] as usize..self.first[index + 1] as usize]
    }

    /// Removes all contours and keeps the memory.
    pub fn clear(&mut self) {
        self.region.clear();
        self.area.clear();
        self.first.clear();
        self.first.push(0);
        self.vertices.clear();
        self.dropped_holes = 0;
        self.raw_fallbacks = 0;
    }
}

/// Buffers a worker keeps between tiles.
#[derive(Debug, Default)]
pub struct ContourScratch {
    pub(crate) trace: TraceScratch,
    pub(crate) loops: LoopSet,
    pub(crate) simplify: SimplifyScratch,
    pub(crate) simplified: Vec<ContourVertex>,
    pub(crate) simplified_first: Vec<u32>,
    /// Area id of every region.
    pub(crate) region_area: Vec<u8>,
    /// Loops grouped by region, in order of discovery; a region's range is in `loop_first`.
    pub(crate) loop_order: Vec<u32>,
    pub(crate) loop_first: Vec<u32>,
    pub(crate) holes: holes::HoleScratch,
    /// The regions that dropped holes, ascending, with how many.
    pub(crate) dropped: Vec<(u32, u32)>,
}

impl ContourScratch {
    /// The loops as traced for the last call of [`build_contours`], before simplification.
    #[must_use]
    pub fn loops(&self) -> &LoopSet {
        &self.loops
    }
}

/// Traces and simplifies the outlines of all regions but the border region into `out`.
///
/// Cost: linear in spans and traced edges, plus a logarithm per bridge and crossing test.
pub fn build_contours(
    view: &SpanView<'_>,
    settings: &ContourSettings,
    scratch: &mut ContourScratch,
    out: &mut ContourSet,
) {
    out.clear();
    trace_loops(
        view,
        settings.border_region,
        &mut scratch.trace,
        &mut scratch.loops,
    );
    region_areas(view, &mut scratch.region_area);
    let rule = SimplifyRule::new(settings, &scratch.region_area);
    scratch.simplified.clear();
    scratch.simplified_first.clear();
    scratch.simplified_first.push(0);
    for index in 0..scratch.loops.len() {
        out.raw_fallbacks += u32::from(simplify_loop(
            scratch.loops.vertices(index),
            scratch.loops.area2[index],
            scratch.loops.region[index],
            &rule,
            &mut scratch.simplify,
            &mut scratch.simplified,
        ));
        scratch
            .simplified_first
            .push(scratch.simplified.len() as u32);
    }
    order_by_region(
        &scratch.loops,
        view.region_count,
        &mut scratch.loop_order,
        &mut scratch.loop_first,
    );
    let simplified = holes::LoopTable {
        vertices: &scratch.simplified,
        first: &scratch.simplified_first,
    };
    let raw = holes::LoopTable {
        vertices: &scratch.loops.vertices,
        first: &scratch.loops.first,
    };
    scratch.dropped.clear();
    for region in 1..=view.region_count {
        let dropped_before = out.dropped_holes;
        let range = scratch.loop_first[region as usize] as usize
            ..scratch.loop_first[region as usize + 1] as usize;
        holes::join_region(
            &holes::RegionLoops {
                region,
                area: scratch.region_area[region as usize],
                loops: &scratch.loop_order[range],
                area2: &scratch.loops.area2,
                simplified,
                raw,
            },
            &mut scratch.holes,
            out,
        );
        let dropped = out.dropped_holes - dropped_before;
        if dropped != 0 {
            scratch.dropped.push((region, dropped));
        }
    }
}

/// Area id of every region (index 0 is area 0), from its first span.
fn region_areas(view: &SpanView<'_>, out: &mut Vec<u8>) {
    out.clear();
    out.resize(view.region_count as usize + 1, 0);
    for (&region, &area) in view.region.iter().zip(view.area) {
        if region != 0 {
            let slot = &mut out[region as usize];
            if *slot == 0 {
                *slot = area;
            }
        }
    }
}

/// Loop indices grouped by region, in order of discovery within one.
fn order_by_region(loops: &LoopSet, region_count: u32, order: &mut Vec<u32>, first: &mut Vec<u32>) {
    first.clear();
    first.resize(region_count as usize + 2, 0);
    for &region in &loops.region {
        first[region as usize + 1] += 1;
    }
    for i in 1..first.len() {
        first[i] += first[i - 1];
    }
    order.clear();
    order.resize(loops.len(), 0);
    // `first[r]` walks to the start of region r + 1 while filling and is shifted back after.
    for (index, &region) in loops.region.iter().enumerate() {
        let slot = &mut first[region as usize];
        order[*slot as usize] = index as u32;
        *slot += 1;
    }
    for i in (1..first.len()).rev() {
        first[i] = first[i - 1];
    }
    first[0] = 0;
}

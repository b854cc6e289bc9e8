//! Walks the borders of regions cell edge by cell edge.
//!
//! In: spans with regions and mutual neighbours. Out: closed loops of corners, the region always on
//! the left (x right, z up), so an outline runs counter-clockwise and a hole clockwise. The doubled
//! areas of a region's loops add up to twice its span count, and their lengths to the number of its
//! border edges.

use super::{ContourVertex, SpanView, TILE_BORDER};

/// Closed loops of corners, flat.
#[derive(Clone, Debug)]
pub struct LoopSet {
    /// Region of each loop.
    pub region: Vec<u32>,
    /// Twice the signed area of each loop: positive for outlines, negative for holes.
    pub area2: Vec<i64>,
    /// First vertex of each loop, and the vertex count at the end.
    pub first: Vec<u32>,
    /// Corners of all loops.
    pub vertices: Vec<ContourVertex>,
    /// The cell edge that leaves each corner: four times its span, plus its direction.
    pub edges: Vec<u32>,
}

impl Default for LoopSet {
    fn default() -> Self {
        Self {
            region: Vec::new(),
            area2: Vec::new(),
            first: vec![0],
            vertices: Vec::new(),
            edges: Vec::new(),
        }
    }
}

impl LoopSet {
    /// Number of loops.
    #[must_use]
    pub fn len(&self) -> usize {
        self.region.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.region.is_empty()
    }

    /// Corners of one loop.
    #[must_use]
    pub fn vertices(&self, index: usize) -> &[ContourVertex] {
        &self.vertices[self.first[index] as usize..self.first[index + 1] as usize]
    }

    /// Cell edges of one loop, one a corner.
    #[must_use]
    pub fn loop_edges(&self, index: usize) -> &[u32] {
        &self.edges[self.first[index] as usize..self.first[index + 1] as usize]
    }

    pub(crate) fn clear(&mut self) {
        self.region.clear();
        self.area2.clear();
        self.first.clear();
        self.first.push(0);
        self.vertices.clear();
        self.edges.clear();
    }
}

/// Per span: bits 0..4 the directions that are borders, bits 4..8 those not walked yet.
#[derive(Debug, Default)]
pub struct TraceScratch {
    pub(crate) edges: Vec<u8>,
}

/// Cell step of a direction: −x, +z, +x, −z.
const STEP_X: [i32; 4] = [-1, 0, 1, 0];
const STEP_Z: [i32; 4] = [0, 1, 0, -1];
/// Start corner of a direction's edge, from the cell's low corner.
const CORNER_X: [i32; 4] = [0, 1, 1, 0];
const CORNER_Z: [i32; 4] = [1, 1, 0, 0];

/// Traces every loop of every region except `skip_region`, starting each at the lowest border edge
/// (span, then direction) not walked yet.
pub fn trace_loops(
    view: &SpanView<'_>,
    skip_region: u32,
    scratch: &mut TraceScratch,
    out: &mut LoopSet,
) {
    out.clear();
    mark_border_edges(view, skip_region, &mut scratch.edges);
    for span in 0..scratch.edges.len() {
        while scratch.edges[span] >> 4 != 0 {
            let direction = (scratch.edges[span] >> 4).trailing_zeros() as usize;
            trace_one(view, &mut scratch.edges, span, direction, out);
        }
    }
}

fn mark_border_edges(view: &SpanView<'_>, skip_region: u32, edges: &mut Vec<u8>) {
    edges.clear();
    edges.reserve(view.region.len());
    for (&region, neighbors) in view.region.iter().zip(view.neighbor) {
        let mut bits = 0_u8;
        if region != 0 && region != skip_region {
            for (direction, &neighbor) in neighbors.iter().enumerate() {
                let beyond = view.region.get(neighbor as usize).copied().unwrap_or(0);
                bits |= u8::from(beyond != region) << direction;
            }
        }
        edges.push(bits | bits << 4);
    }
}

/// Walks one loop from a border edge and appends it. `edges` is the column of [`TraceScratch`].
pub(crate) fn trace_one(
    view: &SpanView<'_>,
    edges: &mut [u8],
    start_span: usize,
    start_direction: usize,
    out: &mut LoopSet,
) {
    let first = out.vertices.len();
    let cell = view.cell[start_span];
    let mut x = (cell % view.width) as i32;
    let mut z = (cell / view.width) as i32;
    let (mut span, mut direction) = (start_span, start_direction);
    loop {
        if edges[span] >> direction & 1 != 0 {
            out.vertices.push(ContourVertex {
                x: x + CORNER_X[direction],
                y: corner_row(view, span, direction),
                z: z + CORNER_Z[direction],
                neighbor: beyond(view, span, direction, x, z),
            });
            out.edges.push((span * 4 + direction) as u32);
            edges[span] &= !(16 << direction);
            direction = (direction + 3) & 3;
        } else {
            span = view.neighbor[span][direction] as usize;
            x += STEP_X[direction];
            z += STEP_Z[direction];
            direction = (direction + 1) & 3;
        }
        if span == start_span && direction == start_direction {
            break;
        }
    }
    out.region.push(view.region[start_span]);
    out.area2.push(signed_area2(&out.vertices[first..]));
    out.first.push(out.vertices.len() as u32);
}

/// Neighbour value of a border edge.
#[inline]
fn beyond(view: &SpanView<'_>, span: usize, direction: usize, x: i32, z: i32) -> i32 {
    let neighbor = view.neighbor[span][direction] as usize;
    if let Some(&region) = view.region.get(neighbor) {
        return region as i32;
    }
    let nx = x + STEP_X[direction];
    let nz = z + STEP_Z[direction];
    let inside = nx >= 0 && nz >= 0 && nx < view.width as i32 && nz < view.depth as i32;
    if inside { 0 } else { TILE_BORDER }
}

/// Highest floor around the start corner of an edge: the span, the two spans linked across the
/// corner's edges, and the one diagonally opposite, reached through either of them.
#[inline]
fn corner_row(view: &SpanView<'_>, span: usize, direction: usize) -> i32 {
    let turned = (direction + 1) & 3;
    let mut row = view.floor[span];
    for (a, b) in [(direction, turned), (turned, direction)] {
        let side = view.neighbor[span][a] as usize;
        if let Some(&floor) = view.floor.get(side) {
            row = row.max(floor);
            let diagonal = view.neighbor[side][b] as usize;
            if let Some(&floor) = view.floor.get(diagonal) {
                row = row.max(floor);
            }
        }
    }
    i32::from(row)
}

/// Twice the signed area of a closed loop (x right, z up).
#[must_use]
pub fn signed_area2(vertices: &[ContourVertex]) -> i64 {
    let Some(mut previous) = vertices.last() else {
        return 0;
    };
    let mut sum = 0;
    for vertex in vertices {
        sum += i64::from(previous.x) * i64::from(vertex.z)
            - i64::from(vertex.x) * i64::from(previous.z);
        previous = vertex;
    }
    sum
}

//! Merges the triangles of one contour into convex polygons, the longest shared edge first.
//!
//! In: triangles as welded vertices, with the edges that are walls. Out: polygons appended to a
//! [`PolygonSet`]. After Hertel and Mehlhorn, "Fast triangulation of simple polygons", 1983.
//!
//! Departures: (1) the order is fixed: longest shared edge, then the lower polygon, then the earlier
//! edge of it. A queue of pairs gives that order; a pair is looked at again only when one of its
//! polygons has changed. (2) Polygons must also be convex in the stored float32 positions. (3) A
//! corner that is left straight between two wall edges is dropped rather than kept, since rounding
//! could tip it over.

use std::collections::BinaryHeap;

use super::{PolygonSet, WeldedTriangle};
use crate::voxel::coordinates::TileCoordinates;

const NONE: u32 = u32::MAX;
/// Most corners of a ring while two polygons are being tried together.
const MOST: usize = 32;

/// One side of a polygon: the vertex it starts at, the triangle side it was made from, and whether
/// it is a wall.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    vertex: u32,
    half: u32,
    wall: bool,
}

/// A pair of polygons that share an edge, ordered as merges are tried (greatest first).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    length: i64,
    lower: core::cmp::Reverse<u32>,
    side: core::cmp::Reverse<u32>,
    half: u32,
    other_half: u32,
    stamp: u32,
    other_stamp: u32,
}

/// A worker's buffers for [`merge_triangles`].
#[derive(Debug, Default)]
pub(crate) struct MergeScratch {
    /// Sides of every polygon, `stride` apart.
    sides: Vec<Side>,
    size: Vec<u8>,
    /// Changes of a polygon so far; `NONE` once merged away.
    stamp: Vec<u32>,
    /// Polygon that owns each triangle side; `NONE` once the side is inside a polygon.
    owner: Vec<u32>,
    /// Vertices of each triangle side.
    from: Vec<u32>,
    to: Vec<u32>,
    /// Triangle sides grouped by the two vertices they join.
    sorted: Vec<(u32, u32, u32)>,
    /// Group of each side, as a range of `sorted`.
    group: Vec<(u32, u32)>,
    queue: BinaryHeap<Pair>,
}

/// Merges the triangles of one contour and appends the polygons, in order of their first triangle.
pub(crate) fn merge_triangles(
    triangles: &[WeldedTriangle],
    max_vertices: usize,
    region: u32,
    area: u8,
    coordinates: &TileCoordinates,
    scratch: &mut MergeScratch,
    out: &mut PolygonSet,
) {
    scratch.load(triangles, max_vertices);
    for polygon in 0..triangles.len() as u32 {
        scratch.queue_pairs(polygon, max_vertices, &out.vertices, true);
    }
    while let Some(pair) = scratch.queue.pop() {
        scratch.try_pair(pair, max_vertices, &out.vertices, coordinates);
    }
    for polygon in 0..triangles.len() {
        if scratch.stamp[polygon] == NONE {
            continue;
        }
        let first = polygon * max_vertices;
        let sides = &scratch.sides[first..first + usize::from(scratch.size[polygon])];
        out.indices.extend(sides.iter().map(|side| side.vertex));
        out.first.push(out.indices.len() as u32);
        out.region.push(region);
        out.area.push(area);
    }
}

impl MergeScratch {
    fn load(&mut self, triangles: &[WeldedTriangle], stride: usize) {
        let halves = triangles.len() * 3;
        self.sides.clear();
        self.sides.resize(triangles.len() * stride, Side::default());
        self.size.clear();
        self.size.resize(triangles.len(), 3);
        self.stamp.clear();
        self.stamp.resize(triangles.len(), 0);
        self.owner.clear();
        self.from.clear();
        self.to.clear();
        self.sorted.clear();
        self.queue.clear();
        for (index, triangle) in triangles.iter().enumerate() {
            for k in 0..3 {
                let half = (index * 3 + k) as u32;
                let (from, to) = (triangle.vertex[k], triangle.vertex[(k + 1) % 3]);
                self.sides[index * stride + k] = Side {
                    vertex: from,
                    half,
                    wall: triangle.wall[k],
                };
                self.owner.push(index as u32);
                self.from.push(from);
                self.to.push(to);
                self.sorted.push((from.min(to), from.max(to), half));
            }
        }
        self.sorted.sort_unstable();
        self.group.clear();
        self.group.resize(halves, (0, 0));
        let mut start = 0;
        while start < halves {
            let (low, high, _) = self.sorted[start];
            let mut end = start + 1;
            while end < halves && (self.sorted[end].0, self.sorted[end].1) == (low, high) {
                end += 1;
            }
            for entry in start..end {
                self.group[self.sorted[entry].2 as usize] = (start as u32, end as u32);
            }
            start = end;
        }
    }

    /// Queues every pair of `polygon` and a polygon that has one of its edges the other way round;
    /// with `only_higher` the pairs whose other polygon comes later.
    fn queue_pairs(
        &mut self,
        polygon: u32,
        stride: usize,
        vertices: &[[i32; 3]],
        only_higher: bool,
    ) {
        let size = usize::from(self.size[polygon as usize]);
        for k in 0..size {
            let half = self.sides[polygon as usize * stride + k].half;
            if half == NONE {
                continue; // a wall over a dropped corner: no triangle side, nothing behind it
            }
            let (start, end) = self.group[half as usize];
            for entry in start..end {
                let other = self.sorted[entry as usize].2;
                let owner = self.owner[other as usize];
                if owner == NONE
                    || owner == polygon
                    || self.from[other as usize] != self.to[half as usize]
                    || (only_higher && owner < polygon)
                    || self.owner[half as usize] != polygon
                {
                    continue;
                }
                let (first, second) = if polygon < owner {
                    (half, other)
                } else {
                    (other, half)
                };
                self.queue_pair(first, second, stride, vertices);
            }
        }
    }

    fn queue_pair(&mut self, half: u32, other_half: u32, stride: usize, vertices: &[[i32; 3]]) {
        let lower = self.owner[half as usize];
        let higher = self.owner[other_half as usize];
        let [ax, _, az] = vertices[self.from[half as usize] as usize];
        let [bx, _, bz] = vertices[self.to[half as usize] as usize];
        let (dx, dz) = (i64::from(bx - ax), i64::from(bz - az));
        self.queue.push(Pair {
            length: dx * dx + dz * dz,
            lower: core::cmp::Reverse(lower),
            side: core::cmp::Reverse(self.side_of(lower, half, stride)),
            half,
            other_half,
            stamp: self.stamp[lower as usize],
            other_stamp: self.stamp[higher as usize],
        });
    }

    fn side_of(&self, polygon: u32, half: u32, stride: usize) -> u32 {
        let first = polygon as usize * stride;
        let sides = &self.sides[first..first + usize::from(self.size[polygon as usize])];
        sides.iter().position(|side| side.half == half).unwrap_or(0) as u32
    }

    /// Merges the pair if both polygons are as they were when it was queued and the result is valid.
    fn try_pair(
        &mut self,
        pair: Pair,
        max_vertices: usize,
        vertices: &[[i32; 3]],
        coordinates: &TileCoordinates,
    ) {
        let (a, b) = (
            self.owner[pair.half as usize],
            self.owner[pair.other_half as usize],
        );
        if a == NONE
            || b == NONE
            || a == b
            || self.stamp[a as usize] != pair.stamp
            || self.stamp[b as usize] != pair.other_stamp
        {
            return;
        }
        let (a_size, b_size) = (
            usize::from(self.size[a as usize]),
            usize::from(self.size[b as usize]),
        );
        if a_size + b_size - 2 > max_vertices {
            return;
        }
        let mut ring = [Side::default(); MOST];
        let mut count = 0;
        // `a` from the end of the shared side round to its start, then `b` in the same way; each
        // polygon contributes all its sides but the shared one.
        let mut joints = [0; 2];
        for (turn, (polygon, half, size)) in [(a, pair.half, a_size), (b, pair.other_half, b_size)]
            .into_iter()
            .enumerate()
        {
            let shared = self.side_of(polygon, half, max_vertices) as usize;
            joints[turn] = count;
            for step in 1..size {
                let side = (shared + step) % size;
                ring[count] = self.sides[polygon as usize * max_vertices + side];
                count += 1;
            }
        }
        let mut gone = [NONE; 4];
        let Some(count) = settle(&mut ring, count, joints, vertices, coordinates, &mut gone) else {
            return;
        };
        for half in [pair.half, pair.other_half].into_iter().chain(gone) {
            if half != NONE {
                self.owner[half as usize] = NONE;
            }
        }
        for k in 0..b_size {
            let half = self.sides[b as usize * max_vertices + k].half as usize;
            if self.owner.get(half) == Some(&b) {
                self.owner[half] = a;
            }
        }
        let first = a as usize * max_vertices;
        self.sides[first..first + count].copy_from_slice(&ring[..count]);
        self.size[a as usize] = count as u8;
        self.stamp[a as usize] += 1;
        self.stamp[b as usize] = NONE;
        self.queue_pairs(a, max_vertices, vertices, false);
    }
}

/// Checks the ring of two merged polygons and drops straight wall corners at the joints. Returns
/// the size of the ring, or nothing when the merge is not valid. `gone` takes the triangle sides
/// that end with a dropped corner.
fn settle(
    ring: &mut [Side; MOST],
    mut count: usize,
    joints: [usize; 2],
    vertices: &[[i32; 3]],
    coordinates: &TileCoordinates,
    gone: &mut [u32; 4],
) -> Option<usize> {
    for i in 0..count {
        for j in i + 1..count {
            if ring[i].vertex == ring[j].vertex {
                return None;
            }
        }
    }
    let at = |side: Side| {
        let [x, _, z] = vertices[side.vertex as usize];
        (x, z)
    };
    let mut drop = [false; MOST];
    for joint in joints {
        let previous = (joint + count - 1) % count;
        let (p, v, n) = (
            at(ring[previous]),
            at(ring[joint]),
            at(ring[(joint + 1) % count]),
        );
        let turn = i64::from(v.0 - p.0) * i64::from(n.1 - p.1)
            - i64::from(n.0 - p.0) * i64::from(v.1 - p.1);
        if turn < 0 {
            return None;
        }
        drop[joint] = turn == 0 && ring[previous].wall && ring[joint].wall;
    }
    if drop[joints[0]] || drop[joints[1]] {
        for (turn, joint) in joints.into_iter().enumerate() {
            if drop[joint] {
                let previous = (joint + count - 1) % count;
                gone[2 * turn] = ring[joint].half;
                gone[2 * turn + 1] = ring[previous].half;
                ring[previous].half = NONE;
            }
        }
        let mut write = 0;
        for read in 0..count {
            if !drop[read] {
                ring[write] = ring[read];
                write += 1;
            }
        }
        count = write;
        if count < 3 {
            return None;
        }
    }
    // Turns away from the joints have not changed and were not right turns; testing them again is
    // cheaper than tracking which ones are next to a dropped corner.
    for i in 0..count {
        let (p, v, n) = (
            at(ring[(i + count - 1) % count]),
            at(ring[i]),
            at(ring[(i + 1) % count]),
        );
        if coordinates.turn(p, v, n) < 0 {
            return None;
        }
    }
    Some(count)
}

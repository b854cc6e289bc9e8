//! What of a tile lies over what, seen from above: it tells a search where it need not look any farther.
//!
//! In: a validated tile. Out: for each polygon those it is stacked with, the ones that share no vertex with
//! it and lie over it, under it or within [`APART`] beside it; or nothing at all where the tile is *folded*:
//!
//! - the polygons around one of its vertices do not stand in one fan, each the neighbour of the next, which
//!   does not turn onto itself and, unless it is closed, leaves a gap;
//! - a corner of it, or that gap, is [`THIN`];
//! - it is stacked with more than [`MOST`].
//!
//! Only polygons that a search could get to from one another count: an *island* is what neighbours join, and
//! all islands on the tile's border are one, for there is a world beyond it.
//!
//! Take a disc, and polygons that cover it, joined by neighbours across edges that meet the disc. If none
//! of them is folded, then every other polygon of
//! their island that meets the disc is stacked with one of them.

use std::ops::Range;

use super::data::{NO_PORTAL, TileData};
use super::tile::{NavTile, TileGeometry};
use super::tree::PolyTree;
use crate::predicates::orient2d;
use crate::world::DVec3;

/// Polygons without a common vertex are apart from this distance on, world units.
pub const APART: f64 = 1e-3;

/// Sine of the thinnest corner and the narrowest gap.
const THIN: f64 = 1e-3;

/// Most polygons that one is stacked with.
const MOST: usize = 16;

/// Polygons looked at per polygon, on average; where boxes lie on each other in heaps, the rest is
/// folded. Real tiles take about ten.
const LOOKS: usize = 256;

const FOLDED: u32 = 1 << 31;

/// Which polygons of a tile are stacked.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sheet {
    /// Prefix offsets of the polygons into `stacked`, with [`FOLDED`] for those that are.
    first: Vec<u32>,
    stacked: Vec<u32>,
}

impl Sheet {
    /// Looks at every polygon, its vertices and what is near it. `O(n log n)` for tiles whose polygons lie
    /// side by side, never more than `O(n)` pairs.
    pub(super) fn find(tile: &NavTile, tree: &PolyTree) -> Self {
        let (data, geometry) = (tile.data(), &**tile);
        let polys = tile.poly_count();
        let search = Search {
            data,
            geometry,
            first: &tile.poly_first,
            islands: islands(data, &tile.poly_first),
        };
        let mut folded: Vec<bool> = (0..polys)
            .map(|poly| search.has_thin_corner(poly))
            .collect();
        let mut corners = Corners::of(data, &tile.poly_first);
        for vertex in 0..data.vertices.len() {
            let around = corners.around(vertex);
            around.sort_unstable_by_key(|&(poly, _)| search.islands[poly as usize]);
            for fan in
                around.chunk_by(|a, b| search.islands[a.0 as usize] == search.islands[b.0 as usize])
            {
                if !search.is_fan(vertex, fan) {
                    fan.iter()
                        .for_each(|&(poly, _)| folded[poly as usize] = true);
                }
            }
        }
        let mut first = Vec::with_capacity(polys + 1);
        let mut stack = Stack {
            vertices_of: vec![0; data.vertices.len()],
            looks: LOOKS * polys,
            stacked: Vec::new(),
        };
        for (poly, &folded) in folded.iter().enumerate() {
            let start = stack.stacked.len();
            if folded || !stack.add(&search, tree, poly) {
                stack.stacked.truncate(start);
                first.push(start as u32 | FOLDED);
            } else {
                first.push(start as u32);
            }
        }
        first.push(stack.stacked.len() as u32);
        Self {
            first,
            stacked: stack.stacked,
        }
    }

    /// The polygons that `poly` is stacked with; `None` where it is folded.
    #[inline]
    pub(super) fn stacked_with(&self, poly: usize) -> Option<&[u32]> {
        let &[start, end] = self.first.get(poly..)?.first_chunk()?;
        self.stacked.get(start as usize..(end & !FOLDED) as usize)
    }
}

struct Search<'t> {
    data: &'t TileData,
    geometry: &'t TileGeometry,
    first: &'t [u32],
    islands: Vec<u32>,
}

impl Search<'_> {
    fn ring(&self, poly: usize) -> &[DVec3] {
        &self.geometry.ring[self.edges(poly)]
    }

    fn vertices(&self, poly: usize) -> &[u16] {
        &self.data.poly_indices[self.edges(poly)]
    }

    fn edges(&self, poly: usize) -> Range<usize> {
        let first = self.first;
        first[poly] as usize..first[poly + 1] as usize
    }

    fn has_thin_corner(&self, poly: usize) -> bool {
        let ring = self.ring(poly);
        let count = ring.len();
        (0..count).any(|k| {
            is_narrow(
                ring[k],
                ring[(k + 1) % count],
                ring[(k + count - 1) % count],
            )
        })
    }

    /// Whether the polygons with a corner at `vertex` follow each other from neighbour to neighbour, turning
    /// to the left, once around at most.
    fn is_fan(&self, vertex: usize, around: &[(u32, u8)]) -> bool {
        let neighbor = |poly: u32, edge: usize| {
            self.data.edge_neighbors[self.first[poly as usize] as usize + edge]
        };
        // The right end: nothing is beyond the edge that leaves the vertex.
        let mut ends = around
            .iter()
            .filter(|&&(poly, corner)| neighbor(poly, usize::from(corner)) <= 0);
        let (end, another) = (ends.next(), ends.next());
        let Some(&start) = end.or(around.first()) else {
            return true;
        };
        if another.is_some() {
            return false;
        }
        let local = |vertex: u16| {
            let [x, _, z] = self.data.vertices[usize::from(vertex)];
            [f64::from(x), f64::from(z)]
        };
        let center = local(vertex as u16);
        let (mut poly, mut corner) = (start.0, usize::from(start.1));
        let first =
            local(self.vertices(poly as usize)[next_of(self.vertices(poly as usize), corner)]);
        for seen in 1..=around.len() {
            let ring = self.vertices(poly as usize);
            let right = local(ring[next_of(ring, corner)]);
            let before = before_of(ring, corner);
            let left = local(ring[before]);
            // The first edge in this corner: the fan is closed, or it has turned onto itself.
            let meets_first =
                orient2d(center, right, first) > 0.0 && orient2d(center, first, left) >= 0.0;
            let beyond = neighbor(poly, before);
            let is_last = seen == around.len();
            if beyond <= 0 {
                let [center, first, left] =
                    [center, first, left].map(|[x, z]| DVec3::new(x, 0.0, z));
                return is_last && !meets_first && !is_narrow(center, left, first);
            }
            poly = (beyond - 1) as u32;
            let ring = self.vertices(poly as usize);
            let Some(at) = ring.iter().position(|&other| usize::from(other) == vertex) else {
                return false;
            };
            corner = at;
            if is_last {
                let is_closed = (poly, corner) == (start.0, usize::from(start.1));
                return is_closed && meets_first && orient2d(center, first, left) == 0.0;
            }
            if meets_first {
                return false;
            }
        }
        false
    }
}

/// What polygons are stacked with, gathered polygon by polygon.
struct Stack {
    /// By vertex: the last polygon gathered for that has it, plus 1.
    vertices_of: Vec<u32>,
    /// Polygons that may still be looked at.
    looks: usize,
    stacked: Vec<u32>,
}

impl Stack {
    /// Appends what `poly` is stacked with; whether that is not too much and looks were left to see it.
    fn add(&mut self, search: &Search<'_>, tree: &PolyTree, poly: usize) -> bool {
        if self.looks == 0 {
            return false;
        }
        let mark = poly as u32 + 1;
        for &vertex in search.vertices(poly) {
            self.vertices_of[usize::from(vertex)] = mark;
        }
        let (lows, highs) = (&search.geometry.bounds_min, &search.geometry.bounds_max);
        let far = DVec3::new(APART, f64::INFINITY, APART);
        let (low, high) = (lows[poly] - far, highs[poly] + far);
        let most = self.stacked.len() + MOST;
        let mut fits = true;
        tree.visit(low, high, |other| {
            self.looks = self.looks.saturating_sub(1);
            fits &= self.looks > 0;
            let (min, max) = (lows[other], highs[other]);
            let is_near = min.x <= high.x && max.x >= low.x && min.z <= high.z && max.z >= low.z;
            if !(fits && is_near && search.islands[other] == search.islands[poly]) {
                return;
            }
            // Polygons that share a vertex, this one with itself among them, are not stacked.
            let mut vertices = search.vertices(other).iter();
            if vertices.any(|&vertex| self.vertices_of[usize::from(vertex)] == mark) {
                return;
            }
            let (a, b) = (search.ring(poly), search.ring(other));
            if !(is_parted_by_an_edge(a, b) || is_parted_by_an_edge(b, a)) {
                fits = self.stacked.len() < most;
                self.stacked.push(other as u32);
            }
        });
        fits
    }
}

/// The island of each polygon: 0 for those joined to the tile's border, a number of its own for any other.
fn islands(data: &TileData, first: &[u32]) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let polys = data.poly_vertex_counts.len();
    let mut islands = vec![NONE; polys];
    let mut found = Vec::new();
    for start in 0..polys {
        if islands[start] != NONE {
            continue;
        }
        found.clear();
        found.push(start);
        islands[start] = start as u32 + 1;
        let (mut number, mut is_open) = (0, false);
        while let Some(&poly) = found.get(number) {
            number += 1;
            for edge in first[poly] as usize..first[poly + 1] as usize {
                is_open |= data.edge_portal_sides[edge] != NO_PORTAL;
                let Ok(neighbor) = usize::try_from(data.edge_neighbors[edge] - 1) else {
                    continue;
                };
                if islands[neighbor] == NONE {
                    islands[neighbor] = start as u32 + 1;
                    found.push(neighbor);
                }
            }
        }
        if is_open {
            found.iter().for_each(|&poly| islands[poly] = 0);
        }
    }
    islands
}

/// Whether the line along an edge of `ring` has all of `other` on its far side, [`APART`] from it.
fn is_parted_by_an_edge(ring: &[DVec3], other: &[DVec3]) -> bool {
    let Some(&last) = ring.last() else {
        return false;
    };
    let mut a = last;
    for &b in ring {
        let (ex, ez) = (b.x - a.x, b.z - a.z);
        let least = APART * (ex * ex + ez * ez).sqrt();
        let is_beyond = |p: &DVec3| ez * (p.x - a.x) - ex * (p.z - a.z) >= least;
        if least > 0.0 && other.iter().all(is_beyond) {
            return true;
        }
        a = b;
    }
    false
}

/// Whether the angle at `center` between two directions, from `right` to `left` the short way or the long
/// way round, is nearly nothing.
fn is_narrow(center: DVec3, right: DVec3, left: DVec3) -> bool {
    let (ax, az) = (right.x - center.x, right.z - center.z);
    let (bx, bz) = (left.x - center.x, left.z - center.z);
    let (dot, cross) = (ax * bx + az * bz, ax * bz - az * bx);
    dot >= 0.0 && cross.abs() <= THIN * dot
}

fn next_of(ring: &[u16], corner: usize) -> usize {
    if corner + 1 < ring.len() {
        corner + 1
    } else {
        0
    }
}

fn before_of(ring: &[u16], corner: usize) -> usize {
    if corner > 0 {
        corner - 1
    } else {
        ring.len() - 1
    }
}

/// The corners of all polygons by vertex.
struct Corners {
    first: Vec<u32>,
    /// Polygon and which of its corners.
    corners: Vec<(u32, u8)>,
}

impl Corners {
    fn of(data: &TileData, poly_first: &[u32]) -> Self {
        let mut first = vec![0_u32; data.vertices.len() + 2];
        for &vertex in &data.poly_indices {
            first[usize::from(vertex) + 2] += 1;
        }
        for vertex in 2..first.len() {
            first[vertex] += first[vertex - 1];
        }
        let mut corners = vec![(0, 0); data.poly_indices.len()];
        for (poly, ends) in poly_first.windows(2).enumerate() {
            let ring = &data.poly_indices[ends[0] as usize..ends[1] as usize];
            for (corner, &vertex) in ring.iter().enumerate() {
                let place = &mut first[usize::from(vertex) + 1];
                corners[*place as usize] = (poly as u32, corner as u8);
                *place += 1;
            }
        }
        Self { first, corners }
    }

    fn around(&mut self, vertex: usize) -> &mut [(u32, u8)] {
        &mut self.corners[self.first[vertex] as usize..self.first[vertex + 1] as usize]
    }
}

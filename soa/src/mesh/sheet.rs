//! What of a tile lies over what, seen from above: it tells a search where it need not look any farther.
//!
//! In: a validated tile. Out: for each polygon those it is stacked with, the ones that share no vertex with
//! it and lie over it, under it or within [`APART`] beside it; or nothing at all where the polygon is
//! *folded*:
//!
//! - the polygons around one of its vertices do not stand in one fan, each the neighbour of the next, which
//!   does not turn onto itself and, unless it is closed, leaves a gap;
//! - a corner at one of its vertices, or that gap, is [`THIN`];
//! - it is stacked with more than [`MAX_STACKED`], or looking for what it is stacked with took too long
//!   ([`BUDGET`]).
//!
//! Only polygons that a search could get to from one another count: an *island* is what neighbours join, and
//! all islands on the tile's border are one, for there is a world beyond it.
//!
//! Take a disc around a point in a polygon, and polygons that cover it as far as walls let them, joined
//! by neighbours across edges that meet the disc. Let none of them be folded. Then any other polygon of
//! their island that comes as near as the disc's rim touches one of them, or all but touches it across a
//! wall, as far as rounding goes. If the two share no vertex, they are stacked. If they do, the place is
//! at that vertex, for away from it they are [`THIN`] times the way apart; and the fan around the vertex
//! joins them by edges that meet a disc wider by a thousand times what rounding makes. So who has looked
//! that far, and at what is stacked with what was found, has seen all there is. Vertices are taken as the
//! tile has them; those of the world are rounded.

use std::ops::Range;

use super::data::{NO_PORTAL, TileData};
use super::tile::NavTile;
use super::tree::PolyTree;
use crate::predicates::orient2d;
use crate::world::DVec3;

/// Polygons without a common vertex are apart from this distance on, world units.
const APART: f64 = 1e-3;

/// Sine of the thinnest corner and the narrowest gap.
const THIN: f64 = 1e-3;

/// Most polygons that one is stacked with.
const MAX_STACKED: usize = 16;

/// Looks per polygon that is not folded, on average: nodes and polygons of the tree, and vertices of the
/// pairs compared. Where boxes lie on each other in heaps they run out, and polygons of higher index are
/// folded. Real tiles take about a hundred.
const BUDGET: usize = 256;

/// Marks the offset of a folded polygon.
const FOLDED: u32 = 1 << 31;

/// Seen from above.
type Point = [f64; 2];

/// Which polygons of a tile are stacked.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sheet {
    /// Prefix offsets of the polygons into `stacked`, with [`FOLDED`] for those that are.
    first: Vec<u32>,
    stacked: Vec<u32>,
}

impl Sheet {
    /// Looks at every polygon, its vertices and what is near it. `O(n log n)` for tiles whose polygons lie
    /// side by side, and never more than a few
    /// thousand comparisons per polygon.
    pub(super) fn find(tile: &NavTile, tree: &PolyTree) -> Self {
        let polys = tile.poly_count();
        let shape = Shape {
            data: tile.data(),
            first: &tile.poly_first,
            islands: islands(tile.data(), &tile.poly_first),
        };
        let folded = shape.folded();
        let mut first = Vec::with_capacity(polys + 1);
        let mut stack = Stack {
            vertices_of: vec![0; shape.data.vertices.len()],
            looks: BUDGET * folded.iter().filter(|&&folded| !folded).count(),
            ..Stack::default()
        };
        for (poly, &folded) in folded.iter().enumerate() {
            let start = stack.stacked.len();
            if folded || !stack.add(tile, &shape, tree, poly) {
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

    /// The polygons that `poly` is stacked with; `None` where it is folded, or is not there.
    #[inline]
    pub(super) fn stacked_with(&self, poly: usize) -> Option<&[u32]> {
        let &[start, end] = self.first.get(poly..)?.first_chunk()?;
        // A marked start is behind every end.
        self.stacked.get(start as usize..(end & !FOLDED) as usize)
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

/// The polygons of a tile and their islands.
struct Shape<'t> {
    data: &'t TileData,
    first: &'t [u32],
    islands: Vec<u32>,
}

impl Shape<'_> {
    /// Which polygons have a vertex with something other than a fan around it.
    fn folded(&self) -> Vec<bool> {
        let mut folded = vec![false; self.data.poly_vertex_counts.len()];
        let mut corners = Corners::of(self.data, self.first);
        for vertex in 0..self.data.vertices.len() {
            let around = corners.around(vertex);
            let island = |corner: &(u32, u8)| self.islands[corner.0 as usize];
            around.sort_unstable_by_key(island);
            for fan in around.chunk_by(|a, b| island(a) == island(b)) {
                if !self.is_fan(vertex, fan) {
                    fan.iter()
                        .for_each(|&(poly, _)| folded[poly as usize] = true);
                }
            }
        }
        folded
    }

    /// Whether the polygons with a corner at `vertex` follow each other from neighbour to neighbour, turning
    /// to the left, once around at most, with no corner or gap too thin.
    fn is_fan(&self, vertex: usize, around: &[(u32, u8)]) -> bool {
        // The right end: nothing is beyond the edge that leaves the vertex.
        let mut ends = around
            .iter()
            .filter(|&&(poly, corner)| self.neighbor(poly, usize::from(corner)) <= 0);
        let (end, another) = (ends.next(), ends.next());
        let Some(&(start, corner)) = end.or(around.first()) else {
            return true;
        };
        if another.is_some() {
            return false;
        }
        let center = self.at(vertex as u16);
        let (mut poly, mut corner) = (start, usize::from(corner));
        let first = self.at(next_of(self.vertices(start as usize), corner).1);
        for seen in 1..=around.len() {
            let ring = self.vertices(poly as usize);
            let right = self.at(next_of(ring, corner).1);
            let (edge, left) = previous_of(ring, corner);
            let left = self.at(left);
            if is_narrow(center, right, left) {
                return false;
            }
            // The first edge in this corner: the fan is closed, or it has turned onto itself.
            let turn = orient2d(center, first, left);
            let meets_first = if turn == 0.0 {
                dot(center, first, left) > 0.0
            } else {
                turn > 0.0 && orient2d(center, right, first) > 0.0
            };
            let is_last = seen == around.len();
            let beyond = self.neighbor(poly, edge);
            if beyond <= 0 {
                return is_last && !meets_first && !is_narrow(center, left, first);
            }
            poly = (beyond - 1) as u32;
            let ring = self.vertices(poly as usize);
            let Some(at) = ring.iter().position(|&other| usize::from(other) == vertex) else {
                return false;
            };
            corner = at;
            if is_last {
                return poly == start && meets_first && turn == 0.0;
            }
            if meets_first {
                return false;
            }
        }
        false
    }

    fn at(&self, vertex: u16) -> Point {
        let [x, _, z] = self.data.vertices[usize::from(vertex)];
        [f64::from(x), f64::from(z)]
    }

    fn vertices(&self, poly: usize) -> &[u16] {
        &self.data.poly_indices[self.edges(poly)]
    }

    fn edges(&self, poly: usize) -> Range<usize> {
        let first = self.first;
        first[poly] as usize..first[poly + 1] as usize
    }

    fn neighbor(&self, poly: u32, edge: usize) -> i32 {
        self.data.edge_neighbors[self.first[poly as usize] as usize + edge]
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

/// Where the edge that leaves a corner goes to: which corner, and its vertex.
fn next_of(ring: &[u16], corner: usize) -> (usize, u16) {
    let next = if corner + 1 < ring.len() {
        corner + 1
    } else {
        0
    };
    (next, ring[next])
}

/// Where the edge that comes to a corner begins.
fn previous_of(ring: &[u16], corner: usize) -> (usize, u16) {
    let before = if corner > 0 { corner } else { ring.len() } - 1;
    (before, ring[before])
}

/// Whether the angle at `center` between two directions is nearly nothing.
fn is_narrow(center: Point, a: Point, b: Point) -> bool {
    let (ax, az) = (a[0] - center[0], a[1] - center[1]);
    let (bx, bz) = (b[0] - center[0], b[1] - center[1]);
    let (dot, cross) = (ax * bx + az * bz, ax * bz - az * bx);
    dot >= 0.0 && cross.abs() <= THIN * dot
}

fn dot(center: Point, a: Point, b: Point) -> f64 {
    (a[0] - center[0]) * (b[0] - center[0]) + (a[1] - center[1]) * (b[1] - center[1])
}

/// What polygons are stacked with, gathered polygon by polygon.
#[derive(Default)]
struct Stack {
    /// By vertex: the last polygon gathered for that has it, plus 1.
    vertices_of: Vec<u32>,
    /// What may still be looked at: nodes and polygons of the tree, vertices of pairs.
    looks: usize,
    stacked: Vec<u32>,
    outlines: [Vec<Point>; 2],
}

impl Stack {
    /// Appends what `poly` is stacked with; whether that is not too much and looks were left to see it.
    fn add(&mut self, tile: &NavTile, shape: &Shape<'_>, tree: &PolyTree, poly: usize) -> bool {
        if self.looks == 0 {
            return false;
        }
        let mark = poly as u32 + 1;
        let [outline, other_outline] = &mut self.outlines;
        outline.clear();
        for &vertex in shape.vertices(poly) {
            self.vertices_of[usize::from(vertex)] = mark;
            outline.push(shape.at(vertex));
        }
        let (lows, highs) = (&tile.bounds_min, &tile.bounds_max);
        // Twice as far as polygons are apart: these boxes are rounded.
        let far = DVec3::splat(2.0 * APART);
        let (low, high) = (lows[poly] - far, highs[poly] + far);
        let most = self.stacked.len() + MAX_STACKED;
        let is_near = |min: DVec3, max: DVec3| {
            min.x <= high.x && max.x >= low.x && min.z <= high.z && max.z >= low.z
        };
        let mut at = 0;
        while let Some(node) = tree.nodes.get(at) {
            self.looks = self.looks.saturating_sub(1 + node.count as usize);
            if self.looks == 0 {
                return false;
            }
            if !is_near(node.min, node.max) {
                at = node.skip as usize;
                continue;
            }
            for &other in &tree.order[node.first as usize..(node.first + node.count) as usize] {
                let other = other as usize;
                if !is_near(lows[other], highs[other])
                    || shape.islands[other] != shape.islands[poly]
                {
                    continue;
                }
                // Polygons that share a vertex, this one with itself among them, are not stacked.
                let vertices = shape.vertices(other);
                let is_shared = |&vertex: &u16| self.vertices_of[usize::from(vertex)] == mark;
                if vertices.iter().any(is_shared) {
                    continue;
                }
                self.looks = self.looks.saturating_sub(outline.len() + vertices.len());
                other_outline.clear();
                other_outline.extend(vertices.iter().map(|&vertex| shape.at(vertex)));
                if is_parted_by_an_edge(outline, other_outline)
                    || is_parted_by_an_edge(other_outline, outline)
                {
                    continue;
                }
                if self.stacked.len() == most {
                    return false;
                }
                self.stacked.push(other as u32);
            }
            // An inner node goes on with the first of its two halves, a leaf with what follows.
            at += 1;
        }
        true
    }
}

/// Whether the line along an edge of an outline has all of another on its far side, [`APART`] from it.
fn is_parted_by_an_edge(outline: &[Point], other: &[Point]) -> bool {
    let Some(&last) = outline.last() else {
        return false;
    };
    let mut a = last;
    for &b in outline {
        let (ex, ez) = (b[0] - a[0], b[1] - a[1]);
        let least = APART * (ex * ex + ez * ez).sqrt();
        let is_beyond = |p: &Point| ez * (p[0] - a[0]) - ex * (p[1] - a[1]) >= least;
        if least > 0.0 && other.iter().all(is_beyond) {
            return true;
        }
        a = b;
    }
    false
}

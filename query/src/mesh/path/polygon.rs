//! The polygon node model: one node per polygon, standing where the cheapest route found so far
//! enters it.
//!
//! Leaving a polygon through an edge, the entry point of the next one is where the straight line
//! from here to the end meets the edge in X/Z, clamped to the edge (to the linked part of it at a
//! tile border). A node is improved when its estimated total falls, even if it was expanded; it is
//! then opened again.

use super::super::filter::Filter;
use super::super::outline::edge_ends;
use super::super::status::QueryStatus;
use super::{NO_NODE, Question, TERMINAL, off_mesh_crossing, travel_cost};
use throng_soa::DVec3;
use throng_soa::mesh::{Link, LinkKind, PolyRef, Tile, TiledMesh};
use throng_soa::world::distance3;

/// Estimates below the expanded node's by more than this factor cannot be improved from it: they
/// are at most the estimate of every route through it, up to rounding of a few parts in 10^16.
const SETTLED: f64 = 1.0 - 1e-12;
/// Most edges of a polygon.
const MAX_VERTICES: usize = 16;

/// A polygon's node. One row is one cache line: an expansion reads all of its own row, and a
/// relaxation that succeeds writes all of another.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Node {
    /// Where the route enters the polygon.
    entry: DVec3,
    /// Cost of the route to `entry`.
    cost: f64,
    poly: PolyRef,
    /// Polygon of the parent.
    came_from: PolyRef,
    parent: u32,
    /// Rank of the first expansion; `u32::MAX` before it.
    rank: u32,
    closed: bool,
}

/// A neighbour being priced.
#[derive(Clone, Copy, Debug, Default)]
struct Way {
    target: u32,
    edge: u32,
    entry: DVec3,
    cost: f64,
    total: f64,
}

/// The nodes of one search.
#[derive(Clone, Debug)]
pub(super) struct PolygonNodes {
    /// The edges one expansion relaxes.
    ways: Vec<Way>,
    rows: Vec<Node>,
    /// Cost plus heuristic of each row: the key in the open list, and all that most relaxations
    /// look at.
    totals: Vec<f64>,
    expanded: u32,
}

impl PolygonNodes {
    pub(super) fn with_capacity(rows: usize) -> Self {
        Self {
            ways: vec![Way::default(); MAX_VERTICES],
            rows: Vec::with_capacity(rows),
            totals: Vec::with_capacity(rows),
            expanded: 0,
        }
    }

    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.totals.clear();
        self.expanded = 0;
    }

    /// Opens the start node.
    pub(super) fn start(&mut self, question: &mut Question, mesh: &TiledMesh) {
        let poly = question.start_poly;
        if let Some((tile, index)) = mesh.resolve(poly) {
            let cell = question.table.row(poly.slot(), tile.poly_count()) + index;
            let total = question.min_cost * distance3(question.start, question.end);
            let parent = (NO_NODE, PolyRef::INVALID);
            self.relax(question, cell, poly, parent, question.start, 0.0, total);
        }
    }

    /// Offers polygon `poly` (table cell `cell`) a route of `cost` to `entry` through `parent`,
    /// estimated at `total` to the end.
    #[inline]
    fn relax(
        &mut self,
        question: &mut Question,
        cell: usize,
        poly: PolyRef,
        (parent, came_from): (u32, PolyRef),
        entry: DVec3,
        cost: f64,
        total: f64,
    ) {
        let number = if let Some(number) = question.table.get(cell) {
            // Written so that a NaN from a filter's cost improves nothing.
            let improves = total < self.totals[number as usize];
            if !improves {
                return;
            }
            if self.rows[number as usize].closed && self.is_ancestor(number, parent) {
                return;
            }
            self.totals[number as usize] = total;
            let row = &mut self.rows[number as usize];
            row.entry = entry;
            row.cost = cost;
            row.came_from = came_from;
            row.parent = parent;
            row.closed = false;
            number
        } else {
            if total.is_nan() || total == f64::INFINITY {
                return;
            }
            if !question.has_room(self.rows.len()) {
                question.node_limit_reached = true;
                return;
            }
            let number = self.rows.len() as u32;
            self.totals.push(total);
            self.rows.push(Node {
                entry,
                cost,
                poly,
                came_from,
                parent,
                rank: u32::MAX,
                closed: false,
            });
            question.table.set(cell, number);
            number
        };
        question.open.push(total, number);
    }

    /// Whether `node` is `of` or stands on its way back to the start.
    fn is_ancestor(&self, node: u32, of: u32) -> bool {
        let mut at = of;
        while at != NO_NODE {
            if at == node {
                return true;
            }
            at = self.rows[at as usize].parent;
        }
        false
    }

    /// Writes the polygons from the start to `last` and returns the cost of `last`.
    pub(super) fn corridor(&self, last: u32, out: &mut Vec<PolyRef>) -> f64 {
        let mut at = last;
        while let Some(row) = self.rows.get(at as usize) {
            out.push(row.poly);
            at = row.parent;
        }
        out.reverse();
        self.rows.get(last as usize).map_or(0.0, |row| row.cost)
    }

    /// Appends the polygons expanded so far, by first expansion.
    pub(super) fn expanded(&self, out: &mut Vec<PolyRef>) {
        let mut ranked: Vec<(u32, PolyRef)> = self
            .rows
            .iter()
            .filter(|row| row.rank != u32::MAX)
            .map(|row| (row.rank, row.poly))
            .collect();
        ranked.sort_unstable();
        out.extend(ranked.iter().map(|&(_, poly)| poly));
    }
}

/// Expands nodes until the end is reached, nothing is left or the budget is spent.
pub(super) fn run<F: Filter + ?Sized>(
    nodes: &mut PolygonNodes,
    question: &mut Question,
    mesh: &TiledMesh,
    filter: &F,
    budget: u32,
) -> QueryStatus {
    let mut left = budget;
    loop {
        let Some(number) = question.open.peek() else {
            return QueryStatus::Partial;
        };
        if number == TERMINAL {
            return QueryStatus::Success;
        }
        if nodes.rows[number as usize].closed {
            question.open.pop();
            continue;
        }
        if left == 0 {
            return QueryStatus::InProgress;
        }
        left -= 1;
        question.open.pop();
        expand(nodes, question, mesh, filter, number);
    }
}

fn expand<F: Filter + ?Sized>(
    nodes: &mut PolygonNodes,
    question: &mut Question,
    mesh: &TiledMesh,
    filter: &F,
    number: u32,
) {
    let row = &mut nodes.rows[number as usize];
    row.closed = true;
    if row.rank == u32::MAX {
        row.rank = nodes.expanded;
        nodes.expanded += 1;
    }
    let node = *row;
    question.count_expansion(number, node.entry);
    let Some((tile, index)) = mesh.resolve(node.poly) else {
        return;
    };
    let Some(travel) = travel_cost(filter, tile.poly_area[index]) else {
        return;
    };
    if node.poly == question.end_poly {
        let cost = node.cost + distance3(node.entry, question.end) * travel;
        question.relax_terminal(nodes.rows.len(), number, cost);
    }
    let came_from = node.came_from;
    // Settled neighbours are skipped without looking at the edge, unless the filter breaks its
    // promise about the least cost.
    let settled = if travel >= question.min_cost {
        nodes.totals[number as usize] * SETTLED
    } else {
        f64::NEG_INFINITY
    };
    let slot = node.poly.slot();
    let first_cell = question.table.row(slot, tile.poly_count());
    // Choose the edges, price them all, then relax: the divisions and square roots of one edge
    // overlap those of the next instead of waiting for its outcome.
    let neighbors = &tile.data().edge_neighbors[tile.poly_edges(index)];
    let mut chosen = 0;
    for (edge, &neighbor) in neighbors.iter().enumerate() {
        if neighbor <= 0 {
            continue;
        }
        let target = (neighbor - 1) as usize;
        let poly = PolyRef::from_parts(node.poly.salt(), slot, target as u32);
        if poly == came_from || !filter.passes(tile.poly_flags[target], tile.poly_area[target]) {
            continue;
        }
        if let Some(known) = question.table.get(first_cell + target) {
            if nodes.totals[known as usize] <= settled {
                continue;
            }
        }
        if let Some(way) = nodes.ways.get_mut(chosen) {
            (way.target, way.edge) = (target as u32, edge as u32);
            chosen += 1;
        }
    }
    let ring = tile.poly_ring(index);
    let (end, min_cost) = (question.end, question.min_cost);
    for way in &mut nodes.ways[..chosen] {
        let edge = way.edge as usize;
        let (a, b) = (
            ring[edge],
            ring[if edge + 1 < ring.len() { edge + 1 } else { 0 }],
        );
        way.entry = aim(node.entry, end, a, b).point(0.5, 0.0, 1.0);
        way.cost = node.cost + distance3(node.entry, way.entry) * travel;
        way.total = way.cost + min_cost * distance3(way.entry, end);
    }
    for k in 0..chosen {
        let way = nodes.ways[k];
        let poly = PolyRef::from_parts(node.poly.salt(), slot, way.target);
        let cell = first_cell + way.target as usize;
        let parent = (number, node.poly);
        nodes.relax(question, cell, poly, parent, way.entry, way.cost, way.total);
    }
    for link in tile.poly_links(index) {
        if link.target != came_from {
            follow(
                nodes, question, mesh, filter, number, &node, travel, tile, link,
            );
        }
    }
}

/// Relaxes the polygon behind a tile-border or off-mesh link.
#[inline(never)]
fn follow<F: Filter + ?Sized>(
    nodes: &mut PolygonNodes,
    question: &mut Question,
    mesh: &TiledMesh,
    filter: &F,
    number: u32,
    node: &Node,
    travel: f64,
    tile: &Tile,
    link: &Link,
) {
    let Some((target, target_index)) = mesh.resolve(link.target) else {
        return;
    };
    if !filter.passes(
        target.poly_flags[target_index],
        target.poly_area[target_index],
    ) {
        return;
    }
    let (near, entry, extra) = if link.kind == LinkKind::Portal {
        let (a, b) = edge_ends(tile, node.poly.poly() as usize, usize::from(link.edge));
        let (low, high) = (f64::from(link.range_min), f64::from(link.range_max));
        let entry = aim(node.entry, question.end, a, b).point(
            (low + high) / 510.0,
            low / 255.0,
            high / 255.0,
        );
        (entry, entry, 0.0)
    } else {
        let Some(crossing) = off_mesh_crossing(mesh, link, filter) else {
            return;
        };
        (crossing.near, crossing.far, crossing.cost)
    };
    let cost = node.cost + distance3(node.entry, near) * travel + extra;
    let cell = question.table.row(link.target.slot(), target.poly_count()) + target_index;
    let total = cost + question.min_cost * distance3(entry, question.end);
    let parent = (number, node.poly);
    nodes.relax(question, cell, link.target, parent, entry, cost, total);
}

/// An edge and the straight line that is aimed through it.
struct Aim {
    a: DVec3,
    b: DVec3,
    across: f64,
    along: f64,
}

#[inline]
fn aim(from: DVec3, end: DVec3, a: DVec3, b: DVec3) -> Aim {
    let (wx, wz) = (end.x - from.x, end.z - from.z);
    Aim {
        a,
        b,
        across: (b.x - a.x) * wz - (b.z - a.z) * wx,
        along: (from.x - a.x) * wz - (from.z - a.z) * wx,
    }
}

impl Aim {
    /// The point where the line meets the edge, its fraction kept inside `low..=high`; the point
    /// at fraction `parallel` when they do not meet.
    #[inline]
    fn point(&self, parallel: f64, low: f64, high: f64) -> DVec3 {
        let s = if self.across == 0.0 {
            parallel
        } else {
            (self.along / self.across).max(low).min(high)
        };
        DVec3::new(
            self.a.x + s * (self.b.x - self.a.x),
            self.a.y + s * (self.b.y - self.a.y),
            self.a.z + s * (self.b.z - self.a.z),
        )
    }
}

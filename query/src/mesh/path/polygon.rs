//! The polygon node model: one node per polygon, standing where the cheapest route found so far
//! enters it.
//!
//! Leaving a polygon through an edge, the entry point of the next one is where the straight line
//! from here to the end meets the edge in X/Z, clamped to the edge (to the linked part of it at a
//! tile border). A node is improved when its estimated total falls, even if it was expanded; it is
//! then opened again.

use super::super::filter::Filter;
use super::super::outline::{MAX_VERTICES, edge_ends};
use super::super::status::QueryStatus;
use super::{NO_NODE, Question, TERMINAL, off_mesh_crossing, travel_cost};
use core::ops::Range;
use throng_soa::DVec3;
use throng_soa::mesh::{Link, LinkKind, PolyRef, Tile, TiledMesh};
use throng_soa::world::distance3;

/// Estimates below the expanded node's by more than this factor cannot be improved from it: they
/// are at most the estimate of every route through it, up to rounding of a few parts in 10^16.
const SETTLED: f64 = 1.0 - 1e-12;

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

/// The node being expanded.
struct At {
    number: u32,
    poly: PolyRef,
    came_from: PolyRef,
    entry: DVec3,
    cost: f64,
}

/// A priced way into a neighbour.
#[derive(Clone, Copy, Debug, Default)]
struct Way {
    entry: DVec3,
    cost: f64,
    total: f64,
    target: u32,
}

/// The nodes of one search.
#[derive(Clone, Debug)]
pub(super) struct PolygonNodes {
    /// The ways one expansion relaxes.
    ways: Vec<Way>,
    rows: Rows,
    expanded: u32,
}

/// The nodes proper, by number.
#[derive(Clone, Debug)]
struct Rows {
    nodes: Vec<Node>,
    /// Cost plus heuristic of each row: the key in the open list, and all that most relaxations
    /// look at.
    totals: Vec<f64>,
}

impl PolygonNodes {
    pub(super) fn with_capacity(rows: usize) -> Self {
        Self {
            ways: vec![Way::default(); MAX_VERTICES],
            rows: Rows {
                nodes: Vec::with_capacity(rows),
                totals: Vec::with_capacity(rows),
            },
            expanded: 0,
        }
    }

    pub(super) fn clear(&mut self) {
        self.rows.nodes.clear();
        self.rows.totals.clear();
        self.expanded = 0;
    }

    /// Opens the start node.
    pub(super) fn start(&mut self, question: &mut Question, mesh: &TiledMesh) {
        let poly = question.start_poly;
        if let Some((tile, index)) = mesh.resolve(poly) {
            let cell = question.table.row(poly.slot(), tile.poly_count()) + index;
            let way = Way {
                entry: question.start,
                cost: 0.0,
                total: question.min_cost * distance3(question.start, question.end),
                target: index as u32,
            };
            self.rows
                .relax(question, cell, poly, (NO_NODE, PolyRef::INVALID), &way);
        }
    }

    /// Writes the polygons from the start to `last` and returns the cost of `last`.
    pub(super) fn corridor(&self, last: u32, out: &mut Vec<PolyRef>) -> f64 {
        let rows = &self.rows.nodes;
        let mut at = last;
        while let Some(row) = rows.get(at as usize) {
            out.push(row.poly);
            at = row.parent;
        }
        out.reverse();
        rows.get(last as usize).map_or(0.0, |row| row.cost)
    }

    /// Appends the polygons expanded so far, by first expansion.
    pub(super) fn expanded(&self, out: &mut Vec<PolyRef>) {
        let rows = self.rows.nodes.iter();
        let mut ranked: Vec<(u32, PolyRef)> = rows
            .filter(|row| row.rank != u32::MAX)
            .map(|row| (row.rank, row.poly))
            .collect();
        ranked.sort_unstable();
        out.extend(ranked.iter().map(|&(_, poly)| poly));
    }
}

impl Rows {
    /// Offers polygon `poly` (table cell `cell`) a way in from `parent`.
    #[inline]
    fn relax(
        &mut self,
        question: &mut Question,
        cell: usize,
        poly: PolyRef,
        (parent, came_from): (u32, PolyRef),
        way: &Way,
    ) {
        let total = way.total;
        let number = if let Some(number) = question.table.get(cell) {
            // Written so that a NaN from a filter's cost improves nothing.
            let improves = total < self.totals[number as usize];
            if !improves {
                return;
            }
            if self.nodes[number as usize].closed && self.is_ancestor(number, parent) {
                return;
            }
            self.totals[number as usize] = total;
            let row = &mut self.nodes[number as usize];
            row.entry = way.entry;
            row.cost = way.cost;
            row.came_from = came_from;
            row.parent = parent;
            row.closed = false;
            number
        } else {
            if total.is_nan() || total == f64::INFINITY {
                return;
            }
            if !question.has_room(self.nodes.len()) {
                question.node_limit_reached = true;
                return;
            }
            let number = self.nodes.len() as u32;
            self.totals.push(total);
            self.nodes.push(Node {
                entry: way.entry,
                cost: way.cost,
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
            at = self.nodes[at as usize].parent;
        }
        false
    }

    /// Whether the polygon of a table cell has a node whose total is at most `settled`.
    #[inline]
    fn is_settled(&self, question: &Question, cell: usize, settled: f64) -> bool {
        let known = question.table.get(cell);
        known.is_some_and(|number| self.totals[number as usize] <= settled)
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
        if nodes.rows.nodes[number as usize].closed {
            question.open.remove();
            continue;
        }
        if left == 0 {
            return QueryStatus::InProgress;
        }
        left -= 1;
        question.open.remove();
        expand(nodes, question, mesh, filter, number);
    }
}

fn expand<F: Filter + ?Sized>(
    PolygonNodes {
        ways,
        rows,
        expanded,
    }: &mut PolygonNodes,
    question: &mut Question,
    mesh: &TiledMesh,
    filter: &F,
    number: u32,
) {
    // The row was often written a moment ago: field by field it is read straight from the writes on
    // their way to memory, as a whole it would wait for them to arrive.
    let row = &mut rows.nodes[number as usize];
    row.closed = true;
    if row.rank == u32::MAX {
        row.rank = *expanded;
        *expanded += 1;
    }
    let node = At {
        number,
        poly: row.poly,
        came_from: row.came_from,
        entry: DVec3::new(row.entry.x, row.entry.y, row.entry.z),
        cost: row.cost,
    };
    question.count_expansion(number, node.entry);
    let Some((tile, index)) = mesh.resolve(node.poly) else {
        return;
    };
    let Some(travel) = travel_cost(filter, tile.poly_area[index]) else {
        return;
    };
    if node.poly == question.end_poly {
        let cost = node.cost + distance3(node.entry, question.end) * travel;
        question.relax_terminal(rows.nodes.len(), number, cost);
    }
    // Settled neighbours are skipped without looking at the edge, unless the filter breaks its
    // promise about the least cost.
    let settled = if travel >= question.min_cost {
        rows.totals[number as usize] * SETTLED
    } else {
        f64::NEG_INFINITY
    };
    let parent = (number, node.poly);
    let (salt, slot) = (node.poly.salt(), node.poly.slot());
    let first_cell = question.table.row(slot, tile.poly_count());
    let edges = tile.poly_edges(index);
    let neighbors = &tile.data().edge_neighbors;
    let back = if (node.came_from.salt(), node.came_from.slot()) == (salt, slot) {
        node.came_from.poly() as i32 + 1
    } else {
        0
    };
    let mut open_edges = open_edges(neighbors, edges.clone(), back);
    // Price all edges, then relax: the divisions and square roots of one edge overlap those of
    // the next instead of waiting for its outcome.
    let (ring, neighbors) = (&tile.ring[edges.clone()], &neighbors[edges]);
    let aim = Aim::new(node.entry, question.end);
    let mut priced = 0;
    while open_edges != 0 {
        let edge = open_edges.trailing_zeros() as usize;
        open_edges &= open_edges - 1;
        let target = (neighbors[edge] - 1) as usize;
        if !filter.passes(tile.poly_flags[target], tile.poly_area[target])
            || rows.is_settled(question, first_cell + target, settled)
        {
            continue;
        }
        let next = if edge + 1 < ring.len() { edge + 1 } else { 0 };
        let entry = aim.through(ring[edge], ring[next], 0.5, 0.0, 1.0);
        let cost = node.cost + distance3(node.entry, entry) * travel;
        if let Some(way) = ways.get_mut(priced) {
            *way = Way {
                entry,
                cost,
                total: cost + question.min_cost * distance3(entry, question.end),
                target: target as u32,
            };
            priced += 1;
        }
    }
    for way in &ways[..priced] {
        let poly = PolyRef::from_parts(salt, slot, way.target);
        let cell = first_cell + way.target as usize;
        rows.relax(question, cell, poly, parent, way);
    }
    for link in tile.poly_links(index) {
        if link.target != node.came_from {
            follow(
                rows, question, mesh, filter, &node, travel, settled, tile, link,
            );
        }
    }
}

/// Edges looked at together.
const TOGETHER: usize = 6;

/// The edges that have a neighbour, but not `back` (index plus one), as bits.
///
/// Without a branch per edge: which edges are walls, no predictor can call. A polygon of few edges
/// is not even counted out; what follows it in the tile is looked at too and cut off.
#[inline]
fn open_edges(neighbors: &[i32], edges: Range<usize>, back: i32) -> u32 {
    let bit = |edge: usize, neighbor: i32| u32::from(neighbor > 0 && neighbor != back) << edge;
    let count = edges.len();
    let row = neighbors
        .get(edges.start..)
        .and_then(<[i32]>::first_chunk::<TOGETHER>);
    match row {
        Some(row) if count <= TOGETHER => {
            let mut bits = 0;
            for (edge, &neighbor) in row.iter().enumerate() {
                bits |= bit(edge, neighbor);
            }
            bits & ((1 << count) - 1)
        }
        _ => {
            let mut bits = 0;
            for (edge, &neighbor) in neighbors[edges].iter().enumerate() {
                bits |= bit(edge, neighbor);
            }
            bits
        }
    }
}

/// Relaxes the polygon behind a tile-border or off-mesh link.
#[inline(never)]
fn follow<F: Filter + ?Sized>(
    rows: &mut Rows,
    question: &mut Question,
    mesh: &TiledMesh,
    filter: &F,
    node: &At,
    travel: f64,
    settled: f64,
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
    let cell = question.table.row(link.target.slot(), target.poly_count()) + target_index;
    let (near, entry, extra) = if link.kind == LinkKind::Portal {
        if rows.is_settled(question, cell, settled) {
            return;
        }
        let (a, b) = edge_ends(tile, node.poly.poly() as usize, usize::from(link.edge));
        let (low, high) = (f64::from(link.range_min), f64::from(link.range_max));
        let middle = (low + high) / 510.0;
        let aim = Aim::new(node.entry, question.end);
        let entry = aim.through(a, b, middle, low / 255.0, high / 255.0);
        (entry, entry, 0.0)
    } else {
        let Some(crossing) = off_mesh_crossing(mesh, link, filter) else {
            return;
        };
        (crossing.near, crossing.far, crossing.cost)
    };
    let cost = node.cost + distance3(node.entry, near) * travel + extra;
    let way = Way {
        entry,
        cost,
        total: cost + question.min_cost * distance3(entry, question.end),
        target: target_index as u32,
    };
    rows.relax(question, cell, link.target, (node.number, node.poly), &way);
}

/// The straight line from a place to the end, seen from above.
struct Aim {
    from: DVec3,
    wx: f64,
    wz: f64,
}

impl Aim {
    #[inline]
    fn new(from: DVec3, end: DVec3) -> Self {
        Self {
            from,
            wx: end.x - from.x,
            wz: end.z - from.z,
        }
    }

    /// The point where the line meets edge `a`-`b`, its fraction kept inside `low..=high`; the
    /// point at fraction `parallel`, which lies inside too, when they do not meet.
    #[inline]
    fn through(&self, a: DVec3, b: DVec3, parallel: f64, low: f64, high: f64) -> DVec3 {
        let (ex, ey, ez) = (b.x - a.x, b.y - a.y, b.z - a.z);
        let across = ex * self.wz - ez * self.wx;
        let along = (self.from.x - a.x) * self.wz - (self.from.z - a.z) * self.wx;
        let (along, across) = if across == 0.0 {
            (parallel, 1.0)
        } else {
            (along, across)
        };
        // Comparisons, which are one instruction each; `max` and `min` look for NaN first.
        let s = along / across;
        let s = if s > low { s } else { low };
        let s = if s < high { s } else { high };
        DVec3::new(a.x + s * ex, a.y + s * ey, a.z + s * ez)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_soa::rng::SplitMix64;

    #[test]
    fn open_edges_are_those_with_another_neighbour() {
        let mut rng = SplitMix64::new(4);
        let neighbors: Vec<i32> = (0..64).map(|_| rng.next_below(5) as i32 - 1).collect();
        for count in 0..=MAX_VERTICES {
            for first in 0..=neighbors.len() - count {
                let edges = first..first + count;
                for back in 0..4 {
                    let bits = open_edges(&neighbors, edges.clone(), back);
                    let expected = (0..32).filter(|&edge| {
                        let neighbor = neighbors[edges.clone()].get(edge);
                        neighbor.is_some_and(|&neighbor| neighbor > 0 && neighbor != back)
                    });
                    assert!(expected.eq((0..32).filter(|edge| bits >> edge & 1 == 1)));
                }
            }
        }
    }

    #[test]
    fn a_line_meets_an_edge_between_its_bounds_or_runs_beside_it() {
        let (a, b) = (DVec3::new(0.0, 2.0, 0.0), DVec3::new(4.0, 4.0, 0.0));
        let aim = |x: f64, end: (f64, f64)| {
            Aim::new(DVec3::new(x, 9.0, -1.0), DVec3::new(end.0, 9.0, end.1))
        };
        let x = |aim: Aim, low, high| aim.through(a, b, 0.375, low, high).x;
        assert_eq!(
            aim(1.0, (1.0, 1.0)).through(a, b, 0.5, 0.0, 1.0),
            DVec3::new(1.0, 2.5, 0.0)
        );
        assert_eq!(x(aim(1.0, (1.0, 5.0)), 0.5, 0.75), 2.0);
        assert_eq!(x(aim(9.0, (9.0, 5.0)), 0.5, 0.75), 3.0);
        assert_eq!(x(aim(1.0, (9.0, -1.0)), 0.25, 0.5), 1.5);
        assert_eq!(x(aim(1.0, (1.0, -1.0)), 0.25, 0.5), 1.5);
    }
}

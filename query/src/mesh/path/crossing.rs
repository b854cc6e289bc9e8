//! The crossing node model: one node per way out of a polygon, at a fixed position.
//!
//! The ways out of a polygon get their nodes together, when a route first enters it: in-tile
//! edges by edge index, then links in link order, those the filter closes left out. A polygon
//! entered again relaxes the same rows, whose positions and heuristics were computed once.

use super::super::filter::Filter;
use super::super::outline::{edge_ends, lerp};
use super::super::status::QueryStatus;
use super::{NO_NODE, Question, TERMINAL, accepts, off_mesh_crossing, travel_cost};
use throng_soa::DVec3;
use throng_soa::mesh::{LinkKind, PolyRef, Tile, TiledMesh};
use throng_soa::world::distance3;

/// A way out of a polygon.
#[derive(Clone, Copy, Debug)]
struct Exit {
    /// Where the leg inside the polygon ends: the crossing, or the near end of an off-mesh link.
    near: DVec3,
    /// Where the next polygon is entered.
    far: DVec3,
    /// Cost of the off-mesh link, 0 for others.
    extra: f64,
    /// Heuristic at `far`.
    estimate: f64,
    /// Cost of the best route to `far` so far; infinite before the first.
    cost: f64,
    /// The polygon entered.
    target: PolyRef,
    parent: u32,
    /// Block of `target`, once this row was expanded.
    block: u32,
    closed: bool,
}

/// The exits of one polygon.
#[derive(Clone, Copy, Debug)]
struct Block {
    poly: PolyRef,
    first: u32,
    count: u32,
    /// Place of the polygon in the corridor being written.
    place: u32,
}

/// The nodes of one search. Row 0 is the start, an exit into the start polygon.
#[derive(Clone, Debug)]
pub(super) struct CrossingNodes {
    exits: Vec<Exit>,
    blocks: Vec<Block>,
    /// Rows on the way from a node back to the start, while a corridor is written.
    route: Vec<u32>,
}

impl CrossingNodes {
    pub(super) fn with_capacity(rows: usize) -> Self {
        Self {
            exits: Vec::with_capacity(rows),
            blocks: Vec::with_capacity(rows),
            route: Vec::with_capacity(rows),
        }
    }

    pub(super) fn clear(&mut self) {
        self.exits.clear();
        self.blocks.clear();
    }

    /// Opens the start node.
    pub(super) fn start(&mut self, question: &mut Question) {
        let estimate = question.min_cost * distance3(question.start, question.end);
        self.exits.push(Exit {
            near: question.start,
            far: question.start,
            extra: 0.0,
            estimate,
            cost: 0.0,
            target: question.start_poly,
            parent: NO_NODE,
            block: 0,
            closed: false,
        });
        question.open.push(estimate, 0);
    }

    /// The block of polygon `poly`, made now if no route entered it before.
    fn block<F: Filter + ?Sized>(
        &mut self,
        question: &mut Question,
        mesh: &TiledMesh,
        filter: &F,
        tile: &Tile,
        poly: PolyRef,
    ) -> u32 {
        let index = poly.poly() as usize;
        let cell = question.table.row(poly.slot(), tile.poly_count()) + index;
        if let Some(block) = question.table.get(cell) {
            return block;
        }
        let block = self.blocks.len() as u32;
        question.table.set(cell, block);
        let first = self.exits.len() as u32;
        let data = tile.data();
        for (edge, &neighbor) in data.edge_neighbors[tile.poly_edges(index)]
            .iter()
            .enumerate()
        {
            if neighbor <= 0 {
                continue;
            }
            let target = (neighbor - 1) as usize;
            if filter.passes(tile.poly_flags[target], tile.poly_area[target]) {
                let (a, b) = edge_ends(tile, index, edge);
                let middle = (a + b) * 0.5;
                let poly = PolyRef::from_parts(poly.salt(), poly.slot(), target as u32);
                self.add_exit(question, poly, middle, middle, 0.0);
            }
        }
        for link in tile.poly_links(index) {
            if !accepts(mesh, link.target, filter) {
                continue;
            }
            if link.kind == LinkKind::Portal {
                let (a, b) = edge_ends(tile, index, usize::from(link.edge));
                let sum = f64::from(link.range_min) + f64::from(link.range_max);
                let middle = lerp(a, b, sum / 510.0);
                self.add_exit(question, link.target, middle, middle, 0.0);
            } else if let Some(way) = off_mesh_crossing(mesh, link, filter) {
                self.add_exit(question, link.target, way.near, way.far, way.cost);
            }
        }
        self.blocks.push(Block {
            poly,
            first,
            count: self.exits.len() as u32 - first,
            place: u32::MAX,
        });
        block
    }

    fn add_exit(
        &mut self,
        question: &mut Question,
        target: PolyRef,
        near: DVec3,
        far: DVec3,
        extra: f64,
    ) {
        if !question.has_room(self.exits.len()) {
            question.node_limit_reached = true;
            return;
        }
        self.exits.push(Exit {
            near,
            far,
            extra,
            estimate: question.min_cost * distance3(far, question.end),
            cost: f64::INFINITY,
            target,
            parent: NO_NODE,
            block: 0,
            closed: false,
        });
    }

    /// Writes the polygons from the start to the one `last` enters, loops cut out at their first
    /// polygon, and returns the cost of `last`.
    pub(super) fn corridor(&mut self, last: u32, out: &mut Vec<PolyRef>) -> f64 {
        self.route.clear();
        let mut at = last;
        while let Some(exit) = self.exits.get(at as usize) {
            self.route.push(at);
            at = exit.parent;
        }
        for &row in self.route.iter().rev() {
            let exit = &self.exits[row as usize];
            // Every polygon of a route was entered by an expansion and has a block; the places
            // left from an earlier corridor are told apart by looking at what stands there.
            let Some(block) = self.blocks.get_mut(exit.block as usize) else {
                continue;
            };
            let place = block.place as usize;
            if out.get(place) == Some(&exit.target) {
                out.truncate(place + 1);
            } else {
                block.place = out.len() as u32;
                out.push(exit.target);
            }
        }
        self.exits.get(last as usize).map_or(0.0, |exit| exit.cost)
    }

    /// Appends the polygons expanded so far, by first expansion.
    pub(super) fn expanded(&self, out: &mut Vec<PolyRef>) {
        out.extend(self.blocks.iter().map(|block| block.poly));
    }
}

/// Expands nodes until the end is reached, nothing is left or the budget is spent.
pub(super) fn run<F: Filter + ?Sized>(
    nodes: &mut CrossingNodes,
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
        if nodes.exits[number as usize].closed {
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
    nodes: &mut CrossingNodes,
    question: &mut Question,
    mesh: &TiledMesh,
    filter: &F,
    number: u32,
) {
    // Field by field: a copy of the whole row would wait for the byte just written.
    let node = &mut nodes.exits[number as usize];
    node.closed = true;
    let (from, cost_here, poly) = (node.far, node.cost, node.target);
    question.count_expansion(number, from);
    let Some((tile, index)) = mesh.resolve(poly) else {
        return;
    };
    let travel = travel_cost(filter, tile.poly_area[index]);
    if let (Some(travel), true) = (travel, poly == question.end_poly) {
        let cost = cost_here + distance3(from, question.end) * travel;
        question.relax_terminal(nodes.exits.len(), number, cost);
    }
    let block = nodes.block(question, mesh, filter, tile, poly);
    nodes.exits[number as usize].block = block;
    let Some(travel) = travel else {
        return;
    };
    let Block { first, count, .. } = nodes.blocks[block as usize];
    let exits = &mut nodes.exits[first as usize..(first + count) as usize];
    for (exit, at) in exits.iter_mut().zip(first..) {
        if exit.closed {
            continue;
        }
        let cost = cost_here + distance3(from, exit.near) * travel + exit.extra;
        if cost < exit.cost {
            exit.cost = cost;
            exit.parent = number;
            question.open.push(cost + exit.estimate, at);
        }
    }
}

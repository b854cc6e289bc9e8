//! Joins the holes of a region to its outlines, so each contour is one loop.
//!
//! In: the simplified loops of one region, and its traced loops to fall back on. Out: contours
//! appended to a [`ContourSet`]. A hole goes to the smallest outline around its leftmost corner and
//! is tied to it by a bridge walked both ways: the shortest one that stays inside the region and
//! touches no edge (the textbook construction for polygons with holes; O'Rourke, "Computational
//! Geometry in C", 1998, for the cone tests).
//!
//! Departures: candidates are taken nearest first from a box tree rather than sorted, and a ring
//! position is found by an order label, so a region with many holes does not cost holes times
//! corners. The results are those of trying all of them in order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::simplify::crosses_itself;
use super::trace::signed_area2;
use super::{ContourSet, ContourVertex};
use crate::voxel::edge_tree::{CornerBox, EdgeTree, TreeNode, cross, in_box, in_cone, touch};

const NONE: u32 = u32::MAX;

/// Loops as a flat vertex column with prefix offsets.
#[derive(Clone, Copy, Debug)]
pub struct LoopTable<'a> {
    /// Corners of all loops.
    pub vertices: &'a [ContourVertex],
    /// First corner of each loop, and the corner count at the end.
    pub first: &'a [u32],
}

impl<'a> LoopTable<'a> {
    fn get(&self, index: u32) -> &'a [ContourVertex] {
        let i = index as usize;
        &self.vertices[self.first[i] as usize..self.first[i + 1] as usize]
    }
}

/// Everything [`join_region`] reads.
#[derive(Clone, Copy, Debug)]
pub struct RegionLoops<'a> {
    /// The region.
    pub region: u32,
    /// Its area id.
    pub area: u8,
    /// Its loops, in order of discovery: indices into the columns below.
    pub loops: &'a [u32],
    /// Twice the signed area of each traced loop: tells outlines from holes.
    pub area2: &'a [i64],
    /// The simplified form of each loop.
    pub simplified: LoopTable<'a>,
    /// The traced form of each loop.
    pub raw: LoopTable<'a>,
}

/// A worker's buffers for [`join_region`].
#[derive(Debug, Default)]
pub struct HoleScratch {
    outlines: Vec<u32>,
    holes: Vec<u32>,
    outline_area2: Vec<i64>,
    /// Per hole the position of its outline in `outlines`, or `NONE`.
    owner: Vec<u32>,
    around: Vec<Around>,
    edge_outline: Vec<u32>,
    tree: EdgeTree,
    group: Vec<u32>,
    ring: Ring,
    joined: Vec<ContourVertex>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Around {
    crossings_odd: bool,
    on_edge: bool,
}

/// Appends the contours of one region to `out`.
pub fn join_region(input: &RegionLoops<'_>, scratch: &mut HoleScratch, out: &mut ContourSet) {
    scratch.outlines.clear();
    scratch.holes.clear();
    for &index in input.loops {
        if input.area2[index as usize] > 0 {
            scratch.outlines.push(index);
        } else {
            scratch.holes.push(index);
        }
    }
    if scratch.holes.is_empty() {
        for i in 0..scratch.outlines.len() {
            let simple = input.simplified.get(scratch.outlines[i]);
            push_contour(input, simple, out);
        }
        return;
    }
    assign_holes(input, scratch, out);
    for position in 0..scratch.outlines.len() {
        let outline = scratch.outlines[position];
        scratch.group.clear();
        for (hole, &owner) in scratch.holes.iter().zip(&scratch.owner) {
            if owner == position as u32 {
                scratch.group.push(*hole);
            }
        }
        join_outline(input, outline, scratch, out);
    }
}

fn push_contour(input: &RegionLoops<'_>, vertices: &[ContourVertex], out: &mut ContourSet) {
    out.region.push(input.region);
    out.area.push(input.area);
    out.vertices.extend_from_slice(vertices);
    out.first.push(out.vertices.len() as u32);
}

/// Position in a loop of its leftmost corner: smallest x, then z, then position.
fn leftmost(vertices: &[ContourVertex]) -> usize {
    let mut best = 0;
    for (index, vertex) in vertices.iter().enumerate() {
        if (vertex.x, vertex.z) < (vertices[best].x, vertices[best].z) {
            best = index;
        }
    }
    best
}

/// Finds the smallest outline around each hole; one tree over all outlines answers every hole.
fn assign_holes(input: &RegionLoops<'_>, scratch: &mut HoleScratch, out: &mut ContourSet) {
    scratch.edge_outline.clear();
    scratch.outline_area2.clear();
    // A leaf per edge; `edge_outline` holds where the outline's leaves start, for `edge_at`.
    let mut starts = 0_u32;
    for &outline in &scratch.outlines {
        let vertices = input.simplified.get(outline);
        scratch.outline_area2.push(signed_area2(vertices));
        scratch.edge_outline.push(starts);
        starts += vertices.len() as u32;
    }
    let outlines = &scratch.outlines;
    let leaf_start = &scratch.edge_outline;
    let edge_at = |leaf: usize| {
        let position = leaf_start.partition_point(|&start| start as usize <= leaf) - 1;
        let vertices = input.simplified.get(outlines[position]);
        let i = leaf - leaf_start[position] as usize;
        let next = if i + 1 == vertices.len() { 0 } else { i + 1 };
        (position, vertices[i], vertices[next])
    };
    scratch.tree.rebuild(starts as usize, |leaf| {
        let (_, a, b) = edge_at(leaf);
        CornerBox::of_segment(a, b)
    });
    scratch.owner.clear();
    for &hole in &scratch.holes {
        let vertices = input.simplified.get(hole);
        let p = vertices[leftmost(vertices)];
        scratch.around.clear();
        scratch.around.resize(outlines.len(), Around::default());
        let ray = CornerBox {
            min_x: i32::MIN,
            min_z: p.z,
            max_x: p.x,
            max_z: p.z,
        };
        let around = &mut scratch.around;
        scratch.tree.find(&ray, |leaf| {
            let (position, a, b) = edge_at(leaf as usize);
            let side = cross(a, b, p);
            let state = &mut around[position];
            state.on_edge |= side == 0 && in_box(a, b, p);
            // The ray runs towards -x: an upward edge left of `p` has `p` on its right.
            if (a.z <= p.z) != (b.z <= p.z) && (side < 0) == (b.z > a.z) {
                state.crossings_odd = !state.crossings_odd;
            }
            false
        });
        let mut best = NONE;
        for (position, state) in scratch.around.iter().enumerate() {
            if state.on_edge || state.crossings_odd {
                let area2 = scratch.outline_area2[position];
                if best == NONE || area2 < scratch.outline_area2[best as usize] {
                    best = position as u32;
                }
            }
        }
        out.dropped_holes += u32::from(best == NONE);
        scratch.owner.push(best);
    }
}

/// Joins one outline with the holes in `scratch.group` and appends the contour.
fn join_outline(
    input: &RegionLoops<'_>,
    outline: u32,
    scratch: &mut HoleScratch,
    out: &mut ContourSet,
) {
    if scratch.group.is_empty() {
        push_contour(input, input.simplified.get(outline), out);
        return;
    }
    let mut table = input.simplified;
    let mut dropped = scratch.ring.join(
        &table,
        outline,
        &scratch.group,
        input.region,
        &mut scratch.joined,
    );
    if crosses_itself(&scratch.joined, &mut scratch.tree) {
        out.raw_fallbacks += 1;
        table = input.raw;
        dropped = scratch.ring.join(
            &table,
            outline,
            &scratch.group,
            input.region,
            &mut scratch.joined,
        );
    }
    if signed_area2(&scratch.joined) > 0 {
        out.dropped_holes += dropped;
        push_contour(input, &scratch.joined, out);
    } else {
        // Seen from above the region covers itself and its holes cancel the outline.
        out.dropped_holes += scratch.group.len() as u32;
        push_contour(input, table.get(outline), out);
    }
}

/// Room left between order labels when a ring is numbered afresh.
const LABEL_STEP: u64 = 1 << 32;

/// The loop being joined: nodes linked in ring order, holes still apart linked to themselves.
#[derive(Debug, Default)]
struct Ring {
    at: Vec<ContourVertex>,
    next: Vec<u32>,
    previous: Vec<u32>,
    /// Grows along the joined ring; 0 for nodes not in it.
    label: Vec<u64>,
    tree: EdgeTree,
    queue: BinaryHeap<Reverse<(i64, Candidate)>>,
    order: Vec<(ContourVertex, u32, u32)>,
}

/// What the nearest-first search has still to look at. Boxes come before corners at one distance,
/// so every corner at a distance is known before the first of them is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Candidate {
    Box(TreeNode),
    Corner { label: u64, node: u32 },
}

impl Ring {
    /// Writes the outline with all holes that can be joined; returns how many could not.
    fn join(
        &mut self,
        table: &LoopTable<'_>,
        outline: u32,
        holes: &[u32],
        region: u32,
        out: &mut Vec<ContourVertex>,
    ) -> u32 {
        self.load(table, outline, holes);
        let mut dropped = 0;
        let mut spare = self.at.len() - 2 * holes.len();
        let order = core::mem::take(&mut self.order);
        for &(_, first, p) in &order {
            match self.find_bridge(p) {
                Some(q) => {
                    self.splice(p, q, spare as u32, region);
                    spare += 2;
                }
                None => {
                    dropped += 1;
                    self.remove_loop(first);
                }
            }
        }
        self.order = order;
        out.clear();
        let mut node = 0;
        loop {
            out.push(self.at[node as usize]);
            node = self.next[node as usize];
            if node == 0 {
                return dropped;
            }
        }
    }

    fn load(&mut self, table: &LoopTable<'_>, outline: u32, holes: &[u32]) {
        self.at.clear();
        self.next.clear();
        self.previous.clear();
        self.label.clear();
        self.order.clear();
        for (turn, &index) in core::iter::once(&outline).chain(holes).enumerate() {
            let vertices = table.get(index);
            let first = self.at.len() as u32;
            let count = vertices.len() as u32;
            for (i, vertex) in vertices.iter().enumerate() {
                let i = i as u32;
                self.at.push(*vertex);
                self.next.push(first + (i + 1) % count);
                self.previous.push(first + (i + count - 1) % count);
                self.label.push(if turn == 0 {
                    u64::from(i + 1) * LABEL_STEP
                } else {
                    0
                });
            }
            if turn > 0 {
                let left = leftmost(vertices);
                self.order
                    .push((vertices[left], first, first + left as u32));
            }
        }
        // Holes by leftmost corner; equal corners keep the order of discovery.
        self.order
            .sort_by_key(|&(vertex, first, _)| (vertex.x, vertex.z, first));
        let linked = self.at.len();
        let all = linked + 2 * holes.len();
        self.at.resize(all, ContourVertex::default());
        self.next.resize(all, NONE);
        self.previous.resize(all, NONE);
        self.label.resize(all, 0);
        let (at, next) = (&self.at, &self.next);
        self.tree.rebuild(all, |i| {
            if i < linked {
                CornerBox::of_segment(at[i], at[next[i] as usize])
            } else {
                CornerBox::EMPTY
            }
        });
    }

    /// The nearest ring corner that `p` can be tied to.
    fn find_bridge(&mut self, p: u32) -> Option<u32> {
        let from = self.at[p as usize];
        self.queue.clear();
        self.queue.extend(
            self.tree
                .root()
                .map(|root| Reverse((0, Candidate::Box(root)))),
        );
        while let Some(Reverse((_, candidate))) = self.queue.pop() {
            match candidate {
                Candidate::Corner { node, .. } => {
                    if self.is_bridge(p, node) {
                        return Some(node);
                    }
                }
                Candidate::Box(node) if node.level == 0 => {
                    let label = self.label[node.index as usize];
                    if label != 0 {
                        let to = self.at[node.index as usize];
                        self.queue.push(Reverse((
                            from.distance_squared(to),
                            Candidate::Corner {
                                label,
                                node: node.index,
                            },
                        )));
                    }
                }
                Candidate::Box(node) => {
                    let (start, stop) = self.tree.children(node);
                    for index in start..stop {
                        let child = TreeNode {
                            level: node.level - 1,
                            index,
                        };
                        let bounds = self.tree.node_box(child);
                        let apart = child.level == 0 && self.label[index as usize] == 0;
                        if !bounds.is_empty() && !apart {
                            let distance = bounds.distance_squared(from.x, from.z);
                            self.queue.push(Reverse((distance, Candidate::Box(child))));
                        }
                    }
                }
            }
        }
        None
    }

    fn is_bridge(&self, p: u32, q: u32) -> bool {
        let corner = |node: u32| self.at[node as usize];
        let around = |node: u32| {
            (
                corner(self.previous[node as usize]),
                corner(node),
                corner(self.next[node as usize]),
            )
        };
        let (before, from, after) = around(p);
        let (q_before, to, q_after) = around(q);
        if !in_cone(before, from, after, to) || !in_cone(q_before, to, q_after, from) {
            return false;
        }
        let blocked = self.tree.find(&CornerBox::of_segment(from, to), |edge| {
            let (a, b) = (corner(edge), corner(self.next[edge as usize]));
            let at_end = a.same_corner(from)
                || a.same_corner(to)
                || b.same_corner(from)
                || b.same_corner(to);
            !at_end && touch(from, to, a, b)
        });
        blocked.is_none()
    }

    /// Ties the hole that starts at `p` into the ring after `q`; `spare` and `spare + 1` become the
    /// second copies of `p` and `q`.
    fn splice(&mut self, p: u32, q: u32, spare: u32, region: u32) {
        let (p_copy, q_copy) = (spare, spare + 1);
        let after = self.next[q as usize];
        let last = self.previous[p as usize];
        let bridge = region as i32;
        self.at[p_copy as usize] = ContourVertex {
            neighbor: bridge,
            ..self.at[p as usize]
        };
        self.at[q_copy as usize] = self.at[q as usize];
        self.at[q as usize].neighbor = bridge;
        for (a, b) in [(q, p), (last, p_copy), (p_copy, q_copy), (q_copy, after)] {
            self.next[a as usize] = b;
            self.previous[b as usize] = a;
        }
        for node in [q, p_copy, q_copy] {
            let end = self.at[self.next[node as usize] as usize];
            self.tree.set_leaf(
                node as usize,
                CornerBox::of_segment(self.at[node as usize], end),
            );
        }
        self.label_block(q, q_copy, after);
    }

    /// Labels the nodes after `q` up to `last` between the labels of `q` and `after`.
    fn label_block(&mut self, q: u32, last: u32, after: u32) {
        let mut count = 0_u64;
        let mut node = q;
        while node != last {
            node = self.next[node as usize];
            count += 1;
        }
        let low = self.label[q as usize];
        let high = if after == 0 {
            low + (count + 1) * LABEL_STEP
        } else {
            self.label[after as usize]
        };
        let step = (high - low) / (count + 1);
        if step > 0 {
            let mut label = low;
            node = q;
            while node != last {
                node = self.next[node as usize];
                label += step;
                self.label[node as usize] = label;
            }
            return;
        }
        // No room left: number the whole ring afresh.
        let mut label = LABEL_STEP;
        node = 0;
        loop {
            self.label[node as usize] = label;
            label += LABEL_STEP;
            node = self.next[node as usize];
            if node == 0 {
                return;
            }
        }
    }

    /// Takes a hole that cannot be joined out of the edges bridges must avoid.
    fn remove_loop(&mut self, first: u32) {
        let mut node = first;
        loop {
            self.tree.set_leaf(node as usize, CornerBox::EMPTY);
            node = self.next[node as usize];
            if node == first {
                return;
            }
        }
    }
}

//! Cuts a contour into triangles by clipping ears, the shortest diagonal first.
//!
//! In: one counter-clockwise contour, holes already joined by bridges. Out: triangles as positions
//! in the contour. After O'Rourke, "Computational Geometry in C", 1998, chapter 1.
//!
//! Departures: (1) of all ears the one with the shortest diagonal goes first, ties to the lowest
//! position. (2) A blocked ear remembers one edge that blocks it and is tried again only when that
//! edge goes; edges are found in a box tree. Both leave the result as if every ear were tried again
//! after every cut. (3) Corners visited twice by a bridge are told apart by their neighbours in the
//! ring.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::voxel::contours::ContourVertex;
use crate::voxel::coordinates::TileCoordinates;
use crate::voxel::edge_tree::{CornerBox, EdgeTree, cross, in_cone, touch};

const NONE: u32 = u32::MAX;
/// Up to this many corners a plain walk round the ring beats the box tree.
const SMALL_RING: usize = 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ear {
    /// Reflex, straight, or its diagonal leaves the ring at an end: only a cut next to it helps.
    Not,
    Ready,
    Blocked,
    Gone,
}

/// A worker's buffers for [`clip_ears`].
#[derive(Debug, Default)]
pub(crate) struct EarScratch {
    next: Vec<u32>,
    previous: Vec<u32>,
    ear: Vec<Ear>,
    length: Vec<i64>,
    ready: BinaryHeap<Reverse<(i64, u32)>>,
    /// Per edge (named by its start) the list of ears it blocks; entries may be outdated.
    blocked_first: Vec<u32>,
    blocked: Vec<(u32, u32)>,
    witness: Vec<u32>,
    tree: EdgeTree,
    retry: Vec<u32>,
}

/// Appends the triangles of one contour to `out`; returns how many corners had to be cut without
/// being proper ears.
pub(crate) fn clip_ears(
    ring: &[ContourVertex],
    coordinates: &TileCoordinates,
    scratch: &mut EarScratch,
    out: &mut Vec<[u32; 3]>,
) -> u32 {
    let count = ring.len();
    if count < 3 {
        return 0;
    }
    scratch.load(ring);
    for corner in 0..count as u32 {
        scratch.test(ring, corner);
    }
    let emit = |a: u32, b: u32, c: u32, out: &mut Vec<[u32; 3]>| {
        let at = |i: u32| (ring[i as usize].x, ring[i as usize].z);
        if coordinates.turn(at(a), at(b), at(c)) > 0 {
            out.push([a, b, c]);
        }
    };
    let mut degenerate = 0;
    let mut head = 0;
    for _ in 3..count {
        let (corner, proper) = match scratch.pop_ready() {
            Some(corner) => (corner, true),
            None => {
                degenerate += 1;
                (scratch.least_bad(ring, head), false)
            }
        };
        let p = scratch.previous[corner as usize];
        let q = scratch.next[corner as usize];
        emit(p, corner, q, out);
        if head == corner {
            head = q;
        }
        scratch.cut(ring, corner, proper);
    }
    let second = scratch.next[head as usize];
    emit(head, second, scratch.next[second as usize], out);
    degenerate
}

impl EarScratch {
    fn load(&mut self, ring: &[ContourVertex]) {
        let count = ring.len() as u32;
        self.next.clear();
        self.next.extend((0..count).map(|i| (i + 1) % count));
        self.previous.clear();
        self.previous
            .extend((0..count).map(|i| (i + count - 1) % count));
        self.ear.clear();
        self.ear.resize(ring.len(), Ear::Not);
        self.length.clear();
        self.length.resize(ring.len(), 0);
        self.blocked_first.clear();
        self.blocked_first.resize(ring.len(), NONE);
        self.witness.clear();
        self.witness.resize(ring.len(), NONE);
        self.blocked.clear();
        self.ready.clear();
        if ring.len() > SMALL_RING {
            let next = &self.next;
            self.tree.rebuild(ring.len(), |i| {
                CornerBox::of_segment(ring[i], ring[next[i] as usize])
            });
        }
    }

    /// Decides whether a corner is an ear and files it.
    fn test(&mut self, ring: &[ContourVertex], corner: u32) {
        let i = corner as usize;
        let (p, q) = (self.previous[i], self.next[i]);
        let (before, after) = (ring[p as usize], ring[q as usize]);
        self.ear[i] = Ear::Not;
        if cross(before, ring[i], after) <= 0 || !self.leaves_inside(ring, p, q) {
            return;
        }
        match self.blocking_edge(ring, p, q) {
            None => {
                self.ear[i] = Ear::Ready;
                self.length[i] = before.distance_squared(after);
                self.ready.push(Reverse((self.length[i], corner)));
            }
            Some(edge) => {
                self.ear[i] = Ear::Blocked;
                self.witness[i] = edge;
                self.blocked
                    .push((corner, self.blocked_first[edge as usize]));
                self.blocked_first[edge as usize] = self.blocked.len() as u32 - 1;
            }
        }
    }

    /// Whether the diagonal starts into the ring at both ends.
    fn leaves_inside(&self, ring: &[ContourVertex], p: u32, q: u32) -> bool {
        let cone = |at: u32, target: u32| {
            let i = at as usize;
            in_cone(
                ring[self.previous[i] as usize],
                ring[i],
                ring[self.next[i] as usize],
                ring[target as usize],
            )
        };
        cone(p, q) && cone(q, p)
    }

    /// An edge that touches the diagonal and does not end at the position of either of its ends.
    fn blocking_edge(&self, ring: &[ContourVertex], p: u32, q: u32) -> Option<u32> {
        let (from, to) = (ring[p as usize], ring[q as usize]);
        let query = CornerBox::of_segment(from, to);
        let blocks = |edge: u32| {
            let (a, b) = (ring[edge as usize], ring[self.next[edge as usize] as usize]);
            CornerBox::of_segment(a, b).meets(&query)
                && !(a.same_corner(from)
                    || a.same_corner(to)
                    || b.same_corner(from)
                    || b.same_corner(to))
                && touch(from, to, a, b)
        };
        if ring.len() > SMALL_RING {
            return self.tree.find(&query, blocks);
        }
        let mut edge = q;
        while edge != p {
            if blocks(edge) {
                return Some(edge);
            }
            edge = self.next[edge as usize];
        }
        None
    }

    fn pop_ready(&mut self) -> Option<u32> {
        while let Some(Reverse((length, corner))) = self.ready.pop() {
            let i = corner as usize;
            if self.ear[i] == Ear::Ready && self.length[i] == length {
                return Some(corner);
            }
        }
        None
    }

    /// With no proper ear left: the first corner from `head` that does not turn right and has a
    /// diagonal, else `head` itself.
    fn least_bad(&self, ring: &[ContourVertex], head: u32) -> u32 {
        let mut corner = head;
        loop {
            let i = corner as usize;
            let (p, q) = (self.previous[i], self.next[i]);
            let straight = cross(ring[p as usize], ring[i], ring[q as usize]) >= 0;
            if straight
                && self.leaves_inside(ring, p, q)
                && self.blocking_edge(ring, p, q).is_none()
            {
                return corner;
            }
            corner = q;
            if corner == head {
                return head;
            }
        }
    }

    /// Takes a corner out of the ring and tests again what its going can change.
    fn cut(&mut self, ring: &[ContourVertex], corner: u32, proper: bool) {
        let (p, q) = (self.previous[corner as usize], self.next[corner as usize]);
        self.next[p as usize] = q;
        self.previous[q as usize] = p;
        self.ear[corner as usize] = Ear::Gone;
        if ring.len() > SMALL_RING {
            self.tree.set_leaf(corner as usize, CornerBox::EMPTY);
            self.tree.set_leaf(
                p as usize,
                CornerBox::of_segment(ring[p as usize], ring[q as usize]),
            );
        }
        let mut retry = core::mem::take(&mut self.retry);
        retry.clear();
        if proper {
            retry.extend([p, q]);
            for edge in [p, corner] {
                let mut entry = core::mem::replace(&mut self.blocked_first[edge as usize], NONE);
                while entry != NONE {
                    let (ear, following) = self.blocked[entry as usize];
                    let i = ear as usize;
                    if self.ear[i] == Ear::Blocked && self.witness[i] == edge {
                        retry.push(ear);
                    }
                    entry = following;
                }
            }
        } else {
            // An improper cut breaks the argument that ready ears stay ready.
            self.blocked_first.fill(NONE);
            self.blocked.clear();
            self.ready.clear();
            let mut at = q;
            loop {
                retry.push(at);
                at = self.next[at as usize];
                if at == q {
                    break;
                }
            }
        }
        for &ear in &retry {
            self.test(ring, ear);
        }
        self.retry = retry;
    }
}

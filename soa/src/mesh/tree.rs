//! Bounding-volume hierarchy over the polygons of a tile: decides which polygons a question looks
//! at, never the answer.
//!
//! Polygons are parted top down: across the longest axis of the place they lie in, at the median of
//! their centres (polygon index on ties), until a node holds at most four; a half's place is its
//! parent's up to the cut. Then boxes grow bottom up. Nodes are stored depth first with a skip index, so
//! a traversal is one forward walk without a stack.

use crate::world::DVec3;
use std::ops::Range;

const LEAF: usize = 4;

/// A node: its box, and either polygons (a leaf) or the nodes that follow it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeNode {
    /// Low corner, world units.
    pub min: DVec3,
    /// High corner.
    pub max: DVec3,
    /// First entry in [`PolyTree::order`] (leaves).
    pub first: u32,
    /// Entries; 0 for an inner node.
    pub count: u32,
    /// Node to go on with when this one's box is missed (or its leaf is done).
    pub skip: u32,
}

/// The hierarchy of one tile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolyTree {
    /// Nodes, depth first; empty for a tile without polygons.
    pub nodes: Vec<TreeNode>,
    /// Polygon indices in leaf order.
    pub order: Vec<u32>,
}

/// Where the polygons of a node lie, about: it chooses the axis, no box is made of it. Counted from the
/// low corner of all.
#[derive(Clone, Copy)]
struct Place {
    low: [f32; 3],
    high: [f32; 3],
}

impl PolyTree {
    /// Builds the hierarchy over polygon boxes. `O(n log n)`.
    #[must_use]
    pub fn build(min: &[DVec3], max: &[DVec3]) -> Self {
        let polys = min.len().min(max.len());
        let mut builder = Builder {
            min,
            max,
            centers: Vec::with_capacity(polys),
            keys: Vec::with_capacity(polys),
            nodes: Vec::with_capacity(polys),
            order: (0..polys as u32).collect(),
        };
        if polys > 0 {
            let (low, high) = builder.box_over(0..polys);
            builder
                .centers
                .extend(min.iter().zip(max).map(|(&min, &max)| {
                    let center = (min - low) + (max - low);
                    // The sum turns a negative zero round: it lies where the other does.
                    let bits = |value: f64| (value as f32 + 0.0).to_bits();
                    [bits(center.x), bits(center.y), bits(center.z)]
                }));
            let size = high - low;
            let place = Place {
                low: [0.0; 3],
                high: [size.x as f32, size.y as f32, size.z as f32],
            };
            builder.split(place, 0..polys);
        }
        Self {
            nodes: builder.nodes,
            order: builder.order,
        }
    }

    /// Calls `visit` with every polygon whose leaf box meets the box `min..=max`.
    #[inline]
    pub fn visit(&self, min: DVec3, max: DVec3, mut visit: impl FnMut(usize)) {
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            let meets = node.min.x <= max.x
                && node.max.x >= min.x
                && node.min.z <= max.z
                && node.max.z >= min.z
                && node.min.y <= max.y
                && node.max.y >= min.y;
            if meets && node.count == 0 {
                at += 1;
                continue;
            }
            if meets {
                let leaf = node.first as usize..(node.first + node.count) as usize;
                for &poly in &self.order[leaf] {
                    visit(poly as usize);
                }
            }
            at = node.skip as usize;
        }
    }
}

struct Builder<'b> {
    min: &'b [DVec3],
    max: &'b [DVec3],
    /// Bits of twice the centre of each polygon's box, counted from the low corner of all: float32s
    /// that are not negative, whose bits stand in their order.
    centers: Vec<[u32; 3]>,
    keys: Vec<u64>,
    nodes: Vec<TreeNode>,
    order: Vec<u32>,
}

impl Builder<'_> {
    /// Appends the node over the entries `range` of the order and those beneath it.
    fn split(&mut self, place: Place, range: Range<usize>) {
        let node = self.nodes.len();
        let leaf = range.len() <= LEAF;
        self.nodes.push(TreeNode {
            min: DVec3::ZERO,
            max: DVec3::ZERO,
            first: range.start as u32,
            count: if leaf { range.len() as u32 } else { 0 },
            skip: 0,
        });
        let bounds = if leaf {
            self.box_over(range)
        } else {
            let middle = range.start + range.len() / 2;
            let [before, after] = self.part(place, range.clone());
            self.split(before, range.start..middle);
            let second = self.nodes.len();
            self.split(after, middle..range.end);
            let (a, b) = (&self.nodes[node + 1], &self.nodes[second]);
            (a.min.min(b.min), a.max.max(b.max))
        };
        let skip = self.nodes.len() as u32;
        let node = &mut self.nodes[node];
        (node.min, node.max, node.skip) = (bounds.0, bounds.1, skip);
    }

    /// Brings the half with the lower centres, seen along the place's longest axis, to the front. The
    /// halves' places.
    fn part(&mut self, place: Place, range: Range<usize>) -> [Place; 2] {
        let size = |axis: usize| place.high[axis] - place.low[axis];
        let axis = if size(0) >= size(1) && size(0) >= size(2) {
            0
        } else if size(2) >= size(1) {
            2
        } else {
            1
        };
        let order = &mut self.order[range];
        self.keys.clear();
        self.keys.extend(order.iter().map(|&poly| {
            let center = self.centers[poly as usize][axis];
            u64::from(center) << 32 | u64::from(poly)
        }));
        let half = order.len() / 2;
        let (_, &mut median, _) = self.keys.select_nth_unstable(half);
        for (entry, &key) in order.iter_mut().zip(&self.keys) {
            *entry = key as u32;
        }
        let cut = f32::from_bits((median >> 32) as u32) * 0.5;
        let (mut before, mut after) = (place, place);
        before.high[axis] = cut;
        after.low[axis] = cut;
        [before, after]
    }

    /// The box over the boxes of some entries of the order.
    fn box_over(&self, range: Range<usize>) -> (DVec3, DVec3) {
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for &poly in &self.order[range] {
            low = low.min(self.min[poly as usize]);
            high = high.max(self.max[poly as usize]);
        }
        (low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SplitMix64;

    #[test]
    fn the_sign_of_a_zero_does_not_show() {
        let tree = |zero: f64| {
            let heights = [zero, 0.0, zero, 0.0, zero, 100.0, 90.0, 80.0, 0.0];
            let boxes = heights.map(|height| DVec3::new(0.0, height, 0.0));
            PolyTree::build(&boxes, &boxes)
        };
        assert_eq!(tree(0.0), tree(-0.0));
    }

    #[test]
    fn every_overlapping_box_is_visited_once() {
        let mut rng = SplitMix64::new(3);
        let min: Vec<DVec3> = (0..200)
            .map(|_| {
                DVec3::new(
                    rng.range(0.0, 50.0),
                    rng.range(0.0, 5.0),
                    rng.range(0.0, 50.0),
                )
            })
            .collect();
        let max: Vec<DVec3> = min
            .iter()
            .map(|&m| m + DVec3::splat(rng.range(0.0, 4.0)))
            .collect();
        let tree = PolyTree::build(&min, &max);
        for _ in 0..100 {
            let low = DVec3::new(
                rng.range(-5.0, 50.0),
                rng.range(-1.0, 5.0),
                rng.range(-5.0, 50.0),
            );
            let high = low + DVec3::splat(rng.range(0.0, 9.0));
            let mut seen = vec![0; min.len()];
            tree.visit(low, high, |poly| seen[poly] += 1);
            for poly in 0..min.len() {
                let overlaps = min[poly].cmple(high).all() && max[poly].cmpge(low).all();
                assert!(seen[poly] <= 1 && (!overlaps || seen[poly] == 1));
            }
        }
    }
}

//! Bounding-volume hierarchy over the polygons of a tile: decides which polygons a question looks
//! at, never the answer.
//!
//! Built top down: the longest axis of the node's box is split at the median of the polygon
//! centres (polygon index on ties) until a node holds at most four. Nodes are stored depth first
//! with a skip index, so a traversal is one forward walk without a stack.

use crate::world::DVec3;

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

impl PolyTree {
    /// Builds the hierarchy over polygon boxes.
    #[must_use]
    pub fn build(min: &[DVec3], max: &[DVec3]) -> Self {
        let mut tree = Self {
            nodes: Vec::with_capacity(min.len()),
            order: (0..min.len() as u32).collect(),
        };
        if !min.is_empty() {
            tree.split(min, max, &mut Vec::with_capacity(min.len()), 0, min.len());
        }
        tree
    }

    /// Appends the node over the places `first..end` of the order and those beneath it.
    fn split(
        &mut self,
        min: &[DVec3],
        max: &[DVec3],
        keys: &mut Vec<(i64, u32)>,
        first: usize,
        end: usize,
    ) {
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for &poly in &self.order[first..end] {
            low = low.min(min[poly as usize]);
            high = high.max(max[poly as usize]);
        }
        let node = self.nodes.len();
        let leaf = end - first <= LEAF;
        self.nodes.push(TreeNode {
            min: low,
            max: high,
            first: first as u32,
            count: if leaf { (end - first) as u32 } else { 0 },
            skip: 0,
        });
        if !leaf {
            let size = high - low;
            let axis = if size.x >= size.y && size.x >= size.z {
                0
            } else if size.z >= size.y {
                2
            } else {
                1
            };
            let order = &mut self.order[first..end];
            keys.clear();
            keys.extend(order.iter().map(|&poly| {
                let center = min[poly as usize][axis] + max[poly as usize][axis];
                (in_order(center), poly)
            }));
            let half = (end - first) / 2;
            keys.select_nth_unstable(half);
            for (place, &(_, poly)) in order.iter_mut().zip(&*keys) {
                *place = poly;
            }
            let middle = first + half;
            self.split(min, max, keys, first, middle);
            self.split(min, max, keys, middle, end);
        }
        self.nodes[node].skip = self.nodes.len() as u32;
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

/// A number that compares as [`f64::total_cmp`] does.
fn in_order(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SplitMix64;

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

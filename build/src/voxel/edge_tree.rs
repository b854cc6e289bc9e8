//! Bounding boxes over the edges of outlines, so "does this segment touch any edge" costs the
//! logarithm of the edge count instead of the count.
//!
//! In: edges in ring order, which is also an order in space, so a box over eight consecutive
//! leaves is small and no sorting is needed. Out: the edges whose boxes meet a query box.
//! Integer arithmetic only. A leaf can be changed or emptied in place while an ear is clipped or a
//! hole is joined.

use crate::voxel::contours::ContourVertex;

const FAN: usize = 8;

/// A closed box on the corner grid. `min > max` means empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CornerBox {
    pub(crate) min_x: i32,
    pub(crate) min_z: i32,
    pub(crate) max_x: i32,
    pub(crate) max_z: i32,
}

impl CornerBox {
    pub(crate) const EMPTY: Self = Self {
        min_x: i32::MAX,
        min_z: i32::MAX,
        max_x: i32::MIN,
        max_z: i32::MIN,
    };

    #[inline]
    pub(crate) fn of_segment(a: ContourVertex, b: ContourVertex) -> Self {
        Self {
            min_x: a.x.min(b.x),
            min_z: a.z.min(b.z),
            max_x: a.x.max(b.x),
            max_z: a.z.max(b.z),
        }
    }

    #[inline]
    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.min_x <= other.max_x
            && other.min_x <= self.max_x
            && self.min_z <= other.max_z
            && other.min_z <= self.max_z
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.min_x > self.max_x
    }

    #[inline]
    fn join(&mut self, other: &Self) {
        self.min_x = self.min_x.min(other.min_x);
        self.min_z = self.min_z.min(other.min_z);
        self.max_x = self.max_x.max(other.max_x);
        self.max_z = self.max_z.max(other.max_z);
    }

    /// Squared distance from a point to the box; 0 inside.
    #[inline]
    pub(crate) fn distance_squared(&self, x: i32, z: i32) -> i64 {
        let dx = i64::from((self.min_x - x).max(x - self.max_x).max(0));
        let dz = i64::from((self.min_z - z).max(z - self.max_z).max(0));
        dx * dx + dz * dz
    }
}

/// A node of the tree: level 0 holds the edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TreeNode {
    pub(crate) level: u8,
    pub(crate) index: u32,
}

/// The boxes of all levels, leaves first.
#[derive(Debug, Default)]
pub(crate) struct EdgeTree {
    boxes: Vec<CornerBox>,
    /// First box of each level; one more entry than levels.
    level_first: Vec<u32>,
}

impl EdgeTree {
    /// Sets the tree to `count` leaves taken from `leaf`, at about `1.14 * count` box joins.
    pub(crate) fn rebuild(&mut self, count: usize, leaf: impl FnMut(usize) -> CornerBox) {
        self.boxes.clear();
        self.level_first.clear();
        self.level_first.push(0);
        self.boxes.extend((0..count).map(leaf));
        let mut first = 0;
        loop {
            let end = self.boxes.len();
            self.level_first.push(end as u32);
            if end - first <= 1 {
                return;
            }
            let mut at = first;
            while at < end {
                let stop = (at + FAN).min(end);
                let mut joined = CornerBox::EMPTY;
                for child in &self.boxes[at..stop] {
                    joined.join(child);
                }
                self.boxes.push(joined);
                at = stop;
            }
            first = end;
        }
    }

    /// Replaces one leaf and refreshes the boxes above it.
    pub(crate) fn set_leaf(&mut self, leaf: usize, value: CornerBox) {
        if self.boxes[leaf] == value {
            return;
        }
        self.boxes[leaf] = value;
        let mut index = leaf;
        for level in 1..self.level_count() {
            let below = self.level_first[level - 1] as usize;
            let below_end = self.level_first[level] as usize;
            let at = below + (index / FAN) * FAN;
            let stop = (at + FAN).min(below_end);
            let mut joined = CornerBox::EMPTY;
            for child in &self.boxes[at..stop] {
                joined.join(child);
            }
            index /= FAN;
            let own = below_end + index;
            if self.boxes[own] == joined {
                return;
            }
            self.boxes[own] = joined;
        }
    }

    /// Calls `visit` with every edge whose box meets `query` until it returns true; returns the
    /// edge it stopped at.
    #[inline]
    pub(crate) fn find(
        &self,
        query: &CornerBox,
        mut visit: impl FnMut(u32) -> bool,
    ) -> Option<u32> {
        let mut stack = [TreeNode { level: 0, index: 0 }; 80];
        let mut depth = 0;
        if let Some(root) = self.root() {
            stack[0] = root;
            depth = 1;
        }
        while depth > 0 {
            depth -= 1;
            let node = stack[depth];
            if !self.node_box(node).meets(query) {
                continue;
            }
            if node.level == 0 {
                if visit(node.index) {
                    return Some(node.index);
                }
                continue;
            }
            if node.level == 1 {
                let (at, stop) = self.children(node);
                for index in at..stop {
                    if self.boxes[index as usize].meets(query) && visit(index) {
                        return Some(index);
                    }
                }
                continue;
            }
            let (at, stop) = self.children(node);
            for index in (at..stop).rev() {
                stack[depth] = TreeNode {
                    level: node.level - 1,
                    index,
                };
                depth += 1;
            }
        }
        None
    }

    /// The node over all edges, unless there are none.
    pub(crate) fn root(&self) -> Option<TreeNode> {
        let levels = self.level_count();
        (levels > 0 && !self.boxes.is_empty()).then(|| TreeNode {
            level: (levels - 1) as u8,
            index: 0,
        })
    }

    /// Indices, within the level below, of a node's children.
    #[inline]
    pub(crate) fn children(&self, node: TreeNode) -> (u32, u32) {
        let level = node.level as usize;
        let below = self.level_first[level] - self.level_first[level - 1];
        let at = node.index * FAN as u32;
        (at, (at + FAN as u32).min(below))
    }

    /// The box of a node.
    #[inline]
    pub(crate) fn node_box(&self, node: TreeNode) -> &CornerBox {
        &self.boxes[(self.level_first[node.level as usize] + node.index) as usize]
    }

    fn level_count(&self) -> usize {
        self.level_first.len().saturating_sub(1)
    }
}

/// Twice the signed area of the triangle `a b c`: positive when `c` lies left of `a b` (x right,
/// z up). Exact for corners below 2^20.
#[inline]
pub(crate) fn cross(a: ContourVertex, b: ContourVertex, c: ContourVertex) -> i64 {
    let (abx, abz) = (i64::from(b.x - a.x), i64::from(b.z - a.z));
    let (acx, acz) = (i64::from(c.x - a.x), i64::from(c.z - a.z));
    abx * acz - acx * abz
}

/// Whether the open segments cross at one point inside both.
#[inline]
pub(crate) fn cross_properly(
    a: ContourVertex,
    b: ContourVertex,
    c: ContourVertex,
    d: ContourVertex,
) -> bool {
    let (abc, abd) = (cross(a, b, c), cross(a, b, d));
    if abc == 0 || abd == 0 || (abc > 0) == (abd > 0) {
        return false;
    }
    let (cda, cdb) = (cross(c, d, a), cross(c, d, b));
    cda != 0 && cdb != 0 && (cda > 0) != (cdb > 0)
}

/// Whether the closed segments share a point.
#[inline]
pub(crate) fn touch(
    a: ContourVertex,
    b: ContourVertex,
    c: ContourVertex,
    d: ContourVertex,
) -> bool {
    let (abc, abd) = (cross(a, b, c), cross(a, b, d));
    let (cda, cdb) = (cross(c, d, a), cross(c, d, b));
    if abc != 0 && abd != 0 && cda != 0 && cdb != 0 {
        return (abc > 0) != (abd > 0) && (cda > 0) != (cdb > 0);
    }
    (abc == 0 && in_box(a, b, c))
        || (abd == 0 && in_box(a, b, d))
        || (cda == 0 && in_box(c, d, a))
        || (cdb == 0 && in_box(c, d, b))
}

#[inline]
pub(crate) fn in_box(a: ContourVertex, b: ContourVertex, p: ContourVertex) -> bool {
    p.x >= a.x.min(b.x) && p.x <= a.x.max(b.x) && p.z >= a.z.min(b.z) && p.z <= a.z.max(b.z)
}

/// Whether the direction from `at` to `target` lies strictly inside the corner `before at after`
/// (the side left of both edges).
#[inline]
pub(crate) fn in_cone(
    before: ContourVertex,
    at: ContourVertex,
    after: ContourVertex,
    target: ContourVertex,
) -> bool {
    if cross(before, at, after) >= 0 {
        cross(at, target, before) > 0 && cross(target, at, after) > 0
    } else {
        !(cross(at, target, after) >= 0 && cross(target, at, before) >= 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_soa::rng::SplitMix64;

    fn corner(x: i32, z: i32) -> ContourVertex {
        ContourVertex {
            x,
            y: 0,
            z,
            neighbor: 0,
        }
    }

    #[test]
    fn find_visits_exactly_the_edges_whose_boxes_meet() {
        let mut rng = SplitMix64::new(5);
        let mut tree = EdgeTree::default();
        for count in [0, 1, 2, 7, 8, 9, 63, 64, 65, 700] {
            let mut point = || corner(rng.next_below(100) as i32, rng.next_below(100) as i32);
            let mut edges: Vec<_> = (0..count).map(|_| (point(), point())).collect();
            let boxes = |edges: &[(ContourVertex, ContourVertex)], i: usize| {
                CornerBox::of_segment(edges[i].0, edges[i].1)
            };
            tree.rebuild(count, |i| boxes(&edges, i));
            for round in 0..50 {
                if count > 0 && round % 3 == 0 {
                    let i = round * 13 % count;
                    edges[i] = (point(), point());
                    tree.set_leaf(i, boxes(&edges, i));
                }
                let query = CornerBox::of_segment(point(), point());
                let mut seen = Vec::new();
                let stopped = tree.find(&query, |i| {
                    seen.push(i as usize);
                    false
                });
                assert_eq!(stopped, None);
                seen.sort_unstable();
                let expected: Vec<usize> = (0..count)
                    .filter(|&i| boxes(&edges, i).meets(&query))
                    .collect();
                assert_eq!(seen, expected);
            }
        }
    }

    #[test]
    fn segments_that_touch_and_cross() {
        let (a, b) = (corner(0, 0), corner(4, 4));
        assert!(cross_properly(a, b, corner(0, 4), corner(4, 0)));
        assert!(!cross_properly(a, b, corner(2, 2), corner(4, 0)));
        assert!(touch(a, b, corner(2, 2), corner(4, 0)));
        assert!(touch(a, b, corner(4, 4), corner(9, 0)));
        assert!(touch(a, b, corner(3, 3), corner(9, 9)));
        assert!(!touch(a, b, corner(5, 5), corner(9, 9)));
        assert!(!touch(a, b, corner(1, 0), corner(5, 4)));
    }

    #[test]
    fn cones_of_a_convex_and_a_reflex_corner() {
        let (before, at, after) = (corner(0, 4), corner(0, 0), corner(4, 0));
        assert!(in_cone(before, at, after, corner(1, 1)));
        assert!(!in_cone(before, at, after, corner(4, 0)));
        assert!(!in_cone(before, at, after, corner(-1, 2)));
        assert!(in_cone(after, at, before, corner(-1, 2)));
        assert!(!in_cone(after, at, before, corner(1, 1)));
    }
}

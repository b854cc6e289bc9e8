//! Fewer corners for one traced loop.
//!
//! In: a loop of cell corners. Out: the corners kept. Corners where the neighbour changes always
//! stay, so two regions that share a border meet at the same ends; between them each stretch is
//! refined from its own corners alone, with ties decided by position, so both sides keep the same
//! corners whichever way they walk. See the module header of [`super`] for the source.

use super::trace::signed_area2;
use super::{ContourSettings, ContourVertex};
use crate::voxel::edge_tree::{CornerBox, EdgeTree, cross_properly};

/// A worker's buffers for [`simplify_loop`].
#[derive(Debug, Default)]
pub struct SimplifyScratch {
    kept: Vec<bool>,
    stack: Vec<(u32, u32)>,
    tree: EdgeTree,
}

/// The settings in the form the inner loop compares with.
#[derive(Clone, Copy, Debug)]
pub struct SimplifyRule<'a> {
    max_error_squared: f64,
    max_edge_squared: i64,
    straight: bool,
    border_region: i32,
    region_area: &'a [u8],
}

impl<'a> SimplifyRule<'a> {
    /// `region_area[r]` is the area id of region `r`.
    #[must_use]
    pub fn new(settings: &ContourSettings, region_area: &'a [u8]) -> Self {
        let error = f64::from(settings.max_error);
        let edge = i64::from(settings.max_edge_length);
        Self {
            max_error_squared: error * error,
            max_edge_squared: edge * edge,
            straight: settings.straight_region_borders && settings.max_error > 0.0,
            border_region: settings.border_region as i32,
            region_area,
        }
    }

    /// Whether the border between `region` and `neighbor` stays one edge.
    #[inline]
    fn is_straight(&self, region: u32, neighbor: i32) -> bool {
        neighbor > 0
            && neighbor != self.border_region
            && self.region_area[neighbor as usize] == self.region_area[region as usize]
    }
}

/// Appends the simplified form of one loop to `out`; true when the first attempt crossed itself and
/// was replaced by a closer one.
pub fn simplify_loop(
    raw: &[ContourVertex],
    raw_area2: i64,
    region: u32,
    rule: &SimplifyRule<'_>,
    scratch: &mut SimplifyScratch,
    out: &mut Vec<ContourVertex>,
) -> bool {
    let first = out.len();
    simplify_or_raw(raw, raw_area2, region, rule, rule.straight, scratch, out);
    if !rule.straight || !crosses_itself(&out[first..], &mut scratch.tree) {
        return false;
    }
    out.truncate(first);
    simplify_or_raw(raw, raw_area2, region, rule, false, scratch, out);
    if crosses_itself(&out[first..], &mut scratch.tree) {
        out.truncate(first);
        out.extend_from_slice(raw);
    }
    true
}

/// One attempt; an attempt that loses the loop is made again without any error, then given up.
fn simplify_or_raw(
    raw: &[ContourVertex],
    raw_area2: i64,
    region: u32,
    rule: &SimplifyRule<'_>,
    straight: bool,
    scratch: &mut SimplifyScratch,
    out: &mut Vec<ContourVertex>,
) {
    let first = out.len();
    attempt(
        raw,
        region,
        rule,
        rule.max_error_squared,
        straight,
        scratch,
        out,
    );
    if still_a_loop(&out[first..], raw_area2) {
        return;
    }
    out.truncate(first);
    attempt(raw, region, rule, 0.0, false, scratch, out);
    if still_a_loop(&out[first..], raw_area2) {
        return;
    }
    out.truncate(first);
    out.extend_from_slice(raw);
}

fn still_a_loop(vertices: &[ContourVertex], raw_area2: i64) -> bool {
    vertices.len() >= 3 && signed_area2(vertices).signum() == raw_area2.signum()
}

fn attempt(
    raw: &[ContourVertex],
    region: u32,
    rule: &SimplifyRule<'_>,
    max_error_squared: f64,
    straight: bool,
    scratch: &mut SimplifyScratch,
    out: &mut Vec<ContourVertex>,
) {
    let count = raw.len();
    scratch.kept.clear();
    scratch.kept.resize(count, false);
    keep_stretch_ends(raw, &mut scratch.kept, &mut scratch.stack);
    let mut edges = core::mem::take(&mut scratch.stack);
    while let Some((from, to)) = edges.pop() {
        let (a, b) = (raw[from as usize % count], raw[to as usize % count]);
        if straight && rule.is_straight(region, a.neighbor) {
            continue;
        }
        let split = match farthest(raw, from, to) {
            Some((index, distance)) if distance > max_error_squared => index,
            _ => {
                let too_long = rule.max_edge_squared > 0
                    && a.neighbor == 0
                    && a.distance_squared(b) > rule.max_edge_squared;
                let middle = (from + to) / 2;
                if !too_long || middle == from {
                    continue;
                }
                middle
            }
        };
        scratch.kept[split as usize % count] = true;
        edges.push((from, split));
        edges.push((split, to));
    }
    scratch.stack = edges;
    write_kept(raw, &scratch.kept, out);
}

/// Keeps the corners where the neighbour changes, or two extreme corners when it never does, and
/// pushes the stretches between them. A stretch's end index may run past the loop's length.
fn keep_stretch_ends(raw: &[ContourVertex], kept: &mut [bool], stretches: &mut Vec<(u32, u32)>) {
    stretches.clear();
    let count = raw.len();
    let (mut first, mut last) = (u32::MAX, 0);
    let mut previous = raw[count - 1].neighbor;
    for (index, vertex) in raw.iter().enumerate() {
        if vertex.neighbor != previous {
            kept[index] = true;
            if first == u32::MAX {
                first = index as u32;
            } else {
                stretches.push((last, index as u32));
            }
            last = index as u32;
        }
        previous = vertex.neighbor;
    }
    if first != u32::MAX {
        stretches.push((last, first + count as u32));
        return;
    }
    let (mut low, mut high) = (0, 0);
    for (index, vertex) in raw.iter().enumerate() {
        let key = (vertex.x, vertex.z);
        if key < (raw[low].x, raw[low].z) {
            low = index;
        }
        if key > (raw[high].x, raw[high].z) {
            high = index;
        }
    }
    kept[low] = true;
    kept[high] = true;
    let (from, to) = (low.min(high) as u32, low.max(high) as u32);
    stretches.push((from, to));
    stretches.push((to, from + count as u32));
}

/// The corner strictly inside a stretch farthest from the segment between its ends, and its
/// squared distance.
fn farthest(raw: &[ContourVertex], from: u32, to: u32) -> Option<(u32, f64)> {
    let count = raw.len();
    let (a, b) = (raw[from as usize % count], raw[to as usize % count]);
    let (abx, abz) = (i64::from(b.x - a.x), i64::from(b.z - a.z));
    let length_squared = abx * abx + abz * abz;
    let mut best: Option<(u32, f64)> = None;
    let mut best_corner = (0, 0);
    let mut consider = |index: u32, p: ContourVertex| {
        let (apx, apz) = (i64::from(p.x - a.x), i64::from(p.z - a.z));
        let along = apx * abx + apz * abz;
        let distance = if along <= 0 {
            (apx * apx + apz * apz) as f64
        } else if along >= length_squared {
            p.distance_squared(b) as f64
        } else {
            let area = (abx * apz - apx * abz) as f64;
            area * area / length_squared as f64
        };
        let farther = match best {
            None => true,
            Some((_, most)) => distance > most || (distance == most && (p.x, p.z) < best_corner),
        };
        if farther {
            best = Some((index, distance));
            best_corner = (p.x, p.z);
        }
    };
    // The stretch may wrap: two plain runs instead of a remainder per corner.
    let wrap = (count as u32).min(to);
    for index in from + 1..wrap {
        consider(index, raw[index as usize]);
    }
    for index in (from + 1).max(count as u32)..to {
        consider(index, raw[index as usize - count]);
    }
    best
}

/// Copies the kept corners; of neighbours at one position the first stays and takes over the edge
/// that leaves the second.
fn write_kept(raw: &[ContourVertex], kept: &[bool], out: &mut Vec<ContourVertex>) {
    let first = out.len();
    for (vertex, _) in raw.iter().zip(kept).filter(|(_, kept)| **kept) {
        match out[first..].last_mut() {
            Some(last) if last.same_corner(*vertex) => last.neighbor = vertex.neighbor,
            _ => out.push(*vertex),
        }
    }
    while out.len() - first > 1 && out[out.len() - 1].same_corner(out[first]) {
        out.pop();
    }
}

/// Whether two edges of a loop cross at a point inside both.
pub(crate) fn crosses_itself(vertices: &[ContourVertex], tree: &mut EdgeTree) -> bool {
    let count = vertices.len();
    if count < 4 {
        return false;
    }
    let end = |index: usize| vertices[if index + 1 == count { 0 } else { index + 1 }];
    if count <= 12 {
        for i in 0..count {
            for j in i + 2..count {
                if cross_properly(vertices[i], end(i), vertices[j], end(j)) {
                    return true;
                }
            }
        }
        return false;
    }
    tree.rebuild(count, |i| CornerBox::of_segment(vertices[i], end(i)));
    for i in 0..count {
        let (a, b) = (vertices[i], end(i));
        let crossing = tree.find(&CornerBox::of_segment(a, b), |j| {
            let j = j as usize;
            j > i && cross_properly(a, b, vertices[j], end(j))
        });
        if crossing.is_some() {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corners(points: &[(i32, i32, i32)]) -> Vec<ContourVertex> {
        points
            .iter()
            .map(|&(x, z, neighbor)| ContourVertex {
                x,
                y: 0,
                z,
                neighbor,
            })
            .collect()
    }

    /// The corners of a `width` by `depth` rectangle, one a cell, counter-clockwise.
    fn rectangle(width: i32, depth: i32, neighbor: [i32; 4]) -> Vec<ContourVertex> {
        let mut points = Vec::new();
        points.extend((0..width).map(|x| (x, 0, neighbor[0])));
        points.extend((0..depth).map(|z| (width, z, neighbor[1])));
        points.extend((1..=width).rev().map(|x| (x, depth, neighbor[2])));
        points.extend((1..=depth).rev().map(|z| (0, z, neighbor[3])));
        corners(&points)
    }

    fn run(raw: &[ContourVertex], settings: &ContourSettings) -> Vec<(i32, i32)> {
        let rule = SimplifyRule::new(settings, &[0, 63, 63, 5]);
        let mut out = Vec::new();
        simplify_loop(
            raw,
            signed_area2(raw),
            1,
            &rule,
            &mut SimplifyScratch::default(),
            &mut out,
        );
        out.iter().map(|v| (v.x, v.z)).collect()
    }

    #[test]
    fn a_rectangle_of_walls_keeps_its_corners() {
        let settings = ContourSettings {
            max_edge_length: 0,
            ..ContourSettings::default()
        };
        let raw = rectangle(7, 5, [0; 4]);
        assert_eq!(run(&raw, &settings), [(0, 0), (7, 0), (7, 5), (0, 5)]);
    }

    #[test]
    fn long_walls_are_split_at_the_middle_and_portals_are_not() {
        let raw = rectangle(16, 6, [0, 3, -1, 2]);
        let kept = run(&raw, &ContourSettings::default());
        assert_eq!(kept, [(0, 0), (8, 0), (16, 0), (16, 6), (0, 6)]);
    }

    #[test]
    fn a_staircase_between_equal_areas_becomes_one_edge_and_a_wall_does_not() {
        let stairs = |neighbor| {
            let mut points = vec![(0, 0, 0), (8, 0, 0)];
            for step in 0..8 {
                points.push((8, step, neighbor));
                let x = if step < 4 { 8 + step } else { 16 - step };
                points.push((x, step, neighbor));
            }
            points.push((8, 8, 0));
            points.push((0, 8, 0));
            points.dedup();
            corners(&points)
        };
        let settings = ContourSettings {
            max_edge_length: 0,
            ..ContourSettings::default()
        };
        let seam = run(&stairs(2), &settings);
        let other_area = run(&stairs(3), &settings);
        assert!(seam.len() < other_area.len(), "{seam:?} {other_area:?}");
    }

    #[test]
    fn a_region_narrower_than_the_error_does_not_vanish() {
        let raw = rectangle(1, 1, [0; 4]);
        assert_eq!(run(&raw, &ContourSettings::default()).len(), 4);
        let raw = rectangle(5, 1, [0, 2, 0, 2]);
        assert_eq!(run(&raw, &ContourSettings::default()).len(), 4);
    }

    #[test]
    fn a_bow_tie_crosses_itself_and_a_touching_loop_does_not() {
        let mut tree = EdgeTree::default();
        let bow = corners(&[(0, 0, 0), (4, 4, 0), (4, 0, 0), (0, 4, 0)]);
        assert!(crosses_itself(&bow, &mut tree));
        let touching = corners(&[
            (0, 0, 0),
            (2, 2, 0),
            (4, 0, 0),
            (4, 4, 0),
            (2, 2, 0),
            (0, 4, 0),
        ]);
        assert!(!crosses_itself(&touching, &mut tree));
    }
}

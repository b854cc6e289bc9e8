//! Hole joining against the plainest code that follows the same rule: all candidates sorted, every
//! edge of every loop tried.

use super::simplify::{SimplifyRule, SimplifyScratch, crosses_itself, simplify_loop};
use super::trace::signed_area2;
use super::{ContourScratch, ContourSet, ContourSettings, ContourVertex, build_contours};
use crate::voxel::edge_tree::{EdgeTree, cross, in_box, in_cone, touch};
use crate::voxel::pictures;

type Loop = Vec<ContourVertex>;

fn leftmost(ring: &Loop) -> usize {
    (0..ring.len())
        .min_by_key(|&i| (ring[i].x, ring[i].z, i))
        .unwrap()
}

fn around(ring: &Loop, i: usize) -> [ContourVertex; 3] {
    let n = ring.len();
    [ring[(i + n - 1) % n], ring[i], ring[(i + 1) % n]]
}

fn contains(ring: &Loop, p: ContourVertex) -> bool {
    let mut odd = false;
    for i in 0..ring.len() {
        let [_, a, b] = around(ring, i);
        if cross(a, b, p) == 0 && in_box(a, b, p) {
            return true;
        }
        if (a.z <= p.z) != (b.z <= p.z) && (cross(a, b, p) < 0) == (b.z > a.z) {
            odd = !odd;
        }
    }
    odd
}

fn join(outline: &Loop, holes: &[&Loop], region: u32) -> (Loop, u32) {
    let mut holes: Vec<&Loop> = holes.to_vec();
    holes.sort_by_key(|hole| {
        let p = hole[leftmost(hole)];
        (p.x, p.z)
    });
    let mut ring = outline.clone();
    let mut dropped = 0;
    for index in 0..holes.len() {
        let hole = holes[index];
        let left = leftmost(hole);
        let [before, p, after] = around(hole, left);
        let mut candidates: Vec<usize> = (0..ring.len()).collect();
        candidates.sort_by_key(|&q| (p.distance_squared(ring[q]), q));
        let found = candidates.into_iter().find(|&q| {
            let [q_before, to, q_after] = around(&ring, q);
            in_cone(before, p, after, to)
                && in_cone(q_before, to, q_after, p)
                && holes[index..].iter().copied().chain([&ring]).all(|other| {
                    (0..other.len()).all(|i| {
                        let [_, a, b] = around(other, i);
                        let ends = [a, b].iter().any(|v| v.same_corner(p) || v.same_corner(to));
                        ends || !touch(p, to, a, b)
                    })
                })
        });
        let Some(q) = found else {
            dropped += 1;
            continue;
        };
        let bridge = |v: ContourVertex| ContourVertex {
            neighbor: region as i32,
            ..v
        };
        let mut joined: Loop = ring[..q].to_vec();
        joined.push(bridge(ring[q]));
        joined.extend((0..hole.len()).map(|i| hole[(left + i) % hole.len()]));
        joined.push(bridge(p));
        joined.extend_from_slice(&ring[q..]);
        ring = joined;
    }
    (ring, dropped)
}

#[test]
fn holes_are_joined_as_the_plain_rule_joins_them() {
    let (mut with_holes, mut most, mut fallbacks) = (0, 0, 0);
    for seed in 0..120_u64 {
        let picture = pictures::random(seed, 10 + (seed as u32 * 11) % 120);
        let view = picture.view();
        let settings = ContourSettings {
            max_error: [0.0, 1.3, 3.0][seed as usize % 3],
            ..ContourSettings::default()
        };
        let mut scratch = ContourScratch::default();
        let mut found = ContourSet::default();
        build_contours(&view, &settings, &mut scratch, &mut found);

        let loops = scratch.loops();
        let areas = vec![63; view.region_count as usize + 1];
        let rule = SimplifyRule::new(&settings, &areas);
        let mut expected = ContourSet::default();
        expected.clear();
        let mut simplified: Vec<Loop> = Vec::new();
        for i in 0..loops.len() {
            let mut out = Vec::new();
            expected.raw_fallbacks += u32::from(simplify_loop(
                loops.vertices(i),
                loops.area2[i],
                loops.region[i],
                &rule,
                &mut SimplifyScratch::default(),
                &mut out,
            ));
            simplified.push(out);
        }
        let raw: Vec<Loop> = (0..loops.len())
            .map(|i| loops.vertices(i).to_vec())
            .collect();
        for region in 1..=view.region_count {
            let mine = |i: &usize| loops.region[*i] == region;
            let outlines: Vec<usize> = (0..loops.len())
                .filter(|i| mine(i) && loops.area2[*i] > 0)
                .collect();
            let mut groups = vec![Vec::new(); loops.len()];
            for hole in (0..loops.len()).filter(|i| mine(i) && loops.area2[*i] < 0) {
                let p = simplified[hole][leftmost(&simplified[hole])];
                let owner = outlines
                    .iter()
                    .filter(|&&o| contains(&simplified[o], p))
                    .min_by_key(|&&o| (signed_area2(&simplified[o]), o));
                match owner {
                    Some(&o) => groups[o].push(hole),
                    None => expected.dropped_holes += 1,
                }
            }
            for &o in &outlines {
                let of = |table: &'_ [Loop]| -> (Loop, u32) {
                    let holes: Vec<&Loop> = groups[o].iter().map(|&h| &table[h]).collect();
                    join(&table[o], &holes, region)
                };
                let (mut ring, mut dropped) = of(&simplified);
                let mut outline = &simplified[o];
                if !groups[o].is_empty() && crosses_itself(&ring, &mut EdgeTree::default()) {
                    expected.raw_fallbacks += 1;
                    fallbacks += 1;
                    (ring, dropped) = of(&raw);
                    outline = &raw[o];
                }
                if signed_area2(&ring) <= 0 {
                    dropped = groups[o].len() as u32;
                    ring.clone_from(outline);
                }
                with_holes += usize::from(!groups[o].is_empty());
                most = most.max(groups[o].len());
                expected.dropped_holes += dropped;
                expected.region.push(region);
                expected.area.push(63);
                expected.vertices.extend(ring);
                expected.first.push(expected.vertices.len() as u32);
            }
        }
        assert!(found == expected, "seed {seed}");
    }
    assert!(
        with_holes > 50 && most > 8,
        "{with_holes} outlines with up to {most} holes"
    );
    assert!(fallbacks > 0, "no joined loop ever crossed itself");
}

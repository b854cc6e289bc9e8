//! The polygon stage against the plainest code that follows the same rules: every ear and every
//! pair looked at again after every cut and merge.

use super::ears::{EarScratch, clip_ears};
use super::merge::{MergeScratch, merge_triangles};
use super::{PolygonSet, WeldedTriangle, walls, weld, weld_triangles};
use crate::voxel::contours::{
    ContourScratch, ContourSet, ContourSettings, ContourVertex, build_contours,
};
use crate::voxel::coordinates::TileCoordinates;
use crate::voxel::edge_tree::{cross, in_cone, touch};
use crate::voxel::pictures;

const SIDE: u32 = pictures::SIDE;

fn random_contours(seed: u64, density: u32, max_error: f32) -> ContourSet {
    let settings = ContourSettings {
        max_error,
        max_edge_length: 2, // leaves corners on straight walls
        ..ContourSettings::default()
    };
    let mut out = ContourSet::default();
    let picture = pictures::random(seed, density);
    build_contours(
        &picture.view(),
        &settings,
        &mut ContourScratch::default(),
        &mut out,
    );
    out
}

fn naive_ears(ring: &[ContourVertex], map: &TileCoordinates) -> Vec<[u32; 3]> {
    let mut alive: Vec<u32> = (0..ring.len() as u32).collect();
    let mut out = Vec::new();
    let at = |i: u32| ring[i as usize];
    let mut emit = |t: [u32; 3]| {
        let p = |i: u32| (at(i).x, at(i).z);
        if map.turn(p(t[0]), p(t[1]), p(t[2])) > 0 {
            out.push(t);
        }
    };
    let mut head = 0;
    while alive.len() > 3 {
        let count = alive.len();
        let ring_at = |k: usize| at(alive[k % count]);
        let has_diagonal = |k: usize| {
            let (p, q) = (ring_at(k + count - 1), ring_at(k + 1));
            in_cone(ring_at(k + count - 2), p, ring_at(k), q)
                && in_cone(ring_at(k), q, ring_at(k + 2), p)
                && (0..count).all(|e| {
                    let (a, b) = (ring_at(e), ring_at(e + 1));
                    a.same_corner(p)
                        || a.same_corner(q)
                        || b.same_corner(p)
                        || b.same_corner(q)
                        || !touch(p, q, a, b)
                })
        };
        let turn = |k: usize| cross(ring_at(k + count - 1), ring_at(k), ring_at(k + 1));
        let best = (0..count)
            .filter(|&k| turn(k) > 0 && has_diagonal(k))
            .min_by_key(|&k| {
                let length = ring_at(k + count - 1).distance_squared(ring_at(k + 1));
                (length, alive[k])
            });
        let head_at = alive.iter().position(|&i| i == head).unwrap();
        let cut = best.unwrap_or_else(|| {
            (0..count)
                .map(|step| (head_at + step) % count)
                .find(|&k| turn(k) >= 0 && has_diagonal(k))
                .unwrap_or(head_at)
        });
        emit([
            alive[(cut + count - 1) % count],
            alive[cut],
            alive[(cut + 1) % count],
        ]);
        if alive[cut] == head {
            head = alive[(cut + 1) % count];
        }
        alive.remove(cut);
    }
    let head_at = alive.iter().position(|&i| i == head).unwrap();
    emit([0, 1, 2].map(|k| alive[(head_at + k) % 3]));
    out
}

type Ring = Vec<(u32, bool)>;

fn naive_merge_pair(
    a: &Ring,
    b: &Ring,
    i: usize,
    j: usize,
    most: usize,
    at: &dyn Fn(u32) -> (i32, i32),
    map: &TileCoordinates,
) -> Option<Ring> {
    if a.len() + b.len() - 2 > most {
        return None;
    }
    let mut ring: Ring = (1..a.len()).map(|s| a[(i + s) % a.len()]).collect();
    let second = ring.len();
    ring.extend((1..b.len()).map(|s| b[(j + s) % b.len()]));
    let n = ring.len();
    let mut vertices: Vec<u32> = ring.iter().map(|s| s.0).collect();
    vertices.sort_unstable();
    vertices.dedup();
    if vertices.len() != n {
        return None;
    }
    let mut keep = vec![true; n];
    for joint in [0, second] {
        let (p, v, q) = (
            at(ring[(joint + n - 1) % n].0),
            at(ring[joint].0),
            at(ring[(joint + 1) % n].0),
        );
        let turn = i64::from(v.0 - p.0) * i64::from(q.1 - p.1)
            - i64::from(q.0 - p.0) * i64::from(v.1 - p.1);
        if turn < 0 {
            return None;
        }
        keep[joint] = !(turn == 0 && ring[joint].1 && ring[(joint + n - 1) % n].1);
    }
    let mut kept = keep.iter();
    ring.retain(|_| *kept.next().unwrap());
    let n = ring.len();
    let convex = (0..n).all(|k| {
        map.turn(
            at(ring[(k + n - 1) % n].0),
            at(ring[k].0),
            at(ring[(k + 1) % n].0),
        ) >= 0
    });
    (n >= 3 && convex).then_some(ring)
}

fn naive_merge(
    triangles: &[WeldedTriangle],
    most: usize,
    vertices: &[[i32; 3]],
    map: &TileCoordinates,
) -> Vec<Vec<u32>> {
    let at = |v: u32| (vertices[v as usize][0], vertices[v as usize][2]);
    let mut polygons: Vec<Ring> = triangles
        .iter()
        .map(|t| (0..3).map(|k| (t.vertex[k], t.wall[k])).collect())
        .collect();
    loop {
        let mut best: Option<(i64, usize, usize, Ring)> = None;
        for a in 0..polygons.len() {
            for i in 0..polygons[a].len() {
                for b in a + 1..polygons.len() {
                    for j in 0..polygons[b].len() {
                        let edge = |r: &Ring, k: usize| (r[k].0, r[(k + 1) % r.len()].0);
                        let (from, to) = edge(&polygons[a], i);
                        if edge(&polygons[b], j) != (to, from) {
                            continue;
                        }
                        let (p, q) = (at(from), at(to));
                        let length = i64::from(p.0 - q.0) * i64::from(p.0 - q.0)
                            + i64::from(p.1 - q.1) * i64::from(p.1 - q.1);
                        if best.as_ref().is_some_and(|best| best.0 >= length) {
                            continue;
                        }
                        let merged =
                            naive_merge_pair(&polygons[a], &polygons[b], i, j, most, &at, map);
                        if let Some(ring) = merged {
                            best = Some((length, a, b, ring));
                        }
                    }
                }
            }
        }
        let Some((_, a, b, ring)) = best else {
            return polygons
                .iter()
                .map(|ring| ring.iter().map(|s| s.0).collect())
                .collect();
        };
        polygons[a] = ring;
        polygons.remove(b);
    }
}

#[test]
fn ears_and_merges_are_those_of_the_plain_rules() {
    let map = TileCoordinates::new(SIDE - 6, 3, 0.29, (SIDE - 6) as f64 * 0.29);
    let mut scratch = EarScratch::default();
    let mut merge_scratch = MergeScratch::default();
    let (mut rings, mut longest, mut dropped) = (0, 0, 0);
    for seed in 0..60 {
        let error = [0.0, 1.3, 2.5][seed as usize % 3];
        let set = random_contours(seed, 5 + (seed as u32 * 7) % 90, error);
        for index in 0..set.len() {
            let mut ring = set.contour(index).to_vec();
            if seed % 2 == 0 {
                // Left in, they are dropped while merging.
                walls::without_straight_wall_corners(set.contour(index), &mut ring);
            }
            if ring.len() > 160 {
                continue; // the plain rules take the cube of this
            }
            let mut triangles = Vec::new();
            clip_ears(&ring, &map, &mut scratch, &mut triangles);
            assert_eq!(
                triangles,
                naive_ears(&ring, &map),
                "seed {seed} contour {index}"
            );
            rings += 1;
            longest = longest.max(ring.len());

            let mut welder = weld::Welder::default();
            welder.start(ring.len());
            let mut out = PolygonSet::default();
            out.clear();
            let welded: Vec<u32> = ring
                .iter()
                .map(|v| welder.vertex(&mut out.vertices, [v.x, v.y, v.z]))
                .collect();
            let mut joined = Vec::new();
            weld_triangles(&ring, &welded, &triangles, &mut joined);
            let most = [6, 3, 16, 4][seed as usize % 4];
            let expected = naive_merge(&joined, most, &out.vertices, &map);
            merge_triangles(&joined, most, 1, 63, &map, &mut merge_scratch, &mut out);
            let found: Vec<Vec<u32>> = (0..out.len()).map(|p| out.polygon(p).to_vec()).collect();
            assert_eq!(found, expected, "seed {seed} contour {index}");
            let corners: usize = found.iter().map(Vec::len).sum();
            dropped += usize::from(corners < joined.len() + 2 * found.len());
        }
    }
    assert!(
        rings > 100 && longest > 100,
        "{rings} rings, longest {longest}"
    );
    assert!(dropped > 0, "no straight wall corner was ever dropped");
}

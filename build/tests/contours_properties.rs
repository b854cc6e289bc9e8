//! What must hold for the outlines of any field of spans.

mod voxel_support;

use throng_build::voxel::contours::trace::signed_area2;
use throng_build::voxel::contours::{ContourSettings, ContourVertex, TILE_BORDER};
use throng_build::voxel::regions::RegionSettings;
use throng_soa::spans::NO_SPAN;
use voxel_support::{CLOSE, Field, KEEP_ALL, PARTITIONS, contours, picture, random_field};

fn region_sizes(field: &Field) -> Vec<i64> {
    let mut sizes = vec![0; field.spans.region_count as usize + 1];
    for &region in &field.spans.region {
        sizes[region as usize] += 1;
    }
    sizes
}

fn random_fields() -> impl Iterator<Item = (String, Field)> {
    (0..24_u64).flat_map(|seed| {
        PARTITIONS
            .iter()
            .enumerate()
            .map(move |(index, partition)| {
                let mut field = random_field(seed, 40 + seed as u32, 33, seed % 2 == 1);
                let settings = if seed % 3 == 0 {
                    KEEP_ALL
                } else {
                    RegionSettings {
                        min_region_area: 8,
                        merge_region_area: 30,
                    }
                };
                partition(&mut field, &settings);
                (format!("seed {seed} partition {index}"), field)
            })
    })
}

#[test]
fn loops_add_up_to_the_spans_and_border_edges_of_their_region() {
    for (name, field) in random_fields() {
        let (_, scratch) = contours(&field, &ContourSettings::default());
        let loops = scratch.loops();
        let mut area2 = vec![0; field.spans.region_count as usize + 1];
        let mut length = area2.clone();
        for index in 0..loops.len() {
            let region = loops.region[index] as usize;
            assert_eq!(loops.area2[index], signed_area2(loops.vertices(index)));
            area2[region] += loops.area2[index];
            length[region] += loops.vertices(index).len() as i64;
        }
        let mut edges = vec![0; area2.len()];
        for span in 0..field.spans.span_count() {
            let region = field.spans.region[span];
            for &neighbor in &field.graph.neighbor[span] {
                let beyond = if neighbor == NO_SPAN {
                    0
                } else {
                    field.spans.region[neighbor as usize]
                };
                edges[region as usize] += i64::from(region != 0 && beyond != region);
            }
        }
        let doubled: Vec<i64> = region_sizes(&field).iter().map(|n| 2 * n).collect();
        assert_eq!(area2[1..], doubled[1..], "{name}");
        assert_eq!(length[1..], edges[1..], "{name}");
    }
}

/// Distance from a corner to an edge.
fn distance(p: ContourVertex, a: ContourVertex, b: ContourVertex) -> f64 {
    let (ex, ez) = (f64::from(b.x - a.x), f64::from(b.z - a.z));
    let (px, pz) = (f64::from(p.x - a.x), f64::from(p.z - a.z));
    let whole = ex * ex + ez * ez;
    let t = if whole > 0.0 {
        ((px * ex + pz * ez) / whole).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let (dx, dz) = (px - ex * t, pz - ez * t);
    (dx * dx + dz * dz).sqrt()
}

#[test]
fn every_traced_corner_is_within_the_error_of_the_outline() {
    for max_error in [0.0, 0.8, 1.3, 4.0] {
        for (name, field) in random_fields() {
            let settings = ContourSettings {
                max_error,
                straight_region_borders: false,
                ..ContourSettings::default()
            };
            let (set, scratch) = contours(&field, &settings);
            if set.dropped_holes > 0 {
                continue;
            }
            let loops = scratch.loops();
            for index in 0..loops.len() {
                let region = loops.region[index];
                let edges: Vec<_> = (0..set.len())
                    .filter(|&c| set.region[c] == region)
                    .flat_map(|c| {
                        let ring = set.contour(c);
                        (0..ring.len()).map(move |i| (ring[i], ring[(i + 1) % ring.len()]))
                    })
                    .collect();
                for &p in loops.vertices(index) {
                    let nearest = edges
                        .iter()
                        .map(|&(a, b)| distance(p, a, b))
                        .fold(f64::INFINITY, f64::min);
                    assert!(
                        nearest <= f64::from(max_error) + 1e-9,
                        "{name}: {p:?} is {nearest} away"
                    );
                }
            }
        }
    }
}

#[test]
fn without_error_both_sides_of_a_border_keep_the_same_corners_and_area_is_exact() {
    let mut borders = 0;
    for (name, field) in random_fields() {
        let (set, _) = contours(&field, &CLOSE);
        let mut edges = Vec::new();
        let mut area2 = vec![0; field.spans.region_count as usize + 1];
        for index in 0..set.len() {
            let region = set.region[index] as i32;
            let ring = set.contour(index);
            assert!(ring.len() >= 3, "{name}");
            area2[region as usize] += signed_area2(ring);
            for (i, a) in ring.iter().enumerate() {
                let b = ring[(i + 1) % ring.len()];
                if a.neighbor > 0 && a.neighbor != region {
                    edges.push((region, a.neighbor, (a.x, a.z), (b.x, b.z)));
                }
            }
        }
        let mut reversed: Vec<_> = edges.iter().map(|&(r, n, a, b)| (n, r, b, a)).collect();
        edges.sort_unstable();
        reversed.sort_unstable();
        assert_eq!(edges, reversed, "{name}");
        borders += edges.len();
        if set.dropped_holes == 0 {
            let doubled: Vec<i64> = region_sizes(&field).iter().map(|n| 2 * n).collect();
            assert_eq!(area2[1..], doubled[1..], "{name}");
        }
    }
    assert!(borders > 1000, "the fields have too few borders: {borders}");
}

#[test]
fn with_error_both_sides_still_agree_on_borders_of_large_regions() {
    let field = {
        let mut field = random_field(77, 90, 90, false);
        PARTITIONS[0](
            &mut field,
            &RegionSettings {
                min_region_area: 30,
                merge_region_area: 200,
            },
        );
        field
    };
    let (set, _) = contours(&field, &ContourSettings::default());
    let mut edges = Vec::new();
    for index in 0..set.len() {
        let region = set.region[index] as i32;
        let ring = set.contour(index);
        for (i, a) in ring.iter().enumerate() {
            let b = ring[(i + 1) % ring.len()];
            if a.neighbor > 0 && a.neighbor != region {
                edges.push((region, a.neighbor, (a.x, a.z), (b.x, b.z)));
            }
        }
    }
    let matched = edges
        .iter()
        .filter(|&&(r, n, a, b)| edges.contains(&(n, r, b, a)))
        .count();
    assert!(
        !edges.is_empty() && matched * 100 >= edges.len() * 95,
        "{matched} of {}",
        edges.len()
    );
}

#[test]
fn holes_become_part_of_their_outline() {
    let mut field = picture(&[
        "###########",
        "#.#######.#",
        "####...####",
        "####.#.####",
        "####...####",
        "#.#######.#",
        "###########",
    ]);
    PARTITIONS[2](&mut field, &KEEP_ALL);
    let (set, _) = contours(&field, &CLOSE);
    assert_eq!((set.len(), set.dropped_holes, set.raw_fallbacks), (2, 0, 0));
    assert_eq!(signed_area2(set.contour(0)), 2 * (77 - 4 - 9));
    assert_eq!(signed_area2(set.contour(1)), 2);
    let ring = set.contour(0);
    assert_eq!(ring.iter().filter(|v| v.neighbor == 1).count(), 2 * 5);
    assert_eq!(ring.iter().filter(|v| v.neighbor == TILE_BORDER).count(), 4);
}

#[test]
fn a_hole_that_touches_the_outline_at_a_corner_is_joined() {
    // The gap at the left meets the hole at one corner only.
    let mut field = picture(&["#######", "..#####", "##.####", "##..###", "#######"]);
    PARTITIONS[2](&mut field, &KEEP_ALL);
    let (set, scratch) = contours(&field, &CLOSE);
    let total: i64 = (0..set.len()).map(|i| signed_area2(set.contour(i))).sum();
    assert_eq!(total, 2 * 30, "{:?}", scratch.loops());
    assert_eq!(set.dropped_holes, 0);
}

#[test]
fn the_border_region_is_neither_traced_nor_straightened() {
    let mut field = picture(&["########", "########", "########", "########"]);
    PARTITIONS[2](&mut field, &KEEP_ALL);
    // A staircase border between the tile's region 1 and the band 2.
    for (cell, region) in field.spans.region.iter_mut().enumerate() {
        let (x, z) = (cell % 8, cell / 8);
        *region = if x + z < 6 { 1 } else { 2 };
    }
    field.spans.region_count = 2;
    let corners = |border_region| {
        let settings = ContourSettings {
            border_region,
            max_error: 0.5,
            ..ContourSettings::default()
        };
        let (set, _) = contours(&field, &settings);
        (set.len(), set.contour(0).len())
    };
    let (count, straight) = corners(0);
    assert_eq!(count, 2);
    let (count, followed) = corners(2);
    assert_eq!(count, 1);
    assert!(followed > straight, "{followed} {straight}");
}

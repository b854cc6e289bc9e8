//! Levels that are known to have broken builders.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::sync::Mutex;

use throng_build::input::{VoxelChunk, height_grid_soup};
use throng_build::{
    BuildError, BuildOptions, NavSettings, PartitionType, TileFlaw, build_chunk_with, build_soup,
    build_soup_with, solo_settings,
};
use throng_soa::mesh::TiledMesh;
use throng_soa::mesh::format::{mesh_bytes, read_mesh};
use throng_soa::rng::SplitMix64;
use throng_soa::{DVec2, DVec3};

const PARTITIONS: [PartitionType; 3] = [
    PartitionType::Watershed,
    PartitionType::Monotone,
    PartitionType::Layers,
];

type Level = (Vec<DVec3>, Vec<[u32; 3]>);

/// A level rectangle facing up.
fn plate(level: &mut Level, from: (f64, f64), to: (f64, f64), y: f64) {
    let base = level.0.len() as u32;
    for (x, z) in [from, (from.0, to.1), to, (to.0, from.1)] {
        level.0.push(DVec3::new(x, y, z));
    }
    level
        .1
        .extend([[base, base + 1, base + 2], [base, base + 2, base + 3]]);
}

/// Ground covered, seen from above.
fn coverage(mesh: &TiledMesh) -> f64 {
    let mut sum = 0.0;
    for (_, tile) in mesh.tiles() {
        for poly in 0..tile.poly_count() {
            let corners = tile.poly_ring(poly);
            let next = corners.iter().cycle().skip(1);
            sum += corners
                .iter()
                .zip(next)
                .map(|(a, b)| a.x * b.z - a.z * b.x)
                .sum::<f64>()
                / 2.0;
        }
    }
    sum
}

fn built(level: &Level, settings: &NavSettings) -> TiledMesh {
    let mesh = build_soup(&level.0, &level.1, settings, 2).unwrap();
    // The reader checks every rule again.
    let bytes = mesh_bytes(&mesh);
    assert!(mesh_bytes(&read_mesh(&bytes).unwrap()) == bytes);
    mesh
}

#[test]
fn ground_that_climbs_4000_units_builds() {
    // Terraces 20 units up from each other, each above a different part of the level, and a shaft
    // wall from the lowest to the highest.
    let mut level = Level::default();
    for step in 0..=200 {
        let x = f64::from(step % 20) * 30.0;
        let z = f64::from(step / 20) * 30.0;
        plate(
            &mut level,
            (x, z),
            (x + 29.0, z + 29.0),
            f64::from(step) * 20.0,
        );
    }
    let base = level.0.len() as u32;
    level.0.extend([
        DVec3::new(0.0, 0.0, -1.0),
        DVec3::new(600.0, 0.0, -1.0),
        DVec3::new(300.0, 4000.0, -1.0),
    ]);
    level.1.push([base, base + 1, base + 2]);
    for partition in PARTITIONS {
        let settings = NavSettings {
            partition,
            ..NavSettings::HUMANOID
        };
        let mesh = built(&level, &settings);
        let heights = mesh.tiles().flat_map(|(_, tile)| tile.ring.clone());
        let (low, high) = heights.fold((f64::MAX, f64::MIN), |(low, high), v| {
            (low.min(v.y), high.max(v.y))
        });
        assert_eq!((low, (high - 4000.0).abs() < 0.21), (0.0, true), "{high}");
        // Each terrace loses its rim of two cells.
        let expected = 201.0 * 27.5 * 27.5;
        assert!((coverage(&mesh) - expected).abs() < 0.03 * expected);
    }
}

/// A square plate of 4,097 units built in tiles of `tile_size` and cells of `cell_size`.
fn large_plate(cell_size: f64, tile_size: f64) {
    let mut level = Level::default();
    plate(&mut level, (0.0, 0.0), (4097.0, 4097.0), 0.0);
    let settings = NavSettings {
        cell_size,
        tile_size,
        agent_radius: 2.0 * cell_size,
        ..NavSettings::HUMANOID
    };
    let mesh = built(&level, &settings);
    // What reaches into the last row of tiles may be less than the rim that is lost.
    let side = (4097.0 / tile_size).floor() as usize;
    let tiles = side * side..=(side + 1) * (side + 1);
    assert!(tiles.contains(&mesh.tile_count()));
    let (most, least) = (4097.0_f64, 4097.0 - 2.0 * 3.0 * cell_size);
    let covered = coverage(&mesh);
    assert!(
        covered < most * most && covered > least * least,
        "{covered}"
    );
    // As one tile it would need more columns than a grid holds, and says so.
    let solo = solo_settings(&level.0, &level.1, &NavSettings::HUMANOID);
    assert_eq!(solo.unwrap_err().argument, "tile_size");
}

#[test]
fn a_plate_of_4097_by_4097_builds_in_tiles() {
    large_plate(4.0, 512.0);
}

#[test]
#[ignore = "two hundred million cells"]
fn a_plate_of_4097_by_4097_builds_at_full_resolution() {
    large_plate(0.3, 64.0);
}

#[test]
fn ground_in_the_first_negative_cell_counts() {
    // Between -1 cell and 0, cutting digits off gives cell 0 and not cell -1.
    let cell = 64.0 / 214.0;
    for (low, start) in [
        (-0.29, 0.0),
        (-0.15, 0.0),
        (-0.001, 0.0),
        (0.01, cell),
        (-0.31, -cell),
    ] {
        let mut near = Level::default();
        plate(&mut near, (low, low), (30.0, 30.0), low);
        let settings = NavSettings {
            agent_radius: 0.0,
            ..NavSettings::HUMANOID
        };
        let mesh = built(&near, &settings);
        let min = mesh.tiles().flat_map(|(_, tile)| tile.ring.clone());
        let min = min.fold(DVec3::MAX, DVec3::min);
        // The outermost cell is a ledge; the ground starts one cell further.
        let off = (min.x - start).abs().max((min.z - start).abs());
        assert!(off < 1e-6, "{low}: {min}");
        assert_eq!(mesh.tile_slot_at(-1, 0, 0).is_some(), start < 0.0, "{low}");
        // Moved by a tile the level has the same shape.
        let moved: Vec<DVec3> = near
            .0
            .iter()
            .map(|v| *v + DVec3::new(64.0, 0.0, 64.0))
            .collect();
        let there = built(&(moved, near.1.clone()), &settings);
        assert_eq!(there.tile_count(), mesh.tile_count());
        assert!((coverage(&there) - coverage(&mesh)).abs() < 1e-6);
    }
}

/// Exact sums, and nothing that takes ground away.
fn exact() -> NavSettings {
    NavSettings {
        cell_size: 0.5,
        cell_height: 0.25,
        tile_size: 32.0,
        agent_radius: 0.0,
        min_region_area: 0,
        contour_max_error: 0.0,
        max_edge_length: 0.0,
        walkable_climb: 1.0,
        ..NavSettings::HUMANOID
    }
}

/// A one-voxel floor from a picture and the flaws its build reports. `#` is ground; all else, and two
/// cells around, is as high but no ground, so that there is no drop that would take ground away.
fn build_picture(rows: &[&str], settings: &NavSettings) -> (f64, TiledMesh, Vec<TileFlaw>) {
    let (width, depth) = (rows[0].len() + 4, rows.len() + 4);
    let at = |x: usize, z: usize| {
        let row = z.checked_sub(2).and_then(|z| rows.get(z));
        let cell = row.and_then(|row| row.as_bytes().get(x.checked_sub(2)?));
        if cell == Some(&b'#') { 1 } else { 2 }
    };
    let voxels: Vec<u8> = (0..width * depth)
        .map(|i| at(i % width, i / width))
        .collect();
    let ground = voxels.iter().filter(|&&v| v == 1).count() as f64;
    let chunk = VoxelChunk::from_dense(width as u32, depth as u32, 1, &voxels).unwrap();
    let mut areas = [63; 256];
    areas[2] = 0;
    let flaws = Mutex::new(Vec::new());
    let note = |flaw: TileFlaw| flaws.lock().unwrap().push(flaw);
    let options = BuildOptions {
        on_flaw: Some(&note),
        ..BuildOptions::default()
    };
    let mesh = build_chunk_with(&chunk, Some(&areas), settings, &options).unwrap();
    let cell = settings.cell_size * settings.cell_size;
    let flaws = flaws.into_inner().unwrap();
    (ground * cell, mesh, flaws)
}

#[test]
fn a_hole_that_touches_its_outline_at_one_vertex_keeps_all_ground() {
    let pictures: [&[&str]; 4] = [
        // Through the corner of the outline, through another hole, and at both ends.
        &["..######", "..######", "##..####", "##..####", "########"],
        &[
            "########", "#..#####", "#..#####", "###..###", "###..###", "########",
        ],
        &["########", "##..####", "####..##", "######..", "########"],
        &[
            ".#######", "#.#####.", "##.###.#", "###.#.##", "####.###", "########",
        ],
    ];
    for picture in pictures {
        for partition in PARTITIONS {
            for radius_zero in [
                exact(),
                NavSettings {
                    tile_size: 2.0,
                    ..exact()
                },
            ] {
                let settings = NavSettings {
                    partition,
                    ..radius_zero
                };
                let (ground, mesh, flaws) = build_picture(picture, &settings);
                assert_eq!(flaws, [], "{picture:?}");
                assert_eq!(coverage(&mesh), ground, "{partition:?} {picture:?}");
            }
        }
    }
}

#[test]
fn random_ground_keeps_its_area_or_says_what_it_lost() {
    let mut rng = SplitMix64::new(17);
    let (mut whole, mut flawed) = (0, 0);
    for round in 0..150 {
        let holes = 2 + round % 40;
        let (width, depth) = (20 + round as usize % 13, 17);
        let rows: Vec<String> = (0..depth)
            .map(|_| {
                let cell = |_| {
                    if rng.next_below(100) < holes {
                        '.'
                    } else {
                        '#'
                    }
                };
                (0..width).map(cell).collect()
            })
            .collect();
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        for partition in PARTITIONS {
            let settings = NavSettings {
                partition,
                tile_size: 4.0,
                detail_sample_distance: if round % 2 == 0 { 0.0 } else { 2.0 },
                ..exact()
            };
            let (ground, mesh, flaws) = build_picture(&rows, &settings);
            let covered = coverage(&mesh);
            if flaws.is_empty() {
                assert_eq!(covered, ground, "{partition:?} {rows:#?}");
                whole += 1;
            } else {
                // A filled hole adds ground, a lost corner takes some.
                assert!(covered > 0.8 * ground && covered < 1.2 * ground);
                flawed += 1;
            }
        }
    }
    assert!(whole > 400 && flawed < whole / 20, "{whole} {flawed}");
}

#[test]
fn flaws_are_reported_with_their_tile_and_the_rest_stays() {
    // Outlines simplified until they cross themselves.
    let mut rng = SplitMix64::new(23);
    let (mut flawed, mut tiles) = (0, 0);
    for _ in 0..60 {
        let rows: Vec<String> = (0..60)
            .map(|_| {
                let cell = |_| if rng.next_below(100) < 36 { '.' } else { '#' };
                (0..60).map(cell).collect()
            })
            .collect();
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        let settings = NavSettings {
            tile_size: 16.0,
            contour_max_error: 2.5,
            ..exact()
        };
        let (ground, mesh, flaws) = build_picture(&rows, &settings);
        for flaw in &flaws {
            assert!((0..2).contains(&flaw.tile_x) && (0..2).contains(&flaw.tile_z));
        }
        let covered = coverage(&mesh);
        assert!(
            covered > 0.5 * ground && covered < 2.0 * ground,
            "{covered} of {ground}"
        );
        flawed += flaws.len();
        tiles += mesh.tile_count();
    }
    assert!(flawed > 20 && tiles == 240, "{flawed} of {tiles}");
}

#[test]
fn slivers_and_doubled_vertices_change_nothing() {
    let mut level = Level::default();
    plate(&mut level, (0.0, 0.0), (40.0, 40.0), 0.0);
    let plain = built(&level, &NavSettings::HUMANOID);
    // The same plate as thin strips, every corner listed anew, with flat and folded triangles.
    let mut strips = Level::default();
    let mut rng = SplitMix64::new(4);
    let mut from = 0.0;
    while from < 40.0 {
        let to = f64::min(from + rng.next_f64() * 0.01 + 1e-5, 40.0);
        plate(&mut strips, (from, 0.0), (to, 40.0), 0.0);
        let last = strips.0.len() as u32 - 1;
        strips.1.extend([
            [last, last, last],
            [last - 1, last - 2, last - 1],
            [last, last - 1, last],
        ]);
        from = to;
    }
    let strips = built(&strips, &NavSettings::HUMANOID);
    assert!(mesh_bytes(&strips) == mesh_bytes(&plain));
}

#[test]
fn a_height_grid_half_a_million_units_away_is_the_same_grid() {
    let heights: Vec<f64> = (0..61 * 45)
        .map(|i| f64::from((i % 61) * (i % 7)) / 64.0)
        .collect();
    let settings = NavSettings {
        tile_size: 16.0,
        ..NavSettings::HUMANOID
    };
    let build = |x: f64, z: f64| {
        let soup = height_grid_soup(&heights, 61, 45, DVec2::new(x, z), 1.0).unwrap();
        let options = BuildOptions {
            threads: 2,
            ..BuildOptions::default()
        };
        build_soup_with(soup.vertices(), soup.triangles(), &settings, &options).unwrap()
    };
    let (here, there) = (build(0.0, 0.0), build(500_000.0, -500_000.0));
    assert!(here.poly_count() > 10);
    assert_eq!(here.tile_count(), there.tile_count());
    for ((_, a), (_, b)) in here.tiles().zip(there.tiles()) {
        let mut expected = a.data().clone();
        expected.tile_x += 31_250;
        expected.tile_z -= 31_250;
        assert_eq!(&expected, b.data());
    }
}

#[test]
fn what_no_tile_can_hold_is_named() {
    let mut level = Level::default();
    plate(&mut level, (0.0, 0.0), (10.0, 10.0), 0.0);
    plate(&mut level, (20.0, 0.0), (30.0, 10.0), 14_000.0);
    let outcome = build_soup(&level.0, &level.1, &NavSettings::HUMANOID, 1);
    match outcome {
        Err(BuildError::Argument(error)) => assert!(error.value.contains("rows"), "{error}"),
        other => panic!("{other:?}"),
    }
}

//! Geometry nobody models on purpose.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use throng_build::cache::{build_chunk_cached, build_heightfield_cached, build_soup_cached};
use throng_build::input::{SolidHeightfield, VoxelChunk, levels};
use throng_build::pipeline::MAX_THREADS;
use throng_build::voxel::frame::HeightfieldFrame;
use throng_build::{
    BuildError, BuildOptions, NavSettings, PartitionType, build_chunk_with, build_heightfield_with,
    build_soup, build_soup_with, solo_settings,
};
use throng_soa::DVec3;
use throng_soa::mesh::TiledMesh;
use throng_soa::mesh::format::mesh_bytes;
use throng_soa::rng::SplitMix64;

const PARTITIONS: [PartitionType; 3] = [
    PartitionType::Watershed,
    PartitionType::Monotone,
    PartitionType::Layers,
];

type Level = (Vec<DVec3>, Vec<[u32; 3]>);

fn quad(level: &mut Level, corners: [DVec3; 4]) {
    let base = level.0.len() as u32;
    level.0.extend(corners);
    level
        .1
        .extend([[base, base + 2, base + 1], [base, base + 3, base + 2]]);
}

/// A level square from `(x, z)`, facing up.
fn square(level: &mut Level, x: f64, z: f64, side: f64, y: f64) {
    quad(
        level,
        [
            DVec3::new(x, y, z),
            DVec3::new(x + side, y, z),
            DVec3::new(x + side, y, z + side),
            DVec3::new(x, y, z + side),
        ],
    );
}

/// Builds with every partition, with and without detail; the mesh's validator has the last word.
fn build_all(level: &Level, settings: &NavSettings) -> Vec<TiledMesh> {
    let mut meshes = Vec::new();
    for partition in PARTITIONS {
        for detail in [settings.detail_sample_distance, 0.0] {
            let settings = NavSettings {
                partition,
                detail_sample_distance: detail,
                ..settings.clone()
            };
            meshes.push(build_soup(&level.0, &level.1, &settings, 1).unwrap());
        }
    }
    meshes
}

#[test]
fn every_generated_level_builds_tiled_and_solo() {
    for &name in levels::NAMES {
        let soup = levels::generate(name, 64.0, 1).unwrap();
        let level = (soup.vertices().to_vec(), soup.triangles().to_vec());
        let tiled = NavSettings {
            tile_size: 32.0,
            ..NavSettings::HUMANOID
        };
        let solo = solo_settings(&level.0, &level.1, &tiled).unwrap();
        for settings in [tiled, solo] {
            for mesh in build_all(&level, &settings) {
                assert!(mesh.poly_count() > 0, "{name}");
            }
        }
    }
}

#[test]
fn presets_build_the_same_level() {
    let soup = levels::generate("rooms", 96.0, 3).unwrap();
    for settings in [
        NavSettings::HUMANOID,
        NavSettings::SMALL,
        NavSettings {
            max_verts_per_poly: 3,
            contour_max_error: 0.0,
            ..NavSettings::HUMANOID
        },
        NavSettings {
            max_verts_per_poly: 16,
            agent_radius: 0.0,
            max_edge_length: 0.0,
            detail_max_error: 0.0,
            ..NavSettings::HUMANOID
        },
    ] {
        let mesh = build_soup(soup.vertices(), soup.triangles(), &settings, 1).unwrap();
        assert!(mesh.poly_count() > 0);
    }
}

#[test]
fn slivers_duplicates_and_noise_build() {
    let mut rng = SplitMix64::new(11);
    let mut level = Level::default();
    square(&mut level, 0.0, 0.0, 50.0, 0.0);
    square(&mut level, 0.0, 0.0, 50.0, 0.0); // the same floor once more
    for _ in 0..400 {
        let mut point = || {
            DVec3::new(
                rng.next_f64() * 60.0 - 5.0,
                rng.next_f64() * 6.0,
                rng.next_f64() * 60.0 - 5.0,
            )
        };
        let (a, b) = (point(), point());
        let thin = a + (b - a) * 0.5 + DVec3::new(1e-7, 0.0, -1e-7);
        let base = level.0.len() as u32;
        level.0.extend([a, b, thin, point()]);
        level.1.extend([
            [base, base + 1, base + 2],
            [base + 2, base + 1, base],
            [base, base, base + 1],
            [base, base + 3, base + 1],
        ]);
    }
    let settings = NavSettings {
        tile_size: 16.0,
        ..NavSettings::HUMANOID
    };
    build_all(&level, &settings);
}

#[test]
fn floors_4000_units_apart_build_in_one_tile() {
    let mut level = Level::default();
    square(&mut level, 0.0, 0.0, 30.0, -1000.0);
    square(&mut level, 2.0, 2.0, 26.0, 3000.0);
    for mesh in build_all(&level, &NavSettings::HUMANOID) {
        assert_eq!(mesh.poly_count(), 2);
        let mut heights: Vec<f64> = mesh
            .tiles()
            .flat_map(|(_, tile)| tile.ring.iter().map(|v| v.y))
            .collect();
        heights.sort_by(f64::total_cmp);
        assert!(
            (heights[0] + 1000.0).abs() < 0.2 && (heights[heights.len() - 1] - 3000.0).abs() < 0.2
        );
    }
    // Walkable ground that spans more height than a tile's frame can hold is refused by name.
    let mut tall = Level::default();
    square(&mut tall, 0.0, 0.0, 30.0, 0.0);
    square(&mut tall, 0.0, 0.0, 30.0, 5000.0);
    let outcome = build_soup(&tall.0, &tall.1, &NavSettings::HUMANOID, 1);
    assert!(matches!(
        outcome,
        Err(BuildError::Limit {
            tile_x: 0,
            tile_z: 0,
            ..
        })
    ));
}

#[test]
fn a_level_half_a_million_units_away_builds() {
    let mut level = Level::default();
    let corner = 500_000.1;
    square(&mut level, corner, -corner, 70.3, 12.7);
    square(&mut level, corner + 20.0, -corner + 20.0, 6.3, 14.7);
    for mesh in build_all(&level, &NavSettings::HUMANOID) {
        assert!(mesh.poly_count() > 0);
        for (_, tile) in mesh.tiles() {
            assert!(
                tile.ring
                    .iter()
                    .all(|v| v.x > corner && v.x < corner + 71.0)
            );
        }
    }
}

#[test]
fn a_level_at_the_edge_of_the_world_is_an_error_or_a_mesh_but_no_panic() {
    for at in [2_097_151.0, -2_097_151.9, 2_097_100.0] {
        let mut level = Level::default();
        let far = at - 40.0_f64.copysign(at);
        square(&mut level, at.min(far), at.min(far), 40.0, -2_097_151.5);
        let outcome = build_soup(&level.0, &level.1, &NavSettings::HUMANOID, 1);
        assert!(matches!(outcome, Ok(_) | Err(BuildError::Argument(_))));
    }
}

#[test]
fn a_spiral_ramp_over_itself_builds() {
    let mut level = Level::default();
    // Three turns of a square spiral, five units up a turn.
    let path: Vec<DVec3> = (0..=12)
        .map(|i| {
            let (x, z) = [(0.0, 0.0), (20.0, 0.0), (20.0, 20.0), (0.0, 20.0)][i % 4];
            DVec3::new(x, i as f64 * 1.25, z)
        })
        .collect();
    for pair in path.windows(2) {
        let along = (pair[1] - pair[0]) / 20.0;
        let side = DVec3::new(-along.z, 0.0, along.x) * 2.5;
        let (a, b) = (pair[0] - along * 2.5, pair[1] + along * 2.5);
        let level_end = |p: DVec3, y: f64| DVec3::new(p.x, y, p.z);
        let (a, b) = (level_end(a, pair[0].y), level_end(b, pair[1].y));
        quad(&mut level, [a - side, b - side, b + side, a + side]);
    }
    for mesh in build_all(&level, &NavSettings::HUMANOID) {
        assert!(mesh.poly_count() > 4);
    }
}

#[test]
fn generated_levels_give_the_same_bytes_on_any_number_of_threads() {
    for name in ["city", "bridges"] {
        let soup = levels::generate(name, 128.0, 9).unwrap();
        for partition in PARTITIONS {
            let settings = NavSettings {
                partition,
                tile_size: 16.0,
                detail_sample_distance: if partition == PartitionType::Layers {
                    0.0
                } else {
                    1.8
                },
                ..NavSettings::HUMANOID
            };
            let build = |threads| {
                mesh_bytes(
                    &build_soup(soup.vertices(), soup.triangles(), &settings, threads).unwrap(),
                )
            };
            let one = build(1);
            for threads in [2, 5, 16] {
                assert!(one == build(threads), "{name} {partition:?} {threads}");
            }
        }
    }
}

#[test]
fn more_threads_than_256_are_refused_before_one_is_started() {
    let mut level = Level::default();
    square(&mut level, 0.0, 0.0, 8.0, 0.0);
    let settings = NavSettings::HUMANOID;
    let chunk = VoxelChunk::from_dense(2, 1, 2, &[1, 0, 1, 0]).unwrap();
    let frame = HeightfieldFrame {
        origin: DVec3::ZERO,
        cell_size: 0.3,
        cell_height: 0.2,
        width: 2,
        depth: 2,
        rows: 2,
    };
    let field = SolidHeightfield::new(frame).unwrap();
    for threads in [MAX_THREADS + 1, 1000, usize::MAX] {
        let options = BuildOptions {
            threads,
            ..BuildOptions::default()
        };
        let (vertices, triangles) = (&level.0, &level.1);
        let outcomes = [
            build_soup_with(vertices, triangles, &settings, &options).err(),
            build_soup_with(&[], &[], &settings, &options).err(),
            build_chunk_with(&chunk, None, &settings, &options).err(),
            build_heightfield_with(&field, &settings, &options).err(),
            build_soup_cached(vertices, triangles, &settings, &options).err(),
            build_chunk_cached(&chunk, None, &settings, &options).err(),
            build_heightfield_cached(&field, &settings, &options).err(),
        ];
        for outcome in outcomes {
            let Some(BuildError::Argument(error)) = outcome else {
                panic!("{outcome:?}");
            };
            assert_eq!(error.argument, "threads");
            assert_eq!(error.value, threads.to_string());
            assert_eq!(error.allowed, "at most 256");
        }
    }
    let build = |threads| mesh_bytes(&build_soup(&level.0, &level.1, &settings, threads).unwrap());
    assert!(build(0) == build(MAX_THREADS));
}

#[test]
fn slivers_over_a_million_tiles_of_one_row_are_refused_and_not_gathered() {
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    for i in 0..4098_u32 {
        let y = f64::from(i) * 0.001;
        vertices.push(DVec3::new(0.0, y, 0.0));
        vertices.push(DVec3::new(0.0, y, 0.9));
        vertices.push(DVec3::new(1_048_575.0, y, 0.0));
        triangles.push([3 * i, 3 * i + 1, 3 * i + 2]);
    }
    let settings = NavSettings {
        cell_size: 1.0,
        tile_size: 1.0,
        agent_radius: 0.0,
        ..NavSettings::HUMANOID
    };
    let refused = build_soup(&vertices, &triangles, &settings, 1);
    assert!(
        matches!(refused, Err(BuildError::Limit { .. })),
        "{:?}",
        refused.err()
    );
}

#[test]
fn a_pile_of_floors_builds_or_is_refused_in_any_order() {
    let floors = |count: u32, upward: bool| {
        let mut vertices = Vec::new();
        let mut triangles = Vec::new();
        for i in 0..count {
            let floor = if upward { i } else { count - 1 - i };
            let y = f64::from(floor) * 2.4;
            let first = vertices.len() as u32;
            for (x, z) in [(0.0, 0.0), (0.0, 4.0), (4.0, 0.0), (4.0, 4.0)] {
                vertices.push(DVec3::new(x, y, z));
            }
            triangles.push([first, first + 1, first + 2]);
            triangles.push([first + 2, first + 1, first + 3]);
        }
        build_soup(&vertices, &triangles, &NavSettings::HUMANOID, 1)
    };
    let up = mesh_bytes(&floors(1000, true).unwrap());
    assert!(up == mesh_bytes(&floors(1000, false).unwrap()));
    for upward in [true, false] {
        let refused = floors(1100, upward);
        assert!(
            matches!(refused, Err(BuildError::Limit { .. })),
            "{:?}",
            refused.err()
        );
    }
}

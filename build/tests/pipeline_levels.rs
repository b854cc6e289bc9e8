//! Whole builds of real and generated levels: every partition, tiled and solo, validated by the
//! mesh's own rules, and the same bytes for any number of threads.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]
#![allow(clippy::print_stdout, reason = "a skipped level must be seen")]

use std::io::Write;
use std::path::PathBuf;

use throng_build::input::obj::read_obj;
use throng_build::input::{Soup, levels};
use throng_build::{NavSettings, PartitionType, build_soup, solo_settings};
use throng_soa::DVec3;
use throng_soa::mesh::TiledMesh;
use throng_soa::mesh::format::{mesh_bytes, read_mesh};

const PARTITIONS: [PartitionType; 3] = [
    PartitionType::Watershed,
    PartitionType::Monotone,
    PartitionType::Layers,
];

/// A level file from `$THRONG_DATA/levels`, or from a `shared/data` folder beside the checkout; nothing
/// (said aloud) when it is not there.
fn level(name: &str) -> Option<Soup> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data");
    let root = std::env::var_os("THRONG_DATA").map_or(beside.into(), PathBuf::from);
    let path = root.join("levels").join(name);
    match std::fs::read(&path) {
        Ok(bytes) => Some(read_obj(&bytes).unwrap()),
        Err(error) => {
            assert!(
                std::env::var_os("CI").is_none(),
                "{}: {error}; CI must have the level files (THRONG_DATA)",
                path.display()
            );
            // Straight to the stream: the harness keeps what the printing macros say.
            let path = path.display();
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: {path} is missing ({error}); set THRONG_DATA"
            );
            None
        }
    }
}

/// Sum of the polygons' areas seen from above.
fn coverage(mesh: &TiledMesh) -> f64 {
    let mut sum = 0.0;
    for (_, tile) in mesh.tiles() {
        for poly in 0..tile.poly_count() {
            let ring = tile.poly_ring(poly);
            for i in 1..ring.len() - 1 {
                let (u, v) = (ring[i] - ring[0], ring[i + 1] - ring[0]);
                sum += 0.5 * (u.x * v.z - u.z * v.x);
            }
        }
    }
    sum
}

/// Builds with every partition, tiled and solo, detail on and off; areas must agree.
fn build_all_ways(name: &str, soup: &Soup, base: &NavSettings) {
    let (vertices, triangles) = (soup.vertices(), soup.triangles());
    let solo = solo_settings(vertices, triangles, base).unwrap();
    let mut areas = Vec::new();
    for (kind, settings) in [("tiled", base), ("solo", &solo)] {
        for partition in PARTITIONS {
            for detail in [base.detail_sample_distance, 0.0] {
                let settings = NavSettings {
                    partition,
                    detail_sample_distance: detail,
                    ..settings.clone()
                };
                let mesh = build_soup(vertices, triangles, &settings, 1).unwrap();
                let area = coverage(&mesh);
                assert!(area > 0.0, "{name} {kind} {partition:?}: nothing built");
                areas.push((kind, partition, detail, area, mesh.poly_count()));
            }
        }
    }
    // Regions and simplification move borders by about a cell, never whole rooms.
    let most = areas.iter().map(|a| a.3).fold(0.0, f64::max);
    for entry in &areas {
        assert!(entry.3 > 0.9 * most, "{name}: {areas:?}");
    }
}

#[test]
fn dungeon_builds_every_way() {
    if let Some(soup) = level("dungeon.obj") {
        build_all_ways("dungeon", &soup, &tiles_of(16.0));
    }
}

#[test]
fn nav_test_builds_every_way() {
    if let Some(soup) = level("nav_test.obj") {
        build_all_ways("nav_test", &soup, &tiles_of(16.0));
    }
}

#[test]
fn undulating_builds_every_way() {
    if let Some(soup) = level("undulating.obj") {
        build_all_ways("undulating", &soup, &tiles_of(16.0));
    }
}

fn tiles_of(tile_size: f64) -> NavSettings {
    NavSettings {
        tile_size,
        ..NavSettings::HUMANOID
    }
}

#[test]
fn layers_built_apart_cover_the_ground_of_layers_built_together() {
    let soup = levels::generate("bridges", 96.0, 5).unwrap();
    let build = |detail_sample_distance| {
        let settings = NavSettings {
            partition: PartitionType::Layers,
            detail_sample_distance,
            ..tiles_of(32.0)
        };
        build_soup(soup.vertices(), soup.triangles(), &settings, 1).unwrap()
    };
    let (apart, together) = (build(0.0), build(1.8));
    assert_eq!(apart.tile_count(), together.tile_count());
    assert!(apart.tiles().any(|(_, tile)| tile.data().layer > 0));
    let (a, b) = (coverage(&apart), coverage(&together));
    assert!((a - b).abs() < 0.01 * b, "{a} {b}");
    // A tile of one layer does not notice: same arrays but for the detail.
    let mut single = 0;
    for (slot, tile) in apart.tiles() {
        let data = tile.data();
        if apart.column(data.tile_x, data.tile_z).len() > 1 {
            continue;
        }
        let other = together.tile(slot).unwrap().data();
        assert_eq!(data.vertices, other.vertices);
        assert_eq!(data.poly_indices, other.poly_indices);
        single += 1;
    }
    println!("{single} tiles of one layer");
}

#[test]
fn threads_and_a_round_trip_through_bytes_change_nothing() {
    let Some(soup) = level("nav_test.obj") else {
        return;
    };
    for partition in PARTITIONS {
        let settings = NavSettings {
            partition,
            ..tiles_of(8.0)
        };
        let build = |threads| {
            let mesh = build_soup(soup.vertices(), soup.triangles(), &settings, threads).unwrap();
            mesh_bytes(&mesh)
        };
        let one = build(1);
        for threads in [2, 5, 16] {
            assert!(one == build(threads), "{partition:?} on {threads} threads");
        }
        assert!(mesh_bytes(&read_mesh(&one).unwrap()) == one);
    }
}

#[test]
fn a_real_level_far_from_the_origin_builds_the_same_tiles() {
    let Some(soup) = level("nav_test.obj") else {
        return;
    };
    // Coordinates with few enough bits that the shift is exact.
    let round = |v: f64| (v * 1024.0).round() / 1024.0;
    let near: Vec<DVec3> = soup
        .vertices()
        .iter()
        .map(|v| DVec3::new(round(v.x), round(v.y), round(v.z)))
        .collect();
    let tiles = 31_250; // 500,000 units of 16-unit tiles
    let far: Vec<DVec3> = near
        .iter()
        .map(|&v| v + DVec3::new(500_000.0, 0.0, -500_000.0))
        .collect();
    let settings = tiles_of(16.0);
    let here = build_soup(&near, soup.triangles(), &settings, 2).unwrap();
    let there = build_soup(&far, soup.triangles(), &settings, 2).unwrap();
    assert_eq!(here.tile_count(), there.tile_count());
    for ((_, a), (_, b)) in here.tiles().zip(there.tiles()) {
        let mut expected = a.data().clone();
        expected.tile_x += tiles;
        expected.tile_z -= tiles;
        assert!(
            &expected == b.data(),
            "tile {} {}",
            expected.tile_x,
            expected.tile_z
        );
    }
}

//! Builds that are given up: before they begin, midway on several threads, and not at all.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use throng_build::cache::{build_chunk_cached, build_heightfield_cached, build_soup_cached};
use throng_build::input::{SolidHeightfield, Soup, VoxelChunk, levels};
use throng_build::voxel::frame::HeightfieldFrame;
use throng_build::{
    BuildError, BuildOptions, NavSettings, build_chunk_with, build_heightfield_with,
    build_soup_with,
};
use throng_soa::DVec3;
use throng_soa::mesh::TiledMesh;
use throng_soa::mesh::format::mesh_bytes;

/// Tiles of a level: 64 for one of 128 units.
fn settings() -> NavSettings {
    NavSettings {
        tile_size: 16.0,
        ..NavSettings::HUMANOID
    }
}

fn build(level: &Soup, options: &BuildOptions<'_>) -> Result<TiledMesh, BuildError> {
    build_soup_with(level.vertices(), level.triangles(), &settings(), options)
}

#[test]
fn a_build_that_is_not_given_up_does_not_depend_on_the_question() {
    let level = levels::rooms(128.0, 3);
    let plain = mesh_bytes(&build(&level, &BuildOptions::default()).unwrap());
    for threads in [1, 2, 5] {
        let asked = AtomicUsize::new(0);
        let tiles = AtomicUsize::new(0);
        let on_tile = |_, all| tiles.store(all, Ordering::Relaxed);
        let is_cancelled = || {
            asked.fetch_add(1, Ordering::Relaxed);
            false
        };
        let options = BuildOptions {
            threads,
            on_tile: Some(&on_tile),
            is_cancelled: Some(&is_cancelled),
            ..BuildOptions::default()
        };
        assert!(mesh_bytes(&build(&level, &options).unwrap()) == plain);
        // Once at the beginning, and once a tile.
        let (asked, tiles) = (asked.into_inner(), tiles.into_inner());
        assert!(tiles >= 64 && asked == tiles + 1, "{asked} {tiles}");
    }
}

#[test]
fn a_build_given_up_before_it_begins_visits_no_tile() {
    let level = levels::rooms(128.0, 3);
    let chunk = VoxelChunk::from_dense(40, 40, 4, &[1, 0, 0, 0].repeat(1600)).unwrap();
    let frame = HeightfieldFrame {
        origin: DVec3::ZERO,
        cell_size: 0.3,
        cell_height: 0.2,
        width: 40,
        depth: 40,
        rows: 4,
    };
    let mut field = SolidHeightfield::new(frame).unwrap();
    field.add_span((3, 3), 0..1, 63, 0).unwrap();
    let cells = NavSettings {
        tile_size: 3.0,
        ..NavSettings::HUMANOID
    };
    for threads in [1, 4] {
        let visited = AtomicBool::new(false);
        let on_tile = |_, _| visited.store(true, Ordering::Relaxed);
        let options = BuildOptions {
            threads,
            on_tile: Some(&on_tile),
            is_cancelled: Some(&|| true),
            ..BuildOptions::default()
        };
        let (vertices, triangles) = (level.vertices(), level.triangles());
        let errors = [
            build(&level, &options).err(),
            build_soup_with(&[], &[], &settings(), &options).err(),
            build_chunk_with(&chunk, None, &cells, &options).err(),
            build_heightfield_with(&field, &cells, &options).err(),
            build_soup_cached(vertices, triangles, &settings(), &options).err(),
            build_chunk_cached(&chunk, None, &cells, &options).err(),
            build_heightfield_cached(&field, &cells, &options).err(),
        ];
        for error in errors {
            assert_eq!(error, Some(BuildError::Cancelled));
        }
        assert!(!visited.load(Ordering::Relaxed));
        // What is wrong with the level itself is said first.
        let wrong = build_soup_with(vertices, &[[0, 1, u32::MAX]], &settings(), &options);
        assert!(matches!(wrong, Err(BuildError::Argument(_))));
    }
}

#[test]
fn a_build_given_up_midway_begins_no_further_tile() {
    let level = levels::rooms(128.0, 3);
    for threads in [1, 2, 4] {
        for enough in [1, 7, 40] {
            let stop = AtomicBool::new(false);
            let done = AtomicUsize::new(0);
            let on_tile = |_, _| {
                if done.fetch_add(1, Ordering::SeqCst) + 1 >= enough {
                    stop.store(true, Ordering::SeqCst);
                }
            };
            let is_cancelled = || stop.load(Ordering::SeqCst);
            let options = BuildOptions {
                threads,
                on_tile: Some(&on_tile),
                is_cancelled: Some(&is_cancelled),
                ..BuildOptions::default()
            };
            assert_eq!(build(&level, &options).err(), Some(BuildError::Cancelled));
            // Those the other workers had begun are built to their ends.
            let done = done.into_inner();
            assert!(
                (enough..enough + threads).contains(&done),
                "{threads} {enough} {done}"
            );
        }
    }
}

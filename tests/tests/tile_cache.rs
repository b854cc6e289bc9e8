//! A mesh changed at run time, hashed step by step: the same for every thread count and the same as
//! recorded (`tests/golden/tile_cache.txt`). And a crowd that walks on it meanwhile.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use throng::{
    AgentOptions, BuildOptions, ConvexVolume, Crowd, CrowdOptions, DVec2, DVec3, NavSettings,
    Obstacle, ObstacleId, PartitionType, PathOptions, PathStatus, SnapshotMode, Soup, SplitMix64,
    TileCache, TileLibrary,
};
use throng_build::input::height_grid_soup;
use throng_soa::digest::fnv1a64;
use throng_soa::mesh::format::mesh_bytes;
use throng_tests::compare_golden;

const SIDE: f64 = 48.0;

/// Hills: two waves of parabolas and a little noise.
fn rolling_terrain() -> Soup {
    let count = 33_u32;
    let mut rng = SplitMix64::new(21);
    let wave = |v: f64, length: f64| {
        let t = v / length - (v / length).floor() - 0.5;
        1.0 - 4.0 * t * t
    };
    let mut heights = Vec::new();
    for z in 0..count {
        for x in 0..count {
            let (x, z) = (f64::from(x) * 1.5, f64::from(z) * 1.5);
            heights
                .push(2.0 * wave(x, 24.0) + 1.5 * wave(z + x * 0.25, 19.0) + 0.2 * rng.next_f64());
        }
    }
    height_grid_soup(&heights, count, count, DVec2::ZERO, 1.5).unwrap()
}

fn settings(partition: PartitionType, detail: f64) -> NavSettings {
    NavSettings {
        tile_size: 12.0,
        partition,
        detail_sample_distance: detail,
        ..NavSettings::HUMANOID
    }
}

fn shape(rng: &mut SplitMix64, kind: u32) -> Obstacle {
    let mut number = |low: f64, high: f64| low + (high - low) * rng.next_f64();
    let at = DVec3::new(
        number(2.0, SIDE - 2.0),
        number(-1.0, 2.0),
        number(2.0, SIDE - 2.0),
    );
    let (a, b) = (number(0.3, 2.5), number(0.3, 2.5));
    match kind {
        0 => Obstacle::cylinder(at, a, 4.0),
        1 => Obstacle::aligned_box(at - DVec3::new(a, 1.0, b), at + DVec3::new(a, 4.0, b)),
        _ => Obstacle::oriented_box(at, DVec3::new(a, 4.0, b), number(-4.0, 4.0)),
    }
    .unwrap()
}

fn swamp(rng: &mut SplitMix64, area: u8) -> ConvexVolume {
    let (x, z) = (6.0 + 36.0 * rng.next_f64(), 6.0 + 36.0 * rng.next_f64());
    let corners = [(-4.0, -1.0), (3.0, -3.0), (4.5, 2.0), (-1.0, 4.0)];
    let corners = corners.map(|(dx, dz)| DVec2::new(x + dx, z + dz));
    ConvexVolume::new(&corners, -10.0, 10.0, area).unwrap()
}

/// Hashes of the mesh and of both snapshots after every step.
fn scenario(settings: &NavSettings, threads: usize) -> Vec<String> {
    let soup = rolling_terrain();
    let options = BuildOptions {
        threads,
        ..BuildOptions::default()
    };
    let (vertices, triangles) = (soup.vertices(), soup.triangles());
    let mut cache = TileCache::build_with(vertices, triangles, settings, &options).unwrap();
    let mut rng = SplitMix64::new(1234);
    let mut hashes = Vec::new();
    let mut record = |cache: &TileCache, what: &str| {
        let bytes = [
            mesh_bytes(cache),
            cache.snapshot(SnapshotMode::Full),
            cache.snapshot(SnapshotMode::Referenced),
        ];
        let [mesh, full, named] = bytes.map(|bytes| fnv1a64(&bytes));
        hashes.push(format!("{what}:{mesh:016X}:{full:016X}:{named:016X}"));
    };
    record(&cache, "built");
    let original = mesh_contents(&cache);
    for round in 0..3 {
        for kind in 0..3 {
            cache.add_obstacle(shape(&mut rng, kind)).unwrap();
        }
        cache.add_volume(swamp(&mut rng, round * 7)).unwrap();
    }
    record(&cache, "added");
    cache.update(4).unwrap();
    record(&cache, "sliced");
    let mut library = TileLibrary::new();
    library.add_mesh(&cache);
    let saved = [SnapshotMode::Full, SnapshotMode::Referenced].map(|mode| cache.snapshot(mode));
    cache.update_all().unwrap();
    record(&cache, "updated");
    let end = cache.snapshot(SnapshotMode::Full);
    for id in [2, 5] {
        assert!(cache.remove_obstacle(ObstacleId(id)));
    }
    cache.add_obstacle(shape(&mut rng, 2)).unwrap();
    cache.update(5).unwrap();
    record(&cache, "changed");
    for bytes in &saved {
        cache.restore(bytes, &library).unwrap();
        record(&cache, "restored");
        cache.update_all().unwrap();
        assert!(
            cache.snapshot(SnapshotMode::Full) == end,
            "another end after a restore"
        );
    }
    let obstacles: Vec<ObstacleId> = cache.obstacles().map(|(id, _)| id).collect();
    let volumes: Vec<_> = cache.volumes().map(|(id, _)| id).collect();
    obstacles
        .into_iter()
        .for_each(|id| assert!(cache.remove_obstacle(id)));
    volumes
        .into_iter()
        .for_each(|id| assert!(cache.remove_volume(id)));
    cache.update_all().unwrap();
    record(&cache, "removed");
    assert!(mesh_contents(&cache) == original, "something stayed");
    hashes
}

/// Tiles by position, without slots and generations.
fn mesh_contents(cache: &TileCache) -> Vec<((i32, i32, i32), [u8; 32])> {
    let mut all: Vec<_> = cache
        .tiles()
        .map(|(_, tile)| {
            let data = tile.data();
            (
                (data.tile_z, data.tile_x, data.layer),
                tile.built().content_id(),
            )
        })
        .collect();
    all.sort_unstable();
    all
}

#[test]
fn every_step_has_the_recorded_hash_at_every_thread_count() {
    let mut found = Vec::new();
    for (name, settings) in [
        ("layers", settings(PartitionType::Layers, 0.0)),
        ("layers-detail", settings(PartitionType::Layers, 1.8)),
        ("watershed", settings(PartitionType::Watershed, 1.8)),
        ("monotone", settings(PartitionType::Monotone, 0.0)),
    ] {
        let one = scenario(&settings, 1);
        for threads in [2, 5, 16] {
            assert_eq!(
                scenario(&settings, threads),
                one,
                "{name}, {threads} threads"
            );
        }
        for (step, hashes) in one.iter().enumerate() {
            found.push((format!("{name}-{step}"), hashes.clone()));
        }
    }
    compare_golden("tile_cache.txt", &found);
}

/// A crowd on the way when a wall goes up across it: everybody finds the gap, on the mesh as it is.
#[test]
fn a_crowd_walks_round_what_appears() {
    let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)];
    let vertices = vertices.map(|(x, z)| DVec3::new(x, 0.0, z));
    let settings = settings(PartitionType::Layers, 0.0);
    let mut cache = TileCache::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &settings).unwrap();
    let mut crowd = Crowd::new(CrowdOptions::default()).unwrap();
    let walkers: Vec<_> = (0..8)
        .map(|i| {
            let z = 8.0 + 3.0 * f64::from(i);
            let from = DVec3::new(4.0, 0.0, z);
            let id = crowd.add(&cache, from, &AgentOptions::HUMANOID).unwrap();
            crowd
                .set_destination(&cache, id, DVec3::new(36.0, 0.0, z))
                .unwrap();
            id
        })
        .collect();
    for _ in 0..20 {
        crowd.step(&cache, 0.05).unwrap();
    }
    let wall = Obstacle::aligned_box(DVec3::new(19.0, -1.0, -1.0), DVec3::new(21.0, 2.0, 33.0));
    cache.add_obstacle(wall.unwrap()).unwrap();
    let (from, to) = (DVec3::new(4.0, 0.0, 4.0), DVec3::new(36.0, 0.0, 4.0));
    for _ in 0..700 {
        cache.update(1).unwrap();
        crowd.step(&cache, 0.05).unwrap();
        for &id in &walkers {
            let at = crowd.agent(id).unwrap().position();
            let settled = cache.queued_tiles().len() == 0;
            let inside = (19.0..21.0).contains(&at.x) && at.z < 33.0;
            assert!(!(settled && inside), "{at} is inside the wall");
        }
    }
    for &id in &walkers {
        assert!(
            crowd.agent(id).unwrap().position().x > 30.0,
            "somebody did not get round"
        );
    }
    let route = cache.find_path(from, to, &PathOptions::default()).unwrap();
    assert_eq!(route.status, PathStatus::Found);
    assert!(route.length > 60.0);
}

//! Tile cache snapshots: the bytes as laid out, put back exactly, and hostile ones refused whole.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod cache_support;

use cache_support::{baked, cached, cheap, contents, generated, obstacle, place, volume};
use throng_build::cache::{CacheTables, Obstacle, ObstacleId, ShapeStatus, VolumeId};
use throng_build::input::Soup;
use throng_build::voxel::volumes::ConvexVolume;
use throng_build::{NavSettings, PartitionType};
use throng_soa::mesh::format::mesh_bytes;
use throng_soa::mesh::snapshot::{SnapshotMode, restore_snapshot_with, snapshot_bytes_in};
use throng_soa::mesh::{TileLibrary, TiledMesh};
use throng_soa::rng::SplitMix64;
use throng_soa::{DVec2, DVec3, DataError, DataErrorKind};

fn floor() -> Soup {
    let vertices = [(0.0, 0.0), (0.0, 24.0), (24.0, 0.0), (24.0, 24.0)];
    let vertices = vertices.map(|(x, z)| DVec3::new(x, 0.0, z)).to_vec();
    Soup::new(vertices, vec![[0, 1, 2], [2, 1, 3]]).unwrap()
}

fn settings() -> NavSettings {
    NavSettings {
        tile_size: 8.0,
        ..cheap()
    }
}

/// One of everything: shapes of each kind in force, gaps in the ids, and tiles in the queue.
fn scene() -> (TiledMesh, CacheTables) {
    let (mut mesh, mut cache) = cached(&floor(), &settings(), 1);
    let gone = Obstacle::cylinder(DVec3::new(4.0, 0.0, 4.0), 1.0, 1.0).unwrap();
    let gone = cache.add_obstacle(gone).unwrap();
    let round = Obstacle::cylinder(DVec3::new(4.0, -0.5, 20.0), 1.5, 2.0).unwrap();
    cache.add_obstacle(round).unwrap();
    cache.update_all(&mut mesh).unwrap();
    assert!(cache.remove_obstacle(gone));
    let block =
        Obstacle::aligned_box(DVec3::new(11.0, -1.0, 11.0), DVec3::new(13.0, 1.0, 13.0)).unwrap();
    cache.add_obstacle(block).unwrap();
    let half = DVec3::new(2.0, 1.0, 0.5);
    let turned = Obstacle::oriented_box(DVec3::new(20.0, 0.0, 20.0), half, 0.75).unwrap();
    cache.add_obstacle(turned).unwrap();
    let corners = [(2.0, 10.0), (6.0, 10.0), (4.0, 14.0)].map(|(x, z)| DVec2::new(x, z));
    let swamp = ConvexVolume::new(&corners, -1.0, 1.0, 9).unwrap();
    cache.add_volume(swamp).unwrap();
    cache.update(&mut mesh, 2).unwrap();
    (mesh, cache)
}

fn full(cache: &CacheTables, mesh: &TiledMesh) -> Vec<u8> {
    cache.snapshot(mesh, SnapshotMode::Full)
}

fn restore(cache: &mut CacheTables, mesh: &mut TiledMesh, bytes: &[u8]) -> Result<(), DataError> {
    cache.restore(mesh, bytes, &TileLibrary::new())
}

/// The layout written out by hand.
#[test]
fn the_bytes_are_the_layout() {
    let (mesh, cache) = scene();
    let mut expected: Vec<u8> = b"ONTK\x01\x00\x00\x00".to_vec();
    let int = |out: &mut Vec<u8>, value: u32| out.extend(value.to_le_bytes());
    let real = |out: &mut Vec<u8>, values: &[f64]| {
        values.iter().for_each(|v| out.extend(v.to_le_bytes()));
    };
    let out = &mut expected;
    [5, 2, 3].into_iter().for_each(|value| int(out, value));
    int(out, 2);
    out.push(1);
    real(out, &[4.0, -0.5, 20.0, 1.5, 2.0]);
    int(out, 3);
    out.push(2);
    real(out, &[11.0, -1.0, 11.0, 13.0, 1.0, 13.0]);
    int(out, 4);
    out.push(3);
    real(out, &[20.0, 0.0, 20.0, 2.0, 1.0, 0.5, 0.75]);
    [1, 1].into_iter().for_each(|value| int(out, value));
    out.push(9);
    real(out, &[-1.0, 1.0]);
    int(out, 3);
    real(out, &[2.0, 10.0, 6.0, 10.0, 4.0, 14.0]);
    let queue: Vec<(i32, i32)> = cache.queued_tiles().collect();
    assert!(queue.len() > 2);
    int(out, queue.len() as u32);
    for (x, z) in queue {
        out.extend(x.to_le_bytes());
        out.extend(z.to_le_bytes());
    }
    for mode in [SnapshotMode::Full, SnapshotMode::Referenced] {
        let mesh_part = snapshot_bytes_in(&mesh, mode);
        let mut expected = expected.clone();
        int(&mut expected, mesh_part.len() as u32);
        expected.extend(mesh_part);
        assert_eq!(cache.snapshot(&mesh, mode), expected);
        // Into exactly enough room, and one byte less.
        assert_eq!(cache.snapshot_size(&mesh, mode), expected.len());
        let mut buffer = vec![0xAA; expected.len()];
        assert_eq!(
            cache.try_snapshot(&mesh, mode, &mut buffer),
            Some(expected.len())
        );
        assert_eq!(buffer, expected);
        let short = &mut buffer[1..];
        assert_eq!(cache.try_snapshot(&mesh, mode, short), None);
    }
}

#[test]
fn a_restored_cache_goes_on_as_the_saved_one() {
    let soup = generated("city", 64.0, 4);
    for mode in [SnapshotMode::Full, SnapshotMode::Referenced] {
        let (mut mesh, mut cache) = cached(&soup, &cheap(), 1);
        let ground = mesh.clone();
        let mut rng = SplitMix64::new(31);
        let change = |mesh: &mut TiledMesh, cache: &mut CacheTables, rng: &mut SplitMix64| {
            let shape = obstacle(place(&ground, rng), rng);
            cache.add_obstacle(shape).unwrap();
            cache.add_volume(volume(place(&ground, rng), rng)).unwrap();
            let oldest = cache.obstacles().next().map(|(id, _)| id);
            if rng.next_below(2) == 0 {
                oldest.map(|id| cache.remove_obstacle(id));
            }
            cache.update(mesh, 3).unwrap();
        };
        for _ in 0..6 {
            change(&mut mesh, &mut cache, &mut rng);
        }
        let mut library = TileLibrary::new();
        library.add_mesh(&mesh);
        let saved = cache.snapshot(&mesh, mode);
        let status = |cache: &CacheTables| -> Vec<ShapeStatus> {
            let ids = 1..20;
            let of = |id| {
                [
                    cache.obstacle_status(ObstacleId(id)),
                    cache.volume_status(VolumeId(id)),
                ]
            };
            ids.flat_map(of).collect()
        };
        let saved_status = status(&cache);
        // A second cache of the same level, with a history of its own, and the first one later.
        let (mut other_mesh, mut other) = cached(&soup, &cheap(), 2);
        let mut other_rng = SplitMix64::new(5);
        change(&mut other_mesh, &mut other, &mut other_rng);
        let at_save = rng;
        for _ in 0..4 {
            change(&mut mesh, &mut cache, &mut rng);
        }
        cache.update_all(&mut mesh).unwrap();
        let end = full(&cache, &mesh);
        for (mesh, cache) in [(&mut mesh, &mut cache), (&mut other_mesh, &mut other)] {
            cache.restore(mesh, &saved, &library).unwrap();
            assert!(cache.snapshot(mesh, mode) == saved);
            assert_eq!(status(cache), saved_status);
            let mut rng = at_save;
            for _ in 0..4 {
                change(mesh, cache, &mut rng);
            }
            cache.update_all(mesh).unwrap();
            assert!(full(cache, mesh) == end, "another end after a restore");
        }
    }
}

/// What the mesh holds after a restore counts, not what it held before.
#[test]
fn queued_tiles_are_rebuilt_in_full_after_a_restore() {
    let (mut mesh, mut cache) = cached(&floor(), &settings(), 1);
    let middle = Obstacle::cylinder(DVec3::new(12.0, -0.5, 12.0), 2.0, 2.0).unwrap();
    cache.add_obstacle(middle).unwrap();
    let waiting = full(&cache, &mesh);
    cache.update_all(&mut mesh).unwrap();
    let done = mesh_bytes(&mesh);
    restore(&mut cache, &mut mesh, &waiting).unwrap();
    let counts = cache.update_all(&mut mesh).unwrap();
    assert_eq!(counts.unchanged, 0);
    assert!(mesh_bytes(&mesh) == done);
    assert!(contents(&mesh) == contents(&baked(&floor(), &settings(), &[middle], &[])));
}

/// The mesh alone goes back to a time before the obstacle; the cache is told nothing. Adding the
/// obstacle again finds the areas of the last build, and must not take them for the mesh's.
#[test]
fn a_mesh_restored_without_its_cache_is_made_good_when_tiles_are_rebuilt() {
    for partition in [PartitionType::Layers, PartitionType::Watershed] {
        for (threads, radius) in [(1, 2.0), (3, 2.0), (1, 40.0)] {
            let settings = NavSettings {
                partition,
                ..settings()
            };
            let (mut mesh, mut cache) = cached(&floor(), &settings, threads);
            let middle = DVec3::new(12.0, -0.5, 12.0);
            let middle = Obstacle::cylinder(middle, radius, 2.0).unwrap();
            let with = contents(&baked(&floor(), &settings, &[middle], &[]));
            let without = contents(&mesh);
            assert_eq!(with.is_empty(), radius > 30.0);
            let before = snapshot_bytes_in(&mesh, SnapshotMode::Full);
            let id = cache.add_obstacle(middle).unwrap();
            cache.update_all(&mut mesh).unwrap();
            let after = snapshot_bytes_in(&mesh, SnapshotMode::Full);
            assert_eq!(contents(&mesh), with);

            let library = TileLibrary::new();
            restore_snapshot_with(&mut mesh, &before, &library).unwrap();
            cache.remove_obstacle(id);
            let id = cache.add_obstacle(middle).unwrap();
            cache.update_all(&mut mesh).unwrap();
            assert_eq!(contents(&mesh), with, "{partition:?} {threads} {radius}");

            // The other way: the mesh has the obstacle, and it is no more.
            cache.remove_obstacle(id);
            cache.update_all(&mut mesh).unwrap();
            restore_snapshot_with(&mut mesh, &after, &library).unwrap();
            let id = cache.add_obstacle(middle).unwrap();
            cache.remove_obstacle(id);
            cache.update_all(&mut mesh).unwrap();
            assert_eq!(contents(&mesh), without, "{partition:?} {threads} {radius}");
        }
    }
}

/// Nothing of cache or mesh may have changed, and both must still work.
fn assert_refused(
    mesh: &mut TiledMesh,
    cache: &mut CacheTables,
    before: &[u8],
    bytes: &[u8],
    what: &str,
) -> DataError {
    let Err(error) = restore(cache, mesh, bytes) else {
        panic!("{what}: taken");
    };
    assert!(full(cache, mesh) == before, "{what}: something changed");
    error
}

#[test]
fn every_prefix_and_one_more_byte_are_refused() {
    let (mesh, cache) = scene();
    let saved = full(&cache, &mesh);
    let (mut mesh, mut cache) = cached(&floor(), &settings(), 1);
    let before = full(&cache, &mesh);
    for length in 0..saved.len() {
        // Inside the mesh's bytes now and then: that format has its own tests.
        if length < 400 || length % 97 == 0 || length + 8 > saved.len() {
            let prefix = &saved[..length];
            let error = assert_refused(&mut mesh, &mut cache, &before, prefix, "prefix");
            let short = matches!(error.kind, DataErrorKind::Truncated | DataErrorKind::Count);
            assert!(short, "{length}: {error}");
        }
    }
    let longer = [&saved[..], &[0]].concat();
    let error = assert_refused(&mut mesh, &mut cache, &before, &longer, "one more byte");
    assert_eq!(error.kind, DataErrorKind::Trailing);
    restore(&mut cache, &mut mesh, &saved).unwrap();
    assert!(full(&cache, &mesh) == saved);
}

#[test]
fn each_bad_field_is_refused_and_named() {
    let (mesh, cache) = scene();
    let saved = full(&cache, &mesh);
    let queue = cache.queued_tiles().len();
    let (mut mesh, mut cache) = cached(&floor(), &settings(), 1);
    let before = full(&cache, &mesh);
    // Offsets of the layout above.
    let (obstacles, first) = (16, 20);
    let (second, third) = (first + 45, first + 45 + 53);
    let volumes = third + 61;
    let volume = volumes + 4;
    let queue_at = volume + 25 + 48;
    let mesh_at = queue_at + 4 + 8 * queue;
    let int = |v: u32| v.to_le_bytes().to_vec();
    let real = |v: f64| v.to_le_bytes().to_vec();
    let value = DataErrorKind::Value;
    let cases: Vec<(usize, Vec<u8>, DataErrorKind, &str)> = vec![
        (0, b"ONTX".to_vec(), DataErrorKind::Magic, "magic"),
        (
            4,
            vec![2, 0],
            DataErrorKind::Version {
                found: 2,
                expected: 1,
            },
            "version",
        ),
        (6, vec![1, 0], value, "flags"),
        (8, int(0), value, "next obstacle id"),
        (8, int(1 << 31), value, "next obstacle id"),
        (8, int(4), value, "obstacle id"),
        (12, int(0), value, "next volume id"),
        (12, int(1), value, "volume id"),
        (
            obstacles,
            int(u32::MAX),
            DataErrorKind::Count,
            "obstacle count",
        ),
        (
            obstacles,
            int(1 << 20),
            DataErrorKind::Count,
            "obstacle count",
        ),
        (first, int(0), value, "obstacle id"),
        (second, int(2), value, "obstacle id"),
        (first + 4, vec![0], value, "obstacle shape"),
        (first + 4, vec![4], value, "obstacle shape"),
        (first + 5, real(f64::NAN), value, "obstacle base.x"),
        (first + 5, real(3e6), value, "obstacle base.x"),
        (first + 29, real(0.0), value, "obstacle radius"),
        (first + 37, real(-1.0), value, "obstacle height"),
        (second + 29, real(10.0), value, "obstacle max.x"),
        (third + 53, real(f64::INFINITY), value, "obstacle yaw"),
        (volumes, int(1 << 20), DataErrorKind::Count, "volume count"),
        (volume, int(0), value, "volume id"),
        (volume + 4, vec![64], value, "volume area"),
        (volume + 5, real(2.0), value, "volume max_y"),
        (volume + 21, int(2), value, "volume corners.len()"),
        (
            volume + 21,
            int(257),
            DataErrorKind::Count,
            "volume corner count",
        ),
        (volume + 25, real(6.0), value, "volume corners"),
        (queue_at, int(17), DataErrorKind::Count, "queue length"),
        (queue_at + 4, int(77), value, "queued tile"),
        (
            queue_at + 12,
            saved[queue_at + 4..queue_at + 12].to_vec(),
            value,
            "queued tile",
        ),
        (
            mesh_at,
            int(1 << 30),
            DataErrorKind::Truncated,
            "mesh snapshot",
        ),
        (mesh_at + 4, b"ONPX".to_vec(), DataErrorKind::Magic, "magic"),
    ];
    for (at, patch, kind, field) in cases {
        let mut bytes = saved.clone();
        bytes[at..at + patch.len()].copy_from_slice(&patch);
        let error = assert_refused(&mut mesh, &mut cache, &before, &bytes, field);
        assert_eq!((&error.kind, &*error.field), (&kind, field), "{error}");
    }
}

/// Any flipped bytes: refused whole, or taken and saved again without trouble.
#[test]
fn random_damage_never_breaks_anything() {
    let (mesh, cache) = scene();
    let saved = full(&cache, &mesh);
    let (mut mesh, mut cache) = cached(&floor(), &settings(), 1);
    let mut before = full(&cache, &mesh);
    let mut rng = SplitMix64::new(99);
    let mut taken = 0;
    for round in 0..3000 {
        let mut bytes = saved.clone();
        // Mostly where this format's own fields are.
        let span = if round % 3 == 0 { bytes.len() } else { 360 };
        for _ in 0..=rng.next_below(3) {
            let at = rng.next_below(span as u32) as usize;
            bytes[at] = match rng.next_below(3) {
                0 => rng.next_below(256) as u8,
                1 => bytes[at] ^ (1 << rng.next_below(8)),
                _ => 255,
            };
        }
        match restore(&mut cache, &mut mesh, &bytes) {
            Err(_) => assert!(full(&cache, &mesh) == before, "round {round}"),
            Ok(()) => {
                taken += 1;
                cache.update(&mut mesh, 1).unwrap();
                before = full(&cache, &mesh);
            }
        }
    }
    assert!(taken > 50, "only {taken} were taken");
}

#[test]
fn a_snapshot_of_other_settings_or_another_level_is_refused() {
    let (mesh, cache) = scene();
    let saved = full(&cache, &mesh);
    let other = NavSettings {
        agent_radius: 0.5,
        ..settings()
    };
    let (mut other_mesh, mut other_cache) = cached(&floor(), &other, 1);
    let before = full(&other_cache, &other_mesh);
    let error = assert_refused(
        &mut other_mesh,
        &mut other_cache,
        &before,
        &saved,
        "settings",
    );
    assert_eq!(error.kind, DataErrorKind::Fingerprint);
    // A smaller level has no data for some of the queued tiles.
    let vertices = [(0.0, 0.0), (0.0, 7.0), (7.0, 0.0)].map(|(x, z)| DVec3::new(x, 0.0, z));
    let small = Soup::new(vertices.to_vec(), vec![[0, 1, 2]]).unwrap();
    let (mut other_mesh, mut other_cache) = cached(&small, &settings(), 1);
    let before = full(&other_cache, &other_mesh);
    let error = assert_refused(&mut other_mesh, &mut other_cache, &before, &saved, "level");
    assert!(
        ["queued tile", "queue length"].contains(&&*error.field),
        "{error}"
    );
    // The mesh passed in is another one than the cache's.
    let (mut mesh, mut cache) = scene();
    let (mut stranger, _) = cached(&floor(), &other, 1);
    let bytes = mesh_bytes(&stranger);
    let error = restore(&mut cache, &mut stranger, &saved).unwrap_err();
    assert_eq!(error.kind, DataErrorKind::Fingerprint);
    assert!(mesh_bytes(&stranger) == bytes);
    restore(&mut cache, &mut mesh, &saved).unwrap();
}

/// Boxes along 4000 rows of tiles, beside them, in a gap of all rows and over all of them. A look
/// at every row for each would be 4 * 10^9 of them, and this would not come back for minutes.
#[test]
fn a_million_long_obstacles_are_restored_without_a_look_at_every_row() {
    let length = 16_000.0;
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for x in [0.0, 400.0] {
        let first = vertices.len() as u32;
        for (dx, z) in [(0.0, 0.0), (0.0, length), (3.5, 0.0), (3.5, length)] {
            vertices.push(DVec3::new(x + dx, 0.0, z));
        }
        triangles.extend([[0, 1, 2], [2, 1, 3]].map(|t| t.map(|corner| first + corner)));
    }
    let settings = NavSettings {
        cell_size: 0.5,
        tile_size: 4.0,
        agent_radius: 0.5,
        ..cheap()
    };
    let soup = Soup::new(vertices, triangles).unwrap();
    let (mut mesh, mut cache) = cached(&soup, &settings, 1);
    // With the neighbours whose borders see the strips.
    let tiles: Vec<(i32, i32)> = cache.cached_tiles().collect();
    assert_eq!(tiles[..5], [(0, 0), (1, 0), (99, 0), (100, 0), (0, 1)]);
    assert!(tiles.len() >= 16_000);
    let saved = full(&cache, &mesh);

    let count = 1_u32 << 20;
    let mut bytes = saved[..8].to_vec();
    for value in [count + 1, 1, count] {
        bytes.extend(value.to_le_bytes());
    }
    for id in 1..=count {
        let (low, high) = [(-1000.0, -900.0), (150.0, 250.0), (-10.0, 500.0)][id as usize % 3];
        bytes.extend(id.to_le_bytes());
        bytes.push(2);
        for value in [low, -1.0, -5.0, high, -0.9, length + 5.0] {
            bytes.extend(f64::to_le_bytes(value));
        }
    }
    bytes.extend_from_slice(&saved[20..]);
    restore(&mut cache, &mut mesh, &bytes).unwrap();
    assert_eq!(cache.obstacles().len(), 1 << 20);
    assert_eq!(queue_of(&cache), []);
    assert!(full(&cache, &mesh) == bytes);

    // Listed or wide, each goes as it came; those near no tile queue none.
    for id in [3, 1] {
        assert!(cache.remove_obstacle(ObstacleId(id)));
        assert_eq!(queue_of(&cache), []);
    }
    assert!(cache.remove_obstacle(ObstacleId(2)));
    assert_eq!(queue_of(&cache), tiles);
}

fn queue_of(cache: &CacheTables) -> Vec<(i32, i32)> {
    cache.queued_tiles().collect()
}

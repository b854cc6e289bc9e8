//! Requests: ids, the queue and its order, statuses, refusals; and caches of every kind of level.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod cache_support;

use cache_support::{baked, cached, cheap, contents, generated, obstacle, place, volume};
use throng_build::cache::{
    CacheTables, Obstacle, ObstacleId, RebuildCounts, ShapeStatus, VolumeId, build_chunk_cached,
    build_heightfield_cached, build_soup_cached,
};
use throng_build::input::{SolidHeightfield, Soup, VoxelChunk};
use throng_build::voxel::frame::HeightfieldFrame;
use throng_build::voxel::plan::TilePlan;
use throng_build::voxel::volumes::ConvexVolume;
use throng_build::{
    BuildError, BuildOptions, NavSettings, PartitionType, build_chunk_with, build_heightfield_with,
};
use throng_soa::mesh::format::mesh_bytes;
use throng_soa::mesh::snapshot::SnapshotMode;
use throng_soa::mesh::{TileLibrary, TiledMesh};
use throng_soa::rng::SplitMix64;
use throng_soa::{DVec2, DVec3};

/// A floor of 10 by 10 tiles of 4 units: cells of 0.25, radius of 2 cells, border of 5.
fn floor() -> Soup {
    let vertices = [(0.0, 0.0), (0.0, 39.5), (39.5, 0.0), (39.5, 39.5)];
    let vertices = vertices.map(|(x, z)| DVec3::new(x, 0.0, z)).to_vec();
    Soup::new(vertices, vec![[0, 1, 2], [2, 1, 3]]).unwrap()
}

fn settings() -> NavSettings {
    NavSettings {
        agent_radius: 0.5,
        cell_size: 0.25,
        tile_size: 4.0,
        min_region_area: 4,
        ..cheap()
    }
}

fn round(x: f64, z: f64, radius: f64) -> Obstacle {
    Obstacle::cylinder(DVec3::new(x, -0.5, z), radius, 2.0).unwrap()
}

fn square(x: f64, z: f64, half: f64, area: u8) -> ConvexVolume {
    let corners = [(-half, -half), (half, -half), (half, half), (-half, half)];
    let corners = corners.map(|(dx, dz)| DVec2::new(x + dx, z + dz));
    ConvexVolume::new(&corners, -1.0, 1.0, area).unwrap()
}

fn queue(cache: &CacheTables) -> Vec<(i32, i32)> {
    cache.queued_tiles().collect()
}

#[test]
fn tiles_queue_by_row_then_column_and_keep_their_place() {
    let (mut mesh, mut cache) = cached(&floor(), &settings(), 1);
    assert_eq!(cache.cached_tiles().len(), 100);
    // A grid reaches 1.25 beyond its tile and is widened by 0.75: a shape matters within 2 units.
    cache.add_obstacle(round(18.0, 18.0, 0.5)).unwrap();
    let around = vec![
        (3, 3),
        (4, 3),
        (5, 3),
        (3, 4),
        (4, 4),
        (5, 4),
        (3, 5),
        (4, 5),
        (5, 5),
    ];
    assert_eq!(queue(&cache), around);
    // Only the new tile joins, at the end.
    cache.add_obstacle(round(14.0, 18.0, 0.1)).unwrap();
    let mut more = around.clone();
    more.extend([(2, 3), (2, 4), (2, 5)]);
    assert_eq!(queue(&cache), more);
    assert_eq!(cache.update(&mut mesh, 4).unwrap().tiles, 4);
    assert_eq!(queue(&cache), more[4..]);
    // Done tiles queue again, behind those that wait.
    cache.add_volume(square(18.0, 14.0, 0.1, 5)).unwrap();
    let mut again = more[4..].to_vec();
    again.extend([(3, 2), (4, 2), (5, 2), (3, 3), (4, 3), (5, 3), (3, 4)]);
    assert_eq!(queue(&cache), again);
    assert_eq!(cache.update(&mut mesh, 0).unwrap().tiles, 0);
    assert_eq!(queue(&cache), again);
    assert_eq!(cache.update_all(&mut mesh).unwrap().tiles, again.len());
    assert_eq!(cache.update_all(&mut mesh).unwrap().tiles, 0);
}

/// The oracle looks at every tile in turn.
#[test]
fn random_boxes_queue_exactly_the_tiles_they_are_near() {
    let (_, mut cache) = cached(&floor(), &settings(), 1);
    let plan = TilePlan::new(&settings()).unwrap();
    let mut rng = SplitMix64::new(12);
    for _ in 0..300 {
        let mut corner = |size: f64| {
            DVec3::new(
                rng.next_f64() * 60.0 - 10.0,
                0.0,
                rng.next_f64() * 60.0 - 10.0,
            ) + DVec3::new(rng.next_f64() * size, 1.0, rng.next_f64() * size)
        };
        let (a, b) = (corner(1.0), corner(9.0));
        let (min, max) = (a.min(b), a.max(b));
        let id = cache
            .add_obstacle(Obstacle::aligned_box(min, max).unwrap())
            .unwrap();
        let margin = 2.0 * 0.25 + 0.25;
        let near = |&(x, z): &(i32, i32)| {
            let frame = plan.frame(x, z, 0.0, 0.0).unwrap();
            let side = f64::from(frame.width) * 0.25;
            let (low, high) = (frame.origin, frame.origin + side);
            low.x - margin <= max.x
                && high.x + margin >= min.x
                && low.z - margin <= max.z
                && high.z + margin >= min.z
        };
        let expected: Vec<(i32, i32)> = cache.cached_tiles().filter(near).collect();
        assert_eq!(queue(&cache), expected);
        let mut mesh = TiledMesh::new(plan.params).unwrap();
        cache.update_all(&mut mesh).unwrap();
        assert!(cache.remove_obstacle(id));
        assert_eq!(queue(&cache), expected);
        cache.update_all(&mut mesh).unwrap();
    }
}

#[test]
fn ids_count_from_one_and_statuses_follow_the_queue() {
    use ShapeStatus::{Applied, Removed, Unknown, Waiting};
    let (mut mesh, mut cache) = cached(&floor(), &settings(), 1);
    let status = |cache: &CacheTables, id: u32| cache.obstacle_status(ObstacleId(id));
    assert_eq!(status(&cache, 0), Unknown);
    assert_eq!(status(&cache, 1), Unknown);
    let near = cache.add_obstacle(round(2.0, 2.0, 0.5)).unwrap();
    let far = cache.add_obstacle(round(38.0, 38.0, 0.5)).unwrap();
    // One that touches no tile is done at once.
    let nowhere = cache.add_obstacle(round(500.0, 2.0, 0.5)).unwrap();
    assert_eq!(
        (near, far, nowhere),
        (ObstacleId(1), ObstacleId(2), ObstacleId(3))
    );
    let waiting = [1, 2, 3, 4].map(|id| status(&cache, id));
    assert_eq!(waiting, [Waiting, Waiting, Applied, Unknown]);
    cache.update(&mut mesh, 3).unwrap();
    assert_eq!(status(&cache, 1), Waiting, "one of its four tiles waits");
    cache.update(&mut mesh, 1).unwrap();
    assert_eq!([1, 2].map(|id| status(&cache, id)), [Applied, Waiting]);
    assert!(cache.remove_obstacle(far));
    assert_eq!(status(&cache, 2), Removed);
    assert!(!cache.remove_obstacle(far));
    assert!(!cache.remove_obstacle(ObstacleId(99)));
    assert_eq!(
        cache.add_obstacle(round(9.0, 9.0, 1.0)).unwrap(),
        ObstacleId(4)
    );
    let kept: Vec<ObstacleId> = cache.obstacles().map(|(id, _)| id).collect();
    assert_eq!(kept, [1, 3, 4].map(ObstacleId));
    assert_eq!(cache.obstacle(near), Some(&round(2.0, 2.0, 0.5)));
    assert_eq!(cache.obstacle(far), None);

    let swamp = cache.add_volume(square(20.0, 20.0, 3.0, 7)).unwrap();
    assert_eq!(swamp, VolumeId(1), "volumes count on their own");
    assert_eq!(cache.volume_status(swamp), Waiting);
    cache.update_all(&mut mesh).unwrap();
    assert_eq!(cache.volume_status(swamp), Applied);
    assert_eq!(cache.volume(swamp).map(ConvexVolume::area), Some(7));
    assert!(cache.remove_volume(swamp) && !cache.remove_volume(swamp));
    assert_eq!(cache.volume_status(swamp), Removed);
    assert_eq!(cache.volumes().len(), 0);
}

/// Many more requests than tiles, with nothing done in between.
#[test]
fn no_request_is_lost() {
    let soup = floor();
    let (mut mesh, mut cache) = cached(&soup, &settings(), 1);
    let original = contents(&mesh);
    let shapes: Vec<Obstacle> = (0..1500)
        .map(|i| {
            round(
                f64::from(i % 50) * 0.8,
                f64::from(i / 50) * 1.3,
                0.1 + f64::from(i % 7) * 0.02,
            )
        })
        .collect();
    let ids: Vec<ObstacleId> = shapes
        .iter()
        .map(|&shape| cache.add_obstacle(shape).unwrap())
        .collect();
    assert_eq!(cache.queued_tiles().len(), 100);
    cache.update_all(&mut mesh).unwrap();
    assert!(contents(&mesh) == contents(&baked(&soup, &settings(), &shapes, &[])));
    assert!(contents(&mesh) != original);
    for &id in &ids {
        assert_eq!(cache.obstacle_status(id), ShapeStatus::Applied);
    }
    for id in ids {
        assert!(cache.remove_obstacle(id));
    }
    cache.update_all(&mut mesh).unwrap();
    assert!(contents(&mesh) == original);
}

#[test]
fn refusals_change_nothing() {
    let (mut mesh, mut cache) = cached(&floor(), &settings(), 1);
    cache.add_obstacle(round(9.0, 9.0, 1.0)).unwrap();
    let before = cache.snapshot(&mesh, Default::default());
    let (mut stranger, _) = cached(&floor(), &cheap(), 1);
    let bytes = mesh_bytes(&stranger);
    let error = cache.update_all(&mut stranger).unwrap_err();
    assert_eq!(error.counts, RebuildCounts::default());
    assert!(matches!(*error.error, BuildError::Argument(error) if error.argument == "mesh"));
    assert!(mesh_bytes(&stranger) == bytes);
    assert!(cache.snapshot(&mesh, Default::default()) == before);
    cache.update_all(&mut mesh).unwrap();
}

/// The floor with an islet 5000 units over the tiles (2, 2) and (7, 7), farther than a tile can
/// tell. Each is too small to be built, until a volume makes two regions of it.
fn floor_with_islets() -> Soup {
    let ground = floor();
    let mut vertices = ground.vertices().to_vec();
    let mut triangles = ground.triangles().to_vec();
    for middle in [10.0, 30.0] {
        let first = vertices.len() as u32;
        for (x, z) in [(-1.25, -1.25), (-1.25, 1.25), (1.25, -1.25), (1.25, 1.25)] {
            vertices.push(DVec3::new(middle + x, 5000.0, middle + z));
        }
        triangles.extend([[0, 1, 2], [2, 1, 3]].map(|t| t.map(|corner| first + corner)));
    }
    Soup::new(vertices, triangles).unwrap()
}

fn whole_tiles() -> NavSettings {
    NavSettings {
        partition: PartitionType::Watershed,
        min_region_area: 30,
        ..settings()
    }
}

/// Paints one half of the islet.
fn half_islet(middle: f64) -> ConvexVolume {
    let corners = [(-2.0, -2.0), (0.0, -2.0), (0.0, 2.0), (-2.0, 2.0)];
    let corners = corners.map(|(dx, dz)| DVec2::new(middle + dx, middle + dz));
    ConvexVolume::new(&corners, 4999.0, 5001.0, 7).unwrap()
}

#[test]
fn a_refused_tile_is_passed_over_until_something_near_it_changes() {
    use ShapeStatus::{Applied, Refused, Waiting};
    let (soup, settings) = (floor_with_islets(), whole_tiles());
    let (mut mesh, mut cache) = cached(&soup, &settings, 1);
    let original = contents(&mesh);
    let near = round(10.0, 10.0, 0.3);
    let far = round(30.0, 10.0, 0.5);
    let swamp = cache.add_volume(half_islet(10.0)).unwrap();
    let near_id = cache.add_obstacle(near).unwrap();
    let far_id = cache.add_obstacle(far).unwrap();
    let queued = cache.queued_tiles().len();
    assert!(queue(&cache)[..9].contains(&(2, 2)));

    // A budget counts what is done: the refused tile takes nothing of it.
    let error = cache.update(&mut mesh, 8).unwrap_err();
    assert_eq!((error.counts.tiles, error.counts.refused), (8, 1));
    assert!(matches!(
        *error.error,
        BuildError::Limit {
            tile_x: 2,
            tile_z: 2,
            ..
        }
    ));
    assert!(error.to_string().contains("tile (2, 2)"));
    assert_eq!(cache.queued_tiles().len(), queued - 9);
    let refused: Vec<(i32, i32)> = cache.refused_tiles().map(|(at, _)| at).collect();
    assert_eq!(refused, [(2, 2)]);
    assert_eq!(cache.refused_tiles().next().unwrap().1, &*error.error);
    assert_eq!(cache.obstacle_status(far_id), Waiting);

    // A restored cache tries it once more, and step by step does what the saved one does.
    let saved = cache.snapshot(&mesh, SnapshotMode::Full);
    let (mut other_mesh, mut other) = cached(&soup, &settings, 3);
    other
        .restore(&mut other_mesh, &saved, &TileLibrary::new())
        .unwrap();
    let (mut ahead_mesh, mut ahead) = cached(&soup, &settings, 1);
    ahead
        .restore(&mut ahead_mesh, &saved, &TileLibrary::new())
        .unwrap();
    ahead.update_all(&mut ahead_mesh).unwrap_err();
    let stepped = contents(&ahead_mesh);

    // The others are done, and it is not tried again.
    let mut done = 0;
    while cache.queued_tiles().len() > 0 {
        let counts = cache.update(&mut mesh, 1).unwrap();
        assert_eq!((counts.tiles, counts.refused), (1, 0));
        let again = other.update(&mut other_mesh, 1);
        assert_eq!(again.is_err(), done == 0);
        let own = cache.snapshot(&mesh, SnapshotMode::Full);
        assert!(other.snapshot(&other_mesh, SnapshotMode::Full) == own);
        done += 1;
    }
    assert_eq!(done, queued - 9);
    assert_eq!(contents(&mesh), stepped);
    assert_eq!(queue(&cache), []);
    assert_eq!(cache.volume_status(swamp), Refused);
    assert_eq!(cache.obstacle_status(near_id), Refused);
    assert_eq!(cache.obstacle_status(far_id), Applied);
    let kept = |all: Vec<((i32, i32, i32), [u8; 32])>, own: bool| {
        let is_own = |tile: &((i32, i32, i32), [u8; 32])| (tile.0.0, tile.0.1) == (2, 2);
        all.into_iter()
            .filter(|tile| is_own(tile) == own)
            .collect::<Vec<_>>()
    };
    let fresh = contents(&baked(&soup, &settings, &[near, far], &[]));
    assert_eq!(kept(contents(&mesh), true), kept(original, true));
    assert_eq!(kept(contents(&mesh), false), kept(fresh.clone(), false));

    // Asked again, it is refused again; so after a restore, where its old place brings it.
    cache.retry_refused();
    assert_eq!(queue(&cache), [(2, 2)]);
    assert_eq!(cache.update_all(&mut mesh).unwrap_err().counts.refused, 1);
    let saved = cache.snapshot(&mesh, SnapshotMode::Full);
    cache
        .restore(&mut mesh, &saved, &TileLibrary::new())
        .unwrap();
    assert_eq!(cache.volume_status(swamp), Waiting);
    assert_eq!(cache.update_all(&mut mesh).unwrap_err().counts.refused, 1);
    assert_eq!(cache.volume_status(swamp), Refused);
    assert!(cache.snapshot(&mesh, SnapshotMode::Full) == saved);

    // What was refused is made good when its cause goes.
    assert!(cache.remove_volume(swamp));
    assert_eq!(cache.obstacle_status(near_id), Waiting);
    assert_eq!(cache.refused_tiles().count(), 0);
    cache.update_all(&mut mesh).unwrap();
    assert_eq!(contents(&mesh), fresh);
    assert_eq!(cache.obstacle_status(near_id), Applied);
}

#[test]
fn refused_tiles_are_the_same_for_every_thread_count_and_slicing() {
    let (soup, settings) = (floor_with_islets(), whole_tiles());
    let mut expected = None;
    for (threads, budget) in [(1, usize::MAX), (1, 1), (1, 5), (2, 7), (3, usize::MAX)] {
        let (mut mesh, mut cache) = cached(&soup, &settings, threads);
        cache.add_volume(half_islet(30.0)).unwrap();
        cache.add_volume(half_islet(10.0)).unwrap();
        for i in 0..20 {
            let at = f64::from(i) * 2.0;
            cache.add_obstacle(round(at, 39.0 - at, 0.4)).unwrap();
        }
        let (mut all, mut errors) = (RebuildCounts::default(), Vec::new());
        while cache.queued_tiles().len() > 0 {
            match cache.update(&mut mesh, budget) {
                Ok(counts) => {
                    assert!(counts.tiles > 0);
                    all += counts;
                }
                Err(error) => {
                    all += error.counts;
                    errors.push(error.error);
                }
            }
        }
        assert_eq!(all.refused, 2);
        let first = cache.refused_tiles().next().unwrap();
        assert_eq!((first.0, first.1), ((7, 7), &*errors[0]));
        let found = (all, cache.snapshot(&mesh, SnapshotMode::Full));
        let expected = expected.get_or_insert_with(|| found.clone());
        assert!(*expected == found, "{threads} threads, {budget} a time");
    }
}

/// Two floors farther apart than a tile can tell: only with one of them covered does the level
/// build, and nothing uncovers it.
#[test]
fn baked_obstacles_are_part_of_the_level() {
    let mut vertices = Vec::new();
    for y in [0.0, 900.0] {
        for (x, z) in [(0.0, 0.0), (0.0, 10.0), (10.0, 0.0), (10.0, 10.0)] {
            vertices.push(DVec3::new(x, y, z));
        }
    }
    let triangles = vec![[0, 1, 2], [2, 1, 3], [4, 5, 6], [6, 5, 7]];
    let soup = Soup::new(vertices, triangles).unwrap();
    let settings = NavSettings {
        partition: PartitionType::Watershed,
        cell_size: 0.05,
        agent_radius: 0.05,
        tile_size: 12.0,
        ..cheap()
    };
    let lid = Obstacle::aligned_box(DVec3::new(-1.0, 890.0, -1.0), DVec3::new(11.0, 910.0, 11.0));
    let (vertices, triangles) = (soup.vertices(), soup.triangles());
    let options = BuildOptions::default();
    let built = build_soup_cached(vertices, triangles, &settings, &options);
    assert!(
        matches!(built, Err(BuildError::Limit { .. })),
        "both floors at once do not fit"
    );
    let lid = [lid.unwrap()];
    let options = BuildOptions {
        obstacles: &lid,
        ..BuildOptions::default()
    };
    let (mut mesh, mut cache) =
        build_soup_cached(vertices, triangles, &settings, &options).unwrap();
    let original = contents(&mesh);
    let id = cache.add_obstacle(round(5.0, 5.0, 1.0)).unwrap();
    cache.update_all(&mut mesh).unwrap();
    assert!(contents(&mesh) != original);
    cache.remove_obstacle(id);
    cache.update_all(&mut mesh).unwrap();
    assert!(contents(&mesh) == original, "the baked lid stays");
}

fn shapes(mesh: &TiledMesh, seed: u64) -> (Vec<Obstacle>, Vec<ConvexVolume>) {
    let mut rng = SplitMix64::new(seed);
    let obstacles = (0..5)
        .map(|_| obstacle(place(mesh, &mut rng), &mut rng))
        .collect();
    let volumes = (0..2)
        .map(|_| volume(place(mesh, &mut rng), &mut rng))
        .collect();
    (obstacles, volumes)
}

fn change(
    mesh: &mut TiledMesh,
    cache: &mut CacheTables,
    seed: u64,
) -> (Vec<Obstacle>, Vec<ConvexVolume>) {
    let (obstacles, volumes) = shapes(mesh, seed);
    for &shape in &obstacles {
        cache.add_obstacle(shape).unwrap();
    }
    for area in &volumes {
        cache.add_volume(area.clone()).unwrap();
    }
    cache.update_all(mesh).unwrap();
    (obstacles, volumes)
}

/// A slab of voxels with a hole in the middle and a wall on it.
fn chunk() -> VoxelChunk {
    let (width, depth, height) = (60_u32, 50_u32, 24_u32);
    let mut cells = vec![0_u8; (width * depth * height) as usize];
    for z in 0..depth {
        for x in 0..width {
            let hole = (25..32).contains(&x) && (20..30).contains(&z);
            let wall = x == 12 && z < 30;
            let top = if hole {
                0
            } else if wall {
                16
            } else {
                3
            };
            let first = (z * width + x) * height;
            cells[first as usize..(first + top) as usize].fill(1 + (x > 40) as u8);
        }
    }
    VoxelChunk::from_dense(width, depth, height, &cells).unwrap()
}

#[test]
fn chunks_and_heightfields_have_caches_too() {
    for partition in [PartitionType::Layers, PartitionType::Watershed] {
        let settings = NavSettings {
            cell_size: 0.25,
            tile_size: 8.0,
            partition,
            ..cheap()
        };
        let none = BuildOptions::default();
        let chunk = chunk();
        let mut areas = [63_u8; 256];
        areas[2] = 4;
        let plain = build_chunk_with(&chunk, Some(&areas), &settings, &none).unwrap();
        let (mut mesh, mut cache) =
            build_chunk_cached(&chunk, Some(&areas), &settings, &none).unwrap();
        assert!(plain.poly_count() > 0);
        assert!(mesh_bytes(&plain) == mesh_bytes(&mesh));
        let (obstacles, volumes) = change(&mut mesh, &mut cache, 4);
        let options = BuildOptions {
            obstacles: &obstacles,
            volumes: &volumes,
            ..none
        };
        let fresh = build_chunk_with(&chunk, Some(&areas), &settings, &options).unwrap();
        assert!(contents(&fresh) == contents(&mesh));
        assert!(contents(&fresh) != contents(&plain));

        let frame = HeightfieldFrame {
            origin: DVec3::new(0.0, 2.0, 0.0),
            cell_size: 0.25,
            cell_height: 0.2,
            width: 90,
            depth: 70,
            rows: 60,
        };
        let mut field = SolidHeightfield::new(frame).unwrap();
        let soup = generated("city", 64.0, 1);
        let shift = |v: &DVec3| DVec3::new(v.x * 0.35, 2.5 + v.y * 0.35, v.z * 0.35);
        let vertices: Vec<DVec3> = soup.vertices().iter().map(shift).collect();
        field
            .add_triangles(
                &vertices,
                soup.triangles(),
                &vec![63; soup.triangles().len()],
                1,
            )
            .unwrap();
        let plain = build_heightfield_with(&field, &settings, &none).unwrap();
        let (mut mesh, mut cache) = build_heightfield_cached(&field, &settings, &none).unwrap();
        assert!(plain.poly_count() > 0);
        assert!(mesh_bytes(&plain) == mesh_bytes(&mesh));
        let (obstacles, volumes) = change(&mut mesh, &mut cache, 9);
        let options = BuildOptions {
            obstacles: &obstacles,
            volumes: &volumes,
            ..none
        };
        let fresh = build_heightfield_with(&field, &settings, &options).unwrap();
        assert!(contents(&fresh) == contents(&mesh));
        assert!(contents(&fresh) != contents(&plain));
    }
}

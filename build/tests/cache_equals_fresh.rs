//! A changed mesh equals a fresh build of the same state, tile for tile and byte for byte, for any
//! history and with the repair on or off.
//!
//! The oracle is the plain build with the shapes baked in; the second one is a cache that builds
//! every layer from its areas.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod cache_support;

use std::sync::Mutex;

use cache_support::{baked, cached, cheap, contents, generated, obstacle, place, volume};
use throng_build::cache::{
    CacheTables, Obstacle, ObstacleId, RebuildCounts, VolumeId, build_chunk_cached,
};
use throng_build::input::{Soup, VoxelChunk};
use throng_build::voxel::volumes::ConvexVolume;
use throng_build::{
    BuildOptions, NavSettings, OffMeshLinkDefinition, PartitionType, TileFlaw, build_chunk_with,
    build_soup,
};
use throng_soa::DVec3;
use throng_soa::mesh::TiledMesh;
use throng_soa::mesh::format::mesh_bytes;
use throng_soa::rng::SplitMix64;

/// A mesh with its cache and a twin whose repair is off.
struct Pair {
    mesh: TiledMesh,
    cache: CacheTables,
    plain_mesh: TiledMesh,
    plain: CacheTables,
    counts: RebuildCounts,
}

impl Pair {
    fn new(build: impl Fn() -> (TiledMesh, CacheTables)) -> Self {
        let (mesh, cache) = build();
        let (plain_mesh, mut plain) = build();
        plain.set_repair(false);
        let counts = RebuildCounts::default();
        Self {
            mesh,
            cache,
            plain_mesh,
            plain,
            counts,
        }
    }

    fn add(&mut self, obstacle: Obstacle) -> ObstacleId {
        let id = self.cache.add_obstacle(obstacle).unwrap();
        assert_eq!(self.plain.add_obstacle(obstacle).unwrap(), id);
        id
    }

    fn remove(&mut self, id: ObstacleId) {
        assert!(self.cache.remove_obstacle(id) && self.plain.remove_obstacle(id));
        assert!(!self.cache.remove_obstacle(id));
    }

    fn add_volume(&mut self, volume: &ConvexVolume) -> VolumeId {
        let id = self.cache.add_volume(volume.clone()).unwrap();
        assert_eq!(self.plain.add_volume(volume.clone()).unwrap(), id);
        id
    }

    fn update(&mut self, tiles: usize) {
        self.counts += self.cache.update(&mut self.mesh, tiles).unwrap();
        let plain = self.plain.update(&mut self.plain_mesh, tiles).unwrap();
        assert_eq!(plain.repaired, 0);
    }

    /// The twin holds the same slots, generations and tiles.
    fn assert_twins(&self, what: &str) {
        assert!(
            mesh_bytes(&self.mesh) == mesh_bytes(&self.plain_mesh),
            "{what}: the repaired mesh differs from the built one"
        );
    }
}

/// Random requests and updates; the end state against a fresh build, then everything taken back.
fn random_history(
    name: &str,
    soup: &Soup,
    settings: &NavSettings,
    seed: u64,
    steps: usize,
) -> RebuildCounts {
    let mut rng = SplitMix64::new(seed);
    let mut pair = Pair::new(|| cached(soup, settings, 1));
    let original = contents(&pair.mesh);
    let fresh = baked(soup, settings, &[], &[]);
    assert!(
        mesh_bytes(&fresh) == mesh_bytes(&pair.mesh),
        "{name}: first build"
    );
    let ground = pair.mesh.clone();
    let mut obstacles: Vec<(ObstacleId, Obstacle)> = Vec::new();
    let mut volumes: Vec<(VolumeId, ConvexVolume)> = Vec::new();
    for step in 0..steps {
        let at = place(&ground, &mut rng);
        match rng.next_below(10) {
            0 if !obstacles.is_empty() => {
                let index = rng.next_below(obstacles.len() as u32) as usize;
                let (id, _) = obstacles.remove(index);
                pair.remove(id);
            }
            1 if !volumes.is_empty() => {
                let index = rng.next_below(volumes.len() as u32) as usize;
                let (id, _) = volumes.remove(index);
                assert!(pair.cache.remove_volume(id) && pair.plain.remove_volume(id));
            }
            2 => {
                let added = volume(at, &mut rng);
                volumes.push((pair.add_volume(&added), added));
            }
            _ => {
                let added = obstacle(at, &mut rng);
                obstacles.push((pair.add(added), added));
            }
        }
        pair.update(rng.next_below(6) as usize);
        pair.assert_twins(name);
        if step % 8 == 7 || step + 1 == steps {
            pair.update(usize::MAX);
            assert_eq!(pair.cache.queued_tiles().len(), 0);
            pair.assert_twins(name);
            let shapes: Vec<Obstacle> = obstacles.iter().map(|o| o.1).collect();
            let areas: Vec<ConvexVolume> = volumes.iter().map(|v| v.1.clone()).collect();
            let fresh = contents(&baked(soup, settings, &shapes, &areas));
            assert!(contents(&pair.mesh) == fresh, "{name}: step {step}");
        }
    }
    for (id, _) in obstacles {
        pair.remove(id);
    }
    for (id, _) in volumes {
        assert!(pair.cache.remove_volume(id) && pair.plain.remove_volume(id));
    }
    pair.update(usize::MAX);
    pair.assert_twins(name);
    assert!(
        contents(&pair.mesh) == original,
        "{name}: everything taken back"
    );
    pair.counts
}

#[test]
fn random_histories_on_layer_first_tiles() {
    let mut counts = RebuildCounts::default();
    for (seed, (name, size)) in [
        ("city", 96.0),
        ("bridges", 64.0),
        ("terraces", 64.0),
        ("stairs", 64.0),
        ("rooms", 64.0),
    ]
    .into_iter()
    .enumerate()
    {
        let soup = generated(name, size, 3);
        counts += random_history(name, &soup, &cheap(), seed as u64, 40);
    }
    // Every way a layer can come about was taken.
    assert!(counts.repaired > 100, "{counts:?}");
    assert!(counts.built > 20, "{counts:?}");
    assert!(counts.reused > 20 && counts.unchanged > 20, "{counts:?}");
}

#[test]
fn random_histories_with_other_region_sizes() {
    let soup = generated("city", 64.0, 5);
    for (index, least) in [0, 8, 400].into_iter().enumerate() {
        let settings = NavSettings {
            min_region_area: least,
            ..cheap()
        };
        random_history("city", &soup, &settings, 77 + index as u64, 24);
    }
}

/// Ground of pits, poles and patches of two materials: many small regions and holes, so that
/// obstacles swallow holes whole, take first spans, and touch regions too small to stand alone.
fn pitted_ground(rng: &mut SplitMix64) -> VoxelChunk {
    let (side, height) = (40_u32, 20_u32);
    let mut top = vec![(3_usize, 1_u8); (side * side) as usize];
    let mut blot = |count: u32, most: u32, to: (usize, u8)| {
        for _ in 0..count {
            let (w, d) = (1 + rng.next_below(most), 1 + rng.next_below(most));
            let (x0, z0) = (rng.next_below(side - w), rng.next_below(side - d));
            for z in z0..z0 + d {
                for x in x0..x0 + w {
                    top[(x + z * side) as usize] = to;
                }
            }
        }
    };
    blot(6, 7, (3, 2));
    blot(8, 3, (3, 3));
    blot(14, 14, (0, 0));
    blot(5, 6, (3, 1));
    blot(25, 1, (16, 1));
    let mut cells = vec![0_u8; (side * side * height) as usize];
    for (column, (top, material)) in cells.chunks_exact_mut(height as usize).zip(top) {
        column[..top].fill(material);
    }
    VoxelChunk::from_dense(side, side, height, &cells).unwrap()
}

#[test]
fn random_obstacles_on_pitted_ground() {
    let mut rng = SplitMix64::new(1);
    let mut counts = RebuildCounts::default();
    let mut areas = [63_u8; 256];
    (areas[2], areas[3]) = (4, 9);
    for round in 0..60 {
        let settings = NavSettings {
            agent_radius: [0.0, 0.25][round % 2],
            cell_size: 0.25,
            tile_size: [4.0, 10.0][round % 2],
            min_region_area: [0, 6, 20][round % 3],
            ..cheap()
        };
        let ground = pitted_ground(&mut rng);
        let options = BuildOptions::default();
        let mut pair =
            Pair::new(|| build_chunk_cached(&ground, Some(&areas), &settings, &options).unwrap());
        let mut shapes: Vec<(ObstacleId, Obstacle)> = Vec::new();
        for step in 0..24 {
            if step % 3 == 2 && !shapes.is_empty() {
                let index = rng.next_below(shapes.len() as u32) as usize;
                pair.remove(shapes.remove(index).0);
            }
            let mut number = |most: f64| most * rng.next_f64();
            let (x, z, radius) = (number(10.0), number(10.0), 0.1 + number(0.9));
            let at = DVec3::new(x, 0.5, z);
            let shape = Obstacle::cylinder(at, radius, 1.0).unwrap();
            shapes.push((pair.add(shape), shape));
            pair.update(usize::MAX);
            pair.assert_twins("pitted ground");
        }
        let obstacles: Vec<Obstacle> = shapes.iter().map(|shape| shape.1).collect();
        let options = BuildOptions {
            obstacles: &obstacles,
            ..options
        };
        let fresh = build_chunk_with(&ground, Some(&areas), &settings, &options).unwrap();
        assert!(contents(&fresh) == contents(&pair.mesh), "round {round}");
        counts += pair.counts;
    }
    assert!(counts.repaired > 300 && counts.built > 100, "{counts:?}");
}

/// A patch of another area, too small to stand alone, with one way in. Closing the way takes nothing
/// from the patch, and yet it has to go.
#[test]
fn a_small_region_goes_with_its_last_neighbor() {
    let (side, height) = (30_u32, 8_u32);
    let mut cells = Vec::new();
    for z in 0..side {
        for x in 0..side {
            let near = |low: u32, high: u32| (low..=high).contains(&x) && (low..=high).contains(&z);
            let wall = near(9, 13) && !near(10, 12) && (x, z) != (11, 13);
            let (top, material) = (if wall { 8 } else { 2 }, if near(10, 12) { 2 } else { 1 });
            cells.extend((0..height).map(|row| if row < top { material } else { 0 }));
        }
    }
    let ground = VoxelChunk::from_dense(side, side, height, &cells).unwrap();
    let settings = NavSettings {
        agent_radius: 0.0,
        cell_size: 0.25,
        tile_size: 8.0,
        min_region_area: 20,
        ..cheap()
    };
    let mut areas = [63_u8; 256];
    areas[2] = 4;
    let options = BuildOptions::default();
    let mut pair =
        Pair::new(|| build_chunk_cached(&ground, Some(&areas), &settings, &options).unwrap());
    let has_patch = |mesh: &TiledMesh| mesh.tiles().any(|(_, tile)| tile.poly_area.contains(&4));
    assert!(has_patch(&pair.mesh));
    let way_in = DVec3::new(11.5 * 0.25, 0.4, 13.5 * 0.25);
    let id = pair.add(Obstacle::cylinder(way_in, 0.1, 0.1).unwrap());
    pair.update(usize::MAX);
    pair.assert_twins("closed");
    assert!(!has_patch(&pair.mesh));
    pair.remove(id);
    pair.update(usize::MAX);
    assert!(has_patch(&pair.mesh));
}

#[test]
fn random_histories_on_whole_tiles() {
    for (partition, detail) in [
        (PartitionType::Watershed, 0.0),
        (PartitionType::Monotone, 1.8),
        (PartitionType::Layers, 1.8),
    ] {
        let settings = NavSettings {
            partition,
            detail_sample_distance: detail,
            ..cheap()
        };
        let soup = generated("bridges", 64.0, 2);
        let counts = random_history("bridges", &soup, &settings, 5, 16);
        assert_eq!(counts.repaired, 0);
        assert!(counts.built > 5 && counts.reused > 0, "{counts:?}");
    }
}

#[test]
fn authored_links_are_rebuilt_with_their_tiles() {
    let soup = generated("bridges", 64.0, 2);
    let mesh = build_soup(soup.vertices(), soup.triangles(), &cheap(), 1).unwrap();
    let mut rng = SplitMix64::new(8);
    let off_mesh_links: Vec<OffMeshLinkDefinition> = (0..12)
        .map(|user_id| OffMeshLinkDefinition {
            start: place(&mesh, &mut rng),
            end: place(&mesh, &mut rng),
            radius: 1.0,
            bidirectional: user_id % 2 == 0,
            area: 3,
            flags: 1,
            user_id,
        })
        .collect();
    let settings = NavSettings {
        off_mesh_links,
        ..cheap()
    };
    random_history("linked bridges", &soup, &settings, 21, 24);
}

/// The order of requests and the size of the slices leave no trace.
#[test]
fn any_slicing_gives_the_same_mesh() {
    let soup = generated("city", 64.0, 1);
    let (mut mesh, mut cache) = cached(&soup, &cheap(), 1);
    let (mut sliced_mesh, mut sliced) = cached(&soup, &cheap(), 1);
    let mut rng = SplitMix64::new(4);
    let ground = mesh.clone();
    let shapes: Vec<Obstacle> = (0..12)
        .map(|_| obstacle(place(&ground, &mut rng), &mut rng))
        .collect();
    for &shape in &shapes {
        cache.add_obstacle(shape).unwrap();
        sliced.add_obstacle(shape).unwrap();
        sliced.update(&mut sliced_mesh, 1).unwrap();
    }
    let waiting = sliced.queued_tiles().len();
    assert!(waiting > 3);
    let mut left = waiting;
    while left > 0 {
        assert_eq!(sliced.update(&mut sliced_mesh, 1).unwrap().tiles, 1);
        left -= 1;
        assert_eq!(sliced.queued_tiles().len(), left);
    }
    let all = cache.queued_tiles().len();
    assert_eq!(cache.update_all(&mut mesh).unwrap().tiles, all);
    assert!(contents(&mesh) == contents(&sliced_mesh));
    assert!(contents(&mesh) == contents(&baked(&soup, &cheap(), &shapes, &[])));
}

#[test]
fn every_thread_count_gives_the_same_bytes() {
    let soup = generated("city", 96.0, 9);
    let mut expected: Option<Vec<Vec<u8>>> = None;
    for threads in [1, 2, 5, 16] {
        let (mut mesh, mut cache) = cached(&soup, &cheap(), threads);
        let ground = mesh.clone();
        let mut rng = SplitMix64::new(6);
        let mut bytes = vec![mesh_bytes(&mesh)];
        for round in 0..6 {
            let mut ids = Vec::new();
            for _ in 0..8 {
                let shape = obstacle(place(&ground, &mut rng), &mut rng);
                ids.push(cache.add_obstacle(shape).unwrap());
            }
            let added = volume(place(&ground, &mut rng), &mut rng);
            cache.add_volume(added).unwrap();
            cache.update(&mut mesh, 7 + round).unwrap();
            bytes.push(mesh_bytes(&mesh));
            for id in ids.into_iter().step_by(2) {
                cache.remove_obstacle(id);
            }
            cache.update_all(&mut mesh).unwrap();
            bytes.push(mesh_bytes(&mesh));
        }
        let expected = expected.get_or_insert_with(|| bytes.clone());
        assert!(*expected == bytes, "{threads} threads");
    }
}

/// A tile stays in its slot, with its generation and edits, when its layer comes out as it was.
#[test]
fn untouched_layers_keep_their_references() {
    let soup = generated("bridges", 64.0, 2);
    let (mut mesh, mut cache) = cached(&soup, &cheap(), 1);
    let salts = |mesh: &TiledMesh| -> Vec<Option<u32>> {
        (0..mesh.slot_count()).map(|s| mesh.slot_salt(s)).collect()
    };
    let before = salts(&mesh);
    // High above everything: tiles are queued and none changes.
    let high = Obstacle::cylinder(DVec3::new(32.0, 500.0, 32.0), 30.0, 5.0).unwrap();
    cache.add_obstacle(high).unwrap();
    assert!(cache.queued_tiles().len() > 4);
    let counts = cache.update_all(&mut mesh).unwrap();
    assert!(counts.unchanged > 4 && counts.built + counts.repaired == 0);
    assert_eq!(salts(&mesh), before);
    // An area volume of the area the ground has: the areas differ, the tiles' content does not.
    let (slot, tile) = mesh
        .tiles()
        .find(|(_, tile)| tile.poly_count() > 1)
        .unwrap();
    let poly = mesh.poly_ref(slot, 0);
    let at = tile.poly_ring(0)[0];
    mesh.set_poly_flags(poly, 77).unwrap();
    let base = at - DVec3::new(0.0, 0.5, 0.0);
    let id = cache
        .add_obstacle(Obstacle::cylinder(base, 0.8, 1.0).unwrap())
        .unwrap();
    assert!(cache.update_all(&mut mesh).unwrap().repaired > 0);
    assert!(mesh.resolve(poly).is_none(), "its tile changed");
    cache.remove_obstacle(id);
    cache.update_all(&mut mesh).unwrap();
    assert!(mesh.resolve(poly).is_none(), "stale references stay stale");
    let changed = salts(&mesh)
        .iter()
        .zip(&before)
        .filter(|(a, b)| a != b)
        .count();
    assert!((1..=4).contains(&changed), "{changed} slots changed");
}

/// A turned box beside the ground, its grown corner over it: growing the box along its own axes
/// moves that corner 1.41 times as far as the radius, out of any box that grows by radius and cell.
#[test]
fn corners_of_turned_boxes_reach_as_far_as_the_agent_is_wide() {
    let corners = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)];
    let vertices = corners.map(|(x, z)| DVec3::new(x, 0.0, z)).to_vec();
    let soup = Soup::new(vertices, vec![[0, 1, 2], [2, 1, 3]]).unwrap();
    for (radius, partition) in [
        (6, PartitionType::Layers),
        (10, PartitionType::Layers),
        (10, PartitionType::Watershed),
    ] {
        let settings = NavSettings {
            cell_size: 0.5,
            agent_radius: 0.5 * f64::from(radius),
            tile_size: 16.0,
            partition,
            ..cheap()
        };
        let (mut mesh, mut cache) = cached(&soup, &settings, 1);
        let empty = contents(&mesh);
        let (mut rng, mut changed) = (SplitMix64::new(5), 0);
        for round in 0..300 {
            // Off any of the four sides: eroded ground starts a radius inside.
            let mut number = |low: f64, high: f64| low + (high - low) * rng.next_f64();
            let (along, off) = (number(0.0, 40.0), number(-1.0, 0.6 * f64::from(radius)));
            let center = match round % 4 {
                0 => DVec3::new(-off, 0.0, along),
                1 => DVec3::new(40.0 + off, 0.0, along),
                2 => DVec3::new(along, 0.0, -off),
                _ => DVec3::new(along, 0.0, 40.0 + off),
            };
            let half = DVec3::new(number(0.1, 1.0), 1.0, number(0.1, 1.0));
            let yaw = core::f64::consts::FRAC_PI_4 + number(-0.2, 0.2);
            let shape = Obstacle::oriented_box(center, half, yaw).unwrap();
            let id = cache.add_obstacle(shape).unwrap();
            cache.update_all(&mut mesh).unwrap();
            let fresh = contents(&baked(&soup, &settings, &[shape], &[]));
            assert!(contents(&mesh) == fresh, "radius {radius}: {shape:?}");
            changed += usize::from(fresh != empty);
            cache.remove_obstacle(id);
            cache.update_all(&mut mesh).unwrap();
            assert!(contents(&mesh) == empty, "radius {radius}: {shape:?}");
        }
        assert!(
            (30..270).contains(&changed),
            "{changed} of 300 cover ground"
        );
    }
}

/// Ground so full of holes that simplified outlines cross themselves.
fn noise(rng: &mut SplitMix64) -> VoxelChunk {
    let mut voxels = vec![2_u8; 64 * 64];
    for z in 2..62 {
        for x in 2..62 {
            voxels[z * 64 + x] = 1 + u8::from(rng.next_below(100) < 36);
        }
    }
    VoxelChunk::from_dense(64, 64, 1, &voxels).unwrap()
}

/// What the plain build with the same shapes reports is the oracle, for the first build and for
/// every rebuild, repaired or not.
#[test]
fn flaws_are_those_of_a_fresh_build() {
    let mut areas = [63; 256];
    areas[2] = 0;
    let mut rng = SplitMix64::new(23);
    let (mut first_flaws, mut later_flaws, mut dropped) = (0, 0, 0);
    let mut counts = RebuildCounts::default();
    for round in 0..20 {
        let chunk = noise(&mut rng);
        let settings = NavSettings {
            cell_size: 0.5,
            cell_height: 0.25,
            tile_size: 16.0,
            agent_radius: 0.0,
            min_region_area: 0,
            contour_max_error: 2.5,
            max_edge_length: 0.0,
            walkable_climb: 1.0,
            partition: [PartitionType::Layers, PartitionType::Monotone][round % 5 / 4],
            ..cheap()
        };
        let reported = |cached: bool, obstacles: &[Obstacle]| {
            let found = Mutex::new(Vec::new());
            let note = |flaw: TileFlaw| found.lock().unwrap().push(flaw);
            let options = BuildOptions {
                threads: 2,
                obstacles,
                on_flaw: Some(&note),
                ..BuildOptions::default()
            };
            let areas = Some(&areas);
            if cached {
                build_chunk_cached(&chunk, areas, &settings, &options).unwrap();
            } else {
                build_chunk_with(&chunk, areas, &settings, &options).unwrap();
            }
            let mut found = found.into_inner().unwrap();
            found.sort_by_key(|flaw| (flaw.tile_z, flaw.tile_x));
            found
        };
        let fresh = reported(false, &[]);
        assert_eq!(reported(true, &[]), fresh);
        first_flaws += fresh.len();

        let options = BuildOptions::default();
        let (mut mesh, mut cache) =
            build_chunk_cached(&chunk, Some(&areas), &settings, &options).unwrap();
        let listed = |cache: &CacheTables| cache.flawed_tiles().collect::<Vec<_>>();
        assert_eq!(listed(&cache), fresh);
        let (mut ids, mut shapes) = (Vec::new(), Vec::new());
        for _ in 0..6 {
            let mut place = || 2.0 + 28.0 * rng.next_f64();
            let base = DVec3::new(place(), -1.0, place());
            shapes.push(Obstacle::cylinder(base, 0.3, 3.0).unwrap());
            ids.push(cache.add_obstacle(shapes[shapes.len() - 1]).unwrap());
            let done = cache.update_all(&mut mesh).unwrap();
            counts += done;
            let with = reported(false, &shapes);
            assert_eq!(listed(&cache), with, "{:?}", settings.partition);
            later_flaws += with.len();
            dropped += done.flaws.dropped_holes;
        }
        for id in ids {
            cache.remove_obstacle(id);
        }
        counts += cache.update_all(&mut mesh).unwrap();
        assert_eq!(listed(&cache), fresh);
    }
    assert!(
        first_flaws > 5 && later_flaws > 30 && dropped > 5,
        "{first_flaws} {later_flaws} {dropped}"
    );
    assert!(
        counts.repaired > 30 && counts.built > 10 && counts.reused > 10,
        "{counts:?}"
    );
}

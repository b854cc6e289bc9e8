//! Levels with a cache, random shapes, and meshes compared tile by tile.

#![allow(dead_code, reason = "each test file uses some of it")]
#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use throng_build::cache::{CacheTables, Obstacle, build_soup_cached};
use throng_build::input::{Soup, levels};
use throng_build::voxel::volumes::ConvexVolume;
use throng_build::{BuildOptions, NavSettings, PartitionType, build_soup_with};
use throng_soa::mesh::TiledMesh;
use throng_soa::rng::SplitMix64;
use throng_soa::{DVec2, DVec3};

pub(crate) fn generated(name: &str, size: f64, seed: u64) -> Soup {
    levels::generate(name, size, seed).unwrap()
}

/// Humanoid, tiles of 64 cells, layers, no height samples: the cheap setting.
pub(crate) fn cheap() -> NavSettings {
    NavSettings {
        tile_size: f64::from(19.2_f32),
        partition: PartitionType::Layers,
        detail_sample_distance: 0.0,
        ..NavSettings::HUMANOID
    }
}

pub(crate) fn cached(
    soup: &Soup,
    settings: &NavSettings,
    threads: usize,
) -> (TiledMesh, CacheTables) {
    let options = BuildOptions {
        threads,
        ..BuildOptions::default()
    };
    build_soup_cached(soup.vertices(), soup.triangles(), settings, &options).unwrap()
}

/// The plain build with shapes baked in.
pub(crate) fn baked(
    soup: &Soup,
    settings: &NavSettings,
    obstacles: &[Obstacle],
    volumes: &[ConvexVolume],
) -> TiledMesh {
    let options = BuildOptions {
        obstacles,
        volumes,
        ..BuildOptions::default()
    };
    build_soup_with(soup.vertices(), soup.triangles(), settings, &options).unwrap()
}

/// Position and content id of every tile, by position: slots and generations left out.
pub(crate) fn contents(mesh: &TiledMesh) -> Vec<((i32, i32, i32), [u8; 32])> {
    let mut all: Vec<_> = mesh
        .tiles()
        .map(|(_, tile)| {
            let data = tile.data();
            let place = (data.tile_z, data.tile_x, data.layer);
            (place, tile.built().content_id())
        })
        .collect();
    all.sort_unstable();
    all
}

/// A place on the ground of the mesh, or beside it when it is empty.
pub(crate) fn place(mesh: &TiledMesh, rng: &mut SplitMix64) -> DVec3 {
    let tiles: Vec<u32> = mesh.occupied_slots().collect();
    if tiles.is_empty() {
        return DVec3::ZERO;
    }
    let slot = tiles[rng.next_below(tiles.len() as u32) as usize];
    let tile = mesh.tile(slot).unwrap();
    let ring = tile.poly_ring(rng.next_below(tile.poly_count() as u32) as usize);
    let (a, b) = (ring[0], ring[ring.len() / 2]);
    a + (b - a) * rng.next_f64()
}

/// An obstacle of any shape near `at`, mostly a few cells wide, sometimes a few tiles.
pub(crate) fn obstacle(at: DVec3, rng: &mut SplitMix64) -> Obstacle {
    let big = rng.next_below(12) == 0;
    let mut size = |least: f64, most: f64| {
        let most = if big { most * 5.0 } else { most };
        least + (most - least) * rng.next_f64()
    };
    let (a, b, height) = (size(0.05, 3.0), size(0.05, 3.0), size(0.2, 3.0));
    let base = at - DVec3::new(0.0, 0.5, 0.0);
    match rng.next_below(3) {
        0 => Obstacle::cylinder(base, a, height),
        1 => Obstacle::aligned_box(
            base - DVec3::new(a, 0.0, b),
            base + DVec3::new(a, height, b),
        ),
        _ => Obstacle::oriented_box(base, DVec3::new(a, height, b), rng.next_f64() * 7.0 - 3.5),
    }
    .unwrap()
}

/// An area volume near `at`; area 0 now and then.
pub(crate) fn volume(at: DVec3, rng: &mut SplitMix64) -> ConvexVolume {
    let (rx, rz) = (0.5 + 4.0 * rng.next_f64(), 0.5 + 4.0 * rng.next_f64());
    let corners =
        [(-rx, 0.0), (0.0, -rz), (rx, 0.0), (0.0, rz)].map(|(x, z)| DVec2::new(at.x + x, at.z + z));
    let area = [0, 1, 2, 7, 63][rng.next_below(5) as usize];
    ConvexVolume::new(&corners, at.y - 1.0, at.y + 1.5, area).unwrap()
}

//! A mesh at run time: obstacles that come and go against DetourTileCache, and loading a baked mesh.
//!
//! One cycle adds 16 cylinders of radius 2 and height 3 in turn, each half a unit under a point of the
//! mesh, and takes them away in turn; the mesh is up to date after every request. Tiles of 64 cells,
//! height layers, no height samples; the peer's layers are not compressed. The time is the mean over
//! [`CYCLES`] cycles, on a cache built before.
//!
//! The loading row copies a city's tiles side by side until its file has 50 MB. In the peer's place stands
//! reading that file: the ratio is what loading its bytes, read before, takes over reading them from the
//! disk, on one thread and on a pool of two; and once over reading them from the system's cache. (Where the
//! system takes no advice to forget a file, all reads are from its cache.)

use super::Row;
use crate::measure::{Side, milliseconds, say};
use crate::scenes;
use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use throng::{
    DVec3, NavMesh, NavSettings, NavTile, Obstacle, PartitionType, QueryFilter, Soup, SplitMix64,
    TileCache,
};

const OBSTACLES: usize = 16;
const CYCLES: usize = 20;
const RADIUS: f64 = 2.0;
const HEIGHT: f64 = 3.0;
/// Bytes of the mesh that is loaded.
const LOADED: usize = 50_000_000;

pub(super) fn rows() -> Vec<Row> {
    let row = |scenario: &str, level, measure| Row {
        suite: "change",
        scenario: scenario.to_owned(),
        level,
        count: OBSTACLES,
        option: 0,
        limit: None,
        apart: false,
        measure,
    };
    vec![
        row("obstacles/city-256", "city-256", measure),
        row("obstacles/terraces-256", "terraces-256", measure),
        row("load/50-MB", "city-512", load),
    ]
}

fn settings() -> NavSettings {
    NavSettings {
        partition: PartitionType::Layers,
        detail_sample_distance: 0.0,
        ..scenes::tiled_settings()
    }
}

/// A cache of one side, and what it does.
enum Cache {
    Ours(Box<TileCache>),
    #[cfg(feature = "peers")]
    Peer(crate::peers::tile_cache::DetourTileCache),
}

fn measure(row: &Row, reps: usize, sides: &[Side]) -> Result<(), String> {
    let soup = scenes::level(row.level)?;
    let bases = bases(&soup, row.count)?;
    let mut caches = Vec::new();
    for &side in sides {
        match side {
            Side::Ours => caches.push((side, our_cache(&soup)?)),
            #[cfg(feature = "peers")]
            Side::Peer => caches.push((side, peer_cache(&soup)?)),
            #[cfg(not(feature = "peers"))]
            Side::Peer => {}
        }
    }
    // The first round warms.
    for rep in 0..=reps {
        for (side, cache) in &mut caches {
            let mut result = Ok(());
            let time = milliseconds(|| {
                result = (0..CYCLES).try_for_each(|_| match cache {
                    Cache::Ours(cache) => our_cycle(cache, &bases),
                    #[cfg(feature = "peers")]
                    Cache::Peer(cache) => peer_cycle(cache, &bases),
                });
            });
            result?;
            if rep > 0 {
                say(*side, "cycle_time", time / CYCLES as f64, "ms");
            }
        }
    }
    Ok(())
}

/// Half a unit under points of the mesh.
fn bases(soup: &Soup, count: usize) -> Result<Vec<DVec3>, String> {
    let mesh = NavMesh::build_soup(soup, &settings()).map_err(|error| error.to_string())?;
    let (mut rng, filter) = (SplitMix64::new(1), QueryFilter::default());
    let points = (0..count).map_while(|_| mesh.random_point(&mut rng, &filter));
    Ok(points
        .map(|found| found.point - DVec3::new(0.0, 0.5, 0.0))
        .collect())
}

fn our_cache(soup: &Soup) -> Result<Cache, String> {
    let mut built = None;
    let time = milliseconds(|| {
        let (vertices, triangles) = (soup.vertices(), soup.triangles());
        built = Some(TileCache::build(vertices, triangles, &settings()));
    });
    let cache = built.ok_or("nothing was built")?;
    let cache = cache.map_err(|error| error.to_string())?;
    say(Side::Ours, "cache_build_time", time, "ms");
    say(Side::Ours, "polys", cache.poly_count() as f64, "count");
    Ok(Cache::Ours(Box::new(cache)))
}

fn our_cycle(cache: &mut TileCache, bases: &[DVec3]) -> Result<(), String> {
    let mut ids = Vec::with_capacity(bases.len());
    for &base in bases {
        let shape = Obstacle::cylinder(base, RADIUS, HEIGHT).map_err(|error| error.to_string())?;
        ids.push(
            cache
                .add_obstacle(shape)
                .map_err(|error| error.to_string())?,
        );
        cache.update_all().map_err(|error| error.to_string())?;
    }
    for id in ids {
        cache.remove_obstacle(id);
        cache.update_all().map_err(|error| error.to_string())?;
    }
    Ok(())
}

#[cfg(feature = "peers")]
fn peer_cache(soup: &Soup) -> Result<Cache, String> {
    use crate::peers::tile_cache::DetourTileCache;
    let mut built = None;
    let time = milliseconds(|| {
        built = Some(DetourTileCache::new(soup, &settings(), scenes::TILE_CELLS));
    });
    let cache = built.ok_or("nothing was built")??;
    say(Side::Peer, "cache_build_time", time, "ms");
    let polys = cache.mesh.extent().polys as f64;
    say(Side::Peer, "polys", polys, "count");
    Ok(Cache::Peer(cache))
}

#[cfg(feature = "peers")]
fn peer_cycle(
    cache: &mut crate::peers::tile_cache::DetourTileCache,
    bases: &[DVec3],
) -> Result<(), String> {
    let mut ids = Vec::with_capacity(bases.len());
    for &base in bases {
        ids.push(cache.add(base, RADIUS as f32, HEIGHT as f32)?);
    }
    ids.into_iter().try_for_each(|id| cache.remove(id))
}

fn load(row: &Row, reps: usize, sides: &[Side]) -> Result<(), String> {
    if !sides.contains(&Side::Ours) {
        return Ok(());
    }
    let soup = scenes::level(row.level)?;
    let city = scenes::mesh(&soup)?;
    let mut large = NavMesh::empty(city.settings()).map_err(|error| error.to_string())?;
    let one = city.save().len();
    let (mut low, mut high) = (i32::MAX, i32::MIN);
    for (_, tile) in city.tiles() {
        low = low.min(tile.data().tile_x);
        high = high.max(tile.data().tile_x);
    }
    let mut tiles = Vec::new();
    for copy in 0..LOADED.div_ceil(one) as i32 {
        for (_, tile) in city.tiles() {
            let mut data = tile.data().clone();
            data.tile_x += copy * (high - low + 1);
            let tile = NavTile::create(data, city.params()).map_err(|error| error.to_string())?;
            tiles.push(tile);
        }
    }
    large.add_tiles(tiles).map_err(|error| error.to_string())?;
    let path = std::env::temp_dir().join(format!("throng-bar-{}.nav", std::process::id()));
    let named = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut file = File::create(&path).map_err(named)?;
    file.write_all(&large.save()).map_err(named)?;
    // Only what is on the disk can leave memory.
    file.sync_all().map_err(named)?;
    say(Side::Ours, "polys", large.poly_count() as f64, "count");
    drop(large);
    for rep in 0..=reps {
        forget_cached(&path).map_err(named)?;
        let mut bytes = Ok(Vec::new());
        let from_disk = milliseconds(|| bytes = std::fs::read(&path));
        bytes.map_err(named)?;
        let mut bytes = Ok(Vec::new());
        let read = milliseconds(|| bytes = std::fs::read(&path));
        let bytes = bytes.map_err(named)?;
        let mut loaded = None;
        let time = milliseconds(|| loaded = Some(NavMesh::load(&bytes)));
        if !matches!(black_box(loaded), Some(Ok(_))) {
            return Err("the mesh does not load".into());
        }
        if rep > 0 {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
            let pool = pool.map_err(|error| error.to_string())?;
            let mut loaded = None;
            let time_on_two = milliseconds(|| {
                loaded = Some(pool.install(|| NavMesh::load_parallel(&bytes)));
            });
            if !matches!(black_box(loaded), Some(Ok(_))) {
                return Err("the mesh does not load on two threads".into());
            }
            for (metric, ours, theirs) in [
                ("load_time", time, from_disk),
                ("load_time_two_threads", time_on_two, from_disk),
                ("load_time_over_cached_read", time, read),
            ] {
                say(Side::Ours, metric, ours, "ms");
                say(Side::Peer, metric, theirs, "ms");
            }
            say(Side::Ours, "bytes", bytes.len() as f64 / 1e6, "MB");
        }
    }
    std::fs::remove_file(&path).map_err(named)
}

/// Advises the system to drop a file from its cache.
#[cfg(target_os = "linux")]
fn forget_cached(path: &Path) -> std::io::Result<()> {
    use rustix::fs::{Advice, fadvise};
    let file = File::open(path)?;
    Ok(fadvise(&file, 0, None, Advice::DontNeed)?)
}

#[cfg(not(target_os = "linux"))]
fn forget_cached(_path: &Path) -> std::io::Result<()> {
    Ok(())
}

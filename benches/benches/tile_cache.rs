//! Changing a mesh at run time: a cycle of obstacles that come and go one at a time.
//!
//! The scene is the one tile caches are compared on: tiles of 64 cells, layers, no height samples;
//! 16 cylinders of radius 2 and height 3, each half a unit under a point of the mesh, added in turn
//! and taken away in turn, the mesh up to date after every request.

#![allow(missing_docs, reason = "criterion's macros generate the entry points")]
#![allow(clippy::unwrap_used, reason = "a scene that does not build stops here")]

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use throng::parts::build::cache::{CacheTables, Obstacle, RebuildCounts, build_soup_cached};
use throng::{
    BuildOptions, DVec3, NavMesh, NavSettings, PartitionType, QueryFilter, Soup, SplitMix64,
    TiledMesh,
};
use throng_benches::level;

const OBSTACLES: usize = 16;

fn settings() -> NavSettings {
    NavSettings {
        tile_size: f64::from(19.2_f32),
        partition: PartitionType::Layers,
        detail_sample_distance: 0.0,
        ..NavSettings::HUMANOID
    }
}

fn build(soup: &Soup) -> (TiledMesh, CacheTables) {
    let options = BuildOptions::default();
    build_soup_cached(soup.vertices(), soup.triangles(), &settings(), &options).unwrap()
}

fn obstacles(soup: &Soup) -> Vec<Obstacle> {
    let mesh = NavMesh::build_soup(soup, &settings()).unwrap();
    let mut rng = SplitMix64::new(1);
    let filter = QueryFilter::default();
    let mut next = || mesh.random_point(&mut rng, &filter).unwrap().point;
    (0..OBSTACLES)
        .map(|_| Obstacle::cylinder(next() - DVec3::new(0.0, 0.5, 0.0), 2.0, 3.0).unwrap())
        .collect()
}

/// One cycle; returns what it did.
fn cycle(mesh: &mut TiledMesh, cache: &mut CacheTables, shapes: &[Obstacle]) -> RebuildCounts {
    let mut counts = RebuildCounts::default();
    let mut ids = Vec::with_capacity(shapes.len());
    for &shape in shapes {
        ids.push(cache.add_obstacle(shape).unwrap());
        counts += cache.update_all(mesh).unwrap();
    }
    for id in ids {
        cache.remove_obstacle(id);
        counts += cache.update_all(mesh).unwrap();
    }
    counts
}

#[allow(
    clippy::print_stderr,
    reason = "what a cycle does belongs beside its time"
)]
fn cycles(c: &mut Criterion) {
    let mut group = c.benchmark_group("tile cache");
    for name in ["city", "terraces"] {
        let soup = level(name, 256.0);
        let shapes = obstacles(&soup);
        let (mut mesh, mut cache) = build(&soup);
        eprintln!("{name}: {:?}", cycle(&mut mesh, &mut cache, &shapes));
        group.bench_function(format!("{name} cycle"), |b| {
            b.iter(|| cycle(&mut mesh, &mut cache, &shapes));
        });
        cache.set_repair(false);
        group.bench_function(format!("{name} cycle without repair"), |b| {
            b.iter(|| cycle(&mut mesh, &mut cache, &shapes));
        });
    }
    group.finish();
}

fn first_builds(c: &mut Criterion) {
    let mut group = c.benchmark_group("tile cache build");
    group.sample_size(10);
    let soup = level("city", 256.0);
    group.bench_function("city", |b| {
        b.iter_batched(|| (), |()| build(&soup), BatchSize::PerIteration);
    });
    group.bench_function("city without cache", |b| {
        b.iter_with_large_drop(|| NavMesh::build_soup(&soup, &settings()).unwrap());
    });
    group.finish();
}

criterion_group!(benches, cycles, first_builds);
criterion_main!(benches);

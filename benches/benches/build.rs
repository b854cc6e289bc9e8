//! Triangles to mesh, whole levels.

#![allow(missing_docs, reason = "criterion's macros generate the entry points")]

use criterion::{Criterion, criterion_group, criterion_main};
use throng::{BuildOptions, NavMesh, NavSettings, solo_settings};
use throng_benches::level;

fn build(c: &mut Criterion) {
    let mut group = c.benchmark_group("build");
    group.sample_size(10);
    for name in ["city", "terraces"] {
        let soup = level(name, 256.0);
        let (vertices, triangles) = (soup.vertices(), soup.triangles());
        for threads in [1, 2] {
            let options = BuildOptions {
                threads,
                ..BuildOptions::default()
            };
            let settings = NavSettings::HUMANOID;
            group.bench_function(format!("{name} 256, tiled, {threads} threads"), |b| {
                b.iter(|| NavMesh::build_with(vertices, triangles, &settings, &options));
            });
        }
        if let Ok(settings) = solo_settings(vertices, triangles, &NavSettings::HUMANOID) {
            group.bench_function(format!("{name} 256, solo"), |b| {
                b.iter(|| NavMesh::build(vertices, triangles, &settings));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, build);
criterion_main!(benches);

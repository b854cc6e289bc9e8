//! Questions asked of the city.

#![allow(missing_docs, reason = "criterion's macros generate the entry points")]

use criterion::{Criterion, criterion_group, criterion_main};
use throng::{MeshQuery, PathOptions, QueryFilter};
use throng_benches::{level, mesh, pairs};

fn query(c: &mut Criterion) {
    let mesh = mesh(&level("city", 256.0));
    let ways = pairs(&mesh, 200, 3);
    let filter = QueryFilter::default();
    let mut group = c.benchmark_group("query, city 256, 200 pairs");
    group.sample_size(20);
    let mut query = MeshQuery::default();
    let options = PathOptions::default();
    group.bench_function("path and string", |b| {
        b.iter(|| {
            for &(from, to) in &ways {
                let _ = std::hint::black_box(query.find_path(&mesh, from, to, &options));
            }
        });
    });
    group.bench_function("raycast", |b| {
        b.iter(|| {
            for &(from, to) in &ways {
                let _ = std::hint::black_box(mesh.raycast(from, to, &filter));
            }
        });
    });
    group.bench_function("nearest", |b| {
        b.iter(|| {
            for &(from, _) in &ways {
                let _ = std::hint::black_box(mesh.sample_position(from, 2.0, &filter));
            }
        });
    });
    group.finish();
}

criterion_group!(benches, query);
criterion_main!(benches);

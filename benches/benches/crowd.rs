//! Steps of a crowd crossing the city, fifty steps in.

#![allow(missing_docs, reason = "criterion's macros generate the entry points")]

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use throng_benches::{crowd, level, mesh};

fn step(c: &mut Criterion) {
    let mesh = mesh(&level("city", 256.0));
    let mut group = c.benchmark_group("crowd, city 256, 20 steps");
    group.sample_size(10);
    for (agents, threads) in [(1_000, 1), (5_000, 1), (5_000, 2), (10_000, 1), (10_000, 2)] {
        let mut crowd = crowd(&mesh, agents, threads, 50);
        let start = crowd.save_state(&mesh);
        group.throughput(Throughput::Elements(20 * agents as u64));
        group.bench_function(format!("{agents} agents, {threads} threads"), |b| {
            // Every sample walks the same twenty steps.
            b.iter_batched(
                || (),
                |()| {
                    let _ = crowd.restore_state(&mesh, &start);
                    for _ in 0..20 {
                        let _ = crowd.step(&mesh, 0.05);
                    }
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, step);
criterion_main!(benches);

//! A crowd crossing the city, fifty steps in: whole steps, each stage of a step alone, and orders.

#![allow(missing_docs, reason = "criterion's macros generate the entry points")]
#![allow(clippy::unwrap_used, reason = "the scene is known to be good")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "stages are timed from inside a step"
)]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::time::{Duration, Instant};
use throng::{AgentId, Crowd, DVec3, NavMesh, Stage};
use throng_benches::{crowd, level, mesh, pairs};

/// Steps of one measurement.
const STEPS: usize = 20;
const DT: f64 = 0.05;

const STAGES: [(&str, Stage); 4] = [
    ("snapshot", Stage::Snapshot),
    ("plan", Stage::Plan),
    ("avoid", Stage::Avoid),
    ("motion", Stage::Motion),
];

/// A crowd and the state each measurement starts from, so that all walk the same steps.
struct Scene<'a> {
    mesh: &'a NavMesh,
    crowd: Crowd,
    start: Vec<u8>,
}

impl<'a> Scene<'a> {
    fn new(mesh: &'a NavMesh, agents: usize, threads: usize) -> Self {
        let crowd = crowd(mesh, agents, threads, 50);
        let start = crowd.save_state(mesh);
        Self { mesh, crowd, start }
    }

    /// Back to the start; one step fills what a restored crowd has to look up again.
    fn rewind(&mut self) {
        self.crowd.restore_state(self.mesh, &self.start).unwrap();
        self.crowd.step(self.mesh, DT).unwrap();
    }

    /// Time of all steps.
    fn walk(&mut self) -> Duration {
        self.rewind();
        let begun = Instant::now();
        for _ in 0..STEPS {
            self.crowd.step(self.mesh, DT).unwrap();
        }
        begun.elapsed()
    }

    /// Time of one stage over all steps.
    fn walk_stage(&mut self, timed: Stage) -> Duration {
        self.rewind();
        let mut total = Duration::ZERO;
        for _ in 0..STEPS {
            let mut last = Instant::now();
            let ended = |stage| {
                let now = Instant::now();
                if stage == timed {
                    total += now - last;
                }
                last = now;
            };
            self.crowd.step_observed(self.mesh, DT, ended).unwrap();
        }
        total
    }

    /// Time of sending every agent elsewhere.
    fn send(&mut self, orders: &[(AgentId, DVec3)]) -> Duration {
        self.rewind();
        let begun = Instant::now();
        self.crowd.set_destinations(self.mesh, orders).unwrap();
        begun.elapsed()
    }
}

fn steps(c: &mut Criterion) {
    let mesh = mesh(&level("city", 256.0));
    let mut group = c.benchmark_group("step");
    group.sample_size(10);
    for (agents, threads) in [(1_000, 1), (5_000, 1), (5_000, 2), (10_000, 1), (10_000, 2)] {
        let mut scene = Scene::new(&mesh, agents, threads);
        group.throughput(Throughput::Elements((STEPS * agents) as u64));
        group.bench_function(BenchmarkId::new(format!("{agents} agents"), threads), |b| {
            b.iter_custom(|times| (0..times).map(|_| scene.walk()).sum());
        });
    }
    group.finish();
}

fn stages(c: &mut Criterion) {
    let mesh = mesh(&level("city", 256.0));
    let agents = 5_000;
    let mut group = c.benchmark_group("stage");
    group.sample_size(10);
    group.throughput(Throughput::Elements((STEPS * agents) as u64));
    for threads in [1, 2] {
        let mut scene = Scene::new(&mesh, agents, threads);
        for (name, stage) in STAGES {
            group.bench_function(BenchmarkId::new(name, threads), |b| {
                b.iter_custom(|times| (0..times).map(|_| scene.walk_stage(stage)).sum());
            });
        }
    }
    group.finish();
}

fn orders(c: &mut Criterion) {
    let mesh = mesh(&level("city", 256.0));
    let agents = 1_000;
    let goals = pairs(&mesh, agents, 11);
    let mut group = c.benchmark_group("orders");
    group.sample_size(10);
    group.throughput(Throughput::Elements(agents as u64));
    for threads in [1, 2] {
        let mut scene = Scene::new(&mesh, agents, threads);
        let ids = scene.crowd.agents().map(|agent| agent.id());
        let orders: Vec<_> = ids.zip(goals.iter().map(|&(_, to)| to)).collect();
        group.bench_function(BenchmarkId::new("destinations", threads), |b| {
            b.iter_custom(|times| (0..times).map(|_| scene.send(&orders)).sum());
        });
    }
    group.finish();
}

criterion_group!(benches, steps, stages, orders);
criterion_main!(benches);

//! Nothing is allocated in steady state: stepping, hashing, measuring, saving into a buffer and
//! rolling back.
#![allow(
    unsafe_code,
    reason = "a counting allocator cannot be written without it"
)]
#![allow(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod common;

use common::{field, place, two_floors};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use throng_query::mesh::NodeModel;
use throng_sim::Navigator;
use throng_sim::crowd::{AgentOptions, Crowd, CrowdOptions};
use throng_sim::follower::{FollowerOptions, PathFollower};
use throng_soa::mesh::TiledMesh;
use throng_soa::rng::SplitMix64;

static BYTES: AtomicU64 = AtomicU64::new(0);
/// The counter is the process's, workers included: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

struct Counting;

// SAFETY: forwards to the system allocator and changes nothing but a counter.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        BYTES.fetch_add(size as u64, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes allocated by `body`: the least of three runs, since the test runner's own threads share
/// the counter. `body` must do the same work each time.
fn allocated(mut body: impl FnMut()) -> u64 {
    (0..3)
        .map(|_| {
            let before = BYTES.load(Ordering::Relaxed);
            body();
            BYTES.load(Ordering::Relaxed) - before
        })
        .min()
        .unwrap()
}

fn walkers(mesh: &TiledMesh, threads: usize, count: usize) -> Crowd {
    let mut rng = SplitMix64::new(5);
    let options = CrowdOptions {
        threads,
        query_nodes: 2048,
        ..CrowdOptions::default()
    };
    let mut crowd = Crowd::new(options).unwrap();
    for _ in 0..count {
        let (from, to) = (place(mesh, &mut rng).1, place(mesh, &mut rng).1);
        let id = crowd.add(mesh, from, &AgentOptions::SMALL).unwrap();
        crowd.set_destination(mesh, id, to).unwrap();
    }
    crowd
}

#[test]
fn sixty_steps_of_120_agents_allocate_nothing() {
    let _alone = ALONE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    for (mesh, name) in [(field(2, 60.0, 20, 0.5), "boxes"), (two_floors(), "floors")] {
        for (threads, most) in [(1, 0), (2, 4096)] {
            let mut crowd = walkers(&mesh, threads, 120);
            for _ in 0..40 {
                crowd.step(&mesh, 0.05).unwrap();
            }
            let bytes = allocated(|| {
                for _ in 0..60 {
                    crowd.step(&mesh, 0.05).unwrap();
                }
            });
            assert!(
                bytes <= most,
                "{name}, {threads} threads: {bytes} bytes in 60 steps"
            );
        }
    }
}

#[test]
fn a_rollback_of_the_same_agents_allocates_nothing() {
    let _alone = ALONE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let mesh = field(2, 60.0, 20, 0.5);
    let mut crowd = walkers(&mesh, 1, 60);
    let mut buffer = vec![0; 1 << 20];
    for _ in 0..30 {
        crowd.step(&mesh, 0.05).unwrap();
    }
    // The first round grows the scratch.
    let length = crowd.try_save_state(&mesh, &mut buffer).unwrap();
    let saved = buffer[..length].to_vec();
    crowd.restore_state(&mesh, &saved).unwrap();
    let mut hashes = [0; 2];
    let bytes = allocated(|| {
        for _ in 0..20 {
            crowd.step(&mesh, 0.05).unwrap();
        }
        hashes[0] = crowd.state_hash(&mesh);
        assert!(crowd.state_size(&mesh) > 0);
        assert!(crowd.try_save_state(&mesh, &mut buffer).is_some());
        crowd.restore_state(&mesh, &saved).unwrap();
        hashes[1] = crowd.state_hash(&mesh);
    });
    assert_eq!(bytes, 0);
    assert_ne!(hashes[0], hashes[1]);
}

#[test]
fn a_lone_follower_allocates_nothing() {
    let _alone = ALONE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let mesh = two_floors();
    let filter = common::open_ways();
    let mut rng = SplitMix64::new(3);
    let mut navigator = Navigator::new(NodeModel::Polygon, 2048, 2048);
    let mut follower = PathFollower::new(FollowerOptions::HUMANOID).unwrap();
    follower
        .place(&mesh, &filter, place(&mesh, &mut rng).1)
        .unwrap();
    let targets: Vec<_> = (0..8).map(|_| place(&mesh, &mut rng).1).collect();
    let mut round = || {
        for &target in &targets {
            follower
                .set_destination(&mesh, &filter, target, &mut navigator)
                .unwrap();
            for _ in 0..400 {
                follower.step(&mesh, &filter, 0.05, &mut navigator).unwrap();
            }
        }
    };
    // The first rounds grow the buffers to the longest way.
    round();
    assert_eq!(allocated(&mut round), 0);
}

//! A crowd that has been walking for a while steps without touching the allocator.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

mod counting;

use counting::allocations;
use throng::{AgentOptions, NavMesh, NavSettings, levels};
use throng_tests::spread;

/// The steps are walked twice from one saved state: the first time scratch buffers may still grow
/// to the largest size these steps need, the second time nothing is left to ask for.
#[test]
fn steady_steps_allocate_nothing() {
    let soup = levels::city(128.0, 1);
    let mesh = NavMesh::build_soup(&soup, &NavSettings::HUMANOID).unwrap();
    mesh.derive_lookups();
    let mut crowd = spread(&mesh, 200, 3, &AgentOptions::HUMANOID, 1, false).crowd;
    for _ in 0..100 {
        crowd.step(&mesh, 0.05).unwrap();
    }
    let saved = crowd.save_state(&mesh);
    let mut hashes = Vec::new();
    for round in 0..2 {
        crowd.restore_state(&mesh, &saved).unwrap();
        let mut total = 0;
        for _ in 0..200 {
            total += allocations(|| crowd.step(&mesh, 0.05).unwrap()).1;
        }
        println!("round {round}: {total} allocations in 200 steps");
        assert!(total <= if round == 0 { 20 } else { 0 }, "{total}");
        hashes.push(crowd.state_hash(&mesh));
    }
    assert_eq!(hashes[0], hashes[1]);
    let moving = crowd.agents().filter(|agent| agent.has_path()).count();
    assert!(
        moving > 20,
        "only {moving} still walk, nothing was measured"
    );
}

#[test]
fn saving_hashing_and_restoring_allocate_nothing() {
    let soup = levels::city(64.0, 1);
    let mesh = NavMesh::build_soup(&soup, &NavSettings::HUMANOID).unwrap();
    let mut crowd = spread(&mesh, 60, 3, &AgentOptions::HUMANOID, 1, false).crowd;
    for _ in 0..40 {
        crowd.step(&mesh, 0.05).unwrap();
    }
    let mut buffer = vec![0; crowd.state_size(&mesh) + 4096];
    let length = crowd.try_save_state(&mesh, &mut buffer).unwrap();
    crowd.restore_state(&mesh, &buffer[..length]).unwrap();
    let ((), asked) = allocations(|| {
        let hash = crowd.state_hash(&mesh);
        let length = crowd.try_save_state(&mesh, &mut buffer).unwrap();
        assert_eq!(length, crowd.state_size(&mesh));
        crowd.restore_state(&mesh, &buffer[..length]).unwrap();
        assert_eq!(hash, crowd.state_hash(&mesh));
    });
    assert_eq!(asked, 0);
    assert_eq!(crowd.try_save_state(&mesh, &mut buffer[..length - 1]), None);
}

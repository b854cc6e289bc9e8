//! Few bytes, or odd numbers, that claim much: what they cost stays in proportion, and what they
//! leave behind can be saved and restored.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use throng::{
    AgentOptions, Crowd, CrowdOptions, DVec3, FollowerOptions, MeshQuery, NavMesh, NavSettings,
    PolyRef, QueryFilter, SplitMix64,
};
use throng_tests::floor;

const GOOD: DVec3 = DVec3::new(20.0, 0.0, 20.0);

/// A few dozen kilobytes may claim many free slots, and one agent a long corridor; what is
/// allocated for it stays far below the product of the two.
#[test]
fn one_long_corridor_does_not_lengthen_every_slot() {
    let mesh = floor();
    let options = AgentOptions {
        path: Some(FollowerOptions {
            corridor_capacity: 4096,
            ..FollowerOptions::HUMANOID
        }),
        ..AgentOptions::HUMANOID
    };
    let mut crowd = Crowd::new(CrowdOptions::default()).unwrap();
    crowd.add(&mesh, GOOD, &options).unwrap();
    let mut bytes = crowd.save_state(&mesh);
    bytes[12..16].copy_from_slice(&65_536_i32.to_le_bytes());
    bytes.resize(bytes.len() + 65_535, 0);
    crowd.restore_state(&mesh, &bytes).unwrap();
    assert_eq!((crowd.slot_count(), crowd.len()), (65_536, 1));
    assert!(crowd.heap_bytes() < 64 << 20, "{}", crowd.heap_bytes());
    crowd.step(&mesh, 0.05).unwrap();
}

/// A search that is continued on another mesh, with other tiles behind the same references.
#[test]
fn a_search_carried_to_another_mesh() {
    let wide = NavMesh::build_soup(
        &throng::levels::generate("rooms", 96.0, 1).unwrap(),
        &NavSettings::HUMANOID,
    )
    .unwrap();
    let (wide, small) = (
        NavMesh::load(&wide.save()).unwrap(),
        NavMesh::load(&floor().save()).unwrap(),
    );
    let filter = QueryFilter::default();
    let mut rng = SplitMix64::new(5);
    for _ in 0..50 {
        let mut place = || wide.random_point(&mut rng, &filter).unwrap();
        let (from, to) = (place(), place());
        let mut query = MeshQuery::default();
        let search = &mut query.search;
        search
            .begin(&wide, from.poly, to.poly, from.point, to.point, &filter)
            .unwrap();
        search.update(&wide, &filter, 3);
        search.update(&small, &filter, 100);
        search.finish(&small, &mut [PolyRef::INVALID; 8]);
    }
}

/// What a crossing or a step may report must fit the state that keeps it.
#[test]
fn speeds_and_times_too_small_for_a_number() {
    let mesh = floor();
    let mut crowd = Crowd::new(CrowdOptions::default()).unwrap();
    let slow = AgentOptions {
        path: Some(FollowerOptions {
            off_mesh_speed: 5e-324,
            ..FollowerOptions::HUMANOID
        }),
        ..AgentOptions::HUMANOID
    };
    let refused = crowd.add(&mesh, GOOD, &slow).unwrap_err().to_string();
    assert!(refused.contains("off_mesh_speed"), "{refused}");
    let id = crowd.add(&mesh, GOOD, &AgentOptions::HUMANOID).unwrap();
    let goal = DVec3::new(30.0, 0.0, 30.0);
    crowd.set_destination(&mesh, id, goal).unwrap();
    for dt in [0.05, 5e-324, 1e-310, 1e-3, 1e300, f64::MAX] {
        crowd.step(&mesh, dt).unwrap();
        let saved = crowd.save_state(&mesh);
        crowd.restore_state(&mesh, &saved).unwrap();
    }
}

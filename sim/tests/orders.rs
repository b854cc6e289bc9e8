//! Orders given at once are orders given one by one, and a step's counts are its own.

#![allow(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod common;

use common::{at, crowd, field, floor, place, two_floors};
use throng_query::mesh::PathStatus;
use throng_sim::crowd::{AgentId, AgentOptions, Crowd, CrowdError, StepStats};
use throng_soa::mesh::TiledMesh;
use throng_soa::rng::SplitMix64;
use throng_soa::world::DVec3;

const SMALL: AgentOptions = AgentOptions::SMALL;

/// A crowd on random places, some of it on the way, and orders for it: agents named twice, goals off
/// the mesh.
fn scene(mesh: &TiledMesh, threads: usize) -> (Crowd, Vec<(AgentId, DVec3)>) {
    let mut rng = SplitMix64::new(77);
    let mut crowd = crowd(threads);
    let ids: Vec<AgentId> = (0..150)
        .map(|_| crowd.add(mesh, place(mesh, &mut rng).1, &SMALL).unwrap())
        .collect();
    for &id in ids.iter().step_by(3) {
        let to = place(mesh, &mut rng).1;
        crowd.set_destination(mesh, id, to).unwrap();
    }
    for _ in 0..20 {
        crowd.step(mesh, 0.05).unwrap();
    }
    let mut orders = Vec::new();
    for i in 0..200 {
        let id = ids[rng.next_below(150) as usize];
        let to = if i % 17 == 0 {
            at(-500.0, 3.0)
        } else {
            place(mesh, &mut rng).1
        };
        orders.push((id, to));
    }
    (crowd, orders)
}

#[test]
fn orders_at_once_are_orders_one_by_one() {
    for mesh in [field(4, 60.0, 20, 1.0), two_floors()] {
        let (mut one_by_one, orders) = scene(&mesh, 1);
        let statuses: Vec<PathStatus> = orders
            .iter()
            .map(|&(id, to)| one_by_one.set_destination(&mesh, id, to).unwrap())
            .collect();
        assert!(statuses.contains(&PathStatus::GoalInvalid));
        assert!(statuses.contains(&PathStatus::Found));
        let expected = one_by_one.save_state(&mesh);
        one_by_one.step(&mesh, 0.05).unwrap();
        for threads in [1, 2, 5, 16] {
            let (mut at_once, orders) = scene(&mesh, threads);
            let found = at_once.set_destinations(&mesh, &orders).unwrap();
            assert_eq!(found, statuses);
            assert!(at_once.save_state(&mesh) == expected, "{threads} threads");
            at_once.step(&mesh, 0.05).unwrap();
            assert!(at_once.save_state(&mesh) == one_by_one.save_state(&mesh));
        }
    }
}

#[test]
fn one_bad_order_and_none_is_carried_out() {
    let mesh = field(4, 60.0, 20, 1.0);
    let (mut crowd, mut orders) = scene(&mesh, 2);
    let gone = orders[120].0;
    assert!(crowd.remove(gone));
    let before = crowd.save_state(&mesh);
    let refused = crowd.set_destinations(&mesh, &orders);
    assert_eq!(refused, Err(CrowdError::Stale { id: gone }));
    orders.retain(|&(id, _)| id != gone);
    orders[7].1.x = f64::NAN;
    let refused = crowd.set_destinations(&mesh, &orders);
    assert!(matches!(refused, Err(CrowdError::Argument(_))));
    assert!(crowd.save_state(&mesh) == before);
    assert_eq!(crowd.set_destinations(&mesh, &[]), Ok(Vec::new()));
    assert!(crowd.save_state(&mesh) == before);
}

#[test]
fn counts_are_the_same_on_every_number_of_threads() {
    let mesh = field(4, 60.0, 20, 1.0);
    let counts = |threads| {
        let (mut crowd, orders) = scene(&mesh, threads);
        crowd.set_destinations(&mesh, &orders).unwrap();
        let steps = (0..40).map(|_| {
            crowd.step(&mesh, 0.05).unwrap();
            crowd.step_stats()
        });
        steps.collect::<Vec<StepStats>>()
    };
    let one = counts(1);
    for threads in [2, 5, 16] {
        assert_eq!(counts(threads), one, "{threads} threads");
    }
    let mut sum = StepStats::default();
    one.iter().for_each(|&step| sum += step);
    assert!(sum.shortcut_searches > 0 && sum.expansions > sum.shortcut_searches);
    assert!(sum.shortcuts > 0 && sum.wall_lookups > 0 && sum.fallbacks > 0);
}

#[test]
fn counts_say_what_one_agent_did() {
    let mesh = floor(40.0);
    let mut crowd = crowd(1);
    assert_eq!(crowd.step_stats(), StepStats::default());
    let id = crowd.add(&mesh, at(5.0, 20.0), &SMALL).unwrap();
    crowd.set_destination(&mesh, id, at(35.0, 20.0)).unwrap();
    crowd.step(&mesh, 0.05).unwrap();
    // The order's own search is not the step's. Nobody near, one program, no fallback.
    let first = StepStats {
        wall_lookups: 1,
        programs: 1,
        ..StepStats::default()
    };
    assert_eq!(crowd.step_stats(), first);
    crowd.step(&mesh, 0.05).unwrap();
    let second = StepStats {
        wall_lookups: 0,
        ..first
    };
    assert_eq!(crowd.step_stats(), second);
}

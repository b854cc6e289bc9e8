//! How a crowd takes an off-mesh link: one after the other, the nearest first, with room between.

#![allow(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod common;

use common::{at, send, two_floors};
use throng_sim::crowd::{AgentId, AgentOptions, Crowd, CrowdOptions};
use throng_sim::follower::{FollowerOptions, OffMeshMode};
use throng_soa::agents::AgentState;
use throng_soa::mesh::TiledMesh;
use throng_soa::world::{DVec3, distance3};

const SMALL: AgentOptions = AgentOptions::SMALL;
const DT: f64 = 0.05;
/// Ends of the link that leads both ways.
const BELOW: DVec3 = DVec3::new(6.0, 0.0, 20.0);
const ABOVE: DVec3 = DVec3::new(12.0, 4.0, 20.0);

fn crowd(threads: usize) -> Crowd {
    let options = CrowdOptions {
        threads,
        query_nodes: 4096,
        ..CrowdOptions::default()
    };
    Crowd::new(options).unwrap()
}

/// Sends agents from these places on the lower floor to the upper one.
fn climbers(mesh: &TiledMesh, crowd: &mut Crowd, from: &[(f64, f64)]) -> Vec<AgentId> {
    from.iter()
        .enumerate()
        .map(|(i, &(x, z))| {
            let to = DVec3::new(15.0 + (i % 12) as f64, 4.0, 20.0 - 1.5 * (i / 12) as f64);
            send(mesh, crowd, at(x, z), to, &SMALL)
        })
        .collect()
}

fn is_carried(crowd: &Crowd, id: AgentId) -> bool {
    crowd.agent(id).unwrap().state() == AgentState::OffMeshLink
}

/// The agents in the order they enter a link, with the step; every step, everybody carried keeps
/// the gap to whoever is carried the same way.
fn entries(mesh: &TiledMesh, crowd: &mut Crowd, steps: usize) -> Vec<(usize, AgentId)> {
    let mut entered: Vec<(usize, AgentId)> = Vec::new();
    for step in 0..steps {
        crowd.step(mesh, DT).unwrap();
        let carried: Vec<(AgentId, DVec3, DVec3)> = crowd
            .agents()
            .filter_map(|a| Some((a.id(), a.position(), a.crossing()?.start)))
            .collect();
        for (i, &(id, position, start)) in carried.iter().enumerate() {
            if !entered.iter().any(|&(_, known)| known == id) {
                entered.push((step, id));
            }
            for &(other, other_position, other_start) in &carried[..i] {
                let gap = distance3(position, other_position);
                assert!(
                    start != other_start || gap >= 4.0 * SMALL.radius - 1e-9,
                    "step {step}: {id} and {other} are {gap} apart on one link"
                );
            }
        }
    }
    entered
}

#[test]
fn the_nearest_enters_first_and_the_next_when_there_is_room() {
    let mesh = two_floors();
    let mut crowd = crowd(1);
    // All within the trigger radius (0.6) of the entry before anybody moves.
    let from = [(6.0, 19.45), (6.4, 20.1), (5.7, 20.35), (5.5, 20.0)];
    let ids = climbers(&mesh, &mut crowd, &from);
    let entered = entries(&mesh, &mut crowd, 200);
    let order: Vec<AgentId> = entered.iter().map(|&(_, id)| id).collect();
    // The first is the nearest by its start; the others may be pushed about while they wait.
    assert_eq!(order[0], ids[1]);
    assert_eq!(entered[0].0, 0);
    assert_eq!(order.len(), 4);
    // 1.2 units at 3.5 units per second are 7 steps.
    let waits: Vec<usize> = entered.windows(2).map(|w| w[1].0 - w[0].0).collect();
    assert_eq!(waits, [7, 7, 7]);
    let arrived = |id: &AgentId| crowd.agent(*id).unwrap().reached_target();
    assert!(ids.iter().all(arrived));
}

#[test]
fn of_two_as_near_the_lower_slot_goes_first() {
    for swapped in [false, true] {
        let mesh = two_floors();
        let mut crowd = crowd(1);
        let mut from = [(5.5, 20.0), (6.5, 20.0)];
        if swapped {
            from.reverse();
        }
        let ids = climbers(&mesh, &mut crowd, &from);
        crowd.step(&mesh, DT).unwrap();
        assert!(is_carried(&crowd, ids[0]) && !is_carried(&crowd, ids[1]));
    }
}

#[test]
fn the_two_directions_of_a_link_do_not_wait_for_each_other() {
    let mesh = two_floors();
    let mut crowd = crowd(1);
    let up = climbers(&mesh, &mut crowd, &[(5.6, 20.0)])[0];
    let above = DVec3::new(12.4, 4.0, 20.0);
    let down = send(&mesh, &mut crowd, above, at(3.0, 20.0), &SMALL);
    crowd.step(&mesh, DT).unwrap();
    for (id, start, end) in [(up, BELOW, ABOVE), (down, ABOVE, BELOW)] {
        let agent = crowd.agent(id).unwrap();
        let crossing = agent.crossing().unwrap();
        assert!(distance3(crossing.start, start) < 0.3);
        assert!(distance3(crossing.end, end) < 0.3);
    }
}

#[test]
fn who_waits_stands_and_keeps_its_route() {
    let mesh = two_floors();
    let mut crowd = crowd(1);
    let ids = climbers(&mesh, &mut crowd, &[(5.9, 20.0), (5.4, 20.0)]);
    crowd.step(&mesh, DT).unwrap();
    let waiting = crowd.agent(ids[1]).unwrap();
    assert_eq!(waiting.state(), AgentState::Moving);
    assert!(waiting.crossing().is_none() && waiting.has_path());
    assert!(waiting.remaining_distance().is_infinite());
    // It gives way to the one that was before it, and does not creep on while it waits.
    assert!((5.3..=5.4).contains(&waiting.position().x));
}

#[test]
fn a_link_that_the_host_drives_takes_everybody_at_once() {
    let mesh = two_floors();
    let mut crowd = crowd(1);
    let path = FollowerOptions {
        off_mesh_mode: OffMeshMode::Host,
        corridor_capacity: 64,
        stuck_window: 0.0,
        ..FollowerOptions::HUMANOID
    };
    let hosted = AgentOptions {
        path: Some(path),
        ..SMALL
    };
    let to = DVec3::new(14.0, 4.0, 20.0);
    let ids: Vec<AgentId> = [5.5, 6.0, 6.5]
        .map(|x| send(&mesh, &mut crowd, at(x, 20.0), to, &hosted))
        .into();
    // Nor does one that is carried hold up one that is not the host's.
    let own = climbers(&mesh, &mut crowd, &[(6.0, 20.5)])[0];
    crowd.step(&mesh, DT).unwrap();
    assert!(ids.iter().all(|&id| is_carried(&crowd, id)));
    assert!(is_carried(&crowd, own));
}

#[test]
fn a_queue_is_the_same_on_every_number_of_threads_and_after_a_restore() {
    let mesh = two_floors();
    let from: Vec<(f64, f64)> = (0..40)
        .map(|i| (1.0 + f64::from(i % 8), 16.0 + f64::from(i / 8) * 1.5))
        .collect();
    let start = |threads| {
        let mut crowd = crowd(threads);
        climbers(&mesh, &mut crowd, &from);
        crowd
    };
    let run = |crowd: &mut Crowd, steps: usize| {
        for _ in 0..steps {
            crowd.step(&mesh, DT).unwrap();
        }
        crowd.save_state(&mesh)
    };
    let mut one = start(1);
    let halfway = run(&mut one, 60);
    let there = run(&mut one, 60);
    for threads in [2, 5, 16] {
        let mut crowd = start(threads);
        assert!(run(&mut crowd, 60) == halfway, "{threads} threads");
        assert!(run(&mut crowd, 60) == there, "{threads} threads");
    }
    let mut back = crowd(2);
    back.restore_state(&mesh, &halfway).unwrap();
    assert!(back.save_state(&mesh) == halfway);
    assert!(run(&mut back, 60) == there);
}

#[test]
fn everybody_gets_across_from_one_place() {
    let mesh = two_floors();
    let mut crowd = crowd(1);
    // Twelve in one place: the queue sorts itself out.
    let ids = climbers(&mesh, &mut crowd, &[(6.0, 20.0); 12]);
    let entered = entries(&mesh, &mut crowd, 400);
    assert_eq!(entered.len(), ids.len());
}

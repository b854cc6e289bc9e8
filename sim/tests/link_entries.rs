//! How a crowd takes an off-mesh link: one after the other, the nearest first, with room between.

#![allow(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod common;

use common::{assert_on_surface, at, cell_tile, crowd, hand_params, hosted, send, two_floors};
use throng_query::mesh::{NodeModel, QueryFilter};
use throng_sim::crowd::{AgentId, AgentOptions, Crowd};
use throng_sim::follower::{FollowerOptions, PathFollower};
use throng_soa::agents::AgentState;
use throng_soa::mesh::{NavTile, OffMeshLink, TiledMesh};
use throng_soa::world::{DVec3, distance_xz, distance3};

const SMALL: AgentOptions = AgentOptions::SMALL;
const DT: f64 = 0.05;
/// Ends of the link that leads both ways.
const BELOW: DVec3 = DVec3::new(6.0, 0.0, 20.0);
const ABOVE: DVec3 = DVec3::new(12.0, 4.0, 20.0);

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
    let hosted = hosted();
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

/// One tile of squares with a gap at x 16 to 18, and links.
fn hand_made(links: Vec<OffMeshLink>) -> TiledMesh {
    let params = hand_params(32.0);
    let mut tile = cell_tile(&params, (0, 0), 1.0, |x, _| x != 16 && x != 17);
    tile.off_mesh_links = links;
    let mut mesh = TiledMesh::new(params).unwrap();
    mesh.add_tile(NavTile::create(tile, &params).unwrap())
        .unwrap();
    mesh
}

fn one_way(start: [f32; 3], end: [f32; 3], radius: f32) -> OffMeshLink {
    OffMeshLink {
        start,
        end,
        radius,
        area: 0,
        flags: 1,
        bidirectional: false,
        user_id: 0,
    }
}

#[test]
fn nobody_starves_at_an_entry() {
    // A large body waits farther out than small ones, who keep coming.
    let mesh = hand_made(vec![one_way([15.9, 0.0, 16.5], [18.1, 0.0, 16.5], 0.5)]);
    let mut crowd = crowd(1);
    let large = AgentOptions {
        radius: 1.5,
        ..SMALL
    };
    let large = send(&mesh, &mut crowd, at(4.0, 28.0), at(25.0, 16.5), &large);
    let small: Vec<AgentId> = (0..30)
        .map(|i| {
            let from = at(2.0 + f64::from(i % 6), 10.0 + f64::from(i / 6));
            send(&mesh, &mut crowd, from, at(28.0, 16.5), &SMALL)
        })
        .collect();
    for step in 0..3000 {
        crowd.step(&mesh, DT).unwrap();
        if is_carried(&crowd, large) {
            return;
        }
        for (i, &id) in small.iter().enumerate() {
            let agent = crowd.agent(id).unwrap();
            if agent.state() != AgentState::OffMeshLink && agent.position().x > 20.0 {
                let back = at(1.0 + (i % 8) as f64, 8.0 + (step % 12) as f64);
                crowd.teleport(&mesh, id, back).unwrap();
                crowd.set_destination(&mesh, id, at(28.0, 16.5)).unwrap();
            }
        }
    }
    panic!("the large one never got in");
}

#[test]
fn two_links_with_one_landing_let_nobody_land_on_another() {
    let ends = [18.1, 0.0, 16.5];
    let mesh = hand_made(vec![
        one_way([15.9, 0.0, 12.5], ends, 0.5),
        one_way([15.9, 0.0, 20.5], ends, 0.5),
    ]);
    let mut crowd = crowd(1);
    for z in [12.5, 20.5] {
        send(&mesh, &mut crowd, at(12.0, z), at(26.0, z), &SMALL);
    }
    let mut crossings = 0;
    for _ in 0..400 {
        crowd.step(&mesh, DT).unwrap();
        let [a, b] = [0, 1].map(|i| crowd.agents().nth(i).unwrap());
        let landed = [a, b].map(|agent| agent.position().x > 18.0);
        if landed == [true, true] {
            // Whoever lands lands; a second body length is what the first had time to clear.
            assert!(distance_xz(a.position(), b.position()) >= 0.3);
            crossings += 1;
        }
    }
    assert!(crossings > 0, "they never got across");
}

#[test]
fn a_landing_beside_its_polygon_is_taken_on_it() {
    // The exit is 0.4 short of the ground and 0.4 above it.
    let mesh = hand_made(vec![one_way([15.9, 0.0, 16.5], [17.6, 0.4, 16.5], 0.5)]);
    let mut crowd = crowd(1);
    let near = AgentOptions {
        arrival_radius: 0.5,
        ..SMALL
    };
    let id = send(&mesh, &mut crowd, at(12.0, 16.5), at(18.0, 16.5), &near);
    for _ in 0..300 {
        crowd.step(&mesh, DT).unwrap();
        let agent = crowd.agent(id).unwrap();
        if agent.state() != AgentState::OffMeshLink {
            assert_on_surface(&mesh, agent.position());
        }
    }
    assert!(crowd.agent(id).unwrap().reached_target());
}

#[test]
fn an_entry_beside_its_polygon_is_entered_from_its_border() {
    // The entry is 0.45 off the ground: farther than the trigger radius of this small body.
    let mesh = hand_made(vec![one_way([16.45, 0.0, 16.5], [17.55, 0.0, 16.5], 0.5)]);
    let tiny = AgentOptions {
        radius: 0.1,
        ..SMALL
    };
    let mut crowd = crowd(1);
    let id = send(&mesh, &mut crowd, at(12.0, 16.5), at(22.0, 16.5), &tiny);
    let mut follower = PathFollower::new(FollowerOptions::HUMANOID).unwrap();
    let mut navigator = common::navigator(NodeModel::Polygon);
    let (filter, from) = (QueryFilter::default(), at(12.0, 16.5));
    assert!(follower.place(&mesh, &filter, from).unwrap());
    follower
        .set_destination(&mesh, &filter, at(22.0, 16.5), &mut navigator)
        .unwrap();
    for _ in 0..400 {
        crowd.step(&mesh, DT).unwrap();
        follower.step(&mesh, &filter, DT, &mut navigator).unwrap();
    }
    assert!(crowd.agent(id).unwrap().reached_target());
    assert!(follower.reached_target());
}

#[test]
fn a_link_without_length_goes_nowhere_but_across() {
    // One point between two tiles: its radius reaches the ground on both sides.
    let params = hand_params(32.0);
    let low = cell_tile(&params, (0, 0), 1.0, |x, _| x < 31);
    let mut high = cell_tile(&params, (1, 0), 1.0, |x, _| x >= 1);
    let place = [-0.9, 0.0, 16.5];
    high.off_mesh_links = vec![OffMeshLink {
        bidirectional: true,
        ..one_way(place, place, 3.0)
    }];
    let mut mesh = TiledMesh::new(params).unwrap();
    for tile in [low, high] {
        mesh.add_tile(NavTile::create(tile, &params).unwrap())
            .unwrap();
    }
    let mut crowd = crowd(1);
    let wide = AgentOptions {
        radius: 1.0,
        ..SMALL
    };
    let id = send(&mesh, &mut crowd, at(36.0, 16.5), at(20.0, 25.0), &wide);
    let mut crossed = false;
    for _ in 0..600 {
        crowd.step(&mesh, DT).unwrap();
        if let Some(crossing) = crowd.agent(id).unwrap().crossing() {
            assert_eq!(crossing.start, crossing.end);
            crossed = true;
        }
    }
    assert!(crossed && crowd.agent(id).unwrap().reached_target());
}

#[test]
fn over_a_short_link_nobody_lands_on_the_one_before() {
    // Over a fence: shorter than the gap on a link.
    for (options, length) in [(SMALL, 0.9), (AgentOptions::HUMANOID, 1.4)] {
        let start = 16.9 - length * 0.5;
        let (start, end) = (start as f32, (start + length) as f32);
        let mesh = hand_made(vec![one_way([start, 0.0, 16.5], [end, 0.0, 16.5], 1.0)]);
        let mut crowd = crowd(1);
        for i in 0..12 {
            let (x, z) = (f64::from(i % 4), f64::from(i / 4));
            let from = at(3.0 + 2.0 * x, 14.0 + 2.5 * z);
            send(
                &mesh,
                &mut crowd,
                from,
                at(24.0 + 2.0 * x, 12.0 + 4.0 * z),
                &options,
            );
        }
        let (mut deepest, mut landed) = (0.0_f64, 0);
        for _ in 0..1200 {
            crowd.step(&mesh, DT).unwrap();
            let over = crowd.agents().filter(|agent| agent.position().x >= 17.9);
            let over: Vec<_> = over
                .filter(|a| a.state() != AgentState::OffMeshLink)
                .collect();
            landed = landed.max(over.len());
            for (i, a) in over.iter().enumerate() {
                for b in &over[..i] {
                    let gap = distance_xz(a.position(), b.position());
                    deepest = deepest.max(2.0 * options.radius - gap);
                }
            }
        }
        assert_eq!(landed, 12);
        assert!(deepest <= 0.3, "link of {length}: overlap {deepest}");
    }
}

#[test]
fn who_came_over_and_stays_near_holds_nobody_up_for_long() {
    // A guard crosses a short link and then walks in circles close to its exit.
    let mesh = hand_made(vec![one_way([16.9, 0.0, 16.5], [18.1, 0.0, 16.5], 1.0)]);
    let person = AgentOptions::HUMANOID;
    let mut crowd = crowd(1);
    let guard = send(&mesh, &mut crowd, at(14.0, 16.5), at(19.3, 16.5), &person);
    for _ in 0..200 {
        crowd.step(&mesh, DT).unwrap();
    }
    let ids: Vec<AgentId> = (0..6)
        .map(|i| {
            let (from, to) = (13.0 - 1.5 * f64::from(i), 8.0 + 3.0 * f64::from(i));
            send(&mesh, &mut crowd, at(from, 16.5), at(28.0, to), &person)
        })
        .collect();
    let corners = [(19.4, 16.5), (18.65, 16.93), (18.65, 16.07)];
    let mut corner = 0;
    for _ in 0..4000 {
        let (x, z) = corners[corner % 3];
        let position = crowd.agent(guard).unwrap().position();
        if corner == 0 || distance_xz(position, at(x, z)) < 0.3 {
            corner += 1;
            let (x, z) = corners[corner % 3];
            crowd.set_destination(&mesh, guard, at(x, z)).unwrap();
        }
        crowd.step(&mesh, DT).unwrap();
    }
    let over = ids
        .iter()
        .filter(|&&id| crowd.agent(id).unwrap().position().x > 18.0);
    assert_eq!(over.count(), 6);
}

#[test]
fn who_is_sent_elsewhere_leaves_the_queue() {
    let mesh = hand_made(vec![one_way([15.9, 0.0, 16.5], [18.1, 0.0, 16.5], 0.5)]);
    let mut crowd = crowd(1);
    let path = FollowerOptions {
        off_mesh_speed: 0.02,
        corridor_capacity: 64,
        stuck_window: 0.0,
        ..FollowerOptions::HUMANOID
    };
    let slow = AgentOptions {
        path: Some(path),
        ..SMALL
    };
    send(&mesh, &mut crowd, at(15.8, 16.5), at(28.0, 16.5), &slow);
    crowd.step(&mesh, DT).unwrap();
    let first = send(&mesh, &mut crowd, at(15.6, 16.2), at(28.0, 12.0), &SMALL);
    let steps = |crowd: &mut Crowd, count: usize| {
        for _ in 0..count {
            crowd.step(&mesh, DT).unwrap();
        }
    };
    steps(&mut crowd, 300);
    crowd.set_destination(&mesh, first, at(13.0, 10.0)).unwrap();
    steps(&mut crowd, 100);
    let second = send(&mesh, &mut crowd, at(15.5, 16.8), at(28.0, 20.0), &SMALL);
    steps(&mut crowd, 150);
    crowd.set_destination(&mesh, first, at(28.0, 12.0)).unwrap();
    while !is_carried(&crowd, first) && !is_carried(&crowd, second) {
        crowd.step(&mesh, DT).unwrap();
        assert!(crowd.step_count() < 4000, "nobody gets in");
    }
    assert!(is_carried(&crowd, second));
}

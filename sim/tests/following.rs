//! Lone followers: everyone gets where a fresh query says there is a way, nearly as short, whatever
//! happens to the mesh meanwhile.
#![allow(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod common;

use common::{
    CLOSED, assert_on_surface, edit, fields, floor, maze, navigator, open_ways, patchwork, place,
    planned, route_length, two_floors,
};
use throng_query::mesh::{NodeModel, PathStatus};
use throng_sim::Navigator;
use throng_sim::corridor::PathCorridor;
use throng_sim::follower::{FollowerOptions, OffMeshMode, PathFollower};
use throng_soa::agents::AgentState;
use throng_soa::mesh::{NavTile, TiledMesh};
use throng_soa::rng::SplitMix64;
use throng_soa::world::{DVec3, distance_xz, distance3};

/// Walks to `target` and returns the way walked, seen from above.
fn walk(
    mesh: &TiledMesh,
    follower: &mut PathFollower,
    navigator: &mut Navigator,
    target: DVec3,
    most_steps: usize,
) -> f64 {
    let filter = open_ways();
    follower
        .set_destination(mesh, &filter, target, navigator)
        .unwrap();
    let mut walked = 0.0;
    for _ in 0..most_steps {
        let from = follower.position();
        follower.step(mesh, &filter, 0.05, navigator).unwrap();
        walked += distance_xz(from, follower.position());
        match follower.state() {
            AgentState::Moving => {
                assert_on_surface(mesh, follower.position());
            }
            AgentState::OffMeshLink => {}
            _ => break,
        }
    }
    walked
}

/// Walks random reachable pairs and returns how many there were and the worst walked / route.
fn walk_pairs(
    meshes: &mut dyn Iterator<Item = TiledMesh>,
    pairs_each: usize,
    options: FollowerOptions,
    model: NodeModel,
    seed: u64,
) -> (usize, f64) {
    let mut rng = SplitMix64::new(seed);
    let mut navigator = navigator(model);
    let (mut walked_pairs, mut worst) = (0, 0.0_f64);
    for mesh in meshes {
        for _ in 0..pairs_each {
            let (from, to) = (place(&mesh, &mut rng), place(&mesh, &mut rng));
            let Some(route) = route_length(&mesh, from, to) else {
                continue;
            };
            let mut follower = PathFollower::new(options).unwrap();
            assert!(follower.place(&mesh, &open_ways(), from.1).unwrap());
            let steps = 400 + (4.0 * route / 3.5 / 0.05) as usize;
            let walked = walk(&mesh, &mut follower, &mut navigator, to.1, steps);
            let (state, end) = (follower.state(), follower.position());
            assert_eq!(
                state,
                AgentState::Arrived,
                "{} to {} stands at {end}",
                from.1,
                to.1
            );
            assert!(follower.reached_target());
            assert!(distance3(end, to.1) <= options.arrival_radius + 1e-9);
            walked_pairs += 1;
            // Short ways are all rounding of the arrival radius.
            worst = worst.max((walked - 0.02) / route.max(0.1));
        }
    }
    (walked_pairs, worst)
}

fn polygon_options() -> FollowerOptions {
    FollowerOptions {
        refine_budget: 2000,
        ..FollowerOptions::HUMANOID
    }
}

fn budget_of_40() -> FollowerOptions {
    FollowerOptions {
        replan_budget: 40,
        optimize_interval: 0,
        topology_interval: 0,
        refine_budget: 2000,
        ..FollowerOptions::HUMANOID
    }
}

#[test]
fn a_follower_reaches_every_reachable_goal_nearly_straight() {
    for (model, options, bound) in [
        (NodeModel::Crossing, FollowerOptions::HUMANOID, 1.08),
        (NodeModel::Polygon, polygon_options(), 1.08),
        (NodeModel::Polygon, budget_of_40(), 1.2),
        (NodeModel::Crossing, budget_of_40(), 1.2),
    ] {
        let (pairs, worst) = walk_pairs(&mut fields(6), 10, options, model, 1);
        assert!(pairs > 50, "only {pairs} reachable pairs");
        assert!(worst <= bound, "{model:?} walks {worst} times the route");
    }
}

/// Run with `cargo test -p throng-sim --release --test following -- --ignored sweep`.
#[test]
#[ignore = "750 pairs on both node models"]
fn a_follower_reaches_every_reachable_goal_nearly_straight_sweep() {
    for (model, options, bound) in [
        (NodeModel::Crossing, FollowerOptions::HUMANOID, 1.08),
        (NodeModel::Polygon, polygon_options(), 1.08),
        (NodeModel::Polygon, budget_of_40(), 1.2),
        (NodeModel::Crossing, budget_of_40(), 1.2),
    ] {
        let (pairs, worst) = walk_pairs(&mut fields(15), 50, options, model, 2);
        println!("{model:?}: {pairs} pairs, worst {worst:.3}");
        assert!(pairs > 700, "only {pairs} reachable pairs");
        assert!(worst <= bound, "{model:?} walks {worst} times the route");
    }
}

#[test]
fn a_follower_changes_floors_over_links() {
    for (model, options) in [
        (NodeModel::Crossing, FollowerOptions::HUMANOID),
        (NodeModel::Polygon, polygon_options()),
    ] {
        let (pairs, worst) = walk_pairs(&mut std::iter::once(two_floors()), 40, options, model, 3);
        assert_eq!(pairs, 40, "both floors reach each other");
        assert!(worst <= 1.08, "{model:?} walks {worst} times the route");
    }
}

/// Run with `cargo test -p throng-sim --release --test following -- --ignored sweep`.
#[test]
#[ignore = "480 pairs on both node models"]
fn a_follower_changes_floors_over_links_sweep() {
    for (model, options) in [
        (NodeModel::Crossing, FollowerOptions::HUMANOID),
        (NodeModel::Polygon, polygon_options()),
    ] {
        let (pairs, worst) = walk_pairs(&mut std::iter::once(two_floors()), 480, options, model, 4);
        println!("{model:?}: {pairs} pairs, worst {worst:.3}");
        assert!(worst <= 1.08, "{model:?} walks {worst} times the route");
    }
}

/// From one floor to the other, over the link nearest to (6, 20).
fn sent_upstairs(options: FollowerOptions, navigator: &mut Navigator) -> (TiledMesh, PathFollower) {
    let mesh = two_floors();
    let filter = open_ways();
    let mut follower = PathFollower::new(options).unwrap();
    follower
        .place(&mesh, &filter, DVec3::new(3.0, 0.0, 20.0))
        .unwrap();
    let target = DVec3::new(14.0, 4.0, 20.0);
    let status = follower
        .set_destination(&mesh, &filter, target, navigator)
        .unwrap();
    assert_eq!(status, PathStatus::Found);
    (mesh, follower)
}

#[test]
fn a_crossing_takes_its_length_over_its_speed() {
    let filter = open_ways();
    for (speed, dt) in [(3.5, 0.05), (2.0, 0.03), (9.0, 0.2)] {
        let mut navigator = navigator(NodeModel::Crossing);
        let options = FollowerOptions {
            off_mesh_speed: speed,
            ..FollowerOptions::HUMANOID
        };
        let (mesh, mut follower) = sent_upstairs(options, &mut navigator);
        while follower.state() == AgentState::Moving {
            follower.step(&mesh, &filter, dt, &mut navigator).unwrap();
        }
        assert_eq!(follower.state(), AgentState::OffMeshLink);
        let crossing = *follower.crossing().unwrap();
        assert_eq!(
            crossing.duration,
            distance3(crossing.start, crossing.end) / speed
        );
        assert_eq!(follower.position(), crossing.start);
        let mut steps = 0;
        while follower.state() == AgentState::OffMeshLink {
            follower.step(&mesh, &filter, dt, &mut navigator).unwrap();
            steps += 1;
            if follower.state() == AgentState::OffMeshLink {
                let share = crossing.elapsed + f64::from(steps) * dt;
                let along =
                    crossing.start + (crossing.end - crossing.start) * (share / crossing.duration);
                assert!(distance3(along, follower.position()) < 1e-9);
            }
        }
        assert_eq!(f64::from(steps), (crossing.duration / dt).ceil());
        assert_eq!(follower.position(), crossing.end);
        for _ in 0..400 {
            follower.step(&mesh, &filter, dt, &mut navigator).unwrap();
        }
        assert!(follower.reached_target());
    }
}

#[test]
fn a_host_moves_the_agent_across_itself() {
    let filter = open_ways();
    let mut navigator = navigator(NodeModel::Crossing);
    let options = FollowerOptions {
        off_mesh_mode: OffMeshMode::Host,
        ..FollowerOptions::HUMANOID
    };
    let (mesh, mut follower) = sent_upstairs(options, &mut navigator);
    assert!(
        !follower.complete_off_mesh_link(&mesh, &filter),
        "it does not cross yet"
    );
    while follower.state() == AgentState::Moving {
        follower.step(&mesh, &filter, 0.05, &mut navigator).unwrap();
    }
    let crossing = *follower.crossing().unwrap();
    for _ in 0..100 {
        follower.step(&mesh, &filter, 0.05, &mut navigator).unwrap();
        assert_eq!(follower.position(), crossing.start);
    }
    // A new destination is only recorded; the replan follows the crossing.
    let back = DVec3::new(34.0, 0.0, 20.0);
    let status = follower
        .set_destination(&mesh, &filter, back, &mut navigator)
        .unwrap();
    assert_eq!(status, PathStatus::InProgress);
    assert!(follower.complete_off_mesh_link(&mesh, &filter));
    assert_eq!(follower.position(), crossing.end);
    for _ in 0..1000 {
        follower.step(&mesh, &filter, 0.05, &mut navigator).unwrap();
        if follower.state() == AgentState::OffMeshLink {
            follower.complete_off_mesh_link(&mesh, &filter);
        }
    }
    assert!(follower.reached_target() && distance_xz(follower.position(), back) < 0.02);
}

#[test]
fn one_way_links_are_not_walked_against() {
    // Without the two-way link there is one way up and one way down.
    let mut mesh = two_floors();
    let slots: Vec<u32> = mesh.occupied_slots().collect();
    for slot in slots {
        let links = mesh.tile(slot).unwrap().data().off_mesh_links.clone();
        for (index, link) in links.iter().enumerate() {
            if link.bidirectional {
                let tile = mesh.tile_ref(slot).unwrap();
                mesh.set_off_mesh_link_enabled(tile, index as u32, false)
                    .unwrap();
            }
        }
    }
    let filter = open_ways();
    let mut navigator = navigator(NodeModel::Crossing);
    let mut follower = PathFollower::new(FollowerOptions::HUMANOID).unwrap();
    follower
        .place(&mesh, &filter, DVec3::new(3.0, 0.0, 20.0))
        .unwrap();
    let mut entries = Vec::new();
    for target in [DVec3::new(12.0, 4.0, 20.0), DVec3::new(3.0, 0.0, 20.0)] {
        follower
            .set_destination(&mesh, &filter, target, &mut navigator)
            .unwrap();
        while !matches!(follower.state(), AgentState::Arrived | AgentState::NoPath) {
            let before = follower.state();
            follower.step(&mesh, &filter, 0.05, &mut navigator).unwrap();
            if before == AgentState::Moving && follower.state() == AgentState::OffMeshLink {
                entries.push(follower.crossing().unwrap().start);
            }
        }
        assert!(follower.reached_target());
    }
    assert_eq!(entries.len(), 2);
    assert!(
        entries[0].y < 1.0 && (entries[0].x - 20.0).abs() < 1.0,
        "{entries:?}"
    );
    assert!(
        entries[1].y > 3.0 && (entries[1].x - 28.0).abs() < 1.0,
        "{entries:?}"
    );
}

#[test]
fn an_unreachable_goal_is_walked_to_as_near_as_it_gets() {
    let mesh = maze(3, 4);
    let filter = open_ways();
    let mut rng = SplitMix64::new(5);
    let (from, to) = (place(&mesh, &mut rng).1, place(&mesh, &mut rng).1);
    let mut mesh = mesh;
    let mut navigator = navigator(NodeModel::Polygon);
    let (corridor, _) = planned(&mesh, from, to, 256, &mut navigator);
    let polys = corridor.polys().to_vec();
    assert!(polys.len() > 4);
    mesh.set_poly_flags(polys[polys.len() - 2], CLOSED).unwrap();
    let mut follower = PathFollower::new(FollowerOptions::HUMANOID).unwrap();
    follower.place(&mesh, &filter, from).unwrap();
    let status = follower
        .set_destination(&mesh, &filter, to, &mut navigator)
        .unwrap();
    assert_eq!(status, PathStatus::Partial);
    for _ in 0..2000 {
        follower.step(&mesh, &filter, 0.05, &mut navigator).unwrap();
    }
    assert_eq!(follower.state(), AgentState::Arrived);
    assert!(!follower.reached_target());
    // Nothing walkable near: no path at all.
    let nowhere = DVec3::new(500.0, 0.0, 500.0);
    let status = follower
        .set_destination(&mesh, &filter, nowhere, &mut navigator)
        .unwrap();
    assert_eq!(status, PathStatus::GoalInvalid);
    assert_eq!(follower.state(), AgentState::NoPath);
}

#[test]
fn a_follower_goes_on_when_its_mesh_is_rebuilt_or_cut() {
    let filter = open_ways();
    let mut arrived = 0;
    for seed in 0..20 {
        let (mut mesh, tiles) = patchwork(seed, 6);
        let mut rng = SplitMix64::new(seed + 1000);
        let mut navigator = navigator(NodeModel::Polygon);
        let (from, to) = (place(&mesh, &mut rng), place(&mesh, &mut rng));
        let mut follower = PathFollower::new(FollowerOptions::HUMANOID).unwrap();
        follower.place(&mesh, &filter, from.1).unwrap();
        follower
            .set_destination(&mesh, &filter, to.1, &mut navigator)
            .unwrap();
        for step in 0..4000 {
            if step < 600 && step % 12 == 0 {
                edit(&mut mesh, &tiles, &mut rng);
            }
            if step == 600 {
                for tile in &tiles {
                    let fresh = NavTile::create(tile.clone(), mesh.params()).unwrap();
                    if mesh.tile_slot_at(tile.tile_x, tile.tile_z, 0).is_some() {
                        mesh.replace_tile(fresh).unwrap();
                    } else {
                        mesh.add_tile(fresh).unwrap();
                    }
                }
                // Whatever happened meanwhile: ask again, on the whole mesh.
                if !follower.place(&mesh, &filter, follower.position()).unwrap() {
                    break;
                }
                follower
                    .set_destination(&mesh, &filter, to.1, &mut navigator)
                    .unwrap();
            }
            follower.step(&mesh, &filter, 0.05, &mut navigator).unwrap();
            let position = follower.position();
            assert!(position.x.is_finite() && position.z.is_finite());
        }
        let here = assert_on_surface(&mesh, follower.position());
        let target = assert_on_surface(&mesh, to.1);
        let reachable = route_length(&mesh, (here, follower.position()), (target, to.1)).is_some();
        assert_eq!(
            follower.reached_target(),
            reachable,
            "seed {seed}: {:?}",
            follower.state()
        );
        arrived += usize::from(reachable);
    }
    assert!(arrived > 5, "{arrived}");
}

#[test]
fn a_stuck_follower_gives_up_and_starts_again_on_request() {
    // A wall of closed polygons right in front, noticed only by the ray: speed 0 never moves.
    let mesh = floor(20.0);
    let filter = open_ways();
    let mut navigator = navigator(NodeModel::Polygon);
    let mut follower = PathFollower::new(FollowerOptions {
        max_acceleration: 1e-9,
        ..FollowerOptions::HUMANOID
    })
    .unwrap();
    follower
        .place(&mesh, &filter, DVec3::new(5.0, 0.0, 5.0))
        .unwrap();
    let target = DVec3::new(15.0, 0.0, 15.0);
    follower
        .set_destination(&mesh, &filter, target, &mut navigator)
        .unwrap();
    let mut steps = 0;
    while follower.state() == AgentState::Moving {
        follower
            .step(&mesh, &filter, 0.0625, &mut navigator)
            .unwrap();
        steps += 1;
        assert!(steps < 1000);
    }
    assert_eq!(follower.state(), AgentState::Stuck);
    assert_eq!(
        steps,
        3 * 16,
        "two recoveries of one second, then the third check gives up"
    );
    follower
        .set_destination(&mesh, &filter, target, &mut navigator)
        .unwrap();
    assert_eq!(follower.state(), AgentState::Moving);
}

#[test]
fn misuse_is_refused_and_changes_nothing() {
    let mesh = floor(20.0);
    let filter = open_ways();
    let mut navigator = navigator(NodeModel::Polygon);
    let mut follower = PathFollower::new(FollowerOptions::HUMANOID).unwrap();
    // Never placed: no start.
    let status = follower
        .set_destination(&mesh, &filter, DVec3::ONE, &mut navigator)
        .unwrap();
    assert_eq!(status, PathStatus::StartInvalid);
    follower
        .place(&mesh, &filter, DVec3::new(5.0, 0.0, 5.0))
        .unwrap();
    let before = follower.to_bytes();
    for bad in [f64::NAN, f64::INFINITY, 2_097_152.0] {
        let p = DVec3::new(bad, 0.0, 0.0);
        assert!(follower.place(&mesh, &filter, p).is_err());
        assert!(
            follower
                .set_destination(&mesh, &filter, p, &mut navigator)
                .is_err()
        );
    }
    for dt in [0.0, -0.1, f64::NAN, f64::INFINITY] {
        assert_eq!(
            follower
                .step(&mesh, &filter, dt, &mut navigator)
                .unwrap_err()
                .argument,
            "dt"
        );
    }
    assert!(
        !follower
            .place(&mesh, &filter, DVec3::new(900.0, 0.0, 0.0))
            .unwrap()
    );
    assert_eq!(follower.to_bytes(), before);
    for (options, field) in [
        (
            FollowerOptions {
                max_speed: 0.0,
                ..FollowerOptions::HUMANOID
            },
            "max_speed",
        ),
        (
            FollowerOptions {
                max_corners: 1,
                ..FollowerOptions::HUMANOID
            },
            "max_corners",
        ),
        (
            FollowerOptions {
                corridor_capacity: 1,
                ..FollowerOptions::HUMANOID
            },
            "corridor_capacity",
        ),
        (
            FollowerOptions {
                stuck_progress: 1.5,
                ..FollowerOptions::HUMANOID
            },
            "stuck_progress",
        ),
        (
            FollowerOptions {
                replan_budget: 0,
                ..FollowerOptions::HUMANOID
            },
            "replan_budget",
        ),
    ] {
        assert_eq!(PathFollower::new(options).unwrap_err().argument, field);
    }
}

#[test]
fn follower_and_corridor_bytes_are_their_state() {
    let filter = open_ways();
    let (mesh, _) = patchwork(4, 5);
    let mut rng = SplitMix64::new(9);
    let mut navigator = navigator(NodeModel::Polygon);
    let mut follower = PathFollower::new(FollowerOptions::HUMANOID).unwrap();
    follower
        .place(&mesh, &filter, place(&mesh, &mut rng).1)
        .unwrap();
    let to = place(&mesh, &mut rng).1;
    follower
        .set_destination(&mesh, &filter, to, &mut navigator)
        .unwrap();
    for _ in 0..60 {
        follower.step(&mesh, &filter, 0.05, &mut navigator).unwrap();
    }
    let bytes = follower.to_bytes();
    assert_eq!(bytes.len(), 203 + 66 + 8 * follower.polys().len());
    let mut copy = PathFollower::new(FollowerOptions::HUMANOID).unwrap();
    copy.read(&bytes).unwrap();
    assert_eq!(copy.to_bytes(), bytes);
    for _ in 0..200 {
        follower.step(&mesh, &filter, 0.05, &mut navigator).unwrap();
        copy.step(&mesh, &filter, 0.05, &mut navigator).unwrap();
        assert_eq!(copy.to_bytes(), follower.to_bytes());
    }
    // Short, long and flipped: taken whole or refused whole.
    let mut other = PathFollower::new(FollowerOptions::HUMANOID).unwrap();
    let empty = other.to_bytes();
    for length in 0..bytes.len() {
        assert!(other.read(&bytes[..length]).is_err());
    }
    assert!(other.read(&[&bytes[..], &[0]].concat()).is_err());
    assert_eq!(other.to_bytes(), empty);
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let mut follower = PathFollower::new(FollowerOptions::HUMANOID).unwrap();
        match follower.read(&flipped) {
            Ok(()) => {
                assert_eq!(follower.to_bytes(), flipped);
                for _ in 0..3 {
                    follower.step(&mesh, &filter, 0.05, &mut navigator).unwrap();
                }
            }
            Err(_) => assert_eq!(follower.to_bytes(), empty),
        }
    }
    let mut narrow = PathFollower::new(FollowerOptions {
        corridor_capacity: 255,
        ..FollowerOptions::HUMANOID
    })
    .unwrap();
    assert!(
        narrow.read(&bytes).is_err(),
        "another capacity is another corridor"
    );

    let (corridor, _) = planned(&mesh, place(&mesh, &mut rng).1, to, 64, &mut navigator);
    let bytes = corridor.to_bytes();
    assert_eq!(bytes.len(), 66 + 8 * corridor.polys().len());
    let mut copy = PathCorridor::new(64).unwrap();
    for length in 0..bytes.len() {
        assert!(copy.read(&bytes[..length]).is_err());
    }
    assert_eq!(copy, PathCorridor::new(64).unwrap());
    copy.read(&bytes).unwrap();
    assert_eq!(copy, corridor);
    assert!(PathCorridor::new(1).is_err() && PathCorridor::new(4097).is_err());
}

//! When a follower looks for shortcuts, goes on with a corridor that was cut, searches again, sets out
//! again and gives up: the numbers of the rules, counted step by step.

#![allow(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod common;

use common::{CLOSED, at, cells, corners, maze, navigator, open_ways, place, send};
use throng_query::mesh::{NodeModel, PathStatus};
use throng_sim::crowd::{AgentOptions, AvoidanceQuality};
use throng_sim::follower::{FollowerOptions, PathFollower, apply, plan};
use throng_soa::agents::AgentState;
use throng_soa::mesh::TiledMesh;
use throng_soa::rng::SplitMix64;
use throng_soa::world::{DVec2, DVec3, distance_xz};

/// A lone follower that keeps its route as it was planned.
const PLAIN: FollowerOptions = FollowerOptions {
    optimize_interval: 0,
    topology_interval: 0,
    refine_budget: 0,
    ..FollowerOptions::HUMANOID
};

/// A row of `count` squares of half a unit; the middle of each is at z = 0.25.
fn row(count: usize) -> TiledMesh {
    cells(0.5, |x, z| z == 0 && x < count)
}

/// The middle of a square of [`row`].
fn square(index: usize) -> DVec3 {
    at(0.5 * index as f64 + 0.25, 0.25)
}

/// Sends a follower round a closed pair of squares, opens them after `before` steps of the walk,
/// sends it again (and places it again, if `placed_again`), and returns the step after which its
/// corridor leads straight through, counted from the first of the walk.
fn shortcut_at(
    options: FollowerOptions,
    model: NodeModel,
    before: usize,
    placed_again: bool,
) -> Option<usize> {
    let mut mesh = cells(2.0, |x, z| x < 7 && z < 4);
    let closed = |flags: u16, mesh: &mut TiledMesh| {
        // Squares are numbered row by row.
        for index in [3, 10] {
            let poly = mesh.poly_ref(0, index);
            mesh.set_poly_flags(poly, flags).unwrap();
        }
    };
    closed(1 | CLOSED, &mut mesh);
    let (filter, mut navigator) = (open_ways(), navigator(model));
    let (from, to) = (at(1.0, 1.2), at(10.5, 1.0));
    let mut follower = PathFollower::new(options).unwrap();
    assert!(follower.place(&mesh, &filter, from).unwrap());
    follower
        .set_destination(&mesh, &filter, to, &mut navigator)
        .unwrap();
    for _ in 0..before {
        follower
            .step(&mesh, &filter, 0.001, &mut navigator)
            .unwrap();
    }
    if placed_again {
        assert!(follower.place(&mesh, &filter, from).unwrap());
    }
    follower
        .set_destination(&mesh, &filter, to, &mut navigator)
        .unwrap();
    assert!(follower.polys().len() >= 8, "round two squares");
    closed(1, &mut mesh);
    (before + 1..100).find(|_| {
        follower
            .step(&mesh, &filter, 0.001, &mut navigator)
            .unwrap();
        assert_eq!(follower.state(), AgentState::Moving);
        follower.polys().len() == 6
    })
}

#[test]
fn shortcuts_are_looked_for_in_every_so_manieth_step() {
    let sight = |optimize_interval| FollowerOptions {
        optimize_interval,
        ..PLAIN
    };
    let search = |topology_interval| FollowerOptions {
        topology_interval,
        ..PLAIN
    };
    for model in [NodeModel::Polygon, NodeModel::Crossing] {
        let at = |options, before| shortcut_at(options, model, before, false);
        assert_eq!(at(PLAIN, 0), None);
        for kind in [&sight as &dyn Fn(i32) -> FollowerOptions, &search] {
            for interval in [1, 2, 5, 16] {
                assert_eq!(at(kind(interval), 0), Some(interval as usize));
            }
            // An order does not start the count again; being placed does.
            assert_eq!(at(kind(5), 3), Some(5));
            assert_eq!(at(kind(5), 5), Some(10));
            assert_eq!(shortcut_at(kind(5), model, 3, true), Some(3 + 5));
        }
        // As followers are unless told otherwise: by sight every fourth step, by search every
        // sixteenth.
        let standard = FollowerOptions::HUMANOID;
        assert_eq!(at(standard, 0), Some(4));
        let blind = FollowerOptions {
            optimize_interval: 0,
            ..standard
        };
        assert_eq!(at(blind, 0), Some(16));
    }
}

/// In a crowd, a corridor that was cut to its capacity is extended once it holds three quarters of
/// it, or fewer than 16 polygons; a lone follower's is extended in every step.
#[test]
fn a_cut_corridor_is_extended_at_three_quarters_of_its_capacity() {
    let mesh = row(120);
    for (capacity, threshold) in [(64, 48), (66, 49), (24, 18), (18, 15), (8, 7)] {
        let path = FollowerOptions {
            corridor_capacity: capacity,
            stuck_window: 0.0,
            ..PLAIN
        };
        let options = AgentOptions {
            quality: AvoidanceQuality::Off,
            path: Some(path),
            ..AgentOptions::SMALL
        };
        let mut crowd = common::crowd(1);
        let id = send(&mesh, &mut crowd, square(0), square(119), &options);
        let mut counts = vec![crowd.agent(id).unwrap().corridor().len()];
        while crowd.agent(id).unwrap().state() == AgentState::Moving {
            crowd.step(&mesh, 0.05).unwrap();
            counts.push(crowd.agent(id).unwrap().corridor().len());
            assert!(counts.len() < 1000);
        }
        assert!(crowd.agent(id).unwrap().reached_target());
        let capacity = capacity as usize;
        assert_eq!(counts[0], capacity);
        let grown: Vec<(usize, usize)> = counts
            .windows(2)
            .filter(|pair| pair[1] > pair[0])
            .map(|pair| (pair[0], pair[1]))
            .collect();
        // The last one leads to the end.
        let [whole @ .., last] = &grown[..] else {
            panic!("never extended: {counts:?}");
        };
        assert!(whole.len() > 2, "{grown:?}");
        assert!(
            whole.iter().all(|&pair| pair == (threshold, capacity)),
            "{grown:?}"
        );
        assert_eq!(last.0, threshold);

        let mut follower = PathFollower::new(path).unwrap();
        let (filter, mut navigator) = (open_ways(), navigator(NodeModel::Polygon));
        assert!(follower.place(&mesh, &filter, square(0)).unwrap());
        follower
            .set_destination(&mesh, &filter, square(119), &mut navigator)
            .unwrap();
        let mut steps = 0;
        while !follower.corridor().complete {
            follower.step(&mesh, &filter, 0.05, &mut navigator).unwrap();
            assert!(follower.polys().len() >= capacity - 1);
            steps += 1;
            assert!(steps < 1000);
        }
    }
}

/// An unfinished search is begun again with twice the budget, the agent waiting, until one is
/// enough; an order sets the budget back.
#[test]
fn the_budget_of_a_search_doubles_from_round_to_round() {
    let mesh = row(100);
    let options = FollowerOptions {
        replan_budget: 3,
        ..PLAIN
    };
    let (filter, mut navigator) = (open_ways(), navigator(NodeModel::Polygon));
    let mut follower = PathFollower::new(options).unwrap();
    assert!(follower.place(&mesh, &filter, square(0)).unwrap());
    for _ in 0..2 {
        let sent = follower.set_destination(&mesh, &filter, square(99), &mut navigator);
        assert_eq!(sent, Ok(PathStatus::InProgress));
        let mut spent = vec![navigator.search.iterations()];
        while !follower.corridor().complete {
            assert_eq!(follower.position(), square(0));
            follower.step(&mesh, &filter, 1e-9, &mut navigator).unwrap();
            spent.push(navigator.search.iterations());
            assert!(spent.len() < 20);
        }
        assert_eq!(spent[..6], [3, 6, 12, 24, 48, 96]);
        assert!(
            spent.len() == 7 && (99..=100).contains(&spent[6]),
            "{spent:?}"
        );
        // Back to where it began.
        assert!(follower.place(&mesh, &filter, square(0)).unwrap());
    }

    // The order's own search is the first round, and the last may not be left unfinished.
    for max_replan_rounds in [1, 2, 5, 6] {
        let options = FollowerOptions {
            max_replan_rounds,
            ..options
        };
        let mut follower = PathFollower::new(options).unwrap();
        assert!(follower.place(&mesh, &filter, square(0)).unwrap());
        follower
            .set_destination(&mesh, &filter, square(99), &mut navigator)
            .unwrap();
        let given_up = (1..20).find(|_| {
            follower.step(&mesh, &filter, 1e-9, &mut navigator).unwrap();
            follower.state() == AgentState::NoPath
        });
        let steps = (max_replan_rounds - 1).max(1) as usize;
        assert_eq!(given_up, Some(steps), "{max_replan_rounds}");
    }

    let options = AgentOptions {
        path: Some(options),
        ..AgentOptions::SMALL
    };
    let mut crowd = common::crowd(1);
    let id = crowd.add(&mesh, square(0), &options).unwrap();
    let sent = crowd.set_destination(&mesh, id, square(99)).unwrap();
    assert_eq!(sent, PathStatus::InProgress);
    for expansions in [6, 12, 24, 48, 96] {
        crowd.step(&mesh, 0.05).unwrap();
        assert_eq!(crowd.step_stats().expansions, expansions);
        assert_eq!(crowd.agent(id).unwrap().position(), square(0));
    }
    crowd.step(&mesh, 0.05).unwrap();
    let last = crowd.step_stats();
    assert!(last.route_searches == 1 && (99..=100).contains(&last.expansions));
    assert!(crowd.agent(id).unwrap().route_is_complete());
    assert!(crowd.agent(id).unwrap().position().x > square(0).x);
}

/// By sight a shortcut is looked for toward the farthest corner within range: here the destination,
/// 9.502 away.
#[test]
fn a_shortcut_by_sight_aims_at_the_farthest_corner_in_range() {
    for (optimize_range, expected) in [(9.4, None), (9.6, Some(5)), (10.0, Some(5))] {
        let options = FollowerOptions {
            optimize_interval: 5,
            optimize_range,
            ..PLAIN
        };
        let found = shortcut_at(options, NodeModel::Polygon, 0, false);
        assert_eq!(found, expected, "{optimize_range}");
    }
}

/// A shortcut by search leads to the 64th polygon of the corridor at most.
#[test]
fn a_shortcut_by_search_looks_64_polygons_ahead() {
    // A row with a gate in it, and three squares beside the gate that lead round it. The way round
    // ends three polygons after the one before the gate.
    for (gate, taken) in [(30, true), (59, true), (60, true), (61, false), (70, false)] {
        let mut mesh = cells(0.5, |x, z| {
            z == 0 && x < 90 || z == 1 && x.abs_diff(gate) <= 1
        });
        let closed = mesh.poly_ref(0, gate as u32);
        mesh.set_poly_flags(closed, 1 | CLOSED).unwrap();
        let options = FollowerOptions {
            topology_interval: 1,
            topology_budget: 1000,
            ..PLAIN
        };
        let (filter, mut navigator) = (open_ways(), navigator(NodeModel::Polygon));
        let mut follower = PathFollower::new(options).unwrap();
        assert!(follower.place(&mesh, &filter, square(0)).unwrap());
        follower
            .set_destination(&mesh, &filter, square(89), &mut navigator)
            .unwrap();
        assert_eq!(follower.polys().len(), 92);
        mesh.set_poly_flags(closed, 1).unwrap();
        follower
            .step(&mesh, &filter, 0.001, &mut navigator)
            .unwrap();
        let expected = if taken { 90 } else { 92 };
        assert_eq!(follower.polys().len(), expected, "gate {gate}");
    }
}

/// However long a step is, it ends at the fourth corner.
#[test]
fn a_step_walks_to_the_fourth_corner_at_most() {
    let options = FollowerOptions {
        max_speed: 1000.0,
        max_acceleration: 1e6,
        slow_radius: 0.0,
        stuck_window: 0.0,
        ..PLAIN
    };
    let mut walked = 0;
    for seed in 0..6 {
        let mesh = maze(seed, 8);
        let (filter, mut navigator) = (open_ways(), navigator(NodeModel::Polygon));
        let mut rng = SplitMix64::new(seed);
        let (from, to) = (place(&mesh, &mut rng).1, place(&mesh, &mut rng).1);
        let mut follower = PathFollower::new(options).unwrap();
        assert!(follower.place(&mesh, &filter, from).unwrap());
        follower
            .set_destination(&mesh, &filter, to, &mut navigator)
            .unwrap();
        while follower.state() == AgentState::Moving {
            let ahead = corners(&mesh, follower.position(), to, follower.polys());
            let last = ahead.len() - 1;
            follower.step(&mesh, &filter, 1.0, &mut navigator).unwrap();
            assert_eq!(follower.position(), ahead[last.min(4)], "seed {seed}");
            walked += usize::from(last > 4);
        }
        assert!(follower.reached_target());
    }
    assert!(walked > 5, "{walked} steps had a fifth corner");
}

/// Who has arrived and is pushed off sets out again in the step that begins farther than twice the
/// arrival radius, and a hundredth, from the destination.
#[test]
fn who_is_pushed_off_its_destination_sets_out_again() {
    let mesh = cells(16.0, |_, _| true);
    for arrival_radius in [0.1, 0.3] {
        let pushed = AgentOptions {
            arrival_radius,
            separation_distance: 4.0,
            separation_weight: 0.1,
            ..AgentOptions::SMALL
        };
        let goal = at(40.0, 40.0);
        let mut crowd = common::crowd(1);
        let id = send(&mesh, &mut crowd, at(39.95, 40.0), goal, &pushed);
        crowd.step(&mesh, 0.05).unwrap();
        assert_eq!(crowd.agent(id).unwrap().state(), AgentState::Arrived);
        crowd
            .add(&mesh, at(39.2, 40.0), &AgentOptions::SMALL)
            .unwrap();
        let mut steps = 0;
        loop {
            let off = distance_xz(crowd.agent(id).unwrap().position(), goal);
            crowd.step(&mesh, 0.02).unwrap();
            let agent = crowd.agent(id).unwrap();
            let set_out = agent.state() != AgentState::Arrived;
            assert_eq!(set_out, off > 2.0 * arrival_radius + 0.01, "{off}");
            if set_out {
                break;
            }
            steps += 1;
            assert!(steps < 1000, "never pushed far enough: {off}");
        }
        assert!(steps > 20, "pushed slowly: {steps}");
    }
}

/// An agent is given so many windows in which it walks less than its share of full speed; it is not
/// watched while it slows down.
#[test]
fn who_makes_too_little_way_at_full_speed_is_stuck() {
    let mesh = cells(16.0, |_, _| true);
    let (filter, mut navigator) = (open_ways(), navigator(NodeModel::Polygon));
    for (stuck_window, windows) in [(0.5, 3), (1.0, 1)] {
        let options = FollowerOptions {
            stuck_window,
            stuck_progress: 0.2,
            max_stuck_recoveries: windows - 1,
            ..PLAIN
        };
        let dt = 1.0 / 16.0;
        // A fifth of 3.5 is 0.7. A walk of 0.9 is all slow, with the slow radius of 1.
        for (speed, way, stuck) in [(0.69, 30.0, true), (0.71, 30.0, false), (0.001, 0.9, false)] {
            let mut follower = PathFollower::new(options).unwrap();
            assert!(follower.place(&mesh, &filter, at(20.0, 20.0)).unwrap());
            follower
                .set_destination(&mesh, &filter, at(20.0 + way, 20.0), &mut navigator)
                .unwrap();
            let velocity = DVec2::new(speed, 0.0);
            let given_up = (1..200).find(|_| {
                let (row, navigator) = (&mut follower.row(), &mut navigator);
                let wanted = plan(row, &mesh, &filter, &options, dt, navigator);
                assert_eq!(wanted.full_speed, way > 1.0);
                apply(
                    row, &mesh, &filter, &options, &wanted, velocity, dt, navigator,
                );
                *row.state == AgentState::Stuck
            });
            let steps = f64::from(windows) * stuck_window / dt;
            let expected = stuck.then_some(steps as usize);
            assert_eq!(given_up, expected, "{speed} of {way}");
        }
    }
}

//! When a follower looks for shortcuts, goes on with a corridor that was cut, and searches again:
//! the numbers of the rules, counted step by step.

#![allow(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod common;

use common::{CLOSED, at, cells, navigator, open_ways, send};
use throng_query::mesh::{NodeModel, PathStatus};
use throng_sim::crowd::{AgentOptions, AvoidanceQuality};
use throng_sim::follower::{FollowerOptions, PathFollower};
use throng_soa::agents::AgentState;
use throng_soa::mesh::TiledMesh;

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
fn square(index: usize) -> throng_soa::DVec3 {
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

//! Rules of a lone follower's step that its ways as a whole do not show: how it speeds up and slows
//! down, what it reports, when it gives a search up, and orders in the middle of a crossing.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use throng::parts::query::mesh::NodeModel;
use throng::parts::sim::Navigator;
use throng::parts::sim::follower::{FollowerOptions, PathFollower};
use throng::{AgentState, DVec3, NavMesh, NavSettings, PathStatus, QueryFilter, TiledMesh, levels};
use throng_soa::world::{distance_xz, distance3};
use throng_tests::floor;

const DT: f64 = 0.05;

fn navigator() -> Navigator {
    Navigator::new(NodeModel::Polygon, 1 << 14, 1 << 14)
}

fn placed(mesh: &TiledMesh, options: FollowerOptions, at: DVec3) -> PathFollower {
    let mut follower = PathFollower::new(options).unwrap();
    let filter = QueryFilter::default();
    assert!(follower.place(mesh, &filter, at).unwrap());
    follower
}

/// On open ground the whole walk is known: the speed wanted is the greatest one, or within the slow
/// radius a share of it but never below the least; the speed taken changes by at most the
/// acceleration.
#[test]
fn speeds_are_those_of_an_arrival_on_open_ground() {
    let (mesh, filter, mut navigator) = (floor(), QueryFilter::default(), navigator());
    for slow_radius in [0.0, 1.0, 5.0] {
        let options = FollowerOptions {
            slow_radius,
            max_acceleration: 4.0,
            ..FollowerOptions::HUMANOID
        };
        let (from, to) = (DVec3::new(3.0, 0.0, 3.0), DVec3::new(15.0, 0.0, 12.0));
        let mut follower = placed(&mesh, options, from);
        follower
            .set_destination(&mesh, &filter, to, &mut navigator)
            .unwrap();
        let (mut speed, mut left, mut steps) = (0.0_f64, distance3(from, to), 0);
        while follower.state() == AgentState::Moving {
            let before = follower.position();
            follower.step(&mesh, &filter, DT, &mut navigator).unwrap();
            steps += 1;
            assert!(steps < 1000);
            let wanted = if slow_radius > 0.0 {
                let share = (left / slow_radius).min(1.0);
                (options.max_speed * share).max(options.arrival_min_speed)
            } else {
                options.max_speed
            };
            speed += (wanted - speed).clamp(
                -options.max_acceleration * DT,
                options.max_acceleration * DT,
            );
            let length = (speed * DT).min(left);
            let moved = distance3(before, follower.position());
            if follower.state() == AgentState::Moving {
                assert!(
                    (moved - length).abs() < 1e-9,
                    "step {steps}: {moved}, not {length}"
                );
                let velocity = (follower.position() - before) * (1.0 / DT);
                assert!(distance3(velocity, follower.velocity()) < 1e-9);
                assert!((follower.remaining_distance() - (left - moved)).abs() < 1e-9);
                // Along the straight line.
                let along =
                    distance3(from, follower.position()) + distance3(follower.position(), to);
                assert!(along - distance3(from, to) < 1e-9);
            }
            left -= moved;
        }
        assert_eq!(follower.state(), AgentState::Arrived);
        assert!(follower.reached_target());
        assert!(left <= options.arrival_radius + 1e-9, "{left}");
    }
}

/// A search that gets one expansion, then two, and no third round does not get far.
#[test]
fn a_search_is_given_up_after_its_rounds() {
    let soup = levels::generate("rooms", 96.0, 3).unwrap();
    let mesh = NavMesh::build_soup(&soup, &NavSettings::HUMANOID).unwrap();
    let (filter, mut navigator) = (QueryFilter::default(), navigator());
    let (from, to) = (DVec3::new(4.0, 0.0, 4.0), DVec3::new(92.0, 0.0, 92.0));
    let options = FollowerOptions {
        replan_budget: 1,
        max_replan_rounds: 2,
        ..FollowerOptions::HUMANOID
    };
    let mut follower = placed(&mesh, options, from);
    let sent = follower
        .set_destination(&mesh, &filter, to, &mut navigator)
        .unwrap();
    assert_eq!(sent, PathStatus::InProgress);
    let start = follower.position();
    let mut steps = 0;
    while follower.state() == AgentState::Moving {
        follower.step(&mesh, &filter, DT, &mut navigator).unwrap();
        steps += 1;
        assert!(steps < 10);
    }
    assert_eq!(follower.state(), AgentState::NoPath);
    // It does not walk an unfinished search from where it stands.
    assert!(distance_xz(start, follower.position()) < 1.0);
    // Rounds that double reach any goal.
    let options = FollowerOptions {
        replan_budget: 1,
        ..FollowerOptions::HUMANOID
    };
    let mut follower = placed(&mesh, options, from);
    follower
        .set_destination(&mesh, &filter, to, &mut navigator)
        .unwrap();
    for _ in 0..3000 {
        follower.step(&mesh, &filter, DT, &mut navigator).unwrap();
    }
    assert_eq!(follower.state(), AgentState::Arrived);
    assert!(follower.reached_target());
}

#[test]
fn an_order_during_a_crossing_waits_for_its_end() {
    let (soup, off_mesh_links) = levels::two_floors(64.0, 1);
    let link = off_mesh_links[0].clone();
    let settings = NavSettings {
        off_mesh_links,
        ..NavSettings::HUMANOID
    };
    let mesh = NavMesh::build(soup.vertices(), soup.triangles(), &settings).unwrap();
    let (filter, mut navigator) = (QueryFilter::default(), navigator());
    let mut follower = placed(&mesh, FollowerOptions::HUMANOID, link.start);
    let upstairs = link.end + DVec3::new(1.0, 0.0, 0.0);
    follower
        .set_destination(&mesh, &filter, upstairs, &mut navigator)
        .unwrap();
    while follower.state() != AgentState::OffMeshLink {
        follower.step(&mesh, &filter, DT, &mut navigator).unwrap();
    }
    follower.step(&mesh, &filter, DT, &mut navigator).unwrap();
    let back = link.start - DVec3::new(1.0, 0.0, 0.0);
    follower
        .set_destination(&mesh, &filter, back, &mut navigator)
        .unwrap();
    assert_eq!(follower.state(), AgentState::OffMeshLink);
    // Its length over its speed, in whole steps, whatever was ordered; the first is done.
    let whole =
        (distance3(link.start, link.end) / FollowerOptions::HUMANOID.off_mesh_speed / DT).ceil();
    let mut steps = 1.0;
    while follower.state() == AgentState::OffMeshLink {
        follower.step(&mesh, &filter, DT, &mut navigator).unwrap();
        steps += 1.0;
    }
    assert_eq!(steps, whole);
    assert!(distance3(follower.position(), link.end) < 1e-3);
    for _ in 0..400 {
        follower.step(&mesh, &filter, DT, &mut navigator).unwrap();
    }
    // The link leads both ways: down again, and on.
    assert_eq!(follower.state(), AgentState::Arrived);
    assert!(distance3(follower.position(), back) <= 0.01 + 1e-9);
}

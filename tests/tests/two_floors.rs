//! The generated level of two floors, which only links join: a lone follower goes where a fresh
//! query says there is a way and hardly further, and a crowd arrives without leaving the mesh.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a failed unwrap is a failed test, and the measured numbers are worth reading"
)]

use throng::parts::query::mesh::{NodeModel, PathSearch, QueryStatus, random_point};
use throng::parts::sim::Navigator;
use throng::parts::sim::corridor::corridor_length;
use throng::parts::sim::follower::{FollowerOptions, PathFollower};
use throng::{
    AgentId, AgentOptions, AgentState, BuildOptions, Crowd, CrowdOptions, DVec3, NavMesh,
    NavSettings, OffMeshWay, PathOptions, PathStatus, PolyRef, QueryFilter, SplitMix64, TiledMesh,
    levels,
};
use throng_soa::world::{distance_xz, distance3};
use throng_tests::strays;

const DT: f64 = 0.05;
/// Height halfway between the floors.
const BETWEEN: f64 = 2.0;

/// The level on `threads` workers, for people of radius 0.3, in several tiles.
fn level(seed: u64, threads: usize) -> NavMesh {
    let (soup, off_mesh_links) = levels::two_floors(64.0, seed);
    let settings = NavSettings {
        agent_radius: 0.3,
        tile_size: 16.0,
        off_mesh_links,
        ..NavSettings::HUMANOID
    };
    let options = BuildOptions {
        threads,
        ..BuildOptions::default()
    };
    NavMesh::build_with(soup.vertices(), soup.triangles(), &settings, &options).unwrap()
}

/// A point of the ground or of a deck; lids of boxes, to which nothing leads, are passed over.
fn place(mesh: &TiledMesh, rng: &mut SplitMix64) -> (PolyRef, DVec3) {
    loop {
        let found = random_point(mesh, rng, &QueryFilter::default()).unwrap();
        if found.point.y < 0.5 || (3.5..4.5).contains(&found.point.y) {
            return (found.poly, found.point);
        }
    }
}

/// Length of the taut string through a fresh route between two places, seen from above.
fn route_length(mesh: &TiledMesh, from: (PolyRef, DVec3), to: (PolyRef, DVec3)) -> f64 {
    let mut search = PathSearch::new(NodeModel::Crossing, 1 << 15);
    let mut out = vec![PolyRef::INVALID; 4096];
    let filter = QueryFilter::default();
    let found = search
        .find_path(mesh, from.0, to.0, from.1, to.1, &filter, &mut out)
        .unwrap();
    assert_eq!(found.status, QueryStatus::Success, "{} to {}", from.1, to.1);
    let mut navigator = Navigator::new(NodeModel::Crossing, 64, 64);
    corridor_length(mesh, from.1, to.1, &out[..found.count], &mut navigator)
}

#[test]
fn every_link_of_the_level_joins_the_ground_and_a_deck() {
    for seed in 1..4 {
        for settings in [
            NavSettings::SMALL,
            NavSettings::HUMANOID,
            NavSettings::LARGE,
        ] {
            let (soup, off_mesh_links) = levels::two_floors(96.0, seed);
            let count = off_mesh_links.len();
            let settings = NavSettings {
                off_mesh_links,
                ..settings
            };
            let mesh = NavMesh::build(soup.vertices(), soup.triangles(), &settings).unwrap();
            let ways: Vec<OffMeshWay> = mesh.off_mesh_links().collect();
            assert_eq!(ways.len(), count);
            for way in ways {
                let (start, end) = (way.ends.start, way.ends.end);
                assert_eq!((start.y - end.y).abs(), 4.0);
                let mut ends = vec![(start, end)];
                if way.bidirectional {
                    ends.push((end, start));
                }
                for (from, to) in ends {
                    let route = mesh.find_path(from, to, &PathOptions::default()).unwrap();
                    assert_eq!(route.status, PathStatus::Found, "{way:?}");
                    let taken: Vec<u32> = (0..route.points.len())
                        .filter_map(|i| mesh.off_mesh_link_at(&route.points, i))
                        .map(|taken| taken.ends.user_id)
                        .collect();
                    assert_eq!(taken, [way.ends.user_id], "{way:?}");
                }
            }
        }
    }
}

#[test]
fn a_follower_arrives_exactly_and_walks_hardly_more_than_the_route() {
    let refined = FollowerOptions {
        refine_budget: 2000,
        ..FollowerOptions::HUMANOID
    };
    for (model, options) in [
        (NodeModel::Crossing, FollowerOptions::HUMANOID),
        (NodeModel::Polygon, refined),
    ] {
        let (mut worst, mut changes) = (0.0_f64, 0);
        for seed in 1..4 {
            let mesh = level(seed, 1);
            let mut rng = SplitMix64::new(seed);
            let mut navigator = Navigator::new(model, 1 << 15, 1 << 15);
            for _ in 0..60 {
                let (from, to) = (place(&mesh, &mut rng), place(&mesh, &mut rng));
                let route = route_length(&mesh, from, to);
                let walked = walk(&mesh, options, &mut navigator, from.1, to.1, route);
                // Short ways are all rounding of the arrival radius.
                worst = worst.max((walked - 0.02) / route.max(0.1));
                changes += usize::from((from.1.y > BETWEEN) != (to.1.y > BETWEEN));
            }
        }
        println!("{model:?}: worst {worst:.3}, {changes} pairs on different floors");
        assert!(changes >= 30, "{changes}");
        assert!(worst <= 1.08, "{model:?} walks {worst} times the route");
    }
}

/// The way a follower walks to `to`, seen from above.
fn walk(
    mesh: &TiledMesh,
    options: FollowerOptions,
    navigator: &mut Navigator,
    from: DVec3,
    to: DVec3,
    route: f64,
) -> f64 {
    let filter = QueryFilter::default();
    let mut follower = PathFollower::new(options).unwrap();
    assert!(follower.place(mesh, &filter, from).unwrap());
    follower
        .set_destination(mesh, &filter, to, navigator)
        .unwrap();
    let mut walked = 0.0;
    for _ in 0..400 + (4.0 * route / 3.5 / DT) as usize {
        let before = follower.position();
        follower.step(mesh, &filter, DT, navigator).unwrap();
        walked += distance_xz(before, follower.position());
        if !matches!(
            follower.state(),
            AgentState::Moving | AgentState::OffMeshLink
        ) {
            break;
        }
    }
    let (state, end) = (follower.state(), follower.position());
    assert_eq!(state, AgentState::Arrived, "{from} to {to} stands at {end}");
    assert!(distance3(end, to) <= options.arrival_radius + 1e-9);
    walked
}

/// 160 agents a metre apart, each sent somewhere.
fn crowd_of_160(mesh: &TiledMesh, seed: u64, threads: usize) -> Crowd {
    let mut rng = SplitMix64::new(seed);
    let mut crowd = Crowd::new(CrowdOptions {
        threads,
        query_nodes: 4096,
        ..CrowdOptions::default()
    })
    .unwrap();
    let mut starts: Vec<DVec3> = Vec::new();
    while starts.len() < 160 {
        let (from, to) = (place(mesh, &mut rng).1, place(mesh, &mut rng).1);
        if starts.iter().all(|&start| distance3(start, from) >= 1.0) {
            starts.push(from);
            let id = crowd.add(mesh, from, &AgentOptions::SMALL).unwrap();
            let status = crowd.set_destination(mesh, id, to).unwrap();
            assert_eq!(status, PathStatus::Found, "{from} to {to}");
        }
    }
    crowd
}

/// How deep the bodies of two agents of one floor are in each other, seen from above.
fn overlap(crowd: &Crowd) -> f64 {
    let bodies: Vec<(DVec3, f64)> = crowd
        .agents()
        .filter(|agent| agent.state() != AgentState::OffMeshLink)
        .map(|agent| (agent.position(), agent.options().radius))
        .collect();
    let mut deepest = 0.0_f64;
    for (i, &(a, radius)) in bodies.iter().enumerate() {
        for &(b, other) in &bodies[..i] {
            if (a.y - b.y).abs() < BETWEEN {
                deepest = deepest.max(radius + other - distance_xz(a, b));
            }
        }
    }
    deepest
}

#[test]
fn crowds_of_160_arrive_over_the_links_and_stay_on_the_mesh() {
    for seed in 1..5 {
        let mesh = level(seed, 1);
        let mut crowd = crowd_of_160(&mesh, seed, 1);
        let (mut deepest, mut crossings, mut steps) = (0.0_f64, 0, 0);
        let mut crossing: Vec<AgentId> = Vec::new();
        while !crowd.is_empty() {
            assert!(steps < 5000, "seed {seed}: {} never arrive", crowd.len());
            crowd.step(&mesh, DT).unwrap();
            steps += 1;
            let strays = strays(&mesh, &crowd);
            assert!(strays.is_empty(), "seed {seed}, step {steps}: {strays:?}");
            deepest = deepest.max(overlap(&crowd));
            let ids = |state| {
                let agents = crowd.agents().filter(move |a| a.state() == state);
                agents.map(|agent| agent.id()).collect::<Vec<_>>()
            };
            let now = ids(AgentState::OffMeshLink);
            crossings += now.iter().filter(|id| !crossing.contains(id)).count();
            crossing = now;
            for id in ids(AgentState::Arrived) {
                assert!(crowd.remove(id));
            }
        }
        println!("seed {seed}: {steps} steps, {crossings} crossings, overlap {deepest:.3}");
        assert!(crossings >= 40, "seed {seed}: {crossings} crossings");
        assert!(deepest <= 0.3, "seed {seed}: overlap {deepest}");
    }
}

#[test]
fn the_number_of_threads_does_not_show() {
    let mesh = level(1, 1);
    let bytes = mesh.save();
    let run = |threads| {
        let mut crowd = crowd_of_160(&mesh, 9, threads);
        for _ in 0..150 {
            crowd.step(&mesh, DT).unwrap();
        }
        crowd.save_state(&mesh)
    };
    let state = run(1);
    for threads in [2, 5, 16] {
        assert!(level(1, threads).save() == bytes, "{threads} threads build");
        assert!(run(threads) == state, "{threads} threads walk");
    }
}

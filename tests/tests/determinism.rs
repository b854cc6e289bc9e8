//! Whole crowds on whole levels: the same bits for every thread count, nobody ever off the mesh,
//! and most of them where they were going.
//!
//! Real levels are skipped with a line when they are missing (see the crate's helpers). The long
//! forms are ignored by default: `cargo test -p throng-tests --release -- --ignored`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a failed unwrap is a failed test, and the measured numbers are worth reading"
)]

use throng::{
    AgentOptions, AgentState, AvoidanceQuality, BuildOptions, DVec3, NavMesh, NavSettings, Soup,
    levels,
};
use throng_soa::world::distance3;
use throng_tests::{Reachable, real_level, spread, strays};

const THREADS: [usize; 4] = [1, 2, 5, 16];
const DT: f64 = 0.05;

struct Plan {
    name: &'static str,
    agents: usize,
    steps: usize,
    /// Steps that every thread count walks.
    shared: usize,
    /// Least share of agents at their goal in the end.
    arrived: f64,
    /// Most the walked way may exceed the route, the mean of those who arrived.
    detour: f64,
    /// Most agents that stand stuck or without a path in the end, a share.
    lost: f64,
}

fn build(soup: &Soup, settings: &NavSettings, threads: usize) -> NavMesh {
    let options = BuildOptions {
        threads,
        ..BuildOptions::default()
    };
    NavMesh::build_with(soup.vertices(), soup.triangles(), settings, &options).unwrap()
}

fn check(soup: &Soup, settings: &NavSettings, agent: &AgentOptions, plan: &Plan) {
    let name = plan.name;
    let mesh = build(soup, settings, 1);
    let bytes = mesh.save();
    for threads in &THREADS[1..] {
        let same = build(soup, settings, *threads).save() == bytes;
        assert!(same, "{name}: the mesh of {threads} threads differs");
    }
    let components = Reachable::new(&mesh);
    println!(
        "{name}: {} tiles, {} polygons, {} components, the largest {:.3} of the surface",
        mesh.tile_count(),
        mesh.poly_count(),
        components.count(),
        components.largest_share()
    );

    let mut scene = spread(&mesh, plan.agents, 42, agent, 1, true);
    let mut walked = vec![0.0; plan.agents];
    let mut done = vec![false; plan.agents];
    let mut before: Vec<DVec3> = scene.crowd.columns().position.to_vec();
    let mut shared = 0;
    for step in 0..plan.steps {
        scene.crowd.step(&mesh, DT).unwrap();
        let strays = strays(&mesh, &scene.crowd);
        assert!(strays.is_empty(), "{name}, step {step}: {strays:?}");
        let positions = scene.crowd.columns().position;
        let reached = scene.crowd.columns().reached_target;
        for (slot, &now) in positions.iter().enumerate() {
            // What others push it about after its arrival is not its way.
            walked[slot] += if done[slot] {
                0.0
            } else {
                distance3(before[slot], now)
            };
            done[slot] |= reached[slot];
        }
        before.copy_from_slice(positions);
        if step + 1 == plan.shared {
            shared = scene.crowd.state_hash(&mesh);
        }
    }
    for threads in &THREADS[1..] {
        let mut other = spread(&mesh, plan.agents, 42, agent, *threads, false).crowd;
        for _ in 0..plan.shared {
            other.step(&mesh, DT).unwrap();
        }
        let hash = other.state_hash(&mesh);
        assert_eq!(hash, shared, "{name}: {threads} threads differ");
    }

    let count = |state| {
        let states = scene.crowd.columns().state.iter();
        states.filter(|&&s| s == state).count() as f64 / plan.agents as f64
    };
    let reached = scene.crowd.agents().filter(|a| a.reached_target()).count();
    let reached = reached as f64 / plan.agents as f64;
    let lost = count(AgentState::Stuck) + count(AgentState::NoPath);
    let mut ratios: Vec<f64> = scene
        .crowd
        .agents()
        .enumerate()
        .filter(|(slot, agent)| {
            agent.reached_target() && (2.0..f64::INFINITY).contains(&scene.routes[*slot])
        })
        .map(|(slot, _)| walked[slot] / scene.routes[slot])
        .collect();
    ratios.sort_by(f64::total_cmp);
    let (mean, worst) = (
        ratios.iter().sum::<f64>() / ratios.len().max(1) as f64,
        ratios.last().copied().unwrap_or(0.0),
    );
    println!(
        "{name}: {} agents, {} steps: reached {reached:.4}, arrived {:.4}, moving {:.4}, stuck \
         {:.4}, no path {:.4}; walked/route mean {mean:.4}, worst {worst:.3} of {}; hash {shared:016X}",
        plan.agents,
        plan.steps,
        count(AgentState::Arrived),
        count(AgentState::Moving),
        count(AgentState::Stuck),
        count(AgentState::NoPath),
        ratios.len()
    );
    assert!(reached >= plan.arrived, "{name}: only {reached} arrived");
    assert!(lost <= plan.lost, "{name}: {lost} are lost");
    assert!(!ratios.is_empty());
    // Agents stop within their arrival radius of the goal, so short trips come out below 1.
    let detour = plan.detour;
    assert!(
        (0.9..detour).contains(&mean),
        "{name}: walked {mean} of their routes"
    );
}

fn real(plan: &Plan, agent: &AgentOptions) {
    let file = format!("{}.obj", plan.name);
    if let Some(soup) = real_level(&file) {
        check(&soup, &NavSettings::HUMANOID, agent, plan);
    }
}

const NAV_TEST: Plan = Plan {
    name: "nav_test",
    agents: 500,
    steps: 1000,
    shared: 60,
    arrived: 0.6,
    detour: 2.0,
    lost: 0.02,
};

const DUNGEON: Plan = Plan {
    name: "dungeon",
    agents: 300,
    steps: 1000,
    shared: 60,
    arrived: 0.3,
    detour: 2.0,
    lost: 0.02,
};

const UNDULATING: Plan = Plan {
    name: "undulating",
    agents: 1000,
    steps: 1000,
    shared: 40,
    arrived: 0.5,
    detour: 1.6,
    lost: 0.02,
};

/// Without avoidance: every agent walks its route as if alone, and nearly all arrive.
const fn alone(plan: &Plan) -> Plan {
    Plan {
        steps: 2000,
        arrived: 0.98,
        detour: 1.1,
        ..*plan
    }
}

const GHOST: AgentOptions = AgentOptions {
    quality: AvoidanceQuality::Off,
    ..AgentOptions::HUMANOID
};

#[test]
fn nav_test() {
    real(&NAV_TEST, &AgentOptions::HUMANOID);
}

#[test]
fn nav_test_alone() {
    real(&alone(&NAV_TEST), &GHOST);
}

#[test]
fn dungeon() {
    real(&DUNGEON, &AgentOptions::HUMANOID);
}

#[test]
fn dungeon_alone() {
    real(&alone(&DUNGEON), &GHOST);
}

#[test]
fn undulating() {
    real(&UNDULATING, &AgentOptions::HUMANOID);
}

#[test]
fn undulating_alone() {
    real(&alone(&UNDULATING), &GHOST);
}

#[test]
fn city() {
    let plan = Plan {
        name: "city",
        agents: 1000,
        steps: 150,
        shared: 60,
        arrived: 0.05,
        detour: 1.4,
        lost: 0.02,
    };
    let soup = levels::city(128.0, 1);
    check(
        &soup,
        &NavSettings::HUMANOID,
        &AgentOptions::HUMANOID,
        &plan,
    );
}

#[test]
fn city_alone() {
    let plan = Plan {
        name: "city alone",
        agents: 300,
        steps: 1500,
        shared: 40,
        arrived: 0.98,
        detour: 1.1,
        lost: 0.02,
    };
    let soup = levels::city(128.0, 1);
    check(&soup, &NavSettings::HUMANOID, &GHOST, &plan);
}

/// Two floors and links between them.
fn two_floors(name: &'static str, agent: &AgentOptions, steps: usize, arrived: f64, detour: f64) {
    let plan = Plan {
        name,
        agents: 300,
        steps,
        shared: 100,
        arrived,
        detour,
        lost: 0.02,
    };
    let (soup, off_mesh_links) = levels::two_floors(128.0, 1);
    let settings = NavSettings {
        off_mesh_links,
        tile_size: 16.0,
        ..NavSettings::HUMANOID
    };
    check(&soup, &settings, agent, &plan);
}

#[test]
fn two_floors_in_a_crowd() {
    two_floors("two floors", &AgentOptions::HUMANOID, 400, 0.2, 1.4);
}

#[test]
fn two_floors_alone() {
    two_floors("two floors alone", &GHOST, 1500, 0.98, 1.1);
}

#[test]
#[ignore = "10,000 agents for 600 steps, four times"]
fn city_of_ten_thousand() {
    let plan = Plan {
        name: "city of ten thousand",
        agents: 10_000,
        steps: 600,
        shared: 600,
        arrived: 0.05,
        detour: 1.4,
        lost: 0.02,
    };
    let soup = levels::city(512.0, 1);
    check(
        &soup,
        &NavSettings::HUMANOID,
        &AgentOptions::HUMANOID,
        &plan,
    );
}

//! Avoidance in the open field: the programs against enumeration of vertices, whole scenes, and
//! one answer for any number of threads.

#![allow(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod common;

use throng_sim::orca::{HalfPlane, OrcaAgent, OrcaSimulator, ProgramScratch, solve};
use throng_soa::rng::SplitMix64;
use throng_soa::world::{DVec2, dot2, length2};

fn unit(rng: &mut SplitMix64) -> DVec2 {
    loop {
        let v = DVec2::new(rng.range(-1.0, 1.0), rng.range(-1.0, 1.0));
        let length = length2(v);
        if (0.1..1.0).contains(&length) {
            return v / length;
        }
    }
}

/// A line as (normal, offset): the points v with v · normal = offset.
type Line = (DVec2, f64);

fn line(plane: &HalfPlane) -> Line {
    (plane.normal, dot2(plane.point, plane.normal))
}

/// Every point where two of the lines, or a line and the circle, meet.
fn vertices(lines: &[Line], radius: f64) -> Vec<DVec2> {
    let mut out = Vec::new();
    for (i, &(n, c)) in lines.iter().enumerate() {
        let h = radius * radius - c * c;
        if h >= 0.0 {
            let along = DVec2::new(-n.y, n.x) * h.sqrt();
            out.extend([n * c + along, n * c - along]);
        }
        for &(m, e) in &lines[..i] {
            let det = n.x * m.y - n.y * m.x;
            if det.abs() > 1e-9 {
                out.push(DVec2::new(c * m.y - e * n.y, n.x * e - m.x * c) / det);
            }
        }
    }
    out
}

/// Squared distance from `wish` to the nearest velocity that every plane and the disc allow.
fn best_distance(planes: &[HalfPlane], radius: f64, wish: DVec2) -> Option<f64> {
    let lines: Vec<Line> = planes.iter().map(line).collect();
    let mut points = vertices(&lines, radius);
    points.extend(lines.iter().map(|&(n, c)| wish + n * (c - dot2(wish, n))));
    points.push(wish);
    points.push(wish / length2(wish) * radius);
    let allowed = |v: DVec2| {
        length2(v) <= radius + 1e-9 && planes.iter().all(|p| p.signed_distance(v) >= -1e-9)
    };
    let distance = |v: DVec2| dot2(v - wish, v - wish);
    points
        .into_iter()
        .filter(|&v| allowed(v))
        .map(distance)
        .reduce(f64::min)
}

/// The largest value the least signed distance of the soft planes can take.
fn best_level(planes: &[HalfPlane], hard: usize, radius: f64) -> f64 {
    let (kept, soft) = planes.split_at(hard);
    let mut lines: Vec<Line> = kept.iter().map(line).collect();
    for (i, a) in soft.iter().enumerate() {
        for b in &soft[..i] {
            let m = a.normal - b.normal;
            let length = length2(m);
            if length > 1e-9 {
                lines.push((m / length, (line(a).1 - line(b).1) / length));
            }
        }
    }
    let mut points = vertices(&lines, radius);
    points.extend(soft.iter().map(|p| p.normal * radius));
    let allowed = |v: &DVec2| {
        length2(*v) <= radius + 1e-7 && kept.iter().all(|p| p.signed_distance(*v) >= -1e-7)
    };
    let level = |v: DVec2| {
        soft.iter()
            .map(|p| p.signed_distance(v))
            .fold(f64::INFINITY, f64::min)
    };
    points
        .into_iter()
        .filter(allowed)
        .map(level)
        .fold(f64::NEG_INFINITY, f64::max)
}

fn check_programs(seed: u64, rounds: usize) {
    let mut rng = SplitMix64::new(seed);
    let mut scratch = ProgramScratch::default();
    let (mut feasible, mut relaxed) = (0, 0);
    for round in 0..rounds {
        let count = 1 + rng.next_below(9) as usize;
        let hard = rng.next_below(3).min(count as u32) as usize;
        let planes: Vec<HalfPlane> = (0..count)
            .map(|i| {
                let normal = unit(&mut rng);
                // Hard planes leave the zero velocity, as the ones made from walls do.
                let high = if i < hard { -0.05 } else { 1.6 };
                let aside = DVec2::new(-normal.y, normal.x) * rng.range(-1.0, 1.0);
                HalfPlane {
                    point: normal * rng.range(-1.6, high) + aside,
                    normal,
                }
            })
            .collect();
        let wish = unit(&mut rng) * rng.range(0.1, 3.0);
        let found = solve(&planes, hard, 2.0, wish, &mut scratch);
        let v = found.velocity;
        assert!(length2(v) <= 2.0 + 1e-6, "round {round}: too fast");
        assert!(planes[..hard].iter().all(|p| p.signed_distance(v) >= -1e-6));
        let best = best_distance(&planes, 2.0, wish);
        if found.feasible {
            feasible += 1;
            assert!(
                planes.iter().all(|p| p.signed_distance(v) >= -1e-6),
                "round {round}"
            );
            let distance = dot2(v - wish, v - wish);
            // A sliver of a region may hold none of the enumerated points within tolerance.
            if let Some(best) = best {
                assert!(
                    distance <= best + 1e-6,
                    "round {round}: {distance} > {best}"
                );
            }
        } else {
            relaxed += 1;
            let level = |p: &HalfPlane| p.signed_distance(v);
            let least = planes[hard..]
                .iter()
                .map(level)
                .fold(f64::INFINITY, f64::min);
            assert!(
                least >= best_level(&planes, hard, 2.0) - 1e-5,
                "round {round}"
            );
            assert!(
                least < 1e-6,
                "round {round}: gave up on a program with a solution"
            );
        }
    }
    assert!(
        feasible > rounds / 10 && relaxed > rounds / 10,
        "{feasible} {relaxed}"
    );
}

#[test]
fn programs_are_optimal_against_enumeration() {
    check_programs(1, 4_000);
}

/// Run with `cargo test -p throng-sim --test orca -- --ignored programs`.
#[test]
#[ignore = "a sweep over 120,000 random programs"]
fn programs_are_optimal_against_enumeration_sweep() {
    for seed in 2..8 {
        check_programs(seed, 20_000);
    }
}

/// A scene: agents with goals, and where each is to head right now.
struct Scene {
    simulator: OrcaSimulator,
    goals: Vec<DVec2>,
    rng: SplitMix64,
    deepest: f64,
}

impl Scene {
    fn new(threads: usize) -> Self {
        Self {
            simulator: OrcaSimulator::new(threads).unwrap(),
            goals: Vec::new(),
            rng: SplitMix64::new(77),
            deepest: 0.0,
        }
    }

    fn agent(&mut self, position: DVec2, goal: DVec2) {
        let agent = OrcaAgent {
            position,
            ..OrcaAgent::default()
        };
        self.simulator.add_agent(agent).unwrap();
        self.goals.push(goal);
    }

    /// One step; `aim` gives the point an agent at a position with a goal walks to. A hair of
    /// noise breaks perfect symmetry.
    fn step(&mut self, aim: impl Fn(DVec2, DVec2) -> DVec2) {
        for i in 0..self.goals.len() {
            let position = self.simulator.agents()[i].position;
            let way = aim(position, self.goals[i]) - position;
            let distance = length2(way);
            let speed = self.simulator.agents()[i].max_speed;
            let wish = if distance > speed {
                way / distance * speed
            } else {
                way
            };
            let noise = DVec2::new(self.rng.range(-1e-3, 1e-3), self.rng.range(-1e-3, 1e-3));
            self.simulator.set_preferred(i, wish + noise).unwrap();
        }
        self.simulator.step(0.05).unwrap();
    }

    /// Steps until everyone is within 1 of the goal.
    fn run(&mut self, most: usize, aim: impl Fn(DVec2, DVec2) -> DVec2) {
        for step in 0..most {
            self.step(&aim);
            if step % 5 == 0 {
                self.deepest = self.deepest.max(self.simulator.deepest_overlap());
            }
            let agents = self.simulator.agents().iter().zip(&self.goals);
            if agents
                .clone()
                .all(|(agent, &goal)| length2(agent.position - goal) < 1.0)
            {
                return;
            }
        }
        let late = self.simulator.agents().iter().zip(&self.goals);
        let late = late
            .filter(|(agent, goal)| length2(agent.position - **goal) >= 1.0)
            .count();
        panic!("{late} of {} agents never arrive", self.goals.len());
    }

    fn bytes(&self) -> Vec<u64> {
        let bits = |v: DVec2| [v.x.to_bits(), v.y.to_bits()];
        let agents = self.simulator.agents().iter();
        agents
            .flat_map(|a| [bits(a.position), bits(a.velocity)])
            .flatten()
            .collect()
    }
}

fn straight(_: DVec2, goal: DVec2) -> DVec2 {
    goal
}

/// Agents round a circle, each with the opposite place as its goal.
fn circle(threads: usize, count: usize, radius: f64) -> Scene {
    let mut scene = Scene::new(threads);
    for i in 0..count {
        // Evenly round a diamond, then out to the circle.
        let u = 4.0 * i as f64 / count as f64;
        let (side, t) = (u.floor() as usize, u - u.floor());
        let corner = [DVec2::X, DVec2::Y, -DVec2::X, -DVec2::Y];
        let p = corner[side] * (1.0 - t) + corner[(side + 1) % 4] * t;
        let p = p / length2(p) * radius;
        scene.agent(p, -p);
    }
    scene
}

#[test]
fn a_sparse_circle_changes_places() {
    let mut scene = circle(1, 12, 20.0);
    scene.run(2_000, straight);
    assert!(scene.deepest <= 0.1 * 0.5, "{}", scene.deepest);
}

#[test]
fn a_circle_of_100_changes_places() {
    let mut scene = circle(1, 100, 45.0);
    scene.run(3_000, straight);
    assert!(scene.deepest <= 0.5 * 0.5, "{}", scene.deepest);
}

/// Run with `cargo test -p throng-sim --release --test orca -- --ignored circle`.
#[test]
#[ignore = "takes a while"]
fn a_circle_of_300_changes_places() {
    let mut scene = circle(2, 300, 130.0);
    scene.run(12_000, straight);
    assert!(scene.deepest <= 0.5 * 0.5, "{}", scene.deepest);
}

/// Run with `cargo test -p throng-sim --release --test orca -- --ignored circle`.
#[test]
#[ignore = "takes a while"]
fn a_circle_of_1000_changes_places() {
    let mut scene = circle(2, 1000, 430.0);
    scene.run(30_000, straight);
    assert!(scene.deepest <= 0.75 * 0.5, "{}", scene.deepest);
}

#[test]
fn blocks_cross() {
    let mut scene = Scene::new(1);
    for i in 0..6 {
        for j in 0..6 {
            let (a, b) = (f64::from(i) * 2.0 - 5.0, f64::from(j) * 2.0 - 30.0);
            scene.agent(DVec2::new(b, a), DVec2::new(-b, a));
            scene.agent(DVec2::new(a, b), DVec2::new(a, -b));
        }
    }
    scene.run(3_000, straight);
    assert!(scene.deepest <= 0.1 * 0.5, "{}", scene.deepest);
}

#[test]
fn everyone_gets_through_a_gap_in_a_wall() {
    let mut scene = Scene::new(1);
    for (a, b) in [(-25.0, -1.5), (1.5, 25.0)] {
        let (a, b) = (DVec2::new(0.0, a), DVec2::new(0.0, b));
        scene.simulator.add_obstacle(a, b).unwrap();
    }
    for i in 0..4 {
        for j in 0..4 {
            let (x, y) = (-6.0 - 2.0 * f64::from(i), 2.0 * f64::from(j) - 3.0);
            scene.agent(DVec2::new(x, y), DVec2::new(-x, y));
        }
    }
    scene.run(4_000, |position, goal| {
        if position.x < 0.0 {
            DVec2::new(1.0, position.y.clamp(-0.5, 0.5))
        } else {
            goal
        }
    });
    assert!(scene.deepest <= 0.1 * 0.5, "{}", scene.deepest);
    for agent in scene.simulator.agents() {
        assert!(agent.position.x > 0.4, "{}", agent.position);
    }
}

#[test]
fn both_ways_through_a_corridor() {
    let mut scene = Scene::new(1);
    for y in [-4.0, 4.0] {
        let (a, b) = (DVec2::new(-40.0, y), DVec2::new(40.0, y));
        scene.simulator.add_obstacle(a, b).unwrap();
    }
    for i in 0..5 {
        for j in 0..3 {
            let (x, y) = (-12.0 - 2.5 * f64::from(i), 2.2 * f64::from(j) - 2.2);
            scene.agent(DVec2::new(x, y + 0.3), DVec2::new(-x, y + 0.3));
            scene.agent(DVec2::new(-x, y), DVec2::new(x, y));
        }
    }
    scene.run(6_000, straight);
    assert!(scene.deepest <= 0.1 * 0.5, "{}", scene.deepest);
    for agent in scene.simulator.agents() {
        assert!(agent.position.y.abs() < 4.0 - 0.45);
    }
}

#[test]
fn the_number_of_threads_does_not_show() {
    let after = |threads| {
        let mut scene = circle(threads, 150, 30.0);
        scene
            .simulator
            .add_obstacle(DVec2::new(-3.0, 1.0), DVec2::new(4.0, -2.0))
            .unwrap();
        for _ in 0..150 {
            scene.step(straight);
        }
        scene.bytes()
    };
    let one = after(1);
    for threads in [2, 5, 16] {
        assert!(after(threads) == one, "{threads} threads differ from 1");
    }
}

#[test]
fn an_empty_field_steps_and_misuse_is_refused() {
    let mut simulator = OrcaSimulator::new(1).unwrap();
    simulator.step(0.1).unwrap();
    for dt in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(simulator.step(dt).unwrap_err().argument, "dt");
    }
    assert!(OrcaSimulator::new(0).is_err());
    let refused = |agent: OrcaAgent| OrcaSimulator::new(1).unwrap().add_agent(agent).is_err();
    let good = OrcaAgent::default();
    assert!(!refused(good));
    assert!(refused(OrcaAgent {
        radius: -1.0,
        ..good
    }));
    assert!(refused(OrcaAgent {
        time_horizon: 0.0,
        ..good
    }));
    assert!(refused(OrcaAgent {
        max_neighbors: 0,
        ..good
    }));
    assert!(refused(OrcaAgent {
        position: DVec2::new(f64::NAN, 0.0),
        ..good
    }));
    assert!(refused(OrcaAgent {
        position: DVec2::new(2_097_152.0, 0.0),
        ..good
    }));
    assert_eq!(
        simulator.set_preferred(0, DVec2::X).unwrap_err().argument,
        "agent"
    );
}

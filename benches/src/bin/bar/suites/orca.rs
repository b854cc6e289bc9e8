//! Avoidance alone: throng against `dodgy_2d`.
//!
//! Both are given the same neighbours, found by a plain grid before the clock starts: what is
//! measured is the half-planes and the program. `dodgy_2d`'s own simulator compares every pair and
//! carries no large crowd; `step_time` is what ours takes for a whole step, neighbours included.

use super::Row;
use crate::measure::{Side, milliseconds, say};
use throng::parts::sim::orca::{
    HalfPlane, OrcaAgent, OrcaSimulator, ProgramScratch, for_agent, solve,
};
use throng::{DVec2, SplitMix64};

const WARM: usize = 20;
const TIMED: usize = 20;
const DT: f64 = 0.25;
const RADIUS: f64 = 2.0;
const MAX_SPEED: f64 = 2.0;
const REACH: f64 = 15.0;
const NEIGHBORS: usize = 10;
const HORIZON: f64 = 10.0;

pub(super) fn rows() -> Vec<Row> {
    let kinds: [(&'static str, usize); 2] = [("circle", 0), ("mix", 1)];
    let counts = [250, 1_000, 5_000, 10_000, 50_000];
    let row = |(level, option): (&'static str, usize), count: usize| Row {
        suite: "orca",
        scenario: format!("{level}/{count}"),
        level,
        count,
        option,
        limit: None,
        apart: false,
        measure,
    };
    let all = kinds
        .into_iter()
        .flat_map(|kind| counts.map(|count| row(kind, count)));
    all.collect()
}

/// Agents of one side: places, velocities and goals.
#[derive(Clone)]
struct Field {
    position: Vec<DVec2>,
    velocity: Vec<DVec2>,
    goal: Vec<DVec2>,
    near: Vec<Vec<u32>>,
}

impl Field {
    /// Antipodal on a circle, or anywhere to anywhere in a square as dense.
    fn new(count: usize, circle: bool) -> Self {
        let radius = 200.0 * (count as f64 / 250.0).sqrt();
        let mut rng = SplitMix64::new(11);
        let mut position = Vec::new();
        let mut goal = Vec::new();
        for i in 0..count {
            if circle {
                let turn = i as f64 / count as f64 * std::f64::consts::TAU;
                let place = DVec2::new(turn.cos(), turn.sin()) * radius;
                position.push(place);
                goal.push(-place);
            } else {
                let mut anywhere = || rng.range(-radius, radius) * 0.5;
                position.push(DVec2::new(anywhere(), anywhere()));
                goal.push(DVec2::new(anywhere(), anywhere()));
            }
        }
        Self {
            velocity: vec![DVec2::ZERO; count],
            near: vec![Vec::new(); count],
            position,
            goal,
        }
    }

    fn preferred(&self, i: usize) -> DVec2 {
        let way = self.goal[i] - self.position[i];
        let length = (way.x * way.x + way.y * way.y).sqrt();
        if length > MAX_SPEED {
            way / length * MAX_SPEED
        } else {
            way
        }
    }

    /// Finds everybody's nearest neighbours.
    fn look_round(&mut self) {
        let cell = |p: DVec2| ((p.x / REACH).floor() as i64, (p.y / REACH).floor() as i64);
        let mut cells: std::collections::BTreeMap<(i64, i64), Vec<u32>> = Default::default();
        for (i, &p) in self.position.iter().enumerate() {
            cells.entry(cell(p)).or_default().push(i as u32);
        }
        let mut found: Vec<(f64, u32)> = Vec::new();
        for (i, &p) in self.position.iter().enumerate() {
            found.clear();
            let (x, z) = cell(p);
            for cell in (x - 1..=x + 1).flat_map(|x| (z - 1..=z + 1).map(move |z| (x, z))) {
                for &j in cells.get(&cell).into_iter().flatten() {
                    let d = self.position[j as usize] - p;
                    let distance_sq = d.x * d.x + d.y * d.y;
                    if j as usize != i && distance_sq < REACH * REACH {
                        found.push((distance_sq, j));
                    }
                }
            }
            found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            found.truncate(NEIGHBORS);
            self.near[i].clear();
            self.near[i].extend(found.iter().map(|&(_, j)| j));
        }
    }

    fn advance(&mut self, solved: &[DVec2]) {
        for ((p, v), &new) in self.position.iter_mut().zip(&mut self.velocity).zip(solved) {
            *v = new;
            *p += new * DT;
        }
    }

    /// Deepest overlap of two agents, as a share of the radius.
    fn deepest(&self) -> f64 {
        let mut deepest = 0.0_f64;
        for (i, near) in self.near.iter().enumerate() {
            for &j in near {
                let d = self.position[j as usize] - self.position[i];
                let gap = (d.x * d.x + d.y * d.y).sqrt();
                deepest = deepest.max((2.0 * RADIUS - gap) / RADIUS);
            }
        }
        deepest
    }
}

fn measure(row: &Row, reps: usize, sides: &[Side]) -> Result<(), String> {
    for _ in 0..reps {
        for &side in sides {
            let mut field = Field::new(row.count, row.option == 0);
            match side {
                Side::Ours => {
                    run(&mut field, side, ours());
                    say(side, "step_time", simulator(row)?, "us/agent-step");
                }
                #[cfg(feature = "peers")]
                Side::Peer => run(&mut field, side, dodgy()),
                #[cfg(not(feature = "peers"))]
                Side::Peer => {}
            }
        }
    }
    Ok(())
}

/// Walks `field` with what `solve_all` finds, the last steps on the clock.
fn run(field: &mut Field, side: Side, mut solve_all: impl FnMut(&Field, &mut [DVec2])) {
    let mut solved = vec![DVec2::ZERO; field.position.len()];
    let mut time = 0.0;
    for step in 0..WARM + TIMED {
        field.look_round();
        let took = milliseconds(|| solve_all(field, &mut solved));
        if step >= WARM {
            time += took;
        }
        field.advance(&solved);
    }
    let agents = (field.position.len() * TIMED) as f64;
    say(side, "time", time * 1e3 / agents, "us/agent-step");
    field.look_round();
    say(side, "deepest_overlap", field.deepest(), "radii");
}

fn ours() -> impl FnMut(&Field, &mut [DVec2]) {
    let mut planes: Vec<HalfPlane> = Vec::new();
    let mut scratch = ProgramScratch::default();
    move |field, solved| {
        for (i, out) in solved.iter_mut().enumerate() {
            planes.clear();
            for &j in &field.near[i] {
                let j = j as usize;
                planes.push(for_agent(
                    field.position[j] - field.position[i],
                    field.velocity[i],
                    field.velocity[j],
                    2.0 * RADIUS,
                    HORIZON,
                    DT,
                    0.5,
                ));
            }
            *out = solve(&planes, 0, MAX_SPEED, field.preferred(i), &mut scratch).velocity;
        }
    }
}

/// A whole step of our open-field simulator, per agent.
fn simulator(row: &Row) -> Result<f64, String> {
    let field = Field::new(row.count, row.option == 0);
    let mut simulator = OrcaSimulator::new(1).map_err(|error| error.to_string())?;
    for i in 0..row.count {
        let agent = OrcaAgent {
            position: field.position[i],
            preferred: field.preferred(i),
            radius: RADIUS,
            max_speed: MAX_SPEED,
            neighbor_distance: REACH,
            max_neighbors: NEIGHBORS,
            time_horizon: HORIZON,
            obstacle_horizon: HORIZON,
            ..OrcaAgent::default()
        };
        simulator
            .add_agent(agent)
            .map_err(|error| error.to_string())?;
    }
    let mut time = 0.0;
    for step in 0..WARM + TIMED {
        let mut stepped = Ok(());
        let took = milliseconds(|| stepped = simulator.step(DT));
        stepped.map_err(|error| error.to_string())?;
        if step >= WARM {
            time += took;
        }
    }
    Ok(time * 1e3 / (row.count * TIMED) as f64)
}

#[cfg(feature = "peers")]
fn dodgy() -> impl FnMut(&Field, &mut [DVec2]) {
    use dodgy_2d::{Agent, AvoidanceOptions, Vec2};
    use std::borrow::Cow;
    let float = |v: DVec2| Vec2::new(v.x as f32, v.y as f32);
    let options = AvoidanceOptions {
        obstacle_margin: RADIUS as f32,
        time_horizon: HORIZON as f32,
        obstacle_time_horizon: HORIZON as f32,
    };
    let mut agents: Vec<Agent> = Vec::new();
    move |field, solved| {
        agents.clear();
        agents.extend(
            field
                .position
                .iter()
                .zip(&field.velocity)
                .map(|(&p, &v)| Agent {
                    position: float(p),
                    velocity: float(v),
                    radius: RADIUS as f32,
                    avoidance_responsibility: 1.0,
                }),
        );
        let mut near: Vec<Cow<'_, Agent>> = Vec::new();
        for (i, out) in solved.iter_mut().enumerate() {
            near.clear();
            near.extend(
                field.near[i]
                    .iter()
                    .map(|&j| Cow::Borrowed(&agents[j as usize])),
            );
            let velocity = agents[i].compute_avoiding_velocity(
                &near,
                &[],
                float(field.preferred(i)),
                MAX_SPEED as f32,
                DT as f32,
                &options,
            );
            *out = DVec2::new(f64::from(velocity.x), f64::from(velocity.y));
        }
    }
}

//! How agents of a crowd avoid each other, by the numbers of the rules: whom they look at, how far,
//! how hard they are pushed, and when one of them goes round.
//!
//! One step of agents that stand, or set out, on open ground has answers that can be written down. A
//! neighbour straight ahead at distance `d`, both at rest, leaves half of `(d - r) / horizon` of speed
//! toward it, `r` being both radii together.

#![allow(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod common;

use common::{STRAIGHT, assert_near, at, cells};
use throng_sim::crowd::{AgentId, AgentOptions, AvoidanceQuality, Crowd, CrowdOptions};
use throng_sim::orca::HalfPlane;
use throng_soa::world::{DVec2, DVec3};

/// The qualities that avoid: neighbours, horizon.
const QUALITIES: [(AvoidanceQuality, usize, f64); 3] = [
    (AvoidanceQuality::Low, 4, 1.5),
    (AvoidanceQuality::Medium, 8, 2.0),
    (AvoidanceQuality::High, 12, 2.5),
];

/// The middle of the ground: no wall is near.
const MIDDLE: DVec3 = DVec3::new(32.0, 0.0, 32.0);

/// An agent: where it stands (from the middle), where it is sent, its settings.
type Placed = (DVec3, Option<DVec3>, AgentOptions);

fn standing(x: f64, z: f64) -> Placed {
    (at(x, z), None, STRAIGHT)
}

/// The agents on a square of ground, 32 to every side, after one step.
fn after_a_step(agents: &[Placed], dt: f64) -> (Crowd, Vec<AgentId>) {
    let mesh = cells(16.0, |_, _| true);
    let mut crowd = Crowd::new(CrowdOptions {
        record_constraints: true,
        ..CrowdOptions::default()
    })
    .unwrap();
    let add = |&(from, to, options): &Placed| {
        let id = crowd.add(&mesh, MIDDLE + from, &options).unwrap();
        if let Some(to) = to {
            crowd.set_destination(&mesh, id, MIDDLE + to).unwrap();
        }
        id
    };
    let ids = agents.iter().map(add).collect();
    crowd.step(&mesh, dt).unwrap();
    (crowd, ids)
}

/// What the first agent's neighbours ask of it.
fn planes(agents: &[Placed], dt: f64) -> Vec<HalfPlane> {
    let (crowd, ids) = after_a_step(agents, dt);
    let (planes, walls) = crowd.agent(ids[0]).unwrap().constraints();
    assert_eq!(walls, 0);
    planes.to_vec()
}

#[test]
fn the_nearest_4_8_or_12_neighbours_count() {
    let mut agents = vec![standing(0.0, 0.0)];
    agents.extend((0..14).map(|i| standing(0.9 + 0.2 * f64::from(i), 0.0)));
    for (quality, count, horizon) in QUALITIES {
        agents[0].2.quality = quality;
        let planes = planes(&agents, 0.05);
        assert_eq!(planes.len(), count);
        for (i, plane) in planes.iter().enumerate() {
            let distance = 0.9 + 0.2 * i as f64;
            assert_near(plane.normal, -DVec2::X);
            assert_near(plane.point, DVec2::X * ((distance - 0.6) / horizon / 2.0));
        }
    }
    agents[0].2.quality = AvoidanceQuality::Off;
    assert!(planes(&agents, 0.05).is_empty());
}

#[test]
fn neighbours_count_as_far_as_both_can_come_or_separation_reaches() {
    for (quality, _, horizon) in QUALITIES {
        for separation_distance in [0.0, 3.0, 9.0] {
            let own = AgentOptions {
                quality,
                separation_distance,
                ..STRAIGHT
            };
            let reach = f64::max(separation_distance, 0.6 + 2.5 * horizon);
            for (distance, count) in [(reach - 1e-6, 1), (reach + 1e-6, 0)] {
                let agents = [(DVec3::ZERO, None, own), standing(0.0, distance)];
                assert_eq!(planes(&agents, 0.05).len(), count, "{own:?}, {distance}");
            }
        }
    }
}

/// The share of an agent is the other's weight over both.
#[test]
fn weights_share_the_change_between_them() {
    for (own, other) in [(1.0, 1.0), (3.0, 1.0), (1.0, 3.0), (0.25, 0.5)] {
        let weighed = |priority| AgentOptions {
            priority,
            ..STRAIGHT
        };
        let agents = [
            (DVec3::ZERO, None, weighed(own)),
            (at(2.6, 0.0), None, weighed(other)),
        ];
        let [plane] = planes(&agents, 0.05)[..] else {
            panic!("one neighbour");
        };
        let share = other / (own + other);
        assert_near(plane.point, DVec2::X * ((2.6 - 0.6) / 2.0 * share));
    }
}

/// Two agents at one place part along x, the one added first to +x, as if a thousandth apart.
#[test]
fn agents_at_one_place_part_along_x() {
    let dt = 0.05;
    let (crowd, ids) = after_a_step(&[standing(0.0, 0.0), standing(0.0, 0.0)], dt);
    for (id, side) in ids.into_iter().zip([DVec2::X, -DVec2::X]) {
        let (planes, _) = crowd.agent(id).unwrap().constraints();
        assert_eq!(planes.len(), 1);
        assert_near(planes[0].normal, side);
        // Half of what ends the overlap within the step.
        assert_near(planes[0].point, side * ((0.6 - 0.001) / dt / 2.0));
    }
}

/// Who is nearer than the separation distance pushes by the square of how much nearer it is; all
/// pushes together are at most full speed.
#[test]
fn separation_pushes_by_the_square() {
    let pushed = |separation_weight| AgentOptions {
        separation_distance: 2.0,
        separation_weight,
        ..STRAIGHT
    };
    let wanted = |others: &[Placed], to: Option<DVec3>, weight: f64| {
        let mut agents = vec![(DVec3::ZERO, to, pushed(weight))];
        agents.extend(others);
        let (crowd, ids) = after_a_step(&agents, 0.05);
        crowd.agent(ids[0]).unwrap().wanted_velocity()
    };
    let full = STRAIGHT.max_speed;
    for (distance, push) in [(1.0, 0.25), (1.5, 0.0625), (0.5, 0.5625), (2.001, 0.0)] {
        let expected = DVec2::X * (-0.3 * full * push);
        assert_near(wanted(&[standing(distance, 0.0)], None, 0.3), expected);
    }
    // Two at once, across each other; and against the way.
    let two = [standing(1.0, 0.0), standing(0.0, -1.5)];
    let expected = DVec2::new(-0.25, 0.0625) * (0.3 * full);
    assert_near(wanted(&two, None, 0.3), expected);
    let expected = DVec2::X * (full - 0.3 * full * 0.25);
    let ahead = wanted(&[standing(1.0, 0.0)], Some(at(20.0, 0.0)), 0.3);
    assert_near(ahead, expected);
    // More than full speed is full speed, the same way.
    let close = [standing(0.2, 0.0), standing(0.0, 0.2), standing(0.2, 0.0)];
    let found = wanted(&close, None, 1.0);
    assert_near(found, DVec2::new(-2.0, -1.0) * (full / 5.0_f64.sqrt()));
}

/// At one place there is no way apart: who was added first is pushed to -x, the other to +x.
#[test]
fn separation_at_one_place_pushes_along_x() {
    let pushed = AgentOptions {
        separation_distance: 2.0,
        ..STRAIGHT
    };
    let pair = [(DVec3::ZERO, None, pushed); 2];
    let (crowd, ids) = after_a_step(&pair, 0.05);
    for (id, side) in ids.into_iter().zip([-DVec2::X, DVec2::X]) {
        let wanted = crowd.agent(id).unwrap().wanted_velocity();
        assert_near(wanted, side * (0.3 * STRAIGHT.max_speed));
    }
}

/// An agent that is left less than three tenths of its speed by somebody who stands goes round, a
/// quarter turn to the left, if it is more than eight radii from its destination.
#[test]
fn who_stands_in_the_way_is_gone_round() {
    let solved = |to: f64, ahead: Placed| {
        let agents = [(DVec3::ZERO, Some(at(to, 0.0)), STRAIGHT), ahead];
        let (crowd, ids) = after_a_step(&agents, 0.05);
        crowd.agent(ids[0]).unwrap().solved_velocity()
    };
    let full = STRAIGHT.max_speed;
    let left = |distance: f64| (distance - 0.6) / 2.0 / 2.0;
    // Three tenths of 2.5 are left at a distance of 3.6.
    for (distance, blocked) in [(3.59, true), (3.61, false), (1.0, true)] {
        let expected = if blocked {
            DVec2::new(0.0, full)
        } else {
            DVec2::new(left(distance), 0.0)
        };
        assert_near(solved(20.0, standing(distance, 0.0)), expected);
    }
    // Near its destination it queues,
    for (to, blocked) in [(2.41, true), (2.39, false)] {
        let expected = if blocked {
            DVec2::new(0.0, full)
        } else {
            DVec2::new(left(1.0), 0.0)
        };
        assert_near(solved(to, standing(1.0, 0.0)), expected);
    }
    // and behind somebody who sets out too.
    let walking = (at(1.0, 0.0), Some(at(20.0, 5.0)), STRAIGHT);
    assert_near(solved(20.0, walking), DVec2::new(left(1.0), 0.0));
}

//! How an agent of a crowd deals with the walls around it, by the numbers of the rules: which walls
//! count, to which side it bends its way, and how far past a corner it aims.

#![allow(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod common;

use common::{STRAIGHT, assert_near, at, cells, hand_params, one_tile, send, two_floors};
use throng_sim::crowd::{AgentOptions, AvoidanceQuality, Crowd, CrowdOptions};
use throng_sim::follower::{FollowerOptions, PathFollower};
use throng_soa::mesh::TiledMesh;
use throng_soa::mesh::assemble::{WorldPolygons, from_polygons};
use throng_soa::world::{DVec2, DVec3, distance_xz};

/// What an agent wants in its first step from `from` to `to`, in parts of its full speed.
fn wanted(mesh: &TiledMesh, from: DVec3, to: DVec3, options: &AgentOptions) -> DVec2 {
    let mut crowd = common::crowd(1);
    let id = send(mesh, &mut crowd, from, to, options);
    crowd.step(mesh, 0.05).unwrap();
    crowd.agent(id).unwrap().wanted_velocity() / options.max_speed
}

/// Flat ground, 16 wide, up to x = 20, and beside it a slope that ends in a wall at x = 20 + `run`,
/// `rise` above (or below) the ground.
fn slope(run: f64, rise: f64) -> TiledMesh {
    let params = hand_params(64.0);
    let row = |x: f64, y: f64| [20.0, 36.0].map(|z| DVec3::new(x, y, z));
    let input = WorldPolygons {
        vertices: [row(4.0, 0.0), row(20.0, 0.0), row(20.0 + run, rise)].concat(),
        poly_vertex_counts: vec![4, 4],
        poly_indices: vec![0, 2, 3, 1, 2, 4, 5, 3],
        areas: vec![0; 2],
        flags: vec![1; 2],
        ..WorldPolygons::default()
    };
    one_tile(from_polygons(input, &params).unwrap(), params)
}

/// A wall counts as one of the agent's floor while it is at most one unit, and one and a half more
/// for every unit it is away, above or below the agent.
#[test]
fn walls_above_and_below_count_up_to_one_and_a_half_times_their_distance_and_one() {
    let options = CrowdOptions {
        record_constraints: true,
        ..CrowdOptions::default()
    };
    for (run, before) in [(0.02, 0.08), (0.5, 0.5), (1.0, 1.0)] {
        let tolerance = 1.0 + 1.5 * (run + before);
        for (rise, avoided) in [(tolerance - 0.01, 1), (tolerance + 0.01, 0)] {
            for sign in [1.0, -1.0] {
                let mesh = slope(run, sign * rise);
                let mut crowd = Crowd::new(options.clone()).unwrap();
                let from = at(20.0 - before, 28.0);
                let id = crowd.add(&mesh, from, &STRAIGHT).unwrap();
                crowd.step(&mesh, 0.05).unwrap();
                let agent = crowd.agent(id).unwrap();
                let wall = agent.walls().iter().any(|w| w.a.x > 20.0 && w.b.x > 20.0);
                assert!(wall, "the wall is in reach");
                let (planes, walls) = agent.constraints();
                assert_eq!(walls, avoided, "{} up, {} away", sign * rise, run + before);
                assert!(planes.iter().all(|plane| plane.normal == -DVec2::X));
            }
        }
    }
}

/// The way is bent by a twentieth to one side; to the other where a wall on that side is nearer
/// than four radii and faces it by more than a half.
#[test]
fn the_way_is_bent_to_the_other_side_beside_a_wall() {
    // Ground from z = 16 to z = 48.
    let mesh = cells(16.0, |_, z| z == 1 || z == 2);
    let (small, large) = (AgentOptions::SMALL, AgentOptions::HUMANOID);
    let bias = small.side_preference;
    assert_eq!(bias, 0.05);
    let along = |z: f64, options: &AgentOptions| {
        let to = DVec3::new(62.0, 0.0, z);
        wanted(&mesh, at(2.0, z), to, options)
    };
    // Going along +x the preferred side is -z.
    for (options, reach) in [(&small, 1.2), (&large, 2.4)] {
        assert_near(along(30.0, options), DVec2::new(1.0, -bias));
        assert_near(along(16.0 + reach + 0.001, options), DVec2::new(1.0, -bias));
        assert_near(along(16.0 + reach - 0.001, options), DVec2::new(1.0, bias));
        // A wall on the other side changes nothing.
        assert_near(along(48.0 - 0.5, options), DVec2::new(1.0, -bias));
    }
    // The side keeps from the wall by half and less once the way leads 60 degrees away from it.
    for (sine, turned) in [(0.86, true), (0.872, false)] {
        let way = DVec2::new((1.0_f64 - sine * sine).sqrt(), sine);
        let from = at(10.0, 17.0);
        let to = from + DVec3::new(way.x, 0.0, way.y) * 20.0;
        let side = DVec2::new(way.y, -way.x) * if turned { -bias } else { bias };
        assert_near(wanted(&mesh, from, to, &small), way + side);
    }
    let none = AgentOptions {
        side_preference: 0.0,
        ..small
    };
    assert_near(along(16.5, &none), DVec2::X);
}

/// A corner is aimed at from the outside of its bend: twice the wall clearance and a hundredth
/// past it, along the difference of the ways into and out of it.
#[test]
fn a_corner_is_passed_at_twice_the_wall_clearance() {
    // An L of three squares: x to 16 at the bottom, and above its right half; the corner at (8, 8).
    let mesh = cells(8.0, |x, z| matches!((x, z), (0 | 1, 0) | (1, 1)));
    let corner = DVec2::new(8.0, 8.0);
    // 3-4-5 triangles into the corner and out of it: the bend points along (1, -1).
    let (from, to) = (at(4.0, 5.0), at(11.0, 12.0));
    for (wall_clearance, clearance) in [(0.05, 0.11), (0.2, 0.41), (0.0, 0.01)] {
        let options = AgentOptions {
            wall_clearance,
            ..STRAIGHT
        };
        let aim = corner + DVec2::new(1.0, -1.0) * (clearance / 2.0_f64.sqrt());
        let way = aim - DVec2::new(from.x, from.z);
        let expected = way / (way.x * way.x + way.y * way.y).sqrt();
        assert_near(wanted(&mesh, from, to, &options), expected);
    }
    // The end of a route is no corner,
    let end = at(8.0, 8.0);
    assert_near(wanted(&mesh, from, end, &STRAIGHT), DVec2::new(0.8, 0.6));
    // and who walks alone goes to the corner itself.
    let mut follower = PathFollower::new(FollowerOptions::HUMANOID).unwrap();
    let (filter, mut navigator) = (common::open_ways(), common::navigator(Default::default()));
    assert!(follower.place(&mesh, &filter, from).unwrap());
    follower
        .set_destination(&mesh, &filter, to, &mut navigator)
        .unwrap();
    let mut nearest = f64::INFINITY;
    for _ in 0..200 {
        follower.step(&mesh, &filter, 0.01, &mut navigator).unwrap();
        let p = follower.position();
        let off = (p.z - from.z) * 0.8 - (p.x - from.x) * 0.6;
        assert!(p.x > 8.0 || off.abs() < 1e-9, "{p} leaves the line");
        nearest = nearest.min(distance_xz(p, at(8.0, 8.0)));
    }
    assert!(nearest < 0.035, "{nearest}");
}

/// The entry of a link is no corner to be passed, however the way bends there.
#[test]
fn the_entry_of_a_link_is_aimed_at_itself() {
    let mesh = two_floors();
    let (from, entry) = (at(6.0, 12.0), at(6.0, 20.0));
    let upstairs = DVec3::new(14.0, 4.0, 20.0);
    let found = wanted(&mesh, from, upstairs, &STRAIGHT);
    let way = DVec2::new(entry.x - from.x, entry.z - from.z);
    assert!((found - way / way.y).x.abs() < 1e-5, "{found}");
}

/// Walls count as far as an agent comes in half its horizon, and its clearance; looked up are those
/// a refresh distance farther. One `d` away leaves `(d - clearance) / half horizon` of speed toward
/// it.
#[test]
fn walls_count_as_far_as_half_the_horizon_reaches() {
    let mesh = cells(64.0, |_, _| true);
    for (quality, half_horizon) in [
        (AvoidanceQuality::Low, 0.75),
        (AvoidanceQuality::Medium, 1.0),
        (AvoidanceQuality::High, 1.25),
    ] {
        for (wall_clearance, wall_refresh_distance) in [(0.05, 1.0), (0.5, 0.25)] {
            let options = AgentOptions {
                quality,
                wall_clearance,
                ..STRAIGHT
            };
            // Walls looked up, and speed left toward those that count.
            let look = |distance: f64| {
                let mut crowd = Crowd::new(CrowdOptions {
                    record_constraints: true,
                    wall_refresh_distance,
                    ..CrowdOptions::default()
                })
                .unwrap();
                let id = crowd.add(&mesh, at(32.0, distance), &options).unwrap();
                crowd.step(&mesh, 0.05).unwrap();
                let agent = crowd.agent(id).unwrap();
                let (planes, walls) = agent.constraints();
                assert_eq!(planes.len(), walls);
                let left: Vec<f64> = planes.iter().map(|plane| -plane.point.y).collect();
                assert!(planes.iter().all(|plane| plane.normal == DVec2::Y));
                (agent.walls().len(), left)
            };
            let reach = half_horizon * 2.5 + wall_clearance;
            let (found, left) = look(reach - 1e-6);
            assert!(found == 1 && (left[0] - 2.5).abs() < 1e-5, "{left:?}");
            assert_eq!(look(reach + 1e-6), (1, vec![]));
            assert_eq!(look(reach + wall_refresh_distance - 1e-6), (1, vec![]));
            assert_eq!(look(reach + wall_refresh_distance + 1e-6), (0, vec![]));
            // Nearer than the clearance: pushed off.
            let (_, left) = look(wall_clearance / 2.0);
            let push = -wall_clearance / 2.0 / half_horizon;
            assert!((left[0] - push).abs() < 1e-9, "{left:?}");
        }
    }
}

/// Walls are looked up again in the step that begins farther than the refresh distance from where
/// they were looked up.
#[test]
fn walls_are_looked_up_again_after_the_refresh_distance() {
    let mesh = cells(16.0, |_, z| z < 2);
    for wall_refresh_distance in [1.0, 0.3, 0.0] {
        let mut crowd = Crowd::new(CrowdOptions {
            wall_refresh_distance,
            ..CrowdOptions::default()
        })
        .unwrap();
        let id = send(&mesh, &mut crowd, at(4.0, 16.0), at(60.0, 16.0), &STRAIGHT);
        let mut looked_up_at = at(-100.0, 0.0);
        let mut lookups = 0;
        for _ in 0..150 {
            let position = crowd.agent(id).unwrap().position();
            let due = distance_xz(position, looked_up_at) > wall_refresh_distance;
            crowd.step(&mesh, 0.05).unwrap();
            assert_eq!(
                crowd.step_stats().wall_lookups,
                u64::from(due),
                "{position}"
            );
            if due {
                looked_up_at = position;
                lookups += 1;
            }
        }
        assert!(lookups > 10);
    }
}

/// Of the walls that count, the nearest few are avoided, nearest first.
#[test]
fn the_nearest_walls_are_avoided() {
    // The corner of a square: 0.5 from one wall, 0.7 from the other.
    let mesh = cells(64.0, |_, _| true);
    let normals = |max_walls_avoided| -> Vec<DVec2> {
        let mut crowd = Crowd::new(CrowdOptions {
            record_constraints: true,
            max_walls_avoided,
            ..CrowdOptions::default()
        })
        .unwrap();
        let id = crowd.add(&mesh, at(0.7, 0.5), &STRAIGHT).unwrap();
        crowd.step(&mesh, 0.05).unwrap();
        let (planes, walls) = crowd.agent(id).unwrap().constraints();
        assert_eq!(planes.len(), walls);
        planes.iter().map(|plane| plane.normal).collect()
    };
    assert_eq!(normals(8), [DVec2::Y, DVec2::X]);
    assert_eq!(normals(1), [DVec2::Y]);
    assert_eq!(normals(0), []);
}

/// A wall faces an agent that is beside it by more than the clearance from either end.
#[test]
fn walls_face_who_is_beside_them() {
    // Ground to x = 32, then only to z = 16: a wall along x from (32, 16) on, seen from the side.
    let mesh = cells(16.0, |x, z| x < 2 || z == 0);
    let walls = |x: f64, wall_clearance: f64| {
        let mut crowd = Crowd::new(CrowdOptions {
            record_constraints: true,
            ..CrowdOptions::default()
        })
        .unwrap();
        let options = AgentOptions {
            wall_clearance,
            ..STRAIGHT
        };
        let id = crowd.add(&mesh, at(x, 15.0), &options).unwrap();
        crowd.step(&mesh, 0.05).unwrap();
        crowd.agent(id).unwrap().constraints().1
    };
    for clearance in [0.05, 0.4] {
        assert_eq!(walls(32.0 + clearance, clearance), 0);
        assert_eq!(walls(32.0 + clearance + 1e-5, clearance), 1);
        assert_eq!(walls(31.9, clearance), 0);
    }
}

//! What no caller should pass, at every public door of `throng`: refused with the name of the
//! argument, or answered with a status, and never a panic.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

use throng::parts::query::mesh::{
    AreaSearch, RaycastStatus, closest_point_on_poly, connects, find_nearest_poly,
    find_straight_path, move_along_surface, raycast,
};
use throng::{
    AgentId, AgentOptions, AgentState, BuildError, BuildOptions, Crowd, CrowdError, CrowdOptions,
    DVec3, FollowerOptions, MeshQuery, NavMesh, NavSettings, OffMeshLinkDefinition, PathOptions,
    PathStatus, PolyRef, QueryFilter, SplitMix64, read_obj,
};
use throng_tests::floor;

const BAD: [f64; 6] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    2_097_152.0,
    -2_097_152.0,
    1e300,
];

const GOOD: DVec3 = DVec3::new(20.0, 0.0, 20.0);

/// Every position with one bad component, and the component's name.
fn bad_points() -> Vec<(&'static str, DVec3)> {
    let mut all = Vec::new();
    for bad in BAD {
        all.push(("x", DVec3::new(bad, 0.0, 20.0)));
        all.push(("y", DVec3::new(20.0, bad, 20.0)));
        all.push(("z", DVec3::new(20.0, 0.0, bad)));
    }
    all
}

#[test]
fn vertices_and_indices() {
    let settings = NavSettings::HUMANOID;
    let good = [
        DVec3::ZERO,
        DVec3::new(0.0, 0.0, 9.0),
        DVec3::new(9.0, 0.0, 0.0),
    ];
    for (name, bad) in bad_points() {
        let mut vertices = good;
        vertices[1] = bad;
        let error = NavMesh::build(&vertices, &[[0, 1, 2]], &settings).unwrap_err();
        match error {
            BuildError::Argument(error) => {
                assert_eq!(error.argument, format!("vertices[1].{name}"));
            }
            other => panic!("{other}"),
        }
    }
    for index in [3, u32::MAX] {
        let error = NavMesh::build(&good, &[[0, 1, 2], [0, index, 2]], &settings).unwrap_err();
        assert!(error.to_string().contains("triangles[1][1]"), "{error}");
    }
    // Nothing to walk on is a mesh, not an error.
    for triangles in [&[][..], &[[0, 0, 0]], &[[0, 2, 1]]] {
        let mesh = NavMesh::build(&good, triangles, &settings).unwrap();
        assert_eq!(mesh.poly_count(), 0);
        let route = mesh.find_path(GOOD, GOOD, &PathOptions::default()).unwrap();
        assert_eq!(route.status, PathStatus::StartInvalid);
        NavMesh::load(&mesh.save()).unwrap();
    }
}

#[test]
fn every_setting_of_a_build() {
    let good = NavSettings::HUMANOID;
    let mut cases: Vec<(&str, NavSettings)> = Vec::new();
    type Field = (&'static str, fn(&mut NavSettings) -> &mut f64);
    let fields: [Field; 14] = [
        ("agent_radius", |s| &mut s.agent_radius),
        ("agent_height", |s| &mut s.agent_height),
        ("walkable_climb", |s| &mut s.walkable_climb),
        ("agent_max_slope_degrees", |s| {
            &mut s.agent_max_slope_degrees
        }),
        ("cell_size", |s| &mut s.cell_size),
        ("tile_size", |s| &mut s.tile_size),
        ("cell_height", |s| &mut s.cell_height),
        ("origin_x", |s| &mut s.origin_x),
        ("origin_z", |s| &mut s.origin_z),
        ("floor_y", |s| &mut s.floor_y),
        ("contour_max_error", |s| &mut s.contour_max_error),
        ("max_edge_length", |s| &mut s.max_edge_length),
        ("detail_sample_distance", |s| &mut s.detail_sample_distance),
        ("detail_max_error", |s| &mut s.detail_max_error),
    ];
    for (name, field) in fields {
        for bad in BAD {
            let mut settings = good.clone();
            *field(&mut settings) = bad;
            cases.push((name, settings));
        }
        if !name.starts_with("origin") && name != "floor_y" {
            let mut settings = good.clone();
            *field(&mut settings) = -1.0;
            cases.push((name, settings));
        }
    }
    let mut case = |name, edit: fn(&mut NavSettings)| {
        let mut settings = good.clone();
        edit(&mut settings);
        cases.push((name, settings));
    };
    case("max_verts_per_poly", |s| s.max_verts_per_poly = 2);
    case("max_verts_per_poly", |s| s.max_verts_per_poly = 17);
    case("max_verts_per_poly", |s| s.max_verts_per_poly = i32::MIN);
    case("area", |s| s.area = 64);
    case("min_region_area", |s| s.min_region_area = -1);
    case("merge_region_area", |s| s.merge_region_area = i32::MAX);
    case("snap_bits", |s| s.snap_bits = Some(31));
    case("tile_size", |s| s.tile_size = 0.1);
    case("tile_size", |s| s.tile_size = 4096.0);
    let link = OffMeshLinkDefinition {
        start: GOOD,
        end: GOOD,
        radius: 1.0,
        bidirectional: true,
        area: 0,
        flags: 1,
        user_id: 0,
    };
    for (_, bad) in bad_points() {
        for (name, edited) in [
            (
                "off_mesh_links[0].start",
                OffMeshLinkDefinition {
                    start: bad,
                    ..link.clone()
                },
            ),
            (
                "off_mesh_links[0].end",
                OffMeshLinkDefinition {
                    end: bad,
                    ..link.clone()
                },
            ),
        ] {
            let mut settings = good.clone();
            settings.off_mesh_links = vec![edited];
            cases.push((name, settings));
        }
    }
    for (name, settings) in cases {
        let error = NavMesh::build(&[], &[], &settings).unwrap_err();
        match error {
            BuildError::Argument(error) => {
                assert!(error.argument.starts_with(name), "{name}: {error}");
                assert!(!error.allowed.is_empty());
            }
            other => panic!("{name}: {other}"),
        }
    }
    let options = BuildOptions {
        threads: 0,
        ..BuildOptions::default()
    };
    NavMesh::build_with(&[], &[], &good, &options).unwrap();
}

#[test]
fn positions_of_mesh_queries() {
    let mesh = floor();
    let filter = QueryFilter::default();
    let options = PathOptions::default();
    let mut query = MeshQuery::default();
    for (name, bad) in bad_points() {
        let named = |error: throng::ArgumentError, argument: &str| {
            assert_eq!(error.argument, format!("{argument}.{name}"));
            assert!(error.to_string().contains("2097152"), "{error}");
        };
        named(mesh.find_path(bad, GOOD, &options).unwrap_err(), "start");
        named(mesh.find_path(GOOD, bad, &options).unwrap_err(), "end");
        named(
            query.find_path(&mesh, bad, GOOD, &options).unwrap_err(),
            "start",
        );
        named(mesh.raycast(GOOD, bad, &filter).unwrap_err(), "to");
        mesh.raycast(bad, GOOD, &filter).unwrap_err();
        mesh.sample_position(bad, 1.0, &filter).unwrap_err();
        find_nearest_poly(&mesh, bad, DVec3::ONE, &filter).unwrap_err();
        let poly = mesh.poly_ref(0, 0);
        assert_eq!(closest_point_on_poly(&mesh, poly, bad), None);
        assert_ne!(
            raycast(&mesh, poly, bad, GOOD, &filter, &mut []).status,
            RaycastStatus::Ok
        );
        assert_ne!(
            raycast(&mesh, poly, GOOD, bad, &filter, &mut []).status,
            RaycastStatus::Ok
        );
        let moved = move_along_surface(&mesh, poly, GOOD, bad, &filter, &mut []);
        assert_ne!(moved.status, RaycastStatus::Ok);
    }
    for bad in [f64::NAN, f64::INFINITY, -1.0, -0.001] {
        mesh.sample_position(GOOD, bad, &filter).unwrap_err();
        let extents = PathOptions {
            half_extents: DVec3::new(1.0, bad, 1.0),
            ..PathOptions::default()
        };
        mesh.find_path(GOOD, GOOD, &extents).unwrap_err();
    }
    let none = PathOptions {
        max_corridor: 0,
        ..PathOptions::default()
    };
    assert_eq!(
        mesh.find_path(GOOD, GOOD, &none).unwrap_err().argument,
        "options.max_corridor"
    );
    let none = PathOptions {
        iterations_per_slice: 0,
        ..PathOptions::default()
    };
    let error = mesh.find_path(GOOD, GOOD, &none).unwrap_err();
    assert_eq!(error.argument, "options.iterations_per_slice");
    // Off the mesh, inside the rule: answers.
    let far = DVec3::new(2_097_151.0, 0.0, -2_097_151.0);
    let route = mesh.find_path(far, GOOD, &options).unwrap();
    assert_eq!(route.status, PathStatus::StartInvalid);
    let route = mesh.find_path(GOOD, far, &options).unwrap();
    assert_eq!(route.status, PathStatus::GoalInvalid);
    assert_eq!(mesh.sample_position(far, 1.0, &filter).unwrap(), None);
    let hit = mesh.raycast(GOOD, far, &filter).unwrap();
    assert!(hit.hit && hit.t < 1.0);
    let hit = mesh.raycast(far, GOOD, &filter).unwrap();
    assert!(hit.hit && hit.t == 0.0);
}

#[test]
fn filters() {
    for bad in [f64::NAN, 0.0, -1.0, f64::NEG_INFINITY] {
        let error = QueryFilter::default().with_area_cost(3, bad).unwrap_err();
        assert_eq!(error.argument, "cost");
    }
    let error = QueryFilter::default().with_area_cost(64, 1.0).unwrap_err();
    assert_eq!(error.argument, "area");
    // A filter that accepts nothing.
    let mesh = floor();
    let mut filter = QueryFilter::default();
    filter.exclude_flags = u16::MAX;
    let options = PathOptions {
        filter: filter.clone(),
        ..PathOptions::default()
    };
    let route = mesh.find_path(GOOD, GOOD, &options).unwrap();
    assert_eq!(route.status, PathStatus::StartInvalid);
    let mut rng = SplitMix64::new(1);
    assert_eq!(mesh.random_point(&mut rng, &filter), None);
    let mut crowd = Crowd::new(CrowdOptions {
        filter,
        ..CrowdOptions::default()
    })
    .unwrap();
    let error = crowd.add(&mesh, GOOD, &AgentOptions::HUMANOID).unwrap_err();
    assert!(matches!(error, CrowdError::OffMesh { .. }));
    assert_eq!(
        crowd.try_add(&mesh, GOOD, &AgentOptions::HUMANOID),
        Ok(None)
    );
}

#[test]
fn forged_references() {
    let mut mesh = floor();
    let stale = mesh.poly_ref(0, 0);
    let again = mesh.tile(0).unwrap().built().clone();
    mesh.replace_tile(again).unwrap();
    let mut forged = vec![
        PolyRef::INVALID,
        stale,
        PolyRef::from_bits(u64::MAX),
        PolyRef::from_parts(2, 0, 1_000_000),
        PolyRef::from_parts(2, 7, 0),
        PolyRef::from_parts(0, 0, 0),
    ];
    let mut rng = SplitMix64::new(9);
    forged.extend((0..200).map(|_| PolyRef::from_bits(rng.next_u64())));
    let filter = QueryFilter::default();
    let good = mesh.poly_ref(0, 0);
    let mut query = MeshQuery::default();
    let mut area = AreaSearch::new(256);
    let mut polys = [PolyRef::INVALID; 8];
    for poly in forged {
        assert!(mesh.resolve(poly).is_none());
        assert_eq!(closest_point_on_poly(&mesh, poly, GOOD), None);
        assert!(!connects(&mesh, poly, good, &filter) && !connects(&mesh, good, poly, &filter));
        let hit = raycast(&mesh, poly, GOOD, DVec3::ZERO, &filter, &mut polys);
        assert_eq!(hit.status, RaycastStatus::InvalidStartPoly);
        let moved = move_along_surface(&mesh, poly, GOOD, DVec3::ZERO, &filter, &mut polys);
        assert_eq!(
            (moved.status, moved.point),
            (RaycastStatus::InvalidStartPoly, GOOD)
        );
        let search = &mut query.search;
        let begun = search
            .begin(&mesh, poly, good, GOOD, GOOD, &filter)
            .unwrap();
        assert_eq!(begun, throng::QueryStatus::InvalidStartPoly);
        let begun = search
            .begin(&mesh, good, poly, GOOD, GOOD, &filter)
            .unwrap();
        assert_eq!(begun, throng::QueryStatus::InvalidEndPoly);
        let found = area.find_polys_in_circle(
            &mesh,
            poly,
            GOOD,
            5.0,
            &filter,
            &mut polys,
            &mut [],
            &mut [],
        );
        assert_eq!(found.unwrap().count, 0);
        let walls = area.distance_to_wall(&mesh, poly, GOOD, 5.0, &filter);
        assert!(walls.is_ok());
        let mut points = [throng::StraightPathPoint::default(); 4];
        let corridor = [good, poly];
        let straight = find_straight_path(
            &mesh,
            GOOD,
            GOOD,
            &corridor,
            &mut query.funnel,
            &mut points,
            usize::MAX,
        );
        assert_eq!(straight.status, throng::QueryStatus::InvalidCorridor);
        assert!(mesh.set_poly_area(poly, 1).is_err() && mesh.set_poly_flags(poly, 1).is_err());
    }
}

#[test]
fn positions_and_times_of_a_crowd() {
    let mesh = floor();
    let mut crowd = Crowd::new(CrowdOptions::default()).unwrap();
    let agent = crowd.add(&mesh, GOOD, &AgentOptions::HUMANOID).unwrap();
    let before = crowd.save_state(&mesh);
    let argument = |error: CrowdError| match error {
        CrowdError::Argument(error) => error.argument,
        other => panic!("{other}"),
    };
    for (name, bad) in bad_points() {
        let options = AgentOptions::HUMANOID;
        assert_eq!(
            argument(crowd.add(&mesh, bad, &options).unwrap_err()),
            format!("position.{name}")
        );
        crowd.try_add(&mesh, bad, &options).unwrap_err();
        let error = crowd.set_destination(&mesh, agent, bad).unwrap_err();
        assert_eq!(argument(error), format!("destination.{name}"));
        let error = crowd.teleport(&mesh, agent, bad).unwrap_err();
        assert_eq!(argument(error), format!("position.{name}"));
    }
    for bad in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(crowd.step(&mesh, bad).unwrap_err().argument, "dt");
        crowd
            .step_observed(&mesh, bad, |_| panic!("a stage ran"))
            .unwrap_err();
    }
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 2e6] {
        assert_eq!(
            argument(crowd.set_priority(agent, bad).unwrap_err()),
            "priority"
        );
    }
    let far = DVec3::new(-900.0, 0.0, 20.0);
    assert_eq!(crowd.teleport(&mesh, agent, far), Ok(false));
    assert_eq!(crowd.save_state(&mesh), before);
    // Tiny and huge steps are steps.
    crowd
        .set_destination(&mesh, agent, DVec3::new(3.0, 0.0, 3.0))
        .unwrap();
    for dt in [f64::MIN_POSITIVE, 1e-300, 1e-9, 1e9, f64::MAX] {
        crowd.step(&mesh, dt).unwrap();
        let position = crowd.columns().position[0];
        assert!(position.is_finite(), "dt {dt:e}: {position}");
        let velocity = crowd.columns().velocity[0];
        println!("dt {dt:e}: at {position}, velocity {velocity}");
        let saved = crowd.save_state(&mesh);
        crowd
            .restore_state(&mesh, &saved)
            .unwrap_or_else(|e| panic!("after dt {dt:e}: {e}"));
    }
    // A destination off the mesh is a status.
    assert_eq!(
        crowd.set_destination(&mesh, agent, far),
        Ok(PathStatus::GoalInvalid)
    );
    assert_eq!(crowd.agent(agent).unwrap().state(), AgentState::NoPath);
}

#[test]
fn every_option_of_an_agent_and_a_crowd() {
    let mesh = floor();
    let mut crowd = Crowd::new(CrowdOptions::default()).unwrap();
    let agent = crowd.add(&mesh, GOOD, &AgentOptions::HUMANOID).unwrap();
    let before = crowd.save_state(&mesh);
    type Field = (&'static str, fn(&mut AgentOptions) -> &mut f64);
    let fields: [Field; 9] = [
        ("radius", |o| &mut o.radius),
        ("max_speed", |o| &mut o.max_speed),
        ("max_acceleration", |o| &mut o.max_acceleration),
        ("arrival_radius", |o| &mut o.arrival_radius),
        ("priority", |o| &mut o.priority),
        ("wall_clearance", |o| &mut o.wall_clearance),
        ("separation_distance", |o| &mut o.separation_distance),
        ("separation_weight", |o| &mut o.separation_weight),
        ("side_preference", |o| &mut o.side_preference),
    ];
    let mut cases: Vec<(String, AgentOptions)> = Vec::new();
    for (name, field) in fields {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 1e9] {
            let mut options = AgentOptions::HUMANOID;
            *field(&mut options) = bad;
            cases.push((name.to_owned(), options));
        }
    }
    for (name, field) in &fields[..3] {
        let mut options = AgentOptions::HUMANOID;
        *field(&mut options) = 0.0;
        cases.push(((*name).to_owned(), options));
    }
    type PathField = (&'static str, fn(&mut FollowerOptions) -> &mut f64);
    let path_fields: [PathField; 14] = [
        ("max_speed", |o| &mut o.max_speed),
        ("max_acceleration", |o| &mut o.max_acceleration),
        ("slow_radius", |o| &mut o.slow_radius),
        ("arrival_min_speed", |o| &mut o.arrival_min_speed),
        ("arrival_radius", |o| &mut o.arrival_radius),
        ("optimize_range", |o| &mut o.optimize_range),
        ("stuck_window", |o| &mut o.stuck_window),
        ("stuck_progress", |o| &mut o.stuck_progress),
        ("off_mesh_speed", |o| &mut o.off_mesh_speed),
        ("off_mesh_trigger_radius", |o| {
            &mut o.off_mesh_trigger_radius
        }),
        ("search_extents.x", |o| &mut o.search_extents.x),
        ("search_extents.y", |o| &mut o.search_extents.y),
        ("search_extents.z", |o| &mut o.search_extents.z),
        ("corner_clearance", |o| &mut o.corner_clearance),
    ];
    for (name, field) in path_fields {
        for bad in [f64::NAN, f64::INFINITY, -1.0, 1e9] {
            let mut path = FollowerOptions::HUMANOID;
            *field(&mut path) = bad;
            let options = AgentOptions {
                path: Some(path),
                ..AgentOptions::HUMANOID
            };
            cases.push((format!("path.{name}"), options));
        }
    }
    type PathCount = (&'static str, fn(&mut FollowerOptions) -> &mut i32);
    let path_counts: [PathCount; 11] = [
        ("max_corners", |o| &mut o.max_corners),
        ("validate_look_ahead", |o| &mut o.validate_look_ahead),
        ("optimize_interval", |o| &mut o.optimize_interval),
        ("optimize_budget", |o| &mut o.optimize_budget),
        ("topology_interval", |o| &mut o.topology_interval),
        ("topology_budget", |o| &mut o.topology_budget),
        ("replan_budget", |o| &mut o.replan_budget),
        ("max_replan_rounds", |o| &mut o.max_replan_rounds),
        ("max_stuck_recoveries", |o| &mut o.max_stuck_recoveries),
        ("corridor_capacity", |o| &mut o.corridor_capacity),
        ("refine_budget", |o| &mut o.refine_budget),
    ];
    for (name, field) in path_counts {
        for bad in [-1, i32::MIN] {
            let mut path = FollowerOptions::HUMANOID;
            *field(&mut path) = bad;
            let options = AgentOptions {
                path: Some(path),
                ..AgentOptions::HUMANOID
            };
            cases.push((format!("path.{name}"), options));
        }
    }
    for (name, options) in cases {
        for error in [
            crowd.add(&mesh, GOOD, &options).unwrap_err(),
            crowd.set_options(agent, &options).unwrap_err(),
        ] {
            match error {
                CrowdError::Argument(error) => assert_eq!(error.argument, name),
                other => panic!("{name}: {other}"),
            }
        }
    }
    assert_eq!(crowd.save_state(&mesh), before);

    let mut crowds: Vec<(&str, CrowdOptions)> = Vec::new();
    let mut case = |name, edit: fn(&mut CrowdOptions)| {
        let mut options = CrowdOptions::default();
        edit(&mut options);
        crowds.push((name, options));
    };
    case("max_agents", |o| o.max_agents = 0);
    case("max_agents", |o| o.max_agents = 65_537);
    case("threads", |o| o.threads = 0);
    case("threads", |o| o.threads = 257);
    case("query_nodes", |o| o.query_nodes = 63);
    case("query_nodes", |o| o.query_nodes = u32::MAX);
    case("max_walls_per_agent", |o| o.max_walls_per_agent = 0);
    case("max_walls_per_agent", |o| o.max_walls_per_agent = 1025);
    case("max_walls_avoided", |o| o.max_walls_avoided = 65);
    case("wall_refresh_distance", |o| {
        o.wall_refresh_distance = f64::NAN
    });
    case("wall_refresh_distance", |o| o.wall_refresh_distance = -1.0);
    for (name, options) in crowds {
        assert_eq!(Crowd::new(options).unwrap_err().argument, name);
    }
}

#[test]
fn stale_and_forged_agents() {
    let mesh = floor();
    let mut crowd = Crowd::new(CrowdOptions::default()).unwrap();
    let first = crowd.add(&mesh, GOOD, &AgentOptions::HUMANOID).unwrap();
    assert!(crowd.remove(first) && !crowd.remove(first));
    let second = crowd.add(&mesh, GOOD, &AgentOptions::HUMANOID).unwrap();
    assert_eq!((second.slot, second.id), (first.slot, first.id + 1));
    let before = crowd.save_state(&mesh);
    for id in [
        first,
        AgentId { slot: 1, id: 1 },
        AgentId {
            slot: u32::MAX,
            id: 1,
        },
        AgentId {
            slot: 0,
            id: u64::MAX,
        },
    ] {
        assert!(crowd.agent(id).is_none() && !crowd.remove(id));
        let stale = CrowdError::Stale { id };
        assert_eq!(crowd.set_destination(&mesh, id, GOOD), Err(stale.clone()));
        assert_eq!(crowd.teleport(&mesh, id, GOOD), Err(stale.clone()));
        assert_eq!(
            crowd.set_options(id, &AgentOptions::SMALL),
            Err(stale.clone())
        );
        assert_eq!(crowd.set_priority(id, 1.0), Err(stale.clone()));
        assert_eq!(crowd.complete_off_mesh_link(&mesh, id), Err(stale));
    }
    assert_eq!(crowd.find(first.id), None);
    assert_eq!(crowd.find(second.id), Some(second));
    assert_eq!(crowd.save_state(&mesh), before);
}

#[test]
fn a_crowd_outlives_its_mesh() {
    // Steps over an empty mesh, another mesh, and a mesh whose tiles were replaced.
    let mesh = floor();
    let empty = NavMesh::build(&[], &[], &NavSettings::HUMANOID).unwrap();
    let small = NavMesh::build(
        &[
            DVec3::ZERO,
            DVec3::new(0.0, 0.0, 9.0),
            DVec3::new(9.0, 0.0, 0.0),
        ],
        &[[0, 1, 2]],
        &NavSettings::SMALL,
    )
    .unwrap();
    let mut crowd = Crowd::new(CrowdOptions::default()).unwrap();
    for i in 0..10 {
        let x = 3.0 + 3.0 * f64::from(i);
        let id = crowd
            .add(&mesh, DVec3::new(x, 0.0, 5.0), &AgentOptions::HUMANOID)
            .unwrap();
        crowd
            .set_destination(&mesh, id, DVec3::new(x, 0.0, 35.0))
            .unwrap();
    }
    for other in [&mesh, &empty, &mesh, &small, &mesh] {
        for _ in 0..5 {
            crowd.step(other, 0.05).unwrap();
            assert!(crowd.columns().position.iter().all(|p| p.is_finite()));
        }
        let saved = crowd.save_state(other);
        crowd.restore_state(other, &saved).unwrap();
    }
}

#[test]
fn texts_and_bytes_that_are_nothing() {
    for bytes in [
        &b""[..],
        b"\0\0\0\0",
        b"ONNM",
        b"ONPM\x02\0\0\0",
        &[255; 300],
    ] {
        assert!(NavMesh::load(bytes).is_err());
        assert!(NavMesh::load_with(bytes, &NavSettings::HUMANOID).is_err());
        let mesh = floor();
        let mut crowd = Crowd::new(CrowdOptions::default()).unwrap();
        assert!(crowd.restore_state(&mesh, bytes).is_err());
    }
    assert!(read_obj(b"v 0 0 nan\n").is_err());
    assert!(read_obj(b"v 0 0 0\nf 1 2 3\n").is_err());
}

#[test]
fn the_limit_of_agents() {
    let mesh = floor();
    let mut crowd = Crowd::new(CrowdOptions {
        max_agents: 3,
        ..CrowdOptions::default()
    })
    .unwrap();
    let ids = [0, 1, 2].map(|_| crowd.add(&mesh, GOOD, &AgentOptions::HUMANOID).unwrap());
    let full = CrowdError::Full { max_agents: 3 };
    assert_eq!(crowd.add(&mesh, GOOD, &AgentOptions::HUMANOID), Err(full));
    assert_eq!(
        crowd.try_add(&mesh, GOOD, &AgentOptions::HUMANOID),
        Ok(None)
    );
    crowd.remove(ids[1]);
    assert_eq!(
        crowd
            .add(&mesh, GOOD, &AgentOptions::HUMANOID)
            .unwrap()
            .slot,
        1
    );
}

/// Agents of tiny reach, so that a step of all of them stays cheap.
#[test]
fn sixty_five_thousand_agents_fit() {
    let mesh = floor();
    let mut crowd = Crowd::new(CrowdOptions {
        max_walls_per_agent: 1,
        threads: 2,
        ..CrowdOptions::default()
    })
    .unwrap();
    let options = AgentOptions {
        radius: 0.05,
        quality: throng::AvoidanceQuality::Off,
        ..AgentOptions::HUMANOID
    };
    for i in 0..throng::MAX_AGENTS {
        let (x, z) = (f64::from(i % 256) * 0.14, f64::from(i / 256) * 0.14);
        crowd
            .add(&mesh, DVec3::new(2.0 + x, 0.0, 2.0 + z), &options)
            .unwrap();
    }
    assert_eq!(crowd.len(), 65_536);
    let error = crowd.add(&mesh, GOOD, &options).unwrap_err();
    assert_eq!(error, CrowdError::Full { max_agents: 65_536 });
    crowd.step(&mesh, 0.05).unwrap();
    let saved = crowd.save_state(&mesh);
    crowd.restore_state(&mesh, &saved).unwrap();
    assert_eq!(crowd.save_state(&mesh), saved);
}

//! Numbers that are promised: those of the outcome enums, how outcomes of the parts map to those of the
//! whole, what positions off the mesh are answered with, and the values of the presets.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use throng::{
    AgentOptions, AreaStatus, AvoidanceQuality, Crowd, CrowdError, CrowdOptions, DVec3,
    FollowerOptions, MAX_AGENTS, NavSettings, OffMeshMode, PartitionType, PathOptions, PathStatus,
    QueryFilter, QueryStatus, RaycastStatus,
};
use throng_tests::floor;

#[test]
fn outcomes_have_their_numbers() {
    use {AreaStatus as A, PathStatus as P, QueryStatus as Q, RaycastStatus as R};
    let paths = [
        P::None,
        P::Found,
        P::StartInvalid,
        P::GoalInvalid,
        P::NoPath,
        P::BudgetExhausted,
        P::Partial,
        P::InProgress,
    ];
    assert_eq!(paths.map(|p| p as u8), [0, 1, 2, 3, 4, 5, 6, 7]);
    let with_path: Vec<P> = paths.into_iter().filter(|p| p.has_path()).collect();
    assert_eq!(with_path, [P::Found, P::Partial]);
    let areas = [
        A::None,
        A::Success,
        A::InProgress,
        A::InvalidStartPoly,
        A::InvalidShape,
    ];
    assert_eq!(areas.map(|a| a as u8), [0, 1, 2, 3, 4]);
    let rays = [R::None, R::Ok, R::InvalidStartPoly, R::StartOutsidePolygon];
    assert_eq!(rays.map(|r| r as u8), [0, 1, 2, 3]);
    let queries = [
        (Q::None, 0, P::None),
        (Q::Success, 1, P::Found),
        (Q::Partial, 2, P::Partial),
        (Q::InProgress, 3, P::InProgress),
        (Q::InvalidStartPoly, 4, P::StartInvalid),
        (Q::InvalidEndPoly, 5, P::GoalInvalid),
        (Q::NoStartNearby, 6, P::StartInvalid),
        (Q::NoEndNearby, 7, P::GoalInvalid),
        (Q::InvalidCorridor, 8, P::NoPath),
    ];
    for (query, number, path) in queries {
        assert_eq!((query as u8, query.to_path_status()), (number, path));
    }
    assert_eq!(
        (P::default(), A::default(), R::default(), Q::default()),
        (P::None, A::None, R::None, Q::None)
    );
}

#[test]
fn a_position_off_the_mesh_is_an_outcome() {
    let mesh = floor();
    let (on, off) = (DVec3::new(20.0, 0.0, 20.0), DVec3::new(500.0, 0.0, 20.0));
    let status = |from, to| mesh.find_path(from, to, &PathOptions::default()).unwrap();
    for (from, to, expected) in [
        (off, on, PathStatus::StartInvalid),
        (on, off, PathStatus::GoalInvalid),
    ] {
        let route = status(from, to);
        assert_eq!(route.status, expected);
        assert_eq!((route.length, route.cost), (0.0, f64::INFINITY));
        assert!(route.points.is_empty() && route.corridor.is_empty());
    }
    let all = QueryFilter::default();
    assert_eq!(mesh.sample_position(off, 5.0, &all).unwrap(), None);
    let ray = mesh.raycast_hit(off, on, &all).unwrap();
    assert!(ray.blocked && ray.position == off);

    let mut crowd = Crowd::new(CrowdOptions {
        max_agents: 1,
        ..CrowdOptions::default()
    })
    .unwrap();
    let refused = crowd.add(&mesh, off, &AgentOptions::HUMANOID);
    assert!(matches!(refused, Err(CrowdError::OffMesh { .. })));
    let id = crowd.add(&mesh, on, &AgentOptions::HUMANOID).unwrap();
    let refused = crowd.add(&mesh, on, &AgentOptions::HUMANOID);
    assert!(matches!(refused, Err(CrowdError::Full { max_agents: 1 })));
    let sent = crowd.set_destination(&mesh, id, off).unwrap();
    assert_eq!(sent, PathStatus::GoalInvalid);
    let before = crowd.save_state(&mesh);
    assert!(!crowd.teleport(&mesh, id, off).unwrap());
    assert_eq!(crowd.save_state(&mesh), before);
    let wrong = crowd.add(&mesh, DVec3::splat(f64::NAN), &AgentOptions::HUMANOID);
    assert!(matches!(wrong, Err(CrowdError::Argument(_))));
}

#[test]
fn settings_of_a_humanoid() {
    let settings = NavSettings::HUMANOID;
    let sizes = [
        settings.agent_radius,
        settings.agent_height,
        settings.walkable_climb,
        settings.agent_max_slope_degrees,
        settings.cell_size,
        settings.cell_height,
        settings.tile_size,
        settings.max_edge_length,
        settings.contour_max_error,
        settings.detail_sample_distance,
        settings.detail_max_error,
    ];
    let stated = [0.6, 2.0, 0.9, 45.0, 0.3, 0.2, 64.0, 3.6, 1.3, 1.8, 0.2];
    assert_eq!(sizes, stated);
    assert_eq!(
        (settings.min_region_area, settings.merge_region_area),
        (64, 400)
    );
    assert_eq!(settings.max_verts_per_poly, 6);
    assert_eq!(settings.partition, PartitionType::Watershed);
}

#[test]
fn a_lone_follower() {
    let stated = FollowerOptions {
        max_speed: 3.5,
        max_acceleration: 8.0,
        slow_radius: 1.0,
        arrival_min_speed: 0.25,
        arrival_radius: 0.01,
        max_corners: 8,
        validate_look_ahead: 8,
        optimize_interval: 4,
        optimize_range: 10.0,
        optimize_budget: 16,
        topology_interval: 16,
        topology_budget: 32,
        replan_budget: 2048,
        max_replan_rounds: 16,
        stuck_window: 1.0,
        stuck_progress: 0.1,
        max_stuck_recoveries: 2,
        off_mesh_mode: OffMeshMode::Automatic,
        off_mesh_speed: 3.5,
        off_mesh_trigger_radius: 0.05,
        search_extents: DVec3::new(2.0, 4.0, 2.0),
        corridor_capacity: 256,
        refine_budget: 128,
        corner_clearance: 0.0,
    };
    assert_eq!(FollowerOptions::HUMANOID, stated);
    let small = FollowerOptions {
        max_speed: 2.5,
        max_acceleration: 6.0,
        slow_radius: 0.5,
        off_mesh_speed: 2.5,
        ..stated
    };
    assert_eq!(FollowerOptions::SMALL, small);
}

#[test]
fn agents_and_crowds() {
    let humanoid = AgentOptions {
        radius: 0.6,
        max_speed: 3.5,
        max_acceleration: 8.0,
        arrival_radius: 0.25,
        priority: 1.0,
        quality: AvoidanceQuality::Medium,
        wall_clearance: 0.05,
        separation_distance: 0.0,
        separation_weight: 0.3,
        side_preference: 0.05,
        path: None,
    };
    assert_eq!(AgentOptions::HUMANOID, humanoid);
    let small = AgentOptions {
        radius: 0.3,
        max_speed: 2.5,
        max_acceleration: 6.0,
        arrival_radius: 0.3,
        ..humanoid
    };
    assert_eq!(AgentOptions::SMALL, small);
    let large = AgentOptions {
        radius: 1.5,
        max_speed: 3.0,
        max_acceleration: 5.0,
        arrival_radius: 0.6,
        ..humanoid
    };
    assert_eq!(AgentOptions::LARGE, large);

    // What an agent follows its route with.
    let follower = FollowerOptions {
        arrival_radius: 0.25,
        off_mesh_trigger_radius: 1.2,
        corridor_capacity: 64,
        stuck_window: 0.0,
        ..FollowerOptions::HUMANOID
    };
    assert_eq!(humanoid.to_follower_options(), follower);

    let qualities = [
        AvoidanceQuality::Low,
        AvoidanceQuality::Medium,
        AvoidanceQuality::High,
    ]
    .map(|q| (q.max_neighbors(), q.time_horizon()));
    assert_eq!(qualities, [(4, 1.5), (8, 2.0), (12, 2.5)]);
    let crowd = CrowdOptions::default();
    assert_eq!((crowd.max_agents, MAX_AGENTS), (65_536, 65_536));
    assert_eq!((crowd.threads, crowd.query_nodes), (1, 16_384));
    assert_eq!(
        (crowd.max_walls_per_agent, crowd.max_walls_avoided),
        (48, 8)
    );
    assert_eq!(crowd.wall_refresh_distance, 1.0);
    assert!(!crowd.record_constraints);
}

//! A crowd's calls: slots and ids, settings, teleports, refusals.
#![allow(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod common;

use common::{at, crowd, field, floor, hosted, place, send, two_floors};
use throng_sim::crowd::{AgentId, AgentOptions, Crowd, CrowdError, CrowdOptions, MAX_AGENTS};
use throng_sim::follower::FollowerOptions;
use throng_soa::agents::AgentState;
use throng_soa::rng::SplitMix64;
use throng_soa::world::{DVec3, distance_xz};

const SMALL: AgentOptions = AgentOptions::SMALL;

#[test]
fn recording_constraints_changes_nothing() {
    let mesh = field(7, 60.0, 18, 1.0);
    let run = |record_constraints| {
        let options = CrowdOptions {
            record_constraints,
            query_nodes: 4096,
            ..CrowdOptions::default()
        };
        let mut crowd = Crowd::new(options).unwrap();
        let mut rng = SplitMix64::new(4);
        for _ in 0..80 {
            let (from, to) = (place(&mesh, &mut rng).1, place(&mesh, &mut rng).1);
            let id = crowd.add(&mesh, from, &SMALL).unwrap();
            crowd.set_destination(&mesh, id, to).unwrap();
        }
        for _ in 0..60 {
            crowd.step(&mesh, 0.05).unwrap();
        }
        let planes: usize = crowd.agents().map(|a| a.constraints().0.len()).sum();
        (crowd.state_hash(&mesh), planes)
    };
    let (with, without) = (run(true), run(false));
    assert_eq!(with.0, without.0);
    assert!(with.1 > 50 && without.1 == 0);
}

#[test]
fn a_crowd_without_agents_steps() {
    let mesh = floor(20.0);
    let mut crowd = crowd(2);
    for _ in 0..3 {
        crowd.step(&mesh, 0.1).unwrap();
    }
    assert!(crowd.is_empty() && crowd.step_count() == 3);
    let id = crowd.add(&mesh, at(5.0, 5.0), &SMALL).unwrap();
    crowd.remove(id);
    crowd.step(&mesh, 0.1).unwrap();
    assert_eq!((crowd.len(), crowd.slot_count()), (0, 1));
}

#[test]
fn slots_are_reused_lowest_first_and_ids_never() {
    let mesh = floor(20.0);
    let mut crowd = crowd(1);
    let ids: Vec<AgentId> = (0..5)
        .map(|i| {
            crowd
                .add(&mesh, at(3.0 + 2.0 * f64::from(i), 5.0), &SMALL)
                .unwrap()
        })
        .collect();
    for &i in &[3, 1] {
        assert!(crowd.remove(ids[i]));
        assert!(!crowd.remove(ids[i]), "twice");
    }
    let a = crowd.add(&mesh, at(4.0, 9.0), &SMALL).unwrap();
    let b = crowd.add(&mesh, at(6.0, 9.0), &SMALL).unwrap();
    let c = crowd.add(&mesh, at(8.0, 9.0), &SMALL).unwrap();
    let slots = [a, b, c].map(|id| (id.slot, id.id));
    assert_eq!(slots, [(1, 5), (3, 6), (5, 7)]);
    // The slot lives, its former agent does not.
    assert!(crowd.agent(ids[1]).is_none());
    let stale = ids[1];
    assert!(matches!(
        crowd.set_destination(&mesh, stale, at(5.0, 5.0)),
        Err(CrowdError::Stale { id }) if id == stale
    ));
    assert!(matches!(
        crowd.teleport(&mesh, stale, at(5.0, 5.0)),
        Err(CrowdError::Stale { .. })
    ));
    assert!(matches!(
        crowd.set_options(stale, &SMALL),
        Err(CrowdError::Stale { .. })
    ));
    assert!(matches!(
        crowd.set_priority(stale, 2.0),
        Err(CrowdError::Stale { .. })
    ));
    assert!(matches!(
        crowd.complete_off_mesh_link(&mesh, stale),
        Err(CrowdError::Stale { .. })
    ));
    let far = AgentId { slot: 900, id: 0 };
    assert!(crowd.agent(far).is_none() && !crowd.remove(far));
    assert_eq!(crowd.find(6), Some(b));
    assert_eq!(crowd.find(1), None);
    let order: Vec<u64> = crowd.agents().map(|agent| agent.id().id).collect();
    assert_eq!(order, [0, 5, 2, 6, 4, 7]);
    let columns = crowd.columns();
    assert_eq!(columns.id[3], 6);
    assert!(columns.active.iter().all(|&active| active));
}

#[test]
fn a_full_crowd_refuses() {
    let mesh = floor(20.0);
    let options = CrowdOptions {
        max_agents: 3,
        query_nodes: 256,
        ..CrowdOptions::default()
    };
    let mut crowd = Crowd::new(options).unwrap();
    let ids = [2.0, 4.0, 6.0].map(|x| crowd.add(&mesh, at(x, 5.0), &SMALL).unwrap());
    let before = crowd.state_hash(&mesh);
    assert!(matches!(
        crowd.add(&mesh, at(8.0, 5.0), &SMALL),
        Err(CrowdError::Full { max_agents: 3 })
    ));
    assert_eq!(crowd.try_add(&mesh, at(8.0, 5.0), &SMALL), Ok(None));
    assert_eq!(crowd.state_hash(&mesh), before);
    crowd.remove(ids[1]);
    assert_eq!(crowd.add(&mesh, at(8.0, 5.0), &SMALL).unwrap().slot, 1);
    // Off the mesh is another refusal.
    crowd.remove(ids[0]);
    assert!(matches!(
        crowd.add(&mesh, at(800.0, 5.0), &SMALL),
        Err(CrowdError::OffMesh { .. })
    ));
    assert_eq!(crowd.try_add(&mesh, at(800.0, 5.0), &SMALL), Ok(None));
}

/// Run with `cargo test -p throng-sim --release --test crowd_calls -- --ignored full`.
#[test]
#[ignore = "65,536 agents"]
fn a_crowd_is_full_at_65536() {
    let mesh = floor(300.0);
    let mut crowd = Crowd::new(CrowdOptions::default()).unwrap();
    for i in 0..MAX_AGENTS {
        let (x, z) = (2.0 + f64::from(i % 256), 2.0 + f64::from(i / 256));
        crowd.add(&mesh, at(x, z), &SMALL).unwrap();
    }
    assert!(matches!(
        crowd.add(&mesh, at(5.0, 5.0), &SMALL),
        Err(CrowdError::Full {
            max_agents: MAX_AGENTS
        })
    ));
    crowd.step(&mesh, 0.05).unwrap();
    let bytes = crowd.save_state(&mesh);
    let mut other = Crowd::new(CrowdOptions::default()).unwrap();
    other.restore_state(&mesh, &bytes).unwrap();
    assert_eq!(other.state_hash(&mesh), crowd.state_hash(&mesh));
}

#[test]
fn misuse_is_refused_and_changes_nothing() {
    let mesh = floor(20.0);
    let mut crowd = crowd(1);
    let id = crowd.add(&mesh, at(5.0, 5.0), &SMALL).unwrap();
    crowd.set_destination(&mesh, id, at(15.0, 15.0)).unwrap();
    let before = crowd.save_state(&mesh);
    for dt in [0.0, -0.05, f64::NAN, f64::INFINITY] {
        assert_eq!(crowd.step(&mesh, dt).unwrap_err().argument, "dt");
    }
    let named = |error: CrowdError| match error {
        CrowdError::Argument(error) => error.argument,
        other => panic!("{other}"),
    };
    for bad in [f64::NAN, f64::NEG_INFINITY, 2_097_152.0, -2_097_152.0] {
        let p = DVec3::new(1.0, bad, 1.0);
        assert!(named(crowd.add(&mesh, p, &SMALL).unwrap_err()).starts_with("position"));
        assert!(crowd.try_add(&mesh, p, &SMALL).is_err());
        assert!(named(crowd.set_destination(&mesh, id, p).unwrap_err()).starts_with("destination"));
        assert!(named(crowd.teleport(&mesh, id, p).unwrap_err()).starts_with("position"));
        assert_eq!(named(crowd.set_priority(id, bad).unwrap_err()), "priority");
    }
    for (options, field) in [
        (
            AgentOptions {
                radius: 0.0,
                ..SMALL
            },
            "radius",
        ),
        (
            AgentOptions {
                max_speed: f64::NAN,
                ..SMALL
            },
            "max_speed",
        ),
        (
            AgentOptions {
                priority: 0.0,
                ..SMALL
            },
            "priority",
        ),
        (
            AgentOptions {
                side_preference: 1.1,
                ..SMALL
            },
            "side_preference",
        ),
        (
            AgentOptions {
                separation_distance: -1.0,
                ..SMALL
            },
            "separation_distance",
        ),
    ] {
        assert_eq!(
            named(crowd.add(&mesh, at(5.0, 9.0), &options).unwrap_err()),
            field
        );
        assert_eq!(named(crowd.set_options(id, &options).unwrap_err()), field);
    }
    let wider = FollowerOptions {
        corridor_capacity: 65,
        stuck_window: 0.0,
        ..FollowerOptions::HUMANOID
    };
    let wider = AgentOptions {
        path: Some(wider),
        ..SMALL
    };
    assert_eq!(
        named(crowd.set_options(id, &wider).unwrap_err()),
        "path.corridor_capacity"
    );
    assert!(!crowd.teleport(&mesh, id, at(900.0, 0.0)).unwrap());
    assert_eq!(crowd.save_state(&mesh), before);
    for (options, field) in [
        (
            CrowdOptions {
                max_agents: 0,
                ..CrowdOptions::default()
            },
            "max_agents",
        ),
        (
            CrowdOptions {
                max_agents: MAX_AGENTS + 1,
                ..CrowdOptions::default()
            },
            "max_agents",
        ),
        (
            CrowdOptions {
                threads: 0,
                ..CrowdOptions::default()
            },
            "threads",
        ),
        (
            CrowdOptions {
                wall_refresh_distance: -1.0,
                ..CrowdOptions::default()
            },
            "wall_refresh_distance",
        ),
    ] {
        assert_eq!(Crowd::new(options).unwrap_err().argument, field);
    }
}

#[test]
fn a_priority_set_later_counts_like_one_set_before() {
    let mesh = floor(40.0);
    let run = |set: bool| {
        let mut crowd = crowd(1);
        let options = AgentOptions {
            priority: if set { 1.0 } else { 7.0 },
            ..SMALL
        };
        let a = send(&mesh, &mut crowd, at(8.0, 20.0), at(32.0, 20.0), &options);
        send(&mesh, &mut crowd, at(32.0, 20.0), at(8.0, 20.0), &SMALL);
        if set {
            crowd.set_priority(a, 7.0).unwrap();
            assert_eq!(crowd.agent(a).unwrap().priority(), 7.0);
        }
        for _ in 0..150 {
            crowd.step(&mesh, 0.05).unwrap();
        }
        crowd.agent(a).unwrap().position()
    };
    assert_eq!(run(true), run(false));
}

#[test]
fn settings_change_in_place() {
    let mesh = floor(60.0);
    let mut crowd = crowd(1);
    let id = send(&mesh, &mut crowd, at(5.0, 5.0), at(55.0, 55.0), &SMALL);
    for _ in 0..60 {
        crowd.step(&mesh, 0.05).unwrap();
    }
    let before = (
        crowd.agent(id).unwrap().position(),
        crowd.agent(id).unwrap().velocity(),
        crowd.agent(id).unwrap().corridor().to_vec(),
    );
    let fast = AgentOptions {
        max_speed: 6.0,
        priority: 4.0,
        ..SMALL
    };
    crowd.set_options(id, &fast).unwrap();
    let agent = crowd.agent(id).unwrap();
    assert_eq!(
        before,
        (
            agent.position(),
            agent.velocity(),
            agent.corridor().to_vec()
        )
    );
    assert_eq!((agent.priority(), agent.options().max_speed), (4.0, 6.0));
    for _ in 0..40 {
        crowd.step(&mesh, 0.05).unwrap();
    }
    let speed = distance_xz(crowd.agent(id).unwrap().velocity(), DVec3::ZERO);
    assert!((speed - 6.0).abs() < 1e-6, "{speed}");
}

#[test]
fn a_teleported_agent_stands_where_it_was_put() {
    let mesh = floor(60.0);
    let mut crowd = crowd(1);
    let id = send(&mesh, &mut crowd, at(5.0, 5.0), at(55.0, 55.0), &SMALL);
    for _ in 0..60 {
        crowd.step(&mesh, 0.05).unwrap();
    }
    assert!(crowd.teleport(&mesh, id, at(30.0, 10.0)).unwrap());
    let agent = crowd.agent(id).unwrap();
    assert_eq!(agent.position(), at(30.0, 10.0));
    assert_eq!(
        (agent.velocity(), agent.state()),
        (DVec3::ZERO, AgentState::Idle)
    );
    for _ in 0..20 {
        crowd.step(&mesh, 0.05).unwrap();
    }
    assert_eq!(crowd.agent(id).unwrap().position(), at(30.0, 10.0));
}

#[test]
fn a_host_completes_crossings_in_a_crowd() {
    let mesh = two_floors();
    let mut crowd = crowd(1);
    let options = hosted();
    let id = send(
        &mesh,
        &mut crowd,
        at(3.0, 20.0),
        DVec3::new(14.0, 4.0, 20.0),
        &options,
    );
    assert!(!crowd.complete_off_mesh_link(&mesh, id).unwrap());
    while crowd.agent(id).unwrap().state() != AgentState::OffMeshLink {
        crowd.step(&mesh, 0.05).unwrap();
    }
    let crossing = *crowd.agent(id).unwrap().crossing().unwrap();
    for _ in 0..50 {
        crowd.step(&mesh, 0.05).unwrap();
        assert_eq!(crowd.agent(id).unwrap().position(), crossing.start);
    }
    assert!(crowd.complete_off_mesh_link(&mesh, id).unwrap());
    assert_eq!(crowd.agent(id).unwrap().position(), crossing.end);
    for _ in 0..100 {
        crowd.step(&mesh, 0.05).unwrap();
    }
    assert!(crowd.agent(id).unwrap().reached_target());
}

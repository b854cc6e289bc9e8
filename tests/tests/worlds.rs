//! Worlds of agent classes: each class is the mesh a build of its own gives, the class of a radius
//! follows the rule, crowds of different classes are separate crowds, and the saved form takes back
//! exactly what it writes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

use throng::{
    AgentOptions, BuildError, BuildOptions, Crowd, CrowdError, CrowdOptions, DVec3, DataError,
    DataErrorKind, Location, NavMesh, NavSettings, NavWorld, PathOptions, SplitMix64, WorldAgentId,
    WorldCrowd,
};
use throng_soa::digest::{fnv1a64, sha256};

/// A floor of 40 by 40 with a wall across it that leaves gaps of 1.6 and 4 units.
fn level() -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    let mut quad = |x0: f64, z0: f64, x1: f64, z1: f64| {
        let at = vertices.len() as u32;
        vertices
            .extend([(x0, z0), (x0, z1), (x1, z0), (x1, z1)].map(|(x, z)| DVec3::new(x, 0.0, z)));
        triangles.extend([[at, at + 1, at + 2], [at + 2, at + 1, at + 3]]);
    };
    quad(0.0, 0.0, 40.0, 18.0);
    quad(0.0, 22.0, 40.0, 40.0);
    quad(4.0, 18.0, 5.6, 22.0);
    quad(30.0, 18.0, 34.0, 22.0);
    (vertices, triangles)
}

fn classes() -> Vec<NavSettings> {
    let sized = |agent_radius, flags| NavSettings {
        agent_radius,
        flags,
        cell_size: 0.2,
        tile_size: 25.0,
        ..NavSettings::HUMANOID
    };
    vec![sized(1.2, 1), sized(0.4, 2), sized(0.7, 3)]
}

fn world() -> NavWorld {
    let (vertices, triangles) = level();
    NavWorld::build(&vertices, &triangles, &classes()).unwrap()
}

#[test]
fn a_class_is_the_mesh_of_its_own_build_at_any_thread_count() {
    let (vertices, triangles) = level();
    let world = world();
    assert_eq!(world.class_count(), 3);
    for (class, settings) in classes().iter().enumerate() {
        let alone = NavMesh::build(&vertices, &triangles, settings).unwrap();
        assert!(world.meshes()[class].save() == alone.save());
        assert!(alone.tile_count() == 4);
    }
    for threads in [1, 2, 5] {
        let options = BuildOptions {
            threads,
            ..BuildOptions::default()
        };
        let other = NavWorld::build_with(&vertices, &triangles, &classes(), &options).unwrap();
        assert!(other.save() == world.save(), "{threads} threads");
    }
    // One class that cannot be built spoils the world, and says which field.
    let mut bad = classes();
    bad[2].cell_size = 0.0;
    let error = NavWorld::build(&vertices, &triangles, &bad).unwrap_err();
    assert!(matches!(error, BuildError::Argument(e) if e.argument == "cell_size"));
    let error = NavWorld::build(&vertices, &triangles, &[]).unwrap_err();
    assert!(matches!(error, BuildError::Argument(e) if e.argument == "classes"));
}

#[test]
fn the_class_of_a_radius() {
    let of = |radii: &[f64], radius: f64| {
        let meshes = radii.iter().map(|&agent_radius| {
            let settings = NavSettings {
                agent_radius,
                ..NavSettings::HUMANOID
            };
            NavMesh::empty(&settings).unwrap()
        });
        let world = NavWorld::from_meshes(meshes.collect()).unwrap();
        world.class_for(radius)
    };
    for (radii, radius, class) in [
        (&[0.6, 0.3, 1.5][..], 0.0, 1),
        (&[0.6, 0.3, 1.5], 0.3, 1), // exactly as wide fits
        (&[0.6, 0.3, 1.5], 0.300_001, 0),
        (&[0.6, 0.3, 1.5], 1.0, 2),
        (&[0.6, 0.3, 1.5], 1.5, 2),
        (&[0.6, 0.3, 1.5], 9.0, 2), // none is wide enough
        (&[1.5, 0.6, 0.3], 9.0, 0),
        (&[0.6, 0.6, 0.6], 0.5, 0), // equals: the first
        (&[0.3, 0.6, 0.6], 0.5, 1),
        (&[0.3, 0.6, 0.6], 2.0, 1),
        (&[0.6], 0.1, 0),
        (&[0.0, 0.6], 0.0, 0),
    ] {
        assert_eq!(of(radii, radius), Ok(class), "{radii:?} {radius}");
    }
    for radius in [-0.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(of(&[0.6], radius).unwrap_err().argument, "radius");
    }
    // Against the rule as a filter and a minimum.
    let mut rng = SplitMix64::new(3);
    for _ in 0..200 {
        let count = 1 + rng.next_below(5) as usize;
        let radii: Vec<f64> = (0..count)
            .map(|_| f64::from(rng.next_below(6)) * 0.25)
            .collect();
        let radius = f64::from(rng.next_below(7)) * 0.25;
        let wide: Vec<usize> = (0..count).filter(|&i| radii[i] >= radius).collect();
        let expected = match wide.iter().min_by(|&&i, &&j| radii[i].total_cmp(&radii[j])) {
            Some(&class) => class,
            None => (0..count)
                .rev()
                .max_by(|&i, &j| radii[i].total_cmp(&radii[j]))
                .unwrap(),
        };
        assert_eq!(of(&radii, radius), Ok(expected), "{radii:?} {radius}");
    }
}

#[test]
fn paths_take_the_gap_their_class_fits_through() {
    let world = world();
    let options = PathOptions::default();
    let (from, to) = (DVec3::new(5.0, 0.0, 12.0), DVec3::new(5.0, 0.0, 28.0));
    let narrow = world.find_path(0.4, from, to, &options).unwrap();
    let wide = world.find_path(1.0, from, to, &options).unwrap();
    assert!(narrow.length < 18.0 && wide.length > 50.0);
    for (radius, route) in [(0.4, &narrow), (1.0, &wide)] {
        let mesh = world.mesh_for(radius).unwrap();
        assert_eq!(route, &mesh.find_path(from, to, &options).unwrap());
        let mut task = world.begin_path(radius, from, to, &options).unwrap();
        while task.is_running() {
            task.step(3);
        }
        assert_eq!(route, &task.finish());
    }
    let error = world.find_path(f64::NAN, from, to, &options).unwrap_err();
    assert_eq!(error.argument, "radius");
    assert!(world.mesh(2).is_some() && world.mesh(3).is_none());
}

fn walkers(world: &NavWorld, crowd: &mut WorldCrowd) -> Vec<WorldAgentId> {
    let mut rng = SplitMix64::new(4);
    let mut ids = Vec::new();
    for i in 0..24 {
        let options = AgentOptions {
            radius: [0.3, 0.6, 1.0][i % 3],
            ..AgentOptions::HUMANOID
        };
        let mut place = |z: f64| DVec3::new(rng.range(3.0, 37.0), 0.0, rng.range(z, z + 12.0));
        let id = crowd.add(world, place(3.0), &options).unwrap();
        crowd.set_destination(world, id, place(25.0)).unwrap();
        ids.push(id);
    }
    ids
}

fn states(world: &NavWorld, crowd: &WorldCrowd) -> Vec<Vec<u8>> {
    let pairs = crowd.crowds().iter().zip(world.meshes());
    pairs.map(|(crowd, mesh)| crowd.save_state(mesh)).collect()
}

#[test]
fn a_world_crowd_is_a_crowd_per_class() {
    let world = world();
    let mut crowd = WorldCrowd::new(&world, CrowdOptions::default()).unwrap();
    let ids = walkers(&world, &mut crowd);
    // The same orders to crowds kept by hand.
    let mut by_hand: Vec<Crowd> = (0..3)
        .map(|_| Crowd::new(CrowdOptions::default()).unwrap())
        .collect();
    let mut rng = SplitMix64::new(4);
    for (i, id) in ids.iter().enumerate() {
        let class = [1, 2, 0][i % 3];
        assert_eq!(id.class, class as u32);
        let options = AgentOptions {
            radius: [0.3, 0.6, 1.0][i % 3],
            ..AgentOptions::HUMANOID
        };
        let mut place = |z: f64| DVec3::new(rng.range(3.0, 37.0), 0.0, rng.range(z, z + 12.0));
        let mesh = &world.meshes()[class];
        let agent = by_hand[class].add(mesh, place(3.0), &options).unwrap();
        assert_eq!(agent, id.agent);
        by_hand[class]
            .set_destination(mesh, agent, place(25.0))
            .unwrap();
    }
    for _ in 0..120 {
        crowd.step(&world, 0.05).unwrap();
        for (crowd, mesh) in by_hand.iter_mut().zip(world.meshes()) {
            crowd.step(mesh, 0.05).unwrap();
        }
    }
    let expected: Vec<Vec<u8>> = by_hand
        .iter()
        .zip(world.meshes())
        .map(|(crowd, mesh)| crowd.save_state(mesh))
        .collect();
    assert!(states(&world, &crowd) == expected);
    let moved = ids.iter().filter(|&&id| {
        let agent = crowd.agent(id).unwrap();
        agent.position().z > 20.0
    });
    assert!(moved.count() > 3);
    // Threads change nothing.
    for threads in [2, 4] {
        let mut other = WorldCrowd::with_options(&world, |_| CrowdOptions {
            threads,
            ..CrowdOptions::default()
        })
        .unwrap();
        walkers(&world, &mut other);
        for _ in 0..120 {
            other.step(&world, 0.05).unwrap();
        }
        assert!(states(&world, &other) == expected);
    }
    // All agents, by class and slot.
    assert_eq!((crowd.len(), crowd.is_empty()), (24, false));
    let listed: Vec<WorldAgentId> = crowd.agents().map(|(id, _)| id).collect();
    let mut sorted = listed.clone();
    sorted.sort_by_key(|id| (id.class, id.agent.slot));
    assert_eq!(listed, sorted);
    assert_eq!(listed.len(), 24);
    assert!(crowd.agents().all(|(id, agent)| agent.id() == id.agent));
}

#[test]
fn agents_of_other_classes_are_not_seen() {
    let world = world();
    let mut crowd = WorldCrowd::new(&world, CrowdOptions::default()).unwrap();
    let at = DVec3::new(10.0, 0.0, 10.0);
    let goal = DVec3::new(30.0, 0.0, 10.0);
    let small = AgentOptions::SMALL;
    let wide = AgentOptions {
        radius: 1.0,
        ..AgentOptions::HUMANOID
    };
    let walker = crowd.add(&world, at, &small).unwrap();
    crowd.set_destination(&world, walker, goal).unwrap();
    let alone: Vec<DVec3> = (0..60)
        .map(|_| {
            crowd.step(&world, 0.05).unwrap();
            crowd.agent(walker).unwrap().position()
        })
        .collect();
    let mut crowd = WorldCrowd::new(&world, CrowdOptions::default()).unwrap();
    crowd
        .add(&world, DVec3::new(15.0, 0.0, 10.0), &wide)
        .unwrap();
    let walker = crowd.add(&world, at, &small).unwrap();
    crowd.set_destination(&world, walker, goal).unwrap();
    for position in alone {
        crowd.step(&world, 0.05).unwrap();
        assert_eq!(crowd.agent(walker).unwrap().position(), position);
    }
}

#[test]
fn wrong_calls_to_a_world_crowd_change_nothing() {
    let world = world();
    let mut crowd = WorldCrowd::new(&world, CrowdOptions::default()).unwrap();
    let ids = walkers(&world, &mut crowd);
    let before = states(&world, &crowd);
    let other = NavWorld::from_meshes(world.meshes()[..2].to_vec()).unwrap();
    let spot = DVec3::new(10.0, 0.0, 10.0);
    assert_eq!(crowd.step(&other, 0.05).unwrap_err().argument, "world");
    for dt in [0.0, -1.0, f64::NAN] {
        assert_eq!(crowd.step(&world, dt).unwrap_err().argument, "dt");
    }
    let argument = |error: CrowdError| match error {
        CrowdError::Argument(error) => error.argument,
        other => panic!("{other}"),
    };
    let human = AgentOptions::HUMANOID;
    assert_eq!(
        argument(crowd.add(&other, spot, &human).unwrap_err()),
        "world"
    );
    let far = DVec3::new(300.0, 0.0, 0.0);
    assert!(matches!(
        crowd.add(&world, far, &human),
        Err(CrowdError::OffMesh { .. })
    ));
    assert_eq!(crowd.try_add(&world, far, &human), Ok(None));
    let nowhere = DVec3::new(f64::NAN, 0.0, 0.0);
    assert!(crowd.try_add(&world, nowhere, &human).is_err());
    let nobody = AgentOptions {
        radius: f64::NAN,
        ..human
    };
    assert!(argument(crowd.add(&world, spot, &nobody).unwrap_err()).contains("radius"));
    let forged = WorldAgentId {
        class: 7,
        agent: ids[0].agent,
    };
    assert!(crowd.agent(forged).is_none() && !crowd.remove(forged));
    let stale = crowd.set_destination(&world, forged, spot);
    assert!(matches!(stale, Err(CrowdError::Stale { .. })));
    let stale = crowd.teleport(&world, forged, spot);
    assert!(matches!(stale, Err(CrowdError::Stale { .. })));
    let astray = crowd.set_destination(&other, ids[0], spot).unwrap_err();
    assert_eq!(argument(astray), "world");
    assert!(states(&world, &crowd) == before);
    assert!(crowd.teleport(&world, ids[0], spot).unwrap());
    assert!(!crowd.teleport(&world, ids[0], far).unwrap());
    assert!(crowd.remove(ids[0]) && !crowd.remove(ids[0]));
    assert_eq!(crowd.len(), 23);
}

/// Reads and writes again; what is refused names a place inside the bytes.
fn read(bytes: &[u8]) -> Result<NavWorld, DataError> {
    let read = NavWorld::load(bytes);
    match &read {
        Ok(world) => assert!(world.save() == bytes, "accepted bytes changed on writing"),
        Err(error) => {
            assert!(!error.field.is_empty() && !error.problem.is_empty());
            match error.at {
                Location::Offset(at) => assert!(at <= bytes.len() as u64, "{error}"),
                ref other => panic!("{error}: {other:?}"),
            }
        }
    }
    read
}

/// A world of two small classes, so that every byte of it can be tried.
fn small_world() -> NavWorld {
    let vertices =
        [(0.0, 0.0), (0.0, 9.0), (9.0, 0.0), (9.0, 9.0)].map(|(x, z)| DVec3::new(x, 0.0, z));
    let coarse = |agent_radius: f64, settings: NavSettings| NavSettings {
        agent_radius,
        detail_sample_distance: 0.0,
        max_edge_length: 0.0,
        ..settings
    };
    let classes = [
        coarse(0.6, NavSettings::HUMANOID),
        coarse(0.3, NavSettings::HUMANOID),
    ];
    NavWorld::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &classes).unwrap()
}

#[test]
fn a_saved_world_is_a_head_and_the_envelopes_of_its_classes() {
    let world = small_world();
    let mut expected = b"ONNW\x01\0\0\0\x02\0\0\0".to_vec();
    for mesh in world.meshes() {
        let envelope = mesh.save();
        expected.extend((envelope.len() as u32).to_le_bytes());
        expected.extend(envelope);
    }
    assert!(world.save() == expected);
    let back = read(&expected).unwrap();
    for (class, mesh) in world.meshes().iter().enumerate() {
        assert_eq!(back.meshes()[class].settings(), mesh.settings());
    }
    let digest = sha256(&expected);
    let golden = format!(
        "{:016X} {:02x}{:02x}",
        fnv1a64(&expected),
        digest[0],
        digest[1]
    );
    assert_eq!(golden, "92E4338506BB0A4B 93f2");
}

#[test]
fn sizes_and_exact_room() {
    let world = small_world();
    let bytes = world.save();
    assert_eq!(world.save_size(), bytes.len());
    let mut room = vec![0xAA; bytes.len() + 2];
    assert_eq!(world.try_save(&mut room[..bytes.len()]), Some(bytes.len()));
    assert!(room[..bytes.len()] == bytes && room[bytes.len()..] == [0xAA; 2]);
    for short in [0, 1, 12, bytes.len() - 1] {
        assert_eq!(world.try_save(&mut room[..short]), None);
    }
    for mesh in world.meshes() {
        let bytes = mesh.save();
        assert_eq!(mesh.save_size(), bytes.len());
        let mut room = vec![0xAA; bytes.len()];
        assert_eq!(mesh.try_save(&mut room), Some(bytes.len()));
        assert!(room == bytes);
        assert_eq!(mesh.try_save(&mut room[..bytes.len() - 1]), None);
    }
}

#[test]
fn prefixes_tails_heads_and_counts_of_a_saved_world() {
    let world = small_world();
    let bytes = world.save();
    for length in 0..bytes.len() {
        assert!(read(&bytes[..length]).is_err(), "cut to {length}");
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert_eq!(read(&longer).unwrap_err().kind, DataErrorKind::Trailing);
    let with = |at: usize, value: u8| {
        let mut bad = bytes.clone();
        bad[at] = value;
        read(&bad).unwrap_err()
    };
    for (at, &byte) in bytes[..4].iter().enumerate() {
        assert_eq!(with(at, byte ^ 0x20).kind, DataErrorKind::Magic);
    }
    for found in [0, 2, 9] {
        let kind = DataErrorKind::Version { found, expected: 1 };
        assert_eq!(with(4, found as u8).kind, kind);
    }
    for (at, bit) in (6..8).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        assert_eq!(with(at, 1 << bit).field, "flags");
    }
    let none = with(8, 0);
    assert_eq!(
        (none.field.as_str(), none.kind),
        ("class count", DataErrorKind::Value)
    );
    assert_eq!(with(8, 1).kind, DataErrorKind::Trailing);
    assert_eq!(with(8, 3).kind, DataErrorKind::Truncated);
    assert_eq!(with(11, 0x7F).kind, DataErrorKind::Count);
    // A class length that is off by one, either way, and far too long.
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap());
    for wrong in [length - 1, length + 1, 0, u32::MAX] {
        let mut bad = bytes.clone();
        bad[12..16].copy_from_slice(&wrong.to_le_bytes());
        read(&bad).unwrap_err();
    }
    // Errors inside a class stand at their place in the world.
    let second = 16 + length as usize + 4;
    let error = with(second, b'o');
    assert_eq!(
        (error.kind, error.at),
        (DataErrorKind::Magic, Location::Offset(second as u64))
    );
    // Counts inside the envelopes: links and the mesh length.
    let link_count = 16 + 8 + 9 * 8 + 4 + 8 + 3 + 5 + 12 + 32;
    for value in [1, 0x00FF_FFFF, u32::MAX] {
        let mut bad = bytes.clone();
        bad[link_count..link_count + 4].copy_from_slice(&u32::to_le_bytes(value));
        let error = read(&bad).unwrap_err();
        assert!(value == 1 || error.field == "link count", "{error}");
        assert!(value == 1 || error.kind == DataErrorKind::Count, "{error}");
    }
    let mesh_length = link_count + 4;
    for value in [0, length, u32::MAX] {
        let mut bad = bytes.clone();
        bad[mesh_length..mesh_length + 4].copy_from_slice(&value.to_le_bytes());
        read(&bad).unwrap_err();
    }
}

#[test]
fn every_single_bit_of_a_saved_world() {
    let bytes = small_world().save();
    let mut accepted = 0;
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut bad = bytes.clone();
            bad[at] ^= 1 << bit;
            accepted += usize::from(read(&bad).is_ok());
        }
    }
    println!("{accepted} of {} flips accepted", 8 * bytes.len());
    assert!(accepted > 50 && accepted < 4 * bytes.len());
}

#[test]
fn soup_behind_a_good_head() {
    let bytes = small_world().save();
    let mut rng = SplitMix64::new(8);
    for _ in 0..3000 {
        let mut bad = bytes[..12 + rng.next_below(bytes.len() as u32 - 12) as usize].to_vec();
        for _ in 0..rng.next_below(60) {
            bad.push(rng.next_below(256) as u8);
        }
        if rng.next_below(2) == 0 {
            let (from, at) = (
                rng.next_below(bytes.len() as u32) as usize,
                rng.next_below(bad.len() as u32) as usize,
            );
            bad.splice(at.., bytes[from..].iter().copied());
        }
        let _ = read(&bad);
    }
}

//! Golden hashes: what meshes and crowds came out as when last recorded.
//!
//! `tests/golden/meshes.txt` and `tests/golden/crowds.txt` hold one line a scene. Run with
//! `THRONG_BLESS=1` to record intended changes, and look at the diff.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

use throng::{
    AgentOptions, AgentState, AvoidanceQuality, BuildOptions, DVec3, NavMesh, NavSettings,
    OffMeshLinkDefinition, PartitionType, Soup, levels,
};
use throng_soa::digest::fnv1a64;
use throng_soa::mesh::format::mesh_bytes;
use throng_tests::{compare_golden, real_level, spread};

fn build(soup: &Soup, settings: &NavSettings) -> NavMesh {
    let options = BuildOptions {
        threads: 2,
        ..BuildOptions::default()
    };
    NavMesh::build_with(soup.vertices(), soup.triangles(), settings, &options).unwrap()
}

fn generated(name: &str, size: f64) -> Soup {
    levels::generate(name, size, 7).unwrap()
}

/// Settings with the links a generated level of this size has.
fn linked(name: &str, size: f64) -> NavSettings {
    with(|s| s.off_mesh_links = levels::off_mesh_links(name, size, 7))
}

fn with(edit: impl FnOnce(&mut NavSettings)) -> NavSettings {
    let mut settings = NavSettings::HUMANOID;
    edit(&mut settings);
    settings
}

/// A name, the level and the settings of every recorded mesh.
fn meshes() -> Vec<(String, Soup, NavSettings)> {
    let mut all = Vec::new();
    for name in levels::NAMES {
        all.push((
            format!("{name}-64-humanoid"),
            generated(name, 64.0),
            linked(name, 64.0),
        ));
    }
    let mut add = |name: &str, level: &str, size: f64, settings: NavSettings| {
        all.push((name.to_owned(), generated(level, size), settings));
    };
    add(
        "rooms-96-monotone",
        "rooms",
        96.0,
        with(|s| s.partition = PartitionType::Monotone),
    );
    add(
        "terraces-96-layers",
        "terraces",
        96.0,
        with(|s| s.partition = PartitionType::Layers),
    );
    add(
        "bridges-96-layers",
        "bridges",
        96.0,
        with(|s| s.partition = PartitionType::Layers),
    );
    add("stairs-64-small", "stairs", 64.0, NavSettings::SMALL);
    add("ramps-96-large", "ramps", 96.0, NavSettings::LARGE);
    add(
        "city-96-tiles-of-16",
        "city",
        96.0,
        with(|s| s.tile_size = 16.0),
    );
    add(
        "slivers-64-flat",
        "slivers",
        64.0,
        with(|s| s.detail_sample_distance = 0.0),
    );
    add(
        "rooms-64-triangles",
        "rooms",
        64.0,
        with(|s| {
            s.max_verts_per_poly = 3;
            s.max_edge_length = 0.0;
            s.contour_max_error = 0.5;
        }),
    );
    all.push((
        "two_floors-96-layers".to_owned(),
        generated("two_floors", 96.0),
        NavSettings {
            partition: PartitionType::Layers,
            detail_sample_distance: 0.0,
            ..linked("two_floors", 96.0)
        },
    ));
    all.push((
        "islands-links".to_owned(),
        islands(),
        with(|s| s.off_mesh_links = links()),
    ));
    for name in ["nav_test", "dungeon", "undulating"] {
        if let Some(soup) = real_level(&format!("{name}.obj")) {
            all.push((name.to_owned(), soup, NavSettings::HUMANOID));
        }
    }
    all
}

/// Four floors of 24 x 24 with gaps of 6 between them: only links lead across.
fn islands() -> Soup {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for (x, z) in [(0.0, 0.0), (30.0, 0.0), (0.0, 30.0), (30.0, 30.0)] {
        let first = vertices.len() as u32;
        for (dx, dz) in [(0.0, 0.0), (0.0, 24.0), (24.0, 0.0), (24.0, 24.0)] {
            vertices.push(DVec3::new(x + dx, 0.0, z + dz));
        }
        triangles.push([first, first + 1, first + 2]);
        triangles.push([first + 2, first + 1, first + 3]);
    }
    Soup::new(vertices, triangles).unwrap()
}

/// A ring round the islands, two ways across each gap but the last, which is one way.
fn links() -> Vec<OffMeshLinkDefinition> {
    let ring = [
        ((22.0, 6.0), (32.0, 6.0)),
        ((22.0, 18.0), (32.0, 16.0)),
        ((48.0, 22.0), (48.0, 32.0)),
        ((32.0, 40.0), (22.0, 40.0)),
        ((6.0, 32.0), (6.0, 22.0)),
    ];
    let ends = ring.into_iter().enumerate();
    ends.map(|(i, ((x, z), (end_x, end_z)))| OffMeshLinkDefinition {
        start: DVec3::new(x, 0.1, z),
        end: DVec3::new(end_x, 0.1, end_z),
        radius: 1.5,
        bidirectional: i < 4,
        area: i as u8,
        flags: 1,
        user_id: i as u32,
    })
    .collect()
}

#[test]
fn meshes_are_the_recorded_ones() {
    let mut found = Vec::new();
    for (name, soup, settings) in meshes() {
        let mesh = build(&soup, &settings);
        assert!(mesh.poly_count() > 0, "{name} is empty");
        found.push((name, format!("{:016X}", fnv1a64(&mesh_bytes(&mesh)))));
    }
    assert!(found.len() >= 10);
    compare_golden("meshes.txt", &found);
}

#[test]
fn crowds_are_the_recorded_ones() {
    let humanoid = AgentOptions::HUMANOID;
    let quality = |quality| AgentOptions {
        quality,
        ..humanoid
    };
    let mut scenes: Vec<(String, NavMesh, AgentOptions)> = Vec::new();
    for name in levels::NAMES {
        let mesh = build(&generated(name, 64.0), &linked(name, 64.0));
        scenes.push((format!("{name}-64"), mesh, humanoid));
    }
    let city = || build(&generated("city", 96.0), &NavSettings::HUMANOID);
    let small = build(&generated("stairs", 64.0), &NavSettings::SMALL);
    let tiles = build(&generated("rooms", 64.0), &with(|s| s.tile_size = 16.0));
    let links = build(&islands(), &with(|s| s.off_mesh_links = links()));
    scenes.push(("city-96-off".into(), city(), quality(AvoidanceQuality::Off)));
    scenes.push(("city-96-low".into(), city(), quality(AvoidanceQuality::Low)));
    scenes.push((
        "city-96-high".into(),
        city(),
        quality(AvoidanceQuality::High),
    ));
    scenes.push(("stairs-64-small".into(), small, AgentOptions::SMALL));
    scenes.push(("rooms-64-tiles-of-16".into(), tiles, humanoid));
    scenes.push(("islands-links".into(), links, humanoid));
    let apart = AgentOptions {
        separation_distance: 2.0,
        separation_weight: 0.7,
        side_preference: 0.0,
        ..humanoid
    };
    scenes.push(("city-96-separation".into(), city(), apart));
    for name in ["nav_test", "dungeon", "undulating"] {
        if let Some(soup) = real_level(&format!("{name}.obj")) {
            let mesh = build(&soup, &NavSettings::HUMANOID);
            scenes.push((name.to_owned(), mesh, humanoid));
        }
    }
    let mut found = Vec::new();
    for (name, mesh, options) in scenes {
        let mut crowd = spread(&mesh, 60, 5, &options, 1, false).crowd;
        let mut crossing = false;
        for _ in 0..80 {
            crowd.step(&mesh, 0.05).unwrap();
            crossing |= crowd.columns().state.contains(&AgentState::OffMeshLink);
        }
        assert_eq!(crossing, mesh.has_off_mesh_links(), "{name}");
        found.push((name, format!("{:016X}", crowd.state_hash(&mesh))));
    }
    assert!(found.len() >= 10);
    compare_golden("crowds.txt", &found);
}

/// Many agents for many steps, in each other's way: routes are replanned, arrived agents pushed
/// about, links queued for.
#[test]
fn dense_crowds_are_the_recorded_ones() {
    let humanoid = AgentOptions::HUMANOID;
    let high = AgentOptions {
        quality: AvoidanceQuality::High,
        separation_distance: 1.5,
        ..humanoid
    };
    let level = |name, size| build(&generated(name, size), &NavSettings::HUMANOID);
    let queue = build(&islands(), &with(|s| s.off_mesh_links = links()));
    let small = with(|s| s.agent_radius = NavSettings::SMALL.agent_radius);
    let mut scenes = vec![
        ("islands-queue", queue, AgentOptions::SMALL, 300, 400),
        ("city-128-dense", level("city", 128.0), humanoid, 1_200, 150),
        (
            "terraces-96-dense",
            level("terraces", 96.0),
            humanoid,
            400,
            150,
        ),
        ("bridges-96-high", level("bridges", 96.0), high, 300, 200),
        (
            "two_floors-96-small",
            build(&generated("two_floors", 96.0), &linked("two_floors", 96.0)),
            AgentOptions::SMALL,
            400,
            200,
        ),
        (
            "rooms-96-small",
            build(&generated("rooms", 96.0), &small),
            AgentOptions::SMALL,
            500,
            200,
        ),
    ];
    if let Some(soup) = real_level("nav_test.obj") {
        let mesh = build(&soup, &NavSettings::HUMANOID);
        scenes.push(("nav_test-dense", mesh, humanoid, 500, 200));
    }
    let mut found = Vec::new();
    for (name, mesh, options, count, steps) in scenes {
        let mut crowd = spread(&mesh, count, 11, &options, 2, false).crowd;
        for _ in 0..steps {
            crowd.step(&mesh, 0.05).unwrap();
        }
        found.push((name.to_owned(), format!("{:016X}", crowd.state_hash(&mesh))));
    }
    compare_golden("dense_crowds.txt", &found);
}

//! Files read and written: baked meshes, pictures, recordings, saved crowds.

use std::path::Path;

use serde_json::Value;
use throng::parts::soa::mesh::format::{mesh_bytes, tile_bytes};
use throng::{
    Crowd, CrowdOptions, DVec3, NavMesh, NavSettings, NavWorld, Obstacle, PartitionType,
    SnapshotMode, TileCache,
};

use crate::{SMALL, error, folder, hash, json, output, write_floor};

#[test]
fn a_baked_level_gives_the_same_crowd_as_its_source() {
    let folder = folder("bake");
    let settings = "--size 64 --preset small --partition monotone";
    let baked = json(&folder, &format!("bake terraces -o level.nav {settings}"));
    let length = std::fs::metadata(folder.join("level.nav")).unwrap().len();
    assert_eq!(baked["bytes"], length);
    let walk = "--agents 60 --steps 40";
    let source = json(&folder, &format!("simulate terraces {settings} {walk}"));
    let loaded = json(&folder, &format!("simulate level.nav {walk}"));
    assert_eq!(hash(&source), hash(&loaded));
    assert_eq!(source["polygons"], baked["polygons"]);

    let info = json(&folder, "info level.nav");
    assert_eq!(info["kind"], "mesh");
    assert_eq!(info["polygons"], baked["polygons"]);
    assert_eq!(info["settings"]["partition"], "monotone");
    assert!(output(&folder, "info level.nav").contains("monotone"));
    let complaint = error(&folder, "simulate level.nav --cell 0.2", 1);
    assert!(complaint.contains("--cell"), "{complaint}");

    let bytes = std::fs::read(folder.join("level.nav")).unwrap();
    std::fs::write(folder.join("short.nav"), &bytes[..bytes.len() / 2]).unwrap();
    let complaint = error(&folder, "simulate short.nav", 1);
    assert!(
        complaint.contains("short.nav") && complaint.contains("at byte"),
        "{complaint}"
    );
}

#[test]
fn one_tile_or_many() {
    let folder = folder("solo");
    write_floor(&folder);
    let solo = json(&folder, "bake floor.obj -o solo.nav --solo");
    let tiled = json(&folder, "bake floor.obj -o tiled.nav --tile 12");
    assert_eq!(solo["tiles"], 1);
    assert!(tiled["tiles"].as_u64().is_some_and(|tiles| tiles >= 9));
}

#[test]
fn pictures_and_recordings_hold_every_agent() {
    let folder = folder("files");
    let files = "--picture crowd.svg --record crowd.thrr";
    let run = json(&folder, &format!("{SMALL} --on-arrival remove {files}"));
    let picture = std::fs::read_to_string(folder.join("crowd.svg")).unwrap();
    let left: u64 = run["states"]
        .as_object()
        .unwrap()
        .values()
        .filter_map(Value::as_u64)
        .sum();
    let drawn = picture.matches("<circle").count() as u64;
    assert!(
        (left + 1..=left + 6).contains(&drawn),
        "{left} agents, {drawn} circles"
    );
    assert!(picture.contains(&hash(&run)));

    let length = std::fs::metadata(folder.join("crowd.thrr")).unwrap().len();
    assert_eq!(length, 56 + 61 * 120 * 13);
    let info = json(&folder, "info crowd.thrr");
    assert_eq!(
        (info["agents"].as_u64(), info["frames"].as_u64()),
        (Some(120), Some(61))
    );
    assert_eq!(info["states"]["moving"], run["states"]["moving"]);
    assert!(output(&folder, "info crowd.thrr").contains("recording"));

    let mut bytes = std::fs::read(folder.join("crowd.thrr")).unwrap();
    bytes.push(0);
    std::fs::write(folder.join("long.thrr"), &bytes).unwrap();
    assert!(error(&folder, "info long.thrr", 1).contains("frames"));
}

#[test]
fn info_describes_levels_and_saved_crowds() {
    let folder = folder("info");
    write_floor(&folder);
    let level = json(&folder, "info floor.obj");
    assert_eq!(
        (level["vertices"].as_u64(), level["triangles"].as_u64()),
        (Some(4), Some(2))
    );
    assert_eq!(level["bounds"][1][0], 40.0);

    let crowd = Crowd::new(CrowdOptions::default()).unwrap();
    let mesh = NavMesh::build(&[], &[], &NavSettings::HUMANOID).unwrap();
    for (name, bytes, cut) in [
        ("alone.state", crowd.save_state(&mesh), "step count"),
        (
            "both.state",
            crowd.save_state_with_mesh(&mesh),
            "crowd length",
        ),
    ] {
        std::fs::write(folder.join(name), &bytes).unwrap();
        let saved = json(&folder, &format!("info {name}"));
        assert_eq!(saved["kind"], "crowd", "{name}");
        assert_eq!(saved["agents"], 0, "{name}");
        assert_eq!(saved["max_walls_per_agent"], 48, "{name}");
        std::fs::write(folder.join("cut.state"), &bytes[..bytes.len() - 8]).unwrap();
        let complaint = error(&folder, "info cut.state", 1);
        assert!(complaint.contains(cut), "{complaint}");
    }
}

/// What throng writes, frozen, with the kind `info` gives each and its form and version.
const FROZEN: [(&str, &str, &str, u16); 12] = [
    ("baked.onnm", "mesh", "ONNM", 1),
    ("mesh.onpm", "mesh", "ONPM", 2),
    ("world.onnw", "world", "ONNW", 1),
    ("snapshot.onps", "mesh_snapshot", "ONPS", 2),
    ("snapshot_referenced.onps", "mesh_snapshot", "ONPS", 2),
    ("cache.ontk", "tile_cache_snapshot", "ONTK", 1),
    ("cache_referenced.ontk", "tile_cache_snapshot", "ONTK", 1),
    ("tile.onpt", "tile", "ONPT", 2),
    ("crowd.opcs", "crowd", "OPCS", 1),
    ("crowd_with_mesh.opcs", "crowd", "OPCS", 1),
    ("crowd_with_mesh_referenced.opcs", "crowd", "OPCS", 1),
    ("recording.thrr", "recording", "THRR", 1),
];

/// Frozen bytes without a magic, and the list of the files.
const NAMELESS: [&str; 3] = ["corridor.bin", "follower.bin", "fixtures.tsv"];

/// Asks for a file's description, in both ways, and looks for its kind, form and version.
fn check_form(folder: &Path, name: &str, kind: &str, form: &str, version: u16) {
    let info = json(folder, &format!("info {name}"));
    assert_eq!(info["kind"], kind, "{name}");
    assert_eq!(info["form"], form, "{name}");
    assert_eq!(info["version"], version, "{name}");
    let words = output(folder, &format!("info {name}"));
    let line = format!("  form        {form}, version {version}\n");
    assert!(words.contains(&line), "{name}: {words}");
}

#[test]
fn no_frozen_file_is_without_a_description() {
    let frozen = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/0.1.0");
    for entry in std::fs::read_dir(frozen).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_listed = FROZEN.iter().any(|(known, ..)| *known == name);
        assert!(is_listed || NAMELESS.contains(&&*name), "{name}");
    }
}

/// Fails when a form gets a version or a shape that `info` was not told of.
#[test]
fn what_this_release_writes_is_described() {
    let folder = folder("written_now");
    let v = |x, z| DVec3::new(x, 0.0, z);
    let vertices = [v(0.0, 0.0), v(0.0, 24.0), v(24.0, 0.0), v(24.0, 24.0)];
    let triangles = [[0, 1, 2], [2, 1, 3]];
    let settings = NavSettings {
        partition: PartitionType::Layers,
        detail_sample_distance: 0.0,
        ..NavSettings::HUMANOID
    };
    let mesh = NavMesh::build(&vertices, &triangles, &settings).unwrap();
    let world = NavWorld::build(&vertices, &triangles, core::slice::from_ref(&settings)).unwrap();
    let crowd = Crowd::new(CrowdOptions::default()).unwrap();
    let mut cache = TileCache::build(&vertices, &triangles, &settings).unwrap();
    let (low, high) = (DVec3::new(5.0, -1.0, 5.0), DVec3::new(6.0, 1.0, 6.0));
    for obstacle in [
        Obstacle::cylinder(v(12.0, 12.0), 1.0, 1.0),
        Obstacle::aligned_box(low, high),
        Obstacle::oriented_box(v(18.0, 18.0), DVec3::new(1.0, 1.0, 1.0), 0.5),
    ] {
        cache.add_obstacle(obstacle.unwrap()).unwrap();
    }
    let (_, tile) = mesh.tiles_mesh().tiles().next().unwrap();
    let full = SnapshotMode::Full;
    for (name, bytes, kind, form, version) in [
        ("baked", mesh.save(), "mesh", "ONNM", 1),
        ("bare", mesh_bytes(&mesh), "mesh", "ONPM", 2),
        ("world", world.save(), "world", "ONNW", 1),
        ("snapshot", mesh.snapshot(full), "mesh_snapshot", "ONPS", 2),
        (
            "cache",
            cache.snapshot(full),
            "tile_cache_snapshot",
            "ONTK",
            1,
        ),
        ("tile", tile_bytes(tile), "tile", "ONPT", 2),
        ("crowd", crowd.save_state(&mesh), "crowd", "OPCS", 1),
        (
            "both",
            crowd.save_state_with_mesh(&mesh),
            "crowd",
            "OPCS",
            1,
        ),
    ] {
        std::fs::write(folder.join(name), bytes).unwrap();
        check_form(&folder, name, kind, form, version);
    }
    assert_eq!(json(&folder, "info cache")["obstacles"], 3);
    output(
        &folder,
        "simulate rooms --size 64 -n 3 -s 2 --record crowd.thrr",
    );
    check_form(&folder, "crowd.thrr", "recording", "THRR", 1);
}

#[test]
fn every_form_throng_writes_is_told_by_its_name() {
    let folder = folder("forms");
    let frozen = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/0.1.0");
    for (name, kind, form, version) in FROZEN {
        let bytes = std::fs::read(frozen.join(name)).unwrap();
        std::fs::write(folder.join(name), &bytes).unwrap();
        check_form(&folder, name, kind, form, version);
        // Whatever is left of one is refused in a line, and never taken for OBJ. So is more of it.
        let cuts = (4..100)
            .step_by(7)
            .chain([bytes.len() / 2, bytes.len() - 1]);
        for length in cuts.filter(|&length| length < bytes.len()) {
            std::fs::write(folder.join("cut"), &bytes[..length]).unwrap();
            let complaint = error(&folder, "info cut", 1);
            assert!(!complaint.contains("OBJ"), "{name} {length}: {complaint}");
        }
        std::fs::write(folder.join("long"), [&bytes[..], &[0]].concat()).unwrap();
        let complaint = error(&folder, "info long", 1);
        assert!(
            complaint.starts_with("throng: long: "),
            "{name}: {complaint}"
        );
        if kind != "mesh" {
            let complaint = error(&folder, &format!("simulate {name}"), 1);
            let words = complaint.contains("reads it), not a level");
            assert!(words, "{name}: {complaint}");
        }
    }
    let cache = json(&folder, "info cache.ontk");
    let counts = ["obstacles", "volumes", "queued_tiles"].map(|key| cache[key].as_u64());
    assert_eq!(counts, [Some(3), Some(1), Some(11)]);
    let tile = json(&folder, "info tile.onpt");
    assert_eq!(tile["polygons"], 15);
    // What is not all there is told.
    for (name, is_part) in [
        ("snapshot.onps", false),
        ("snapshot_referenced.onps", true),
        ("cache.ontk", false),
        ("cache_referenced.ontk", true),
        ("tile.onpt", true),
        ("crowd.opcs", false),
        ("crowd_with_mesh.opcs", false),
        ("crowd_with_mesh_referenced.opcs", true),
    ] {
        let words = output(&folder, &format!("info {name}"));
        let says_so = words.contains("only the header and the lengths: ");
        assert_eq!(says_so, is_part, "{name}: {words}");
        assert!(words.matches("  agents ").count() <= 1, "{name}: {words}");
        let info = json(&folder, &format!("info {name}"));
        let in_json = |object: &Value| object["header_only"] == true;
        assert_eq!(in_json(&info) || in_json(&info["mesh"]), is_part, "{name}");
    }
    for (name, mesh) in [
        ("snapshot.onps", json(&folder, "info snapshot.onps")),
        ("cache.ontk", cache["mesh"].clone()),
    ] {
        assert!(mesh["polygons"].as_u64() > Some(10), "{name}: {mesh}");
    }
    let crowd = json(&folder, "info crowd.opcs");
    let states = crowd["states"].as_object().unwrap();
    let agents: u64 = states.values().filter_map(Value::as_u64).sum();
    assert_eq!(crowd["agents"], agents);
    assert!(agents > 0, "{crowd}");
    assert_eq!(
        json(&folder, "info world.onnw")["classes"][1]["polygons"],
        4
    );
    // Only where tiles are elsewhere does the call take a library of them.
    for (name, call) in [
        ("snapshot.onps", "NavMesh::restore and from_snapshot"),
        (
            "crowd.opcs",
            "Crowd::restore_state, on the mesh it was saved with",
        ),
        ("crowd_with_mesh.opcs", "Crowd::restore_state_with_mesh"),
        (
            "crowd_with_mesh_referenced.opcs",
            "Crowd::restore_state_with_mesh_from",
        ),
    ] {
        let words = output(&folder, &format!("info {name}"));
        let line = format!("  read by     {call}");
        assert!(words.lines().any(|other| other == line), "{name}: {words}");
    }
}

/// A frozen file with the bytes at `at` replaced, under the name `changed`.
fn change(folder: &Path, name: &str, at: usize, new: &[u8]) {
    let frozen = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/0.1.0");
    let mut bytes = std::fs::read(frozen.join(name)).unwrap();
    bytes[at..at + new.len()].copy_from_slice(new);
    std::fs::write(folder.join("changed"), bytes).unwrap();
}

#[test]
fn absurd_headers_are_refused_and_not_told() {
    let folder = folder("absurd");
    for (name, at, new, words) in [
        // More walls than a crowd keeps, agents than there are, ids and steps than it counts to.
        (
            "crowd.opcs",
            8,
            &[0xFF; 4][..],
            "max walls per agent at byte 8",
        ),
        (
            "crowd.opcs",
            8,
            &[1, 4, 0, 0],
            "is 1025; 1 to 1024 are kept",
        ),
        ("crowd.opcs", 12, &[0xFF; 4], "slot count at byte 12"),
        ("crowd.opcs", 16, &[0; 4], "agent count at byte"),
        ("crowd.opcs", 24, &[0xFF; 8], "next id at byte 24"),
        ("crowd.opcs", 32, &[0xFF; 8], "step count at byte 32"),
        // A section that says it is longer, or shorter, than what it holds.
        ("snapshot_referenced.onps", 84, &[0xFF; 4], "section 1"),
        (
            "snapshot_referenced.onps",
            84,
            &[4, 0, 0, 0],
            "slot count at byte 88",
        ),
        // A body that is no tile's, an obstacle of no size, sections without end.
        ("tile.onpt", 60, &[0xFF; 4], "vertex count at byte 60"),
        ("tile.onpt", 68, &[0; 4], "bytes follow the end"),
        ("cache.ontk", 8, &[0; 4], "next obstacle id at byte 8"),
        ("cache.ontk", 16, &[0xFF; 4], "obstacle count at byte 16"),
        ("cache.ontk", 25, &[0xFF; 24], "obstacle base"),
    ] {
        change(&folder, name, at, new);
        let complaint = error(&folder, "info changed", 1);
        assert!(complaint.contains(words), "{name} {at}: {complaint}");
    }
}

#[test]
fn info_takes_the_names_of_generated_levels() {
    let folder = folder("generated");
    let city = json(&folder, "info city");
    assert_eq!(
        (&city["kind"], &city["size"]),
        (&"generated".into(), &256.0.into())
    );
    let level = throng::levels::generate("rooms", 96.0, 3).unwrap();
    let rooms = json(&folder, "info rooms --size 96 --seed 3");
    assert_eq!(rooms["triangles"], level.triangles().len());
    let words = output(&folder, "info two_floors --size 64 --seed 3");
    for line in [
        "level       two_floors, 64 x 64 units, seed 3",
        "links       12 off-mesh",
    ] {
        assert!(words.contains(line), "{words}");
    }
    // A file of such a name is asked for by its path.
    write_floor(&folder);
    std::fs::copy(folder.join("floor.obj"), folder.join("city")).unwrap();
    assert_eq!(json(&folder, "info ./city")["kind"], "obj");
    assert_eq!(json(&folder, "info city")["kind"], "generated");
    let complaint = error(&folder, "info ctiy", 1);
    assert!(
        complaint.contains("did you mean the generated level city?"),
        "{complaint}"
    );
    let complaint = error(&folder, "info floor.obj --size 100", 2);
    assert!(
        complaint.contains("--size is for generated levels only"),
        "{complaint}"
    );
}

#[test]
fn meshes_tell_their_extents_and_numbers_as_they_were_asked_for() {
    let folder = folder("extents");
    write_floor(&folder);
    json(&folder, "bake floor.obj -o floor.nav");
    let words = output(&folder, "info floor.nav");
    for line in [
        "  x           0.897 to 39.178",
        "  y           0 to 0",
        "  z  ",
    ] {
        assert!(words.contains(line), "{words}");
    }
    let info = json(&folder, "info floor.nav");
    let [low, high] = [0, 1].map(|end| info["bounds"][end][0].as_f64().unwrap());
    assert!((0.8..1.0).contains(&low) && (39.0..39.4).contains(&high));
    assert_eq!(info["params"]["agent_radius"].to_string(), "0.6");
}

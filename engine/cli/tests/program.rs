//! The built program, run as a user would: its reports, files, hashes and complaints.

#![allow(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A folder of this test alone, emptied.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn throng(folder: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_throng"))
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Standard output of a run that must succeed without a word on standard error.
fn output(folder: &Path, arguments: &str) -> String {
    let run = throng(folder, arguments);
    assert!(run.status.success(), "{arguments}: {}", text(&run.stderr));
    assert_eq!(text(&run.stderr), "", "{arguments}");
    text(&run.stdout)
}

/// The one JSON object of a run that must succeed.
fn json(folder: &Path, arguments: &str) -> Value {
    let out = output(folder, &format!("{arguments} --json"));
    assert_eq!(out.lines().count(), 1, "{out}");
    serde_json::from_str(&out).unwrap()
}

/// Standard error of a run that must fail with `code`; one line when the code is 1.
fn error(folder: &Path, arguments: &str, code: i32) -> String {
    let run = throng(folder, arguments);
    let complaint = text(&run.stderr);
    assert_eq!(run.status.code(), Some(code), "{arguments}: {complaint}");
    assert_eq!(text(&run.stdout), "", "{arguments}");
    if code == 1 {
        assert_eq!(complaint.lines().count(), 1, "{complaint}");
        assert!(complaint.starts_with("throng: "), "{complaint}");
    }
    complaint
}

/// A 40 x 40 floor.
fn write_floor(folder: &Path) {
    let floor = "v 0 0 0\nv 0 0 40\nv 40 0 0\nv 40 0 40\nf 1 2 3\nf 3 2 4\n";
    std::fs::write(folder.join("floor.obj"), floor).unwrap();
}

fn hash(run: &Value) -> String {
    run["state_hash"].as_str().unwrap().to_owned()
}

const SMALL: &str = "simulate rooms --size 96 --agents 120 --steps 60";

#[test]
fn the_report_has_every_key_with_its_type() {
    let folder = folder("report");
    let run = json(&folder, &format!("{SMALL} --threads 2 --seed 3"));
    assert_eq!(run["level"], "rooms");
    assert_eq!(run["agents"], 120);
    assert_eq!(run["steps"], 60);
    assert_eq!(run["threads"], 2);
    assert_eq!(run["seed"], 3);
    assert_eq!(run["dt"], 0.05);
    assert!(run["arrived"].is_u64() && run["tiles"].is_u64() && run["polygons"].is_u64());
    for key in ["agent_steps_per_ms", "build_ms", "mean_speed", "mean_route"] {
        assert!(
            run[key].as_f64().is_some_and(|v| v > 0.0),
            "{key}: {}",
            run[key]
        );
    }
    for stage in ["snapshot", "plan", "avoid", "motion"] {
        assert!(run["stages_ms"][stage].is_f64(), "{stage}");
    }
    let ratio = &run["walked_over_route"];
    assert!(ratio.is_null() || ratio.as_f64().is_some_and(|r| r > 0.9));
    if cfg!(target_os = "linux") {
        assert!(run["peak_rss_mb"].as_f64().is_some_and(|mb| mb > 1.0));
    }
    let hash = hash(&run);
    assert_eq!(hash.len(), 16);
    assert!(
        hash.chars()
            .all(|c| c.is_ascii_digit() || ('A'..='F').contains(&c)),
        "{hash}"
    );
    let states = run["states"].as_object().unwrap();
    let agents: u64 = states.values().filter_map(Value::as_u64).sum();
    assert_eq!(agents, 120);
}

#[test]
fn the_hash_depends_on_the_seed_and_not_on_threads() {
    let folder = folder("threads");
    let one = hash(&json(&folder, &format!("{SMALL} --threads 1")));
    for threads in [1, 2, 5, 16] {
        let run = json(&folder, &format!("{SMALL} --threads {threads}"));
        assert_eq!(hash(&run), one, "{threads} threads");
    }
    assert_ne!(hash(&json(&folder, &format!("{SMALL} --seed 2"))), one);
    assert!(output(&folder, SMALL).contains(&one));
}

#[test]
fn what_happens_on_arrival_is_the_same_at_every_thread_count() {
    let folder = folder("arrival");
    write_floor(&folder);
    let walk = "simulate floor.obj --agents 40 --steps 300 --check --on-arrival";
    let stay = json(&folder, &format!("{walk} stay"));
    let remove = json(&folder, &format!("{walk} remove --threads 1"));
    let again = json(&folder, &format!("{walk} again --threads 1"));
    assert!(stay["arrived"].as_u64().is_some_and(|n| n > 30), "{stay}");
    assert!(again["arrived"].as_u64() > stay["arrived"].as_u64());
    assert_eq!(again["states"]["moving"], 40);
    let left = 40 - remove["arrived"].as_u64().unwrap();
    assert_eq!(remove["states"]["moving"].as_u64(), Some(left));
    for (what, run) in [("remove", remove), ("again", again)] {
        let two = json(&folder, &format!("{walk} {what} --threads 2"));
        assert_eq!(hash(&two), hash(&run), "{what}");
    }
}

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
fn the_path_across_a_floor_is_straight() {
    let folder = folder("path");
    write_floor(&folder);
    let ask = "path floor.obj --from 3,0,3 --to 36,0,36";
    let path = json(&folder, &format!("{ask} --picture path.svg"));
    assert_eq!(path["status"], "Found");
    assert_eq!(
        format!("{:.4}", path["length"].as_f64().unwrap()),
        "46.6690"
    );
    assert_eq!(path["points"].as_array().map(Vec::len), Some(2));
    assert!(path["cost"].is_f64() && path["corridor"].is_u64());
    let words = output(&folder, ask);
    assert!(
        words.contains("found") && words.contains("46.6690"),
        "{words}"
    );
    let picture = std::fs::read_to_string(folder.join("path.svg")).unwrap();
    assert!(
        picture.contains("viewBox") && picture.contains("46.67"),
        "{picture}"
    );

    let nowhere = json(&folder, "path floor.obj --from -100,0,-100 --to 36,0,36");
    assert_eq!(nowhere["status"], "StartInvalid");
    assert!(nowhere["cost"].is_null());
}

#[test]
fn pictures_and_recordings_hold_every_agent() {
    let folder = folder("files");
    let files = "--picture crowd.svg --record crowd.thr";
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

    let length = std::fs::metadata(folder.join("crowd.thr")).unwrap().len();
    assert_eq!(length, 56 + 61 * 120 * 13);
    let info = json(&folder, "info crowd.thr");
    assert_eq!(
        (info["agents"].as_u64(), info["frames"].as_u64()),
        (Some(120), Some(61))
    );
    assert_eq!(info["states"]["moving"], run["states"]["moving"]);
    assert!(output(&folder, "info crowd.thr").contains("recording"));

    let mut bytes = std::fs::read(folder.join("crowd.thr")).unwrap();
    bytes.push(0);
    std::fs::write(folder.join("long.thr"), &bytes).unwrap();
    assert!(error(&folder, "info long.thr", 1).contains("frames"));
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

    let crowd = throng::Crowd::new(throng::CrowdOptions::default()).unwrap();
    let mesh = throng::NavMesh::build(&[], &[], &throng::NavSettings::HUMANOID).unwrap();
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

#[test]
fn a_level_without_ground_is_said_plainly_and_no_error() {
    let folder = folder("empty");
    std::fs::write(folder.join("empty.obj"), "# nothing\n").unwrap();
    std::fs::write(
        folder.join("ceiling.obj"),
        "v 0 0 0\nv 9 0 0\nv 0 0 9\nf 1 2 3\n",
    )
    .unwrap();
    for level in ["empty.obj", "ceiling.obj", "empty.obj --solo"] {
        let words = output(&folder, &format!("simulate {level}"));
        assert!(words.contains("no walkable ground"), "{words}");
        let run = json(&folder, &format!("simulate {level} --picture none.svg"));
        assert_eq!((&run["agents"], &run["polygons"]), (&0.into(), &0.into()));
        assert_eq!(hash(&run).len(), 16);
    }
    let path = json(&folder, "path empty.obj --from 0,0,0 --to 1,0,1");
    assert_eq!(path["status"], "StartInvalid");
}

#[test]
fn more_agents_than_fit_are_placed_as_far_as_there_is_room() {
    let folder = folder("full");
    write_floor(&folder);
    let words = output(&folder, "simulate floor.obj --agents 5000 --steps 1");
    assert!(words.contains("placed of 5,000"), "{words}");
    let run = json(
        &folder,
        "simulate floor.obj --agents 5000 --steps 0 --check",
    );
    assert!(
        run["agents"]
            .as_u64()
            .is_some_and(|n| (300..1100).contains(&n)),
        "{run}"
    );
}

#[test]
fn complaints_name_the_file_the_line_or_the_option() {
    let folder = folder("complaints");
    write_floor(&folder);
    std::fs::write(folder.join("bad.obj"), "v 0 0 0\nv 1 two 3\n").unwrap();
    std::fs::write(folder.join("level.glb"), b"glTF").unwrap();
    std::fs::create_dir(folder.join("sub")).unwrap();
    for (arguments, words) in [
        (
            "simulate bad.obj",
            "bad.obj: OBJ: v.y on line 2: 'two' is not a number",
        ),
        ("info bad.obj", "on line 2"),
        (
            "simulate nowhere.obj",
            "nowhere.obj: no such file, nor a generated level (city,",
        ),
        ("simulate sub", "sub: is a directory"),
        ("info nowhere.obj", "nowhere.obj: no such file"),
        (
            "bake level.glb -o x.nav",
            "level.glb: glTF is not read by this version",
        ),
        ("bake floor.obj -o sub", "sub: cannot write"),
        ("bake floor.obj -o none/x.nav", "x.nav: cannot write"),
        (
            "simulate floor.obj --agents 65537",
            "--agents is 65537; it must be 1 to 65536",
        ),
        ("simulate floor.obj --agents 0", "--agents is 0"),
        (
            "simulate floor.obj --threads 1000",
            "--threads is 1000; it must be 1 to 256, or 0 for all",
        ),
        (
            "bake floor.obj -o x.nav --threads 1000",
            "--threads is 1000",
        ),
        ("simulate floor.obj --dt 0", "--dt is 0"),
        ("simulate floor.obj --dt -1", "--dt is -1"),
        ("simulate floor.obj --dt nan", "--dt is NaN"),
        ("simulate floor.obj --dt inf", "--dt is inf"),
        ("simulate floor.obj --cell 0", "cell_size is 0"),
        ("simulate floor.obj --radius -1", "agent_radius is -1"),
        (
            "simulate floor.obj --size 100",
            "--size is for generated levels",
        ),
        ("simulate city --size nan", "--size is NaN"),
        ("simulate city --size 1e9", "--size is 1000000000"),
        (
            "path floor.obj --from nan,0,0 --to 1,0,1",
            "--from.x is NaN",
        ),
        ("path floor.obj --from 0,0,0 --to 1,inf,1", "--to.y is inf"),
        (
            "path floor.obj --from 0,0,0 --to 1,0,-9e9",
            "--to.z is -9000000000",
        ),
    ] {
        let complaint = error(&folder, arguments, 1);
        assert!(complaint.contains(words), "{arguments}: {complaint}");
    }
    for arguments in [
        "",
        "fly",
        "simulate --agents -5",
        "simulate --steps x",
        "simulate --on-arrival dance",
        "path city --from 1,2 --to 3,4,5",
        "path city --from 1,2,3",
        "bake city",
        "bake city -o x --solo --tile 3",
    ] {
        assert!(error(&folder, arguments, 2).contains("help"), "{arguments}");
    }
    assert!(output(&folder, "--version").starts_with("throng 0."));
    for command in ["", "simulate", "bake", "path", "info"] {
        assert!(output(&folder, &format!("{command} --help")).contains("Usage"));
    }
}

//! What the program says when something is wrong with what it was asked, and its help.

use crate::{error, failed, folder, json, output, throng, write_floor};

#[test]
fn complaints_name_the_file_and_the_line() {
    let folder = folder("complaints");
    write_floor(&folder);
    std::fs::write(folder.join("bad.obj"), "v 0 0 0\nv 1 two 3\n").unwrap();
    std::fs::write(folder.join("far.obj"), "v 0 1e300 0\n").unwrap();
    std::fs::write(folder.join("binary.obj"), b"v 0 0 0\n\x80").unwrap();
    std::fs::write(folder.join("notes.txt"), "Buy milk.\n").unwrap();
    std::fs::write(folder.join("empty.obj"), "").unwrap();
    std::fs::write(folder.join("points.obj"), "v 0 0 0\nv 1 0 0\n").unwrap();
    std::fs::write(folder.join("level.glb"), b"glTF").unwrap();
    std::fs::create_dir(folder.join("sub")).unwrap();
    let ends = "--from 0,0,0 --to 1,0,1";
    let dash = if cfg!(unix) {
        "-: no such file; standard input is read as /dev/stdin"
    } else {
        "-: no such file"
    };
    for (arguments, words) in [
        (
            "simulate bad.obj",
            "bad.obj: OBJ: v.y on line 2: 'two' is not a number",
        ),
        ("info bad.obj", "on line 2"),
        ("info far.obj", "v.y on line 1: 1e300 is not finite and"),
        (
            "simulate binary.obj",
            "binary.obj: OBJ: line 2: byte 1 of the line is not UTF-8",
        ),
        ("info binary.obj", "OBJ: line 2: byte 1"),
        (
            "simulate nowhere.obj",
            "nowhere.obj: no such file, nor a generated level (city,",
        ),
        (
            "simulate ctiy",
            "ctiy: no such file; did you mean the generated level city?",
        ),
        (
            "simulate ctiy --size 128",
            "did you mean the generated level city?",
        ),
        ("simulate sub", "sub: is a directory"),
        ("info nowhere.obj", "nowhere.obj: no such file"),
        ("info -", dash),
        ("simulate -", dash),
        ("bake - -o x.nav", dash),
        (&format!("path - {ends}"), dash),
        (
            "bake level.glb -o x.nav",
            "level.glb: glTF: version at byte 4: the file ends here",
        ),
        ("simulate notes.txt", "notes.txt: no level: neither"),
        ("info notes.txt", "notes.txt: no level: neither"),
        ("info empty.obj", "empty.obj: no level: neither OBJ with"),
        (
            "simulate empty.obj --solo",
            "empty.obj: no level: neither OBJ with",
        ),
        (&format!("path notes.txt {ends}"), "no level"),
        ("bake points.obj -o x.nav", "an OBJ file without faces"),
        (
            "bake city -o x.nav --solo --size 4096",
            "city: the one tile of --solo is 4096.5; it must be at most 8192 cells of 0.3",
        ),
    ] {
        let complaint = error(&folder, arguments, 1);
        assert!(complaint.contains(words), "{arguments}: {complaint}");
    }
    assert!(!folder.join("x.nav").exists());
}

#[test]
fn usage_errors_name_the_flag_and_what_it_takes() {
    let folder = folder("usage");
    write_floor(&folder);
    for (arguments, words) in [
        ("", "Usage"),
        ("fly", "unrecognized subcommand"),
        (
            "simulate --agents -5",
            "'-5' for '--agents <N>': it must be a whole number, 1 to 65,536",
        ),
        ("simulate -n 1e4", "a whole number"),
        ("simulate --agents 65537", "1 to 65,536"),
        ("simulate --agents 0", "1 to 65,536"),
        ("simulate --steps x", "a whole number"),
        ("simulate --seed -1", "a whole number"),
        ("simulate --threads 1000", "0 to 256"),
        ("bake floor.obj -o x.nav --threads -1", "0 to 256"),
        ("bake floor.obj -o x.nav --min-region -4", "0 to 16,777,216"),
        ("simulate --on-arrival dance", "possible values"),
        ("simulate --dt 0", "above 0 and finite"),
        ("simulate --dt -1", "above 0 and finite"),
        ("simulate --dt nan", "above 0 and finite"),
        ("simulate --dt inf", "above 0 and finite"),
        ("simulate --dt 0,05", "a number, with a point"),
        ("simulate city --size nan", "64 to 4096"),
        ("simulate city --size 1e9", "64 to 4096"),
        ("simulate floor.obj --size 100", "--size is for generated"),
        ("simulate floor.obj --cell 0", "--cell is 0; it must be"),
        ("simulate floor.obj --cell 1e300", "--cell is 1e300; it"),
        ("simulate floor.obj --radius -1", "--radius is -1; it"),
        (
            "simulate floor.obj --slope 95",
            "--slope is 95; it must be between 0 and 90",
        ),
        (
            "bake floor.obj -o x.nav --cell 0.01",
            "--tile is 64 by default; with --cell 0.01 it must be small enough",
        ),
        (
            "bake floor.obj -o x.nav --tile 19.2",
            "--tile is 19.2; it must be exactly representable as a float32; the nearest is \
             19.200000762939453",
        ),
        ("bake city", "--output"),
        ("bake city -o x --solo --tile 3", "cannot be used with"),
        ("path city --from 1,2 --to 3,4,5", "three numbers"),
        ("path city --from 1,2,3", "--to"),
        ("path city --from nan,0,0 --to 1,0,1", "x is NaN"),
        ("path city --from 0,0,0 --to 1,inf,1", "y is inf"),
        ("path city --from 0,0,0 --to 1,0,1e300", "z is 1e300; it"),
    ] {
        let complaint = error(&folder, arguments, 2);
        assert!(complaint.contains(words), "{arguments}: {complaint}");
        assert!(complaint.contains("help"), "{arguments}: {complaint}");
    }
    for command in ["simulate", "info"] {
        let nameless = throng(&folder, &[command, ""]);
        assert_eq!(nameless.status.code(), Some(2), "{command}");
    }
    // What the complaint proposes is taken.
    json(&folder, "bake floor.obj -o x.nav --tile 19.200000762939453");
    let few = json(&folder, "simulate floor.obj --agents 1_000 --steps 0");
    assert!(few["agents"].as_u64().is_some_and(|agents| agents > 300));
}

#[test]
fn a_level_nobody_can_walk_in_is_told_why() {
    let folder = folder("empty");
    write_floor(&folder);
    let ceiling = "v 0 0 0\nv 9 0 0\nv 0 0 9\nf 1 2 3\n";
    std::fs::write(folder.join("ceiling.obj"), ceiling).unwrap();
    for (level, why) in [
        ("ceiling.obj", "No triangle faces up"),
        ("floor.obj --slope 0", "(--slope)"),
        (
            "floor.obj --radius 30",
            "radius 30 and height 2 in a region of 64 cells, each 0.3 wide",
        ),
        ("floor.obj --min-region 100000", "a region of 100000 cells"),
        (
            "floor.obj --radius 30 --min-region 0",
            "radius 30 and height 2 in cells 0.3 wide and 0.2 high (--radius, --height, --cell,",
        ),
        (
            "floor.obj --radius 30 --min-region 1",
            "in a region of 1 cell, 0.3 wide and 0.2 high (--radius, --height, --min-region,",
        ),
        ("floor.obj --cell 50 --tile 50", "--cell, --cell-height)"),
    ] {
        let file = level.split(' ').next().unwrap();
        let bake = format!("bake {level} -o empty.nav");
        let simulate = format!("simulate {level} --record no.thrr");
        let path = format!("path {level} --from 0,0,0 --to 1,0,1");
        for (arguments, more) in [
            (&bake, "empty.nav was not written"),
            (&simulate, "nothing was drawn or recorded"),
            (&path, "status "),
        ] {
            let (words, complaint) = failed(&folder, arguments);
            assert_eq!(complaint, format!("throng: {file}: no walkable ground\n"));
            let lines = words.lines().map(|line| line.chars().count());
            assert!(lines.max() <= Some(80), "{words}");
            let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains(why) && words.contains(more), "{words}");
            assert!(!words.contains("Next"), "{words}");
            // For programs the reason is in the one line that tells of the failure.
            let (out, complaint) = failed(&folder, &format!("{arguments} --json"));
            assert!(complaint.contains(why), "{complaint}");
            assert_eq!(out.lines().count(), 1, "{out}");
        }
        let (run, _) = failed(&folder, &format!("simulate {level} --json"));
        let run: serde_json::Value = serde_json::from_str(&run).unwrap();
        assert_eq!((&run["agents"], &run["polygons"]), (&0.into(), &0.into()));
        assert_eq!(crate::hash(&run).len(), 16);
        for file in ["empty.nav", "no.thrr"] {
            assert!(!folder.join(file).exists(), "{file}");
        }
    }
    let mesh = throng::NavMesh::build(&[], &[], &throng::NavSettings::HUMANOID).unwrap();
    std::fs::write(folder.join("empty.nav"), mesh.save()).unwrap();
    let (words, _) = failed(&folder, "simulate empty.nav");
    assert!(words.contains("It was baked so."), "{words}");
}

#[test]
fn a_full_device_is_named() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let folder = folder("full_device");
    write_floor(&folder);
    let full = std::fs::File::create("/dev/full").unwrap();
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_throng"))
        .args(["info", "floor.obj"])
        .current_dir(&folder)
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(1));
    assert_eq!(
        crate::text(&run.stderr),
        "throng: standard output: cannot write: no space left on device\n"
    );
}

#[test]
fn a_level_without_an_end_is_refused() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let (_, complaint) = failed(&folder("endless"), "info /dev/zero");
    assert_eq!(
        complaint,
        "throng: /dev/zero: is no file and has no end within 256 MB\n"
    );
}

/// What the complaint about `-` proposes.
#[test]
fn standard_input_is_read_by_its_name() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let folder = folder("standard_input");
    write_floor(&folder);
    let run = |input: std::process::Stdio| {
        let run = std::process::Command::new(env!("CARGO_BIN_EXE_throng"))
            .args(["info", "/dev/stdin", "--json"])
            .stdin(input)
            .output()
            .unwrap();
        assert!(run.status.success(), "{}", crate::text(&run.stderr));
        serde_json::from_slice::<serde_json::Value>(&run.stdout).unwrap()
    };
    let file = std::fs::File::open(folder.join("floor.obj")).unwrap();
    assert_eq!(run(file.into())["triangles"], 2);
    let mut cat = std::process::Command::new("cat")
        .arg(folder.join("floor.obj"))
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    assert_eq!(run(cat.stdout.take().unwrap().into())["triangles"], 2);
    cat.wait().unwrap();
}

#[test]
fn help_is_there_and_fits_the_command() {
    let folder = folder("help");
    assert!(output(&folder, "--version").starts_with("throng 0."));
    for command in ["", "simulate", "bake", "path", "info"] {
        assert!(output(&folder, &format!("{command} --help")).contains("Usage"));
    }
    // One line per flag, however wide the terminal.
    let help = |command: &str| {
        let help = output(&folder, &format!("{command} --help"));
        help.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for command in ["simulate", "bake", "path"] {
        let help = help(command);
        for words in [
            "a baked file",
            "a file called city is ./city",
            "Agent radius [default: 0.6; small 0.3, large 1.5]",
            "Height of a voxel [default: 0.2]",
        ] {
            assert!(help.contains(words), "{command}: {words}: {help}");
        }
        let speaks_of_agents = help.contains("2,500 agents") && help.contains("starts and goals");
        assert_eq!(speaks_of_agents, command == "simulate", "{help}");
    }
}

//! Files to be written are looked at first: none replaces the level or another, and what cannot be
//! written is said before any work is done.

use std::path::Path;

use crate::{error, failed, folder, json, write_floor};

/// The names in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

const ENDS: &str = "--from 3,0,3 --to 36,0,36";

#[test]
fn the_level_is_never_replaced() {
    let folder = folder("replaced");
    write_floor(&folder);
    std::fs::create_dir(folder.join("sub")).unwrap();
    std::fs::copy(folder.join("floor.obj"), folder.join("floor.svg")).unwrap();
    let mut others = vec!["floor.obj", "./floor.obj", "sub/../floor.obj"];
    if cfg!(unix) {
        #[cfg(unix)]
        std::os::unix::fs::symlink("floor.obj", folder.join("symbolic")).unwrap();
        std::fs::hard_link(folder.join("floor.obj"), folder.join("hard")).unwrap();
        others.extend(["symbolic", "hard"]);
    }
    let before = std::fs::read(folder.join("floor.obj")).unwrap();
    for level in ["floor.obj", "./floor.obj"] {
        for other in &others {
            for arguments in [
                format!("bake {level} -o {other}"),
                format!("simulate {level} -n 3 -s 1 --record {other}"),
            ] {
                let complaint = error(&folder, &arguments, 1);
                let words = format!("{other}: is the level itself");
                assert!(complaint.contains(&words), "{arguments}: {complaint}");
            }
        }
    }
    for arguments in [
        "simulate ./floor.svg -n 3 -s 1 --picture floor.svg".to_owned(),
        format!("path floor.svg {ENDS} --picture ./floor.svg"),
    ] {
        let complaint = error(&folder, &arguments, 1);
        assert!(complaint.contains("is the level itself"), "{complaint}");
    }
    for level in ["floor.obj", "floor.svg"] {
        assert_eq!(std::fs::read(folder.join(level)).unwrap(), before);
    }
    // A file named like a generated level is not that level.
    std::fs::write(folder.join("rooms"), "").unwrap();
    json(&folder, "bake rooms --size 64 -o rooms");
}

#[test]
fn two_outputs_are_two_files() {
    let folder = folder("two_outputs");
    write_floor(&folder);
    let complaint = error(
        &folder,
        "simulate floor.obj -n 3 -s 1 --record both.svg --picture ./both.svg",
        1,
    );
    assert!(complaint.contains("--picture too"), "{complaint}");
    assert_eq!(names(&folder), ["floor.obj"]);
}

#[test]
fn what_cannot_be_written_is_said_before_the_work() {
    let folder = folder("unwritable");
    write_floor(&folder);
    std::fs::create_dir(folder.join("sub")).unwrap();
    // Work that would take hours.
    let work = "simulate city --agents 65536 --steps 1000000";
    for (arguments, words) in [
        (
            format!("{work} --picture none/x.svg"),
            "x.svg: cannot write",
        ),
        (format!("{work} --record sub"), "sub: cannot write"),
        (
            "bake city --size 4096 -o none/x.nav".to_owned(),
            "x.nav: cannot write: no such file or directory",
        ),
        (
            format!("path floor.obj {ENDS} --picture sub"),
            "sub: cannot write",
        ),
    ] {
        let complaint = error(&folder, &arguments, 1);
        assert!(complaint.contains(words), "{arguments}: {complaint}");
    }
    let complaint = error(&folder, "simulate --picture crowd.png", 2);
    assert!(complaint.contains("must end in .svg"), "{complaint}");
    // Nor does a run that fails leave empty files, or touch what was there.
    std::fs::write(folder.join("old.nav"), "old").unwrap();
    error(&folder, "bake none.obj -o new.nav", 1);
    error(&folder, "bake none.obj -o old.nav", 1);
    assert_eq!(names(&folder), ["floor.obj", "old.nav", "sub"]);
    assert_eq!(std::fs::read(folder.join("old.nav")).unwrap(), b"old");
}

#[test]
fn a_picture_that_fails_does_not_lose_the_report() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let folder = folder("lost_report");
    write_floor(&folder);
    let walk = "simulate floor.obj -n 3 -s 5";
    for arguments in [
        format!("{walk} --picture /dev/full"),
        format!("{walk} --record /dev/full"),
        format!("path floor.obj {ENDS} --picture /dev/full"),
    ] {
        let (words, complaint) = failed(&folder, &arguments);
        assert!(words.contains("floor.obj"), "{arguments}: {words}");
        assert!(!words.contains("/dev/full"), "{arguments}: {words}");
        assert!(complaint.contains("/dev/full: cannot write"), "{complaint}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_write_that_fails_leaves_the_old_file() {
    use std::process::Command;

    let folder = folder("kept");
    write_floor(&folder);
    for (name, arguments) in [
        ("old.nav", "bake city --size 64 -o old.nav".to_owned()),
        (
            "old.svg",
            "simulate city --size 64 -n 20 -s 5 --picture old.svg".to_owned(),
        ),
        (
            "old.thrr",
            "simulate floor.obj -n 50 -s 50 --record old.thrr".to_owned(),
        ),
        (
            "new.svg",
            format!("path city --size 64 {ENDS} --picture new.svg"),
        ),
    ] {
        let is_old = name.starts_with("old");
        if is_old {
            std::fs::write(folder.join(name), "old").unwrap();
        }
        // The report goes through a pipe: only files are limited, to less than the one asked for.
        let program = env!("CARGO_BIN_EXE_throng");
        let script = format!("trap '' XFSZ; ulimit -f 4; exec {program} {arguments}");
        let run = Command::new("sh")
            .args(["-c", &script])
            .current_dir(&folder)
            .output()
            .unwrap();
        let complaint = crate::text(&run.stderr);
        assert_eq!(run.status.code(), Some(1), "{arguments}: {complaint}");
        let words = format!("throng: {name}: cannot write: ");
        assert!(complaint.starts_with(&words), "{complaint}");
        let left = std::fs::read(folder.join(name));
        assert_eq!(left.ok(), is_old.then(|| b"old".to_vec()), "{name}");
    }
    assert_eq!(
        names(&folder),
        ["floor.obj", "old.nav", "old.svg", "old.thrr"]
    );
}

#[test]
fn a_run_that_ends_early_leaves_the_old_recording() {
    let folder = folder("ended_early");
    std::fs::write(folder.join("old.thrr"), "old").unwrap();
    // The level is read after the file was looked at.
    error(&folder, "simulate none.obj --record old.thrr", 1);
    assert_eq!(names(&folder), ["old.thrr"]);
    assert_eq!(std::fs::read(folder.join("old.thrr")).unwrap(), b"old");
}

#[test]
#[cfg(unix)]
fn links_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = folder("links_stay");
    write_floor(&folder);
    std::fs::create_dir(folder.join("sub")).unwrap();
    let target = folder.join("sub/level.nav");
    std::fs::write(&target, "old").unwrap();
    std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o600)).unwrap();
    symlink("sub/level.nav", folder.join("link.nav")).unwrap();
    symlink("sub/new.nav", folder.join("dangling.nav")).unwrap();
    for link in ["link.nav", "dangling.nav"] {
        json(&folder, &format!("bake floor.obj -o {link}"));
        assert!(folder.join(link).is_symlink(), "{link}");
        assert!(json(&folder, &format!("info {link}"))["polygons"].is_u64());
    }
    let mode = std::fs::metadata(&target).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(names(&folder.join("sub")), ["level.nav", "new.nav"]);
}

#[test]
#[cfg(target_os = "linux")]
fn streams_and_pipes_are_written_as_they_are() {
    let folder = folder("streams");
    write_floor(&folder);
    json(&folder, "bake floor.obj -o floor.nav");
    let baked = std::fs::read(folder.join("floor.nav")).unwrap();
    let out = std::fs::File::create(folder.join("out")).unwrap();
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_throng"))
        .args("bake floor.obj -o /dev/stderr".split_whitespace())
        .current_dir(&folder)
        .stdout(std::process::Stdio::null())
        .stderr(out)
        .status();
    assert!(run.unwrap().success());
    assert_eq!(std::fs::read(folder.join("out")).unwrap(), baked);
    assert_eq!(names(&folder), ["floor.nav", "floor.obj", "out"]);
}

#[test]
fn a_file_on_standard_output_is_alone_there() {
    use std::process::{Command, Stdio};

    let folder = folder("standard_output");
    write_floor(&folder);
    json(&folder, "bake floor.obj -o floor.nav");
    let baked = std::fs::read(folder.join("floor.nav")).unwrap();
    let names_before = names(&folder);
    let streams: &[&str] = if cfg!(target_os = "linux") {
        &["-", "/dev/stdout", "/proc/self/fd/1"]
    } else {
        &["-"]
    };
    for stream in streams {
        let piped = crate::run(&folder, &format!("bake floor.obj -o {stream}"));
        assert!(piped.status.success());
        assert_eq!(piped.stdout, baked, "{stream}");
        let report = crate::text(&piped.stderr);
        assert!(
            report.contains("written") && !report.contains("Next"),
            "{report}"
        );
        let piped = crate::run(&folder, &format!("bake floor.obj --json -o {stream}"));
        assert_eq!(piped.stdout, baked, "{stream}");
        let report: serde_json::Value = serde_json::from_slice(&piped.stderr).unwrap();
        assert_eq!(report["bytes"], baked.len());
        assert_eq!(names(&folder), names_before);
        // Into a file, and behind what is in one: the stream has one place in it.
        for old in ["", "in front"] {
            let out = folder.join("out");
            std::fs::write(&out, old).unwrap();
            let open = std::fs::OpenOptions::new().append(true).open(&out).unwrap();
            let run = Command::new(env!("CARGO_BIN_EXE_throng"))
                .args(["bake", "floor.obj", "-o", stream])
                .current_dir(&folder)
                .stdout(open)
                .stderr(Stdio::null())
                .status();
            assert!(run.unwrap().success(), "{stream}");
            let written = std::fs::read(&out).unwrap();
            assert_eq!(written, [old.as_bytes(), &baked].concat(), "{stream}");
            std::fs::remove_file(&out).unwrap();
        }
    }
    let walk = "simulate floor.obj -n 3 -s 5";
    let recorded = crate::run(&folder, &format!("{walk} --record -"));
    std::fs::write(folder.join("crowd.thrr"), recorded.stdout).unwrap();
    assert_eq!(json(&folder, "info crowd.thrr")["frames"], 6);
    let report = crate::text(&recorded.stderr);
    assert!(
        report.contains("The recording is in standard output."),
        "{report}"
    );
    let complaint = error(&folder, &format!("{walk} --record - --picture -"), 1);
    assert!(
        complaint.contains("is the file of --picture too"),
        "{complaint}"
    );
    let drawn = crate::run(&folder, &format!("path floor.obj {ENDS} --picture -"));
    assert!(crate::text(&drawn.stdout).starts_with("<svg"));
    assert!(crate::text(&drawn.stderr).contains("found"));
}

#[test]
#[cfg(target_os = "linux")]
fn the_report_follows_a_file_on_standard_error() {
    // One file behind both streams, as of `2>&1`.
    let folder = folder("both_streams");
    write_floor(&folder);
    json(&folder, "bake floor.obj -o floor.nav");
    let baked = std::fs::read(folder.join("floor.nav")).unwrap();
    let out = std::fs::File::create(folder.join("out")).unwrap();
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_throng"))
        .args(["bake", "floor.obj", "-o", "/dev/stderr"])
        .current_dir(&folder)
        .stdout(out.try_clone().unwrap())
        .stderr(out)
        .status();
    assert!(run.unwrap().success());
    let both = std::fs::read(folder.join("out")).unwrap();
    let report = both.strip_prefix(&baked[..]).unwrap();
    assert!(crate::text(report).contains("written"));
}

#[test]
#[cfg(target_os = "linux")]
fn a_link_to_a_stream_leads_to_the_stream() {
    use std::os::unix::fs::{MetadataExt, symlink};

    let folder = folder("stream_links");
    write_floor(&folder);
    json(&folder, "bake floor.obj -o floor.nav");
    let baked = std::fs::read(folder.join("floor.nav")).unwrap();
    symlink("/dev/stderr", folder.join("named.nav")).unwrap();
    symlink("named.nav", folder.join("twice.nav")).unwrap();
    symlink("/proc/self", folder.join("self")).unwrap();
    for name in ["named.nav", "twice.nav", "self/fd/2"] {
        let out = std::fs::File::create(folder.join("out")).unwrap();
        let number = out.metadata().unwrap().ino();
        let run = std::process::Command::new(env!("CARGO_BIN_EXE_throng"))
            .args(["bake", "floor.obj", "-o", name])
            .current_dir(&folder)
            .stdout(std::process::Stdio::null())
            .stderr(out)
            .status();
        assert!(run.unwrap().success(), "{name}");
        let about = std::fs::metadata(folder.join("out")).unwrap();
        assert_eq!(about.ino(), number, "{name}: another file");
        assert_eq!(std::fs::read(folder.join("out")).unwrap(), baked, "{name}");
        std::fs::remove_file(folder.join("out")).unwrap();
    }
    assert!(folder.join("twice.nav").is_symlink());
}

#[test]
#[cfg(unix)]
fn a_file_is_written_where_its_folder_takes_no_other() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    let folder = folder("locked");
    write_floor(&folder);
    json(&folder, "bake floor.obj -o floor.nav");
    let locked = folder.join("sub");
    std::fs::create_dir(&locked).unwrap();
    std::fs::write(locked.join("old.nav"), "old").unwrap();
    let number = std::fs::metadata(locked.join("old.nav")).unwrap().ino();
    let lock = |mode| std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(mode));
    lock(0o555).unwrap();
    // Nothing is locked for the superuser.
    let is_locked = std::fs::write(locked.join("try"), "").is_err();
    if is_locked {
        let complaint = error(&folder, "bake floor.obj -o sub/new.nav", 1);
        assert!(complaint.contains("permission denied"), "{complaint}");
        json(&folder, "bake floor.obj -o sub/old.nav");
        let about = std::fs::metadata(locked.join("old.nav")).unwrap();
        assert_eq!(about.ino(), number);
        assert_eq!(
            std::fs::read(locked.join("old.nav")).unwrap(),
            std::fs::read(folder.join("floor.nav")).unwrap()
        );
        assert_eq!(names(&locked), ["old.nav"]);
    }
    lock(0o755).unwrap();
}

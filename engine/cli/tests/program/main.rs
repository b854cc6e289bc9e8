//! The built program, run as a user would: its reports, files, hashes and complaints.

#![allow(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod cells;
mod files;
mod gltf;
mod messages;
mod outputs;
mod pictures;
mod runs;

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

fn throng(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_throng"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The arguments in a line of words.
fn run(folder: &Path, arguments: &str) -> Output {
    let words: Vec<_> = arguments.split_whitespace().collect();
    throng(folder, &words)
}

/// Standard output of a run that must succeed without a word on standard error.
fn output(folder: &Path, arguments: &str) -> String {
    let run = run(folder, arguments);
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

/// Standard output and the one line of standard error of a run that must fail.
fn failed(folder: &Path, arguments: &str) -> (String, String) {
    let run = run(folder, arguments);
    let complaint = text(&run.stderr);
    assert_eq!(run.status.code(), Some(1), "{arguments}: {complaint}");
    assert_eq!(complaint.lines().count(), 1, "{complaint}");
    assert!(complaint.starts_with("throng: "), "{complaint}");
    (text(&run.stdout), complaint)
}

/// Standard error of a run that must fail with `code` and print nothing else.
fn error(folder: &Path, arguments: &str, code: i32) -> String {
    if code == 1 {
        let (out, complaint) = failed(folder, arguments);
        assert_eq!(out, "", "{arguments}");
        return complaint;
    }
    let run = run(folder, arguments);
    let complaint = text(&run.stderr);
    assert_eq!(run.status.code(), Some(code), "{arguments}: {complaint}");
    assert_eq!(text(&run.stdout), "", "{arguments}");
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

/// A run of a blink.
const SMALL: &str = "simulate rooms --size 96 --agents 120 --steps 60";

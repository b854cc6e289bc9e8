//! Recordings are a saved form: a frozen one is still read, the same run still records it, and
//! damaged ones are refused with the field that is wrong.
//!
//! `fixtures/0.1.0/recording.thrr` was written by the run of [`record`]. It is never rewritten;
//! `THRONG_BLESS=1` writes it where it is missing.

#![allow(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::{Value, json};

/// Bytes in front of the frames.
const HEADER: usize = 56;
/// Bytes of an agent in a frame.
const ROW: usize = 13;

/// A folder of this test alone, emptied.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn throng(folder: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_throng"))
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .output()
        .unwrap()
}

/// What the program says of a recording, or the complaint it ends with.
fn info(folder: &Path, bytes: &[u8]) -> Result<Value, String> {
    fs::write(folder.join("run.thrr"), bytes).unwrap();
    let run = throng(folder, "info run.thrr --json");
    let complaint = String::from_utf8(run.stderr).unwrap();
    match run.status.code() {
        Some(0) => Ok(serde_json::from_slice(&run.stdout).unwrap()),
        Some(1) => Err(complaint),
        other => panic!("ended with {other:?}: {complaint}"),
    }
}

/// Three agents, ten steps: the run the frozen file holds.
fn record(folder: &Path) -> Vec<u8> {
    let floor = "v 0 0 0\nv 0 0 40\nv 40 0 0\nv 40 0 40\nf 1 2 3\nf 3 2 4\n";
    fs::write(folder.join("floor.obj"), floor).unwrap();
    let walk = "simulate floor.obj --agents 3 --steps 10 --seed 7 --on-arrival remove";
    let run = throng(folder, &format!("{walk} --record run.thrr"));
    let complaint = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{complaint}");
    fs::read(folder.join("run.thrr")).unwrap()
}

fn frozen() -> Vec<u8> {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    let read = || {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let path = root.join("fixtures/0.1.0/recording.thrr");
        if std::env::var_os("THRONG_BLESS").is_some() && !path.exists() {
            fs::write(&path, record(&folder("recordings-bless"))).unwrap();
        }
        fs::read(&path).unwrap()
    };
    BYTES.get_or_init(read).clone()
}

#[test]
fn a_frozen_recording_is_read_and_recorded_alike() {
    let folder = folder("recordings-frozen");
    let bytes = frozen();
    assert_eq!(bytes.len(), HEADER + 11 * 3 * ROW);
    assert_eq!(bytes[..8], *b"THRR\x01\0\0\0");
    let found = info(&folder, &bytes).unwrap();
    let expected = json!({
        "kind": "recording", "form": "THRR", "version": 1,
        "file": "run.thrr", "bytes": bytes.len(),
        "agents": 3, "frames": 11, "dt": 0.05, "radius": 0.6,
        "origin": found["origin"], "states": found["states"],
    });
    assert_eq!(found, expected);
    assert_eq!(found["states"]["moving"], 3);
    assert!(record(&folder) == bytes, "the same run records other bytes");
}

#[test]
fn prefixes_and_tails_are_refused() {
    let folder = folder("recordings-cut");
    let bytes = frozen();
    // Every prefix of the header; of the frames each agent's ends and a byte about them.
    let rows = (HEADER..bytes.len()).filter(|at| (at - HEADER + 1) % ROW < 3);
    for length in (0..HEADER).chain(rows) {
        let complaint = info(&folder, &bytes[..length]).unwrap_err();
        assert_eq!(complaint.lines().count(), 1, "{length}: {complaint}");
        // Without its magic it is no recording, and without a header it has no frames.
        let field = if length < HEADER { "" } else { "frames" };
        assert!(complaint.contains(field), "{length}: {complaint}");
    }
    for more in [0, 1, 255] {
        let complaint = info(&folder, &[&bytes[..], &[more]].concat()).unwrap_err();
        assert!(complaint.contains("frames"), "{complaint}");
    }
}

#[test]
fn each_bad_field_is_refused_and_named() {
    let folder = folder("recordings-fields");
    let bytes = frozen();
    let nan = f64::NAN.to_le_bytes();
    let infinite = f64::INFINITY.to_le_bytes();
    let most = u32::MAX.to_le_bytes();
    let half = 0x8000_0000_u32.to_le_bytes();
    let last = bytes.len() - 1;
    let cases: [(usize, &[u8], &str); 15] = [
        (4, &[0, 0], "version"),
        (4, &[2, 0], "version"),
        (4, &[1, 1], "version"),
        (6, &[1, 0], "reserved"),
        (6, &[0, 128], "reserved"),
        (8, &[4, 0, 0, 0], "frames"),
        (8, &[0, 0, 0, 0], "frames"),
        (8, &most, "frames"),
        (12, &[10, 0, 0, 0], "frames"),
        (12, &half, "frames"),
        (12, &most, "frames"),
        (16, &nan, "seconds between frames"),
        (24, &infinite, "agent radius"),
        (48, &nan, "origin z"),
        (last, &[6], "state"),
    ];
    for (at, patch, field) in cases {
        let mut bad = bytes.clone();
        bad[at..at + patch.len()].copy_from_slice(patch);
        assert!(bad != bytes, "nothing changed at {at}");
        let complaint = info(&folder, &bad).unwrap_err();
        assert!(complaint.contains(field), "{field}: {complaint}");
    }
    for at in 0..4 {
        let mut bad = bytes.clone();
        bad[at] ^= 0x20;
        let complaint = info(&folder, &bad).unwrap_err();
        assert_eq!(complaint.lines().count(), 1, "{complaint}");
    }
    // No agents or no frames are recordings, however many of the other there are said to be.
    for (slots, frames) in [(0, u32::MAX), (u32::MAX, 0)] {
        let mut bare = bytes[..HEADER].to_vec();
        bare[8..12].copy_from_slice(&u32::to_le_bytes(slots));
        bare[12..16].copy_from_slice(&frames.to_le_bytes());
        let found = info(&folder, &bare).unwrap();
        assert_eq!(
            (&found["agents"], &found["frames"]),
            (&json!(slots), &json!(frames))
        );
    }
}

//! What every saved form must refuse or keep to, over the frozen files: each prefix, a byte too
//! many, another magic, version or section, counts the bytes cannot hold, encoding into exactly
//! enough room. And the list of public functions that write bytes: one without a frozen file fails.
//! Recordings, which the program alone reads and writes, have the same in `engine/cli/tests`.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod frozen;

use std::fs;
use std::path::{Path, PathBuf};

use frozen::{FILES, Readers, written, written_into};
use throng::{DataErrorKind, Location};
use throng_tests::workspace_folder;

/// Where the fields that a kit of hostile bytes needs are, in the frozen file of a form.
struct Layout {
    name: &'static str,
    /// Where forms inside it begin, itself included: magic, version, a zero or kind.
    envelopes: &'static [usize],
    /// Counts and lengths of 32 bits that the bytes behind them must justify.
    counts: &'static [usize],
    /// The section id, where there is one.
    section: Option<usize>,
}

/// Counts of a tile that begins at 0.
const TILE_COUNTS: [usize; 6] = [60, 64, 68, 72, 76, 80];

const LAYOUTS: [Layout; 13] = [
    layout("tile.onpt", &[0], &TILE_COUNTS, None),
    // Slot count, the first tile's length and its counts.
    layout(
        "mesh.onpm",
        &[0, 89],
        &[76, 85, 149, 153, 157, 161, 165, 169],
        None,
    ),
    // Section count and length, slot count, the first tile's length and its counts.
    layout(
        "snapshot.onps",
        &[0, 101],
        &[76, 84, 88, 97, 161, 165, 169, 173, 177, 181],
        Some(80),
    ),
    // Section count and length, slot count, the first tile's edits.
    layout(
        "snapshot_referenced.onps",
        &[0],
        &[76, 84, 88, 129],
        Some(80),
    ),
    // Link count, the mesh's length and slot count.
    layout("baked.onnm", &[0, 216], &[144, 212, 292], None),
    // Class count, the first class's length, its link count and its mesh's length.
    layout("world.onnw", &[0, 16, 168], &[8, 12, 160, 164], None),
    // Slot, agent and lowest free slot counts.
    layout("crowd.opcs", &[0], &[12, 16, 20], None),
    layout(
        "crowd_with_mesh.opcs",
        &[0, 12, 113, 3470],
        &[8, 88, 96, 100, 109, 3466, 3482, 3486, 3490],
        Some(92),
    ),
    layout(
        "crowd_with_mesh_referenced.opcs",
        &[0, 12, 266],
        &[8, 88, 96, 100, 141, 262, 278, 282, 286],
        Some(92),
    ),
    // Obstacles, volumes, corners, queue; the mesh's length, its sections', slots', first tile's.
    layout(
        "cache.ontk",
        &[0, 352, 453],
        &[16, 179, 204, 256, 348, 428, 436, 440, 449],
        Some(432),
    ),
    layout(
        "cache_referenced.ontk",
        &[0, 352],
        &[16, 179, 204, 256, 348, 428, 436, 440],
        Some(432),
    ),
    layout("corridor.bin", &[], &[2, 6], None),
    layout("follower.bin", &[], &[205, 209], None),
];

const fn layout(
    name: &'static str,
    envelopes: &'static [usize],
    counts: &'static [usize],
    section: Option<usize>,
) -> Layout {
    Layout {
        name,
        envelopes,
        counts,
        section,
    }
}

/// A public function that gives bytes: its file, its name, and the frozen files of what it writes.
type Writes = (&'static str, &'static str, &'static [&'static str]);

const SNAPSHOTS: &[&str] = &["snapshot.onps", "snapshot_referenced.onps"];
const CROWDS: &[&str] = &["crowd_with_mesh.opcs", "crowd_with_mesh_referenced.opcs"];
const CACHES: &[&str] = &["cache.ontk", "cache_referenced.ontk"];

const WRITERS: [Writes; 30] = [
    ("soa/src/mesh/format.rs", "tile_bytes", &["tile.onpt"]),
    (
        "soa/src/mesh/format.rs",
        "current_tile_bytes",
        &["tile.onpt"],
    ),
    ("soa/src/mesh/format.rs", "mesh_bytes", &["mesh.onpm"]),
    ("soa/src/mesh/format.rs", "write_mesh", &["mesh.onpm"]),
    ("soa/src/mesh/params.rs", "write", &["mesh.onpm"]),
    (
        "soa/src/mesh/snapshot.rs",
        "snapshot_bytes",
        &["snapshot.onps"],
    ),
    ("soa/src/mesh/snapshot.rs", "snapshot_bytes_in", SNAPSHOTS),
    ("soa/src/mesh/snapshot.rs", "try_snapshot", SNAPSHOTS),
    (
        "soa/src/mesh/snapshot.rs",
        "write_snapshot",
        &["snapshot.onps"],
    ),
    ("soa/src/mesh/snapshot.rs", "write_snapshot_in", SNAPSHOTS),
    ("build/src/cache/snapshot.rs", "snapshot", CACHES),
    ("build/src/cache/snapshot.rs", "try_snapshot", CACHES),
    ("build/src/stream.rs", "stream_out", &["tile.onpt"]),
    ("build/src/stream.rs", "column_bytes", &["tile.onpt"]),
    (
        "sim/src/corridor/standalone.rs",
        "to_bytes",
        &["corridor.bin"],
    ),
    ("sim/src/crowd/state.rs", "save_state", &["crowd.opcs"]),
    ("sim/src/crowd/state.rs", "try_save_state", &["crowd.opcs"]),
    (
        "sim/src/crowd/state_with_mesh.rs",
        "save_state_with_mesh",
        &["crowd_with_mesh.opcs"],
    ),
    (
        "sim/src/crowd/state_with_mesh.rs",
        "save_state_with_mesh_in",
        CROWDS,
    ),
    (
        "sim/src/crowd/state_with_mesh.rs",
        "try_save_state_with_mesh",
        CROWDS,
    ),
    (
        "sim/src/follower/standalone.rs",
        "to_bytes",
        &["follower.bin"],
    ),
    ("engine/src/navmesh.rs", "save", &["baked.onnm"]),
    ("engine/src/navmesh.rs", "try_save", &["baked.onnm"]),
    ("engine/src/save_snapshot.rs", "snapshot", SNAPSHOTS),
    ("engine/src/save_snapshot.rs", "try_snapshot", SNAPSHOTS),
    ("engine/src/streamer.rs", "column_bytes", &["tile.onpt"]),
    ("engine/src/tile_cache.rs", "snapshot", CACHES),
    ("engine/src/tile_cache.rs", "try_snapshot", CACHES),
    ("engine/src/world.rs", "save", &["world.onnw"]),
    ("engine/src/world.rs", "try_save", &["world.onnw"]),
];

fn readers() -> Readers {
    Readers::new(&written("snapshot.onps"), &written("cache.ontk"))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

#[test]
fn the_kit_knows_every_form() {
    let names: Vec<&str> = LAYOUTS.iter().map(|layout| layout.name).collect();
    assert_eq!(names, FILES);
}

#[test]
fn prefixes_and_a_byte_more() {
    let mut readers = readers();
    for name in FILES {
        let good = written(name);
        assert!(readers.again(name, &good).unwrap() == good, "{name}");
        for length in 0..good.len() {
            let error = readers.again(name, &good[..length]).unwrap_err();
            let told = error.at != Location::Nowhere;
            assert!(told, "{name} cut to {length}: {error}");
        }
        for more in [0, 1, 0xFF] {
            let longer = [&good[..], &[more]].concat();
            let error = readers.again(name, &longer).unwrap_err();
            assert_eq!(error.kind, DataErrorKind::Trailing, "{name}: {error}");
        }
    }
}

#[test]
fn magics_versions_flags_and_sections() {
    let mut readers = readers();
    for layout in &LAYOUTS {
        let name = layout.name;
        let good = written(name);
        let mut kind = |at: usize, bytes: &[u8]| {
            let mut bad = good.clone();
            bad[at..at + bytes.len()].copy_from_slice(bytes);
            assert!(bad != good, "{name}: nothing changed at {at}");
            readers.again(name, &bad).unwrap_err().kind
        };
        for &start in layout.envelopes {
            for (at, letter) in (start..).zip(&good[start..start + 4]) {
                let found = kind(at, &[letter ^ 0x20]);
                assert_eq!(found, DataErrorKind::Magic, "{name} at {at}");
            }
            let at = start + 4;
            let version = u16::from_le_bytes([good[at], good[at + 1]]);
            for found in [0, version - 1, version + 1, u16::MAX] {
                let expected = DataErrorKind::Version {
                    found: u32::from(found),
                    expected: u32::from(version),
                };
                assert_eq!(kind(at, &found.to_le_bytes()), expected, "{name} at {at}");
            }
            for bit in 2..16 {
                let flag = (1_u16 << bit).to_le_bytes();
                assert_eq!(kind(start + 6, &flag), DataErrorKind::Value, "{name}");
            }
        }
        if let Some(at) = layout.section {
            for id in [0_u16, 2, 3, u16::MAX] {
                assert_eq!(kind(at, &id.to_le_bytes()), DataErrorKind::Value, "{name}");
            }
            assert_eq!(kind(at + 2, &[1]), DataErrorKind::Value, "{name}");
        }
        if layout.envelopes.is_empty() {
            for found in [0, 2, 3, 0xFF] {
                let expected = DataErrorKind::Version {
                    found: u32::from(found),
                    expected: 1,
                };
                assert_eq!(kind(0, &[found]), expected, "{name}");
            }
        }
    }
}

/// The counts of a mesh snapshot that begins at `start`, slot by slot: those of a tile, of its edited
/// polygons and of its links switched off.
fn slot_counts(bytes: &[u8], start: usize) -> Vec<usize> {
    let mut counts = Vec::new();
    let mut at = start + 92;
    for _ in 0..u32_at(bytes, start + 88) {
        let kind = bytes[at + 4];
        at += 5;
        if kind == 1 {
            counts.push(at);
            counts.extend(TILE_COUNTS.map(|count| at + 4 + count));
            at += 4 + u32_at(bytes, at) as usize;
        } else if kind == 2 {
            at += 32;
        }
        if kind > 0 {
            let off = at + 4 + 7 * u32_at(bytes, at) as usize;
            counts.extend([at, off]);
            at = off + 4 + 4 * u32_at(bytes, off) as usize;
        }
    }
    counts
}

/// The counts of a crowd that begins at `start`, agent by agent: boundary pieces, the follower's
/// length, its corridor's capacity and polygons.
fn agent_counts(bytes: &[u8], start: usize) -> Vec<usize> {
    const OWN_PATH: usize = 157;
    let mut counts = Vec::new();
    let mut at = start + 40;
    for _ in 0..u32_at(bytes, start + 12) {
        at += 1;
        if bytes[at - 1] == 0 {
            continue;
        }
        // Id, priority, flags, wanted velocity; settings up to the flag of their own path.
        at += 33 + 74;
        at += OWN_PATH * usize::from(bytes[at - 1]);
        at += 1;
        if bytes[at - 1] == 1 {
            at += 16;
            counts.push(at);
            at += 4 + 60 * u32_at(bytes, at) as usize;
        }
        let follower = at + 4;
        counts.extend([at, follower + 205, follower + 209]);
        at = follower + u32_at(bytes, at) as usize;
    }
    assert_eq!(at, bytes.len(), "something follows the agents");
    counts
}

/// The counts inside a form that are found by reading it.
fn inner_counts(layout: &Layout, bytes: &[u8]) -> Vec<usize> {
    // Seven agents who all know walls; three tiles in the mesh and nine in the cache.
    const AGENTS: usize = 7 * 4;
    let crowd = *layout.envelopes.last().unwrap_or(&0);
    let (counts, expected) = match layout.name {
        "snapshot.onps" => (slot_counts(bytes, 0), 3 * 9),
        "snapshot_referenced.onps" => (slot_counts(bytes, 0), 3 * 2),
        "crowd.opcs" => (agent_counts(bytes, 0), AGENTS),
        "crowd_with_mesh.opcs" => {
            let inside = [slot_counts(bytes, 12), agent_counts(bytes, crowd)];
            (inside.concat(), 3 * 9 + AGENTS)
        }
        "crowd_with_mesh_referenced.opcs" => {
            let inside = [slot_counts(bytes, 12), agent_counts(bytes, crowd)];
            (inside.concat(), 3 * 2 + AGENTS)
        }
        "cache.ontk" => (slot_counts(bytes, 352), 9 * 9),
        "cache_referenced.ontk" => (slot_counts(bytes, 352), 9 * 2),
        _ => return Vec::new(),
    };
    assert_eq!(counts.len(), expected, "{}", layout.name);
    counts
}

#[test]
fn counts_too_large() {
    let mut readers = readers();
    for layout in &LAYOUTS {
        let (name, good) = (layout.name, written(layout.name));
        let inside = inner_counts(layout, &good);
        for &at in layout.counts.iter().chain(&inside) {
            let count = u32_at(&good, at);
            assert!(
                count as usize <= good.len(),
                "{name}: {count} at {at} is no count"
            );
            for more in [
                count + 1,
                count + 2,
                0xFFFF,
                1 << 20,
                i32::MAX as u32,
                u32::MAX,
            ] {
                let mut bad = good.clone();
                bad[at..at + 4].copy_from_slice(&more.to_le_bytes());
                let taken = readers.again(name, &bad);
                assert!(taken.is_err(), "{name}: {more} at {at} was taken");
            }
        }
    }
}

/// Every four bytes as a huge, a large and a negative number, wherever the counts are: refused, or
/// a value that comes back as it was written.
#[test]
fn huge_numbers_anywhere() {
    let mut readers = readers();
    for name in FILES {
        let good = written(name);
        for at in 0..good.len() - 3 {
            for number in [u32::MAX, 0x7FFF_FFFF, 0x8000_0000, 0x00FF_FFFF, 0] {
                let mut bad = good.clone();
                bad[at..at + 4].copy_from_slice(&number.to_le_bytes());
                let Ok(again) = readers.again(name, &bad) else {
                    continue;
                };
                // A volume's corners are taken in either winding and written in one.
                if name.starts_with("cache") {
                    assert!(
                        readers.again(name, &again).unwrap() == again,
                        "{name} at {at}"
                    );
                } else {
                    assert!(again == bad, "{name}: {number:#X} at {at}");
                }
            }
        }
    }
}

#[test]
fn exactly_enough_room() {
    let mut forms = 0;
    for name in FILES {
        let good = written(name);
        let mut room = vec![0xAA; good.len() + 1];
        let Some(length) = written_into(name, &mut room) else {
            continue;
        };
        forms += 1;
        assert_eq!(length, Some(good.len()), "{name}");
        assert!(room[..good.len()] == good, "{name}");
        assert_eq!(room[good.len()], 0xAA, "{name}: written past its end");
        let exact = &mut vec![0; good.len()][..];
        assert_eq!(written_into(name, exact).unwrap(), Some(good.len()));
        assert!(exact == good, "{name}");
        for short in [good.len() - 1, good.len() / 2, 7, 0] {
            let room = &mut vec![0; short][..];
            assert_eq!(written_into(name, room).unwrap(), None, "{name} in {short}");
        }
    }
    assert_eq!(forms, 9);
}

#[test]
fn every_function_that_writes_bytes_has_a_frozen_file() {
    let mut found = Vec::new();
    for folder in ["soa", "build", "query", "sim", "engine"] {
        let root = workspace_folder();
        sources(&root, &root.join(folder).join("src"), &mut found);
    }
    let known = |(file, name): &(String, String)| {
        let listed = |writer: &Writes| writer.0 == file && writer.1 == name;
        WRITERS.iter().any(listed)
    };
    let unknown: Vec<_> = found.iter().filter(|function| !known(function)).collect();
    assert!(
        unknown.is_empty(),
        "freeze a file of what these write, and list them: {unknown:#?}"
    );
    for (file, name, frozen) in WRITERS {
        let there = found.iter().any(|(f, n)| f == file && n == name);
        assert!(there, "{file}: {name} is gone");
        assert!(!frozen.is_empty(), "{file}: {name}");
        for frozen in frozen {
            assert!(FILES.contains(frozen), "{frozen} is not frozen");
        }
    }
    for file in FILES {
        let written = WRITERS.iter().any(|writer| writer.2.contains(&file));
        assert!(written, "nothing writes {file}");
    }
}

/// The public functions under a folder whose signature gives bytes.
fn sources(root: &Path, folder: &Path, found: &mut Vec<(String, String)>) {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            sources(root, &path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let file = path.strip_prefix(root).unwrap();
            let file = file.to_str().unwrap().replace('\\', "/");
            let text = fs::read_to_string(&path).unwrap();
            let names = writers_of(&text);
            found.extend(names.into_iter().map(|name| (file.clone(), name)));
        }
    }
}

fn writers_of(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for start in ["pub fn ", "pub const fn "] {
        for piece in text.split(start).skip(1) {
            let end = piece.find(['{', ';']).unwrap_or(piece.len());
            let signature: String = piece[..end].split_whitespace().collect();
            let (arguments, result) = signature.split_once("->").unwrap_or((&signature, ""));
            let takes = ["&mut[u8]", "&mutVec<u8>", "Writer<"];
            let gives = result.contains("Vec<u8>") || result.contains("Box<[u8]>");
            if gives || takes.iter().any(|&kind| arguments.contains(kind)) {
                let name = piece.split(|c: char| !c.is_alphanumeric() && c != '_');
                names.extend(name.take(1).map(str::to_owned));
            }
        }
    }
    names
}

#[test]
fn the_scan_sees_every_shape_of_writer() {
    let text = "
        pub fn plain(&self) -> Vec<u8> {}
        pub fn nested(
            &self,
        ) -> Result<Vec<Vec<u8>>, E> {}
        pub fn into_room(&self, room: &mut [u8]) -> Option<usize> {}
        pub fn generic<S: Sink>(&self, to: &mut Writer<S>) {}
        pub const fn append(to: &mut Vec<u8>) {}
        pub fn reader(bytes: &[u8]) -> Result<Self, E> {}
        pub fn columns(&self) -> Vec<u32> {}
        pub(crate) fn inner(&self) -> Vec<u8> {}
        fn private(&self) -> Vec<u8> {}";
    let expected = ["plain", "nested", "into_room", "generic", "append"];
    assert_eq!(writers_of(text), expected);
}

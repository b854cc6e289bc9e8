//! Files of released versions: every later release reads them and they behave as they did.
//!
//! `fixtures/<version>/` holds small files of each form and `fixtures.tsv`, a line a file: its
//! name, length and a hash of what the loaded state does (queries, links, steps), not of its
//! bytes. A file is never rewritten: `THRONG_BLESS=1` writes the files and lines that are not there
//! yet, for a version that is not out.
//!
//! The scenes are made by hand, so that no change of the builder touches them; only `baked.onnm`,
//! `world.onnw` and the tile cache's come from it. `snapshot.onps` and `cache.ontk` also hold, as built,
//! the tiles that the referenced files name.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

mod frozen;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::Once;

use frozen::scenes::{crowd, mesh};
use frozen::{FILES, Readers, written};
use throng::{Crowd, CrowdOptions, NavMesh, SplitMix64};
use throng_soa::digest::fnv1a64;
use throng_tests::workspace_folder;

const VERSIONS: [&str; 1] = ["0.1.0"];

fn folder(version: &str) -> PathBuf {
    workspace_folder().join("fixtures").join(version)
}

fn frozen(version: &str, name: &str) -> Vec<u8> {
    fs::read(folder(version).join(name)).unwrap()
}

fn readers(version: &str) -> Readers {
    Readers::new(
        &frozen(version, "snapshot.onps"),
        &frozen(version, "cache.ontk"),
    )
}

fn manifest(version: &str) -> BTreeMap<String, (usize, String)> {
    let text = fs::read_to_string(folder(version).join("fixtures.tsv")).unwrap_or_default();
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let length = fields[1].parse().unwrap();
            (fields[0].to_owned(), (length, fields[2].to_owned()))
        })
        .collect()
}

/// Blesses when asked to, before any test looks at the files.
fn bless_once() {
    static ONCE: Once = Once::new();
    if std::env::var_os("THRONG_BLESS").is_some() {
        ONCE.call_once(bless);
    }
}

/// Writes what is missing from the newest version's folder.
fn bless() {
    let version = VERSIONS[VERSIONS.len() - 1];
    let folder = folder(version);
    fs::create_dir_all(&folder).unwrap();
    let mut lines = manifest(version);
    for name in FILES {
        let path = folder.join(name);
        if !path.exists() {
            fs::write(&path, written(name)).unwrap();
            lines.remove(name);
        }
    }
    for name in FILES {
        let bytes = frozen(version, name);
        let text = || readers(version).behaviour(name, &bytes).0;
        let hash = || format!("{:016X}", fnv1a64(text().as_bytes()));
        lines
            .entry(name.to_owned())
            .or_insert_with(|| (bytes.len(), hash()));
    }
    let mut text = String::from("# file, bytes, FNV-1a 64 of what the loaded state does\n");
    for (name, (length, hash)) in lines {
        let _ = writeln!(text, "{name}\t{length}\t{hash}");
    }
    fs::write(folder.join("fixtures.tsv"), text).unwrap();
}

#[test]
fn every_release_is_read_and_behaves_as_it_did() {
    bless_once();
    for version in VERSIONS {
        let manifest = manifest(version);
        assert_eq!(manifest.len(), FILES.len(), "{version}");
        for (name, (length, expected)) in manifest {
            let bytes = frozen(version, &name);
            assert_eq!(bytes.len(), length, "{version}/{name}");
            let (text, again) = readers(version).behaviour(&name, &bytes);
            let hash = format!("{:016X}", fnv1a64(text.as_bytes()));
            assert_eq!(hash, expected, "{version}/{name} behaves differently");
            assert!(again == bytes, "{version}/{name} is written differently");
        }
    }
}

#[test]
fn the_same_scenes_are_still_written_the_same() {
    bless_once();
    let version = VERSIONS[VERSIONS.len() - 1];
    for name in FILES {
        let frozen = frozen(version, name);
        assert!(written(name) == frozen, "{version}/{name}");
        if name.starts_with("crowd") {
            let (text, _) = readers(version).behaviour(name, &frozen);
            assert!(
                text.contains("OffMeshLink"),
                "{name}: nobody crosses a link"
            );
        }
    }
}

/// Cuts, tails and every flipped bit of the envelopes that only this crate's callers see: refused,
/// or taken and written back the same.
#[test]
fn damaged_envelopes() {
    let mesh = mesh();
    for name in ["baked.onnm", "crowd.opcs", "crowd_with_mesh.opcs"] {
        let good = written(name);
        let mut target = Crowd::new(CrowdOptions::default()).unwrap();
        let mut target_mesh = mesh.clone();
        let mut read = |bytes: &[u8]| -> Option<Vec<u8>> {
            match name {
                "baked.onnm" => Some(NavMesh::load(bytes).ok()?.save()),
                "crowd.opcs" => {
                    target.restore_state(&mesh, bytes).ok()?;
                    Some(target.save_state(&mesh))
                }
                _ => {
                    target
                        .restore_state_with_mesh(&mut target_mesh, bytes)
                        .ok()?;
                    Some(target.save_state_with_mesh(&target_mesh))
                }
            }
        };
        assert!(read(&good).as_deref() == Some(&good), "{name}");
        for length in 0..good.len() {
            assert!(read(&good[..length]).is_none(), "{name} cut to {length}");
        }
        let mut longer = good.clone();
        longer.push(0);
        assert!(read(&longer).is_none(), "{name} and a byte more");
        let mut accepted = 0;
        for at in 0..good.len() {
            for bit in 0..8 {
                let mut bad = good.clone();
                bad[at] ^= 1 << bit;
                if let Some(again) = read(&bad) {
                    assert!(again == bad, "{name}: byte {at} bit {bit}");
                    accepted += 1;
                }
            }
        }
        println!("{name}: {accepted} of {} flips accepted", 8 * good.len());
    }
}

/// A crowd restored from damaged bytes that were accepted keeps stepping.
#[test]
fn damaged_crowds_step_on() {
    let mesh = mesh();
    let good = crowd(&mesh).save_state(&mesh);
    let mut rng = SplitMix64::new(11);
    let mut stepped = 0;
    for _ in 0..4000 {
        let mut bad = good.clone();
        for _ in 0..1 + rng.next_below(3) {
            let at = rng.next_below(bad.len() as u32) as usize;
            bad[at] ^= 1 << rng.next_below(8);
        }
        let mut target = Crowd::new(CrowdOptions::default()).unwrap();
        if target.restore_state(&mesh, &bad).is_ok() {
            stepped += 1;
            for _ in 0..3 {
                target.step(&mesh, 0.05).unwrap();
            }
            let saved = target.save_state(&mesh);
            let restored = target.restore_state(&mesh, &saved);
            restored.unwrap_or_else(|error| panic!("a state it wrote itself: {error}"));
        }
    }
    println!("{stepped} damaged states stepped");
    assert!(stepped > 100);
}

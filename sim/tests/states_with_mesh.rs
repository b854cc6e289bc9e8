//! Crowd and mesh saved together with the tiles named instead of written: the same state as the
//! full form, restored with a library, and refused whole without the right one.

#![allow(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod common;

use common::{place, two_floors};
use throng_sim::crowd::{AgentOptions, Crowd, CrowdOptions, mesh_of_state, mesh_of_state_with};
use throng_soa::digest::fnv1a64;
use throng_soa::error::{DataErrorKind, Location};
use throng_soa::mesh::snapshot::{SnapshotMode, snapshot_bytes};
use throng_soa::mesh::{TileLibrary, TiledMesh};
use throng_soa::rng::SplitMix64;

const MODES: [SnapshotMode; 2] = [SnapshotMode::Full, SnapshotMode::Referenced];

fn empty() -> Crowd {
    Crowd::new(CrowdOptions {
        query_nodes: 2048,
        ..CrowdOptions::default()
    })
    .unwrap()
}

fn scene() -> (TiledMesh, Crowd, TileLibrary) {
    let mut mesh = two_floors();
    let mut library = TileLibrary::new();
    library.add_mesh(&mesh);
    let slot = mesh.occupied_slots().next().unwrap();
    mesh.set_poly_area(mesh.poly_ref(slot, 0), 5).unwrap();
    let mut crowd = empty();
    let mut rng = SplitMix64::new(9);
    for _ in 0..12 {
        let (from, to) = (place(&mesh, &mut rng).1, place(&mesh, &mut rng).1);
        let id = crowd.add(&mesh, from, &AgentOptions::SMALL).unwrap();
        crowd.set_destination(&mesh, id, to).unwrap();
    }
    steps(&mesh, &mut crowd, 20);
    (mesh, crowd, library)
}

fn steps(mesh: &TiledMesh, crowd: &mut Crowd, count: usize) {
    for _ in 0..count {
        crowd.step(mesh, 0.05).unwrap();
    }
}

#[test]
fn both_modes_restore_the_same_future() {
    let (mut mesh, mut crowd, library) = scene();
    let saved = MODES.map(|mode| crowd.save_state_with_mesh_in(&mesh, mode));
    assert_eq!(saved[0], crowd.save_state_with_mesh(&mesh));
    assert!(saved[1].len() < saved[0].len());
    let before = snapshot_bytes(&mesh);
    steps(&mesh, &mut crowd, 60);
    let ahead = crowd.state_hash(&mesh);
    for bytes in &saved {
        // In place, after the mesh went elsewhere.
        let tile = mesh.tile_ref(mesh.occupied_slots().next().unwrap());
        mesh.remove_tile(tile.unwrap()).unwrap();
        crowd
            .restore_state_with_mesh_from(&mut mesh, bytes, &library)
            .unwrap();
        assert_eq!(snapshot_bytes(&mesh), before);
        steps(&mesh, &mut crowd, 60);
        assert_eq!(crowd.state_hash(&mesh), ahead);
        // New, for a host that has only the tiles.
        let mut other_mesh = mesh_of_state_with(bytes, &library).unwrap();
        let mut other = empty();
        other
            .restore_state_with_mesh_from(&mut other_mesh, bytes, &library)
            .unwrap();
        steps(&other_mesh, &mut other, 60);
        assert_eq!(other.state_hash(&other_mesh), ahead);
    }
}

#[test]
fn sizes_and_exact_room() {
    let (mesh, crowd, _) = scene();
    for mode in MODES {
        let bytes = crowd.save_state_with_mesh_in(&mesh, mode);
        assert_eq!(crowd.state_size_with_mesh(&mesh, mode), bytes.len());
        let mut room = vec![0; bytes.len()];
        let written = crowd.try_save_state_with_mesh(&mesh, mode, &mut room);
        assert_eq!(written, Some(bytes.len()));
        assert!(room == bytes);
        for short in [0, 8, bytes.len() - 1] {
            let written = crowd.try_save_state_with_mesh(&mesh, mode, &mut room[..short]);
            assert_eq!(written, None);
        }
    }
}

#[test]
fn the_layout_of_the_referenced_form() {
    let (mesh, crowd, _) = scene();
    let bytes = crowd.save_state_with_mesh_in(&mesh, SnapshotMode::Referenced);
    assert_eq!(bytes[..8], *b"OPCS\x01\0\x02\0");
    let length = i32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize;
    assert_eq!(bytes[12..16], *b"ONPS");
    assert_eq!(bytes[12 + 96], 2, "the first slot names its tile");
    let tile = mesh.tile(0).unwrap();
    assert_eq!(bytes[12 + 97..12 + 97 + 32], tile.content_id());
    let rest = &bytes[12 + length..];
    let crowd_length = i32::from_le_bytes(rest[..4].try_into().unwrap()) as usize;
    assert_eq!(rest[4..].len(), crowd_length);
    assert_eq!(rest[4..], crowd.save_state(&mesh));
    assert_eq!(format!("{:016X}", fnv1a64(&bytes)), "6259C2F6A88DD931");
}

#[test]
fn without_the_tiles_nothing_changes() {
    let (mesh, crowd, library) = scene();
    let bytes = crowd.save_state_with_mesh_in(&mesh, SnapshotMode::Referenced);
    let (mut target_mesh, mut target, _) = scene();
    steps(&target_mesh, &mut target, 3);
    let before = (
        target.save_state_with_mesh(&target_mesh),
        target_mesh.edit_count(),
    );
    let mut short = library.clone();
    let last = mesh.tiles().last().unwrap().1.content_id();
    short.remove(&last).unwrap();
    for library in [TileLibrary::new(), short] {
        let error = target
            .restore_state_with_mesh_from(&mut target_mesh, &bytes, &library)
            .unwrap_err();
        assert_eq!(error.field, "tile content id");
        let Location::Offset(at) = error.at else {
            panic!("{error}");
        };
        assert!((12..bytes.len() as u64).contains(&at));
    }
    assert!(
        target
            .restore_state_with_mesh(&mut target_mesh, &bytes)
            .is_err()
    );
    assert!(mesh_of_state(&bytes).is_err());
    // Prefixes, a tail, and heads that are wrong.
    let mut refuse = |bytes: &[u8]| {
        let error = target
            .restore_state_with_mesh_from(&mut target_mesh, bytes, &library)
            .unwrap_err();
        assert_eq!(
            (
                target.save_state_with_mesh(&target_mesh),
                target_mesh.edit_count()
            ),
            before
        );
        error
    };
    for length in 0..bytes.len() {
        refuse(&bytes[..length]);
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert_eq!(refuse(&longer).kind, DataErrorKind::Trailing);
    let with = |at: usize, value: u8| {
        let mut bad = bytes.clone();
        bad[at] = value;
        bad
    };
    assert_eq!(refuse(&with(0, b'o')).kind, DataErrorKind::Magic);
    assert!(matches!(
        refuse(&with(4, 2)).kind,
        DataErrorKind::Version {
            found: 2,
            expected: 1
        }
    ));
    assert_eq!(refuse(&with(6, 1)).field, "kind");
    assert_eq!(refuse(&with(11, 0x7F)).field, "mesh length");
    assert_eq!(refuse(&with(12, 0)).kind, DataErrorKind::Magic);
    assert_eq!(refuse(&with(12 + 80, 3)).field, "section id");
}

#[test]
fn flipped_bits_leave_both_or_neither() {
    let (mesh, crowd, library) = scene();
    let bytes = crowd.save_state_with_mesh_in(&mesh, SnapshotMode::Referenced);
    let (mut target_mesh, mut target) = (mesh.clone(), empty());
    let (mut accepted, mut refused) = (0, 0);
    for at in (0..bytes.len()).step_by(3) {
        let mut bad = bytes.clone();
        bad[at] ^= 1 << (at % 8);
        let before = target.save_state_with_mesh(&target_mesh);
        let restored = target.restore_state_with_mesh_from(&mut target_mesh, &bad, &library);
        if restored.is_ok() {
            let again = target.save_state_with_mesh_in(&target_mesh, SnapshotMode::Referenced);
            assert!(again == bad, "byte {at}");
            target.step(&target_mesh, 0.05).unwrap();
            accepted += 1;
        } else {
            assert!(
                target.save_state_with_mesh(&target_mesh) == before,
                "byte {at}"
            );
            refused += 1;
        }
    }
    assert!(accepted > 50 && refused > 50, "{accepted} {refused}");
}

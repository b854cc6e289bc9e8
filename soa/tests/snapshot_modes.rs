//! Full and referenced snapshots: the same mesh from both, sizes, golden bytes, and everything a
//! reference can get wrong.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]
#![allow(
    unsafe_code,
    reason = "a counting allocator is an unsafe trait; it only counts and forwards"
)]

mod common;
#[path = "common/counting.rs"]
mod counting;

use common::{all_links, lived_in, params, random_nav_tile, rich, square_tile};
use counting::bytes_asked;
use proptest::prelude::*;
use std::sync::Arc;
use throng_soa::digest::sha256;
use throng_soa::error::{DataError, DataErrorKind, Location};
use throng_soa::mesh::format::{current_tile_bytes, mesh_bytes, read_tile, tile_bytes};
use throng_soa::mesh::snapshot::{
    SnapshotMode, read_snapshot, read_snapshot_with, restore_snapshot_with, snapshot_bytes,
    snapshot_bytes_in, snapshot_size, try_snapshot,
};
use throng_soa::mesh::{MeshParams, NavTile, TileLibrary, TiledMesh};
use throng_soa::rng::SplitMix64;

const MODES: [SnapshotMode; 2] = [SnapshotMode::Full, SnapshotMode::Referenced];

fn library_of(mesh: &TiledMesh) -> TileLibrary {
    let mut library = TileLibrary::new();
    library.add_mesh(mesh);
    library
}

fn referenced(mesh: &TiledMesh) -> Vec<u8> {
    snapshot_bytes_in(mesh, SnapshotMode::Referenced)
}

fn read(bytes: &[u8], library: &TileLibrary) -> Result<TiledMesh, DataError> {
    let (read, asked) = bytes_asked(|| read_snapshot_with(bytes, library));
    assert!(asked < 64 * bytes.len() as u64 + (1 << 20), "{asked}");
    if let Err(error) = &read {
        let Location::Offset(offset) = error.at else {
            panic!("{error}");
        };
        assert!(offset <= bytes.len() as u64 && !error.problem.is_empty());
    }
    read
}

#[test]
fn both_modes_give_back_the_same_mesh() {
    let mesh = lived_in();
    let library = library_of(&mesh);
    for mode in MODES {
        let bytes = snapshot_bytes_in(&mesh, mode);
        let back = read(&bytes, &library).unwrap();
        assert_eq!(snapshot_bytes(&back), snapshot_bytes(&mesh));
        assert_eq!(referenced(&back), referenced(&mesh));
        assert_eq!(mesh_bytes(&back), mesh_bytes(&mesh));
        assert_eq!(all_links(&back), all_links(&mesh));
    }
    // Named tiles are shared with the library, not copied.
    let back = read(&referenced(&mesh), &library).unwrap();
    for (_, tile) in back.tiles() {
        let held = library.get(&tile.content_id()).unwrap();
        assert!(Arc::ptr_eq(tile.built(), held));
    }
    assert!(referenced(&mesh).len() * 4 < snapshot_bytes(&mesh).len());
}

#[test]
fn an_excursion_leaves_no_trace_in_either_mode() {
    for seed in 0..30_u64 {
        let mode = MODES[seed as usize % 2];
        let mut rng = SplitMix64::new(seed);
        let mut mesh = TiledMesh::new(params()).unwrap();
        for i in 0..4 {
            let tile = random_nav_tile(&mut rng, i, 0, 0, true);
            mesh.add_tile(tile).unwrap();
        }
        let edit = |mesh: &mut TiledMesh, rng: &mut SplitMix64| {
            let slot = rng.next_below(4);
            let polys = mesh.tile(slot).map_or(0, |tile| tile.poly_count() as u32);
            if polys > 0 {
                let poly = mesh.poly_ref(slot, rng.next_below(polys));
                mesh.set_poly_area(poly, rng.next_below(64) as u8).unwrap();
            }
        };
        edit(&mut mesh, &mut rng);
        let library = library_of(&mesh);
        let (stayed, saved) = (mesh.clone(), snapshot_bytes_in(&mesh, mode));
        edit(&mut mesh, &mut rng);
        mesh.remove_tile(mesh.tile_ref(2).unwrap()).unwrap();
        mesh.replace_tile(random_nav_tile(&mut rng, 1, 0, 0, true))
            .unwrap();
        mesh.add_tile(random_nav_tile(&mut rng, 9, 9, 0, true))
            .unwrap();
        restore_snapshot_with(&mut mesh, &saved, &library).unwrap();
        assert_eq!(snapshot_bytes_in(&mesh, mode), saved);
        assert_eq!(all_links(&mesh), all_links(&stayed));
        // Both go on alike.
        let (mut stayed, mut twin) = (stayed, rng);
        for _ in 0..5 {
            edit(&mut mesh, &mut rng);
            edit(&mut stayed, &mut twin);
            assert_eq!(
                snapshot_bytes_in(&mesh, mode),
                snapshot_bytes_in(&stayed, mode)
            );
        }
    }
}

#[test]
fn a_size_is_the_size_and_exactly_enough_room_is_enough() {
    let mesh = lived_in();
    for mode in MODES {
        let bytes = snapshot_bytes_in(&mesh, mode);
        assert_eq!(snapshot_size(&mesh, mode), bytes.len());
        let mut room = vec![0xAA; bytes.len()];
        let (written, asked) = bytes_asked(|| try_snapshot(&mesh, mode, &mut room));
        assert_eq!((written, asked), (Some(bytes.len()), 0));
        assert!(room == bytes);
        for short in [0, 1, bytes.len() / 2, bytes.len() - 1] {
            assert_eq!(try_snapshot(&mesh, mode, &mut room[..short]), None);
        }
        let mut wide = vec![0xAA; bytes.len() + 3];
        assert_eq!(try_snapshot(&mesh, mode, &mut wide), Some(bytes.len()));
        assert_eq!(wide[bytes.len()..], [0xAA; 3]);
    }
}

#[test]
fn a_referenced_snapshot_byte_by_byte() {
    let mut mesh = TiledMesh::new(params()).unwrap();
    let gone = mesh.add_tile(square_tile(5, 5, 0, 0.0)).unwrap();
    let tile = NavTile::create(rich(0, 0), &params()).unwrap();
    let id = sha256(&tile_bytes(&tile));
    mesh.add_tile(tile).unwrap();
    mesh.remove_tile(gone).unwrap();
    mesh.set_poly_flags(mesh.poly_ref(1, 4), 0x1234).unwrap();
    mesh.set_off_mesh_link_enabled(mesh.tile_ref(1).unwrap(), 2, false)
        .unwrap();
    let mut expected = b"ONPS\x02\0\0\0".to_vec();
    for value in [-4.0_f64, 0.0, 2.5, 8.0, 0.25] {
        expected.extend(value.to_le_bytes());
    }
    expected.extend([6, 0, 0, 0]);
    for value in [0.5_f32, 0.25, 2.0, 45.0] {
        expected.extend(value.to_le_bytes());
    }
    expected.extend([0; 8]);
    let body = 4 + 5 + 5 + 32 + 4 + 7 + 4 + 4;
    for value in [1_u32, 1, body, 2] {
        expected.extend(value.to_le_bytes());
    }
    expected.extend([2, 0, 0, 0, 0]); // slot 0: generation 2, free
    expected.extend([1, 0, 0, 0, 2]); // slot 1: generation 1, named
    expected.extend(id);
    expected.extend([1, 0, 0, 0, 4, 0, 0, 0, 0, 0x34, 0x12]); // polygon 4: area 0, flags
    expected.extend([1, 0, 0, 0, 2, 0, 0, 0]); // link 2 is off
    assert_eq!(referenced(&mesh), expected);
    let back = read(&expected, &library_of(&mesh)).unwrap();
    assert_eq!(mesh_bytes(&back), mesh_bytes(&mesh));
}

#[test]
fn golden_snapshots() {
    let mesh = lived_in();
    let hash = |mode| {
        let digest = sha256(&snapshot_bytes_in(&mesh, mode));
        digest[..8]
            .iter()
            .fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
    };
    assert_eq!(MODES.map(hash), ["10446cbd10a9454e", "54db27b6b00a31d3"]);
}

#[test]
fn inline_and_named_tiles_mix() {
    let mesh = lived_in();
    let (full, named) = (snapshot_bytes(&mesh), referenced(&mesh));
    // Slot 0 inline: header, generation, kind, length, tile, edits of one polygon, one switch.
    let tile_length = u32::from_le_bytes(full[97..101].try_into().unwrap()) as usize;
    let mut mixed = full[..101 + tile_length].to_vec();
    mixed.extend(&named[97 + 32..]);
    let length = (mixed.len() - 88) as u32;
    mixed[84..88].copy_from_slice(&length.to_le_bytes());
    let back = read(&mixed, &library_of(&mesh)).unwrap();
    assert_eq!(snapshot_bytes(&back), full);
    // The library need not hold the tile that stands inline, but all others.
    let mut some = library_of(&mesh);
    some.remove(&mesh.tile(0).unwrap().content_id()).unwrap();
    read(&mixed, &some).unwrap();
    some.remove(&mesh.tile(3).unwrap().content_id()).unwrap();
    assert_eq!(read(&mixed, &some).unwrap_err().field, "tile content id");
}

#[test]
fn a_tile_the_library_does_not_hold() {
    let mesh = lived_in();
    let bytes = referenced(&mesh);
    let mut target = lived_in();
    let before = (snapshot_bytes(&target), target.edit_count());
    for library in [TileLibrary::new(), {
        let mut all = library_of(&mesh);
        let last = mesh.tile(3).unwrap().content_id();
        all.remove(&last).unwrap();
        all
    }] {
        let error = restore_snapshot_with(&mut target, &bytes, &library).unwrap_err();
        assert_eq!(
            (error.field.as_str(), error.kind),
            ("tile content id", DataErrorKind::Value)
        );
        assert!(error.problem.contains("library"), "{error}");
    }
    assert!(read_snapshot(&bytes).is_err(), "no library, no named tile");
    assert_eq!((snapshot_bytes(&target), target.edit_count()), before);
}

#[test]
fn a_tile_built_for_another_mesh() {
    let mesh = lived_in();
    let mut bytes = referenced(&mesh);
    bytes[68] ^= 1; // the settings digest of the snapshot's parameters
    let error = read(&bytes, &library_of(&mesh)).unwrap_err();
    assert_eq!(error.kind, DataErrorKind::Fingerprint);
    // And a mesh with other parameters refuses a snapshot that is good in itself.
    let other = MeshParams {
        settings_digest: 1,
        ..params()
    };
    let mut target = TiledMesh::new(other).unwrap();
    let error = restore_snapshot_with(&mut target, &referenced(&mesh), &library_of(&mesh));
    assert_eq!(error.unwrap_err().kind, DataErrorKind::Fingerprint);
    assert_eq!(target.slot_count(), 0);
}

/// A large tile named again and again by few bytes: refused at the second, before it is copied.
#[test]
fn one_tile_named_many_times() {
    let mut mesh = TiledMesh::new(params()).unwrap();
    mesh.add_tile(NavTile::create(rich(0, 0), &params()).unwrap())
        .unwrap();
    let mut bytes = referenced(&mesh);
    let slot = bytes[92..].to_vec();
    for _ in 1..1000 {
        bytes.extend(&slot);
    }
    bytes[88..92].copy_from_slice(&1000_u32.to_le_bytes());
    let length = (bytes.len() - 88) as u32;
    bytes[84..88].copy_from_slice(&length.to_le_bytes());
    let error = read(&bytes, &library_of(&mesh)).unwrap_err();
    assert_eq!(error.field, "slot 1");
    assert_eq!(error.at, Location::Offset(92 + slot.len() as u64 + 4));
}

#[test]
fn prefixes_tails_and_headers_of_a_referenced_snapshot() {
    let mesh = lived_in();
    let (bytes, library) = (referenced(&mesh), library_of(&mesh));
    for length in 0..bytes.len() {
        assert!(read(&bytes[..length], &library).is_err(), "cut to {length}");
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert_eq!(
        read(&longer, &library).unwrap_err().kind,
        DataErrorKind::Trailing
    );
    let with = |at: usize, value: u8| {
        let mut bad = bytes.clone();
        bad[at] = value;
        read(&bad, &library).unwrap_err()
    };
    assert_eq!(with(0, b'o').kind, DataErrorKind::Magic);
    for found in [1, 3] {
        let kind = DataErrorKind::Version { found, expected: 2 };
        assert_eq!(with(4, found as u8).kind, kind);
    }
    assert_eq!(with(6, 1).field, "flags");
    assert_eq!(with(80, 2).field, "section id");
    assert_eq!(with(96, 3).field, "slot kind");
    for (at, field) in [
        (76, "section count"),
        (88, "slot count"),
        (97 + 32, "edit count"),
        (97 + 32 + 4 + 7, "disabled link count"),
    ] {
        for count in [7, 1 << 20, u32::MAX] {
            let mut bad = bytes.clone();
            bad[at..at + 4].copy_from_slice(&count.to_le_bytes());
            let error = read(&bad, &library).unwrap_err();
            let small = count == 7 && at < 97;
            assert!(small || error.kind == DataErrorKind::Count, "{error}");
            assert!(small || error.field == field, "{error}");
        }
    }
}

#[test]
fn every_single_bit_of_a_referenced_snapshot() {
    let mesh = lived_in();
    let (bytes, library) = (referenced(&mesh), library_of(&mesh));
    let mut accepted = 0;
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut bad = bytes.clone();
            bad[at] ^= 1 << bit;
            if let Ok(mesh) = read(&bad, &library) {
                assert!(referenced(&mesh) == bad, "byte {at} bit {bit}");
                accepted += 1;
            }
        }
    }
    // Generations and the values of edits.
    assert!((40..200).contains(&accepted), "{accepted}");
}

#[test]
fn current_values_become_those_as_built() {
    let mesh = lived_in();
    let tile = mesh.tile(0).unwrap();
    let bytes = current_tile_bytes(tile);
    assert_ne!(bytes, tile_bytes(tile));
    let again = read_tile(&bytes, &params()).unwrap();
    assert_eq!(again.data().poly_areas, tile.poly_area);
    assert_eq!(again.data().poly_flags, tile.poly_flags);
    assert_ne!(again.content_id(), tile.content_id());
    let untouched = mesh.tile(3).unwrap();
    assert_eq!(current_tile_bytes(untouched), tile_bytes(untouched));
}

#[test]
fn a_library_holds_equal_tiles_once() {
    let mut library = TileLibrary::new();
    assert!(library.is_empty());
    let first = library.add(square_tile(0, 0, 0, 0.0));
    assert_eq!(library.add(square_tile(0, 0, 0, 0.0)), first);
    let second = library.add(square_tile(1, 0, 0, 0.0));
    assert_eq!(library.len(), 2);
    let mut ids = [first, second];
    ids.sort_unstable();
    assert!(library.ids().eq(&ids));
    library.remove(&first).unwrap();
    assert!(library.get(&first).is_none() && library.get(&second).is_some());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn spliced_references(cuts in prop::collection::vec((any::<u16>(), any::<u16>(), any::<u8>()), 1..6)) {
        let mesh = lived_in();
        let library = library_of(&mesh);
        let good = referenced(&mesh);
        let mut bytes = good.clone();
        for (a, b, what) in cuts {
            let (a, b) = (usize::from(a) % good.len(), usize::from(b) % bytes.len().max(1));
            match what % 3 {
                0 => bytes.truncate(b),
                1 => bytes.splice(b.., good[a..].iter().copied()).for_each(drop),
                _ => if let Some(byte) = bytes.get_mut(b) { *byte = what; },
            }
        }
        if let Ok(mesh) = read(&bytes, &library) {
            prop_assert!(referenced(&mesh) == bytes);
        }
    }
}

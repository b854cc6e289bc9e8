//! Snapshots: a mesh put back is the mesh it was, and bytes that say anything else are refused
//! with the mesh untouched.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

mod common;

use common::{all_links, lived_in, params, random_nav_tile, square_tile};
use proptest::prelude::*;
use throng_soa::error::DataErrorKind;
use throng_soa::mesh::format::mesh_bytes;
use throng_soa::mesh::snapshot::{read_snapshot, restore_snapshot, snapshot_bytes};
use throng_soa::mesh::{MeshParams, PolyRef, TiledMesh};
use throng_soa::rng::SplitMix64;

/// One random operation of a running game.
fn mutate(mesh: &mut TiledMesh, rng: &mut SplitMix64) {
    let slot = rng.next_below(mesh.slot_count().max(1));
    match rng.next_below(6) {
        0 | 1 => {
            let (x, z) = (rng.next_below(3) as i32, rng.next_below(3) as i32);
            let tile = random_nav_tile(rng, x, z, 0, true);
            if mesh.tile_slot_at(x, z, 0).is_some() {
                mesh.replace_tile(tile).unwrap();
            } else {
                mesh.add_tile(tile).unwrap();
            }
        }
        2 => {
            if let Some(tile) = mesh.tile_ref(slot) {
                mesh.remove_tile(tile).unwrap();
            }
        }
        3 | 4 => {
            let polys = mesh.tile(slot).map_or(0, |tile| tile.poly_count() as u32);
            if polys > 0 {
                let poly = mesh.poly_ref(slot, rng.next_below(polys));
                mesh.set_poly_area(poly, rng.next_below(64) as u8).unwrap();
                mesh.set_poly_flags(poly, rng.next_below(4) as u16).unwrap();
            }
        }
        _ => {
            let links = mesh
                .tile(slot)
                .map_or(0, |t| t.off_mesh_enabled.len() as u32);
            if links > 0 {
                let tile = mesh.tile_ref(slot).unwrap();
                let on = rng.next_below(3) == 0;
                mesh.set_off_mesh_link_enabled(tile, rng.next_below(links), on)
                    .unwrap();
            }
        }
    }
}

/// References of every sort: current, old and forged.
fn references(mesh: &TiledMesh) -> Vec<PolyRef> {
    let mut all = vec![PolyRef::INVALID, PolyRef::from_bits(u64::MAX)];
    for slot in 0..mesh.slot_count() + 2 {
        for salt in 0..12 {
            for poly in [0, 1, 7, 1000] {
                all.push(PolyRef::from_parts(salt, slot, poly));
            }
        }
    }
    all
}

fn assert_same(a: &TiledMesh, b: &TiledMesh) {
    assert_eq!(snapshot_bytes(a), snapshot_bytes(b));
    assert_eq!(mesh_bytes(a), mesh_bytes(b));
    assert_eq!(all_links(a), all_links(b));
    for poly in references(a) {
        assert_eq!(a.resolve(poly).is_some(), b.resolve(poly).is_some());
    }
    for (slot, tile) in a.tiles() {
        let other = b.tile(slot).unwrap();
        assert_eq!(tile.poly_area, other.poly_area);
        assert_eq!(tile.poly_flags, other.poly_flags);
        assert_eq!(tile.off_mesh_enabled, other.off_mesh_enabled);
        assert_eq!(tile.tree(), other.tree());
    }
}

#[test]
fn an_excursion_leaves_no_trace() {
    for seed in 0..25 {
        let mut rng = SplitMix64::new(seed);
        let mut mesh = TiledMesh::new(params()).unwrap();
        for _ in 0..30 {
            mutate(&mut mesh, &mut rng);
        }
        let stayed = mesh.clone();
        let saved = snapshot_bytes(&mesh);
        for _ in 0..15 {
            mutate(&mut mesh, &mut rng);
        }
        restore_snapshot(&mut mesh, &saved).unwrap();
        assert_same(&stayed, &mesh);
        assert_same(&stayed, &read_snapshot(&saved).unwrap());
        // Both go on alike.
        let mut stayed = stayed;
        let mut twin = rng;
        for _ in 0..15 {
            mutate(&mut mesh, &mut rng);
            mutate(&mut stayed, &mut twin);
            assert_eq!(snapshot_bytes(&mesh), snapshot_bytes(&stayed));
        }
        assert_same(&stayed, &mesh);
    }
}

#[test]
fn restoring_moves_the_edit_count_past_every_earlier_one() {
    let mut mesh = lived_in();
    let saved = snapshot_bytes(&mesh);
    let mut seen = vec![mesh.edit_count()];
    for _ in 0..4 {
        restore_snapshot(&mut mesh, &saved).unwrap();
        assert!(!seen.contains(&mesh.edit_count()));
        seen.push(mesh.edit_count());
    }
}

#[test]
fn a_refused_restore_changes_nothing() {
    let mesh = lived_in();
    let saved = snapshot_bytes(&mesh);
    let mut target = TiledMesh::new(params()).unwrap();
    target.add_tile(square_tile(4, 4, 0, 0.0)).unwrap();
    let before = (snapshot_bytes(&target), target.edit_count());
    for length in 0..saved.len() {
        restore_snapshot(&mut target, &saved[..length]).unwrap_err();
    }
    assert_eq!((snapshot_bytes(&target), target.edit_count()), before);
    // Parameters are compared bit by bit.
    for other in [
        MeshParams {
            settings_digest: 1,
            ..params()
        },
        MeshParams {
            origin: params().origin + throng_soa::DVec3::Y * -0.0,
            ..params()
        },
        MeshParams {
            walkable_climb: -0.0,
            ..params()
        },
    ] {
        let mut foreign = TiledMesh::new(other).unwrap();
        if other.same_bits(&params()) {
            continue;
        }
        let error = restore_snapshot(&mut foreign, &saved).unwrap_err();
        assert_eq!(error.kind, DataErrorKind::Fingerprint);
        assert_eq!(foreign.slot_count(), 0);
    }
    restore_snapshot(&mut target, &saved).unwrap();
    assert_same(&mesh, &target);
}

/// The end of slot 0 in the snapshot of a mesh of one tile with `edits`, as raw bytes.
fn with_edits(edits: &[(u32, u8, u16)], disabled: &[u32]) -> Result<TiledMesh, String> {
    let mut mesh = TiledMesh::new(params()).unwrap();
    let tile = throng_soa::mesh::NavTile::create(common::rich(0, 0), &params()).unwrap();
    mesh.add_tile(tile).unwrap();
    let mut bytes = snapshot_bytes(&mesh);
    bytes.truncate(bytes.len() - 8); // no edits, no switches
    bytes.extend((edits.len() as u32).to_le_bytes());
    for &(poly, area, flags) in edits {
        bytes.extend(poly.to_le_bytes());
        bytes.push(area);
        bytes.extend(flags.to_le_bytes());
    }
    bytes.extend((disabled.len() as u32).to_le_bytes());
    for &index in disabled {
        bytes.extend(index.to_le_bytes());
    }
    let length = (bytes.len() - 88) as u32;
    bytes[84..88].copy_from_slice(&length.to_le_bytes());
    let read = read_snapshot(&bytes).map_err(|error| error.to_string())?;
    assert_eq!(snapshot_bytes(&read), bytes);
    Ok(read)
}

#[test]
fn edits_have_one_encoding() {
    // As built: areas 0 1 2 63 0 5, flags 1 1 2 0 65535 1.
    let read = with_edits(&[(0, 0, 2), (3, 62, 0), (5, 63, 0xFFFF)], &[0, 2]).unwrap();
    let tile = read.tile(0).unwrap();
    assert_eq!(tile.poly_area, [0, 1, 2, 62, 0, 63]);
    assert_eq!(tile.poly_flags, [2, 1, 2, 0, 0xFFFF, 0xFFFF]);
    assert_eq!(tile.off_mesh_enabled, [false, true, false]);
    for (edits, word) in [
        (&[(1, 1, 1)][..], "as built"),
        (&[(0, 64, 1)], "areas"),
        (&[(6, 1, 1)], "exist"),
        (&[(u32::MAX, 1, 1)], "exist"),
        (&[(2, 1, 1), (1, 5, 5)], "ascend"),
        (&[(2, 1, 1), (2, 5, 5)], "ascend"),
        (&[(0, 1, 1); 7], "count"),
    ] {
        let error = with_edits(edits, &[]).unwrap_err();
        assert!(error.contains(word), "{error}");
    }
    for (disabled, word) in [
        (&[3][..], "exist"),
        (&[1, 1], "ascend"),
        (&[2, 0], "ascend"),
        (&[0, 1, 2, 3], "count"),
    ] {
        let error = with_edits(&[], disabled).unwrap_err();
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn section_framing() {
    let good = snapshot_bytes(&lived_in());
    let refused = |edit: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        edit(&mut bytes);
        read_snapshot(&bytes).unwrap_err()
    };
    assert_eq!(refused(&|b| b[76] = 0).field, "section count");
    assert_eq!(refused(&|b| b[80] = 0).field, "section id");
    assert_eq!(refused(&|b| b[80] = 2).field, "section id");
    assert_eq!(refused(&|b| b[82] = 1).field, "section reserved");
    let length = (good.len() - 88) as u32;
    let set = |b: &mut Vec<u8>, n: u32| b[84..88].copy_from_slice(&n.to_le_bytes());
    assert_eq!(
        refused(&|b| set(b, length + 1)).kind,
        DataErrorKind::Truncated
    );
    refused(&|b| set(b, length - 1));
    // A body that is longer than its slots.
    let error = refused(&|b| {
        b.push(0);
        set(b, length + 1);
    });
    assert_eq!(error.kind, DataErrorKind::Trailing);
    // A second section, known or not, after the first.
    for id in [1, 2, 9] {
        let error = refused(&|b| {
            b[76] = 2;
            b.extend([id, 0, 0, 0, 0, 0, 0, 0]);
        });
        assert!(error.field.contains("section"), "{error}");
    }
    // Nothing but a header.
    let error = refused(&|b| {
        b.truncate(80);
        b[76] = 0;
    });
    assert_eq!(error.field, "section count");
    // Slot kinds.
    assert_eq!(refused(&|b| b[96] = 3).field, "slot kind");
    let error = refused(&|b| b[96] = 2);
    assert!(error.problem.contains("content id"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_history_comes_back(seed in any::<u64>(), steps in 0..40_usize) {
        let mut rng = SplitMix64::new(seed);
        let mut mesh = TiledMesh::new(params()).unwrap();
        for _ in 0..steps {
            mutate(&mut mesh, &mut rng);
        }
        assert_same(&mesh, &read_snapshot(&snapshot_bytes(&mesh)).unwrap());
    }
}

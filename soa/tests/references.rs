//! References, slots and generations, run-time edits, content ids.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

mod common;

use common::{all_links, params, random_nav_tile, rich, square_tile};
use std::sync::Arc;
use throng_soa::mesh::format::{mesh_bytes, read_mesh};
use throng_soa::mesh::{MAX_SALT, MeshEditError, MeshParams, NavTile, PolyRef, TileRef, TiledMesh};
use throng_soa::rng::SplitMix64;

fn mesh() -> TiledMesh {
    TiledMesh::new(params()).unwrap()
}

#[test]
fn removed_and_replaced_tiles_leave_stale_references() {
    let mut mesh = mesh();
    let tile = mesh.add_tile(square_tile(0, 0, 0, 0.0)).unwrap();
    assert_eq!(tile, TileRef { salt: 1, slot: 0 });
    let first = mesh.poly_ref(0, 0);
    assert!(mesh.resolve(first).is_some());
    let second_tile = mesh.replace_tile(square_tile(0, 0, 0, 0.0)).unwrap();
    assert_eq!(second_tile, TileRef { salt: 2, slot: 0 });
    let second = mesh.poly_ref(0, 0);
    assert!(mesh.resolve(first).is_none() && mesh.resolve(second).is_some());
    assert_eq!(mesh.remove_tile(tile), Err(MeshEditError::Stale));
    mesh.remove_tile(second_tile).unwrap();
    assert!(mesh.resolve(second).is_none());
    assert_eq!(mesh.remove_tile(second_tile), Err(MeshEditError::Stale));
    mesh.add_tile(square_tile(0, 0, 0, 0.0)).unwrap();
    assert_eq!(mesh.slot_salt(0), Some(3));
    for stale in [first, second] {
        assert!(mesh.resolve(stale).is_none());
        assert_eq!(mesh.set_poly_area(stale, 1), Err(MeshEditError::Stale));
        assert_eq!(mesh.set_poly_flags(stale, 1), Err(MeshEditError::Stale));
    }
}

#[test]
fn forged_references_resolve_to_nothing() {
    let mut mesh = mesh();
    mesh.add_tile(square_tile(0, 0, 0, 0.0)).unwrap();
    let gone = mesh.add_tile(square_tile(1, 0, 0, 0.0)).unwrap();
    mesh.remove_tile(gone).unwrap();
    let mut valid = 0;
    for salt in [0, 1, 2, 3, MAX_SALT] {
        for slot in [0, 1, 2, 0xF_FFFF] {
            for poly in [0, 1, 0xF_FFFF] {
                let forged = PolyRef::from_parts(salt, slot, poly);
                valid += usize::from(mesh.resolve(forged).is_some());
            }
        }
    }
    assert_eq!(valid, 1);
    assert!(mesh.resolve(PolyRef::INVALID).is_none());
    assert!(mesh.resolve(PolyRef::from_bits(u64::MAX)).is_none());
}

#[test]
fn the_lowest_free_slot_is_taken() {
    let mut mesh = mesh();
    let refs: Vec<TileRef> = (0..5)
        .map(|x| mesh.add_tile(square_tile(x, 0, 0, 0.0)).unwrap())
        .collect();
    for gone in [3, 1, 4] {
        mesh.remove_tile(refs[gone]).unwrap();
    }
    assert_eq!((mesh.slot_count(), mesh.tile_count()), (5, 2));
    let order: Vec<u32> = (10..14)
        .map(|x| mesh.add_tile(square_tile(x, 0, 0, 0.0)).unwrap().slot)
        .collect();
    assert_eq!(order, [1, 3, 4, 5]);
    assert_eq!(mesh.slot_salt(1), Some(2));
    assert_eq!(mesh.slot_salt(5), Some(1));
    assert_eq!(mesh.slot_salt(6), None);
}

#[test]
fn generations_wrap_past_zero() {
    let mut mesh = mesh();
    mesh.add_tile(square_tile(0, 0, 0, 0.0)).unwrap();
    let mut bytes = mesh_bytes(&mesh);
    bytes[80..84].copy_from_slice(&MAX_SALT.to_le_bytes());
    let mut mesh = read_mesh(&bytes).unwrap();
    let old = mesh.poly_ref(0, 0);
    assert_eq!(old.salt(), MAX_SALT);
    let tile = mesh.replace_tile(square_tile(0, 0, 0, 0.0)).unwrap();
    assert_eq!((tile.salt, mesh.poly_ref(0, 0).salt()), (1, 1));
    assert!(mesh.resolve(old).is_none());
    let mut mesh = read_mesh(&bytes).unwrap();
    mesh.remove_tile(mesh.tile_ref(0).unwrap()).unwrap();
    assert_eq!(mesh.slot_salt(0), Some(1));
    for salt in [0, MAX_SALT + 1, u32::MAX] {
        bytes[80..84].copy_from_slice(&salt.to_le_bytes());
        let error = read_mesh(&bytes).unwrap_err();
        assert_eq!(error.field, "slot generation");
    }
}

#[test]
fn refused_edits_change_nothing() {
    let mut mesh = mesh();
    mesh.add_tile(square_tile(0, 0, 0, 0.0)).unwrap();
    let before = (mesh_bytes(&mesh), mesh.edit_count());
    let other = MeshParams {
        settings_digest: 7,
        ..params()
    };
    let foreign = |x| {
        let mut data = square_tile(0, 0, 0, 0.0).data().clone();
        data.tile_x = x;
        NavTile::create(data, &other).unwrap()
    };
    let position = |x| (x, 0, 0);
    let at = |(x, z, layer)| MeshEditError::Fingerprint { x, z, layer };
    assert_eq!(mesh.add_tile(foreign(1)), Err(at(position(1))));
    // The fingerprint comes before everything else, even a taken or an empty position.
    assert_eq!(mesh.add_tile(foreign(0)), Err(at(position(0))));
    assert_eq!(mesh.replace_tile(foreign(0)), Err(at(position(0))));
    assert_eq!(mesh.replace_tile(foreign(9)), Err(at(position(9))));
    let (x, z, layer) = position(0);
    assert_eq!(
        mesh.add_tile(square_tile(0, 0, 0, 5.0)),
        Err(MeshEditError::Occupied { x, z, layer })
    );
    let (x, z, layer) = (0, 0, 1);
    assert_eq!(
        mesh.replace_tile(square_tile(0, 0, 1, 5.0)),
        Err(MeshEditError::NotThere { x, z, layer })
    );
    let poly = mesh.poly_ref(0, 0);
    assert_eq!(
        mesh.set_poly_area(poly, 64),
        Err(MeshEditError::Area { area: 64 })
    );
    let tile = mesh.tile_ref(0).unwrap();
    assert_eq!(
        mesh.set_off_mesh_link_enabled(tile, 0, false),
        Err(MeshEditError::Stale)
    );
    assert_eq!((mesh_bytes(&mesh), mesh.edit_count()), before);
}

#[test]
fn every_change_moves_the_edit_count() {
    let mut mesh = mesh();
    let mut last = mesh.edit_count();
    let mut moved = |mesh: &TiledMesh, what: &str| {
        assert!(mesh.edit_count() > last, "{what}");
        last = mesh.edit_count();
    };
    let rich = NavTile::create(rich(0, 0), &params()).unwrap();
    mesh.add_tile(rich.clone()).unwrap();
    moved(&mesh, "add");
    mesh.replace_tile(rich).unwrap();
    moved(&mesh, "replace");
    mesh.set_poly_area(mesh.poly_ref(0, 0), 3).unwrap();
    moved(&mesh, "area");
    mesh.set_poly_flags(mesh.poly_ref(0, 0), 3).unwrap();
    moved(&mesh, "flags");
    let tile = mesh.tile_ref(0).unwrap();
    mesh.set_off_mesh_link_enabled(tile, 0, false).unwrap();
    moved(&mesh, "switch");
    mesh.add_tiles([square_tile(1, 0, 0, 0.0), square_tile(2, 0, 0, 0.0)])
        .unwrap();
    moved(&mesh, "add many");
    let snapshot = throng_soa::mesh::snapshot::snapshot_bytes(&mesh);
    throng_soa::mesh::snapshot::restore_snapshot(&mut mesh, &snapshot).unwrap();
    moved(&mesh, "restore");
    mesh.remove_tile(tile).unwrap();
    moved(&mesh, "remove");
}

#[test]
fn edits_show_in_the_mesh_and_not_in_the_tile_as_built() {
    let shared: Arc<NavTile> = Arc::new(NavTile::create(rich(0, 0), &params()).unwrap());
    let id = shared.content_id();
    let (mut a, mut b) = (mesh(), mesh());
    a.add_tile(Arc::clone(&shared)).unwrap();
    b.add_tile(Arc::clone(&shared)).unwrap();
    a.set_poly_area(a.poly_ref(0, 1), 33).unwrap();
    a.set_poly_flags(a.poly_ref(0, 1), 0xABCD).unwrap();
    a.set_off_mesh_link_enabled(a.tile_ref(0).unwrap(), 0, false)
        .unwrap();
    let edited = a.tile(0).unwrap();
    assert_eq!((edited.poly_area[1], edited.poly_flags[1]), (33, 0xABCD));
    assert_eq!(edited.content_id(), id);
    assert_eq!(edited.data().poly_areas[1], 1);
    let untouched = b.tile(0).unwrap();
    assert_eq!((untouched.poly_area[1], untouched.poly_flags[1]), (1, 1));
    assert_eq!(untouched.off_mesh_enabled, [true; 3]);
    // A replaced tile starts from its own values.
    a.replace_tile(shared).unwrap();
    let fresh = a.tile(0).unwrap();
    assert_eq!((fresh.poly_area[1], fresh.poly_flags[1]), (1, 1));
    assert_eq!(fresh.off_mesh_enabled, [true; 3]);
}

#[test]
fn content_ids_tell_tiles_apart() {
    let id = |edit: fn(&mut throng_soa::mesh::TileData)| {
        let mut data = rich(0, 0);
        edit(&mut data);
        NavTile::create(data, &params()).unwrap().content_id()
    };
    let base = id(|_| {});
    assert_eq!(base, id(|_| {}));
    assert_ne!(base, id(|d| d.poly_areas[0] = 1));
    assert_ne!(base, id(|d| d.poly_flags[0] = 2));
    assert_ne!(base, id(|d| d.detail_triangles[0][3] = 0));
    assert_ne!(base, id(|d| d.off_mesh_links[0].user_id = 1));
    assert_ne!(base, id(|d| d.origin_y = 1.25));
    let other = MeshParams {
        agent_radius: 0.5,
        ..params()
    };
    let foreign = NavTile::create(rich(0, 0), &other).unwrap();
    assert_ne!(base, foreign.content_id());
}

#[test]
fn many_tiles_at_once_are_the_same_as_one_by_one() {
    for seed in 0..8 {
        let mut rng = SplitMix64::new(seed);
        let tiles: Vec<NavTile> = (0..12)
            .map(|i| random_nav_tile(&mut rng, i % 3, i / 6, i / 3 % 2, seed % 2 == 0))
            .collect();
        let (mut single, mut many) = (mesh(), mesh());
        for tile in &tiles {
            single.add_tile(tile.clone()).unwrap();
        }
        many.add_tiles(tiles.iter().cloned()).unwrap();
        assert_eq!(mesh_bytes(&single), mesh_bytes(&many));
        assert_eq!(all_links(&single), all_links(&many));
        assert_eq!(single.edit_count(), many.edit_count());
        // A refused one in the middle: those before it stay, stitched.
        let mut partial = mesh();
        let with_double = [&tiles[0], &tiles[1], &tiles[0], &tiles[2]].map(NavTile::clone);
        partial.add_tiles(with_double).unwrap_err();
        let mut two = mesh();
        two.add_tile(tiles[0].clone()).unwrap();
        two.add_tile(tiles[1].clone()).unwrap();
        assert_eq!(mesh_bytes(&partial), mesh_bytes(&two));
        assert_eq!(all_links(&partial), all_links(&two));
    }
}

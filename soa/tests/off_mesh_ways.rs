//! Which off-mesh links a mesh has, and which one a crossing is on; copies of edited tiles.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

mod common;

use common::{all_links, link, lived_in, params, random_nav_tile, rich, square, square_tile};
use std::sync::Arc;
use throng_soa::DVec3;
use throng_soa::agents::Crossing;
use throng_soa::mesh::format::{current_tile_bytes, mesh_bytes};
use throng_soa::mesh::snapshot::{SnapshotMode, read_snapshot_with, snapshot_bytes_in};
use throng_soa::mesh::{
    LinkKind, MeshEditError, NavTile, OffMeshWay, TileLibrary, TileRef, TiledMesh,
};
use throng_soa::rng::SplitMix64;

fn crossing(start: DVec3, end: DVec3) -> Crossing {
    Crossing {
        start,
        end,
        ..Crossing::default()
    }
}

fn user_ids(ways: impl Iterator<Item = OffMeshWay>) -> Vec<(u32, bool, bool)> {
    ways.map(|way| (way.ends.user_id, way.reversed, way.enabled))
        .collect()
}

#[test]
fn every_stitched_link_is_found_by_its_ends_like_a_scan_finds_it() {
    let (mut forward, mut back) = (0, 0);
    for seed in 0..600 {
        let mut rng = SplitMix64::new(seed);
        let mut mesh = TiledMesh::new(params()).unwrap();
        for i in 0..9 {
            let tile = random_nav_tile(&mut rng, i % 3, i / 3, 0, true);
            mesh.add_tile(tile).unwrap();
        }
        let all: Vec<OffMeshWay> = mesh.off_mesh_links().collect();
        let count = |mesh: &TiledMesh| {
            let tiles = mesh.tiles();
            tiles
                .map(|(_, tile)| tile.data().off_mesh_links.len())
                .sum::<usize>()
        };
        assert_eq!(all.len(), count(&mesh));
        assert!(all.is_sorted_by_key(|way| (way.tile.slot, way.index)));
        for (_, _, links) in all_links(&mesh) {
            for link in links.iter().filter(|link| link.kind != LinkKind::Portal) {
                let ends = mesh.off_mesh_link(link.link_slot, link.link_index).unwrap();
                let reversed = link.kind == LinkKind::OffMeshReverse;
                let (from, to) = if reversed {
                    (ends.end, ends.start)
                } else {
                    (ends.start, ends.end)
                };
                let scanned = |reversed: bool| {
                    let fits = move |way: &&OffMeshWay| {
                        let (a, b) = (way.ends.start, way.ends.end);
                        let way_ends = if reversed { (b, a) } else { (a, b) };
                        way_ends == (from, to) && (way.bidirectional || !reversed)
                    };
                    let turned = move |way: &OffMeshWay| OffMeshWay { reversed, ..*way };
                    all.iter().filter(fits).map(turned)
                };
                let expected: Vec<_> = scanned(false).chain(scanned(true)).collect();
                let found: Vec<_> = mesh.off_mesh_ways(from, to).collect();
                assert_eq!(found, expected);
                let way = mesh.link_of(&crossing(from, to)).unwrap();
                assert_eq!(
                    (way.tile.slot, way.index),
                    (link.link_slot, link.link_index)
                );
                assert_eq!(
                    (way.reversed, way.ends, way.enabled),
                    (reversed, ends, true)
                );
                forward += usize::from(!reversed);
                back += usize::from(reversed);
            }
        }
    }
    assert!(forward > 200 && back > 80, "{forward} {back}");
}

/// Two tiles with two links from the first to the second, one on the other, and one back.
fn doubled() -> (TiledMesh, TileRef, DVec3, DVec3) {
    let mut data = square(0, 0, 0, 0.0);
    let (here, there) = ([2.0, 0.0, 2.0], [10.0, 0.0, 2.0]);
    data.off_mesh_links = vec![
        link(here, there, true, 1),
        link(here, there, false, 2),
        link(there, here, true, 3),
    ];
    let mut mesh = TiledMesh::new(params()).unwrap();
    let tile = NavTile::create(data, &params()).unwrap();
    let tile = mesh.add_tile(tile).unwrap();
    mesh.add_tile(square_tile(1, 0, 0, 0.0)).unwrap();
    let ends = mesh.off_mesh_link(0, 0).unwrap();
    (mesh, tile, ends.start, ends.end)
}

#[test]
fn links_on_each_other_come_in_order_and_switches_choose_among_them() {
    let (mut mesh, tile, start, end) = doubled();
    let there = user_ids(mesh.off_mesh_ways(start, end));
    assert_eq!(there, [(1, false, true), (2, false, true), (3, true, true)]);
    assert_eq!(
        user_ids(mesh.off_mesh_ways(end, start)),
        [(3, false, true), (1, true, true)]
    );
    let id = |mesh: &TiledMesh| {
        let way = mesh.link_of(&crossing(start, end));
        way.map(|way| (way.ends.user_id, way.enabled))
    };
    assert_eq!(id(&mesh), Some((1, true)));
    mesh.set_off_mesh_link_enabled(tile, 0, false).unwrap();
    assert_eq!(id(&mesh), Some((2, true)));
    mesh.set_off_mesh_link_enabled(tile, 1, false).unwrap();
    assert_eq!(id(&mesh), Some((3, true)));
    mesh.set_off_mesh_link_enabled(tile, 2, false).unwrap();
    // All off: the agent is still on one of them.
    assert_eq!(id(&mesh), Some((1, false)));
    assert_eq!(mesh.off_mesh_links().filter(|way| way.enabled).count(), 0);
    // The way a found link is named is the way it is switched.
    let way = mesh.link_between(end, start).unwrap();
    mesh.set_off_mesh_link_enabled(way.tile, way.index, true)
        .unwrap();
    assert_eq!(id(&mesh), Some((3, true)));
    // Ends that are no link's, and a tile that is gone.
    let aside = DVec3::new(0.0, 0.0, f64::MIN_POSITIVE);
    for (a, b) in [
        (start, start),
        (start + aside + DVec3::X, end),
        (DVec3::NAN, end),
        (DVec3::MAX, DVec3::MIN),
    ] {
        assert_eq!(mesh.link_between(a, b), None);
    }
    mesh.remove_tile(tile).unwrap();
    assert_eq!(id(&mesh), None);
    assert_eq!(mesh.off_mesh_links().count(), 0);
}

#[test]
fn a_copy_carries_the_edits_and_leaves_what_was_built_alone() {
    let source = lived_in();
    let before = mesh_bytes(&source);
    let mut mesh = TiledMesh::new(params()).unwrap();
    for (_, tile) in source.tiles() {
        mesh.add_tile_copy(tile).unwrap();
    }
    let (mut edits, mut switched) = (0, 0);
    for ((_, from), (_, to)) in source.tiles().zip(mesh.tiles()) {
        assert!(Arc::ptr_eq(from.built(), to.built()));
        assert_eq!(from.content_id(), to.content_id());
        assert_eq!(current_tile_bytes(from), current_tile_bytes(to));
        assert_eq!(from.off_mesh_enabled, to.off_mesh_enabled);
        edits += (0..to.poly_count())
            .filter(|&i| {
                to.poly_area[i] != to.data().poly_areas[i]
                    || to.poly_flags[i] != to.data().poly_flags[i]
            })
            .count();
        switched += to.off_mesh_enabled.iter().filter(|&&on| !on).count();
    }
    assert_eq!((edits, switched), (2, 1));
    // A referenced snapshot names the tiles as built and holds the edits beside them.
    let mut library = TileLibrary::new();
    library.add_mesh(&mesh);
    let bytes = snapshot_bytes_in(&mesh, SnapshotMode::Referenced);
    let back = read_snapshot_with(&bytes, &library).unwrap();
    assert_eq!(mesh_bytes(&back), mesh_bytes(&mesh));
    assert_eq!(all_links(&back), all_links(&mesh));
    // Moving a tile out and in by its copy changes nothing but the generation.
    let slot = 0;
    let saved = mesh.tile(slot).unwrap().clone();
    let links = all_links(&mesh);
    mesh.remove_tile(mesh.tile_ref(slot).unwrap()).unwrap();
    let added = mesh.add_tile_copy(&saved).unwrap();
    assert_eq!(added, TileRef { salt: 2, slot });
    let ends = |all: Vec<(u32, u32, Vec<throng_soa::mesh::Link>)>| -> Vec<_> {
        let link = |(slot, poly, links): (u32, u32, Vec<throng_soa::mesh::Link>)| {
            let to: Vec<_> = links
                .iter()
                .map(|link| (link.target.slot(), link.target.poly(), link.kind))
                .collect();
            (slot, poly, to)
        };
        all.into_iter().map(link).collect()
    };
    assert_eq!(ends(all_links(&mesh)), ends(links));
    // As built is a choice too, and an edit of the copy is not one of the source.
    let mut plain = TiledMesh::new(params()).unwrap();
    plain.add_tile(saved.built().clone()).unwrap();
    let tile = plain.tile(0).unwrap();
    assert_eq!(tile.poly_area, tile.data().poly_areas);
    mesh.set_poly_area(mesh.poly_ref(0, 0), 44).unwrap();
    assert_eq!(mesh_bytes(&source), before);
}

#[test]
fn copies_that_were_tampered_with_are_refused_and_change_nothing() {
    let mut mesh = TiledMesh::new(params()).unwrap();
    let rich = NavTile::create(rich(0, 0), &params()).unwrap();
    mesh.add_tile(rich).unwrap();
    let good = mesh.tile(0).unwrap().clone();
    let occupied = MeshEditError::Occupied {
        x: 0,
        z: 0,
        layer: 0,
    };
    assert_eq!(mesh.add_tile_copy(&good), Err(occupied));
    mesh.remove_tile(mesh.tile_ref(0).unwrap()).unwrap();
    let before = (mesh_bytes(&mesh), mesh.edit_count());
    let tampered = |change: fn(&mut throng_soa::mesh::Tile)| {
        let mut copy = good.clone();
        change(&mut copy);
        copy
    };
    for copy in [
        tampered(|tile| tile.poly_area[0] = 64),
        tampered(|tile| tile.poly_area.truncate(5)),
        tampered(|tile| tile.poly_flags.push(1)),
        tampered(|tile| tile.off_mesh_enabled.clear()),
    ] {
        let error = mesh.add_tile_copy(&copy).unwrap_err();
        assert!(matches!(error, MeshEditError::Copy { .. }), "{error}");
    }
    let mut other = params();
    other.walkable_climb = 0.25;
    let mut other = TiledMesh::new(other).unwrap();
    let error = other.add_tile_copy(&good).unwrap_err();
    assert!(matches!(error, MeshEditError::Fingerprint { .. }));
    assert_eq!((mesh_bytes(&mesh), mesh.edit_count()), before);
    // The links a copy came with are not taken over: those of its new mesh are derived.
    let mut copy = good.clone();
    copy.links.clear();
    copy.link_first.clear();
    mesh.add_tile_copy(&copy).unwrap();
    assert_eq!(mesh.tile(0).unwrap().links, {
        let mut alone = TiledMesh::new(params()).unwrap();
        alone.add_tile(good.built().clone()).unwrap();
        let tile = alone.tile_ref(0).unwrap();
        alone.remove_tile(tile).unwrap();
        alone.add_tile(good.built().clone()).unwrap();
        alone.tile(0).unwrap().links.clone()
    });
}

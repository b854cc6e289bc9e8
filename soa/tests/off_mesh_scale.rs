//! Off-mesh links in large meshes: what grows with the content stays linear in it, and what would
//! not is refused before anything changes.
//!
//! The cases are sized so that a product (tiles by tiles, slots by links) would show as many
//! seconds where the whole file takes one.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

mod common;

use common::{link, params, square};
use throng_soa::error::DataErrorKind;
use throng_soa::mesh::format::{mesh_bytes, read_mesh};
use throng_soa::mesh::snapshot::{read_snapshot, snapshot_bytes};
use throng_soa::mesh::{
    DetailMesh, LinkKind, MeshEditError, NavTile, OffMeshLink, TileData, TiledMesh,
};

fn nav_tile(data: TileData) -> NavTile {
    NavTile::create(data, &params()).unwrap()
}

fn mesh_of(tiles: impl IntoIterator<Item = TileData>) -> TiledMesh {
    let mut mesh = TiledMesh::new(params()).unwrap();
    mesh.add_tiles(tiles.into_iter().map(nav_tile)).unwrap();
    mesh
}

fn empty(x: i32, z: i32) -> TileData {
    TileData {
        tile_x: x,
        tile_z: z,
        ..TileData::default()
    }
}

/// Quads of their own four vertices, `count` of them side by side over one unit along z.
fn strip(x: i32, z: i32, count: u16) -> TileData {
    let mut data = empty(x, z);
    let at = |i: u16| f32::from(i) / f32::from(count);
    for i in 0..count {
        let first = data.vertices.len() as u16;
        data.vertices.extend([
            [1.0, 0.0, at(i)],
            [2.0, 0.0, at(i)],
            [2.0, 0.0, at(i + 1)],
            [1.0, 0.0, at(i + 1)],
        ]);
        data.poly_indices.extend(first..first + 4);
        push_quad(&mut data);
    }
    data
}

fn push_quad(data: &mut TileData) {
    data.poly_vertex_counts.push(4);
    data.edge_neighbors.extend([0; 4]);
    data.edge_portal_sides.extend([255; 4]);
    data.poly_areas.push(0);
    data.poly_flags.push(1);
    data.detail_meshes.push(DetailMesh::default());
}

/// `count` links of a radius that takes in a whole strip at each end.
fn links(count: u32, start: [f32; 3], end: [f32; 3]) -> impl Iterator<Item = OffMeshLink> {
    (0..count).map(move |i| OffMeshLink {
        radius: 4.0,
        ..link(start, end, true, i)
    })
}

const ON_STRIP: [f32; 3] = [1.5, 0.0, 0.5];

#[test]
fn one_link_among_forty_thousand_empty_tiles() {
    let mesh = mesh_of((0..40_000).map(|i| {
        let mut data = empty(i % 200, i / 200);
        if i == 0 {
            data.off_mesh_links
                .push(link([1.0, 0.0, 1.0], [9.0, 0.0, 1.0], true, 0));
        }
        data
    }));
    let bytes = mesh_bytes(&mesh);
    let read = read_mesh(&bytes).unwrap();
    assert!(read.has_off_mesh_links() && mesh_bytes(&read) == bytes);
    let bytes = snapshot_bytes(&mesh);
    assert_eq!(snapshot_bytes(&read_snapshot(&bytes).unwrap()), bytes);
}

#[test]
fn a_hundred_thousand_links_over_many_tiles() {
    const SIDE: i32 = 128;
    const OWNED: u32 = 6;
    let mut mesh = mesh_of((0..SIDE * SIDE).map(|i| {
        let mut data = square(i % SIDE, i / SIDE, 0, 0.0);
        // Into the next tile along x, two ways.
        let across = (0..OWNED).map(|k| link([4.0, 0.0, 1.0], [12.0, 0.0, 1.0], true, k));
        data.off_mesh_links.extend(across);
        data
    }));
    let expected = |x: i32| {
        let (own, back) = (x + 1 < SIDE, x > 0);
        OWNED as usize * (usize::from(own) + usize::from(back))
    };
    for (slot, tile) in mesh.tiles() {
        let x = tile.data().tile_x;
        let off_mesh = tile.links.iter().filter(|l| l.kind != LinkKind::Portal);
        let found: Vec<_> = off_mesh
            .map(|l| (l.kind as u8, l.target.slot(), l.link_slot, l.link_index))
            .collect();
        assert_eq!(found.len(), expected(x), "slot {slot}");
        assert!(found.is_sorted());
        for (kind, target, owner, _) in found {
            let forward = kind == LinkKind::OffMesh as u8;
            let other = if forward { slot + 1 } else { slot - 1 };
            assert_eq!((target, owner), (other, slot.min(other)));
        }
    }
    let owner = mesh.tile_ref(0).unwrap();
    mesh.set_off_mesh_link_enabled(owner, 0, false).unwrap();
    let read = read_mesh(&mesh_bytes(&mesh)).unwrap();
    assert_eq!(read.tile(1).unwrap().links, {
        mesh.set_off_mesh_link_enabled(owner, 0, true).unwrap();
        mesh.tile(1).unwrap().links.clone()
    });
}

#[test]
fn a_large_tile_may_have_thousands_of_links() {
    // 180 x 180 quads, and a link of ordinary radius between every eighth and its mirror image.
    const SIDE: u16 = 180;
    let mut data = empty(0, 0);
    let at = |i: u16| f32::from(i) * 8.0 / f32::from(SIDE);
    for z in 0..=SIDE {
        for x in 0..=SIDE {
            data.vertices.push([at(x), 0.0, at(z)]);
        }
    }
    for z in 0..SIDE {
        for x in 0..SIDE {
            let a = z * (SIDE + 1) + x;
            let up = a + SIDE + 1;
            data.poly_indices.extend([a, a + 1, up + 1, up]);
            push_quad(&mut data);
            if (x + z * SIDE) % 8 == 0 {
                let (x, z) = (at(x) + 0.02, at(z) + 0.02);
                data.off_mesh_links.push(OffMeshLink {
                    radius: 0.1,
                    ..link([x, 0.0, z], [8.0 - x, 0.0, 8.0 - z], false, 0)
                });
            }
        }
    }
    let count = data.off_mesh_links.len();
    assert!(count > 4000);
    let mesh = mesh_of([data]);
    assert_eq!(mesh.tile(0).unwrap().links.len(), count);
    let read = read_mesh(&mesh_bytes(&mesh)).unwrap();
    assert_eq!(read.tile(0).unwrap().links, mesh.tile(0).unwrap().links);
}

fn assert_too_many<T: std::fmt::Debug>(outcome: Result<T, MeshEditError>) {
    let refused = outcome.unwrap_err();
    assert!(
        matches!(refused, MeshEditError::TooManyLinks { .. }),
        "{refused}"
    );
}

#[test]
fn many_links_over_many_polygons_are_refused_before_they_are_attached() {
    // Eight thousand quads under both ends of eight thousand links: the pairs would take many
    // seconds, on every edit.
    let mut data = strip(0, 0, 8000);
    data.off_mesh_links.extend(links(8000, ON_STRIP, ON_STRIP));
    let tile = nav_tile(data);
    let mut mesh = TiledMesh::new(params()).unwrap();
    assert_too_many(mesh.add_tile(tile.clone()));
    assert_eq!((mesh.tile_count(), mesh.edit_count()), (0, 0));
    assert!(!mesh.has_off_mesh_links());
    // Of many, those before it stay.
    let tiles = [nav_tile(empty(5, 5)), tile, nav_tile(empty(6, 6))];
    assert_too_many(mesh.add_tiles(tiles));
    assert_eq!((mesh.tile_count(), mesh.edit_count()), (1, 1));
}

#[test]
fn the_limit_is_over_all_tiles_and_follows_them() {
    // The links of one tile end on the strip of another: either alone is nothing.
    let strip_at = |count| nav_tile(strip(1, 0, count));
    let linked = |count| {
        let mut data = square(0, 0, 0, 0.0);
        let on_other = [8.0 + ON_STRIP[0], 0.0, ON_STRIP[2]];
        data.off_mesh_links
            .extend(links(count, [4.0, 0.0, 4.0], on_other));
        nav_tile(data)
    };
    let (many, few) = (15_000, 15);
    let mut mesh = TiledMesh::new(params()).unwrap();
    let owner = mesh.add_tile(linked(many)).unwrap();
    let before = snapshot_bytes(&mesh);
    assert_too_many(mesh.add_tile(strip_at(8000)));
    assert_eq!(snapshot_bytes(&mesh), before);
    assert_eq!(mesh.tile(0).unwrap().links.len(), 0);
    // A smaller strip fits, and growing it in place does not.
    mesh.add_tile(strip_at(8)).unwrap();
    assert_eq!(mesh.tile(0).unwrap().links.len(), many as usize);
    let before = snapshot_bytes(&mesh);
    assert_too_many(mesh.replace_tile(strip_at(8000)));
    assert_eq!(snapshot_bytes(&mesh), before);
    // Room again once the links are gone; then there is none for them.
    mesh.remove_tile(owner).unwrap();
    mesh.replace_tile(strip_at(8000)).unwrap();
    let owner = mesh.add_tile(linked(few)).unwrap();
    assert_eq!(mesh.tile(0).unwrap().links.len(), few as usize);
    assert_too_many(mesh.replace_tile(linked(many)));
    assert_eq!(mesh.tile_ref(0), Some(owner));
    assert_eq!(mesh.tile(0).unwrap().links.len(), few as usize);
}

#[test]
fn bytes_of_too_many_links_are_refused() {
    let mut data = strip(0, 0, 8000);
    data.off_mesh_links.extend(links(8000, ON_STRIP, ON_STRIP));
    // A mesh of one empty tile with another tile's bytes in its place.
    let mut bytes = mesh_bytes(&mesh_of([empty(0, 0)]));
    let tile = throng_soa::mesh::format::tile_bytes(&nav_tile(data));
    let header = bytes.len() - throng_soa::mesh::format::tile_bytes(&nav_tile(empty(0, 0))).len();
    bytes.truncate(header);
    bytes[header - 4..].copy_from_slice(&(tile.len() as u32).to_le_bytes());
    bytes.extend(tile);
    let error = read_mesh(&bytes).unwrap_err();
    assert_eq!(error.kind, DataErrorKind::Limit, "{error}");
    assert_eq!(error.field, "slot 0");
}

#[test]
fn empty_layers_under_many_ends_count_too() {
    // No polygon anywhere, yet each end asks every layer of its column: 1000 times 140 thousand.
    let mut mesh = TiledMesh::new(params()).unwrap();
    mesh.add_tiles((0..1000).map(|layer| {
        nav_tile(TileData {
            layer,
            ..empty(0, 0)
        })
    }))
    .unwrap();
    let mut data = empty(1, 0);
    let end = [-4.0, 0.0, 4.0];
    data.off_mesh_links.extend(links(140_000, [0.0; 3], end));
    assert_too_many(mesh.add_tile(nav_tile(data)));
    assert_eq!(mesh.tile_count(), 1000);
}

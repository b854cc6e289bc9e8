//! Tile, mesh and snapshot bytes: what is written comes back, and what was never written is
//! refused whole, without a panic and without asking for more memory than the bytes justify.

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

use common::{all_links, lived_in, params, rich};
use counting::bytes_asked;
use proptest::prelude::*;
use throng_soa::error::{DataError, DataErrorKind, Location};
use throng_soa::mesh::format::{mesh_bytes, read_mesh, read_mesh_parallel, read_tile, tile_bytes};
use throng_soa::mesh::snapshot::{read_snapshot, snapshot_bytes};
use throng_soa::mesh::{DetailMesh, MeshParams, NO_PORTAL, NavTile, TileData, TiledMesh};

/// One of the three forms, as bytes to bytes: reading and writing again.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Tile,
    Mesh,
    Snapshot,
}

const FORMS: [Form; 3] = [Form::Tile, Form::Mesh, Form::Snapshot];

impl Form {
    fn sample(self) -> Vec<u8> {
        match self {
            Self::Tile => tile_bytes(&NavTile::create(rich(0, 0), &params()).unwrap()),
            Self::Mesh => mesh_bytes(&lived_in()),
            Self::Snapshot => snapshot_bytes(&lived_in()),
        }
    }

    fn magic(self) -> &'static [u8; 4] {
        match self {
            Self::Tile => b"ONPT",
            Self::Mesh => b"ONPM",
            Self::Snapshot => b"ONPS",
        }
    }

    /// Reads and writes again, within the memory rule: 64 times the input and a megabyte, freed or
    /// not.
    fn again(self, bytes: &[u8]) -> Result<Vec<u8>, DataError> {
        let (result, asked) = bytes_asked(|| match self {
            Self::Tile => read_tile(bytes, &params()).map(|tile| tile_bytes(&tile)),
            Self::Mesh => read_mesh(bytes).map(|mesh| mesh_bytes(&mesh)),
            Self::Snapshot => read_snapshot(bytes).map(|mesh| snapshot_bytes(&mesh)),
        });
        let most = 64 * bytes.len() as u64 + (1 << 20);
        if self == Self::Mesh {
            let parallel = read_mesh_parallel(bytes).map(|mesh| mesh_bytes(&mesh));
            assert_eq!(parallel, result);
        }
        assert!(
            asked < most,
            "{self:?}: {} bytes in, {asked} asked for",
            bytes.len()
        );
        result
    }

    /// Every input is refused with a place inside it, or written back to the same bytes: the
    /// writer is canonical and the reader takes nothing the writer would not write.
    fn check(self, bytes: &[u8]) -> bool {
        match self.again(bytes) {
            Ok(written) => {
                assert!(
                    written == bytes,
                    "{self:?}: accepted bytes changed on writing"
                );
                true
            }
            Err(error) => {
                assert!(!error.field.is_empty() && !error.problem.is_empty());
                match error.at {
                    Location::Offset(offset) => assert!(offset <= bytes.len() as u64, "{error}"),
                    ref other => panic!("{error} at {other:?}"),
                }
                false
            }
        }
    }
}

#[test]
fn round_trips() {
    for form in FORMS {
        let bytes = form.sample();
        assert_eq!(form.again(&bytes).unwrap(), bytes);
    }
    let mesh = lived_in();
    let read = read_mesh(&mesh_bytes(&mesh)).unwrap();
    // A file keeps what is current and makes it the tile as built; switches are not content.
    let tile = read.tile(0).unwrap();
    assert_eq!((tile.poly_area[2], tile.data().poly_areas[2]), (9, 9));
    assert_eq!(tile.off_mesh_enabled, [true; 3]);
    for slot in 0..mesh.slot_count() {
        assert_eq!(read.slot_salt(slot), mesh.slot_salt(slot));
        assert_eq!(read.tile(slot).is_some(), mesh.tile(slot).is_some());
    }
    let empty = TiledMesh::new(params()).unwrap();
    assert_eq!(mesh_bytes(&empty).len(), 80);
    assert_eq!(
        mesh_bytes(&read_mesh(&mesh_bytes(&empty)).unwrap()),
        mesh_bytes(&empty)
    );
    assert_eq!(snapshot_bytes(&empty).len(), 92);
    read_snapshot(&snapshot_bytes(&empty)).unwrap();
    let nothing = tile_bytes(&NavTile::create(TileData::default(), &params()).unwrap());
    assert_eq!(nothing.len(), 84);
    read_tile(&nothing, &params()).unwrap();
}

#[test]
fn layouts_are_where_they_are_said_to_be() {
    let data = rich(0, 0);
    let tile = tile_bytes(&NavTile::create(data.clone(), &params()).unwrap());
    assert_eq!(tile[..8], *b"ONPT\x02\0\0\0");
    assert_eq!(tile[8..24], params().fingerprint());
    assert_eq!(tile[36..44], (-4.0_f64).to_le_bytes());
    assert_eq!(tile[44..52], 1.5_f64.to_le_bytes());
    assert_eq!(tile[52..60], 2.5_f64.to_le_bytes());
    let counts: Vec<u32> = tile[60..84]
        .chunks(4)
        .map(|b| u32::from_le_bytes(b.try_into().unwrap()))
        .collect();
    assert_eq!(counts, [12, 6, 24, 3, 6, 3]);
    let length = 84 + 12 * 12 + 16 * 6 + 7 * 24 + 12 * 3 + 4 * 6 + 36 * 3;
    assert_eq!(tile.len(), length);
    let last = &tile[length - 36..];
    assert_eq!(last[24..28], 1.0_f32.to_le_bytes());
    assert_eq!(last[28..30], [4, 1]);
    assert_eq!(last[32..36], 9_u32.to_le_bytes());
    let mesh = mesh_bytes(&lived_in());
    assert_eq!(mesh[..8], *b"ONPM\x02\0\0\0");
    assert_eq!(mesh[76..80], 4_u32.to_le_bytes());
    assert_eq!(mesh[80..85], [1, 0, 0, 0, 1]);
    let snapshot = snapshot_bytes(&lived_in());
    assert_eq!(snapshot[..8], *b"ONPS\x02\0\0\0");
    assert_eq!(snapshot[8..76], mesh[8..76]);
    assert_eq!(snapshot[76..84], [1, 0, 0, 0, 1, 0, 0, 0]);
}

#[test]
fn prefixes_and_tails_are_refused() {
    for form in FORMS {
        let bytes = form.sample();
        for length in 0..bytes.len() {
            assert!(!form.check(&bytes[..length]), "{form:?} cut to {length}");
        }
        for tail in [0, 1, 255] {
            let mut longer = bytes.clone();
            longer.push(tail);
            let error = form.again(&longer).unwrap_err();
            assert_eq!(error.kind, DataErrorKind::Trailing, "{form:?}");
        }
    }
}

#[test]
fn magic_version_and_flags() {
    for form in FORMS {
        let bytes = form.sample();
        let with = |at: usize, value: u8| {
            let mut bad = bytes.clone();
            bad[at] = value;
            form.again(&bad).unwrap_err()
        };
        for (at, &byte) in bytes[..4].iter().enumerate() {
            assert_eq!(with(at, byte ^ 0x20).kind, DataErrorKind::Magic);
        }
        for found in [0, 1, 3, 255] {
            let kind = DataErrorKind::Version { found, expected: 2 };
            let error = with(4, found as u8);
            assert_eq!(error.kind, kind);
            assert!(error.problem.contains(&found.to_string()) && error.problem.contains('2'));
        }
        for (at, bit) in (6..8).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            assert_eq!(with(at, 1 << bit).field, "flags");
        }
    }
}

#[test]
fn a_tile_for_another_mesh_is_refused_before_anything_else() {
    let mut bytes = Form::Tile.sample();
    bytes[24] = 99; // also another column, whose origin would be wrong
    let other = MeshParams {
        walkable_climb: 0.75,
        ..params()
    };
    let error = read_tile(&bytes, &other).unwrap_err();
    assert_eq!(
        (error.kind, error.at),
        (DataErrorKind::Fingerprint, Location::Offset(8))
    );
    let error = read_tile(&bytes, &params()).unwrap_err();
    assert_eq!(error.field, "origin");
}

#[test]
fn counts_that_the_bytes_cannot_hold() {
    let bytes = Form::Tile.sample();
    for at in (60..84).step_by(4) {
        for add in [1, 1 << 8, 1 << 16, 1 << 24, u32::MAX >> 1] {
            let mut bad = bytes.clone();
            let count = u32::from_le_bytes(bad[at..at + 4].try_into().unwrap());
            bad[at..at + 4].copy_from_slice(&(count + add).to_le_bytes());
            let error = Form::Tile.again(&bad).unwrap_err();
            assert_eq!(
                (error.field.as_str(), error.kind),
                ("body", DataErrorKind::Truncated)
            );
            bad[at..at + 4].copy_from_slice(&(count - 1).to_le_bytes());
            assert_eq!(
                Form::Tile.again(&bad).unwrap_err().kind,
                DataErrorKind::Trailing
            );
        }
    }
    for (form, at, field) in [
        (Form::Mesh, 76, "slot count"),
        (Form::Snapshot, 76, "section count"),
        (Form::Snapshot, 88, "slot count"),
    ] {
        for count in [1 << 20, 1 << 24, u32::MAX] {
            let mut bad = form.sample();
            bad[at..at + 4].copy_from_slice(&u32::to_le_bytes(count));
            let error = form.again(&bad).unwrap_err();
            assert_eq!(
                (error.field.as_str(), error.kind),
                (field, DataErrorKind::Count)
            );
        }
    }
}

/// Large values at every place of a file: whatever is a count, a length or an index there.
#[test]
fn large_numbers_anywhere() {
    for form in FORMS {
        let bytes = form.sample();
        for at in 0..bytes.len() - 3 {
            for value in [
                u32::MAX,
                i32::MAX as u32,
                0x00FF_FFFF,
                0x000F_FFFF,
                0xFFFF,
                0,
            ] {
                let mut bad = bytes.clone();
                bad[at..at + 4].copy_from_slice(&value.to_le_bytes());
                form.check(&bad);
            }
        }
    }
}

#[test]
fn every_single_bit() {
    for form in FORMS {
        let bytes = form.sample();
        let mut accepted = 0;
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut bad = bytes.clone();
                bad[at] ^= 1 << bit;
                accepted += usize::from(form.check(&bad));
            }
        }
        println!("{form:?}: {accepted} of {} flips accepted", 8 * bytes.len());
        assert!(accepted > 100 && accepted < 7 * bytes.len());
    }
}

/// A file whose slots are all free is the largest mesh a few bytes can make.
#[test]
fn many_free_slots_cost_what_their_bytes_justify() {
    for form in [Form::Mesh, Form::Snapshot] {
        let mut bytes = form.sample()[..80].to_vec();
        let count = 200_000_u32;
        if form == Form::Snapshot {
            bytes[76..80].copy_from_slice(&1_u32.to_le_bytes());
            bytes.extend([1, 0, 0, 0]);
            bytes.extend((4 + 5 * count).to_le_bytes());
            bytes.extend(count.to_le_bytes());
        } else {
            bytes[76..80].copy_from_slice(&count.to_le_bytes());
        }
        for _ in 0..count {
            bytes.extend([1, 0, 0, 0, 0]);
        }
        assert!(form.check(&bytes), "{form:?}");
    }
}

/// Polygons that share one long run of detail vertices: nobody walks it for each of them.
#[test]
fn shared_detail_vertices_are_not_walked_per_polygon() {
    let (polys, extra) = (20_000, u16::MAX);
    let mut data = TileData {
        vertices: vec![[1.0, 0.0, 1.0], [2.0, 0.0, 1.0], [2.0, 0.0, 2.0]],
        poly_vertex_counts: vec![3; polys],
        poly_indices: [0, 1, 2].repeat(polys),
        edge_neighbors: vec![0; 3 * polys],
        edge_portal_sides: vec![NO_PORTAL; 3 * polys],
        poly_areas: vec![0; polys],
        poly_flags: vec![1; polys],
        ..TileData::default()
    };
    let shared = DetailMesh {
        vertex_count: extra,
        ..DetailMesh::default()
    };
    data.detail_meshes = vec![shared; polys];
    data.detail_vertices = vec![[1.5, 0.0, 1.25]; usize::from(extra)];
    let tile = NavTile::create(data.clone(), &params()).unwrap();
    assert!(tile.level_height.iter().all(|height| height.is_nan()));
    // Nor by the lookup grids, when each polygon has enough triangles of its own for one.
    data.detail_triangles = vec![[0, 1, 2, 0]; 12 * polys];
    for (poly, mesh) in data.detail_meshes.iter_mut().enumerate() {
        mesh.triangle_base = 12 * poly as u32;
        mesh.triangle_count = 12;
    }
    let tile = NavTile::create(data.clone(), &params()).unwrap();
    let candidates = tile.detail_candidates(polys - 1, 1.5, 1.25).unwrap();
    assert_eq!(candidates.collect::<Vec<_>>(), (0..12).collect::<Vec<_>>());
    data.detail_triangles.clear();
    data.detail_meshes = vec![DetailMesh::default(); polys];
    data.detail_meshes[7] = shared;
    let tile = NavTile::create(data, &params()).unwrap();
    assert!(tile.level_height.iter().all(|&height| height == 0.0));
}

/// A triangle cannot name a corner beyond the 256th, so the grid does not reach for those.
#[test]
fn detail_vertices_beyond_the_last_nameable_do_not_count() {
    let candidates = |strays: usize| {
        let mut data = TileData {
            vertices: vec![[1.0, 0.0, 1.0], [2.0, 0.0, 1.0], [2.0, 1.0, 2.0]],
            poly_vertex_counts: vec![3],
            poly_indices: vec![0, 1, 2],
            edge_neighbors: vec![0; 3],
            edge_portal_sides: vec![NO_PORTAL; 3],
            poly_areas: vec![0],
            poly_flags: vec![1],
            ..TileData::default()
        };
        // Twelve small triangles side by side, and vertices far off that none of them names.
        for i in 0..12 {
            let x = 1.0 + i as f32 / 12.0;
            data.detail_vertices
                .extend([[x, 0.0, 1.0], [x + 0.05, 0.5, 1.0], [x, 0.0, 1.05]]);
            let first = 3 + 3 * i as u8;
            data.detail_triangles.push([first, first + 1, first + 2, 0]);
        }
        data.detail_vertices.resize(253, [1.5, 0.0, 1.5]);
        data.detail_vertices.resize(253 + strays, [7.0, 0.0, 7.0]);
        data.detail_meshes = vec![DetailMesh {
            vertex_count: data.detail_vertices.len() as u16,
            triangle_count: 12,
            ..DetailMesh::default()
        }];
        let tile = NavTile::create(data, &params()).unwrap();
        let (x, z) = (tile.origin().x + 1.01, tile.origin().z + 1.01);
        tile.detail_candidates(0, x, z).unwrap().collect::<Vec<_>>()
    };
    assert_eq!(candidates(0), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(candidates(1000), candidates(0));
}

/// Polygons that share one long run of degenerate detail triangles: the lookup grids over them
/// must not multiply it.
#[test]
fn shared_and_degenerate_detail_stays_small() {
    let mut shared = rich(0, 0);
    shared.detail_triangles = vec![[0, 1, 1, 0]; 20_000];
    for (poly, mesh) in shared.detail_meshes.iter_mut().enumerate() {
        mesh.triangle_base = poly as u32;
        mesh.triangle_count = 19_000;
    }
    let mut lone = shared.clone();
    for mesh in &mut lone.detail_meshes[1..] {
        *mesh = Default::default();
    }
    for data in [shared, lone] {
        let bytes = tile_bytes(&NavTile::create(data, &params()).unwrap());
        assert!(Form::Tile.check(&bytes));
    }
}

/// A tile of `polys` equal squares on top of each other, each with a portal on every side.
fn pile(x: i32, layer: i32, polys: usize) -> NavTile {
    let mut data = common::square(x, 0, layer, 0.0);
    let one = data.clone();
    for _ in 1..polys {
        data.poly_vertex_counts.push(4);
        data.poly_indices.extend(&one.poly_indices);
        data.edge_neighbors.extend(&one.edge_neighbors);
        data.edge_portal_sides.extend(&one.edge_portal_sides);
        data.poly_areas.push(0);
        data.poly_flags.push(0);
        data.detail_meshes.push(Default::default());
    }
    NavTile::create(data, &params()).unwrap()
}

/// Links are pairs of portals, so piles of portals on one border would ask for the square of the
/// file: refused when read and when added, the mesh unchanged.
#[test]
fn piles_of_portals_are_refused() {
    let mut slots = Vec::new();
    for x in 0..2 {
        let mut mesh = TiledMesh::new(params()).unwrap();
        mesh.add_tile(pile(x, 0, 3000)).unwrap();
        slots.push(mesh_bytes(&mesh)[80..].to_vec());
    }
    let mut bytes = Form::Mesh.sample()[..80].to_vec();
    bytes[76..80].copy_from_slice(&2_u32.to_le_bytes());
    bytes.extend(slots.concat());
    let error = Form::Mesh.again(&bytes).unwrap_err();
    assert_eq!(error.kind, DataErrorKind::Limit);
    // Over many layers too.
    let mut mesh = TiledMesh::new(params()).unwrap();
    let mut refused = 0;
    for layer in 0..60 {
        for x in 0..2 {
            let before = mesh_bytes(&mesh).len();
            if mesh.add_tile(pile(x, layer, 12)).is_err() {
                refused += 1;
                assert_eq!(mesh_bytes(&mesh).len(), before);
            }
        }
    }
    let links = mesh
        .tiles()
        .map(|(_, tile)| tile.links.len())
        .sum::<usize>();
    println!("{refused} of 120 refused, {links} links");
    assert!(refused > 0 && links < 40 * mesh.poly_count());
    // What was taken is read back.
    assert!(Form::Mesh.check(&mesh_bytes(&mesh)));
    // Replacing is bounded the same way.
    let mut mesh = TiledMesh::new(params()).unwrap();
    mesh.add_tile(pile(0, 0, 1000)).unwrap();
    mesh.add_tile(pile(1, 0, 3)).unwrap();
    let bytes = mesh_bytes(&mesh);
    mesh.replace_tile(pile(1, 0, 1000)).unwrap_err();
    assert_eq!(mesh_bytes(&mesh), bytes);
}

#[test]
fn two_tiles_at_one_place() {
    let mut mesh = TiledMesh::new(params()).unwrap();
    mesh.add_tile(NavTile::create(rich(0, 0), &params()).unwrap())
        .unwrap();
    for form in [Form::Mesh, Form::Snapshot] {
        let mut bytes = match form {
            Form::Mesh => mesh_bytes(&mesh),
            _ => snapshot_bytes(&mesh),
        };
        let at = if form == Form::Mesh { 80 } else { 92 };
        let slot = bytes[at..].to_vec();
        bytes.extend(&slot);
        bytes[at - 4..at].copy_from_slice(&2_u32.to_le_bytes());
        if form == Form::Snapshot {
            let length = (bytes.len() - 88) as u32;
            bytes[84..88].copy_from_slice(&length.to_le_bytes());
        }
        let error = form.again(&bytes).unwrap_err();
        assert_eq!(error.field, "slot 1", "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn soup(form in 0..3_usize, body in prop::collection::vec(any::<u8>(), 0..600)) {
        let form = FORMS[form];
        form.check(&body);
        let mut bytes = form.magic().to_vec();
        bytes.extend([2, 0, 0, 0]);
        bytes.extend(&body);
        form.check(&bytes);
        // Behind good parameters.
        let mut bytes = form.sample()[..76].to_vec();
        bytes.extend(&body);
        form.check(&bytes);
    }

    /// Pieces of a good file moved, doubled and dropped.
    #[test]
    fn splices(form in 0..3_usize, cuts in prop::collection::vec((any::<u16>(), any::<u16>(), any::<u8>()), 1..6)) {
        let form = FORMS[form];
        let good = form.sample();
        let mut bytes = good.clone();
        for (a, b, what) in cuts {
            let (a, b) = (usize::from(a) % good.len(), usize::from(b) % (bytes.len().max(1)));
            match what % 4 {
                0 => bytes.truncate(b),
                1 => bytes.splice(b.., good[a..].iter().copied()).for_each(drop),
                2 => {
                    let end = (b + usize::from(what)).min(bytes.len());
                    bytes.drain(b..end);
                }
                _ => if let Some(byte) = bytes.get_mut(b) { *byte = what; },
            }
        }
        form.check(&bytes);
    }
}

#[test]
fn reading_stitches_as_adding_does() {
    let mesh = lived_in();
    let read = read_snapshot(&snapshot_bytes(&mesh)).unwrap();
    assert_eq!(all_links(&mesh), all_links(&read));
}

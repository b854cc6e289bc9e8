//! Every rule of a tile: one tile that breaks it and nothing else, and the name in the error.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

mod common;

use common::{params, rich, square};
use throng_soa::error::DataErrorKind;
use throng_soa::mesh::assemble::{LocalPolygons, from_local_polygons};
use throng_soa::mesh::{DetailMesh, MeshParams, NavTile, TileData};

/// The field named when `edit` of a good tile is refused.
fn field(edit: impl FnOnce(&mut TileData)) -> String {
    let mut data = rich(0, 0);
    edit(&mut data);
    let error = NavTile::create(data, &params()).expect_err("the edit broke no rule");
    assert_eq!(error.format, "tile");
    assert!(!error.problem.is_empty());
    error.field
}

#[test]
fn the_good_tile_is_good() {
    NavTile::create(rich(0, 0), &params()).unwrap();
    NavTile::create(TileData::default(), &params()).unwrap();
}

#[test]
fn position_rules() {
    assert_eq!(field(|d| d.layer = -1), "layer");
    assert_eq!(field(|d| d.layer = 1024), "layer");
    for bad in [f64::NAN, f64::INFINITY, 2_097_152.0, -2_097_152.0] {
        assert!(field(|d| d.origin_y = bad).contains("origin y"));
    }
    assert!(field(|d| d.tile_x = i32::MAX).contains("origin x"));
    assert!(field(|d| d.tile_z = i32::MIN).contains("origin z"));
    let mut top = rich(0, 0);
    top.layer = 1023;
    NavTile::create(top, &params()).unwrap();
}

#[test]
fn array_lengths() {
    assert_eq!(field(|d| d.poly_areas.truncate(5)), "polygon areas");
    assert_eq!(field(|d| d.poly_flags.push(0)), "polygon flags");
    assert_eq!(field(|d| d.detail_meshes.truncate(1)), "detail meshes");
    assert_eq!(field(|d| d.edge_neighbors.push(0)), "edge neighbours");
    assert_eq!(
        field(|d| d.edge_portal_sides.push(255)),
        "edge portal sides"
    );
    assert_eq!(field(|d| d.poly_indices.truncate(23)), "polygon indices");
    assert_eq!(field(|d| d.poly_vertex_counts[4] = 2), "polygon 4");
    assert_eq!(field(|d| d.poly_vertex_counts[4] = 7), "polygon 4");
    assert_eq!(field(|d| d.vertices.resize(65_537, [0.0; 3])), "vertices");
    let mut full = rich(0, 0);
    full.vertices.resize(65_536, [0.0; 3]);
    NavTile::create(full, &params()).unwrap();
}

#[test]
fn vertex_bounds() {
    for (axis, good, bad) in [
        (0, -8.0, -8.001),
        (0, 16.0, 16.001),
        (2, -8.0, -8.001),
        (2, 16.0, 16.001),
        (1, 4096.0, 4096.5),
        (1, -4096.0, -4096.5),
    ] {
        let mut data = rich(0, 0);
        data.vertices.push([0.0; 3]);
        data.vertices[12][axis] = good;
        NavTile::create(data, &params()).unwrap();
        assert_eq!(
            field(|d| {
                d.vertices.push([0.0; 3]);
                d.vertices[12][axis] = bad;
            }),
            "vertex 12"
        );
        assert_eq!(
            field(|d| d.detail_vertices[1][axis] = bad),
            "detail vertex 1"
        );
    }
    for axis in 0..3 {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(field(|d| d.vertices[3][axis] = bad), "vertex 3");
        }
    }
    for axis in [0, 2] {
        assert_eq!(
            field(|d| d.detail_vertices[0][axis] = 9e-31),
            "detail vertex 0"
        );
        assert_eq!(
            field(|d| d.detail_vertices[0][axis] = -1e-40),
            "detail vertex 0"
        );
        let mut data = rich(0, 0);
        data.detail_vertices[0][axis] = 1.001e-30;
        data.detail_vertices[0][1] = 1e-40;
        NavTile::create(data, &params()).unwrap();
    }
}

#[test]
fn polygon_rules() {
    assert_eq!(field(|d| d.poly_areas[3] = 64), "polygon 3");
    assert_eq!(field(|d| d.poly_indices[9] = 12), "polygon 2");
    assert_eq!(
        field(|d| d.poly_indices[9] = d.poly_indices[8]),
        "polygon 2"
    );
    // Clockwise.
    assert_eq!(field(|d| d.poly_indices[0..4].reverse()), "polygon 0");
}

/// A tile of one polygon given by its corners.
fn one(corners: &[[f32; 2]]) -> Result<NavTile, String> {
    let roomy = MeshParams {
        max_verts_per_poly: 16,
        ..params()
    };
    let data = from_local_polygons(
        LocalPolygons {
            vertices: corners.iter().map(|&[x, z]| [x, 0.0, z]).collect(),
            poly_vertex_counts: vec![corners.len() as u8],
            poly_indices: (0..corners.len() as u16).collect(),
            areas: vec![0],
            flags: vec![1],
            ..LocalPolygons::default()
        },
        &roomy,
    )
    .unwrap();
    NavTile::create(data, &roomy).map_err(|error| {
        assert_eq!(error.kind, DataErrorKind::Geometry);
        assert_eq!(error.field, "polygon 0");
        error.problem
    })
}

#[test]
fn shapes() {
    let square = [[1.0, 1.0], [3.0, 1.0], [3.0, 3.0], [1.0, 3.0]];
    one(&square).unwrap();
    let mut clockwise = square;
    clockwise.reverse();
    one(&clockwise).unwrap_err();
    // Collinear vertices are allowed, on one edge or on all of them.
    one(&[[1.0, 1.0], [2.0, 1.0], [3.0, 1.0], [3.0, 3.0], [1.0, 3.0]]).unwrap();
    one(&[
        [1.0, 1.0],
        [2.0, 1.0],
        [3.0, 1.0],
        [2.0, 2.0],
        [1.0, 3.0],
        [1.0, 2.0],
    ])
    .unwrap();
    // Zero area.
    one(&[[1.0, 1.0], [2.0, 1.0], [3.0, 1.0]]).unwrap_err();
    one(&[[1.0, 1.0], [3.0, 1.0], [2.0, 1.0]]).unwrap_err();
    // Zero edge: two vertices at one place.
    one(&[[1.0, 1.0], [3.0, 1.0], [3.0, 1.0], [3.0, 3.0]]).unwrap_err();
    // Reflex, bow tie, star (a pentagram turns left at every corner).
    one(&[[1.0, 1.0], [3.0, 1.0], [1.5, 1.5], [1.0, 3.0]]).unwrap_err();
    one(&[[1.0, 1.0], [3.0, 3.0], [3.0, 1.0], [1.0, 3.0]]).unwrap_err();
    let pentagram = [[4.0, 7.0], [2.2, 1.6], [7.0, 4.9], [1.0, 4.9], [5.8, 1.6]];
    one(&pentagram).unwrap_err();
    // The rule is about each edge on its own, so a ring walked twice over separate vertices obeys
    // it. The format has always taken such a tile.
    let twice: Vec<[f32; 2]> = square.iter().chain(&square).copied().collect();
    one(&twice).unwrap();
    // The least bit off a line decides, exactly.
    let bit = f32::from_bits(2.0_f32.to_bits() + 1);
    let below = f32::from_bits(2.0_f32.to_bits() - 1);
    one(&[[1.0, 2.0], [2.0, below], [3.0, 2.0], [2.0, 4.0]]).unwrap();
    one(&[[1.0, 2.0], [2.0, bit], [3.0, 2.0], [2.0, 4.0]]).unwrap_err();
    // Sixteen corners, the most there are: eight points of an octagon and the middles between.
    let ring: Vec<[f32; 2]> = [
        [3.0, 1.0],
        [5.0, 1.0],
        [7.0, 3.0],
        [7.0, 5.0],
        [5.0, 7.0],
        [3.0, 7.0],
        [1.0, 5.0],
        [1.0, 3.0],
    ]
    .windows(2)
    .flat_map(|w| [w[0], [(w[0][0] + w[1][0]) / 2.0, (w[0][1] + w[1][1]) / 2.0]])
    .chain([[1.0, 3.0], [2.0, 2.0]])
    .collect();
    assert_eq!(ring.len(), 16);
    one(&ring).unwrap();
}

#[test]
fn holes_between_polygons_are_allowed() {
    // A ring of four quads round a hole.
    let v = |x: f32, z: f32| [x, 0.0, z];
    let data = from_local_polygons(
        LocalPolygons {
            vertices: vec![
                v(0.0, 0.0),
                v(8.0, 0.0),
                v(8.0, 8.0),
                v(0.0, 8.0),
                v(3.0, 3.0),
                v(5.0, 3.0),
                v(5.0, 5.0),
                v(3.0, 5.0),
            ],
            poly_vertex_counts: vec![4; 4],
            poly_indices: vec![0, 1, 5, 4, 1, 2, 6, 5, 2, 3, 7, 6, 3, 0, 4, 7],
            areas: vec![0; 4],
            flags: vec![1; 4],
            ..LocalPolygons::default()
        },
        &params(),
    )
    .unwrap();
    assert_eq!(
        data.edge_portal_sides.iter().filter(|&&s| s != 255).count(),
        4
    );
    assert_eq!(data.edge_neighbors.iter().filter(|&&n| n != 0).count(), 8);
    NavTile::create(data, &params()).unwrap();
}

#[test]
fn adjacency_rules() {
    // Polygon 0's ring is 0 1 5 4; its edge 1 (1 to 5) joins polygon 1.
    assert_eq!(rich(0, 0).edge_neighbors[1], 2);
    assert_eq!(field(|d| d.edge_neighbors[1] = 0), "polygon 1 edge 3");
    assert_eq!(field(|d| d.edge_neighbors[1] = 3), "polygon 0 edge 1");
    assert_eq!(field(|d| d.edge_neighbors[1] = 1), "polygon 0 edge 1");
    for beyond in [7, -1, i32::MIN, i32::MAX] {
        assert_eq!(field(|d| d.edge_neighbors[1] = beyond), "polygon 0 edge 1");
    }
    // Not the same two vertices.
    assert_eq!(
        field(|d| {
            d.edge_portal_sides[0] = 255;
            d.edge_neighbors[0] = 2;
        }),
        "polygon 0 edge 0"
    );
    // Neighbour and portal at once.
    assert_eq!(field(|d| d.edge_portal_sides[1] = 0), "polygon 0 edge 1");
    // A wall in place of a portal or of a shared edge on both sides is fine.
    let mut walls = rich(0, 0);
    walls.edge_portal_sides.fill(255);
    walls.edge_neighbors.fill(0);
    NavTile::create(walls, &params()).unwrap();
}

#[test]
fn portal_rules() {
    // Polygon 0's edge 0 lies on the low Z side, its edge 3 on the low X side.
    let data = rich(0, 0);
    assert_eq!(
        (data.edge_portal_sides[0], data.edge_portal_sides[3]),
        (3, 2)
    );
    for side in [0, 1, 2, 4, 254] {
        assert_eq!(field(|d| d.edge_portal_sides[0] = side), "polygon 0 edge 0");
    }
    // Bitwise: minus zero is not zero, and one bit off the high side is off it.
    assert_eq!(field(|d| d.vertices[1][2] = -0.0), "polygon 0 edge 0");
    let off = f32::from_bits(8.0_f32.to_bits() - 1);
    assert_eq!(field(|d| d.vertices[3][0] = off), "polygon 2 edge 1");
    // Without length along the boundary: a vertical edge on the corner line of the tile. The edge
    // rule on X/Z already refuses it for its own side; on the other side it has no length.
    assert_eq!(
        field(|d| {
            *d = square(0, 0, 0, 0.0);
            d.edge_portal_sides[0] = 2;
        }),
        "polygon 0 edge 0"
    );
}

#[test]
fn detail_rules() {
    let at = |poly: usize, edit: fn(&mut DetailMesh)| field(|d| edit(&mut d.detail_meshes[poly]));
    assert_eq!(at(5, |m| m.vertex_count = 3), "polygon 5 detail");
    assert_eq!(at(5, |m| m.vertex_base = 2), "polygon 5 detail");
    assert_eq!(at(5, |m| m.triangle_count = 3), "polygon 5 detail");
    assert_eq!(at(5, |m| m.triangle_base = u32::MAX), "polygon 5 detail");
    assert_eq!(at(5, |m| m.vertex_base = u32::MAX), "polygon 5 detail");
    assert_eq!(at(0, |m| m.vertex_count = 0), "polygon 0 detail");
    assert_eq!(field(|d| d.detail_triangles[1][2] = 5), "polygon 0 detail");
    // The flag byte is free.
    let mut data = rich(0, 0);
    data.detail_triangles[1][3] = 255;
    NavTile::create(data, &params()).unwrap();
    // Two polygons may share a range.
    let mut data = rich(0, 0);
    data.detail_meshes[1] = data.detail_meshes[0];
    NavTile::create(data, &params()).unwrap();
}

#[test]
fn off_mesh_rules() {
    let reach = params().max_local_extent() as f32;
    for axis in 0..3 {
        for bad in [f32::NAN, f32::INFINITY, reach + 1.0, -reach - 1.0] {
            assert_eq!(
                field(|d| d.off_mesh_links[1].start[axis] = bad),
                "off-mesh link 1"
            );
            assert_eq!(
                field(|d| d.off_mesh_links[2].end[axis] = bad),
                "off-mesh link 2"
            );
        }
        let mut data = rich(0, 0);
        data.off_mesh_links[0].end[axis] = -reach;
        NavTile::create(data, &params()).unwrap();
    }
    for bad in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert_eq!(
            field(|d| d.off_mesh_links[0].radius = bad),
            "off-mesh link 0"
        );
    }
    assert_eq!(field(|d| d.off_mesh_links[0].area = 64), "off-mesh link 0");
}

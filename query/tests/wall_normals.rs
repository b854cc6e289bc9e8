//! The normal of the nearest wall is a unit vector, however near the wall is.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

mod common;

use throng_query::mesh::{AreaSearch, DefaultFilter};
use throng_soa::DVec3;
use throng_soa::mesh::assemble::{LocalPolygons, from_local_polygons};
use throng_soa::mesh::{MeshParams, NavTile, TiledMesh};

/// A mesh of one polygon in tile (`tile_x`, 0).
fn one_polygon(vertices: Vec<[f32; 3]>, tile_x: i32) -> TiledMesh {
    let params = MeshParams {
        origin: DVec3::ZERO,
        ..common::params()
    };
    let count = vertices.len();
    let polygons = LocalPolygons {
        tile_x,
        vertices,
        poly_vertex_counts: vec![count as u8],
        poly_indices: (0..count as u16).collect(),
        areas: vec![0],
        flags: vec![1],
        ..LocalPolygons::default()
    };
    let data = from_local_polygons(polygons, &params).unwrap();
    let mut mesh = TiledMesh::new(params).unwrap();
    mesh.add_tile(NavTile::create(data, &params).unwrap())
        .unwrap();
    mesh
}

fn normal_at(mesh: &TiledMesh, center: DVec3) -> DVec3 {
    let mut search = AreaSearch::new(8);
    let start = mesh.poly_ref(0, 0);
    let hit = search
        .distance_to_wall(mesh, start, center, 1.0, &DefaultFilter)
        .unwrap();
    assert!(hit.found);
    hit.normal
}

#[test]
fn a_distance_whose_square_is_nothing_has_a_direction() {
    let floor = vec![
        [0.5, 0.0, 0.0],
        [4.0, 0.0, 0.0],
        [4.0, 0.0, 4.0],
        [0.5, 0.0, 4.0],
    ];
    let mesh = one_polygon(floor, 0);
    for z in [0.5, 1e-99, 3e-162, 1e-200, f64::from_bits(1), 0.0] {
        assert_eq!(normal_at(&mesh, DVec3::new(2.0, 0.0, z)), DVec3::Z, "{z}");
    }
}

#[test]
fn an_edge_that_is_one_point_in_the_world_has_an_inside() {
    let sliver = vec![
        [1e-20, 0.0, 1.0],
        [2e-20, 0.0, 1.0],
        [4.0, 0.0, 1.5],
        [4.0, 0.0, 4.0],
    ];
    let mesh = one_polygon(sliver, 100);
    assert_eq!(normal_at(&mesh, DVec3::new(800.0, 0.0, 1.0)), DVec3::Z);
}

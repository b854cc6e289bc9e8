//! The nearest wall found both ways, and tiles of given polygons.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "every test file uses its own part"
)]

use throng_query::mesh::{AreaSearch, QueryFilter, WallHit};
use throng_soa::DVec3;
use throng_soa::mesh::assemble::{LocalPolygons, from_local_polygons};
use throng_soa::mesh::{MeshParams, NavTile, PolyRef, TiledMesh};

/// The nearest wall of all polygons of the circle, and of the search that may stop early.
pub fn both(
    search: &mut AreaSearch,
    mesh: &TiledMesh,
    (start, center): (PolyRef, DVec3),
    radius: f64,
    filter: &QueryFilter,
) -> [WallHit; 2] {
    search
        .begin_circle(mesh, start, center, radius, filter)
        .unwrap();
    search.update(mesh, filter, u32::MAX);
    let all = search.finish_distance_to_wall(mesh, filter);
    let found = search
        .distance_to_wall(mesh, start, center, radius, filter)
        .unwrap();
    [all, found]
}

pub fn bits(hit: &WallHit) -> [u64; 9] {
    let DVec3 { x, y, z } = hit.point;
    let numbers = [x, y, z, hit.normal.x, hit.normal.z, hit.distance].map(f64::to_bits);
    let [a, b, c, d, e, f] = numbers;
    let rest = [hit.poly.bits(), hit.edge as u64, u64::from(hit.found)];
    [a, b, c, d, e, f, rest[0], rest[1], rest[2]]
}

/// One tile of polygons over these points, X, height and Z.
pub fn one_tile(origin: DVec3, tile_size: f64, points: &[[f64; 3]], rings: &[&[u16]]) -> TiledMesh {
    let params = MeshParams {
        origin,
        tile_size,
        cell_size: tile_size / 256.0,
        max_verts_per_poly: 6,
        walkable_climb: 0.5,
        agent_radius: 0.5,
        agent_height: 2.0,
        agent_max_slope_degrees: 45.0,
        settings_digest: 0,
    };
    let polygons = LocalPolygons {
        vertices: points.iter().map(|p| p.map(|value| value as f32)).collect(),
        poly_vertex_counts: rings.iter().map(|ring| ring.len() as u8).collect(),
        poly_indices: rings.concat(),
        areas: vec![0; rings.len()],
        flags: vec![1; rings.len()],
        ..LocalPolygons::default()
    };
    let data = from_local_polygons(polygons, &params).unwrap();
    let mut mesh = TiledMesh::new(params).unwrap();
    mesh.add_tile(NavTile::create(data, &params).unwrap())
        .unwrap();
    mesh
}

/// The nearest wall from a place in a polygon of the first tile, found both ways.
pub fn nearest_from(mesh: &TiledMesh, poly: u32, center: DVec3, radius: f64) -> WallHit {
    let place = (mesh.poly_ref(0, poly), center);
    let filter = QueryFilter::default();
    let [all, hit] = both(&mut AreaSearch::new(100), mesh, place, radius, &filter);
    assert_eq!(bits(&all), bits(&hit), "{all:?} {hit:?}");
    hit
}

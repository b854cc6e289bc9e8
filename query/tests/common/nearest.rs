//! The nearest wall found both ways, at one place and at many, and tiles of given polygons. Needs `common`.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "every test file uses its own part"
)]

use crate::common::{self, random_place};
use throng_query::mesh::{AreaSearch, QueryFilter, WallHit};
use throng_soa::DVec3;
use throng_soa::mesh::assemble::{LocalPolygons, from_local_polygons};
use throng_soa::mesh::{MeshParams, NavTile, PolyRef, TiledMesh};
use throng_soa::rng::SplitMix64;

/// Polygons nearer than this to each other are stacked, world units.
pub const APART: f64 = 1e-3;

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
        ..common::params()
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

pub fn masked() -> QueryFilter {
    let mut filter = QueryFilter::default();
    filter.exclude_flags = 0b100;
    filter
}

/// Asks at places in polygons, at their corners, on their edges and a little beside.
pub fn compare(mesh: &TiledMesh, rng: &mut SplitMix64, places: usize, widest: f64) -> usize {
    let mut search = AreaSearch::new(65_536);
    let mut found = 0;
    for round in 0..places {
        let (start, middle) = random_place(mesh, rng);
        let (tile, index) = mesh.resolve(start).unwrap();
        let ring = tile.poly_ring(index);
        let corner = ring[rng.next_below(ring.len() as u32) as usize];
        let center = match round % 8 {
            0 => corner,
            1 => (corner + ring[0]) / 2.0,
            2 => corner + (middle - corner) * 1e-4,
            3 => corner + (middle - corner) * -1e-7,
            4 => corner + (middle - corner) * -1e-10,
            _ => middle,
        };
        let radius = match round % 5 {
            0 => widest,
            1 => 0.0,
            _ => rng.range(0.0, widest),
        };
        for filter in [QueryFilter::default(), masked()] {
            let place = (start, center);
            let [all, hit] = both(&mut search, mesh, place, radius, &filter);
            assert_eq!(bits(&all), bits(&hit), "{place:?} {radius} {all:?} {hit:?}");
            found += usize::from(hit.found);
        }
    }
    found
}

/// X and Z of a polygon's vertices.
pub type Outline<'t> = &'t [[f32; 2]];

/// Tiles of quads and other polygons over their own points: `(tile_x, layer, polygons)`.
pub fn tiles_of(tiles: &[(i32, i32, &[Outline<'_>])]) -> TiledMesh {
    let params = MeshParams {
        origin: DVec3::ZERO,
        ..common::params()
    };
    let mut mesh = TiledMesh::new(params).unwrap();
    for &(tile_x, layer, rings) in tiles {
        let mut polygons = LocalPolygons {
            tile_x,
            layer,
            origin_y: 0.3 * f64::from(layer),
            ..LocalPolygons::default()
        };
        for ring in rings {
            for &[x, z] in *ring {
                let point = [x, 0.0, z];
                let known = polygons.vertices.iter().position(|&other| other == point);
                let index = known.unwrap_or(polygons.vertices.len());
                if known.is_none() {
                    polygons.vertices.push(point);
                }
                polygons.poly_indices.push(index as u16);
            }
            polygons.poly_vertex_counts.push(ring.len() as u8);
            polygons.areas.push(0);
            polygons.flags.push(1);
        }
        let data = from_local_polygons(polygons, &params).unwrap();
        mesh.add_tile(NavTile::create(data, &params).unwrap())
            .unwrap();
    }
    mesh
}

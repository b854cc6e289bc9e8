//! Small meshes for tests: tiles of quads and triangles with holes, uneven floors, tile borders
//! whose vertices do not match, a second floor and off-mesh links, all from a seed.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "every test file uses its own part"
)]

use throng_query::mesh::{DefaultFilter, QueryFilter, find_nearest_poly};
use throng_soa::DVec3;
use throng_soa::mesh::assemble::{LocalPolygons, from_local_polygons};
use throng_soa::mesh::{DetailMesh, MeshParams, NavTile, OffMeshLink, PolyRef, TiledMesh};
use throng_soa::predicates::orient2d;
use throng_soa::rng::SplitMix64;

/// What to generate.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub seed: u64,
    /// Tiles along X and Z.
    pub tiles: (i32, i32),
    /// Cells per tile side.
    pub cells: usize,
    /// Chance of a cell to be missing.
    pub holes: f64,
    /// How far vertices wander, in cells (below 0.35).
    pub jitter: f64,
    /// Chance of a quad to be cut into triangles.
    pub triangles: f64,
    /// Height of the waves of the floor.
    pub relief: f64,
    /// Floors, 5 units apart.
    pub layers: i32,
    /// Off-mesh links per tile (random places; half of them one-way).
    pub links: usize,
    /// Areas in use, from 0.
    pub areas: u8,
    /// Whether polygons carry extra detail vertices.
    pub detail: bool,
}

pub const PLAIN: Plan = Plan {
    seed: 1,
    tiles: (2, 2),
    cells: 6,
    holes: 0.2,
    jitter: 0.0,
    triangles: 0.0,
    relief: 0.0,
    layers: 1,
    links: 0,
    areas: 1,
    detail: false,
};

pub const WILD: Plan = Plan {
    seed: 1,
    tiles: (3, 2),
    cells: 5,
    holes: 0.2,
    jitter: 0.3,
    triangles: 0.4,
    relief: 0.3,
    layers: 2,
    links: 2,
    areas: 3,
    detail: true,
};

pub const TILE: f64 = 8.0;

pub fn params() -> MeshParams {
    MeshParams {
        origin: DVec3::new(-4.0, 0.0, 12.0),
        tile_size: TILE,
        cell_size: 0.25,
        max_verts_per_poly: 6,
        walkable_climb: 0.5,
        agent_radius: 0.5,
        agent_height: 2.0,
        agent_max_slope_degrees: 45.0,
        settings_digest: 0,
    }
}

pub fn build(plan: &Plan) -> TiledMesh {
    let params = params();
    let mut mesh = TiledMesh::new(params).unwrap();
    let mut rng = SplitMix64::new(plan.seed);
    for layer in 0..plan.layers {
        for z in 0..plan.tiles.1 {
            for x in 0..plan.tiles.0 {
                if let Some(tile) = tile(plan, &params, x, z, layer, &mut rng) {
                    mesh.add_tile(tile).unwrap();
                }
            }
        }
    }
    mesh
}

fn tile(
    plan: &Plan,
    params: &MeshParams,
    tile_x: i32,
    tile_z: i32,
    layer: i32,
    rng: &mut SplitMix64,
) -> Option<NavTile> {
    let n = plan.cells;
    let cell = TILE / n as f64;
    let mut input = LocalPolygons {
        tile_x,
        tile_z,
        layer,
        origin_y: f64::from(layer) * 5.0,
        ..LocalPolygons::default()
    };
    for row in 0..=n {
        for column in 0..=n {
            let wander = |rng: &mut SplitMix64, inside: bool| {
                let amount = plan.jitter * cell * rng.range(-1.0, 1.0);
                if inside { amount } else { 0.0 }
            };
            let x = column as f64 * cell + wander(rng, column > 0 && column < n);
            let z = row as f64 * cell + wander(rng, row > 0 && row < n);
            let (wx, wz) = (x + f64::from(tile_x) * TILE, z + f64::from(tile_z) * TILE);
            let y = plan.relief * (triangle_wave(wx * 0.31) + triangle_wave(wz * 0.23));
            input.vertices.push([x as f32, y as f32, z as f32]);
        }
    }
    let at = |column: usize, row: usize| (row * (n + 1) + column) as u16;
    for row in 0..n {
        for column in 0..n {
            if rng.next_f64() < plan.holes {
                continue;
            }
            let quad = [
                at(column, row),
                at(column + 1, row),
                at(column + 1, row + 1),
                at(column, row + 1),
            ];
            let area = rng.next_below(u32::from(plan.areas)) as u8;
            let flags = 1 << rng.next_below(3);
            let split = rng.next_f64() < plan.triangles;
            let left = |a: usize, b: usize, c: usize| {
                let [a, b, c] = [a, b, c].map(|i| {
                    let [x, _, z] = input.vertices[usize::from(quad[i])];
                    [f64::from(x), f64::from(z)]
                });
                orient2d(a, b, c) > 0.0
            };
            let first_way = left(0, 1, 2) && left(0, 2, 3);
            let second_way = left(0, 1, 3) && left(1, 2, 3);
            let pieces: &[&[usize]] = match (first_way, second_way) {
                (true, true) if !split => &[&[0, 1, 2, 3]],
                (true, _) => &[&[0, 1, 2], &[0, 2, 3]],
                _ => &[&[0, 1, 3], &[1, 2, 3]],
            };
            for piece in pieces {
                input.poly_vertex_counts.push(piece.len() as u8);
                input.poly_indices.extend(piece.iter().map(|&i| quad[i]));
                input.areas.push(area);
                input.flags.push(flags);
            }
        }
    }
    if input.poly_vertex_counts.is_empty() {
        return None;
    }
    let mut data = from_local_polygons(input, params).unwrap();
    if plan.detail {
        add_detail(&mut data, rng);
    }
    for i in 0..plan.links {
        let end = |rng: &mut SplitMix64, reach: f64, y: f64| {
            [
                rng.range(-reach, TILE + reach) as f32,
                y as f32,
                rng.range(-reach, TILE + reach) as f32,
            ]
        };
        let other = rng.next_below(plan.layers as u32) as i32 - layer;
        data.off_mesh_links.push(OffMeshLink {
            start: end(rng, 0.0, 0.1),
            end: end(rng, TILE, f64::from(other) * 5.0 + 0.1),
            radius: 2.0,
            area: rng.next_below(u32::from(plan.areas)) as u8,
            flags: 1,
            bidirectional: rng.next_below(2) == 0,
            user_id: i as u32,
        });
    }
    Some(NavTile::create(data, params).unwrap())
}

/// A fan round an extra vertex in the middle of every polygon, some polygons with 4 more rings so
/// that they get a lookup grid.
fn add_detail(data: &mut throng_soa::mesh::TileData, rng: &mut SplitMix64) {
    let mut first = 0;
    for poly in 0..data.poly_vertex_counts.len() {
        let n = usize::from(data.poly_vertex_counts[poly]);
        let ring: Vec<[f32; 3]> = (first..first + n)
            .map(|i| data.vertices[usize::from(data.poly_indices[i])])
            .collect();
        first += n;
        let mut middle = [0.0_f32; 3];
        for corner in &ring {
            for axis in 0..3 {
                middle[axis] += corner[axis] / n as f32;
            }
        }
        let rings = if rng.next_below(3) == 0 { 5 } else { 0 };
        let vertex_base = data.detail_vertices.len();
        let triangle_base = data.detail_triangles.len();
        for level in 0..rings {
            let t = (level + 1) as f32 / (rings + 1) as f32;
            for corner in &ring {
                let mut point = [0.0; 3];
                for axis in 0..3 {
                    point[axis] = corner[axis] + (middle[axis] - corner[axis]) * t;
                }
                point[1] += rng.range(-0.2, 0.2) as f32;
                data.detail_vertices.push(point);
            }
        }
        middle[1] += rng.range(-0.2, 0.2) as f32;
        data.detail_vertices.push(middle);
        let tip = (n * (rings + 1)) as u8;
        for level in 0..rings {
            for i in 0..n {
                let next = (i + 1) % n;
                let (a, b) = ((level * n + i) as u8, (level * n + next) as u8);
                let (c, d) = (((level + 1) * n + i) as u8, ((level + 1) * n + next) as u8);
                data.detail_triangles.push([a, b, d, 0]);
                data.detail_triangles.push([a, d, c, 0]);
            }
        }
        for i in 0..n {
            let next = (i + 1) % n;
            let inner = rings * n;
            data.detail_triangles
                .push([(inner + i) as u8, (inner + next) as u8, tip, 0]);
        }
        data.detail_meshes[poly] = DetailMesh {
            vertex_base: vertex_base as u32,
            triangle_base: triangle_base as u32,
            vertex_count: (data.detail_vertices.len() - vertex_base) as u16,
            triangle_count: (data.detail_triangles.len() - triangle_base) as u16,
        };
    }
}

fn triangle_wave(x: f64) -> f64 {
    let t = x - x.floor();
    if t < 0.5 {
        4.0 * t - 1.0
    } else {
        3.0 - 4.0 * t
    }
}

/// All polygons of a mesh.
pub fn all_polys(mesh: &TiledMesh) -> Vec<PolyRef> {
    let polys = mesh
        .tiles()
        .flat_map(|(slot, tile)| (0..tile.poly_count()).map(move |poly| (slot, poly)));
    polys
        .map(|(slot, poly)| mesh.poly_ref(slot, poly as u32))
        .collect()
}

/// A random polygon and a point inside it (a mean of its corners with random weights).
pub fn random_place(mesh: &TiledMesh, rng: &mut SplitMix64) -> (PolyRef, DVec3) {
    let polys = all_polys(mesh);
    let poly = polys[rng.next_below(polys.len() as u32) as usize];
    let (tile, index) = mesh.resolve(poly).unwrap();
    let (mut sum, mut total) = (DVec3::ZERO, 0.0);
    for &corner in tile.poly_ring(index) {
        let weight = rng.range(0.05, 1.0);
        sum += corner * weight;
        total += weight;
    }
    let point = sum / total;
    let height = throng_query::mesh::surface_height(tile, index, point.x, point.z);
    (poly, DVec3::new(point.x, height, point.z))
}

/// A random position in and around the mesh's box.
pub fn random_position(plan: &Plan, rng: &mut SplitMix64) -> DVec3 {
    let origin = params().origin;
    DVec3::new(
        origin.x + rng.range(-3.0, f64::from(plan.tiles.0) * TILE + 3.0),
        rng.range(-2.0, f64::from(plan.layers) * 5.0),
        origin.z + rng.range(-3.0, f64::from(plan.tiles.1) * TILE + 3.0),
    )
}

/// The polygon under a place that is known to be on the mesh.
pub fn poly_at(mesh: &TiledMesh, point: DVec3) -> PolyRef {
    let extents = DVec3::new(1.0, 1.0, 1.0);
    find_nearest_poly(mesh, point, extents, &DefaultFilter)
        .unwrap()
        .poly
}

/// A flat mesh of unit cells from a picture (`#` is a hole), row 0 of the text at Z 0, one polygon
/// per cell, tiles of 8 x 8 cells, origin 0.
pub fn picture(rows: &[&str]) -> TiledMesh {
    let params = MeshParams {
        origin: DVec3::ZERO,
        ..params()
    };
    let mut mesh = TiledMesh::new(params).unwrap();
    let depth = rows.len();
    let width = rows.iter().map(|row| row.len()).max().unwrap();
    for tile_z in 0..depth.div_ceil(8) {
        for tile_x in 0..width.div_ceil(8) {
            let mut input = LocalPolygons {
                tile_x: tile_x as i32,
                tile_z: tile_z as i32,
                ..LocalPolygons::default()
            };
            for z in 0..=8 {
                for x in 0..=8 {
                    input.vertices.push([x as f32, 0.0, z as f32]);
                }
            }
            for z in 0..8 {
                for x in 0..8 {
                    let open = rows
                        .get(tile_z * 8 + z)
                        .and_then(|row| row.as_bytes().get(tile_x * 8 + x))
                        .is_some_and(|&c| c != b'#');
                    if open {
                        let at = (z * 9 + x) as u16;
                        input.poly_vertex_counts.push(4);
                        input.poly_indices.extend([at, at + 1, at + 10, at + 9]);
                        input.areas.push(0);
                        input.flags.push(1);
                    }
                }
            }
            if !input.poly_vertex_counts.is_empty() {
                let data = from_local_polygons(input, &params).unwrap();
                mesh.add_tile(NavTile::create(data, &params).unwrap())
                    .unwrap();
            }
        }
    }
    mesh
}

/// Meshes for path searches: plain ones, wild ones, and wild ones of one floor without links.
pub fn plans() -> impl Iterator<Item = Plan> {
    (0..12).map(|seed| match seed % 3 {
        0 => Plan { seed, ..PLAIN },
        1 => Plan { seed, ..WILD },
        _ => Plan {
            seed,
            layers: 1,
            links: 0,
            holes: 0.35,
            ..WILD
        },
    })
}

/// A filter in which areas cost different amounts.
pub fn priced() -> QueryFilter {
    QueryFilter::default()
        .with_area_cost(0, 0.75)
        .and_then(|f| f.with_area_cost(1, 3.0))
        .and_then(|f| f.with_area_cost(2, 1.25))
        .unwrap()
}

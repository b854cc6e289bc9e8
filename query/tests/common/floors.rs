//! Tiles with floors over floors, around which a search can go wrong, from a seed.
#![allow(unreachable_pub, reason = "a part of one test file")]

use crate::common;
use crate::nearest::APART;
use throng_soa::DVec3;
use throng_soa::mesh::assemble::{LocalPolygons, from_local_polygons};
use throng_soa::mesh::{MeshParams, NavTile, TileData, TiledMesh};
use throng_soa::predicates::orient2d;
use throng_soa::rng::SplitMix64;

/// Triangles over the points of a small lattice, as they come: over each other, in fans that turn onto
/// themselves, joined where two share an edge, some of them not. A few points have a twin nearby.
pub fn lattice(rng: &mut SplitMix64, triangles: usize) -> Option<TiledMesh> {
    let params = MeshParams {
        origin: DVec3::ZERO,
        tile_size: 64.0,
        ..common::params()
    };
    let side = 3 + rng.next_below(5) as usize;
    let mut vertices = Vec::new();
    for row in 0..side {
        for column in 0..side {
            let bend = |rng: &mut SplitMix64| match rng.next_below(4) {
                0 => 0.2 * rng.range(-1.0, 1.0),
                _ => 0.0,
            };
            // The first column is the border of the tile.
            let x = if column > 0 { bend(rng) } else { 0.0 };
            let (x, z) = (column as f64 + x, 4.0 + row as f64 + bend(rng));
            vertices.push([x as f32, rng.range(0.0, 3.0) as f32, z as f32]);
        }
    }
    let places = vertices.len();
    // Where there is a twin, a triangle may use either.
    let mut twin: Vec<usize> = (0..places).collect();
    for _ in 0..rng.next_below(4) {
        let point = rng.next_below(places as u32) as usize;
        let apart = [0.0, 1e-5, 0.5 * APART, 0.9 * APART, 2.0 * APART, 0.05];
        let away = apart[rng.next_below(6) as usize] as f32;
        let [x, y, z] = vertices[point];
        twin[point] = vertices.len();
        vertices.push([x + away, y, z + away]);
    }
    let mut polygons = LocalPolygons {
        vertices,
        ..LocalPolygons::default()
    };
    for _ in 0..triangles {
        let at = rng.next_below(places as u32) as usize;
        let (column, row) = (at % side, at / side);
        let near = |rng: &mut SplitMix64| {
            let reach = 1 + usize::from(rng.next_below(6) == 0);
            let step = |rng: &mut SplitMix64, place: usize| {
                let most = (side - 1).min(place + reach);
                let least = place.saturating_sub(reach);
                least + rng.next_below((most - least + 1) as u32) as usize
            };
            let point = step(rng, row) * side + step(rng, column);
            if rng.next_below(2) == 0 {
                twin[point]
            } else {
                point
            }
        };
        let mut ring = [at, near(rng), near(rng)].map(|point| point as u16);
        let [a, b, c] = ring.map(|point| {
            let [x, _, z] = polygons.vertices[usize::from(point)];
            [f64::from(x), f64::from(z)]
        });
        let turn = orient2d(a, b, c);
        if turn == 0.0 {
            continue;
        }
        if turn < 0.0 {
            ring.swap(1, 2);
        }
        polygons.poly_vertex_counts.push(3);
        polygons.poly_indices.extend(ring);
        polygons.areas.push(0);
        polygons
            .flags
            .push(1 << (2 * u16::from(rng.next_below(12) == 0)));
    }
    let mut data = from_local_polygons(polygons, &params).ok()?;
    if data.poly_areas.is_empty() {
        return None;
    }
    // Walls between polygons that lie side by side.
    for edge in 0..data.edge_neighbors.len() {
        let neighbor = data.edge_neighbors[edge];
        if neighbor > 0 && rng.next_below(20) == 0 {
            let first = 3 * (neighbor as usize - 1);
            let back = edge as i32 / 3 + 1;
            data.edge_neighbors[edge] = 0;
            for edge in first..first + 3 {
                if data.edge_neighbors[edge] == back {
                    data.edge_neighbors[edge] = 0;
                }
            }
        }
    }
    mesh_of(data, params)
}

/// A mesh of one tile, if that is one.
fn mesh_of(data: TileData, params: MeshParams) -> Option<TiledMesh> {
    let mut mesh = TiledMesh::new(params).unwrap();
    mesh.add_tile(NavTile::create(data, &params).ok()?).unwrap();
    Some(mesh)
}

/// Floors of one lattice that wind around a corner of it like a car park: north of it, east of the corner,
/// each goes on where the one below ends. Some cells are missing, some cut in two; floors lie a little
/// aside from each other, and a few points of theirs are one.
pub fn car_park(rng: &mut SplitMix64) -> Option<TiledMesh> {
    let far = [0.0, 0.0, 4096.0, 1_572_864.0][rng.next_below(4) as usize];
    let params = MeshParams {
        origin: DVec3::new(far, 0.0, -far),
        tile_size: 64.0,
        ..common::params()
    };
    let side = 3 + rng.next_below(6) as usize;
    let floors = 1 + rng.next_below(3) as usize;
    let corner = [0, 1].map(|_| 1 + rng.next_below(side as u32 - 1) as usize);
    let holes = [0.0, 0.1, 0.3][rng.next_below(3) as usize];
    let row_of = side + 1;
    // On straight lines cells can be joined in pairs, and then have straight corners.
    let crooked = f64::from(rng.next_below(2));
    let bends: Vec<[f64; 2]> = (0..row_of * row_of)
        .map(|_| {
            [0, 1].map(|_| 0.3 * crooked * rng.range(-1.0, 1.0) * f64::from(rng.next_below(2)))
        })
        .collect();
    let mut polygons = LocalPolygons::default();
    // One more floor than there are: the free end of the lowest.
    for floor in 0..=floors {
        let aside = [0.0, 0.0, 1e-6, 0.5 * APART, 2.0 * APART, 0.1][rng.next_below(6) as usize];
        for (place, [x, z]) in bends.iter().enumerate() {
            let x = 4.0 + (place % row_of) as f64 + x + aside;
            let z = 4.0 + (place / row_of) as f64 + z + aside;
            polygons
                .vertices
                .push([x, 3.0 * floor as f64, z].map(|value| value as f32));
        }
    }
    let mut names: Vec<usize> = (0..polygons.vertices.len()).collect();
    for _ in 0..rng.next_below(3) {
        let place = rng.next_below((row_of * row_of) as u32) as usize;
        names[place] = place + rng.next_below(floors as u32) as usize * row_of * row_of;
    }
    let vertex = |floor: usize, row: usize, column: usize, north: bool| {
        let floor = if [row, column] == corner {
            0
        } else if north && row == corner[0] && column > corner[1] {
            if floor == 0 { floors } else { floor - 1 }
        } else {
            floor
        };
        names[floor * row_of * row_of + row * row_of + column] as u16
    };
    for floor in 0..floors {
        let mut taken = 0;
        for (row, column) in (0..side * side).map(|cell| (cell / side, cell % side)) {
            if taken > 0 || rng.next_f64() < holes {
                taken -= usize::from(taken > 0);
                continue;
            }
            let north = row >= corner[0];
            let mut add = |ring: &[u16], flags: u16| {
                polygons.poly_vertex_counts.push(ring.len() as u8);
                polygons.poly_indices.extend(ring);
                polygons.areas.push(0);
                polygons.flags.push(flags);
            };
            let at = |up: usize, right: usize| vertex(floor, row + up, column + right, north);
            let flags = 1 << (2 * u16::from(rng.next_below(12) == 0));
            if crooked == 0.0 && column + 1 < side && rng.next_below(4) == 0 {
                taken = 1;
                let ring = [at(0, 0), at(0, 1), at(0, 2), at(1, 2), at(1, 1), at(1, 0)];
                add(&ring, flags);
                continue;
            }
            let quad = [at(0, 0), at(0, 1), at(1, 1), at(1, 0)];
            let pieces: &[&[usize]] = match rng.next_below(3) {
                0 => &[&[0, 1, 2], &[0, 2, 3]],
                1 => &[&[0, 1, 3], &[1, 2, 3]],
                _ => &[&[0, 1, 2, 3]],
            };
            for piece in pieces {
                let ring: Vec<u16> = piece.iter().map(|&k| quad[k]).collect();
                add(&ring, flags);
            }
        }
    }
    let data = from_local_polygons(polygons, &params).ok()?;
    mesh_of(data, params)
}

//! Tiles made by hand and by chance, shared by the tests of this crate.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file uses its own part of these helpers"
)]

use throng_soa::DVec3;
use throng_soa::mesh::assemble::{LocalPolygons, from_local_polygons};
use throng_soa::mesh::{DetailMesh, Link, MeshParams, NavTile, OffMeshLink, TileData, TiledMesh};
use throng_soa::rng::SplitMix64;

/// A small grid: tiles of 8, steps of half a unit.
pub fn params() -> MeshParams {
    MeshParams {
        origin: DVec3::new(-4.0, 0.0, 2.5),
        tile_size: 8.0,
        cell_size: 0.25,
        max_verts_per_poly: 6,
        walkable_climb: 0.5,
        agent_radius: 0.25,
        agent_height: 2.0,
        agent_max_slope_degrees: 45.0,
        settings_digest: 0,
    }
}

/// A tile that is one square polygon with a portal on every side.
pub fn square(x: i32, z: i32, layer: i32, height: f32) -> TileData {
    let s = params().tile_size as f32;
    let corner = |x, z| [x, height, z];
    from_local_polygons(
        LocalPolygons {
            tile_x: x,
            tile_z: z,
            layer,
            origin_y: 0.0,
            vertices: vec![
                corner(0.0, 0.0),
                corner(s, 0.0),
                corner(s, s),
                corner(0.0, s),
            ],
            poly_vertex_counts: vec![4],
            poly_indices: vec![0, 1, 2, 3],
            areas: vec![0],
            flags: vec![1],
        },
        &params(),
    )
    .unwrap()
}

/// [`square`], validated.
pub fn square_tile(x: i32, z: i32, layer: i32, height: f32) -> NavTile {
    NavTile::create(square(x, z, layer, height), &params()).unwrap()
}

/// A tile with everything a tile can hold: six polygons joined inside, portals, height detail on
/// two polygons, several areas, and three off-mesh links.
pub fn rich(x: i32, z: i32) -> TileData {
    let xs = [0.0, 3.0, 5.5, 8.0];
    let zs = [0.0, 4.25, 8.0];
    let mut vertices = Vec::new();
    for z in zs {
        for x in xs {
            vertices.push([x, x * 0.125 + z * 0.0625, z]);
        }
    }
    let mut indices = Vec::new();
    for row in 0..2_u16 {
        for column in 0..3_u16 {
            let a = row * 4 + column;
            indices.extend([a, a + 1, a + 5, a + 4]);
        }
    }
    let mut data = from_local_polygons(
        LocalPolygons {
            tile_x: x,
            tile_z: z,
            layer: 0,
            origin_y: 1.5,
            vertices,
            poly_vertex_counts: vec![4; 6],
            poly_indices: indices,
            areas: vec![0, 1, 2, 63, 0, 5],
            flags: vec![1, 1, 2, 0, 0xFFFF, 1],
        },
        &params(),
    )
    .unwrap();
    data.detail_vertices = vec![[1.0, 0.4, 2.0], [6.0, 1.2, 6.0], [7.0, 1.1, 7.0]];
    data.detail_triangles = vec![
        [0, 1, 4, 1],
        [1, 2, 4, 1],
        [2, 3, 4, 1],
        [3, 0, 4, 1],
        [0, 1, 4, 0],
        [1, 2, 5, 3],
    ];
    data.detail_meshes[0] = DetailMesh {
        vertex_base: 0,
        triangle_base: 0,
        vertex_count: 1,
        triangle_count: 4,
    };
    data.detail_meshes[5] = DetailMesh {
        vertex_base: 1,
        triangle_base: 4,
        vertex_count: 2,
        triangle_count: 2,
    };
    data.off_mesh_links = vec![
        link([1.0, 0.2, 1.0], [7.0, 1.0, 7.0], true, 7),
        link([4.0, 0.6, 5.0], [4.0, 0.6, 12.0], false, 8),
        link([1.0, 40.0, 1.0], [2.0, 0.2, 1.0], true, 9),
    ];
    data
}

/// An off-mesh link with a radius of 1.
pub fn link(start: [f32; 3], end: [f32; 3], bidirectional: bool, user_id: u32) -> OffMeshLink {
    OffMeshLink {
        start,
        end,
        radius: 1.0,
        area: 4,
        flags: 1,
        bidirectional,
        user_id,
    }
}

/// A tile cut at random into quads of random heights, some of them missing, with random links.
pub fn random_tile(rng: &mut SplitMix64, x: i32, z: i32, layer: i32, links: bool) -> TileData {
    let s = params().tile_size as f32;
    let mut cuts = || {
        let mut cuts = vec![0.0, s];
        for _ in 0..rng.next_below(4) {
            // Eighths: neighbours often share a cut, and often do not.
            cuts.push((1 + rng.next_below(63)) as f32 * 0.125);
        }
        cuts.sort_by(f32::total_cmp);
        cuts.dedup();
        cuts
    };
    let (xs, zs) = (cuts(), cuts());
    let base = 3.0 * layer as f32;
    let mut vertices = Vec::new();
    for &z in &zs {
        for &x in &xs {
            let y = base + rng.range(-0.35, 0.35) as f32;
            vertices.push([x, y, z]);
        }
    }
    let (mut counts, mut indices, mut areas, mut flags) = (vec![], vec![], vec![], vec![]);
    for row in 0..zs.len() - 1 {
        for column in 0..xs.len() - 1 {
            if rng.next_below(5) == 0 {
                continue;
            }
            let a = (row * xs.len() + column) as u16;
            let up = a + xs.len() as u16;
            let mut ring = vec![a, a + 1, up + 1, up];
            let turn = rng.next_below(4) as usize;
            ring.rotate_left(turn);
            if rng.next_below(3) == 0 {
                counts.extend([3, 3]);
                indices.extend([ring[0], ring[1], ring[2], ring[0], ring[2], ring[3]]);
                areas.extend([rng.next_below(64) as u8; 2]);
                flags.extend([rng.next_below(65_536) as u16; 2]);
            } else {
                counts.push(4);
                indices.extend(ring);
                areas.push(rng.next_below(64) as u8);
                flags.push(rng.next_below(65_536) as u16);
            }
        }
    }
    let mut data = from_local_polygons(
        LocalPolygons {
            tile_x: x,
            tile_z: z,
            layer,
            origin_y: rng.range(-0.2, 0.2),
            vertices,
            poly_vertex_counts: counts,
            poly_indices: indices,
            areas,
            flags,
        },
        &params(),
    )
    .unwrap();
    if links {
        for user_id in 0..rng.next_below(4) {
            let mut end = |reach: f64| {
                [
                    rng.range(-reach, 8.0 + reach) as f32,
                    base + rng.range(-1.5, 4.5) as f32,
                    rng.range(-reach, 8.0 + reach) as f32,
                ]
            };
            let (start, end) = (end(0.5), end(9.0));
            data.off_mesh_links.push(OffMeshLink {
                start,
                end,
                radius: rng.range(0.1, 3.0) as f32,
                area: rng.next_below(64) as u8,
                flags: rng.next_below(65_536) as u16,
                bidirectional: rng.next_below(2) == 0,
                user_id,
            });
        }
    }
    data
}

/// [`random_tile`], validated.
pub fn random_nav_tile(rng: &mut SplitMix64, x: i32, z: i32, layer: i32, links: bool) -> NavTile {
    NavTile::create(random_tile(rng, x, z, layer, links), &params()).unwrap()
}

/// A mesh with several tiles, a freed slot, advanced generations, edits and a switched-off link.
pub fn lived_in() -> TiledMesh {
    let mut mesh = TiledMesh::new(params()).unwrap();
    let rich = |x, z| NavTile::create(rich(x, z), &params()).unwrap();
    mesh.add_tile(rich(0, 0)).unwrap();
    mesh.add_tile(rich(0, 1)).unwrap();
    let gone = mesh.add_tile(square_tile(1, 0, 0, 2.0)).unwrap();
    mesh.add_tile(square_tile(-1, 0, 3, 1.5)).unwrap();
    mesh.replace_tile(rich(0, 1)).unwrap();
    mesh.remove_tile(gone).unwrap();
    mesh.set_poly_area(mesh.poly_ref(0, 2), 9).unwrap();
    mesh.set_poly_flags(mesh.poly_ref(1, 5), 0x8001).unwrap();
    mesh.set_off_mesh_link_enabled(mesh.tile_ref(0).unwrap(), 1, false)
        .unwrap();
    mesh
}

/// All links of a mesh, by (slot, polygon).
pub fn all_links(mesh: &TiledMesh) -> Vec<(u32, u32, Vec<Link>)> {
    let mut all = Vec::new();
    for (slot, tile) in mesh.tiles() {
        for poly in 0..tile.poly_count() {
            all.push((slot, poly as u32, tile.poly_links(poly).to_vec()));
        }
    }
    all
}

//! Worlds the tests walk in, and what they measure there.
#![allow(dead_code, unreachable_pub)]

use std::collections::BTreeSet;
use throng_build::{NavSettings, OffMeshLinkDefinition, build_soup};
use throng_query::mesh::{
    FunnelScratch, NodeModel, PathSearch, PathStatus, QueryFilter, QueryStatus, find_nearest_poly,
    find_straight_path, random_point,
};
use throng_sim::Navigator;
use throng_sim::corridor::{PathCorridor, corridor_length, replan};
use throng_sim::crowd::{AgentId, AgentOptions, Crowd, CrowdOptions};
use throng_sim::follower::{FollowerOptions, OffMeshMode};
use throng_soa::mesh::assemble::{WorldPolygons, from_polygons};
use throng_soa::mesh::{MeshParams, NavTile, PolyRef, TileData, TiledMesh};
use throng_soa::rng::SplitMix64;
use throng_soa::world::{DVec2, DVec3, distance_xz};

/// Flag of a polygon nobody may use.
pub const CLOSED: u16 = 2;

/// Accepts every polygon that is not closed.
pub fn open_ways() -> QueryFilter {
    let mut filter = QueryFilter::default();
    filter.exclude_flags = CLOSED;
    filter
}

/// A small agent (two of them are 0.6 apart when they touch) that keeps straight on.
pub const STRAIGHT: AgentOptions = AgentOptions {
    side_preference: 0.0,
    ..AgentOptions::SMALL
};

/// Equal but for rounding.
pub fn assert_near(found: DVec2, expected: DVec2) {
    let away = found - expected;
    let away = (away.x * away.x + away.y * away.y).sqrt();
    assert!(away < 1e-9, "{found}, not {expected}");
}

/// A point of the plane y = 0.
pub fn at(x: f64, z: f64) -> DVec3 {
    DVec3::new(x, 0.0, z)
}

/// Triangles of a level made of flat slabs and boxes.
#[derive(Default)]
pub struct Level {
    vertices: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
}

impl Level {
    /// A walkable rectangle at height `y`.
    pub fn slab(&mut self, low: (f64, f64), high: (f64, f64), y: f64) {
        self.quad(
            [
                (low.0, low.1),
                (low.0, high.1),
                (high.0, high.1),
                (high.0, low.1),
            ],
            y,
        );
    }

    fn quad(&mut self, ring: [(f64, f64); 4], y: f64) {
        let first = self.vertices.len() as u32;
        self.vertices.extend(ring.map(|(x, z)| DVec3::new(x, y, z)));
        self.triangles.push([first, first + 1, first + 2]);
        self.triangles.push([first, first + 2, first + 3]);
    }

    /// A solid box too high to step on and too low to walk under. Its lid faces down, so it is no
    /// ground either.
    pub fn block(&mut self, low: (f64, f64), high: (f64, f64)) {
        self.quad(
            [
                (low.0, low.1),
                (high.0, low.1),
                (high.0, high.1),
                (low.0, high.1),
            ],
            1.8,
        );
    }

    pub fn build(&self, settings: &NavSettings) -> TiledMesh {
        build_soup(&self.vertices, &self.triangles, settings, 1).unwrap()
    }
}

/// Settings of the walked worlds: a small body, cells of 0.3, several tiles.
pub fn settings() -> NavSettings {
    NavSettings {
        agent_radius: 0.3,
        tile_size: 16.0,
        ..NavSettings::HUMANOID
    }
}

/// A square of ground.
pub fn floor(size: f64) -> TiledMesh {
    let mut level = Level::default();
    level.slab((0.0, 0.0), (size, size), 0.0);
    level.build(&NavSettings {
        tile_size: 64.0,
        ..settings()
    })
}

/// Ground with scattered boxes; any two of them, and the border, leave a passage of at least
/// `passage` once the body is taken off.
pub fn field(seed: u64, size: f64, boxes: usize, passage: f64) -> TiledMesh {
    let mut rng = SplitMix64::new(seed);
    let mut level = Level::default();
    level.slab((0.0, 0.0), (size, size), 0.0);
    let gap = passage + 2.0 * 0.3 + 2.0 * 0.3;
    let mut placed: Vec<[f64; 4]> = Vec::new();
    for _ in 0..40 * boxes {
        if placed.len() == boxes {
            break;
        }
        let (w, d) = (rng.range(1.0, 5.0), rng.range(1.0, 5.0));
        let (x, z) = (
            rng.range(gap, size - gap - w),
            rng.range(gap, size - gap - d),
        );
        let clear = placed
            .iter()
            .all(|p| x > p[2] + gap || x + w < p[0] - gap || z > p[3] + gap || z + d < p[1] - gap);
        if clear {
            placed.push([x, z, x + w, z + d]);
        }
    }
    for [x0, z0, x1, z1] in placed {
        level.block((x0, z0), (x1, z1));
    }
    level.build(&settings())
}

/// A ground floor and a smaller one above it, joined by links only: one both ways, one up, one
/// down.
pub fn two_floors() -> TiledMesh {
    let mut level = Level::default();
    level.slab((0.0, 0.0), (40.0, 40.0), 0.0);
    level.slab((10.0, 10.0), (30.0, 30.0), 4.0);
    for (x, z) in [(4.0, 25.0), (33.0, 8.0), (18.0, 33.0)] {
        level.block((x, z), (x + 3.0, z + 2.0));
    }
    let link = |start, end, bidirectional| OffMeshLinkDefinition {
        start,
        end,
        radius: 0.6,
        bidirectional,
        area: 0,
        flags: 1,
        user_id: 0,
    };
    let up = |x, z| DVec3::new(x, 4.0, z);
    level.build(&NavSettings {
        off_mesh_links: vec![
            link(at(6.0, 20.0), up(12.0, 20.0), true),
            link(at(20.0, 6.0), up(20.0, 12.0), false),
            link(up(28.0, 20.0), at(34.0, 20.0), false),
        ],
        ..settings()
    })
}

pub fn hand_params(tile_size: f64) -> MeshParams {
    MeshParams {
        origin: DVec3::ZERO,
        tile_size,
        cell_size: 0.25,
        max_verts_per_poly: 6,
        walkable_climb: 0.5,
        agent_radius: 0.3,
        agent_height: 2.0,
        agent_max_slope_degrees: 45.0,
        settings_digest: 0,
    }
}

/// One tile of square polygons of side `cell`: those cells of the tile for which `open` holds
/// (cells counted in the tile).
pub fn cell_tile(
    params: &MeshParams,
    (tile_x, tile_z): (i32, i32),
    cell: f64,
    open: impl Fn(usize, usize) -> bool,
) -> TileData {
    let n = (params.tile_size / cell) as usize;
    let (ox, oz) = (params.tile_origin_x(tile_x), params.tile_origin_z(tile_z));
    let mut input = WorldPolygons {
        tile_x,
        tile_z,
        ..WorldPolygons::default()
    };
    for z in 0..=n {
        for x in 0..=n {
            input
                .vertices
                .push(at(ox + x as f64 * cell, oz + z as f64 * cell));
        }
    }
    for z in 0..n {
        for x in 0..n {
            if open(x, z) {
                let corner = |dx: usize, dz: usize| ((z + dz) * (n + 1) + x + dx) as u16;
                input.poly_vertex_counts.push(4);
                input
                    .poly_indices
                    .extend([corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)]);
                input.areas.push(0);
                input.flags.push(1);
            }
        }
    }
    from_polygons(input, params).unwrap()
}

/// A perfect maze of `rooms × rooms` square rooms joined by square passages: one way between any
/// two polygons.
pub fn maze(seed: u64, rooms: usize) -> TiledMesh {
    let mut rng = SplitMix64::new(seed);
    let side = 2 * rooms + 1;
    let mut open = vec![false; side * side];
    let room = |x: usize, z: usize| (2 * z + 1) * side + 2 * x + 1;
    let mut stack = vec![(0_usize, 0_usize)];
    open[room(0, 0)] = true;
    while let Some(&(x, z)) = stack.last() {
        let ahead: Vec<(usize, usize)> = [(1, 0), (-1, 0), (0, 1), (0, -1)]
            .iter()
            .map(|&(dx, dz): &(i32, i32)| (x as i32 + dx, z as i32 + dz))
            .filter(|&(x, z)| x >= 0 && z >= 0 && x < rooms as i32 && z < rooms as i32)
            .map(|(x, z)| (x as usize, z as usize))
            .filter(|&(x, z)| !open[room(x, z)])
            .collect();
        if ahead.is_empty() {
            stack.pop();
            continue;
        }
        let (nx, nz) = ahead[rng.next_below(ahead.len() as u32) as usize];
        open[(room(x, z) + room(nx, nz)) / 2] = true;
        open[room(nx, nz)] = true;
        stack.push((nx, nz));
    }
    cells(2.0, |x, z| x < side && z < side && open[z * side + x])
}

/// A mesh of one tile, 64 units wide, of square polygons of side `cell`: see [`cell_tile`].
pub fn cells(cell: f64, open: impl Fn(usize, usize) -> bool) -> TiledMesh {
    let params = hand_params(64.0);
    let tile = cell_tile(&params, (0, 0), cell, open);
    one_tile(tile, params)
}

/// A mesh of one tile.
pub fn one_tile(tile: TileData, params: MeshParams) -> TiledMesh {
    let mut mesh = TiledMesh::new(params).unwrap();
    mesh.add_tile(NavTile::create(tile, &params).unwrap())
        .unwrap();
    mesh
}

/// `side × side` tiles of 4 × 4 square polygons with a share of them missing; some tiles carry
/// one-way links to another tile. Returns the tiles as well, to put back.
pub fn patchwork(seed: u64, side: i32) -> (TiledMesh, Vec<TileData>) {
    let params = hand_params(8.0);
    let mut rng = SplitMix64::new(seed);
    let mut tiles = Vec::new();
    for z in 0..side {
        for x in 0..side {
            let holes: Vec<bool> = (0..16).map(|_| rng.next_below(4) == 0).collect();
            let mut tile = cell_tile(&params, (x, z), 2.0, |cx, cz| !holes[cz * 4 + cx]);
            if rng.next_below(3) == 0 && !tile.poly_areas.is_empty() {
                let own = tile.poly_indices[0] as usize;
                let start = tile.vertices[own];
                let (to_x, to_z) = (rng.next_below(side as u32), rng.next_below(side as u32));
                let local = |to: u32, from: i32| ((to as i32 - from) * 8) as f32 + 4.0;
                tile.off_mesh_links.push(throng_soa::mesh::OffMeshLink {
                    start: [start[0] + 1.0, 0.0, start[2] + 1.0],
                    end: [local(to_x, x) + 1.0, 0.0, local(to_z, z) + 1.0],
                    radius: 0.5,
                    area: 0,
                    flags: 1,
                    bidirectional: rng.next_below(3) == 0,
                    user_id: 0,
                });
            }
            tiles.push(tile);
        }
    }
    let mut mesh = TiledMesh::new(params).unwrap();
    for tile in &tiles {
        mesh.add_tile(NavTile::create(tile.clone(), &params).unwrap())
            .unwrap();
    }
    (mesh, tiles)
}

/// A point of the mesh.
pub fn place(mesh: &TiledMesh, rng: &mut SplitMix64) -> (PolyRef, DVec3) {
    let found = random_point(mesh, rng, &open_ways()).unwrap();
    (found.poly, found.point)
}

/// Length of the taut string through a fresh route on crossing nodes, seen from above; `None` when
/// there is no route.
pub fn route_length(mesh: &TiledMesh, from: (PolyRef, DVec3), to: (PolyRef, DVec3)) -> Option<f64> {
    let mut search = PathSearch::new(NodeModel::Crossing, 1 << 15);
    let mut out = vec![PolyRef::INVALID; 4096];
    let filter = open_ways();
    let found = search
        .find_path(mesh, from.0, to.0, from.1, to.1, &filter, &mut out)
        .unwrap();
    if found.status != QueryStatus::Success {
        return None;
    }
    let mut navigator = Navigator::new(NodeModel::Crossing, 64, 64);
    let length = corridor_length(mesh, from.1, to.1, &out[..found.count], &mut navigator);
    length.is_finite().then_some(length)
}

/// The polygon under a position, which must lie on the surface.
pub fn assert_on_surface(mesh: &TiledMesh, position: DVec3) -> PolyRef {
    let near = DVec3::new(0.5, 1.0, 0.5);
    let found = find_nearest_poly(mesh, position, near, &open_ways()).unwrap();
    assert!(found.poly.is_valid(), "{position} is off the mesh");
    assert!(
        distance_xz(found.point, position) < 1e-6 && (found.point.y - position.y).abs() < 0.05,
        "{position} is not on the surface; nearest is {}",
        found.point
    );
    found.poly
}

/// What every corridor keeps: within its capacity, no polygon twice, each entered from the one
/// before.
pub fn assert_corridor(mesh: &TiledMesh, polys: &[PolyRef], capacity: usize) {
    assert!(
        !polys.is_empty() && polys.len() <= capacity,
        "{}",
        polys.len()
    );
    let distinct: BTreeSet<PolyRef> = polys.iter().copied().collect();
    assert_eq!(distinct.len(), polys.len(), "a polygon twice: {polys:?}");
    for pair in polys.windows(2) {
        let joined = throng_query::mesh::connects(mesh, pair[0], pair[1], &open_ways());
        assert!(joined, "{pair:?} do not touch");
    }
}

/// Corners of a corridor as (x, z) pairs.
pub fn corners(mesh: &TiledMesh, start: DVec3, end: DVec3, polys: &[PolyRef]) -> Vec<DVec3> {
    let mut out = vec![Default::default(); 2 * polys.len() + 2];
    let mut scratch = FunnelScratch::default();
    let found = find_straight_path(mesh, start, end, polys, &mut scratch, &mut out, usize::MAX);
    assert_eq!(found.status, QueryStatus::Success);
    out[..found.count].iter().map(|c| c.position).collect()
}

/// Where the polygon under a position is looked for.
pub const EXTENTS: DVec3 = DVec3::new(2.0, 4.0, 2.0);

/// Scratch whose searches use `model`.
pub fn navigator(model: NodeModel) -> Navigator {
    Navigator::new(model, 1 << 15, 1 << 15)
}

/// Fields of boxes from sparse to dense.
pub fn fields(count: u64) -> impl Iterator<Item = TiledMesh> {
    (0..count).map(|seed| field(seed, 40.0, 10 + (seed as usize % 3) * 15, 0.3))
}

/// A corridor placed at `from` and planned to `to`.
pub fn planned(
    mesh: &TiledMesh,
    from: DVec3,
    to: DVec3,
    capacity: usize,
    navigator: &mut Navigator,
) -> (PathCorridor, QueryStatus) {
    let mut corridor = PathCorridor::new(capacity).unwrap();
    assert!(corridor.place(mesh, &open_ways(), from, EXTENTS).unwrap());
    corridor.row().set_target(to).unwrap();
    let row = &mut corridor.row();
    let found = replan(row, mesh, &open_ways(), EXTENTS, u32::MAX, navigator).unwrap();
    (corridor, found.status)
}

/// One random edit of a patchwork: a tile goes, comes (back), or a polygon's flags change.
pub fn edit(mesh: &mut TiledMesh, tiles: &[TileData], rng: &mut SplitMix64) {
    let tile = &tiles[rng.next_below(tiles.len() as u32) as usize];
    let standing = mesh.tile_slot_at(tile.tile_x, tile.tile_z, 0);
    let fresh = NavTile::create(tile.clone(), mesh.params()).unwrap();
    match (rng.next_below(4), standing) {
        (0, Some(slot)) => {
            let tile = mesh.tile_ref(slot).unwrap();
            mesh.remove_tile(tile).unwrap();
        }
        (1, Some(_)) => {
            mesh.replace_tile(fresh).unwrap();
        }
        (_, Some(slot)) => {
            let count = mesh.tile(slot).unwrap().poly_count() as u32;
            if count > 0 {
                let poly = mesh.poly_ref(slot, rng.next_below(count));
                mesh.set_poly_flags(poly, 1 | (rng.next_below(2) as u16 * CLOSED))
                    .unwrap();
            }
        }
        (_, None) => {
            mesh.add_tile(fresh).unwrap();
        }
    }
}

/// Adds an agent and sends it to a place it can reach.
pub fn send(
    mesh: &TiledMesh,
    crowd: &mut Crowd,
    from: DVec3,
    to: DVec3,
    options: &AgentOptions,
) -> AgentId {
    let id = crowd.add(mesh, from, options).unwrap();
    let status = crowd.set_destination(mesh, id, to).unwrap();
    assert_eq!(status, PathStatus::Found, "{from} to {to}");
    id
}

/// A crowd on so many threads.
pub fn crowd(threads: usize) -> Crowd {
    Crowd::new(CrowdOptions {
        threads,
        query_nodes: 4096,
        ..CrowdOptions::default()
    })
    .unwrap()
}

/// A small agent whose crossings the host completes.
pub fn hosted() -> AgentOptions {
    AgentOptions {
        path: Some(FollowerOptions {
            off_mesh_mode: OffMeshMode::Host,
            corridor_capacity: 64,
            stuck_window: 0.0,
            ..FollowerOptions::HUMANOID
        }),
        ..AgentOptions::SMALL
    }
}

//! The scenes the frozen files were written from: made by hand, so that no change of the builder
//! touches them. Only those of the envelopes and of the tile cache come from it.

use throng::parts::sim::Navigator;
use throng::parts::sim::corridor::{PathCorridor, move_position, replan};
use throng::parts::sim::follower::{FollowerOptions, PathFollower};
use throng::{
    AgentOptions, ConvexVolume, Crowd, CrowdOptions, DVec2, DVec3, MeshParams, NavMesh,
    NavSettings, NavWorld, NodeModel, Obstacle, OffMeshLinkDefinition, PartitionType, QueryFilter,
    TileCache, TiledMesh,
};
use throng_soa::mesh::assemble::{LocalPolygons, from_local_polygons};
use throng_soa::mesh::{DetailMesh, NavTile, OffMeshLink};

pub fn params() -> MeshParams {
    MeshParams {
        origin: DVec3::new(-16.0, 0.0, -16.0),
        tile_size: 16.0,
        cell_size: 0.25,
        max_verts_per_poly: 6,
        walkable_climb: 0.5,
        agent_radius: 0.5,
        agent_height: 2.0,
        agent_max_slope_degrees: 45.0,
        settings_digest: 0x0123_4567_89AB_CDEF,
    }
}

/// A tile of sixteen squares round a hole, gently sloped, with detail and a link out of it.
pub fn tile(x: i32, z: i32, links: &[([f32; 3], [f32; 3])]) -> NavTile {
    let mut input = LocalPolygons {
        tile_x: x,
        tile_z: z,
        origin_y: 0.5,
        ..LocalPolygons::default()
    };
    for row in 0..5_u16 {
        for column in 0..5_u16 {
            let (px, pz) = (f32::from(column) * 4.0, f32::from(row) * 4.0);
            let world = (x as f32 * 16.0 + px) * 0.03125 + (z as f32 * 16.0 + pz) * 0.015_625;
            input.vertices.push([px, world, pz]);
            let corner = row * 5 + column;
            if row < 4 && column < 4 && (row, column) != (1, 2) {
                input.poly_vertex_counts.push(4);
                input
                    .poly_indices
                    .extend([corner, corner + 1, corner + 6, corner + 5]);
                input.areas.push((row % 2) as u8);
                input.flags.push(1 << (column % 2));
            }
        }
    }
    let mut data = from_local_polygons(input, &params()).unwrap();
    data.detail_vertices.push([2.0, 0.25, 2.0]);
    data.detail_triangles = vec![[0, 1, 4, 1], [1, 2, 4, 1], [2, 3, 4, 1], [3, 0, 4, 1]];
    data.detail_meshes[0] = DetailMesh {
        vertex_base: 0,
        triangle_base: 0,
        vertex_count: 1,
        triangle_count: 4,
    };
    for (index, &(start, end)) in links.iter().enumerate() {
        data.off_mesh_links.push(OffMeshLink {
            start,
            end,
            radius: 1.5,
            area: 3,
            flags: 1,
            bidirectional: index % 2 == 0,
            user_id: 100 + index as u32,
        });
    }
    NavTile::create(data, &params()).unwrap()
}

/// Three tiles round a gap, a link across it, a freed slot, edits and a switched-off link.
pub fn mesh() -> TiledMesh {
    let mut mesh = TiledMesh::new(params()).unwrap();
    let across = ([2.0, 0.28, 14.0], [18.0, 1.03, 30.0]);
    let up = ([2.0, 0.0, 14.0], [2.0, 0.5, 20.0]);
    mesh.add_tile(tile(0, 0, &[across, up])).unwrap();
    let gone = mesh.add_tile(tile(5, 5, &[])).unwrap();
    mesh.add_tile(tile(1, 0, &[])).unwrap();
    mesh.add_tile(tile(1, 1, &[])).unwrap();
    mesh.remove_tile(gone).unwrap();
    mesh.set_poly_area(mesh.poly_ref(0, 6), 9).unwrap();
    mesh.set_poly_flags(mesh.poly_ref(2, 3), 0x0101).unwrap();
    mesh.set_off_mesh_link_enabled(mesh.tile_ref(0).unwrap(), 1, false)
        .unwrap();
    mesh
}

/// Walkers on [`mesh`], some of them about to cross its link.
pub fn crowd(mesh: &TiledMesh) -> Crowd {
    let mut crowd = Crowd::new(CrowdOptions::default()).unwrap();
    let mut ids = Vec::new();
    for i in 0..8 {
        let along = f64::from(i) * 1.5;
        let start = DVec3::new(-14.0 + along, 0.5, -3.0);
        let options = if i % 3 == 0 {
            AgentOptions::SMALL
        } else {
            AgentOptions::HUMANOID
        };
        let id = crowd.add(mesh, start, &options).unwrap();
        let goal = DVec3::new(2.0 + along, 1.5, 14.0);
        crowd.set_destination(mesh, id, goal).unwrap();
        ids.push(id);
    }
    crowd.remove(ids[2]);
    crowd.set_priority(ids[4], 3.0).unwrap();
    for _ in 0..60 {
        crowd.step(mesh, 0.05).unwrap();
    }
    crowd
}

pub fn baked() -> NavMesh {
    let v = |x, z| DVec3::new(x, 0.0, z);
    let vertices = [v(0.0, 0.0), v(0.0, 40.0), v(40.0, 0.0), v(40.0, 40.0)];
    let settings = NavSettings {
        tile_size: 24.0,
        flags: 5,
        off_mesh_links: vec![OffMeshLinkDefinition {
            start: DVec3::new(5.0, 0.0, 5.0),
            end: DVec3::new(35.0, 0.0, 35.0),
            radius: 1.0,
            bidirectional: true,
            area: 7,
            flags: 4,
            user_id: 11,
        }],
        ..NavSettings::HUMANOID
    };
    NavMesh::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &settings).unwrap()
}

/// Two classes of one floor.
pub fn world() -> NavWorld {
    let v = |x, z| DVec3::new(x, 0.0, z);
    let vertices = [v(0.0, 0.0), v(0.0, 40.0), v(40.0, 0.0), v(40.0, 40.0)];
    let sized = |agent_radius, flags| NavSettings {
        agent_radius,
        flags,
        tile_size: 24.0,
        ..NavSettings::HUMANOID
    };
    let classes = [sized(1.2, 1), sized(0.6, 2)];
    NavWorld::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &classes).unwrap()
}

/// A cache without shapes, to restore snapshots into.
pub fn empty_cache() -> TileCache {
    let v = |x, z| DVec3::new(x, 0.0, z);
    let vertices = [v(0.0, 0.0), v(0.0, 24.0), v(24.0, 0.0), v(24.0, 24.0)];
    let settings = NavSettings {
        tile_size: 8.0,
        partition: PartitionType::Layers,
        detail_sample_distance: 0.0,
        ..NavSettings::HUMANOID
    };
    TileCache::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &settings).unwrap()
}

/// Shapes of each kind, gaps in the ids, an edited polygon and tiles still in the queue.
pub fn cache() -> TileCache {
    let mut cache = empty_cache();
    let gone = Obstacle::cylinder(DVec3::new(4.0, 0.0, 4.0), 1.0, 1.0).unwrap();
    let gone = cache.add_obstacle(gone).unwrap();
    let round = Obstacle::cylinder(DVec3::new(4.0, -0.5, 20.0), 1.5, 2.0).unwrap();
    cache.add_obstacle(round).unwrap();
    cache.update_all().unwrap();
    assert!(cache.remove_obstacle(gone));
    let (low, high) = (DVec3::new(11.0, -1.0, 11.0), DVec3::new(13.0, 1.0, 13.0));
    let block = Obstacle::aligned_box(low, high).unwrap();
    cache.add_obstacle(block).unwrap();
    let half = DVec3::new(2.0, 1.0, 0.5);
    let turned = Obstacle::oriented_box(DVec3::new(20.0, 0.0, 20.0), half, 0.75).unwrap();
    cache.add_obstacle(turned).unwrap();
    let corners = [(2.0, 10.0), (6.0, 10.0), (4.0, 14.0)].map(|(x, z)| DVec2::new(x, z));
    let swamp = ConvexVolume::new(&corners, -1.0, 1.0, 9).unwrap();
    cache.add_volume(swamp).unwrap();
    cache.update(2).unwrap();
    let edited = cache.poly_ref(0, 0);
    cache.mesh_mut().set_poly_area(edited, 5).unwrap();
    cache
}

pub fn navigator() -> Navigator {
    Navigator::new(NodeModel::Polygon, 1 << 12, 1 << 12)
}

/// A follower on its way over [`mesh`].
pub fn follower(mesh: &TiledMesh) -> PathFollower {
    let (filter, mut navigator) = (QueryFilter::default(), navigator());
    let mut follower = PathFollower::new(FollowerOptions::HUMANOID).unwrap();
    let start = DVec3::new(-12.0, 0.5, -3.0);
    assert!(follower.place(mesh, &filter, start).unwrap());
    let goal = DVec3::new(3.0, 1.5, 14.0);
    follower
        .set_destination(mesh, &filter, goal, &mut navigator)
        .unwrap();
    for _ in 0..30 {
        follower.step(mesh, &filter, 0.05, &mut navigator).unwrap();
    }
    follower
}

/// The capacity of [`corridor`].
pub const CORRIDOR_CAPACITY: usize = 32;

/// A corridor that was moved through on [`mesh`].
pub fn corridor(mesh: &TiledMesh) -> PathCorridor {
    let filter = QueryFilter::default();
    let mut corridor = PathCorridor::new(CORRIDOR_CAPACITY).unwrap();
    let (start, extents) = (DVec3::new(-12.0, 0.5, -3.0), DVec3::splat(2.0));
    assert!(corridor.place(mesh, &filter, start, extents).unwrap());
    let mut navigator = navigator();
    corridor
        .row()
        .set_target(DVec3::new(3.0, 1.5, 14.0))
        .unwrap();
    let outcome = replan(
        &mut corridor.row(),
        mesh,
        &filter,
        extents,
        u32::MAX,
        &mut navigator,
    );
    outcome.unwrap();
    let to = DVec3::new(-10.0, 0.5, -2.0);
    assert!(move_position(
        &mut corridor.row(),
        mesh,
        &filter,
        to,
        &mut navigator
    ));
    assert!(corridor.polys().len() > 2);
    corridor
}

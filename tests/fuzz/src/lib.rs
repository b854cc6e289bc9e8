//! The targets: each takes any bytes, must not panic, hang or take memory that the bytes do not
//! justify, and where it accepts them must write back the same bytes and go on working.
//!
//! What a reader needs beside the bytes (a mesh, a tile library, a cache's level) comes from the
//! frozen files and from a floor of one square.

mod chunk;
mod ground;
mod modes;
mod program;

// The program's own files; it has no library. Their writers and wordings are of no use here.
#[allow(dead_code)]
#[path = "../../../engine/cli/src/cells.rs"]
mod cells;
#[allow(dead_code)]
#[path = "../../../engine/cli/src/forms.rs"]
mod forms;
#[path = "../../../engine/cli/src/greymap.rs"]
mod greymap;
#[allow(dead_code)]
#[path = "../../../engine/cli/src/record/reading.rs"]
mod reading;
#[allow(dead_code)]
#[path = "../../../engine/cli/src/words.rs"]
mod words;

use std::cell::RefCell;

pub use chunk::chunk;
pub use ground::{height_grid, heightfield};
pub use program::{cell_text, greymap, recording};

use throng::parts::sim::corridor::PathCorridor;
use throng::parts::sim::crowd::mesh_of_state_with;
use throng::parts::sim::follower::{FollowerOptions, PathFollower};
use throng::parts::soa::mesh::format::{mesh_bytes, read_mesh, read_tile, tile_bytes};
use throng::parts::soa::mesh::snapshot::{read_snapshot_with, snapshot_bytes_in};
use throng::{
    Crowd, CrowdOptions, DVec3, GltfOptions, MeshQuery, NavMesh, NavSettings, NavWorld,
    PartitionType, PathOptions, SnapshotMode, TileCache, TileLibrary, TiledMesh, read_gltf,
    read_obj,
};

const SNAPSHOT: &[u8] = include_bytes!("../../../fixtures/0.1.0/snapshot.onps");
const CACHE: &[u8] = include_bytes!("../../../fixtures/0.1.0/cache.ontk");
const MODES: [SnapshotMode; 2] = [SnapshotMode::Full, SnapshotMode::Referenced];
/// The capacity of the frozen corridor.
const CORRIDOR_CAPACITY: usize = 32;

struct Scene {
    mesh: TiledMesh,
    library: TileLibrary,
    cache: TileCache,
}

thread_local! {
    static SCENE: RefCell<Scene> = RefCell::new(scene());
}

fn scene() -> Scene {
    let none = TileLibrary::new();
    let mesh = read_snapshot_with(SNAPSHOT, &none).unwrap();
    let v = |x, z| DVec3::new(x, 0.0, z);
    let vertices = [v(0.0, 0.0), v(0.0, 24.0), v(24.0, 0.0), v(24.0, 24.0)];
    let settings = NavSettings {
        tile_size: 8.0,
        partition: PartitionType::Layers,
        detail_sample_distance: 0.0,
        ..NavSettings::HUMANOID
    };
    let mut cache = TileCache::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &settings).unwrap();
    cache.restore(CACHE, &none).unwrap();
    let mut library = TileLibrary::new();
    library.add_mesh(&mesh);
    library.add_mesh(&cache);
    Scene {
        mesh,
        library,
        cache,
    }
}

fn with_scene(run: impl FnOnce(&mut Scene)) {
    SCENE.with_borrow_mut(run);
}

/// Links, queries and edits of a mesh that was read must work.
fn use_mesh(mesh: &TiledMesh) {
    let mut points = Vec::new();
    for (slot, tile) in mesh.tiles() {
        for poly in 0..tile.poly_count().min(3) {
            points.push(tile.vertex(poly, 0));
            assert!(mesh.resolve(mesh.poly_ref(slot, poly as u32)).is_some());
        }
        if points.len() > 8 {
            break;
        }
    }
    if let (Some(&from), Some(&to)) = (points.first(), points.last()) {
        let mut query = MeshQuery::default();
        let _ = query.find_path(mesh, from, to, &PathOptions::default());
    }
}

pub fn mesh(data: &[u8]) {
    if let Ok(mesh) = read_mesh(data) {
        assert_eq!(mesh_bytes(&mesh), data);
        use_mesh(&mesh);
    }
}

pub fn tile(data: &[u8]) {
    with_scene(|scene| {
        if let Ok(tile) = read_tile(data, scene.mesh.params()) {
            assert_eq!(tile_bytes(&tile), data);
            let mut mesh = TiledMesh::new(*scene.mesh.params()).unwrap();
            if mesh.add_tile(tile).is_ok() {
                use_mesh(&mesh);
            }
        }
    });
}

/// A mixture of the modes is accepted too; the bytes of each mode are those of the state.
pub fn snapshot(data: &[u8]) {
    with_scene(|scene| {
        if let Ok(mesh) = read_snapshot_with(data, &scene.library) {
            let written = MODES.map(|mode| snapshot_bytes_in(&mesh, mode));
            assert!(modes::mesh(data, written.each_ref().map(|b| &b[..])) == data);
            let mut library = TileLibrary::new();
            library.add_mesh(&mesh);
            for (mode, bytes) in MODES.into_iter().zip(&written) {
                let again = read_snapshot_with(bytes, &library).unwrap();
                assert!(snapshot_bytes_in(&again, mode) == *bytes);
            }
            use_mesh(&mesh);
        }
    });
}

pub fn onnm(data: &[u8]) {
    if let Ok(mesh) = NavMesh::load(data) {
        assert_eq!(mesh.save(), data);
        use_mesh(&mesh);
    }
}

pub fn onnw(data: &[u8]) {
    if let Ok(world) = NavWorld::load(data) {
        assert_eq!(world.save(), data);
        world.meshes().iter().for_each(|mesh| use_mesh(mesh));
    }
}

fn new_crowd() -> Crowd {
    Crowd::new(CrowdOptions::default()).unwrap()
}

fn step_on(crowd: &mut Crowd, mesh: &TiledMesh) {
    for _ in 0..2 {
        crowd.step(mesh, 0.05).unwrap();
    }
    let saved = crowd.save_state(mesh);
    crowd.restore_state(mesh, &saved).unwrap();
    assert_eq!(crowd.save_state(mesh), saved);
}

pub fn crowd_state(data: &[u8]) {
    with_scene(|scene| {
        let mut crowd = new_crowd();
        if crowd.restore_state(&scene.mesh, data).is_ok() {
            assert_eq!(crowd.save_state(&scene.mesh), data);
            step_on(&mut crowd, &scene.mesh);
        }
    });
}

pub fn crowd_with_mesh(data: &[u8]) {
    with_scene(|scene| {
        let Ok(mut mesh) = mesh_of_state_with(data, &scene.library) else {
            return;
        };
        let mut crowd = new_crowd();
        let restored = crowd.restore_state_with_mesh_from(&mut mesh, data, &scene.library);
        if restored.is_ok() {
            let written = MODES.map(|mode| crowd.save_state_with_mesh_in(&mesh, mode));
            let written = written.each_ref().map(|b| &b[..]);
            assert!(modes::crowd_with_mesh(data, written) == data);
            step_on(&mut crowd, &mesh);
        }
    });
}

pub fn cache_snapshot(data: &[u8]) {
    with_scene(|scene| {
        if scene.cache.restore(data, &scene.library).is_ok() {
            let written = MODES.map(|mode| scene.cache.snapshot(mode));
            let expected = modes::wound(data);
            assert!(modes::cache(data, written.each_ref().map(|b| &b[..])) == expected);
            let mut library = TileLibrary::new();
            library.add_mesh(&scene.cache);
            for (mode, bytes) in MODES.into_iter().zip(&written) {
                scene.cache.restore(bytes, &library).unwrap();
                assert!(scene.cache.snapshot(mode) == *bytes);
            }
            let _ = scene.cache.update(1);
        }
    });
}

pub fn corridor(data: &[u8]) {
    let mut corridor = PathCorridor::new(CORRIDOR_CAPACITY).unwrap();
    if corridor.read(data).is_ok() {
        assert_eq!(corridor.to_bytes(), data);
    }
}

pub fn follower(data: &[u8]) {
    let mut follower = PathFollower::new(FollowerOptions::HUMANOID).unwrap();
    if follower.read(data).is_ok() {
        assert_eq!(follower.to_bytes(), data);
    }
}

pub fn obj(data: &[u8]) {
    if let Ok(soup) = read_obj(data) {
        for corner in soup.triangles().iter().flatten() {
            assert!((*corner as usize) < soup.vertices().len());
        }
    }
}

/// A buffer by name has eight triangles' worth of bytes; small limits keep a target quick.
pub fn gltf(data: &[u8]) {
    let resolve = |uri: &str| match uri.len() % 4 {
        0 => Err("not there".to_owned()),
        _ => Ok((0..=255).collect()),
    };
    let options = GltfOptions {
        max_triangles: 10_000,
        max_nodes: 1_000,
        resolve_buffer: Some(&resolve),
    };
    if let Ok(scene) = read_gltf(data, &options) {
        assert!(scene.triangles.len() <= 10_000);
        for corner in scene.triangles.iter().flatten() {
            assert!((*corner as usize) < scene.vertices.len());
        }
        let _ = scene.into_soup();
    }
}

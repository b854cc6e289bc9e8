//! Every saved form: the scene it is written from, the reader that takes it back, and what the
//! loaded state does. Shared by the tests of frozen files and of damaged bytes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    dead_code,
    reason = "a failed unwrap is a failed test; each test uses its part of this"
)]

pub mod scenes;
pub mod transcripts;

use throng::parts::sim::corridor::PathCorridor;
use throng::parts::sim::crowd::mesh_of_state_with;
use throng::parts::sim::follower::{FollowerOptions, PathFollower};
use throng::{
    Crowd, CrowdOptions, DataError, NavMesh, NavWorld, SnapshotMode, TileCache, TileLibrary,
    TiledMesh,
};
use throng_soa::mesh::format::{mesh_bytes, read_mesh, read_tile, tile_bytes};
use throng_soa::mesh::snapshot::{
    read_snapshot_with, snapshot_bytes, snapshot_bytes_in, try_snapshot,
};

use scenes::{
    CORRIDOR_CAPACITY, baked, cache, corridor, crowd, empty_cache, follower, mesh, params, tile,
    world,
};
use transcripts::{
    cache_transcript, corridor_transcript, crowd_transcript, follower_transcript, mesh_transcript,
};

/// The frozen files, a file a form.
pub const FILES: [&str; 13] = [
    "tile.onpt",
    "mesh.onpm",
    "snapshot.onps",
    "snapshot_referenced.onps",
    "baked.onnm",
    "world.onnw",
    "crowd.opcs",
    "crowd_with_mesh.opcs",
    "crowd_with_mesh_referenced.opcs",
    "cache.ontk",
    "cache_referenced.ontk",
    "corridor.bin",
    "follower.bin",
];

const FULL: SnapshotMode = SnapshotMode::Full;
const REFERENCED: SnapshotMode = SnapshotMode::Referenced;

/// What this release writes for a file.
pub fn written(name: &str) -> Vec<u8> {
    let mesh = mesh();
    match name {
        "tile.onpt" => tile_bytes(&tile(0, 0, &[([14.0, 0.5, 14.0], [20.0, 1.0, 20.0])])),
        "mesh.onpm" => mesh_bytes(&mesh),
        "snapshot.onps" => snapshot_bytes(&mesh),
        "snapshot_referenced.onps" => snapshot_bytes_in(&mesh, REFERENCED),
        "baked.onnm" => baked().save(),
        "world.onnw" => world().save(),
        "crowd.opcs" => crowd(&mesh).save_state(&mesh),
        "crowd_with_mesh.opcs" => crowd(&mesh).save_state_with_mesh(&mesh),
        "crowd_with_mesh_referenced.opcs" => {
            crowd(&mesh).save_state_with_mesh_in(&mesh, REFERENCED)
        }
        "cache.ontk" => cache().snapshot(FULL),
        "cache_referenced.ontk" => cache().snapshot(REFERENCED),
        "corridor.bin" => corridor(&mesh).to_bytes(),
        "follower.bin" => follower(&mesh).to_bytes(),
        other => panic!("{other}"),
    }
}

/// Writes a file's scene into `room`; `None` for a form without such a writer.
pub fn written_into(name: &str, room: &mut [u8]) -> Option<Option<usize>> {
    let mesh = mesh();
    Some(match name {
        "snapshot.onps" => try_snapshot(&mesh, FULL, room),
        "snapshot_referenced.onps" => try_snapshot(&mesh, REFERENCED, room),
        "baked.onnm" => baked().try_save(room),
        "world.onnw" => world().try_save(room),
        "crowd.opcs" => crowd(&mesh).try_save_state(&mesh, room),
        "crowd_with_mesh.opcs" => crowd(&mesh).try_save_state_with_mesh(&mesh, FULL, room),
        "crowd_with_mesh_referenced.opcs" => {
            crowd(&mesh).try_save_state_with_mesh(&mesh, REFERENCED, room)
        }
        "cache.ontk" => cache().try_snapshot(FULL, room),
        "cache_referenced.ontk" => cache().try_snapshot(REFERENCED, room),
        _ => return None,
    })
}

/// What readers need beside the bytes.
pub struct Readers {
    pub mesh: TiledMesh,
    pub crowd: Crowd,
    pub cache: TileCache,
    /// The tiles of both scenes, from the files that hold them as built.
    pub library: TileLibrary,
    pub corridor: PathCorridor,
    pub follower: PathFollower,
}

impl Readers {
    /// With the tiles of `snapshot` and of `cache`, a mesh's and a tile cache's full snapshot.
    pub fn new(snapshot: &[u8], cache_bytes: &[u8]) -> Self {
        let none = TileLibrary::new();
        let mut library = TileLibrary::new();
        library.add_mesh(&read_snapshot_with(snapshot, &none).unwrap());
        let mut filled = empty_cache();
        filled.restore(cache_bytes, &none).unwrap();
        library.add_mesh(&filled);
        Self {
            mesh: mesh(),
            crowd: Crowd::new(CrowdOptions::default()).unwrap(),
            cache: empty_cache(),
            library,
            corridor: PathCorridor::new(CORRIDOR_CAPACITY).unwrap(),
            follower: PathFollower::new(FollowerOptions::HUMANOID).unwrap(),
        }
    }

    /// Takes a file's bytes; what the state is written as again.
    pub fn again(&mut self, name: &str, bytes: &[u8]) -> Result<Vec<u8>, DataError> {
        let (library, mode) = (&self.library, mode_of(name));
        Ok(match name {
            "tile.onpt" => tile_bytes(&read_tile(bytes, &params())?),
            "mesh.onpm" => mesh_bytes(&read_mesh(bytes)?),
            "snapshot.onps" | "snapshot_referenced.onps" => {
                snapshot_bytes_in(&read_snapshot_with(bytes, library)?, mode)
            }
            "baked.onnm" => NavMesh::load(bytes)?.save(),
            "world.onnw" => NavWorld::load(bytes)?.save(),
            "crowd.opcs" => {
                self.crowd.restore_state(&self.mesh, bytes)?;
                self.crowd.save_state(&self.mesh)
            }
            "crowd_with_mesh.opcs" | "crowd_with_mesh_referenced.opcs" => {
                let (crowd, mesh) = (&mut self.crowd, &mut self.mesh);
                crowd.restore_state_with_mesh_from(mesh, bytes, library)?;
                crowd.save_state_with_mesh_in(mesh, mode)
            }
            "cache.ontk" | "cache_referenced.ontk" => {
                self.cache.restore(bytes, library)?;
                self.cache.snapshot(mode)
            }
            "corridor.bin" => {
                self.corridor.read(bytes)?;
                self.corridor.to_bytes()
            }
            "follower.bin" => {
                self.follower.read(bytes)?;
                self.follower.to_bytes()
            }
            other => panic!("{other}"),
        })
    }

    /// Loads a file; what it does, and what it is written as again.
    pub fn behaviour(&mut self, name: &str, bytes: &[u8]) -> (String, Vec<u8>) {
        if name.starts_with("crowd_with") {
            self.mesh = mesh_of_state_with(bytes, &self.library).unwrap();
        }
        let again = self.again(name, bytes).unwrap();
        let text = match name {
            "tile.onpt" => {
                let mut mesh = TiledMesh::new(params()).unwrap();
                mesh.add_tile(read_tile(bytes, &params()).unwrap()).unwrap();
                mesh_transcript(&mesh)
            }
            "mesh.onpm" => mesh_transcript(&read_mesh(bytes).unwrap()),
            "snapshot.onps" | "snapshot_referenced.onps" => {
                mesh_transcript(&read_snapshot_with(bytes, &self.library).unwrap())
            }
            "baked.onnm" => class_transcript(&NavMesh::load(bytes).unwrap()),
            "world.onnw" => {
                let world = NavWorld::load(bytes).unwrap();
                world.meshes().iter().map(class_transcript).collect()
            }
            "crowd.opcs" => crowd_transcript(&mut self.crowd, &self.mesh),
            "crowd_with_mesh.opcs" | "crowd_with_mesh_referenced.opcs" => {
                let text = mesh_transcript(&self.mesh);
                text + &crowd_transcript(&mut self.crowd, &self.mesh)
            }
            "cache.ontk" | "cache_referenced.ontk" => cache_transcript(&self.cache),
            "corridor.bin" => corridor_transcript(&mut self.corridor, &self.mesh),
            "follower.bin" => follower_transcript(&mut self.follower, &self.mesh),
            other => panic!("{other}"),
        };
        (text, again)
    }
}

fn mode_of(name: &str) -> SnapshotMode {
    if name.contains("referenced") {
        REFERENCED
    } else {
        FULL
    }
}

fn class_transcript(mesh: &NavMesh) -> String {
    format!("{:?}\n{}", mesh.settings(), mesh_transcript(mesh))
}

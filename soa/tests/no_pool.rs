//! Reading on one thread starts no other.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

mod common;

use common::{params, rich};
use throng_soa::mesh::format::{mesh_bytes, read_mesh};
use throng_soa::mesh::{NavTile, TiledMesh};

/// The global pool can be set up once: whoever touched it before has set it up. Alone in its file, and
/// so in its process.
#[test]
fn reading_a_mesh_does_not_touch_the_global_pool() {
    let mut mesh = TiledMesh::new(params()).unwrap();
    mesh.add_tile(NavTile::create(rich(0, 0), &params()).unwrap())
        .unwrap();
    read_mesh(&mesh_bytes(&mesh)).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1);
    pool.build_global().unwrap();
}

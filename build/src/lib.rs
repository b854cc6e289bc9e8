//! Level geometry to navigation tables.
//!
//! Triangles go in, a [`TiledMesh`](throng_soa::mesh::TiledMesh) comes out: [`pipeline::build_soup`]
//! is the whole way, and every stage of it is a public function over flat tables ([`voxel`]).
//! Results depend on the inputs alone, never on the number of threads.

pub mod cache;
pub mod input;
pub mod links;
pub mod pipeline;
pub mod settings;
pub mod stream;
pub mod voxel;

pub use pipeline::{
    BuildError, BuildOptions, TileFlaw, build_chunk_with, build_heightfield_with, build_soup,
    build_soup_with, solo_settings,
};
pub use settings::{NavSettings, OffMeshLinkDefinition, PartitionType};
pub use voxel::tile::OutlineFlaws;

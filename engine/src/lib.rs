//! throng: a deterministic, data-oriented crowd engine.
//!
//! Level triangles become a tiled navigation mesh ([`NavMesh`]); the mesh answers queries; a
//! [`Crowd`] of tens of thousands walks on it. The same inputs give the same bits on every
//! machine, at every thread count.
//!
//! ```
//! use throng::{AgentOptions, Crowd, CrowdOptions, DVec3, NavMesh, NavSettings, PathOptions};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A 40 x 40 floor. Y is up; triangles are counter-clockwise seen from the walkable side.
//! let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
//!     .map(|(x, z)| DVec3::new(x, 0.0, z));
//! let mesh = NavMesh::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &NavSettings::HUMANOID)?;
//!
//! let (from, to) = (DVec3::new(3.0, 0.0, 3.0), DVec3::new(36.0, 0.0, 36.0));
//! let route = mesh.find_path(from, to, &PathOptions::default())?;
//! assert_eq!(format!("{:.4}", route.length), "46.6690");
//!
//! let mut crowd = Crowd::new(CrowdOptions::default())?;
//! let walker = crowd.add(&mesh, from, &AgentOptions::HUMANOID)?;
//! crowd.set_destination(&mesh, walker, to)?;
//! for _ in 0..20 {
//!     crowd.step(&mesh, 0.05)?; // you bring the time step; the crowd has no clock
//! }
//! let agent = crowd.agent(walker).ok_or("removed")?;
//! assert_eq!(format!("{:.4}", agent.remaining_distance()), "43.8543");
//! # Ok(())
//! # }
//! ```
//!
//! Everything below this crate is public too: `throng-soa` (tables and formats), `throng-build`
//! (geometry to tables), `throng-query` (questions), `throng-sim` (time).

pub mod debug;
mod inputs;
mod navmesh;
mod query_forms;
mod save;
mod save_snapshot;
mod streamer;
mod tile_cache;
mod world;
mod world_crowd;

pub use navmesh::NavMesh;
pub use query_forms::{MeshPathTask, NavMeshHit, PooledQuery};
pub use throng_build::cache::{
    Obstacle, ObstacleId, ObstacleShape, RebuildCounts, RebuildError, ShapeStatus, VolumeId,
};
pub use throng_build::input::obj::read_obj;
#[cfg(feature = "gltf")]
pub use throng_build::input::{GltfOptions, GltfTriangles, read_gltf};
pub use throng_build::input::{
    SolidHeightfield, Soup, VoxelChunk, VoxelRun, height_grid_soup, levels,
};
pub use throng_build::stream::{StreamError, StreamErrorCause, TileStreamer};
pub use throng_build::voxel::frame::HeightfieldFrame;
pub use throng_build::voxel::volumes::ConvexVolume;
pub use throng_build::{
    BuildError, BuildOptions, NavSettings, OffMeshLinkDefinition, OutlineFlaws, PartitionType,
    TileFlaw, solo_settings,
};
pub use throng_query::mesh::{
    AreaSearch, AreaStatus, DefaultFilter, Filter, MeshQuery, NearestPoly, NodeModel, PathOptions,
    PathResult, PathStatus, PathTask, QueryFilter, QueryStatus, RandomPoint, RaycastHit,
    StraightFlags, StraightPathPoint, WallHit, WallSegment,
};
pub use throng_sim::crowd::{
    Agent, AgentId, AgentOptions, AvoidanceQuality, Crowd, CrowdColumns, CrowdError, CrowdOptions,
    MAX_AGENTS, Stage, StepStats, WallPiece,
};
pub use throng_sim::follower::{FollowerOptions, OffMeshMode};
pub use throng_sim::orca::HalfPlane;
pub use throng_soa::agents::{AgentState, Crossing};
pub use throng_soa::error::{ArgumentError, DataError, DataErrorKind, Location};
pub use throng_soa::mesh::snapshot::SnapshotMode;
pub use throng_soa::mesh::{
    MeshEditError, MeshParams, NavTile, OffMeshEnds, PolyRef, Tile, TileLibrary, TileRef, TiledMesh,
};
pub use throng_soa::rng::SplitMix64;
pub use throng_soa::world::{COORDINATE_LIMIT, DVec2, DVec3};
pub use tile_cache::TileCache;
pub use world::NavWorld;
pub use world_crowd::{WorldAgentId, WorldCrowd};

/// The crates below, for callers who want a stage, a table or a search on its own.
pub mod parts {
    pub use throng_build as build;
    pub use throng_query as query;
    pub use throng_sim as sim;
    pub use throng_soa as soa;
}

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
//! # Surroundings
//!
//! An [`AreaSearch`] lists the polygons near a place: in a circle, in a convex shape, or those around
//! an agent that do not lie over each other. One call gives the list; the begin, update and finish
//! forms do the same in slices.
//!
//! ```
//! use throng::{AreaSearch, AreaStatus, DVec3, NavMesh, NavSettings, PolyRef, QueryFilter, levels};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let level = levels::generate("rooms", 96.0, 3).ok_or("no such level")?;
//! let mesh = NavMesh::build_soup(&level, &NavSettings::HUMANOID)?;
//! let (filter, center) = (QueryFilter::default(), DVec3::new(48.0, 0.0, 48.0));
//! let start = mesh.nearest_poly(center, DVec3::splat(4.0), &filter)?;
//!
//! let mut search = AreaSearch::new(4096);
//! let mut polys = [PolyRef::INVALID; 512];
//! let mut parents = polys;
//! let mut keys = [0.0; 512];
//! let circle = search.find_polys_in_circle(
//!     &mesh, start.poly, start.point, 12.0, &filter, &mut polys, &mut parents, &mut keys)?;
//! assert_eq!((circle.status, polys[0]), (AreaStatus::Success, start.poly));
//! assert!(circle.count > 1 && !circle.truncated);
//! let in_circle = polys[..circle.count].to_vec();
//!
//! // A quarter of the square around that circle. Lists that are not wanted stay empty.
//! let corner = |x, z| start.point + DVec3::new(x, 0.0, z);
//! let shape = [corner(0.0, 0.0), corner(12.0, 0.0), corner(12.0, 12.0), corner(0.0, 12.0)];
//! let quarter = search.find_polys_in_shape(
//!     &mesh, start.poly, &shape, &filter, &mut polys, &mut [], &mut [])?;
//! assert!(quarter.count >= 1);
//!
//! let around = search.find_local_neighbourhood(
//!     &mesh, start.poly, start.point, 12.0, &filter, &mut polys, &mut [], &mut [])?;
//! assert!(around.count <= circle.count);
//!
//! // In slices, with the same answer.
//! search.begin_circle(&mesh, start.poly, start.point, 12.0, &filter)?;
//! while search.update(&mesh, &filter, 4) == AreaStatus::InProgress {}
//! assert!(search.found().eq(in_circle));
//! assert_eq!(search.finish(&mut polys, &mut parents, &mut keys), circle);
//! # Ok(())
//! # }
//! ```
//!
//! # A mesh that changes
//!
//! A [`TileCache`] takes obstacles and area volumes and rebuilds the tiles near them.
//!
//! ```
//! use throng::{
//!     ConvexVolume, DVec2, DVec3, NavSettings, Obstacle, QueryFilter, ShapeStatus, TileCache,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
//!     .map(|(x, z)| DVec3::new(x, 0.0, z));
//! let settings = NavSettings { tile_size: 16.0, ..NavSettings::HUMANOID };
//! let mut cache = TileCache::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &settings)?;
//!
//! let barrel = Obstacle::cylinder(DVec3::new(10.0, 0.0, 10.0), 1.0, 2.0)?;
//! let barrel = cache.add_obstacle(barrel)?;
//! // A cart, turned by an eighth of a circle. `half` holds half its sizes.
//! let half = DVec3::new(2.0, 1.0, 1.0);
//! let cart = Obstacle::oriented_box(DVec3::new(30.0, 1.0, 10.0), half, 0.785)?;
//! cache.add_obstacle(cart)?;
//! // Mud, which is area 3: agents may walk there, a filter may price it.
//! let corners = [(24.0, 24.0), (36.0, 24.0), (36.0, 36.0), (24.0, 36.0)];
//! let mud = ConvexVolume::new(&corners.map(|(x, z)| DVec2::new(x, z)), -1.0, 1.0, 3)?;
//! let mud = cache.add_volume(mud)?;
//!
//! assert_eq!(cache.volume_status(mud), ShapeStatus::Waiting);
//! cache.update_all()?;
//! assert_eq!(cache.volume_status(mud), ShapeStatus::Applied);
//!
//! let near = DVec3::new(0.2, 2.0, 0.2);
//! let on = |x, z, filter: &QueryFilter| {
//!     let position = DVec3::new(x, 0.0, z);
//!     cache.nearest_poly(position, near, filter).map(|found| found.over_polygon)
//! };
//! let (any, dry) = (QueryFilter::default(), QueryFilter::default().with_area_cost(3, f64::INFINITY)?);
//! assert!(!on(10.0, 10.0, &any)? && !on(30.0, 10.0, &any)?);
//! assert!(on(30.0, 30.0, &any)? && !on(30.0, 30.0, &dry)?);
//!
//! cache.remove_obstacle(barrel);
//! assert_eq!(cache.obstacle_status(barrel), ShapeStatus::Removed);
//! cache.update_all()?;
//! # Ok(())
//! # }
//! ```
//!
//! # The crates below
//!
//! Everything below this crate is public too: `throng-soa` (tables and formats), `throng-build`
//! (geometry to tables), `throng-query` (questions), `throng-sim` (time).

pub mod debug;
mod inputs;
mod links;
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
    CacheSnapshot, Obstacle, ObstacleId, ObstacleShape, RebuildCounts, RebuildError, ShapeStatus,
    VolumeId,
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
    AreaOutcome, AreaSearch, AreaStatus, ClosestPoint, DefaultFilter, Filter, MeshQuery,
    MoveResult, NearestPoly, NodeModel, PathOptions, PathResult, PathSearch, PathStatus, PathTask,
    QueryFilter, QueryStatus, RandomPoint, RaycastHit, RaycastStatus, StraightFlags,
    StraightOutcome, StraightPathPoint, SurfaceSampler, WallHit, WallSegment, WallsOutcome,
};
pub use throng_sim::corridor::PathCorridor;
pub use throng_sim::crowd::{
    Agent, AgentId, AgentOptions, AvoidanceQuality, Crowd, CrowdColumns, CrowdError, CrowdOptions,
    MAX_AGENTS, MAX_WALLS_PER_AGENT, Stage, StepStats, WallPiece,
};
pub use throng_sim::follower::{FollowerOptions, OffMeshMode, PathFollower};
pub use throng_sim::orca::HalfPlane;
pub use throng_soa::agents::{AgentState, Crossing};
pub use throng_soa::error::{ArgumentError, DataError, DataErrorKind, Location};
pub use throng_soa::mesh::snapshot::SnapshotMode;
pub use throng_soa::mesh::{
    MeshEditError, MeshParams, NavTile, OffMeshEnds, OffMeshWay, PolyRef, Tile, TileLibrary,
    TileRef, TiledMesh,
};
pub use throng_soa::rng::SplitMix64;
pub use throng_soa::table::MAX_THREADS;
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

//! Debug geometry: what a mesh, a query, a corridor and a crowd look like, as plain columns to draw.
//!
//! In: the thing to look at. Out: outlines, lines, triangles and points in world units, copied at the
//! moment of the call. Nothing here knows a renderer: a [`LineKind`] is a class of colour, and which
//! colour is the caller's affair. The order of everything is that of the tables it comes from, so the
//! same state gives the same columns. Nothing is gathered while queries run or crowds step; only the
//! half-planes of avoidance have to be asked for beforehand
//! ([`CrowdOptions::record_constraints`](crate::CrowdOptions::record_constraints)). Polygons that have
//! left the mesh are skipped, never an error.
//!
//! | To look at | Collect |
//! |---|---|
//! | a mesh | [`MeshDebug`], or one of its parts: [`Polygons`], [`Edges`], [`Links`], [`Surface`], [`TileBoxes`] |
//! | a path search and its answer | [`QueryDebug`] |
//! | a ray | [`RayDebug`] |
//! | a search of the surroundings | [`AreaDebug`] |
//! | a corridor, a follower | [`CorridorDebug`], [`FollowerDebug`] |
//! | a crowd | [`CrowdDebug`], or one of its parts: [`Agents`], [`Routes`], [`Walls`], [`Constraints`] |
//!
//! ```
//! use throng::debug::{LineKind, MeshDebug, QueryDebug};
//! use throng::{DVec3, MeshQuery, NavMesh, NavSettings, PathOptions};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
//!     .map(|(x, z)| DVec3::new(x, 0.0, z));
//! let mesh = NavMesh::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &NavSettings::HUMANOID)?;
//!
//! // The boundary of the floor, ready for a line renderer.
//! let shown = MeshDebug::collect(&mesh);
//! let walls = shown.edges.lines.of_kind(LineKind::Wall);
//! let around: f64 = walls.map(|(a, b)| (b - a).length()).sum();
//! assert!((150.0..160.0).contains(&around), "{around}");
//! assert!(shown.surface.triangles.len() >= shown.polygons.outlines.len());
//!
//! // What a search looked at, and the way it found.
//! let mut query = MeshQuery::default();
//! let (from, to) = (DVec3::new(3.0, 0.0, 3.0), DVec3::new(36.0, 0.0, 36.0));
//! let route = query.find_path(&mesh, from, to, &PathOptions::default())?;
//! let shown = QueryDebug::collect(&mesh, &query.search, &route);
//! assert_eq!(shown.corridor.poly, route.corridor);
//! assert_eq!(shown.portals.len(), route.corridor.len() - 1);
//! # Ok(())
//! # }
//! ```

mod corridor;
mod crowd;
mod lines;
mod mesh;
mod query;

pub use corridor::{CorridorDebug, FollowerDebug};
pub use crowd::{Agents, Constraints, CrowdDebug, Routes, Walls};
pub use lines::{LineKind, Lines};
pub use mesh::{Edges, Links, MeshDebug, Polygons, Surface, TileBoxes};
pub use query::{AreaDebug, RayDebug};
pub use throng_query::mesh::{Outlines, Portals, QueryDebug};

#[cfg(test)]
mod tests;

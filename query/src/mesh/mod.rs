//! Queries over a tiled navigation mesh.
//!
//! Start with [`MeshQuery`], which answers from positions. Beneath it are the parts that crowds
//! and tools combine: [`find_nearest_poly`] and [`closest_point_on_poly`] to stand on the mesh,
//! [`PathSearch`] and [`find_straight_path`] to cross it, [`raycast`] and [`move_along_surface`]
//! to walk it, [`AreaSearch`] for surroundings and walls, [`random_point`] for places to go.
//!
//! Polygon references that are stale, forged or rejected by the filter never panic and are never
//! errors: the answer is a status or `None`. Positions outside the coordinate rule are errors
//! where a function returns `Result`, and the neutral status elsewhere.

mod area;
mod area_overlap;
mod area_shape;
mod connect;
mod debug;
mod filter;
mod front;
mod nearest;
mod nearest_wall;
mod open_list;
mod outline;
mod path;
mod poly_table;
mod random;
mod raycast;
mod room;
mod slice;
mod slide;
mod status;
mod straight;
mod surface;
mod taut;
mod trace;
mod walls;

pub use area::{AreaOutcome, AreaSearch, MAX_RADIUS};
pub use connect::connects;
pub use debug::{Outlines, Portals, QueryDebug, for_each_poly_wall, poly_edge, portal_stretch};
pub use filter::{AREA_COUNT, DefaultFilter, Filter, QueryFilter};
pub use front::{MeshQuery, PathOptions, PathResult};
pub use nearest::{NearestPoly, find_nearest_poly, sample_position};
pub use nearest_wall::WallHit;
pub use path::{DEFAULT_MAX_NODES, NodeModel, PathOutcome, PathSearch};
pub use random::{RandomPoint, SurfaceSampler, random_point};
pub use raycast::{RaycastHit, raycast};
pub use slice::PathTask;
pub use slide::{MoveResult, move_along_surface};
pub use status::{AreaStatus, PathStatus, QueryStatus, RaycastStatus};
pub use straight::{
    FunnelScratch, StraightFlags, StraightOutcome, StraightPathPoint, find_straight_path,
    off_mesh_way,
};
pub use surface::{
    ClosestPoint, closest_point_on_poly, closest_point_on_tile_poly, is_over_tile_poly,
    surface_height,
};
pub use taut::{StringMemory, find_remembered_path};
pub use walls::{PolyWall, WallSegment, WallsOutcome};

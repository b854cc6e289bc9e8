//! Changing a mesh while it is in use: temporary obstacles and area volumes.
//!
//! In: a level, built once with a cache ([`build_soup_cached`] and its siblings). Out: the mesh the
//! plain build gives, and [`CacheTables`], which keep of every tile what depends on geometry alone
//! and redo the rest when an obstacle or a volume comes or goes. The idea of rebuilding tiles from
//! an intermediate form is that of DetourTileCache (Mononen, 2012).
//!
//! Rooms: `build` (the first build), `layers` (what is kept of a tile), `first` (what the first
//! build leaves of a layer), [`obstacles`] (shapes and what they cover), `shapes` (the shapes in
//! force), `tile_grid` (where the tiles stand), `tables` (requests and the queue), `update` (the
//! queue worked off, the swap into the mesh), `rebuild` (one tile for the shapes in force), `repair`
//! (a layer's outlines from the first build's), `same` (equal tiles), `snapshot` (the state as
//! bytes).
//!
//! Departures from DetourTileCache: what is kept are the open spans themselves, so a rebuilt tile
//! equals, byte for byte, a fresh build with the same shapes; requests are never refused for want
//! of room and none is lost; a layer that lost some spans is repaired rather than rebuilt, to the
//! same bytes; layers that come out as they were keep their tile and its references; whether a tile
//! or a layer is near a turned box is asked of the box as its corners reach once it is grown, not of
//! its bounds grown by the radius and a cell, beyond which a wide agent's corners stick out.

mod build;
mod first;
mod layers;
pub mod obstacles;
mod rebuild;
mod repair;
mod same;
mod shapes;
mod snapshot;
mod tables;
mod tile_grid;
mod update;

pub use build::{build_chunk_cached, build_heightfield_cached, build_soup_cached};
pub use obstacles::{Obstacle, ObstacleShape};
pub use rebuild::RebuildCounts;
pub use shapes::MAX_SHAPES;
pub use snapshot::CacheSnapshot;
pub use tables::{CacheTables, ObstacleId, ShapeStatus, VolumeId};
pub use update::RebuildError;

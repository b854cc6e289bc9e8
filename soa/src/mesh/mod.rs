//! The tiled navigation mesh: parameters, tiles and their rules, references, slots, stitching,
//! edits, bytes.
//!
//! A mesh is a grid of tiles. A tile ([`NavTile`]) is immutable once validated; a mesh
//! ([`TiledMesh`]) keeps it in a numbered slot beside the values that may change at run time
//! (polygon areas and flags, link switches) and the links that stitching derives from all tiles.

pub mod assemble;
mod data;
mod detail_grid;
pub mod format;
mod library;
mod mesh_edit;
mod off_mesh_ways;
mod params;
mod poly_ref;
mod sheet;
pub mod snapshot;
mod stitch;
mod tile;
mod tiled;
mod tree;
mod validate;

pub use data::{DetailMesh, NO_PORTAL, OffMeshLink, TileData};
pub use detail_grid::Candidates;
pub use library::{CONTENT_ID_LENGTH, TileLibrary};
pub use mesh_edit::MeshEditError;
pub use off_mesh_ways::OffMeshWay;
pub use params::{MAX_LAYER, MeshParams};
pub use poly_ref::{MAX_POLYS, MAX_SALT, MAX_SLOTS, PolyRef, TileRef};
pub use stitch::{Link, LinkKind, OffMeshEnds};
pub use tile::{NavTile, Tile, TileGeometry};
pub use tiled::TiledMesh;
pub use tree::{PolyTree, TreeNode};

//! Why an edit of a mesh was refused.

use thiserror::Error;

/// A refused edit. The mesh is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MeshEditError {
    /// A tile already stands at the position; replace it instead.
    #[error("tile ({x}, {z}) layer {layer} is already there; replace it instead of adding")]
    Occupied {
        /// Tile column.
        x: i32,
        /// Tile row.
        z: i32,
        /// Layer.
        layer: i32,
    },
    /// No tile stands at the position to replace.
    #[error("there is no tile ({x}, {z}) layer {layer} to replace")]
    NotThere {
        /// Tile column.
        x: i32,
        /// Tile row.
        z: i32,
        /// Layer.
        layer: i32,
    },
    /// The tile was built for a mesh with other settings.
    #[error("tile ({x}, {z}) layer {layer} was built with other settings than this mesh")]
    Fingerprint {
        /// Tile column.
        x: i32,
        /// Tile row.
        z: i32,
        /// Layer.
        layer: i32,
    },
    /// A copy of a tile whose areas, flags or link switches do not have the tile's length, or with an
    /// area above 63.
    #[error(
        "the copy of tile ({x}, {z}) layer {layer} has an area above 63, or areas, flags or link \
         switches that are not one per polygon and link"
    )]
    Copy {
        /// Tile column.
        x: i32,
        /// Tile row.
        z: i32,
        /// Layer.
        layer: i32,
    },
    /// The reference names a tile or polygon that is not there (any more).
    #[error("the reference is stale: its tile was removed or replaced")]
    Stale,
    /// An area above 63.
    #[error("area {area} is out of range; areas are 0 to 63")]
    Area {
        /// The area passed.
        area: u8,
    },
    /// The portals on one border of the tile's column lie on top of each other so often that their
    /// links would outgrow the tiles, or the mesh would have so many off-mesh links with so many
    /// polygons in reach of their ends that attaching them would take forever: more than 2^27 tree
    /// nodes and polygons looked at. An end on ordinary ground looks at some dozens.
    #[error(
        "tile ({x}, {z}) layer {layer} asks for too many links: portals on top of each other at a \
         border, or off-mesh link ends that would look at more than 2^27 polygons"
    )]
    TooManyLinks {
        /// Tile column.
        x: i32,
        /// Tile row.
        z: i32,
        /// Layer.
        layer: i32,
    },
    /// Every slot is taken.
    #[error("the mesh is full: it holds at most 1048575 tiles")]
    Full,
}

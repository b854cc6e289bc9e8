//! Voxel columns: what the 3D builder stores between its stages.
//!
//! A *span* is a half-open interval of rows in one column of a grid of cells. [`SolidSpans`] holds
//! the matter of a level; [`OpenSpans`] holds the standing room above it, with the links an agent
//! can step along; [`SpanGraph`] resolves those links once so that later stages never decode them.
//! Columns are `(x, z)` with index `x + z * width`; a row counts cells upwards from the grid's
//! origin. The metric frame around the rows belongs to the builder, not to these tables.
//!
//! Shape follows the span heightfield of Mononen's Recast (2009), kept as flat columns instead of
//! linked span objects.

mod open;
mod solid;

pub use open::{NO_LINK, OpenSpans, SpanGraph, opposite};
pub use solid::{MAX_COLUMN_SPANS, MAX_SPANS, SolidSpans, SpanColumns};

/// Area id of a span nobody can stand on.
pub const NULL_AREA: u8 = 0;

/// Area id of ordinary walkable ground.
pub const WALKABLE_AREA: u8 = 63;

/// Ceiling row of a span with nothing above it.
pub const UNBOUNDED: i32 = 1 << 30;

/// "No span" in a table of span indices.
pub const NO_SPAN: u32 = u32::MAX;

/// Cell step in x of the four directions: 0 = −x, 1 = +z, 2 = +x, 3 = −z.
pub const DIRECTION_X: [i32; 4] = [-1, 0, 1, 0];

/// Cell step in z of the four directions: 0 = −x, 1 = +z, 2 = +x, 3 = −z.
pub const DIRECTION_Z: [i32; 4] = [0, 1, 0, -1];

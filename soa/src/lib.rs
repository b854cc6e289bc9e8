//! What throng stores: tables, typed indices, byte formats, hashes, exact predicates and the
//! tiled navigation mesh.
//!
//! Everything above this crate reads and writes these tables. Nothing here searches, steers,
//! prints, reads files or looks at a clock. All results are functions of the inputs alone:
//! IEEE `+ - * / sqrt` in a written order, ties on index, little-endian bytes.

pub mod agents;
pub mod bytes;
pub mod digest;
pub mod error;
pub mod mesh;
pub mod predicates;
pub mod rng;
pub mod spans;
pub mod table;
pub mod world;

pub use error::{ArgumentError, DataError, DataErrorKind, Location};
pub use world::{COORDINATE_LIMIT, DVec2, DVec3};

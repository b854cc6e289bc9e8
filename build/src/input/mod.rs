//! Levels from outside: triangle soups, height grids, voxels, heightfields, files and generated
//! levels.

pub mod chunk;
#[cfg(feature = "gltf")]
pub mod gltf;
pub mod height_grid;
pub mod heightfield;
pub mod levels;
pub mod obj;
pub mod soup;

pub use chunk::{VoxelChunk, VoxelRun};
#[cfg(feature = "gltf")]
pub use gltf::{GltfOptions, GltfTriangles, read_gltf};
pub use height_grid::height_grid_soup;
pub use heightfield::SolidHeightfield;
pub use soup::Soup;

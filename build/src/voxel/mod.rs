//! The voxel builder, one stage a file: [`frame`], [`rasterize`], [`filter`], [`compact`],
//! [`erode`], [`volumes`] (all run by [`spans`]), [`regions`], [`contours`], [`polygons`],
//! [`detail`], [`tile`].
//!
//! A level is built tile by tile on a grid of cells. Each stage reads flat tables and writes flat
//! tables; buffers belong to the worker and are reused from tile to tile.

mod chamfer;
mod clip;
pub mod compact;
pub mod contours;
pub mod coordinates;
pub mod detail;
mod edge_tree;
pub mod erode;
pub mod filter;
pub mod frame;
pub mod layers_first;
#[cfg(test)]
mod pictures;
pub mod plan;
pub mod polygons;
pub mod rasterize;
pub mod regions;
pub mod spans;
pub(crate) mod stages;
pub mod tile;
mod tile_arrays;
pub mod volumes;
mod window;

//! Streaming into a [`NavMesh`]: meshes that start without tiles, and tile columns as bytes.
//!
//! The queue itself is [`TileStreamer`](crate::TileStreamer), which takes a `&mut NavMesh` as it
//! is.

use crate::{NavMesh, NavSettings};
use throng_build::stream::column_bytes;
use throng_soa::error::ArgumentError;
use throng_soa::mesh::TiledMesh;

impl NavMesh {
    /// A mesh without tiles, to stream tiles into that were built with the same settings.
    ///
    /// ```
    /// use throng::{DVec3, NavMesh, NavSettings, TileStreamer};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
    /// #     .map(|(x, z)| DVec3::new(x, 0.0, z));
    /// # let triangles = [[0, 1, 2], [2, 1, 3]];
    /// let settings = NavSettings { tile_size: 24.0, ..NavSettings::HUMANOID };
    /// let baked = NavMesh::build(&vertices, &triangles, &settings)?; // offline: ship its tiles
    ///
    /// let mut mesh = NavMesh::empty(&settings)?;
    /// let mut streamer = TileStreamer::new();
    /// for tile in baked.column_bytes(1, 1) {
    ///     streamer.stream_in(tile);
    /// }
    /// streamer.update(&mut mesh, 4)?;
    /// assert_eq!(mesh.column_bytes(1, 1), baked.column_bytes(1, 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A setting out of range.
    pub fn empty(settings: &NavSettings) -> Result<Self, ArgumentError> {
        let mesh = TiledMesh::new(settings.to_params()?)?;
        Ok(Self::from_parts(mesh, settings.clone()))
    }

    /// The bytes of every tile of a column with its current areas and flags, lowest layer first.
    #[must_use]
    pub fn column_bytes(&self, x: i32, z: i32) -> Vec<Vec<u8>> {
        column_bytes(self, x, z)
    }
}

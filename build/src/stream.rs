//! Tiles in and out of a mesh while a game runs: a queue worked off a few operations at a time.
//!
//! In: tile bytes (or tiles read elsewhere) and tile columns to drop, queued in any number. Out: an
//! edited mesh. Operations are applied in queue order, as many per update as the caller allows: one
//! operation is one tile added or replaced, or one tile column removed with all its layers, lowest
//! first. Links are stitched again after every tile added, replaced or removed.
//!
//! A tile that comes back takes the lowest free slot and a new generation, as with any edit: its
//! bytes and what queries answer return, polygon references and slot numbers do not. The queue is no
//! part of a mesh snapshot.

use std::collections::VecDeque;
use std::sync::Arc;

use thiserror::Error;
use throng_soa::DataError;
use throng_soa::mesh::format::{current_tile_bytes, read_tile};
use throng_soa::mesh::{MeshEditError, NavTile, TileRef, TiledMesh};

/// Why an operation was refused. It has left the queue; what stood before it was applied, what
/// stands behind it is still queued, and the mesh is as it was after the last one applied.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("streaming, after {applied} operations of this update: {cause}")]
pub struct StreamError {
    /// Operations of this update that were applied before it.
    pub applied: usize,
    /// What was wrong.
    pub cause: StreamErrorCause,
}

/// What was wrong with a streaming operation.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StreamErrorCause {
    /// The bytes are no tile of this mesh.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The mesh refused the tile.
    #[error(transparent)]
    Mesh(#[from] MeshEditError),
}

#[derive(Clone, Debug)]
enum Operation {
    /// Tile bytes, read when their turn comes.
    Bytes(Arc<[u8]>),
    /// A tile that was read already.
    Tile(Arc<NavTile>),
    /// A tile column to remove.
    Column { x: i32, z: i32 },
}

/// A queue of tiles to stream into a mesh and tile columns to stream out.
///
/// ```
/// use throng_build::{NavSettings, build_soup, stream::TileStreamer};
/// use throng_soa::DVec3;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
/// #     .map(|(x, z)| DVec3::new(x, 0.0, z));
/// let settings = NavSettings { tile_size: 24.0, ..NavSettings::HUMANOID };
/// let mut mesh = build_soup(&vertices, &[[0, 1, 2], [2, 1, 3]], &settings, 1)?;
/// assert_eq!(mesh.tile_count(), 4);
///
/// let mut streamer = TileStreamer::new();
/// let away = streamer.stream_out(&mesh, 0, 1); // the column's tiles, for when it comes back
/// streamer.update(&mut mesh, 8)?;
/// assert_eq!(mesh.tile_count(), 3);
///
/// for tile in away {
///     streamer.stream_in(tile);
/// }
/// while streamer.update(&mut mesh, 1)? > 0 {} // one tile a frame
/// assert_eq!(mesh.tile_count(), 4);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct TileStreamer {
    queue: VecDeque<Operation>,
}

impl TileStreamer {
    /// A streamer with nothing to do.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            queue: VecDeque::new(),
        }
    }

    /// Queues a tile by its bytes. They are read and checked when their turn comes.
    pub fn stream_in(&mut self, bytes: impl Into<Arc<[u8]>>) {
        self.queue.push_back(Operation::Bytes(bytes.into()));
    }

    /// Queues a tile that was read already, perhaps on another thread or from a library.
    pub fn stream_in_tile(&mut self, tile: impl Into<Arc<NavTile>>) {
        self.queue.push_back(Operation::Tile(tile.into()));
    }

    /// Queues the removal of a tile column and returns the bytes of its tiles as they are now
    /// ([`column_bytes`]), ready to be streamed in again. A column without tiles gives none, and is
    /// still looked at when its turn comes: tiles queued before it go with it.
    pub fn stream_out(&mut self, mesh: &TiledMesh, x: i32, z: i32) -> Vec<Vec<u8>> {
        self.queue.push_back(Operation::Column { x, z });
        column_bytes(mesh, x, z)
    }

    /// Operations waiting.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.queue.len()
    }

    /// Forgets everything that waits.
    pub fn clear(&mut self) {
        self.queue.clear();
    }

    /// Applies at most `max_operations` in queue order and returns how many were applied; 0 when
    /// nothing waits.
    ///
    /// # Errors
    /// The first operation that is refused, which leaves the queue.
    pub fn update(
        &mut self,
        mesh: &mut TiledMesh,
        max_operations: usize,
    ) -> Result<usize, StreamError> {
        let mut applied = 0;
        while applied < max_operations {
            let Some(operation) = self.queue.pop_front() else {
                break;
            };
            apply(mesh, operation).map_err(|cause| StreamError { applied, cause })?;
            applied += 1;
        }
        Ok(applied)
    }
}

fn apply(mesh: &mut TiledMesh, operation: Operation) -> Result<(), StreamErrorCause> {
    let tile = match operation {
        Operation::Bytes(bytes) => Arc::new(read_tile(&bytes, mesh.params())?),
        Operation::Tile(tile) => tile,
        Operation::Column { x, z } => {
            for tile in column_tiles(mesh, x, z) {
                mesh.remove_tile(tile)?;
            }
            return Ok(());
        }
    };
    put(mesh, tile)?;
    Ok(())
}

/// Adds the tile, or puts it in place of the one at its position.
fn put(mesh: &mut TiledMesh, tile: Arc<NavTile>) -> Result<TileRef, MeshEditError> {
    let data = tile.data();
    if mesh
        .tile_slot_at(data.tile_x, data.tile_z, data.layer)
        .is_some()
    {
        mesh.replace_tile(tile)
    } else {
        mesh.add_tile(tile)
    }
}

/// The tiles of a column, by ascending layer.
fn column_tiles(mesh: &TiledMesh, x: i32, z: i32) -> Vec<TileRef> {
    let slots = mesh.column(x, z).iter();
    slots.filter_map(|&slot| mesh.tile_ref(slot)).collect()
}

/// The bytes of every tile of a column with its current areas and flags, by ascending layer: what
/// brings the column back. Link switches are not content and are not kept.
#[must_use]
pub fn column_bytes(mesh: &TiledMesh, x: i32, z: i32) -> Vec<Vec<u8>> {
    let slots = mesh.column(x, z).iter();
    slots
        .filter_map(|&slot| mesh.tile(slot))
        .map(current_tile_bytes)
        .collect()
}

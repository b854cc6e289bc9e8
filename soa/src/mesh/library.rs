//! Tiles by content: where a snapshot that names its tiles finds them.
//!
//! In: tiles a host loaded or built. Out: the tile with a given content id. The id covers
//! everything a tile is built of, so one library may hold the tiles of many meshes and versions of
//! a level; equal tiles are held once and shared with every mesh restored from them.

use super::tile::NavTile;
use super::tiled::TiledMesh;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Length of a content id: a SHA-256 digest.
pub const CONTENT_ID_LENGTH: usize = 32;

/// Tiles found by their content id. Cloning shares the tiles.
#[derive(Clone, Debug, Default)]
pub struct TileLibrary {
    tiles: BTreeMap<[u8; CONTENT_ID_LENGTH], Arc<NavTile>>,
}

impl TileLibrary {
    /// A library without tiles.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            tiles: BTreeMap::new(),
        }
    }

    /// Adds a tile and returns its content id. A tile that is there already is kept as it is.
    pub fn add(&mut self, tile: impl Into<Arc<NavTile>>) -> [u8; CONTENT_ID_LENGTH] {
        let tile = tile.into();
        let id = tile.content_id();
        self.tiles.entry(id).or_insert(tile);
        id
    }

    /// Adds every tile of a mesh as it was built. Run-time edits are not content.
    pub fn add_mesh(&mut self, mesh: &TiledMesh) {
        for (_, tile) in mesh.tiles() {
            self.add(tile.built().clone());
        }
    }

    /// The tile with this content id.
    #[must_use]
    pub fn get(&self, id: &[u8; CONTENT_ID_LENGTH]) -> Option<&Arc<NavTile>> {
        self.tiles.get(id)
    }

    /// Takes a tile out. Snapshots that name it can no longer be restored from this library.
    pub fn remove(&mut self, id: &[u8; CONTENT_ID_LENGTH]) -> Option<Arc<NavTile>> {
        self.tiles.remove(id)
    }

    /// Number of tiles.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tiles.len()
    }

    /// Whether there are no tiles.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tiles.is_empty()
    }

    /// The content ids, ascending.
    pub fn ids(&self) -> impl Iterator<Item = &[u8; CONTENT_ID_LENGTH]> {
        self.tiles.keys()
    }
}

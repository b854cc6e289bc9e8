//! How far around a place, seen from above, a mesh has nothing but one tile; and how many polygons a
//! search can meet at most. What lets a search for the nearest wall stop early.

use throng_soa::DVec3;
use throng_soa::mesh::{Tile, TiledMesh};

/// More than rounding could move a line between tiles or what lies at it, world units.
const MARGIN: f64 = 1e-3;

/// What a search remembers of the tiles of a mesh until that changes.
#[derive(Clone, Debug, Default)]
pub(super) struct Rooms {
    revision: Option<u64>,
    /// By slot: no other tile can have a polygon inside this tile's square.
    alone: Vec<bool>,
    columns: usize,
    /// Most polygons of a tile column.
    largest: usize,
}

impl Rooms {
    /// Looks at the tiles unless it has seen the mesh as it is. Linear in the slots.
    pub(super) fn follow(&mut self, mesh: &TiledMesh) {
        if self.revision == Some(mesh.revision()) {
            return;
        }
        self.revision = Some(mesh.revision());
        (self.columns, self.largest) = (0, 0);
        self.alone.clear();
        self.alone.resize(mesh.slot_count() as usize, false);
        let none_leans_out = mesh.tiles().all(|(_, tile)| tile.is_in_square());
        for (slot, tile) in mesh.tiles() {
            let column = mesh.column(tile.data().tile_x, tile.data().tile_z);
            self.alone[slot as usize] = column.len() == 1 && none_leans_out;
            if column.first() == Some(&slot) {
                let tiles = column.iter().filter_map(|&slot| mesh.tile(slot));
                let polys = tiles.map(|tile| tile.poly_count()).sum();
                self.columns += 1;
                self.largest = self.largest.max(polys);
            }
        }
        if let ([alone], 1) = (&mut self.alone[..], self.columns) {
            *alone = true;
        }
    }

    /// No polygon of another tile than the one in `slot` is nearer to a point of its square than this,
    /// seen from above. 0 when that is not known.
    #[inline]
    pub(super) fn around(&self, mesh: &TiledMesh, slot: u32, tile: &Tile, at: DVec3) -> f64 {
        if self.alone.get(slot as usize) != Some(&true) {
            return 0.0;
        }
        if self.columns == 1 {
            return f64::INFINITY;
        }
        let params = mesh.params();
        let (x, z) = (
            at.x - params.tile_origin_x(tile.data().tile_x),
            at.z - params.tile_origin_z(tile.data().tile_z),
        );
        let sides = [x, z, params.tile_size - x, params.tile_size - z];
        sides.into_iter().fold(f64::INFINITY, f64::min) - MARGIN
    }

    /// At least as many polygons as a search from a tile can meet that crosses from tile to tile within
    /// `radius` of a point of that tile's square.
    #[inline]
    pub(super) fn most_polys(&self, mesh: &TiledMesh, radius: f64) -> usize {
        // Lines between columns within the radius to either side, after the tile's own.
        let lines = ((radius + MARGIN) / mesh.params().tile_size) as usize;
        // A column beyond each and beyond the tile's own lines, and the tile's.
        let across = lines.saturating_mul(2).saturating_add(3);
        let columns = across.saturating_mul(across);
        self.columns.min(columns).saturating_mul(self.largest)
    }
}

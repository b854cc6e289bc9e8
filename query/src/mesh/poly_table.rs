//! A number per polygon of the mesh, forgotten all at once: how a search finds a polygon's node.
//!
//! One 8-byte cell per polygon (stamp and number), the cells of a tile slot side by side from a
//! prefix base per slot. A search starts by taking a new stamp, so nothing is cleared between
//! searches. The layout follows the mesh when its revision changes; a slot whose tile is larger than
//! its row of cells gets a new row at the end. The layout is a device for speed and never shows in
//! results.

use throng_soa::mesh::TiledMesh;

/// Cells of one tile slot.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    first: usize,
    count: usize,
}

/// Maps (slot, polygon) to a `u32`.
#[derive(Clone, Debug, Default)]
pub(crate) struct PolyTable {
    rows: Vec<Row>,
    cells: Vec<u64>,
    stamp: u32,
    layout_of: Option<u64>,
}

impl PolyTable {
    /// Forgets every number and fits the layout to `mesh`.
    pub(crate) fn begin(&mut self, mesh: &TiledMesh) {
        let layout = Some(mesh.revision());
        if self.layout_of != layout {
            self.layout_of = layout;
            self.rows.clear();
            let mut total = 0;
            for slot in 0..mesh.slot_count() {
                let count = mesh.tile(slot).map_or(0, |tile| tile.poly_count());
                self.rows.push(Row {
                    first: total,
                    count,
                });
                total += count;
            }
            self.cells.clear();
            self.cells.resize(total, 0);
            self.stamp = 0;
        }
        if self.stamp == u32::MAX {
            self.cells.fill(0);
            self.stamp = 0;
        }
        self.stamp += 1;
    }

    /// First cell of `slot`, whose tile has `polys` polygons: polygon `p`'s cell is that plus `p`.
    #[inline]
    pub(crate) fn row(&mut self, slot: u32, polys: usize) -> usize {
        match self.rows.get(slot as usize) {
            Some(row) if row.count >= polys => row.first,
            _ => self.grow(slot as usize, polys),
        }
    }

    #[cold]
    fn grow(&mut self, slot: usize, polys: usize) -> usize {
        if self.rows.len() <= slot {
            self.rows.resize(slot + 1, Row::default());
        }
        let first = self.cells.len();
        self.rows[slot] = Row {
            first,
            count: polys,
        };
        self.cells.resize(first + polys, 0);
        first
    }

    /// The number in a cell, if it was set since [`begin`](Self::begin).
    #[inline]
    pub(crate) fn get(&self, cell: usize) -> Option<u32> {
        let value = self.cells[cell];
        ((value >> 32) as u32 == self.stamp).then_some(value as u32)
    }

    /// Sets the number of a cell.
    #[inline]
    pub(crate) fn set(&mut self, cell: usize, number: u32) {
        self.cells[cell] = u64::from(self.stamp) << 32 | u64::from(number);
    }
}

//! Where a cache's tiles stand, so that the tiles in a block are found without looking at others.
//!
//! In: the columns and rows of tiles, row by row. Out: how many stand in a block, at once, and
//! which, in proportion to the rows of the block that have any.

use core::ops::Range;

use super::layers::CachedTile;
use crate::pipeline::TileRange;

/// Tiles counted from the low corner, for every place.
///
/// A cache holds tiles of one build, whose block has at most 2^20 places: 4 bytes each are less
/// than the spans of a hundred tiles.
#[derive(Debug)]
pub(super) struct TileGrid {
    /// The smallest block that holds all tiles.
    range: TileRange,
    /// `(rows + 1) * (columns + 1)` numbers: the tiles in rows below `z` and columns below `x`.
    before: Vec<u32>,
}

impl TileGrid {
    /// The grid of tiles in order of row, then column.
    pub(super) fn new(tiles: &[CachedTile]) -> Self {
        let places = tiles.iter().map(|tile| (tile.tile_x, tile.tile_z));
        Self::of_places(places)
    }

    fn of_places(places: impl Iterator<Item = (i32, i32)> + Clone) -> Self {
        let range = places
            .clone()
            .fold(None, |range: Option<TileRange>, (x, z)| {
                let range = range.unwrap_or(TileRange {
                    min_x: x,
                    min_z: z,
                    max_x: x,
                    max_z: z,
                });
                Some(TileRange {
                    min_x: range.min_x.min(x),
                    min_z: range.min_z.min(z),
                    max_x: range.max_x.max(x),
                    max_z: range.max_z.max(z),
                })
            });
        let range = range.unwrap_or(TileRange::EMPTY);
        let line = range.columns() + 1;
        let mut before = vec![0_u32; (range.rows() + 1) * line];
        for (x, z) in places {
            before[(steps(range.min_z, z) + 1) * line + steps(range.min_x, x) + 1] = 1;
        }
        for at in line..before.len() {
            if at % line > 0 {
                // The row so far and everything below it.
                before[at] =
                    before[at] + before[at - 1] + before[at - line] - before[at - line - 1];
            }
        }
        Self { range, before }
    }

    /// The smallest block that holds all tiles.
    pub(super) fn range(&self) -> TileRange {
        self.range
    }

    /// Number of tiles in a block. Cost: four reads.
    pub(super) fn count(&self, block: TileRange) -> usize {
        let block = block.intersection(&self.range);
        if block.columns() == 0 || block.rows() == 0 {
            return 0;
        }
        let (low_x, high_x) = self.columns_of(block);
        let (low_z, high_z) = self.rows_of(block);
        self.count_between(low_z, high_z, low_x, high_x)
    }

    /// Appends the indices of the tiles in a block, row by row. Cost: at most `2 * log2(2 * rows)` looks
    /// for each row of the block that has tiles in it, and one without any.
    pub(super) fn push_tiles(&self, block: TileRange, tiles: &mut Vec<u32>) {
        self.walk(block, || (), |row| tiles.extend(row));
    }

    /// Calls `visit` with the indices of the tiles of each row of a block that has some, and `look` each
    /// time a group of rows was counted.
    fn walk(&self, block: TileRange, mut look: impl FnMut(), mut visit: impl FnMut(Range<u32>)) {
        let block = block.intersection(&self.range);
        if block.columns() == 0 || block.rows() == 0 {
            return;
        }
        let (low_x, high_x) = self.columns_of(block);
        // Halves of halves of the rows, the lowest on top.
        let mut groups = vec![self.rows_of(block)];
        while let Some((low_z, high_z)) = groups.pop() {
            look();
            let count = self.count_between(low_z, high_z, low_x, high_x);
            if count == 0 {
                continue;
            }
            if high_z - low_z > 1 {
                let middle = low_z + (high_z - low_z) / 2;
                groups.extend([(middle, high_z), (low_z, middle)]);
                continue;
            }
            // Tiles of one row stand next to each other in the list of all.
            let columns = self.range.columns();
            let earlier = self.count_between(0, low_z, 0, columns);
            let first = earlier + self.count_between(low_z, high_z, 0, low_x);
            visit(first as u32..(first + count) as u32);
        }
    }

    /// Columns of a block inside the range, half-open, from the range's lowest.
    fn columns_of(&self, block: TileRange) -> (usize, usize) {
        let low = steps(self.range.min_x, block.min_x);
        (low, low + block.columns())
    }

    /// Rows of a block inside the range, half-open, from the range's lowest.
    fn rows_of(&self, block: TileRange) -> (usize, usize) {
        let low = steps(self.range.min_z, block.min_z);
        (low, low + block.rows())
    }

    fn count_between(&self, low_z: usize, high_z: usize, low_x: usize, high_x: usize) -> usize {
        let line = self.range.columns() + 1;
        let before = |z: usize, x: usize| self.before[z * line + x];
        let above = before(high_z, high_x) - before(high_z, low_x);
        (above - (before(low_z, high_x) - before(low_z, low_x))) as usize
    }
}

/// Numbers from `low` up to `high`, which is not below it.
fn steps(low: i32, high: i32) -> usize {
    usize::try_from(i64::from(high) - i64::from(low)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_soa::rng::SplitMix64;

    fn block(min_x: i32, max_x: i32, min_z: i32, max_z: i32) -> TileRange {
        TileRange {
            min_x,
            min_z,
            max_x,
            max_z,
        }
    }

    fn grid(mut places: Vec<(i32, i32)>) -> (TileGrid, Vec<(i32, i32)>) {
        places.sort_unstable_by_key(|&(x, z)| (z, x));
        places.dedup();
        (TileGrid::of_places(places.iter().copied()), places)
    }

    /// Appends the tiles of a block and counts the groups of rows looked at.
    fn looks(grid: &TileGrid, block: TileRange, found: &mut Vec<u32>) -> usize {
        let mut looks = 0;
        grid.walk(block, || looks += 1, |row| found.extend(row));
        let mut again = Vec::new();
        grid.push_tiles(block, &mut again);
        assert!(found.ends_with(&again));
        looks
    }

    #[test]
    fn random_blocks_hold_what_a_look_at_every_tile_finds() {
        let mut rng = SplitMix64::new(5);
        for (columns, rows, tiles) in [(1, 1, 1), (30, 20, 40), (5, 90, 300), (60, 2, 20)] {
            let mut below = |n: u32| rng.next_below(n) as i32;
            let place = |_| (below(columns) - 7, below(rows) - 900);
            let (grid, places) = grid((0..tiles).map(place).collect());
            for _ in 0..200 {
                let mut end = |n: u32, low: i32| low + rng.next_below(n + 6) as i32 - 3;
                let block = block(
                    end(columns, -7),
                    end(columns, -7),
                    end(rows, -900),
                    end(rows, -900),
                );
                let inside = |&index: &u32| block.contains(places[index as usize]);
                let wanted: Vec<u32> = (0..places.len() as u32).filter(inside).collect();
                let mut found = Vec::new();
                let counted = looks(&grid, block, &mut found);
                assert_eq!(found, wanted);
                assert_eq!(grid.count(block), wanted.len());
                let mut lines: Vec<i32> = wanted.iter().map(|&i| places[i as usize].1).collect();
                lines.dedup();
                let halvings = (2 * block.rows()).max(1).ilog2() as usize + 1;
                assert!(counted <= 1 + 2 * halvings * lines.len());
            }
        }
        let (empty, _) = grid(Vec::new());
        assert_eq!(empty.count(block(-9, 9, -9, 9)), 0);
    }

    #[test]
    fn blocks_beside_and_between_tiles_are_one_look() {
        // Two columns of tiles with a gap of three, and the same turned.
        let far = 1 << 17;
        let columns = (0..far).flat_map(|z| [(0, z), (4, z)]).collect();
        let rows = (0..far).flat_map(|x| [(x, 0), (x, 4)]).collect();
        let mut found = Vec::new();
        let (upright, _) = grid(columns);
        for (min_x, max_x) in [(-3, -1), (1, 3), (5, 9)] {
            let looks = looks(&upright, block(min_x, max_x, -10, far + 10), &mut found);
            assert!(looks <= 1 && found.is_empty());
        }
        let (lying, _) = grid(rows);
        for (min_z, max_z) in [(-3, -1), (1, 3), (5, 9)] {
            let looks = looks(&lying, block(-10, far + 10, min_z, max_z), &mut found);
            assert!(looks <= 1 && found.is_empty());
        }
        // One tile far along costs a halving a step.
        let mut places: Vec<(i32, i32)> = (0..far).map(|z| (0, z)).collect();
        places.push((3, 77_777));
        let (lone, _) = grid(places);
        let looks = looks(&lone, block(2, 5, 0, far), &mut found);
        assert_eq!((found.len(), looks <= 2 * 18), (1, true), "{looks}");
    }
}

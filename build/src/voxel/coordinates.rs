//! From grid corners and rows to the float32 positions a tile stores.
//!
//! Polygons must be convex in what is stored, not only on the integer grid, and rounding to
//! float32 can tip a nearly straight corner over. [`TileCoordinates::turn`] gives the exact sign of
//! a turn of the stored positions and calls the exact predicate only when the integer turn is too
//! small to be safe. One rounding shifts a coordinate by half a unit in the last of 24 bits; over the
//! products of a determinant on a grid `n` cells wide that adds up to less than `n² / 2^19` cell
//! areas, so a turn at least one larger keeps its sign.

use throng_soa::predicates::orient2d;

/// Maps corners of the tile's grid (border included) to tile-local positions.
#[derive(Clone, Debug, Default)]
pub struct TileCoordinates {
    border: u32,
    tile_cells: u32,
    cell_size: f64,
    tile_size: f32,
    /// Stored coordinate of every integer corner.
    corner: Vec<f32>,
    safe_turn: i64,
}

impl TileCoordinates {
    /// A map for tiles of `tile_cells` cells of `cell_size`, with `border` more on each side.
    #[must_use]
    pub fn new(tile_cells: u32, border: u32, cell_size: f64, tile_size: f64) -> Self {
        let cells = tile_cells + 2 * border;
        let mut map = Self {
            border,
            tile_cells,
            cell_size,
            tile_size: tile_size as f32,
            corner: Vec::new(),
            safe_turn: ((i64::from(cells) * i64::from(cells)) >> 19) + 1,
        };
        map.corner = (0..=cells).map(|c| map.local(f64::from(c))).collect();
        map
    }

    /// Stored coordinate of a position in cells. The tile's edges map to exactly 0 and the tile
    /// size, so neighbouring tiles meet.
    #[must_use]
    pub fn local(&self, cells: f64) -> f32 {
        if cells == f64::from(self.border) {
            0.0
        } else if cells == f64::from(self.border + self.tile_cells) {
            self.tile_size
        } else {
            ((cells - f64::from(self.border)) * self.cell_size) as f32
        }
    }

    /// [`Self::local`] of a corner of the grid.
    #[inline]
    #[must_use]
    pub fn corner(&self, cell: i32) -> f32 {
        self.corner[cell as usize]
    }

    /// Integer turns of at least this many (doubled) cell areas keep their sign when stored.
    #[must_use]
    pub fn safe_turn(&self) -> i64 {
        self.safe_turn
    }

    /// Sign of the turn `a b c` in stored positions (1 left, −1 right, 0 straight), exactly.
    #[inline]
    #[must_use]
    pub fn turn(&self, a: (i32, i32), b: (i32, i32), c: (i32, i32)) -> i32 {
        let (abx, abz) = (i64::from(b.0 - a.0), i64::from(b.1 - a.1));
        let (acx, acz) = (i64::from(c.0 - a.0), i64::from(c.1 - a.1));
        let turn = abx * acz - acx * abz;
        if turn >= self.safe_turn {
            1
        } else if turn <= -self.safe_turn {
            -1
        } else {
            self.exact_turn(a, b, c)
        }
    }

    #[cold]
    fn exact_turn(&self, a: (i32, i32), b: (i32, i32), c: (i32, i32)) -> i32 {
        let at = |p: (i32, i32)| [f64::from(self.corner(p.0)), f64::from(self.corner(p.1))];
        let turn = orient2d(at(a), at(b), at(c));
        i32::from(turn > 0.0) - i32::from(turn < 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_soa::rng::SplitMix64;

    #[test]
    fn edges_of_the_tile_are_exact() {
        let map = TileCoordinates::new(214, 5, 64.0 / 214.0, 64.0);
        assert_eq!(map.corner(5), 0.0);
        assert_eq!(map.corner(219), 64.0);
        assert!(map.corner(4) < 0.0 && map.corner(220) > 64.0);
        assert_eq!(map.local(6.5), (1.5 * (64.0 / 214.0)) as f32);
    }

    #[test]
    fn the_integer_shortcut_agrees_with_the_exact_predicate() {
        for (cells, size) in [(214, 64.0), (4000, 1200.0), (48, 14.400_001_f32 as f64)] {
            let map = TileCoordinates::new(cells, 5, size / f64::from(cells), size);
            let mut rng = SplitMix64::new(u64::from(cells));
            let all = cells + 11;
            for round in 0..20_000 {
                let mut point = || (rng.next_below(all) as i32, rng.next_below(all) as i32);
                let (a, mut b, mut c) = (point(), point(), point());
                if round % 2 == 0 {
                    // Nearly collinear: the middle of a far pair, moved by at most a cell.
                    b = ((a.0 + c.0) / 2, (a.1 + c.1) / 2);
                    c.0 = (c.0 + round % 3 - 1).clamp(0, all as i32 - 1);
                }
                assert_eq!(
                    map.turn(a, b, c),
                    map.exact_turn(a, b, c),
                    "{a:?} {b:?} {c:?}"
                );
            }
        }
    }
}

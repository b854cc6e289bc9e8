//! Lookup grids over the detail triangles of large polygons: a point finds the few triangles that
//! can hold it without walking all of them.
//!
//! Each polygon with at least [`MIN_TRIANGLES`] triangles that is not level gets `d` columns and `d` rows
//! over the box of its detail, `d` from 2 to 32. A column is a set of triangles, a bit for each: those
//! whose box, a little widened, has a point of that column, and every ill-shaped one, whose tolerance can
//! reach farther than any box. So is a row. The first triangle in the column and in the row of a point
//! that holds it is the first of all that hold it.

use super::data::TileData;

/// Polygons with fewer detail triangles are scanned.
pub(super) const MIN_TRIANGLES: u16 = 12;

const NO_GRID: u32 = u32::MAX;

/// Most columns.
const MAX_SIDE: u32 = 32;

/// X and Z.
type Point = [f64; 2];

#[derive(Clone, Copy, Debug, PartialEq)]
struct Grid {
    min: Point,
    /// Columns and rows per unit.
    per: Point,
    side: u32,
    /// Words of a set.
    words: u32,
    /// First word of the first column's set; rows follow the columns.
    first: u32,
}

/// The columns and rows a point lies in when it is moved to the low and to the high side.
#[derive(Clone, Copy, Default)]
struct Reach {
    low: [u8; 2],
    high: [u8; 2],
}

impl Grid {
    /// The grid over the box of `points` for this many triangles, its sets from word `first` on; and how
    /// far its triangles are widened.
    fn over(points: &[Point], triangles: usize, first: usize) -> (Self, f64) {
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for point in points {
            for axis in 0..2 {
                let value = point[axis];
                low[axis] = if value < low[axis] { value } else { low[axis] };
                high[axis] = if value > high[axis] {
                    value
                } else {
                    high[axis]
                };
            }
        }
        let side = ((triangles as f64 / 2.0).sqrt().floor() as u32).clamp(2, MAX_SIDE);
        let size = [high[0] - low[0], high[1] - low[1]];
        let grid = Self {
            min: low,
            per: size.map(|size| f64::from(side) / size),
            side,
            words: triangles.div_ceil(64) as u32,
            first: first as u32,
        };
        // As far as the largest triangle could want it.
        let widen = 1e-6 * if size[0] > size[1] { size[0] } else { size[1] } + 1e-9;
        (grid, widen)
    }

    /// The column (axis 0) or row (axis 1) of a coordinate. Rounding never turns an order round: a point
    /// inside a box gets one between those of the box's ends, whatever the numbers.
    #[inline]
    fn place(&self, axis: usize, value: f64) -> u32 {
        // Below the first is the first; so is the NaN of a box without extent.
        (((value - self.min[axis]) * self.per[axis]) as u32).min(self.side - 1)
    }

    fn reach(&self, point: &Point, widen: f64) -> Reach {
        let place = |axis: usize, value: f64| self.place(axis, value) as u8;
        Reach {
            low: [place(0, point[0] - widen), place(1, point[1] - widen)],
            high: [place(0, point[0] + widen), place(1, point[1] + widen)],
        }
    }
}

/// Whether a triangle is so thin that the tolerance of being inside it can reach beyond its widened box.
#[inline]
fn is_ill_shaped(a: Point, b: Point, c: Point) -> bool {
    let (bx, bz, cx, cz) = (b[0] - a[0], b[1] - a[1], c[0] - a[0], c[1] - a[1]);
    // At least the larger side of its box, and at most twice that.
    let (x, z) = (bx.abs() + cx.abs(), bz.abs() + cz.abs());
    let size = if x > z { x } else { z };
    (bx * cz - bz * cx).abs() < 1e-6 * (size * size)
}

/// Turns a bit round in the sets of places `low` and `end`, if there is such a place.
#[inline]
fn toggle(sets: &mut [u64], words: usize, word: usize, bit: u64, low: u8, end: u8) {
    for place in [low, end] {
        if let Some(set) = sets.get_mut(usize::from(place) * words + word) {
            *set ^= bit;
        }
    }
}

/// The grids of one tile. World coordinates.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct DetailGrids {
    /// The grid of each polygon; empty when none has one.
    poly_grid: Vec<u32>,
    grids: Vec<Grid>,
    /// The sets, grid by grid.
    sets: Vec<u64>,
}

impl DetailGrids {
    /// Builds the grids of a validated tile. `is_level(poly)` says which polygons need none;
    /// `points_of(poly, points)` appends X and Z of a polygon's corners in the world and then those of
    /// its extra detail vertices.
    pub(super) fn build(
        data: &TileData,
        is_level: impl Fn(usize) -> bool,
        points_of: impl Fn(usize, &mut Vec<Point>),
    ) -> Self {
        let mut grids = Self::default();
        // Builders give every polygon triangles of its own. Where ranges overlap (the format lets
        // them) the work would not be bounded by the tile's size, so those tiles are scanned.
        let named = data.detail_meshes.iter();
        let named: usize = named.map(|mesh| usize::from(mesh.triangle_count)).sum();
        if named > data.detail_triangles.len() {
            return grids;
        }
        let (mut points, mut reaches) = (Vec::new(), Vec::new());
        for (poly, mesh) in data.detail_meshes.iter().enumerate() {
            if mesh.triangle_count < MIN_TRIANGLES || is_level(poly) {
                continue;
            }
            if grids.poly_grid.is_empty() {
                grids.poly_grid.resize(data.detail_meshes.len(), NO_GRID);
            }
            grids.poly_grid[poly] = grids.grids.len() as u32;
            points.clear();
            points_of(poly, &mut points);
            let triangles = &data.detail_triangles[mesh.triangle_base as usize..];
            let triangles = &triangles[..usize::from(mesh.triangle_count)];
            grids.add(&points, triangles, &mut reaches);
        }
        grids
    }

    fn add(&mut self, points: &[Point], triangles: &[[u8; 4]], reaches: &mut Vec<Reach>) {
        let (grid, widen) = Grid::over(points, triangles.len(), self.sets.len());
        reaches.clear();
        reaches.extend(points.iter().map(|point| grid.reach(point, widen)));
        let (side, words) = (grid.side as usize, grid.words as usize);
        let first = self.sets.len();
        self.sets.resize(first + 2 * side * words, 0);
        let (columns, rows) = self.sets[first..].split_at_mut(side * words);
        // First only where a triangle begins and behind its end, then every place takes over from the
        // one before.
        for (triangle, &[a, b, c, _]) in triangles.iter().enumerate() {
            let (a, b, c) = (usize::from(a), usize::from(b), usize::from(c));
            let [p, q, r] = [&reaches[a], &reaches[b], &reaches[c]];
            let mut low = [0; 2];
            let mut end = [grid.side as u8; 2];
            if !is_ill_shaped(points[a], points[b], points[c]) {
                for axis in 0..2 {
                    low[axis] = p.low[axis].min(q.low[axis]).min(r.low[axis]);
                    end[axis] = p.high[axis].max(q.high[axis]).max(r.high[axis]) + 1;
                }
            }
            let (word, bit) = (triangle / 64, 1 << (triangle % 64));
            toggle(columns, words, word, bit, low[0], end[0]);
            toggle(rows, words, word, bit, low[1], end[1]);
        }
        for sets in [columns, rows] {
            for word in words..sets.len() {
                sets[word] ^= sets[word - words];
            }
        }
        self.grids.push(grid);
    }

    /// The triangles of `poly` that can hold the world point (x, z), in triangle order; `None`
    /// when the polygon has no grid and all its triangles must be looked at.
    #[inline]
    #[must_use]
    pub(super) fn candidates(&self, poly: usize, x: f64, z: f64) -> Option<Candidates<'_>> {
        let grid = self.grids.get(*self.poly_grid.get(poly)? as usize)?;
        let (column, row) = (grid.place(0, x), grid.side + grid.place(1, z));
        let words = grid.words as usize;
        let set_at = |place: u32| {
            let first = grid.first as usize + place as usize * words;
            self.sets.get(first..first + words)
        };
        Some(Candidates {
            set: 0,
            next: 0,
            column: set_at(column)?,
            row: set_at(row)?,
        })
    }
}

/// The triangles in a column and in a row, ascending.
#[derive(Clone, Debug)]
pub struct Candidates<'s> {
    /// What is left of the word before `next`.
    set: u64,
    next: usize,
    column: &'s [u64],
    row: &'s [u64],
}

impl Iterator for Candidates<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.set == 0 {
            self.set = self.column.get(self.next)? & self.row.get(self.next)?;
            self.next += 1;
        }
        let triangle = (self.next - 1) * 64 + self.set.trailing_zeros() as usize;
        self.set &= self.set - 1;
        Some(triangle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SplitMix64;
    use crate::world::DVec2;

    #[test]
    fn a_point_finds_every_triangle_whose_widened_box_holds_it_and_the_ill_shaped() {
        let mut rng = SplitMix64::new(5);
        let mut listed = 0;
        for round in 0..200 {
            let flat = round % 10 == 0;
            let mut at = |size: f64| rng.range(-size, size);
            let corners: Vec<[Point; 3]> = (0..12 + round % 70)
                .map(|t| {
                    let size = [0.1, 2.0, 30.0][t % 3];
                    let (x, z) = (at(50.0), at(50.0));
                    let mut corner = || {
                        let z = if flat { 0.0 } else { z + at(size) };
                        [x + at(size), z]
                    };
                    let (a, b) = (corner(), corner());
                    // Some without an area.
                    let between = [(a[0] + b[0]) * 0.5, (a[1] + b[1]) * 0.5];
                    [a, b, if t % 7 == 0 { between } else { corner() }]
                })
                .collect();
            let points: Vec<Point> = corners.iter().flatten().copied().collect();
            let triangles: Vec<[u8; 4]> = (0..corners.len() as u8)
                .map(|t| [3 * t, 3 * t + 1, 3 * t + 2, 0])
                .collect();
            let mut grids = DetailGrids {
                poly_grid: vec![0],
                ..DetailGrids::default()
            };
            grids.add(&points, &triangles, &mut Vec::new());
            for i in 0..400 {
                let corner = points[i % points.len()];
                let [x, z] = if i % 3 == 0 {
                    corner
                } else {
                    [at(60.0), at(60.0)]
                };
                let Some(candidates) = grids.candidates(0, x, z) else {
                    continue;
                };
                let candidates: Vec<usize> = candidates.collect();
                listed += candidates.len();
                assert!(candidates.windows(2).all(|pair| pair[0] < pair[1]));
                for (t, triangle) in corners.iter().enumerate() {
                    if can_hold(triangle, x, z) {
                        assert!(candidates.contains(&t));
                    }
                }
            }
        }
        assert!(listed > 100_000, "{listed}");
    }

    fn can_hold(corners: &[Point; 3], x: f64, z: f64) -> bool {
        let [a, b, c] = corners.map(|[x, z]| DVec2::new(x, z));
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        let reach = (high - low).max_element();
        let widen = 1e-6 * reach + 1e-9;
        let twice_area = (b - a).perp_dot(c - a).abs();
        twice_area < 1e-6 * (reach * reach)
            || (low.x - widen <= x
                && x <= high.x + widen
                && low.y - widen <= z
                && z <= high.y + widen)
    }
}

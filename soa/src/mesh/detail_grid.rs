//! Lookup grids over the detail triangles of large polygons: a point finds the few triangles that
//! can hold it without walking all of them.
//!
//! Each polygon with at least [`MIN_TRIANGLES`] triangles that is not level gets `d × d` cells over the box of its
//! detail, `d` from 2 to 32. A cell lists, in triangle order, every triangle whose widened box
//! touches the widened cell, and every ill-shaped triangle, whose tolerance can reach farther than
//! any box. So the first listed triangle that holds a point is the first of all that hold it.

use super::data::TileData;
use crate::world::DVec3;
use std::ops::Range;

/// Polygons with fewer detail triangles are scanned.
const MIN_TRIANGLES: u16 = 12;

/// A grid that lists its polygon's triangles more often than this, each, is dropped: it would save
/// nothing, and the listings of hostile tiles would outgrow the tile by orders of magnitude.
const MOST_LISTINGS: usize = 32;

const NO_GRID: u32 = u32::MAX;

/// Most cells along a side.
const MAX_SIDE: u32 = 32;

/// A triangle in the world.
type Corners = [DVec3; 3];

/// The cells that list a triangle.
struct CellSpan {
    columns: Range<u32>,
    rows: Range<u32>,
}

impl CellSpan {
    fn cells(&self) -> usize {
        self.columns.len() * self.rows.len()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Grid {
    min_x: f64,
    min_z: f64,
    cell_x: f64,
    cell_z: f64,
    side: u32,
    first_cell: u32,
}

impl Grid {
    fn span_of(&self, [a, b, c]: &Corners) -> CellSpan {
        let low = a.min(*b).min(*c);
        let high = a.max(*b).max(*c);
        let reach = (high.x - low.x).max(high.z - low.z);
        let widen = 1e-6 * reach + 1e-9;
        let twice_area = ((b.x - a.x) * (c.z - a.z) - (b.z - a.z) * (c.x - a.x)).abs();
        let ill_shaped = twice_area < 1e-6 * (reach * reach);
        if ill_shaped {
            let all = 0..self.side;
            return CellSpan {
                columns: all.clone(),
                rows: all,
            };
        }
        CellSpan {
            columns: self.touched(self.min_x, self.cell_x, low.x - widen, high.x + widen),
            rows: self.touched(self.min_z, self.cell_z, low.z - widen, high.z + widen),
        }
    }

    /// The cells along an axis whose widened extent meets `low..=high`.
    fn touched(&self, min: f64, size: f64, low: f64, high: f64) -> Range<u32> {
        let cell_low = |cell: u32| min + f64::from(cell) * size - 1e-6 * size;
        let meets =
            |cell: u32| low <= cell_low(cell) + size * (1.0 + 2e-6) && high >= cell_low(cell);
        // Where division puts them, give or take a cell; without an extent a NaN makes it all cells.
        let last = f64::from(self.side);
        let (from, to) = (
            ((low - min) / size).floor() - 1.0,
            ((high - min) / size).floor() + 2.0,
        );
        let from = if from > 0.0 { from.min(last) as u32 } else { 0 };
        let to = if to < last {
            to.max(0.0) as u32
        } else {
            self.side
        };
        let first = (from..to).find(|&cell| meets(cell)).unwrap_or(to);
        let end = (first..to)
            .rev()
            .find(|&cell| meets(cell))
            .map_or(first, |cell| cell + 1);
        first..end
    }
}

/// The grids of one tile. World coordinates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DetailGrids {
    poly_grid: Vec<u32>,
    grids: Vec<Grid>,
    cell_first: Vec<u32>,
    triangles: Vec<u16>,
}

impl DetailGrids {
    /// Builds the grids of a validated tile. `is_level(poly)` says which polygons need none;
    /// `corner(poly, triangle, k)` gives the world position of a triangle's corner.
    pub(super) fn build(
        data: &TileData,
        is_level: impl Fn(usize) -> bool,
        corner: impl Fn(usize, usize, usize) -> DVec3,
    ) -> Self {
        let mut grids = Self::default();
        if data
            .detail_meshes
            .iter()
            .all(|mesh| mesh.triangle_count < MIN_TRIANGLES)
        {
            return grids;
        }
        // Builders give every polygon triangles of its own. Where ranges overlap (the format lets
        // them) the work would not be bounded by the tile's size, so those tiles are scanned.
        let ranges = data.detail_meshes.iter();
        let listed: usize = ranges.map(|mesh| usize::from(mesh.triangle_count)).sum();
        if listed > data.detail_triangles.len() {
            return grids;
        }
        grids.poly_grid = vec![NO_GRID; data.detail_meshes.len()];
        let (mut triangles, mut spans) = (Vec::new(), Vec::new());
        for (poly, mesh) in data.detail_meshes.iter().enumerate() {
            if mesh.triangle_count >= MIN_TRIANGLES && !is_level(poly) {
                triangles.clear();
                triangles.extend((0..usize::from(mesh.triangle_count)).map(|t| {
                    let corners: Corners =
                        [corner(poly, t, 0), corner(poly, t, 1), corner(poly, t, 2)];
                    corners
                }));
                grids.add(poly, &triangles, &mut spans);
            }
        }
        grids
    }

    fn add(&mut self, poly: usize, triangles: &[Corners], spans: &mut Vec<CellSpan>) {
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for point in triangles.iter().flatten() {
            low = low.min(*point);
            high = high.max(*point);
        }
        let side = ((triangles.len() as f64 / 2.0).sqrt().floor() as u32).clamp(2, MAX_SIDE);
        let grid = Grid {
            min_x: low.x,
            min_z: low.z,
            cell_x: (high.x - low.x) / f64::from(side),
            cell_z: (high.z - low.z) / f64::from(side),
            side,
            first_cell: self.cell_first.len() as u32,
        };
        spans.clear();
        spans.extend(triangles.iter().map(|triangle| grid.span_of(triangle)));
        let listings: usize = spans.iter().map(CellSpan::cells).sum();
        if listings > MOST_LISTINGS * triangles.len() {
            return;
        }
        self.list(&grid, spans, listings);
        self.poly_grid[poly] = self.grids.len() as u32;
        self.grids.push(grid);
    }

    /// Appends the cells of a grid: counted, then filled in triangle order.
    fn list(&mut self, grid: &Grid, spans: &[CellSpan], listings: usize) {
        let mut next = [0_u32; (MAX_SIDE * MAX_SIDE) as usize];
        let cells_of = |span: &CellSpan| {
            let (columns, side) = (span.columns.clone(), grid.side);
            span.rows.clone().flat_map(move |row| {
                columns
                    .clone()
                    .map(move |column| (row * side + column) as usize)
            })
        };
        for cell in spans.iter().flat_map(cells_of) {
            next[cell] += 1;
        }
        let first = self.triangles.len();
        let mut end = first as u32;
        for count in &mut next[..(grid.side * grid.side) as usize] {
            self.cell_first.push(end);
            end += std::mem::replace(count, end);
        }
        self.cell_first.push(end);
        self.triangles.resize(first + listings, 0);
        for (triangle, span) in spans.iter().enumerate() {
            for cell in cells_of(span) {
                self.triangles[next[cell] as usize] = triangle as u16;
                next[cell] += 1;
            }
        }
    }

    /// The triangles of `poly` that can hold the world point (x, z), in triangle order; `None`
    /// when the polygon has no grid and all its triangles must be looked at.
    #[inline]
    #[must_use]
    pub fn candidates(&self, poly: usize, x: f64, z: f64) -> Option<&[u16]> {
        let grid = self.grids.get(*self.poly_grid.get(poly)? as usize)?;
        let cell = |value: f64, min: f64, size: f64| {
            // A NaN quotient (a box without extent) becomes cell 0.
            (((value - min) / size).floor() as i64).clamp(0, i64::from(grid.side) - 1) as u32
        };
        let column = cell(x, grid.min_x, grid.cell_x);
        let row = cell(z, grid.min_z, grid.cell_z);
        let at = (grid.first_cell + row * grid.side + column) as usize;
        let (first, end) = (*self.cell_first.get(at)?, *self.cell_first.get(at + 1)?);
        self.triangles.get(first as usize..end as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SplitMix64;

    #[test]
    fn a_cell_lists_the_triangles_whose_widened_box_meets_it_and_the_ill_shaped() {
        let mut rng = SplitMix64::new(5);
        for round in 0..200 {
            let flat = round % 10 == 0;
            let mut at = |size: f64| rng.range(-size, size);
            let triangles: Vec<Corners> = (0..12 + round)
                .map(|t| {
                    let size = [0.1, 2.0, 30.0][t % 3];
                    let (x, z) = (at(50.0), at(50.0));
                    let mut corner = || {
                        let z = if flat { 0.0 } else { z + at(size) };
                        DVec3::new(x + at(size), at(1.0), z)
                    };
                    let (a, b) = (corner(), corner());
                    // Some without an area.
                    let c = if t % 7 == 0 { (a + b) * 0.5 } else { corner() };
                    [a, b, c]
                })
                .collect();
            let mut grids = DetailGrids {
                poly_grid: vec![NO_GRID],
                ..DetailGrids::default()
            };
            grids.add(0, &triangles, &mut Vec::new());
            let Some(grid) = grids.grids.first() else {
                continue;
            };
            for row in 0..grid.side {
                for column in 0..grid.side {
                    let place = (row * grid.side + column) as usize;
                    let (first, end) = (grids.cell_first[place], grids.cell_first[place + 1]);
                    let listed = &grids.triangles[first as usize..end as usize];
                    let expected = (0..triangles.len() as u16)
                        .filter(|&t| meets_plainly(grid, &triangles[usize::from(t)], column, row));
                    assert!(listed.iter().copied().eq(expected));
                }
            }
        }
    }

    fn meets_plainly(grid: &Grid, [a, b, c]: &Corners, column: u32, row: u32) -> bool {
        let (low, high) = (a.min(*b).min(*c), a.max(*b).max(*c));
        let reach = (high.x - low.x).max(high.z - low.z);
        let widen = 1e-6 * reach + 1e-9;
        let twice_area = ((b.x - a.x) * (c.z - a.z) - (b.z - a.z) * (c.x - a.x)).abs();
        let cell_x = grid.min_x + f64::from(column) * grid.cell_x - 1e-6 * grid.cell_x;
        let cell_z = grid.min_z + f64::from(row) * grid.cell_z - 1e-6 * grid.cell_z;
        twice_area < 1e-6 * (reach * reach)
            || (low.x - widen <= cell_x + grid.cell_x * (1.0 + 2e-6)
                && high.x + widen >= cell_x
                && low.z - widen <= cell_z + grid.cell_z * (1.0 + 2e-6)
                && high.z + widen >= cell_z)
    }
}

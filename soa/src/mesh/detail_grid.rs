//! Lookup grids over the detail triangles of large polygons: a point finds the few triangles that
//! can hold it without walking all of them.
//!
//! Each polygon with at least [`MIN_TRIANGLES`] triangles that is not level gets `d × d` cells over the
//! box of its detail, `d` from 2 to 32. A cell lists, in triangle order, every triangle whose widened box
//! has a point of that cell, and every ill-shaped triangle, whose tolerance can reach farther than any
//! box. So the first listed triangle that holds a point is the first of all that hold it.

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

/// What one polygon's grid is made with, for the next.
#[derive(Default)]
struct Scratch {
    spans: Vec<CellSpan>,
    /// Place of each cell's next listing.
    next: Vec<u32>,
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
        let cells = |min: f64, size: f64, low: f64, high: f64| {
            let (first, last) = (self.cell(low, min, size), self.cell(high, min, size));
            first..last + 1
        };
        CellSpan {
            columns: cells(self.min_x, self.cell_x, low.x - widen, high.x + widen),
            rows: cells(self.min_z, self.cell_z, low.z - widen, high.z + widen),
        }
    }

    /// The cell of a coordinate along an axis. Rounding never turns an order round: a point inside a
    /// box gets a cell between those of the box's ends, whatever the numbers.
    #[inline]
    fn cell(&self, value: f64, min: f64, size: f64) -> u32 {
        // Below the first is the first; so is the NaN of a box without extent.
        (((value - min) / size) as u32).min(self.side - 1)
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
        let (mut triangles, mut scratch) = (Vec::new(), Scratch::default());
        for (poly, mesh) in data.detail_meshes.iter().enumerate() {
            if mesh.triangle_count >= MIN_TRIANGLES && !is_level(poly) {
                triangles.clear();
                triangles.extend((0..usize::from(mesh.triangle_count)).map(|t| {
                    let corners: Corners =
                        [corner(poly, t, 0), corner(poly, t, 1), corner(poly, t, 2)];
                    corners
                }));
                grids.add(poly, &triangles, &mut scratch);
            }
        }
        grids
    }

    fn add(&mut self, poly: usize, triangles: &[Corners], scratch: &mut Scratch) {
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
        let spans = &mut scratch.spans;
        spans.clear();
        spans.extend(triangles.iter().map(|triangle| grid.span_of(triangle)));
        let listings: usize = spans.iter().map(CellSpan::cells).sum();
        // Places in the listings are 32 bits.
        let all = self.triangles.len() + listings;
        if listings > MOST_LISTINGS * triangles.len() || all > u32::MAX as usize {
            return;
        }
        self.list(&grid, scratch, listings);
        self.poly_grid[poly] = self.grids.len() as u32;
        self.grids.push(grid);
    }

    /// Appends the cells of a grid: counted, then filled in triangle order.
    fn list(&mut self, grid: &Grid, Scratch { spans, next }: &mut Scratch, listings: usize) {
        next.clear();
        next.resize((grid.side * grid.side) as usize, 0);
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
        for count in &mut *next {
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
        let column = grid.cell(x, grid.min_x, grid.cell_x);
        let row = grid.cell(z, grid.min_z, grid.cell_z);
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
    fn a_point_finds_every_triangle_whose_widened_box_holds_it_and_the_ill_shaped() {
        let mut rng = SplitMix64::new(5);
        let mut listed = 0;
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
            grids.add(0, &triangles, &mut Scratch::default());
            let corners: Vec<DVec3> = triangles.iter().flatten().copied().collect();
            for i in 0..400 {
                let corner = corners[i % corners.len()];
                let (x, z) = if i % 3 == 0 {
                    (corner.x, corner.z)
                } else {
                    (at(60.0), at(60.0))
                };
                let Some(candidates) = grids.candidates(0, x, z) else {
                    continue;
                };
                listed += candidates.len();
                assert!(candidates.windows(2).all(|pair| pair[0] < pair[1]));
                for (t, triangle) in triangles.iter().enumerate() {
                    if can_hold(triangle, x, z) {
                        assert!(candidates.contains(&(t as u16)));
                    }
                }
            }
        }
        assert!(listed > 100_000, "{listed}");
    }

    fn can_hold([a, b, c]: &Corners, x: f64, z: f64) -> bool {
        let (low, high) = (a.min(*b).min(*c), a.max(*b).max(*c));
        let reach = (high.x - low.x).max(high.z - low.z);
        let widen = 1e-6 * reach + 1e-9;
        let twice_area = ((b.x - a.x) * (c.z - a.z) - (b.z - a.z) * (c.x - a.x)).abs();
        twice_area < 1e-6 * (reach * reach)
            || (low.x - widen <= x
                && x <= high.x + widen
                && low.z - widen <= z
                && z <= high.z + widen)
    }
}

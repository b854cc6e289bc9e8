//! Lookup grids over the detail triangles of large polygons: a point finds the few triangles that
//! can hold it without walking all of them.
//!
//! Each polygon with at least [`MIN_TRIANGLES`] triangles that is not level gets `d × d` cells over the box of its
//! detail, `d` from 2 to 32. A cell lists, in triangle order, every triangle whose widened box
//! touches the widened cell, and every ill-shaped triangle, whose tolerance can reach farther than
//! any box. So the first listed triangle that holds a point is the first of all that hold it.

use super::data::TileData;
use crate::world::DVec3;

/// Polygons with fewer detail triangles are scanned.
const MIN_TRIANGLES: u16 = 12;

/// A grid that lists its polygon's triangles more often than this, each, is dropped: it would save
/// nothing, and the listings of hostile tiles would outgrow the tile by orders of magnitude.
const MOST_LISTINGS: usize = 32;

const NO_GRID: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Grid {
    min_x: f64,
    min_z: f64,
    cell_x: f64,
    cell_z: f64,
    side: u32,
    first_cell: u32,
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
        for (poly, mesh) in data.detail_meshes.iter().enumerate() {
            if mesh.triangle_count >= MIN_TRIANGLES && !is_level(poly) {
                let triangles = (0..usize::from(mesh.triangle_count))
                    .map(|t| [corner(poly, t, 0), corner(poly, t, 1), corner(poly, t, 2)])
                    .collect::<Vec<_>>();
                grids.add(poly, &triangles);
            }
        }
        grids
    }

    fn add(&mut self, poly: usize, triangles: &[[DVec3; 3]]) {
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for point in triangles.iter().flatten() {
            low = low.min(*point);
            high = high.max(*point);
        }
        let side = ((triangles.len() as f64 / 2.0).sqrt().floor() as u32).clamp(2, 32);
        let grid = Grid {
            min_x: low.x,
            min_z: low.z,
            cell_x: (high.x - low.x) / f64::from(side),
            cell_z: (high.z - low.z) / f64::from(side),
            side,
            first_cell: self.cell_first.len() as u32,
        };
        let (first_cell, first_listing) = (self.cell_first.len(), self.triangles.len());
        for row in 0..side {
            for column in 0..side {
                if self.triangles.len() - first_listing > MOST_LISTINGS * triangles.len() {
                    self.cell_first.truncate(first_cell);
                    self.triangles.truncate(first_listing);
                    return;
                }
                self.cell_first.push(self.triangles.len() as u32);
                let cell_low_x = grid.min_x + f64::from(column) * grid.cell_x - 1e-6 * grid.cell_x;
                let cell_low_z = grid.min_z + f64::from(row) * grid.cell_z - 1e-6 * grid.cell_z;
                let cell_high_x = cell_low_x + grid.cell_x * (1.0 + 2e-6);
                let cell_high_z = cell_low_z + grid.cell_z * (1.0 + 2e-6);
                for (index, [a, b, c]) in triangles.iter().enumerate() {
                    let low = a.min(*b).min(*c);
                    let high = a.max(*b).max(*c);
                    let reach = (high.x - low.x).max(high.z - low.z);
                    let widen = 1e-6 * reach + 1e-9;
                    let twice_area = ((b.x - a.x) * (c.z - a.z) - (b.z - a.z) * (c.x - a.x)).abs();
                    let ill_shaped = twice_area < 1e-6 * (reach * reach);
                    let touches = low.x - widen <= cell_high_x
                        && high.x + widen >= cell_low_x
                        && low.z - widen <= cell_high_z
                        && high.z + widen >= cell_low_z;
                    if ill_shaped || touches {
                        self.triangles.push(index as u16);
                    }
                }
            }
        }
        self.cell_first.push(self.triangles.len() as u32);
        self.poly_grid[poly] = self.grids.len() as u32;
        self.grids.push(grid);
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

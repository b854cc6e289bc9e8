//! The grid's place in the world: origin, cell sizes and dimensions.
//!
//! In: world bounds or explicit dimensions. Out: a checked [`HeightfieldFrame`]. Everything after
//! this works in cells and rows; only the frame knows what they measure.

use throng_soa::error::ArgumentError;
use throng_soa::world::{COORDINATE_LIMIT, DVec3, check_coordinate, check_point};

/// Smallest cell size and cell height (2^-20 units).
pub const MIN_CELL_SIZE: f32 = 1.0 / 1_048_576.0;
/// Largest cell size and cell height (2^20 units).
pub const MAX_CELL_SIZE: f32 = 1_048_576.0;
/// Most cells along x and along z.
pub const MAX_CELLS_PER_SIDE: u32 = 65_536;
/// Most columns of one grid (2^24).
pub const MAX_COLUMNS: u64 = 1 << 24;
/// Most rows.
pub const MAX_ROWS: u32 = 65_535;

/// Where a grid of cells stands in the world and how large it is.
///
/// Cell `(x, z)` covers `origin.x + x * cell_size` to one cell further, likewise in z; row `y`
/// starts `y * cell_height` above the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeightfieldFrame {
    /// World position of the minimum corner.
    pub origin: DVec3,
    /// Side of a cell in x and z, in units; 2^-20 to 2^20.
    pub cell_size: f32,
    /// Height of a row, in units; 2^-20 to 2^20.
    pub cell_height: f32,
    /// Cells along x, at least 1.
    pub width: u32,
    /// Cells along z, at least 1.
    pub depth: u32,
    /// Rows, at least 1.
    pub rows: u32,
}

impl HeightfieldFrame {
    /// A frame that covers the box from `min` to `max` with cells of the given sizes.
    ///
    /// # Errors
    /// When a corner is not a world coordinate, the box is empty or inverted, a size is out of
    /// range, or the grid would be larger than the limits of this module.
    pub fn from_bounds(
        min: DVec3,
        max: DVec3,
        cell_size: f32,
        cell_height: f32,
    ) -> Result<Self, ArgumentError> {
        check_point("min", min)?;
        check_point("max", max)?;
        check_size("cell_size", cell_size)?;
        check_size("cell_height", cell_height)?;
        for (name, low, high) in [
            ("max.x", min.x, max.x),
            ("max.y", min.y, max.y),
            ("max.z", min.z, max.z),
        ] {
            if high <= low {
                return Err(ArgumentError::new(
                    name,
                    high,
                    format!("greater than the minimum {low}"),
                ));
            }
        }
        // A quotient can be as large as 2^42; the cast saturates and the limits below refuse it.
        let frame = Self {
            origin: min,
            cell_size,
            cell_height,
            width: ((max.x - min.x) / f64::from(cell_size)).ceil() as u32,
            depth: ((max.z - min.z) / f64::from(cell_size)).ceil() as u32,
            rows: ((max.y - min.y) / f64::from(cell_height)).ceil() as u32,
        };
        frame.validate()?;
        Ok(frame)
    }

    /// Checks sizes, dimensions and origin against the limits of this module.
    ///
    /// # Errors
    /// Names the first field out of range.
    pub fn validate(&self) -> Result<(), ArgumentError> {
        check_point("origin", self.origin)?;
        self.validate_grid()
    }

    /// As [`validate`](Self::validate), for a grid that may begin outside the world along x and z
    /// as long as it reaches into it: that of a tile at the world's edge, whose border sticks out.
    ///
    /// # Errors
    /// Names the first field out of range.
    pub fn validate_grid(&self) -> Result<(), ArgumentError> {
        check_coordinate("origin.y", self.origin.y)?;
        check_size("cell_size", self.cell_size)?;
        check_size("cell_height", self.cell_height)?;
        for (name, low, cells) in [
            ("origin.x", self.origin.x, self.width),
            ("origin.z", self.origin.z, self.depth),
        ] {
            let high = low + f64::from(cells) * f64::from(self.cell_size);
            if !(low < COORDINATE_LIMIT && high > -COORDINATE_LIMIT) {
                let allowed = "where the grid reaches into the world, inside ±2097152 (2^21)";
                return Err(ArgumentError::new(name, low, allowed));
            }
        }
        for (name, value, limit) in [
            ("width", self.width, MAX_CELLS_PER_SIDE),
            ("depth", self.depth, MAX_CELLS_PER_SIDE),
            ("rows", self.rows, MAX_ROWS),
        ] {
            if value == 0 || value > limit {
                return Err(ArgumentError::new(name, value, format!("1 to {limit}")));
            }
        }
        let columns = u64::from(self.width) * u64::from(self.depth);
        if columns > MAX_COLUMNS {
            return Err(ArgumentError::new(
                "width * depth",
                columns,
                format!("at most {MAX_COLUMNS} columns"),
            ));
        }
        Ok(())
    }

    /// Columns of the grid.
    #[inline]
    #[must_use]
    pub fn column_count(&self) -> usize {
        self.width as usize * self.depth as usize
    }

    /// Index of column `(x, z)`.
    #[inline]
    #[must_use]
    pub fn column(&self, x: u32, z: u32) -> usize {
        x as usize + z as usize * self.width as usize
    }

    /// A world position relative to the origin, rounded once to `f32`.
    #[inline]
    #[must_use]
    pub fn to_local(&self, point: DVec3) -> [f32; 3] {
        [
            (point.x - self.origin.x) as f32,
            (point.y - self.origin.y) as f32,
            (point.z - self.origin.z) as f32,
        ]
    }

    /// A local position in cells, rows and cells.
    #[inline]
    #[must_use]
    pub fn to_cells(&self, local: [f32; 3]) -> [f32; 3] {
        [
            local[0] / self.cell_size,
            local[1] / self.cell_height,
            local[2] / self.cell_size,
        ]
    }
}

fn check_size(name: &str, value: f32) -> Result<(), ArgumentError> {
    if (MIN_CELL_SIZE..=MAX_CELL_SIZE).contains(&value) {
        Ok(())
    } else {
        Err(ArgumentError::new(name, value, "between 2^-20 and 2^20"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_round_up_to_whole_cells_in_double() {
        let frame =
            HeightfieldFrame::from_bounds(DVec3::ZERO, DVec3::new(1.0, 2.0, 3.01), 0.5, 0.25)
                .unwrap();
        assert_eq!((frame.width, frame.rows, frame.depth), (2, 8, 7));
        // 0.3f32 is a little above 0.3, so 3 units are just below 10 cells and round up to 10.
        let frame =
            HeightfieldFrame::from_bounds(DVec3::ZERO, DVec3::splat(3.0), 0.3, 0.3).unwrap();
        assert_eq!(frame.width, 10);
    }

    #[test]
    fn a_grid_may_stick_out_of_the_world_and_not_lie_outside() {
        let at = |x: f64, z: f64| HeightfieldFrame {
            origin: DVec3::new(x, 0.0, z),
            cell_size: 0.5,
            cell_height: 0.25,
            width: 8,
            depth: 4,
            rows: 10,
        };
        let limit = COORDINATE_LIMIT;
        assert!(at(1.5 - limit, limit - 0.5).validate().is_ok());
        for (x, z) in [(-limit, 0.0), (-limit - 3.5, 0.0), (0.0, -limit - 1.5)] {
            assert!(at(x, z).validate_grid().is_ok());
            assert!(at(x, z).validate().is_err());
        }
        for (name, x, z) in [
            ("origin.x", -limit - 4.0, 0.0),
            ("origin.x", limit, 0.0),
            ("origin.x", f64::NAN, 0.0),
            ("origin.x", f64::NEG_INFINITY, 0.0),
            ("origin.z", 0.0, -limit - 2.0),
            ("origin.z", 0.0, f64::INFINITY),
        ] {
            assert_eq!(at(x, z).validate_grid().unwrap_err().argument, name);
        }
    }

    #[test]
    fn limits_and_bad_bounds_are_named() {
        let argument = |min: DVec3, max: DVec3, size: f32, height: f32| {
            HeightfieldFrame::from_bounds(min, max, size, height)
                .unwrap_err()
                .argument
        };
        let one = DVec3::ONE;
        assert_eq!(argument(DVec3::ZERO, one, 0.0, 1.0), "cell_size");
        assert_eq!(argument(DVec3::ZERO, one, f32::NAN, 1.0), "cell_size");
        assert_eq!(argument(DVec3::ZERO, one, 1.0, 3e6), "cell_height");
        assert_eq!(argument(one, one, 1.0, 1.0), "max.x");
        assert_eq!(argument(one, DVec3::new(2.0, 0.5, 2.0), 1.0, 1.0), "max.y");
        assert_eq!(
            argument(DVec3::new(0.0, f64::NAN, 0.0), one, 1.0, 1.0),
            "min.y"
        );
        assert_eq!(
            argument(DVec3::ZERO, DVec3::new(1.0, 1.0, 2_097_152.0), 1.0, 1.0),
            "max.z"
        );
        let wide = DVec3::new(65_537.0, 1.0, 1.0);
        assert_eq!(argument(DVec3::ZERO, wide, 1.0, 1.0), "width");
        let tall = DVec3::new(1.0, 65_536.0, 1.0);
        assert_eq!(argument(DVec3::ZERO, tall, 1.0, 1.0), "rows");
        let large = DVec3::new(8192.0, 1.0, 2049.0);
        assert_eq!(argument(DVec3::ZERO, large, 1.0, 1.0), "width * depth");
        assert!(
            HeightfieldFrame::from_bounds(
                DVec3::ZERO,
                DVec3::new(65_536.0, 65_535.0, 256.0),
                1.0,
                1.0
            )
            .is_ok()
        );
    }
}

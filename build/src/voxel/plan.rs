//! Settings in world units turned into cells and rows, once per build.

use throng_soa::ArgumentError;
use throng_soa::mesh::MeshParams;
use throng_soa::world::{COORDINATE_LIMIT, DVec3, is_coordinate};

use super::contours::ContourSettings;
use super::coordinates::TileCoordinates;
use super::detail::DetailSettings;
use super::frame::{HeightfieldFrame, MAX_COLUMNS, MAX_ROWS};
use super::regions::RegionSettings;
use super::spans::SpanSettings;
use crate::settings::{NavSettings, PartitionType, cosine_of_degrees};

/// Cells the border adds to the agent's radius, so that erosion, corner heights and region
/// borders inside a tile see everything that shapes them.
const BORDER_MARGIN: i32 = 3;

/// Everything a tile's stages need, in the units they need it.
#[derive(Clone, Debug)]
pub struct TilePlan {
    /// The parameters of the mesh.
    pub params: MeshParams,
    /// Cells along a tile.
    pub tile_cells: u32,
    /// Cells added on each side.
    pub border: u32,
    /// Width of a cell, at most the configured size: cells divide the tile exactly.
    pub cell_size: f64,
    /// Height of a row.
    pub cell_height: f64,
    /// Agent sizes for the span stage.
    pub spans: SpanSettings,
    /// Region sizes.
    pub regions: RegionSettings,
    /// How regions are made.
    pub partition: PartitionType,
    /// How outlines are simplified; `border_region` is set per tile.
    pub contours: ContourSettings,
    /// Height detail.
    pub detail: DetailSettings,
    /// Most corners of a polygon.
    pub max_vertices: usize,
    /// Area id that stands for ordinary walkable ground.
    pub area: u8,
    /// Flags of every polygon.
    pub flags: u16,
    /// Stored positions of grid corners.
    pub coordinates: TileCoordinates,
}

impl TilePlan {
    /// Derives the plan.
    ///
    /// # Errors
    /// A setting is out of range, or a tile with its border would have more than 2^24 cells.
    pub fn new(settings: &NavSettings) -> Result<Self, ArgumentError> {
        let params = settings.to_params()?;
        let tile_cells = (settings.tile_size / settings.cell_size - 1e-4)
            .ceil()
            .max(1.0) as u32;
        let cell_size = settings.tile_size / f64::from(tile_cells);
        // Agent sizes are counted in the nominal cells, in float32.
        let nominal_size = settings.cell_size as f32;
        let nominal_height = settings.cell_height as f32;
        let walkable_climb = (params.walkable_climb / nominal_height).floor() as i32;
        let spans = SpanSettings {
            slope_cosine: cosine_of_degrees(settings.agent_max_slope_degrees),
            walkable_height: ((params.agent_height / nominal_height).ceil() as i32).max(1),
            walkable_climb,
            walkable_radius: (params.agent_radius / nominal_size).ceil() as i32,
            merge_threshold: walkable_climb,
        };
        spans.validate().map_err(in_settings_terms)?;
        let border = (spans.walkable_radius + BORDER_MARGIN) as u32;
        let side = u64::from(tile_cells) + 2 * u64::from(border);
        if side * side > MAX_COLUMNS {
            return Err(ArgumentError::new(
                "tile_size",
                settings.tile_size,
                format!(
                    "small enough that a tile with its border of {border} cells has at most 4096 cells a side"
                ),
            ));
        }
        Ok(Self {
            tile_cells,
            border,
            cell_size,
            cell_height: settings.cell_height,
            spans,
            regions: RegionSettings {
                min_region_area: settings.min_region_area.max(0) as u32,
                merge_region_area: settings.merge_region_area.max(0) as u32,
            },
            partition: settings.partition,
            contours: ContourSettings {
                max_error: settings.contour_max_error as f32,
                max_edge_length: (settings.max_edge_length / settings.cell_size + 0.5) as i32,
                straight_region_borders: true,
                border_region: 0,
            },
            detail: DetailSettings {
                sample_distance: settings.detail_sample_distance / cell_size,
                max_error: settings.detail_max_error,
                cell_height: settings.cell_height,
                walkable_climb,
            },
            max_vertices: usize::from(params.max_verts_per_poly),
            area: settings.area,
            flags: settings.flags,
            coordinates: TileCoordinates::new(tile_cells, border, cell_size, settings.tile_size),
            params,
        })
    }

    /// Cells along the grid a tile is built on, border included.
    #[must_use]
    pub fn grid_cells(&self) -> u32 {
        self.tile_cells + 2 * self.border
    }

    /// The grid of a tile whose triangles reach from `min_y` to `max_y`.
    ///
    /// # Errors
    /// The triangles are too far apart in height for 65535 rows, or the tile's low corner is not
    /// strictly inside the coordinate bound.
    pub fn frame(
        &self,
        tile_x: i32,
        tile_z: i32,
        min_y: f64,
        max_y: f64,
    ) -> Result<HeightfieldFrame, ArgumentError> {
        let base = (min_y - self.cell_height).max(-COORDINATE_LIMIT + 1.0);
        let rows = ((max_y - base) / self.cell_height).ceil()
            + f64::from(self.spans.walkable_height)
            + 2.0;
        if rows > f64::from(MAX_ROWS) {
            return Err(ArgumentError::new(
                format!("height of tile ({tile_x}, {tile_z})"),
                format!("{rows} rows"),
                format!("at most {MAX_ROWS} rows; a larger cell_height needs fewer"),
            ));
        }
        self.frame_of_rows(tile_x, tile_z, base, rows as u32)
    }

    /// The grid of a tile with `rows` rows from height `base_y` up. Its border may stick out of the
    /// world.
    ///
    /// # Errors
    /// The tile's low corner is not strictly inside the coordinate bound, or the grid has no row or
    /// too many.
    pub fn frame_of_rows(
        &self,
        tile_x: i32,
        tile_z: i32,
        base_y: f64,
        rows: u32,
    ) -> Result<HeightfieldFrame, ArgumentError> {
        for (axis, low) in [
            ("x", self.params.tile_origin_x(tile_x)),
            ("z", self.params.tile_origin_z(tile_z)),
        ] {
            if !is_coordinate(low) {
                return Err(ArgumentError::new(
                    format!("low {axis} of tile ({tile_x}, {tile_z})"),
                    low,
                    format!(
                        "strictly inside ±2097152 (2^21); another origin_{axis} or tile_size lets \
                         the tiles of this ground begin inside"
                    ),
                ));
            }
        }
        let frame = HeightfieldFrame {
            origin: DVec3::new(self.grid_low_x(tile_x), base_y, self.grid_low_z(tile_z)),
            cell_size: self.cell_size as f32,
            cell_height: self.cell_height as f32,
            width: self.grid_cells(),
            depth: self.grid_cells(),
            rows,
        };
        frame.validate_grid()?;
        Ok(frame)
    }

    /// World x of the low edge of the grids of tile column `tile_x`, border included.
    #[must_use]
    pub fn grid_low_x(&self, tile_x: i32) -> f64 {
        self.params.tile_origin_x(tile_x) - self.margin()
    }

    /// World z of the low edge of the grids of tile row `tile_z`, border included.
    #[must_use]
    pub fn grid_low_z(&self, tile_z: i32) -> f64 {
        self.params.tile_origin_z(tile_z) - self.margin()
    }

    /// Width of the border, in units.
    fn margin(&self) -> f64 {
        f64::from(self.border) * self.cell_size
    }
}

/// Renames a span setting to the build setting it comes from.
fn in_settings_terms(error: ArgumentError) -> ArgumentError {
    let (argument, unit) = match error.argument.as_str() {
        "walkable_height" => ("agent_height", "rows of cell_height"),
        "walkable_climb" | "merge_threshold" => ("walkable_climb", "rows of cell_height"),
        "walkable_radius" => ("agent_radius", "cells of cell_size"),
        _ => return error,
    };
    ArgumentError {
        argument: argument.to_owned(),
        value: format!("{} {unit}", error.value),
        allowed: format!("{} {unit}", error.allowed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_humanoid_counts_as_the_field_expects() {
        let plan = TilePlan::new(&NavSettings::HUMANOID).unwrap();
        assert_eq!((plan.tile_cells, plan.border), (214, 5));
        assert_eq!(plan.cell_size, 64.0 / 214.0);
        assert_eq!(plan.spans, SpanSettings::HUMANOID);
        assert_eq!(plan.contours.max_edge_length, 12);
        assert!(plan.detail.samples());
    }

    #[test]
    fn cells_that_divide_the_tile_up_to_rounding_are_kept() {
        let settings = NavSettings {
            cell_size: 0.1,
            tile_size: 32.0,
            ..NavSettings::HUMANOID
        };
        assert_eq!(TilePlan::new(&settings).unwrap().tile_cells, 320);
    }

    #[test]
    fn limits_name_the_setting() {
        let wide = NavSettings {
            tile_size: 2000.0,
            ..NavSettings::HUMANOID
        };
        assert_eq!(TilePlan::new(&wide).unwrap_err().argument, "tile_size");
        let tall = NavSettings {
            agent_height: 20_000.0,
            ..NavSettings::HUMANOID
        };
        assert_eq!(TilePlan::new(&tall).unwrap_err().argument, "agent_height");
        let plan = TilePlan::new(&NavSettings::HUMANOID).unwrap();
        assert!(plan.frame(0, 0, 0.0, 4000.0).is_ok());
        assert!(plan.frame(0, 0, 0.0, 14_000.0).is_err());
    }
}

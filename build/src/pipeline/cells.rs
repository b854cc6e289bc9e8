//! Voxels and solid heightfields as sources of tiles.
//!
//! In: columns of spans whose cells are the build's own. Out: per tile, the columns under its grid,
//! border included, as solid spans, then eroded. Nothing is rasterized.

use throng_soa::ArgumentError;
use throng_soa::spans::{MAX_COLUMN_SPANS, MAX_SPANS, NULL_AREA, SolidSpans, WALKABLE_AREA};
use throng_soa::world::check_coordinate;

use super::driver::{TileRange, TileSource};
use super::{BuildError, MAX_TILES};
use crate::input::chunk::VoxelChunk;
use crate::input::heightfield::SolidHeightfield;
use crate::voxel::frame::{HeightfieldFrame, MAX_ROWS};
use crate::voxel::plan::TilePlan;
use crate::voxel::tile::{Worker, voxelize_columns};

/// A voxel chunk laid on the tile grid of a plan.
#[derive(Debug)]
pub struct ChunkSource<'a> {
    chunk: &'a VoxelChunk,
    material_areas: Option<&'a [u8; 256]>,
    place: CellPlace,
}

impl<'a> ChunkSource<'a> {
    /// Lays the chunk's first column on the settings' origin and its first row on height 0.
    ///
    /// # Errors
    /// An area id is above 63, the rows are too many for a tile, or the chunk covers more than 2^20
    /// tiles or leaves the coordinate bound.
    pub fn new(
        plan: &TilePlan,
        chunk: &'a VoxelChunk,
        material_areas: Option<&'a [u8; 256]>,
    ) -> Result<Self, ArgumentError> {
        if let Some(areas) = material_areas {
            if let Some(material) = areas.iter().position(|&area| area > WALKABLE_AREA) {
                let name = format!("material_areas[{material}]");
                return Err(ArgumentError::new(name, areas[material], "0 to 63"));
            }
        }
        let [width, rows, depth] = chunk.size();
        Ok(Self {
            chunk,
            material_areas,
            place: CellPlace::new(plan, width, depth, 0.0, rows)?,
        })
    }
}

impl TileSource for ChunkSource<'_> {
    type Batch = ();

    fn tiles(&self) -> Option<TileRange> {
        Some(self.place.range)
    }

    fn erode_tile(
        &self,
        plan: &TilePlan,
        _batch: &(),
        tile: (i32, i32),
        worker: &mut Worker,
    ) -> Result<Option<HeightfieldFrame>, BuildError> {
        self.place
            .erode(plan, tile, worker, |frame, corner, worker| {
                let columns = worker.scratch.columns_mut();
                let offset = [-corner[0], 0, -corner[1]];
                let areas = self.material_areas;
                self.chunk.add_to(offset, frame.rows, areas, columns);
            })
    }
}

/// A solid heightfield laid on the tile grid of a plan.
#[derive(Debug)]
pub struct HeightfieldSource {
    spans: SolidSpans,
    place: CellPlace,
}

impl HeightfieldSource {
    /// Lays the field's first column on the settings' origin, at the height of its own origin.
    ///
    /// # Errors
    /// A column holds too many spans, the rows are too many for a tile, or the field covers more
    /// than 2^20 tiles or leaves the coordinate bound.
    pub fn new(plan: &TilePlan, field: &SolidHeightfield) -> Result<Self, ArgumentError> {
        if field.is_overfull() {
            return Err(ArgumentError::new(
                "field",
                "a pile of too many spans",
                format!("at most {MAX_COLUMN_SPANS} spans over each other, {MAX_SPANS} in all"),
            ));
        }
        let frame = field.frame();
        let base = frame.origin.y;
        Ok(Self {
            spans: field.to_spans(),
            place: CellPlace::new(plan, frame.width, frame.depth, base, frame.rows)?,
        })
    }
}

impl TileSource for HeightfieldSource {
    type Batch = ();

    fn tiles(&self) -> Option<TileRange> {
        Some(self.place.range)
    }

    fn erode_tile(
        &self,
        plan: &TilePlan,
        _batch: &(),
        tile: (i32, i32),
        worker: &mut Worker,
    ) -> Result<Option<HeightfieldFrame>, BuildError> {
        let spans = &self.spans;
        self.place
            .erode(plan, tile, worker, |frame, corner, worker| {
                let columns = worker.scratch.columns_mut();
                for z in cells_inside(corner[1], frame.depth, spans.depth) {
                    for x in cells_inside(corner[0], frame.width, spans.width) {
                        let source = (x + z * spans.width as i32) as usize;
                        let target = frame.column((x - corner[0]) as u32, (z - corner[1]) as u32);
                        for span in spans.cell_range(source) {
                            let (min, max) = (spans.min[span], spans.max[span]);
                            columns.add(target, min, max, spans.area[span], 0);
                        }
                    }
                }
            })
    }
}

/// The source's cells that a grid of `count` cells from `corner` covers.
fn cells_inside(corner: i32, count: u32, own: u32) -> core::ops::Range<i32> {
    corner.max(0)..corner.saturating_add(count as i32).min(own as i32)
}

/// Where a block of cells stands on a plan's tiles.
#[derive(Clone, Copy, Debug)]
struct CellPlace {
    range: TileRange,
    base_y: f64,
    rows: u32,
}

impl CellPlace {
    fn new(
        plan: &TilePlan,
        width: u32,
        depth: u32,
        base_y: f64,
        rows: u32,
    ) -> Result<Self, ArgumentError> {
        let grid_rows = u64::from(rows) + plan.spans.walkable_height as u64 + 2;
        if grid_rows > u64::from(MAX_ROWS) {
            return Err(ArgumentError::new(
                "rows",
                format!("{rows} and {} for the agent", grid_rows - u64::from(rows)),
                format!("at most {MAX_ROWS} together"),
            ));
        }
        let last = |cells: u32| (cells - 1) / plan.tile_cells;
        let (last_x, last_z) = (last(width), last(depth));
        let count = (u64::from(last_x) + 1) * (u64::from(last_z) + 1);
        if count > MAX_TILES {
            return Err(ArgumentError::new(
                "tile_size",
                format!("{} ({count} tiles for this level)", plan.params.tile_size),
                format!("large enough for at most {MAX_TILES} tiles"),
            ));
        }
        // Triangles bring their own bound; cells reach as far as they are many.
        let reach = |cells: u32, size: f64, origin: f64| origin + f64::from(cells) * size;
        let origin = plan.params.origin;
        check_coordinate("far x", reach(width, plan.cell_size, origin.x))?;
        check_coordinate("top y", reach(rows, plan.cell_height, base_y))?;
        check_coordinate("far z", reach(depth, plan.cell_size, origin.z))?;
        Ok(Self {
            range: TileRange {
                min_x: 0,
                min_z: 0,
                max_x: last_x as i32,
                max_z: last_z as i32,
            },
            base_y,
            rows: grid_rows as u32,
        })
    }

    /// Fills and erodes a tile's grid. `fill` gets the frame and the source cell at its corner.
    fn erode(
        &self,
        plan: &TilePlan,
        (tile_x, tile_z): (i32, i32),
        worker: &mut Worker,
        fill: impl FnOnce(&HeightfieldFrame, [i32; 2], &mut Worker),
    ) -> Result<Option<HeightfieldFrame>, BuildError> {
        if !self.range.contains((tile_x, tile_z)) {
            return Ok(None);
        }
        let frame = plan.frame_of_rows(tile_x, tile_z, self.base_y, self.rows)?;
        // Of the plan the source was made with every corner fits.
        let corner = |tile: i32| {
            let cell = i64::from(tile) * i64::from(plan.tile_cells) - i64::from(plan.border);
            i32::try_from(cell).ok().filter(|cell| *cell > i32::MIN)
        };
        let (Some(x), Some(z)) = (corner(tile_x), corner(tile_z)) else {
            let found = format!("{} cells a tile", plan.tile_cells);
            let wanted = "the plan the source was made with";
            return Err(ArgumentError::new("plan", found, wanted).into());
        };
        let corner = [x, z];
        worker.scratch.columns_mut().reset(frame.width, frame.depth);
        fill(&frame, corner, worker);
        voxelize_columns(plan, (tile_x, tile_z), &frame, worker)?;
        let anywhere = worker.spans.area.iter().any(|&area| area != NULL_AREA);
        Ok(anywhere.then_some(frame))
    }
}

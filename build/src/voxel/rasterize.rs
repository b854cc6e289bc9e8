//! Triangles to solid spans.
//!
//! In: world vertices, index triples, one area id per triangle. Out: the spans they occupy, merged
//! into [`SpanColumns`] in triangle order. A triangle is cut into rows (planes `w = j`), each row
//! into cells (planes `u = i`), and each piece gives its cell the rows from its lowest to its
//! highest point. All arithmetic is `f32` in cell units, where every cell boundary is an integer.
//!
//! The cut-by-rows scheme is Recast's (Mononen, 2009). Departures: a triangle enters a cell only
//! when its piece has area there (touching an edge is not enough); walls on a grid line belong to
//! the cell behind them, and level pieces on a row boundary to the row behind them, so a closed
//! solid never leaks into the cells around it.

use super::clip::{Piece, U, W, doubled_area, range};
use super::frame::HeightfieldFrame;
use throng_soa::error::ArgumentError;
use throng_soa::spans::{NULL_AREA, SpanColumns, WALKABLE_AREA};
use throng_soa::world::{DVec3, check_point};

/// What a rasterization met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RasterizeStats {
    /// Triangles passed in.
    pub triangles: u64,
    /// Triangles without a usable normal, which were skipped.
    pub degenerate: u64,
    /// Spans added to columns, before merging.
    pub spans_added: u64,
}

/// Gives each triangle area 63 when it is flat enough to walk on and 0 otherwise.
///
/// `slope_cosine` is the cosine of the steepest slope; exactly that slope is too steep. `areas` is
/// replaced by one entry per triangle.
///
/// # Errors
/// As [`rasterize`].
pub fn classify_triangles(
    frame: &HeightfieldFrame,
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
    slope_cosine: f32,
    areas: &mut Vec<u8>,
) -> Result<(), ArgumentError> {
    validate_triangles(vertices, triangles)?;
    areas.clear();
    areas.extend(triangles.iter().map(|triangle| {
        let [a, b, c] = triangle.map(|i| frame.to_local(vertices[i as usize]));
        let normal = Normal::new(a, b, c);
        if normal.y > slope_cosine * normal.length {
            WALKABLE_AREA
        } else {
            NULL_AREA
        }
    }));
    Ok(())
}

/// Adds triangles to `columns`, which must have the frame's width and depth.
///
/// Triangles are counter-clockwise seen from the side they face. Spans merge under
/// `merge_threshold` rows, in triangle order. Cost: the cells the triangles touch.
///
/// # Errors
/// When the columns are of another size than the frame, `areas` is not one id per triangle, an
/// index addresses no vertex, or a referenced vertex is not a world coordinate. Nothing is added
/// then.
pub fn rasterize(
    frame: &HeightfieldFrame,
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
    areas: &[u8],
    merge_threshold: i32,
    columns: &mut SpanColumns,
) -> Result<RasterizeStats, ArgumentError> {
    let threshold = merge_threshold;
    rasterize_with(frame, vertices, triangles, areas, threshold, columns, true)
}

/// [`rasterize`], with the shortcuts for runs of cells on or off.
fn rasterize_with(
    frame: &HeightfieldFrame,
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
    areas: &[u8],
    merge_threshold: i32,
    columns: &mut SpanColumns,
    steps: bool,
) -> Result<RasterizeStats, ArgumentError> {
    frame.validate_grid()?;
    if columns.width() != frame.width || columns.depth() != frame.depth {
        return Err(ArgumentError::new(
            "columns",
            format!("{} x {}", columns.width(), columns.depth()),
            format!("{} x {} as the frame", frame.width, frame.depth),
        ));
    }
    if areas.len() != triangles.len() {
        return Err(ArgumentError::new(
            "areas.len()",
            areas.len(),
            format!("one per triangle ({})", triangles.len()),
        ));
    }
    validate_triangles(vertices, triangles)?;

    let mut stats = RasterizeStats {
        triangles: triangles.len() as u64,
        ..RasterizeStats::default()
    };
    let mut raster = Raster {
        columns,
        width: frame.width as i32,
        depth: frame.depth as i32,
        rows: frame.rows as i32,
        merge_threshold,
        area: NULL_AREA,
        faces_up: false,
        vertical: false,
        level: None,
        spans_added: 0,
        steps,
    };
    let mut pieces = Pieces {
        whole: Piece::EMPTY,
        rest: Piece::EMPTY,
        row: Piece::EMPTY,
        row_rest: Piece::EMPTY,
        cell: Piece::EMPTY,
    };
    for (triangle, &area) in triangles.iter().zip(areas) {
        let local = triangle.map(|i| frame.to_local(vertices[i as usize]));
        let normal = Normal::new(local[0], local[1], local[2]);
        if normal.is_degenerate() {
            stats.degenerate += 1;
            continue;
        }
        raster.area = area;
        raster.triangle(
            local.map(|point| frame.to_cells(point)),
            normal,
            &mut pieces,
        );
    }
    stats.spans_added = raster.spans_added;
    Ok(stats)
}

/// Checks every index and every vertex an index refers to.
fn validate_triangles(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Result<(), ArgumentError> {
    for (t, triangle) in triangles.iter().enumerate() {
        for (k, &index) in triangle.iter().enumerate() {
            let Some(&vertex) = vertices.get(index as usize) else {
                return Err(ArgumentError::new(
                    format!("triangles[{t}][{k}]"),
                    index,
                    format!("less than the vertex count {}", vertices.len()),
                ));
            };
            if !throng_soa::world::is_point(vertex) {
                check_point(&format!("vertices[{index}]"), vertex)?;
            }
        }
    }
    Ok(())
}

/// The unscaled normal of a triangle and its length.
#[derive(Clone, Copy, Debug)]
struct Normal {
    x: f32,
    y: f32,
    z: f32,
    length: f32,
}

impl Normal {
    #[inline]
    fn new(a: [f32; 3], b: [f32; 3], c: [f32; 3]) -> Self {
        let (ex, ey, ez) = (b[0] - a[0], b[1] - a[1], b[2] - a[2]);
        let (fx, fy, fz) = (c[0] - a[0], c[1] - a[1], c[2] - a[2]);
        let x = ey * fz - ez * fy;
        let y = ez * fx - ex * fz;
        let z = ex * fy - ey * fx;
        let length = (x * x + y * y + z * z).sqrt();
        Self { x, y, z, length }
    }

    #[inline]
    fn is_degenerate(&self) -> bool {
        self.length == 0.0 || !self.length.is_finite()
    }
}

/// Working polygons, initialised once per call.
struct Pieces {
    whole: Piece,
    rest: Piece,
    row: Piece,
    row_rest: Piece,
    cell: Piece,
}

/// The triangle being rasterized and the grid it goes to.
struct Raster<'a> {
    columns: &'a mut SpanColumns,
    width: i32,
    depth: i32,
    rows: i32,
    merge_threshold: i32,
    area: u8,
    faces_up: bool,
    vertical: bool,
    /// Rows of every piece, known at once when the triangle is level.
    level: Option<(u16, u16)>,
    spans_added: u64,
    /// Whether runs of cells are stepped through; off only where a test compares.
    steps: bool,
}

impl Raster<'_> {
    fn triangle(&mut self, [a, b, c]: [[f32; 3]; 3], normal: Normal, pieces: &mut Pieces) {
        self.faces_up = normal.y > 0.0;
        let footprint = (b[U] - a[U]) * (c[W] - a[W]) - (b[W] - a[W]) * (c[U] - a[U]);
        self.vertical = footprint == 0.0;
        self.level = None;
        if a[1] == b[1] && b[1] == c[1] {
            self.level = self.rows_of(a[1], a[1]);
            if self.level.is_none() {
                return;
            }
        }
        pieces.whole.set_triangle([a, b, c]);
        if !self.clip_to_grid(&mut pieces.whole, &mut pieces.rest, &mut pieces.cell) {
            return;
        }
        let Pieces {
            whole,
            rest,
            row,
            row_rest,
            cell,
        } = pieces;
        if self.vertical && on_grid_line(a[U], b[U], c[U]) {
            let x = a[U] as i32 - i32::from(normal.x > 0.0);
            if x >= 0 && x < self.width {
                self.split_rows(whole, rest, row, |raster, row, z| {
                    raster.add_piece(row.points(), (x + z * raster.width) as usize);
                });
            }
        } else if self.vertical && on_grid_line(a[W], b[W], c[W]) {
            let z = a[W] as i32 - i32::from(normal.z > 0.0);
            if z >= 0 && z < self.depth {
                self.split_cells(whole, row_rest, cell, z);
            }
        } else {
            self.split_rows(whole, rest, row, |raster, row, z| {
                raster.split_cells(row, row_rest, cell, z);
            });
        }
    }

    /// Clips to `[0, width] x [0, depth]`; false when nothing is left.
    fn clip_to_grid(&self, piece: &mut Piece, kept: &mut Piece, cut: &mut Piece) -> bool {
        let (low_u, high_u) = range(piece.points(), U);
        let (low_w, high_w) = range(piece.points(), W);
        let (width, depth) = (self.width as f32, self.depth as f32);
        if high_u < 0.0 || low_u > width || high_w < 0.0 || low_w > depth {
            return false;
        }
        if low_u < 0.0 {
            piece.split::<U>(0.0, cut, kept);
            core::mem::swap(piece, kept);
        }
        if high_u > width {
            piece.split::<U>(width, kept, cut);
            core::mem::swap(piece, kept);
        }
        if low_w < 0.0 {
            piece.split::<W>(0.0, cut, kept);
            core::mem::swap(piece, kept);
        }
        if high_w > depth {
            piece.split::<W>(depth, kept, cut);
            core::mem::swap(piece, kept);
        }
        !piece.points().is_empty()
    }

    /// Cuts a polygon at every row boundary, from low to high, and hands each row on.
    /// `spare` and `row` are working space.
    #[inline]
    fn split_rows(
        &mut self,
        whole: &mut Piece,
        spare: &mut Piece,
        row: &mut Piece,
        mut each: impl FnMut(&mut Self, &mut Piece, i32),
    ) {
        let (mut rest, mut next) = (whole, spare);
        let (low, high) = range(rest.points(), W);
        let mut z = floor_to_int(low);
        while z < self.depth {
            let plane = (z + 1) as f32;
            if high <= plane {
                each(self, rest, z);
                return;
            }
            rest.split::<W>(plane, row, next);
            core::mem::swap(&mut rest, &mut next);
            each(self, row, z);
            z += 1;
        }
    }

    /// Cuts one row at every cell boundary, from low to high, and adds each piece.
    /// `spare` and `cell` are working space.
    fn split_cells(&mut self, row: &mut Piece, spare: &mut Piece, cell: &mut Piece, z: i32) {
        let (mut rest, mut next) = (row, spare);
        let (low, high) = range(rest.points(), U);
        let mut x = floor_to_int(low);
        let base = z as usize * self.width as usize;
        // Cells that a level row covers from side to side all get the same span. The cuts they
        // would need land exactly on the row's two boundaries, so jumping over them changes no bit.
        let full = match self.level {
            Some(_) if self.steps && !self.vertical && high - low > 2.0 => full_cells(rest, z),
            _ => None,
        };
        while x < self.width {
            if let Some((first, end)) = full {
                if x == first {
                    self.add_level_run(base + first as usize..base + end as usize);
                    x = end;
                    let plane = x as f32;
                    if high <= plane {
                        return;
                    }
                    rest.split::<U>(plane, cell, next);
                    core::mem::swap(&mut rest, &mut next);
                    continue;
                }
            }
            let plane = (x + 1) as f32;
            if high <= plane {
                self.add_piece(rest.points(), base + x as usize);
                return;
            }
            rest.split::<U>(plane, cell, next);
            core::mem::swap(&mut rest, &mut next);
            self.add_piece(cell.points(), base + x as usize);
            x += 1;
            if full.is_none() && self.steps {
                x = self.step_cells(rest, x, base);
            }
        }
    }

    /// Adds the cells from `x` on that two edges of the row bound alone, and moves the row's lower
    /// end behind them. Splitting would give the same pieces; this skips the other corners.
    #[inline]
    fn step_cells(&mut self, rest: &mut Piece, mut x: i32, base: usize) -> i32 {
        if let Some(mut edge) = rest.leading_edge(x as f32) {
            while x < self.width && ((x + 1) as f32) < edge.far {
                let quad = rest.advance(&mut edge, (x + 1) as f32);
                self.add_piece(&quad, base + x as usize);
                x += 1;
            }
        }
        x
    }

    /// Adds the span of a level triangle to a run of whole cells.
    #[inline]
    fn add_level_run(&mut self, cells: core::ops::Range<usize>) {
        let Some((min, max)) = self.level else {
            return;
        };
        self.spans_added += cells.len() as u64;
        for column in cells {
            self.columns
                .add(column, min, max, self.area, self.merge_threshold);
        }
    }

    /// Adds the rows of one cell's piece, if the triangle really enters the cell.
    #[inline]
    fn add_piece(&mut self, piece: &[[f32; 3]], column: usize) {
        if self.vertical {
            let (low_u, high_u) = range(piece, U);
            let (low_w, high_w) = range(piece, W);
            if !(high_u - low_u > 0.0 || high_w - low_w > 0.0) {
                return;
            }
        } else if doubled_area(piece) == 0.0 {
            return;
        }
        let span = match self.level {
            Some(span) => Some(span),
            None => {
                let (low, high) = range(piece, 1);
                self.rows_of(low, high)
            }
        };
        if let Some((min, max)) = span {
            self.columns
                .add(column, min, max, self.area, self.merge_threshold);
            self.spans_added += 1;
        }
    }

    /// Rows from `low` to `high` inside the grid, `None` when there is none.
    #[inline]
    fn rows_of(&self, low: f32, high: f32) -> Option<(u16, u16)> {
        let mut min = floor_to_int(low);
        let mut max = ceil_to_int(high);
        if min == max {
            // Level, exactly on a row boundary: the matter is behind the surface.
            if self.faces_up {
                min = max.saturating_sub(1);
            } else {
                max = min.saturating_add(1);
            }
        }
        if max <= 0 || min >= self.rows {
            return None;
        }
        Some((min.max(0) as u16, max.min(self.rows) as u16))
    }
}

/// Whether a vertical triangle lies in one plane `axis = k` with `k` an integer.
fn on_grid_line(a: f32, b: f32, c: f32) -> bool {
    a == b && b == c && floor_to_int(a) as f32 == a
}

/// The cells `first..end` of row `z` that a row piece covers whole, or `None`.
fn full_cells(row: &Piece, z: i32) -> Option<(i32, i32)> {
    let (near, far) = (z as f32, (z + 1) as f32);
    let (mut near_low, mut near_high) = (f32::INFINITY, f32::NEG_INFINITY);
    let (mut far_low, mut far_high) = (f32::INFINITY, f32::NEG_INFINITY);
    for point in row.points() {
        if point[W] == near {
            near_low = near_low.min(point[U]);
            near_high = near_high.max(point[U]);
        } else if point[W] == far {
            far_low = far_low.min(point[U]);
            far_high = far_high.max(point[U]);
        }
    }
    if near_low > near_high || far_low > far_high {
        return None;
    }
    let first = ceil_to_int(near_low.max(far_low));
    let end = floor_to_int(near_high.min(far_high));
    (first < end).then_some((first, end))
}

/// `floor` as an integer, saturating. (The library call is a function call on baseline x86-64.)
#[inline]
fn floor_to_int(value: f32) -> i32 {
    let whole = value as i32;
    if whole as f32 > value {
        whole.saturating_sub(1)
    } else {
        whole
    }
}

/// `ceil` as an integer, saturating.
#[inline]
fn ceil_to_int(value: f32) -> i32 {
    let whole = value as i32;
    if (whole as f32) < value {
        whole.saturating_add(1)
    } else {
        whole
    }
}

#[cfg(test)]
mod tests;

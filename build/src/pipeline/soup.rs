//! Triangles as a source of tiles.
//!
//! In: vertices and triangles. Out: per tile, the triangles whose box touches the tile's grid, in
//! input order, rasterized and eroded. A tile none of whose triangles is flat enough is skipped.

use throng_soa::world::{check_point, is_point};
use throng_soa::{ArgumentError, DVec3};

use super::driver::{TileRange, TileSource};
use super::{BuildError, MAX_TILES};
use crate::voxel::frame::HeightfieldFrame;
use crate::voxel::plan::TilePlan;
use crate::voxel::tile::{Worker, voxelize};

/// Most (tile, triangle) pairs gathered before their tiles are built.
const BATCH_ENTRIES: u64 = 1 << 22;
/// Most (tile, triangle) pairs of one tile row, which is gathered at once.
const ROW_ENTRIES: u64 = 1 << 26;

/// A checked triangle soup with what tile selection needs per triangle.
#[derive(Debug)]
pub struct SoupSource<'a> {
    vertices: &'a [DVec3],
    triangles: &'a [[u32; 3]],
    range: Option<TileRange>,
    boxes: Vec<TileRange>,
    may_be_walkable: Vec<bool>,
    /// (tile, triangle) pairs per tile row.
    row_entries: Vec<u64>,
}

impl<'a> SoupSource<'a> {
    /// Checks the triangles and finds the tiles each touches.
    ///
    /// # Errors
    /// An index addresses no vertex, a used vertex is no world coordinate, the level covers more than
    /// 2^20 tiles, or a row of tiles more pairs of tile and triangle than are gathered at once.
    pub fn new(
        plan: &TilePlan,
        vertices: &'a [DVec3],
        triangles: &'a [[u32; 3]],
    ) -> Result<Self, BuildError> {
        check_soup(vertices, triangles)?;
        let range = tile_range(plan, vertices, triangles)?;
        let mut source = Self {
            vertices,
            triangles,
            range,
            boxes: Vec::new(),
            may_be_walkable: Vec::new(),
            row_entries: Vec::new(),
        };
        if let Some(range) = range {
            let tiles_of = |t| tiles_of(plan, range, vertices, t);
            source.boxes = triangles.iter().map(tiles_of).collect();
            let flat = |t| may_be_walkable(plan, vertices, t);
            source.may_be_walkable = triangles.iter().map(flat).collect();
            source.row_entries = count_row_entries(range, &source.boxes);
            if let Some(row) = source.row_entries.iter().position(|&n| n > ROW_ENTRIES) {
                return Err(BuildError::Limit {
                    tile_x: range.min_x,
                    tile_z: range.min_z + row as i32,
                    what: format!(
                        "its row of tiles holds {} pairs of tile and triangle, at most \
                         {ROW_ENTRIES}; use larger tiles",
                        source.row_entries[row]
                    ),
                });
            }
        }
        Ok(source)
    }
}

/// Triangles of the tiles of a block: `first[i]..first[i + 1]` of `triangles` for tile `i`.
#[derive(Debug)]
pub struct TriangleBatch {
    block: TileRange,
    first: Vec<u32>,
    triangles: Vec<u32>,
    /// Triangles of the level they were gathered from.
    level: usize,
}

impl Default for TriangleBatch {
    fn default() -> Self {
        Self {
            block: TileRange::EMPTY,
            first: Vec::new(),
            triangles: Vec::new(),
            level: 0,
        }
    }
}

impl TriangleBatch {
    /// The triangles of a tile of the block; nothing for any other.
    fn tile(&self, tile_x: i32, tile_z: i32) -> Option<&[u32]> {
        let index = self.block.index(tile_x, tile_z)?;
        let (first, end) = (*self.first.get(index)?, *self.first.get(index + 1)?);
        self.triangles.get(first as usize..end as usize)
    }
}

impl TileSource for SoupSource<'_> {
    type Batch = TriangleBatch;

    fn tiles(&self) -> Option<TileRange> {
        self.range
    }

    fn last_row_of_batch(&self, first: i32) -> i32 {
        let Some(range) = self.range else {
            return first;
        };
        let row = i64::from(first) - i64::from(range.min_z);
        let Ok(mut row) = usize::try_from(row) else {
            return first;
        };
        let Some(&own) = self.row_entries.get(row) else {
            return first;
        };
        let mut entries = own;
        while row + 1 < self.row_entries.len()
            && entries + self.row_entries[row + 1] <= BATCH_ENTRIES
        {
            row += 1;
            entries += self.row_entries[row];
        }
        range.min_z + row as i32
    }

    /// Lists, for every tile of the block, its triangles in input order.
    fn gather(&self, block: TileRange, batch: &mut TriangleBatch) {
        let range = self.range.unwrap_or(TileRange::EMPTY);
        let block = block.intersection(&range);
        let tiles = block.rows() * block.columns();
        batch.block = block;
        batch.level = self.triangles.len();
        batch.first.clear();
        batch.first.resize(tiles + 1, 0);
        let each = |visit: &mut dyn FnMut(usize, u32)| {
            for (triangle, b) in self.boxes.iter().enumerate() {
                let (low_x, high_x) = (b.min_x.max(block.min_x), b.max_x.min(block.max_x));
                for z in b.min_z.max(block.min_z)..=b.max_z.min(block.max_z) {
                    for x in low_x..=high_x {
                        if let Some(tile) = block.index(x, z) {
                            visit(tile, triangle as u32);
                        }
                    }
                }
            }
        };
        let first = &mut batch.first;
        each(&mut |tile, _| first[tile + 1] += 1);
        for i in 1..first.len() {
            first[i] += first[i - 1];
        }
        batch.triangles.clear();
        batch.triangles.resize(first[tiles] as usize, 0);
        // Filling moves each start to the next tile's; shifting them back restores the offsets.
        let list = &mut batch.triangles;
        each(&mut |tile, triangle| {
            list[first[tile] as usize] = triangle;
            first[tile] += 1;
        });
        for i in (1..first.len()).rev() {
            first[i] = first[i - 1];
        }
        first[0] = 0;
    }

    fn erode_tile(
        &self,
        plan: &TilePlan,
        batch: &TriangleBatch,
        (tile_x, tile_z): (i32, i32),
        worker: &mut Worker,
    ) -> Result<Option<HeightfieldFrame>, BuildError> {
        if !self
            .range
            .is_some_and(|range| range.contains((tile_x, tile_z)))
        {
            return Ok(None);
        }
        let gathered = batch.tile(tile_x, tile_z);
        let Some(list) = gathered.filter(|_| batch.level == self.triangles.len()) else {
            let found = format!("without tile ({tile_x}, {tile_z})");
            let wanted = "gathered for the tile from this level";
            return Err(ArgumentError::new("batch", found, wanted).into());
        };
        if !list.iter().any(|&t| self.may_be_walkable[t as usize]) {
            return Ok(None);
        }
        worker.triangles.clear();
        let own = list.iter().map(|&t| self.triangles[t as usize]);
        worker.triangles.extend(own);
        voxelize(plan, (tile_x, tile_z), self.vertices, worker)
    }
}

pub(super) fn check_soup(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Result<(), ArgumentError> {
    for (index, &corner) in triangles.iter().flatten().enumerate() {
        match vertices.get(corner as usize) {
            Some(&vertex) if is_point(vertex) => {}
            Some(&vertex) => check_point(&format!("vertices[{corner}]"), vertex)?,
            None => {
                return Err(ArgumentError::new(
                    format!("triangles[{}][{}]", index / 3, index % 3),
                    corner,
                    format!("below the vertex count {}", vertices.len()),
                ));
            }
        }
    }
    Ok(())
}

/// Smallest and largest x and z of the vertices that triangles use.
pub(super) fn ground_bounds(
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
) -> Option<([f64; 2], [f64; 2])> {
    let mut bounds: Option<([f64; 2], [f64; 2])> = None;
    for &corner in triangles.iter().flatten() {
        let v = vertices[corner as usize];
        let (min, max) = bounds.get_or_insert(([v.x, v.z], [v.x, v.z]));
        *min = [min[0].min(v.x), min[1].min(v.z)];
        *max = [max[0].max(v.x), max[1].max(v.z)];
    }
    bounds
}

/// Whether a triangle could be flat enough to stand on: looser than the rasterizer's own test, so
/// skipping tiles by it never changes a result.
fn may_be_walkable(plan: &TilePlan, vertices: &[DVec3], triangle: &[u32; 3]) -> bool {
    let [a, b, c] = triangle.map(|i| vertices[i as usize]);
    let (u, v) = (b - a, c - a);
    let normal = DVec3::new(
        u.y * v.z - u.z * v.y,
        u.z * v.x - u.x * v.z,
        u.x * v.y - u.y * v.x,
    );
    let length = (normal.x * normal.x + normal.y * normal.y + normal.z * normal.z).sqrt();
    length > 0.0 && normal.y >= (f64::from(plan.spans.slope_cosine) - 1e-3) * length
}

/// The tiles under the level, refused when there are too many; nothing without triangles.
fn tile_range(
    plan: &TilePlan,
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
) -> Result<Option<TileRange>, ArgumentError> {
    let Some((min, max)) = ground_bounds(vertices, triangles) else {
        return Ok(None);
    };
    let params = &plan.params;
    let tile = |v: f64, origin: f64| ((v - origin) / params.tile_size).floor();
    let low = [tile(min[0], params.origin.x), tile(min[1], params.origin.z)];
    let high = [tile(max[0], params.origin.x), tile(max[1], params.origin.z)];
    let count = (high[0] - low[0] + 1.0) * (high[1] - low[1] + 1.0);
    let farthest = low
        .into_iter()
        .chain(high)
        .fold(0.0_f64, |m, v| m.max(v.abs()));
    if count > MAX_TILES as f64 || farthest > f64::from(1 << 30) {
        return Err(ArgumentError::new(
            "tile_size",
            format!("{} ({count} tiles for this level)", params.tile_size),
            format!("large enough for at most {MAX_TILES} tiles"),
        ));
    }
    Ok(Some(TileRange {
        min_x: low[0] as i32,
        min_z: low[1] as i32,
        max_x: high[0] as i32,
        max_z: high[1] as i32,
    }))
}

/// The tiles of `range` whose grid, border included, the triangle's box touches.
fn tiles_of(
    plan: &TilePlan,
    range: TileRange,
    vertices: &[DVec3],
    triangle: &[u32; 3],
) -> TileRange {
    let [a, b, c] = triangle.map(|i| vertices[i as usize]);
    let params = &plan.params;
    let margin = f64::from(plan.border) * plan.cell_size;
    let tile = |v: f64, origin: f64, low: i32, high: i32| {
        let index = ((v - origin) / params.tile_size).floor();
        index.clamp(f64::from(low), f64::from(high)) as i32
    };
    let x = |v: f64| tile(v, params.origin.x, range.min_x, range.max_x);
    let z = |v: f64| tile(v, params.origin.z, range.min_z, range.max_z);
    TileRange {
        min_x: x(a.x.min(b.x).min(c.x) - margin),
        min_z: z(a.z.min(b.z).min(c.z) - margin),
        max_x: x(a.x.max(b.x).max(c.x) + margin),
        max_z: z(a.z.max(b.z).max(c.z) + margin),
    }
}

/// (tile, triangle) pairs per tile row.
fn count_row_entries(range: TileRange, boxes: &[TileRange]) -> Vec<u64> {
    let rows = range.rows();
    let mut change = vec![0_i64; rows + 1];
    for b in boxes {
        let columns = b.columns() as i64;
        change[(b.min_z - range.min_z) as usize] += columns;
        change[(b.max_z - range.min_z) as usize + 1] -= columns;
    }
    let mut running = 0;
    change[..rows]
        .iter()
        .map(|delta| {
            running += delta;
            running as u64
        })
        .collect()
}

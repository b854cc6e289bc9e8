//! Voxel chunks: levels made of blocks.
//!
//! In: run-length columns, or one material per voxel. Out: a checked [`VoxelChunk`], whose runs are
//! added to span columns directly; no triangle is involved.

use crate::voxel::frame::HeightfieldFrame;
use throng_soa::error::ArgumentError;
use throng_soa::spans::{SpanColumns, WALKABLE_AREA};
use throng_soa::world::DVec3;

/// A run of equal voxels in one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VoxelRun {
    /// Lowest row.
    pub start: u16,
    /// Rows, at least 1.
    pub length: u16,
    /// Material, 1 to 255.
    pub material: u8,
}

/// A block of voxels as run-length columns, each sorted from the bottom up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoxelChunk {
    width: u32,
    depth: u32,
    height: u32,
    /// First run of each column `x + z * width`, then the run count.
    column_first: Vec<u32>,
    runs: Vec<VoxelRun>,
}

impl VoxelChunk {
    /// A checked chunk of `width * depth` columns, `column_first` delimiting their runs.
    ///
    /// # Errors
    /// When a dimension is out of range (65536, 65536 and 65535, and 2^24 columns), the offsets
    /// do not match, or a run is empty, without material, out of order or above `height`.
    pub fn from_runs(
        width: u32,
        depth: u32,
        height: u32,
        column_first: Vec<u32>,
        runs: Vec<VoxelRun>,
    ) -> Result<Self, ArgumentError> {
        // A chunk obeys the limits of the grid it goes to.
        let frame = HeightfieldFrame {
            origin: DVec3::ZERO,
            cell_size: 1.0,
            cell_height: 1.0,
            width,
            depth,
            rows: height,
        };
        frame.validate()?;
        let offsets_fit = column_first.len() == frame.column_count() + 1
            && column_first.first() == Some(&0)
            && column_first.windows(2).all(|ends| ends[0] <= ends[1])
            && column_first.last().map(|&end| end as usize) == Some(runs.len());
        if !offsets_fit {
            return Err(ArgumentError::new(
                "column_first",
                format!("{} offsets", column_first.len()),
                format!(
                    "ascending from 0 to {}, one per column and the end",
                    runs.len()
                ),
            ));
        }
        for ends in column_first.windows(2) {
            let mut free = 0;
            for index in ends[0]..ends[1] {
                let run = runs[index as usize];
                let end = u32::from(run.start) + u32::from(run.length);
                let fits = run.length > 0 && u32::from(run.start) >= free && end <= height;
                if !fits || run.material == 0 {
                    return Err(ArgumentError::new(
                        format!("runs[{index}]"),
                        format!("{run:?}"),
                        format!("not empty, of material 1 to 255, in rows {free}..{height}"),
                    ));
                }
                free = end;
            }
        }
        Ok(Self {
            width,
            depth,
            height,
            column_first,
            runs,
        })
    }

    /// A chunk from one material per voxel, index `(z * width + x) * height + y`, 0 for empty.
    ///
    /// # Errors
    /// As [`VoxelChunk::from_runs`], and when the materials do not match the dimensions.
    pub fn from_dense(
        width: u32,
        depth: u32,
        height: u32,
        materials: &[u8],
    ) -> Result<Self, ArgumentError> {
        let voxels = u128::from(width) * u128::from(depth) * u128::from(height);
        if materials.len() as u128 != voxels || voxels == 0 {
            return Err(ArgumentError::new(
                "materials.len()",
                materials.len(),
                format!("width * depth * height = {voxels}, above 0"),
            ));
        }
        let height_limit = u32::from(u16::MAX);
        if height > height_limit {
            return Err(ArgumentError::new("height", height, "1 to 65535"));
        }
        let mut column_first = vec![0];
        let mut runs: Vec<VoxelRun> = Vec::new();
        for column in materials.chunks_exact(height as usize) {
            let mut previous = 0;
            for (y, &material) in column.iter().enumerate() {
                match runs.last_mut() {
                    Some(run) if material != 0 && material == previous => run.length += 1,
                    _ if material != 0 => runs.push(VoxelRun {
                        start: y as u16,
                        length: 1,
                        material,
                    }),
                    _ => {}
                }
                previous = material;
            }
            column_first.push(runs.len() as u32);
        }
        Self::from_runs(width, depth, height, column_first, runs)
    }

    /// Columns along x, rows, and columns along z.
    #[must_use]
    pub fn size(&self) -> [u32; 3] {
        [self.width, self.height, self.depth]
    }

    /// The runs of column `(x, z)`, bottom up; empty outside the chunk.
    #[must_use]
    pub fn column(&self, x: u32, z: u32) -> &[VoxelRun] {
        if x >= self.width || z >= self.depth {
            return &[];
        }
        let column = (x + z * self.width) as usize;
        &self.runs[self.column_first[column] as usize..self.column_first[column + 1] as usize]
    }

    /// Adds every run as a solid span with the area of its material (63 without a table), moved by
    /// `offset` (x cells, rows, z cells); columns in z-then-x order, runs bottom up. What falls
    /// outside the columns or `rows` is dropped. Cost: the runs of the columns that fall inside.
    pub fn add_to(
        &self,
        offset: [i32; 3],
        rows: u32,
        material_areas: Option<&[u8; 256]>,
        columns: &mut SpanColumns,
    ) {
        let rows = i64::from(rows.min(u32::from(u16::MAX)));
        let inside = |offset: i32, own: u32, target: u32| {
            let low = (-i64::from(offset)).max(0).min(i64::from(own));
            let high = (i64::from(target) - i64::from(offset)).clamp(low, i64::from(own));
            low as u32..high as u32
        };
        for z in inside(offset[2], self.depth, columns.depth()) {
            let target_z = (i64::from(z) + i64::from(offset[2])) as usize;
            for x in inside(offset[0], self.width, columns.width()) {
                let target_x = (i64::from(x) + i64::from(offset[0])) as usize;
                let column = target_x + target_z * columns.width() as usize;
                for run in self.column(x, z) {
                    let start = i64::from(run.start) + i64::from(offset[1]);
                    let min = start.max(0);
                    let max = (start + i64::from(run.length)).min(rows);
                    if min < max {
                        let area = material_areas
                            .map_or(WALKABLE_AREA, |areas| areas[usize::from(run.material)]);
                        columns.add(column, min as u16, max as u16, area, 0);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_soa::spans::SolidSpans;

    #[test]
    fn dense_voxels_join_into_runs_and_land_where_they_are_put() {
        let chunk = VoxelChunk::from_dense(2, 1, 4, &[5, 5, 0, 6, 0, 0, 7, 7]).unwrap();
        let run = |start, length, material| VoxelRun {
            start,
            length,
            material,
        };
        assert_eq!(chunk.column(0, 0), [run(0, 2, 5), run(3, 1, 6)]);
        assert_eq!(chunk.column(1, 0), [run(2, 2, 7)]);
        assert_eq!(chunk.column(2, 0), []);
        let mut columns = SpanColumns::default();
        columns.reset(2, 1);
        let mut areas = [63; 256];
        areas[6] = 9;
        chunk.add_to([1, 1, 0], 4, Some(&areas), &mut columns);
        let mut solid = SolidSpans::default();
        columns.pack(&mut solid);
        // Column 0 lands in column 1; its upper run is cut off by the top of the grid.
        assert_eq!(solid.cell_first, [0, 0, 1]);
        assert_eq!((solid.min[0], solid.max[0], solid.area[0]), (1, 3, 63));
        chunk.add_to([0, -1, 0], 4, Some(&areas), &mut columns);
        columns.pack(&mut solid);
        assert_eq!(solid.cell_first, [0, 2, 3]);
        assert_eq!(solid.area, [63, 9, 63]);
    }

    #[test]
    fn bad_runs_are_refused() {
        let run = |start, length, material| VoxelRun {
            start,
            length,
            material,
        };
        let chunk = |runs: &[VoxelRun]| {
            VoxelChunk::from_runs(1, 1, 8, vec![0, runs.len() as u32], runs.to_vec())
        };
        assert!(chunk(&[run(0, 2, 1), run(2, 6, 2)]).is_ok());
        for bad in [
            &[run(0, 0, 1)][..],
            &[run(0, 1, 0)],
            &[run(0, 9, 1)],
            &[run(0, 2, 1), run(1, 2, 1)],
        ] {
            assert!(chunk(bad).is_err(), "{bad:?}");
        }
        assert!(VoxelChunk::from_runs(1, 1, 8, vec![0, 1], vec![]).is_err());
        assert!(VoxelChunk::from_dense(1, 1, 2, &[1]).is_err());
        assert!(VoxelChunk::from_dense(0, 1, 2, &[]).is_err());
    }
}

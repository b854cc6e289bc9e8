//! Solid heightfields as input: matter given span by span, or rasterized by the caller.
//!
//! In: a frame and spans of rows with area ids. Out: a checked [`SolidHeightfield`]. A host that has
//! its own voxelizer, or mixes triangles with hand-made spans, enters the builder here.

use crate::voxel::frame::HeightfieldFrame;
use crate::voxel::rasterize::{RasterizeStats, rasterize};
use throng_soa::error::ArgumentError;
use throng_soa::spans::{SolidSpans, SpanColumns, WALKABLE_AREA};
use throng_soa::world::DVec3;

/// Columns of solid spans and the frame they stand in.
#[derive(Clone, Debug)]
pub struct SolidHeightfield {
    frame: HeightfieldFrame,
    columns: SpanColumns,
}

impl SolidHeightfield {
    /// A heightfield without matter.
    ///
    /// # Errors
    /// The frame is out of range.
    pub fn new(frame: HeightfieldFrame) -> Result<Self, ArgumentError> {
        frame.validate()?;
        let mut columns = SpanColumns::default();
        columns.reset(frame.width, frame.depth);
        Ok(Self { frame, columns })
    }

    /// A heightfield of packed spans.
    ///
    /// # Errors
    /// The frame is out of range, the tables do not match it or each other, or a span is empty,
    /// touches the one below, ends above the frame or has an area id above 63.
    pub fn from_spans(frame: HeightfieldFrame, spans: &SolidSpans) -> Result<Self, ArgumentError> {
        let mut field = Self::new(frame)?;
        check_tables(&frame, spans)?;
        for ends in spans.cell_first.windows(2) {
            let mut free = 0;
            for span in ends[0] as usize..ends[1] as usize {
                let (min, max, area) = (spans.min[span], spans.max[span], spans.area[span]);
                let fits = u32::from(min) >= free && min < max && u32::from(max) <= frame.rows;
                if !fits || area > WALKABLE_AREA {
                    return Err(ArgumentError::new(
                        format!("spans[{span}]"),
                        format!("rows {min}..{max}, area {area}"),
                        format!("not empty, in rows {free}..{}, of area 0 to 63", frame.rows),
                    ));
                }
                free = u32::from(max) + 1;
            }
        }
        field.columns.load(spans);
        Ok(field)
    }

    /// Adds the rows `rows` (half-open) with `area` to column `(x, z)`. Spans that overlap or touch
    /// become one; tops at most `merge_threshold` rows apart take the larger of the two area ids,
    /// otherwise the higher top's area stays. The order of the calls counts.
    ///
    /// # Errors
    /// The column is outside the frame, the rows are empty or end above it, the area id is above 63,
    /// or the threshold is negative.
    pub fn add_span(
        &mut self,
        (x, z): (u32, u32),
        rows: core::ops::Range<u16>,
        area: u8,
        merge_threshold: i32,
    ) -> Result<(), ArgumentError> {
        for (name, value, count) in [("x", x, self.frame.width), ("z", z, self.frame.depth)] {
            if value >= count {
                let allowed = format!("below {count}");
                return Err(ArgumentError::new(name, value, allowed));
            }
        }
        if rows.is_empty() || u32::from(rows.end) > self.frame.rows {
            let allowed = format!("a range of 1 to {} rows below that row", self.frame.rows);
            return Err(ArgumentError::new("rows", format!("{rows:?}"), allowed));
        }
        if area > WALKABLE_AREA {
            return Err(ArgumentError::new("area", area, "0 to 63"));
        }
        if merge_threshold < 0 {
            let error = ArgumentError::new("merge_threshold", merge_threshold, "0 or more");
            return Err(error);
        }
        let column = self.frame.column(x, z);
        let threshold = merge_threshold;
        self.columns
            .add(column, rows.start, rows.end, area, threshold);
        Ok(())
    }

    /// Adds triangles, one area id each; see [`rasterize`].
    ///
    /// # Errors
    /// As [`rasterize`], or an area id above 63. Nothing is added then.
    pub fn add_triangles(
        &mut self,
        vertices: &[DVec3],
        triangles: &[[u32; 3]],
        areas: &[u8],
        merge_threshold: i32,
    ) -> Result<RasterizeStats, ArgumentError> {
        if let Some(index) = areas.iter().position(|&area| area > WALKABLE_AREA) {
            let name = format!("areas[{index}]");
            return Err(ArgumentError::new(name, areas[index], "0 to 63"));
        }
        let columns = &mut self.columns;
        let threshold = merge_threshold;
        rasterize(&self.frame, vertices, triangles, areas, threshold, columns)
    }

    /// Where the columns stand and how large they are.
    #[must_use]
    pub fn frame(&self) -> &HeightfieldFrame {
        &self.frame
    }

    /// The spans, packed by column.
    #[must_use]
    pub fn to_spans(&self) -> SolidSpans {
        let mut spans = SolidSpans::default();
        self.columns.pack(&mut spans);
        spans
    }

    /// Whether a column, or the whole field, holds more spans than the builder takes; spans may
    /// have been turned away then.
    #[must_use]
    pub fn is_overfull(&self) -> bool {
        self.columns.overfull()
    }
}

/// Checks that the columns of `spans` fit together and are those of the frame.
fn check_tables(frame: &HeightfieldFrame, spans: &SolidSpans) -> Result<(), ArgumentError> {
    if (spans.width, spans.depth) != (frame.width, frame.depth) {
        return Err(ArgumentError::new(
            "spans.width, spans.depth",
            format!("{} x {}", spans.width, spans.depth),
            format!("{} x {} as the frame", frame.width, frame.depth),
        ));
    }
    let count = spans.min.len();
    if spans.max.len() != count || spans.area.len() != count {
        return Err(ArgumentError::new(
            "spans.min, max, area",
            format!("{count}, {}, {}", spans.max.len(), spans.area.len()),
            "of one length",
        ));
    }
    let first = &spans.cell_first;
    let fits = first.len() == frame.column_count() + 1
        && first.first() == Some(&0)
        && first.windows(2).all(|ends| ends[0] <= ends[1])
        && first.last().map(|&end| end as usize) == Some(count);
    if !fits {
        return Err(ArgumentError::new(
            "spans.cell_first",
            format!("{} offsets", first.len()),
            format!("ascending from 0 to {count}, one per column and the end"),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame() -> HeightfieldFrame {
        HeightfieldFrame {
            origin: DVec3::ZERO,
            cell_size: 1.0,
            cell_height: 1.0,
            width: 2,
            depth: 1,
            rows: 10,
        }
    }

    fn spans(all: &[(u16, u16, u8)]) -> SolidSpans {
        SolidSpans {
            width: 2,
            depth: 1,
            cell_first: vec![0, 0, all.len() as u32],
            min: all.iter().map(|s| s.0).collect(),
            max: all.iter().map(|s| s.1).collect(),
            area: all.iter().map(|s| s.2).collect(),
        }
    }

    #[test]
    fn spans_come_back_as_they_were_given() {
        let given = spans(&[(0, 2, 63), (3, 10, 0)]);
        let field = SolidHeightfield::from_spans(frame(), &given).unwrap();
        assert_eq!(field.to_spans(), given);
        let mut field = SolidHeightfield::new(frame()).unwrap();
        field.add_span((1, 0), 3..10, 0, 0).unwrap();
        field.add_span((1, 0), 0..2, 63, 0).unwrap();
        assert_eq!(field.to_spans(), given);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for bad in [
            &[(0, 2, 63), (2, 3, 1)][..],
            &[(4, 5, 1), (0, 2, 1)],
            &[(3, 3, 1)],
            &[(3, 11, 1)],
            &[(3, 5, 64)],
        ] {
            let refused = SolidHeightfield::from_spans(frame(), &spans(bad));
            let argument = refused.unwrap_err().argument;
            assert_eq!(argument, format!("spans[{}]", bad.len() - 1), "{bad:?}");
        }
        let good = spans(&[(0, 1, 1)]);
        let refused = [
            SolidSpans {
                width: 3,
                ..good.clone()
            },
            SolidSpans {
                max: vec![],
                ..good.clone()
            },
            SolidSpans {
                cell_first: vec![0, 2, 1],
                ..good.clone()
            },
            SolidSpans {
                cell_first: vec![0, 1],
                ..good
            },
        ];
        for spans in refused {
            assert!(SolidHeightfield::from_spans(frame(), &spans).is_err());
        }
        let mut field = SolidHeightfield::new(frame()).unwrap();
        let mut argument = |at, rows, area, threshold| {
            let refused = field.add_span(at, rows, area, threshold);
            refused.unwrap_err().argument
        };
        assert_eq!(argument((2, 0), 0..1, 1, 0), "x");
        assert_eq!(argument((0, 1), 0..1, 1, 0), "z");
        assert_eq!(argument((0, 0), 1..1, 1, 0), "rows");
        assert_eq!(argument((0, 0), 1..11, 1, 0), "rows");
        assert_eq!(argument((0, 0), 0..1, 64, 0), "area");
        assert_eq!(argument((0, 0), 0..1, 1, -1), "merge_threshold");
        assert_eq!(field.to_spans().span_count(), 0);
    }
}

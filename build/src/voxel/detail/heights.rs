//! Floor rows under a point of the grid.

use throng_soa::spans::OpenSpans;

/// Looks floors up near an expected row.
pub(crate) struct Heights<'a> {
    spans: &'a OpenSpans,
    reach: f64,
}

impl<'a> Heights<'a> {
    pub(crate) fn new(spans: &'a OpenSpans, walkable_climb: i32) -> Self {
        Self {
            spans,
            reach: f64::from(walkable_climb.max(1) + 1),
        }
    }

    /// The floor row nearest to `expected` in the cells that touch `(x, z)`, or nothing within
    /// reach. A point on a cell's edge touches the cells on both sides. With `region` only that
    /// region's spans count. Ties go to the lowest cell, then the lowest span.
    pub(crate) fn nearest_row(
        &self,
        x: f64,
        z: f64,
        expected: f64,
        region: Option<u32>,
    ) -> Option<f64> {
        let (x_low, x_high) = cells_at(x);
        let (z_low, z_high) = cells_at(z);
        let (width, depth) = (i64::from(self.spans.width), i64::from(self.spans.depth));
        let mut best: Option<f64> = None;
        let mut best_gap = self.reach;
        for cz in z_low.max(0)..=z_high.min(depth - 1) {
            for cx in x_low.max(0)..=x_high.min(width - 1) {
                for span in self.spans.cell_range((cx + cz * width) as usize) {
                    if region.is_some_and(|wanted| self.spans.region[span] != wanted) {
                        continue;
                    }
                    let row = f64::from(self.spans.floor[span]);
                    let gap = (row - expected).abs();
                    if gap < best_gap || (best.is_none() && gap == best_gap) {
                        best = Some(row);
                        best_gap = gap;
                    }
                }
            }
        }
        best
    }
}

/// First and last cell that touch a coordinate.
#[inline]
fn cells_at(v: f64) -> (i64, i64) {
    let floor = v.floor();
    let cell = floor as i64;
    if floor == v {
        (cell - 1, cell)
    } else {
        (cell, cell)
    }
}

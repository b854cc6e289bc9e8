//! The part of a grid that holds matter: the span stages run on it alone where it is small.
//!
//! In: packed solid spans. Out: the same spans on a smaller grid, and back again what the stages made
//! of them. Around the matter one row of empty columns stays, so that every span has the neighbours
//! it has on the whole grid; where matter touches the grid's border the window ends there too.
//! Spans keep their order, so nothing but column numbers has to be put right.

use throng_soa::spans::{OpenSpans, SolidSpans, SpanGraph};

/// A window pays when the grid is at least so many times as large.
const WORTH: usize = 2;

/// A rectangle of columns and the grid it is cut from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    x: usize,
    z: usize,
    width: usize,
    depth: usize,
    grid_width: usize,
    grid_depth: usize,
}

impl Window {
    /// The columns with spans and those around them; nothing where cutting them out would not pay.
    /// Cost: two searches in each row.
    pub(super) fn of(solid: &SolidSpans) -> Option<Self> {
        let (grid_width, grid_depth) = (solid.width as usize, solid.depth as usize);
        let (mut low, mut high) = ([usize::MAX; 2], [0; 2]);
        for z in 0..grid_depth {
            let row = &solid.cell_first[z * grid_width..=(z + 1) * grid_width];
            let (start, end) = (row[0], row[grid_width]);
            if start == end {
                continue;
            }
            let first = row.partition_point(|&span| span <= start) - 1;
            let last = row.partition_point(|&span| span < end) - 1;
            low = [low[0].min(first), low[1].min(z)];
            high = [high[0].max(last), z];
        }
        let along = |axis: usize, cells: usize| {
            let from = low[axis].saturating_sub(1).min(cells - 1);
            let to = (high[axis] + 2).min(cells);
            (from, to.saturating_sub(from).max(1))
        };
        let ((x, width), (z, depth)) = (along(0, grid_width), along(1, grid_depth));
        (width * depth * WORTH <= grid_width * grid_depth).then_some(Self {
            x,
            z,
            width,
            depth,
            grid_width,
            grid_depth,
        })
    }

    /// Leaves the columns of the window, in place.
    pub(super) fn cut(&self, solid: &mut SolidSpans) {
        let first = &mut solid.cell_first;
        for z in 0..self.depth {
            let from = (self.z + z) * self.grid_width + self.x;
            first.copy_within(from..from + self.width, z * self.width);
        }
        first.truncate(self.width * self.depth);
        first.push(solid.min.len() as u32);
        (solid.width, solid.depth) = (self.width as u32, self.depth as u32);
    }

    /// Puts what became of the window's columns back into the grid; `spare` is working memory.
    pub(super) fn put_back(
        &self,
        spans: &mut OpenSpans,
        graph: &mut SpanGraph,
        spare: &mut Vec<u32>,
    ) {
        let own = &spans.cell_first;
        spare.clear();
        spare.resize(self.z * self.grid_width, 0);
        for z in 0..self.depth {
            let (from, to) = (z * self.width, (z + 1) * self.width);
            spare.resize(spare.len() + self.x, own[from]);
            spare.extend_from_slice(&own[from..to]);
            spare.resize((self.z + z + 1) * self.grid_width, own[to]);
        }
        spare.resize(
            self.grid_width * self.grid_depth + 1,
            spans.floor.len() as u32,
        );
        core::mem::swap(&mut spans.cell_first, spare);
        (spans.width, spans.depth) = (self.grid_width as u32, self.grid_depth as u32);
        for cell in graph.cell.iter_mut().chain(&mut graph.stacked) {
            let (x, z) = (*cell as usize % self.width, *cell as usize / self.width);
            *cell = ((self.z + z) * self.grid_width + self.x + x) as u32;
        }
    }
}

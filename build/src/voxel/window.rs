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
        if grid_width == 0 || grid_depth == 0 {
            return None;
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use throng_soa::spans::SpanColumns;

    /// A grid with a span in each of the columns given.
    fn grid(width: u32, depth: u32, columns: impl IntoIterator<Item = (u32, u32)>) -> SolidSpans {
        let mut spans = SpanColumns::default();
        spans.reset(width, depth);
        for (x, z) in columns {
            spans.add((x + z * width) as usize, 0, 1, 63, 1);
        }
        let mut solid = SolidSpans::default();
        spans.pack(&mut solid);
        solid
    }

    #[test]
    fn a_grid_without_columns_has_no_window() {
        assert!(Window::of(&SolidSpans::default()).is_none());
    }

    #[test]
    fn matter_is_found_with_a_column_around_it() {
        let of = |solid: &SolidSpans| {
            Window::of(solid).map(|window| [window.x, window.z, window.width, window.depth])
        };
        let strip = (0..200).flat_map(|x| (3..7).map(move |z| (x, z)));
        assert_eq!(of(&grid(200, 100, strip.clone())), Some([0, 2, 200, 6]));
        let turned = strip.map(|(x, z)| (z, x));
        assert_eq!(of(&grid(100, 200, turned)), Some([2, 0, 6, 200]));
        let corner = [(9, 5), (8, 4)];
        assert_eq!(of(&grid(10, 6, corner)), Some([7, 3, 3, 3]));
        assert_eq!(of(&grid(10, 6, [(0, 0)])), Some([0, 0, 2, 2]));
        // Nothing at all is as little as can be; much is left as it is.
        assert!(of(&grid(10, 6, [])).is_some_and(|[.., width, depth]| width * depth == 1));
        assert_eq!(of(&grid(10, 6, [(1, 1), (8, 4)])), None);
        assert_eq!(of(&grid(1, 1, [(0, 0)])), None);
    }

    #[test]
    fn columns_cut_out_are_those_of_the_grid() {
        let places = [(4, 3), (5, 3), (7, 5)];
        let whole = grid(20, 20, places);
        let (mut cut, window) = (whole.clone(), Window::of(&whole).unwrap());
        window.cut(&mut cut);
        assert_eq!(cut, grid(6, 5, places.map(|(x, z)| (x - 3, z - 2))));
    }
}

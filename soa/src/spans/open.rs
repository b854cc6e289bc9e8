//! Open spans: standing room, its links, and the graph of mutual links.

use super::{DIRECTION_X, DIRECTION_Z, NO_SPAN};

/// The six link bits that say "no link in this direction".
pub const NO_LINK: u32 = 63;

/// The direction that leads back.
#[inline]
#[must_use]
pub const fn opposite(direction: usize) -> usize {
    (direction + 2) & 3
}

/// The compact heightfield: every place with a walkable floor, packed by column, bottom up.
///
/// All span columns share one length. A link names a span of the neighbouring column by its place
/// inside that column; it leads to the lowest span that fits and may be one-way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenSpans {
    /// Cells along x.
    pub width: u32,
    /// Cells along z.
    pub depth: u32,
    /// First span of each column, then the span count: `width * depth + 1` entries.
    pub cell_first: Vec<u32>,
    /// Floor row: the row just above the solid below.
    pub floor: Vec<u16>,
    /// Free rows above the floor; 65535 when nothing is above or the room is that tall.
    pub height: Vec<u16>,
    /// Area id; 0 when the span was taken out after compaction.
    pub area: Vec<u8>,
    /// Region id; 0 when the span has none.
    pub region: Vec<u32>,
    /// Links, 6 bits per direction at `6 * direction`; 63 is no link.
    pub links: Vec<u32>,
    /// Largest region id in use.
    pub region_count: u32,
}

impl OpenSpans {
    /// Spans of all columns together.
    #[inline]
    #[must_use]
    pub fn span_count(&self) -> usize {
        self.floor.len()
    }

    /// Span indices of one column, bottom up.
    #[inline]
    #[must_use]
    pub fn cell_range(&self, cell: usize) -> core::ops::Range<usize> {
        self.cell_first[cell] as usize..self.cell_first[cell + 1] as usize
    }

    /// The column next to `cell`, or `None` outside the grid.
    #[inline]
    #[must_use]
    pub fn neighbor_cell(&self, cell: usize, direction: usize) -> Option<usize> {
        let (width, depth) = (self.width as i32, self.depth as i32);
        let x = (cell % self.width as usize) as i32 + DIRECTION_X[direction];
        let z = (cell / self.width as usize) as i32 + DIRECTION_Z[direction];
        (x >= 0 && x < width && z >= 0 && z < depth).then(|| (x + z * width) as usize)
    }

    /// The span that `span` of column `cell` links to, [`NO_SPAN`] when there is none.
    #[inline]
    #[must_use]
    pub fn link_target(&self, cell: usize, span: usize, direction: usize) -> u32 {
        let link = (self.links[span] >> (6 * direction)) & NO_LINK;
        if link == NO_LINK {
            return NO_SPAN;
        }
        match self.neighbor_cell(cell, direction) {
            Some(next) => self.cell_first[next] + link,
            None => NO_SPAN,
        }
    }
}

/// The links of [`OpenSpans`] resolved to span indices, kept where both ends link to each other.
///
/// Derived data: links depend on floors and heights alone, so one rebuild serves every later
/// change of areas and regions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpanGraph {
    /// Mutual neighbour of each span in directions −x, +z, +x, −z; [`NO_SPAN`] where none.
    pub neighbor: Vec<[u32; 4]>,
    /// Column index of each span.
    pub cell: Vec<u32>,
    /// Whether some link is one-way (such links are missing from `neighbor`).
    pub one_way: bool,
    /// Whether two perpendicular steps lead to the same span in either order, wherever a span has
    /// all four neighbours. Sweeps over such a graph are exact after one round.
    pub steps_commute: bool,
    /// Columns of two spans or more, ascending. Only links from or to them can be one-way.
    pub stacked: Vec<u32>,
}

impl SpanGraph {
    /// Rebuilds the graph from the links of `spans`, reusing memory. Cost: one pass over the spans.
    pub fn rebuild(&mut self, spans: &OpenSpans) {
        let count = spans.span_count();
        let (width, depth) = (spans.width as usize, spans.depth as usize);
        self.cell.clear();
        self.cell.resize(count, 0);
        self.neighbor.clear();
        self.neighbor.resize(count, [NO_SPAN; 4]);
        self.stacked.clear();
        let first = &spans.cell_first[..];
        for z in 0..depth {
            let row = z * width;
            // Where neighbouring columns start. Outside the grid any number will do: nothing
            // links there.
            let own = &first[row..=row + width];
            let south = &first[row.saturating_sub(width)..][..width];
            let north = &first[(row + width).min((depth - 1) * width)..][..width];
            let mut west = own[0];
            for x in 0..width {
                let cell = (row + x) as u32;
                let (start, end) = (own[x], own[x + 1]);
                let base = [west, north[x], end, south[x]];
                west = start;
                if end - start > 1 {
                    self.stacked.push(cell);
                }
                for span in start as usize..end as usize {
                    let links = spans.links[span];
                    self.cell[span] = cell;
                    self.neighbor[span] = core::array::from_fn(|direction| {
                        let link = (links >> (6 * direction)) & NO_LINK;
                        if link == NO_LINK {
                            NO_SPAN
                        } else {
                            base[direction] + link
                        }
                    });
                }
            }
        }
        // Two spans side by side in columns of one span each always agree about their link, so
        // one-way links and unequal orders of steps both need a stacked column.
        self.drop_one_way_links(spans);
        self.steps_commute = self.check_steps_commute(spans);
    }

    fn drop_one_way_links(&mut self, spans: &OpenSpans) {
        self.one_way = false;
        for i in 0..self.stacked.len() {
            let cell = self.stacked[i] as usize;
            for direction in 0..4 {
                for span in spans.cell_range(cell) {
                    self.drop_if_one_way(spans, span, direction);
                }
                if let Some(next) = spans.neighbor_cell(cell, direction) {
                    for span in spans.cell_range(next) {
                        self.drop_if_one_way(spans, span, opposite(direction));
                    }
                }
            }
        }
    }

    fn drop_if_one_way(&mut self, spans: &OpenSpans, span: usize, direction: usize) {
        let target = self.neighbor[span][direction];
        if target == NO_SPAN {
            return;
        }
        // Compared with the stored link, not with the table: the table is being thinned.
        let back = (spans.links[target as usize] >> (6 * opposite(direction))) & NO_LINK;
        let place = span as u32 - spans.cell_first[self.cell[span] as usize];
        if back != place {
            self.neighbor[span][direction] = NO_SPAN;
            self.one_way = true;
        }
    }

    /// A corner column of at most one span leaves no choice of floor, so only spans that have a
    /// stacked column at a corner are looked at.
    fn check_steps_commute(&self, spans: &OpenSpans) -> bool {
        self.stacked.iter().all(|&corner| {
            (0..4).all(|direction| {
                let turn = (direction + 1) & 3;
                let side = spans.neighbor_cell(corner as usize, opposite(direction));
                let cell = side.and_then(|side| spans.neighbor_cell(side, opposite(turn)));
                cell.is_none_or(|cell| {
                    spans.cell_range(cell).all(|span| {
                        let targets = self.neighbor[span];
                        if targets.contains(&NO_SPAN) {
                            return true;
                        }
                        let one = self.neighbor[targets[direction] as usize][turn];
                        let other = self.neighbor[targets[turn] as usize][direction];
                        one == other || one == NO_SPAN || other == NO_SPAN
                    })
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One row of columns; each span is `(floor, links)`.
    fn row(columns: &[&[(u16, u32)]]) -> OpenSpans {
        let mut spans = OpenSpans {
            width: columns.len() as u32,
            depth: 1,
            ..OpenSpans::default()
        };
        for column in columns {
            spans.cell_first.push(spans.floor.len() as u32);
            for &(floor, links) in *column {
                spans.floor.push(floor);
                spans.height.push(65535);
                spans.area.push(63);
                spans.region.push(0);
                spans.links.push(links);
            }
        }
        spans.cell_first.push(spans.floor.len() as u32);
        spans
    }

    fn links(minus_x: u32, plus_x: u32) -> u32 {
        minus_x | NO_LINK << 6 | plus_x << 12 | NO_LINK << 18
    }

    #[test]
    fn a_link_that_is_not_returned_is_dropped() {
        // Both spans of column 0 link to the one span of column 1, which links back to the lower.
        let spans = row(&[
            &[(4, links(NO_LINK, 0)), (6, links(NO_LINK, 0))],
            &[(5, links(0, NO_LINK))],
        ]);
        let mut graph = SpanGraph::default();
        graph.rebuild(&spans);
        assert_eq!(graph.neighbor[0], [NO_SPAN, NO_SPAN, 2, NO_SPAN]);
        assert_eq!(graph.neighbor[1], [NO_SPAN; 4]);
        assert_eq!(graph.neighbor[2], [0, NO_SPAN, NO_SPAN, NO_SPAN]);
        assert_eq!(graph.cell, [0, 0, 1]);
        assert!(graph.one_way);
        assert_eq!(graph.stacked, [0]);
        assert_eq!(spans.link_target(0, 1, 2), 2);
    }

    #[test]
    fn a_link_into_an_upper_span_is_resolved_by_its_place() {
        let spans = row(&[
            &[(9, links(NO_LINK, 1))],
            &[(1, links(NO_LINK, NO_LINK)), (9, links(0, NO_LINK))],
        ]);
        let mut graph = SpanGraph::default();
        graph.rebuild(&spans);
        assert_eq!(graph.neighbor[0][2], 2);
        assert_eq!(graph.neighbor[2][0], 0);
        assert!(!graph.one_way);
        assert_eq!(spans.link_target(0, 0, 2), 2);
        assert_eq!(spans.link_target(0, 0, 0), NO_SPAN);
    }
}

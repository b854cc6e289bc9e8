//! Solid spans: the matter of a level, column by column.
//!
//! [`SpanColumns`] takes spans in any order and merges them as they come (each column is a short
//! sorted list in one shared pool); [`SolidSpans`] is the packed result every later stage reads.
//! The builder object is scratch: cleared, not freed, between tiles.

use super::NO_SPAN;

/// Solid spans packed by column, bottom up. All four span columns share one length.
///
/// Spans of one column are disjoint and never touch: `max[i] < min[i + 1]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SolidSpans {
    /// Cells along x.
    pub width: u32,
    /// Cells along z.
    pub depth: u32,
    /// First span of each column, then the span count: `width * depth + 1` entries.
    pub cell_first: Vec<u32>,
    /// Lowest row of the span.
    pub min: Vec<u16>,
    /// Row just above the span; its top is the surface.
    pub max: Vec<u16>,
    /// Area id of the top surface, 0 when it cannot be walked.
    pub area: Vec<u8>,
}

impl SolidSpans {
    /// Spans of all columns together.
    #[inline]
    #[must_use]
    pub fn span_count(&self) -> usize {
        self.min.len()
    }

    /// Span indices of one column, bottom up.
    #[inline]
    #[must_use]
    pub fn cell_range(&self, cell: usize) -> core::ops::Range<usize> {
        self.cell_first[cell] as usize..self.cell_first[cell + 1] as usize
    }
}

/// One span of a column list.
#[derive(Clone, Copy, Debug)]
struct Node {
    next: u32,
    min: u16,
    max: u16,
    area: u8,
}

/// A heightfield under construction: one sorted list of spans per column, all in one pool.
#[derive(Clone, Debug, Default)]
pub struct SpanColumns {
    width: u32,
    depth: u32,
    head: Vec<u32>,
    nodes: Vec<Node>,
    free: u32,
    overfull: bool,
}

/// Most spans under or over each other that a column takes. Each new one walks past the others, so
/// a pile without a bound would take time without one; links tell at most 63 apart anyway.
pub const MAX_COLUMN_SPANS: usize = 255;
/// Most spans of one heightfield under construction.
pub const MAX_SPANS: usize = 1 << 24;

impl SpanColumns {
    /// Empties the columns and gives them a new size, keeping the memory.
    pub fn reset(&mut self, width: u32, depth: u32) {
        self.width = width;
        self.depth = depth;
        self.head.clear();
        self.head.resize(width as usize * depth as usize, NO_SPAN);
        self.nodes.clear();
        self.free = NO_SPAN;
        self.overfull = false;
    }

    /// Whether a span was turned away because its column held [`MAX_COLUMN_SPANS`] below it, or the
    /// heightfield [`MAX_SPANS`]. What the columns hold then means nothing.
    #[must_use]
    pub fn overfull(&self) -> bool {
        self.overfull
    }

    /// Cells along x.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Cells along z.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Adds the rows `min..max` with `area` to `column`, joining every span they overlap or touch.
    ///
    /// Joined spans keep the higher top and that top's area; tops at most `threshold` rows apart
    /// take the larger of the two area ids. The rule is not associative: the result depends on
    /// the order of the calls, and on nothing else. Cost: the spans of the column up to `max`.
    ///
    /// # Panics
    /// When `column` is not a column of the grid. `min < max` is the caller's promise.
    #[inline]
    pub fn add(&mut self, column: usize, min: u16, max: u16, area: u8, threshold: i32) {
        debug_assert!(min < max, "empty span {min}..{max}");
        if self.overfull {
            return;
        }
        let mut below = 0;
        let mut previous = NO_SPAN;
        let mut current = self.head[column];
        while current != NO_SPAN {
            let node = self.nodes[current as usize];
            if node.max >= min {
                break;
            }
            previous = current;
            current = node.next;
            below += 1;
        }
        if below >= MAX_COLUMN_SPANS || self.nodes.len() >= MAX_SPANS {
            self.overfull = true;
            return;
        }

        let (mut low, mut high, mut area) = (min, max, area);
        let mut slot = NO_SPAN;
        while current != NO_SPAN {
            let node = self.nodes[current as usize];
            if node.min > high {
                break;
            }
            let rise = i32::from(node.max) - i32::from(high);
            if rise > 0 {
                area = if rise <= threshold {
                    area.max(node.area)
                } else {
                    node.area
                };
                high = node.max;
            } else if -rise <= threshold {
                area = area.max(node.area);
            }
            low = low.min(node.min);
            // The first joined node is reused for the result, the others go to the free list.
            if slot == NO_SPAN {
                slot = current;
            } else {
                self.nodes[current as usize].next = self.free;
                self.free = current;
            }
            current = node.next;
        }

        let node = Node {
            next: current,
            min: low,
            max: high,
            area,
        };
        if slot == NO_SPAN {
            slot = self.free;
            if slot == NO_SPAN {
                slot = self.nodes.len() as u32;
                self.nodes.push(node);
            } else {
                self.free = self.nodes[slot as usize].next;
            }
        }
        self.nodes[slot as usize] = node;
        if previous == NO_SPAN {
            self.head[column] = slot;
        } else {
            self.nodes[previous as usize].next = slot;
        }
    }

    /// Refills the columns from packed spans, so that more matter can be added to them.
    pub fn load(&mut self, spans: &SolidSpans) {
        self.reset(spans.width, spans.depth);
        for cell in 0..self.head.len() {
            let range = spans.cell_range(cell);
            let last = range.end;
            for span in range.clone() {
                let next = if span + 1 < last {
                    span as u32 + 1
                } else {
                    NO_SPAN
                };
                self.nodes.push(Node {
                    next,
                    min: spans.min[span],
                    max: spans.max[span],
                    area: spans.area[span],
                });
            }
            if !range.is_empty() {
                self.head[cell] = range.start as u32;
            }
        }
    }

    /// Writes the columns as packed spans, reusing the memory of `out`.
    pub fn pack(&self, out: &mut SolidSpans) {
        out.width = self.width;
        out.depth = self.depth;
        out.cell_first.clear();
        out.min.clear();
        out.max.clear();
        out.area.clear();
        out.cell_first.reserve(self.head.len() + 1);
        out.min.reserve(self.nodes.len());
        out.max.reserve(self.nodes.len());
        out.area.reserve(self.nodes.len());
        for &head in &self.head {
            out.cell_first.push(out.min.len() as u32);
            let mut current = head;
            while current != NO_SPAN {
                let node = self.nodes[current as usize];
                out.min.push(node.min);
                out.max.push(node.max);
                out.area.push(node.area);
                current = node.next;
            }
        }
        out.cell_first.push(out.min.len() as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(adds: &[(u16, u16, u8)], threshold: i32) -> Vec<(u16, u16, u8)> {
        let mut columns = SpanColumns::default();
        columns.reset(1, 1);
        for &(min, max, area) in adds {
            columns.add(0, min, max, area, threshold);
        }
        let mut out = SolidSpans::default();
        columns.pack(&mut out);
        let mut again = SolidSpans::default();
        let mut reloaded = SpanColumns::default();
        reloaded.load(&out);
        reloaded.pack(&mut again);
        assert_eq!(out, again);
        (0..out.span_count())
            .map(|i| (out.min[i], out.max[i], out.area[i]))
            .collect()
    }

    #[test]
    fn spans_stay_sorted_and_apart_whatever_the_order() {
        assert_eq!(
            column(&[(8, 9, 3), (1, 2, 1), (4, 6, 2)], 0),
            [(1, 2, 1), (4, 6, 2), (8, 9, 3)]
        );
    }

    #[test]
    fn touching_spans_join_and_the_gap_of_one_row_keeps_them_apart() {
        assert_eq!(column(&[(0, 2, 1), (2, 4, 2)], 0), [(0, 4, 2)]);
        assert_eq!(column(&[(2, 4, 2), (0, 2, 1)], 0), [(0, 4, 2)]);
        assert_eq!(column(&[(0, 2, 1), (3, 4, 2)], 0), [(0, 2, 1), (3, 4, 2)]);
    }

    #[test]
    fn equal_tops_take_the_larger_area() {
        assert_eq!(column(&[(0, 4, 5), (2, 4, 9)], 0), [(0, 4, 9)]);
        assert_eq!(column(&[(0, 4, 9), (2, 4, 5)], 0), [(0, 4, 9)]);
    }

    #[test]
    fn the_threshold_decides_whether_a_lower_top_lends_its_area() {
        // New top is the higher one.
        assert_eq!(column(&[(0, 4, 9), (2, 6, 5)], 1), [(0, 6, 5)]);
        assert_eq!(column(&[(0, 4, 9), (2, 6, 5)], 2), [(0, 6, 9)]);
        // Old top is the higher one.
        assert_eq!(column(&[(2, 6, 5), (0, 4, 9)], 1), [(0, 6, 5)]);
        assert_eq!(column(&[(2, 6, 5), (0, 4, 9)], 2), [(0, 6, 9)]);
    }

    #[test]
    fn joining_runs_bottom_up_with_the_growing_top() {
        // 2..5 touches 0..2 and 5..7; after taking 7 as top it does not reach 8..9.
        assert_eq!(
            column(&[(0, 2, 1), (5, 7, 2), (8, 9, 4), (2, 5, 3)], 0),
            [(0, 7, 2), (8, 9, 4)]
        );
        // The node freed by the join is used again.
        assert_eq!(
            column(
                &[(0, 2, 1), (5, 7, 2), (8, 9, 4), (2, 5, 3), (20, 21, 6)],
                0
            ),
            [(0, 7, 2), (8, 9, 4), (20, 21, 6)]
        );
    }
}

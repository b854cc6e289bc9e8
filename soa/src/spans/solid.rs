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
    /// Row just above the highest span added.
    highest: u16,
    /// Spans that walks longer than [`MAX_COLUMN_SPANS`] may still pass.
    long_walks: usize,
    turned_away: bool,
    /// The span made last, and its column: what is added upward need not walk past the rest.
    last: u32,
    last_column: usize,
}

/// Most spans over each other in a column, as many as a tile has layers. A new span walks past
/// those below it and layers are told apart by all spans of a column, so without a bound a pile of
/// thin floors would take its square. Links tell 63 floors apart.
///
/// The columns are judged as they end up, so the order of the spans does not matter: one that is
/// above the limit until later spans join what it holds is no harm.
pub const MAX_COLUMN_SPANS: usize = 1024;
/// Spans a walk passes before it looks for a shorter way.
const LONG_WALK: usize = 16;
/// Most spans of one heightfield under construction, at any time.
pub const MAX_SPANS: usize = 1 << 24;
/// Spans passed by walks longer than [`MAX_COLUMN_SPANS`], all together: about a second. Only
/// columns above the limit have such walks, and few levels have such columns even for a while.
const MAX_LONG_WALKS: usize = 1 << 26;

impl SpanColumns {
    /// Empties the columns and gives them a new size, keeping the memory.
    pub fn reset(&mut self, width: u32, depth: u32) {
        self.width = width;
        self.depth = depth;
        self.head.clear();
        self.head.resize(width as usize * depth as usize, NO_SPAN);
        self.nodes.clear();
        self.free = NO_SPAN;
        self.highest = 0;
        self.long_walks = MAX_LONG_WALKS;
        self.turned_away = false;
        self.last = NO_SPAN;
        self.last_column = 0;
    }

    /// Whether a column holds more than [`MAX_COLUMN_SPANS`], or spans were turned away: there were
    /// [`MAX_SPANS`], or columns above their limit were added to without end. Once a span is turned
    /// away so are all that follow, and what the columns hold means nothing. Cost: nothing for a
    /// level of up to 2048 rows, else one pass over the spans.
    #[must_use]
    pub fn overfull(&self) -> bool {
        // Spans of a column do not touch, so each needs two rows.
        let tall = usize::from(self.highest) > 2 * MAX_COLUMN_SPANS;
        self.turned_away || (tall && (0..self.head.len()).any(|column| self.is_deep(column)))
    }

    fn is_deep(&self, column: usize) -> bool {
        let mut count = 0;
        let mut current = self.head[column];
        while current != NO_SPAN && count <= MAX_COLUMN_SPANS {
            current = self.nodes[current as usize].next;
            count += 1;
        }
        count > MAX_COLUMN_SPANS
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
    /// the order of the calls, and on nothing else; but which rows are covered in the end, and by
    /// how many spans, is the same in every order. Cost: the spans of the column up to `max`,
    /// or those from the span made last if that is in the column and below.
    ///
    /// # Panics
    /// When `column` is not a column of the grid. `min < max` is the caller's promise.
    #[inline]
    pub fn add(&mut self, column: usize, min: u16, max: u16, area: u8, threshold: i32) {
        debug_assert!(min < max, "empty span {min}..{max}");
        if self.turned_away {
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
            if below == LONG_WALK {
                (previous, current) = self.skip_to_last(column, min, (previous, current));
            }
        }
        if below > MAX_COLUMN_SPANS && !self.pay_long_walk(below) {
            return;
        }
        self.highest = self.highest.max(max);

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
                if self.nodes.len() >= MAX_SPANS {
                    self.turned_away = true;
                    return;
                }
                slot = self.nodes.len() as u32;
                self.nodes.push(node);
            } else {
                self.free = self.nodes[slot as usize].next;
            }
        }
        self.nodes[slot as usize] = node;
        self.last = slot;
        self.last_column = column;
        if previous == NO_SPAN {
            self.head[column] = slot;
        } else {
            self.nodes[previous as usize].next = slot;
        }
    }

    /// Where a walk up a column to row `min` goes on: behind the span made last, if that is in the
    /// column, farther up and still below `min`.
    #[cold]
    fn skip_to_last(&self, column: usize, min: u16, here: (u32, u32)) -> (u32, u32) {
        if self.last == NO_SPAN || self.last_column != column {
            return here;
        }
        let last = self.nodes[self.last as usize];
        if last.max < min && last.max > self.nodes[here.0 as usize].max {
            (self.last, last.next)
        } else {
            here
        }
    }

    /// Whether a walk past `spans` spans may go on; if not, nothing more is taken.
    #[cold]
    fn pay_long_walk(&mut self, spans: usize) -> bool {
        match self.long_walks.checked_sub(spans) {
            Some(left) => self.long_walks = left,
            None => self.turned_away = true,
        }
        !self.turned_away
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
                self.highest = self.highest.max(spans.max[span]);
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

    /// Columns of one cell after floors at the given rows, each one row thick.
    fn floors(rows: impl IntoIterator<Item = u16>) -> SpanColumns {
        let mut columns = SpanColumns::default();
        columns.reset(1, 1);
        for row in rows {
            columns.add(0, row, row + 1, 1 + (row % 63) as u8, 1);
        }
        columns
    }

    fn packed(columns: &SpanColumns) -> SolidSpans {
        let mut out = SolidSpans::default();
        columns.pack(&mut out);
        out
    }

    /// Upward, downward, from both ends inward, and shuffled.
    fn orders(floors: u16) -> [Vec<u16>; 4] {
        let upward: Vec<u16> = (0..floors).map(|floor| 3 * floor).collect();
        let downward: Vec<u16> = upward.iter().rev().copied().collect();
        let ends = upward.iter().zip(&downward).flat_map(|(&a, &b)| [a, b]);
        let inward = ends.take(usize::from(floors)).collect();
        let mut shuffled = upward.clone();
        let mut rng = crate::rng::SplitMix64::new(u64::from(floors));
        for i in (1..shuffled.len()).rev() {
            shuffled.swap(i, rng.next_below(i as u32 + 1) as usize);
        }
        [upward, downward, inward, shuffled]
    }

    #[test]
    fn a_tower_is_taken_or_refused_in_any_order() {
        for (count, overfull) in [
            (200, false),
            (MAX_COLUMN_SPANS as u16, false),
            (MAX_COLUMN_SPANS as u16 + 1, true),
            (5000, true),
        ] {
            let orders = orders(count);
            let first = packed(&floors(orders[0].iter().copied()));
            assert_eq!(first.span_count(), usize::from(count));
            for order in orders {
                let columns = floors(order);
                assert_eq!(columns.overfull(), overfull, "{count}");
                assert_eq!(packed(&columns), first);
            }
        }
    }

    #[test]
    fn a_column_is_judged_as_it_ends_up() {
        // Two thousand floors and a wall through most of them: one span and what is left over it.
        let left = 20;
        for wall_first in [false, true] {
            let mut columns = SpanColumns::default();
            columns.reset(1, 1);
            let wall = |columns: &mut SpanColumns| columns.add(0, 0, 2 * (2000 - left), 1, 1);
            if wall_first {
                wall(&mut columns);
            }
            for row in 0..2000 {
                columns.add(0, 2 * row, 2 * row + 1, 1, 1);
            }
            if !wall_first {
                assert!(columns.overfull());
                wall(&mut columns);
            }
            assert!(!columns.overfull());
            // The lowest floor left touches the wall.
            assert_eq!(packed(&columns).span_count(), usize::from(left));
        }
    }

    #[test]
    fn every_column_is_judged() {
        let mut columns = SpanColumns::default();
        columns.reset(3, 2);
        for row in 0..=MAX_COLUMN_SPANS as u16 {
            assert!(!columns.overfull());
            columns.add(4, 2 * row, 2 * row + 1, 1, 1);
            columns.add(row as usize % 4, 2 * row, 2 * row + 1, 1, 1);
        }
        assert!(columns.overfull());
        // Loaded spans count as added ones do, and a reset forgets them.
        let mut reloaded = SpanColumns::default();
        reloaded.load(&packed(&columns));
        assert!(reloaded.overfull());
        reloaded.reset(3, 2);
        assert!(!reloaded.overfull());
    }

    #[test]
    fn long_walks_come_to_an_end() {
        // Each of the lower floors walks past all before it, since the one before was a high one.
        let ends = |floor: u16| [2 * floor, 65_534 - 2 * floor];
        let mut columns = floors((0..16_000).flat_map(ends));
        assert!(columns.turned_away && columns.overfull());
        let held = packed(&columns).span_count();
        assert!((20_000..26_000).contains(&held), "{held}");
        // Nothing is taken any more, not even a wall that would join everything.
        columns.add(0, 0, u16::MAX, 1, 1);
        assert_eq!(packed(&columns).span_count(), held);
        assert!(columns.overfull());
        // Straight down or up nothing is walked past, and the pile is refused all the same.
        let columns = floors((0..32_000).rev().map(|floor| 2 * floor));
        assert!(!columns.turned_away && columns.overfull());
        let columns = floors((0..32_000).map(|floor| 2 * floor));
        assert!(!columns.turned_away && columns.overfull());
    }
}

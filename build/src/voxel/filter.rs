//! The three filters on solid spans. Each changes area ids only.
//!
//! In: merged solid spans and lengths in rows. Out: the same spans, some made walkable (an object
//! low enough to step onto) and some made unwalkable (no headroom, or a drop beside them). The set
//! of rules is Recast's (Mononen, 2009). Departure: every filter decides from the areas and the
//! geometry it was given, never from what it has already changed, so the visiting order is free.

use throng_soa::spans::{NULL_AREA, SolidSpans, UNBOUNDED};

/// Lets agents step onto low things: an unwalkable span whose top is at most `climb` rows above
/// the top of a walkable span right below it takes that span's area.
pub fn filter_low_hanging_obstacles(spans: &mut SolidSpans, climb: i32) {
    let SolidSpans {
        cell_first,
        max,
        area,
        ..
    } = spans;
    for ends in cell_first.windows(2) {
        let mut below: Option<(u8, u16)> = None;
        for span in ends[0] as usize..ends[1] as usize {
            let own = area[span];
            if let Some((below_area, below_max)) = below {
                if own == NULL_AREA
                    && below_area != NULL_AREA
                    && i32::from(max[span]) - i32::from(below_max) <= climb
                {
                    area[span] = below_area;
                }
            }
            below = Some((own, max[span]));
        }
    }
}

/// Working memory of [`filter_ledge_spans`]: the columns of exactly one span, laid out by cell.
#[derive(Clone, Debug, Default)]
pub struct LedgeScratch {
    /// Lowest row of the span.
    low: Vec<i32>,
    /// Row above the span; [`NOT_PLAIN`] when the column has no or several spans.
    top: Vec<i32>,
    /// What one row of cells comes to: [`KEEP`], [`LEDGE`] or [`LOOK`].
    verdict: Vec<u8>,
}

const NOT_PLAIN: i32 = -1;
/// Spans of a column that are looked at one by one rather than searched.
const SHORT_COLUMN: usize = 8;
const KEEP: u8 = 0;
const LEDGE: u8 = 1;
const LOOK: u8 = 2;

/// Takes away standing room beside a drop deeper than `climb`, and room on slopes so steep that
/// the reachable floors around it differ by more than `climb`. The grid's border counts as a drop.
///
/// A neighbouring gap is reachable when the two openings overlap by at least `height` rows.
/// Cost: one pass; where five columns of one span meet it runs several cells at a time.
pub fn filter_ledge_spans(
    spans: &mut SolidSpans,
    height: i32,
    climb: i32,
    scratch: &mut LedgeScratch,
) {
    let (width, depth) = (spans.width as usize, spans.depth as usize);
    let LedgeScratch { low, top, verdict } = scratch;
    spread_plain_columns(spans, low, top);
    let SolidSpans {
        cell_first,
        min,
        max,
        area,
        ..
    } = spans;
    let column = |cell: usize| cell_first[cell] as usize..cell_first[cell + 1] as usize;
    verdict.clear();
    verdict.resize(width, LEDGE);
    for z in 0..depth {
        let row = z * width;
        if z == 0 || z + 1 == depth || width < 3 {
            area[column(row).start..column(row + width - 1).end].fill(NULL_AREA);
            continue;
        }
        judge_plain_row(low, top, row, width, height, climb, verdict);
        for (x, &verdict) in verdict.iter().enumerate() {
            if verdict == KEEP {
                continue;
            }
            let cell = row + x;
            let own = column(cell);
            if verdict == LEDGE {
                area[own].fill(NULL_AREA);
                continue;
            }
            if area[own.clone()].iter().all(|&area| area == NULL_AREA) {
                continue;
            }
            let neighbors = [
                column(cell - 1),
                column(cell + width),
                column(cell + 1),
                column(cell - width),
            ]
            .map(|range| (&min[range.clone()], &max[range]));
            for span in own.clone() {
                if area[span] == NULL_AREA {
                    continue;
                }
                let floor = i32::from(max[span]);
                let ceiling = ceiling_of(min, span, own.end);
                if is_ledge(&neighbors, floor, ceiling, height, climb) {
                    area[span] = NULL_AREA;
                }
            }
        }
    }
}

/// Lays the columns of one span out by cell.
fn spread_plain_columns(spans: &SolidSpans, low: &mut Vec<i32>, top: &mut Vec<i32>) {
    low.clear();
    top.clear();
    let columns = spans.cell_first.windows(2);
    low.extend(columns.clone().map(|ends| {
        let span = ends[0] as usize;
        spans.min.get(span).map_or(0, |&row| i32::from(row))
    }));
    top.extend(columns.map(|ends| {
        if ends[1] - ends[0] == 1 {
            i32::from(spans.max[ends[0] as usize])
        } else {
            NOT_PLAIN
        }
    }));
}

/// Judges the inner cells of a row whose five columns hold one span each; the others must be
/// looked at span by span. With one span a column is open to the sky, so the gap above it is
/// always reachable and only the one below needs the headroom test.
fn judge_plain_row(
    low: &[i32],
    top: &[i32],
    row: usize,
    width: usize,
    height: i32,
    climb: i32,
    verdict: &mut [u8],
) {
    const FAR: i32 = 1 << 29;
    let inner = width - 2;
    let at = |start: usize| (&low[start..start + inner], &top[start..start + inner]);
    let own = &top[row + 1..row + 1 + inner];
    let (west_low, west_top) = at(row);
    let (east_low, east_top) = at(row + 2);
    let (south_low, south_top) = at(row + 1 - width);
    let (north_low, north_top) = at(row + 1 + width);
    let verdict = &mut verdict[1..1 + inner];
    for x in 0..inner {
        let floor = own[x];
        let mut odd = floor < 0;
        let mut ledge = false;
        let (mut lowest, mut highest) = (FAR, -FAR);
        for (bottom, surface) in [
            (west_low[x], west_top[x]),
            (east_low[x], east_top[x]),
            (south_low[x], south_top[x]),
            (north_low[x], north_top[x]),
        ] {
            odd |= surface < 0;
            ledge |= (bottom - floor >= height) | (surface - floor < -climb);
            let reachable = surface - floor <= climb;
            lowest = lowest.min(if reachable { surface } else { FAR });
            highest = highest.max(if reachable { surface } else { -FAR });
        }
        ledge |= highest - lowest > climb;
        verdict[x] = if odd {
            LOOK
        } else if ledge {
            LEDGE
        } else {
            KEEP
        };
    }
}

/// Takes away standing room with less than `height` rows of air above it.
pub fn filter_low_height_spans(spans: &mut SolidSpans, height: i32) {
    for cell in 0..spans.cell_first.len().saturating_sub(1) {
        let range = spans.cell_range(cell);
        for span in range.clone() {
            let ceiling = ceiling_of(&spans.min, span, range.end);
            if ceiling - i32::from(spans.max[span]) < height {
                spans.area[span] = NULL_AREA;
            }
        }
    }
}

/// Lowest row of the next span up in a column that ends at `end`.
#[inline]
fn ceiling_of(min: &[u16], span: usize, end: usize) -> i32 {
    if span + 1 < end {
        i32::from(min[span + 1])
    } else {
        UNBOUNDED
    }
}

/// Whether the opening from `floor` to `ceiling` is beside a drop or a spread of floors.
/// `neighbors` are the lower and upper rows of the spans in the four columns around.
#[inline]
fn is_ledge(
    neighbors: &[(&[u16], &[u16]); 4],
    floor: i32,
    ceiling: i32,
    height: i32,
    climb: i32,
) -> bool {
    let (mut lowest, mut highest) = (i32::MAX, i32::MIN);
    for (min, max) in neighbors {
        // Gaps that end below the floor and the headroom are passed over.
        let mut next = if min.len() > SHORT_COLUMN {
            min.partition_point(|&row| i32::from(row) - floor < height)
        } else {
            0
        };
        // The gap under the first span reaches down past any climb.
        let mut gap_floor = match next.checked_sub(1) {
            Some(below) => i32::from(max[below]),
            None => -climb,
        };
        if gap_floor >= ceiling {
            continue;
        }
        loop {
            let gap_ceiling = min.get(next).map_or(UNBOUNDED, |&row| i32::from(row));
            if ceiling.min(gap_ceiling) - floor.max(gap_floor) >= height {
                let drop = gap_floor - floor;
                if drop < -climb {
                    return true;
                }
                if drop <= climb {
                    lowest = lowest.min(gap_floor);
                    highest = highest.max(gap_floor);
                }
            }
            let Some(&row) = max.get(next) else {
                break;
            };
            gap_floor = i32::from(row);
            if gap_floor >= ceiling {
                break;
            }
            next += 1;
        }
    }
    lowest <= highest && highest - lowest > climb
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spans of a grid, each column a list of `(min, max, area)`.
    fn grid(width: u32, columns: &[&[(u16, u16, u8)]]) -> SolidSpans {
        let mut spans = SolidSpans {
            width,
            depth: columns.len() as u32 / width,
            ..SolidSpans::default()
        };
        for column in columns {
            spans.cell_first.push(spans.min.len() as u32);
            for &(min, max, area) in *column {
                spans.min.push(min);
                spans.max.push(max);
                spans.area.push(area);
            }
        }
        spans.cell_first.push(spans.min.len() as u32);
        spans
    }

    /// A 3 x 3 grid of one floor with the given middle column and one other neighbour.
    fn cross(middle: &[(u16, u16, u8)], beside: &[(u16, u16, u8)]) -> SolidSpans {
        let floor: &[(u16, u16, u8)] = &[(0, 10, 63)];
        grid(
            3,
            &[
                floor, floor, floor, floor, middle, beside, floor, floor, floor,
            ],
        )
    }

    fn middle_is_ledge(middle: (u16, u16, u8), beside: &[(u16, u16, u8)]) -> bool {
        let mut spans = cross(&[middle], beside);
        filter_ledge_spans(&mut spans, 5, 2, &mut LedgeScratch::default());
        spans.area[spans.cell_range(4).start] == 0
    }

    #[test]
    fn low_obstacles_take_the_area_below_from_the_original_areas() {
        let mut spans = grid(1, &[&[(0, 4, 7), (5, 6, 0), (7, 8, 0)]]);
        filter_low_hanging_obstacles(&mut spans, 2);
        // The middle one is lifted; the top one looks at the original middle and stays.
        assert_eq!(spans.area, [7, 7, 0]);
        let mut spans = grid(1, &[&[(0, 4, 7), (5, 7, 0)]]);
        filter_low_hanging_obstacles(&mut spans, 2);
        assert_eq!(spans.area, [7, 0]);
    }

    #[test]
    fn headroom_counts_rows_to_the_span_above() {
        let mut spans = grid(1, &[&[(0, 4, 7), (8, 9, 7), (14, 15, 7)]]);
        filter_low_height_spans(&mut spans, 5);
        assert_eq!(spans.area, [0, 7, 7]);
    }

    #[test]
    fn drops_deeper_than_climb_make_a_ledge() {
        assert!(!middle_is_ledge((0, 10, 63), &[(0, 10, 63)]));
        assert!(!middle_is_ledge((0, 10, 63), &[(0, 8, 0)]));
        assert!(middle_is_ledge((0, 10, 63), &[(0, 7, 63)]));
        assert!(middle_is_ledge((0, 10, 63), &[]));
        // A tall neighbour is a wall, not a drop.
        assert!(!middle_is_ledge((0, 10, 63), &[(0, 200, 63)]));
    }

    #[test]
    fn an_opening_too_low_to_enter_is_no_drop() {
        // Under the slab 6..20 there is a gap 0..6; from floor 10 it is out of reach.
        assert!(!middle_is_ledge((0, 10, 63), &[(6, 20, 0)]));
        // Under the slab 15..20 the deep gap is open over rows 10..15: exactly the height.
        assert!(middle_is_ledge((0, 10, 63), &[(15, 20, 0)]));
        assert!(!middle_is_ledge((0, 10, 63), &[(14, 20, 0)]));
    }

    #[test]
    fn reachable_floors_that_differ_by_more_than_climb_make_a_ledge() {
        // Neighbours at 10 and 12: spread 2. At 8 and 12 (middle 10): spread 4.
        assert!(!middle_is_ledge((0, 10, 63), &[(0, 12, 63)]));
        let low: &[(u16, u16, u8)] = &[(0, 8, 63)];
        let high: &[(u16, u16, u8)] = &[(0, 12, 63)];
        let flat: &[(u16, u16, u8)] = &[(0, 10, 63)];
        let mut spans = grid(3, &[flat, flat, flat, low, flat, high, flat, flat, flat]);
        filter_ledge_spans(&mut spans, 5, 2, &mut LedgeScratch::default());
        assert_eq!(spans.area[4], 0);
    }

    #[test]
    fn the_grid_border_is_a_ledge() {
        let mut spans = cross(&[(0, 10, 63)], &[(0, 10, 63)]);
        filter_ledge_spans(&mut spans, 5, 2, &mut LedgeScratch::default());
        assert_eq!(spans.area, [0, 0, 0, 0, 63, 0, 0, 0, 0]);
    }
}

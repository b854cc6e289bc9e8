//! Solid spans to open spans: the standing room above every walkable surface, and its links.
//!
//! In: filtered solid spans. Out: [`OpenSpans`] in column order, bottom up, each linked in four
//! directions to the lowest neighbouring span an agent can step to. Follows Recast's compact
//! heightfield (Mononen, 2009), with the neighbour stored as its place inside the neighbouring
//! column, so a link costs six bits.

use core::ops::Range;
use throng_soa::spans::{NO_LINK, NULL_AREA, OpenSpans, SolidSpans, opposite};

/// Working memory of [`compact`]: the columns of exactly one open span, laid out by cell.
#[derive(Clone, Debug, Default)]
pub struct LinkScratch {
    /// Floor row; [`EMPTY`] or [`SEVERAL`] when the column has no or several spans.
    floor: Vec<i32>,
    /// Row where the opening ends.
    ceiling: Vec<i32>,
    /// Bit 0: linked to the column at +x; bit 1: to the one at +z.
    linked: Vec<u8>,
}

/// Below every floor by more than any climb, so such a column is never linked as a plain one.
const EMPTY: i32 = -(1 << 20);
const SEVERAL: i32 = -(1 << 21);

/// Rebuilds `out` from `solid`. `height` is the headroom an agent needs and `climb` the step it can
/// take, both in rows. Cost: one pass over the spans, and per span the neighbouring columns.
pub fn compact(
    solid: &SolidSpans,
    height: i32,
    climb: i32,
    out: &mut OpenSpans,
    scratch: &mut LinkScratch,
) {
    out.width = solid.width;
    out.depth = solid.depth;
    out.region_count = 0;
    collect_open_spans(solid, out);
    link_spans(out, height, climb, scratch);
}

fn collect_open_spans(solid: &SolidSpans, out: &mut OpenSpans) {
    out.cell_first.clear();
    out.floor.clear();
    out.height.clear();
    out.area.clear();
    let cells = solid.width as usize * solid.depth as usize;
    out.cell_first.reserve(cells + 1);
    for cell in 0..cells {
        out.cell_first.push(out.floor.len() as u32);
        let range = solid.cell_range(cell);
        for span in range.clone() {
            if solid.area[span] == NULL_AREA {
                continue;
            }
            let floor = solid.max[span];
            // Spans of a column never touch, so a ceiling is always above the floor.
            let height = if span + 1 < range.end {
                solid.min[span + 1] - floor
            } else {
                u16::MAX
            };
            out.floor.push(floor);
            out.height.push(height);
            out.area.push(solid.area[span]);
        }
    }
    out.cell_first.push(out.floor.len() as u32);
    out.region.clear();
    out.region.resize(out.floor.len(), 0);
}

const NO_LINKS: u32 = NO_LINK | NO_LINK << 6 | NO_LINK << 12 | NO_LINK << 18;

/// Links columns of one span a row at a time, then the columns that hold several.
fn link_spans(spans: &mut OpenSpans, height: i32, climb: i32, scratch: &mut LinkScratch) {
    let (width, depth) = (spans.width as usize, spans.depth as usize);
    let LinkScratch {
        floor,
        ceiling,
        linked,
    } = scratch;
    spread_plain_columns(spans, floor, ceiling);
    linked.clear();
    linked.resize(width * depth, 0);
    let mut pair = |own: Range<usize>, step: usize, bit: u8| {
        let next = own.start + step..own.end + step;
        let (floor, next_floor) = (&floor[own.clone()], &floor[next.clone()]);
        let (ceiling, next_ceiling) = (&ceiling[own.clone()], &ceiling[next]);
        for (x, linked) in linked[own].iter_mut().enumerate() {
            let room = ceiling[x].min(next_ceiling[x]) - floor[x].max(next_floor[x]);
            let step = (floor[x] - next_floor[x]).abs();
            // Two empty columns look alike; what they get is never read.
            *linked |= if (room >= height) & (step <= climb) {
                bit
            } else {
                0
            };
        }
    };
    for z in 0..depth {
        let row = z * width;
        pair(row..row + width - 1, 1, 1);
        if z + 1 < depth {
            pair(row..row + width, width, 2);
        }
    }
    write_plain_links(spans, linked);
    link_stacked_columns(spans, floor, height, climb);
}

/// Lays the columns of one span out by cell.
fn spread_plain_columns(spans: &OpenSpans, floor: &mut Vec<i32>, ceiling: &mut Vec<i32>) {
    floor.clear();
    ceiling.clear();
    let columns = spans.cell_first.windows(2);
    floor.extend(columns.clone().map(|ends| match ends[1] - ends[0] {
        0 => EMPTY,
        1 => i32::from(spans.floor[ends[0] as usize]),
        _ => SEVERAL,
    }));
    ceiling.extend(columns.map(|ends| {
        let span = ends[0] as usize;
        match (spans.floor.get(span), spans.height.get(span)) {
            (Some(&floor), Some(&height)) => i32::from(floor) + i32::from(height),
            _ => 0,
        }
    }));
}

/// Turns the bits of columns with one span into links to place 0; all other spans get none yet.
fn write_plain_links(spans: &mut OpenSpans, linked: &[u8]) {
    let (width, depth) = (spans.width as usize, spans.depth as usize);
    let OpenSpans {
        cell_first, links, ..
    } = spans;
    let count = cell_first[width * depth] as usize;
    links.clear();
    links.resize(count, NO_LINKS);
    let mut cell = 0;
    for z in 0..depth {
        for x in 0..width {
            let (first, end) = (cell_first[cell], cell_first[cell + 1]);
            if end - first == 1 {
                let here = u32::from(linked[cell]);
                let west = if x > 0 { linked[cell - 1] } else { 0 };
                let south = if z > 0 { linked[cell - width] } else { 0 };
                // NO_LINK has all six bits set: times 0 or 1 it is the mask to clear.
                let clear = (NO_LINK * u32::from(west & 1))
                    | ((NO_LINK << 6) * (here >> 1))
                    | ((NO_LINK << 12) * (here & 1))
                    | ((NO_LINK << 18) * u32::from(south >> 1));
                links[first as usize] = NO_LINKS & !clear;
            }
            cell += 1;
        }
    }
}

/// Links every column of several spans with its four neighbours, both ways.
fn link_stacked_columns(spans: &mut OpenSpans, plain: &[i32], height: i32, climb: i32) {
    let (width, depth) = (spans.width as usize, spans.depth as usize);
    let OpenSpans {
        cell_first,
        floor,
        height: room,
        links,
        ..
    } = spans;
    let fits = |one: usize, other: usize| {
        let (low, high) = (i32::from(floor[one]), i32::from(floor[other]));
        let top = (low + i32::from(room[one])).min(high + i32::from(room[other]));
        top - low.max(high) >= height && (high - low).abs() <= climb
    };
    let column = |cell: usize| cell_first[cell] as usize..cell_first[cell + 1] as usize;
    for (cell, _) in plain.iter().enumerate().filter(|&(_, &p)| p == SEVERAL) {
        let (x, z) = (cell % width, cell / width);
        let neighbors = [
            (x > 0).then(|| cell - 1),
            (z + 1 < depth).then(|| cell + width),
            (x + 1 < width).then(|| cell + 1),
            (z > 0).then(|| cell - width),
        ];
        for (direction, neighbor) in neighbors.into_iter().enumerate() {
            let Some(next) = neighbor else {
                continue;
            };
            link_columns(&fits, links, column(cell), column(next), direction);
            // A stacked neighbour links back when its own turn comes.
            if plain[next] != SEVERAL {
                link_columns(
                    &fits,
                    links,
                    column(next),
                    column(cell),
                    opposite(direction),
                );
            }
        }
    }
}

/// Links each span of column `from` to the lowest span of column `to` that fits.
fn link_columns(
    fits: &impl Fn(usize, usize) -> bool,
    links: &mut [u32],
    from: Range<usize>,
    to: Range<usize>,
    direction: usize,
) {
    for span in from {
        let mut targets = to.clone().take(NO_LINK as usize);
        if let Some(place) = targets.position(|target| fits(span, target)) {
            let shift = 6 * direction;
            links[span] = (links[span] & !(NO_LINK << shift)) | ((place as u32) << shift);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(columns: &[&[(u16, u16, u8)]]) -> SolidSpans {
        let mut spans = SolidSpans {
            width: columns.len() as u32,
            depth: 1,
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

    fn compacted(columns: &[&[(u16, u16, u8)]], height: i32, climb: i32) -> OpenSpans {
        let mut out = OpenSpans::default();
        compact(
            &row(columns),
            height,
            climb,
            &mut out,
            &mut LinkScratch::default(),
        );
        out
    }

    fn link(spans: &OpenSpans, span: usize, direction: usize) -> u32 {
        (spans.links[span] >> (6 * direction)) & 63
    }

    #[test]
    fn unwalkable_spans_are_left_out_but_still_are_ceilings() {
        let open = compacted(&[&[(0, 2, 5), (10, 12, 0), (20, 21, 6)], &[]], 4, 2);
        assert_eq!(open.cell_first, [0, 2, 2]);
        assert_eq!(open.floor, [2, 21]);
        assert_eq!(open.height, [8, 65535]);
        assert_eq!(open.area, [5, 6]);
        assert_eq!(open.links, [0xFF_FFFF, 0xFF_FFFF]);
    }

    #[test]
    fn a_link_needs_a_step_and_headroom_in_common() {
        // Steps of exactly climb and one more.
        let open = compacted(&[&[(0, 2, 1)], &[(0, 4, 1)], &[(0, 7, 1)]], 4, 2);
        assert_eq!([link(&open, 0, 2), link(&open, 1, 0)], [0, 0]);
        assert_eq!([link(&open, 1, 2), link(&open, 2, 0)], [63, 63]);
        // Common opening of exactly the height and one less.
        let open = compacted(&[&[(0, 2, 1), (7, 9, 0)], &[(0, 3, 1)]], 4, 2);
        assert_eq!(link(&open, 0, 2), 0);
        let open = compacted(&[&[(0, 2, 1), (6, 9, 0)], &[(0, 3, 1)]], 4, 2);
        assert_eq!(link(&open, 0, 2), 63);
    }

    #[test]
    fn the_lowest_span_that_fits_is_taken() {
        // From floor 10, climb 8: the neighbour's floors 1 (too deep), 6 and 12 (both fit).
        let open = compacted(&[&[(0, 10, 1)], &[(0, 1, 1), (5, 6, 1), (11, 12, 1)]], 1, 8);
        assert_eq!(link(&open, 0, 2), 1);
        // The way back from the upper one is one-way.
        assert_eq!(link(&open, 3, 0), 0);
    }

    #[test]
    fn places_from_63_up_cannot_be_linked() {
        let tower: Vec<(u16, u16, u8)> = (0..70).map(|i| (i * 10, i * 10 + 2, 1)).collect();
        let floor: Vec<(u16, u16, u8)> = vec![(0, 622, 1)];
        let open = compacted(&[&floor, &tower], 4, 2);
        assert_eq!(link(&open, 0, 2), 62);
        let floor: Vec<(u16, u16, u8)> = vec![(0, 632, 1)];
        let open = compacted(&[&floor, &tower], 4, 2);
        assert_eq!(link(&open, 0, 2), 63);
    }
}

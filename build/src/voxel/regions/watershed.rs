//! Watershed partition: regions grow downhill from the places farthest from any wall.
//!
//! In: open spans, graph. Out: filtered region ids. Source: Vincent and Soille, "Watersheds in
//! digital spaces", 1991, as Recast (Mononen, 2009) applies it to floors. Departures: every
//! distance is a level of its own; growth inside a level goes in synchronous rounds and a span
//! joins the smallest region id it can see, so no visiting order decides anything; regions grow
//! and flood only over one area id.

use super::filter::{FilterScratch, filter_regions};
use super::{RegionSettings, build_distance_field, check_graph};
use throng_soa::error::ArgumentError;
use throng_soa::spans::{NO_SPAN, NULL_AREA, OpenSpans, SpanGraph};

/// Working memory of [`build_watershed`].
#[derive(Clone, Debug, Default)]
pub struct WatershedScratch {
    distance: Vec<u32>,
    /// Start of each level in `order`.
    level_first: Vec<u32>,
    /// Walkable spans by level, then index.
    order: Vec<u32>,
    candidates: Vec<u32>,
    joins: Vec<(u32, u32)>,
    next: Vec<u32>,
}

/// Partitions the walkable spans by watershed, then filters.
///
/// Cost: linear in the spans; no level is looked at twice.
///
/// # Errors
/// When `graph` is not of the size of `spans`.
pub fn build_watershed(
    spans: &mut OpenSpans,
    graph: &SpanGraph,
    settings: &RegionSettings,
    scratch: &mut WatershedScratch,
    filter: &mut FilterScratch,
) -> Result<(), ArgumentError> {
    check_graph(spans, graph)?;
    build_distance_field(spans, graph, &mut scratch.distance);
    sort_into_levels(&spans.area, scratch);
    spans.region.fill(0);
    let mut region_count = 0;
    for level in (0..scratch.level_first.len().saturating_sub(1)).rev() {
        let start = scratch.level_first[level] as usize;
        let end = scratch.level_first[level + 1] as usize;
        if start == end {
            continue;
        }
        let level = level as u32;
        if grow(spans, graph, level, start..end, scratch) > 0 {
            flood_basins(spans, graph, level, start..end, scratch, &mut region_count);
        }
    }
    spans.region_count = region_count;
    filter_regions(spans, graph, settings, true, filter)
}

/// Counting sort of the walkable spans by distance; stable, so each level is in index order.
fn sort_into_levels(area: &[u8], scratch: &mut WatershedScratch) {
    let WatershedScratch {
        distance,
        level_first,
        order,
        ..
    } = scratch;
    let levels = distance.iter().copied().max().unwrap_or(0) as usize + 1;
    level_first.clear();
    level_first.resize(levels + 1, 0);
    for (&d, &area) in distance.iter().zip(area) {
        if area != NULL_AREA {
            level_first[d as usize + 1] += 1;
        }
    }
    for level in 0..levels {
        level_first[level + 1] += level_first[level];
    }
    order.clear();
    order.resize(level_first[levels] as usize, 0);
    for (span, (&d, &area)) in distance.iter().zip(area).enumerate() {
        if area != NULL_AREA {
            let place = &mut level_first[d as usize];
            order[*place as usize] = span as u32;
            *place += 1;
        }
    }
    // Each entry now stands at the start of the next level.
    level_first.rotate_right(1);
    level_first[0] = 0;
}

/// Lets spans of the level join the regions next to them, round by round. Returns how many are
/// left without a region.
fn grow(
    spans: &mut OpenSpans,
    graph: &SpanGraph,
    level: u32,
    range: core::ops::Range<usize>,
    scratch: &mut WatershedScratch,
) -> usize {
    let WatershedScratch {
        distance,
        order,
        candidates,
        joins,
        next,
        ..
    } = scratch;
    candidates.clear();
    candidates.extend_from_slice(&order[range]);
    let mut left = candidates.len();
    loop {
        // Decide all joins of the round before making any.
        joins.clear();
        for &span in candidates.iter() {
            let region = smallest_region_beside(spans, graph, span as usize);
            if region != u32::MAX {
                joins.push((span, region));
            }
        }
        for &(span, region) in joins.iter() {
            spans.region[span as usize] = region;
        }
        left -= joins.len();
        if joins.is_empty() || left == 0 {
            return left;
        }
        // Only spans beside a join can have gained a neighbour. A span found twice would decide
        // and join twice with the same result; marking it as found keeps the rounds short.
        next.clear();
        for &(span, _) in joins.iter() {
            for &target in &graph.neighbor[span as usize] {
                if target == NO_SPAN {
                    continue;
                }
                let t = target as usize;
                if spans.region[t] == 0 && distance[t] == level && spans.area[t] != NULL_AREA {
                    spans.region[t] = FOUND;
                    next.push(target);
                }
            }
        }
        for &span in next.iter() {
            spans.region[span as usize] = 0;
        }
        core::mem::swap(candidates, next);
    }
}

/// Mark of a candidate while the next round is collected.
const FOUND: u32 = u32::MAX;

/// The smallest region id among the neighbours of the same area, `u32::MAX` when there is none.
#[inline]
fn smallest_region_beside(spans: &OpenSpans, graph: &SpanGraph, span: usize) -> u32 {
    let mut best = u32::MAX;
    for &target in &graph.neighbor[span] {
        if target == NO_SPAN {
            continue;
        }
        let region = spans.region[target as usize];
        // 0 wraps to the largest value and never wins.
        if region.wrapping_sub(1) < best.wrapping_sub(1)
            && spans.area[target as usize] == spans.area[span]
        {
            best = region;
        }
    }
    best
}

/// Makes a new region of every connected piece of the level that grew into none.
fn flood_basins(
    spans: &mut OpenSpans,
    graph: &SpanGraph,
    level: u32,
    range: core::ops::Range<usize>,
    scratch: &mut WatershedScratch,
    region_count: &mut u32,
) {
    let WatershedScratch {
        distance,
        order,
        next: stack,
        ..
    } = scratch;
    for &seed in &order[range] {
        if spans.region[seed as usize] != 0 {
            continue;
        }
        *region_count += 1;
        let area = spans.area[seed as usize];
        spans.region[seed as usize] = *region_count;
        stack.clear();
        stack.push(seed);
        while let Some(span) = stack.pop() {
            for &target in &graph.neighbor[span as usize] {
                if target == NO_SPAN {
                    continue;
                }
                let t = target as usize;
                if spans.region[t] == 0 && distance[t] == level && spans.area[t] == area {
                    spans.region[t] = *region_count;
                    stack.push(target);
                }
            }
        }
    }
}

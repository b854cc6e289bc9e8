//! Region filtering: dropping islands, merging small regions, numbering the rest.
//!
//! In: raw region ids. Out: ids 1 to k in order of each region's first span. The goals are those of
//! Recast's region filter (Mononen, 2009). Departures: an island is a small region without any
//! neighbour; a small region merges with the neighbour it shares the longest border with, and
//! merging repeats until no small region has a neighbour of its area left.

use super::{RegionSettings, check_graph};
use throng_soa::error::ArgumentError;
use throng_soa::spans::{NO_SPAN, OpenSpans, SpanGraph};

/// Working memory of [`filter_regions`]. Regions are rows; row 0 stands for "no region".
#[derive(Clone, Debug, Default)]
pub struct FilterScratch {
    size: Vec<u32>,
    area: Vec<u8>,
    has_neighbor: Vec<bool>,
    /// The region a merged one went to; itself while alive.
    parent: Vec<u32>,
    /// First and last entry of a region's list in `borders`.
    list: Vec<(u32, u32)>,
    borders: Vec<Border>,
    /// Links per pair of regions, as found and then joined: `(smaller << 32 | larger, links)`.
    pairs: Vec<(u64, u32)>,
    /// Links to each candidate while a region picks its neighbour.
    shared: Vec<u32>,
    touched: Vec<u32>,
    number: Vec<u32>,
    small: Vec<u32>,
}

/// One neighbour of the same area, in a region's list.
#[derive(Clone, Copy, Debug)]
struct Border {
    region: u32,
    links: u32,
    next: u32,
}

const NONE: u32 = u32::MAX;

/// Filters and renumbers the regions of `spans`; `merge` is off for layers.
///
/// Region ids may have gaps but must not exceed `spans.region_count`, and every region must have
/// one area. Afterwards no region smaller than `merge_region_area` has a neighbouring region of
/// its area (when merging), and walkable spans without a region are those of removed islands.
/// Cost: one pass over the spans, a sort of the region borders, and per merge the border of a
/// small region.
///
/// # Errors
/// When `graph` is not of the size of `spans`.
pub fn filter_regions(
    spans: &mut OpenSpans,
    graph: &SpanGraph,
    settings: &RegionSettings,
    merge: bool,
    scratch: &mut FilterScratch,
) -> Result<(), ArgumentError> {
    check_graph(spans, graph)?;
    measure_regions(spans, graph, scratch);
    for region in 1..scratch.size.len() {
        if scratch.size[region] < settings.min_region_area && !scratch.has_neighbor[region] {
            // An island goes to row 0. It has no neighbour, so nothing refers to it.
            scratch.parent[region] = 0;
        }
    }
    if merge {
        list_borders(scratch);
        merge_small_regions(settings.merge_region_area, scratch);
    }
    number_by_first_span(spans, scratch);
    Ok(())
}

/// Fills sizes, areas and the links per pair of neighbouring regions.
fn measure_regions(spans: &OpenSpans, graph: &SpanGraph, scratch: &mut FilterScratch) {
    let rows = spans.region_count as usize + 1;
    let FilterScratch {
        size,
        area,
        has_neighbor,
        parent,
        pairs,
        ..
    } = scratch;
    size.clear();
    size.resize(rows, 0);
    area.clear();
    area.resize(rows, 0);
    has_neighbor.clear();
    has_neighbor.resize(rows, false);
    parent.clear();
    parent.extend(0..rows as u32);
    pairs.clear();
    for (span, targets) in graph.neighbor.iter().enumerate() {
        let region = spans.region[span];
        if region == 0 {
            continue;
        }
        size[region as usize] += 1;
        area[region as usize] = spans.area[span];
        // Links are mutual: +z and +x see each of them once.
        for &target in &targets[1..3] {
            if target == NO_SPAN {
                continue;
            }
            let other = spans.region[target as usize];
            if other == region || other == 0 {
                continue;
            }
            let key = u64::from(region.min(other)) << 32 | u64::from(region.max(other));
            match pairs.last_mut() {
                Some(last) if last.0 == key => last.1 += 1,
                _ => pairs.push((key, 1)),
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    for &(key, _) in pairs.iter() {
        has_neighbor[(key >> 32) as usize] = true;
        has_neighbor[key as u32 as usize] = true;
    }
}

/// Gives each region the list of its neighbours of the same area.
fn list_borders(scratch: &mut FilterScratch) {
    let FilterScratch {
        area,
        list,
        borders,
        pairs,
        ..
    } = scratch;
    list.clear();
    list.resize(area.len(), (NONE, NONE));
    borders.clear();
    for &(key, links) in pairs.iter() {
        let (a, b) = ((key >> 32) as u32, key as u32);
        if area[a as usize] != area[b as usize] {
            continue;
        }
        for (own, region) in [(a, b), (b, a)] {
            let (first, last) = &mut list[own as usize];
            let entry = borders.len() as u32;
            borders.push(Border {
                region,
                links,
                next: *first,
            });
            *first = entry;
            if *last == NONE {
                *last = entry;
            }
        }
    }
}

/// Passes over the small regions in id order until a pass merges nothing.
fn merge_small_regions(limit: u32, scratch: &mut FilterScratch) {
    let FilterScratch {
        size,
        parent,
        list,
        borders,
        shared,
        touched,
        small,
        ..
    } = scratch;
    shared.clear();
    shared.resize(size.len(), 0);
    small.clear();
    small.extend((1..size.len() as u32).filter(|&r| {
        size[r as usize] < limit && parent[r as usize] == r && list[r as usize].0 != NONE
    }));
    loop {
        let mut merged = false;
        for &region in small.iter() {
            if parent[region as usize] != region || size[region as usize] >= limit {
                continue;
            }
            let best = longest_border(region, parent, list, borders, shared, touched);
            if best == 0 {
                continue;
            }
            merged = true;
            parent[region as usize] = best;
            size[best as usize] += size[region as usize];
            // The merged region's borders are now the other's.
            let (first, last) = list[region as usize];
            borders[last as usize].next = list[best as usize].0;
            list[best as usize].0 = first;
        }
        if !merged {
            return;
        }
        small.retain(|&r| parent[r as usize] == r && size[r as usize] < limit);
    }
}

/// The neighbour that shares most links with `region`, smallest id on ties; 0 when there is none.
fn longest_border(
    region: u32,
    parent: &mut [u32],
    list: &[(u32, u32)],
    borders: &[Border],
    shared: &mut [u32],
    touched: &mut Vec<u32>,
) -> u32 {
    touched.clear();
    let mut entry = list[region as usize].0;
    while entry != NONE {
        let border = borders[entry as usize];
        entry = border.next;
        let other = find(parent, border.region);
        if other == region {
            continue;
        }
        if shared[other as usize] == 0 {
            touched.push(other);
        }
        shared[other as usize] += border.links;
    }
    let mut best = 0;
    for &other in touched.iter() {
        let (links, most) = (shared[other as usize], shared[best as usize]);
        if links > most || (links == most && other < best) {
            best = other;
        }
    }
    for &other in touched.iter() {
        shared[other as usize] = 0;
    }
    best
}

/// The living region that `region` went to.
fn find(parent: &mut [u32], mut region: u32) -> u32 {
    while parent[region as usize] != region {
        let above = parent[parent[region as usize] as usize];
        parent[region as usize] = above;
        region = above;
    }
    region
}

/// Writes the surviving regions back, numbered in order of their first span.
fn number_by_first_span(spans: &mut OpenSpans, scratch: &mut FilterScratch) {
    let FilterScratch { parent, number, .. } = scratch;
    number.clear();
    number.resize(parent.len(), 0);
    let mut count = 0;
    let mut previous = (0, 0);
    for region in &mut spans.region {
        if *region == 0 {
            continue;
        }
        if *region != previous.0 {
            let root = find(parent, *region);
            if root != 0 && number[root as usize] == 0 {
                count += 1;
                number[root as usize] = count;
            }
            previous = (*region, number[root as usize]);
        }
        *region = previous.1;
    }
    spans.region_count = count;
}

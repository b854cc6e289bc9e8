//! Layer partition: regions as large as possible that never hold two spans of one column.
//!
//! In: open spans, graph. Out: filtered region ids; or, for builds that fix the layers first, a
//! layer per span from geometry alone and the labelling of its connected pieces. Recast's layer
//! partition (Mononen, 2012) has the same goal. Departure: monotone regions merge pairwise in id
//! order for as long as any adjacent pair of one area shares no column, so the result is maximal.

use super::filter::{FilterScratch, filter_regions};
use super::monotone::{MonotoneScratch, sweep_rows};
use super::{RegionSettings, check_graph};
use throng_soa::error::ArgumentError;
use throng_soa::spans::{NO_SPAN, NULL_AREA, OpenSpans, SpanGraph};

/// Working memory of this module. Regions are rows; row 0 stands for "no region".
#[derive(Clone, Debug, Default)]
pub struct LayerScratch {
    /// Region a merged one went to, or the label a label is equal to.
    parent: Vec<u32>,
    pairs: Vec<u64>,
    /// Sorted neighbours of the same area; entries may name regions merged since.
    adjacent: Vec<Vec<u32>>,
    /// Sorted regions that share a column; entries may name regions merged since.
    overlaps: Vec<Vec<u32>>,
    settled: Vec<bool>,
    number: Vec<u32>,
    region_layer: Vec<u32>,
    /// Per layer the last region that found it taken.
    taken: Vec<u32>,
    pair_first: Vec<u32>,
    area: Vec<u8>,
    /// Columns by region, and the first of each region's.
    region_cell: Vec<u32>,
    cell_start: Vec<u32>,
}

/// Most pairs of monotone regions, each with a neighbour to merge with, that share a column.
pub const MAX_OVERLAPS: usize = 1 << 26;
/// Pairs gathered before equal ones are first thrown out.
const PAIRS_AT_FIRST: usize = 1 << 20;

/// Partitions the walkable spans into layers, then drops islands (layers do not merge by size).
///
/// Where no column holds two walkable spans the layers are the connected pieces of one area, and
/// are labelled directly.
///
/// # Errors
/// When `graph` is not of the size of `spans`, or there are more than [`MAX_OVERLAPS`] pairs of
/// regions over each other.
pub fn build_layers(
    spans: &mut OpenSpans,
    graph: &SpanGraph,
    settings: &RegionSettings,
    scratch: &mut LayerScratch,
    monotone: &mut MonotoneScratch,
    filter: &mut FilterScratch,
) -> Result<(), ArgumentError> {
    check_graph(spans, graph)?;
    if columns_overlap(spans) {
        merge_monotone_regions(spans, graph, scratch, monotone)?;
    } else {
        label_components(spans, graph, None, scratch);
    }
    filter_regions(spans, graph, settings, false, filter)
}

/// Replaces `layers` by the layer of every span, decided from the areas `spans` has now.
///
/// Call it on the heightfield after erosion, before obstacles or volumes: later labellings with
/// [`label_layer_components`] keep these layers whatever happens to the areas. Walkable spans get
/// the layer of their region; an unwalkable span goes with its first walkable neighbour (−x, +z,
/// +x, −z), else to layer 0. Regions of `spans` are cleared. Returns the number of layers.
///
/// # Errors
/// As [`build_layers`].
pub fn span_layers(
    spans: &mut OpenSpans,
    graph: &SpanGraph,
    scratch: &mut LayerScratch,
    monotone: &mut MonotoneScratch,
    filter: &mut FilterScratch,
    layers: &mut Vec<u32>,
) -> Result<u32, ArgumentError> {
    check_graph(spans, graph)?;
    layers.clear();
    if !columns_overlap(spans) {
        // No two regions can overlap: everything is layer 0.
        layers.resize(spans.span_count(), 0);
        spans.region.fill(0);
        spans.region_count = 0;
        return Ok(1);
    }
    let keep_all = RegionSettings {
        min_region_area: 0,
        merge_region_area: 0,
    };
    build_layers(spans, graph, &keep_all, scratch, monotone, filter)?;
    let mut region_layer = core::mem::take(&mut scratch.region_layer);
    let count = assign_region_layers(spans, graph, scratch, &mut region_layer)?;
    layers.extend((0..spans.span_count()).map(|span| {
        let walkable = |&t: &u32| t != NO_SPAN && spans.area[t as usize] != NULL_AREA;
        let source = if spans.area[span] == NULL_AREA {
            graph.neighbor[span].iter().copied().find(walkable)
        } else {
            Some(span as u32)
        };
        source.map_or(0, |s| region_layer[spans.region[s as usize] as usize])
    }));
    scratch.region_layer = region_layer;
    spans.region.fill(0);
    spans.region_count = 0;
    Ok(count)
}

/// Makes the regions the connected pieces of one layer and one area, then drops islands.
///
/// `layers` holds one layer per span, as [`span_layers`] gives it.
///
/// # Errors
/// When `graph` or `layers` is not of the size of `spans`.
pub fn label_layer_components(
    spans: &mut OpenSpans,
    graph: &SpanGraph,
    layers: &[u32],
    settings: &RegionSettings,
    scratch: &mut LayerScratch,
    filter: &mut FilterScratch,
) -> Result<(), ArgumentError> {
    check_graph(spans, graph)?;
    if layers.len() != spans.span_count() {
        return Err(ArgumentError::new(
            "layers.len()",
            layers.len(),
            format!("one per span ({})", spans.span_count()),
        ));
    }
    label_components(spans, graph, Some(layers), scratch);
    filter_regions(spans, graph, settings, false, filter)
}

/// Replaces `region_layer` by the layer of every region (entry 0 is layer 0) so that no two
/// regions of a layer share a column, and returns the number of layers.
///
/// Regions are visited in id order; each takes the lowest layer of a neighbouring region that is
/// free for it, else the lowest free layer.
///
/// # Errors
/// When `graph` is not of the size of `spans`.
pub fn assign_region_layers(
    spans: &OpenSpans,
    graph: &SpanGraph,
    scratch: &mut LayerScratch,
    region_layer: &mut Vec<u32>,
) -> Result<u32, ArgumentError> {
    check_graph(spans, graph)?;
    const UNASSIGNED: u32 = u32::MAX;
    let rows = spans.region_count as usize + 1;
    region_layer.clear();
    region_layer.resize(rows, UNASSIGNED);
    region_layer[0] = 0;
    let LayerScratch {
        pairs,
        pair_first,
        taken,
        region_cell,
        cell_start,
        ..
    } = scratch;
    // Each seen from both sides: the region, the other.
    pairs.clear();
    each_adjacent_pair(spans, graph, |a, b| {
        pairs.push(u64::from(a) << 32 | u64::from(b));
        pairs.push(u64::from(b) << 32 | u64::from(a));
    });
    pairs.sort_unstable();
    pairs.dedup();
    index_pairs(pairs, rows, pair_first);
    list_columns(spans, rows, region_cell, cell_start);
    taken.clear();
    let mut count = 1;
    for region in 1..rows {
        // What each of its columns holds is asked once for a run of columns that hold the same.
        let mut last: &[u32] = &[];
        for &cell in &region_cell[cell_start[region] as usize..cell_start[region + 1] as usize] {
            let column = &spans.region[spans.cell_range(cell as usize)];
            if column != last {
                last = column;
                for &other in column {
                    let layer = region_layer[other as usize];
                    if other != 0 && layer != UNASSIGNED {
                        taken[layer as usize] = region as u32;
                    }
                }
            }
        }
        let is_free = |layer: u32| {
            taken
                .get(layer as usize)
                .is_none_or(|&by| by != region as u32)
        };
        let adjacent = &pairs[pair_first[region] as usize..pair_first[region + 1] as usize];
        let beside = adjacent
            .iter()
            .map(|&pair| region_layer[pair as u32 as usize])
            .filter(|&layer| layer != UNASSIGNED && is_free(layer))
            .min();
        let lowest = || (0..).find(|&layer| is_free(layer)).unwrap_or(0);
        let layer = beside.unwrap_or_else(lowest);
        region_layer[region] = layer;
        count = count.max(layer + 1);
        taken.resize(count as usize, 0);
    }
    Ok(count)
}

/// Lists the columns of every region, in order; one with several spans of a region several times.
fn list_columns(spans: &OpenSpans, rows: usize, cells: &mut Vec<u32>, start: &mut Vec<u32>) {
    start.clear();
    start.resize(rows + 1, 0);
    for &region in &spans.region {
        start[region as usize + 1] += 1;
    }
    for row in 0..rows {
        start[row + 1] += start[row];
    }
    cells.clear();
    cells.resize(spans.region.len(), 0);
    // Filling moves each start to the next region's; shifting them back restores the offsets.
    for cell in 0..spans.cell_first.len().saturating_sub(1) {
        for &region in &spans.region[spans.cell_range(cell)] {
            let slot = &mut start[region as usize];
            cells[*slot as usize] = cell as u32;
            *slot += 1;
        }
    }
    for row in (1..=rows).rev() {
        start[row] = start[row - 1];
    }
    start[0] = 0;
}

/// Whether some column holds two walkable spans.
fn columns_overlap(spans: &OpenSpans) -> bool {
    spans.cell_first.windows(2).any(|ends| {
        let column = &spans.area[ends[0] as usize..ends[1] as usize];
        column.len() > 1 && column.iter().filter(|&&area| area != NULL_AREA).count() > 1
    })
}

/// Labels the connected pieces of one area (and one layer, when given) in order of first span.
fn label_components(
    spans: &mut OpenSpans,
    graph: &SpanGraph,
    layers: Option<&[u32]>,
    scratch: &mut LayerScratch,
) {
    let LayerScratch { parent, number, .. } = scratch;
    let OpenSpans {
        area,
        region,
        region_count,
        ..
    } = spans;
    parent.clear();
    parent.push(0);
    for span in 0..area.len() {
        region[span] = 0;
        if area[span] == NULL_AREA {
            continue;
        }
        let [before, _, _, behind] = graph.neighbor[span];
        for target in [before, behind] {
            if target == NO_SPAN {
                continue;
            }
            let t = target as usize;
            if area[t] != area[span] || layers.is_some_and(|layers| layers[t] != layers[span]) {
                continue;
            }
            let label = find(parent, region[t]);
            if region[span] == 0 {
                region[span] = label;
            } else {
                let own = find(parent, region[span]);
                parent[own.max(label) as usize] = own.min(label);
            }
        }
        if region[span] == 0 {
            let label = parent.len() as u32;
            parent.push(label);
            region[span] = label;
        }
    }
    // A label is older than every label joined to it, so roots are met in order of first span.
    number.clear();
    number.resize(parent.len(), 0);
    let mut count = 0;
    for label in 1..parent.len() {
        let above = parent[label] as usize;
        if above == label {
            count += 1;
            number[label] = count;
        } else {
            number[label] = number[above];
        }
    }
    for region in region.iter_mut() {
        *region = number[*region as usize];
    }
    *region_count = count;
}

/// The general code: merges monotone regions while any adjacent pair of one area is free to.
fn merge_monotone_regions(
    spans: &mut OpenSpans,
    graph: &SpanGraph,
    scratch: &mut LayerScratch,
    monotone: &mut MonotoneScratch,
) -> Result<(), ArgumentError> {
    sweep_rows(spans, graph, monotone);
    let rows = spans.region_count as usize + 1;
    collect_sets(spans, graph, rows, scratch)?;
    let LayerScratch {
        parent,
        adjacent,
        overlaps,
        settled,
        ..
    } = scratch;
    loop {
        let mut merged = false;
        for a in 1..rows as u32 {
            if parent[a as usize] != a || settled[a as usize] {
                continue;
            }
            refresh(a, parent, &mut adjacent[a as usize]);
            refresh(a, parent, &mut overlaps[a as usize]);
            let own = &overlaps[a as usize];
            let free = adjacent[a as usize]
                .iter()
                .copied()
                .find(|b| own.binary_search(b).is_err());
            let Some(b) = free else {
                // Merges elsewhere only make overlaps grow: `a` has no partner until it merges.
                settled[a as usize] = true;
                continue;
            };
            merged = true;
            let (kept, gone) = (a.min(b), a.max(b));
            parent[gone as usize] = kept;
            settled[kept as usize] = false;
            for sets in [&mut *adjacent, &mut *overlaps] {
                let moved = core::mem::take(&mut sets[gone as usize]);
                sets[kept as usize].extend_from_slice(&moved);
            }
        }
        if !merged {
            break;
        }
    }
    for region in &mut spans.region {
        *region = find(parent, *region);
    }
    Ok(())
}

/// Fills the sets of neighbours of one area and of regions in one column. A region without such a
/// neighbour never merges, so nobody asks what it overlaps: in a pile of floors too high to be
/// linked every span is such a region.
fn collect_sets(
    spans: &OpenSpans,
    graph: &SpanGraph,
    rows: usize,
    scratch: &mut LayerScratch,
) -> Result<(), ArgumentError> {
    let LayerScratch {
        parent,
        pairs,
        adjacent,
        overlaps,
        settled,
        area,
        region_layer,
        ..
    } = scratch;
    parent.clear();
    parent.extend(0..rows as u32);
    settled.clear();
    settled.resize(rows, false);
    for sets in [&mut *adjacent, &mut *overlaps] {
        sets.iter_mut().for_each(Vec::clear);
        sets.resize_with(rows.max(sets.len()), Vec::new);
    }
    pairs.clear();
    each_adjacent_pair(spans, graph, |a, b| {
        pairs.push(u64::from(a) << 32 | u64::from(b));
    });
    fill_sets(pairs, adjacent);
    // Regions of different areas never merge: drop them from the neighbours.
    area.clear();
    area.resize(rows, NULL_AREA);
    for (&region, &own) in spans.region.iter().zip(&spans.area) {
        area[region as usize] = own;
    }
    for (a, set) in adjacent.iter_mut().enumerate().take(rows) {
        set.retain(|&b| area[b as usize] == area[a]);
    }
    let may_merge = |region: &u32| !adjacent[*region as usize].is_empty();
    collect_overlaps(spans, may_merge, pairs, region_layer)?;
    fill_sets(pairs, overlaps);
    Ok(())
}

/// Fills `pairs` with the pairs of wanted regions that share a column, each once, smaller first.
fn collect_overlaps(
    spans: &OpenSpans,
    wanted: impl Fn(&u32) -> bool,
    pairs: &mut Vec<u64>,
    column: &mut Vec<u32>,
) -> Result<(), ArgumentError> {
    pairs.clear();
    let mut room = PAIRS_AT_FIRST;
    let mut last: &[u32] = &[];
    for cell in 0..spans.cell_first.len().saturating_sub(1) {
        let here = &spans.region[spans.cell_range(cell)];
        if here.len() < 2 || here == last {
            continue;
        }
        last = here;
        column.clear();
        column.extend(here.iter().copied().filter(|r| *r != 0 && wanted(r)));
        column.sort_unstable();
        column.dedup();
        for (i, &a) in column.iter().enumerate() {
            let above = column[i + 1..].iter();
            pairs.extend(above.map(|&b| u64::from(a) << 32 | u64::from(b)));
        }
        if pairs.len() >= room {
            pairs.sort_unstable();
            pairs.dedup();
            check_overlaps(pairs)?;
            room = PAIRS_AT_FIRST
                .max(2 * pairs.len())
                .min(MAX_OVERLAPS + PAIRS_AT_FIRST);
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    check_overlaps(pairs)
}

fn check_overlaps(pairs: &[u64]) -> Result<(), ArgumentError> {
    if pairs.len() <= MAX_OVERLAPS {
        return Ok(());
    }
    Err(ArgumentError::new(
        "spans",
        format!("{} pairs of regions over each other, and more", pairs.len()),
        format!("at most {MAX_OVERLAPS} in a tile; use smaller tiles"),
    ))
}

fn fill_sets(pairs: &mut Vec<u64>, sets: &mut [Vec<u32>]) {
    pairs.sort_unstable();
    pairs.dedup();
    for &pair in pairs.iter() {
        let (a, b) = ((pair >> 32) as u32, pair as u32);
        sets[a as usize].push(b);
        sets[b as usize].push(a);
    }
}

/// Replaces merged regions by their survivors and restores the order.
fn refresh(own: u32, parent: &mut [u32], set: &mut Vec<u32>) {
    for region in set.iter_mut() {
        *region = find(parent, *region);
    }
    set.sort_unstable();
    set.dedup();
    set.retain(|&region| region != own);
}

/// Calls `each(smaller, larger)` for every mutual link between two different regions.
fn each_adjacent_pair(spans: &OpenSpans, graph: &SpanGraph, mut each: impl FnMut(u32, u32)) {
    let mut last = (0, 0);
    for (span, targets) in graph.neighbor.iter().enumerate() {
        let region = spans.region[span];
        if region == 0 {
            continue;
        }
        for &target in &targets[1..3] {
            if target == NO_SPAN {
                continue;
            }
            let other = spans.region[target as usize];
            let pair = (region.min(other), region.max(other));
            if other != region && other != 0 && pair != last {
                last = pair;
                each(pair.0, pair.1);
            }
        }
    }
}

/// Start of each region's pairs in the sorted `pairs`, and their end: `rows + 1` entries.
fn index_pairs(pairs: &[u64], rows: usize, first: &mut Vec<u32>) {
    first.clear();
    first.resize(rows + 1, 0);
    for &pair in pairs {
        first[(pair >> 32) as usize + 1] += 1;
    }
    for row in 0..rows {
        first[row + 1] += first[row];
    }
}

fn find(parent: &mut [u32], mut label: u32) -> u32 {
    while parent[label as usize] != label {
        let above = parent[parent[label as usize] as usize];
        parent[label as usize] = above;
        label = above;
    }
    label
}

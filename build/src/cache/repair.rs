//! A layer's outlines after some of its spans lost their walkability, from the first build's.
//!
//! In: what the first build left of a layer ([`FirstBuild`]) and the removed spans, ascending. Out:
//! the contours that regions, tracing, simplification and hole joining give from scratch for the
//! same areas, or a refusal; the result never depends on which way was taken.
//!
//! Refused is what would renumber regions or change which exist: a region falls below the smallest
//! size or apart, a small region kept for its neighbours has a removed span beside it, or a removed
//! first span changes the order of regions. Whether a region is still one piece is asked of the
//! spans around the removed ones only: every other span reached one of those before. Otherwise new
//! loops are traced from the edges that now look at a removed span, the loops they or the removed
//! spans cut are dropped, and only regions with such a loop are joined anew.

use throng_soa::spans::{NO_SPAN, NULL_AREA, SpanGraph, opposite};

use super::first::FirstBuild;
use super::layers::Piece;
use crate::voxel::contours::holes::{LoopTable, RegionLoops, join_region};
use crate::voxel::contours::simplify::{SimplifyRule, simplify_loop};
use crate::voxel::contours::trace::{LoopSet, trace_one};
use crate::voxel::contours::{ContourScratch, ContourSet, ContourVertex, SpanView};
use crate::voxel::plan::TilePlan;

/// A worker's buffers for [`repair_outlines`].
#[derive(Debug, Default)]
pub(crate) struct RepairScratch {
    lost: Vec<u32>,
    start: Vec<u32>,
    /// Walkable spans beside a removed one of their region, as (region, span).
    ring: Vec<(u32, u32)>,
    /// Where the connection search came to each span from; all zero between calls.
    origin: Vec<u32>,
    open: Vec<u32>,
    parent: Vec<u32>,
    edges: Vec<u8>,
    region: Vec<u32>,
    starts: Vec<u32>,
    fresh: LoopSet,
    fresh_simplified: Vec<ContourVertex>,
    fresh_first: Vec<u32>,
    /// Per loop of the first build, whether it is no more.
    gone: Vec<bool>,
    /// Per region, whether its loops differ from the first build's.
    dirty: Vec<bool>,
    /// New loops by (region, smallest edge, index).
    fresh_order: Vec<(u32, u32, u32)>,
    /// Loops of the region at hand: smallest edge, whether new, index.
    members: Vec<(u32, bool, u32)>,
    joint: JointLoops,
}

/// The loops of one region, old and new, side by side.
#[derive(Debug, Default)]
struct JointLoops {
    order: Vec<u32>,
    area2: Vec<i64>,
    raw: Vec<ContourVertex>,
    raw_first: Vec<u32>,
    simplified: Vec<ContourVertex>,
    simplified_first: Vec<u32>,
}

/// Fills `out` with the contours of the layer without the `removed` spans, which are all walkable in
/// the first build and of area 0 in `piece`; false when the layer must be built from scratch.
pub(crate) fn repair_outlines(
    plan: &TilePlan,
    piece: &Piece,
    removed: &[u32],
    scratch: &mut RepairScratch,
    contour: &mut ContourScratch,
    out: &mut ContourSet,
) -> bool {
    let Some(first) = piece.first.as_deref() else {
        return false;
    };
    if !(regions_keep_their_size(plan, first, piece, removed, scratch)
        && regions_keep_their_order(first, piece, scratch)
        && regions_stay_whole(first, piece, removed, scratch))
    {
        return false;
    }
    trace_changes(first, piece, removed, scratch);
    drop_cut_loops(first, removed, scratch);
    simplify_fresh(plan, first, scratch, contour);
    join_regions(first, scratch, contour, out);
    true
}

/// Counts what each region loses.
fn regions_keep_their_size(
    plan: &TilePlan,
    first: &FirstBuild,
    piece: &Piece,
    removed: &[u32],
    scratch: &mut RepairScratch,
) -> bool {
    let least = plan.regions.min_region_area;
    let lost = &mut scratch.lost;
    lost.clear();
    lost.resize(first.size.len(), 0);
    let small = |region: u32| region != 0 && first.size[region as usize] < least;
    for &span in removed {
        let own = first.whole[span as usize];
        if small(own) {
            return false;
        }
        lost[own as usize] += u32::from(own != 0);
        for &beside in &piece.graph.neighbor[span as usize] {
            if beside != NO_SPAN && small(first.whole[beside as usize]) {
                return false;
            }
        }
    }
    let sizes = first.size.iter().zip(lost.iter()).skip(1);
    sizes
        .filter(|(_, lost)| **lost != 0)
        .all(|(&size, &lost)| size - lost >= least.max(1))
}

/// Regions are numbered by their first spans: those must still ascend.
fn regions_keep_their_order(
    first: &FirstBuild,
    piece: &Piece,
    scratch: &mut RepairScratch,
) -> bool {
    let mut moved = false;
    scratch.start.clone_from(&first.start);
    for (region, start) in scratch.start.iter_mut().enumerate().skip(1) {
        let taken = |span: u32| piece.spans.area[span as usize] == NULL_AREA;
        if scratch.lost[region] == 0 || !taken(*start) {
            continue;
        }
        moved = true;
        let rest = *start + 1..first.whole.len() as u32;
        let own = |&span: &u32| first.whole[span as usize] == region as u32 && !taken(span);
        match rest.into_iter().find(own) {
            Some(next) => *start = next,
            None => return false,
        }
    }
    !moved || scratch.start[1..].windows(2).all(|pair| pair[0] < pair[1])
}

/// Whether the spans around the removed ones still reach each other, region by region.
fn regions_stay_whole(
    first: &FirstBuild,
    piece: &Piece,
    removed: &[u32],
    scratch: &mut RepairScratch,
) -> bool {
    scratch.ring.clear();
    for &span in removed {
        let own = first.whole[span as usize];
        if own == 0 {
            continue;
        }
        for &beside in &piece.graph.neighbor[span as usize] {
            if is_in(first, piece, own, beside) {
                scratch.ring.push((own, beside));
            }
        }
    }
    scratch.ring.sort_unstable();
    scratch.ring.dedup();
    scratch.origin.resize(first.whole.len(), 0);
    let ring = core::mem::take(&mut scratch.ring);
    let whole = ring
        .chunk_by(|a, b| a.0 == b.0)
        .all(|ring| ring_is_connected(first, piece, ring, scratch));
    scratch.ring = ring;
    whole
}

/// Whether a span is walkable still and of `region`.
#[inline]
fn is_in(first: &FirstBuild, piece: &Piece, region: u32, span: u32) -> bool {
    span != NO_SPAN
        && first.whole[span as usize] == region
        && piece.spans.area[span as usize] != NULL_AREA
}

/// Spreads from all spans of a region's ring at once and joins them where they meet, until one
/// group is left or nothing is. Round a hole the ring closes within a step or two.
fn ring_is_connected(
    first: &FirstBuild,
    piece: &Piece,
    ring: &[(u32, u32)],
    scratch: &mut RepairScratch,
) -> bool {
    let RepairScratch {
        origin,
        open,
        parent,
        ..
    } = scratch;
    open.clear();
    parent.clear();
    parent.push(0);
    for &(_, span) in ring {
        origin[span as usize] = parent.len() as u32;
        parent.push(parent.len() as u32);
        open.push(span);
    }
    let mut groups = ring.len();
    let mut at = 0;
    while groups > 1 && at < open.len() {
        let span = open[at];
        at += 1;
        let own = origin[span as usize];
        for &beside in &piece.graph.neighbor[span as usize] {
            if !is_in(first, piece, ring[0].0, beside) {
                continue;
            }
            let other = &mut origin[beside as usize];
            if *other == 0 {
                *other = own;
                open.push(beside);
            } else if *other != own {
                let (a, b) = (find(parent, own), find(parent, *other));
                groups -= usize::from(a != b);
                parent[a.max(b) as usize] = a.min(b);
            }
        }
    }
    for &span in open.iter() {
        origin[span as usize] = 0;
    }
    groups <= 1
}

fn find(parent: &mut [u32], mut label: u32) -> u32 {
    while parent[label as usize] != label {
        let above = parent[parent[label as usize] as usize];
        parent[label as usize] = above;
        label = above;
    }
    label
}

/// Traces the loops that run along removed spans, each from its smallest edge.
fn trace_changes(first: &FirstBuild, piece: &Piece, removed: &[u32], scratch: &mut RepairScratch) {
    let (edges, region) = (&mut scratch.edges, &mut scratch.region);
    edges.clone_from(&first.edges);
    region.clone_from(&first.region);
    scratch.starts.clear();
    for &span in removed {
        edges[span as usize] = 0;
        region[span as usize] = 0;
    }
    for &span in removed {
        if first.region[span as usize] == 0 {
            continue; // looked like a wall before
        }
        for (direction, &beside) in piece.graph.neighbor[span as usize].iter().enumerate() {
            if beside == NO_SPAN {
                continue;
            }
            let own = region[beside as usize];
            if own != 0 && own != first.border {
                let back = opposite(direction);
                edges[beside as usize] |= 17 << back;
                scratch.starts.push(beside * 4 + back as u32);
            }
        }
    }
    let spans = &piece.spans;
    let SpanGraph { neighbor, cell, .. } = &piece.graph;
    let view = SpanView {
        width: spans.width,
        depth: spans.depth,
        floor: &spans.floor,
        area: &spans.area,
        region,
        neighbor,
        cell,
        region_count: first.border,
    };
    scratch.fresh.clear();
    for &start in &scratch.starts {
        let (span, direction) = ((start >> 2) as usize, (start & 3) as usize);
        if edges[span] >> (4 + direction) & 1 != 0 {
            trace_one(&view, edges, span, direction, &mut scratch.fresh);
            rotate_last_loop(&mut scratch.fresh);
        }
    }
}

/// Lets the last loop start at its smallest edge, where a scan of all spans would have found it.
fn rotate_last_loop(loops: &mut LoopSet) {
    let from = loops.first[loops.len() - 1] as usize;
    let edges = &mut loops.edges[from..];
    let smallest = edges.iter().enumerate().min_by_key(|(_, edge)| **edge);
    let turn = smallest.map_or(0, |(index, _)| index);
    edges.rotate_left(turn);
    loops.vertices[from..].rotate_left(turn);
}

/// Marks the first build's loops that lost an edge or share one with a new loop, and the regions
/// that differ from then on.
fn drop_cut_loops(first: &FirstBuild, removed: &[u32], scratch: &mut RepairScratch) {
    let RepairScratch {
        gone, dirty, fresh, ..
    } = scratch;
    gone.clear();
    gone.resize(first.loops.len(), false);
    dirty.clear();
    dirty.resize(first.border as usize + 1, false);
    let mut drop_owner = |edge: u32, dirty: &mut [bool]| {
        if let Some(owner) = first.owner(edge) {
            gone[owner as usize] = true;
            dirty[first.loops.region[owner as usize] as usize] = true;
        }
    };
    for &span in removed {
        if first.edges[span as usize] != 0 {
            (0..4).for_each(|direction| drop_owner(span * 4 + direction, dirty));
        }
    }
    for &edge in &fresh.edges {
        drop_owner(edge, dirty);
    }
    for &region in &fresh.region {
        dirty[region as usize] = true;
    }
}

fn simplify_fresh(
    plan: &TilePlan,
    first: &FirstBuild,
    scratch: &mut RepairScratch,
    contour: &mut ContourScratch,
) {
    let mut settings = plan.contours;
    settings.border_region = first.border;
    let rule = SimplifyRule::new(&settings, &first.region_area);
    let fresh = &scratch.fresh;
    scratch.fresh_simplified.clear();
    scratch.fresh_first.clear();
    scratch.fresh_first.push(0);
    scratch.fresh_order.clear();
    for index in 0..fresh.len() {
        let (region, edge) = (fresh.region[index], fresh.loop_edges(index)[0]);
        scratch.fresh_order.push((region, edge, index as u32));
        let raw = fresh.vertices(index);
        let (area2, out) = (fresh.area2[index], &mut scratch.fresh_simplified);
        simplify_loop(raw, area2, region, &rule, &mut contour.simplify, out);
        scratch.fresh_first.push(out.len() as u32);
    }
    scratch.fresh_order.sort_unstable();
}

/// Contours of all regions: those of the first build where no loop changed.
fn join_regions(
    first: &FirstBuild,
    scratch: &mut RepairScratch,
    contour: &mut ContourScratch,
    out: &mut ContourSet,
) {
    out.clear();
    let mut kept_from = 1;
    for region in 1..=first.border {
        if scratch.dirty[region as usize] {
            copy_contours(first, kept_from..region, out);
            kept_from = region + 1;
            gather_loops(first, region, scratch);
            let joint = &scratch.joint;
            let input = RegionLoops {
                region,
                area: first.region_area[region as usize],
                loops: &joint.order,
                area2: &joint.area2,
                simplified: LoopTable {
                    vertices: &joint.simplified,
                    first: &joint.simplified_first,
                },
                raw: LoopTable {
                    vertices: &joint.raw,
                    first: &joint.raw_first,
                },
            };
            join_region(&input, &mut contour.holes, out);
        }
    }
    copy_contours(first, kept_from..first.border + 1, out);
}

/// Appends the first build's contours of some regions, and counts the holes they dropped.
fn copy_contours(first: &FirstBuild, regions: core::ops::Range<u32>, out: &mut ContourSet) {
    let from = &first.contours;
    let at = |region: u32| first.contour_first[region as usize] as usize;
    let dropped = first.dropped.iter().filter(|(r, _)| regions.contains(r));
    out.dropped_holes += dropped.map(|(_, count)| count).sum::<u32>();
    let (begin, end) = (at(regions.start), at(regions.end));
    if begin >= end {
        return;
    }
    out.region.extend_from_slice(&from.region[begin..end]);
    out.area.extend_from_slice(&from.area[begin..end]);
    let vertices = from.first[begin]..from.first[end];
    let moved = out.vertices.len() as u32;
    out.first.extend(
        from.first[begin + 1..=end]
            .iter()
            .map(|f| f - vertices.start + moved),
    );
    let vertices = vertices.start as usize..vertices.end as usize;
    out.vertices.extend_from_slice(&from.vertices[vertices]);
}

/// Lays the surviving and the new loops of a region side by side, by smallest edge.
fn gather_loops(first: &FirstBuild, region: u32, scratch: &mut RepairScratch) {
    let RepairScratch {
        gone,
        fresh,
        fresh_simplified,
        fresh_first,
        fresh_order,
        members,
        joint,
        ..
    } = scratch;
    members.clear();
    let old = first.loop_first[region as usize]..first.loop_first[region as usize + 1];
    for &index in &first.loop_order[old.start as usize..old.end as usize] {
        if !gone[index as usize] {
            let edge = first.loops.loop_edges(index as usize)[0];
            members.push((edge, false, index));
        }
    }
    let from = fresh_order.partition_point(|entry| entry.0 < region);
    let own = fresh_order[from..].iter().take_while(|e| e.0 == region);
    members.extend(own.map(|&(_, edge, index)| (edge, true, index)));
    members.sort_unstable();
    joint.order.clear();
    joint.area2.clear();
    joint.raw.clear();
    joint.raw_first.clear();
    joint.raw_first.push(0);
    joint.simplified.clear();
    joint.simplified_first.clear();
    joint.simplified_first.push(0);
    for (position, &(_, new, index)) in members.iter().enumerate() {
        let (loops, simplified, offsets) = if new {
            (&*fresh, &*fresh_simplified, &*fresh_first)
        } else {
            (&first.loops, &first.simplified, &first.simplified_first)
        };
        let index = index as usize;
        joint.order.push(position as u32);
        joint.area2.push(loops.area2[index]);
        joint.raw.extend_from_slice(loops.vertices(index));
        joint.raw_first.push(joint.raw.len() as u32);
        let range = offsets[index] as usize..offsets[index + 1] as usize;
        joint.simplified.extend_from_slice(&simplified[range]);
        joint.simplified_first.push(joint.simplified.len() as u32);
    }
}

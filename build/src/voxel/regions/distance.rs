//! The distance field: how far each span is from the nearest wall, ledge or unwalkable span.

use crate::voxel::chamfer::chamfer_distance;
use throng_soa::spans::{OpenSpans, SpanGraph};

/// Replaces `out` by each span's exact distance to a boundary span, over mutual links: 2 for a
/// straight step, 3 for a diagonal one, 0 on the boundary and on spans of area 0.
///
/// `graph` must be the graph of `spans`.
pub fn build_distance_field(spans: &OpenSpans, graph: &SpanGraph, out: &mut Vec<u32>) {
    // Where a link is one-way the graph lacks it, and being symmetric it stays a fair input; but
    // which of two floors a bent path reaches may then depend on the order of its steps.
    let commute = graph.steps_commute && !graph.one_way;
    chamfer_distance(&graph.neighbor, &spans.area, commute, out);
}

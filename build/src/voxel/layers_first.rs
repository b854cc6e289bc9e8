//! Tiles cut into height layers before anything else.
//!
//! With [`PartitionType::Layers`](crate::settings::PartitionType::Layers) every span's layer is
//! decided once, from geometry alone, so a later change of areas never reshuffles floors. When no
//! heights are sampled, each layer is then built on its own: [`split_layer`] copies its spans and
//! the links among them, and a link to another layer becomes a wall.

use throng_soa::spans::{NO_LINK, NO_SPAN, OpenSpans, SpanGraph};

/// All four directions without a link.
const NO_LINKS: u32 = NO_LINK | NO_LINK << 6 | NO_LINK << 12 | NO_LINK << 18;

/// Where every span goes when a tile is cut into layers.
#[derive(Debug, Default)]
pub struct LayerSplit {
    /// Position of each span among the spans of its layer.
    rank: Vec<u32>,
    /// Spans by layer, in order within one.
    spans: Vec<u32>,
    /// First entry of each layer in `spans`, and the count at the end.
    first: Vec<u32>,
}

impl LayerSplit {
    /// Ranks every span within its layer; `layers` holds one number below `layer_count` a span.
    pub fn rebuild(&mut self, layers: &[u32], layer_count: u32) {
        self.first.clear();
        self.first.resize(layer_count as usize + 1, 0);
        self.rank.clear();
        self.rank.extend(layers.iter().map(|&layer| {
            let count = &mut self.first[layer as usize + 1];
            *count += 1;
            *count - 1
        }));
        for layer in 1..self.first.len() {
            self.first[layer] += self.first[layer - 1];
        }
        self.spans.clear();
        self.spans.resize(layers.len(), 0);
        for (span, (&layer, &rank)) in layers.iter().zip(&self.rank).enumerate() {
            self.spans[(self.first[layer as usize] + rank) as usize] = span as u32;
        }
    }
}

/// Copies the spans of one layer, in order, with the mutual neighbours that are in the layer too.
///
/// `split` must have been rebuilt from `layers`. `out.links` carries no links: everything after
/// this reads `graph_out`. Cost: one pass over the layer's spans and the tile's columns.
pub fn split_layer(
    spans: &OpenSpans,
    graph: &SpanGraph,
    layers: &[u32],
    split: &LayerSplit,
    layer: u32,
    out: &mut OpenSpans,
    graph_out: &mut SpanGraph,
) {
    let range = split.first[layer as usize] as usize..split.first[layer as usize + 1] as usize;
    let own = &split.spans[range];
    let columns = spans.width as usize * spans.depth as usize;
    out.width = spans.width;
    out.depth = spans.depth;
    out.region_count = 0;
    out.region.clear();
    out.region.resize(own.len(), 0);
    out.links.clear();
    out.links.resize(own.len(), NO_LINKS);
    out.floor.clear();
    out.floor
        .extend(own.iter().map(|&s| spans.floor[s as usize]));
    out.height.clear();
    out.height
        .extend(own.iter().map(|&s| spans.height[s as usize]));
    out.area.clear();
    out.area.extend(own.iter().map(|&s| spans.area[s as usize]));
    let SpanGraph {
        neighbor,
        cell,
        stacked,
        ..
    } = graph_out;
    cell.clear();
    cell.extend(own.iter().map(|&s| graph.cell[s as usize]));
    neighbor.clear();
    neighbor.extend(own.iter().map(|&s| {
        graph.neighbor[s as usize].map(|target| {
            // `NO_SPAN` is past the end of both columns.
            match layers.get(target as usize) {
                Some(&other) if other == layer => split.rank[target as usize],
                _ => NO_SPAN,
            }
        })
    }));
    stacked.clear();
    out.cell_first.clear();
    out.cell_first.resize(columns + 1, 0);
    let mut previous = u32::MAX;
    for (rank, &column) in cell.iter().enumerate() {
        if column == previous && stacked.last() != Some(&column) {
            stacked.push(column);
        }
        previous = column;
        out.cell_first[column as usize + 1] = rank as u32 + 1;
    }
    // Columns without a span of the layer start where the one before them ends.
    let mut end = 0;
    for first in &mut out.cell_first {
        end = end.max(*first);
        *first = end;
    }
    graph_out.one_way = graph.one_way;
    graph_out.steps_commute = graph.steps_commute;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two floors in the middle column of three; the upper one joins the right column.
    fn two_floors() -> (OpenSpans, SpanGraph) {
        let none = NO_LINK;
        let links = |l: [u32; 4]| l[0] | l[1] << 6 | l[2] << 12 | l[3] << 18;
        let spans = OpenSpans {
            width: 3,
            depth: 1,
            cell_first: vec![0, 1, 3, 4],
            floor: vec![10, 10, 30, 30],
            height: vec![50, 15, 50, 50],
            area: vec![63, 63, 63, 63],
            region: vec![0; 4],
            links: vec![
                links([none, none, 0, none]),
                links([0, none, none, none]),
                links([none, none, 0, none]),
                links([1, none, none, none]),
            ],
            region_count: 0,
        };
        let mut graph = SpanGraph::default();
        graph.rebuild(&spans);
        (spans, graph)
    }

    #[test]
    fn each_layer_keeps_its_own_spans_and_links() {
        let (spans, graph) = two_floors();
        let layers = [0, 0, 1, 1];
        let mut split = LayerSplit::default();
        split.rebuild(&layers, 2);
        let mut out = OpenSpans::default();
        let mut graph_out = SpanGraph::default();
        split_layer(&spans, &graph, &layers, &split, 1, &mut out, &mut graph_out);
        assert_eq!(out.floor, [30, 30]);
        assert_eq!(out.cell_first, [0, 0, 1, 2]);
        assert_eq!(graph_out.cell, [1, 2]);
        assert_eq!(graph_out.neighbor[0], [NO_SPAN, NO_SPAN, 1, NO_SPAN]);
        split_layer(&spans, &graph, &layers, &split, 0, &mut out, &mut graph_out);
        assert_eq!(out.cell_first, [0, 1, 2, 2]);
        assert!(graph_out.stacked.is_empty());
    }

    #[test]
    fn one_layer_is_the_whole_tile() {
        let (spans, graph) = two_floors();
        let mut split = LayerSplit::default();
        split.rebuild(&[0; 4], 1);
        let mut out = OpenSpans::default();
        let mut graph_out = SpanGraph::default();
        split_layer(&spans, &graph, &[0; 4], &split, 0, &mut out, &mut graph_out);
        out.links.clone_from(&spans.links);
        assert_eq!(out, spans);
        assert_eq!(graph_out.neighbor, graph.neighbor);
        assert_eq!(graph_out.cell, graph.cell);
    }

    #[test]
    fn a_link_to_another_layer_is_cut() {
        let (spans, graph) = two_floors();
        let layers = [0, 1, 1, 0];
        let mut split = LayerSplit::default();
        split.rebuild(&layers, 2);
        let mut out = OpenSpans::default();
        let mut graph_out = SpanGraph::default();
        split_layer(&spans, &graph, &layers, &split, 1, &mut out, &mut graph_out);
        assert_eq!(graph_out.neighbor, [[NO_SPAN; 4]; 2]);
        assert_eq!(graph_out.stacked, [1]);
    }
}

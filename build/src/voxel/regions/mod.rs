//! Regions: dividing the walkable spans into connected pieces of one area each.
//!
//! In: open spans and their graph. Out: a region id per span, 1 to [`OpenSpans::region_count`] in
//! order of each region's first span, 0 for none. Three partitions: [`build_watershed`] (round
//! pieces around local maxima of the distance to walls), [`build_monotone`] (pieces with one run
//! of cells per row) and [`build_layers`] (large pieces that never hold two floors of a column).
//! All links here are mutual ones, so every region has a closed boundary.
//!
//! [`OpenSpans::region_count`]: throng_soa::spans::OpenSpans::region_count

mod distance;
mod filter;
mod layers;
mod monotone;
mod watershed;

pub use distance::build_distance_field;
pub use filter::{FilterScratch, filter_regions};
pub use layers::{
    LayerScratch, MAX_OVERLAPS, assign_region_layers, build_layers, label_layer_components,
    span_layers,
};
pub use monotone::{MonotoneScratch, build_monotone};
pub use watershed::{WatershedScratch, build_watershed};

use throng_soa::error::ArgumentError;

/// Sizes below which regions are removed or merged, in spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionSettings {
    /// A region with fewer spans and no neighbouring region is removed.
    pub min_region_area: u32,
    /// A region with fewer spans merges into a neighbour of the same area. Layers ignore it.
    pub merge_region_area: u32,
}

impl Default for RegionSettings {
    /// 8 x 8 and 20 x 20 spans.
    fn default() -> Self {
        Self {
            min_region_area: 64,
            merge_region_area: 400,
        }
    }
}

/// Working memory of all partitions; one per worker, reused from tile to tile.
#[derive(Clone, Debug, Default)]
pub struct RegionScratch {
    /// Of the watershed.
    pub watershed: WatershedScratch,
    /// Of the monotone sweep.
    pub monotone: MonotoneScratch,
    /// Of the layer merge.
    pub layers: LayerScratch,
    /// Of the filter that ends every partition.
    pub filter: FilterScratch,
}

/// Checks that a graph belongs to its spans, so that the passes can index without looking.
fn check_graph(
    spans: &throng_soa::spans::OpenSpans,
    graph: &throng_soa::spans::SpanGraph,
) -> Result<(), ArgumentError> {
    if graph.neighbor.len() == spans.span_count() && graph.cell.len() == spans.span_count() {
        return Ok(());
    }
    Err(ArgumentError::new(
        "graph",
        format!("a graph of {} spans", graph.neighbor.len()),
        format!("rebuilt from these {} spans", spans.span_count()),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_soa::spans::{DIRECTION_X, DIRECTION_Z, NO_LINK, NO_SPAN, OpenSpans, SpanGraph};

    /// One floor from text: a digit is a span of that area, `.` is a column without spans.
    fn floor(rows: &[&str]) -> (OpenSpans, SpanGraph) {
        let (width, depth) = (rows[0].len() as i32, rows.len() as i32);
        let cells: Vec<u8> = rows.iter().flat_map(|row| row.bytes()).collect();
        let mut open = OpenSpans {
            width: width as u32,
            depth: depth as u32,
            ..OpenSpans::default()
        };
        for z in 0..depth {
            for x in 0..width {
                open.cell_first.push(open.floor.len() as u32);
                let area = cells[(x + z * width) as usize];
                if area == b'.' {
                    continue;
                }
                let mut links = 0;
                for direction in 0..4 {
                    let (nx, nz) = (x + DIRECTION_X[direction], z + DIRECTION_Z[direction]);
                    let inside = (0..width).contains(&nx) && (0..depth).contains(&nz);
                    let linked = inside && cells[(nx + nz * width) as usize] != b'.';
                    links |= if linked { 0 } else { NO_LINK } << (6 * direction);
                }
                open.links.push(links);
                open.floor.push(1);
                open.height.push(u16::MAX);
                open.area.push(area - b'0');
                open.region.push(0);
            }
        }
        open.cell_first.push(open.floor.len() as u32);
        let mut graph = SpanGraph::default();
        graph.rebuild(&open);
        assert!(graph.neighbor.iter().flatten().any(|&t| t != NO_SPAN));
        (open, graph)
    }

    fn settings(min: u32, merge: u32) -> RegionSettings {
        RegionSettings {
            min_region_area: min,
            merge_region_area: merge,
        }
    }

    #[test]
    fn distance_counts_2_straight_and_3_diagonal_from_the_outermost_spans() {
        let (open, graph) = floor(&["1111111"; 7]);
        let mut distance = Vec::new();
        build_distance_field(&open, &graph, &mut distance);
        assert_eq!(distance[7..14], [0, 2, 2, 2, 2, 2, 0]);
        assert_eq!(distance[21..28], [0, 2, 4, 6, 4, 2, 0]);
        // One hole in the middle: its four sides are boundary, its corners are not.
        let (open, graph) = floor(&[
            "1111111", "1111111", "1111111", "111.111", "1111111", "1111111", "1111111",
        ]);
        build_distance_field(&open, &graph, &mut distance);
        assert_eq!(distance[14..21], [0, 2, 2, 0, 2, 2, 0]);
        assert_eq!(distance[7..14], [0, 2, 2, 2, 2, 2, 0]);
    }

    #[test]
    fn two_rooms_are_two_basins_until_they_are_small_enough_to_merge() {
        let rows = [
            "1111111.1111111",
            "1111111.1111111",
            "1111111.1111111",
            "111111111111111",
            "1111111.1111111",
            "1111111.1111111",
            "1111111.1111111",
        ];
        let (mut open, graph) = floor(&rows);
        let mut scratch = RegionScratch::default();
        let RegionScratch {
            watershed, filter, ..
        } = &mut scratch;
        build_watershed(&mut open, &graph, &settings(0, 0), watershed, filter).unwrap();
        assert_eq!(open.region_count, 2);
        assert_eq!(open.region[0], 1);
        assert_eq!(open.region[7], 2);
        build_watershed(&mut open, &graph, &settings(0, 51), watershed, filter).unwrap();
        assert_eq!(open.region_count, 1);
    }

    #[test]
    fn a_run_that_forks_starts_new_regions() {
        let rows = ["11111", "1.111", "11111"];
        let (mut open, graph) = floor(&rows);
        let mut scratch = RegionScratch::default();
        let RegionScratch {
            monotone, filter, ..
        } = &mut scratch;
        build_monotone(&mut open, &graph, &settings(0, 0), monotone, filter).unwrap();
        assert_eq!(open.region, [1, 1, 1, 1, 1, 2, 3, 3, 3, 4, 4, 4, 4, 4]);
    }

    #[test]
    fn a_small_region_joins_the_longest_border_and_the_smaller_id_on_ties() {
        let (mut open, graph) = floor(&["1111", "1111", "1111"]);
        open.region_count = 3;
        // Region 2 borders region 1 with one link and region 3 with two.
        open.region = vec![1, 2, 3, 3, 1, 3, 3, 3, 1, 3, 3, 3];
        let mut scratch = FilterScratch::default();
        filter_regions(&mut open, &graph, &settings(0, 2), true, &mut scratch).unwrap();
        assert_eq!(open.region, [1, 2, 2, 2, 1, 2, 2, 2, 1, 2, 2, 2]);
        // One link each: the smaller id. Numbers follow the first spans.
        let (mut open, graph) = floor(&["11111"]);
        open.region_count = 7;
        open.region = vec![5, 5, 7, 2, 2];
        filter_regions(&mut open, &graph, &settings(0, 2), true, &mut scratch).unwrap();
        assert_eq!(open.region, [1, 1, 2, 2, 2]);
    }

    #[test]
    fn islands_go_and_small_regions_beside_another_area_stay() {
        let (mut open, graph) = floor(&["11.12", "11.22"]);
        let mut scratch = RegionScratch::default();
        let RegionScratch {
            layers,
            monotone,
            filter,
            ..
        } = &mut scratch;
        build_layers(&mut open, &graph, &settings(5, 0), layers, monotone, filter).unwrap();
        assert_eq!(open.region, [0, 0, 1, 2, 0, 0, 2, 2]);
    }
}

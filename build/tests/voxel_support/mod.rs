//! Small fields of open spans for the tests of the stages after them.

#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use throng_build::voxel::contours::{
    ContourScratch, ContourSet, ContourSettings, SpanView, build_contours,
};
use throng_build::voxel::regions::{
    RegionScratch, RegionSettings, build_layers, build_monotone, build_watershed,
};
use throng_soa::rng::SplitMix64;
use throng_soa::spans::{OpenSpans, SpanGraph};

pub(crate) const CLIMB: i32 = 3;
pub(crate) const HEADROOM: i32 = 6;

/// Spans with regions, and their graph.
#[derive(Default)]
pub(crate) struct Field {
    pub(crate) spans: OpenSpans,
    pub(crate) graph: SpanGraph,
}

/// The three ways to make regions.
pub(crate) const PARTITIONS: [fn(&mut Field, &RegionSettings); 3] = [
    |field, settings| {
        let mut s = RegionScratch::default();
        let Field { spans, graph } = field;
        build_watershed(spans, graph, settings, &mut s.watershed, &mut s.filter).unwrap();
    },
    |field, settings| {
        let mut s = RegionScratch::default();
        let Field { spans, graph } = field;
        build_monotone(spans, graph, settings, &mut s.monotone, &mut s.filter).unwrap();
    },
    |field, settings| {
        let mut s = RegionScratch::default();
        let Field { spans, graph } = field;
        build_layers(
            spans,
            graph,
            settings,
            &mut s.layers,
            &mut s.monotone,
            &mut s.filter,
        )
        .unwrap();
    },
];

/// A field from `(floor row, area)` lists per column, bottom up.
pub(crate) fn field(width: u32, depth: u32, columns: &[Vec<(u16, u8)>]) -> Field {
    let mut spans = OpenSpans {
        width,
        depth,
        cell_first: vec![0],
        ..OpenSpans::default()
    };
    for column in columns {
        for (index, &(floor, area)) in column.iter().enumerate() {
            let ceiling = column.get(index + 1).map(|above| above.0 - 1);
            spans.floor.push(floor);
            spans
                .height
                .push(ceiling.map_or(u16::MAX, |ceiling| ceiling - floor));
            spans.area.push(area);
        }
        spans.cell_first.push(spans.floor.len() as u32);
    }
    spans.region = vec![0; spans.floor.len()];
    spans.links = vec![0; spans.floor.len()];
    for cell in 0..columns.len() {
        for span in spans.cell_range(cell) {
            let mut links = 0;
            for direction in 0..4 {
                let fits = |&other: &usize| {
                    let top = |s: usize| i32::from(spans.floor[s]) + i32::from(spans.height[s]);
                    let (f, g) = (i32::from(spans.floor[span]), i32::from(spans.floor[other]));
                    top(span).min(top(other)) - f.max(g) >= HEADROOM && (f - g).abs() <= CLIMB
                };
                let found = spans.neighbor_cell(cell, direction).and_then(|next| {
                    let range = spans.cell_range(next);
                    let first = range.start;
                    range.into_iter().find(fits).map(|s| s - first)
                });
                links |= (found.unwrap_or(63) as u32) << (6 * direction);
            }
            spans.links[span] = links;
        }
    }
    let mut graph = SpanGraph::default();
    graph.rebuild(&spans);
    Field { spans, graph }
}

/// A field of one floor at row 10, from rows of text, the first row the largest z: `.` nothing, `x`
/// unwalkable, `#` walkable, digits other areas.
pub(crate) fn picture(rows: &[&str]) -> Field {
    let mut columns = Vec::new();
    for row in rows.iter().rev() {
        for mark in row.chars() {
            columns.push(match mark {
                '.' => vec![],
                'x' => vec![(10, 0)],
                '#' => vec![(10, 63)],
                digit => vec![(10, digit as u8 - b'0')],
            });
        }
    }
    field(rows[0].len() as u32, rows.len() as u32, &columns)
}

/// A random field: blobs of walls, patches of area 5, bumps within a step, and a second floor here
/// and there when `stacked`.
pub(crate) fn random_field(seed: u64, width: u32, depth: u32, stacked: bool) -> Field {
    let mut rng = SplitMix64::new(seed);
    let mut columns = Vec::new();
    let blobs: Vec<(i32, i32, i32, u32)> = (0..(width * depth / 60))
        .map(|_| {
            let at = |limit: u32, rng: &mut SplitMix64| rng.next_below(limit) as i32;
            (
                at(width, &mut rng),
                at(depth, &mut rng),
                1 + at(4, &mut rng),
                rng.next_below(6),
            )
        })
        .collect();
    for z in 0..depth as i32 {
        for x in 0..width as i32 {
            let (mut area, mut hole, mut upper) = (63, false, false);
            for &(bx, bz, radius, kind) in &blobs {
                if (x - bx).abs().max((z - bz).abs()) <= radius {
                    match kind {
                        0 | 1 => hole = true,
                        2 => area = 5,
                        3 => area = 0,
                        _ => upper = true,
                    }
                }
            }
            let ground = (20 + x / 3 + rng.next_below(2) as i32) as u16;
            let mut column = Vec::new();
            if !hole {
                column.push((ground, area));
            }
            if stacked && upper {
                column.push((ground + 12 + rng.next_below(2) as u16, 63));
            }
            columns.push(column);
        }
    }
    field(width, depth, &columns)
}

pub(crate) fn view(field: &Field) -> SpanView<'_> {
    SpanView {
        width: field.spans.width,
        depth: field.spans.depth,
        floor: &field.spans.floor,
        area: &field.spans.area,
        region: &field.spans.region,
        neighbor: &field.graph.neighbor,
        cell: &field.graph.cell,
        region_count: field.spans.region_count,
    }
}

pub(crate) fn contours(field: &Field, settings: &ContourSettings) -> (ContourSet, ContourScratch) {
    let mut scratch = ContourScratch::default();
    let mut set = ContourSet::default();
    build_contours(&view(field), settings, &mut scratch, &mut set);
    (set, scratch)
}

pub(crate) const KEEP_ALL: RegionSettings = RegionSettings {
    min_region_area: 0,
    merge_region_area: 0,
};

/// No simplification at all but of straight runs.
pub(crate) const CLOSE: ContourSettings = ContourSettings {
    max_error: 0.0,
    max_edge_length: 0,
    straight_region_borders: true,
    border_region: 0,
};

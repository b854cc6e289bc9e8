//! The span stages against slow, obvious versions of the same rules on random input.

mod field_support;

use field_support::{FIELDS, Field, limits, random_open, random_solid};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use throng_build::voxel::compact::{LinkScratch, compact};
use throng_build::voxel::erode::{ErodeScratch, erode_walkable_area};
use throng_build::voxel::filter::{
    LedgeScratch, filter_ledge_spans, filter_low_hanging_obstacles, filter_low_height_spans,
};
use throng_build::voxel::regions::build_distance_field;
use throng_soa::rng::SplitMix64;
use throng_soa::spans::{
    DIRECTION_X, DIRECTION_Z, NO_SPAN, OpenSpans, SolidSpans, SpanGraph, UNBOUNDED, opposite,
};

fn neighbor_cell(width: u32, depth: u32, cell: usize, direction: usize) -> Option<usize> {
    let x = (cell as u32 % width) as i32 + DIRECTION_X[direction];
    let z = (cell as u32 / width) as i32 + DIRECTION_Z[direction];
    (x >= 0 && z >= 0 && x < width as i32 && z < depth as i32)
        .then(|| (x + z * width as i32) as usize)
}

/// `(floor, ceiling)` of every gap of a column, the one under the first span included.
fn gaps(spans: &SolidSpans, cell: usize, bottom: i32) -> Vec<(i32, i32)> {
    let range = spans.cell_range(cell);
    let mut floors = vec![bottom];
    floors.extend(range.clone().map(|s| i32::from(spans.max[s])));
    let mut ceilings: Vec<i32> = range.map(|s| i32::from(spans.min[s])).collect();
    ceilings.push(UNBOUNDED);
    floors.into_iter().zip(ceilings).collect()
}

fn ledge_oracle(spans: &SolidSpans, height: i32, climb: i32) -> Vec<u8> {
    let mut area = spans.area.clone();
    for cell in 0..(spans.width * spans.depth) as usize {
        for (place, span) in spans.cell_range(cell).enumerate() {
            let (floor, ceiling) = gaps(spans, cell, -climb)[place + 1];
            let mut lowest_drop = i32::MAX;
            let mut reachable = Vec::new();
            for direction in 0..4 {
                let Some(next) = neighbor_cell(spans.width, spans.depth, cell, direction) else {
                    lowest_drop = lowest_drop.min(-climb - 1);
                    continue;
                };
                for (gap_floor, gap_ceiling) in gaps(spans, next, -climb) {
                    if ceiling.min(gap_ceiling) - floor.max(gap_floor) < height {
                        continue;
                    }
                    let drop = gap_floor - floor;
                    lowest_drop = lowest_drop.min(drop);
                    if drop.abs() <= climb {
                        reachable.push(gap_floor);
                    }
                }
            }
            let spread = match (reachable.iter().max(), reachable.iter().min()) {
                (Some(high), Some(low)) => high - low,
                _ => 0,
            };
            if lowest_drop < -climb || spread > climb {
                area[span] = 0;
            }
        }
    }
    area
}

#[test]
fn filters_equal_their_rules_written_out() {
    let mut rng = SplitMix64::new(1);
    for round in 0..200 {
        let field = FIELDS[round % 4];
        let (width, depth) = (1 + rng.next_below(12), 1 + rng.next_below(12));
        let solid = random_solid(&mut rng, field, width, depth);
        let (height, climb) = (1 + rng.next_below(6) as i32, rng.next_below(4) as i32);

        let mut ledges = solid.clone();
        filter_ledge_spans(&mut ledges, height, climb, &mut LedgeScratch::default());
        assert_eq!(
            ledges.area,
            ledge_oracle(&solid, height, climb),
            "{field:?}"
        );

        let mut low = solid.clone();
        filter_low_height_spans(&mut low, height);
        let mut hanging = solid.clone();
        filter_low_hanging_obstacles(&mut hanging, climb);
        for cell in 0..(width * depth) as usize {
            let range = solid.cell_range(cell);
            for span in range.clone() {
                let above = (span + 1 < range.end).then_some(span + 1);
                let cramped = above
                    .is_some_and(|a| i32::from(solid.min[a]) - i32::from(solid.max[span]) < height);
                assert_eq!(low.area[span], if cramped { 0 } else { solid.area[span] });
                let lifted = span > range.start
                    && solid.area[span] == 0
                    && solid.area[span - 1] != 0
                    && i32::from(solid.max[span]) - i32::from(solid.max[span - 1]) <= climb;
                let expected = if lifted {
                    solid.area[span - 1]
                } else {
                    solid.area[span]
                };
                assert_eq!(hanging.area[span], expected);
            }
        }
    }
}

#[test]
fn compaction_equals_its_rules_written_out() {
    let mut rng = SplitMix64::new(2);
    for round in 0..200 {
        let field = FIELDS[round % 4];
        let (width, depth) = (1 + rng.next_below(12), 1 + rng.next_below(12));
        let solid = random_solid(&mut rng, field, width, depth);
        let mut open = OpenSpans::default();
        let (height, climb) = limits(field);
        compact(
            &solid,
            height,
            climb,
            &mut open,
            &mut LinkScratch::default(),
        );
        let mut graph = SpanGraph::default();
        graph.rebuild(&open);
        // Spans of every column as (floor, height, area).
        let columns: Vec<Vec<(i32, i32, u8)>> = (0..(width * depth) as usize)
            .map(|cell| {
                let areas = solid.cell_range(cell).map(|s| solid.area[s]);
                gaps(&solid, cell, 0)
                    .into_iter()
                    .skip(1)
                    .zip(areas)
                    .filter(|&(_, area)| area != 0)
                    .map(|((floor, ceiling), area)| (floor, (ceiling - floor).min(65535), area))
                    .collect()
            })
            .collect();
        let link = |cell: usize, place: usize, direction: usize| {
            let next = neighbor_cell(width, depth, cell, direction)?;
            let (floor, room, _) = columns[cell][place];
            let fits = |&(other, other_room, _): &(i32, i32, u8)| {
                (floor + room).min(other + other_room) - floor.max(other) >= height
                    && (other - floor).abs() <= climb
            };
            Some((next, columns[next].iter().position(fits)?))
        };
        let mut one_way = false;
        let mut span = 0;
        for (cell, column) in columns.iter().enumerate() {
            assert_eq!(open.cell_first[cell], span as u32);
            for (place, &(floor, room, area)) in column.iter().enumerate() {
                let stored = (open.floor[span], open.height[span], open.area[span]);
                assert_eq!(stored, (floor as u16, room as u16, area));
                assert_eq!(graph.cell[span], cell as u32);
                for direction in 0..4 {
                    let target = link(cell, place, direction);
                    let index = target.map_or(NO_SPAN, |(c, p)| open.cell_first[c] + p as u32);
                    assert_eq!(open.link_target(cell, span, direction), index);
                    let mutual = target.is_some_and(|(c, p)| {
                        link(c, p, opposite(direction)) == Some((cell, place))
                    });
                    one_way |= target.is_some() && !mutual;
                    let expected = if mutual { index } else { NO_SPAN };
                    assert_eq!(graph.neighbor[span][direction], expected);
                }
                span += 1;
            }
        }
        assert_eq!(open.span_count(), span);
        assert_eq!(graph.one_way, one_way);
    }
}

/// Cost of the cheapest way from `start` to a boundary span, by Dijkstra's search.
fn distance_oracle(targets: &[[u32; 4]], area: &[u8], start: usize) -> u32 {
    let boundary = |span: usize| {
        area[span] == 0
            || targets[span]
                .iter()
                .any(|&t| t == NO_SPAN || area[t as usize] == 0)
    };
    let mut best = vec![u32::MAX; area.len()];
    let mut queue = BinaryHeap::from([Reverse((0, start as u32))]);
    while let Some(Reverse((cost, span))) = queue.pop() {
        let span = span as usize;
        if cost >= best[span] {
            continue;
        }
        best[span] = cost;
        if boundary(span) {
            return cost;
        }
        for direction in 0..4 {
            let step = targets[span][direction];
            if step == NO_SPAN {
                continue;
            }
            queue.push(Reverse((cost + 2, step)));
            for turn in [(direction + 1) % 4, (direction + 3) % 4] {
                let corner = targets[step as usize][turn];
                if corner != NO_SPAN {
                    queue.push(Reverse((cost + 3, corner)));
                }
            }
        }
    }
    u32::MAX
}

#[test]
fn erosion_and_distance_field_equal_a_plain_shortest_path_search() {
    let mut rng = SplitMix64::new(3);
    let (mut one_way, mut twisted) = (0, 0);
    for round in 0..160 {
        let field = FIELDS[round % 4];
        let (open, graph) = random_open(&mut rng, field);
        one_way += u32::from(graph.one_way);
        twisted += u32::from(!graph.steps_commute);
        let links: Vec<[u32; 4]> = (0..open.span_count())
            .map(|span| {
                core::array::from_fn(|d| open.link_target(graph.cell[span] as usize, span, d))
            })
            .collect();
        let mut field_distance = Vec::new();
        build_distance_field(&open, &graph, &mut field_distance);
        let radius = 1 + rng.next_below(4) as i32;
        let mut eroded = open.clone();
        erode_walkable_area(&mut eroded, &graph, radius, &mut ErodeScratch::default()).unwrap();
        assert_eq!(field_distance.len(), open.span_count());
        for (span, &distance) in field_distance.iter().enumerate() {
            let mutual = distance_oracle(&graph.neighbor, &open.area, span);
            assert_eq!(distance, mutual, "{field:?} span {span}");
            let stored = distance_oracle(&links, &open.area, span);
            let expected = if stored < 2 * radius as u32 {
                0
            } else {
                open.area[span]
            };
            assert_eq!(eroded.area[span], expected, "{field:?} span {span}");
        }
    }
    // The fields must exercise the general code as well.
    assert!(one_way > 10 && twisted > 5, "{one_way} {twisted}");
}

#[test]
fn radius_0_and_bad_radii_change_nothing() {
    let mut rng = SplitMix64::new(4);
    let (mut open, graph) = random_open(&mut rng, Field::Floor);
    let before = open.clone();
    let mut scratch = ErodeScratch::default();
    erode_walkable_area(&mut open, &graph, 0, &mut scratch).unwrap();
    for bad in [-1, (1 << 20) + 1] {
        assert!(erode_walkable_area(&mut open, &graph, bad, &mut scratch).is_err());
    }
    assert_eq!(open, before);
    erode_walkable_area(&mut open, &graph, 1 << 20, &mut scratch).unwrap();
    assert!(open.area.iter().all(|&area| area == 0));
}

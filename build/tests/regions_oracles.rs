//! Regions on random fields: what every partition promises, and slow versions of the same rules.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod field_support;

use field_support::{FIELDS, Field, random_open};
use std::collections::{BTreeMap, BTreeSet};
use throng_build::voxel::regions::{
    RegionScratch, RegionSettings, assign_region_layers, build_distance_field, build_layers,
    build_monotone, build_watershed, label_layer_components, span_layers,
};
use throng_soa::rng::SplitMix64;
use throng_soa::spans::{NO_SPAN, OpenSpans, SpanGraph};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Partition {
    Watershed,
    Monotone,
    Layers,
}

const PARTITIONS: [Partition; 3] = [Partition::Watershed, Partition::Monotone, Partition::Layers];

fn run(
    partition: Partition,
    open: &OpenSpans,
    graph: &SpanGraph,
    settings: &RegionSettings,
    scratch: &mut RegionScratch,
) -> OpenSpans {
    let mut open = open.clone();
    let RegionScratch {
        watershed,
        monotone,
        layers,
        filter,
    } = scratch;
    match partition {
        Partition::Watershed => build_watershed(&mut open, graph, settings, watershed, filter),
        Partition::Monotone => build_monotone(&mut open, graph, settings, monotone, filter),
        Partition::Layers => build_layers(&mut open, graph, settings, layers, monotone, filter),
    }
    .unwrap();
    open
}

fn neighbors(graph: &SpanGraph, span: usize) -> impl Iterator<Item = usize> + '_ {
    let present = graph.neighbor[span].into_iter().filter(|&t| t != NO_SPAN);
    present.map(|t| t as usize)
}

/// Spans reachable from `start` over links that `keep` accepts.
fn reach(graph: &SpanGraph, start: usize, keep: impl Fn(usize) -> bool) -> BTreeSet<usize> {
    let mut seen = BTreeSet::from([start]);
    let mut stack = vec![start];
    while let Some(span) = stack.pop() {
        for next in neighbors(graph, span) {
            if keep(next) && seen.insert(next) {
                stack.push(next);
            }
        }
    }
    seen
}

fn random_settings(rng: &mut SplitMix64) -> RegionSettings {
    RegionSettings {
        min_region_area: rng.next_below(12),
        merge_region_area: [0, 5, 30][rng.next_below(3) as usize],
    }
}

#[test]
fn regions_are_connected_of_one_area_and_numbered_by_first_span() {
    let mut rng = SplitMix64::new(21);
    let mut scratch = RegionScratch::default();
    for round in 0..150 {
        let field = FIELDS[round % 4];
        let (open, graph) = random_open(&mut rng, field);
        let settings = random_settings(&mut rng);
        for partition in PARTITIONS {
            let open = run(partition, &open, &graph, &settings, &mut scratch);
            check_invariants(partition, field, &open, &graph, &settings);
        }
    }
}

fn check_invariants(
    partition: Partition,
    field: Field,
    open: &OpenSpans,
    graph: &SpanGraph,
    settings: &RegionSettings,
) {
    let context = format!("{partition:?} {field:?} {settings:?}");
    let mut members: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    let mut largest = 0;
    for (span, &region) in open.region.iter().enumerate() {
        if open.area[span] == 0 {
            assert_eq!(region, 0, "{context}");
        }
        if region != 0 {
            assert!(
                region <= largest + 1,
                "{context}: ids in order of first span"
            );
            largest = largest.max(region);
            members.entry(region).or_default().push(span);
        }
    }
    assert_eq!(largest, open.region_count, "{context}");
    for (&region, spans) in &members {
        let area = open.area[spans[0]];
        assert!(spans.iter().all(|&s| open.area[s] == area), "{context}");
        let reached = reach(graph, spans[0], |s| open.region[s] == region);
        assert_eq!(reached.len(), spans.len(), "{context}: one piece");
        let beside: BTreeSet<usize> = spans
            .iter()
            .flat_map(|&s| neighbors(graph, s))
            .filter(|&s| open.region[s] != region && open.region[s] != 0)
            .collect();
        // Islands are dropped before merging, which can make new ones.
        if beside.is_empty() && (partition == Partition::Layers || settings.merge_region_area == 0)
        {
            assert!(
                spans.len() >= settings.min_region_area as usize,
                "{context}"
            );
        }
        if partition == Partition::Layers {
            let columns: BTreeSet<u32> = spans.iter().map(|&s| graph.cell[s]).collect();
            assert_eq!(columns.len(), spans.len(), "{context}: one span per column");
        } else if spans.len() < settings.merge_region_area as usize {
            assert!(beside.iter().all(|&s| open.area[s] != area), "{context}");
        }
    }
    // Spans without a region are whole islands.
    for span in 0..open.span_count() {
        if open.area[span] != 0 && open.region[span] == 0 {
            let island = reach(graph, span, |s| open.area[s] == open.area[span]);
            assert!(
                island.len() < settings.min_region_area as usize,
                "{context}"
            );
            let alone = |&s: &usize| neighbors(graph, s).all(|n| open.region[n] == 0);
            assert!(island.iter().all(alone), "{context}");
        }
    }
}

/// Regions by span, as the rules say, before filtering.
fn watershed_oracle(open: &OpenSpans, graph: &SpanGraph) -> Vec<u32> {
    let mut distance = Vec::new();
    build_distance_field(open, graph, &mut distance);
    let mut region = vec![0u32; open.span_count()];
    let mut count = 0;
    for level in (0..=distance.iter().copied().max().unwrap_or(0)).rev() {
        let of_level = |s: usize| open.area[s] != 0 && distance[s] == level;
        loop {
            let joins: Vec<(usize, u32)> = (0..region.len())
                .filter(|&s| of_level(s) && region[s] == 0)
                .filter_map(|s| {
                    neighbors(graph, s)
                        .filter(|&n| region[n] != 0 && open.area[n] == open.area[s])
                        .map(|n| region[n])
                        .min()
                        .map(|r| (s, r))
                })
                .collect();
            if joins.is_empty() {
                break;
            }
            for (span, id) in joins {
                region[span] = id;
            }
        }
        for seed in 0..region.len() {
            if of_level(seed) && region[seed] == 0 {
                count += 1;
                let area = open.area[seed];
                let basin = reach(graph, seed, |s| {
                    of_level(s) && region[s] == 0 && open.area[s] == area
                });
                for span in basin {
                    region[span] = count;
                }
            }
        }
    }
    region
}

fn monotone_oracle(open: &OpenSpans, graph: &SpanGraph) -> Vec<u32> {
    let mut region = vec![0u32; open.span_count()];
    let mut count = 0;
    for z in 0..open.depth {
        let mut sweeps: Vec<Vec<usize>> = Vec::new();
        let row = (z * open.width) as usize..((z + 1) * open.width) as usize;
        for span in row.flat_map(|cell| open.cell_range(cell)) {
            if open.area[span] == 0 {
                continue;
            }
            let before = graph.neighbor[span][0] as usize;
            let chain = sweeps.iter_mut().find(|sweep| {
                sweep.last() == Some(&before) && open.area[before] == open.area[span]
            });
            match chain {
                Some(sweep) => sweep.push(span),
                None => sweeps.push(vec![span]),
            }
        }
        let behind: Vec<BTreeSet<u32>> = sweeps
            .iter()
            .map(|sweep| {
                sweep
                    .iter()
                    .filter_map(|&s| {
                        let t = graph.neighbor[s][3] as usize;
                        (t < region.len() && open.area[t] == open.area[s] && region[t] != 0)
                            .then(|| region[t])
                    })
                    .collect()
            })
            .collect();
        for (i, sweep) in sweeps.iter().enumerate() {
            let only = behind[i].iter().next().copied().filter(|r| {
                behind[i].len() == 1 && (0..sweeps.len()).all(|j| j == i || !behind[j].contains(r))
            });
            let id = only.unwrap_or_else(|| {
                count += 1;
                count
            });
            for &span in sweep {
                region[span] = id;
            }
        }
    }
    region
}

fn layers_oracle(open: &OpenSpans, graph: &SpanGraph) -> Vec<u32> {
    let mut region = monotone_oracle(open, graph);
    loop {
        let mut merged = false;
        let ids: BTreeSet<u32> = region.iter().copied().filter(|&r| r != 0).collect();
        for a in ids {
            let spans: Vec<usize> = (0..region.len()).filter(|&s| region[s] == a).collect();
            let Some(&first) = spans.first() else {
                continue;
            };
            let columns: BTreeSet<u32> = spans.iter().map(|&s| graph.cell[s]).collect();
            let adjacent: BTreeSet<u32> = spans
                .iter()
                .flat_map(|&s| neighbors(graph, s))
                .filter(|&s| open.area[s] == open.area[first] && region[s] != a)
                .map(|s| region[s])
                .collect();
            let free = adjacent.into_iter().find(|&b| {
                (0..region.len()).all(|s| region[s] != b || !columns.contains(&graph.cell[s]))
            });
            if let Some(b) = free {
                for id in &mut region {
                    if *id == a || *id == b {
                        *id = a.min(b);
                    }
                }
                merged = true;
            }
        }
        if !merged {
            return region;
        }
    }
}

/// Filters and renumbers by the rules.
fn filter_oracle(
    mut region: Vec<u32>,
    open: &OpenSpans,
    graph: &SpanGraph,
    settings: &RegionSettings,
    merge: bool,
) -> Vec<u32> {
    let ids: BTreeSet<u32> = region.iter().copied().filter(|&r| r != 0).collect();
    let links = |region: &[u32], id: u32| {
        let mut links: BTreeMap<u32, u32> = BTreeMap::new();
        for span in (0..region.len()).filter(|&s| region[s] == id) {
            for next in neighbors(graph, span) {
                if region[next] != id && region[next] != 0 {
                    *links.entry(region[next]).or_default() += 1;
                }
            }
        }
        links
    };
    let size = |region: &[u32], id: u32| region.iter().filter(|&&r| r == id).count() as u32;
    let mut islands = Vec::new();
    for &id in &ids {
        if size(&region, id) < settings.min_region_area && links(&region, id).is_empty() {
            islands.push(id);
        }
    }
    for id in &mut region {
        if islands.contains(id) {
            *id = 0;
        }
    }
    let mut changed = merge;
    while changed {
        changed = false;
        for &id in &ids {
            let own = size(&region, id);
            if own == 0 || own >= settings.merge_region_area {
                continue;
            }
            let area_of = |wanted: u32| {
                let span = region.iter().position(|&r| r == wanted).unwrap();
                open.area[span]
            };
            let mut best = (0, 0);
            for (other, count) in links(&region, id) {
                if area_of(other) == area_of(id) && count > best.1 {
                    best = (other, count);
                }
            }
            if best.0 != 0 {
                for r in &mut region {
                    if *r == id {
                        *r = best.0;
                    }
                }
                changed = true;
            }
        }
    }
    let mut number = BTreeMap::from([(0, 0)]);
    for &id in &region {
        let next = number.len() as u32;
        number.entry(id).or_insert(next);
    }
    region.iter().map(|id| number[id]).collect()
}

#[test]
fn partitions_equal_their_rules_written_out() {
    let mut rng = SplitMix64::new(22);
    let mut scratch = RegionScratch::default();
    for round in 0..120 {
        let field = FIELDS[round % 4];
        let (open, graph) = random_open(&mut rng, field);
        let settings = random_settings(&mut rng);
        for partition in PARTITIONS {
            let raw = match partition {
                Partition::Watershed => watershed_oracle(&open, &graph),
                Partition::Monotone => monotone_oracle(&open, &graph),
                Partition::Layers => layers_oracle(&open, &graph),
            };
            let merge = partition != Partition::Layers;
            let expected = filter_oracle(raw, &open, &graph, &settings, merge);
            let found = run(partition, &open, &graph, &settings, &mut scratch);
            assert_eq!(
                found.region, expected,
                "{partition:?} {field:?} {settings:?}"
            );
        }
    }
}

#[test]
fn layers_of_one_floor_are_its_connected_pieces() {
    // The shortcut against the general rules, which the oracle above follows.
    let mut rng = SplitMix64::new(23);
    let mut scratch = RegionScratch::default();
    for round in 0..60 {
        let field = [Field::Floor, Field::Areas][round % 2];
        let (open, graph) = random_open(&mut rng, field);
        let settings = random_settings(&mut rng);
        let raw = layers_oracle(&open, &graph);
        let expected = filter_oracle(raw, &open, &graph, &settings, false);
        let found = run(Partition::Layers, &open, &graph, &settings, &mut scratch);
        assert_eq!(found.region, expected);
        // And the fixed-layer labelling with everything on one layer.
        let mut labelled = open.clone();
        let flat = vec![0; open.span_count()];
        label_layer_components(
            &mut labelled,
            &graph,
            &flat,
            &settings,
            &mut scratch.layers,
            &mut scratch.filter,
        )
        .unwrap();
        assert_eq!(labelled.region, expected);
    }
}

#[test]
fn fixed_layers_never_stack_and_stay_valid_when_areas_change() {
    let mut rng = SplitMix64::new(24);
    let mut scratch = RegionScratch::default();
    let mut several = 0;
    for round in 0..120 {
        let field = FIELDS[round % 4];
        let (mut open, graph) = random_open(&mut rng, field);
        let mut layers = Vec::new();
        let RegionScratch {
            monotone,
            layers: own,
            filter,
            ..
        } = &mut scratch;
        let count = span_layers(&mut open, &graph, own, monotone, filter, &mut layers).unwrap();
        several += u32::from(count > 1);
        assert!(open.region.iter().all(|&region| region == 0));
        assert!(layers.iter().all(|&layer| layer < count));
        let mut places = BTreeSet::new();
        for span in 0..open.span_count() {
            if open.area[span] != 0 {
                assert!(places.insert((graph.cell[span], layers[span])), "{field:?}");
            } else {
                let source = neighbors(&graph, span).find(|&n| open.area[n] != 0);
                assert_eq!(layers[span], source.map_or(0, |n| layers[n]));
            }
        }
        // An obstacle takes some areas away, a volume changes others.
        for area in &mut open.area {
            if *area != 0 {
                match rng.next_below(12) {
                    0 => *area = 0,
                    1 => *area = 3,
                    _ => {}
                }
            }
        }
        let keep = RegionSettings {
            min_region_area: 0,
            merge_region_area: 0,
        };
        label_layer_components(&mut open, &graph, &layers, &keep, own, filter).unwrap();
        let mut number = 0;
        for span in 0..open.span_count() {
            if open.area[span] == 0 || open.region[span] <= number {
                continue;
            }
            number += 1;
            assert_eq!(open.region[span], number);
            let piece = reach(&graph, span, |s| {
                open.area[s] == open.area[span] && layers[s] == layers[span]
            });
            assert!(piece.iter().all(|&s| open.region[s] == number));
            let size = open.region.iter().filter(|&&r| r == number).count();
            assert_eq!(size, piece.len());
        }
        assert_eq!(open.region_count, number);
    }
    assert!(several > 20, "{several}");
}

#[test]
fn regions_in_one_column_get_different_layers_and_prefer_a_neighbours() {
    let mut rng = SplitMix64::new(25);
    let mut scratch = RegionScratch::default();
    for round in 0..120 {
        let (open, graph) = random_open(&mut rng, FIELDS[round % 4]);
        let settings = random_settings(&mut rng);
        let open = run(Partition::Layers, &open, &graph, &settings, &mut scratch);
        let mut found = Vec::new();
        let count = assign_region_layers(&open, &graph, &mut scratch.layers, &mut found).unwrap();
        let mut expected = vec![0u32; open.region_count as usize + 1];
        for region in 1..=open.region_count {
            let spans: Vec<usize> = (0..open.span_count())
                .filter(|&s| open.region[s] == region)
                .collect();
            let stacked = |other: usize| {
                spans.iter().any(|&s| {
                    let column = open.cell_range(graph.cell[s] as usize);
                    open.region[column].contains(&(other as u32))
                })
            };
            let taken: BTreeSet<u32> = (1..region as usize)
                .filter(|&other| stacked(other))
                .map(|other| expected[other])
                .collect();
            let beside = spans
                .iter()
                .flat_map(|&s| neighbors(&graph, s))
                .map(|s| open.region[s])
                .filter(|&r| r != 0 && r < region)
                .map(|r| expected[r as usize])
                .filter(|layer| !taken.contains(layer))
                .min();
            let free = (0..).find(|layer| !taken.contains(layer)).unwrap();
            expected[region as usize] = beside.unwrap_or(free);
        }
        assert_eq!(found, expected);
        assert_eq!(count, expected.iter().max().unwrap() + 1);
    }
}

#[test]
fn scratch_of_another_field_leaves_no_trace() {
    let mut rng = SplitMix64::new(26);
    let mut used = RegionScratch::default();
    for round in 0..24 {
        let (open, graph) = random_open(&mut rng, FIELDS[round % 4]);
        let settings = random_settings(&mut rng);
        for partition in PARTITIONS {
            let fresh = run(
                partition,
                &open,
                &graph,
                &settings,
                &mut RegionScratch::default(),
            );
            assert_eq!(run(partition, &open, &graph, &settings, &mut used), fresh);
        }
    }
}

#[test]
fn a_graph_of_other_spans_is_refused() {
    let mut rng = SplitMix64::new(27);
    let (mut open, _) = random_open(&mut rng, Field::Floor);
    let mut scratch = RegionScratch::default();
    let error = build_watershed(
        &mut open,
        &SpanGraph::default(),
        &RegionSettings::default(),
        &mut scratch.watershed,
        &mut scratch.filter,
    )
    .unwrap_err();
    assert_eq!(error.argument, "graph");
}

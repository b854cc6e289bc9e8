//! The generated levels do what their names promise, seen through the span stage.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use throng_build::input::levels::{MIN_SIZE, NAMES, generate};
use throng_build::voxel::frame::HeightfieldFrame;
use throng_build::voxel::rasterize::classify_triangles;
use throng_build::voxel::spans::{SpanScratch, SpanSettings, build_open_spans};
use throng_soa::spans::{NO_SPAN, OpenSpans, SpanGraph};
use throng_soa::world::DVec3;

struct Level {
    open: OpenSpans,
    graph: SpanGraph,
    /// Piece of each walkable span, 0 for none.
    piece: Vec<u32>,
    /// Spans per piece.
    size: Vec<usize>,
    frame: HeightfieldFrame,
}

fn level(name: &str, size: f64, seed: u64) -> Level {
    let soup = generate(name, size, seed).unwrap();
    let (low, high) = soup.bounds().unwrap();
    let margin = DVec3::new(0.6, 1.0, 0.6);
    let frame = HeightfieldFrame::from_bounds(low - margin, high + margin, 0.3, 0.2).unwrap();
    let settings = SpanSettings::HUMANOID;
    let (vertices, triangles) = soup.into_parts();
    let mut areas = Vec::new();
    classify_triangles(
        &frame,
        &vertices,
        &triangles,
        settings.slope_cosine,
        &mut areas,
    )
    .unwrap();
    let (mut open, mut graph) = (OpenSpans::default(), SpanGraph::default());
    build_open_spans(
        &frame,
        &vertices,
        &triangles,
        &areas,
        &[],
        &settings,
        &mut SpanScratch::default(),
        &mut open,
        &mut graph,
    )
    .unwrap();
    let mut piece = vec![0; open.span_count()];
    let mut size = vec![0];
    for seed in 0..open.span_count() {
        if open.area[seed] == 0 || piece[seed] != 0 {
            continue;
        }
        let id = size.len() as u32;
        size.push(0);
        piece[seed] = id;
        let mut stack = vec![seed];
        while let Some(span) = stack.pop() {
            size[id as usize] += 1;
            for &target in &graph.neighbor[span] {
                let t = target as usize;
                if target != NO_SPAN && open.area[t] != 0 && piece[t] == 0 {
                    piece[t] = id;
                    stack.push(t);
                }
            }
        }
    }
    Level {
        open,
        graph,
        piece,
        size,
        frame,
    }
}

impl Level {
    fn largest(&self) -> u32 {
        let places = 0..self.size.len() as u32;
        places.max_by_key(|&p| self.size[p as usize]).unwrap()
    }

    fn units(&self, spans: usize) -> f64 {
        spans as f64 * f64::from(self.frame.cell_size) * f64::from(self.frame.cell_size)
    }

    fn floor(&self, span: usize) -> f64 {
        self.frame.origin.y + f64::from(self.open.floor[span]) * f64::from(self.frame.cell_height)
    }
}

#[test]
fn most_of_every_level_is_one_walkable_piece() {
    // Roofs of a city and decks that links lead to are pieces of their own.
    let apart = ["city", "two_floors"];
    for name in NAMES.iter().filter(|name| !apart.contains(name)) {
        for seed in 1..4 {
            let level = level(name, 96.0, seed);
            let walkable: usize = level.size.iter().sum();
            let largest = level.size[level.largest() as usize];
            assert!(
                largest * 10 >= walkable * 9,
                "{name} {seed}: {largest} of {walkable}"
            );
            let units = level.units(largest);
            assert!(units > 96.0 * 96.0 * 0.2, "{name} {seed}: {units}");
        }
    }
}

#[test]
fn the_streets_of_a_city_are_one_piece_with_room_for_a_crowd() {
    for seed in 1..4 {
        let size = 128.0;
        let level = level("city", size, seed);
        let streets = level.largest();
        let units = level.units(level.size[streets as usize]);
        assert!(units > size * size * 0.5, "seed {seed}: {units}");
        for span in 0..level.open.span_count() {
            let floor = level.floor(span);
            // Near the ground everything sizeable belongs to the streets; nothing high up does.
            if level.open.area[span] != 0 && level.size[level.piece[span] as usize] > 100 {
                if floor < 3.0 {
                    assert_eq!(level.piece[span], streets, "seed {seed}: floor at {floor}");
                } else if floor > 5.0 {
                    assert_ne!(level.piece[span], streets, "seed {seed}: floor at {floor}");
                }
            }
        }
    }
}

#[test]
fn bridges_carry_people_over_people() {
    for (name, least) in [("bridges", 1000), ("city", 30)] {
        let level = level(name, 128.0, 1);
        let main = level.largest();
        let mut over = 0;
        for cell in 0..level.open.cell_first.len() - 1 {
            let column = level.open.cell_range(cell);
            let in_main = column.filter(|&span| level.piece[span] == main).count();
            over += usize::from(in_main > 1);
        }
        assert!(over > least, "{name}: {over} columns");
        assert!(!level.graph.one_way && level.graph.steps_commute);
    }
}

#[test]
fn levels_differ_by_seed_and_stay_small_at_the_smallest_size() {
    for name in NAMES {
        let level = level(name, MIN_SIZE, 5);
        assert!(level.size[level.largest() as usize] > 5_000, "{name}");
    }
}

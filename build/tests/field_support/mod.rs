//! Random columns of spans for the oracle tests.
#![allow(dead_code, unreachable_pub)]

use throng_build::voxel::compact::{LinkScratch, compact};
use throng_soa::rng::SplitMix64;
use throng_soa::spans::{OpenSpans, SolidSpans, SpanColumns, SpanGraph};

/// How a random field looks.
#[derive(Clone, Copy, Debug)]
pub enum Field {
    /// One floor with holes and low steps.
    Floor,
    /// One floor of a few areas.
    Areas,
    /// Several floors with room between them.
    Floors,
    /// Spans at random, dense enough for one-way links and twisted neighbourhoods.
    Tangle,
}

pub const FIELDS: [Field; 4] = [Field::Floor, Field::Areas, Field::Floors, Field::Tangle];

/// Headroom and climb in rows. Links can be one-way only when the climb exceeds half the headroom.
pub const fn limits(field: Field) -> (i32, i32) {
    match field {
        Field::Tangle => (2, 4),
        _ => (4, 2),
    }
}

pub fn random_solid(rng: &mut SplitMix64, field: Field, width: u32, depth: u32) -> SolidSpans {
    let mut columns = SpanColumns::default();
    columns.reset(width, depth);
    let hole_chance = [3, 8, 20, 60][rng.next_below(4) as usize];
    for cell in 0..(width * depth) as usize {
        let (x, z) = (cell as u32 % width, cell as u32 / width);
        let mut add = |min: u32, max: u32, area: u8| {
            columns.add(cell, min as u16, max as u16, area, 0);
        };
        let hole = rng.next_below(hole_chance) == 0;
        match field {
            Field::Floor => {
                if !hole {
                    add(0, 3 + rng.next_below(2), 63);
                }
            }
            Field::Areas => {
                let area = 1 + ((x / 5 + z / 4) % 3) as u8;
                let area = if rng.next_below(40) == 0 { 7 } else { area };
                if !hole {
                    add(0, 3 + rng.next_below(2), area);
                }
            }
            Field::Floors => {
                for floor in 0..1 + rng.next_below(3) {
                    let area = if rng.next_below(15) == 0 { 5 } else { 63 };
                    if !(hole && rng.next_below(3) == 0) {
                        add(floor * 12, floor * 12 + 3 + rng.next_below(2), area);
                    }
                }
                // A slope that connects the floors at one side.
                if x < 6 {
                    add(3, 4 + z * 2, 63);
                }
            }
            Field::Tangle => {
                let mut row = rng.next_below(3);
                for _ in 0..rng.next_below(6) {
                    let top = row + 1 + rng.next_below(2);
                    let area = [63, 63, 63, 9, 0][rng.next_below(5) as usize];
                    add(row, top, area);
                    row = top + 1 + rng.next_below(7);
                }
            }
        }
    }
    let mut solid = SolidSpans::default();
    columns.pack(&mut solid);
    solid
}

/// A random compact heightfield with its graph; some spans lose their area afterwards, as
/// obstacles take it.
pub fn random_open(rng: &mut SplitMix64, field: Field) -> (OpenSpans, SpanGraph) {
    let (width, depth) = (4 + rng.next_below(22), 4 + rng.next_below(22));
    let solid = random_solid(rng, field, width, depth);
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
    for area in &mut open.area {
        if rng.next_below(50) == 0 {
            *area = 0;
        }
    }
    (open, graph)
}

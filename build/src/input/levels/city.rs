//! A city: streets, pavements with kerbs low enough to step on, buildings, plazas, parks, parked
//! cars and a few footbridges over crossings.
//!
//! Every way through is either closed or wide enough for two people of radius 0.6 to pass: what
//! stands in the street leans on a wall or keeps its distance. A gap that lets one person through
//! at a time would hold up a crowd for good.

use super::clamp_size;
use super::shapes::{Rect, Shapes};
use crate::input::soup::Soup;
use throng_soa::rng::SplitMix64;

/// Distance between two streets, about; the side of the level decides exactly.
const BLOCK_PITCH: f64 = 32.0;
const STREET_WIDTH: f64 = 10.0;
const AVENUE_WIDTH: f64 = 16.0;
const PAVEMENT_WIDTH: f64 = 4.5;
/// How far planters and steps stand out from a facade.
const PLANTER_DEPTH: f64 = 0.8;
/// Height of a footbridge's deck and thickness of its slabs: 3.4 units of air below.
const DECK_HEIGHT: f64 = 3.8;
const DECK_THICKNESS: f64 = 0.4;
const DECK_WIDTH: f64 = 5.0;
const RAMP_LENGTH: f64 = 12.0;

/// Streets and blocks on a square of `size` units.
///
/// The street level is one connected piece, kerbs included, and covers over half the square: some
/// 10 thousand people of radius 0.6 have room at size 256, and 65 thousand just fit at 512. Roofs
/// cannot be reached from the street.
#[must_use]
pub fn city(size: f64, seed: u64) -> Soup {
    let size = clamp_size(size);
    let mut rng = SplitMix64::new(seed);
    let mut shapes = Shapes::default();
    let blocks = (size / BLOCK_PITCH + 0.5) as usize;
    let pitch = size / blocks as f64;
    // Street `k` runs along the line `k * pitch`; the outermost ones show their inner half.
    let half_width = |k: usize| {
        if is_avenue(k, blocks) {
            AVENUE_WIDTH / 2.0
        } else {
            STREET_WIDTH / 2.0
        }
    };
    let street = |k: usize| {
        let middle = k as f64 * pitch;
        let half = half_width(k);
        ((middle - half).max(0.0), (middle + half).min(size))
    };
    let gap = |k: usize| (street(k).1, street(k + 1).0);

    for j in 0..=blocks {
        for i in 0..=blocks {
            let ((x0, x1), (z0, z1)) = (street(i), street(j));
            shapes.floor(Rect::new(x0, z0, x1, z1), 0.0);
            if i < blocks {
                let (x0, x1) = gap(i);
                shapes.floor(Rect::new(x0, z0, x1, z1), 0.0);
                park_cars(&mut shapes, &mut rng, Rect::new(x0, z0, x1, z1));
            }
            if j < blocks {
                let (z0, z1) = gap(j);
                shapes.floor(Rect::new(x0, z0, x1, z1), 0.0);
            }
            if i < blocks && j < blocks {
                let ((x0, x1), (z0, z1)) = (gap(i), gap(j));
                block(&mut shapes, &mut rng, Rect::new(x0, z0, x1, z1));
            }
        }
    }
    for k in 0..=blocks {
        if !is_avenue(k, blocks) {
            continue;
        }
        for j in (1..blocks).step_by(2) {
            footbridge(&mut shapes, k as f64 * pitch, j as f64 * pitch);
        }
    }
    shapes.finish()
}

/// Every fourth street inside the level is an avenue.
fn is_avenue(k: usize, blocks: usize) -> bool {
    k % 4 == 2 && k < blocks
}

/// Cars along the south kerb of a street segment that runs along x.
fn park_cars(shapes: &mut Shapes, rng: &mut SplitMix64, road: Rect) {
    let mut x = road.x0 + 1.0;
    while x + 4.2 < road.x1 {
        if rng.next_below(5) == 0 && road.z1 - road.z0 > 8.0 {
            shapes.block(
                Rect::new(x, road.z0 + 0.2, x + 4.2, road.z0 + 2.0),
                0.0,
                1.5,
            );
        }
        x += 5.5;
    }
}

/// One block: a raised pavement with something on it.
fn block(shapes: &mut Shapes, rng: &mut SplitMix64, rect: Rect) {
    let kerb = 0.2 + 0.05 * f64::from(rng.next_below(5));
    shapes.sides(rect, [0.0; 4], [kerb; 4]);
    let lot = rect.shrink(PAVEMENT_WIDTH);
    let holes = match rng.next_below(16) {
        0 | 1 => {
            plaza(shapes, rng, lot, kerb);
            Vec::new()
        }
        2 | 3 => {
            park(shapes, rng, lot, kerb);
            Vec::new()
        }
        4..=7 => vec![lot],
        8..=11 => {
            let alley = 5.0 + 0.5 * rng.next_f64();
            let middle = lot.x0 + (lot.x1 - lot.x0) * rng.range(0.4, 0.6);
            vec![
                Rect::new(lot.x0, lot.z0, middle - alley / 2.0, lot.z1),
                Rect::new(middle + alley / 2.0, lot.z0, lot.x1, lot.z1),
            ]
        }
        _ => {
            let half = 2.5 + 0.25 * rng.next_f64();
            let (x, z) = lot.center();
            vec![
                Rect::new(lot.x0, lot.z0, x - half, z - half),
                Rect::new(x + half, lot.z0, lot.x1, z - half),
                Rect::new(lot.x0, z + half, x - half, lot.z1),
                Rect::new(x + half, z + half, lot.x1, lot.z1),
            ]
        }
    };
    shapes.floor_around(rect, kerb, &holes);
    for building in holes {
        tower(shapes, rng, building, kerb);
        planters(shapes, rng, building, lot, kerb);
    }
}

/// A building: a box, often with a smaller one on its roof, always with a parapet.
fn tower(shapes: &mut Shapes, rng: &mut SplitMix64, rect: Rect, ground: f64) {
    let height = rng.range(6.0, 30.0);
    shapes.block(rect, ground, height);
    let side = (rect.x1 - rect.x0).min(rect.z1 - rect.z0);
    if side > 6.0 && rng.next_below(2) == 0 {
        let setback = rect.shrink(side * 0.2);
        shapes.block(setback, height, height + rng.range(4.0, 20.0));
    }
    let thickness = 0.3;
    let Rect { x0, z0, x1, z1 } = rect;
    for wall in [
        Rect::new(x0, z0, x1, z0 + thickness),
        Rect::new(x0, z1 - thickness, x1, z1),
        Rect::new(x0, z0 + thickness, x0 + thickness, z1 - thickness),
        Rect::new(x1 - thickness, z0 + thickness, x1, z1 - thickness),
    ] {
        shapes.block(wall, height, height + 1.1);
    }
}

/// An open square: a platform of two low steps in the middle and pillars round it.
fn plaza(shapes: &mut Shapes, rng: &mut SplitMix64, lot: Rect, ground: f64) {
    let (x, z) = lot.center();
    let step = 0.25 + 0.05 * f64::from(rng.next_below(3));
    shapes.block(Rect::around(x, z, 7.0), ground, ground + step);
    shapes.block(Rect::around(x, z, 5.0), ground + step, ground + 2.0 * step);
    shapes.block(Rect::around(x, z, 0.8), ground + 2.0 * step, ground + 5.0);
    for (px, pz) in [
        (lot.x0 + 1.0, lot.z0 + 1.0),
        (lot.x1 - 1.0, lot.z0 + 1.0),
        (lot.x0 + 1.0, lot.z1 - 1.0),
        (lot.x1 - 1.0, lot.z1 - 1.0),
    ] {
        shapes.block(Rect::around(px, pz, 0.8), ground, ground + 4.0);
    }
}

/// A lawn with trees and stones, far enough apart to walk between in pairs.
fn park(shapes: &mut Shapes, rng: &mut SplitMix64, lot: Rect, ground: f64) {
    let cells = 2;
    let (dx, dz) = (
        (lot.x1 - lot.x0) / f64::from(cells),
        (lot.z1 - lot.z0) / f64::from(cells),
    );
    for j in 0..cells {
        for i in 0..cells {
            let x = lot.x0 + (f64::from(i) + rng.range(0.4, 0.6)) * dx;
            let z = lot.z0 + (f64::from(j) + rng.range(0.4, 0.6)) * dz;
            let height = if rng.next_below(3) == 0 { 1.2 } else { 5.0 };
            shapes.block(Rect::around(x, z, 0.6), ground, ground + height);
        }
    }
}

/// Planters that lean on the facades facing the street, one to a side.
fn planters(shapes: &mut Shapes, rng: &mut SplitMix64, building: Rect, lot: Rect, ground: f64) {
    let (x, z) = building.center();
    let depth = PLANTER_DEPTH;
    let mut lean = |faces_street: bool, [x0, z0, x1, z1]: [f64; 4]| {
        let stands = rng.next_below(3) != 0;
        let half = rng.range(0.5, 1.2);
        let height = rng.range(1.2, 3.0);
        if faces_street && stands {
            // Widened along the facade, flat against it.
            let wide_x = if x0 == x1 { half } else { 0.0 };
            let wide_z = if z0 == z1 { half } else { 0.0 };
            let rect = Rect::new(x0 - wide_x, z0 - wide_z, x1 + wide_x, z1 + wide_z);
            shapes.block(rect, ground, ground + height);
        }
    };
    lean(
        building.z0 == lot.z0,
        [x, building.z0 - depth, x, building.z0],
    );
    lean(
        building.z1 == lot.z1,
        [x, building.z1, x, building.z1 + depth],
    );
    lean(
        building.x0 == lot.x0,
        [building.x0 - depth, z, building.x0, z],
    );
    lean(
        building.x1 == lot.x1,
        [building.x1, z, building.x1 + depth, z],
    );
}

/// A bridge along an avenue (x constant) over the crossing at `(x, z)`, with a ramp at each end.
/// The ramps are solid: nobody walks into a dead end under them.
fn footbridge(shapes: &mut Shapes, x: f64, z: f64) {
    let (x0, x1) = (x - DECK_WIDTH / 2.0, x + DECK_WIDTH / 2.0);
    let half = 8.0;
    let y = DECK_HEIGHT;
    let deck = Rect::new(x0, z - half, x1, z + half);
    shapes.slab(deck, [y; 4], DECK_THICKNESS);
    let south = Rect::new(x0, z - half - RAMP_LENGTH, x1, z - half);
    shapes.wedge(south, 0.0, [0.0, y, y, 0.0]);
    let north = Rect::new(x0, z + half, x1, z + half + RAMP_LENGTH);
    shapes.wedge(north, 0.0, [y, 0.0, 0.0, y]);
    // The street goes on inside a ramp; a filling keeps that from being ground to stand on.
    let from = half + RAMP_LENGTH * (1.0 - 2.1 / y);
    shapes.block(Rect::new(x0, z - from, x1, z - half), 0.0, 2.0);
    shapes.block(Rect::new(x0, z + half, x1, z + from), 0.0, 2.0);
}

//! Levels about slopes and steps: terraces, platforms joined by ramps or stairs, and a rolling
//! field of needle-thin triangles.

use super::clamp_size;
use super::shapes::{Rect, Shapes};
use crate::input::soup::Soup;
use throng_soa::rng::SplitMix64;
use throng_soa::world::DVec3;

/// Broad steps too high to climb, each with a few ramps to the next.
#[must_use]
pub fn terraces(size: f64, seed: u64) -> Soup {
    const RISE: f64 = 1.6;
    const RAMP_LENGTH: f64 = 5.0;
    const RAMP_WIDTH: f64 = 6.0;
    let size = clamp_size(size);
    let mut rng = SplitMix64::new(seed);
    let mut shapes = Shapes::default();
    let steps = (size / 16.0) as usize;
    let depth = size / steps as f64;
    let ramps = (size / 48.0).max(1.0) as usize;
    for step in 0..steps {
        let (z0, z1) = (step as f64 * depth, (step + 1) as f64 * depth);
        let y = step as f64 * RISE;
        if step > 0 {
            let riser = Rect::new(0.0, z0, size, z1);
            shapes.quad([
                DVec3::new(riser.x0, y - RISE, z0),
                DVec3::new(riser.x0, y, z0),
                DVec3::new(riser.x1, y, z0),
                DVec3::new(riser.x1, y - RISE, z0),
            ]);
        }
        shapes.floor(Rect::new(0.0, z0, size, z1), y);
        if step + 1 == steps {
            break;
        }
        let share = size / ramps as f64;
        for ramp in 0..ramps {
            let x = ramp as f64 * share + rng.range(1.0, share - RAMP_WIDTH - 1.0);
            let rect = Rect::new(x, z1 - RAMP_LENGTH, x + RAMP_WIDTH, z1);
            shapes.wedge(rect, y, [y, y + RISE, y + RISE, y]);
        }
        // Boulders between the ramps.
        for _ in 0..ramps * 2 {
            let x = rng.range(2.0, size - 2.0);
            let z = rng.range(z0 + 2.0, z1 - RAMP_LENGTH - 2.0);
            shapes.block(Rect::around(x, z, rng.range(0.6, 1.6)), y, y + 1.4);
        }
    }
    shapes.finish()
}

/// Platforms at random heights, joined by ramps up to 20 degrees, with wedges too steep to walk.
#[must_use]
pub fn ramps(size: f64, seed: u64) -> Soup {
    platforms(size, seed, |shapes, _, rect, along_x, low, high| {
        let top = if along_x {
            [low, low, high, high]
        } else {
            [low, high, high, low]
        };
        shapes.wedge(rect, FOOT, top);
    })
}

/// Platforms at random heights, joined by stairs with risers of 0.25 to 0.4 units.
#[must_use]
pub fn stairs(size: f64, seed: u64) -> Soup {
    platforms(size, seed, |shapes, rng, rect, along_x, low, high| {
        let rise = (high - low).abs();
        let target = rng.range(0.25, 0.4);
        // As many steps as keep the riser at or below the target, and never above 0.4.
        let count = (rise / target).ceil().max(1.0) as usize;
        for i in 0..count {
            let (start, end) = (i as f64 / count as f64, (i + 1) as f64 / count as f64);
            // The first step stands above the lower end, the last one below the upper end.
            let t = if high >= low { start } else { end };
            let y = low + (high - low) * t;
            let tread = if along_x {
                let length = rect.x1 - rect.x0;
                Rect::new(
                    rect.x0 + length * start,
                    rect.z0,
                    rect.x0 + length * end,
                    rect.z1,
                )
            } else {
                let length = rect.z1 - rect.z0;
                Rect::new(
                    rect.x0,
                    rect.z0 + length * start,
                    rect.x1,
                    rect.z0 + length * end,
                )
            };
            shapes.block(tread, FOOT, y);
        }
    })
}

/// Bottom of the platforms and ramps.
const FOOT: f64 = -1.0;

/// A grid of square platforms with `join(shapes, rng, rect, along_x, low, high)` between
/// neighbours: `low` is the height at the end of `rect` with the smaller coordinate.
fn platforms(
    size: f64,
    seed: u64,
    mut join: impl FnMut(&mut Shapes, &mut SplitMix64, Rect, bool, f64, f64),
) -> Soup {
    const SIDE: f64 = 8.0;
    const WIDTH: f64 = 4.0;
    let size = clamp_size(size);
    let mut rng = SplitMix64::new(seed);
    let mut shapes = Shapes::default();
    let count = (size / 16.0) as usize;
    let pitch = size / count as f64;
    let heights: Vec<f64> = (0..count * count)
        .map(|_| 0.5 * f64::from(rng.next_below(6)))
        .collect();
    let margin = (pitch - SIDE) / 2.0;
    for j in 0..count {
        for i in 0..count {
            let y = heights[i + j * count];
            let (x, z) = (i as f64 * pitch + margin, j as f64 * pitch + margin);
            let platform = Rect::new(x, z, x + SIDE, z + SIDE);
            shapes.block(platform, FOOT, y);
            if rng.next_below(3) == 0 {
                // A wedge of 60 degrees and more in the middle of the platform.
                let rect = Rect::new(x + 3.0, z + 3.0, x + 4.0, z + 5.0);
                shapes.wedge(rect, y, [y, y, y + 2.0, y + 2.0]);
            }
            let offset = (SIDE - WIDTH) * rng.next_f64();
            if i + 1 < count {
                let rect = Rect::new(x + SIDE, z + offset, x + pitch, z + offset + WIDTH);
                join(
                    &mut shapes,
                    &mut rng,
                    rect,
                    true,
                    y,
                    heights[i + 1 + j * count],
                );
            }
            if j + 1 < count {
                let rect = Rect::new(x + offset, z + SIDE, x + offset + WIDTH, z + pitch);
                join(
                    &mut shapes,
                    &mut rng,
                    rect,
                    false,
                    y,
                    heights[i + (j + 1) * count],
                );
            }
        }
    }
    shapes.finish()
}

/// A rolling field of triangles hundreds of times longer than wide, no two of which share a vertex,
/// with a few that have no area at all.
#[must_use]
pub fn slivers(size: f64, seed: u64) -> Soup {
    let size = clamp_size(size);
    let mut rng = SplitMix64::new(seed);
    let mut shapes = Shapes::default();
    // Straight along x, so long pieces cut at different places still meet; up and down along z,
    // never steeper than 1 in 4.
    let period = rng.range(30.0, 50.0);
    let height = |x: f64, z: f64| {
        let phase = z / period - (z / period).floor();
        let rise = if phase < 0.5 { phase } else { 1.0 - phase };
        x * 0.05 + rise * period * 0.2
    };
    let at = |x: f64, z: f64| DVec3::new(x, height(x, z), z);
    let mut z = 0.0;
    while z < size {
        let next = (z + rng.range(0.2, 0.8)).min(size);
        // Each strip is cut into a few long pieces at its own places.
        let mut x = 0.0;
        while x < size {
            let end = (x + rng.range(0.3, 0.6) * size).min(size);
            let end = if size - end < 1.0 { size } else { end };
            let corners = [at(x, z), at(x, next), at(end, next), at(end, z)];
            shapes.triangle([corners[0], corners[1], corners[2]]);
            shapes.triangle([corners[0], corners[2], corners[3]]);
            if rng.next_below(16) == 0 {
                shapes.triangle([corners[0], corners[2], corners[2]]);
            }
            x = end;
        }
        z = next;
    }
    shapes.finish()
}

//! Levels about floors and walls: footbridges over open ground, decks that only links lead to, and
//! a maze of rooms.

use super::clamp_size;
use super::shapes::{Rect, Shapes};
use crate::input::soup::Soup;
use crate::settings::OffMeshLinkDefinition;
use throng_soa::rng::SplitMix64;
use throng_soa::world::DVec3;

/// Two overlapping floors: open ground and, 4 units above it, a grid of connected bridge decks.
///
/// Ramps lead up at both ends of every deck. Under a deck there are 3.6 units of air, so people
/// walk below and above at once.
#[must_use]
pub fn bridges(size: f64, seed: u64) -> Soup {
    const DECK_HEIGHT: f64 = 4.0;
    const THICKNESS: f64 = 0.4;
    const WIDTH: f64 = 6.0;
    const RAMP: f64 = 14.0;
    let size = clamp_size(size);
    let mut rng = SplitMix64::new(seed);
    let mut shapes = Shapes::default();
    let lines = (size / 40.0).max(1.0) as usize;
    let pitch = size / lines as f64;
    let middles: Vec<f64> = (0..lines)
        .map(|k| (k as f64 + 0.5) * pitch + rng.range(-4.0, 4.0))
        .collect();

    // Ground in squares, so no triangle spans the level.
    for j in 0..lines {
        for i in 0..lines {
            let (x, z) = (i as f64 * pitch, j as f64 * pitch);
            shapes.floor(Rect::new(x, z, x + pitch, z + pitch), 0.0);
        }
    }
    let (start, end) = (RAMP + 2.0, size - RAMP - 2.0);
    let half = WIDTH / 2.0;
    let y = DECK_HEIGHT;
    for &x in &middles {
        // Decks along z run through; those along x fill in between.
        let (x0, x1) = (x - half, x + half);
        shapes.slab(Rect::new(x0, start, x1, end), [y; 4], THICKNESS);
        shapes.slab(
            Rect::new(x0, start - RAMP, x1, start),
            [0.0, y, y, 0.0],
            THICKNESS,
        );
        shapes.slab(
            Rect::new(x0, end, x1, end + RAMP),
            [y, 0.0, 0.0, y],
            THICKNESS,
        );
    }
    for &z in &middles {
        let (z0, z1) = (z - half, z + half);
        let mut x = start;
        for &crossing in &middles {
            if crossing - half > x {
                shapes.slab(Rect::new(x, z0, crossing - half, z1), [y; 4], THICKNESS);
            }
            x = crossing + half;
        }
        if end > x {
            shapes.slab(Rect::new(x, z0, end, z1), [y; 4], THICKNESS);
        }
        shapes.slab(
            Rect::new(start - RAMP, z0, start, z1),
            [0.0, 0.0, y, y],
            THICKNESS,
        );
        shapes.slab(
            Rect::new(end, z0, end + RAMP, z1),
            [y, y, 0.0, 0.0],
            THICKNESS,
        );
        for &x in &middles {
            for (px, pz) in [(x - 2.0, z - 2.0), (x + 2.0, z + 2.0)] {
                shapes.sides(Rect::around(px, pz, 0.8), [0.0; 4], [y - THICKNESS; 4]);
            }
        }
    }
    shapes.finish()
}

/// Two floors that only off-mesh links join: open ground and, 4 units above it, a deck of some 14 to
/// 18 units a side in the middle of every block of 32 or more.
///
/// Three links lead to a deck: one both ways on its west, one up on its south and one down on its
/// east; their user ids count from 0. Boxes stand about on the ground and one on each deck, away from
/// where links begin and end. Under a deck there are 3.6 units of air, so people walk below and
/// above at once. Give the links to the settings:
///
/// ```
/// # use throng_build::{NavSettings, build_soup, input::levels};
/// let (soup, off_mesh_links) = levels::two_floors(64.0, 1);
/// let settings = NavSettings { off_mesh_links, ..NavSettings::HUMANOID };
/// let mesh = build_soup(soup.vertices(), soup.triangles(), &settings, 1)?;
/// assert!(mesh.has_off_mesh_links());
/// # Ok::<(), throng_build::BuildError>(())
/// ```
#[must_use]
pub fn two_floors(size: f64, seed: u64) -> (Soup, Vec<OffMeshLinkDefinition>) {
    const DECK_HEIGHT: f64 = 4.0;
    const THICKNESS: f64 = 0.4;
    // From the rim of a deck to where a link begins or ends.
    const LANDING: f64 = 3.0;
    let size = clamp_size(size);
    let mut rng = SplitMix64::new(seed);
    let mut shapes = Shapes::default();
    let mut links = Vec::new();
    let blocks = (size / 32.0) as usize;
    let pitch = size / blocks as f64;
    let y = DECK_HEIGHT;
    for j in 0..blocks {
        for i in 0..blocks {
            let (x, z) = (i as f64 * pitch, j as f64 * pitch);
            let block = Rect::new(x, z, x + pitch, z + pitch);
            shapes.floor(block, 0.0);
            let deck = block.shrink(rng.range(7.0, 9.0));
            shapes.slab(deck, [y; 4], THICKNESS);
            // A pillar under each corner.
            let inner = deck.shrink(0.6);
            for (px, pz) in [
                (inner.x0, inner.z0),
                (inner.x0, inner.z1),
                (inner.x1, inner.z1),
                (inner.x1, inner.z0),
            ] {
                shapes.sides(Rect::around(px, pz, 0.8), [0.0; 4], [y - THICKNESS; 4]);
            }
            let (middle_x, middle_z) = deck.center();
            let mut link = |start: (f64, f64, f64), end: (f64, f64, f64), bidirectional| {
                links.push(OffMeshLinkDefinition {
                    start: DVec3::new(start.0, start.1, start.2),
                    end: DVec3::new(end.0, end.1, end.2),
                    radius: 1.0,
                    bidirectional,
                    area: 0,
                    flags: 1,
                    user_id: links.len() as u32,
                });
            };
            let along = middle_z + rng.range(-2.0, 2.0);
            let (outside, inside) = (deck.x0 - LANDING, deck.x0 + LANDING);
            link((outside, 0.0, along), (inside, y, along), true);
            let along = middle_x + rng.range(-2.0, 2.0);
            let (outside, inside) = (deck.z0 - LANDING, deck.z0 + LANDING);
            link((along, 0.0, outside), (along, y, inside), false);
            let along = middle_z + rng.range(-2.0, 2.0);
            let (outside, inside) = (deck.x1 + LANDING, deck.x1 - LANDING);
            link((inside, y, along), (outside, 0.0, along), false);
            // Boxes: on the ground beside the fourth rim and below the deck, and on the deck at that
            // rim.
            let beside = (deck.z1 + block.z1) / 2.0 + rng.range(-1.0, 1.0);
            let at = rng.range(deck.x0, deck.x1);
            shapes.block(Rect::around(at, beside, 2.0), 0.0, 2.0);
            let at = middle_x + rng.range(-3.0, 3.0);
            shapes.block(
                Rect::around(at, middle_z + rng.range(-3.0, 3.0), 1.6),
                0.0,
                2.0,
            );
            let at = middle_x + rng.range(-2.0, 2.0);
            shapes.block(Rect::around(at, deck.z1 - 2.5, 1.6), y, y + 2.0);
        }
    }
    (shapes.finish(), links)
}

/// Rooms on one floor, joined by doors at least 2.4 units wide; every room can be reached.
#[must_use]
pub fn rooms(size: f64, seed: u64) -> Soup {
    const THICKNESS: f64 = 0.5;
    const HEIGHT: f64 = 3.0;
    let size = clamp_size(size);
    let mut rng = SplitMix64::new(seed);
    let mut shapes = Shapes::default();
    let count = (size / 16.0) as usize;
    let pitch = size / count as f64;
    for j in 0..count {
        for i in 0..count {
            let (x, z) = (i as f64 * pitch, j as f64 * pitch);
            shapes.floor(Rect::new(x, z, x + pitch, z + pitch), 0.0);
            // A pillar now and then.
            if rng.next_below(4) == 0 {
                let middle = (x + pitch * 0.5, z + pitch * 0.5);
                shapes.block(Rect::around(middle.0, middle.1, 1.0), 0.0, HEIGHT);
            }
            // The wall to the west and the wall to the south. A maze that always opens one of the
            // two (both where the other is the outer wall) reaches every room; more doors make it
            // a building.
            let west_only = j == 0 || (i > 0 && rng.next_below(2) == 0);
            let more = rng.next_below(2) == 0;
            let west_door = i > 0 && (west_only || more);
            let south_door = j > 0 && (!west_only || i == 0 || more);
            let door = |rng: &mut SplitMix64, open: bool| {
                let width = rng.range(2.4, 4.0);
                let start = rng.range(1.5, pitch - 1.5 - width);
                open.then_some((start, start + width))
            };
            let half = THICKNESS / 2.0;
            for part in wall_parts(pitch, door(&mut rng, west_door)) {
                let x0 = (x - half).max(0.0);
                let rect = Rect::new(x0, z + part.0, x + half, z + part.1);
                shapes.block(rect, 0.0, HEIGHT);
            }
            for part in wall_parts(pitch, door(&mut rng, south_door)) {
                let z0 = (z - half).max(0.0);
                let rect = Rect::new(x + part.0, z0, x + part.1, z + half);
                shapes.block(rect, 0.0, HEIGHT);
            }
        }
    }
    shapes.block(
        Rect::new(size - THICKNESS / 2.0, 0.0, size, size),
        0.0,
        HEIGHT,
    );
    shapes.block(
        Rect::new(0.0, size - THICKNESS / 2.0, size, size),
        0.0,
        HEIGHT,
    );
    shapes.finish()
}

/// A wall of the given length as intervals, without its door.
fn wall_parts(length: f64, door: Option<(f64, f64)>) -> Vec<(f64, f64)> {
    match door {
        Some((start, end)) => vec![(0.0, start), (end, length)],
        None => vec![(0.0, length)],
    }
}

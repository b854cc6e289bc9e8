//! Generated levels: geometry from a name, a size and a seed.
//!
//! In: three numbers. Out: a triangle [`Soup`], Y up, in the square from `(0, 0)` to
//! `(size, size)`, and for the level that needs them off-mesh links. The same arguments give the same
//! bits everywhere: positions come from SplitMix64 and `+ - * /` alone. Used by examples, tests and
//! benchmarks, and as a first level to play with.

mod city;
mod floors;
mod shapes;
mod terrain;

pub use city::city;
pub use floors::{bridges, rooms, two_floors};
pub use terrain::{ramps, slivers, stairs, terraces};

use super::soup::Soup;
use crate::settings::OffMeshLinkDefinition;

/// The names [`generate`] knows.
pub const NAMES: &[&str] = &[
    "city",
    "terraces",
    "ramps",
    "stairs",
    "bridges",
    "two_floors",
    "rooms",
    "slivers",
];

/// Side of a level when nobody asks for another, in units.
pub const DEFAULT_SIZE: f64 = 256.0;

/// Smallest side of a level, in units.
pub const MIN_SIZE: f64 = 64.0;

/// Largest side of a level, in units.
pub const MAX_SIZE: f64 = 4096.0;

/// The level called `name` on a square of `size` units, or `None` for a name not in [`NAMES`].
///
/// `size` is clamped to [`MIN_SIZE`]..[`MAX_SIZE`] (NaN counts as [`DEFAULT_SIZE`]). Cost and
/// memory are proportional to the square of `size`: a city of 256 has some 8 thousand triangles.
/// The links that belong to a level are told by [`off_mesh_links`].
#[must_use]
pub fn generate(name: &str, size: f64, seed: u64) -> Option<Soup> {
    match name {
        "city" => Some(city(size, seed)),
        "terraces" => Some(terraces(size, seed)),
        "ramps" => Some(ramps(size, seed)),
        "stairs" => Some(stairs(size, seed)),
        "bridges" => Some(bridges(size, seed)),
        "two_floors" => Some(two_floors(size, seed).0),
        "rooms" => Some(rooms(size, seed)),
        "slivers" => Some(slivers(size, seed)),
        _ => None,
    }
}

/// [`generate`] with the off-mesh links that belong to the level, in one go.
#[must_use]
pub fn generate_with_links(
    name: &str,
    size: f64,
    seed: u64,
) -> Option<(Soup, Vec<OffMeshLinkDefinition>)> {
    if name == "two_floors" {
        return Some(two_floors(size, seed));
    }
    generate(name, size, seed).map(|soup| (soup, Vec::new()))
}

/// The off-mesh links of the level called `name`, for
/// [`NavSettings::off_mesh_links`](crate::NavSettings::off_mesh_links).
///
/// Empty for a level without links (all but `two_floors`) and for a name not in [`NAMES`]. Generates
/// the level once more and keeps its links: [`generate_with_links`] gives both.
#[must_use]
pub fn off_mesh_links(name: &str, size: f64, seed: u64) -> Vec<OffMeshLinkDefinition> {
    match name {
        "two_floors" => two_floors(size, seed).1,
        _ => Vec::new(),
    }
}

/// A usable side length.
fn clamp_size(size: f64) -> f64 {
    if size.is_nan() {
        DEFAULT_SIZE
    } else {
        size.clamp(MIN_SIZE, MAX_SIZE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_generates_and_no_other_does() {
        for name in NAMES {
            let soup = generate(name, 64.0, 1).unwrap();
            assert!(soup.triangles().len() > 50, "{name}");
            assert_eq!(Some(&soup), generate(name, 64.0, 1).as_ref(), "{name}");
            let (low, high) = soup.bounds().unwrap();
            assert!(low.x >= 0.0 && low.z >= 0.0, "{name} starts at {low}");
            assert!(high.x <= 64.0 && high.z <= 64.0, "{name} ends at {high}");
        }
        assert!(generate("atlantis", 64.0, 1).is_none());
    }

    #[test]
    fn three_links_lead_to_every_deck_and_no_other_level_has_any() {
        for name in NAMES {
            let links = off_mesh_links(name, 100.0, 3);
            // Three blocks a side.
            let expected = if *name == "two_floors" { 27 } else { 0 };
            assert_eq!(links.len(), expected, "{name}");
            assert_eq!(links, off_mesh_links(name, 100.0, 3), "{name}");
            for (id, link) in links.iter().enumerate() {
                assert_eq!(link.user_id as usize, id);
                assert_eq!((link.start.y - link.end.y).abs(), 4.0);
            }
        }
        let other = off_mesh_links("two_floors", 100.0, 4);
        assert_ne!(other, off_mesh_links("two_floors", 100.0, 3));
        assert!(off_mesh_links("atlantis", 100.0, 3).is_empty());
    }

    #[test]
    fn seeds_matter_and_sizes_are_clamped() {
        for name in NAMES {
            assert_ne!(generate(name, 64.0, 1), generate(name, 64.0, 2), "{name}");
        }
        assert_eq!(rooms(1.0, 1), rooms(MIN_SIZE, 1));
        assert_eq!(rooms(f64::NAN, 1), rooms(DEFAULT_SIZE, 1));
        let triangles = city(256.0, 1).triangles().len();
        assert!((4_000..40_000).contains(&triangles), "{triangles}");
    }
}

//! Levels, settings and point pairs of the rows.

use std::path::PathBuf;
use throng::{NavMesh, NavSettings, Soup, read_obj};

/// Levels that are built and asked questions.
pub(crate) const LEVELS: [&str; 6] = [
    "nav_test",
    "dungeon",
    "undulating",
    "terraces-256",
    "city-256",
    "city-512",
];

/// Cells of a tile of tiled build rows.
pub(crate) const TILE_CELLS: i32 = 64;

/// The bar's settings: a person, detail included, wall edges up to 12 units.
pub(crate) fn settings() -> NavSettings {
    NavSettings {
        max_edge_length: 12.0,
        ..NavSettings::HUMANOID
    }
}

/// The same with tiles of [`TILE_CELLS`] cells.
pub(crate) fn tiled_settings() -> NavSettings {
    let settings = settings();
    let tile = f64::from(TILE_CELLS) * settings.cell_size;
    NavSettings {
        // Tile sizes are `f32` exactly.
        tile_size: f64::from(tile as f32),
        ..settings
    }
}

/// A level by name: `city-256` and the like are generated, others are OBJ files of the shared data.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn level(name: &str) -> Result<Soup, String> {
    if let Some((kind, size)) = name.split_once('-') {
        let size: f64 = size.parse().map_err(|_| format!("no level {name}"))?;
        return Ok(throng_benches::level(kind, size));
    }
    let folder = std::env::var_os("THRONG_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"),
        PathBuf::from,
    );
    let path = folder.join("levels").join(format!("{name}.obj"));
    let text = std::fs::read(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            let folder = folder.display();
            format!("level {name}.obj not found in {folder}/levels; set THRONG_DATA")
        }
        _ => format!("{}: {error}", path.display()),
    })?;
    read_obj(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Our mesh of a level for crowds and queries, on one thread.
///
/// # Errors
/// The level does not build.
pub(crate) fn mesh(soup: &Soup) -> Result<NavMesh, String> {
    NavMesh::build_soup(soup, &settings()).map_err(|error| error.to_string())
}

/// Cells of the peer's tiles for such a mesh: about as wide as ours.
#[cfg(feature = "peers")]
pub(crate) fn peer_tile_cells() -> i32 {
    let settings = settings();
    (settings.tile_size / settings.cell_size) as i32
}

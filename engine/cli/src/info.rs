//! `throng info`: what is in a file, or in a generated level.
//!
//! Names of generated levels come first. Of a file the first bytes say what it is, or the name of a
//! glTF file; anything else is taken for OBJ.

mod meshes;
mod saved;

use std::path::Path;

use serde_json::{Value, json};
use throng::{DVec3, DataError, Soup, levels};

use crate::args::InfoArgs;
use crate::cells::{Cells, Kind, Matter};
use crate::forms::{self, BAKED, BARE, CACHE, CROWD, RECORDING, SNAPSHOT, TILE, WORLD};
use crate::greymap::Greymap;
use crate::host::{self, Failure};
use crate::input::{self, Input};
use crate::level;
use crate::record;
use crate::report::{STATE_WORDS, STATES, Table, some_of};
use crate::words::{count, counted, rounded, trimmed};

/// Text and JSON about one file.
type Description = (Table, Value);

/// Prints what is known about a file or a generated level.
pub(crate) fn run(args: &InfoArgs) -> Result<(), Failure> {
    let path = args.file.as_path();
    let name = path.display().to_string();
    let size = args.size.unwrap_or(levels::DEFAULT_SIZE);
    if let Some((soup, links)) = levels::generate_with_links(&name, size, args.seed) {
        let (table, object) = describe_generated(&name, size, args.seed, &soup, links.len());
        return host::say(&if args.json {
            object.to_string()
        } else {
            table.to_string()
        });
    }
    if !path.exists() {
        return Err(Failure::about(&name, level::nothing_called(&name)));
    }
    if args.size.is_some() {
        return Err(level::size_of_a_file());
    }
    let bytes = host::read(path)?;
    let described = describe(path, &bytes).map_err(|error| match error {
        Failure::Said(problem) => Failure::about(&name, problem),
        other => other,
    })?;
    let (table, mut object) = described;
    let form = forms::versioned(&bytes);
    if !args.json {
        let mut whole = Table::default();
        whole.row("file", format!("{name}, {}", counted(bytes.len(), "byte")));
        if let Some((form, version)) = form {
            whole.row("form", format!("{form}, version {version}"));
        }
        whole.append(&table);
        return host::say(&whole.to_string());
    }
    if let Some((form, version)) = form {
        object["form"] = json!(form);
        object["version"] = json!(version);
    }
    object["file"] = json!(name);
    object["bytes"] = json!(bytes.len());
    host::say(&object.to_string())
}

fn describe_generated(name: &str, size: f64, seed: u64, soup: &Soup, links: usize) -> Description {
    let mut whole = Table::default();
    whole.row(
        "level",
        format!("{name}, {size} x {size} units, seed {seed}"),
    );
    let (mut table, mut object) = describe_soup(soup, "generated level", "generated");
    table.row("links", format!("{} off-mesh", count(links)));
    whole.append(&table);
    object["level"] = json!(name);
    object["size"] = json!(size);
    object["seed"] = json!(seed);
    object["off_mesh_links"] = json!(links);
    (whole, object)
}

fn describe(path: &Path, bytes: &[u8]) -> Result<Description, Failure> {
    match bytes.get(..4).unwrap_or_default() {
        BAKED => meshes::baked(bytes).map_err(Failure::from),
        BARE => meshes::bare(bytes).map_err(Failure::from),
        WORLD => meshes::world(bytes).map_err(Failure::from),
        SNAPSHOT => saved::snapshot(bytes),
        CACHE => saved::cache(bytes),
        TILE => saved::tile(bytes),
        CROWD => saved::crowd(bytes),
        RECORDING => describe_recording(bytes).map_err(Failure::from),
        _ => describe_level(path, bytes),
    }
}

fn describe_recording(bytes: &[u8]) -> Result<Description, DataError> {
    let (header, states) = record::read(bytes)?;
    let mut table = Table::default();
    table.row("kind", "recording");
    table.row("agents", count(header.slots as usize));
    let seconds = f64::from(header.frames.saturating_sub(1)) * header.dt;
    let frames = count(header.frames as usize);
    let length = format!("{frames}, one per {} s: {} s", header.dt, trimmed(seconds));
    table.row("frames", length);
    let words = STATE_WORDS.into_iter().chain(["removed"]);
    let states_at_end = states.map(|number| number as usize);
    table.row("at the end", some_of(words.zip(states_at_end)));
    let names = STATES.into_iter().chain(["removed"]);
    let states = names
        .zip(states)
        .map(|(name, n)| (name.to_owned(), json!(n)));
    let object = json!({
        "kind": "recording",
        "agents": header.slots,
        "frames": header.frames,
        "dt": header.dt,
        "radius": header.radius,
        "origin": header.origin.to_array(),
        "states": Value::Object(states.collect()),
    });
    Ok((table, object))
}

fn describe_level(path: &Path, bytes: &[u8]) -> Result<Description, Failure> {
    Ok(match input::read(path, bytes).map_err(Failure::Said)? {
        Input::Obj(soup) => describe_soup(&soup, "OBJ level", "obj"),
        Input::Gltf(soup) => describe_soup(&soup, "glTF level", "gltf"),
        Input::Grid(grid) => describe_grid(&grid),
        Input::Cells(cells) => describe_cells(&cells),
    })
}

/// A height grid; how far its points are apart is not in the file.
fn describe_grid(grid: &Greymap) -> Description {
    let levels = grid.levels.iter().min().zip(grid.levels.iter().max());
    let mut table = Table::default();
    table.row("kind", "height grid (PGM)");
    let points = [grid.width, grid.depth].map(|points| count(points as usize));
    table.row("points", points.join(" x "));
    if let Some((low, high)) = levels {
        table.row("levels", format!("{low} to {high}"));
    }
    let object = json!({
        "kind": "height_grid",
        "width": grid.width,
        "depth": grid.depth,
        "levels": levels.map(|(low, high)| [low, high]),
    });
    (table, object)
}

fn describe_cells(cells: &Cells) -> Description {
    let is_voxels = matches!(cells.matter, Matter::Voxels(..));
    let (kind, id, values) = if is_voxels {
        ("voxels", "voxels", "materials")
    } else {
        ("solid heightfield", "heightfield", "areas")
    };
    let ([width, rows, depth], origin) = (cells.size, cells.origin);
    let mut table = Table::default();
    table.row("kind", kind);
    table.row(
        "size",
        format!("{width} x {rows} x {depth} cells (x, y, z)"),
    );
    if let Some([width, height]) = cells.cell {
        table.row("cells", format!("{width} wide, {height} high"));
    }
    let corner = format!("({}, {}, {})", origin.x, origin.y, origin.z);
    table.row("corner", corner);
    table.row("spans", count(cells.spans));
    let mut label = values;
    for &Kind { value, area, spans } in &cells.kinds {
        let area = if is_voxels {
            format!("area {area}, ")
        } else {
            String::new()
        };
        let spans = counted(spans, "span");
        table.row(
            std::mem::take(&mut label),
            format!("{value}: {area}{spans}"),
        );
    }
    let mut object = json!({
        "kind": id,
        "size": cells.size,
        "cell": cells.cell,
        "origin": origin.to_array(),
        "spans": cells.spans,
    });
    let kinds = cells.kinds.iter().map(|kind| {
        if is_voxels {
            json!({ "material": kind.value, "area": kind.area, "spans": kind.spans })
        } else {
            json!({ "area": kind.area, "spans": kind.spans })
        }
    });
    object[values] = kinds.collect();
    (table, object)
}

/// Sizes and bounds of a level, of a kind named for people and for programs.
fn describe_soup(soup: &Soup, kind: &str, id: &str) -> Description {
    let mut table = Table::default();
    table.row("kind", kind);
    table.row("vertices", count(soup.vertices().len()));
    table.row("triangles", count(soup.triangles().len()));
    let bounds = soup.bounds();
    extents(&mut table, bounds);
    let object = json!({
        "kind": id,
        "vertices": soup.vertices().len(),
        "triangles": soup.triangles().len(),
        "bounds": corners(bounds),
    });
    (table, object)
}

/// A row per axis: from where to where something reaches.
fn extents(table: &mut Table, bounds: Option<(DVec3, DVec3)>) {
    let Some((low, high)) = bounds else { return };
    for (axis, low, high) in [
        ("x", low.x, high.x),
        ("y", low.y, high.y),
        ("z", low.z, high.z),
    ] {
        table.row(axis, format!("{} to {}", rounded(low), rounded(high)));
    }
}

/// The same in JSON: least and greatest corner.
fn corners(bounds: Option<(DVec3, DVec3)>) -> Value {
    json!(bounds.map(|(low, high)| [low.to_array(), high.to_array()]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng::SplitMix64;

    /// Bytes of every form with some changed, some cut off: described or refused, and no panic.
    #[test]
    fn spoiled_files_are_described_or_refused() {
        let frozen = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/0.1.0");
        let mut rng = SplitMix64::new(11);
        for name in [
            "baked.onnm",
            "mesh.onpm",
            "world.onnw",
            "snapshot.onps",
            "snapshot_referenced.onps",
            "cache.ontk",
            "cache_referenced.ontk",
            "tile.onpt",
            "crowd.opcs",
            "crowd_with_mesh.opcs",
            "crowd_with_mesh_referenced.opcs",
            "recording.thrr",
        ] {
            let good = host::read(&frozen.join(name)).unwrap();
            let mut refused = 0;
            for round in 0..1500 {
                let mut bytes = good.clone();
                // Headers say the most: half of the changes are among the first bytes.
                let reach = if round % 2 == 0 { 160 } else { good.len() };
                for _ in 0..1 + rng.next_below(3) {
                    let at = 6 + rng.next_below(reach.min(good.len()) as u32 - 6) as usize;
                    bytes[at] = match rng.next_below(3) {
                        0 => 0,
                        1 => 0xFF,
                        _ => rng.next_below(256) as u8,
                    };
                }
                if round % 5 == 0 {
                    bytes.truncate(4 + rng.next_below(bytes.len() as u32 - 4) as usize);
                    assert!(describe(Path::new(name), &bytes).is_err(), "{name} {round}");
                }
                refused += u32::from(describe(Path::new(name), &bytes).is_err());
            }
            assert!(refused > 310, "{name}: {refused}");
        }
    }
}

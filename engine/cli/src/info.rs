//! `throng info`: what is in a file.
//!
//! The first bytes say what it is; anything that is text, and not named .gltf, counts as an OBJ
//! level.

use std::path::Path;

use serde_json::{Value, json};
use throng::parts::soa::bytes::Reader;
use throng::parts::soa::mesh::format::read_mesh;
use throng::{DataError, DataErrorKind, NavMesh, NavSettings, Soup, TiledMesh, read_obj};

use crate::args::InfoArgs;
use crate::gltf;
use crate::host::{self, Failure};
use crate::level::{BAKED, BARE, CROWD};
use crate::record;
use crate::report::{STATE_WORDS, STATES, Table, mesh_sizes};
use crate::words::{count, counted, data_problem, rounded, trimmed};

/// Text and JSON about one file.
type Description = (Table, Value);

/// Prints what is known about a file.
pub(crate) fn run(args: &InfoArgs) -> Result<(), Failure> {
    let path = args.file.as_path();
    let bytes = host::read(path)?;
    let name = path.display().to_string();
    let described = describe(path, &bytes).map_err(|error| match error {
        Failure::Said(problem) => Failure::about(&name, problem),
        other => other,
    })?;
    let (table, mut object) = described;
    if !args.json {
        let mut whole = Table::default();
        whole.row("file", format!("{name}, {}", counted(bytes.len(), "byte")));
        return host::say(&format!("{whole}\n{table}"));
    }
    object["file"] = json!(name);
    object["bytes"] = json!(bytes.len());
    host::say(&object.to_string())
}

fn describe(path: &Path, bytes: &[u8]) -> Result<Description, Failure> {
    if bytes.starts_with(BAKED) {
        let mesh = NavMesh::load(bytes)?;
        return Ok(describe_mesh(mesh.tiles_mesh(), Some(mesh.settings())));
    }
    if bytes.starts_with(BARE) {
        return Ok(describe_mesh(&read_mesh(bytes)?, None));
    }
    if bytes.starts_with(CROWD) {
        return Ok(describe_crowd(bytes)?);
    }
    if bytes.starts_with(&record::MAGIC) {
        return Ok(describe_recording(bytes)?);
    }
    if gltf::is_gltf(path, bytes) {
        let soup = gltf::read(path, bytes).map_err(Failure::Said)?;
        return Ok(describe_soup(&soup, "glTF level", "gltf"));
    }
    describe_obj(bytes)
}

fn describe_mesh(mesh: &TiledMesh, settings: Option<&NavSettings>) -> Description {
    let (params, sizes) = (mesh.params(), mesh_sizes(mesh));
    let mut table = Table::default();
    let with = if settings.is_some() {
        ""
    } else {
        " without settings"
    };
    table.row("kind", format!("baked mesh{with}"));
    table.row("mesh", sizes.to_string());
    table.row("vertices", count(sizes.vertices));
    table.row("links", format!("{} off-mesh", count(sizes.links)));
    let agent = format!(
        "radius {}, height {}, climb {}, slope {} degrees",
        params.agent_radius,
        params.agent_height,
        params.walkable_climb,
        params.agent_max_slope_degrees
    );
    table.row("agent", agent);
    let origin = params.origin;
    let grid = format!(
        "tiles of {}, cells of {}, corner at ({}, {})",
        params.tile_size, params.cell_size, origin.x, origin.z
    );
    table.row("grid", grid);
    let mut object = json!({
        "kind": "mesh",
        "tiles": sizes.tiles,
        "polygons": sizes.polygons,
        "vertices": sizes.vertices,
        "off_mesh_links": sizes.links,
        "area": rounded(sizes.area),
        "params": {
            "agent_radius": params.agent_radius,
            "agent_height": params.agent_height,
            "walkable_climb": params.walkable_climb,
            "agent_max_slope_degrees": params.agent_max_slope_degrees,
            "cell_size": params.cell_size,
            "tile_size": params.tile_size,
            "origin_x": origin.x,
            "origin_z": origin.z,
            "max_verts_per_poly": params.max_verts_per_poly,
        },
    });
    if let Some(s) = settings {
        let partition = format!("{:?}", s.partition).to_lowercase();
        table.row(
            "settings",
            format!(
                "{partition}, regions of {} and {} cells, edges up to {}",
                s.min_region_area, s.merge_region_area, s.max_edge_length
            ),
        );
        table.row(
            "",
            format!(
                "cell height {}, contour error {}, detail every {} to {}",
                s.cell_height, s.contour_max_error, s.detail_sample_distance, s.detail_max_error
            ),
        );
        object["settings"] = json!({
            "cell_height": s.cell_height,
            "partition": partition,
            "min_region_area": s.min_region_area,
            "merge_region_area": s.merge_region_area,
            "contour_max_error": s.contour_max_error,
            "max_edge_length": s.max_edge_length,
            "detail_sample_distance": s.detail_sample_distance,
            "detail_max_error": s.detail_max_error,
        });
    }
    (table, object)
}

fn describe_crowd(bytes: &[u8]) -> Result<Description, DataError> {
    let mut reader = Reader::new("crowd state", bytes);
    reader.bytes("magic", CROWD.len())?;
    reader.version(1)?;
    let at = reader.offset();
    let kind = reader.u16("kind")?;
    let mut table = Table::default();
    let mut object = json!({ "kind": "crowd" });
    table.row("kind", "saved crowd");
    if kind == 2 {
        let length = reader.count("mesh length", 1, i32::MAX as usize)?;
        reader.bytes("mesh snapshot", length)?;
        table.row("mesh", format!("with it, {} bytes", count(length)));
        object["mesh_bytes"] = json!(length);
        reader.count("crowd length", 1, i32::MAX as usize)?;
        reader.bytes("crowd header", 8)?;
    } else if kind != 1 {
        let problem = format!("is {kind}; 1 is a crowd, 2 a crowd with its mesh");
        return Err(reader.error_at(at, "kind", DataErrorKind::Value, problem));
    }
    let walls = reader.i32("max walls per agent")?;
    let slots = reader.count("slot count", 1, usize::MAX)?;
    let agents = reader.count("agent count", 0, slots)?;
    reader.count("lowest free slot", 0, slots)?;
    let next_id = reader.u64("next id")?;
    let steps = reader.u64("step count")?;
    let held = format!("{} in {} slots", count(agents), count(slots));
    table.row("agents", format!("{held}; {next_id} were ever added"));
    table.row("steps", steps.to_string());
    table.row("walls", format!("{walls} kept per agent"));
    object["agents"] = json!(agents);
    object["slots"] = json!(slots);
    object["agents_ever"] = json!(next_id);
    object["steps"] = json!(steps);
    object["max_walls_per_agent"] = json!(walls);
    Ok((table, object))
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
    let ends = words.zip(states).filter(|(_, n)| *n > 0);
    let ends: Vec<_> = ends
        .map(|(word, n)| format!("{} {word}", count(n as usize)))
        .collect();
    table.row("at the end", ends.join(", "));
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

fn describe_obj(bytes: &[u8]) -> Result<Description, Failure> {
    let soup = read_obj(bytes).map_err(|error| Failure::Said(data_problem(&error)))?;
    if soup.vertices().is_empty() {
        return Err(Failure::Said(
            "not a level: no kind of file known here".into(),
        ));
    }
    Ok(describe_soup(&soup, "OBJ level", "obj"))
}

/// Sizes and bounds of a level, of a kind named for people and for programs.
fn describe_soup(soup: &Soup, kind: &str, id: &str) -> Description {
    let mut table = Table::default();
    table.row("kind", kind);
    table.row("vertices", count(soup.vertices().len()));
    table.row("triangles", count(soup.triangles().len()));
    let bounds = soup.bounds();
    if let Some((low, high)) = bounds {
        for (axis, low, high) in [
            ("x", low.x, high.x),
            ("y", low.y, high.y),
            ("z", low.z, high.z),
        ] {
            table.row(axis, format!("{low} to {high}"));
        }
    }
    let object = json!({
        "kind": id,
        "vertices": soup.vertices().len(),
        "triangles": soup.triangles().len(),
        "bounds": bounds.map(|(low, high)| [low.to_array(), high.to_array()]),
    });
    (table, object)
}

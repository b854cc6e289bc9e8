//! Saved states: snapshots of meshes and tile caches, single tiles, crowds. Their headers and counts
//! are read; whole states are checked by the call that restores them.

use serde_json::json;
use throng::parts::soa::bytes::Reader;
use throng::{DataError, DataErrorKind, MeshParams};

use super::Description;
use super::meshes::{params_object, rows_of_params};
use crate::forms::{CACHE, CROWD, SNAPSHOT, TILE};
use crate::report::Table;
use crate::words::{count, counted};

/// Version of tiles and of mesh snapshots.
const MESH_VERSION: u16 = 2;
/// Bytes of an obstacle's shape, by its kind less 1: cylinder, box, turned box.
const SHAPE_BYTES: [usize; 3] = [40, 48, 56];

/// The state of a mesh.
pub(super) fn snapshot(bytes: &[u8]) -> Result<Description, DataError> {
    let mut reader = Reader::new("mesh snapshot", bytes);
    reader.bytes("magic", SNAPSHOT.len())?;
    reader.version(MESH_VERSION)?;
    reader.zero_u16("flags")?;
    let params = MeshParams::read(&mut reader)?;
    reader.bytes("section", 8)?;
    let length = reader.count("section length", 1, usize::MAX)?;
    let mut body = reader.part("mesh snapshot", "section 1", length)?;
    let slots = body.count("slot count", 5, usize::MAX)?;
    reader.finish()?;
    let mut table = Table::default();
    table.row("kind", "mesh snapshot");
    table.row("slots", format!("{} for tiles", count(slots)));
    rows_of_params(&mut table, &params);
    read_by(&mut table, "NavMesh::restore and from_snapshot");
    let object = json!({
        "kind": "mesh_snapshot",
        "slots": slots,
        "params": params_object(&params),
    });
    Ok((table, object))
}

/// The state of a tile cache.
pub(super) fn cache(bytes: &[u8]) -> Result<Description, DataError> {
    let mut reader = Reader::new("tile cache snapshot", bytes);
    reader.bytes("magic", CACHE.len())?;
    reader.version(1)?;
    reader.zero_u16("flags")?;
    reader.bytes("next ids", 8)?;
    let obstacles = reader.count("obstacle count", 5, usize::MAX)?;
    for _ in 0..obstacles {
        reader.u32("obstacle id")?;
        let at = reader.offset();
        let shape = reader.u8("shape")?;
        let length = usize::from(shape).checked_sub(1);
        let Some(&length) = length.and_then(|shape| SHAPE_BYTES.get(shape)) else {
            let problem = format!("is {shape}; shapes are 1 to 3");
            return Err(reader.error_at(at, "shape", DataErrorKind::Value, problem));
        };
        reader.bytes("shape", length)?;
    }
    let volumes = reader.count("volume count", 25, usize::MAX)?;
    for _ in 0..volumes {
        reader.bytes("volume", 21)?;
        let corners = reader.count("corner count", 16, usize::MAX)?;
        reader.bytes("corners", corners * 16)?;
    }
    let queued = reader.count("queue length", 8, usize::MAX)?;
    reader.bytes("queue", queued * 8)?;
    let mesh = reader.count("mesh snapshot length", 1, usize::MAX)?;
    reader.bytes("mesh snapshot", mesh)?;
    reader.finish()?;
    let mut table = Table::default();
    table.row("kind", "tile cache snapshot");
    let shapes = format!(
        "{}, {}",
        counted(obstacles, "obstacle"),
        counted(volumes, "volume")
    );
    table.row("shapes", shapes);
    table.row("queue", counted(queued, "tile"));
    table.row("mesh", format!("with it, {}", counted(mesh, "byte")));
    read_by(&mut table, "TileCache::restore");
    let object = json!({
        "kind": "tile_cache_snapshot",
        "obstacles": obstacles,
        "volumes": volumes,
        "queued_tiles": queued,
        "mesh_bytes": mesh,
    });
    Ok((table, object))
}

/// One tile, which does not know the grid it lies on.
pub(super) fn tile(bytes: &[u8]) -> Result<Description, DataError> {
    let mut reader = Reader::new("tile", bytes);
    reader.bytes("magic", TILE.len())?;
    reader.version(MESH_VERSION)?;
    reader.zero_u16("flags")?;
    reader.bytes("fingerprint", 16)?;
    let [x, z, layer] = [
        reader.i32("column")?,
        reader.i32("row")?,
        reader.i32("layer")?,
    ];
    let origin = reader.point("origin")?;
    let vertices = reader.count("vertex count", 12, usize::MAX)?;
    let polygons = reader.count("polygon count", 16, usize::MAX)?;
    reader.bytes("counts", 12)?;
    let links = reader.count("off-mesh link count", 36, usize::MAX)?;
    let mut table = Table::default();
    table.row("kind", "tile of a mesh");
    table.row("place", format!("column {x}, row {z}, layer {layer}"));
    let corner = format!("({}, {}, {})", origin.x, origin.y, origin.z);
    table.row("corner", corner);
    table.row("polygons", count(polygons));
    table.row("vertices", count(vertices));
    table.row("links", format!("{} off-mesh", count(links)));
    read_by(&mut table, "parts::soa::mesh::format::read_tile");
    let object = json!({
        "kind": "tile",
        "x": x,
        "z": z,
        "layer": layer,
        "origin": origin.to_array(),
        "polygons": polygons,
        "vertices": vertices,
        "off_mesh_links": links,
    });
    Ok((table, object))
}

fn read_by(table: &mut Table, call: &str) {
    table.row("read by", call);
}

/// A crowd, alone or with its mesh.
pub(super) fn crowd(bytes: &[u8]) -> Result<Description, DataError> {
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

//! Saved states: snapshots of meshes and tile caches, single tiles, crowds.
//!
//! They are read as the calls that restore them read them, where all that those need is in the file. What
//! needs a mesh, a cache or tiles from elsewhere is checked as far as the file goes, its length included,
//! and the description says so.

use serde_json::{Value, json};
use throng::parts::build::cache::CacheSnapshot;
use throng::parts::soa::bytes::Reader;
use throng::parts::soa::mesh::snapshot::read_snapshot;
use throng::{
    Crowd, CrowdOptions, DataError, DataErrorKind, MAX_AGENTS, MAX_WALLS_PER_AGENT, MeshParams,
    NavMesh, NavSettings, TiledMesh,
};

use super::Description;
use super::meshes::{params_object, rows_of_params, rows_of_sizes, sizes_into};
use crate::forms::{CROWD, SNAPSHOT, TILE};
use crate::host::Failure;
use crate::report::{STATES, Table, mesh_sizes, state_words};
use crate::simulate::states;
use crate::words::{count, counted};

/// Version of tiles and of mesh snapshots.
const MESH_VERSION: u16 = 2;
/// Bytes of a content id.
const ID_BYTES: usize = 32;
/// What the library says is wrong when a snapshot names tiles it does not hold.
const NAMED_TILE: &str = "tile content id";

/// The state of a mesh.
pub(super) fn snapshot(bytes: &[u8]) -> Result<Description, Failure> {
    let saved = SavedMesh::read(bytes)?;
    let mut table = Table::default();
    table.row("kind", "mesh snapshot");
    let mut object = json!({ "kind": "mesh_snapshot" });
    saved.tell(&mut table, &mut object);
    read_by(&mut table, "NavMesh::restore and from_snapshot");
    Ok((table, object))
}

/// A mesh snapshot: all of it, or where its tiles are named only, what it says besides.
enum SavedMesh {
    Whole(Box<TiledMesh>),
    Named {
        params: MeshParams,
        slots: usize,
        named: usize,
    },
}

impl SavedMesh {
    fn read(bytes: &[u8]) -> Result<Self, DataError> {
        match read_snapshot(bytes) {
            Ok(mesh) => Ok(Self::Whole(Box::new(mesh))),
            Err(error) if is_elsewhere(&error) => Self::pass_over(bytes),
            Err(error) => Err(error),
        }
    }

    /// Passes over the slots, which must fill the file.
    fn pass_over(bytes: &[u8]) -> Result<Self, DataError> {
        let mut whole = Reader::new("mesh snapshot", bytes);
        whole.bytes("magic", SNAPSHOT.len())?;
        whole.version(MESH_VERSION)?;
        whole.zero_u16("flags")?;
        let params = MeshParams::read(&mut whole)?;
        whole.bytes("section", 8)?;
        let length = whole.u32("section length")? as usize;
        let mut reader = whole.part("mesh snapshot", "section 1", length)?;
        let slots = reader.count("slot count", 5, usize::MAX)?;
        let mut named = 0;
        for _ in 0..slots {
            reader.u32("slot generation")?;
            let at = reader.offset();
            match reader.u8("slot kind")? {
                0 => continue,
                1 => {
                    let length = reader.count("tile length", 1, usize::MAX)?;
                    reader.bytes("tile", length)?;
                }
                2 => {
                    reader.bytes(NAMED_TILE, ID_BYTES)?;
                    named += 1;
                }
                other => {
                    let problem = format!("is {other}; kinds are 0 to 2");
                    return Err(reader.error_at(at, "slot kind", DataErrorKind::Value, problem));
                }
            }
            for (field, length) in [("edit count", 7), ("disabled link count", 4)] {
                let count = reader.count(field, length, usize::MAX)?;
                reader.bytes(field, count * length)?;
            }
        }
        reader.finish()?;
        whole.finish()?;
        Ok(Self::Named {
            params,
            slots,
            named,
        })
    }

    fn tell(&self, table: &mut Table, object: &mut Value) {
        let (params, slots, named) = match self {
            Self::Whole(mesh) => (mesh.params(), mesh.slot_count() as usize, 0),
            Self::Named {
                params,
                slots,
                named,
            } => (params, *slots, *named),
        };
        table.row("slots", format!("{} for tiles", count(slots)));
        object["slots"] = json!(slots);
        object["named_tiles"] = json!(named);
        object["params"] = params_object(params);
        if let Self::Whole(mesh) = self {
            let sizes = mesh_sizes(mesh);
            rows_of_sizes(table, &sizes);
            sizes_into(object, &sizes);
        }
        rows_of_params(table, params);
        if named > 0 {
            let why = format!("tiles elsewhere: {}", count(named));
            only(table, object, "of the mesh only", &why);
        }
    }
}

/// Whether the library would have read on, had it had a tile that the file names.
fn is_elsewhere(error: &DataError) -> bool {
    error.field == NAMED_TILE && error.kind == DataErrorKind::Value
}

/// Says how much of a file was read when that is not all, and why.
fn only(table: &mut Table, object: &mut Value, what: &str, why: &str) {
    table.row("read", format!("{what} the header and the lengths: {why}"));
    object["header_only"] = json!(true);
}

/// The state of a tile cache.
pub(super) fn cache(bytes: &[u8]) -> Result<Description, Failure> {
    let saved = CacheSnapshot::read(bytes)?;
    let (mesh_bytes, mesh_at) = saved.mesh();
    let mesh = SavedMesh::read(mesh_bytes).map_err(|error| error.offset_by(mesh_at))?;
    let (obstacles, volumes) = (saved.obstacle_count(), saved.volume_count());
    let queued = saved.queued_tiles().len();
    let mut table = Table::default();
    table.row("kind", "tile cache snapshot");
    let shapes = format!(
        "{}, {}",
        counted(obstacles, "obstacle"),
        counted(volumes, "volume")
    );
    table.row("shapes", shapes);
    table.row("queue", counted(queued, "tile"));
    let mut object = json!({
        "kind": "tile_cache_snapshot",
        "obstacles": obstacles,
        "volumes": volumes,
        "queued_tiles": queued,
        "mesh_bytes": mesh_bytes.len(),
    });
    let mut inner = json!({});
    mesh.tell(&mut table, &mut inner);
    object["mesh"] = inner;
    read_by(&mut table, "TileCache::restore");
    Ok((table, object))
}

/// One tile, which does not know the grid it lies on: the library reads it for a mesh, and checks it
/// against that mesh's settings.
pub(super) fn tile(bytes: &[u8]) -> Result<Description, Failure> {
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
    let mut counts = [0; 6];
    let mut need = 0;
    for (number, (field, length)) in counts.iter_mut().zip([
        ("vertex count", 12),
        ("polygon count", 16),
        ("index count", 7),
        ("detail vertex count", 12),
        ("detail triangle count", 4),
        ("off-mesh link count", 36),
    ]) {
        *number = reader.count(field, length, usize::MAX)?;
        need += *number * length;
    }
    reader.bytes("body", need)?;
    reader.finish()?;
    let [vertices, polygons, .., links] = counts;
    let mut table = Table::default();
    table.row("kind", "tile of a mesh");
    table.row("place", format!("column {x}, row {z}, layer {layer}"));
    let corner = format!("({}, {}, {})", origin.x, origin.y, origin.z);
    table.row("corner", corner);
    table.row("polygons", count(polygons));
    table.row("vertices", count(vertices));
    table.row("links", format!("{} off-mesh", count(links)));
    let mut object = json!({
        "kind": "tile",
        "x": x,
        "z": z,
        "layer": layer,
        "origin": origin.to_array(),
        "polygons": polygons,
        "vertices": vertices,
        "off_mesh_links": links,
    });
    let why = "the rest takes its mesh's settings";
    only(&mut table, &mut object, "only", why);
    read_by(&mut table, "parts::soa::mesh::format::read_tile");
    Ok((table, object))
}

fn read_by(table: &mut Table, call: &str) {
    table.row("read by", call);
}

/// A crowd, alone or with its mesh.
pub(super) fn crowd(bytes: &[u8]) -> Result<Description, Failure> {
    let mut reader = Reader::new("crowd state", bytes);
    reader.bytes("magic", CROWD.len())?;
    reader.version(1)?;
    let at = reader.offset();
    let kind = reader.u16("kind")?;
    let mut table = Table::default();
    let mut object = json!({ "kind": "crowd" });
    table.row("kind", "saved crowd");
    let (state, at, call) = match kind {
        1 => {
            let call = "Crowd::restore_state, on the mesh it was saved with";
            (bytes, 0, call)
        }
        2 => {
            let length = reader.count("mesh length", 1, i32::MAX as usize)?;
            let mesh_at = reader.offset();
            let mesh = reader.bytes("mesh snapshot", length)?;
            let mesh = SavedMesh::read(mesh).map_err(|error| error.offset_by(mesh_at))?;
            let own = reader.count("crowd length", 1, i32::MAX as usize)?;
            let at = reader.offset();
            let state = reader.bytes("crowd state", own)?;
            reader.finish()?;
            let mut inner = json!({});
            mesh.tell(&mut table, &mut inner);
            object["mesh"] = inner;
            object["mesh_bytes"] = json!(length);
            let call = match mesh {
                SavedMesh::Whole(_) => "Crowd::restore_state_with_mesh",
                SavedMesh::Named { .. } => "Crowd::restore_state_with_mesh_from",
            };
            (state, at, call)
        }
        _ => {
            let problem = format!("is {kind}; 1 is a crowd, 2 a crowd with its mesh");
            return Err(reader
                .error_at(at, "kind", DataErrorKind::Value, problem)
                .into());
        }
    };
    tell_crowd(state, at, &mut table, &mut object)?;
    read_by(&mut table, call);
    Ok((table, object))
}

/// A crowd's state, which begins `at` a byte of its file. It is restored: of the mesh that asks only
/// when it changed last, so an empty one does.
fn tell_crowd(state: &[u8], at: u64, table: &mut Table, object: &mut Value) -> Result<(), Failure> {
    let head = Head::read(state).map_err(|error| error.offset_by(at))?;
    let mut crowd = Crowd::new(CrowdOptions {
        max_agents: MAX_AGENTS,
        max_walls_per_agent: head.max_walls_per_agent,
        ..CrowdOptions::default()
    })?;
    let nowhere = NavMesh::build(&[], &[], &NavSettings::HUMANOID)?;
    let restored = crowd.restore_state(&nowhere, state);
    restored.map_err(|error| error.offset_by(at))?;
    let (agents, slots) = (crowd.len(), crowd.slot_count());
    let held = format!("{} in {} slots", count(agents), count(slots));
    let ever = head.next_id;
    table.row("agents", format!("{held}; {ever} were ever added"));
    let states = states(&crowd);
    if agents > 0 {
        table.row("states", state_words(states));
    }
    table.row("steps", crowd.step_count().to_string());
    let walls = head.max_walls_per_agent;
    table.row("walls", format!("{walls} kept per agent"));
    let named = STATES.iter().zip(states);
    let named = named.map(|(name, number)| ((*name).to_owned(), json!(number)));
    object["agents"] = json!(agents);
    object["slots"] = json!(slots);
    object["states"] = Value::Object(named.collect());
    object["agents_ever"] = json!(ever);
    object["steps"] = json!(crowd.step_count());
    object["max_walls_per_agent"] = json!(walls);
    Ok(())
}

/// What a crowd does not tell once it is restored, or has to know before.
struct Head {
    max_walls_per_agent: u32,
    next_id: u64,
}

impl Head {
    fn read(state: &[u8]) -> Result<Self, DataError> {
        let mut reader = Reader::new("crowd state", state);
        reader.bytes("magic", CROWD.len())?;
        reader.bytes("version and kind", 4)?;
        let at = reader.offset();
        let max_walls_per_agent = reader.u32("max walls per agent")?;
        if !(1..=MAX_WALLS_PER_AGENT).contains(&max_walls_per_agent) {
            let problem = format!("is {max_walls_per_agent}; 1 to {MAX_WALLS_PER_AGENT} are kept");
            let field = "max walls per agent";
            return Err(reader.error_at(at, field, DataErrorKind::Value, problem));
        }
        for field in ["slot count", "agent count", "lowest free slot"] {
            reader.u32(field)?;
        }
        let next_id = reader.u64("next id")?;
        reader.u64("step count")?;
        Ok(Self {
            max_walls_per_agent,
            next_id,
        })
    }
}

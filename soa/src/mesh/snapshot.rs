//! Mesh snapshots: the dynamic state of a mesh as bytes, and putting it back.
//!
//! State is what can change after a mesh was made: slots and their generations, polygon areas and
//! flags that differ from the tile as built, and off-mesh links switched off. Links, trees and
//! grids are derived and come back by stitching. Tiles are content, not state: a snapshot either
//! holds them as built ([`SnapshotMode::Full`]) or names them by content id
//! ([`SnapshotMode::Referenced`]) for a [`TileLibrary`] to find. The same state in the same mode
//! writes the same bytes; a reader takes any mixture of the two.

use super::format::{finish_mesh, read_salt, read_sized_tile, write_sized_tile};
use super::library::{CONTENT_ID_LENGTH, TileLibrary};
use super::mesh_edit::MeshEditError;
use super::params::{FORMAT_VERSION, MeshParams};
use super::poly_ref::MAX_SLOTS;
use super::tile::{NavTile, Tile};
use super::tiled::TiledMesh;
use crate::bytes::{Buffer, Length, Reader, Sink, Writer};
use crate::error::{DataError, DataErrorKind};
use std::collections::BTreeSet;
use std::sync::Arc;

const MAGIC: [u8; 4] = *b"ONPS";
const FORMAT: &str = "mesh snapshot";
const SLOTS_SECTION: u16 = 1;

const FREE: u8 = 0;
const INLINE: u8 = 1;
const REFERENCED: u8 = 2;

/// What a snapshot says about the tiles in the slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SnapshotMode {
    /// The tile's bytes as built: the snapshot needs nothing else. For save files.
    #[default]
    Full,
    /// The tile's 32-byte content id: the reader needs a [`TileLibrary`] with the tile. For a host
    /// that keeps its tiles and saves every frame.
    Referenced,
}

/// The full snapshot of a mesh.
///
/// # Panics
/// It would be longer than the 4 GiB that its length field holds; [`try_snapshot`] gives `None` then.
#[must_use]
pub fn snapshot_bytes(mesh: &TiledMesh) -> Vec<u8> {
    snapshot_bytes_in(mesh, SnapshotMode::Full)
}

/// The snapshot of a mesh in a mode.
///
/// # Panics
/// As [`snapshot_bytes`].
#[must_use]
pub fn snapshot_bytes_in(mesh: &TiledMesh, mode: SnapshotMode) -> Vec<u8> {
    let mut writer = Writer::new(Vec::with_capacity(snapshot_size(mesh, mode)));
    write_snapshot_in(&mut writer, mesh, mode);
    writer.finish_or_panic(FORMAT)
}

/// Length of the snapshot of a mesh in a mode.
#[must_use]
pub fn snapshot_size(mesh: &TiledMesh, mode: SnapshotMode) -> usize {
    let mut length = Writer::new(Length::default());
    write_snapshot_in(&mut length, mesh, mode);
    length.into_sink().0
}

/// Writes the snapshot into `buffer` and returns its length, or `None` when the buffer is too short
/// or the snapshot is longer than the format holds, 4 GiB (its contents then mean nothing). Allocates
/// nothing once every tile knows its content id.
pub fn try_snapshot(mesh: &TiledMesh, mode: SnapshotMode, buffer: &mut [u8]) -> Option<usize> {
    let mut writer = Writer::new(Buffer::new(buffer));
    write_snapshot_in(&mut writer, mesh, mode);
    writer.finish(FORMAT).ok()?.written()
}

/// Appends the full snapshot of a mesh.
pub fn write_snapshot<S: Sink>(writer: &mut Writer<S>, mesh: &TiledMesh) {
    write_snapshot_in(writer, mesh, SnapshotMode::Full);
}

/// Appends the snapshot of a mesh in a mode. [`Writer::finish`] tells whether it fitted its format.
pub fn write_snapshot_in<S: Sink>(writer: &mut Writer<S>, mesh: &TiledMesh, mode: SnapshotMode) {
    writer.bytes(&MAGIC);
    writer.u16(FORMAT_VERSION);
    writer.u16(0);
    mesh.params().write(writer);
    writer.u32(1);
    writer.u16(SLOTS_SECTION);
    writer.u16(0);
    let mut body = Writer::new(Length::default());
    write_slots(&mut body, mesh, mode);
    writer.length(body.into_sink().0);
    write_slots(writer, mesh, mode);
}

/// Makes a new mesh from a full snapshot.
///
/// # Errors
/// Truncated or trailing bytes, another format or version, an unknown section, a count the bytes
/// cannot hold, a broken rule of a tile, an edit that says nothing, or a tile that is only named.
pub fn read_snapshot(bytes: &[u8]) -> Result<TiledMesh, DataError> {
    read_snapshot_with(bytes, &TileLibrary::new())
}

/// Makes a new mesh from a snapshot of any mode. Tiles of the library are shared, not copied.
///
/// # Errors
/// As [`read_snapshot`], a named tile the library does not hold, or one built for another mesh.
pub fn read_snapshot_with(bytes: &[u8], library: &TileLibrary) -> Result<TiledMesh, DataError> {
    let mut reader = Reader::new(FORMAT, bytes);
    reader.magic(MAGIC)?;
    reader.version(FORMAT_VERSION)?;
    reader.zero_u16("flags")?;
    let params = MeshParams::read(&mut reader)?;
    let at = reader.offset();
    let sections = reader.count("section count", 8, usize::MAX)?;
    if sections != 1 {
        return Err(reader.error_at(
            at,
            "section count",
            DataErrorKind::Value,
            format!("is {sections}; this version has exactly the slots section"),
        ));
    }
    let at = reader.offset();
    let id = reader.u16("section id")?;
    if id != SLOTS_SECTION {
        return Err(reader.error_at(
            at,
            "section id",
            DataErrorKind::Value,
            format!("is {id}; an unknown section is state that would be lost"),
        ));
    }
    reader.zero_u16("section reserved")?;
    let length = reader.u32("section length")? as usize;
    let mut body = reader.part(FORMAT, "section 1", length)?;
    let slots = read_slots(&mut body, &params, library)?;
    body.finish()?;
    reader.finish()?;
    finish_mesh(&reader, params, slots)
}

/// Puts `mesh` back into the state of a full snapshot, in place. All or nothing.
///
/// # Errors
/// As [`read_snapshot`], and parameters that differ from the mesh's by a bit.
pub fn restore_snapshot(mesh: &mut TiledMesh, bytes: &[u8]) -> Result<(), DataError> {
    restore_snapshot_with(mesh, bytes, &TileLibrary::new())
}

/// Puts `mesh` back into the state of a snapshot of any mode, in place. All or nothing.
///
/// # Errors
/// As [`read_snapshot_with`], and parameters that differ from the mesh's by a bit.
pub fn restore_snapshot_with(
    mesh: &mut TiledMesh,
    bytes: &[u8],
    library: &TileLibrary,
) -> Result<(), DataError> {
    let restored = read_snapshot_with(bytes, library)?;
    if !restored.params().same_bits(mesh.params()) {
        return Err(Reader::new(FORMAT, bytes).error_at(
            8,
            "parameters",
            DataErrorKind::Fingerprint,
            "the snapshot belongs to a mesh with other parameters",
        ));
    }
    mesh.replace_state(restored);
    Ok(())
}

fn write_slots<S: Sink>(writer: &mut Writer<S>, mesh: &TiledMesh, mode: SnapshotMode) {
    writer.u32(mesh.slot_count());
    for slot in 0..mesh.slot_count() {
        writer.u32(mesh.slot_salt(slot).unwrap_or(1));
        let Some(tile) = mesh.tile(slot) else {
            writer.u8(FREE);
            continue;
        };
        match mode {
            SnapshotMode::Full => {
                writer.u8(INLINE);
                write_sized_tile(writer, tile);
            }
            SnapshotMode::Referenced => {
                writer.u8(REFERENCED);
                writer.bytes(&tile.content_id());
            }
        }
        let built = tile.data();
        let edited = |poly: &usize| {
            tile.poly_area[*poly] != built.poly_areas[*poly]
                || tile.poly_flags[*poly] != built.poly_flags[*poly]
        };
        let edits = (0..tile.poly_count()).filter(edited);
        writer.u32(edits.clone().count() as u32);
        for poly in edits {
            writer.u32(poly as u32);
            writer.u8(tile.poly_area[poly]);
            writer.u16(tile.poly_flags[poly]);
        }
        let disabled = (0..tile.off_mesh_enabled.len()).filter(|&i| !tile.off_mesh_enabled[i]);
        writer.u32(disabled.clone().count() as u32);
        disabled.for_each(|index| writer.u32(index as u32));
    }
}

fn read_slots(
    reader: &mut Reader<'_>,
    params: &MeshParams,
    library: &TileLibrary,
) -> Result<Vec<(u32, Option<Tile>)>, DataError> {
    let fingerprint = params.fingerprint();
    let count = reader.count("slot count", 5, MAX_SLOTS as usize)?;
    let mut slots = Vec::with_capacity(count);
    let mut places = BTreeSet::new();
    for slot in 0..count {
        let salt = read_salt(reader)?;
        let at = reader.offset();
        let built = match reader.u8("slot kind")? {
            FREE => None,
            INLINE => Some(Arc::new(read_sized_tile(reader, params, &fingerprint)?)),
            REFERENCED => Some(read_named_tile(reader, library, &fingerprint)?),
            other => {
                let problem = format!("is {other}; kinds are 0 to 2");
                return Err(reader.error_at(at, "slot kind", DataErrorKind::Value, problem));
            }
        };
        let Some(built) = built else {
            slots.push((salt, None));
            continue;
        };
        // A few bytes can name a large tile: twice the same place is refused before it is copied.
        let (x, z, layer) = (built.data().tile_x, built.data().tile_z, built.data().layer);
        if !places.insert((x, z, layer)) {
            let problem = MeshEditError::Occupied { x, z, layer }.to_string();
            let field = format!("slot {slot}");
            return Err(reader.error_at(at, &field, DataErrorKind::Value, problem));
        }
        slots.push((salt, Some(read_edits(reader, built)?)));
    }
    Ok(slots)
}

/// A tile named by its content id.
fn read_named_tile(
    reader: &mut Reader<'_>,
    library: &TileLibrary,
    fingerprint: &[u8; 16],
) -> Result<Arc<NavTile>, DataError> {
    const FIELD: &str = "tile content id";
    let at = reader.offset();
    let mut id = [0; CONTENT_ID_LENGTH];
    id.copy_from_slice(reader.bytes(FIELD, CONTENT_ID_LENGTH)?);
    let Some(tile) = library.get(&id) else {
        let [a, b, c, d, ..] = id;
        let problem = format!(
            "content id {a:02X}{b:02X}{c:02X}{d:02X}.. names a tile that is not in the library"
        );
        return Err(reader.error_at(at, FIELD, DataErrorKind::Value, problem));
    };
    if tile.fingerprint() != *fingerprint {
        let problem = "the library's tile was built with other settings than the mesh";
        return Err(reader.error_at(at, FIELD, DataErrorKind::Fingerprint, problem));
    }
    Ok(tile.clone())
}

fn read_edits(reader: &mut Reader<'_>, built: Arc<NavTile>) -> Result<Tile, DataError> {
    let mut tile = Tile::new(built);
    let edits = reader.count("edit count", 7, tile.poly_count())?;
    let mut next = 0;
    for _ in 0..edits {
        let at = reader.offset();
        let poly = reader.u32("edited polygon")? as usize;
        let area = reader.u8("edited area")?;
        let flags = reader.u16("edited flags")?;
        let problem = if poly < next || poly >= tile.poly_count() {
            "polygons ascend and exist"
        } else if area > 63 {
            "areas are 0 to 63"
        } else if (area, flags) == (tile.poly_area[poly], tile.poly_flags[poly]) {
            "an edit equal to the tile as built is not written"
        } else {
            next = poly + 1;
            tile.poly_area[poly] = area;
            tile.poly_flags[poly] = flags;
            continue;
        };
        return Err(reader.error_at(at, "polygon edit", DataErrorKind::Value, problem));
    }
    let links = tile.off_mesh_enabled.len();
    let disabled = reader.count("disabled link count", 4, links)?;
    let mut next = 0;
    for _ in 0..disabled {
        let at = reader.offset();
        let index = reader.u32("disabled link")? as usize;
        if index < next || index >= links {
            return Err(reader.error_at(
                at,
                "disabled link",
                DataErrorKind::Value,
                "link indices ascend and exist",
            ));
        }
        tile.off_mesh_enabled[index] = false;
        next = index + 1;
    }
    Ok(tile)
}

//! Mesh snapshots: the dynamic state of a mesh as bytes, and putting it back.
//!
//! State is what can change after a mesh was made: slots and their generations, polygon areas and
//! flags that differ from the tile as built, and off-mesh links switched off. Links, trees and
//! grids are derived and come back by stitching. A snapshot written here is self-contained: each
//! tile stands in it as built. The same state writes the same bytes.

use super::format::{finish_mesh, read_salt, read_sized_tile, write_sized_tile};
use super::params::{FORMAT_VERSION, MeshParams};
use super::poly_ref::MAX_SLOTS;
use super::tile::{NavTile, Tile};
use super::tiled::TiledMesh;
use crate::bytes::{Length, Reader, Sink, Writer};
use crate::error::{DataError, DataErrorKind};
use std::sync::Arc;

const MAGIC: [u8; 4] = *b"ONPS";
const FORMAT: &str = "mesh snapshot";
const SLOTS_SECTION: u16 = 1;

/// The snapshot of a mesh.
#[must_use]
pub fn snapshot_bytes(mesh: &TiledMesh) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new());
    write_snapshot(&mut writer, mesh);
    writer.into_sink()
}

/// Appends the snapshot of a mesh.
pub fn write_snapshot<S: Sink>(writer: &mut Writer<S>, mesh: &TiledMesh) {
    writer.bytes(&MAGIC);
    writer.u16(FORMAT_VERSION);
    writer.u16(0);
    mesh.params().write(writer);
    writer.u32(1);
    writer.u16(SLOTS_SECTION);
    writer.u16(0);
    let mut body = Writer::new(Length::default());
    write_slots(&mut body, mesh);
    writer.u32(body.into_sink().0 as u32);
    write_slots(writer, mesh);
}

/// Makes a new mesh from a snapshot.
///
/// # Errors
/// Truncated or trailing bytes, another format or version, an unknown section, a count the bytes
/// cannot hold, a broken rule of a tile, or an edit that says nothing.
pub fn read_snapshot(bytes: &[u8]) -> Result<TiledMesh, DataError> {
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
    let slots = read_slots(&mut body, &params)?;
    body.finish()?;
    reader.finish()?;
    finish_mesh(&reader, params, slots)
}

/// Puts `mesh` back into the state of the snapshot, in place. All or nothing.
///
/// # Errors
/// As [`read_snapshot`], and parameters that differ from the mesh's by a bit.
pub fn restore_snapshot(mesh: &mut TiledMesh, bytes: &[u8]) -> Result<(), DataError> {
    let restored = read_snapshot(bytes)?;
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

fn write_slots<S: Sink>(writer: &mut Writer<S>, mesh: &TiledMesh) {
    writer.u32(mesh.slot_count());
    for slot in 0..mesh.slot_count() {
        writer.u32(mesh.slot_salt(slot).unwrap_or(1));
        let Some(tile) = mesh.tile(slot) else {
            writer.u8(0);
            continue;
        };
        writer.u8(1);
        write_sized_tile(writer, tile);
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
) -> Result<Vec<(u32, Option<Tile>)>, DataError> {
    let fingerprint = params.fingerprint();
    let count = reader.count("slot count", 5, MAX_SLOTS as usize)?;
    let mut slots = Vec::with_capacity(count);
    for _ in 0..count {
        let salt = read_salt(reader)?;
        let at = reader.offset();
        let tile = match reader.u8("slot kind")? {
            0 => None,
            1 => {
                let tile = read_sized_tile(reader, params, &fingerprint)?;
                Some(read_edits(reader, tile)?)
            }
            2 => {
                return Err(reader.error_at(
                    at,
                    "slot kind",
                    DataErrorKind::Value,
                    "the tile is named by its content id and there is no library to find it in",
                ));
            }
            other => {
                return Err(reader.error_at(
                    at,
                    "slot kind",
                    DataErrorKind::Value,
                    format!("is {other}; kinds are 0 to 2"),
                ));
            }
        };
        slots.push((salt, tile));
    }
    Ok(slots)
}

fn read_edits(reader: &mut Reader<'_>, built: NavTile) -> Result<Tile, DataError> {
    let mut tile = Tile::new(Arc::new(built));
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

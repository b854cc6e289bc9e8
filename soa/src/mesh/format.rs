//! Tile and mesh bytes, version 2: what is baked, shipped and streamed.
//!
//! Little-endian, no padding, floats by bit pattern. The same mesh writes the same bytes on every
//! machine. A reader checks counts against the bytes that are left before it allocates and then
//! every rule of the tile; it either returns a whole tile or mesh or changes nothing.

use super::data::{DetailMesh, OffMeshLink, TileData};
use super::mesh_edit::MeshEditError;
use super::params::{FORMAT_VERSION, MeshParams};
use super::poly_ref::{MAX_SALT, MAX_SLOTS};
use super::tile::{NavTile, Tile};
use super::tiled::TiledMesh;
use crate::bytes::{Length, Reader, Sink, Writer};
use crate::error::{DataError, DataErrorKind};
use rayon::prelude::*;
use std::sync::Arc;

const TILE_MAGIC: [u8; 4] = *b"ONPT";
const MESH_MAGIC: [u8; 4] = *b"ONPM";
const TILE_FORMAT: &str = "tile";
const MESH_FORMAT: &str = "mesh";

/// The bytes of a tile as it was built.
///
/// # Panics
/// The tile has more than 2^32 - 1 detail vertices, detail triangles or links.
#[must_use]
pub fn tile_bytes(tile: &NavTile) -> Vec<u8> {
    let mut writer = Writer::new(Vec::with_capacity(tile_length(tile.data())));
    let data = tile.data();
    write_tile(&mut writer, tile, &data.poly_areas, &data.poly_flags);
    writer.finish_or_panic(TILE_FORMAT)
}

/// The bytes of a mesh's copy of a tile: its current areas and flags become those as built when
/// they are read. Link switches are not content.
///
/// # Panics
/// As [`tile_bytes`].
#[must_use]
pub fn current_tile_bytes(tile: &Tile) -> Vec<u8> {
    let mut writer = Writer::new(Vec::with_capacity(tile_length(tile.data())));
    write_tile(&mut writer, tile, &tile.poly_area, &tile.poly_flags);
    writer.finish_or_panic(TILE_FORMAT)
}

/// Reads one tile for a mesh with `params`. Nothing may follow it.
///
/// # Errors
/// Truncated or trailing bytes, another format or version, a tile built with other settings, a
/// count the bytes cannot hold, or a broken rule of the tile.
pub fn read_tile(bytes: &[u8], params: &MeshParams) -> Result<NavTile, DataError> {
    let mut reader = Reader::new(TILE_FORMAT, bytes);
    let tile = read_tile_from(&mut reader, params, &params.fingerprint())?;
    reader.finish()?;
    Ok(tile)
}

/// The bytes of a mesh: parameters, slots with generations, tiles with their current areas and
/// flags. Link switches are not content and are not written (see the snapshot for those).
///
/// # Panics
/// One tile is longer than the 4 GiB that its length field holds.
#[must_use]
pub fn mesh_bytes(mesh: &TiledMesh) -> Vec<u8> {
    let mut length = Writer::new(Length::default());
    write_mesh(&mut length, mesh);
    let mut writer = Writer::new(Vec::with_capacity(length.into_sink().0));
    write_mesh(&mut writer, mesh);
    writer.finish_or_panic(MESH_FORMAT)
}

/// Appends the bytes of a mesh.
pub fn write_mesh<S: Sink>(writer: &mut Writer<S>, mesh: &TiledMesh) {
    writer.bytes(&MESH_MAGIC);
    writer.u16(FORMAT_VERSION);
    writer.u16(0);
    mesh.params().write(writer);
    writer.u32(mesh.slot_count());
    for slot in 0..mesh.slot_count() {
        writer.u32(mesh.slot_salt(slot).unwrap_or(1));
        let tile = mesh.tile(slot);
        writer.flag(tile.is_some());
        if let Some(tile) = tile {
            writer.length(tile_length(tile.data()));
            write_tile(writer, tile, &tile.poly_area, &tile.poly_flags);
        }
    }
}

/// Reads a mesh. Slots and generations come back exactly; links are stitched once.
///
/// # Errors
/// As [`read_tile`], and two tiles at one position.
pub fn read_mesh(bytes: &[u8]) -> Result<TiledMesh, DataError> {
    read_mesh_on(bytes, false)
}

/// [`read_mesh`], the tiles read and checked by the current rayon pool: the same mesh, the same error.
///
/// # Errors
/// As [`read_mesh`].
pub fn read_mesh_parallel(bytes: &[u8]) -> Result<TiledMesh, DataError> {
    read_mesh_on(bytes, true)
}

fn read_mesh_on(bytes: &[u8], parallel: bool) -> Result<TiledMesh, DataError> {
    let mut reader = Reader::new(MESH_FORMAT, bytes);
    reader.magic(MESH_MAGIC)?;
    reader.version(FORMAT_VERSION)?;
    reader.zero_u16("flags")?;
    let params = MeshParams::read(&mut reader)?;
    let fingerprint = params.fingerprint();
    let count = reader.count("slot count", 5, MAX_SLOTS as usize)?;
    let read = |part| {
        let tile = read_part(part, &params, &fingerprint)?;
        Ok(Tile::new(Arc::new(tile)))
    };
    let mut slots = Vec::with_capacity(count);
    // With a pool, the tiles to read; a slot's tile is put in when it was.
    let mut waiting = Vec::new();
    let ended = (0..count).try_for_each(|_| {
        let salt = read_salt(&mut reader)?;
        let mut tile = None;
        if reader.flag("tile present")? {
            let length = reader.u32("tile length")? as usize;
            let part = reader.part(TILE_FORMAT, "tile", length)?;
            if parallel {
                waiting.push((slots.len(), part));
            } else {
                tile = Some(read(part)?);
            }
        }
        slots.push((salt, tile));
        Ok(())
    });
    // Without one nothing waits, and nobody may start the threads of a pool, not even to find that.
    if parallel {
        let tiles: Vec<Result<(usize, Tile), DataError>> = waiting
            .into_par_iter()
            .map(|(slot, part)| Ok((slot, read(part)?)))
            .collect();
        // A broken tile comes before whatever ended the slots behind it.
        for tile in tiles {
            let (slot, tile) = tile?;
            slots[slot].1 = Some(tile);
        }
    }
    ended?;
    reader.finish()?;
    finish_mesh(&reader, params, slots)
}

pub(super) fn finish_mesh(
    reader: &Reader<'_>,
    params: MeshParams,
    slots: Vec<(u32, Option<Tile>)>,
) -> Result<TiledMesh, DataError> {
    TiledMesh::from_slots(params, slots).map_err(|(slot, error)| {
        let kind = match error {
            MeshEditError::TooManyLinks { .. } => DataErrorKind::Limit,
            _ => DataErrorKind::Value,
        };
        reader.error(&format!("slot {slot}"), kind, error.to_string())
    })
}

pub(super) fn read_salt(reader: &mut Reader<'_>) -> Result<u32, DataError> {
    let at = reader.offset();
    let salt = reader.u32("slot generation")?;
    if (1..=MAX_SALT).contains(&salt) {
        return Ok(salt);
    }
    Err(reader.error_at(
        at,
        "slot generation",
        DataErrorKind::Value,
        format!("is {salt}; generations are 1 to {MAX_SALT}"),
    ))
}

/// A tile behind its u32 length.
pub(super) fn read_sized_tile(
    reader: &mut Reader<'_>,
    params: &MeshParams,
    fingerprint: &[u8; 16],
) -> Result<NavTile, DataError> {
    let length = reader.u32("tile length")? as usize;
    read_part(
        reader.part(TILE_FORMAT, "tile", length)?,
        params,
        fingerprint,
    )
}

fn read_part(
    mut part: Reader<'_>,
    params: &MeshParams,
    fingerprint: &[u8; 16],
) -> Result<NavTile, DataError> {
    let tile = read_tile_from(&mut part, params, fingerprint)?;
    part.finish()?;
    Ok(tile)
}

/// Appends a tile behind its u32 length, as built.
pub(super) fn write_sized_tile<S: Sink>(writer: &mut Writer<S>, tile: &NavTile) {
    let data = tile.data();
    writer.length(tile_length(data));
    write_tile(writer, tile, &data.poly_areas, &data.poly_flags);
}

const TILE_HEADER: usize = 84;

fn tile_length(data: &TileData) -> usize {
    TILE_HEADER
        + 12 * (data.vertices.len() + data.detail_vertices.len())
        + 16 * data.poly_vertex_counts.len()
        + 7 * data.poly_indices.len()
        + 4 * data.detail_triangles.len()
        + 36 * data.off_mesh_links.len()
}

fn write_tile<S: Sink>(writer: &mut Writer<S>, tile: &NavTile, areas: &[u8], flags: &[u16]) {
    let data = tile.data();
    writer.bytes(&TILE_MAGIC);
    writer.u16(FORMAT_VERSION);
    writer.u16(0);
    writer.bytes(&tile.fingerprint());
    writer.i32(data.tile_x);
    writer.i32(data.tile_z);
    writer.i32(data.layer);
    writer.point(tile.origin);
    for count in [
        data.vertices.len(),
        data.poly_vertex_counts.len(),
        data.poly_indices.len(),
        data.detail_vertices.len(),
        data.detail_triangles.len(),
        data.off_mesh_links.len(),
    ] {
        writer.length(count);
    }
    let triple = |writer: &mut Writer<S>, v: &[f32; 3]| v.iter().for_each(|&c| writer.f32(c));
    data.vertices.iter().for_each(|v| triple(writer, v));
    for (poly, &count) in data.poly_vertex_counts.iter().enumerate() {
        writer.u8(count);
        writer.u8(areas[poly]);
        writer.u16(flags[poly]);
        let detail = data.detail_meshes[poly];
        writer.u32(detail.vertex_base);
        writer.u32(detail.triangle_base);
        writer.u16(detail.vertex_count);
        writer.u16(detail.triangle_count);
    }
    data.poly_indices.iter().for_each(|&v| writer.u16(v));
    data.edge_neighbors.iter().for_each(|&n| writer.i32(n));
    writer.bytes(&data.edge_portal_sides);
    data.detail_vertices.iter().for_each(|v| triple(writer, v));
    data.detail_triangles.iter().for_each(|t| writer.bytes(t));
    for link in &data.off_mesh_links {
        triple(writer, &link.start);
        triple(writer, &link.end);
        writer.f32(link.radius);
        writer.u8(link.area);
        writer.flag(link.bidirectional);
        writer.u16(link.flags);
        writer.u32(link.user_id);
    }
}

fn read_tile_from(
    reader: &mut Reader<'_>,
    params: &MeshParams,
    fingerprint: &[u8; 16],
) -> Result<NavTile, DataError> {
    let start = reader.offset();
    reader.magic(TILE_MAGIC)?;
    reader.version(FORMAT_VERSION)?;
    reader.zero_u16("flags")?;
    let at = reader.offset();
    if reader.bytes("fingerprint", 16)? != fingerprint {
        return Err(reader.error_at(
            at,
            "fingerprint",
            DataErrorKind::Fingerprint,
            "the tile was built with other settings than the mesh",
        ));
    }
    let mut data = TileData {
        tile_x: reader.i32("tile column")?,
        tile_z: reader.i32("tile row")?,
        layer: reader.i32("layer")?,
        ..TileData::default()
    };
    read_origin(reader, params, &mut data)?;
    let mut counts = [0_usize; 6];
    for (count, name) in counts.iter_mut().zip([
        "vertex count",
        "polygon count",
        "index count",
        "detail vertex count",
        "detail triangle count",
        "off-mesh link count",
    ]) {
        *count = reader.u32(name)? as usize;
    }
    check_body(reader, &counts)?;
    read_body(reader, &counts, &mut data)?;
    NavTile::create_with(data, params, *fingerprint)
        .map_err(|error| reader.error_at(start, &error.field, error.kind, error.problem))
}

fn read_origin(
    reader: &mut Reader<'_>,
    params: &MeshParams,
    data: &mut TileData,
) -> Result<(), DataError> {
    let at = reader.offset();
    let x = reader.f64("origin x")?;
    data.origin_y = reader.coordinate("origin y")?;
    let z = reader.f64("origin z")?;
    let expected = [
        params.tile_origin_x(data.tile_x),
        params.tile_origin_z(data.tile_z),
    ];
    if [x.to_bits(), z.to_bits()] == expected.map(f64::to_bits) {
        return Ok(());
    }
    Err(reader.error_at(
        at,
        "origin",
        DataErrorKind::Value,
        format!("({x}, {z}) is not the grid's {expected:?} for this column and row"),
    ))
}

/// Refuses a body longer or shorter than its arrays.
fn check_body(reader: &Reader<'_>, counts: &[usize; 6]) -> Result<(), DataError> {
    let sizes = [12_u128, 16, 7, 12, 4, 36];
    let need: u128 = counts
        .iter()
        .zip(sizes)
        .map(|(&n, size)| n as u128 * size)
        .sum();
    let have = reader.remaining() as u128;
    if need == have {
        return Ok(());
    }
    let kind = if need > have {
        DataErrorKind::Truncated
    } else {
        DataErrorKind::Trailing
    };
    Err(reader.error(
        "body",
        kind,
        format!("the counts need {need} bytes, {have} are there"),
    ))
}

fn read_body(
    reader: &mut Reader<'_>,
    &[
        vertices,
        polys,
        indices,
        detail_vertices,
        detail_triangles,
        links,
    ]: &[usize; 6],
    data: &mut TileData,
) -> Result<(), DataError> {
    let triple = |v: [f32; 3]| v.map(|c| f32::from_bits(u32::from_le(c.to_bits())));
    data.vertices = reader.column("vertices", vertices, triple)?;
    let records = reader.bytes("polygons", 16 * polys)?.chunks_exact(16);
    data.poly_vertex_counts = records.clone().map(|b| b[0]).collect();
    data.poly_areas = records.clone().map(|b| b[1]).collect();
    let flags = records.clone().map(|b| u16::from_le_bytes([b[2], b[3]]));
    data.poly_flags = flags.collect();
    let detail = records.map(|b| DetailMesh {
        vertex_base: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
        triangle_base: u32::from_le_bytes([b[8], b[9], b[10], b[11]]),
        vertex_count: u16::from_le_bytes([b[12], b[13]]),
        triangle_count: u16::from_le_bytes([b[14], b[15]]),
    });
    data.detail_meshes = detail.collect();
    data.poly_indices = reader.column("polygon indices", indices, u16::from_le)?;
    data.edge_neighbors = reader.column("edge neighbours", indices, i32::from_le)?;
    data.edge_portal_sides = reader.bytes("edge portal sides", indices)?.to_vec();
    data.detail_vertices = reader.column("detail vertices", detail_vertices, triple)?;
    data.detail_triangles = reader.column("detail triangles", detail_triangles, |t| t)?;
    for _ in 0..links {
        data.off_mesh_links.push(OffMeshLink {
            start: read_triple(reader, "off-mesh start")?,
            end: read_triple(reader, "off-mesh end")?,
            radius: reader.f32("off-mesh radius")?,
            area: reader.u8("off-mesh area")?,
            bidirectional: reader.flag("off-mesh flags")?,
            flags: reader.u16("off-mesh polygon flags")?,
            user_id: reader.u32("off-mesh user id")?,
        });
    }
    Ok(())
}

fn read_triple(reader: &mut Reader<'_>, field: &str) -> Result<[f32; 3], DataError> {
    Ok([reader.f32(field)?, reader.f32(field)?, reader.f32(field)?])
}

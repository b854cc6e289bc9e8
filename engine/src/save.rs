//! The baked file: mesh bytes in an envelope with the settings they were built with.

use throng_build::{NavSettings, OffMeshLinkDefinition, PartitionType};
use throng_soa::bytes::{Buffer, Length, Reader, Sink, Writer};
use throng_soa::error::{DataError, DataErrorKind};
use throng_soa::mesh::TiledMesh;
use throng_soa::mesh::format::{read_mesh, write_mesh};
use throng_soa::world::DVec3;

const FORMAT: &str = "baked mesh";
const MAGIC: [u8; 4] = *b"ONNM";
const VERSION: u16 = 1;
const LINK_LENGTH: usize = 64;

/// The bytes of a mesh and its settings.
pub(crate) fn write(mesh: &TiledMesh, settings: &NavSettings) -> Vec<u8> {
    let mut writer = Writer::new(Vec::with_capacity(size(mesh, settings)));
    write_to(&mut writer, mesh, settings);
    writer.finish_or_panic(FORMAT)
}

/// Length of the bytes.
pub(crate) fn size(mesh: &TiledMesh, settings: &NavSettings) -> usize {
    let mut writer = Writer::new(Length::default());
    write_to(&mut writer, mesh, settings);
    writer.into_sink().0
}

/// Writes the bytes into a buffer; their number, when all of them fitted.
pub(crate) fn try_write(
    mesh: &TiledMesh,
    settings: &NavSettings,
    buffer: &mut [u8],
) -> Option<usize> {
    let mut writer = Writer::new(Buffer::new(buffer));
    write_to(&mut writer, mesh, settings);
    writer.finish(FORMAT).ok()?.written()
}

/// Appends the bytes of a mesh and its settings.
pub(crate) fn write_to<S: Sink>(writer: &mut Writer<S>, mesh: &TiledMesh, settings: &NavSettings) {
    let mut length = Writer::new(Length::default());
    write_mesh(&mut length, mesh);
    let length = length.into_sink().0;
    writer.bytes(&MAGIC);
    writer.u16(VERSION);
    writer.u16(0);
    for value in [
        settings.agent_radius,
        settings.agent_height,
        settings.walkable_climb,
        settings.agent_max_slope_degrees,
        settings.cell_size,
        settings.tile_size,
        settings.cell_height,
        settings.origin_x,
        settings.origin_z,
    ] {
        writer.f64(value);
    }
    writer.i32(settings.max_verts_per_poly);
    writer.f64(settings.floor_y);
    writer.u8(settings.area);
    writer.u16(settings.flags);
    writer.flag(settings.snap_bits.is_some());
    writer.i32(settings.snap_bits.unwrap_or(0));
    writer.i32(settings.partition as i32);
    writer.i32(settings.min_region_area);
    writer.i32(settings.merge_region_area);
    writer.f64(settings.contour_max_error);
    writer.f64(settings.max_edge_length);
    writer.f64(settings.detail_sample_distance);
    writer.f64(settings.detail_max_error);
    writer.length(settings.off_mesh_links.len());
    for link in &settings.off_mesh_links {
        writer.point(link.start);
        writer.point(link.end);
        writer.f64(link.radius);
        writer.flag(link.bidirectional);
        writer.u8(link.area);
        writer.u16(link.flags);
        writer.u32(link.user_id);
    }
    writer.length(length);
    write_mesh(writer, mesh);
}

/// How the bytes of the mesh are read: here, or on the current rayon pool.
pub(crate) type ReadMesh = fn(&[u8]) -> Result<TiledMesh, DataError>;

/// Reads what [`write`] wrote.
pub(crate) fn read(bytes: &[u8]) -> Result<(TiledMesh, NavSettings), DataError> {
    read_on(bytes, read_mesh)
}

/// [`read`], the mesh by `read_mesh`.
pub(crate) fn read_on(
    bytes: &[u8],
    read_mesh: ReadMesh,
) -> Result<(TiledMesh, NavSettings), DataError> {
    let mut reader = Reader::new(FORMAT, bytes);
    reader.magic(MAGIC)?;
    reader.version(VERSION)?;
    reader.zero_u16("flags")?;
    let at = reader.offset();
    let settings = read_settings(&mut reader)?;
    settings.validate().map_err(|error| {
        reader.error_at(at, "settings", DataErrorKind::Value, error.to_string())
    })?;
    let length = reader.u32("mesh length")? as usize;
    let mesh_at = reader.offset();
    let mesh_bytes = reader.bytes("mesh", length)?;
    reader.finish()?;
    let mesh = read_mesh(mesh_bytes).map_err(|error| error.offset_by(mesh_at))?;
    check_settings(&reader, &mesh, &settings)?;
    Ok((mesh, settings))
}

/// Reads an envelope or bare mesh bytes that were built with `settings`.
pub(crate) fn read_with(
    bytes: &[u8],
    settings: &NavSettings,
) -> Result<(TiledMesh, NavSettings), DataError> {
    let reader = Reader::new(FORMAT, bytes);
    let mesh = if bytes.starts_with(&MAGIC) {
        read(bytes)?.0
    } else {
        read_mesh(bytes)?
    };
    check_settings(&reader, &mesh, settings)?;
    Ok((mesh, settings.clone()))
}

/// The settings must give exactly the mesh's parameters.
pub(crate) fn check_settings(
    reader: &Reader<'_>,
    mesh: &TiledMesh,
    settings: &NavSettings,
) -> Result<(), DataError> {
    let same = settings
        .to_params()
        .is_ok_and(|params| params.same_bits(mesh.params()));
    if same {
        return Ok(());
    }
    Err(reader.error(
        "settings",
        DataErrorKind::Fingerprint,
        "they are not those the mesh was built with",
    ))
}

fn read_settings(reader: &mut Reader<'_>) -> Result<NavSettings, DataError> {
    let mut settings = NavSettings {
        agent_radius: reader.f64("agent radius")?,
        agent_height: reader.f64("agent height")?,
        walkable_climb: reader.f64("walkable climb")?,
        agent_max_slope_degrees: reader.f64("agent max slope")?,
        cell_size: reader.f64("cell size")?,
        tile_size: reader.f64("tile size")?,
        cell_height: reader.f64("cell height")?,
        origin_x: reader.f64("origin x")?,
        origin_z: reader.f64("origin z")?,
        max_verts_per_poly: reader.i32("max vertices per polygon")?,
        floor_y: reader.f64("floor y")?,
        area: reader.u8("area")?,
        flags: reader.u16("flags")?,
        ..NavSettings::HUMANOID
    };
    let has_snap_bits = reader.flag("snap bits present")?;
    let at = reader.offset();
    let snap_bits = reader.i32("snap bits")?;
    if !has_snap_bits && snap_bits != 0 {
        let problem = format!("is {snap_bits}; absent snap bits are written as 0");
        return Err(reader.error_at(at, "snap bits", DataErrorKind::Value, problem));
    }
    settings.snap_bits = has_snap_bits.then_some(snap_bits);
    let at = reader.offset();
    let partition = reader.i32("partition")?;
    settings.partition = PartitionType::from_i32(partition).ok_or_else(|| {
        let problem = format!("is {partition}; partitions are 0 to 2");
        reader.error_at(at, "partition", DataErrorKind::Value, problem)
    })?;
    settings.min_region_area = reader.i32("min region area")?;
    settings.merge_region_area = reader.i32("merge region area")?;
    settings.contour_max_error = reader.f64("contour max error")?;
    settings.max_edge_length = reader.f64("max edge length")?;
    settings.detail_sample_distance = reader.f64("detail sample distance")?;
    settings.detail_max_error = reader.f64("detail max error")?;
    let links = reader.count("link count", LINK_LENGTH, usize::MAX)?;
    settings.off_mesh_links.reserve(links);
    for _ in 0..links {
        settings.off_mesh_links.push(OffMeshLinkDefinition {
            start: read_point(reader, "link start")?,
            end: read_point(reader, "link end")?,
            radius: reader.f64("link radius")?,
            bidirectional: reader.flag("link bidirectional")?,
            area: reader.u8("link area")?,
            flags: reader.u16("link flags")?,
            user_id: reader.u32("link user id")?,
        });
    }
    Ok(settings)
}

fn read_point(reader: &mut Reader<'_>, field: &str) -> Result<DVec3, DataError> {
    let x = reader.f64(field)?;
    let y = reader.f64(field)?;
    let z = reader.f64(field)?;
    Ok(DVec3::new(x, y, z))
}

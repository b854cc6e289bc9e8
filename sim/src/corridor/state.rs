//! Corridor bytes: version, flags, capacity, polygons, position, target.

use super::{CAPACITY_RANGE, CorridorRow};
use throng_soa::agents::CorridorHead;
use throng_soa::bytes::{Reader, Sink, Writer};
use throng_soa::error::{DataError, DataErrorKind};
use throng_soa::mesh::PolyRef;

const VERSION: u8 = 1;
const COMPLETE: u8 = 1;
const NEEDS_REPLAN: u8 = 2;
const FROM_START: u8 = 4;

/// Appends a corridor: 66 bytes and 8 per polygon.
pub(crate) fn write<S: Sink>(writer: &mut Writer<S>, head: &CorridorHead, polys: &[PolyRef]) {
    writer.u8(VERSION);
    let flag = |set: bool, bit: u8| if set { bit } else { 0 };
    writer.u8(flag(head.complete, COMPLETE)
        | flag(head.needs_replan, NEEDS_REPLAN)
        | flag(head.from_start, FROM_START));
    writer.i32(head.capacity as i32);
    writer.i32(polys.len() as i32);
    writer.point(head.position);
    writer.point(head.target);
    writer.u64(head.target_poly.bits());
    for poly in polys {
        writer.u64(poly.bits());
    }
}

/// Reads a corridor of exactly `capacity` into `row`'s storage, which must hold that many.
pub(crate) fn read(
    reader: &mut Reader<'_>,
    capacity: usize,
    row: &mut CorridorRow<'_>,
) -> Result<(), DataError> {
    let at = reader.offset();
    let version = reader.u8("corridor version")?;
    if version != VERSION {
        return Err(reader.error_at(
            at,
            "corridor version",
            DataErrorKind::Version {
                found: u32::from(version),
                expected: u32::from(VERSION),
            },
            format!("is {version}; this release reads version {VERSION}"),
        ));
    }
    let at = reader.offset();
    let flags = reader.u8("corridor flags")?;
    if flags > COMPLETE | NEEDS_REPLAN | FROM_START {
        return Err(reader.error_at(
            at,
            "corridor flags",
            DataErrorKind::Value,
            format!("is {flags:#04X}; only bits 0 to 2 may be set"),
        ));
    }
    let at = reader.offset();
    let found = reader.i32("corridor capacity")?;
    let in_range = CAPACITY_RANGE.0 <= capacity && capacity <= CAPACITY_RANGE.1;
    if i64::from(found) != capacity as i64 || !in_range {
        return Err(reader.error_at(
            at,
            "corridor capacity",
            DataErrorKind::Value,
            format!("is {found}; the settings give {capacity}"),
        ));
    }
    let at = reader.offset();
    let count = reader.u32("corridor polygon count")? as usize;
    if count > capacity || 56 + 8 * count > reader.remaining() {
        return Err(reader.error_at(
            at,
            "corridor polygon count",
            DataErrorKind::Count,
            format!("is {count}; at most {capacity}, and no more than the bytes hold"),
        ));
    }
    *row.head = CorridorHead {
        count: count as u32,
        capacity: capacity as u32,
        complete: flags & COMPLETE != 0,
        needs_replan: flags & NEEDS_REPLAN != 0,
        from_start: flags & FROM_START != 0,
        position: reader.point("corridor position")?,
        target: reader.point("corridor target")?,
        target_poly: PolyRef::from_bits(reader.u64("corridor target polygon")?),
    };
    for poly in &mut row.path[..count] {
        *poly = PolyRef::from_bits(reader.u64("corridor polygon")?);
    }
    Ok(())
}

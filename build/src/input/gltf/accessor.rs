//! Accessors: typed views of a buffer.
//!
//! In: the index of an accessor and what it must hold. Out: an [`Elements`] whose bytes have been
//! checked to lie inside its view, and the view inside its buffer.

use throng_soa::error::{DataError, DataErrorKind};

use super::buffers::Buffers;
use super::json::Json;

/// Largest stride of a view, in bytes.
const MAX_STRIDE: u64 = 252;

const UNSIGNED_BYTE: u64 = 5121;
const UNSIGNED_SHORT: u64 = 5123;
const UNSIGNED_INT: u64 = 5125;
const FLOAT: u64 = 5126;

/// What an accessor must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Three floats.
    Positions,
    /// One unsigned integer of 1, 2 or 4 bytes.
    Indices,
}

/// The elements of an accessor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elements<'a> {
    /// From the first element to the end of the last.
    bytes: &'a [u8],
    stride: usize,
    size: usize,
    count: usize,
}

impl Elements<'_> {
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// An index, of any of the three widths.
    pub(super) fn index(&self, element: usize) -> u32 {
        let start = element * self.stride;
        let bytes = &self.bytes[start..start + self.size];
        bytes
            .iter()
            .rev()
            .fold(0, |value, &byte| value << 8 | u32::from(byte))
    }

    /// Three floats, finite or not.
    pub(super) fn position(&self, element: usize) -> [f32; 3] {
        let start = element * self.stride;
        let bytes = &self.bytes[start..start + 12];
        [0, 4, 8]
            .map(|at| f32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]))
    }
}

/// Resolves the accessor that `reference` names.
pub(super) fn resolve<'a>(
    root: Json<'_, '_>,
    buffers: &'a Buffers<'_>,
    reference: Json<'_, '_>,
    wanted: Wanted,
) -> Result<Elements<'a>, DataError> {
    let index = reference.integer()?;
    let list = root.get("accessors")?;
    let accessor = match &list {
        Some(list) => list.at(index)?,
        None => None,
    };
    let Some(accessor) = accessor else {
        return Err(reference.error(
            DataErrorKind::Value,
            format!("accessor {index}, which does not exist"),
        ));
    };
    if accessor.get("sparse")?.is_some() {
        let problem = "a sparse accessor, which is not read";
        return Err(accessor.error(DataErrorKind::Value, problem));
    }
    let size = element_size(accessor, wanted)?;
    let count = accessor.need("count")?.integer()?;
    let offset = offset_of(accessor)?;
    let view_index = accessor.need("bufferView")?;
    let views = root.get("bufferViews")?;
    let view = match &views {
        Some(views) => views.at(view_index.integer()?)?,
        None => None,
    };
    let Some(view) = view else {
        let problem = format!("view {}, which does not exist", view_index.integer()?);
        return Err(view_index.error(DataErrorKind::Value, problem));
    };
    let (bytes, stride) = view_bytes(buffers, view, size)?;
    // No sum of 64-bit numbers overflows 128 bits, nor does this product.
    let needed = match count {
        0 => 0,
        _ => u128::from(count - 1) * u128::from(stride) + u128::from(size),
    };
    let end = u128::from(offset) + needed;
    if end > bytes.len() as u128 {
        return Err(accessor.error(
            DataErrorKind::Count,
            format!(
                "{count} elements end at byte {end} of a view of {}",
                bytes.len()
            ),
        ));
    }
    // Everything is now known to lie inside a slice.
    Ok(Elements {
        bytes: &bytes[offset as usize..end as usize],
        stride: stride as usize,
        size: size as usize,
        count: count as usize,
    })
}

/// Bytes of an element of an accessor that holds what is wanted.
fn element_size(accessor: Json<'_, '_>, wanted: Wanted) -> Result<u64, DataError> {
    let component = accessor.need("componentType")?;
    let shape = accessor.need("type")?;
    let size = match (wanted, component.integer()?) {
        (Wanted::Positions, FLOAT) => 12,
        (Wanted::Indices, UNSIGNED_BYTE) => 1,
        (Wanted::Indices, UNSIGNED_SHORT) => 2,
        (Wanted::Indices, UNSIGNED_INT) => 4,
        (_, other) => {
            let allowed = match wanted {
                Wanted::Positions => "positions must be floats (5126)",
                Wanted::Indices => "indices must be unsigned (5121, 5123 or 5125)",
            };
            return Err(component.error(DataErrorKind::Value, format!("{other}; {allowed}")));
        }
    };
    let needed = match wanted {
        Wanted::Positions => "VEC3",
        Wanted::Indices => "SCALAR",
    };
    if shape.text()? != needed {
        let found: String = shape.text()?.chars().take(20).collect();
        let problem = format!("{found:?}; it must be {needed}");
        return Err(shape.error(DataErrorKind::Value, problem));
    }
    if let Some(normalized) = accessor.get("normalized")? {
        if normalized.flag()? {
            return Err(normalized.error(DataErrorKind::Value, "normalized values are not read"));
        }
    }
    Ok(size)
}

/// The bytes of a view and the distance of elements of `size` bytes in it.
fn view_bytes<'a>(
    buffers: &'a Buffers<'_>,
    view: Json<'_, '_>,
    size: u64,
) -> Result<(&'a [u8], u64), DataError> {
    let index = view.need("buffer")?;
    let Some(buffer) = buffers.get(index.integer()?) else {
        let problem = format!("buffer {} of {}", index.integer()?, buffers.len());
        return Err(index.error(DataErrorKind::Value, problem));
    };
    let offset = offset_of(view)?;
    let length = view.need("byteLength")?.integer()?;
    let end = u128::from(offset) + u128::from(length);
    if end > buffer.len() as u128 {
        let problem = format!("ends at byte {end} of a buffer of {}", buffer.len());
        return Err(view.error(DataErrorKind::Count, problem));
    }
    let stride = match view.get("byteStride")? {
        Some(stride) => {
            let value = stride.integer()?;
            if !(size..=MAX_STRIDE).contains(&value) {
                let problem = format!("{value}; it must be {size} to {MAX_STRIDE}");
                return Err(stride.error(DataErrorKind::Value, problem));
            }
            value
        }
        None => size,
    };
    Ok((&buffer[offset as usize..end as usize], stride))
}

fn offset_of(holder: Json<'_, '_>) -> Result<u64, DataError> {
    holder.get("byteOffset")?.map_or(Ok(0), |o| o.integer())
}

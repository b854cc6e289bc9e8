//! The outside of a file: plain JSON, or the chunks of a binary container.
//!
//! In: the file's bytes. Out: its JSON text and its binary chunk.

use throng_soa::error::{DataError, DataErrorKind, Location};

use super::json::FORMAT;

const MAGIC: [u8; 4] = *b"glTF";
const JSON_CHUNK: u32 = 0x4E4F_534A;
const BINARY_CHUNK: u32 = 0x004E_4942;
const HEADER: u64 = 12;
const CHUNK_HEADER: u64 = 8;

/// The two parts of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Container<'a> {
    pub(super) json: &'a [u8],
    /// Only a binary file has one.
    pub(super) binary: Option<&'a [u8]>,
}

pub(super) fn is_glb(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// Splits a file. Bytes after the stated length of a container and chunks of other types are
/// ignored, as is a byte order mark before JSON.
pub(super) fn open(bytes: &[u8]) -> Result<Container<'_>, DataError> {
    if !is_glb(bytes) {
        return Ok(Container {
            json: bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes),
            binary: None,
        });
    }
    let version = word(bytes, 4, "version")?;
    if version != 2 {
        let kind = DataErrorKind::Version {
            found: version,
            expected: 2,
        };
        return Err(error("version", 4, kind, format!("{version}, not 2")));
    }
    let length = u64::from(word(bytes, 8, "length")?);
    if length < HEADER {
        let problem = format!("{length}, less than the header itself");
        return Err(error("length", 8, DataErrorKind::Value, problem));
    }
    let Some(whole) = usize::try_from(length).ok().and_then(|l| bytes.get(..l)) else {
        let problem = format!("{length} bytes, but the file holds {}", bytes.len());
        return Err(error("length", 8, DataErrorKind::Truncated, problem));
    };
    chunks(whole)
}

fn chunks(whole: &[u8]) -> Result<Container<'_>, DataError> {
    let length = whole.len() as u64;
    let (mut json, mut binary) = (None, None);
    let mut at = HEADER;
    while at < length {
        let size = u64::from(word(whole, at, "chunk length")?);
        let kind = word(whole, at + 4, "chunk type")?;
        let start = at + CHUNK_HEADER;
        if size > length - start {
            let problem = format!("{size} bytes, but {} are left", length - start);
            return Err(error("chunk length", at, DataErrorKind::Truncated, problem));
        }
        // Both ends lie inside the slice, so they are indices.
        let chunk = &whole[start as usize..(start + size) as usize];
        match kind {
            JSON_CHUNK if json.is_none() => json = Some(chunk),
            BINARY_CHUNK if binary.is_none() => binary = Some(chunk),
            _ => {}
        }
        at = start + size.next_multiple_of(4);
    }
    match json {
        Some(json) => Ok(Container { json, binary }),
        None => Err(error(
            "chunks",
            HEADER,
            DataErrorKind::Value,
            "there is no JSON chunk".to_owned(),
        )),
    }
}

fn word(bytes: &[u8], at: u64, field: &str) -> Result<u32, DataError> {
    let word = usize::try_from(at).ok().and_then(|at| bytes.get(at..));
    match word.and_then(<[u8]>::first_chunk) {
        Some(word) => Ok(u32::from_le_bytes(*word)),
        None => Err(error(
            field,
            at,
            DataErrorKind::Truncated,
            "the file ends here".to_owned(),
        )),
    }
}

#[cold]
fn error(field: &str, at: u64, kind: DataErrorKind, problem: String) -> DataError {
    DataError::new(FORMAT, field, Location::Offset(at), kind, problem)
}

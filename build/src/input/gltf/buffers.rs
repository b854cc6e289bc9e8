//! The bytes behind `buffers`.
//!
//! In: the document, the binary chunk, the caller's way to other files. Out: the bytes of each
//! buffer, cut to its stated length. A URI named twice is fetched, or decoded, once.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use throng_soa::error::{DataError, DataErrorKind};

use super::ResolveBuffer;
use super::json::Json;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Every buffer of a document.
#[derive(Debug)]
pub(super) struct Buffers<'a> {
    stored: Vec<Cow<'a, [u8]>>,
    /// Per buffer: which of the stored ones it is, and its length.
    buffers: Vec<(usize, usize)>,
}

impl Buffers<'_> {
    /// The bytes of a buffer; nothing when there is no such buffer.
    pub(super) fn get(&self, index: u64) -> Option<&[u8]> {
        let index = usize::try_from(index).ok()?;
        let &(stored, length) = self.buffers.get(index)?;
        self.stored[stored].get(..length)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.buffers.len()
    }
}

/// Brings in every buffer.
pub(super) fn read<'a>(
    root: Json<'_, '_>,
    binary: Option<&'a [u8]>,
    resolve: Option<ResolveBuffer<'_>>,
) -> Result<Buffers<'a>, DataError> {
    let mut all = Buffers {
        stored: Vec::new(),
        buffers: Vec::new(),
    };
    let Some(list) = root.get("buffers")? else {
        return Ok(all);
    };
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, buffer) in list.each()?.enumerate() {
        let length = buffer.need("byteLength")?;
        let uri = buffer.get("uri")?;
        let stored = match uri {
            None => {
                let own = binary.filter(|_| index == 0);
                let Some(binary) = own else {
                    let problem = "no uri, and no binary chunk that it could stand for";
                    return Err(buffer.error(DataErrorKind::Value, problem));
                };
                all.stored.push(Cow::Borrowed(binary));
                all.stored.len() - 1
            }
            Some(uri) => match known.get(uri.text()?) {
                Some(&stored) => stored,
                None => {
                    all.stored.push(Cow::Owned(fetch(uri, resolve)?));
                    known.insert(uri.text()?, all.stored.len() - 1);
                    all.stored.len() - 1
                }
            },
        };
        let held = all.stored[stored].len();
        match usize::try_from(length.integer()?) {
            Ok(length) if length <= held => all.buffers.push((stored, length)),
            _ => {
                let problem = format!("{} bytes, but there are {held}", length.integer()?);
                return Err(length.error(DataErrorKind::Truncated, problem));
            }
        }
    }
    Ok(all)
}

fn fetch(uri: Json<'_, '_>, resolve: Option<ResolveBuffer<'_>>) -> Result<Vec<u8>, DataError> {
    let text = uri.text()?;
    let scheme = text.get(..5).unwrap_or_default();
    if scheme.eq_ignore_ascii_case("data:") {
        return decode(uri, &text[5..]);
    }
    let name: String = text.chars().take(200).collect();
    let answer = match resolve {
        Some(resolve) => resolve(text),
        None => Err("the buffer is in another file, and nobody was given to fetch it".to_owned()),
    };
    answer.map_err(|why| uri.error(DataErrorKind::Value, format!("{name:?}: {why}")))
}

/// The bytes of a data URI, given without its scheme.
fn decode(uri: Json<'_, '_>, rest: &str) -> Result<Vec<u8>, DataError> {
    let parts = rest.split_once(',');
    let coded = parts.and_then(|(media, data)| {
        let coding = media.rsplit(';').next().unwrap_or_default();
        let is_base64 = media.contains(';') && coding.trim().eq_ignore_ascii_case("base64");
        is_base64.then_some(data)
    });
    let Some(data) = coded else {
        let problem = "a data URI that is not base64";
        return Err(uri.error(DataErrorKind::Text, problem));
    };
    BASE64
        .decode(data)
        .map_err(|error| uri.error(DataErrorKind::Text, format!("bad base64: {error}")))
}

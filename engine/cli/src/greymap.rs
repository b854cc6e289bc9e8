//! Height grids as pictures: binary greymaps (PGM, `P5`) of 8 or 16 bits.
//!
//! In: the bytes. Out: a grey level per point, x along a line of the picture and z from line to
//! line, so that the picture is the level seen from above as pictures here show it. How far apart the
//! points are and how high a level is, is the caller's to say.

use std::ops::RangeInclusive;

use throng::parts::soa::bytes::Reader;
use throng::{ArgumentError, DVec2, DataError, DataErrorKind, Soup, height_grid_soup};

const FORMAT: &str = "PGM";
/// Most digits of a number in the header.
const MOST_DIGITS: usize = 9;

/// The largest of so many.
const MOST: u32 = 999_999_999;
/// Fewest points a side: between two there is ground.
const FEWEST: u32 = 2;

/// A greymap.
#[derive(Debug)]
pub(crate) struct Greymap {
    pub(crate) width: u32,
    pub(crate) depth: u32,
    /// Grey levels, line by line.
    pub(crate) levels: Vec<u16>,
}

/// Whether the bytes are a greymap.
pub(crate) fn is_greymap(bytes: &[u8]) -> bool {
    matches!(bytes, [b'P', b'5', space, ..] if space.is_ascii_whitespace() || *space == b'#')
}

/// Reads a greymap, which is one picture and nothing more.
///
/// # Errors
/// Names the field and its byte.
pub(crate) fn read(bytes: &[u8]) -> Result<Greymap, DataError> {
    let mut reader = Reader::new(FORMAT, bytes);
    reader.bytes("magic", 2)?;
    let width = number(&mut reader, bytes, "width", FEWEST..=MOST)?;
    let depth = number(&mut reader, bytes, "height", FEWEST..=MOST)?;
    let most = number(&mut reader, bytes, "largest level", 1..=65535)?;
    let each = if most < 256 { 1 } else { 2 };
    let length = u64::from(width) * u64::from(depth) * each;
    let here = reader.remaining() as u64;
    if length != here {
        let kind = if length > here {
            DataErrorKind::Truncated
        } else {
            DataErrorKind::Trailing
        };
        let problem = format!("{width} x {depth} take {length} bytes; {here} follow");
        return Err(reader.error("levels", kind, problem));
    }
    let start = reader.offset();
    let data = reader.bytes("levels", length as usize)?;
    let level = |pair: &[u8]| {
        let byte = |place: usize| pair.get(place).copied().unwrap_or(0);
        match each {
            1 => u16::from(byte(0)),
            _ => u16::from_be_bytes([byte(0), byte(1)]),
        }
    };
    let levels: Vec<u16> = data.chunks_exact(each as usize).map(level).collect();
    let bad = levels.iter().position(|&level| u32::from(level) > most);
    if let Some(place) = bad {
        let problem = format!("is {}; the largest is to be {most}", levels[place]);
        let at = start + place as u64 * each;
        return Err(reader.error_at(at, "level", DataErrorKind::Value, problem));
    }
    Ok(Greymap {
        width,
        depth,
        levels,
    })
}

impl Greymap {
    /// The ground: points `spacing` apart from (0, 0) on, each grey level `rise` high.
    pub(crate) fn soup(&self, spacing: f64, rise: f64) -> Result<Soup, ArgumentError> {
        let height = |&level: &u16| f64::from(level) * rise;
        let heights: Vec<f64> = self.levels.iter().map(height).collect();
        height_grid_soup(&heights, self.width, self.depth, DVec2::ZERO, spacing)
    }
}

/// A number of the header: spaces and comments, digits, and one space behind them.
fn number(
    reader: &mut Reader<'_>,
    bytes: &[u8],
    field: &str,
    range: RangeInclusive<u32>,
) -> Result<u32, DataError> {
    let (least, most) = (*range.start(), *range.end());
    let next = |reader: &Reader<'_>| bytes.get(reader.offset() as usize).copied();
    while let Some(byte) = next(reader) {
        if byte == b'#' {
            while next(reader).is_some_and(|byte| byte != b'\n') {
                reader.u8("comment")?;
            }
        } else if byte.is_ascii_whitespace() {
            reader.u8("space")?;
        } else {
            break;
        }
    }
    let at = reader.offset();
    let (mut value, mut digits) = (0_u32, 0);
    while let Some(byte @ b'0'..=b'9') = next(reader) {
        reader.u8(field)?;
        digits += 1;
        if digits > MOST_DIGITS {
            break;
        }
        value = value * 10 + u32::from(byte - b'0');
    }
    let ends = next(reader).is_none_or(|byte| byte.is_ascii_whitespace());
    if !ends || digits == 0 || digits > MOST_DIGITS || value > most {
        let problem = format!("is no whole number from {least} on, at most {most}");
        return Err(reader.error_at(at, field, DataErrorKind::Text, problem));
    }
    if value < least {
        let problem = format!("is {value}; it must be at least {least}");
        return Err(reader.error_at(at, field, DataErrorKind::Value, problem));
    }
    reader.u8("space")?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_widths_and_comments_are_read() {
        let small = read(b"P5\n# by hand\n2 3 255\n\x00\x01\x02\x03\x04\xff").unwrap();
        assert_eq!((small.width, small.depth), (2, 3));
        assert_eq!(small.levels, [0, 1, 2, 3, 4, 255]);
        let wide = read(b"P5 2 2\t65535 \x00\x01\x01\x00\x00\x00\xff\xff").unwrap();
        assert_eq!(wide.levels, [1, 256, 0, 65535]);
        let soup = wide.soup(2.0, 0.5).unwrap();
        assert_eq!(soup.vertices()[3].to_array(), [2.0, 32767.5, 2.0]);
        assert!(wide.soup(2.0, 1e6).is_err());
    }

    #[test]
    fn bad_files_are_refused_at_their_byte() {
        let good = b"P5\n2 2\n300\n\x00\x01\x01\x2c\x00\x00\x00\x07";
        assert!(read(good).is_ok());
        for length in 2..good.len() {
            assert!(read(&good[..length]).is_err(), "{length}");
        }
        for (bytes, words) in [
            (
                &b"P5 2 2 300 \x00\x01\x01\x2d\x00\x00\x00\x07"[..],
                "level at byte 13: is 301",
            ),
            (
                b"P5 2 2 300 \x00\x01\x01\x2c\x00\x00\x00\x07\n",
                "take 8 bytes; 9 follow",
            ),
            (
                b"P5\n1 2\n255\n\x01\x02",
                "PGM: width at byte 3: is 1; it must be at least 2",
            ),
            (
                b"P5 2 1 255 \x01\x02",
                "PGM: height at byte 5: is 1; it must be at least 2",
            ),
            (
                b"P5 0 2 255 ",
                "width at byte 3: is 0; it must be at least 2",
            ),
            (b"P5 2 2 0 ", "largest level at byte 7: is 0; it must be at"),
            (b"P5 2 -2 255 ", "height at byte 5"),
            (b"P5 2 2 65536 ", "largest level at byte 7"),
            (b"P5 4294967296 2 255 ", "width at byte 3"),
            (b"P5 99999999999999999999 2 255 ", "width at byte 3"),
            (b"P5 999999999 999999999 65535 ", "levels at byte 29"),
            (b"P5 2x2 255 ", "width at byte 3"),
            (b"P5 #", "width at byte 4"),
        ] {
            let error = read(bytes).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}

//! Little-endian byte reader and writer, the only way a format touches bytes.
//!
//! A [`Reader`] checks every length against the bytes that are left before anything is allocated
//! and names the field and the offset when it refuses. A [`Writer`] appends to a byte sink: a
//! vector, a fixed slice, a counter or a running hash, so one piece of code gives the bytes, their
//! length and their hash, and the three cannot drift apart.

use crate::digest::Fnv1a64;
use crate::error::{DataError, DataErrorKind, Location};
use crate::world::{COORDINATE_LIMIT, DVec3};

/// A cursor over untrusted bytes.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    format: &'static str,
    bytes: &'a [u8],
    at: usize,
    base: u64,
}

impl<'a> Reader<'a> {
    /// A reader of `bytes` whose errors say they are about `format`.
    #[must_use]
    pub fn new(format: &'static str, bytes: &'a [u8]) -> Self {
        Self {
            format,
            bytes,
            at: 0,
            base: 0,
        }
    }

    /// Bytes read so far, counted from the start of the outermost input.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// Bytes not read yet.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// An error about `field` at the current offset.
    #[cold]
    pub fn error(&self, field: &str, kind: DataErrorKind, problem: impl Into<String>) -> DataError {
        self.error_at(self.offset(), field, kind, problem)
    }

    /// An error about `field` at a given offset.
    #[cold]
    pub fn error_at(
        &self,
        offset: u64,
        field: &str,
        kind: DataErrorKind,
        problem: impl Into<String>,
    ) -> DataError {
        DataError::new(self.format, field, Location::Offset(offset), kind, problem)
    }

    /// The next `count` bytes.
    ///
    /// # Errors
    /// [`DataErrorKind::Truncated`] when fewer are left.
    pub fn bytes(&mut self, field: &str, count: usize) -> Result<&'a [u8], DataError> {
        if count > self.remaining() {
            return Err(self.error(
                field,
                DataErrorKind::Truncated,
                format!("needs {count} bytes, {} are left", self.remaining()),
            ));
        }
        let taken = &self.bytes[self.at..self.at + count];
        self.at += count;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, field: &str) -> Result<[u8; N], DataError> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(field, N)?);
        Ok(array)
    }

    /// A reader over the next `count` bytes, whose offsets go on counting from this one's.
    ///
    /// # Errors
    /// Truncated when fewer are left.
    pub fn part(
        &mut self,
        format: &'static str,
        field: &str,
        count: usize,
    ) -> Result<Reader<'a>, DataError> {
        let base = self.offset();
        let bytes = self.bytes(field, count)?;
        Ok(Reader {
            format,
            bytes,
            at: 0,
            base,
        })
    }

    /// One byte.
    ///
    /// # Errors
    /// Truncated.
    pub fn u8(&mut self, field: &str) -> Result<u8, DataError> {
        Ok(self.array::<1>(field)?[0])
    }

    /// A 16-bit unsigned integer.
    ///
    /// # Errors
    /// Truncated.
    pub fn u16(&mut self, field: &str) -> Result<u16, DataError> {
        Ok(u16::from_le_bytes(self.array(field)?))
    }

    /// A 32-bit unsigned integer.
    ///
    /// # Errors
    /// Truncated.
    pub fn u32(&mut self, field: &str) -> Result<u32, DataError> {
        Ok(u32::from_le_bytes(self.array(field)?))
    }

    /// A 32-bit signed integer.
    ///
    /// # Errors
    /// Truncated.
    pub fn i32(&mut self, field: &str) -> Result<i32, DataError> {
        Ok(i32::from_le_bytes(self.array(field)?))
    }

    /// A 64-bit unsigned integer.
    ///
    /// # Errors
    /// Truncated.
    pub fn u64(&mut self, field: &str) -> Result<u64, DataError> {
        Ok(u64::from_le_bytes(self.array(field)?))
    }

    /// A float32 by bit pattern.
    ///
    /// # Errors
    /// Truncated.
    pub fn f32(&mut self, field: &str) -> Result<f32, DataError> {
        Ok(f32::from_le_bytes(self.array(field)?))
    }

    /// A float64 by bit pattern.
    ///
    /// # Errors
    /// Truncated.
    pub fn f64(&mut self, field: &str) -> Result<f64, DataError> {
        Ok(f64::from_le_bytes(self.array(field)?))
    }

    /// A flag byte that must be 0 or 1.
    ///
    /// # Errors
    /// Truncated, or another value.
    pub fn flag(&mut self, field: &str) -> Result<bool, DataError> {
        let at = self.offset();
        match self.u8(field)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.error_at(
                at,
                field,
                DataErrorKind::Value,
                format!("is {other}; a flag is 0 or 1"),
            )),
        }
    }

    /// A finite float64.
    ///
    /// # Errors
    /// Truncated, infinite or not a number.
    pub fn finite(&mut self, field: &str) -> Result<f64, DataError> {
        let at = self.offset();
        let value = self.f64(field)?;
        if value.is_finite() {
            return Ok(value);
        }
        Err(self.error_at(
            at,
            field,
            DataErrorKind::Value,
            format!("is {value}; it must be finite"),
        ))
    }

    /// A world coordinate, finite and strictly inside ±2^21.
    ///
    /// # Errors
    /// Truncated or outside the bound.
    pub fn coordinate(&mut self, field: &str) -> Result<f64, DataError> {
        let at = self.offset();
        let value = self.f64(field)?;
        if value.abs() < COORDINATE_LIMIT {
            return Ok(value);
        }
        Err(self.error_at(
            at,
            field,
            DataErrorKind::Value,
            format!("is {value}; coordinates are finite and strictly inside ±2^21"),
        ))
    }

    /// Three world coordinates.
    ///
    /// # Errors
    /// Truncated or outside the bound.
    pub fn point(&mut self, field: &str) -> Result<DVec3, DataError> {
        let x = self.coordinate(field)?;
        let y = self.coordinate(field)?;
        let z = self.coordinate(field)?;
        Ok(DVec3::new(x, y, z))
    }

    /// A `u32` count of items that take at least `item_bytes` each: it may not exceed `limit` nor
    /// what the remaining bytes can hold, so allocating for it is always justified.
    ///
    /// # Errors
    /// Truncated, or [`DataErrorKind::Count`].
    pub fn count(
        &mut self,
        field: &str,
        item_bytes: usize,
        limit: usize,
    ) -> Result<usize, DataError> {
        let at = self.offset();
        let count = self.u32(field)? as usize;
        let most = limit.min(self.remaining() / item_bytes.max(1));
        if count <= most {
            return Ok(count);
        }
        Err(self.error_at(
            at,
            field,
            DataErrorKind::Count,
            format!("is {count}; at most {most} fit here"),
        ))
    }

    /// The four bytes that open a format.
    ///
    /// # Errors
    /// Truncated, or [`DataErrorKind::Magic`].
    pub fn magic(&mut self, magic: [u8; 4]) -> Result<(), DataError> {
        let at = self.offset();
        let found: [u8; 4] = self.array("magic")?;
        if found == magic {
            return Ok(());
        }
        Err(self.error_at(
            at,
            "magic",
            DataErrorKind::Magic,
            format!(
                "is {}; the format begins with {}",
                spelled(found),
                spelled(magic)
            ),
        ))
    }

    /// A `u16` version that must equal `expected`.
    ///
    /// # Errors
    /// Truncated, or [`DataErrorKind::Version`].
    pub fn version(&mut self, expected: u16) -> Result<(), DataError> {
        let at = self.offset();
        let found = self.u16("version")?;
        if found == expected {
            return Ok(());
        }
        Err(self.error_at(
            at,
            "version",
            DataErrorKind::Version {
                found: u32::from(found),
                expected: u32::from(expected),
            },
            format!("is {found}; this release reads version {expected}"),
        ))
    }

    /// A `u16` field that must be 0 (flags and reserved space).
    ///
    /// # Errors
    /// Truncated or any bit set.
    pub fn zero_u16(&mut self, field: &str) -> Result<(), DataError> {
        let at = self.offset();
        match self.u16(field)? {
            0 => Ok(()),
            other => Err(self.error_at(
                at,
                field,
                DataErrorKind::Value,
                format!("is {other:#06X}; no bit may be set"),
            )),
        }
    }

    /// Ends the reading: nothing may be left.
    ///
    /// # Errors
    /// [`DataErrorKind::Trailing`].
    pub fn finish(&self) -> Result<(), DataError> {
        if self.remaining() == 0 {
            return Ok(());
        }
        Err(self.error(
            "end",
            DataErrorKind::Trailing,
            format!("{} bytes follow the end of the data", self.remaining()),
        ))
    }
}

/// Four bytes for people: as text where they are, else by value.
fn spelled(magic: [u8; 4]) -> String {
    match core::str::from_utf8(&magic) {
        Ok(text) if magic.iter().all(u8::is_ascii_graphic) => format!("\"{text}\""),
        _ => format!("{magic:02X?}"),
    }
}

/// Where a [`Writer`] puts its bytes.
pub trait Sink {
    /// Takes the next bytes.
    fn put(&mut self, bytes: &[u8]);
}

impl Sink for Vec<u8> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

impl Sink for Fnv1a64 {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.update(bytes);
    }
}

/// A sink that only counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Length(pub usize);

impl Sink for Length {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.0 += bytes.len();
    }
}

/// A sink over a fixed buffer. Bytes beyond its end are counted and dropped.
#[derive(Debug)]
pub struct Buffer<'a> {
    bytes: &'a mut [u8],
    written: usize,
}

impl<'a> Buffer<'a> {
    /// Writes into `bytes` from the start.
    pub fn new(bytes: &'a mut [u8]) -> Self {
        Self { bytes, written: 0 }
    }

    /// The number of bytes written when all of them fitted.
    #[must_use]
    pub fn written(&self) -> Option<usize> {
        (self.written <= self.bytes.len()).then_some(self.written)
    }
}

impl Sink for Buffer<'_> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        let end = self.written + bytes.len();
        if let Some(room) = self.bytes.get_mut(self.written..end) {
            room.copy_from_slice(bytes);
        }
        self.written = end;
    }
}

/// Appends little-endian fields to a [`Sink`].
///
/// A length is written in 32 bits. One that does not fit is remembered: [`finish`](Self::finish) then
/// refuses what was written, which no reader would take.
#[derive(Debug, Default)]
pub struct Writer<S: Sink = Vec<u8>> {
    sink: S,
    /// The first length that did not fit, and the most that would have.
    overlong: Option<(usize, u32)>,
}

impl<S: Sink> Writer<S> {
    /// A writer into `sink`.
    pub fn new(sink: S) -> Self {
        Self {
            sink,
            overlong: None,
        }
    }

    /// The sink with everything written, whether or not every length fitted: for counting.
    pub fn into_sink(self) -> S {
        self.sink
    }

    /// The sink with everything written; `format` is what the error is about.
    ///
    /// # Errors
    /// [`DataErrorKind::Limit`]: a length did not fit.
    pub fn finish(self, format: &'static str) -> Result<S, DataError> {
        let Some((length, most)) = self.overlong else {
            return Ok(self.sink);
        };
        let problem = format!("is {length}; the format holds at most {most}");
        let (at, kind) = (Location::Nowhere, DataErrorKind::Limit);
        Err(DataError::new(format, "length", at, kind, problem))
    }

    /// [`finish`](Self::finish) for a form that has no way to refuse. Any bytes it could return would
    /// be a loss that shows only when they are read.
    ///
    /// # Panics
    /// A length did not fit: from 2 or 4 GiB on.
    pub fn finish_or_panic(self, format: &'static str) -> S {
        match self.finish(format) {
            Ok(sink) => sink,
            Err(error) => panic!("{error}"),
        }
    }

    /// Raw bytes.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.sink.put(bytes);
    }

    /// One byte.
    #[inline]
    pub fn u8(&mut self, value: u8) {
        self.sink.put(&[value]);
    }

    /// A flag as 0 or 1.
    #[inline]
    pub fn flag(&mut self, value: bool) {
        self.u8(u8::from(value));
    }

    /// A 16-bit unsigned integer.
    #[inline]
    pub fn u16(&mut self, value: u16) {
        self.sink.put(&value.to_le_bytes());
    }

    /// A 32-bit unsigned integer.
    #[inline]
    pub fn u32(&mut self, value: u32) {
        self.sink.put(&value.to_le_bytes());
    }

    /// A length or count in an unsigned 32-bit field.
    #[inline]
    pub fn length(&mut self, length: usize) {
        self.u32(u32::try_from(length).unwrap_or(u32::MAX));
        self.note(length, u32::MAX);
    }

    /// A length in a signed 32-bit field.
    #[inline]
    pub fn length_i32(&mut self, length: usize) {
        self.i32(i32::try_from(length).unwrap_or(i32::MAX));
        self.note(length, i32::MAX.unsigned_abs());
    }

    fn note(&mut self, length: usize, most: u32) {
        if self.overlong.is_none() && length > most as usize {
            self.overlong = Some((length, most));
        }
    }

    /// A 32-bit signed integer.
    #[inline]
    pub fn i32(&mut self, value: i32) {
        self.sink.put(&value.to_le_bytes());
    }

    /// A 64-bit unsigned integer.
    #[inline]
    pub fn u64(&mut self, value: u64) {
        self.sink.put(&value.to_le_bytes());
    }

    /// A float32 by bit pattern.
    #[inline]
    pub fn f32(&mut self, value: f32) {
        self.sink.put(&value.to_le_bytes());
    }

    /// A float64 by bit pattern.
    #[inline]
    pub fn f64(&mut self, value: f64) {
        self.sink.put(&value.to_le_bytes());
    }

    /// Three float64.
    #[inline]
    pub fn point(&mut self, point: DVec3) {
        self.f64(point.x);
        self.f64(point.y);
        self.f64(point.z);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back_and_the_end_is_checked() {
        let mut writer = Writer::new(Vec::new());
        writer.u8(7);
        writer.u16(0x1234);
        writer.i32(-5);
        writer.f64(-0.0);
        let bytes = writer.into_sink();
        let mut reader = Reader::new("test", &bytes);
        assert_eq!(reader.u8("a").unwrap(), 7);
        assert_eq!(reader.u16("b").unwrap(), 0x1234);
        assert_eq!(reader.i32("c").unwrap(), -5);
        assert!(reader.finish().is_err());
        assert_eq!(reader.f64("d").unwrap().to_bits(), (-0.0_f64).to_bits());
        reader.finish().unwrap();
        let error = reader.u8("e").unwrap_err();
        assert_eq!(
            (error.at, error.kind),
            (Location::Offset(15), DataErrorKind::Truncated)
        );
    }

    #[test]
    fn a_wrong_magic_is_spelled_as_text_where_it_is_some() {
        for (found, words) in [
            (*b"ONTK", "is \"ONTK\"; the format begins with \"OPCS\""),
            (
                [0, 1, 2, 255],
                "is [00, 01, 02, FF]; the format begins with \"OPCS\"",
            ),
            (
                *b"a\tb\n",
                "is [61, 09, 62, 0A]; the format begins with \"OPCS\"",
            ),
        ] {
            let error = Reader::new("test", &found).magic(*b"OPCS").unwrap_err();
            assert_eq!(error.problem, words);
        }
    }

    #[test]
    fn a_count_larger_than_the_rest_is_refused_before_allocating() {
        let bytes = [255, 255, 255, 255, 1, 2, 3];
        let error = Reader::new("test", &bytes)
            .count("items", 1, 1 << 20)
            .unwrap_err();
        assert_eq!(error.kind, DataErrorKind::Count);
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn a_length_that_does_not_fit_is_refused_at_the_end() {
        let unsigned = |length: usize| {
            let mut room = [0; 8];
            let mut writer = Writer::new(Buffer::new(&mut room));
            writer.length(length);
            writer.u32(7);
            writer.finish("test").map(|sink| sink.written())
        };
        assert_eq!(unsigned(0), Ok(Some(8)));
        assert_eq!(unsigned(u32::MAX as usize), Ok(Some(8)));
        let signed = |length: usize| {
            let mut writer = Writer::new(Length::default());
            writer.length_i32(length);
            writer.length_i32(1);
            writer.finish("test").map(|sink| sink.0)
        };
        assert_eq!(signed(i32::MAX as usize), Ok(8));
        for refused in [unsigned(1 << 32).unwrap_err(), signed(1 << 31).unwrap_err()] {
            assert_eq!(refused.kind, DataErrorKind::Limit);
            assert_eq!((refused.format, refused.field.as_str()), ("test", "length"));
        }
        // Counting goes on, and the first of them is named.
        let mut writer = Writer::new(Length::default());
        for length in [5, 1 << 33, 1 << 34] {
            writer.length(length);
        }
        let error = writer.finish("test").unwrap_err();
        assert!(error.problem.contains("8589934592"), "{error}");
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    #[should_panic(expected = "test: length: is 4294967296")]
    fn bytes_without_a_way_to_refuse_are_not_returned() {
        let mut writer = Writer::new(Vec::new());
        writer.length(1 << 32);
        writer.finish_or_panic("test");
    }

    #[test]
    fn a_short_buffer_reports_that_it_was_short() {
        let mut room = [0; 3];
        let mut writer = Writer::new(Buffer::new(&mut room));
        writer.u16(1);
        writer.u16(2);
        assert_eq!(writer.into_sink().written(), None);
    }
}

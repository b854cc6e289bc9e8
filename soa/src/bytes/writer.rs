//! The writer and its sinks: fields into a vector, a fixed slice, a counter or a hash.

use crate::digest::Fnv1a64;
use crate::error::{DataError, DataErrorKind, Location};
use crate::world::DVec3;

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

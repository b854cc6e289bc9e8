//! The reader: fields out of bytes from anywhere.

use crate::error::{DataError, DataErrorKind, Location};
use crate::world::{COORDINATE_LIMIT, DVec3};
use bytemuck::Pod;

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

    /// `count` values that stand one after the other, copied in one go. `from_le` is the values' own
    /// function of that name; a little-endian machine does not call it.
    ///
    /// # Errors
    /// Truncated.
    pub fn column<T: Pod>(
        &mut self,
        field: &str,
        count: usize,
        from_le: impl Fn(T) -> T,
    ) -> Result<Vec<T>, DataError> {
        let length = count.saturating_mul(size_of::<T>());
        let mut column: Vec<T> = bytemuck::pod_collect_to_vec(self.bytes(field, length)?);
        if cfg!(target_endian = "big") {
            column.iter_mut().for_each(|value| *value = from_le(*value));
        }
        Ok(column)
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

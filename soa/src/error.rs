//! The two error kinds that leave a library call: misuse and bad data.
//!
//! The third kind of bad news, an expected outcome such as "no path", is a status value of the
//! call's own result type and never an error. Nothing has changed when a call returns an error.

use core::fmt;

/// A mistake in the call: an argument outside its allowed range or a wrong order of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentError {
    /// The argument or option field, as the caller wrote it (`options.max_speed`).
    pub argument: String,
    /// The value that was passed.
    pub value: String,
    /// What is allowed instead.
    pub allowed: String,
}

impl ArgumentError {
    /// An error about `argument`, whose `value` is not `allowed`.
    #[cold]
    pub fn new(
        argument: impl Into<String>,
        value: impl ToString,
        allowed: impl Into<String>,
    ) -> Self {
        Self {
            argument: argument.into(),
            value: value.to_string(),
            allowed: allowed.into(),
        }
    }
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            argument,
            value,
            allowed,
        } = self;
        write!(f, "{argument} is {value}; it must be {allowed}")
    }
}

impl std::error::Error for ArgumentError {}

/// Where in the input a [`DataError`] was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// Bytes from the start of the input.
    Offset(u64),
    /// Line of a text file, counted from 1.
    Line(u64),
    /// A path into a structured document.
    Path(String),
    /// The data has no position of its own (built in memory).
    Nowhere,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Offset(offset) => write!(f, " at byte {offset}"),
            Self::Line(line) => write!(f, " on line {line}"),
            Self::Path(path) => write!(f, " at {path}"),
            Self::Nowhere => Ok(()),
        }
    }
}

/// What sort of trouble a [`DataError`] reports, for callers that branch on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DataErrorKind {
    /// The input ends inside the field.
    Truncated,
    /// Bytes follow the end of the data.
    Trailing,
    /// The first bytes are not those of the format.
    Magic,
    /// A version this release does not read.
    Version {
        /// The version in the input.
        found: u32,
        /// The version this release reads.
        expected: u32,
    },
    /// Built with other settings than the mesh it meets.
    Fingerprint,
    /// A count larger than the remaining input or the format's limit can justify.
    Count,
    /// A value outside its range, or one that contradicts another field.
    Value,
    /// Text that does not parse.
    Text,
    /// Geometry that breaks a rule of the format.
    Geometry,
    /// More of something than the format or the builder can hold.
    Limit,
}

/// Bytes, text or geometry that a reader refuses. All or nothing: the call changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataError {
    /// The format being read ("mesh", "tile", "crowd state", "OBJ", ...).
    pub format: &'static str,
    /// The field, polygon, edge or array.
    pub field: String,
    /// Where it stands in the input.
    pub at: Location,
    /// The sort of trouble.
    pub kind: DataErrorKind,
    /// What was wrong, in words.
    pub problem: String,
}

impl DataError {
    /// An error of `kind` about `field` of `format`, found `at` a place.
    #[cold]
    pub fn new(
        format: &'static str,
        field: impl Into<String>,
        at: Location,
        kind: DataErrorKind,
        problem: impl Into<String>,
    ) -> Self {
        Self {
            format,
            field: field.into(),
            at,
            kind,
            problem: problem.into(),
        }
    }

    /// The same error, its offset moved by `base` bytes (a part read from inside a larger input).
    #[must_use]
    pub fn offset_by(mut self, base: u64) -> Self {
        if let Location::Offset(offset) = &mut self.at {
            *offset = offset.saturating_add(base);
        }
        self
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            format,
            field,
            at,
            problem,
            ..
        } = self;
        write!(f, "{format}: {field}{at}: {problem}")
    }
}

impl std::error::Error for DataError {}

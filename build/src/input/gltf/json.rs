//! JSON values that know their path.
//!
//! In: the JSON text. Out: a checked tree, and [`Json`], a view of one value whose accessors either
//! give what was asked for or an error that names the path. The path is a chain of borrowed steps,
//! spelled out only when an error needs it.

use core::fmt;

use serde_json::Value;
use throng_soa::error::{DataError, DataErrorKind, Location};

/// Name of the format in errors.
pub(super) const FORMAT: &str = "glTF";
/// Deepest nesting of arrays and objects.
const MAX_NESTING: usize = 64;

/// Parses text nested at most [`MAX_NESTING`] deep.
pub(super) fn parse(text: &[u8]) -> Result<Value, DataError> {
    check_nesting(text)?;
    serde_json::from_slice(text).map_err(|error| {
        let line = Location::Line(error.line() as u64);
        let problem = error.to_string();
        // The parser's own words end with the place, which the error says already.
        let problem = problem.split(" at line ").next().unwrap_or_default();
        DataError::new(FORMAT, "JSON", line, DataErrorKind::Text, problem)
    })
}

/// Counts brackets outside of strings, so that the parser never recurses far.
fn check_nesting(text: &[u8]) -> Result<(), DataError> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                if depth > MAX_NESTING {
                    return Err(DataError::new(
                        FORMAT,
                        "JSON",
                        Location::Offset(at as u64),
                        DataErrorKind::Limit,
                        format!("nested more than {MAX_NESTING} deep"),
                    ));
                }
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

/// A value and how it was reached.
#[derive(Clone, Copy, Debug)]
pub(super) struct Json<'v, 'p> {
    value: &'v Value,
    path: Path<'p>,
}

#[derive(Clone, Copy, Debug)]
struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    step: Step,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Root,
    Key(&'static str),
    Index(usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        let below_root = self.parent.is_some_and(|p| p.parent.is_some());
        match self.step {
            Step::Root => Ok(()),
            Step::Key(key) if below_root => write!(f, ".{key}"),
            Step::Key(key) => f.write_str(key),
            Step::Index(index) => write!(f, "[{index}]"),
        }
    }
}

impl<'v> Json<'v, '_> {
    /// The document itself.
    pub(super) fn root(value: &'v Value) -> Self {
        Self {
            value,
            path: Path {
                parent: None,
                step: Step::Root,
            },
        }
    }

    /// A member of an object; nothing when it is left out.
    pub(super) fn get(&self, key: &'static str) -> Result<Option<Json<'v, '_>>, DataError> {
        let Value::Object(members) = self.value else {
            return Err(self.wrong("an object"));
        };
        Ok(members.get(key).map(|value| Json {
            value,
            path: Path {
                parent: Some(&self.path),
                step: Step::Key(key),
            },
        }))
    }

    /// A member that must be there.
    pub(super) fn need(&self, key: &'static str) -> Result<Json<'v, '_>, DataError> {
        match self.get(key)? {
            Some(member) => Ok(member),
            None => Err(self.error(DataErrorKind::Value, format!("{key} is missing"))),
        }
    }

    /// The elements of an array.
    pub(super) fn items(&self) -> Result<&'v [Value], DataError> {
        match self.value {
            Value::Array(items) => Ok(items),
            _ => Err(self.wrong("an array")),
        }
    }

    /// The elements of an array with their paths.
    pub(super) fn each(&self) -> Result<impl Iterator<Item = Json<'v, '_>>, DataError> {
        let indexed = self.items()?.iter().enumerate();
        Ok(indexed.map(|(index, value)| Json {
            value,
            path: Path {
                parent: Some(&self.path),
                step: Step::Index(index),
            },
        }))
    }

    /// Element `index` of an array; nothing when it has fewer.
    pub(super) fn at(&self, index: u64) -> Result<Option<Json<'v, '_>>, DataError> {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        Ok(self.items()?.get(index).map(|value| Json {
            value,
            path: Path {
                parent: Some(&self.path),
                step: Step::Index(index),
            },
        }))
    }

    /// A number.
    pub(super) fn number(&self) -> Result<f64, DataError> {
        let number = self.value.as_f64().filter(|number| number.is_finite());
        number.ok_or_else(|| self.wrong("a number"))
    }

    /// `N` numbers.
    pub(super) fn numbers<const N: usize>(&self) -> Result<[f64; N], DataError> {
        let items = self.items()?;
        if items.len() != N {
            let problem = format!("{} numbers instead of {N}", items.len());
            return Err(self.error(DataErrorKind::Value, problem));
        }
        let mut numbers = [0.0; N];
        for (number, item) in numbers.iter_mut().zip(self.each()?) {
            *number = item.number()?;
        }
        Ok(numbers)
    }

    /// An integer that is not negative.
    pub(super) fn integer(&self) -> Result<u64, DataError> {
        let integer = self.value.as_u64();
        integer.ok_or_else(|| self.wrong("an integer, 0 or more"))
    }

    /// True or false.
    pub(super) fn flag(&self) -> Result<bool, DataError> {
        let flag = self.value.as_bool();
        flag.ok_or_else(|| self.wrong("true or false"))
    }

    /// A string.
    pub(super) fn text(&self) -> Result<&'v str, DataError> {
        let text = self.value.as_str();
        text.ok_or_else(|| self.wrong("a string"))
    }

    /// An error about this value.
    #[cold]
    pub(super) fn error(&self, kind: DataErrorKind, problem: impl Into<String>) -> DataError {
        let (field, path) = match self.path.step {
            Step::Root => ("document".to_owned(), "the top".to_owned()),
            Step::Key(key) => (key.to_owned(), self.path.to_string()),
            Step::Index(index) => (index.to_string(), self.path.to_string()),
        };
        DataError::new(FORMAT, field, Location::Path(path), kind, problem)
    }

    #[cold]
    fn wrong(&self, expected: &str) -> DataError {
        let found = match self.value {
            Value::Null => "null".to_owned(),
            Value::Bool(flag) => flag.to_string(),
            Value::Number(number) => number.to_string(),
            Value::String(_) => "a string".to_owned(),
            Value::Array(_) => "an array".to_owned(),
            Value::Object(_) => "an object".to_owned(),
        };
        self.error(
            DataErrorKind::Value,
            format!("{found} where {expected} must be"),
        )
    }
}

//! Wavefront OBJ: the vertices and faces of a level.
//!
//! In: the bytes of a file. Out: a [`Soup`]. `v` and `f` lines are read; texture coordinates,
//! normals, groups, objects, smoothing, materials and every other keyword are skipped. Faces of
//! more than three corners become a fan from their first corner. Memory is proportional to the
//! input: nothing in a file is a count that could ask for more.

use super::soup::Soup;
use throng_soa::error::{DataError, DataErrorKind, Location};
use throng_soa::world::{COORDINATE_LIMIT, DVec3};

/// Reads an OBJ file.
///
/// Indices count from 1, negative ones back from the latest vertex; a corner may be `v`, `v/vt`,
/// `v//vn` or `v/vt/vn`. A backslash at the end of a line continues it; `#` starts a comment; lines
/// end in LF or CRLF; a byte order mark is skipped. A face may refer to vertices further down.
///
/// # Errors
/// Names the line (the first one of a continued line) and the field: a line that is not UTF-8, a
/// number that does not parse or is missing, a coordinate that is not finite and strictly inside
/// ±2^21, a face with fewer than three corners, an index that is 0 or has no vertex.
pub fn read_obj(bytes: &[u8]) -> Result<Soup, DataError> {
    let mut vertices = Vec::new();
    let mut faces = Faces::default();
    let mut lines = Lines {
        rest: bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes),
        number: 0,
    };
    let mut joined = String::new();
    while let Some((number, line)) = lines.next_logical(&mut joined)? {
        let text = line.split('#').next().unwrap_or("");
        let mut words = text.split_ascii_whitespace();
        match words.next() {
            Some("v") => vertices.push(read_vertex(words, number)?),
            Some("f") => faces.read(words, number, vertices.len())?,
            _ => {}
        }
    }
    let triangles = faces.finish(vertices.len())?;
    // Everything a soup checks was checked above, with line numbers.
    Soup::new(vertices, triangles).map_err(|error| {
        DataError::new(
            FORMAT,
            error.argument.clone(),
            Location::Nowhere,
            DataErrorKind::Limit,
            error.to_string(),
        )
    })
}

const FORMAT: &str = "OBJ";

/// The physical lines of a file, joined where a backslash says so.
struct Lines<'a> {
    rest: &'a [u8],
    number: u64,
}

impl<'a> Lines<'a> {
    /// The next logical line and the number of its first physical line. `joined` is working space.
    fn next_logical<'b>(
        &mut self,
        joined: &'b mut String,
    ) -> Result<Option<(u64, &'b str)>, DataError>
    where
        'a: 'b,
    {
        let Some(line) = self.next_physical()? else {
            return Ok(None);
        };
        let first = self.number;
        let Some(mut part) = line.strip_suffix('\\') else {
            return Ok(Some((first, line)));
        };
        joined.clear();
        loop {
            joined.push_str(part);
            joined.push(' ');
            match self.next_physical()? {
                Some(line) => match line.strip_suffix('\\') {
                    Some(more) => part = more,
                    None => {
                        joined.push_str(line);
                        break;
                    }
                },
                None => break,
            }
        }
        Ok(Some((first, joined)))
    }

    fn next_physical(&mut self) -> Result<Option<&'a str>, DataError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        let end = self.rest.iter().position(|&byte| byte == b'\n');
        let (line, rest) = match end {
            Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
            None => (self.rest, &[][..]),
        };
        self.rest = rest;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match core::str::from_utf8(line) {
            Ok(text) => Ok(Some(text)),
            Err(error) => Err(at_line(
                self.number,
                "line",
                DataErrorKind::Text,
                format!("byte {} of the line is not UTF-8", error.valid_up_to() + 1),
            )),
        }
    }
}

fn read_vertex<'a>(
    mut words: impl Iterator<Item = &'a str>,
    line: u64,
) -> Result<DVec3, DataError> {
    let mut point = [0.0; 3];
    // A fourth number (weight) and vertex colours may follow; they are not read.
    for (value, axis) in point.iter_mut().zip(["x", "y", "z"]) {
        let field = format!("v.{axis}");
        let Some(word) = words.next() else {
            let problem = "the coordinate is missing";
            return Err(at_line(line, field, DataErrorKind::Truncated, problem));
        };
        let Ok(number) = word.parse::<f64>() else {
            let problem = format!("{} is not a number", quoted(word));
            return Err(at_line(line, field, DataErrorKind::Text, problem));
        };
        if number.abs() < COORDINATE_LIMIT {
            *value = number;
        } else {
            let problem = format!("{number} is not finite and strictly inside ±2097152 (2^21)");
            return Err(at_line(line, field, DataErrorKind::Value, problem));
        }
    }
    Ok(DVec3::from_array(point))
}

/// The faces read so far.
#[derive(Default)]
struct Faces {
    triangles: Vec<[u32; 3]>,
    /// The largest index met and where: whether it has a vertex is known at the end.
    largest: u32,
    largest_line: u64,
    largest_corner: u64,
}

impl Faces {
    fn read<'a>(
        &mut self,
        words: impl Iterator<Item = &'a str>,
        line: u64,
        vertex_count: usize,
    ) -> Result<(), DataError> {
        let (mut first, mut previous, mut corners) = (0, 0, 0);
        for word in words {
            corners += 1;
            let index = self.read_corner(word, corners, line, vertex_count)?;
            if corners == 1 {
                first = index;
            } else if corners > 2 {
                self.triangles.push([first, previous, index]);
            }
            previous = index;
        }
        if corners < 3 {
            let problem = format!("a face needs at least 3 corners and has {corners}");
            return Err(at_line(line, "f", DataErrorKind::Count, problem));
        }
        Ok(())
    }

    /// The vertex of one corner, counted from 0.
    fn read_corner(
        &mut self,
        word: &str,
        corner: u64,
        line: u64,
        vertex_count: usize,
    ) -> Result<u32, DataError> {
        let number = word.split('/').next().unwrap_or("");
        let Ok(index) = number.parse::<i64>() else {
            let problem = format!("{} is not a vertex index", quoted(word));
            let field = format!("f.{corner}");
            return Err(at_line(line, field, DataErrorKind::Text, problem));
        };
        let place = if index < 0 {
            (vertex_count as i64).checked_add(index)
        } else {
            Some(index - 1)
        };
        let place = place.and_then(|place| u32::try_from(place).ok());
        match place {
            Some(place) if place < u32::MAX => {
                if place >= self.largest {
                    // The first corner with the largest index is the one to name.
                    if place > self.largest || self.largest_line == 0 {
                        (self.largest_line, self.largest_corner) = (line, corner);
                    }
                    self.largest = place;
                }
                Ok(place)
            }
            _ => Err(no_vertex(index, corner, line, vertex_count)),
        }
    }

    fn finish(self, vertex_count: usize) -> Result<Vec<[u32; 3]>, DataError> {
        if self.largest_line > 0 && self.largest as usize >= vertex_count {
            let index = i64::from(self.largest) + 1;
            let (corner, line) = (self.largest_corner, self.largest_line);
            return Err(no_vertex(index, corner, line, vertex_count));
        }
        Ok(self.triangles)
    }
}

#[cold]
fn no_vertex(index: i64, corner: u64, line: u64, vertex_count: usize) -> DataError {
    at_line(
        line,
        format!("f.{corner}"),
        DataErrorKind::Value,
        format!("index {index} names none of {vertex_count} vertices"),
    )
}

#[cold]
fn at_line(
    line: u64,
    field: impl Into<String>,
    kind: DataErrorKind,
    problem: impl Into<String>,
) -> DataError {
    DataError::new(FORMAT, field, Location::Line(line), kind, problem)
}

/// A word of the file in quotes, cut to a readable length.
fn quoted(word: &str) -> String {
    const LONGEST: usize = 40;
    match word.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("'{}...'", &word[..end]),
        None => format!("'{word}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: &str = "v 0 0 0\nv 0 0 2\nv 2 0 2\nv 2 0 0\n";

    fn triangles(faces: &str) -> Vec<[u32; 3]> {
        let text = format!("{SQUARE}{faces}");
        read_obj(text.as_bytes()).unwrap().triangles().to_vec()
    }

    fn error(text: &str) -> (u64, String, DataErrorKind) {
        let error = read_obj(text.as_bytes()).unwrap_err();
        let Location::Line(line) = error.at else {
            panic!("no line in {error}");
        };
        (line, error.field, error.kind)
    }

    #[test]
    fn polygons_are_fanned_and_every_corner_form_is_read() {
        assert_eq!(triangles("f 1 2 3 4"), [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(triangles("f 1/7 2//9 3/7/9\n"), [[0, 1, 2]]);
        assert_eq!(triangles("f -4 -3/1 -1"), [[0, 1, 3]]);
        assert_eq!(triangles("f 1 2 5\nf 1 5 4\nv 9 9 9")[1], [0, 4, 3]);
        let marked = format!("\u{feff}{SQUARE}f 4 3 2");
        assert_eq!(
            read_obj(marked.as_bytes()).unwrap().triangles(),
            [[3, 2, 1]]
        );
    }

    #[test]
    fn other_keywords_comments_and_line_ends_do_not_matter() {
        let text = "# a level\r\nmtllib a.mtl\r\no a\r\ng b\r\nvn 0 1 0\r\nvt 0 0\r\n\
                    v 0 0 0 1.0\r\nv\t1e0 0 0 # right\r\nv 0 -0.5 1 0.1 0.2 0.3\r\n\r\n\
                    usemtl x\r\ns off\r\nf 1 \\\r\n 2 \\\r\n 3\r\nl 1 2\r\n";
        let soup = read_obj(text.as_bytes()).unwrap();
        assert_eq!(soup.vertices()[2], DVec3::new(0.0, -0.5, 1.0));
        assert_eq!(soup.triangles(), [[0, 1, 2]]);
        assert_eq!(read_obj(b"").unwrap(), Soup::default());
        // A backslash at the very end continues into nothing.
        assert_eq!(read_obj(b"v 0 0 0\\").unwrap().vertices().len(), 1);
    }

    #[test]
    fn errors_name_line_and_field() {
        use DataErrorKind::{Count, Text, Truncated, Value};
        let check = |text: &str, line: u64, field: &str, kind: DataErrorKind| {
            assert_eq!(error(text), (line, field.to_string(), kind), "{text}");
        };
        check("v 0 0 0\nv 1 x 0\n", 2, "v.y", Text);
        check("v 1 2", 1, "v.z", Truncated);
        check("v nan 0 0", 1, "v.x", Value);
        check("v 0 inf 0", 1, "v.y", Value);
        check("v 0 0 2097152", 1, "v.z", Value);
        check(&format!("{SQUARE}f 1 2"), 5, "f", Count);
        check(&format!("{SQUARE}f"), 5, "f", Count);
        check(&format!("{SQUARE}\nf 1 0 2"), 6, "f.2", Value);
        check(&format!("{SQUARE}f 1 2 5"), 5, "f.3", Value);
        check(&format!("{SQUARE}f -5 2 3"), 5, "f.1", Value);
        check(
            &format!("{SQUARE}f 1 2 \\\n\\\n -9223372036854775808"),
            5,
            "f.3",
            Value,
        );
        check(
            &format!("{SQUARE}f 1 2 99999999999999999999"),
            5,
            "f.3",
            Text,
        );
        check(&format!("{SQUARE}f 1 /2 3"), 5, "f.2", Text);
        let bad = read_obj(b"v 0 0 0\nv \xff 0 0\n").unwrap_err();
        assert_eq!((bad.at, bad.field.as_str()), (Location::Line(2), "line"));
    }

    #[test]
    fn a_long_word_is_cut_in_the_message() {
        let text = format!("v {} 0 0", "é".repeat(5000));
        let problem = read_obj(text.as_bytes()).unwrap_err().problem;
        assert!(problem.len() < 200, "{problem}");
    }
}

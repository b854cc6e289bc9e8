//! Levels of cells as text: voxel chunks and solid heightfields.
//!
//! ```text
//! throng voxels 1          or: throng heightfield 1
//! # Columns along x, rows, columns along z.
//! size 32 8 32
//! # Optional: the least corner (of voxels, whose lowest row stands at height 0, its y is 0), and
//! # the width and height of a cell (otherwise those of --cell and --cell-height).
//! origin -16 0 -16
//! cell 1 0.5
//! # Voxels only: the area of a material, once each. 0 cannot be walked on; without a line it is
//! # ground.
//! area 2 0
//! # Column x and z, lowest row, the row above the highest, material 1 to 255 (of a heightfield
//! # area 0 to 63, where 63 is ordinary ground).
//! span 0 0 0 1 1
//! ```
//!
//! `size` stands in front of the spans, which come in any order and may touch within a column but
//! not overlap. Memory is bounded by the file and the 2^24 columns a level may have.

use throng::parts::soa::world::check_point;
use throng::{
    ArgumentError, DVec3, DataError, DataErrorKind, HeightfieldFrame, Location, NavSettings,
    SolidHeightfield, VoxelChunk, VoxelRun,
};

use crate::words::shortened;

/// Area of ordinary ground.
const GROUND: u8 = 63;
/// Longest word of a file that a message repeats.
const LONGEST_WORD: usize = 24;

/// A level of cells.
#[derive(Debug)]
pub(crate) struct Cells {
    /// Columns along x, rows, columns along z.
    pub(crate) size: [u32; 3],
    /// Least corner.
    pub(crate) origin: DVec3,
    /// Width and height of a cell, where the file says.
    pub(crate) cell: Option<[f64; 2]>,
    /// Number of spans in the file.
    pub(crate) spans: usize,
    /// What the spans are of, by value: each material or area of a span, and each material with an
    /// `area` line.
    pub(crate) kinds: Vec<Kind>,
    pub(crate) matter: Matter,
}

/// Spans of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// The material; in a heightfield the area.
    pub(crate) value: u8,
    /// The area that ground of it has.
    pub(crate) area: u8,
    /// Number of spans in the file; 0 of a material that has an `area` line only.
    pub(crate) spans: usize,
}

/// What the cells are made of.
#[derive(Debug)]
pub(crate) enum Matter {
    /// Materials, and their areas.
    Voxels(VoxelChunk, Box<[u8; 256]>),
    /// Spans with areas.
    Heightfield(SolidHeightfield),
}

/// The second word of a file, and the name of its format.
const FORMS: [&str; 2] = ["voxels", "heightfield"];

/// The name of the format, when the bytes are of this kind.
pub(crate) fn format_of(bytes: &[u8]) -> Option<&'static str> {
    let rest = bytes.strip_prefix(b"throng ")?;
    let mut forms = FORMS.into_iter();
    forms.find(|word| rest.starts_with(word.as_bytes()))
}

/// Reads a file of the `format` that [`format_of`] gave.
///
/// # Errors
/// Names the line and the field.
pub(crate) fn read(format: &'static str, bytes: &[u8]) -> Result<Cells, DataError> {
    let mut file = File::new(format);
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        file.line = index as u64 + 1;
        file.read_line(line)?;
    }
    file.finish()
}

impl Cells {
    /// What the mesh stands on: the file's cells, and a tile that is a whole number of them wide.
    /// `tile_is_given` keeps a tile's width as it is and refuses one that is not.
    pub(crate) fn settings(
        &self,
        mut settings: NavSettings,
        tile_is_given: bool,
        solo: bool,
    ) -> Result<NavSettings, ArgumentError> {
        if let Some([width, height]) = self.cell {
            (settings.cell_size, settings.cell_height) = (width, height);
        }
        (settings.origin_x, settings.origin_z) = (self.origin.x, self.origin.z);
        let cells = settings.tile_size / settings.cell_size;
        if tile_is_given {
            if (cells - cells.round()).abs() > 1e-4 || cells < 0.5 {
                let allowed = format!("a whole multiple of cell_size {}", settings.cell_size);
                return Err(ArgumentError::new("tile_size", settings.tile_size, allowed));
            }
        } else {
            let all = f64::from(self.size[0].max(self.size[2]));
            let cells = if solo { all } else { cells.round().max(1.0) };
            settings.tile_size = f64::from((cells * settings.cell_size) as f32);
        }
        Ok(settings)
    }
}

/// A span of the file and the line it stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    column: u32,
    low: u16,
    high: u16,
    value: u8,
    line: u64,
}

/// A file being read.
#[derive(Debug)]
struct File {
    format: &'static str,
    line: u64,
    began: bool,
    size: Option<[u32; 3]>,
    origin: Option<DVec3>,
    cell: Option<[f64; 2]>,
    /// By material, where a line gives one.
    areas: [Option<u8>; 256],
    spans: Vec<Span>,
}

impl File {
    fn new(format: &'static str) -> Self {
        Self {
            format,
            line: 0,
            began: false,
            size: None,
            origin: None,
            cell: None,
            areas: [None; 256],
            spans: Vec::new(),
        }
    }

    fn is_voxels(&self) -> bool {
        self.format == "voxels"
    }

    fn error(&self, field: &str, kind: DataErrorKind, problem: impl Into<String>) -> DataError {
        DataError::new(self.format, field, Location::Line(self.line), kind, problem)
    }

    fn read_line(&mut self, line: &[u8]) -> Result<(), DataError> {
        let Ok(line) = core::str::from_utf8(line) else {
            return Err(self.error("line", DataErrorKind::Text, "is not UTF-8"));
        };
        let line = line.split_once('#').map_or(line, |(before, _)| before);
        let mut words = line.split_whitespace();
        let Some(first) = words.next() else {
            return Ok(());
        };
        let words: Vec<&str> = words.take(7).collect();
        match first {
            "throng" if !self.began => self.begin(&words),
            "size" => self.read_size(&words),
            "origin" => self.read_origin(&words),
            "cell" => self.read_cell(&words),
            "area" if self.is_voxels() => self.read_area(&words),
            "span" => self.read_span(&words),
            _ => {
                let area = if self.is_voxels() { " area," } else { "" };
                let problem = format!(
                    "{} is none of size, origin, cell,{area} span",
                    quoted(first)
                );
                Err(self.error("line", DataErrorKind::Text, problem))
            }
        }
    }

    fn begin(&mut self, words: &[&str]) -> Result<(), DataError> {
        self.began = true;
        match words {
            [form, "1"] if *form == self.format => Ok(()),
            [form, version] if *form == self.format => {
                let problem = format!("is {}; this release reads 1", quoted(version));
                Err(self.error("version", DataErrorKind::Text, problem))
            }
            _ => {
                let problem = format!("must read \"throng {} 1\" and nothing more", self.format);
                Err(self.error("line", DataErrorKind::Text, problem))
            }
        }
    }

    fn read_size(&mut self, words: &[&str]) -> Result<(), DataError> {
        let fields = ["size.x", "size.rows", "size.z"];
        let [x, rows, z] = self.numbers(fields, words, 1..=65536)?;
        let frame = HeightfieldFrame {
            origin: DVec3::ZERO,
            cell_size: 1.0,
            cell_height: 1.0,
            width: x,
            depth: z,
            rows,
        };
        frame
            .validate()
            .map_err(|error| self.error("size", DataErrorKind::Limit, error.to_string()))?;
        self.once("size", self.size.is_some())?;
        self.size = Some([x, rows, z]);
        Ok(())
    }

    fn read_origin(&mut self, words: &[&str]) -> Result<(), DataError> {
        let [x, y, z] = self.reals(["origin.x", "origin.y", "origin.z"], words)?;
        if self.is_voxels() && y != 0.0 {
            let problem = format!("is {y}; voxels stand at height 0");
            return Err(self.error("origin.y", DataErrorKind::Value, problem));
        }
        self.once("origin", self.origin.is_some())?;
        let origin = DVec3::new(x, y, z);
        check_point("origin", origin).map_err(|error| {
            let problem = shortened(&format!("is {}; it must be {}", error.value, error.allowed));
            self.error(&error.argument, DataErrorKind::Value, problem)
        })?;
        self.origin = Some(origin);
        Ok(())
    }

    fn read_cell(&mut self, words: &[&str]) -> Result<(), DataError> {
        let cell = self.reals(["cell.width", "cell.height"], words)?;
        let frame = HeightfieldFrame {
            origin: DVec3::ZERO,
            cell_size: cell[0] as f32,
            cell_height: cell[1] as f32,
            width: 1,
            depth: 1,
            rows: 1,
        };
        frame.validate().map_err(|error| {
            let (field, value) = match error.argument.as_str() {
                "cell_size" => ("cell.width", cell[0]),
                _ => ("cell.height", cell[1]),
            };
            // As in the file: the builder's float32 of it may be 0 or infinite.
            let problem = format!("is {value:?}; it must be {}", error.allowed);
            self.error(field, DataErrorKind::Value, problem)
        })?;
        self.once("cell", self.cell.is_some())?;
        self.cell = Some(cell);
        Ok(())
    }

    fn read_area(&mut self, words: &[&str]) -> Result<(), DataError> {
        let [material, area] = self.numbers(["material", "area"], words, 0..=255)?;
        if material == 0 {
            return Err(self.error("material", DataErrorKind::Value, "is 0, which is air"));
        }
        let area = self.area(area)?;
        if let Some(before) = self.areas[material as usize] {
            let problem = format!("is {material}, whose area is {before} already");
            return Err(self.error("material", DataErrorKind::Value, problem));
        }
        self.areas[material as usize] = Some(area);
        Ok(())
    }

    fn area(&self, area: u32) -> Result<u8, DataError> {
        if area > u32::from(GROUND) {
            let problem = format!("is {area}; areas are 0 to {GROUND}");
            return Err(self.error("area", DataErrorKind::Value, problem));
        }
        Ok(area as u8)
    }

    fn read_span(&mut self, words: &[&str]) -> Result<(), DataError> {
        let Some([width, rows, depth]) = self.size else {
            return Err(self.error("span", DataErrorKind::Value, "stands in front of size"));
        };
        let last = if self.is_voxels() { "material" } else { "area" };
        let fields = ["x", "z", "lowest row", "row above", last];
        let [x, z, low, high, value] = self.numbers(fields, words, 0..=65535)?;
        for (field, number, count) in [("x", x, width), ("z", z, depth)] {
            if number >= count {
                let problem = format!("is {number}; it must be below {count}");
                return Err(self.error(field, DataErrorKind::Value, problem));
            }
        }
        if low >= high || high > rows {
            let problem = format!("are {low} to {high}; a span has 1 row or more below row {rows}");
            return Err(self.error("rows", DataErrorKind::Value, problem));
        }
        let value = if !self.is_voxels() {
            self.area(value)?
        } else if (1..=255).contains(&value) {
            value as u8
        } else {
            let problem = format!("is {value}; materials are 1 to 255");
            return Err(self.error("material", DataErrorKind::Value, problem));
        };
        self.spans.push(Span {
            column: x + z * width,
            low: low as u16,
            high: high as u16,
            value,
            line: self.line,
        });
        Ok(())
    }

    fn once(&self, field: &str, is_there: bool) -> Result<(), DataError> {
        if is_there {
            return Err(self.error(field, DataErrorKind::Value, "is there already"));
        }
        Ok(())
    }

    /// As many whole numbers as there are fields, within a range.
    fn numbers<const N: usize>(
        &self,
        fields: [&str; N],
        words: &[&str],
        range: core::ops::RangeInclusive<u32>,
    ) -> Result<[u32; N], DataError> {
        let mut numbers = [0; N];
        for (place, word) in self.words(fields, words)?.into_iter().enumerate() {
            let number = word.parse().ok().filter(|number| range.contains(number));
            let Some(number) = number else {
                let (low, high) = (range.start(), range.end());
                let problem = format!("{} is no whole number, {low} to {high}", quoted(word));
                return Err(self.error(fields[place], DataErrorKind::Text, problem));
            };
            numbers[place] = number;
        }
        Ok(numbers)
    }

    /// As many finite numbers as there are fields.
    fn reals<const N: usize>(
        &self,
        fields: [&str; N],
        words: &[&str],
    ) -> Result<[f64; N], DataError> {
        let mut numbers = [0.0; N];
        for (place, word) in self.words(fields, words)?.into_iter().enumerate() {
            let number = word.parse().ok().filter(|number: &f64| number.is_finite());
            let Some(number) = number else {
                let problem = format!("{} is no finite number", quoted(word));
                return Err(self.error(fields[place], DataErrorKind::Text, problem));
            };
            numbers[place] = number;
        }
        Ok(numbers)
    }

    fn words<'a, const N: usize>(
        &self,
        fields: [&str; N],
        words: &[&'a str],
    ) -> Result<[&'a str; N], DataError> {
        match (<[&str; N]>::try_from(words), fields.get(words.len())) {
            (Ok(words), _) => Ok(words),
            (Err(_), Some(missing)) => {
                Err(self.error(missing, DataErrorKind::Truncated, "is missing"))
            }
            (Err(_), None) => {
                let problem = format!("{N} numbers are all there should be");
                Err(self.error("line", DataErrorKind::Trailing, problem))
            }
        }
    }

    fn finish(mut self) -> Result<Cells, DataError> {
        let Some(size) = self.size else {
            return Err(self.error("size", DataErrorKind::Truncated, "is missing"));
        };
        self.spans.sort_unstable();
        for pair in self.spans.windows(2) {
            let (below, above) = (pair[0], pair[1]);
            if below.column == above.column && above.low < below.high {
                let later = below.line.max(above.line);
                let earlier = below.line.min(above.line);
                self.line = later;
                let problem = format!("overlaps that of line {earlier} in the same column");
                return Err(self.error("span", DataErrorKind::Value, problem));
            }
        }
        let (origin, spans) = (self.origin.unwrap_or(DVec3::ZERO), self.spans.len());
        let kinds = self.kinds();
        let matter = if self.is_voxels() {
            self.voxels(size)
        } else {
            self.heightfield(size, origin)
        };
        let matter = matter.map_err(|error| {
            let problem = format!("is {}; it must be {}", error.value, error.allowed);
            let (field, at) = (error.argument, Location::Nowhere);
            DataError::new(self.format, field, at, DataErrorKind::Value, problem)
        })?;
        Ok(Cells {
            size,
            origin,
            cell: self.cell,
            spans,
            kinds,
            matter,
        })
    }

    fn kinds(&self) -> Vec<Kind> {
        let mut spans = [0; 256];
        for span in &self.spans {
            spans[usize::from(span.value)] += 1;
        }
        let kind = |value: u8| {
            let given = self.areas[usize::from(value)];
            let area = given.unwrap_or(if self.is_voxels() { GROUND } else { value });
            let spans = spans[usize::from(value)];
            let is_there = spans > 0 || given.is_some();
            is_there.then_some(Kind { value, area, spans })
        };
        (0..=u8::MAX).filter_map(kind).collect()
    }

    fn voxels(&self, [width, rows, depth]: [u32; 3]) -> Result<Matter, ArgumentError> {
        let mut first = vec![0; width as usize * depth as usize + 1];
        for span in &self.spans {
            first[span.column as usize + 1] += 1;
        }
        for column in 1..first.len() {
            first[column] += first[column - 1];
        }
        let run = |span: &Span| VoxelRun {
            start: span.low,
            length: span.high - span.low,
            material: span.value,
        };
        let runs = self.spans.iter().map(run).collect();
        let chunk = VoxelChunk::from_runs(width, depth, rows, first, runs)?;
        let areas = self.areas.map(|area| area.unwrap_or(GROUND));
        Ok(Matter::Voxels(chunk, Box::new(areas)))
    }

    fn heightfield(
        &self,
        [width, rows, depth]: [u32; 3],
        origin: DVec3,
    ) -> Result<Matter, ArgumentError> {
        // The settings say how large the cells are; here any size will do.
        let frame = HeightfieldFrame {
            origin,
            cell_size: 1.0,
            cell_height: 1.0,
            width,
            depth,
            rows,
        };
        let mut field = SolidHeightfield::new(frame)?;
        for span in &self.spans {
            let place = (span.column % width, span.column / width);
            field.add_span(place, span.low..span.high, span.value, 0)?;
        }
        Ok(Matter::Heightfield(field))
    }
}

/// A word of the file in quotes, cut to a readable length.
fn quoted(word: &str) -> String {
    let mut text: String = word.chars().take(LONGEST_WORD).collect();
    if text.len() < word.len() {
        text.push_str("...");
    }
    format!("'{}'", text.escape_debug())
}

#[cfg(test)]
mod tests;

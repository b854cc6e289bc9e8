//! The page a picture is drawn on: ground, layers in world units, and the words around them.

use std::fmt::Write as _;

use svg::Document;
use svg::node::Text;
use svg::node::element::{Circle, Group, Line, Path as Shape, Rectangle, Text as Label};
use throng::DVec3;
use throng::debug::{LineKind, Lines};

use super::ground;
use crate::level::Level;
use crate::words::trimmed;

/// Height of a row of the legend, in units of the drawing.
const ROW: f64 = 1.9;

/// How the lines of one kind are drawn.
pub(super) struct Look {
    pub(super) kind: LineKind,
    pub(super) color: &'static str,
    /// Width in world units.
    pub(super) width: f64,
    /// What the legend says.
    pub(super) name: &'static str,
}

/// A drawing in world units.
pub(super) struct Canvas {
    body: Group,
    legend: Vec<(&'static str, String)>,
    low: DVec3,
    high: DVec3,
    /// A length to size letters and lines by: a fraction of the drawing.
    pub(super) unit: f64,
}

impl Canvas {
    /// A drawing with the level's ground; `None` when it has none.
    pub(super) fn new(level: &Level) -> Option<Self> {
        let tiles = || {
            level
                .tiles()
                .tiles()
                .filter(|(_, tile)| tile.poly_count() > 0)
        };
        let low = tiles().map(|(_, tile)| tile.tile_min).reduce(DVec3::min)?;
        let high = tiles().map(|(_, tile)| tile.tile_max).reduce(DVec3::max)?;
        let unit = ((high.x - low.x).max(high.z - low.z) / 64.0).max(1e-3);
        let mut canvas = Self {
            body: ground::draw(level.tiles(), low.y, high.y, unit),
            legend: Vec::new(),
            low,
            high,
            unit,
        };
        if let Some(links) = ground::draw_links(level.tiles(), unit) {
            canvas.add(links);
            canvas.name(ground::LINKS, "off-mesh link");
        }
        Some(canvas)
    }

    /// Draws something on top of everything so far.
    pub(super) fn add(&mut self, node: impl Into<Box<dyn svg::Node>>) {
        self.body = std::mem::take(&mut self.body).add(node);
    }

    /// Adds a colour to the legend.
    pub(super) fn name(&mut self, color: &'static str, what: impl Into<String>) {
        self.legend.push((color, what.into()));
    }

    /// Draws lines, kind by kind in the order of `looks`, and names those there are.
    pub(super) fn add_lines(&mut self, lines: &Lines, looks: &[Look]) {
        for look in looks {
            let data = line_data(lines, look.kind);
            if data.is_empty() {
                continue;
            }
            let shape = Shape::new()
                .set("d", data)
                .set("fill", "none")
                .set("stroke", look.color)
                .set("stroke-width", format!("{:.3}", look.width))
                .set("stroke-linecap", "round");
            self.add(shape);
            self.name(look.color, look.name);
        }
    }

    /// Adds the words around the drawing: title and caption above, legend and scale below.
    pub(super) fn finish(self, title: &str, caption: &str) -> Document {
        let (u, margin) = (self.unit, 2.0 * self.unit);
        let left = self.low.x - margin;
        let top = self.low.z - margin - 5.2 * u;
        // Room for the words even beside a narrow level.
        let width = (self.high.x - self.low.x + 2.0 * margin).max(48.0 * u);
        let length = nice_length(10.0 * u);
        let (from, to) = (left + width - margin - length, left + width - margin);
        let places = self.legend_places(from - u);
        let rows = places.last().map_or(0, |&(_, row)| row);
        let height = self.high.z + margin + (3.6 + ROW * rows as f64) * u - top;
        let words = |x: f64, y: f64, size: f64, color: &str, text: &str| {
            Label::new("")
                .add(Text::new(escaped(text)))
                .set("x", trimmed(x))
                .set("y", trimmed(y))
                .set("font-size", format!("{:.3}", size * u))
                .set("fill", color.to_owned())
        };
        let mut labels = Group::new()
            .set(
                "font-family",
                "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif",
            )
            .add(words(self.low.x, top + 3.4 * u, 2.0, "#1f2933", title).set("font-weight", "600"))
            .add(words(self.low.x, top + 5.4 * u, 1.15, "#66727f", caption));
        let foot = self.high.z + margin + 1.2 * u;
        for ((color, name), (x, row)) in self.legend.iter().zip(places) {
            let y = foot + ROW * row as f64 * u;
            let circle = Circle::new()
                .set("cx", trimmed(x + 0.6 * u))
                .set("cy", trimmed(y))
                .set("r", format!("{:.3}", 0.55 * u));
            labels = labels
                .add(circle.set("fill", (*color).to_owned()))
                .add(words(x + 1.6 * u, y + 0.42 * u, 1.15, "#3d4651", name));
        }
        let scale = Line::new()
            .set("x1", trimmed(from))
            .set("x2", trimmed(to))
            .set("y1", trimmed(foot + 0.5 * u))
            .set("y2", trimmed(foot + 0.5 * u))
            .set("stroke", "#66727f")
            .set("stroke-width", format!("{:.3}", 0.2 * u));
        let text = format!("{} units", trimmed(length));
        let label = words((from + to) / 2.0, foot - 0.1 * u, 1.0, "#66727f", &text);
        labels = labels.add(scale).add(label.set("text-anchor", "middle"));
        let page = [left, top, width, height].map(trimmed);
        let (w, h) = if width > height {
            (1400.0, 1400.0 * height / width)
        } else {
            (1400.0 * width / height, 1400.0)
        };
        let paper = Rectangle::new()
            .set("x", page[0].clone())
            .set("y", page[1].clone())
            .set("width", page[2].clone())
            .set("height", page[3].clone())
            .set("fill", "#ffffff");
        Document::new()
            .set("viewBox", page.join(" "))
            .set("width", trimmed(w))
            .set("height", trimmed(h))
            .add(paper)
            .add(self.body)
            .add(labels)
    }

    /// Where each entry of the legend begins, and in which row: none reaches beyond `right`.
    fn legend_places(&self, right: f64) -> Vec<(f64, usize)> {
        let (mut x, mut row) = (self.low.x, 0);
        let place = |(_, name): &(&str, String)| {
            let width = (2.8 + 0.62 * name.chars().count() as f64) * self.unit;
            if x > self.low.x && x + width > right {
                (x, row) = (self.low.x, row + 1);
            }
            x += width;
            (x - width, row)
        };
        self.legend.iter().map(place).collect()
    }
}

/// 1, 2 or 5 times a power of ten, at most `most`.
fn nice_length(most: f64) -> f64 {
    let mut step = 1e-6;
    while step * 10.0 <= most {
        step *= 10.0;
    }
    let times = [5.0, 2.0, 1.0];
    times
        .into_iter()
        .map(|t| t * step)
        .find(|&l| l <= most)
        .unwrap_or(step)
}

/// Path data of an open line.
pub(super) fn polyline(points: &[DVec3]) -> String {
    let mut data = String::new();
    for (index, point) in points.iter().enumerate() {
        let command = if index == 0 { 'M' } else { 'L' };
        // Writing to a string cannot fail.
        let _ = write!(data, "{command}{} {}", trimmed(point.x), trimmed(point.z));
    }
    data
}

/// Path data of a closed ring.
pub(super) fn polygon(ring: &[DVec3]) -> String {
    let mut data = polyline(ring);
    data.push('Z');
    data
}

/// Path data of the lines of one kind.
pub(super) fn line_data(lines: &Lines, kind: LineKind) -> String {
    let mut data = String::new();
    for (from, to) in lines.of_kind(kind) {
        push_line(&mut data, from, to);
    }
    data
}

/// A shape stroked in dashes of this length; unbroken for 0.
pub(super) fn dashed(shape: Shape, length: f64) -> Shape {
    if length > 0.0 {
        shape.set("stroke-dasharray", format!("{length:.3}"))
    } else {
        shape
    }
}

/// Appends path data of one line.
pub(super) fn push_line(data: &mut String, a: DVec3, b: DVec3) {
    let [ax, az, bx, bz] = [a.x, a.z, b.x, b.z].map(trimmed);
    // Writing to a string cannot fail.
    let _ = write!(data, "M{ax} {az}L{bx} {bz}");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

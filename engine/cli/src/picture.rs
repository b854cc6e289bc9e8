//! Pictures: the mesh from above as SVG, with a crowd or a path on it.
//!
//! X runs to the right and Z down, in world units, so a coordinate read off a picture can be
//! typed in. Ground is drawn in bands from low to high, so an upper floor covers a lower one, and
//! gets lighter as it rises.

mod ground;

use std::fmt::Write as _;
use std::path::Path;

use svg::Document;
use svg::node::Text;
use svg::node::element::{Circle, Group, Line, Path as Shape, Rectangle, Text as Label};
use throng::{AgentState, Crowd, DVec3, PathResult};

use crate::host::{self, Failure};
use crate::level::Level;
use crate::report::{Report, STATE_WORDS};
use crate::words::{count, counted, trimmed};

/// Agents whose trails are drawn.
const TRAILS: usize = 400;
/// Points per trail.
const TRAIL_POINTS: u32 = 240;
/// States in the order they are drawn, later ones on top, with their colours.
const LOOKS: [(AgentState, &str); 6] = [
    (AgentState::Idle, "#8d99a6"),
    (AgentState::Arrived, "#2a9d8f"),
    (AgentState::Moving, "#f2762e"),
    (AgentState::OffMeshLink, "#7b4fd1"),
    (AgentState::NoPath, "#3d4651"),
    (AgentState::Stuck, "#c1121f"),
];

/// Where some of the agents have been.
#[derive(Debug)]
pub(crate) struct Trails {
    every: u32,
    slots: Vec<usize>,
    lines: Vec<Vec<DVec3>>,
}

impl Trails {
    /// Follows a sample of `agents` for `steps`, or nobody.
    pub(crate) fn new(wanted: bool, agents: usize, steps: u32) -> Self {
        let stride = agents.div_ceil(TRAILS).max(1);
        let slots: Vec<usize> = if wanted {
            (0..agents).step_by(stride).collect()
        } else {
            Vec::new()
        };
        Self {
            every: (steps / TRAIL_POINTS).max(1),
            lines: vec![Vec::new(); slots.len()],
            slots,
        }
    }

    /// Notes where the sample is after `step`.
    pub(crate) fn take(&mut self, step: u32, crowd: &Crowd) {
        if step % self.every != 0 {
            return;
        }
        let columns = crowd.columns();
        for (line, &slot) in self.lines.iter_mut().zip(&self.slots) {
            let position = columns.position[slot];
            if columns.active[slot] && line.last() != Some(&position) {
                line.push(position);
            }
        }
    }
}

/// Draws a crowd on its mesh.
pub(crate) fn crowd(
    path: &Path,
    level: &Level,
    crowd: &Crowd,
    trails: &Trails,
    report: &Report,
) -> Result<(), Failure> {
    let Some(mut canvas) = Canvas::new(level) else {
        return write(path, Document::new());
    };
    let radius = level.agent_options().radius;
    let mut group = Group::new()
        .set("fill", "none")
        .set("stroke-width", trimmed(radius * 0.5))
        .set("stroke-opacity", "0.28")
        .set("stroke-linejoin", "round")
        .set("stroke-linecap", "round");
    for (index, line) in trails.lines.iter().enumerate() {
        if line.len() > 1 {
            const HUES: [&str; 5] = ["#2f6fde", "#1f9bcf", "#5a55d6", "#8a4fd0", "#2386a8"];
            let shape = Shape::new().set("d", polyline(line));
            group = group.add(shape.set("stroke", HUES[index % HUES.len()]));
        }
    }
    canvas.add(group);
    let mut legend = Vec::new();
    for (state, color) in LOOKS {
        let those: Vec<_> = crowd.agents().filter(|a| a.state() == state).collect();
        if those.is_empty() {
            continue;
        }
        let mut group = Group::new()
            .set("fill", color)
            .set("fill-opacity", "0.92")
            .set("stroke", "#ffffff")
            .set("stroke-width", trimmed(radius * 0.18));
        for agent in &those {
            let p = agent.position();
            let circle = Circle::new()
                .set("cx", trimmed(p.x))
                .set("cy", trimmed(p.z));
            group = group.add(circle.set("r", trimmed(radius)));
        }
        canvas.add(group);
        let word = STATE_WORDS[state as usize];
        legend.push((color, format!("{} {word}", count(those.len()))));
    }
    let seconds = f64::from(report.steps) * report.dt;
    let title = format!(
        "{} in {}",
        counted(report.agents, "agent"),
        short(&report.level)
    );
    let caption = format!(
        "after {}, {} s  ·  seed {}  ·  state {:016X}",
        counted(report.steps as usize, "step"),
        trimmed(seconds),
        report.seed,
        report.state_hash
    );
    write(path, canvas.finish(&title, &caption, &legend))
}

/// Draws a path on its mesh.
pub(crate) fn path(
    path: &Path,
    level: &Level,
    found: &PathResult,
    from: DVec3,
    to: DVec3,
) -> Result<(), Failure> {
    let Some(mut canvas) = Canvas::new(level) else {
        return write(path, Document::new());
    };
    let mut corridor = String::new();
    for &poly in &found.corridor {
        if let Some((tile, index)) = level.tiles().resolve(poly) {
            corridor.push_str(&polygon(tile.poly_ring(index)));
        }
    }
    let unit = canvas.unit;
    canvas.add(
        Shape::new()
            .set("d", corridor)
            .set("fill", "#7fb5f5")
            .set("fill-opacity", "0.45")
            .set("stroke", "#4a86d8")
            .set("stroke-width", trimmed(unit * 0.08)),
    );
    let points: Vec<DVec3> = found.points.iter().map(|p| p.position).collect();
    for (color, width) in [("#ffffff", 0.62), ("#d1365a", 0.34)] {
        canvas.add(
            Shape::new()
                .set("d", polyline(&points))
                .set("fill", "none")
                .set("stroke", color)
                .set("stroke-width", format!("{:.3}", unit * width))
                .set("stroke-linejoin", "round")
                .set("stroke-linecap", "round"),
        );
    }
    let dot = |p: DVec3, color: &str, r: f64| {
        Circle::new()
            .set("cx", trimmed(p.x))
            .set("cy", trimmed(p.z))
            .set("r", format!("{:.3}", unit * r))
            .set("fill", color.to_owned())
            .set("stroke", "#ffffff")
            .set("stroke-width", format!("{:.3}", unit * 0.14))
    };
    if let Some(corners) = points.get(1..points.len().saturating_sub(1)) {
        for &corner in corners {
            canvas.add(dot(corner, "#d1365a", 0.32));
        }
    }
    canvas.add(dot(from, "#2a9d8f", 0.6));
    canvas.add(dot(to, "#f2762e", 0.6));
    let title = format!("A path in {}", short(&level.name));
    let caption = format!(
        "{:?}  ·  length {}  ·  {}, {}",
        found.status,
        trimmed(found.length),
        counted(found.corridor.len(), "polygon"),
        counted(points.len(), "point")
    );
    let legend = [
        ("#2a9d8f", "from"),
        ("#f2762e", "to"),
        ("#d1365a", "path"),
        ("#7fb5f5", "corridor"),
    ];
    let legend = legend.map(|(color, name)| (color, name.to_owned()));
    write(path, canvas.finish(&title, &caption, &legend))
}

/// A drawing in world units.
struct Canvas {
    body: Group,
    low: DVec3,
    high: DVec3,
    /// A length to size letters and lines by: a fraction of the drawing.
    unit: f64,
}

impl Canvas {
    /// A drawing with the level's ground; `None` when it has none.
    fn new(level: &Level) -> Option<Self> {
        let tiles = || {
            level
                .tiles()
                .tiles()
                .filter(|(_, tile)| tile.poly_count() > 0)
        };
        let low = tiles().map(|(_, tile)| tile.tile_min).reduce(DVec3::min)?;
        let high = tiles().map(|(_, tile)| tile.tile_max).reduce(DVec3::max)?;
        let unit = ((high.x - low.x).max(high.z - low.z) / 64.0).max(1e-3);
        Some(Self {
            body: ground::draw(level.tiles(), low.y, high.y, unit),
            low,
            high,
            unit,
        })
    }

    fn add(&mut self, node: impl Into<Box<dyn svg::Node>>) {
        self.body = std::mem::take(&mut self.body).add(node);
    }

    /// Adds the words around the drawing: title and caption above, legend and scale below.
    fn finish(self, title: &str, caption: &str, legend: &[(&str, String)]) -> Document {
        let (u, margin) = (self.unit, 2.0 * self.unit);
        let left = self.low.x - margin;
        let top = self.low.z - margin - 5.2 * u;
        // Room for the words even beside a narrow level.
        let width = (self.high.x - self.low.x + 2.0 * margin).max(48.0 * u);
        let height = self.high.z + margin + 3.6 * u - top;
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
        let mut x = self.low.x;
        for (color, name) in legend {
            let circle = Circle::new()
                .set("cx", trimmed(x + 0.6 * u))
                .set("cy", trimmed(foot))
                .set("r", format!("{:.3}", 0.55 * u));
            labels = labels
                .add(circle.set("fill", (*color).to_owned()))
                .add(words(x + 1.6 * u, foot + 0.42 * u, 1.15, "#3d4651", name));
            x += (2.8 + 0.62 * name.chars().count() as f64) * u;
        }
        let length = nice_length(10.0 * u);
        let (from, to) = (left + width - margin - length, left + width - margin);
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
fn polyline(points: &[DVec3]) -> String {
    let mut data = String::new();
    for (index, point) in points.iter().enumerate() {
        let command = if index == 0 { 'M' } else { 'L' };
        // Writing to a string cannot fail.
        let _ = write!(data, "{command}{} {}", trimmed(point.x), trimmed(point.z));
    }
    data
}

/// Path data of a closed ring.
fn polygon(ring: &[DVec3]) -> String {
    let mut data = polyline(ring);
    data.push('Z');
    data
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn write(path: &Path, document: Document) -> Result<(), Failure> {
    host::write(path, document.to_string().as_bytes())
}

/// A level's name without the folders in front of it.
fn short(level: &str) -> String {
    let file = Path::new(level).file_name();
    file.map_or_else(
        || level.to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

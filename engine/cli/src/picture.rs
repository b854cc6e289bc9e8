//! Pictures: the mesh from above as SVG, with a crowd or a path on it, drawn from the engine's debug
//! geometry.
//!
//! X runs to the right and Z down, in world units, so a coordinate read off a picture can be
//! typed in. Ground is drawn in bands from low to high, so an upper floor covers a lower one, and
//! gets lighter as it rises.

mod canvas;
mod ground;

use std::path::Path;

use svg::Document;
use svg::node::element::{Circle, Group, Path as Shape};
use throng::debug::{Agents, Constraints, LineKind, Lines, Outlines, QueryDebug, Routes, Walls};
use throng::{AgentState, Crowd, DVec3, PathResult};

use canvas::{Canvas, Look, polygon, polyline};

use crate::args::Show;
use crate::host::{self, Failure};
use crate::level::Level;
use crate::path::id;
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

/// Draws a crowd on its mesh, and what else of it is to be shown.
pub(crate) fn crowd(
    path: &Path,
    level: &Level,
    crowd: &Crowd,
    trails: &Trails,
    report: &Report,
    show: &[Show],
) -> Result<(), Failure> {
    let Some(mut canvas) = Canvas::new(level) else {
        return write(path, Document::new());
    };
    let radius = level.agent_options().radius;
    let agents = Agents::collect(crowd.agents());
    canvas.add(drawn_trails(trails, radius));
    if show.contains(&Show::Walls) {
        let walls = Walls::collect(crowd.agents()).lines();
        let look = look(LineKind::Wall, "#0b7a75", radius * 0.3, "wall looked up");
        canvas.add_lines(&walls, &[look]);
    }
    if show.contains(&Show::Routes) {
        let routes = Routes::collect(level.tiles(), crowd.agents()).lines();
        let way = look(LineKind::String, "#2f6fde", radius * 0.15, "way ahead");
        let link = look(LineKind::OffMesh, "#7b4fd1", radius * 0.15, "over a link");
        canvas.add_lines(&routes, &[way, link]);
    }
    add_agents(&mut canvas, &agents, radius);
    if show.contains(&Show::Constraints) {
        let edges = Constraints::collect(crowd.agents()).lines(&agents, radius);
        let others = look(
            LineKind::AgentPlane,
            "#d1365a",
            radius * 0.08,
            "others leave",
        );
        let walls = look(LineKind::WallPlane, "#7b4fd1", radius * 0.08, "walls leave");
        canvas.add_lines(&edges, &[others, walls]);
    }
    if show.contains(&Show::Velocities) {
        let velocities = agents.velocity_lines();
        let wanted = look(LineKind::Wanted, "#66727f", radius * 0.3, "wanted");
        let solved = look(LineKind::Solved, "#ffd166", radius * 0.2, "chosen");
        let taken = look(LineKind::Velocity, "#1f2933", radius * 0.1, "velocity");
        canvas.add_lines(&velocities, &[wanted, solved, taken]);
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
    write(path, canvas.finish(&title, &caption))
}

fn look(kind: LineKind, color: &'static str, width: f64, name: &'static str) -> Look {
    Look {
        kind,
        color,
        width,
        name,
    }
}

fn drawn_trails(trails: &Trails, radius: f64) -> Group {
    const HUES: [&str; 5] = ["#2f6fde", "#1f9bcf", "#5a55d6", "#8a4fd0", "#2386a8"];
    let mut group = Group::new()
        .set("fill", "none")
        .set("stroke-width", trimmed(radius * 0.5))
        .set("stroke-opacity", "0.28")
        .set("stroke-linejoin", "round")
        .set("stroke-linecap", "round");
    for (index, line) in trails.lines.iter().enumerate() {
        if line.len() > 1 {
            let shape = Shape::new().set("d", polyline(line));
            group = group.add(shape.set("stroke", HUES[index % HUES.len()]));
        }
    }
    group
}

/// A disc per agent, coloured by what it is doing.
fn add_agents(canvas: &mut Canvas, agents: &Agents, radius: f64) {
    for (state, color) in LOOKS {
        let all = agents.state.iter().zip(&agents.position);
        let those: Vec<DVec3> = all
            .filter(|(of, _)| **of == state)
            .map(|(_, &position)| position)
            .collect();
        if those.is_empty() {
            continue;
        }
        let mut group = Group::new()
            .set("fill", color)
            .set("fill-opacity", "0.92")
            .set("stroke", "#ffffff")
            .set("stroke-width", trimmed(radius * 0.18));
        for p in &those {
            let circle = Circle::new()
                .set("cx", trimmed(p.x))
                .set("cy", trimmed(p.z));
            group = group.add(circle.set("r", trimmed(radius)));
        }
        canvas.add(group);
        let word = STATE_WORDS[state as usize];
        canvas.name(color, format!("{} {word}", count(those.len())));
    }
}

/// Draws a path on its mesh, with everything the search looked at.
pub(crate) fn path(
    path: &Path,
    level: &Level,
    found: &PathResult,
    search: &QueryDebug,
    from: DVec3,
    to: DVec3,
) -> Result<(), Failure> {
    let Some(mut canvas) = Canvas::new(level) else {
        return write(path, Document::new());
    };
    let unit = canvas.unit;
    canvas.name("#2a9d8f", "from");
    canvas.name("#f2762e", "to");
    canvas.name("#d1365a", "path");
    canvas.name("#7fb5f5", "corridor");
    canvas.name("#f2c14e", "searched");
    for (outlines, fill, opacity, stroke) in [
        (&search.expanded, "#f2c14e", "0.45", "#d9a21b"),
        // Most of the corridor was searched too: its colour has to cover that one.
        (&search.corridor, "#7fb5f5", "0.85", "#4a86d8"),
    ] {
        canvas.add(
            Shape::new()
                .set("d", rings(outlines))
                .set("fill", fill)
                .set("fill-opacity", opacity)
                .set("stroke", stroke)
                .set("stroke-width", format!("{:.3}", unit * 0.08)),
        );
    }
    let string = Lines::of_string(&search.points);
    for (color, width) in [("#ffffff", 0.62), ("#d1365a", 0.34)] {
        for (kind, dashes) in [(LineKind::String, 0.0), (LineKind::OffMesh, 1.0)] {
            let data = canvas::line_data(&string, kind);
            if data.is_empty() {
                continue;
            }
            let shape = Shape::new()
                .set("d", data)
                .set("fill", "none")
                .set("stroke", color)
                .set("stroke-width", format!("{:.3}", unit * width))
                .set("stroke-linecap", "round");
            canvas.add(canvas::dashed(shape, unit * dashes));
        }
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
    let points = &search.points;
    if let Some(corners) = points.get(1..points.len().saturating_sub(1)) {
        for corner in corners {
            canvas.add(dot(corner.position, "#d1365a", 0.32));
        }
    }
    canvas.add(dot(from, "#2a9d8f", 0.6));
    canvas.add(dot(to, "#f2762e", 0.6));
    let title = format!("A path in {}", short(&level.name));
    let caption = format!(
        "{}  ·  length {}  ·  {}, {}  ·  {} searched",
        id(found.status).replace('_', " "),
        trimmed(found.length),
        counted(search.corridor.len(), "polygon"),
        counted(points.len(), "point"),
        count(search.expanded.len())
    );
    write(path, canvas.finish(&title, &caption))
}

/// Path data of all outlines.
fn rings(outlines: &Outlines) -> String {
    outlines.iter().map(|(_, ring)| polygon(ring)).collect()
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

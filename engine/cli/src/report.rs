//! What a run found out, as text and as JSON.

use std::fmt;

use serde_json::{Value, json};
use throng::{DVec3, Stage, StepStats, TiledMesh};

use crate::args::OnArrival;
use crate::spawn::poly_area;
use crate::words::{count, counted, grouped_decimal, rounded, trimmed, wrapped};

/// Names of agents' states in JSON, by number.
pub(crate) const STATES: [&str; 6] = ["idle", "moving", "off_mesh", "arrived", "stuck", "no_path"];

/// The same for people. "Arrived" is kept for who ever did: someone can be pushed off the goal.
pub(crate) const STATE_WORDS: [&str; 6] = [
    "idle",
    "moving",
    "on a link",
    "at the goal",
    "stuck",
    "without a path",
];

/// Everything `throng simulate` reports.
#[derive(Debug)]
pub(crate) struct Report {
    /// The LEVEL argument and what it was.
    pub(crate) level: String,
    pub(crate) source: String,
    /// Side of a generated level, units.
    pub(crate) size: Option<f64>,
    pub(crate) build_ms: f64,
    pub(crate) sizes: MeshSizes,
    /// Agents asked for and placed, and how many have room to walk freely.
    pub(crate) asked: u32,
    pub(crate) agents: usize,
    pub(crate) roomy: usize,
    pub(crate) steps: u32,
    pub(crate) dt: f64,
    pub(crate) threads: usize,
    pub(crate) seed: u64,
    pub(crate) on_arrival: OnArrival,
    /// Milliseconds to place the agents and send them off.
    pub(crate) spawn_ms: f64,
    /// First arrivals, or all of them when agents are sent on.
    pub(crate) arrived: u64,
    /// Agents whose route can be walked in the time of the run, at full speed.
    pub(crate) could_arrive: usize,
    /// Agents per state at the end.
    pub(crate) states: [usize; 6],
    pub(crate) mean_route: f64,
    pub(crate) mean_speed: Option<f64>,
    pub(crate) walked_over_route: Option<f64>,
    pub(crate) agent_steps: u64,
    pub(crate) stages_ms: [f64; 4],
    pub(crate) step_ms: f64,
    /// Counts of all steps, when they are to be shown.
    pub(crate) profile: Option<StepStats>,
    /// Agents found on the mesh, over all steps, when that was to be checked.
    pub(crate) checked: Option<u64>,
    pub(crate) peak_rss_mb: Option<f64>,
    pub(crate) state_hash: u64,
}

/// The order of `stages_ms`.
pub(crate) const STAGES: [(Stage, &str); 4] = [
    (Stage::Snapshot, "snapshot"),
    (Stage::Plan, "plan"),
    (Stage::Avoid, "avoid"),
    (Stage::Motion, "motion"),
];

/// What [`StepStats`] counts, in words.
fn counted_work(profile: &StepStats) -> [(&'static str, u64); 7] {
    [
        ("route searches", profile.route_searches),
        ("shortcut searches", profile.shortcut_searches),
        ("nodes expanded", profile.expansions),
        ("shortcuts taken", profile.shortcuts),
        ("wall lookups", profile.wall_lookups),
        ("programs solved", profile.programs),
        ("fallbacks", profile.fallbacks),
    ]
}

impl Report {
    /// Work done per time: agents times steps over the milliseconds they took.
    fn agent_steps_per_ms(&self) -> f64 {
        if self.step_ms > 0.0 {
            self.agent_steps as f64 / self.step_ms
        } else {
            0.0
        }
    }

    /// Whether there are so many agents that most stand in each other's way.
    pub(crate) fn is_packed(&self) -> bool {
        self.agents < self.asked as usize || self.agents > 2 * self.roomy
    }

    /// The state hash as it is written everywhere.
    fn hash(&self) -> String {
        format!("{:016X}", self.state_hash)
    }

    /// The one object of `--json`.
    pub(crate) fn object(&self) -> Value {
        let stages = STAGES.iter().zip(self.stages_ms);
        let stages = stages.map(|((_, name), ms)| ((*name).to_owned(), json!(rounded(ms))));
        let states = STATES.iter().zip(self.states);
        let states = states.map(|(name, count)| ((*name).to_owned(), json!(count)));
        let mut object = json!({
            "level": self.level,
            "size": self.size,
            "agents": self.agents,
            "steps": self.steps,
            "dt": self.dt,
            "threads": self.threads,
            "seed": self.seed,
            "arrived": self.arrived,
            "could_arrive": self.could_arrive,
            "state_hash": self.hash(),
            "agent_steps_per_ms": rounded(self.agent_steps_per_ms()),
            "stages_ms": Value::Object(stages.collect()),
            "states": Value::Object(states.collect()),
            "mean_speed": self.mean_speed.map(rounded),
            "mean_route": rounded(self.mean_route),
            "walked_over_route": self.walked_over_route.map(rounded),
            "build_ms": rounded(self.build_ms),
            "spawn_ms": rounded(self.spawn_ms),
            "tiles": self.sizes.tiles,
            "polygons": self.sizes.polygons,
            "peak_rss_mb": self.peak_rss_mb.map(rounded),
        });
        if let Some(checked) = self.checked {
            object["checked"] = json!(checked);
            object["not_checked_on_links"] = json!(self.on_links(checked));
        }
        if let Some(profile) = &self.profile {
            let counts =
                counted_work(profile).map(|(name, total)| (name.replace(' ', "_"), json!(total)));
            object["profile"] = Value::Object(counts.into_iter().collect());
        }
        object
    }

    /// The table for people.
    pub(crate) fn text(&self) -> String {
        let mut table = Table::default();
        table.row("level", format!("{} ({})", self.level, self.source));
        let built = format!("{}; {:.0} ms", self.sizes, self.build_ms);
        table.row("mesh", built);
        let seconds = f64::from(self.steps) * self.dt;
        let each = format!("{} s each, {} s in all", self.dt, trimmed(seconds));
        table.row("agents", self.placed());
        table.row("steps", format!("{} of {each}", count(self.steps as usize)));
        table.line();
        table.row("arrived", self.arrivals());
        table.row("at the end", self.ends());
        if let Some(speed) = self.mean_speed {
            table.row("mean speed", format!("{speed:.2} units/s of those moving"));
        }
        if let Some(ratio) = self.walked_over_route {
            let text = format!("{ratio:.3} times the planned route, mean of the arrived");
            table.row("walked", text);
        }
        if let Some(checked) = self.checked {
            table.row("check", self.passed(checked));
        }
        table.line();
        self.times(&mut table);
        if let Some(peak) = self.peak_rss_mb {
            table.row("memory", format!("{peak:.0} MiB at most"));
        }
        if let Some(profile) = &self.profile {
            self.work(profile, &mut table);
        }
        table.line();
        table.row("state hash", self.hash());
        table.to_string()
    }

    /// How fast it went, when there was anything to do.
    fn times(&self, table: &mut Table) {
        let speed = self.agent_steps_per_ms();
        if speed == 0.0 {
            return;
        }
        let (rate, each) = (count(speed.round() as usize), 1000.0 / speed);
        let threads = counted(self.threads, "thread");
        table.row(
            "speed",
            format!("{rate} agent-steps per ms on {threads}, {each:.1} µs each"),
        );
        let per_step = self.step_ms / f64::from(self.steps.max(1));
        table.row(
            "time",
            format!("{:.2} s, {per_step:.2} ms per step", self.step_ms / 1000.0),
        );
        for ((_, name), ms) in STAGES.iter().zip(self.stages_ms) {
            let share = ms / self.step_ms;
            let blocks = "█".repeat((share * 30.0).round() as usize);
            let each = ms * 1e3 / self.agent_steps as f64;
            let each = match self.profile {
                Some(_) => format!("{each:>6.2} µs"),
                None => String::new(),
            };
            table.row(
                &format!("  {name}"),
                format!("{:>4.0} %{each}  {blocks}", share * 100.0),
            );
        }
    }

    /// What was done, in all and per thousand agent-steps.
    fn work(&self, profile: &StepStats, table: &mut Table) {
        table.line();
        for (name, total) in counted_work(profile) {
            let thousand = total as f64 * 1e3 / self.agent_steps.max(1) as f64;
            let (total, thousand) = (count(total as usize), grouped_decimal(thousand));
            let text = format!("{total:>14} {thousand:>12} per 1,000 agent-steps");
            table.wide_row(name, text);
        }
    }

    fn placed(&self) -> String {
        let agents = count(self.agents);
        if self.agents < self.asked as usize {
            let asked = count(self.asked as usize);
            return format!("{agents} placed of {asked}: there is no room for more");
        }
        let route = counted(self.mean_route.round() as usize, "unit");
        format!("{agents}, {route} of way each on average")
    }

    /// What was checked. A check that fails ends the run.
    fn passed(&self, checked: u64) -> String {
        if self.steps == 0 {
            return "nothing to check without a step".into();
        }
        let places = counted(checked as usize, "position");
        let left_out = match self.on_links(checked) {
            0 => String::new(),
            more => format!(", {} on links not looked at", count(more as usize)),
        };
        format!("passed: after every step everybody was on the mesh ({places}{left_out})")
    }

    /// Positions on links, over all steps: those the check left out.
    fn on_links(&self, checked: u64) -> u64 {
        self.agent_steps.saturating_sub(checked)
    }

    fn arrivals(&self) -> String {
        if self.on_arrival == OnArrival::Again {
            return counted(self.arrived as usize, "time");
        }
        let share = 100.0 * self.arrived as f64 / self.agents.max(1) as f64;
        let text = format!(
            "{} ({share:.1} %); {} had the time to",
            count(self.arrived as usize),
            count(self.could_arrive)
        );
        // Those who stay at their goal can be pushed off it, and walk back.
        let pushed = (self.arrived as usize).saturating_sub(self.states[3]);
        match (self.on_arrival, pushed) {
            (OnArrival::Stay, 1) => format!("{text}; 1 was pushed off and walks back"),
            (OnArrival::Stay, 2..) => {
                format!("{text}; {} were pushed off and walk back", count(pushed))
            }
            _ => text,
        }
    }

    fn ends(&self) -> String {
        let some = state_words(self.states);
        if some.is_empty() {
            return "nobody is left".into();
        }
        some
    }
}

/// How many agents are in each state, without the states nobody is in.
pub(crate) fn state_words(states: [usize; 6]) -> String {
    some_of(STATE_WORDS.into_iter().zip(states))
}

/// Words and their numbers in a line, without those that count nothing.
pub(crate) fn some_of<'a>(counts: impl Iterator<Item = (&'a str, usize)>) -> String {
    let some = counts.filter(|(_, number)| *number > 0);
    let some: Vec<_> = some
        .map(|(word, number)| format!("{} {word}", count(number)))
        .collect();
    some.join(", ")
}

/// Sizes of a mesh.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MeshSizes {
    pub(crate) tiles: usize,
    pub(crate) polygons: usize,
    pub(crate) vertices: usize,
    pub(crate) links: usize,
    /// Area seen from above.
    pub(crate) area: f64,
    /// Least and greatest corner over the vertices, when there are any.
    pub(crate) bounds: Option<(DVec3, DVec3)>,
}

/// Adds up the tiles of a mesh.
pub(crate) fn mesh_sizes(mesh: &TiledMesh) -> MeshSizes {
    let mut sizes = MeshSizes::default();
    for (_, tile) in mesh.tiles() {
        sizes.tiles += 1;
        sizes.polygons += tile.poly_count();
        sizes.vertices += tile.data().vertices.len();
        sizes.links += tile.data().off_mesh_links.len();
        for poly in 0..tile.poly_count() {
            sizes.area += poly_area(tile, poly);
        }
        for &corner in &tile.ring {
            let (low, high) = sizes.bounds.unwrap_or((corner, corner));
            sizes.bounds = Some((low.min(corner), high.max(corner)));
        }
    }
    sizes
}

impl fmt::Display for MeshSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, {}, {} of ground",
            counted(self.tiles, "tile"),
            counted(self.polygons, "polygon"),
            counted(self.area.round() as usize, "square unit")
        )
    }
}

/// Characters in a line of a paragraph.
const WIDTH: usize = 78;

/// Lines of a label and a value each.
#[derive(Debug, Default)]
pub(crate) struct Table {
    lines: String,
}

impl Table {
    /// Adds a line.
    pub(crate) fn row(&mut self, label: &str, value: impl AsRef<str>) {
        self.push(&format!("  {label:<11} {}", value.as_ref()));
    }

    /// Adds a line with a longer label.
    pub(crate) fn wide_row(&mut self, label: &str, value: impl AsRef<str>) {
        self.push(&format!("  {label:<18} {}", value.as_ref()));
    }

    /// Adds an empty line.
    pub(crate) fn line(&mut self) {
        self.push("");
    }

    /// Adds the lines of another table.
    pub(crate) fn append(&mut self, other: &Self) {
        self.push(&other.lines);
    }

    /// Adds a hint about what to do next.
    pub(crate) fn tip(&mut self, text: &str) {
        self.note(&format!("Next: {text}"));
    }

    /// Adds a paragraph that stands by itself, in lines of readable length.
    pub(crate) fn note(&mut self, text: &str) {
        self.push("");
        for line in wrapped(text, WIDTH) {
            self.push(&format!("  {line}"));
        }
    }

    fn push(&mut self, line: &str) {
        if !self.lines.is_empty() {
            self.lines.push('\n');
        }
        self.lines.push_str(line.trim_end());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines)
    }
}

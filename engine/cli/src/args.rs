//! The command line: what may be asked, with its help.
//!
//! Ranges are checked here too (usage errors, exit code 2); those of the mesh builder's settings by
//! the builder, in [`settings`].

pub(crate) mod settings;
mod values;

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use throng::{DVec3, MAX_AGENTS, MAX_THREADS, levels};

use settings::SettingsArgs;
use values::{length, point, seconds, side, whole};

/// Crowds on navigation meshes: the same inputs give the same bits, on every machine and at every
/// thread count.
#[derive(Debug, Parser)]
#[command(
    name = "throng",
    version,
    after_help = "Start with `throng simulate`: ten thousand people in a generated city."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Walk a crowd through a level and report how it went
    Simulate(SimulateArgs),
    /// Build a level's navigation mesh and write it to a file
    Bake(BakeArgs),
    /// Find the path between two points
    Path(PathArgs),
    /// Describe a file (any level, baked mesh, saved state or recording) or a generated level
    Info(InfoArgs),
}

/// Arguments of `throng simulate`.
#[derive(Debug, Args)]
#[command(
    mut_arg("seed", |arg| arg.help("Seed of everything random: the generated level, starts and goals")),
    mut_arg("size", |arg| arg.help("Side of a generated level in units, 64 to 4096 \
        [default: 256; larger for more than 2,500 agents, 512 for 10,000]")),
    after_help = "Examples:\n  throng simulate\n  throng simulate rooms --agents 2000 --picture rooms.svg\n  \
                  throng simulate level.obj --on-arrival again --steps 2000 --json"
)]
pub(crate) struct SimulateArgs {
    #[arg(default_value = "city", value_parser = NonEmptyStringValueParser::new(),
        help = level_help("Level to walk in"))]
    pub(crate) level: String,
    /// Number of agents, at most 65,536
    #[arg(short = 'n', long, default_value_t = DEFAULT_AGENTS, value_name = "N",
        value_parser = whole(1, MAX_AGENTS), allow_negative_numbers = true)]
    pub(crate) agents: u32,
    /// Number of steps
    #[arg(short, long, default_value_t = 600, value_name = "S",
        value_parser = whole(0, u32::MAX), allow_negative_numbers = true)]
    pub(crate) steps: u32,
    /// Seconds per step
    #[arg(long, default_value_t = 0.05, value_name = "SECONDS",
        value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) dt: f64,
    /// What an agent does at its destination
    #[arg(long, value_enum, default_value_t = OnArrival::Stay, value_name = "WHAT")]
    pub(crate) on_arrival: OnArrival,
    /// Check after every step that every agent stands on the mesh
    #[arg(long)]
    pub(crate) check: bool,
    /// Show where the time goes: microseconds of every stage and what was done in it
    #[arg(long)]
    pub(crate) profile: bool,
    /// Draw the mesh, some trails and all agents at the end
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) picture: Option<PathBuf>,
    /// What else the picture shows, at the end of the last step; several with commas between them
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        requires = "picture",
        value_name = "WHAT"
    )]
    pub(crate) show: Vec<Show>,
    /// Record every agent's position and state at every step
    #[arg(long, value_name = "FILE.thrr")]
    pub(crate) record: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
}

/// Arguments of `throng bake`.
#[derive(Debug, Args)]
pub(crate) struct BakeArgs {
    #[arg(value_parser = NonEmptyStringValueParser::new(), help = level_help("Level to bake"))]
    pub(crate) level: String,
    /// File to write; - is standard output, and the report then goes to standard error
    #[arg(short, long, value_name = "FILE.nav")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
}

/// Arguments of `throng path`.
#[derive(Debug, Args)]
pub(crate) struct PathArgs {
    #[arg(value_parser = NonEmptyStringValueParser::new(), help = level_help("Level"))]
    pub(crate) level: String,
    /// Start point
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true)]
    pub(crate) from: DVec3,
    /// Goal
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true)]
    pub(crate) to: DVec3,
    /// Draw the mesh, all that was searched, the corridor and the path
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) picture: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
}

/// Arguments of `throng info`.
#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    #[arg(help = info_help())]
    pub(crate) file: PathBuf,
    /// Seed of a generated level
    #[arg(long, default_value_t = 1, value_name = "K",
        value_parser = whole(0, u64::MAX), allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Side of a generated level in units, 64 to 4096 [default: 256]
    #[arg(long, value_name = "U", value_parser = side, allow_negative_numbers = true)]
    pub(crate) size: Option<f64>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// How a level becomes a mesh, and how to run and report.
#[derive(Debug, Args)]
pub(crate) struct SourceArgs {
    /// Worker threads up to 256, 0 for all cores; results do not depend on it
    #[arg(short, long, default_value_t = 0, value_name = "T",
        value_parser = whole(0, MAX_THREADS as u32), allow_negative_numbers = true)]
    pub(crate) threads: u32,
    /// Seed of a generated level
    #[arg(long, default_value_t = 1, value_name = "K",
        value_parser = whole(0, u64::MAX), allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Side of a generated level in units, 64 to 4096 [default: 256]
    #[arg(long, value_name = "U", value_parser = side, allow_negative_numbers = true)]
    pub(crate) size: Option<f64>,
    /// Distance between the points of a height grid
    #[arg(long, default_value_t = SPACING, value_name = "UNITS",
        value_parser = length, allow_negative_numbers = true)]
    pub(crate) spacing: f64,
    /// Height of a grey level of a height grid
    #[arg(long, default_value_t = RISE, value_name = "UNITS",
        value_parser = length, allow_negative_numbers = true)]
    pub(crate) rise: f64,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
}

impl SourceArgs {
    /// The flag that says how a height grid is to be taken, when one differs from its default.
    pub(crate) fn grid_flag(&self) -> Option<&'static str> {
        [
            ("--spacing", self.spacing, SPACING),
            ("--rise", self.rise, RISE),
        ]
        .into_iter()
        .find(|(_, given, default)| given != default)
        .map(|(flag, ..)| flag)
    }
}

/// Agents that walk unless asked otherwise.
pub(crate) const DEFAULT_AGENTS: u32 = 10_000;
/// Units between the points of a height grid unless asked otherwise.
const SPACING: f64 = 1.0;
/// Units of height per grey level unless asked otherwise.
const RISE: f64 = 0.01;

/// Help of a LEVEL argument.
fn level_help(what: &str) -> String {
    let names = levels::NAMES.join(", ");
    format!(
        "{what}: an OBJ or glTF file, a height grid (PGM), voxels or a heightfield, a baked file, \
         or a generated level: {names}. \
         These names come first: a file called city is ./city"
    )
}

/// Help of what `throng info` describes.
fn info_help() -> String {
    let names = levels::NAMES.join(", ");
    format!(
        "File to describe, or a generated level: {names}. \
         These names come first: a file called city is ./city"
    )
}

/// What an agent does at its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnArrival {
    /// It stands there
    Stay,
    /// It leaves the crowd
    Remove,
    /// It is sent somewhere else
    Again,
}

/// What a picture of a crowd may show besides the agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Show {
    /// The way ahead of every agent
    Routes,
    /// The walls agents look out for
    Walls,
    /// Velocities: wanted, chosen and taken, a second long
    Velocities,
    /// Where the velocities end that walls and others leave to an agent; steps take longer
    Constraints,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}

//! The command line: what may be asked, with its help.
//!
//! Only the shape of the arguments is checked here (usage errors, exit code 2). Ranges are checked
//! by the code that uses a value, which knows them.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use throng::DVec3;

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
    /// Describe a file: OBJ level, baked mesh, saved crowd or recording
    Info(InfoArgs),
}

/// Arguments of `throng simulate`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  throng simulate\n  throng simulate rooms --agents 2000 --picture rooms.svg\n  \
                  throng simulate level.obj --on-arrival again --steps 2000 --json"
)]
pub(crate) struct SimulateArgs {
    /// Level to walk in: an OBJ file, a baked file, or one of city, terraces, ramps, stairs,
    /// bridges, rooms, slivers
    #[arg(default_value = "city")]
    pub(crate) level: String,
    /// Number of agents, at most 65,536
    #[arg(short = 'n', long, default_value_t = 10_000, value_name = "N")]
    pub(crate) agents: u32,
    /// Number of steps
    #[arg(short, long, default_value_t = 600, value_name = "S")]
    pub(crate) steps: u32,
    /// Seconds per step
    #[arg(
        long,
        default_value_t = 0.05,
        value_name = "SECONDS",
        allow_negative_numbers = true
    )]
    pub(crate) dt: f64,
    /// What an agent does at its destination
    #[arg(long, value_enum, default_value_t = OnArrival::Stay, value_name = "WHAT")]
    pub(crate) on_arrival: OnArrival,
    /// Check after every step that every agent stands on the mesh
    #[arg(long)]
    pub(crate) check: bool,
    /// Draw the mesh, some trails and all agents at the end
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) picture: Option<PathBuf>,
    /// Record every agent's position and state at every step
    #[arg(long, value_name = "FILE.thr")]
    pub(crate) record: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
}

/// Arguments of `throng bake`.
#[derive(Debug, Args)]
pub(crate) struct BakeArgs {
    /// Level to bake: an OBJ file or the name of a generated level
    pub(crate) level: String,
    /// File to write
    #[arg(short, long, value_name = "FILE.nav")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
}

/// Arguments of `throng path`.
#[derive(Debug, Args)]
pub(crate) struct PathArgs {
    /// Level: an OBJ file, a baked file or the name of a generated level
    pub(crate) level: String,
    /// Start point
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true)]
    pub(crate) from: DVec3,
    /// Goal
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true)]
    pub(crate) to: DVec3,
    /// Draw the mesh, the corridor and the path
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) picture: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
}

/// Arguments of `throng info`.
#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// File to describe
    pub(crate) file: PathBuf,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// How a level becomes a mesh, and how to run and report.
#[derive(Debug, Args)]
pub(crate) struct SourceArgs {
    /// Worker threads, 0 for all cores; results do not depend on it
    #[arg(short, long, default_value_t = 0, value_name = "T")]
    pub(crate) threads: usize,
    /// Seed of everything random: the generated level, starts and goals
    #[arg(long, default_value_t = 1, value_name = "K")]
    pub(crate) seed: u64,
    /// Side of a generated level in units, 64 to 4096 [default: 256; simulate gives more than
    /// 2,500 agents a larger one, 512 for 10,000]
    #[arg(long, value_name = "U", allow_negative_numbers = true)]
    pub(crate) size: Option<f64>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
}

/// Settings of the mesh builder. A baked file brings its own.
#[derive(Debug, Args)]
#[command(next_help_heading = "Navigation mesh settings")]
pub(crate) struct SettingsArgs {
    /// Agent class the other settings start from [default: humanoid]
    #[arg(long, value_enum, value_name = "CLASS")]
    pub(crate) preset: Option<Preset>,
    /// One tile for the whole level
    #[arg(long)]
    pub(crate) solo: bool,
    /// Agent radius
    #[arg(long, value_name = "UNITS", allow_negative_numbers = true)]
    pub(crate) radius: Option<f64>,
    /// Agent height
    #[arg(long, value_name = "UNITS", allow_negative_numbers = true)]
    pub(crate) height: Option<f64>,
    /// Highest step climbed
    #[arg(long, value_name = "UNITS", allow_negative_numbers = true)]
    pub(crate) climb: Option<f64>,
    /// Steepest walkable slope
    #[arg(long, value_name = "DEGREES", allow_negative_numbers = true)]
    pub(crate) slope: Option<f64>,
    /// Width of a voxel
    #[arg(long, value_name = "UNITS", allow_negative_numbers = true)]
    pub(crate) cell: Option<f64>,
    /// Height of a voxel
    #[arg(long, value_name = "UNITS", allow_negative_numbers = true)]
    pub(crate) cell_height: Option<f64>,
    /// Width of a tile
    #[arg(
        long,
        value_name = "UNITS",
        allow_negative_numbers = true,
        conflicts_with = "solo"
    )]
    pub(crate) tile: Option<f64>,
    /// How cells are grouped into regions
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) partition: Option<Partition>,
    /// Longest wall edge before it is split, 0 for never
    #[arg(long, value_name = "UNITS", allow_negative_numbers = true)]
    pub(crate) max_edge: Option<f64>,
    /// How far an outline may stray from its cells
    #[arg(long, value_name = "CELLS", allow_negative_numbers = true)]
    pub(crate) contour_error: Option<f64>,
    /// Spacing of height samples, 0 for none
    #[arg(long, value_name = "UNITS", allow_negative_numbers = true)]
    pub(crate) detail_distance: Option<f64>,
    /// Largest height error at a sample
    #[arg(long, value_name = "UNITS", allow_negative_numbers = true)]
    pub(crate) detail_error: Option<f64>,
    /// Smaller regions without neighbours are dropped
    #[arg(long, value_name = "CELLS", allow_negative_numbers = true)]
    pub(crate) min_region: Option<i32>,
    /// Smaller regions join a neighbour
    #[arg(long, value_name = "CELLS", allow_negative_numbers = true)]
    pub(crate) merge_region: Option<i32>,
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

/// Agent classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// A person: radius 0.6, height 2
    Humanoid,
    /// A small creature: radius 0.3, height 1
    Small,
    /// A vehicle or giant: radius 1.5, height 4
    Large,
}

/// Region partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Partition {
    /// Few, well-shaped regions
    Watershed,
    /// Fast row sweeps
    Monotone,
    /// One region per height layer
    Layers,
}

/// Three numbers with commas between them.
fn point(text: &str) -> Result<DVec3, String> {
    let mut point = [0.0; 3];
    let mut words = text.split(',');
    for value in &mut point {
        let word = words
            .next()
            .ok_or("three numbers are needed: x,y,z")?
            .trim();
        *value = word
            .parse()
            .map_err(|_| format!("'{word}' is not a number"))?;
    }
    match words.next() {
        None => Ok(DVec3::from_array(point)),
        Some(_) => Err("three numbers are needed: x,y,z".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn points_are_three_numbers() {
        assert_eq!(point("1, -2.5,3e2"), Ok(DVec3::new(1.0, -2.5, 300.0)));
        assert!(point("nan,inf,0").is_ok_and(|p| p.x.is_nan()));
        for bad in ["", "1,2", "1,2,3,4", "1,2,x"] {
            assert!(point(bad).is_err(), "{bad}");
        }
    }
}

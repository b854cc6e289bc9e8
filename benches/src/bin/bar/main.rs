//! The bar: throng and its peers side by side.
//!
//! `bar [SUITE] [--only PART] [--json]` runs every row whose name contains `PART`. A row is measured
//! in a process of its own: the parent starts it again with `--row`, reads what it measures, and stops
//! it at the time limit, so a peer that hangs costs one row. A row that fails is told with its reason, the
//! others run all the same, and the program ends with an error. In that process ours and the peer run one
//! after the other, on the same input, as often as `--reps` says; the table shows medians, and the
//! median of the ratios of each repetition.
//!
//! Built without the feature `peers`, only our side runs.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a program that reads the clock and reports; nothing it does decides a result"
)]

mod measure;
#[cfg(feature = "peers")]
mod peers;
mod report;
mod run;
mod scenes;
mod suites;

use clap::Parser;
use std::process::ExitCode;

/// Compares throng with Recast, Detour, DetourCrowd and dodgy_2d.
#[derive(Debug, Parser)]
#[command(name = "bar", max_term_width = 100)]
struct Arguments {
    /// The suite to run: crowd, build, query, change, orca or scale. All of them without.
    suite: Option<String>,
    /// Only rows whose name contains this.
    #[arg(long)]
    only: Option<String>,
    /// One JSON array of `{suite, row, metric, unit, ours, peer, ratio}` instead of lines and table.
    #[arg(long)]
    json: bool,
    /// Repetitions of every row.
    #[arg(long, default_value_t = 5)]
    reps: usize,
    /// Seconds after which a row is stopped.
    #[arg(long, default_value_t = 900)]
    limit: u64,
    /// Names the rows and runs none.
    #[arg(long)]
    list: bool,
    /// Measures one row in this process.
    #[arg(long, hide = true)]
    row: Option<String>,
    /// Which side of the row: both without.
    #[arg(long, hide = true)]
    side: Option<String>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.row {
        Some(row) => run::measure_here(row, arguments.reps.max(1), arguments.side.as_deref()),
        None => run::run_all(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            // The process that started a row's tells of it.
            match &arguments.row {
                Some(_) => measure::say_problem(&problem),
                None => eprintln!("bar: {problem}"),
            }
            ExitCode::FAILURE
        }
    }
}

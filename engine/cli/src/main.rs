//! The `throng` program: crowds on navigation meshes from the command line.
//!
//! In: a level (a file of triangles, heights or cells, a baked file, or the name of a generated level)
//! and options. Out: a report on standard output, as text or as one JSON object, and the files asked
//! for; where one of them goes to standard output, the report goes to standard error. Progress goes to standard error when that is a terminal, and so do warnings. Exit codes: 0
//! done, 1 one line on standard error says what is wrong (that there is no path or no ground, too),
//! 2 a usage error.
//!
//! This is the only crate that prints, reads files, or looks at a clock or at the machine.

mod args;
mod bake;
mod cells;
mod check;
mod file;
mod forms;
mod gltf;
mod greymap;
mod host;
mod info;
mod input;
mod level;
mod outputs;
mod path;
mod picture;
mod record;
mod report;
mod simulate;
mod spawn;
mod walkers;
mod words;

use std::process::ExitCode;

use args::{Cli, Command};
use clap::Parser;
use clap::error::ErrorKind;
use host::{Failure, say_error};

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Simulate(args) => simulate::run(&args),
        Command::Bake(args) => bake::run(&args),
        Command::Path(args) => path::run(&args),
        Command::Info(args) => info::run(&args),
    };
    match done {
        Ok(()) | Err(Failure::ReaderGone) => ExitCode::SUCCESS,
        Err(Failure::Said(problem)) => {
            say_error(&problem);
            ExitCode::FAILURE
        }
        Err(Failure::Usage(problem)) => {
            let problem = words::shortened(&problem);
            let message = format!("{problem}\n\nFor more information, try '--help'.\n");
            clap::Error::raw(ErrorKind::ValueValidation, message).exit()
        }
    }
}

//! The machine the program runs on: clock, cores, memory, files, streams and progress bars.
//!
//! Everything the libraries may not touch stands here, and what it gives never decides a result.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the program measures time and counts cores; the libraries do not"
)]

use std::fmt;
use std::fs::{self, File};
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::file::NewFile;
use crate::words::shortened;

/// Why the program stops.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What is wrong, in one line.
    Said(String),
    /// What is wrong with the command line itself.
    Usage(String),
    /// Whoever reads the output has gone; nobody is left to tell.
    ReaderGone,
}

impl Failure {
    /// A failure about `what` (a file, an option).
    pub(crate) fn about(what: impl fmt::Display, problem: impl fmt::Display) -> Self {
        Self::Said(format!("{what}: {problem}"))
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Said(error.to_string())
    }
}

/// Measures wall-clock time from its making or last lap.
#[derive(Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// Time since the start or the last lap.
    pub(crate) fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    /// Time since the start or the last lap; a new lap begins.
    pub(crate) fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now - std::mem::replace(&mut self.0, now)
    }
}

/// Milliseconds of a duration.
pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Threads to use when `asked` for: 0 means all cores, and a crowd takes 256 at most.
pub(crate) fn threads(asked: u32) -> usize {
    match asked {
        0 => std::thread::available_parallelism().map_or(1, |cores| cores.get().min(256)),
        _ => asked as usize,
    }
}

/// Peak resident memory in MiB, where the system tells.
pub(crate) fn peak_rss_mb() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024.0)
}

/// The bytes of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    if path.is_dir() {
        return Err(Failure::about(path.display(), "is a directory, not a file"));
    }
    let named = |error: io::Error| Failure::about(path.display(), reason(&error));
    let mut file = File::open(path).map_err(named)?;
    if file.metadata().is_ok_and(|about| about.is_file()) {
        let mut bytes = Vec::new();
        return file.read_to_end(&mut bytes).map_err(named).map(|_| bytes);
    }
    // Pipes and devices need not end.
    let mut bytes = Vec::new();
    let mut some = (&mut file).take(MOST_STREAMED + 1);
    some.read_to_end(&mut bytes).map_err(named)?;
    if bytes.len() as u64 > MOST_STREAMED {
        let problem = format!(
            "is no file and has no end within {} MB",
            MOST_STREAMED >> 20
        );
        return Err(Failure::about(path.display(), problem));
    }
    Ok(bytes)
}

/// Most bytes read from what is not a file.
const MOST_STREAMED: u64 = 256 << 20;

/// Writes a file, as a whole or not at all.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let written = NewFile::create(path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.finish()
    });
    written.map_err(|error| cannot_write(path, &error))
}

pub(crate) fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    let problem = format!("cannot write: {}", reason(error));
    Failure::about(place_of(path).display(), problem)
}

/// The name by which people know where a file goes.
pub(crate) fn place_of(path: &Path) -> &Path {
    if path.as_os_str() == "-" {
        Path::new("standard output")
    } else {
        path
    }
}

/// A system error in plain words where there are some.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or directory".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        _ => {
            let text = error.to_string();
            let words = text.split(" (os error").next().unwrap_or(&text);
            words.to_lowercase()
        }
    }
}

/// What prints a report.
pub(crate) type Say = fn(&str) -> Result<(), Failure>;

/// Prints `text` and a line end on standard output.
pub(crate) fn say(text: &str) -> Result<(), Failure> {
    say_on(io::stdout().lock(), "standard output", text)
}

/// Prints `text` and a line end on standard error, where standard output is taken.
pub(crate) fn say_aside(text: &str) -> Result<(), Failure> {
    say_on(io::stderr().lock(), "standard error", text)
}

fn say_on(mut out: impl Write, name: &str, text: &str) -> Result<(), Failure> {
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::ReaderGone),
        Err(error) => Err(cannot_write(Path::new(name), &error)),
        Ok(()) => Ok(()),
    }
}

/// Prints a problem on standard error as one line.
pub(crate) fn say_error(problem: &str) {
    // Nothing is left to be done when standard error is closed.
    let _ = writeln!(io::stderr().lock(), "throng: {}", shortened(problem));
}

/// Whether standard error is a terminal and may carry progress.
pub(crate) fn shows_progress(json: bool) -> bool {
    !json && io::stderr().is_terminal()
}

/// A progress bar on standard error; draws nothing when not `shown`.
pub(crate) fn progress(shown: bool, label: &str, length: u64, unit: &str) -> ProgressBar {
    if !shown {
        return ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::hidden());
    }
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
    let template = format!(
        "{{prefix:>10.bold}} {{bar:32.cyan/dim}} {{human_pos:>7}}/{{human_len}} {unit} {{msg:.dim}} {{eta:>4.dim}}"
    );
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style.progress_chars("━╸─"));
    }
    bar.set_prefix(label.to_owned());
    bar
}

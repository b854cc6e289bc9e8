//! Running rows: each in a process of its own, with a time limit.

use crate::Arguments;
use crate::measure::Side;
use crate::report::{Line, Measured, table};
use crate::suites::{self, Row};
use std::env::current_exe;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Measures `row` in this process.
///
/// # Errors
/// There is no such row, or a side could not be set up.
pub(crate) fn measure_here(row: &str, reps: usize, side: Option<&str>) -> Result<(), String> {
    let known = suites::rows().into_iter().find(|known| known.name() == row);
    let known = known.ok_or_else(|| format!("no row {row}"))?;
    let sides: &[Side] = match side {
        Some("ours") => &[Side::Ours],
        Some("peer") => &[Side::Peer],
        _ => &[Side::Ours, Side::Peer],
    };
    (known.measure)(&known, reps, sides)
}

/// Runs every row asked for and shows the results.
///
/// # Errors
/// No row has the name, the peers are not optimised, or a row failed (all others are shown).
pub(crate) fn run_all(arguments: &Arguments) -> Result<(), String> {
    let wanted = |row: &Row| {
        let suite = arguments.suite.as_ref();
        suite.is_none_or(|suite| row.suite == suite)
            && arguments
                .only
                .as_ref()
                .is_none_or(|part| row.name().contains(part))
    };
    let rows: Vec<Row> = suites::rows().into_iter().filter(wanted).collect();
    if rows.is_empty() {
        let suites = suites::NAMES.join(", ");
        return Err(format!(
            "no row of that name (suites: {suites}; see --list)"
        ));
    }
    if arguments.list {
        rows.iter().for_each(|row| println!("{}", row.name()));
        return Ok(());
    }
    describe_peers(arguments.json)?;
    let mut all: Vec<Line> = Vec::new();
    let mut failed = Vec::new();
    for row in &rows {
        let (measured, stopped) = measure_apart(row, arguments)?;
        // A peer that hangs is an answer; without any of our numbers there is none.
        let hung = stopped.as_deref().is_some_and(|why| why.starts_with(HUNG));
        if stopped.is_some() && !(hung && measured.has_ours()) {
            failed.push(row.name());
        }
        let lines = measured.lines(row.suite, &row.scenario, stopped.as_deref());
        if !arguments.json {
            lines
                .iter()
                .flat_map(Line::rows)
                .for_each(|line| println!("{line}"));
        }
        all.extend(lines);
    }
    if arguments.json {
        let values: Vec<_> = all.iter().map(Line::json).collect();
        println!("{}", serde_json::Value::from(values));
    } else {
        print!("\n{}", table(&all));
    }
    match failed.len() {
        0 => Ok(()),
        1 => Err(format!("{} failed", failed[0])),
        several => Err(format!("{several} rows failed: {}", failed.join(", "))),
    }
}

fn describe_peers(quiet: bool) -> Result<(), String> {
    #[cfg(feature = "peers")]
    {
        let program = current_exe().map_err(|error| error.to_string())?;
        let built = crate::peers::compiled_with(&program)?;
        if !quiet {
            println!("peers: Recast, Detour, DetourCrowd 1.6.0, {built}; dodgy_2d 0.5.5");
        }
    }
    #[cfg(not(feature = "peers"))]
    if !quiet {
        println!("peers: none (build with --features peers)");
    }
    Ok(())
}

/// How the note of a row without an answer begins.
const HUNG: &str = "no answer within ";

/// Starts this program again for one row. Returns what it measured and, when it did not finish, why.
fn measure_apart(row: &Row, arguments: &Arguments) -> Result<(Measured, Option<String>), String> {
    let mut measured = Measured::default();
    let mut stopped = None;
    // Sides measured apart never see each other's memory.
    let sides: &[Option<&str>] = if row.apart {
        &[Some("ours"), Some("peer")]
    } else {
        &[None]
    };
    for side in sides {
        let program = current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        command.args(["--row", &row.name(), "--reps", &arguments.reps.to_string()]);
        if let Some(side) = side {
            command.args(["--side", side]);
        }
        command.stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let Some(output) = child.stdout.take() else {
            return Err("no output to read".into());
        };
        let (sender, receiver) = channel();
        let reader = thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let limit = Duration::from_secs(row.limit.unwrap_or(arguments.limit));
        let start = Instant::now();
        loop {
            match receiver.recv_timeout(limit.saturating_sub(start.elapsed())) {
                Ok(line) => measured.take(&line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    let _ = child.kill();
                    stopped = Some(format!("{HUNG}{} s", limit.as_secs()));
                    break;
                }
            }
        }
        let ended = child.wait().map_err(|error| error.to_string())?;
        let _ = reader.join();
        if stopped.is_none() && !ended.success() {
            let problem = measured.problem.clone();
            stopped = Some(problem.unwrap_or_else(|| format!("failed: {ended}")));
        }
    }
    Ok((measured, stopped))
}

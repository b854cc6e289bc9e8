//! The clock, and what a measuring process says to the one that started it.

use serde_json::json;
use std::io::{Write, stdout};
use std::time::Instant;

/// Who measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Ours,
    #[cfg_attr(not(feature = "peers"), allow(dead_code))]
    Peer,
}

impl Side {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Peer => "peer",
        }
    }
}

/// Reports one measurement at once, so that it is kept if the process is stopped later.
pub(crate) fn say(side: Side, metric: &str, value: f64, unit: &str) {
    let line = json!({ "side": side.name(), "metric": metric, "value": value, "unit": unit });
    let mut out = stdout().lock();
    // The reader may be gone; then nobody wants to know.
    let _ = writeln!(out, "{line}");
    let _ = out.flush();
}

/// Reports why a measuring process ends before its time.
pub(crate) fn say_problem(problem: &str) {
    let _ = writeln!(stdout().lock(), "{}", json!({ "problem": problem }));
}

/// Milliseconds `work` takes.
pub(crate) fn milliseconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e3
}

/// Most resident memory this process ever had, MB; none where the system does not say.
pub(crate) fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1024.0)
}

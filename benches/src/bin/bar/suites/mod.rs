//! The suites: which rows there are, and how each is measured.

mod build;
mod change;
mod crowd;
mod orca;
mod query;
mod scale;

use crate::measure::Side;

/// Names of the suites, in the order they run.
pub(crate) const NAMES: [&str; 6] = ["crowd", "build", "query", "change", "orca", "scale"];

/// One row of the bar.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Its suite.
    pub(crate) suite: &'static str,
    /// The rest of its name.
    pub(crate) scenario: String,
    /// Level, or what stands in its place.
    pub(crate) level: &'static str,
    /// Agents or other count.
    pub(crate) count: usize,
    /// A further setting: avoidance quality, threads.
    pub(crate) option: usize,
    /// Seconds, when the row has a limit of its own.
    pub(crate) limit: Option<u64>,
    /// Whether each side is measured in a process of its own.
    pub(crate) apart: bool,
    /// Measures the sides asked for, this many times, and says what came out.
    pub(crate) measure: fn(&Row, usize, &[Side]) -> Result<(), String>,
}

impl Row {
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.suite, self.scenario)
    }
}

/// All rows.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = crowd::rows();
    rows.extend(build::rows());
    rows.extend(query::rows());
    rows.extend(change::rows());
    rows.extend(orca::rows());
    rows.extend(scale::rows());
    rows
}

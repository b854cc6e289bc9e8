//! Rows: what was measured, medians, ratios, and the three ways to show them.

use serde_json::{Value, json};
use std::collections::BTreeMap;

/// One row's measurements, by metric in the order they came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    metrics: Vec<Metric>,
    places: BTreeMap<String, usize>,
    /// What the measuring process said went wrong.
    pub(crate) problem: Option<String>,
}

/// One metric of one row: a value per repetition and side.
#[derive(Clone, Debug)]
struct Metric {
    name: String,
    unit: String,
    ours: Vec<f64>,
    peer: Vec<f64>,
}

/// A line of the table.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    suite: String,
    row: String,
    metric: String,
    unit: String,
    ours: Option<f64>,
    peer: Option<f64>,
    ratio: Option<f64>,
    /// Why the row did not finish, instead of numbers.
    note: Option<String>,
}

impl Measured {
    /// Takes one line of a measuring process. Others are ignored.
    pub(crate) fn take(&mut self, line: &str) {
        let Ok(said) = serde_json::from_str::<Value>(line) else {
            return;
        };
        if let Some(problem) = said["problem"].as_str() {
            self.problem = Some(problem.to_owned());
        }
        let text = |key: &str| said[key].as_str().unwrap_or_default().to_owned();
        let (name, Some(value)) = (text("metric"), said["value"].as_f64()) else {
            return;
        };
        let place = *self.places.entry(name.clone()).or_insert_with(|| {
            self.metrics.push(Metric {
                name,
                unit: text("unit"),
                ours: Vec::new(),
                peer: Vec::new(),
            });
            self.metrics.len() - 1
        });
        let metric = &mut self.metrics[place];
        if text("side") == "ours" {
            metric.ours.push(value);
        } else {
            metric.peer.push(value);
        }
    }

    /// Whether our side measured anything.
    pub(crate) fn has_ours(&self) -> bool {
        self.metrics.iter().any(|metric| !metric.ours.is_empty())
    }

    /// The lines of the row; `stopped` says why the measuring process did not finish.
    pub(crate) fn lines(&self, suite: &str, row: &str, stopped: Option<&str>) -> Vec<Line> {
        let line = |metric: &Metric| Line {
            suite: suite.to_owned(),
            row: row.to_owned(),
            metric: metric.name.clone(),
            unit: metric.unit.clone(),
            ours: median(&metric.ours),
            peer: median(&metric.peer),
            ratio: median(&ratios(metric)),
            note: None,
        };
        let mut lines: Vec<Line> = self.metrics.iter().map(line).collect();
        if let Some(stopped) = stopped {
            lines.push(Line {
                suite: suite.to_owned(),
                row: row.to_owned(),
                metric: "stopped".into(),
                unit: "text".into(),
                ours: None,
                peer: None,
                ratio: None,
                note: Some(stopped.to_owned()),
            });
        }
        lines
    }
}

/// Ours over the peer's, repetition by repetition.
fn ratios(metric: &Metric) -> Vec<f64> {
    let pairs = metric.ours.iter().zip(&metric.peer);
    let known = pairs.filter(|(_, peer)| **peer != 0.0);
    known.map(|(ours, peer)| ours / peer).collect()
}

/// The middle value; of an even number the lower middle one.
fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().saturating_sub(1) / 2).copied()
}

impl Line {
    /// The bar's line form: `ROW,part,scenario,side,metric,value,unit`. Why a row stopped is said of
    /// the row, as side `row`: whose fault it is, is not known.
    pub(crate) fn rows(&self) -> Vec<String> {
        let row = |side: &str, value: String| {
            let Self {
                suite,
                row,
                metric,
                unit,
                ..
            } = self;
            format!("ROW,{suite},{row},{side},{metric},{value},{unit}")
        };
        let ours = format!("throng-{}", env!("CARGO_PKG_VERSION"));
        let peer = match self.suite.as_str() {
            "orca" => "dodgy_2d-0.5.5",
            "change" if self.row.starts_with("load/") => "reading the file",
            _ => "recast-1.6.0",
        };
        let sides = [(ours.as_str(), self.ours), (peer, self.peer)];
        let numbers = sides
            .into_iter()
            .filter_map(|(side, value)| Some((side, value?)));
        let mut rows: Vec<String> = numbers.map(|(side, v)| row(side, v.to_string())).collect();
        if let Some(note) = &self.note {
            rows.push(row("row", note.replace(',', ";")));
        }
        rows
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "suite": self.suite,
            "row": self.row,
            "metric": self.metric,
            "unit": self.unit,
            "ours": self.ours,
            "peer": self.peer,
            "ratio": self.ratio,
            "stopped": self.note,
        })
    }
}

/// The table a person reads.
pub(crate) fn table(lines: &[Line]) -> String {
    let number = |value: Option<f64>| match value {
        None => String::new(),
        Some(v) if v.fract() == 0.0 && v.abs() < 1e9 => format!("{v}"),
        Some(v) if v.abs() >= 100.0 => format!("{v:.1}"),
        Some(v) => format!("{v:.3}"),
    };
    let mut cells: Vec<[String; 5]> =
        vec![["row", "metric", "ours", "peer", "ratio"].map(Into::into)];
    for line in lines {
        cells.push([
            format!("{}/{}", line.suite, line.row),
            match line.note {
                None => format!("{} ({})", line.metric, line.unit),
                Some(_) => String::new(),
            },
            number(line.ours),
            number(line.peer),
            line.ratio.map_or(String::new(), |r| format!("{r:.3}")),
        ]);
    }
    let notes = lines.iter().map(|line| line.note.as_ref());
    let width = |column: usize| cells.iter().map(|c| c[column].len()).max().unwrap_or(0);
    let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(width);
    let mut text = String::new();
    for ([row, metric, ours, peer, ratio], note) in
        cells.iter().zip([None].into_iter().chain(notes))
    {
        let line = match note {
            None => format!("{row:a$}  {metric:b$}  {ours:>c$}  {peer:>d$}  {ratio:>e$}"),
            Some(note) => format!("{row:a$}  stopped: {note}"),
        };
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(values: &[(&str, f64)]) -> Measured {
        let mut measured = Measured::default();
        for (side, value) in values {
            let line = json!({ "side": side, "metric": "time", "value": value, "unit": "ms" });
            measured.take(&line.to_string());
        }
        measured
    }

    #[test]
    fn the_ratio_is_the_median_of_the_ratios() {
        let values = [
            ("ours", 1.0),
            ("peer", 10.0),
            ("ours", 2.0),
            ("peer", 4.0),
            ("ours", 3.0),
            ("peer", 15.0),
        ];
        let lines = measured(&values).lines("build", "city", None);
        assert_eq!((lines[0].ours, lines[0].peer), (Some(2.0), Some(10.0)));
        assert_eq!(lines[0].ratio, Some(0.2));
        assert_eq!(lines[0].rows()[1], "ROW,build,city,recast-1.6.0,time,10,ms");
    }

    #[test]
    fn a_peer_that_hangs_leaves_our_numbers_and_a_note() {
        let mut half = measured(&[("ours", 1.5)]);
        half.take("chatter");
        let lines = half.lines("crowd", "city", Some("no answer within 9 s"));
        assert_eq!((lines[0].ours, lines[0].ratio), (Some(1.5), None));
        assert_eq!(lines[1].json()["stopped"], "no answer within 9 s");
        assert!(lines[1].json()["peer"].is_null());
        assert!(table(&lines).contains("crowd/city  stopped: no answer within 9 s\n"));
        assert!(half.has_ours());
    }

    #[test]
    fn a_failure_is_the_rows_and_not_the_peers() {
        let mut none = measured(&[]);
        none.take(r#"{"problem":"level a.obj not found, set it"}"#);
        assert!(!none.has_ours());
        let lines = none.lines("build", "a", none.problem.as_deref());
        let row = "ROW,build,a,row,stopped,level a.obj not found; set it,text";
        assert_eq!(lines[0].rows(), [row]);
        assert!(table(&lines).contains("build/a  stopped: level a.obj not found, set it\n"));
    }

    #[test]
    fn loading_is_compared_with_reading() {
        let lines = measured(&[("ours", 30.0), ("peer", 10.0)]).lines("change", "load/50-MB", None);
        assert_eq!(lines[0].ratio, Some(3.0));
        let row = "ROW,change,load/50-MB,reading the file,time,10,ms";
        assert_eq!(lines[0].rows()[1], row);
    }
}

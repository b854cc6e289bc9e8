//! `throng path`: one path between two points.

use serde_json::{Value, json};
use throng::parts::soa::world::{check_point, distance3};
use throng::{MeshQuery, PathOptions, PathResult, PathStatus};

use crate::args::PathArgs;
use crate::host::{self, Failure};
use crate::level;
use crate::picture;
use crate::report::{Table, rounded};

/// Points printed before the middle is left out.
const MOST_POINTS: usize = 24;

/// Finds the path and prints it.
pub(crate) fn run(args: &PathArgs) -> Result<(), Failure> {
    check_point("--from", args.from)?;
    check_point("--to", args.to)?;
    let level = level::load(&args.level, &args.source, 0)?;
    let mut query = MeshQuery::default();
    let found = query.find_path(level.tiles(), args.from, args.to, &PathOptions::default())?;
    if let Some(path) = &args.picture {
        picture::path(path, &level, &found, args.from, args.to)?;
    }
    if args.source.json {
        return host::say(&object(args, &level.name, &found).to_string());
    }
    let mut table = Table::default();
    table.row("level", format!("{} ({})", level.name, level.source));
    table.row("status", words(found.status));
    if !found.points.is_empty() {
        table.row("length", format!("{:.4}", found.length));
        table.row("cost", format!("{:.4}", found.cost));
        table.row("corridor", format!("{} polygons", found.corridor.len()));
        let points = &found.points;
        for (index, point) in points.iter().enumerate() {
            let hidden = points.len() > MOST_POINTS
                && (MOST_POINTS / 2..points.len() - MOST_POINTS / 2).contains(&index);
            let p = point.position;
            if !hidden {
                let label = if index == 0 { "points" } else { "" };
                table.row(label, format!("{:.4}, {:.4}, {:.4}", p.x, p.y, p.z));
            } else if index == MOST_POINTS / 2 {
                table.row("", format!("... {} more", points.len() - MOST_POINTS));
            }
        }
    }
    if let Some(path) = &args.picture {
        table.row("picture", path.display().to_string());
    }
    host::say(&table.to_string())
}

fn object(args: &PathArgs, level: &str, found: &PathResult) -> Value {
    let points = found.points.iter().map(|p| p.position.to_array());
    json!({
        "level": level,
        "from": args.from.to_array(),
        "to": args.to.to_array(),
        "status": format!("{:?}", found.status),
        "length": found.length,
        "cost": found.cost.is_finite().then_some(found.cost),
        "corridor": found.corridor.len(),
        "points": points.collect::<Vec<_>>(),
        "distance": rounded(distance3(args.from, args.to)),
    })
}

/// A status for people.
fn words(status: PathStatus) -> &'static str {
    match status {
        PathStatus::Found => "found",
        PathStatus::Partial => {
            "partial: the goal cannot be reached, this leads as near as possible"
        }
        PathStatus::StartInvalid => "no path: nothing walkable near the start",
        PathStatus::GoalInvalid => "no path: nothing walkable near the goal",
        PathStatus::NoPath => "no path",
        PathStatus::BudgetExhausted | PathStatus::InProgress => "not finished",
        PathStatus::None => "none",
    }
}

//! `throng path`: one path between two points.

use serde_json::{Value, json};
use throng::debug::QueryDebug;
use throng::parts::query::mesh::closest_point_on_poly;
use throng::parts::soa::world::distance3;
use throng::{DVec3, MeshQuery, PathOptions, PathResult, PathStatus, TiledMesh};

use crate::args::PathArgs;
use crate::host::{Failure, place_of};
use crate::level::{self, Level};
use crate::outputs;
use crate::picture;
use crate::report::Table;
use crate::words::{counted, rounded, trimmed};

/// How far an end of the path may be from the point asked for without a word about it.
const MOVED: f64 = 0.01;
/// Points printed before the middle is left out.
const MOST_POINTS: usize = 24;

/// Finds the path and prints it. No path is a failure, reported all the same.
pub(crate) fn run(args: &PathArgs) -> Result<(), Failure> {
    let outputs = [("--picture", args.picture.as_ref())];
    let say = outputs::voice(&outputs);
    let level = level::load(&args.level, &args.source, 0, &outputs)?;
    let mut query = MeshQuery::default();
    let found = query.find_path(level.tiles(), args.from, args.to, &PathOptions::default())?;
    let drawn = args.picture.as_ref().map_or(Ok(()), |path| {
        let search = QueryDebug::collect(level.tiles(), &query.search, &found);
        picture::path(path, &level, &found, &search, args.from, args.to)
    });
    if args.source.json {
        say(&object(args, &level, &found).to_string())?;
    } else {
        say(&table(args, &level, &found, drawn.is_ok()).to_string())?;
    }
    drawn?;
    match found.status {
        PathStatus::Found | PathStatus::Partial => Ok(()),
        _ if level.is_empty() => Err(level.no_ground(args.source.json)),
        status => Err(Failure::about(&level.name, no_path(args, &level, status))),
    }
}

fn table(args: &PathArgs, level: &Level, found: &PathResult, is_drawn: bool) -> Table {
    let mut table = Table::default();
    table.row("level", format!("{} ({})", level.name, level.source));
    table.row("status", words(found.status));
    if let (Some(first), Some(last)) = (found.points.first(), found.points.last()) {
        table.row("length", format!("{:.4}", found.length));
        let cost = "what the search compares: a rougher way, priced by area";
        table.row("cost", format!("{:.4} ({cost})", found.cost));
        table.row("corridor", counted(found.corridor.len(), "polygon"));
        moved(&mut table, "start", args.from, first.position);
        if found.status == PathStatus::Found {
            moved(&mut table, "goal", args.to, last.position);
        }
        points(&mut table, found);
    }
    if let Some(path) = args.picture.as_ref().filter(|_| is_drawn) {
        table.row("picture", place_of(path).display().to_string());
    }
    if level.is_empty() {
        table.note(&level.why_empty());
    }
    table
}

/// Says when an end of the path is not the point asked for.
fn moved(table: &mut Table, what: &str, asked: DVec3, taken: DVec3) {
    let distance = distance3(asked, taken);
    if distance > MOVED {
        table.row(what, format!("moved {distance:.2} units onto the mesh"));
    }
}

fn points(table: &mut Table, found: &PathResult) {
    let points = &found.points;
    let shown = MOST_POINTS / 2;
    for (index, point) in points.iter().enumerate() {
        let hidden = points.len() > MOST_POINTS && (shown..points.len() - shown).contains(&index);
        let p = point.position;
        if !hidden {
            let label = if index == 0 { "points" } else { "" };
            table.row(label, format!("{:.4}, {:.4}, {:.4}", p.x, p.y, p.z));
        } else if index == shown {
            table.row("", format!("... {} more", points.len() - MOST_POINTS));
        }
    }
}

fn object(args: &PathArgs, level: &Level, found: &PathResult) -> Value {
    let points = found.points.iter().map(|p| p.position.to_array());
    json!({
        "level": level.name,
        "size": level.size,
        "from": args.from.to_array(),
        "to": args.to.to_array(),
        "status": id(found.status),
        "length": found.length,
        "cost": found.cost.is_finite().then_some(found.cost),
        "corridor": found.corridor.len(),
        "points": points.collect::<Vec<_>>(),
        "distance": rounded(distance3(args.from, args.to)),
    })
}

/// Why there is no path; of an end off the mesh, how far off it is.
fn no_path(args: &PathArgs, level: &Level, status: PathStatus) -> String {
    let (end, point) = match status {
        PathStatus::StartInvalid => ("start", args.from),
        PathStatus::GoalInvalid => ("goal", args.to),
        PathStatus::NoPath => return "nothing leads from the start to the goal".into(),
        status => return format!("the search ended with {}", words(status)),
    };
    let problem = format!("nothing walkable near the {end}");
    match nearest(level.tiles(), point) {
        Some(p) => format!(
            "{problem}; the nearest ground is at {},{},{}, {} units away",
            rounded(p.x),
            rounded(p.y),
            rounded(p.z),
            trimmed(distance3(p, point))
        ),
        None => problem,
    }
}

/// The point of the mesh nearest to `point`, however far away; the first of equals.
fn nearest(mesh: &TiledMesh, point: DVec3) -> Option<DVec3> {
    let mut best: Option<(f64, DVec3)> = None;
    for (slot, tile) in mesh.tiles() {
        for poly in 0..tile.poly_count() as u32 {
            let poly = mesh.poly_ref(slot, poly);
            let Some(closest) = closest_point_on_poly(mesh, poly, point) else {
                continue;
            };
            let distance = distance3(closest.point, point);
            if best.is_none_or(|(least, _)| distance < least) {
                best = Some((distance, closest.point));
            }
        }
    }
    best.map(|(_, point)| point)
}

/// A status for people.
fn words(status: PathStatus) -> &'static str {
    match status {
        PathStatus::Found => "found",
        PathStatus::Partial => {
            "partial: the goal cannot be reached, this leads as near as possible"
        }
        PathStatus::StartInvalid => "the start is off the mesh",
        PathStatus::GoalInvalid => "the goal is off the mesh",
        PathStatus::NoPath => "no path",
        PathStatus::BudgetExhausted | PathStatus::InProgress => "not finished",
        PathStatus::None => "none",
    }
}

/// A status for programs.
pub(crate) fn id(status: PathStatus) -> &'static str {
    match status {
        PathStatus::Found => "found",
        PathStatus::Partial => "partial",
        PathStatus::StartInvalid => "start_invalid",
        PathStatus::GoalInvalid => "goal_invalid",
        PathStatus::NoPath => "no_path",
        PathStatus::BudgetExhausted => "budget_exhausted",
        PathStatus::InProgress => "in_progress",
        PathStatus::None => "none",
    }
}

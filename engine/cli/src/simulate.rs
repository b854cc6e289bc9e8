//! `throng simulate`: a crowd walks through a level.
//!
//! Read [`run`] first: load, place, route, walk, report. Everything that decides where agents go
//! is a function of the arguments; the clock is only looked at to report times.

use std::path::PathBuf;

use indicatif::ProgressBar;
use throng::parts::soa::world::distance_xz;
use throng::{
    AgentId, AgentState, Crowd, CrowdOptions, DVec3, MeshQuery, SplitMix64, Stage, StepStats,
};

use crate::args::{OnArrival, Show, SimulateArgs};
use crate::check;
use crate::host::{self, Failure, Say, Stopwatch, milliseconds, peak_rss_mb, place_of};
use crate::level::{self, Level};
use crate::outputs;
use crate::picture::{self, Trails};
use crate::record::{Header, Recorder};
use crate::report::{MeshSizes, Report, STAGES, Table, mesh_sizes};
use crate::spawn::{Ground, Taken};
use crate::walkers::Walkers;
use crate::words::count;

/// Steps at the end over which the mean speed is taken.
const SPEED_STEPS: u32 = 20;
/// Agents between two looks at the progress bar.
pub(crate) const TICK: usize = 64;

/// Runs the simulation and prints its report.
pub(crate) fn run(args: &SimulateArgs) -> Result<(), Failure> {
    let outputs = [
        ("--picture", args.picture.as_ref()),
        ("--record", args.record.as_ref()),
    ];
    let say = outputs::voice(&outputs);
    let level = level::load(&args.level, &args.source, args.agents, &outputs)?;
    let mut crowd = Crowd::new(CrowdOptions {
        max_agents: args.agents,
        threads: host::threads(args.source.threads),
        record_constraints: args.show.contains(&Show::Constraints),
        ..CrowdOptions::default()
    })?;
    let mesh = level.tiles();
    let sizes = mesh_sizes(mesh);
    let Some(ground) = Ground::largest(mesh) else {
        return without_ground(args, &level, sizes, &crowd, say);
    };
    let mut watch = Stopwatch::start();
    let mut rng = SplitMix64::new(args.source.seed);
    let mut walkers = place(args, &level, &ground, &mut crowd, &mut rng)?;
    let spawn_ms = milliseconds(watch.lap());
    walkers.measure_routes(args, mesh, &crowd)?;
    let dt_walk = level.agent_options().max_speed * args.dt * f64::from(args.steps);
    let mut report = Report {
        could_arrive: walkers.route.iter().filter(|&&way| way <= dt_walk).count(),
        mean_route: mean(&walkers.route).unwrap_or(0.0),
        agents: crowd.len(),
        roomy: level.room_for(ground.area()),
        spawn_ms,
        ..blank_report(args, &level, sizes, &crowd)
    };
    let (trails, recorder) = walk(
        args,
        &level,
        &ground,
        &mut crowd,
        &mut walkers,
        &mut rng,
        &mut report,
    )?;
    report.arrived = walkers.arrivals;
    report.walked_over_route = mean(&walkers.ratios);
    report.states = states(&crowd);
    report.peak_rss_mb = peak_rss_mb();
    report.state_hash = crowd.state_hash(mesh);
    // Whatever becomes of the files, the report is not lost.
    let recorded = recorder.map_or(Ok(()), Recorder::finish);
    let drawn = args.picture.as_ref().map_or(Ok(()), |path| {
        picture::crowd(path, &level, &crowd, &trails, &report, &args.show)
    });
    let written = [
        ("picture", args.picture.as_ref().filter(|_| drawn.is_ok())),
        (
            "recording",
            args.record.as_ref().filter(|_| recorded.is_ok()),
        ),
    ];
    say_report(args, &report, written, say)?;
    recorded.and(drawn)
}

/// Puts agents on the ground, apart from each other, and sends each to a place of its own.
fn place(
    args: &SimulateArgs,
    level: &Level,
    ground: &Ground,
    crowd: &mut Crowd,
    rng: &mut SplitMix64,
) -> Result<Walkers, Failure> {
    let (mesh, options) = (level.tiles(), level.agent_options());
    let bar = bar(args, "placing", u64::from(args.agents), "agents");
    let height = f64::from(mesh.params().agent_height);
    let mut starts = Taken::new(2.0 * options.radius, height);
    let mut goals = Taken::new(2.0 * options.radius, height);
    let mut walkers = Walkers::default();
    for index in 0..args.agents as usize {
        let Some(start) = ground.draw_apart(mesh, rng, &mut starts) else {
            break;
        };
        // As many places to go as to start from; a last few may have to be shared.
        let goal = ground.draw_apart(mesh, rng, &mut goals);
        let goal = goal.unwrap_or_else(|| ground.draw(mesh, rng));
        let id = crowd.add(mesh, start, &options)?;
        walkers.ids.push(id);
        walkers.goal.push(goal);
        if index % TICK == 0 {
            bar.set_position(index as u64);
        }
    }
    bar.finish_and_clear();
    let goals = walkers.goal.iter().copied();
    let orders: Vec<(AgentId, DVec3)> = walkers.ids.iter().copied().zip(goals).collect();
    crowd.set_destinations(mesh, &orders)?;
    walkers.begin(crowd);
    Ok(walkers)
}

/// All steps.
fn walk(
    args: &SimulateArgs,
    level: &Level,
    ground: &Ground,
    crowd: &mut Crowd,
    walkers: &mut Walkers,
    rng: &mut SplitMix64,
    report: &mut Report,
) -> Result<(Trails, Option<Recorder>), Failure> {
    let mesh = level.tiles();
    let mut recorder = match &args.record {
        Some(path) => Some(Recorder::create(path, &header(args, level, crowd))?),
        None => None,
    };
    let mut trails = Trails::new(args.picture.is_some(), crowd.len(), args.steps);
    let mut query = MeshQuery::default();
    let mut speed = Mean::default();
    let bar = bar(args, "walking", u64::from(args.steps), "steps");
    record(&mut recorder, crowd)?;
    trails.take(0, crowd);
    for step in 1..=args.steps {
        report.agent_steps += crowd.len() as u64;
        let mut watch = Stopwatch::start();
        let mut times = [0.0; 4];
        crowd.step_observed(mesh, args.dt, |ended: Stage| {
            if let Some(place) = STAGES.iter().position(|&(stage, _)| stage == ended) {
                times[place] = milliseconds(watch.lap());
            }
        })?;
        for (sum, time) in report.stages_ms.iter_mut().zip(times) {
            *sum += time;
            report.step_ms += time;
        }
        if let Some(profile) = &mut report.profile {
            *profile += crowd.step_stats();
        }
        walkers.observe(crowd);
        if step + SPEED_STEPS > args.steps {
            speed.add_moving(crowd);
        }
        record(&mut recorder, crowd)?;
        trails.take(step, crowd);
        if args.check {
            let checked = check::on_mesh(mesh, crowd)?;
            *report.checked.get_or_insert(0) += checked;
        }
        if args.on_arrival != OnArrival::Stay {
            walkers.follow_up(args.on_arrival, mesh, ground, crowd, rng, &mut query)?;
        }
        bar.set_position(u64::from(step));
        if step % 8 == 0 {
            bar.set_message(format!("{} arrived", count(walkers.arrivals as usize)));
        }
    }
    bar.finish_and_clear();
    report.mean_speed = speed.value();
    Ok((trails, recorder))
}

fn record(recorder: &mut Option<Recorder>, crowd: &Crowd) -> Result<(), Failure> {
    match recorder {
        Some(recorder) => recorder.frame(&crowd.columns()),
        None => Ok(()),
    }
}

fn header(args: &SimulateArgs, level: &Level, crowd: &Crowd) -> Header {
    let mesh = level.tiles();
    let low = mesh.tiles().map(|(_, tile)| tile.tile_min);
    Header {
        slots: crowd.slot_count() as u32,
        frames: args.steps.saturating_add(1),
        dt: args.dt,
        radius: level.agent_options().radius,
        origin: low.reduce(DVec3::min).unwrap_or(DVec3::ZERO).floor(),
    }
}

/// A running mean.
#[derive(Debug, Default)]
struct Mean {
    sum: f64,
    count: u64,
}

impl Mean {
    fn add_moving(&mut self, crowd: &Crowd) {
        let columns = crowd.columns();
        for slot in 0..columns.state.len() {
            if columns.active[slot] && columns.state[slot] == AgentState::Moving {
                self.sum += distance_xz(columns.velocity[slot], DVec3::ZERO);
                self.count += 1;
            }
        }
    }

    fn value(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Agents per state.
pub(crate) fn states(crowd: &Crowd) -> [usize; 6] {
    let mut states = [0; 6];
    for agent in crowd.agents() {
        states[agent.state() as usize] += 1;
    }
    states
}

/// A progress bar of this run.
pub(crate) fn bar(args: &SimulateArgs, label: &str, length: u64, unit: &str) -> ProgressBar {
    host::progress(host::shows_progress(args.source.json), label, length, unit)
}

fn blank_report(args: &SimulateArgs, level: &Level, sizes: MeshSizes, crowd: &Crowd) -> Report {
    Report {
        level: level.name.clone(),
        source: level.source.clone(),
        size: level.size,
        build_ms: level.build_ms,
        sizes,
        asked: args.agents,
        agents: 0,
        roomy: 0,
        steps: args.steps,
        dt: args.dt,
        threads: crowd.options().threads,
        seed: args.source.seed,
        on_arrival: args.on_arrival,
        spawn_ms: 0.0,
        arrived: 0,
        could_arrive: 0,
        states: [0; 6],
        mean_route: 0.0,
        mean_speed: None,
        walked_over_route: None,
        agent_steps: 0,
        stages_ms: [0.0; 4],
        step_ms: 0.0,
        profile: args.profile.then(StepStats::default),
        checked: args.check.then_some(0),
        peak_rss_mb: None,
        state_hash: 0,
    }
}

/// A level nobody can stand on: the reason is told, and the run has failed.
fn without_ground(
    args: &SimulateArgs,
    level: &Level,
    sizes: MeshSizes,
    crowd: &Crowd,
    say: Say,
) -> Result<(), Failure> {
    if args.source.json {
        let report = Report {
            state_hash: crowd.state_hash(level.tiles()),
            peak_rss_mb: peak_rss_mb(),
            ..blank_report(args, level, sizes, crowd)
        };
        say(&report.object().to_string())?;
    } else {
        let mut table = Table::default();
        table.row("level", format!("{} ({})", level.name, level.source));
        table.note(&level.why_empty());
        if args.picture.is_some() || args.record.is_some() {
            table.note("Nobody walked: nothing was drawn or recorded.");
        }
        say(&table.to_string())?;
    }
    Err(level.no_ground(args.source.json))
}

fn say_report(
    args: &SimulateArgs,
    report: &Report,
    written: [(&str, Option<&PathBuf>); 2],
    say: Say,
) -> Result<(), Failure> {
    if args.source.json {
        return say(&report.object().to_string());
    }
    let mut text = report.text();
    text.push_str("\n\n  The same arguments give this hash on every machine and thread count.");
    for (what, file) in written {
        if let Some(path) = file {
            text.push_str(&format!(
                "\n  The {what} is in {}.",
                place_of(path).display()
            ));
        }
    }
    if report.is_packed() {
        let roomy = report.roomy;
        text.push_str(&format!(
            "\n  It is crowded: `--agents {roomy}` would have room to walk freely."
        ));
    }
    if args.picture.is_none() {
        let again = match args.on_arrival {
            OnArrival::Stay => ", or `--on-arrival again` to keep it walking",
            OnArrival::Remove | OnArrival::Again => "",
        };
        text.push_str(&format!(
            "\n  Next: add `--picture crowd.svg` to see it{again}."
        ));
    }
    say(&text)
}

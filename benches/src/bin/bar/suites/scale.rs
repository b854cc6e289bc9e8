//! How the cost of a crowd grows: with agents, with threads, in memory, and when all are sent at
//! once.

use super::Row;
use crate::measure::{Side, milliseconds, peak_memory, say};
use crate::scenes;
use throng::{AgentId, Crowd, DVec3, NavMesh};

const WARM: usize = 50;
const TIMED: usize = 40;
const DT: f64 = 0.05;

pub(super) fn rows() -> Vec<Row> {
    let row = |scenario: String, count: usize, apart: bool, measure: Measure| Row {
        suite: "scale",
        scenario,
        level: "city-512",
        count,
        option: 0,
        limit: None,
        apart,
        measure,
    };
    let mut rows = Vec::new();
    for count in [1_000, 5_000, 10_000, 25_000, 50_000] {
        rows.push(row(format!("agents/{count}"), count, false, agents));
    }
    rows.push(row("growth/1000-to-50000".into(), 50_000, false, growth));
    for count in [1_000, 10_000, 16_000, 50_000] {
        rows.push(row(format!("memory/{count}"), count, true, memory));
    }
    rows.push(row("orders/10000".into(), 10_000, false, orders));
    rows
}

type Measure = fn(&Row, usize, &[Side]) -> Result<(), String>;

/// Microseconds of one agent's step after the warm ones.
fn cost(mesh: &NavMesh, count: usize, threads: usize) -> f64 {
    let ways = throng_benches::pairs(mesh, count, 7);
    let mut crowd = throng_benches::crowd_between(mesh, &ways, threads);
    steps(&mut crowd, mesh, WARM);
    let time = milliseconds(|| steps(&mut crowd, mesh, TIMED));
    time * 1e3 / (count * TIMED) as f64
}

fn steps(crowd: &mut Crowd, mesh: &NavMesh, count: usize) {
    for _ in 0..count {
        let stepped = crowd.step(mesh, DT);
        stepped.unwrap_or_else(|error| panic!("{error}"));
    }
}

/// One thread and two.
fn agents(row: &Row, reps: usize, sides: &[Side]) -> Result<(), String> {
    let mesh = scenes::mesh(&scenes::level(row.level)?)?;
    if !sides.contains(&Side::Ours) {
        return Ok(());
    }
    for _ in 0..reps {
        let (one, two) = (cost(&mesh, row.count, 1), cost(&mesh, row.count, 2));
        say(Side::Ours, "one_thread", one, "us/agent-step");
        say(Side::Ours, "two_threads", two, "us/agent-step");
        say(Side::Ours, "speedup", one / two, "x");
    }
    Ok(())
}

/// The cost of an agent among many over that of one among a thousand.
fn growth(row: &Row, reps: usize, sides: &[Side]) -> Result<(), String> {
    let mesh = scenes::mesh(&scenes::level(row.level)?)?;
    if !sides.contains(&Side::Ours) {
        return Ok(());
    }
    for _ in 0..reps {
        let (few, many) = (cost(&mesh, 1_000, 1), cost(&mesh, row.count, 1));
        say(Side::Ours, "growth", many / few, "x");
    }
    Ok(())
}

/// Memory of a crowd on its way: ours by what it holds, both by what their processes ever held.
fn memory(row: &Row, _reps: usize, sides: &[Side]) -> Result<(), String> {
    let soup = scenes::level(row.level)?;
    let mesh = scenes::mesh(&soup)?;
    let ways = throng_benches::pairs(&mesh, row.count, 7);
    if sides.contains(&Side::Ours) {
        let mut crowd = throng_benches::crowd_between(&mesh, &ways, 1);
        steps(&mut crowd, &mesh, 20);
        let bytes = crowd.heap_bytes() as f64 / row.count as f64;
        say(Side::Ours, "bytes_per_agent", bytes, "bytes");
        say_peak(Side::Ours);
    }
    #[cfg(feature = "peers")]
    if sides.contains(&Side::Peer) {
        // The points came from a mesh of ours: it goes, and the peak begins anew.
        drop(mesh);
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        let (cells, settings) = (scenes::peer_tile_cells(), scenes::settings());
        let mesh = crate::peers::recast::build_tiled(&soup, &settings, cells)?;
        let mut crowd = crate::peers::detour::DetourCrowd::new(&mesh, &ways, 3)?;
        for _ in 0..20 {
            crowd.step(DT as f32);
        }
        say_peak(Side::Peer);
    }
    Ok(())
}

fn say_peak(side: Side) {
    if let Some(peak) = peak_memory() {
        say(side, "peak_rss", peak, "MB");
    }
}

/// Everybody is sent somewhere else at once.
fn orders(row: &Row, reps: usize, sides: &[Side]) -> Result<(), String> {
    let mesh = scenes::mesh(&scenes::level(row.level)?)?;
    if !sides.contains(&Side::Ours) {
        return Ok(());
    }
    let ways = throng_benches::pairs(&mesh, row.count, 7);
    let goals = throng_benches::pairs(&mesh, row.count, 8);
    for _ in 0..reps {
        for threads in [1, 2] {
            let mut crowd = throng_benches::crowd_between(&mesh, &ways, threads);
            let ids: Vec<AgentId> = crowd.agents().map(|agent| agent.id()).collect();
            let sent = ids.iter().zip(&goals).map(|(&id, &(_, goal))| (id, goal));
            let sent: Vec<(AgentId, DVec3)> = sent.collect();
            let time = milliseconds(|| {
                let _ = crowd.set_destinations(&mesh, &sent);
            });
            let metric = if threads == 1 {
                "one_thread"
            } else {
                "two_threads"
            };
            say(
                Side::Ours,
                metric,
                time * 1e3 / row.count as f64,
                "us/order",
            );
        }
    }
    Ok(())
}

//! Crowds on a mesh: throng against DetourCrowd.
//!
//! Agents start on random points and walk to others, 50 steps of 0.05 s unmeasured and 100 measured;
//! then every agent is given its whole path on both sides, where it was not found yet, and 100 more
//! steps are measured ("planned"): DetourCrowd plans about a hundred search steps per update for all
//! its agents together, so most of a large crowd stands for a long time. DetourCrowd uses the values
//! of its demo and all its steering flags; ours those of the person preset.

use super::Row;
use crate::measure::{Side, milliseconds, say};
use crate::scenes;
use throng::{AgentState, Crowd, DVec3, NavMesh};

const WARM: usize = 50;
const TIMED: usize = 100;
const DT: f64 = 0.05;

pub(super) fn rows() -> Vec<Row> {
    let scenes: [(&'static str, &[usize]); 3] = [
        ("city-256", &[100, 1_000, 5_000, 10_000]),
        ("city-512", &[1_000, 5_000, 10_000, 16_000, 25_000, 50_000]),
        ("nav_test", &[100, 500]),
    ];
    let mut rows = Vec::new();
    for (level, counts) in scenes {
        for &count in counts {
            for quality in [0, 3] {
                rows.push(Row {
                    suite: "crowd",
                    scenario: format!("{level}/{count}/quality-{quality}"),
                    level,
                    count,
                    option: quality,
                    limit: None,
                    apart: false,
                    measure,
                });
            }
        }
    }
    rows
}

fn measure(row: &Row, reps: usize, sides: &[Side]) -> Result<(), String> {
    let soup = scenes::level(row.level)?;
    let mesh = scenes::mesh(&soup)?;
    let ways = throng_benches::pairs(&mesh, row.count, 7);
    #[cfg(feature = "peers")]
    let peer_mesh =
        crate::peers::recast::build_tiled(&soup, &scenes::settings(), scenes::peer_tile_cells())?;
    for _ in 0..reps {
        for side in sides {
            match side {
                Side::Ours => ours(&mesh, &ways, 1),
                #[cfg(feature = "peers")]
                Side::Peer => peer(&peer_mesh, &ways, row.option as u8)?,
                #[cfg(not(feature = "peers"))]
                Side::Peer => {}
            }
        }
    }
    Ok(())
}

/// Says the cost of one agent for one step.
fn say_cost(side: Side, metric: &str, milliseconds: f64, agents: usize) {
    let steps = (agents * TIMED) as f64;
    say(side, metric, milliseconds * 1e3 / steps, "us/agent-step");
}

fn ours(mesh: &NavMesh, ways: &[(DVec3, DVec3)], threads: usize) {
    let mut crowd = throng_benches::crowd_between(mesh, ways, threads);
    steps(&mut crowd, mesh, WARM);
    let time = milliseconds(|| steps(&mut crowd, mesh, TIMED));
    say_cost(Side::Ours, "time", time, ways.len());
    say(Side::Ours, "planned", planned(&crowd) as f64, "agents");
    // Ours plans in the call that sends an agent; whoever is left needs a few steps more.
    for _ in 0..200 {
        if planned(&crowd) == ways.len() {
            break;
        }
        steps(&mut crowd, mesh, 1);
    }
    let time = milliseconds(|| steps(&mut crowd, mesh, TIMED));
    say_cost(Side::Ours, "planned_time", time, ways.len());
    say(
        Side::Ours,
        "planned_at_end",
        planned(&crowd) as f64,
        "agents",
    );
    let speed = crowd
        .columns()
        .velocity
        .iter()
        .map(|v| (v.x * v.x + v.z * v.z).sqrt());
    say(
        Side::Ours,
        "mean_speed",
        speed.sum::<f64>() / ways.len() as f64,
        "units/s",
    );
}

fn steps(crowd: &mut Crowd, mesh: &NavMesh, count: usize) {
    for _ in 0..count {
        let stepped = crowd.step(mesh, DT);
        stepped.unwrap_or_else(|error| panic!("{error}"));
    }
}

/// Agents whose route leads to their goal, those that are there included.
fn planned(crowd: &Crowd) -> usize {
    let has_route = |agent: &throng::Agent<'_>| {
        agent.route_is_complete() || agent.state() == AgentState::Arrived
    };
    crowd.agents().filter(has_route).count()
}

#[cfg(feature = "peers")]
fn peer(
    mesh: &crate::peers::recast::DetourMesh,
    ways: &[(DVec3, DVec3)],
    quality: u8,
) -> Result<(), String> {
    let mut crowd = crate::peers::detour::DetourCrowd::new(mesh, ways, quality)?;
    let steps = |crowd: &mut crate::peers::detour::DetourCrowd<'_>, count: usize| {
        for _ in 0..count {
            crowd.step(DT as f32);
        }
    };
    steps(&mut crowd, WARM);
    let time = milliseconds(|| steps(&mut crowd, TIMED));
    say_cost(Side::Peer, "time", time, ways.len());
    say(Side::Peer, "planned", crowd.planned() as f64, "agents");
    crowd.plan_all();
    let time = milliseconds(|| steps(&mut crowd, TIMED));
    say_cost(Side::Peer, "planned_time", time, ways.len());
    say(
        Side::Peer,
        "planned_at_end",
        crowd.planned() as f64,
        "agents",
    );
    say(Side::Peer, "mean_speed", crowd.mean_speed(), "units/s");
    Ok(())
}

//! Stage 1b: who may enter an off-mesh link.
//!
//! In: the plans of agents that stand at an entry, and the agents being carried. Out: at most one
//! agent per link and step begins its crossing; the others wait where they are. Agents on a link do
//! not avoid each other and land in one place, so the way in is free only when everybody on the link
//! has gone ahead far enough to walk out of the next one's landing. The nearest to the entry goes
//! first, the lower slot among equals. One thread: few agents stand at an entry at a time.
//!
//! Links that the host drives ([`OffMeshMode::Host`]) have no queue: whoever comes near enough is
//! handed over at once.

use super::options::{CrowdOptions, Profile};
use super::plan::{AgentPlan, PlanRows, follower_row};
use super::walls::refresh_walls;
use crate::follower::{OffMeshMode, SteerKind, enter};
use crate::navigator::Navigator;
use std::cmp::Ordering;
use throng_soa::agents::{AgentState, Crossing};
use throng_soa::mesh::TiledMesh;
use throng_soa::world::{DVec3, distance_xz_sq, distance3};

/// Agents on one link keep this many sums of their radii between them. One would do on the link;
/// whoever lands has to pick up speed first, and a second one is the room for that.
const GAP: f64 = 2.0;

/// An agent at a link: about to enter it, or carried by it.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtLink {
    start: DVec3,
    end: DVec3,
    /// For one that waits: squared distance to the entry in the plane. One that is carried has
    /// none.
    waits: Option<f64>,
    slot: u32,
}

/// Begins the crossings of this step. `queue` is scratch; nothing is allocated once it has grown.
pub(super) fn enter_links(
    mut rows: PlanRows<'_>,
    mesh: &TiledMesh,
    options: &CrowdOptions,
    profiles: &[Profile],
    queue: &mut Vec<AtLink>,
    navigator: &mut Navigator,
) {
    collect(&rows, profiles, queue);
    if queue.iter().all(|agent| agent.waits.is_none()) {
        return;
    }
    queue.sort_unstable_by(|a, b| same_link(a, b).then_with(|| a.slot.cmp(&b.slot)));
    for link in queue.chunk_by(|a, b| same_link(a, b).is_eq()) {
        let next = next_in(link);
        let may = next.filter(|next| is_clear(&rows, link, next, profiles));
        for agent in link.iter().filter(|agent| agent.waits.is_some()) {
            let slot = agent.slot as usize;
            if may.is_some_and(|first| first.slot == agent.slot) {
                let (agents, routes) = (&mut rows.agents, &mut rows.routes);
                enter(&mut follower_row(agents, routes, rows.paths, slot));
                rows.plans[slot] = AgentPlan {
                    crossing: true,
                    ..AgentPlan::default()
                };
            } else {
                let profile = &profiles[rows.agents.profile[slot] as usize];
                refresh_walls(&mut rows, slot, mesh, options, profile, navigator);
            }
        }
    }
}

fn collect(rows: &PlanRows<'_>, profiles: &[Profile], queue: &mut Vec<AtLink>) {
    queue.clear();
    for slot in 0..rows.plans.len() {
        if !rows.agents.active[slot] {
            continue;
        }
        let Crossing { start, end, .. } = rows.routes.crossing[slot];
        let waits = if rows.plans[slot].plan.kind == SteerKind::AtEntry {
            Some(distance_xz_sq(rows.agents.position[slot], start))
        } else if rows.agents.state[slot] == AgentState::OffMeshLink {
            let profile = &profiles[rows.agents.profile[slot] as usize];
            if profile.follower.off_mesh_mode == OffMeshMode::Host {
                continue;
            }
            None
        } else {
            continue;
        };
        queue.push(AtLink {
            start,
            end,
            waits,
            slot: slot as u32,
        });
    }
}

/// Orders agents by the link they are at, and tells links apart by their two ends.
fn same_link(a: &AtLink, b: &AtLink) -> Ordering {
    let ends = |agent: &AtLink| {
        let (start, end) = (agent.start, agent.end);
        [start.x, start.y, start.z, end.x, end.y, end.z]
    };
    let pairs = ends(a).into_iter().zip(ends(b));
    pairs.fold(Ordering::Equal, |order, (a, b)| order.then(a.total_cmp(&b)))
}

/// The waiting agent nearest to the entry.
fn next_in(link: &[AtLink]) -> Option<AtLink> {
    let mut nearest: Option<(f64, AtLink)> = None;
    for agent in link {
        let Some(distance) = agent.waits else {
            continue;
        };
        if nearest.is_none_or(|(least, _)| distance < least) {
            nearest = Some((distance, *agent));
        }
    }
    nearest.map(|(_, agent)| agent)
}

/// Whether everybody the link carries has left the entry far enough behind.
fn is_clear(rows: &PlanRows<'_>, link: &[AtLink], next: &AtLink, profiles: &[Profile]) -> bool {
    let radius = |slot: u32| {
        let profile = rows.agents.profile[slot as usize];
        profiles[profile as usize].options.radius
    };
    let own = radius(next.slot);
    link.iter()
        .filter(|agent| agent.waits.is_none())
        .all(|agent| {
            let gone = distance3(rows.agents.position[agent.slot as usize], next.start);
            gone >= GAP * (own + radius(agent.slot))
        })
}

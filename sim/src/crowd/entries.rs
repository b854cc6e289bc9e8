//! Stage 1b: who may enter an off-mesh link.
//!
//! In: the plans of agents that stand at an entry, and the agents being carried. Out: those that begin
//! their crossing in this step; the others wait where they are. Agents on a link do not avoid each
//! other, so whoever enters must have room: nobody carried from the same entry is still near it,
//! nobody else lands on the same exit at nearly the same time, and over a link shorter than the gap
//! nobody who landed there a moment ago is still walking off. Per entry and per exit one agent at most
//! enters in a step: the one that has waited longest, the nearest to its entry among equals, then the
//! lowest slot; while it has no room, the others wait too. One thread: few agents stand at an entry at
//! a time.
//!
//! An agent that stands on a landing is not waited for: it may stand there for good. Links that the
//! host drives ([`OffMeshMode::Host`]) have no queue: whoever comes near enough is handed over at once.

use super::options::{CrowdOptions, Profile};
use super::plan::{AgentPlan, PlanRows, follower_row};
use super::walls::refresh_walls;
use crate::follower::{FollowerOptions, OffMeshMode, SteerKind, enter};
use crate::navigator::Navigator;
use std::cmp::Ordering;
use throng_soa::agents::{AgentState, Crossing};
use throng_soa::mesh::TiledMesh;
use throng_soa::world::{DVec3, distance_xz_sq, distance3};

/// Agents on one link keep this many sums of their radii between them. One would do on the link;
/// whoever lands has to pick up speed first, and a second one is the room for that.
const GAP: f64 = 2.0;

/// Seconds somebody who landed may keep others waiting.
const WALK_OFF: f64 = 3.0;
/// Whoever landed and is at least this share of its speed fast is walking off.
const WALKS_OFF: f64 = 0.05;

/// Scratch of the stage: nothing is allocated once it has grown.
#[derive(Clone, Debug, Default)]
pub(super) struct EntryScratch {
    /// Agents that stand at an entry.
    waiting: Vec<Waiting>,
    /// Agents on a link, by entry.
    from: Vec<Carried>,
    /// The same, by exit.
    to: Vec<Carried>,
    /// Agents that landed and are still walking off, by exit.
    landed: Vec<Carried>,
    /// Agents that kept somebody waiting after they had landed.
    held: Vec<u32>,
    /// Entries and exits that had their agent in this step.
    taken: Vec<(DVec3, DVec3)>,
}

impl EntryScratch {
    /// Heap bytes held.
    pub(super) fn heap_bytes(&self) -> usize {
        self.waiting.capacity() * size_of::<Waiting>()
            + (self.from.capacity() + self.to.capacity() + self.landed.capacity())
                * size_of::<Carried>()
            + self.held.capacity() * size_of::<u32>()
            + self.taken.capacity() * size_of::<(DVec3, DVec3)>()
    }
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    waited: f64,
    distance_sq: f64,
    slot: u32,
}

#[derive(Clone, Copy, Debug)]
struct Carried {
    /// The end of the link it is sorted by.
    end: DVec3,
    slot: u32,
}

/// Begins the crossings of this step.
pub(super) fn enter_links(
    mut rows: PlanRows<'_>,
    mesh: &TiledMesh,
    options: &CrowdOptions,
    profiles: &[Profile],
    dt: f64,
    scratch: &mut EntryScratch,
    navigator: &mut Navigator,
) {
    collect_waiting(&rows, &mut scratch.waiting);
    if scratch.waiting.is_empty() {
        return;
    }
    collect_carried(&rows, profiles, scratch);
    collect_landed(&rows, profiles, &mut scratch.landed);
    scratch.taken.clear();
    scratch.held.clear();
    for i in 0..scratch.waiting.len() {
        let slot = scratch.waiting[i].slot;
        let slot = slot as usize;
        let profile = &profiles[rows.agents.profile[slot] as usize];
        let Crossing { start, end, .. } = rows.routes.crossing[slot];
        let taken = scratch
            .taken
            .iter()
            .any(|&(from, to)| from == start || to == end);
        // Whoever comes first in the order and has no room keeps the others out too: a large body that
        // needs the whole link would never find it empty.
        if !taken {
            scratch.taken.push((start, end));
        }
        if !taken && has_room(&rows, slot, profiles, scratch) {
            let (agents, routes) = (&mut rows.agents, &mut rows.routes);
            let mut row = follower_row(agents, routes, rows.paths, rows.memories, slot);
            if enter(&mut row, &profile.follower) {
                rows.plans[slot] = AgentPlan {
                    crossing: true,
                    ..AgentPlan::default()
                };
                continue;
            }
        }
        refresh_walls(&mut rows, slot, mesh, options, profile, navigator);
    }
    scratch.held.sort_unstable();
    scratch.held.dedup();
    for &slot in &scratch.held {
        // Until it has had its time to walk off.
        rows.routes.crossing[slot as usize].elapsed += dt;
    }
}

fn collect_waiting(rows: &PlanRows<'_>, waiting: &mut Vec<Waiting>) {
    waiting.clear();
    for (slot, plan) in rows.plans.iter().enumerate() {
        if plan.plan.kind == SteerKind::AtEntry && rows.agents.active[slot] {
            let Crossing { start, elapsed, .. } = rows.routes.crossing[slot];
            waiting.push(Waiting {
                waited: elapsed,
                distance_sq: distance_xz_sq(rows.agents.position[slot], start),
                slot: slot as u32,
            });
        }
    }
    waiting.sort_unstable_by(|a, b| {
        let longest = b.waited.total_cmp(&a.waited);
        let nearest = a.distance_sq.total_cmp(&b.distance_sq);
        longest.then(nearest).then(a.slot.cmp(&b.slot))
    });
}

fn collect_carried(rows: &PlanRows<'_>, profiles: &[Profile], scratch: &mut EntryScratch) {
    scratch.from.clear();
    scratch.to.clear();
    for (slot, &state) in rows.agents.state.iter().enumerate() {
        if state != AgentState::OffMeshLink || !rows.agents.active[slot] {
            continue;
        }
        let follower = follower_options(rows, slot, profiles);
        if follower.off_mesh_mode == OffMeshMode::Host {
            continue;
        }
        let Crossing { start, end, .. } = rows.routes.crossing[slot];
        let slot = slot as u32;
        scratch.from.push(Carried { end: start, slot });
        scratch.to.push(Carried { end, slot });
    }
    sort(&mut scratch.from);
    sort(&mut scratch.to);
}

/// Agents that a link put down near where they still walk, unless they have kept others waiting for
/// [`WALK_OFF`].
fn collect_landed(rows: &PlanRows<'_>, profiles: &[Profile], landed: &mut Vec<Carried>) {
    landed.clear();
    for (slot, plan) in rows.plans.iter().enumerate() {
        let &Crossing {
            end,
            elapsed,
            duration,
            ..
        } = &rows.routes.crossing[slot];
        let crossed = duration > 0.0 && elapsed >= duration && elapsed < duration + WALK_OFF;
        if !plan.walking || !crossed || !rows.agents.active[slot] {
            continue;
        }
        let options = &profiles[rows.agents.profile[slot] as usize].options;
        let velocity = rows.agents.velocity[slot];
        let speed = distance3(velocity, DVec3::ZERO);
        if speed >= WALKS_OFF * options.max_speed {
            let slot = slot as u32;
            landed.push(Carried { end, slot });
        }
    }
    sort(landed);
}

fn sort(carried: &mut [Carried]) {
    carried.sort_unstable_by(|a, b| compare(a.end, b.end).then(a.slot.cmp(&b.slot)));
}

/// Whether everybody carried from the same entry has left it far enough behind, and nobody carried to
/// the same exit lands there shortly before or after.
fn has_room(
    rows: &PlanRows<'_>,
    slot: usize,
    profiles: &[Profile],
    scratch: &mut EntryScratch,
) -> bool {
    let radius = |slot: usize| {
        let profile = rows.agents.profile[slot];
        profiles[profile as usize].options.radius
    };
    let gap = |other: usize| GAP * (radius(slot) + radius(other));
    let Crossing { start, end, .. } = rows.routes.crossing[slot];
    let length = distance3(start, end);
    let speed = follower_options(rows, slot, profiles).off_mesh_speed;
    let walked_off =
        |other: usize| distance3(rows.agents.position[other], end) + length >= gap(other);
    let has_left = |other: usize| distance3(rows.agents.position[other], start) >= gap(other);
    let lands_apart = |other: usize| {
        let theirs = &rows.routes.crossing[other];
        let left = (theirs.duration - theirs.elapsed).max(0.0);
        (length / speed - left).abs() * speed >= gap(other) * (1.0 - ROUNDING)
    };
    if !at(&scratch.from, start).all(has_left) || !at(&scratch.to, end).all(lands_apart) {
        return false;
    }
    let before = scratch.held.len();
    let in_the_way = at(&scratch.landed, end).filter(|&other| !walked_off(other));
    scratch.held.extend(in_the_way.map(|other| other as u32));
    scratch.held.len() == before
}

/// Times that differ by rounding alone are the same.
const ROUNDING: f64 = 1e-9;

/// Slots of the agents carried from or to `end`.
fn at(sorted: &[Carried], end: DVec3) -> impl Iterator<Item = usize> + '_ {
    let first = sorted.partition_point(|carried| compare(carried.end, end).is_lt());
    let same = sorted[first..]
        .iter()
        .take_while(move |carried| compare(carried.end, end).is_eq());
    same.map(|carried| carried.slot as usize)
}

fn compare(a: DVec3, b: DVec3) -> Ordering {
    let plane = a.x.total_cmp(&b.x).then(a.z.total_cmp(&b.z));
    plane.then(a.y.total_cmp(&b.y))
}

fn follower_options<'p>(
    rows: &PlanRows<'_>,
    slot: usize,
    profiles: &'p [Profile],
) -> &'p FollowerOptions {
    &profiles[rows.agents.profile[slot] as usize].follower
}

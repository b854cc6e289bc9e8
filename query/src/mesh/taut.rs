//! The string of a corridor that is walked: pulled again at every step, mostly from memory.
//!
//! In: a corridor, a position on its first polygon, a target, and what was remembered at the last pull.
//! Out: the points of [`find_straight_path`](super::find_straight_path), bit for bit. From a corner
//! on, a string depends on the corner, its portal, the portals behind it and the target alone; so once
//! a pull from the new position meets a corner that is remembered, the rest of the string is the
//! remembered one. Only the portals up to that corner are looked at, and the corridor behind them is
//! known to hold together as long as the mesh has the revision it was checked for.
//!
//! The first portals ahead are remembered too, seen from above.
//!
//! The owner of the corridor tells the memory what happened to it: polygons walked off its front
//! ([`StringMemory::trim`]) leave the memory good, anything else does not ([`StringMemory::forget`]).

use super::status::QueryStatus;
use super::straight::{
    FunnelScratch, Gate, Points, Portal, StraightFlags, StraightOutcome, StraightPathPoint,
    collect_portals, next_bend, plane, portal, pull,
};
use super::surface::closest_point_on_tile_poly;
use throng_soa::DVec3;
use throng_soa::mesh::{PolyRef, TiledMesh};
use throng_soa::world::{DVec2, is_point};

/// Corners kept.
const KEPT: usize = 8;
/// Portals kept.
const GATES: usize = 16;

/// What is known of the string through one corridor. Not state: it can be dropped at any time.
#[derive(Clone, Debug, Default)]
pub struct StringMemory {
    /// Mesh revision at which the whole corridor held together; 0: nothing is known.
    revision: u64,
    /// Polygons taken off the front since the portals were numbered.
    trimmed: u32,
    /// Corners remembered.
    count: u8,
    /// `end` is known.
    has_end: bool,
    /// The target on the last polygon.
    end: DVec3,
    corners: [Kept; KEPT],
    /// Portals kept, the first of them, numbered as corners are, and how many.
    gates: [Gate; GATES],
    first_gate: u32,
    gate_count: u32,
}

/// A corner as the funnel found it.
#[derive(Clone, Copy, Debug, Default)]
struct Kept {
    position: DVec3,
    poly: PolyRef,
    /// Portal it is an end of, as numbered when `trimmed` was 0.
    portal: u32,
    end: bool,
}

impl Kept {
    fn flags(&self) -> StraightFlags {
        if self.end {
            StraightFlags::END
        } else {
            StraightFlags::NONE
        }
    }
}

impl StringMemory {
    /// Drops what is known: the corridor or the target changed.
    #[inline]
    pub fn forget(&mut self) {
        self.revision = 0;
    }

    /// The corridor lost its first `polygons` and is the same otherwise.
    #[inline]
    pub fn trim(&mut self, polygons: usize) {
        self.trimmed += polygons as u32;
    }

    fn keep(&mut self, corner: Kept) {
        if let Some(place) = self.corners.get_mut(usize::from(self.count)) {
            *place = corner;
            self.count += 1;
        }
    }

    /// Reads a word of every cache line the next pull is likely to need. The value means nothing; see
    /// the caller for what it is good for.
    #[inline]
    #[must_use]
    pub fn touch(&self) -> u64 {
        let gates = self.gates[..GATES / 2].iter().step_by(2);
        let gates = gates.fold(0, |sum, gate| sum ^ gate.left.x.to_bits());
        let corners = self.corners[..usize::from(self.count)].iter();
        let corners = corners.fold(0, |sum, kept| sum ^ kept.position.x.to_bits());
        self.revision ^ gates ^ corners ^ u64::from(self.first_gate)
    }

    /// The place in memory of the corner at one end of a portal.
    fn find(&self, corner: DVec2, portal: u32) -> Option<usize> {
        let kept = &self.corners[..usize::from(self.count)];
        kept.iter()
            .position(|k| k.portal == portal && plane(k.position) == corner)
    }

    /// A portal kept, by its place in the corridor as it is now.
    #[inline]
    fn gate(&self, at: usize) -> Option<Gate> {
        let place = (at as u32 + self.trimmed).wrapping_sub(self.first_gate);
        (place < self.gate_count).then(|| self.gates[place as usize])
    }

    /// Keeps the portal at `at` if it is the next one and there is room, over those walked through.
    fn keep_gate(&mut self, at: usize, gate: Gate) {
        let number = at as u32 + self.trimmed;
        if self.gate_count == 0 || self.trimmed >= self.first_gate + self.gate_count {
            self.first_gate = number;
            self.gate_count = 0;
        }
        if number != self.first_gate + self.gate_count {
            return;
        }
        if self.gate_count as usize == GATES {
            let passed = self
                .trimmed
                .saturating_sub(self.first_gate)
                .min(self.gate_count);
            self.gates.copy_within(passed as usize.., 0);
            self.first_gate += passed;
            self.gate_count -= passed;
        }
        if let Some(place) = self.gates.get_mut(self.gate_count as usize) {
            *place = gate;
            self.gate_count += 1;
        }
    }
}

/// [`find_straight_path`](super::find_straight_path) for the owner of `memory`, which belongs to this
/// corridor and this target.
/// With `settled`, `start` is known to be its own closest point on the first polygon.
pub fn find_remembered_path(
    mesh: &TiledMesh,
    (start, settled): (DVec3, bool),
    target: DVec3,
    corridor: &[PolyRef],
    memory: &mut StringMemory,
    scratch: &mut FunnelScratch,
    out: &mut [StraightPathPoint],
    max_corners: usize,
) -> StraightOutcome {
    let mut outcome = StraightOutcome::default();
    if !is_point(start) || !is_point(target) {
        return outcome;
    }
    outcome.status = QueryStatus::InvalidCorridor;
    let (Some(&first), Some(&last)) = (corridor.first(), corridor.last()) else {
        return outcome;
    };
    // A corridor that held together at this revision still does: its ends need no look, and the last
    // polygon, far away in memory, is not touched at all.
    let known = memory.revision == mesh.revision();
    if !known && (mesh.resolve(first).is_none() || mesh.resolve(last).is_none()) {
        memory.forget();
        return outcome;
    }
    let on = |poly: PolyRef, point: DVec3| {
        let closest = |(tile, index)| closest_point_on_tile_poly(tile, index, point).point;
        mesh.resolve(poly).map_or(point, closest)
    };
    let start = if settled { start } else { on(first, start) };
    let mut end = || on(last, target);
    let mut points = Points::new(out, max_corners);
    if !known {
        let Some(crosses) = collect_portals(mesh, corridor, &mut scratch.portals) else {
            memory.forget();
            return outcome;
        };
        if crosses {
            // Strings over off-mesh links are pulled in stretches; they are not remembered.
            memory.forget();
            if !points.truncated {
                pull(&scratch.portals, true, corridor, start, end(), &mut points);
            }
            return finished(&points);
        }
        *memory = StringMemory {
            revision: mesh.revision(),
            ..StringMemory::default()
        };
    } else {
        scratch.portals.clear();
    }
    let mut gates = Gates {
        mesh,
        corridor,
        portals: &mut scratch.portals,
        first: 0,
        broken: false,
    };
    if !points.truncated {
        pull_on(&mut gates, start, &mut end, memory, &mut points);
    }
    if gates.broken {
        // Not while revisions tell contents apart; a caller that forgot to say what it did.
        memory.forget();
        return outcome;
    }
    finished(&points)
}

fn finished(points: &Points<'_>) -> StraightOutcome {
    StraightOutcome {
        status: QueryStatus::Success,
        count: points.count,
        truncated: points.truncated,
    }
}

/// The portals of a corridor from `first` on, found when they are asked for.
struct Gates<'a> {
    mesh: &'a TiledMesh,
    corridor: &'a [PolyRef],
    portals: &'a mut Vec<Portal>,
    first: usize,
    broken: bool,
}

impl Gates<'_> {
    /// Portal `at`. Those not found yet are looked for from the last one on, or from `at`.
    #[inline]
    fn get(&mut self, at: usize, memory: &mut StringMemory) -> Gate {
        if let Some(gate) = memory.gate(at) {
            return gate;
        }
        let portal = self.portal(at);
        memory.keep_gate(at, portal.gate());
        portal.gate()
    }

    fn portal(&mut self, at: usize) -> Portal {
        if at < self.first || at > self.first + self.portals.len() {
            self.first = at;
            self.portals.clear();
        }
        if at == self.first + self.portals.len() {
            let found = self.find(at);
            self.broken |= found.is_none();
            self.portals.push(found.unwrap_or(Portal {
                left: DVec3::ZERO,
                right: DVec3::ZERO,
                off_mesh: false,
            }));
        }
        self.portals[at - self.first]
    }

    fn find(&self, at: usize) -> Option<Portal> {
        let &[from, next] = self.corridor.get(at..at + 2)? else {
            return None;
        };
        let (tile, index) = self.mesh.resolve(from)?;
        let (next_tile, next_index) = self.mesh.resolve(next)?;
        let step = (next_tile, next_index, next);
        portal(self.mesh, (tile, index, from), step)
    }
}

/// Pulls the string from `start` until it meets a remembered corner, takes the rest from memory, and
/// pulls on where memory ends. `None` once the output is full.
fn pull_on(
    gates: &mut Gates<'_>,
    start: DVec3,
    end: &mut impl FnMut() -> DVec3,
    memory: &mut StringMemory,
    points: &mut Points<'_>,
) -> Option<()> {
    let corridor = gates.corridor;
    let last = corridor.len() - 1;
    points.add(start, StraightFlags::START, corridor[0])?;
    let (mut apex, mut at) = (plane(start), 0);
    // Corners found before memory is met; then memory begins with them.
    let mut fresh = Fresh::default();
    let mut met = false;
    loop {
        let bend = next_bend(apex, at, last, |portal| {
            if portal < last {
                gates.get(portal, memory)
            } else {
                Gate::point(memory.end(end))
            }
        });
        if gates.broken {
            return None;
        }
        let Some(bend) = bend else {
            let kept = Kept {
                position: memory.end(end),
                poly: corridor[last],
                portal: u32::MAX,
                end: true,
            };
            if met {
                memory.keep(kept);
            } else {
                fresh.keep(kept);
                memory.take_over(&fresh, usize::MAX);
            }
            return points.add(kept.position, StraightFlags::END, kept.poly);
        };
        let gate = gates.get(bend.portal, memory);
        let corner = if bend.left { gate.left } else { gate.right };
        let number = bend.portal as u32 + memory.trimmed;
        if !met && fresh.count < KEPT {
            if let Some(place) = memory.find(corner, number) {
                memory.take_over(&fresh, place);
                met = true;
                for i in fresh.count..usize::from(memory.count) {
                    let kept = memory.corners[i];
                    points.add(kept.position, kept.flags(), kept.poly)?;
                    if kept.end {
                        return Some(());
                    }
                    apex = plane(kept.position);
                    at = (kept.portal - memory.trimmed) as usize + 1;
                }
                continue;
            }
        }
        let portal = gates.portal(bend.portal);
        if gates.broken {
            return None;
        }
        let kept = Kept {
            position: if bend.left { portal.left } else { portal.right },
            poly: corridor[bend.portal + 1],
            portal: number,
            end: false,
        };
        (apex, at) = (corner, bend.portal + 1);
        if met {
            memory.keep(kept);
        } else {
            fresh.keep(kept);
        }
        let added = points.add(kept.position, StraightFlags::NONE, kept.poly);
        if added.is_none() {
            if !met {
                memory.take_over(&fresh, usize::MAX);
            }
            return None;
        }
    }
}

/// Corners found in this pull.
#[derive(Default)]
struct Fresh {
    corners: [Kept; KEPT],
    count: usize,
}

impl Fresh {
    fn keep(&mut self, corner: Kept) {
        if let Some(place) = self.corners.get_mut(self.count) {
            *place = corner;
            self.count += 1;
        }
    }
}

impl StringMemory {
    /// The end of the string, found once.
    #[inline]
    fn end(&mut self, find: &mut impl FnMut() -> DVec3) -> DVec3 {
        if !self.has_end {
            self.end = find();
            self.has_end = true;
        }
        self.end
    }

    /// Puts `fresh` corners in front of those from `place` on.
    fn take_over(&mut self, fresh: &Fresh, place: usize) {
        let count = usize::from(self.count);
        let new = fresh.count;
        let rest = count.saturating_sub(place).min(KEPT - new);
        if rest > 0 && place != new {
            self.corners.copy_within(place..place + rest, new);
        }
        self.corners[..new].copy_from_slice(&fresh.corners[..new]);
        self.count = (new + rest) as u8;
    }
}

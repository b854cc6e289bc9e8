//! Path corridors: the polygons still ahead of an agent, trimmed as it walks and repaired as the
//! mesh changes.
//!
//! In: a corridor row (a head and a stride of polygons), the mesh, a filter, a worker's scratch.
//! Out: the row, changed or left alone. The idea of walking a corridor of polygons instead of a
//! list of points is Mikko Mononen's (Detour); corners come from the funnel of Lee and Preparata.
//! A corridor never holds a polygon twice, and each polygon is entered from the one before it.

mod corners;
mod memory;
mod moves;
mod repair;
mod replan;
mod shortcuts;
mod standalone;
pub(crate) mod state;

pub(crate) use memory::CorridorMemory;

pub use corners::{corridor_length, find_corners};
pub use moves::{move_along, move_position, move_target};
pub use repair::{CorridorStatus, relocate, validate};
pub use replan::{CorridorReplan, ReplanOutcome, replan};
pub use shortcuts::{optimize_topology, optimize_visibility, refine};
pub use standalone::PathCorridor;

use throng_soa::agents::CorridorHead;
use throng_soa::error::ArgumentError;
use throng_soa::mesh::PolyRef;
use throng_soa::world::{DVec3, check_point};

/// Fewest and most polygons a corridor can be made to hold.
pub const CAPACITY_RANGE: (usize, usize) = (2, 4096);

/// One corridor: its head and its stride of polygons (at least `head.capacity` long).
#[derive(Debug)]
pub struct CorridorRow<'a> {
    /// The part of fixed size.
    pub head: &'a mut CorridorHead,
    /// The polygons' storage.
    pub path: &'a mut [PolyRef],
    /// What a crowd remembers of it. Whoever changes polygons, position or target says so.
    pub(crate) memory: Option<&'a mut CorridorMemory>,
}

impl CorridorRow<'_> {
    /// The corridor's polygons, the agent's first.
    #[inline]
    #[must_use]
    pub fn polys(&self) -> &[PolyRef] {
        &self.path[..(self.head.count as usize).min(self.path.len())]
    }

    /// Most polygons the corridor holds.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        (self.head.capacity as usize).min(self.path.len())
    }

    /// Notes that the polygons or the target changed.
    pub(crate) fn forget_polygons(&mut self) {
        if let Some(memory) = &mut self.memory {
            memory.polygons_changed();
        }
    }

    /// Moves the agent to `position`. `settled_at` is the mesh revision at which that is its own
    /// closest point on the first polygon, 0 when it may not be.
    pub(crate) fn set_position(&mut self, position: DVec3, settled_at: u64) {
        self.head.position = position;
        if let Some(memory) = &mut self.memory {
            memory.settled_at = settled_at;
        }
    }

    /// Starts over: one polygon, the agent at `position` on it, no target.
    pub fn reset(&mut self, poly: PolyRef, position: DVec3) {
        *self.head = CorridorHead {
            count: 1,
            capacity: self.head.capacity,
            position,
            target: position,
            target_poly: poly,
            complete: true,
            needs_replan: false,
            from_start: false,
        };
        self.path[0] = poly;
        self.forget_polygons();
        self.set_position(position, 0);
    }

    /// Sets where the agent wants to go; the next replan starts at the agent.
    ///
    /// # Errors
    /// The target is outside the coordinate bound.
    pub fn set_target(&mut self, target: DVec3) -> Result<(), ArgumentError> {
        check_point("target", target)?;
        self.head.target = target;
        self.head.target_poly = PolyRef::INVALID;
        self.head.complete = false;
        self.forget_polygons();
        self.request_replan();
        Ok(())
    }

    /// Asks for a replan that starts at the agent.
    pub fn request_replan(&mut self) {
        self.head.needs_replan = true;
        self.head.from_start = true;
    }

    /// Keeps the polygons from `first` on.
    pub(crate) fn trim_front(&mut self, first: usize) {
        let count = self.polys().len();
        if first > 0 && first < count {
            self.path.copy_within(first..count, 0);
            self.head.count = (count - first) as u32;
            if let Some(memory) = &mut self.memory {
                memory.trimmed(first);
            }
        }
    }

    /// Puts `front` in place of the first `replaced` polygons. What no longer fits is cut from the
    /// end, and then the corridor is incomplete and wants a replan. `front` must fit.
    pub(crate) fn replace_front(&mut self, front: &[PolyRef], replaced: usize) {
        let count = self.polys().len();
        let capacity = self.capacity();
        let kept = (count - replaced).min(capacity - front.len());
        self.path
            .copy_within(replaced..replaced + kept, front.len());
        self.path[..front.len()].copy_from_slice(front);
        self.head.count = (front.len() + kept) as u32;
        self.forget_polygons();
        if kept < count - replaced {
            self.head.complete = false;
            self.head.needs_replan = true;
        }
    }
}

/// Cuts loops out of a list of polygons: a polygon met again removes everything after its first
/// occurrence. The first `clean` polygons are known to hold no repeat among themselves.
pub(crate) fn cut_loops(list: &mut Vec<PolyRef>, clean: usize) {
    let mut kept = clean.min(list.len());
    let mut read = kept;
    while read < list.len() {
        let poly = list[read];
        read += 1;
        if let Some(first) = list[..kept].iter().position(|&earlier| earlier == poly) {
            kept = first + 1;
        } else {
            list[kept] = poly;
            kept += 1;
        }
    }
    list.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_is_cut_back_to_its_first_visit() {
        let poly = |i: u32| PolyRef::from_parts(1, 0, i);
        let cut = |ids: &[u32], clean| {
            let mut list: Vec<PolyRef> = ids.iter().map(|&i| poly(i)).collect();
            cut_loops(&mut list, clean);
            list.iter().map(|p| p.poly()).collect::<Vec<_>>()
        };
        assert_eq!(cut(&[1, 2, 3, 4, 2, 5], 0), [1, 2, 5]);
        assert_eq!(cut(&[1, 2, 3, 3, 1], 3), [1]);
        assert_eq!(cut(&[1, 2, 3], 2), [1, 2, 3]);
    }
}

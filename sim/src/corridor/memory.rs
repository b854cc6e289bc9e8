//! What a crowd remembers of an agent's corridor so as not to work it out again.
//!
//! Not state: it is dropped on every change it does not understand, never saved, and says nothing that a
//! look at the mesh would not say. Rows without a memory (a follower on its own, whose caller may bring
//! another mesh or filter with every call) work everything out.

use std::ops::Range;
use throng_query::mesh::StringMemory;
use throng_soa::world::{DVec2, DVec3};

/// The memory of one corridor, for one filter.
#[derive(Clone, Debug, Default)]
pub(crate) struct CorridorMemory {
    /// Corners of the string.
    pub(super) string: StringMemory,
    /// Mesh revision at which the agent's position is its own closest point on the first polygon; 0:
    /// it may not be.
    pub(super) settled_at: u64,
    /// Mesh revision at which the leading polygons were found good; 0: at none.
    checked_at: u64,
    /// How many leading polygons are alive, accepted and entered one from the other.
    checked: u32,
    /// Polygons the agent is nowhere near.
    pub(super) far: Far,
}

/// A run of corridor polygons whose boxes are all farther than `distance` from a place, in X or in Z.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Far {
    /// Mesh revision; 0: nothing is known.
    revision: u64,
    /// First polygon of the run, counted from the agent's, and the one after its last.
    first: u32,
    end: u32,
    from: DVec2,
    distance: f64,
}

impl Far {
    /// The run, when nothing of it can hold `to`.
    #[inline]
    pub(super) fn beyond(&self, revision: u64, to: DVec3) -> Range<usize> {
        let moved = (to.x - self.from.x).abs().max((to.z - self.from.y).abs());
        if self.revision == revision && moved < self.distance {
            self.first as usize..self.end as usize
        } else {
            0..0
        }
    }

    /// Notes the run of a corridor seen from `from`: what lies behind the last polygon within
    /// [`NEAR`] of it. `distances` are those of the polygons, in order.
    pub(super) fn note(
        &mut self,
        revision: u64,
        from: DVec3,
        distances: impl DoubleEndedIterator<Item = f64> + ExactSizeIterator,
    ) {
        let end = distances.len();
        let (mut first, mut least) = (end, f64::INFINITY);
        for distance in distances.rev() {
            if distance <= NEAR {
                break;
            }
            least = least.min(distance);
            first -= 1;
        }
        // Nothing far is no reason never to look again.
        let least = if first == end { NEAR } else { least };
        *self = Self {
            revision,
            first: first as u32,
            end: end as u32,
            from: DVec2::new(from.x, from.z),
            // Rounding of positions and boxes, generously.
            distance: least - MARGIN,
        };
    }
}

/// A polygon nearer than this is looked at in every step, units.
const NEAR: f64 = 0.5;
const MARGIN: f64 = 1e-3;

impl CorridorMemory {
    /// Drops everything: another agent, or a state from elsewhere.
    pub(crate) fn clear(&mut self) {
        self.string.forget();
        self.settled_at = 0;
        self.checked_at = 0;
        self.far = Far::default();
    }

    /// Reads a word of every cache line that planning needs; the value means nothing.
    pub(crate) fn touch(&self) -> u64 {
        self.string.touch() ^ self.touch_for_move()
    }

    /// Reads a word of every cache line that a move needs; the value means nothing.
    pub(crate) fn touch_for_move(&self) -> u64 {
        self.checked_at ^ u64::from(self.far.first)
    }

    /// The polygons changed, the agent did not move.
    pub(super) fn polygons_changed(&mut self) {
        self.string.forget();
        self.checked_at = 0;
        self.far = Far::default();
    }

    /// The first `count` polygons were walked off.
    pub(super) fn trimmed(&mut self, count: usize) {
        self.string.trim(count);
        let count = count as u32;
        self.checked = self.checked.saturating_sub(count);
        self.far.first = self.far.first.saturating_sub(count);
        self.far.end = self.far.end.saturating_sub(count);
    }

    /// Leading polygons known to be good at `revision`.
    pub(super) fn checked(&self, revision: u64) -> usize {
        if self.checked_at == revision {
            self.checked as usize
        } else {
            0
        }
    }

    /// The first `count` polygons are good at `revision`.
    pub(super) fn set_checked(&mut self, revision: u64, count: usize) {
        let known = self.checked(revision);
        self.checked_at = revision;
        self.checked = known.max(count) as u32;
    }
}

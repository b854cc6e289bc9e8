//! What a crowd remembers of an agent's corridor so as not to work it out again.
//!
//! Not state: it is dropped on every change it does not understand, never saved, and says nothing that a
//! look at the mesh would not say. Rows without a memory (a follower on its own, whose caller may bring
//! another mesh or filter with every call) work everything out.

use throng_query::mesh::StringMemory;

/// The memory of one corridor, for one filter.
#[derive(Clone, Debug, Default)]
pub(crate) struct CorridorMemory {
    /// Corners of the string.
    pub(super) string: StringMemory,
    /// The agent's position is its own closest point on the first polygon.
    pub(super) settled: bool,
    /// Mesh revision at which the leading polygons were found good; 0: at none.
    checked_at: u64,
    /// How many leading polygons are alive, accepted and entered one from the other.
    checked: u32,
}

impl CorridorMemory {
    /// Drops everything: another agent, or a state from elsewhere.
    pub(crate) fn clear(&mut self) {
        self.string.forget();
        self.settled = false;
        self.checked_at = 0;
    }

    /// The polygons changed, the agent did not move.
    pub(super) fn polygons_changed(&mut self) {
        self.string.forget();
        self.checked_at = 0;
    }

    /// The first `count` polygons were walked off.
    pub(super) fn trimmed(&mut self, count: usize) {
        self.string.trim(count);
        self.checked = self.checked.saturating_sub(count as u32);
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

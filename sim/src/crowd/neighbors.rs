//! Who is near whom: positions sorted into a grid of cells, and the nearest few of a point.
//!
//! In: positions in the plane, by slot. Out: the `k` nearest within a reach, ordered by (squared
//! distance, slot). The grid only decides who is looked at, never the answer: any cell size gives
//! the same set. Cells are counted and filled in slot order, so agents of one cell stand together
//! and a row of cells is one run of memory.

/// A neighbour: squared distance in the plane, slot, and rank.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Neighbor {
    /// Squared distance between the centres.
    pub(crate) distance_sq: f64,
    /// Slot of the other agent.
    pub(crate) slot: u32,
    /// Its place in the sorted columns.
    pub(crate) rank: u32,
}

/// Positions sorted by cell. Rebuilt every step; keeps its storage.
#[derive(Clone, Debug, Default)]
pub(crate) struct NeighborGrid {
    min_x: f64,
    min_z: f64,
    per_unit: f64,
    width: usize,
    depth: usize,
    cell_first: Vec<u32>,
    cell_of: Vec<u32>,
    slot: Vec<u32>,
    /// Coordinates, and [`LANES`] more that mean nothing.
    x: Vec<f64>,
    z: Vec<f64>,
}

impl NeighborGrid {
    /// Sorts the active slots. `position(slot)` is a slot's (x, z); `reach` the largest distance
    /// that will be asked for. Linear in the number of slots.
    pub(crate) fn rebuild(
        &mut self,
        reach: f64,
        active: &[bool],
        position: impl Fn(usize) -> (f64, f64),
    ) {
        let slots = || (0..active.len()).filter(|&slot| active[slot]);
        let (mut low_x, mut low_z) = (f64::INFINITY, f64::INFINITY);
        let (mut high_x, mut high_z) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        let mut count = 0;
        for slot in slots() {
            count += 1;
            let (x, z) = position(slot);
            low_x = low_x.min(x);
            low_z = low_z.min(z);
            high_x = high_x.max(x);
            high_z = high_z.max(z);
        }
        self.cell_of.clear();
        self.slot.clear();
        self.slot.resize(count, 0);
        self.x.clear();
        self.x.resize(count + LANES, 0.0);
        self.z.clear();
        self.z.resize(count + LANES, 0.0);
        if count == 0 {
            (self.width, self.depth) = (0, 0);
            return;
        }
        let (span_x, span_z) = (high_x - low_x, high_z - low_z);
        // Half a reach per cell looks at less than whole ones; never more cells than agents
        // justify.
        let most = (4 * count + 64) as f64;
        let mut cell = (reach * 0.5).max(1e-3);
        let cells = |cell: f64| ((span_x / cell).floor() + 1.0) * ((span_z / cell).floor() + 1.0);
        while cells(cell) > most {
            cell *= 2.0;
        }
        self.per_unit = 1.0 / cell;
        (self.min_x, self.min_z) = (low_x, low_z);
        self.width = (span_x * self.per_unit) as usize + 1;
        self.depth = (span_z * self.per_unit) as usize + 1;
        self.cell_first.clear();
        self.cell_first.resize(self.width * self.depth + 1, 0);
        for slot in slots() {
            let (x, z) = position(slot);
            let cell = self.column(x) + self.row(z) * self.width;
            self.cell_of.push(cell as u32);
            self.cell_first[cell + 1] += 1;
        }
        for cell in 0..self.width * self.depth {
            self.cell_first[cell + 1] += self.cell_first[cell];
        }
        for (i, slot) in slots().enumerate() {
            let (x, z) = position(slot);
            let next = &mut self.cell_first[self.cell_of[i] as usize];
            let at = *next as usize;
            *next += 1;
            self.slot[at] = slot as u32;
            self.x[at] = x;
            self.z[at] = z;
        }
        // Filling moved every start to its cell's end; shift them back.
        self.cell_first.rotate_right(1);
        self.cell_first[0] = 0;
    }

    /// Slots in the order of the cells, slot order within a cell: neighbours stand near each other. The
    /// place of a slot in it is its rank.
    pub(crate) fn order(&self) -> &[u32] {
        &self.slot
    }

    /// Heap bytes of the sorted columns.
    pub(super) fn heap_bytes(&self) -> usize {
        (self.cell_first.capacity() + self.cell_of.capacity() + self.slot.capacity())
            * size_of::<u32>()
            + (self.x.capacity() + self.z.capacity()) * size_of::<f64>()
    }

    #[inline]
    fn column(&self, x: f64) -> usize {
        (((x - self.min_x) * self.per_unit) as usize).min(self.width - 1)
    }

    #[inline]
    fn row(&self, z: f64) -> usize {
        (((z - self.min_z) * self.per_unit) as usize).min(self.depth - 1)
    }

    /// The nearest agents to (x, z) closer than `reach` (strictly), except `own`, nearest first,
    /// as many as `out` holds. Returns how many were written.
    ///
    /// Rows of cells are looked at from the middle outward; once `out` is full, only those that may
    /// hold somebody nearer than its last.
    pub(crate) fn nearest(
        &self,
        x: f64,
        z: f64,
        reach: f64,
        own: u32,
        out: &mut [Neighbor],
    ) -> usize {
        if self.width == 0 || out.is_empty() {
            return 0;
        }
        let mut look = Look {
            x,
            z,
            reach_sq: reach * reach,
            own,
            out,
            found: 0,
            radius: reach + MARGIN,
        };
        let home = self.row(z);
        self.look_at_row(home, &mut look);
        let (mut low, mut high) = (home, home);
        loop {
            let up = high < self.row(z + look.radius);
            if up {
                high += 1;
                self.look_at_row(high, &mut look);
            }
            let down = low > self.row(z - look.radius);
            if down {
                low -= 1;
                self.look_at_row(low, &mut look);
            }
            if !up && !down {
                return look.found;
            }
        }
    }

    #[inline]
    fn look_at_row(&self, row: usize, look: &mut Look<'_>) {
        let cells = row * self.width;
        let first = self.cell_first[cells + self.column(look.x - look.radius)] as usize;
        let end = self.cell_first[cells + self.column(look.x + look.radius) + 1] as usize;
        for at in (first..end).step_by(LANES) {
            // Who comes in is a coin toss: first everybody's distance, without a branch, then those few.
            let within = look.within();
            let (xs, zs) = (&self.x[at..at + LANES], &self.z[at..at + LANES]);
            let mut distances = [0.0; LANES];
            let mut near = 0_u32;
            for i in 0..LANES {
                let (dx, dz) = (xs[i] - look.x, zs[i] - look.z);
                distances[i] = dx * dx + dz * dz;
                near |= u32::from(distances[i] <= within) << i;
            }
            // The columns go on behind the run.
            if end - at < LANES {
                near &= (1 << (end - at)) - 1;
            }
            while near != 0 {
                let i = near.trailing_zeros() as usize;
                near &= near - 1;
                let (slot, distance_sq) = (self.slot[at + i], distances[i % LANES]);
                if slot == look.own || distance_sq >= look.reach_sq {
                    continue;
                }
                let neighbor = Neighbor {
                    distance_sq,
                    slot,
                    rank: (at + i) as u32,
                };
                insert(look.out, &mut look.found, neighbor);
            }
        }
        if look.found == look.out.len() {
            look.radius = look
                .radius
                .min(look.within().sqrt() * (1.0 + 1e-9) + MARGIN);
        }
    }
}

/// Agents whose distances are worked out together.
const LANES: usize = 8;

/// Rounding of positions and distances, generously.
const MARGIN: f64 = 1e-6;

/// A search for the nearest, as it goes on.
struct Look<'a> {
    x: f64,
    z: f64,
    reach_sq: f64,
    own: u32,
    out: &'a mut [Neighbor],
    found: usize,
    /// Nobody farther than this can come in any more.
    radius: f64,
}

impl Look<'_> {
    /// Squared distance beyond which nobody comes in.
    #[inline]
    fn within(&self) -> f64 {
        if self.found == self.out.len() {
            self.out[self.found - 1].distance_sq
        } else {
            self.reach_sq
        }
    }
}

/// Keeps `out[..found]` the nearest by (squared distance, slot).
#[inline]
fn insert(out: &mut [Neighbor], found: &mut usize, new: Neighbor) {
    let before = |a: &Neighbor, b: &Neighbor| {
        a.distance_sq < b.distance_sq || (a.distance_sq == b.distance_sq && a.slot < b.slot)
    };
    let mut at = *found;
    if at == out.len() {
        if !before(&new, &out[at - 1]) {
            return;
        }
        at -= 1;
    } else {
        *found += 1;
    }
    while at > 0 && before(&new, &out[at - 1]) {
        out[at] = out[at - 1];
        at -= 1;
    }
    out[at] = new;
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_soa::rng::SplitMix64;

    #[test]
    fn the_nearest_are_those_of_a_full_sort() {
        let mut rng = SplitMix64::new(31);
        let mut grid = NeighborGrid::default();
        for round in 0..200_usize {
            let count = [0, 1, 2, 50, 400][round % 5];
            let size = [0.0, 1.0, 30.0, 4000.0][round % 4];
            // Whole coordinates make ties common.
            let at: Vec<(f64, f64)> = (0..count)
                .map(|_| {
                    (
                        rng.range(-size, size).round(),
                        rng.range(-size, size).round(),
                    )
                })
                .collect();
            grid.rebuild(8.0, &vec![true; count], |i| at[i]);
            for own in 0..count.min(40) {
                let reach = rng.range(0.5, 8.0);
                let (x, z) = at[own];
                let mut expected: Vec<(f64, u32)> = (0..count)
                    .filter(|&j| j != own)
                    .map(|j| {
                        let (dx, dz) = (at[j].0 - x, at[j].1 - z);
                        (dx * dx + dz * dz, j as u32)
                    })
                    .filter(|&(d, _)| d < reach * reach)
                    .collect();
                expected.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                expected.truncate(7);
                let mut out = [Neighbor::default(); 7];
                let found = grid.nearest(x, z, reach, own as u32, &mut out);
                let got: Vec<(f64, u32)> = out[..found]
                    .iter()
                    .map(|n| (n.distance_sq, n.slot))
                    .collect();
                assert_eq!(got, expected);
            }
        }
    }
}

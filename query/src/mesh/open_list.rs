//! The open list of every best-first search, ordered by (priority, insertion sequence).
//!
//! In: priorities (not negative, not NaN) and node numbers. Out: nodes in ascending order. The
//! order is total, so the pop order is a property of the pushes and not of where entries lie; that
//! leaves their places free. A few entries, mostly the least, lie beside each other in no order,
//! where finding the least of them needs no branch: a search mostly goes on from a node it just
//! opened, and a processor cannot guess comparisons of priorities still being computed. The others
//! lie in a heap with four children per entry. An entry packs priority bits, sequence and node into one 128-bit key: the
//! bits of a non-negative double compare like the double.

/// Priority queue of node numbers. Grows to the largest number of entries seen, then allocates
/// no more.
#[derive(Clone, Debug)]
pub(crate) struct OpenList {
    /// The entries most likely to leave soon, in no order; free places hold [`NOTHING`].
    near: [u128; NEAR],
    near_count: usize,
    /// All others.
    heap: Vec<u128>,
    sequence: u32,
    /// Place of the least entry, as the last [`peek`](Self::peek) found it: in `near`, or [`NEAR`]
    /// for the root of the heap.
    least: usize,
}

/// Entries outside the heap.
const NEAR: usize = 4;
/// Children per entry of the heap.
const WIDTH: usize = 4;
/// Greater than every key.
const NOTHING: u128 = u128::MAX;

impl Default for OpenList {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

impl OpenList {
    pub(crate) fn with_capacity(entries: usize) -> Self {
        Self {
            near: [NOTHING; NEAR],
            near_count: 0,
            heap: Vec::with_capacity(entries),
            sequence: 0,
            least: 0,
        }
    }

    /// Empties the list and restarts the insertion sequence.
    pub(crate) fn clear(&mut self) {
        self.near = [NOTHING; NEAR];
        self.near_count = 0;
        self.heap.clear();
        self.sequence = 0;
    }

    /// Adds an entry. Equal priorities leave in the order they came.
    #[inline]
    pub(crate) fn push(&mut self, priority: f64, node: u32) {
        let key = u128::from(priority.to_bits()) << 64
            | u128::from(self.sequence) << 32
            | u128::from(node);
        self.sequence = self.sequence.wrapping_add(1);
        if let Some(place) = self.near.get_mut(self.near_count) {
            *place = key;
            self.near_count += 1;
            return;
        }
        self.push_far(key);
    }

    /// Adds an entry when there is no place left near: the greatest of all goes to the heap.
    #[inline(never)]
    fn push_far(&mut self, key: u128) {
        // The complement turns the greatest into the least.
        let (place, greatest) = least_of(&self.near.map(|near| !near));
        let mut far = key;
        if key < !greatest {
            far = !greatest;
            self.near[place] = key;
        }
        let mut hole = self.heap.len();
        self.heap.push(far);
        let heap = self.heap.as_mut_slice();
        while hole > 0 {
            let parent = (hole - 1) / WIDTH;
            if heap[parent] <= far {
                break;
            }
            heap[hole] = heap[parent];
            hole = parent;
        }
        heap[hole] = far;
    }

    /// The node of the least entry, which stays.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u32> {
        let (place, mut least) = least_of(&self.near);
        self.least = place;
        if let Some(&root) = self.heap.first() {
            if root < least {
                least = root;
                self.least = NEAR;
            }
        }
        (least != NOTHING).then_some(least as u32)
    }

    /// Removes the least entry.
    #[cfg(test)]
    pub(crate) fn pop(&mut self) -> Option<u32> {
        let top = self.peek()?;
        self.remove();
        Some(top)
    }

    /// Removes the entry the last [`peek`](Self::peek) found. There must be one, and nothing may
    /// have been added since.
    #[inline]
    pub(crate) fn remove(&mut self) {
        if self.least < NEAR {
            self.near_count -= 1;
            self.near[self.least] = self.near[self.near_count];
            self.near[self.near_count] = NOTHING;
        } else if let Some(last) = self.heap.pop() {
            if !self.heap.is_empty() {
                sink(&mut self.heap, last);
            }
        }
    }
}

/// Place and value of the least of a few keys, by a knockout without branches: which key is least
/// no predictor can call.
#[inline]
fn least_of(keys: &[u128; NEAR]) -> (usize, u128) {
    let [a, b, c, d] = *keys;
    lesser(lesser((0, a), (1, b)), lesser((2, c), (3, d)))
}

/// The one of two places whose key is less.
#[inline]
fn lesser(a: (usize, u128), b: (usize, u128)) -> (usize, u128) {
    let mask = u128::from(b.1 < a.1).wrapping_neg();
    (a.0 ^ (a.0 ^ b.0) & mask as usize, a.1 ^ (a.1 ^ b.1) & mask)
}

/// Puts `key` in place of the root and lets it sink to where it belongs.
#[inline]
fn sink(heap: &mut [u128], key: u128) {
    let mut hole = 0;
    loop {
        let first = hole * WIDTH + 1;
        let (child, least) = if let Some(children) = heap.get(first..first + WIDTH) {
            // Two rounds of a knockout, written without branches: which child is least is a coin
            // toss no predictor can call.
            let low = usize::from(children[1] < children[0]);
            let high = 2 + usize::from(children[3] < children[2]);
            let won = [low, high][usize::from(children[high] < children[low])];
            (first + won, children[won])
        } else {
            let Some((&least, others)) = heap.get(first..).and_then(<[u128]>::split_first) else {
                break;
            };
            let mut best = (first, least);
            for (offset, &key) in others.iter().enumerate() {
                if key < best.1 {
                    best = (first + 1 + offset, key);
                }
            }
            best
        };
        if least >= key {
            break;
        }
        heap[hole] = least;
        hole = child;
    }
    heap[hole] = key;
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_soa::rng::SplitMix64;

    #[test]
    fn pops_by_priority_then_by_insertion() {
        let mut list = OpenList::default();
        for (priority, node) in [(2.0, 0), (1.0, 1), (1.0, 2), (0.0, 3), (1.0, 4)] {
            list.push(priority, node);
        }
        assert_eq!(list.peek(), Some(3));
        let order: Vec<u32> = std::iter::from_fn(|| list.pop()).collect();
        assert_eq!(order, [3, 1, 2, 4, 0]);
    }

    #[test]
    fn mixed_pushes_and_pops_match_a_stable_sort() {
        let mut rng = SplitMix64::new(5);
        let mut list = OpenList::default();
        let mut model: Vec<(u64, u32)> = Vec::new();
        for node in 0..20_000_u32 {
            let priority = f64::from(rng.next_below(500));
            list.push(priority, node);
            model.push((priority as u64, node));
            if rng.next_below(3) == 0 {
                let least = model.iter().copied().min().unwrap();
                model.retain(|&entry| entry != least);
                assert_eq!(list.peek(), Some(least.1));
                assert_eq!(list.pop(), Some(least.1));
            }
            if model.len() > 200 {
                list.clear();
                model.clear();
            }
        }
    }
    #[test]
    fn a_long_list_drains_in_order() {
        let mut rng = SplitMix64::new(6);
        let mut list = OpenList::with_capacity(0);
        for round in 0..40_u32 {
            let mut model: Vec<(u64, u32)> = (0..round * 7)
                .map(|node| (rng.next_below(60).into(), node))
                .collect();
            for &(priority, node) in &model {
                list.push(priority as f64, node);
            }
            model.sort_unstable();
            let drained: Vec<u32> = std::iter::from_fn(|| list.pop()).collect();
            let expected: Vec<u32> = model.iter().map(|&(_, node)| node).collect();
            assert_eq!(drained, expected);
        }
    }
}

//! The open list of every best-first search: a heap ordered by (priority, insertion sequence).
//!
//! In: priorities (not negative, not NaN) and node numbers. Out: nodes in ascending order. The
//! order is total, so the pop order is a property of the pushes and not of the heap's shape; that
//! leaves the shape free, and four children per entry put one level's comparison in one cache
//! line. An entry packs priority bits, sequence and node into one 128-bit key: the bits of a
//! non-negative double compare like the double.

/// Priority queue of node numbers. Grows to the largest number of entries seen, then allocates
/// no more.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenList {
    heap: Vec<u128>,
    sequence: u32,
    /// The root was taken and its place is still to be filled: by the next push, which in a search
    /// is seldom far from the node just expanded, or else by the last entry.
    vacant: bool,
}

/// Children per entry.
const WIDTH: usize = 4;

impl OpenList {
    pub(crate) fn with_capacity(entries: usize) -> Self {
        Self {
            heap: Vec::with_capacity(entries),
            sequence: 0,
            vacant: false,
        }
    }

    /// Empties the list and restarts the insertion sequence.
    pub(crate) fn clear(&mut self) {
        self.heap.clear();
        self.sequence = 0;
        self.vacant = false;
    }

    /// Adds an entry. Equal priorities leave in the order they came.
    #[inline]
    pub(crate) fn push(&mut self, priority: f64, node: u32) {
        let key = u128::from(priority.to_bits()) << 64
            | u128::from(self.sequence) << 32
            | u128::from(node);
        self.sequence = self.sequence.wrapping_add(1);
        if self.vacant {
            self.vacant = false;
            sink(&mut self.heap, key);
            return;
        }
        let mut hole = self.heap.len();
        self.heap.push(key);
        let heap = self.heap.as_mut_slice();
        while hole > 0 {
            let parent = (hole - 1) / WIDTH;
            if heap[parent] <= key {
                break;
            }
            heap[hole] = heap[parent];
            hole = parent;
        }
        heap[hole] = key;
    }

    /// The node of the least entry, which stays.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u32> {
        if self.vacant {
            self.vacant = false;
            let last = self.heap.pop()?;
            if !self.heap.is_empty() {
                sink(&mut self.heap, last);
            }
        }
        self.heap.first().map(|&key| key as u32)
    }

    /// Removes the least entry.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<u32> {
        let top = self.peek();
        self.vacant = top.is_some();
        top
    }
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
                assert_eq!(list.pop(), Some(least.1));
            }
            if model.len() > 200 {
                list.clear();
                model.clear();
            }
        }
    }
}

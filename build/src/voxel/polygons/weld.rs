//! Gives corners that meet one vertex number.
//!
//! Two corners are one vertex when they share the grid corner and their floors differ by at most a
//! row: the copies a bridge makes, and the ends of a border seen from both regions. An open hash
//! table of chains finds the vertices at a corner; the numbering depends only on the order corners
//! are asked for.

const NONE: u32 = u32::MAX;

/// Vertices by number, and the chains that find them by corner.
#[derive(Debug, Default)]
pub(crate) struct Welder {
    head: Vec<u32>,
    chain: Vec<u32>,
}

impl Welder {
    /// Empties the table and makes room for `expected` vertices.
    pub(crate) fn start(&mut self, expected: usize) {
        let size = (expected * 2).next_power_of_two().max(16);
        self.head.clear();
        self.head.resize(size, NONE);
        self.chain.clear();
    }

    /// The first vertex at this corner within a row of `y`, or a new one appended to `vertices`.
    pub(crate) fn vertex(&mut self, vertices: &mut Vec<[i32; 3]>, [x, y, z]: [i32; 3]) -> u32 {
        let mixed = (x as u32).wrapping_mul(0x9E37_79B1) ^ (z as u32).wrapping_mul(0x85EB_CA77);
        let slot = (mixed ^ (mixed >> 15)) as usize & (self.head.len() - 1);
        let mut found = NONE;
        let mut at = self.head[slot];
        while at != NONE {
            let [vx, vy, vz] = vertices[at as usize];
            if vx == x && vz == z && (vy - y).abs() <= 1 {
                // Chains run from the newest vertex to the oldest: the last match is the first made.
                found = at;
            }
            at = self.chain[at as usize];
        }
        if found == NONE {
            found = vertices.len() as u32;
            vertices.push([x, y, z]);
            self.chain.push(self.head[slot]);
            self.head[slot] = found;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floors_within_a_row_weld_to_the_oldest_vertex() {
        let mut welder = Welder::default();
        let mut vertices = Vec::new();
        welder.start(4);
        assert_eq!(welder.vertex(&mut vertices, [1, 10, 2]), 0);
        assert_eq!(welder.vertex(&mut vertices, [1, 12, 2]), 1);
        assert_eq!(welder.vertex(&mut vertices, [1, 11, 2]), 0);
        assert_eq!(welder.vertex(&mut vertices, [2, 11, 1]), 2);
        assert_eq!(welder.vertex(&mut vertices, [1, 20, 2]), 3);
        for i in 0..1000 {
            assert_eq!(welder.vertex(&mut vertices, [i, 100, 7]), 4 + i as u32);
        }
    }
}

//! Which polygons of a tile have to be looked at one by one, because it is not plain that they are convex.

use std::ops::Range;

use crate::mesh::data::TileData;

/// Places for the vertices of rings taken together.
const BLOCK: usize = 256;

/// Corners per step; an operation on as many numbers is one or two for a processor.
const LANES: usize = 8;

/// Most corners of a ring in a mesh.
const MAX_CORNERS: usize = 16;

/// A difference of two products of differences in float32 has the sign of the true one when it is larger
/// than this times the sum of the products' sizes: a little more than Shewchuk's (3 + 16e)e, e = 2^-24.
/// And than [`TINY`], below which products lose digits.
const TURN_ERROR: f32 = 2e-7;
const TINY: f32 = 1e-30;

/// Polygons, ascending, that are not seen at once to turn left at every corner and to go round once. All
/// indices name vertices.
///
/// The corners of many rings are looked at together. A ring that turns left at each corner by less than a
/// half turn begins to go along +X once per turn, so at least once; where all of them together do so as
/// often as there are rings, each does once.
pub(super) fn doubtful_rings(data: &TileData, first: &[u32]) -> Vec<u32> {
    let mut block = Block::new();
    let mut doubtful = Vec::new();
    let mut starts = 0;
    let polys = data.poly_vertex_counts.len();
    for poly in 0..polys {
        let ring = &data.poly_indices[ring_of(first, poly)];
        if ring.len() > MAX_CORNERS {
            // Only where nobody has checked the mesh's parameters.
            starts += block.look(&mut doubtful) + starts_of(data, ring);
            doubtful.push(poly as u32);
            continue;
        }
        if block.len + MAX_CORNERS + 2 > BLOCK {
            starts += block.look(&mut doubtful);
        }
        block.add(data, ring, poly);
    }
    starts += block.look(&mut doubtful);
    doubtful.dedup();
    let of_doubtful: usize = doubtful
        .iter()
        .map(|&poly| starts_of(data, &data.poly_indices[ring_of(first, poly as usize)]))
        .sum();
    if starts - of_doubtful == polys - doubtful.len() {
        doubtful
    } else {
        (0..polys as u32).collect()
    }
}

fn ring_of(first: &[u32], poly: usize) -> Range<usize> {
    first[poly] as usize..first[poly + 1] as usize
}

/// The vertices of some rings, each from its last to its first again; and of which polygon a corner is.
struct Block {
    // A step looks at the places beside its own too.
    x: [f32; BLOCK + LANES + 2],
    z: [f32; BLOCK + LANES + 2],
    poly: [u32; BLOCK + LANES + 2],
    len: usize,
}

/// Where a ring begins and ends is no corner.
const NO_CORNER: u32 = u32::MAX;

impl Block {
    fn new() -> Self {
        Self {
            x: [0.0; BLOCK + LANES + 2],
            z: [0.0; BLOCK + LANES + 2],
            poly: [NO_CORNER; BLOCK + LANES + 2],
            len: 0,
        }
    }

    /// Adds a ring; there is room for it.
    #[inline]
    fn add(&mut self, data: &TileData, ring: &[u16], poly: usize) {
        let (Some(&first), Some(&last)) = (ring.first(), ring.last()) else {
            return;
        };
        let mut at = self.len;
        let mut put = |index: u16, poly: u32| {
            // Never beyond, which the compiler cannot know.
            let place = at % BLOCK;
            [self.x[place], _, self.z[place]] = data.vertices[usize::from(index)];
            self.poly[place] = poly;
            at += 1;
        };
        put(last, NO_CORNER);
        for &index in ring {
            put(index, poly as u32);
        }
        put(first, NO_CORNER);
        self.len = at;
    }

    /// Appends the polygons of corners that are not surely to the left, and empties the block. How many of
    /// its corners begin to go along +X.
    fn look(&mut self, doubtful: &mut Vec<u32>) -> usize {
        self.poly[self.len..self.len + LANES].fill(NO_CORNER);
        let mut starts = [0_u32; LANES];
        for at in (0..self.len).step_by(LANES) {
            let (Some(x), Some(z), Some(poly)) = (
                self.x.get(at..).and_then(|x| x.first_chunk()),
                self.z.get(at..).and_then(|z| z.first_chunk()),
                self.poly.get(at + 1..).and_then(|poly| poly.first_chunk()),
            ) else {
                break;
            };
            let mut unsure = [0_u32; LANES];
            look_at_step(x, z, poly, &mut unsure, &mut starts);
            if unsure != [0; LANES] {
                let lanes = poly.iter().zip(unsure);
                doubtful.extend(lanes.filter_map(|(&poly, unsure)| (unsure > 0).then_some(poly)));
            }
        }
        self.len = 0;
        starts.iter().map(|&count| count as usize).sum()
    }
}

/// Marks corners that are not surely to the left, and counts those that begin to go along +X.
#[inline]
fn look_at_step(
    x: &[f32; LANES + 2],
    z: &[f32; LANES + 2],
    poly: &[u32; LANES],
    unsure: &mut [u32; LANES],
    starts: &mut [u32; LANES],
) {
    for lane in 0..LANES {
        let (before_x, before_z) = (x[lane + 1] - x[lane], z[lane + 1] - z[lane]);
        let (after_x, after_z) = (x[lane + 2] - x[lane + 1], z[lane + 2] - z[lane + 1]);
        let (left, right) = (before_x * after_z, before_z * after_x);
        let error = TURN_ERROR * (left.abs() + right.abs()) + TINY;
        let is_corner = poly[lane] != NO_CORNER;
        let is_sure = left - right > error;
        unsure[lane] = u32::from(is_corner & !is_sure);
        starts[lane] += u32::from(is_corner & (before_x <= 0.0) & (after_x > 0.0));
    }
}

/// How many corners of a ring begin to go along +X.
fn starts_of(data: &TileData, ring: &[u16]) -> usize {
    let x = |k: usize| data.vertices[usize::from(ring[k % ring.len()])][0];
    let begins = |&k: &usize| x(k + 1) - x(k) <= 0.0 && x(k + 2) - x(k + 1) > 0.0;
    (0..ring.len()).filter(begins).count()
}

#[cfg(test)]
mod tests {
    use super::super::is_strictly_convex;
    use super::*;
    use crate::mesh::params::tests::params;
    use crate::mesh::{DetailMesh, MeshParams, NO_PORTAL, NavTile};
    use crate::rng::SplitMix64;

    /// A tile of rings over points of its own.
    fn tile_of(rings: &[Vec<[f32; 2]>]) -> (TileData, Vec<u32>) {
        let (mut data, mut first) = (TileData::default(), vec![0]);
        for ring in rings {
            for &[x, z] in ring {
                data.poly_indices.push(data.vertices.len() as u16);
                data.vertices.push([x, 0.0, z]);
            }
            data.poly_vertex_counts.push(ring.len() as u8);
            first.push(data.poly_indices.len() as u32);
        }
        (data, first)
    }

    #[test]
    fn what_is_not_doubtful_is_convex() {
        let mut rng = SplitMix64::new(12);
        let mut found = [0; 2];
        for round in 0..20_000 {
            // Sizes at which float32 has its limits, among them.
            let unit = [1.0, 1.0, 1e-30, 1e-22, 1e-16, 1e15][rng.next_below(6) as usize];
            let far = [0.0, 0.0, 1000.0][rng.next_below(3) as usize];
            let rings: Vec<Vec<[f32; 2]>> = (0..1 + round % 90)
                .map(|_| {
                    let corners = 3 + usize::from(rng.next_below(4) == 0);
                    let steps = 3 + rng.next_below(100);
                    let mut at = || (far + f64::from(rng.next_below(steps)) * unit) as f32;
                    let mut ring: Vec<[f32; 2]> = (0..corners).map(|_| [at(), at()]).collect();
                    let [a, b, c] = [ring[0], ring[1], ring[2]];
                    if (b[0] - a[0]) * (c[1] - b[1]) < (b[1] - a[1]) * (c[0] - b[0]) {
                        ring.reverse();
                    }
                    ring
                })
                .collect();
            let (data, first) = tile_of(&rings);
            let doubtful = doubtful_rings(&data, &first);
            assert!(doubtful.is_sorted_by(|a, b| a < b));
            for (poly, ring) in rings.iter().enumerate() {
                let convex = is_strictly_convex(&data, &data.poly_indices[ring_of(&first, poly)]);
                let sure = !doubtful.contains(&(poly as u32));
                assert!(convex || !sure, "{ring:?}");
                found[usize::from(sure)] += 1;
            }
        }
        assert!(found[0] > 100_000 && found[1] > 100_000, "{found:?}");
    }

    #[test]
    fn a_ring_that_goes_round_twice_puts_all_in_doubt() {
        let square = vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        let star = vec![
            [0.0, 3.0],
            [-2.0, -3.0],
            [3.0, 1.0],
            [-3.0, 1.0],
            [2.0, -3.0],
        ];
        let corner_on_an_edge = vec![[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [1.0, 1.0]];
        for squares in [0, 1, 70, 200] {
            let mut rings = vec![square.clone(); squares];
            let (data, first) = tile_of(&rings);
            assert!(doubtful_rings(&data, &first).is_empty());
            rings.push(corner_on_an_edge.clone());
            rings.push(square.clone());
            let (data, first) = tile_of(&rings);
            assert_eq!(doubtful_rings(&data, &first), [squares as u32]);
            rings.push(star.clone());
            let (data, first) = tile_of(&rings);
            let all: Vec<u32> = (0..rings.len() as u32).collect();
            assert_eq!(doubtful_rings(&data, &first), all);
        }
    }

    /// Corners on a parabola: exact, and convex for as long as one likes.
    fn bow(corners: u8) -> Vec<[f32; 2]> {
        let at = |k: u8| [f32::from(k) / 16.0, f32::from(k) * f32::from(k) / 1024.0];
        (0..corners).map(at).collect()
    }

    #[test]
    fn long_rings_and_ends_of_blocks() {
        for corners in [3, 4, 13, 14, 15, 16] {
            let (data, first) = tile_of(&vec![bow(corners); 100]);
            assert!(doubtful_rings(&data, &first).is_empty(), "{corners}");
        }
        // More corners than a mesh allows are looked at one by one; so are theirs that do not turn.
        let mut bent = bow(50);
        bent.swap(20, 21);
        let (data, first) = tile_of(&[bow(5), bow(50), bow(16), bow(255), bent, bow(4)]);
        assert_eq!(doubtful_rings(&data, &first), [1, 3, 4]);
        let params = MeshParams {
            max_verts_per_poly: 255,
            ..params()
        };
        let create = |rings: &[Vec<[f32; 2]>]| {
            let (data, first) = tile_of(rings);
            let polys = rings.len();
            NavTile::create(
                TileData {
                    edge_neighbors: vec![0; first[polys] as usize],
                    edge_portal_sides: vec![NO_PORTAL; first[polys] as usize],
                    poly_areas: vec![0; polys],
                    poly_flags: vec![1; polys],
                    detail_meshes: vec![DetailMesh::default(); polys],
                    ..data
                },
                &params,
            )
        };
        create(&vec![bow(50); 10]).unwrap();
        let mut bent = bow(50);
        bent.swap(20, 21);
        assert_eq!(create(&[bow(50), bent]).unwrap_err().field, "polygon 1");
    }
}

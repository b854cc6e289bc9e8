//! What a tile says of its edges: neighbours answer one another, portals lie on the boundary.

use super::refuse;
use crate::error::DataError;
use crate::mesh::data::{NO_PORTAL, TileData};
use crate::mesh::params::MeshParams;

/// Most edges of a polygon in a mesh. Where parameters nobody has checked allow more, those are not counted
/// here: then the counts differ, and every edge is looked at.
const MAX_EDGES: usize = 16;

pub(super) fn check_edges(
    data: &TileData,
    params: &MeshParams,
    first: &[u32],
) -> Result<(), DataError> {
    for (poly, edge) in portals_of(data, first) {
        check_portal(data, params, ends_of(data, first, poly, edge), edge).map_err(|problem| {
            let edge = edge - first[poly] as usize;
            refuse(format!("polygon {poly} edge {edge}"), problem)
        })?;
    }
    // A neighbour has one edge that answers an edge. So when all neighbours of higher index answer,
    // and as many edges name a lower one, every edge is answered.
    let mut to_higher = 0;
    for (poly, ring) in rings(data, first) {
        // Which edges name a higher polygon nobody can predict: they are gathered without a branch.
        let (mut higher, mut count) = ([0_u8; MAX_EDGES], 0);
        for (i, &neighbor) in ring.neighbors.iter().enumerate().take(MAX_EDGES) {
            higher[count] = i as u8;
            count += usize::from(neighbor as u32 as usize > poly);
        }
        for &i in &higher[..count] {
            let i = usize::from(i);
            let neighbor = ring.neighbors[i];
            if !is_answered(data, first, poly, neighbor, ring.ends(i)) {
                return Err(unanswered(data, poly, i, neighbor));
            }
        }
        to_higher += count as u32;
    }
    let all = data.edge_neighbors.iter();
    let all: u32 = all.map(|&neighbor| u32::from(neighbor != 0)).sum();
    if all == 2 * to_higher {
        return Ok(());
    }
    for (poly, ring) in rings(data, first) {
        for (i, &neighbor) in ring.neighbors.iter().enumerate() {
            if neighbor != 0 && !is_answered(data, first, poly, neighbor, ring.ends(i)) {
                return Err(unanswered(data, poly, i, neighbor));
            }
        }
    }
    Ok(())
}

/// A polygon's part of the edge columns.
struct Ring<'t> {
    indices: &'t [u16],
    neighbors: &'t [i32],
}

impl Ring<'_> {
    /// The vertices an edge goes from and to.
    #[inline]
    fn ends(&self, edge: usize) -> [u16; 2] {
        let next = if edge + 1 == self.indices.len() {
            0
        } else {
            edge + 1
        };
        [self.indices[edge], self.indices[next]]
    }
}

#[inline]
fn ring_at(data: &TileData, [first, end]: [u32; 2]) -> Ring<'_> {
    let range = first as usize..end as usize;
    Ring {
        indices: &data.poly_indices[range.clone()],
        neighbors: &data.edge_neighbors[range],
    }
}

fn rings<'t>(data: &'t TileData, first: &'t [u32]) -> impl Iterator<Item = (usize, Ring<'t>)> {
    let ranges = first.windows(2).enumerate();
    ranges.map(|(poly, range)| (poly, ring_at(data, [range[0], range[1]])))
}

/// Whether the neighbour names `poly` over the same edge, turned round.
#[inline]
fn is_answered(
    data: &TileData,
    first: &[u32],
    poly: usize,
    neighbor: i32,
    [a, b]: [u16; 2],
) -> bool {
    let other = neighbor as u32 as usize;
    let Some(&[start, end]) = first
        .get(other.wrapping_sub(1)..=other)
        .and_then(|range| range.first_chunk())
    else {
        return false;
    };
    let ring = ring_at(data, [start, end]);
    let mut named = ring.neighbors.iter().enumerate();
    other != poly + 1 && named.any(|(i, &back)| back == poly as i32 + 1 && ring.ends(i) == [b, a])
}

#[cold]
fn unanswered(data: &TileData, poly: usize, edge: usize, neighbor: i32) -> DataError {
    let polys = data.poly_vertex_counts.len();
    let other = usize::try_from(neighbor).map_or(polys, |n| n - 1);
    let problem = if other >= polys {
        format!("names neighbour {neighbor} of {polys} polygons")
    } else if other == poly {
        "is its own neighbour".into()
    } else {
        format!("polygon {other} does not name it back over the same edge")
    };
    refuse(format!("polygon {poly} edge {edge}"), problem)
}

/// Polygon and edge of all edges with a portal side, ascending. Most have none, so blocks without are
/// passed over.
pub(in crate::mesh) fn portals_of<'t>(
    data: &'t TileData,
    first: &'t [u32],
) -> impl Iterator<Item = (usize, usize)> + 't {
    const BLOCK: usize = 16;
    let blocks = data.edge_portal_sides.chunks(BLOCK).enumerate();
    let blocks = blocks
        .filter(|(_, sides)| sides.iter().fold(NO_PORTAL, |all, side| all & side) != NO_PORTAL);
    let edges = blocks.flat_map(|(block, sides)| {
        let sides = sides.iter().enumerate();
        let portals = sides.filter(|&(_, &side)| side != NO_PORTAL);
        portals.map(move |(i, _)| block * BLOCK + i)
    });
    let mut poly = 0;
    edges.map(move |edge| {
        while first[poly + 1] as usize <= edge {
            poly += 1;
        }
        (poly, edge)
    })
}

/// The vertices an edge of `poly` goes from and to; `edge` counts the edges of all polygons.
pub(in crate::mesh) fn ends_of(
    data: &TileData,
    first: &[u32],
    poly: usize,
    edge: usize,
) -> [u16; 2] {
    let ring = ring_at(data, [first[poly], first[poly + 1]]);
    ring.ends(edge - first[poly] as usize)
}

fn check_portal(
    data: &TileData,
    params: &MeshParams,
    ends: [u16; 2],
    edge: usize,
) -> Result<(), String> {
    if data.edge_neighbors[edge] != 0 {
        return Err("has a neighbour and a portal side".into());
    }
    let side = data.edge_portal_sides[edge];
    let (axis, along) = match side {
        0 | 2 => (0, 2),
        1 | 3 => (2, 0),
        _ => return Err(format!("has portal side {side}; sides are 0 to 3 or 255")),
    };
    let line = if side < 2 {
        params.tile_size as f32
    } else {
        0.0
    };
    let [p, q] = ends.map(|index| data.vertices[usize::from(index)]);
    if p[axis].to_bits() != line.to_bits() || q[axis].to_bits() != line.to_bits() {
        return Err(format!(
            "is a portal of side {side} but leaves the tile's boundary line"
        ));
    }
    if p[along] == q[along] {
        return Err("is a portal without length along the boundary".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::params::tests::params;
    use crate::rng::SplitMix64;

    #[test]
    fn answers_counted_are_answers_looked_for_edge_by_edge() {
        let mut rng = SplitMix64::new(33);
        let mut found = [0; 2];
        for _ in 0..200_000 {
            // Triangles over four vertices, neighbours true or not.
            let polys = 1 + rng.next_below(5) as usize;
            let mut data = TileData {
                vertices: vec![[0.0; 3]; 4],
                poly_vertex_counts: vec![3; polys],
                ..TileData::default()
            };
            for _ in 0..polys {
                let mut ring = vec![0, 1, 2, 3];
                ring.rotate_left(rng.next_below(4) as usize);
                ring.pop();
                if rng.next_below(2) == 0 {
                    ring.reverse();
                }
                data.poly_indices.extend(ring);
            }
            let first: Vec<u32> = (0..=polys as u32).map(|poly| 3 * poly).collect();
            data.edge_portal_sides = vec![NO_PORTAL; 3 * polys];
            data.edge_neighbors = vec![0; 3 * polys];
            for _ in 0..rng.next_below(4) {
                join_any(&mut data, &first, &mut rng);
            }
            if rng.next_below(3) == 0 {
                let edge = rng.next_below(3 * polys as u32) as usize;
                data.edge_neighbors[edge] = rng.next_below(polys as u32 + 3) as i32 - 1;
            }
            let expected = (0..3 * polys).all(|edge| {
                let neighbor = data.edge_neighbors[edge];
                let ends = ends_of(&data, &first, edge / 3, edge);
                neighbor == 0 || is_answered(&data, &first, edge / 3, neighbor, ends)
            });
            let accepted = check_edges(&data, &params(), &first).is_ok();
            assert_eq!(accepted, expected, "{data:?}");
            found[usize::from(expected)] += 1;
        }
        assert!(found.iter().all(|&found| found > 20_000), "{found:?}");
    }

    #[test]
    fn edges_beyond_the_most_a_mesh_allows_are_looked_at_too() {
        // A polygon of 20 edges and a triangle over its edge 17, from vertex 17 to 18.
        let mut data = TileData {
            vertices: vec![[0.0; 3]; 21],
            poly_vertex_counts: vec![20, 3],
            poly_indices: (0..20).chain([18, 17, 20]).collect(),
            edge_neighbors: vec![0; 23],
            edge_portal_sides: vec![NO_PORTAL; 23],
            ..TileData::default()
        };
        let check = |data: &TileData| check_edges(data, &params(), &[0, 20, 23]);
        (data.edge_neighbors[17], data.edge_neighbors[20]) = (2, 1);
        assert!(check(&data).is_ok());
        for (edge, unanswered) in [(17, "polygon 1 edge 0"), (20, "polygon 0 edge 17")] {
            let mut broken = data.clone();
            broken.edge_neighbors[edge] = 0;
            assert_eq!(
                check(&broken).map_err(|error| error.field),
                Err(unanswered.into())
            );
        }
    }

    /// Joins two polygons over an edge they share, if the two drawn share one.
    fn join_any(data: &mut TileData, first: &[u32], rng: &mut SplitMix64) {
        let edges = data.edge_neighbors.len();
        let one = rng.next_below(edges as u32) as usize;
        let [a, b] = ends_of(data, first, one / 3, one);
        let other = (0..edges).find(|&other| {
            let free = [one, other].map(|edge| data.edge_neighbors[edge]) == [0, 0];
            free && other / 3 != one / 3 && ends_of(data, first, other / 3, other) == [b, a]
        });
        if let Some(other) = other {
            data.edge_neighbors[one] = (other / 3) as i32 + 1;
            data.edge_neighbors[other] = (one / 3) as i32 + 1;
        }
    }
}

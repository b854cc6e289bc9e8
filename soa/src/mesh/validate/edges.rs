//! What a tile says of its edges: neighbours answer one another, portals lie on the boundary.

use super::refuse;
use crate::error::DataError;
use crate::mesh::data::{NO_PORTAL, TileData};
use crate::mesh::params::MeshParams;

pub(super) fn check_edges(
    data: &TileData,
    params: &MeshParams,
    first: &[u32],
) -> Result<(), DataError> {
    let named = |poly: usize, edge: usize| {
        let name = format!("polygon {poly} edge {}", edge - first[poly] as usize);
        move |problem: String| refuse(name, problem)
    };
    for (poly, edge) in portals_of(data, first) {
        check_portal(data, params, ends_of(data, first, poly, edge), edge)
            .map_err(|problem| named(poly, edge)(problem))?;
    }
    let polys = data.poly_vertex_counts.len();
    let check = |poly: usize, edge: usize| {
        let [a, b] = ends_of(data, first, poly, edge);
        check_neighbor(data, first, poly, data.edge_neighbors[edge], [a, b])
            .map_err(|problem| named(poly, edge)(problem))
    };
    // A neighbour has one edge that answers an edge. So when all neighbours of higher index answer,
    // and as many edges name a lower one, every edge is answered.
    let mut to_higher = 0;
    for poly in 0..polys {
        for edge in first[poly] as usize..first[poly + 1] as usize {
            if data.edge_neighbors[edge] as u32 as usize > poly {
                check(poly, edge)?;
                to_higher += 1;
            }
        }
    }
    let all = data.edge_neighbors.iter();
    let all: u32 = all.map(|&neighbor| u32::from(neighbor != 0)).sum();
    if all == 2 * to_higher {
        return Ok(());
    }
    for poly in 0..polys {
        for edge in first[poly] as usize..first[poly + 1] as usize {
            if data.edge_neighbors[edge] != 0 {
                check(poly, edge)?;
            }
        }
    }
    Ok(())
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

/// The vertices an edge goes from and to.
pub(in crate::mesh) fn ends_of(
    data: &TileData,
    first: &[u32],
    poly: usize,
    edge: usize,
) -> [u16; 2] {
    let next = if edge + 1 == first[poly + 1] as usize {
        first[poly] as usize
    } else {
        edge + 1
    };
    [data.poly_indices[edge], data.poly_indices[next]]
}

fn check_neighbor(
    data: &TileData,
    first: &[u32],
    poly: usize,
    neighbor: i32,
    [a, b]: [u16; 2],
) -> Result<(), String> {
    let polys = data.poly_vertex_counts.len();
    let other = usize::try_from(neighbor).map_or(polys, |n| n - 1);
    if other >= polys {
        return Err(format!("names neighbour {neighbor} of {polys} polygons"));
    }
    if other == poly {
        return Err("is its own neighbour".into());
    }
    for edge in first[other] as usize..first[other + 1] as usize {
        let back = data.edge_neighbors[edge] == poly as i32 + 1;
        if back && ends_of(data, first, other, edge) == [b, a] {
            return Ok(());
        }
    }
    Err(format!(
        "polygon {other} does not name it back over the same edge"
    ))
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

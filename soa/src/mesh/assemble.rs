//! From a builder's polygons to tile arrays: adjacency and portals.
//!
//! In: polygons that share vertices by index, cut to one tile. Out: [`TileData`] without detail
//! and links, ready for the builder to fill those in and for [`NavTile::create`] to validate.
//! An edge shared by exactly two polygons in opposite directions joins them; any other edge is a
//! wall, and a wall whose two vertices lie on one boundary line of the tile is a portal.
//!
//! [`NavTile::create`]: super::NavTile::create

use super::data::{DetailMesh, NO_PORTAL, TileData};
use super::params::MeshParams;
use crate::error::{ArgumentError, DataError, DataErrorKind, Location};
use crate::predicates::orient2d;
use crate::world::{DVec3, check_point};

/// Polygons of one tile in the positions the tile stores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LocalPolygons {
    /// Tile column.
    pub tile_x: i32,
    /// Tile row.
    pub tile_z: i32,
    /// Layer.
    pub layer: i32,
    /// World height of the tile's local zero.
    pub origin_y: f64,
    /// Tile-local positions.
    pub vertices: Vec<[f32; 3]>,
    /// Vertices of each polygon.
    pub poly_vertex_counts: Vec<u8>,
    /// Vertex indices of all polygons.
    pub poly_indices: Vec<u16>,
    /// Area id of each polygon.
    pub areas: Vec<u8>,
    /// Flags of each polygon.
    pub flags: Vec<u16>,
}

/// Polygons of one tile in world positions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorldPolygons {
    /// Tile column.
    pub tile_x: i32,
    /// Tile row.
    pub tile_z: i32,
    /// Layer.
    pub layer: i32,
    /// World height of the tile's local zero.
    pub origin_y: f64,
    /// World positions.
    pub vertices: Vec<DVec3>,
    /// Vertices of each polygon.
    pub poly_vertex_counts: Vec<u8>,
    /// Vertex indices of all polygons; either winding.
    pub poly_indices: Vec<u16>,
    /// Area id of each polygon.
    pub areas: Vec<u8>,
    /// Flags of each polygon.
    pub flags: Vec<u16>,
}

/// Derives adjacency and portals. `O(e log e)` in the number of edges.
///
/// # Errors
/// Array lengths that do not fit together, or an index beyond the vertices.
pub fn from_local_polygons(
    input: LocalPolygons,
    params: &MeshParams,
) -> Result<TileData, DataError> {
    let polys = input.poly_vertex_counts.len();
    let edges: usize = input
        .poly_vertex_counts
        .iter()
        .map(|&n| usize::from(n))
        .sum();
    let refuse = |field: &str, problem: String| {
        DataError::new(
            "tile",
            field,
            Location::Nowhere,
            DataErrorKind::Geometry,
            problem,
        )
    };
    for (name, length, expected) in [
        ("polygon indices", input.poly_indices.len(), edges),
        ("polygon areas", input.areas.len(), polys),
        ("polygon flags", input.flags.len(), polys),
    ] {
        if length != expected {
            return Err(refuse(
                name,
                format!("holds {length}; {expected} are needed"),
            ));
        }
    }
    let count = input.vertices.len();
    if let Some(&bad) = input
        .poly_indices
        .iter()
        .find(|&&v| usize::from(v) >= count)
    {
        return Err(refuse(
            "polygon indices",
            format!("names vertex {bad} of {count}"),
        ));
    }
    let edge_neighbors = join_edges(&input.poly_vertex_counts, &input.poly_indices);
    let edge_portal_sides = mark_portals(&input, &edge_neighbors, params.tile_size as f32);
    Ok(TileData {
        tile_x: input.tile_x,
        tile_z: input.tile_z,
        layer: input.layer,
        origin_y: input.origin_y,
        vertices: input.vertices,
        poly_vertex_counts: input.poly_vertex_counts,
        poly_indices: input.poly_indices,
        edge_neighbors,
        edge_portal_sides,
        poly_areas: input.areas,
        poly_flags: input.flags,
        detail_meshes: vec![DetailMesh::default(); polys],
        detail_vertices: Vec::new(),
        detail_triangles: Vec::new(),
        off_mesh_links: Vec::new(),
    })
}

/// Converts world positions to the tile's frame (a coordinate within a 1024th of a cell of a
/// boundary line snaps onto it), turns clockwise polygons round and assembles them.
///
/// # Errors
/// As [`from_local_polygons`], and a world position outside the coordinate bound.
pub fn from_polygons(input: WorldPolygons, params: &MeshParams) -> Result<TileData, DataError> {
    let (ox, oz) = (
        params.tile_origin_x(input.tile_x),
        params.tile_origin_z(input.tile_z),
    );
    let snap = params.cell_size / 1024.0;
    let local = |value: f64, origin: f64| {
        let v = value - origin;
        if v.abs() <= snap {
            0.0
        } else if (v - params.tile_size).abs() <= snap {
            params.tile_size as f32
        } else {
            v as f32
        }
    };
    let as_data = |error: ArgumentError| {
        DataError::new(
            "tile",
            error.argument.clone(),
            Location::Nowhere,
            DataErrorKind::Value,
            error.to_string(),
        )
    };
    let mut vertices = Vec::with_capacity(input.vertices.len());
    for &v in &input.vertices {
        check_point("vertex", v).map_err(as_data)?;
        vertices.push([
            local(v.x, ox),
            (v.y - input.origin_y) as f32,
            local(v.z, oz),
        ]);
    }
    let mut indices = input.poly_indices;
    let mut first = 0;
    for &count in &input.poly_vertex_counts {
        let end = first + usize::from(count);
        if let Some(ring) = indices.get_mut(first..end) {
            if is_clockwise(&vertices, ring) {
                ring.reverse();
            }
        }
        first = end;
    }
    from_local_polygons(
        LocalPolygons {
            tile_x: input.tile_x,
            tile_z: input.tile_z,
            layer: input.layer,
            origin_y: input.origin_y,
            vertices,
            poly_vertex_counts: input.poly_vertex_counts,
            poly_indices: indices,
            areas: input.areas,
            flags: input.flags,
        },
        params,
    )
}

fn is_clockwise(vertices: &[[f32; 3]], ring: &[u16]) -> bool {
    let at = |i: u16| {
        vertices
            .get(usize::from(i))
            .map_or([0.0; 2], |v| [f64::from(v[0]), f64::from(v[2])])
    };
    // A convex ring turns the way its first corner with a turn does.
    ring.iter().enumerate().find_map(|(i, &b)| {
        let a = ring[(i + ring.len() - 1) % ring.len()];
        let c = ring[(i + 1) % ring.len()];
        let turn = orient2d(at(a), at(b), at(c));
        (turn != 0.0).then_some(turn < 0.0)
    }) == Some(true)
}

/// Neighbour of every edge: `k` for polygon `k − 1` over an edge that exactly two polygons share
/// in opposite directions, else 0.
fn join_edges(counts: &[u8], indices: &[u16]) -> Vec<i32> {
    // (low vertex, high vertex, low to high?, polygon, edge position), sorted to bring shared
    // edges together.
    let mut edges: Vec<(u16, u16, bool, u32, u32)> = Vec::with_capacity(indices.len());
    let mut first = 0;
    for (poly, &count) in counts.iter().enumerate() {
        let ring = &indices[first..first + usize::from(count)];
        for (i, &a) in ring.iter().enumerate() {
            let b = ring[if i + 1 == ring.len() { 0 } else { i + 1 }];
            edges.push((a.min(b), a.max(b), a < b, poly as u32, (first + i) as u32));
        }
        first += ring.len();
    }
    edges.sort_unstable();
    let mut neighbors = vec![0; indices.len()];
    for group in edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        if let [a, b] = group {
            if a.2 != b.2 && a.3 != b.3 {
                neighbors[a.4 as usize] = b.3 as i32 + 1;
                neighbors[b.4 as usize] = a.3 as i32 + 1;
            }
        }
    }
    neighbors
}

fn mark_portals(input: &LocalPolygons, neighbors: &[i32], boundary: f32) -> Vec<u8> {
    let mut sides = vec![NO_PORTAL; neighbors.len()];
    let mut first = 0;
    for &count in &input.poly_vertex_counts {
        let ring = &input.poly_indices[first..first + usize::from(count)];
        for i in 0..ring.len() {
            if neighbors[first + i] != 0 {
                continue;
            }
            let a = input.vertices[usize::from(ring[i])];
            let b = input.vertices[usize::from(ring[(i + 1) % ring.len()])];
            let on = |axis: usize, line: f32| {
                a[axis].to_bits() == line.to_bits() && b[axis].to_bits() == line.to_bits()
            };
            let candidates = [(0, boundary, 2), (2, boundary, 0), (0, 0.0, 2), (2, 0.0, 0)];
            for (side, (axis, line, along)) in candidates.into_iter().enumerate() {
                if on(axis, line) && a[along] != b[along] {
                    sides[first + i] = side as u8;
                    break;
                }
            }
        }
        first += ring.len();
    }
    sides
}

//! The contents of one tile, as a builder or a reader hands them over, before validation.

use bytemuck::{Pod, Zeroable};

/// Portal side of an edge that is no portal.
pub const NO_PORTAL: u8 = 255;

/// Where a polygon's height detail stands in the tile's detail arrays. All zero: no detail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct DetailMesh {
    /// First extra vertex.
    pub vertex_base: u32,
    /// First triangle.
    pub triangle_base: u32,
    /// Extra vertices.
    pub vertex_count: u16,
    /// Triangles.
    pub triangle_count: u16,
}

/// A way across that the surface does not have, as a tile records it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OffMeshLink {
    /// Departure, tile-local.
    pub start: [f32; 3],
    /// Arrival, in the owning tile's frame; may lie over another tile.
    pub end: [f32; 3],
    /// How far from a polygon an end may be and still attach to it, world units.
    pub radius: f32,
    /// Area id, 0 to 63.
    pub area: u8,
    /// Flags tested by filters.
    pub flags: u16,
    /// Whether it is crossed both ways.
    pub bidirectional: bool,
    /// The caller's id.
    pub user_id: u32,
}

/// One tile's arrays. `edge_*` and `poly_indices` hold all polygons one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TileData {
    /// Tile column.
    pub tile_x: i32,
    /// Tile row.
    pub tile_z: i32,
    /// Layer, 0 to [`MAX_LAYER`](super::MAX_LAYER).
    pub layer: i32,
    /// World height of the tile's local zero.
    pub origin_y: f64,
    /// Tile-local positions, at most 65,536.
    pub vertices: Vec<[f32; 3]>,
    /// Vertices of each polygon.
    pub poly_vertex_counts: Vec<u8>,
    /// Vertex indices, counter-clockwise with X right and Z up.
    pub poly_indices: Vec<u16>,
    /// Per edge (from vertex `i` to the next): 0 wall or portal, `k` the polygon `k − 1`.
    pub edge_neighbors: Vec<i32>,
    /// Per edge: [`NO_PORTAL`], or the tile side 0 +X, 1 +Z, 2 −X, 3 −Z.
    pub edge_portal_sides: Vec<u8>,
    /// Area id of each polygon, 0 to 63.
    pub poly_areas: Vec<u8>,
    /// Flags of each polygon.
    pub poly_flags: Vec<u16>,
    /// Height detail of each polygon.
    pub detail_meshes: Vec<DetailMesh>,
    /// Extra detail vertices, tile-local.
    pub detail_vertices: Vec<[f32; 3]>,
    /// Detail triangles: three indices (polygon vertices first, then extra ones) and a byte whose
    /// bit `k` says that edge `k` lies on the polygon's boundary.
    pub detail_triangles: Vec<[u8; 4]>,
    /// Off-mesh links that start here.
    pub off_mesh_links: Vec<OffMeshLink>,
}

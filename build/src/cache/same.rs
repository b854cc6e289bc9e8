//! Whether two tiles have one content id, without computing ids.
//!
//! In: the arrays of two tiles built against the same parameters. Out: whether their bytes would be
//! the same, so floats are compared by bit pattern.

use throng_soa::mesh::{OffMeshLink, TileData};

/// Whether two tiles would serialize to the same bytes.
pub(crate) fn same_content(a: &TileData, b: &TileData) -> bool {
    (a.tile_x, a.tile_z, a.layer) == (b.tile_x, b.tile_z, b.layer)
        && a.origin_y.to_bits() == b.origin_y.to_bits()
        && a.poly_vertex_counts == b.poly_vertex_counts
        && a.poly_indices == b.poly_indices
        && same_points(&a.vertices, &b.vertices)
        && a.edge_neighbors == b.edge_neighbors
        && a.edge_portal_sides == b.edge_portal_sides
        && a.poly_areas == b.poly_areas
        && a.poly_flags == b.poly_flags
        && a.detail_meshes == b.detail_meshes
        && same_points(&a.detail_vertices, &b.detail_vertices)
        && a.detail_triangles == b.detail_triangles
        && a.off_mesh_links.len() == b.off_mesh_links.len()
        && a.off_mesh_links
            .iter()
            .zip(&b.off_mesh_links)
            .all(|(a, b)| same_link(a, b))
}

fn bits(point: [f32; 3]) -> [u32; 3] {
    point.map(f32::to_bits)
}

fn same_points(a: &[[f32; 3]], b: &[[f32; 3]]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| bits(a) == bits(b))
}

fn same_link(a: &OffMeshLink, b: &OffMeshLink) -> bool {
    bits(a.start) == bits(b.start)
        && bits(a.end) == bits(b.end)
        && a.radius.to_bits() == b.radius.to_bits()
        && (a.area, a.flags, a.bidirectional, a.user_id)
            == (b.area, b.flags, b.bidirectional, b.user_id)
}

//! The arrays a mesh stores, from the polygons and detail of one layer.

use throng_soa::mesh::assemble::{LocalPolygons, from_local_polygons};
use throng_soa::mesh::{DetailMesh, TileData};
use throng_soa::spans::WALKABLE_AREA;

use super::stages::{Place, StageScratch};
use crate::pipeline::BuildError;

/// The arrays of one layer, or nothing when it has no polygon.
///
/// # Errors
/// The layer has more vertices, or a polygon more detail, than the format can hold.
pub(super) fn write_tile(
    place: &Place<'_>,
    scratch: &mut StageScratch,
    layer: u32,
    first_layer: u32,
    min_row: i32,
) -> Result<Option<TileData>, BuildError> {
    let plan = place.plan;
    let polygons = &scratch.polygons;
    let region_layer = &scratch.region_layer;
    let in_layer = |index: &usize| region_layer[polygons.region[*index] as usize] == layer;
    let renumber = &mut scratch.renumber;
    renumber.clear();
    renumber.resize(polygons.vertices.len(), u32::MAX);
    let mut poly_count = 0;
    for index in (0..polygons.len()).filter(in_layer) {
        poly_count += 1;
        for &vertex in polygons.polygon(index) {
            renumber[vertex as usize] = 0;
        }
    }
    if poly_count == 0 {
        return Ok(None);
    }
    let mut vertices = Vec::new();
    for (&[x, y, z], number) in polygons.vertices.iter().zip(renumber.iter_mut()) {
        if *number == 0 {
            *number = vertices.len() as u32;
            vertices.push([
                plan.coordinates.corner(x),
                (f64::from(y - min_row) * plan.cell_height) as f32,
                plan.coordinates.corner(z),
            ]);
        }
    }
    if vertices.len() > 1 << 16 {
        return Err(place.limit(format!(
            "{} vertices in a layer; a tile holds at most 65536 (use smaller tiles)",
            vertices.len()
        )));
    }
    let mut local = LocalPolygons {
        tile_x: place.tile_x,
        tile_z: place.tile_z,
        layer: (first_layer + layer) as i32,
        origin_y: place.origin_y + f64::from(min_row) * plan.cell_height,
        vertices,
        poly_vertex_counts: Vec::with_capacity(poly_count),
        poly_indices: Vec::new(),
        areas: Vec::with_capacity(poly_count),
        flags: vec![plan.flags; poly_count],
    };
    let details = &scratch.details;
    let mut detail_meshes = Vec::with_capacity(poly_count);
    let mut detail_vertices: Vec<[f32; 3]> = Vec::new();
    let mut detail_triangles: Vec<[u8; 4]> = Vec::new();
    for index in (0..polygons.len()).filter(in_layer) {
        let ring = polygons.polygon(index);
        local.poly_vertex_counts.push(ring.len() as u8);
        local
            .poly_indices
            .extend(ring.iter().map(|&v| renumber[v as usize] as u16));
        let area = polygons.area[index];
        local.areas.push(if area == WALKABLE_AREA {
            plan.area
        } else {
            area
        });
        let extra = details.first_vertex[index] as usize..details.first_vertex[index + 1] as usize;
        let faces =
            details.first_triangle[index] as usize..details.first_triangle[index + 1] as usize;
        if faces.len() > usize::from(u16::MAX) {
            return Err(place.limit(format!("{} detail triangles in a polygon", faces.len())));
        }
        detail_meshes.push(DetailMesh {
            vertex_base: detail_vertices.len() as u32,
            triangle_base: detail_triangles.len() as u32,
            vertex_count: extra.len() as u16,
            triangle_count: faces.len() as u16,
        });
        detail_vertices.extend_from_slice(&details.vertices[extra]);
        detail_triangles.extend_from_slice(&details.triangles[faces]);
    }
    let mut data = from_local_polygons(local, &plan.params)?;
    data.detail_meshes = detail_meshes;
    data.detail_vertices = detail_vertices;
    data.detail_triangles = detail_triangles;
    Ok(Some(data))
}

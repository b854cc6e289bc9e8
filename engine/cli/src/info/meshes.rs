//! Meshes as files: with settings, without, and one per agent class.

use serde_json::{Value, json};
use throng::parts::soa::mesh::format::read_mesh;
use throng::{DataError, MeshParams, NavMesh, NavSettings, NavWorld, TiledMesh};

use super::{Description, corners, extents};
use crate::report::{MeshSizes, Table, mesh_sizes};
use crate::words::{count, rounded, shortest};

pub(super) fn baked(bytes: &[u8]) -> Result<Description, DataError> {
    let mesh = NavMesh::load(bytes)?;
    Ok(describe(mesh.tiles_mesh(), Some(mesh.settings())))
}

pub(super) fn bare(bytes: &[u8]) -> Result<Description, DataError> {
    Ok(describe(&read_mesh(bytes)?, None))
}

/// A mesh per class, each told in a few lines.
pub(super) fn world(bytes: &[u8]) -> Result<Description, DataError> {
    let world = NavWorld::load(bytes)?;
    let mut table = Table::default();
    table.row("kind", "baked world");
    let classes = format!("{}; NavWorld::load reads it", world.class_count());
    table.row("classes", classes);
    let mut objects = Vec::new();
    for (class, mesh) in world.meshes().iter().enumerate() {
        let sizes = mesh_sizes(mesh);
        table.line();
        table.row(&format!("class {class}"), sizes.to_string());
        extents(&mut table, sizes.bounds);
        rows_of_params(&mut table, mesh.params());
        objects.push(object(mesh.params(), &sizes, Some(mesh.settings())));
    }
    let object = json!({ "kind": "world", "classes": objects });
    Ok((table, object))
}

/// A mesh, and its settings where they are known.
fn describe(mesh: &TiledMesh, settings: Option<&NavSettings>) -> Description {
    let (params, sizes) = (mesh.params(), mesh_sizes(mesh));
    let mut table = Table::default();
    let with = if settings.is_some() {
        ""
    } else {
        " without settings"
    };
    table.row("kind", format!("baked mesh{with}"));
    rows_of_sizes(&mut table, &sizes);
    rows_of_params(&mut table, params);
    if let Some(settings) = settings {
        rows_of_settings(&mut table, settings);
    }
    (table, object(params, &sizes, settings))
}

fn object(params: &MeshParams, sizes: &MeshSizes, settings: Option<&NavSettings>) -> Value {
    let mut object = json!({ "kind": "mesh", "params": params_object(params) });
    sizes_into(&mut object, sizes);
    if let Some(settings) = settings {
        object["settings"] = settings_object(settings);
    }
    object
}

/// What a mesh is made of.
pub(super) fn rows_of_sizes(table: &mut Table, sizes: &MeshSizes) {
    table.row("mesh", sizes.to_string());
    table.row("vertices", count(sizes.vertices));
    table.row("links", format!("{} off-mesh", count(sizes.links)));
    extents(table, sizes.bounds);
}

/// The same in JSON, among the other keys of an object.
pub(super) fn sizes_into(object: &mut Value, sizes: &MeshSizes) {
    object["tiles"] = json!(sizes.tiles);
    object["polygons"] = json!(sizes.polygons);
    object["vertices"] = json!(sizes.vertices);
    object["off_mesh_links"] = json!(sizes.links);
    object["area"] = json!(rounded(sizes.area));
    object["bounds"] = corners(sizes.bounds);
}

fn rows_of_settings(table: &mut Table, s: &NavSettings) {
    table.row(
        "settings",
        format!(
            "{}, regions of {} and {} cells, edges up to {}",
            partition(s),
            s.min_region_area,
            s.merge_region_area,
            s.max_edge_length
        ),
    );
    table.row(
        "",
        format!(
            "cell height {}, contour error {}, detail every {} to {}",
            s.cell_height, s.contour_max_error, s.detail_sample_distance, s.detail_max_error
        ),
    );
}

fn settings_object(s: &NavSettings) -> Value {
    json!({
        "cell_height": s.cell_height,
        "partition": partition(s),
        "min_region_area": s.min_region_area,
        "merge_region_area": s.merge_region_area,
        "contour_max_error": s.contour_max_error,
        "max_edge_length": s.max_edge_length,
        "detail_sample_distance": s.detail_sample_distance,
        "detail_max_error": s.detail_max_error,
    })
}

fn partition(settings: &NavSettings) -> String {
    format!("{:?}", settings.partition).to_lowercase()
}

/// The agent a mesh is for and the grid it lies on.
pub(super) fn rows_of_params(table: &mut Table, params: &MeshParams) {
    let agent = format!(
        "radius {}, height {}, climb {}, slope {} degrees",
        params.agent_radius,
        params.agent_height,
        params.walkable_climb,
        params.agent_max_slope_degrees
    );
    table.row("agent", agent);
    let origin = params.origin;
    let grid = format!(
        "tiles of {}, cells of {}, corner at ({}, {})",
        params.tile_size, params.cell_size, origin.x, origin.z
    );
    table.row("grid", grid);
}

pub(super) fn params_object(params: &MeshParams) -> Value {
    json!({
        "agent_radius": shortest(params.agent_radius),
        "agent_height": shortest(params.agent_height),
        "walkable_climb": shortest(params.walkable_climb),
        "agent_max_slope_degrees": shortest(params.agent_max_slope_degrees),
        "cell_size": params.cell_size,
        "tile_size": params.tile_size,
        "origin_x": params.origin.x,
        "origin_z": params.origin.z,
        "max_verts_per_poly": params.max_verts_per_poly,
    })
}

//! The rules a tile obeys. In: arrays from anywhere. Out: nothing, or the first rule broken, with
//! the polygon, edge or array that breaks it.

use super::data::{NO_PORTAL, TileData};
use super::params::{MAX_LAYER, MeshParams};
use super::poly_ref::MAX_POLYS;
use std::ops::Range;

use crate::error::{DataError, DataErrorKind, Location};
use crate::predicates::orient2d;
use crate::world::is_coordinate;

const MAX_VERTICES: usize = 65_536;
/// Smallest X or Z magnitude other than 0: keeps the exact predicates clear of underflow.
const MIN_MAGNITUDE: f32 = 1e-30;

/// Checks every rule, cheapest first. `first` receives the prefix offsets of the polygons.
pub(super) fn check_tile(
    data: &TileData,
    params: &MeshParams,
    first: &mut Vec<u32>,
) -> Result<(), DataError> {
    check_position(data, params)?;
    check_lengths(data, params, first)?;
    check_vertices(data, params)?;
    let corners = RangeMax::of_corners(data);
    for poly in 0..data.poly_vertex_counts.len() {
        check_polygon(data, first, poly)?;
        check_detail(data, &corners, poly)?;
    }
    check_edges(data, params, first)?;
    check_off_mesh(data, params)
}

fn refuse(field: impl Into<String>, problem: impl Into<String>) -> DataError {
    DataError::new(
        "tile",
        field,
        Location::Nowhere,
        DataErrorKind::Geometry,
        problem,
    )
}

fn check_position(data: &TileData, params: &MeshParams) -> Result<(), DataError> {
    if !(0..=MAX_LAYER).contains(&data.layer) {
        return Err(refuse(
            "layer",
            format!("is {}; layers are 0 to {MAX_LAYER}", data.layer),
        ));
    }
    for (name, value) in [
        ("origin x", params.tile_origin_x(data.tile_x)),
        ("origin y", data.origin_y),
        ("origin z", params.tile_origin_z(data.tile_z)),
    ] {
        if !is_coordinate(value) {
            return Err(refuse(
                format!("tile ({}, {}) {name}", data.tile_x, data.tile_z),
                format!("is {value}; it must be finite and strictly inside ±2^21"),
            ));
        }
    }
    Ok(())
}

fn check_lengths(
    data: &TileData,
    params: &MeshParams,
    first: &mut Vec<u32>,
) -> Result<(), DataError> {
    let polys = data.poly_vertex_counts.len();
    let limit = |name: &str, value: usize, most: usize| {
        if value <= most {
            return Ok(());
        }
        Err(refuse(name, format!("holds {value}; at most {most}")))
    };
    limit("vertices", data.vertices.len(), MAX_VERTICES)?;
    limit("polygons", polys, MAX_POLYS as usize)?;
    first.clear();
    first.reserve(polys + 1);
    let mut total = 0_u32;
    first.push(0);
    for (poly, &count) in data.poly_vertex_counts.iter().enumerate() {
        if count < 3 || u16::from(count) > params.max_verts_per_poly {
            return Err(refuse(
                format!("polygon {poly}"),
                format!(
                    "has {count} vertices; 3 to {} are allowed",
                    params.max_verts_per_poly
                ),
            ));
        }
        total += u32::from(count);
        first.push(total);
    }
    for (name, length, expected) in [
        ("polygon indices", data.poly_indices.len(), total as usize),
        ("edge neighbours", data.edge_neighbors.len(), total as usize),
        (
            "edge portal sides",
            data.edge_portal_sides.len(),
            total as usize,
        ),
        ("polygon areas", data.poly_areas.len(), polys),
        ("polygon flags", data.poly_flags.len(), polys),
        ("detail meshes", data.detail_meshes.len(), polys),
    ] {
        if length != expected {
            return Err(refuse(
                name,
                format!("holds {length}; {expected} are needed"),
            ));
        }
    }
    Ok(())
}

fn check_vertices(data: &TileData, params: &MeshParams) -> Result<(), DataError> {
    let size = params.tile_size as f32;
    let (low, high) = (-size, 2.0 * size);
    let tall = params.max_local_extent();
    let origin_x = params.tile_origin_x(data.tile_x);
    let origin_z = params.tile_origin_z(data.tile_z);
    for (name, points) in [
        ("vertex", &data.vertices),
        ("detail vertex", &data.detail_vertices),
    ] {
        for (index, &[x, y, z]) in points.iter().enumerate() {
            let inside = |v: f32| (low..=high).contains(&v);
            let normal = |v: f32| v == 0.0 || v.abs() >= MIN_MAGNITUDE;
            if !(inside(x) && inside(z) && f64::from(y).abs() <= tall) {
                return Err(refuse(
                    format!("{name} {index}"),
                    format!("({x}, {y}, {z}) is outside the tile's reach"),
                ));
            }
            if !(normal(x) && normal(z)) {
                return Err(refuse(
                    format!("{name} {index}"),
                    format!("({x}, {y}, {z}) has a coordinate below 1e-30 that is not 0"),
                ));
            }
            let world = [
                origin_x + f64::from(x),
                data.origin_y + f64::from(y),
                origin_z + f64::from(z),
            ];
            if !world.into_iter().all(is_coordinate) {
                return Err(refuse(
                    format!("{name} {index}"),
                    format!("lies at {world:?}; world coordinates stay inside ±2^21"),
                ));
            }
        }
    }
    Ok(())
}

fn check_polygon(data: &TileData, first: &[u32], poly: usize) -> Result<(), DataError> {
    let ring = &data.poly_indices[first[poly] as usize..first[poly + 1] as usize];
    let name = || format!("polygon {poly}");
    if data.poly_areas[poly] > 63 {
        return Err(refuse(
            name(),
            format!("has area {}; areas are 0 to 63", data.poly_areas[poly]),
        ));
    }
    let mut points = [[0.0_f64; 2]; 16];
    for (i, &index) in ring.iter().enumerate() {
        let Some(&[x, _, z]) = data.vertices.get(usize::from(index)) else {
            return Err(refuse(
                name(),
                format!("names vertex {index} of {}", data.vertices.len()),
            ));
        };
        points[i] = [f64::from(x), f64::from(z)];
    }
    let points = &points[..ring.len()];
    if is_strictly_convex(points) {
        return Ok(());
    }
    for (i, index) in ring.iter().enumerate() {
        if ring[..i].contains(index) {
            return Err(refuse(name(), format!("names vertex {index} twice")));
        }
    }
    for i in 0..points.len() {
        let j = if i + 1 == points.len() { 0 } else { i + 1 };
        if points[i] == points[j] {
            return Err(refuse(
                name(),
                format!("edge {i} has no length seen from above"),
            ));
        }
        let mut strictly_left = false;
        for (k, &point) in points.iter().enumerate() {
            if k == i || k == j {
                continue;
            }
            let turn = orient2d(points[i], points[j], point);
            if turn < 0.0 {
                return Err(refuse(
                    name(),
                    format!(
                        "is not convex and counter-clockwise: vertex {k} lies right of edge {i}"
                    ),
                ));
            }
            strictly_left |= turn > 0.0;
        }
        if !strictly_left {
            return Err(refuse(name(), "has no area"));
        }
    }
    Ok(())
}

/// Whether a ring turns left at every corner and goes round once. Most polygons do, and then no vertex
/// lies right of any edge; the others need a look at every pair. Going round, a ring changes its
/// direction along X twice per turn: how often it does says how often it goes round.
fn is_strictly_convex(points: &[[f64; 2]]) -> bool {
    let [.., b, c] = points else {
        return false;
    };
    let (mut a, mut b) = (*b, *c);
    let (mut changes, mut forward) = (0, None);
    let mut first_forward = None;
    for &c in points {
        if orient2d(a, b, c) <= 0.0 {
            return false;
        }
        if c[0] != b[0] {
            let ahead = c[0] > b[0];
            changes += u32::from(forward.is_some_and(|before| before != ahead));
            forward = Some(ahead);
            first_forward = first_forward.or(forward);
        }
        (a, b) = (b, c);
    }
    changes += u32::from(forward != first_forward);
    changes == 2
}

fn check_detail(data: &TileData, largest: &RangeMax<'_>, poly: usize) -> Result<(), DataError> {
    let mesh = data.detail_meshes[poly];
    let name = || format!("polygon {poly} detail");
    let vertices_end = u64::from(mesh.vertex_base) + u64::from(mesh.vertex_count);
    let triangles_end = u64::from(mesh.triangle_base) + u64::from(mesh.triangle_count);
    if vertices_end > data.detail_vertices.len() as u64 {
        return Err(refuse(name(), "vertices leave the detail vertex array"));
    }
    if triangles_end > data.detail_triangles.len() as u64 {
        return Err(refuse(name(), "triangles leave the detail triangle array"));
    }
    let corners = usize::from(data.poly_vertex_counts[poly]) + usize::from(mesh.vertex_count);
    let named = largest.over(mesh.triangle_base as usize..triangles_end as usize);
    if named.is_some_and(|corner| usize::from(corner) >= corners) {
        return Err(refuse(
            name(),
            format!("a triangle names a corner beyond {corners}"),
        ));
    }
    Ok(())
}

/// The largest corner index of any run of detail triangles. Polygons may share triangles, so
/// looking at each one's run anew could take the product of the two counts; where together they name
/// no more triangles than there are, it cannot.
struct RangeMax<'t> {
    triangles: &'t [[u8; 4]],
    /// `levels[k][i]` is the largest over the `2^k` triangles from `i` on; empty when runs are looked
    /// at one by one.
    levels: Vec<Vec<u8>>,
}

fn largest_corner(t: &[u8; 4]) -> u8 {
    t[0].max(t[1]).max(t[2])
}

impl<'t> RangeMax<'t> {
    fn of_corners(data: &'t TileData) -> Self {
        let triangles = &data.detail_triangles;
        let named = data.detail_meshes.iter();
        let named: usize = named.map(|mesh| usize::from(mesh.triangle_count)).sum();
        if named <= triangles.len() {
            return Self {
                triangles,
                levels: Vec::new(),
            };
        }
        let mut levels: Vec<Vec<u8>> = vec![triangles.iter().map(largest_corner).collect()];
        let longest = data.detail_meshes.iter().map(|m| m.triangle_count).max();
        let mut width = 1;
        while 2 * width <= usize::from(longest.unwrap_or(0)) {
            let below = &levels[levels.len() - 1];
            let pairs = below.iter().zip(below.iter().skip(width));
            let next = pairs.map(|(&a, &b)| a.max(b)).collect();
            levels.push(next);
            width *= 2;
        }
        Self { triangles, levels }
    }

    /// The largest of `run`, which lies inside the array; `None` for an empty run.
    fn over(&self, run: Range<usize>) -> Option<u8> {
        if self.levels.is_empty() {
            return self.triangles.get(run)?.iter().map(largest_corner).max();
        }
        let level = run.len().checked_ilog2()? as usize;
        let row = self.levels.get(level)?;
        let (low, high) = (row.get(run.start)?, row.get(run.end - (1 << level))?);
        Some((*low).max(*high))
    }
}

fn check_edges(data: &TileData, params: &MeshParams, first: &[u32]) -> Result<(), DataError> {
    let boundary = params.tile_size as f32;
    for poly in 0..data.poly_vertex_counts.len() {
        let range = first[poly] as usize..first[poly + 1] as usize;
        let ring = &data.poly_indices[range.clone()];
        for i in 0..ring.len() {
            let name = || format!("polygon {poly} edge {i}");
            let (a, b) = (ring[i], ring[if i + 1 == ring.len() { 0 } else { i + 1 }]);
            let neighbor = data.edge_neighbors[range.start + i];
            let side = data.edge_portal_sides[range.start + i];
            if neighbor != 0 {
                if side != NO_PORTAL {
                    return Err(refuse(name(), "has a neighbour and a portal side"));
                }
                check_neighbor(data, first, poly, neighbor, a, b).map_err(|p| refuse(name(), p))?;
            } else if side != NO_PORTAL {
                let (p, q) = (data.vertices[usize::from(a)], data.vertices[usize::from(b)]);
                check_portal(p, q, side, boundary).map_err(|p| refuse(name(), p))?;
            }
        }
    }
    Ok(())
}

fn check_neighbor(
    data: &TileData,
    first: &[u32],
    poly: usize,
    neighbor: i32,
    a: u16,
    b: u16,
) -> Result<(), String> {
    let polys = data.poly_vertex_counts.len();
    let other = usize::try_from(neighbor).map_or(polys, |n| n - 1);
    if other >= polys {
        return Err(format!("names neighbour {neighbor} of {polys} polygons"));
    }
    if other == poly {
        return Err("is its own neighbour".into());
    }
    let range = first[other] as usize..first[other + 1] as usize;
    let ring = &data.poly_indices[range.clone()];
    let back = (0..ring.len()).any(|i| {
        let next = if i + 1 == ring.len() { 0 } else { i + 1 };
        ring[i] == b && ring[next] == a && data.edge_neighbors[range.start + i] == poly as i32 + 1
    });
    if back {
        return Ok(());
    }
    Err(format!(
        "polygon {other} does not name it back over the same edge"
    ))
}

fn check_portal(p: [f32; 3], q: [f32; 3], side: u8, boundary: f32) -> Result<(), String> {
    let (axis, along) = match side {
        0 | 2 => (0, 2),
        1 | 3 => (2, 0),
        _ => return Err(format!("has portal side {side}; sides are 0 to 3 or 255")),
    };
    let line = if side < 2 { boundary } else { 0.0 };
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

fn check_off_mesh(data: &TileData, params: &MeshParams) -> Result<(), DataError> {
    let reach = params.max_local_extent();
    for (index, link) in data.off_mesh_links.iter().enumerate() {
        let name = || format!("off-mesh link {index}");
        let inside = |v: f32| f64::from(v).abs() <= reach;
        if !link.start.into_iter().chain(link.end).all(inside) {
            return Err(refuse(
                name(),
                format!("has an end farther than {reach} from the tile"),
            ));
        }
        let origin = [
            params.tile_origin_x(data.tile_x),
            data.origin_y,
            params.tile_origin_z(data.tile_z),
        ];
        let in_world = |end: [f32; 3]| {
            let mut world = origin.iter().zip(end).map(|(o, v)| o + f64::from(v));
            world.all(is_coordinate)
        };
        if !(in_world(link.start) && in_world(link.end)) {
            return Err(refuse(
                name(),
                "has an end outside ±2^21, where no agent can stand",
            ));
        }
        if !(link.radius.is_finite() && link.radius > 0.0) {
            return Err(refuse(
                name(),
                format!("has radius {}; it must be above 0", link.radius),
            ));
        }
        if link.area > 63 {
            return Err(refuse(
                name(),
                format!("has area {}; areas are 0 to 63", link.area),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SplitMix64;

    #[test]
    fn a_ring_is_strictly_convex_when_all_others_lie_left_of_each_edge() {
        let mut rng = SplitMix64::new(21);
        let mut found = [0; 2];
        for round in 0..200_000 {
            let count = 3 + round % 5;
            let mut at = || rng.next_below(6) as f64 - 2.0;
            let ring: Vec<[f64; 2]> = (0..count).map(|_| [at(), at()]).collect();
            let next = |i: usize| (i + 1) % count;
            let expected = (0..count).all(|i| {
                let mut others = (0..count).filter(|&k| k != i && k != next(i));
                others.all(|k| orient2d(ring[i], ring[next(i)], ring[k]) > 0.0)
            });
            assert_eq!(is_strictly_convex(&ring), expected, "{ring:?}");
            found[usize::from(expected)] += 1;
        }
        assert!(found[1] > 1000, "{found:?}");
        // Turns left everywhere and goes round twice.
        let star = [
            [0.0, 3.0],
            [-2.0, -3.0],
            [3.0, 1.0],
            [-3.0, 1.0],
            [2.0, -3.0],
        ];
        assert!((0..5).all(|i| orient2d(star[i], star[(i + 1) % 5], star[(i + 2) % 5]) > 0.0));
        assert!(!is_strictly_convex(&star));
    }
}

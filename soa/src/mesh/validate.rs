//! The rules a tile obeys. In: arrays from anywhere. Out: nothing, or the first rule broken, with
//! the polygon, edge or array that breaks it.

mod convex;
mod edges;
mod vertices;

use super::data::TileData;
use super::params::{MAX_LAYER, MeshParams};
use super::poly_ref::MAX_POLYS;
use crate::error::{DataError, DataErrorKind, Location};
use crate::predicates::orient2d;
use crate::world::is_coordinate;
use convex::doubtful_rings;
use edges::check_edges;
use vertices::check_vertices;

pub(super) use edges::{ends_of, portals_of};

const MAX_VERTICES: usize = 65_536;

/// What the checks of a tile's arrays found on the way.
pub(super) struct Checked {
    /// The prefix offsets of the polygons into the edge columns.
    pub(super) first: Vec<u32>,
    /// All vertices lie in the tile's square, seen from above.
    pub(super) in_square: bool,
}

/// Checks every rule, cheapest first.
pub(super) fn check_tile(data: &TileData, params: &MeshParams) -> Result<Checked, DataError> {
    check_position(data, params)?;
    let first = check_lengths(data, params)?;
    let in_square = check_vertices(data, params)?;
    let corners = RangeMax::of_corners(data);
    let sound = areas_and_indices_are_sound(data);
    let polys = data.poly_vertex_counts.len();
    let doubtful = if sound {
        doubtful_rings(data, &first)
    } else {
        (0..polys as u32).collect()
    };
    let mut doubtful = doubtful.into_iter().peekable();
    for poly in 0..polys {
        if doubtful.next_if_eq(&(poly as u32)).is_some() {
            let ring = &data.poly_indices[first[poly] as usize..first[poly + 1] as usize];
            if !(sound && is_strictly_convex(data, ring)) {
                check_polygon(data, ring, poly)?;
            }
        }
        check_detail(data, &corners, poly)?;
    }
    check_edges(data, params, &first)?;
    check_off_mesh(data, params)?;
    Ok(Checked { first, in_square })
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

fn check_lengths(data: &TileData, params: &MeshParams) -> Result<Vec<u32>, DataError> {
    let polys = data.poly_vertex_counts.len();
    let limit = |name: &str, value: usize, most: usize| {
        if value <= most {
            return Ok(());
        }
        Err(refuse(name, format!("holds {value}; at most {most}")))
    };
    limit("vertices", data.vertices.len(), MAX_VERTICES)?;
    limit("polygons", polys, MAX_POLYS as usize)?;
    let mut first = Vec::with_capacity(polys + 1);
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
    Ok(first)
}

/// Whether no polygon has an area or names a vertex that cannot be.
fn areas_and_indices_are_sound(data: &TileData) -> bool {
    let area = data.poly_areas.iter().fold(0, |most, &area| most.max(area));
    let index = data
        .poly_indices
        .iter()
        .fold(0, |most, &index| most.max(index));
    area <= 63 && usize::from(index) < data.vertices.len()
}

/// Seen from above.
#[inline]
fn plan_of(data: &TileData, index: u16) -> [f64; 2] {
    let [x, _, z] = data.vertices[usize::from(index)];
    [f64::from(x), f64::from(z)]
}

fn check_polygon(data: &TileData, ring: &[u16], poly: usize) -> Result<(), DataError> {
    let name = || format!("polygon {poly}");
    if data.poly_areas[poly] > 63 {
        return Err(refuse(
            name(),
            format!("has area {}; areas are 0 to 63", data.poly_areas[poly]),
        ));
    }
    if let Some(index) = ring
        .iter()
        .find(|&&i| usize::from(i) >= data.vertices.len())
    {
        return Err(refuse(
            name(),
            format!("names vertex {index} of {}", data.vertices.len()),
        ));
    }
    let points: Vec<[f64; 2]> = ring.iter().map(|&index| plan_of(data, index)).collect();
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
/// lies right of any edge; the others need a look at every pair. Turning left by less than a half turn at
/// each corner, a ring begins to go along +X once per turn.
fn is_strictly_convex(data: &TileData, ring: &[u16]) -> bool {
    let [.., b, c] = *ring else {
        return false;
    };
    let ([ax, az], [mut bx, mut bz]) = (plan_of(data, b), plan_of(data, c));
    let (mut before_x, mut before_z) = (bx - ax, bz - az);
    let (mut surely, mut turns) = (true, 0);
    for &index in ring {
        let [cx, cz] = plan_of(data, index);
        let (after_x, after_z) = (cx - bx, cz - bz);
        let (left, right) = (before_x * after_z, before_z * after_x);
        surely &= left - right > TURN_ERROR * (left.abs() + right.abs());
        turns += u32::from((before_x <= 0.0) & (after_x > 0.0));
        (bx, bz, before_x, before_z) = (cx, cz, after_x, after_z);
    }
    turns == 1 && (surely || turns_left_everywhere(data, ring))
}

/// A difference of two products of differences has the sign of the true one when it is larger than this
/// times the sum of the products' sizes: Shewchuk's (3 + 16e)e, e = 2^-53.
const TURN_ERROR: f64 = 3.330_669_073_875_471_6e-16;

#[cold]
fn turns_left_everywhere(data: &TileData, ring: &[u16]) -> bool {
    let corner = |i: usize| plan_of(data, ring[i % ring.len()]);
    (0..ring.len()).all(|i| orient2d(corner(i), corner(i + 1), corner(i + 2)) > 0.0)
}

fn check_detail(data: &TileData, largest: &RangeMax<'_>, poly: usize) -> Result<(), DataError> {
    let mesh = data.detail_meshes[poly];
    let (vertices, triangles) = (mesh.vertex_base as usize, mesh.triangle_base as usize);
    let vertices = data.detail_vertices.get(vertices..);
    let vertices = vertices.is_some_and(|from| from.len() >= usize::from(mesh.vertex_count));
    let named = largest.over(triangles, usize::from(mesh.triangle_count));
    let corners = usize::from(data.poly_vertex_counts[poly]) + usize::from(mesh.vertex_count);
    let problem = match named {
        _ if !vertices => "vertices leave the detail vertex array".into(),
        None => "triangles leave the detail triangle array".into(),
        Some(named) if usize::from(named) >= corners && mesh.triangle_count > 0 => {
            format!("a triangle names a corner beyond {corners}")
        }
        Some(_) => return Ok(()),
    };
    Err(refuse(format!("polygon {poly} detail"), problem))
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

fn largest_corner([a, b, c, _]: &[u8; 4]) -> u8 {
    *a.max(b).max(c)
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

    /// The largest over `count` triangles from `first` on, 0 over none; `None` when the array ends before.
    #[inline]
    fn over(&self, first: usize, count: usize) -> Option<u8> {
        let run = self.triangles.get(first..)?.get(..count)?;
        if self.levels.is_empty() || count == 0 {
            let mut most = 0;
            for &[a, b, c, _] in run {
                most = most.max(a).max(b).max(c);
            }
            return Some(most);
        }
        let level = count.ilog2() as usize;
        let row = self.levels.get(level)?;
        let (low, high) = (row.get(first)?, row.get(first + count - (1 << level))?);
        Some((*low).max(*high))
    }
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

    fn convex(ring: &[[f64; 2]]) -> bool {
        let data = TileData {
            vertices: ring
                .iter()
                .map(|p| [p[0] as f32, 0.0, p[1] as f32])
                .collect(),
            ..TileData::default()
        };
        let indices: Vec<u16> = (0..ring.len() as u16).collect();
        is_strictly_convex(&data, &indices)
    }

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
            assert_eq!(convex(&ring), expected, "{ring:?}");
            found[usize::from(expected)] += 1;
        }
        assert!(found[1] > 1000, "{found:?}");
        // Decided by exact arithmetic alone: rounded, a corner this near the line between its neighbours
        // lies on it.
        let nearly = |x: f64| [[-1.0, -1.0], [x, 0.0], [1.0, 1.0], [-1.0, 1.0]];
        let least = 1.0 / (1_u64 << 60) as f64;
        assert!(convex(&nearly(least)) && !convex(&nearly(-least)) && !convex(&nearly(0.0)));
        // Turns left everywhere and goes round twice.
        let star = [
            [0.0, 3.0],
            [-2.0, -3.0],
            [3.0, 1.0],
            [-3.0, 1.0],
            [2.0, -3.0],
        ];
        assert!((0..5).all(|i| orient2d(star[i], star[(i + 1) % 5], star[(i + 2) % 5]) > 0.0));
        assert!(!convex(&star));
    }
}

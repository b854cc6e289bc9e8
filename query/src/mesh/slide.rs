//! Moving along the surface: a straight walk that ends at the nearest point of the wall it meets.

use super::filter::Filter;
use super::outline::{edge_ends, lerp, nearest_parameter, outline_contains, outline_nearest};
use super::status::RaycastStatus;
use super::surface::surface_height;
use super::trace::trace;
use throng_soa::DVec3;
use throng_soa::mesh::{PolyRef, TiledMesh};

/// A point this near a polygon (squared) counts as on it: rounding, not a step aside.
const HELD_SQ: f64 = 1e-7 * 1e-7;

/// Answer of [`move_along_surface`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MoveResult {
    /// Whether the move was made; otherwise `point` and `poly` are those passed in.
    pub status: RaycastStatus,
    /// Where the move ends, on the surface.
    pub point: DVec3,
    /// The polygon it ends in.
    pub poly: PolyRef,
    /// A wall was met.
    pub blocked: bool,
    /// Polygons written to the visited list.
    pub visited_count: usize,
    /// The visited list was too short.
    pub truncated: bool,
}

/// Moves from `start` in `start_poly` toward `end` in the X/Z plane. A free walk ends at `end`
/// with the height of the surface; a blocked one at the point of the wall's edge nearest to `end`.
/// One slide per call: call again from the result to go on along the next wall.
///
/// A stale or rejected start polygon, or a start more than 1e-6 outside it, is a status; positions
/// outside the coordinate rule give [`RaycastStatus::None`]. Allocates nothing but the lookup grids of a
/// tile with much detail, at its first height.
pub fn move_along_surface<F: Filter + ?Sized>(
    mesh: &TiledMesh,
    start_poly: PolyRef,
    start: DVec3,
    end: DVec3,
    filter: &F,
    visited: &mut [PolyRef],
) -> MoveResult {
    let trace = trace(mesh, start_poly, start, end, filter, visited);
    let point = match trace.place {
        None => start,
        Some((tile, index)) if trace.hit => {
            let (a, b) = edge_ends(tile, index, trace.edge);
            lerp(a, b, nearest_parameter(a, b, end))
        }
        Some((tile, index)) => {
            // A border link reaches a little farther than its polygon; the result does not.
            let ring = tile.poly_ring(index);
            let beside = (!outline_contains(ring, end))
                .then(|| outline_nearest(ring, end))
                .filter(|&(_, distance_sq)| distance_sq > HELD_SQ);
            match beside {
                Some((nearest, _)) => nearest,
                None => DVec3::new(end.x, surface_height(tile, index, end.x, end.z), end.z),
            }
        }
    };
    MoveResult {
        status: trace.status,
        point,
        poly: trace.poly,
        blocked: trace.hit,
        visited_count: trace.visited_count,
        truncated: trace.truncated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::DefaultFilter;
    use throng_soa::mesh::{DetailMesh, MeshParams, NavTile, TileData};

    /// A tile column of quads that span the tile's width, cut at the given heights of z.
    fn tile(tile_x: i32, cuts: &[f32]) -> TileData {
        let mut data = TileData {
            tile_x,
            ..TileData::default()
        };
        for (i, pair) in cuts.windows(2).enumerate() {
            let first = data.vertices.len() as u16;
            let (z0, z1) = (pair[0], pair[1]);
            data.vertices.extend([
                [0.0, 0.0, z0],
                [64.0, 0.0, z0],
                [64.0, 0.0, z1],
                [0.0, 0.0, z1],
            ]);
            data.poly_indices.extend(first..first + 4);
            data.poly_vertex_counts.push(4);
            data.edge_neighbors.extend([0; 4]);
            data.edge_portal_sides.extend([255, 0, 255, 2]);
            data.poly_areas.push(0);
            data.poly_flags.push(i as u16);
            data.detail_meshes.push(DetailMesh::default());
        }
        data
    }

    #[test]
    fn a_crossing_beside_a_sliver_enters_the_polygon_that_holds_it() {
        let params = MeshParams {
            origin: DVec3::ZERO,
            tile_size: 64.0,
            cell_size: 0.3,
            max_verts_per_poly: 6,
            walkable_climb: 0.9,
            agent_radius: 0.6,
            agent_height: 2.0,
            agent_max_slope_degrees: 45.0,
            settings_digest: 0,
        };
        let mut mesh = TiledMesh::new(params).unwrap();
        for data in [tile(0, &[0.0, 64.0]), tile(1, &[0.0, 0.1, 64.0])] {
            mesh.add_tile(NavTile::create(data, &params).unwrap())
                .unwrap();
        }
        // One 255th of the long edge is a quarter unit: the sliver's link reaches over z = 0.2.
        let start = mesh.poly_ref(0, 0);
        let (from, to) = (DVec3::new(63.0, 0.0, 0.2), DVec3::new(65.0, 0.0, 0.2));
        let moved = move_along_surface(&mesh, start, from, to, &DefaultFilter, &mut []);
        assert_eq!((moved.point, moved.poly), (to, mesh.poly_ref(1, 1)));
    }
}

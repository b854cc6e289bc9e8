//! Moving along the surface: a straight walk that ends at the nearest point of the wall it meets.

use super::filter::Filter;
use super::outline::{edge_ends, lerp, nearest_parameter};
use super::status::RaycastStatus;
use super::surface::surface_height;
use super::trace::trace;
use throng_soa::DVec3;
use throng_soa::mesh::{PolyRef, TiledMesh};

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
/// outside the coordinate rule give [`RaycastStatus::None`]. Allocates nothing.
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
        Some((tile, index)) => DVec3::new(end.x, surface_height(tile, index, end.x, end.z), end.z),
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

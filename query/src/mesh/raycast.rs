//! Rays along the surface: does a straight walk reach its end, and if not, which wall stops it.

use super::filter::Filter;
use super::outline::edge_ends;
use super::status::RaycastStatus;
use super::trace::trace;
use throng_soa::DVec3;
use throng_soa::mesh::{PolyRef, TiledMesh};

/// Answer of [`raycast`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RaycastHit {
    /// Whether the ray was cast.
    pub status: RaycastStatus,
    /// A wall was met before the end.
    pub hit: bool,
    /// Fraction of the segment walked, 0 to 1; 1 without a hit, 0 when no ray was cast.
    pub t: f64,
    /// Outward unit normal of the wall in X/Z (`y` 0); zero without a hit.
    pub normal: DVec3,
    /// The polygon whose edge is the wall; invalid without a hit.
    pub hit_poly: PolyRef,
    /// That edge; -1 without a hit.
    pub hit_edge: i32,
    /// Polygons written to the visited list.
    pub visited_count: usize,
    /// The visited list was too short.
    pub truncated: bool,
    /// The last polygon reached, whether or not the list held it.
    pub last_poly: PolyRef,
}

/// Walks from `start` in `start_poly` straight to `end` in the X/Z plane. Writes the polygons
/// visited, the start first. Heights are not tested and off-mesh links not crossed.
///
/// A stale or rejected start polygon, or a start more than 1e-6 outside it, is a status; positions
/// outside the coordinate rule give [`RaycastStatus::None`]. Allocates nothing.
pub fn raycast<F: Filter + ?Sized>(
    mesh: &TiledMesh,
    start_poly: PolyRef,
    start: DVec3,
    end: DVec3,
    filter: &F,
    visited: &mut [PolyRef],
) -> RaycastHit {
    let trace = trace(mesh, start_poly, start, end, filter, visited);
    let mut answer = RaycastHit {
        status: trace.status,
        hit: trace.hit,
        t: trace.t,
        normal: DVec3::ZERO,
        hit_poly: PolyRef::INVALID,
        hit_edge: -1,
        visited_count: trace.visited_count,
        truncated: trace.truncated,
        last_poly: trace.poly,
    };
    if let (true, Some((tile, index))) = (trace.hit, trace.place) {
        let (a, b) = edge_ends(tile, index, trace.edge);
        let (ex, ez) = (b.x - a.x, b.z - a.z);
        let length = (ex * ex + ez * ez).sqrt();
        answer.normal = DVec3::new(ez / length, 0.0, -ex / length);
        answer.hit_poly = trace.poly;
        answer.hit_edge = trace.edge as i32;
    }
    answer
}

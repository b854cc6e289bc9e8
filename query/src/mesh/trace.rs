//! Following a straight segment over the surface, polygon by polygon, seen from above.
//!
//! In: a start polygon and the two ends of a segment. Out: the polygon the segment ends in, or the
//! wall it meets. Rays and slides are this walk with different answers. In every polygon the
//! segment leaves through the edge whose line it leaves first; at a vertex, where several lines
//! are left at once, the edges nearest to the crossing point are tried in index order, so a
//! segment that slips through a vertex goes on. Off-mesh links are not crossed, heights not
//! tested.

use super::filter::Filter;
use super::outline::{for_each_edge, outline_contains, outline_nearest, segment_distance_sq};
use super::path::accepts;
use super::status::RaycastStatus;
use throng_soa::DVec3;
use throng_soa::mesh::{LinkKind, PolyRef, Tile, TiledMesh};
use throng_soa::world::is_point;

/// How far outside its polygon a start may be, squared world units.
const START_SLACK_SQ: f64 = 1e-6 * 1e-6;
/// Edges left within this much of the first, relative to `1 + t`, are left together.
const SAME_T: f64 = 1e-9;
/// Edges whose squared distance to the crossing point is within this of the nearest are tried.
const SAME_DISTANCE_SQ: f64 = 1e-18;
/// Most vertices of a polygon.
const MAX_VERTICES: usize = 16;
/// Polygons after which a walk counts the mesh to make sure it is not going round in circles.
const PATIENCE: usize = 4096;

/// Where a segment ended.
pub(crate) struct Trace<'m> {
    pub(crate) status: RaycastStatus,
    /// A wall was met, at `t` of the segment, on `edge`; else the segment ends inside.
    pub(crate) hit: bool,
    pub(crate) t: f64,
    pub(crate) edge: usize,
    /// The last polygon; no place when the trace did not start.
    pub(crate) poly: PolyRef,
    pub(crate) place: Option<(&'m Tile, usize)>,
    pub(crate) visited_count: usize,
    pub(crate) truncated: bool,
}

/// Walks from `start` to `end`, writing the polygons visited (start first) into `visited`.
pub(crate) fn trace<'m, F: Filter + ?Sized>(
    mesh: &'m TiledMesh,
    start_poly: PolyRef,
    start: DVec3,
    end: DVec3,
    filter: &F,
    visited: &mut [PolyRef],
) -> Trace<'m> {
    let mut trace = Trace {
        status: RaycastStatus::None,
        hit: false,
        t: 0.0,
        edge: 0,
        poly: start_poly,
        place: None,
        visited_count: 0,
        truncated: false,
    };
    if !is_point(start) || !is_point(end) {
        return trace;
    }
    let Some((mut tile, mut index)) = mesh.resolve(start_poly) else {
        trace.status = RaycastStatus::InvalidStartPoly;
        return trace;
    };
    if !filter.passes(tile.poly_flags[index], tile.poly_area[index]) {
        trace.status = RaycastStatus::InvalidStartPoly;
        return trace;
    }
    let ring = tile.poly_ring(index);
    if !outline_contains(ring, start) && outline_nearest(ring, start).1 > START_SLACK_SQ {
        trace.status = RaycastStatus::StartOutsidePolygon;
        return trace;
    }
    trace.status = RaycastStatus::Ok;
    let mut steps = 0_usize;
    let mut limit = usize::MAX;
    loop {
        if let Some(place) = visited.get_mut(trace.visited_count) {
            *place = trace.poly;
            trace.visited_count += 1;
        } else {
            trace.truncated = true;
        }
        trace.place = Some((tile, index));
        let Some(exit) = leave(tile.poly_ring(index), start, end) else {
            trace.t = 1.0;
            return trace;
        };
        // A straight line meets a convex polygon once, so a longer walk is a mesh whose pieces do
        // not fit together; it ends here as if at a wall.
        steps += 1;
        if steps == PATIENCE {
            limit = mesh.poly_count();
        }
        let mut way = None;
        if steps <= limit {
            for &edge in &exit.edges[..exit.count] {
                way = across(
                    mesh,
                    tile,
                    index,
                    trace.poly,
                    usize::from(edge),
                    exit.point,
                    filter,
                );
                if way.is_some() {
                    break;
                }
            }
        }
        let next = way.and_then(|poly| Some((poly, mesh.resolve(poly)?)));
        let Some((poly, (next_tile, next_index))) = next else {
            trace.hit = true;
            trace.t = exit.t;
            trace.edge = usize::from(exit.edges[0]);
            return trace;
        };
        trace.poly = poly;
        (tile, index) = (next_tile, next_index);
    }
}

/// A crossing this near a polygon (squared) is held by it.
const HOLDS_SQ: f64 = 1e-9 * 1e-9;

/// Where a segment leaves a polygon.
struct Exit {
    t: f64,
    point: DVec3,
    /// Candidate edges, ascending.
    edges: [u8; MAX_VERTICES],
    count: usize,
}

/// The exit of the segment from a ring, or `None` when it ends inside.
#[inline]
fn leave(ring: &[DVec3], start: DVec3, end: DVec3) -> Option<Exit> {
    let (dx, dz) = (end.x - start.x, end.z - start.z);
    let mut leaves_at = [f64::INFINITY; MAX_VERTICES];
    let mut least = f64::INFINITY;
    for_each_edge(ring, |edge, a, b| {
        let (ex, ez) = (b.x - a.x, b.z - a.z);
        let outward = ex * dz - ez * dx;
        if outward < 0.0 {
            // A start that rounding put just outside leaves at once, not before.
            let inside = ex * (start.z - a.z) - ez * (start.x - a.x);
            let t = inside / -outward;
            let t = if t > 0.0 { t } else { 0.0 };
            if let Some(place) = leaves_at.get_mut(edge) {
                *place = t;
                least = least.min(t);
            }
        }
    });
    if least >= 1.0 {
        return None;
    }
    let point = DVec3::new(start.x + dx * least, 0.0, start.z + dz * least);
    let latest = least + SAME_T * (1.0 + least);
    let mut distance_sq = [f64::INFINITY; MAX_VERTICES];
    let mut nearest_sq = f64::INFINITY;
    for_each_edge(ring, |edge, a, b| {
        if let (Some(&t), Some(place)) = (leaves_at.get(edge), distance_sq.get_mut(edge)) {
            if t <= latest {
                *place = segment_distance_sq(a, b, point);
                nearest_sq = nearest_sq.min(*place);
            }
        }
    });
    let mut exit = Exit {
        t: least,
        point,
        edges: [0; MAX_VERTICES],
        count: 0,
    };
    for (edge, &distance_sq) in distance_sq.iter().enumerate() {
        if distance_sq <= nearest_sq + SAME_DISTANCE_SQ && distance_sq < f64::INFINITY {
            exit.edges[exit.count] = edge as u8;
            exit.count += 1;
        }
    }
    Some(exit)
}

/// The accepted polygon behind `edge` at `point`: the in-tile neighbour, or the target of a border
/// link whose stretch, a 255th wider at both ends, holds the point. Of several such links the first
/// whose polygon itself holds the point is taken, else the first.
#[inline]
fn across<F: Filter + ?Sized>(
    mesh: &TiledMesh,
    tile: &Tile,
    index: usize,
    poly: PolyRef,
    edge: usize,
    point: DVec3,
    filter: &F,
) -> Option<PolyRef> {
    let neighbor = tile.data().edge_neighbors[tile.poly_edges(index).start + edge];
    if neighbor > 0 {
        let target = (neighbor - 1) as usize;
        return filter
            .passes(tile.poly_flags[target], tile.poly_area[target])
            .then(|| PolyRef::from_parts(poly.salt(), poly.slot(), target as u32));
    }
    let links = tile.poly_links(index);
    if links.is_empty() {
        return None;
    }
    let (a, b) = super::outline::edge_ends(tile, index, edge);
    let (ex, ez) = (b.x - a.x, b.z - a.z);
    let along = ((point.x - a.x) * ex + (point.z - a.z) * ez) / (ex * ex + ez * ez) * 255.0;
    let mut widened = None;
    for link in links {
        let reaches = link.kind == LinkKind::Portal
            && usize::from(link.edge) == edge
            && along >= f64::from(link.range_min) - 1.0
            && along <= f64::from(link.range_max) + 1.0;
        if !reaches || !accepts(mesh, link.target, filter) {
            continue;
        }
        // Ranges are coarse: on a long edge the stretch of one polygon can reach over its
        // neighbour's. The polygon that holds the crossing is the one behind it.
        let holds = mesh.resolve(link.target).is_some_and(|(next, next_index)| {
            let ring = next.poly_ring(next_index);
            outline_contains(ring, point) || outline_nearest(ring, point).1 <= HOLDS_SQ
        });
        if holds {
            return Some(link.target);
        }
        widened = widened.or(Some(link.target));
    }
    widened
}

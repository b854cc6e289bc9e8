//! Following a straight segment over the surface, polygon by polygon, seen from above.
//!
//! In: a start polygon and the two ends of a segment. Out: the polygon the segment ends in, or the
//! wall it meets. Rays and slides are this walk with different answers. In every polygon the
//! segment leaves through the edge whose line it leaves first; at a vertex, where several lines
//! are left at once, the edges nearest to the crossing point are tried in index order, so a
//! segment that slips through a vertex goes on. Off-mesh links are not crossed, heights not
//! tested.

use super::filter::Filter;
use super::outline::{
    MAX_VERTICES, edge_ends, for_each_edge, outline_contains, outline_nearest, segment_distance_sq,
};
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
    let segment = Segment::new(start, end);
    let mut poly = start_poly;
    let mut steps = 0_usize;
    let mut limit = usize::MAX;
    loop {
        if let Some(place) = visited.get_mut(trace.visited_count) {
            *place = poly;
            trace.visited_count += 1;
        } else {
            trace.truncated = true;
        }
        let ring = tile.poly_ring(index);
        let exit = segment.first_exit(ring);
        if exit.t >= 1.0 {
            trace.t = 1.0;
            break;
        }
        let (edge, way) = if exit.alone {
            let way = across(
                mesh,
                (tile, index),
                poly,
                exit.edge,
                &segment,
                exit.t,
                filter,
            );
            (exit.edge, way)
        } else {
            across_tied(mesh, (tile, index), poly, &segment, exit.t, filter)
        };
        // A straight line meets a convex polygon once, so a longer walk is a mesh whose pieces do
        // not fit together; it ends here as if at a wall.
        steps += 1;
        if steps == PATIENCE {
            limit = mesh.poly_count();
        }
        let Some(next) = way.filter(|_| steps <= limit) else {
            trace.hit = true;
            trace.t = exit.t;
            trace.edge = edge;
            break;
        };
        (poly, tile, index) = next;
    }
    trace.poly = poly;
    trace.place = Some((tile, index));
    trace
}

/// A crossing this near a polygon (squared) is held by it.
const HOLDS_SQ: f64 = 1e-9 * 1e-9;

/// The segment being walked, seen from above.
struct Segment {
    start: DVec3,
    dx: f64,
    dz: f64,
}

/// Where a segment leaves a polygon first. Inside the polygon to its end when `t` is 1 or more.
struct Exit {
    t: f64,
    edge: usize,
    /// No other edge is left within the tolerance of `t`.
    alone: bool,
}

/// Edges left together that are nearest to where the segment leaves, ascending.
struct TiedExits {
    edges: [u8; MAX_VERTICES],
    count: usize,
}

impl Segment {
    fn new(start: DVec3, end: DVec3) -> Self {
        Self {
            start,
            dx: end.x - start.x,
            dz: end.z - start.z,
        }
    }

    #[inline]
    fn at(&self, t: f64) -> DVec3 {
        let start = self.start;
        DVec3::new(start.x + self.dx * t, 0.0, start.z + self.dz * t)
    }

    /// Where the segment leaves the line of edge `a`-`b`; infinite or NaN when it does not go
    /// outward there. A start that rounding put just outside leaves at once, not before.
    ///
    /// Chosen by values and not by branches: which edges are left, no predictor can call.
    #[inline]
    fn leaves_at(&self, a: DVec3, b: DVec3) -> f64 {
        let (ex, ez) = (b.x - a.x, b.z - a.z);
        let outward = ex * self.dz - ez * self.dx;
        let inside = ex * (self.start.z - a.z) - ez * (self.start.x - a.x);
        let not_negative = |value: f64| if value > 0.0 { value } else { 0.0 };
        not_negative(inside) / not_negative(-outward)
    }

    /// The first exit from a ring, and whether it is the only candidate.
    #[inline]
    fn first_exit(&self, ring: &[DVec3]) -> Exit {
        let (mut first, mut second) = (f64::INFINITY, f64::INFINITY);
        let mut edge = 0;
        for_each_edge(ring, |at, a, b| {
            let t = self.leaves_at(a, b);
            // Written so that a NaN, too, changes nothing.
            let later = if first > t { first } else { t };
            second = if later < second { later } else { second };
            edge = if t < first { at } else { edge };
            first = if t < first { t } else { first };
        });
        Exit {
            t: first,
            edge,
            alone: second > first + SAME_T * (1.0 + first),
        }
    }

    /// The edges left together with the first, at `first`: of all left within the tolerance, those
    /// nearest to the point where the segment leaves.
    fn tied_exits(&self, ring: &[DVec3], first: f64) -> TiedExits {
        let point = self.at(first);
        let latest = first + SAME_T * (1.0 + first);
        let mut distance_sq = [f64::INFINITY; MAX_VERTICES];
        let mut nearest_sq = f64::INFINITY;
        for_each_edge(ring, |edge, a, b| {
            if let (true, Some(place)) = (self.leaves_at(a, b) <= latest, distance_sq.get_mut(edge))
            {
                *place = segment_distance_sq(a, b, point);
                nearest_sq = nearest_sq.min(*place);
            }
        });
        let mut tied = TiedExits {
            edges: [0; MAX_VERTICES],
            count: 0,
        };
        for (edge, &distance_sq) in distance_sq.iter().enumerate() {
            if distance_sq <= nearest_sq + SAME_DISTANCE_SQ && distance_sq < f64::INFINITY {
                tied.edges[tied.count] = edge as u8;
                tied.count += 1;
            }
        }
        tied
    }
}

/// The first of the edges left together, and the accepted polygon behind the first that has one.
#[cold]
fn across_tied<'m, F: Filter + ?Sized>(
    mesh: &'m TiledMesh,
    (tile, index): (&'m Tile, usize),
    poly: PolyRef,
    segment: &Segment,
    t: f64,
    filter: &F,
) -> (usize, Option<(PolyRef, &'m Tile, usize)>) {
    let tied = segment.tied_exits(tile.poly_ring(index), t);
    let mut edges = tied.edges[..tied.count]
        .iter()
        .map(|&edge| usize::from(edge));
    let way = edges.find_map(|edge| across(mesh, (tile, index), poly, edge, segment, t, filter));
    (usize::from(tied.edges[0]), way)
}

/// The accepted polygon behind `edge` where the segment crosses it at `t`: the in-tile neighbour,
/// or the target of a border link.
#[inline(always)]
fn across<'m, F: Filter + ?Sized>(
    mesh: &'m TiledMesh,
    (tile, index): (&'m Tile, usize),
    poly: PolyRef,
    edge: usize,
    segment: &Segment,
    t: f64,
    filter: &F,
) -> Option<(PolyRef, &'m Tile, usize)> {
    let neighbor = tile.data().edge_neighbors[tile.poly_edges(index).start + edge];
    if neighbor > 0 {
        let target = (neighbor - 1) as usize;
        let poly = PolyRef::from_parts(poly.salt(), poly.slot(), target as u32);
        return filter
            .passes(tile.poly_flags[target], tile.poly_area[target])
            .then_some((poly, tile, target));
    }
    if tile.poly_links(index).is_empty() {
        return None;
    }
    across_border(mesh, tile, index, edge, segment.at(t), filter)
}

/// The accepted target of a link of `edge` whose stretch, a 255th wider at both ends, holds the
/// point. Of several the first whose polygon itself holds the point is taken, else the first.
fn across_border<'m, F: Filter + ?Sized>(
    mesh: &'m TiledMesh,
    tile: &Tile,
    index: usize,
    edge: usize,
    point: DVec3,
    filter: &F,
) -> Option<(PolyRef, &'m Tile, usize)> {
    let (a, b) = edge_ends(tile, index, edge);
    let (ex, ez) = (b.x - a.x, b.z - a.z);
    let along = ((point.x - a.x) * ex + (point.z - a.z) * ez) / (ex * ex + ez * ez) * 255.0;
    let mut widened = None;
    for link in tile.poly_links(index) {
        let reaches = link.kind == LinkKind::Portal
            && usize::from(link.edge) == edge
            && along >= f64::from(link.range_min) - 1.0
            && along <= f64::from(link.range_max) + 1.0;
        if !reaches {
            continue;
        }
        let Some((next, next_index)) = mesh.resolve(link.target) else {
            continue;
        };
        if !filter.passes(next.poly_flags[next_index], next.poly_area[next_index]) {
            continue;
        }
        // Ranges are coarse: on a long edge the stretch of one polygon can reach over its
        // neighbour's. The polygon that holds the crossing is the one behind it.
        let ring = next.poly_ring(next_index);
        let way = (link.target, next, next_index);
        if outline_contains(ring, point) || outline_nearest(ring, point).1 <= HOLDS_SQ {
            return Some(way);
        }
        widened = widened.or(Some(way));
    }
    widened
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_soa::rng::SplitMix64;

    /// The rule said plainly: all edges left within the tolerance of the first, of these the ones
    /// nearest to the point. `None` when the segment ends inside.
    fn exits_by_rule(ring: &[DVec3], start: DVec3, end: DVec3) -> Option<(f64, Vec<usize>)> {
        let (dx, dz) = (end.x - start.x, end.z - start.z);
        let mut left = Vec::new();
        for (edge, &a) in ring.iter().enumerate() {
            let b = ring[(edge + 1) % ring.len()];
            let (ex, ez) = (b.x - a.x, b.z - a.z);
            let outward = ex * dz - ez * dx;
            if outward < 0.0 {
                let inside = ex * (start.z - a.z) - ez * (start.x - a.x);
                left.push((edge, (inside / -outward).max(0.0), a, b));
            }
        }
        let t = left.iter().map(|way| way.1).fold(f64::INFINITY, f64::min);
        if t >= 1.0 {
            return None;
        }
        left.retain(|way| way.1 <= t + SAME_T * (1.0 + t));
        let point = DVec3::new(start.x + dx * t, 0.0, start.z + dz * t);
        let distance =
            |&(_, _, a, b): &(usize, f64, DVec3, DVec3)| segment_distance_sq(a, b, point);
        let nearest = left.iter().map(distance).fold(f64::INFINITY, f64::min);
        left.retain(|way| distance(way) <= nearest + SAME_DISTANCE_SQ);
        Some((t, left.iter().map(|way| way.0).collect()))
    }

    #[test]
    fn exits_follow_the_rule_bit_by_bit() {
        let rings: [&[(f64, f64)]; 4] = [
            &[(0.0, 0.0), (4.0, 0.0), (0.0, 4.0)],
            &[(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0)],
            &[
                (1.0, 0.0),
                (3.0, 0.0),
                (4.0, 2.0),
                (3.0, 4.0),
                (1.0, 4.0),
                (0.0, 2.0),
            ],
            // Three corners in line, and an edge of a 10^-10.
            &[
                (0.0, 0.0),
                (2.0, 0.0),
                (4.0, 0.0),
                (4.0, 4.0),
                (4.0, 4.0 + 1e-10),
                (0.0, 4.0),
            ],
        ];
        let mut rng = SplitMix64::new(8);
        let (mut alone, mut tied, mut ended) = (0, 0, 0);
        for round in 0..20_000 {
            let corners = rings[round % rings.len()];
            let shift = [0.0, 1e6, -3.7][round % 3];
            let at = |x: f64, z: f64| DVec3::new(x + shift, 0.0, z - shift);
            let ring: Vec<DVec3> = corners.iter().map(|&(x, z)| at(x, z)).collect();
            // Lattice points aim at corners and along edges, others at the open edges.
            let mut value = || match rng.next_below(3) {
                0 => rng.range(-1.0, 5.0),
                _ => f64::from(rng.next_below(9)) * 0.5,
            };
            let (start, other) = (at(value(), value()), at(value(), value()));
            // A third goes through a corner and as far again.
            let corner = ring[round % ring.len()];
            let end = [corner + (corner - start), other, other][round / 12 % 3];
            let segment = Segment::new(start, end);
            let exit = segment.first_exit(&ring);
            let Some((t, edges)) = exits_by_rule(&ring, start, end) else {
                assert!(exit.t >= 1.0);
                ended += 1;
                continue;
            };
            assert_eq!(exit.t.to_bits(), t.to_bits());
            if exit.alone {
                assert_eq!(edges, [exit.edge]);
                alone += 1;
            }
            let candidates = segment.tied_exits(&ring, exit.t);
            let candidates: Vec<usize> = candidates.edges[..candidates.count]
                .iter()
                .map(|&edge| edge.into())
                .collect();
            assert_eq!(candidates, edges);
            tied += usize::from(edges.len() > 1);
        }
        let counts = (alone, tied, ended);
        assert!(alone > 1000 && tied > 200 && ended > 500, "{counts:?}");
    }
}

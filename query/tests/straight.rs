//! String pulling against a visibility-graph oracle, and the rules about corners.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

mod common;

use common::{PLAIN, Plan, WILD, build, picture, poly_at, random_place};
use throng_query::mesh::{
    DefaultFilter, FunnelScratch, NodeModel, PathSearch, QueryStatus, StraightFlags,
    StraightPathPoint, find_straight_path,
};
use throng_soa::DVec3;
use throng_soa::mesh::{LinkKind, PolyRef, TiledMesh};
use throng_soa::rng::SplitMix64;
use throng_soa::world::distance_xz;

fn corridor_between(
    mesh: &TiledMesh,
    start: (PolyRef, DVec3),
    end: (PolyRef, DVec3),
) -> Vec<PolyRef> {
    let mut search = PathSearch::new(NodeModel::Polygon, 65_536);
    search
        .begin(mesh, start.0, end.0, start.1, end.1, &DefaultFilter)
        .unwrap();
    search.update(mesh, &DefaultFilter, u32::MAX);
    search.corridor().0.to_vec()
}

fn pull(
    mesh: &TiledMesh,
    start: DVec3,
    end: DVec3,
    corridor: &[PolyRef],
    max: usize,
) -> (QueryStatus, Vec<StraightPathPoint>, bool) {
    let mut out = vec![StraightPathPoint::default(); 2 * corridor.len() + 2];
    let mut scratch = FunnelScratch::new();
    let outcome = find_straight_path(mesh, start, end, corridor, &mut scratch, &mut out, max);
    out.truncate(outcome.count);
    (outcome.status, out, outcome.truncated)
}

/// The segment shared by two polygons, from their rings alone: overlap of collinear edges.
fn shared(mesh: &TiledMesh, a: PolyRef, b: PolyRef) -> Option<(DVec3, DVec3)> {
    let (ta, ia) = mesh.resolve(a).unwrap();
    let (tb, ib) = mesh.resolve(b).unwrap();
    let (ra, rb) = (ta.poly_ring(ia), tb.poly_ring(ib));
    if a.slot() == b.slot() {
        for i in 0..ra.len() {
            let (p, q) = (ra[i], ra[(i + 1) % ra.len()]);
            for j in 0..rb.len() {
                if rb[j] == q && rb[(j + 1) % rb.len()] == p {
                    return Some((p, q));
                }
            }
        }
        return None;
    }
    // Tile borders are axis-parallel.
    for axis in [0, 2] {
        let along = 2 - axis;
        for i in 0..ra.len() {
            let (p, q) = (ra[i], ra[(i + 1) % ra.len()]);
            for j in 0..rb.len() {
                let (c, d) = (rb[j], rb[(j + 1) % rb.len()]);
                if p[axis] == q[axis] && c[axis] == d[axis] && p[axis] == c[axis] {
                    let low = p[along].min(q[along]).max(c[along].min(d[along]));
                    let high = p[along].max(q[along]).min(c[along].max(d[along]));
                    if high > low {
                        let mut from = p;
                        let mut to = p;
                        from[along] = low;
                        to[along] = high;
                        return Some((from, to));
                    }
                }
            }
        }
    }
    None
}

/// Shortest length from start to end that crosses the portals in order: dynamic programming over
/// portal end points, a leg allowed when it meets every portal between.
fn oracle(start: DVec3, end: DVec3, portals: &[(DVec3, DVec3)]) -> f64 {
    let mut nodes = vec![(0, start)];
    for (i, &(a, b)) in portals.iter().enumerate() {
        nodes.push((i + 1, a));
        nodes.push((i + 1, b));
    }
    nodes.push((portals.len() + 1, end));
    let mut best = vec![f64::INFINITY; nodes.len()];
    best[0] = 0.0;
    for i in 1..nodes.len() {
        for j in 0..i {
            let (from, to) = (nodes[j], nodes[i]);
            if from.0 > to.0 || best[j] == f64::INFINITY {
                continue;
            }
            let between = (from.0 + 1)..to.0;
            let sees = between
                .into_iter()
                .all(|k| meets(from.1, to.1, portals[k - 1]));
            if sees {
                best[i] = best[i].min(best[j] + distance_xz(from.1, to.1));
            }
        }
    }
    best[nodes.len() - 1]
}

fn meets(p: DVec3, q: DVec3, (a, b): (DVec3, DVec3)) -> bool {
    let turn = |a: DVec3, b: DVec3, c: DVec3| (b.x - a.x) * (c.z - a.z) - (b.z - a.z) * (c.x - a.x);
    let slack = 1e-9;
    let (s, t) = (turn(p, q, a), turn(p, q, b));
    let (u, v) = (turn(a, b, p), turn(a, b, q));
    let cross = |s: f64, t: f64| (s >= -slack && t <= slack) || (s <= slack && t >= -slack);
    cross(s, t) && cross(u, v)
}

#[test]
fn length_equals_the_visibility_graph_inside_the_corridor() {
    let mut compared = 0;
    for seed in 0..60 {
        let base = if seed % 2 == 0 { PLAIN } else { WILD };
        let plan = Plan {
            seed,
            layers: 1,
            links: 0,
            holes: 0.3,
            ..base
        };
        let mesh = build(&plan);
        let mut rng = SplitMix64::new(seed);
        for _ in 0..20 {
            let (start, end) = (random_place(&mesh, &mut rng), random_place(&mesh, &mut rng));
            let corridor = corridor_between(&mesh, start, end);
            let portals: Option<Vec<_>> = corridor
                .windows(2)
                .map(|p| shared(&mesh, p[0], p[1]))
                .collect();
            let portals = portals.expect("neighbours share an edge");
            let (status, points, truncated) = pull(&mesh, start.1, end.1, &corridor, usize::MAX);
            assert_eq!((status, truncated), (QueryStatus::Success, false));
            let length: f64 = points
                .windows(2)
                .map(|p| distance_xz(p[0].position, p[1].position))
                .sum();
            let expected = oracle(
                points[0].position,
                points[points.len() - 1].position,
                &portals,
            );
            assert!(
                (length - expected).abs() < 1e-7 * (1.0 + expected),
                "seed {seed}: {length} against {expected}"
            );
            compared += usize::from(points.len() > 2);
            check_marks(&points, &corridor);
            for max in 1..=points.len() {
                let (_, prefix, truncated) = pull(&mesh, start.1, end.1, &corridor, max);
                assert_eq!(prefix.len(), max);
                assert!(truncated);
                for (a, b) in prefix.iter().zip(&points) {
                    assert_eq!(a.position, b.position);
                }
            }
        }
    }
    assert!(compared > 200, "{compared} paths with corners");
}

/// One start, one end, polygons in corridor order.
fn check_marks(points: &[StraightPathPoint], corridor: &[PolyRef]) {
    let last = points.len() - 1;
    let mut place = 0;
    for (i, point) in points.iter().enumerate() {
        assert_eq!(point.flags.contains(StraightFlags::START), i == 0);
        assert_eq!(point.flags.contains(StraightFlags::END), i == last);
        let at = corridor.iter().position(|&p| p == point.poly).unwrap();
        assert!(at >= place);
        place = at;
    }
    assert_eq!(points[last].poly, corridor[corridor.len() - 1]);
}

#[test]
fn a_bend_has_its_corner_and_heights_ride_along() {
    let mesh = picture(&[
        "...", //
        "##.", "...",
    ]);
    let (start, end) = (DVec3::new(0.5, 1.0, 0.5), DVec3::new(0.5, -1.0, 2.5));
    let corridor = corridor_between(
        &mesh,
        (poly_at(&mesh, start * DVec3::new(1.0, 0.0, 1.0)), start),
        (poly_at(&mesh, end * DVec3::new(1.0, 0.0, 1.0)), end),
    );
    assert_eq!(corridor.len(), 7);
    let (_, points, _) = pull(&mesh, start, end, &corridor, usize::MAX);
    let positions: Vec<DVec3> = points.iter().map(|p| p.position).collect();
    assert_eq!(
        positions,
        [
            DVec3::new(0.5, 0.0, 0.5),
            DVec3::new(2.0, 0.0, 1.0),
            DVec3::new(2.0, 0.0, 2.0),
            DVec3::new(0.5, 0.0, 2.5)
        ]
    );
    assert_eq!(points[1].poly, corridor[3]);
}

#[test]
fn positions_off_the_corridor_are_moved_to_its_ends_and_equal_points_merge() {
    let mesh = picture(&["...."]);
    let (a, b) = (DVec3::new(0.5, 0.0, 0.5), DVec3::new(3.5, 0.0, 0.5));
    let corridor = corridor_between(&mesh, (poly_at(&mesh, a), a), (poly_at(&mesh, b), b));
    let far = DVec3::new(-5.0, 3.0, 0.5);
    let (_, points, _) = pull(&mesh, far, b, &corridor, usize::MAX);
    assert_eq!(points[0].position, DVec3::new(0.0, 0.0, 0.5));
    // Start and end moved onto one point become one point with both marks.
    let (_, points, _) = pull(&mesh, far, far, &corridor[..1], usize::MAX);
    assert_eq!(points.len(), 1);
    assert_eq!(points[0].flags, StraightFlags::START | StraightFlags::END);
}

#[test]
fn corridors_that_do_not_hold_together_are_invalid_and_write_nothing() {
    let mut mesh = picture(&["....", "####", "...."]);
    let (a, b) = (DVec3::new(0.5, 0.0, 0.5), DVec3::new(3.5, 0.0, 0.5));
    let corridor = corridor_between(&mesh, (poly_at(&mesh, a), a), (poly_at(&mesh, b), b));
    let other = poly_at(&mesh, DVec3::new(0.5, 0.0, 2.5));
    let gap = [corridor[0], corridor[2]];
    let jump = [corridor[0], other];
    let forged = [corridor[0], PolyRef::from_bits(u64::MAX)];
    let twice = [corridor[0], corridor[0]];
    for bad in [&[][..], &gap, &jump, &forged, &twice, &[PolyRef::INVALID]] {
        let (status, points, _) = pull(&mesh, a, b, bad, usize::MAX);
        assert_eq!((status, points.len()), (QueryStatus::InvalidCorridor, 0));
    }
    let tile = mesh.tile_ref(corridor[0].slot()).unwrap();
    mesh.remove_tile(tile).unwrap();
    let (status, ..) = pull(&mesh, a, b, &corridor, usize::MAX);
    assert_eq!(status, QueryStatus::InvalidCorridor);
}

#[test]
fn off_mesh_links_close_the_funnel_at_the_entry_and_open_it_at_the_exit() {
    let mut crossed = [0, 0];
    for seed in 0..30 {
        let plan = Plan {
            seed,
            links: 3,
            holes: 0.3,
            ..WILD
        };
        let mesh = build(&plan);
        let mut rng = SplitMix64::new(seed);
        for _ in 0..20 {
            let (start, end) = (random_place(&mesh, &mut rng), random_place(&mesh, &mut rng));
            let corridor = corridor_between(&mesh, start, end);
            let (status, points, _) = pull(&mesh, start.1, end.1, &corridor, usize::MAX);
            assert_eq!(status, QueryStatus::Success);
            for pair in points.windows(2) {
                if !pair[0].flags.contains(StraightFlags::OFF_MESH_CONNECTION) {
                    continue;
                }
                let at = corridor.iter().position(|&p| p == pair[0].poly).unwrap();
                let (tile, index) = mesh.resolve(corridor[at - 1]).unwrap();
                let link = tile
                    .poly_links(index)
                    .iter()
                    .find(|l| l.target == corridor[at] && l.kind != LinkKind::Portal)
                    .unwrap();
                let ends = mesh.off_mesh_link(link.link_slot, link.link_index).unwrap();
                let reverse = link.kind == LinkKind::OffMeshReverse;
                crossed[usize::from(reverse)] += 1;
                let (entry, exit) = if reverse {
                    (ends.end, ends.start)
                } else {
                    (ends.start, ends.end)
                };
                assert_eq!((pair[0].position, pair[1].position), (entry, exit));
            }
        }
    }
    assert!(crossed[0] > 20 && crossed[1] > 5, "{crossed:?}");
}

//! Path searches against an exhaustive oracle, sliced against whole, and the promises of each node
//! model.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

mod common;

use common::{all_polys, build, picture, plans, poly_at, priced, random_place};
use throng_query::mesh::{
    AreaSearch, AreaStatus, DefaultFilter, Filter, FunnelScratch, NodeModel, PathOutcome,
    PathSearch, QueryFilter, QueryStatus, StraightPathPoint, connects, find_straight_path,
};
use throng_soa::DVec3;
use throng_soa::mesh::{LinkKind, PolyRef, TiledMesh};
use throng_soa::rng::SplitMix64;
use throng_soa::world::distance3;

/// Ways out of a polygon: near point, far point, extra cost, target.
fn exits(
    mesh: &TiledMesh,
    poly: PolyRef,
    filter: &QueryFilter,
) -> Vec<(DVec3, DVec3, f64, PolyRef)> {
    let (tile, index) = mesh.resolve(poly).unwrap();
    let ring = tile.poly_ring(index);
    let passes = |target: PolyRef| {
        let (tile, index) = mesh.resolve(target).unwrap();
        filter.passes(tile.poly_flags[index], tile.poly_area[index])
    };
    let mut out = Vec::new();
    for (edge, &neighbor) in tile.data().edge_neighbors[tile.poly_edges(index)]
        .iter()
        .enumerate()
    {
        if neighbor > 0 {
            let target = mesh.poly_ref(poly.slot(), (neighbor - 1) as u32);
            let middle = (ring[edge] + ring[(edge + 1) % ring.len()]) * 0.5;
            out.push((middle, middle, 0.0, target));
        }
    }
    for link in tile.poly_links(index) {
        if link.kind == LinkKind::Portal {
            let (a, b) = (
                ring[usize::from(link.edge)],
                ring[(usize::from(link.edge) + 1) % ring.len()],
            );
            let t = (f64::from(link.range_min) + f64::from(link.range_max)) / 510.0;
            let middle = a + (b - a) * t;
            out.push((middle, middle, 0.0, link.target));
        } else {
            let ends = mesh.off_mesh_link(link.link_slot, link.link_index).unwrap();
            if filter.passes(ends.flags, ends.area) {
                let cost = distance3(ends.start, ends.end) * filter.area_cost(ends.area);
                let (near, far) = if link.kind == LinkKind::OffMesh {
                    (ends.start, ends.end)
                } else {
                    (ends.end, ends.start)
                };
                out.push((near, far, cost, link.target));
            }
        }
    }
    out.retain(|&(.., target)| passes(target));
    out
}

/// Least cost over the crossing graph by Bellman-Ford relaxation, or `None`.
fn least_cost(
    mesh: &TiledMesh,
    start_poly: PolyRef,
    end_poly: PolyRef,
    start: DVec3,
    end: DVec3,
    filter: &QueryFilter,
) -> Option<f64> {
    let polys = all_polys(mesh);
    let index_of = |poly: PolyRef| polys.binary_search(&poly).unwrap();
    let ways: Vec<_> = polys.iter().map(|&p| exits(mesh, p, filter)).collect();
    let cost_of = |poly: PolyRef| {
        let (tile, index) = mesh.resolve(poly).unwrap();
        filter.area_cost(tile.poly_area[index])
    };
    let mut best: Vec<Vec<f64>> = ways.iter().map(|w| vec![f64::INFINITY; w.len()]).collect();
    let mut answer = f64::INFINITY;
    // Entries still to hand on: (polygon entered, position, cost).
    let mut work = vec![(start_poly, start, 0.0)];
    while let Some((poly, at, cost)) = work.pop() {
        let travel = cost_of(poly);
        if poly == end_poly {
            answer = answer.min(cost + distance3(at, end) * travel);
        }
        let index = index_of(poly);
        for (k, &(near, far, extra, target)) in ways[index].iter().enumerate() {
            let next = cost + distance3(at, near) * travel + extra;
            if next < best[index][k] {
                best[index][k] = next;
                work.push((target, far, next));
            }
        }
        // Cheapest first keeps the relaxation short.
        work.sort_by(|a, b| b.2.total_cmp(&a.2));
    }
    (answer < f64::INFINITY).then_some(answer)
}

#[test]
fn crossing_cost_equals_the_least_cost_over_all_crossings() {
    let (mut found, mut partial) = (0, 0);
    for plan in plans() {
        let mesh = build(&plan);
        let mut rng = SplitMix64::new(plan.seed ^ 77);
        let mut search = PathSearch::new(NodeModel::Crossing, 65_536);
        for filter in [QueryFilter::default(), priced()] {
            for _ in 0..12 {
                let (start_poly, start) = random_place(&mesh, &mut rng);
                let (end_poly, end) = random_place(&mesh, &mut rng);
                let mut out = [PolyRef::INVALID; 1024];
                let outcome = search
                    .find_path(&mesh, start_poly, end_poly, start, end, &filter, &mut out)
                    .unwrap();
                match least_cost(&mesh, start_poly, end_poly, start, end, &filter) {
                    Some(cost) => {
                        found += 1;
                        assert_eq!(outcome.status, QueryStatus::Success);
                        assert!(
                            (outcome.cost - cost).abs() <= 1e-9 * (1.0 + cost),
                            "{} against {cost}",
                            outcome.cost
                        );
                        assert_eq!(out[outcome.count - 1], end_poly);
                    }
                    None => {
                        partial += 1;
                        assert_eq!(outcome.status, QueryStatus::Partial);
                        assert!(!outcome.node_limit_reached);
                    }
                }
                check_corridor(&mesh, &out[..outcome.count], start_poly, &filter);
            }
        }
    }
    assert!(
        found > 100 && partial > 10,
        "{found} found, {partial} partial"
    );
}

/// Starts right, every polygon once, each entered from the one before.
fn check_corridor(mesh: &TiledMesh, corridor: &[PolyRef], start: PolyRef, filter: &QueryFilter) {
    assert_eq!(corridor[0], start);
    for (i, pair) in corridor.windows(2).enumerate() {
        assert!(connects(mesh, pair[0], pair[1], filter), "step {i}");
        assert!(!corridor[..=i].contains(&pair[1]), "repeated at {i}");
    }
}

#[test]
fn polygon_cost_is_a_walk_inside_the_corridor() {
    let mut compared = 0;
    for plan in plans() {
        let mesh = build(&plan);
        let mut rng = SplitMix64::new(plan.seed ^ 99);
        let mut search = PathSearch::new(NodeModel::Polygon, 65_536);
        let mut exact = PathSearch::new(NodeModel::Crossing, 65_536);
        let mut funnel = FunnelScratch::new();
        let filter = QueryFilter::default();
        for _ in 0..40 {
            let (start_poly, start) = random_place(&mesh, &mut rng);
            let (end_poly, end) = random_place(&mesh, &mut rng);
            let mut out = [PolyRef::INVALID; 1024];
            let outcome = search
                .find_path(&mesh, start_poly, end_poly, start, end, &filter, &mut out)
                .unwrap();
            let mut other = [PolyRef::INVALID; 1024];
            let reference = exact
                .find_path(&mesh, start_poly, end_poly, start, end, &filter, &mut other)
                .unwrap();
            assert_eq!(outcome.status, reference.status);
            let corridor = &out[..outcome.count];
            check_corridor(&mesh, corridor, start_poly, &filter);
            if outcome.status != QueryStatus::Success {
                continue;
            }
            compared += 1;
            // A link's own length can be below the distance between its snapped polygons, never
            // below the straight line: every leg of the walk is a straight line.
            assert!(outcome.cost >= distance3(start, end) - 1e-9);
            if plan.relief == 0.0 {
                let mut points = [StraightPathPoint::default(); 256];
                let straight = find_straight_path(
                    &mesh,
                    start,
                    end,
                    corridor,
                    &mut funnel,
                    &mut points,
                    usize::MAX,
                );
                let length: f64 = points[..straight.count]
                    .windows(2)
                    .map(|p| distance3(p[0].position, p[1].position))
                    .sum();
                assert!(length <= outcome.cost + 1e-9, "{length} > {}", outcome.cost);
            }
        }
    }
    assert!(compared > 200);
}

fn outcome_bits(outcome: &PathOutcome, out: &[PolyRef]) -> (QueryStatus, u64, u64, bool, Vec<u64>) {
    (
        outcome.status,
        outcome.cost.to_bits(),
        outcome.iterations,
        outcome.node_limit_reached,
        out[..outcome.count].iter().map(|p| p.bits()).collect(),
    )
}

#[test]
fn any_slicing_equals_one_call() {
    for plan in plans() {
        let mesh = build(&plan);
        let mut rng = SplitMix64::new(plan.seed ^ 5);
        for model in [NodeModel::Polygon, NodeModel::Crossing] {
            for max_nodes in [65_536, 40] {
                let mut whole = PathSearch::new(model, max_nodes);
                let mut sliced = PathSearch::new(model, max_nodes);
                for _ in 0..6 {
                    let (start_poly, start) = random_place(&mesh, &mut rng);
                    let (end_poly, end) = random_place(&mesh, &mut rng);
                    let filter = priced();
                    let mut out = [PolyRef::INVALID; 1024];
                    let expected = whole
                        .find_path(&mesh, start_poly, end_poly, start, end, &filter, &mut out)
                        .unwrap();
                    let expected = outcome_bits(&expected, &out);
                    for budget in [1, 2, 3, 7, 100] {
                        let status = sliced
                            .begin(&mesh, start_poly, end_poly, start, end, &filter)
                            .unwrap();
                        assert_eq!(status, QueryStatus::InProgress);
                        let mut before = 0;
                        while sliced.update(&mesh, &filter, budget) == QueryStatus::InProgress {
                            assert_eq!(sliced.iterations() - before, u64::from(budget));
                            before = sliced.iterations();
                            // Looking at an unfinished search changes nothing.
                            let early = sliced.finish(&mesh, &mut out);
                            assert_eq!(early.status, QueryStatus::InProgress);
                            assert!(early.count >= 1);
                        }
                        let outcome = sliced.finish(&mesh, &mut out);
                        assert_eq!(outcome_bits(&outcome, &out), expected, "budget {budget}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_walled_off_end_gives_the_corridor_to_the_nearest_expanded_node() {
    let mesh = picture(&[
        "..........", //
        "..........",
        "######.###",
        ".....#.#..",
        ".....###..",
    ]);
    let start = DVec3::new(0.5, 0.0, 0.5);
    let end = DVec3::new(9.5, 0.0, 3.5);
    for model in [NodeModel::Polygon, NodeModel::Crossing] {
        let mut search = PathSearch::new(model, 65_536);
        let mut out = [PolyRef::INVALID; 64];
        let outcome = search
            .find_path(
                &mesh,
                poly_at(&mesh, start),
                poly_at(&mesh, end),
                start,
                end,
                &DefaultFilter,
                &mut out,
            )
            .unwrap();
        assert_eq!(outcome.status, QueryStatus::Partial);
        assert!(!outcome.node_limit_reached);
        let last = out[outcome.count - 1];
        let nearest = [
            poly_at(&mesh, DVec3::new(9.5, 0.0, 1.5)),
            poly_at(&mesh, DVec3::new(8.5, 0.0, 1.5)),
        ];
        assert!(nearest.contains(&last), "{last:?}");
        let mut few = PathSearch::new(model, 8);
        let outcome = few
            .find_path(
                &mesh,
                poly_at(&mesh, start),
                poly_at(&mesh, DVec3::new(9.5, 0.0, 1.5)),
                start,
                DVec3::new(9.5, 0.0, 1.5),
                &DefaultFilter,
                &mut out,
            )
            .unwrap();
        assert_eq!(outcome.status, QueryStatus::Partial);
        assert!(outcome.node_limit_reached);
    }
}

#[test]
fn a_start_in_the_end_polygon_is_one_polygon_and_the_straight_distance() {
    let mesh = picture(&["....", "...."]);
    let (start, end) = (DVec3::new(0.2, 0.0, 0.2), DVec3::new(0.8, 0.0, 0.6));
    let poly = poly_at(&mesh, start);
    for model in [NodeModel::Polygon, NodeModel::Crossing] {
        let mut search = PathSearch::new(model, 65_536);
        let mut out = [PolyRef::INVALID; 4];
        let outcome = search
            .find_path(&mesh, poly, poly, start, end, &DefaultFilter, &mut out)
            .unwrap();
        assert_eq!(outcome.status, QueryStatus::Success);
        assert_eq!((outcome.count, out[0]), (1, poly));
        assert_eq!(outcome.cost, distance3(start, end));
        assert_eq!(outcome.iterations, 1);
    }
}

#[test]
fn a_short_buffer_gets_the_first_part() {
    let mesh = picture(&["........"]);
    let (start, end) = (DVec3::new(0.5, 0.0, 0.5), DVec3::new(7.5, 0.0, 0.5));
    let (from, to) = (poly_at(&mesh, start), poly_at(&mesh, end));
    let mut search = PathSearch::new(NodeModel::Polygon, 100);
    let mut all = [PolyRef::INVALID; 8];
    let whole = search
        .find_path(&mesh, from, to, start, end, &DefaultFilter, &mut all)
        .unwrap();
    assert_eq!((whole.count, whole.truncated), (8, false));
    assert_eq!(whole.cost, 7.0);
    let mut part = [PolyRef::INVALID; 3];
    let cut = search.finish(&mesh, &mut part);
    assert_eq!((cut.count, cut.truncated, cut.cost), (3, true, 7.0));
    assert_eq!(part, all[..3]);
}

#[test]
fn costs_and_flags_bend_the_route() {
    let mut mesh = picture(&[
        ".....", //
        ".....", ".....",
    ]);
    let (start, end) = (DVec3::new(0.5, 0.0, 1.5), DVec3::new(4.5, 0.0, 1.5));
    let (from, to) = (poly_at(&mesh, start), poly_at(&mesh, end));
    let middle = poly_at(&mesh, DVec3::new(2.5, 0.0, 1.5));
    mesh.set_poly_area(middle, 5).unwrap();
    for model in [NodeModel::Polygon, NodeModel::Crossing] {
        let mut search = PathSearch::new(model, 1000);
        let mut find = |filter: &QueryFilter| {
            let mut out = [PolyRef::INVALID; 16];
            let outcome = search
                .find_path(&mesh, from, to, start, end, filter, &mut out)
                .unwrap();
            (outcome.status, out[..outcome.count].contains(&middle))
        };
        let plain = QueryFilter::default();
        assert_eq!(find(&plain), (QueryStatus::Success, true));
        let dear = plain.clone().with_area_cost(5, 10.0).unwrap();
        assert_eq!(find(&dear), (QueryStatus::Success, false));
        let forbidden = plain.with_area_cost(5, f64::INFINITY).unwrap();
        assert_eq!(find(&forbidden), (QueryStatus::Success, false));
    }
}

#[test]
fn an_edit_between_slices_starts_the_search_again() {
    let mut mesh = picture(&[
        ".....", //
        ".###.", ".....",
    ]);
    let (start, end) = (DVec3::new(0.5, 0.0, 0.5), DVec3::new(4.5, 0.0, 2.5));
    let (from, to) = (poly_at(&mesh, start), poly_at(&mesh, end));
    let filter = QueryFilter::default()
        .with_area_cost(9, f64::INFINITY)
        .unwrap();
    for model in [NodeModel::Polygon, NodeModel::Crossing] {
        let mut search = PathSearch::new(model, 1000);
        search.begin(&mesh, from, to, start, end, &filter).unwrap();
        assert_eq!(search.update(&mesh, &filter, 5), QueryStatus::InProgress);
        let top = poly_at(&mesh, DVec3::new(2.5, 0.0, 0.5));
        mesh.set_poly_area(top, 9).unwrap();
        assert_eq!(search.update(&mesh, &filter, 1000), QueryStatus::Success);
        let (corridor, _) = search.corridor();
        assert!(!corridor.contains(&top));
        mesh.set_poly_area(top, 0).unwrap();
        search.begin(&mesh, from, to, start, end, &filter).unwrap();
        mesh.set_poly_area(to, 9).unwrap();
        assert_eq!(
            search.update(&mesh, &filter, 5),
            QueryStatus::InvalidEndPoly
        );
        mesh.set_poly_area(to, 0).unwrap();
    }
}

#[test]
fn a_search_goes_on_only_with_the_mesh_it_began_on() {
    let one = picture(&[
        ".....", //
        ".###.", ".....",
    ]);
    let (start, end) = (DVec3::new(0.5, 0.0, 0.5), DVec3::new(4.5, 0.0, 2.5));
    let (from, to) = (poly_at(&one, start), poly_at(&one, end));
    let top = poly_at(&one, DVec3::new(2.5, 0.0, 0.5));
    let filter = QueryFilter::default()
        .with_area_cost(9, f64::INFINITY)
        .unwrap();
    // Copies of one mesh, edited once each, one of them so that the way is closed.
    let (mut open, mut closed) = (one.clone(), one.clone());
    open.set_poly_area(from, 1).unwrap();
    closed.set_poly_area(top, 9).unwrap();
    assert_eq!(open.edit_count(), closed.edit_count());
    for model in [NodeModel::Polygon, NodeModel::Crossing] {
        let mut search = PathSearch::new(model, 1000);
        search.begin(&open, from, to, start, end, &filter).unwrap();
        assert_eq!(search.update(&open, &filter, 5), QueryStatus::InProgress);
        assert_eq!(search.update(&closed, &filter, 1000), QueryStatus::Success);
        assert!(!search.corridor().0.contains(&top));
    }
    let mut area = AreaSearch::new(1000);
    area.begin_circle(&open, from, start, 100.0, &filter)
        .unwrap();
    assert_eq!(area.update(&open, &filter, 3), AreaStatus::InProgress);
    assert_eq!(area.update(&closed, &filter, 1000), AreaStatus::Success);
    assert!(area.found().all(|poly| poly != top));
}

/// Promises a least cost of 100 while charging 1, and closes area 2 with a NaN.
struct Liar;

impl Filter for Liar {
    fn passes(&self, _: u16, _: u8) -> bool {
        true
    }
    fn area_cost(&self, area: u8) -> f64 {
        if area == 2 { f64::NAN } else { 1.0 }
    }
    fn min_area_cost(&self) -> f64 {
        100.0
    }
}

#[test]
fn a_filter_that_breaks_its_promises_ends_and_gives_a_corridor_without_loops() {
    for plan in plans() {
        let mesh = build(&plan);
        let mut rng = SplitMix64::new(plan.seed);
        for model in [NodeModel::Polygon, NodeModel::Crossing] {
            let mut search = PathSearch::new(model, 65_536);
            for _ in 0..10 {
                let (start_poly, start) = random_place(&mesh, &mut rng);
                let (end_poly, end) = random_place(&mesh, &mut rng);
                let mut out = [PolyRef::INVALID; 1024];
                let outcome = search
                    .find_path(&mesh, start_poly, end_poly, start, end, &Liar, &mut out)
                    .unwrap();
                check_corridor(
                    &mesh,
                    &out[..outcome.count],
                    start_poly,
                    &QueryFilter::default(),
                );
            }
        }
    }
}

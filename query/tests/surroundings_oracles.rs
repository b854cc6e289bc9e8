//! Area searches against a search that is as slow as it is plain: the same polygons, in the same
//! order, from the same parents, with the same keys.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

mod common;
#[path = "common/outlines.rs"]
mod outlines;

use common::{PLAIN, Plan, TILE, WILD, build, params, random_place};
use outlines::{common_area, passes, ring};
use throng_query::mesh::{AreaSearch, AreaStatus, DefaultFilter, QueryFilter, WallSegment};
use throng_soa::DVec3;
use throng_soa::mesh::assemble::{LocalPolygons, from_local_polygons};
use throng_soa::mesh::{LinkKind, NavTile, PolyRef, TiledMesh};
use throng_soa::rng::SplitMix64;

/// (polygon, parent, key), in expansion order.
type Found = Vec<(PolyRef, PolyRef, f64)>;

/// Every way out of a polygon, in the order searches number them: edges, and links of each edge.
fn ways_out(mesh: &TiledMesh, poly: PolyRef) -> Vec<(DVec3, DVec3, PolyRef)> {
    let (tile, index) = mesh.resolve(poly).unwrap();
    let ring = tile.poly_ring(index);
    let neighbors = &tile.data().edge_neighbors[tile.poly_edges(index)];
    let mut ways = Vec::new();
    for edge in 0..ring.len() {
        let (a, b) = (ring[edge], ring[(edge + 1) % ring.len()]);
        if neighbors[edge] > 0 {
            let behind = mesh.poly_ref(poly.slot(), (neighbors[edge] - 1) as u32);
            ways.push((a, b, behind));
            continue;
        }
        for link in tile.poly_links(index) {
            if link.kind == LinkKind::Portal && usize::from(link.edge) == edge {
                let at = |k: u8| match k {
                    0 => a,
                    255 => b,
                    _ => a + (b - a) * (f64::from(k) / 255.0),
                };
                ways.push((at(link.range_min), at(link.range_max), link.target));
            }
        }
    }
    ways
}

fn key(a: DVec3, b: DVec3, p: DVec3) -> f64 {
    let (ex, ez) = (b.x - a.x, b.z - a.z);
    let length_sq = ex * ex + ez * ez;
    let t = if length_sq > 0.0 {
        (((p.x - a.x) * ex + (p.z - a.z) * ez) / length_sq).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let n = match t {
        0.0 => a,
        1.0 => b,
        _ => DVec3::new(a.x + (b.x - a.x) * t, 0.0, a.z + (b.z - a.z) * t),
    };
    (n.x - p.x) * (n.x - p.x) + (n.z - p.z) * (n.z - p.z)
}

/// The search as it is defined, with a list in place of a heap and scans in place of tables.
fn slow_search(
    mesh: &TiledMesh,
    start: PolyRef,
    reference: DVec3,
    filter: &QueryFilter,
    touches: &dyn Fn(DVec3, DVec3, f64) -> bool,
    without_overlaps: bool,
) -> Found {
    struct Node {
        poly: PolyRef,
        parent: PolyRef,
        key: f64,
        order: usize,
        closed: bool,
    }
    let mut nodes = vec![Node {
        poly: start,
        parent: PolyRef::INVALID,
        key: 0.0,
        order: 0,
        closed: false,
    }];
    let mut inserted = 1;
    let mut found = Found::new();
    while let Some(at) = (0..nodes.len())
        .filter(|&i| !nodes[i].closed)
        .min_by(|&i, &j| {
            let (i, j) = (&nodes[i], &nodes[j]);
            i.key.total_cmp(&j.key).then(i.order.cmp(&j.order))
        })
    {
        nodes[at].closed = true;
        found.push((nodes[at].poly, nodes[at].parent, nodes[at].key));
        let from = nodes[at].poly;
        for (a, b, target) in ways_out(mesh, from) {
            let key = key(a, b, reference);
            if !passes(mesh, target, filter) || !touches(a, b, key) {
                continue;
            }
            if let Some(node) = nodes.iter_mut().find(|node| node.poly == target) {
                if !node.closed && key < node.key {
                    (node.key, node.parent, node.order) = (key, from, inserted);
                    inserted += 1;
                }
                continue;
            }
            let outline = ring(mesh, target);
            if without_overlaps
                && nodes
                    .iter()
                    .any(|node| common_area(&outline, &ring(mesh, node.poly)) > 1e-9)
            {
                continue;
            }
            nodes.push(Node {
                poly: target,
                parent: from,
                key,
                order: inserted,
                closed: false,
            });
            inserted += 1;
        }
    }
    found
}

/// Floors a tenth of a step apart, each cut its own way: polygons of many floors overlap in part,
/// and tile borders lead from any floor to any other.
fn pile_of_floors(seed: u64) -> TiledMesh {
    let params = params();
    let mut rng = SplitMix64::new(seed);
    let mut mesh = TiledMesh::new(params).unwrap();
    for layer in 0..3 {
        for (tile_x, tile_z) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let mut cuts = || {
                let mut cuts = vec![0.0, TILE as f32];
                cuts.extend((0..4).map(|_| (1 + rng.next_below(31)) as f32 * 0.25));
                cuts.sort_by(f32::total_cmp);
                cuts.dedup();
                cuts
            };
            let (xs, zs) = (cuts(), cuts());
            let mut input = LocalPolygons {
                tile_x,
                tile_z,
                layer,
                origin_y: 0.1 * f64::from(layer),
                ..LocalPolygons::default()
            };
            for &z in &zs {
                for &x in &xs {
                    input.vertices.push([x, 0.0, z]);
                }
            }
            let width = xs.len() as u16;
            for row in 0..zs.len() as u16 - 1 {
                for column in 0..width - 1 {
                    if rng.next_below(6) == 0 {
                        continue;
                    }
                    let at = row * width + column;
                    let corners = [at, at + 1, at + width + 1, at + width];
                    input.poly_vertex_counts.push(4);
                    input.poly_indices.extend(corners);
                    input.areas.push(0);
                    input.flags.push(1 << rng.next_below(3));
                }
            }
            if !input.poly_vertex_counts.is_empty() {
                let data = from_local_polygons(input, &params).unwrap();
                mesh.add_tile(NavTile::create(data, &params).unwrap())
                    .unwrap();
            }
        }
    }
    mesh
}

fn meshes() -> Vec<TiledMesh> {
    let mut all: Vec<TiledMesh> = (0..6).map(pile_of_floors).collect();
    all.extend((0..6).map(|seed| build(&Plan { seed, ..WILD })));
    all.push(build(&PLAIN));
    all
}

fn collect(search: &AreaSearch) -> (Found, AreaStatus) {
    let (mut polys, mut parents, mut keys) = (
        vec![PolyRef::INVALID; 800],
        vec![PolyRef::INVALID; 800],
        vec![0.0; 800],
    );
    let outcome = search.finish(&mut polys, &mut parents, &mut keys);
    let rows = (0..outcome.count).map(|i| (polys[i], parents[i], keys[i]));
    (rows.collect(), outcome.status)
}

/// Which search to run in which slices.
fn run(
    search: &mut AreaSearch,
    mesh: &TiledMesh,
    filter: &QueryFilter,
    budget: u32,
) -> (Found, AreaStatus) {
    while search.update(mesh, filter, budget) == AreaStatus::InProgress {
        let (early, status) = collect(search);
        assert_eq!(status, AreaStatus::InProgress);
        assert!(!early.is_empty());
    }
    collect(search)
}

#[test]
fn order_parents_and_keys_are_those_of_the_plain_search() {
    let (mut circles, mut hoods, mut shapes, mut skipped) = (0, 0, 0, 0);
    for (number, mesh) in meshes().iter().enumerate() {
        let mut rng = SplitMix64::new(number as u64);
        let mut search = AreaSearch::new(65_536);
        for filter in [
            QueryFilter::default(),
            QueryFilter::default().with_flags(0xFFFF, 0b100),
        ] {
            for round in 0..12 {
                let (start, center) = random_place(mesh, &mut rng);
                if !passes(mesh, start, &filter) {
                    continue;
                }
                let radius = rng.range(0.0, 10.0);
                let budget = [1, 3, u32::MAX][round % 3];
                let in_circle = |_: DVec3, _: DVec3, key: f64| key <= radius * radius;
                let slow = slow_search(mesh, start, center, &filter, &in_circle, false);
                search
                    .begin_circle(mesh, start, center, radius, &filter)
                    .unwrap();
                let fast = run(&mut search, mesh, &filter, budget);
                assert_eq!(fast, (slow.clone(), AreaStatus::Success));
                circles += slow.len();

                let hood = slow_search(mesh, start, center, &filter, &in_circle, true);
                search
                    .begin_neighbourhood(mesh, start, center, radius, &filter)
                    .unwrap();
                let fast = run(&mut search, mesh, &filter, budget);
                assert_eq!(fast, (hood.clone(), AreaStatus::Success));
                hoods += hood.len();
                skipped += slow.len() - hood.len();
                for (i, &(a, ..)) in hood.iter().enumerate() {
                    for &(b, ..) in &hood[..i] {
                        assert!(common_area(&ring(mesh, a), &ring(mesh, b)) < 1e-9);
                    }
                }

                // A box, turning either way: met by a segment when it meets its slab in X and in Z.
                let (low, high) = (
                    center - DVec3::new(rng.range(0.1, 5.0), 0.0, rng.range(0.1, 5.0)),
                    center + DVec3::new(rng.range(0.1, 5.0), 0.0, rng.range(0.1, 5.0)),
                );
                let corner = |x: f64, z: f64| DVec3::new(x, 0.0, z);
                let mut corners = vec![
                    corner(low.x, low.z),
                    corner(high.x, low.z),
                    corner(high.x, high.z),
                    corner(low.x, high.z),
                ];
                if round % 2 == 0 {
                    corners.reverse();
                }
                let sum = corners.iter().fold(DVec3::ZERO, |sum, &c| sum + c);
                search.begin_shape(mesh, start, &corners, &filter).unwrap();
                let fast = run(&mut search, mesh, &filter, budget);
                let in_box = |a: DVec3, b: DVec3, _: f64| meets_box(a, b, low, high);
                let slow = slow_search(mesh, start, sum / 4.0, &filter, &in_box, false);
                let polys = |found: &Found| {
                    let mut polys: Vec<_> = found.iter().map(|row| row.0).collect();
                    polys.sort_unstable();
                    polys
                };
                assert_eq!(polys(&fast.0), polys(&slow));
                shapes += slow.len();
            }
        }
    }
    assert!(
        circles > 5000 && hoods > 2000 && shapes > 1500,
        "{circles} {hoods} {shapes}"
    );
    assert!(skipped > 1000, "{skipped} polygons under or over others");
}

/// Whether a closed segment meets a closed box seen from above (Liang and Barsky's clip).
fn meets_box(a: DVec3, b: DVec3, low: DVec3, high: DVec3) -> bool {
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for (from, to, low, high) in [(a.x, b.x, low.x, high.x), (a.z, b.z, low.z, high.z)] {
        let way = to - from;
        if way == 0.0 {
            if from < low || from > high {
                return false;
            }
            continue;
        }
        let (first, second) = ((low - from) / way, (high - from) / way);
        enter = enter.max(first.min(second));
        leave = leave.min(first.max(second));
    }
    enter <= leave
}

#[test]
fn scans_of_an_unfinished_search_look_at_what_was_expanded() {
    let mesh = build(&Plan {
        holes: 0.3,
        ..PLAIN
    });
    let filter = DefaultFilter;
    let mut rng = SplitMix64::new(5);
    let mut search = AreaSearch::new(65_536);
    let (mut growing, mut drawn) = (0, 0);
    for _ in 0..40 {
        let (start, center) = random_place(&mesh, &mut rng);
        search
            .begin_circle(&mesh, start, center, 6.0, &filter)
            .unwrap();
        let mut last = 0;
        let mut nearest = f64::INFINITY;
        while search.update(&mesh, &filter, 2) == AreaStatus::InProgress {
            let mut walls = vec![WallSegment::default(); 300];
            let outcome = search.finish_walls(&mesh, &filter, &mut walls);
            assert_eq!(outcome.status, AreaStatus::InProgress);
            let expanded: Vec<PolyRef> = search.found().collect();
            assert!(
                walls[..outcome.count]
                    .iter()
                    .all(|w| expanded.contains(&w.poly))
            );
            growing += usize::from(outcome.count > last);
            last = outcome.count;
            let hit = search.finish_distance_to_wall(&mesh, &filter);
            assert_eq!(hit.status, AreaStatus::InProgress);
            assert_eq!(hit.found, outcome.count > 0);
            if hit.found {
                assert_eq!(hit.distance, walls[0].distance);
                assert!(hit.distance <= nearest);
                nearest = hit.distance;
            }
            if let Some(point) = search.finish_random_point_around(&mesh, &mut rng) {
                assert!(expanded.contains(&point.poly));
                drawn += 1;
            }
        }
        let hit = search.finish_distance_to_wall(&mesh, &filter);
        let again = search
            .distance_to_wall(&mesh, start, center, 6.0, &filter)
            .unwrap();
        assert_eq!(hit, again);
    }
    assert!(growing > 50 && drawn > 100, "{growing} {drawn}");
}

#[test]
fn equally_near_walls_go_to_the_lowest_polygon_edge_and_place() {
    // One cell alone: four walls at the same distance from its middle.
    let mesh = common::picture(&["###", "#.#", "###"]);
    let center = DVec3::new(1.5, 0.0, 1.5);
    let poly = common::poly_at(&mesh, center);
    let mut search = AreaSearch::new(100);
    let hit = search
        .distance_to_wall(&mesh, poly, center, 5.0, &DefaultFilter)
        .unwrap();
    assert_eq!((hit.distance, hit.edge, hit.poly), (0.5, 0, poly));
    // Exactly at the radius counts.
    let at_radius = search
        .distance_to_wall(&mesh, poly, center, 0.5, &DefaultFilter)
        .unwrap();
    assert!(at_radius.found);
    let short = search
        .distance_to_wall(&mesh, poly, center, 0.499, &DefaultFilter)
        .unwrap();
    assert_eq!((short.found, short.distance), (false, 0.499));
    // Two cells: the walls of both are as near to the middle of their border.
    let mesh = common::picture(&["####", "#..#", "####"]);
    let middle = DVec3::new(2.0, 0.0, 1.5);
    for x in [1.5, 2.5] {
        let start = common::poly_at(&mesh, DVec3::new(x, 0.0, 1.5));
        let hit = search
            .distance_to_wall(&mesh, start, middle, 5.0, &DefaultFilter)
            .unwrap();
        let lowest = common::poly_at(&mesh, DVec3::new(1.5, 0.0, 1.5));
        assert_eq!((hit.distance, hit.poly, hit.edge), (0.5, lowest, 0));
    }
}

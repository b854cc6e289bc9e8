//! Area searches against breadth-first reachability, walls against a scan of all edges, random
//! points against areas.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

mod common;

use common::{PLAIN, Plan, WILD, all_polys, build, picture, poly_at, random_place};
use std::collections::BTreeSet;
use throng_query::mesh::{
    AreaSearch, AreaStatus, DefaultFilter, Filter, QueryFilter, WallSegment, random_point,
};
use throng_soa::DVec3;
use throng_soa::mesh::assemble::{LocalPolygons, from_local_polygons};
use throng_soa::mesh::{LinkKind, MeshParams, NO_PORTAL, NavTile, PolyRef, TiledMesh};
use throng_soa::predicates::orient2d;
use throng_soa::rng::SplitMix64;
use throng_soa::world::distance_xz;

fn passes(mesh: &TiledMesh, poly: PolyRef, filter: &QueryFilter) -> bool {
    let (tile, index) = mesh.resolve(poly).unwrap();
    filter.passes(tile.poly_flags[index], tile.poly_area[index])
}

/// Ends of every portal of a polygon with the polygon behind it.
fn portals(mesh: &TiledMesh, poly: PolyRef) -> Vec<(usize, DVec3, DVec3, PolyRef)> {
    let (tile, index) = mesh.resolve(poly).unwrap();
    let ring = tile.poly_ring(index);
    let mut out = Vec::new();
    for (edge, &neighbor) in tile.data().edge_neighbors[tile.poly_edges(index)]
        .iter()
        .enumerate()
    {
        let (a, b) = (ring[edge], ring[(edge + 1) % ring.len()]);
        if neighbor > 0 {
            out.push((
                edge,
                a,
                b,
                mesh.poly_ref(poly.slot(), (neighbor - 1) as u32),
            ));
        }
        for link in tile.poly_links(index) {
            if link.kind == LinkKind::Portal && usize::from(link.edge) == edge {
                let at = |k: u8| match k {
                    0 => a,
                    255 => b,
                    _ => a + (b - a) * (f64::from(k) / 255.0),
                };
                out.push((edge, at(link.range_min), at(link.range_max), link.target));
            }
        }
    }
    out
}

fn to_segment(a: DVec3, b: DVec3, p: DVec3) -> f64 {
    let d = b - a;
    let length_sq = d.x * d.x + d.z * d.z;
    let t = (((p.x - a.x) * d.x + (p.z - a.z) * d.z) / length_sq).clamp(0.0, 1.0);
    distance_xz(a + d * t, p)
}

fn reachable(
    mesh: &TiledMesh,
    start: PolyRef,
    filter: &QueryFilter,
    touches: impl Fn(DVec3, DVec3) -> bool,
) -> BTreeSet<PolyRef> {
    let mut found = BTreeSet::from([start]);
    let mut work = vec![start];
    while let Some(poly) = work.pop() {
        for (_, a, b, target) in portals(mesh, poly) {
            if passes(mesh, target, filter) && touches(a, b) && found.insert(target) {
                work.push(target);
            }
        }
    }
    found
}

fn filters() -> [QueryFilter; 2] {
    let mut masked = QueryFilter::default();
    masked.exclude_flags = 0b100;
    [QueryFilter::default(), masked]
}

#[test]
fn circles_find_what_a_breadth_first_walk_finds_for_any_slicing() {
    let mut sizes = 0;
    for seed in 0..20 {
        let base = if seed % 2 == 0 { PLAIN } else { WILD };
        let mesh = build(&Plan { seed, ..base });
        let mut rng = SplitMix64::new(seed);
        let mut search = AreaSearch::new(65_536);
        for filter in filters() {
            for _ in 0..10 {
                let (start, center) = random_place(&mesh, &mut rng);
                let radius = rng.range(0.0, 9.0);
                let mut polys = vec![PolyRef::INVALID; 600];
                let mut parents = polys.clone();
                let mut keys = vec![0.0; 600];
                let outcome = search
                    .find_polys_in_circle(
                        &mesh,
                        start,
                        center,
                        radius,
                        &filter,
                        &mut polys,
                        &mut parents,
                        &mut keys,
                    )
                    .unwrap();
                if !passes(&mesh, start, &filter) {
                    assert_eq!(outcome.status, AreaStatus::InvalidStartPoly);
                    assert_eq!(outcome.count, 0);
                    continue;
                }
                assert_eq!(outcome.status, AreaStatus::Success);
                let found: BTreeSet<PolyRef> = polys[..outcome.count].iter().copied().collect();
                assert_eq!(found.len(), outcome.count);
                let expected = reachable(&mesh, start, &filter, |a, b| {
                    to_segment(a, b, center) <= radius
                });
                assert_eq!(found, expected);
                sizes += found.len();
                assert_eq!(
                    (polys[0], parents[0], keys[0]),
                    (start, PolyRef::INVALID, 0.0)
                );
                for i in 1..outcome.count {
                    let parent = polys[..i].iter().position(|&p| p == parents[i]);
                    assert!(parent.is_some(), "parents are expanded first");
                    let nearest = portals(&mesh, parents[i])
                        .iter()
                        .filter(|p| p.3 == polys[i])
                        .map(|p| to_segment(p.1, p.2, center))
                        .fold(f64::INFINITY, f64::min);
                    assert!((keys[i].sqrt() - nearest).abs() < 1e-9);
                }
                let whole = (polys.clone(), parents.clone(), keys.clone(), outcome);
                for budget in [1, 2, 3, 7, 100] {
                    search
                        .begin_circle(&mesh, start, center, radius, &filter)
                        .unwrap();
                    while search.update(&mesh, &filter, budget) == AreaStatus::InProgress {
                        let early = search.finish(&mut polys, &mut [], &mut []);
                        assert_eq!(polys[..early.count], whole.0[..early.count]);
                    }
                    let outcome = search.finish(&mut polys, &mut parents, &mut keys);
                    assert_eq!(
                        (&polys, &parents, &keys, outcome),
                        (&whole.0, &whole.1, &whole.2, whole.3)
                    );
                }
                let cut = search.finish(&mut polys[..1], &mut [], &mut []);
                assert_eq!((cut.count, cut.truncated), (1, outcome.count > 1));
            }
        }
    }
    assert!(sizes > 2000, "{sizes} polygons found");
}

#[test]
fn convex_shapes_find_what_a_breadth_first_walk_finds() {
    for seed in 0..10 {
        let mesh = build(&Plan { seed, ..WILD });
        let mut rng = SplitMix64::new(seed);
        let mut search = AreaSearch::new(65_536);
        for _ in 0..20 {
            let (start, center) = random_place(&mesh, &mut rng);
            let corner = |rng: &mut SplitMix64, sx: f64, sz: f64| {
                center + DVec3::new(sx * rng.range(0.5, 4.0), 0.0, sz * rng.range(0.5, 4.0))
            };
            let mut shape = vec![
                corner(&mut rng, 1.0, 1.0),
                corner(&mut rng, -1.0, 1.0),
                corner(&mut rng, -1.0, -1.0),
            ];
            if rng.next_below(2) == 0 {
                shape.reverse();
            }
            let filter = QueryFilter::default();
            let mut polys = vec![PolyRef::INVALID; 600];
            let outcome = search
                .find_polys_in_shape(&mesh, start, &shape, &filter, &mut polys, &mut [], &mut [])
                .unwrap();
            assert_eq!(outcome.status, AreaStatus::Success);
            let found: BTreeSet<PolyRef> = polys[..outcome.count].iter().copied().collect();
            let expected = reachable(&mesh, start, &filter, |a, b| clips(&shape, a, b));
            assert_eq!(found, expected);
        }
    }
}

/// Whether a segment meets a convex polygon, by clipping it to the polygon's half-planes.
fn clips(shape: &[DVec3], a: DVec3, b: DVec3) -> bool {
    let flat = |p: DVec3| [p.x, p.z];
    let winding = orient2d(flat(shape[0]), flat(shape[1]), flat(shape[2])).signum();
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for i in 0..shape.len() {
        let (p, q) = (shape[i], shape[(i + 1) % shape.len()]);
        let side = |r: DVec3| winding * ((q.x - p.x) * (r.z - p.z) - (q.z - p.z) * (r.x - p.x));
        let (from, to) = (side(a), side(b));
        match (from < 0.0, to < 0.0) {
            (true, true) => return false,
            (true, false) => low = low.max(from / (from - to)),
            (false, true) => high = high.min(from / (from - to)),
            (false, false) => {}
        }
    }
    low <= high
}

#[test]
fn shapes_that_are_not_convex_are_a_status() {
    let mesh = picture(&["...."]);
    let poly = poly_at(&mesh, DVec3::new(0.5, 0.0, 0.5));
    let mut search = AreaSearch::new(100);
    let dart = [(0.0, 0.0), (4.0, 0.0), (1.0, 1.0), (0.0, 4.0)].map(|(x, z)| DVec3::new(x, 0.0, z));
    let status = search
        .begin_shape(&mesh, poly, &dart, &DefaultFilter)
        .unwrap();
    assert_eq!(status, AreaStatus::InvalidShape);
    assert_eq!(
        search.update(&mesh, &DefaultFilter, 10),
        AreaStatus::InvalidShape
    );
    assert_eq!(search.finish(&mut [], &mut [], &mut []).count, 0);
}

/// Two floors a quarter unit apart over tile (1, 0), both reached from tile (0, 0).
fn stacked() -> TiledMesh {
    floors(common::params(), &[(0, 0), (1, 0), (1, 1)])
}

/// Square floors of 16 cells at (tile column, layer).
fn floors(params: MeshParams, places: &[(i32, i32)]) -> TiledMesh {
    let mut mesh = TiledMesh::new(params).unwrap();
    for &(tile_x, layer) in places {
        let mut input = LocalPolygons {
            tile_x,
            layer,
            origin_y: f64::from(layer) * 0.25,
            ..LocalPolygons::default()
        };
        for z in 0..=4 {
            for x in 0..=4 {
                let side = params.tile_size as f32 / 4.0;
                input.vertices.push([x as f32 * side, 0.0, z as f32 * side]);
            }
        }
        for z in 0..4 {
            for x in 0..4 {
                let at = z * 5 + x;
                input.poly_vertex_counts.push(4);
                input.poly_indices.extend([at, at + 1, at + 6, at + 5]);
                input.areas.push(0);
                input.flags.push(1);
            }
        }
        let data = from_local_polygons(input, &params).unwrap();
        mesh.add_tile(NavTile::create(data, &params).unwrap())
            .unwrap();
    }
    mesh
}

#[test]
fn a_neighbourhood_takes_stacked_floors_once() {
    let mesh = stacked();
    let start = mesh.poly_ref(0, 0);
    let center = DVec3::new(0.0, 0.0, 16.0);
    let mut search = AreaSearch::new(65_536);
    let mut polys = vec![PolyRef::INVALID; 64];
    let filter = DefaultFilter;
    let circle = search
        .find_polys_in_circle(
            &mesh,
            start,
            center,
            20.0,
            &filter,
            &mut polys,
            &mut [],
            &mut [],
        )
        .unwrap();
    assert_eq!(circle.count, 48);
    let near = search
        .find_local_neighbourhood(
            &mesh,
            start,
            center,
            20.0,
            &filter,
            &mut polys,
            &mut [],
            &mut [],
        )
        .unwrap();
    assert_eq!((near.count, near.status), (32, AreaStatus::Success));
    let mut places: Vec<(u64, u64)> = polys[..32]
        .iter()
        .map(|&poly| {
            let (tile, index) = mesh.resolve(poly).unwrap();
            let low = tile.bounds_min[index];
            (low.x.to_bits(), low.z.to_bits())
        })
        .collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), 32, "no place twice");
}

#[test]
fn a_border_that_rounds_to_two_positions_is_no_overlap() {
    let params = MeshParams {
        origin: DVec3::new(0.027_029_925_169_168_467, 0.0, 0.0),
        tile_size: f64::from(4.343_682_f32),
        ..common::params()
    };
    let mesh = floors(params, &(0..40).map(|x| (x, 0)).collect::<Vec<_>>());
    let tile = |slot: u32| mesh.tile(slot).unwrap();
    let crossed = (0..39).filter(|&x| tile(x).tile_max.x > tile(x + 1).tile_min.x);
    assert!(crossed.count() > 0, "some border rounds the wrong way");
    let mut search = AreaSearch::new(1000);
    let mut polys = vec![PolyRef::INVALID; 700];
    let start = mesh.poly_ref(0, 0);
    let outcome = search
        .find_local_neighbourhood(
            &mesh,
            start,
            DVec3::ZERO,
            1000.0,
            &DefaultFilter,
            &mut polys,
            &mut [],
            &mut [],
        )
        .unwrap();
    assert_eq!(outcome.count, 40 * 16);
}

#[test]
fn the_node_limit_drops_polygons_and_says_so() {
    let mesh = stacked();
    let mut search = AreaSearch::new(10);
    let mut polys = vec![PolyRef::INVALID; 64];
    let center = DVec3::new(0.0, 0.0, 16.0);
    let outcome = search
        .find_polys_in_circle(
            &mesh,
            mesh.poly_ref(0, 0),
            center,
            20.0,
            &DefaultFilter,
            &mut polys,
            &mut [],
            &mut [],
        )
        .unwrap();
    assert_eq!((outcome.count, outcome.node_limit_reached), (10, true));
}

/// Every wall piece of the found polygons: (distance, a, b, polygon, edge) in meeting order.
fn walls_of(
    mesh: &TiledMesh,
    found: &[PolyRef],
    center: DVec3,
    filter: &QueryFilter,
) -> Vec<(f64, DVec3, DVec3, PolyRef, usize)> {
    let mut out = Vec::new();
    for &poly in found {
        let (tile, index) = mesh.resolve(poly).unwrap();
        let ring = tile.poly_ring(index);
        let edges = tile.poly_edges(index);
        for edge in 0..ring.len() {
            let (a, b) = (ring[edge], ring[(edge + 1) % ring.len()]);
            let neighbor = tile.data().edge_neighbors[edges.start + edge];
            let side = tile.data().edge_portal_sides[edges.start + edge];
            let mut add = |from: u32, to: u32| {
                let at = |k: u32| match k {
                    0 => a,
                    255 => b,
                    _ => {
                        let t = f64::from(k) / 255.0;
                        DVec3::new(
                            a.x + (b.x - a.x) * t,
                            a.y + (b.y - a.y) * t,
                            a.z + (b.z - a.z) * t,
                        )
                    }
                };
                let (p, q) = (at(from), at(to));
                out.push((to_segment(p, q, center), p, q, poly, edge));
            };
            if neighbor > 0 {
                let behind = mesh.poly_ref(poly.slot(), (neighbor - 1) as u32);
                if !passes(mesh, behind, filter) {
                    add(0, 255);
                }
            } else if side == NO_PORTAL {
                add(0, 255);
            } else {
                // Paint the 255 steps that links cover; runs of unpainted ones are walls.
                let mut open = [false; 255];
                for link in tile.poly_links(index) {
                    if link.kind == LinkKind::Portal
                        && usize::from(link.edge) == edge
                        && passes(mesh, link.target, filter)
                    {
                        open[usize::from(link.range_min)..usize::from(link.range_max)].fill(true);
                    }
                }
                let mut k = 0;
                while k < 255 {
                    let to = (k..255).find(|&i| open[i] != open[k]).unwrap_or(255);
                    if !open[k] {
                        add(k as u32, to as u32);
                    }
                    k = to;
                }
            }
        }
    }
    out
}

#[test]
fn walls_are_all_pieces_in_range_nearest_first() {
    let (mut pieces, mut partial, mut cut) = (0, 0, 0);
    for seed in 0..20 {
        let base = if seed % 2 == 0 { PLAIN } else { WILD };
        let mesh = build(&Plan { seed, ..base });
        let mut rng = SplitMix64::new(seed);
        let mut search = AreaSearch::new(65_536);
        for filter in filters() {
            for _ in 0..10 {
                let (start, center) = random_place(&mesh, &mut rng);
                let radius = rng.range(0.0, 6.0);
                let mut out = vec![WallSegment::default(); 600];
                let outcome = search.find_walls(&mesh, start, center, radius, &filter, &mut out);
                let found: Vec<PolyRef> = search.found().collect();
                let mut expected = walls_of(&mesh, &found, center, &filter);
                let all = expected.clone();
                expected.retain(|w| w.0 <= radius);
                expected.sort_by(|a, b| a.0.total_cmp(&b.0));
                assert_eq!(outcome.count, expected.len());
                assert!(!outcome.truncated);
                for (wall, (distance, a, b, poly, edge)) in out.iter().zip(&expected) {
                    assert!((wall.distance - distance).abs() < 1e-12);
                    assert_eq!((wall.a, wall.b), (*a, *b));
                    assert_eq!((wall.poly, wall.edge), (*poly, *edge as i32));
                    let (tile, index) = mesh.resolve(*poly).unwrap();
                    let ring = tile.poly_ring(index);
                    partial += usize::from(ring[*edge] != *a);
                }
                pieces += outcome.count;
                if outcome.count > 2 {
                    let keep = outcome.count / 2;
                    let mut few = vec![WallSegment::default(); keep];
                    let short = search.find_walls(&mesh, start, center, radius, &filter, &mut few);
                    assert_eq!((short.count, short.truncated), (keep, true));
                    assert_eq!(few, out[..keep]);
                    cut += 1;
                }
                let nearest = search
                    .distance_to_wall(&mesh, start, center, radius, &filter)
                    .unwrap();
                let least = all.iter().map(|w| w.0).fold(f64::INFINITY, f64::min);
                assert_eq!(search.status(), AreaStatus::None);
                assert_eq!(search.found().count(), 0);
                for nodes in [65_536, 3] {
                    let mut search = AreaSearch::new(nodes);
                    let found = search
                        .distance_to_wall(&mesh, start, center, radius, &filter)
                        .unwrap();
                    search
                        .begin_circle(&mesh, start, center, radius, &filter)
                        .unwrap();
                    search.update(&mesh, &filter, u32::MAX);
                    assert_eq!(found, search.finish_distance_to_wall(&mesh, &filter));
                }
                assert_eq!(nearest.found, least <= radius);
                if nearest.found {
                    assert!((nearest.distance - least).abs() < 1e-12);
                    let n = nearest.normal;
                    assert!((n.x * n.x + n.z * n.z - 1.0).abs() < 1e-9);
                    assert!((distance_xz(nearest.point, center) - least).abs() < 1e-9);
                } else {
                    assert_eq!((nearest.distance, nearest.edge), (radius, -1));
                }
            }
        }
    }
    assert!(
        pieces > 1000 && partial > 20 && cut > 50,
        "{pieces} {partial} {cut}"
    );
}

#[test]
fn the_nearest_wall_of_a_cell_and_the_normal_on_the_wall() {
    let mesh = picture(&["##########", "#........#", "##########"]);
    let mut search = AreaSearch::new(100);
    let center = DVec3::new(4.5, 0.0, 1.25);
    let poly = poly_at(&mesh, center);
    let hit = search
        .distance_to_wall(&mesh, poly, center, 3.0, &DefaultFilter)
        .unwrap();
    assert!(hit.found);
    assert_eq!((hit.distance, hit.normal), (0.25, DVec3::Z));
    assert_eq!((hit.point, hit.edge), (DVec3::new(4.5, 0.0, 1.0), 0));
    let on_wall = DVec3::new(4.5, 0.0, 1.0);
    let hit = search
        .distance_to_wall(&mesh, poly, on_wall, 3.0, &DefaultFilter)
        .unwrap();
    assert_eq!((hit.distance, hit.normal), (0.0, DVec3::Z));
}

#[test]
fn random_points_follow_the_areas_and_the_generator_state() {
    let mesh = build(&Plan {
        holes: 0.5,
        detail: true,
        ..WILD
    });
    let mut filter = QueryFilter::default();
    filter.exclude_flags = 0b100;
    let area_of = |poly: PolyRef| {
        let (tile, index) = mesh.resolve(poly).unwrap();
        let ring = tile.poly_ring(index);
        (1..ring.len() - 1)
            .map(|i| {
                let (u, v) = (ring[i] - ring[0], ring[i + 1] - ring[0]);
                0.5 * (u.x * v.z - u.z * v.x)
            })
            .sum::<f64>()
    };
    let polys: Vec<PolyRef> = all_polys(&mesh)
        .into_iter()
        .filter(|&p| passes(&mesh, p, &filter))
        .collect();
    let total: f64 = polys.iter().map(|&p| area_of(p)).sum();
    let mut rng = SplitMix64::new(11);
    let mut counts = vec![0_u32; polys.len()];
    const DRAWS: u32 = 60_000;
    for _ in 0..DRAWS {
        let mut copy = rng;
        let drawn = random_point(&mesh, &mut rng, &filter).unwrap();
        for _ in 0..4 {
            copy.next_f64();
        }
        assert_eq!(copy, rng, "exactly four doubles a draw");
        counts[polys.binary_search(&drawn.poly).unwrap()] += 1;
    }
    for (i, &poly) in polys.iter().enumerate() {
        let expected = f64::from(DRAWS) * area_of(poly) / total;
        let spread = 5.0 * expected.sqrt() + 5.0;
        assert!(
            (f64::from(counts[i]) - expected).abs() < spread,
            "polygon {i}"
        );
    }
    filter.include_flags = 0b1000_0000;
    let before = rng;
    assert_eq!(random_point(&mesh, &mut rng, &filter), None);
    assert_eq!(rng, before);
}

#[test]
fn random_points_around_stay_in_the_circle_and_cover_it() {
    let mesh = build(&Plan {
        holes: 0.0,
        ..PLAIN
    });
    let mut search = AreaSearch::new(1000);
    let mut rng = SplitMix64::new(3);
    let center = DVec3::new(3.0, 0.0, 19.0);
    let poly = poly_at(&mesh, center);
    let mut quadrant = [0; 4];
    let mut inner = 0;
    for _ in 0..20_000 {
        let drawn = search
            .random_point_around(&mesh, &mut rng, poly, center, 4.0, &DefaultFilter)
            .unwrap()
            .unwrap();
        let d = drawn.point - center;
        let distance = distance_xz(drawn.point, center);
        assert!(distance <= 4.0);
        quadrant[usize::from(d.x > 0.0) * 2 + usize::from(d.z > 0.0)] += 1;
        inner += usize::from(distance < 2.0);
    }
    for count in quadrant {
        assert!((4700..5300).contains(&count), "{quadrant:?}");
    }
    assert!((4700..5300).contains(&inner), "{inner}");
    let before = rng;
    let nothing = search
        .random_point_around(&mesh, &mut rng, poly, center, 0.0, &DefaultFilter)
        .unwrap();
    assert_eq!(nothing, None);
    assert_eq!(rng, before);
}

//! Rays and slides against dense sampling and against known rooms.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

mod common;

use common::{PLAIN, Plan, WILD, build, picture, poly_at, random_place, random_position};
use throng_query::mesh::{
    DefaultFilter, Filter, QueryFilter, RaycastStatus, connects, move_along_surface, raycast,
};
use throng_soa::DVec3;
use throng_soa::mesh::{PolyRef, TiledMesh};
use throng_soa::rng::SplitMix64;
use throng_soa::world::{distance_xz, distance_xz_sq};

fn holds(mesh: &TiledMesh, poly: PolyRef, p: DVec3, slack: f64) -> bool {
    let (tile, index) = mesh.resolve(poly).unwrap();
    let ring = tile.poly_ring(index);
    (0..ring.len()).all(|i| {
        let (a, b) = (ring[i], ring[(i + 1) % ring.len()]);
        let side = (b.x - a.x) * (p.z - a.z) - (b.z - a.z) * (p.x - a.x);
        side >= -slack * distance_xz(a, b)
    })
}

/// Follows a segment in small steps through polygons that touch: the part of it that a walk can
/// cover, and whether it covers all.
fn sampled(
    mesh: &TiledMesh,
    start_poly: PolyRef,
    start: DVec3,
    end: DVec3,
    filter: &QueryFilter,
) -> (f64, bool) {
    const STEPS: u32 = 4000;
    let polys = common::all_polys(mesh);
    let mut at = vec![start_poly];
    for step in 1..=STEPS {
        let t = f64::from(step) / f64::from(STEPS);
        let p = start + (end - start) * t;
        // Everything that holds the point and is a chain of border links away from the last place.
        let mut next: Vec<PolyRef> = Vec::new();
        let mut frontier = at.clone();
        for _ in 0..4 {
            let mut found = Vec::new();
            for &poly in &frontier {
                if holds(mesh, poly, p, 1e-9) && !next.contains(&poly) {
                    next.push(poly);
                }
                for &other in &polys {
                    let on_floor = |poly: PolyRef| mesh.resolve(poly).unwrap().0.data().layer;
                    if on_floor(other) == on_floor(poly)
                        && connects(mesh, poly, other, filter)
                        && holds(mesh, other, p, 1e-9)
                        && !next.contains(&other)
                    {
                        found.push(other);
                    }
                }
            }
            frontier = found;
        }
        if next.is_empty() {
            return (f64::from(step - 1) / f64::from(STEPS), false);
        }
        at = next;
    }
    (1.0, true)
}

#[test]
fn rays_agree_with_a_dense_walk() {
    let (mut hits, mut free) = (0, 0);
    for seed in 0..8 {
        let base = if seed % 2 == 0 { PLAIN } else { WILD };
        let plan = Plan {
            seed,
            tiles: (2, 1),
            layers: 1,
            links: 0,
            holes: 0.12,
            ..base
        };
        let mesh = build(&plan);
        let mut rng = SplitMix64::new(seed);
        let mut filter = QueryFilter::default();
        if seed % 4 >= 2 {
            filter.exclude_flags = 0b100;
        }
        for _ in 0..12 {
            let (poly, start) = random_place(&mesh, &mut rng);
            let end = if rng.next_below(2) == 0 {
                random_place(&mesh, &mut rng).1
            } else {
                random_position(&plan, &mut rng)
            };
            let mut visited = [PolyRef::INVALID; 256];
            let ray = raycast(&mesh, poly, start, end, &filter, &mut visited);
            let (tile, index) = mesh.resolve(poly).unwrap();
            if !filter.passes(tile.poly_flags[index], tile.poly_area[index]) {
                assert_eq!(ray.status, RaycastStatus::InvalidStartPoly);
                continue;
            }
            assert_eq!(ray.status, RaycastStatus::Ok);
            let (t, reached) = sampled(&mesh, poly, start, end, &filter);
            // Links reach up to a 255th beyond the exact overlap; a sample grid is coarse too.
            assert!(
                ray.hit != reached || (ray.t - t).abs() < 0.02,
                "seed {seed}: {ray:?} against {t}"
            );
            assert!((ray.t - t).abs() < 0.02, "seed {seed}: {ray:?} against {t}");
            hits += usize::from(ray.hit);
            free += usize::from(!ray.hit);
            for pair in visited[..ray.visited_count].windows(2) {
                assert!(connects(&mesh, pair[0], pair[1], &filter));
            }
            assert_eq!(visited[0], poly);
            assert_eq!(visited[ray.visited_count - 1], ray.last_poly);
            if ray.hit {
                let (tile, index) = mesh.resolve(ray.hit_poly).unwrap();
                let ring = tile.poly_ring(index);
                let edge = ray.hit_edge as usize;
                let (a, b) = (ring[edge], ring[(edge + 1) % ring.len()]);
                let d = b - a;
                let length = distance_xz(a, b);
                assert!((ray.normal.x * d.x + ray.normal.z * d.z).abs() < 1e-9 * length);
                assert!((ray.normal.x * d.z - ray.normal.z * d.x - length).abs() < 1e-9);
                assert_eq!(ray.normal.y, 0.0);
            }
        }
    }
    assert!(hits > 20 && free > 20, "{hits} hits, {free} free");
}

#[test]
fn moves_end_on_the_surface_however_they_are_repeated() {
    let (mut blocked, mut free) = (0, 0);
    for seed in 0..20 {
        let plan = Plan { seed, ..WILD };
        let mesh = build(&plan);
        let mut rng = SplitMix64::new(seed);
        for _ in 0..40 {
            let (mut poly, mut point) = random_place(&mesh, &mut rng);
            for _ in 0..25 {
                let reach = [0.05, 1.0, 12.0][rng.next_below(3) as usize];
                let to =
                    point + DVec3::new(rng.range(-reach, reach), 0.0, rng.range(-reach, reach));
                let mut visited = [PolyRef::INVALID; 64];
                let moved =
                    move_along_surface(&mesh, poly, point, to, &DefaultFilter, &mut visited);
                assert_eq!(moved.status, RaycastStatus::Ok);
                assert!(holds(&mesh, moved.poly, moved.point, 1e-9));
                assert_eq!(visited[moved.visited_count - 1], moved.poly);
                if moved.blocked {
                    blocked += 1;
                } else {
                    free += 1;
                    assert_eq!((moved.point.x, moved.point.z), (to.x, to.z));
                }
                assert!(distance_xz_sq(moved.point, to) <= distance_xz_sq(point, to) + 1e-9);
                (poly, point) = (moved.poly, moved.point);
            }
        }
    }
    assert!(blocked > 500 && free > 500, "{blocked} {free}");
}

#[test]
fn a_ray_across_a_room_hits_the_far_wall_square() {
    let mesh = picture(&[
        "..........", //
        "..........",
        "....##....",
    ]);
    let start = DVec3::new(0.5, 0.0, 1.5);
    let poly = poly_at(&mesh, start);
    let mut visited = [PolyRef::INVALID; 32];
    let east = DVec3::new(20.5, 0.0, 1.5);
    let ray = raycast(&mesh, poly, start, east, &DefaultFilter, &mut visited);
    assert!(ray.hit);
    assert_eq!(ray.t, 9.5 / 20.0);
    assert_eq!(ray.normal, DVec3::X);
    assert_eq!(ray.visited_count, 10);
    assert_eq!(ray.hit_edge, 1);
    let inside = raycast(
        &mesh,
        poly,
        start,
        DVec3::new(9.5, 0.0, 1.5),
        &DefaultFilter,
        &mut visited[..3],
    );
    assert!(!inside.hit && inside.truncated);
    assert_eq!((inside.t, inside.visited_count), (1.0, 3));
    // Off a corner of the block and on: the ray runs along its top edge without being stopped.
    let along = raycast(
        &mesh,
        poly_at(&mesh, DVec3::new(0.5, 0.0, 1.9)),
        DVec3::new(0.5, 0.0, 2.0),
        DVec3::new(9.5, 0.0, 2.0),
        &DefaultFilter,
        &mut visited,
    );
    assert!(!along.hit, "{along:?}");
}

#[test]
fn a_ray_slips_through_a_vertex_and_stops_where_the_diagonal_is_closed() {
    let open = picture(&["...", "...", "..."]);
    let closed = picture(&[".#.", "#..", "..."]);
    let (start, end) = (DVec3::new(0.5, 0.0, 0.5), DVec3::new(2.5, 0.0, 2.5));
    let mut visited = [PolyRef::INVALID; 32];
    let ray = raycast(
        &open,
        poly_at(&open, start),
        start,
        end,
        &DefaultFilter,
        &mut visited,
    );
    assert!(!ray.hit);
    assert_eq!(ray.last_poly, poly_at(&open, end));
    let ray = raycast(
        &closed,
        poly_at(&closed, start),
        start,
        end,
        &DefaultFilter,
        &mut visited,
    );
    assert!(ray.hit);
    assert_eq!((ray.t, ray.hit_edge), (0.25, 1));
}

#[test]
fn starts_outside_the_polygon_are_refused_beyond_the_slack() {
    let mesh = picture(&["..."]);
    let poly = poly_at(&mesh, DVec3::new(0.5, 0.0, 0.5));
    let cast = |x: f64| {
        let start = DVec3::new(x, 0.0, 0.5);
        let end = DVec3::new(2.5, 0.0, 0.5);
        raycast(&mesh, poly, start, end, &DefaultFilter, &mut []).status
    };
    assert_eq!(cast(-0.9e-6), RaycastStatus::Ok);
    assert_eq!(cast(-1.1e-6), RaycastStatus::StartOutsidePolygon);
    let start = DVec3::new(2.0, 0.0, 0.5);
    let moved = move_along_surface(&mesh, poly, start, DVec3::ZERO, &DefaultFilter, &mut []);
    assert_eq!(moved.status, RaycastStatus::StartOutsidePolygon);
    assert_eq!((moved.point, moved.poly), (start, poly));
}

#[test]
fn a_slide_ends_at_the_point_of_the_wall_nearest_to_the_end() {
    let mesh = picture(&["....", "...."]);
    let start = DVec3::new(0.5, 0.0, 1.5);
    let poly = poly_at(&mesh, start);
    let mut visited = [PolyRef::INVALID; 8];
    let to = DVec3::new(0.8, 0.0, 9.0);
    let moved = move_along_surface(&mesh, poly, start, to, &DefaultFilter, &mut visited);
    assert!(moved.blocked);
    assert_eq!(moved.point, DVec3::new(0.8, 0.0, 2.0));
    let again = move_along_surface(
        &mesh,
        moved.poly,
        moved.point,
        DVec3::new(3.5, 0.0, 2.5),
        &DefaultFilter,
        &mut visited,
    );
    // The wall of the first polygon ends at its corner.
    assert_eq!(again.point, DVec3::new(1.0, 0.0, 2.0));
}

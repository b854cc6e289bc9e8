//! Nearest polygons against a scan of everything, and heights against a plain scan of triangles.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

mod common;

use common::{PLAIN, Plan, WILD, all_polys, build, random_place, random_position};
use throng_query::mesh::{
    ClosestPoint, DefaultFilter, Filter, QueryFilter, closest_point_on_poly, find_nearest_poly,
    sample_position, surface_height,
};
use throng_soa::DVec3;
use throng_soa::mesh::{PolyRef, Tile, TiledMesh};
use throng_soa::rng::SplitMix64;
use throng_soa::world::{distance_xz_sq, distance3_sq};

/// The nearest polygon by looking at all of them, best (distance, column, row, layer, polygon).
fn nearest_of_all(
    mesh: &TiledMesh,
    center: DVec3,
    extents: DVec3,
    filter: &QueryFilter,
) -> Option<(PolyRef, ClosestPoint)> {
    type Key = (f64, (i32, i32, i32, usize));
    let mut best: Option<(Key, PolyRef, ClosestPoint)> = None;
    for poly in all_polys(mesh) {
        let (tile, index) = mesh.resolve(poly).unwrap();
        let (low, high) = (tile.bounds_min[index], tile.bounds_max[index]);
        let overlaps =
            (0..3).all(|i| low[i] <= center[i] + extents[i] && high[i] >= center[i] - extents[i]);
        if !overlaps || !filter.passes(tile.poly_flags[index], tile.poly_area[index]) {
            continue;
        }
        let closest = closest_point_on_poly(mesh, poly, center).unwrap();
        let distance = distance3_sq(center, closest.point);
        let data = tile.data();
        let key = (distance, (data.tile_x, data.tile_z, data.layer, index));
        if best.as_ref().is_none_or(|&(other, ..)| key < other) {
            best = Some((key, poly, closest));
        }
    }
    best.map(|(_, poly, closest)| (poly, closest))
}

#[test]
fn nearest_equals_a_scan_of_all_polygons() {
    let (mut over, mut beside, mut none) = (0, 0, 0);
    for seed in 0..20 {
        let plan = Plan {
            seed,
            ..if seed % 2 == 0 { PLAIN } else { WILD }
        };
        let mesh = build(&plan);
        let mut rng = SplitMix64::new(seed + 100);
        let mut filter = QueryFilter::default();
        filter.include_flags = 0b011;
        for _ in 0..100 {
            let center = random_position(&plan, &mut rng);
            let size = [0.3, 2.0, 60.0][rng.next_below(3) as usize];
            let extents = DVec3::new(rng.range(0.0, size), rng.range(0.0, 6.0), size);
            let found = find_nearest_poly(&mesh, center, extents, &filter).unwrap();
            match nearest_of_all(&mesh, center, extents, &filter) {
                Some((poly, closest)) => {
                    assert_eq!((found.poly, found.point), (poly, closest.point));
                    assert_eq!(found.over_polygon, closest.over_polygon);
                    assert_eq!(found.distance_squared, distance3_sq(center, closest.point));
                    over += usize::from(closest.over_polygon);
                    beside += usize::from(!closest.over_polygon);
                }
                None => {
                    assert_eq!(found.poly, PolyRef::INVALID);
                    none += 1;
                }
            }
        }
    }
    assert!(
        over > 200 && beside > 200 && none > 50,
        "{over} {beside} {none}"
    );
}

#[test]
fn the_vertically_closest_floor_wins_under_and_over_it() {
    let plan = Plan {
        holes: 0.0,
        layers: 3,
        ..PLAIN
    };
    let mesh = build(&plan);
    let extents = DVec3::new(1.0, 30.0, 1.0);
    for (y, layer) in [(-9.0, 0), (2.4, 0), (2.6, 1), (7.4, 1), (7.6, 2), (20.0, 2)] {
        let center = DVec3::new(0.3, y, 13.3);
        let found = find_nearest_poly(&mesh, center, extents, &DefaultFilter).unwrap();
        let (tile, _) = mesh.resolve(found.poly).unwrap();
        assert_eq!(tile.data().layer, layer, "from height {y}");
        assert!(found.over_polygon);
        assert_eq!((found.point.x, found.point.z), (0.3, 13.3));
    }
}

#[test]
fn a_point_on_a_shared_corner_goes_to_the_lowest_tile_and_polygon() {
    let plan = Plan {
        holes: 0.0,
        ..PLAIN
    };
    let mesh = build(&plan);
    // The corner where the four tiles meet.
    let center = DVec3::new(4.0, 0.0, 20.0);
    let found = find_nearest_poly(&mesh, center, DVec3::ONE, &DefaultFilter).unwrap();
    let (tile, poly) = mesh.resolve(found.poly).unwrap();
    assert_eq!((tile.data().tile_x, tile.data().tile_z, poly), (0, 0, 35));
}

/// First detail (or fan) triangle that holds the point, all of them in order.
fn plain_height(tile: &Tile, poly: usize, x: f64, z: f64) -> f64 {
    let ring = tile.poly_ring(poly);
    let detail = usize::from(tile.data().detail_meshes[poly].triangle_count);
    let count = if detail > 0 { detail } else { ring.len() - 2 };
    let mut fallback = (f64::NEG_INFINITY, f64::NAN);
    for t in 0..count {
        let [a, b, c] = if detail > 0 {
            [0, 1, 2].map(|k| tile.detail_corner(poly, t, k))
        } else {
            [ring[0], ring[t + 1], ring[t + 2]]
        };
        let area = (b.x - a.x) * (c.z - a.z) - (b.z - a.z) * (c.x - a.x);
        let v = ((x - a.x) * (c.z - a.z) - (z - a.z) * (c.x - a.x)) / area;
        let w = ((b.x - a.x) * (z - a.z) - (b.z - a.z) * (x - a.x)) / area;
        let least = (1.0 - v - w).min(v).min(w);
        let height = a.y + v * (b.y - a.y) + w * (c.y - a.y);
        if least >= -1e-9 {
            return height;
        }
        if least > fallback.0 {
            fallback = (least, height);
        }
    }
    fallback.1
}

#[test]
fn heights_of_level_and_gridded_polygons_are_those_of_the_plain_scan() {
    let (mut gridded, mut plain, mut level) = (0, 0, 0);
    for seed in 0..20 {
        let style = if seed < 10 { WILD } else { PLAIN };
        let mesh = build(&Plan { seed, ..style });
        let mut rng = SplitMix64::new(seed);
        for poly in all_polys(&mesh) {
            let (tile, index) = mesh.resolve(poly).unwrap();
            let large = tile.detail_candidates(index, 0.0, 0.0).is_some();
            let (low, high) = (tile.bounds_min[index], tile.bounds_max[index]);
            for _ in 0..20 {
                let x = rng.range(low.x - 0.1, high.x + 0.1);
                let z = rng.range(low.z - 0.1, high.z + 0.1);
                let height = surface_height(tile, index, x, z);
                assert_eq!(height.to_bits(), plain_height(tile, index, x, z).to_bits());
                if tile.level_height[index].is_nan() {
                    gridded += usize::from(large);
                    plain += usize::from(!large);
                } else {
                    assert!(!large);
                    level += 1;
                }
            }
            for &corner in tile.poly_ring(index) {
                let height = surface_height(tile, index, corner.x, corner.z);
                assert_eq!(
                    height.to_bits(),
                    plain_height(tile, index, corner.x, corner.z).to_bits()
                );
                assert!((height - corner.y).abs() < 1e-6);
            }
        }
    }
    assert!(
        gridded > 5000 && plain > 5000 && level > 5000,
        "{gridded} {plain} {level}"
    );
}

#[test]
fn closest_points_are_on_the_polygon_and_no_corner_is_nearer() {
    for seed in 0..6 {
        let plan = Plan { seed, ..WILD };
        let mesh = build(&plan);
        let mut rng = SplitMix64::new(seed);
        for _ in 0..200 {
            let (poly, inside) = random_place(&mesh, &mut rng);
            let closest = closest_point_on_poly(&mesh, poly, inside + DVec3::Y).unwrap();
            assert!(closest.over_polygon);
            assert_eq!(closest.point, inside);
            let position = random_position(&plan, &mut rng);
            let closest = closest_point_on_poly(&mesh, poly, position).unwrap();
            let (tile, index) = mesh.resolve(poly).unwrap();
            for &corner in tile.poly_ring(index) {
                assert!(
                    distance_xz_sq(position, closest.point)
                        <= distance_xz_sq(position, corner) + 1e-12
                );
            }
        }
    }
}

#[test]
fn samples_within_the_distance_and_no_farther() {
    let mesh = common::picture(&["..", ".."]);
    let above = DVec3::new(0.5, 3.0, 0.5);
    let sample = |distance| sample_position(&mesh, above, distance, &DefaultFilter).unwrap();
    assert_eq!(sample(3.0).unwrap().point, DVec3::new(0.5, 0.0, 0.5));
    assert_eq!(sample(2.999), None);
    // The box reaches the corner of the floor, the ball does not.
    let corner = DVec3::new(-0.9, 0.0, -0.9);
    let sample = |distance| sample_position(&mesh, corner, distance, &DefaultFilter).unwrap();
    assert_eq!(sample(1.0), None);
    assert!(sample(1.3).is_some());
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(sample_position(&mesh, corner, bad, &DefaultFilter).is_err());
    }
}

//! Forged references, stale meshes and impossible numbers: statuses and errors, never a panic.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

mod common;

use common::{Plan, WILD, all_polys, build, random_place};
use proptest::prelude::*;
use throng_query::mesh::{
    AreaSearch, AreaStatus, DefaultFilter, FunnelScratch, MeshQuery, NodeModel, PathOptions,
    PathSearch, PathStatus, QueryDebug, QueryStatus, RaycastStatus, StraightPathPoint, WallSegment,
    closest_point_on_poly, connects, find_nearest_poly, find_straight_path, move_along_surface,
    raycast,
};
use throng_soa::DVec3;
use throng_soa::mesh::{PolyRef, TiledMesh};
use throng_soa::rng::SplitMix64;

const BAD: [f64; 6] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    2_097_152.0,
    -2_097_152.0,
    1e300,
];

/// A good point with one bad component, every way.
fn bad_points(good: DVec3) -> Vec<DVec3> {
    let mut out = Vec::new();
    for bad in BAD {
        for axis in 0..3 {
            let mut point = good;
            point[axis] = bad;
            out.push(point);
        }
    }
    out
}

#[test]
fn positions_outside_the_coordinate_rule_are_named_or_neutral() {
    let mesh = build(&WILD);
    let mut rng = SplitMix64::new(1);
    let (poly, good) = random_place(&mesh, &mut rng);
    let filter = &DefaultFilter;
    let mut query = MeshQuery::default();
    let mut search = PathSearch::new(NodeModel::Polygon, 100);
    let mut area = AreaSearch::new(100);
    let mut points = [StraightPathPoint::default(); 8];
    let mut walls = [WallSegment::default(); 8];
    let mut polys = [PolyRef::INVALID; 8];
    let options = PathOptions::default();
    for bad in bad_points(good) {
        let argument = |result: Result<(), throng_soa::ArgumentError>, name: &str| {
            let error = result.expect_err("refused");
            assert!(error.argument.starts_with(name), "{error}");
        };
        let extents = DVec3::ONE;
        argument(
            find_nearest_poly(&mesh, bad, extents, filter).map(|_| ()),
            "center",
        );
        argument(
            query.find_path(&mesh, bad, good, &options).map(|_| ()),
            "start",
        );
        argument(
            query.find_path(&mesh, good, bad, &options).map(|_| ()),
            "end",
        );
        argument(
            search
                .begin(&mesh, poly, poly, bad, good, filter)
                .map(|_| ()),
            "start",
        );
        argument(
            search
                .begin(&mesh, poly, poly, good, bad, filter)
                .map(|_| ()),
            "end",
        );
        argument(
            area.begin_circle(&mesh, poly, bad, 1.0, filter).map(|_| ()),
            "center",
        );
        argument(
            area.begin_neighbourhood(&mesh, poly, bad, 1.0, filter)
                .map(|_| ()),
            "center",
        );
        argument(
            area.begin_shape(&mesh, poly, &[good, bad, good], filter)
                .map(|_| ()),
            "points",
        );
        argument(
            area.distance_to_wall(&mesh, poly, bad, 1.0, filter)
                .map(|_| ()),
            "center",
        );
        argument(
            area.random_point_around(&mesh, &mut rng, poly, bad, 1.0, filter)
                .map(|_| ()),
            "center",
        );
        argument(
            query
                .find_straight_path(&mesh, bad, good, &[poly], &mut points, 8)
                .map(|_| ()),
            "start",
        );
        argument(
            query
                .raycast(&mesh, poly, good, bad, filter, &mut polys)
                .map(|_| ()),
            "end",
        );
        argument(
            query
                .move_along_surface(&mesh, poly, bad, good, filter, &mut polys)
                .map(|_| ()),
            "start",
        );
        argument(
            query
                .find_walls(&mesh, poly, bad, 1.0, filter, &mut walls)
                .map(|_| ()),
            "center",
        );
        assert_eq!(closest_point_on_poly(&mesh, poly, bad), None);
        for (start, end) in [(bad, good), (good, bad)] {
            let ray = raycast(&mesh, poly, start, end, filter, &mut polys);
            assert_eq!(
                (ray.status, ray.hit, ray.visited_count),
                (RaycastStatus::None, false, 0)
            );
            let moved = move_along_surface(&mesh, poly, start, end, filter, &mut polys);
            assert_eq!(moved.status, RaycastStatus::None);
            let mut scratch = FunnelScratch::new();
            let straight =
                find_straight_path(&mesh, start, end, &[poly], &mut scratch, &mut points, 8);
            assert_eq!((straight.status, straight.count), (QueryStatus::None, 0));
        }
        let found = area.find_walls(&mesh, poly, bad, 1.0, filter, &mut walls);
        assert_eq!((found.status, found.count), (AreaStatus::None, 0));
    }
}

#[test]
fn extents_radii_and_options_out_of_range_are_named() {
    let mesh = build(&WILD);
    let mut rng = SplitMix64::new(1);
    let (poly, good) = random_place(&mesh, &mut rng);
    let mut area = AreaSearch::new(100);
    for bad in [f64::NAN, f64::INFINITY, -1.0, -1e-300] {
        for axis in 0..3 {
            let mut extents = DVec3::ONE;
            extents[axis] = bad;
            assert!(find_nearest_poly(&mesh, good, extents, &DefaultFilter).is_err());
        }
        let error = area.begin_circle(&mesh, poly, good, bad, &DefaultFilter);
        assert_eq!(error.unwrap_err().argument, "radius");
    }
    assert!(
        area.begin_circle(&mesh, poly, good, 4_194_305.0, &DefaultFilter)
            .is_err()
    );
    assert!(
        area.begin_circle(&mesh, poly, good, 4_194_304.0, &DefaultFilter)
            .is_ok()
    );
    // A finite box of any size is fine.
    let whole = find_nearest_poly(&mesh, good, DVec3::splat(f64::MAX), &DefaultFilter).unwrap();
    assert!(whole.poly.is_valid());
    let mut query = MeshQuery::default();
    for options in [
        PathOptions {
            iterations_per_slice: 0,
            ..PathOptions::default()
        },
        PathOptions {
            max_corridor: 0,
            ..PathOptions::default()
        },
        PathOptions {
            half_extents: DVec3::new(-1.0, 0.0, 0.0),
            ..PathOptions::default()
        },
    ] {
        let error = query.find_path(&mesh, good, good, &options).unwrap_err();
        assert!(error.argument.starts_with("options."));
    }
}

/// Asks everything about a polygon reference.
fn ask_everything(mesh: &TiledMesh, poly: PolyRef, other: PolyRef, point: DVec3, to: DVec3) {
    let filter = &DefaultFilter;
    let known = mesh.resolve(poly).is_some();
    let mut polys = [PolyRef::INVALID; 16];
    assert_eq!(closest_point_on_poly(mesh, poly, point).is_some(), known);
    if !known {
        assert!(!connects(mesh, poly, other, filter) && !connects(mesh, other, poly, filter));
    }
    for model in [NodeModel::Polygon, NodeModel::Crossing] {
        let mut search = PathSearch::new(model, 500);
        for (a, b) in [(poly, other), (other, poly), (poly, poly)] {
            let outcome = search
                .find_path(mesh, a, b, point, to, filter, &mut polys)
                .unwrap();
            if mesh.resolve(a).is_none() {
                assert_eq!(outcome.status, QueryStatus::InvalidStartPoly);
            } else if mesh.resolve(b).is_none() {
                assert_eq!(outcome.status, QueryStatus::InvalidEndPoly);
            }
        }
    }
    let mut scratch = FunnelScratch::new();
    let mut points = [StraightPathPoint::default(); 8];
    for corridor in [&[poly][..], &[other, poly], &[poly, other, poly]] {
        let outcome = find_straight_path(
            mesh,
            point,
            to,
            corridor,
            &mut scratch,
            &mut points,
            usize::MAX,
        );
        if !known {
            assert_eq!(outcome.status, QueryStatus::InvalidCorridor);
        }
    }
    let ray = raycast(mesh, poly, point, to, filter, &mut polys);
    assert_eq!(ray.status == RaycastStatus::InvalidStartPoly, !known);
    let moved = move_along_surface(mesh, poly, point, to, filter, &mut polys);
    assert_eq!(moved.status == RaycastStatus::InvalidStartPoly, !known);
    let mut area = AreaSearch::new(500);
    let mut walls = [WallSegment::default(); 4];
    let found = area.find_walls(mesh, poly, point, 5.0, filter, &mut walls);
    assert_eq!(found.status == AreaStatus::InvalidStartPoly, !known);
    let mut rng = SplitMix64::new(0);
    let drawn = area
        .random_point_around(mesh, &mut rng, poly, point, 5.0, filter)
        .unwrap();
    assert!(known || drawn.is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn forged_references_never_panic(
        bits in any::<u64>(),
        salt in 0_u32..4,
        slot in 0_u32..14,
        poly in 0_u32..40,
        seed in 0_u64..4,
        x in -30.0..30.0_f64,
        z in -30.0..30.0_f64,
    ) {
        let mesh = build(&Plan { seed, tiles: (2, 1), ..WILD });
        let other = all_polys(&mesh)[0];
        let (point, to) = (DVec3::new(x, 0.0, z), DVec3::new(z, 1.0, x));
        ask_everything(&mesh, PolyRef::from_bits(bits), other, point, to);
        ask_everything(&mesh, PolyRef::from_parts(salt, slot, poly), other, point, to);
    }
}

#[test]
fn references_of_removed_and_replaced_tiles_are_stale() {
    let mut mesh = build(&WILD);
    let mut rng = SplitMix64::new(8);
    let polys = all_polys(&mesh);
    let tile = mesh.tile_ref(1).unwrap();
    let built = mesh.tile(1).unwrap().built().clone();
    mesh.remove_tile(tile).unwrap();
    let (live, point) = random_place(&mesh, &mut rng);
    for &poly in polys.iter().filter(|p| p.slot() == 1).take(5) {
        ask_everything(&mesh, poly, live, point, DVec3::ZERO);
    }
    mesh.add_tile(built).unwrap();
    for &poly in polys.iter().filter(|p| p.slot() == 1).take(5) {
        assert!(mesh.resolve(poly).is_none());
        ask_everything(&mesh, poly, live, point, DVec3::ZERO);
    }
}

#[test]
fn one_search_object_serves_meshes_of_different_size_in_turn() {
    let small = build(&Plan {
        tiles: (1, 1),
        layers: 1,
        links: 0,
        ..WILD
    });
    let large = build(&WILD);
    // The same edit count and slot count as `small`, more polygons.
    let dense = build(&Plan {
        tiles: (1, 1),
        layers: 1,
        links: 0,
        cells: 12,
        holes: 0.0,
        ..WILD
    });
    let mut rng = SplitMix64::new(2);
    let filter = &DefaultFilter;
    for model in [NodeModel::Polygon, NodeModel::Crossing] {
        let mut shared = PathSearch::new(model, 65_536);
        let mut area = AreaSearch::new(65_536);
        for round in 0..30 {
            let mesh = [&small, &dense, &large][round % 3];
            let (a, b) = (random_place(mesh, &mut rng), random_place(mesh, &mut rng));
            let mut fresh = PathSearch::new(model, 65_536);
            let mut out = [[PolyRef::INVALID; 400]; 2];
            let first = shared
                .find_path(mesh, a.0, b.0, a.1, b.1, filter, &mut out[0])
                .unwrap();
            let second = fresh
                .find_path(mesh, a.0, b.0, a.1, b.1, filter, &mut out[1])
                .unwrap();
            assert_eq!((first, &out[0]), (second, &out[1]));
            let mut walls = [[WallSegment::default(); 50]; 2];
            let mut fresh = AreaSearch::new(65_536);
            let first = area.find_walls(mesh, a.0, a.1, 6.0, filter, &mut walls[0]);
            let second = fresh.find_walls(mesh, a.0, a.1, 6.0, filter, &mut walls[1]);
            assert_eq!((first, &walls[0]), (second, &walls[1]));
        }
    }
}

#[test]
fn one_call_paths_report_every_outcome() {
    let mesh = common::picture(&[
        "....#...", //
        "....#...",
    ]);
    let mut query = MeshQuery::default();
    let options = PathOptions::default();
    let at = |x: f64| DVec3::new(x, 0.5, 0.5);
    let found = query.find_path(&mesh, at(0.5), at(3.5), &options).unwrap();
    assert_eq!(
        (found.status, found.detail),
        (PathStatus::Found, QueryStatus::Success)
    );
    assert_eq!(
        (found.length, found.cost, found.corridor.len()),
        (3.0, 3.0, 4)
    );
    assert_eq!(found.points[0].position, DVec3::new(0.5, 0.0, 0.5));
    let debug = QueryDebug::collect(&mesh, &query.search, &found);
    assert_eq!((debug.corridor.len(), debug.points.len()), (4, 2));
    assert_eq!(debug.expanded.poly[0], found.corridor[0]);
    let partial = query.find_path(&mesh, at(0.5), at(6.5), &options).unwrap();
    assert_eq!(partial.status, PathStatus::Partial);
    assert_eq!(partial.points[1].position, DVec3::new(4.0, 0.0, 0.5));
    let off = query
        .find_path(&mesh, at(-50.0), at(6.5), &options)
        .unwrap();
    assert_eq!(
        (off.status, off.detail),
        (PathStatus::StartInvalid, QueryStatus::NoStartNearby)
    );
    assert_eq!((off.length, off.cost), (0.0, f64::INFINITY));
    let off = query.find_path(&mesh, at(0.5), at(60.0), &options).unwrap();
    assert_eq!(
        (off.status, off.detail),
        (PathStatus::GoalInvalid, QueryStatus::NoEndNearby)
    );
    let cut = PathOptions {
        max_corridor: 2,
        ..PathOptions::default()
    };
    let cut = query.find_path(&mesh, at(0.5), at(3.5), &cut).unwrap();
    assert_eq!((cut.status, cut.corridor.len()), (PathStatus::Partial, 2));
    assert_eq!(cut.points[1].position, DVec3::new(2.0, 0.0, 0.5));
    let slices = PathOptions {
        iterations_per_slice: 1,
        ..PathOptions::default()
    };
    let stopped = query
        .find_path_while(&mesh, at(0.5), at(3.5), &slices, |expanded| expanded < 2)
        .unwrap();
    assert_eq!(stopped.status, PathStatus::InProgress);
    let whole = query.find_path(&mesh, at(0.5), at(3.5), &slices).unwrap();
    assert_eq!(whole, found);
}

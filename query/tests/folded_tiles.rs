//! What of a tile is stacked and what is folded, and tiles found by hand that hide it: the nearest wall of a
//! search that stops early is that of the whole circle.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

mod common;
#[path = "common/nearest.rs"]
mod nearest;

use nearest::{APART, Outline, compare, nearest_from, one_tile, tiles_of};
use throng_soa::DVec3;
use throng_soa::mesh::assemble::{LocalPolygons, from_local_polygons};
use throng_soa::mesh::{MeshParams, NavTile, TiledMesh};
use throng_soa::rng::SplitMix64;

#[test]
fn stairs_whose_half_turn_ends_where_they_began_are_folded() {
    let points = [
        [0.0, 0.0, 0.0],
        [100.0, 6.0, 0.0],
        [0.0, 5.0, 100.0],
        [-50.0, 4.0, 0.0],
        [0.0, 3.0, -50.0],
        [10.0, 2.0, 0.0],
        [0.0, 1.0, 10.0],
    ];
    let points = points.map(|[x, y, z]| [128.0 + x, y, 128.0 + z]);
    // The third has a straight corner at the vertex all wind around; the fourth lies over the first.
    let rings: [&[u16]; 4] = [&[0, 1, 2], &[0, 2, 3], &[3, 4, 5, 0], &[0, 5, 6]];
    let mesh = one_tile(DVec3::ZERO, 256.0, &points, &rings);
    let center = DVec3::new(139.0, 0.0, 133.0);
    assert_eq!(
        nearest_from(&mesh, 0, center, 20.0).distance,
        18.0_f64.sqrt()
    );
    // Once around and closed, such a corner folds nothing, whichever comes first.
    let points = [
        [4.0, 0.0, 4.0],
        [6.0, 0.0, 4.0],
        [4.0, 0.0, 6.0],
        [2.0, 0.0, 4.0],
        [4.0, 0.0, 2.0],
    ];
    let rings: [&[u16]; 3] = [&[0, 1, 2], &[0, 2, 3], &[3, 4, 1, 0]];
    for turned in 0..3 {
        let mut rings = rings;
        rings.rotate_left(turned);
        let mesh = one_tile(DVec3::ZERO, 8.0, &points, &rings);
        let tile = mesh.tile(0).unwrap();
        assert!((0..3).all(|poly| tile.stacked_with(poly) == Some(&[][..])));
    }
}

#[test]
fn a_folded_polygon_is_as_near_as_the_nearest_edge_to_it() {
    let points = [
        [4.0, 0.0, -4.5],
        [60_000.0, 0.0, 13.0],
        [4.0, 0.0, 30.0],
        [4.0, 0.0, 13.0],
        [-20.0, 0.0, 13.0],
        [3.0, 0.0, 13.0],
        [-20.0, 0.0, 30.0],
        [-20.0, 0.0, -20.0],
        [3.0, 0.0, -20.0],
        [4.0, 0.0, -20.0],
        [-20.0, -3.0, -40.0],
        [12.0, -3.0, -40.0],
        [6.0, -3.0, -24.0],
        [4.5, -3.0, 2.0],
        [4.5, -3.0, -2.0],
    ];
    // The first has a thin corner far away. From the third it is found over the second, by an edge that
    // is farther than the one between it and the fourth. The last lies below it and nothing else.
    let rings: [&[u16]; 6] = [
        &[0, 1, 2, 3],
        &[4, 5, 3, 2, 6],
        &[5, 4, 7, 8],
        &[8, 9, 0, 3, 5],
        &[7, 10, 11, 12, 8],
        &[13, 14, 12, 11],
    ];
    let points = points.map(|[x, y, z]| [64.0 + x, y, 64.0 + z]);
    let mesh = one_tile(DVec3::ZERO, 131_072.0, &points, &rings);
    let tile = mesh.tile(0).unwrap();
    assert!((0..5).all(|poly| tile.stacked_with(poly).is_none() == (poly == 0)));
    let center = DVec3::new(64.0, 0.0, 64.0);
    assert_eq!(nearest_from(&mesh, 2, center, 30.0).distance, 4.5);
}

#[test]
fn an_edge_that_rounding_turns_parts_nothing() {
    // Between two positions of the world.
    let step = 1.0 / (1_u64 << 32) as f64;
    let far = f64::from(1 << 20);
    // So short that it goes down instead of along.
    let points = [
        [0.4 * step, 0.0, 0.501 * step],
        [0.45 * step, 0.0, 0.4995 * step],
        [30.0, 0.0, 1.5],
        [30.0, 0.0, 20.0],
        [-30.0, 0.0, 20.0],
        [-30.0, 0.0, 1.5],
        [-50.0, 0.0, 20.0],
        [-50.0, 0.0, 1.5],
        [-30.0, 0.0, 24.0],
        [-30.0, 0.0, 30.0],
        [-50.0, 0.0, 30.0],
        [-6.0, 3.0, 8.0],
        [-6.0, 3.0, 16.0],
    ];
    let rings: [&[u16]; 4] = [
        &[0, 1, 2, 3, 4, 5],
        &[5, 4, 6, 7],
        &[6, 4, 8, 9, 10],
        &[9, 8, 11, 12],
    ];
    let mesh = one_tile(DVec3::new(far, 0.0, far), 64.0, &points, &rings);
    let tile = mesh.tile(0).unwrap();
    assert_eq!(tile.stacked_with(0), Some(&[3][..]));
    assert_eq!(tile.stacked_with(3), Some(&[0][..]));
    let center = DVec3::new(far + 2.0, 0.0, far + 10.0);
    assert_eq!(nearest_from(&mesh, 0, center, 40.0).distance, 8.0);
    // Long enough, but its line goes over by a hundredth at the other end of a long polygon.
    let points = [
        [0.0, 0.0, 0.501 * step],
        [2e-5, 0.0, 0.4995 * step],
        [1000.0, 0.0, 1e-3],
        [1000.0, 0.0, 20.0],
        [-1000.0, 0.0, 20.0],
        [-1000.0, 0.0, 1e-3],
        [-1020.0, 0.0, 20.0],
        [-1020.0, 0.0, -30.0],
        [-1000.0, 0.0, -30.0],
        [-1000.0, 0.0, -6.0],
        [-910.0, 0.0, -30.0],
        [-910.0, 0.0, -5.0],
        [-990.0, 0.0, -5.0],
        [-910.0, 0.0, 0.009],
        [-990.0, 0.0, 0.009],
    ];
    let rings: [&[u16]; 4] = [
        &[0, 1, 2, 3, 4, 5],
        &[4, 6, 7, 8, 9, 5],
        &[8, 10, 11, 12, 9],
        &[12, 11, 13, 14],
    ];
    let mesh = one_tile(DVec3::new(far, 0.0, far), 4096.0, &points, &rings);
    let tile = mesh.tile(0).unwrap();
    assert_eq!(tile.stacked_with(0), Some(&[3][..]));
    let center = DVec3::new(far - 950.0, 0.0, far + 5.0);
    assert!(nearest_from(&mesh, 0, center, 80.0).distance < 4.992);
}

#[test]
fn both_sides_of_a_thin_corner_are_folded() {
    // A wedge between two polygons, thin and a thousandth long: beyond its end their walls are one line in
    // the world, and the wall of the first comes first.
    let (step, far) = (1.0 / (1_u64 << 56) as f64, f64::from(1 << 20));
    let (middle, end) = ((1_u64 << 23) as f64 * step, 1.0 / 1024.0);
    let points = [
        [0.0, 0.0, middle],
        [end / 4096.0, 0.0, middle + step],
        [end, 0.0, middle + step],
        [end, 0.0, middle + 4096.0 * step],
        [1.75, 0.0, middle + step],
        [1.75, 0.0, -20.0],
        [-10.0, 0.0, -20.0],
        [1.75, 0.0, middle + 4096.0 * 1792.0 * step],
        [1.75, 0.0, 20.0],
        [-10.0, 0.0, 20.0],
    ];
    let rings: [&[u16]; 3] = [&[0, 1, 3, 7, 8, 9], &[0, 2, 3, 1], &[4, 2, 0, 6, 5]];
    let mesh = one_tile(DVec3::new(far, 0.0, far), 64.0, &points, &rings);
    let tile = mesh.tile(0).unwrap();
    assert!((0..3).all(|poly| tile.stacked_with(poly).is_none()));
    let center = DVec3::new(far + 1.0, 0.0, far - 0.5);
    assert!(nearest_from(&mesh, 2, center, 3.0).distance > 0.5);
}

#[test]
fn a_fan_that_turns_onto_itself_at_a_straight_corner_is_folded() {
    let points = [
        [0.0, 0.0],
        [8.0, 0.0],
        [0.0, 8.0],
        [-8.0, 0.0],
        [0.0, -8.0],
        [9.0, 0.0],
        [6.0, 5.0],
    ];
    let rings: [&[u16]; 4] = [&[0, 1, 2], &[0, 2, 3], &[3, 4, 5, 0], &[0, 5, 6]];
    let points = points.map(|[x, z]| [32.0 + x, 0.0, 32.0 + z]);
    let mesh = one_tile(DVec3::ZERO, 64.0, &points, &rings);
    let tile = mesh.tile(0).unwrap();
    assert!((0..4).all(|poly| tile.stacked_with(poly).is_none()));
    let center = DVec3::new(35.0, 0.0, 34.4);
    let hit = nearest_from(&mesh, 0, center, 10.0);
    assert_eq!((hit.poly, hit.edge), (mesh.poly_ref(0, 3), 2));
    assert!(hit.distance < 0.08);
}

#[test]
fn a_folded_polygon_is_in_doubt_from_its_nearest_edge_on() {
    // Found across an edge that is far, met by the disc across one that is near.
    let points = [
        [2.3, 1.9],
        [4.0, 1.9],
        [8.0, 3.0],
        [8.0, 6.0],
        [4.0, 4.3],
        [0.6, 1.95],
        [5.0, 8.0],
        [0.5, 5.0],
        [-4.0, 2.0],
        [-4.0, 1.2],
        [-4.0, -1.5],
        [4.0, -1.5],
        [-4.0, -2.5],
        [4.0, -2.5],
        [12.0, 9.0],
        [13.0, 4.0],
        [1.2, 2.1],
    ];
    let rings: [&[u16]; 10] = [
        &[10, 11, 1, 0, 9],
        &[12, 13, 11, 10],
        &[0, 1, 2, 3, 4, 5],
        &[9, 0, 5, 8],
        &[5, 7, 8],
        &[5, 4, 7],
        &[4, 3, 6],
        &[6, 3, 14],
        &[14, 3, 15],
        &[15, 3, 16],
    ];
    let points = points.map(|[x, z]| [32.0 + x, 0.0, 32.0 + z]);
    let mesh = one_tile(DVec3::ZERO, 64.0, &points, &rings);
    let hit = nearest_from(&mesh, 0, DVec3::new(32.0, 0.0, 32.0), 20.0);
    assert_eq!(hit.poly, mesh.poly_ref(0, 9));
}

#[test]
fn far_out_where_edges_round_to_nothing_polygons_are_stacked_as_near_the_origin() {
    let points = [
        [0.0, 1e-30],
        [3e-10, 1.21e-10],
        [10.0, 4.1],
        [10.0, 20.0],
        [0.0, 20.0],
        [20.0, 0.0],
        [21.0, 0.0],
        [6.0, 3.5],
    ];
    for far in [0.0, 4096.0, 1_572_864.0] {
        let points = points.map(|[x, z]| [x, 0.0, z]);
        let rings: [&[u16]; 2] = [&[0, 1, 2, 3, 4], &[5, 6, 7]];
        let mesh = one_tile(DVec3::new(far, 0.0, far), 64.0, &points, &rings);
        let tile = mesh.tile(0).unwrap();
        let stacked = [0, 1].map(|poly| tile.stacked_with(poly).map(<[u32]>::to_vec));
        assert_eq!(stacked, [Some(vec![1]), Some(vec![0])], "origin {far}");
    }
}

#[test]
fn a_start_that_rounds_to_a_point_or_a_line_holds_nothing() {
    let (far, e) = (f64::from(1 << 20), 2e-11);
    let around = [
        [14.0, 0.0, -3.0],
        [14.0, 0.0, 3.0],
        [20.0, 0.0, 3.0],
        [20.0, 0.0, 20.0],
        [14.0, 0.0, 20.0],
        [-8.0, 0.0, 20.0],
    ];
    let rings: [&[u16]; 4] = [
        &[0, 1, 2, 3],
        &[1, 4, 5, 2],
        &[5, 4, 6, 7, 8],
        &[5, 8, 9, 10, 11],
    ];
    // A square, and a strip in line with the centre; from both a way leads round to walls near it.
    for (left, right, low, z, distance) in [(e, 2.0 * e, 3.0, 2.5, 0.5), (1.0, 10.0, 1.0, 0.0, 1.0)]
    {
        let start = [
            [left, 0.0, e],
            [right, 0.0, e],
            [right, 0.0, 2.0 * e],
            [left, 0.0, 2.0 * e],
        ];
        let end = [[-8.0, 0.0, low], [-4.0, 0.0, low]];
        let points = [&start[..], &around, &end].concat();
        let mesh = one_tile(DVec3::new(far, 0.0, far), 64.0, &points, &rings);
        let center = DVec3::new(far - 6.0, 0.0, far + z);
        assert_eq!(nearest_from(&mesh, 0, center, 40.0).distance, distance);
    }
}

#[test]
fn a_centre_beyond_a_thin_corner_is_not_in_it() {
    let thin = 1.01e-3;
    let points = [
        [0.0, 0.0, 0.0],
        [-2e-4, 0.0, 2e-4 * thin],
        [-10.0, 0.0, 10.0 * thin],
        [-10.0, 0.0, 0.0],
        [10.0, 0.0, 2e-4 * thin + 10.0 * 2e-4],
        [10.0, 0.0, 5.0],
        [-10.0, 0.0, 5.0],
    ];
    let points = points.map(|[x, y, z]| [x, y, z + 1e-9]);
    let mesh = one_tile(
        DVec3::ZERO,
        64.0,
        &points,
        &[&[0, 1, 2, 3], &[1, 4, 5, 6, 2]],
    );
    let hit = nearest_from(&mesh, 0, DVec3::new(1e-6, 0.0, 5e-10), 5.0);
    assert_eq!(hit.poly, mesh.poly_ref(0, 1));
}

#[test]
fn tiles_smaller_than_anything_are_searched() {
    let side = f64::from(1e-20_f32);
    let points = [[0.0, 0.0, 0.0], [side, 0.0, 0.0], [0.0, 0.0, side]];
    let mesh = one_tile(DVec3::ZERO, side, &points, &[&[0, 1, 2]]);
    for radius in [5.0, 4_194_304.0] {
        assert!(nearest_from(&mesh, 0, DVec3::ZERO, radius).found);
    }
}

/// A fan of triangles around a vertex: `count` of them, `per_turn` to a full turn, rising.
fn spiral(count: usize, per_turn: usize, hand: f64) -> TiledMesh {
    let params = MeshParams {
        origin: DVec3::ZERO,
        tile_size: 64.0,
        ..common::params()
    };
    // Points of a circle by rotating one step again and again; a half turn is as good as exact.
    let (mut x, mut z) = (2.0_f64, 0.0_f64);
    let half = per_turn as f64 / 2.0;
    let step = hand * std::f64::consts::PI / half;
    let (sin, cos) = (step - step * step * step / 6.0, 1.0 - step * step / 2.0);
    let length = (sin * sin + cos * cos).sqrt();
    let (sin, cos) = (sin / length, cos / length);
    let mut polygons = LocalPolygons {
        vertices: vec![[32.0, 0.0, 32.0]],
        ..LocalPolygons::default()
    };
    for k in 0..=count {
        let grown = 1.0 + 0.05 * k as f64;
        let at = [32.0 + x * grown, 0.4 * k as f64, 32.0 + z * grown];
        polygons.vertices.push(at.map(|value| value as f32));
        (x, z) = (x * cos - z * sin, x * sin + z * cos);
    }
    for k in 0..count as u16 {
        let ring = if hand > 0.0 {
            [0, k + 1, k + 2]
        } else {
            [0, k + 2, k + 1]
        };
        polygons.poly_vertex_counts.push(3);
        polygons.poly_indices.extend(ring);
        polygons.areas.push(0);
        polygons.flags.push(1);
    }
    let data = from_local_polygons(polygons, &params).unwrap();
    let mut mesh = TiledMesh::new(params).unwrap();
    mesh.add_tile(NavTile::create(data, &params).unwrap())
        .unwrap();
    mesh
}

#[test]
fn stairs_that_wind_around_a_vertex_are_folded_when_they_come_round() {
    let mut found = 0;
    for hand in [1.0, -1.0] {
        for count in 1..30 {
            let mesh = spiral(count, 12, hand);
            let tile = mesh.tile(0).unwrap();
            let folded = (0..count)
                .filter(|&poly| tile.stacked_with(poly).is_none())
                .count();
            // A little less than twelve steps to the turn: fewer leave a gap, more lie over the first.
            let expected = if count < 12 { 0 } else { count };
            assert_eq!(folded, expected, "{count} steps");
            found += compare(&mesh, &mut SplitMix64::new(count as u64), 300, 6.0);
        }
    }
    assert!(found > 20_000, "{found}");
}

/// Two quads on the tile's border, one behind the other in Z with `gap` between; and whether they are
/// stacked.
fn across_a_gap(gap: f64) -> (TiledMesh, bool) {
    let far = 2.0 + gap;
    let quad = |low: f64| [[0.0, low], [3.0, low], [3.0, low + 1.0], [0.0, low + 1.0]];
    let points: Vec<_> = [quad(1.0), quad(far)]
        .concat()
        .into_iter()
        .map(|[x, z]| [x, 0.0, z])
        .collect();
    let mesh = one_tile(DVec3::ZERO, 8.0, &points, &[&[0, 1, 2, 3], &[4, 5, 6, 7]]);
    let tile = mesh.tile(0).unwrap();
    let sees = tile.stacked_with(0) == Some(&[1][..]);
    assert_eq!(sees, tile.stacked_with(1) == Some(&[0][..]));
    (mesh, sees)
}

#[test]
fn polygons_are_stacked_up_to_the_distance_where_they_are_apart() {
    let mut found = 0;
    for (gap, expected) in [
        (-0.5, true),
        (0.0, true),
        (0.9 * APART, true),
        (1.1 * APART, false),
        (1.0, false),
    ] {
        let (mesh, sees) = across_a_gap(gap);
        assert_eq!(sees, expected, "gap {gap}");
        found += compare(&mesh, &mut SplitMix64::new(1), 400, 3.0);
    }
    assert!(found > 2000, "{found}");
}

#[test]
fn islands_that_cannot_be_reached_are_not_stacked() {
    // A roof over a floor, neither of them on the border of the tile: no way leads from one to the other.
    let floor: Outline<'_> = &[[1.0, 1.0], [7.0, 1.0], [7.0, 7.0], [1.0, 7.0]];
    let roof: Outline<'_> = &[[3.0, 3.0], [5.0, 3.0], [5.0, 5.0], [3.0, 5.0]];
    let to_border: Outline<'_> = &[[0.0, 1.0], [1.0, 1.0], [1.0, 7.0], [0.0, 7.0]];
    let mesh = tiles_of(&[(0, 0, &[floor, roof]), (2, 0, &[floor, roof, to_border])]);
    for slot in 0..2 {
        let tile = mesh.tile(slot).unwrap();
        for poly in 0..2 {
            assert_eq!(tile.stacked_with(poly), Some(&[][..]));
        }
    }
    // Where both lead to the border, there may be one.
    let wide: Outline<'_> = &[[0.0, 3.0], [5.0, 3.0], [5.0, 5.0], [0.0, 5.0]];
    let mesh = tiles_of(&[(0, 0, &[floor, wide, to_border])]);
    assert_eq!(mesh.tile(0).unwrap().stacked_with(0), Some(&[1][..]));
    let found = compare(&mesh, &mut SplitMix64::new(2), 1500, 5.0);
    assert!(found > 1500, "{found}");
}

/// One triangle, with a corner of this sine.
fn triangle(sine: f64) -> TiledMesh {
    let points = [
        [1.0, 0.0, 1.0],
        [5.0, 0.0, 1.0],
        [5.0, 0.0, 1.0 + 4.0 * sine],
    ];
    one_tile(DVec3::ZERO, 8.0, &points, &[&[0, 1, 2]])
}

#[test]
fn thin_corners_fold_a_polygon() {
    let stacked = |sine| {
        triangle(sine)
            .tile(0)
            .unwrap()
            .stacked_with(0)
            .map(<[u32]>::len)
    };
    assert_eq!(stacked(0.002), Some(0));
    assert_eq!(stacked(0.0005), None);
    // In a fan, all of it is folded.
    let right: Outline<'_> = &[[4.0, 4.0], [6.0, 4.0], [4.0, 6.0]];
    let thin: Outline<'_> = &[[4.0, 4.0], [4.0, 6.0], [3.999, 6.0]];
    let left: Outline<'_> = &[[4.0, 4.0], [3.999, 6.0], [2.0, 4.0]];
    let mesh = tiles_of(&[(0, 0, &[right, thin, left])]);
    let tile = mesh.tile(0).unwrap();
    let folded = [0, 1, 2].map(|poly| tile.stacked_with(poly).is_none());
    assert_eq!(folded, [true; 3]);
}

#[test]
fn a_fan_leaves_a_gap_or_is_folded() {
    let folded = |gap: f64| {
        let around = [
            [2.0, 0.0],
            [1.5, 1.5],
            [0.0, 2.0],
            [-1.5, 1.5],
            [-2.0, 0.0],
            [-1.5, -1.5],
            [0.0, -2.0],
            [1.5, -1.5],
            [2.0, -2.0 * gap],
        ];
        let around = around.map(|[x, z]| [4.0 + x, 0.0, 4.0 + z]);
        let points: Vec<_> = [[4.0, 0.0, 4.0]].into_iter().chain(around).collect();
        let rings: Vec<[u16; 3]> = (0..8).map(|k| [0, k + 1, k + 2]).collect();
        let rings: Vec<&[u16]> = rings.iter().map(|ring| &ring[..]).collect();
        let mesh = one_tile(DVec3::ZERO, 8.0, &points, &rings);
        let tile = mesh.tile(0).unwrap();
        let folded: Vec<bool> = (0..8)
            .map(|poly| tile.stacked_with(poly).is_none())
            .collect();
        assert!(folded.iter().all(|&each| each == folded[0]), "{folded:?}");
        folded[0]
    };
    assert!(!folded(0.002) && folded(0.0005) && folded(1e-6));
}

#[test]
fn heaps_of_polygons_are_folded() {
    // All over each other and on the border: each is stacked with all others.
    let count = 20_000_usize;
    let params = MeshParams {
        origin: DVec3::ZERO,
        ..common::params()
    };
    let mut polygons = LocalPolygons::default();
    for k in 0..count {
        let x = 1.0 + k as f32 / 1e5;
        let first = polygons.vertices.len() as u16;
        let ring = [[0.0, 0.0, 1.0], [x, 0.0, 1.5], [0.0, 0.0, 2.0]];
        polygons.vertices.extend(ring);
        polygons.poly_indices.extend([first, first + 1, first + 2]);
        polygons.poly_vertex_counts.push(3);
        polygons.areas.push(0);
        polygons.flags.push(1);
    }
    let data = from_local_polygons(polygons, &params).unwrap();
    let tile = NavTile::create(data, &params).unwrap();
    for poly in 0..count {
        assert_eq!(tile.stacked_with(poly), None);
    }
    assert_eq!(tile.stacked_with(count), None);
}

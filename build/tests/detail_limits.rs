//! The numbers that end height detail: 4096 steps of an edge, 255 vertices of a polygon.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod voxel_support;

use throng_build::voxel::coordinates::TileCoordinates;
use throng_build::voxel::detail::{DetailScratch, DetailSet, DetailSettings, build_detail};
use throng_build::voxel::polygons::PolygonSet;
use throng_soa::rng::SplitMix64;
use voxel_support::field;

const CELL_HEIGHT: f64 = 0.2;
/// The row of every corner.
const LEVEL: i32 = 100;

/// One polygon with its corners at [`LEVEL`], counter-clockwise.
fn polygon(corners: &[(i32, i32)]) -> PolygonSet {
    PolygonSet {
        vertices: corners.iter().map(|&(x, z)| [x, LEVEL, z]).collect(),
        first: vec![0, corners.len() as u32],
        indices: (0..corners.len() as u32).collect(),
        region: vec![1],
        area: vec![63],
        ..PolygonSet::default()
    }
}

/// The detail of a polygon over a field whose rows are `row(x, z)`.
fn detail(
    corners: &[(i32, i32)],
    sample_distance: f64,
    row: impl Fn(u32, u32) -> i32,
) -> DetailSet {
    let width = corners.iter().map(|c| c.0).max().unwrap() as u32;
    let depth = corners.iter().map(|c| c.1).max().unwrap() as u32;
    let mut columns = Vec::new();
    for z in 0..depth {
        for x in 0..width {
            columns.push(vec![(row(x, z) as u16, 63)]);
        }
    }
    let mut field = field(width, depth, &columns);
    field.spans.region.fill(1);
    let cells = width.max(depth);
    let map = TileCoordinates::new(cells, 0, 0.25, f64::from(cells) * 0.25);
    let settings = DetailSettings {
        sample_distance,
        max_error: 0.1,
        cell_height: CELL_HEIGHT,
        walkable_climb: 20,
    };
    let mut out = DetailSet::default();
    build_detail(
        &polygon(corners),
        Some(&field.spans),
        &settings,
        &map,
        0,
        &mut DetailScratch::default(),
        &mut out,
    );
    assert_eq!(out.first_vertex, [0, out.vertices.len() as u32]);
    assert_eq!(out.first_triangle, [0, out.triangles.len() as u32]);
    out
}

/// The area its triangles cover is the polygon's: nothing was cut off.
fn assert_covers(detail: &DetailSet, corners: &[(i32, i32)]) {
    let mut points: Vec<[f64; 2]> = corners
        .iter()
        .map(|&(x, z)| [f64::from(x) * 0.25, f64::from(z) * 0.25])
        .collect();
    let extra = detail.vertices.iter();
    points.extend(extra.map(|v| [f64::from(v[0]), f64::from(v[2])]));
    let area = |a: [f64; 2], b: [f64; 2], c: [f64; 2]| {
        0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
    };
    let outline: f64 = (2..corners.len())
        .map(|i| area(points[0], points[i - 1], points[i]))
        .sum();
    let covered: f64 = detail
        .triangles
        .iter()
        .map(|t| {
            let [a, b, c] = [t[0], t[1], t[2]].map(|i| points[usize::from(i)]);
            let area = area(a, b, c);
            assert!(area >= 0.0);
            area
        })
        .sum();
    assert!(
        (covered - outline).abs() < 1e-4 * outline,
        "{covered} {outline}"
    );
}

/// A strip one cell wide has no samples inside, so that all extra vertices are edge points.
fn strip(length: i32) -> [(i32, i32); 4] {
    [(0, 0), (length, 0), (length, 1), (0, 1)]
}

#[test]
fn an_edge_of_more_than_4096_steps_gets_no_points() {
    let bump = |x: u32, _: u32| LEVEL + if x / 100 == 20 { 10 } else { 0 };
    // A step a cell, and a step every one and a half.
    for (sample_distance, length) in [(1.0, 4096), (1.5, 6144)] {
        let corners = strip(length);
        let long = detail(&corners, sample_distance, bump);
        // Up, down, and the same on the other side.
        assert_eq!(long.vertices.len(), 8, "{:?}", long.vertices);
        assert_covers(&long, &corners);
        for longer in [length + 1, length + 300] {
            let corners = strip(longer);
            let none = detail(&corners, sample_distance, bump);
            assert!(none.vertices.is_empty(), "{:?}", none.vertices);
            assert_covers(&none, &corners);
        }
    }
    // An edge counts by itself: those that are short enough keep their points.
    let corners = [(0, 0), (4097, 0), (4096, 1), (0, 1)];
    let one_side = detail(&corners, 1.0, bump);
    assert_eq!(one_side.vertices.len(), 4);
    assert!(one_side.vertices.iter().all(|v| v[2] == 0.25));
}

/// A strip whose long edges are zigzags: every one of their `bends` inner points is kept.
fn zigzag(corners: &[(i32, i32)], bends: i32) -> DetailSet {
    let low = corners.iter().map(|c| c.0).min().unwrap();
    // The long edges end one cell in from the point of the pentagon.
    let start = if corners.len() == 5 { low + 1 } else { low };
    let length = corners.iter().map(|c| c.0).max().unwrap() - start;
    let steps = bends + 1;
    assert_eq!((f64::from(length) / 2.0).ceil() as i32, steps);
    let odd = |x: u32| {
        // The step whose point lies in the cell, and never on its border.
        (1..steps).any(|k| k % 2 == 1 && start + k * length / steps == x as i32)
    };
    detail(corners, 2.0, |x, _| LEVEL + if odd(x) { 10 } else { 0 })
}

#[test]
fn edge_points_are_dropped_beyond_255_vertices() {
    // Corners and edge points: 254, 255, 256 and 257.
    for (corners, bends, kept) in [
        (4, 125, true),
        (5, 125, true),
        (4, 126, false),
        (5, 126, false),
    ] {
        // An odd length, so that no point lies on a cell's border.
        let length = 2 * bends + 1;
        let outline = match corners {
            4 => strip(length).to_vec(),
            _ => {
                let end = length + 1;
                vec![(0, 1), (1, 0), (end, 0), (end, 2), (1, 2)]
            }
        };
        let detail = zigzag(&outline, bends);
        let expected = if kept { 2 * bends as usize } else { 0 };
        assert_eq!(detail.vertices.len(), expected, "{corners} corners");
        assert_covers(&detail, &outline);
    }
}

#[test]
fn samples_are_inserted_up_to_255_vertices() {
    let corners = [(0, 0), (40, 0), (40, 40), (0, 40)];
    // Level along the edges, rough inside.
    let rough = |seed: u64, extent: u32| {
        let mut rng = SplitMix64::new(seed);
        let rows: Vec<i32> = (0..1600).map(|_| rng.next_below(15) as i32).collect();
        move |x: u32, z: u32| {
            let inside = x.min(z) >= 2 && x.max(z) < extent;
            LEVEL
                + if inside {
                    rows[(z * 40 + x) as usize]
                } else {
                    0
                }
        }
    };
    let full = detail(&corners, 1.0, rough(1, 38));
    assert_eq!(full.vertices.len(), 255 - 4);
    assert_covers(&full, &corners);
    // Less to show, fewer vertices.
    let few = detail(&corners, 1.0, rough(1, 8));
    assert!(
        (20..200).contains(&few.vertices.len()),
        "{}",
        few.vertices.len()
    );
    assert_covers(&few, &corners);
}

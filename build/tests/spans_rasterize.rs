//! Rasterization against clipping every triangle to every cell on its own, and closed solids.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use throng_build::input::VoxelChunk;
use throng_build::voxel::frame::HeightfieldFrame;
use throng_build::voxel::rasterize::{classify_triangles, rasterize};
use throng_build::voxel::spans::{SpanScratch, SpanSettings, build_open_spans, finish_open_spans};
use throng_soa::rng::SplitMix64;
use throng_soa::spans::{OpenSpans, SolidSpans, SpanColumns, SpanGraph};
use throng_soa::world::DVec3;

const WIDTH: u32 = 12;
const ROWS: u32 = 40;
const DEPTH: u32 = 10;

fn unit_frame() -> HeightfieldFrame {
    HeightfieldFrame {
        origin: DVec3::ZERO,
        cell_size: 1.0,
        cell_height: 1.0,
        width: WIDTH,
        depth: DEPTH,
        rows: ROWS,
    }
}

/// Keeps the part of a polygon with `sign * (p[axis] - plane) <= 0`, in doubles.
fn clip(polygon: &[[f64; 3]], axis: usize, plane: f64, sign: f64) -> Vec<[f64; 3]> {
    let mut out = Vec::new();
    for (i, &p) in polygon.iter().enumerate() {
        let q = polygon[(i + 1) % polygon.len()];
        let (dp, dq) = (sign * (p[axis] - plane), sign * (q[axis] - plane));
        if dp <= 0.0 {
            out.push(p);
        }
        if (dp < 0.0) != (dq < 0.0) && dp != 0.0 && dq != 0.0 {
            let t = dp / (dp - dq);
            let mut cut = [0.0; 3];
            for k in 0..3 {
                cut[k] = p[k] + (q[k] - p[k]) * t;
            }
            cut[axis] = plane;
            out.push(cut);
        }
    }
    out
}

/// The part of a triangle over one cell grown by `slack` on every side.
fn clip_to_cell(triangle: &[[f64; 3]], x: u32, z: u32, slack: f64) -> Vec<[f64; 3]> {
    let mut piece = triangle.to_vec();
    for (axis, plane, sign) in [
        (0, f64::from(x) - slack, -1.0),
        (0, f64::from(x + 1) + slack, 1.0),
        (2, f64::from(z) - slack, -1.0),
        (2, f64::from(z + 1) + slack, 1.0),
    ] {
        if !piece.is_empty() {
            piece = clip(&piece, axis, plane, sign);
        }
    }
    piece
}

fn area_above(polygon: &[[f64; 3]]) -> f64 {
    let mut sum = 0.0;
    for i in 0..polygon.len() {
        let (p, q) = (polygon[i], polygon[(i + 1) % polygon.len()]);
        sum += p[0] * q[2] - p[2] * q[0];
    }
    (sum / 2.0).abs()
}

/// Solid spans of one triangle on a fresh grid.
fn rasterized(triangle: [[f64; 3]; 3]) -> SolidSpans {
    let vertices = triangle.map(DVec3::from_array);
    let mut columns = SpanColumns::default();
    columns.reset(WIDTH, DEPTH);
    rasterize(
        &unit_frame(),
        &vertices,
        &[[0, 1, 2]],
        &[1],
        0,
        &mut columns,
    )
    .unwrap();
    let mut solid = SolidSpans::default();
    columns.pack(&mut solid);
    solid
}

fn compare_with_direct_clipping(triangle: [[f64; 3]; 3]) -> usize {
    let solid = rasterized(triangle);
    let mut compared = 0;
    for z in 0..DEPTH {
        for x in 0..WIDTH {
            let piece = clip_to_cell(&triangle, x, z, 0.0);
            let area = area_above(&piece);
            // An edge through a cell corner may round to either side of it.
            if area == 0.0 && area_above(&clip_to_cell(&triangle, x, z, 1e-4)) > 0.0 {
                continue;
            }
            let low = piece.iter().map(|p| p[1]).fold(f64::INFINITY, f64::min);
            let high = piece.iter().map(|p| p[1]).fold(f64::NEG_INFINITY, f64::max);
            let spans = solid.cell_range((x + z * WIDTH) as usize);
            // Rounding may decide a piece of next to no area and a height next to a row boundary.
            let near = |value: f64| (value - value.round()).abs() < 1e-3 && low != high;
            if (area > 0.0 && area < 1e-4) || near(low) || near(high) {
                continue;
            }
            compared += 1;
            if area == 0.0 {
                assert!(spans.is_empty(), "{triangle:?} entered ({x}, {z})");
                continue;
            }
            let (mut min, mut max) = (low.floor(), high.ceil());
            if min == max {
                let (a, b, c) = (triangle[0], triangle[1], triangle[2]);
                let up = (b[2] - a[2]) * (c[0] - a[0]) - (b[0] - a[0]) * (c[2] - a[2]) > 0.0;
                if up { min -= 1.0 } else { max += 1.0 }
            }
            let expected = (max > 0.0 && min < f64::from(ROWS))
                .then(|| (min.max(0.0) as u16, max.min(f64::from(ROWS)) as u16));
            let found = spans.clone().map(|s| (solid.min[s], solid.max[s])).next();
            assert_eq!(found, expected, "{triangle:?} in ({x}, {z})");
            assert!(spans.len() <= 1);
        }
    }
    compared
}

#[test]
fn random_triangles_equal_direct_clipping_per_cell() {
    let mut rng = SplitMix64::new(11);
    let mut compared = 0;
    for round in 0..4000 {
        // Coordinates on eighths land on cell corners and edges often, and are exact in f32.
        let mut point = |spread: f64| {
            let mut axis = |low: f64, high: f64| (rng.range(low, high) * spread).round() / spread;
            [axis(-4.0, 16.0), axis(-3.0, 44.0), axis(-4.0, 14.0)]
        };
        let spread = [1.0, 2.0, 8.0, 64.0][round % 4];
        let mut triangle = [point(spread), point(spread), point(spread)];
        match round % 3 {
            // Level, often exactly on a row boundary.
            0 => {
                triangle[1][1] = triangle[0][1];
                triangle[2][1] = triangle[0][1];
            }
            // Small, within a few cells.
            1 => {
                let first = triangle[0];
                for point in &mut triangle[1..] {
                    for (value, first) in point.iter_mut().zip(first) {
                        *value = first + (*value - first) / 8.0;
                    }
                }
            }
            _ => {}
        }
        let [a, b, c] = triangle;
        let footprint = (b[0] - a[0]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[0] - a[0]);
        if footprint.abs() > 1e-6 {
            compared += compare_with_direct_clipping(triangle);
        }
    }
    assert!(compared > 200_000, "{compared}");
}

/// The twelve triangles of a box, facing outwards.
fn box_triangles(min: [f64; 3], max: [f64; 3]) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let vertices = (0..8)
        .map(|i| {
            let pick = |axis: usize| {
                if i >> axis & 1 == 1 {
                    max[axis]
                } else {
                    min[axis]
                }
            };
            DVec3::new(pick(0), pick(1), pick(2))
        })
        .collect();
    let quads: [[u32; 4]; 6] = [
        [0, 4, 6, 2],
        [1, 3, 7, 5],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 2, 3, 1],
        [4, 5, 7, 6],
    ];
    let triangles = quads
        .iter()
        .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
        .collect();
    (vertices, triangles)
}

#[test]
fn a_solid_on_grid_lines_stays_inside_its_cells() {
    let (vertices, triangles) = box_triangles([2.0, 3.0, 4.0], [7.0, 9.0, 8.0]);
    let mut columns = SpanColumns::default();
    columns.reset(WIDTH, DEPTH);
    let mut areas = Vec::new();
    let frame = unit_frame();
    classify_triangles(&frame, &vertices, &triangles, 0.7, &mut areas).unwrap();
    assert_eq!(areas.iter().filter(|&&area| area == 63).count(), 2);
    rasterize(&frame, &vertices, &triangles, &areas, 0, &mut columns).unwrap();
    let mut solid = SolidSpans::default();
    columns.pack(&mut solid);
    for z in 0..DEPTH {
        for x in 0..WIDTH {
            let spans: Vec<(u16, u16, u8)> = solid
                .cell_range(frame.column(x, z))
                .map(|s| (solid.min[s], solid.max[s], solid.area[s]))
                .collect();
            let inside = (2..7).contains(&x) && (4..8).contains(&z);
            let rim = inside && (x == 2 || x == 6 || z == 4 || z == 7);
            let expected: &[(u16, u16, u8)] = if rim {
                &[(3, 9, 63)]
            } else if inside {
                &[(3, 4, 0), (8, 9, 63)]
            } else {
                &[]
            };
            assert_eq!(spans, expected, "({x}, {z})");
        }
    }
}

#[test]
fn a_box_of_triangles_and_a_box_of_voxels_compact_to_the_same() {
    let frame = unit_frame();
    let settings = SpanSettings {
        slope_cosine: 0.7,
        walkable_height: 5,
        walkable_climb: 2,
        walkable_radius: 1,
        merge_threshold: 2,
    };
    // Ground 1 row thick and a block upon it that can be stepped onto.
    let (mut vertices, mut triangles) = box_triangles([0.0, 0.0, 0.0], [12.0, 1.0, 10.0]);
    let (more, faces) = box_triangles([3.0, 1.0, 3.0], [8.0, 3.0, 7.0]);
    let base = vertices.len() as u32;
    vertices.extend(more);
    triangles.extend(faces.iter().map(|face| face.map(|i| i + base)));
    let mut areas = Vec::new();
    classify_triangles(&frame, &vertices, &triangles, 0.7, &mut areas).unwrap();
    let mut scratch = SpanScratch::default();
    let (mut from_triangles, mut from_voxels) = (OpenSpans::default(), OpenSpans::default());
    let mut graph = SpanGraph::default();
    build_open_spans(
        &frame,
        &vertices,
        &triangles,
        &areas,
        &[],
        &settings,
        &mut scratch,
        &mut from_triangles,
        &mut graph,
    )
    .unwrap();

    let mut materials = vec![0; (WIDTH * DEPTH * 4) as usize];
    for z in 0..DEPTH {
        for x in 0..WIDTH {
            let high = (3..8).contains(&x) && (3..7).contains(&z);
            for y in 0..if high { 3 } else { 1 } {
                materials[((z * WIDTH + x) * 4 + y) as usize] = 1;
            }
        }
    }
    let chunk = VoxelChunk::from_dense(WIDTH, DEPTH, 4, &materials).unwrap();
    scratch.columns.reset(WIDTH, DEPTH);
    chunk.add_to([0, 0, 0], ROWS, None, &mut scratch.columns);
    finish_open_spans(
        &frame,
        &[],
        &settings,
        &mut scratch,
        &mut from_voxels,
        &mut graph,
    )
    .unwrap();
    assert_eq!(from_triangles, from_voxels);
    assert!(from_voxels.area.iter().filter(|&&area| area == 63).count() > 20);
}

#[test]
fn a_person_counts_ten_rows_four_of_climb_and_two_cells() {
    let stated = SpanSettings {
        slope_cosine: 0.707_106_77,
        walkable_height: 10,
        walkable_climb: 4,
        walkable_radius: 2,
        merge_threshold: 4,
    };
    assert_eq!(SpanSettings::HUMANOID, stated);
    assert_eq!(SpanSettings::default(), stated);
}

#[test]
fn settings_out_of_range_are_named() {
    let good = SpanSettings::HUMANOID;
    assert!(good.validate().is_ok());
    let argument = |settings: SpanSettings| settings.validate().unwrap_err().argument;
    let bad = [
        SpanSettings {
            slope_cosine: f32::NAN,
            ..good
        },
        SpanSettings {
            walkable_height: 0,
            ..good
        },
        SpanSettings {
            walkable_climb: -1,
            ..good
        },
        SpanSettings {
            walkable_radius: 1 << 21,
            ..good
        },
        SpanSettings {
            merge_threshold: 65_536,
            ..good
        },
    ];
    assert_eq!(
        bad.map(argument),
        [
            "slope_cosine",
            "walkable_height",
            "walkable_climb",
            "walkable_radius",
            "merge_threshold"
        ]
    );
}

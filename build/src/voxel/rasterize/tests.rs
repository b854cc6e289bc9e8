//! Known small answers of the rasterizer, and its shortcuts against plain splitting.

use super::*;
use throng_soa::spans::SolidSpans;

/// Spans `(x, z, min, max)` of triangles on a grid of unit cells at the origin.
fn spans_of(size: [u32; 3], triangles: &[[[f64; 3]; 3]]) -> Vec<(u32, u32, u16, u16)> {
    let frame = HeightfieldFrame {
        origin: DVec3::ZERO,
        cell_size: 1.0,
        cell_height: 1.0,
        width: size[0],
        depth: size[2],
        rows: size[1],
    };
    let vertices: Vec<DVec3> = triangles
        .iter()
        .flatten()
        .map(|&point| DVec3::from_array(point))
        .collect();
    let indices: Vec<[u32; 3]> = (0..triangles.len() as u32)
        .map(|i| [3 * i, 3 * i + 1, 3 * i + 2])
        .collect();
    let mut columns = SpanColumns::default();
    columns.reset(frame.width, frame.depth);
    let areas = vec![1; indices.len()];
    rasterize(&frame, &vertices, &indices, &areas, 0, &mut columns).unwrap();
    let mut solid = SolidSpans::default();
    columns.pack(&mut solid);
    let mut out = Vec::new();
    for z in 0..frame.depth {
        for x in 0..frame.width {
            for span in solid.cell_range(frame.column(x, z)) {
                out.push((x, z, solid.min[span], solid.max[span]));
            }
        }
    }
    out
}

/// Two triangles of a quad given counter-clockwise from the side it faces.
fn quad(corners: [[f64; 3]; 4]) -> [[[f64; 3]; 3]; 2] {
    let [a, b, c, d] = corners;
    [[a, b, c], [a, c, d]]
}

#[test]
fn a_level_piece_on_a_row_boundary_fills_the_row_behind_it() {
    let up = [[1.0, 2.0, 1.0], [1.0, 2.0, 2.0], [2.0, 2.0, 1.0]];
    let down = [up[0], up[2], up[1]];
    assert_eq!(spans_of([4, 8, 4], &[up]), [(1, 1, 1, 2)]);
    assert_eq!(spans_of([4, 8, 4], &[down]), [(1, 1, 2, 3)]);
}

#[test]
fn an_upward_floor_at_the_bottom_of_the_grid_has_no_row() {
    let up = [[1.0, 0.0, 1.0], [1.0, 0.0, 2.0], [2.0, 0.0, 1.0]];
    let down = [up[0], up[2], up[1]];
    assert_eq!(spans_of([4, 8, 4], &[up]), []);
    assert_eq!(spans_of([4, 8, 4], &[down]), [(1, 1, 0, 1)]);
    // Likewise a downward ceiling at the top.
    let top = down.map(|[x, _, z]| [x, 8.0, z]);
    assert_eq!(spans_of([4, 8, 4], &[top]), []);
}

#[test]
fn a_cell_touched_at_an_edge_or_corner_is_not_entered() {
    // Exactly the cell (1, 1), both halves, shares edges and corners with eight others.
    let square = quad([
        [1.0, 2.5, 1.0],
        [1.0, 2.5, 2.0],
        [2.0, 2.5, 2.0],
        [2.0, 2.5, 1.0],
    ]);
    assert_eq!(spans_of([4, 8, 4], &square), [(1, 1, 2, 3)]);
    // The hypotenuse passes exactly through the corner (2, 2).
    let corner = [[1.0, 2.5, 1.0], [1.0, 2.5, 3.0], [3.0, 2.5, 1.0]];
    assert_eq!(
        spans_of([4, 8, 4], &[corner]),
        [(1, 1, 2, 3), (2, 1, 2, 3), (1, 2, 2, 3)]
    );
}

#[test]
fn a_wall_on_a_grid_line_goes_behind_its_face() {
    // In the plane x = 2, facing +x and then -x.
    let faces_plus = quad([
        [2.0, 1.0, 1.0],
        [2.0, 3.0, 1.0],
        [2.0, 3.0, 2.0],
        [2.0, 1.0, 2.0],
    ]);
    let faces_minus = faces_plus.map(|[a, b, c]| [a, c, b]);
    assert_eq!(spans_of([4, 8, 4], &faces_plus), [(1, 1, 1, 3)]);
    assert_eq!(spans_of([4, 8, 4], &faces_minus), [(2, 1, 1, 3)]);
    // In the plane z = 2.
    let swap = |[x, y, z]: [f64; 3]| [z, y, x];
    let z_minus = faces_plus.map(|triangle| triangle.map(swap));
    let z_plus = z_minus.map(|[a, b, c]| [a, c, b]);
    assert_eq!(spans_of([4, 8, 4], &z_plus), [(1, 1, 1, 3)]);
    assert_eq!(spans_of([4, 8, 4], &z_minus), [(1, 2, 1, 3)]);
}

#[test]
fn a_wall_on_the_grids_own_border_is_kept_only_when_its_back_is_inside() {
    let at = |x: f64| quad([[x, 1.0, 1.0], [x, 3.0, 1.0], [x, 3.0, 2.0], [x, 1.0, 2.0]]);
    let flip = |triangles: [[[f64; 3]; 3]; 2]| triangles.map(|[a, b, c]| [a, c, b]);
    assert_eq!(spans_of([4, 8, 4], &at(0.0)), []);
    assert_eq!(spans_of([4, 8, 4], &flip(at(0.0))), [(0, 1, 1, 3)]);
    assert_eq!(spans_of([4, 8, 4], &at(4.0)), [(3, 1, 1, 3)]);
    assert_eq!(spans_of([4, 8, 4], &flip(at(4.0))), []);
}

#[test]
fn a_wall_between_grid_lines_enters_the_cells_it_runs_through() {
    let wall = quad([
        [0.5, 1.0, 1.5],
        [3.0, 1.0, 1.5],
        [3.0, 3.0, 1.5],
        [0.5, 3.0, 1.5],
    ]);
    assert_eq!(
        spans_of([4, 8, 4], &wall),
        [(0, 1, 1, 3), (1, 1, 1, 3), (2, 1, 1, 3)]
    );
    // Along the diagonal the cells beside each corner are only touched.
    let diagonal = quad([
        [0.0, 1.0, 0.0],
        [2.0, 1.0, 2.0],
        [2.0, 3.0, 2.0],
        [0.0, 3.0, 0.0],
    ]);
    assert_eq!(spans_of([4, 8, 4], &diagonal), [(0, 0, 1, 3), (1, 1, 1, 3)]);
}

#[test]
fn a_slope_gives_each_cell_the_rows_it_passes() {
    let slope = quad([
        [0.0, 1.0, 0.0],
        [0.0, 1.0, 1.0],
        [4.0, 5.0, 1.0],
        [4.0, 5.0, 0.0],
    ]);
    assert_eq!(
        spans_of([4, 8, 1], &slope),
        [(0, 0, 1, 2), (1, 0, 2, 3), (2, 0, 3, 4), (3, 0, 4, 5)]
    );
}

#[test]
fn rows_are_clamped_to_the_grid_and_pieces_outside_it_dropped() {
    let tall = quad([
        [1.5, -5.0, 1.0],
        [1.5, -5.0, 2.0],
        [1.5, 50.0, 2.0],
        [1.5, 50.0, 1.0],
    ]);
    assert_eq!(spans_of([4, 8, 4], &tall), [(1, 1, 0, 8)]);
    let above = tall.map(|t| t.map(|[x, y, z]| [x, y + 13.0, z]));
    assert_eq!(spans_of([4, 8, 4], &above), []);
    let beside = tall.map(|t| t.map(|[x, y, z]| [x + 100.0, y, z]));
    assert_eq!(spans_of([4, 8, 4], &beside), []);
}

#[test]
fn stepping_through_runs_of_cells_changes_no_span() {
    let frame = HeightfieldFrame {
        origin: DVec3::ZERO,
        cell_size: 0.3,
        cell_height: 0.01,
        width: 60,
        depth: 50,
        rows: 65_535,
    };
    let mut rng = throng_soa::rng::SplitMix64::new(5);
    let mut runs = 0;
    for round in 0..6000 {
        let grid = [1e-9, 0.3, 0.6, 3.0][round % 4];
        let mut point = || {
            let mut axis = |low: f64, high: f64| (rng.range(low, high) / grid).round() * grid;
            DVec3::new(axis(-3.0, 20.0), axis(0.0, 300.0), axis(-3.0, 18.0))
        };
        let mut vertices = [point(), point(), point()];
        match round % 5 {
            0 => {
                vertices[1].y = vertices[0].y;
                vertices[2].y = vertices[0].y;
            }
            // Walls along x and askew.
            1 => vertices.iter_mut().for_each(|v| v.z = 4.05),
            2 => vertices.iter_mut().for_each(|v| v.z = v.x * 0.5),
            _ => {}
        }
        let spans = [true, false].map(|steps| {
            let mut columns = SpanColumns::default();
            columns.reset(frame.width, frame.depth);
            rasterize_with(
                &frame,
                &vertices,
                &[[0, 1, 2]],
                &[1],
                0,
                &mut columns,
                steps,
            )
            .unwrap();
            let mut solid = SolidSpans::default();
            columns.pack(&mut solid);
            solid
        });
        assert!(spans[0] == spans[1], "{vertices:?}");
        runs += spans[0].span_count();
    }
    assert!(runs > 500_000, "{runs}");
}

#[test]
fn misuse_is_named_and_adds_nothing() {
    let frame = HeightfieldFrame::from_bounds(DVec3::ZERO, DVec3::splat(4.0), 1.0, 1.0).unwrap();
    let mut columns = SpanColumns::default();
    columns.reset(4, 4);
    let mut vertices = vec![
        DVec3::new(1.0, 2.0, 1.0),
        DVec3::new(1.0, 2.0, 2.0),
        DVec3::new(2.0, 2.0, 1.0),
        DVec3::new(f64::NAN, 2.0, 1.0),
    ];
    let mut argument = |vertices: &[DVec3], triangles: &[[u32; 3]], areas: &[u8]| {
        let error = rasterize(&frame, vertices, triangles, areas, 0, &mut columns).unwrap_err();
        let mut solid = SolidSpans::default();
        columns.pack(&mut solid);
        assert_eq!(solid.span_count(), 0);
        error.argument
    };
    let bad_index = [[0, 1, 2], [0, 4, 2]];
    assert_eq!(argument(&vertices, &bad_index, &[1, 1]), "triangles[1][1]");
    let bad_vertex = [[0, 1, 2], [0, 1, 3]];
    assert_eq!(argument(&vertices, &bad_vertex, &[1, 1]), "vertices[3].x");
    vertices[3] = DVec3::new(0.0, 3e6, 0.0);
    assert_eq!(argument(&vertices, &bad_vertex, &[1, 1]), "vertices[3].y");
    assert_eq!(argument(&vertices, &[[0, 1, 2]], &[]), "areas.len()");
    // A bad vertex nothing refers to does no harm.
    let stats = rasterize(
        &frame,
        &vertices,
        &[[0, 1, 2], [1, 1, 2]],
        &[1, 1],
        0,
        &mut columns,
    );
    assert_eq!(
        stats,
        Ok(RasterizeStats {
            triangles: 2,
            degenerate: 1,
            spans_added: 1
        })
    );
}

#[test]
fn the_steepest_slope_itself_is_not_walkable() {
    let frame = HeightfieldFrame::from_bounds(DVec3::ZERO, DVec3::splat(4.0), 1.0, 1.0).unwrap();
    let vertices = [
        DVec3::ZERO,
        DVec3::new(0.0, 0.0, 1.0),
        DVec3::new(1.0, 0.0, 0.0),
        DVec3::new(3.0, 4.0, 0.0),
    ];
    let triangles = [[0, 1, 2], [0, 2, 1], [0, 1, 3], [0, 0, 1]];
    let mut areas = Vec::new();
    // The third triangle rises 4 over 3: its cosine is exactly 0.6.
    classify_triangles(&frame, &vertices, &triangles, 0.6, &mut areas).unwrap();
    let exact = 3.0f32 > 0.6f32 * 5.0;
    assert_eq!(areas, [63, 0, if exact { 63 } else { 0 }, 0]);
    classify_triangles(&frame, &vertices, &triangles, 0.59, &mut areas).unwrap();
    assert_eq!(areas, [63, 0, 63, 0]);
}

#[test]
fn a_normal_without_a_finite_length_is_none() {
    let normal = |size: f32| Normal::new([0.0; 3], [0.0, 0.0, size], [size, 0.0, 0.0]);
    assert!(!normal(1.0).is_degenerate());
    assert!(normal(0.0).is_degenerate());
    // The length is that of the squares' sum: it is infinite while the normal itself is not.
    let long = normal(1e10);
    assert!(long.y.is_finite() && long.length == f32::INFINITY);
    assert!(long.is_degenerate());
    assert!(normal(1e25).is_degenerate());
    assert!(normal(f32::INFINITY).is_degenerate());
    // No triangle inside the world comes near it: one of the largest is ground like any other.
    let far = 2_097_151.0;
    let large = [[-far, 2.5, -far], [0.0, 2.5, far], [far, 2.5, -far]];
    let spans = spans_of([4, 8, 4], &[large]);
    assert_eq!(spans.len(), 16);
    assert!(spans.iter().all(|span| (span.2, span.3) == (2, 3)));
}

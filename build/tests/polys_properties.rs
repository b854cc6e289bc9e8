//! What must hold for the polygons and the height detail of any field of spans.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod voxel_support;

use throng_build::voxel::contours::trace::signed_area2;
use throng_build::voxel::contours::{ContourSet, ContourSettings};
use throng_build::voxel::coordinates::TileCoordinates;
use throng_build::voxel::detail::{
    DetailScratch, DetailSet, DetailSettings, MAX_DETAIL_VERTICES, build_detail,
};
use throng_build::voxel::polygons::{PolygonScratch, PolygonSet, build_polygons};
use throng_build::voxel::regions::RegionSettings;
use throng_soa::DVec3;
use throng_soa::mesh::assemble::{LocalPolygons, from_local_polygons};
use throng_soa::mesh::{DetailMesh, MeshParams, NavTile};
use throng_soa::predicates::{in_circle, orient2d};
use voxel_support::{CLOSE, Field, KEEP_ALL, PARTITIONS, contours, field, picture, random_field};

const BORDER: u32 = 0;
const CELL_HEIGHT: f64 = 0.2;

fn map_of(field: &Field) -> (TileCoordinates, f64) {
    let cells = field.spans.width.max(field.spans.depth);
    let tile_size = f64::from((f64::from(cells) * 0.3) as f32);
    let cell_size = tile_size / f64::from(cells);
    (
        TileCoordinates::new(cells, BORDER, cell_size, tile_size),
        tile_size,
    )
}

fn polygons(set: &ContourSet, most: usize, map: &TileCoordinates) -> PolygonSet {
    let mut out = PolygonSet::default();
    build_polygons(set, most, map, &mut PolygonScratch::default(), &mut out);
    out
}

fn polygon_area2(set: &PolygonSet, index: usize) -> i64 {
    let ring = set.polygon(index);
    let at = |i: usize| set.vertices[ring[i % ring.len()] as usize];
    (0..ring.len())
        .map(|i| {
            let ([ax, _, az], [bx, _, bz]) = (at(i), at(i + 1));
            i64::from(ax) * i64::from(bz) - i64::from(bx) * i64::from(az)
        })
        .sum()
}

/// The tile these polygons make, through the mesh's own validator.
fn validated(
    field: &Field,
    set: &PolygonSet,
    details: Option<&DetailSet>,
    map: &TileCoordinates,
    tile_size: f64,
) -> NavTile {
    let params = MeshParams {
        origin: DVec3::ZERO,
        tile_size,
        cell_size: 0.3,
        max_verts_per_poly: 16,
        walkable_climb: 0.9,
        agent_radius: 0.6,
        agent_height: 2.0,
        agent_max_slope_degrees: 45.0,
        settings_digest: 0,
    };
    let mut data = from_local_polygons(
        LocalPolygons {
            vertices: set
                .vertices
                .iter()
                .map(|&[x, y, z]| {
                    let height = (f64::from(y) * CELL_HEIGHT) as f32;
                    [map.corner(x), height, map.corner(z)]
                })
                .collect(),
            poly_vertex_counts: (0..set.len()).map(|p| set.polygon(p).len() as u8).collect(),
            poly_indices: set.indices.iter().map(|&v| v as u16).collect(),
            areas: set.area.clone(),
            flags: vec![1; set.len()],
            ..LocalPolygons::default()
        },
        &params,
    )
    .unwrap();
    if let Some(details) = details {
        data.detail_vertices = details.vertices.clone();
        data.detail_triangles = details.triangles.clone();
        for (p, mesh) in data.detail_meshes.iter_mut().enumerate() {
            *mesh = DetailMesh {
                vertex_base: details.first_vertex[p],
                triangle_base: details.first_triangle[p],
                vertex_count: (details.first_vertex[p + 1] - details.first_vertex[p]) as u16,
                triangle_count: (details.first_triangle[p + 1] - details.first_triangle[p]) as u16,
            };
        }
    }
    NavTile::create(data, &params)
        .unwrap_or_else(|error| panic!("{error} ({} spans)", field.spans.span_count()))
}

#[test]
fn polygons_keep_the_contours_area_and_pass_the_meshs_rules() {
    let (mut count, mut degenerate) = (0, 0);
    for seed in 0..40_u64 {
        for partition in PARTITIONS {
            let mut field = random_field(seed, 50 + seed as u32 * 3, 47, seed % 3 == 1);
            let settings = if seed % 2 == 0 {
                KEEP_ALL
            } else {
                RegionSettings {
                    min_region_area: 8,
                    merge_region_area: 60,
                }
            };
            partition(&mut field, &settings);
            let (map, tile_size) = map_of(&field);
            for contour_settings in [CLOSE, ContourSettings::default()] {
                let (set, _) = contours(&field, &contour_settings);
                for most in [3, 6, 16] {
                    let polys = polygons(&set, most, &map);
                    degenerate += polys.degenerate_ears;
                    count += polys.len();
                    validated(&field, &polys, None, &map, tile_size);
                    if contour_settings == CLOSE && polys.degenerate_ears == 0 {
                        let mut expected = vec![0; field.spans.region_count as usize + 1];
                        let mut found = expected.clone();
                        for c in 0..set.len() {
                            expected[set.region[c] as usize] += signed_area2(set.contour(c));
                        }
                        for p in 0..polys.len() {
                            found[polys.region[p] as usize] += polygon_area2(&polys, p);
                            assert!(polys.polygon(p).len() <= most);
                        }
                        assert_eq!(found, expected, "seed {seed}");
                    }
                }
            }
        }
    }
    assert!(count > 10_000, "{count}");
    assert!(
        u64::from(degenerate) * 1000 < count as u64,
        "{degenerate} of {count}"
    );
}

#[test]
fn a_rectangle_is_one_polygon_and_an_l_is_two() {
    let mut square = picture(&["#########"; 40]);
    PARTITIONS[0](&mut square, &KEEP_ALL);
    let (set, _) = contours(&square, &ContourSettings::default());
    let (map, _) = map_of(&square);
    let polys = polygons(&set, 6, &map);
    assert_eq!((polys.len(), polys.polygon(0).len()), (1, 4));

    let mut bent = picture(&["####....", "####....", "########", "########"]);
    PARTITIONS[2](&mut bent, &KEEP_ALL);
    let (set, _) = contours(&bent, &CLOSE);
    let (map, _) = map_of(&bent);
    let polys = polygons(&set, 6, &map);
    assert_eq!(polys.len(), 2);
    assert_eq!(
        (0..2).map(|p| polygon_area2(&polys, p)).sum::<i64>(),
        2 * 24
    );
}

#[test]
fn a_hole_that_touches_its_outline_at_one_corner_keeps_the_area() {
    let mut field = picture(&[
        "##########",
        "##########",
        "..########",
        "..########",
        "##..######",
        "##..######",
        "##########",
        "##########",
    ]);
    PARTITIONS[2](&mut field, &KEEP_ALL);
    let (map, tile_size) = map_of(&field);
    let (set, _) = contours(&field, &CLOSE);
    let polys = polygons(&set, 6, &map);
    let area: i64 = (0..polys.len()).map(|p| polygon_area2(&polys, p)).sum();
    assert_eq!(area, 2 * 72);
    assert_eq!((polys.degenerate_ears, set.dropped_holes), (0, 0));
    validated(&field, &polys, None, &map, tile_size);
}

/// A bumpy field without walls: every span links to its neighbours.
fn hills(seed: u64, width: u32, depth: u32) -> Field {
    let wave = |v: u64, period: u64| {
        let phase = v % period;
        phase.min(period - phase)
    };
    let mut columns = Vec::new();
    for z in 0..u64::from(depth) {
        for x in 0..u64::from(width) {
            let row = 20 + wave(x + seed, 17) + wave(z + x / 3, 23) + wave(z, 11);
            columns.push(vec![(row as u16, 63)]);
        }
    }
    field(width, depth, &columns)
}

fn detail_of(
    field: &Field,
    set: &PolygonSet,
    map: &TileCoordinates,
    settings: &DetailSettings,
) -> DetailSet {
    let mut out = DetailSet::default();
    build_detail(
        set,
        Some(&field.spans),
        settings,
        map,
        0,
        &mut DetailScratch::default(),
        &mut out,
    );
    out
}

/// Positions of a polygon's vertices and detail vertices.
fn positions(
    set: &PolygonSet,
    details: &DetailSet,
    map: &TileCoordinates,
    p: usize,
) -> Vec<[f64; 3]> {
    let mut points: Vec<[f64; 3]> = set
        .polygon(p)
        .iter()
        .map(|&v| {
            let [x, y, z] = set.vertices[v as usize];
            let height = (f64::from(y) * CELL_HEIGHT) as f32;
            [map.corner(x), height, map.corner(z)].map(f64::from)
        })
        .collect();
    let range = details.first_vertex[p] as usize..details.first_vertex[p + 1] as usize;
    points.extend(details.vertices[range].iter().map(|v| v.map(f64::from)));
    points
}

fn faces(details: &DetailSet, p: usize) -> &[[u8; 4]] {
    &details.triangles[details.first_triangle[p] as usize..details.first_triangle[p + 1] as usize]
}

fn flat(p: [f64; 3]) -> [f64; 2] {
    [p[0], p[2]]
}

#[test]
fn detail_covers_the_polygon_is_delaunay_and_marks_its_outline() {
    let mut extra = 0;
    for seed in 0..8 {
        let mut field = hills(seed, 70, 60);
        PARTITIONS[seed as usize % 3](&mut field, &KEEP_ALL);
        let (map, tile_size) = map_of(&field);
        let (set, _) = contours(&field, &ContourSettings::default());
        let polys = polygons(&set, 6, &map);
        for sample_distance in [0.0, 3.0, 6.0] {
            let settings = DetailSettings {
                sample_distance,
                max_error: 0.2,
                cell_height: CELL_HEIGHT,
                walkable_climb: 4,
            };
            let details = detail_of(&field, &polys, &map, &settings);
            validated(&field, &polys, Some(&details), &map, tile_size);
            extra += details.vertices.len();
            for p in 0..polys.len() {
                let points = positions(&polys, &details, &map, p);
                let at = |i: u8| points[usize::from(i)];
                let mut area = 0.0;
                let mut edges = Vec::new();
                for &[a, b, c, flags] in faces(&details, p) {
                    let turn = orient2d(flat(at(a)), flat(at(b)), flat(at(c)));
                    assert!(turn >= 0.0);
                    area += 0.5 * turn;
                    for (k, (i, j, o)) in [(a, b, c), (b, c, a), (c, a, b)].into_iter().enumerate()
                    {
                        edges.push((i, j, o, flags >> k & 1 == 1));
                    }
                }
                let n = polys.polygon(p).len();
                let outline: f64 = (1..n - 1)
                    .map(|i| 0.5 * orient2d(flat(points[0]), flat(points[i]), flat(points[i + 1])))
                    .sum();
                assert!((area - outline).abs() <= 1e-5 * outline, "{area} {outline}");
                for &(i, j, o, on_outline) in &edges {
                    let across = edges.iter().find(|e| (e.0, e.1) == (j, i));
                    assert_eq!(on_outline, across.is_none());
                    let Some(&(.., d, _)) = across else {
                        continue;
                    };
                    let [a, b, c, d] = [i, j, o, d].map(|v| flat(at(v)));
                    let convex = orient2d(d, b, c) > 0.0
                        && orient2d(c, a, d) > 0.0
                        && orient2d(a, b, c) > 0.0
                        && orient2d(b, a, d) > 0.0;
                    assert!(
                        !convex || in_circle(a, b, c, d) <= 0.0,
                        "seed {seed} polygon {p}"
                    );
                }
            }
        }
    }
    assert!(extra > 500, "{extra}");
}

#[test]
fn no_sample_is_left_with_more_error_than_allowed() {
    let (mut samples, mut inserted) = (0, 0);
    for seed in 0..6 {
        let mut field = hills(seed, 80, 64);
        PARTITIONS[1](&mut field, &KEEP_ALL);
        let (map, _) = map_of(&field);
        let (set, _) = contours(&field, &ContourSettings::default());
        let polys = polygons(&set, 6, &map);
        let spacing = 4.5;
        let settings = DetailSettings {
            sample_distance: spacing,
            max_error: 0.25,
            cell_height: CELL_HEIGHT,
            walkable_climb: 8,
        };
        let details = detail_of(&field, &polys, &map, &settings);
        for p in 0..polys.len() {
            let points = positions(&polys, &details, &map, p);
            inserted += points.len() - polys.polygon(p).len();
            if points.len() >= MAX_DETAIL_VERTICES {
                continue;
            }
            for (x, row, z) in sample_points(&field, &polys, p, spacing, 9.0) {
                let at = [f64::from(map.local(x)), f64::from(map.local(z))];
                let height = f64::from((row * CELL_HEIGHT) as f32);
                let error = faces(&details, p)
                    .iter()
                    .filter_map(|&[a, b, c, _]| {
                        let [a, b, c] = [a, b, c].map(|v| points[usize::from(v)]);
                        plane_height(a, b, c, at).map(|h| (h - height).abs())
                    })
                    .fold(f64::INFINITY, f64::min);
                assert!(error <= 0.25 + 1e-6, "seed {seed} polygon {p}: {error}");
                samples += 1;
            }
        }
    }
    assert!(samples > 100 && inserted > 20, "{samples} {inserted}");
}

/// The interior grid points of a polygon, from the rule: inside the box, half a spacing off every
/// edge, with a floor of the polygon's region within `reach` rows of the mean corner row.
fn sample_points(
    field: &Field,
    polys: &PolygonSet,
    p: usize,
    spacing: f64,
    reach: f64,
) -> Vec<(f64, f64, f64)> {
    let ring: Vec<[f64; 3]> = polys
        .polygon(p)
        .iter()
        .map(|&v| polys.vertices[v as usize].map(f64::from))
        .collect();
    let low = |axis: usize| ring.iter().map(|v| v[axis]).fold(f64::INFINITY, f64::min);
    let high = |axis: usize| ring.iter().map(|v| v[axis]).fold(0.0, f64::max);
    let mean = ring.iter().map(|v| v[1]).sum::<f64>() / ring.len() as f64;
    let mut out = Vec::new();
    for j in 1..200 {
        for i in 1..200 {
            let (x, z) = (
                low(0) + f64::from(i) * spacing,
                low(2) + f64::from(j) * spacing,
            );
            if x >= high(0) || z >= high(2) {
                continue;
            }
            let inside = (0..ring.len()).all(|k| {
                let (a, b) = (ring[k], ring[(k + 1) % ring.len()]);
                let (dx, dz) = (b[0] - a[0], b[2] - a[2]);
                (dx * (z - a[2]) - dz * (x - a[0])) / (dx * dx + dz * dz).sqrt() > spacing / 2.0
            });
            let cell = x as usize + z as usize * field.spans.width as usize;
            // One span per column here; on a cell's edge the rule looks at both sides.
            let span = field.spans.cell_range(cell).start;
            let row = f64::from(field.spans.floor[span]);
            let own = field.spans.region[span] == polys.region[p];
            let between = x.fract() != 0.0 && z.fract() != 0.0;
            if inside && own && between && (row - mean).abs() <= reach {
                out.push((x, row, z));
            }
        }
    }
    out
}

fn plane_height(a: [f64; 3], b: [f64; 3], c: [f64; 3], at: [f64; 2]) -> Option<f64> {
    let [fa, fb, fc] = [a, b, c].map(flat);
    let weights = [
        orient2d(fb, fc, at),
        orient2d(fc, fa, at),
        orient2d(fa, fb, at),
    ];
    let whole = orient2d(fa, fb, fc);
    (whole > 0.0 && weights.iter().all(|&w| w >= 0.0))
        .then(|| (weights[0] * a[1] + weights[1] * b[1] + weights[2] * c[1]) / whole)
}

#[test]
fn polygons_that_share_an_edge_get_the_same_points_along_it() {
    let mut field = hills(3, 60, 60);
    // Two regions side by side.
    for (span, region) in field.spans.region.iter_mut().enumerate() {
        *region = if span % 60 < 31 { 1 } else { 2 };
    }
    field.spans.region_count = 2;
    let (map, _) = map_of(&field);
    let (set, _) = contours(&field, &ContourSettings::default());
    let polys = polygons(&set, 6, &map);
    let settings = DetailSettings {
        sample_distance: 4.0,
        max_error: 0.1,
        cell_height: CELL_HEIGHT,
        walkable_climb: 4,
    };
    let details = detail_of(&field, &polys, &map, &settings);
    let border = map.corner(31);
    let on_border = |region: u32| {
        let mut points: Vec<[u32; 3]> = Vec::new();
        for p in (0..polys.len()).filter(|&p| polys.region[p] == region) {
            let range = details.first_vertex[p] as usize..details.first_vertex[p + 1] as usize;
            points.extend(
                details.vertices[range]
                    .iter()
                    .filter(|v| v[0] == border)
                    .map(|v| v.map(f32::to_bits)),
            );
        }
        points.sort_unstable();
        points
    };
    assert!(!on_border(1).is_empty());
    assert_eq!(on_border(1), on_border(2));
}

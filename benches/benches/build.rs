//! Triangles to mesh: whole levels, and every stage of one tile alone on inputs made beforehand.

#![allow(missing_docs, reason = "criterion's macros generate the entry points")]
#![allow(clippy::unwrap_used, reason = "a scene that does not build stops here")]

use criterion::measurement::WallTime;
use criterion::{
    BatchSize, BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main,
};
use std::hint::black_box;
use throng::parts::build::pipeline::{ErodedTile, SoupSource, Worker, for_one_tile};
use throng::parts::build::voxel::regions::{self, RegionScratch};
use throng::parts::build::voxel::{
    compact, contours, detail, erode, filter, frame::HeightfieldFrame, plan::TilePlan, polygons,
    rasterize, tile,
};
use throng::parts::soa::mesh::{TileData, assemble};
use throng::parts::soa::spans::{OpenSpans, SolidSpans, SpanColumns, SpanGraph};
use throng::{BuildOptions, DVec3, NavMesh, NavSettings, NavTile, Soup, solo_settings};
use throng_benches::level;

type Group<'a> = BenchmarkGroup<'a, WallTime>;

fn levels(c: &mut Criterion) {
    let mut group = c.benchmark_group("level");
    group.sample_size(10);
    for name in ["city", "terraces"] {
        let soup = level(name, 256.0);
        let (vertices, triangles) = (soup.vertices(), soup.triangles());
        let tiled = NavSettings::HUMANOID;
        for threads in [1, 2] {
            let options = BuildOptions {
                threads,
                ..BuildOptions::default()
            };
            let id = BenchmarkId::new(format!("{name} tiled"), threads);
            group.bench_function(id, |b| {
                b.iter_with_large_drop(|| {
                    NavMesh::build_with(vertices, triangles, &tiled, &options).unwrap()
                });
            });
        }
        let solo = solo_settings(vertices, triangles, &tiled).unwrap();
        group.bench_function(BenchmarkId::new(format!("{name} solo"), 1), |b| {
            b.iter_with_large_drop(|| NavMesh::build(vertices, triangles, &solo).unwrap());
        });
    }
    group.finish();
}

/// The tile whose stages are timed: an inner one.
const TILE: (i32, i32) = (1, 1);

fn stages(c: &mut Criterion) {
    let soup = level("city", 256.0);
    let plan = TilePlan::new(&NavSettings::HUMANOID).unwrap();
    let (frame, triangles) = tile_input(&plan, &soup);
    let vertices = soup.vertices();
    let mut group = c.benchmark_group("tile");
    group.sample_size(50);
    let source = SoupSource::new(&plan, vertices, &triangles).unwrap();
    let mut worker = Worker::default();
    let whole: Vec<TileData> = rewrites(&mut group, "whole", |out| {
        let finish = |eroded: &mut ErodedTile<'_>| tile::finish(&plan, eroded, &[], &[]);
        let built = for_one_tile(&source, &plan, TILE, &mut worker, finish);
        *out = built.unwrap().unwrap();
    });
    let (open, graph) = spans(&mut group, &plan, &frame, vertices, &triangles);
    let labelled = partitions(&mut group, &plan, &open, &graph);
    let polygon_count = outlines(&mut group, &plan, labelled, &graph);
    // The stages alone make what the build makes of them.
    assert_eq!(polygon_count, whole[0].poly_areas.len());
    tile_data(&mut group, &plan, &whole[0]);
    group.finish();
}

/// Triangles to eroded open spans.
fn spans(
    group: &mut Group<'_>,
    plan: &TilePlan,
    frame: &HeightfieldFrame,
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
) -> (OpenSpans, SpanGraph) {
    let (height, climb) = (plan.spans.walkable_height, plan.spans.walkable_climb);
    let (cosine, merge) = (plan.spans.slope_cosine, plan.spans.merge_threshold);
    let areas: Vec<u8> = rewrites(group, "classify", |out| {
        rasterize::classify_triangles(frame, vertices, triangles, cosine, out).unwrap();
    });
    let columns = rewrites(group, "rasterize", |out: &mut SpanColumns| {
        out.reset(frame.width, frame.depth);
        rasterize::rasterize(frame, vertices, triangles, &areas, merge, out).unwrap();
    });
    let solid: SolidSpans = rewrites(group, "pack", |out| columns.pack(out));
    let solid = changes(group, "filter low hanging", &solid, |spans| {
        filter::filter_low_hanging_obstacles(spans, climb);
    });
    let mut s = filter::LedgeScratch::default();
    let solid = changes(group, "filter ledges", &solid, |spans| {
        filter::filter_ledge_spans(spans, height, climb, &mut s);
    });
    let solid = changes(group, "filter low height", &solid, |spans| {
        filter::filter_low_height_spans(spans, height);
    });
    let mut s = compact::LinkScratch::default();
    let open: OpenSpans = rewrites(group, "compact", |out| {
        compact::compact(&solid, height, climb, out, &mut s);
    });
    let graph = rewrites(group, "graph", |out: &mut SpanGraph| out.rebuild(&open));
    let mut s = erode::ErodeScratch::default();
    let open = changes(group, "erode", &open, |spans| {
        let radius = plan.spans.walkable_radius;
        erode::erode_walkable_area(spans, &graph, radius, &mut s).unwrap();
    });
    (open, graph)
}

/// The three partitions; goes on with the watershed's.
fn partitions(
    group: &mut Group<'_>,
    plan: &TilePlan,
    open: &OpenSpans,
    g: &SpanGraph,
) -> OpenSpans {
    let (sizes, mut s, mut layers) = (&plan.regions, RegionScratch::default(), Vec::new());
    let _: Vec<u32> = rewrites(group, "distance field", |out| {
        regions::build_distance_field(open, g, out);
    });
    changes(group, "monotone", open, |spans| {
        regions::build_monotone(spans, g, sizes, &mut s.monotone, &mut s.filter).unwrap();
    });
    changes(group, "layers", open, |spans| {
        let (own, rows, filter) = (&mut s.layers, &mut s.monotone, &mut s.filter);
        regions::span_layers(spans, g, own, rows, filter, &mut layers).unwrap();
        regions::label_layer_components(spans, g, &layers, sizes, own, filter).unwrap();
    });
    // Its distance field included.
    changes(group, "watershed", open, |spans| {
        regions::build_watershed(spans, g, sizes, &mut s.watershed, &mut s.filter).unwrap();
    })
}

/// Contours to height detail. Returns the number of polygons.
fn outlines(group: &mut Group<'_>, plan: &TilePlan, mut spans: OpenSpans, g: &SpanGraph) -> usize {
    cut_border(plan, &mut spans, g);
    let mut settings = plan.contours;
    settings.border_region = spans.region_count;
    let view = contours::SpanView {
        width: spans.width,
        depth: spans.depth,
        floor: &spans.floor,
        area: &spans.area,
        region: &spans.region,
        neighbor: &g.neighbor,
        cell: &g.cell,
        region_count: spans.region_count,
    };
    let mut s = contours::ContourScratch::default();
    let loops = rewrites(group, "contours", |out| {
        contours::build_contours(&view, &settings, &mut s, out);
    });
    let (corners, places) = (plan.max_vertices, &plan.coordinates);
    let mut s = polygons::PolygonScratch::default();
    let polys: polygons::PolygonSet = rewrites(group, "polygons", |out| {
        polygons::build_polygons(&loops, corners, places, &mut s, out);
    });
    let low = polys.vertices.iter().map(|v| v[1]).min().unwrap();
    let mut s = detail::DetailScratch::default();
    rewrites(group, "detail", |out| {
        detail::build_detail(&polys, Some(&spans), &plan.detail, places, low, &mut s, out);
    });
    polys.len()
}

/// The region spans outside the tile's own cells become one region, as before tracing in a build.
fn cut_border(plan: &TilePlan, spans: &mut OpenSpans, graph: &SpanGraph) {
    spans.region_count += 1;
    let own = plan.border..plan.border + plan.tile_cells;
    for (region, &cell) in spans.region.iter_mut().zip(&graph.cell) {
        let inside = own.contains(&(cell % spans.width)) && own.contains(&(cell / spans.width));
        if *region != 0 && !inside {
            *region = spans.region_count;
        }
    }
}

/// Adjacency and portals, then the checks and the content id of the finished tile.
fn tile_data(group: &mut Group<'_>, plan: &TilePlan, data: &TileData) {
    let local = assemble::LocalPolygons {
        tile_x: data.tile_x,
        tile_z: data.tile_z,
        layer: data.layer,
        origin_y: data.origin_y,
        vertices: data.vertices.clone(),
        poly_vertex_counts: data.poly_vertex_counts.clone(),
        poly_indices: data.poly_indices.clone(),
        areas: data.poly_areas.clone(),
        flags: data.poly_flags.clone(),
    };
    group.bench_function("tile data", |b| {
        let assemble = |local| assemble::from_local_polygons(local, &plan.params).unwrap();
        b.iter_batched(|| local.clone(), assemble, BatchSize::LargeInput);
    });
    group.bench_function("tile check", |b| {
        let create = |data| NavTile::create(data, &plan.params).unwrap();
        b.iter_batched(|| data.clone(), create, BatchSize::LargeInput);
    });
}

/// The grid of [`TILE`] and the triangles that touch it.
fn tile_input(plan: &TilePlan, soup: &Soup) -> (HeightfieldFrame, Vec<[u32; 3]>) {
    let low = plan.frame(TILE.0, TILE.1, 0.0, 0.0).unwrap().origin;
    let high = low + f64::from(plan.grid_cells()) * plan.cell_size;
    let corners = |t: &[u32; 3]| t.map(|i| soup.vertices()[i as usize]);
    let touches = |t: &[u32; 3]| {
        let [a, b, c] = corners(t);
        let (min, max) = (a.min(b).min(c), a.max(b).max(c));
        min.x <= high.x && max.x >= low.x && min.z <= high.z && max.z >= low.z
    };
    let own: Vec<[u32; 3]> = soup.triangles().iter().copied().filter(touches).collect();
    let (min, max) = own
        .iter()
        .flat_map(corners)
        .fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v.y), h.max(v.y)));
    (plan.frame(TILE.0, TILE.1, min, max).unwrap(), own)
}

/// Times a stage that writes its output anew. Returns the output.
fn rewrites<T: Default>(group: &mut Group<'_>, name: &str, mut stage: impl FnMut(&mut T)) -> T {
    let mut out = T::default();
    stage(&mut out);
    group.bench_function(name, |b| b.iter(|| stage(black_box(&mut out))));
    out
}

/// Times a stage that changes its input, on copies of `input`. Returns the changed input.
fn changes<T: Clone>(
    group: &mut Group<'_>,
    name: &str,
    input: &T,
    mut stage: impl FnMut(&mut T),
) -> T {
    let mut out = input.clone();
    stage(&mut out);
    group.bench_function(name, |b| {
        b.iter_batched_ref(|| input.clone(), &mut stage, BatchSize::LargeInput);
    });
    out
}

criterion_group!(benches, levels, stages);
criterion_main!(benches);

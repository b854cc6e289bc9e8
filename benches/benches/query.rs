//! Questions asked of the city: each over the same 200 pairs of points.

#![allow(missing_docs, reason = "criterion's macros generate the entry points")]
#![allow(clippy::unwrap_used, reason = "the points stand on the mesh")]

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use throng::parts::query::mesh::{
    AreaSearch, DEFAULT_MAX_NODES, FunnelScratch, PathSearch, WallSegment, find_nearest_poly,
    find_straight_path, move_along_surface, random_point, raycast, surface_height,
};
use throng::{
    DVec3, MeshQuery, NavMesh, NodeModel, PathOptions, PolyRef, QueryFilter, SplitMix64,
    StraightPathPoint,
};
use throng_benches::{level, mesh, pairs};

const PAIRS: usize = 200;
/// Half size of the box the nearest polygon is looked for in.
const NEAR: DVec3 = DVec3::new(2.0, 4.0, 2.0);
/// Radius of the searches around a point.
const RADIUS: f64 = 8.0;
/// Length of a slide: a step of a person at a run.
const STRIDE: f64 = 0.25;

/// Two points of the mesh, their polygons, and the corridor between them.
struct Way {
    from: DVec3,
    to: DVec3,
    start: PolyRef,
    end: PolyRef,
    corridor: Vec<PolyRef>,
}

fn questions(c: &mut Criterion) {
    let mesh = mesh(&level("city", 256.0));
    let ways = ways(&mesh);
    let mut group = c.benchmark_group("query");
    group.sample_size(20);
    group.throughput(Throughput::Elements(PAIRS as u64));
    paths(&mut group, &mesh, &ways);
    walks(&mut group, &mesh, &ways);
    places(&mut group, &mesh, &ways);
    surroundings(&mut group, &mesh, &ways);
    group.finish();
}

fn ways(mesh: &NavMesh) -> Vec<Way> {
    let filter = QueryFilter::default();
    let poly = |point| find_nearest_poly(mesh, point, NEAR, &filter).unwrap().poly;
    let mut query = MeshQuery::default();
    let mut way = |(from, to)| Way {
        from,
        to,
        start: poly(from),
        end: poly(to),
        corridor: query
            .find_path(mesh, from, to, &PathOptions::default())
            .unwrap()
            .corridor,
    };
    pairs(mesh, PAIRS, 3).into_iter().map(&mut way).collect()
}

/// Routes: the search in both node models, the string alone, and all of it from two positions.
fn paths(group: &mut BenchmarkGroup<'_, WallTime>, mesh: &NavMesh, ways: &[Way]) {
    let filter = QueryFilter::default();
    let mut corridor = vec![PolyRef::INVALID; 1024];
    for (name, model) in [
        ("search polygons", NodeModel::Polygon),
        ("search crossings", NodeModel::Crossing),
    ] {
        let mut search = PathSearch::new(model, DEFAULT_MAX_NODES);
        each(group, name, ways, |way| {
            let (start, end, out) = (way.start, way.end, &mut corridor);
            search.find_path(mesh, start, end, way.from, way.to, &filter, out)
        });
    }
    let mut funnel = FunnelScratch::new();
    let mut points = vec![StraightPathPoint::default(); 1024];
    each(group, "string", ways, |way| {
        let (corridor, out) = (&way.corridor, &mut points);
        find_straight_path(
            mesh,
            way.from,
            way.to,
            corridor,
            &mut funnel,
            out,
            usize::MAX,
        )
    });
    let mut query = MeshQuery::default();
    let options = PathOptions::default();
    each(group, "path", ways, |way| {
        query.find_path(mesh, way.from, way.to, &options)
    });
}

/// Along the surface: to the other point or the first wall, and one stride.
fn walks(group: &mut BenchmarkGroup<'_, WallTime>, mesh: &NavMesh, ways: &[Way]) {
    let filter = QueryFilter::default();
    let mut visited = vec![PolyRef::INVALID; 256];
    each(group, "raycast", ways, |way| {
        raycast(mesh, way.start, way.from, way.to, &filter, &mut visited)
    });
    each(group, "move", ways, |way| {
        let step = (way.to - way.from) * (STRIDE / way.from.distance(way.to));
        move_along_surface(
            mesh,
            way.start,
            way.from,
            way.from + step,
            &filter,
            &mut visited,
        )
    });
}

/// Points of the mesh: beneath a position, and any.
fn places(group: &mut BenchmarkGroup<'_, WallTime>, mesh: &NavMesh, ways: &[Way]) {
    let filter = QueryFilter::default();
    each(group, "nearest", ways, |way| {
        find_nearest_poly(mesh, way.from, NEAR, &filter)
    });
    each(group, "height", ways, |way| {
        let (tile, poly) = mesh.resolve(way.start)?;
        Some(surface_height(tile, poly, way.from.x, way.from.z))
    });
    let mut rng = SplitMix64::new(5);
    each(group, "random point", ways, |_| {
        random_point(mesh, &mut rng, &filter)
    });
}

/// What lies around a point.
fn surroundings(group: &mut BenchmarkGroup<'_, WallTime>, mesh: &NavMesh, ways: &[Way]) {
    let filter = QueryFilter::default();
    let mut search = AreaSearch::new(DEFAULT_MAX_NODES);
    let mut polys = vec![PolyRef::INVALID; 1024];
    each(group, "circle", ways, |way| {
        let (start, center, out) = (way.start, way.from, &mut polys);
        search.find_polys_in_circle(mesh, start, center, RADIUS, &filter, out, &mut [], &mut [])
    });
    let mut walls = vec![WallSegment::default(); 1024];
    each(group, "walls", ways, |way| {
        search.find_walls(mesh, way.start, way.from, RADIUS, &filter, &mut walls)
    });
}

/// Times one question asked of every way.
fn each<T>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    ways: &[Way],
    mut ask: impl FnMut(&Way) -> T,
) {
    group.bench_function(name, |b| {
        b.iter(|| {
            for way in ways {
                black_box(ask(black_box(way)));
            }
        });
    });
}

criterion_group!(benches, questions);
criterion_main!(benches);

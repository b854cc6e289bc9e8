//! The nearest wall of a search that stops early is that of the whole circle, to the bit: on floors over
//! floors, around vertices whose polygons turn onto themselves, in gaps too narrow to see, at borders of
//! tiles and beside polygons the filter rejects.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

mod common;

use common::{PLAIN, Plan, WILD, build, random_place};
use throng_query::mesh::{AreaSearch, DefaultFilter, QueryFilter, WallHit};
use throng_soa::DVec3;
use throng_soa::mesh::assemble::{LocalPolygons, from_local_polygons};
use throng_soa::mesh::{APART, MeshParams, NavTile, PolyRef, TiledMesh};
use throng_soa::predicates::orient2d;
use throng_soa::rng::SplitMix64;

/// The nearest wall of all polygons of the circle, and of the search that may stop early.
fn both(
    search: &mut AreaSearch,
    mesh: &TiledMesh,
    (start, center): (PolyRef, DVec3),
    radius: f64,
    filter: &QueryFilter,
) -> [WallHit; 2] {
    search
        .begin_circle(mesh, start, center, radius, filter)
        .unwrap();
    search.update(mesh, filter, u32::MAX);
    let all = search.finish_distance_to_wall(mesh, filter);
    let found = search
        .distance_to_wall(mesh, start, center, radius, filter)
        .unwrap();
    [all, found]
}

fn bits(hit: &WallHit) -> [u64; 9] {
    let DVec3 { x, y, z } = hit.point;
    let numbers = [x, y, z, hit.normal.x, hit.normal.z, hit.distance].map(f64::to_bits);
    let [a, b, c, d, e, f] = numbers;
    let rest = [hit.poly.bits(), hit.edge as u64, u64::from(hit.found)];
    [a, b, c, d, e, f, rest[0], rest[1], rest[2]]
}

fn masked() -> QueryFilter {
    let mut filter = QueryFilter::default();
    filter.exclude_flags = 0b100;
    filter
}

/// Asks at places in polygons, at their corners, on their edges and a little beside.
fn compare(mesh: &TiledMesh, rng: &mut SplitMix64, places: usize, widest: f64) -> usize {
    let mut search = AreaSearch::new(65_536);
    let mut found = 0;
    for round in 0..places {
        let (start, middle) = random_place(mesh, rng);
        let (tile, index) = mesh.resolve(start).unwrap();
        let ring = tile.poly_ring(index);
        let corner = ring[rng.next_below(ring.len() as u32) as usize];
        let center = match round % 8 {
            0 => corner,
            1 => (corner + ring[0]) / 2.0,
            2 => corner + (middle - corner) * 1e-4,
            3 => corner + (middle - corner) * -1e-7,
            4 => corner + (middle - corner) * -1e-10,
            _ => middle,
        };
        let radius = match round % 5 {
            0 => widest,
            1 => 0.0,
            _ => rng.range(0.0, widest),
        };
        for filter in [QueryFilter::default(), masked()] {
            let place = (start, center);
            let [all, hit] = both(&mut search, mesh, place, radius, &filter);
            assert_eq!(bits(&all), bits(&hit), "{place:?} {radius} {all:?} {hit:?}");
            found += usize::from(hit.found);
        }
    }
    found
}

#[test]
fn levels_of_many_tiles_and_floors() {
    let mut found = 0;
    for seed in 0..150 {
        let base = if seed % 3 == 0 { PLAIN } else { WILD };
        let layers = 1 + (seed % 2) as i32;
        let plan = Plan {
            seed,
            layers,
            holes: 0.03 * (seed % 7) as f64,
            ..base
        };
        let mut rng = SplitMix64::new(seed);
        found += compare(&build(&plan), &mut rng, 200, 9.0);
    }
    assert!(found > 20_000, "{found}");
}

/// Triangles over the points of a small lattice, as they come: over each other, in fans that turn onto
/// themselves, joined where two share an edge, some of them not. A few points have a twin nearby.
fn lattice(rng: &mut SplitMix64, triangles: usize) -> Option<TiledMesh> {
    let params = MeshParams {
        origin: DVec3::ZERO,
        tile_size: 64.0,
        ..common::params()
    };
    let side = 3 + rng.next_below(5) as usize;
    let mut vertices = Vec::new();
    for row in 0..side {
        for column in 0..side {
            let bend = |rng: &mut SplitMix64| match rng.next_below(4) {
                0 => 0.2 * rng.range(-1.0, 1.0),
                _ => 0.0,
            };
            let (x, z) = (
                4.0 + column as f64 + bend(rng),
                4.0 + row as f64 + bend(rng),
            );
            vertices.push([x as f32, rng.range(0.0, 3.0) as f32, z as f32]);
        }
    }
    let places = vertices.len();
    // Where there is a twin, a triangle may use either.
    let mut twin: Vec<usize> = (0..places).collect();
    for _ in 0..rng.next_below(4) {
        let point = rng.next_below(places as u32) as usize;
        let apart = [0.0, 1e-5, 0.5 * APART, 0.9 * APART, 2.0 * APART, 0.05];
        let away = apart[rng.next_below(6) as usize] as f32;
        let [x, y, z] = vertices[point];
        twin[point] = vertices.len();
        vertices.push([x + away, y, z + away]);
    }
    let mut polygons = LocalPolygons {
        vertices,
        ..LocalPolygons::default()
    };
    for _ in 0..triangles {
        let at = rng.next_below(places as u32) as usize;
        let (column, row) = (at % side, at / side);
        let near = |rng: &mut SplitMix64| {
            let reach = 1 + usize::from(rng.next_below(6) == 0);
            let step = |rng: &mut SplitMix64, place: usize| {
                let most = (side - 1).min(place + reach);
                let least = place.saturating_sub(reach);
                least + rng.next_below((most - least + 1) as u32) as usize
            };
            let point = step(rng, row) * side + step(rng, column);
            if rng.next_below(2) == 0 {
                twin[point]
            } else {
                point
            }
        };
        let mut ring = [at, near(rng), near(rng)].map(|point| point as u16);
        let [a, b, c] = ring.map(|point| {
            let [x, _, z] = polygons.vertices[usize::from(point)];
            [f64::from(x), f64::from(z)]
        });
        let turn = orient2d(a, b, c);
        if turn == 0.0 {
            continue;
        }
        if turn < 0.0 {
            ring.swap(1, 2);
        }
        polygons.poly_vertex_counts.push(3);
        polygons.poly_indices.extend(ring);
        polygons.areas.push(0);
        polygons
            .flags
            .push(1 << (2 * u16::from(rng.next_below(12) == 0)));
    }
    let mut data = from_local_polygons(polygons, &params).ok()?;
    if data.poly_areas.is_empty() {
        return None;
    }
    // Walls between polygons that lie side by side.
    for edge in 0..data.edge_neighbors.len() {
        let neighbor = data.edge_neighbors[edge];
        if neighbor > 0 && rng.next_below(20) == 0 {
            let first = 3 * (neighbor as usize - 1);
            let back = edge as i32 / 3 + 1;
            data.edge_neighbors[edge] = 0;
            for edge in first..first + 3 {
                if data.edge_neighbors[edge] == back {
                    data.edge_neighbors[edge] = 0;
                }
            }
        }
    }
    let mut mesh = TiledMesh::new(params).unwrap();
    mesh.add_tile(NavTile::create(data, &params).ok()?).unwrap();
    Some(mesh)
}

#[test]
fn triangles_thrown_onto_a_lattice() {
    let (mut found, mut kinds) = (0, [0; 3]);
    for seed in 0..4_000 {
        let mut rng = SplitMix64::new(seed);
        let triangles = 2 + rng.next_below(40) as usize;
        if let Some(mesh) = lattice(&mut rng, triangles) {
            count_kinds(&mesh, &mut kinds);
            found += compare(&mesh, &mut rng, 40, 4.0);
        }
    }
    assert!(kinds.iter().all(|&count| count > 400), "{kinds:?}");
    assert!(found > 100_000, "{found}");
}

/// Counts the polygons that are folded, stacked, and neither.
fn count_kinds(mesh: &TiledMesh, kinds: &mut [usize; 3]) {
    for (_, tile) in mesh.tiles() {
        for poly in 0..tile.poly_count() {
            let stacked = tile.stacked_with(poly);
            kinds[stacked.map_or(0, |stacked| 2 - usize::from(!stacked.is_empty()))] += 1;
        }
    }
}

/// Floors of one lattice that wind around a corner of it like a car park: north of it, east of the corner,
/// each goes on where the one below ends. Some cells are missing, some cut in two; floors lie a little
/// aside from each other, and a few points of theirs are one.
fn car_park(rng: &mut SplitMix64) -> Option<TiledMesh> {
    let params = MeshParams {
        origin: DVec3::ZERO,
        tile_size: 64.0,
        ..common::params()
    };
    let side = 3 + rng.next_below(6) as usize;
    let floors = 1 + rng.next_below(3) as usize;
    let corner = [0, 1].map(|_| 1 + rng.next_below(side as u32 - 1) as usize);
    let holes = [0.0, 0.1, 0.3][rng.next_below(3) as usize];
    let row_of = side + 1;
    let bends: Vec<[f64; 2]> = (0..row_of * row_of)
        .map(|_| [0, 1].map(|_| 0.3 * rng.range(-1.0, 1.0) * f64::from(rng.next_below(2))))
        .collect();
    let mut polygons = LocalPolygons::default();
    // One more floor than there are: the free end of the lowest.
    for floor in 0..=floors {
        let aside = [0.0, 0.0, 1e-6, 0.5 * APART, 2.0 * APART, 0.1][rng.next_below(6) as usize];
        for (place, [x, z]) in bends.iter().enumerate() {
            let x = 4.0 + (place % row_of) as f64 + x + aside;
            let z = 4.0 + (place / row_of) as f64 + z + aside;
            polygons
                .vertices
                .push([x, 3.0 * floor as f64, z].map(|value| value as f32));
        }
    }
    let mut names: Vec<usize> = (0..polygons.vertices.len()).collect();
    for _ in 0..rng.next_below(3) {
        let place = rng.next_below((row_of * row_of) as u32) as usize;
        names[place] = place + rng.next_below(floors as u32) as usize * row_of * row_of;
    }
    let vertex = |floor: usize, row: usize, column: usize, north: bool| {
        let floor = if [row, column] == corner {
            0
        } else if north && row == corner[0] && column > corner[1] {
            if floor == 0 { floors } else { floor - 1 }
        } else {
            floor
        };
        names[floor * row_of * row_of + row * row_of + column] as u16
    };
    for floor in 0..floors {
        for (row, column) in (0..side * side).map(|cell| (cell / side, cell % side)) {
            if rng.next_f64() < holes {
                continue;
            }
            let north = row >= corner[0];
            let quad = [(0, 0), (0, 1), (1, 1), (1, 0)]
                .map(|(up, right)| vertex(floor, row + up, column + right, north));
            let flags = 1 << (2 * u16::from(rng.next_below(12) == 0));
            let pieces: &[&[usize]] = match rng.next_below(3) {
                0 => &[&[0, 1, 2], &[0, 2, 3]],
                1 => &[&[0, 1, 3], &[1, 2, 3]],
                _ => &[&[0, 1, 2, 3]],
            };
            for piece in pieces {
                polygons.poly_vertex_counts.push(piece.len() as u8);
                polygons.poly_indices.extend(piece.iter().map(|&k| quad[k]));
                polygons.areas.push(0);
                polygons.flags.push(flags);
            }
        }
    }
    let data = from_local_polygons(polygons, &params).ok()?;
    let mut mesh = TiledMesh::new(params).unwrap();
    mesh.add_tile(NavTile::create(data, &params).ok()?).unwrap();
    Some(mesh)
}

#[test]
fn floors_of_a_car_park() {
    let (mut found, mut kinds) = (0, [0; 3]);
    for seed in 0..4_000 {
        let mut rng = SplitMix64::new(seed);
        if let Some(mesh) = car_park(&mut rng) {
            count_kinds(&mesh, &mut kinds);
            found += compare(&mesh, &mut rng, 60, 5.0);
        }
    }
    assert!(kinds.iter().all(|&count| count > 4000), "{kinds:?}");
    assert!(found > 200_000, "{found}");
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
    for hand in [1.0, -1.0] {
        for count in 1..30 {
            let mesh = spiral(count, 12, hand);
            let tile = mesh.tile(0).unwrap();
            let folded = (0..count)
                .filter(|&poly| tile.stacked_with(poly).is_none())
                .count();
            // About twelve steps to the turn: fewer leave a gap, more lie over the first.
            if count < 11 {
                assert_eq!(folded, 0, "{count} steps");
            } else if count > 13 {
                assert_eq!(folded, count, "{count} steps");
            }
            compare(&mesh, &mut SplitMix64::new(count as u64), 300, 6.0);
        }
    }
}

/// Two quads 2 wide and 1 deep, one above the other in Z with `gap` between, each in polygons of one
/// quad; and whether the first sees the second.
fn across_a_gap(gap: f32) -> (TiledMesh, bool) {
    let params = MeshParams {
        origin: DVec3::ZERO,
        ..common::params()
    };
    let far = 2.0 + gap;
    let polygons = LocalPolygons {
        vertices: vec![
            [1.0, 0.0, 1.0],
            [3.0, 0.0, 1.0],
            [3.0, 0.0, 2.0],
            [1.0, 0.0, 2.0],
            [1.0, 0.0, far],
            [3.0, 0.0, far],
            [3.0, 0.0, far + 1.0],
            [1.0, 0.0, far + 1.0],
        ],
        poly_vertex_counts: vec![4; 2],
        poly_indices: (0..8).collect(),
        areas: vec![0; 2],
        flags: vec![1; 2],
        ..LocalPolygons::default()
    };
    let data = from_local_polygons(polygons, &params).unwrap();
    let tile = NavTile::create(data, &params).unwrap();
    let sees = tile.stacked_with(0) == Some(&[1][..]);
    assert_eq!(sees, tile.stacked_with(1) == Some(&[0][..]));
    let mut mesh = TiledMesh::new(params).unwrap();
    mesh.add_tile(tile).unwrap();
    (mesh, sees)
}

#[test]
fn polygons_are_stacked_up_to_the_distance_where_they_are_apart() {
    for (gap, expected) in [
        (-0.5, true),
        (0.0, true),
        (0.9 * APART as f32, true),
        (1.1 * APART as f32, false),
        (1.0, false),
    ] {
        let (mesh, sees) = across_a_gap(gap);
        assert_eq!(sees, expected, "gap {gap}");
        compare(&mesh, &mut SplitMix64::new(1), 400, 3.0);
    }
}

#[test]
fn a_circle_with_more_polygons_than_the_search_may_hold_is_searched_in_order() {
    // The nearest wall is near, but the circle holds more: dropped polygons are part of the answer, and
    // of the status of a search that knows.
    let mesh = build(&Plan {
        holes: 0.0,
        ..PLAIN
    });
    let mut rng = SplitMix64::new(9);
    for nodes in [1, 2, 5, 20, 1000] {
        let mut search = AreaSearch::new(nodes);
        for _ in 0..200 {
            let (start, center) = random_place(&mesh, &mut rng);
            let [all, hit] = both(&mut search, &mesh, (start, center), 8.0, &masked());
            assert_eq!(bits(&all), bits(&hit), "{nodes} nodes");
        }
    }
}

#[test]
fn a_start_that_does_not_hold_the_centre_is_no_shortcut() {
    // Two islands. From the start's the centre's walls cannot be reached, however near they are.
    let mesh = common::picture(&["..####..", "..####.."]);
    let start = common::poly_at(&mesh, DVec3::new(0.5, 0.0, 0.5));
    let mut search = AreaSearch::new(100);
    let center = DVec3::new(6.5, 0.0, 0.5);
    let hit = search
        .distance_to_wall(&mesh, start, center, 20.0, &DefaultFilter)
        .unwrap();
    assert_eq!((hit.found, hit.distance), (true, 4.5));
    let mut rng = SplitMix64::new(4);
    for _ in 0..500 {
        let (start, _) = random_place(&mesh, &mut rng);
        let (_, center) = random_place(&mesh, &mut rng);
        let place = (start, center);
        let [all, hit] = both(&mut search, &mesh, place, 9.0, &QueryFilter::default());
        assert_eq!(bits(&all), bits(&hit), "{place:?}");
    }
}

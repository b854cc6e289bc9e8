//! The nearest wall of a search that stops early is that of the whole circle, to the bit: on floors over
//! floors, around vertices whose polygons turn onto themselves, in gaps too narrow to see, at borders of
//! tiles and beside polygons the filter rejects.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

mod common;
#[path = "common/nearest.rs"]
mod nearest;

use std::sync::atomic::{AtomicUsize, Ordering};

use common::{PLAIN, Plan, WILD, build, random_place};
use nearest::{bits, both, one_tile};
use throng_query::mesh::{AreaSearch, DefaultFilter, Filter, QueryFilter};
use throng_soa::DVec3;
use throng_soa::mesh::assemble::{LocalPolygons, from_local_polygons};
use throng_soa::mesh::{MeshParams, NavTile, TileData, TiledMesh};
use throng_soa::predicates::orient2d;
use throng_soa::rng::SplitMix64;

/// Polygons nearer than this to each other are stacked, world units.
const APART: f64 = 1e-3;

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
            // The first column is the border of the tile.
            let x = if column > 0 { bend(rng) } else { 0.0 };
            let (x, z) = (column as f64 + x, 4.0 + row as f64 + bend(rng));
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
    mesh_of(data, params)
}

/// A mesh of one tile, if that is one.
fn mesh_of(data: TileData, params: MeshParams) -> Option<TiledMesh> {
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
    assert!(kinds[0] > 4000 && kinds[2] > 4000, "{kinds:?}");
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
    let far = [0.0, 0.0, 4096.0, 1_572_864.0][rng.next_below(4) as usize];
    let params = MeshParams {
        origin: DVec3::new(far, 0.0, -far),
        tile_size: 64.0,
        ..common::params()
    };
    let side = 3 + rng.next_below(6) as usize;
    let floors = 1 + rng.next_below(3) as usize;
    let corner = [0, 1].map(|_| 1 + rng.next_below(side as u32 - 1) as usize);
    let holes = [0.0, 0.1, 0.3][rng.next_below(3) as usize];
    let row_of = side + 1;
    // On straight lines cells can be joined in pairs, and then have straight corners.
    let crooked = f64::from(rng.next_below(2));
    let bends: Vec<[f64; 2]> = (0..row_of * row_of)
        .map(|_| {
            [0, 1].map(|_| 0.3 * crooked * rng.range(-1.0, 1.0) * f64::from(rng.next_below(2)))
        })
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
        let mut taken = 0;
        for (row, column) in (0..side * side).map(|cell| (cell / side, cell % side)) {
            if taken > 0 || rng.next_f64() < holes {
                taken -= usize::from(taken > 0);
                continue;
            }
            let north = row >= corner[0];
            let mut add = |ring: &[u16], flags: u16| {
                polygons.poly_vertex_counts.push(ring.len() as u8);
                polygons.poly_indices.extend(ring);
                polygons.areas.push(0);
                polygons.flags.push(flags);
            };
            let at = |up: usize, right: usize| vertex(floor, row + up, column + right, north);
            let flags = 1 << (2 * u16::from(rng.next_below(12) == 0));
            if crooked == 0.0 && column + 1 < side && rng.next_below(4) == 0 {
                taken = 1;
                let ring = [at(0, 0), at(0, 1), at(0, 2), at(1, 2), at(1, 1), at(1, 0)];
                add(&ring, flags);
                continue;
            }
            let quad = [at(0, 0), at(0, 1), at(1, 1), at(1, 0)];
            let pieces: &[&[usize]] = match rng.next_below(3) {
                0 => &[&[0, 1, 2], &[0, 2, 3]],
                1 => &[&[0, 1, 3], &[1, 2, 3]],
                _ => &[&[0, 1, 2, 3]],
            };
            for piece in pieces {
                let ring: Vec<u16> = piece.iter().map(|&k| quad[k]).collect();
                add(&ring, flags);
            }
        }
    }
    let data = from_local_polygons(polygons, &params).ok()?;
    mesh_of(data, params)
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

#[test]
fn a_circle_with_more_polygons_than_the_search_may_hold_is_searched_in_order() {
    // The nearest wall may be that of a polygon that had to be dropped.
    let mut differ = 0;
    for seed in 0..10 {
        let mesh = build(&Plan {
            seed,
            holes: 0.1,
            ..PLAIN
        });
        let mut rng = SplitMix64::new(seed);
        for nodes in [1, 2, 5, 20, 50, 1000] {
            let mut search = AreaSearch::new(nodes);
            for filter in [QueryFilter::default(), masked()] {
                for _ in 0..50 {
                    let place = random_place(&mesh, &mut rng);
                    let [all, hit] = both(&mut search, &mesh, place, 8.0, &filter);
                    assert_eq!(bits(&all), bits(&hit), "{nodes} nodes");
                    let [free, _] = both(&mut AreaSearch::new(1000), &mesh, place, 8.0, &filter);
                    differ += usize::from(bits(&free) != bits(&hit));
                }
            }
        }
    }
    assert!(differ > 200, "{differ}");
}

#[test]
fn a_start_that_does_not_hold_the_centre_is_no_shortcut() {
    // The walls of the start are far, but the way from it comes by ones that are near.
    let mesh = common::picture(&["......", ".####.", ".####."]);
    let start = common::poly_at(&mesh, DVec3::new(0.5, 0.0, 2.5));
    let center = DVec3::new(5.5, 0.0, 2.5);
    let mut search = AreaSearch::new(100);
    let hit = search
        .distance_to_wall(&mesh, start, center, 6.0, &DefaultFilter)
        .unwrap();
    assert_eq!((hit.found, hit.distance), (true, 0.5));
    assert_eq!(hit.poly, common::poly_at(&mesh, center));
    // Of an island nothing is reached, however near its walls are.
    let mesh = common::picture(&["..####..", "..####.."]);
    let start = common::poly_at(&mesh, DVec3::new(0.5, 0.0, 0.5));
    let center = DVec3::new(6.5, 0.0, 0.5);
    let hit = search
        .distance_to_wall(&mesh, start, center, 20.0, &DefaultFilter)
        .unwrap();
    assert_eq!((hit.found, hit.distance), (true, 4.5));
    for seed in 0..20 {
        let mesh = build(&Plan { seed, ..PLAIN });
        let mut rng = SplitMix64::new(seed);
        let mut search = AreaSearch::new(1000);
        for _ in 0..200 {
            let (start, _) = random_place(&mesh, &mut rng);
            let (_, center) = random_place(&mesh, &mut rng);
            let place = (start, center);
            let [all, hit] = both(&mut search, &mesh, place, 9.0, &QueryFilter::default());
            assert_eq!(bits(&all), bits(&hit), "{place:?}");
        }
    }
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

/// X and Z of a polygon's vertices.
type Outline<'t> = &'t [[f32; 2]];

/// Tiles of quads and other polygons over their own points: `(tile_x, layer, polygons)`.
fn tiles_of(tiles: &[(i32, i32, &[Outline<'_>])]) -> TiledMesh {
    let params = MeshParams {
        origin: DVec3::ZERO,
        ..common::params()
    };
    let mut mesh = TiledMesh::new(params).unwrap();
    for &(tile_x, layer, rings) in tiles {
        let mut polygons = LocalPolygons {
            tile_x,
            layer,
            origin_y: 0.3 * f64::from(layer),
            ..LocalPolygons::default()
        };
        for ring in rings {
            for &[x, z] in *ring {
                let point = [x, 0.0, z];
                let known = polygons.vertices.iter().position(|&other| other == point);
                let index = known.unwrap_or(polygons.vertices.len());
                if known.is_none() {
                    polygons.vertices.push(point);
                }
                polygons.poly_indices.push(index as u16);
            }
            polygons.poly_vertex_counts.push(ring.len() as u8);
            polygons.areas.push(0);
            polygons.flags.push(1);
        }
        let data = from_local_polygons(polygons, &params).unwrap();
        mesh.add_tile(NavTile::create(data, &params).unwrap())
            .unwrap();
    }
    mesh
}

#[test]
fn another_layer_may_have_the_nearest_wall() {
    // The upper floor is reached from the tile beside, which both floors lead to.
    let floor: Outline<'_> = &[[0.0, 2.0], [8.0, 2.0], [8.0, 6.0], [0.0, 6.0]];
    let upper: Outline<'_> = &[[7.0, 3.0], [8.0, 3.0], [8.0, 5.0], [7.0, 5.0]];
    let beside: Outline<'_> = &[[0.0, 2.0], [4.0, 2.0], [4.0, 6.0], [0.0, 6.0]];
    let mesh = tiles_of(&[(0, 0, &[floor]), (0, 1, &[upper]), (1, 0, &[beside])]);
    let mut search = AreaSearch::new(100);
    let center = DVec3::new(6.5, 0.0, 3.0);
    let hit = search
        .distance_to_wall(&mesh, mesh.poly_ref(0, 0), center, 3.0, &DefaultFilter)
        .unwrap();
    assert_eq!((hit.poly, hit.distance), (mesh.poly_ref(1, 0), 0.5));
}

#[test]
fn a_polygon_that_leans_out_of_its_tile_may_have_the_nearest_wall() {
    let floor: Outline<'_> = &[[0.0, 2.0], [8.0, 2.0], [8.0, 7.5], [0.0, 7.5]];
    let beside: Outline<'_> = &[[0.0, 2.0], [4.0, 2.0], [4.0, 6.0], [0.0, 6.0]];
    let leaning: Outline<'_> = &[[0.0, 6.0], [4.0, 6.0], [4.0, 7.0], [-1.5, 7.0]];
    let mesh = tiles_of(&[(0, 0, &[floor]), (1, 0, &[beside, leaning])]);
    let mut search = AreaSearch::new(100);
    let center = DVec3::new(6.5, 0.0, 6.875);
    let hit = search
        .distance_to_wall(&mesh, mesh.poly_ref(0, 0), center, 3.0, &DefaultFilter)
        .unwrap();
    assert_eq!(hit.poly, mesh.poly_ref(1, 1));
    assert!(hit.distance < 0.125);
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

/// Counts how many polygons a search asks about.
#[derive(Default)]
struct Counting(AtomicUsize);

impl Filter for Counting {
    fn passes(&self, _flags: u16, _area: u8) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed);
        true
    }

    fn area_cost(&self, _area: u8) -> f64 {
        1.0
    }

    fn min_area_cost(&self) -> f64 {
        1.0
    }
}

#[test]
fn a_search_looks_no_farther_than_it_must() {
    let asked = |mesh: &TiledMesh, center: DVec3| {
        let filter = Counting::default();
        let start = common::poly_at(mesh, center);
        let hit = AreaSearch::new(1000)
            .distance_to_wall(mesh, start, center, 20.0, &filter)
            .unwrap();
        assert_eq!(hit.distance, 0.25);
        filter.0.into_inner()
    };
    // Beside a wall, with 63 cells in the circle: the start and its three neighbours are asked about.
    let open = common::picture(&["........"; 8]);
    let walled = common::picture(&[
        "........", "........", "........", "...#....", "........", "........", "........",
        "........",
    ]);
    assert_eq!(asked(&walled, DVec3::new(3.5, 0.0, 2.75)), 4);
    // At the border of the tile: all 64 and their neighbours.
    assert_eq!(asked(&open, DVec3::new(3.5, 0.0, 0.25)), 1 + 2 * 112);
}

#[test]
fn a_search_follows_a_mesh_that_changes() {
    let floor: Outline<'_> = &[[0.0, 2.0], [8.0, 2.0], [8.0, 7.5], [0.0, 7.5]];
    let upper: Outline<'_> = &[[7.0, 3.0], [8.0, 3.0], [8.0, 5.0], [7.0, 5.0]];
    let beside: Outline<'_> = &[[0.0, 2.0], [4.0, 2.0], [4.0, 6.0], [0.0, 6.0]];
    let leaning: Outline<'_> = &[[0.0, 6.0], [4.0, 6.0], [4.0, 7.0], [-1.5, 7.0]];
    let all = tiles_of(&[
        (0, 0, &[floor]),
        (0, 1, &[upper]),
        (1, 0, &[beside, leaning]),
    ]);
    let tile = |slot: u32| all.tile(slot).unwrap().built().clone();
    let mut mesh = tiles_of(&[(0, 0, &[floor]), (1, 0, &[beside])]);
    // One search throughout: what it remembers of the tiles has to follow.
    let mut search = AreaSearch::new(100);
    let mut nearest = |mesh: &TiledMesh, x: f64, z: f64| {
        let place = (mesh.poly_ref(0, 0), DVec3::new(x, 0.0, z));
        let [all, hit] = both(&mut search, mesh, place, 3.0, &QueryFilter::default());
        assert_eq!(bits(&all), bits(&hit));
        hit.distance
    };
    assert_eq!(nearest(&mesh, 6.5, 3.0), 1.0);
    assert_eq!(nearest(&mesh, 6.5, 6.875), 0.625);
    let layer = mesh.add_tile(tile(1)).unwrap();
    assert_eq!(nearest(&mesh, 6.5, 3.0), 0.5);
    mesh.remove_tile(layer).unwrap();
    assert_eq!(nearest(&mesh, 6.5, 3.0), 1.0);
    mesh.replace_tile(tile(2)).unwrap();
    assert!(nearest(&mesh, 6.5, 6.875) < 0.125);
    // Another mesh in between.
    assert_eq!(nearest(&all, 6.5, 3.0), 0.5);
    mesh.replace_tile(
        tiles_of(&[(1, 0, &[beside])])
            .tile(0)
            .unwrap()
            .built()
            .clone(),
    )
    .unwrap();
    assert_eq!(nearest(&mesh, 6.5, 6.875), 0.625);
}

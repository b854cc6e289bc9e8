//! The nearest wall of a search that stops early is that of the whole circle, to the bit: on floors over
//! floors, around vertices whose polygons turn onto themselves, in gaps too narrow to see, at borders of
//! tiles and beside polygons the filter rejects.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

mod common;
#[path = "common/floors.rs"]
mod floors;
#[path = "common/nearest.rs"]
mod nearest;

use std::sync::atomic::{AtomicUsize, Ordering};

use common::{PLAIN, Plan, WILD, build, random_place};
use floors::{car_park, lattice};
use nearest::{Outline, bits, both, compare, masked, tiles_of};
use throng_query::mesh::{AreaSearch, DefaultFilter, Filter, QueryFilter};
use throng_soa::DVec3;
use throng_soa::mesh::TiledMesh;
use throng_soa::rng::SplitMix64;

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

//! Steady-state queries allocate nothing: a counting allocator says so.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]
#![allow(
    unsafe_code,
    reason = "an allocator is an unsafe trait; this one only counts and forwards"
)]

mod common;

use common::{Plan, WILD, build, random_place};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use throng_query::mesh::{
    AreaSearch, FunnelScratch, NodeModel, PathSearch, QueryFilter, StraightPathPoint, WallSegment,
    find_nearest_poly, find_straight_path, move_along_surface, random_point, raycast,
};
use throng_soa::DVec3;
use throng_soa::mesh::PolyRef;
use throng_soa::rng::SplitMix64;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: forwards to the system allocator and changes nothing but a thread's own counter.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_second_round_of_every_query_allocates_nothing() {
    let mesh = build(&Plan { links: 3, ..WILD });
    let filter = QueryFilter::default();
    let mut places = Vec::new();
    let mut rng = SplitMix64::new(4);
    for _ in 0..40 {
        places.push((random_place(&mesh, &mut rng), random_place(&mesh, &mut rng)));
    }
    let mut searches =
        [NodeModel::Polygon, NodeModel::Crossing].map(|m| PathSearch::new(m, 65_536));
    let mut area = AreaSearch::new(65_536);
    let mut funnel = FunnelScratch::new();
    let mut corridor = vec![PolyRef::INVALID; 512];
    let mut visited = vec![PolyRef::INVALID; 64];
    let mut points = vec![StraightPathPoint::default(); 512];
    let mut walls = vec![WallSegment::default(); 32];
    let mut keys = vec![0.0; 64];
    let mut round = || {
        let mut rng = SplitMix64::new(9);
        for &((start_poly, start), (end_poly, end)) in &places {
            for search in &mut searches {
                let outcome = search
                    .find_path(
                        &mesh,
                        start_poly,
                        end_poly,
                        start,
                        end,
                        &filter,
                        &mut corridor,
                    )
                    .unwrap();
                let corridor = &corridor[..outcome.count];
                let all = usize::MAX;
                find_straight_path(&mesh, start, end, corridor, &mut funnel, &mut points, all);
            }
            find_nearest_poly(&mesh, start, DVec3::new(2.0, 4.0, 2.0), &filter).unwrap();
            raycast(&mesh, start_poly, start, end, &filter, &mut visited);
            move_along_surface(&mesh, start_poly, start, end, &filter, &mut visited);
            area.find_walls(&mesh, start_poly, start, 6.0, &filter, &mut walls);
            area.find_local_neighbourhood(
                &mesh,
                start_poly,
                start,
                6.0,
                &filter,
                &mut visited,
                &mut [],
                &mut keys,
            )
            .unwrap();
            let shape = [start, start + DVec3::X, start + DVec3::Z];
            area.find_polys_in_shape(
                &mesh,
                start_poly,
                &shape,
                &filter,
                &mut visited,
                &mut [],
                &mut keys,
            )
            .unwrap();
            area.distance_to_wall(&mesh, start_poly, start, 6.0, &filter)
                .unwrap();
            area.random_point_around(&mesh, &mut rng, start_poly, start, 6.0, &filter)
                .unwrap();
            random_point(&mesh, &mut rng, &filter);
        }
    };
    round();
    let before = COUNT.with(Cell::get);
    assert!(before > 0, "the counter counts");
    round();
    assert_eq!(COUNT.with(Cell::get) - before, 0);
}

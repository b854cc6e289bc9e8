//! Corridors: whatever is done to them or to the mesh, they hold together and lead where a fresh
//! query leads.
#![allow(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod common;

use common::{
    CLOSED, EXTENTS, assert_corridor, at, cells, corners, edit, fields, maze, navigator, open_ways,
    patchwork, place, planned,
};
use proptest::prelude::*;
use throng_query::mesh::{NodeModel, PathSearch, QueryStatus, closest_point_on_poly};
use throng_sim::Navigator;
use throng_sim::corridor::{
    CorridorReplan, CorridorStatus, PathCorridor, corridor_length, find_corners, move_position,
    move_target, optimize_topology, optimize_visibility, relocate, replan, validate,
};
use throng_soa::mesh::{PolyRef, TiledMesh};
use throng_soa::rng::SplitMix64;
use throng_soa::world::{DVec3, distance_xz, distance3};

fn nearby(rng: &mut SplitMix64, p: DVec3, reach: f64) -> DVec3 {
    p + DVec3::new(rng.range(-reach, reach), 0.0, rng.range(-reach, reach))
}

#[test]
fn in_a_maze_the_corridor_stays_what_a_fresh_query_finds() {
    let filter = open_ways();
    let mut out = vec![PolyRef::INVALID; 1024];
    for seed in 0..6 {
        let mesh = maze(seed, 8);
        let mut rng = SplitMix64::new(seed);
        let model = [NodeModel::Polygon, NodeModel::Crossing][seed as usize % 2];
        let mut navigator = navigator(model);
        let mut search = PathSearch::new(model, 4096);
        let (from, to) = (place(&mesh, &mut rng).1, place(&mesh, &mut rng).1);
        let (mut corridor, status) = planned(&mesh, from, to, 1024, &mut navigator);
        assert_eq!(status, QueryStatus::Success);
        let mut lengths = std::collections::BTreeSet::new();
        for step in 0..300 {
            if corridor.polys().len() < 3 {
                let to = place(&mesh, &mut rng).1;
                let from = corridor.head().position;
                corridor = planned(&mesh, from, to, 1024, &mut navigator).0;
            }
            if step % 7 == 6 {
                let aim = nearby(&mut rng, corridor.head().target, 3.0);
                move_target(&mut corridor.row(), &mesh, &filter, aim, &mut navigator);
            } else {
                // A wander, and a walk along the route: both ends of the merge.
                let toward = find_corners(&mut corridor.row(), &mesh, 3, &mut navigator);
                assert_eq!(toward, QueryStatus::Success);
                let ahead = navigator.corners().last().unwrap().position;
                let aim = if step % 2 == 0 {
                    nearby(&mut rng, corridor.head().position, 5.0)
                } else {
                    ahead
                };
                move_position(&mut corridor.row(), &mesh, &filter, aim, &mut navigator);
            }
            let head = *corridor.head();
            let polys = corridor.polys();
            lengths.insert(polys.len());
            let (first, last) = (polys[0], head.target_poly);
            let fresh = search
                .find_path(
                    &mesh,
                    first,
                    last,
                    head.position,
                    head.target,
                    &filter,
                    &mut out,
                )
                .unwrap();
            assert_eq!(fresh.status, QueryStatus::Success);
            assert_eq!(polys, &out[..fresh.count], "seed {seed}, step {step}");
            let (start, end) = (head.position, head.target);
            assert_eq!(
                corners(&mesh, start, end, polys),
                corners(&mesh, start, end, &out[..fresh.count])
            );
        }
        assert!(lengths.len() > 10, "the corridor hardly moved: {lengths:?}");
    }
}

/// Repairs the corridor as a follower does: cut or relocate, then replan.
fn repair(
    corridor: &mut PathCorridor,
    mesh: &TiledMesh,
    navigator: &mut Navigator,
) -> Option<QueryStatus> {
    let filter = open_ways();
    let row = &mut corridor.row();
    if validate(row, mesh, &filter, usize::MAX) == CorridorStatus::Invalid
        && !relocate(row, mesh, &filter, EXTENTS).unwrap()
    {
        return None;
    }
    Some(
        replan(row, mesh, &filter, EXTENTS, u32::MAX, navigator)
            .unwrap()
            .status,
    )
}

fn repair_rounds(seeds: std::ops::Range<u64>) -> (usize, usize) {
    let filter = open_ways();
    let mut out = vec![PolyRef::INVALID; 4096];
    let (mut reached, mut cut_off) = (0, 0);
    for seed in seeds {
        let (mut mesh, tiles) = patchwork(seed, 6);
        let mut rng = SplitMix64::new(seed);
        let mut navigator = navigator(NodeModel::Crossing);
        let mut search = PathSearch::new(NodeModel::Crossing, 1 << 14);
        let (from, to) = (place(&mesh, &mut rng).1, place(&mesh, &mut rng).1);
        let (mut corridor, _) = planned(&mesh, from, to, 1024, &mut navigator);
        for _ in 0..40 {
            let aim = nearby(&mut rng, corridor.head().position, 4.0);
            move_position(&mut corridor.row(), &mesh, &filter, aim, &mut navigator);
            edit(&mut mesh, &tiles, &mut rng);
            edit(&mut mesh, &tiles, &mut rng);
            let polys = corridor.polys();
            let ahead = polys[rng.next_below(polys.len() as u32) as usize];
            if rng.next_below(2) == 0 && ahead != polys[0] {
                // Gone already when an edit above took its tile.
                let _ = mesh.set_poly_flags(ahead, CLOSED);
            }
            let Some(status) = repair(&mut corridor, &mesh, &mut navigator) else {
                break;
            };
            let head = *corridor.head();
            let first = corridor.polys()[0];
            assert_corridor(&mesh, corridor.polys(), 1024);
            if status == QueryStatus::NoEndNearby {
                continue;
            }
            let end = closest_point_on_poly(&mesh, head.target_poly, head.target)
                .unwrap()
                .point;
            let fresh = search
                .find_path(
                    &mesh,
                    first,
                    head.target_poly,
                    head.position,
                    end,
                    &filter,
                    &mut out,
                )
                .unwrap();
            assert_eq!(status, fresh.status, "seed {seed}");
            assert_eq!(head.complete, status == QueryStatus::Success);
            if head.complete {
                assert_eq!(corridor.polys().last(), Some(&head.target_poly));
                reached += 1;
            } else {
                cut_off += 1;
            }
        }
    }
    (reached, cut_off)
}

#[test]
fn a_corridor_is_repaired_whenever_a_fresh_query_finds_a_way() {
    let (reached, cut_off) = repair_rounds(0..25);
    assert!(reached > 200 && cut_off > 50, "{reached} {cut_off}");
}

/// Run with `cargo test -p throng-sim --release --test corridors -- --ignored sweep`.
#[test]
#[ignore = "16,000 edits"]
fn a_corridor_is_repaired_whenever_a_fresh_query_finds_a_way_sweep() {
    repair_rounds(100..500);
}

#[test]
fn a_replan_in_slices_is_the_replan_at_once() {
    let filter = open_ways();
    let mut compared = 0;
    for seed in 0..12 {
        let (mut mesh, tiles) = patchwork(seed, 8);
        let mut rng = SplitMix64::new(seed);
        let model = [NodeModel::Polygon, NodeModel::Crossing][seed as usize % 2];
        let mut navigator = navigator(model);
        let (from, to) = (place(&mesh, &mut rng).1, place(&mesh, &mut rng).1);
        let (mut corridor, _) = planned(&mesh, from, to, 48, &mut navigator);
        for _ in 0..10 {
            edit(&mut mesh, &tiles, &mut rng);
            let row = &mut corridor.row();
            if validate(row, &mesh, &filter, usize::MAX) == CorridorStatus::Invalid
                && !relocate(row, &mesh, &filter, EXTENTS).unwrap()
            {
                break;
            }
            // From the agent, or from where the old route ends.
            row.set_target(place(&mesh, &mut rng).1).unwrap();
            row.head.from_start = rng.next_below(2) == 0;
            let sliced = |budget: u32, navigator: &mut Navigator| {
                let mut copy = corridor.clone();
                let row = &mut copy.row();
                let mut plan =
                    CorridorReplan::begin(row, &mesh, &filter, EXTENTS, navigator).unwrap();
                let mut calls = 1;
                while plan.update(row, &mesh, &filter, budget, navigator) == QueryStatus::InProgress
                {
                    calls += 1;
                }
                let outcome = plan.apply(row, navigator);
                if budget == 1 {
                    // One expansion a call; a search may end without one, and there are two.
                    assert!(
                        calls <= outcome.iterations + 2,
                        "{calls} calls: {outcome:?}"
                    );
                }
                (copy.to_bytes(), outcome)
            };
            let at_once = sliced(u32::MAX, &mut navigator);
            for budget in [1, 2, 3, 5, 17, 100] {
                assert_eq!(
                    sliced(budget, &mut navigator),
                    at_once,
                    "slices of {budget}"
                );
            }
            compared += usize::from(at_once.1.iterations > 20);
            corridor.read(&at_once.0).unwrap();
        }
    }
    assert!(
        compared > 20,
        "only {compared} searches were long enough to slice"
    );
}

#[test]
fn a_visibility_shortcut_shortens_far_more_often_than_it_lengthens() {
    let filter = open_ways();
    let (mut shorter, mut longer) = (0, 0);
    for (seed, mesh) in fields(6).enumerate() {
        let mut rng = SplitMix64::new(seed as u64);
        let mut navigator = navigator(NodeModel::Polygon);
        for _ in 0..150 {
            let (from, to) = (place(&mesh, &mut rng).1, place(&mesh, &mut rng).1);
            let (mut corridor, status) = planned(&mesh, from, to, 256, &mut navigator);
            if status != QueryStatus::Success {
                continue;
            }
            let length = |corridor: &PathCorridor, navigator: &mut Navigator| {
                let head = corridor.head();
                let polys = corridor.polys();
                corridor_length(&mesh, head.position, head.target, polys, navigator)
            };
            for _ in 0..5 {
                // Pushed about, then a look at the farthest corner in range.
                let aside = nearby(&mut rng, corridor.head().position, 3.0);
                move_position(&mut corridor.row(), &mesh, &filter, aside, &mut navigator);
                find_corners(&mut corridor.row(), &mesh, 8, &mut navigator);
                let position = corridor.head().position;
                let in_range = |c: &&DVec3| distance_xz(position, **c) <= 10.0;
                let points: Vec<DVec3> = navigator.corners()[1..]
                    .iter()
                    .map(|c| c.position)
                    .collect();
                let Some(&aim) = points.iter().rfind(in_range) else {
                    continue;
                };
                let before = length(&corridor, &mut navigator);
                let row = &mut corridor.row();
                if optimize_visibility(row, &mesh, &filter, aim, 10.0, 16, &mut navigator) {
                    let after = length(&corridor, &mut navigator);
                    shorter += usize::from(after < before - 1e-9);
                    longer += usize::from(after > before + 1e-9);
                    assert_corridor(&mesh, corridor.polys(), 256);
                }
            }
        }
    }
    assert!(
        shorter >= 10 && shorter >= 4 * longer,
        "{shorter} shorter, {longer} longer"
    );
}

#[test]
fn a_topology_shortcut_never_lengthens() {
    let filter = open_ways();
    let mut taken = 0;
    for (seed, mesh) in fields(4).enumerate() {
        let mut rng = SplitMix64::new(seed as u64);
        let mut navigator = navigator(NodeModel::Polygon);
        for _ in 0..100 {
            let (from, to) = (place(&mesh, &mut rng).1, place(&mesh, &mut rng).1);
            let (mut corridor, status) = planned(&mesh, from, to, 256, &mut navigator);
            if status != QueryStatus::Success {
                continue;
            }
            let head = *corridor.head();
            let (start, end) = (head.position, head.target);
            let before = corridor_length(&mesh, start, end, corridor.polys(), &mut navigator);
            let row = &mut corridor.row();
            if optimize_topology(row, &mesh, &filter, 2000, 64, &mut navigator) {
                let after = corridor_length(&mesh, start, end, corridor.polys(), &mut navigator);
                assert!(after < before, "{before} became {after}");
                assert_corridor(&mesh, corridor.polys(), 256);
                taken += 1;
            }
        }
    }
    assert!(taken > 5, "only {taken} shortcuts");
}

/// A way found by a search is taken when it is shorter to walk by a ten thousandth.
#[test]
fn a_topology_shortcut_must_shorten_by_a_ten_thousandth() {
    // A row of unit squares with a gate in the middle, and three squares beside the gate that lead
    // round it. The closer to those squares the way begins and ends, the shorter is the way round.
    let mut mesh = cells(1.0, |x, z| {
        z == 0 && x < 61 || z == 1 && x.abs_diff(30) <= 1
    });
    let gate = mesh.poly_ref(0, 30);
    let mut navigator = navigator(NodeModel::Polygon);
    for (off, taken) in [(0.42, false), (0.43, true)] {
        let (from, to) = (at(0.25, 1.0 - off), at(60.75, 1.0 - off));
        let round = 1.0 + 2.0 * (29.75 * 29.75 + off * off).sqrt();
        let shorter = 1.0 - 60.5 / round;
        assert!((shorter > 1e-4) == taken && (shorter - 1e-4).abs() < 1e-5);
        mesh.set_poly_flags(gate, 1 | CLOSED).unwrap();
        let (mut corridor, status) = planned(&mesh, from, to, 256, &mut navigator);
        assert_eq!((status, corridor.polys().len()), (QueryStatus::Success, 63));
        mesh.set_poly_flags(gate, 1).unwrap();
        let (row, filter) = (&mut corridor.row(), open_ways());
        let changed = optimize_topology(row, &mesh, &filter, 2000, 64, &mut navigator);
        assert_eq!(changed, taken, "{off}");
        assert_eq!(corridor.polys().len(), if taken { 61 } else { 63 });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is done to it, a corridor holds together.
    #[test]
    fn a_corridor_holds_together(
        seed in 0_u64..64,
        capacity in 2_usize..40,
        moves in prop::collection::vec((0_u8..7, -6.0..6.0_f64, -6.0..6.0_f64), 1..60),
    ) {
        let filter = open_ways();
        let (mesh, _) = patchwork(seed, 4);
        let mut rng = SplitMix64::new(seed);
        let mut navigator = navigator(NodeModel::Polygon);
        let (from, to) = (place(&mesh, &mut rng).1, place(&mesh, &mut rng).1);
        let (mut corridor, _) = planned(&mesh, from, to, capacity, &mut navigator);
        for (kind, dx, dz) in moves {
            let head = *corridor.head();
            let off = DVec3::new(dx, 0.0, dz);
            let row = &mut corridor.row();
            let (aim, goal) = (head.position + off, head.target + off);
            match kind {
                0 | 1 => { move_position(row, &mesh, &filter, aim, &mut navigator); }
                2 => { move_target(row, &mesh, &filter, goal, &mut navigator); }
                3 => { optimize_visibility(row, &mesh, &filter, aim, 8.0, 16, &mut navigator); }
                4 => { optimize_topology(row, &mesh, &filter, 64, 16, &mut navigator); }
                5 => { replan(row, &mesh, &filter, EXTENTS, 30, &mut navigator).unwrap(); }
                _ => { prop_assert_eq!(validate(row, &mesh, &filter, 8), CorridorStatus::Valid); }
            }
            assert_corridor(&mesh, corridor.polys(), capacity);
            let head = corridor.head();
            let here = closest_point_on_poly(&mesh, corridor.polys()[0], head.position).unwrap();
            prop_assert!(distance3(here.point, head.position) < 1e-6);
            if head.complete {
                prop_assert_eq!(corridor.polys().last(), Some(&head.target_poly));
            } else {
                prop_assert!(head.needs_replan || !head.from_start);
            }
        }
    }
}

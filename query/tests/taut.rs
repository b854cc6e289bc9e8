//! A remembered string is the string pulled anew, whatever happened to its corridor in between.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use common::{PLAIN, WILD, build, random_place};
use throng_query::mesh::{
    DefaultFilter, FunnelScratch, NodeModel, PathSearch, QueryStatus, StraightPathPoint,
    StringMemory, closest_point_on_poly, find_remembered_path, find_straight_path,
};
use throng_soa::DVec3;
use throng_soa::mesh::{PolyRef, TiledMesh};
use throng_soa::rng::SplitMix64;

/// Pulls both ways and compares every bit.
fn compare(
    mesh: &TiledMesh,
    start: (DVec3, bool),
    target: DVec3,
    corridor: &[PolyRef],
    memory: &mut StringMemory,
    max_corners: usize,
) -> Vec<StraightPathPoint> {
    let mut scratch = (FunnelScratch::new(), FunnelScratch::new());
    let mut found = vec![StraightPathPoint::default(); 2 * corridor.len() + 2];
    let mut expected = found.clone();
    let again = find_remembered_path(
        mesh,
        start,
        target,
        corridor,
        memory,
        &mut scratch.0,
        &mut found,
        max_corners,
    );
    let anew = find_straight_path(
        mesh,
        start.0,
        target,
        corridor,
        &mut scratch.1,
        &mut expected,
        max_corners,
    );
    assert_eq!(again, anew);
    assert_eq!(found[..again.count], expected[..anew.count]);
    found.truncate(again.count);
    found
}

/// A point of a polygon: a corner, the middle, or between.
fn somewhere_on(mesh: &TiledMesh, poly: PolyRef, rng: &mut SplitMix64) -> DVec3 {
    let (tile, index) = mesh.resolve(poly).unwrap();
    let ring = tile.poly_ring(index);
    let corner = ring[rng.next_below(ring.len() as u32) as usize];
    let middle = ring.iter().copied().sum::<DVec3>() / ring.len() as f64;
    corner + (middle - corner) * [0.0, 0.3, 1.0][rng.next_below(3) as usize]
}

#[test]
fn walking_a_corridor_pulls_the_same_string_from_memory() {
    let mut rng = SplitMix64::new(5);
    let (mut pulls, mut bends) = (0, 0);
    for plan in [&PLAIN, &WILD] {
        let mesh = build(plan);
        let mut search = PathSearch::new(NodeModel::Polygon, 65_536);
        for round in 0..150 {
            let (from, to) = (random_place(&mesh, &mut rng), random_place(&mesh, &mut rng));
            search
                .begin(&mesh, from.0, to.0, from.1, to.1, &DefaultFilter)
                .unwrap();
            search.update(&mesh, &DefaultFilter, u32::MAX);
            let mut corridor = search.corridor().0.to_vec();
            let mut memory = StringMemory::default();
            let max_corners = [3, 4, 8, usize::MAX][round % 4];
            let mut target = to.1;
            // Somewhere on the first polygon, again and again, while polygons fall off the front,
            // the target moves, the end is cut off.
            for step in 0..60 {
                let place = somewhere_on(&mesh, corridor[0], &mut rng);
                let on = closest_point_on_poly(&mesh, corridor[0], place).unwrap();
                let start = if step % 2 == 0 {
                    (place, false)
                } else {
                    (on.point, on.over_polygon)
                };
                let points = compare(&mesh, start, target, &corridor, &mut memory, max_corners);
                pulls += 1;
                bends += usize::from(points.len() > 2);
                match rng.next_below(12) {
                    0..=5 if corridor.len() > 1 => {
                        let most = corridor.len().min(4) as u32 - 1;
                        let walked = 1 + rng.next_below(most.max(1)) as usize;
                        let walked = walked.min(corridor.len() - 1);
                        corridor.drain(..walked);
                        memory.trim(walked);
                    }
                    6 => {
                        target = somewhere_on(&mesh, *corridor.last().unwrap(), &mut rng);
                        memory.forget();
                    }
                    7 if corridor.len() > 4 => {
                        corridor.pop();
                        memory.forget();
                    }
                    _ => {}
                }
            }
        }
    }
    assert!(pulls == 18_000 && bends > 2_000, "{bends} of {pulls} bend");
}

#[test]
fn an_edited_mesh_is_looked_at_again() {
    let mut mesh = build(&PLAIN);
    let mut rng = SplitMix64::new(9);
    let mut search = PathSearch::new(NodeModel::Polygon, 65_536);
    let (from, to, corridor) = loop {
        let (from, to) = (random_place(&mesh, &mut rng), random_place(&mesh, &mut rng));
        search
            .begin(&mesh, from.0, to.0, from.1, to.1, &DefaultFilter)
            .unwrap();
        search.update(&mesh, &DefaultFilter, u32::MAX);
        let corridor = search.corridor().0.to_vec();
        if corridor.iter().any(|poly| poly.slot() != from.0.slot()) {
            break (from, to, corridor);
        }
    };
    let mut memory = StringMemory::default();
    let start = (from.1, false);
    assert!(!compare(&mesh, start, to.1, &corridor, &mut memory, 8).is_empty());
    let copy = mesh.clone();
    let gone = *corridor.iter().find(|p| p.slot() != from.0.slot()).unwrap();
    let tile = copy.tile_ref(gone.slot()).unwrap();
    mesh.remove_tile(tile).unwrap();
    assert!(compare(&mesh, start, to.1, &corridor, &mut memory, 8).is_empty());
    // A copy keeps the revision of its content.
    assert_ne!(mesh.revision(), copy.revision());
    assert!(!compare(&copy, start, to.1, &corridor, &mut memory, 8).is_empty());
    let mut scratch = FunnelScratch::new();
    let outcome = find_remembered_path(
        &mesh,
        start,
        to.1,
        &corridor,
        &mut memory,
        &mut scratch,
        &mut [],
        8,
    );
    assert_eq!(outcome.status, QueryStatus::InvalidCorridor);
}

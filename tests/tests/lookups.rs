//! What tiles derive when first asked (world positions, trees, lookup grids, what lies over what): whoever
//! asks first, alone or in a crowd of threads, or has it derived before, gets the same answers.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::sync::Barrier;
use throng::parts::query::mesh::{AreaSearch, find_nearest_poly, surface_height};
use throng::{DVec3, NavMesh, NavSettings, QueryFilter, levels};
use throng_soa::rng::SplitMix64;

/// Polygon, height of the surface, nearest point and nearest wall (distance, polygon, edge) for each place, as
/// bits.
fn answers(mesh: &NavMesh, places: &[DVec3]) -> Vec<[u64; 6]> {
    let (mesh, filter) = (mesh.tiles_mesh(), QueryFilter::default());
    let mut area = AreaSearch::new(1024);
    let mut answer = |&place: &DVec3| {
        let found = find_nearest_poly(mesh, place, DVec3::new(2.0, 8.0, 2.0), &filter).unwrap();
        let height = mesh.resolve(found.poly).map_or(f64::NAN, |(tile, index)| {
            surface_height(tile, index, place.x, place.z)
        });
        let wall = area
            .distance_to_wall(mesh, found.poly, found.point, 6.0, &filter)
            .unwrap();
        [
            found.poly.bits(),
            height.to_bits(),
            found.point.x.to_bits(),
            wall.distance.to_bits(),
            wall.poly.bits(),
            wall.edge as u64,
        ]
    };
    places.iter().map(&mut answer).collect()
}

#[test]
fn lookups_built_in_passing_answer_like_those_built_before() {
    let soup = levels::city(128.0, 3);
    let bytes = NavMesh::build_soup(&soup, &NavSettings::HUMANOID)
        .unwrap()
        .save();
    let mut rng = SplitMix64::new(4);
    let mut at = || rng.range(0.0, 128.0);
    let places: Vec<DVec3> = (0..4000).map(|_| DVec3::new(at(), 0.0, at())).collect();

    let before = NavMesh::load(&bytes).unwrap();
    before.derive_lookups();
    let grids: usize = before
        .tiles_mesh()
        .tiles()
        .map(|(_, tile)| {
            let polys = 0..tile.poly_count();
            polys
                .filter(|&poly| tile.detail_candidates(poly, 0.0, 0.0).is_some())
                .count()
        })
        .sum();
    assert!(grids > 50, "only {grids} polygons have a grid");
    let expected = answers(&before, &places);
    let found = expected.iter().filter(|answer| answer[0] != 0).count();
    assert!(
        found > 2000,
        "{found} of {} places are near the mesh",
        places.len()
    );
    let walls = expected.iter().filter(|answer| answer[4] != 0).count();
    assert!(walls > 2000, "{walls} have a wall in reach");
    for threads in [1, 2, 5, 16] {
        // Nobody has asked this copy; all threads come to each fresh tile at about the same time.
        let fresh = NavMesh::load(&bytes).unwrap();
        let start = Barrier::new(threads);
        std::thread::scope(|scope| {
            let ask = || {
                start.wait();
                answers(&fresh, &places)
            };
            let running: Vec<_> = (0..threads).map(|_| scope.spawn(ask)).collect();
            for thread in running {
                assert_eq!(thread.join().unwrap(), expected, "{threads} threads");
            }
        });
    }
}

//! Random points against the draws they are made of, computed by hand from the generator's numbers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

mod common;
#[path = "common/outlines.rs"]
mod outlines;

use common::{Plan, WILD, all_polys, build, random_place};
use outlines::{common_area, passes, ring};
use throng_query::mesh::{
    AreaSearch, DefaultFilter, QueryFilter, RandomPoint, SurfaceSampler, random_point,
};
use throng_soa::DVec3;
use throng_soa::mesh::PolyRef;
use throng_soa::rng::SplitMix64;

/// The first item whose running sum exceeds `target`.
fn pick(weights: &[f64], target: f64) -> usize {
    let mut sum = 0.0;
    for (i, weight) in weights.iter().enumerate() {
        sum += weight;
        if sum > target {
            return i;
        }
    }
    weights.iter().rposition(|&w| w > 0.0).unwrap()
}

fn place([a, b, c]: [[f64; 2]; 3], u2: f64, u3: f64) -> [f64; 2] {
    let r1 = u2.sqrt();
    [0, 1].map(|i| (1.0 - r1) * a[i] + r1 * (1.0 - u3) * b[i] + r1 * u3 * c[i])
}

fn triangle_area([a, b, c]: [[f64; 2]; 3]) -> f64 {
    0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
}

#[test]
fn sums_made_once_draw_the_same_points() {
    for seed in 0..6 {
        let mut mesh = build(&Plan { seed, ..WILD });
        let filter = QueryFilter::default().with_flags(0xFFFF, 0b10);
        let sums = SurfaceSampler::new(&mesh, &filter);
        let (mut a, mut b) = (SplitMix64::new(seed), SplitMix64::new(seed));
        for _ in 0..500 {
            let point = sums.draw(&mesh, &mut a, &filter);
            assert!(point.is_some());
            assert_eq!(point, random_point(&mesh, &mut b, &filter));
        }
        assert_eq!(a.state, b.state);
        // Another content, another sum.
        let poly = all_polys(&mesh)[0];
        mesh.set_poly_flags(poly, 0b10).unwrap();
        assert!(sums.draw(&mesh, &mut a, &filter).is_none() && a.state == b.state);
    }
}

#[test]
fn a_random_point_is_made_of_its_four_draws() {
    for seed in 0..6 {
        let mesh = build(&Plan { seed, ..WILD });
        let filter = QueryFilter::default().with_flags(0xFFFF, 0b10);
        let fan = |poly: PolyRef| -> Vec<[[f64; 2]; 3]> {
            let (tile, index) = mesh.resolve(poly).unwrap();
            let local: Vec<[f64; 2]> = tile
                .poly_vertices(index)
                .iter()
                .map(|&v| tile.data().vertices[usize::from(v)])
                .map(|[x, _, z]| [f64::from(x), f64::from(z)])
                .collect();
            (1..local.len() - 1)
                .map(|i| [local[0], local[i], local[i + 1]])
                .collect()
        };
        let polys: Vec<PolyRef> = all_polys(&mesh)
            .into_iter()
            .filter(|&poly| passes(&mesh, poly, &filter))
            .collect();
        let areas: Vec<f64> = polys
            .iter()
            .map(|&poly| fan(poly).into_iter().map(triangle_area).sum())
            .collect();
        let total: f64 = areas.iter().sum();
        let mut rng = SplitMix64::new(seed);
        for _ in 0..500 {
            let mut draws = rng;
            let [u0, u1, u2, u3] = [(); 4].map(|()| draws.next_f64());
            let chosen = pick(&areas, u0 * total);
            let triangles = fan(polys[chosen]);
            let weights: Vec<f64> = triangles.iter().copied().map(triangle_area).collect();
            let triangle = triangles[pick(&weights, u1 * areas[chosen])];
            let [x, z] = place(triangle, u2, u3);
            let (tile, index) = mesh.resolve(polys[chosen]).unwrap();
            let (x, z) = (tile.origin().x + x, tile.origin().z + z);
            let y = throng_query::mesh::surface_height(tile, index, x, z);
            let expected = RandomPoint {
                poly: polys[chosen],
                point: DVec3::new(x, y, z),
            };
            assert_eq!(random_point(&mesh, &mut rng, &filter), Some(expected));
            assert_eq!(rng, draws);
        }
    }
}

#[test]
fn known_draws_of_a_known_generator() {
    // The first four numbers of SplitMix64 from 1234567, as published.
    let published = [
        6_457_827_717_110_365_317_u64,
        3_203_168_211_198_807_973,
        9_817_491_932_198_370_423,
        4_593_380_528_125_082_431,
    ];
    let [_, u1, u2, u3] = published.map(|n| (n >> 11) as f64 / (1_u64 << 53) as f64);
    assert!(u1 < 0.5, "the first of the square's two triangles");
    let mesh = common::picture(&["#####", "###.#"]);
    let mut rng = SplitMix64::new(1_234_567);
    let drawn = random_point(&mesh, &mut rng, &DefaultFilter).unwrap();
    let [x, z] = place([[3.0, 1.0], [4.0, 1.0], [4.0, 2.0]], u2, u3);
    assert_eq!(drawn.point, DVec3::new(x, 0.0, z));
    assert!(
        (x - 3.7295).abs() < 1e-3 && (z - 1.1817).abs() < 1e-3,
        "{x} {z}"
    );
}

/// The draws of a point around a place, written with lists: which polygon, which triangle, where.
#[test]
fn a_random_point_around_is_made_of_its_draws() {
    let mut attempts = 0;
    for seed in 0..6 {
        let mesh = build(&Plan { seed, ..WILD });
        let mut search = AreaSearch::new(65_536);
        let mut rng = SplitMix64::new(seed);
        for _ in 0..60 {
            let (start, center) = random_place(&mesh, &mut rng);
            let radius = rng.range(0.2, 6.0);
            let mut draws = rng;
            let drawn = search
                .random_point_around(&mesh, &mut rng, start, center, radius, &DefaultFilter)
                .unwrap();
            let found: Vec<PolyRef> = search.found().collect();
            let square = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
                .map(|(x, z)| center + DVec3::new(x, 0.0, z) * radius);
            let areas: Vec<f64> = found
                .iter()
                .map(|&poly| common_area(&ring(&mesh, poly), &square).max(0.0))
                .collect();
            let total: f64 = areas.iter().sum();
            for attempt in 0..64 {
                attempts += 1;
                let [u0, _, _, _] = [(); 4].map(|()| draws.next_f64());
                if draws != rng {
                    assert!(attempt < 63, "the generator stands between two attempts");
                    continue; // this attempt fell outside the circle
                }
                let drawn = drawn.expect("the last attempt was kept");
                // Sums in another order differ in the last bits: ask only away from the steps.
                let chosen = pick(&areas, u0 * total);
                let near_a_step = [-1e-9, 1e-9]
                    .iter()
                    .any(|d| pick(&areas, (u0 + d) * total) != chosen);
                assert!(near_a_step || found[chosen] == drawn.poly);
                let away = drawn.point - center;
                assert!(away.x * away.x + away.z * away.z <= radius * radius);
                let around = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
                    .map(|(x, z)| drawn.point + DVec3::new(x, 0.0, z) * 1e-6);
                assert!(common_area(&ring(&mesh, drawn.poly), &around) > 0.0);
                break;
            }
        }
    }
    assert!(attempts > 400, "{attempts}: none was refused");
}

/// A point around a place is asked for 64 times and no more, whether or not any part of what was
/// found lies in the circle.
#[test]
fn a_random_point_around_is_given_up_after_64_attempts() {
    // One square of one unit. It lies in the square around every circle below, whose middles are on
    // its diagonal.
    let mesh = common::picture(&["."]);
    let poly = all_polys(&mesh)[0];
    let center = DVec3::new(-9.0, 0.0, -9.0);
    let to_corner = 9.0 * 2.0_f64.sqrt();
    let halves = [
        [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]],
        [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]],
    ];
    let mut search = AreaSearch::new(65_536);
    let (mut at_the_last, mut one_too_late) = (0, 0);
    // The circle misses the square; it holds about a 64th of it.
    for (radius, seeds) in [(to_corner - 0.125, 20), (to_corner + 0.125, 4000)] {
        for seed in 0..seeds {
            let mut draws = SplitMix64::new(seed);
            let mut attempt = || {
                let [_, u1, u2, u3] = [(); 4].map(|()| draws.next_f64());
                let [x, z] = place(halves[usize::from(u1 >= 0.5)], u2, u3);
                let away = DVec3::new(x, 0.0, z) - center;
                let inside = away.x * away.x + away.z * away.z <= radius * radius;
                (inside.then_some(DVec3::new(x, 0.0, z)), draws)
            };
            let mut made = 1;
            let (mut expected, mut after) = attempt();
            while expected.is_none() && made < 64 {
                (expected, after) = attempt();
                made += 1;
            }
            at_the_last += usize::from(made == 64 && expected.is_some());
            one_too_late += usize::from(expected.is_none() && attempt().0.is_some());

            let mut rng = SplitMix64::new(seed);
            let drawn = search
                .random_point_around(&mesh, &mut rng, poly, center, radius, &DefaultFilter)
                .unwrap();
            assert_eq!(drawn, expected.map(|point| RandomPoint { poly, point }));
            assert_eq!(rng, after, "seed {seed}: {made} attempts");
            assert!(expected.is_none() || radius > to_corner);
        }
    }
    assert!(
        at_the_last > 3 && one_too_late > 3,
        "{at_the_last} {one_too_late}"
    );
}

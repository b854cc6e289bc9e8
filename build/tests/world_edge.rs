//! Levels of every kind at the low edges of the world, where a tile's border sticks out of it.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use throng_build::cache::{Obstacle, build_soup_cached};
use throng_build::input::{SolidHeightfield, Soup, VoxelChunk, height_grid_soup};
use throng_build::voxel::frame::HeightfieldFrame;
use throng_build::{
    BuildError, BuildOptions, NavSettings, build_chunk_with, build_heightfield_with, build_soup,
    build_soup_with,
};
use throng_soa::mesh::TiledMesh;
use throng_soa::{DVec2, DVec3};

/// The first tile begins a unit inside the world, its border half a unit outside.
const FIRST: f64 = -2_097_151.0;
const AXES: [[usize; 2]; 3] = [[1, 0], [0, 1], [1, 1]];

/// A level strip between two corners.
fn strip(low: DVec2, high: DVec2) -> Soup {
    let corners = [
        (low.x, low.y),
        (low.x, high.y),
        (high.x, low.y),
        (high.x, high.y),
    ];
    let vertices = corners.map(|(x, z)| DVec3::new(x, 0.0, z)).to_vec();
    Soup::new(vertices, vec![[0, 1, 2], [2, 1, 3]]).unwrap()
}

fn humanoid(origin_x: f64, origin_z: f64) -> NavSettings {
    NavSettings {
        origin_x,
        origin_z,
        ..NavSettings::HUMANOID
    }
}

/// Per polygon its number of corners and its bounds seen from above, in hundredths of a unit.
fn polygons(mesh: &TiledMesh, place: impl Fn(DVec3) -> DVec2) -> Vec<(usize, [i64; 4])> {
    let mut all = Vec::new();
    for (_, tile) in mesh.tiles() {
        for poly in 0..tile.poly_count() {
            let ring: Vec<DVec2> = tile.poly_ring(poly).iter().map(|&v| place(v)).collect();
            let low = ring.iter().fold(ring[0], |low, &v| low.min(v));
            let high = ring.iter().fold(ring[0], |high, &v| high.max(v));
            let bounds = [low.x, low.y, high.x, high.y].map(|v| (v * 100.0).round() as i64);
            all.push((ring.len(), bounds));
        }
    }
    all.sort_unstable();
    all
}

fn build(soup: &Soup, settings: &NavSettings) -> TiledMesh {
    build_soup(soup.vertices(), soup.triangles(), settings, 1).unwrap()
}

#[test]
fn a_strip_at_a_low_edge_has_the_polygons_of_its_mirror_image() {
    // From 4 units inside the bound over the line between two tiles, which is 65 inside.
    let (near, far) = (2_097_148.0, 2_097_060.0);
    let beside = DVec2::new(10.0, 50.0);
    for along_z in [false, true] {
        let turned = |v: DVec2| if along_z { DVec2::new(v.y, v.x) } else { v };
        let settings = |first: f64| {
            let origin = turned(DVec2::new(first, 0.0));
            humanoid(origin.x, origin.y)
        };
        let (low, high) = (DVec2::new(-near, beside.x), DVec2::new(-far, beside.y));
        let at_edge = build(&strip(turned(low), turned(high)), &settings(FIRST));
        let (low, high) = (DVec2::new(far, beside.x), DVec2::new(near, beside.y));
        let mirror = build(&strip(turned(low), turned(high)), &settings(-FIRST - 64.0));

        let flat = |v: DVec3| turned(DVec2::new(v.x, v.z));
        let found = polygons(&at_edge, |v| DVec2::new(flat(v).x + near, flat(v).y));
        let wanted = polygons(&mirror, |v| DVec2::new(near - flat(v).x, flat(v).y));
        assert_eq!(found, wanted);
        // One rectangle a tile; a radius of two cells is taken off, to within a cell.
        assert_eq!(found.len(), 2);
        let cell = 6400.0 / 214.0;
        for (corners, bounds) in &found {
            assert_eq!(*corners, 4);
            for (edge, shrunk) in [(1000, bounds[1]), (5000, bounds[3])] {
                assert!(((shrunk - edge).abs() as f64 - 1.5 * cell).abs() <= 1.5 * cell + 1.0);
            }
        }
        assert_eq!((found[0].1[2], found[1].1[0]), (6100, 6100));
        assert!((found[0].1[0] as f64 - 1.5 * cell).abs() <= 1.5 * cell + 1.0);
    }
}

#[test]
fn every_kind_of_level_builds_at_a_low_edge_as_in_the_middle() {
    let heights: Vec<f64> = (0..21 * 21)
        .map(|i| f64::from(i % 21) * 0.1 + f64::from(i / 21) * 0.05)
        .collect();
    let whole_cells = |x: f64, z: f64| NavSettings {
        cell_size: 0.25,
        tile_size: 16.0,
        ..humanoid(x, z)
    };
    let mut cells = vec![0_u8; 90 * 90 * 12];
    for (column, voxels) in cells.chunks_exact_mut(12).enumerate() {
        voxels[..if column % 90 == 40 && column / 90 < 60 {
            11
        } else {
            2
        }]
            .fill(1);
    }
    let chunk = VoxelChunk::from_dense(90, 90, 12, &cells).unwrap();
    let frame = HeightfieldFrame {
        origin: DVec3::ZERO,
        cell_size: 0.25,
        cell_height: 0.2,
        width: 90,
        depth: 90,
        rows: 20,
    };
    let mut field = SolidHeightfield::new(frame).unwrap();
    for column in (0..90 * 90).filter(|column| column % 90 != 50) {
        field
            .add_span((column % 90, column / 90), 0..3, 63, 1)
            .unwrap();
    }
    let none = BuildOptions::default();
    let builds = |x: f64, z: f64| {
        let settings = whole_cells(x, z);
        let grid = height_grid_soup(&heights, 21, 21, DVec2::new(x, z), 1.5).unwrap();
        [
            build(&grid, &settings),
            build_chunk_with(&chunk, None, &settings, &none).unwrap(),
            build_heightfield_with(&field, &settings, &none).unwrap(),
        ]
    };
    let middle = builds(0.0, 0.0);
    for [on_x, on_z] in AXES {
        let at_edge = builds(FIRST * on_x as f64, FIRST * on_z as f64);
        for (found, wanted) in at_edge.iter().zip(&middle) {
            assert!(wanted.poly_count() > 3);
            let tiles = |mesh: &TiledMesh| -> Vec<_> {
                mesh.tiles().map(|(_, tile)| tile.data().clone()).collect()
            };
            assert!(tiles(found) == tiles(wanted), "axes {on_x} {on_z}");
        }
    }
}

#[test]
fn an_obstacle_at_a_low_edge_is_cut_out_as_by_a_fresh_build() {
    let settings = humanoid(FIRST, FIRST);
    let low = DVec2::splat(FIRST + 1.0);
    let soup = strip(low, low + 40.0);
    let (vertices, triangles) = (soup.vertices(), soup.triangles());
    let options = BuildOptions::default();
    let (mut mesh, mut cache) =
        build_soup_cached(vertices, triangles, &settings, &options).unwrap();
    let obstacle = Obstacle::cylinder(DVec3::new(low.x + 3.0, -0.5, low.y + 20.0), 2.0, 2.0);
    let obstacle = obstacle.unwrap();
    cache.add_obstacle(obstacle).unwrap();
    assert_eq!(cache.update_all(&mut mesh).unwrap().tiles, 1);
    let options = BuildOptions {
        obstacles: &[obstacle],
        ..options
    };
    let fresh = build_soup_with(vertices, triangles, &settings, &options).unwrap();
    assert!(mesh.poly_count() > 1);
    let contents =
        |mesh: &TiledMesh| -> Vec<_> { mesh.tiles().map(|(_, tile)| tile.content_id()).collect() };
    assert_eq!(contents(&mesh), contents(&fresh));
}

#[test]
fn a_tile_that_begins_at_the_bound_is_named_and_another_origin_builds() {
    let soup = strip(
        DVec2::new(-2_097_100.0, 0.0),
        DVec2::new(-2_097_060.0, 40.0),
    );
    let turned = strip(
        DVec2::new(0.0, -2_097_100.0),
        DVec2::new(40.0, -2_097_060.0),
    );
    for (soup, axis, tile) in [(&soup, "x", "(-32768, 0)"), (&turned, "z", "(0, -32768)")] {
        let outcome = build_soup(soup.vertices(), soup.triangles(), &humanoid(0.0, 0.0), 1);
        let Err(BuildError::Argument(error)) = outcome else {
            panic!("{:?}", outcome.err());
        };
        assert_eq!(error.argument, format!("low {axis} of tile {tile}"));
        assert_eq!(error.value, "-2097152");
        assert!(error.allowed.contains(&format!("origin_{axis}")), "{error}");
        let moved = build(soup, &humanoid(32.0, 32.0));
        assert!(moved.poly_count() > 0);
    }
}

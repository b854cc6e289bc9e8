//! Known answers of whole builds small enough to write down.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use throng_build::voxel::plan::TilePlan;
use throng_build::voxel::volumes::ConvexVolume;
use throng_build::{
    BuildError, BuildOptions, NavSettings, OffMeshLinkDefinition, PartitionType, build_soup,
    build_soup_with, solo_settings,
};
use throng_soa::mesh::format::mesh_bytes;
use throng_soa::mesh::{NO_PORTAL, TiledMesh};
use throng_soa::{DVec2, DVec3};

fn floor(size: f64, y: f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let vertices = vec![
        DVec3::new(0.0, y, 0.0),
        DVec3::new(size, y, 0.0),
        DVec3::new(size, y, size),
        DVec3::new(0.0, y, size),
    ];
    (vertices, vec![[0, 2, 1], [0, 3, 2]])
}

fn only_tile(mesh: &TiledMesh) -> &throng_soa::mesh::TileData {
    assert_eq!(mesh.tile_count(), 1);
    let slot = mesh.occupied_slots().next().unwrap();
    mesh.tile(slot).unwrap().data()
}

#[test]
fn a_forty_unit_floor_is_one_polygon_at_height_zero() {
    let (vertices, triangles) = floor(40.0, 0.0);
    for partition in [
        PartitionType::Watershed,
        PartitionType::Monotone,
        PartitionType::Layers,
    ] {
        let settings = NavSettings {
            partition,
            ..NavSettings::HUMANOID
        };
        let mesh = build_soup(&vertices, &triangles, &settings, 1).unwrap();
        let tile = only_tile(&mesh);
        assert_eq!(tile.poly_vertex_counts, [4]);
        assert_eq!(tile.origin_y, 0.0);
        assert!(tile.vertices.iter().all(|v| v[1] == 0.0));
        assert!(tile.edge_portal_sides.iter().all(|&s| s == NO_PORTAL));
        assert_eq!(tile.detail_triangles.len(), 2);
        assert!(tile.detail_vertices.is_empty());
        // The floor covers 134 cells (the last one in part). The outermost cell is a ledge, and two
        // cells of radius go on each side of what is left.
        let plan = TilePlan::new(&settings).unwrap();
        let border = plan.border as i32;
        let (low, high) = (
            plan.coordinates.corner(border + 3),
            plan.coordinates.corner(border + 131),
        );
        let mut corners: Vec<_> = tile.vertices.iter().map(|v| (v[0], v[2])).collect();
        corners.sort_by(|a, b| a.partial_cmp(b).unwrap());
        assert_eq!(
            corners,
            [(low, low), (low, high), (high, low), (high, high)]
        );
    }
}

#[test]
fn a_floor_over_two_tiles_meets_at_a_portal() {
    let (vertices, triangles) = floor(100.0, 3.0);
    let mesh = build_soup(&vertices, &triangles, &NavSettings::HUMANOID, 1).unwrap();
    assert_eq!(mesh.tile_count(), 4);
    for (slot, tile) in mesh.tiles() {
        assert_eq!(tile.data().poly_vertex_counts, [4], "slot {slot}");
        let portals = tile.data().edge_portal_sides.iter();
        assert_eq!(portals.filter(|&&s| s != NO_PORTAL).count(), 2);
        assert_eq!(tile.poly_links(0).len(), 2);
        assert_eq!(tile.world_y_of_first(), 3.0);
    }
}

trait FirstHeight {
    fn world_y_of_first(&self) -> f64;
}

impl FirstHeight for throng_soa::mesh::Tile {
    fn world_y_of_first(&self) -> f64 {
        self.vertex(0, 0).y
    }
}

#[test]
fn nothing_walkable_gives_an_empty_mesh() {
    let (vertices, _) = floor(40.0, 0.0);
    let upside_down = [[0, 1, 2], [0, 2, 3]];
    for triangles in [&[][..], &upside_down[..], &[[0, 0, 0]][..]] {
        let mesh = build_soup(&vertices, triangles, &NavSettings::HUMANOID, 2).unwrap();
        assert_eq!(mesh.tile_count(), 0);
    }
}

#[test]
fn bad_input_is_named() {
    let (mut vertices, triangles) = floor(40.0, 0.0);
    let argument = |result: Result<TiledMesh, BuildError>| match result {
        Err(BuildError::Argument(error)) => error.argument,
        other => panic!("{other:?}"),
    };
    let settings = NavSettings::HUMANOID;
    assert_eq!(
        argument(build_soup(&vertices, &[[0, 1, 9]], &settings, 1)),
        "triangles[0][2]"
    );
    vertices[2].y = f64::NAN;
    assert_eq!(
        argument(build_soup(&vertices, &triangles, &settings, 1)),
        "vertices[2].y"
    );
    let far = [
        DVec3::new(-2e6, 0.0, -2e6),
        DVec3::new(2e6, 0.0, 2e6),
        DVec3::new(2e6, 0.0, -2e6),
    ];
    assert_eq!(
        argument(build_soup(&far, &[[0, 1, 2]], &settings, 1)),
        "tile_size"
    );
    let (vertices, triangles) = floor(40.0, 0.0);
    let bad = NavSettings {
        cell_size: -1.0,
        ..settings
    };
    assert_eq!(
        argument(build_soup(&vertices, &triangles, &bad, 1)),
        "cell_size"
    );
}

#[test]
fn moving_a_level_by_whole_tiles_moves_its_tiles_unchanged() {
    let (mut vertices, mut triangles) = floor(90.0, 0.0);
    // A ramp onto a block, so there is something to change.
    vertices.extend([
        DVec3::new(20.0, 0.0, 20.0),
        DVec3::new(40.0, 5.0, 20.0),
        DVec3::new(40.0, 5.0, 33.0),
        DVec3::new(20.0, 0.0, 33.0),
    ]);
    triangles.extend([[4, 6, 5], [4, 7, 6]]);
    let settings = NavSettings::HUMANOID;
    let here = build_soup(&vertices, &triangles, &settings, 1).unwrap();
    for (dx, dz) in [(3, -2), (7800, 7800)] {
        let shift = DVec3::new(64.0 * f64::from(dx), 0.0, 64.0 * f64::from(dz));
        let moved: Vec<_> = vertices.iter().map(|&v| v + shift).collect();
        let there = build_soup(&moved, &triangles, &settings, 1).unwrap();
        assert_eq!(here.tile_count(), there.tile_count());
        for ((_, a), (_, b)) in here.tiles().zip(there.tiles()) {
            let mut expected = a.data().clone();
            expected.tile_x += dx;
            expected.tile_z += dz;
            assert_eq!(&expected, b.data());
        }
    }
}

#[test]
fn a_solo_build_is_one_tile_over_the_bounds() {
    let (vertices, triangles) = floor(100.3, 1.0);
    let solo = solo_settings(&vertices, &triangles, &NavSettings::HUMANOID).unwrap();
    assert!(solo.tile_size >= 100.3 && solo.tile_size < 101.0);
    let mesh = build_soup(&vertices, &triangles, &solo, 1).unwrap();
    assert_eq!(only_tile(&mesh).poly_vertex_counts, [4]);
    assert!(solo_settings(&vertices, &[], &NavSettings::HUMANOID).is_err());
    let far: Vec<_> = vertices.iter().map(|&v| v * 100.0).collect();
    assert!(solo_settings(&far, &triangles, &NavSettings::HUMANOID).is_err());
}

#[test]
fn links_are_baked_into_the_layer_that_fits_in_order_of_definition() {
    // Two floors one above the other, twenty units apart in height.
    let (mut vertices, mut triangles) = floor(40.0, 0.0);
    let (above, _) = floor(40.0, 20.0);
    vertices.extend(above);
    triangles.extend([[4, 6, 5], [4, 7, 6]]);
    let link = |y: f64, user_id: u32| OffMeshLinkDefinition {
        start: DVec3::new(10.0, y, 10.0),
        end: DVec3::new(30.0, 20.0, 30.0),
        radius: 0.5,
        bidirectional: user_id % 2 == 1,
        area: 7,
        flags: 9,
        user_id,
    };
    let mut gone = link(0.0, 4);
    gone.start.x = 500.0;
    gone.end.x = 500.0;
    let settings = NavSettings {
        partition: PartitionType::Layers,
        off_mesh_links: vec![
            link(20.0, 1),
            link(0.0, 2),
            link(100.0, 3),
            gone,
            link(20.1, 5),
        ],
        ..NavSettings::HUMANOID
    };
    for detail in [1.8, 0.0] {
        let settings = NavSettings {
            detail_sample_distance: detail,
            ..settings.clone()
        };
        let mesh = build_soup(&vertices, &triangles, &settings, 1).unwrap();
        assert_eq!(mesh.tile_count(), 2);
        let ids = |layer: i32| -> Vec<u32> {
            let slot = mesh.tile_slot_at(0, 0, layer).unwrap();
            let links = &mesh.tile(slot).unwrap().data().off_mesh_links;
            links.iter().map(|l| l.user_id).collect()
        };
        // Link 3 fits no layer, so it goes to the lowest.
        assert_eq!(ids(0), [2, 3]);
        assert_eq!(ids(1), [1, 5]);
    }
    let far = NavSettings {
        off_mesh_links: vec![OffMeshLinkDefinition {
            end: DVec3::new(6000.0, 0.0, 0.0),
            ..link(0.0, 1)
        }],
        ..settings
    };
    match build_soup(&vertices, &triangles, &far, 1) {
        Err(BuildError::Argument(error)) => {
            assert_eq!(error.argument, "off_mesh_links[0].end.x");
        }
        other => panic!("{other:?}"),
    }
}

/// The ends of a link may be 16,384 cells from its tile's corner. Farther across is an error, farther up
/// or down leaves the link out. What counts is what is stored, a `f32`.
#[test]
fn links_reach_16384_cells_from_their_tile_and_no_farther() {
    // Ground in the second tile of each axis, 3 up.
    let corner = DVec3::new(64.0, 3.0, 64.0);
    let (mut vertices, triangles) = floor(40.0, 0.0);
    vertices.iter_mut().for_each(|v| *v += corner);
    let middle = DVec3::new(20.0, 0.0, 20.0);
    for cell_size in [0.25, 0.3, 0.1] {
        let link = |start, end, user_id| OffMeshLinkDefinition {
            start: corner + start,
            end: corner + end,
            radius: 0.5,
            bidirectional: true,
            area: 0,
            flags: 1,
            user_id,
        };
        // The links kept beside one that is in order, or the field that is refused.
        let kept = |start: DVec3, end: DVec3| -> Result<Vec<u32>, String> {
            let settings = NavSettings {
                cell_size,
                off_mesh_links: vec![link(start, end, 7), link(middle, middle * 1.5, 8)],
                ..NavSettings::HUMANOID
            };
            let mesh = match build_soup(&vertices, &triangles, &settings, 1) {
                Ok(mesh) => mesh,
                Err(BuildError::Argument(error)) => return Err(error.argument),
                Err(other) => panic!("{start} to {end}: {other}"),
            };
            let tile = only_tile(&mesh);
            assert_eq!((tile.tile_x, tile.tile_z, tile.origin_y), (1, 1, 3.0));
            Ok(tile.off_mesh_links.iter().map(|l| l.user_id).collect())
        };
        let extent = 16384.0 * cell_size;
        let nearest = extent as f32;
        let just_beyond = f64::from(nearest) > extent;
        let bits = nearest.to_bits() - u32::from(just_beyond);
        let most = f64::from(f32::from_bits(bits));
        // 4915.2 and 1638.4 are rounded up: at the very extent they are stored beyond it.
        assert_eq!(just_beyond, cell_size != 0.25);
        let mut beyond = vec![extent + 1e-5, extent + 0.001, 2.0 * extent];
        beyond.extend(just_beyond.then_some(extent));
        for sign in [1.0, -1.0] {
            for (axis, field) in [(DVec3::X, "end.x"), (DVec3::Z, "end.z")] {
                let end = |reach: f64| middle * (DVec3::ONE - axis) + axis * (sign * reach);
                assert_eq!(kept(middle, end(most)), Ok(vec![7, 8]));
                for &reach in &beyond {
                    let refused = format!("off_mesh_links[0].{field}");
                    assert_eq!(kept(middle, end(reach)), Err(refused));
                }
            }
            let up = |height: f64| middle + DVec3::Y * (sign * height);
            assert_eq!(kept(middle, up(most)), Ok(vec![7, 8]));
            assert_eq!(kept(up(most), middle), Ok(vec![7, 8]));
            for &height in &beyond {
                assert_eq!(kept(middle, up(height)), Ok(vec![8]));
                assert_eq!(kept(up(height), middle), Ok(vec![8]));
            }
        }
    }
}

/// A place a hair inside the world is a place outside it once it is stored: named like any other that
/// no tile can hold, or left out.
#[test]
fn a_link_at_the_edge_of_the_world_is_stored_inside_it_or_not_at_all() {
    let corner = DVec3::new(2_097_152.0 - 64.0, 0.0, 0.0);
    let (mut vertices, triangles) = floor(40.0, 0.0);
    vertices.iter_mut().for_each(|v| *v += corner);
    let build = |end: DVec3| {
        let settings = NavSettings {
            off_mesh_links: vec![OffMeshLinkDefinition {
                start: corner + DVec3::new(20.0, 0.0, 20.0),
                end,
                radius: 0.5,
                bidirectional: true,
                area: 0,
                flags: 1,
                user_id: 7,
            }],
            ..NavSettings::HUMANOID
        };
        build_soup(&vertices, &triangles, &settings, 1)
    };
    let inside = build(DVec3::new(2_097_151.999, 0.0, 20.0)).unwrap();
    assert_eq!(only_tile(&inside).off_mesh_links.len(), 1);
    match build(DVec3::new(2_097_151.999_999_9, 0.0, 20.0)) {
        Err(BuildError::Argument(error)) => assert_eq!(error.argument, "off_mesh_links[0].end.x"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_volume_paints_its_area_and_the_rest_takes_the_settings_area() {
    let (vertices, triangles) = floor(40.0, 0.0);
    let square = |low: f64, high: f64| {
        [(low, low), (high, low), (high, high), (low, high)].map(|(x, z)| DVec2::new(x, z))
    };
    let volumes = [
        ConvexVolume::new(&square(10.0, 22.0), -1.0, 1.0, 5).unwrap(),
        ConvexVolume::new(&square(28.0, 34.0), -1.0, 1.0, 0).unwrap(),
        ConvexVolume::new(&square(2.0, 38.0), 5.0, 9.0, 6).unwrap(), // above the floor
    ];
    for partition in [PartitionType::Watershed, PartitionType::Layers] {
        let settings = NavSettings {
            partition,
            area: 2,
            flags: 0x8001,
            detail_sample_distance: 0.0,
            ..NavSettings::HUMANOID
        };
        let options = BuildOptions {
            volumes: &volumes,
            ..BuildOptions::default()
        };
        let mesh = build_soup_with(&vertices, &triangles, &settings, &options).unwrap();
        let slot = mesh.occupied_slots().next().unwrap();
        let tile = mesh.tile(slot).unwrap();
        let mut areas = [0.0; 64];
        for poly in 0..tile.poly_count() {
            let ring = tile.poly_ring(poly);
            let area = tile.data().poly_areas[poly];
            assert_eq!(tile.data().poly_flags[poly], 0x8001);
            for i in 1..ring.len() - 1 {
                let (u, v) = (ring[i] - ring[0], ring[i + 1] - ring[0]);
                areas[usize::from(area)] += 0.5 * (u.x * v.z - u.z * v.x);
            }
        }
        let near = |value: f64, expected: f64| (value - expected).abs() < 0.05 * expected;
        assert!(near(areas[5], 144.0), "{}", areas[5]);
        assert!(near(areas[2], 38.28 * 38.28 - 144.0 - 36.0), "{}", areas[2]);
        assert_eq!(areas[6], 0.0);
    }
}

#[test]
fn the_thread_count_and_progress_do_not_show_in_the_bytes() {
    let (mut vertices, mut triangles) = floor(300.0, 0.0);
    for i in 0..40 {
        let (x, z) = (f64::from(i * 37 % 290), f64::from(i * 71 % 290));
        let base = vertices.len() as u32;
        for (dx, dz) in [(0.0, 0.0), (7.0, 0.0), (7.0, 7.0), (0.0, 7.0)] {
            vertices.push(DVec3::new(x + dx, 0.4 * f64::from(i % 5) * dx, z + dz));
        }
        triangles.extend([[base, base + 2, base + 1], [base, base + 3, base + 2]]);
    }
    let bytes = |threads| {
        let mesh = build_soup(&vertices, &triangles, &NavSettings::HUMANOID, threads).unwrap();
        mesh_bytes(&mesh)
    };
    let one = bytes(1);
    for threads in [2, 5, 16] {
        assert!(one == bytes(threads), "{threads} threads");
    }
}

#[test]
fn progress_counts_every_tile_once() {
    let (vertices, triangles) = floor(200.0, 0.0);
    let seen = std::sync::Mutex::new(Vec::new());
    let on_tile = |done: usize, total: usize| seen.lock().unwrap().push((done, total));
    let options = BuildOptions {
        threads: 3,
        on_tile: Some(&on_tile),
        ..BuildOptions::default()
    };
    build_soup_with(&vertices, &triangles, &NavSettings::HUMANOID, &options).unwrap();
    let mut seen = seen.into_inner().unwrap();
    seen.sort_unstable();
    let expected: Vec<_> = (1..=16).map(|i| (i, 16)).collect();
    assert_eq!(seen, expected);
}

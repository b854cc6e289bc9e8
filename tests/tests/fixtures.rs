//! Files of released versions: every later release reads them and they behave as they did.
//!
//! `fixtures/<version>/` holds small files of each form and `fixtures.tsv`, a line a file: its
//! name, length and a hash of what the loaded state does (queries, links, steps), not of its
//! bytes. A file is never rewritten: `THRONG_BLESS=1` writes the files and lines that are not there
//! yet, for a version that is not out.
//!
//! The scenes are made by hand, so that no change of the builder touches them; only `baked.onnm`
//! comes from it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::Once;

use throng::parts::sim::crowd::mesh_of_state;
use throng::{
    AgentOptions, Crowd, CrowdOptions, DVec3, MeshParams, MeshQuery, NavMesh, NavSettings,
    OffMeshLinkDefinition, PathOptions, QueryFilter, SplitMix64, TiledMesh,
};
use throng_soa::digest::fnv1a64;
use throng_soa::mesh::assemble::{LocalPolygons, from_local_polygons};
use throng_soa::mesh::format::{mesh_bytes, read_mesh, read_tile, tile_bytes};
use throng_soa::mesh::snapshot::{read_snapshot, snapshot_bytes};
use throng_soa::mesh::{DetailMesh, NavTile, OffMeshLink};
use throng_tests::workspace_folder;

const VERSIONS: [&str; 1] = ["0.1.0"];
const FILES: [&str; 6] = [
    "tile.onpt",
    "mesh.onpm",
    "snapshot.onps",
    "baked.onnm",
    "crowd.opcs",
    "crowd_with_mesh.opcs",
];

fn params() -> MeshParams {
    MeshParams {
        origin: DVec3::new(-16.0, 0.0, -16.0),
        tile_size: 16.0,
        cell_size: 0.25,
        max_verts_per_poly: 6,
        walkable_climb: 0.5,
        agent_radius: 0.5,
        agent_height: 2.0,
        agent_max_slope_degrees: 45.0,
        settings_digest: 0x0123_4567_89AB_CDEF,
    }
}

/// A tile of sixteen squares round a hole, gently sloped, with detail and a link out of it.
fn tile(x: i32, z: i32, links: &[([f32; 3], [f32; 3])]) -> NavTile {
    let mut input = LocalPolygons {
        tile_x: x,
        tile_z: z,
        origin_y: 0.5,
        ..LocalPolygons::default()
    };
    for row in 0..5_u16 {
        for column in 0..5_u16 {
            let (px, pz) = (f32::from(column) * 4.0, f32::from(row) * 4.0);
            let world = (x as f32 * 16.0 + px) * 0.03125 + (z as f32 * 16.0 + pz) * 0.015_625;
            input.vertices.push([px, world, pz]);
            let corner = row * 5 + column;
            if row < 4 && column < 4 && (row, column) != (1, 2) {
                input.poly_vertex_counts.push(4);
                input
                    .poly_indices
                    .extend([corner, corner + 1, corner + 6, corner + 5]);
                input.areas.push((row % 2) as u8);
                input.flags.push(1 << (column % 2));
            }
        }
    }
    let mut data = from_local_polygons(input, &params()).unwrap();
    data.detail_vertices.push([2.0, 0.25, 2.0]);
    data.detail_triangles = vec![[0, 1, 4, 1], [1, 2, 4, 1], [2, 3, 4, 1], [3, 0, 4, 1]];
    data.detail_meshes[0] = DetailMesh {
        vertex_base: 0,
        triangle_base: 0,
        vertex_count: 1,
        triangle_count: 4,
    };
    for (index, &(start, end)) in links.iter().enumerate() {
        data.off_mesh_links.push(OffMeshLink {
            start,
            end,
            radius: 1.5,
            area: 3,
            flags: 1,
            bidirectional: index % 2 == 0,
            user_id: 100 + index as u32,
        });
    }
    NavTile::create(data, &params()).unwrap()
}

/// Three tiles round a gap, a link across it, a freed slot, edits and a switched-off link.
fn mesh() -> TiledMesh {
    let mut mesh = TiledMesh::new(params()).unwrap();
    let across = ([2.0, 0.28, 14.0], [18.0, 1.03, 30.0]);
    let up = ([2.0, 0.0, 14.0], [2.0, 0.5, 20.0]);
    mesh.add_tile(tile(0, 0, &[across, up])).unwrap();
    let gone = mesh.add_tile(tile(5, 5, &[])).unwrap();
    mesh.add_tile(tile(1, 0, &[])).unwrap();
    mesh.add_tile(tile(1, 1, &[])).unwrap();
    mesh.remove_tile(gone).unwrap();
    mesh.set_poly_area(mesh.poly_ref(0, 6), 9).unwrap();
    mesh.set_poly_flags(mesh.poly_ref(2, 3), 0x0101).unwrap();
    mesh.set_off_mesh_link_enabled(mesh.tile_ref(0).unwrap(), 1, false)
        .unwrap();
    mesh
}

/// Walkers on [`mesh`], some of them about to cross its link.
fn crowd(mesh: &TiledMesh) -> Crowd {
    let mut crowd = Crowd::new(CrowdOptions::default()).unwrap();
    let mut ids = Vec::new();
    for i in 0..8 {
        let along = f64::from(i) * 1.5;
        let start = DVec3::new(-14.0 + along, 0.5, -3.0);
        let options = if i % 3 == 0 {
            AgentOptions::SMALL
        } else {
            AgentOptions::HUMANOID
        };
        let id = crowd.add(mesh, start, &options).unwrap();
        let goal = DVec3::new(2.0 + along, 1.5, 14.0);
        crowd.set_destination(mesh, id, goal).unwrap();
        ids.push(id);
    }
    crowd.remove(ids[2]);
    crowd.set_priority(ids[4], 3.0).unwrap();
    for _ in 0..60 {
        crowd.step(mesh, 0.05).unwrap();
    }
    crowd
}

fn baked() -> NavMesh {
    let v = |x, z| DVec3::new(x, 0.0, z);
    let vertices = [v(0.0, 0.0), v(0.0, 40.0), v(40.0, 0.0), v(40.0, 40.0)];
    let settings = NavSettings {
        tile_size: 24.0,
        flags: 5,
        off_mesh_links: vec![OffMeshLinkDefinition {
            start: DVec3::new(5.0, 0.0, 5.0),
            end: DVec3::new(35.0, 0.0, 35.0),
            radius: 1.0,
            bidirectional: true,
            area: 7,
            flags: 4,
            user_id: 11,
        }],
        ..NavSettings::HUMANOID
    };
    NavMesh::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &settings).unwrap()
}

/// What this release writes for a file.
fn written(name: &str) -> Vec<u8> {
    match name {
        "tile.onpt" => tile_bytes(&tile(0, 0, &[([14.0, 0.5, 14.0], [20.0, 1.0, 20.0])])),
        "mesh.onpm" => mesh_bytes(&mesh()),
        "snapshot.onps" => snapshot_bytes(&mesh()),
        "baked.onnm" => baked().save(),
        "crowd.opcs" => {
            let mesh = mesh();
            crowd(&mesh).save_state(&mesh)
        }
        "crowd_with_mesh.opcs" => {
            let mesh = mesh();
            crowd(&mesh).save_state_with_mesh(&mesh)
        }
        other => panic!("{other}"),
    }
}

/// Loads a file; what it does, and what it is written as again.
fn behaviour(name: &str, bytes: &[u8]) -> (String, Vec<u8>) {
    match name {
        "tile.onpt" => {
            let tile = read_tile(bytes, &params()).unwrap();
            let again = tile_bytes(&tile);
            let mut mesh = TiledMesh::new(params()).unwrap();
            mesh.add_tile(tile).unwrap();
            (mesh_transcript(&mesh), again)
        }
        "mesh.onpm" => {
            let mesh = read_mesh(bytes).unwrap();
            (mesh_transcript(&mesh), mesh_bytes(&mesh))
        }
        "snapshot.onps" => {
            let mesh = read_snapshot(bytes).unwrap();
            (mesh_transcript(&mesh), snapshot_bytes(&mesh))
        }
        "baked.onnm" => {
            let mesh = NavMesh::load(bytes).unwrap();
            let text = format!("{:?}\n{}", mesh.settings(), mesh_transcript(&mesh));
            (text, mesh.save())
        }
        "crowd.opcs" => {
            let mesh = mesh();
            let mut crowd = Crowd::new(CrowdOptions::default()).unwrap();
            crowd.restore_state(&mesh, bytes).unwrap();
            let again = crowd.save_state(&mesh);
            (crowd_transcript(&mut crowd, &mesh), again)
        }
        "crowd_with_mesh.opcs" => {
            let mut mesh = mesh_of_state(bytes).unwrap();
            let mut crowd = Crowd::new(CrowdOptions::default()).unwrap();
            crowd.restore_state_with_mesh(&mut mesh, bytes).unwrap();
            let again = crowd.save_state_with_mesh(&mesh);
            let text = mesh_transcript(&mesh) + &crowd_transcript(&mut crowd, &mesh);
            (text, again)
        }
        other => panic!("{other}"),
    }
}

/// Numbers by their bits: a transcript must not hide a last digit.
fn bits(point: DVec3) -> String {
    let [x, y, z] = point.to_array().map(f64::to_bits);
    format!("{x:016X} {y:016X} {z:016X}")
}

fn mesh_transcript(mesh: &TiledMesh) -> String {
    let mut text = String::new();
    for (slot, tile) in mesh.tiles() {
        for poly in 0..tile.poly_count() {
            let reference = mesh.poly_ref(slot, poly as u32).bits();
            let (area, flags) = (tile.poly_area[poly], tile.poly_flags[poly]);
            let _ = write!(text, "{reference:016X} {area} {flags:04X}");
            for link in tile.poly_links(poly) {
                let _ = write!(
                    text,
                    " [{:016X} {} {} {} {} {} {} {}]",
                    link.target.bits(),
                    link.kind as u8,
                    link.edge,
                    link.side,
                    link.range_min,
                    link.range_max,
                    link.link_slot,
                    link.link_index
                );
            }
            text.push('\n');
        }
    }
    let mut query = MeshQuery::default();
    let mut rng = SplitMix64::new(5);
    let filter = QueryFilter::default();
    for _ in 0..20 {
        let mut draw = || throng::parts::query::mesh::random_point(mesh, &mut rng, &filter);
        let (Some(a), Some(b)) = (draw(), draw()) else {
            break;
        };
        let route = query
            .find_path(mesh, a.point, b.point, &PathOptions::default())
            .unwrap();
        let _ = write!(text, "{:?} {:016X}", route.status, route.cost.to_bits());
        for point in &route.points {
            let _ = write!(text, " ({} {})", bits(point.position), point.flags.0);
        }
        text.push('\n');
    }
    text
}

fn crowd_transcript(crowd: &mut Crowd, mesh: &TiledMesh) -> String {
    let mut text = String::new();
    for step in 0..150 {
        if step % 25 == 0 {
            for agent in crowd.agents() {
                let (at, state) = (bits(agent.position()), agent.state());
                let _ = writeln!(text, "{step} {} {at} {state:?}", agent.id());
            }
            let _ = writeln!(text, "{:016X}", crowd.state_hash(mesh));
        }
        crowd.step(mesh, 0.05).unwrap();
    }
    text
}

fn folder(version: &str) -> PathBuf {
    workspace_folder().join("fixtures").join(version)
}

fn manifest(version: &str) -> BTreeMap<String, (usize, String)> {
    let text = fs::read_to_string(folder(version).join("fixtures.tsv")).unwrap_or_default();
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let length = fields[1].parse().unwrap();
            (fields[0].to_owned(), (length, fields[2].to_owned()))
        })
        .collect()
}

/// Blesses when asked to, before any test looks at the files.
fn bless_once() {
    static ONCE: Once = Once::new();
    if std::env::var_os("THRONG_BLESS").is_some() {
        ONCE.call_once(bless);
    }
}

/// Writes what is missing from the newest version's folder.
fn bless() {
    let version = VERSIONS[VERSIONS.len() - 1];
    let folder = folder(version);
    fs::create_dir_all(&folder).unwrap();
    let mut lines = manifest(version);
    for name in FILES {
        let path = folder.join(name);
        if !path.exists() {
            fs::write(&path, written(name)).unwrap();
            lines.remove(name);
        }
        let bytes = fs::read(&path).unwrap();
        let hash = || format!("{:016X}", fnv1a64(behaviour(name, &bytes).0.as_bytes()));
        lines
            .entry(name.to_owned())
            .or_insert_with(|| (bytes.len(), hash()));
    }
    let mut text = String::from("# file, bytes, FNV-1a 64 of what the loaded state does\n");
    for (name, (length, hash)) in lines {
        let _ = writeln!(text, "{name}\t{length}\t{hash}");
    }
    fs::write(folder.join("fixtures.tsv"), text).unwrap();
}

#[test]
fn every_release_is_read_and_behaves_as_it_did() {
    bless_once();
    for version in VERSIONS {
        let manifest = manifest(version);
        assert_eq!(manifest.len(), FILES.len(), "{version}");
        for (name, (length, expected)) in manifest {
            let bytes = fs::read(folder(version).join(&name)).unwrap();
            assert_eq!(bytes.len(), length, "{version}/{name}");
            let (text, again) = behaviour(&name, &bytes);
            let hash = format!("{:016X}", fnv1a64(text.as_bytes()));
            assert_eq!(hash, expected, "{version}/{name} behaves differently");
            assert!(again == bytes, "{version}/{name} is written differently");
        }
    }
}

#[test]
fn the_same_scenes_are_still_written_the_same() {
    bless_once();
    let version = VERSIONS[VERSIONS.len() - 1];
    for name in FILES {
        let frozen = fs::read(folder(version).join(name)).unwrap();
        assert!(written(name) == frozen, "{version}/{name}");
        if name.starts_with("crowd") {
            let (text, _) = behaviour(name, &frozen);
            assert!(
                text.contains("OffMeshLink"),
                "{name}: nobody crosses a link"
            );
        }
    }
}

/// Cuts, tails and every flipped bit of the envelopes that only this crate's callers see: refused,
/// or taken and written back the same.
#[test]
fn damaged_envelopes() {
    let mesh = mesh();
    for name in ["baked.onnm", "crowd.opcs", "crowd_with_mesh.opcs"] {
        let good = written(name);
        let mut target = Crowd::new(CrowdOptions::default()).unwrap();
        let mut target_mesh = mesh.clone();
        let mut read = |bytes: &[u8]| -> Option<Vec<u8>> {
            match name {
                "baked.onnm" => Some(NavMesh::load(bytes).ok()?.save()),
                "crowd.opcs" => {
                    target.restore_state(&mesh, bytes).ok()?;
                    Some(target.save_state(&mesh))
                }
                _ => {
                    target
                        .restore_state_with_mesh(&mut target_mesh, bytes)
                        .ok()?;
                    Some(target.save_state_with_mesh(&target_mesh))
                }
            }
        };
        assert!(read(&good).as_deref() == Some(&good), "{name}");
        for length in 0..good.len() {
            assert!(read(&good[..length]).is_none(), "{name} cut to {length}");
        }
        let mut longer = good.clone();
        longer.push(0);
        assert!(read(&longer).is_none(), "{name} and a byte more");
        let mut accepted = 0;
        for at in 0..good.len() {
            for bit in 0..8 {
                let mut bad = good.clone();
                bad[at] ^= 1 << bit;
                if let Some(again) = read(&bad) {
                    assert!(again == bad, "{name}: byte {at} bit {bit}");
                    accepted += 1;
                }
            }
        }
        println!("{name}: {accepted} of {} flips accepted", 8 * good.len());
    }
}

/// A crowd restored from damaged bytes that were accepted keeps stepping.
#[test]
fn damaged_crowds_step_on() {
    let mesh = mesh();
    let good = crowd(&mesh).save_state(&mesh);
    let mut rng = SplitMix64::new(11);
    let mut stepped = 0;
    for _ in 0..4000 {
        let mut bad = good.clone();
        for _ in 0..1 + rng.next_below(3) {
            let at = rng.next_below(bad.len() as u32) as usize;
            bad[at] ^= 1 << rng.next_below(8);
        }
        let mut target = Crowd::new(CrowdOptions::default()).unwrap();
        if target.restore_state(&mesh, &bad).is_ok() {
            stepped += 1;
            for _ in 0..3 {
                target.step(&mesh, 0.05).unwrap();
            }
            let saved = target.save_state(&mesh);
            let restored = target.restore_state(&mesh, &saved);
            restored.unwrap_or_else(|error| panic!("a state it wrote itself: {error}"));
        }
    }
    println!("{stepped} damaged states stepped");
    assert!(stepped > 100);
}

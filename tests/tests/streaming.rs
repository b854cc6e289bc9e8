//! Streaming: queue order, budgets, refusals, and a mesh whose tiles went out and came back
//! answers as it did.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

use std::sync::Arc;

use throng::parts::build::stream::column_bytes;
use throng::{
    AgentOptions, AgentState, Crowd, CrowdOptions, DVec3, DataErrorKind, MeshEditError, NavMesh,
    NavSettings, PartitionType, PathOptions, PathResult, PathStatus, QueryFilter, SplitMix64,
    StreamErrorCause, TileStreamer, TiledMesh, levels,
};
use throng_soa::mesh::format::{mesh_bytes, read_tile, tile_bytes};
use throng_soa::mesh::{NavTile, TileData};

fn settings() -> NavSettings {
    NavSettings {
        tile_size: 16.0,
        partition: PartitionType::Layers,
        ..NavSettings::HUMANOID
    }
}

/// Overlapping floors in several tile layers.
fn level() -> NavMesh {
    let soup = levels::generate("bridges", 48.0, 3).unwrap();
    let mesh = NavMesh::build_soup(&soup, &settings()).unwrap();
    assert!(columns(&mesh).len() >= 9);
    assert!(mesh.tiles().any(|(_, tile)| tile.data().layer > 0));
    mesh
}

fn columns(mesh: &TiledMesh) -> Vec<(i32, i32)> {
    let mut all: Vec<(i32, i32)> = mesh
        .tiles()
        .map(|(_, tile)| (tile.data().tile_x, tile.data().tile_z))
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Answers without the references in them: a tile that came back has new ones.
fn answers(mesh: &NavMesh) -> Vec<(PathStatus, u64, Vec<[u64; 3]>)> {
    let mut rng = SplitMix64::new(12);
    let mut place = || {
        DVec3::new(
            rng.range(0.0, 48.0),
            rng.range(0.0, 6.0),
            rng.range(0.0, 48.0),
        )
    };
    let plain = |route: PathResult| {
        let points = route.points.iter();
        let bits = points.map(|point| point.position.to_array().map(f64::to_bits));
        (route.status, route.cost.to_bits(), bits.collect())
    };
    (0..60)
        .map(|_| {
            plain(
                mesh.find_path(place(), place(), &PathOptions::default())
                    .unwrap(),
            )
        })
        .collect()
}

/// All tiles by position, as bytes.
fn tiles(mesh: &TiledMesh) -> Vec<Vec<u8>> {
    columns(mesh)
        .into_iter()
        .flat_map(|(x, z)| column_bytes(mesh, x, z))
        .collect()
}

#[test]
fn out_and_in_gives_the_tiles_and_answers_back_but_not_the_references() {
    let mut mesh = level();
    // An edit that shows in answers goes with the tile.
    let slot = mesh.column(1, 1)[0];
    let polys = mesh.tile(slot).unwrap().poly_count() as u32;
    for poly in 0..polys / 2 {
        let poly = mesh.poly_ref(slot, poly);
        mesh.set_poly_area(poly, 7).unwrap();
    }
    let (before_tiles, before) = (tiles(&mesh), answers(&mesh));
    assert!(before.iter().filter(|a| a.0 == PathStatus::Found).count() > 20);
    let old = mesh.poly_ref(slot, 0);
    let mut streamer = TileStreamer::new();
    let mut rng = SplitMix64::new(1);
    for round in 0..4 {
        // All columns out in one order, their tiles in again in another.
        let mut out = columns(&mesh);
        let most = out.len();
        let mut away = Vec::new();
        while !out.is_empty() {
            let (x, z) = out.swap_remove(rng.next_below(out.len() as u32) as usize);
            let bytes = streamer.stream_out(&mesh, x, z);
            assert_eq!(bytes.len(), mesh.column(x, z).len());
            away.extend(bytes);
        }
        let columns_out = streamer.pending();
        while streamer.update(&mut mesh, 1 + round).unwrap() > 0 {}
        assert_eq!((mesh.tile_count(), columns_out), (0, most));
        assert!(mesh.resolve(old).is_none());
        for i in (1..away.len()).rev() {
            away.swap(i, rng.next_below(i as u32 + 1) as usize);
        }
        for tile in away {
            streamer.stream_in(tile);
        }
        while streamer.update(&mut mesh, 1 + round).unwrap() > 0 {}
        assert!(tiles(&mesh) == before_tiles);
        assert!(answers(&mesh) == before);
        assert!(mesh.resolve(old).is_none(), "references do not come back");
    }
    // Current values came back as those as built.
    let slot = mesh.column(1, 1)[0];
    assert_eq!(mesh.tile(slot).unwrap().data().poly_areas[0], 7);
}

#[test]
fn a_level_streamed_tile_by_tile_is_the_level() {
    let baked = level();
    let mut whole = NavMesh::empty(&settings()).unwrap();
    let mut streamer = TileStreamer::new();
    for (_, tile) in baked.tiles() {
        streamer.stream_in(tile_bytes(tile));
    }
    assert_eq!(
        streamer.update(&mut whole, usize::MAX).unwrap(),
        baked.tile_count()
    );
    // In slot order into an empty mesh: the same slots, so the same bytes, links and answers.
    assert!(whole.save() == baked.save());
    assert_eq!(answers(&whole), answers(&baked));
    // Tiles read elsewhere are the same operation.
    let mut ready = NavMesh::empty(&settings()).unwrap();
    for (_, tile) in baked.tiles() {
        streamer.stream_in_tile(tile.built().clone());
    }
    streamer.update(&mut ready, usize::MAX).unwrap();
    assert!(ready.save() == baked.save());
    let shared = ready.tile(0).unwrap().built();
    assert!(Arc::ptr_eq(shared, baked.tile(0).unwrap().built()));
}

#[test]
fn operations_are_applied_in_order_and_no_more_than_allowed() {
    let baked = level();
    let mut mesh = baked.clone();
    let (x, z) = *columns(&mesh)
        .iter()
        .find(|&&(x, z)| mesh.column(x, z).len() > 1)
        .unwrap();
    let layers = mesh.column(x, z).len();
    let mut streamer = TileStreamer::new();
    assert_eq!(streamer.update(&mut mesh, 10).unwrap(), 0);
    // Out, in, replaced, out again: four kinds of state after each operation.
    let bytes = streamer.stream_out(&mesh, x, z);
    streamer.stream_in(bytes[1].clone());
    streamer.stream_in(bytes[1].clone());
    let none_yet = streamer.stream_out(&mesh, 999, 999);
    assert!(none_yet.is_empty());
    streamer.stream_out(&mesh, x, z);
    assert_eq!(streamer.pending(), 5);
    let edits = mesh.edit_count();
    assert_eq!(streamer.update(&mut mesh, 0).unwrap(), 0);
    assert_eq!((mesh.edit_count(), streamer.pending()), (edits, 5));

    assert_eq!(streamer.update(&mut mesh, 1).unwrap(), 1);
    assert_eq!(
        mesh.tile_count(),
        baked.tile_count() - layers,
        "all layers at once"
    );
    assert_eq!(streamer.update(&mut mesh, 1).unwrap(), 1);
    let slot = mesh.column(x, z)[0];
    let (one, salt) = (mesh.tile_count(), mesh.slot_salt(slot).unwrap());
    assert_eq!(streamer.update(&mut mesh, 1).unwrap(), 1);
    assert_eq!(mesh.tile_count(), one, "replaced, not added");
    assert_eq!(mesh.slot_salt(slot), Some(salt + 1));
    // An absent column is an operation that changes nothing.
    let edits = mesh.edit_count();
    assert_eq!(streamer.update(&mut mesh, 1).unwrap(), 1);
    assert_eq!(mesh.edit_count(), edits);
    assert_eq!(streamer.update(&mut mesh, 100).unwrap(), 1);
    assert!(mesh.column(x, z).is_empty());
    assert_eq!(streamer.pending(), 0);

    streamer.stream_in(bytes[0].clone());
    streamer.clear();
    assert_eq!(streamer.update(&mut mesh, 100).unwrap(), 0);
}

#[test]
fn the_budget_changes_nothing_but_when() {
    let baked = level();
    let mut ends = Vec::new();
    for budget in [1, 2, 5, usize::MAX] {
        let mut mesh = baked.clone();
        let mut streamer = TileStreamer::new();
        for (i, (x, z)) in columns(&baked).into_iter().enumerate() {
            let bytes = streamer.stream_out(&mesh, x, z);
            if i % 2 == 0 {
                bytes.into_iter().for_each(|tile| streamer.stream_in(tile));
            }
        }
        while streamer.update(&mut mesh, budget).unwrap() > 0 {}
        ends.push(mesh.save());
    }
    assert!(ends.windows(2).all(|pair| pair[0] == pair[1]));
    assert!(ends[0] != baked.save());
}

#[test]
fn a_refused_operation_leaves_the_queue_and_the_mesh_goes_on() {
    let baked = level();
    let mut mesh = baked.clone();
    let good: Vec<Vec<u8>> = columns(&mesh)
        .iter()
        .take(3)
        .map(|&(x, z)| column_bytes(&mesh, x, z).remove(0))
        .collect();
    let foreign = {
        let other = NavSettings {
            walkable_climb: 0.5,
            ..settings()
        };
        let params = other.to_params().unwrap();
        NavTile::create(TileData::default(), &params).unwrap()
    };
    let mut flipped = good[1].clone();
    flipped[100] ^= 0xFF; // a vertex: broken geometry or another tile, but never a panic
    let cases: Vec<(Vec<u8>, DataErrorKind)> = vec![
        (Vec::new(), DataErrorKind::Truncated),
        (
            good[1][..good[1].len() - 1].to_vec(),
            DataErrorKind::Truncated,
        ),
        ([&good[1][..], &[0]].concat(), DataErrorKind::Trailing),
        (b"nothing at all".to_vec(), DataErrorKind::Magic),
        (tile_bytes(&foreign), DataErrorKind::Fingerprint),
    ];
    for (bad, kind) in cases {
        let mut streamer = TileStreamer::new();
        streamer.stream_in(good[0].clone());
        streamer.stream_in(bad);
        streamer.stream_in(good[2].clone());
        let error = streamer.update(&mut mesh, 10).unwrap_err();
        assert_eq!(error.applied, 1);
        let StreamErrorCause::Data(cause) = &error.cause else {
            panic!("{error}");
        };
        assert_eq!(cause.kind, kind);
        assert!(error.to_string().contains(&cause.problem));
        assert_eq!(
            streamer.pending(),
            1,
            "the refused one is gone, the last one waits"
        );
        let between = mesh.save();
        assert_eq!(streamer.update(&mut mesh, 10).unwrap(), 1);
        assert!(mesh.save() != between);
        assert!(tiles(&mesh) == tiles(&baked));
    }
    // A tile read for another mesh is refused by the mesh itself.
    let before = mesh.save();
    let mut streamer = TileStreamer::new();
    streamer.stream_in_tile(foreign);
    let error = streamer.update(&mut mesh, 1).unwrap_err();
    let refused = StreamErrorCause::Mesh(MeshEditError::Fingerprint {
        x: 0,
        z: 0,
        layer: 0,
    });
    assert_eq!((error.applied, error.cause), (0, refused));
    assert!(mesh.save() == before && streamer.pending() == 0);
    streamer.stream_in(flipped);
    let _ = streamer.update(&mut mesh, 1);
}

#[test]
fn every_damaged_tile_is_refused_or_taken_whole() {
    let baked = level();
    let (x, z) = columns(&baked)[4];
    let good = column_bytes(&baked, x, z).remove(0);
    let mut rng = SplitMix64::new(2);
    let mut mesh = baked.clone();
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..1500 {
        let mut bad = good.clone();
        for _ in 0..1 + rng.next_below(3) {
            let at = rng.next_below(bad.len() as u32) as usize;
            bad[at] ^= 1 << rng.next_below(8);
        }
        let before = mesh_bytes(&mesh);
        let mut streamer = TileStreamer::new();
        streamer.stream_in(bad.clone());
        if streamer.update(&mut mesh, 1).is_ok() {
            taken += 1;
            assert!(tiles(&mesh).contains(&bad));
        } else {
            refused += 1;
            assert!(mesh_bytes(&mesh) == before);
        }
    }
    assert!(taken > 50 && refused > 200, "{taken} {refused}");
}

#[test]
fn a_goal_that_streamed_out_is_sent_again_when_it_returns() {
    let mut mesh = level();
    let mut crowd = Crowd::new(CrowdOptions::default()).unwrap();
    let filter = QueryFilter::default();
    let mut rng = SplitMix64::new(21);
    // Somebody whose goal lies in the far column and whose way is complete.
    let (walker, goal) = loop {
        let (Some(a), Some(b)) = (
            mesh.random_point(&mut rng, &filter),
            mesh.random_point(&mut rng, &filter),
        ) else {
            panic!("an empty level");
        };
        let column = mesh.params().world_to_tile(b.point.x, b.point.z);
        let near = mesh.params().world_to_tile(a.point.x, a.point.z);
        if column != (2, 2) || (near.0 - 2).abs() + (near.1 - 2).abs() < 2 {
            continue;
        }
        let id = crowd.add(&mesh, a.point, &AgentOptions::HUMANOID).unwrap();
        if crowd.set_destination(&mesh, id, b.point).unwrap() == PathStatus::Found {
            break (id, b.point);
        }
        crowd.remove(id);
    };
    let step = |crowd: &mut Crowd, mesh: &NavMesh, count: usize| {
        for _ in 0..count {
            crowd.step(mesh, 0.05).unwrap();
        }
        crowd.agent(walker).unwrap().state()
    };
    assert_eq!(step(&mut crowd, &mesh, 5), AgentState::Moving);
    let mut streamer = TileStreamer::new();
    let away = streamer.stream_out(&mesh, 2, 2);
    streamer.update(&mut mesh, 1).unwrap();
    assert_eq!(step(&mut crowd, &mesh, 40), AgentState::NoPath);
    for tile in away {
        streamer.stream_in(tile);
    }
    streamer.update(&mut mesh, usize::MAX).unwrap();
    let status = crowd.set_destination(&mesh, walker, goal).unwrap();
    assert_eq!(status, PathStatus::Found);
    assert_eq!(step(&mut crowd, &mesh, 3000), AgentState::Arrived);
}

#[test]
fn the_queue_is_no_part_of_a_snapshot() {
    let mesh = level();
    let mut streamer = TileStreamer::new();
    let before = mesh.snapshot(throng::SnapshotMode::Full);
    let bytes = streamer.stream_out(&mesh, 0, 0);
    streamer.stream_in(bytes[0].clone());
    assert!(mesh.snapshot(throng::SnapshotMode::Full) == before);
    let read = read_tile(&bytes[0], mesh.params()).unwrap();
    assert_eq!(
        (read.data().tile_x, read.data().tile_z, read.data().layer),
        (0, 0, 0)
    );
}

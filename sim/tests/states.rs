//! Saved crowds: a restored crowd is the crowd that was saved, byte for byte and step for step, and
//! bytes that are no crowd are refused whole.

#![allow(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod common;

use common::{Level, at, field, floor, place, settings, two_floors};
use throng_sim::crowd::{
    AgentId, AgentOptions, AvoidanceQuality, Crowd, CrowdOptions, mesh_of_state,
};
use throng_sim::follower::FollowerOptions;
use throng_soa::agents::AgentState;
use throng_soa::digest::fnv1a64;
use throng_soa::mesh::snapshot::{restore_snapshot, snapshot_bytes};
use throng_soa::mesh::{NavTile, TiledMesh};
use throng_soa::rng::SplitMix64;

const SMALL: AgentOptions = AgentOptions::SMALL;

fn options() -> CrowdOptions {
    CrowdOptions {
        query_nodes: 2048,
        ..CrowdOptions::default()
    }
}

fn empty() -> Crowd {
    Crowd::new(options()).unwrap()
}

/// `count` walkers on random ways, some of them with settings of their own.
fn walkers(mesh: &TiledMesh, count: usize, seed: u64) -> Crowd {
    let mut rng = SplitMix64::new(seed);
    let mut crowd = empty();
    for i in 0..count {
        let path = FollowerOptions {
            corridor_capacity: 32,
            ..FollowerOptions::SMALL
        };
        let options = match i % 4 {
            0 => AgentOptions {
                path: Some(path),
                ..SMALL
            },
            1 => AgentOptions {
                quality: AvoidanceQuality::High,
                priority: 2.0,
                ..SMALL
            },
            _ => SMALL,
        };
        let (from, to) = (place(mesh, &mut rng).1, place(mesh, &mut rng).1);
        let id = crowd.add(mesh, from, &options).unwrap();
        crowd.set_destination(mesh, id, to).unwrap();
    }
    crowd
}

fn steps(mesh: &TiledMesh, crowd: &mut Crowd, count: usize) {
    for _ in 0..count {
        crowd.step(mesh, 0.05).unwrap();
    }
}

#[test]
fn a_restored_crowd_goes_on_as_the_saved_one() {
    for (mesh, seed) in [(field(3, 40.0, 12, 1.0), 1), (two_floors(), 2)] {
        let mut crowd = walkers(&mesh, 40, seed);
        steps(&mesh, &mut crowd, 37);
        let saved = crowd.save_state(&mesh);
        steps(&mesh, &mut crowd, 80);
        let ahead = crowd.save_state(&mesh);
        assert_ne!(saved, ahead);
        // Into itself, into a fresh crowd, and into one with more threads.
        crowd.restore_state(&mesh, &saved).unwrap();
        let mut fresh = empty();
        fresh.restore_state(&mesh, &saved).unwrap();
        let mut threaded = Crowd::new(CrowdOptions {
            threads: 3,
            ..options()
        })
        .unwrap();
        threaded.restore_state(&mesh, &saved).unwrap();
        for crowd in [&mut crowd, &mut fresh, &mut threaded] {
            assert_eq!(crowd.save_state(&mesh), saved);
            assert_eq!(crowd.step_count(), 37);
            steps(&mesh, crowd, 80);
            assert!(crowd.save_state(&mesh) == ahead);
        }
    }
}

#[test]
fn every_step_can_be_saved_and_gone_on_from() {
    let mesh = two_floors();
    let mut crowd = walkers(&mesh, 12, 5);
    let mut copy = empty();
    let mut crossings = 0;
    for _ in 0..250 {
        crowd.step(&mesh, 0.05).unwrap();
        copy.step(&mesh, 0.05).unwrap();
        if copy.step_count() > 1 {
            assert!(copy.save_state(&mesh) == crowd.save_state(&mesh));
        }
        copy.restore_state(&mesh, &crowd.save_state(&mesh)).unwrap();
        crossings += crowd
            .agents()
            .filter(|a| a.state() == AgentState::OffMeshLink)
            .count();
    }
    assert!(crossings > 20, "nobody crossed a link");
}

/// Bytes before an agent's wall cache flag, from its slot flag on.
const BEFORE_WALLS: usize = 1 + 8 + 8 + 1 + 16 + 5 * 8 + 1 + 4 * 8 + 1;

#[test]
fn an_empty_corridor_has_one_future_wherever_it_is_restored() {
    // Nothing forbids a saved corridor without polygons; what the slot held before must not show.
    let mesh = two_floors();
    let mut used = empty();
    used.add(&mesh, at(20.0, 1.0), &SMALL).unwrap();
    let mut bytes = used.save_state(&mesh);
    let end = bytes.len();
    // One polygon, with its count before the two points and the target polygon.
    let count = end - 8 - 8 - 48 - 4;
    bytes[count..count + 4].fill(0);
    bytes.truncate(end - 8);
    let length = end - (203 + 66 + 8) - 4;
    bytes[length..length + 4].copy_from_slice(&(203 + 66_i32).to_le_bytes());
    let future = |mut crowd: Crowd| {
        crowd.restore_state(&mesh, &bytes).unwrap();
        steps(&mesh, &mut crowd, 2);
        crowd.save_state(&mesh)
    };
    assert!(future(empty()) == future(used));
}

#[test]
fn the_boundary_pieces_are_state() {
    // Between lookups an agent avoids the pieces it found where it looked; a restore that looks
    // again finds others and soon walks differently.
    let mesh = field(8, 40.0, 14, 0.5);
    let mut rng = SplitMix64::new(8);
    let mut crowd = Crowd::new(CrowdOptions {
        max_walls_per_agent: 4,
        wall_refresh_distance: 3.0,
        ..options()
    })
    .unwrap();
    for _ in 0..20 {
        let (from, to) = (place(&mesh, &mut rng).1, place(&mesh, &mut rng).1);
        let id = crowd.add(&mesh, from, &SMALL).unwrap();
        crowd.set_destination(&mesh, id, to).unwrap();
    }
    steps(&mesh, &mut crowd, 30);
    let saved = crowd.save_state(&mesh);
    // The same state with every cache marked stale.
    let mut stale = saved[..40].to_vec();
    let mut at = 40;
    for agent in crowd.agents() {
        let count = agent.walls().len();
        stale.extend_from_slice(&saved[at..at + BEFORE_WALLS]);
        at += BEFORE_WALLS;
        assert_eq!(saved[at], 1, "a cache is valid right after a step");
        stale.push(0);
        at += 1 + 16 + 4 + 60 * count;
        let follower = 4 + 203 + 66 + 8 * agent.corridor().len();
        stale.extend_from_slice(&saved[at..at + follower]);
        at += follower;
    }
    assert_eq!(at, saved.len());
    steps(&mesh, &mut crowd, 40);
    let ahead = crowd.state_hash(&mesh);
    crowd.restore_state(&mesh, &stale).unwrap();
    assert!(crowd.agents().all(|agent| agent.walls().is_empty()));
    steps(&mesh, &mut crowd, 40);
    assert_ne!(
        crowd.state_hash(&mesh),
        ahead,
        "dropping the pieces does not show"
    );
    crowd.restore_state(&mesh, &saved).unwrap();
    steps(&mesh, &mut crowd, 40);
    assert_eq!(crowd.state_hash(&mesh), ahead);
}

#[test]
fn a_stale_boundary_is_saved_as_stale() {
    let mut mesh = field(8, 40.0, 14, 0.5);
    let mut crowd = walkers(&mesh, 10, 3);
    steps(&mesh, &mut crowd, 10);
    let valid = crowd.save_state(&mesh).len();
    let poly = mesh.poly_ref(0, 0);
    mesh.set_poly_area(poly, 3).unwrap();
    let stale = crowd.save_state(&mesh);
    assert!(stale.len() < valid);
    let mut copy = empty();
    copy.restore_state(&mesh, &stale).unwrap();
    steps(&mesh, &mut crowd, 20);
    steps(&mesh, &mut copy, 20);
    assert_eq!(crowd.state_hash(&mesh), copy.state_hash(&mesh));
}

#[test]
fn mesh_and_crowd_go_back_together() {
    let mut mesh = two_floors();
    let mut crowd = walkers(&mesh, 20, 6);
    steps(&mesh, &mut crowd, 25);
    // An edit before the save, so that the saved mesh is not the built one.
    let slot = mesh.occupied_slots().next().unwrap();
    mesh.set_poly_area(mesh.poly_ref(slot, 0), 5).unwrap();
    steps(&mesh, &mut crowd, 5);
    let saved = crowd.save_state_with_mesh(&mesh);
    let crowd_alone = crowd.save_state(&mesh);
    let mesh_alone = snapshot_bytes(&mesh);
    steps(&mesh, &mut crowd, 60);
    let ahead = (crowd.state_hash(&mesh), crowd.save_state_with_mesh(&mesh));
    // The world goes elsewhere: tiles out and back in, links off.
    let tile = mesh.tile_ref(slot).unwrap();
    let built = mesh.tile(slot).unwrap().built().clone();
    mesh.remove_tile(tile).unwrap();
    steps(&mesh, &mut crowd, 10);
    mesh.add_tile(built).unwrap();
    steps(&mesh, &mut crowd, 10);
    crowd.restore_state_with_mesh(&mut mesh, &saved).unwrap();
    assert_eq!(crowd.save_state_with_mesh(&mesh), saved);
    assert_eq!(snapshot_bytes(&mesh), mesh_alone);
    steps(&mesh, &mut crowd, 60);
    assert_eq!(
        (crowd.state_hash(&mesh), crowd.save_state_with_mesh(&mesh)),
        ahead
    );

    // By hand in the right order, and for a host without a mesh.
    restore_snapshot(&mut mesh, &mesh_alone).unwrap();
    crowd.restore_state(&mesh, &crowd_alone).unwrap();
    steps(&mesh, &mut crowd, 60);
    assert_eq!(crowd.state_hash(&mesh), ahead.0);
    let mut other_mesh = mesh_of_state(&saved).unwrap();
    let mut other = empty();
    other
        .restore_state_with_mesh(&mut other_mesh, &saved)
        .unwrap();
    steps(&other_mesh, &mut other, 60);
    assert_eq!(other.state_hash(&other_mesh), ahead.0);
    // Each kind refuses the other.
    assert!(crowd.restore_state(&mesh, &saved).is_err());
    assert!(
        crowd
            .restore_state_with_mesh(&mut mesh, &crowd_alone)
            .is_err()
    );
    assert!(mesh_of_state(&crowd_alone).is_err());
}

#[test]
fn agents_come_and_go_across_a_restore() {
    let mesh = floor(40.0);
    let mut crowd = empty();
    let add = |crowd: &mut Crowd, x: f64| crowd.add(&mesh, at(x, 10.0), &SMALL).unwrap();
    let ids: Vec<AgentId> = (0..5)
        .map(|i| add(&mut crowd, 5.0 + 3.0 * f64::from(i)))
        .collect();
    crowd.remove(ids[2]);
    steps(&mesh, &mut crowd, 3);
    let saved = crowd.save_state(&mesh);
    let next = |crowd: &mut Crowd| {
        let id = crowd.add(&mesh, at(30.0, 30.0), &SMALL).unwrap();
        (id.slot, id.id)
    };
    let expected = next(&mut crowd);
    assert_eq!(expected, (2, 5));
    let late = add(&mut crowd, 35.0);
    crowd.remove(ids[0]);
    crowd.remove(ids[4]);
    let reused = add(&mut crowd, 25.0);
    assert_eq!(reused.slot, 0);
    crowd.restore_state(&mesh, &saved).unwrap();
    assert_eq!(crowd.save_state(&mesh), saved);
    assert_eq!((crowd.len(), crowd.slot_count()), (4, 5));
    // Who was saved is back under the same name; who came later is gone.
    for i in [0, 1, 3, 4] {
        assert!(crowd.agent(ids[i]).is_some());
    }
    for id in [ids[2], late, reused] {
        assert!(crowd.agent(id).is_none());
    }
    assert_eq!(next(&mut crowd), expected);
    // Into a crowd with other agents and other settings in the same slots.
    let mut other = walkers(&mesh, 30, 9);
    steps(&mesh, &mut other, 5);
    other.restore_state(&mesh, &saved).unwrap();
    assert_eq!(other.save_state(&mesh), saved);
    assert_eq!(other.len(), 4);
}

#[test]
fn changed_settings_are_saved_and_taken_back() {
    let mesh = floor(40.0);
    let mut crowd = empty();
    let id = crowd.add(&mesh, at(5.0, 5.0), &SMALL).unwrap();
    crowd.set_destination(&mesh, id, at(35.0, 35.0)).unwrap();
    steps(&mesh, &mut crowd, 10);
    let before = crowd.save_state(&mesh);
    let fast = AgentOptions {
        max_speed: 5.0,
        priority: 2.0,
        ..SMALL
    };
    crowd.set_options(id, &fast).unwrap();
    crowd.set_priority(id, 6.0).unwrap();
    let after = crowd.save_state(&mesh);
    crowd.restore_state(&mesh, &before).unwrap();
    let agent = crowd.agent(id).unwrap();
    assert_eq!((agent.options().max_speed, agent.priority()), (2.5, 1.0));
    crowd.restore_state(&mesh, &after).unwrap();
    let agent = crowd.agent(id).unwrap();
    assert_eq!((agent.options().max_speed, agent.priority()), (5.0, 6.0));
    assert_eq!(crowd.save_state(&mesh), after);
}

#[test]
fn size_buffer_and_hash_are_those_of_the_bytes() {
    let mesh = two_floors();
    let mut crowd = walkers(&mesh, 15, 12);
    for _ in 0..20 {
        let bytes = crowd.save_state(&mesh);
        assert_eq!(crowd.state_size(&mesh), bytes.len());
        assert_eq!(crowd.state_hash(&mesh), fnv1a64(&bytes));
        let mut buffer = vec![0xAA; bytes.len() + 7];
        assert_eq!(crowd.try_save_state(&mesh, &mut buffer), Some(bytes.len()));
        assert_eq!(buffer[..bytes.len()], bytes[..]);
        assert!(buffer[bytes.len()..].iter().all(|&b| b == 0xAA));
        assert_eq!(
            crowd.try_save_state(&mesh, &mut buffer[..bytes.len() - 1]),
            None
        );
        steps(&mesh, &mut crowd, 7);
    }
    let none = empty();
    assert_eq!(none.save_state(&mesh).len(), 40);
    let mut other = walkers(&mesh, 3, 1);
    other.restore_state(&mesh, &none.save_state(&mesh)).unwrap();
    assert!(other.is_empty() && other.slot_count() == 0);
}

/// A small crowd with a bit of everything in its state: a free slot, path settings, walls, a
/// crossing.
fn small() -> (TiledMesh, Crowd) {
    let mut level = Level::default();
    level.slab((0.0, 0.0), (12.0, 12.0), 0.0);
    let link = throng_build::OffMeshLinkDefinition {
        start: at(3.0, 3.0),
        end: at(9.0, 9.0),
        radius: 0.6,
        bidirectional: true,
        area: 0,
        flags: 1,
        user_id: 0,
    };
    let mesh = level.build(&throng_build::NavSettings {
        off_mesh_links: vec![link],
        ..settings()
    });
    let mut crowd = empty();
    let path = FollowerOptions {
        corridor_capacity: 8,
        ..FollowerOptions::SMALL
    };
    let a = crowd
        .add(
            &mesh,
            at(2.5, 2.5),
            &AgentOptions {
                path: Some(path),
                ..SMALL
            },
        )
        .unwrap();
    let b = crowd.add(&mesh, at(10.0, 2.0), &SMALL).unwrap();
    let c = crowd.add(&mesh, at(2.0, 10.0), &SMALL).unwrap();
    crowd.set_destination(&mesh, a, at(9.5, 9.5)).unwrap();
    crowd.set_destination(&mesh, c, at(9.0, 3.0)).unwrap();
    crowd.remove(b);
    steps(&mesh, &mut crowd, 12);
    (mesh, crowd)
}

#[test]
fn short_and_long_bytes_are_refused_whole() {
    let (mut mesh, crowd) = small();
    let bytes = crowd.save_state(&mesh);
    let together = crowd.save_state_with_mesh(&mesh);
    let mut other = walkers(&mesh, 2, 1);
    let before = other.save_state(&mesh);
    for length in 0..bytes.len() {
        assert!(
            other.restore_state(&mesh, &bytes[..length]).is_err(),
            "{length}"
        );
    }
    let long = [&bytes[..], &[0]].concat();
    assert!(other.restore_state(&mesh, &long).is_err());
    assert_eq!(other.save_state(&mesh), before);
    let mesh_before = snapshot_bytes(&mesh);
    for length in (0..together.len()).step_by(3) {
        let short = &together[..length];
        assert!(
            other.restore_state_with_mesh(&mut mesh, short).is_err(),
            "{length}"
        );
    }
    let long = [&together[..], &[0]].concat();
    assert!(other.restore_state_with_mesh(&mut mesh, &long).is_err());
    assert_eq!(other.save_state(&mesh), before);
    assert_eq!(snapshot_bytes(&mesh), mesh_before);
}

#[test]
fn flipped_bits_are_refused_whole_or_walk_on() {
    let (mesh, crowd) = small();
    let bytes = crowd.save_state(&mesh);
    let home = walkers(&mesh, 2, 1);
    let home_bytes = home.save_state(&mesh);
    let mut other = home;
    let (mut taken, mut refused) = (0, 0);
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        match other.restore_state(&mesh, &flipped) {
            Ok(()) => {
                taken += 1;
                assert_eq!(other.save_state(&mesh), flipped, "bit {bit}");
                for _ in 0..3 {
                    other.step(&mesh, 0.05).unwrap();
                }
                // Its own state can be taken again.
                let walked = other.save_state(&mesh);
                other.restore_state(&mesh, &walked).unwrap_or_else(|error| {
                    panic!("bit {bit}: {error}");
                });
                other.restore_state(&mesh, &home_bytes).unwrap();
            }
            Err(error) => {
                refused += 1;
                assert_eq!(other.save_state(&mesh), home_bytes, "bit {bit}: {error}");
            }
        }
    }
    assert!(taken > 1000 && refused > 500, "{taken} {refused}");
}

#[test]
fn flipped_bits_of_mesh_and_crowd_leave_both_or_neither() {
    let (mesh, crowd) = small();
    let bytes = crowd.save_state_with_mesh(&mesh);
    let (mut other_mesh, mut other) = small();
    let before = other.save_state_with_mesh(&other_mesh);
    // Every seventh bit: the crowd part alone is flipped bit by bit above.
    for bit in (0..8 * bytes.len()).step_by(7) {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        match other.restore_state_with_mesh(&mut other_mesh, &flipped) {
            Ok(()) => {
                steps(&other_mesh, &mut other, 2);
                other
                    .restore_state_with_mesh(&mut other_mesh, &before)
                    .unwrap();
            }
            Err(_) => {
                assert!(
                    other.save_state_with_mesh(&other_mesh) == before,
                    "bit {bit}"
                );
            }
        }
    }
}

/// Run with `cargo test -p throng-sim --release --test states -- --ignored`.
#[test]
#[ignore = "200,000 mangled states"]
fn mangled_bytes_never_panic_sweep() {
    let (mesh, crowd) = small();
    let bytes = crowd.save_state(&mesh);
    let mut rng = SplitMix64::new(1);
    let mut other = empty();
    for _ in 0..200_000 {
        let mut mangled = bytes.clone();
        for _ in 0..1 + rng.next_below(6) {
            let at = rng.next_below(mangled.len() as u32) as usize;
            match rng.next_below(4) {
                0 => mangled[at] = rng.next_u64() as u8,
                1 => mangled[at] ^= 1 << rng.next_below(8),
                2 => drop(mangled.drain(at..(at + 8).min(bytes.len()).min(mangled.len()))),
                _ => {
                    let special = [
                        u64::MAX,
                        0,
                        f64::NAN.to_bits(),
                        1e300_f64.to_bits(),
                        1 << 63,
                    ];
                    let value = special[rng.next_below(5) as usize].to_le_bytes();
                    for (byte, new) in mangled[at..].iter_mut().zip(value) {
                        *byte = new;
                    }
                }
            }
            if mangled.is_empty() {
                break;
            }
        }
        if other.restore_state(&mesh, &mangled).is_ok() {
            steps(&mesh, &mut other, 2);
            let walked = other.save_state(&mesh);
            other.restore_state(&mesh, &walked).unwrap();
        }
    }
}

#[test]
fn counters_at_their_last_number_stay_there() {
    let (mesh, crowd) = small();
    let mut bytes = crowd.save_state(&mesh);
    bytes[24..40].copy_from_slice(&[i64::MAX.to_le_bytes(), i64::MAX.to_le_bytes()].concat());
    let mut other = empty();
    other.restore_state(&mesh, &bytes).unwrap();
    steps(&mesh, &mut other, 2);
    assert_eq!(other.step_count(), i64::MAX as u64);
    assert!(other.add(&mesh, at(6.0, 6.0), &SMALL).is_err());
    let walked = other.save_state(&mesh);
    other.restore_state(&mesh, &walked).unwrap();
    bytes[24] = 0xFF;
    bytes[31] = 0x80;
    assert!(other.restore_state(&mesh, &bytes).is_err());
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    let (mesh, crowd) = small();
    let bytes = crowd.save_state(&mesh);
    let mut other = empty();
    let mut refuse = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = bytes.clone();
        change(&mut bytes);
        other.restore_state(&mesh, &bytes).unwrap_err().to_string()
    };
    for (offset, value, word) in [
        (0, 0, "magic"),
        (4, 9, "version"),
        (6, 7, "kind"),
        (8, 49, "walls"),
        (12, 200, "slot"),
        (16, 9, "agent count"),
        (20, 3, "slot"),
        (24, 1, "id"),
    ] {
        let message = refuse(&|bytes: &mut Vec<u8>| bytes[offset] = value);
        assert!(message.contains(word), "{message}");
        assert!(message.contains("crowd state"), "{message}");
    }
    let narrow = CrowdOptions {
        max_agents: 2,
        ..options()
    };
    let mut narrow = Crowd::new(narrow).unwrap();
    assert!(
        narrow.restore_state(&mesh, &bytes).is_err(),
        "more slots than the crowd may have"
    );
}

/// The same tiles on a grid that begins elsewhere: every reference resolves, to another place.
fn shifted(mesh: &TiledMesh, by: f64) -> TiledMesh {
    let mut params = *mesh.params();
    params.origin.x += by;
    let mut other = TiledMesh::new(params).unwrap();
    for (_, tile) in mesh.tiles() {
        let tile = NavTile::create(tile.data().clone(), &params).unwrap();
        other.add_tile(tile).unwrap();
    }
    other
}

#[test]
fn what_a_crowd_remembers_of_one_mesh_is_not_used_on_another() {
    for by in [0.0, 0.1, 0.4, 1.0] {
        let mesh = field(4, 60.0, 20, 1.0);
        let other = shifted(&mesh, by);
        let mut live = walkers(&mesh, 200, 5);
        steps(&mesh, &mut live, 30);
        let mut restored = empty();
        let saved = live.save_state(&other);
        restored.restore_state(&other, &saved).unwrap();
        for _ in 0..30 {
            steps(&other, &mut live, 1);
            steps(&other, &mut restored, 1);
            let same = live.save_state(&other) == restored.save_state(&other);
            assert!(same, "shifted by {by}");
        }
    }
}

#[test]
fn room_for_many_boundary_pieces_is_no_state() {
    // A field of posts: more pieces around an agent than it has room for at first.
    let mut level = Level::default();
    level.slab((0.0, 0.0), (24.0, 24.0), 0.0);
    for i in 0..49 {
        let (x, z) = (3.0 + 3.0 * f64::from(i % 7), 3.0 + 3.0 * f64::from(i / 7));
        level.block((x, z), (x + 0.6, z + 0.6));
    }
    let mesh = level.build(&settings());
    let mut live = walkers(&mesh, 20, 3);
    let mut most = 0;
    for _ in 0..60 {
        let saved = live.save_state(&mesh);
        let mut fresh = empty();
        fresh.restore_state(&mesh, &saved).unwrap();
        steps(&mesh, &mut live, 1);
        steps(&mesh, &mut fresh, 1);
        assert!(live.save_state(&mesh) == fresh.save_state(&mesh));
        let counts = live.agents().map(|agent| agent.walls().len());
        most = counts.fold(most, usize::max);
    }
    assert!(most > 16, "{most} pieces at most");
}

#[test]
fn walls_of_one_mesh_are_not_avoided_on_another() {
    // The same tiles, the same number of edits; only a house is gone.
    let house = |stands: bool| {
        let mut level = Level::default();
        level.slab((0.0, 0.0), (20.0, 20.0), 0.0);
        if stands {
            level.block((9.0, 0.0), (10.0, 16.0));
        }
        level.build(&settings())
    };
    let (before, after) = (house(true), house(false));
    assert_eq!(before.edit_count(), after.edit_count());
    let mut crowd = empty();
    let id = crowd.add(&before, at(7.9, 8.0), &SMALL).unwrap();
    crowd.set_destination(&before, id, at(14.0, 8.0)).unwrap();
    steps(&before, &mut crowd, 2);
    crowd.set_destination(&after, id, at(14.0, 8.0)).unwrap();
    steps(&after, &mut crowd, 200);
    assert!(crowd.agent(id).unwrap().reached_target());
}

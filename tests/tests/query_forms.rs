//! One `&NavMesh` asked from many threads, in slices, by futures and with filters of any kind: the
//! bits a fresh query object gives, whatever was asked or edited before.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread;

use throng::parts::query::mesh::{find_nearest_poly, random_point, raycast};
use throng::{
    AreaSearch, DVec3, DefaultFilter, MeshQuery, NavMesh, NavSettings, NavWorld, PathOptions,
    PathResult, PathStatus, QueryFilter, RandomPoint, SplitMix64, levels,
};

fn level() -> NavMesh {
    let soup = levels::generate("rooms", 60.0, 5).unwrap();
    let settings = NavSettings {
        tile_size: 32.0,
        ..NavSettings::HUMANOID
    };
    NavMesh::build_soup(&soup, &settings).unwrap()
}

fn questions(mesh: &NavMesh, count: usize, seed: u64) -> Vec<(DVec3, DVec3)> {
    let mut rng = SplitMix64::new(seed);
    let filter = QueryFilter::default();
    let mut place = |i: usize| {
        if i % 9 == 8 {
            return DVec3::new(-400.0, 0.0, 3.0); // off the mesh
        }
        mesh.random_point(&mut rng, &filter).unwrap().point
    };
    (0..count).map(|i| (place(i), place(i + 3))).collect()
}

fn fresh(mesh: &NavMesh, (a, b): (DVec3, DVec3), options: &PathOptions) -> PathResult {
    MeshQuery::default().find_path(mesh, a, b, options).unwrap()
}

fn drive<T>(future: impl Future<Output = T>) -> (T, usize) {
    let mut future = pin!(future);
    let mut pending = 0;
    loop {
        match future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(answer) => return (answer, pending),
            Poll::Pending => pending += 1,
        }
    }
}

#[test]
fn a_predicate_may_ask_the_mesh_for_points_itself() {
    let mesh = std::sync::Arc::new(level());
    let (done, waited) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let asked = mesh.clone();
        let filter = QueryFilter::default().with_predicate(move |_, _| {
            let mut rng = SplitMix64::new(1);
            asked
                .random_point(&mut rng, &QueryFilter::default())
                .is_some()
        });
        let point = mesh.random_point(&mut SplitMix64::new(3), &filter);
        let plain = mesh.random_point(&mut SplitMix64::new(3), &QueryFilter::default());
        done.send((point, plain)).unwrap();
    });
    let answer = waited.recv_timeout(std::time::Duration::from_secs(60));
    let (point, plain) = answer.expect("the mesh waits for itself");
    assert!(point.is_some() && point == plain);
}

#[test]
fn random_points_are_those_of_a_plain_draw_however_many_threads_ask() {
    let mut mesh = level();
    let slot = mesh.occupied_slots().next().unwrap();
    for poly in 0..mesh.tile(slot).unwrap().poly_count() as u32 / 2 {
        let poly = mesh.poly_ref(slot, poly * 2);
        mesh.set_poly_area(poly, 7).unwrap();
    }
    let closed = |area| {
        let filter = QueryFilter::default();
        filter.with_area_cost(area, f64::INFINITY).unwrap()
    };
    // Every filter takes the place of the one before.
    let filters = [QueryFilter::default(), closed(7), closed(0)];
    let closure = |_flags: u16, area: u8| area != 7;
    for round in 0..2 {
        thread::scope(|scope| {
            for worker in 0..8_u64 {
                let (mesh, filters) = (&mesh, &filters);
                scope.spawn(move || {
                    for i in 0..200 {
                        let filter = &filters[(i + worker as usize) % 3];
                        let seed = worker * 1000 + i as u64;
                        let (mut rng, mut twin) = (SplitMix64::new(seed), SplitMix64::new(seed));
                        let point = mesh.random_point(&mut rng, filter);
                        assert_eq!(point, random_point(mesh, &mut twin, filter));
                        assert_eq!(rng.next_u64(), twin.next_u64());
                    }
                    let point = mesh.random_point(&mut SplitMix64::new(worker), &closure);
                    let other = mesh.random_point(&mut SplitMix64::new(worker), &filters[1]);
                    assert!(point.is_some() && point == other);
                });
            }
        });
        if round == 0 {
            let tile = mesh.tile(slot).unwrap().built().clone();
            mesh.replace_tile(tile).unwrap();
        }
    }
}

#[test]
fn a_future_outlives_the_options_it_was_asked_with() {
    let mesh = level();
    let (a, b) = questions(&mesh, 1, 3)[0];
    let expected = fresh(&mesh, (a, b), &PathOptions::default());
    let sliced = |iterations_per_slice| PathOptions {
        iterations_per_slice,
        ..PathOptions::default()
    };
    let future = mesh.find_path_async(a, b, &sliced(1));
    let (answer, pending) = drive(future);
    assert_eq!(answer.unwrap(), expected);
    assert!(pending > 1, "{pending}");
    let mut query = MeshQuery::default();
    let future = query.find_path_async(&mesh, a, b, &sliced(2));
    assert_eq!(drive(future).0.unwrap(), expected);
    let world = NavWorld::from_meshes(vec![mesh.clone()]).unwrap();
    let future = world.find_path_async(0.5, a, b, &sliced(3));
    assert_eq!(drive(future).0.unwrap(), answer_of(&world, a, b));
    // A mistake shows when it is polled.
    let future = mesh.find_path_async(a, b, &sliced(0));
    let error = drive(future).0.unwrap_err();
    assert_eq!(error.argument, "options.iterations_per_slice");
    let error = drive(world.find_path_async(-1.0, a, b, &sliced(1))).0;
    assert_eq!(error.unwrap_err().argument, "radius");
}

fn answer_of(world: &NavWorld, a: DVec3, b: DVec3) -> PathResult {
    fresh(&world.meshes()[0], (a, b), &PathOptions::default())
}

#[test]
fn a_world_asks_the_mesh_of_the_radius_in_every_form() {
    let soup = levels::generate("rooms", 60.0, 5).unwrap();
    let classes = [NavSettings::SMALL, NavSettings::HUMANOID];
    let world = NavWorld::build_each(&classes, |settings| NavMesh::build_soup(&soup, settings));
    let world = world.unwrap();
    let options = PathOptions {
        iterations_per_slice: 2,
        ..PathOptions::default()
    };
    let (mut differ, mut stopped) = (0, 0);
    for (a, b) in questions(world.mesh(1).unwrap(), 20, 4) {
        for (radius, mesh) in [0.3, 0.6].into_iter().zip(world.meshes()) {
            let expected = fresh(mesh, (a, b), &options);
            let all = |_flags: u16, _area: u8| true;
            let with = world.find_path_with(radius, a, b, &options, &all);
            assert_eq!(with.unwrap(), expected);
            let on = world.find_path_while(radius, a, b, &options, |_| true);
            assert_eq!(on.unwrap(), expected);
            let off = world.find_path_while(radius, a, b, &options, |_| false);
            let here = mesh.find_path_while(a, b, &options, |_| false);
            let off = off.unwrap();
            stopped += usize::from(off.status == PathStatus::InProgress);
            assert_eq!(off, here.unwrap());
        }
        let [small, large] = [0.3, 0.6].map(|r| world.find_path(r, a, b, &options).unwrap());
        differ += usize::from(small.length != large.length);
    }
    assert!(differ > 5 && stopped > 5, "{differ} {stopped}");
    let error = world
        .find_path_while(f64::NAN, DVec3::ZERO, DVec3::ONE, &options, |_| true)
        .unwrap_err();
    assert_eq!(error.argument, "radius");
}

#[test]
fn one_call_queries_take_any_filter_and_rays_list_nothing() {
    let mut mesh = level();
    let (a, b) = questions(&mesh, 1, 9)[0];
    let found = mesh.nearest_poly(a, DVec3::ONE, &DefaultFilter).unwrap();
    assert_eq!(
        found,
        find_nearest_poly(&mesh, a, DVec3::ONE, &DefaultFilter).unwrap()
    );
    let hit = mesh.raycast(a, b, &DefaultFilter).unwrap();
    assert_eq!((hit.visited_count, hit.truncated), (0, false));
    assert_eq!(hit, mesh.raycast(a, b, &QueryFilter::default()).unwrap());
    mesh.set_poly_area(found.poly, 9).unwrap();
    let open = |_flags: u16, area: u8| area != 9;
    assert_eq!(mesh.sample_position(a, 0.0, &open).unwrap(), None);
    assert!(
        mesh.sample_position(a, 0.0, &DefaultFilter)
            .unwrap()
            .is_some()
    );
    assert_ne!(
        mesh.nearest_poly(a, DVec3::ONE, &open).unwrap().poly,
        found.poly
    );
    let nowhere = DVec3::new(f64::INFINITY, 0.0, 0.0);
    let error = mesh.nearest_poly(nowhere, DVec3::ONE, &open).unwrap_err();
    assert_eq!(error.argument, "position.x");
}

#[test]
fn many_threads_get_the_bits_of_a_fresh_object_across_edits() {
    let mut mesh = level();
    let options = PathOptions {
        iterations_per_slice: 5,
        ..PathOptions::default()
    };
    let asked = questions(&mesh, 40, 1);
    let mut answers = Vec::new();
    for edit in 0..3 {
        let expected: Vec<PathResult> = asked
            .iter()
            .map(|&pair| fresh(&mesh, pair, &options))
            .collect();
        thread::scope(|scope| {
            for worker in 0..8 {
                let (mesh, asked, expected, options) = (&mesh, &asked, &expected, &options);
                scope.spawn(move || {
                    for i in 0..asked.len() {
                        let at = (i * 7 + worker * 5) % asked.len();
                        let (a, b) = asked[at];
                        let answer = match (i + worker) % 4 {
                            0 => mesh.find_path(a, b, options).unwrap(),
                            1 => drive(mesh.find_path_async(a, b, options)).0.unwrap(),
                            2 => mesh.find_path_while(a, b, options, |_| true).unwrap(),
                            _ => {
                                let mut task = mesh.begin_path(a, b, options).unwrap();
                                while task.step(3) == PathStatus::InProgress {}
                                task.finish()
                            }
                        };
                        assert_eq!(answer, expected[at]);
                        // Other questions soil the same objects in between.
                        let mut rng = SplitMix64::new(i as u64);
                        let filter = &DefaultFilter;
                        mesh.random_point_around(&mut rng, a, 3.0, filter).unwrap();
                        mesh.distance_to_wall(b, 5.0, filter).unwrap();
                        // And abandoned ones.
                        let mut task = mesh.begin_path(b, a, options).unwrap();
                        task.step(2);
                    }
                });
            }
        });
        answers.push(expected);
        let slot = mesh.occupied_slots().nth(edit).unwrap();
        for poly in 0..mesh.tile(slot).unwrap().poly_count() as u32 / 3 {
            let poly = mesh.poly_ref(slot, poly * 3);
            mesh.set_poly_area(poly, 5).unwrap();
        }
        let tile = mesh.tile(slot).unwrap().built().clone();
        mesh.replace_tile(tile).unwrap();
    }
    assert!(
        answers[0] != answers[2],
        "replaced tiles have new references"
    );
    let found = answers[0].iter().filter(|a| a.status == PathStatus::Found);
    assert!(found.count() > 10);
}

#[test]
fn a_borrowed_query_goes_back() {
    let mesh = level();
    let options = PathOptions::default();
    let (a, b) = questions(&mesh, 1, 2)[0];
    let expected = fresh(&mesh, (a, b), &options);
    // More at once than the mesh keeps.
    let mut tasks: Vec<_> = (0..9)
        .map(|_| mesh.begin_path(a, b, &options).unwrap())
        .collect();
    for task in &mut tasks {
        task.step(1);
    }
    let halfway = tasks.split_off(4);
    drop(halfway);
    for mut task in tasks {
        while task.is_running() {
            task.step(10);
        }
        assert_eq!(task.finish(), expected);
    }
    assert_eq!(mesh.find_path(a, b, &options).unwrap(), expected);
    let mut query = mesh.query();
    let held: &mut MeshQuery = query.as_mut();
    assert_eq!(held.find_path(&mesh, a, b, &options).unwrap(), expected);
    let count = mesh.with_query(|query| {
        let start = find_nearest_poly(&mesh, a, DVec3::ONE, &DefaultFilter).unwrap();
        query
            .area
            .find_polys_in_circle(
                &mesh,
                start.poly,
                a,
                4.0,
                &DefaultFilter,
                &mut [],
                &mut [],
                &mut [],
            )
            .map(|outcome| outcome.iterations)
    });
    assert!(count.unwrap() > 0);
}

#[test]
fn futures_yield_cancel_and_move_between_threads() {
    let mesh = level();
    let options = PathOptions {
        iterations_per_slice: 4,
        ..PathOptions::default()
    };
    let mut yields = 0;
    for pair in questions(&mesh, 20, 3) {
        let expected = fresh(&mesh, pair, &options);
        // Polled twice here, dropped; then begun here and finished on another thread.
        let mut cancelled = Box::pin(mesh.find_path_async(pair.0, pair.1, &options));
        for _ in 0..2 {
            let mut context = Context::from_waker(Waker::noop());
            if cancelled.as_mut().poll(&mut context).is_ready() {
                break;
            }
        }
        drop(cancelled);
        let mut moved = Box::pin(mesh.find_path_async(pair.0, pair.1, &options));
        let first = moved.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let answer = match first {
            Poll::Ready(answer) => answer.unwrap(),
            Poll::Pending => thread::scope(|scope| {
                let (answer, pending) = scope.spawn(|| drive(moved)).join().unwrap();
                yields += pending;
                answer.unwrap()
            }),
        };
        assert_eq!(answer, expected);
    }
    assert!(yields > 20, "{yields}");
    let world = NavWorld::from_meshes(vec![mesh]).unwrap();
    for (a, b) in questions(&world.meshes()[0], 5, 4) {
        let (answer, _) = drive(world.find_path_async(0.5, a, b, &options));
        assert_eq!(answer.unwrap(), fresh(&world.meshes()[0], (a, b), &options));
    }
}

#[test]
fn a_search_told_to_stop_gives_what_it_has() {
    let mesh = level();
    let options = PathOptions {
        iterations_per_slice: 2,
        ..PathOptions::default()
    };
    let mut stopped = 0;
    for (a, b) in questions(&mesh, 30, 6) {
        let mut asked = Vec::new();
        let answer = mesh
            .find_path_while(a, b, &options, |expansions| {
                asked.push(expansions);
                asked.len() < 3
            })
            .unwrap();
        if answer.status == PathStatus::InProgress {
            assert_eq!(asked, [2, 4, 6]);
            stopped += 1;
        }
    }
    assert!(stopped > 5, "{stopped}");
}

#[test]
fn a_ray_in_places_is_the_ray_in_fractions() {
    let mesh = level();
    let mut blocked = 0;
    for (a, b) in questions(&mesh, 60, 7) {
        let hit = mesh.raycast_hit(a, b, &DefaultFilter).unwrap();
        let ray = mesh.raycast(a, b, &QueryFilter::default()).unwrap();
        assert_eq!(hit.blocked, ray.hit);
        if a.x < -300.0 {
            assert_eq!((hit.position, hit.distance), (a, 0.0));
            assert!(hit.blocked && !hit.poly.is_valid());
            continue;
        }
        assert_eq!((hit.normal, hit.poly), (ray.normal, ray.last_poly));
        let start = find_nearest_poly(&mesh, a, DVec3::new(2.0, 4.0, 2.0), &DefaultFilter).unwrap();
        let (from, way) = (start.point, b - start.point);
        let expected = from + way * ray.t;
        let error = (hit.position.x - expected.x).abs() + (hit.position.z - expected.z).abs();
        assert!(error < 1e-9);
        let length = (way.x * way.x + way.z * way.z).sqrt();
        assert!((hit.distance - length * ray.t).abs() < 1e-6);
        // It ends on the mesh, and a walk to there is free.
        let on = mesh.sample_position(hit.position, 1e-6, &QueryFilter::default());
        assert!(on.unwrap().is_some());
        let short = from + way * (ray.t * (1.0 - 1e-9));
        let free = raycast(&mesh, start.poly, from, short, &DefaultFilter, &mut []);
        assert!(!free.hit);
        blocked += usize::from(hit.blocked);
    }
    assert!(blocked > 10, "{blocked}");
    let nowhere = DVec3::new(0.0, f64::NAN, 0.0);
    let error = mesh
        .raycast_hit(nowhere, DVec3::ZERO, &DefaultFilter)
        .unwrap_err();
    assert_eq!(error.argument, "from.y");
    let error = mesh
        .raycast_hit(DVec3::ZERO, nowhere, &DefaultFilter)
        .unwrap_err();
    assert_eq!(error.argument, "to.y");
}

#[test]
fn surroundings_in_one_call_are_those_of_the_search() {
    let mesh = level();
    let mut area = AreaSearch::new(65_536);
    let filter = DefaultFilter;
    let (mut walls, mut points) = (0, 0);
    for (at, _) in questions(&mesh, 60, 8) {
        let start = find_nearest_poly(&mesh, at, DVec3::new(2.0, 4.0, 2.0), &filter).unwrap();
        let hit = mesh.distance_to_wall(at, 1.5, &filter).unwrap();
        let expected = area
            .distance_to_wall(&mesh, start.poly, start.point, 1.5, &filter)
            .unwrap();
        assert_eq!(hit, expected.found.then_some(expected));
        walls += usize::from(hit.is_some());
        let (mut rng, mut twin) = (SplitMix64::new(9), SplitMix64::new(9));
        let drawn: Option<RandomPoint> = mesh
            .random_point_around(&mut rng, at, 3.0, &filter)
            .unwrap();
        let expected = area
            .random_point_around(&mesh, &mut twin, start.poly, start.point, 3.0, &filter)
            .unwrap();
        assert_eq!((drawn, rng), (expected, twin));
        points += usize::from(drawn.is_some());
    }
    assert!(walls > 5 && points > 30, "{walls} {points}");
    let bad = DVec3::new(f64::INFINITY, 0.0, 0.0);
    assert!(mesh.distance_to_wall(bad, 1.0, &filter).is_err());
    let here = DVec3::new(10.0, 0.0, 10.0);
    for radius in [-1.0, f64::NAN, 5e6] {
        let error = mesh.distance_to_wall(here, radius, &filter).unwrap_err();
        assert_eq!(error.argument, "radius");
        let mut rng = SplitMix64::new(1);
        let error = mesh
            .random_point_around(&mut rng, here, radius, &filter)
            .unwrap_err();
        assert_eq!(
            (error.argument.as_str(), rng),
            ("radius", SplitMix64::new(1))
        );
    }
}

#[test]
fn closures_and_predicates_close_the_same_doors() {
    let mut mesh = level();
    let slots: Vec<u32> = mesh.occupied_slots().collect();
    for slot in slots {
        for poly in (0..mesh.tile(slot).unwrap().poly_count() as u32).step_by(4) {
            let poly = mesh.poly_ref(slot, poly);
            mesh.set_poly_area(poly, 9).unwrap();
        }
    }
    let closed = QueryFilter::default()
        .with_area_cost(9, f64::INFINITY)
        .unwrap();
    let plain = PathOptions::default();
    let by_cost = PathOptions {
        filter: closed,
        ..plain.clone()
    };
    let by_predicate = PathOptions {
        filter: QueryFilter::default().with_predicate(|_, area| area != 9),
        ..plain.clone()
    };
    let mut changed = 0;
    for (a, b) in questions(&mesh, 40, 10) {
        let expected = mesh.find_path(a, b, &by_cost).unwrap();
        assert_eq!(mesh.find_path(a, b, &by_predicate).unwrap(), expected);
        let open = |_flags: u16, area: u8| area != 9;
        assert_eq!(mesh.find_path_with(a, b, &plain, &open).unwrap(), expected);
        let mut task = mesh.begin_path_with(a, b, &plain, open).unwrap();
        while task.step(7) == PathStatus::InProgress {}
        assert_eq!(task.finish(), expected);
        changed += usize::from(mesh.find_path(a, b, &plain).unwrap() != expected);
    }
    assert!(changed > 10, "{changed}");
}

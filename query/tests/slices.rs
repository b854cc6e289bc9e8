//! Path queries in slices: every slicing gives the bits of one call, with any filter, stepped by
//! hand or by an executor, and a query object that was left in the middle answers the next question
//! as a new one does.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

mod common;

use common::{Plan, WILD, build, picture, random_place, random_position};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use throng_query::mesh::{
    DefaultFilter, Filter, MeshQuery, NodeModel, PathOptions, PathStatus, PathTask, QueryFilter,
};
use throng_soa::DVec3;
use throng_soa::mesh::TiledMesh;
use throng_soa::rng::SplitMix64;

const MODELS: [NodeModel; 2] = [NodeModel::Polygon, NodeModel::Crossing];

fn priced() -> QueryFilter {
    QueryFilter::default()
        .with_flags(0xFFFF, 0b10)
        .with_area_cost(1, 2.5)
        .and_then(|filter| filter.with_area_cost(2, 0.5))
        .unwrap()
}

fn questions(mesh: &TiledMesh, plan: &Plan, count: usize) -> Vec<(DVec3, DVec3)> {
    let mut rng = SplitMix64::new(plan.seed);
    let place = |rng: &mut SplitMix64| {
        if rng.next_below(8) == 0 {
            random_position(plan, rng)
        } else {
            random_place(mesh, rng).1
        }
    };
    (0..count)
        .map(|_| (place(&mut rng), place(&mut rng)))
        .collect()
}

#[test]
fn every_slicing_gives_the_same_result() {
    let mut statuses = [0; 8];
    let mut pauses = 0;
    for seed in 0..8 {
        let plan = Plan { seed, ..WILD };
        let mesh = build(&plan);
        for (model, filter) in MODELS.iter().zip([QueryFilter::default(), priced()]) {
            let options = PathOptions {
                filter,
                max_corridor: if seed == 3 { 6 } else { usize::MAX },
                ..PathOptions::default()
            };
            let mut query = MeshQuery::new(*model, 65_536);
            for (start, end) in questions(&mesh, &plan, 12) {
                let whole = query.find_path(&mesh, start, end, &options).unwrap();
                statuses[whole.status as usize] += 1;
                let mut rng = SplitMix64::new(seed);
                for budget in [0, 1, 2, 7, 64, u32::MAX] {
                    let mut task =
                        PathTask::begin(&mesh, &mut query, start, end, &options).unwrap();
                    loop {
                        // 0 stands for slices of random size, empty ones too.
                        let slice = if budget == 0 {
                            rng.next_below(9)
                        } else {
                            budget
                        };
                        let before = task.iterations();
                        if task.step(slice) != PathStatus::InProgress {
                            break;
                        }
                        assert!(task.is_running());
                        assert_eq!(task.iterations() - before, u64::from(slice));
                        pauses += 1;
                    }
                    let done = task.iterations();
                    let status = task.step(100);
                    assert_eq!((task.iterations(), task.is_running()), (done, false));
                    let sliced = task.finish();
                    assert_eq!(sliced, whole);
                    if whole.detail != throng_query::mesh::QueryStatus::Partial {
                        assert_eq!(status, whole.status);
                    }
                }
            }
        }
    }
    for status in [
        PathStatus::Found,
        PathStatus::Partial,
        PathStatus::StartInvalid,
        PathStatus::GoalInvalid,
    ] {
        assert!(statuses[status as usize] > 0, "{statuses:?}");
    }
    assert!(pauses > 5000, "{pauses}");
}

#[test]
fn an_early_finish_is_the_way_to_the_nearest_place_so_far() {
    let plan = Plan { holes: 0.1, ..WILD };
    let mesh = build(&plan);
    let mut query = MeshQuery::default();
    let mut early = 0;
    for (start, end) in questions(&mesh, &plan, 40) {
        for stop in [1, 5, 20] {
            let options = PathOptions {
                iterations_per_slice: stop,
                ..PathOptions::default()
            };
            let refused = query
                .find_path_while(&mesh, start, end, &options, |_| false)
                .unwrap();
            let mut task =
                PathTask::begin(&mesh, MeshQuery::default(), start, end, &options).unwrap();
            task.step(stop);
            let finished = task.finish();
            assert_eq!(finished, refused);
            if finished.status == PathStatus::InProgress {
                early += 1;
                assert!(!finished.corridor.is_empty() && !finished.points.is_empty());
            }
        }
    }
    assert!(early > 20, "{early}");
}

#[test]
fn wrong_calls_are_named_and_borrow_nothing() {
    let mesh = picture(&["...."]);
    let good = DVec3::new(0.5, 0.0, 0.5);
    let bad = DVec3::new(f64::NAN, 0.0, 0.0);
    let options = PathOptions::default();
    let name = |start, end, options: &PathOptions| {
        PathTask::begin(&mesh, MeshQuery::default(), start, end, options)
            .unwrap_err()
            .argument
    };
    assert_eq!(name(bad, good, &options), "start.x");
    assert_eq!(name(good, bad, &options), "end.x");
    for (options, argument) in [
        (
            PathOptions {
                iterations_per_slice: 0,
                ..options.clone()
            },
            "options.iterations_per_slice",
        ),
        (
            PathOptions {
                max_corridor: 0,
                ..options.clone()
            },
            "options.max_corridor",
        ),
        (
            PathOptions {
                half_extents: DVec3::new(1.0, -1.0, 1.0),
                ..options.clone()
            },
            "options.half_extents.y",
        ),
    ] {
        assert_eq!(name(good, good, &options), argument);
    }
    let far = DVec3::new(500.0, 0.0, 0.0);
    for (start, end, status) in [
        (far, good, PathStatus::StartInvalid),
        (good, far, PathStatus::GoalInvalid),
        (far, far, PathStatus::StartInvalid),
    ] {
        let mut task = PathTask::begin(&mesh, MeshQuery::default(), start, end, &options).unwrap();
        assert_eq!((task.status(), task.step(9)), (status, status));
        let result = task.finish();
        assert_eq!(result.status, status);
        assert!(result.points.is_empty() && result.cost == f64::INFINITY);
    }
}

/// A filter of the caller's own, without tables.
struct NotThatArea(u8);

impl Filter for NotThatArea {
    fn passes(&self, _flags: u16, area: u8) -> bool {
        area != self.0
    }

    fn area_cost(&self, area: u8) -> f64 {
        if area == 2 { 3.0 } else { 1.0 }
    }

    fn min_area_cost(&self) -> f64 {
        1.0
    }
}

#[test]
fn filters_of_every_kind_say_the_same() {
    let plan = Plan {
        holes: 0.05,
        ..WILD
    };
    let mesh = build(&plan);
    let mut query = MeshQuery::default();
    let with = |filter: QueryFilter| PathOptions {
        filter,
        ..PathOptions::default()
    };
    let masked = with(QueryFilter::default().with_flags(0xFFFF, 0b1));
    let predicate = with(QueryFilter::default().with_predicate(|flags, _| flags & 1 == 0));
    let costly = QueryFilter::default()
        .with_area_cost(2, 3.0)
        .and_then(|filter| filter.with_area_cost(1, f64::INFINITY))
        .unwrap();
    let mut narrowed = 0;
    for (start, end) in questions(&mesh, &plan, 40) {
        let plain = query
            .find_path(&mesh, start, end, &PathOptions::default())
            .unwrap();
        let by_default = query
            .find_path_with(&mesh, start, end, &masked, &DefaultFilter)
            .unwrap();
        assert_eq!(plain, by_default);
        let by_mask = query.find_path(&mesh, start, end, &masked).unwrap();
        let by_predicate = query.find_path(&mesh, start, end, &predicate).unwrap();
        let closure = |flags: u16, _area: u8| flags & 1 == 0;
        let options = PathOptions::default();
        let by_closure = query
            .find_path_with(&mesh, start, end, &options, &closure)
            .unwrap();
        assert_eq!(by_mask, by_predicate);
        assert_eq!(by_mask, by_closure);
        narrowed += usize::from(by_mask != plain);
        let by_struct = query
            .find_path_with(&mesh, start, end, &options, &NotThatArea(1))
            .unwrap();
        let by_table = query
            .find_path(&mesh, start, end, &with(costly.clone()))
            .unwrap();
        assert_eq!(by_struct, by_table);
    }
    assert!(narrowed > 10, "{narrowed}");
}

/// An executor of one future: polls while it was woken, and counts.
struct Ticks(AtomicUsize);

impl Wake for Ticks {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn drive<T>(future: impl Future<Output = T>) -> (T, usize) {
    let ticks = Arc::new(Ticks(AtomicUsize::new(0)));
    let waker = Waker::from(ticks.clone());
    let mut future = pin!(future);
    let mut pending = 0;
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(answer) => return (answer, pending),
            Poll::Pending => {
                pending += 1;
                assert_eq!(
                    ticks.0.load(Ordering::Relaxed),
                    pending,
                    "pending but not woken"
                );
            }
        }
    }
}

#[test]
fn the_async_form_yields_between_slices_and_changes_nothing() {
    let plan = Plan {
        holes: 0.05,
        ..WILD
    };
    let mesh = build(&plan);
    let (mut query, mut other) = (MeshQuery::default(), MeshQuery::default());
    let mut yields = 0;
    for (start, end) in questions(&mesh, &plan, 30) {
        for slice in [1, 10, 256] {
            let options = PathOptions {
                iterations_per_slice: slice,
                ..PathOptions::default()
            };
            let whole = query.find_path(&mesh, start, end, &options).unwrap();
            let expanded = query.search.iterations();
            let (sliced, pending) = drive(other.find_path_async(&mesh, start, end, &options));
            assert_eq!(sliced.unwrap(), whole);
            if whole.status.has_path() {
                // A search that ends exactly with a slice may need one more look to know it.
                let slices = expanded.div_ceil(u64::from(slice)) as usize;
                assert!(
                    pending + 1 == slices || pending == slices,
                    "{pending} {slices}"
                );
            } else {
                assert_eq!(pending, 0);
            }
            yields += pending;
        }
    }
    assert!(yields > 300, "{yields}");
    let bad = DVec3::new(0.0, f64::INFINITY, 0.0);
    let options = PathOptions::default();
    let (refused, pending) = drive(query.find_path_async(&mesh, bad, bad, &options));
    assert_eq!(
        (refused.unwrap_err().argument.as_str(), pending),
        ("start.y", 0)
    );
}

fn poll_once<T>(future: Pin<&mut impl Future<Output = T>>) -> Poll<T> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn a_dropped_future_cancels_and_two_take_turns() {
    let plan = Plan { holes: 0.0, ..WILD };
    let mesh = build(&plan);
    let options = PathOptions {
        iterations_per_slice: 1,
        ..PathOptions::default()
    };
    let asked = questions(&mesh, &plan, 20);
    let mut query = MeshQuery::default();
    let mut dropped = 0;
    for &(start, end) in &asked {
        let expected = MeshQuery::default()
            .find_path(&mesh, start, end, &options)
            .unwrap();
        for polls in 0..4 {
            let mut future = Box::pin(query.find_path_async(&mesh, end, start, &options));
            let unfinished = (0..polls).all(|_| poll_once(future.as_mut()).is_pending());
            drop(future);
            dropped += usize::from(unfinished && polls > 0);
            let after = query.find_path(&mesh, start, end, &options).unwrap();
            assert_eq!(after, expected);
        }
    }
    assert!(dropped > 20, "{dropped}");
    // Two searches on one thread, a slice each in turn.
    let mut second = MeshQuery::default();
    for pair in asked.chunks(2) {
        let [(a, b), (c, d)] = pair else { continue };
        let expected = [(a, b), (c, d)].map(|(from, to)| {
            MeshQuery::default()
                .find_path(&mesh, *from, *to, &options)
                .unwrap()
        });
        let mut one = Box::pin(query.find_path_async(&mesh, *a, *b, &options));
        let mut two = Box::pin(second.find_path_async(&mesh, *c, *d, &options));
        let (mut first, mut other) = (None, None);
        while first.is_none() || other.is_none() {
            if first.is_none() {
                if let Poll::Ready(answer) = poll_once(one.as_mut()) {
                    first = Some(answer.unwrap());
                }
            }
            if other.is_none() {
                if let Poll::Ready(answer) = poll_once(two.as_mut()) {
                    other = Some(answer.unwrap());
                }
            }
        }
        assert_eq!([first.unwrap(), other.unwrap()], expected);
    }
}

#[test]
fn the_future_may_move_between_threads() {
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    let mesh = picture(&["........"]);
    let mut query = MeshQuery::default();
    let options = PathOptions::default();
    let (a, b) = (DVec3::new(0.5, 0.0, 0.5), DVec3::new(7.5, 0.0, 0.5));
    let future = is_send(query.find_path_async(&mesh, a, b, &options));
    let (answer, _) = drive(future);
    assert_eq!(answer.unwrap().length, 7.0);
}

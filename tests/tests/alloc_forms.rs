//! Sizes, writing into a buffer and stepping a path task allocate nothing once storage has grown.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

mod counting;

use counting::allocations;

use throng::{
    AgentOptions, Crowd, CrowdOptions, DVec3, DefaultFilter, Filter, MeshQuery, NavSettings,
    NavWorld, PathOptions, PathStatus, PathTask, SnapshotMode, levels,
};

/// A filter of the caller's own that owns nothing.
struct Dry;

impl Filter for Dry {
    fn passes(&self, flags: u16, _area: u8) -> bool {
        flags & 0x10 == 0
    }

    fn area_cost(&self, area: u8) -> f64 {
        1.0 + f64::from(area)
    }

    fn min_area_cost(&self) -> f64 {
        1.0
    }
}

fn world() -> NavWorld {
    let soup = levels::generate("rooms", 40.0, 1).unwrap();
    let classes = [NavSettings::HUMANOID, NavSettings::SMALL];
    NavWorld::build(soup.vertices(), soup.triangles(), &classes).unwrap()
}

#[test]
fn saving_into_a_buffer() {
    let world = world();
    let mesh = &world.meshes()[0];
    let mut crowd = Crowd::new(CrowdOptions::default()).unwrap();
    let at = DVec3::new(10.0, 0.0, 10.0);
    crowd.try_add(mesh, at, &AgentOptions::HUMANOID).unwrap();
    let mut room = vec![0; world.save_size() + (1 << 16)];
    // Content ids are computed once.
    let _ = mesh.snapshot_size(SnapshotMode::Referenced);
    let (written, count) = allocations(|| {
        let mut written = world.save_size() + mesh.save_size();
        written += world.try_save(&mut room).unwrap();
        written += mesh.try_save(&mut room).unwrap();
        for mode in [SnapshotMode::Full, SnapshotMode::Referenced] {
            written += mesh.snapshot_size(mode);
            written += mesh.try_snapshot(mode, &mut room).unwrap();
            written += crowd.state_size_with_mesh(mesh, mode);
            written += crowd
                .try_save_state_with_mesh(mesh, mode, &mut room)
                .unwrap();
        }
        written
    });
    assert!(written > 0);
    assert_eq!(count, 0);
}

#[test]
fn stepping_a_path_task() {
    let world = world();
    let mesh = &world.meshes()[0];
    let mut query = MeshQuery::default();
    let options = PathOptions::default();
    let (a, b) = (DVec3::new(3.0, 0.0, 3.0), DVec3::new(36.0, 0.0, 36.0));
    for round in 0..2 {
        let (statuses, count) = allocations(|| {
            let mut task = PathTask::begin_with(mesh, &mut query, a, b, &options, Dry).unwrap();
            while task.step(2) == PathStatus::InProgress {}
            let own = task.status();
            let mut task =
                PathTask::begin_with(mesh, &mut query, b, a, &options, DefaultFilter).unwrap();
            while task.step(2) == PathStatus::InProgress {}
            let plain = task.status();
            let mut task = PathTask::begin(mesh, &mut query, a, b, &options).unwrap();
            while task.step(2) == PathStatus::InProgress {}
            [own, plain, task.status()]
        });
        assert!(
            statuses.iter().all(|status| status.has_path()),
            "{statuses:?}"
        );
        assert!(round == 0 || count == 0, "{count} allocations");
    }
}

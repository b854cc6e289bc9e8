//! Published numbers, through the public API alone.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

use throng::{
    AgentId, AgentOptions, Crowd, CrowdOptions, DVec3, NavMesh, NavSettings, PathOptions,
    PathStatus, QueryFilter,
};

/// A floor of 40 x 40.
fn floor() -> NavMesh {
    let v = |x, z| DVec3::new(x, 0.0, z);
    let vertices = [v(0.0, 0.0), v(0.0, 40.0), v(40.0, 0.0), v(40.0, 40.0)];
    NavMesh::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &NavSettings::HUMANOID).unwrap()
}

const FROM: DVec3 = DVec3::new(3.0, 0.0, 3.0);
const TO: DVec3 = DVec3::new(36.0, 0.0, 36.0);

#[test]
fn a_path_across_the_floor() {
    let route = floor()
        .find_path(FROM, TO, &PathOptions::default())
        .unwrap();
    assert_eq!(route.status, PathStatus::Found);
    assert_eq!(format!("{:.4}", route.length), "46.6690");
    assert_eq!(route.points.len(), 2);
    assert_eq!(route.points[0].position, FROM);
    assert_eq!(route.points[1].position, TO);
}

#[test]
fn one_agent_after_a_second() {
    let mesh = floor();
    let mut crowd = Crowd::new(CrowdOptions::default()).unwrap();
    let walker = crowd.add(&mesh, FROM, &AgentOptions::HUMANOID).unwrap();
    let status = crowd.set_destination(&mesh, walker, TO).unwrap();
    assert_eq!(status, PathStatus::Found);
    for _ in 0..20 {
        crowd.step(&mesh, 0.05).unwrap();
    }
    let agent = crowd.agent(walker).unwrap();
    let expected = DVec3::new(5.051_124_518_148_24, 0.0, 4.929_277_245_053_733);
    assert_eq!(
        agent.position().to_array().map(f64::to_bits),
        expected.to_array().map(f64::to_bits),
        "{:?}",
        agent.position()
    );
    assert_eq!(format!("{:.4}", agent.remaining_distance()), "43.8543");
}

/// Eight agents in two rows, each walking through the other row.
fn eight(mesh: &NavMesh, threads: usize) -> (Crowd, Vec<AgentId>) {
    let mut crowd = Crowd::new(CrowdOptions {
        threads,
        ..CrowdOptions::default()
    })
    .unwrap();
    let mut ids = Vec::new();
    for i in 0..4 {
        let (near, far) = (5.0 + 8.0 * f64::from(i), 35.0 - 8.0 * f64::from(i));
        for (z, goal_z) in [(5.0, 35.0), (35.0, 5.0)] {
            let start = DVec3::new(near, 0.0, z);
            let id = crowd.add(mesh, start, &AgentOptions::HUMANOID).unwrap();
            let goal = DVec3::new(far, 0.0, goal_z);
            let status = crowd.set_destination(mesh, id, goal).unwrap();
            assert_eq!(status, PathStatus::Found);
            ids.push(id);
        }
    }
    (crowd, ids)
}

fn walk(crowd: &mut Crowd, mesh: &NavMesh, steps: usize) {
    for _ in 0..steps {
        crowd.step(mesh, 1.0 / 30.0).unwrap();
    }
}

#[test]
fn eight_agents_save_to_3320_bytes() {
    let mesh = floor();
    let (mut crowd, _) = eight(&mesh, 1);
    walk(&mut crowd, &mesh, 100);
    let saved = crowd.save_state(&mesh);
    assert_eq!((saved.len(), crowd.state_size(&mesh)), (3320, 3320));
    assert_eq!(throng_soa::digest::fnv1a64(&saved), crowd.state_hash(&mesh));
    assert_eq!(crowd.step_count(), 100);
}

#[test]
fn eight_agents_hash() {
    let mesh = floor();
    let (mut crowd, _) = eight(&mesh, 1);
    walk(&mut crowd, &mesh, 100);
    let hash = format!("{:016X}", crowd.state_hash(&mesh));
    assert_eq!(hash, "E7D9E5CD5E787CD2");
}

#[test]
fn rolling_back_gives_the_same_future() {
    let mesh = floor();
    let mut futures = Vec::new();
    for threads in [1, 2] {
        let (mut crowd, ids) = eight(&mesh, threads);
        walk(&mut crowd, &mesh, 100);
        let saved = crowd.save_state(&mesh);
        let hash = crowd.state_hash(&mesh);
        walk(&mut crowd, &mesh, 200);
        let ahead = (crowd.state_hash(&mesh), crowd.save_state(&mesh));
        crowd.restore_state(&mesh, &saved).unwrap();
        assert_eq!((crowd.step_count(), crowd.state_hash(&mesh)), (100, hash));
        assert_eq!(crowd.save_state(&mesh), saved);
        walk(&mut crowd, &mesh, 200);
        assert_eq!((crowd.state_hash(&mesh), crowd.save_state(&mesh)), ahead);
        // Another crowd takes the state over, ids and all.
        let mut other = Crowd::new(CrowdOptions::default()).unwrap();
        other.restore_state(&mesh, &saved).unwrap();
        walk(&mut other, &mesh, 200);
        assert_eq!(other.save_state(&mesh), ahead.1);
        assert!(ids.iter().all(|&id| other.agent(id).is_some()));
        let arrived = crowd
            .agents()
            .filter(|agent| agent.reached_target())
            .count();
        println!("{arrived} of {} have arrived by frame 300", crowd.len());
        assert!(arrived >= 1);
        futures.push(ahead);
    }
    assert_eq!(futures[0], futures[1]);
}

/// A floor of 30 x 20 with a block of 8 x 6 in its middle. The route round it is known of the outlines
/// themselves (27.4165); built of cells, its corners are cut off as cells do.
fn floor_with_a_block() -> NavMesh {
    let v = |x: f64, y: f64, z: f64| DVec3::new(x, y, z);
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    let mut quad = |corners: [DVec3; 4]| {
        let first = vertices.len() as u32;
        vertices.extend(corners);
        triangles.push([first, first + 1, first + 2]);
        triangles.push([first, first + 2, first + 3]);
    };
    let ring = |x0: f64, z0: f64, x1: f64, z1: f64| [(x0, z0), (x0, z1), (x1, z1), (x1, z0)];
    quad(ring(0.0, 0.0, 30.0, 20.0).map(|(x, z)| v(x, 0.0, z)));
    let block = ring(11.0, 6.0, 19.0, 12.0);
    quad(block.map(|(x, z)| v(x, 1.5, z)));
    for side in 0..4 {
        let ((ax, az), (bx, bz)) = (block[side], block[(side + 1) % 4]);
        quad([
            v(ax, 0.0, az),
            v(bx, 0.0, bz),
            v(bx, 1.5, bz),
            v(ax, 1.5, az),
        ]);
    }
    NavMesh::build(&vertices, &triangles, &NavSettings::HUMANOID).unwrap()
}

#[test]
fn a_mesh_that_was_saved_and_loaded_gives_the_same_bits() {
    let mesh = floor_with_a_block();
    let baked = mesh.save();
    let loaded = NavMesh::load(&baked).unwrap();
    assert_eq!(loaded.save(), baked);
    assert_eq!(loaded.settings(), mesh.settings());
    let (from, to) = (DVec3::new(2.0, 0.0, 9.0), DVec3::new(28.0, 0.0, 9.0));
    let ask = |mesh: &NavMesh| {
        let route = mesh.find_path(from, to, &PathOptions::default()).unwrap();
        let ray = mesh.raycast_hit(from, to, &QueryFilter::default()).unwrap();
        let middle = DVec3::new(15.0, 0.0, 9.0);
        let near = mesh.sample_position(middle, 5.0, &QueryFilter::default());
        (route, ray, near.unwrap())
    };
    let (route, ray, near) = ask(&mesh);
    assert_eq!(route.status, PathStatus::Found);
    // Past two corners of the block, about as far from it as the agent is wide.
    assert!((route.length - 27.4165).abs() < 0.4, "{}", route.length);
    assert!((4..=6).contains(&route.points.len()), "{:?}", route.points);
    for corner in &route.points[1..route.points.len() - 1] {
        let at = corner.position;
        let beside = |value: f64, low: f64, high: f64| (low - value).max(value - high).max(0.0);
        let (x, z) = (beside(at.x, 11.0, 19.0), beside(at.z, 6.0, 12.0));
        let gap = (x * x + z * z).sqrt();
        assert!((0.5..1.3).contains(&gap), "{at} is {gap} from the block");
    }
    assert!(
        ray.blocked && (ray.position.x - 10.4).abs() < 0.4,
        "{ray:?}"
    );
    // The lid of the block is ground too, and nearer than the floor beside it; below it nobody fits.
    let near = near.unwrap();
    assert_eq!((near.x, near.z), (15.0, 9.0));
    assert!((1.4..1.8).contains(&near.y), "{near}");
    assert_eq!(ask(&loaded), (route, ray, Some(near)));
}

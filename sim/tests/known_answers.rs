//! A single polygon as a mesh: enough for the published numbers of a lone agent and of eight.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use throng_query::mesh::PathStatus;
use throng_sim::crowd::{AgentOptions, Crowd, CrowdOptions};
use throng_soa::mesh::TiledMesh;
use throng_soa::world::DVec3;

fn floor() -> TiledMesh {
    let v = |x, z| DVec3::new(x, 0.0, z);
    let vertices = [v(0.0, 0.0), v(0.0, 40.0), v(40.0, 0.0), v(40.0, 40.0)];
    throng_build::pipeline::build_soup(
        &vertices,
        &[[0, 1, 2], [2, 1, 3]],
        &throng_build::settings::NavSettings::HUMANOID,
        1,
    )
    .unwrap()
}

#[test]
fn one_agent_walks_a_second() {
    let mesh = floor();
    let mut crowd = Crowd::new(CrowdOptions::default()).unwrap();
    let walker = crowd
        .add(&mesh, DVec3::new(3.0, 0.0, 3.0), &AgentOptions::HUMANOID)
        .unwrap();
    let status = crowd
        .set_destination(&mesh, walker, DVec3::new(36.0, 0.0, 36.0))
        .unwrap();
    assert_eq!(status, PathStatus::Found);
    for _ in 0..20 {
        crowd.step(&mesh, 0.05).unwrap();
    }
    println!("{:?}", mesh.tile(0).unwrap().data());
    let agent = crowd.agent(walker).unwrap();
    let position = agent.position();
    assert_eq!(format!("{:.4}", agent.remaining_distance()), "43.8543");
    assert_eq!(
        position,
        DVec3::new(5.05112451814824, 0.0, 4.929277245053733)
    );
}

#[test]
fn eight_agents_cross() {
    let mesh = floor();
    let mut crowd = Crowd::new(CrowdOptions::default()).unwrap();
    for i in 0..4 {
        let x = 5.0 + 8.0 * f64::from(i);
        let far = 35.0 - 8.0 * f64::from(i);
        for (from, to) in [(5.0, 35.0), (35.0, 5.0)] {
            let at = DVec3::new(x, 0.0, from);
            let id = crowd.add(&mesh, at, &AgentOptions::HUMANOID).unwrap();
            crowd
                .set_destination(&mesh, id, DVec3::new(far, 0.0, to))
                .unwrap();
        }
    }
    for _ in 0..100 {
        crowd.step(&mesh, 1.0 / 30.0).unwrap();
    }
    let saved = crowd.save_state(&mesh);
    assert_eq!(saved.len(), 3320);
    assert_eq!(
        format!("{:016X}", crowd.state_hash(&mesh)),
        "E7D9E5CD5E787CD2"
    );
}

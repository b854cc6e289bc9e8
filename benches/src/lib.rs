//! Scenes shared by the benchmarks. Same seeds, same scenes, on every machine.

use throng::{
    AgentId, AgentOptions, Crowd, CrowdOptions, DVec3, NavMesh, NavSettings, QueryFilter, Soup,
    SplitMix64, levels,
};

/// A generated level of `size` units; the default seed.
///
/// # Panics
/// When there is no such level.
#[must_use]
pub fn level(name: &str, size: f64) -> Soup {
    levels::generate(name, size, 1).unwrap_or_else(|| panic!("no level {name}"))
}

/// Its mesh for the humanoid preset.
///
/// # Panics
/// When the level does not build.
#[must_use]
pub fn mesh(soup: &Soup) -> NavMesh {
    NavMesh::build_soup(soup, &NavSettings::HUMANOID)
        .unwrap_or_else(|error| panic!("the level does not build: {error}"))
}

/// `count` pairs of points on the mesh.
///
/// # Panics
/// When the mesh is empty.
#[must_use]
pub fn pairs(mesh: &NavMesh, count: usize, seed: u64) -> Vec<(DVec3, DVec3)> {
    let mut rng = SplitMix64::new(seed);
    let filter = QueryFilter::default();
    let mut point = || match mesh.random_point(&mut rng, &filter) {
        Some(found) => found.point,
        None => panic!("the mesh is empty"),
    };
    (0..count).map(|_| (point(), point())).collect()
}

/// A crowd of `count` agents between random points, `warm` steps in.
///
/// # Panics
/// When an agent cannot be added.
#[must_use]
pub fn crowd(mesh: &NavMesh, count: usize, threads: usize, warm: usize) -> Crowd {
    let mut crowd = crowd_between(mesh, &pairs(mesh, count, 7), threads);
    for _ in 0..warm {
        let stepped = crowd.step(mesh, 0.05);
        stepped.unwrap_or_else(|error| panic!("{error}"));
    }
    crowd
}

/// A crowd of people, each on the way from the first to the second point of its pair.
///
/// # Panics
/// When an agent cannot be added.
#[must_use]
pub fn crowd_between(mesh: &NavMesh, ways: &[(DVec3, DVec3)], threads: usize) -> Crowd {
    let options = CrowdOptions {
        threads,
        ..CrowdOptions::default()
    };
    let mut crowd = Crowd::new(options).unwrap_or_else(|error| panic!("{error}"));
    let ids: Vec<AgentId> = ways
        .iter()
        .map(|&(from, _)| {
            let added = crowd.add(mesh, from, &AgentOptions::HUMANOID);
            added.unwrap_or_else(|error| panic!("{error}"))
        })
        .collect();
    for (&id, &(_, to)) in ids.iter().zip(ways) {
        let sent = crowd.set_destination(mesh, id, to);
        sent.unwrap_or_else(|error| panic!("{error}"));
    }
    crowd
}

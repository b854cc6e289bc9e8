//! Voxel chunks: the numbers a host may pass, and the meshes built from them.
//!
//! Six bytes of sizes and settings, then runs of three bytes (start and material, length, columns
//! to go on). The runs go to the constructor as they are: it must refuse what breaks its rules, and
//! what it accepts must build to a mesh that saves, loads and answers a query.

use throng::{DVec3, NavMesh, NavSettings, PartitionType, PathOptions, VoxelChunk, VoxelRun};

/// Any bytes as sizes, settings and runs.
pub fn chunk(data: &[u8]) {
    let [width, depth, height, shape, agent, tile, rest @ ..] = data else {
        return;
    };
    let (width, depth) = (u32::from(width % 24), u32::from(depth % 24));
    let height = u32::from(*height);
    let (column_first, runs) = columns(width * depth, rest);
    let Ok(chunk) = VoxelChunk::from_runs(width, depth, height, column_first, runs) else {
        return;
    };
    assert_eq!(chunk.size(), [width, height, depth]);
    let settings = NavSettings {
        partition: match shape % 3 {
            0 => PartitionType::Watershed,
            1 => PartitionType::Monotone,
            _ => PartitionType::Layers,
        },
        cell_size: 0.5,
        cell_height: 0.25,
        agent_radius: f64::from(agent % 4) * 0.5,
        agent_height: 0.5 + f64::from(agent / 4 % 4) * 0.5,
        walkable_climb: f64::from(agent / 16 % 4) * 0.25,
        tile_size: f64::from(4 + tile % 8),
        detail_sample_distance: if tile / 8 % 2 == 0 { 0.0 } else { 3.0 },
        min_region_area: i32::from(shape / 4 % 4) * 4,
        ..NavSettings::HUMANOID
    };
    let Ok(mesh) = NavMesh::build_chunk(&chunk, &settings) else {
        return;
    };
    let bytes = mesh.save();
    let again = match NavMesh::load(&bytes) {
        Ok(again) => again,
        Err(error) => panic!("a mesh it built itself: {error}"),
    };
    assert!(again.save() == bytes, "written differently");
    let corner = |x, z| {
        DVec3::new(
            f64::from(x) * 0.5,
            f64::from(height) * 0.125,
            f64::from(z) * 0.5,
        )
    };
    let route = again.find_path(corner(0, 0), corner(width, depth), &PathOptions::default());
    assert!(route.is_ok(), "a place inside the chunk is out of bounds");
}

/// The runs of each column, and where they begin.
fn columns(count: u32, bytes: &[u8]) -> (Vec<u32>, Vec<VoxelRun>) {
    let (mut first, mut runs) = (vec![0], Vec::new());
    for piece in bytes.chunks_exact(3) {
        runs.push(VoxelRun {
            start: u16::from(piece[0] % 64),
            length: u16::from(piece[1]),
            material: piece[0] / 64,
        });
        // Columns end here: none, or up to 15 with the same last run each.
        for again in 0..piece[2] % 16 {
            if first.len() > count as usize {
                return (first, runs);
            }
            if again > 0 {
                runs.extend(runs.last().copied());
            }
            first.push(runs.len() as u32);
        }
    }
    while first.len() <= count as usize {
        first.push(runs.len() as u32);
    }
    (first, runs)
}

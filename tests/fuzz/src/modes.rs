//! The only bytes of an accepted snapshot's state, tiles written the way the snapshot has them.
//!
//! A snapshot of a mesh may mix tiles with names of tiles; what writes it takes one way for all. So
//! the state is written both ways, and each slot is taken from the one that the input chose. A reader
//! that took anything for something else shows as a difference.

use throng::{ConvexVolume, DVec2};

/// Where the slots of a mesh snapshot begin, and its section's length is.
const SLOTS: usize = 92;
const SECTION: usize = 84;
/// Header of a crowd with its mesh.
const KIND: usize = 8;

fn u32_at(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

fn f64_at(bytes: &[u8], at: usize) -> f64 {
    f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// The slots of an accepted mesh snapshot, each with its kind.
fn slots(bytes: &[u8]) -> Vec<(u8, &[u8])> {
    let mut slots = Vec::new();
    let mut at = SLOTS;
    for _ in 0..u32_at(bytes, SLOTS - 4) {
        let (start, kind) = (at, bytes[at + 4]);
        at += 5;
        if kind > 0 {
            at += match kind {
                1 => 4 + u32_at(bytes, at),
                _ => 32,
            };
            at += 4 + 7 * u32_at(bytes, at);
            at += 4 + 4 * u32_at(bytes, at);
        }
        slots.push((kind, &bytes[start..at]));
    }
    assert_eq!(at, bytes.len(), "something follows the slots");
    slots
}

/// A mesh snapshot in the modes of `data`, from the two of one mode each.
pub fn mesh(data: &[u8], [full, referenced]: [&[u8]; 2]) -> Vec<u8> {
    let (chosen, full_slots, referenced_slots) = (slots(data), slots(full), slots(referenced));
    assert_eq!(chosen.len(), full_slots.len());
    assert_eq!(chosen.len(), referenced_slots.len());
    let mut out = full[..SLOTS].to_vec();
    for (slot, (kind, _)) in chosen.into_iter().enumerate() {
        let from = if kind == 2 {
            referenced_slots[slot]
        } else {
            full_slots[slot]
        };
        out.extend(from.1);
    }
    let length = (out.len() - SECTION - 4) as u32;
    out[SECTION..SECTION + 4].copy_from_slice(&length.to_le_bytes());
    out
}

/// A crowd with its mesh, likewise: the mesh's length and bytes, then the crowd's.
pub fn crowd_with_mesh(data: &[u8], written: [&[u8]; 2]) -> Vec<u8> {
    let end = |bytes: &[u8]| KIND + 4 + u32_at(bytes, KIND);
    let [full, referenced] = written.map(|bytes| bytes.split_at(end(bytes)));
    assert!(full.1 == referenced.1, "the crowd depends on the mode");
    let meshes = [&full.0[KIND + 4..], &referenced.0[KIND + 4..]];
    let mesh = mesh(&data[KIND + 4..end(data)], meshes);
    let length = (mesh.len() as u32).to_le_bytes();
    [&full.0[..KIND], &length, &mesh, full.1].concat()
}

/// A cache's snapshot, likewise: shapes and queue, then the mesh's length and bytes.
pub fn cache(data: &[u8], written: [&[u8]; 2]) -> Vec<u8> {
    let [full, referenced] = written.map(|bytes| bytes.split_at(shapes_end(bytes)));
    assert!(full.0 == referenced.0, "the shapes depend on the mode");
    let mesh = mesh(
        &data[shapes_end(data) + 4..],
        [&full.1[4..], &referenced.1[4..]],
    );
    let length = (mesh.len() as u32).to_le_bytes();
    [full.0, &length, &mesh].concat()
}

/// Where the volumes of an accepted cache snapshot begin: at their count.
fn volumes(bytes: &[u8]) -> usize {
    let mut at = 20;
    for _ in 0..u32_at(bytes, 16) {
        at += 5 + match bytes[at + 4] {
            1 => 40,
            2 => 48,
            _ => 56,
        };
    }
    at
}

/// Where the length of its mesh is: behind obstacles, volumes and queue.
fn shapes_end(bytes: &[u8]) -> usize {
    let first = volumes(bytes);
    let mut at = first + 4;
    for _ in 0..u32_at(bytes, first) {
        at += 25 + 16 * u32_at(bytes, at + 21);
    }
    at + 4 + 8 * u32_at(bytes, at)
}

/// An accepted cache snapshot with its volumes' corners in the order that is written.
pub fn wound(data: &[u8]) -> Vec<u8> {
    let mut out = data.to_vec();
    let first = volumes(data);
    let mut at = first + 4;
    for _ in 0..u32_at(data, first) {
        let (low, high) = (f64_at(data, at + 5), f64_at(data, at + 13));
        let corners: Vec<DVec2> = (0..u32_at(data, at + 21))
            .map(|corner| at + 25 + 16 * corner)
            .map(|at| DVec2::new(f64_at(data, at), f64_at(data, at + 8)))
            .collect();
        let volume = ConvexVolume::new(&corners, low, high, data[at + 4]).unwrap();
        at += 25;
        for corner in volume.corners() {
            out[at..at + 8].copy_from_slice(&corner.x.to_le_bytes());
            out[at + 8..at + 16].copy_from_slice(&corner.y.to_le_bytes());
            at += 16;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::{cache_snapshot, crowd_with_mesh, snapshot, with_scene};
    use throng::parts::sim::crowd::mesh_of_state_with;
    use throng::parts::soa::mesh::snapshot::read_snapshot_with;

    /// What is refused is not compared, so these must be taken.
    #[test]
    fn mixtures_are_taken_and_compared() {
        let mesh = include_bytes!("../seeds/snapshot/mixed.onps");
        let crowd = include_bytes!("../seeds/crowd_with_mesh/mixed.opcs");
        let cache = include_bytes!("../seeds/cache_snapshot/mixed.ontk");
        let kinds: Vec<u8> = super::slots(mesh).iter().map(|slot| slot.0).collect();
        assert_eq!(kinds, [2, 0, 2, 1]);
        with_scene(|scene| {
            assert!(read_snapshot_with(mesh, &scene.library).is_ok());
            assert!(mesh_of_state_with(crowd, &scene.library).is_ok());
            assert!(scene.cache.restore(cache, &scene.library).is_ok());
        });
        assert!(super::wound(cache) != cache, "its corners are turned round");
        snapshot(mesh);
        crowd_with_mesh(crowd);
        cache_snapshot(cache);
    }
}

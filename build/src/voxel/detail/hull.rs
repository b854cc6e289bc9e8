//! Delaunay triangulation of a polygon's outline.
//!
//! The outline is convex up to rounding of the points along its edges, so ears are clipped from the
//! first corner on, and flips do the rest.

use super::triangulation::{OUTSIDE, Point, Triangle, Triangulation, turn};

/// A worker's buffers for [`triangulate_ring`].
#[derive(Debug, Default)]
pub(crate) struct HullScratch {
    alive: Vec<u16>,
    /// Per ring position the triangle beyond the edge that starts there and its edge number.
    beyond: Vec<(u32, u8)>,
}

/// Replaces `mesh` with the triangles of the ring (positions in `points`, counter-clockwise).
pub(crate) fn triangulate_ring(
    points: &[Point],
    ring: &[u16],
    scratch: &mut HullScratch,
    mesh: &mut Triangulation,
) {
    mesh.triangles.clear();
    mesh.stack.clear();
    mesh.changed.clear();
    scratch.alive.clear();
    scratch.alive.extend_from_slice(ring);
    scratch.beyond.clear();
    scratch.beyond.resize(ring.len(), (OUTSIDE, 0));
    while scratch.alive.len() >= 3 {
        let at = if scratch.alive.len() == 3 {
            1
        } else {
            next_ear(points, &scratch.alive)
        };
        clip(at, scratch, mesh);
    }
    for t in 0..mesh.triangles.len() as u32 {
        for k in 0..3 {
            if mesh.triangles[t as usize].beyond[usize::from(k)] != OUTSIDE {
                mesh.stack.push((t, k));
            }
        }
    }
    mesh.legalize(points);
    mesh.changed.clear();
}

/// The first corner, from the head, that can be clipped: a proper ear, else a flat one, else the
/// head.
fn next_ear(points: &[Point], alive: &[u16]) -> usize {
    for flat in [false, true] {
        for at in 0..alive.len() {
            if is_ear(points, alive, at, flat) {
                return at;
            }
        }
    }
    0
}

fn is_ear(points: &[Point], alive: &[u16], at: usize, flat: bool) -> bool {
    let count = alive.len();
    let before = if at == 0 { count - 1 } else { at - 1 };
    let after = if at + 1 == count { 0 } else { at + 1 };
    let point = |i: usize| points[usize::from(alive[i])];
    let (p, v, q) = (point(before), point(at), point(after));
    let corner = turn(p, v, q);
    if !(corner > 0.0 || (flat && corner >= 0.0)) {
        return false;
    }
    (0..count).all(|i| {
        if i == before || i == at || i == after {
            return true;
        }
        let o = point(i);
        !(turn(p, v, o) >= 0.0 && turn(v, q, o) >= 0.0 && turn(q, p, o) >= 0.0)
    })
}

/// Cuts one corner off the ring and links the new triangle to the triangles behind its sides.
fn clip(at: usize, scratch: &mut HullScratch, mesh: &mut Triangulation) {
    let count = scratch.alive.len();
    let before = if at == 0 { count - 1 } else { at - 1 };
    let after = if at + 1 == count { 0 } else { at + 1 };
    let id = mesh.triangles.len() as u32;
    let sides = [scratch.beyond[before], scratch.beyond[at]];
    let mut beyond = [sides[0].0, sides[1].0, OUTSIDE];
    let last = count == 3;
    if last {
        beyond[2] = scratch.beyond[after].0;
    }
    mesh.triangles.push(Triangle {
        corner: [
            scratch.alive[before],
            scratch.alive[at],
            scratch.alive[after],
        ],
        beyond,
    });
    let third = if last {
        scratch.beyond[after]
    } else {
        (OUTSIDE, 0)
    };
    for (other, edge) in [sides[0], sides[1], third] {
        if other != OUTSIDE {
            mesh.triangles[other as usize].beyond[usize::from(edge)] = id;
        }
    }
    if last {
        scratch.alive.clear();
        return;
    }
    scratch.beyond[before] = (id, 2);
    scratch.alive.remove(at);
    scratch.beyond.remove(at);
}

//! Takes back corners that only split a straight wall.
//!
//! Outlines split long walls so that no edge gets too long; on a straight wall the split buys
//! nothing and costs a polygon one of its few vertices.

use crate::voxel::contours::ContourVertex;
use crate::voxel::edge_tree::cross;

/// Copies a contour to `out` without the corners that lie between two wall edges of one line and
/// within a row of it. A contour that would keep fewer than three corners is copied whole.
pub(crate) fn without_straight_wall_corners(
    contour: &[ContourVertex],
    out: &mut Vec<ContourVertex>,
) {
    out.clear();
    out.extend_from_slice(contour);
    loop {
        let before = out.len();
        remove_pass(out);
        if out.len() == before {
            break;
        }
        if out.len() < 3 {
            out.clear();
            out.extend_from_slice(contour);
            break;
        }
    }
}

/// One pass in ring order; each corner is compared with the corners still there.
fn remove_pass(ring: &mut Vec<ContourVertex>) {
    let count = ring.len();
    let mut write = 0;
    for read in 0..count {
        let current = ring[read];
        // Corners before `read` are already compacted, those from `read` on untouched.
        let previous = if write > 0 {
            ring[write - 1]
        } else {
            ring[count - 1]
        };
        let next = if read + 1 < count {
            ring[read + 1]
        } else if write > 0 {
            ring[0]
        } else {
            current
        };
        if !is_straight_wall(previous, current, next) {
            ring[write] = current;
            write += 1;
        }
    }
    ring.truncate(write);
}

fn is_straight_wall(previous: ContourVertex, v: ContourVertex, next: ContourVertex) -> bool {
    if previous.neighbor != 0 || v.neighbor != 0 || cross(previous, v, next) != 0 {
        return false;
    }
    let along = |a: ContourVertex, b: ContourVertex| (i64::from(b.x - a.x), i64::from(b.z - a.z));
    let (nx, nz) = along(previous, next);
    let (vx, vz) = along(previous, v);
    let (rx, rz) = along(v, next);
    let same_direction = vx * rx + vz * rz > 0;
    let whole = nx * nx + nz * nz;
    let part = nx * vx + nz * vz;
    let rise = i64::from(v.y - previous.y) * whole - i64::from(next.y - previous.y) * part;
    same_direction && rise.abs() <= whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(points: &[(i32, i32, i32, i32)]) -> Vec<ContourVertex> {
        points
            .iter()
            .map(|&(x, y, z, neighbor)| ContourVertex { x, y, z, neighbor })
            .collect()
    }

    #[test]
    fn only_flat_collinear_wall_corners_go() {
        let contour = ring(&[
            (0, 0, 0, 0),
            (4, 0, 0, 0),
            (8, 0, 0, 0),
            (12, 0, 0, 2),
            (12, 0, 6, 2),
            (12, 0, 12, 0),
            (6, 9, 12, 0),
            (0, 0, 12, 0),
            (0, 0, 6, 0),
        ]);
        let mut out = Vec::new();
        without_straight_wall_corners(&contour, &mut out);
        let left: Vec<_> = out.iter().map(|v| (v.x, v.z)).collect();
        assert_eq!(left, [(0, 0), (12, 0), (12, 6), (12, 12), (6, 12), (0, 12)]);
    }

    #[test]
    fn a_long_run_of_split_corners_goes_entirely() {
        let mut points: Vec<_> = (0..100).map(|i| (i, 0, 0, 0)).collect();
        points.push((50, 0, 50, 0));
        let mut out = Vec::new();
        without_straight_wall_corners(&ring(&points), &mut out);
        assert_eq!(out.len(), 3);
    }
}

//! Samples inside a polygon, and their insertion where the error is largest.

use super::heights::Heights;
use super::triangulation::{OUTSIDE, Point, Triangle, Triangulation, turn};
use super::{DetailSettings, MAX_DETAIL_VERTICES, Placement};

/// No triangle holds the sample, or it has been used or dropped.
const DONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Sample {
    point: Point,
    triangle: u32,
    error: f64,
}

/// A worker's buffers for this stage.
#[derive(Debug, Default)]
pub(crate) struct RefineScratch {
    samples: Vec<Sample>,
    lines: Vec<(f64, f64, f64, f64, f64)>,
    is_changed: Vec<bool>,
}

/// Collects the grid points well inside the polygon whose floor is known.
pub(crate) fn collect_samples(
    corners: &[[i32; 3]],
    region: u32,
    heights: &Heights<'_>,
    settings: &DetailSettings,
    place: &Placement<'_>,
    scratch: &mut RefineScratch,
) {
    scratch.samples.clear();
    let spacing = settings.sample_distance;
    let bound = |axis: usize| {
        let low = corners.iter().map(|c| c[axis]).min().unwrap_or(0);
        let high = corners.iter().map(|c| c[axis]).max().unwrap_or(0);
        (f64::from(low), f64::from(high))
    };
    let ((min_x, max_x), (min_z, max_z)) = (bound(0), bound(2));
    if min_x + spacing >= max_x || min_z + spacing >= max_z {
        return;
    }
    scratch.lines.clear();
    for (i, from) in corners.iter().enumerate() {
        let to = corners[if i + 1 == corners.len() { 0 } else { i + 1 }];
        let (ax, az) = (f64::from(from[0]), f64::from(from[2]));
        let (dx, dz) = (f64::from(to[0]) - ax, f64::from(to[2]) - az);
        let length = (dx * dx + dz * dz).sqrt();
        scratch.lines.push((ax, az, dx, dz, length));
    }
    let rows: i64 = corners.iter().map(|c| i64::from(c[1])).sum();
    let expected = rows as f64 / corners.len() as f64;
    let margin = spacing / 2.0;
    let mut j = 1;
    loop {
        let z = min_z + f64::from(j) * spacing;
        if z >= max_z {
            break;
        }
        let mut i = 1;
        loop {
            let x = min_x + f64::from(i) * spacing;
            if x >= max_x {
                break;
            }
            let inside = scratch
                .lines
                .iter()
                .all(|&(ax, az, dx, dz, length)| (dx * (z - az) - dz * (x - ax)) / length > margin);
            if inside {
                if let Some(row) = heights.nearest_row(x, z, expected, Some(region)) {
                    scratch.samples.push(Sample {
                        point: place.point(x, row, z),
                        triangle: DONE,
                        error: 0.0,
                    });
                }
            }
            i += 1;
        }
        j += 1;
    }
}

/// Inserts the sample with the largest error (first on ties) while it is above `max_error` and
/// there is room.
pub(crate) fn insert_worst_samples(
    max_error: f64,
    points: &mut Vec<Point>,
    mesh: &mut Triangulation,
    scratch: &mut RefineScratch,
) {
    for sample in &mut scratch.samples {
        let all = 0..mesh.triangles.len() as u32;
        locate(sample, all, points, mesh);
    }
    while points.len() < MAX_DETAIL_VERTICES {
        let mut worst = None;
        let mut most = max_error;
        for (index, sample) in scratch.samples.iter().enumerate() {
            if sample.triangle != DONE && sample.error > most {
                most = sample.error;
                worst = Some(index);
            }
        }
        let Some(worst) = worst else {
            return;
        };
        let Sample {
            point, triangle, ..
        } = scratch.samples[worst];
        scratch.samples[worst].triangle = DONE;
        mesh.changed.clear();
        if !insert(point, triangle, points, mesh) {
            continue;
        }
        mesh.legalize(points);
        mesh.changed.sort_unstable();
        mesh.changed.dedup();
        scratch.is_changed.clear();
        scratch.is_changed.resize(mesh.triangles.len(), false);
        for &t in &mesh.changed {
            scratch.is_changed[t as usize] = true;
        }
        for sample in &mut scratch.samples {
            if sample.triangle != DONE && scratch.is_changed[sample.triangle as usize] {
                locate(sample, mesh.changed.iter().copied(), points, mesh);
            }
        }
    }
}

/// Finds the first of `candidates` that holds the sample and measures its error there.
fn locate(
    sample: &mut Sample,
    candidates: impl Iterator<Item = u32>,
    points: &[Point],
    mesh: &Triangulation,
) {
    let p = sample.point;
    sample.triangle = DONE;
    for t in candidates {
        let [a, b, c] = mesh.triangles[t as usize]
            .corner
            .map(|i| points[usize::from(i)]);
        let outside_box = p.x < a.x.min(b.x).min(c.x)
            || p.x > a.x.max(b.x).max(c.x)
            || p.z < a.z.min(b.z).min(c.z)
            || p.z > a.z.max(b.z).max(c.z);
        if outside_box || turn(a, b, p) < 0.0 || turn(b, c, p) < 0.0 || turn(c, a, p) < 0.0 {
            continue;
        }
        let whole = (b.x - a.x) * (c.z - a.z) - (c.x - a.x) * (b.z - a.z);
        if whole <= 0.0 {
            continue; // a sliver without area has no plane
        }
        let towards_b = ((p.x - a.x) * (c.z - a.z) - (c.x - a.x) * (p.z - a.z)) / whole;
        let towards_c = ((b.x - a.x) * (p.z - a.z) - (p.x - a.x) * (b.z - a.z)) / whole;
        let plane = a.y + (b.y - a.y) * towards_b + (c.y - a.y) * towards_c;
        sample.triangle = t;
        sample.error = (p.y - plane).abs();
        return;
    }
}

/// Makes the point a vertex of the triangle that holds it and queues the edges around it. A point
/// on the outline, or on a vertex, is refused.
fn insert(point: Point, t: u32, points: &mut Vec<Point>, mesh: &mut Triangulation) -> bool {
    let Triangle { corner, beyond } = mesh.triangles[t as usize];
    let at = |i: u16| points[usize::from(i)];
    let turns = [0, 1, 2].map(|k| turn(at(corner[k]), at(corner[(k + 1) % 3]), point));
    let new = points.len() as u16;
    let on_edge = turns.iter().filter(|&&side| side == 0.0).count();
    if on_edge > 1 {
        return false;
    }
    if on_edge == 0 {
        let (first, second) = (mesh.triangles.len() as u32, mesh.triangles.len() as u32 + 1);
        mesh.triangles[t as usize] = Triangle {
            corner: [corner[0], corner[1], new],
            beyond: [beyond[0], first, second],
        };
        mesh.triangles.push(Triangle {
            corner: [corner[1], corner[2], new],
            beyond: [beyond[1], second, t],
        });
        mesh.triangles.push(Triangle {
            corner: [corner[2], corner[0], new],
            beyond: [beyond[2], t, first],
        });
        mesh.relink(beyond[1], t, first);
        mesh.relink(beyond[2], t, second);
        mesh.stack.extend([(t, 0), (first, 0), (second, 0)]);
        mesh.changed.extend([t, first, second]);
        points.push(point);
        return true;
    }
    let k = turns.iter().position(|&side| side == 0.0).unwrap_or(0);
    let u = beyond[k];
    if u == OUTSIDE {
        return false;
    }
    let j = mesh.edge_towards(u, t);
    let other = mesh.triangles[u as usize];
    // The split edge is a b, c is across it in `t`, d in `u`.
    let (a, b, c) = (corner[k], corner[(k + 1) % 3], corner[(k + 2) % 3]);
    let d = other.corner[(j + 2) % 3];
    let (bc, ca) = (beyond[(k + 1) % 3], beyond[(k + 2) % 3]);
    let (ad, db) = (other.beyond[(j + 1) % 3], other.beyond[(j + 2) % 3]);
    let (first, second) = (mesh.triangles.len() as u32, mesh.triangles.len() as u32 + 1);
    mesh.triangles[t as usize] = Triangle {
        corner: [c, a, new],
        beyond: [ca, u, first],
    };
    mesh.triangles[u as usize] = Triangle {
        corner: [a, d, new],
        beyond: [ad, second, t],
    };
    mesh.triangles.push(Triangle {
        corner: [b, c, new],
        beyond: [bc, t, second],
    });
    mesh.triangles.push(Triangle {
        corner: [d, b, new],
        beyond: [db, first, u],
    });
    mesh.relink(bc, t, first);
    mesh.relink(db, u, second);
    mesh.stack.extend([(t, 0), (u, 0), (first, 0), (second, 0)]);
    mesh.changed.extend([t, u, first, second]);
    points.push(point);
    true
}

//! Extra points along polygon edges.
//!
//! Each edge is walked from its lexicographically smaller end, so the two polygons that share it
//! find the same points bit for bit.

use super::heights::Heights;
use super::triangulation::Point;
use super::{DetailSettings, MAX_DETAIL_VERTICES, Placement};

/// Most samples of one edge; longer edges stay straight.
const MAX_STEPS: f64 = 4096.0;

/// A worker's buffers for [`add_edge_points`].
#[derive(Debug, Default)]
pub(crate) struct EdgeScratch {
    rows: Vec<f64>,
    kept: Vec<bool>,
    stack: Vec<(u32, u32)>,
}

/// Appends edge points to `points` and writes the outline, corners and edge points in order, to
/// `ring`. When the outline would have too many vertices no edge points are used at all.
pub(crate) fn add_edge_points(
    corners: &[[i32; 3]],
    heights: &Heights<'_>,
    settings: &DetailSettings,
    place: &Placement<'_>,
    scratch: &mut EdgeScratch,
    points: &mut Vec<Point>,
    ring: &mut Vec<u16>,
) {
    let count = corners.len();
    for i in 0..count {
        ring.push(i as u16);
        let (from, to) = (corners[i], corners[if i + 1 == count { 0 } else { i + 1 }]);
        let forward = (from[0], from[2]) <= (to[0], to[2]);
        let (start, end) = if forward { (from, to) } else { (to, from) };
        let steps = sample_edge(start, end, heights, settings, scratch);
        if steps == 0 {
            continue;
        }
        keep_bends(
            &scratch.rows,
            settings,
            &mut scratch.kept,
            &mut scratch.stack,
        );
        for step in 1..steps {
            let k = if forward { step } else { steps - step };
            if scratch.kept[k] {
                let (x, z) = along(start, end, k, steps);
                ring.push(points.len() as u16);
                points.push(place.point(x, scratch.rows[k], z));
            }
        }
        if points.len() > MAX_DETAIL_VERTICES {
            points.truncate(count);
            ring.clear();
            ring.extend(0..count as u16);
            return;
        }
    }
}

/// Fills `rows` with the floor row at every step of an edge, ends included; returns the number of
/// steps, 0 when the edge is not sampled.
fn sample_edge(
    start: [i32; 3],
    end: [i32; 3],
    heights: &Heights<'_>,
    settings: &DetailSettings,
    scratch: &mut EdgeScratch,
) -> usize {
    let (dx, dz) = (f64::from(end[0] - start[0]), f64::from(end[2] - start[2]));
    let length = (dx * dx + dz * dz).sqrt();
    if length <= settings.sample_distance {
        return 0;
    }
    let steps = (length / settings.sample_distance).ceil();
    if steps > MAX_STEPS {
        return 0;
    }
    let steps = steps as usize;
    let (low, high) = (f64::from(start[1]), f64::from(end[1]));
    scratch.rows.clear();
    scratch.rows.push(low);
    for k in 1..steps {
        let (x, z) = along(start, end, k, steps);
        let expected = low + (high - low) * k as f64 / steps as f64;
        let row = heights.nearest_row(x, z, expected, None);
        scratch.rows.push(row.unwrap_or(expected));
    }
    scratch.rows.push(high);
    steps
}

fn along(start: [i32; 3], end: [i32; 3], k: usize, steps: usize) -> (f64, f64) {
    let at = |axis: usize| {
        let (a, b) = (f64::from(start[axis]), f64::from(end[axis]));
        a + (b - a) * k as f64 / steps as f64
    };
    (at(0), at(2))
}

/// Marks the steps where the line through the kept rows would stray more than the limit, the
/// farthest first (first on ties).
fn keep_bends(
    rows: &[f64],
    settings: &DetailSettings,
    kept: &mut Vec<bool>,
    stack: &mut Vec<(u32, u32)>,
) {
    let limit = settings.max_error / settings.cell_height;
    kept.clear();
    kept.resize(rows.len(), false);
    stack.clear();
    stack.push((0, rows.len() as u32 - 1));
    while let Some((a, b)) = stack.pop() {
        let (from, to) = (rows[a as usize], rows[b as usize]);
        let mut worst = 0;
        let mut most = limit;
        for k in a + 1..b {
            let line = from + (to - from) * f64::from(k - a) / f64::from(b - a);
            let deviation = (rows[k as usize] - line).abs();
            if deviation > most {
                most = deviation;
                worst = k;
            }
        }
        if worst != 0 {
            kept[worst as usize] = true;
            stack.push((a, worst));
            stack.push((worst, b));
        }
    }
}

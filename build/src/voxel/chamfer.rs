//! Distance to the nearest boundary over linked spans: a straight step costs 2, a diagonal one 3.
//!
//! In: who links to whom and the areas. Out: one exact distance per span. Shared by erosion and by
//! the distance field of the watershed. The mask is Borgefors' 2-3 chamfer ("Distance
//! transformations in digital images", 1986); the two raster sweeps are Rosenfeld and Pfaltz's
//! (1966). Departure: on floors that are not a plain grid two sweeps can miss the shortest path,
//! so there the sweeps look at all eight two-step ways and are repeated until nothing changes.

use throng_soa::spans::{NO_SPAN, NULL_AREA};

/// More than any real distance, and small enough to add a step to.
const FAR: u32 = u32::MAX / 4;

/// Replaces `out` by the distance of each span to the nearest boundary span.
///
/// A span is on the boundary when its area is 0, a neighbour is missing or a neighbour's area
/// is 0. `steps_commute` promises that `neighbor` is symmetric and that two perpendicular steps
/// from a span with four neighbours end on one span in either order; then two sweeps are exact.
/// Why: every span strictly nearer than the boundary has all neighbours, so a shortest path can
/// be reordered freely, and with opposite and bent step pairs replaced by cheaper ones it uses
/// one straight and one diagonal direction, which one sweep each carries along.
pub(crate) fn chamfer_distance(
    neighbor: &[[u32; 4]],
    area: &[u8],
    steps_commute: bool,
    out: &mut Vec<u32>,
) {
    out.clear();
    out.extend(neighbor.iter().zip(area).map(|(targets, &own)| {
        let inside = own != NULL_AREA
            && targets
                .iter()
                .all(|&t| t != NO_SPAN && area[t as usize] != NULL_AREA);
        if inside { FAR } else { 0 }
    }));
    if steps_commute {
        sweep_once(neighbor, out);
    } else {
        sweep_until_stable(neighbor, out);
    }
}

/// One sweep each way, looking at the four spans that precede in the direction of the sweep.
fn sweep_once(neighbor: &[[u32; 4]], distance: &mut [u32]) {
    for span in 0..distance.len() {
        if distance[span] != 0 {
            let targets = neighbor[span];
            distance[span] = pull(neighbor, distance, targets[0], targets[3], FAR);
        }
    }
    for span in (0..distance.len()).rev() {
        let best = distance[span];
        if best > 2 {
            let targets = neighbor[span];
            distance[span] = pull(neighbor, distance, targets[2], targets[1], best);
        }
    }
}

/// The least of `best` and the ways over `side` (same row) and over `row` (the row before).
#[inline]
fn pull(neighbor: &[[u32; 4]], distance: &[u32], side: u32, row: u32, best: u32) -> u32 {
    let over_row = distance[row as usize];
    if over_row == 0 {
        return best.min(2);
    }
    // `row` is no boundary span, so it has all its neighbours.
    let corners = neighbor[row as usize];
    best.min(distance[side as usize] + 2)
        .min(over_row + 2)
        .min(distance[corners[0] as usize] + 3)
        .min(distance[corners[2] as usize] + 3)
}

/// Sweeps both ways over all links and all two-step ways until nothing changes.
fn sweep_until_stable(neighbor: &[[u32; 4]], distance: &mut [u32]) {
    loop {
        let mut changed = false;
        for span in 0..distance.len() {
            changed |= relax(neighbor, distance, span);
        }
        for span in (0..distance.len()).rev() {
            changed |= relax(neighbor, distance, span);
        }
        if !changed {
            return;
        }
    }
}

#[inline]
fn relax(neighbor: &[[u32; 4]], distance: &mut [u32], span: usize) -> bool {
    let old = distance[span];
    if old <= 2 {
        return false;
    }
    let mut best = old;
    for direction in 0..4 {
        let middle = neighbor[span][direction] as usize;
        best = best.min(distance[middle] + 2);
        for turn in [(direction + 1) & 3, (direction + 3) & 3] {
            let corner = neighbor[middle][turn];
            if corner != NO_SPAN {
                best = best.min(distance[corner as usize] + 3);
            }
        }
    }
    distance[span] = best;
    best < old
}

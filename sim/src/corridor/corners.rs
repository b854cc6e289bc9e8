//! Corners: the string pulled through a corridor.

use super::CorridorRow;
use crate::navigator::Navigator;
use throng_query::mesh::{
    QueryStatus, StraightPathPoint, find_remembered_path, find_straight_path,
};
use throng_soa::mesh::{PolyRef, TiledMesh};
use throng_soa::world::{DVec3, distance_xz};

/// Pulls a string from the agent to the target and keeps the first `max_corners` points in
/// `navigator` (the position first, the end marked as such when it is among them).
///
/// [`QueryStatus::InvalidCorridor`] when the mesh has changed under the corridor.
pub fn find_corners(
    corridor: &mut CorridorRow<'_>,
    mesh: &TiledMesh,
    max_corners: usize,
    navigator: &mut Navigator,
) -> QueryStatus {
    if navigator.corners.len() < max_corners {
        navigator
            .corners
            .resize(max_corners, StraightPathPoint::default());
    }
    let (position, target) = (corridor.head.position, corridor.head.target);
    let polys = &corridor.path[..(corridor.head.count as usize).min(corridor.path.len())];
    let out = &mut navigator.corners[..max_corners];
    let outcome = match &mut corridor.memory {
        Some(memory) => find_remembered_path(
            mesh,
            (position, memory.settled_at == mesh.revision()),
            target,
            polys,
            &mut memory.string,
            &mut navigator.funnel,
            out,
            max_corners,
        ),
        None => find_straight_path(
            mesh,
            position,
            target,
            polys,
            &mut navigator.funnel,
            out,
            max_corners,
        ),
    };
    navigator.corner_count = outcome.count;
    outcome.status
}

/// Length, seen from above, of the string pulled from `start` to `end` through `polys`; infinite
/// when they do not hold together.
pub fn corridor_length(
    mesh: &TiledMesh,
    start: DVec3,
    end: DVec3,
    polys: &[PolyRef],
    navigator: &mut Navigator,
) -> f64 {
    // A polygon adds at most the two ends of an off-mesh link.
    let most = 2 * polys.len() + 2;
    if navigator.pull.len() < most {
        navigator.pull.resize(most, StraightPathPoint::default());
    }
    let outcome = find_straight_path(
        mesh,
        start,
        end,
        polys,
        &mut navigator.funnel,
        &mut navigator.pull,
        usize::MAX,
    );
    if outcome.status != QueryStatus::Success {
        return f64::INFINITY;
    }
    let mut length = 0.0;
    for pair in navigator.pull[..outcome.count].windows(2) {
        length += distance_xz(pair[0].position, pair[1].position);
    }
    length
}

//! Noticing that the mesh changed under a corridor, and starting over from the nearest surface.

use super::CorridorRow;
use throng_query::mesh::{Filter, connects, find_nearest_poly};
use throng_soa::error::ArgumentError;
use throng_soa::mesh::TiledMesh;
use throng_soa::world::DVec3;

/// What a check of a corridor found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CorridorStatus {
    /// Everything looked at still holds.
    Valid,
    /// The corridor was cut where it broke and wants a replan.
    Trimmed,
    /// The polygon under the agent is gone; relocate.
    Invalid,
}

/// Checks the first `look_ahead` polygons: alive, accepted by the filter, each entered from the
/// one before. Cuts the corridor at the first that fails.
pub fn validate<F: Filter + ?Sized>(
    corridor: &mut CorridorRow<'_>,
    mesh: &TiledMesh,
    filter: &F,
    look_ahead: usize,
) -> CorridorStatus {
    let polys = corridor.polys();
    let checked = polys.len().min(look_ahead);
    let revision = mesh.revision();
    let memory = corridor.memory.as_ref();
    let known = memory.map_or(0, |memory| memory.checked(revision));
    let usable = |i: usize| {
        mesh.resolve(polys[i]).is_some_and(|(tile, index)| {
            filter.passes(tile.poly_flags[index], tile.poly_area[index])
        })
    };
    if polys.is_empty() || (checked > 0 && known == 0 && !usable(0)) {
        return CorridorStatus::Invalid;
    }
    let unknown = known.max(1)..checked;
    let broken = { unknown }.find(|&i| !connects(mesh, polys[i - 1], polys[i], filter));
    if let Some(count) = broken {
        corridor.forget_polygons();
        let head = &mut corridor.head;
        head.count = count as u32;
        head.complete = false;
        head.needs_replan = true;
        head.from_start = false;
        return CorridorStatus::Trimmed;
    }
    let whole = checked == polys.len();
    if let Some(memory) = &mut corridor.memory {
        memory.set_checked(revision, checked);
    }
    let head = &mut corridor.head;
    if whole && head.complete && mesh.resolve(head.target_poly).is_none() {
        head.complete = false;
        head.needs_replan = true;
        return CorridorStatus::Trimmed;
    }
    CorridorStatus::Valid
}

/// Replaces the corridor by the accepted polygon nearest to the agent within `extents` and moves
/// the agent onto it. The target stays; a replan from there is asked for. False when none is near.
///
/// # Errors
/// The agent's position or the extents are outside their range.
pub fn relocate<F: Filter + ?Sized>(
    corridor: &mut CorridorRow<'_>,
    mesh: &TiledMesh,
    filter: &F,
    extents: DVec3,
) -> Result<bool, ArgumentError> {
    let nearest = find_nearest_poly(mesh, corridor.head.position, extents, filter)?;
    if !nearest.poly.is_valid() {
        return Ok(false);
    }
    corridor.path[0] = nearest.poly;
    corridor.head.count = 1;
    corridor.forget_polygons();
    corridor.set_position(nearest.point, 0);
    corridor.head.complete = false;
    corridor.request_replan();
    Ok(true)
}

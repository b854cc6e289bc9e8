//! The first half of every step: is the route still good, which corner comes next, is the agent
//! there yet.

use super::{FollowerOptions, FollowerRow, link};
use crate::corridor::{
    CorridorStatus, find_corners, optimize_topology, optimize_visibility, refine, relocate, replan,
    validate,
};
use crate::navigator::Navigator;
use throng_query::mesh::{
    Filter, QueryStatus, StraightFlags, StraightPathPoint, closest_point_on_poly,
};
use throng_soa::agents::AgentState;
use throng_soa::mesh::TiledMesh;
use throng_soa::world::{DVec3, distance_xz};

/// Corners nearer than this are the agent's own place, units.
const HERE: f64 = 1e-9;
/// How near to a polygon's border an agent can be counted on to come, units: walls are kept off.
const BORDER: f64 = 0.1;
/// Most expansions of one replan round.
const MOST_EXPANSIONS: u32 = 1 << 20;
/// Corridor polygons a topology shortcut looks ahead.
const TOPOLOGY_WINDOW: usize = 64;
/// A corridor shorter than this is extended as soon as it was cut.
const SHORT_CORRIDOR: u32 = 16;

/// Where upkeep leaves the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Upkeep {
    /// The step is over: the agent waits, arrived or has no path.
    Ended,
    /// It stands at the entry of an off-mesh link; its crossing is written down.
    AtEntry,
    /// It walks toward this corner of the navigator's.
    Walk {
        /// Index of the steering corner.
        corner: usize,
    },
}

/// Checks, repairs, shortens; finds the steering corner. `crowd` says that a corridor cut to its
/// capacity is extended only when a quarter of it was walked.
pub(super) fn upkeep<F: Filter + ?Sized>(
    row: &mut FollowerRow<'_>,
    mesh: &TiledMesh,
    filter: &F,
    options: &FollowerOptions,
    crowd: bool,
    dt: f64,
    navigator: &mut Navigator,
) -> Upkeep {
    // Counters may come from saved bytes: nothing forbids them the last number.
    row.walk.step_count = row.walk.step_count.wrapping_add(1);
    let look_ahead = options.validate_look_ahead as usize;
    if validate(&mut row.corridor, mesh, filter, look_ahead) == CorridorStatus::Invalid
        && !start_over(row, mesh, filter, options)
    {
        return Upkeep::Ended;
    }
    if row.corridor.head.needs_replan
        && !(crowd && waits_to_extend(row))
        && !replan_round(row, mesh, filter, options, navigator)
    {
        return Upkeep::Ended;
    }
    let head = &row.corridor.head;
    if row.walk.replan_rounds > 0 && !head.complete && head.needs_replan {
        // The search from here is unfinished; its best guess is not worth walking.
        *row.velocity = DVec3::ZERO;
        return Upkeep::Ended;
    }
    if !look_at_corners(row, mesh, filter, options, navigator) {
        return Upkeep::Ended;
    }
    if shorten(row, mesh, filter, options, navigator)
        && !look_at_corners(row, mesh, filter, options, navigator)
    {
        return Upkeep::Ended;
    }
    if let Some(entry) = reached_entry(row, mesh, options, navigator) {
        link::prepare(row, mesh, entry, navigator.corners(), dt);
        return Upkeep::AtEntry;
    }
    arrival(row, options, navigator)
}

/// Moves the agent to the nearest surface; without one there is no path.
pub(super) fn start_over<F: Filter + ?Sized>(
    row: &mut FollowerRow<'_>,
    mesh: &TiledMesh,
    filter: &F,
    options: &FollowerOptions,
) -> bool {
    // An agent's position is always a coordinate, so the only failure is "nothing near".
    let near = relocate(&mut row.corridor, mesh, filter, options.search_extents);
    if near == Ok(true) {
        row.settle();
        return true;
    }
    row.stop(AgentState::NoPath);
    false
}

/// Whether the corridor only wants to grow again after it was cut to its capacity, and still has
/// more than three quarters of it to walk.
fn waits_to_extend(row: &FollowerRow<'_>) -> bool {
    let head = &row.corridor.head;
    !head.from_start
        && head.count >= SHORT_CORRIDOR
        && u64::from(head.count) * 4 > u64::from(head.capacity) * 3
}

/// One replan. False when the step ends with it.
fn replan_round<F: Filter + ?Sized>(
    row: &mut FollowerRow<'_>,
    mesh: &TiledMesh,
    filter: &F,
    options: &FollowerOptions,
    navigator: &mut Navigator,
) -> bool {
    let rounds = row.walk.replan_rounds.clamp(0, 20) as u32;
    let budget = ((options.replan_budget as u64) << rounds).min(u64::from(MOST_EXPANSIONS)) as u32;
    let extents = options.search_extents;
    let found = replan(&mut row.corridor, mesh, filter, extents, budget, navigator);
    match found.map(|outcome| outcome.status) {
        Ok(QueryStatus::Success) => {
            row.walk.replan_rounds = 0;
            let budget = options.refine_budget as u32;
            refine(&mut row.corridor, mesh, filter, budget, navigator);
            true
        }
        Ok(QueryStatus::Partial) => {
            row.walk.replan_rounds = 0;
            true
        }
        Ok(QueryStatus::InProgress) => {
            row.walk.replan_rounds = row.walk.replan_rounds.saturating_add(1);
            if row.walk.replan_rounds >= options.max_replan_rounds {
                row.stop(AgentState::NoPath);
                return false;
            }
            true
        }
        Ok(QueryStatus::NoEndNearby | QueryStatus::InvalidEndPoly) => {
            row.stop(AgentState::NoPath);
            false
        }
        _ => {
            start_over(row, mesh, filter, options);
            *row.velocity = DVec3::ZERO;
            false
        }
    }
}

/// Looks up the corners. False when the corridor no longer holds together; it is repaired and the
/// step ends.
fn look_at_corners<F: Filter + ?Sized>(
    row: &mut FollowerRow<'_>,
    mesh: &TiledMesh,
    filter: &F,
    options: &FollowerOptions,
    navigator: &mut Navigator,
) -> bool {
    let most = options.max_corners as usize;
    if find_corners(&mut row.corridor, mesh, most, navigator) == QueryStatus::Success {
        return true;
    }
    *row.velocity = DVec3::ZERO;
    if validate(&mut row.corridor, mesh, filter, usize::MAX) == CorridorStatus::Invalid {
        start_over(row, mesh, filter, options);
    }
    false
}

/// The shortcuts that are due. True when the corridor changed.
fn shorten<F: Filter + ?Sized>(
    row: &mut FollowerRow<'_>,
    mesh: &TiledMesh,
    filter: &F,
    options: &FollowerOptions,
    navigator: &mut Navigator,
) -> bool {
    let due = |interval: i32| interval > 0 && row.walk.step_count % interval as u64 == 0;
    let (look, search) = (
        due(options.optimize_interval),
        due(options.topology_interval),
    );
    let mut changed = false;
    if look {
        if let Some(aim) = farthest_corner(*row.position, options.optimize_range, navigator) {
            let (range, budget) = (options.optimize_range, options.optimize_budget as usize);
            changed |= optimize_visibility(
                &mut row.corridor,
                mesh,
                filter,
                aim,
                range,
                budget,
                navigator,
            );
        }
    }
    if search {
        let budget = options.topology_budget as u32;
        let corridor = &mut row.corridor;
        changed |= optimize_topology(corridor, mesh, filter, budget, TOPOLOGY_WINDOW, navigator);
    }
    changed
}

/// The farthest of the next corners within `range` that comes before an off-mesh entry.
fn farthest_corner(position: DVec3, range: f64, navigator: &Navigator) -> Option<DVec3> {
    let mut aim = None;
    for (i, corner) in navigator.corners().iter().enumerate() {
        // The agent's own place may be the entry.
        if corner.flags.contains(StraightFlags::OFF_MESH_CONNECTION) {
            break;
        }
        if i > 0 && distance_xz(position, corner.position) <= range {
            aim = Some(corner.position);
        }
    }
    aim
}

/// The off-mesh entry the agent stands at. An entry may lie beside the polygon it is attached to, too
/// far for the trigger radius: then the polygon's nearest point counts in its place.
fn reached_entry(
    row: &FollowerRow<'_>,
    mesh: &TiledMesh,
    options: &FollowerOptions,
    navigator: &Navigator,
) -> Option<usize> {
    let position = *row.position;
    let radius = options.off_mesh_trigger_radius;
    let beside = |entry: &StraightPathPoint| {
        let &[first, second, ..] = row.corridor.polys() else {
            return false;
        };
        let nearest = closest_point_on_poly(mesh, first, entry.position);
        second == entry.poly
            && nearest.is_some_and(|on| {
                !on.over_polygon
                    && distance_xz(on.point, entry.position) + BORDER > radius
                    && distance_xz(position, on.point) <= radius.max(BORDER)
            })
    };
    let at_entry = |corner: &StraightPathPoint| {
        corner.flags.contains(StraightFlags::OFF_MESH_CONNECTION)
            && (distance_xz(position, corner.position) <= radius || beside(corner))
    };
    // An entry is always followed by its exit, unless the corner limit cut it off.
    let entry = navigator.corners().iter().take(2).position(at_entry)?;
    (entry + 1 < navigator.corner_count).then_some(entry)
}

fn arrival(row: &mut FollowerRow<'_>, options: &FollowerOptions, navigator: &Navigator) -> Upkeep {
    let corners = navigator.corners();
    let Some(last) = corners.len().checked_sub(1) else {
        row.stop(AgentState::NoPath);
        return Upkeep::Ended;
    };
    let position = *row.position;
    let corner = steering_corner(position, corners).unwrap_or(last);
    let is_end = corner == last && corners[last].flags.contains(StraightFlags::END);
    if is_end && distance_xz(position, corners[last].position) <= options.arrival_radius {
        *row.velocity = DVec3::ZERO;
        if !row.corridor.head.complete && row.corridor.head.needs_replan {
            // The route goes on from here as soon as it is found.
            row.walk.stuck_clock = 0.0;
            row.walk.stuck_anchor = position;
        } else {
            arrive(row);
        }
        return Upkeep::Ended;
    }
    Upkeep::Walk { corner }
}

/// The first corner after the position that is not the agent's own place.
pub(super) fn steering_corner(position: DVec3, corners: &[StraightPathPoint]) -> Option<usize> {
    (1..corners.len()).find(|&i| distance_xz(position, corners[i].position) > HERE)
}

pub(super) fn arrive(row: &mut FollowerRow<'_>) {
    row.stop(AgentState::Arrived);
    *row.reached_target = row.corridor.head.complete;
    *row.remaining_distance = 0.0;
}

/// Length of the way along the corners to the end or to an off-mesh entry, when one is among
/// them: (length, whether it is the end).
pub(super) fn way_left(position: DVec3, corners: &[StraightPathPoint]) -> Option<(f64, bool)> {
    let stops = StraightFlags::END | StraightFlags::OFF_MESH_CONNECTION;
    let ahead = corners.iter().skip(1);
    if !ahead.clone().any(|corner| corner.flags.intersects(stops)) {
        return None;
    }
    let mut length = 0.0;
    let mut from = position;
    for corner in ahead {
        length += distance_xz(from, corner.position);
        from = corner.position;
        if corner.flags.contains(StraightFlags::END) {
            return Some((length, true));
        }
        if corner.flags.contains(StraightFlags::OFF_MESH_CONNECTION) {
            return Some((length, false));
        }
    }
    None
}

/// Full speed, less near the end of the way.
pub(super) fn wanted_speed(options: &FollowerOptions, way: Option<(f64, bool)>) -> f64 {
    match way {
        Some((length, _)) if options.slow_radius > 0.0 => {
            let share = (length / options.slow_radius).min(1.0);
            (options.max_speed * share).max(options.arrival_min_speed)
        }
        _ => options.max_speed,
    }
}

//! Shortcuts: replacing the first part of a corridor by a better one, within a budget.

use super::{CorridorRow, corridor_length, cut_loops};
use crate::navigator::Navigator;
use throng_query::mesh::{Filter, QueryStatus, RaycastStatus, closest_point_on_poly, raycast};
use throng_soa::mesh::{PolyRef, TiledMesh};
use throng_soa::world::{DVec3, distance_xz};

/// A new way must be shorter by this share to be taken: without it two ways of one length take
/// turns.
const SHORTER: f64 = 1.0 - 1e-4;
/// Polygons of the corridor that a refined route looks at.
const REFINE_WINDOW: usize = 64;

/// Looks along a straight ray toward `point`, at most `range` far (seen from above) and over at
/// most `budget` polygons, and lets the corridor follow the ray as far as both agree. True when
/// the corridor changed.
pub fn optimize_visibility<F: Filter + ?Sized>(
    corridor: &mut CorridorRow<'_>,
    mesh: &TiledMesh,
    filter: &F,
    point: DVec3,
    range: f64,
    budget: usize,
    navigator: &mut Navigator,
) -> bool {
    let capacity = corridor.capacity();
    let budget = budget.clamp(2, capacity.max(2));
    let (Some(&first), true) = (corridor.polys().first(), corridor.head.count > 1) else {
        return false;
    };
    let from = corridor.head.position;
    let distance = distance_xz(from, point);
    let to = if distance > range {
        from + (point - from) * (range / distance)
    } else {
        point
    };
    let visited = navigator.visited(budget);
    let ray = raycast(mesh, first, from, to, filter, visited);
    if ray.status != RaycastStatus::Ok || ray.visited_count < 2 {
        return false;
    }
    let chain = &visited[..ray.visited_count];
    let polys = corridor.polys();
    let joint = (1..polys.len()).rev().find_map(|i| {
        let j = chain[1..].iter().position(|&poly| poly == polys[i])? + 1;
        Some((i, j))
    });
    let Some((i, j)) = joint else {
        return false;
    };
    let chain = &chain[..=j];
    if chain == &polys[..=i] || chain.len() + polys.len() - (i + 1) > capacity {
        return false;
    }
    corridor.replace_front(chain, i + 1);
    navigator.counts.shortcuts += 1;
    true
}

/// Searches from the agent to a corridor polygon at most `window` ahead, with at most `budget`
/// expansions, and takes the route found when it is shorter to walk. True when the corridor
/// changed. The search runs on crossing nodes, whose costs follow the walk more closely.
pub fn optimize_topology<F: Filter + ?Sized>(
    corridor: &mut CorridorRow<'_>,
    mesh: &TiledMesh,
    filter: &F,
    budget: u32,
    window: usize,
    navigator: &mut Navigator,
) -> bool {
    let polys = corridor.polys();
    if polys.len() < 3 || window < 3 || budget == 0 {
        return false;
    }
    let last = (polys.len() - 1).min(window - 1);
    let (start, end_poly) = (corridor.head.position, polys[last]);
    let Some(end) = closest_point_on_poly(mesh, end_poly, corridor.head.target) else {
        return false;
    };
    let search = navigator.local();
    let began = search.begin(mesh, polys[0], end_poly, start, end.point, filter);
    if began != Ok(QueryStatus::InProgress) {
        return false;
    }
    let found = search.update(mesh, filter, budget);
    let expansions = search.iterations();
    navigator.counts.shortcut_searches += 1;
    navigator.counts.expansions += expansions;
    if found != QueryStatus::Success {
        return false;
    }
    let mut route = std::mem::take(&mut navigator.route);
    route.clear();
    route.extend_from_slice(navigator.local().corridor().0);
    let taken = take_if_shorter(corridor, mesh, end.point, last, &mut route, navigator);
    navigator.route = route;
    navigator.counts.shortcuts += u64::from(taken);
    taken
}

fn take_if_shorter(
    corridor: &mut CorridorRow<'_>,
    mesh: &TiledMesh,
    end: DVec3,
    last: usize,
    route: &mut Vec<PolyRef>,
    navigator: &mut Navigator,
) -> bool {
    let polys = corridor.polys();
    if route[..] == polys[..=last] {
        return false;
    }
    let start = corridor.head.position;
    let old = corridor_length(mesh, start, end, &polys[..=last], navigator);
    let new = corridor_length(mesh, start, end, route, navigator);
    if new >= old * SHORTER {
        return false;
    }
    let clean = route.len();
    route.extend_from_slice(&polys[last + 1..]);
    cut_loops(route, clean);
    adopt(corridor, route);
    true
}

/// Makes `route` the corridor, cut to its capacity; a cut one is incomplete and wants a replan.
/// True when it was cut.
pub(super) fn adopt(corridor: &mut CorridorRow<'_>, route: &[PolyRef]) -> bool {
    let count = route.len().min(corridor.capacity());
    corridor.path[..count].copy_from_slice(&route[..count]);
    corridor.head.count = count as u32;
    corridor.forget_polygons();
    let cut = count < route.len();
    if cut {
        corridor.head.complete = false;
        corridor.head.needs_replan = true;
    }
    cut
}

/// One look for a shorter way right after a search on polygon nodes found a route. No-op when the
/// route search already uses crossing nodes.
pub fn refine<F: Filter + ?Sized>(
    corridor: &mut CorridorRow<'_>,
    mesh: &TiledMesh,
    filter: &F,
    budget: u32,
    navigator: &mut Navigator,
) -> bool {
    navigator.refines()
        && optimize_topology(corridor, mesh, filter, budget, REFINE_WINDOW, navigator)
}

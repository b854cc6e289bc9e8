//! Moving the agent, or the target, and the corridor with it.

use super::{CorridorRow, cut_loops};
use crate::navigator::Navigator;
use std::ops::Range;
use throng_query::mesh::{
    Filter, RaycastStatus, closest_point_on_poly, closest_point_on_tile_poly, is_over_tile_poly,
    move_along_surface,
};
use throng_soa::mesh::{PolyRef, Tile, TiledMesh};
use throng_soa::world::{DVec3, distance_xz_sq, is_point};

/// How far outside an outline a point may be and still count as held by it, units.
const HOLD: f64 = 1e-7;
/// Heights closer than this are the same floor, units.
const SAME_HEIGHT: f64 = 1e-9;

/// Moves the agent along the surface toward `to`, sliding along the first wall met, and makes the
/// corridor begin where it ends up: polygons walked are trimmed, a step aside leads back. False,
/// and nothing changed, when the first polygon cannot be used or the step crosses more polygons
/// than the corridor holds.
pub fn move_position<F: Filter + ?Sized>(
    corridor: &mut CorridorRow<'_>,
    mesh: &TiledMesh,
    filter: &F,
    to: DVec3,
    navigator: &mut Navigator,
) -> bool {
    let Some(&first) = corridor.polys().first() else {
        return false;
    };
    let capacity = corridor.capacity();
    let start = corridor.head.position;
    let visited = navigator.visited(capacity);
    let moved = move_along_surface(mesh, first, start, to, filter, visited);
    if moved.status != RaycastStatus::Ok || moved.truncated {
        return false;
    }
    if moved.visited_count > 1 {
        let merged = merge_front(corridor.polys(), &visited[..moved.visited_count]);
        let Some((replaced, joint)) = merged else {
            return false;
        };
        navigator.route.clear();
        let back = navigator.visited[joint..moved.visited_count].iter().rev();
        navigator.route.extend(back);
        cut_loops(&mut navigator.route, 0);
        corridor.replace_front(&navigator.route, replaced);
    }
    corridor.set_position(moved.point, 0);
    true
}

/// Where the walked polygons meet the corridor: how many corridor polygons they replace, and the
/// place in `visited` of the last one met.
fn merge_front(polys: &[PolyRef], visited: &[PolyRef]) -> Option<(usize, usize)> {
    (0..polys.len()).rev().find_map(|i| {
        let joint = visited.iter().rposition(|&poly| poly == polys[i])?;
        Some((i + 1, joint))
    })
}

/// Moves the target along the surface the same way, at the other end of the corridor. When the
/// corridor does not lead to the target, the new target is only recorded and a replan asked for.
/// False, and nothing changed, when the merge would not fit, the target polygon cannot be used or `to`
/// is outside the coordinate bound.
pub fn move_target<F: Filter + ?Sized>(
    corridor: &mut CorridorRow<'_>,
    mesh: &TiledMesh,
    filter: &F,
    to: DVec3,
    navigator: &mut Navigator,
) -> bool {
    if !is_point(to) {
        return false;
    }
    if !corridor.head.complete {
        corridor.head.target = to;
        corridor.head.target_poly = PolyRef::INVALID;
        corridor.forget_polygons();
        corridor.head.needs_replan = true;
        return true;
    }
    let Some(&last) = corridor.polys().last() else {
        return false;
    };
    let capacity = corridor.capacity();
    let Some(start) = closest_point_on_poly(mesh, last, corridor.head.target) else {
        return false;
    };
    let visited = navigator.visited(capacity);
    let moved = move_along_surface(mesh, last, start.point, to, filter, visited);
    if moved.status != RaycastStatus::Ok || moved.truncated {
        return false;
    }
    if moved.visited_count > 1 {
        let visited = &visited[..moved.visited_count];
        let polys = corridor.polys();
        // The first corridor polygon the target walked over ends what is kept.
        let joint = (0..polys.len()).find_map(|i| {
            let j = visited.iter().rposition(|&poly| poly == polys[i])?;
            Some((i, j))
        });
        let Some((kept, joint)) = joint else {
            return false;
        };
        let tail = &visited[joint..];
        if kept + tail.len() > capacity {
            return false;
        }
        corridor.path[kept..kept + tail.len()].copy_from_slice(tail);
        corridor.head.count = (kept + tail.len()) as u32;
    }
    corridor.head.target = moved.point;
    corridor.head.target_poly = moved.poly;
    corridor.forget_polygons();
    true
}

/// Puts the agent at `to`, somewhere on the first `limit` polygons of the corridor: the string to a
/// corner never leaves them. Where several lie over each other the nearest in height is meant, and
/// between equals the later one. No ray is traced, so a string that touches a vertex or runs along a
/// wall is walked all the same. False when `to` is beside all of them.
pub fn move_along(
    corridor: &mut CorridorRow<'_>,
    mesh: &TiledMesh,
    to: DVec3,
    limit: usize,
) -> bool {
    if !is_point(to) {
        return false;
    }
    let limit = limit.min(corridor.head.count as usize);
    let far = far_polygons(corridor, mesh, to, limit);
    let mut best: Option<Held<'_>> = None;
    for i in (0..limit).filter(|i| !far.contains(i)) {
        let Some((tile, index)) = mesh.resolve(corridor.path[i]) else {
            continue;
        };
        let (low, high) = (tile.bounds_min[index], tile.bounds_max[index]);
        let near = to.x >= low.x - HOLD
            && to.x <= high.x + HOLD
            && to.z >= low.z - HOLD
            && to.z <= high.z + HOLD;
        if !near {
            continue;
        }
        let over = is_over_tile_poly(tile, index, to);
        let mut held = Held {
            place: i,
            tile,
            index,
            over,
            point: None,
        };
        if !over && distance_xz_sq(held.point(to), to) > HOLD * HOLD {
            continue;
        }
        best = Some(match best {
            None => held,
            Some(mut least) => {
                let (dy, least_dy) = (held.height_off(to), least.height_off(to));
                if dy <= least_dy + SAME_HEIGHT {
                    held
                } else {
                    least
                }
            }
        });
    }
    let Some(mut held) = best else {
        return false;
    };
    let point = held.point(to);
    corridor.trim_front(held.place);
    corridor.set_position(point, if held.over { mesh.revision() } else { 0 });
    true
}

/// Polygons among the first `limit` that are remembered to be nowhere near `to`; looked up anew when
/// the memory does not reach.
fn far_polygons(
    corridor: &mut CorridorRow<'_>,
    mesh: &TiledMesh,
    to: DVec3,
    limit: usize,
) -> Range<usize> {
    let Some(memory) = &mut corridor.memory else {
        return 0..0;
    };
    let revision = mesh.revision();
    let known = memory.far.beyond(revision, to);
    if known.end >= limit || limit <= FEW {
        return known;
    }
    let distance = |&poly: &PolyRef| {
        let Some((tile, index)) = mesh.resolve(poly) else {
            return 0.0;
        };
        let (low, high) = (tile.bounds_min[index], tile.bounds_max[index]);
        let x = (low.x - to.x).max(to.x - high.x);
        x.max((low.z - to.z).max(to.z - high.z))
    };
    let count = (corridor.head.count as usize).min(corridor.path.len());
    let distances = corridor.path[..count].iter().map(distance);
    memory.far.note(revision, to, distances);
    memory.far.beyond(revision, to)
}

/// Looking at this many polygons is no more work than remembering.
const FEW: usize = 3;

/// A corridor polygon that holds a point. Its height there is worked out when it is asked for: where
/// one polygon alone holds the point, that is once.
struct Held<'m> {
    place: usize,
    tile: &'m Tile,
    index: usize,
    over: bool,
    point: Option<DVec3>,
}

impl Held<'_> {
    fn point(&mut self, to: DVec3) -> DVec3 {
        let (tile, index) = (self.tile, self.index);
        let closest = || closest_point_on_tile_poly(tile, index, to).point;
        *self.point.get_or_insert_with(closest)
    }

    fn height_off(&mut self, to: DVec3) -> f64 {
        (self.point(to).y - to.y).abs()
    }
}

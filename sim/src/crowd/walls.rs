//! The boundary around an agent: looked up now and then, turned into half-planes every step.
//!
//! The pieces an agent keeps are state, not a cache that may be dropped: they depend on where they
//! were looked up, and a look from elsewhere finds others.

use super::options::{CrowdOptions, Profile};
use super::plan::PlanRows;
use crate::navigator::Navigator;
use crate::orca::{HalfPlane, for_boundary};
use throng_query::mesh::{AreaStatus, WallSegment};
use throng_soa::mesh::{PolyRef, TiledMesh};
use throng_soa::world::{DVec2, DVec3};

/// A stretch of boundary: nothing walkable lies behind it. The walkable side is on the left from
/// `a` to `b`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WallPiece {
    /// First end, world units.
    pub a: DVec3,
    /// Second end.
    pub b: DVec3,
    /// The polygon it belongs to.
    pub poly: PolyRef,
    /// The polygon's edge.
    pub edge: i32,
}

/// Looks the pieces up again when the agent has walked off, the mesh was edited, or the last look
/// failed. Where there are more pieces than the agent has room for, their count says so and
/// [`grow_rooms`] looks once more: nothing is allocated while a stage runs.
pub(super) fn refresh_walls(
    rows: &mut PlanRows<'_>,
    i: usize,
    mesh: &TiledMesh,
    options: &CrowdOptions,
    profile: &Profile,
    navigator: &mut Navigator,
) {
    let position = rows.agents.position[i];
    let stamp = mesh.revision();
    let refresh = options.wall_refresh_distance;
    let moved = DVec2::new(position.x, position.z) - rows.walls.center[i];
    if rows.walls.stamp[i] == stamp && moved.x * moved.x + moved.y * moved.y <= refresh * refresh {
        return;
    }
    navigator.counts.wall_lookups += 1;
    look_up(rows, i, mesh, options, profile, navigator);
}

fn look_up(
    rows: &mut PlanRows<'_>,
    i: usize,
    mesh: &TiledMesh,
    options: &CrowdOptions,
    profile: &Profile,
    navigator: &mut Navigator,
) {
    let position = rows.agents.position[i];
    let most = options.max_walls_per_agent as usize;
    navigator.walls.resize(most, WallSegment::default());
    // A restored corridor may be empty; what its room held before is nobody's polygon.
    let start = match rows.routes.corridor[i].count {
        0 => PolyRef::INVALID,
        _ => rows.paths[i][0],
    };
    let found = navigator.areas.find_walls(
        mesh,
        start,
        position,
        profile.wall_reach + options.wall_refresh_distance,
        &options.filter,
        &mut navigator.walls,
    );
    let ok = found.status == AreaStatus::Success;
    for (piece, wall) in rows.pieces[i]
        .iter_mut()
        .zip(&navigator.walls[..found.count])
    {
        *piece = WallPiece {
            a: wall.a,
            b: wall.b,
            poly: wall.poly,
            edge: wall.edge,
        };
    }
    rows.walls.stamp[i] = if ok { mesh.revision() } else { 0 };
    rows.walls.center[i] = DVec2::new(position.x, position.z);
    rows.walls.count[i] = if ok { found.count as u32 } else { 0 };
}

/// Gives room to the agents that found more pieces than they can keep, and lets them look again. Rare:
/// an agent never needs to grow twice to the same size.
pub(super) fn grow_rooms(
    mut rows: PlanRows<'_>,
    mesh: &TiledMesh,
    options: &CrowdOptions,
    profiles: &[Profile],
    navigator: &mut Navigator,
) {
    let most = options.max_walls_per_agent as usize;
    for i in 0..rows.pieces.len() {
        let count = rows.walls.count[i] as usize;
        if count > rows.pieces[i].len() {
            make_room(&mut rows.pieces[i], count, most);
            let profile = &profiles[rows.agents.profile[i] as usize];
            look_up(&mut rows, i, mesh, options, profile, navigator);
        }
    }
}

/// Room for pieces grows by this many.
const ROOM: usize = 16;

/// Gives `pieces` room for `count`, at most `most`. Few agents ever see as many as are allowed, so
/// nobody has the room for them from the start.
pub(super) fn make_room(pieces: &mut Box<[WallPiece]>, count: usize, most: usize) {
    if pieces.len() >= count.min(most) {
        return;
    }
    let room = count.next_multiple_of(ROOM).min(most);
    let mut larger = vec![WallPiece::default(); room];
    larger[..pieces.len()].copy_from_slice(pieces);
    *pieces = larger.into();
}

/// A half-plane of a piece, and how far the piece is.
#[derive(Clone, Copy, Debug)]
struct Facing {
    distance_sq: f64,
    piece: u32,
    plane: HalfPlane,
}

/// The nearest pieces that face an agent.
#[derive(Clone, Debug, Default)]
pub(super) struct FacingWalls {
    facing: Vec<Facing>,
}

impl FacingWalls {
    /// Appends the half-planes of the pieces within the profile's reach that face the agent at
    /// `position`, nearest first, at most `most`; pieces of another floor are left out. `distances`
    /// gets each one's squared distance.
    pub(super) fn collect(
        &mut self,
        pieces: &[WallPiece],
        position: DVec3,
        profile: &Profile,
        most: usize,
        planes: &mut Vec<HalfPlane>,
        distances: &mut Vec<f64>,
    ) {
        self.facing.clear();
        let reach = profile.wall_reach;
        let own = DVec2::new(position.x, position.z);
        for (index, piece) in pieces.iter().enumerate() {
            let a = DVec2::new(piece.a.x, piece.a.z) - own;
            let b = DVec2::new(piece.b.x, piece.b.z) - own;
            let e = b - a;
            let length_sq = e.x * e.x + e.y * e.y;
            let t = if length_sq > 0.0 {
                (-(a.x * e.x + a.y * e.y) / length_sq).clamp(0.0, 1.0)
            } else {
                0.0
            };
            let nearest = a + e * t;
            let distance_sq = nearest.x * nearest.x + nearest.y * nearest.y;
            if distance_sq > reach * reach {
                continue;
            }
            let height = piece.a.y + (piece.b.y - piece.a.y) * t;
            if (height - position.y).abs() > 1.0 + 1.5 * distance_sq.sqrt() {
                continue;
            }
            let clearance = profile.options.wall_clearance;
            if let Some(plane) = for_boundary(a, b, clearance, profile.obstacle_horizon) {
                self.facing.push(Facing {
                    distance_sq,
                    piece: index as u32,
                    plane,
                });
            }
        }
        self.facing.sort_unstable_by(|x, y| {
            let (p, q) = (&pieces[x.piece as usize], &pieces[y.piece as usize]);
            x.distance_sq
                .total_cmp(&y.distance_sq)
                .then(p.poly.cmp(&q.poly))
                .then(p.edge.cmp(&q.edge))
                .then(p.a.x.total_cmp(&q.a.x))
                .then(p.a.z.total_cmp(&q.a.z))
                .then(x.piece.cmp(&y.piece))
        });
        for facing in self.facing.iter().take(most) {
            planes.push(facing.plane);
            distances.push(facing.distance_sq);
        }
    }
}

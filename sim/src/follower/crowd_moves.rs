//! A follower inside a crowd: what it wants this step, and the move once avoidance has spoken.

use super::step::{advance_to, check_progress};
use super::upkeep::{Upkeep, arrive, start_over, upkeep, wanted_speed, way_left};
use super::{FollowerOptions, FollowerRow, link};
use crate::corridor::move_position;
use crate::navigator::Navigator;
use throng_query::mesh::{Filter, StraightFlags, StraightPathPoint};
use throng_soa::agents::AgentState;
use throng_soa::mesh::{PolyRef, TiledMesh};
use throng_soa::world::{DVec2, DVec3, distance_xz};

/// A bend smaller than this is none.
const NO_BEND: f64 = 1e-6;

/// What the steering corner is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum SteerKind {
    /// The agent is not walking.
    #[default]
    None,
    /// A bend: may be passed.
    Corner,
    /// The end of the route: never passed.
    End,
    /// The entry of an off-mesh link: never passed.
    OffMeshEntry,
    /// The entry of an off-mesh link the agent is near enough to enter: [`enter`] lets it, and
    /// until then it waits.
    AtEntry,
}

/// What a walking agent wants this step. Not state: every step makes it anew.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Plan {
    /// Wanted velocity (x, z).
    pub wanted: DVec2,
    /// Steering corner.
    pub corner: DVec3,
    /// The corridor polygon entered at the corner.
    pub corner_poly: PolyRef,
    /// What the corner is.
    pub kind: SteerKind,
    /// Way to the end; infinite when it is not among the corners.
    pub way_left: f64,
    /// Whether the agent wants its full speed.
    pub full_speed: bool,
}

/// Corridor upkeep and the wanted velocity of one step. An agent in a crossing takes its whole
/// crossing step here. `Plan::kind` is [`SteerKind::None`] for an agent that does not walk, and
/// [`SteerKind::AtEntry`] for one that has come to a link: [`enter`] lets it on, and until somebody
/// calls that, it waits.
pub fn plan<F: Filter + ?Sized>(
    row: &mut FollowerRow<'_>,
    mesh: &TiledMesh,
    filter: &F,
    options: &FollowerOptions,
    dt: f64,
    navigator: &mut Navigator,
) -> Plan {
    match *row.state {
        AgentState::Moving => {}
        AgentState::OffMeshLink => {
            link::advance(row, mesh, filter, options, dt);
            return Plan::default();
        }
        _ => return Plan::default(),
    }
    let corner = match upkeep(row, mesh, filter, options, true, dt, navigator) {
        Upkeep::Walk { corner } => corner,
        Upkeep::AtEntry => {
            return Plan {
                corner: row.crossing.start,
                corner_poly: row.crossing.exit_poly,
                kind: SteerKind::AtEntry,
                way_left: f64::INFINITY,
                ..Plan::default()
            };
        }
        Upkeep::Ended => return Plan::default(),
    };
    let position = *row.position;
    let corners = navigator.corners();
    let steer = corners[corner];
    let way = way_left(position, corners);
    let speed = wanted_speed(options, way);
    let kind = if steer.flags.contains(StraightFlags::END) {
        SteerKind::End
    } else if steer.flags.contains(StraightFlags::OFF_MESH_CONNECTION) {
        SteerKind::OffMeshEntry
    } else {
        SteerKind::Corner
    };
    let aim = match kind {
        SteerKind::Corner => aim_past_corner(position, corners, corner, options.corner_clearance),
        _ => plane(steer.position),
    };
    Plan {
        wanted: toward(plane(position), aim, speed),
        corner: steer.position,
        corner_poly: steer.poly,
        kind,
        way_left: match way {
            Some((length, true)) => length,
            _ => f64::INFINITY,
        },
        full_speed: speed >= options.max_speed,
    }
}

/// Begins the crossing of an agent whose plan is [`SteerKind::AtEntry`]: it stands at the entry and
/// the link carries it from the next step on. False, and nothing changed, for an agent that is not
/// walking or whose corridor does not lead over the link it last waited for.
pub fn enter(row: &mut FollowerRow<'_>, options: &FollowerOptions) -> bool {
    let leads_over = row.corridor.polys().contains(&row.crossing.exit_poly);
    let may = *row.state == AgentState::Moving && leads_over;
    if may {
        link::begin(row, options);
    }
    may
}

/// A point `clearance` from the corner on the outside of the bend: the corner is a wall's end, and
/// avoidance keeps its distance from walls.
fn aim_past_corner(
    position: DVec3,
    corners: &[StraightPathPoint],
    corner: usize,
    clearance: f64,
) -> DVec2 {
    let at = plane(corners[corner].position);
    let Some(next) = corners.get(corner + 1) else {
        return at;
    };
    let into = unit(at - plane(position));
    let onward = unit(plane(next.position) - at);
    let outward = into - onward;
    let bend = (outward.x * outward.x + outward.y * outward.y).sqrt();
    if bend < NO_BEND {
        return at;
    }
    at + outward / bend * clearance
}

fn unit(v: DVec2) -> DVec2 {
    let length = (v.x * v.x + v.y * v.y).sqrt();
    if length > 0.0 {
        v / length
    } else {
        DVec2::ZERO
    }
}

#[inline]
fn plane(v: DVec3) -> DVec2 {
    DVec2::new(v.x, v.z)
}

fn toward(from: DVec2, aim: DVec2, speed: f64) -> DVec2 {
    let d = aim - from;
    let distance = (d.x * d.x + d.y * d.y).sqrt();
    if distance > 0.0 {
        d / distance * speed
    } else {
        DVec2::ZERO
    }
}

/// Moves a walking agent by `velocity · dt` along the surface, never past the end of its route or
/// an off-mesh entry, and reports what came of it.
pub fn apply<F: Filter + ?Sized>(
    row: &mut FollowerRow<'_>,
    mesh: &TiledMesh,
    filter: &F,
    options: &FollowerOptions,
    plan: &Plan,
    velocity: DVec2,
    dt: f64,
    navigator: &mut Navigator,
) {
    let from = *row.position;
    let (dx, dz) = (velocity.x * dt, velocity.y * dt);
    let (to_x, to_z) = (plan.corner.x - from.x, plan.corner.z - from.z);
    // Who waits on the entry itself has no way to it left, and may be pushed off it.
    let stops = match plan.kind {
        SteerKind::None | SteerKind::Corner => false,
        SteerKind::End | SteerKind::OffMeshEntry => true,
        SteerKind::AtEntry => to_x != 0.0 || to_z != 0.0,
    };
    let lands = stops && dx * to_x + dz * to_z >= to_x * to_x + to_z * to_z;
    let to = if lands {
        plan.corner
    } else {
        DVec3::new(from.x + dx, from.y, from.z + dz)
    };
    if !advance_to(row, mesh, filter, to, plan.corner_poly, navigator)
        && !start_over(row, mesh, filter, options)
    {
        return;
    }
    row.settle();
    let moved = *row.position - from;
    row.report_velocity(moved, dt);
    let walked = (moved.x * moved.x + moved.z * moved.z).sqrt();
    *row.remaining_distance = (plan.way_left - walked).max(0.0);
    let head = &row.corridor.head;
    if lands && plan.kind == SteerKind::End && (head.complete || !head.needs_replan) {
        if distance_xz(*row.position, plan.corner) <= options.arrival_radius {
            arrive(row);
        }
    } else {
        check_progress(row, options, plan.full_speed, dt);
    }
}

/// Moves an agent that is not walking: others push it, the surface holds it.
pub fn nudge<F: Filter + ?Sized>(
    row: &mut FollowerRow<'_>,
    mesh: &TiledMesh,
    filter: &F,
    velocity: DVec2,
    dt: f64,
    navigator: &mut Navigator,
) {
    if velocity == DVec2::ZERO {
        *row.velocity = DVec3::ZERO;
        return;
    }
    let from = *row.position;
    let to = DVec3::new(from.x + velocity.x * dt, from.y, from.z + velocity.y * dt);
    if move_position(&mut row.corridor, mesh, filter, to, navigator) {
        row.settle();
    }
    let moved = *row.position - from;
    row.report_velocity(moved, dt);
}

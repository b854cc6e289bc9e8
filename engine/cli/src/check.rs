//! The check behind `--check`: every agent stands on the mesh.

use throng::parts::query::mesh::{closest_point_on_poly, find_nearest_poly};
use throng::parts::soa::world::distance_xz;
use throng::{AgentState, Crowd, DVec3, TiledMesh};

use crate::host::Failure;

/// How far outside a polygon, seen from above, an agent may be, in units.
const TOLERANCE: f64 = 1e-6;
/// How far around an agent the polygon under it is looked for when its route's first is not it.
const NEAR: f64 = 0.1;

/// Checks that each agent stands on the polygon under it: inside it, seen from above, and on its
/// floor. Heights are compared by the climb of the mesh: a slide along a wall takes the height of
/// the polygon's edge, from which the finer surface may differ. The polygon is the first of the
/// agent's corridor, or a neighbour of that one just inside a tile border, where the ends of a
/// portal are rounded. Agents on an off-mesh link are between two polygons and are left out. Gives
/// the number of agents checked.
pub(crate) fn on_mesh(mesh: &TiledMesh, crowd: &Crowd) -> Result<u64, Failure> {
    let filter = &crowd.options().filter;
    let climb = f64::from(mesh.params().walkable_climb).max(NEAR);
    let mut checked = 0;
    for agent in crowd.agents() {
        if agent.state() == AgentState::OffMeshLink {
            continue;
        }
        checked += 1;
        let position = agent.position();
        let holds = |point: DVec3| {
            distance_xz(point, position) <= TOLERANCE && (point.y - position.y).abs() <= climb
        };
        let first = agent.corridor().first();
        let closest = first.and_then(|&poly| closest_point_on_poly(mesh, poly, position));
        if closest.is_some_and(|closest| holds(closest.point)) {
            continue;
        }
        let nearest = find_nearest_poly(mesh, position, DVec3::new(NEAR, climb, NEAR), filter)?;
        if nearest.poly.is_valid() && holds(nearest.point) {
            continue;
        }
        let problem = match closest {
            Some(closest) => format!(
                "is not on its polygon, whose nearest point is {}",
                closest.point
            ),
            None => "has no polygon under it".into(),
        };
        let (step, id) = (crowd.step_count(), agent.id());
        let problem = format!("check failed after step {step}: {id} at {position} {problem}");
        return Err(Failure::Said(problem));
    }
    Ok(checked)
}

//! A corridor, and an agent that follows one.
//!
//! In: a mesh and a corridor or a follower. Out: outlines, gates and the pulled string.

use super::lines::{LineKind, Lines};
use throng_query::mesh::{
    FunnelScratch, Outlines, Portals, QueryStatus, StraightPathPoint, find_straight_path,
};
use throng_sim::corridor::PathCorridor;
use throng_sim::follower::PathFollower;
use throng_soa::agents::{AgentState, Crossing};
use throng_soa::mesh::{PolyRef, TiledMesh};
use throng_soa::world::DVec3;

/// A corridor: its polygons, the gates between them and the string from its position to its target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CorridorDebug {
    /// Where the agent is.
    pub position: DVec3,
    /// Where it wants to go.
    pub target: DVec3,
    /// The polygons still ahead, the agent's first.
    pub polygons: Outlines,
    /// The gates between them; none when the corridor does not hold together (any more).
    pub portals: Portals,
    /// Start, corners and end of the string; the whole string, where an agent looks only at its first
    /// few points. None without gates to pull it through.
    pub corners: Vec<StraightPathPoint>,
}

impl CorridorDebug {
    /// Collects a corridor of `polys` from `position` to `target`. Linear in polygons.
    ///
    /// ```
    /// use throng::debug::{CorridorDebug, LineKind};
    /// use throng::{DVec3, NavMesh, NavSettings, PathOptions, levels};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let level = levels::generate("rooms", 96.0, 3).ok_or("no such level")?;
    /// let mesh = NavMesh::build_soup(&level, &NavSettings::HUMANOID)?;
    /// let (from, to) = (DVec3::new(3.0, 0.0, 3.0), DVec3::new(92.0, 0.0, 92.0));
    /// let route = mesh.find_path(from, to, &PathOptions::default())?;
    /// let shown = CorridorDebug::collect(&mesh, from, to, &route.corridor);
    /// assert_eq!(shown.polygons.len(), route.corridor.len());
    /// assert_eq!(shown.portals.len(), route.corridor.len() - 1);
    /// assert_eq!(shown.corners, route.points);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn collect(mesh: &TiledMesh, position: DVec3, target: DVec3, polys: &[PolyRef]) -> Self {
        let mut corners = Vec::new();
        let mut funnel = FunnelScratch::new();
        append_corners(mesh, (position, target), polys, &mut funnel, &mut corners);
        Self {
            position,
            target,
            polygons: Outlines::of(mesh, polys.iter().copied()),
            portals: Portals::of(mesh, polys),
            corners,
        }
    }

    /// Collects a corridor that owns its storage.
    #[must_use]
    pub fn of(mesh: &TiledMesh, corridor: &PathCorridor) -> Self {
        let head = corridor.head();
        Self::collect(mesh, head.position, head.target, corridor.polys())
    }

    /// Gates, then the string, as lines.
    #[must_use]
    pub fn lines(&self) -> Lines {
        let mut lines = Lines::of_portals(&self.portals);
        lines.append(&Lines::of_string(&self.corners));
        lines
    }
}

/// A follower without a crowd.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FollowerDebug {
    /// What it is doing.
    pub state: AgentState,
    /// Where it is.
    pub position: DVec3,
    /// Displacement of its last step over its time.
    pub velocity: DVec3,
    /// Where it was sent (its own place before it was sent anywhere).
    pub destination: DVec3,
    /// The off-mesh link it is crossing.
    pub crossing: Option<Crossing>,
    /// Its corridor.
    pub corridor: CorridorDebug,
}

impl FollowerDebug {
    /// Collects a follower.
    ///
    /// ```
    /// use throng::debug::{FollowerDebug, LineKind};
    /// use throng::parts::sim::{Navigator, follower::PathFollower};
    /// use throng::{DVec3, FollowerOptions, NavMesh, NavSettings, NodeModel, QueryFilter};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
    ///     .map(|(x, z)| DVec3::new(x, 0.0, z));
    /// let mesh = NavMesh::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &NavSettings::HUMANOID)?;
    /// let filter = QueryFilter::default();
    /// let mut navigator = Navigator::new(NodeModel::Polygon, 4096, 4096);
    /// let mut follower = PathFollower::new(FollowerOptions::default())?;
    /// follower.place(&mesh, &filter, DVec3::new(3.0, 0.0, 3.0))?;
    /// let goal = DVec3::new(36.0, 0.0, 36.0);
    /// follower.set_destination(&mesh, &filter, goal, &mut navigator)?;
    /// follower.step(&mesh, &filter, 0.1, &mut navigator)?;
    ///
    /// let shown = FollowerDebug::collect(&mesh, &follower);
    /// assert_eq!(shown.destination, goal);
    /// assert_eq!(shown.corridor.portals.len(), shown.corridor.polygons.len() - 1);
    /// assert_eq!(shown.lines().of_kind(LineKind::Velocity).count(), 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn collect(mesh: &TiledMesh, follower: &PathFollower) -> Self {
        let head = follower.corridor();
        Self {
            state: follower.state(),
            position: follower.position(),
            velocity: follower.velocity(),
            destination: head.target,
            crossing: follower.crossing().copied(),
            corridor: CorridorDebug::collect(mesh, head.position, head.target, follower.polys()),
        }
    }

    /// The corridor's lines, the [`LineKind::Velocity`], and the crossing as [`LineKind::OffMesh`].
    #[must_use]
    pub fn lines(&self) -> Lines {
        let mut lines = self.corridor.lines();
        let ahead = self.position + self.velocity;
        lines.push(LineKind::Velocity, self.position, ahead);
        if let Some(crossing) = self.crossing {
            lines.push(LineKind::OffMesh, crossing.start, crossing.end);
        }
        lines
    }
}

/// Appends the points of the string through `polys`; none when they do not hold together.
pub(super) fn append_corners(
    mesh: &TiledMesh,
    (position, target): (DVec3, DVec3),
    polys: &[PolyRef],
    funnel: &mut FunnelScratch,
    corners: &mut Vec<StraightPathPoint>,
) {
    let first = corners.len();
    // A polygon adds at most the two ends of an off-mesh link.
    let room = first + 2 * polys.len() + 2;
    corners.resize(room, StraightPathPoint::default());
    let out = &mut corners[first..];
    let pulled = find_straight_path(mesh, position, target, polys, funnel, out, usize::MAX);
    let count = match pulled.status {
        QueryStatus::Success => pulled.count,
        _ => 0,
    };
    corners.truncate(first + count);
}

//! Off-mesh links for a host: which one a path or an agent takes.

use crate::NavMesh;
use throng_query::mesh::{StraightFlags, StraightPathPoint};
use throng_soa::mesh::OffMeshWay;

impl NavMesh {
    /// The off-mesh link that a path enters at `points[index]`, which is marked
    /// [`OFF_MESH_CONNECTION`](StraightFlags::OFF_MESH_CONNECTION); the point after it is the link's
    /// exit. `None` for any other point, when the points end there, or when the link is gone. For an
    /// agent under way there is [`link_of`](throng_soa::mesh::TiledMesh::link_of); both say how links
    /// that lie exactly on each other are told apart.
    ///
    /// ```
    /// use throng::{
    ///     AgentOptions, AgentState, Crowd, CrowdOptions, DVec3, FollowerOptions, NavMesh, NavSettings,
    ///     OffMeshLinkDefinition, OffMeshMode, PathOptions, PathStatus,
    /// };
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // Two islands, and a ladder of the host's from one to the other.
    /// let at = |x| DVec3::new(x, 0.0, 10.0);
    /// let island = |x: f64| {
    ///     [(0.0, 0.0), (0.0, 20.0), (20.0, 0.0), (20.0, 20.0)].map(|(u, z)| DVec3::new(x + u, 0.0, z))
    /// };
    /// let vertices = [island(0.0), island(30.0)].concat();
    /// let triangles = [[0, 1, 2], [2, 1, 3], [4, 5, 6], [6, 5, 7]];
    /// let ladder = OffMeshLinkDefinition {
    ///     start: at(18.0),
    ///     end: at(32.0),
    ///     radius: 1.0,
    ///     bidirectional: true,
    ///     area: 0,
    ///     flags: 1,
    ///     user_id: 77,
    /// };
    /// let settings = NavSettings { off_mesh_links: vec![ladder], ..NavSettings::HUMANOID };
    /// let mut mesh = NavMesh::build(&vertices, &triangles, &settings)?;
    ///
    /// // The path says where it takes the link, and the mesh which one that is.
    /// let options = PathOptions::default();
    /// let route = mesh.find_path(at(45.0), at(5.0), &options)?;
    /// let taken = (0..route.points.len()).find_map(|i| mesh.off_mesh_link_at(&route.points, i));
    /// let taken = taken.ok_or("no link on the path")?;
    /// assert_eq!((taken.ends.user_id, taken.reversed), (77, true));
    ///
    /// // Switched off there is only the way to the shore; on again, the whole way.
    /// mesh.set_off_mesh_link_enabled(taken.tile, taken.index, false)?;
    /// assert_eq!(mesh.find_path(at(45.0), at(5.0), &options)?.status, PathStatus::Partial);
    /// mesh.set_off_mesh_link_enabled(taken.tile, taken.index, true)?;
    /// assert_eq!(mesh.find_path(at(45.0), at(5.0), &options)?, route);
    ///
    /// // An agent whose crossings the host drives stops at the entry until it is told to go on.
    /// let climber = AgentOptions {
    ///     path: Some(FollowerOptions { off_mesh_mode: OffMeshMode::Host, ..FollowerOptions::HUMANOID }),
    ///     ..AgentOptions::HUMANOID
    /// };
    /// let mut crowd = Crowd::new(CrowdOptions::default())?;
    /// let id = crowd.add(&mesh, at(5.0), &climber)?;
    /// crowd.set_destination(&mesh, id, at(45.0))?;
    /// let crossing = loop {
    ///     crowd.step(&mesh, 0.05)?;
    ///     let agent = crowd.agent(id).ok_or("removed")?;
    ///     if let Some(crossing) = agent.crossing() {
    ///         break *crossing;
    ///     }
    /// };
    /// let climbed = mesh.link_of(&crossing).ok_or("the link is gone")?;
    /// assert_eq!((climbed.ends.user_id, climbed.reversed), (77, false));
    /// // .. the host plays the animation of link 77, then:
    /// assert!(crowd.complete_off_mesh_link(&mesh, id)?);
    /// let agent = crowd.agent(id).ok_or("removed")?;
    /// assert_eq!((agent.position(), agent.state()), (crossing.end, AgentState::Moving));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn off_mesh_link_at(
        &self,
        points: &[StraightPathPoint],
        index: usize,
    ) -> Option<OffMeshWay> {
        let entry = points.get(index)?;
        if !entry.flags.contains(StraightFlags::OFF_MESH_CONNECTION) {
            return None;
        }
        let exit = points.get(index + 1)?.position;
        // Entry and exit of a link without length are one point of the path.
        self.link_between(entry.position, exit)
            .or_else(|| self.link_between(entry.position, entry.position))
    }
}

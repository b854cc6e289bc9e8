//! Rays and searches of the surroundings. Path searches are
//! [`QueryDebug`](throng_query::mesh::QueryDebug).
//!
//! In: a mesh and a query's answer. Out: outlines and lines.

use super::lines::{LineKind, Lines};
use throng_query::mesh::{AreaSearch, AreaStatus, Outlines, RaycastHit, poly_edge};
use throng_soa::mesh::{PolyRef, TiledMesh};
use throng_soa::world::DVec3;

/// A ray: the polygons it went over and where it ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RayDebug {
    /// Polygons visited, the start's first.
    pub visited: Outlines,
    /// Where it ended: at its end, or on the wall (on the straight line from start to end; heights
    /// are that line's).
    pub reached: DVec3,
    /// [`LineKind::Ray`]; after a hit [`LineKind::RayRest`], the edge hit as [`LineKind::Wall`] and
    /// its [`LineKind::Normal`] where the ray met it.
    pub lines: Lines,
}

impl RayDebug {
    /// Collects a ray from `start` to `end` and its answer. `visited` is the list the ray was given, cut
    /// here to the polygons it wrote.
    ///
    /// ```
    /// use throng::debug::{LineKind, RayDebug};
    /// use throng::parts::query::mesh::{find_nearest_poly, raycast};
    /// use throng::{DVec3, NavMesh, NavSettings, PolyRef, QueryFilter};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
    ///     .map(|(x, z)| DVec3::new(x, 0.0, z));
    /// let mesh = NavMesh::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &NavSettings::HUMANOID)?;
    /// let filter = QueryFilter::default();
    /// let (start, end) = (DVec3::new(20.0, 0.0, 20.0), DVec3::new(60.0, 0.0, 20.0));
    /// let poly = find_nearest_poly(&mesh, start, DVec3::ONE, &filter)?.poly;
    /// let mut visited = [PolyRef::INVALID; 64];
    /// let hit = raycast(&mesh, poly, start, end, &filter, &mut visited);
    /// let shown = RayDebug::collect(&mesh, start, end, &hit, &visited);
    /// assert!(hit.hit && shown.lines.of_kind(LineKind::Normal).count() == 1);
    /// assert!(shown.reached.x < 40.0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn collect(
        mesh: &TiledMesh,
        start: DVec3,
        end: DVec3,
        hit: &RaycastHit,
        visited: &[PolyRef],
    ) -> Self {
        let written = &visited[..hit.visited_count.min(visited.len())];
        let reached = if hit.hit {
            start + (end - start) * hit.t
        } else {
            end
        };
        let mut lines = Lines::default();
        lines.push(LineKind::Ray, start, reached);
        if hit.hit {
            lines.push(LineKind::RayRest, reached, end);
            if let Some((a, b)) = edge(mesh, hit.hit_poly, hit.hit_edge) {
                lines.push(LineKind::Wall, a, b);
                lines.push(LineKind::Normal, reached, reached + hit.normal);
            }
        }
        Self {
            visited: Outlines::of(mesh, written.iter().copied()),
            reached,
            lines,
        }
    }
}

/// The ends of an edge, while the mesh has it.
fn edge(mesh: &TiledMesh, poly: PolyRef, edge: i32) -> Option<(DVec3, DVec3)> {
    let (tile, index) = mesh.resolve(poly)?;
    poly_edge(tile, index, usize::try_from(edge).ok()?)
}

/// A search of the surroundings: the polygons it expanded and how it got to each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AreaDebug {
    /// Whether it ran, and to its end.
    pub status: AreaStatus,
    /// Polygons in order of expansion.
    pub expanded: Outlines,
    /// The polygon each was reached from; invalid for the start.
    pub parent: Vec<PolyRef>,
    /// What the search ordered each by: a squared distance from its centre.
    pub distance_squared: Vec<f64>,
    /// [`LineKind::SearchStep`] from parent to polygon, between the means of their corners, for every
    /// polygon but the start.
    pub steps: Lines,
}

impl AreaDebug {
    /// Collects the last search of `search`: of a circle, a shape, a neighbourhood or
    /// all walls; a wall distance leaves none. Polygons that have left `mesh` since are left out.
    ///
    /// ```
    /// use throng::debug::{AreaDebug, LineKind};
    /// use throng::{AreaSearch, DVec3, NavMesh, NavSettings, QueryFilter, levels};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let level = levels::generate("rooms", 96.0, 3).ok_or("no such level")?;
    /// let mesh = NavMesh::build_soup(&level, &NavSettings::HUMANOID)?;
    /// let (filter, center) = (QueryFilter::default(), DVec3::new(48.0, 0.0, 48.0));
    /// let start = mesh.nearest_poly(center, DVec3::splat(4.0), &filter)?;
    /// let mut search = AreaSearch::new(4096);
    /// let (poly, point) = (start.poly, start.point);
    /// search.find_polys_in_circle(
    ///     &mesh, poly, point, 12.0, &filter, &mut [], &mut [], &mut [])?;
    /// let shown = AreaDebug::collect(&mesh, &search);
    /// assert_eq!(shown.expanded.poly[0], start.poly);
    /// let steps = shown.steps.of_kind(LineKind::SearchStep).count();
    /// assert_eq!(steps, shown.expanded.len() - 1); // one to every polygon but the start
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn collect(mesh: &TiledMesh, search: &AreaSearch) -> Self {
        let count = search.found().count();
        let mut polys = vec![PolyRef::INVALID; count];
        let (mut parents, mut distances) = (polys.clone(), vec![0.0; count]);
        let outcome = search.finish(&mut polys, &mut parents, &mut distances);
        let mut shown = Self {
            status: outcome.status,
            ..Self::default()
        };
        let found = polys.iter().zip(&parents).zip(&distances);
        for ((&poly, &parent), &distance_squared) in found {
            let Some((tile, index)) = mesh.resolve(poly) else {
                continue;
            };
            let ring = tile.poly_ring(index);
            shown.expanded.push(poly, ring);
            shown.parent.push(parent);
            shown.distance_squared.push(distance_squared);
            if let Some((tile, index)) = mesh.resolve(parent) {
                let from = middle(tile.poly_ring(index));
                shown.steps.push(LineKind::SearchStep, from, middle(ring));
            }
        }
        shown
    }
}

/// The mean of a ring's corners.
fn middle(ring: &[DVec3]) -> DVec3 {
    let sum = ring.iter().fold(DVec3::ZERO, |sum, &corner| sum + corner);
    sum / ring.len() as f64
}

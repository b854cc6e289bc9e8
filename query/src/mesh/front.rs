//! One object for callers who ask from outside: nearest polygons, path and string in one call, and
//! every other query with its arguments checked.
//!
//! The free functions and searches beneath take positions they trust the caller to have checked
//! and answer with a status when they were not; the methods here refuse such positions with the
//! argument's name.

use super::area::{AreaSearch, check_circle};
use super::filter::{Filter, QueryFilter};
use super::nearest::{check_extents, find_nearest_poly};
use super::path::{DEFAULT_MAX_NODES, NodeModel, PathSearch};
use super::raycast::{RaycastHit, raycast};
use super::slide::{MoveResult, move_along_surface};
use super::status::{PathStatus, QueryStatus};
use super::straight::{FunnelScratch, StraightOutcome, StraightPathPoint, find_straight_path};
use super::walls::{WallSegment, WallsOutcome};
use throng_soa::mesh::{PolyRef, TiledMesh};
use throng_soa::world::{check_point, distance3};
use throng_soa::{ArgumentError, DVec3};

/// Options of [`MeshQuery::find_path`].
#[derive(Clone, Debug, PartialEq)]
pub struct PathOptions {
    /// Which polygons may be used and what they cost.
    pub filter: QueryFilter,
    /// Half size of the box in which each end looks for its nearest polygon, world units.
    pub half_extents: DVec3,
    /// Expansions between two looks at `keep_going` in [`MeshQuery::find_path_while`]; at least 1.
    pub iterations_per_slice: u32,
    /// Most polygons of the resulting corridor; at least 1. A longer route is cut there and
    /// reported as partial.
    pub max_corridor: usize,
}

impl Default for PathOptions {
    fn default() -> Self {
        Self {
            filter: QueryFilter::default(),
            half_extents: DVec3::new(2.0, 4.0, 2.0),
            iterations_per_slice: 256,
            max_corridor: usize::MAX,
        }
    }
}

/// Answer of a one-call path query.
#[derive(Clone, Debug, PartialEq)]
pub struct PathResult {
    /// The outcome in the words every path query shares.
    pub status: PathStatus,
    /// The outcome at polygon level.
    pub detail: QueryStatus,
    /// Cost of the corridor's route under the filter; infinite without a path.
    pub cost: f64,
    /// Length of `points`, world units; 0 without a path.
    pub length: f64,
    /// Polygons from start to end.
    pub corridor: Vec<PolyRef>,
    /// The string-pulled path.
    pub points: Vec<StraightPathPoint>,
    /// The search dropped nodes because it held its maximum.
    pub node_limit_reached: bool,
}

impl PathResult {
    pub(super) fn without_path(detail: QueryStatus) -> Self {
        Self {
            status: detail.to_path_status(),
            detail,
            cost: f64::INFINITY,
            length: 0.0,
            corridor: Vec::new(),
            points: Vec::new(),
            node_limit_reached: false,
        }
    }
}

/// A path search, an area search and a funnel: everything a caller needs to ask a mesh questions.
/// Reusable; holds no result between calls.
#[derive(Clone, Debug)]
pub struct MeshQuery {
    /// The path search.
    pub search: PathSearch,
    /// The search over surroundings.
    pub area: AreaSearch,
    /// The funnel's scratch.
    pub funnel: FunnelScratch,
    points: Vec<StraightPathPoint>,
}

impl Default for MeshQuery {
    /// Polygon node model, 65,536 nodes.
    fn default() -> Self {
        Self::new(NodeModel::Polygon, DEFAULT_MAX_NODES)
    }
}

impl MeshQuery {
    /// A query object whose searches hold at most `max_nodes` nodes.
    #[must_use]
    pub fn new(model: NodeModel, max_nodes: u32) -> Self {
        Self {
            search: PathSearch::new(model, max_nodes),
            area: AreaSearch::new(max_nodes),
            funnel: FunnelScratch::new(),
            points: Vec::new(),
        }
    }

    /// Finds a path between two positions: the nearest accepted polygon at each end, the search,
    /// the string. Allocates the result only.
    ///
    /// # Errors
    /// A position outside the coordinate rule or an option out of range.
    pub fn find_path(
        &mut self,
        mesh: &TiledMesh,
        start: DVec3,
        end: DVec3,
        options: &PathOptions,
    ) -> Result<PathResult, ArgumentError> {
        self.find_path_while(mesh, start, end, options, |_| true)
    }

    /// [`find_path`](Self::find_path) that asks `keep_going(expansions so far)` after every
    /// [`iterations_per_slice`](PathOptions::iterations_per_slice) expansions. A refused search
    /// ends with status `InProgress` and the corridor to the nearest place so far; one that was
    /// let go on gives the bits of `find_path`.
    ///
    /// # Errors
    /// As [`find_path`](Self::find_path).
    pub fn find_path_while(
        &mut self,
        mesh: &TiledMesh,
        start: DVec3,
        end: DVec3,
        options: &PathOptions,
        mut keep_going: impl FnMut(u64) -> bool,
    ) -> Result<PathResult, ArgumentError> {
        check_options(options)?;
        check_point("start", start)?;
        check_point("end", end)?;
        let filter = &options.filter;
        let from = find_nearest_poly(mesh, start, options.half_extents, filter)?;
        if !from.poly.is_valid() {
            return Ok(PathResult::without_path(QueryStatus::NoStartNearby));
        }
        let to = find_nearest_poly(mesh, end, options.half_extents, filter)?;
        if !to.poly.is_valid() {
            return Ok(PathResult::without_path(QueryStatus::NoEndNearby));
        }
        let search = &mut self.search;
        search.begin(mesh, from.poly, to.poly, from.point, to.point, filter)?;
        while search.update(mesh, filter, options.iterations_per_slice) == QueryStatus::InProgress
            && keep_going(search.iterations())
        {}
        Ok(self.collect(mesh, from.point, to.point, options.max_corridor))
    }

    /// The result of the search in hand, string pulled.
    pub(super) fn collect(
        &mut self,
        mesh: &TiledMesh,
        start: DVec3,
        end: DVec3,
        max_corridor: usize,
    ) -> PathResult {
        let mut detail = self.search.status();
        let node_limit_reached = self.search.finish(mesh, &mut []).node_limit_reached;
        let (corridor, cost) = self.search.corridor();
        if corridor.is_empty() {
            return PathResult::without_path(detail);
        }
        let kept = &corridor[..corridor.len().min(max_corridor)];
        if kept.len() < corridor.len() && detail == QueryStatus::Success {
            detail = QueryStatus::Partial;
        }
        // One corner per portal, two per off-mesh link, and the two ends.
        let most = 2 * kept.len() + 2;
        if self.points.len() < most {
            self.points.resize(most, StraightPathPoint::default());
        }
        let straight = find_straight_path(
            mesh,
            start,
            end,
            kept,
            &mut self.funnel,
            &mut self.points,
            usize::MAX,
        );
        if straight.status != QueryStatus::Success {
            return PathResult::without_path(straight.status);
        }
        let points = self.points[..straight.count].to_vec();
        let mut length = 0.0;
        for pair in points.windows(2) {
            length += distance3(pair[0].position, pair[1].position);
        }
        PathResult {
            status: detail.to_path_status(),
            detail,
            cost,
            length,
            corridor: kept.to_vec(),
            points,
            node_limit_reached,
        }
    }

    /// [`find_straight_path`] with this object's scratch.
    ///
    /// # Errors
    /// A position outside the coordinate rule.
    pub fn find_straight_path(
        &mut self,
        mesh: &TiledMesh,
        start: DVec3,
        end: DVec3,
        corridor: &[PolyRef],
        out: &mut [StraightPathPoint],
        max_corners: usize,
    ) -> Result<StraightOutcome, ArgumentError> {
        check_point("start", start)?;
        check_point("end", end)?;
        Ok(find_straight_path(
            mesh,
            start,
            end,
            corridor,
            &mut self.funnel,
            out,
            max_corners,
        ))
    }

    /// [`raycast`] with its positions checked.
    ///
    /// # Errors
    /// A position outside the coordinate rule.
    pub fn raycast<F: Filter + ?Sized>(
        &self,
        mesh: &TiledMesh,
        start_poly: PolyRef,
        start: DVec3,
        end: DVec3,
        filter: &F,
        visited: &mut [PolyRef],
    ) -> Result<RaycastHit, ArgumentError> {
        check_point("start", start)?;
        check_point("end", end)?;
        Ok(raycast(mesh, start_poly, start, end, filter, visited))
    }

    /// [`move_along_surface`] with its positions checked.
    ///
    /// # Errors
    /// A position outside the coordinate rule.
    pub fn move_along_surface<F: Filter + ?Sized>(
        &self,
        mesh: &TiledMesh,
        start_poly: PolyRef,
        start: DVec3,
        end: DVec3,
        filter: &F,
        visited: &mut [PolyRef],
    ) -> Result<MoveResult, ArgumentError> {
        check_point("start", start)?;
        check_point("end", end)?;
        Ok(move_along_surface(
            mesh, start_poly, start, end, filter, visited,
        ))
    }

    /// [`AreaSearch::find_walls`] with its circle checked.
    ///
    /// # Errors
    /// A centre outside the coordinate rule or a radius outside 0 to 2^22.
    pub fn find_walls<F: Filter + ?Sized>(
        &mut self,
        mesh: &TiledMesh,
        start_poly: PolyRef,
        center: DVec3,
        radius: f64,
        filter: &F,
        out: &mut [WallSegment],
    ) -> Result<WallsOutcome, ArgumentError> {
        check_circle(center, radius)?;
        Ok(self
            .area
            .find_walls(mesh, start_poly, center, radius, filter, out))
    }
}

pub(super) fn check_options(options: &PathOptions) -> Result<(), ArgumentError> {
    check_extents("options.half_extents", options.half_extents)?;
    if options.iterations_per_slice == 0 {
        return Err(ArgumentError::new(
            "options.iterations_per_slice",
            0,
            "at least 1",
        ));
    }
    if options.max_corridor == 0 {
        return Err(ArgumentError::new("options.max_corridor", 0, "at least 1"));
    }
    Ok(())
}

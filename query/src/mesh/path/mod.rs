//! Sliced A* over the polygons of a mesh, with two node models.
//!
//! In: start and end polygon with a position on each, a filter. Out: the corridor of polygons
//! from start to end and its cost, or the corridor to the expanded node nearest to the end.
//!
//! A route is a sequence of crossings; a leg inside a polygon costs its 3D length times the cost
//! of the polygon's area, an off-mesh link adds its own length times the cost of its own area.
//! [`NodeModel::Crossing`] puts a node on every crossing and finds the cheapest route between edge
//! midpoints. [`NodeModel::Polygon`] keeps one node per polygon, placed where the cheapest route
//! so far enters it, aimed at the end; it expands about half as many nodes.
//!
//! Source: Hart, Nilsson and Raphael, "A Formal Basis for the Heuristic Determination of Minimum
//! Cost Paths", 1968. Departures: the open list is totally ordered by (estimate, insertion); the
//! polygon model compares estimates, not costs, and reopens nodes. A relaxation that would make a
//! node its own ancestor is refused: with a filter that keeps its promises only rounding could
//! ask for one.

mod crossing;
mod polygon;

use super::filter::Filter;
use super::open_list::OpenList;
use super::poly_table::PolyTable;
use super::status::QueryStatus;
use crossing::CrossingNodes;
use polygon::PolygonNodes;
use throng_soa::mesh::{Link, LinkKind, PolyRef, TiledMesh};
use throng_soa::world::{check_point, distance3, distance3_sq};
use throng_soa::{ArgumentError, DVec3};

/// No node: the parent of the start.
const NO_NODE: u32 = u32::MAX;
/// Stands for the end position in the open list.
const TERMINAL: u32 = u32::MAX - 1;
/// Nodes and corridors are reserved up to this many rows when a search is created.
const RESERVE_LIMIT: usize = 1 << 20;

/// Node limit of a search unless the caller chooses one.
pub const DEFAULT_MAX_NODES: u32 = 65_536;

/// What a node of the search graph is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NodeModel {
    /// One node per polygon.
    #[default]
    Polygon,
    /// One node per way out of a polygon.
    Crossing,
}

/// What [`PathSearch::finish`] found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathOutcome {
    /// [`QueryStatus::Success`], [`QueryStatus::Partial`], [`QueryStatus::InProgress`], or why
    /// the search did not start.
    pub status: QueryStatus,
    /// Polygons written.
    pub count: usize,
    /// Cost of the route under the filter, before loops were cut out of the corridor.
    pub cost: f64,
    /// The corridor was longer than the buffer.
    pub truncated: bool,
    /// Nodes were dropped because the search already held its maximum.
    pub node_limit_reached: bool,
    /// Node expansions so far.
    pub iterations: u64,
}

/// A path search: the question being answered and all scratch it needs. Reusable for any number
/// of searches over any meshes.
#[derive(Clone, Debug)]
pub struct PathSearch {
    question: Question,
    status: QueryStatus,
    model: Nodes,
    corridor: Vec<PolyRef>,
}

/// The nodes of the model chosen when the search was created.
#[derive(Clone, Debug)]
enum Nodes {
    Polygon(PolygonNodes),
    Crossing(CrossingNodes),
}

/// What both models share: the question, the open list and the best node so far.
#[derive(Clone, Debug)]
struct Question {
    start_poly: PolyRef,
    end_poly: PolyRef,
    start: DVec3,
    end: DVec3,
    min_cost: f64,
    revision: u64,
    max_nodes: u32,
    iterations: u64,
    node_limit_reached: bool,
    open: OpenList,
    table: PolyTable,
    terminal: Option<Terminal>,
    nearest: u32,
    nearest_sq: f64,
}

/// The end position, once some node of the end polygon was expanded.
#[derive(Clone, Copy, Debug)]
struct Terminal {
    cost: f64,
    parent: u32,
}

impl PathSearch {
    /// A search of the given node model holding at most `max_nodes` nodes (at least 1, the start).
    /// Reserves room for that many.
    #[must_use]
    pub fn new(model: NodeModel, max_nodes: u32) -> Self {
        let max_nodes = max_nodes.clamp(1, TERMINAL - 1);
        let reserve = RESERVE_LIMIT.min(max_nodes as usize);
        Self {
            question: Question {
                start_poly: PolyRef::INVALID,
                end_poly: PolyRef::INVALID,
                start: DVec3::ZERO,
                end: DVec3::ZERO,
                min_cost: 0.0,
                revision: 0,
                max_nodes,
                iterations: 0,
                node_limit_reached: false,
                open: OpenList::with_capacity(reserve),
                table: PolyTable::default(),
                terminal: None,
                nearest: NO_NODE,
                nearest_sq: f64::INFINITY,
            },
            status: QueryStatus::None,
            model: match model {
                NodeModel::Polygon => Nodes::Polygon(PolygonNodes::with_capacity(reserve)),
                NodeModel::Crossing => Nodes::Crossing(CrossingNodes::with_capacity(reserve)),
            },
            corridor: Vec::with_capacity(reserve),
        }
    }

    /// The node model chosen at creation.
    #[must_use]
    pub const fn model(&self) -> NodeModel {
        match self.model {
            Nodes::Polygon(_) => NodeModel::Polygon,
            Nodes::Crossing(_) => NodeModel::Crossing,
        }
    }

    /// Most nodes one search holds.
    #[must_use]
    pub const fn max_nodes(&self) -> u32 {
        self.question.max_nodes
    }

    /// Node expansions of the current search so far.
    #[must_use]
    pub const fn iterations(&self) -> u64 {
        self.question.iterations
    }

    /// Where the current search stands.
    #[must_use]
    pub const fn status(&self) -> QueryStatus {
        self.status
    }

    /// Starts a search from `start` in `start_poly` to `end` in `end_poly`, dropping any earlier
    /// one. Returns [`QueryStatus::InProgress`], or which polygon cannot be used.
    ///
    /// # Errors
    /// A position outside the coordinate rule. The earlier search, if any, stays as it was.
    pub fn begin<F: Filter + ?Sized>(
        &mut self,
        mesh: &TiledMesh,
        start_poly: PolyRef,
        end_poly: PolyRef,
        start: DVec3,
        end: DVec3,
        filter: &F,
    ) -> Result<QueryStatus, ArgumentError> {
        check_point("start", start)?;
        check_point("end", end)?;
        let question = &mut self.question;
        question.start_poly = start_poly;
        question.end_poly = end_poly;
        question.start = start;
        question.end = end;
        question.iterations = 0;
        self.restart(mesh, filter);
        Ok(self.status)
    }

    /// (Re)starts the question in hand on the mesh as it is now.
    fn restart<F: Filter + ?Sized>(&mut self, mesh: &TiledMesh, filter: &F) {
        let question = &mut self.question;
        let min_cost = filter.min_area_cost();
        question.min_cost = if min_cost > 0.0 && min_cost < f64::INFINITY {
            min_cost
        } else {
            0.0
        };
        question.revision = mesh.revision();
        question.node_limit_reached = false;
        question.open.clear();
        question.terminal = None;
        question.nearest = NO_NODE;
        question.nearest_sq = f64::INFINITY;
        match &mut self.model {
            Nodes::Polygon(nodes) => nodes.clear(),
            Nodes::Crossing(nodes) => nodes.clear(),
        }
        self.status = if !accepts(mesh, question.start_poly, filter) {
            QueryStatus::InvalidStartPoly
        } else if !accepts(mesh, question.end_poly, filter) {
            QueryStatus::InvalidEndPoly
        } else {
            question.table.begin(mesh);
            match &mut self.model {
                Nodes::Polygon(nodes) => nodes.start(question, mesh),
                Nodes::Crossing(nodes) => nodes.start(question),
            }
            QueryStatus::InProgress
        };
    }

    /// Goes on for at most `max_iterations` expansions. However a search is cut into updates, the
    /// result is the same bits. `filter` must answer as it did in [`begin`](Self::begin).
    ///
    /// If this is not the mesh of the last call as it was then, the search starts again on the mesh as
    /// it is (expansions keep counting).
    pub fn update<F: Filter + ?Sized>(
        &mut self,
        mesh: &TiledMesh,
        filter: &F,
        max_iterations: u32,
    ) -> QueryStatus {
        if self.status == QueryStatus::InProgress && self.question.revision != mesh.revision() {
            self.restart(mesh, filter);
        }
        if self.status == QueryStatus::InProgress {
            self.status = match &mut self.model {
                Nodes::Polygon(nodes) => {
                    polygon::run(nodes, &mut self.question, mesh, filter, max_iterations)
                }
                Nodes::Crossing(nodes) => {
                    crossing::run(nodes, &mut self.question, mesh, filter, max_iterations)
                }
            };
        }
        self.status
    }

    /// Writes the corridor, start polygon first, every polygon once. A short buffer receives the
    /// first part. Ending an unfinished search early gives the corridor to the expanded node
    /// nearest to the end with status [`QueryStatus::InProgress`]; it may go on afterwards.
    pub fn finish(&mut self, _mesh: &TiledMesh, out: &mut [PolyRef]) -> PathOutcome {
        let cost = self.build_corridor();
        let count = self.corridor.len().min(out.len());
        out[..count].copy_from_slice(&self.corridor[..count]);
        PathOutcome {
            status: self.status,
            count,
            cost,
            truncated: count < self.corridor.len(),
            node_limit_reached: self.question.node_limit_reached,
            iterations: self.question.iterations,
        }
    }

    /// [`begin`](Self::begin), [`update`](Self::update) to the end and [`finish`](Self::finish).
    ///
    /// # Errors
    /// A position outside the coordinate rule.
    pub fn find_path<F: Filter + ?Sized>(
        &mut self,
        mesh: &TiledMesh,
        start_poly: PolyRef,
        end_poly: PolyRef,
        start: DVec3,
        end: DVec3,
        filter: &F,
        out: &mut [PolyRef],
    ) -> Result<PathOutcome, ArgumentError> {
        self.begin(mesh, start_poly, end_poly, start, end, filter)?;
        while self.update(mesh, filter, u32::MAX) == QueryStatus::InProgress {}
        Ok(self.finish(mesh, out))
    }

    /// The whole corridor of the current state and its cost: like [`finish`](Self::finish) with a
    /// buffer of any length.
    pub fn corridor(&mut self) -> (&[PolyRef], f64) {
        let cost = self.build_corridor();
        (&self.corridor, cost)
    }

    /// Appends the polygons expanded by the current search, each once, in the order of their first
    /// expansion.
    pub fn expanded_polygons(&self, out: &mut Vec<PolyRef>) {
        match &self.model {
            Nodes::Polygon(nodes) => nodes.expanded(out),
            Nodes::Crossing(nodes) => nodes.expanded(out),
        }
    }

    fn build_corridor(&mut self) -> f64 {
        self.corridor.clear();
        let question = &self.question;
        let (last, end_cost) = match (self.status, question.terminal) {
            (QueryStatus::Success, Some(terminal)) => (terminal.parent, Some(terminal.cost)),
            (QueryStatus::Partial | QueryStatus::InProgress, _) => (question.nearest, None),
            _ => return 0.0,
        };
        let cost = match &mut self.model {
            Nodes::Polygon(nodes) => nodes.corridor(last, &mut self.corridor),
            Nodes::Crossing(nodes) => nodes.corridor(last, &mut self.corridor),
        };
        end_cost.unwrap_or(cost)
    }
}

impl Question {
    /// Counts an expansion at `position` and remembers the one nearest to the end.
    #[inline]
    fn count_expansion(&mut self, node: u32, position: DVec3) {
        self.iterations += 1;
        let distance_sq = distance3_sq(position, self.end);
        // Values chosen, not stores skipped: nobody can foresee whether a search just came nearer.
        let nearer = distance_sq < self.nearest_sq;
        self.nearest_sq = [self.nearest_sq, distance_sq][usize::from(nearer)];
        self.nearest = [self.nearest, node][usize::from(nearer)];
    }

    /// Offers a route of `cost` to the end position through `parent`.
    #[inline]
    fn relax_terminal(&mut self, nodes: usize, parent: u32, cost: f64) {
        let improves = match self.terminal {
            Some(terminal) => cost < terminal.cost,
            None if nodes >= self.max_nodes as usize => {
                self.node_limit_reached = true;
                false
            }
            None => cost < f64::INFINITY,
        };
        if improves {
            self.terminal = Some(Terminal { cost, parent });
            self.open.push(cost, TERMINAL);
        }
    }

    /// Nodes in use, the terminal one included.
    #[inline]
    fn has_room(&self, nodes: usize) -> bool {
        nodes + usize::from(self.terminal.is_some()) < self.max_nodes as usize
    }
}

/// Whether `poly` resolves to a polygon the filter accepts.
#[inline]
pub(crate) fn accepts<F: Filter + ?Sized>(mesh: &TiledMesh, poly: PolyRef, filter: &F) -> bool {
    mesh.resolve(poly)
        .is_some_and(|(tile, index)| filter.passes(tile.poly_flags[index], tile.poly_area[index]))
}

/// The multiplier of travel inside a polygon, or `None` where a filter's answer closes it.
#[inline]
fn travel_cost<F: Filter + ?Sized>(filter: &F, area: u8) -> Option<f64> {
    let cost = filter.area_cost(area);
    (0.0..=f64::MAX).contains(&cost).then_some(cost)
}

/// An off-mesh link in the direction a route takes it.
#[derive(Clone, Copy)]
struct OffMeshCrossing {
    near: DVec3,
    far: DVec3,
    /// Length times the cost of the link's area.
    cost: f64,
}

/// The crossing of an off-mesh link the filter accepts.
fn off_mesh_crossing<F: Filter + ?Sized>(
    mesh: &TiledMesh,
    link: &Link,
    filter: &F,
) -> Option<OffMeshCrossing> {
    let ends = mesh.off_mesh_link(link.link_slot, link.link_index)?;
    if !filter.passes(ends.flags, ends.area) {
        return None;
    }
    let (near, far) = match link.kind {
        LinkKind::OffMeshReverse => (ends.end, ends.start),
        LinkKind::OffMesh | LinkKind::Portal => (ends.start, ends.end),
    };
    let cost = distance3(ends.start, ends.end) * travel_cost(filter, ends.area)?;
    Some(OffMeshCrossing { near, far, cost })
}

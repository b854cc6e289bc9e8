//! Scratch of one worker: the searches and buffers that corridors and followers borrow.

use crate::crowd::StepStats;
use throng_query::mesh::{
    AreaSearch, FunnelScratch, NodeModel, PathSearch, StraightPathPoint, WallSegment,
};
use throng_soa::mesh::PolyRef;

/// Fewest and most nodes of the search that looks for shortcuts near an agent.
const LOCAL_NODES: (u32, u32) = (1024, 1 << 20);

/// Searches and buffers for one worker. Holds no state between calls, so which worker served an
/// agent never shows in a result.
#[derive(Clone, Debug)]
pub struct Navigator {
    /// Route searches.
    pub search: PathSearch,
    /// Searches around the agent, on crossing nodes; unused when `search` is of that model itself.
    local: Option<PathSearch>,
    /// Searches for boundary pieces.
    pub areas: AreaSearch,
    /// Portals of the corridor in hand.
    pub funnel: FunnelScratch,
    pub(crate) corners: Vec<StraightPathPoint>,
    pub(crate) corner_count: usize,
    pub(crate) pull: Vec<StraightPathPoint>,
    pub(crate) visited: Vec<PolyRef>,
    pub(crate) route: Vec<PolyRef>,
    pub(crate) walls: Vec<WallSegment>,
    pub(crate) counts: StepStats,
}

impl Navigator {
    /// Scratch whose route searches use `model` and hold `max_nodes` nodes; searches around an
    /// agent hold `local_nodes` (1,024 to 2^20).
    #[must_use]
    pub fn new(model: NodeModel, max_nodes: u32, local_nodes: u32) -> Self {
        let local_nodes = local_nodes.clamp(LOCAL_NODES.0, LOCAL_NODES.1);
        Self {
            search: PathSearch::new(model, max_nodes),
            local: (model == NodeModel::Polygon)
                .then(|| PathSearch::new(NodeModel::Crossing, local_nodes)),
            areas: AreaSearch::new(max_nodes),
            funnel: FunnelScratch::default(),
            corners: Vec::new(),
            corner_count: 0,
            pull: Vec::new(),
            visited: Vec::new(),
            route: Vec::new(),
            walls: Vec::new(),
            counts: StepStats::default(),
        }
    }

    /// The search for shortcuts near an agent: always on crossing nodes.
    pub(crate) fn local(&mut self) -> &mut PathSearch {
        self.local.as_mut().unwrap_or(&mut self.search)
    }

    /// Whether route searches use polygon nodes, so that their routes are worth refining.
    pub(crate) fn refines(&self) -> bool {
        self.local.is_some()
    }

    /// The corners last looked up.
    #[must_use]
    pub fn corners(&self) -> &[StraightPathPoint] {
        &self.corners[..self.corner_count]
    }

    pub(crate) fn visited(&mut self, capacity: usize) -> &mut [PolyRef] {
        if self.visited.len() < capacity {
            self.visited.resize(capacity, PolyRef::INVALID);
        }
        &mut self.visited[..capacity]
    }
}

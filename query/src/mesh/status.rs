//! Outcome enums. Zero always means "nothing has happened" and is never success; the numbers are
//! written into logs and state and do not change.

/// Outcome of a one-call path query, whatever kind of world it searched. A mesh query gives every
/// value but [`BudgetExhausted`](Self::BudgetExhausted).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum PathStatus {
    /// No query has produced a result.
    #[default]
    None = 0,
    /// The path leads to the goal.
    Found = 1,
    /// There is nothing to stand on at the start.
    StartInvalid = 2,
    /// The same for the goal.
    GoalInvalid = 3,
    /// There is no path at all. A mesh has one whenever both ends stand on it: a goal that cannot be
    /// reached is [`Partial`](Self::Partial). It comes only from
    /// [`QueryStatus::InvalidCorridor`]: the polygons found do not hold together, which takes a
    /// tile whose borders lie.
    NoPath = 4,
    /// Reserved for searches with a fixed budget, which a mesh does not have: a search that was called
    /// off is [`InProgress`](Self::InProgress), one that filled its nodes is `Partial` with
    /// [`node_limit_reached`](super::PathResult::node_limit_reached). Never given by a mesh.
    BudgetExhausted = 5,
    /// The goal was not reached: everything reachable was searched, the node limit was hit, or the
    /// route is longer than [`max_corridor`](super::PathOptions::max_corridor). The path leads as near
    /// as possible.
    Partial = 6,
    /// Not finished: a task with work left, a search that
    /// [`find_path_while`](super::MeshQuery::find_path_while) was told to stop, or an agent's order
    /// that later crowd steps go on with. A path, if the result holds one, leads to the nearest place
    /// so far.
    InProgress = 7,
}

impl PathStatus {
    /// Whether the result holds a path to walk: [`Found`](Self::Found) or
    /// [`Partial`](Self::Partial).
    #[inline]
    #[must_use]
    pub const fn has_path(self) -> bool {
        matches!(self, Self::Found | Self::Partial)
    }
}

/// Polygon-level outcome of searches and straight paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum QueryStatus {
    /// No query has run.
    #[default]
    None = 0,
    /// The end was reached.
    Success = 1,
    /// The end was not reached; the corridor leads to the expanded node nearest to it.
    Partial = 2,
    /// The search has work left.
    InProgress = 3,
    /// The start polygon is stale, forged or rejected by the filter.
    InvalidStartPoly = 4,
    /// The same for the end polygon.
    InvalidEndPoly = 5,
    /// No accepted polygon near the start position.
    NoStartNearby = 6,
    /// No accepted polygon near the end position.
    NoEndNearby = 7,
    /// A corridor is empty, holds a stale reference or has neighbours that do not touch.
    InvalidCorridor = 8,
}

impl QueryStatus {
    /// The same outcome in the vocabulary every path query shares.
    #[must_use]
    pub const fn to_path_status(self) -> PathStatus {
        match self {
            Self::None => PathStatus::None,
            Self::Success => PathStatus::Found,
            Self::Partial => PathStatus::Partial,
            Self::InProgress => PathStatus::InProgress,
            Self::InvalidStartPoly | Self::NoStartNearby => PathStatus::StartInvalid,
            Self::InvalidEndPoly | Self::NoEndNearby => PathStatus::GoalInvalid,
            Self::InvalidCorridor => PathStatus::NoPath,
        }
    }
}

/// Outcome of a search over the surroundings of a polygon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum AreaStatus {
    /// No search has run.
    #[default]
    None = 0,
    /// Every reachable polygon was found.
    Success = 1,
    /// The search has work left.
    InProgress = 2,
    /// The start polygon is stale, forged or rejected by the filter.
    InvalidStartPoly = 3,
    /// The shape is not a convex polygon of 3 to 64 distinct points with an area.
    InvalidShape = 4,
}

/// Outcome of tracing a segment over the surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum RaycastStatus {
    /// No trace has run (or a position was outside the coordinate rule).
    #[default]
    None = 0,
    /// The segment was traced.
    Ok = 1,
    /// The start polygon is stale, forged or rejected by the filter.
    InvalidStartPoly = 2,
    /// The start is more than 1e-6 outside the start polygon.
    StartOutsidePolygon = 3,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_never_success_and_one_always_is() {
        assert_eq!(PathStatus::default() as u8, 0);
        assert!(!PathStatus::default().has_path());
        assert_eq!(PathStatus::Found as u8, 1);
        assert_eq!(QueryStatus::Success as u8, 1);
        assert_eq!(AreaStatus::Success as u8, 1);
        assert_eq!(RaycastStatus::Ok as u8, 1);
        assert_eq!(PathStatus::InProgress as u8, 7);
        assert_eq!(QueryStatus::InvalidCorridor as u8, 8);
    }

    #[test]
    fn only_found_and_partial_have_a_path() {
        let with = [PathStatus::Found, PathStatus::Partial];
        assert!(with.iter().all(|s| s.has_path()));
        let without = [PathStatus::None, PathStatus::NoPath, PathStatus::InProgress];
        assert!(!without.iter().any(|s| s.has_path()));
        assert_eq!(
            QueryStatus::NoEndNearby.to_path_status(),
            PathStatus::GoalInvalid
        );
        assert_eq!(
            QueryStatus::InvalidCorridor.to_path_status(),
            PathStatus::NoPath
        );
    }
}

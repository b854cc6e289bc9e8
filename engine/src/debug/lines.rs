//! Lines with a class of colour: the form everything that is not a polygon can be drawn in.

use throng_query::mesh::{Portals, StraightFlags, StraightPathPoint};
use throng_soa::world::DVec3;

/// What a line shows: its class of colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum LineKind {
    /// An edge between two polygons of a tile.
    Inner = 0,
    /// A stretch of edge with nothing walkable behind it.
    Wall = 1,
    /// A stretch of a tile's border that links lead across, or the gate between two polygons of a
    /// corridor.
    Portal = 2,
    /// An off-mesh link, from where it is entered to where it is left.
    OffMesh = 3,
    /// The box of a tile.
    TileBounds = 4,
    /// A string pulled through a corridor.
    String = 5,
    /// The part of a ray that was walked.
    Ray = 6,
    /// The part of a ray that a wall kept from being walked.
    RayRest = 7,
    /// The normal of the wall that stopped a ray, one unit long.
    Normal = 8,
    /// The step of a search from a polygon to one it reached, between their middles.
    SearchStep = 9,
    /// A velocity, one second long.
    Velocity = 10,
    /// The velocity wanted, one second long.
    Wanted = 11,
    /// The velocity avoidance chose, one second long.
    Solved = 12,
    /// The edge of the velocities a wall permits.
    WallPlane = 13,
    /// The edge of the velocities another agent leaves.
    AgentPlane = 14,
}

/// Lines as columns of one length, world units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    /// First ends.
    pub from: Vec<DVec3>,
    /// Second ends.
    pub to: Vec<DVec3>,
    /// What each shows.
    pub kind: Vec<LineKind>,
}

impl Lines {
    /// Appends a line.
    pub fn push(&mut self, kind: LineKind, from: DVec3, to: DVec3) {
        self.from.push(from);
        self.to.push(to);
        self.kind.push(kind);
    }

    /// Appends all lines of `other`.
    pub fn append(&mut self, other: &Self) {
        self.from.extend_from_slice(&other.from);
        self.to.extend_from_slice(&other.to);
        self.kind.extend_from_slice(&other.kind);
    }

    /// Number of lines.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kind.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kind.is_empty()
    }

    /// The lines in order.
    pub fn iter(&self) -> impl Iterator<Item = (LineKind, DVec3, DVec3)> + '_ {
        let ends = self.from.iter().zip(&self.to);
        let lines = self.kind.iter().zip(ends);
        lines.map(|(&kind, (&from, &to))| (kind, from, to))
    }

    /// The lines of one kind, in order.
    pub fn of_kind(&self, kind: LineKind) -> impl Iterator<Item = (DVec3, DVec3)> + '_ {
        let those = self.iter().filter(move |line| line.0 == kind);
        those.map(|(_, from, to)| (from, to))
    }

    /// The string through `points`: [`LineKind::String`], and [`LineKind::OffMesh`] where it follows a
    /// link.
    #[must_use]
    pub fn of_string(points: &[StraightPathPoint]) -> Self {
        let mut lines = Self::default();
        for pair in points.windows(2) {
            let crosses = pair[0].flags.contains(StraightFlags::OFF_MESH_CONNECTION);
            let kind = if crosses {
                LineKind::OffMesh
            } else {
                LineKind::String
            };
            lines.push(kind, pair[0].position, pair[1].position);
        }
        lines
    }

    /// The gates of a corridor, right end to left end: [`LineKind::Portal`], or
    /// [`LineKind::OffMesh`] from entry to exit.
    #[must_use]
    pub fn of_portals(portals: &Portals) -> Self {
        let mut lines = Self::default();
        let ends = portals.right.iter().zip(&portals.left);
        for ((&right, &left), &off_mesh) in ends.zip(&portals.off_mesh) {
            let kind = if off_mesh {
                LineKind::OffMesh
            } else {
                LineKind::Portal
            };
            lines.push(kind, right, left);
        }
        lines
    }

    /// The twelve edges of the box from `low` to `high`: bottom, top, then uprights.
    pub fn push_box(&mut self, kind: LineKind, low: DVec3, high: DVec3) {
        let corner = |i: usize, y: f64| {
            let x = if i == 1 || i == 2 { high.x } else { low.x };
            DVec3::new(x, y, if i < 2 { low.z } else { high.z })
        };
        for y in [low.y, high.y] {
            for i in 0..4 {
                self.push(kind, corner(i, y), corner((i + 1) % 4, y));
            }
        }
        for i in 0..4 {
            self.push(kind, corner(i, low.y), corner(i, high.y));
        }
    }
}

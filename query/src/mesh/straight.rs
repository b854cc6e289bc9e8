//! String pulling: the shortest path inside a corridor, seen from above.
//!
//! In: a corridor of polygons and a position at each end. Out: the corner points. The two
//! positions are moved to the closest points of the first and last polygon; the portals between
//! consecutive polygons are collected over the whole corridor, which validates it; then the simple
//! stupid funnel walks them.
//!
//! Sources: Lee and Preparata, "Euclidean shortest paths in the presence of rectilinear barriers",
//! 1984; the funnel as told by Mononen, "Simple Stupid Funnel Algorithm", 2010. Departures: an
//! off-mesh link closes the funnel at its entry and opens a new one at its exit; a tile-border
//! portal is the exact overlap of the edges on both sides, the hull of the overlaps where either
//! polygon has several collinear edges there.

use super::connect::{Connection, connection};
use super::outline::{edge_ends, lerp};
use super::status::QueryStatus;
use super::surface::closest_point_on_tile_poly;
use core::ops::BitOr;
use throng_soa::DVec3;
use throng_soa::mesh::{Link, LinkKind, PolyRef, Tile, TiledMesh};
use throng_soa::world::{DVec2, is_point};

/// What a point of a straight path is, as a set of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct StraightFlags(pub u8);

impl StraightFlags {
    /// A plain corner.
    pub const NONE: Self = Self(0);
    /// The first point.
    pub const START: Self = Self(1);
    /// The last point.
    pub const END: Self = Self(2);
    /// The entry of an off-mesh link; the next point is its exit.
    pub const OFF_MESH_CONNECTION: Self = Self(4);

    /// Whether all marks of `other` are set.
    #[inline]
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any mark of `other` is set.
    #[inline]
    #[must_use]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The bits.
    #[inline]
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }
}

impl BitOr for StraightFlags {
    type Output = Self;

    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A point of a straight path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StraightPathPoint {
    /// World position; the height is interpolated along the portal edge.
    pub position: DVec3,
    /// Marks.
    pub flags: StraightFlags,
    /// The corridor polygon entered after the point (the last one at the end point).
    pub poly: PolyRef,
}

/// Outcome of [`find_straight_path`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StraightOutcome {
    /// [`QueryStatus::Success`], [`QueryStatus::InvalidCorridor`], or [`QueryStatus::None`] for a
    /// position outside the coordinate rule.
    pub status: QueryStatus,
    /// Points written.
    pub count: usize,
    /// The buffer was too short or the corner limit was reached.
    pub truncated: bool,
}

/// The portals of the corridor in hand. Grows to the longest corridor seen.
#[derive(Clone, Debug, Default)]
pub struct FunnelScratch {
    pub(super) portals: Vec<Portal>,
}

impl FunnelScratch {
    /// Empty scratch.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            portals: Vec::new(),
        }
    }

    /// Scratch with room for corridors of `polygons`.
    #[must_use]
    pub fn with_capacity(polygons: usize) -> Self {
        Self {
            portals: Vec::with_capacity(polygons),
        }
    }
}

/// The gate between two corridor polygons, walking from the first to the second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Portal {
    /// Left end, or the exit of an off-mesh link.
    pub(super) left: DVec3,
    /// Right end, or the entry of an off-mesh link.
    pub(super) right: DVec3,
    pub(super) off_mesh: bool,
}

/// Pulls a string through `corridor` from `start` to `end` and writes its points: the start, every
/// corner, the end. Points equal in position are merged (marks joined). Stops once `max_corners`
/// points were found (`usize::MAX`: no limit); those are the first points of the full answer, except
/// that marks a later equal point would add to the last one are not waited for.
///
/// `O(n)` to collect the portals of `n` polygons, then work for the corners asked for.
pub fn find_straight_path(
    mesh: &TiledMesh,
    start: DVec3,
    end: DVec3,
    corridor: &[PolyRef],
    scratch: &mut FunnelScratch,
    out: &mut [StraightPathPoint],
    max_corners: usize,
) -> StraightOutcome {
    let mut outcome = StraightOutcome::default();
    if !is_point(start) || !is_point(end) {
        return outcome;
    }
    let (Some(&first), Some(&last)) = (corridor.first(), corridor.last()) else {
        outcome.status = QueryStatus::InvalidCorridor;
        return outcome;
    };
    let (Some((first_tile, first_index)), Some((last_tile, last_index)), Some(crosses)) = (
        mesh.resolve(first),
        mesh.resolve(last),
        collect_portals(mesh, corridor, &mut scratch.portals),
    ) else {
        outcome.status = QueryStatus::InvalidCorridor;
        return outcome;
    };
    let start = closest_point_on_tile_poly(first_tile, first_index, start).point;
    let end = closest_point_on_tile_poly(last_tile, last_index, end).point;
    let mut points = Points::new(out, max_corners);
    if !points.truncated {
        pull(&scratch.portals, crosses, corridor, start, end, &mut points);
    }
    StraightOutcome {
        status: QueryStatus::Success,
        count: points.count,
        truncated: points.truncated,
    }
}

/// Collects the portals of the whole corridor and tells whether an off-mesh link is among them;
/// `None` if the corridor is stale or does not hold together.
pub(super) fn collect_portals(
    mesh: &TiledMesh,
    corridor: &[PolyRef],
    portals: &mut Vec<Portal>,
) -> Option<bool> {
    portals.clear();
    let mut crosses = false;
    let (&first, rest) = corridor.split_first()?;
    let mut poly = first;
    let (mut tile, mut index) = mesh.resolve(first)?;
    for &next in rest {
        let (next_tile, next_index) = mesh.resolve(next)?;
        let portal = portal(mesh, (tile, index, poly), (next_tile, next_index, next))?;
        crosses |= portal.off_mesh;
        portals.push(portal);
        (poly, tile, index) = (next, next_tile, next_index);
    }
    Some(crosses)
}

/// The gate from one polygon (tile, index, reference) to the next.
#[inline]
pub(super) fn portal(
    mesh: &TiledMesh,
    (tile, index, from): (&Tile, usize, PolyRef),
    (next_tile, next_index, next): (&Tile, usize, PolyRef),
) -> Option<Portal> {
    Some(match connection(tile, index, from, next)? {
        Connection::Edge(edge) => {
            let (right, left) = edge_ends(tile, index, edge);
            Portal {
                left,
                right,
                off_mesh: false,
            }
        }
        Connection::Portal(link) => {
            border_portal(tile, index, next, link.side, next_tile, next_index)?
        }
        Connection::OffMesh(link) => {
            let (entry, exit) = link_ends(mesh, link)?;
            Portal {
                left: exit,
                right: entry,
                off_mesh: true,
            }
        }
    })
}

/// Entry and exit of the off-mesh link that leads from `from` to `to`, when they touch in no other way:
/// the link a string through both polygons takes. World units.
#[must_use]
pub fn off_mesh_way(mesh: &TiledMesh, from: PolyRef, to: PolyRef) -> Option<(DVec3, DVec3)> {
    let (tile, index) = mesh.resolve(from)?;
    match connection(tile, index, from, to)? {
        Connection::OffMesh(link) => link_ends(mesh, link),
        _ => None,
    }
}

/// Entry and exit of a link as it is walked.
fn link_ends(mesh: &TiledMesh, link: &Link) -> Option<(DVec3, DVec3)> {
    let ends = mesh.off_mesh_link(link.link_slot, link.link_index)?;
    Some(if link.kind == LinkKind::OffMeshReverse {
        (ends.end, ends.start)
    } else {
        (ends.start, ends.end)
    })
}

/// The stretch of a tile boundary that two polygons share, from their edges' exact extents.
fn border_portal(
    tile: &Tile,
    index: usize,
    next: PolyRef,
    side: u8,
    next_tile: &Tile,
    next_index: usize,
) -> Option<Portal> {
    let along_z = side == 0 || side == 2;
    let along = |p: DVec3| if along_z { p.z } else { p.x };
    let facing_sides = &next_tile.data().edge_portal_sides[next_tile.poly_edges(next_index)];
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut low_point, mut high_point) = (DVec3::ZERO, DVec3::ZERO);
    let mut ascending = true;
    let links = tile.poly_links(index).iter();
    for link in links.filter(|l| l.target == next && l.kind == LinkKind::Portal && l.side == side) {
        let (a, b) = edge_ends(tile, index, usize::from(link.edge));
        ascending = along(b) > along(a);
        for (edge, &facing_side) in facing_sides.iter().enumerate() {
            if facing_side != side ^ 2 {
                continue;
            }
            let (c, d) = edge_ends(next_tile, next_index, edge);
            let from = along(a).min(along(b)).max(along(c).min(along(d)));
            let to = along(a).max(along(b)).min(along(c).max(along(d)));
            if to > from {
                if from < low {
                    (low, low_point) = (from, at_boundary(a, b, from, along_z));
                }
                if to > high {
                    (high, high_point) = (to, at_boundary(a, b, to, along_z));
                }
            }
        }
    }
    let (right, left) = if ascending {
        (low_point, high_point)
    } else {
        (high_point, low_point)
    };
    (high > low).then_some(Portal {
        left,
        right,
        off_mesh: false,
    })
}

/// The point of boundary edge `a`-`b` whose coordinate along the boundary is exactly `u`.
fn at_boundary(a: DVec3, b: DVec3, u: f64, along_z: bool) -> DVec3 {
    let (from, to) = if along_z { (a.z, b.z) } else { (a.x, b.x) };
    if u == from {
        return a;
    }
    if u == to {
        return b;
    }
    let mut point = lerp(a, b, (u - from) / (to - from));
    if along_z {
        point.z = u;
    } else {
        point.x = u;
    }
    point
}

/// Runs one funnel per stretch between off-mesh links.
pub(super) fn pull(
    portals: &[Portal],
    crosses: bool,
    corridor: &[PolyRef],
    start: DVec3,
    end: DVec3,
    points: &mut Points<'_>,
) -> Option<()> {
    let last = corridor.len() - 1;
    points.add(start, StraightFlags::START, corridor[0])?;
    let mut from = start;
    let mut first = 0;
    let next_link = |first: usize| {
        let length = portals[first..].iter().position(|portal| portal.off_mesh)?;
        Some(first + length)
    };
    while let Some(link) = crosses.then(|| next_link(first)).flatten() {
        let Portal {
            left: exit,
            right: entry,
            ..
        } = portals[link];
        funnel(portals, first, link, corridor, from, entry, points)?;
        let entered = corridor[link + 1];
        points.add(entry, StraightFlags::OFF_MESH_CONNECTION, entered)?;
        points.add(exit, StraightFlags::NONE, entered)?;
        from = exit;
        first = link + 1;
    }
    funnel(portals, first, last, corridor, from, end, points)?;
    points.add(end, StraightFlags::END, corridor[last])
}

/// The corners between `apex` and `target` through portals `first..end`. `None` when the output is
/// full.
fn funnel(
    portals: &[Portal],
    first: usize,
    end: usize,
    corridor: &[PolyRef],
    apex: DVec3,
    target: DVec3,
    points: &mut Points<'_>,
) -> Option<()> {
    let (mut apex, mut at) = (apex, first);
    let gate = |at: usize| {
        if at < end {
            portals[at].gate()
        } else {
            Gate::point(target)
        }
    };
    while let Some(bend) = next_bend(plane(apex), at, end, gate) {
        let portal = &portals[bend.portal];
        let corner = if bend.left { portal.left } else { portal.right };
        points.add(corner, StraightFlags::NONE, corridor[bend.portal + 1])?;
        (apex, at) = (corner, bend.portal + 1);
    }
    Some(())
}

/// A portal seen from above.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gate {
    pub(super) left: DVec2,
    pub(super) right: DVec2,
}

impl Gate {
    /// The gate that is one point: the target.
    pub(super) fn point(at: DVec3) -> Self {
        Self {
            left: plane(at),
            right: plane(at),
        }
    }
}

impl Portal {
    #[inline]
    pub(super) fn gate(&self) -> Gate {
        Gate {
            left: plane(self.left),
            right: plane(self.right),
        }
    }
}

#[inline]
pub(super) fn plane(p: DVec3) -> DVec2 {
    DVec2::new(p.x, p.z)
}

/// Where a string bends: at an end of a portal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bend {
    pub(super) portal: usize,
    pub(super) left: bool,
}

/// The first bend of the string from `apex` through the portals `at..end`; `None` when the target is in
/// sight. `gate(i)` gives portal `i`, and the target for `end`. What comes out depends on nothing else,
/// so a string can be taken up again at any of its corners.
#[inline]
pub(super) fn next_bend(
    apex: DVec2,
    at: usize,
    end: usize,
    mut gate: impl FnMut(usize) -> Gate,
) -> Option<Bend> {
    let turn =
        |b: DVec2, c: DVec2| (b.x - apex.x) * (c.y - apex.y) - (b.y - apex.y) * (c.x - apex.x);
    let (mut left, mut right) = (apex, apex);
    // Portal the left and the right end were taken from.
    let (mut left_at, mut right_at) = (at, at);
    for at in at..=end {
        let next = gate(at);
        if turn(right, next.right) >= 0.0 {
            if apex == right || turn(left, next.right) < 0.0 {
                (right, right_at) = (next.right, at);
            } else {
                return Some(Bend {
                    portal: left_at,
                    left: true,
                });
            }
        }
        if turn(left, next.left) <= 0.0 {
            if apex == left || turn(right, next.left) > 0.0 {
                (left, left_at) = (next.left, at);
            } else if right_at == end {
                // The right end is the target itself: it is in sight.
                return None;
            } else {
                return Some(Bend {
                    portal: right_at,
                    left: false,
                });
            }
        }
    }
    None
}

/// The output buffer, filled in order.
pub(super) struct Points<'a> {
    out: &'a mut [StraightPathPoint],
    pub(super) count: usize,
    max_corners: usize,
    pub(super) truncated: bool,
}

impl<'a> Points<'a> {
    pub(super) fn new(out: &'a mut [StraightPathPoint], max_corners: usize) -> Self {
        Self {
            out,
            count: 0,
            max_corners,
            truncated: max_corners == 0,
        }
    }

    /// Adds a point or merges it into an equal last one; `None` once nothing more is wanted.
    pub(super) fn add(
        &mut self,
        position: DVec3,
        flags: StraightFlags,
        poly: PolyRef,
    ) -> Option<()> {
        if let Some(last) = self.out[..self.count].last_mut() {
            if last.position == position {
                last.flags = last.flags | flags;
                last.poly = poly;
                return Some(());
            }
        }
        let Some(place) = self.out.get_mut(self.count) else {
            self.truncated = true;
            return None;
        };
        *place = StraightPathPoint {
            position,
            flags,
            poly,
        };
        self.count += 1;
        if self.count == self.max_corners {
            self.truncated = true;
            return None;
        }
        Some(())
    }
}

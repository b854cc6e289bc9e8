//! Walls near a position: the nearest one, or all of them.
//!
//! In: a circle search. Out: pieces of polygon edges with nothing walkable behind them, owned by
//! the polygons the search expanded. A piece is a whole edge without a neighbour, or with one the
//! filter rejects, or the stretch of a tile-border edge that no link to an accepted polygon
//! covers. Distances are clamped X/Z distances from the centre to the piece.

use super::area::AreaSearch;
use super::filter::Filter;
use super::outline::{edge_ends, lerp, nearest_parameter};
use super::path::accepts;
use super::status::AreaStatus;
use throng_soa::DVec3;
use throng_soa::mesh::{LinkKind, NO_PORTAL, PolyRef, Tile, TiledMesh};
use throng_soa::world::distance_xz_sq;

/// A piece of wall. Its ends run in the polygon's winding: the walkable side is to the left of
/// `a` → `b` with X right and Z up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WallSegment {
    /// First end, world units.
    pub a: DVec3,
    /// Second end.
    pub b: DVec3,
    /// The polygon whose edge it lies on.
    pub poly: PolyRef,
    /// That edge.
    pub edge: i32,
    /// Distance from the centre of the search in X/Z.
    pub distance: f64,
}

/// Outcome of [`AreaSearch::find_walls`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WallsOutcome {
    /// Outcome of the circle search; [`AreaStatus::None`] for a circle outside its rules.
    pub status: AreaStatus,
    /// Pieces written.
    pub count: usize,
    /// Pieces within the radius were dropped.
    pub truncated: bool,
}

impl AreaSearch {
    /// The wall pieces within `radius` of `center`, nearest first, from all polygons that a circle
    /// search from `start_poly` gets to. Equal distances keep the search's own order. When the
    /// buffer is full the farthest fall out. Floors above and below count as long as links lead
    /// there inside the circle.
    ///
    /// A circle outside its rules gives [`AreaStatus::None`]. Allocates nothing once the scratch
    /// has grown.
    pub fn find_walls<F: Filter + ?Sized>(
        &mut self,
        mesh: &TiledMesh,
        start_poly: PolyRef,
        center: DVec3,
        radius: f64,
        filter: &F,
        out: &mut [WallSegment],
    ) -> WallsOutcome {
        if self
            .begin_circle(mesh, start_poly, center, radius, filter)
            .is_err()
        {
            return WallsOutcome::default();
        }
        self.run(mesh, filter);
        self.finish_walls(mesh, filter, out)
    }

    /// The scan of [`find_walls`](Self::find_walls) over the polygons a sliced circle search has
    /// expanded so far.
    pub fn finish_walls<F: Filter + ?Sized>(
        &self,
        mesh: &TiledMesh,
        filter: &F,
        out: &mut [WallSegment],
    ) -> WallsOutcome {
        let (center, radius) = (self.shape.reference, self.shape.radius);
        let mut outcome = WallsOutcome {
            status: self.status(),
            count: 0,
            truncated: false,
        };
        for poly in self.found() {
            let Some((tile, index)) = mesh.resolve(poly) else {
                continue;
            };
            for_each_wall_piece(mesh, tile, index, filter, |piece| {
                let nearest = lerp(
                    piece.a,
                    piece.b,
                    nearest_parameter(piece.a, piece.b, center),
                );
                let distance_sq = distance_xz_sq(nearest, center);
                if distance_sq <= radius * radius {
                    let wall = WallSegment {
                        a: piece.a,
                        b: piece.b,
                        poly,
                        edge: piece.edge as i32,
                        distance: distance_sq.sqrt(),
                    };
                    insert_nearest(out, &mut outcome, wall);
                }
            });
        }
        outcome
    }
}

/// Inserts behind every piece that is not farther; a full list loses its last.
#[inline]
fn insert_nearest(out: &mut [WallSegment], outcome: &mut WallsOutcome, wall: WallSegment) {
    let filled = &out[..outcome.count];
    let place = filled.partition_point(|other| other.distance <= wall.distance);
    if outcome.count < out.len() {
        outcome.count += 1;
    } else {
        outcome.truncated = true;
        if place == out.len() {
            return;
        }
    }
    out.copy_within(place..outcome.count - 1, place + 1);
    out[place] = wall;
}

/// A stretch of a polygon's edge with nothing accepted behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolyWall {
    /// The edge.
    pub edge: usize,
    /// Where the stretch begins, as a fraction of the edge.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// Its first end, world units; walkable ground is on the left from `a` to `b`.
    pub a: DVec3,
    /// Its second end.
    pub b: DVec3,
}

impl PolyWall {
    pub(super) fn whole(edge: usize, a: DVec3, b: DVec3) -> Self {
        Self {
            edge,
            from: 0.0,
            to: 1.0,
            a,
            b,
        }
    }
}

/// Calls `visit` with every wall piece of a polygon: edges in order, pieces along the edge.
#[inline]
pub(super) fn for_each_wall_piece<F: Filter + ?Sized>(
    mesh: &TiledMesh,
    tile: &Tile,
    index: usize,
    filter: &F,
    mut visit: impl FnMut(PolyWall),
) {
    let edges = tile.poly_edges(index);
    let data = tile.data();
    let sides = &data.edge_portal_sides[edges.clone()];
    for (edge, (&neighbor, &side)) in data.edge_neighbors[edges].iter().zip(sides).enumerate() {
        if neighbor > 0 {
            let target = (neighbor - 1) as usize;
            if filter.passes(tile.poly_flags[target], tile.poly_area[target]) {
                continue;
            }
        }
        if neighbor > 0 || side == NO_PORTAL {
            let (a, b) = edge_ends(tile, index, edge);
            visit(PolyWall::whole(edge, a, b));
        } else {
            border_pieces(mesh, tile, index, edge, filter, &mut visit);
        }
    }
}

/// Calls `visit` with the pieces of a tile-border edge: what no link to an accepted polygon covers.
pub(super) fn border_pieces<F: Filter + ?Sized>(
    mesh: &TiledMesh,
    tile: &Tile,
    index: usize,
    edge: usize,
    filter: &F,
    mut visit: impl FnMut(PolyWall),
) {
    let (a, b) = edge_ends(tile, index, edge);
    // Walk along the edge in 255ths: skip what links cover, stop at the next link's start.
    let open = || {
        tile.poly_links(index).iter().filter(|link| {
            link.kind == LinkKind::Portal
                && usize::from(link.edge) == edge
                && accepts(mesh, link.target, filter)
        })
    };
    let mut at = 0_u8;
    loop {
        while let Some(to) = open()
            .filter(|link| link.range_min <= at && link.range_max > at)
            .map(|link| link.range_max)
            .max()
        {
            at = to;
        }
        if at == u8::MAX {
            break;
        }
        let next = open()
            .map(|link| link.range_min)
            .filter(|&from| from > at)
            .min()
            .unwrap_or(u8::MAX);
        let (from, to) = (f64::from(at) / 255.0, f64::from(next) / 255.0);
        visit(PolyWall {
            edge,
            from,
            to,
            a: lerp(a, b, from),
            b: lerp(a, b, to),
        });
        at = next;
        if at == u8::MAX {
            break;
        }
    }
}

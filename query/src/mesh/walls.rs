//! Walls near a position: the nearest one, or all of them.
//!
//! In: a circle search. Out: pieces of polygon edges with nothing walkable behind them, owned by
//! the polygons the search expanded. A piece is a whole edge without a neighbour, or with one the
//! filter rejects, or the stretch of a tile-border edge that no link to an accepted polygon
//! covers. Distances are clamped X/Z distances from the centre to the piece.

use super::area::AreaSearch;
use super::filter::Filter;
use super::outline::{edge_distances_sq, edge_ends, lerp, nearest_parameter};
use super::path::accepts;
use super::status::AreaStatus;
use throng_soa::mesh::{LinkKind, NO_PORTAL, PolyRef, Tile, TiledMesh};
use throng_soa::world::distance_xz_sq;
use throng_soa::{ArgumentError, DVec3};

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

/// The wall nearest to a position.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WallHit {
    /// Outcome of the circle search.
    pub status: AreaStatus,
    /// A wall is within the radius.
    pub found: bool,
    /// Distance to it in X/Z; the radius when none was found.
    pub distance: f64,
    /// Its nearest point, height interpolated along the edge.
    pub point: DVec3,
    /// Unit vector in X/Z from `point` toward the centre; the edge's inward normal when the centre
    /// is on the wall.
    pub normal: DVec3,
    /// The polygon whose edge it is; invalid when none was found.
    pub poly: PolyRef,
    /// That edge; -1 when none was found.
    pub edge: i32,
}

impl AreaSearch {
    /// The wall nearest to `center` within `radius`, among the polygons a circle search from
    /// `start_poly` reaches. Ties go to the lowest (polygon reference, edge, fraction along it). Afterwards
    /// there is no search to finish; a circle search cut into slices and
    /// [`finish_distance_to_wall`](Self::finish_distance_to_wall) leave theirs.
    ///
    /// # Errors
    /// A centre outside the coordinate rule or a radius outside 0 to 2^22.
    pub fn distance_to_wall<F: Filter + ?Sized>(
        &mut self,
        mesh: &TiledMesh,
        start_poly: PolyRef,
        center: DVec3,
        radius: f64,
        filter: &F,
    ) -> Result<WallHit, ArgumentError> {
        if self.begin_circle(mesh, start_poly, center, radius, filter)? == AreaStatus::InProgress {
            if let Some(nearest) = self.flood(mesh, filter) {
                return Ok(nearest.finish(mesh, AreaStatus::Success, center, radius));
            }
            self.run(mesh, filter);
        }
        let hit = self.finish_distance_to_wall(mesh, filter);
        self.forget();
        Ok(hit)
    }

    /// Expands the polygons of a circle search just begun as they are found, and looks at the walls of
    /// each on the way: the nearest wall does not depend on the order, and the distance of an edge says
    /// both whether it lets the search through and how far the wall is.
    ///
    /// The set is that of the ordered search: whatever a touched portal leads to, from wherever. Only
    /// when there are too many does the order decide who is dropped: then nothing, and the search is at
    /// its beginning again.
    fn flood<F: Filter + ?Sized>(&mut self, mesh: &TiledMesh, filter: &F) -> Option<NearestWall> {
        let center = self.shape.reference;
        let radius_sq = self.shape.radius * self.shape.radius;
        let mut nearest = NearestWall::within(radius_sq);
        let mut number = 0;
        while let Some(poly) = self.close_next(number) {
            number += 1;
            let Some((tile, index)) = mesh.resolve(poly) else {
                continue;
            };
            let first_cell = self.first_cell(poly, tile);
            let (edges, ring) = (tile.poly_edges(index), tile.poly_ring(index));
            edge_distances_sq(ring, center, &mut self.distances);
            let sides = &tile.data().edge_portal_sides[edges.clone()];
            let neighbors = &tile.data().edge_neighbors[edges];
            for (edge, &neighbor) in neighbors.iter().enumerate() {
                let distance_sq = self.distances[edge];
                if neighbor > 0 {
                    // A way through and a wall alike are nothing beyond the radius.
                    if distance_sq > radius_sq {
                        continue;
                    }
                    let target = (neighbor - 1) as usize;
                    if filter.passes(tile.poly_flags[target], tile.poly_area[target]) {
                        let poly = PolyRef::from_parts(poly.salt(), poly.slot(), target as u32);
                        self.find(first_cell + target, poly, distance_sq, number - 1);
                        continue;
                    }
                } else if sides[edge] != NO_PORTAL {
                    border_pieces(mesh, tile, index, edge, filter, |piece| {
                        nearest.offer_piece(poly, &piece, center);
                    });
                    continue;
                }
                if distance_sq <= nearest.distance_sq {
                    let (a, b) = edge_ends(tile, index, edge);
                    nearest.offer_piece(poly, &Piece::whole(edge, a, b), center);
                }
            }
            for link in tile.poly_links(index) {
                if link.kind == LinkKind::Portal {
                    if let Some((key, cell)) = self.across(mesh, filter, (tile, index), link) {
                        self.find(cell, link.target, key, number - 1);
                    }
                }
            }
        }
        self.end_flood(mesh, filter).then_some(nearest)
    }

    /// The scan of [`distance_to_wall`](Self::distance_to_wall) over the polygons a sliced circle
    /// search has expanded so far.
    pub fn finish_distance_to_wall<F: Filter + ?Sized>(
        &self,
        mesh: &TiledMesh,
        filter: &F,
    ) -> WallHit {
        let (center, radius) = (self.shape.reference, self.shape.radius);
        let mut nearest = NearestWall::within(radius * radius);
        for poly in self.found() {
            let Some((tile, index)) = mesh.resolve(poly) else {
                continue;
            };
            let (low, high) = (tile.bounds_min[index], tile.bounds_max[index]);
            if box_distance_sq(low, high, center) <= nearest.distance_sq {
                for_each_wall_piece(mesh, tile, index, filter, |piece| {
                    nearest.offer_piece(poly, &piece, center);
                });
            }
        }
        nearest.finish(mesh, self.status(), center, radius)
    }

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

/// The nearest wall so far.
struct NearestWall {
    distance_sq: f64,
    /// Where on the edge.
    fraction: f64,
    point: DVec3,
    /// Invalid while there is none.
    poly: PolyRef,
    edge: i32,
}

impl NearestWall {
    const fn within(radius_sq: f64) -> Self {
        Self {
            distance_sq: radius_sq,
            fraction: f64::INFINITY,
            point: DVec3::ZERO,
            poly: PolyRef::INVALID,
            edge: -1,
        }
    }

    /// Takes a piece that is nearer, or as near and earlier by (polygon, edge, fraction).
    #[inline]
    fn offer_piece(&mut self, poly: PolyRef, piece: &Piece, center: DVec3) {
        let (low, high) = ends_in_order(piece.a, piece.b);
        if box_distance_sq(low, high, center) > self.distance_sq {
            return;
        }
        let along = nearest_parameter(piece.a, piece.b, center);
        let point = lerp(piece.a, piece.b, along);
        let distance_sq = distance_xz_sq(point, center);
        if distance_sq > self.distance_sq {
            return;
        }
        let fraction = piece.from + (piece.to - piece.from) * along;
        let edge = piece.edge as i32;
        let (this, other) = ((poly, edge), (self.poly, self.edge));
        let earlier = this < other || (this == other && fraction < self.fraction);
        if distance_sq == self.distance_sq && self.poly.is_valid() && !earlier {
            return;
        }
        *self = Self {
            distance_sq,
            fraction,
            point,
            poly,
            edge,
        };
    }

    fn finish(&self, mesh: &TiledMesh, status: AreaStatus, center: DVec3, radius: f64) -> WallHit {
        let mut hit = WallHit {
            status,
            distance: radius,
            edge: -1,
            ..WallHit::default()
        };
        if let Some((tile, index)) = mesh.resolve(self.poly) {
            hit.found = true;
            hit.point = self.point;
            hit.poly = self.poly;
            hit.edge = self.edge;
            hit.distance = self.distance_sq.sqrt();
            let (mut nx, mut nz) = (center.x - hit.point.x, center.z - hit.point.z);
            if nx == 0.0 && nz == 0.0 {
                (nx, nz) = inward(tile, index, hit.edge as usize);
            }
            // Squares of numbers this small would be 0.
            let largest = nx.abs().max(nz.abs());
            if largest < 1e-100 {
                (nx, nz) = (nx / largest, nz / largest);
            }
            let length = (nx * nx + nz * nz).sqrt();
            hit.normal = DVec3::new(nx / length, 0.0, nz / length);
        }
        hit
    }
}

/// A vector from an edge to the inside of its polygon, in X/Z. Ends that are one point in the world are
/// still two in the tile.
fn inward(tile: &Tile, index: usize, edge: usize) -> (f64, f64) {
    let (a, b) = edge_ends(tile, index, edge);
    let (nx, nz) = (a.z - b.z, b.x - a.x);
    if nx != 0.0 || nz != 0.0 {
        return (nx, nz);
    }
    let ring = tile.poly_vertices(index);
    let local = |corner: usize| {
        let [x, _, z] = tile.data().vertices[usize::from(ring[corner % ring.len()])];
        (f64::from(x), f64::from(z))
    };
    let (a, b) = (local(edge), local(edge + 1));
    (a.1 - b.1, b.0 - a.0)
}

/// Squared X/Z distance of a box, less what rounding could make of a point on an edge in it.
#[inline]
fn box_distance_sq(low: DVec3, high: DVec3, center: DVec3) -> f64 {
    let beyond = |low: f64, high: f64, at: f64| {
        // Comparisons, which are one instruction each; `max` looks for NaN first.
        let (below, above) = (low - at, at - high);
        let distance = if below > above { below } else { above } - ROUNDING;
        if distance > 0.0 { distance } else { 0.0 }
    };
    let (dx, dz) = (
        beyond(low.x, high.x, center.x),
        beyond(low.z, high.z, center.z),
    );
    dx * dx + dz * dz
}

/// The X/Z box of two points.
#[inline]
fn ends_in_order(a: DVec3, b: DVec3) -> (DVec3, DVec3) {
    let (low_x, high_x) = if a.x < b.x { (a.x, b.x) } else { (b.x, a.x) };
    let (low_z, high_z) = if a.z < b.z { (a.z, b.z) } else { (b.z, a.z) };
    (
        DVec3::new(low_x, a.y, low_z),
        DVec3::new(high_x, a.y, high_z),
    )
}

/// Rounding of a point on an edge, generously, units.
const ROUNDING: f64 = 1e-6;

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

/// A stretch of an edge with nothing walkable behind it.
pub(super) struct Piece {
    pub(super) edge: usize,
    /// Fractions along the edge.
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) a: DVec3,
    pub(super) b: DVec3,
}

impl Piece {
    fn whole(edge: usize, a: DVec3, b: DVec3) -> Self {
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
    mut visit: impl FnMut(Piece),
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
            visit(Piece::whole(edge, a, b));
        } else {
            border_pieces(mesh, tile, index, edge, filter, &mut visit);
        }
    }
}

/// Calls `visit` with the pieces of a tile-border edge: what no link to an accepted polygon covers.
fn border_pieces<F: Filter + ?Sized>(
    mesh: &TiledMesh,
    tile: &Tile,
    index: usize,
    edge: usize,
    filter: &F,
    mut visit: impl FnMut(Piece),
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
        visit(Piece {
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

//! The nearest of the walls a search offers.

use super::WallHit;
use crate::mesh::outline::{edge_ends, lerp, nearest_parameter};
use crate::mesh::status::AreaStatus;
use crate::mesh::walls::PolyWall;
use throng_soa::DVec3;
use throng_soa::mesh::{PolyRef, Tile, TiledMesh};
use throng_soa::world::distance_xz_sq;

/// Rounding of a point on an edge, generously, units.
pub(super) const ROUNDING: f64 = 1e-6;

/// The nearest wall so far.
pub(super) struct NearestWall {
    pub(super) distance_sq: f64,
    /// Where on the edge.
    fraction: f64,
    point: DVec3,
    /// Invalid while there is none.
    poly: PolyRef,
    edge: i32,
}

impl NearestWall {
    pub(super) const fn within(radius_sq: f64) -> Self {
        Self {
            distance_sq: radius_sq,
            fraction: f64::INFINITY,
            point: DVec3::ZERO,
            poly: PolyRef::INVALID,
            edge: -1,
        }
    }

    /// [`offer_piece`](Self::offer_piece) of a whole edge.
    #[inline]
    pub(super) fn offer_edge(&mut self, poly: PolyRef, ring: &[DVec3], edge: usize, center: DVec3) {
        let next = if edge + 1 < ring.len() { edge + 1 } else { 0 };
        self.offer_piece(poly, &PolyWall::whole(edge, ring[edge], ring[next]), center);
    }

    /// Takes a piece that is nearer, or as near and earlier by (polygon, edge, fraction).
    #[inline]
    pub(super) fn offer_piece(&mut self, poly: PolyRef, piece: &PolyWall, center: DVec3) {
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

    pub(super) fn finish(
        &self,
        mesh: &TiledMesh,
        status: AreaStatus,
        center: DVec3,
        radius: f64,
    ) -> WallHit {
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
pub(super) fn box_distance_sq(low: DVec3, high: DVec3, center: DVec3) -> f64 {
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

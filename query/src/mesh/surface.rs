//! Heights of the surface, and the point of one polygon closest to a position.
//!
//! In: a tile, a polygon and an X/Z position. Out: a height on the polygon's detail triangles, or
//! on its fan where it has none. The first triangle in index order that holds the point (with a
//! barycentric tolerance of 1e-9) decides; a point that rounding left in none takes the plane of
//! the triangle it violates least. Level polygons have one height; large details are looked up through
//! the tile's grid; neither changes the answer.

use super::outline::{outline_contains, outline_nearest};
use throng_soa::DVec3;
use throng_soa::mesh::{PolyRef, Tile, TiledMesh};
use throng_soa::world::is_point;

/// How far outside a triangle a point may be, in barycentric coordinates, and still be in it.
const INSIDE: f64 = 1e-9;

/// A point outside by this much, in barycentric coordinates, is outside whatever rounding does.
const CLEARLY: f64 = 1e-6;

/// A point of a polygon and whether it lies straight above or below the position asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClosestPoint {
    /// The point, world units.
    pub point: DVec3,
    /// The position is over (or under) the polygon, its boundary included.
    pub over_polygon: bool,
}

/// The closest point of `poly` to `point`. Seen from above the position is either on the polygon,
/// and keeps its X and Z, or beside it, and moves to the outline (to the edge of lowest index when
/// two are as near), taking the height of that edge there.
///
/// `None` for a stale or forged reference or a position outside the coordinate rule.
#[must_use]
pub fn closest_point_on_poly(
    mesh: &TiledMesh,
    poly: PolyRef,
    point: DVec3,
) -> Option<ClosestPoint> {
    let (tile, index) = mesh.resolve(poly)?;
    is_point(point).then(|| closest_point_on_tile_poly(tile, index, point))
}

/// Whether `point` lies straight above or below polygon `poly` of `tile`, its boundary included.
#[inline]
#[must_use]
pub fn is_over_tile_poly(tile: &Tile, poly: usize, point: DVec3) -> bool {
    outline_contains(tile.poly_ring(poly), point)
}

/// [`closest_point_on_poly`] for a polygon already resolved. `poly` must be a polygon of `tile`.
#[inline]
#[must_use]
pub fn closest_point_on_tile_poly(tile: &Tile, poly: usize, point: DVec3) -> ClosestPoint {
    let ring = tile.poly_ring(poly);
    if outline_contains(ring, point) {
        let height = surface_height(tile, poly, point.x, point.z);
        ClosestPoint {
            point: DVec3::new(point.x, height, point.z),
            over_polygon: true,
        }
    } else {
        ClosestPoint {
            point: outline_nearest(ring, point).0,
            over_polygon: false,
        }
    }
}

/// Height of polygon `poly` at (x, z), world units. Meant for positions over the polygon; outside
/// it the plane of the nearest triangle goes on. NaN when the tile has no such polygon.
#[must_use]
pub fn surface_height(tile: &Tile, poly: usize, x: f64, z: f64) -> f64 {
    let Some(&level) = tile.level_height.get(poly) else {
        return f64::NAN;
    };
    if !level.is_nan() {
        return level;
    }
    let triangles = Triangles::of(tile, poly);
    if let Some(mut candidates) = tile.detail_candidates(poly, x, z) {
        let held = candidates.find_map(|triangle| triangles.holds(triangle, x, z));
        if let Some(height) = held {
            return height;
        }
    }
    let held = (0..triangles.count()).find_map(|triangle| triangles.holds(triangle, x, z));
    held.unwrap_or_else(|| triangles.nearest_plane(x, z))
}

/// The triangles of a polygon: its detail, or the fan of its outline.
struct Triangles<'t> {
    ring: &'t [DVec3],
    /// Corner indices and vertices beyond the ring, tile-local.
    detail: &'t [[u8; 4]],
    extra: &'t [[f32; 3]],
    origin: DVec3,
}

impl<'t> Triangles<'t> {
    #[inline]
    fn of(tile: &'t Tile, poly: usize) -> Self {
        let data = tile.data();
        let mesh = data.detail_meshes[poly];
        let (triangles, vertices) = (mesh.triangle_base as usize, mesh.vertex_base as usize);
        Self {
            ring: tile.poly_ring(poly),
            detail: &data.detail_triangles[triangles..][..usize::from(mesh.triangle_count)],
            extra: &data.detail_vertices[vertices..][..usize::from(mesh.vertex_count)],
            origin: tile.origin(),
        }
    }

    #[inline]
    fn count(&self) -> usize {
        if self.detail.is_empty() {
            self.ring.len().saturating_sub(2)
        } else {
            self.detail.len()
        }
    }

    #[inline]
    fn corners(&self, triangle: usize) -> [DVec3; 3] {
        if self.detail.is_empty() {
            return [
                self.ring[0],
                self.ring[triangle + 1],
                self.ring[triangle + 2],
            ];
        }
        let [a, b, c, _] = self.detail[triangle];
        [self.corner(a), self.corner(b), self.corner(c)]
    }

    #[inline]
    fn corner(&self, index: u8) -> DVec3 {
        let index = usize::from(index);
        match self.ring.get(index) {
            Some(&corner) => corner,
            None => {
                let local = self.extra[index - self.ring.len()];
                DVec3::new(
                    self.origin.x + f64::from(local[0]),
                    self.origin.y + f64::from(local[1]),
                    self.origin.z + f64::from(local[2]),
                )
            }
        }
    }

    /// The height of the triangle at (x, z) when the point is in it.
    #[inline]
    fn holds(&self, triangle: usize, x: f64, z: f64) -> Option<f64> {
        let [a, b, c] = self.corners(triangle);
        if is_clearly_outside(a, b, c, x, z) {
            return None;
        }
        let place = barycentric(a, b, c, x, z);
        (place.least >= -INSIDE).then_some(place.height)
    }

    /// The plane of the triangle that the point violates least.
    #[cold]
    fn nearest_plane(&self, x: f64, z: f64) -> f64 {
        let mut nearest = Place {
            height: self.ring.first().map_or(f64::NAN, |corner| corner.y),
            least: f64::NEG_INFINITY,
        };
        for triangle in 0..self.count() {
            let [a, b, c] = self.corners(triangle);
            let place = barycentric(a, b, c, x, z);
            if place.least > nearest.least {
                nearest = place;
            }
        }
        nearest.height
    }
}

/// Whether the point is outside by much more than any tolerance or rounding, without a division: most
/// triangles of a polygon are.
#[inline]
fn is_clearly_outside(a: DVec3, b: DVec3, c: DVec3, x: f64, z: f64) -> bool {
    let (e1x, e1z) = (b.x - a.x, b.z - a.z);
    let (e2x, e2z) = (c.x - a.x, c.z - a.z);
    let (px, pz) = (x - a.x, z - a.z);
    let area = e1x * e2z - e1z * e2x;
    let slack = CLEARLY * area.abs();
    let sign = if area < 0.0 { -1.0 } else { 1.0 };
    let v = (px * e2z - pz * e2x) * sign;
    let w = (e1x * pz - e1z * px) * sign;
    // With no area the slack is 0 and what is left is decided by the exact rule, which holds nothing.
    v < -slack || w < -slack || v + w > area.abs() + slack
}

/// Where a point stands in a triangle.
struct Place {
    /// Height of the triangle's plane there.
    height: f64,
    /// Least barycentric coordinate: negative outside; NaN in a triangle without area.
    least: f64,
}

#[inline]
fn barycentric(a: DVec3, b: DVec3, c: DVec3, x: f64, z: f64) -> Place {
    let (e1x, e1z) = (b.x - a.x, b.z - a.z);
    let (e2x, e2z) = (c.x - a.x, c.z - a.z);
    let (px, pz) = (x - a.x, z - a.z);
    let area = e1x * e2z - e1z * e2x;
    let v = (px * e2z - pz * e2x) / area;
    let w = (e1x * pz - e1z * px) / area;
    let u = 1.0 - v - w;
    // With no area all three are NaN or infinite; the NaN comparison below keeps such a triangle
    // from holding anything.
    let least = if area == 0.0 {
        f64::NAN
    } else {
        u.min(v).min(w)
    };
    Place {
        height: a.y + v * (b.y - a.y) + w * (c.y - a.y),
        least,
    }
}

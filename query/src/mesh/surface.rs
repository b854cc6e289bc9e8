//! Heights of the surface, and the point of one polygon closest to a position.
//!
//! In: a tile, a polygon and an X/Z position. Out: a height on the polygon's detail triangles, or
//! on its fan where it has none. The first triangle in index order that holds the point (with a
//! barycentric tolerance of 1e-9) decides; a point that rounding left in none takes the plane of
//! the triangle it violates least. Large details are looked up through the tile's grid, which
//! never changes the answer.

use super::outline::{outline_contains, outline_nearest};
use throng_soa::DVec3;
use throng_soa::mesh::{PolyRef, Tile, TiledMesh};
use throng_soa::world::is_point;

/// How far outside a triangle a point may be, in barycentric coordinates, and still be in it.
const INSIDE: f64 = 1e-9;

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
    if poly >= tile.poly_count() {
        return f64::NAN;
    }
    if let Some(candidates) = tile.detail_grids.candidates(poly, x, z) {
        for &triangle in candidates {
            let [a, b, c] = detail_triangle(tile, poly, usize::from(triangle));
            let place = barycentric(a, b, c, x, z);
            if place.least >= -INSIDE {
                return place.height;
            }
        }
    }
    scan(tile, poly, x, z)
}

/// The plain scan behind [`surface_height`].
fn scan(tile: &Tile, poly: usize, x: f64, z: f64) -> f64 {
    let ring = tile.poly_ring(poly);
    let detail = usize::from(tile.data().detail_meshes[poly].triangle_count);
    let fan = ring.len().saturating_sub(2);
    let fallback = ring.first().map_or(f64::NAN, |corner| corner.y);
    let mut nearest = Place {
        height: fallback,
        least: f64::NEG_INFINITY,
    };
    for triangle in 0..if detail > 0 { detail } else { fan } {
        let [a, b, c] = if detail > 0 {
            detail_triangle(tile, poly, triangle)
        } else {
            [ring[0], ring[triangle + 1], ring[triangle + 2]]
        };
        let place = barycentric(a, b, c, x, z);
        if place.least >= -INSIDE {
            return place.height;
        }
        if place.least > nearest.least {
            nearest = place;
        }
    }
    nearest.height
}

#[inline]
fn detail_triangle(tile: &Tile, poly: usize, triangle: usize) -> [DVec3; 3] {
    [0, 1, 2].map(|corner| tile.detail_corner(poly, triangle, corner))
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

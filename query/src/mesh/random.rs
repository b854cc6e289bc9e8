//! Uniform random points on the surface.
//!
//! In: a SplitMix64 generator, whose state is the whole state, and a filter. Out: a point spread
//! evenly over the area seen from above. One attempt draws exactly four doubles: polygon,
//! triangle of its fan, and two for the place in the triangle.
//!
//! Sources: Osada, Funkhouser, Chazelle and Dobkin, "Shape Distributions", 2002, for the triangle;
//! Sutherland and Hodgman, "Reentrant polygon clipping", 1974, for the clip to a square.

use super::area::AreaSearch;
use super::filter::Filter;
use super::status::AreaStatus;
use super::surface::surface_height;
use throng_soa::mesh::{PolyRef, Tile, TiledMesh};
use throng_soa::rng::SplitMix64;
use throng_soa::world::distance_xz_sq;
use throng_soa::{ArgumentError, DVec3};

/// Attempts of [`AreaSearch::random_point_around`] before it gives up.
const ATTEMPTS: u32 = 64;
/// Vertices of a polygon (16 at most) after four clips.
const CLIPPED: usize = 24;

/// A point and the polygon it lies on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RandomPoint {
    /// The polygon.
    pub poly: PolyRef,
    /// World position on its surface.
    pub point: DVec3,
}

/// A random point of the mesh, weighted by the area of every polygon `filter` accepts. Two scans
/// over all polygons. `None`, with `rng` untouched, when no accepted polygon has an area.
pub fn random_point<F: Filter + ?Sized>(
    mesh: &TiledMesh,
    rng: &mut SplitMix64,
    filter: &F,
) -> Option<RandomPoint> {
    let accepted = || {
        mesh.tiles().flat_map(|(slot, tile)| {
            (0..tile.poly_count())
                .filter(|&poly| filter.passes(tile.poly_flags[poly], tile.poly_area[poly]))
                .map(move |poly| (slot, tile, poly, local_area(tile, poly)))
        })
    };
    let mut total = 0.0;
    for (.., area) in accepted() {
        total += area;
    }
    if total.is_nan() || total <= 0.0 {
        return None;
    }
    let draws = Draws::new(rng);
    let (slot, tile, poly, area) = pick(accepted(), draws.polygon * total, |&(.., area)| area)?;
    let poly_ref = mesh.poly_ref(slot, poly as u32);
    on_polygon(tile, poly, poly_ref, area, &draws)
}

/// The point that the draws after the first give on a polygon.
fn on_polygon(
    tile: &Tile,
    poly: usize,
    poly_ref: PolyRef,
    area: f64,
    draws: &Draws,
) -> Option<RandomPoint> {
    let fan = tile.poly_vertices(poly);
    let corner = |i: usize| local(tile, fan[i]);
    let triangles = (1..fan.len().saturating_sub(1)).map(|i| (i, fan_area(corner, i)));
    let (i, _) = pick(triangles, draws.triangle * area, |&(_, area)| area)?;
    let place = draws.place(corner(0), corner(i), corner(i + 1));
    let (x, z) = (tile.origin().x + place[0], tile.origin().z + place[1]);
    Some(RandomPoint {
        poly: poly_ref,
        point: DVec3::new(x, surface_height(tile, poly, x, z), z),
    })
}

/// The areas of a mesh for one filter, added up: draws many points of [`random_point`] with one scan.
#[derive(Clone, Debug, Default)]
pub struct SurfaceSampler {
    /// Mesh revision the sums belong to.
    revision: u64,
    /// Accepted polygons with an area, and the sums of the areas up to and with each.
    polys: Vec<PolyRef>,
    running: Vec<f64>,
    /// Some area is negative, so the sums do not ascend: every draw scans.
    uneven: bool,
}

impl SurfaceSampler {
    /// Adds up the areas of the polygons `filter` accepts. One scan.
    pub fn new<F: Filter + ?Sized>(mesh: &TiledMesh, filter: &F) -> Self {
        let mut sampler = Self {
            revision: mesh.revision(),
            ..Self::default()
        };
        let mut total = 0.0;
        for (slot, tile) in mesh.tiles() {
            for poly in 0..tile.poly_count() {
                if !filter.passes(tile.poly_flags[poly], tile.poly_area[poly]) {
                    continue;
                }
                let area = local_area(tile, poly);
                sampler.uneven |= area < 0.0 || area.is_nan();
                if area > 0.0 {
                    total += area;
                    sampler.polys.push(mesh.poly_ref(slot, poly as u32));
                    sampler.running.push(total);
                }
            }
        }
        sampler
    }

    /// Whether the sums are those of this mesh as it is.
    #[must_use]
    pub fn fits(&self, mesh: &TiledMesh) -> bool {
        self.revision == mesh.revision()
    }

    /// What [`random_point`] gives for the mesh and the filter the sampler was made for. Logarithmic
    /// in the number of polygons. `None`, with `rng` untouched, for a mesh that has changed since too.
    pub fn draw<F: Filter + ?Sized>(
        &self,
        mesh: &TiledMesh,
        rng: &mut SplitMix64,
        filter: &F,
    ) -> Option<RandomPoint> {
        if !self.fits(mesh) {
            return None;
        }
        if self.uneven {
            return random_point(mesh, rng, filter);
        }
        let (&total, &last) = (self.running.last()?, self.polys.last()?);
        let draws = Draws::new(rng);
        let target = draws.polygon * total;
        let place = self.running.partition_point(|&sum| sum <= target);
        let poly_ref = self.polys.get(place).copied().unwrap_or(last);
        let (tile, poly) = mesh.resolve(poly_ref)?;
        on_polygon(tile, poly, poly_ref, local_area(tile, poly), &draws)
    }
}

impl AreaSearch {
    /// A random point within `radius` of `center` in X/Z, uniform over the parts of the polygons a
    /// circle search from `start_poly` reaches that lie in the circle; stacked polygons each count.
    ///
    /// Draws four doubles per attempt; `None` after 64 points outside the circle, or, with no
    /// draw, when the start cannot be used or nothing with an area is in reach.
    ///
    /// # Errors
    /// A centre outside the coordinate rule or a radius outside 0 to 2^22.
    pub fn random_point_around<F: Filter + ?Sized>(
        &mut self,
        mesh: &TiledMesh,
        rng: &mut SplitMix64,
        start_poly: PolyRef,
        center: DVec3,
        radius: f64,
        filter: &F,
    ) -> Result<Option<RandomPoint>, ArgumentError> {
        self.begin_circle(mesh, start_poly, center, radius, filter)?;
        self.run(mesh, filter);
        Ok(self.finish_random_point_around(mesh, rng))
    }

    /// The draw of [`random_point_around`](Self::random_point_around) over the polygons a sliced
    /// circle search has expanded so far.
    pub fn finish_random_point_around(
        &mut self,
        mesh: &TiledMesh,
        rng: &mut SplitMix64,
    ) -> Option<RandomPoint> {
        let (center, radius) = (self.shape.reference, self.shape.radius);
        let started = matches!(self.status(), AreaStatus::Success | AreaStatus::InProgress);
        if !started || radius == 0.0 {
            return None;
        }
        let mut weights = core::mem::take(&mut self.weights);
        weights.clear();
        weights.extend(self.found().map(|poly| {
            mesh.resolve(poly).map_or(0.0, |(tile, index)| {
                Clip::to_square(tile.poly_ring(index), center, radius).area()
            })
        }));
        let point = self.draw(mesh, rng, &weights);
        self.weights = weights;
        point
    }

    fn draw(&self, mesh: &TiledMesh, rng: &mut SplitMix64, weights: &[f64]) -> Option<RandomPoint> {
        let (center, radius) = (self.shape.reference, self.shape.radius);
        let mut total = 0.0;
        for &weight in weights {
            total += weight;
        }
        if total.is_nan() || total <= 0.0 {
            return None;
        }
        for _ in 0..ATTEMPTS {
            let draws = Draws::new(rng);
            let found = self.found().zip(weights);
            let (poly, &area) = pick(found, draws.polygon * total, |&(_, &weight)| weight)?;
            let (tile, index) = mesh.resolve(poly)?;
            let clip = Clip::to_square(tile.poly_ring(index), center, radius);
            let corner = |i: usize| clip.points[i];
            let triangles = (1..clip.count.saturating_sub(1)).map(|i| (i, fan_area(corner, i)));
            let (i, _) = pick(triangles, draws.triangle * area, |&(_, area)| area)?;
            let [x, z] = draws.place(corner(0), corner(i), corner(i + 1));
            if distance_xz_sq(DVec3::new(x, 0.0, z), center) <= radius * radius {
                return Some(RandomPoint {
                    poly,
                    point: DVec3::new(x, surface_height(tile, index, x, z), z),
                });
            }
        }
        None
    }
}

/// The four doubles of one attempt.
struct Draws {
    polygon: f64,
    triangle: f64,
    u2: f64,
    u3: f64,
}

impl Draws {
    fn new(rng: &mut SplitMix64) -> Self {
        Self {
            polygon: rng.next_f64(),
            triangle: rng.next_f64(),
            u2: rng.next_f64(),
            u3: rng.next_f64(),
        }
    }

    /// A point of the triangle, evenly spread.
    fn place(&self, a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> [f64; 2] {
        let (r1, r2) = (self.u2.sqrt(), self.u3);
        let (wa, wb, wc) = (1.0 - r1, r1 * (1.0 - r2), r1 * r2);
        [0, 1].map(|axis| wa * a[axis] + wb * b[axis] + wc * c[axis])
    }
}

/// The first item whose running total of weights exceeds `target`; the last one with a weight when
/// rounding leaves none.
fn pick<T>(items: impl Iterator<Item = T>, target: f64, weight: impl Fn(&T) -> f64) -> Option<T> {
    let mut total = 0.0;
    let mut last = None;
    for item in items {
        let own = weight(&item);
        total += own;
        if own > 0.0 {
            if total > target {
                return Some(item);
            }
            last = Some(item);
        }
    }
    last
}

fn local(tile: &Tile, vertex: u16) -> [f64; 2] {
    let [x, _, z] = tile.data().vertices[usize::from(vertex)];
    [f64::from(x), f64::from(z)]
}

/// Area of a polygon seen from above, from its fan in tile-local coordinates.
fn local_area(tile: &Tile, poly: usize) -> f64 {
    let fan = tile.poly_vertices(poly);
    let mut area = 0.0;
    for i in 1..fan.len().saturating_sub(1) {
        area += fan_area(|k| local(tile, fan[k]), i);
    }
    area
}

/// Area of fan triangle (0, i, i + 1).
fn fan_area(corner: impl Fn(usize) -> [f64; 2], i: usize) -> f64 {
    let (a, b, c) = (corner(0), corner(i), corner(i + 1));
    0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
}

/// A polygon cut to a square.
struct Clip {
    points: [[f64; 2]; CLIPPED],
    count: usize,
}

impl Clip {
    /// Cuts a ring to the bounding square of a circle.
    fn to_square(ring: &[DVec3], center: DVec3, radius: f64) -> Self {
        let mut clip = Self {
            points: [[0.0; 2]; CLIPPED],
            count: ring.len().min(CLIPPED),
        };
        for (place, corner) in clip.points.iter_mut().zip(ring) {
            *place = [corner.x, corner.z];
        }
        for (axis, middle) in [(0, center.x), (1, center.z)] {
            clip = clip.half_plane(axis, middle - radius, 1.0);
            clip = clip.half_plane(axis, middle + radius, -1.0);
        }
        clip
    }

    /// Keeps the side where `sign · coordinate >= sign · bound`.
    fn half_plane(&self, axis: usize, bound: f64, sign: f64) -> Self {
        let mut cut = Self {
            points: [[0.0; 2]; CLIPPED],
            count: 0,
        };
        let depth = |p: [f64; 2]| sign * (p[axis] - bound);
        for i in 0..self.count {
            let from = self.points[i];
            let to = self.points[if i + 1 < self.count { i + 1 } else { 0 }];
            let (depth_from, depth_to) = (depth(from), depth(to));
            if depth_from >= 0.0 {
                cut.push(from);
            }
            if (depth_from >= 0.0) != (depth_to >= 0.0) {
                let t = depth_from / (depth_from - depth_to);
                let mut point = [0, 1].map(|k| from[k] + (to[k] - from[k]) * t);
                point[axis] = bound;
                cut.push(point);
            }
        }
        cut
    }

    fn push(&mut self, point: [f64; 2]) {
        if let Some(place) = self.points.get_mut(self.count) {
            *place = point;
            self.count += 1;
        }
    }

    /// Area of the fan; never negative.
    fn area(&self) -> f64 {
        let mut area = 0.0;
        for i in 1..self.count.saturating_sub(1) {
            area += fan_area(|k| self.points[k], i);
        }
        area.max(0.0)
    }
}

//! Boxes, floors and ramps, wound counter-clockwise seen from outside.

use crate::input::soup::Soup;
use throng_soa::world::DVec3;

/// A rectangle seen from above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rect {
    pub(super) x0: f64,
    pub(super) z0: f64,
    pub(super) x1: f64,
    pub(super) z1: f64,
}

impl Rect {
    pub(super) const fn new(x0: f64, z0: f64, x1: f64, z1: f64) -> Self {
        Self { x0, z0, x1, z1 }
    }

    /// A square of side `side` around `(x, z)`.
    pub(super) fn around(x: f64, z: f64, side: f64) -> Self {
        let half = side / 2.0;
        Self::new(x - half, z - half, x + half, z + half)
    }

    pub(super) fn shrink(self, by: f64) -> Self {
        Self::new(self.x0 + by, self.z0 + by, self.x1 - by, self.z1 - by)
    }

    pub(super) fn center(self) -> (f64, f64) {
        ((self.x0 + self.x1) / 2.0, (self.z0 + self.z1) / 2.0)
    }

    fn contains(self, x: f64, z: f64) -> bool {
        x > self.x0 && x < self.x1 && z > self.z0 && z < self.z1
    }
}

/// Triangles being collected.
#[derive(Default)]
pub(super) struct Shapes {
    vertices: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
}

impl Shapes {
    pub(super) fn finish(self) -> Soup {
        let soup = Soup::new(self.vertices, self.triangles);
        debug_assert!(soup.is_ok(), "levels stay inside the coordinate bound");
        soup.unwrap_or_default()
    }

    /// One triangle with vertices of its own.
    pub(super) fn triangle(&mut self, corners: [DVec3; 3]) {
        let first = self.vertices.len() as u32;
        self.vertices.extend(corners);
        self.triangles.push([first, first + 1, first + 2]);
    }

    /// A flat quadrilateral, counter-clockwise seen from the side it faces.
    pub(super) fn quad(&mut self, corners: [DVec3; 4]) {
        let first = self.vertices.len() as u32;
        self.vertices.extend(corners);
        self.triangles.push([first, first + 1, first + 2]);
        self.triangles.push([first, first + 2, first + 3]);
    }

    /// An upward floor whose height at its four corners is `y`: at `(x0, z0)`, `(x0, z1)`,
    /// `(x1, z1)`, `(x1, z0)`.
    pub(super) fn slope(&mut self, rect: Rect, y: [f64; 4]) {
        let Rect { x0, z0, x1, z1 } = rect;
        self.quad([
            DVec3::new(x0, y[0], z0),
            DVec3::new(x0, y[1], z1),
            DVec3::new(x1, y[2], z1),
            DVec3::new(x1, y[3], z0),
        ]);
    }

    /// A level upward floor.
    pub(super) fn floor(&mut self, rect: Rect, y: f64) {
        self.slope(rect, [y; 4]);
    }

    /// A level upward floor with rectangular holes.
    pub(super) fn floor_around(&mut self, rect: Rect, y: f64, holes: &[Rect]) {
        let cuts = |low: f64, high: f64, ends: fn(&Rect) -> [f64; 2]| {
            let mut cuts: Vec<f64> = holes
                .iter()
                .flat_map(ends)
                .filter(|&cut| cut > low && cut < high)
                .chain([low, high])
                .collect();
            cuts.sort_by(f64::total_cmp);
            cuts.dedup();
            cuts
        };
        let xs = cuts(rect.x0, rect.x1, |hole| [hole.x0, hole.x1]);
        let zs = cuts(rect.z0, rect.z1, |hole| [hole.z0, hole.z1]);
        for z in zs.windows(2) {
            for x in xs.windows(2) {
                let part = Rect::new(x[0], z[0], x[1], z[1]);
                let (mid_x, mid_z) = part.center();
                if !holes.iter().any(|hole| hole.contains(mid_x, mid_z)) {
                    self.floor(part, y);
                }
            }
        }
    }

    /// The four outward sides of a box whose bottom is at `low` and whose top at the corners (in
    /// the order of [`Shapes::slope`]) is `high`. A side without height is left out.
    pub(super) fn sides(&mut self, rect: Rect, low: [f64; 4], high: [f64; 4]) {
        let Rect { x0, z0, x1, z1 } = rect;
        let corners = [(x0, z0), (x0, z1), (x1, z1), (x1, z0)];
        // Walking the corners in that order keeps the inside on the left, seen from below.
        for i in 0..4 {
            let j = (i + 1) & 3;
            let ((ax, az), (bx, bz)) = (corners[i], corners[j]);
            let at = |x: f64, y: f64, z: f64| DVec3::new(x, y, z);
            let (a_open, b_open) = (high[i] > low[i], high[j] > low[j]);
            match (a_open, b_open) {
                (true, true) => self.quad([
                    at(ax, low[i], az),
                    at(bx, low[j], bz),
                    at(bx, high[j], bz),
                    at(ax, high[i], az),
                ]),
                (true, false) => {
                    self.triangle([at(ax, low[i], az), at(bx, low[j], bz), at(ax, high[i], az)]);
                }
                (false, true) => {
                    self.triangle([at(ax, low[i], az), at(bx, low[j], bz), at(bx, high[j], bz)]);
                }
                (false, false) => {}
            }
        }
    }

    /// A box standing on something: four sides and a top.
    pub(super) fn block(&mut self, rect: Rect, low: f64, high: f64) {
        self.sides(rect, [low; 4], [high; 4]);
        self.floor(rect, high);
    }

    /// A solid ramp standing at `low`, its top as in [`Shapes::slope`].
    pub(super) fn wedge(&mut self, rect: Rect, low: f64, top: [f64; 4]) {
        self.sides(rect, [low; 4], top);
        self.slope(rect, top);
    }

    /// A slab of even thickness with an upper side as in [`Shapes::slope`] and a lower side.
    pub(super) fn slab(&mut self, rect: Rect, top: [f64; 4], thickness: f64) {
        let bottom = top.map(|y| y - thickness);
        self.sides(rect, bottom, top);
        self.slope(rect, top);
        let Rect { x0, z0, x1, z1 } = rect;
        self.quad([
            DVec3::new(x0, bottom[0], z0),
            DVec3::new(x1, bottom[3], z0),
            DVec3::new(x1, bottom[2], z1),
            DVec3::new(x0, bottom[1], z1),
        ]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_soa::world::dot3;

    #[test]
    fn every_face_of_a_slab_looks_away_from_its_middle() {
        let mut shapes = Shapes::default();
        shapes.slab(Rect::new(0.0, 0.0, 4.0, 2.0), [2.0, 3.0, 3.0, 2.0], 1.0);
        let soup = shapes.finish();
        assert_eq!(soup.triangles().len(), 12);
        let middle = DVec3::new(2.0, 2.0, 1.0);
        for triangle in soup.triangles() {
            let [a, b, c] = triangle.map(|i| soup.vertices()[i as usize]);
            assert!(dot3((b - a).cross(c - a), a - middle) > 0.0, "{triangle:?}");
        }
    }

    #[test]
    fn a_wedge_that_ends_at_its_foot_has_two_triangular_sides() {
        let mut shapes = Shapes::default();
        shapes.wedge(Rect::new(0.0, 0.0, 1.0, 1.0), 0.0, [0.0, 0.0, 1.0, 1.0]);
        let soup = shapes.finish();
        // Two triangles each for slope and back, one for each flank.
        assert_eq!(soup.triangles().len(), 6);
        let middle = DVec3::new(0.7, 0.3, 0.5);
        for triangle in soup.triangles() {
            let [a, b, c] = triangle.map(|i| soup.vertices()[i as usize]);
            assert!(dot3((b - a).cross(c - a), a - middle) > 0.0, "{triangle:?}");
        }
    }

    #[test]
    fn a_floor_with_holes_covers_the_rest_exactly() {
        let mut shapes = Shapes::default();
        let holes = [Rect::new(1.0, 1.0, 2.0, 3.0), Rect::new(3.0, 0.0, 4.0, 1.0)];
        shapes.floor_around(Rect::new(0.0, 0.0, 4.0, 4.0), 1.0, &holes);
        let soup = shapes.finish();
        let doubled: f64 = soup
            .triangles()
            .iter()
            .map(|triangle| {
                let [a, b, c] = triangle.map(|i| soup.vertices()[i as usize]);
                (b - a).cross(c - a).y
            })
            .sum();
        assert_eq!(doubled, 2.0 * (16.0 - 2.0 - 1.0));
    }
}

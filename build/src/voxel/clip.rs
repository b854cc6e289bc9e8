//! Splitting a small convex polygon at planes `u = k` and `w = k`.
//!
//! Sutherland and Hodgman, "Reentrant polygon clipping", 1974, with both halves kept: a vertex on
//! the plane belongs to both, and the clipped coordinate of a new vertex is set to the plane itself,
//! so a boundary shared by two cells is one exact number on both sides.

/// Axis of a plane: `u` (cells along x).
pub(crate) const U: usize = 0;
/// Axis of a plane: `w` (cells along z).
pub(crate) const W: usize = 2;

/// A triangle clipped by an axis-aligned box has at most 7 corners; rounding could in principle add
/// crossings, so there is room to spare.
const CAPACITY: usize = 16;

/// A convex polygon in `(u, v, w)` on the stack, in winding order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    points: [[f32; 3]; CAPACITY],
    count: usize,
}

impl Piece {
    pub(crate) const EMPTY: Self = Self {
        points: [[0.0; 3]; CAPACITY],
        count: 0,
    };

    pub(crate) fn set_triangle(&mut self, points: [[f32; 3]; 3]) {
        self.points[..3].copy_from_slice(&points);
        self.count = 3;
    }

    #[inline]
    pub(crate) fn points(&self) -> &[[f32; 3]] {
        &self.points[..self.count]
    }

    #[inline]
    fn push(&mut self, point: [f32; 3]) {
        if let Some(slot) = self.points.get_mut(self.count) {
            *slot = point;
            self.count += 1;
        }
    }

    /// Writes the part at or below `plane` along `axis` to `low` and the part at or above to `high`.
    #[inline]
    pub(crate) fn split<const AXIS: usize>(&self, plane: f32, low: &mut Self, high: &mut Self) {
        low.count = 0;
        high.count = 0;
        for i in 0..self.count {
            let p = self.points[i];
            let next = if i + 1 == self.count { 0 } else { i + 1 };
            let q = self.points[next];
            let (dp, dq) = (p[AXIS] - plane, q[AXIS] - plane);
            if dp <= 0.0 {
                low.push(p);
            }
            if dp >= 0.0 {
                high.push(p);
            }
            if (dp < 0.0 && dq > 0.0) || (dp > 0.0 && dq < 0.0) {
                let cut = cut::<AXIS>(p, q, plane);
                low.push(cut);
                high.push(cut);
            }
        }
    }
}

/// Least and greatest coordinate along `axis`; `(inf, -inf)` without points.
#[inline]
pub(crate) fn range(points: &[[f32; 3]], axis: usize) -> (f32, f32) {
    let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
    for point in points {
        low = if point[axis] < low { point[axis] } else { low };
        high = if point[axis] > high {
            point[axis]
        } else {
            high
        };
    }
    (low, high)
}

/// Twice the signed area seen along v: the fan from the first corner, summed in order.
#[inline]
pub(crate) fn doubled_area(points: &[[f32; 3]]) -> f32 {
    let mut sum = 0.0;
    for i in 1..points.len().saturating_sub(1) {
        let (ax, az) = (points[i][U] - points[0][U], points[i][W] - points[0][W]);
        let (bx, bz) = (
            points[i + 1][U] - points[0][U],
            points[i + 1][W] - points[0][W],
        );
        sum += ax * bz - az * bx;
    }
    sum
}

/// The point where the edge from `p` to `q` crosses `plane` along `AXIS`.
#[inline]
fn cut<const AXIS: usize>(p: [f32; 3], q: [f32; 3], plane: f32) -> [f32; 3] {
    let (dp, dq) = (p[AXIS] - plane, q[AXIS] - plane);
    let t = dp / (dp - dq);
    let mut point = [
        p[0] + (q[0] - p[0]) * t,
        p[1] + (q[1] - p[1]) * t,
        p[2] + (q[2] - p[2]) * t,
    ];
    point[AXIS] = plane;
    point
}

/// The two neighbouring corners of a row piece that stand on its lower `u` plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeadingEdge {
    /// The corner that comes first in winding order.
    q: usize,
    /// The corner after it.
    p: usize,
    /// Least `u` of the other corners: every plane below it cuts the same two edges.
    pub(crate) far: f32,
}

impl Piece {
    /// The edge on the plane `u = plane` when exactly two corners stand there, side by side, and
    /// all others beyond it.
    #[inline]
    pub(crate) fn leading_edge(&self, plane: f32) -> Option<LeadingEdge> {
        let (mut on_plane, mut sum, mut last) = (0, 0, 0);
        let mut far = f32::INFINITY;
        for (i, point) in self.points().iter().enumerate() {
            if point[U] <= plane {
                on_plane += 1;
                sum += i;
                last = i;
            } else if point[U] < far {
                far = point[U];
            }
        }
        if on_plane != 2 || self.count < 3 {
            return None;
        }
        let first = sum - last;
        if first + 1 == last {
            Some(LeadingEdge {
                q: first,
                p: last,
                far,
            })
        } else if first == 0 && last + 1 == self.count {
            Some(LeadingEdge {
                q: last,
                p: first,
                far,
            })
        } else {
            None
        }
    }

    /// Moves the leading edge on to `plane` (below `edge.far`) and returns the quadrilateral it
    /// swept: the same corners, bits and order as [`Piece::split`] gives.
    #[inline]
    pub(crate) fn advance(&mut self, edge: &mut LeadingEdge, plane: f32) -> [[f32; 3]; 4] {
        let last = self.count - 1;
        let (p, q) = (edge.p, edge.q);
        let (p_point, q_point) = (self.points[p], self.points[q]);
        let after = self.points[if p == last { 0 } else { p + 1 }];
        let before = self.points[if q == 0 { last } else { q - 1 }];
        let p_cut = cut::<U>(p_point, after, plane);
        let q_cut = cut::<U>(before, q_point, plane);
        self.points[p] = p_cut;
        self.points[q] = q_cut;
        if p == 0 {
            [p_point, p_cut, q_cut, q_point]
        } else if q == 0 {
            // A split starts the rest at its first new corner.
            self.points[..self.count].rotate_left(1);
            *edge = LeadingEdge {
                q: last,
                p: 0,
                far: edge.far,
            };
            [q_point, p_point, p_cut, q_cut]
        } else {
            [q_cut, q_point, p_point, p_cut]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_shares_the_cut_and_keeps_the_area() {
        let mut triangle = Piece::EMPTY;
        triangle.set_triangle([[0.0, 0.0, 0.0], [0.0, 0.0, 4.0], [4.0, 8.0, 0.0]]);
        let (mut low, mut high) = (Piece::EMPTY, Piece::EMPTY);
        triangle.split::<U>(1.0, &mut low, &mut high);
        assert_eq!(low.points().len(), 4);
        assert_eq!(high.points().len(), 3);
        assert_eq!(
            doubled_area(low.points()) + doubled_area(high.points()),
            -16.0
        );
        assert_eq!(range(low.points(), U), (0.0, 1.0));
        assert_eq!(range(high.points(), 1), (2.0, 8.0));
    }

    #[test]
    fn a_vertex_on_the_plane_belongs_to_both_sides() {
        let mut triangle = Piece::EMPTY;
        triangle.set_triangle([[0.0, 0.0, 0.0], [2.0, 0.0, 3.0], [4.0, 0.0, 0.0]]);
        let (mut low, mut high) = (Piece::EMPTY, Piece::EMPTY);
        triangle.split::<U>(2.0, &mut low, &mut high);
        assert_eq!(low.points().len(), 3);
        assert_eq!(high.points().len(), 3);
        triangle.split::<W>(3.0, &mut low, &mut high);
        assert_eq!((low.points().len(), high.points().len()), (3, 1));
        assert_eq!(doubled_area(high.points()), 0.0);
    }
}

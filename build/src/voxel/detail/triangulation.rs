//! The triangle table detail meshes are edited in.

use throng_soa::predicates::{in_circle, orient2d};

/// No neighbour: the edge lies on the polygon's outline.
pub(crate) const OUTSIDE: u32 = u32::MAX;

/// A stored position, widened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) z: f64,
}

impl Point {
    pub(crate) fn stored(x: f32, y: f32, z: f32) -> Self {
        Self {
            x: f64::from(x),
            y: f64::from(y),
            z: f64::from(z),
        }
    }

    pub(crate) fn as_stored(self) -> [f32; 3] {
        [self.x as f32, self.y as f32, self.z as f32]
    }

    #[inline]
    fn xz(self) -> [f64; 2] {
        [self.x, self.z]
    }
}

/// Exact turn of three points seen from above, positive to the left (x right, z up).
#[inline]
pub(crate) fn turn(a: Point, b: Point, c: Point) -> f64 {
    orient2d(a.xz(), b.xz(), c.xz())
}

/// A triangle; edge `k` runs from corner `k` to corner `k + 1`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Triangle {
    pub(crate) corner: [u16; 3],
    pub(crate) beyond: [u32; 3],
}

/// Triangles with neighbours.
#[derive(Debug, Default)]
pub(crate) struct Triangulation {
    pub(crate) triangles: Vec<Triangle>,
    /// Edges to make Delaunay: taken from the end.
    pub(crate) stack: Vec<(u32, u8)>,
    /// Triangles changed since the caller last cleared the list; may repeat.
    pub(crate) changed: Vec<u32>,
}

impl Triangulation {
    /// The triangles as a tile stores them, in order.
    pub(crate) fn output(&self) -> impl Iterator<Item = [u8; 4]> + '_ {
        self.triangles.iter().map(|t| {
            let mut flags = 0;
            for (k, &beyond) in t.beyond.iter().enumerate() {
                flags |= u8::from(beyond == OUTSIDE) << k;
            }
            let [a, b, c] = t.corner;
            [a as u8, b as u8, c as u8, flags]
        })
    }

    /// Position, in `triangle`, of its edge towards `other`.
    pub(crate) fn edge_towards(&self, triangle: u32, other: u32) -> usize {
        let beyond = &self.triangles[triangle as usize].beyond;
        beyond.iter().position(|&t| t == other).unwrap_or(0)
    }

    /// Makes `triangle`, where it names `old` as neighbour, name `new`.
    pub(crate) fn relink(&mut self, triangle: u32, old: u32, new: u32) {
        if triangle != OUTSIDE {
            let edge = self.edge_towards(triangle, old);
            self.triangles[triangle as usize].beyond[edge] = new;
        }
    }

    /// Flips edges from the stack until every one of them is locally Delaunay. Only edges inside a
    /// strictly convex quad are flipped; outline edges never.
    pub(crate) fn legalize(&mut self, points: &[Point]) {
        while let Some((t, k)) = self.stack.pop() {
            let k = usize::from(k);
            let first = self.triangles[t as usize];
            let u = first.beyond[k];
            if u == OUTSIDE {
                continue;
            }
            let j = self.edge_towards(u, t);
            let second = self.triangles[u as usize];
            // The shared edge is a b; c and d are the corners across it.
            let (a, b) = (first.corner[k], first.corner[(k + 1) % 3]);
            let (c, d) = (first.corner[(k + 2) % 3], second.corner[(j + 2) % 3]);
            let at = |i: u16| points[usize::from(i)];
            let (pa, pb, pc, pd) = (at(a), at(b), at(c), at(d));
            let convex = turn(pd, pb, pc) > 0.0
                && turn(pc, pa, pd) > 0.0
                && turn(pa, pb, pc) > 0.0
                && turn(pb, pa, pd) > 0.0;
            if !convex || in_circle(pa.xz(), pb.xz(), pc.xz(), pd.xz()) <= 0.0 {
                continue;
            }
            // Outer edges: b c and c a of the first, a d and d b of the second.
            let (bc, ca) = (first.beyond[(k + 1) % 3], first.beyond[(k + 2) % 3]);
            let (ad, db) = (second.beyond[(j + 1) % 3], second.beyond[(j + 2) % 3]);
            self.triangles[t as usize] = Triangle {
                corner: [c, d, b],
                beyond: [u, db, bc],
            };
            self.triangles[u as usize] = Triangle {
                corner: [d, c, a],
                beyond: [t, ca, ad],
            };
            self.relink(db, u, t);
            self.relink(ca, t, u);
            self.stack.extend([(t, 1), (t, 2), (u, 1), (u, 2)]);
            self.changed.extend([t, u]);
        }
    }
}

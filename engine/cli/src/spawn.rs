//! Where agents start and where they go.
//!
//! In: a mesh and a seeded generator. Out: points spread evenly over the largest connected piece
//! of ground, kept apart where agents are to stand on them. Polygons count as connected when the
//! way between them leads both ways (shared edges, portals, two-way off-mesh links), so every
//! goal can be reached from every start.

use std::collections::BTreeMap;

use throng::parts::query::mesh::surface_height;
use throng::parts::soa::mesh::LinkKind;
use throng::parts::soa::world::distance_xz_sq;
use throng::{DVec3, Filter, QueryFilter, SplitMix64, Tile, TiledMesh};

/// Draws before a start or goal counts as not to be had.
const ATTEMPTS: usize = 256;

/// The largest connected piece of a mesh, ready to draw points from.
#[derive(Debug)]
pub(crate) struct Ground {
    /// Slot and index of its polygons.
    polys: Vec<(u32, u32)>,
    /// Areas summed up to and including each polygon.
    summed: Vec<f64>,
}

impl Ground {
    /// The connected piece with the largest area, or `None` when nothing is walkable.
    pub(crate) fn largest(mesh: &TiledMesh) -> Option<Self> {
        let pieces = connected(mesh);
        let mut areas = vec![0.0; pieces.roots.len()];
        for (slot, tile) in mesh.tiles() {
            for poly in 0..tile.poly_count() {
                if is_walkable(tile, poly) {
                    areas[pieces.of(slot, poly)] += poly_area(tile, poly);
                }
            }
        }
        let mut best = (0.0, usize::MAX);
        for (root, &area) in areas.iter().enumerate() {
            if area > best.0 {
                best = (area, root);
            }
        }
        let mut ground = Self {
            polys: Vec::new(),
            summed: Vec::new(),
        };
        let mut sum = 0.0;
        for (slot, tile) in mesh.tiles() {
            for poly in 0..tile.poly_count() {
                if pieces.of(slot, poly) == best.1 && is_walkable(tile, poly) {
                    sum += poly_area(tile, poly);
                    ground.polys.push((slot, poly as u32));
                    ground.summed.push(sum);
                }
            }
        }
        (sum > 0.0).then_some(ground)
    }

    /// Its area seen from above.
    pub(crate) fn area(&self) -> f64 {
        self.summed.last().copied().unwrap_or(0.0)
    }

    /// A point drawn evenly: four doubles of `rng`, as the library's own random point.
    pub(crate) fn draw(&self, mesh: &TiledMesh, rng: &mut SplitMix64) -> DVec3 {
        let [u0, u1, u2, u3] = [0; 4].map(|_| rng.next_f64());
        let target = u0 * self.area();
        let index = self.summed.partition_point(|&sum| sum <= target);
        let (slot, poly) = self.polys[index.min(self.polys.len() - 1)];
        let (Some(tile), poly) = (mesh.tile(slot), poly as usize) else {
            return DVec3::ZERO;
        };
        let ring = tile.poly_ring(poly);
        let target = u1 * poly_area(tile, poly);
        let (mut sum, mut fan) = (0.0, 1);
        for i in 1..ring.len() - 1 {
            let area = triangle_area(ring[0], ring[i], ring[i + 1]);
            if area > 0.0 {
                fan = i;
            }
            sum += area;
            if sum > target {
                break;
            }
        }
        let r = u2.sqrt();
        let weights = [1.0 - r, r * (1.0 - u3), r * u3];
        let corners = [ring[0], ring[fan], ring[fan + 1]];
        let (mut x, mut z) = (0.0, 0.0);
        for (corner, weight) in corners.iter().zip(weights) {
            x += weight * corner.x;
            z += weight * corner.z;
        }
        DVec3::new(x, surface_height(tile, poly, x, z), z)
    }

    /// A point that keeps its distance from those taken before, which it joins; `None` when many
    /// draws found no room.
    pub(crate) fn draw_apart(
        &self,
        mesh: &TiledMesh,
        rng: &mut SplitMix64,
        taken: &mut Taken,
    ) -> Option<DVec3> {
        (0..ATTEMPTS)
            .map(|_| self.draw(mesh, rng))
            .find(|&point| taken.take(point))
    }
}

/// Places taken, in a grid.
#[derive(Debug)]
pub(crate) struct Taken {
    apart: f64,
    height: f64,
    cells: BTreeMap<(i64, i64), Vec<DVec3>>,
}

impl Taken {
    /// Keeps places `apart` from each other, unless one lies `height` above the other.
    pub(crate) fn new(apart: f64, height: f64) -> Self {
        Self {
            apart,
            height,
            cells: BTreeMap::new(),
        }
    }

    /// Takes a place when no other is too near.
    fn take(&mut self, point: DVec3) -> bool {
        let cell = |v: f64| (v / self.apart).floor() as i64;
        let (x, z) = (cell(point.x), cell(point.z));
        let near = |other: &DVec3| {
            distance_xz_sq(*other, point) < self.apart * self.apart
                && (other.y - point.y).abs() < self.height
        };
        for column in x - 1..=x + 1 {
            for (_, points) in self.cells.range((column, z - 1)..=(column, z + 1)) {
                if points.iter().any(near) {
                    return false;
                }
            }
        }
        self.cells.entry((x, z)).or_default().push(point);
        true
    }
}

/// Area of a polygon seen from above.
pub(crate) fn poly_area(tile: &Tile, poly: usize) -> f64 {
    let ring = tile.poly_ring(poly);
    (1..ring.len().saturating_sub(1))
        .map(|i| triangle_area(ring[0], ring[i], ring[i + 1]))
        .sum()
}

fn triangle_area(a: DVec3, b: DVec3, c: DVec3) -> f64 {
    // Either winding counts: the sign is the format's business.
    (0.5 * ((b.x - a.x) * (c.z - a.z) - (b.z - a.z) * (c.x - a.x))).abs()
}

fn is_walkable(tile: &Tile, poly: usize) -> bool {
    QueryFilter::default().passes(tile.poly_flags[poly], tile.poly_area[poly])
}

/// Polygons numbered through, and the piece each belongs to.
struct Pieces {
    /// Number of each slot's first polygon.
    first: Vec<usize>,
    /// Representative of each polygon's piece.
    roots: Vec<usize>,
}

impl Pieces {
    fn of(&self, slot: u32, poly: usize) -> usize {
        self.roots[self.first[slot as usize] + poly]
    }
}

/// Joins polygons with a way both ways between them (union-find with path halving).
fn connected(mesh: &TiledMesh) -> Pieces {
    let mut first = Vec::with_capacity(mesh.slot_count() as usize);
    let mut count = 0;
    for slot in 0..mesh.slot_count() {
        first.push(count);
        count += mesh.tile(slot).map_or(0, |tile| tile.poly_count());
    }
    let mut roots: Vec<usize> = (0..count).collect();
    let passes = |slot: u32, poly: usize| {
        let tile = mesh.tile(slot);
        tile.is_some_and(|tile| poly < tile.poly_count() && is_walkable(tile, poly))
    };
    for (slot, tile) in mesh.tiles() {
        for poly in (0..tile.poly_count()).filter(|&poly| is_walkable(tile, poly)) {
            let own = first[slot as usize] + poly;
            for &neighbor in &tile.data().edge_neighbors[tile.poly_edges(poly)] {
                if neighbor > 0 && passes(slot, neighbor as usize - 1) {
                    join(
                        &mut roots,
                        own,
                        first[slot as usize] + neighbor as usize - 1,
                    );
                }
            }
            for link in tile.poly_links(poly) {
                let target = (link.target.slot(), link.target.poly() as usize);
                let two_way = link.kind == LinkKind::Portal
                    || mesh.tile(link.link_slot).is_some_and(|owner| {
                        let links = &owner.data().off_mesh_links;
                        let link = links.get(link.link_index as usize);
                        let filter = QueryFilter::default();
                        link.is_some_and(|l| l.bidirectional && filter.passes(l.flags, l.area))
                    });
                if two_way && passes(target.0, target.1) {
                    join(&mut roots, own, first[target.0 as usize] + target.1);
                }
            }
        }
    }
    for poly in 0..count {
        roots[poly] = root(&mut roots, poly);
    }
    Pieces { first, roots }
}

fn root(roots: &mut [usize], mut poly: usize) -> usize {
    while roots[poly] != poly {
        roots[poly] = roots[roots[poly]];
        poly = roots[poly];
    }
    poly
}

/// The lower number leads, so pieces do not depend on the order of joins.
fn join(roots: &mut [usize], a: usize, b: usize) {
    let (a, b) = (root(roots, a), root(roots, b));
    roots[a.max(b)] = a.min(b);
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng::{NavMesh, NavSettings};

    /// Two floors apart from each other: 40 x 40 and, 100 further along x, 20 x 20.
    fn two_floors() -> NavMesh {
        let square = |x: f64, side: f64| {
            [(0.0, 0.0), (0.0, side), (side, 0.0), (side, side)]
                .map(|(dx, z)| DVec3::new(x + dx, 0.0, z))
        };
        let vertices = [square(0.0, 40.0), square(100.0, 20.0)].concat();
        let triangles = [[0, 1, 2], [2, 1, 3], [4, 5, 6], [6, 5, 7]];
        NavMesh::build(&vertices, &triangles, &NavSettings::HUMANOID).unwrap()
    }

    #[test]
    fn points_come_from_the_largest_piece_and_spread_over_it() {
        let mesh = two_floors();
        let ground = Ground::largest(mesh.tiles_mesh()).unwrap();
        assert!(
            (1400.0..1600.0).contains(&ground.area()),
            "{}",
            ground.area()
        );
        let mut rng = SplitMix64::new(3);
        let mut quarters = [0; 4];
        for _ in 0..4000 {
            let p = ground.draw(mesh.tiles_mesh(), &mut rng);
            assert!(
                (0.0..40.0).contains(&p.x) && (0.0..40.0).contains(&p.z),
                "{p}"
            );
            quarters[usize::from(p.x > 20.0) + 2 * usize::from(p.z > 20.0)] += 1;
        }
        assert!(
            quarters.iter().all(|q| (900..1100).contains(q)),
            "{quarters:?}"
        );
    }

    #[test]
    fn places_stay_apart_until_there_is_no_room() {
        let mesh = two_floors();
        let ground = Ground::largest(mesh.tiles_mesh()).unwrap();
        let mut taken = Taken::new(8.0, 2.0);
        let mut rng = SplitMix64::new(3);
        let mut points: Vec<DVec3> = Vec::new();
        while let Some(p) = ground.draw_apart(mesh.tiles_mesh(), &mut rng, &mut taken) {
            assert!(points.iter().all(|&q| distance_xz_sq(p, q) >= 64.0));
            points.push(p);
        }
        assert!((10..36).contains(&points.len()), "{}", points.len());
        // The floor above does not count.
        assert!(taken.take(points[0] + DVec3::Y * 2.0));
        assert!(!taken.take(points[0] + DVec3::Y));
    }

    #[test]
    fn nothing_walkable_is_no_ground() {
        let mesh = NavMesh::build(&[], &[], &NavSettings::HUMANOID).unwrap();
        assert!(Ground::largest(mesh.tiles_mesh()).is_none());
    }
}

//! The wall nearest to a position.
//!
//! In: a circle search. Out: the nearest piece of wall of all polygons it reaches (see
//! [`walls`](super::walls)), as if all had been looked at. Mostly a few are enough: where the mesh is one
//! sheet, what lies beyond the nearest wall found so far can be left alone. Only where floors lie over each
//! other, at borders of tiles, at thin corners and beside polygons the filter rejects, the whole circle is
//! searched.

mod offer;

use super::area::AreaSearch;
use super::filter::Filter;
use super::outline::{edge_distances_sq, for_each_edge, outline_nearest, turn};
use super::status::AreaStatus;
use super::walls::{border_pieces, for_each_wall_piece};
use offer::{NearestWall, ROUNDING, box_distance_sq};
use throng_soa::mesh::{LinkKind, NO_PORTAL, PolyRef, Tile, TiledMesh};
use throng_soa::{ArgumentError, DVec3};

/// How much farther than the nearest wall a search looks that is to find all at that distance: far more
/// than rounding, and more than where a polygon can be that is nearly at it (see `throng_soa`'s sheet).
const SLACK: f64 = 1e-4;

/// How far beside the start polygon its centre may lie: about what rounding makes, and far less than a
/// thousandth of [`SLACK`]. At a thin corner the way to the next polygon is a thousand times as far.
const INSIDE_TOLERANCE: f64 = 1e-9;

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
            let mut nearest = NearestWall::within(radius * radius);
            if self.close_by(mesh, filter, &mut nearest) || self.flood(mesh, filter, &mut nearest) {
                self.forget();
                return Ok(nearest.finish(mesh, AreaStatus::Success, center, radius));
            }
            // Too many polygons: the order decides who is dropped.
            self.begin(mesh, start_poly, false, filter);
            self.run(mesh, filter);
        }
        let hit = self.finish_distance_to_wall(mesh, filter);
        self.forget();
        Ok(hit)
    }

    /// Looks at the polygons of the start's tile no farther than the nearest wall found so far. Whether
    /// that answers a circle search just begun; if not, [`flood`](Self::flood) goes on from here.
    ///
    /// It does when the centre is in the start polygon or within [`INSIDE_TOLERANCE`] of it, the disc up to
    /// the nearest wall is full of polygons that were looked at, and no other one, which the whole circle
    /// may have led to on some other floor or way round, has a wall in it. What the tile knows of its
    /// polygons ([`NavTile::stacked_with`](throng_soa::mesh::NavTile::stacked_with)) says so for a disc
    /// wider by [`SLACK`] (or the whole circle, if that is smaller) if in it there is no folded polygon,
    /// nothing stacked with what was found that has a wall, no border of the tile, and no edge the filter
    /// makes a wall, which would part the polygons around a vertex.
    fn close_by<F: Filter + ?Sized>(
        &mut self,
        mesh: &TiledMesh,
        filter: &F,
        nearest: &mut NearestWall,
    ) -> bool {
        let (center, radius) = (self.shape.reference, self.shape.radius);
        let radius_sq = radius * radius;
        self.put_off.clear();
        self.borders.clear();
        let start_ref = self.start_poly;
        let Some((tile, start)) = mesh.resolve(start_ref) else {
            return false;
        };
        let room = self.room_around(mesh, start_ref.slot(), tile);
        if room <= 0.0
            || !nearly_contains(tile.poly_ring(start), center)
            || tile.stacked_with(start).is_none()
        {
            return false;
        }
        let first_cell = self.first_cell(start_ref, tile);
        let rings = &tile.ring;
        let mut limit_sq = radius_sq;
        // The nearest place where there might be more than what was looked at.
        let mut doubt_sq = f64::INFINITY;
        let (mut number, mut is_stacked) = (0, false);
        while let Some(poly) = self.close_next(number) {
            number += 1;
            let index = poly.poly() as usize;
            let edges = tile.poly_edges(index);
            let ring = &rings[edges.clone()];
            edge_distances_sq(ring, center, &mut self.distances);
            match tile.stacked_with(index) {
                Some(stacked) => is_stacked |= !stacked.is_empty(),
                // It was found across one of its edges, and the disc may come to it across a nearer one.
                None => {
                    doubt_sq = self.distances[..ring.len()]
                        .iter()
                        .copied()
                        .fold(doubt_sq, lesser)
                }
            }
            let sides = &tile.data().edge_portal_sides[edges.clone()];
            let neighbors = &tile.data().edge_neighbors[edges];
            // Sets of edges, found without a branch: which edges are what, nobody can foretell.
            let (mut walls, mut ways, mut borders) = (0_u32, 0_u32, 0_u32);
            for (edge, (&neighbor, &side)) in neighbors.iter().zip(sides).enumerate() {
                let distance_sq = self.distances[edge];
                let is_way = neighbor > 0;
                let is_border = side != NO_PORTAL;
                let is_wall = !is_way & !is_border & (distance_sq <= nearest.distance_sq);
                walls |= u32::from(is_wall) << edge;
                ways |= u32::from(is_way & (distance_sq <= radius_sq)) << edge;
                borders |= u32::from(is_border) << edge;
            }
            if walls != 0 {
                for edge in set_bits(walls) {
                    nearest.offer_edge(poly, ring, edge, center);
                }
                let limit = nearest.distance_sq.sqrt() + SLACK;
                limit_sq = lesser(limit * limit, radius_sq);
            }
            if borders != 0 {
                self.borders.push(number - 1);
                for edge in set_bits(borders) {
                    doubt_sq = lesser(doubt_sq, self.distances[edge]);
                }
            }
            for edge in set_bits(ways) {
                let distance_sq = self.distances[edge];
                let target = (neighbors[edge] - 1) as usize;
                if !filter.passes(tile.poly_flags[target], tile.poly_area[target]) {
                    doubt_sq = lesser(doubt_sq, distance_sq);
                    if distance_sq <= nearest.distance_sq {
                        nearest.offer_edge(poly, ring, edge, center);
                    }
                } else if distance_sq <= limit_sq {
                    let poly =
                        PolyRef::from_parts(start_ref.salt(), start_ref.slot(), target as u32);
                    self.find(first_cell + target, poly, distance_sq, number - 1);
                } else {
                    self.put_off.push(target as u32);
                }
            }
        }
        limit_sq < doubt_sq
            && limit_sq < room * room
            && !(is_stacked && self.stacks_near(tile, filter, first_cell, limit_sq))
    }

    /// Whether a polygon of the start's tile that was not found, but is stacked with one that was, has an
    /// edge within a distance that can be a wall.
    fn stacks_near<F: Filter + ?Sized>(
        &mut self,
        tile: &Tile,
        filter: &F,
        first_cell: usize,
        limit_sq: f64,
    ) -> bool {
        let center = self.shape.reference;
        for number in 0..self.found().count() as u32 {
            let index = self.poly_of(number).poly() as usize;
            for &other in tile.stacked_with(index).unwrap_or(&[]) {
                let other = other as usize;
                let (low, high) = (tile.bounds_min[other], tile.bounds_max[other]);
                if box_distance_sq(low, high, center) > limit_sq
                    || self.is_found(first_cell + other)
                {
                    continue;
                }
                edge_distances_sq(tile.poly_ring(other), center, &mut self.distances);
                let neighbors = &tile.data().edge_neighbors[tile.poly_edges(other)];
                let is_wall = |neighbor: i32| match usize::try_from(neighbor - 1) {
                    Ok(target) => !filter.passes(tile.poly_flags[target], tile.poly_area[target]),
                    Err(_) => true,
                };
                let mut edges = neighbors.iter().zip(&self.distances);
                if edges.any(|(&neighbor, &distance)| distance <= limit_sq && is_wall(neighbor)) {
                    return true;
                }
            }
        }
        false
    }

    /// Expands the polygons of a circle search as they are found, and looks at the walls of each on the
    /// way: the nearest wall does not depend on the order, and the distance of an edge says both whether it
    /// lets the search through and how far the wall is. Goes on where [`close_by`](Self::close_by) stopped.
    ///
    /// The set is that of the ordered search: whatever a touched portal leads to, from wherever. `false`
    /// when there are more polygons than the search may hold.
    fn flood<F: Filter + ?Sized>(
        &mut self,
        mesh: &TiledMesh,
        filter: &F,
        nearest: &mut NearestWall,
    ) -> bool {
        let center = self.shape.reference;
        let radius_sq = self.shape.radius * self.shape.radius;
        let mut number = self.take_up(mesh, filter, nearest);
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
            let mut at_border = false;
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
                    at_border = true;
                    continue;
                }
                if distance_sq <= nearest.distance_sq {
                    nearest.offer_edge(poly, ring, edge, center);
                }
            }
            if at_border {
                self.cross(mesh, filter, (tile, index), number - 1, nearest);
            }
        }
        !self.is_short_of_nodes()
    }

    /// Finds what [`close_by`](Self::close_by) put off; the number of nodes expanded before.
    fn take_up<F: Filter + ?Sized>(
        &mut self,
        mesh: &TiledMesh,
        filter: &F,
        nearest: &mut NearestWall,
    ) -> u32 {
        let expanded = self.found().count() as u32;
        let start = self.start_poly;
        let Some((tile, _)) = mesh.resolve(start) else {
            return expanded;
        };
        let first_cell = self.first_cell(start, tile);
        for k in 0..self.put_off.len() {
            let target = self.put_off[k];
            let poly = PolyRef::from_parts(start.salt(), start.slot(), target);
            self.find(first_cell + target as usize, poly, 0.0, 0);
        }
        for k in 0..self.borders.len() {
            let number = self.borders[k];
            let index = self.poly_of(number).poly() as usize;
            let ring = tile.poly_ring(index);
            edge_distances_sq(ring, self.shape.reference, &mut self.distances);
            self.cross(mesh, filter, (tile, index), number, nearest);
        }
        expanded
    }

    /// Looks at the walls of a node's edges on the border of its tile, and finds what its portals lead to.
    /// The distances of its edges are at hand.
    fn cross<F: Filter + ?Sized>(
        &mut self,
        mesh: &TiledMesh,
        filter: &F,
        (tile, index): (&Tile, usize),
        number: u32,
        nearest: &mut NearestWall,
    ) {
        let poly = self.poly_of(number);
        let sides = &tile.data().edge_portal_sides[tile.poly_edges(index)];
        // Rounding may have a part of an edge nearer than the edge.
        let rounding = ROUNDING * (self.shape.radius + 1.0);
        for (edge, &side) in sides.iter().enumerate() {
            if side != NO_PORTAL && self.distances[edge] <= nearest.distance_sq + rounding {
                border_pieces(mesh, tile, index, edge, filter, |piece| {
                    nearest.offer_piece(poly, &piece, self.shape.reference);
                });
            }
        }
        let far_sq = self.shape.radius * self.shape.radius + rounding;
        for link in tile.poly_links(index) {
            let far = || self.distances[usize::from(link.edge)] > far_sq;
            if link.kind == LinkKind::Portal && !far() {
                if let Some((key, cell)) = self.across(mesh, filter, (tile, index), link) {
                    self.find(cell, link.target, key, number);
                }
            }
        }
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
}

/// Whether a point is in a ring or so near to an edge that rounding may have it outside.
///
/// Counts the edges a ray crosses, unlike `outline_contains`: a ring that rounding has made a point or a
/// line turns nowhere and would hold anything, or is no longer convex.
fn nearly_contains(ring: &[DVec3], p: DVec3) -> bool {
    let mut inside = false;
    for_each_edge(ring, |_, a, b| {
        if (a.z > p.z) != (b.z > p.z) {
            inside ^= (turn(a, b, p) > 0.0) == (b.z > a.z);
        }
    });
    inside || outline_nearest(ring, p).1 <= INSIDE_TOLERANCE * INSIDE_TOLERANCE
}

/// The numbers of the bits that are set, ascending.
#[inline]
fn set_bits(mut set: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (set != 0).then(|| set.trailing_zeros() as usize);
        set &= set.wrapping_sub(1);
        bit
    })
}

#[inline]
fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

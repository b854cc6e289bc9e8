//! The polygons reachable around a place: in a circle, in a convex shape, or without overlaps.
//!
//! In: a start polygon, a shape seen from above, a filter (only whether it accepts; costs are
//! ignored). Out: every polygon reached by a chain of portals that touch the shape, best first.
//! The key of an entry is the squared distance from the shape's reference point to the portal it
//! came through; ties go to the earlier insertion. Heights are ignored and off-mesh links not
//! followed. A local neighbourhood additionally skips a polygon whose outline overlaps one already
//! found, so of stacked floors only the one met first appears.
//!
//! The search sets the order in which wall lookups and random points see the surroundings, so the
//! expansion order is part of the result.

use super::area_overlap::polys_overlap;
use super::area_shape::Shape;
use super::filter::Filter;
use super::open_list::OpenList;
use super::outline::{MAX_VERTICES, edge_distances_sq, edge_ends, lerp, segment_distance_sq};
use super::poly_table::PolyTable;
use super::room::Rooms;
use super::status::AreaStatus;
use throng_soa::mesh::{Link, LinkKind, PolyRef, Tile, TiledMesh};
use throng_soa::world::check_point;
use throng_soa::{ArgumentError, DVec3};

/// Largest radius of a circle search, world units.
pub const MAX_RADIUS: f64 = 4_194_304.0;

const NO_NODE: u32 = u32::MAX;

/// What a search over the surroundings found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AreaOutcome {
    /// [`AreaStatus::Success`], [`AreaStatus::InProgress`], or why the search did not start.
    pub status: AreaStatus,
    /// Polygons written.
    pub count: usize,
    /// The buffer was too short.
    pub truncated: bool,
    /// Nodes were dropped because the search already held its maximum.
    pub node_limit_reached: bool,
    /// Expansions so far.
    pub iterations: u64,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    poly: PolyRef,
    key: f64,
    parent: u32,
    closed: bool,
}

/// A search over the surroundings of a polygon: the question and all scratch it needs. Reusable
/// for any number of searches over any meshes.
#[derive(Clone, Debug)]
pub struct AreaSearch {
    pub(super) shape: Shape,
    without_overlaps: bool,
    pub(super) start_poly: PolyRef,
    revision: u64,
    status: AreaStatus,
    max_nodes: u32,
    node_limit_reached: bool,
    nodes: Vec<Node>,
    /// Nodes in expansion order.
    expanded: Vec<u32>,
    iterations: u64,
    open: OpenList,
    table: PolyTable,
    /// Squared distances of the edges of the polygon in hand.
    pub(super) distances: [f64; MAX_VERTICES],
    /// Clipped areas of a random draw.
    pub(super) weights: Vec<f64>,
    /// What a search for the nearest wall leaves for later: polygons of the start's tile, and nodes with
    /// edges on its border.
    pub(super) put_off: Vec<u32>,
    pub(super) borders: Vec<u32>,
    rooms: Rooms,
}

impl AreaSearch {
    /// A search holding at most `max_nodes` polygons (at least 1).
    #[must_use]
    pub fn new(max_nodes: u32) -> Self {
        let reserve = max_nodes.min(1024) as usize;
        Self {
            shape: Shape::default(),
            without_overlaps: false,
            start_poly: PolyRef::INVALID,
            revision: 0,
            status: AreaStatus::None,
            max_nodes: max_nodes.clamp(1, NO_NODE - 1),
            node_limit_reached: false,
            nodes: Vec::with_capacity(reserve),
            expanded: Vec::with_capacity(reserve),
            iterations: 0,
            open: OpenList::with_capacity(reserve),
            table: PolyTable::default(),
            distances: [0.0; MAX_VERTICES],
            weights: Vec::new(),
            put_off: Vec::new(),
            borders: Vec::new(),
            rooms: Rooms::default(),
        }
    }

    /// Where the current search stands.
    #[must_use]
    pub const fn status(&self) -> AreaStatus {
        self.status
    }

    /// Starts a circle search. Returns [`AreaStatus::InProgress`] or
    /// [`AreaStatus::InvalidStartPoly`].
    ///
    /// # Errors
    /// A centre outside the coordinate rule or a radius outside 0 to 2^22. Nothing has changed.
    pub fn begin_circle<F: Filter + ?Sized>(
        &mut self,
        mesh: &TiledMesh,
        start_poly: PolyRef,
        center: DVec3,
        radius: f64,
        filter: &F,
    ) -> Result<AreaStatus, ArgumentError> {
        check_circle(center, radius)?;
        self.shape.set_circle(center, radius);
        Ok(self.begin(mesh, start_poly, false, filter))
    }

    /// Starts a search in a convex polygon of 3 to 64 points, seen from above; it may turn either
    /// way. Returns [`AreaStatus::InProgress`], [`AreaStatus::InvalidStartPoly`], or
    /// [`AreaStatus::InvalidShape`] when the points make no such polygon.
    ///
    /// # Errors
    /// A point outside the coordinate rule. Nothing has changed.
    pub fn begin_shape<F: Filter + ?Sized>(
        &mut self,
        mesh: &TiledMesh,
        start_poly: PolyRef,
        points: &[DVec3],
        filter: &F,
    ) -> Result<AreaStatus, ArgumentError> {
        for &point in points {
            check_point("points", point)?;
        }
        if !self.shape.set_convex(points) {
            self.clear();
            self.status = AreaStatus::InvalidShape;
            return Ok(self.status);
        }
        Ok(self.begin(mesh, start_poly, false, filter))
    }

    /// Starts a circle search that skips polygons overlapping one already found, seen from above.
    ///
    /// # Errors
    /// As [`begin_circle`](Self::begin_circle).
    pub fn begin_neighbourhood<F: Filter + ?Sized>(
        &mut self,
        mesh: &TiledMesh,
        start_poly: PolyRef,
        center: DVec3,
        radius: f64,
        filter: &F,
    ) -> Result<AreaStatus, ArgumentError> {
        check_circle(center, radius)?;
        self.shape.set_circle(center, radius);
        Ok(self.begin(mesh, start_poly, true, filter))
    }

    fn clear(&mut self) {
        self.nodes.clear();
        self.expanded.clear();
        self.iterations = 0;
        self.open.clear();
        self.node_limit_reached = false;
    }

    pub(super) fn begin<F: Filter + ?Sized>(
        &mut self,
        mesh: &TiledMesh,
        start_poly: PolyRef,
        without_overlaps: bool,
        filter: &F,
    ) -> AreaStatus {
        self.clear();
        self.without_overlaps = without_overlaps;
        self.start_poly = start_poly;
        self.revision = mesh.revision();
        self.status = AreaStatus::InvalidStartPoly;
        if let Some((tile, index)) = mesh.resolve(start_poly) {
            if filter.passes(tile.poly_flags[index], tile.poly_area[index]) {
                self.table.begin(mesh);
                let cell = self.table.row(start_poly.slot(), tile.poly_count()) + index;
                if let Some(number) = self.add(cell, start_poly, 0.0, NO_NODE) {
                    self.open.push(0.0, number);
                }
                self.status = AreaStatus::InProgress;
            }
        }
        self.status
    }

    /// Goes on for at most `max_iterations` expansions. However a search is cut into updates, it
    /// ends with the same lists. `filter` must answer as it did at the start.
    ///
    /// If this is not the mesh of the last call as it was then, the search starts again on the mesh as
    /// it is.
    pub fn update<F: Filter + ?Sized>(
        &mut self,
        mesh: &TiledMesh,
        filter: &F,
        max_iterations: u32,
    ) -> AreaStatus {
        if self.status != AreaStatus::InProgress {
            return self.status;
        }
        if self.revision != mesh.revision() {
            self.begin(mesh, self.start_poly, self.without_overlaps, filter);
            if self.status != AreaStatus::InProgress {
                return self.status;
            }
        }
        let mut left = max_iterations;
        loop {
            let Some(number) = self.open.peek() else {
                self.status = AreaStatus::Success;
                return self.status;
            };
            if self.nodes[number as usize].closed {
                self.open.remove();
                continue;
            }
            if left == 0 {
                return self.status;
            }
            left -= 1;
            self.open.remove();
            self.expand(mesh, filter, number);
        }
    }

    fn expand<F: Filter + ?Sized>(&mut self, mesh: &TiledMesh, filter: &F, number: u32) {
        let poly = self.close(number);
        let Some((tile, index)) = mesh.resolve(poly) else {
            return;
        };
        let links = tile.poly_links(index);
        let first_cell = self.first_cell(poly, tile);
        let neighbors = &tile.data().edge_neighbors[tile.poly_edges(index)];
        let ring = tile.poly_ring(index);
        edge_distances_sq(ring, self.shape.reference, &mut self.distances);
        for (edge, &neighbor) in neighbors.iter().enumerate() {
            if neighbor > 0 {
                let target = (neighbor - 1) as usize;
                let (cell, key) = (first_cell + target, self.distances[edge]);
                let next = ring[if edge + 1 < ring.len() { edge + 1 } else { 0 }];
                if !self.is_settled(cell)
                    && self.shape.touches(key, ring[edge], next)
                    && filter.passes(tile.poly_flags[target], tile.poly_area[target])
                {
                    let poly = PolyRef::from_parts(poly.salt(), poly.slot(), target as u32);
                    self.offer(mesh, (tile, target), cell, poly, key, number);
                }
                continue;
            }
            for link in links {
                if link.kind != LinkKind::Portal || usize::from(link.edge) != edge {
                    continue;
                }
                let Some((key, cell)) = self.across(mesh, filter, (tile, index), link) else {
                    continue;
                };
                if let (false, Some(target)) = (self.is_settled(cell), mesh.resolve(link.target)) {
                    self.offer(mesh, target, cell, link.target, key, number);
                }
            }
        }
    }

    /// Closes a node and lists it as expanded; its polygon.
    #[inline]
    fn close(&mut self, number: u32) -> PolyRef {
        self.expanded.push(number);
        self.iterations += 1;
        let node = &mut self.nodes[number as usize];
        node.closed = true;
        node.poly
    }

    /// Closes a node of a search that expands them as it finds them; nothing behind the last.
    #[inline]
    pub(super) fn close_next(&mut self, number: u32) -> Option<PolyRef> {
        ((number as usize) < self.nodes.len()).then(|| self.close(number))
    }

    /// The polygon of a node.
    #[inline]
    pub(super) fn poly_of(&self, number: u32) -> PolyRef {
        self.nodes[number as usize].poly
    }

    /// Adds an accepted polygon to such a search unless it was found before.
    #[inline]
    pub(super) fn find(&mut self, cell: usize, poly: PolyRef, key: f64, parent: u32) {
        if !self.is_found(cell) {
            self.add(cell, poly, key, parent);
        }
    }

    /// Whether the polygon of a table cell was found.
    #[inline]
    pub(super) fn is_found(&self, cell: usize) -> bool {
        self.table.get(cell).is_some()
    }

    /// Whether polygons were dropped because there were too many.
    pub(super) fn is_short_of_nodes(&self) -> bool {
        self.node_limit_reached
    }

    /// Around the reference point, which is in the square of the tile in `slot`, there is nothing but this
    /// tile, seen from above, within this distance. 0 when that is not known, or when a circle might hold
    /// more polygons than the search may.
    #[inline]
    pub(super) fn room_around(&mut self, mesh: &TiledMesh, slot: u32, tile: &Tile) -> f64 {
        self.rooms.follow(mesh);
        if self.rooms.most_polys(mesh, self.shape.radius) > self.max_nodes as usize {
            return 0.0;
        }
        self.rooms.around(mesh, slot, tile, self.shape.reference)
    }

    /// Back to no search at all.
    pub(super) fn forget(&mut self) {
        self.clear();
        self.status = AreaStatus::None;
    }

    /// First table cell of a polygon's tile.
    #[inline]
    pub(super) fn first_cell(&mut self, poly: PolyRef, tile: &Tile) -> usize {
        self.table.row(poly.slot(), tile.poly_count())
    }

    /// The key and the table cell of an accepted polygon behind a tile-border link that touches the
    /// shape.
    #[inline]
    pub(super) fn across<F: Filter + ?Sized>(
        &mut self,
        mesh: &TiledMesh,
        filter: &F,
        (tile, index): (&Tile, usize),
        link: &Link,
    ) -> Option<(f64, usize)> {
        let (target_tile, target) = mesh.resolve(link.target)?;
        let (a, b) = edge_ends(tile, index, usize::from(link.edge));
        let a_part = lerp(a, b, f64::from(link.range_min) / 255.0);
        let b_part = lerp(a, b, f64::from(link.range_max) / 255.0);
        let key = segment_distance_sq(a_part, b_part, self.shape.reference);
        let (flags, area) = (
            target_tile.poly_flags[target],
            target_tile.poly_area[target],
        );
        if !self.shape.touches(key, a_part, b_part) || !filter.passes(flags, area) {
            return None;
        }
        Some((key, self.first_cell(link.target, target_tile) + target))
    }

    /// Whether the polygon of a table cell was expanded: nothing changes it any more.
    #[inline]
    fn is_settled(&self, cell: usize) -> bool {
        let number = self.table.get(cell);
        number.is_some_and(|number| self.nodes[number as usize].closed)
    }

    /// Offers an accepted polygon that is not settled, behind a portal of node `parent` that touches
    /// the shape and has this key.
    #[inline]
    fn offer(
        &mut self,
        mesh: &TiledMesh,
        (tile, index): (&Tile, usize),
        cell: usize,
        poly: PolyRef,
        key: f64,
        parent: u32,
    ) {
        if let Some(number) = self.table.get(cell) {
            let node = &mut self.nodes[number as usize];
            if key < node.key {
                node.key = key;
                node.parent = parent;
                self.open.push(key, number);
            }
        } else if !(self.without_overlaps && self.overlaps_found(mesh, tile, index)) {
            if let Some(number) = self.add(cell, poly, key, parent) {
                self.open.push(key, number);
            }
        }
    }

    /// A new node, unless there are too many.
    #[inline]
    fn add(&mut self, cell: usize, poly: PolyRef, key: f64, parent: u32) -> Option<u32> {
        if self.nodes.len() >= self.max_nodes as usize {
            self.node_limit_reached = true;
            return None;
        }
        let number = self.nodes.len() as u32;
        self.nodes.push(Node {
            poly,
            key,
            parent,
            closed: false,
        });
        self.table.set(cell, number);
        Some(number)
    }

    /// Whether a polygon's interior meets that of any polygon that has a node.
    fn overlaps_found(&self, mesh: &TiledMesh, tile: &Tile, index: usize) -> bool {
        self.nodes.iter().any(|node| {
            let found = mesh.resolve(node.poly);
            found.is_some_and(|found| polys_overlap(mesh, (tile, index), found))
        })
    }

    /// Writes the polygons expanded so far in expansion order, with the polygon each was reached
    /// from ([`PolyRef::INVALID`] for the start) and its key. `parents` and `distances_squared` may
    /// be shorter than `polys`, or empty.
    pub fn finish(
        &self,
        polys: &mut [PolyRef],
        parents: &mut [PolyRef],
        distances_squared: &mut [f64],
    ) -> AreaOutcome {
        let count = self.expanded.len().min(polys.len());
        for (i, &number) in self.expanded[..count].iter().enumerate() {
            let node = &self.nodes[number as usize];
            polys[i] = node.poly;
            if let Some(parent) = parents.get_mut(i) {
                *parent = self
                    .nodes
                    .get(node.parent as usize)
                    .map_or(PolyRef::INVALID, |parent| parent.poly);
            }
            if let Some(distance_squared) = distances_squared.get_mut(i) {
                *distance_squared = node.key;
            }
        }
        AreaOutcome {
            status: self.status,
            count,
            truncated: count < self.expanded.len(),
            node_limit_reached: self.node_limit_reached,
            iterations: self.iterations,
        }
    }

    /// Polygons expanded so far, in expansion order.
    pub fn found(&self) -> impl Iterator<Item = PolyRef> + '_ {
        self.expanded
            .iter()
            .map(|&number| self.nodes[number as usize].poly)
    }

    /// A circle search from beginning to end. See [`begin_circle`](Self::begin_circle) and
    /// [`finish`](Self::finish).
    ///
    /// # Errors
    /// A centre outside the coordinate rule or a radius outside 0 to 2^22.
    pub fn find_polys_in_circle<F: Filter + ?Sized>(
        &mut self,
        mesh: &TiledMesh,
        start_poly: PolyRef,
        center: DVec3,
        radius: f64,
        filter: &F,
        polys: &mut [PolyRef],
        parents: &mut [PolyRef],
        distances_squared: &mut [f64],
    ) -> Result<AreaOutcome, ArgumentError> {
        self.begin_circle(mesh, start_poly, center, radius, filter)?;
        self.run(mesh, filter);
        Ok(self.finish(polys, parents, distances_squared))
    }

    /// A search in a convex polygon from beginning to end. See [`begin_shape`](Self::begin_shape)
    /// and [`finish`](Self::finish).
    ///
    /// # Errors
    /// A point outside the coordinate rule.
    pub fn find_polys_in_shape<F: Filter + ?Sized>(
        &mut self,
        mesh: &TiledMesh,
        start_poly: PolyRef,
        points: &[DVec3],
        filter: &F,
        polys: &mut [PolyRef],
        parents: &mut [PolyRef],
        distances_squared: &mut [f64],
    ) -> Result<AreaOutcome, ArgumentError> {
        self.begin_shape(mesh, start_poly, points, filter)?;
        self.run(mesh, filter);
        Ok(self.finish(polys, parents, distances_squared))
    }

    /// A neighbourhood search from beginning to end. See
    /// [`begin_neighbourhood`](Self::begin_neighbourhood) and [`finish`](Self::finish).
    ///
    /// # Errors
    /// A centre outside the coordinate rule or a radius outside 0 to 2^22.
    pub fn find_local_neighbourhood<F: Filter + ?Sized>(
        &mut self,
        mesh: &TiledMesh,
        start_poly: PolyRef,
        center: DVec3,
        radius: f64,
        filter: &F,
        polys: &mut [PolyRef],
        parents: &mut [PolyRef],
        distances_squared: &mut [f64],
    ) -> Result<AreaOutcome, ArgumentError> {
        self.begin_neighbourhood(mesh, start_poly, center, radius, filter)?;
        self.run(mesh, filter);
        Ok(self.finish(polys, parents, distances_squared))
    }

    /// Updates until nothing is left.
    pub(super) fn run<F: Filter + ?Sized>(&mut self, mesh: &TiledMesh, filter: &F) {
        while self.update(mesh, filter, u32::MAX) == AreaStatus::InProgress {}
    }
}

/// Checks the circle of a search.
pub(super) fn check_circle(center: DVec3, radius: f64) -> Result<(), ArgumentError> {
    check_point("center", center)?;
    if (0.0..=MAX_RADIUS).contains(&radius) {
        Ok(())
    } else {
        Err(ArgumentError::new("radius", radius, "0 to 4194304 (2^22)"))
    }
}

//! What a query did and what a corridor is made of, as plain data to draw.
//!
//! In: a mesh, and a search, a result or a corridor. Out: columns of outlines, gates and walls. They
//! are copies: nothing here is kept, and nothing a query does waits for it.

use super::filter::Filter;
use super::front::PathResult;
use super::outline::{edge_ends, lerp};
use super::path::PathSearch;
use super::straight::{StraightPathPoint, collect_portals};
use super::walls::{PolyWall, for_each_wall_piece};
use throng_soa::DVec3;
use throng_soa::mesh::{Link, PolyRef, Tile, TiledMesh};

/// Polygons with their corners: rings laid one after the other, world units, counter-clockwise with
/// X right and Z up.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlines {
    /// The polygons.
    pub poly: Vec<PolyRef>,
    /// Prefix offsets of the polygons into `corners`; one more entry than polygons.
    pub first: Vec<u32>,
    /// The corners of all polygons.
    pub corners: Vec<DVec3>,
}

impl Default for Outlines {
    fn default() -> Self {
        Self {
            poly: Vec::new(),
            first: vec![0],
            corners: Vec::new(),
        }
    }
}

impl Outlines {
    /// The outlines of `polys`, in their order. Polygons that are not (or no longer) in the mesh are
    /// left out. Linear in corners.
    #[must_use]
    pub fn of(mesh: &TiledMesh, polys: impl IntoIterator<Item = PolyRef>) -> Self {
        let mut outlines = Self::default();
        outlines.extend(mesh, polys);
        outlines
    }

    /// Appends the outlines of `polys`, as [`of`](Self::of) has them.
    pub fn extend(&mut self, mesh: &TiledMesh, polys: impl IntoIterator<Item = PolyRef>) {
        for poly in polys {
            if let Some((tile, index)) = mesh.resolve(poly) {
                self.push(poly, tile.poly_ring(index));
            }
        }
    }

    /// Appends one polygon.
    pub fn push(&mut self, poly: PolyRef, ring: &[DVec3]) {
        self.poly.push(poly);
        self.corners.extend_from_slice(ring);
        self.first.push(self.corners.len() as u32);
    }

    /// Number of polygons.
    #[must_use]
    pub fn len(&self) -> usize {
        self.poly.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.poly.is_empty()
    }

    /// The corners of polygon `index`; empty when there is no such polygon.
    #[must_use]
    pub fn ring(&self, index: usize) -> &[DVec3] {
        let ends = (self.first.get(index), self.first.get(index + 1));
        let (Some(&from), Some(&to)) = ends else {
            return &[];
        };
        self.corners.get(from as usize..to as usize).unwrap_or(&[])
    }

    /// The polygons with their corners.
    pub fn iter(&self) -> impl Iterator<Item = (PolyRef, &[DVec3])> + '_ {
        let rings = (0..self.len()).map(|index| self.ring(index));
        self.poly.iter().copied().zip(rings)
    }
}

/// The gates of a corridor, one between each polygon and the next.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Portals {
    /// Left ends, looking ahead; the exit of an off-mesh link.
    pub left: Vec<DVec3>,
    /// Right ends; the entry of an off-mesh link.
    pub right: Vec<DVec3>,
    /// Whether the polygons are joined by an off-mesh link alone.
    pub off_mesh: Vec<bool>,
}

impl Portals {
    /// The gates a string through `corridor` is pulled through. None at all when the corridor is
    /// empty, out of date or does not hold together: then there is no string either.
    #[must_use]
    pub fn of(mesh: &TiledMesh, corridor: &[PolyRef]) -> Self {
        let mut gates = Vec::new();
        let mut portals = Self::default();
        if collect_portals(mesh, corridor, &mut gates).is_some() {
            for gate in gates {
                portals.left.push(gate.left);
                portals.right.push(gate.right);
                portals.off_mesh.push(gate.off_mesh);
            }
        }
        portals
    }

    /// Number of gates.
    #[must_use]
    pub fn len(&self) -> usize {
        self.left.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.left.is_empty()
    }
}

/// The last search of a [`PathSearch`] and its result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryDebug {
    /// Polygons expanded, each once, in order of first expansion.
    pub expanded: Outlines,
    /// The corridor's polygons.
    pub corridor: Outlines,
    /// The corridor's gates.
    pub portals: Portals,
    /// The string-pulled path.
    pub points: Vec<StraightPathPoint>,
}

impl QueryDebug {
    /// Collects the outlines of the search in hand and of a result. Polygons that have left the
    /// mesh are skipped.
    #[must_use]
    pub fn collect(mesh: &TiledMesh, search: &PathSearch, result: &PathResult) -> Self {
        let mut expanded = Vec::new();
        search.expanded_polygons(&mut expanded);
        Self {
            expanded: Outlines::of(mesh, expanded),
            corridor: Outlines::of(mesh, result.corridor.iter().copied()),
            portals: Portals::of(mesh, &result.corridor),
            points: result.points.clone(),
        }
    }
}

/// The ends of edge `edge` of polygon `poly` of a tile, world units, in the polygon's winding; nothing
/// when the tile has no such polygon or the polygon no such edge.
#[must_use]
pub fn poly_edge(tile: &Tile, poly: usize, edge: usize) -> Option<(DVec3, DVec3)> {
    let is_there = poly < tile.poly_count() && edge < tile.poly_ring(poly).len();
    is_there.then(|| edge_ends(tile, poly, edge))
}

/// The stretch of its edge that a portal of polygon `poly` of a tile covers, to 255ths of the edge; the
/// edge's own ends are given to the bit. Nothing where [`poly_edge`] has nothing.
#[must_use]
pub fn portal_stretch(tile: &Tile, poly: usize, portal: &Link) -> Option<(DVec3, DVec3)> {
    let (a, b) = poly_edge(tile, poly, usize::from(portal.edge))?;
    let at = |part: u8| lerp(a, b, f64::from(part) / 255.0);
    Some((at(portal.range_min), at(portal.range_max)))
}

/// Calls `visit` with the walls of one polygon, edge by edge and along each: what
/// [`AreaSearch::find_walls`](super::AreaSearch::find_walls) finds, from nowhere in particular. A
/// polygon that is not in the mesh has none.
pub fn for_each_poly_wall<F: Filter + ?Sized>(
    mesh: &TiledMesh,
    poly: PolyRef,
    filter: &F,
    visit: impl FnMut(PolyWall),
) {
    if let Some((tile, index)) = mesh.resolve(poly) {
        for_each_wall_piece(mesh, tile, index, filter, visit);
    }
}

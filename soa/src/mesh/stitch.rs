//! Stitching: the links between tiles, derived from the set of tiles alone.
//!
//! In: the tiles of a mesh and their link switches. Out: each tile's `links`, sorted by polygon;
//! inside a polygon portals come first (by side, portal of the tile, neighbour layer, neighbour
//! portal), then forward off-mesh links by link index, then reverse ones by (owner slot, link).
//! The same tiles in the same slots give the same links whatever edits led there.

mod link_ends;
mod off_mesh;

use super::data::{NO_PORTAL, TileData};
use super::poly_ref::PolyRef;
use super::tile::{NavTile, Tile};
use super::tiled::TiledMesh;
use super::validate::{ends_of, portals_of};
use crate::world::DVec3;
use off_mesh::AttachedLinks;

pub(super) use link_ends::{LinkEnds, steps_with, steps_without};

/// What sort of way across a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum LinkKind {
    /// A shared stretch of a tile boundary.
    Portal,
    /// An off-mesh link from its start to its end.
    OffMesh,
    /// An off-mesh link from its end to its start.
    OffMeshReverse,
}

/// A way from one polygon to another that is not an edge inside the tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The polygon entered.
    pub target: PolyRef,
    /// What is crossed.
    pub kind: LinkKind,
    /// Source edge of a portal; 255 for off-mesh links.
    pub edge: u8,
    /// Tile side of a portal; 255 for off-mesh links.
    pub side: u8,
    /// Start of the shared stretch along the source edge, 255ths from its first vertex.
    pub range_min: u8,
    /// End of the shared stretch.
    pub range_max: u8,
    /// Slot of the tile that owns the off-mesh link.
    pub link_slot: u32,
    /// Index of the off-mesh link in that tile.
    pub link_index: u32,
}

/// An off-mesh link in world coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OffMeshEnds {
    /// Departure of the forward direction.
    pub start: DVec3,
    /// Arrival of the forward direction.
    pub end: DVec3,
    /// Area id priced by filters.
    pub area: u8,
    /// Flags tested by filters.
    pub flags: u16,
    /// The caller's id.
    pub user_id: u32,
}

/// A portal edge of a tile, prepared for matching.
#[derive(Clone, Copy, Debug)]
pub(super) struct PortalEdge {
    /// The stretch of the boundary it covers.
    low: f64,
    high: f64,
    poly: u32,
    edge: u8,
    side: u8,
    /// Along the boundary, from the edge's first vertex to its second.
    u: [f64; 2],
    /// Local heights at the two vertices.
    y: [f64; 2],
}

impl PortalEdge {
    fn fraction(&self, u: f64) -> f64 {
        (u - self.u[0]) / (self.u[1] - self.u[0])
    }

    fn world_height(&self, origin_y: f64, t: f64) -> f64 {
        let (a, b) = (origin_y + self.y[0], origin_y + self.y[1]);
        a + (b - a) * t
    }
}

/// The portal edges of a tile, those of each side together, in (polygon, edge) order.
#[derive(Clone, Debug)]
pub(super) struct TilePortals {
    edges: Vec<PortalEdge>,
    /// Prefix offsets of the sides.
    first: [u32; 5],
}

impl TilePortals {
    pub(super) fn of_side(&self, side: usize) -> &[PortalEdge] {
        &self.edges[self.first[side] as usize..self.first[side + 1] as usize]
    }
}

/// The portal edges of a tile whose polygons have the prefix offsets `first`.
pub(super) fn portal_edges(data: &TileData, first: &[u32]) -> TilePortals {
    let portals = data.edge_portal_sides.iter();
    let portals: u32 = portals.map(|&side| u32::from(side != NO_PORTAL)).sum();
    let mut edges = Vec::with_capacity(portals as usize);
    let mut counts = [0_u32; 5];
    for (poly, edge) in portals_of(data, first) {
        let side = data.edge_portal_sides[edge];
        let [a, b] =
            ends_of(data, first, poly, edge).map(|index| data.vertices[usize::from(index)]);
        let along = if side == 0 || side == 2 { 2 } else { 0 };
        let u = [f64::from(a[along]), f64::from(b[along])];
        counts[usize::from(side) + 1] += 1;
        edges.push(PortalEdge {
            low: u[0].min(u[1]),
            high: u[0].max(u[1]),
            poly: poly as u32,
            edge: (edge - first[poly] as usize) as u8,
            side,
            u,
            y: [f64::from(a[1]), f64::from(b[1])],
        });
    }
    // Stable: the order within a side stays.
    edges.sort_by_key(|portal| portal.side);
    for side in 0..4 {
        counts[side + 1] += counts[side];
    }
    TilePortals {
        edges,
        first: counts,
    }
}

/// Most links over a border between two tile columns, per portal on it. Portals that do not overlap
/// have at most one each; floors that climbing joins multiply that by their number.
const LINKS_PER_PORTAL: usize = 16;
/// Most pairs of facing portals a border may have: each is looked at.
const MOST_PAIRS: usize = 1 << 24;
/// Links any border may have.
const FREE_LINKS: usize = 256;

/// Whether the borders of column (x, z) would hold a number of links in proportion to their portals
/// with the tile in slot `without` gone and `with` there. The number of links is a product, so
/// without a bound a few hostile bytes would ask for all memory.
pub(super) fn links_are_bounded(
    mesh: &TiledMesh,
    (x, z): (i32, i32),
    with: Option<&NavTile>,
    without: Option<u32>,
) -> bool {
    let climb = f64::from(mesh.params().walkable_climb);
    let own = || {
        let kept = mesh.column(x, z).iter().filter(|&&s| Some(s) != without);
        kept.filter_map(|&slot| mesh.tile(slot).map(|tile| &**tile))
            .chain(with)
    };
    beside(x, z).into_iter().enumerate().all(|(side, place)| {
        let Some((nx, nz)) = place else {
            return true;
        };
        let facing = || mesh.column(nx, nz).iter().filter_map(|&s| mesh.tile(s));
        let portals: usize = own().map(|tile| tile.portals.of_side(side).len()).sum();
        let opposite: usize = facing()
            .map(|tile| tile.portals.of_side(side ^ 2).len())
            .sum();
        let most = LINKS_PER_PORTAL * (portals + opposite) + FREE_LINKS;
        let pairs = portals.saturating_mul(opposite);
        if pairs <= most {
            return true;
        }
        if pairs > MOST_PAIRS {
            return false;
        }
        let mut links = 0;
        for tile in own() {
            for other in facing() {
                for portal in tile.portals.of_side(side) {
                    for across in other.portals.of_side(side ^ 2) {
                        let (a, b) = (tile.origin.y, other.origin.y);
                        links += usize::from(shared_range(portal, a, across, b, climb).is_some());
                    }
                    if links > most {
                        return false;
                    }
                }
            }
        }
        true
    })
}

/// Columns beside (x, z), by side; none beyond the numbers.
fn beside(x: i32, z: i32) -> [Option<(i32, i32)>; 4] {
    [
        x.checked_add(1).map(|x| (x, z)),
        z.checked_add(1).map(|z| (x, z)),
        x.checked_sub(1).map(|x| (x, z)),
        z.checked_sub(1).map(|z| (x, z)),
    ]
}

/// Stitches the tiles of column (x, z) and of its four neighbours again; `everywhere` all tiles, for
/// a mesh that has off-mesh links or had some before the edit.
pub(super) fn restitch_around(mesh: &mut TiledMesh, x: i32, z: i32, everywhere: bool) {
    if everywhere {
        restitch_all(mesh);
        return;
    }
    let around = [Some((x, z))].into_iter().chain(beside(x, z));
    for (x, z) in around.flatten() {
        let slots = mesh.column(x, z).to_vec();
        stitch_tiles(mesh, &slots, &AttachedLinks::default());
    }
}

/// Stitches every tile again.
pub(super) fn restitch_all(mesh: &mut TiledMesh) {
    let attached = AttachedLinks::of(mesh);
    let slots: Vec<u32> = mesh.occupied_slots().collect();
    stitch_tiles(mesh, &slots, &attached);
}

fn stitch_tiles(mesh: &mut TiledMesh, slots: &[u32], attached: &AttachedLinks) {
    let mut links: Vec<(u32, Link)> = Vec::new();
    let mut next: Vec<u32> = Vec::new();
    for &slot in slots {
        links.clear();
        let Some(tile) = mesh.tile(slot) else {
            continue;
        };
        portal_links(mesh, tile, &mut links);
        attached.links_of(slot, &mut links);
        let polys = tile.poly_count();
        let Some(tile) = mesh.tile_mut(slot) else {
            continue;
        };
        tile.link_first.clear();
        tile.link_first.resize(polys + 1, 0);
        for &(poly, _) in &links {
            tile.link_first[poly as usize + 1] += 1;
        }
        for poly in 0..polys {
            tile.link_first[poly + 1] += tile.link_first[poly];
        }
        // Inside a polygon the order of discovery is the order of the links.
        next.clone_from(&tile.link_first);
        tile.links.clear();
        if let Some(&(_, any)) = links.first() {
            tile.links.resize(links.len(), any);
        }
        for &(poly, link) in &links {
            let place = &mut next[poly as usize];
            tile.links[*place as usize] = link;
            *place += 1;
        }
    }
}

fn portal_links(mesh: &TiledMesh, tile: &Tile, links: &mut Vec<(u32, Link)>) {
    let climb = f64::from(mesh.params().walkable_climb);
    let (x, z) = (tile.data().tile_x, tile.data().tile_z);
    for (side, place) in beside(x, z).into_iter().enumerate() {
        let portals = tile.portals.of_side(side);
        let Some((nx, nz)) = place.filter(|_| !portals.is_empty()) else {
            continue;
        };
        let neighbors = mesh.column(nx, nz);
        for portal in portals {
            for &slot in neighbors {
                let Some(other) = mesh.tile(slot) else {
                    continue;
                };
                for facing in other.portals.of_side(side ^ 2) {
                    let range = shared_range(portal, tile.origin.y, facing, other.origin.y, climb);
                    if let Some((range_min, range_max)) = range {
                        let link = Link {
                            target: mesh.poly_ref(slot, facing.poly),
                            kind: LinkKind::Portal,
                            edge: portal.edge,
                            side: side as u8,
                            range_min,
                            range_max,
                            link_slot: 0,
                            link_index: 0,
                        };
                        links.push((portal.poly, link));
                    }
                }
            }
        }
    }
}

/// The stretch of `a` that `b` covers, in 255ths of `a`, when their heights agree at both ends.
fn shared_range(
    a: &PortalEdge,
    a_origin_y: f64,
    b: &PortalEdge,
    b_origin_y: f64,
    climb: f64,
) -> Option<(u8, u8)> {
    // Most pairs are told apart here.
    if a.high <= b.low || b.high <= a.low {
        return None;
    }
    let low = a.low.max(b.low);
    let high = a.high.min(b.high);
    for u in [low, high] {
        let ya = a.world_height(a_origin_y, a.fraction(u));
        let yb = b.world_height(b_origin_y, b.fraction(u));
        if (ya - yb).abs() > climb {
            return None;
        }
    }
    let (t0, t1) = (a.fraction(low), a.fraction(high));
    let byte = |t: f64| t.clamp(0.0, 255.0) as u8;
    Some((
        byte((t0.min(t1) * 255.0).floor()),
        byte((t0.max(t1) * 255.0).ceil()),
    ))
}

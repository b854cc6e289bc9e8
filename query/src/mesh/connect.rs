//! How two neighbouring polygons touch.
//!
//! In: two references. Out: the in-tile edge, tile-border link or off-mesh link that leads from
//! the first to the second, in that order of preference; the lowest edge or first link of a kind.

use super::filter::Filter;
use throng_soa::mesh::{Link, LinkKind, PolyRef, Tile, TiledMesh};

/// A way from a polygon to the next one.
#[derive(Clone, Copy)]
pub(crate) enum Connection<'a> {
    /// A shared edge of the tile: its index in the first polygon.
    Edge(usize),
    /// A stretch of a tile boundary.
    Portal(&'a Link),
    /// An off-mesh link, forward or reverse.
    OffMesh(&'a Link),
}

/// The way from polygon `index` of `tile`, whose reference is `from`, to `to`.
#[inline]
pub(crate) fn connection<'a>(
    tile: &'a Tile,
    index: usize,
    from: PolyRef,
    to: PolyRef,
) -> Option<Connection<'a>> {
    if from.slot() == to.slot() && from.salt() == to.salt() {
        let wanted = to.poly() as i32 + 1;
        let neighbors = &tile.data().edge_neighbors[tile.poly_edges(index)];
        if let Some(edge) = neighbors.iter().position(|&n| n == wanted) {
            return Some(Connection::Edge(edge));
        }
    }
    let mut links = tile.poly_links(index).iter();
    // Links list portals before off-mesh ones, so the first match is the preferred one.
    let link = links.find(|link| link.target == to)?;
    Some(match link.kind {
        LinkKind::Portal => Connection::Portal(link),
        LinkKind::OffMesh | LinkKind::OffMeshReverse => Connection::OffMesh(link),
    })
}

/// Whether an agent standing on `from` may step onto `to`. They must touch (inside the tile, across
/// a tile border, or by an off-mesh link that passes the filter itself) and `to` must pass the
/// filter. References that name nothing give false.
#[must_use]
pub fn connects<F: Filter + ?Sized>(
    mesh: &TiledMesh,
    from: PolyRef,
    to: PolyRef,
    filter: &F,
) -> bool {
    let (Some((tile, index)), Some((next, next_index))) = (mesh.resolve(from), mesh.resolve(to))
    else {
        return false;
    };
    if !filter.passes(next.poly_flags[next_index], next.poly_area[next_index]) {
        return false;
    }
    match connection(tile, index, from, to) {
        None => false,
        Some(Connection::Edge(_) | Connection::Portal(_)) => true,
        // Several links may lead to one polygon; any accepted one will do.
        Some(Connection::OffMesh(_)) => tile.poly_links(index).iter().any(|link| {
            link.target == to
                && mesh
                    .off_mesh_link(link.link_slot, link.link_index)
                    .is_some_and(|ends| filter.passes(ends.flags, ends.area))
        }),
    }
}

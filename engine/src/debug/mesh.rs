//! A mesh: its polygons, edges, links, height detail and tiles.
//!
//! In: a mesh as it is now (run-time areas, flags and link switches included). Out: columns in slot,
//! polygon and edge (or link, or triangle) order. Each part is its own function, linear in what it
//! copies; [`MeshDebug`] is all of them.

use super::lines::{LineKind, Lines};
use throng_query::mesh::{
    DefaultFilter, Outlines, PolyWall, for_each_poly_wall, poly_edge, portal_stretch,
};
use throng_soa::mesh::{Link, LinkKind, PolyRef, Tile, TiledMesh};
use throng_soa::world::DVec3;

/// Everything there is to see of a mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeshDebug {
    /// Polygons, areas and flags.
    pub polygons: Polygons,
    /// Edges by kind.
    pub edges: Edges,
    /// Stitched links.
    pub links: Links,
    /// Height detail.
    pub surface: Surface,
    /// Tiles.
    pub tiles: TileBoxes,
}

impl MeshDebug {
    /// Collects all parts.
    #[must_use]
    pub fn collect(mesh: &TiledMesh) -> Self {
        Self {
            polygons: Polygons::collect(mesh),
            edges: Edges::collect(mesh),
            links: Links::collect(mesh),
            surface: Surface::collect(mesh),
            tiles: TileBoxes::collect(mesh),
        }
    }
}

/// The polygons of a mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Polygons {
    /// Outlines.
    pub outlines: Outlines,
    /// Current area ids, 0 to 63.
    pub area: Vec<u8>,
    /// Current flags.
    pub flags: Vec<u16>,
}

impl Polygons {
    /// Collects all polygons.
    #[must_use]
    pub fn collect(mesh: &TiledMesh) -> Self {
        let mut polygons = Self::default();
        for_each_poly(mesh, |tile, index, poly| {
            polygons.outlines.push(poly, tile.poly_ring(index));
            polygons.area.push(tile.poly_area[index]);
            polygons.flags.push(tile.poly_flags[index]);
        });
        polygons
    }
}

/// The edges of a mesh's polygons.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edges {
    /// [`LineKind::Inner`], [`LineKind::Wall`] or [`LineKind::Portal`], in the winding of the polygon:
    /// walkable ground is on the left. An edge that two polygons of a tile share is there once, from
    /// the lower one. An edge on a tile's border is there in stretches, covered by links (portal) or
    /// not (wall); both sides of the border have theirs.
    pub lines: Lines,
    /// The polygon of each.
    pub poly: Vec<PolyRef>,
    /// The polygon's edge.
    pub edge: Vec<u8>,
}

impl Edges {
    /// Collects all edges. Walls are those of a filter that accepts everything.
    #[must_use]
    pub fn collect(mesh: &TiledMesh) -> Self {
        let mut edges = Self::default();
        let mut walls = Vec::new();
        for_each_poly(mesh, |tile, index, poly| {
            walls.clear();
            for_each_poly_wall(mesh, poly, &DefaultFilter, |wall| walls.push(wall));
            edges.push_poly(tile, index, poly, &walls);
        });
        edges
    }

    fn push_poly(&mut self, tile: &Tile, index: usize, poly: PolyRef, walls: &[PolyWall]) {
        let neighbors = &tile.data().edge_neighbors[tile.poly_edges(index)];
        let mut walls = walls.iter().peekable();
        for (edge, &neighbor) in neighbors.iter().enumerate() {
            let Some((a, b)) = poly_edge(tile, index, edge) else {
                continue;
            };
            let mut push = |kind: LineKind, a: DVec3, b: DVec3| {
                self.lines.push(kind, a, b);
                self.poly.push(poly);
                self.edge.push(edge as u8);
            };
            if neighbor > 0 {
                if (neighbor - 1) as usize > index {
                    push(LineKind::Inner, a, b);
                }
                continue;
            }
            // Whatever is no wall here leads across the border.
            let (mut done, mut at) = (0.0, a);
            while let Some(wall) = walls.next_if(|wall| wall.edge == edge) {
                if wall.from > done {
                    push(LineKind::Portal, at, wall.a);
                }
                push(LineKind::Wall, wall.a, wall.b);
                (done, at) = (wall.to, wall.b);
            }
            if done < 1.0 {
                push(LineKind::Portal, at, b);
            }
        }
    }
}

/// The ways of a mesh that are no edges inside a tile, as stitched: in slot, polygon and link order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Links {
    /// [`LineKind::Portal`]: the covered stretch of the source's edge, to 255ths of it.
    /// [`LineKind::OffMesh`]: from departure to arrival; a link crossed both ways is there once each
    /// way.
    pub lines: Lines,
    /// The polygon each leaves.
    pub from: Vec<PolyRef>,
    /// The polygon each enters.
    pub to: Vec<PolyRef>,
}

impl Links {
    /// Collects all links. Off-mesh links that are switched off or attach to nothing lead nowhere and
    /// are not among them.
    #[must_use]
    pub fn collect(mesh: &TiledMesh) -> Self {
        let mut links = Self::default();
        for_each_poly(mesh, |tile, index, poly| {
            for link in tile.poly_links(index) {
                if let Some((kind, from, to)) = link_line(mesh, tile, index, link) {
                    links.lines.push(kind, from, to);
                    links.from.push(poly);
                    links.to.push(link.target);
                }
            }
        });
        links
    }
}

fn link_line(
    mesh: &TiledMesh,
    tile: &Tile,
    index: usize,
    link: &Link,
) -> Option<(LineKind, DVec3, DVec3)> {
    if link.kind == LinkKind::Portal {
        let (from, to) = portal_stretch(tile, index, link)?;
        return Some((LineKind::Portal, from, to));
    }
    let ends = mesh.off_mesh_link(link.link_slot, link.link_index)?;
    Some(if link.kind == LinkKind::OffMeshReverse {
        (LineKind::OffMesh, ends.end, ends.start)
    } else {
        (LineKind::OffMesh, ends.start, ends.end)
    })
}

/// The surface of a mesh: the triangles heights are read from, as a renderer or a build takes them:
/// they face up, counter-clockwise seen from above with Y up, like the level's own. (The mesh itself
/// and [`Polygons`] wind the other way.)
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Corners, world units.
    pub triangles: Vec<[DVec3; 3]>,
    /// The polygon of each.
    pub poly: Vec<PolyRef>,
}

impl Surface {
    /// Collects the detail triangles of all polygons; the fan of its outline for a polygon without.
    #[must_use]
    pub fn collect(mesh: &TiledMesh) -> Self {
        let mut surface = Self::default();
        for_each_poly(mesh, |tile, index, poly| {
            let detail = usize::from(tile.data().detail_meshes[index].triangle_count);
            for triangle in 0..detail {
                let corner = |corner| tile.detail_corner(index, triangle, corner);
                surface.triangles.push([corner(0), corner(2), corner(1)]);
            }
            if let (0, Some((&hub, rim))) = (detail, tile.poly_ring(index).split_first()) {
                let fan = rim.windows(2).map(|pair| [hub, pair[1], pair[0]]);
                surface.triangles.extend(fan);
            }
            surface.poly.resize(surface.triangles.len(), poly);
        });
        surface
    }
}

/// The tiles of a mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TileBoxes {
    /// Slots.
    pub slot: Vec<u32>,
    /// Tile column, tile row and layer.
    pub place: Vec<[i32; 3]>,
    /// Low corners: the tile's square, and the lowest of its polygons' corners (the tile's own zero
    /// when it has no polygons).
    pub low: Vec<DVec3>,
    /// High corners, likewise.
    pub high: Vec<DVec3>,
}

impl TileBoxes {
    /// Collects all tiles.
    #[must_use]
    pub fn collect(mesh: &TiledMesh) -> Self {
        let mut boxes = Self::default();
        let size = mesh.params().tile_size;
        for (slot, tile) in mesh.tiles() {
            let data = tile.data();
            let (low, high) = if tile.poly_count() == 0 {
                (tile.origin().y, tile.origin().y)
            } else {
                (tile.tile_min.y, tile.tile_max.y)
            };
            boxes.slot.push(slot);
            boxes.place.push([data.tile_x, data.tile_z, data.layer]);
            let (x, z) = (tile.origin().x, tile.origin().z);
            boxes.low.push(DVec3::new(x, low, z));
            boxes.high.push(DVec3::new(x + size, high, z + size));
        }
        boxes
    }

    /// The boxes as [`LineKind::TileBounds`], twelve lines each.
    #[must_use]
    pub fn lines(&self) -> Lines {
        let mut lines = Lines::default();
        for (&low, &high) in self.low.iter().zip(&self.high) {
            lines.push_box(LineKind::TileBounds, low, high);
        }
        lines
    }
}

/// Calls `visit` with every polygon, in slot and polygon order.
fn for_each_poly(mesh: &TiledMesh, mut visit: impl FnMut(&Tile, usize, PolyRef)) {
    for (slot, tile) in mesh.tiles() {
        for index in 0..tile.poly_count() {
            visit(tile, index, mesh.poly_ref(slot, index as u32));
        }
    }
}

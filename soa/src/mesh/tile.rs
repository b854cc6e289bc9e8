//! Tiles: [`NavTile`], validated and immutable, and [`Tile`], a mesh's own copy of one.
//!
//! A `NavTile` carries what is derived from its arrays alone, each when a search first asks for it: columns
//! of world positions and boxes, the tree, the detail grids, the sheet. A `Tile` shares it and adds what a run may
//! change (areas, flags, link switches) and what stitching derives from the neighbours (links). Derived
//! columns are never saved.

use std::ops::{Deref, Range};
use std::sync::{Arc, OnceLock};

use super::data::TileData;
use super::detail_grid::{Candidates, DetailGrids, MIN_TRIANGLES};
use super::format;
use super::params::MeshParams;
use super::sheet::Sheet;
use super::stitch::{Link, TilePortals, portal_edges};
use super::tree::PolyTree;
use super::validate::{Checked, check_tile};
use crate::digest::sha256;
use crate::error::DataError;
use crate::world::DVec3;

/// The columns derived from a tile's arrays, all in world coordinates. Read them through the tile; who
/// first does derives them.
#[derive(Clone, Debug)]
pub struct TileGeometry {
    /// World position of the first vertex of every edge: polygon rings laid out flat, indexed like
    /// `edge_neighbors`.
    pub ring: Vec<DVec3>,
    /// Low corner of each polygon's vertex box.
    pub bounds_min: Vec<DVec3>,
    /// High corner of each polygon's vertex box.
    pub bounds_max: Vec<DVec3>,
    /// Low corner over all polygons.
    pub tile_min: DVec3,
    /// High corner over all polygons.
    pub tile_max: DVec3,
    /// The height of each polygon whose corners, those of its detail among them, all lie at one
    /// height; NaN for the others.
    pub level_height: Vec<f64>,
}

/// A validated tile and the columns derived from it. Immutable; cheap to share. The columns are
/// those of [`TileGeometry`], which a tile dereferences to and which the first to do so derives, linear in
/// the polygons.
#[derive(Clone, Debug)]
pub struct NavTile {
    data: TileData,
    fingerprint: [u8; 16],
    pub(super) origin: DVec3,
    /// Prefix offsets of the polygons into the edge columns; one more entry than polygons.
    pub(super) poly_first: Vec<u32>,
    in_square: bool,
    // What is computed when first asked for. Many tiles of a large world never are.
    geometry: OnceLock<TileGeometry>,
    content_id: OnceLock<[u8; 32]>,
    tree: OnceLock<PolyTree>,
    detail_grids: OnceLock<DetailGrids>,
    sheet: OnceLock<Sheet>,
    pub(super) portals: TilePortals,
}

impl Deref for NavTile {
    type Target = TileGeometry;

    #[inline]
    fn deref(&self) -> &TileGeometry {
        self.geometry.get_or_init(|| self.derive_geometry())
    }
}

impl NavTile {
    /// Validates `data` against the mesh it is for.
    ///
    /// # Errors
    /// Names the polygon, edge or array that breaks a rule.
    pub fn create(data: TileData, params: &MeshParams) -> Result<Self, DataError> {
        Self::create_with(data, params, params.fingerprint())
    }

    /// [`NavTile::create`] with the fingerprint of `params` at hand.
    pub(super) fn create_with(
        data: TileData,
        params: &MeshParams,
        fingerprint: [u8; 16],
    ) -> Result<Self, DataError> {
        let checked = check_tile(&data, params)?;
        Ok(Self::derive(data, params, fingerprint, checked))
    }

    fn derive(
        data: TileData,
        params: &MeshParams,
        fingerprint: [u8; 16],
        checked: Checked,
    ) -> Self {
        let origin = DVec3::new(
            params.tile_origin_x(data.tile_x),
            data.origin_y,
            params.tile_origin_z(data.tile_z),
        );
        Self {
            fingerprint,
            origin,
            geometry: OnceLock::new(),
            content_id: OnceLock::new(),
            tree: OnceLock::new(),
            detail_grids: OnceLock::new(),
            sheet: OnceLock::new(),
            portals: portal_edges(&data, &checked.first),
            poly_first: checked.first,
            in_square: checked.in_square,
            data,
        }
    }

    #[cold]
    fn derive_geometry(&self) -> TileGeometry {
        let data = &self.data;
        let ring: Vec<DVec3> = data
            .poly_indices
            .iter()
            .map(|&index| to_world(self.origin, data.vertices[usize::from(index)]))
            .collect();
        let polys = data.poly_vertex_counts.len();
        let mut bounds_min = Vec::with_capacity(polys);
        let mut bounds_max = Vec::with_capacity(polys);
        let (mut tile_min, mut tile_max) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let mut rest = &ring[..];
        for &count in &data.poly_vertex_counts {
            let corners;
            (corners, rest) = rest.split_at(usize::from(count));
            let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
            for &corner in corners {
                low = low.min(corner);
                high = high.max(corner);
            }
            tile_min = tile_min.min(low);
            tile_max = tile_max.max(high);
            bounds_min.push(low);
            bounds_max.push(high);
        }
        // Where polygons share detail vertices, looking at each one's could take the product of the two
        // counts; builders share none.
        let named = data
            .detail_meshes
            .iter()
            .map(|mesh| usize::from(mesh.vertex_count));
        let level_height = if named.sum::<usize>() <= data.detail_vertices.len() {
            let rings = self.poly_first.windows(2).enumerate();
            let rings = rings.map(|(poly, ends)| (poly, &ring[ends[0] as usize..ends[1] as usize]));
            rings
                .map(|(poly, ring)| {
                    self.find_level(poly, ring, [bounds_min[poly].y, bounds_max[poly].y])
                })
                .collect()
        } else {
            vec![f64::NAN; polys]
        };
        TileGeometry {
            ring,
            bounds_min,
            bounds_max,
            tile_min,
            tile_max,
            level_height,
        }
    }

    /// The polygon's extra detail vertices.
    fn detail_vertices_of(&self, poly: usize) -> &[[f32; 3]] {
        let mesh = self.data.detail_meshes[poly];
        &self.data.detail_vertices[mesh.vertex_base as usize..][..usize::from(mesh.vertex_count)]
    }

    /// The one height of a polygon's corners, or NaN. Interpolated between equal heights, that is the
    /// height everywhere, to the bit; but a negative zero could become a positive one, so that is no
    /// level.
    fn find_level(&self, poly: usize, ring: &[DVec3], [low, high]: [f64; 2]) -> f64 {
        if low != high {
            return f64::NAN;
        }
        // Equal and no zeros, they are the same bits.
        if self.data.detail_meshes[poly].vertex_count == 0 && low != 0.0 {
            return low;
        }
        let ring = ring.iter().map(|corner| corner.y);
        let extra = self.detail_vertices_of(poly).iter();
        let mut heights = ring.chain(extra.map(|&local| to_world(self.origin, local).y));
        let level = heights.next().unwrap_or(f64::NAN);
        let same = heights.all(|height| height.to_bits() == level.to_bits());
        if same && level.to_bits() != (-0.0_f64).to_bits() {
            level
        } else {
            f64::NAN
        }
    }

    /// The arrays the tile was made from, areas and flags as built.
    #[must_use]
    pub fn data(&self) -> &TileData {
        &self.data
    }

    /// Fingerprint of the parameters the tile was created against.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 16] {
        self.fingerprint
    }

    /// SHA-256 of the tile's bytes as built: equal ids, equal content. The first call serializes
    /// the tile, later ones are free.
    ///
    /// ```
    /// use throng_soa::DVec3;
    /// use throng_soa::mesh::assemble::{LocalPolygons, from_local_polygons};
    /// use throng_soa::mesh::{MeshParams, NavTile, TiledMesh};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let params = MeshParams {
    /// #     origin: DVec3::ZERO,
    /// #     tile_size: 8.0,
    /// #     cell_size: 0.25,
    /// #     max_verts_per_poly: 6,
    /// #     walkable_climb: 0.5,
    /// #     agent_radius: 0.25,
    /// #     agent_height: 2.0,
    /// #     agent_max_slope_degrees: 45.0,
    /// #     settings_digest: 0,
    /// # };
    /// let polygons = |area| LocalPolygons {
    ///     vertices: vec![[1.0, 0.0, 1.0], [7.0, 0.0, 1.0], [7.0, 0.0, 7.0], [1.0, 0.0, 7.0]],
    ///     poly_vertex_counts: vec![4],
    ///     poly_indices: vec![0, 1, 2, 3],
    ///     areas: vec![area],
    ///     flags: vec![1],
    ///     ..LocalPolygons::default()
    /// };
    /// let tile = |area| NavTile::create(from_local_polygons(polygons(area), &params)?, &params);
    /// let id = tile(0)?.content_id();
    /// assert_eq!(tile(0)?.content_id(), id);
    /// assert_ne!(tile(5)?.content_id(), id);
    ///
    /// // An edit at run time is no content.
    /// let mut mesh = TiledMesh::new(params.clone())?;
    /// mesh.add_tile(tile(0)?)?;
    /// mesh.set_poly_area(mesh.poly_ref(0, 0), 5)?;
    /// assert_eq!(mesh.tile(0).map(|tile| tile.content_id()), Some(id));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn content_id(&self) -> [u8; 32] {
        *self
            .content_id
            .get_or_init(|| sha256(&format::tile_bytes(self)))
    }

    /// Hierarchy over the polygon boxes. The first call builds it, `O(n log n)`; later ones are free.
    #[inline]
    #[must_use]
    pub fn tree(&self) -> &PolyTree {
        self.tree
            .get_or_init(|| PolyTree::build(&self.bounds_min, &self.bounds_max))
    }

    /// The detail triangles of `poly` that can hold the world point (x, z), in their order; `None` when
    /// all must be looked at. The first call for a polygon with many triangles builds the tile's lookup
    /// grids, linear in its triangles.
    #[inline]
    #[must_use]
    pub fn detail_candidates(&self, poly: usize, x: f64, z: f64) -> Option<Candidates<'_>> {
        if self.data.detail_meshes.get(poly)?.triangle_count < MIN_TRIANGLES {
            return None;
        }
        let grids = self.detail_grids.get_or_init(|| self.build_detail_grids());
        grids.candidates(poly, x, z)
    }

    /// The polygons of the tile that lie over `poly`, under it or within a thousandth of a unit beside it,
    /// seen from above, and share no vertex with it. Those that do share one stand side by side with it.
    /// Polygons that no way can lead to from `poly` are left out: none of its neighbours or theirs, unless
    /// both come to the tile's border.
    ///
    /// `None` where polygons around one of its vertices do not stand side by side, where a corner or a
    /// gap there is thinner than a thousandth, where it is stacked with more than 16, and for a polygon
    /// the tile does not have. Where polygons lie in heaps, looking ends after some thousands of
    /// comparisons per polygon, and the rest, those of higher index, are `None` too. A search may use it
    /// to decide how far it looks, never what it finds. The first call looks at all polygons of the tile,
    /// `O(n log n)`; later ones are free.
    #[inline]
    #[must_use]
    pub fn stacked_with(&self, poly: usize) -> Option<&[u32]> {
        self.sheet().stacked_with(poly)
    }

    #[inline]
    fn sheet(&self) -> &Sheet {
        let find = || Sheet::find(self, self.tree());
        self.sheet.get_or_init(find)
    }

    /// Derives now what is derived when first asked for: columns, the tree, the lookup grids and the sheet.
    pub fn derive_lookups(&self) {
        let _ = self.sheet();
        self.detail_grids.get_or_init(|| self.build_detail_grids());
    }

    #[cold]
    fn build_detail_grids(&self) -> DetailGrids {
        DetailGrids::build(
            &self.data,
            |poly| !self.level_height[poly].is_nan(),
            |poly, points| {
                let extra = self.detail_vertices_of(poly).iter();
                let extra = extra.map(|&local| to_world(self.origin, local));
                let corners = self.poly_ring(poly).iter().copied().chain(extra);
                // A triangle names a corner by a byte; polygons may share a long run of vertices.
                let corners = corners.take(256);
                points.extend(corners.map(|corner| [corner.x, corner.z]));
            },
        )
    }

    /// World position of the tile's local zero.
    #[inline]
    #[must_use]
    pub fn origin(&self) -> DVec3 {
        self.origin
    }

    /// Whether the tile stays in its square, seen from above. Tiles may reach into those around them, but
    /// builders make none that do.
    #[inline]
    #[must_use]
    pub fn is_in_square(&self) -> bool {
        self.in_square
    }

    /// Number of polygons.
    #[inline]
    #[must_use]
    pub fn poly_count(&self) -> usize {
        self.data.poly_vertex_counts.len()
    }

    /// The polygon's range in the edge columns (`ring`, `edge_neighbors`, ...).
    #[inline]
    #[must_use]
    pub fn poly_edges(&self, poly: usize) -> Range<usize> {
        self.poly_first[poly] as usize..self.poly_first[poly + 1] as usize
    }

    /// The polygon's vertex indices.
    #[inline]
    #[must_use]
    pub fn poly_vertices(&self, poly: usize) -> &[u16] {
        &self.data.poly_indices[self.poly_edges(poly)]
    }

    /// The polygon's vertices, world positions in ring order.
    #[inline]
    #[must_use]
    pub fn poly_ring(&self, poly: usize) -> &[DVec3] {
        &self.ring[self.poly_edges(poly)]
    }

    /// World position of the polygon's `i`-th vertex.
    #[inline]
    #[must_use]
    pub fn vertex(&self, poly: usize, i: usize) -> DVec3 {
        self.ring[self.poly_first[poly] as usize + i]
    }

    /// World position of corner `corner` (0 to 2) of the polygon's `triangle`-th detail triangle.
    #[inline]
    #[must_use]
    pub fn detail_corner(&self, poly: usize, triangle: usize, corner: usize) -> DVec3 {
        let mesh = self.data.detail_meshes[poly];
        let index = self.data.detail_triangles[mesh.triangle_base as usize + triangle][corner];
        let own = usize::from(self.data.poly_vertex_counts[poly]);
        match usize::from(index).checked_sub(own) {
            None => self.vertex(poly, usize::from(index)),
            Some(extra) => to_world(
                self.origin,
                self.data.detail_vertices[mesh.vertex_base as usize + extra],
            ),
        }
    }
}

/// A tile-local float32 position in the world: widened, then added to the origin.
#[inline]
#[must_use]
pub(super) fn to_world(origin: DVec3, local: [f32; 3]) -> DVec3 {
    DVec3::new(
        origin.x + f64::from(local[0]),
        origin.y + f64::from(local[1]),
        origin.z + f64::from(local[2]),
    )
}

/// A mesh's copy of a tile: the shared geometry, the current values and the stitched links.
#[derive(Clone, Debug)]
pub struct Tile {
    built: Arc<NavTile>,
    /// Current area id of each polygon.
    pub poly_area: Vec<u8>,
    /// Current flags of each polygon.
    pub poly_flags: Vec<u16>,
    /// Whether each off-mesh link is switched on.
    pub off_mesh_enabled: Vec<bool>,
    /// Prefix offsets of the polygons into `links`.
    pub link_first: Vec<u32>,
    /// Links of all polygons, in the order searches number them.
    pub links: Vec<Link>,
}

impl Tile {
    pub(super) fn new(built: Arc<NavTile>) -> Self {
        Self {
            poly_area: built.data.poly_areas.clone(),
            poly_flags: built.data.poly_flags.clone(),
            off_mesh_enabled: vec![true; built.data.off_mesh_links.len()],
            link_first: vec![0; built.poly_count() + 1],
            links: Vec::new(),
            built,
        }
    }

    /// The current values of `tile` for another mesh; the links are those of the mesh it comes into.
    pub(super) fn copy_of(tile: &Self) -> Self {
        Self {
            poly_area: tile.poly_area.clone(),
            poly_flags: tile.poly_flags.clone(),
            off_mesh_enabled: tile.off_mesh_enabled.clone(),
            ..Self::new(tile.built.clone())
        }
    }

    /// Whether the run-time columns are as long as the tile and hold what an edit may set. They are
    /// public, so a copy in a host's hands can hold anything.
    pub(super) fn is_sound(&self) -> bool {
        let (polys, links) = (self.poly_count(), self.data.off_mesh_links.len());
        (self.poly_area.len(), self.poly_flags.len()) == (polys, polys)
            && self.off_mesh_enabled.len() == links
            && self.poly_area.iter().all(|&area| area <= 63)
    }

    /// The tile as it was built.
    #[must_use]
    pub fn built(&self) -> &Arc<NavTile> {
        &self.built
    }

    /// The polygon's links: portals, then off-mesh links forward, then reverse.
    #[inline]
    #[must_use]
    pub fn poly_links(&self, poly: usize) -> &[Link] {
        &self.links[self.link_first[poly] as usize..self.link_first[poly + 1] as usize]
    }
}

impl Deref for Tile {
    type Target = NavTile;

    #[inline]
    fn deref(&self) -> &NavTile {
        &self.built
    }
}

//! Off-mesh links given by hand, baked into the tiles that hold their starts.
//!
//! In: definitions in world space and the freshly built layers of one tile column. Out: link slots
//! appended to the layer that fits each start best, in the order of the definitions. A link whose
//! start has no tile is left out, as is one too far above or below its tile; nothing else about a
//! link is decided here, since stitching attaches the ends to polygons.

use throng_soa::mesh::{MeshParams, OffMeshLink, TileData};
use throng_soa::world::is_coordinate;
use throng_soa::{ArgumentError, DVec3};

use crate::settings::OffMeshLinkDefinition;

/// Definitions sorted by the tile column that holds their start.
#[derive(Clone, Debug, Default)]
pub struct LinkTable<'a> {
    links: &'a [OffMeshLinkDefinition],
    /// (tile z, tile x, index), ascending.
    order: Vec<(i32, i32, u32)>,
}

impl<'a> LinkTable<'a> {
    /// Sorts the definitions. They must have passed
    /// [`NavSettings::validate`](crate::settings::NavSettings::validate).
    ///
    /// # Errors
    /// Names the link that lies farther from its start's tile, seen from above, than a tile can
    /// express.
    pub fn new(
        links: &'a [OffMeshLinkDefinition],
        params: &MeshParams,
    ) -> Result<Self, ArgumentError> {
        let mut order = Vec::with_capacity(links.len());
        let extent = params.max_local_extent();
        for (index, link) in links.iter().enumerate() {
            let (x, z) = params.world_to_tile(link.start.x, link.start.z);
            let (left, low) = (params.tile_origin_x(x), params.tile_origin_z(z));
            for (field, corner, place) in [
                ("start.x", left, link.start.x),
                ("start.z", low, link.start.z),
                ("end.x", left, link.end.x),
                ("end.z", low, link.end.z),
            ] {
                if !can_store(corner, place - corner, extent) {
                    return Err(ArgumentError::new(
                        format!("off_mesh_links[{index}].{field}"),
                        format!("{} from the corner of its start's tile", place - corner),
                        format!("within {extent} of it, and inside the world, as a float32"),
                    ));
                }
            }
            order.push((z, x, index as u32));
        }
        order.sort_unstable();
        Ok(Self { links, order })
    }

    /// Whether any link starts in this column.
    #[must_use]
    pub fn any_in(&self, tile_x: i32, tile_z: i32) -> bool {
        let first = self
            .order
            .partition_point(|&(z, x, _)| (z, x) < (tile_z, tile_x));
        matches!(self.order.get(first), Some(&(z, x, _)) if (z, x) == (tile_z, tile_x))
    }

    /// Appends the links that start in this column to `tiles`, its layers in ascending order.
    pub fn bake(&self, params: &MeshParams, tile_x: i32, tile_z: i32, tiles: &mut [TileData]) {
        if tiles.is_empty() {
            return;
        }
        let first = self
            .order
            .partition_point(|&(z, x, _)| (z, x) < (tile_z, tile_x));
        for &(z, x, index) in &self.order[first..] {
            if (z, x) != (tile_z, tile_x) {
                return;
            }
            let link = &self.links[index as usize];
            let layer = best_layer(params, tiles, link);
            let tile = &mut tiles[layer];
            let origin = tile_origin(params, tile);
            let (start, end) = (link.start - origin, link.end - origin);
            let extent = params.max_local_extent();
            let fits = |height: f64| can_store(origin.y, height, extent);
            if !fits(start.y) || !fits(end.y) {
                continue;
            }
            let local = |v: DVec3| [v.x as f32, v.y as f32, v.z as f32];
            tile.off_mesh_links.push(OffMeshLink {
                start: local(start),
                end: local(end),
                radius: link.radius as f32,
                area: link.area,
                flags: link.flags,
                bidirectional: link.bidirectional,
                user_id: link.user_id,
            });
        }
    }
}

/// Whether a tile can store a place `offset` from its origin along one axis. What counts is also what
/// is left of it as a `f32`: rounding may carry it past the extent or out of the world, and a tile with
/// such a link would be refused as a whole.
fn can_store(origin: f64, offset: f64, extent: f64) -> bool {
    let stored = f64::from(offset as f32);
    offset.abs() <= extent && stored.abs() <= extent && is_coordinate(origin + stored)
}

fn tile_origin(params: &MeshParams, tile: &TileData) -> DVec3 {
    DVec3::new(
        params.tile_origin_x(tile.tile_x),
        tile.origin_y,
        params.tile_origin_z(tile.tile_z),
    )
}

/// Position in `tiles` of the layer whose polygon is nearest the start; the lowest on ties and when
/// none is in reach.
fn best_layer(params: &MeshParams, tiles: &[TileData], link: &OffMeshLinkDefinition) -> usize {
    if tiles.len() == 1 {
        return 0;
    }
    let radius = f64::from(link.radius as f32);
    let climb = f64::from(params.walkable_climb);
    let mut best = 0;
    let mut least = f64::INFINITY;
    for (position, tile) in tiles.iter().enumerate() {
        let score = nearest_score(tile, tile_origin(params, tile), link.start, radius, climb);
        if score < least {
            least = score;
            best = position;
        }
    }
    best
}

/// Smallest squared distance, across and up, from a point to the tile's polygons in reach:
/// `radius` across, `climb` outside a polygon's height range. Infinite when none is.
fn nearest_score(tile: &TileData, origin: DVec3, point: DVec3, radius: f64, climb: f64) -> f64 {
    let mut least = f64::INFINITY;
    let mut first = 0;
    for &count in &tile.poly_vertex_counts {
        let ring = &tile.poly_indices[first..first + usize::from(count)];
        first += ring.len();
        let corner = |i: usize| {
            let [x, y, z] = tile.vertices[usize::from(ring[i % ring.len()])];
            origin + DVec3::new(f64::from(x), f64::from(y), f64::from(z))
        };
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut inside = true;
        let mut across = f64::INFINITY;
        for i in 0..ring.len() {
            let (a, b) = (corner(i), corner(i + 1));
            low = low.min(a.y);
            high = high.max(a.y);
            let (ex, ez) = (b.x - a.x, b.z - a.z);
            let (px, pz) = (point.x - a.x, point.z - a.z);
            inside = inside && ex * pz - px * ez >= 0.0;
            let t = ((px * ex + pz * ez) / (ex * ex + ez * ez)).clamp(0.0, 1.0);
            let (dx, dz) = (px - ex * t, pz - ez * t);
            across = across.min(dx * dx + dz * dz);
        }
        if inside {
            across = 0.0;
        }
        let up = (low - point.y).max(point.y - high).max(0.0);
        if across.sqrt() <= radius && up <= climb {
            least = least.min(across + up * up);
        }
    }
    least
}

//! Off-mesh links as a host sees them: which there are, and which one an agent is crossing.
//!
//! In: a mesh, and the two ends of a crossing. Out: the definitions with their tile, index and
//! `user_id`. Nothing of this is stored: the ends of a crossing are those of its link, bit for bit.

use super::poly_ref::TileRef;
use super::stitch::OffMeshEnds;
use super::tiled::TiledMesh;
use crate::agents::Crossing;
use crate::world::DVec3;

/// An off-mesh link of a mesh, in one of its directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OffMeshWay {
    /// The tile that owns the link.
    pub tile: TileRef,
    /// Index of the link in that tile. With `tile` it is what
    /// [`set_off_mesh_link_enabled`](TiledMesh::set_off_mesh_link_enabled) takes.
    pub index: u32,
    /// Its ends in world coordinates, as defined (not swapped for a reverse crossing), its area, its
    /// flags and the caller's `user_id`.
    pub ends: OffMeshEnds,
    /// Whether it is crossed both ways.
    pub bidirectional: bool,
    /// Whether it is switched on.
    pub enabled: bool,
    /// Whether this is the way from its end to its start.
    pub reversed: bool,
}

impl TiledMesh {
    /// Every off-mesh link of the mesh, switched on or off, attached to polygons or not; by tile slot,
    /// then by index. None of them is `reversed`.
    pub fn off_mesh_links(&self) -> impl Iterator<Item = OffMeshWay> + '_ {
        self.tiles().flat_map(move |(slot, tile)| {
            let indices = 0..tile.data().off_mesh_links.len() as u32;
            indices.filter_map(move |index| self.off_mesh_way(slot, index, false))
        })
    }

    /// The off-mesh links that lead from `entry` to `exit`, switched on or off: the forward ones by
    /// tile slot and index, then those crossed backwards, likewise. More than one only when links lie
    /// exactly on each other. Cost: the links that end in the two points' tile columns.
    pub fn off_mesh_ways(
        &self,
        entry: DVec3,
        exit: DVec3,
    ) -> impl Iterator<Item = OffMeshWay> + '_ {
        let forward = self
            .ways_ending_at(exit, false)
            .filter(move |way| way.ends.start == entry && way.ends.end == exit);
        let back = self.ways_ending_at(entry, true).filter(move |way| {
            way.bidirectional && way.ends.end == entry && way.ends.start == exit
        });
        forward.chain(back)
    }

    /// The off-mesh link of a crossing: the first of [`off_mesh_ways`](Self::off_mesh_ways) that is
    /// switched on, or the first at all when they were switched off under the agent. `None` for a
    /// crossing of another mesh, or of a link whose tile is gone.
    ///
    /// Links that lie exactly on each other are told apart by their switch alone; a host that has
    /// such links finds them all in `off_mesh_ways`.
    #[must_use]
    pub fn link_of(&self, crossing: &Crossing) -> Option<OffMeshWay> {
        self.link_between(crossing.start, crossing.end)
    }

    /// The off-mesh link from `entry` to `exit`, as [`link_of`](Self::link_of).
    #[must_use]
    pub fn link_between(&self, entry: DVec3, exit: DVec3) -> Option<OffMeshWay> {
        let mut ways = self.off_mesh_ways(entry, exit);
        let first = ways.next()?;
        if first.enabled {
            return Some(first);
        }
        Some(ways.find(|way| way.enabled).unwrap_or(first))
    }

    fn ways_ending_at(&self, end: DVec3, reversed: bool) -> impl Iterator<Item = OffMeshWay> + '_ {
        let (x, z) = self.params().world_to_tile(end.x, end.z);
        let links = self.link_ends().ending_in(x, z);
        links.filter_map(move |(slot, index)| self.off_mesh_way(slot, index, reversed))
    }

    fn off_mesh_way(&self, slot: u32, index: u32, reversed: bool) -> Option<OffMeshWay> {
        let tile = self.tile(slot)?;
        let link = tile.data().off_mesh_links.get(index as usize)?;
        Some(OffMeshWay {
            tile: self.tile_ref(slot)?,
            index,
            ends: self.off_mesh_link(slot, index)?,
            bidirectional: link.bidirectional,
            enabled: *tile.off_mesh_enabled.get(index as usize)?,
            reversed,
        })
    }
}

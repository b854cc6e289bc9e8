//! The mesh: numbered slots of tiles, their generations and the edits a run may make.

mod restore;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::mesh_edit::MeshEditError;
use super::params::MeshParams;
use super::poly_ref::{MAX_SALT, MAX_SLOTS, PolyRef, TileRef};
use super::stitch::{
    LinkEnds, OffMeshEnds, links_are_bounded, restitch_all, restitch_around, steps_with,
    steps_without,
};
use super::tile::{NavTile, Tile, to_world};
use crate::error::ArgumentError;

/// A slot: its generation, and the tile in it.
#[derive(Clone, Debug)]
struct Slot {
    salt: u32,
    tile: Option<Tile>,
}

/// A tiled navigation mesh for one agent class.
///
/// Slots are reused lowest first and keep a generation that advances when their tile goes, so an
/// old reference is refused even when an identical tile stands there again. Cloning copies the
/// run-time values and shares the tiles.
#[derive(Clone, Debug)]
pub struct TiledMesh {
    params: MeshParams,
    fingerprint: [u8; 16],
    slots: Vec<Slot>,
    free: BTreeSet<u32>,
    /// Slots of each tile column, by ascending layer.
    columns: BTreeMap<(i32, i32), Vec<u32>>,
    link_ends: LinkEnds,
    edit_count: u64,
    revision: u64,
}

/// A revision not given out before, from 1 on.
fn next_revision() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl TiledMesh {
    /// An empty mesh.
    ///
    /// # Errors
    /// Names the parameter that is out of range.
    pub fn new(params: MeshParams) -> Result<Self, ArgumentError> {
        params.validate()?;
        Ok(Self {
            fingerprint: params.fingerprint(),
            params,
            slots: Vec::new(),
            free: BTreeSet::new(),
            columns: BTreeMap::new(),
            link_ends: LinkEnds::default(),
            edit_count: 0,
            revision: next_revision(),
        })
    }

    /// The parameters.
    #[must_use]
    pub fn params(&self) -> &MeshParams {
        &self.params
    }

    /// Fingerprint every tile of the mesh carries.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 16] {
        self.fingerprint
    }

    /// Number of slots, free ones included.
    #[inline]
    #[must_use]
    pub fn slot_count(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Number of tiles.
    #[must_use]
    pub fn tile_count(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Number of polygons of all tiles.
    #[must_use]
    pub fn poly_count(&self) -> usize {
        self.tiles().map(|(_, tile)| tile.poly_count()).sum()
    }

    /// Counts every change that can alter an answer: tiles, polygon values, link switches,
    /// restores. Caches compare it to know that nothing changed.
    #[inline]
    #[must_use]
    pub fn edit_count(&self) -> u64 {
        self.edit_count
    }

    /// A number that no other content of any mesh in this process has: two meshes of one revision are
    /// the same, or copies of each other. For caches of what can be computed again; it differs from
    /// run to run and is never saved.
    #[inline]
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Counts a change.
    fn edited(&mut self) {
        self.edit_count += 1;
        self.revision = next_revision();
    }

    /// The tile in a slot.
    #[inline]
    #[must_use]
    pub fn tile(&self, slot: u32) -> Option<&Tile> {
        self.slots.get(slot as usize)?.tile.as_ref()
    }

    pub(super) fn tile_mut(&mut self, slot: u32) -> Option<&mut Tile> {
        self.slots.get_mut(slot as usize)?.tile.as_mut()
    }

    /// Generation of a slot.
    #[inline]
    #[must_use]
    pub fn slot_salt(&self, slot: u32) -> Option<u32> {
        self.slots.get(slot as usize).map(|slot| slot.salt)
    }

    /// Slots that hold a tile, ascending.
    pub fn occupied_slots(&self) -> impl Iterator<Item = u32> + '_ {
        self.tiles().map(|(slot, _)| slot)
    }

    /// Tiles with their slots, ascending.
    pub fn tiles(&self) -> impl Iterator<Item = (u32, &Tile)> + '_ {
        self.slots
            .iter()
            .enumerate()
            .filter_map(|(i, slot)| Some((i as u32, slot.tile.as_ref()?)))
    }

    /// Derives now what tiles derive when a search first asks for it: world positions, trees, lookup grids,
    /// what lies over what. For hosts that would rather wait here than in the first searches of each tile;
    /// results are the same. It takes several times as long as reading the mesh did.
    pub fn derive_lookups(&self) {
        self.tiles().for_each(|(_, tile)| tile.derive_lookups());
    }

    /// Slots of a tile column, by ascending layer.
    #[inline]
    #[must_use]
    pub fn column(&self, x: i32, z: i32) -> &[u32] {
        self.columns.get(&(x, z)).map_or(&[], Vec::as_slice)
    }

    /// The tile columns of one x and a range of z that hold tiles: position and slots, by z.
    pub fn columns_along(
        &self,
        x: i32,
        z: RangeInclusive<i32>,
    ) -> impl Iterator<Item = ((i32, i32), &[u32])> {
        // A range from above to below is empty; the map would refuse it.
        let found =
            (z.start() <= z.end()).then(|| self.columns.range((x, *z.start())..=(x, *z.end())));
        let columns = found.into_iter().flatten();
        columns.map(|(&at, slots)| (at, slots.as_slice()))
    }

    /// The slot of the tile at a position.
    #[must_use]
    pub fn tile_slot_at(&self, x: i32, z: i32, layer: i32) -> Option<u32> {
        self.column(x, z).iter().copied().find(|&slot| {
            self.tile(slot)
                .is_some_and(|tile| tile.data().layer == layer)
        })
    }

    /// The current reference of a slot's tile.
    #[must_use]
    pub fn tile_ref(&self, slot: u32) -> Option<TileRef> {
        self.tile(slot)?;
        Some(TileRef {
            salt: self.slot_salt(slot)?,
            slot,
        })
    }

    /// The current reference of a polygon; [`PolyRef::INVALID`] for a slot that does not exist.
    /// The polygon index is not checked.
    #[inline]
    #[must_use]
    pub fn poly_ref(&self, slot: u32, poly: u32) -> PolyRef {
        self.slots.get(slot as usize).map_or(PolyRef::INVALID, |s| {
            PolyRef::from_parts(s.salt, slot, poly)
        })
    }

    /// The tile and polygon index a reference names, when it is not stale. Constant time.
    #[inline]
    #[must_use]
    pub fn resolve(&self, poly: PolyRef) -> Option<(&Tile, usize)> {
        let slot = self.slots.get(poly.slot() as usize)?;
        let tile = slot.tile.as_ref()?;
        let index = poly.poly() as usize;
        (slot.salt == poly.salt() && index < tile.poly_count()).then_some((tile, index))
    }

    /// An off-mesh link of the tile in `slot`, in world coordinates.
    #[must_use]
    pub fn off_mesh_link(&self, slot: u32, index: u32) -> Option<OffMeshEnds> {
        let tile = self.tile(slot)?;
        let link = tile.data().off_mesh_links.get(index as usize)?;
        Some(OffMeshEnds {
            start: to_world(tile.origin, link.start),
            end: to_world(tile.origin, link.end),
            area: link.area,
            flags: link.flags,
            user_id: link.user_id,
        })
    }

    /// Whether any tile carries off-mesh links.
    #[must_use]
    pub fn has_off_mesh_links(&self) -> bool {
        !self.link_ends.is_empty()
    }

    pub(super) fn link_ends(&self) -> &LinkEnds {
        &self.link_ends
    }

    /// Adds a tile in the lowest free slot and stitches around it.
    ///
    /// # Errors
    /// The position is taken, the tile was built for another mesh, its portals lie on top of each
    /// other without measure, or no slot is left.
    pub fn add_tile(&mut self, tile: impl Into<Arc<NavTile>>) -> Result<TileRef, MeshEditError> {
        self.add(Tile::new(tile.into()))
    }

    /// [`add_tile`](Self::add_tile) of a tile taken from a mesh, which keeps its current areas, flags
    /// and link switches. What it was built of stays what it was: its content id is the same, and a
    /// snapshot holds the edits as edits. (`tile.built().clone()` adds it as built.)
    ///
    /// # Errors
    /// As `add_tile`, or a copy whose public columns were given another length or an area above 63.
    pub fn add_tile_copy(&mut self, tile: &Tile) -> Result<TileRef, MeshEditError> {
        if !tile.is_sound() {
            let (x, z, layer) = position(tile);
            return Err(MeshEditError::Copy { x, z, layer });
        }
        self.add(Tile::copy_of(tile))
    }

    fn add(&mut self, tile: Tile) -> Result<TileRef, MeshEditError> {
        let (x, z, _) = position(&tile);
        let added = self.place(tile)?;
        self.edited();
        restitch_around(self, x, z, self.has_off_mesh_links());
        Ok(added)
    }

    /// Adds many tiles in order and stitches once: the same mesh as adding them one by one.
    ///
    /// # Errors
    /// As [`add_tile`](Self::add_tile); the tiles before the refused one stay.
    pub fn add_tiles<T: Into<Arc<NavTile>>>(
        &mut self,
        tiles: impl IntoIterator<Item = T>,
    ) -> Result<(), MeshEditError> {
        let mut outcome = Ok(());
        for tile in tiles {
            outcome = self.place(Tile::new(tile.into())).map(|_| ());
            if outcome.is_err() {
                break;
            }
            self.edited();
        }
        restitch_all(self);
        outcome
    }

    /// Removes a tile. References into it become stale for good.
    ///
    /// # Errors
    /// The reference is stale.
    pub fn remove_tile(&mut self, tile: TileRef) -> Result<(), MeshEditError> {
        if self.tile_ref(tile.slot) != Some(tile) {
            return Err(MeshEditError::Stale);
        }
        let had_links = self.has_off_mesh_links();
        let steps = steps_without(self, tile.slot);
        let slot = &mut self.slots[tile.slot as usize];
        let Some(old) = slot.tile.take() else {
            return Err(MeshEditError::Stale);
        };
        slot.salt = next_salt(slot.salt);
        let (x, z) = (old.data().tile_x, old.data().tile_z);
        if let Some(column) = self.columns.get_mut(&(x, z)) {
            column.retain(|&other| other != tile.slot);
            if column.is_empty() {
                self.columns.remove(&(x, z));
            }
        }
        self.free.insert(tile.slot);
        self.link_ends.leave(&self.params, tile.slot, &old, steps);
        self.edited();
        restitch_around(self, x, z, had_links);
        Ok(())
    }

    /// Puts `tile` in place of the tile at its position: same slot, next generation, edits reset.
    ///
    /// # Errors
    /// No tile stands there, the tile was built for another mesh, or its portals lie on top of each
    /// other without measure.
    pub fn replace_tile(
        &mut self,
        tile: impl Into<Arc<NavTile>>,
    ) -> Result<TileRef, MeshEditError> {
        let tile: Arc<NavTile> = tile.into();
        let (x, z, layer) = position(&tile);
        if tile.fingerprint() != self.fingerprint {
            return Err(MeshEditError::Fingerprint { x, z, layer });
        }
        let Some(slot) = self.tile_slot_at(x, z, layer) else {
            return Err(MeshEditError::NotThere { x, z, layer });
        };
        if !links_are_bounded(self, (x, z), Some(&tile), Some(slot)) {
            return Err(MeshEditError::TooManyLinks { x, z, layer });
        }
        let Some(steps) = steps_with(self, &tile, Some(slot)) else {
            return Err(MeshEditError::TooManyLinks { x, z, layer });
        };
        let had_links = self.has_off_mesh_links();
        let entry = &mut self.slots[slot as usize];
        let old = entry.tile.replace(Tile::new(tile.clone()));
        entry.salt = next_salt(entry.salt);
        let salt = entry.salt;
        if let Some(old) = old {
            self.link_ends.leave(&self.params, slot, &old, steps);
        }
        self.link_ends.enter(&self.params, slot, &tile, steps);
        self.edited();
        restitch_around(self, x, z, had_links || self.has_off_mesh_links());
        Ok(TileRef { salt, slot })
    }

    /// Changes a polygon's area id until the tile is replaced.
    ///
    /// # Errors
    /// The reference is stale or the area is above 63.
    pub fn set_poly_area(&mut self, poly: PolyRef, area: u8) -> Result<(), MeshEditError> {
        if area > 63 {
            return Err(MeshEditError::Area { area });
        }
        let (slot, index) = self.locate(poly)?;
        if let Some(tile) = self.tile_mut(slot) {
            tile.poly_area[index] = area;
        }
        self.edited();
        Ok(())
    }

    /// Changes a polygon's flags until the tile is replaced.
    ///
    /// # Errors
    /// The reference is stale.
    pub fn set_poly_flags(&mut self, poly: PolyRef, flags: u16) -> Result<(), MeshEditError> {
        let (slot, index) = self.locate(poly)?;
        if let Some(tile) = self.tile_mut(slot) {
            tile.poly_flags[index] = flags;
        }
        self.edited();
        Ok(())
    }

    /// Switches an off-mesh link on or off and stitches again.
    ///
    /// # Errors
    /// The tile is gone or has no such link.
    pub fn set_off_mesh_link_enabled(
        &mut self,
        tile: TileRef,
        index: u32,
        enabled: bool,
    ) -> Result<(), MeshEditError> {
        if self.tile_ref(tile.slot) != Some(tile) {
            return Err(MeshEditError::Stale);
        }
        let switch = self
            .tile_mut(tile.slot)
            .and_then(|tile| tile.off_mesh_enabled.get_mut(index as usize));
        let Some(switch) = switch else {
            return Err(MeshEditError::Stale);
        };
        if *switch != enabled {
            *switch = enabled;
            self.edited();
            restitch_all(self);
        }
        Ok(())
    }

    fn locate(&self, poly: PolyRef) -> Result<(u32, usize), MeshEditError> {
        let (_, index) = self.resolve(poly).ok_or(MeshEditError::Stale)?;
        Ok((poly.slot(), index))
    }

    fn place(&mut self, tile: Tile) -> Result<TileRef, MeshEditError> {
        let (x, z, layer) = position(&tile);
        if tile.fingerprint() != self.fingerprint {
            return Err(MeshEditError::Fingerprint { x, z, layer });
        }
        if self.tile_slot_at(x, z, layer).is_some() {
            return Err(MeshEditError::Occupied { x, z, layer });
        }
        if !links_are_bounded(self, (x, z), Some(&tile), None) {
            return Err(MeshEditError::TooManyLinks { x, z, layer });
        }
        let Some(steps) = steps_with(self, &tile, None) else {
            return Err(MeshEditError::TooManyLinks { x, z, layer });
        };
        let slot = match self.free.pop_first() {
            Some(slot) => slot,
            None if self.slot_count() < MAX_SLOTS => {
                self.slots.push(Slot {
                    salt: 1,
                    tile: None,
                });
                self.slot_count() - 1
            }
            None => return Err(MeshEditError::Full),
        };
        self.occupy(slot, tile, steps);
        Ok(TileRef {
            salt: self.slots[slot as usize].salt,
            slot,
        })
    }

    /// Puts a tile into a slot that holds none and enters it in its column, its links by their ends.
    fn occupy(&mut self, slot: u32, tile: Tile, steps: usize) {
        let (x, z, layer) = position(&tile);
        self.link_ends.enter(&self.params, slot, &tile, steps);
        self.slots[slot as usize].tile = Some(tile);
        let layer_of = |slots: &[Slot], slot: u32| {
            slots[slot as usize]
                .tile
                .as_ref()
                .map_or(0, |t| t.data().layer)
        };
        let column = self.columns.entry((x, z)).or_default();
        let at = column.partition_point(|&other| layer_of(&self.slots, other) < layer);
        column.insert(at, slot);
    }
}

fn position(tile: &NavTile) -> (i32, i32, i32) {
    let data = tile.data();
    (data.tile_x, data.tile_z, data.layer)
}

fn next_salt(salt: u32) -> u32 {
    if salt >= MAX_SALT { 1 } else { salt + 1 }
}

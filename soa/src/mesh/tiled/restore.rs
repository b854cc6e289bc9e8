//! A mesh from the slots a reader found, checked as a whole.

use std::collections::{BTreeMap, BTreeSet};

use super::{Slot, TiledMesh, next_revision, position};
use crate::mesh::mesh_edit::MeshEditError;
use crate::mesh::params::MeshParams;
use crate::mesh::stitch::{LinkEnds, links_are_bounded, restitch_all, steps_with};
use crate::mesh::tile::Tile;

impl TiledMesh {
    /// The state a reader restores: slots exactly as they were, with run-time values.
    pub(in crate::mesh) fn from_slots(
        params: MeshParams,
        slots: Vec<(u32, Option<Tile>)>,
    ) -> Result<Self, (u32, MeshEditError)> {
        let fingerprint = params.fingerprint();
        let mut mesh = Self {
            fingerprint,
            params,
            slots: slots
                .iter()
                .map(|&(salt, _)| Slot { salt, tile: None })
                .collect(),
            free: BTreeSet::new(),
            columns: BTreeMap::new(),
            link_ends: LinkEnds::default(),
            edit_count: 0,
            revision: next_revision(),
        };
        for (slot, (_, tile)) in slots.into_iter().enumerate() {
            let slot = slot as u32;
            let Some(tile) = tile else {
                mesh.free.insert(slot);
                continue;
            };
            let (x, z, layer) = position(&tile);
            if tile.fingerprint() != fingerprint {
                return Err((slot, MeshEditError::Fingerprint { x, z, layer }));
            }
            if mesh.tile_slot_at(x, z, layer).is_some() {
                return Err((slot, MeshEditError::Occupied { x, z, layer }));
            }
            let Some(steps) = steps_with(&mesh, &tile, None) else {
                return Err((slot, MeshEditError::TooManyLinks { x, z, layer }));
            };
            mesh.occupy(slot, tile, steps);
        }
        for (&(x, z), column) in &mesh.columns {
            if !links_are_bounded(&mesh, (x, z), None, None) {
                let slot = column.first().copied().unwrap_or(0);
                let layer = mesh.tile(slot).map_or(0, |tile| tile.data().layer);
                return Err((slot, MeshEditError::TooManyLinks { x, z, layer }));
            }
        }
        restitch_all(&mut mesh);
        Ok(mesh)
    }

    /// Takes over another mesh's state in place. The edit count moves past both.
    pub(in crate::mesh) fn replace_state(&mut self, other: Self) {
        let edit_count = self.edit_count.max(other.edit_count) + 1;
        *self = Self {
            edit_count,
            revision: next_revision(),
            ..other
        };
    }
}

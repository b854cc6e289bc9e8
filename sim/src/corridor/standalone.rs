//! A corridor that owns its storage, for a caller without a crowd.

use super::{CAPACITY_RANGE, CorridorRow, state};
use throng_query::mesh::{Filter, find_nearest_poly};
use throng_soa::agents::CorridorHead;
use throng_soa::bytes::{Reader, Writer};
use throng_soa::error::{ArgumentError, DataError};
use throng_soa::mesh::{PolyRef, TiledMesh};
use throng_soa::world::DVec3;

/// A path corridor of its own. [`row`](Self::row) lends it to the functions of this module.
#[derive(Clone, Debug, PartialEq)]
pub struct PathCorridor {
    head: CorridorHead,
    path: Vec<PolyRef>,
}

impl PathCorridor {
    /// An empty corridor that holds up to `capacity` polygons.
    ///
    /// # Errors
    /// `capacity` is not 2 to 4,096.
    pub fn new(capacity: usize) -> Result<Self, ArgumentError> {
        if !(CAPACITY_RANGE.0..=CAPACITY_RANGE.1).contains(&capacity) {
            return Err(ArgumentError::new("capacity", capacity, "2 to 4096"));
        }
        Ok(Self {
            head: CorridorHead {
                capacity: capacity as u32,
                ..CorridorHead::default()
            },
            path: vec![PolyRef::INVALID; capacity],
        })
    }

    /// Puts the agent on the accepted polygon nearest to `position` within `extents`. False when
    /// there is none; then nothing changes.
    ///
    /// # Errors
    /// The position or the extents are outside their range.
    pub fn place<F: Filter + ?Sized>(
        &mut self,
        mesh: &TiledMesh,
        filter: &F,
        position: DVec3,
        extents: DVec3,
    ) -> Result<bool, ArgumentError> {
        let nearest = find_nearest_poly(mesh, position, extents, filter)?;
        if !nearest.poly.is_valid() {
            return Ok(false);
        }
        self.row().reset(nearest.poly, nearest.point);
        Ok(true)
    }

    /// The corridor as a row.
    pub fn row(&mut self) -> CorridorRow<'_> {
        CorridorRow {
            head: &mut self.head,
            path: &mut self.path,
            memory: None,
        }
    }

    /// Position, target and flags.
    #[must_use]
    pub fn head(&self) -> &CorridorHead {
        &self.head
    }

    /// The polygons, the agent's first.
    #[must_use]
    pub fn polys(&self) -> &[PolyRef] {
        &self.path[..self.head.count as usize]
    }

    /// The corridor's state: equal states, equal bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new(Vec::with_capacity(66 + 8 * self.polys().len()));
        state::write(&mut writer, &self.head, self.polys());
        writer.into_sink()
    }

    /// Takes over a saved state; on an error nothing changes.
    ///
    /// # Errors
    /// Truncated or trailing bytes, another version, a capacity other than this corridor's, a
    /// coordinate outside the bound.
    pub fn read(&mut self, bytes: &[u8]) -> Result<(), DataError> {
        let mut reader = Reader::new("corridor state", bytes);
        let capacity = self.path.len();
        let mut fresh = Self {
            head: CorridorHead::default(),
            path: vec![PolyRef::INVALID; capacity],
        };
        state::read(&mut reader, capacity, &mut fresh.row())?;
        reader.finish()?;
        *self = fresh;
        Ok(())
    }
}

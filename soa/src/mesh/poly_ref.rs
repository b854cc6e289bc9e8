//! References to polygons and tiles that notice when their tile is gone.

use bytemuck::{Pod, Zeroable};
use core::fmt;

/// Bits of the tile slot and of the polygon index.
const PART_BITS: u32 = 20;
const PART_MASK: u64 = (1 << PART_BITS) - 1;

/// Most slots of a mesh.
pub const MAX_SLOTS: u32 = (1 << PART_BITS) - 1;
/// Most polygons of a tile.
pub const MAX_POLYS: u32 = (1 << PART_BITS) - 1;
/// Largest generation of a slot; the next one is 1 again (0 is never issued).
pub const MAX_SALT: u32 = (1 << 24) - 1;

/// A polygon of a mesh: generation of the slot (24 bits), slot (20), polygon (20), from the top.
///
/// A reference is valid while its slot holds a tile of that generation with that polygon. The
/// zero value is [`PolyRef::INVALID`] and never names anything. Order and equality are those of
/// the bits.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct PolyRef(u64);

impl PolyRef {
    /// Names nothing.
    pub const INVALID: Self = Self(0);

    /// A reference from its parts; bits beyond each part's width are cut.
    #[inline]
    #[must_use]
    pub const fn from_parts(salt: u32, slot: u32, poly: u32) -> Self {
        Self(
            ((salt as u64) << (2 * PART_BITS))
                | ((slot as u64 & PART_MASK) << PART_BITS)
                | (poly as u64 & PART_MASK),
        )
    }

    /// A reference from saved bits. Any value is safe: an unknown one resolves to nothing.
    #[inline]
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The bits to save.
    #[inline]
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Generation of the slot when the reference was made.
    #[inline]
    #[must_use]
    pub const fn salt(self) -> u32 {
        (self.0 >> (2 * PART_BITS)) as u32
    }

    /// Slot of the tile.
    #[inline]
    #[must_use]
    pub const fn slot(self) -> u32 {
        ((self.0 >> PART_BITS) & PART_MASK) as u32
    }

    /// Polygon index inside the tile.
    #[inline]
    #[must_use]
    pub const fn poly(self) -> u32 {
        (self.0 & PART_MASK) as u32
    }

    /// Whether the reference could name something (its generation is not 0). Ask the mesh whether
    /// it still does.
    #[inline]
    #[must_use]
    pub const fn is_valid(self) -> bool {
        self.salt() != 0
    }
}

impl fmt::Debug for PolyRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_valid() {
            write!(f, "poly {}:{}.{}", self.slot(), self.poly(), self.salt())
        } else {
            f.write_str("no poly")
        }
    }
}

/// A tile of a mesh: its slot and the slot's generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TileRef {
    /// Generation; 0 names nothing.
    pub salt: u32,
    /// Slot.
    pub slot: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back_and_zero_is_invalid() {
        let poly = PolyRef::from_parts(MAX_SALT, MAX_SLOTS, MAX_POLYS - 1);
        assert_eq!(
            (poly.salt(), poly.slot(), poly.poly()),
            (MAX_SALT, MAX_SLOTS, MAX_POLYS - 1)
        );
        assert_eq!(PolyRef::from_parts(1, 2, 3).bits(), 0x0000_0100_0020_0003);
        assert!(!PolyRef::default().is_valid());
    }
}

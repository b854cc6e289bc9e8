//! Hashes of bytes: FNV-1a for state fingerprints, SHA-256 for content ids.
//!
//! FNV-1a, 64 bit, as published by Fowler, Noll and Vo (offset basis `CBF29CE484222325`, prime
//! `100000001B3`). SHA-256 is FIPS 180-4 through the `sha2` crate, whose software and hardware
//! paths give the same digest.

use sha2::{Digest, Sha256};

const BASIS: u64 = 0xCBF2_9CE4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01B3;

/// A running FNV-1a 64 hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fnv1a64 {
    hash: u64,
}

impl Default for Fnv1a64 {
    fn default() -> Self {
        Self { hash: BASIS }
    }
}

impl Fnv1a64 {
    /// The hash of no bytes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in more bytes, one multiplication a byte.
    #[inline]
    pub fn update(&mut self, bytes: &[u8]) {
        let mut hash = self.hash;
        for &byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(PRIME);
        }
        self.hash = hash;
    }

    /// The hash of everything taken in so far.
    #[must_use]
    pub fn finish(self) -> u64 {
        self.hash
    }
}

/// FNV-1a 64 of `bytes`.
#[must_use]
pub fn fnv1a64(bytes: &[u8]) -> u64 {
    let mut hash = Fnv1a64::new();
    hash.update(bytes);
    hash.finish()
}

/// SHA-256 of `bytes`.
#[must_use]
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_vectors() {
        assert_eq!(fnv1a64(b""), 0xCBF2_9CE4_8422_2325);
        assert_eq!(fnv1a64(b"a"), 0xAF63_DC4C_8601_EC8C);
        assert_eq!(fnv1a64(b"foobar"), 0x8594_4171_F739_67E8);
        let abc = sha256(b"abc");
        assert_eq!(abc[..4], [0xBA, 0x78, 0x16, 0xBF]);
        assert_eq!(abc[28..], [0xF2, 0x00, 0x15, 0xAD]);
    }
}

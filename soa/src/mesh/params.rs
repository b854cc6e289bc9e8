//! Mesh parameters: the tile grid and the agent class, and the fingerprint of both.

use crate::bytes::{Reader, Sink, Writer};
use crate::digest::sha256;
use crate::error::{ArgumentError, DataError, DataErrorKind};
use crate::world::{DVec3, check_coordinate};

/// Largest layer of a tile.
pub const MAX_LAYER: i32 = 1023;
/// Most cells along a tile; keeps a tile-local float32 to a 512th of a cell.
const MAX_TILE_CELLS: f64 = 8192.0;
/// Farthest a tile-local coordinate may reach, in cells.
const MAX_EXTENT_CELLS: f64 = 16384.0;
/// The version that the mesh layout, and so the fingerprint, carries.
pub(crate) const FORMAT_VERSION: u16 = 2;

/// What ties the tiles of one mesh together. Two meshes whose parameters are equal bit for bit
/// take each other's tiles; any other pair refuses them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshParams {
    /// World position of the corner of tile (0, 0). Y is informative.
    pub origin: DVec3,
    /// Side of a tile, world units; exactly representable as float32, at most 8192 cells.
    pub tile_size: f64,
    /// Side of a cell, world units.
    pub cell_size: f64,
    /// Most vertices of a polygon, 3 to 16.
    pub max_verts_per_poly: u16,
    /// Highest step an agent takes, world units; also the height tolerance of stitching.
    pub walkable_climb: f32,
    /// Agent radius, world units.
    pub agent_radius: f32,
    /// Agent height, world units.
    pub agent_height: f32,
    /// Steepest ground, degrees from level, 0 to 90.
    pub agent_max_slope_degrees: f32,
    /// Digest of the builder's other settings; 0 for parameters made by hand.
    pub settings_digest: u64,
}

impl MeshParams {
    /// Checks the parameters as a whole.
    ///
    /// # Errors
    /// Names the field, its value and the allowed range.
    pub fn validate(&self) -> Result<(), ArgumentError> {
        check_coordinate("origin.x", self.origin.x)?;
        check_coordinate("origin.y", self.origin.y)?;
        check_coordinate("origin.z", self.origin.z)?;
        let positive = |name: &str, value: f64| {
            if value.is_finite() && value > 0.0 {
                return Ok(());
            }
            Err(ArgumentError::new(name, value, "finite and above 0"))
        };
        positive("cell_size", self.cell_size)?;
        positive("tile_size", self.tile_size)?;
        let nearest = f64::from(self.tile_size as f32);
        if nearest != self.tile_size {
            let mut allowed = "exactly representable as a float32".to_owned();
            // What rounds to 0 has no neighbour that a width may be.
            if nearest > 0.0 {
                allowed += &format!("; the nearest is {nearest}");
            }
            return Err(ArgumentError::new("tile_size", self.tile_size, allowed));
        }
        if self.tile_size > MAX_TILE_CELLS * self.cell_size {
            return Err(ArgumentError::new(
                "tile_size",
                self.tile_size,
                format!("at most 8192 cells of {}", self.cell_size),
            ));
        }
        if !(3..=16).contains(&self.max_verts_per_poly) {
            return Err(ArgumentError::new(
                "max_verts_per_poly",
                self.max_verts_per_poly,
                "3 to 16",
            ));
        }
        for (name, value) in [
            ("walkable_climb", self.walkable_climb),
            ("agent_radius", self.agent_radius),
            ("agent_height", self.agent_height),
        ] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(ArgumentError::new(name, value, "finite and not negative"));
            }
        }
        if !(0.0..=90.0).contains(&self.agent_max_slope_degrees) {
            return Err(ArgumentError::new(
                "agent_max_slope_degrees",
                self.agent_max_slope_degrees,
                "0 to 90",
            ));
        }
        Ok(())
    }

    /// World X of the low edge of tile column `tile_x`: a product, then a sum.
    #[inline]
    #[must_use]
    pub fn tile_origin_x(&self, tile_x: i32) -> f64 {
        self.origin.x + f64::from(tile_x) * self.tile_size
    }

    /// World Z of the low edge of tile row `tile_z`.
    #[inline]
    #[must_use]
    pub fn tile_origin_z(&self, tile_z: i32) -> f64 {
        self.origin.z + f64::from(tile_z) * self.tile_size
    }

    /// Column and row of the tile over a world position. A line between tiles is part of the one on
    /// its high side. Far positions saturate.
    #[inline]
    #[must_use]
    pub fn world_to_tile(&self, x: f64, z: f64) -> (i32, i32) {
        (
            ((x - self.origin.x) / self.tile_size).floor() as i32,
            ((z - self.origin.z) / self.tile_size).floor() as i32,
        )
    }

    /// Farthest a tile-local height, or the end of an off-mesh link, may be from the tile's
    /// origin, world units.
    #[inline]
    #[must_use]
    pub fn max_local_extent(&self) -> f64 {
        MAX_EXTENT_CELLS * self.cell_size
    }

    /// Identity of everything that changes a tile's content: the first 16 bytes of SHA-256 over a
    /// tag, the format version and the parameter block.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 16] {
        let mut writer = Writer::new(Vec::with_capacity(74));
        writer.bytes(b"ONFP");
        writer.u16(FORMAT_VERSION);
        self.write(&mut writer);
        let digest = sha256(&writer.into_sink());
        let mut fingerprint = [0; 16];
        fingerprint.copy_from_slice(&digest[..16]);
        fingerprint
    }

    /// Whether two parameter sets are the same bits (zero and minus zero differ).
    #[must_use]
    pub fn same_bits(&self, other: &Self) -> bool {
        let block = |params: &Self| {
            let mut writer = Writer::new(Vec::with_capacity(68));
            params.write(&mut writer);
            writer.into_sink()
        };
        block(self) == block(other)
    }

    /// Appends the 68-byte parameter block.
    pub fn write<S: Sink>(&self, writer: &mut Writer<S>) {
        writer.point(self.origin);
        writer.f64(self.tile_size);
        writer.f64(self.cell_size);
        writer.u16(self.max_verts_per_poly);
        writer.u16(0);
        writer.f32(self.walkable_climb);
        writer.f32(self.agent_radius);
        writer.f32(self.agent_height);
        writer.f32(self.agent_max_slope_degrees);
        writer.u64(self.settings_digest);
    }

    /// Reads and validates a parameter block.
    ///
    /// # Errors
    /// Truncated, a reserved bit set, or a value outside its range.
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, DataError> {
        let at = reader.offset();
        let origin = DVec3::new(
            reader.f64("origin x")?,
            reader.f64("origin y")?,
            reader.f64("origin z")?,
        );
        let tile_size = reader.f64("tile size")?;
        let cell_size = reader.f64("cell size")?;
        let max_verts_per_poly = reader.u16("max vertices per polygon")?;
        reader.zero_u16("reserved")?;
        let params = Self {
            origin,
            tile_size,
            cell_size,
            max_verts_per_poly,
            walkable_climb: reader.f32("walkable climb")?,
            agent_radius: reader.f32("agent radius")?,
            agent_height: reader.f32("agent height")?,
            agent_max_slope_degrees: reader.f32("agent max slope")?,
            settings_digest: reader.u64("settings digest")?,
        };
        match params.validate() {
            Ok(()) => Ok(params),
            Err(error) => {
                Err(reader.error_at(at, "parameters", DataErrorKind::Value, error.to_string()))
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn params() -> MeshParams {
        MeshParams {
            origin: DVec3::ZERO,
            tile_size: 64.0,
            cell_size: 0.3,
            max_verts_per_poly: 6,
            walkable_climb: 0.9,
            agent_radius: 0.6,
            agent_height: 2.0,
            agent_max_slope_degrees: 45.0,
            settings_digest: 0,
        }
    }

    #[test]
    fn each_rule_names_its_field() {
        params().validate().unwrap();
        let cases: [(&str, MeshParams); 8] = [
            (
                "origin.x",
                MeshParams {
                    origin: DVec3::new(f64::NAN, 0.0, 0.0),
                    ..params()
                },
            ),
            (
                "cell_size",
                MeshParams {
                    cell_size: 0.0,
                    ..params()
                },
            ),
            (
                "tile_size",
                MeshParams {
                    tile_size: 0.1,
                    ..params()
                },
            ),
            (
                "tile_size",
                MeshParams {
                    tile_size: 4096.0,
                    ..params()
                },
            ),
            (
                "max_verts_per_poly",
                MeshParams {
                    max_verts_per_poly: 2,
                    ..params()
                },
            ),
            (
                "walkable_climb",
                MeshParams {
                    walkable_climb: -1.0,
                    ..params()
                },
            ),
            (
                "agent_height",
                MeshParams {
                    agent_height: f32::INFINITY,
                    ..params()
                },
            ),
            (
                "agent_max_slope_degrees",
                MeshParams {
                    agent_max_slope_degrees: 90.5,
                    ..params()
                },
            ),
        ];
        for (field, bad) in cases {
            assert_eq!(bad.validate().unwrap_err().argument, field);
        }
    }

    #[test]
    fn the_block_is_68_bytes_and_reads_back() {
        let mut writer = Writer::new(Vec::new());
        params().write(&mut writer);
        let bytes = writer.into_sink();
        assert_eq!(bytes.len(), 68);
        let read = MeshParams::read(&mut Reader::new("test", &bytes)).unwrap();
        assert!(read.same_bits(&params()));
        assert_ne!(
            params().fingerprint(),
            MeshParams {
                settings_digest: 1,
                ..params()
            }
            .fingerprint()
        );
    }

    #[test]
    fn a_point_on_a_line_belongs_to_the_tile_above_it() {
        assert_eq!(params().world_to_tile(64.0, -0.001), (1, -1));
        assert_eq!(params().world_to_tile(0.0, 63.999), (0, 0));
    }
}

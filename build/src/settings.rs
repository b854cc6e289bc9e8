//! Build settings: what agent a mesh is for and how finely the level is read.
//!
//! Everything is in world units unless a field says cells. The struct is plain data with three
//! presets; it is checked where it is used, and [`NavSettings::to_params`] turns it into the
//! parameter block stored with a mesh, including the digest of every setting that shapes a tile
//! without being a parameter itself.

use throng_soa::mesh::MeshParams;
use throng_soa::world::{check_coordinate, check_point};
use throng_soa::{ArgumentError, DVec3, digest};

/// How walkable cells are grouped into regions before outlines are traced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i32)]
pub enum PartitionType {
    /// Basins of the distance to the nearest wall: few, well-shaped regions.
    #[default]
    Watershed = 0,
    /// Row sweeps: fast, without overlaps inside a region, sometimes long and thin.
    Monotone = 1,
    /// One region per height layer: overlapping floors become tile layers. Cheapest to rebuild.
    Layers = 2,
}

impl PartitionType {
    /// The partition with this stored number, if there is one.
    #[must_use]
    pub fn from_i32(value: i32) -> Option<Self> {
        match value {
            0 => Some(Self::Watershed),
            1 => Some(Self::Monotone),
            2 => Some(Self::Layers),
            _ => None,
        }
    }
}

/// A jump, ladder or teleport given by hand, in world space.
#[derive(Clone, Debug, PartialEq)]
pub struct OffMeshLinkDefinition {
    /// Where agents leave the surface.
    pub start: DVec3,
    /// Where agents arrive; may lie in another tile.
    pub end: DVec3,
    /// How far, horizontally, either end may be from the polygon it attaches to. Above 0.
    pub radius: f64,
    /// Whether the link can also be walked from end to start.
    pub bidirectional: bool,
    /// Area id of the link, 0 to 63.
    pub area: u8,
    /// Flags a filter tests, like a polygon's.
    pub flags: u16,
    /// Free for the caller. An agent's crossing gives it back through
    /// [`TiledMesh::link_of`](throng_soa::mesh::TiledMesh::link_of).
    pub user_id: u32,
}

/// Everything a build needs to know besides the geometry.
///
/// Start from a preset: `NavSettings { cell_size: 0.2, ..NavSettings::HUMANOID }`.
#[derive(Clone, Debug, PartialEq)]
pub struct NavSettings {
    /// Radius of the agent; walls are grown by it. 0 or more.
    pub agent_radius: f64,
    /// Height of the agent; lower gaps are not walkable. Above 0.
    pub agent_height: f64,
    /// Highest step the agent takes. 0 or more.
    pub walkable_climb: f64,
    /// Steepest walkable slope, 0 to 90 degrees.
    pub agent_max_slope_degrees: f64,
    /// Width of a cell of the sampling grid.
    pub cell_size: f64,
    /// Width of a tile; exactly representable as `f32`, at most 8192 cells. 19.2 is not: the
    /// nearest value that is, `f64::from(19.2_f32)`, is 19.200000762939453.
    pub tile_size: f64,
    /// Height of a row of the sampling grid.
    pub cell_height: f64,
    /// World X of the tile grid's corner.
    pub origin_x: f64,
    /// World Z of the tile grid's corner.
    pub origin_z: f64,
    /// Most vertices of a polygon, 3 to 16.
    pub max_verts_per_poly: i32,
    /// World Y of a level that is a plane. The format keeps it for flat levels; the voxel builder,
    /// which is the one there is, does not use it.
    pub floor_y: f64,
    /// Area id of ordinary walkable ground, 0 to 63.
    pub area: u8,
    /// Flags of every polygon.
    pub flags: u16,
    /// Fraction bits of the grid the corners of a flat level are snapped to; `None` leaves the choice
    /// to the builder. Kept in the format and unused by the voxel builder, like `floor_y`.
    pub snap_bits: Option<i32>,
    /// How cells are grouped into regions.
    pub partition: PartitionType,
    /// Regions with fewer cells than this and no neighbour are dropped. Cells (an area).
    pub min_region_area: i32,
    /// Regions with fewer cells than this join a neighbour. Cells (an area).
    pub merge_region_area: i32,
    /// How far an outline may stray from the cells' edges. Cells.
    pub contour_max_error: f64,
    /// Longest wall edge of an outline before it is split; 0 never splits.
    pub max_edge_length: f64,
    /// Spacing of height samples; 0 turns height detail off.
    pub detail_sample_distance: f64,
    /// Largest height error height detail leaves at a sample.
    pub detail_max_error: f64,
    /// Links added by hand.
    pub off_mesh_links: Vec<OffMeshLinkDefinition>,
}

impl NavSettings {
    /// A person: radius 0.6, height 2, step 0.9, slope 45 degrees; cells of 0.3, tiles of 64.
    pub const HUMANOID: Self = Self::preset(0.6, 2.0, 0.9, 45.0, 0.3, 64.0);

    /// A small creature: radius 0.3, height 1, step 0.4; cells of 0.15, tiles of 32.
    pub const SMALL: Self = Self::preset(0.3, 1.0, 0.4, 45.0, 0.15, 32.0);

    /// A vehicle or giant: radius 1.5, height 4, step 1.2, slope 40; cells of 0.5, tiles of 128.
    pub const LARGE: Self = Self::preset(1.5, 4.0, 1.2, 40.0, 0.5, 128.0);

    const fn preset(
        agent_radius: f64,
        agent_height: f64,
        walkable_climb: f64,
        agent_max_slope_degrees: f64,
        cell_size: f64,
        tile_size: f64,
    ) -> Self {
        Self {
            agent_radius,
            agent_height,
            walkable_climb,
            agent_max_slope_degrees,
            cell_size,
            tile_size,
            cell_height: 0.2,
            origin_x: 0.0,
            origin_z: 0.0,
            max_verts_per_poly: 6,
            floor_y: 0.0,
            area: 0,
            flags: 1,
            snap_bits: None,
            partition: PartitionType::Watershed,
            min_region_area: 64,
            merge_region_area: 400,
            contour_max_error: 1.3,
            max_edge_length: 3.6,
            detail_sample_distance: 1.8,
            detail_max_error: 0.2,
            off_mesh_links: Vec::new(),
        }
    }

    /// Smallest and largest width or height of a cell (2^-20 and 2^20 world units).
    pub const CELL_RANGE: (f64, f64) = (1.0 / 1_048_576.0, 1_048_576.0);

    /// Largest agent radius, height and climb, edge length and sampling distance (2^20).
    pub const MAX_LENGTH: f64 = 1_048_576.0;

    /// Checks every field, the rules that tie fields together, and every link.
    ///
    /// # Errors
    /// Names the field, its value and what is allowed.
    pub fn validate(&self) -> Result<(), ArgumentError> {
        let max = Self::MAX_LENGTH;
        let (cell_min, cell_max) = Self::CELL_RANGE;
        range("agent_radius", self.agent_radius, 0.0, max)?;
        positive("agent_height", self.agent_height, max)?;
        range("walkable_climb", self.walkable_climb, 0.0, max)?;
        range(
            "agent_max_slope_degrees",
            self.agent_max_slope_degrees,
            0.0,
            90.0,
        )?;
        range("cell_size", self.cell_size, cell_min, cell_max)?;
        range("cell_height", self.cell_height, cell_min, cell_max)?;
        positive("tile_size", self.tile_size, max)?;
        check_coordinate("origin_x", self.origin_x)?;
        check_coordinate("origin_z", self.origin_z)?;
        check_coordinate("floor_y", self.floor_y)?;
        integer("max_verts_per_poly", self.max_verts_per_poly, 3, 16)?;
        integer("area", i32::from(self.area), 0, 63)?;
        if let Some(bits) = self.snap_bits {
            integer("snap_bits", bits, 0, 30)?;
        }
        integer("min_region_area", self.min_region_area, 0, 1 << 24)?;
        integer("merge_region_area", self.merge_region_area, 0, 1 << 24)?;
        range("contour_max_error", self.contour_max_error, 0.0, 65_536.0)?;
        range("max_edge_length", self.max_edge_length, 0.0, max)?;
        range(
            "detail_sample_distance",
            self.detail_sample_distance,
            0.0,
            max,
        )?;
        range("detail_max_error", self.detail_max_error, 0.0, max)?;
        for (index, link) in self.off_mesh_links.iter().enumerate() {
            link.validate(index)?;
        }
        self.params_with_digest(0).validate()
    }

    /// The parameter block of a mesh built with these settings.
    ///
    /// # Errors
    /// As [`NavSettings::validate`].
    pub fn to_params(&self) -> Result<MeshParams, ArgumentError> {
        self.validate()?;
        Ok(self.params_with_digest(self.settings_digest()))
    }

    /// The first 8 bytes, as a little-endian number, of the SHA-256 of every setting that shapes
    /// a tile but is not a field of [`MeshParams`]. Links are included.
    #[must_use]
    pub fn settings_digest(&self) -> u64 {
        let mut bytes = Vec::with_capacity(96 + 64 * self.off_mesh_links.len());
        bytes.extend_from_slice(b"ONSD");
        bytes.extend_from_slice(&self.cell_height.to_le_bytes());
        bytes.extend_from_slice(&self.snap_bits.unwrap_or(-1).to_le_bytes());
        bytes.extend_from_slice(&(self.partition as i32).to_le_bytes());
        bytes.extend_from_slice(&self.min_region_area.to_le_bytes());
        bytes.extend_from_slice(&self.merge_region_area.to_le_bytes());
        bytes.extend_from_slice(&(self.contour_max_error as f32).to_le_bytes());
        bytes.extend_from_slice(&self.max_edge_length.to_le_bytes());
        bytes.extend_from_slice(&self.detail_sample_distance.to_le_bytes());
        bytes.extend_from_slice(&self.detail_max_error.to_le_bytes());
        bytes.extend_from_slice(&self.floor_y.to_le_bytes());
        bytes.push(self.area);
        bytes.extend_from_slice(&self.flags.to_le_bytes());
        bytes.extend_from_slice(&(self.off_mesh_links.len() as u32).to_le_bytes());
        for link in &self.off_mesh_links {
            for value in [
                link.start.x,
                link.start.y,
                link.start.z,
                link.end.x,
                link.end.y,
                link.end.z,
                link.radius,
            ] {
                bytes.extend_from_slice(&value.to_le_bytes());
            }
            bytes.push(u8::from(link.bidirectional));
            bytes.push(link.area);
            bytes.extend_from_slice(&link.flags.to_le_bytes());
            bytes.extend_from_slice(&link.user_id.to_le_bytes());
        }
        let hash = digest::sha256(&bytes);
        let mut first = [0_u8; 8];
        first.copy_from_slice(&hash[..8]);
        u64::from_le_bytes(first)
    }

    fn params_with_digest(&self, settings_digest: u64) -> MeshParams {
        MeshParams {
            origin: DVec3::new(self.origin_x, 0.0, self.origin_z),
            tile_size: self.tile_size,
            cell_size: self.cell_size,
            max_verts_per_poly: self.max_verts_per_poly.clamp(0, i32::from(u16::MAX)) as u16,
            walkable_climb: self.walkable_climb as f32,
            agent_radius: self.agent_radius as f32,
            agent_height: self.agent_height as f32,
            agent_max_slope_degrees: self.agent_max_slope_degrees as f32,
            settings_digest,
        }
    }
}

impl Default for NavSettings {
    /// [`NavSettings::HUMANOID`].
    fn default() -> Self {
        Self::HUMANOID
    }
}

impl OffMeshLinkDefinition {
    fn validate(&self, index: usize) -> Result<(), ArgumentError> {
        check_point(&format!("off_mesh_links[{index}].start"), self.start)?;
        check_point(&format!("off_mesh_links[{index}].end"), self.end)?;
        let radius = self.radius as f32;
        if !(radius > 0.0 && radius.is_finite()) {
            return Err(ArgumentError::new(
                format!("off_mesh_links[{index}].radius"),
                self.radius,
                "finite and above 0",
            ));
        }
        integer(
            &format!("off_mesh_links[{index}].area"),
            i32::from(self.area),
            0,
            63,
        )
    }
}

fn range(field: &str, value: f64, min: f64, max: f64) -> Result<(), ArgumentError> {
    if value >= min && value <= max {
        Ok(())
    } else {
        Err(ArgumentError::new(
            field,
            value,
            format!("between {} and {}", limit(min), limit(max)),
        ))
    }
}

fn positive(field: &str, value: f64, max: f64) -> Result<(), ArgumentError> {
    if value > 0.0 && value <= max {
        Ok(())
    } else {
        Err(ArgumentError::new(
            field,
            value,
            format!("above 0 and at most {}", limit(max)),
        ))
    }
}

/// A limit as it is read best: the powers of two that bound lengths by their exponent.
fn limit(value: f64) -> String {
    match value {
        NavSettings::MAX_LENGTH => "2^20".into(),
        value if value == NavSettings::CELL_RANGE.0 => "2^-20".into(),
        value => value.to_string(),
    }
}

fn integer(field: &str, value: i32, min: i32, max: i32) -> Result<(), ArgumentError> {
    if (min..=max).contains(&value) {
        Ok(())
    } else {
        Err(ArgumentError::new(
            field,
            value,
            format!("between {min} and {max}"),
        ))
    }
}

/// Cosine of an angle in degrees, the same bits everywhere.
///
/// The Taylor series to the 26th power in double precision, summed from the smallest term up and
/// rounded once; good to the last bit of a float for 0 to 90 degrees.
#[must_use]
pub fn cosine_of_degrees(degrees: f64) -> f32 {
    const TERMS: usize = 14;
    let x = degrees * (core::f64::consts::PI / 180.0);
    let square = x * x;
    let mut terms = [1.0_f64; TERMS];
    for k in 1..TERMS {
        let n = 2.0 * k as f64;
        terms[k] = -terms[k - 1] * square / ((n - 1.0) * n);
    }
    let mut sum = 0.0;
    for term in terms.iter().rev() {
        sum += term;
    }
    sum as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosine_of_the_usual_angles() {
        assert_eq!(cosine_of_degrees(45.0), 0.707_106_77);
        assert_eq!(cosine_of_degrees(0.0), 1.0);
        assert_eq!(cosine_of_degrees(60.0), 0.5);
        assert!(cosine_of_degrees(90.0).abs() < 1e-7);
    }

    #[test]
    fn powers_of_two_are_said_as_such() {
        for (cell_size, agent_radius, words) in [
            (
                0.0,
                0.6,
                "cell_size is 0; it must be between 2^-20 and 2^20",
            ),
            (
                0.3,
                1e9,
                "agent_radius is 1000000000; it must be between 0 and 2^20",
            ),
        ] {
            let settings = NavSettings {
                cell_size,
                agent_radius,
                ..NavSettings::HUMANOID
            };
            assert_eq!(settings.validate().unwrap_err().to_string(), words);
        }
    }

    #[test]
    fn presets_are_valid_and_differ() {
        for settings in [
            NavSettings::HUMANOID,
            NavSettings::SMALL,
            NavSettings::LARGE,
        ] {
            settings.validate().unwrap();
        }
        assert_eq!(NavSettings::default(), NavSettings::HUMANOID);
        assert_eq!(NavSettings::SMALL.cell_height, 0.2);
        assert_eq!(NavSettings::LARGE.agent_max_slope_degrees, 40.0);
    }

    #[test]
    fn a_bad_field_is_named_with_its_range() {
        let cases: [(&str, NavSettings); 6] = [
            (
                "agent_radius",
                NavSettings {
                    agent_radius: f64::NAN,
                    ..NavSettings::HUMANOID
                },
            ),
            (
                "cell_size",
                NavSettings {
                    cell_size: 0.0,
                    ..NavSettings::HUMANOID
                },
            ),
            (
                "max_verts_per_poly",
                NavSettings {
                    max_verts_per_poly: 17,
                    ..NavSettings::HUMANOID
                },
            ),
            (
                "area",
                NavSettings {
                    area: 64,
                    ..NavSettings::HUMANOID
                },
            ),
            (
                "min_region_area",
                NavSettings {
                    min_region_area: -1,
                    ..NavSettings::HUMANOID
                },
            ),
            (
                "off_mesh_links[0].radius",
                NavSettings {
                    off_mesh_links: vec![OffMeshLinkDefinition {
                        start: DVec3::ZERO,
                        end: DVec3::ONE,
                        radius: 0.0,
                        bidirectional: true,
                        area: 0,
                        flags: 1,
                        user_id: 0,
                    }],
                    ..NavSettings::HUMANOID
                },
            ),
        ];
        for (field, settings) in cases {
            let error = settings.validate().unwrap_err();
            assert_eq!(error.argument, field);
            assert!(!error.allowed.is_empty());
        }
    }

    #[test]
    fn tile_size_must_be_a_float32() {
        let checked = |tile_size| {
            let settings = NavSettings {
                tile_size,
                ..NavSettings::HUMANOID
            };
            settings.validate().map_err(|error| error.to_string())
        };
        let words = "tile_size is 19.2; it must be exactly representable as a float32; the nearest \
                     is 19.200000762939453";
        assert_eq!(checked(19.2), Err(words.into()));
        assert_eq!(checked(19.200000762939453), Ok(()));
        assert_eq!(checked(64.0), Ok(()));
        // The nearest of this one is 0, which is no width.
        let problem = checked(1e-50).unwrap_err();
        assert!(problem.ends_with("representable as a float32"), "{problem}");
    }

    #[test]
    fn digest_sees_what_params_do_not_and_nothing_else() {
        let base = NavSettings::HUMANOID.settings_digest();
        let other = |edit: fn(&mut NavSettings)| {
            let mut settings = NavSettings::HUMANOID;
            edit(&mut settings);
            settings.settings_digest()
        };
        assert_eq!(base, other(|s| s.agent_radius = 0.5));
        assert_ne!(base, other(|s| s.cell_height = 0.25));
        assert_ne!(base, other(|s| s.snap_bits = Some(8)));
        assert_eq!(base, other(|s| s.snap_bits = Some(-1)));
        assert_ne!(base, other(|s| s.partition = PartitionType::Layers));
        assert_ne!(base, other(|s| s.flags = 3));
    }

    #[test]
    fn digest_is_the_hash_of_the_written_out_bytes() {
        let mut bytes = b"ONSD".to_vec();
        bytes.extend(0.2_f64.to_le_bytes());
        bytes.extend((-1_i32).to_le_bytes());
        bytes.extend(0_i32.to_le_bytes());
        bytes.extend(64_i32.to_le_bytes());
        bytes.extend(400_i32.to_le_bytes());
        bytes.extend(1.3_f32.to_le_bytes());
        bytes.extend(3.6_f64.to_le_bytes());
        bytes.extend(1.8_f64.to_le_bytes());
        bytes.extend(0.2_f64.to_le_bytes());
        bytes.extend(0.0_f64.to_le_bytes());
        bytes.push(0);
        bytes.extend(1_u16.to_le_bytes());
        bytes.extend(0_u32.to_le_bytes());
        let hash = digest::sha256(&bytes);
        let expected = u64::from_le_bytes(hash[..8].try_into().unwrap());
        assert_eq!(NavSettings::HUMANOID.settings_digest(), expected);
    }
}

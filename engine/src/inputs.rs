//! Meshes from levels that are no triangle soup: height grids, voxels, solid heightfields, glTF.

use crate::navmesh::NavMesh;
#[cfg(feature = "gltf")]
use throng_build::input::{GltfOptions, read_gltf};
use throng_build::input::{SolidHeightfield, VoxelChunk, height_grid_soup};
use throng_build::{
    BuildError, BuildOptions, NavSettings, build_chunk_with, build_heightfield_with,
};
use throng_soa::world::DVec2;

impl NavMesh {
    /// Builds a mesh from a height grid on the calling thread: `count_x * count_z` heights, x
    /// fastest, `spacing` units apart from `origin` (x, z) on. Each square is two triangles, cut
    /// along the diagonal from its least corner. For threads or volumes build
    /// [`height_grid_soup`](crate::height_grid_soup) as any soup.
    ///
    /// ```
    /// use throng::{DVec2, NavMesh, NavSettings};
    ///
    /// # fn main() -> Result<(), throng::BuildError> {
    /// // Gentle waves over 40 x 40 units, a height every 2 units.
    /// let heights: Vec<f64> = (0..21 * 21)
    ///     .map(|i| f64::from((i % 21 - 10) * (i / 21 - 10)) * 0.01)
    ///     .collect();
    /// let mesh = NavMesh::build_height_grid(
    ///     &heights, 21, 21, DVec2::ZERO, 2.0, &NavSettings::HUMANOID)?;
    /// assert!(mesh.poly_count() > 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The counts do not match the heights or are below 2, the spacing is not positive, or as
    /// [`build`](Self::build).
    pub fn build_height_grid(
        heights: &[f64],
        count_x: u32,
        count_z: u32,
        origin: DVec2,
        spacing: f64,
        settings: &NavSettings,
    ) -> Result<Self, BuildError> {
        let soup = height_grid_soup(heights, count_x, count_z, origin, spacing)?;
        Self::build_soup(&soup, settings)
    }

    /// Builds a mesh from a solid heightfield on the calling thread: spans of matter with area ids,
    /// made by the host's own voxelizer or by [`SolidHeightfield::add_triangles`]. The field's cell
    /// `(0, 0)` lies at the settings' `origin_x` and `origin_z` and measures what the settings say,
    /// its rows start at the height of its own origin; choose a tile size that is a whole multiple
    /// of the cell size.
    ///
    /// ```
    /// use throng::{DVec3, HeightfieldFrame, NavMesh, NavSettings, SolidHeightfield};
    ///
    /// # fn main() -> Result<(), throng::BuildError> {
    /// let frame = HeightfieldFrame {
    ///     origin: DVec3::ZERO,
    ///     cell_size: 0.5,
    ///     cell_height: 0.2,
    ///     width: 64,
    ///     depth: 64,
    ///     rows: 20,
    /// };
    /// let mut field = SolidHeightfield::new(frame)?;
    /// for z in 0..64 {
    ///     for x in 0..64 {
    ///         field.add_span((x, z), 0..5, 63, 0)?; // ground one unit thick
    ///     }
    /// }
    /// let settings = NavSettings { cell_size: 0.5, ..NavSettings::HUMANOID };
    /// let mesh = NavMesh::build_heightfield(&field, &settings)?;
    /// assert!(mesh.tiles().all(|(_, tile)| tile.ring.iter().all(|corner| corner.y == 1.0)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A setting is out of range, the field and an agent's height together are more than 65535 rows,
    /// the field leaves the coordinate bound or covers too many tiles, or a tile exceeds a limit.
    pub fn build_heightfield(
        field: &SolidHeightfield,
        settings: &NavSettings,
    ) -> Result<Self, BuildError> {
        Self::build_heightfield_with(field, settings, &BuildOptions::default())
    }

    /// [`build_heightfield`](Self::build_heightfield) with worker threads, area volumes or a
    /// progress callback.
    ///
    /// # Errors
    /// As [`build_heightfield`](Self::build_heightfield).
    pub fn build_heightfield_with(
        field: &SolidHeightfield,
        settings: &NavSettings,
        options: &BuildOptions<'_>,
    ) -> Result<Self, BuildError> {
        let mesh = build_heightfield_with(field, settings, options)?;
        Ok(Self::from_parts(mesh, settings.clone()))
    }

    /// Builds a mesh from voxels on the calling thread. Voxel `(0, 0, 0)` has its least corner at
    /// `(origin_x, 0, origin_z)` of the settings and is `cell_size` wide and `cell_height` high;
    /// choose a tile size that is a whole multiple of the cell size. Every material can be walked on.
    ///
    /// ```
    /// use throng::{NavMesh, NavSettings, VoxelChunk};
    ///
    /// # fn main() -> Result<(), throng::BuildError> {
    /// // 32 x 32 columns of 8 voxels; the lowest layer is stone, the rest is air.
    /// let mut voxels = vec![0; 32 * 32 * 8];
    /// for column in voxels.chunks_mut(8) {
    ///     column[0] = 1;
    /// }
    /// let chunk = VoxelChunk::from_dense(32, 32, 8, &voxels)?;
    /// let settings = NavSettings { cell_size: 1.0, cell_height: 1.0, ..NavSettings::HUMANOID };
    /// let mesh = NavMesh::build_chunk(&chunk, &settings)?;
    /// assert_eq!(mesh.poly_count(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`build_heightfield`](Self::build_heightfield).
    pub fn build_chunk(chunk: &VoxelChunk, settings: &NavSettings) -> Result<Self, BuildError> {
        Self::build_chunk_with(chunk, None, settings, &BuildOptions::default())
    }

    /// [`build_chunk`](Self::build_chunk) with an area id per material (0 cannot be walked on, 63
    /// stands for the settings' own area), worker threads, area volumes or a progress callback.
    ///
    /// # Errors
    /// An area id above 63, or as [`build_chunk`](Self::build_chunk).
    pub fn build_chunk_with(
        chunk: &VoxelChunk,
        material_areas: Option<&[u8; 256]>,
        settings: &NavSettings,
        options: &BuildOptions<'_>,
    ) -> Result<Self, BuildError> {
        let mesh = build_chunk_with(chunk, material_areas, settings, options)?;
        Ok(Self::from_parts(mesh, settings.clone()))
    }

    /// Builds a mesh from the scene of a `.gltf` or `.glb` file, given as its bytes, on the calling
    /// thread. Buffers in other files come through
    /// [`GltfOptions::resolve_buffer`](crate::GltfOptions::resolve_buffer); nothing is opened here.
    ///
    /// ```
    /// use throng::{GltfOptions, NavMesh, NavSettings};
    ///
    /// # fn main() -> Result<(), throng::BuildError> {
    /// // One triangle of 1 unit, made 20 times as large by its node.
    /// let file = br#"{
    ///   "asset": { "version": "2.0" },
    ///   "nodes": [ { "mesh": 0, "scale": [20, 20, 20] } ],
    ///   "meshes": [ { "primitives": [ { "attributes": { "POSITION": 0 } } ] } ],
    ///   "accessors": [
    ///     { "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3" } ],
    ///   "bufferViews": [ { "buffer": 0, "byteLength": 36 } ],
    ///   "buffers": [ { "byteLength": 36, "uri":
    ///     "data:;base64,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAIA/AACAPwAAAAAAAAAA" } ]
    /// }"#;
    /// let mesh = NavMesh::build_gltf(file, &GltfOptions::default(), &NavSettings::HUMANOID)?;
    /// assert_eq!(mesh.poly_count(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The file breaks a rule ([`BuildError::Data`] names the JSON path), or as
    /// [`build`](Self::build).
    #[cfg(feature = "gltf")]
    pub fn build_gltf(
        bytes: &[u8],
        file: &GltfOptions<'_>,
        settings: &NavSettings,
    ) -> Result<Self, BuildError> {
        Self::build_gltf_with(bytes, file, settings, &BuildOptions::default())
    }

    /// [`build_gltf`](Self::build_gltf) with worker threads, area volumes or a progress callback.
    ///
    /// # Errors
    /// As [`build_gltf`](Self::build_gltf).
    #[cfg(feature = "gltf")]
    pub fn build_gltf_with(
        bytes: &[u8],
        file: &GltfOptions<'_>,
        settings: &NavSettings,
        options: &BuildOptions<'_>,
    ) -> Result<Self, BuildError> {
        let level = read_gltf(bytes, file)?;
        Self::build_with(&level.vertices, &level.triangles, settings, options)
    }
}

//! Crowd and mesh saved together: one file that restores both, or neither.
//!
//! The mesh part is a mesh snapshot. In full mode it holds its tiles; in referenced mode it names
//! them, and the host that reads it passes the [`TileLibrary`] it keeps them in.

use super::Crowd;
use super::state::{FORMAT, length_field, read_header, write_header};
use throng_soa::bytes::{Buffer, Length, Reader, Sink, Writer};
use throng_soa::error::DataError;
use throng_soa::mesh::snapshot::{
    SnapshotMode, read_snapshot_with, restore_snapshot_with, snapshot_size, write_snapshot_in,
};
use throng_soa::mesh::{TileLibrary, TiledMesh};

const KIND: u16 = super::state::KIND_WITH_MESH;

impl Crowd {
    /// The state of mesh and crowd together, tiles included.
    ///
    /// # Panics
    /// As [`save_state_with_mesh_in`](Self::save_state_with_mesh_in).
    #[must_use]
    pub fn save_state_with_mesh(&self, mesh: &TiledMesh) -> Vec<u8> {
        self.save_state_with_mesh_in(mesh, SnapshotMode::Full)
    }

    /// The state of mesh and crowd together; in [`SnapshotMode::Referenced`] the tiles are named
    /// instead of written.
    ///
    /// ```
    /// use throng_sim::crowd::{AgentOptions, Crowd, CrowdOptions};
    /// use throng_soa::mesh::TileLibrary;
    /// use throng_soa::mesh::snapshot::SnapshotMode;
    /// # use throng_build::{NavSettings, build_soup};
    /// # use throng_soa::DVec3;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
    /// #     .map(|(x, z)| DVec3::new(x, 0.0, z));
    /// # let settings = NavSettings::HUMANOID;
    /// # let mut mesh = build_soup(&vertices, &[[0, 1, 2], [2, 1, 3]], &settings, 1)?;
    /// let mut crowd = Crowd::new(CrowdOptions::default())?;
    /// let walker = crowd.add(&mesh, DVec3::new(3.0, 0.0, 3.0), &AgentOptions::HUMANOID)?;
    /// crowd.set_destination(&mesh, walker, DVec3::new(36.0, 0.0, 36.0))?;
    ///
    /// let mut library = TileLibrary::new(); // the tiles this host keeps
    /// library.add_mesh(&mesh);
    /// let saved = crowd.save_state_with_mesh_in(&mesh, SnapshotMode::Referenced);
    /// crowd.step(&mesh, 0.05)?;
    /// mesh.set_poly_area(mesh.poly_ref(0, 0), 9)?;
    /// crowd.restore_state_with_mesh_from(&mut mesh, &saved, &library)?;
    /// assert_eq!(crowd.save_state_with_mesh_in(&mesh, SnapshotMode::Referenced), saved);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// The mesh or the crowd is longer than the 2 GiB that their length fields hold;
    /// [`try_save_state_with_mesh`](Self::try_save_state_with_mesh) gives `None` then.
    #[must_use]
    pub fn save_state_with_mesh_in(&self, mesh: &TiledMesh, mode: SnapshotMode) -> Vec<u8> {
        let mut writer = Writer::new(Vec::with_capacity(self.state_size_with_mesh(mesh, mode)));
        self.write_state_with_mesh(&mut writer, mesh, mode);
        writer.finish_or_panic(FORMAT)
    }

    /// Length of the state of mesh and crowd together.
    #[must_use]
    pub fn state_size_with_mesh(&self, mesh: &TiledMesh, mode: SnapshotMode) -> usize {
        let mut writer = Writer::new(Length::default());
        self.write_state_with_mesh(&mut writer, mesh, mode);
        writer.into_sink().0
    }

    /// Writes the state of mesh and crowd into `buffer` and returns its length, or `None` when the
    /// buffer is too short or the mesh or the crowd longer than the format holds, 2 GiB (its contents
    /// then mean nothing).
    pub fn try_save_state_with_mesh(
        &self,
        mesh: &TiledMesh,
        mode: SnapshotMode,
        buffer: &mut [u8],
    ) -> Option<usize> {
        let mut writer = Writer::new(Buffer::new(buffer));
        self.write_state_with_mesh(&mut writer, mesh, mode);
        writer.finish(FORMAT).ok()?.written()
    }

    fn write_state_with_mesh<S: Sink>(
        &self,
        writer: &mut Writer<S>,
        mesh: &TiledMesh,
        mode: SnapshotMode,
    ) {
        write_header(writer, KIND);
        writer.length_i32(snapshot_size(mesh, mode));
        write_snapshot_in(writer, mesh, mode);
        writer.length_i32(self.state_size(mesh));
        self.write_state(writer, mesh);
    }

    /// Puts mesh and crowd back into a state saved together with its tiles. All or nothing.
    ///
    /// # Errors
    /// Names the field and the byte offset of what is wrong, in the mesh part or the crowd part.
    pub fn restore_state_with_mesh(
        &mut self,
        mesh: &mut TiledMesh,
        bytes: &[u8],
    ) -> Result<(), DataError> {
        self.restore_state_with_mesh_from(mesh, bytes, &TileLibrary::new())
    }

    /// Puts mesh and crowd back into a state saved together in any mode. All or nothing.
    ///
    /// # Errors
    /// As [`restore_state_with_mesh`](Self::restore_state_with_mesh), or a named tile that the
    /// library does not hold.
    pub fn restore_state_with_mesh_from(
        &mut self,
        mesh: &mut TiledMesh,
        bytes: &[u8],
        library: &TileLibrary,
    ) -> Result<(), DataError> {
        let mut reader = Reader::new(FORMAT, bytes);
        read_header(&mut reader, KIND)?;
        let length = length_field(&mut reader, "mesh length")?;
        let mesh_at = reader.offset();
        let mesh_bytes = reader.bytes("mesh snapshot", length)?;
        let length = length_field(&mut reader, "crowd length")?;
        let mut part = reader.part(FORMAT, "crowd state", length)?;
        reader.finish()?;
        let mut second = part.clone();
        self.check(&mut part)?;
        part.finish()?;
        // The mesh restore checks everything before it swaps; after it nothing can fail.
        restore_snapshot_with(mesh, mesh_bytes, library)
            .map_err(|error| error.offset_by(mesh_at))?;
        self.apply(&mut second, mesh.revision())
    }
}

/// Reads the mesh part of a state saved together with its tiles, for a host that has no mesh yet.
///
/// # Errors
/// Names the field and the byte offset of what is wrong.
pub fn mesh_of_state(bytes: &[u8]) -> Result<TiledMesh, DataError> {
    mesh_of_state_with(bytes, &TileLibrary::new())
}

/// Reads the mesh part of a state saved together in any mode.
///
/// # Errors
/// As [`mesh_of_state`], or a named tile that the library does not hold.
pub fn mesh_of_state_with(bytes: &[u8], library: &TileLibrary) -> Result<TiledMesh, DataError> {
    let mut reader = Reader::new(FORMAT, bytes);
    read_header(&mut reader, KIND)?;
    let length = length_field(&mut reader, "mesh length")?;
    let at = reader.offset();
    let mesh_bytes = reader.bytes("mesh snapshot", length)?;
    read_snapshot_with(mesh_bytes, library).map_err(|error| error.offset_by(at))
}

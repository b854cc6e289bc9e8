//! Snapshots of a [`NavMesh`]: its dynamic state, for rolling back.
//!
//! A baked file ([`NavMesh::save`]) is content: it keeps the current areas and flags as if they had
//! been built. A snapshot is state: slots, generations, edits and link switches come back exactly,
//! so polygon references stay valid or stale as they were.

use crate::{NavMesh, NavSettings, SnapshotMode, TileLibrary, save};
use throng_soa::bytes::Reader;
use throng_soa::error::DataError;
use throng_soa::mesh::snapshot::{
    read_snapshot_with, restore_snapshot_with, snapshot_bytes_in, snapshot_size, try_snapshot,
};

impl NavMesh {
    /// The mesh's state as bytes: the same state in the same mode, the same bytes.
    ///
    /// ```
    /// use throng::{DVec3, NavMesh, NavSettings, SnapshotMode, TileLibrary};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
    /// #     .map(|(x, z)| DVec3::new(x, 0.0, z));
    /// # let triangles = [[0, 1, 2], [2, 1, 3]];
    /// let mut mesh = NavMesh::build(&vertices, &triangles, &NavSettings::HUMANOID)?;
    /// let mut library = TileLibrary::new();
    /// library.add_mesh(&mesh); // the tiles this host keeps
    ///
    /// let saved = mesh.snapshot(SnapshotMode::Referenced); // some dozens of bytes a tile
    /// let door = mesh.poly_ref(0, 0);
    /// mesh.set_poly_area(door, 9)?;
    /// mesh.restore(&saved, &library)?;
    /// assert_eq!(mesh.snapshot(SnapshotMode::Referenced), saved);
    ///
    /// // A full snapshot holds its tiles: no library is needed.
    /// let file = mesh.snapshot(SnapshotMode::Full);
    /// let again = NavMesh::from_snapshot(&file, &TileLibrary::new(), mesh.settings())?;
    /// assert_eq!(again.save(), mesh.save());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// The snapshot is longer than the 4 GiB that its length field holds;
    /// [`try_snapshot`](Self::try_snapshot) gives `None` then.
    #[must_use]
    pub fn snapshot(&self, mode: SnapshotMode) -> Vec<u8> {
        snapshot_bytes_in(self, mode)
    }

    /// Length of the snapshot in a mode.
    #[must_use]
    pub fn snapshot_size(&self, mode: SnapshotMode) -> usize {
        snapshot_size(self, mode)
    }

    /// Writes the snapshot into `buffer` and returns its length, or `None` when the buffer is too
    /// short or the snapshot longer than the format holds, 4 GiB (its contents then mean nothing).
    pub fn try_snapshot(&self, mode: SnapshotMode, buffer: &mut [u8]) -> Option<usize> {
        try_snapshot(self, mode, buffer)
    }

    /// Puts the mesh back into the state of a snapshot. All or nothing. `library` is where named
    /// tiles are found; an empty one does for full snapshots.
    ///
    /// # Errors
    /// Bytes that are no snapshot of a mesh with these parameters, or a named tile that the library
    /// does not hold.
    pub fn restore(&mut self, bytes: &[u8], library: &TileLibrary) -> Result<(), DataError> {
        restore_snapshot_with(self, bytes, library)
    }

    /// A new mesh in the state of a snapshot. `settings` are those the mesh was built with.
    ///
    /// # Errors
    /// As [`restore`](Self::restore), or settings other than the mesh's.
    pub fn from_snapshot(
        bytes: &[u8],
        library: &TileLibrary,
        settings: &NavSettings,
    ) -> Result<Self, DataError> {
        let mesh = read_snapshot_with(bytes, library)?;
        save::check_settings(&Reader::new("mesh snapshot", bytes), &mesh, settings)?;
        Ok(Self::from_parts(mesh, settings.clone()))
    }
}

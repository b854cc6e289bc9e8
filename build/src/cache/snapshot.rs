//! Tile cache snapshots: the shapes in force, the queue and the mesh as bytes.
//!
//! In: the cache and its mesh. Out: `ONTK` bytes, the same for the same state, with a snapshot of
//! the mesh inside; and putting both back, all or nothing. What the cache keeps of the level is not
//! state: a snapshot is restored into a cache built from the same level with the same settings.
//! After a restore the cache no longer knows what the mesh holds, so each queued tile is rebuilt in
//! full once.

use std::collections::{BTreeMap, VecDeque};

use throng_soa::bytes::{Buffer, Length, Reader, Sink, Writer};
use throng_soa::mesh::snapshot::{
    SnapshotMode, restore_snapshot_with, snapshot_size, write_snapshot_in,
};
use throng_soa::mesh::{TileLibrary, TiledMesh};
use throng_soa::world::{DVec2, DVec3};
use throng_soa::{ArgumentError, DataError, DataErrorKind};

use super::obstacles::{Obstacle, ObstacleShape};
use super::shapes::{MAX_NEXT_ID, MAX_SHAPES, PlacedVolume, Shapes};
use super::tables::CacheTables;
use super::update::forget;
use crate::voxel::volumes::{ConvexVolume, MAX_CORNERS};

const MAGIC: [u8; 4] = *b"ONTK";
const VERSION: u16 = 1;
const FORMAT: &str = "tile cache snapshot";
/// Fewest bytes an obstacle and a volume are counted with.
const OBSTACLE_BYTES: usize = 13;
const VOLUME_BYTES: usize = 41;
/// Bytes of a tile in the queue.
const QUEUED_BYTES: usize = 8;

const CYLINDER: u8 = 1;
const BOX: u8 = 2;
const ORIENTED_BOX: u8 = 3;

impl CacheTables {
    /// The state of the cache and its mesh.
    ///
    /// # Panics
    /// The mesh is longer than the 4 GiB that its length field holds;
    /// [`try_snapshot`](Self::try_snapshot) gives `None` then.
    #[must_use]
    pub fn snapshot(&self, mesh: &TiledMesh, mode: SnapshotMode) -> Vec<u8> {
        let mut writer = Writer::new(Vec::with_capacity(self.snapshot_size(mesh, mode)));
        self.write_snapshot(&mut writer, mesh, mode);
        writer.finish_or_panic(FORMAT)
    }

    /// Length of [`snapshot`](Self::snapshot).
    #[must_use]
    pub fn snapshot_size(&self, mesh: &TiledMesh, mode: SnapshotMode) -> usize {
        let mut length = Writer::new(Length::default());
        self.write_state(&mut length, snapshot_size(mesh, mode));
        length.into_sink().0 + snapshot_size(mesh, mode)
    }

    /// Writes the snapshot into `buffer` and returns its length, or `None` when the buffer is too
    /// short or the mesh longer than the format holds, 4 GiB (its contents then mean nothing).
    pub fn try_snapshot(
        &self,
        mesh: &TiledMesh,
        mode: SnapshotMode,
        buffer: &mut [u8],
    ) -> Option<usize> {
        let mut writer = Writer::new(Buffer::new(buffer));
        self.write_snapshot(&mut writer, mesh, mode);
        writer.finish(FORMAT).ok()?.written()
    }

    fn write_snapshot<S: Sink>(
        &self,
        writer: &mut Writer<S>,
        mesh: &TiledMesh,
        mode: SnapshotMode,
    ) {
        self.write_state(writer, snapshot_size(mesh, mode));
        write_snapshot_in(writer, mesh, mode);
    }

    /// Everything but the bytes of the mesh.
    fn write_state<S: Sink>(&self, writer: &mut Writer<S>, mesh_length: usize) {
        writer.bytes(&MAGIC);
        writer.u16(VERSION);
        writer.u16(0);
        writer.u32(self.shapes.next_obstacle);
        writer.u32(self.shapes.next_volume);
        writer.u32(self.shapes.obstacles.len() as u32);
        for (&id, obstacle) in &self.shapes.obstacles {
            writer.u32(id);
            write_obstacle(writer, obstacle.shape());
        }
        writer.u32(self.shapes.volumes.len() as u32);
        for (&id, placed) in &self.shapes.volumes {
            writer.u32(id);
            write_volume(writer, &placed.volume);
        }
        writer.u32(self.queue.len() as u32);
        // With those that were refused: after a restore they wait again, each in its place.
        for &index in &self.queue {
            let tile = &self.tiles[index as usize];
            writer.i32(tile.tile_x);
            writer.i32(tile.tile_z);
        }
        writer.length(mesh_length);
    }

    /// Puts the cache and its mesh back into the state of a snapshot of any mode. All or nothing.
    ///
    /// # Errors
    /// Truncated or trailing bytes, another format or version, a count the bytes cannot hold, a
    /// shape its constructor refuses, ids out of order, a queued tile this cache does not know, or
    /// for the reasons of the mesh's snapshot: a mesh of other settings among them.
    pub fn restore(
        &mut self,
        mesh: &mut TiledMesh,
        bytes: &[u8],
        library: &TileLibrary,
    ) -> Result<(), DataError> {
        let saved = read_parts(bytes, self.tiles.len())?;
        let reader = Reader::new(FORMAT, bytes);
        let queue = self.find_queue(&reader, &saved)?;
        if mesh.fingerprint() != self.fingerprint {
            return Err(reader.error_at(
                0,
                "mesh",
                DataErrorKind::Fingerprint,
                "the mesh to restore into was not built with this cache",
            ));
        }
        restore_snapshot_with(mesh, saved.mesh, library)?;
        // Nothing below can fail.
        for tile in &mut self.tiles {
            tile.obstacles.clear();
            tile.queued = false;
            tile.refused = None;
            forget(tile);
        }
        for &index in &queue {
            self.tiles[index as usize].queued = true;
        }
        self.queue = queue;
        self.shapes = saved.shapes;
        self.list_obstacles();
        Ok(())
    }

    /// The tiles of a queue.
    fn find_queue(
        &self,
        reader: &Reader<'_>,
        saved: &CacheSnapshot<'_>,
    ) -> Result<VecDeque<u32>, DataError> {
        let mut seen = vec![false; self.tiles.len()];
        let mut queue = VecDeque::with_capacity(saved.queue.len());
        for (place, &(x, z)) in saved.queue.iter().enumerate() {
            let found = self
                .tiles
                .binary_search_by_key(&(z, x), |tile| (tile.tile_z, tile.tile_x));
            let problem = match found {
                Err(_) => "is no tile of this cache",
                Ok(index) if seen[index] => "stands in the queue twice",
                Ok(index) => {
                    seen[index] = true;
                    queue.push_back(index as u32);
                    continue;
                }
            };
            return Err(reader.error_at(
                saved.queue_at + (place * QUEUED_BYTES) as u64,
                "queued tile",
                DataErrorKind::Value,
                format!("({x}, {z}) {problem}"),
            ));
        }
        Ok(queue)
    }
}

/// What a tile cache's snapshot holds, read without the cache it belongs to: for a host that wants
/// to know before it builds one. The mesh is left as bytes, a snapshot of its own. Reading is linear in
/// the number of shapes and queued tiles.
#[derive(Debug)]
pub struct CacheSnapshot<'a> {
    shapes: Shapes,
    queue: Vec<(i32, i32)>,
    queue_at: u64,
    mesh: &'a [u8],
    mesh_at: u64,
}

impl<'a> CacheSnapshot<'a> {
    /// Reads a snapshot. Whether its queued tiles are tiles of a cache, and its mesh, are left to
    /// the restore.
    ///
    /// # Errors
    /// As [`CacheTables::restore`], for all that can be told from the bytes.
    pub fn read(bytes: &'a [u8]) -> Result<Self, DataError> {
        read_parts(bytes, usize::MAX)
    }

    /// Number of obstacles.
    #[must_use]
    pub fn obstacle_count(&self) -> usize {
        self.shapes.obstacles.len()
    }

    /// Number of area volumes.
    #[must_use]
    pub fn volume_count(&self) -> usize {
        self.shapes.volumes.len()
    }

    /// Columns and rows of the tiles that wait to be rebuilt, in their order.
    #[must_use]
    pub fn queued_tiles(&self) -> &[(i32, i32)] {
        &self.queue
    }

    /// The mesh as [`read_snapshot_with`](throng_soa::mesh::snapshot::read_snapshot_with) takes it,
    /// and where it begins.
    #[must_use]
    pub fn mesh(&self) -> (&'a [u8], u64) {
        (self.mesh, self.mesh_at)
    }
}

/// Everything but what only the cache knows; `tiles` is the longest queue.
fn read_parts(bytes: &[u8], tiles: usize) -> Result<CacheSnapshot<'_>, DataError> {
    let mut reader = Reader::new(FORMAT, bytes);
    reader.magic(MAGIC)?;
    reader.version(VERSION)?;
    reader.zero_u16("flags")?;
    let mut shapes = Shapes {
        next_obstacle: read_next_id(&mut reader, "next obstacle id")?,
        next_volume: read_next_id(&mut reader, "next volume id")?,
        ..Shapes::default()
    };
    shapes.obstacles = read_obstacles(&mut reader, shapes.next_obstacle)?;
    shapes.volumes = read_volumes(&mut reader, shapes.next_volume)?;
    let count = reader.count("queue length", QUEUED_BYTES, tiles)?;
    let queue_at = reader.offset();
    let mut queue = Vec::with_capacity(count);
    for _ in 0..count {
        queue.push((reader.i32("tile column")?, reader.i32("tile row")?));
    }
    let length = reader.u32("mesh snapshot length")? as usize;
    let mesh_at = reader.offset();
    let mesh = reader.bytes("mesh snapshot", length)?;
    reader.finish()?;
    Ok(CacheSnapshot {
        shapes,
        queue,
        queue_at,
        mesh,
        mesh_at,
    })
}

fn write_obstacle<S: Sink>(writer: &mut Writer<S>, shape: ObstacleShape) {
    match shape {
        ObstacleShape::Cylinder {
            base,
            radius,
            height,
        } => {
            writer.u8(CYLINDER);
            writer.point(base);
            writer.f64(radius);
            writer.f64(height);
        }
        ObstacleShape::Box { min, max } => {
            writer.u8(BOX);
            writer.point(min);
            writer.point(max);
        }
        ObstacleShape::OrientedBox { center, half, yaw } => {
            writer.u8(ORIENTED_BOX);
            writer.point(center);
            writer.point(half);
            writer.f64(yaw);
        }
    }
}

fn write_volume<S: Sink>(writer: &mut Writer<S>, volume: &ConvexVolume) {
    let (min_y, max_y) = volume.y_range();
    writer.u8(volume.area());
    writer.f64(min_y);
    writer.f64(max_y);
    writer.u32(volume.corners().len() as u32);
    for corner in volume.corners() {
        writer.f64(corner.x);
        writer.f64(corner.y);
    }
}

fn read_next_id(reader: &mut Reader<'_>, field: &str) -> Result<u32, DataError> {
    let at = reader.offset();
    let next = reader.u32(field)?;
    if (1..=MAX_NEXT_ID).contains(&next) {
        return Ok(next);
    }
    let problem = format!("is {next}; next ids are 1 to {MAX_NEXT_ID}");
    Err(reader.error_at(at, field, DataErrorKind::Value, problem))
}

/// An id above the last one and below the next to be given.
fn read_id(reader: &mut Reader<'_>, field: &str, last: u32, next: u32) -> Result<u32, DataError> {
    let at = reader.offset();
    let id = reader.u32(field)?;
    if id > last && id < next {
        return Ok(id);
    }
    let problem = format!("is {id}; ids ascend from 1 and stay below {next}");
    Err(reader.error_at(at, field, DataErrorKind::Value, problem))
}

fn read_obstacles(
    reader: &mut Reader<'_>,
    next: u32,
) -> Result<BTreeMap<u32, Obstacle>, DataError> {
    let count = reader.count("obstacle count", OBSTACLE_BYTES, MAX_SHAPES)?;
    let mut obstacles = BTreeMap::new();
    let mut last = 0;
    for _ in 0..count {
        last = read_id(reader, "obstacle id", last, next)?;
        let at = reader.offset();
        let obstacle = match reader.u8("obstacle shape")? {
            CYLINDER => Obstacle::cylinder(
                read_triple(reader, "obstacle base")?,
                reader.f64("obstacle radius")?,
                reader.f64("obstacle height")?,
            ),
            BOX => Obstacle::aligned_box(
                read_triple(reader, "obstacle low corner")?,
                read_triple(reader, "obstacle high corner")?,
            ),
            ORIENTED_BOX => Obstacle::oriented_box(
                read_triple(reader, "obstacle centre")?,
                read_triple(reader, "obstacle half sizes")?,
                reader.f64("obstacle yaw")?,
            ),
            other => {
                let problem = format!("is {other}; shapes are 1 to 3");
                let kind = DataErrorKind::Value;
                return Err(reader.error_at(at, "obstacle shape", kind, problem));
            }
        };
        obstacles.insert(last, obstacle.map_err(refused(reader, at, "obstacle"))?);
    }
    Ok(obstacles)
}

fn read_volumes(
    reader: &mut Reader<'_>,
    next: u32,
) -> Result<BTreeMap<u32, PlacedVolume>, DataError> {
    let count = reader.count("volume count", VOLUME_BYTES, MAX_SHAPES)?;
    let mut volumes = BTreeMap::new();
    let mut last = 0;
    let mut corners = Vec::new();
    for _ in 0..count {
        last = read_id(reader, "volume id", last, next)?;
        let at = reader.offset();
        let area = reader.u8("volume area")?;
        let (min_y, max_y) = (reader.f64("volume min y")?, reader.f64("volume max y")?);
        let sides = reader.count("volume corner count", 16, MAX_CORNERS)?;
        corners.clear();
        for _ in 0..sides {
            let x = reader.f64("volume corner x")?;
            corners.push(DVec2::new(x, reader.f64("volume corner z")?));
        }
        let volume = ConvexVolume::new(&corners, min_y, max_y, area)
            .map_err(refused(reader, at, "volume"))?;
        volumes.insert(last, PlacedVolume::new(volume));
    }
    Ok(volumes)
}

fn read_triple(reader: &mut Reader<'_>, field: &str) -> Result<DVec3, DataError> {
    Ok(DVec3::new(
        reader.f64(field)?,
        reader.f64(field)?,
        reader.f64(field)?,
    ))
}

/// What a constructor said, as an error of the bytes.
fn refused<'a>(
    reader: &'a Reader<'_>,
    at: u64,
    what: &'a str,
) -> impl FnOnce(ArgumentError) -> DataError + 'a {
    move |error| {
        let field = format!("{what} {}", error.argument);
        reader.error_at(at, &field, DataErrorKind::Value, error.to_string())
    }
}

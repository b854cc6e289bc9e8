//! Meshes: the triangles of their primitives, in the mesh's own space.
//!
//! In: a mesh of the document. Out: a [`MeshData`], the primitives one after the other, holding only
//! vertices that a triangle uses; so what instances of a mesh cost is bounded by its triangles.

use throng_soa::error::{DataError, DataErrorKind};

use super::accessor::{Elements, Wanted, resolve};
use super::buffers::Buffers;
use super::json::Json;

const TRIANGLES: u64 = 4;
const STRIP: u64 = 5;
const FAN: u64 = 6;

/// The triangles of a mesh.
#[derive(Clone, Debug, Default)]
pub(super) struct MeshData {
    pub(super) positions: Vec<[f32; 3]>,
    pub(super) triangles: Vec<[u32; 3]>,
}

/// Reads a mesh of at most `allowed` triangles.
pub(super) fn read(
    root: Json<'_, '_>,
    buffers: &Buffers<'_>,
    mesh: Json<'_, '_>,
    allowed: usize,
) -> Result<MeshData, DataError> {
    let mut data = MeshData::default();
    let mut corners = Vec::new();
    for primitive in mesh.need("primitives")?.each()? {
        let mode = primitive.get("mode")?;
        let mode = match &mode {
            Some(mode) => match mode.integer()? {
                0..=3 => continue,
                known @ TRIANGLES..=FAN => known,
                other => {
                    let problem = format!("{other}; modes are 0 to {FAN}");
                    return Err(mode.error(DataErrorKind::Value, problem));
                }
            },
            None => TRIANGLES,
        };
        let attributes = primitive.need("attributes")?;
        let reference = attributes.need("POSITION")?;
        let positions = resolve(root, buffers, reference, Wanted::Positions)?;
        let indices = match primitive.get("indices")? {
            Some(reference) => Some(resolve(root, buffers, reference, Wanted::Indices)?),
            None => None,
        };
        let count = indices.map_or(positions.count(), |indices| indices.count());
        let triangles = match mode {
            TRIANGLES => count / 3,
            _ => count.saturating_sub(2),
        };
        let total = data.triangles.len().saturating_add(triangles);
        // Vertices are numbered with 32 bits, and a triangle may use three of its own.
        if total > allowed || total > (u32::MAX / 3) as usize {
            let problem = format!("more triangles than the {allowed} that are left");
            return Err(primitive.error(DataErrorKind::Limit, problem));
        }
        read_corners(primitive, &positions, indices.as_ref(), count, &mut corners)?;
        let corner = |t: usize| match mode {
            TRIANGLES => [3 * t, 3 * t + 1, 3 * t + 2],
            STRIP if t % 2 == 1 => [t + 1, t, t + 2],
            STRIP => [t, t + 1, t + 2],
            _ => [0, t + 1, t + 2],
        };
        let faces = (0..triangles).map(|t| corner(t).map(|c| corners[c]));
        append(primitive, &positions, faces, &mut data)?;
    }
    Ok(data)
}

/// The vertex of each corner, in order.
fn read_corners(
    primitive: Json<'_, '_>,
    positions: &Elements<'_>,
    indices: Option<&Elements<'_>>,
    count: usize,
    corners: &mut Vec<u32>,
) -> Result<(), DataError> {
    corners.clear();
    let Some(indices) = indices else {
        // As many as triangles use them, which is a 32-bit number.
        corners.extend((0..count).map(|vertex| vertex as u32));
        return Ok(());
    };
    corners.reserve(count);
    for corner in 0..count {
        let vertex = indices.index(corner);
        if vertex as usize >= positions.count() {
            let problem = format!(
                "index {corner} is {vertex}, but there are {} vertices",
                positions.count()
            );
            return Err(primitive.error(DataErrorKind::Value, problem));
        }
        corners.push(vertex);
    }
    Ok(())
}

/// Appends faces and the vertices they use, in ascending order of the file's.
fn append(
    primitive: Json<'_, '_>,
    positions: &Elements<'_>,
    faces: impl Iterator<Item = [u32; 3]>,
    data: &mut MeshData,
) -> Result<(), DataError> {
    let first = data.triangles.len();
    data.triangles.extend(faces);
    let faces = &mut data.triangles[first..];
    let used = UsedVertices::new(faces, positions.count());
    let base = data.positions.len() as u32;
    let mut bad = None;
    used.each(|vertex| {
        let position = positions.position(vertex as usize);
        if bad.is_none() && !position.iter().all(|c| c.is_finite()) {
            bad = Some(vertex);
        }
        data.positions.push(position);
    });
    if let Some(vertex) = bad {
        let problem = format!("vertex {vertex} has a position that is not finite");
        return Err(primitive.error(DataErrorKind::Geometry, problem));
    }
    for corner in faces.iter_mut().flatten() {
        *corner = base + used.place(*corner);
    }
    Ok(())
}

/// The vertices that faces use, in ascending order.
enum UsedVertices {
    /// Place of every vertex among the used ones; `u32::MAX` for the others.
    Table(Vec<u32>),
    /// The used ones.
    List(Vec<u32>),
}

impl UsedVertices {
    /// A table over all vertices when most may be used; else a list, so that a few faces of a large
    /// array cost little.
    fn new(faces: &[[u32; 3]], vertex_count: usize) -> Self {
        let used = faces.iter().flatten().copied();
        if vertex_count <= 4 * 3 * faces.len() {
            let mut table = vec![u32::MAX; vertex_count];
            used.for_each(|vertex| table[vertex as usize] = 0);
            let marked = table.iter_mut().filter(|place| **place == 0);
            marked.zip(0..).for_each(|(place, number)| *place = number);
            Self::Table(table)
        } else {
            let mut list: Vec<u32> = used.collect();
            list.sort_unstable();
            list.dedup();
            Self::List(list)
        }
    }

    fn each(&self, mut visit: impl FnMut(u32)) {
        match self {
            Self::Table(table) => (0..)
                .zip(table)
                .filter(|&(_, &place)| place != u32::MAX)
                .for_each(|(vertex, _)| visit(vertex)),
            Self::List(list) => list.iter().copied().for_each(visit),
        }
    }

    fn place(&self, vertex: u32) -> u32 {
        match self {
            Self::Table(table) => table[vertex as usize],
            Self::List(list) => list.partition_point(|&v| v < vertex) as u32,
        }
    }
}

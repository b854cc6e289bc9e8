//! The scene: nodes walked depth first, each mesh put where its node stands.
//!
//! In: the document and its buffers. Out: the triangles of every mesh instance, in the order the
//! nodes are visited. The walk keeps one frame per level of depth, so a small file with many paths
//! costs time, which the node limit bounds, but no memory.

use throng_soa::error::{DataError, DataErrorKind};

use super::buffers::Buffers;
use super::json::Json;
use super::mesh::{self, MeshData};
use super::transform::Transform;
use super::{GltfOptions, GltfTriangles};

/// Most nodes above each other, the root included.
const MAX_DEPTH: usize = 256;

/// Nodes as a table; children are `children[first_child[n]..first_child[n + 1]]`.
#[derive(Debug, Default)]
struct Nodes {
    local: Vec<Transform>,
    /// Mesh of each node, or [`NO_MESH`].
    mesh: Vec<u32>,
    first_child: Vec<u32>,
    children: Vec<u32>,
}

const NO_MESH: u32 = u32::MAX;

/// The triangles of the scene.
pub(super) fn read_scene(
    root: Json<'_, '_>,
    buffers: &Buffers<'_>,
    options: &GltfOptions<'_>,
) -> Result<GltfTriangles, DataError> {
    let meshes = root.get("meshes")?;
    let mesh_count = meshes.map_or(Ok(0), |meshes| meshes.items().map(<[_]>::len))?;
    let nodes = read_nodes(root, mesh_count)?;
    let roots = scene_roots(root, &nodes)?;
    let mut reader = Reader {
        root,
        buffers,
        nodes: &nodes,
        options,
        meshes: vec![None; mesh_count],
        visited: 0,
        out: GltfTriangles::default(),
    };
    for node in roots {
        reader.walk(node)?;
    }
    Ok(reader.out)
}

fn read_nodes(root: Json<'_, '_>, mesh_count: usize) -> Result<Nodes, DataError> {
    let mut nodes = Nodes {
        first_child: vec![0],
        ..Nodes::default()
    };
    let Some(list) = root.get("nodes")? else {
        return Ok(nodes);
    };
    let count = list.items()?.len();
    for node in list.each()? {
        nodes.local.push(Transform::of_node(node)?);
        let mesh = match node.get("mesh")? {
            Some(mesh) => reference(mesh, mesh_count, "mesh")?,
            None => NO_MESH,
        };
        nodes.mesh.push(mesh);
        if let Some(children) = node.get("children")? {
            for child in children.each()? {
                nodes.children.push(reference(child, count, "node")?);
            }
        }
        nodes.first_child.push(nodes.children.len() as u32);
    }
    Ok(nodes)
}

/// An index into a list of `count`.
fn reference(index: Json<'_, '_>, count: usize, what: &str) -> Result<u32, DataError> {
    let value = index.integer()?;
    match u32::try_from(value) {
        Ok(number) if (number as usize) < count => Ok(number),
        _ => {
            let problem = format!("{what} {value}, which does not exist");
            Err(index.error(DataErrorKind::Value, problem))
        }
    }
}

/// The nodes at the top of the scene to read.
fn scene_roots(root: Json<'_, '_>, nodes: &Nodes) -> Result<Vec<u32>, DataError> {
    let scenes = root.get("scenes")?;
    let chosen = root.get("scene")?;
    let number = chosen.map_or(Ok(0), |scene| scene.integer())?;
    let scene = match &scenes {
        Some(scenes) => scenes.at(number)?,
        None => None,
    };
    if let Some(scene) = scene {
        let Some(list) = scene.get("nodes")? else {
            return Ok(Vec::new());
        };
        let count = nodes.local.len();
        return list.each()?.map(|n| reference(n, count, "node")).collect();
    }
    if let Some(chosen) = chosen {
        let problem = format!("scene {number}, which does not exist");
        return Err(chosen.error(DataErrorKind::Value, problem));
    }
    let mut is_child = vec![false; nodes.local.len()];
    for &child in &nodes.children {
        is_child[child as usize] = true;
    }
    let all = 0..nodes.local.len() as u32;
    Ok(all.filter(|&node| !is_child[node as usize]).collect())
}

/// A node on the way from the root to the one at hand.
struct Frame {
    world: Transform,
    /// Children still to visit, as places in the children table.
    next: u32,
    end: u32,
}

struct Reader<'a, 'v> {
    root: Json<'v, 'a>,
    buffers: &'a Buffers<'a>,
    nodes: &'a Nodes,
    options: &'a GltfOptions<'a>,
    /// Meshes read so far.
    meshes: Vec<Option<MeshData>>,
    visited: u32,
    out: GltfTriangles,
}

impl Reader<'_, '_> {
    /// Visits a node and everything below it.
    fn walk(&mut self, root: u32) -> Result<(), DataError> {
        let mut path: Vec<Frame> = Vec::new();
        let mut entered = Some((root, Transform::IDENTITY));
        loop {
            if let Some((node, above)) = entered.take() {
                if path.len() >= MAX_DEPTH {
                    let problem = format!("more than {MAX_DEPTH} nodes deep, or a circle");
                    return Err(self.about_node(node, DataErrorKind::Limit, &problem));
                }
                path.push(self.enter(node, &above)?);
            }
            let Some(frame) = path.last_mut() else {
                return Ok(());
            };
            if frame.next == frame.end {
                path.pop();
                continue;
            }
            let child = self.nodes.children[frame.next as usize];
            frame.next += 1;
            entered = Some((child, frame.world));
        }
    }

    fn enter(&mut self, node: u32, above: &Transform) -> Result<Frame, DataError> {
        if self.visited >= self.options.max_nodes {
            let limit = self.options.max_nodes;
            let problem = format!("more than {limit} nodes to visit");
            return Err(self.about_node(node, DataErrorKind::Limit, &problem));
        }
        self.visited += 1;
        let index = node as usize;
        let world = above.times(&self.nodes.local[index]);
        if self.nodes.mesh[index] != NO_MESH {
            self.place(node, self.nodes.mesh[index] as usize, &world)?;
        }
        Ok(Frame {
            world,
            next: self.nodes.first_child[index],
            end: self.nodes.first_child[index + 1],
        })
    }

    /// Appends the triangles of a mesh where a node puts it.
    fn place(&mut self, node: u32, index: usize, world: &Transform) -> Result<(), DataError> {
        let limit = self.options.max_triangles as usize;
        let left = limit - self.out.triangles.len();
        if self.meshes[index].is_none() {
            let list = self.root.need("meshes")?;
            let Some(mesh) = list.at(index as u64)? else {
                return Ok(());
            };
            let data = mesh::read(self.root, self.buffers, mesh, left)?;
            self.meshes[index] = Some(data);
        }
        let Some(mesh) = &self.meshes[index] else {
            return Ok(());
        };
        let base = self.out.vertices.len();
        let fits = u32::try_from(base + mesh.positions.len()).is_ok();
        if mesh.triangles.len() > left || !fits {
            let problem = format!("more than {limit} triangles, instances counted");
            return Err(self.about_node(node, DataErrorKind::Limit, &problem));
        }
        let places = mesh.positions.iter();
        let moved = places.map(|position| world.apply(position.map(f64::from)));
        self.out.vertices.extend(moved);
        let mirrors = world.mirrors();
        self.out.triangles.extend(mesh.triangles.iter().map(|face| {
            let [a, b, c] = face.map(|corner| corner + base as u32);
            if mirrors { [a, c, b] } else { [a, b, c] }
        }));
        Ok(())
    }

    #[cold]
    fn about_node(&self, node: u32, kind: DataErrorKind, problem: &str) -> DataError {
        let found = self.root.need("nodes").and_then(|list| {
            let node = list.at(u64::from(node))?;
            Ok(node.map(|node| node.error(kind, problem)))
        });
        match found {
            Ok(Some(error)) | Err(error) => error,
            Ok(None) => self.root.error(kind, problem),
        }
    }
}

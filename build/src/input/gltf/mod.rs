//! glTF 2.0: a scene file to the triangles of a level.
//!
//! In: the bytes of a `.gltf` or `.glb` file. Out: the world-space triangles of its scene
//! ([`GltfTriangles`]), the same on every platform: transforms are composed in double with `+ − ×`
//! only. Triangle primitives count, strips and fans included; points, lines, skins, animation,
//! morph targets, materials and cameras do not. Positions are read as plain floats only: sparse,
//! normalized and integer ones are refused. Follows the glTF 2.0 specification (Khronos, 2021).
//!
//! Nothing is fetched: buffers are inside the file or come from
//! [`GltfOptions::resolve_buffer`]. No file makes the reader do more work, or hold more memory, than
//! its bytes and the two limits of [`GltfOptions`] justify.

mod accessor;
mod buffers;
mod container;
mod json;
mod mesh;
mod transform;
mod walk;

use throng_soa::error::{ArgumentError, DataError, DataErrorKind};
use throng_soa::world::DVec3;

use self::json::Json;
use super::soup::Soup;

/// Fetches the bytes a URI of the file stands for, or says why not.
pub type ResolveBuffer<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;

/// Limits of a glTF file and the way to its buffers.
#[derive(Clone, Copy)]
pub struct GltfOptions<'a> {
    /// Most triangles of a scene, counted once per instance; 4,000,000.
    pub max_triangles: u32,
    /// Most nodes visited, counted once per path to a node; 1,000,000.
    pub max_nodes: u32,
    /// Answers URIs that are no data URIs, passed as they are written (percent signs included).
    /// Called once per different URI. Without it such a buffer is an error.
    pub resolve_buffer: Option<ResolveBuffer<'a>>,
}

impl Default for GltfOptions<'_> {
    fn default() -> Self {
        Self {
            max_triangles: 4_000_000,
            max_nodes: 1_000_000,
            resolve_buffer: None,
        }
    }
}

/// The triangles of a scene: Y up, counter-clockwise seen from their front.
///
/// Coordinates are as the file's transforms give them; whether they are inside the world is the
/// builder's question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GltfTriangles {
    /// Corners in world space: for each instance of a primitive, the vertices its triangles use.
    pub vertices: Vec<DVec3>,
    /// Indices into `vertices`.
    pub triangles: Vec<[u32; 3]>,
}

impl GltfTriangles {
    /// The triangles as checked geometry.
    ///
    /// # Errors
    /// A coordinate is not finite and strictly inside ±2^21.
    pub fn into_soup(self) -> Result<Soup, ArgumentError> {
        Soup::new(self.vertices, self.triangles)
    }
}

/// Whether bytes begin like a binary glTF file.
#[must_use]
pub fn is_glb(bytes: &[u8]) -> bool {
    container::is_glb(bytes)
}

/// Reads the scene of a `.gltf` or `.glb` file: the one `scene` names, else the first, else every
/// node that is no other's child.
///
/// # Errors
/// The file breaks a rule of glTF or of this module, needs an extension, or exceeds a limit. The
/// error names the JSON path (`meshes[2].primitives[0]`), or the offset in the container.
pub fn read_gltf(bytes: &[u8], options: &GltfOptions<'_>) -> Result<GltfTriangles, DataError> {
    let container = container::open(bytes)?;
    let document = json::parse(container.json)?;
    let root = Json::root(&document);
    check_asset(root)?;
    let buffers = buffers::read(root, container.binary, options.resolve_buffer)?;
    walk::read_scene(root, &buffers, options)
}

fn check_asset(root: Json<'_, '_>) -> Result<(), DataError> {
    let asset = root.need("asset")?;
    let version = asset.need("version")?;
    if !version.text()?.starts_with("2.") {
        let found = version.text()?.chars().take(20).collect::<String>();
        return Err(version.error(
            DataErrorKind::Value,
            format!("version {found:?}; only 2.x is read"),
        ));
    }
    if let Some(required) = root.get("extensionsRequired")? {
        if let Some(first) = required.items()?.first() {
            return Err(required.error(
                DataErrorKind::Value,
                format!("the file needs the extension {first}, which is not read"),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;

//! Random scenes, as glTF files and as the triangles they must give.

#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "shared by several test binaries; a failure here is a failed test"
)]

use throng_soa::DVec3;
use throng_soa::rng::SplitMix64;

/// A triangle by its corners.
pub(crate) type Triangle = [DVec3; 3];

/// Rotations whose arithmetic is exact: none, half turns, and third turns about the diagonals.
const EXACT_ROTATIONS: [[f64; 4]; 8] = [
    [0.0, 0.0, 0.0, 1.0],
    [1.0, 0.0, 0.0, 0.0],
    [0.0, 1.0, 0.0, 0.0],
    [0.0, 0.0, 1.0, 0.0],
    [0.5, 0.5, 0.5, 0.5],
    [-0.5, 0.5, 0.5, 0.5],
    [0.5, -0.5, 0.5, 0.5],
    [0.5, 0.5, -0.5, -0.5],
];

/// A node's placement, as the test knows it.
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    pub(crate) translation: DVec3,
    pub(crate) rotation: [f64; 4],
    pub(crate) scale: DVec3,
    pub(crate) as_matrix: bool,
}

impl Placement {
    /// Moves a point by turning vectors about an axis, not by a matrix.
    pub(crate) fn apply(&self, p: DVec3) -> DVec3 {
        let p = DVec3::new(p.x * self.scale.x, p.y * self.scale.y, p.z * self.scale.z);
        rotate(self.rotation, p) + self.translation
    }
}

fn cross(a: DVec3, b: DVec3) -> DVec3 {
    DVec3::new(
        a.y * b.z - a.z * b.y,
        a.z * b.x - a.x * b.z,
        a.x * b.y - a.y * b.x,
    )
}

fn rotate([x, y, z, w]: [f64; 4], v: DVec3) -> DVec3 {
    let axis = DVec3::new(x, y, z);
    let once = cross(axis, v) + v * w;
    v + cross(axis, once) * 2.0
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) placement: Placement,
    pub(crate) children: Vec<usize>,
    pub(crate) mesh: Option<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Primitive {
    pub(crate) positions: Vec<[f32; 3]>,
    pub(crate) indices: Option<Vec<u32>>,
    pub(crate) mode: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) nodes: Vec<Node>,
    pub(crate) meshes: Vec<Vec<Primitive>>,
    pub(crate) roots: Vec<usize>,
}

/// A scene of up to `size` nodes and meshes. `exact` keeps to numbers that no operation rounds.
pub(crate) fn random_scene(rng: &mut SplitMix64, size: u32, exact: bool) -> Scene {
    let mesh_count = 1 + rng.next_below(size) as usize;
    let meshes = (0..mesh_count)
        .map(|_| {
            (0..1 + rng.next_below(3))
                .map(|_| random_primitive(rng))
                .collect()
        })
        .collect();
    let node_count = 1 + rng.next_below(size) as usize;
    let mut nodes: Vec<Node> = (0..node_count)
        .map(|_| Node {
            placement: random_placement(rng, exact),
            children: Vec::new(),
            mesh: (rng.next_below(3) > 0).then(|| rng.next_below(mesh_count as u32) as usize),
        })
        .collect();
    // Children have higher numbers, so there is no circle; a node may have several parents.
    for child in 1..node_count {
        for _ in 0..=rng.next_below(2) {
            if rng.next_below(4) > 0 {
                let parent = rng.next_below(child as u32) as usize;
                nodes[parent].children.push(child);
            }
        }
    }
    let roots = (0..node_count)
        .filter(|n| !nodes.iter().any(|other| other.children.contains(n)))
        .collect();
    Scene {
        nodes,
        meshes,
        roots,
    }
}

fn random_primitive(rng: &mut SplitMix64) -> Primitive {
    let count = rng.next_below(12) as usize;
    let mut coordinate = || rng.next_below(257) as f32 / 8.0 - 16.0;
    let positions: Vec<[f32; 3]> = (0..count)
        .map(|_| [coordinate(), coordinate(), coordinate()])
        .collect();
    let indices = (rng.next_below(3) > 0).then(|| {
        let length = if count == 0 { 0 } else { rng.next_below(15) };
        (0..length).map(|_| rng.next_below(count as u32)).collect()
    });
    Primitive {
        positions,
        indices,
        mode: [4, 4, 5, 6, rng.next_below(4)][rng.next_below(5) as usize],
    }
}

fn random_placement(rng: &mut SplitMix64, exact: bool) -> Placement {
    let mut small = |steps: u32| f64::from(rng.next_below(2 * steps + 1)) - f64::from(steps);
    let translation = DVec3::new(small(64), small(64), small(64)) * 0.25;
    let mut sign = || if rng.next_below(4) == 0 { -1.0 } else { 1.0 };
    let signs = DVec3::new(sign(), sign(), sign());
    if exact {
        let mut power = || [0.5, 1.0, 1.0, 2.0][rng.next_below(4) as usize];
        return Placement {
            translation,
            scale: signs * DVec3::new(power(), power(), power()),
            rotation: EXACT_ROTATIONS[rng.next_below(8) as usize],
            as_matrix: rng.next_below(2) == 0,
        };
    }
    let mut size = || 0.3 + 1.4 * rng.next_f64();
    let scale = signs * DVec3::new(size(), size(), size());
    let mut q = [0.0; 4];
    let mut length = 0.0_f64;
    while length < 0.1 {
        q = [0.0; 4].map(|_: f64| rng.next_f64() * 2.0 - 1.0);
        length = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]).sqrt();
    }
    Placement {
        translation,
        rotation: q.map(|v| v / length),
        scale,
        as_matrix: rng.next_below(2) == 0,
    }
}

impl Scene {
    /// What a reader must give: every triangle of every instance, each corner moved up the path one
    /// node at a time.
    pub(crate) fn triangles(&self) -> Vec<Triangle> {
        let mut out = Vec::new();
        for &root in &self.roots {
            self.collect(root, &mut Vec::new(), &mut out);
        }
        out
    }

    fn collect(&self, node: usize, path: &mut Vec<usize>, out: &mut Vec<Triangle>) {
        path.push(node);
        if let Some(mesh) = self.nodes[node].mesh {
            let mirrored = path.iter().fold(false, |mirrored, &n| {
                let s = self.nodes[n].placement.scale;
                mirrored ^ ((s.x < 0.0) ^ (s.y < 0.0) ^ (s.z < 0.0))
            });
            let place = |p: [f32; 3]| {
                let own = DVec3::from_array(p.map(f64::from));
                path.iter()
                    .rev()
                    .fold(own, |p, &n| self.nodes[n].placement.apply(p))
            };
            for primitive in &self.meshes[mesh] {
                for [a, b, c] in primitive.faces() {
                    let [a, b, c] = [a, b, c].map(|v| place(primitive.positions[v as usize]));
                    out.push(if mirrored { [a, c, b] } else { [a, b, c] });
                }
            }
        }
        for &child in &self.nodes[node].children {
            self.collect(child, path, out);
        }
        path.pop();
    }
}

impl Primitive {
    fn faces(&self) -> Vec<[u32; 3]> {
        let all = (0..self.positions.len() as u32).collect();
        let list = self.indices.clone().unwrap_or(all);
        match self.mode {
            4 => list.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect(),
            5 => {
                let mut faces = Vec::new();
                let mut odd = false;
                for t in list.windows(3) {
                    faces.push(if odd {
                        [t[1], t[0], t[2]]
                    } else {
                        [t[0], t[1], t[2]]
                    });
                    odd = !odd;
                }
                faces
            }
            6 => match list.split_first() {
                Some((&hub, rim)) => rim.windows(2).map(|t| [hub, t[0], t[1]]).collect(),
                None => Vec::new(),
            },
            _ => Vec::new(),
        }
    }
}

/// How a scene is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Text with the buffer inside.
    Embedded,
    /// Text with the buffer elsewhere, as `level%20data.bin`.
    External,
    /// Binary.
    Binary,
}

/// A written scene: the file, and the buffer of [`Form::External`].
pub(crate) struct Written {
    pub(crate) file: Vec<u8>,
    pub(crate) buffer: Vec<u8>,
}

/// Writes a scene with random padding, strides and index widths.
pub(crate) fn write(scene: &Scene, form: Form, rng: &mut SplitMix64) -> Written {
    let mut buffer: Vec<u8> = vec![0xEE; rng.next_below(9) as usize];
    let mut views = Vec::new();
    let mut accessors = Vec::new();
    let mut add = |kind: &str, component: u32, elements: Vec<Vec<u8>>, rng: &mut SplitMix64| {
        let nothing = if kind == "VEC3" { 12 } else { 4 };
        let size = elements.first().map_or(nothing, Vec::len);
        let stride = (rng.next_below(2) == 0).then(|| size + rng.next_below(20) as usize);
        let lead = rng.next_below(5) as usize;
        let start = buffer.len();
        buffer.extend(vec![0xCD; lead]);
        let count = elements.len();
        for (index, element) in elements.into_iter().enumerate() {
            let last = index + 1 == count;
            buffer.extend(&element);
            if let (Some(stride), false) = (stride, last) {
                buffer.extend(vec![0xAB; stride - size]);
            }
        }
        let stride = stride.map_or(String::new(), |s| format!(r#","byteStride":{s}"#));
        views.push(format!(
            r#"{{"buffer":0,"byteOffset":{start},"byteLength":{}{stride}}}"#,
            buffer.len() - start
        ));
        accessors.push(format!(
            r#"{{"bufferView":{},"byteOffset":{lead},"componentType":{component},"count":{count},"type":"{kind}"}}"#,
            views.len() - 1
        ));
        accessors.len() - 1
    };
    let mut meshes = Vec::new();
    for mesh in &scene.meshes {
        let mut primitives = Vec::new();
        for primitive in mesh {
            let corners = primitive.positions.iter();
            let bytes = corners.map(|p| p.iter().flat_map(|c| c.to_le_bytes()).collect());
            let position = add("VEC3", 5126, bytes.collect(), rng);
            let mut text = format!(r#"{{"attributes":{{"POSITION":{position}}}"#);
            if primitive.mode != 4 || rng.next_below(2) == 0 {
                text += &format!(r#","mode":{}"#, primitive.mode);
            }
            if let Some(indices) = &primitive.indices {
                let (component, width) =
                    [(5121, 1), (5123, 2), (5125, 4)][rng.next_below(3) as usize];
                let bytes = indices.iter().map(|i| i.to_le_bytes()[..width].to_vec());
                let accessor = add("SCALAR", component, bytes.collect(), rng);
                text += &format!(r#","indices":{accessor}"#);
            }
            primitives.push(text + "}");
        }
        meshes.push(format!(r#"{{"primitives":[{}]}}"#, primitives.join(",")));
    }
    let nodes: Vec<String> = scene
        .nodes
        .iter()
        .map(|node| node_text(node, rng))
        .collect();
    let uri = match form {
        Form::Embedded => format!(
            r#","uri":"data:application/octet-stream;base64,{}""#,
            base64(&buffer)
        ),
        Form::External => r#","uri":"level%20data.bin""#.to_owned(),
        Form::Binary => String::new(),
    };
    let roots = list(&scene.roots);
    let scenes = match rng.next_below(3) {
        0 => String::new(),
        1 => format!(r#""scenes":[{{"nodes":{roots}}}],"#),
        _ => format!(r#""scene":1,"scenes":[{{"name":"other"}},{{"nodes":{roots}}}],"#),
    };
    let json = format!(
        r#"{{"asset":{{"version":"2.0"}},{scenes}"nodes":[{}],"meshes":[{}],"accessors":[{}],"bufferViews":[{}],"buffers":[{{"byteLength":{}{uri}}}]}}"#,
        nodes.join(","),
        meshes.join(","),
        accessors.join(","),
        views.join(","),
        buffer.len()
    );
    let file = match form {
        Form::Binary => glb(&json, &buffer),
        _ => json.into_bytes(),
    };
    Written { file, buffer }
}

/// A binary file of a JSON chunk, a chunk nobody knows, and a binary chunk.
pub(crate) fn glb(json: &str, binary: &[u8]) -> Vec<u8> {
    let mut chunks = Vec::new();
    let mut chunk = |kind: &[u8; 4], data: &[u8], fill: u8| {
        let padded = data.len().next_multiple_of(4);
        chunks.extend((padded as u32).to_le_bytes());
        chunks.extend(kind);
        chunks.extend(data);
        chunks.resize(chunks.len() + padded - data.len(), fill);
    };
    chunk(b"JSON", json.as_bytes(), b' ');
    chunk(b"XTRA", b"??", 0);
    chunk(b"BIN\0", binary, 0);
    let mut file = b"glTF".to_vec();
    file.extend(2_u32.to_le_bytes());
    file.extend((12 + chunks.len() as u32).to_le_bytes());
    file.extend(chunks);
    file
}

fn node_text(node: &Node, rng: &mut SplitMix64) -> String {
    let mut members = Vec::new();
    let Placement {
        translation: t,
        rotation: q,
        scale: s,
        as_matrix,
    } = &node.placement;
    if *as_matrix {
        let column = |axis: DVec3, size: f64| rotate(*q, axis) * size;
        let (x, y, z) = (
            column(DVec3::X, s.x),
            column(DVec3::Y, s.y),
            column(DVec3::Z, s.z),
        );
        let flat = [
            x.x, x.y, x.z, 0.0, y.x, y.y, y.z, 0.0, z.x, z.y, z.z, 0.0, t.x, t.y, t.z, 1.0,
        ];
        members.push(format!(r#""matrix":{flat:?}"#));
    } else {
        let plain = rng.next_below(2) == 0;
        if !plain || *t != DVec3::ZERO {
            members.push(format!(r#""translation":{:?}"#, t.to_array()));
        }
        if !plain || *q != [0.0, 0.0, 0.0, 1.0] {
            members.push(format!(r#""rotation":{q:?}"#));
        }
        if !plain || *s != DVec3::ONE {
            members.push(format!(r#""scale":{:?}"#, s.to_array()));
        }
    }
    if !node.children.is_empty() {
        members.push(format!(r#""children":{}"#, list(&node.children)));
    }
    if let Some(mesh) = node.mesh {
        members.push(format!(r#""mesh":{mesh}"#));
    }
    format!("{{{}}}", members.join(","))
}

fn list(numbers: &[usize]) -> String {
    format!("{numbers:?}")
}

/// Base64 bit by bit.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = (0..24).map(|b| {
            group
                .get(b / 8)
                .is_some_and(|byte| byte >> (7 - b % 8) & 1 == 1)
        });
        let bits: Vec<bool> = bits.collect();
        for (place, six) in bits.chunks(6).enumerate() {
            let value = six.iter().fold(0, |v, &bit| v * 2 + usize::from(bit));
            let digit = if place > group.len() {
                '='
            } else {
                char::from(DIGITS[value])
            };
            text.push(digit);
        }
    }
    text
}

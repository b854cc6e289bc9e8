//! Known answers of the reader, and every rule broken once.

use super::*;
use throng_soa::error::Location;

/// One triangle over the corners of `CORNERS`; `{}` marks where more members go.
const CORNERS: &str = "data:;base64,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAIA/AACAPwAAAAAAAAAAAAECAwABAAI=";

/// A document whose single mesh has vertices (0 0 0), (0 0 1), (1 0 0) at offset 0 and the bytes
/// 0 1 2 3 0 1 0 2 after them.
fn document(nodes: &str, primitive: &str) -> String {
    format!(
        r#"{{"asset":{{"version":"2.0"}},"nodes":[{nodes}],
        "meshes":[{{"primitives":[{primitive}]}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}},
                     {{"bufferView":1,"componentType":5121,"count":3,"type":"SCALAR"}}],
        "bufferViews":[{{"buffer":0,"byteLength":36}},{{"buffer":0,"byteOffset":36,"byteLength":8}}],
        "buffers":[{{"byteLength":44,"uri":"{CORNERS}"}}]}}"#
    )
}

const PLAIN: &str = r#"{"attributes":{"POSITION":0}}"#;

fn good() -> String {
    document(r#"{"mesh":0}"#, PLAIN)
}

fn read(text: &str) -> Result<GltfTriangles, DataError> {
    read_gltf(text.as_bytes(), &GltfOptions::default())
}

fn corners(text: &str) -> Vec<[[f64; 3]; 3]> {
    let read = read(text).unwrap();
    let corner = |v: u32| read.vertices[v as usize].to_array();
    read.triangles.iter().map(|t| t.map(corner)).collect()
}

/// The path (or place) and the problem of an error.
fn refused(text: &str) -> (String, String) {
    let error = read(text).unwrap_err();
    assert_eq!(error.format, "glTF");
    let at = match error.at {
        Location::Path(path) => path,
        other => other.to_string(),
    };
    (at, error.problem)
}

const TRIANGLE: [[f64; 3]; 3] = [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]];

#[test]
fn one_triangle() {
    assert_eq!(corners(&good()), [TRIANGLE]);
    let indexed = document(
        r#"{"mesh":0}"#,
        r#"{"attributes":{"POSITION":0},"indices":1}"#,
    );
    assert_eq!(corners(&indexed), [TRIANGLE]);
    // A byte order mark, and no scene at all.
    assert_eq!(corners(&format!("\u{FEFF}{}", good())), [TRIANGLE]);
    assert!(corners(r#"{"asset":{"version":"2.1"}}"#).is_empty());
}

#[test]
fn transforms_apply_in_the_order_scale_rotation_translation() {
    // A quarter turn about Y takes +x to -z; x is doubled before.
    let half = 0.5_f64.sqrt();
    let node = format!(
        r#"{{"mesh":0,"translation":[10,20,30],"rotation":[0,{half:?},0,{half:?}],"scale":[2,1,1]}}"#
    );
    let moved = corners(&document(&node, PLAIN))[0];
    let expected = [[10.0, 20.0, 30.0], [11.0, 20.0, 30.0], [10.0, 20.0, 28.0]];
    for (moved, expected) in moved.iter().flatten().zip(expected.iter().flatten()) {
        assert!((moved - expected).abs() < 1e-15, "{moved} {expected}");
    }
    let matrix = r#"{"mesh":0,"matrix":[0,0,-2,0, 0,1,0,0, 1,0,0,0, 10,20,30,1]}"#;
    assert_eq!(corners(&document(matrix, PLAIN)), [expected]);
    // Parent after child.
    let nodes = r#"{"children":[1],"translation":[1,0,0],"scale":[2,2,2]},
                   {"mesh":0,"translation":[1,0,0]}"#;
    let moved = corners(&document(nodes, PLAIN))[0];
    assert_eq!(moved[0], [3.0, 0.0, 0.0]);
}

#[test]
fn a_mirror_turns_triangles_round_and_two_do_not() {
    let one = corners(&document(r#"{"mesh":0,"scale":[-1,1,1]}"#, PLAIN));
    assert_eq!(one, [[[0.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]]);
    let two = corners(&document(r#"{"mesh":0,"scale":[-1,1,-1]}"#, PLAIN));
    assert_eq!(two, [[[0.0, 0.0, 0.0], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]]]);
    let nested = r#"{"scale":[1,1,-1],"children":[1]},{"mesh":0,"scale":[-1,1,1]}"#;
    assert_eq!(corners(&document(nested, PLAIN)), two);
}

#[test]
fn the_scene_is_the_one_named_or_the_first_or_everything() {
    let nodes = r#"{"mesh":0},{"mesh":0,"translation":[5,0,0]},{"children":[1]}"#;
    let all = document(nodes, PLAIN);
    let first = |text: &str| -> Vec<f64> { corners(text).iter().map(|t| t[0][0]).collect() };
    assert_eq!(first(&all), [0.0, 5.0]);
    let with = |members: &str| all.replacen('{', &format!("{{{members},"), 1);
    let scenes = r#""scenes":[{"nodes":[2,0,2]},{"nodes":[1]},{}]"#;
    assert_eq!(first(&with(scenes)), [5.0, 0.0, 5.0]);
    assert_eq!(first(&with(&format!(r#""scene":1,{scenes}"#))), [5.0]);
    assert!(first(&with(&format!(r#""scene":2,{scenes}"#))).is_empty());
    let (at, _) = refused(&with(&format!(r#""scene":3,{scenes}"#)));
    assert_eq!(at, "scene");
    assert_eq!(refused(&with(r#""scene":0"#)).0, "scene");
}

#[test]
fn strips_alternate_fans_turn_and_leftovers_are_dropped() {
    let indices = |count: u32, mode: u32| {
        let primitive = format!(r#"{{"attributes":{{"POSITION":0}},"indices":1,"mode":{mode}}}"#);
        let text = document(r#"{"mesh":0}"#, &primitive);
        // The indices 0 1 0 2 stand at the end.
        let text = text.replace(
            r#""componentType":5121,"count":3"#,
            &format!(r#""byteOffset":4,"componentType":5121,"count":{count}"#),
        );
        let read = read(&text).unwrap();
        let file_vertex = |v: u32| {
            let p = read.vertices[v as usize];
            if p.z > 0.0 {
                1
            } else if p.x > 0.0 {
                2
            } else {
                0
            }
        };
        let faces: Vec<[u32; 3]> = read.triangles.iter().map(|t| t.map(file_vertex)).collect();
        faces
    };
    assert_eq!(indices(4, 5), [[0, 1, 0], [0, 1, 2]]);
    assert_eq!(indices(4, 6), [[0, 1, 0], [0, 0, 2]]);
    assert_eq!(indices(4, 4), [[0, 1, 0]]);
    for mode in 0..4 {
        assert!(indices(4, mode).is_empty());
    }
    for mode in 4..7 {
        assert!(indices(2, mode).is_empty());
    }
}

#[test]
fn every_broken_rule_is_refused_where_it_is() {
    let good = good();
    let cases = [
        (r#""version":"2.0""#, r#""version":"1.0""#, "asset.version"),
        (r#"{"version":"2.0"}"#, "{}", "asset"),
        (r#"{"version":"2.0"}"#, "[]", "asset"),
        (
            r#""nodes""#,
            r#""extensionsRequired":["EXT_x"],"nodes""#,
            "extensionsRequired",
        ),
        (r#"{"mesh":0}"#, r#"{"mesh":1}"#, "nodes[0].mesh"),
        (r#"{"mesh":0}"#, r#"{"mesh":-1}"#, "nodes[0].mesh"),
        (r#"{"mesh":0}"#, r#"{"mesh":0.5}"#, "nodes[0].mesh"),
        (r#"{"mesh":0}"#, r#"7"#, "nodes[0]"),
        (
            r#"{"mesh":0}"#,
            r#"{"children":[3]}"#,
            "nodes[0].children[0]",
        ),
        (r#"{"mesh":0}"#, r#"{"scale":[1,2]}"#, "nodes[0].scale"),
        (
            r#"{"mesh":0}"#,
            r#"{"scale":[1,2,"3"]}"#,
            "nodes[0].scale[2]",
        ),
        (
            r#"{"mesh":0}"#,
            r#"{"rotation":[0,0,0,1.1]}"#,
            "nodes[0].rotation",
        ),
        (
            r#"{"mesh":0}"#,
            r#"{"scale":[1,1,1],"matrix":[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1]}"#,
            "nodes[0]",
        ),
        (
            r#"{"mesh":0}"#,
            r#"{"matrix":[1,0,0,1,0,1,0,0,0,0,1,0,0,0,0,1]}"#,
            "nodes[0].matrix",
        ),
        (
            r#""POSITION":0}"#,
            r#""NORMAL":0}"#,
            "meshes[0].primitives[0].attributes",
        ),
        (
            r#""POSITION":0}"#,
            r#""POSITION":7}"#,
            "meshes[0].primitives[0].attributes.POSITION",
        ),
        (
            r#""POSITION":0}"#,
            r#""POSITION":0},"mode":7"#,
            "meshes[0].primitives[0].mode",
        ),
        (
            r#""POSITION":0}"#,
            r#""POSITION":0},"indices":0"#,
            "accessors[0].componentType",
        ),
        ("5126", "5123", "accessors[0].componentType"),
        ("VEC3", "VEC2", "accessors[0].type"),
        (
            r#""count":3,"type":"VEC3""#,
            r#""count":4,"type":"VEC3""#,
            "accessors[0]",
        ),
        (
            r#""count":3,"type":"VEC3""#,
            r#""count":18446744073709551615,"type":"VEC3""#,
            "accessors[0]",
        ),
        (
            r#""count":3,"type":"VEC3""#,
            r#""byteOffset":1,"count":3,"type":"VEC3""#,
            "accessors[0]",
        ),
        (
            r#""type":"VEC3""#,
            r#""sparse":{},"type":"VEC3""#,
            "accessors[0]",
        ),
        (
            r#""type":"VEC3""#,
            r#""normalized":true,"type":"VEC3""#,
            "accessors[0].normalized",
        ),
        (r#"{"bufferView":0,"#, "{", "accessors[0]"),
        (
            r#"{"bufferView":0,"#,
            r#"{"bufferView":2,"#,
            "accessors[0].bufferView",
        ),
        (
            r#"{"buffer":0,"byteLength":36}"#,
            r#"{"buffer":1,"byteLength":36}"#,
            "bufferViews[0].buffer",
        ),
        (
            r#"{"buffer":0,"byteLength":36}"#,
            r#"{"buffer":0,"byteOffset":9,"byteLength":36}"#,
            "bufferViews[0]",
        ),
        (
            r#"{"buffer":0,"byteLength":36}"#,
            r#"{"buffer":0,"byteLength":36,"byteStride":11}"#,
            "bufferViews[0].byteStride",
        ),
        (
            r#"{"buffer":0,"byteLength":36}"#,
            r#"{"buffer":0,"byteLength":36,"byteStride":253}"#,
            "bufferViews[0].byteStride",
        ),
        (
            r#""byteLength":44"#,
            r#""byteLength":45"#,
            "buffers[0].byteLength",
        ),
        ("data:;base64,", "data:,", "buffers[0].uri"),
        ("data:;base64,", "data:;base64,*", "buffers[0].uri"),
        ("data:;base64,", "elsewhere.bin", "buffers[0].uri"),
        (r#","uri":""#, r#","name":""#, "buffers[0]"),
    ];
    for (from, to, expected) in cases {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "{from}");
        let (at, problem) = refused(&text);
        // The view ends one byte short for a strided read, too.
        assert_eq!(at, expected, "{to}: {problem}");
    }
    let bad_index = document(
        r#"{"mesh":0}"#,
        r#"{"attributes":{"POSITION":0},"indices":1}"#,
    )
    .replace(
        r#""componentType":5121,"count":3"#,
        r#""componentType":5121,"count":4"#,
    );
    assert_eq!(refused(&bad_index).0, "meshes[0].primitives[0]");
    // The first byte of the second corner's z, as a quiet NaN.
    let nan = good.replacen("AAAAAAIA/", "AAAAAAMB/", 1);
    assert_ne!(nan, good);
    let (at, problem) = refused(&nan);
    assert_eq!(at, "meshes[0].primitives[0]");
    assert!(problem.contains("vertex 1"), "{problem}");
}

#[test]
fn numbers_are_read_to_the_nearest_double() {
    // Halfway cases and long tails that a fast reader rounds wrong.
    for text in [
        "9007199254740993",
        "0.1",
        "1.7976931348623157e308",
        "123456789012345678e-17",
    ] {
        let node = format!(r#"{{"mesh":0,"translation":[{text},0,0]}}"#);
        let exact: f64 = text.parse().unwrap();
        assert_eq!(
            corners(&document(&node, PLAIN))[0][0][0].to_bits(),
            exact.to_bits()
        );
    }
}

#[test]
fn limits_stop_small_files_that_ask_for_much() {
    // Each node has the next as child twice: 2^200 visits.
    let mut nodes: Vec<String> = (1..200)
        .map(|next| format!(r#"{{"children":[{next},{next}]}}"#))
        .collect();
    nodes.push(r#"{"mesh":0}"#.to_owned());
    let (at, problem) = refused(&document(&nodes.join(","), PLAIN));
    assert!(at.starts_with("nodes["), "{at}");
    assert!(problem.contains("1000000 nodes"), "{problem}");
    // A circle.
    let circle = r#"{"children":[1]},{"children":[2]},{"children":[1]}"#;
    assert!(refused(&document(circle, PLAIN)).1.contains("256"));
    // A chain as deep as allowed, and one deeper.
    let chain = |length: usize| {
        let mut nodes: Vec<String> = (1..length)
            .map(|next| format!(r#"{{"children":[{next}]}}"#))
            .collect();
        nodes.push(r#"{"mesh":0}"#.to_owned());
        document(&nodes.join(","), PLAIN)
    };
    assert_eq!(corners(&chain(256)).len(), 1);
    assert_eq!(refused(&chain(257)).0, "nodes[256]");
    // Triangles, instances counted.
    let instances = |count: usize, most: u32| {
        let nodes = vec![r#"{"mesh":0}"#; count].join(",");
        let options = GltfOptions {
            max_triangles: most,
            ..GltfOptions::default()
        };
        read_gltf(document(&nodes, PLAIN).as_bytes(), &options)
    };
    assert_eq!(instances(3, 3).unwrap().triangles.len(), 3);
    assert!(instances(3, 2).is_err() && instances(1, 0).is_err());
    let few = GltfOptions {
        max_nodes: 2,
        ..GltfOptions::default()
    };
    let three = document(r#"{"mesh":0},{},{}"#, PLAIN);
    let error = read_gltf(three.as_bytes(), &few).unwrap_err();
    assert_eq!(error.at, Location::Path("nodes[2]".to_owned()));
}

#[test]
fn nesting_has_an_end() {
    let deep = |levels: usize| {
        let extra = format!(
            r#""extras":{}{},"nodes""#,
            "[".repeat(levels),
            "]".repeat(levels)
        );
        good().replacen(r#""nodes""#, &extra, 1)
    };
    // The document itself is the first level.
    assert_eq!(corners(&deep(63)).len(), 1);
    assert_eq!(read(&deep(64)).unwrap_err().kind, DataErrorKind::Limit);
    assert!(read(&deep(1 << 20)).is_err());
    // Brackets in strings do not nest.
    let quoted = format!(r#""extras":"\"{}","nodes""#, "[".repeat(100));
    assert_eq!(corners(&good().replacen(r#""nodes""#, &quoted, 1)).len(), 1);
    let error = read("{\n\n  oops}").unwrap_err();
    assert_eq!(
        (error.at, error.kind),
        (Location::Line(3), DataErrorKind::Text)
    );
}

#[test]
fn a_few_faces_of_a_large_array_keep_only_what_they_use() {
    // 100 vertices, one triangle of three of them: listed, where a full mesh is tabled.
    let mut bytes = Vec::new();
    for i in 0..100_u8 {
        for c in [f32::from(i), 0.0, 0.0] {
            bytes.extend(c.to_le_bytes());
        }
    }
    bytes.extend([90, 7, 30]);
    let json = r#"{"asset":{"version":"2.0"},"nodes":[{"mesh":0}],
        "meshes":[{"primitives":[{"attributes":{"POSITION":0},"indices":1}]}],
        "accessors":[{"bufferView":0,"componentType":5126,"count":100,"type":"VEC3"},
                     {"bufferView":0,"byteOffset":1200,"componentType":5121,"count":3,"type":"SCALAR"}],
        "bufferViews":[{"buffer":0,"byteLength":1203}],
        "buffers":[{"byteLength":1203,"uri":"a.bin"}]}"#;
    let resolve = |_: &str| Ok(bytes.clone());
    let options = GltfOptions {
        resolve_buffer: Some(&resolve),
        ..GltfOptions::default()
    };
    let read = read_gltf(json.as_bytes(), &options).unwrap();
    assert_eq!(read.triangles, [[2, 0, 1]]);
    let xs: Vec<f64> = read.vertices.iter().map(|v| v.x).collect();
    assert_eq!(xs, [7.0, 30.0, 90.0]);
}

#[test]
fn binary_files_are_taken_apart_as_their_lengths_say() {
    let json = good().replacen(&format!(r#","uri":"{CORNERS}""#), "", 1);
    let data = {
        use base64::Engine as _;
        let coded = CORNERS.split_once(',').unwrap().1;
        base64::engine::general_purpose::STANDARD
            .decode(coded)
            .unwrap()
    };
    let glb = |version: u32, chunks: &[(&[u8; 4], &[u8])]| {
        let mut body = Vec::new();
        for (kind, data) in chunks {
            let padded = data.len().next_multiple_of(4);
            body.extend((padded as u32).to_le_bytes());
            body.extend(*kind);
            body.extend(*data);
            body.resize(body.len() + padded - data.len(), b' ');
        }
        let mut file = b"glTF".to_vec();
        file.extend(version.to_le_bytes());
        file.extend((12 + body.len() as u32).to_le_bytes());
        file.extend(body);
        file
    };
    let read = |file: &[u8]| read_gltf(file, &GltfOptions::default());
    let file = glb(
        2,
        &[
            (b"JSON", json.as_bytes()),
            (b"BIN\0", &data),
            (b"BIN\0", b""),
        ],
    );
    assert_eq!(read(&file).unwrap().triangles.len(), 1);
    let swapped = glb(
        2,
        &[
            (b"what", b"?"),
            (b"BIN\0", &data),
            (b"JSON", json.as_bytes()),
        ],
    );
    assert_eq!(read(&swapped).unwrap(), read(&file).unwrap());
    let longer = [&file[..], b"rest"].concat();
    assert_eq!(read(&longer).unwrap(), read(&file).unwrap());
    let kind = |file: &[u8]| read(file).unwrap_err().kind;
    assert_eq!(
        kind(&glb(1, &[(b"JSON", json.as_bytes())])),
        DataErrorKind::Version {
            found: 1,
            expected: 2
        }
    );
    // No binary chunk, no JSON chunk, too short.
    assert_eq!(
        kind(&glb(2, &[(b"JSON", json.as_bytes())])),
        DataErrorKind::Value
    );
    assert_eq!(kind(&glb(2, &[(b"BIN\0", &data)])), DataErrorKind::Value);
    for end in 4..file.len() {
        assert_eq!(kind(&file[..end]), DataErrorKind::Truncated, "{end}");
    }
}

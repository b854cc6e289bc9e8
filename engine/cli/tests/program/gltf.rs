//! glTF levels: read by every command, with their buffers found next to them and nowhere else.

use std::path::Path;

use crate::{error, folder, hash, json, output, write_floor};

/// The 40 x 40 floor, its buffer named `uri`, or in the file itself.
fn floor(uri: Option<&str>) -> String {
    let uri = uri.map_or(String::new(), |uri| format!(r#","uri":"{uri}""#));
    format!(
        r#"{{"asset":{{"version":"2.0"}},"nodes":[{{"mesh":0,"scale":[40,40,40]}}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"mode":5}}]}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"}}],
        "bufferViews":[{{"buffer":0,"byteLength":48}}],
        "buffers":[{{"byteLength":48{uri}}}]}}"#
    )
}

/// The corners of a unit square, as a strip that faces up.
fn buffer() -> Vec<u8> {
    let corners = [
        [0.0, 0.0, 0.0],
        [0.0, 0.0, 1.0],
        [1.0, 0.0, 0.0],
        [1.0, 0.0, 1.0_f32],
    ];
    corners
        .into_iter()
        .flatten()
        .flat_map(f32::to_le_bytes)
        .collect()
}

fn glb() -> Vec<u8> {
    let mut text = floor(None).into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let word = |value: usize| (value as u32).to_le_bytes();
    let binary = buffer();
    let length = 12 + 8 + text.len() + 8 + binary.len();
    let head = [
        &b"glTF"[..],
        &word(2),
        &word(length),
        &word(text.len()),
        b"JSON",
    ]
    .concat();
    [
        head,
        text,
        word(binary.len()).to_vec(),
        b"BIN\0".to_vec(),
        binary,
    ]
    .concat()
}

fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    std::fs::write(folder.join(name), bytes).unwrap();
}

#[test]
fn a_floor_is_the_same_floor_in_every_file() {
    let folder = folder("gltf");
    write_floor(&folder);
    write(&folder, "floor.gltf", floor(Some("floor%20data.bin")));
    write(&folder, "floor data.bin", buffer());
    write(&folder, "floor.glb", glb());
    write(&folder, "floor.unnamed", glb());
    let walk = "--agents 20 --steps 40";
    let source = json(&folder, &format!("simulate floor.obj {walk}"));
    for name in ["floor.gltf", "floor.glb", "floor.unnamed"] {
        let run = json(&folder, &format!("simulate {name} {walk}"));
        assert_eq!(hash(&run), hash(&source), "{name}");
        let info = json(&folder, &format!("info {name}"));
        assert_eq!(info["kind"], "gltf");
        assert_eq!(info["triangles"], 2);
        assert_eq!(info["bounds"][1][2], 40.0);
        json(&folder, &format!("bake {name} -o {name}.nav"));
        json(&folder, &format!("path {name} --from 3,0,3 --to 36,0,36"));
    }
    json(&folder, "bake floor.obj -o floor.nav");
    let baked = |name: &str| std::fs::read(folder.join(name)).unwrap();
    assert_eq!(baked("floor.gltf.nav"), baked("floor.nav"));
    assert_eq!(baked("floor.glb.nav"), baked("floor.nav"));
    assert!(output(&folder, "info floor.glb").contains("glTF level"));
}

#[test]
fn buffers_come_from_below_the_level_only() {
    let folder = folder("gltf-buffers");
    let levels = folder.join("levels");
    std::fs::create_dir_all(levels.join("data")).unwrap();
    write(&folder, "secret.bin", buffer());
    write(&levels, "data/in.bin", buffer());
    write(&levels, "in.gltf", floor(Some("data/in.bin")));
    json(&folder, "info levels/in.gltf");
    let secret = folder.join("secret.bin");
    let secret = secret.to_str().unwrap().replace('\\', "/");
    for (uri, words) in [
        ("../secret.bin", "folder or below"),
        ("data/../../secret.bin", "folder or below"),
        ("%2e%2e/secret.bin", "folder or below"),
        (secret.as_str(), "are read"),
        ("https://example.com/a.bin", "next to the level"),
        ("data", "no regular file"),
        ("missing.bin", "there is no file levels/missing.bin"),
        ("%zz", "no file name"),
    ] {
        write(&levels, "out.gltf", floor(Some(uri)));
        let complaint = error(&folder, "bake levels/out.gltf -o x.nav", 1);
        assert!(complaint.contains(words), "{uri}: {complaint}");
        assert!(complaint.contains("buffers[0].uri"), "{uri}: {complaint}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.join("secret.bin"), levels.join("link.bin")).unwrap();
        write(&levels, "out.gltf", floor(Some("link.bin")));
        let complaint = error(&folder, "info levels/out.gltf", 1);
        assert!(
            complaint.contains("outside the level's folder"),
            "{complaint}"
        );
    }
    write(
        &levels,
        "short.gltf",
        floor(Some("data/in.bin")).replace(":48", ":49"),
    );
    let complaint = error(&folder, "simulate levels/short.gltf", 1);
    assert!(
        complaint.contains("levels/short.gltf: glTF: byteLength at buffers[0]"),
        "{complaint}"
    );
    write(&levels, "empty.gltf", r#"{"asset":{"version":"2.0"}}"#);
    let complaint = error(&folder, "simulate levels/empty.gltf", 1);
    assert!(complaint.contains("without triangles"), "{complaint}");
    write(&levels, "text.gltf", "v 0 0 0\n");
    let complaint = error(&folder, "info levels/text.gltf", 1);
    assert!(complaint.contains("line 1"), "{complaint}");
    write(
        &levels,
        "far.gltf",
        floor(Some("data/in.bin")).replace("[40,40,40]", "[1e300,1,1]"),
    );
    let complaint = error(&folder, "info levels/far.gltf", 1);
    assert!(complaint.contains("vertices[2].x"), "{complaint}");
}

//! Bad glTF bytes and bad voxel tables: each ends in a level or an error that says where, never in
//! a panic, and within what the limits allow.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod gltf_support;

use gltf_support::{Form, glb, random_scene, write};
use proptest::prelude::*;
use throng_build::input::{
    GltfOptions, GltfTriangles, SolidHeightfield, VoxelChunk, VoxelRun, read_gltf,
};
use throng_build::voxel::frame::HeightfieldFrame;
use throng_build::{
    BuildError, BuildOptions, NavSettings, build_chunk_with, build_heightfield_with, build_soup,
};
use throng_soa::DVec3;
use throng_soa::error::{DataError, DataErrorKind, Location};
use throng_soa::rng::SplitMix64;
use throng_soa::spans::SolidSpans;

const LIMITS: GltfOptions<'_> = GltfOptions {
    max_triangles: 20_000,
    max_nodes: 20_000,
    resolve_buffer: None,
};

/// Reads bytes from anywhere and checks what comes back.
fn read(bytes: &[u8]) -> Result<GltfTriangles, DataError> {
    let outcome = read_gltf(bytes, &LIMITS);
    match &outcome {
        Ok(level) => {
            assert!(level.triangles.len() <= 20_000);
            let count = level.vertices.len();
            assert!(count <= 3 * level.triangles.len());
            assert!(
                level
                    .triangles
                    .iter()
                    .flatten()
                    .all(|&v| (v as usize) < count)
            );
        }
        Err(error) => {
            assert_eq!(error.format, "glTF");
            assert!(error.at != Location::Nowhere, "{error}");
            assert!(!error.problem.is_empty(), "{error:?}");
        }
    }
    outcome
}

fn file(seed: u64, form: Form) -> Vec<u8> {
    let mut rng = SplitMix64::new(seed);
    let scene = random_scene(&mut rng, 5, false);
    write(&scene, form, &mut rng).file
}

#[test]
fn every_prefix_is_refused() {
    for (seed, form) in [(1, Form::Embedded), (2, Form::Binary)] {
        let whole = file(seed, form);
        assert!(read(&whole).is_ok());
        for end in 0..whole.len() {
            assert!(read(&whole[..end]).is_err(), "{end} of {}", whole.len());
        }
    }
}

/// Numbers that stand at the edge of something.
const NUMBERS: [&str; 16] = [
    "-1",
    "0",
    "1",
    "2",
    "255",
    "256",
    "65535",
    "4294967295",
    "4294967296",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "0.5",
    "1e308",
    "-1e-320",
    "1e999",
];
/// What may stand where a number stood.
const OTHERS: [&str; 8] = [
    "null",
    "true",
    "\"text\"",
    "[]",
    "{}",
    "[0]",
    "{\"POSITION\":0}",
    "\"data:;base64,AAAA\"",
];

/// Replaces the `which`-th run of digits of a JSON text.
fn with_number(json: &str, which: usize, new: &str) -> String {
    let bytes = json.as_bytes();
    let is_digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    let starts: Vec<usize> = (0..bytes.len())
        .filter(|&i| is_digit(i) && (i == 0 || !is_digit(i - 1)))
        .collect();
    let start = starts[which % starts.len()];
    let end = (start..).find(|&i| !is_digit(i)).unwrap();
    format!("{}{new}{}", &json[..start], &json[end..])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn flipped_bytes_never_panic(
        seed in 0..20_u64,
        binary in any::<bool>(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = file(seed, if binary { Form::Binary } else { Form::Embedded });
        for (at, value) in flips {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let _ = read(&bytes);
    }

    #[test]
    fn hostile_numbers_and_kinds_never_panic(
        seed in 0..20_u64,
        edits in prop::collection::vec((any::<usize>(), 0..NUMBERS.len() + OTHERS.len()), 1..4),
    ) {
        let mut json = String::from_utf8(file(seed, Form::Embedded)).unwrap();
        for (which, new) in edits {
            let new = NUMBERS.get(new).copied().unwrap_or_else(|| OTHERS[new - NUMBERS.len()]);
            json = with_number(&json, which, new);
        }
        // A level of half the world is fine, but takes its time.
        let small = |v: &DVec3| !v.is_finite() || v.abs().max_element() < 300.0;
        let level = read(json.as_bytes()).ok();
        if let Some(level) = level.filter(|level| level.vertices.iter().all(small)) {
            let built = build_soup(&level.vertices, &level.triangles, &coarse(), 1);
            prop_assert!(!matches!(built, Err(BuildError::Data(_))), "{built:?}");
        }
    }

    #[test]
    fn random_bytes_and_containers_never_panic(
        json in "[\\[\\]{}\":,0-9a-z. ]{0,60}",
        bytes in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        let _ = read(json.as_bytes());
        let _ = read(&bytes);
        let _ = read(&glb(&json, &bytes));
        let _ = read(&[b"glTF\x02\0\0\0", &bytes[..]].concat());
    }

    #[test]
    fn run_tables_are_taken_or_refused(
        size in (0..4_u32, 0..4_u32, 0..12_u32),
        first in prop::collection::vec(0..9_u32, 0..12),
        sorted in any::<bool>(),
        runs in prop::collection::vec((0..9_u16, 0..5_u16, 0..3_u8), 0..9),
    ) {
        let (width, depth, height) = size;
        let mut first = first;
        if sorted {
            // Close to a table that fits.
            first.resize((width * depth) as usize + 1, runs.len() as u32);
            first.sort_unstable();
            first[0] = 0;
        }
        let runs: Vec<VoxelRun> = runs
            .into_iter()
            .map(|(start, length, material)| VoxelRun { start, length, material })
            .collect();
        let slow = fits(width, depth, height, &first, &runs);
        let chunk = VoxelChunk::from_runs(width, depth, height, first, runs);
        prop_assert_eq!(chunk.is_ok(), slow);
        if let Ok(chunk) = chunk {
            build_chunk_with(&chunk, None, &coarse(), &BuildOptions::default()).unwrap();
        }
    }

    #[test]
    fn dense_tables_are_taken_when_they_match(
        size in (0..4_u32, 0..4_u32, 0..5_u32),
        voxels in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        let (width, depth, height) = size;
        let matching = voxels.len() as u32 == width * depth * height && !voxels.is_empty();
        let chunk = VoxelChunk::from_dense(width, depth, height, &voxels);
        prop_assert_eq!(chunk.is_ok(), matching);
    }

    #[test]
    fn span_tables_are_taken_or_refused(
        size in (0..3_u32, 0..3_u32),
        first in prop::collection::vec(0..6_u32, 0..8),
        spans in prop::collection::vec((0..9_u16, 0..12_u16, 0..80_u8), 0..5),
        matching in any::<bool>(),
    ) {
        let (width, depth) = size;
        let mut first = first;
        if matching {
            first.resize((width * depth) as usize + 1, spans.len() as u32);
            first.sort_unstable();
            first[0] = 0;
        }
        let frame = HeightfieldFrame {
            origin: DVec3::ZERO,
            cell_size: 1.0,
            cell_height: 1.0,
            width,
            depth,
            rows: 10,
        };
        let table = SolidSpans {
            width,
            depth,
            cell_first: first,
            min: spans.iter().map(|s| s.0).collect(),
            max: spans.iter().map(|s| s.1).collect(),
            area: spans.iter().map(|s| s.2).collect(),
        };
        if let Ok(field) = SolidHeightfield::from_spans(frame, &table) {
            prop_assert_eq!(&field.to_spans(), &table);
            build_heightfield_with(&field, &coarse(), &BuildOptions::default()).unwrap();
        }
    }
}

fn coarse() -> NavSettings {
    NavSettings {
        cell_size: 1.0,
        cell_height: 0.5,
        tile_size: 16.0,
        ..NavSettings::HUMANOID
    }
}

/// Whether runs fit a chunk, row by row.
fn fits(width: u32, depth: u32, height: u32, first: &[u32], runs: &[VoxelRun]) -> bool {
    let columns = (width * depth) as usize;
    if columns == 0 || height == 0 || first.len() != columns + 1 || first[0] != 0 {
        return false;
    }
    if first[columns] as usize != runs.len() || !first.is_sorted() {
        return false;
    }
    (0..columns).all(|column| {
        let mut taken = vec![false; height as usize];
        let mut lowest = 0;
        let own = &runs[first[column] as usize..first[column + 1] as usize];
        own.iter().all(|run| {
            let sorted = run.start >= lowest;
            lowest = run.start;
            let rows = run.start..run.start + run.length;
            let free = rows.clone().all(|row| {
                let taken = taken.get_mut(usize::from(row));
                taken.is_some_and(|taken| !core::mem::replace(taken, true))
            });
            sorted && free && !rows.is_empty() && run.material > 0
        })
    })
}

/// A document whose mesh asks for far more work than its bytes.
fn bomb(nodes: &str, primitives: &str, count: u64) -> String {
    format!(
        r#"{{"asset":{{"version":"2.0"}},"nodes":[{nodes}],"meshes":[{{"primitives":[{primitives}]}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":{count},"type":"VEC3"}},
                     {{"bufferView":0,"componentType":5121,"count":{count},"type":"SCALAR"}}],
        "bufferViews":[{{"buffer":0,"byteLength":{bytes}}}],
        "buffers":[{{"byteLength":{bytes},"uri":"zeros"}}]}}"#,
        bytes = count * 12
    )
}

#[test]
fn small_files_that_ask_for_much_are_stopped() {
    let zeros = |_: &str| Ok(vec![0; 12_000_000]);
    let options = GltfOptions {
        resolve_buffer: Some(&zeros),
        ..GltfOptions::default()
    };
    let read = |text: &str| read_gltf(text.as_bytes(), &options);
    let point = r#"{"attributes":{"POSITION":0},"mode":0}"#;
    let plain = r#"{"attributes":{"POSITION":0}}"#;
    let indexed = r#"{"attributes":{"POSITION":0},"indices":1}"#;
    let many = |text: &str, count: usize| vec![text; count].join(",");
    // A million vertices, a hundred thousand times, in points: nothing is read.
    let level = read(&bomb(
        &many(r#"{"mesh":0}"#, 1000),
        &many(point, 100),
        1_000_000,
    ));
    assert_eq!(level.unwrap(), GltfTriangles::default());
    // In triangles: the limit.
    let error = read(&bomb(r#"{"mesh":0}"#, &many(plain, 1000), 1_000_000)).unwrap_err();
    assert_eq!(error.kind, DataErrorKind::Limit);
    assert_eq!(
        error.at,
        Location::Path("meshes[0].primitives[12]".to_owned())
    );
    let error = read(&bomb(&many(r#"{"mesh":0}"#, 1000), indexed, 1_000_000)).unwrap_err();
    assert_eq!(error.at, Location::Path("nodes[12]".to_owned()));
    // Many primitives that use a corner each of a large array.
    let two = many(r#"{"attributes":{"POSITION":0},"indices":2}"#, 20_000);
    let text = bomb(r#"{"mesh":0}"#, &two, 1_000_000).replacen(
        r#""accessors":["#,
        r#""accessors":[
        {"bufferView":0,"componentType":5126,"count":1000000,"type":"VEC3"},
        {"bufferView":0,"componentType":5121,"count":1,"type":"SCALAR"},
        {"bufferView":0,"componentType":5121,"count":3,"type":"SCALAR"},"#,
        1,
    );
    assert_eq!(read(&text).unwrap().triangles.len(), 20_000);
}

#[test]
fn a_buffer_named_often_is_fetched_once() {
    let calls = core::cell::Cell::new(0);
    let resolve = |uri: &str| {
        calls.set(calls.get() + 1);
        if uri == "gone.bin" {
            Err("gone".to_owned())
        } else {
            Ok(vec![0; 10])
        }
    };
    let options = GltfOptions {
        resolve_buffer: Some(&resolve),
        ..GltfOptions::default()
    };
    let document =
        |buffers: &str| format!(r#"{{"asset":{{"version":"2.0"}},"buffers":[{buffers}]}}"#);
    let one = r#"{"byteLength":10,"uri":"a.bin"}"#;
    let text = document(&vec![one; 500].join(","));
    assert!(read_gltf(text.as_bytes(), &options).is_ok());
    assert_eq!(calls.get(), 1);
    let text = document(&format!(r#"{one},{{"byteLength":1,"uri":"gone.bin"}}"#));
    let error = read_gltf(text.as_bytes(), &options).unwrap_err();
    assert_eq!(error.at, Location::Path("buffers[1].uri".to_owned()));
    assert!(error.problem.contains("gone.bin"), "{error}");
}

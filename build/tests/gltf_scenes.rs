//! Random scenes, written as glTF and read back, against corners moved by hand.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod gltf_support;

use gltf_support::{Form, Scene, Triangle, Written, random_scene, write};
use throng_build::input::{GltfOptions, GltfTriangles, read_gltf};
use throng_soa::DVec3;
use throng_soa::rng::SplitMix64;

const FORMS: [Form; 3] = [Form::Embedded, Form::External, Form::Binary];

fn read(written: &Written) -> GltfTriangles {
    let resolve = |uri: &str| {
        assert_eq!(uri, "level%20data.bin");
        Ok(written.buffer.clone())
    };
    let options = GltfOptions {
        resolve_buffer: Some(&resolve),
        ..GltfOptions::default()
    };
    read_gltf(&written.file, &options).unwrap()
}

fn corners(read: &GltfTriangles) -> Vec<Triangle> {
    let corner = |v: u32| read.vertices[v as usize];
    read.triangles.iter().map(|t| t.map(corner)).collect()
}

fn scenes(seed: u64, count: u32, exact: bool) -> impl Iterator<Item = (Scene, Written)> {
    let mut rng = SplitMix64::new(seed);
    (0..count).map(move |round| {
        let scene = random_scene(&mut rng, 2 + round % 7, exact);
        let written = write(&scene, FORMS[round as usize % 3], &mut rng);
        (scene, written)
    })
}

#[test]
fn exact_scenes_come_back_to_the_bit() {
    let (mut triangles, mut mirrored) = (0, 0);
    for (scene, written) in scenes(1, 900, true) {
        let expected = scene.triangles();
        let found = corners(&read(&written));
        assert_eq!(
            found,
            expected,
            "{}",
            String::from_utf8_lossy(&written.file)
        );
        triangles += found.len();
        mirrored += usize::from(scene.nodes.iter().any(|n| n.placement.scale.x < 0.0));
    }
    assert!(
        triangles > 10_000 && mirrored > 100,
        "{triangles} {mirrored}"
    );
}

#[test]
fn any_scene_comes_back_up_to_rounding() {
    for (scene, written) in scenes(2, 300, false) {
        let expected = scene.triangles();
        let found = corners(&read(&written));
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
            let off: DVec3 = (*found - *expected).abs();
            let size = expected.abs().max_element().max(1000.0);
            assert!(off.max_element() < 1e-12 * size, "{found} {expected}");
        }
    }
}

#[test]
fn every_form_gives_the_same_bits() {
    let mut rng = SplitMix64::new(3);
    for _ in 0..100 {
        let scene = random_scene(&mut rng, 6, false);
        let all = FORMS.map(|form| corners(&read(&write(&scene, form, &mut rng))));
        assert_eq!(all[0], all[1]);
        assert_eq!(all[0], all[2]);
    }
}

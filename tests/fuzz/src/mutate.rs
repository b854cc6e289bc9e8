//! The targets without libFuzzer, on stable Rust: each seed is cut, joined, stamped and flipped by a
//! seeded generator. Not led by coverage; the same arguments run the same inputs.
//!
//! `mutate TARGET COUNT [SEED]`; a panic prints the number of the input, and the input is written to
//! `artifacts/TARGET/`.

use std::panic::catch_unwind;
use std::path::Path;
use std::{env, fs, process};

use throng::SplitMix64;

type Target = fn(&[u8]);

const TARGETS: [(&str, Target); 18] = [
    ("mesh", throng_fuzz::mesh),
    ("tile", throng_fuzz::tile),
    ("snapshot", throng_fuzz::snapshot),
    ("onnm", throng_fuzz::onnm),
    ("onnw", throng_fuzz::onnw),
    ("crowd_state", throng_fuzz::crowd_state),
    ("crowd_with_mesh", throng_fuzz::crowd_with_mesh),
    ("cache_snapshot", throng_fuzz::cache_snapshot),
    ("corridor", throng_fuzz::corridor),
    ("follower", throng_fuzz::follower),
    ("obj", throng_fuzz::obj),
    ("gltf", throng_fuzz::gltf),
    ("chunk", throng_fuzz::chunk),
    ("heightfield", throng_fuzz::heightfield),
    ("height_grid", throng_fuzz::height_grid),
    ("greymap", throng_fuzz::greymap),
    ("cell_text", throng_fuzz::cell_text),
    ("recording", throng_fuzz::recording),
];

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let named = |&&(name, _): &&(&str, Target)| Some(name) == arguments.get(1).map(String::as_str);
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse().ok());
    let (Some(&(name, target)), Some(count)) = (TARGETS.iter().find(named), number(2)) else {
        eprintln!("mutate TARGET COUNT [SEED]");
        process::exit(2);
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seeds = Vec::new();
    let mut paths: Vec<_> = fs::read_dir(root.join("seeds").join(name))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    for path in paths {
        seeds.push(fs::read(path).unwrap());
    }
    let mut rng = SplitMix64::new(number(3).unwrap_or(1));
    for input in 0..count {
        let bytes = mutated(&seeds, &mut rng);
        if catch_unwind(|| target(&bytes)).is_err() {
            let folder = root.join("artifacts").join(name);
            fs::create_dir_all(&folder).unwrap();
            let path = folder.join(format!("mutate-{input}"));
            fs::write(&path, &bytes).unwrap();
            eprintln!("input {input}: {}", path.display());
            process::exit(1);
        }
    }
    println!("{name}: {count} inputs, no finding");
}

fn mutated(seeds: &[Vec<u8>], rng: &mut SplitMix64) -> Vec<u8> {
    let below = |rng: &mut SplitMix64, n: usize| rng.next_below(n.max(1) as u32) as usize;
    let mut bytes = seeds[below(rng, seeds.len())].clone();
    for _ in 0..1 + below(rng, 4) {
        let at = below(rng, bytes.len());
        match rng.next_below(8) {
            0..=2 if at < bytes.len() => bytes[at] ^= 1 << rng.next_below(8),
            3 if at < bytes.len() => bytes[at] = rng.next_u64() as u8,
            4 if at + 4 <= bytes.len() => {
                let edges = [
                    0,
                    1,
                    2,
                    0x7FFF_FFFF,
                    0x8000_0000,
                    u32::MAX,
                    0x7F80_0000,
                    0xFFFF,
                ];
                bytes[at..at + 4].copy_from_slice(&edges[below(rng, 8)].to_le_bytes());
            }
            5 => bytes.truncate(at),
            6 => {
                let other = &seeds[below(rng, seeds.len())];
                let from = below(rng, other.len());
                bytes.truncate(at);
                bytes.extend(&other[from..]);
            }
            _ => {
                let to = (at + below(rng, 16)).min(bytes.len());
                let piece = bytes[at..to].to_vec();
                bytes.splice(at..at, piece);
            }
        }
    }
    bytes
}

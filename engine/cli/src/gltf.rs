//! glTF levels, with the files they name.
//!
//! In: the path and bytes of a `.gltf` or `.glb` file. Out: its triangles. Buffers are looked for
//! next to the file and below, nowhere else: a level from a stranger opens no other file.

use std::fs;
use std::path::{Component, Path, PathBuf};

use throng::{GltfOptions, Soup, read_gltf};

use crate::host;
use crate::words::data_problem;

/// Whether a file is glTF, by name or content.
pub(crate) fn is_gltf(path: &Path, bytes: &[u8]) -> bool {
    let extension = path.extension().unwrap_or_default();
    extension.eq_ignore_ascii_case("gltf")
        || extension.eq_ignore_ascii_case("glb")
        || bytes.starts_with(b"glTF")
}

/// Reads the scene of a file.
pub(crate) fn read(path: &Path, bytes: &[u8]) -> Result<Soup, String> {
    let resolve = |uri: &str| read_buffer(path, uri);
    let options = GltfOptions {
        resolve_buffer: Some(&resolve),
        ..GltfOptions::default()
    };
    let level = read_gltf(bytes, &options).map_err(|error| data_problem(&error))?;
    let soup = level.into_soup();
    soup.map_err(|error| format!("glTF: the scene's {error}"))
}

/// The bytes of a buffer that `file` names.
fn read_buffer(file: &Path, uri: &str) -> Result<Vec<u8>, String> {
    let name = decoded(uri).ok_or("this is no file name")?;
    let relative = inner_path(&name)?;
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let wanted = folder.join(relative);
    let found = match (wanted.canonicalize(), folder.canonicalize()) {
        (Ok(found), Ok(folder)) if found.starts_with(&folder) => found,
        (Ok(_), Ok(_)) => return Err("it lies outside the level's folder".into()),
        _ => return Err(format!("there is no file {}", wanted.display())),
    };
    // A pipe would be waited for.
    match fs::metadata(&found) {
        Ok(about) if about.is_file() => {}
        _ => return Err(format!("{} is no regular file", wanted.display())),
    }
    host::read(&found).map_err(|failure| match failure {
        host::Failure::Said(problem) | host::Failure::Usage(problem) => problem,
        host::Failure::ReaderGone => "cannot be read".into(),
    })
}

/// A path that goes only downwards.
fn inner_path(name: &str) -> Result<PathBuf, String> {
    let scheme = name.split_once(':').is_some();
    if scheme || name.contains('\\') || name.contains('\0') {
        return Err("only files next to the level are read".into());
    }
    let path = Path::new(name);
    let downwards = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if name.is_empty() || !path.components().all(downwards) {
        return Err("only files in the level's folder or below are read".into());
    }
    Ok(path.to_path_buf())
}

/// A URI with its percent signs resolved; nothing when they do not spell text.
fn decoded(uri: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let [high, low, after @ ..] = rest else {
            return None;
        };
        let digit = |byte: u8| char::from(byte).to_digit(16);
        bytes.push((digit(*high)? * 16 + digit(*low)?) as u8);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_decoded_and_kept_inside() {
        assert_eq!(decoded("a%20b%2ebin").as_deref(), Some("a b.bin"));
        for bad in ["%", "%2", "%zz", "%ff"] {
            assert_eq!(decoded(bad), None, "{bad}");
        }
        for good in ["a.bin", "sub/a.bin", "./a.bin", "a..bin"] {
            assert!(inner_path(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "/etc/passwd",
            "../a.bin",
            "sub/../../a.bin",
            "..",
            "http://x/a.bin",
            "C:a.bin",
            "..\\a.bin",
            "a\0b",
            "file:a.bin",
        ] {
            assert!(inner_path(bad).is_err(), "{bad}");
        }
    }
}

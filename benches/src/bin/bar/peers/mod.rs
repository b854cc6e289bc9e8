//! The engines the bar compares with, from crates.io: Recast and Detour in C++, `dodgy_2d` in Rust.
//! Only the feature `peers` builds them.

#![allow(unsafe_code, reason = "foreign functions of C++ libraries")]

pub(crate) mod detour;
pub(crate) mod recast;
pub(crate) mod tile_cache;

use std::path::Path;

/// How the C++ libraries were compiled, read from the files their build left beside this program.
///
/// # Errors
/// There are no such files, or one says that a build was not optimised: its times would say nothing.
pub(crate) fn compiled_with(program: &Path) -> Result<String, String> {
    let builds = program.parent().map(|folder| folder.join("build"));
    let builds = builds.and_then(|folder| folder.read_dir().ok());
    let mut found = None;
    for entry in builds.into_iter().flatten().flatten() {
        if !entry
            .file_name()
            .to_string_lossy()
            .starts_with("recastnavigation-sys-")
        {
            continue;
        }
        let cache = entry.path().join("out/build/CMakeCache.txt");
        let Ok(text) = std::fs::read_to_string(cache) else {
            continue;
        };
        let value = |name: &str| {
            let line = text.lines().find(|line| line.starts_with(name));
            line.and_then(|line| line.split_once('='))
                .map_or("", |(_, value)| value.trim())
        };
        let kind = value("CMAKE_BUILD_TYPE:");
        let flags = value(&format!("CMAKE_CXX_FLAGS_{}:", kind.to_uppercase()));
        if !["-O2", "-O3"].iter().any(|level| flags.contains(level)) {
            return Err(format!("the C++ peers are not optimised: {kind}, {flags}"));
        }
        let compiler = value("CMAKE_CXX_COMPILER:");
        found = Some(format!("{compiler} {flags} ({kind})"));
    }
    found.ok_or_else(|| "no CMakeCache.txt of recastnavigation-sys beside this program".into())
}

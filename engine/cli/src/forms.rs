//! The kinds of bytes throng writes, known by their first four.

/// Magic of a baked file.
pub(crate) const BAKED: &[u8] = b"ONNM";
/// Magic of bare mesh bytes, which carry no settings.
pub(crate) const BARE: &[u8] = b"ONPM";
/// Magic of a baked world: a mesh per agent class.
pub(crate) const WORLD: &[u8] = b"ONNW";
/// Magic of a mesh snapshot.
pub(crate) const SNAPSHOT: &[u8] = b"ONPS";
/// Magic of a tile cache with its mesh.
pub(crate) const CACHE: &[u8] = b"ONTK";
/// Magic of one tile.
pub(crate) const TILE: &[u8] = b"ONPT";
/// Magic of a saved crowd.
pub(crate) const CROWD: &[u8] = b"OPCS";
/// Magic of a recording.
pub(crate) const RECORDING: &[u8] = b"THRR";

/// What bytes that are no level are, and who reads them; `None` for anything else.
pub(crate) fn no_level(bytes: &[u8]) -> Option<&'static str> {
    let forms = [
        (WORLD, "a baked world (NavWorld::load reads it)"),
        (SNAPSHOT, "a mesh snapshot (NavMesh::restore reads it)"),
        (
            CACHE,
            "a tile cache's snapshot (TileCache::restore reads it)",
        ),
        (
            TILE,
            "one tile of a mesh (parts::soa::mesh::format::read_tile reads it)",
        ),
        (CROWD, "a saved crowd (Crowd::restore_state reads it)"),
        (RECORDING, "a recording (throng info reads it)"),
    ];
    let known = forms
        .into_iter()
        .find(|(magic, _)| bytes.starts_with(magic))?;
    Some(known.1)
}

/// The form and version that bytes throng wrote begin with.
pub(crate) fn versioned(bytes: &[u8]) -> Option<(&'static str, u16)> {
    let forms = [BAKED, BARE, WORLD, SNAPSHOT, CACHE, TILE, CROWD, RECORDING];
    let magic = forms.into_iter().find(|magic| bytes.starts_with(magic))?;
    let &[low, high] = bytes.get(magic.len()..magic.len() + 2)? else {
        return None;
    };
    let form = core::str::from_utf8(magic).ok()?;
    Some((form, u16::from_le_bytes([low, high])))
}

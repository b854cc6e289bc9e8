//! What a level file holds: triangles, a height grid, or cells. The first bytes say which, or the
//! name of a glTF file; anything else is taken for OBJ.

use std::path::Path;

use throng::{Soup, read_obj};

use crate::cells::{self, Cells};
use crate::forms;
use crate::gltf;
use crate::greymap::{self, Greymap};
use crate::words::data_problem;

/// A level as its file has it.
#[derive(Debug)]
pub(crate) enum Input {
    /// OBJ.
    Obj(Soup),
    /// glTF, text or binary.
    Gltf(Soup),
    /// Grey levels of a height grid.
    Grid(Greymap),
    /// Voxels or a solid heightfield.
    Cells(Cells),
}

/// Reads the bytes of the file at `path`; says what they are when they are no level.
pub(crate) fn read(path: &Path, bytes: &[u8]) -> Result<Input, String> {
    if gltf::is_gltf(path, bytes) {
        return gltf::read(path, bytes).map(Input::Gltf);
    }
    if greymap::is_greymap(bytes) {
        let grid = greymap::read(bytes).map_err(|error| data_problem(&error))?;
        return Ok(Input::Grid(grid));
    }
    if let Some(format) = cells::format_of(bytes) {
        let cells = cells::read(format, bytes).map_err(|error| data_problem(&error))?;
        return Ok(Input::Cells(cells));
    }
    if let Some(form) = forms::no_level(bytes) {
        return Err(format!("this is {form}, not a level"));
    }
    let soup = read_obj(bytes).map_err(|error| data_problem(&error))?;
    if soup.vertices().is_empty() {
        return Err(
            "no level: neither OBJ with vertices nor glTF, a height grid (PGM), voxels, a \
             heightfield or a baked file"
                .into(),
        );
    }
    Ok(Input::Obj(soup))
}

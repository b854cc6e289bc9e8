//! What the program reads and the library does not: recordings, height grids as pictures, and cells
//! as text. It is no library, so its readers are compiled here as they are.

use throng::NavSettings;

use crate::cells::{self, Matter};
use crate::{reading, use_mesh};
use throng::NavMesh;

/// Recordings (`THRR`): every agent of the last frame is counted once.
pub fn recording(data: &[u8]) {
    if let Ok((header, states)) = reading::read(data) {
        let counted: u64 = states.iter().map(|&count| u64::from(count)).sum();
        let expected = if header.frames > 0 { header.slots } else { 0 };
        assert_eq!(counted, u64::from(expected));
        let frames = u64::from(header.slots) * u64::from(header.frames) * 13;
        assert_eq!(frames + 56, data.len() as u64);
        // All but the positions and the earlier frames, from what was told of it.
        let mut written = b"\x01\0\0\0".to_vec();
        written.extend(header.slots.to_le_bytes());
        written.extend(header.frames.to_le_bytes());
        written.extend(header.dt.to_le_bytes());
        written.extend(header.radius.to_le_bytes());
        for value in header.origin.to_array() {
            written.extend(value.to_le_bytes());
        }
        assert_eq!(written, data[4..56]);
    }
}

/// Binary greymaps: a level for every point, and triangles where there are squares between them.
pub fn greymap(data: &[u8]) {
    let _ = crate::greymap::is_greymap(data);
    let Ok(grid) = crate::greymap::read(data) else {
        return;
    };
    let (width, depth) = (grid.width as usize, grid.depth as usize);
    assert_eq!(grid.levels.len(), width * depth);
    let soup = grid.soup(1.0, 0.01);
    assert_eq!(soup.is_ok(), width > 1 && depth > 1);
    if let Ok(soup) = soup {
        assert_eq!(soup.triangles().len(), 2 * (width - 1) * (depth - 1));
    }
}

/// Voxels and heightfields as text: what is read holds as much as there are lines of it, and small
/// ones build.
pub fn cell_text(data: &[u8]) {
    let Some(format) = cells::format_of(data) else {
        return;
    };
    let Ok(level) = cells::read(format, data) else {
        return;
    };
    let [width, rows, depth] = level.size;
    assert!(level.spans * "span 0 0 0 1 1".len() <= data.len());
    if width * depth > 4096 || rows > 4096 {
        return;
    }
    let Ok(settings) = level.settings(NavSettings::HUMANOID, false, false) else {
        return;
    };
    let built = match &level.matter {
        Matter::Voxels(chunk, areas) => {
            assert_eq!(chunk.size(), level.size);
            let options = throng::BuildOptions::default();
            NavMesh::build_chunk_with(chunk, Some(areas), &settings, &options)
        }
        Matter::Heightfield(field) => {
            assert!(field.to_spans().span_count() <= level.spans);
            NavMesh::build_heightfield(field, &settings)
        }
    };
    if let Ok(mesh) = built {
        use_mesh(&mesh);
    }
}

//! Height grids and solid heightfields: the numbers a host may pass, and the meshes built from them.

use throng::parts::soa::spans::SolidSpans;
use throng::{
    DVec2, DVec3, HeightfieldFrame, NavMesh, NavSettings, PartitionType, SolidHeightfield,
    height_grid_soup,
};

use crate::use_mesh;

fn settings(shape: u8) -> NavSettings {
    NavSettings {
        partition: match shape % 3 {
            0 => PartitionType::Watershed,
            1 => PartitionType::Monotone,
            _ => PartitionType::Layers,
        },
        cell_size: 0.5,
        cell_height: 0.25,
        agent_radius: f64::from(shape / 4 % 4) * 0.5,
        walkable_climb: f64::from(shape / 16 % 4) * 0.25,
        tile_size: 8.0,
        detail_sample_distance: if shape / 64 % 2 == 0 { 0.0 } else { 3.0 },
        min_region_area: 4,
        ..NavSettings::HUMANOID
    }
}

/// Saved and loaded it is the same mesh, and it answers.
fn check(mesh: &NavMesh) {
    let bytes = mesh.save();
    match NavMesh::load(&bytes) {
        Ok(again) => assert!(again.save() == bytes, "written differently"),
        Err(error) => panic!("a mesh it built itself: {error}"),
    }
    use_mesh(mesh);
}

/// Two bytes of counts, one of settings and one that says how heights are written: as `f64` of any
/// bits, or a byte each; then origin and spacing as `f64`, and the heights.
pub fn height_grid(data: &[u8]) {
    let [width, depth, shape, form, rest @ ..] = data else {
        return;
    };
    let (width, depth) = (u32::from(width % 40), u32::from(depth % 40));
    let number = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().unwrap());
    let mut numbers: Vec<f64> = rest.chunks_exact(8).take(3).map(number).collect();
    numbers.resize(3, 1.0);
    let rest = rest.get(24..).unwrap_or_default();
    let heights: Vec<f64> = if form % 2 == 0 {
        rest.iter()
            .map(|&height| f64::from(height) * 0.125)
            .collect()
    } else {
        rest.chunks_exact(8).map(number).collect()
    };
    let origin = DVec2::new(numbers[0], numbers[1]);
    let Ok(soup) = height_grid_soup(&heights, width, depth, origin, numbers[2]) else {
        return;
    };
    assert_eq!(soup.vertices().len(), heights.len());
    let squares = (width - 1) * (depth - 1);
    assert_eq!(soup.triangles().len(), 2 * squares as usize);
    // Rasterized where that is a matter of moments.
    let extent = numbers[2] * f64::from(width.max(depth));
    if extent < 64.0 && heights.iter().all(|height| (-64.0..64.0).contains(height)) {
        let settings = settings(*shape);
        if let Ok(mesh) = NavMesh::build(soup.vertices(), soup.triangles(), &settings) {
            check(&mesh);
        }
    }
}

/// Sizes, settings, and one byte that says whether spans are added one by one (six bytes each: place,
/// rows, area, threshold) or given packed (four: low, high, area, columns to go on). The packed ones go
/// to the constructor as they are: it must refuse what breaks its rules.
pub fn heightfield(data: &[u8]) {
    let [width, depth, rows, shape, form, rest @ ..] = data else {
        return;
    };
    let frame = HeightfieldFrame {
        origin: DVec3::new(-3.0, -1.0, 7.0),
        cell_size: 0.5,
        cell_height: 0.25,
        width: u32::from(width % 40),
        depth: u32::from(depth % 40),
        rows: u32::from(*rows),
    };
    let field = if form % 2 == 0 {
        added(frame, rest)
    } else {
        SolidHeightfield::from_spans(frame, &packed(frame, rest)).ok()
    };
    let Some(field) = field else {
        return;
    };
    // What is packed again is taken again, and is the same.
    let spans = field.to_spans();
    if !field.is_overfull() {
        match SolidHeightfield::from_spans(*field.frame(), &spans) {
            Ok(again) => assert_eq!(again.to_spans(), spans),
            Err(error) => panic!("its own spans: {error}"),
        }
    }
    if let Ok(mesh) = NavMesh::build_heightfield(&field, &settings(*shape)) {
        check(&mesh);
    }
}

fn added(frame: HeightfieldFrame, bytes: &[u8]) -> Option<SolidHeightfield> {
    let mut field = SolidHeightfield::new(frame).ok()?;
    for piece in bytes.chunks_exact(6) {
        let place = (u32::from(piece[0]), u32::from(piece[1]));
        let rows = u16::from(piece[2])..u16::from(piece[3]);
        let _ = field.add_span(place, rows, piece[4], i32::from(piece[5] as i8));
    }
    Some(field)
}

fn packed(frame: HeightfieldFrame, bytes: &[u8]) -> SolidSpans {
    let mut spans = SolidSpans {
        width: frame.width,
        depth: frame.depth,
        cell_first: vec![0],
        ..SolidSpans::default()
    };
    let columns = (frame.width * frame.depth) as usize;
    for piece in bytes.chunks_exact(4) {
        spans.min.push(u16::from(piece[0]));
        spans.max.push(u16::from(piece[1]));
        spans.area.push(piece[2]);
        // Columns end here: none, or up to 15 with the same last span each.
        for again in 0..piece[3] % 16 {
            if spans.cell_first.len() > columns {
                return spans;
            }
            if again > 0 {
                spans.min.push(u16::from(piece[0]));
                spans.max.push(u16::from(piece[1]));
                spans.area.push(piece[2]);
            }
            spans.cell_first.push(spans.min.len() as u32);
        }
    }
    while spans.cell_first.len() <= columns {
        spans.cell_first.push(spans.min.len() as u32);
    }
    spans
}

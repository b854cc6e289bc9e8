//! The ground of a picture: polygons in bands of height, the walls around them, and the links between.

use svg::node::element::{Group, Path as Shape};
use throng::debug::{Edges, LineKind, Links, Polygons};
use throng::{DVec3, TiledMesh};

use super::canvas::{dashed, polygon, push_line};

/// Most bands of height.
const BANDS: usize = 12;
/// Height of ground that gets a band of its own, at least.
const BAND_HEIGHT: f64 = 0.5;
/// Colours of low and high ground.
const LOW: [f64; 3] = [212.0, 222.0, 230.0];
const HIGH: [f64; 3] = [250.0, 247.0, 238.0];
/// What other areas than 0 are tinted with, in turn.
const TINTS: [[f64; 3]; 6] = [
    [116.0, 178.0, 224.0],
    [142.0, 190.0, 108.0],
    [232.0, 190.0, 92.0],
    [205.0, 140.0, 190.0],
    [224.0, 140.0, 110.0],
    [110.0, 190.0, 180.0],
];

/// Colour of off-mesh links.
pub(super) const LINKS: &str = "#7b4fd1";

/// Draws all polygons and walls.
pub(super) fn draw(mesh: &TiledMesh, low: f64, high: f64, unit: f64) -> Group {
    let bands = (((high - low) / BAND_HEIGHT) as usize).clamp(1, BANDS);
    // Path data of the ground per band and area, and of the walls per band.
    let mut ground = vec![vec![String::new(); 64]; bands];
    let mut walls = vec![String::new(); bands];
    let (polygons, edges) = (Polygons::collect(mesh), Edges::collect(mesh));
    // Edges stand in the order of their polygons.
    let mut lines = edges.lines.iter().zip(&edges.poly).peekable();
    for ((poly, ring), &area) in polygons.outlines.iter().zip(&polygons.area) {
        let height = ring.iter().map(|p| p.y).sum::<f64>() / ring.len() as f64;
        let share = (height - low) / (high - low).max(1e-9);
        let band = ((share * bands as f64) as usize).min(bands - 1);
        ground[band][usize::from(area & 63)].push_str(&polygon(ring));
        while let Some(((kind, from, to), _)) = lines.next_if(|line| *line.1 == poly) {
            if kind == LineKind::Wall {
                push_line(&mut walls[band], from, to);
            }
        }
    }
    let mut group = Group::new()
        .set("stroke-linejoin", "round")
        .set("stroke-linecap", "round");
    for (band, (areas, walls)) in ground.into_iter().zip(walls).enumerate() {
        let share = if bands == 1 {
            0.6
        } else {
            band as f64 / (bands - 1) as f64
        };
        for (area, data) in areas
            .into_iter()
            .enumerate()
            .filter(|(_, data)| !data.is_empty())
        {
            let shape = Shape::new()
                .set("d", data)
                .set("fill", color(share, area, 0.0))
                .set("stroke", color(share, area, 16.0))
                .set("stroke-width", format!("{:.3}", unit * 0.025));
            group = group.add(shape);
        }
        if !walls.is_empty() {
            let shape = Shape::new()
                .set("d", walls)
                .set("fill", "none")
                .set("stroke", "#5b6875")
                .set("stroke-width", format!("{:.3}", unit * 0.09));
            group = group.add(shape);
        }
    }
    group
}

/// Colour of ground, `darker` by some steps of 255.
fn color(share: f64, area: usize, darker: f64) -> String {
    let channel = |i: usize| {
        let mut value = LOW[i] + (HIGH[i] - LOW[i]) * share;
        if let Some(tint) = area.checked_sub(1) {
            value += (TINTS[tint % TINTS.len()][i] - value) * 0.6;
        }
        (value - darker).clamp(0.0, 255.0) as u8
    };
    format!("#{:02x}{:02x}{:02x}", channel(0), channel(1), channel(2))
}

/// Draws the off-mesh links, one line for both ways; `None` when there are none.
pub(super) fn draw_links(mesh: &TiledMesh, unit: f64) -> Option<Shape> {
    let links = Links::collect(mesh).lines;
    let ends = |p: DVec3| [p.x, p.y, p.z].map(f64::to_bits);
    let mut lines: Vec<_> = links.of_kind(LineKind::OffMesh).collect();
    for (from, to) in &mut lines {
        if ends(*from) > ends(*to) {
            std::mem::swap(from, to);
        }
    }
    lines.sort_unstable_by_key(|&(from, to)| (ends(from), ends(to)));
    lines.dedup();
    if lines.is_empty() {
        return None;
    }
    let mut data = String::new();
    for (from, to) in lines {
        push_line(&mut data, from, to);
    }
    let shape = Shape::new()
        .set("d", data)
        .set("fill", "none")
        .set("stroke", LINKS)
        .set("stroke-width", format!("{:.3}", unit * 0.12))
        .set("stroke-linecap", "round");
    Some(dashed(shape, unit * 0.5))
}

//! The ground of a picture: polygons in bands of height, and the walls around them.

use std::fmt::Write as _;

use svg::node::element::{Group, Path as Shape};
use throng::parts::soa::mesh::LinkKind;
use throng::{DVec3, Tile, TiledMesh};

use super::polygon;
use crate::words::trimmed;

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

/// Draws all polygons and walls.
pub(super) fn draw(mesh: &TiledMesh, low: f64, high: f64, unit: f64) -> Group {
    let bands = (((high - low) / BAND_HEIGHT) as usize).clamp(1, BANDS);
    // Path data of the ground per band and area, and of the walls per band.
    let mut ground = vec![vec![String::new(); 64]; bands];
    let mut walls = vec![String::new(); bands];
    for (_, tile) in mesh.tiles() {
        for poly in 0..tile.poly_count() {
            let ring = tile.poly_ring(poly);
            let height = ring.iter().map(|p| p.y).sum::<f64>() / ring.len() as f64;
            let share = (height - low) / (high - low).max(1e-9);
            let band = ((share * bands as f64) as usize).min(bands - 1);
            let area = usize::from(tile.poly_area[poly] & 63);
            ground[band][area].push_str(&polygon(ring));
            draw_walls(tile, poly, &mut walls[band]);
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

/// Appends the stretches of a polygon's edges that lead nowhere.
fn draw_walls(tile: &Tile, poly: usize, data: &mut String) {
    let ring = tile.poly_ring(poly);
    let neighbors = &tile.data().edge_neighbors[tile.poly_edges(poly)];
    for (edge, &neighbor) in neighbors.iter().enumerate() {
        if neighbor > 0 {
            continue;
        }
        let (a, b) = (ring[edge], ring[(edge + 1) % ring.len()]);
        let mut open: Vec<(u8, u8)> = tile
            .poly_links(poly)
            .iter()
            .filter(|link| link.kind == LinkKind::Portal && usize::from(link.edge) == edge)
            .map(|link| (link.range_min, link.range_max))
            .collect();
        open.sort_unstable();
        let mut done = 0;
        for (from, to) in open.into_iter().chain([(u8::MAX, u8::MAX)]) {
            if from > done {
                let at = |t: u8| a + (b - a) * (f64::from(t) / 255.0);
                push_line(data, at(done), at(from));
            }
            done = done.max(to);
        }
    }
}

fn push_line(data: &mut String, a: DVec3, b: DVec3) {
    let [ax, az, bx, bz] = [a.x, a.z, b.x, b.z].map(trimmed);
    // Writing to a string cannot fail.
    let _ = write!(data, "M{ax} {az}L{bx} {bz}");
}

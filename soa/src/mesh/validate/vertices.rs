//! Where the vertices of a tile may lie.

use super::refuse;
use crate::error::DataError;
use crate::mesh::data::TileData;
use crate::mesh::params::MeshParams;
use crate::world::is_coordinate;

/// Smallest X or Z magnitude other than 0: keeps the exact predicates clear of underflow.
const MIN_MAGNITUDE: f32 = 1e-30;

/// Whether all vertices lie in the tile's square, seen from above; most builders' do.
pub(super) fn check_vertices(data: &TileData, params: &MeshParams) -> Result<bool, DataError> {
    let size = params.tile_size as f32;
    let (low, high) = (-size, 2.0 * size);
    let tall = params.max_local_extent();
    let origin_x = params.tile_origin_x(data.tile_x);
    let origin_z = params.tile_origin_z(data.tile_z);
    let world = |[x, y, z]: [f32; 3]| {
        [
            origin_x + f64::from(x),
            data.origin_y + f64::from(y),
            origin_z + f64::from(z),
        ]
    };
    // Rounding never turns an order round: where the ends of a tile's reach are coordinates, so is all
    // between them. Only tiles at the world's edge have to ask for each vertex.
    let tallest = tall as f32;
    let ends = [[low, -tallest, low], [high, tallest, high]];
    let at_edge = !ends
        .into_iter()
        .all(|end| world(end).into_iter().all(is_coordinate));
    let in_square = all_within(&data.vertices, [0.0, size], tall);
    for (name, points, are_sound) in [
        ("vertex", &data.vertices, in_square),
        ("detail vertex", &data.detail_vertices, false),
    ] {
        if !at_edge && (are_sound || all_within(points, [low, high], tall)) {
            continue;
        }
        let inside = |v: f32| low <= v && v <= high;
        let normal = |v: f32| v == 0.0 || v.abs() >= MIN_MAGNITUDE;
        let reached = |&[x, y, z]: &[f32; 3]| inside(x) && inside(z) && f64::from(y).abs() <= tall;
        let sound = |point: &[f32; 3]| {
            let coordinates = world(*point).into_iter().all(is_coordinate);
            reached(point) && normal(point[0]) && normal(point[2]) && coordinates
        };
        let Some(index) = points.iter().position(|point| !sound(point)) else {
            continue;
        };
        let [x, y, z] = points[index];
        let problem = if !reached(&points[index]) {
            format!("({x}, {y}, {z}) is outside the tile's reach")
        } else if !(normal(x) && normal(z)) {
            format!("({x}, {y}, {z}) has a coordinate below 1e-30 that is not 0")
        } else {
            let world = world(points[index]);
            format!("lies at {world:?}; world coordinates stay inside ±2^21")
        };
        return Err(refuse(format!("{name} {index}"), problem));
    }
    Ok(in_square)
}

/// Whether all X and Z lie within `low..=high` and are normal, all Y within `±tall`.
fn all_within(points: &[[f32; 3]], [low, high]: [f32; 2], tall: f64) -> bool {
    let least = fold_lanes(points, 0.0, |least, v| if v < least { v } else { least });
    let most = fold_lanes(points, 0.0, |most, v| if v > most { v } else { most });
    // Infinite or not a number: then so is the sum. Comparisons pass over what is not a number.
    let sum = fold_lanes(points, 0.0, |sum, v| sum + v * 0.0);
    let smallest = fold_lanes(points, 1.0, |smallest, v| {
        let size = if v == 0.0 { 1.0 } else { v.abs() };
        if size < smallest { size } else { smallest }
    });
    (0..12).all(|k| {
        let inside = if k % 3 == 1 {
            f64::from(least[k]) >= -tall && f64::from(most[k]) <= tall
        } else {
            least[k] >= low && most[k] <= high && smallest[k] >= MIN_MAGNITUDE
        };
        inside && sum[k] == 0.0
    })
}

/// Folds the numbers of the points, four points at once for vector units: lane `k` holds those of
/// axis `k % 3`.
fn fold_lanes(points: &[[f32; 3]], start: f32, fold: impl Fn(f32, f32) -> f32) -> [f32; 12] {
    let mut lanes = [start; 12];
    let mut chunks = points.as_flattened().chunks_exact(12);
    for chunk in &mut chunks {
        for (lane, &v) in lanes.iter_mut().zip(chunk) {
            *lane = fold(*lane, v);
        }
    }
    for (lane, &v) in lanes.iter_mut().zip(chunks.remainder()) {
        *lane = fold(*lane, v);
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SplitMix64;

    /// The rule as it reads, point by point.
    fn each_within(points: &[[f32; 3]], [low, high]: [f32; 2], tall: f64) -> bool {
        points.iter().all(|&[x, y, z]| {
            let plan = [x, z].into_iter();
            let mut plan =
                plan.map(|v| low <= v && v <= high && (v == 0.0 || v.abs() >= MIN_MAGNITUDE));
            plan.all(|sound| sound) && f64::from(y).abs() <= tall
        })
    }

    #[test]
    fn points_taken_four_at_once_are_judged_like_points_one_by_one() {
        let (reach, tall) = ([-10.0, 20.0], 6.55);
        let top = tall as f32;
        let special = [
            0.0,
            -0.0,
            1e-30,
            -1e-30,
            9e-31,
            -9e-31,
            1e-45,
            -10.0,
            20.0,
            20.000_002,
            -10.000_001,
            f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::MAX,
            top,
            -top,
            f32::from_bits(top.to_bits() + 1),
            f32::from_bits(top.to_bits() - 1),
        ];
        let mut rng = SplitMix64::new(8);
        let mut found = [0; 2];
        for _ in 0..100_000 {
            let count = rng.next_below(10) as usize;
            let mut points: Vec<[f32; 3]> = (0..count)
                .map(|_| std::array::from_fn(|_| rng.range(-6.0, 6.0) as f32))
                .collect();
            for _ in 0..rng.next_below(3).min(count as u32) {
                let (at, axis) = (rng.next_below(count as u32), rng.next_below(3));
                let value = special[rng.next_below(special.len() as u32) as usize];
                points[at as usize][axis as usize] = value;
            }
            let expected = each_within(&points, reach, tall);
            assert_eq!(all_within(&points, reach, tall), expected, "{points:?}");
            found[usize::from(expected)] += 1;
        }
        assert!(found.iter().all(|&found| found > 10_000), "{found:?}");
    }
}

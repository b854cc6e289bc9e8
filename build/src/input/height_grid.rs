//! Height grids: terrain as a table of heights.
//!
//! In: heights on a regular grid. Out: the grid as upward triangles, which build as any soup does.

use super::soup::Soup;
use throng_soa::error::ArgumentError;
use throng_soa::world::{DVec2, DVec3, check_coordinate};

/// Turns `count_x * count_z` heights (x fastest) into a soup of upward triangles, two per square.
///
/// The square between grid points `(i, j)` and `(i + 1, j + 1)` is cut along that diagonal.
/// `origin` is the `(x, z)` of the first height, `spacing` the distance between neighbours.
///
/// # Errors
/// When there are fewer than 2 points a side, the heights do not match the counts, `spacing` is
/// not positive, or a vertex is no world coordinate.
pub fn height_grid_soup(
    heights: &[f64],
    count_x: u32,
    count_z: u32,
    origin: DVec2,
    spacing: f64,
) -> Result<Soup, ArgumentError> {
    for (name, count) in [("count_x", count_x), ("count_z", count_z)] {
        if count < 2 {
            return Err(ArgumentError::new(name, count, "at least 2"));
        }
    }
    if heights.len() as u64 != u64::from(count_x) * u64::from(count_z) {
        return Err(ArgumentError::new(
            "heights.len()",
            heights.len(),
            format!("count_x * count_z = {count_x} * {count_z}"),
        ));
    }
    if heights.len() > u32::MAX as usize {
        return Err(ArgumentError::new(
            "heights.len()",
            heights.len(),
            "at most 2^32 - 1",
        ));
    }
    check_coordinate("spacing", spacing)?;
    if spacing <= 0.0 {
        return Err(ArgumentError::new("spacing", spacing, "above 0"));
    }
    let mut vertices = Vec::with_capacity(heights.len());
    for (j, row) in heights.chunks_exact(count_x as usize).enumerate() {
        for (i, &height) in row.iter().enumerate() {
            vertices.push(DVec3::new(
                origin.x + i as f64 * spacing,
                height,
                origin.y + j as f64 * spacing,
            ));
        }
    }
    let mut triangles = Vec::with_capacity(heights.len() * 2);
    for j in 0..count_z - 1 {
        for i in 0..count_x - 1 {
            let a = i + j * count_x;
            let (b, c, d) = (a + 1, a + count_x, a + count_x + 1);
            triangles.push([a, c, d]);
            triangles.push([a, d, b]);
        }
    }
    Soup::new(vertices, triangles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_are_cut_along_the_main_diagonal_and_face_up() {
        let soup =
            height_grid_soup(&[0.0, 1.0, 2.0, 3.0], 2, 2, DVec2::new(10.0, 20.0), 2.0).unwrap();
        assert_eq!(soup.triangles(), [[0, 2, 3], [0, 3, 1]]);
        assert_eq!(soup.vertices()[3], DVec3::new(12.0, 3.0, 22.0));
        for triangle in soup.triangles() {
            let [a, b, c] = triangle.map(|i| soup.vertices()[i as usize]);
            assert!((b - a).cross(c - a).y > 0.0);
        }
        assert!(height_grid_soup(&[0.0; 3], 2, 2, DVec2::ZERO, 1.0).is_err());
        assert!(height_grid_soup(&[0.0; 2], 1, 2, DVec2::ZERO, 1.0).is_err());
        assert!(height_grid_soup(&[0.0; 4], 2, 2, DVec2::ZERO, 0.0).is_err());
    }
}

//! A triangle soup whose every vertex and index has been checked.
//!
//! In: vertices and index triples from anywhere. Out: a [`Soup`], the only geometry the builder's
//! later stages need not check again.

use throng_soa::error::ArgumentError;
use throng_soa::world::{DVec3, check_point};

/// Triangles over shared vertices: Y up, counter-clockwise seen from the side they face.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Soup {
    vertices: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
}

impl Soup {
    /// Takes vertices and triangles after checking them. Degenerate triangles are allowed.
    ///
    /// # Errors
    /// Names the first vertex that is not finite and strictly inside ±2^21 (`vertices[7].y`), or
    /// the first index without a vertex (`triangles[3][1]`).
    pub fn new(vertices: Vec<DVec3>, triangles: Vec<[u32; 3]>) -> Result<Self, ArgumentError> {
        check_soup(&vertices, &triangles)?;
        Ok(Self {
            vertices,
            triangles,
        })
    }

    /// The same from `f32` triples, as graphics data comes.
    ///
    /// # Errors
    /// As [`Soup::new`].
    pub fn from_f32(vertices: &[[f32; 3]], triangles: &[[u32; 3]]) -> Result<Self, ArgumentError> {
        let widened = vertices
            .iter()
            .map(|point| DVec3::from_array(point.map(f64::from)))
            .collect();
        Self::new(widened, triangles.to_vec())
    }

    /// The vertices.
    #[must_use]
    pub fn vertices(&self) -> &[DVec3] {
        &self.vertices
    }

    /// The triangles, as indices into [`Soup::vertices`].
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Least and greatest corner over the vertices triangles use; `None` without triangles.
    #[must_use]
    pub fn bounds(&self) -> Option<(DVec3, DVec3)> {
        let mut used = self.triangles.iter().flatten();
        let first = self.vertices[*used.next()? as usize];
        Some(used.fold((first, first), |(low, high), &index| {
            let vertex = self.vertices[index as usize];
            (low.min(vertex), high.max(vertex))
        }))
    }

    /// Vertices and triangles, given back.
    #[must_use]
    pub fn into_parts(self) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        (self.vertices, self.triangles)
    }
}

/// Checks borrowed geometry by the rules of [`Soup::new`].
///
/// # Errors
/// As [`Soup::new`].
pub fn check_soup(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Result<(), ArgumentError> {
    if vertices.len() > u32::MAX as usize {
        return Err(ArgumentError::new(
            "vertices.len()",
            vertices.len(),
            "at most 2^32 - 1",
        ));
    }
    for (i, &vertex) in vertices.iter().enumerate() {
        if !throng_soa::world::is_point(vertex) {
            check_point(&format!("vertices[{i}]"), vertex)?;
        }
    }
    for (t, triangle) in triangles.iter().enumerate() {
        for (k, &index) in triangle.iter().enumerate() {
            if index as usize >= vertices.len() {
                return Err(ArgumentError::new(
                    format!("triangles[{t}][{k}]"),
                    index,
                    format!("less than the vertex count {}", vertices.len()),
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bad_vertex_or_index_is_named() {
        let good = vec![DVec3::ZERO, DVec3::X, DVec3::Z];
        assert!(Soup::new(good.clone(), vec![[0, 2, 1]]).is_ok());
        let error = Soup::new(good.clone(), vec![[0, 2, 1], [0, 3, 1]]).unwrap_err();
        assert_eq!(error.argument, "triangles[1][1]");
        for bad in [f64::NAN, f64::NEG_INFINITY, 2_097_152.0, -2_097_152.0] {
            let mut vertices = good.clone();
            vertices[1].z = bad;
            let error = Soup::new(vertices, vec![]).unwrap_err();
            assert_eq!(error.argument, "vertices[1].z");
        }
        let error = Soup::from_f32(&[[0.0, f32::NAN, 0.0]], &[]).unwrap_err();
        assert_eq!(error.argument, "vertices[0].y");
    }

    #[test]
    fn bounds_cover_used_vertices_only() {
        let vertices = vec![
            DVec3::new(1.0, 5.0, 2.0),
            DVec3::new(-1.0, 4.0, 3.0),
            DVec3::new(0.0, 6.0, -2.0),
            DVec3::splat(100.0),
        ];
        assert_eq!(Soup::new(vertices.clone(), vec![]).unwrap().bounds(), None);
        let soup = Soup::new(vertices, vec![[0, 1, 2]]).unwrap();
        let (low, high) = soup.bounds().unwrap();
        assert_eq!(low, DVec3::new(-1.0, 4.0, -2.0));
        assert_eq!(high, DVec3::new(1.0, 6.0, 3.0));
    }
}

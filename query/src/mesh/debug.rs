//! What a query did, as plain data to draw.

use super::front::PathResult;
use super::path::PathSearch;
use super::straight::StraightPathPoint;
use throng_soa::DVec3;
use throng_soa::mesh::{PolyRef, TiledMesh};

/// An outline: a polygon and its corners, world units, counter-clockwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolyOutline {
    /// The polygon.
    pub poly: PolyRef,
    /// Its corners.
    pub corners: Vec<DVec3>,
}

/// The last search of a [`PathSearch`] and its result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryDebug {
    /// Polygons expanded, each once, in order of first expansion.
    pub expanded: Vec<PolyOutline>,
    /// The corridor's polygons.
    pub corridor: Vec<PolyOutline>,
    /// The string-pulled path.
    pub points: Vec<StraightPathPoint>,
}

impl QueryDebug {
    /// Collects the outlines of the search in hand and of a result. Polygons that have left the
    /// mesh are skipped.
    #[must_use]
    pub fn collect(mesh: &TiledMesh, search: &PathSearch, result: &PathResult) -> Self {
        let mut expanded = Vec::new();
        search.expanded_polygons(&mut expanded);
        Self {
            expanded: outlines(mesh, &expanded),
            corridor: outlines(mesh, &result.corridor),
            points: result.points.clone(),
        }
    }
}

fn outlines(mesh: &TiledMesh, polys: &[PolyRef]) -> Vec<PolyOutline> {
    let outline = |&poly: &PolyRef| {
        let (tile, index) = mesh.resolve(poly)?;
        Some(PolyOutline {
            poly,
            corners: tile.poly_ring(index).to_vec(),
        })
    };
    polys.iter().filter_map(outline).collect()
}

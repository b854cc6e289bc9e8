//! The polygon nearest to a position.
//!
//! In: a box around the position and a filter. Out: the accepted polygon whose closest point has
//! the least 3D distance to the position. Every tile and layer that the box meets is looked into;
//! equal distances go to the lower tile column, then row, then layer, then polygon. Between floors
//! one over the other the choice is by height alone.

use super::filter::Filter;
use super::surface::closest_point_on_tile_poly;
use throng_soa::mesh::{PolyRef, Tile, TiledMesh};
use throng_soa::world::{check_point, distance3_sq};
use throng_soa::{ArgumentError, DVec3};

/// Answer of [`find_nearest_poly`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NearestPoly {
    /// The polygon, or [`PolyRef::INVALID`] when nothing qualifies.
    pub poly: PolyRef,
    /// Its closest point to the centre (the centre itself when nothing qualifies).
    pub point: DVec3,
    /// The centre is straight above or below the polygon.
    pub over_polygon: bool,
    /// Squared 3D distance from the centre to `point`; infinite when nothing qualifies.
    pub distance_squared: f64,
}

/// Finds the accepted polygon nearest to `center` among those whose box meets
/// `center ± half_extents`.
///
/// Visits the tile columns the box can reach (all tiles when those are more than the mesh has
/// slots) and, in each tile, the polygons its bounding tree offers. Allocates nothing but, at the first
/// look at a tile, that tree and the lookup grids of its detail.
///
/// # Errors
/// A coordinate of `center` outside the coordinate rule; a half extent that is negative or not
/// finite.
pub fn find_nearest_poly<F: Filter + ?Sized>(
    mesh: &TiledMesh,
    center: DVec3,
    half_extents: DVec3,
    filter: &F,
) -> Result<NearestPoly, ArgumentError> {
    check_point("center", center)?;
    check_extents("half_extents", half_extents)?;
    let mut search = Search {
        mesh,
        center,
        min: center - half_extents,
        max: center + half_extents,
        filter,
        best: NearestPoly {
            poly: PolyRef::INVALID,
            point: center,
            over_polygon: false,
            distance_squared: f64::INFINITY,
        },
        best_order: (i32::MAX, i32::MAX, i32::MAX, usize::MAX),
    };
    // Polygons may overhang their tile by one tile on each side.
    let params = mesh.params();
    let (low_x, low_z) = params.world_to_tile(search.min.x, search.min.z);
    let (high_x, high_z) = params.world_to_tile(search.max.x, search.max.z);
    let columns = i64::from(low_x) - 1..=i64::from(high_x) + 1;
    let rows = i64::from(low_z) - 1..=i64::from(high_z) + 1;
    let cells = (i128::from(*columns.end() - columns.start()) + 1)
        * (i128::from(*rows.end() - rows.start()) + 1);
    if cells > i128::from(mesh.slot_count()) {
        for slot in 0..mesh.slot_count() {
            search.visit_slot(slot);
        }
        return Ok(search.best);
    }
    // The centre's own column first: its polygon usually bounds what the others must beat.
    let own = params.world_to_tile(center.x, center.z);
    search.visit_column(mesh.column(own.0, own.1));
    let inside = |n: i64| n.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
    for x in inside(*columns.start())..=inside(*columns.end()) {
        for (at, slots) in mesh.columns_along(x, inside(*rows.start())..=inside(*rows.end())) {
            if at != own {
                search.visit_column(slots);
            }
        }
    }
    Ok(search.best)
}

/// The accepted polygon nearest to `position` if its closest point is at most `max_distance` away
/// (3D); `None` when there is none so near.
///
/// # Errors
/// A coordinate outside the coordinate rule; a distance that is negative or not finite.
pub fn sample_position<F: Filter + ?Sized>(
    mesh: &TiledMesh,
    position: DVec3,
    max_distance: f64,
    filter: &F,
) -> Result<Option<NearestPoly>, ArgumentError> {
    check_point("position", position)?;
    if !(max_distance.is_finite() && max_distance >= 0.0) {
        return Err(ArgumentError::new(
            "max_distance",
            max_distance,
            "finite and not negative",
        ));
    }
    let nearest = find_nearest_poly(mesh, position, DVec3::splat(max_distance), filter)?;
    let near = nearest.poly.is_valid() && nearest.distance_squared <= max_distance * max_distance;
    Ok(near.then_some(nearest))
}

/// Checks that the three half extents of a search box are finite and not negative.
pub(crate) fn check_extents(argument: &str, extents: DVec3) -> Result<(), ArgumentError> {
    for (name, value) in [("x", extents.x), ("y", extents.y), ("z", extents.z)] {
        if !(value.is_finite() && value >= 0.0) {
            return Err(ArgumentError::new(
                format!("{argument}.{name}"),
                value,
                "finite and not negative",
            ));
        }
    }
    Ok(())
}

struct Search<'a, F: ?Sized> {
    mesh: &'a TiledMesh,
    center: DVec3,
    min: DVec3,
    max: DVec3,
    filter: &'a F,
    best: NearestPoly,
    /// Place of the best polygon in the order that breaks ties.
    best_order: (i32, i32, i32, usize),
}

/// Boxes whose squared X/Z distance, less this part, is beyond the best so far hold nothing better:
/// rounding moves a closest point far less than that out of its box.
const BEYOND: f64 = 1.0 - 1e-12;

impl<F: Filter + ?Sized> Search<'_, F> {
    fn visit_column(&mut self, slots: &[u32]) {
        for &slot in slots {
            self.visit_slot(slot);
        }
    }

    fn visit_slot(&mut self, slot: u32) {
        let Some(tile) = self.mesh.tile(slot) else {
            return;
        };
        if !self.can_help(tile.tile_min, tile.tile_max) {
            return;
        }
        let tree = tile.tree();
        let mut at = 0;
        while let Some(node) = tree.nodes.get(at) {
            if !self.can_help(node.min, node.max) {
                at = node.skip as usize;
                continue;
            }
            for &poly in &tree.order[node.first as usize..(node.first + node.count) as usize] {
                self.examine(tile, slot, poly as usize);
            }
            // An inner node goes on with the first of its two halves, a leaf with what follows.
            at += 1;
        }
    }

    /// Whether a box meets the search box and is not farther in X/Z than the best found. Heights
    /// do not count: detail may leave the box of a polygon's vertices.
    #[inline]
    fn can_help(&self, min: DVec3, max: DVec3) -> bool {
        if !boxes_meet(min, max, self.min, self.max) {
            return false;
        }
        let beyond = |low: f64, high: f64, at: f64| (low - at).max(at - high).max(0.0);
        let dx = beyond(min.x, max.x, self.center.x);
        let dz = beyond(min.z, max.z, self.center.z);
        (dx * dx + dz * dz) * BEYOND <= self.best.distance_squared
    }

    #[inline]
    fn examine(&mut self, tile: &Tile, slot: u32, poly: usize) {
        let (low, high) = (tile.bounds_min[poly], tile.bounds_max[poly]);
        if !self.can_help(low, high)
            || !self
                .filter
                .passes(tile.poly_flags[poly], tile.poly_area[poly])
        {
            return;
        }
        let closest = closest_point_on_tile_poly(tile, poly, self.center);
        let distance_squared = distance3_sq(self.center, closest.point);
        if distance_squared > self.best.distance_squared {
            return;
        }
        let data = tile.data();
        let order = (data.tile_x, data.tile_z, data.layer, poly);
        if distance_squared < self.best.distance_squared || order < self.best_order {
            self.best_order = order;
            self.best = NearestPoly {
                poly: self.mesh.poly_ref(slot, poly as u32),
                point: closest.point,
                over_polygon: closest.over_polygon,
                distance_squared,
            };
        }
    }
}

/// Whether two boxes share a point.
#[inline]
fn boxes_meet(min: DVec3, max: DVec3, other_min: DVec3, other_max: DVec3) -> bool {
    min.x <= other_max.x
        && max.x >= other_min.x
        && min.z <= other_max.z
        && max.z >= other_min.z
        && min.y <= other_max.y
        && max.y >= other_min.y
}

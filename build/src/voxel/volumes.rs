//! Area volumes: painting an area id onto the floors inside an upright convex prism.
//!
//! In: a convex polygon seen from above, a height interval, an area id. Out: new area ids on the
//! walkable spans whose cell centre and floor lie inside, borders included.

use super::frame::HeightfieldFrame;
use throng_soa::error::ArgumentError;
use throng_soa::spans::{NULL_AREA, OpenSpans};
use throng_soa::world::{DVec2, check_coordinate, cross2};

/// Most corners of a volume.
pub const MAX_CORNERS: usize = 256;
/// Largest area id of a tile.
const MAX_AREA: u8 = 63;

/// An upright prism over a convex polygon, with the area id it gives.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvexVolume {
    corners: Vec<DVec2>,
    min_y: f64,
    max_y: f64,
    area: u8,
}

impl ConvexVolume {
    /// A checked volume. `corners` are `(x, z)` in either winding, 3 to 256 of them; `area` is 0 to
    /// 63, where 0 makes the ground unwalkable for good: later volumes only change what is walkable.
    ///
    /// # Errors
    /// When a coordinate or the area is out of range, `min_y > max_y`, the corner count is out of range, or
    /// the polygon is not convex, not simple or without area.
    pub fn new(corners: &[DVec2], min_y: f64, max_y: f64, area: u8) -> Result<Self, ArgumentError> {
        if !(3..=MAX_CORNERS).contains(&corners.len()) {
            return Err(ArgumentError::new(
                "corners.len()",
                corners.len(),
                "3 to 256",
            ));
        }
        for (i, corner) in corners.iter().enumerate() {
            check_coordinate(&format!("corners[{i}].x"), corner.x)?;
            check_coordinate(&format!("corners[{i}].z"), corner.y)?;
        }
        check_coordinate("min_y", min_y)?;
        check_coordinate("max_y", max_y)?;
        if min_y > max_y {
            return Err(ArgumentError::new(
                "max_y",
                max_y,
                format!("at least min_y ({min_y})"),
            ));
        }
        if area > MAX_AREA {
            return Err(ArgumentError::new("area", area, "0 to 63"));
        }
        let mut corners = corners.to_vec();
        if doubled_area(&corners) < 0.0 {
            corners.reverse();
        }
        // Every corner on or left of every edge is convexity; a positive area and as many turns
        // as one round makes it simple as well.
        let outside = edges(&corners).any(|(a, b)| {
            corners
                .iter()
                .any(|&corner| cross2(b - a, corner - a) < 0.0)
        });
        if outside || doubled_area(&corners) <= 0.0 || winds_more_than_once(&corners) {
            return Err(ArgumentError::new(
                "corners",
                format!("a polygon of {} corners", corners.len()),
                "convex, simple and with an area above zero",
            ));
        }
        Ok(Self {
            corners,
            min_y,
            max_y,
            area,
        })
    }

    /// The corners as `(x, z)`, counter-clockwise with x right and z up.
    #[must_use]
    pub fn corners(&self) -> &[DVec2] {
        &self.corners
    }

    /// Lowest and highest floor painted.
    #[must_use]
    pub fn y_range(&self) -> (f64, f64) {
        (self.min_y, self.max_y)
    }

    /// The area id given to spans inside.
    #[must_use]
    pub fn area(&self) -> u8 {
        self.area
    }

    /// Whether `(x, z)` is inside or on the polygon.
    #[must_use]
    pub fn contains(&self, x: f64, z: f64) -> bool {
        let point = DVec2::new(x, z);
        edges(&self.corners).all(|(a, b)| cross2(b - a, point - a) >= 0.0)
    }

    /// Gives the volume's area to every walkable span inside. Spans of area 0 stay as they are.
    /// Cost: the cells of the polygon's bounding box.
    pub fn apply(&self, frame: &HeightfieldFrame, spans: &mut OpenSpans) {
        let cell_size = f64::from(frame.cell_size);
        let cell_height = f64::from(frame.cell_height);
        let bounds = |pick: fn(&DVec2) -> f64| {
            self.corners
                .iter()
                .map(pick)
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                    (low.min(value), high.max(value))
                })
        };
        // One cell of slack on each side: the exact test below decides.
        let cells = |(low, high): (f64, f64), origin: f64, count: u32| {
            let first = ((low - origin) / cell_size - 1.0).max(0.0) as u32;
            let end = ((high - origin) / cell_size + 2.0).max(0.0) as u32;
            first.min(count)..end.min(count)
        };
        let columns = cells(bounds(|c| c.x), frame.origin.x, spans.width);
        for z in cells(bounds(|c| c.y), frame.origin.z, spans.depth) {
            let center_z = frame.origin.z + (f64::from(z) + 0.5) * cell_size;
            for x in columns.clone() {
                let range = spans.cell_range(x as usize + z as usize * spans.width as usize);
                if range.is_empty() {
                    continue;
                }
                let center_x = frame.origin.x + (f64::from(x) + 0.5) * cell_size;
                if !self.contains(center_x, center_z) {
                    continue;
                }
                for span in range {
                    let floor = frame.origin.y + f64::from(spans.floor[span]) * cell_height;
                    if spans.area[span] != NULL_AREA && floor >= self.min_y && floor <= self.max_y {
                        spans.area[span] = self.area;
                    }
                }
            }
        }
    }
}

fn edges(corners: &[DVec2]) -> impl Iterator<Item = (DVec2, DVec2)> + '_ {
    let next = corners.iter().cycle().skip(1);
    corners.iter().zip(next).map(|(&a, &b)| (a, b))
}

fn doubled_area(corners: &[DVec2]) -> f64 {
    let base = corners[0];
    edges(corners)
        .map(|(a, b)| cross2(a - base, b - base))
        .sum()
}

/// Whether the boundary goes round more than once: its x coordinate then rises and falls more
/// than once as well.
fn winds_more_than_once(corners: &[DVec2]) -> bool {
    let rising: Vec<bool> = edges(corners)
        .filter(|(a, b)| a.x != b.x)
        .map(|(a, b)| a.x < b.x)
        .collect();
    let turns = rising
        .iter()
        .zip(rising.iter().cycle().skip(1))
        .filter(|(one, next)| one != next)
        .count();
    turns > 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_soa::world::DVec3;

    fn volume(corners: &[(f64, f64)]) -> Result<ConvexVolume, ArgumentError> {
        let corners: Vec<DVec2> = corners.iter().map(|&(x, z)| DVec2::new(x, z)).collect();
        ConvexVolume::new(&corners, 0.0, 1.0, 9)
    }

    #[test]
    fn an_area_no_tile_can_hold_is_refused() {
        let square = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
        let corners = square.map(|(x, z)| DVec2::new(x, z));
        assert!(ConvexVolume::new(&corners, 0.0, 1.0, 63).is_ok());
        for area in [64, 255] {
            let error = ConvexVolume::new(&corners, 0.0, 1.0, area).unwrap_err();
            assert_eq!((&*error.argument, error.value), ("area", area.to_string()));
        }
    }

    #[test]
    fn either_winding_is_fine_and_bent_or_flat_polygons_are_not() {
        let square = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
        let mut backwards = square;
        backwards.reverse();
        assert!(volume(&square).is_ok());
        assert_eq!(
            volume(&square),
            volume(&[square[0], square[1], square[2], square[3]])
        );
        assert!(volume(&backwards).unwrap().contains(0.5, 0.5));
        let refused = [
            vec![(0.0, 0.0), (1.0, 0.0)],
            vec![(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)],
            vec![(0.0, 0.0), (2.0, 0.0), (0.5, 0.5), (0.0, 2.0)],
            // A pentagram: convex at every corner, but twice round.
            vec![
                (0.0, 3.0),
                (2.0, -2.0),
                (-3.0, 1.0),
                (3.0, 1.0),
                (-2.0, -2.0),
            ],
            // Twice round a square.
            [square, square].concat(),
            vec![(0.0, 0.0), (3e6, 0.0), (0.0, 1.0)],
        ];
        for corners in refused {
            assert!(volume(&corners).is_err(), "{corners:?}");
        }
        assert!(ConvexVolume::new(volume(&square).unwrap().corners(), 1.0, 0.0, 9).is_err());
    }

    #[test]
    fn centres_and_floors_on_the_border_are_inside_and_area_0_stays() {
        let frame = HeightfieldFrame {
            origin: DVec3::ZERO,
            cell_size: 1.0,
            cell_height: 0.5,
            width: 4,
            depth: 1,
            rows: 10,
        };
        let mut spans = OpenSpans {
            width: 4,
            depth: 1,
            cell_first: vec![0, 3, 4, 5, 6],
            floor: vec![1, 2, 3, 2, 2, 2],
            height: vec![1; 6],
            area: vec![63, 63, 63, 0, 63, 63],
            region: vec![0; 6],
            links: vec![0xFF_FFFF; 6],
            region_count: 0,
        };
        // Centres at 0.5, 1.5, 2.5 and 3.5: the polygon ends exactly on the third.
        let corners = [(0.5, 0.0), (2.5, 0.0), (2.5, 1.0), (0.5, 1.0)];
        volume(&corners).unwrap().apply(&frame, &mut spans);
        assert_eq!(spans.area, [9, 9, 63, 0, 9, 63]);
    }
}

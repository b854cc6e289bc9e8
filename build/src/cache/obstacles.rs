//! Obstacles: shapes that take the walkability of the floors they cover.
//!
//! In: a cylinder, a box or a turned box, in world units. Out: area 0 on every span under the shape
//! grown by the agent's radius, whose floor is inside the shape's height range (ends included).
//! Spans have been eroded by then, so growing the shape takes the place of eroding around it; the
//! wall it makes stands within about a cell of where erosion would put it.
//!
//! A turned box needs a sine and a cosine. The platform's differ in their last bits from machine to
//! machine, so they come from `libm`: plain Rust code that uses only exactly rounded operations,
//! the same on every target.
//!
//! Marking takes away and never gives back, so the order of obstacles, and whether area volumes
//! come before or after them, does not matter.

use throng_soa::ArgumentError;
use throng_soa::spans::{NULL_AREA, OpenSpans};
use throng_soa::world::{DVec3, check_coordinate, check_point};

use crate::voxel::frame::HeightfieldFrame;

/// What an obstacle looks like. All lengths in world units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ObstacleShape {
    /// An upright cylinder.
    Cylinder {
        /// Centre of its base.
        base: DVec3,
        /// Radius, above 0.
        radius: f64,
        /// Height above the base, 0 or more.
        height: f64,
    },
    /// A box along the axes.
    Box {
        /// Low corner.
        min: DVec3,
        /// High corner, nowhere below the low one.
        max: DVec3,
    },
    /// A box turned about the vertical.
    OrientedBox {
        /// Middle of the box.
        center: DVec3,
        /// Half sizes along its own axes: x and z above 0, y 0 or more.
        half: DVec3,
        /// Turn in radians, from the x axis towards the z axis.
        yaw: f64,
    },
}

/// A checked obstacle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Obstacle {
    shape: ObstacleShape,
    /// Sine and cosine of a turned box's yaw; 0 and 1 for the others.
    turn: (f64, f64),
    min: DVec3,
    max: DVec3,
}

impl Obstacle {
    /// An upright cylinder that stands on `base`.
    ///
    /// # Errors
    /// Names the value that is not finite, or out of range: `radius` above 0, `height` 0 or more,
    /// every extent strictly inside ±2^21.
    pub fn cylinder(base: DVec3, radius: f64, height: f64) -> Result<Self, ArgumentError> {
        Self::new(ObstacleShape::Cylinder {
            base,
            radius,
            height,
        })
    }

    /// A box along the axes.
    ///
    /// # Errors
    /// Names the coordinate that is not finite and strictly inside ±2^21, or the component of `max`
    /// that is below `min`.
    pub fn aligned_box(min: DVec3, max: DVec3) -> Result<Self, ArgumentError> {
        Self::new(ObstacleShape::Box { min, max })
    }

    /// A box turned by `yaw` radians from the x axis towards the z axis. `half` holds half its
    /// sizes.
    ///
    /// # Errors
    /// Names the value that is not finite, or out of range: `half.x` and `half.z` above 0, `half.y`
    /// 0 or more, `yaw` and every extent strictly inside ±2^21.
    pub fn oriented_box(center: DVec3, half: DVec3, yaw: f64) -> Result<Self, ArgumentError> {
        Self::new(ObstacleShape::OrientedBox { center, half, yaw })
    }

    /// Checks a shape.
    ///
    /// # Errors
    /// As the constructor of the shape.
    pub fn new(shape: ObstacleShape) -> Result<Self, ArgumentError> {
        let mut turn = (0.0, 1.0);
        let (min, max) = match shape {
            ObstacleShape::Cylinder {
                base,
                radius,
                height,
            } => {
                check_point("base", base)?;
                above_zero("radius", radius)?;
                not_negative("height", height)?;
                let side = DVec3::new(radius, 0.0, radius);
                (base - side, base + DVec3::new(radius, height, radius))
            }
            ObstacleShape::Box { min, max } => {
                check_point("min", min)?;
                check_point("max", max)?;
                for (name, low, high) in [
                    ("max.x", min.x, max.x),
                    ("max.y", min.y, max.y),
                    ("max.z", min.z, max.z),
                ] {
                    if high < low {
                        return Err(ArgumentError::new(
                            name,
                            high,
                            format!("at least the low corner's ({low})"),
                        ));
                    }
                }
                (min, max)
            }
            ObstacleShape::OrientedBox { center, half, yaw } => {
                check_point("center", center)?;
                above_zero("half.x", half.x)?;
                not_negative("half.y", half.y)?;
                above_zero("half.z", half.z)?;
                check_coordinate("yaw", yaw)?;
                turn = (libm::sin(yaw), libm::cos(yaw));
                let reach = reach_of_turned(half.x, half.z, turn);
                let reach = DVec3::new(reach.0, half.y, reach.1);
                (center - reach, center + reach)
            }
        };
        check_point("lowest extent", min)?;
        check_point("highest extent", max)?;
        Ok(Self {
            shape,
            turn,
            min,
            max,
        })
    }

    /// The shape as given.
    #[must_use]
    pub fn shape(&self) -> ObstacleShape {
        self.shape
    }

    /// Low and high corner of its bounding box, not grown.
    #[must_use]
    pub fn bounds(&self) -> (DVec3, DVec3) {
        (self.min, self.max)
    }

    /// How much farther than `growth` its bounding box moves out, across, when the shape grows by
    /// `growth` along its own axes: 0, and up to 0.42 times as much for a turned box, whose corners
    /// lead. The same along x and z.
    pub(crate) fn corner_lead(&self, growth: f64) -> f64 {
        match self.shape {
            ObstacleShape::Cylinder { .. } | ObstacleShape::Box { .. } => 0.0,
            ObstacleShape::OrientedBox { .. } => {
                let (reach, _) = reach_of_turned(growth, growth, self.turn);
                (reach - growth).max(0.0)
            }
        }
    }

    /// Takes the walkability of the spans it covers, grown by `walkable_radius` cells. Cost: the
    /// cells of its bounding box.
    pub fn apply(&self, frame: &HeightfieldFrame, walkable_radius: i32, spans: &mut OpenSpans) {
        let cell_size = f64::from(frame.cell_size);
        let cell_height = f64::from(frame.cell_height);
        let growth = f64::from(walkable_radius) * cell_size;
        let footprint = Footprint::new(self, growth);
        let (low, high) = footprint.reach(self);
        // One cell of slack on each side: the exact test below decides.
        let cells = |low: f64, high: f64, origin: f64, count: u32| {
            let first = ((low - origin) / cell_size - 1.0).max(0.0) as u32;
            let end = ((high - origin) / cell_size + 2.0).max(0.0) as u32;
            first.min(count)..end.min(count)
        };
        let columns = cells(low.0, high.0, frame.origin.x, spans.width);
        let width = spans.width as usize;
        for z in cells(low.1, high.1, frame.origin.z, spans.depth) {
            let center_z = frame.origin.z + (f64::from(z) + 0.5) * cell_size;
            for x in columns.clone() {
                let range = spans.cell_range(x as usize + z as usize * width);
                if range.is_empty() {
                    continue;
                }
                let center_x = frame.origin.x + (f64::from(x) + 0.5) * cell_size;
                if !footprint.contains(center_x, center_z) {
                    continue;
                }
                for span in range {
                    let floor = frame.origin.y + f64::from(spans.floor[span]) * cell_height;
                    if floor >= self.min.y && floor <= self.max.y {
                        spans.area[span] = NULL_AREA;
                    }
                }
            }
        }
    }
}

/// Half extents, across x and z, of a turned rectangle.
fn reach_of_turned(half_x: f64, half_z: f64, (sin, cos): (f64, f64)) -> (f64, f64) {
    (
        cos.abs() * half_x + sin.abs() * half_z,
        sin.abs() * half_x + cos.abs() * half_z,
    )
}

fn above_zero(name: &str, value: f64) -> Result<(), ArgumentError> {
    check_coordinate(name, value)?;
    if value > 0.0 {
        return Ok(());
    }
    Err(ArgumentError::new(name, value, "above 0"))
}

fn not_negative(name: &str, value: f64) -> Result<(), ArgumentError> {
    check_coordinate(name, value)?;
    if value >= 0.0 {
        return Ok(());
    }
    Err(ArgumentError::new(name, value, "0 or more"))
}

/// The ground an obstacle covers once it is grown.
#[derive(Clone, Copy, Debug)]
enum Footprint {
    Round {
        x: f64,
        z: f64,
        radius: f64,
    },
    Straight {
        min: (f64, f64),
        max: (f64, f64),
    },
    Turned {
        x: f64,
        z: f64,
        half: (f64, f64),
        turn: (f64, f64),
    },
}

impl Footprint {
    fn new(obstacle: &Obstacle, growth: f64) -> Self {
        match obstacle.shape {
            ObstacleShape::Cylinder { base, radius, .. } => Self::Round {
                x: base.x,
                z: base.z,
                radius: radius + growth,
            },
            ObstacleShape::Box { min, max } => Self::Straight {
                min: (min.x - growth, min.z - growth),
                max: (max.x + growth, max.z + growth),
            },
            ObstacleShape::OrientedBox { center, half, .. } => Self::Turned {
                x: center.x,
                z: center.z,
                half: (half.x + growth, half.z + growth),
                turn: obstacle.turn,
            },
        }
    }

    /// Whether a cell centre is inside or on the edge.
    #[inline]
    fn contains(&self, px: f64, pz: f64) -> bool {
        match *self {
            Self::Round { x, z, radius } => {
                let (dx, dz) = (px - x, pz - z);
                dx * dx + dz * dz <= radius * radius
            }
            Self::Straight { min, max } => px >= min.0 && px <= max.0 && pz >= min.1 && pz <= max.1,
            Self::Turned {
                x,
                z,
                half,
                turn: (sin, cos),
            } => {
                let (dx, dz) = (px - x, pz - z);
                let u = dx * cos + dz * sin;
                let v = dz * cos - dx * sin;
                u.abs() <= half.0 && v.abs() <= half.1
            }
        }
    }

    /// Low and high corner, (x, z), of what it covers.
    fn reach(&self, obstacle: &Obstacle) -> ((f64, f64), (f64, f64)) {
        let around = |x: f64, z: f64, rx: f64, rz: f64| ((x - rx, z - rz), (x + rx, z + rz));
        match *self {
            Self::Round { x, z, radius } => around(x, z, radius, radius),
            Self::Straight { min, max } => (min, max),
            Self::Turned { x, z, half, .. } => {
                let reach = reach_of_turned(half.0, half.1, obstacle.turn);
                around(x, z, reach.0, reach.1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: HeightfieldFrame = HeightfieldFrame {
        origin: DVec3::new(-4.0, 1.0, 2.0),
        cell_size: 0.5,
        cell_height: 0.25,
        width: 20,
        depth: 16,
        rows: 100,
    };

    /// Two floors over every cell: rows 4 and 12.
    fn floors() -> OpenSpans {
        let cells = FRAME.width * FRAME.depth;
        let count = 2 * cells as usize;
        OpenSpans {
            width: FRAME.width,
            depth: FRAME.depth,
            cell_first: (0..=cells).map(|c| 2 * c).collect(),
            floor: (0..count)
                .map(|s| if s % 2 == 0 { 4 } else { 12 })
                .collect(),
            height: vec![8; count],
            area: vec![63; count],
            region: vec![0; count],
            links: vec![0; count],
            region_count: 0,
        }
    }

    /// Spans gone, by asking every span in turn.
    fn gone(obstacle: &Obstacle, radius: i32) -> Vec<(u32, u32, u32)> {
        let mut spans = floors();
        obstacle.apply(&FRAME, radius, &mut spans);
        let cell = |s: u32| (s / 2 % FRAME.width, s / 2 / FRAME.width, s % 2);
        let gone = |&s: &u32| spans.area[s as usize] == 0;
        (0..spans.area.len() as u32)
            .filter(gone)
            .map(cell)
            .collect()
    }

    /// What `covers` says of every cell centre, for the floors wanted.
    fn expected(upper: &[u32], covers: impl Fn(f64, f64) -> bool) -> Vec<(u32, u32, u32)> {
        let mut all = Vec::new();
        for z in 0..FRAME.depth {
            for x in 0..FRAME.width {
                let cx = -4.0 + (f64::from(x) + 0.5) * 0.5;
                let cz = 2.0 + (f64::from(z) + 0.5) * 0.5;
                if covers(cx, cz) {
                    all.extend(upper.iter().map(|&u| (x, z, u)));
                }
            }
        }
        all
    }

    #[test]
    fn each_shape_covers_the_cells_whose_centres_it_holds() {
        // The lower floor is at 2, the upper at 4.
        let round = Obstacle::cylinder(DVec3::new(1.0, 0.0, 6.0), 1.25, 2.0).unwrap();
        let inside = |x: f64, z: f64| (x - 1.0) * (x - 1.0) + (z - 6.0) * (z - 6.0) <= 1.75 * 1.75;
        assert_eq!(gone(&round, 1), expected(&[0], inside));

        let (min, max) = (DVec3::new(-9.0, 3.9, 2.0), DVec3::new(-3.25, 4.0, 3.0));
        let block = Obstacle::aligned_box(min, max).unwrap();
        // Grown by two cells its edge runs through centres, which count.
        let inside = |x: f64, z: f64| x <= -2.25 && z <= 4.0;
        assert_eq!(gone(&block, 2), expected(&[1], inside));

        // A turn by the angle of a 3-4-5 triangle.
        let yaw = libm::atan2(3.0, 4.0);
        let half = DVec3::new(3.0, 2.0, 0.75);
        let turned = Obstacle::oriented_box(DVec3::new(1.0, 3.0, 6.0), half, yaw).unwrap();
        let inside = |x: f64, z: f64| {
            let (dx, dz) = (x - 1.0, z - 6.0);
            (0.8 * dx + 0.6 * dz).abs() <= 3.0 && (0.8 * dz - 0.6 * dx).abs() <= 0.75
        };
        let found = gone(&turned, 0);
        assert_eq!(found, expected(&[0, 1], inside));
        // Towards +z as x grows, not the other way.
        assert!(found.iter().any(|&(x, z, _)| x > 12 && z > 10));
        assert!(!found.iter().any(|&(x, z, _)| x > 12 && z < 6));
    }

    #[test]
    fn heights_count_ends_included() {
        let column = |y: f64, height: f64| {
            let base = DVec3::new(1.0, y, 6.0);
            let found = gone(&Obstacle::cylinder(base, 0.5, height).unwrap(), 0);
            let floor = |u: u32| found.iter().any(|f| f.2 == u);
            (floor(0), floor(1))
        };
        assert_eq!(column(2.0, 0.0), (true, false));
        assert_eq!(column(2.01, 1.98), (false, false));
        assert_eq!(column(2.01, 1.99), (false, true));
        assert_eq!(column(-5.0, 100.0), (true, true));
    }

    #[test]
    fn sine_and_cosine_are_the_recorded_bits() {
        let bits = |yaw: f64| (libm::sin(yaw).to_bits(), libm::cos(yaw).to_bits());
        assert_eq!(bits(1.0), (0x3FEA_ED54_8F09_0CEE, 0x3FE1_4A28_0FB5_068C));
        assert_eq!(bits(-2.5), (0xBFE3_26AF_0DCF_CAB0, 0xBFE9_A2F7_EF85_8B7D));
        assert_eq!(bits(1e6), (0xBFD6_664B_2568_D867, 0x3FED_F9DF_9906_D32C));
    }

    #[test]
    fn bad_shapes_are_named() {
        let at = DVec3::new(1.0, 2.0, 3.0);
        let nan = DVec3::new(1.0, f64::NAN, 3.0);
        let far = DVec3::new(2_097_151.0, 0.0, 0.0);
        let half = DVec3::splat(2.0);
        let cases: Vec<(Result<Obstacle, ArgumentError>, &str)> = vec![
            (Obstacle::cylinder(nan, 1.0, 1.0), "base.y"),
            (Obstacle::cylinder(at, 0.0, 1.0), "radius"),
            (Obstacle::cylinder(at, f64::NAN, 1.0), "radius"),
            (Obstacle::cylinder(at, f64::INFINITY, 1.0), "radius"),
            (Obstacle::cylinder(at, 1.0, -1e-9), "height"),
            (Obstacle::cylinder(far, 1.0, 0.0), "highest extent.x"),
            (Obstacle::cylinder(-far, 1.0, 0.0), "lowest extent.x"),
            (Obstacle::cylinder(at, 1.0, 2_097_151.0), "highest extent.y"),
            (Obstacle::aligned_box(nan, at), "min.y"),
            (Obstacle::aligned_box(at, nan), "max.y"),
            (
                Obstacle::aligned_box(at, DVec3::new(1.0, 1.9, 9.0)),
                "max.y",
            ),
            (
                Obstacle::aligned_box(at, DVec3::new(0.9, 2.0, 9.0)),
                "max.x",
            ),
            (
                Obstacle::aligned_box(at, DVec3::new(1.0, 2.0, 2.9)),
                "max.z",
            ),
            (Obstacle::oriented_box(nan, half, 0.0), "center.y"),
            (
                Obstacle::oriented_box(at, DVec3::new(0.0, 1.0, 1.0), 0.0),
                "half.x",
            ),
            (
                Obstacle::oriented_box(at, DVec3::new(1.0, -1.0, 1.0), 0.0),
                "half.y",
            ),
            (
                Obstacle::oriented_box(at, DVec3::new(1.0, 1.0, 0.0), 0.0),
                "half.z",
            ),
            (Obstacle::oriented_box(at, half, f64::NAN), "yaw"),
            (Obstacle::oriented_box(at, half, 2_097_152.0), "yaw"),
            (Obstacle::oriented_box(far, half, 0.3), "highest extent.x"),
        ];
        for (result, name) in cases {
            assert_eq!(result.unwrap_err().argument, name);
        }
        assert!(Obstacle::cylinder(at, 1e-9, 0.0).is_ok());
        assert!(Obstacle::aligned_box(at, at).is_ok());
        assert!(Obstacle::oriented_box(at, DVec3::new(1.0, 0.0, 1.0), -100.0).is_ok());
    }
}

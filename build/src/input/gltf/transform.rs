//! Node transforms, in double and in a fixed order of operations.
//!
//! In: a node's matrix, or its translation, rotation and scale. Out: the three rows of a matrix that
//! takes positions to the parent's space. The fourth row of an affine matrix is always 0 0 0 1.

use throng_soa::error::{DataError, DataErrorKind};
use throng_soa::world::DVec3;

use super::json::Json;

/// How far the squared length of a rotation may be from 1.
const UNIT_TOLERANCE: f64 = 1e-3;

/// Rows of an affine matrix: `rows[r][c]`, column 3 is the translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Transform {
    rows: [[f64; 4]; 3],
}

impl Transform {
    pub(super) const IDENTITY: Self = Self {
        rows: [
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, 0.0],
        ],
    };

    /// The transform of a node.
    pub(super) fn of_node(node: Json<'_, '_>) -> Result<Self, DataError> {
        let translation = node.get("translation")?;
        let rotation = node.get("rotation")?;
        let scale = node.get("scale")?;
        let Some(matrix) = node.get("matrix")? else {
            let translation = translation.map_or(Ok([0.0; 3]), |t| t.numbers())?;
            let scale = scale.map_or(Ok([1.0; 3]), |s| s.numbers())?;
            let rotation = rotation.map_or(Ok([0.0, 0.0, 0.0, 1.0]), unit_quaternion)?;
            return Ok(Self::compose(translation, rotation, scale));
        };
        if translation.or(rotation).or(scale).is_some() {
            let problem = "both a matrix and a translation, rotation or scale";
            return Err(node.error(DataErrorKind::Value, problem));
        }
        let m: [f64; 16] = matrix.numbers()?;
        if [m[3], m[7], m[11], m[15]] != [0.0, 0.0, 0.0, 1.0] {
            let problem = "the last row of the matrix must be 0 0 0 1";
            return Err(matrix.error(DataErrorKind::Value, problem));
        }
        let row = |r: usize| [m[r], m[r + 4], m[r + 8], m[r + 12]];
        Ok(Self {
            rows: [row(0), row(1), row(2)],
        })
    }

    /// Translation times rotation times scale.
    fn compose(translation: [f64; 3], [x, y, z, w]: [f64; 4], scale: [f64; 3]) -> Self {
        let rotation = [
            [
                1.0 - 2.0 * (y * y + z * z),
                2.0 * (x * y - z * w),
                2.0 * (x * z + y * w),
            ],
            [
                2.0 * (x * y + z * w),
                1.0 - 2.0 * (x * x + z * z),
                2.0 * (y * z - x * w),
            ],
            [
                2.0 * (x * z - y * w),
                2.0 * (y * z + x * w),
                1.0 - 2.0 * (x * x + y * y),
            ],
        ];
        let row = |r: usize| {
            [
                rotation[r][0] * scale[0],
                rotation[r][1] * scale[1],
                rotation[r][2] * scale[2],
                translation[r],
            ]
        };
        Self {
            rows: [row(0), row(1), row(2)],
        }
    }

    /// This transform after `local`: from the child's space to this one's target.
    pub(super) fn times(&self, local: &Self) -> Self {
        let cell = |r: usize, c: usize| {
            let own = &self.rows[r];
            let sum =
                own[0] * local.rows[0][c] + own[1] * local.rows[1][c] + own[2] * local.rows[2][c];
            if c == 3 { sum + own[3] } else { sum }
        };
        let row = |r: usize| [cell(r, 0), cell(r, 1), cell(r, 2), cell(r, 3)];
        Self {
            rows: [row(0), row(1), row(2)],
        }
    }

    /// A position in the target space.
    pub(super) fn apply(&self, [x, y, z]: [f64; 3]) -> DVec3 {
        let at = |row: &[f64; 4]| row[0] * x + row[1] * y + row[2] * z + row[3];
        let [a, b, c] = &self.rows;
        DVec3::new(at(a), at(b), at(c))
    }

    /// Whether it turns left hands into right ones.
    pub(super) fn mirrors(&self) -> bool {
        let [a, b, c] = &self.rows;
        let determinant = a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
            + a[2] * (b[0] * c[1] - b[1] * c[0]);
        determinant < 0.0
    }
}

fn unit_quaternion(rotation: Json<'_, '_>) -> Result<[f64; 4], DataError> {
    let q: [f64; 4] = rotation.numbers()?;
    let squared = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    // Not a number must fail too.
    if (squared - 1.0).abs() <= UNIT_TOLERANCE {
        return Ok(q);
    }
    let problem = format!("a quaternion of squared length {squared}; it must be 1");
    Err(rotation.error(DataErrorKind::Value, problem))
}

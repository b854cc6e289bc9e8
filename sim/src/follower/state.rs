//! Follower bytes: 203 and the corridor.

use super::FollowerRow;
use crate::corridor::state as corridor_state;
use throng_soa::agents::{AgentState, Crossing, Walk};
use throng_soa::bytes::{Reader, Sink, Writer};
use throng_soa::error::{DataError, DataErrorKind};
use throng_soa::mesh::PolyRef;
use throng_soa::world::DVec3;

const VERSION: u8 = 1;
/// Bytes in front of the corridor's.
pub(crate) const FIXED_LENGTH: usize = 203;
/// Bytes of a corridor without its polygons.
pub(crate) const CORRIDOR_LENGTH: usize = 66;

/// A follower to be written: values, and the corridor's polygons.
pub(crate) struct FollowerView<'a> {
    pub(crate) position: DVec3,
    pub(crate) velocity: DVec3,
    pub(crate) state: AgentState,
    pub(crate) reached_target: bool,
    pub(crate) remaining_distance: f64,
    pub(crate) walk: &'a Walk,
    pub(crate) crossing: &'a Crossing,
    pub(crate) corridor: &'a throng_soa::agents::CorridorHead,
    pub(crate) polys: &'a [PolyRef],
}

impl FollowerView<'_> {
    /// Length of the bytes.
    pub(crate) fn length(&self) -> usize {
        FIXED_LENGTH + CORRIDOR_LENGTH + 8 * self.polys.len()
    }
}

/// Appends a follower.
pub(crate) fn write<S: Sink>(writer: &mut Writer<S>, follower: &FollowerView<'_>) {
    writer.u8(VERSION);
    writer.u8(follower.state as u8);
    writer.flag(follower.reached_target);
    let Walk {
        destination,
        step_count,
        replan_rounds,
        stuck_recoveries,
        stuck_clock,
        stuck_anchor,
    } = *follower.walk;
    writer.u64(step_count);
    writer.i32(replan_rounds);
    writer.i32(stuck_recoveries);
    writer.f64(stuck_clock);
    writer.point(stuck_anchor);
    writer.point(follower.position);
    writer.point(follower.velocity);
    writer.point(destination);
    let Crossing {
        start,
        end,
        elapsed,
        duration,
        exit_poly,
    } = *follower.crossing;
    writer.point(start);
    writer.point(end);
    writer.f64(elapsed);
    writer.f64(duration);
    writer.u64(exit_poly.bits());
    writer.f64(follower.remaining_distance);
    corridor_state::write(writer, follower.corridor, follower.polys);
}

/// Reads a follower whose corridor has `capacity` into `row`, whose path holds that many.
pub(crate) fn read(
    reader: &mut Reader<'_>,
    capacity: usize,
    row: &mut FollowerRow<'_>,
) -> Result<(), DataError> {
    let at = reader.offset();
    let version = reader.u8("follower version")?;
    if version != VERSION {
        return Err(reader.error_at(
            at,
            "follower version",
            DataErrorKind::Version {
                found: u32::from(version),
                expected: u32::from(VERSION),
            },
            format!("is {version}; this release reads version {VERSION}"),
        ));
    }
    let at = reader.offset();
    let state = reader.u8("follower state")?;
    *row.state = AgentState::from_byte(state).ok_or_else(|| {
        let problem = format!("is {state}; states are 0 to 5");
        reader.error_at(at, "follower state", DataErrorKind::Value, problem)
    })?;
    *row.reached_target = reader.flag("follower reached target")?;
    let step_count = reader.u64("follower step count")?;
    let replan_rounds = counter(reader, "follower replan rounds")?;
    let stuck_recoveries = counter(reader, "follower stuck recoveries")?;
    let stuck_clock = duration(reader, "follower stuck clock")?;
    let stuck_anchor = reader.point("follower stuck anchor")?;
    *row.position = reader.point("follower position")?;
    *row.velocity = DVec3::new(
        reader.finite("follower velocity x")?,
        reader.finite("follower velocity y")?,
        reader.finite("follower velocity z")?,
    );
    *row.walk = Walk {
        destination: reader.point("follower destination")?,
        step_count,
        replan_rounds,
        stuck_recoveries,
        stuck_clock,
        stuck_anchor,
    };
    *row.crossing = Crossing {
        start: reader.point("follower off-mesh start")?,
        end: reader.point("follower off-mesh end")?,
        elapsed: duration(reader, "follower off-mesh elapsed")?,
        duration: duration(reader, "follower off-mesh duration")?,
        exit_poly: PolyRef::from_bits(reader.u64("follower off-mesh exit polygon")?),
    };
    let at = reader.offset();
    let remaining = reader.f64("follower remaining distance")?;
    if remaining.is_nan() || remaining < 0.0 {
        return Err(reader.error_at(
            at,
            "follower remaining distance",
            DataErrorKind::Value,
            format!("is {remaining}; it is 0 or more, or infinite"),
        ));
    }
    *row.remaining_distance = remaining;
    corridor_state::read(reader, capacity, &mut row.corridor)
}

fn counter(reader: &mut Reader<'_>, field: &str) -> Result<i32, DataError> {
    let at = reader.offset();
    let value = reader.i32(field)?;
    if value >= 0 {
        return Ok(value);
    }
    let problem = format!("is {value}; it is not negative");
    Err(reader.error_at(at, field, DataErrorKind::Value, problem))
}

fn duration(reader: &mut Reader<'_>, field: &str) -> Result<f64, DataError> {
    let at = reader.offset();
    let value = reader.finite(field)?;
    if value >= 0.0 {
        return Ok(value);
    }
    let problem = format!("is {value}; it is not negative");
    Err(reader.error_at(at, field, DataErrorKind::Value, problem))
}

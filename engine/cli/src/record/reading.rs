//! A recording's bytes taken back: nothing here touches files, so that any bytes can be tried.

use throng::parts::soa::bytes::Reader;
use throng::{AgentState, DVec3, DataError, DataErrorKind};

use crate::forms::RECORDING;

pub(super) const VERSION: u16 = 1;
/// State of a free slot.
pub(super) const FREE: u8 = 255;
/// Bytes of an agent in a frame.
const ROW: usize = 13;

/// What stands at the start of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Header {
    /// Agents per frame.
    pub(crate) slots: u32,
    /// Number of frames.
    pub(crate) frames: u32,
    /// Seconds between frames.
    pub(crate) dt: f64,
    /// Agent radius.
    pub(crate) radius: f64,
    /// What positions count from.
    pub(crate) origin: DVec3,
}

/// Reads a recording's header and the number of agents per state of its last frame (idle, moving,
/// on a link, arrived, stuck, no path, free).
pub(crate) fn read(bytes: &[u8]) -> Result<(Header, [u32; 7]), DataError> {
    let mut reader = Reader::new("recording", bytes);
    reader.bytes("magic", RECORDING.len())?;
    reader.version(VERSION)?;
    reader.zero_u16("reserved")?;
    let slots = reader.u32("slots")?;
    let frames = reader.u32("frames")?;
    let header = Header {
        slots,
        frames,
        dt: reader.finite("seconds between frames")?,
        radius: reader.finite("agent radius")?,
        origin: DVec3::new(
            reader.finite("origin x")?,
            reader.finite("origin y")?,
            reader.finite("origin z")?,
        ),
    };
    let frame = u64::from(slots) * ROW as u64;
    let length = frame.saturating_mul(u64::from(frames));
    if length != reader.remaining() as u64 {
        let problem = format!("take {length} bytes; {} follow", reader.remaining());
        let kind = if length > reader.remaining() as u64 {
            DataErrorKind::Truncated
        } else {
            DataErrorKind::Trailing
        };
        return Err(reader.error("frames", kind, problem));
    }
    let mut states = [0; 7];
    if frames > 0 {
        let last = length - frame;
        reader.bytes("frames", last as usize)?;
        for _ in 0..slots {
            reader.bytes("position", ROW - 1)?;
            let at = reader.offset();
            let byte = reader.u8("state")?;
            match AgentState::from_byte(byte) {
                Some(state) => states[state as usize] += 1,
                None if byte == FREE => states[6] += 1,
                None => {
                    let problem = format!("is {byte}; states are 0 to 5, or 255");
                    return Err(reader.error_at(at, "state", DataErrorKind::Value, problem));
                }
            }
        }
    }
    Ok((header, states))
}

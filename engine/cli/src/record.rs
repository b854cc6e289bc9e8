//! Recordings: where everybody was, step by step.
//!
//! A recording (`.thrr`) is little-endian, without padding:
//!
//! | bytes | field |
//! |---|---|
//! | 4 | magic `THRR` |
//! | 2 | version, 1 |
//! | 2 | zero |
//! | 4 | slots: agents per frame |
//! | 4 | frames: the start, then one per step |
//! | 8 | `f64` seconds between frames |
//! | 8 | `f64` agent radius |
//! | 24 | 3 `f64` origin that positions count from |
//!
//! and then, per frame, 13 bytes per slot: `f32` x, y, z relative to the origin, and the state
//! as a byte (0 idle, 1 moving, 2 on an off-mesh link, 3 arrived, 4 stuck, 5 no path, 255 when the
//! slot is free). Nothing follows the last frame.

use std::io::Write;
use std::path::{Path, PathBuf};

use throng::parts::soa::bytes::Reader;
use throng::{AgentState, CrowdColumns, DVec3, DataError, DataErrorKind};

use crate::file::NewFile;
use crate::forms::RECORDING;
use crate::host::{self, Failure};

const VERSION: u16 = 1;
const FREE: u8 = 255;
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

/// A recording being written.
#[derive(Debug)]
pub(crate) struct Recorder {
    path: PathBuf,
    file: NewFile,
    origin: DVec3,
    frame: Vec<u8>,
}

impl Recorder {
    /// Creates the file and writes the header.
    pub(crate) fn create(path: &Path, header: &Header) -> Result<Self, Failure> {
        let mut bytes = RECORDING.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend([0; 2]);
        bytes.extend(header.slots.to_le_bytes());
        bytes.extend(header.frames.to_le_bytes());
        for value in [header.dt, header.radius] {
            bytes.extend(value.to_le_bytes());
        }
        for value in header.origin.to_array() {
            bytes.extend(value.to_le_bytes());
        }
        let file = NewFile::create(path).and_then(|mut file| {
            file.write_all(&bytes)?;
            Ok(file)
        });
        Ok(Self {
            path: path.into(),
            file: file.map_err(|error| host::cannot_write(path, &error))?,
            origin: header.origin,
            frame: Vec::new(),
        })
    }

    /// Appends a frame.
    pub(crate) fn frame(&mut self, columns: &CrowdColumns<'_>) -> Result<(), Failure> {
        self.frame.clear();
        for slot in 0..columns.position.len() {
            let active = columns.active[slot];
            let local = columns.position[slot] - self.origin;
            for value in if active { local } else { DVec3::ZERO }.to_array() {
                self.frame.extend((value as f32).to_le_bytes());
            }
            self.frame.push(if active {
                columns.state[slot] as u8
            } else {
                FREE
            });
        }
        let written = self.file.write_all(&self.frame);
        written.map_err(|error| host::cannot_write(&self.path, &error))
    }

    /// Writes what is buffered and gives the file its name.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let finished = self.file.finish();
        finished.map_err(|error| host::cannot_write(&self.path, &error))
    }
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

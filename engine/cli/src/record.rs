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

mod reading;

pub(crate) use reading::{Header, read};

use std::io::Write;
use std::path::{Path, PathBuf};

use throng::{CrowdColumns, DVec3};

use crate::file::NewFile;
use crate::forms::RECORDING;
use crate::host::{self, Failure};
use reading::{FREE, VERSION};

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

//! The files a command is to write, looked at before any work is done: none of them may be the
//! level or another of them, and each must take writing.
//!
//! Files are compared by what the system knows of them, so `./level.obj` and links count as
//! `level.obj`. A file may go to standard output (`-`); the report then goes to standard error.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use crate::file::{Stream, own_stream};
use crate::host::{self, Failure, Say, cannot_write};

/// A file to be written: the flag that names it, and its path when the flag was given.
pub(crate) type Output<'a> = (&'static str, Option<&'a PathBuf>);

/// Checks the files to be written by a command that reads the file `level`, if it reads one. Leaves
/// everything as it was.
pub(crate) fn check(level: Option<&Path>, outputs: &[Output<'_>]) -> Result<(), Failure> {
    let input = level.and_then(Identity::of);
    let mut taken: Vec<Taken> = Vec::new();
    let mut probes = Vec::new();
    for &(flag, path) in outputs {
        let Some(path) = path else { continue };
        check_extension(flag, path)?;
        let stream = own_stream(path);
        if stream.is_none() {
            probes.push(Probe::new(path)?);
        }
        let identity = Identity::of(match stream {
            Some(stream) => stream.path(),
            None => path,
        });
        if identity.is_some() && input == identity {
            let problem = format!("is the level itself; give {flag} another file");
            return Err(Failure::about(path.display(), problem));
        }
        let is_same = |known: &&Taken| {
            (identity.is_some() && known.identity == identity)
                || (stream.is_some() && known.stream == stream)
        };
        if let Some(known) = taken.iter().find(is_same) {
            let other = known.flag;
            let problem = format!("is the file of {other} too; give {flag} another one");
            return Err(Failure::about(path.display(), problem));
        }
        taken.push(Taken {
            flag,
            identity,
            stream,
        });
    }
    Ok(())
}

/// An output looked at before another.
struct Taken {
    flag: &'static str,
    identity: Option<Identity>,
    stream: Option<Stream>,
}

/// What prints the report of a command that writes `outputs`: to standard output, unless a file
/// goes there.
pub(crate) fn voice(outputs: &[Output<'_>]) -> Say {
    let mut paths = outputs.iter().filter_map(|(_, path)| *path);
    if paths.any(|path| own_stream(path) == Some(Stream::Output)) {
        host::say_aside
    } else {
        host::say
    }
}

/// A picture is SVG whatever its name says, so no other format's name is taken.
fn check_extension(flag: &str, path: &Path) -> Result<(), Failure> {
    let other = path
        .extension()
        .filter(|extension| flag == "--picture" && !extension.eq_ignore_ascii_case("svg"));
    match other {
        None => Ok(()),
        Some(_) => Err(Failure::Usage(format!(
            "--picture is {}; pictures are SVG, so its name must end in .svg",
            path.display()
        ))),
    }
}

/// What a regular file is, by whatever name. Pipes and devices have no identity here: writing to
/// one destroys nothing.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    #[cfg(unix)]
    device_and_inode: (u64, u64),
    #[cfg(not(unix))]
    path: PathBuf,
}

impl Identity {
    fn of(path: &Path) -> Option<Self> {
        let about = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let device_and_inode = (about.dev(), about.ino());
            Some(Self { device_and_inode })
        }
        #[cfg(not(unix))]
        {
            let _ = about;
            let path = fs::canonicalize(path).ok()?;
            Some(Self { path })
        }
    }
}

/// A file opened for writing to see that it can be. One that was not there before goes again with
/// the probe.
struct Probe {
    created: Option<PathBuf>,
}

impl Probe {
    fn new(path: &Path) -> Result<Self, Failure> {
        let known = fs::metadata(path);
        if let Ok(about) = &known {
            // Opening a pipe would wait for its reader, and closing it again would tell it to stop.
            if !about.is_file() && !about.is_dir() {
                return Ok(Self { created: None });
            }
        }
        // In a sticky folder a file of another user opens only when none may be made.
        let opened = OpenOptions::new()
            .write(true)
            .create(known.is_err())
            .truncate(false)
            .open(path);
        opened.map_err(|error| cannot_write(path, &error))?;
        let created = match known {
            Ok(_) => None,
            // Behind a link, the file itself and not the link.
            Err(_) => fs::canonicalize(path).ok(),
        };
        Ok(Self { created })
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        if let Some(path) = &self.created {
            // If it stays, it is an empty file that will be written to.
            let _ = fs::remove_file(path);
        }
    }
}

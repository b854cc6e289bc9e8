//! A file being written: what stood under its name stays until all of the new one is there.
//!
//! A regular file is written under another name next to its own and renamed at the end; when that
//! fails, or is never reached, the other name goes again. Pipes, devices and the program's own
//! streams are written as they are: there is nothing in them to keep.

#![allow(
    clippy::disallowed_types,
    reason = "the program writes files; the libraries do not"
)]

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Links followed before they count as a circle.
const MOST_LINKS: u32 = 40;
/// Names tried for the file next to the one wanted.
const MOST_NAMES: u32 = 1000;

/// A file being written. Dropped before [`finish`](Self::finish), it was never there.
#[derive(Debug)]
pub(crate) struct NewFile {
    out: BufWriter<File>,
    /// Where it is written and where it goes; `None` when it is written in place.
    moved: Option<(Unfinished, PathBuf)>,
}

impl NewFile {
    /// Opens a file for writing.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        if is_written_in_place(path) {
            let out = BufWriter::new(File::create(path)?);
            return Ok(Self { out, moved: None });
        }
        let place = behind_links(path)?;
        let (file, unfinished) = Unfinished::create(&place)?;
        if let Ok(about) = fs::metadata(&place) {
            file.set_permissions(about.permissions())?;
        }
        Ok(Self {
            out: BufWriter::new(file),
            moved: Some((unfinished, place)),
        })
    }

    /// Gives the file its name, once all of it is on the disk.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.out.flush()?;
        let Some((unfinished, place)) = self.moved else {
            return Ok(());
        };
        self.out.get_ref().sync_all()?;
        // An open file cannot be renamed everywhere.
        drop(self.out);
        unfinished.rename(&place)
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Sees whether a file can be made where one for `path` is to be, leaving everything as it was.
pub(crate) fn probe(path: &Path) -> io::Result<()> {
    if is_written_in_place(path) {
        return Ok(());
    }
    Unfinished::create(&behind_links(path)?).map(drop)
}

/// Whether bytes go straight to `path`: a pipe, a device, or one of the program's own streams,
/// which may be a regular file that others write too.
fn is_written_in_place(path: &Path) -> bool {
    let is_stream = cfg!(unix) && ["/dev", "/proc"].iter().any(|root| path.starts_with(root));
    let other = |about: fs::Metadata| !about.is_file() && !about.is_dir();
    is_stream || fs::metadata(path).is_ok_and(other)
}

/// The file a name stands for: links are kept, and what they lead to is written.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        let Ok(next) = fs::read_link(&place) else {
            return Ok(place);
        };
        place = folder_of(&place).join(next);
    }
    Err(io::Error::other("too many links, one to the next"))
}

/// The folder a file is in.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The name of a file that is not finished; the file goes when this does.
#[derive(Debug)]
struct Unfinished(PathBuf);

impl Unfinished {
    /// Makes a file in the folder of `place`, under a name nothing had.
    fn create(place: &Path) -> io::Result<(File, Self)> {
        let process = std::process::id();
        for number in 0..MOST_NAMES {
            let path = folder_of(place).join(format!("throng-{process}-{number}.part"));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok((file, Self(path))),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("unfinished files fill the folder"))
    }

    fn rename(self, place: &Path) -> io::Result<()> {
        fs::rename(&self.0, place)?;
        // The name is gone; there is nothing to remove.
        std::mem::forget(self);
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // Nothing can be done about one that stays.
        let _ = fs::remove_file(&self.0);
    }
}

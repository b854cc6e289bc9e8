//! A file being written: what stood under its name stays until all of the new one is there.
//!
//! A regular file is written next to its own, as `.NAME.throng-PROCESS-NUMBER.part`, and renamed at
//! the end; when that fails, or is never reached, the other name goes again. A signal (Ctrl-C, a
//! kill) ends the program where it is: the old file stays as it was, and so does the `.part`, which
//! may be removed once its process is gone.
//!
//! The new file is another one under the same name, with the permissions of the old: hard links to
//! the old one keep the old bytes, and the owner is whoever runs the program. A file whose folder
//! takes no other, or whose name cannot be taken away (it is mounted there by itself, or the folder
//! is sticky), is written in place instead, at the end where a `.part` could be made and from the
//! start otherwise; then a failure loses the old bytes.
//!
//! Pipes, devices and the program's own streams are written as they are: there is nothing in them
//! to keep. Standard output and standard error are not opened again, by whatever name they go (`-`,
//! `/dev/stdout`): redirected to a file, they have one place in it, which all that is written moves.

#![allow(
    clippy::disallowed_types,
    reason = "the program writes files; the libraries do not"
)]

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Links followed before they count as a circle.
const MOST_LINKS: u32 = 40;
/// Names tried for the file next to the one wanted.
const MOST_NAMES: u32 = 1000;
/// Bytes of a file's name that stand in the name of its unfinished one: with all around them they
/// fit where names are shortest, 143 bytes.
const LONGEST_NAME: usize = 96;

/// A file being written. Dropped before [`finish`](Self::finish), one that is not written in place
/// was never there.
#[derive(Debug)]
pub(crate) struct NewFile {
    out: BufWriter<File>,
    /// Where it is written and where it goes; `None` when it is written in place.
    moved: Option<(Unfinished, PathBuf)>,
}

impl NewFile {
    /// Opens a file for writing.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        if let Some(stream) = own_stream(path) {
            let out = BufWriter::new(stream.open()?);
            return Ok(Self { out, moved: None });
        }
        let Some(place) = behind_links(path)? else {
            let out = BufWriter::new(File::create(path)?);
            return Ok(Self { out, moved: None });
        };
        let (file, moved) = match Unfinished::create(&place) {
            Ok((file, unfinished)) => (file, Some((unfinished, place))),
            Err(error) => {
                let file = open_instead(&place, error)?;
                file.set_len(0)?;
                (file, None)
            }
        };
        let out = BufWriter::new(file);
        Ok(Self { out, moved })
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
        unfinished.put_at(&place)
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

/// A stream the program was started with, and writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

impl Stream {
    /// Another handle of the stream, which writes where the stream itself would go on.
    fn open(self) -> io::Result<File> {
        #[cfg(unix)]
        {
            use std::os::fd::AsFd;
            let own = match self {
                Self::Output => io::stdout().as_fd().try_clone_to_owned(),
                Self::Error => io::stderr().as_fd().try_clone_to_owned(),
            };
            own.map(File::from)
        }
        #[cfg(windows)]
        {
            use std::os::windows::io::AsHandle;
            let own = match self {
                Self::Output => io::stdout().as_handle().try_clone_to_owned(),
                Self::Error => io::stderr().as_handle().try_clone_to_owned(),
            };
            own.map(File::from)
        }
        #[cfg(not(any(unix, windows)))]
        {
            Err(ErrorKind::Unsupported.into())
        }
    }

    /// A path that leads to it, where the system has one.
    pub(crate) fn path(self) -> &'static Path {
        Path::new(match self {
            Self::Output => "/dev/stdout",
            Self::Error => "/dev/stderr",
        })
    }
}

/// The stream of its own that the program writes to under this name: `-` is standard output, and
/// so is whatever leads to `/dev/stdout`.
pub(crate) fn own_stream(path: &Path) -> Option<Stream> {
    if path.as_os_str() == "-" {
        return Some(Stream::Output);
    }
    let mut place = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        if let Some(stream) = numbered_stream(&place) {
            return Some(stream);
        }
        place = folder_of(&place).join(fs::read_link(&place).ok()?);
    }
    None
}

/// The stream whose number a file of the folder of the program's open files has for a name.
fn numbered_stream(path: &Path) -> Option<Stream> {
    let stream = match path.file_name()?.to_str()? {
        "1" => Stream::Output,
        "2" => Stream::Error,
        _ => return None,
    };
    let folder = fs::canonicalize(folder_of(path)).ok()?;
    let is_it = |own: &&str| fs::canonicalize(own).is_ok_and(|own| own == folder);
    let own = ["/proc/self/fd", "/dev/fd"].iter().find(|own| is_it(own));
    own.map(|_| stream)
}

/// The file a name stands for: links are kept, and what they lead to is written. `None` when bytes
/// go straight to `path`: to a pipe, a device, or one of the program's own streams, which may be a
/// regular file that others write too.
fn behind_links(path: &Path) -> io::Result<Option<PathBuf>> {
    let other = |about: fs::Metadata| !about.is_file() && !about.is_dir();
    if fs::metadata(path).is_ok_and(other) {
        return Ok(None);
    }
    let mut place = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        if is_stream(&place) {
            return Ok(None);
        }
        let Ok(next) = fs::read_link(&place) else {
            return Ok(Some(place));
        };
        place = folder_of(&place).join(next);
    }
    Err(io::Error::other("too many links, one to the next"))
}

/// Whether a name may be that of one of the program's own streams. A folder by another name counts
/// where every file is a stream.
fn is_stream(path: &Path) -> bool {
    let is_named_so = ["/dev", "/proc"].iter().any(|root| path.starts_with(root));
    let folder = || fs::canonicalize(folder_of(path));
    cfg!(unix) && (is_named_so || folder().is_ok_and(|folder| folder.starts_with("/proc")))
}

/// The folder a file is in.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Opens the regular file at `place` for writing, as it is, when `error` says that its folder or
/// its name cannot change; `error` again when that is not so or the file cannot be opened.
fn open_instead(place: &Path, error: io::Error) -> io::Result<File> {
    let is_fixed = matches!(
        error.kind(),
        ErrorKind::PermissionDenied
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::ResourceBusy
            | ErrorKind::CrossesDevices
    );
    let is_file = || fs::metadata(place).is_ok_and(|about| about.is_file());
    if !is_fixed || !is_file() {
        return Err(error);
    }
    let opened = OpenOptions::new().write(true).open(place);
    opened.map_err(|_| error)
}

/// The name of a file that is not finished; the file goes when this does.
#[derive(Debug)]
struct Unfinished(PathBuf);

impl Unfinished {
    /// Makes a file in the folder of `place`, under a name nothing had, with the permissions of the
    /// file at `place`.
    fn create(place: &Path) -> io::Result<(File, Self)> {
        let (name, process) = (short_name(place), std::process::id());
        for number in 0..MOST_NAMES {
            let path = folder_of(place).join(format!(".{name}.throng-{process}-{number}.part"));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => {
                    let unfinished = Self(path);
                    if let Ok(about) = fs::metadata(place) {
                        file.set_permissions(about.permissions())?;
                    }
                    return Ok((file, unfinished));
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("unfinished files fill the folder"))
    }

    /// Gives the file the name `place`, or its bytes to the file there.
    fn put_at(self, place: &Path) -> io::Result<()> {
        match fs::rename(&self.0, place) {
            Ok(()) => {
                // The name is gone; there is nothing to remove.
                std::mem::forget(self);
                Ok(())
            }
            Err(error) => self.copy_to(&open_instead(place, error)?),
        }
    }

    /// Replaces all that is in `file`.
    fn copy_to(&self, mut file: &File) -> io::Result<()> {
        let mut bytes = File::open(&self.0)?;
        file.set_len(0)?;
        io::copy(&mut bytes, &mut file)?;
        file.sync_all()
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // Nothing can be done about one that stays.
        let _ = fs::remove_file(&self.0);
    }
}

/// The name of a file, or as much of it as fits.
fn short_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut short = String::new();
    for letter in name.chars() {
        if short.len() + letter.len_utf8() > LONGEST_NAME {
            break;
        }
        short.push(letter);
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let process = std::process::id();
        let folder = std::env::temp_dir().join(format!("throng-file-{process}-{name}"));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn an_unfinished_file_says_whose_it_is_and_goes() {
        let folder = folder("named");
        let longest = "\u{e4}".repeat(127);
        for (name, part) in [
            ("level.nav", ".level.nav.throng-".to_owned()),
            (&longest, format!(".{}.throng-", "\u{e4}".repeat(48))),
        ] {
            let names = || -> Vec<String> {
                let entries = fs::read_dir(&folder).unwrap();
                let names = entries.map(|entry| entry.unwrap().file_name());
                names.map(|name| name.into_string().unwrap()).collect()
            };
            let mut file = NewFile::create(&folder.join(name)).unwrap();
            file.write_all(b"bytes").unwrap();
            let [only] = &names()[..] else {
                panic!("{:?}", names());
            };
            assert!(only.starts_with(&part) && only.ends_with(".part"), "{only}");
            drop(file);
            assert!(names().is_empty());
        }
        fs::remove_dir(folder).unwrap();
    }

    #[test]
    fn a_name_that_stays_gets_the_bytes() {
        let folder = folder("bytes");
        let place = folder.join("level.nav");
        let (mut part, unfinished) = Unfinished::create(&place).unwrap();
        part.write_all(b"new").unwrap();
        for kind in [
            ErrorKind::PermissionDenied,
            ErrorKind::ReadOnlyFilesystem,
            ErrorKind::ResourceBusy,
            ErrorKind::CrossesDevices,
        ] {
            // There is nothing to write in the place of.
            let _ = fs::remove_file(&place);
            assert_eq!(open_instead(&place, kind.into()).unwrap_err().kind(), kind);
            assert!(open_instead(&folder, kind.into()).is_err());
            fs::write(&place, "old and longer").unwrap();
            let file = open_instead(&place, kind.into()).unwrap();
            assert_eq!(fs::read(&place).unwrap(), b"old and longer");
            unfinished.copy_to(&file).unwrap();
            assert_eq!(fs::read(&place).unwrap(), b"new");
        }
        // A full disk loses nothing.
        assert!(open_instead(&place, ErrorKind::StorageFull.into()).is_err());
        drop(unfinished);
        fs::remove_file(place).unwrap();
        fs::remove_dir(folder).unwrap();
    }
}

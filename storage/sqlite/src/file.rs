//! The file of a database: which one it is, of when it is, and making it.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

use catalogue_core::storage::{StorageError, StorageErrorKind};

use crate::open_error::OpenError;

/// How many links may lead from one to the next, as on Linux.
const MOST_LINKS: usize = 40;

/// Which file stands at a path: another one has another identity, also under the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity(u64, u64);

/// A file as it was when it was last written to: in WAL mode by a checkpoint, or where another was copied over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileVersion {
    pub(crate) identity: FileIdentity,
    length: u64,
    changed: ChangeTime,
}

/// In seconds and nanoseconds. On Unix the time of the last change of status, which nobody can set back.
type ChangeTime = (i64, i64);

impl FileVersion {
    pub(crate) fn of(metadata: &fs::Metadata) -> Self {
        Self { identity: FileIdentity::of(metadata), length: metadata.len(), changed: change_time_of(metadata) }
    }

    /// That of a database in memory, by its number.
    pub(crate) fn in_memory(number: u64) -> Self {
        Self { identity: FileIdentity(0, number), length: 0, changed: (0, 0) }
    }
}

#[cfg(unix)]
fn change_time_of(metadata: &fs::Metadata) -> ChangeTime {
    use std::os::unix::fs::MetadataExt as _;

    (metadata.ctime(), metadata.ctime_nsec())
}

#[cfg(not(unix))]
fn change_time_of(metadata: &fs::Metadata) -> ChangeTime {
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    modified.map_or((0, 0), |time| (time.as_secs() as i64, i64::from(time.subsec_nanos())))
}

impl FileIdentity {
    #[cfg(unix)]
    pub(crate) fn of(metadata: &fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;

        Self(metadata.dev(), metadata.ino())
    }

    /// Where files have no number, the time of their making stands for it.
    #[cfg(not(unix))]
    pub(crate) fn of(metadata: &fs::Metadata) -> Self {
        let created = metadata.created().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        Self(0, created.map_or(0, |time| time.as_nanos() as u64))
    }
}

/// Makes an empty file where there is none, since SQLite's own lets everybody read it. Its WAL takes over the mode, and what
/// stands in the way is told by SQLite.
///
/// A file that is there is not even opened: closing it would drop the locks that SQLite holds on it in this process. So
/// each link is followed here.
pub(crate) fn make_private(path: &Path) {
    let mut file = OpenOptions::new();
    file.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o640);
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        drop(file.open(&path));
        let Ok(target) = fs::read_link(&path) else { return };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
}

/// Whether a file stands there, to be opened.
pub(crate) fn check(path: &Path) -> Result<(), OpenError> {
    let path = path.to_owned();
    let error = match fs::metadata(&path) {
        Ok(metadata) if metadata.is_file() => return Ok(()),
        Ok(_) => return Err(OpenError::NotAFile(path)),
        Err(error) => error,
    };
    let has_directory = path.parent().is_none_or(|parent| parent.as_os_str().is_empty() || parent.is_dir());
    Err(match error.kind() {
        io::ErrorKind::NotFound if has_directory => OpenError::Missing(path),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => OpenError::MissingDirectory(path),
        _ => {
            let source = StorageError::new(StorageErrorKind::Unavailable, "its file cannot be looked at");
            OpenError::Failed { path, source: source.with_source(error) }
        }
    })
}

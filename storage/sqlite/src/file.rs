//! The file of a database: its existence, identity, version and creation.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

use catalogue_core::storage::{StorageError, StorageErrorKind};

use crate::open_error::OpenError;

/// Maximum number of symbolic links that are followed to a file, as on Linux.
const MAX_LINKS: usize = 40;

/// Identifies a file: another file at the same path has another identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity(u64, u64);

/// State of a file after its last change, which in WAL mode is a checkpoint, or a copy of another file over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileVersion {
    pub(crate) identity: FileIdentity,
    length: u64,
    changed: ChangeTime,
}

/// Time of the last change, in seconds and nanoseconds: the mtime, or on Unix the ctime, which programs cannot set back.
type ChangeTime = (i64, i64);

impl FileVersion {
    pub(crate) fn of(metadata: &fs::Metadata) -> Self {
        Self { identity: FileIdentity::of(metadata), length: metadata.len(), changed: change_time_of(metadata) }
    }

    /// Returns the version of the in-memory database `number`.
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

    /// Uses the creation time, since Rust's standard library returns file numbers only on Unix.
    #[cfg(not(unix))]
    pub(crate) fn of(metadata: &fs::Metadata) -> Self {
        let created = metadata.created().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        Self(0, created.map_or(0, |time| time.as_nanos() as u64))
    }
}

/// Creates an empty file with mode 0640 if there is none: SQLite would let all users read a new file. The WAL inherits the
/// mode. Ignores errors: SQLite reports them when it opens the file.
///
/// Never opens an existing file: closing it would drop the locks that SQLite holds on it in this process. So it follows
/// symbolic links itself, which `create_new` refuses.
pub(crate) fn make_private(path: &Path) {
    let mut file = OpenOptions::new();
    file.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o640);
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        drop(file.open(&path));
        let Ok(target) = fs::read_link(&path) else { return };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
}

/// Fails unless there is a file at `path`.
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
            let source = StorageError::new(StorageErrorKind::Unavailable, "cannot access the database file");
            OpenError::Failed { path, source: source.with_source(error) }
        }
    })
}

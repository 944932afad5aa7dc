//! [`WalIndex`]: the state of a database in WAL mode, by a look at shared memory.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use rusqlite::Connection;

use crate::file::FileIdentity;
use crate::mapped::Mapped;
use crate::sync::Mutex;

/// How long the header of a WAL's index is, in words of 8 bytes; two copies of it stand at the start of the file.
const HEADER: usize = 6;
/// Which form of the index this is, by the first 4 bytes.
const VERSION: [u8; 4] = 3_007_000_u32.to_ne_bytes();
/// The word and its byte where the header says that it is in use.
const IS_IN_USE: (usize, usize) = (1, 4);

/// The file in which the connections to a database in WAL mode, of all processes, share where the last commit ends
/// (the "WAL-index" of SQLite's file formats, `-shm` beside the database).
///
/// Every commit replaces its header, and readers of SQLite itself begin at what it says. So as long as it is the same, the
/// database is, provided that no connection can leave the WAL meanwhile: whoever relies on that keeps a connection open
/// that has read once, whose locks bar the others from another journal mode and from removing the file. There is none
/// on systems where that was not tried.
pub(crate) struct WalIndex {
    copies: Mapped,
    identity: FileIdentity,
    path: PathBuf,
}

/// What the header was at some instant. Equal only where nothing was committed between.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct WalState([u64; HEADER]);

impl WalIndex {
    /// That of the database which `connection` has read, or `None` where it has no WAL or none that can be watched.
    pub(crate) fn of(connection: &Connection) -> Option<Self> {
        let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).ok()?;
        if mode != "wal" {
            return None;
        }
        let path = beside(Path::new(connection.path()?), "-shm");
        let file = open_for_long(&path)?;
        let identity = FileIdentity::of(&file.metadata().ok()?);
        let index = Self { copies: Mapped::start_of(file, 2 * HEADER)?, identity, path };
        index.state().is_some().then_some(index)
    }

    /// What the header is now; `None` while it is being replaced.
    pub(crate) fn state(&self) -> Option<WalState> {
        // Writers replace the second copy first, so whoever has read the first one whole finds the second one no older.
        let first: [u64; HEADER] = self.copies.words(0)?;
        let is_valid = first == self.copies.words(HEADER)?
            && first[0].to_ne_bytes().starts_with(&VERSION)
            && first[IS_IN_USE.0].to_ne_bytes()[IS_IN_USE.1] == 1;
        is_valid.then_some(WalState(first))
    }

    pub(crate) fn is_at_its_path(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|metadata| FileIdentity::of(&metadata) == self.identity)
    }
}

/// A file that SQLite keeps beside a database.
pub(crate) fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

/// What a file begins with, which SQLite may have open too.
#[cfg(unix)]
pub(crate) fn read_for_long(path: &Path, buffer: &mut [u8]) -> Option<()> {
    use std::os::unix::fs::FileExt as _;

    open_for_long(path)?.read_exact_at(buffer, 0).ok()
}

/// Opens a file once, and closes it only when nobody can open it any more: closing it drops every lock that SQLite holds on
/// it in this process (POSIX).
fn open_for_long(path: &Path) -> Option<Arc<File>> {
    static OPEN: Mutex<Vec<(FileIdentity, Arc<File>)>> = Mutex::new(Vec::new());

    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let identity = FileIdentity::of(&fs::metadata(path).ok()?);
    if let Some((_, file)) = open.iter().find(|(known, _)| *known == identity) {
        return Some(Arc::clone(file));
    }
    open.retain(|(_, file)| Arc::strong_count(file) > 1 || !is_removed(file));
    let file = Arc::new(File::open(path).ok()?);
    // Another file may stand there by now; it is this one that is open.
    open.push((FileIdentity::of(&file.metadata().ok()?), Arc::clone(&file)));
    Some(file)
}

/// Whether the file has no name any more.
#[cfg(unix)]
fn is_removed(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    file.metadata().is_ok_and(|metadata| metadata.nlink() == 0)
}

#[cfg(not(unix))]
fn is_removed(_: &File) -> bool {
    false
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_header_counts_when_both_copies_are_whole() {
        let whole = {
            let mut header = [0; 8 * HEADER];
            header[..VERSION.len()].copy_from_slice(&VERSION);
            header[12] = 1;
            header
        };
        let but = |at: usize| {
            let mut header = whole;
            header[at] ^= 1;
            header
        };
        for (copies, counts) in
            [([whole, whole], true), ([whole, but(47)], false), ([but(0), but(0)], false), ([but(12), but(12)], false)]
        {
            let named = tempfile::NamedTempFile::new().unwrap();
            fs::write(&named, copies.concat()).unwrap();
            let (file, path) = (Arc::new(named.reopen().unwrap()), named.path().to_owned());
            let identity = FileIdentity::of(&file.metadata().unwrap());
            let index = WalIndex { copies: Mapped::start_of(file, 2 * HEADER).unwrap(), identity, path };
            assert_eq!(index.state().is_some(), counts, "{copies:?}");
        }
    }

    /// To close it would drop the locks of SQLite's own connections to it.
    #[test]
    fn a_file_stays_open_for_as_long_as_it_has_a_name() {
        let [first, second, third] = [(); 3].map(|()| tempfile::NamedTempFile::new().unwrap());
        let open = |named: &tempfile::NamedTempFile| Arc::downgrade(&open_for_long(named.path()).unwrap());
        let (file, _) = (open(&first), open(&second));
        assert!(file.upgrade().is_some());
        drop(first);
        open(&third);
        assert!(file.upgrade().is_none());
    }
}

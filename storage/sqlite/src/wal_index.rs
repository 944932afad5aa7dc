//! [`WalIndex`]: the state of a database in WAL mode, read from shared memory.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use rusqlite::Connection;

use crate::file::FileIdentity;
use crate::shm_map::ShmMap;
use crate::sync::Mutex;

/// Length of the WAL index's header in words of 8 bytes. Two copies of it are at the start of the file.
const HEADER_WORDS: usize = 6;
/// Version of the index's format, in its first 4 bytes.
const VERSION: [u8; 4] = 3_007_000_u32.to_ne_bytes();
/// Position of the flag that the header is initialized: the index of its word, and of its byte in the word.
const INITIALIZED_FLAG: (usize, usize) = (1, 4);

/// The `-shm` file next to a database in WAL mode (the "WAL-index" of SQLite's file formats). In it, the connections of all
/// processes share where the last commit ends.
///
/// Every commit replaces its header, which SQLite's own readers read first. While the header is unchanged, so is the
/// database, provided that it stays in WAL mode. Callers therefore keep a connection open that has read once: its locks
/// prevent a change of the journal mode and the removal of the index. Used only on Linux; other systems are not tested.
pub(crate) struct WalIndex {
    copies: ShmMap,
    identity: FileIdentity,
    path: PathBuf,
}

/// Header of the index at one instant. Two are equal only if nothing was committed in between.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct WalState([u64; HEADER_WORDS]);

impl WalIndex {
    /// Returns the index of the database that `connection` has read; `None` without a WAL, or if the index cannot be mapped.
    pub(crate) fn of(connection: &Connection) -> Option<Self> {
        let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).ok()?;
        if mode != "wal" {
            return None;
        }
        let path = sibling_path(Path::new(connection.path()?), "-shm");
        let file = open_and_retain(&path)?;
        let identity = FileIdentity::of(&file.metadata().ok()?);
        let index = Self { copies: ShmMap::start_of(file, 2 * HEADER_WORDS)?, identity, path };
        index.state().is_some().then_some(index)
    }

    /// Returns the current header; `None` while it is being replaced.
    pub(crate) fn state(&self) -> Option<WalState> {
        // Writers replace the second copy before the first. This reads the first copy first, so equal copies are whole.
        let first: [u64; HEADER_WORDS] = self.copies.words(0)?;
        let is_valid = first == self.copies.words(HEADER_WORDS)?
            && first[0].to_ne_bytes().starts_with(&VERSION)
            && first[INITIALIZED_FLAG.0].to_ne_bytes()[INITIALIZED_FLAG.1] == 1;
        is_valid.then_some(WalState(first))
    }

    pub(crate) fn is_at_its_path(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|metadata| FileIdentity::of(&metadata) == self.identity)
    }
}

/// Returns the path of a file that SQLite keeps next to a database.
pub(crate) fn sibling_path(database: &Path, suffix: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

/// Fills `buffer` from the start of a file that SQLite may have open too.
#[cfg(unix)]
pub(crate) fn read_start(path: &Path, buffer: &mut [u8]) -> Option<()> {
    use std::os::unix::fs::FileExt as _;

    open_and_retain(path)?.read_exact_at(buffer, 0).ok()
}

/// Opens a file at most once, and closes it only after the file was removed. Closing it earlier would drop every lock that
/// SQLite holds on it in this process (POSIX).
fn open_and_retain(path: &Path) -> Option<Arc<File>> {
    static OPEN: Mutex<Vec<(FileIdentity, Arc<File>)>> = Mutex::new(Vec::new());

    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let identity = FileIdentity::of(&fs::metadata(path).ok()?);
    if let Some((_, file)) = open.iter().find(|(known, _)| *known == identity) {
        return Some(Arc::clone(file));
    }
    open.retain(|(_, file)| Arc::strong_count(file) > 1 || !is_removed(file));
    let file = Arc::new(File::open(path).ok()?);
    // Another file may be at the path by now, so the identity is that of the open file.
    open.push((FileIdentity::of(&file.metadata().ok()?), Arc::clone(&file)));
    Some(file)
}

/// Returns whether the file was removed from its directory, so that no path leads to it.
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
    fn header_is_valid_when_both_copies_match() {
        let whole = {
            let mut header = [0; 8 * HEADER_WORDS];
            header[..VERSION.len()].copy_from_slice(&VERSION);
            header[12] = 1;
            header
        };
        let with_flipped_bit = |at: usize| {
            let mut header = whole;
            header[at] ^= 1;
            header
        };
        for (copies, is_valid) in [
            ([whole, whole], true),
            ([whole, with_flipped_bit(47)], false),
            ([with_flipped_bit(0), with_flipped_bit(0)], false),
            ([with_flipped_bit(12), with_flipped_bit(12)], false),
        ] {
            let temporary = tempfile::NamedTempFile::new().unwrap();
            fs::write(&temporary, copies.concat()).unwrap();
            let (file, path) = (Arc::new(temporary.reopen().unwrap()), temporary.path().to_owned());
            let identity = FileIdentity::of(&file.metadata().unwrap());
            let index = WalIndex { copies: ShmMap::start_of(file, 2 * HEADER_WORDS).unwrap(), identity, path };
            assert_eq!(index.state().is_some(), is_valid, "{copies:?}");
        }
    }

    /// Closing the file would drop the locks of SQLite's own connections to it.
    #[test]
    fn file_stays_open_until_it_is_unlinked() {
        let [first, second, third] = [(); 3].map(|()| tempfile::NamedTempFile::new().unwrap());
        let open = |temporary: &tempfile::NamedTempFile| Arc::downgrade(&open_and_retain(temporary.path()).unwrap());
        let (file, _) = (open(&first), open(&second));
        assert!(file.upgrade().is_some());
        drop(first);
        open(&third);
        assert!(file.upgrade().is_none());
    }
}

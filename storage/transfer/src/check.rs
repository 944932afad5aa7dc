//! [`CheckedInput`]: an input that was read and checked once, and can be read again without waiting for its source.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek as _};
use std::time::SystemTime;

use crate::error::{ImportError, LineErrors};
use crate::input::{WatchedReader, Watcher};
use crate::reader::{Lines, unreadable};
use crate::spool::Spool;

/// An input that was read to the end, and whose lines are valid as far as can be checked without the storage.
pub struct CheckedInput {
    file: File,
    length: u64,
    /// Version of the file before the check, to detect later writes; `None` for a copy, which no other program can write.
    version: Option<Version>,
    watcher: Watcher,
}

/// Length of a file, and the time of its last write.
type Version = (u64, SystemTime);

impl CheckedInput {
    /// Returns the length in bytes of the file or, for a stream, of its copy in UTF-8.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Checks the lines of a file.
    pub(crate) fn from_file(file: File, watcher: Watcher) -> Result<Self, ImportError> {
        let version = version_of(&file).map_err(ImportError::from_input)?;
        check(Lines::new(buffered(&file, &watcher)))?;
        let length = position(&file)?;
        Ok(Self { file, length, version: Some(version), watcher })
    }

    /// Copies a stream, and checks its lines.
    pub(crate) fn from_stream(stream: impl Read, watcher: Watcher) -> Result<Self, ImportError> {
        let mut spool = Spool::new().map_err(ImportError::from_input)?;
        check(Lines::with_copy(buffered(stream, &watcher), &mut spool))?;
        let file = spool.finish().map_err(ImportError::from_input)?;
        let length = position(&file)?;
        Ok(Self { file, length, version: None, watcher })
    }

    /// Returns a reader that starts again at the first line.
    pub(crate) fn lines(&self) -> Result<Lines<'_, impl BufRead>, String> {
        let mut file = &self.file;
        file.rewind().map_err(|error| unreadable(&error))?;
        Ok(Lines::new(buffered(file.take(self.length), &self.watcher)))
    }

    /// Fails if the lines that were read again may differ from those that were checked.
    pub(crate) fn check_unchanged(&self) -> Result<(), String> {
        match self.version {
            Some(version) if version != version_of(&self.file)? => {
                Err("changed during the import; import it again when it is complete".to_owned())
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for CheckedInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckedInput").field("length", &self.length).finish_non_exhaustive()
    }
}

fn check(mut lines: Lines<'_, impl BufRead>) -> Result<(), ImportError> {
    let mut errors = LineErrors::default();
    while let Some(parsed) = lines.next_parsed() {
        if let Err(message) = parsed {
            errors.add(lines.number, message);
        }
        if errors.is_full() {
            break;
        }
    }
    errors.finish()
}

/// Returns the read or write position of a file in bytes, unlike [`Lines`], which counts bytes of the text in UTF-8.
fn position(mut file: &File) -> Result<u64, ImportError> {
    file.stream_position().map_err(|error| ImportError::from_input(unreadable(&error)))
}

fn buffered<R: Read>(input: R, watcher: &Watcher) -> BufReader<WatchedReader<'_, R>> {
    BufReader::with_capacity(1 << 16, WatchedReader { input, watcher })
}

fn version_of(file: &File) -> Result<Version, String> {
    let version = |file: &File| -> io::Result<Version> {
        let metadata = file.metadata()?;
        Ok((metadata.len(), metadata.modified()?))
    };
    version(file).map_err(|error| unreadable(&error))
}

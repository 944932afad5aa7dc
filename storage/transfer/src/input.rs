//! [`Input`]: the source of an import.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};

use crate::check::CheckedInput;
use crate::error::ImportError;

/// A file or a stream of lines.
pub struct Input {
    source: Source,
    watcher: Watcher,
}

/// Source of the lines.
enum Source {
    /// Can be read twice.
    File(File),
    /// Can be read once.
    Stream(Box<dyn Read + Send>),
}

/// Callback with the number of bytes that were just read.
pub(crate) type Watcher = Box<dyn Fn(u64) + Send + Sync>;

impl Input {
    /// Creates an input from a file, which is read twice. A pipe or another special file is read as a stream.
    pub fn file(file: File) -> Self {
        if file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Self { source: Source::File(file), watcher: Box::new(|_| {}) };
        }
        Self::stream(file)
    }

    /// Creates an input that is read once, and copied to an unnamed file in the directory for temporary files.
    pub fn stream(stream: impl Read + Send + 'static) -> Self {
        Self { source: Source::Stream(Box::new(stream)), watcher: Box::new(|_| {}) }
    }

    /// Calls `watcher` after each read with the number of bytes that were just read: in [`check`](Self::check), and from the first
    /// byte again in [`CheckedInput::prepare`].
    #[must_use]
    pub fn with_watcher(self, watcher: impl Fn(u64) + Send + Sync + 'static) -> Self {
        Self { watcher: Box::new(watcher), ..self }
    }

    /// Returns the length in bytes; `None` if it is unknown, as for a stream.
    pub fn length(&self) -> Option<u64> {
        match &self.source {
            Source::File(file) => file.metadata().ok().map(|metadata| metadata.len()),
            Source::Stream(_) => None,
        }
    }

    /// Reads the whole input and checks its lines, as far as possible without the storage. Blocks this thread until the input
    /// ends.
    ///
    /// # Errors
    /// Returns an error if the input cannot be read or copied, or its lines are invalid.
    pub fn check(self) -> Result<CheckedInput, ImportError> {
        match self.source {
            Source::File(file) => CheckedInput::from_file(file, self.watcher),
            Source::Stream(stream) => CheckedInput::from_stream(stream, self.watcher),
        }
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").finish_non_exhaustive()
    }
}

/// Reader that reports the number of read bytes to a watcher.
pub(crate) struct WatchedReader<'w, R> {
    pub(crate) input: R,
    pub(crate) watcher: &'w Watcher,
}

impl<R: Read> Read for WatchedReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        (self.watcher)(read as u64);
        Ok(read)
    }
}

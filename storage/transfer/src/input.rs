//! [`Input`]: what is imported.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};

use crate::check::Checked;
use crate::error::ImportError;

/// A file or a stream of lines.
pub struct Input {
    source: Source,
    watcher: Watcher,
}

/// Where the lines come from.
enum Source {
    /// Can be read twice.
    File(File),
    /// Can be read once.
    Stream(Box<dyn Read + Send>),
}

/// Told how many bytes were just read.
pub(crate) type Watcher = Box<dyn Fn(u64) + Send + Sync>;

impl Input {
    /// A file, which is read twice; or a pipe or another special file, which is read as a stream.
    pub fn file(file: File) -> Self {
        if file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Self { source: Source::File(file), watcher: Box::new(|_| {}) };
        }
        Self::stream(file)
    }

    /// What can be read once. It is copied to a file without a name in the directory for temporary files.
    pub fn stream(stream: impl Read + Send + 'static) -> Self {
        Self { source: Source::Stream(Box::new(stream)), watcher: Box::new(|_| {}) }
    }

    /// Tells `watcher` how many bytes were just read, each time that some were: by [`check`](Self::check), and from the
    /// first byte again by [`Checked::prepare`].
    #[must_use]
    pub fn watched(self, watcher: impl Fn(u64) + Send + Sync + 'static) -> Self {
        Self { watcher: Box::new(watcher), ..self }
    }

    /// How many bytes it has, where that can be known.
    pub fn length(&self) -> Option<u64> {
        match &self.source {
            Source::File(file) => file.metadata().ok().map(|metadata| metadata.len()),
            Source::Stream(_) => None,
        }
    }

    /// Reads all of it and checks its lines, as far as that can be done without the storage. It blocks this thread until
    /// the input ends.
    ///
    /// # Errors
    /// When the input cannot be read or copied, or its lines are wrong.
    pub fn check(self) -> Result<Checked, ImportError> {
        match self.source {
            Source::File(file) => Checked::of_file(file, self.watcher),
            Source::Stream(stream) => Checked::of_stream(stream, self.watcher),
        }
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").finish_non_exhaustive()
    }
}

/// What tells a watcher how much of it was read.
pub(crate) struct Watched<'w, R> {
    pub(crate) input: R,
    pub(crate) watcher: &'w Watcher,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        (self.watcher)(read as u64);
        Ok(read)
    }
}

//! [`Checked`]: an input that was read once, for however long that took, and can be read again at once.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek as _};
use std::time::SystemTime;

use super::faults::Faults;
use super::input::Source;
use super::progress::Progress;
use super::reader::{Lines, unreadable};
use super::spool::Spool;

/// An input whose lines were read to the end.
pub(crate) struct Checked {
    file: File,
    length: u64,
    /// Of a file that others can write to meanwhile.
    version: Option<Version>,
}

/// A file's length, and when it was last written to.
type Version = (u64, SystemTime);

impl Checked {
    /// Reads all of the input, and notes what is wrong with its lines as far as can be said without the database; `None`
    /// where that is too much, or the end cannot be reached.
    pub(super) fn of(source: Source, progress: &Progress, faults: &mut Faults) -> Option<Self> {
        let read = match source {
            Source::File(file) => Self::of_file(file, progress, faults),
            Source::Stream(stream) => Self::of_stream(stream, progress, faults),
        };
        read.unwrap_or_else(|what| {
            faults.add(0, what);
            None
        })
    }

    fn of_file(file: File, progress: &Progress, faults: &mut Faults) -> Result<Option<Self>, String> {
        let version = version_of(&file)?;
        let length = checked(Lines::new(buffered(&file, progress)), faults);
        Ok(length.map(|length| Self { file, length, version: Some(version) }))
    }

    fn of_stream(stream: impl Read, progress: &Progress, faults: &mut Faults) -> Result<Option<Self>, String> {
        let mut spool = Spool::new()?;
        let length = checked(Lines::copied(buffered(stream, progress), &mut spool), faults);
        length.map(|length| Ok(Self { file: spool.finish()?, length, version: None })).transpose()
    }

    /// The lines once more, for that work.
    pub(super) fn lines(&self, work: &'static str, progress: &Progress) -> Result<Lines<'_, impl BufRead>, String> {
        let mut file = &self.file;
        file.rewind().map_err(|error| unreadable(&error))?;
        progress.begin_again(work, self.length);
        Ok(Lines::new(buffered(file.take(self.length), progress)))
    }

    /// Asks, when they were read once more, whether they are those that were checked.
    pub(super) fn is_the_same(&self) -> Result<(), String> {
        match self.version {
            Some(version) if version != version_of(&self.file)? => {
                Err("was written to meanwhile; import it again when it is whole".to_owned())
            }
            _ => Ok(()),
        }
    }
}

/// Checks each line, and says how many bytes there are, where it comes to the end.
fn checked(mut lines: Lines<'_, impl BufRead>, faults: &mut Faults) -> Option<u64> {
    while let Some(parsed) = lines.next_parsed() {
        if let Err(what) = parsed {
            faults.add(lines.number, what);
        }
        if faults.is_full() {
            return None;
        }
    }
    (!lines.broken).then_some(lines.length)
}

fn buffered<R: Read>(input: R, progress: &Progress) -> BufReader<impl Read + use<R>> {
    BufReader::with_capacity(1 << 16, progress.watch(input))
}

fn version_of(file: &File) -> Result<Version, String> {
    let version = |file: &File| -> io::Result<Version> {
        let metadata = file.metadata()?;
        Ok((metadata.len(), metadata.modified()?))
    };
    version(file).map_err(|error| unreadable(&error))
}

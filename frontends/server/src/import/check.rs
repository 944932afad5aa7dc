//! [`Checked`]: an input that was read once, for however long that took, and can be read again at once.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek as _};
use std::time::SystemTime;

use super::input::Source;
use super::progress::Progress;
use super::reader::{Lines, unreadable};
use super::spool::Spool;

/// An input whose lines are right, as far as can be said without the database.
pub(super) struct Checked {
    file: File,
    length: u64,
    /// Of a file that others can write to meanwhile.
    version: Option<Version>,
}

/// A file's length, and when it was last written to.
type Version = (u64, SystemTime);

impl Checked {
    /// Reads all of the input, and checks each line. What is wrong is said with the number of the line.
    pub(super) fn of(source: Source, progress: &Progress) -> Result<Self, String> {
        match source {
            Source::File(file) => {
                let version = version_of(&file)?;
                let length = checked(Lines::new(buffered(&file, progress)))?;
                Ok(Self { file, length, version: Some(version) })
            }
            Source::Stream(stream) => {
                let mut spool = Spool::new()?;
                let length = checked(Lines::copied(buffered(stream, progress), &mut spool))?;
                Ok(Self { file: spool.finish()?, length, version: None })
            }
        }
    }

    /// The lines once more.
    pub(super) fn lines(&self, progress: &Progress) -> Result<Lines<'_, impl BufRead>, String> {
        let mut file = &self.file;
        file.rewind().map_err(|error| unreadable(&error))?;
        progress.begin_again(self.length);
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

/// Checks each line, and says how many bytes there are.
fn checked(mut lines: Lines<'_, impl BufRead>) -> Result<u64, String> {
    while lines.next_parsed()?.is_some() {}
    Ok(lines.length())
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

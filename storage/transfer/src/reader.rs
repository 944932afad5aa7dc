//! [`Lines`]: reads an input line by line, in bounded memory unless it is UTF-16, which is decoded as a whole.

use std::io::{self, BufRead, Read};

use catalogue_core::Utf8Reader;

use crate::line::{self, Line};
use crate::spool::Spool;

/// Maximum length of a line: 1 GiB. Memory grows with the longest line of the input. An export adds defaults, so its lines can
/// be longer than those that were imported.
const MAX_LINE_BYTES: usize = 1 << 30;

/// Maximum memory that is kept from one line to the next, in bytes.
const MAX_RETAINED_BYTES: usize = 1 << 20;

/// The lines of an input that are not blank.
pub(crate) struct Lines<'c, R> {
    input: Utf8Reader<R>,
    line: Vec<u8>,
    /// Number of the line that was read last; blank lines count.
    pub(crate) number: u64,
    /// Number of bytes of UTF-8 that were read.
    pub(crate) bytes_read: u64,
    max_line_bytes: usize,
    /// Whether reading has failed; then no line follows the error.
    has_failed: bool,
    copy: Option<&'c mut Spool>,
}

impl<'c, R: BufRead> Lines<'c, R> {
    pub(crate) fn new(input: R) -> Self {
        let input = Utf8Reader::new(input);
        Self {
            input,
            line: Vec::new(),
            number: 0,
            bytes_read: 0,
            max_line_bytes: MAX_LINE_BYTES,
            has_failed: false,
            copy: None,
        }
    }

    /// Creates a reader that copies the lines to `copy`.
    pub(crate) fn with_copy(input: R, copy: &'c mut Spool) -> Self {
        Self { copy: Some(copy), ..Self::new(input) }
    }

    /// Returns the next line that is not blank, parsed, or what is wrong with it.
    pub(crate) fn next_parsed(&mut self) -> Option<Result<Line, String>> {
        if self.has_failed {
            return None;
        }
        let parsed = match self.next() {
            Ok(None) => return None,
            Ok(Some(line)) => line::parse(line),
            Err(message) => {
                self.has_failed = true;
                Err(message)
            }
        };
        // Free the memory of a long line: its parsed content uses as much again.
        self.line.clear();
        self.line.shrink_to(MAX_RETAINED_BYTES);
        Some(parsed)
    }

    /// Returns the next line that is not blank, without its line feed; or why it cannot be read.
    fn next(&mut self) -> Result<Option<&[u8]>, String> {
        loop {
            self.line.clear();
            self.number += 1;
            // One byte more than the maximum distinguishes a line that is too long from one of maximum length.
            let mut bounded = self.input.by_ref().take(self.max_line_bytes as u64 + 1);
            let read = bounded.read_until(b'\n', &mut self.line).map_err(|error| unreadable(&error))?;
            if read == 0 {
                return Ok(None);
            }
            self.bytes_read += read as u64;
            if let Some(copy) = &mut self.copy {
                copy.write(&self.line)?;
            }
            if self.line.last() == Some(&b'\n') {
                self.line.pop();
            }
            if self.line.len() > self.max_line_bytes {
                return Err("longer than 1 GiB; use one object per line".to_owned());
            }
            if !self.line.trim_ascii().is_empty() {
                return Ok(Some(&self.line));
            }
        }
    }
}

/// Returns the message for an input that cannot be read.
pub(crate) fn unreadable(error: &io::Error) -> String {
    format!("cannot be read: {error}")
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, repeat};

    use super::*;

    #[test]
    fn blank_lines_are_skipped_and_counted() {
        let mut lines = Lines::new(&b"\n  \r\na\r\n\n\tb"[..]);
        assert_eq!((lines.next().unwrap().map(<[u8]>::to_vec), lines.number), (Some(b"a\r".to_vec()), 3));
        assert_eq!((lines.next().unwrap().map(<[u8]>::to_vec), lines.number), (Some(b"\tb".to_vec()), 5));
        assert_eq!(lines.next(), Ok(None));
        assert_eq!(Lines::new(&b""[..]).next(), Ok(None));
    }

    #[test]
    fn line_over_limit_is_refused() {
        for (input, right) in [(&b"1234\n"[..], true), (b"1234", true), (b"12345\n", false), (b"12345", false)] {
            let mut lines = Lines { max_line_bytes: 4, ..Lines::new(input) };
            assert_eq!(lines.next().is_ok(), right, "{input:?}");
        }
    }

    #[test]
    fn line_of_100_mib_is_read() {
        let length = 100 << 20;
        let mut lines = Lines::new(BufReader::new(repeat(b'x').take(length)));
        assert_eq!(lines.next().map(|line| line.unwrap().len() as u64), Ok(length));
    }

    #[test]
    fn long_line_does_not_retain_memory() {
        let mut lines = Lines::new(BufReader::new(repeat(b'x').take(8 << 20)));
        assert!(lines.next_parsed().unwrap().is_err());
        assert!(lines.line.capacity() <= MAX_RETAINED_BYTES);
    }

    #[test]
    fn endless_line_is_refused_without_buffering() {
        let mut lines = Lines { max_line_bytes: 1 << 20, ..Lines::new(BufReader::new(repeat(b'x'))) };
        assert!(lines.next().unwrap_err().contains("longer than 1 GiB"));
        assert!(lines.line.capacity() <= 1 << 22);
    }
}

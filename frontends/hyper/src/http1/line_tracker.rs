//! [`LineTracker`]: how what was read ends.

#[derive(Default)]
pub(super) struct LineTracker {
    last: [u8; 4],
    /// How many came after the last line feed.
    pub(super) line: usize,
}

impl LineTracker {
    pub(super) fn read(&mut self, bytes: &[u8]) {
        for &byte in &bytes[bytes.len().saturating_sub(4)..] {
            self.last = [self.last[1], self.last[2], self.last[3], byte];
        }
        self.line = match bytes.iter().rposition(|&byte| byte == b'\n') {
            Some(end) => bytes.len() - end - 1,
            None => self.line + bytes.len(),
        };
    }

    /// Whether they end with an empty line, as heads and chunked bodies do.
    pub(super) fn is_empty_line(&self) -> bool {
        self.last.ends_with(b"\n\r\n") || self.last.ends_with(b"\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::LineTracker;

    #[test]
    fn the_end_may_come_in_pieces() {
        for (pieces, is_empty_line) in [
            (&["a\r\n\r\n"][..], true),
            (&["a\n", "\n"], true),
            (&["a", "\r", "\n", "\r", "\n"], true),
            (&["a\r\n\r", "\nb"], false),
            (&["\n"], false),
            (&[], false),
        ] {
            let mut tail = LineTracker::default();
            pieces.iter().for_each(|piece| tail.read(piece.as_bytes()));
            assert_eq!(tail.is_empty_line(), is_empty_line, "{pieces:?}");
        }
    }

    #[test]
    fn a_line_goes_on_over_pieces() {
        for (pieces, line) in
            [(&["abc", "de"][..], 5), (&["abc\r\n"], 0), (&["a\nbc\nd", "ef"], 3), (&["abc", "d\ne"], 1), (&[], 0)]
        {
            let mut tail = LineTracker::default();
            pieces.iter().for_each(|piece| tail.read(piece.as_bytes()));
            assert_eq!(tail.line, line, "{pieces:?}");
        }
    }
}

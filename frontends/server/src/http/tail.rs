//! How what was read ends.

/// The last bytes that came in.
#[derive(Default)]
pub(super) struct Tail([u8; 4]);

impl Tail {
    /// `bytes` came in.
    pub(super) fn read(&mut self, bytes: &[u8]) {
        if let Some(last) = bytes.last_chunk() {
            self.0 = *last;
        } else {
            self.0.rotate_left(bytes.len());
            self.0[4 - bytes.len()..].copy_from_slice(bytes);
        }
    }

    /// Whether they end with an empty line, as heads and chunked bodies do.
    pub(super) fn is_empty_line(&self) -> bool {
        self.0.ends_with(b"\n\r\n") || self.0.ends_with(b"\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::Tail;

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
            let mut tail = Tail::default();
            pieces.iter().for_each(|piece| tail.read(piece.as_bytes()));
            assert_eq!(tail.is_empty_line(), is_empty_line, "{pieces:?}");
        }
    }
}

//! [`Utf8Reader`]: reads UTF-8 and UTF-16 as UTF-8.

use std::io::{self, BufRead, Chain, Cursor, Read};

/// The byte order marks of UTF-8 and UTF-16.
const UTF_8: &[u8] = b"\xef\xbb\xbf";
const LITTLE_ENDIAN: &[u8] = b"\xff\xfe";
const BIG_ENDIAN: &[u8] = b"\xfe\xff";

/// Reader of a text as UTF-8. It drops a byte order mark and decodes UTF-16, which Windows PowerShell's `>` writes.
///
/// UTF-16 is recognized by its byte order mark, or by a first character below U+0100, and is decoded in memory as a whole.
/// Half a surrogate pair or half a code unit becomes a byte that is not UTF-8. Input that is not UTF-16 passes through.
#[derive(Debug)]
pub struct Utf8Reader<R> {
    /// Once the encoding is known: the bytes that were read to detect it, decoded, then the rest.
    input: Chain<Cursor<Vec<u8>>, R>,
    is_detected: bool,
}

impl<R: BufRead> Utf8Reader<R> {
    /// Creates a reader of `input`. It reads nothing yet.
    pub fn new(input: R) -> Self {
        Self { input: Cursor::default().chain(input), is_detected: false }
    }

    /// Reads the bytes that identify the encoding, and all of UTF-16.
    fn detect(&mut self) -> io::Result<()> {
        let (ready, input) = self.input.get_mut();
        let head = ready.get_mut();
        let is_ambiguous = |head: &[u8]| head.len() < 2 || (head.len() == 2 && UTF_8.starts_with(head));
        while is_ambiguous(head) && input.by_ref().take(1).read_to_end(head)? > 0 {}
        let (mark, unit) = match **head {
            _ if head == UTF_8 => (head.len(), None),
            _ if head == LITTLE_ENDIAN => (head.len(), Some(u16::from_le_bytes as fn(_) -> _)),
            _ if head == BIG_ENDIAN => (head.len(), Some(u16::from_be_bytes as _)),
            [0, 0] => (0, None),
            [_, 0] => (0, Some(u16::from_le_bytes as _)),
            [0, _] => (0, Some(u16::from_be_bytes as _)),
            _ => (0, None),
        };
        head.drain(..mark);
        if let Some(unit) = unit {
            input.read_to_end(head)?;
            *head = decode(head, unit);
        }
        self.is_detected = true;
        Ok(())
    }
}

fn decode(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u8> {
    let (units, cut) = bytes.as_chunks();
    let mut text = Vec::with_capacity(bytes.len());
    for character in char::decode_utf16(units.iter().copied().map(unit)) {
        match character {
            Ok(character) => text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
            Err(_) => text.push(0xff),
        }
    }
    text.extend(cut.iter().map(|_| 0xff));
    text
}

impl<R: BufRead> BufRead for Utf8Reader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if !self.is_detected {
            self.detect()?;
        }
        self.input.fill_buf()
    }

    fn consume(&mut self, length: usize) {
        self.input.consume(length);
    }
}

impl<R: BufRead> Read for Utf8Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    const TEXT: &str = "{\"a\":\"\u{e9}\u{65e5}\u{1f917}\u{a0a}\"}\r\n\nb";

    fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    fn decoded(bytes: &[u8], at_a_time: usize) -> Vec<u8> {
        let mut read = Vec::new();
        Utf8Reader::new(BufReader::with_capacity(at_a_time, bytes)).read_to_end(&mut read).unwrap();
        read
    }

    #[test]
    fn encodings_are_detected_for_any_chunk_size() {
        let marked = format!("\u{feff}{TEXT}");
        for at_a_time in [1, 2, 3, 7, 1000] {
            for bytes in [
                TEXT.as_bytes().to_vec(),
                marked.as_bytes().to_vec(),
                utf16(&marked, u16::to_le_bytes),
                utf16(&marked, u16::to_be_bytes),
                utf16(TEXT, u16::to_le_bytes),
                utf16(TEXT, u16::to_be_bytes),
            ] {
                assert_eq!(decoded(&bytes, at_a_time), TEXT.as_bytes(), "{bytes:x?} by {at_a_time}");
            }
        }
    }

    #[test]
    fn non_utf16_bytes_pass_through_unchanged() {
        for bytes in [
            &b""[..],
            b"a",
            b"\n",
            b"\0",
            b"\0\0a",
            b"\xef",
            b"\xef\xbb",
            b"\xef\xbba",
            b"\xff",
            b"\xff\xff\xfe",
            b"a\xef\xbb\xbf",
            b"ab\0c\0",
            b"0\x82\xff\xfe",
        ] {
            assert_eq!(decoded(bytes, 1), bytes);
        }
        assert_eq!(decoded("\u{feff}\u{feff}a".as_bytes(), 9), "\u{feff}a".as_bytes(), "one mark is dropped");
    }

    #[test]
    fn broken_utf16_becomes_invalid_utf8() {
        let lone = [LITTLE_ENDIAN, b"a\0\x00\xd8b\0"].concat();
        let cut = [LITTLE_ENDIAN, b"a\0b"].concat();
        let last = [LITTLE_ENDIAN, b"a\0\x00\xd8"].concat();
        for (bytes, expected) in [(lone, &b"a\xffb"[..]), (cut, b"a\xff"), (last, b"a\xff")] {
            for at_a_time in 1..8 {
                assert_eq!(decoded(&bytes, at_a_time), expected, "{bytes:x?}");
            }
        }
    }

    /// The reader must not wait for more input: a typed line is processed before the next one is typed.
    #[test]
    fn encoding_is_detected_without_reading_further_lines() {
        struct Silent;
        impl Read for Silent {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                panic!("read beyond the first line");
            }
        }
        let mut line = Vec::new();
        let typed = BufReader::new(b"x\n".chain(Silent));
        assert_eq!(Utf8Reader::new(typed).read_until(b'\n', &mut line).unwrap(), 2);
    }
}

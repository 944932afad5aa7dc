//! Where the frames of HTTP/2 begin and end in a stream of bytes.

/// What a client sends before its first frame (RFC 9113, 3.4).
const PREFACE: usize = 24;
/// The bytes before the payload of a frame (RFC 9113, 4.1).
const HEADER: usize = 9;

/// Types of frames (RFC 9113, 6).
pub(super) const DATA: u8 = 0x0;
pub(super) const HEADERS: u8 = 0x1;
pub(super) const RST_STREAM: u8 = 0x3;
pub(super) const CONTINUATION: u8 = 0x9;

/// How long a GOAWAY is that says no more than it must.
pub(in super::super) const GOAWAY: usize = HEADER + 8;

const END_STREAM: u8 = 0x1;
const END_HEADERS: u8 = 0x4;

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
    /// Bytes of the payload.
    pub(super) length: u32,
}

impl Frame {
    /// Whether it is the last of its stream in its direction; what continues a head's frame says nothing of that.
    pub(super) fn ends_stream(self) -> bool {
        matches!(self.kind, DATA | HEADERS) && self.flags & END_STREAM != 0
    }

    /// Whether it is the last frame of a head.
    pub(super) fn ends_head(self) -> bool {
        matches!(self.kind, HEADERS | CONTINUATION) && self.flags & END_HEADERS != 0
    }
}

/// One direction of a connection, byte by byte.
#[derive(Debug)]
pub(super) struct Frames {
    /// Bytes of the preface that are still to come.
    preface: usize,
    header: [u8; HEADER],
    /// How much of the header has come.
    filled: usize,
    /// How much of the payload is still to come.
    payload: usize,
}

impl Frames {
    /// What a client sends.
    pub(super) fn of_client() -> Self {
        Self { preface: PREFACE, header: [0; HEADER], filled: 0, payload: 0 }
    }

    /// What a server sends.
    pub(super) fn of_server() -> Self {
        Self { preface: 0, ..Self::of_client() }
    }

    /// Reads on. `note` is told of each frame twice: when its header is whole, and when all of it is (`true`).
    pub(super) fn read(&mut self, mut bytes: &[u8], mut note: impl FnMut(Frame, bool)) {
        skip(&mut self.preface, &mut bytes);
        while !bytes.is_empty() {
            if self.filled < HEADER {
                let taken = bytes.len().min(HEADER - self.filled);
                self.header[self.filled..][..taken].copy_from_slice(&bytes[..taken]);
                self.filled += taken;
                bytes = &bytes[taken..];
                if self.filled < HEADER {
                    return;
                }
                self.payload = self.frame().length as usize;
                note(self.frame(), false);
            }
            skip(&mut self.payload, &mut bytes);
            if self.payload == 0 {
                note(self.frame(), true);
                self.filled = 0;
            }
        }
    }

    /// Whether the last frame is whole, so that another could follow.
    pub(super) fn is_between(&self) -> bool {
        self.filled == 0
    }

    /// The frame whose header is whole.
    fn frame(&self) -> Frame {
        let [high, middle, low, kind, flags, stream @ ..] = self.header;
        let length = u32::from_be_bytes([0, high, middle, low]);
        Frame { kind, flags, stream: u32::from_be_bytes(stream) & 0x7fff_ffff, length }
    }
}

/// GOAWAY with the error that stands for too much load (RFC 9113, 6.8 and 7); `last` is the newest request.
pub(super) fn enhance_your_calm(last: u32) -> [u8; GOAWAY] {
    let [a, b, c, d] = last.to_be_bytes();
    [0, 0, 8, 0x7, 0, 0, 0, 0, 0, a, b, c, d, 0, 0, 0, 0xb]
}

/// Passes over as many of `bytes` as there are, up to `count`.
fn skip(count: &mut usize, bytes: &mut &[u8]) {
    let skipped = bytes.len().min(*count);
    *count -= skipped;
    *bytes = &bytes[skipped..];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_found_however_the_bytes_come() {
        let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".as_slice();
        let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0].as_slice();
        let head = [0, 0, 3, 1, 0x5, 0x80, 0, 0, 1, b'a', b'b', b'c'].as_slice();
        let data = [0, 1, 0, 0, 0, 0, 0, 1, 2].as_slice();
        let bytes = [preface, settings, head, data, &[0; 256], settings].concat();
        let frame = |kind, flags, stream, length| Frame { kind, flags, stream, length };
        let found = [frame(4, 0, 0, 0), frame(HEADERS, 5, 1, 3), frame(DATA, 0, 258, 256), frame(4, 0, 0, 0)];
        let expected: Vec<_> = found.iter().flat_map(|frame| [(*frame, false), (*frame, true)]).collect();
        for size in [1, 2, 3, 8, 9, 10, 24, 100, bytes.len()] {
            let mut notes = Vec::new();
            let mut frames = Frames::of_client();
            bytes.chunks(size).for_each(|bytes| frames.read(bytes, |frame, whole| notes.push((frame, whole))));
            assert_eq!(notes, expected, "{size}");
        }
        assert!(found[1].ends_head() && found[1].ends_stream() && !found[0].ends_stream());
    }
}

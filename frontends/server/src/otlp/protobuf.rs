//! [`Message`]: what is needed of Protocol Buffers to write OTLP.

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const LENGTH_DELIMITED: u32 = 2;
const FIXED32: u32 = 5;

/// The fields of a message, encoded one after the other. The number of a field is the schema's.
#[derive(Clone, Debug, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    /// One with room for so many bytes.
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    /// Adds a field of a type like `int64`, `uint32` or an enumeration; none of ours is negative.
    pub(super) fn integer(&mut self, field: u32, value: u64) {
        self.key(field, VARINT);
        self.varint(value);
    }

    /// Adds a field of the type `fixed64`.
    pub(super) fn fixed64(&mut self, field: u32, value: u64) {
        self.key(field, FIXED64);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// Adds a field of the type `fixed32`.
    pub(super) fn fixed32(&mut self, field: u32, value: u32) {
        self.key(field, FIXED32);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// Adds a field of the type `bytes` or `string`, or a message that is encoded already.
    pub(super) fn bytes(&mut self, field: u32, value: impl AsRef<[u8]>) {
        let value = value.as_ref();
        self.key(field, LENGTH_DELIMITED);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
    }

    /// Adds a message that `write` fills.
    pub(super) fn message(&mut self, field: u32, write: impl FnOnce(&mut Self)) {
        self.key(field, LENGTH_DELIMITED);
        let start = self.0.len();
        write(self);
        // The length stands before the content, and is known after it.
        let end = self.0.len();
        self.varint((end - start) as u64);
        let digits = self.0.len() - end;
        self.0[start..].rotate_right(digits);
    }

    /// Adds fields that are encoded already.
    pub(super) fn fields(&mut self, encoded: &[u8]) {
        self.0.extend_from_slice(encoded);
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn key(&mut self, field: u32, wire_type: u32) {
        self.varint(u64::from(field << 3 | wire_type));
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the encoding's own guide.
    #[test]
    fn fields_are_encoded_as_the_guide_says() {
        let mut message = Message::default();
        message.integer(1, 150);
        assert_eq!(message.as_bytes(), [0x08, 0x96, 0x01]);
        let mut message = Message::default();
        message.bytes(2, "testing");
        assert_eq!(message.as_bytes(), b"\x12\x07testing");
        let mut message = Message::default();
        message.message(3, |inner| inner.integer(1, 150));
        assert_eq!(message.as_bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
    }

    #[test]
    fn numbers_of_fixed_size_are_little_endian() {
        let mut message = Message::default();
        message.fixed64(7, 1);
        message.fixed32(16, 0x301);
        assert_eq!(message.as_bytes(), [0x39, 1, 0, 0, 0, 0, 0, 0, 0, 0x85, 0x01, 0x01, 0x03, 0, 0]);
    }

    #[test]
    fn a_length_of_several_bytes_stands_before_its_content() {
        let text = "x".repeat(300);
        let (mut nested, mut flat) = (Message::default(), Message::default());
        nested.message(1, |inner| inner.bytes(1, &text));
        let mut inner = Message::default();
        inner.bytes(1, &text);
        flat.bytes(1, inner.as_bytes());
        assert_eq!(nested.as_bytes(), flat.as_bytes());
        assert_eq!(nested.as_bytes()[..6], [0x0a, 0xaf, 0x02, 0x0a, 0xac, 0x02]);
    }
}

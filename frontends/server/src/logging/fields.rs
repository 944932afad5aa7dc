//! [`Fields`]: the fields of an event, as text and as JSON. Whatever stands in them, a line stays one line.

use std::fmt::Debug;
use std::io::Write as _;

use itoa::{Buffer, Integer};
use tracing::field::{Field, Visit};

use crate::text::printable;

/// The field that `tracing` puts an event's text into.
const MESSAGE: &str = "message";

/// ` message name="text" name=value`, or as JSON `,"message":"text","name":"text","name":value`
///
/// They are written behind what the line has already.
pub(super) struct Fields<'l, const JSON: bool>(pub(super) &'l mut Vec<u8>);

impl<const JSON: bool> Fields<'_, JSON> {
    /// Names are ours and need no escape.
    fn name(&mut self, field: &Field) {
        let parts = match field.name() {
            name if JSON => [",\"", name, "\":"],
            MESSAGE => [" ", "", ""],
            name => [" ", name, "="],
        };
        for part in parts {
            self.0.extend_from_slice(part.as_bytes());
        }
    }

    fn number(&mut self, field: &Field, value: impl Integer) {
        self.name(field);
        self.0.extend_from_slice(Buffer::new().format(value).as_bytes());
    }
}

impl<const JSON: bool> Visit for Fields<'_, JSON> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.name(field);
        if JSON {
            return serde_json::to_writer(&mut *self.0, value).expect("a Vec takes all, and a text is JSON");
        }
        let is_plain = |byte: u8| matches!(byte, b' '..=b'~') & (byte != b'"') & (byte != b'\\');
        // To the end whatever is found, so that many bytes are looked at at once.
        if value.bytes().fold(true, |plain, byte| plain & is_plain(byte)) {
            self.0.push(b'"');
            self.0.extend_from_slice(value.as_bytes());
            self.0.push(b'"');
        } else {
            write!(self.0, "{value:?}").expect("a Vec takes all");
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.number(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.number(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.name(field);
        self.0.extend_from_slice(if value { b"true" } else { b"false" });
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        if !JSON {
            return self.record_debug(field, &value);
        }
        self.name(field);
        // What is no number of JSON's becomes null.
        serde_json::to_writer(&mut *self.0, &value).expect("a Vec takes all, and a number is JSON");
    }

    /// Numbers of other kinds, and what is shown by `%` or `?`.
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let text = format!("{value:?}");
        if JSON {
            return self.record_str(field, &text);
        }
        self.name(field);
        self.0.extend_from_slice(printable(&text).as_bytes());
    }
}

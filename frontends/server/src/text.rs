//! Sanitizes external texts for terminals.

use std::fmt::Write as _;

use catalogue_core::text::is_hidden;
pub(crate) use catalogue_core::text::{printable, shortened};
use serde::Serialize;

/// Returns `value` as JSON that escapes the same characters as [`printable`].
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    let text = serde_json::to_string(value)?;
    if !text.contains(is_hidden) {
        return Ok(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_hidden(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(escaped, "\\u{unit:04x}").expect("a String accepts all text");
            }
        } else {
            escaped.push(character);
        }
    }
    Ok(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_json_parses_to_same_value() {
        let strange = "\u{7f}\u{9b}\u{202e}\u{e0041}\n\u{e9}\u{1f917}\"";
        let text = json(&[strange]).unwrap();
        assert_eq!(text, "[\"\\u007f\\u009b\\u202e\\udb40\\udc41\\n\u{e9}\u{1f917}\\\"\"]");
        assert_eq!(serde_json::from_str::<[String; 1]>(&text).unwrap(), [strange]);
        assert_eq!(json("e\u{301}").unwrap(), "\"e\u{301}\"");
    }
}

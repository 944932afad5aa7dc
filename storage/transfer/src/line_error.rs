//! Error messages for the lines of an import.

use catalogue_core::text::{printable, shortened};
use serde_json::error::Category;

/// Length in bytes above which a part of an error, the field or the message, is shortened.
const MAX_TEXT: usize = 400;

/// Returns the error of a field, such as `modules[2].title`, or of the whole line if `field` is empty.
pub(crate) fn field_error(field: &str, message: &str) -> String {
    // Values can have any length.
    let limited = |text| shortened(&printable(text), MAX_TEXT).into_owned();
    if field.is_empty() { limited(message) } else { format!("{}: {}", limited(field), limited(message)) }
}

/// Returns the parser's error with its field and, if the line is not JSON, its byte. Omits the line number, which is always 1.
pub(crate) fn parser_error(path: &str, error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    let message = text.strip_suffix(&position).unwrap_or(&text);
    // In a path, a question mark stands for a part that `serde_path_to_error` does not know.
    let path = if path == "." || path.contains('?') { "" } else { path };
    if error.classify() != Category::Data {
        // Usually the object continues on the next line, or another object follows on this one.
        let unfinished = error.is_eof() || message == "trailing characters";
        let hint = if unfinished { "; put each object on its own line" } else { "" };
        return field_error(path, &format!("not JSON: {message} (byte {} of the line){hint}", error.column()));
    }
    let nested = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let field_in = |start| message.strip_prefix(start).and_then(|rest: &str| rest.strip_suffix('`')).map(nested);
    if let Some(field) = field_in("missing field `") {
        return field_error(&field, "missing required field");
    }
    if let Some(field) = field_in("duplicate field `") {
        return field_error(&field, "duplicate field; use it once per object");
    }
    field_error(path, message)
}

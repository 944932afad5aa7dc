//! Error messages for the lines of an import.

use catalogue_core::text::{printable, shortened};
use serde_json::error::Category;

/// Maximum length of a text that a message repeats, in bytes.
const MAX_TEXT: usize = 400;

/// Returns the error of a field, such as `modules[2].title`, or of the whole line if `field` is empty.
pub(crate) fn at(field: &str, what: &str) -> String {
    // Values can have any length.
    let shown = |text| shortened(&printable(text), MAX_TEXT).into_owned();
    if field.is_empty() { shown(what) } else { format!("{}: {}", shown(field), shown(what)) }
}

/// Returns the error of the parser, with positions in the line: the parser's line numbers have no meaning.
pub(crate) fn explain(path: &str, error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    let what = text.strip_suffix(&position).unwrap_or(&text);
    // A path with a question mark is incomplete.
    let path = if path == "." || path.contains('?') { "" } else { path };
    if error.classify() != Category::Data {
        // Usually the object continues on the next line, or another object follows on this one.
        let unfinished = error.is_eof() || what == "trailing characters";
        let hint = if unfinished { "; write each object on a line of its own" } else { "" };
        return at(path, &format!("not JSON: {what} (byte {} of the line){hint}", error.column()));
    }
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let named = |start| what.strip_prefix(start).and_then(|rest: &str| rest.strip_suffix('`')).map(below);
    if let Some(field) = named("missing field `") {
        return at(&field, "missing, and required");
    }
    if let Some(field) = named("duplicate field `") {
        return at(&field, "occurs twice in one object; write it once");
    }
    at(path, what)
}

//! What is wrong with a line of an import, in words.

use catalogue_core::text::{printable, shortened};
use serde_json::error::Category;

/// Maximum length of a text that a message repeats, in bytes.
const MAX_TEXT: usize = 400;

/// Something wrong with a field, such as `modules[2].title`, or with the line as a whole, where `field` is empty.
pub(crate) fn at(field: &str, what: &str) -> String {
    // Values have no bound.
    let shown = |text| shortened(&printable(text), MAX_TEXT).into_owned();
    if field.is_empty() { shown(what) } else { format!("{}: {}", shown(field), shown(what)) }
}

/// What the parser says, in terms of the line: its text has no other line to count.
pub(crate) fn explain(path: &str, error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    let what = text.strip_suffix(&position).unwrap_or(&text);
    // A path with a question mark was left in the middle.
    let path = if path == "." || path.contains('?') { "" } else { path };
    if error.classify() != Category::Data {
        // Most often the object goes on in the next line, or the next object stands in this one.
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

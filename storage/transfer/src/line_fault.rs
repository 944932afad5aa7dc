//! [`LineFault`]: what is wrong with a line of an import.

use std::fmt;

use catalogue_core::text::{printable, shortened};
use serde_json::error::Category;

/// Maximum length of a text that a message repeats, in bytes.
const MAX_TEXT: usize = 400;

/// What is wrong with a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LineFault {
    /// The field, such as `modules[2].title`; empty for the line as a whole.
    field: String,
    what: String,
}

impl LineFault {
    /// Something wrong with one field.
    pub(crate) fn at(field: impl Into<String>, what: String) -> Self {
        Self { field: field.into(), what }
    }

    /// Something wrong with the line as a whole.
    pub(crate) fn of_line(what: String) -> Self {
        Self::at("", what)
    }

    /// What the parser says, in terms of the line: its text has no other line to count.
    pub(crate) fn explain(path: &str, error: &serde_json::Error) -> Self {
        let text = error.to_string();
        let position = format!(" at line {} column {}", error.line(), error.column());
        let what = text.strip_suffix(&position).unwrap_or(&text);
        // A path with a question mark was left in the middle.
        let path = if path == "." || path.contains('?') { "" } else { path };
        if error.classify() != Category::Data {
            // Most often the object goes on in the next line, or the next object stands in this one.
            let unfinished = error.is_eof() || what == "trailing characters";
            let hint = if unfinished { "; write each object on a line of its own" } else { "" };
            return Self::at(path, format!("not JSON: {what} (byte {} of the line){hint}", error.column()));
        }
        let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let named = |start| what.strip_prefix(start).and_then(|rest: &str| rest.strip_suffix('`')).map(below);
        if let Some(field) = named("missing field `") {
            return Self::at(field, "missing, and required".to_owned());
        }
        if let Some(field) = named("duplicate field `") {
            return Self::at(field, "occurs twice in one object; write it once".to_owned());
        }
        Self::at(path, what.to_owned())
    }
}

impl fmt::Display for LineFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values have no bound.
        let shown = |text| shortened(&printable(text), MAX_TEXT).into_owned();
        if !self.field.is_empty() {
            write!(f, "{}: ", shown(&self.field))?;
        }
        f.write_str(&shown(&self.what))
    }
}

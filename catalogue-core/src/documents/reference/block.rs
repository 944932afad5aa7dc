//! The parts that the reference is made of. In texts, `code` stands between backticks.

use crate::documents::document::Document;
use crate::operation::Operation;

/// One part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::documents) enum Block {
    /// Of level 1 (the title) to 4.
    Heading(usize, String),
    Text(String),
    List(Vec<String>),
    Links(Vec<Link>),
    Table {
        head: &'static [&'static str],
        rows: Vec<Vec<String>>,
    },
    Code {
        language: &'static str,
        text: String,
    },
    /// Where the page lets its reader paste a key. Texts have no such thing.
    KeyField,
    /// Where the page lets its reader call the operation. Texts have no such thing.
    TryIt(Operation),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::documents) struct Link {
    pub(in crate::documents) document: Document,
    pub(in crate::documents) title: &'static str,
    pub(in crate::documents) address: String,
    pub(in crate::documents) note: &'static str,
}

impl Block {
    pub(in crate::documents) fn heading(level: usize, text: &str) -> Self {
        Self::Heading(level, text.to_owned())
    }

    pub(in crate::documents) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// `text` as code.
pub(in crate::documents) fn code(text: &str) -> String {
    format!("`{text}`")
}

//! Building blocks of the reference. In texts, `code` is between backticks, **strong** text between double stars, and a
//! link is `[text](url)`.

use super::samples::Sample;
use crate::documents::examples::ExampleResponse;
use crate::operation::Operation;

/// Building block of the reference.
#[derive(Clone, Debug)]
pub(in crate::documents) enum Block {
    /// Heading of level 1 (the title) to 4.
    Heading(usize, String),
    Text(String),
    List(Vec<String>),
    Table {
        head: &'static [&'static str],
        rows: Vec<Vec<String>>,
        /// Anchor of each row; empty if rows have none.
        ids: Vec<String>,
    },
    Code {
        language: String,
        /// Name of the code in the label of the copy button.
        label: String,
        text: String,
    },
    /// A block that the page shows after a click on a text.
    Folded(String, Box<Self>),
    /// The base URL, only on the page. Markdown has it in a sentence.
    Base(String),
    /// Note on URLs without a host.
    ServerNote(String),
    /// A labelled program in all languages; Markdown has only the first one.
    Samples(String, Vec<Sample>),
    /// An example response of the operation.
    Example(Operation, String),
    /// The fields of a success, and all responses of the operation by status. The page has an example of each failure.
    Responses(Operation, Vec<Self>, Vec<Vec<ExampleResponse>>),
    /// Field for the reader's key, only on the page.
    KeyField,
    /// Form that calls the operation, only on the page.
    TryIt(Operation),
}

impl Block {
    pub(in crate::documents) fn heading(level: usize, text: &str) -> Self {
        Self::Heading(level, text.to_owned())
    }
}

pub(in crate::documents) fn code(text: &str) -> String {
    format!("`{text}`")
}

//! The parts that the reference is made of. In texts, `code` stands between backticks, **strong** between stars, and a link
//! is `[text](address)`.

use super::samples::Sample;
use crate::documents::answers::Answer;
use crate::documents::links::Link;
use crate::operation::Operation;

/// One part of a text.
#[derive(Clone, Debug)]
pub(in crate::documents) enum Block {
    /// Of level 1 (the title) to 4.
    Heading(usize, String),
    Text(String),
    List(Vec<String>),
    Links(Vec<Link>),
    Table {
        head: &'static [&'static str],
        rows: Vec<Vec<String>>,
        /// What each row is linked by; none where rows are not.
        ids: Vec<String>,
    },
    Code {
        language: &'static str,
        /// What a button that copies it says it is.
        label: &'static str,
        text: String,
    },
    /// The base address. Texts say it in a sentence.
    Base(String),
    /// How to read addresses without a host.
    UnnamedServer(String),
    /// A call of the operation in all languages; texts have the first one alone.
    Samples(Operation, Vec<Sample>),
    /// An answer of the operation.
    Example(Operation, String),
    /// All answers of the operation by status. The page has an example of each failure.
    Statuses(Operation, Vec<Vec<Answer>>),
    /// Where the page lets its reader paste a key. Texts have no such thing.
    KeyField,
    /// Where the page lets its reader call the operation. Texts have no such thing.
    TryIt(Operation),
}

impl Block {
    pub(in crate::documents) fn heading(level: usize, text: &str) -> Self {
        Self::Heading(level, text.to_owned())
    }

    pub(in crate::documents) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

pub(in crate::documents) fn code(text: &str) -> String {
    format!("`{text}`")
}

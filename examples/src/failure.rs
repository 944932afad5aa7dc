//! [`Failure`]: why a program ends.

use std::error::Error;
use std::fmt;

/// Why a program ends, as a sentence with its causes. `main` returns it: the message goes to standard error, and the
/// status is 1.
pub struct Failure(String);

impl Failure {
    /// A failure of that sentence.
    pub fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }
}

impl<E: Error> From<E> for Failure {
    fn from(error: E) -> Self {
        let mut sentence = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            sentence = format!("{sentence}: {error}");
            cause = error.source();
        }
        Self(sentence)
    }
}

/// What `main` returns is shown in this way.
impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

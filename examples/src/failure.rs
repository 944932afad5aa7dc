//! [`Failure`]: the error that ends a program.

use std::error::Error;
use std::fmt;

/// Error that ends a program, as a sentence with its causes. When `main` returns it, the message goes to standard error, and
/// the status is 1.
pub struct Failure(String);

impl Failure {
    /// Creates a failure with the message `sentence`.
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

/// Rust prints the error that `main` returns with `Debug`.
impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

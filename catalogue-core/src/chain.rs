//! [`chain`]: an error with its causes, for logs.

use std::error::Error;
use std::iter::successors;

/// Returns an error and what caused it, separated by colons. A cause that the next one repeats is left out.
#[must_use]
pub fn chain(error: &(dyn Error + 'static)) -> String {
    let texts: Vec<_> = successors(error.source(), |cause| (*cause).source()).map(ToString::to_string).collect();
    let is_new = |(at, text): &(usize, &String)| texts.get(at + 1).is_none_or(|next| !next.contains(*text));
    let causes = texts.iter().enumerate().filter(is_new).map(|(_, text)| format!(": {text}"));
    error.to_string() + &causes.collect::<String>()
}

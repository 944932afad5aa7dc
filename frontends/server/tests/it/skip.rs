//! Tests that are skipped with a visible line if a tool is missing.

use std::io::{Write as _, stderr};

/// Returns the value of `ready`. If `ready` is an error, prints the error and returns `None`.
/// Panics instead if `CATALOGUE_TEST_REQUIRE` contains `name`.
pub(crate) fn or_skip_unless<T>(name: &str, ready: Result<T, String>) -> Option<T> {
    let reason = match ready {
        Ok(ready) => return Some(ready),
        Err(reason) => reason,
    };
    let required = std::env::var("CATALOGUE_TEST_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|word| word.trim() == name), "{name} is required: {reason}");
    // Package managers print long errors.
    let line: String = reason.split_whitespace().flat_map(|word| [" ", word]).collect();
    let line: String = line.chars().take(300).collect();
    // Written directly: the test runner captures other output.
    stderr().write_all(format!("skipped: {name}:{line}\n").as_bytes()).unwrap();
    None
}

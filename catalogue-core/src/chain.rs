//! [`chain`]: an error with its causes, for logs and messages.

use std::error::Error;
use std::iter::successors;

/// Returns an error and its causes in one line, separated by colons.
///
/// Stops after an error with a hint (after a semicolon): its cause would only repeat it in the words of a library. Omits a
/// cause whose text the next one contains.
#[must_use]
pub fn chain(error: &(dyn Error + 'static)) -> String {
    let mut texts: Vec<_> = successors(Some(error), |error| (*error).source()).map(single_line).collect();
    let last = texts.iter().position(|text| text.contains("; ")).unwrap_or(texts.len());
    texts.truncate(last + 1);
    let is_new = |at: usize| at == 0 || texts.get(at + 1).is_none_or(|next| !next.contains(&texts[at]));
    (0..texts.len()).filter(|at| is_new(*at)).map(|at| &*texts[at]).collect::<Vec<_>>().join(": ")
}

/// Joins the lines of an error: databases report errors in several lines, some of them indented.
fn single_line(error: &(dyn Error + 'static)) -> String {
    let text = error.to_string();
    if text.contains(['\n', '\t']) { text.split_whitespace().collect::<Vec<_>>().join(" ") } else { text }
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;

    #[test]
    fn hint_is_last_and_no_cause_is_repeated() {
        #[derive(Debug)]
        struct TestError(&'static str, Option<Box<Self>>);
        impl fmt::Display for TestError {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.0)
            }
        }
        impl Error for TestError {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                self.1.as_deref().map(|cause| cause as _)
            }
        }
        let caused = |text, cause| TestError(text, Some(Box::new(cause)));
        let locked = || caused("locked", TestError("code 5: locked", None));
        assert_eq!(chain(&caused("cannot open", locked())), "cannot open: code 5: locked");
        assert_eq!(chain(&caused("in use; try again", locked())), "in use; try again");
        assert_eq!(chain(&caused("cannot open", caused("in use; wait", locked()))), "cannot open: in use; wait");
        let lines = || TestError("lost: refused\n\tIs  it running?\nDETAIL: none", None);
        assert_eq!(chain(&caused("away", lines())), "away: lost: refused Is it running? DETAIL: none");
    }
}

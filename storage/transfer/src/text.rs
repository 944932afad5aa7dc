//! Texts from outside, made fit for a message.

/// The longest that is repeated, in bytes: values have no bound.
const LONGEST: usize = 400;

/// The text with its control characters escaped.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// The same without its middle where it is long: what is wrong stands before it, and what would be right behind it.
pub(crate) fn shown(text: &str) -> String {
    let shown = printable(text);
    if shown.len() <= LONGEST {
        return shown;
    }
    let is_boundary = |at: &usize| shown.is_char_boundary(*at);
    let start = (0..=LONGEST / 2).rev().find(is_boundary).unwrap_or(0);
    let end = (shown.len() - LONGEST / 2..shown.len()).find(is_boundary).unwrap_or(shown.len());
    format!("{} … {}", &shown[..start], &shown[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_escaped() {
        assert_eq!(printable("é \"q\" \\ a\u{1b}[2Jb\nc\u{85}"), "é \"q\" \\ a\\u{1b}[2Jb\\nc\\u{85}");
    }

    #[test]
    fn long_texts_lose_their_middle() {
        let whole = "x".repeat(LONGEST);
        assert_eq!(shown(&whole), whole);
        let short = shown(&format!("a{}; write less", "é".repeat(10_000)));
        assert!(short.len() < LONGEST + 10 && short.starts_with("aé") && short.ends_with("é; write less"), "{short}");
        assert!(short.contains(" … "), "{short}");
    }
}

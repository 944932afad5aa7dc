//! Texts from outside, made fit for a terminal.

use std::borrow::Cow;

/// The text with its control characters escaped: it can neither steer a terminal nor break a line.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// The text with its middle left out where it has more than `longest` bytes: what is wrong stands at the beginning,
/// and what would be right at the end.
pub(crate) fn shortened(text: &str, longest: usize) -> Cow<'_, str> {
    if text.len() <= longest {
        return Cow::Borrowed(text);
    }
    let half = longest / 2;
    let (start, end) = (text.floor_char_boundary(half), text.ceil_char_boundary(text.len() - half));
    Cow::Owned(format!("{} … {}", &text[..start], &text[end..]))
}

/// The text without what stands in an address of a database before its host, which may be a password.
pub(crate) fn without_passwords(text: &str) -> Cow<'_, str> {
    if !text.contains("://") {
        return Cow::Borrowed(text);
    }
    let lines = text.split('\n').map(|line| match (line.find("://"), line.rfind('@')) {
        (Some(start), Some(end)) if start + 3 < end => format!("{}…{}", &line[..start + 3], &line[end..]),
        _ => line.to_owned(),
    });
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_from_its_host_on() {
        for (text, expected) in [
            ("no address", "no address"),
            ("see https://example.com/a", "see https://example.com/a"),
            ("'postgres://u:a/b@c@h/n' found\nusage", "'postgres://…@h/n' found\nusage"),
            ("mail a@b, see https://example.com", "mail a@b, see https://example.com"),
        ] {
            assert_eq!(without_passwords(text), expected);
        }
    }

    #[test]
    fn control_characters_are_escaped_and_nothing_else() {
        assert_eq!(printable("é \"q\" \\"), "é \"q\" \\");
        assert_eq!(printable("a\u{1b}[2Jb\nc\u{85}"), "a\\u{1b}[2Jb\\nc\\u{85}");
    }

    #[test]
    fn long_texts_lose_their_middle() {
        assert_eq!(shortened("12345678", 8), "12345678");
        assert_eq!(shortened("123456789", 8), "1234 … 6789");
        let long = "é".repeat(10_000);
        let short = shortened(&long, 101);
        assert!(short.len() < 110 && short.contains(" … "), "{short}");
    }
}

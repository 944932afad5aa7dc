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

/// The text without what `arguments` have in addresses of PostgreSQL before the host, which may be a password: an address
/// that stands where no address is asked for is repeated like any other mistake.
pub(crate) fn without_passwords(mut text: String, arguments: impl Iterator<Item = String>) -> String {
    for argument in arguments {
        let Some(address) = argument.find("postgres").map(|start| &argument[start..]) else { continue };
        if let (Some(scheme), Some(host)) = (address.find("://"), address.rfind('@')) {
            text = text.replace(address, &format!("{}://…{}", &address[..scheme], &address[host.max(scheme)..]));
        }
    }
    text
}

/// An address without user, password and parameters; one whose parts cannot be told apart is not shown at all.
pub(crate) fn without_credentials(address: &str) -> String {
    if address.starts_with("sqlite:") {
        return address.to_owned();
    }
    let Some((scheme, rest)) = address.split_once("://") else {
        return "…".to_owned();
    };
    let (authority, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let hosts = authority.rsplit_once('@').map_or(authority, |(_, hosts)| hosts);
    if rest.contains('@') {
        return format!("{scheme}://…");
    }
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    format!("{scheme}://{hosts}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_what_may_be_secret() {
        for (address, shown) in [
            ("sqlite:a@b.db", "sqlite:a@b.db"),
            ("postgres://u:s3cret@h:1,i/n?sslmode=require", "postgres://h:1,i/n"),
            ("postgres:///n?password=s3cret", "postgres:///n"),
            ("redis://:s3cret@[::1]:6379/0", "redis://[::1]:6379/0"),
            ("redis://u:a@s3cret@h", "redis://h"),
            ("postgres:u:s3cret@h/n", "…"),
            ("redis://u:s3/cret@h", "redis://…"),
            ("redis://u:s3?cret@h", "redis://…"),
        ] {
            assert_eq!(without_credentials(address), shown);
        }
    }

    #[test]
    fn an_address_among_the_arguments_is_shown_from_its_host_on() {
        for (text, argument, expected) in [
            ("'postgres://u:a/b@c@h/n' found", "postgres://u:a/b@c@h/n", "'postgres://…@h/n' found"),
            ("'postgresql://u:p@h' found", "--name=postgresql://u:p@h", "'postgresql://…@h' found"),
            ("write postgres://U:P@HOST", "postgres://u:p@h", "write postgres://U:P@HOST"),
            ("'postgres' found", "postgres", "'postgres' found"),
        ] {
            let arguments = ["postgres@://".to_owned(), argument.to_owned()];
            assert_eq!(without_passwords(text.to_owned(), arguments.into_iter()), expected);
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

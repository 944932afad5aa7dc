//! [`without_secrets`]: removes passwords and tokens from messages, which may repeat invalid input.

use catalogue_core::auth::CredentialKind;
use catalogue_settings::LINK_PREFIX;

/// Prefixes of secrets: the catalogue's API keys and OAuth tokens, JSON Web Tokens, and the codes of sign-in links.
pub(crate) const TOKENS: [&str; 4] =
    [CredentialKind::ApiKey.token_prefix(), CredentialKind::OAuth.token_prefix(), "eyJ", LINK_PREFIX];
/// Minimum length of the rest that is removed after a prefix. Messages may contain the first eight characters of a token.
const MIN_TOKEN: usize = 12;
/// User information in the example addresses of messages.
const EXAMPLES: [&str; 2] = ["USER", "USER:PASSWORD"];

/// Message for an address that [`is_ambiguous`].
pub(crate) const AMBIGUOUS: &str = "the address has a space, a quote or a control character; percent-encode it";

/// Returns `true` if `text` (a value, or an option with one) is an address whose user information has no clear end.
pub(crate) fn is_ambiguous(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let separates = |character: char| character.is_whitespace() || character.is_control() || "\"'".contains(character);
    rest.contains('@') && rest.contains(separates) && !scheme.contains(separates)
}

/// Returns `text` with an ellipsis for each secret: the user and the password in an address, a parameter `password`,
/// and all of a token after its prefix.
pub(crate) fn without_secrets(text: &str) -> String {
    type Length = fn(&str) -> usize;
    let marks = [("://", user_information as Length), ("password=", parameter)];
    let marks = marks.into_iter().chain(TOKENS.map(|prefix| (prefix, token as Length)));
    let (mut redacted, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(first) = rest.chars().next() {
        let mark = marks.clone().find(|(mark, _)| rest.starts_with(mark));
        let (visible, redacted_len) =
            mark.map_or((first.len_utf8(), 0), |(mark, length)| (mark.len(), length(&rest[mark.len()..])));
        redacted.push_str(&rest[..visible]);
        if redacted_len > 0 {
            redacted.push('…');
        }
        rest = &rest[visible + redacted_len..];
    }
    redacted
}

/// Returns the length of the user information before an address's host: up to the last `@` before whitespace.
fn user_information(address: &str) -> usize {
    let address = address.split(char::is_whitespace).next().unwrap_or_default();
    let length = address.rfind('@').unwrap_or(0);
    if EXAMPLES.contains(&&address[..length]) { 0 } else { length }
}

/// Returns the length of a parameter's value.
fn parameter(value: &str) -> usize {
    let end = match value.strip_prefix('\'') {
        Some(quoted) => quoted.find('\'').map(|end| end + 2),
        None => value.find(|character: char| character.is_whitespace() || "&\"'".contains(character)),
    };
    end.unwrap_or(value.len())
}

/// Returns the length of a token's rest after its prefix, or 0 if it is shorter than [`MIN_TOKEN`].
fn token(rest: &str) -> usize {
    let is_end = |character: char| !character.is_ascii_alphanumeric() && !"-_.".contains(character);
    let length = rest.find(is_end).unwrap_or(rest.len());
    if length < MIN_TOKEN { 0 } else { length }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_in_addresses_are_redacted() {
        for (text, redacted) in [
            ("\"redis://:s3cret@h\" is invalid", "\"redis://…@h\" is invalid"),
            ("--base-url: \"https://u:s3cret@h/x\" found", "--base-url: \"https://…@h/x\" found"),
            ("'x=amqp+tls://u:s3/cr@et@h' found", "'x=amqp+tls://…@h' found"),
            ("'postgres://u:s3'c\"ret@h' found", "'postgres://…@h' found"),
            ("redis://a and redis://s3cret@b", "redis://a and redis://…@b"),
            ("https://example.com, or a@b", "https://example.com, or a@b"),
            ("write postgres://USER@HOST/NAME", "write postgres://USER@HOST/NAME"),
            ("write postgres://USER:PASSWORD@HOST", "write postgres://USER:PASSWORD@HOST"),
            ("postgres:///n?password=s3cret&user=u", "postgres:///n?password=…&user=u"),
            ("host=h password='s3 cret' user=u", "host=h password=… user=u"),
            ("\"user=u sslpassword=s3cret\" found", "\"user=u sslpassword=…\" found"),
            ("://@", "://@"),
            ("", ""),
        ] {
            assert_eq!(without_secrets(text), redacted);
            assert_eq!(without_secrets(redacted), redacted);
        }
    }

    #[test]
    fn address_with_unencoded_password_is_ambiguous() {
        for text in
            ["redis://:a b@h", "--name=redis://:a\"@h", "'redis://a\nb@h", "redis://u@h/a'b", "redis://a\u{85}@h"]
        {
            // A quote before the scheme belongs to a text around the address, not to an argument.
            assert_eq!(is_ambiguous(text), !text.starts_with('\''), "{text:?}");
        }
        for text in ["redis://u:a%20b@h", "redis://h/a b", "a b@c", "see https://h or a@b", ""] {
            assert!(!is_ambiguous(text), "{text:?}");
        }
    }

    #[test]
    fn tokens_are_redacted_after_prefix() {
        let secret = "0123456789abcdefABCDEF";
        for start in TOKENS {
            let text = format!("{start}{secret}: no such file, '{start}{secret}.{secret}-_' and {start}012");
            let redacted = format!("{start}…: no such file, '{start}…' and {start}012");
            assert_eq!(without_secrets(&text), redacted);
        }
    }
}

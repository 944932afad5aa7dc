//! [`without_secrets`]: messages repeat what is wrong, and somebody may have typed a password or a token there.

use std::borrow::Cow;
use std::env;

use catalogue_core::auth::CredentialKind;
use catalogue_settings::LINK_PREFIX;

/// What secrets begin with: API keys and OAuth tokens of ours, JSON Web Tokens, and the codes of sign-in links.
pub(crate) const TOKENS: [&str; 4] =
    [CredentialKind::ApiKey.token_prefix(), CredentialKind::OAuth.token_prefix(), "eyJ", LINK_PREFIX];
/// What follows in a token, however it was cut, is longer; eight characters of one are shown on purpose.
const SHORTEST_TOKEN: usize = 12;
/// What our own messages say is right.
const EXAMPLES: [&str; 2] = ["USER", "USER:PASSWORD"];

/// The text without what may be secret: an address's user and passwords, and all of a token but its beginning.
pub(crate) fn without_secrets(text: &str) -> String {
    let arguments = env::args_os().map(|argument| argument.to_string_lossy().into_owned());
    let text = without_addresses_of(text.to_owned(), arguments);
    let text = without_user_information(&text);
    without_tokens(&without_parameters(&text)).into_owned()
}

/// Without the users in the addresses among `values`, which are known to their last byte, with blanks and quotes.
fn without_addresses_of(mut text: String, values: impl Iterator<Item = String>) -> String {
    for value in values {
        let (Some(separator), Some(host)) = (value.find("://"), value.rfind('@')) else { continue };
        if separator < host {
            let start = scheme_start(&value, separator);
            let shown = format!("{}…{}", &value[start..separator + 3], &value[host..]);
            let quoted = value[start..].escape_debug().to_string();
            text = text.replace(&value[start..], &shown).replace(&quoted, &shown);
        }
    }
    text
}

/// Without what stands before the host in any address: up to the last `@` before a blank, or before the end of a quoted one.
fn without_user_information(text: &str) -> Cow<'_, str> {
    replaced(text, |rest| {
        let separator = rest.find("://")?;
        let start = separator + 3;
        let quoted = rest[..scheme_start(rest, separator)].ends_with('"');
        let address = &rest[start..];
        let end = if quoted { end_of_quoted(address) } else { address.find(char::is_whitespace) };
        let information = address[..end.unwrap_or(address.len())].rfind('@').unwrap_or(0);
        let is_example = EXAMPLES.contains(&&address[..information]);
        Some((start, if is_example { 0 } else { information }))
    })
}

/// Without passwords that stand in an address as a parameter.
fn without_parameters(text: &str) -> Cow<'_, str> {
    const NAME: &str = "password=";
    replaced(text, |rest| {
        let start = rest.find(NAME)? + NAME.len();
        let value = &rest[start..];
        let length = match value.strip_prefix('\'') {
            Some(quoted) => quoted.find('\'').map(|end| end + 2),
            None => value.find(|character: char| character.is_whitespace() || "&\"'".contains(character)),
        };
        Some((start, length.unwrap_or(value.len())))
    })
}

/// Without what follows a token's beginning.
fn without_tokens(text: &str) -> Cow<'_, str> {
    replaced(text, |rest| {
        let start = TOKENS.iter().filter_map(|token| Some(rest.find(token)? + token.len())).min()?;
        let is_end = |character: char| !character.is_ascii_alphanumeric() && !"-_.".contains(character);
        let length = rest[start..].find(is_end).unwrap_or(rest.len() - start);
        Some((start, if length < SHORTEST_TOKEN { 0 } else { length }))
    })
}

/// The text with an ellipsis for each secret, of which `find` says where it begins and how long it is; 0 for none.
fn replaced(text: &str, find: impl Fn(&str) -> Option<(usize, usize)>) -> Cow<'_, str> {
    let (mut shown, mut rest) = (String::new(), text);
    while let Some((start, length)) = find(rest) {
        shown.push_str(&rest[..start]);
        if length > 0 {
            shown.push('…');
        }
        rest = &rest[start + length..];
    }
    if shown.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(shown + rest) }
}

/// Where the scheme begins that ends at `separator`.
fn scheme_start(text: &str, separator: usize) -> usize {
    let is_scheme = |character: char| character.is_ascii_alphanumeric() || "+-.".contains(character);
    text[..separator].trim_end_matches(is_scheme).len()
}

/// Where the quote ends in which Rust shows a text.
fn end_of_quoted(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.find(|character| {
        let ends = character == '"' && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        ends
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_from_their_host_on() {
        for (text, shown) in [
            ("\"redis://:s3cret@h\" is no address", "\"redis://…@h\" is no address"),
            ("--base-url: \"https://u:s3 cr\\\"et@h/x\" is none", "--base-url: \"https://…@h/x\" is none"),
            ("'x=amqp+tls://u:s3/cr@et@h' found", "'x=amqp+tls://…@h' found"),
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
            assert_eq!(without_secrets(text), shown);
            assert_eq!(without_secrets(shown), shown);
        }
    }

    #[test]
    fn an_address_among_the_arguments_is_known_to_its_end() {
        for (text, argument, expected) in [
            ("'postgres://u:a/b@c@h/n' found", "postgres://u:a/b@c@h/n", "'postgres://…@h/n' found"),
            ("'postgresql://u:p@h' found", "--name=postgresql://u:p@h", "'postgresql://…@h' found"),
            ("'redis://:a b' c@h' found", "redis://:a b' c@h", "'redis://…@h' found"),
            ("\"redis://:a\\nb@h\" found", "redis://:a\nb@h", "\"redis://…@h\" found"),
            ("write postgres://U:P@HOST", "postgres://u:p@h", "write postgres://U:P@HOST"),
            ("'postgres' found", "postgres", "'postgres' found"),
        ] {
            let arguments = ["postgres@://".to_owned(), argument.to_owned()];
            assert_eq!(without_addresses_of(text.to_owned(), arguments.into_iter()), expected);
        }
    }

    #[test]
    fn tokens_are_shown_by_their_beginning() {
        let secret = "0123456789abcdefABCDEF";
        for start in TOKENS {
            let text = format!("{start}{secret}: no such file, '{start}{secret}.{secret}-_' and {start}012");
            let shown = format!("{start}…: no such file, '{start}…' and {start}012");
            assert_eq!(without_secrets(&text), shown);
        }
    }
}

//! Forms that call the API from the page. They are hidden until the page's script runs.

use super::markup::escape;
use super::samples::example;
use crate::cursor::CURSOR_PATTERN;
use crate::operation::{Parameter, Spec};
use crate::storage::Limit;

/// Field for the key, which all forms share.
pub(super) const KEY_FIELD: &str = include_str!("form/key.html");

/// Renders the form of one operation, and the element for its response.
pub(super) fn try_it(spec: &Spec) -> String {
    let pages = spec.parameters.contains(&Parameter::Cursor);
    format!(
        include_str!("form/try.html"),
        path = escape(spec.path),
        fields = spec.parameters.iter().map(|&parameter| field(spec.id, parameter)).collect::<String>(),
        next_field = if pages { format!(" data-next=\"{}\"", Parameter::Cursor.name()) } else { String::new() },
        next_button = if pages { "<button type=\"button\" class=\"next\" hidden>Next page</button>\n" } else { "" },
    )
}

fn field(operation: &str, parameter: Parameter) -> String {
    let (place, hint) =
        if parameter.is_in_path() { ("path", "required; the form encodes it") } else { ("query", "optional") };
    format!(
        include_str!("form/field.html"),
        operation = operation,
        name = parameter.name(),
        place = place,
        hint = hint,
        attributes = attributes(parameter),
    )
}

/// Returns attributes that help to type a value. Invalid values can be sent too, to see the error (decision P14).
fn attributes(parameter: Parameter) -> String {
    match parameter {
        Parameter::Cursor => format!(r#" type="text" pattern="{}""#, html_pattern(CURSOR_PATTERN)),
        Parameter::Limit => format!(r#" type="text" inputmode="numeric" placeholder="{}""#, Limit::DEFAULT.get()),
        Parameter::Slug => {
            format!(r#" type="text" required placeholder="{}""#, escape(&example(parameter).unwrap_or_default()))
        }
    }
}

/// Converts a pattern for HTML, which always matches the whole value, and requires an escaped hyphen at the end of a class.
fn html_pattern(pattern: &str) -> String {
    let pattern = pattern.strip_prefix('^').unwrap_or(pattern);
    pattern.strip_suffix('$').unwrap_or(pattern).replace("-]", r"\-]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_allow_sending_invalid_values() {
        let limit = format!(" type=\"text\" inputmode=\"numeric\" placeholder=\"{}\"", Limit::DEFAULT.get());
        assert_eq!(attributes(Parameter::Limit), limit);
        assert!(attributes(Parameter::Slug).starts_with(" type=\"text\" required placeholder=\""));
        assert_eq!(attributes(Parameter::Cursor), " type=\"text\" pattern=\"[A-Za-z0-9_\\-]+\"");
    }
}

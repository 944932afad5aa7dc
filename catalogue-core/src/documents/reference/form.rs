//! Forms that call the API from the page. They are hidden until the page's script runs.

use super::endpoints::with_bounds;
use super::markup::{escape, inline};
use super::samples::example;
use crate::cursor::CURSOR_PATTERN;
use crate::operation::{Parameter, Spec};
use crate::storage::Limit;

/// Renders the field for the key, which all forms share.
pub(super) fn key_field() -> String {
    r#"<form class="key" aria-label="API key" data-script hidden>
<label for="api-key">API key</label>
<input id="api-key" type="password" autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby="api-key-hint">
<p class="hint" id="api-key-hint">Used by the forms below. Never stored and never put in a URL.</p>
</form>
"#
    .to_owned()
}

/// Renders the form of one operation, and the element for its response.
pub(super) fn try_it(spec: &Spec) -> String {
    let (id, path) = (spec.id, escape(spec.path));
    let fields: String = spec.parameters.iter().map(|&parameter| field(id, parameter)).collect();
    let pages = spec.parameters.contains(&Parameter::Cursor);
    let (next_field, next_button) = if pages {
        let attribute = format!(" data-next=\"{}\"", Parameter::Cursor.name());
        (attribute, "<button type=\"button\" class=\"next\" hidden>Next page</button>\n")
    } else {
        (String::new(), "")
    };
    format!(
        r##"<details class="try" data-script hidden>
<summary><h4>Try it</h4></summary>
<form aria-label="Try GET {path}" data-path="{path}"{next_field} novalidate>
{fields}<pre class="line" hidden><code class="curl"></code></pre>
<p class="buttons"><button type="submit" aria-label="Send GET {path}">Send</button>
{next_button}<a href="#api-key">Set the API key</a></p>
</form>
<p class="status" role="status"></p>
<div class="answer" hidden>
<h5>Body</h5>
<div class="code" data-copy="the body of GET {path}"><pre class="body" role="region" aria-label="Body of GET {path}" tabindex="0"></pre></div>
<h5>Headers</h5>
<pre class="headers" role="region" aria-label="Headers of GET {path}" tabindex="0"></pre>
</div>
</details>
"##
    )
}

fn field(operation: &str, parameter: Parameter) -> String {
    let name = parameter.name();
    let id = format!("try-{operation}-{name}");
    let (location, need) = if parameter.is_in_path() { ("path", "required") } else { ("query", "optional") };
    let attributes = attributes(parameter);
    let rules = inline(&with_bounds(parameter.description_in_form(), parameter));
    format!(
        r#"<div class="field">
<label for="{id}"><code>{name}</code> <span class="hint">{location}, {need}</span></label>
<input id="{id}" name="{name}" data-in="{location}" autocomplete="off" autocapitalize="off" spellcheck="false"{attributes} aria-describedby="{id}-rules">
<p class="hint" id="{id}-rules">{rules}</p>
</div>
"#
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

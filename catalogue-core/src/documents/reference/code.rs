//! Code on the page: blocks that can be copied, samples in several languages, JSON in colours.

use super::block::Status;
use super::general::error_id;
use super::markup::{escape, inline, push};
use super::samples::Sample;
use crate::operation::Operation;

/// A block of code, which the script gives a button that copies `label`.
pub(super) fn block(code: &str, label: &str) -> String {
    format!("<div class=\"code\" data-copy=\"{}\"><pre><code>{code}</code></pre></div>\n", escape(label))
}

/// The call of an operation in every language: one below the other, and with the script one at a time.
pub(super) fn samples(operation: Operation, samples: &[Sample], id: &str) -> String {
    let call = format!("GET {}", operation.path());
    let mut html = format!(
        "<h4 id=\"{id}\"><a href=\"#{id}\">Request</a></h4>\n<div class=\"samples\" data-of=\"{}\">\n",
        escape(&call)
    );
    for (index, Sample { language, text }) in samples.iter().enumerate() {
        let open = if index == 0 { " open" } else { "" };
        let code = block(&escape(text), &format!("{call} in {language}"));
        push(&mut html, format_args!("<details{open}><summary>{language}</summary>\n{code}</details>\n"));
    }
    html + "</div>\n"
}

/// The statuses of an operation, each with its examples.
pub(super) fn statuses(operation: Operation, statuses: &[Status]) -> String {
    let mut html = String::from("<div class=\"statuses\">\n");
    for Status { status, code, meaning, examples } in statuses {
        let name = code.map(|code| format!("<code>{}</code> ", code.as_str())).unwrap_or_default();
        let said = format!("{name}{}", inline(meaning));
        let kind = &status[..1];
        let id = format!("{}-{status}", operation.id());
        let badge = format!("<b class=\"status{kind}\">{status}</b>");
        if examples.is_empty() {
            push(&mut html, format_args!("<div id=\"{id}\" class=\"plain\">{badge} {said}</div>\n"));
            continue;
        }
        // Not in the line that opens them, which is a control itself.
        let error =
            code.map(|code| format!("<a href=\"#{}\">About <code>{}</code></a>\n", error_id(code), code.as_str()));
        let examples = examples.iter().map(|text| format!("<pre><code>{}</code></pre>\n", escape(text)));
        let examples: String = examples.chain(error).collect();
        push(&mut html, format_args!("<details id=\"{id}\"><summary>{badge} {said}</summary>\n{examples}</details>\n"));
    }
    html + "</div>\n"
}

/// JSON with its names, texts and other values apart.
pub(super) fn json(text: &str) -> String {
    let mut html = String::with_capacity(text.len() * 2);
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c == '"' || c.is_ascii_alphanumeric() || c == '-') {
        html.push_str(&escape(&rest[..start]));
        rest = &rest[start..];
        let end = if rest.starts_with('"') { end_of_text(rest) } else { end_of_word(rest) };
        let (token, after) = rest.split_at(end);
        let kind = match token.starts_with('"') {
            true if after.starts_with(':') => "k",
            true => "s",
            false => "n",
        };
        push(&mut html, format_args!("<i class=\"{kind}\">{}</i>", escape(token)));
        rest = after;
    }
    html + &escape(rest)
}

/// Where the text ends that begins with a quotation mark.
fn end_of_text(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|&(_, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(index, _)| index + 1)
}

fn end_of_word(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_coloured_and_stays_the_same_text() {
        assert_eq!(
            json(r#"{ "a\"<": ["b\\", -1.5e+3, null] }"#),
            "{ <i class=\"k\">&quot;a\\&quot;&lt;&quot;</i>: [<i class=\"s\">&quot;b\\\\&quot;</i>, \
             <i class=\"n\">-1.5e+3</i>, <i class=\"n\">null</i>] }"
        );
        assert_eq!(json("\"open"), "<i class=\"s\">&quot;open</i>");
    }
}

//! Code on the page: blocks with a copy button, and samples in several languages.

use super::general::error_id;
use super::markup::{escape, inline, push};
use super::samples::Sample;
use crate::documents::examples::ExampleResponse;
use crate::operation::Operation;

/// Renders a block of code, to which the script adds a button that copies it. `label` describes the code.
pub(super) fn block(code: &str, label: &str) -> String {
    format!("<div class=\"code\" data-copy=\"{}\"><pre><code>{code}</code></pre></div>\n", escape(label))
}

/// Renders a call of the operation in every language: below each other, or with the script one at a time.
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

pub(super) fn statuses(operation: Operation, statuses: &[Vec<ExampleResponse>]) -> String {
    let mut html = String::from("<div class=\"statuses\">\n");
    for examples in statuses {
        let (status, code, meaning) = (examples[0].status.as_str(), examples[0].code, examples[0].meaning());
        let name = code.map(|code| format!("<code>{}</code> ", code.as_str())).unwrap_or_default();
        let title = format!("{name}{}", inline(&meaning));
        let kind = &status[..1];
        let id = format!("{}-{status}", operation.id());
        let badge = format!("<b class=\"status{kind}\">{status}</b>");
        if code.is_none() {
            push(&mut html, format_args!("<div id=\"{id}\" class=\"plain\">{badge} {title}</div>\n"));
            continue;
        }
        // This link is not in the summary line, which is itself a control.
        let error =
            code.map(|code| format!("<a href=\"#{}\">About <code>{}</code></a>\n", error_id(code), code.as_str()));
        let examples = examples.iter().filter_map(|example| example.body.as_ref());
        let examples = examples.map(|body| format!("<pre><code>{}</code></pre>\n", escape(&format!("{body:#}"))));
        let examples: String = examples.chain(error).collect();
        push(
            &mut html,
            format_args!("<details id=\"{id}\"><summary>{badge} {title}</summary>\n{examples}</details>\n"),
        );
    }
    html + "</div>\n"
}

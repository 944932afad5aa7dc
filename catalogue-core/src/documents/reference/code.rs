//! Code on the page: blocks with a copy button, samples in several languages, and responses by status.

use super::block::Block;
use super::errors::error_id;
use super::markup::{escape, inline, push, write_block};
use super::samples::Sample;
use crate::documents::examples::ExampleResponse;
use crate::error::ErrorCode;
use crate::operation::Operation;

/// Renders a block of code, to which the script adds a button that copies it. `label` describes the code.
pub(super) fn block(code: &str, label: &str) -> String {
    format!("<div class=\"code\" data-copy=\"{}\"><pre tabindex=\"0\"><code>{code}</code></pre></div>\n", escape(label))
}

/// Renders a program in every language: below each other, or with the script one at a time.
pub(super) fn samples(label: &str, samples: &[Sample], id: &str) -> String {
    let mut html = format!("<div class=\"samples\" id=\"{id}\" data-of=\"{}\">\n", escape(label));
    for (index, Sample { language, text }) in samples.iter().enumerate() {
        let open = if index == 0 { " open" } else { "" };
        let code = block(&escape(text), &format!("{label} in {language}"));
        push(&mut html, format_args!("<details{open}><summary>{language}</summary>\n{code}</details>\n"));
    }
    html + "</div>\n"
}

/// Renders the responses by status. Only the success with its fields is open.
pub(super) fn responses(operation: Operation, fields: &[Block], statuses: &[Vec<ExampleResponse>]) -> String {
    let mut html = String::from("<div class=\"statuses\">\n");
    for examples in statuses {
        let ExampleResponse { status, code, .. } = examples[0];
        let name = code.map(|code| format!("<code>{}</code> ", code.as_str())).unwrap_or_default();
        let status = status.as_str();
        let id = format!("{}-{status}", operation.id());
        let title = inline(&examples[0].meaning());
        let title = format!("<b class=\"status{}\">{status}</b> {name}{title}", &status[..1]);
        let (content, open) = match code {
            Some(code) => (failures(code, examples), ""),
            None if status.starts_with('2') => (fields.iter().map(|block| write_block(block, "")).collect(), " open"),
            None => (String::new(), ""),
        };
        if content.is_empty() {
            push(&mut html, format_args!("<div id=\"{id}\" class=\"plain\">{title}</div>\n"));
        } else {
            push(
                &mut html,
                format_args!("<details id=\"{id}\"{open}><summary>{title}</summary>\n{content}</details>\n"),
            );
        }
    }
    html + "</div>\n"
}

/// Renders the bodies of the failures, and a link to the code. The link is not in the summary, which is itself a control.
fn failures(code: ErrorCode, examples: &[ExampleResponse]) -> String {
    let bodies = examples.iter().filter_map(|example| example.body.as_ref());
    let bodies =
        bodies.map(|body| format!("<pre tabindex=\"0\"><code>{}</code></pre>\n", escape(&format!("{body:#}"))));
    let link = format!("<a href=\"#{}\">About <code>{}</code></a>\n", error_id(code), code.as_str());
    bodies.chain([link]).collect()
}

//! Renders the reference as HTML.

use std::fmt::Write as _;

use super::block::Block;
use super::{code, form};
use crate::documents::links::EXAMPLE_HOST;

/// Placeholder in examples for scheme and host, if the base URL has none. [`escape`] marks it for the page's script.
pub(super) const ORIGIN: &str = "\u{1}";

/// Maximum length in bytes of code in a text that stays on one line.
const MAX_UNBROKEN: usize = 32;

/// Renders one block. Headings, and blocks with a heading, use `id`.
pub(super) fn write_block(block: &Block, id: &str) -> String {
    match block {
        Block::Heading(1, text) => format!("<h1 id=\"{id}\">{}</h1>\n", escape(text)),
        Block::Heading(level, text) => {
            format!("<h{level} id=\"{id}\"><a href=\"#{id}\">{}</a></h{level}>\n", heading(text))
        }
        Block::Text(text) => format!("<p>{}</p>\n", inline(text)),
        Block::List(items) => list(items.iter().map(|item| inline(item))),
        Block::Code { text, label, .. } => code::block(&escape(text), label),
        Block::Base(url) => {
            let text = if url.is_empty() { "/" } else { url };
            format!("<div class=\"base\"><b>Base URL</b>{}</div>\n", code::block(&escape(text), "the base URL"))
        }
        Block::ServerNote(_) => {
            let origin = escape(ORIGIN);
            format!("<noscript><p>Replace {origin} with this server's URL.</p></noscript>\n")
        }
        Block::Samples(label, samples) => code::samples(label, samples, id),
        Block::Example(operation, text) => {
            let label = format!("a response to GET {}", operation.path());
            format!("<p class=\"caption\">Response</p>\n{}", code::block(&escape(text), &label))
        }
        Block::Responses(operation, fields, statuses) => code::responses(*operation, fields, statuses),
        Block::Folded(title, block) => {
            format!(
                "<details class=\"fold\"><summary>{}</summary>\n{}</details>\n",
                inline(title),
                write_block(block, "")
            )
        }
        Block::Table { head, rows, ids } => table(head, rows, ids),
        Block::KeyField => form::KEY_FIELD.to_owned(),
        Block::TryIt(operation) => form::try_it(operation.spec()),
    }
}

fn list(items: impl Iterator<Item = String>) -> String {
    let items: String = items.map(|item| format!("<li>{item}</li>\n")).collect();
    format!("<ul>\n{items}</ul>\n")
}

/// Renders a table. On narrow screens its cells wrap; the roles preserve the structure for assistive technology.
fn table(head: &[&str], rows: &[Vec<String>], ids: &[String]) -> String {
    let mut table = String::from("<table role=\"table\">\n<thead role=\"rowgroup\">\n<tr role=\"row\">");
    for cell in head {
        push(&mut table, format_args!("<th role=\"columnheader\" scope=\"col\">{}</th>", inline(cell)));
    }
    table.push_str("</tr>\n</thead>\n<tbody role=\"rowgroup\">\n");
    for (index, row) in rows.iter().enumerate() {
        let id = ids.get(index).filter(|id| !id.is_empty()).map(|id| escape(id));
        let attribute = id.as_ref().map(|id| format!(" id=\"{id}\"")).unwrap_or_default();
        push(&mut table, format_args!("<tr role=\"row\"{attribute}>"));
        for (column, cell) in row.iter().enumerate() {
            let text = match &id {
                Some(id) if column == 0 => format!("<a href=\"#{id}\">{}</a>", inline(cell)),
                _ => inline(cell),
            };
            push(&mut table, format_args!("<td role=\"cell\">{text}</td>"));
        }
        table.push_str("</tr>\n");
    }
    table + "</tbody>\n</table>\n"
}

/// Renders the text of a heading, with a badge for a method before a path.
pub(super) fn heading(text: &str) -> String {
    match text.strip_prefix("GET ") {
        Some(path) => format!("<span class=\"method\">GET</span> {}", escape(path)),
        None => inline(text),
    }
}

/// Renders a text, with code between backticks.
pub(super) fn inline(text: &str) -> String {
    let code = |code: &str| {
        let class = if code.contains(' ') || code.len() > MAX_UNBROKEN { " class=\"long\"" } else { "" };
        format!("<code{class}>{}</code>", escape(code))
    };
    alternating(text, "`", code, strong)
}

/// Renders a text: parts between two marks by `marked`, the rest by `other`.
fn alternating(text: &str, mark: &str, marked: fn(&str) -> String, other: fn(&str) -> String) -> String {
    text.split(mark)
        .enumerate()
        .map(|(index, piece)| if index % 2 == 1 { marked(piece) } else { other(piece) })
        .collect()
}

/// Renders a text without code, with strong parts between double stars.
fn strong(text: &str) -> String {
    alternating(text, "**", |strong| format!("<b>{}</b>", linked(strong)), linked)
}

/// Renders a text with links, whose URLs contain no parenthesis or are in angle brackets.
fn linked(text: &str) -> String {
    let link = text.split_once("](").and_then(|(before, rest)| {
        let (before, label) = before.rsplit_once('[')?;
        let (url, after) = match rest.strip_prefix('<') {
            Some(rest) => rest.split_once(">)")?,
            None => rest.split_once(')')?,
        };
        Some((before, label, url, after))
    });
    let Some((before, label, url, after)) = link else { return escape(text) };
    format!("{}<a href=\"{}\">{}</a>{}", escape(before), escape(url), escape(label), linked(after))
}

pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\u{1}' => push(&mut escaped, format_args!("<span class=\"origin\">https://{EXAMPLE_HOST}</span>")),
            other => escaped.push(other),
        }
    }
    escaped
}

pub(super) fn push(text: &mut String, more: std::fmt::Arguments<'_>) {
    text.write_fmt(more).expect("writing to a String cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_text_is_escaped() {
        assert_eq!(inline("a < b & `c > \"d\"`"), "a &lt; b &amp; <code class=\"long\">c &gt; &quot;d&quot;</code>");
        let cell = table(&["Head"], &[vec!["<script>".to_owned()]], &[]);
        assert!(cell.contains(">&lt;script&gt;</td>"), "{cell}");
        assert_eq!(inline("[t](</\"(b)>)"), "<a href=\"/&quot;(b)\">t</a>");
        assert_eq!(
            inline("**a** [b<](/c?d&e) `[f](g)`"),
            "<b>a</b> <a href=\"/c?d&amp;e\">b&lt;</a> <code>[f](g)</code>"
        );
    }
}

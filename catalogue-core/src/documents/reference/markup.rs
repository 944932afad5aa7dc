//! Parts of the reference as HTML.

use std::fmt::Write as _;

use super::block::{Block, Link};
use super::form;
use crate::documents::document::Document;

/// One part; only headings use the id.
pub(super) fn write_block(block: &Block, id: &str) -> String {
    match block {
        Block::Heading(level, text) => format!("<h{level} id=\"{id}\">{}</h{level}>\n", inline(text)),
        Block::Text(text) => format!("<p>{}</p>\n", inline(text)),
        Block::List(items) => list(items.iter().map(|item| inline(item))),
        // A page need not lead to itself.
        Block::Links(links) => {
            let is_page = |document| matches!(document, Document::Reference | Document::ReferenceSlash);
            list(links.iter().filter(|link| !is_page(link.document)).map(link))
        }
        Block::Code { text, .. } => format!("<pre><code>{}</code></pre>\n", escape(text)),
        Block::Table { head, rows } => table(head, rows),
        Block::KeyField => form::key_field(),
        Block::TryIt(operation) => form::try_it(operation.row()),
    }
}

fn list(items: impl Iterator<Item = String>) -> String {
    let items: String = items.map(|item| format!("<li>{item}</li>\n")).collect();
    format!("<ul>\n{items}</ul>\n")
}

fn link(link: &Link) -> String {
    format!("<a href=\"{}\">{}</a>: {}", escape(&link.address), escape(link.title), inline(link.note))
}

/// A table. On narrow screens its cells stand below each other, each after the head of its column; the roles say all the
/// while what they are.
fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = String::from("<table role=\"table\">\n<thead role=\"rowgroup\">\n<tr role=\"row\">");
    for cell in head {
        push(&mut table, format_args!("<th role=\"columnheader\" scope=\"col\">{}</th>", inline(cell)));
    }
    table.push_str("</tr>\n</thead>\n<tbody role=\"rowgroup\">\n");
    for row in rows {
        table.push_str("<tr role=\"row\">");
        for (name, cell) in head.iter().zip(row) {
            push(&mut table, format_args!("<td role=\"cell\" data-head=\"{}\">{}</td>", escape(name), inline(cell)));
        }
        table.push_str("</tr>\n");
    }
    table + "</tbody>\n</table>\n"
}

/// A text whose code stands between backticks.
pub(super) fn inline(text: &str) -> String {
    let pieces = text.split('`').map(escape).enumerate();
    pieces.map(|(index, piece)| if index % 2 == 1 { format!("<code>{piece}</code>") } else { piece }).collect()
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
            other => escaped.push(other),
        }
    }
    escaped
}

pub(super) fn push(text: &mut String, more: std::fmt::Arguments<'_>) {
    text.write_fmt(more).expect("a String takes all");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_text_is_escaped() {
        assert_eq!(inline("a < b & `c > \"d\"`"), "a &lt; b &amp; <code>c &gt; &quot;d&quot;</code>");
        let cell = table(&["Head"], &[vec!["<script>".to_owned()]]);
        assert!(cell.contains(">&lt;script&gt;</td>"), "{cell}");
        let here = Link { document: Document::Llms, title: "t", address: "/\"><b>".to_owned(), note: "n" };
        assert_eq!(link(&here), "<a href=\"/&quot;&gt;&lt;b&gt;\">t</a>: n");
    }
}

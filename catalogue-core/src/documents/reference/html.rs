//! The reference page: plain HTML without script, that asks no other host for anything.

use std::fmt::Write as _;

use super::block::{Block, Link};
use super::content;
use crate::address::Address;
use crate::documents::TITLE;

const STYLE: &str = include_str!("style.css");

pub(in crate::documents) fn render(base: &Address, docs: &Address) -> String {
    let blocks = content(base, docs);
    let ids = ids(&blocks);
    let (title, style) = (escape(TITLE), STYLE.trim_end());
    let contents = contents(&blocks, &ids);
    let body: String = blocks.iter().zip(&ids).map(|(block, id)| write_block(block, id)).collect();
    format!(
        r##"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
<a class="skip" href="#main">Skip to the reference</a>
<nav aria-label="Contents">
{contents}</nav>
<main id="main">
{body}</main>
</body>
</html>
"##
    )
}

/// An id for each block; only headings use theirs.
fn ids(blocks: &[Block]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for block in blocks {
        let id = match block {
            Block::Heading(_, text) => unused(&slug(text), &ids),
            _ => String::new(),
        };
        ids.push(id);
    }
    ids
}

fn unused(slug: &str, taken: &[String]) -> String {
    let mut id = slug.to_owned();
    let mut number = 1;
    while taken.contains(&id) {
        number += 1;
        id = format!("{slug}-{number}");
    }
    id
}

/// Letters and digits, with one hyphen between words.
fn slug(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}

/// Links to the headings of levels 2 and 3.
fn contents(blocks: &[Block], ids: &[String]) -> String {
    let mut list = String::from("<ul>\n");
    for (block, id) in blocks.iter().zip(ids) {
        if let Block::Heading(level @ 2..=3, text) = block {
            push(&mut list, format_args!("<li class=\"level{level}\"><a href=\"#{id}\">{}</a></li>\n", inline(text)));
        }
    }
    list + "</ul>\n"
}

fn write_block(block: &Block, id: &str) -> String {
    match block {
        Block::Heading(level, text) => format!("<h{level} id=\"{id}\">{}</h{level}>\n", inline(text)),
        Block::Text(text) => format!("<p>{}</p>\n", inline(text)),
        Block::List(items) => list(items.iter().map(|item| inline(item))),
        Block::Links(links) => list(links.iter().map(link)),
        Block::Code { text, .. } => format!("<pre tabindex=\"0\"><code>{}</code></pre>\n", escape(text)),
        Block::Table { head, rows } => table(head, rows),
    }
}

fn list(items: impl Iterator<Item = String>) -> String {
    let items: String = items.map(|item| format!("<li>{item}</li>\n")).collect();
    format!("<ul>\n{items}</ul>\n")
}

fn link(link: &Link) -> String {
    format!("<a href=\"{}\">{}</a>: {}", escape(&link.address), escape(link.title), inline(link.note))
}

fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = String::from("<div class=\"scroll\" tabindex=\"0\">\n<table>\n<thead>\n<tr>");
    for cell in head {
        push(&mut table, format_args!("<th scope=\"col\">{}</th>", inline(cell)));
    }
    table.push_str("</tr>\n</thead>\n<tbody>\n");
    for row in rows {
        table.push_str("<tr>");
        for cell in row {
            push(&mut table, format_args!("<td>{}</td>", inline(cell)));
        }
        table.push_str("</tr>\n");
    }
    table + "</tbody>\n</table>\n</div>\n"
}

/// A text whose code stands between backticks.
fn inline(text: &str) -> String {
    let pieces = text.split('`').map(escape).enumerate();
    pieces.map(|(index, piece)| if index % 2 == 1 { format!("<code>{piece}</code>") } else { piece }).collect()
}

fn escape(text: &str) -> String {
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

fn push(text: &mut String, more: std::fmt::Arguments<'_>) {
    text.write_fmt(more).expect("a String takes all");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_text_is_escaped() {
        assert_eq!(inline("a < b & `c > \"d\"`"), "a &lt; b &amp; <code>c &gt; &quot;d&quot;</code>");
        let cell = table(&["Head"], &[vec!["<script>".to_owned()]]);
        assert!(cell.contains("<td>&lt;script&gt;</td>"), "{cell}");
        let here = Link { title: "t", address: "/\"><b>".to_owned(), note: "n" };
        assert_eq!(link(&here), "<a href=\"/&quot;&gt;&lt;b&gt;\">t</a>: n");
    }

    #[test]
    fn headings_have_ids_of_their_own() {
        let blocks =
            [Block::heading(2, "GET /courses/{slug}"), Block::heading(3, "Answer"), Block::heading(3, "Answer")];
        assert_eq!(ids(&blocks), ["get-courses-slug", "answer", "answer-2"]);
    }
}

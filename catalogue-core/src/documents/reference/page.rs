//! The reference page: complete without its script, and asking no other host for anything.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;

use super::block::Block;
use super::markup::{escape, inline, push, write_block};
use super::{content, policy};
use crate::address::Address;
use crate::documents::{SUMMARY, TITLE};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("page.js");
const ICON: &str = include_str!("icon.svg");

/// The page, and what its browser may load and run with it.
#[derive(Debug)]
pub(in crate::documents) struct Page {
    pub(in crate::documents) html: String,
    pub(in crate::documents) policy: HeaderValue,
}

pub(in crate::documents) fn render(base: &Address, docs: &Address) -> Page {
    let blocks = content(base, docs);
    let ids = ids(&blocks);
    let [title, summary, base_address] = [TITLE, SUMMARY, base.as_str()].map(escape);
    let icon = STANDARD.encode(ICON);
    let contents = contents(&blocks, &ids);
    let body: String = blocks.iter().zip(&ids).map(|(block, id)| write_block(block, id)).collect();
    let html = format!(
        r##"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="{summary}">
<title>{title}</title>
<link rel="icon" href="data:image/svg+xml;base64,{icon}">
<style>{STYLE}</style>
</head>
<body data-base="{base_address}">
<a class="skip" href="#main">Skip to the reference</a>
<nav aria-label="Contents">
{contents}</nav>
<main id="main" tabindex="-1">
{body}</main>
<script>{SCRIPT}</script>
</body>
</html>
"##
    );
    Page { html, policy: policy::of(STYLE, SCRIPT, base, docs) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_have_ids_of_their_own() {
        let blocks =
            [Block::heading(2, "GET /courses/{slug}"), Block::heading(3, "Answer"), Block::heading(3, "Answer")];
        assert_eq!(ids(&blocks), ["get-courses-slug", "answer", "answer-2"]);
    }

    /// Else a browser would see other bytes than those that the policy names.
    #[test]
    fn script_and_style_stand_on_the_page_as_they_are() {
        for (text, end) in [(STYLE, "</style"), (SCRIPT, "</script"), (SCRIPT, "<!--")] {
            assert!(!text.to_ascii_lowercase().contains(end) && !text.contains(['\r', '\0']), "{end}");
        }
    }
}

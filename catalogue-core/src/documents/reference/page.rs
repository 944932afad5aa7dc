//! The reference page: complete without its script, and loaded with one request.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;

use super::block::Block;
use super::markup::{ORIGIN, escape, heading, push, write_block};
use super::{content, policy};
use crate::documents::about::Site;
use crate::documents::links::document_url;
use crate::documents::{DocumentFormat, SUMMARY};
use crate::operation::Operation;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("page.js");
const ICON: &str = include_str!("icon.svg");

pub(in crate::documents) fn policy(site: Site<'_>) -> HeaderValue {
    policy::of(STYLE, SCRIPT, site.base, site.docs)
}

pub(in crate::documents) fn render(site: Site<'_>) -> String {
    let blocks = content(site, ORIGIN);
    let ids = ids(&blocks);
    format!(
        include_str!("page.html"),
        title = escape(site.title()),
        summary = escape(SUMMARY),
        base = escape(site.base.as_str()),
        page = escape(&document_url(site.docs, DocumentFormat::Reference)),
        keys = escape(site.keys_url().unwrap_or("#quick-start")),
        tabs = tabs(site),
        contents = contents(&blocks, &ids),
        body = sections(&blocks, &ids),
        mark = ICON,
        icon = STANDARD.encode(ICON),
        style = STYLE,
        script = SCRIPT,
    )
}

/// Renders links to the page itself, the page for keys and the contact.
fn tabs(site: Site<'_>) -> String {
    let page = document_url(site.docs, DocumentFormat::Reference);
    let mut tabs = format!("<li><a href=\"{}\" aria-current=\"page\">API reference</a></li>\n", escape(&page));
    let others = [("Developer settings", site.keys_url().map(str::to_owned)), ("Support", site.contact_url())];
    for (name, url) in others {
        if let Some(url) = url {
            push(&mut tabs, format_args!("<li><a href=\"{}\">{name}</a></li>\n", escape(&url)));
        }
    }
    tabs
}

/// Returns an id for each heading and for samples; empty for other blocks. No id depends on
/// previous sections: an endpoint has its operation's id, which begins the ids of the headings below it.
fn ids(blocks: &[Block]) -> Vec<String> {
    let mut above = String::new();
    let id = |block: &Block| match block {
        Block::Heading(..=3, text) => {
            above = operation(text).map_or_else(|| slug(text), |operation| operation.id().to_owned());
            above.clone()
        }
        Block::Heading(_, text) => format!("{above}-{}", slug(text)),
        Block::Samples(..) => format!("{above}-request"),
        _ => String::new(),
    };
    blocks.iter().map(id).collect()
}

/// Returns the operation that a heading is about.
fn operation(heading: &str) -> Option<Operation> {
    let path = heading.strip_prefix("GET ")?;
    Operation::ALL.iter().copied().find(|operation| operation.path() == path)
}

/// Renders the blocks. Each endpoint gets its own section, with samples at the side.
fn sections(blocks: &[Block], ids: &[String]) -> String {
    let mut html = String::new();
    let mut rest: Vec<(&Block, &String)> = blocks.iter().zip(ids).collect();
    while !rest.is_empty() {
        let is_endpoint = |block: &Block| matches!(block, Block::Heading(3, _));
        let next = rest.iter().skip(1).position(|(block, _)| is_endpoint(block)).map_or(rest.len(), |index| index + 1);
        let part: Vec<_> = rest.drain(..next).collect();
        let write = |parts: &[(&Block, &String)]| -> String {
            parts.iter().map(|(block, id)| write_block(block, id)).collect()
        };
        let Block::Heading(3, text) = part[0].0 else {
            html.push_str(&write(&part));
            continue;
        };
        let split = part.iter().position(|(block, _)| matches!(block, Block::Samples(..))).unwrap_or(part.len());
        let (intro, others) = part.split_at(split);
        let is_aside = |block: &Block| matches!(block, Block::Samples(..) | Block::Example(..));
        let (aside, others): (Vec<_>, Vec<_>) = others.iter().partition(|(block, _)| is_aside(block));
        // Keeps links to an earlier id of the endpoint working.
        push(&mut html, format_args!("<section class=\"endpoint\" id=\"{}\">\n<div class=\"intro\">\n", slug(text)));
        push(&mut html, format_args!("{}</div>\n<div class=\"side\">\n{}</div>\n", write(intro), write(&aside)));
        push(&mut html, format_args!("<div class=\"rest\">\n{}</div>\n</section>\n", write(&others)));
    }
    html
}

/// Returns the letters and digits of `text` in lower case, with one hyphen between words.
fn slug(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}

/// Renders links to the headings of levels 2 and 3.
fn contents(blocks: &[Block], ids: &[String]) -> String {
    let mut list = String::from("<ul>\n");
    for (block, id) in blocks.iter().zip(ids) {
        if let Block::Heading(level @ 2..=3, text) = block {
            push(&mut list, format_args!("<li class=\"level{level}\"><a href=\"#{id}\">{}</a></li>\n", heading(text)));
        }
    }
    list + "</ul>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heading_ids_do_not_depend_on_previous_sections() {
        let endpoint = |path: &str| [Block::Heading(3, format!("GET {path}")), Block::heading(4, "Response")];
        let blocks = [&[Block::heading(2, "Rate limits")][..], &endpoint("/me"), &endpoint("/courses/{slug}")].concat();
        assert_eq!(ids(&blocks), ["rate-limits", "getMe", "getMe-response", "getCourse", "getCourse-response"]);
    }

    /// Escaped bytes would not match the hash in the policy.
    #[test]
    fn script_and_style_need_no_escaping() {
        for (text, end) in [(STYLE, "</style"), (SCRIPT, "</script"), (SCRIPT, "<!--")] {
            assert!(!text.to_ascii_lowercase().contains(end) && !text.contains(['\r', '\0']), "{end}");
        }
    }
}

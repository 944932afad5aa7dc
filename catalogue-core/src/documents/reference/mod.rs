//! What the reference says, once; Markdown and HTML only write it down.

pub(super) mod block;
pub(super) mod endpoints;
pub(super) mod general;
pub(super) mod html;

use super::schemas::Schemas;
use super::{Document, SUMMARY, TITLE, VERSION};
use crate::address::Address;
use block::{Block, Link};

/// The reference from top to bottom, its title first.
pub(super) fn content(base: &Address, docs: &Address) -> Vec<Block> {
    let schemas = Schemas::collect();
    let mut blocks = vec![
        Block::Heading(1, TITLE.to_owned()),
        Block::Text(format!("{SUMMARY} Version {VERSION}.")),
        Block::Links(links(docs)),
    ];
    blocks.extend(general::all(base, &schemas));
    blocks.extend(endpoints::all(base, &schemas));
    blocks
}

/// All forms of the description, each with its address.
pub(super) fn links(docs: &Address) -> Vec<Link> {
    let link = |document: Document, title, note| Link {
        title,
        address: format!("{}{}", docs.as_str(), document.path()),
        note,
    };
    // Where the documents stand at the root, an address without its slash would be none.
    let page = if docs.path().is_empty() { Document::ReferenceSlash } else { Document::Reference };
    vec![
        link(Document::OpenApi, "OpenAPI 3.1", "for generators and tools"),
        link(Document::Markdown, "Markdown", "the reference as text"),
        link(page, "Reference page", "the reference for people"),
        link(Document::Llms, "llms.txt", "the index for AI agents"),
    ]
}

//! What the reference says, once; Markdown and the page only write it down.

pub(super) mod authentication;
pub(super) mod block;
mod code;
pub(super) mod endpoints;
mod form;
pub(super) mod general;
mod markup;
pub(super) mod page;
mod policy;
mod quick_start;
pub(super) mod samples;

use super::about::Site;
use super::schemas::Schemas;
use super::{Document, SUMMARY, VERSION};
use crate::address::Address;
use block::{Block, Link};

/// The reference from top to bottom, its title first. In examples, `origin` stands before an address without a host.
pub(super) fn content(site: Site<'_>, origin: &str) -> Vec<Block> {
    let schemas = Schemas::collect();
    let mut blocks = vec![
        Block::Heading(1, site.title().to_owned()),
        Block::Text(format!("{SUMMARY} Version {VERSION}.")),
        Block::Links(links(site.docs)),
    ];
    blocks.extend(quick_start::all(site, origin));
    blocks.extend(general::all(site, &schemas));
    blocks.extend(endpoints::all(site, &schemas, origin));
    blocks
}

/// All forms of the description, each with its address.
pub(super) fn links(docs: &Address) -> Vec<Link> {
    let link = |document, title, note| Link { document, title, address: address_of(docs, document), note };
    vec![
        link(Document::OpenApi, "OpenAPI 3.1", "for generators and tools"),
        link(Document::OpenApi30, "OpenAPI 3.0", "for older generators"),
        link(Document::Markdown, "Markdown", "the reference as text"),
        link(page(docs), "Reference page", "the reference for people"),
        link(Document::Llms, "llms.txt", "the index for AI agents"),
    ]
}

/// Where the reference page stands.
pub(super) fn page_address(docs: &Address) -> String {
    address_of(docs, page(docs))
}

/// Where the documents stand at the root, an address without its slash would be none.
fn page(docs: &Address) -> Document {
    if docs.path().is_empty() { Document::ReferenceSlash } else { Document::Reference }
}

fn address_of(docs: &Address, document: Document) -> String {
    format!("{}{}", docs.as_str(), document.path())
}

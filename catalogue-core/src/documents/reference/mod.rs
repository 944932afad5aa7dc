//! The reference: [`content`] returns it as blocks, [`page`] renders them as HTML, and `documents/markdown.rs` as Markdown.

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
use super::{SUMMARY, VERSION};
use crate::documents::links::links;
use block::Block;

/// Returns the reference from top to bottom, beginning with the title. In examples, `origin` precedes a URL without a host.
pub(super) fn content(site: Site<'_>, origin: &str) -> Vec<Block> {
    let schemas = Schemas::collect();
    let mut blocks = vec![
        Block::Heading(1, site.title().to_owned()),
        Block::Text(format!("{SUMMARY} Version {VERSION}.")),
        Block::Links(links(site.docs)),
    ];
    blocks.extend(quick_start::all(site, origin));
    blocks.extend(general::all(site));
    blocks.extend(endpoints::all(site, &schemas, origin));
    blocks
}

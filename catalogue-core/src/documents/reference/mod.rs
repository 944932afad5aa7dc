//! The reference: [`content`] returns it as blocks, [`page`] renders them as HTML, and `documents/markdown.rs` as Markdown.

pub(super) mod block;
mod code;
pub(super) mod endpoints;
mod errors;
mod form;
pub(super) mod guide;
mod markup;
pub(super) mod page;
mod policy;
pub(super) mod samples;

use super::about::Site;
use super::links::links;
use super::schemas::Schemas;
use super::{DocumentFormat, SUMMARY};
use block::Block;

/// Returns the reference from top to bottom, beginning with the title. In examples, `origin` precedes a URL without a host.
pub(super) fn content(site: Site<'_>, origin: &str) -> Vec<Block> {
    let formats = links(site.docs).into_iter().filter(|link| link.document != DocumentFormat::Reference);
    let mut blocks = vec![Block::Heading(1, site.title().to_owned()), Block::Text(SUMMARY.to_owned())];
    blocks.extend(guide::start(site, origin));
    blocks.extend(guide::rules(site));
    blocks.extend(endpoints::all(site, &Schemas::collect(), origin));
    blocks.push(Block::heading(2, "Formats"));
    blocks.push(Block::List(formats.map(|link| link.to_string()).collect()));
    blocks
}

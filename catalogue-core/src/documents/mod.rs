//! The documents of section 4.4 and the reference page (decision R11).
//!
//! All are made from the operation table, the codes, the scopes and the serialised types; examples are answers of the
//! code that answers requests.

mod answers;
pub(crate) mod document;
mod headers;
mod json;
mod llms;
mod markdown;
mod openapi;
mod openapi_30;
mod reference;
mod schemas;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::address::{Address, AddressError};
use crate::answer::entity::Entity;
use crate::route::Router;
use document::Document;

/// The version of OpenAPI that the document is written in.
pub(crate) const OPENAPI: &str = "3.1.0";
/// The version of the API (section 9).
pub(crate) const VERSION: &str = "1.0.0";
pub(crate) const TITLE: &str = "Course Catalogue Read API";
const SUMMARY: &str = "Read-only access to a creator's own courses and their module headers.";

/// Stands in examples for the host of a server whose address names none.
const STAND_IN_HOST: &str = "api.example.com";

/// The documents as they are served, each made once when the catalogue is built, in the order of [`Document::ALL`].
#[derive(Debug)]
pub(crate) struct Documents([Arc<Entity>; Document::ALL.len()]);

impl Documents {
    pub(crate) fn render(router: &Router) -> Self {
        let Router { base, docs } = router;
        let page = reference::page::render(base, docs);
        let page = Arc::new(Entity::of_bytes("text/html; charset=utf-8", page.html).with_policy(page.policy));
        let text = |media_type, format: DocumentFormat| Arc::new(Entity::of_bytes(media_type, format.text(base, docs)));
        Self([
            Arc::clone(&page),
            page,
            text("application/json", DocumentFormat::OpenApi),
            text("text/markdown; charset=utf-8", DocumentFormat::Markdown),
            text("text/plain; charset=utf-8", DocumentFormat::Llms),
        ])
    }

    pub(crate) fn get(&self, document: Document) -> &Arc<Entity> {
        &self.0[document as usize]
    }
}

/// A form in which the API's description can be had without a catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DocumentFormat {
    /// OpenAPI 3.1, as it is served.
    OpenApi,
    /// OpenAPI 3.0, for older generators.
    OpenApi30,
    /// The Markdown rendering of the reference.
    Markdown,
    /// The index for AI agents.
    Llms,
}

impl DocumentFormat {
    /// The document of an API that is mounted at these addresses (decision R1).
    ///
    /// # Errors
    /// When one of them is no address to mount at.
    pub fn render(self, base_url: &str, docs_url: &str) -> Result<String, AddressError> {
        Ok(self.text(&Address::parse(base_url)?, &Address::parse(docs_url)?))
    }

    fn text(self, base: &Address, docs: &Address) -> String {
        match self {
            Self::OpenApi => openapi::render(base, docs),
            Self::OpenApi30 => openapi_30::render(base, docs),
            Self::Markdown => markdown::render(base, docs),
            Self::Llms => llms::render(base, docs),
        }
    }
}

/// Scheme, host and port of an address; nothing where only its path is known.
fn origin(address: &Address) -> &str {
    address.as_str().strip_suffix(address.path()).unwrap_or_default()
}

//! The documents of section 4.4 and the reference page (decision R11).
//!
//! All are made from the operation table, the codes, the scopes and the serialised types; examples are answers of the
//! code that answers requests.

mod answers;
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
use crate::entity::Entity;
use crate::route::Router;

/// The version of OpenAPI that the document is written in.
const OPENAPI: &str = "3.1.0";
/// The version of the API (section 9).
const VERSION: &str = "1.0.0";
const TITLE: &str = "Course Catalogue Read API";
const SUMMARY: &str = "Read-only access to a creator's own courses and their module headers.";

/// Stands in examples for the host of a server whose address names none.
const STAND_IN_HOST: &str = "api.example.com";

/// A document that anybody may read below the documents' address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Document {
    /// The reference page, at the address itself.
    Reference,
    /// The same page, with a slash at the end.
    ReferenceSlash,
    /// The OpenAPI document.
    OpenApi,
    /// The Markdown rendering of the reference.
    Markdown,
    /// The index for AI agents.
    Llms,
}

impl Document {
    pub(crate) const ALL: [Self; 5] =
        [Self::Reference, Self::ReferenceSlash, Self::OpenApi, Self::Markdown, Self::Llms];

    /// Relative to the documents' address.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Reference => "",
            Self::ReferenceSlash => "/",
            Self::OpenApi => "/openapi.json",
            Self::Markdown => "/openapi.md",
            Self::Llms => "/llms.txt",
        }
    }

    /// The document at `path` below the documents' address.
    pub(crate) fn at(path: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|document| document.path() == path)
    }
}

/// The documents as they are served, each made once when the catalogue is built.
#[derive(Debug)]
pub(crate) struct Documents {
    reference: Arc<Entity>,
    openapi: Arc<Entity>,
    markdown: Arc<Entity>,
    llms: Arc<Entity>,
}

impl Documents {
    pub(crate) fn render(router: &Router) -> Self {
        let Router { base, docs } = router;
        let entity = |media_type, text: String| Arc::new(Entity::of_bytes(media_type, text));
        let page = reference::page::render(base, docs);
        Self {
            reference: Arc::new(Entity::of_bytes("text/html; charset=utf-8", page.html).with_policy(page.policy)),
            openapi: entity("application/json", DocumentFormat::OpenApi.text(base, docs)),
            markdown: entity("text/markdown; charset=utf-8", DocumentFormat::Markdown.text(base, docs)),
            llms: entity("text/plain; charset=utf-8", DocumentFormat::Llms.text(base, docs)),
        }
    }

    pub(crate) fn get(&self, document: Document) -> &Arc<Entity> {
        match document {
            Document::Reference | Document::ReferenceSlash => &self.reference,
            Document::OpenApi => &self.openapi,
            Document::Markdown => &self.markdown,
            Document::Llms => &self.llms,
        }
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

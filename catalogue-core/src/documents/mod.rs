//! The documents of section 4.4 and the reference page (decision R11).
//!
//! All are made from the operation table, the codes, the scopes and the serialised types; examples are answers of the
//! code that answers requests.

pub(crate) mod about;
mod answers;
mod headers;
mod links;
mod llms;
mod markdown;
mod openapi;
mod openapi_30;
pub(crate) mod protected_resource;
mod reference;
mod schemas;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use crate::operation::document::{Document, OPENAPI, TITLE, VERSION};
use crate::response::entity::Entity;
use about::Site;

const SUMMARY: &str = "Read-only access to a creator's own courses and their module headers.";

/// The documents as they are served, in the order of [`Document::ALL`]. Each is made when it is first asked for: most
/// catalogues serve none, and a program that starts should answer first.
#[derive(Debug, Default)]
pub(crate) struct Documents([OnceLock<Entity>; Document::ALL.len()]);

impl Documents {
    /// That document for that site, which must be the same each time.
    pub(crate) fn get(&self, document: Document, site: Site<'_>) -> &Entity {
        let text = |media_type, format: DocumentFormat| Entity::of_bytes(media_type, format.text(site));
        self.0[document as usize].get_or_init(|| match document {
            Document::Reference => {
                let page = reference::page::render(site);
                Entity::of_bytes("text/html; charset=utf-8", page.html).with_policy(page.policy)
            }
            Document::OpenApi => text("application/json", DocumentFormat::OpenApi),
            Document::OpenApi30 => text("application/json", DocumentFormat::OpenApi30),
            Document::Markdown => text("text/markdown; charset=utf-8", DocumentFormat::Markdown),
            Document::Llms => text("text/plain; charset=utf-8", DocumentFormat::Llms),
        })
    }
}

/// A form of the API's description, for [`Catalogue::document`](crate::Catalogue::document).
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
    pub(crate) fn text(self, site: Site<'_>) -> String {
        match self {
            Self::OpenApi => openapi::render(site),
            Self::OpenApi30 => openapi_30::render(site),
            Self::Markdown => markdown::render(site),
            Self::Llms => llms::render(site),
        }
    }
}

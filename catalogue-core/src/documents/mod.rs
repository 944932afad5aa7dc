//! The documents of section 4.4 and the reference page (decision R11).
//!
//! All are generated from the operation table, the codes, the scopes and the serialized types; examples are responses of
//! the code that serves requests.

pub(crate) mod about;
mod examples;
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

use crate::operation::document::{DocumentFormat, OPENAPI, TITLE, VERSION};
use crate::response::entity::Entity;
use about::Site;

const SUMMARY: &str =
    "Read a creator's courses and their module headers, to show them or link to them in your application.";

/// Cached documents, in the order of [`DocumentFormat::ALL`]. Each is rendered on its first request: most catalogues serve
/// none, and rendering them would delay the start of the program.
#[derive(Debug, Default)]
pub(crate) struct Documents([OnceLock<Entity>; DocumentFormat::ALL.len()]);

impl Documents {
    /// Returns `document` for `site`, which must be the same in each call.
    pub(crate) fn get(&self, document: DocumentFormat, site: Site<'_>) -> &Entity {
        self.0[document as usize].get_or_init(|| {
            let entity = Entity::from_bytes(document.media_type(), document.text(site));
            if document == DocumentFormat::Reference {
                entity.with_policy(reference::page::policy(site))
            } else {
                entity
            }
        })
    }
}

impl DocumentFormat {
    pub(crate) fn text(self, site: Site<'_>) -> String {
        match self {
            Self::Reference => reference::page::render(site),
            Self::OpenApi => openapi::render(site),
            Self::OpenApi30 => openapi_30::render(site),
            Self::Markdown => markdown::render(site),
            Self::Llms => llms::render(site),
        }
    }
}

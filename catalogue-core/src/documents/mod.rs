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

use crate::operation::document::{DocumentFormat, OPENAPI, TITLE, VERSION};
use crate::response::entity::Entity;
use about::Site;

const SUMMARY: &str = "Read-only access to a creator's own courses and their module headers.";

/// The documents as they are served, in the order of [`DocumentFormat::ALL`]. Each is made when it is first asked for: most
/// catalogues serve none, and a program that starts should answer first.
#[derive(Debug, Default)]
pub(crate) struct Documents([OnceLock<Entity>; DocumentFormat::ALL.len()]);

impl Documents {
    /// That document for that site, which must be the same each time.
    pub(crate) fn get(&self, document: DocumentFormat, site: Site<'_>) -> &Entity {
        self.0[document as usize].get_or_init(|| {
            let entity = Entity::of_bytes(document.media_type(), document.text(site));
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

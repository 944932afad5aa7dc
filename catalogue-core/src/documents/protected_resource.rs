//! [`ProtectedResource`]: metadata by which clients find the authorization servers (RFC 9728, decision O33).

use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, HeaderValue};
use serde_json::json;

use super::about::Site;
use super::links::document_url;
use crate::model::Scope;
use crate::operation::document::DocumentFormat;
use crate::response::entity::Entity;

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// Metadata of the API, and their path.
#[derive(Debug)]
pub(crate) struct ProtectedResource {
    pub(crate) path: String,
    pub(crate) entity: Entity,
    /// Parameter at the end of each challenge.
    parameter: String,
}

impl ProtectedResource {
    /// Creates the metadata of the API. Returns `None` without an authorization server, or if the base URL has no host.
    /// `base_url` is copied byte for byte, because clients compare it with the URL that they were given.
    pub(crate) fn of(base_url: &str, site: Site<'_>) -> Option<Self> {
        let (servers, origin) = (&site.about.authorization_servers, site.base.origin());
        if servers.is_empty() || origin.is_empty() {
            return None;
        }
        let path = base_url[origin.len()..].to_owned();
        // A slash directly after the host counts as an empty path.
        let path = format!("{WELL_KNOWN}{}", if path == "/" { "" } else { &path });
        let page = document_url(site.docs, DocumentFormat::Reference);
        let metadata = json!({
            "resource": base_url,
            "authorization_servers": servers,
            "scopes_supported": Scope::DEFINED.iter().map(|(scope, _)| scope.name()).collect::<Vec<_>>(),
            "bearer_methods_supported": ["header"],
            "resource_name": site.title(),
            "resource_documentation": if page.starts_with('/') { format!("{origin}{page}") } else { page },
        });
        let parameter = format!(r#", resource_metadata="{origin}{path}""#);
        Some(Self { path, entity: Entity::from_bytes("application/json", metadata.to_string()), parameter })
    }

    /// Adds the URL of the metadata to the challenge, if there is one.
    pub(crate) fn add_to(&self, headers: &mut HeaderMap) {
        if let Some(challenge) = headers.get_mut(WWW_AUTHENTICATE) {
            let extended = [challenge.as_bytes(), self.parameter.as_bytes()].concat();
            *challenge = HeaderValue::from_bytes(&extended).expect("URLs are visible ASCII");
        }
    }
}

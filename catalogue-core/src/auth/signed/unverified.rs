//! [`UnverifiedToken`]: the contents of a signed token, for messages.

use super::json_object::{JsonObject, Malformed};
use super::token::SignedToken;
use crate::auth::BearerToken;

/// Header and claims of a token whose signature was not verified: show them, but do not rely on them.
#[derive(Debug)]
pub struct UnverifiedToken {
    header: JsonObject,
    claims: JsonObject,
}

impl UnverifiedToken {
    /// Parses `token`. Returns `None` if it does not have the form of a signed token.
    #[must_use]
    pub fn of(token: BearerToken<'_>) -> Option<Self> {
        let SignedToken { header, payload, .. } = SignedToken::parse(token.expose())?;
        Some(Self { header, claims: payload })
    }

    /// Returns the member `name` of the header, formatted as by [`claim`](Self::claim).
    #[must_use]
    pub fn header(&self, name: &str) -> String {
        json_text(&self.header, name)
    }

    /// Returns the claim `name` as JSON, `null` if it is absent or an empty list, or a note if it is repeated or malformed.
    #[must_use]
    pub fn claim(&self, name: &str) -> String {
        json_text(&self.claims, name)
    }
}

fn json_text(members: &JsonObject, name: &str) -> String {
    match members.get(name) {
        Ok(None) => "null".to_owned(),
        Ok(Some(value)) => value.to_string(),
        Err(Malformed) => "(repeated or not readable)".to_owned(),
    }
}

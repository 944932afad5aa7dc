//! Credentials: as they are looked up, stored and shown.

use std::sync::Arc;

use uuid::Uuid;

use super::{AccountId, CredentialKind, Identity, NewToken, Revision, Scopes, TokenDigest};
use crate::timestamp::Timestamp;

/// A credential as a storage returns it for its token's digest.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Credential {
    /// Holder of the token.
    pub identity: Identity,
    /// Instant from which the token is refused as expired; `None` if it never expires.
    pub expires_at: Option<Timestamp>,
    /// When the credential was revoked; `None` if it was not. Any time revokes it immediately, even a future one.
    pub revoked_at: Option<Timestamp>,
    /// Revision of the account's courses (see
    /// [`CourseStorage::revision`](crate::storage::CourseStorage::revision)), read by the same lookup; `None` if the
    /// storage does not hold the courses too.
    pub revision: Option<Revision>,
}

impl Credential {
    /// Creates a credential without expiry, revocation and revision.
    #[must_use]
    pub const fn new(identity: Identity) -> Self {
        Self { identity, expires_at: None, revoked_at: None, revision: None }
    }
}

/// A credential to be stored. It contains the token's digest, never the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCredential {
    /// The digest of the token.
    pub digest: TokenDigest,
    /// Everything that is shown of the credential later.
    pub record: CredentialRecord,
}

impl NewCredential {
    /// Creates an API key: the token, to be shown to its owner once, and the credential to store. It has no expiry; set
    /// `record.expires_at` for one. Its id is `key_` and a UUID of version 7 (decision C4).
    #[must_use]
    pub fn api_key(account: AccountId, name: impl Into<String>, scopes: Scopes) -> (NewToken, Self) {
        let token = NewToken::mint(CredentialKind::ApiKey);
        let id = format!("key_{}", Uuid::now_v7().simple());
        let credential = Self::of(&token, Identity::api_key(account, id, scopes), Some(name.into()));
        (token, credential)
    }

    /// Creates an opaque OAuth token, like [`api_key`](Self::api_key), but without a name.
    #[must_use]
    pub fn oauth_token(account: AccountId, scopes: Scopes) -> (NewToken, Self) {
        let token = NewToken::mint(CredentialKind::OAuth);
        let credential = Self::of(&token, Identity::oauth(account, &token.digest(), scopes), None);
        (token, credential)
    }

    fn of(token: &NewToken, identity: Identity, name: Option<String>) -> Self {
        let record = CredentialRecord {
            identity,
            name,
            shown_prefix: token.shown_prefix().to_owned(),
            created_at: Timestamp::now(),
            expires_at: None,
            revoked_at: None,
            last_used_at: None,
            replaced_by: None,
        };
        Self { digest: token.digest(), record }
    }
}

/// A credential as its owner may see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialRecord {
    /// Account, kind, id and scopes.
    pub identity: Identity,
    /// Name that the owner chose, if any; `None` for an OAuth token.
    pub name: Option<String>,
    /// The first characters of the token.
    pub shown_prefix: String,
    /// Instant of its creation.
    pub created_at: Timestamp,
    /// Instant from which it is refused; `None` if it never expires.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked, if it was.
    pub revoked_at: Option<Timestamp>,
    /// When it was last used, as far as uses were recorded.
    pub last_used_at: Option<Timestamp>,
    /// Id of its successor, if it was rotated.
    pub replaced_by: Option<Arc<str>>,
}

impl CredentialRecord {
    /// Returns when it ends or ended: at its revocation or its expiry, whichever is earlier. `None` if it has neither.
    #[must_use]
    pub fn end(&self) -> Option<Timestamp> {
        self.revoked_at.into_iter().chain(self.expires_at).min()
    }

    /// Returns its state at the instant `at`.
    #[must_use]
    pub fn state(&self, at: Timestamp) -> CredentialState {
        match (self.revoked_at, self.expires_at, &self.replaced_by) {
            (Some(_), _, _) => CredentialState::Revoked,
            (None, Some(expiry), _) if expiry <= at => CredentialState::Expired,
            (None, _, Some(_)) => CredentialState::Ending,
            (None, _, None) => CredentialState::Valid,
        }
    }
}

/// The state of a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CredentialState {
    /// Accepted, and not rotated.
    Valid,
    /// Rotated, and still accepted until its overlap ends.
    Ending,
    /// Past its expiry.
    Expired,
    /// Revoked by its owner or by the operator.
    Revoked,
}

impl CredentialState {
    /// Returns its name in lists and in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Ending => "ending",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }

    /// Returns whether a request with the credential is accepted.
    #[must_use]
    pub const fn is_active(self) -> bool {
        matches!(self, Self::Valid | Self::Ending)
    }
}

/// One use of a credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialUse {
    /// Account that the credential belongs to.
    pub account: AccountId,
    /// The id of the credential's record.
    pub credential_id: Arc<str>,
    /// Instant of the use.
    pub at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credential_state_depends_on_expiry_rotation_and_revocation() {
        let [before, end, after] = [6, 7, 8].map(|time| Timestamp::from_microseconds(time).unwrap());
        let (_, NewCredential { record, .. }) = NewCredential::api_key(AccountId::new("a"), "n", Scopes::default());
        let ends = CredentialRecord { expires_at: Some(end), ..record.clone() };
        let rotated = CredentialRecord { replaced_by: Some("key_2".into()), ..ends.clone() };
        let revoked = CredentialRecord { revoked_at: Some(before), ..rotated.clone() };
        for (record, states) in [
            (record, ["valid", "valid", "valid"]),
            (ends, ["valid", "expired", "expired"]),
            (rotated, ["ending", "expired", "expired"]),
            (revoked, ["revoked", "revoked", "revoked"]),
        ] {
            let found = [before, end, after].map(|at| record.state(at));
            assert_eq!(found.map(CredentialState::name), states);
            assert_eq!(found.map(CredentialState::is_active), states.map(|name| ["valid", "ending"].contains(&name)));
        }
    }
}

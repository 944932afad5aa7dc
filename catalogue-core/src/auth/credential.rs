//! [`StoredCredentials`]: the built-in authenticator, over a [`CredentialStorage`].

use async_trait::async_trait;

use super::authenticator::{Authenticator, Refusal, Verdict};
use super::bearer::BearerToken;
use super::identity::Identity;
use super::token::{claims_to_be_api_key, is_api_key};
use crate::storage::{CredentialStorage, StorageError};
use crate::timestamp::Timestamp;

/// A credential as a storage finds it by its token's digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// Who holds the token.
    pub identity: Identity,
    /// From this instant on the token is refused as expired; never if `None`.
    pub expires_at: Option<Timestamp>,
    /// When the credential was revoked; it still stands if `None`.
    pub revoked_at: Option<Timestamp>,
}

impl Credential {
    /// Whether the credential holds at `now` (decision C3).
    fn verdict(self, now: Timestamp) -> Verdict {
        if self.revoked_at.is_some() {
            return Verdict::Refused(Refusal::Revoked);
        }
        if self.expires_at.is_some_and(|expiry| expiry <= now) {
            return Verdict::Refused(Refusal::Expired);
        }
        Verdict::Accepted(self.identity)
    }
}

/// Knows the API keys and opaque OAuth tokens that a storage holds, by the digest of the whole token.
#[derive(Clone, Debug)]
pub struct StoredCredentials<S>(S);

impl<S: CredentialStorage> StoredCredentials<S> {
    /// An authenticator over `storage`.
    pub const fn new(storage: S) -> Self {
        Self(storage)
    }
}

#[async_trait]
impl<S: CredentialStorage> Authenticator for StoredCredentials<S> {
    async fn authenticate(&self, token: BearerToken<'_>) -> Result<Verdict, StorageError> {
        let text = token.expose();
        // A mistyped key never reaches the storage.
        if claims_to_be_api_key(text) && !is_api_key(text) {
            return Ok(Verdict::Refused(Refusal::Invalid));
        }
        let found = self.0.find_credential(&token.digest()).await?;
        Ok(found.map_or(Verdict::NotMine, |credential| credential.verdict(Timestamp::now())))
    }
}

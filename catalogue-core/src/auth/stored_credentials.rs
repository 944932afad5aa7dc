//! [`StoredCredentials`]: the built-in authenticator, over a [`CredentialStorage`].

use async_trait::async_trait;

use super::authenticator::{Authenticator, Refusal, Verdict};
use super::bearer::BearerToken;
use crate::model::{Credential, Identity, Revision, has_api_key_prefix, token_kind};
use crate::storage::{CredentialStorage, StorageError};
use crate::timestamp::Timestamp;

/// Authenticator for the API keys and opaque OAuth tokens of a storage, found by the digest of the whole token.
#[derive(Clone, Debug)]
pub struct StoredCredentials<S>(S);

impl<S: CredentialStorage> StoredCredentials<S> {
    /// Creates an authenticator over `storage`.
    pub const fn new(storage: S) -> Self {
        Self(storage)
    }
}

#[async_trait]
impl<S: CredentialStorage> Authenticator for StoredCredentials<S> {
    async fn authenticate(&self, mut token: BearerToken<'_>) -> Result<Verdict, StorageError> {
        Ok(match look_up(&self.0, &mut token).await? {
            CredentialLookup::Accepted(identity, _) => Verdict::Accepted(identity),
            CredentialLookup::Refused(refusal, _) => Verdict::Refused(refusal, None),
            CredentialLookup::Unrecognized => Verdict::Unrecognized,
        })
    }
}

/// A [`Verdict`], with the other results of the lookup.
pub(crate) enum CredentialLookup {
    /// Includes the revision of the account's courses, if the lookup returned it.
    Accepted(Identity, Option<Revision>),
    /// Includes the identity of the token, if it is known.
    Refused(Refusal, Option<Identity>),
    Unrecognized,
}

/// Authenticates `token` against `storage`, and caches the digest in `token`.
pub(crate) async fn look_up(
    storage: &(impl CredentialStorage + ?Sized),
    token: &mut BearerToken<'_>,
) -> Result<CredentialLookup, StorageError> {
    let is_api_key = has_api_key_prefix(token.expose());
    // A mistyped key never reaches the storage.
    if is_api_key && token_kind(token.expose()).is_none() {
        return Ok(CredentialLookup::Refused(Refusal::Invalid, None));
    }
    let digest = token.digest_cached();
    #[cfg(feature = "oauth")]
    if !is_api_key && super::signed::looks_like_jwt(token.expose()) {
        match storage.is_revoked(&digest).await? {
            Some(true) => return Ok(CredentialLookup::Refused(Refusal::Revoked, None)),
            Some(false) => return Ok(CredentialLookup::Unrecognized),
            None => {}
        }
    }
    let Some(credential) = storage.find_credential(&digest).await? else {
        return Ok(CredentialLookup::Unrecognized);
    };
    Ok(match refusal(&credential, Timestamp::now) {
        None => CredentialLookup::Accepted(credential.identity, credential.revision),
        Some(refusal) => CredentialLookup::Refused(refusal, Some(credential.identity)),
    })
}

/// Returns why the credential is not valid at `now`; `None` if it is (decision C3).
fn refusal(credential: &Credential, now: impl FnOnce() -> Timestamp) -> Option<Refusal> {
    if credential.revoked_at.is_some() {
        return Some(Refusal::Revoked);
    }
    credential.expires_at.is_some_and(|expiry| expiry <= now()).then_some(Refusal::Expired)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AccountId, Scopes};

    #[test]
    fn revocation_takes_precedence_over_expiry() {
        let at = |second: i64| Timestamp::from_microseconds(second);
        let identity = Identity::api_key(AccountId::new("acc"), "key_1", Scopes::default());
        for (expires_at, revoked_at, refusal) in [
            (None, None, None),
            (at(11), None, None),
            (at(10), None, Some(Refusal::Expired)),
            (at(9), None, Some(Refusal::Expired)),
            (None, at(99), Some(Refusal::Revoked)),
            (at(9), at(9), Some(Refusal::Revoked)),
        ] {
            let mut credential = Credential::new(identity.clone());
            (credential.expires_at, credential.revoked_at) = (expires_at, revoked_at);
            assert_eq!(super::refusal(&credential, || at(10).unwrap()), refusal);
        }
    }
}

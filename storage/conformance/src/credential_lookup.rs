//! Credential lookups of the cases, and their expected results.

use catalogue_core::admin::NewCredential;
use catalogue_core::auth::{Credential, CredentialKind, TokenDigest};
use catalogue_core::storage::CredentialStorage;

use crate::CredentialFixture;
use crate::reading::{retry_while_blocked, skip};

/// Puts a credential as the fixture's table can store it, with the fixture's ids, and returns it.
pub(crate) async fn put(fixture: &impl CredentialFixture, credential: &NewCredential) -> NewCredential {
    let as_stored = as_stored(fixture, credential).await;
    fixture.put_credential(&as_stored).await;
    as_stored
}

/// Returns a credential as the fixture's table can store it, with the fixture's ids.
pub(crate) async fn as_stored(fixture: &impl CredentialFixture, credential: &NewCredential) -> NewCredential {
    let (precision, mut as_stored) = (fixture.precision(), credential.clone());
    let record = &mut as_stored.record;
    record.identity.account = fixture.account(record.identity.account.as_str()).await;
    if record.identity.kind == CredentialKind::ApiKey {
        record.identity.credential_id = fixture.key(&record.identity.credential_id).await.into();
    }
    if let Some(successor) = &mut record.replaced_by {
        *successor = fixture.key(successor).await.into();
    }
    record.created_at = precision.truncate(record.created_at);
    for time in [&mut record.expires_at, &mut record.revoked_at, &mut record.last_used_at] {
        *time = time.map(|time| precision.truncate(time));
    }
    as_stored
}

/// Looks up a credential by its digest. Removes the revision, which has its own case.
pub(crate) async fn find(fixture: &impl CredentialFixture, digest: &TokenDigest) -> Option<Credential> {
    let found = retry_while_blocked(fixture, async || fixture.storage().find_credential(digest).await).await;
    found.expect("A credential can be looked up; an unknown one returns None, not an error.").map(|mut credential| {
        credential.revision = None;
        credential
    })
}

/// Returns whether a signed token is revoked. `None` if the storage has no revocations: then the case is skipped.
pub(crate) async fn is_revoked(storage: &impl CredentialStorage, digest: &TokenDigest) -> Option<bool> {
    let revoked = storage.is_revoked(digest).await;
    let revoked = revoked.expect("A revocation can be looked up; an unknown token is not an error.");
    if revoked.is_none() {
        skip("the storage has no revocations of signed tokens");
    }
    revoked
}

/// Asserts that the credential is found by its digest as it was put.
pub(crate) async fn assert_stored(fixture: &impl CredentialFixture, credential: &NewCredential, rule: &str) {
    let mut expected = Credential::new(credential.record.identity.clone());
    expected.expires_at = credential.record.expires_at;
    expected.revoked_at = credential.record.revoked_at;
    assert_eq!(find(fixture, &credential.digest).await, Some(expected), "{rule}");
}

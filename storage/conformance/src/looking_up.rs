//! How cases look credentials up, and what they ought to find.

use catalogue_core::admin::NewCredential;
use catalogue_core::auth::{Credential, CredentialKind, TokenDigest};
use catalogue_core::storage::CredentialStorage;

use crate::CredentialFixture;

/// Puts a credential as the fixture's table can hold it, under its ids, and returns that.
pub(crate) async fn put(fixture: &impl CredentialFixture, credential: &NewCredential) -> NewCredential {
    let held = held(fixture, credential).await;
    fixture.put_credential(&held).await;
    held
}

/// A credential as the fixture's table can hold it, under its ids.
pub(crate) async fn held(fixture: &impl CredentialFixture, credential: &NewCredential) -> NewCredential {
    let (precision, mut held) = (fixture.precision(), credential.clone());
    let record = &mut held.record;
    record.identity.account = fixture.account(record.identity.account.as_str()).await;
    if record.identity.kind == CredentialKind::ApiKey {
        record.identity.credential_id = fixture.key(&record.identity.credential_id).await.into();
    }
    if let Some(successor) = &mut record.replaced_by {
        *successor = fixture.key(successor).await.into();
    }
    record.created_at = precision.kept(record.created_at);
    for time in [&mut record.expires_at, &mut record.revoked_at, &mut record.last_used_at] {
        *time = time.map(|time| precision.kept(time));
    }
    held
}

/// What is found by that digest, but for the revision, which has a case of its own.
pub(crate) async fn find(fixture: &impl CredentialFixture, digest: &TokenDigest) -> Option<Credential> {
    let found = fixture.storage().find_credential(digest).await;
    found.expect("A credential can be looked up; an unknown one is None, not an error.").map(|mut credential| {
        credential.revision = None;
        credential
    })
}

/// Asserts that the credential is found by its digest as it was put.
pub(crate) async fn assert_stored(fixture: &impl CredentialFixture, credential: &NewCredential, rule: &str) {
    let mut expected = Credential::new(credential.record.identity.clone());
    expected.expires_at = credential.record.expires_at;
    expected.revoked_at = credential.record.revoked_at;
    assert_eq!(find(fixture, &credential.digest).await, Some(expected), "{rule}");
}

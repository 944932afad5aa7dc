//! How cases look credentials up, and what they ought to find.

use catalogue_core::{Credential, CredentialKind, CredentialStorage, NewCredential, TokenDigest};

use crate::CredentialFixture;

/// Puts a credential as the fixture's table can hold it, under its ids, and returns that.
pub(crate) async fn put(fixture: &impl CredentialFixture, credential: &NewCredential) -> NewCredential {
    let (limits, mut held) = (fixture.limits(), credential.clone());
    let record = &mut held.record;
    record.identity.account = fixture.account(record.identity.account.as_str()).await;
    if record.identity.kind == CredentialKind::ApiKey {
        record.identity.credential_id = fixture.key(&record.identity.credential_id).await.into();
    }
    record.created_at = limits.times.held(record.created_at);
    record.expires_at = record.expires_at.filter(|_| limits.expiry).map(|expiry| limits.times.held(expiry));
    fixture.put_credential(&held).await;
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

/// What ought to be found of a credential.
pub(crate) fn found_as(credential: &NewCredential) -> Option<Credential> {
    let record = &credential.record;
    let mut found = Credential::new(record.identity.clone());
    found.expires_at = record.expires_at;
    found.revoked_at = record.revoked_at;
    Some(found)
}

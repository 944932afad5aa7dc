//! The revision returned with a credential.

use catalogue_core::storage::{CourseStorage, CredentialStorage};

use crate::credential_lookup::put;
use crate::reading::skip;
use crate::seed::{api_key, course, remove, seed};
use crate::{CourseFixture, CredentialFixture};

/// A credential is returned with the current revision of its account's courses, or with none.
pub async fn credential_has_current_revision(fixture: &(impl CourseFixture + CredentialFixture)) {
    seed(fixture, &[course("a", "first"), course("b", "first")]).await;
    let credential = put(fixture, &api_key("a", "key_1", "token-1")).await;
    let account = &credential.record.identity.account;
    let mut has_revision = false;
    for change in 0..4 {
        let credentials = CredentialFixture::storage(fixture);
        let found = credentials.find_credential(&credential.digest).await.expect("a credential can be looked up");
        let returned = found.and_then(|credential| credential.revision);
        has_revision |= returned.is_some();
        let current = CourseFixture::storage(fixture).revision(account).await.expect("a revision can be read");
        assert!(returned.is_none() || returned == current, "A credential has its account's current revision, or none.");
        match change {
            0 => seed(fixture, &[course("a", "second")]).await,
            1 => seed(fixture, &[course("a", "third"), course("b", "second")]).await,
            _ => remove(fixture, "a", "second").await,
        }
        if change == 2 {
            seed(fixture, &[course("a", "second")]).await;
        }
    }
    if !has_revision {
        skip("no credential is returned with a revision");
    }
}

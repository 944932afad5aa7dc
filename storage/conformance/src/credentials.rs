//! Credentials, found by the digest of their token.

use catalogue_core::{Credential, CredentialStorage, NewCredential, Scopes, StorageErrorKind, Timestamp, TokenDigest};

use crate::Storage;
use crate::seed::{api_key, course, create, digest, id, instant, oauth_token, seed, seed_accounts, time};

/// What the storage finds by that digest, but for the revision, which has a case of its own.
async fn find(storage: &impl CredentialStorage, digest: &TokenDigest) -> Option<Credential> {
    let found = storage.find_credential(digest).await.expect("a credential can be looked up");
    found.map(|mut credential| {
        credential.revision = None;
        credential
    })
}

/// What ought to be found of a credential.
fn found_as(credential: &NewCredential) -> Option<Credential> {
    let record = &credential.record;
    let mut found = Credential::new(record.identity.clone());
    found.expires_at = record.expires_at;
    found.revoked_at = record.revoked_at;
    Some(found)
}

/// A credential of either kind is found by its digest, with all that is known of it.
pub async fn a_credential_is_found_with_all_its_fields(storage: &impl Storage) {
    seed_accounts(storage, &["a", "b"]).await;
    let mut forever = api_key("b", "key_forever", "token-forever");
    forever.record.expires_at = None;
    let credentials =
        [api_key("a", "key_1", "token-1"), api_key("b", "key_2", "token-2"), oauth_token("a", "token-3"), forever];
    for credential in &credentials {
        create(storage, credential).await;
    }
    for credential in &credentials {
        let found = find(storage, &credential.digest).await;
        assert_eq!(found, found_as(credential), "A credential is found with all its fields.");
    }
}

/// A credential is found by its whole digest and in no other way.
pub async fn a_credential_is_found_by_its_exact_digest(storage: &impl Storage) {
    seed_accounts(storage, &["a"]).await;
    assert_eq!(find(storage, &digest("unknown")).await, None, "An unknown digest finds None, not an error.");
    let tokens: Vec<_> = (0..3_000).map(|number| format!("token{number}")).collect();
    let first = digest(&tokens[0]);
    // Digests that share the first byte, the last one, or begin with the byte that ends a text in C.
    let share = |at: usize| move |token: &&String| digest(token).as_bytes()[at] == first.as_bytes()[at];
    let mut near: Vec<_> = tokens.iter().filter(share(0)).take(4).collect();
    near.extend(tokens.iter().skip(1).filter(share(31)).take(4));
    near.extend(tokens.iter().filter(|token| digest(token).as_bytes()[0] == 0).take(4));
    assert_eq!(near.len(), 12, "three thousand digests hold near ones");
    for (index, token) in near.iter().enumerate() {
        let before = find(storage, &digest(token)).await;
        assert_eq!(before, None, "A credential is found by its whole digest and in no other way.");
        create(storage, &api_key("a", &format!("key_{index}"), token)).await;
    }
    for (index, token) in near.iter().enumerate() {
        let found = find(storage, &digest(token)).await.expect("it was stored");
        let expected = format!("key_{index}");
        assert_eq!(*found.identity.credential_id, *expected, "A credential is found by its whole digest.");
    }
}

/// Scopes are kept, none at all and those that the specification does not know included.
pub async fn scopes_are_kept(storage: &impl Storage) {
    seed_accounts(storage, &["a"]).await;
    for (index, names) in [
        "",
        "read:profile",
        "read:courses",
        "read:courses read:profile",
        "read:profile write:everything",
        "zebra apple Apple READ:COURSES read:courses: read",
        "a,b 'c' [d] {e} https://example.org/scope?x=1&y=%20 ~!#$*+;<=>@^`|",
    ]
    .into_iter()
    .enumerate()
    {
        let mut credential = api_key("a", &format!("key_{index}"), &format!("token-{index}"));
        credential.record.identity.scopes = Scopes::from_names(names.split_whitespace());
        create(storage, &credential).await;
        let found = find(storage, &credential.digest).await;
        assert_eq!(found, found_as(&credential), "Scopes are kept, also none and unknown ones: {names:?}.");
    }
}

/// A time is kept to the microsecond, and an expired credential is still found: the authenticator refuses it.
pub async fn an_expiry_is_kept_to_the_microsecond(storage: &impl Storage) {
    seed_accounts(storage, &["a"]).await;
    let times = [Timestamp::MIN, instant(-1), instant(0), instant(1), time(999_999), time(123_456), Timestamp::MAX];
    for (index, expiry) in times.into_iter().enumerate() {
        let mut credential = api_key("a", &format!("key_{index}"), &format!("token-{index}"));
        credential.record.expires_at = Some(expiry);
        create(storage, &credential).await;
        let found = find(storage, &credential.digest).await;
        assert_eq!(found, found_as(&credential), "An expiry is kept to the microsecond, and hides nothing.");
    }
}

/// A revoked credential is found from then on with the time of its revocation.
pub async fn a_revoked_credential_is_found_as_revoked(storage: &impl Storage) {
    seed_accounts(storage, &["a"]).await;
    let mut credentials =
        [api_key("a", "key_1", "token-1"), oauth_token("a", "token-2"), api_key("a", "key_10", "token-3")];
    for credential in &credentials {
        create(storage, credential).await;
    }
    for (index, microseconds) in [(0, 7), (1, 123_456)] {
        let credential = &mut credentials[index];
        let id = credential.record.identity.credential_id.clone();
        credential.record.revoked_at = Some(time(microseconds));
        let revoked = storage.revoke_credential(&id, time(microseconds)).await.expect("a credential can be revoked");
        assert_eq!(revoked.as_ref(), Some(&credential.record), "Revoking a credential returns its record, revoked.");
        for credential in &credentials {
            let found = find(storage, &credential.digest).await;
            assert_eq!(found, found_as(credential), "A revoked credential is found as revoked, and no other is.");
        }
    }
}

/// Revoking once more changes nothing: the time of the first revocation stays.
pub async fn the_first_revocation_stays(storage: &impl Storage) {
    seed_accounts(storage, &["a"]).await;
    let mut credential = api_key("a", "key_1", "token-1");
    create(storage, &credential).await;
    credential.record.revoked_at = Some(time(5));
    for again in [time(5), time(6), time(4), Timestamp::MIN, Timestamp::MAX] {
        let revoked = storage.revoke_credential("key_1", again).await.expect("a credential can be revoked");
        assert_eq!(revoked.as_ref(), Some(&credential.record), "The time of the first revocation stays.");
        let found = find(storage, &credential.digest).await;
        assert_eq!(found, found_as(&credential), "The time of the first revocation stays.");
    }
}

/// Revoking an id that no credential has is none, and revokes nothing else.
pub async fn revoking_an_unknown_id_is_none(storage: &impl Storage) {
    seed_accounts(storage, &["a"]).await;
    let credential = api_key("a", "key_1", "token-1");
    create(storage, &credential).await;
    for unknown in ["", "key_", "KEY_1", "key_1 ", "key_11", "key%", "%", "a", "token-1", "' OR ''='"] {
        let revoked = storage.revoke_credential(unknown, time(1)).await.expect("an unknown id is no error");
        assert_eq!(revoked, None, "Revoking an id that no credential has is None: {unknown:?}.");
    }
    let found = find(storage, &credential.digest).await;
    assert_eq!(found, found_as(&credential), "Revoking an unknown id leaves the credentials that are there.");
}

/// A credential of an unknown account is refused as an unknown reference, and nothing of it is stored.
pub async fn a_credential_of_an_unknown_account_is_refused(storage: &impl Storage) {
    seed_accounts(storage, &["known"]).await;
    for credential in [api_key("unknown", "key_1", "token-1"), oauth_token("Known", "token-2")] {
        let refused = storage.create_credential(&credential).await.map_err(|error| error.kind());
        let expected = Err(StorageErrorKind::UnknownReference);
        assert_eq!(refused, expected, "A credential of an unknown account is an UnknownReference.");
        assert_eq!(find(storage, &credential.digest).await, None, "A refused credential is not stored.");
    }
    seed_accounts(storage, &["unknown", "Known"]).await;
    for account in ["unknown", "Known"] {
        let listed = storage.list_credentials(&id(account)).await.expect("credentials can be listed");
        assert_eq!(listed, Some(vec![]), "A refused credential is not stored, also not for later.");
    }
}

/// A credential is refused when its digest or its id is there already, of any account; what was there stays as it was.
pub async fn a_credential_that_is_there_is_refused(storage: &impl Storage) {
    seed_accounts(storage, &["a", "b"]).await;
    let there = api_key("a", "key_1", "token-1");
    create(storage, &there).await;
    for (again, what) in [
        (api_key("a", "key_2", "token-1"), "digest"),
        (api_key("b", "key_2", "token-1"), "digest, in another account"),
        (api_key("a", "key_1", "token-2"), "id"),
        (api_key("b", "key_1", "token-2"), "id, in another account"),
    ] {
        let refused = storage.create_credential(&again).await.map_err(|error| error.kind());
        let expected = Err(StorageErrorKind::AlreadyThere);
        assert_eq!(refused, expected, "A credential is AlreadyThere when one has the same {what}.");
    }
    assert_eq!(find(storage, &there.digest).await, found_as(&there), "A refused credential replaces none.");
    assert_eq!(find(storage, &digest("token-2")).await, None, "A refused credential is not stored.");
}

/// An import leaves credentials alone, even one that changes their account and prunes its courses.
pub async fn an_import_leaves_credentials_alone(storage: &impl Storage) {
    seed(storage, &[course("a", "pruned")]).await;
    let credential = api_key("a", "key_1", "token-1");
    create(storage, &credential).await;
    let mut import = storage.begin_import().await.expect("an import begins while no other runs");
    let mut account = crate::seed::account("a");
    account.name = "Another name".to_owned();
    import.put_account(&account).await.expect("an account can be put");
    import.prune().await.expect("an import can prune");
    import.commit().await.expect("an import can be committed");
    let found = find(storage, &credential.digest).await;
    assert_eq!(found, found_as(&credential), "An import leaves credentials alone.");
}

/// A credential that brings a revision along brings that of its account's courses, as it is now.
pub async fn a_credential_brings_the_current_revision(storage: &impl Storage) {
    seed(storage, &[course("a", "first"), course("b", "first")]).await;
    let credential = api_key("a", "key_1", "token-1");
    create(storage, &credential).await;
    for slug in ["second", "third"] {
        let found = storage.find_credential(&credential.digest).await.expect("a credential can be looked up");
        let brought = found.and_then(|credential| credential.revision);
        let current = storage.revision(&id("a")).await.expect("a revision can be read");
        assert!(
            brought.is_none() || brought == current,
            "A credential brings its account's current revision, or none."
        );
        seed(storage, &[course("a", slug)]).await;
    }
}

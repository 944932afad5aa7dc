//! Storing and revoking credentials.

use catalogue_core::Timestamp;
use catalogue_core::admin::{AdminStorage, CredentialRecord};
use catalogue_core::storage::StorageErrorKind;

use crate::Storage;
use crate::looking_up::{assert_stored, find};
use crate::seed::{api_key, course, create, digest, id, oauth_token, seed, seed_accounts, time};

async fn revoke(storage: &impl AdminStorage, id: &str, at: Timestamp) -> Option<CredentialRecord> {
    storage.revoke_credential(id, at).await.expect("A credential can be revoked; an unknown id is None, not an error.")
}

/// Revoking a credential of either kind returns its record, revoked.
pub async fn revoking_returns_the_record(storage: &impl Storage) {
    seed_accounts(storage, &["a"]).await;
    for mut credential in [api_key("a", "key_1", "token-1"), oauth_token("a", "token-2")] {
        create(storage, &credential).await;
        let id = credential.record.identity.credential_id.clone();
        credential.record.revoked_at = Some(time(7));
        let revoked = revoke(storage, &id, time(7)).await;
        assert_eq!(revoked.as_ref(), Some(&credential.record), "Revoking a credential returns its record, revoked.");
    }
}

/// Revoking once more changes nothing: the time of the first revocation stays.
pub async fn the_first_revocation_stays(storage: &impl Storage) {
    seed_accounts(storage, &["a"]).await;
    let mut credential = api_key("a", "key_1", "token-1");
    create(storage, &credential).await;
    credential.record.revoked_at = Some(time(5));
    for again in [time(5), time(6), time(4), Timestamp::MIN, Timestamp::MAX] {
        let revoked = revoke(storage, "key_1", again).await;
        assert_eq!(revoked.as_ref(), Some(&credential.record), "The time of the first revocation stays.");
        assert_stored(storage, &credential, "The time of the first revocation stays.").await;
    }
}

/// Revoking an id that no credential has is none, and revokes nothing else.
pub async fn revoking_an_unknown_id_is_none(storage: &impl Storage) {
    seed_accounts(storage, &["a"]).await;
    let credential = api_key("a", "key_1", "token-1");
    create(storage, &credential).await;
    for unknown in ["", "key_", "KEY_1", "key_1 ", "key_11", "key%", "%", "a", "token-1", "' OR ''='"] {
        let revoked = revoke(storage, unknown, time(1)).await;
        assert_eq!(revoked, None, "Revoking an id that no credential has is None: {unknown:?}.");
    }
    assert_stored(storage, &credential, "Revoking an unknown id leaves the credentials that are there.").await;
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
    assert_stored(storage, &there, "A refused credential replaces none.").await;
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
    assert_stored(storage, &credential, "An import leaves credentials alone.").await;
}

//! Replacing a credential by its successor.

use catalogue_core::Timestamp;
use catalogue_core::admin::{AdminStorage, CredentialRecord, NewCredential};
use catalogue_core::storage::{StorageError, StorageErrorKind};

use crate::Storage;
use crate::looking_up::assert_stored;
use crate::seed::{api_key, create, id, oauth_token, seed_accounts, time};

/// When successors are created.
const NOW: i64 = 10;
/// When what they replace ends.
const END: i64 = 20;

/// A key that expires so many microseconds after the usual instant.
fn key(account: &str, id: &str, token: &str, expires_at: Option<i64>) -> NewCredential {
    let mut credential = api_key(account, id, token);
    credential.record.expires_at = expires_at.map(time);
    credential
}

fn successor(account: &str, id: &str, token: &str) -> NewCredential {
    let mut credential = key(account, id, token, Some(99));
    credential.record.created_at = time(NOW);
    credential
}

async fn rotate(
    storage: &impl AdminStorage,
    id: &str,
    ends_at: Timestamp,
    successor: &NewCredential,
) -> Result<Option<CredentialRecord>, StorageErrorKind> {
    let rotated = storage.rotate_credential(id, ends_at, successor).await;
    rotated.map_err(|error: StorageError| error.kind())
}

/// The credentials stand as these say, in look-ups and in the list of account `a`, and there are no others.
async fn assert_all(storage: &impl Storage, credentials: &[NewCredential], rule: &str) {
    for credential in credentials {
        assert_stored(storage, credential, rule).await;
    }
    let listed = storage.list_credentials(&id("a")).await.expect("credentials can be listed");
    let expected = credentials.iter().map(|credential| credential.record.clone()).collect();
    assert_eq!(listed, Some(expected), "{rule}");
}

/// Rotating a credential of either kind ends it, stores its successor, and returns the credential that is replaced.
pub async fn rotating_ends_the_old_and_stores_the_new(storage: &impl Storage) {
    seed_accounts(storage, &["a"]).await;
    let mut stored = Vec::new();
    for (mut old, new) in [
        (key("a", "key_1", "token-1", None), successor("a", "key_2", "token-2")),
        (oauth_token("a", "token-3"), successor("a", "key_4", "token-4")),
    ] {
        create(storage, &old).await;
        let id = old.record.identity.credential_id.clone();
        let rotated = rotate(storage, &id, time(END), &new).await;
        old.record.expires_at = Some(time(END));
        old.record.replaced_by = Some(new.record.identity.credential_id.clone());
        let returned = Ok(Some(old.record.clone()));
        assert_eq!(
            rotated, returned,
            "Rotating returns the credential that is replaced, which ends and names its successor."
        );
        stored.extend([old, new]);
    }
    stored.sort_by_key(|credential| credential.record.created_at);
    stored[..2].sort_by_key(|credential| credential.record.identity.credential_id.clone());
    assert_all(storage, &stored, "Rotating ends the old credential, stores the new one, and touches no other.").await;
}

/// What ends earlier by itself ends then; what ends later ends by the rotation, also at once.
pub async fn the_earlier_end_counts(storage: &impl Storage) {
    seed_accounts(storage, &["a"]).await;
    let ends = [
        ("key_1", Some(END - 1), END, END - 1),
        ("key_2", Some(END + 1), END, END),
        ("key_3", None, NOW, NOW),
        ("key_4", Some(NOW + 1), NOW, NOW),
    ];
    for (id, expires_at, asked, expected) in ends {
        create(storage, &key("a", id, id, expires_at)).await;
        let new = successor("a", &format!("{id}_new"), &format!("{id}-new"));
        let rotated = rotate(storage, id, time(asked), &new).await.expect("a credential can be rotated");
        let expiry = rotated.and_then(|record| record.expires_at);
        assert_eq!(expiry, Some(time(expected)), "Of the expiry and the end that is asked for, the earlier counts.");
    }
}

/// What was revoked, has expired, is of another account or is not there is not rotated, and nothing is changed.
pub async fn only_a_credential_that_holds_is_rotated(storage: &impl Storage) {
    const RULE: &str = "Only a credential of the successor's account that holds is rotated; else nothing is changed.";
    seed_accounts(storage, &["a", "b"]).await;
    let mut revoked = key("a", "key_1", "token-1", None);
    revoked.record.revoked_at = Some(time(NOW + 1));
    let stored = [revoked, key("a", "key_2", "token-2", Some(NOW)), key("a", "key_3", "token-3", Some(NOW - 1))];
    for credential in &stored {
        create(storage, credential).await;
    }
    let foreign = key("b", "key_4", "token-4", None);
    create(storage, &foreign).await;
    for id in ["key_1", "key_2", "key_3", "key_4", "KEY_2", "key_", "", "%", "' OR ''='"] {
        let rotated = rotate(storage, id, time(END), &successor("a", "key_5", "token-5")).await;
        assert_eq!(rotated, Ok(None), "{RULE} {id:?}");
        assert_all(storage, &stored, RULE).await;
    }
    assert_stored(storage, &foreign, RULE).await;
}

/// A credential that has a successor is not rotated again, whatever has become of that; the successor is.
pub async fn what_has_a_successor_is_not_rotated_again(storage: &impl Storage) {
    const RULE: &str = "A credential that has a successor is not rotated again; its successor is.";
    seed_accounts(storage, &["a"]).await;
    let (mut old, mut new) = (key("a", "key_1", "token-1", Some(99)), successor("a", "key_2", "token-2"));
    create(storage, &old).await;
    let rotated = rotate(storage, "key_1", time(END), &new).await;
    assert!(rotated.is_ok_and(|rotated| rotated.is_some()), "{RULE}");
    (old.record.expires_at, old.record.replaced_by) = (Some(time(END)), Some("key_2".into()));
    let refused = rotate(storage, "key_1", time(NOW + 1), &successor("a", "key_3", "token-3")).await;
    assert_eq!(refused, Ok(None), "{RULE}");
    assert_all(storage, &[old.clone(), new.clone()], RULE).await;

    let mut newest = successor("a", "key_3", "token-3");
    newest.record.created_at = time(NOW + 1);
    let rotated = rotate(storage, "key_2", time(END), &newest).await;
    (new.record.expires_at, new.record.replaced_by) = (Some(time(END)), Some("key_3".into()));
    assert_eq!(rotated, Ok(Some(new.record.clone())), "{RULE}");
    let at = time(NOW + 2);
    storage.revoke_credential("key_2", at).await.expect("a credential can be revoked");
    new.record.revoked_at = Some(at);
    let mut late = successor("a", "key_4", "token-4");
    late.record.created_at = time(NOW + 3);
    assert_eq!(rotate(storage, "key_1", time(END), &late).await, Ok(None), "{RULE}");
    assert_all(storage, &[old, new, newest], RULE).await;
}

/// A successor whose digest or id is there already is refused, and the credential that it was to replace stays.
pub async fn a_refused_successor_ends_nothing(storage: &impl Storage) {
    const RULE: &str = "A successor that is AlreadyThere is refused, and nothing ends.";
    seed_accounts(storage, &["a", "b"]).await;
    let stored = [key("a", "key_1", "token-1", None), key("a", "key_2", "token-2", None)];
    for credential in &stored {
        create(storage, credential).await;
    }
    create(storage, &key("b", "key_3", "token-3", None)).await;
    for (id, token) in
        [("key_1", "token-9"), ("key_2", "token-9"), ("key_3", "token-9"), ("key_9", "token-1"), ("key_9", "token-3")]
    {
        let refused = rotate(storage, "key_1", time(END), &successor("a", id, token)).await;
        assert_eq!(refused, Err(StorageErrorKind::AlreadyThere), "{RULE}");
        assert_all(storage, &stored, RULE).await;
    }
}

//! A token that is refused, or another's, is that at once, whatever it was the last time.

use catalogue_core::admin::{Account, AdminStorage, NewCredential};
use catalogue_core::auth::{BearerToken, Identity, Scopes};
use catalogue_core::storage::{Actor, KeyStorage};
use catalogue_core::{AccountId, Timestamp};

use super::pair::Call::{Credential as Key, List, ListByKey};
use super::pair::{ABSENT, LISTS, ONE, Pair, Remote};
use crate::app::{OTHER, OWNER, course, of_other};

#[tokio::test]
async fn a_revoked_key_is_refused_at_once() {
    let pair = Pair::known().await;
    let owner = AccountId::new(OWNER);
    pair.app.storage.revoke_key(&owner, &pair.key, Timestamp::now(), &Actor::OWNER).await.unwrap().unwrap();
    // From then on no course is read for it.
    pair.asks(LISTS, 401, &[ListByKey]).await;
    pair.asks(LISTS, 401, &[Key]).await;
    pair.asks(ONE, 401, &[Key]).await;
    pair.asks("/api/v1/courses?limit=0", 401, &[Key]).await;
}

#[tokio::test]
async fn a_key_that_ends_is_refused_at_once() {
    let pair = Pair::known().await;
    let (owner, ends_at) = (AccountId::new(OWNER), Timestamp::now());
    let (_, successor) = NewCredential::api_key(owner.clone(), "a key", Scopes::default());
    let rotated = pair.app.storage.rotate_key(&owner, &pair.key, ends_at, &successor, &Actor::OWNER).await;
    rotated.unwrap().unwrap();
    pair.asks(LISTS, 401, &[ListByKey]).await;
}

#[tokio::test]
async fn a_token_of_a_removed_account_is_refused_at_once() {
    let pair = Pair::known().await;
    pair.app.storage.remove_account(&AccountId::new(OWNER)).await.unwrap().unwrap();
    pair.asks(LISTS, 401, &[ListByKey, List, Key]).await;
    pair.asks(LISTS, 401, &[Key]).await;
}

/// The same token, in the hands of another account or with other scopes, by a change of the account's courses.
#[tokio::test]
async fn a_credential_that_was_replaced_is_what_counts() {
    for (account, scopes, statuses) in
        [(OTHER, "read:courses", [200, 200, 404]), (OWNER, "read:nothing", [403; 3]), (OTHER, "", [403; 3])]
    {
        let pair = Pair::known().await;
        let digest = BearerToken::new(&pair.token).unwrap().digest();
        let (_, mut replaced) = NewCredential::api_key(AccountId::new(account), "a key", Scopes::from_names([scopes]));
        replaced.digest = digest;
        pair.app.storage.remove_account(&AccountId::new(OWNER)).await.unwrap().unwrap();
        let mut import = pair.app.storage.begin_import().await.unwrap();
        for id in [OWNER, OTHER] {
            let (id, name, email) = (AccountId::new(id), String::new(), String::new());
            import.put_account(&Account { id, name, email }).await.unwrap();
        }
        import.put_course(&course("c", 7)).await.unwrap();
        import.put_course(&of_other(course("of-other", 7))).await.unwrap();
        import.commit().await.unwrap();
        pair.app.storage.create_key(&replaced, &Actor::OPERATOR).await.unwrap();
        for (path, status) in [LISTS, ONE, ABSENT].into_iter().zip(statuses) {
            assert_eq!(pair.get(path).await.status, status, "{path}, {account}, {scopes}");
        }
    }
}

/// The same, while no course changes: with revisions and without.
#[tokio::test]
async fn a_credential_that_has_changed_alone_is_what_counts() {
    for without_revisions in [false, true] {
        for page_cache in [0, 1 << 20] {
            for (account, scopes, status) in [(OTHER, "read:courses", 200), (OWNER, "read:nothing", 403)] {
                let change = |remote: &mut Remote| remote.without_revisions = without_revisions;
                let pair = Pair::with(change, |builder| builder.page_cache(page_cache)).await;
                for path in [LISTS, ONE] {
                    assert_eq!(pair.get(path).await.status, 200);
                }
                let identity = Identity::api_key(AccountId::new(account), "key", Scopes::from_names([scopes]));
                *pair.remote.identity.lock().unwrap() = Some(identity);
                let changed = pair.get_alone(LISTS).await;
                assert_eq!(changed.status, status);
                assert_eq!(pair.get_alone("/api/v1/courses?limit=1").await.status, status);
                assert_eq!(pair.get_alone(ONE).await.status, status);
                if status == 200 {
                    let other = pair.app.key(OTHER, "read:courses").await;
                    assert_eq!(changed.body, pair.app.get(&other, LISTS).await.body);
                }
            }
        }
    }
}

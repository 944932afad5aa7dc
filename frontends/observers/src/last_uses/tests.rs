//! Which uses are recorded, and what happens to those that cannot be written.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::thread;

use catalogue_core::admin::{Account, NewCredential};
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{Actor, KeyStorage};
use catalogue_sqlite::SqliteStorage;

use super::*;

fn at(microsecond: i64) -> Timestamp {
    Timestamp::from_microseconds(microsecond).unwrap()
}

/// Takes the recorded uses: the credentials' ids, their accounts and the times.
fn take_uses(uses: &LastUses) -> Vec<(Arc<str>, AccountId, Timestamp)> {
    let uses = mem::take(&mut uses.lock().uses).into_values();
    uses.map(|CredentialUse { account, credential_id, at }| (credential_id, account, at)).collect()
}

#[test]
fn latest_time_of_all_threads_is_recorded() {
    let uses = LastUses::default();
    let (id, account) = (Arc::from("key_1"), AccountId::new("a"));
    thread::scope(|scope| {
        for last in [3, 9, 5] {
            let (uses, id, account) = (&uses, &id, &account);
            scope.spawn(move || (0..=last).for_each(|time| uses.record(id, account, at(time))));
        }
    });
    assert_eq!(take_uses(&uses), [(id, account, at(9))]);
    assert_eq!(take_uses(&uses), []);
}

#[test]
fn credentials_beyond_the_maximum_are_counted_as_missed() {
    let (uses, account) = (LastUses::default(), AccountId::new("a"));
    for (time, number) in (0..).zip(0..2 * MAX_CREDENTIALS) {
        uses.record(&format!("key_{number}").into(), &account, at(time));
    }
    uses.record(&"key_0".into(), &account, at(77));
    assert_eq!(uses.lock().missed, MAX_CREDENTIALS as u64);
    let pending = take_uses(&uses);
    assert_eq!(pending.len(), MAX_CREDENTIALS);
    assert!(pending.contains(&("key_0".into(), account.clone(), at(77))));
    uses.record(&"another".into(), &account, at(1));
    assert_eq!(take_uses(&uses).len(), 1);
}

/// A signed token has no stored record that could be updated (decision O20).
#[tokio::test]
async fn signed_token_is_not_recorded() {
    use catalogue_core::Catalogue;
    use catalogue_core::auth::{Identity, Issued, NewToken};
    use catalogue_core::storage::MemoryStorage;

    let uses = Arc::new(LastUses::default());
    let catalogue = Catalogue::with_api_keys(MemoryStorage::new()).observer(Arc::clone(&uses)).build().unwrap();
    let digest = NewToken::mint(catalogue_core::auth::CredentialKind::OAuth).digest();
    let (account, issued) = (AccountId::new("a"), Issued::new("https://id.example.com", None));
    let signed = Identity::issued(account.clone(), &digest, Scopes::default(), issued);
    for caller in [signed, Identity::api_key(account, "key_1", Scopes::default())] {
        catalogue.call_as(caller, http::Request::get("/api/v1/me").body(()).unwrap()).await;
    }
    let pending = take_uses(&uses);
    assert!(pending.len() == 1 && &*pending[0].0 == "key_1", "{pending:?}");
}

#[tokio::test]
async fn failed_write_is_retried_by_next_write() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("catalogue.db");
    let storage: Arc<dyn AdminStorage> = Arc::new(SqliteStorage::open_and_migrate(&path).unwrap());
    let account = AccountId::new("a");
    let mut import = storage.begin_import().await.unwrap();
    let record = Account { id: account.clone(), name: String::new(), email: String::new() };
    import.put_account(&record).await.unwrap();
    import.commit().await.unwrap();
    let (_, key) = NewCredential::api_key(account.clone(), "n", Scopes::default());
    storage.create_key(&key, &Actor::OPERATOR).await.unwrap();

    let uses = Arc::new(LastUses::default());
    let mut writer = Writer { storage: Arc::clone(&storage), uses: Arc::clone(&uses), is_failing: false };
    let last_use =
        async || storage.list_keys(&account, Timestamp::MAX, usize::MAX).await.unwrap().unwrap()[0].last_used_at;
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    uses.record(&key.record.identity.credential_id, &account, at(5));
    for _ in 0..2 {
        writer.write().await;
        assert!(writer.is_failing && uses.lock().uses.len() == 1);
    }
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    assert_eq!(last_use().await, None);
    writer.write().await;
    assert!(!writer.is_failing && uses.lock().uses.is_empty());
    assert_eq!(last_use().await, Some(at(5)));
}

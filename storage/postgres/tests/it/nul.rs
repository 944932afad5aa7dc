//! U+0000 in texts and ids: PostgreSQL cannot store it.

use catalogue_core::admin::{Account, AdminStorage, CredentialUse, NewCredential};
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{
    Actor, CourseStorage, CredentialAction, KeyStorage, SignInStorage, StorageError, StorageErrorKind,
};
use catalogue_core::{AccountId, Course, Timestamp};
use catalogue_storage_tests::database::{at, link};

use crate::schema::Schema;
use crate::{course, items};

#[tokio::test]
async fn nul_is_preserved_in_names_and_actors() {
    let Some((_schema, storage, account)) = Schema::with_course().await else { return };
    let by = Actor::owner_named("a\0b");
    let (_, key) = NewCredential::api_key(account.clone(), "n\0", Scopes::default());
    storage.create_key(&key, &by).await.unwrap();
    for _ in 0..2 {
        let id = &key.record.identity.credential_id;
        let renamed = storage.rename_key(&account, id, "\0\u{fffe}", &by).await.unwrap().unwrap();
        assert_eq!(renamed.name.as_deref(), Some("\0\u{fffe}"));
    }
    let events = storage.list_events(&account, 10).await.unwrap();
    let logged: Vec<_> = events.iter().map(|event| (event.action, event.name.as_deref().unwrap())).collect();
    assert_eq!(logged, [(CredentialAction::KeyRenamed, "\0\u{fffe}"), (CredentialAction::KeyCreated, "n\0")]);
    assert!(events.iter().all(|event| event.actor == by));
}

#[tokio::test]
async fn ids_with_nul_are_rejected_or_not_found() {
    let Some((_schema, storage, existing)) = Schema::with_course().await else { return };
    let (unknown, by) = (AccountId::new("acc\0"), &Actor::OWNER);
    let new_key = |account: &AccountId| NewCredential::api_key(account.clone(), "n", Scopes::default()).1;
    let own_key = new_key(&existing);
    let id = &*own_key.record.identity.credential_id;
    storage.create_key(&own_key, by).await.unwrap();
    let kind = |refused: Result<(), StorageError>| refused.unwrap_err().kind();

    let mut import = storage.begin_import().await.unwrap();
    let account = Account { id: unknown.clone(), name: String::new(), email: String::new() };
    assert_eq!(kind(import.put_account(&account).await.map(|_| ())), StorageErrorKind::InvalidValue);
    let added = import.put_course(&Course { account: unknown.clone(), ..course(&existing) }).await;
    assert_eq!(kind(added.map(|_| ())), StorageErrorKind::UnknownReference);
    assert_eq!(import.creation_time(&existing, "a\0").await.unwrap(), None);
    import.put_course(&course(&existing)).await.unwrap();
    import.commit().await.unwrap();
    assert_eq!(kind(storage.create_key(&new_key(&unknown), by).await), StorageErrorKind::UnknownReference);
    assert_eq!(kind(storage.create_link(&link("acc\0", 1, 0), by).await), StorageErrorKind::UnknownReference);

    for (account, slug, id) in [(&existing, "course\0", "a\0"), (&unknown, "course", id)] {
        assert_eq!(storage.find_course(account, slug).await.unwrap().value, None);
        assert!(!storage.remove_course(account, slug).await.unwrap());
        assert_eq!(storage.rename_key(account, id, "new", by).await.unwrap(), None);
        assert_eq!(storage.revoke_key(account, id, at(1), by).await.unwrap(), None);
        assert_eq!(storage.rotate_key(account, id, at(1), &new_key(account), by).await.unwrap(), None);
        let used = CredentialUse { account: account.clone(), credential_id: id.into(), at: at(1) };
        storage.record_uses(&[used]).await.unwrap();
    }
    assert_eq!(storage.revision(&unknown).await.unwrap(), None);
    assert_eq!(items(&storage, &unknown, &Default::default()).await.unwrap(), []);
    assert_eq!(storage.list_keys(&unknown, Timestamp::MAX, usize::MAX).await.unwrap(), None);
    assert_eq!(storage.list_events(&unknown, 9).await.unwrap(), []);
    assert_eq!(storage.remove_account(&unknown).await.unwrap(), None);
    assert_eq!(storage.end_sign_ins(&unknown, by).await.unwrap(), 0);
    assert_eq!(storage.find_credential_record("\0").await.unwrap(), None);
}

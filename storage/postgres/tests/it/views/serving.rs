//! Accounts that leave their view, and a host application that writes while requests are served.

use std::ops::ControlFlow;

use catalogue_core::admin::{Accounts, AdminStorage, NewCredential};
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{
    Actor, CourseRow, CourseRows, CourseStorage, CredentialStorage, KeyStorage, Limit, PageRequest, SignInStorage,
    StorageErrorKind,
};
use catalogue_core::{AccountId, Catalogue, Timestamp};
use catalogue_postgres::PostgresStorage;
use catalogue_storage_conformance::sample;
use http::Request;

use super::host_app::{HostApp, NUMBERS, TEXTS};
use crate::settings::{at, digest, link, session};
use crate::{items, key_of};

#[tokio::test]
async fn unlisted_account_has_no_courses_but_its_key_stays_valid() {
    let Some(host_app) = HostApp::new(TEXTS).await else { return };
    let host_app = host_app
        .reopened(
            "ALTER TABLE owners ADD gone BOOLEAN NOT NULL DEFAULT FALSE; CREATE OR REPLACE VIEW \
                              catalogue_accounts AS SELECT id FROM owners WHERE NOT gone",
        )
        .await;
    let (storage, account) = (&host_app.storage, AccountId::new("acc"));
    host_app.put_courses(&[sample::course("acc", "course")]).await;
    let (_, key) = NewCredential::api_key(account.clone(), "a key", Scopes::from_names(["read:courses"]));
    storage.create_key(&key, &Actor::OPERATOR).await.unwrap();
    storage.create_link(&link("acc", 1, 0), &Actor::OPERATOR).await.unwrap();
    storage.exchange_link(&digest(1), at(1), &session(2, 1)).await.unwrap().unwrap();
    assert_eq!(items(storage, &account, &PageRequest::default()).await.unwrap().len(), 1);
    host_app.host.batch_execute("UPDATE owners SET gone = TRUE").await.unwrap();
    assert!(storage.find_credential(&key.digest).await.unwrap().is_some());
    assert_eq!(items(storage, &account, &PageRequest::default()).await.unwrap(), []);
    assert_eq!(storage.find_course(&account, "course").await.unwrap().value, None);
    assert_eq!(storage.list_keys(&account, Timestamp::MAX, usize::MAX).await.unwrap(), None);
    assert_eq!(storage.find_session(&digest(2)).await.unwrap(), None);
    let (_, other) = NewCredential::api_key(account.clone(), "another", Scopes::from_names(["read:courses"]));
    let refused = storage.create_key(&other, &Actor::OPERATOR).await.unwrap_err();
    assert_eq!(refused.kind(), StorageErrorKind::UnknownReference);
    let refused = storage.create_link(&link("acc", 3, 0), &Actor::OPERATOR).await.unwrap_err();
    assert_eq!(refused.kind(), StorageErrorKind::UnknownReference);
    // An operator can still list the key, and revoke it.
    for accounts in [Accounts::All, Accounts::Only(std::slice::from_ref(&account))] {
        let mut found = 0;
        let count = &mut |_| {
            found += 1;
            ControlFlow::Continue(())
        };
        storage.visit_credentials(accounts, count).await.unwrap();
        assert_eq!(found, 1);
    }
    let id = &key.record.identity.credential_id;
    storage.revoke_key(&account, id, Timestamp::now(), &Actor::OPERATOR).await.unwrap().unwrap();
}

#[tokio::test]
async fn account_list_counts_courses_and_keys() {
    let Some(host_app) = HostApp::new(TEXTS).await else { return };
    host_app.put_courses(&[sample::course("b", "one"), sample::course("b", "two"), sample::course("B", "one")]).await;
    host_app.owner("a").await;
    key_of(&host_app.storage, &AccountId::new("a")).await;
    let list = async |accounts: Accounts<'_>| {
        let mut found = Vec::new();
        let take = &mut |summary: catalogue_core::admin::AccountSummary| {
            found.push((summary.account.id.to_string(), summary.courses, summary.keys));
            ControlFlow::Continue(())
        };
        host_app.storage.list_accounts(accounts, Timestamp::now(), take).await.unwrap();
        found
    };
    let row = |id: &str, courses, keys| (id.to_owned(), courses, keys);
    assert_eq!(list(Accounts::All).await, [row("B", 1, 0), row("a", 0, 1), row("b", 2, 0)]);
    assert_eq!(list(Accounts::Only(&["b".into(), "c".into()])).await, [row("b", 2, 0)]);
}

/// Returns the body of the response for `key`.
async fn get(catalogue: &Catalogue, path: &str, key: &str) -> String {
    let request = Request::get(path).header("Authorization", format!("Bearer {key}")).body(()).unwrap();
    String::from_utf8(catalogue.call(request).await.into_body().to_vec()).unwrap()
}

#[tokio::test]
async fn response_contains_every_committed_change() {
    for tables in [TEXTS, NUMBERS] {
        let Some(host_app) = HostApp::new(tables).await else { return };
        let account = AccountId::new(host_app.owner("owner").await);
        let key = key_of(&host_app.storage, &account).await;
        host_app.put_courses(&[sample::course(account.as_str(), "course")]).await;
        let catalogue = Catalogue::with_api_keys(host_app.storage.clone()).build().unwrap();
        for round in 0..50 {
            let title = format!("\u{fffe}0 Title of round {round}");
            host_app.host.execute("UPDATE trainings SET name = $1", &[&title]).await.unwrap();
            for path in ["/api/v1/courses", "/api/v1/courses/course"] {
                for _ in 0..2 {
                    // Views have no escaping: the text is served unchanged.
                    let body = get(&catalogue, path, &key).await;
                    assert!(body.contains(&title), "{path}: {body}");
                }
            }
        }
    }
}

/// Returns the slugs of all pages, with seven courses per page.
async fn all_slugs(storage: &PostgresStorage, account: &AccountId) -> Vec<String> {
    let (mut slugs, mut page) = (Vec::new(), PageRequest { limit: Limit::new(7).unwrap(), after: None });
    loop {
        let mut take = |row: CourseRow<'_>| slugs.push(row.slug.to_owned());
        let mut rows = CourseRows::new(page.limit, &mut take);
        storage.list_courses(account, &page, &mut rows).await.unwrap();
        page.after = rows.next();
        if page.after.is_none() {
            return slugs;
        }
    }
}

#[tokio::test]
async fn paging_is_complete_while_host_writes() {
    let Some(host_app) = HostApp::new(NUMBERS).await else { return };
    let account = AccountId::new(host_app.owner("owner").await);
    let lasting: Vec<_> = (0..60).map(|n| sample::course(account.as_str(), &format!("lasting-{n}"))).collect();
    host_app.put_courses(&lasting).await;
    let writer = host_app.schema.host().await;
    let change = async {
        for n in 0..40 {
            let insert = "INSERT INTO trainings (owner, handle, name, subtitle, lang, made_at, is_hidden) \
                          SELECT owner, 'passing-' || $1, 'Title', '', 'en', made_at, FALSE FROM trainings LIMIT 1";
            writer.execute(insert, &[&n.to_string()]).await.unwrap();
            writer.execute("DELETE FROM trainings WHERE handle = $1", &[&format!("passing-{}", n - 5)]).await.unwrap();
        }
    };
    let paging = async {
        for _ in 0..5 {
            let mut found = all_slugs(&host_app.storage, &account).await;
            found.retain(|slug| slug.starts_with("lasting-"));
            found.sort();
            let mut expected: Vec<_> = lasting.iter().map(|course| course.slug.clone()).collect();
            expected.sort();
            assert_eq!(found, expected);
        }
    };
    futures_util::future::join(change, paging).await;
}

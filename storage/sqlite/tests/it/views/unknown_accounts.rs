//! Accounts that are missing from the view of accounts.

use catalogue_core::admin::{Accounts, AdminStorage, NewCredential};
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{Actor, CourseStorage, KeyStorage, StorageErrorKind};
use catalogue_core::{AccountId, Catalogue, Timestamp};
use http::Request;

use super::host_app::{HostApp, Kind, PLAIN};
use super::{anna, two_courses};

#[tokio::test]
async fn credential_of_unlisted_account_still_authenticates() {
    let host_app = HostApp::new(PLAIN);
    host_app.put(&two_courses());
    let token = crate::key_of(&host_app.storage, &anna()).await;
    let catalogue = Catalogue::with_api_keys(host_app.storage.clone()).build().unwrap();
    let get = async |path: &str| {
        let request = Request::get(path).header("authorization", format!("Bearer {token}"));
        let response = catalogue.call(request.body(()).unwrap()).await;
        (response.status().as_u16(), String::from_utf8(response.body().to_vec()).unwrap())
    };
    assert!(get("/api/v1/courses").await.1.contains("second"));
    assert_eq!(get("/api/v1/courses/second").await.0, 200);
    let keys = host_app.storage.list_keys(&anna(), Timestamp::MAX, usize::MAX).await.unwrap().unwrap();
    // The courses stay: only the view of accounts omits the account.
    host_app.execute("DROP VIEW catalogue_accounts; CREATE VIEW catalogue_accounts AS SELECT login AS id FROM people WHERE login <> 'anna'");
    let (status, body) = get("/api/v1/courses").await;
    assert!(status == 200 && body.starts_with(r#"{"data":[]"#), "{body}");
    assert_eq!(get("/api/v1/courses/second").await.0, 404);
    let (status, body) = get("/api/v1/me").await;
    assert!(status == 200 && body.contains("anna"), "{body}");
    // The key can be revoked, but the account cannot get another one.
    assert_eq!(host_app.storage.list_keys(&anna(), Timestamp::MAX, usize::MAX).await.unwrap(), None);
    let (_, another) = NewCredential::api_key(anna(), "another", Scopes::from_names(["read:courses"]));
    let refused = host_app.storage.create_key(&another, &Actor::OPERATOR).await.unwrap_err();
    assert_eq!(refused.kind(), StorageErrorKind::UnknownReference);
    let id = &keys[0].identity.credential_id;
    host_app.storage.revoke_key(&anna(), id, Timestamp::now(), &Actor::OPERATOR).await.unwrap().unwrap();
    assert_eq!(get("/api/v1/me").await.0, 401);
}

/// Revisions need not change when an account leaves the view.
#[tokio::test]
async fn unlisted_account_invalidates_cached_responses() {
    for has_revisions in [false, true] {
        let host_app = HostApp::new(Kind { has_revisions, ..PLAIN });
        host_app.put(&two_courses());
        host_app.execute(
            "CREATE TABLE gone (login TEXT); DROP VIEW catalogue_accounts; CREATE VIEW catalogue_accounts AS
             SELECT login AS id FROM people WHERE login NOT IN (SELECT login FROM gone)",
        );
        let token = crate::key_of(&host_app.storage, &anna()).await;
        let catalogue = Catalogue::with_api_keys(host_app.storage.clone()).build().unwrap();
        let get = async |tag: &str| {
            let request = Request::get("/api/v1/courses").header("authorization", format!("Bearer {token}"));
            catalogue.call(request.header("if-none-match", tag).body(()).unwrap()).await
        };
        let first = get("").await;
        let tag = first.headers()["etag"].to_str().unwrap();
        assert_eq!(get(tag).await.status(), 304);
        host_app.execute("INSERT INTO gone VALUES ('anna')");
        let response = get(tag).await;
        assert!(response.status() == 200 && response.body().starts_with(br#"{"data":[]"#), "{response:?}");
        host_app.execute("DELETE FROM gone");
        assert_eq!(get("").await.body(), first.body());
    }
}

#[tokio::test]
async fn account_list_counts_courses_and_keys() {
    let host_app = HostApp::new(PLAIN);
    host_app.put(&two_courses());
    host_app.put_person("bert");
    crate::key_of(&host_app.storage, &anna()).await;
    let list = async |accounts: Accounts<'_>| {
        let mut found = Vec::new();
        let mut visit = |summary: catalogue_core::admin::AccountSummary| {
            found.push((summary.account.id.to_string(), summary.courses, summary.keys));
            std::ops::ControlFlow::Continue(())
        };
        host_app.storage.list_accounts(accounts, Timestamp::now(), &mut visit).await.unwrap();
        found
    };
    let (anna, bert) = (("anna".to_owned(), 2, 1), ("bert".to_owned(), 0, 0));
    assert_eq!(list(Accounts::All).await, [anna, bert.clone()]);
    assert_eq!(list(Accounts::Only(&[AccountId::new("nobody"), AccountId::new("bert")])).await, [bert]);
}

/// The courses belong to the host application.
#[tokio::test]
async fn course_changes_and_exports_fail_as_unsupported() {
    let host_app = HostApp::new(PLAIN);
    host_app.put(&two_courses());
    let mut visit = |_| std::ops::ControlFlow::Continue(());
    let refused = [
        host_app.storage.begin_import().await.map(|_| ()).unwrap_err(),
        host_app.storage.export(Accounts::All, &mut visit).await.unwrap_err(),
        host_app.storage.remove_account(&anna()).await.unwrap_err(),
        AdminStorage::remove_course(&host_app.storage, &anna(), "first").await.unwrap_err(),
    ];
    for error in refused {
        assert_eq!(error.kind(), StorageErrorKind::Unsupported);
        assert!(error.to_string().contains("belong to another program"), "{error}");
    }
    assert!(host_app.storage.find_course(&anna(), "first").await.unwrap().value.is_some());
}

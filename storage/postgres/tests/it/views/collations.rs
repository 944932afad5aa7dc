//! Views that are recreated, while they are served, with a collation that treats different texts as equal.

use std::ops::ControlFlow;

use catalogue_core::AccountId;
use catalogue_core::admin::{AccountSummary, Accounts, AdminStorage, NewCredential};
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{
    Actor, CourseStorage, CredentialStorage, KeyStorage, PageRequest, Position, SignInStorage,
};
use catalogue_core::{CourseListItem, Timestamp};
use catalogue_storage_conformance::sample;

use super::host_app::{HostApp, TEXTS};
use crate::items;
use crate::settings::{at, digest, link, session};

/// Recreates the views, with account ids and slugs that are compared case-insensitively.
const RECREATE: &str = "
    CREATE COLLATION lax (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    DROP VIEW catalogue_courses, catalogue_modules, catalogue_accounts;
    CREATE VIEW catalogue_accounts AS SELECT id COLLATE lax AS id FROM owners;
    CREATE VIEW catalogue_courses AS
    SELECT owner COLLATE lax AS account_id, handle COLLATE lax AS slug, name AS title, subtitle AS tagline,
        lang AS language, made_at AS created_at, live_at AS published_at, is_hidden AS hidden, access AS access_mode
    FROM trainings;
    CREATE VIEW catalogue_modules AS
    SELECT t.owner COLLATE lax AS account_id, t.handle COLLATE lax AS course_slug, l.place / 10 AS number,
        l.name AS title, l.summary
    FROM lessons AS l JOIN trainings AS t ON t.id = l.training;
    ALTER TABLE catalogue_revisions ALTER account_id TYPE TEXT COLLATE lax;
";

const REVISIONS: &str = "
    CREATE TABLE catalogue_revisions (account_id TEXT NOT NULL, revision UUID NOT NULL);
    INSERT INTO catalogue_revisions VALUES ('SOLO', gen_random_uuid());
";

/// Creates two accounts whose ids differ only by case, and an API key of `solo`.
async fn host_app() -> Option<(HostApp, NewCredential)> {
    let host_app = HostApp::new(TEXTS).await?.reopened(REVISIONS).await;
    host_app.owner("solo").await;
    let course_with = |slug, modules: &[&str]| catalogue_core::Course {
        modules: modules.iter().map(|title| sample::module(title)).collect(),
        ..sample::course("SOLO", slug)
    };
    host_app.put_courses(&[course_with("s", &["One", "Two"]), course_with("S", &["Three"])]).await;
    let (_, key) = NewCredential::api_key(AccountId::new("solo"), "a key", Scopes::from_names(["read:courses"]));
    host_app.storage.create_key(&key, &Actor::OPERATOR).await.unwrap();
    Some((host_app, key))
}

/// Returns slugs and module counts of the first page and of a page after a position in the future.
async fn pages(host_app: &HostApp, account: &AccountId) -> [Vec<(String, u32)>; 2] {
    let first = PageRequest::default();
    let future =
        Position { created_at: Timestamp::from_microseconds(4_000_000_000_000_000).unwrap(), slug: String::new() };
    let later = PageRequest { after: Some(future), ..first.clone() };
    let plain = |item: CourseListItem| (item.slug, item.module_count);
    let page = async |page| items(&host_app.storage, account, page).await.unwrap().into_iter().map(plain).collect();
    [page(&first).await, page(&later).await]
}

#[tokio::test]
async fn courses_of_other_accounts_are_not_returned() {
    let Some((host_app, key)) = host_app().await else { return };
    let (storage, solo, other) = (&host_app.storage, AccountId::new("solo"), AccountId::new("SOLO"));
    for is_recreated in [false, true] {
        if is_recreated {
            host_app.host.batch_execute(RECREATE).await.unwrap();
        }
        assert_eq!(pages(&host_app, &solo).await, [vec![], vec![]], "{is_recreated}");
        let own = vec![("s".to_owned(), 2), ("S".to_owned(), 1)];
        assert_eq!(pages(&host_app, &other).await, [own.clone(), own], "{is_recreated}");
        assert_eq!(storage.find_course(&solo, "s").await.unwrap().value, None, "{is_recreated}");
        for (slug, modules) in [("s", &["One", "Two"][..]), ("S", &["Three"])] {
            let course = storage.find_course(&other, slug).await.unwrap().value.unwrap();
            let titles: Vec<_> = course.modules.iter().map(|module| &*module.title).collect();
            assert_eq!((&*course.slug, &*titles), (slug, modules), "{is_recreated}");
        }
        assert_eq!(storage.revision(&solo).await.unwrap(), None, "{is_recreated}");
        assert_eq!(storage.find_credential(&key.digest).await.unwrap().unwrap().revision, None, "{is_recreated}");
    }
}

#[tokio::test]
async fn accounts_are_compared_by_bytes() {
    let Some((host_app, _)) = host_app().await else { return };
    let (storage, solo) = (&host_app.storage, AccountId::new("solo"));
    storage.create_link(&link("solo", 1, 0), &Actor::OPERATOR).await.unwrap();
    storage.exchange_link(&digest(1), at(1), &session(2, 1)).await.unwrap().unwrap();
    host_app.host.batch_execute(RECREATE).await.unwrap();
    let mut found = Vec::new();
    let take = &mut |summary: AccountSummary| {
        found.push((summary.account.id.to_string(), summary.courses));
        ControlFlow::Continue(())
    };
    storage.list_accounts(Accounts::All, Timestamp::now(), take).await.unwrap();
    storage.list_accounts(Accounts::Only(&["solo".into()]), Timestamp::now(), take).await.unwrap();
    assert_eq!(found, [("SOLO".to_owned(), 2), ("solo".to_owned(), 0), ("solo".to_owned(), 0)]);
    host_app.host.batch_execute("DELETE FROM owners WHERE id = 'solo'").await.unwrap();
    assert_eq!(storage.list_keys(&solo, Timestamp::MAX, usize::MAX).await.unwrap(), None);
    assert_eq!(storage.find_session(&digest(2)).await.unwrap(), None);
}

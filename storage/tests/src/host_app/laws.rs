//! Laws that hold for views in every database.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::slice;

use catalogue_core::admin::{Accounts, AdminStorage, NewCredential};
use catalogue_core::auth::{Scopes, TokenDigest};
use catalogue_core::storage::{
    Actor, CheckedRows, CourseStorage, CredentialStorage, KeyStorage, PageRequest, Position, SignInStorage,
    StorageError, StorageErrorKind, ViewProblem,
};
use catalogue_core::{AccountId, Course, Timestamp};
use catalogue_storage_conformance::sample;

use super::{Client, DETAIL, HostApp, LIST, slugs, summaries, two_courses};
use crate::database::{at, digest, items, key_of, link, session};

/// Creates a test of each law that needs nothing but a host application's tables.
#[macro_export]
macro_rules! host_app_laws {
    ($host_app:ty) => {
        $crate::host_app_laws!($host_app:
            host_commit_is_in_next_response,
            unlisted_account_has_no_courses_but_its_key_stays_valid,
            account_list_counts_courses_and_keys,
            course_changes_and_exports_fail_as_unsupported,
        );
    };
    ($host_app:ty: $($law:ident,)*) => {
        $(
            #[tokio::test]
            async fn $law() {
                $crate::host_app::laws::$law::<$host_app>().await;
            }
        )*
    };
}

/// Every response contains the host application's last commit to each of its tables, unescaped.
pub async fn host_commit_is_in_next_response<H: HostApp>() {
    for kind in H::kinds() {
        let Some(app) = H::new(kind).await else { return };
        let account = app.account("anna").await;
        app.put_courses(&two_courses(&account)).await;
        let client = Client::new(app.storage(), &account).await;
        for number in 0..12 {
            for (path, change) in [
                (LIST, "UPDATE trainings SET name = VALUE"),
                (DETAIL, "UPDATE trainings SET subtitle = VALUE"),
                (DETAIL, "UPDATE lessons SET summary = VALUE WHERE place = 2"),
            ] {
                let tag = client.tag(path).await;
                assert_eq!(client.get(path, &tag).await.status(), 304, "{kind:?}");
                let value = format!("\u{fffe}0 round {number} of {change}");
                app.execute(&change.replace("VALUE", &format!("'{value}'"))).await;
                let next = client.get(path, &tag).await;
                assert_eq!(next.status(), 200, "{kind:?} {change}");
                assert!(String::from_utf8_lossy(next.body()).contains(&value), "{kind:?} {change}");
            }
        }
        app.put_courses(&[sample::course(account.as_str(), "third")]).await;
        assert!(client.text(LIST).await.1.contains("third"), "{kind:?}");
    }
}

/// Creates a session of `account`, and returns its digest.
async fn sign_in(storage: &impl SignInStorage, account: &AccountId) -> TokenDigest {
    storage.create_link(&link(account.as_str(), 1, 0), &Actor::OPERATOR).await.unwrap();
    storage.exchange_link(&digest(1), at(1), &session(2, 1)).await.unwrap().unwrap();
    digest(2)
}

/// An account that its view no longer returns has no courses, whatever is cached, and no sessions. Its keys stay valid until
/// they are revoked, but no key or link can be added.
pub async fn unlisted_account_has_no_courses_but_its_key_stays_valid<H: HostApp>() {
    for kind in [H::PLAIN, H::WITH_REVISIONS] {
        let Some(app) = H::new(kind).await else { return };
        let (storage, account) = (app.storage(), app.account("anna").await);
        app.put_courses(&two_courses(&account)).await;
        let client = Client::new(storage, &account).await;
        let session = sign_in(storage, &account).await;
        let (first, tag) = (client.text(LIST).await, client.tag(LIST).await);
        assert!(first.1.contains("second") && client.get(LIST, &tag).await.status() == 304, "{kind:?}: {first:?}");
        assert_eq!(client.status(DETAIL).await, 200, "{kind:?}");
        app.execute("UPDATE owners SET gone = TRUE").await;
        let response = client.get(LIST, &tag).await;
        assert!(response.status() == 200 && response.body().starts_with(br#"{"data":[]"#), "{kind:?}: {response:?}");
        assert_eq!(client.status(DETAIL).await, 404, "{kind:?}");
        let (status, me) = client.text("/api/v1/me").await;
        assert!(status == 200 && me.contains(account.as_str()), "{kind:?}: {me}");

        assert_eq!(storage.list_keys(&account, Timestamp::MAX, usize::MAX).await.unwrap(), None, "{kind:?}");
        assert_eq!(storage.find_session(&session).await.unwrap(), None, "{kind:?}");
        let (_, other) = NewCredential::api_key(account.clone(), "another", Scopes::from_names(["read:courses"]));
        let key = storage.create_key(&other, &Actor::OPERATOR).await.unwrap_err();
        let link = storage.create_link(&link(account.as_str(), 3, 0), &Actor::OPERATOR).await.unwrap_err();
        assert_eq!([key, link].map(|error| error.kind()), [StorageErrorKind::UnknownReference; 2], "{kind:?}");
        // An operator can still list the key, and revoke it.
        for accounts in [Accounts::All, Accounts::Only(slice::from_ref(&account))] {
            let mut found = 0;
            let count = &mut |_| {
                found += 1;
                ControlFlow::Continue(())
            };
            storage.visit_credentials(accounts, count).await.unwrap();
            assert_eq!(found, 1, "{kind:?}");
        }
        app.execute("UPDATE owners SET gone = FALSE").await;
        assert_eq!(client.text(LIST).await, first, "{kind:?}");
        app.execute("UPDATE owners SET gone = TRUE").await;
        let id = &client.key.record.identity.credential_id;
        storage.revoke_key(&account, id, Timestamp::now(), &Actor::OPERATOR).await.unwrap().unwrap();
        assert_eq!(client.status("/api/v1/me").await, 401, "{kind:?}");
    }
}

/// The list of accounts counts the courses of the views and the catalogue's keys, for all accounts or for the named ones.
pub async fn account_list_counts_courses_and_keys<H: HostApp>() {
    let Some(app) = H::new(H::PLAIN).await else { return };
    app.put_courses(&two_courses(&"b".into())).await;
    app.put_courses(&[sample::course("B", "one")]).await;
    app.execute(&app.insert_owner(&"a".into())).await;
    key_of(app.storage(), &"a".into()).await;
    let row = |id: &str, courses, keys| (id.to_owned(), courses, keys);
    assert_eq!(summaries(app.storage(), Accounts::All).await, [row("B", 1, 0), row("a", 0, 1), row("b", 2, 0)]);
    let named = ["nobody".into(), "b".into()];
    assert_eq!(summaries(app.storage(), Accounts::Only(&named)).await, [row("b", 2, 0)]);
}

/// The courses belong to the host application.
pub async fn course_changes_and_exports_fail_as_unsupported<H: HostApp>() {
    let Some(app) = H::new(H::PLAIN).await else { return };
    let (storage, account) = (app.storage(), AccountId::new("anna"));
    app.put_courses(&two_courses(&account)).await;
    let results: [Result<(), StorageError>; 4] = [
        storage.begin_import().await.map(drop),
        storage.export(Accounts::All, &mut |_| ControlFlow::Continue(())).await,
        storage.remove_account(&account).await.map(drop),
        AdminStorage::remove_course(storage, &account, "first").await.map(drop),
    ];
    for result in results {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), StorageErrorKind::Unsupported);
        assert!(error.to_string().contains("belong to another program"), "{error}");
    }
    assert!(storage.find_course(&account, "first").await.unwrap().value.is_some());
}

/// Accounts and slugs are compared by bytes, even after `recreate` has recreated the views with a collation under which the
/// ids of `accounts` are equal, and slugs that differ by case.
///
/// The kind of the tables has revisions and texts as ids.
pub async fn accounts_are_compared_by_bytes<H: HostApp>(app: &H, accounts: &[&str], recreate: &str) {
    let storage = app.storage();
    let course = |account: &str, slug: &str, modules: &[&str]| Course {
        title: format!("{slug} of {account}"),
        modules: modules.iter().map(|title| sample::module(title)).collect(),
        ..sample::course(account, slug)
    };
    let mut keys = Vec::new();
    for account in accounts {
        let only = format!("only-of-{account}");
        let courses =
            [course(account, "s", &["One", "Two"]), course(account, "S", &[account]), course(account, &only, &[])];
        app.put_courses(&courses).await;
        keys.push(Client::new(storage, &AccountId::new(*account)).await.key);
    }
    let session = sign_in(storage, &AccountId::new(accounts[0])).await;
    let later = Position { created_at: Timestamp::MAX, slug: String::new() };
    for is_recreated in [false, true] {
        if is_recreated {
            app.execute(recreate).await;
        }
        let mut revisions = HashSet::new();
        for (account, key) in accounts.iter().zip(&keys) {
            let about = format!("{account:?}, {is_recreated}");
            let id = AccountId::new(*account);
            let own =
                [("s", 2), (&*format!("only-of-{account}"), 0), ("S", 1)].map(|(slug, count)| (slug.to_owned(), count));
            for after in [None, Some(later.clone())] {
                let page = PageRequest { after, ..PageRequest::default() };
                let found = items(storage, &id, &page).await.unwrap().into_iter();
                assert_eq!(found.map(|item| (item.slug, item.module_count)).collect::<Vec<_>>(), own, "{about}");
            }
            assert_eq!(slugs(storage, &id, 1).await.unwrap(), own.map(|(slug, _)| slug), "{about}");
            for (slug, modules) in [("s", &["One", "Two"][..]), ("S", &[account])] {
                let course = storage.find_course(&id, slug).await.unwrap().value.unwrap();
                let titles: Vec<_> = course.modules.iter().map(|module| &*module.title).collect();
                assert_eq!((course.title, &*titles), (format!("{slug} of {account}"), modules), "{about}");
            }
            for other in accounts.iter().filter(|other| *other != account) {
                let found = storage.find_course(&id, &format!("only-of-{other}")).await.unwrap();
                assert_eq!(found.value, None, "{about}, {other:?}");
            }
            let revision = storage.revision(&id).await.unwrap();
            assert!(revisions.insert(revision.unwrap()), "{about}");
            assert_eq!(storage.find_credential(&key.digest).await.unwrap().unwrap().revision, revision, "{about}");
            let expected = [((*account).to_owned(), 3, 1)];
            assert_eq!(summaries(storage, Accounts::Only(&[id])).await, expected, "{about}");
        }
        for unknown in ["aNNa", "anna   "].map(AccountId::new) {
            assert_eq!(items(storage, &unknown, &PageRequest::default()).await.unwrap(), [], "{unknown}");
            assert_eq!(storage.find_course(&unknown, "s").await.unwrap().value, None, "{unknown}");
            assert_eq!(storage.revision(&unknown).await.unwrap(), None, "{unknown}");
            assert_eq!(storage.list_keys(&unknown, Timestamp::MAX, usize::MAX).await.unwrap(), None, "{unknown}");
        }
    }
    let listed: HashSet<_> = summaries(storage, Accounts::All).await.into_iter().collect();
    assert_eq!(listed, accounts.iter().map(|account| ((*account).to_owned(), 3, 1)).collect());
    let removed = AccountId::new(accounts[0]);
    assert!(storage.find_session(&session).await.unwrap().is_some());
    app.execute(&format!("UPDATE owners SET gone = TRUE WHERE id = {}", app.owner(&removed))).await;
    assert_eq!(storage.list_keys(&removed, Timestamp::MAX, usize::MAX).await.unwrap(), None);
    assert_eq!(storage.find_session(&session).await.unwrap(), None);
}

/// The reads that an invalid row makes fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AffectedReads {
    /// The list of courses.
    List,
    /// The course.
    Detail,
    /// The list of courses and the course.
    Both,
    /// Only the check reports the row.
    Neither,
}

use AffectedReads::{Both, Detail, List, Neither};

/// Change of a valid row, with the key and the problem that are reported, and the reads that fail.
///
/// An update begins with the view, without its prefix `catalogue_`; other changes are whole statements.
pub type InvalidRow = (&'static str, &'static str, &'static str, AffectedReads);

/// Rows that are invalid in every database.
const INVALID_ROWS: [InvalidRow; 22] = [
    ("accounts SET id = NULL", "", "`id` is null", Neither),
    ("courses SET account_id = NULL", "bad", "`account_id` is null", Neither),
    ("courses SET slug = NULL", "acc", "`slug` is null", List),
    ("courses SET slug = ''", "acc", "`slug` is \"\"", List),
    ("courses SET slug = 'a/b'", "acc, a/b", "`slug` is a/b", List),
    ("courses SET slug = 'a\u{85}'", "acc", "`slug` is \"a\\u{85}\"", List),
    ("courses SET slug = replace('**********', '*', 'ééééééééééé')", "éé", "`slug` is \"éé", List),
    ("courses SET title = NULL", "acc, bad", "`title` is null", Both),
    ("courses SET tagline = NULL", "acc, bad", "`tagline` is null", Detail),
    ("courses SET language = NULL", "acc, bad", "`language` is null", Both),
    ("courses SET hidden = NULL", "acc, bad", "`hidden` is null", Both),
    ("courses SET created_at = NULL", "acc, bad", "`created_at` is null", List),
    ("courses SET module_count = -1", "acc, bad", "`module_count` is -1", List),
    ("courses SET module_count = NULL", "acc, bad", "`module_count` is null", List),
    ("courses SET module_count = 5", "acc, bad", "`module_count` is 5, but the course has 2 modules", Neither),
    ("INSERT INTO catalogue_courses SELECT * FROM catalogue_courses", "acc, bad", "a duplicate of this slug", Both),
    ("modules SET title = NULL", "acc, bad", "`title` is null", Detail),
    ("modules SET summary = NULL", "acc, bad", "`summary` is null", Detail),
    ("modules SET number = NULL", "acc, bad", "`number` is null", Detail),
    ("modules SET number = 0", "acc, bad", "number", Detail),
    ("modules SET number = number + 1", "acc, bad", "gaps or duplicates", Detail),
    ("modules SET number = number * 2 - 1", "acc, bad", "gaps or duplicates", Detail),
];

/// Both checks report each invalid row, and only reads that need it fail, with its view and key.
///
/// `tables` creates the loose tables of the database; `rows` are invalid in this database only.
pub async fn invalid_rows_are_reported_and_fail_reads<H: HostApp>(app: &H, tables: &str, rows: &[InvalidRow]) {
    let (storage, account) = (app.storage(), AccountId::new("acc"));
    for (change, key, problem, reads) in INVALID_ROWS.iter().chain(rows).copied() {
        app.execute(&format!("{DROP_TABLES}{tables}")).await;
        assert_eq!(app.problems(CheckedRows::All).await, [], "{change}");
        let view = ["accounts", "modules", "revisions"].into_iter().find(|view| change.contains(view));
        let view = view.unwrap_or("courses");
        let row = match (change.contains(" SET "), view) {
            (false, _) => "account_id = 'acc'",
            (_, "accounts") => "id = 'other'",
            (_, "courses") => "account_id = 'acc' AND slug = 'bad'",
            (_, "modules") => "account_id = 'acc' AND course_slug = 'bad'",
            _ => "account_id = 'acc'",
        };
        let update = if change.contains(" SET ") { "UPDATE catalogue_" } else { "" };
        app.execute(&format!("{update}{change} WHERE {row}")).await;
        let view = format!("catalogue_{view}");
        for rows in [CheckedRows::Sample, CheckedRows::All] {
            let found = app.problems(rows).await;
            let is_this = |found: &ViewProblem| {
                found.key.as_ref().is_some_and(|found| found.contains(key)) && found.problem.contains(problem)
            };
            assert!(found.iter().any(is_this), "{change}: {found:?}");
            let is_expected = |problem: &ViewProblem| problem.view == view && !problem.expected.is_empty();
            assert!(found.iter().all(is_expected), "{change}: {found:?}");
        }
        let is_named = |error: &StorageError| {
            let text = error.to_string();
            error.kind() == StorageErrorKind::Corrupt && text.contains(&view) && text.contains(key)
        };
        let (listed, course) =
            (items(storage, &account, &PageRequest::default()).await, storage.find_course(&account, "bad").await);
        match listed {
            Err(error) => assert!([List, Both].contains(&reads) && is_named(&error), "{change}: {error}"),
            // If a course no longer belongs to the account, the list contains only the other one.
            Ok(items) => {
                let expected = if change.contains("SET account_id") { 1 } else { 2 };
                assert!([Detail, Neither].contains(&reads) && items.len() == expected, "{change}: {items:?}");
            }
        }
        match course {
            Err(error) => assert!([Detail, Both].contains(&reads) && is_named(&error), "{change}: {error}"),
            Ok(_) => assert!([List, Neither].contains(&reads), "{change}"),
        }
        // Responses of other accounts do not change.
        let listed = items(storage, &AccountId::new("other"), &PageRequest::default()).await.unwrap();
        assert_eq!(listed.len(), if view == "catalogue_accounts" { 0 } else { 2 }, "{change}");
    }
}

/// Removes the tables that replace the views.
pub const DROP_TABLES: &str = "DROP TABLE catalogue_accounts; DROP TABLE catalogue_courses; DROP TABLE catalogue_modules; DROP TABLE catalogue_revisions;";

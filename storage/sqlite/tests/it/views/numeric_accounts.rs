//! Accounts that SQLite compares as numbers, or by a collation under which several texts are equal.

use catalogue_core::AccountId;
use catalogue_core::admin::{Accounts, NewCredential};
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{
    Actor, CourseRow, CourseRows, CourseStorage, KeyStorage, Limit, PageRequest, StorageError, StorageErrorKind,
};
use catalogue_storage_tests::database::{items, key_of};
use catalogue_storage_tests::host_app::laws::accounts_are_compared_by_bytes;
use catalogue_storage_tests::host_app::{slugs, summaries};

use super::host_app::{HostApp, PLAIN, WITH_REVISIONS};
use super::with_two_courses;

const COLUMNS: &str = "handle AS slug, name AS title, subtitle AS tagline, lang AS language, made_at AS created_at,
    live_at AS published_at, is_hidden AS hidden, access AS access_mode FROM trainings";

/// Creates courses of `anna`, a view that assigns them to other accounts, and all accounts that could match.
async fn host_app(courses: &[String]) -> HostApp {
    let host_app = with_two_courses(PLAIN).await;
    let arms: Vec<String> =
        courses.iter().map(|account| format!("SELECT {account} AS account_id, {COLUMNS}")).collect();
    host_app.write(&format!(
        "INSERT INTO owners (id, login) VALUES (7, 'seven'); UPDATE trainings SET owner = 7; ALTER TABLE trainings ADD COLUMN real_owner REAL DEFAULT 7;
         DROP VIEW catalogue_accounts; CREATE VIEW catalogue_accounts AS SELECT column1 AS id
             FROM (VALUES ('7'), (' 7'), ('07'), ('7.0'), ('7e0'), ('+7'), ('anna'));
         DROP VIEW catalogue_courses; CREATE VIEW catalogue_courses AS {}",
        arms.join(" UNION ALL ")
    ));
    host_app
}

/// Returns the slugs of all pages of an account, two per page.
async fn all_slugs(host_app: &HostApp, account: &str) -> Result<Vec<String>, StorageError> {
    slugs(&host_app.storage, &AccountId::new(account), 2).await
}

/// Only the digits identify the account, however SQLite compares the columns of several `SELECT`s.
#[tokio::test]
async fn numeric_row_is_served_only_to_its_account() {
    for column in ["owner", "real_owner", "(SELECT owner)"] {
        let text = "CAST(owner AS TEXT)";
        for arms in
            [vec![column], vec!["'anna'", column], vec![column, "'anna'"], vec![text, column], vec![column, text]]
        {
            let host_app = host_app(&arms.iter().map(|arm| (*arm).to_owned()).collect::<Vec<_>>()).await;
            for account in [" 7", "07", "7.0", "7e0", "+7"] {
                match all_slugs(&host_app, account).await {
                    Ok(served) => assert_eq!(served, [""; 0], "{arms:?}, {account:?}"),
                    Err(refused) => assert!(refused.to_string().contains("`account_id` is "), "{arms:?}: {refused}"),
                }
            }
            match all_slugs(&host_app, "7").await {
                Ok(served) if served.len() == 2 => assert_ne!(arms, ["real_owner"]),
                // Numbers in a view of several `SELECT`s equal no account, which the check reports.
                Ok(served) => {
                    assert!(served.is_empty() && arms.len() > 1, "{arms:?}: {served:?}");
                    let problems = super::problems(&host_app).await;
                    assert!(
                        problems.iter().any(|problem| problem.problem.starts_with("`account_id` is ")),
                        "{arms:?}: {problems:?}"
                    );
                }
                Err(refused) => {
                    let what = if arms.contains(&text) { "twice" } else { "`account_id` is a real number" };
                    let is_known = refused.to_string().contains(what) || refused.to_string().contains("a real number");
                    assert!(is_known && (column == "real_owner" || arms.contains(&text)), "{arms:?}: {refused}");
                }
            }
            let anna_count = if arms.contains(&"'anna'") { 2 } else { 0 };
            assert_eq!(all_slugs(&host_app, "anna").await.unwrap().len(), anna_count, "{arms:?}");
        }
    }
}

/// The account column is a foreign key, without a cast in the views.
#[tokio::test]
async fn numeric_accounts_match_only_canonical_digits() {
    let host_app = with_two_courses(WITH_REVISIONS).await;
    host_app.write(&format!(
        "DROP VIEW catalogue_accounts; CREATE VIEW catalogue_accounts AS SELECT id FROM owners; INSERT INTO owners (id, login) VALUES (7, '7');
         UPDATE trainings SET owner = 7; DROP VIEW catalogue_courses; DROP VIEW catalogue_modules; DROP VIEW catalogue_revisions;
         CREATE VIEW catalogue_courses AS SELECT owner AS account_id, {COLUMNS};
         CREATE VIEW catalogue_modules AS SELECT t.owner AS account_id, t.handle AS course_slug, l.place AS number,
             l.name AS title, l.summary AS summary FROM lessons AS l JOIN trainings AS t ON t.id = l.training;
         CREATE VIEW catalogue_revisions AS SELECT owner AS account_id, state AS revision FROM states"
    ));
    assert_eq!(super::problems(&host_app).await, []);
    let seven = AccountId::new("7");
    assert_eq!(all_slugs(&host_app, "7").await.unwrap(), ["second", "first"]);
    assert_eq!(host_app.storage.find_course(&seven, "second").await.unwrap().value.unwrap().modules.len(), 2);
    assert!(host_app.storage.revision(&seven).await.unwrap().is_some());
    key_of(&host_app.storage, &seven).await;
    for account in ["07", " 7", "7.0", "+7", "7e0", "9223372036854775808", "anna", ""] {
        let known = AccountId::new(account);
        assert!(all_slugs(&host_app, account).await.unwrap().is_empty(), "{account:?}");
        assert!(host_app.storage.find_course(&known, "second").await.unwrap().value.is_none(), "{account:?}");
        let (_, key) = NewCredential::api_key(known, "a key", Scopes::from_names(["read:courses"]));
        let refused = host_app.storage.create_key(&key, &Actor::OPERATOR).await.unwrap_err();
        assert_eq!(refused.kind(), StorageErrorKind::UnknownReference, "{account:?}");
    }
    let found = summaries(&host_app.storage, Accounts::Only(&["07".into(), "7".into()])).await;
    assert_eq!(found, [("7".to_owned(), 2, 1)]);
}

/// The view changes after a page was served.
#[tokio::test]
async fn later_page_rejects_real_number_account() {
    let host_app = host_app(&["CAST(owner AS TEXT)".to_owned()]).await;
    let page = PageRequest { limit: Limit::MIN, ..PageRequest::default() };
    let (seven, mut take) = (AccountId::new("7"), |_: CourseRow<'_>| {});
    let mut rows = CourseRows::new(page.limit, &mut take);
    host_app.storage.list_courses(&seven, &page, &mut rows).await.unwrap();
    let page = PageRequest { after: rows.next(), ..page };
    assert!(page.after.is_some());
    host_app.write(&format!(
        "DROP VIEW catalogue_courses; CREATE VIEW catalogue_courses AS SELECT real_owner AS account_id, {COLUMNS}"
    ));
    let refused = items(&host_app.storage, &seven, &page).await.unwrap_err();
    assert!(refused.to_string().contains("`account_id` is a real number"), "{refused}");
}

/// Texts that are equal as numbers are separate accounts.
#[tokio::test]
async fn text_accounts_are_compared_exactly() {
    let accounts = ["7", " 7", "07"];
    let host_app = host_app(&accounts.map(|account| format!("'{account}'"))).await;
    host_app.write("UPDATE trainings SET handle = handle || id");
    for account in accounts {
        assert_eq!(all_slugs(&host_app, account).await.unwrap().len(), 2, "{account:?}");
    }
    let host_app = HostApp::new(WITH_REVISIONS);
    accounts_are_compared_by_bytes(&host_app, &accounts, "").await;
}

#[tokio::test]
async fn collation_never_merges_accounts() {
    for collation in ["NOCASE", "RTRIM"] {
        let host_app = HostApp::new(WITH_REVISIONS);
        let views: Vec<(String, String)> = {
            let writer = host_app.writer();
            let mut statement = writer.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'view'").unwrap();
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            rows.map(Result::unwrap).collect()
        };
        let recreate =
            |(name, view): &(String, String)| format!("DROP VIEW {name}; {};", view.replace("NOCASE", collation));
        let recreate: String = views.iter().map(recreate).collect();
        accounts_are_compared_by_bytes(&host_app, &["anna", "ANNA", "anna ", "anna  "], &recreate).await;
    }
}

/// An account that the views return as a number is identified by its digits.
#[tokio::test]
async fn numeric_account_id_matches_only_its_digits() {
    let host_app = with_two_courses(PLAIN).await;
    host_app.write(&format!(
        "DROP VIEW catalogue_accounts; CREATE VIEW catalogue_accounts AS SELECT id FROM owners; INSERT INTO owners (id, login) VALUES (7, '7');
         DROP VIEW catalogue_courses; CREATE VIEW catalogue_courses AS SELECT '7' AS account_id, {COLUMNS}
             UNION ALL SELECT '07', {COLUMNS}"
    ));
    assert_eq!(all_slugs(&host_app, "7").await.unwrap(), ["second", "first"]);
    assert!(all_slugs(&host_app, "07").await.unwrap().is_empty());
    assert!(host_app.storage.find_course(&AccountId::new("07"), "first").await.unwrap().value.is_none());
}

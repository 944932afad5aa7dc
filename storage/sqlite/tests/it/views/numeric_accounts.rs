//! Accounts that SQLite compares as numbers, or by a collation under which several texts are equal.

use catalogue_core::admin::{AccountSummary, Accounts, AdminStorage, NewCredential};
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{
    Actor, CourseRow, CourseRows, CourseStorage, KeyStorage, Limit, PageRequest, StorageError, StorageErrorKind,
};
use catalogue_core::{AccountId, Timestamp};

use super::host_app::{HostApp, Kind, PLAIN};
use super::two_courses;

const COLUMNS: &str = "handle AS slug, name AS title, subtitle AS tagline, lang AS language, made_at AS created_at,
    live_since AS published_at, is_hidden AS hidden, access AS access_mode FROM trainings";

/// Creates courses of `anna`, a view that assigns them to other accounts, and all accounts that could match.
fn host_app(courses: &[String]) -> HostApp {
    let host_app = HostApp::new(PLAIN);
    host_app.put(&two_courses());
    let arms: Vec<String> =
        courses.iter().map(|account| format!("SELECT {account} AS account_id, {COLUMNS}")).collect();
    host_app.execute(&format!(
        "INSERT INTO people VALUES (7, 'seven'); UPDATE trainings SET person_id = 7; ALTER TABLE trainings ADD COLUMN owner REAL DEFAULT 7;
         DROP VIEW catalogue_accounts; CREATE VIEW catalogue_accounts AS SELECT column1 AS id
             FROM (VALUES ('7'), (' 7'), ('07'), ('7.0'), ('7e0'), ('+7'), ('anna'));
         DROP VIEW catalogue_courses; CREATE VIEW catalogue_courses AS {}",
        arms.join(" UNION ALL ")
    ));
    host_app
}

/// Returns the slugs of all pages of an account, two per page.
async fn all_slugs(host_app: &HostApp, account: &str) -> Result<Vec<String>, StorageError> {
    let mut page = PageRequest { limit: Limit::new(2).unwrap(), ..PageRequest::default() };
    let mut slugs = Vec::new();
    loop {
        let mut take = |row: CourseRow<'_>| slugs.push(row.slug.to_owned());
        let mut rows = CourseRows::new(page.limit, &mut take);
        host_app.storage.list_courses(&AccountId::new(account), &page, &mut rows).await?;
        page.after = rows.next();
        if page.after.is_none() {
            return Ok(slugs);
        }
    }
}

/// Only the digits identify the account, however SQLite compares the columns of several `SELECT`s.
#[tokio::test]
async fn numeric_row_is_served_only_to_its_account() {
    for column in ["person_id", "owner", "(SELECT person_id)"] {
        let text = "CAST(person_id AS TEXT)";
        for arms in
            [vec![column], vec!["'anna'", column], vec![column, "'anna'"], vec![text, column], vec![column, text]]
        {
            let host_app = host_app(&arms.iter().map(|arm| (*arm).to_owned()).collect::<Vec<_>>());
            for account in [" 7", "07", "7.0", "7e0", "+7"] {
                match all_slugs(&host_app, account).await {
                    Ok(served) => assert_eq!(served, [""; 0], "{arms:?}, {account:?}"),
                    Err(refused) => assert!(refused.to_string().contains("`account_id` is "), "{arms:?}: {refused}"),
                }
            }
            match all_slugs(&host_app, "7").await {
                Ok(served) if served.len() == 2 => assert_ne!(arms, ["owner"]),
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
                    assert!(is_known && (column == "owner" || arms.contains(&text)), "{arms:?}: {refused}");
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
    let host_app = HostApp::new(Kind { has_revisions: true, ..PLAIN });
    host_app.put(&two_courses());
    host_app.execute(&format!(
        "DROP VIEW catalogue_accounts; CREATE VIEW catalogue_accounts AS SELECT id FROM people; INSERT INTO people VALUES (7, '7');
         UPDATE trainings SET person_id = 7; DROP VIEW catalogue_courses; DROP VIEW catalogue_modules; DROP VIEW catalogue_revisions;
         CREATE VIEW catalogue_courses AS SELECT person_id AS account_id, {COLUMNS};
         CREATE VIEW catalogue_modules AS SELECT t.person_id AS account_id, t.handle AS course_slug, l.place AS number,
             l.heading AS title, l.abstract AS summary FROM lessons AS l JOIN trainings AS t ON t.id = l.training_id;
         CREATE VIEW catalogue_revisions AS SELECT person_id AS account_id, state AS revision FROM states"
    ));
    assert_eq!(super::problems(&host_app).await, []);
    let seven = AccountId::new("7");
    assert_eq!(all_slugs(&host_app, "7").await.unwrap(), ["second", "first"]);
    assert_eq!(host_app.storage.find_course(&seven, "second").await.unwrap().value.unwrap().modules.len(), 2);
    assert!(host_app.storage.revision(&seven).await.unwrap().is_some());
    crate::key_of(&host_app.storage, &seven).await;
    for account in ["07", " 7", "7.0", "+7", "7e0", "9223372036854775808", "anna", ""] {
        let known = AccountId::new(account);
        assert!(all_slugs(&host_app, account).await.unwrap().is_empty(), "{account:?}");
        assert!(host_app.storage.find_course(&known, "second").await.unwrap().value.is_none(), "{account:?}");
        let (_, key) = NewCredential::api_key(known, "a key", Scopes::from_names(["read:courses"]));
        let refused = host_app.storage.create_key(&key, &Actor::OPERATOR).await.unwrap_err();
        assert_eq!(refused.kind(), StorageErrorKind::UnknownReference, "{account:?}");
    }
    let mut found = Vec::new();
    let take = &mut |summary: AccountSummary| {
        found.push((summary.account.id.to_string(), summary.courses, summary.keys));
        std::ops::ControlFlow::Continue(())
    };
    host_app.storage.list_accounts(Accounts::Only(&["07".into(), "7".into()]), Timestamp::now(), take).await.unwrap();
    assert_eq!(found, [("7".to_owned(), 2, 1)]);
}

/// The view changes after a page was served.
#[tokio::test]
async fn later_page_rejects_real_number_account() {
    let host_app = host_app(&["CAST(person_id AS TEXT)".to_owned()]);
    let page = PageRequest { limit: Limit::MIN, ..PageRequest::default() };
    let (seven, mut take) = (AccountId::new("7"), |_: CourseRow<'_>| {});
    let mut rows = CourseRows::new(page.limit, &mut take);
    host_app.storage.list_courses(&seven, &page, &mut rows).await.unwrap();
    let page = PageRequest { after: rows.next(), ..page };
    assert!(page.after.is_some());
    host_app.execute(&format!(
        "DROP VIEW catalogue_courses; CREATE VIEW catalogue_courses AS SELECT owner AS account_id, {COLUMNS}"
    ));
    let refused = crate::items(&host_app.storage, &seven, &page).await.unwrap_err();
    assert!(refused.to_string().contains("`account_id` is a real number"), "{refused}");
}

/// Texts that are equal as numbers are separate accounts.
#[tokio::test]
async fn text_accounts_are_compared_exactly() {
    let accounts = ["7", " 7", "07"];
    let host_app = host_app(&accounts.map(|account| format!("'{account}'")));
    host_app.execute("UPDATE trainings SET handle = handle || id");
    for account in accounts {
        assert_eq!(all_slugs(&host_app, account).await.unwrap().len(), 2, "{account:?}");
    }
    let another = HostApp::new(PLAIN);
    another.put(&two_courses());
    for (account, name) in [("7", "anna"), (" 7", "ben")] {
        another.put(&two_courses().map(|course| catalogue_core::Course { account: AccountId::new(name), ..course }));
        another.execute(&format!("UPDATE people SET login = '{account}' WHERE login = '{name}'"));
        another
            .execute(&format!("UPDATE trainings SET handle = handle || '-of-{name}' WHERE handle NOT LIKE '%-of-%'"));
    }
    assert_eq!(all_slugs(&another, "7").await.unwrap(), ["second-of-anna", "first-of-anna"]);
    assert_eq!(all_slugs(&another, " 7").await.unwrap(), ["second-of-ben", "first-of-ben"]);
}

/// For each collation, an account gets only its own rows in lists, details and revisions.
#[tokio::test]
async fn collation_never_merges_accounts() {
    let accounts = ["anna", "ANNA", "anna ", "anna  "];
    for collation in ["NOCASE", "RTRIM"] {
        let host_app = HostApp::new(Kind { has_revisions: true, ..PLAIN });
        for (number, account) in accounts.iter().enumerate() {
            let id = number + 1;
            host_app.execute(&format!(
                "INSERT INTO people VALUES ({id}, '{account}'); INSERT INTO trainings
                 VALUES ({id}, {id}, 'own', 'of {account}', '', 'en', {id}, NULL, 0, NULL), ({id}0, {id}, 'only-of-{id}', '', '', 'en', {id}, NULL, 0, NULL)"
            ));
        }
        let views: Vec<String> = {
            let writer = host_app.writer();
            let mut statement = writer.prepare("SELECT sql FROM sqlite_schema WHERE type = 'view'").unwrap();
            let rows = statement.query_map([], |row| row.get(0)).unwrap();
            rows.map(Result::unwrap).collect()
        };
        for view in views {
            let name = view.split_whitespace().nth(2).unwrap().to_owned();
            host_app.execute(&format!("DROP VIEW {name}; {}", view.replace("NOCASE", collation)));
        }
        let mut revisions = std::collections::HashSet::new();
        for (id, account) in (1..).zip(accounts) {
            let known = AccountId::new(account);
            let mut expected = vec!["own".to_owned(), format!("only-of-{id}")];
            expected.sort_by(|one, other| other.cmp(one));
            assert_eq!(all_slugs(&host_app, account).await.unwrap(), expected, "{collation} {account:?}");
            let detail = host_app.storage.find_course(&known, "own").await.unwrap().value.unwrap();
            assert_eq!(detail.title, format!("of {account}"), "{collation}");
            let another = format!("only-of-{}", id % 4 + 1);
            assert!(
                host_app.storage.find_course(&known, &another).await.unwrap().value.is_none(),
                "{collation} {account:?}"
            );
            assert!(
                revisions.insert(host_app.storage.revision(&known).await.unwrap().unwrap()),
                "{collation} {account:?}"
            );
        }
        for unknown in ["Anna", "anna   "] {
            assert!(all_slugs(&host_app, unknown).await.unwrap().is_empty(), "{collation} {unknown:?}");
        }
    }
}

/// An account that the views return as a number is identified by its digits.
#[tokio::test]
async fn numeric_account_id_matches_only_its_digits() {
    let host_app = HostApp::new(PLAIN);
    host_app.put(&two_courses());
    host_app.execute(&format!(
        "DROP VIEW catalogue_accounts; CREATE VIEW catalogue_accounts AS SELECT id FROM people; INSERT INTO people VALUES (7, '7');
         DROP VIEW catalogue_courses; CREATE VIEW catalogue_courses AS SELECT '7' AS account_id, {COLUMNS}
             UNION ALL SELECT '07', {COLUMNS}"
    ));
    assert_eq!(all_slugs(&host_app, "7").await.unwrap(), ["second", "first"]);
    assert!(all_slugs(&host_app, "07").await.unwrap().is_empty());
    assert!(host_app.storage.find_course(&AccountId::new("07"), "first").await.unwrap().value.is_none());
}

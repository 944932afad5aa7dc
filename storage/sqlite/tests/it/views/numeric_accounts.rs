//! Accounts that SQLite compares as numbers, or by a collation that takes several texts for the same.

use catalogue_core::AccountId;
use catalogue_core::storage::{CourseRow, CourseRows, CourseStorage, Limit, PageRequest, StorageError};

use super::team::{Kind, PLAIN, Team};
use super::two_courses;

const COLUMNS: &str = "handle AS slug, name AS title, subtitle AS tagline, lang AS language, made_at AS created_at,
    live_since AS published_at, is_hidden AS hidden, access AS access_mode FROM trainings";

/// The courses of `anna`, over a view that has them of other accounts, and all accounts that could be meant.
fn team(courses: &[String]) -> Team {
    let team = Team::new(PLAIN);
    team.put(&two_courses());
    let arms: Vec<String> =
        courses.iter().map(|account| format!("SELECT {account} AS account_id, {COLUMNS}")).collect();
    team.execute(&format!(
        "INSERT INTO people VALUES (7, 'seven'); UPDATE trainings SET person_id = 7; ALTER TABLE trainings ADD COLUMN owner REAL DEFAULT 7;
         DROP VIEW catalogue_accounts; CREATE VIEW catalogue_accounts AS SELECT column1 AS id
             FROM (VALUES ('7'), (' 7'), ('07'), ('7.0'), ('7e0'), ('+7'), ('anna'));
         DROP VIEW catalogue_courses; CREATE VIEW catalogue_courses AS {}",
        arms.join(" UNION ALL ")
    ));
    team
}

/// The slugs of all pages of an account, two at a time.
async fn walk(team: &Team, account: &str) -> Result<Vec<String>, StorageError> {
    let mut page = PageRequest { limit: Limit::new(2).unwrap(), ..PageRequest::default() };
    let mut slugs = Vec::new();
    loop {
        let mut take = |row: CourseRow<'_>| slugs.push(row.slug.to_owned());
        let mut rows = CourseRows::new(page.limit, &mut take);
        team.storage.list_courses(&AccountId::new(account), &page, &mut rows).await?;
        page.after = rows.next();
        if page.after.is_none() {
            return Ok(slugs);
        }
    }
}

/// Refused where it is found, which is up to how SQLite compares columns of several `SELECT`s.
#[tokio::test]
async fn a_row_of_a_number_is_never_served() {
    for column in ["person_id", "owner", "(SELECT person_id)"] {
        let text = "CAST(person_id AS TEXT)";
        for arms in
            [vec![column], vec!["'anna'", column], vec![column, "'anna'"], vec![text, column], vec![column, text]]
        {
            let team = team(&arms.iter().map(|arm| (*arm).to_owned()).collect::<Vec<_>>());
            for account in ["7", " 7", "07", "7.0", "7e0", "+7"] {
                let of_it = if arms.contains(&text) && account == "7" { 2 } else { 0 };
                match walk(&team, account).await {
                    Ok(served) => {
                        assert_eq!(served.len(), of_it, "{arms:?}, {account:?}");
                        assert!(arms.len() > 1 || column.starts_with('('), "{arms:?}, {account:?}");
                    }
                    Err(refused) => {
                        let what = if column == "owner" { "is a real number" } else { "is an integer" };
                        assert!(refused.to_string().contains(&format!("`account_id` {what}")), "{arms:?}: {refused}");
                    }
                }
            }
            let of_anna = if arms.contains(&"'anna'") { 2 } else { 0 };
            assert_eq!(walk(&team, "anna").await.unwrap().len(), of_anna, "{arms:?}");
        }
    }
}

/// Also after a page that was served.
#[tokio::test]
async fn a_later_page_does_not_serve_one_either() {
    let team = team(&["CAST(person_id AS TEXT)".to_owned()]);
    let page = PageRequest { limit: Limit::MIN, ..PageRequest::default() };
    let (seven, mut take) = (AccountId::new("7"), |_: CourseRow<'_>| {});
    let mut rows = CourseRows::new(page.limit, &mut take);
    team.storage.list_courses(&seven, &page, &mut rows).await.unwrap();
    let page = PageRequest { after: rows.next(), ..page };
    assert!(page.after.is_some());
    team.execute(&format!(
        "DROP VIEW catalogue_courses; CREATE VIEW catalogue_courses AS SELECT person_id AS account_id, {COLUMNS}"
    ));
    let refused = crate::items(&team.storage, &seven, &page).await.unwrap_err();
    assert!(refused.to_string().contains("`account_id` is an integer"), "{refused}");
}

/// Texts that are the same number are several accounts.
#[tokio::test]
async fn texts_are_served_of_the_very_account() {
    let accounts = ["7", " 7", "07"];
    let team = team(&accounts.map(|account| format!("'{account}'")));
    team.execute("UPDATE trainings SET handle = handle || id");
    for account in accounts {
        assert_eq!(walk(&team, account).await.unwrap().len(), 2, "{account:?}");
    }
    let another = Team::new(PLAIN);
    another.put(&two_courses());
    for (account, name) in [("7", "anna"), (" 7", "ben")] {
        another.put(&two_courses().map(|course| catalogue_core::Course { account: AccountId::new(name), ..course }));
        another.execute(&format!("UPDATE people SET login = '{account}' WHERE login = '{name}'"));
        another
            .execute(&format!("UPDATE trainings SET handle = handle || '-of-{name}' WHERE handle NOT LIKE '%-of-%'"));
    }
    assert_eq!(walk(&another, "7").await.unwrap(), ["second-of-anna", "first-of-anna"]);
    assert_eq!(walk(&another, " 7").await.unwrap(), ["second-of-ben", "first-of-ben"]);
}

/// Whatever the columns' collation, each account is served its own rows in lists, details and revisions.
#[tokio::test]
async fn texts_that_a_collation_takes_for_the_same_are_several_accounts() {
    let accounts = ["anna", "ANNA", "anna ", "anna  "];
    for collation in ["NOCASE", "RTRIM"] {
        let team = Team::new(Kind { has_revisions: true, ..PLAIN });
        for (number, account) in accounts.iter().enumerate() {
            let id = number + 1;
            team.execute(&format!(
                "INSERT INTO people VALUES ({id}, '{account}'); INSERT INTO trainings
                 VALUES ({id}, {id}, 'own', 'of {account}', '', 'en', {id}, NULL, 0, NULL), ({id}0, {id}, 'only-of-{id}', '', '', 'en', {id}, NULL, 0, NULL)"
            ));
        }
        let views: Vec<String> = {
            let writer = team.writer();
            let mut statement = writer.prepare("SELECT sql FROM sqlite_schema WHERE type = 'view'").unwrap();
            let rows = statement.query_map([], |row| row.get(0)).unwrap();
            rows.map(Result::unwrap).collect()
        };
        for view in views {
            let name = view.split_whitespace().nth(2).unwrap().to_owned();
            team.execute(&format!("DROP VIEW {name}; {}", view.replace("NOCASE", collation)));
        }
        let mut revisions = std::collections::HashSet::new();
        for (id, account) in (1..).zip(accounts) {
            let known = AccountId::new(account);
            let mut expected = vec!["own".to_owned(), format!("only-of-{id}")];
            expected.sort_by(|one, other| other.cmp(one));
            assert_eq!(walk(&team, account).await.unwrap(), expected, "{collation} {account:?}");
            let detail = team.storage.find_course(&known, "own").await.unwrap().value.unwrap();
            assert_eq!(detail.title, format!("of {account}"), "{collation}");
            let another = format!("only-of-{}", id % 4 + 1);
            assert!(
                team.storage.find_course(&known, &another).await.unwrap().value.is_none(),
                "{collation} {account:?}"
            );
            assert!(revisions.insert(team.storage.revision(&known).await.unwrap().unwrap()), "{collation} {account:?}");
        }
        for unknown in ["Anna", "anna   "] {
            assert!(walk(&team, unknown).await.unwrap().is_empty(), "{collation} {unknown:?}");
        }
    }
}

/// An account that the views name as a number is the one whose digits it has.
#[tokio::test]
async fn number_among_the_accounts_is_known_by_its_digits_only() {
    let team = Team::new(PLAIN);
    team.put(&two_courses());
    team.execute(&format!(
        "DROP VIEW catalogue_accounts; CREATE VIEW catalogue_accounts AS SELECT id FROM people; INSERT INTO people VALUES (7, '7');
         DROP VIEW catalogue_courses; CREATE VIEW catalogue_courses AS SELECT '7' AS account_id, {COLUMNS}
             UNION ALL SELECT '07', {COLUMNS}"
    ));
    assert_eq!(walk(&team, "7").await.unwrap(), ["second", "first"]);
    assert!(walk(&team, "07").await.unwrap().is_empty());
    assert!(team.storage.find_course(&AccountId::new("07"), "first").await.unwrap().value.is_none());
}

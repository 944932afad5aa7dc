//! A removed account leaves no data in the database files.

use std::fs;

use catalogue_core::admin::{Account, AdminStorage, NewCredential};
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{Actor, KeyStorage, PageRequest, SignInStorage};
use catalogue_core::{AccountId, Course, CourseModule};
use catalogue_sqlite::SqliteStorage;
use catalogue_storage_conformance::sample;
use catalogue_storage_tests::database::{digest, link};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::{database_in, fixture, items};

const ACCOUNTS: usize = 12;
const COURSES: usize = 60;

/// Returns the prefix of all texts of an account, by which they are found in the files.
fn mark(account: usize) -> String {
    format!("mark-of-{account:02}")
}

fn id(account: usize) -> AccountId {
    AccountId::new(format!("acc_{account:02}"))
}

/// Imports many courses in an order that mixes the accounts' rows and bodies, so that pages are split and joined.
async fn import(storage: &SqliteStorage, round: usize) {
    let mut import = storage.begin_import().await.unwrap();
    for number in 0..ACCOUNTS {
        let (id, mark) = (id(number), mark(number));
        let account = Account { id, name: format!("{mark} name {round}"), email: format!("{mark}@example.org") };
        import.put_account(&account).await.unwrap();
    }
    for step in 0..ACCOUNTS * COURSES {
        let at = step * 457 % (ACCOUNTS * COURSES);
        let (account, number) = (at / COURSES, at % COURSES);
        let mark = mark(account);
        let body = format!("{mark} body {round}.").repeat(1 + number * 37 * (round + 1) % 300);
        let module = CourseModule { content: body, ..sample::module(&format!("{mark} module {number}")) };
        let course = Course {
            title: format!("{mark} title {round}"),
            created_at: sample::time((number * 7919 % 61) as i64),
            modules: vec![module; 3],
            ..sample::course(id(account).as_str(), &format!("{mark}-course-{number}"))
        };
        import.put_course(&course).await.unwrap();
    }
    import.commit().await.unwrap();
}

/// Counts the occurrences of `searched` in all files of the directory.
fn occurrences(directory: &TempDir, searched: impl AsRef<[u8]>) -> usize {
    let searched = searched.as_ref();
    let files = fs::read_dir(directory.path()).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
    files.map(|bytes| bytes.windows(searched.len()).filter(|window| *window == searched).count()).sum()
}

#[tokio::test]
async fn removed_account_leaves_no_bytes_in_files() {
    let (storage, directory) = fixture().await;
    for round in 0..3 {
        import(&storage, round).await;
    }
    for number in 0..ACCOUNTS {
        let name = format!("{} key", mark(number));
        let (_, key) = NewCredential::api_key(id(number), name, Scopes::default());
        storage.create_key(&key, &Actor::owner_named(&mark(number))).await.unwrap();
        let link = link(id(number).as_str(), number as u8 + 100, 0);
        storage.create_link(&link, &Actor::OPERATOR).await.unwrap();
    }
    // Modules and bodies that belong to no course.
    let host = Connection::open(database_in(&directory)).unwrap();
    for sql in [
        "INSERT INTO modules VALUES ('acc_07', 'none', 1, 'mark-of-07 orphan', '')",
        "INSERT INTO module_contents VALUES ('acc_07', 'nowhere', 1, 'mark-of-07 orphan')",
    ] {
        host.execute(sql, []).unwrap();
    }
    // Open a connection, as a server does.
    assert_eq!(items(&storage, &id(7), &PageRequest::default()).await.unwrap().len(), 50);
    let removed_texts = [mark(7), id(7).as_str().to_owned()];
    assert!(removed_texts.iter().all(|text| occurrences(&directory, text) > COURSES));
    let digests = |number: u8| occurrences(&directory, digest(number + 100).as_bytes());
    assert!(digests(7) > 0 && digests(8) > 0);

    let removed = storage.remove_account(&id(7)).await.unwrap().unwrap();
    assert_eq!((removed.courses, removed.modules, removed.keys, removed.tokens), (60, 181, 1, 0));
    assert_eq!(removed.remains, None);
    for text in removed_texts {
        assert_eq!(occurrences(&directory, &text), 0, "{text}");
    }
    assert!(digests(7) == 0 && digests(8) > 0);
    for account in [7, 8].map(id) {
        let events = storage.list_events(&account, 9).await.unwrap();
        assert_eq!(events.len(), if account == id(7) { 0 } else { 2 });
    }
    for other in (0..ACCOUNTS).filter(|number| *number != 7) {
        assert!(occurrences(&directory, mark(other)) > COURSES, "{other}");
        assert_eq!(items(&storage, &id(other), &PageRequest::default()).await.unwrap().len(), 50);
    }
}

#[tokio::test]
async fn account_is_removed_from_memory_database() {
    let storage = SqliteStorage::in_memory().unwrap();
    import(&storage, 0).await;
    let removed = storage.remove_account(&id(7)).await.unwrap().unwrap();
    assert_eq!((removed.courses, removed.remains), (60, None));
    assert!(items(&storage, &id(7), &PageRequest::default()).await.unwrap().is_empty());
    assert_eq!(items(&storage, &id(8), &PageRequest::default()).await.unwrap().len(), 50);
}

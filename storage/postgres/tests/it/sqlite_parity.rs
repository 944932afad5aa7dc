//! Response bodies: with equal data, those of PostgreSQL and SQLite are equal byte for byte at every limit.

use std::ops::ControlFlow;

use catalogue_core::admin::{Account, Accounts, AdminStorage, CredentialUse, NewCredential, Record};
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{Actor, CourseStorage, CredentialStorage, KeyStorage, SignInStorage, StorageErrorKind};
use catalogue_core::{AccountId, Catalogue, Course, CourseModule, Timestamp};
use catalogue_postgres::PostgresStorage;
use catalogue_sqlite::SqliteStorage;
use catalogue_storage_conformance::sample;
use http::Request;

use crate::schema::Schema;

/// Texts that encodings or collations often change. All are valid slugs.
const TEXTS: [&str; 17] = [
    "a",
    "A",
    "á",
    "a\u{301}",
    "aa",
    "a-b",
    "a b",
    "ab",
    "ä",
    "z",
    "Z",
    "ß",
    "ss",
    "\u{1f917}",
    "\u{ffff}",
    " a",
    "a\\'\"",
];

fn id(text: &str) -> AccountId {
    AccountId::new(text)
}

/// Returns courses of three accounts, whose creation times have ties.
fn courses() -> Vec<Course> {
    let mut courses = Vec::new();
    for account in ["acc", "Acc", "acc "] {
        for (index, text) in (0..).zip(TEXTS) {
            let at = [Timestamp::MIN, Timestamp::MAX, time(0), time(1), time(999), time(-1)][index % 6];
            let modules = (0..index % 4).map(|number| CourseModule {
                title: format!("{text} {number}"),
                summary: "line\nline\t\u{1}\u{7f}\u{85}".to_owned(),
                content: "x".repeat(number),
            });
            courses.push(Course {
                title: format!("{account}: {text} \u{2028}<&>"),
                tagline: text.repeat(index),
                language: if index % 2 == 0 { "en" } else { "pt-BR" }.to_owned(),
                created_at: at,
                published_at: (index % 3 > 0).then_some(at),
                hidden: index % 5 == 0,
                access_mode: [None, Some(""), Some("paid")][index % 3].map(str::to_owned),
                modules: modules.collect(),
                ..sample::course(account, text)
            });
        }
    }
    courses
}

fn time(microseconds: i64) -> Timestamp {
    Timestamp::from_microseconds(1_767_323_045_000_000 + microseconds).unwrap()
}

async fn fill(storage: &impl AdminStorage, credential: &NewCredential) {
    let mut import = storage.begin_import().await.unwrap();
    for account in ["acc", "Acc", "acc ", ""] {
        let account = Account { id: id(account), name: "Ä".to_owned(), email: String::new() };
        import.put_account(&account).await.unwrap();
    }
    for course in courses() {
        import.put_course(&course).await.unwrap();
    }
    import.commit().await.unwrap();
    storage.create_key(credential, &Actor::OPERATOR).await.unwrap();
}

async fn exported(storage: &impl AdminStorage) -> Vec<Record> {
    let mut records = Vec::new();
    let mut visit = |record| {
        records.push(record);
        ControlFlow::Continue(())
    };
    storage.export(Accounts::All, &mut visit).await.unwrap();
    records
}

/// Gets `path` and returns status and body.
async fn get(catalogue: &Catalogue, token: &str, path: &str) -> (u16, String) {
    let request = Request::get(path).header("authorization", format!("Bearer {token}")).header("x-request-id", "same");
    let response = catalogue.call(request.body(()).unwrap()).await;
    (response.status().as_u16(), String::from_utf8(response.body().to_vec()).unwrap())
}

fn catalogue(storage: impl CourseStorage + CredentialStorage + Clone) -> Catalogue {
    Catalogue::with_api_keys(storage).build().unwrap()
}

#[tokio::test]
async fn bodies_equal_those_of_sqlite_at_every_limit() {
    let Some(schema) = Schema::new().await else { return };
    assert_same_bodies(schema.storage().await).await;
}

/// Fills the empty storage `postgres`, and asserts that it responds as SQLite does.
pub(crate) async fn assert_same_bodies(postgres: PostgresStorage) {
    let sqlite = SqliteStorage::in_memory().unwrap();
    let scopes = Scopes::from_names(["read:courses zebra"]);
    let (token, credential) = NewCredential::api_key(id("acc"), "a key", scopes);
    fill(&postgres, &credential).await;
    fill(&sqlite, &credential).await;
    assert_eq!(exported(&postgres).await, exported(&sqlite).await);

    let catalogues = [catalogue(postgres), catalogue(sqlite)];
    let same = async |path: &str| {
        let [one, other] = [&catalogues[0], &catalogues[1]].map(|catalogue| get(catalogue, token.expose(), path));
        let (one, other) = (one.await, other.await);
        assert_eq!(one, other, "{path}");
        one
    };
    assert_eq!(same("/api/v1/me").await.0, 200);
    for limit in 1..=20 {
        let mut path = format!("/api/v1/courses?limit={limit}");
        let mut pages = 0;
        loop {
            let (status, body) = same(&path).await;
            assert_eq!(status, 200, "{body}");
            pages += 1;
            let Some((_, cursor)) = body.split_once("\"nextCursor\":\"") else { break };
            path = format!("/api/v1/courses?limit={limit}&cursor={}", cursor.split_once('"').unwrap().0);
        }
        assert_eq!(pages, TEXTS.len().div_ceil(limit), "at limit {limit}");
    }
    for slug in TEXTS.into_iter().chain(["absent", "AA", "a\u{0}", "a/b"]) {
        let escaped: String = slug.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let expected = if TEXTS.contains(&slug) { 200 } else { 404 };
        assert_eq!(same(&format!("/api/v1/courses/{escaped}")).await.0, expected, "{slug:?}");
    }
}

#[tokio::test]
async fn ids_with_nul_are_rejected_or_not_found() {
    let Some(schema) = Schema::new().await else { return };
    let storage = schema.storage().await;
    let account = Account { id: id("acc"), name: String::new(), email: String::new() };
    let plain = crate::course(&account.id);
    let mut import = storage.begin_import().await.unwrap();
    let kind = |refused: Result<_, catalogue_core::storage::StorageError>| refused.map_err(|error| error.kind());
    let refused = import.put_account(&Account { id: id("a\0"), ..account.clone() }).await;
    assert_eq!(kind(refused), Err(StorageErrorKind::InvalidValue));
    import.put_account(&account).await.unwrap();
    let other_account = Course { account: id("a\0"), ..plain.clone() };
    assert_eq!(kind(import.put_course(&other_account).await), Err(StorageErrorKind::UnknownReference));
    assert_eq!(import.creation_time(&id("acc"), "a\0").await.unwrap(), None);
    import.put_course(&plain).await.unwrap();
    import.commit().await.unwrap();

    let (unknown, existing, by, at) = (id("acc\0"), &account.id, &Actor::OWNER, Timestamp::MIN);
    for (account, slug) in [(existing, "course\0"), (&unknown, "course")] {
        assert_eq!(storage.find_course(account, slug).await.unwrap().value, None);
        assert!(!storage.remove_course(account, slug).await.unwrap());
        assert_eq!(storage.rename_key(account, slug, "new", by).await.unwrap(), None);
        assert_eq!(storage.revoke_key(account, slug, at, by).await.unwrap(), None);
        let used = CredentialUse { account: account.clone(), credential_id: slug.into(), at };
        storage.record_uses(&[used]).await.unwrap();
    }
    assert_eq!(storage.revision(&unknown).await.unwrap(), None);
    assert_eq!(crate::items(&storage, &unknown, &Default::default()).await.unwrap().len(), 0);
    assert_eq!(storage.list_keys(&unknown, Timestamp::MAX, usize::MAX).await.unwrap(), None);
    assert_eq!(storage.list_events(&unknown, 9).await.unwrap(), []);
    assert_eq!(storage.remove_account(&unknown).await.unwrap(), None);
    assert_eq!(storage.end_sign_ins(&unknown, by).await.unwrap(), 0);
    assert_eq!(storage.find_credential_record("\0").await.unwrap(), None);
}

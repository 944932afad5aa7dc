//! Every response reflects each change committed before the request arrived, whether by the API or by any other writer.

use catalogue_core::admin::{Account, AdminStorage};
use catalogue_core::storage::{CourseStorage, CredentialStorage};
use catalogue_core::{AccountId, Catalogue, Course, Timestamp};
use catalogue_postgres::PostgresStorage;
use http::{Request, Response};
use tokio_postgres::Client;

use crate::schema::Schema;
use crate::settings::digest;
use crate::{course, import_one_course, key_of};

/// A catalogue over a schema, a key that reads it, a connection of the host application, and another server's storage.
struct Watched {
    storage: PostgresStorage,
    catalogue: Catalogue,
    account: AccountId,
    token: String,
    host: Client,
    other: PostgresStorage,
}

impl Watched {
    async fn new() -> Option<Self> {
        let schema = Schema::new().await?;
        let storage = schema.storage().await;
        let account = import_one_course(&storage).await;
        let token = key_of(&storage, &account).await;
        let catalogue = Catalogue::with_api_keys(storage.clone()).build().unwrap();
        let other = schema.storage().await;
        Some(Self { storage, catalogue, account, token, host: schema.host().await, other })
    }

    async fn get(&self, path: &str, tag: &str) -> Response<bytes::Bytes> {
        let request = Request::get(path).header("authorization", format!("Bearer {}", self.token));
        self.catalogue.call(request.header("if-none-match", tag).body(()).unwrap()).await
    }

    async fn tag(&self, path: &str) -> String {
        self.get(path, "").await.headers()["etag"].to_str().unwrap().to_owned()
    }
}

const LIST: &str = "/api/v1/courses";
const DETAIL: &str = "/api/v1/courses/course";

#[tokio::test]
async fn plain_sql_change_is_in_next_response() {
    let Some(watched) = Watched::new().await else { return };
    for number in 0..20 {
        for (path, sql) in [
            (LIST, "UPDATE courses SET title = $1"),
            (DETAIL, "UPDATE courses SET tagline = $1"),
            (DETAIL, "UPDATE modules SET summary = $1 WHERE number = 2"),
        ] {
            let tag = watched.tag(path).await;
            assert_eq!(watched.get(path, &tag).await.status(), 304);
            let value = format!("value {number} of {sql}");
            watched.host.execute(sql, &[&value]).await.unwrap();
            let next = watched.get(path, &tag).await;
            assert_eq!(next.status(), 200, "{sql}");
            assert!(String::from_utf8_lossy(next.body()).contains(&value), "{sql}");
        }
    }
}

#[tokio::test]
async fn revoked_or_expired_key_gets_401_immediately() {
    for change in ["UPDATE credentials SET revoked_at = 1", "UPDATE credentials SET expires_at = 1"] {
        let Some(watched) = Watched::new().await else { return };
        let tag = watched.tag(LIST).await;
        watched.host.batch_execute(change).await.unwrap();
        assert_eq!(watched.get(LIST, &tag).await.status(), 401, "{change}");
    }
}

/// Covers cached and uncached pages: a request for either reads the current credential.
#[tokio::test]
async fn key_scope_and_account_changes_take_effect_immediately() {
    let Some(watched) = Watched::new().await else { return };
    let other = "INSERT INTO accounts (id, name, email, revision) VALUES ('other', '', '', gen_random_uuid())";
    watched.host.batch_execute(other).await.unwrap();
    watched.tag(LIST).await;
    let limits = |from: u8| [LIST.to_owned(), format!("{LIST}?limit={from}"), format!("{LIST}?limit={}", from + 1)];
    watched.host.batch_execute("UPDATE credentials SET account_id = 'other'").await.unwrap();
    for path in limits(10) {
        let response = watched.get(&path, "").await;
        assert!(response.status() == 200 && response.body().starts_with(br#"{"data":[]"#), "{path}: {response:?}");
    }
    assert_eq!(watched.get(DETAIL, "").await.status(), 404);
    watched.host.batch_execute("UPDATE credentials SET scopes = 'read:nothing'").await.unwrap();
    for path in limits(20) {
        assert_eq!(watched.get(&path, "").await.status(), 403, "{path}");
    }
}

/// The writer is another server's storage, or the host application's plain SQL.
#[tokio::test]
async fn token_revocation_takes_effect_immediately() {
    let Some(watched) = Watched::new().await else { return };
    for number in 0..4 {
        let digest = digest(number);
        assert_eq!(watched.storage.is_revoked(&digest).await.unwrap(), Some(false));
        if number % 2 == 0 {
            watched.other.revoke_tokens(&[digest], Timestamp::MAX, Timestamp::now()).await.unwrap();
        } else {
            let sql = "INSERT INTO revoked_tokens (digest, expires_at, revoked_at) VALUES ($1, 9, 9)";
            watched.host.execute(sql, &[&digest.as_bytes().as_slice()]).await.unwrap();
        }
        assert_eq!(watched.storage.is_revoked(&digest).await.unwrap(), Some(true));
    }
}

/// A new account with the removed account's id gets none of the old data.
#[tokio::test]
async fn removed_account_gets_401_and_cached_responses_never_return() {
    let Some(watched) = Watched::new().await else { return };
    let (list, detail) = (watched.tag(LIST).await, watched.tag(DETAIL).await);
    assert_eq!(watched.get(LIST, &list).await.status(), 304);
    watched.storage.remove_account(&watched.account).await.unwrap().unwrap();
    for (path, tag) in [(LIST, &list), (DETAIL, &detail), ("/api/v1/me", &list)] {
        assert_eq!(watched.get(path, tag).await.status(), 401, "{path}");
    }
    let mut import = watched.storage.begin_import().await.unwrap();
    let account = Account { id: watched.account.clone(), name: String::new(), email: String::new() };
    import.put_account(&account).await.unwrap();
    import.commit().await.unwrap();
    assert_eq!(watched.get(LIST, &list).await.status(), 401);
    let watched = Watched { token: key_of(&watched.storage, &watched.account).await, ..watched };
    let next = watched.get(LIST, &list).await;
    assert_eq!(next.status(), 200);
    assert!(next.body().starts_with(br#"{"data":[]"#), "{next:?}");
    assert_eq!(watched.get(DETAIL, &detail).await.status(), 404);
}

#[tokio::test]
async fn import_is_in_next_response() {
    let Some(watched) = Watched::new().await else { return };
    let tag = watched.tag(DETAIL).await;
    let mut import = watched.storage.begin_import().await.unwrap();
    let changed = Course { modules: course(&watched.account).modules[..1].to_vec(), ..course(&watched.account) };
    import.put_course(&changed).await.unwrap();
    assert_eq!(watched.get(DETAIL, &tag).await.status(), 304, "nothing is committed yet");
    import.commit().await.unwrap();
    assert_eq!(watched.get(DETAIL, &tag).await.status(), 200);
    let detail = watched.storage.find_course(&watched.account, "course").await.unwrap().value.unwrap();
    assert_eq!(detail.modules.len(), 1);
}

#[tokio::test]
async fn table_changes_do_not_fail_reads() {
    let Some(watched) = Watched::new().await else { return };
    for change in [
        "ALTER TABLE courses ADD COLUMN hosts_own TEXT",
        "ALTER TABLE courses ALTER COLUMN title TYPE VARCHAR(500)",
        "ALTER TABLE modules ALTER COLUMN summary TYPE VARCHAR(500)",
        "DISCARD PLANS",
    ] {
        for path in [LIST, DETAIL] {
            assert_eq!(watched.get(path, "").await.status(), 200);
        }
        // Change the revision, so that the next response is not served from the cache.
        watched.host.batch_execute(&format!("{change}; UPDATE courses SET tagline = '{change}'")).await.unwrap();
        for path in [LIST, DETAIL] {
            assert_eq!(watched.get(path, "").await.status(), 200, "{change}");
        }
    }
}

/// Runs the statements that the guide recommends after a load without triggers.
#[tokio::test]
async fn manual_revision_change_invalidates_responses() {
    const GUIDE: &str = include_str!("../../../../frontends/server/guide/import-and-backup.md");
    const LINE: &str = "UPDATE accounts SET revision = gen_random_uuid();";
    assert!(GUIDE.contains(LINE));
    let count = GUIDE.split("```sql\n").find(|block| block.starts_with("UPDATE courses")).unwrap();
    let count = count.split("```").next().unwrap();
    let Some(watched) = Watched::new().await else { return };
    let (list, detail) = (watched.tag(LIST).await, watched.tag(DETAIL).await);
    let load = "
        ALTER TABLE courses DISABLE TRIGGER USER;
        ALTER TABLE modules DISABLE TRIGGER USER;
        UPDATE courses SET title = 'loaded', tagline = 'loaded';
        DELETE FROM modules WHERE number = 2;
        ALTER TABLE courses ENABLE TRIGGER USER;
        ALTER TABLE modules ENABLE TRIGGER USER;";
    watched.host.batch_execute(load).await.unwrap();
    watched.host.batch_execute(LINE).await.unwrap();
    for (path, tag) in [(LIST, list), (DETAIL, detail)] {
        let next = watched.get(path, &tag).await;
        assert_eq!(next.status(), 200, "{path}");
        assert!(String::from_utf8_lossy(next.body()).contains("loaded"), "{path}");
    }
    watched.host.batch_execute(count).await.unwrap();
    let next = watched.get(LIST, "").await;
    assert!(String::from_utf8_lossy(next.body()).contains("\"moduleCount\":1"), "{next:?}");
}

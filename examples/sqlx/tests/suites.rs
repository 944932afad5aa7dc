//! The platform passes the storage suite, except for values that its tables cannot store, and the frontend suite. A user with a
//! session reads only their own courses.

use std::sync::Mutex;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use catalogue_core::admin::NewCredential;
use catalogue_core::{AccountId, Catalogue, Course, CourseModule, Timestamp};
use catalogue_example_sqlx::{Storage, routes};
use catalogue_frontend_conformance::Server;
use catalogue_storage_conformance::{CourseFixture, CredentialFixture, Fixture};
use sqlx::sqlite::{SqliteConnectOptions, SqliteExecutor, SqliteJournalMode, SqlitePool};
use tempfile::TempDir;
use tower_service::Service as _;

mod storage {
    catalogue_storage_conformance::course_and_credential_storage_tests!(super::platform);
}

mod frontend {
    catalogue_frontend_conformance::tests!(super::serve);
}

/// A platform without users, in a folder that is removed with it.
struct Platform {
    storage: Storage,
    /// Names of the suite's accounts by id: the id is the position in the list.
    names: Mutex<Vec<String>>,
    _folder: TempDir,
}

async fn platform() -> Platform {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteConnectOptions::new().filename(folder.path().join("platform.db")).create_if_missing(true);
    let pool = SqlitePool::connect_with(options.journal_mode(SqliteJournalMode::Wal)).await.unwrap();
    sqlx::raw_sql(include_str!("../schema.sql")).execute(&pool).await.unwrap();
    Platform { storage: Storage(pool), names: Mutex::default(), _folder: folder }
}

async fn serve(catalogue: Catalogue) -> Server {
    let platform = platform().await;
    let routes = routes(platform.storage.0.clone(), catalogue).unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async { axum::serve(listener, routes).await });
    Server::new(address, platform)
}

/// Adds the user if missing.
async fn put_user(account: &AccountId, database: impl SqliteExecutor<'_>) {
    let add = sqlx::query("INSERT OR IGNORE INTO users (id, email) VALUES (?1, ?1 || '@example.com')");
    add.bind(account.as_str()).execute(database).await.unwrap();
}

impl Fixture for Platform {
    /// Returns a number for the name, without adding a user.
    async fn account(&self, name: &str) -> AccountId {
        let mut names = self.names.lock().unwrap();
        let id = names.iter().position(|known| known == name).unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        });
        AccountId::new(id.to_string())
    }
}

impl CourseFixture for Platform {
    type Storage = Storage;

    fn storage(&self) -> &Storage {
        &self.storage
    }

    async fn put_course(&self, course: &Course) {
        let mut transaction = self.storage.0.begin_with("BEGIN IMMEDIATE").await.unwrap();
        put_user(&course.account, &mut *transaction).await;
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO courses (user_id, slug, title, tagline, language, created_at, published_at, hidden, access_mode)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT DO UPDATE SET title = excluded.title, tagline = excluded.tagline, language = excluded.language,
                 created_at = excluded.created_at, published_at = excluded.published_at, hidden = excluded.hidden,
                 access_mode = excluded.access_mode
             RETURNING id",
        )
        .bind(course.account.as_str())
        .bind(&course.slug)
        .bind(&course.title)
        .bind(&course.tagline)
        .bind(&course.language)
        .bind(course.created_at.as_microseconds())
        .bind(course.published_at.map(Timestamp::as_microseconds))
        .bind(course.hidden)
        .bind(&course.access_mode)
        .fetch_one(&mut *transaction)
        .await
        .unwrap();
        let delete = sqlx::query("DELETE FROM lessons WHERE course_id = ?");
        delete.bind(id).execute(&mut *transaction).await.unwrap();
        for (position, module) in (0_i64..).zip(&course.modules) {
            let lesson = sqlx::query("INSERT INTO lessons VALUES (?, ?, ?, ?, ?)").bind(id).bind(position);
            let lesson = lesson.bind(&module.title).bind(&module.summary).bind(&module.content);
            lesson.execute(&mut *transaction).await.unwrap();
        }
        transaction.commit().await.unwrap();
    }

    async fn remove_course(&self, account: &AccountId, slug: &str) {
        let delete = sqlx::query("DELETE FROM courses WHERE user_id = ? AND slug = ?");
        let deleted = delete.bind(account.as_str()).bind(slug).execute(&self.storage.0).await.unwrap();
        assert_eq!(deleted.rows_affected(), 1);
    }

    async fn put_module(&self, account: &AccountId, slug: &str, number: u32, module: Option<&CourseModule>) -> bool {
        let write = match module {
            Some(module) => sqlx::query(
                "INSERT INTO lessons (course_id, position, title, summary, body)
                 SELECT id, ?3, ?4, ?5, ?6 FROM courses WHERE user_id = ?1 AND slug = ?2
                 ON CONFLICT DO UPDATE SET title = excluded.title, summary = excluded.summary, body = excluded.body",
            )
            .bind(account.as_str())
            .bind(slug)
            .bind(number - 1)
            .bind(&module.title)
            .bind(&module.summary)
            .bind(&module.content),
            None => sqlx::query(
                "DELETE FROM lessons
                 WHERE course_id = (SELECT id FROM courses WHERE user_id = ? AND slug = ?) AND position = ?",
            )
            .bind(account.as_str())
            .bind(slug)
            .bind(number - 1),
        };
        assert_eq!(write.execute(&self.storage.0).await.unwrap().rows_affected(), 1);
        true
    }
}

impl CredentialFixture for Platform {
    type Storage = Storage;

    fn storage(&self) -> &Storage {
        &self.storage
    }

    async fn put_credential(&self, credential: &NewCredential) {
        put_user(&credential.record.identity.account, &self.storage.0).await;
        self.storage.insert_key(credential).await.unwrap();
    }

    async fn revoke_credential(&self, id: &str, at: Timestamp) {
        let revoke = sqlx::query("UPDATE api_keys SET revoked_at = ? WHERE id = ?");
        let revoked = revoke.bind(at.as_microseconds()).bind(id).execute(&self.storage.0).await.unwrap();
        assert_eq!(revoked.rows_affected(), 1);
    }

    fn has_oauth_tokens(&self) -> bool {
        false
    }
}

#[tokio::test]
async fn user_with_session_reads_own_courses() {
    let pool = platform().await;
    let (pool, _folder) = (pool.storage.0.clone(), pool);
    sqlx::raw_sql(include_str!("../sample.sql")).execute(&pool).await.unwrap();
    let catalogue = Catalogue::with_api_keys(Storage(pool.clone())).build().unwrap();
    let mut routes = routes(pool.clone(), catalogue).unwrap();
    for (path, cookie, status, piece) in [
        ("/my/courses?limit=1", "theme=dark; session=north-sample-session", 200, "\"slug\":\"sailing\""),
        ("/my/me", "session=north-sample-session", 200, "\"apiKeyId\":\"session_1\""),
        ("/my/courses/knots", "session=north-sample-session", 200, "\"title\":\"Clove hitch\""),
        ("/my/courses/weaving", "session=north-sample-session", 404, "not_found"),
        ("/my/courses", "session=north-old-session", 401, ""),
        ("/my/courses", "session=unknown", 401, ""),
        ("/my/courses", "", 401, ""),
        ("/api/v1/courses", "session=north-sample-session", 401, "unauthorized"),
    ] {
        let request = Request::get(path).header("cookie", cookie).body(Body::empty()).unwrap();
        let response = routes.call(request).await.unwrap();
        assert_eq!(response.status(), status, "{path} {cookie}");
        let is_page = path.contains("limit") && status == 200;
        let link =
            response.headers().get("link").is_some_and(|link| link.to_str().unwrap().starts_with("</my/courses?"));
        assert_eq!(link, is_page, "{path}");
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let body = str::from_utf8(&body).unwrap();
        assert!(body.contains(piece), "{path}: {body}");
    }
    sqlx::query("DROP TABLE sessions").execute(&pool).await.unwrap();
    let request = Request::get("/my/me").header("cookie", "session=north-sample-session").body(Body::empty()).unwrap();
    assert_eq!(routes.call(request).await.unwrap().status(), 500);
}

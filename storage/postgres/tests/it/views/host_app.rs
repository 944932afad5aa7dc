//! A host application's own tables, with views over them, as the suites fill them.

use std::time::{Duration, SystemTime};

use catalogue_core::{AccountId, Course, Timestamp};
use catalogue_postgres::{Options, PostgresStorage};
use tokio_postgres::Client;
use tokio_postgres::types::ToSql;

use crate::schema::Schema;

/// Tables with texts as ids, and times with a zone.
pub(crate) const TEXTS: &str = include_str!("texts.sql");

/// Tables with numbers as ids, times without a zone and in microseconds, module counts and revisions.
pub(crate) const NUMBERS: &str = include_str!("numbers.sql");

/// Tables with the names of the views, which accept any value.
pub(crate) const LOOSE: &str = include_str!("loose.sql");

/// The host application's tables, and the storage over their views.
pub(crate) struct HostApp {
    pub(crate) schema: Schema,
    pub(crate) host: Client,
    pub(crate) storage: PostgresStorage,
    pub(crate) has_numeric_ids: bool,
}

/// Returns options for views and the catalogue's own tables in schemas of the test.
pub(crate) fn options(schema: &Schema) -> Options {
    schema.options().views(schema.name()).schema(&format!("{}_keys", schema.name()))
}

impl HostApp {
    pub(crate) async fn new(tables: &str) -> Option<Self> {
        let schema = Schema::new().await?;
        let host = schema.host().await;
        host.batch_execute(tables).await.unwrap();
        let storage = PostgresStorage::open_and_migrate(&options(&schema)).await.unwrap();
        Some(Self { schema, host, storage, has_numeric_ids: tables == NUMBERS })
    }

    /// Applies `change` to the tables and opens the storage again.
    pub(crate) async fn reopened(self, change: &str) -> Self {
        self.host.batch_execute(change).await.unwrap();
        let storage = PostgresStorage::open(&options(&self.schema)).await.unwrap();
        Self { storage, ..self }
    }

    /// Returns the id of the owner `name`, who is added if missing.
    pub(crate) async fn owner(&self, name: &str) -> String {
        if !self.has_numeric_ids {
            self.host.execute("INSERT INTO owners VALUES ($1) ON CONFLICT DO NOTHING", &[&name]).await.unwrap();
            return name.to_owned();
        }
        self.host.execute("INSERT INTO owners (login) VALUES ($1) ON CONFLICT DO NOTHING", &[&name]).await.unwrap();
        let id = self.host.query_one("SELECT CAST(id AS TEXT) FROM owners WHERE login = $1", &[&name]).await.unwrap();
        id.get(0)
    }

    pub(crate) async fn put_courses(&self, courses: &[Course]) {
        self.host.batch_execute("BEGIN").await.unwrap();
        for course in courses {
            self.put(course).await;
        }
        self.host.batch_execute("COMMIT").await.unwrap();
    }

    pub(crate) async fn remove_course(&self, account: &AccountId, slug: &str) {
        let delete = "DELETE FROM trainings WHERE CAST(owner AS TEXT) = $1 AND handle = $2";
        assert_eq!(self.host.execute(delete, &[&account.as_str(), &slug]).await.unwrap(), 1);
    }

    /// Removes the account from the host application, and its events from the catalogue's tables, as an operator would.
    pub(crate) async fn remove_account(&self, account: &AccountId) {
        self.host.execute("DELETE FROM owners WHERE CAST(id AS TEXT) = $1", &[&account.as_str()]).await.unwrap();
        // Keys and sign-ins stay.
        let delete = format!("DELETE FROM {}_keys.credential_events WHERE account_id = $1", self.schema.name());
        self.host.execute(&delete, &[&account.as_str()]).await.unwrap();
    }

    async fn put(&self, course: &Course) {
        let owner = course.account.as_str();
        let cast = if self.has_numeric_ids { "CAST(CAST($1 AS TEXT) AS BIGINT)" } else { "$1" };
        if !self.has_numeric_ids {
            self.owner(owner).await;
        }
        let delete = format!("DELETE FROM trainings WHERE owner = {cast} AND handle = $2");
        self.host.execute(&delete, &[&owner, &course.slug]).await.unwrap();
        let (made, live) = (instant(course.created_at), course.published_at.map(instant));
        let microseconds = course.published_at.map(Timestamp::as_microseconds);
        let live: &(dyn ToSql + Sync) = if self.has_numeric_ids { &microseconds } else { &live };
        let insert = format!(
            "INSERT INTO trainings (owner, handle, name, subtitle, lang, made_at, live_at, is_hidden, access) \
             VALUES ({cast}, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id"
        );
        let Course { slug, title, tagline, language, hidden, access_mode, .. } = course;
        let values: &[&(dyn ToSql + Sync)] =
            &[&owner, slug, title, tagline, language, &made, live, hidden, access_mode];
        let training: i64 = self.host.query_one(&insert, values).await.unwrap().get(0);
        for (place, lesson) in (10_i32..).step_by(10).zip(&course.modules) {
            let insert = "INSERT INTO lessons (training, place, name, summary) VALUES ($1, $2, $3, $4)";
            self.host.execute(insert, &[&training, &place, &lesson.title, &lesson.summary]).await.unwrap();
        }
    }
}

fn instant(time: Timestamp) -> SystemTime {
    let microseconds = time.as_microseconds();
    let apart = Duration::from_micros(microseconds.unsigned_abs());
    if microseconds < 0 { SystemTime::UNIX_EPOCH - apart } else { SystemTime::UNIX_EPOCH + apart }
}

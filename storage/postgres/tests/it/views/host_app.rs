//! A team's own tables, with views over them, as the suites fill them.

use std::time::{Duration, SystemTime};

use catalogue_core::{AccountId, Course, Timestamp};
use catalogue_postgres::{Options, PostgresStorage};
use tokio_postgres::Client;
use tokio_postgres::types::ToSql;

use crate::schema::Schema;

/// Texts as keys, and times with a zone.
pub(crate) const TEXTS: &str = include_str!("texts.sql");

/// Numbers as keys, times without a zone and in microseconds, counts and revisions.
pub(crate) const NUMBERS: &str = include_str!("numbers.sql");

/// Tables in the place of views, which take everything.
pub(crate) const LOOSE: &str = include_str!("loose.sql");

/// The tables, and the storage over their views.
pub(crate) struct HostApp {
    pub(crate) schema: Schema,
    pub(crate) host: Client,
    pub(crate) storage: PostgresStorage,
    pub(crate) numbers: bool,
}

/// Options for views and tables of ours in schemas of the test.
pub(crate) fn options(schema: &Schema) -> Options {
    schema.options().views(schema.name()).schema(&format!("{}_ours", schema.name()))
}

impl HostApp {
    pub(crate) async fn new(tables: &str) -> Option<Self> {
        let schema = Schema::new().await?;
        let host = schema.host().await;
        host.batch_execute(tables).await.unwrap();
        let storage = PostgresStorage::open_and_migrate(&options(&schema)).await.unwrap();
        Some(Self { schema, host, storage, numbers: tables == NUMBERS })
    }

    /// The tables after that change of them, opened anew.
    pub(crate) async fn reopened(self, change: &str) -> Self {
        self.host.batch_execute(change).await.unwrap();
        let storage = PostgresStorage::open(&options(&self.schema)).await.unwrap();
        Self { storage, ..self }
    }

    /// The owner of that name, who is added if need be.
    pub(crate) async fn owner(&self, name: &str) -> String {
        if !self.numbers {
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

    /// What the team's program would do, and an operator with what is ours.
    pub(crate) async fn remove_account(&self, account: &AccountId) {
        self.host.execute("DELETE FROM owners WHERE CAST(id AS TEXT) = $1", &[&account.as_str()]).await.unwrap();
        // Keys and sign-ins stay.
        let delete = format!("DELETE FROM {}_ours.credential_events WHERE account_id = $1", self.schema.name());
        self.host.execute(&delete, &[&account.as_str()]).await.unwrap();
    }

    async fn put(&self, course: &Course) {
        let owner = course.account.as_str();
        let cast = if self.numbers { "CAST(CAST($1 AS TEXT) AS BIGINT)" } else { "$1" };
        if !self.numbers {
            self.owner(owner).await;
        }
        let delete = format!("DELETE FROM trainings WHERE owner = {cast} AND handle = $2");
        self.host.execute(&delete, &[&owner, &course.slug]).await.unwrap();
        let (made, live) = (instant(course.created_at), course.published_at.map(instant));
        let microseconds = course.published_at.map(Timestamp::as_microseconds);
        let live: &(dyn ToSql + Sync) = if self.numbers { &microseconds } else { &live };
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

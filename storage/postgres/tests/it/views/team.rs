//! A team's own tables, with views over them, as the suites fill them.

use std::slice;
use std::time::{Duration, SystemTime};

use catalogue_core::admin::{Account, AdminStorage, NewCredential};
use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::{Actor, CredentialEvent, KeyStorage, StorageErrorKind};
use catalogue_core::{AccountId, Course, Timestamp};
use catalogue_postgres::{Options, PostgresStorage};
use catalogue_storage_conformance::{AccountFixture, CourseFixture, CredentialFixture, Fixture, SignInFixture};
use tokio_postgres::Client;
use tokio_postgres::types::ToSql;

use crate::schema::Schema;

/// Texts as keys, and times with a zone.
pub(crate) const TEXTS: &str = include_str!("texts.sql");

/// Numbers as keys, times without a zone and in microseconds, counts and revisions.
pub(crate) const NUMBERS: &str = include_str!("numbers.sql");

/// The tables, and the storage over their views.
pub(crate) struct Team {
    pub(crate) schema: Schema,
    pub(crate) host: Client,
    pub(crate) storage: PostgresStorage,
    numbers: bool,
}

/// Options for views and tables of ours in schemas of the test.
pub(crate) fn options(schema: &Schema) -> Options {
    schema.options().views(schema.name()).schema(&format!("{}_ours", schema.name()))
}

impl Team {
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
    async fn owner(&self, name: &str) -> String {
        if !self.numbers {
            self.host.execute("INSERT INTO owners VALUES ($1) ON CONFLICT DO NOTHING", &[&name]).await.unwrap();
            return name.to_owned();
        }
        self.host.execute("INSERT INTO owners (login) VALUES ($1) ON CONFLICT DO NOTHING", &[&name]).await.unwrap();
        let id = self.host.query_one("SELECT CAST(id AS TEXT) FROM owners WHERE login = $1", &[&name]).await.unwrap();
        id.get(0)
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

impl Fixture for Team {
    async fn account(&self, name: &str) -> AccountId {
        AccountId::new(if self.numbers { self.owner(name).await } else { name.to_owned() })
    }
}

impl CourseFixture for Team {
    type Storage = PostgresStorage;

    fn storage(&self) -> &PostgresStorage {
        &self.storage
    }

    async fn put_course(&self, course: &Course) {
        self.put_courses(slice::from_ref(course)).await;
    }

    async fn put_courses(&self, courses: &[Course]) {
        self.host.batch_execute("BEGIN").await.unwrap();
        for course in courses {
            self.put(course).await;
        }
        self.host.batch_execute("COMMIT").await.unwrap();
    }

    async fn remove_course(&self, account: &AccountId, slug: &str) {
        let delete = "DELETE FROM trainings WHERE CAST(owner AS TEXT) = $1 AND handle = $2";
        assert_eq!(self.host.execute(delete, &[&account.as_str(), &slug]).await.unwrap(), 1);
    }

    fn holds_slug(&self, slug: &str) -> bool {
        !slug.contains('\0')
    }

    /// PostgreSQL's texts have all characters but one.
    fn forget(&self, course: &mut Course) {
        let Course { title, tagline, language, access_mode, modules, .. } = course;
        let of_modules = modules.iter_mut().flat_map(|module| [&mut module.title, &mut module.summary]);
        for text in [title, tagline, language].into_iter().chain(access_mode).chain(of_modules) {
            *text = text.replace('\0', "");
        }
        for module in modules {
            module.content.clear();
        }
    }
}

impl CredentialFixture for Team {
    type Storage = PostgresStorage;

    fn storage(&self) -> &PostgresStorage {
        &self.storage
    }

    async fn put_credential(&self, credential: &NewCredential) {
        let mut created = self.storage.create_key(credential, &Actor::OPERATOR).await;
        if created.as_ref().is_err_and(|error| error.kind() == StorageErrorKind::UnknownReference) {
            self.owner(credential.record.identity.account.as_str()).await;
            created = self.storage.create_key(credential, &Actor::OPERATOR).await;
        }
        created.unwrap();
    }

    async fn revoke_credential(&self, id: &str, at: Timestamp) {
        let record = self.storage.find_credential_record(id).await.unwrap().unwrap();
        self.storage.revoke_key(&record.identity.account, id, at, &Actor::OPERATOR).await.unwrap().unwrap();
    }

    async fn revoke_token(&self, digest: &TokenDigest, expires_at: Timestamp) {
        self.storage.revoke_tokens(&[*digest], expires_at, Timestamp::from_microseconds(0).unwrap()).await.unwrap();
    }
}

impl AccountFixture for Team {
    async fn put_account(&self, account: &Account) {
        self.owner(account.id.as_str()).await;
    }

    /// What the team's program would do, and an operator with what is ours.
    async fn remove_account(&self, account: &AccountId) {
        self.host.execute("DELETE FROM owners WHERE CAST(id AS TEXT) = $1", &[&account.as_str()]).await.unwrap();
        for table in ["credentials", "sign_ins", "credential_events"] {
            let delete = format!("DELETE FROM {}_ours.{table} WHERE account_id = $1", self.schema.name());
            self.host.execute(&delete, &[&account.as_str()]).await.unwrap();
        }
    }
}

impl SignInFixture for Team {
    type Storage = PostgresStorage;

    fn storage(&self) -> &PostgresStorage {
        &self.storage
    }

    async fn events(&self, account: &AccountId) -> Vec<CredentialEvent> {
        self.storage.list_events(account, usize::MAX).await.unwrap()
    }
}

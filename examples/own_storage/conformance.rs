//! The school passes the storage suite, except for values that its tables cannot store.

mod connections;
mod school;

use std::slice;

use catalogue_core::admin::NewCredential;
use catalogue_core::{AccountId, Course, Timestamp};
use catalogue_storage_conformance::{CourseFixture, CredentialFixture, Fixture, Precision};
use rusqlite::{Connection, Transaction, params};
use tempfile::TempDir;

use school::School;

catalogue_storage_conformance::course_and_credential_storage_tests!(empty);

/// A school without users yet.
struct Tables {
    school: School,
    directory: TempDir,
}

async fn empty() -> Tables {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("school.db");
    let schema = concat!("PRAGMA journal_mode = WAL;", include_str!("schema.sql"));
    Connection::open(&path).unwrap().execute_batch(schema).unwrap();
    Tables { school: School::open(&path).unwrap(), directory }
}

impl Tables {
    fn writer(&self) -> Connection {
        let writer = Connection::open(self.directory.path().join("school.db")).unwrap();
        writer.pragma_update(None, "foreign_keys", true).unwrap();
        // The tables of a test do not have to survive a crash of the machine.
        writer.pragma_update(None, "synchronous", "OFF").unwrap();
        writer
    }

    /// Returns the id of the user `login`, which is added if missing.
    fn user(&self, login: &str) -> i64 {
        let writer = self.writer();
        writer.execute("INSERT OR IGNORE INTO users (login) VALUES (?1)", [login]).unwrap();
        writer.query_row("SELECT id FROM users WHERE login = ?1", [login], |row| row.get(0)).unwrap()
    }
}

fn number(id: &str) -> i64 {
    id.parse().unwrap()
}

fn seconds(time: Timestamp) -> i64 {
    time.as_microseconds().div_euclid(1_000_000)
}

/// Returns `time` in the format of `datetime`.
fn text(time: Timestamp) -> String {
    time.to_exact_string().replace('T', " ").replace('Z', "")
}

fn put(transaction: &Transaction<'_>, course: &Course) {
    let owner = number(course.account.as_str());
    let status = match (course.hidden, course.published_at) {
        (true, _) => "retired",
        (false, Some(_)) => "live",
        (false, None) => "draft",
    };
    let delete = "DELETE FROM trainings WHERE owner = ?1 AND handle = ?2";
    transaction.execute(delete, params![owner, course.slug]).unwrap();
    transaction
        .execute(
            "INSERT INTO trainings (owner, handle, name, subtitle, lang, status, live_since, made_at)
                 VALUES (?1, ?2, ?3, nullif(?4, ''), ?5, ?6, ?7, ?8)",
            params![
                owner,
                course.slug,
                course.title,
                course.tagline,
                course.language,
                status,
                course.published_at.map(text),
                seconds(course.created_at),
            ],
        )
        .unwrap();
    let training = transaction.last_insert_rowid();
    for (index, lesson) in (10..).step_by(10).zip(&course.modules) {
        let lesson = params![training, index, lesson.title, lesson.summary, lesson.content];
        transaction.execute("INSERT INTO lessons VALUES (?1, ?2, ?3, nullif(?4, ''), ?5)", lesson).unwrap();
    }
}

impl Fixture for Tables {
    async fn account(&self, name: &str) -> AccountId {
        AccountId::new(self.user(name).to_string())
    }

    fn precision(&self) -> Precision {
        Precision::Seconds
    }
}

impl CourseFixture for Tables {
    type Storage = School;

    fn storage(&self) -> &School {
        &self.school
    }

    async fn put_course(&self, course: &Course) {
        self.put_courses(slice::from_ref(course)).await;
    }

    async fn put_courses(&self, courses: &[Course]) {
        let mut writer = self.writer();
        let transaction = writer.transaction().unwrap();
        courses.iter().for_each(|course| put(&transaction, course));
        transaction.commit().unwrap();
    }

    async fn remove_course(&self, account: &AccountId, slug: &str) {
        let training = params![number(account.as_str()), slug];
        let removed = self.writer().execute("DELETE FROM trainings WHERE owner = ?1 AND handle = ?2", training);
        assert_eq!(removed, Ok(1));
    }

    fn strip_unsupported(&self, course: &mut Course) {
        course.access_mode = None;
    }
}

impl CredentialFixture for Tables {
    type Storage = School;

    fn storage(&self) -> &School {
        &self.school
    }

    async fn put_credential(&self, credential: &NewCredential) {
        let identity = &credential.record.identity;
        let key = params![
            number(&identity.credential_id),
            number(identity.account.as_str()),
            credential.digest.as_bytes(),
            identity.scopes.to_string(),
            credential.record.expires_at.map(seconds),
        ];
        let insert = "INSERT INTO access_keys (id, user, sha256, rights, ends_at) VALUES (?1, ?2, ?3, ?4, ?5)";
        self.writer().execute(insert, key).unwrap();
    }

    async fn revoke_credential(&self, id: &str, at: Timestamp) {
        let revoke = "UPDATE access_keys SET ended_at = ?2 WHERE id = ?1";
        assert_eq!(self.writer().execute(revoke, params![number(id), seconds(at)]), Ok(1));
    }

    /// Returns a number that is unique to the key: the id of a user whose login is `name`.
    async fn key(&self, name: &str) -> String {
        self.user(name).to_string()
    }

    fn has_oauth_tokens(&self) -> bool {
        false
    }
}

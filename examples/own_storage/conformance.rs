//! The school passes the storage suite, except for values that its tables cannot store.

mod connections;
mod school;

use std::slice;
use std::sync::Mutex;

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
    /// Names of the suite's accounts and keys by id: the id is the position in the list.
    names: Mutex<Vec<String>>,
    directory: TempDir,
}

async fn empty() -> Tables {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("school.db");
    let schema = concat!("PRAGMA journal_mode = WAL;", include_str!("schema.sql"));
    Connection::open(&path).unwrap().execute_batch(schema).unwrap();
    Tables { school: School::open(&path).unwrap(), names: Mutex::default(), directory }
}

impl Tables {
    fn writer(&self) -> Connection {
        let writer = Connection::open(self.directory.path().join("school.db")).unwrap();
        writer.pragma_update(None, "foreign_keys", true).unwrap();
        // The tables of a test do not have to survive a crash of the machine.
        writer.pragma_update(None, "synchronous", "OFF").unwrap();
        writer
    }

    /// Returns a number for the name of an account or a key, without writing it.
    fn id(&self, name: &str) -> String {
        let mut names = self.names.lock().unwrap();
        let id = names.iter().position(|known| known == name).unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        });
        id.to_string()
    }
}

/// Adds the user if missing.
fn put_user(database: &Connection, user: i64) {
    database.execute("INSERT OR IGNORE INTO users (id, login) VALUES (?1, 'user ' || ?1)", [user]).unwrap();
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
    put_user(transaction, owner);
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
        AccountId::new(self.id(name))
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
        let (writer, user) = (self.writer(), number(identity.account.as_str()));
        put_user(&writer, user);
        let key = params![
            number(&identity.credential_id),
            user,
            credential.digest.as_bytes(),
            identity.scopes.to_string(),
            credential.record.expires_at.map(seconds),
        ];
        let insert = "INSERT INTO access_keys (id, user, sha256, rights, ends_at) VALUES (?1, ?2, ?3, ?4, ?5)";
        writer.execute(insert, key).unwrap();
    }

    async fn revoke_credential(&self, id: &str, at: Timestamp) {
        let revoke = "UPDATE access_keys SET ended_at = ?2 WHERE id = ?1";
        assert_eq!(self.writer().execute(revoke, params![number(id), seconds(at)]), Ok(1));
    }

    async fn key(&self, name: &str) -> String {
        self.id(name)
    }

    fn has_oauth_tokens(&self) -> bool {
        false
    }
}

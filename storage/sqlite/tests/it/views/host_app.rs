//! A host application's database with its own names, views over it, and a writer that does not use this crate.

use std::path::PathBuf;

use catalogue_core::{Course, Timestamp};
use catalogue_sqlite::SqliteStorage;
use rusqlite::types::Value;
use rusqlite::{Connection, Transaction, params};
use tempfile::TempDir;

const TABLES: &str = "
    CREATE TABLE people (id INTEGER PRIMARY KEY, login TEXT NOT NULL UNIQUE);
    CREATE TABLE trainings (
        id INTEGER PRIMARY KEY, person_id INTEGER NOT NULL REFERENCES people (id), handle TEXT, name TEXT, subtitle TEXT,
        lang TEXT, made_at, live_since, is_hidden INTEGER, access TEXT
    );
    CREATE TABLE lessons (training_id INTEGER NOT NULL, place INTEGER, heading TEXT, abstract TEXT, body TEXT);
    CREATE INDEX lessons_in_order ON lessons (training_id, place);
";

/// Views over the host application's tables. Their columns compare regardless of case, which the API must not.
const VIEWS: &str = "
    CREATE VIEW catalogue_accounts AS SELECT login COLLATE NOCASE AS id FROM people;
    CREATE VIEW catalogue_courses AS
        SELECT p.login COLLATE NOCASE AS account_id, t.handle COLLATE NOCASE AS slug, t.name AS title, t.subtitle AS tagline, t.lang AS language,
            t.made_at AS created_at, t.live_since AS published_at, t.is_hidden AS hidden, t.access AS access_mode, t.id AS pk
        FROM trainings AS t JOIN people AS p ON p.id = t.person_id;
    CREATE VIEW catalogue_modules AS
        SELECT p.login COLLATE NOCASE AS account_id, t.handle COLLATE NOCASE AS course_slug, l.place AS number, l.heading AS title, l.abstract AS summary
        FROM lessons AS l JOIN trainings AS t ON t.id = l.training_id JOIN people AS p ON p.id = t.person_id;
";

/// Revisions that triggers replace with each change.
pub(super) const REVISIONS: &str = "
    CREATE TABLE states (person_id INTEGER PRIMARY KEY, state BLOB NOT NULL);
    CREATE TRIGGER person_inserted AFTER INSERT ON people BEGIN
        INSERT OR REPLACE INTO states VALUES (NEW.id, randomblob(16));
    END;
    CREATE TRIGGER person_updated AFTER UPDATE OF id, login ON people BEGIN
        UPDATE states SET state = randomblob(16) WHERE person_id IN (OLD.id, NEW.id);
    END;
    CREATE TRIGGER person_deleted AFTER DELETE ON people BEGIN
        DELETE FROM states WHERE person_id = OLD.id;
    END;
    CREATE TRIGGER training_inserted AFTER INSERT ON trainings BEGIN
        UPDATE states SET state = randomblob(16) WHERE person_id = NEW.person_id;
    END;
    CREATE TRIGGER training_updated AFTER UPDATE ON trainings BEGIN
        UPDATE states SET state = randomblob(16) WHERE person_id IN (OLD.person_id, NEW.person_id);
    END;
    CREATE TRIGGER training_deleted AFTER DELETE ON trainings BEGIN
        UPDATE states SET state = randomblob(16) WHERE person_id = OLD.person_id;
    END;
    CREATE TRIGGER lesson_inserted AFTER INSERT ON lessons BEGIN
        UPDATE states SET state = randomblob(16) WHERE person_id = (SELECT person_id FROM trainings WHERE id = NEW.training_id);
    END;
    CREATE TRIGGER lesson_updated AFTER UPDATE ON lessons BEGIN
        UPDATE states SET state = randomblob(16)
            WHERE person_id IN (SELECT person_id FROM trainings WHERE id IN (OLD.training_id, NEW.training_id));
    END;
    CREATE TRIGGER lesson_deleted AFTER DELETE ON lessons BEGIN
        UPDATE states SET state = randomblob(16) WHERE person_id = (SELECT person_id FROM trainings WHERE id = OLD.training_id);
    END;
    CREATE VIEW catalogue_revisions AS
        SELECT login COLLATE NOCASE AS account_id, state AS revision FROM states JOIN people ON id = person_id;
";

/// Formats in which the host application writes times.
#[derive(Clone, Copy, Debug)]
pub(super) enum Times {
    Microseconds,
    Rfc3339,
    SpaceSeparated,
    /// Any of the formats above, by the remainder of the microseconds modulo 3.
    Mixed,
}

impl Times {
    fn written(self, time: Timestamp) -> Value {
        let exact = time.to_exact_string();
        match self {
            Self::Microseconds => Value::Integer(time.as_microseconds()),
            Self::Rfc3339 => Value::Text(exact),
            Self::SpaceSeparated => Value::Text(exact.replace('T', " ").replace('Z', "")),
            Self::Mixed => match time.as_microseconds().rem_euclid(3) {
                0 => Self::Microseconds.written(time),
                1 => Self::Rfc3339.written(time),
                _ => Self::SpaceSeparated.written(time),
            },
        }
    }
}

/// Variant of a host application's database.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) times: Times,
    pub(super) journal_mode: &'static str,
    pub(super) has_revisions: bool,
}

pub(super) const PLAIN: Kind = Kind { times: Times::SpaceSeparated, journal_mode: "wal", has_revisions: false };

pub(super) struct HostApp {
    pub(super) storage: SqliteStorage,
    pub(super) kind: Kind,
    pub(super) directory: TempDir,
}

impl HostApp {
    pub(super) fn new(kind: Kind) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let host_app = directory.path().join("host.sqlite3");
        let writer = Connection::open(&host_app).unwrap();
        writer.pragma_update_and_check(None, "journal_mode", kind.journal_mode, |_| Ok(())).unwrap();
        writer.execute_batch(&format!("{TABLES}{VIEWS}{}", if kind.has_revisions { REVISIONS } else { "" })).unwrap();
        drop(writer);
        let storage = SqliteStorage::open_and_migrate_views(directory.path().join("keys.db"), host_app).unwrap();
        Self { storage, kind, directory }
    }

    pub(super) fn database(&self) -> PathBuf {
        self.directory.path().join("host.sqlite3")
    }

    pub(super) fn keys(&self) -> PathBuf {
        self.directory.path().join("keys.db")
    }

    /// Opens a connection of the host application.
    pub(super) fn writer(&self) -> Connection {
        let writer = Connection::open(self.database()).unwrap();
        // A test's tables need not survive a power failure.
        writer.pragma_update(None, "synchronous", "OFF").unwrap();
        writer.busy_timeout(std::time::Duration::from_secs(20)).unwrap();
        writer
    }

    pub(super) fn write(&self, write: impl FnOnce(&Transaction<'_>)) {
        let mut writer = self.writer();
        let transaction = writer.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
        write(&transaction);
        transaction.commit().unwrap();
    }

    pub(super) fn execute(&self, sql: &str) {
        self.write(|transaction| transaction.execute_batch(sql).unwrap());
    }

    pub(super) fn put_person(&self, login: &str) {
        self.write(|transaction| {
            self.person(transaction, login);
        });
    }

    fn person(&self, transaction: &Transaction<'_>, login: &str) -> i64 {
        transaction.execute("INSERT OR IGNORE INTO people (login) VALUES (?1)", [login]).unwrap();
        let person =
            transaction.query_row("SELECT id FROM people WHERE login = ?1", [login], |row| row.get(0)).unwrap();
        if self.kind.has_revisions {
            transaction.execute("INSERT OR REPLACE INTO states VALUES (?1, randomblob(16))", [person]).unwrap();
        }
        person
    }

    pub(super) fn put(&self, courses: &[Course]) {
        self.write(|transaction| courses.iter().for_each(|course| self.put_one(transaction, course)));
    }

    fn put_one(&self, transaction: &Transaction<'_>, course: &Course) {
        self.remove_one(transaction, course.account.as_str(), &course.slug);
        let person = self.person(transaction, course.account.as_str());
        let written = |time| self.kind.times.written(time);
        let values = params![
            person,
            course.slug,
            course.title,
            course.tagline,
            course.language,
            written(course.created_at),
            course.published_at.map(written),
            course.hidden,
            course.access_mode,
        ];
        let sql =
            "INSERT INTO trainings (person_id, handle, name, subtitle, lang, made_at, live_since, is_hidden, access)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        transaction.execute(sql, values).unwrap();
        let training = transaction.last_insert_rowid();
        for (place, module) in (1..).zip(&course.modules) {
            let values = params![training, place, module.title, module.summary, module.content];
            transaction.execute("INSERT INTO lessons VALUES (?1, ?2, ?3, ?4, ?5)", values).unwrap();
        }
    }

    pub(super) fn remove_one(&self, transaction: &Transaction<'_>, login: &str, handle: &str) -> usize {
        let training = "(SELECT t.id FROM trainings AS t JOIN people AS p ON p.id = person_id
            WHERE login = ?1 AND handle = ?2)";
        let lessons = format!("DELETE FROM lessons WHERE training_id IN {training}");
        transaction.execute(&lessons, [login, handle]).unwrap();
        let removed = format!("DELETE FROM trainings WHERE id IN {training}");
        let removed = transaction.execute(&removed, [login, handle]).unwrap();
        if removed > 0 {
            self.person(transaction, login);
        }
        removed
    }
}

//! Cached lookups match what a newly opened storage reads, for any sequence of lookups and changes in plain SQL.

use std::iter::repeat_with;

use catalogue_core::AccountId;
use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::{CourseStorage as _, CredentialStorage as _};
use catalogue_sqlite::SqliteStorage;
use proptest::prelude::*;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::database_in;

/// Changes with placeholders: accounts `A` and `B`, and digests `D` and `E` of keys or tokens.
const CHANGES: [&str; 30] = [
    "INSERT OR IGNORE INTO accounts (id) VALUES ('A')",
    "INSERT OR REPLACE INTO accounts (id) VALUES ('A')",
    "UPDATE accounts SET revision = randomblob(16) WHERE id = 'A'",
    "UPDATE accounts SET name = name || 'n'",
    "DELETE FROM accounts WHERE id = 'A'",
    "INSERT INTO courses (account_id, created_at, slug, title, language) VALUES ('A', 1, hex(randomblob(4)), '', 'en')",
    "UPDATE courses SET title = title || 't' WHERE account_id = 'A'",
    "UPDATE courses SET title = title || 't' WHERE account_id = 'A'",
    "UPDATE OR REPLACE courses SET account_id = 'A' WHERE account_id = 'B'",
    "DELETE FROM courses WHERE account_id = 'A'",
    "INSERT OR REPLACE INTO modules (account_id, course_slug, number, title) SELECT account_id, slug, 1, 'm' FROM courses",
    "UPDATE modules SET summary = summary || 's' WHERE account_id = 'A'",
    "INSERT OR REPLACE INTO module_contents SELECT account_id, course_slug, number, 'c' FROM modules WHERE account_id = 'A'",
    "INSERT OR REPLACE INTO credentials (digest, account_id, id, kind, scopes, created_at) \
     VALUES (X'D', 'A', hex(X'D'), 'api-key', 'read:courses', 1)",
    "INSERT OR REPLACE INTO credentials (digest, account_id, id, kind, scopes, created_at) \
     VALUES (X'D', 'A', hex(X'E'), 'api-key', '', 1)",
    "UPDATE OR REPLACE credentials SET digest = X'E' WHERE digest = X'D'",
    "UPDATE OR REPLACE credentials SET account_id = 'A' WHERE account_id = 'B'",
    "UPDATE credentials SET scopes = 'read:courses' WHERE digest = X'D'",
    "UPDATE credentials SET expires_at = coalesce(expires_at, 0) + 1 WHERE digest = X'D'",
    "UPDATE credentials SET revoked_at = nullif(5, revoked_at) WHERE account_id = 'A'",
    "UPDATE credentials SET last_used_at = 7, name = 'n' WHERE account_id = 'A'",
    "DELETE FROM credentials WHERE digest = X'D'",
    "INSERT OR REPLACE INTO revoked_tokens VALUES (X'D', 1, 1)",
    "UPDATE OR REPLACE revoked_tokens SET digest = X'E' WHERE digest = X'D'",
    "DELETE FROM revoked_tokens WHERE digest = X'D'",
    "BEGIN; UPDATE courses SET title = 'A'; DELETE FROM credentials WHERE digest = X'D'; ROLLBACK",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "VACUUM",
    "back up",
    "put back",
];

fn digest(number: u8) -> TokenDigest {
    TokenDigest::from_bytes([number + 0xA0; 32])
}

#[derive(Clone, Debug)]
struct Step {
    change: usize,
    /// Numbers for the placeholders `A`, `B`, `D` and `E`; two may be the same.
    ids: [u8; 4],
    /// Whether to compare the cached lookups after the change.
    compares: bool,
}

fn step() -> impl Strategy<Value = Step> {
    (0..CHANGES.len(), [0_u8..3, 0..3, 0..3, 0..3], any::<bool>()).prop_map(|(change, ids, compares)| Step {
        change,
        ids,
        compares,
    })
}

struct Database {
    directory: TempDir,
    storage: SqliteStorage,
    host: Connection,
}

impl Database {
    fn new() -> Self {
        let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let storage = SqliteStorage::open_and_migrate(database_in(&directory)).unwrap();
        let host = Connection::open(database_in(&directory)).unwrap();
        // Foreign keys are not enforced in most programs that use SQLite.
        host.pragma_update(None, "foreign_keys", false).unwrap();
        Self { directory, storage, host }
    }

    fn change(&mut self, Step { change, ids, .. }: &Step) {
        let backup = self.directory.path().join("backup.db");
        match CHANGES[*change] {
            "back up" => self.host.backup("main", &backup, None::<fn(_)>).unwrap(),
            "put back" if !backup.exists() => {}
            "put back" => self.host.restore("main", &backup, None::<fn(_)>).unwrap(),
            sql => {
                let hexadecimal =
                    |number: u8| repeat_with(|| format!("{:02X}", number + 0xA0)).take(32).collect::<String>();
                let sql = sql.replace("'A'", &format!("'{}'", ids[0])).replace("'B'", &format!("'{}'", ids[1]));
                let sql = sql.replace("X'D'", &format!("X'{}'", hexadecimal(ids[2])));
                self.host.execute_batch(&sql.replace("X'E'", &format!("X'{}'", hexadecimal(ids[3])))).unwrap();
            }
        }
    }

    /// Asserts that the storage returns what a newly opened one reads.
    async fn assert_lookups_match(&self) {
        let new = SqliteStorage::open(database_in(&self.directory)).unwrap();
        for number in 0..3 {
            let (account, digest) = (AccountId::new(number.to_string()), digest(number));
            let found = self.storage.find_credential(&digest).await.unwrap();
            assert_eq!(found, new.find_credential(&digest).await.unwrap(), "key {number}");
            let found = self.storage.revision(&account).await.unwrap();
            assert_eq!(found, new.revision(&account).await.unwrap(), "account {number}");
            let found = self.storage.is_revoked(&digest).await.unwrap();
            assert_eq!(found, new.is_revoked(&digest).await.unwrap(), "token {number}");
        }
    }
}

proptest! {
    #[test]
    fn cached_lookups_match_database(steps in prop::collection::vec(step(), 1..25)) {
        let mut database = Database::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for step in &steps {
            database.change(step);
            if step.compares {
                runtime.block_on(database.assert_lookups_match());
            }
        }
        runtime.block_on(database.assert_lookups_match());
    }
}

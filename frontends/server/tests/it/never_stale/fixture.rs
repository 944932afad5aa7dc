//! [`Fixture`]: servers over one database, and their readers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::reader::Reader;
use super::sql::Sql;
use super::{DETAIL, LIST, PAGE};
use crate::program::{COURSES, Server, TestDir};

/// Number of connections to each server.
const CONNECTIONS: usize = 3;
/// Names of the servers and their options.
const SERVERS: [(&str, &str); 2] = [("with page cache", ""), ("without page cache", " --page-cache 0")];

/// Two servers over one database, readers of account `a`, and their key.
pub(super) struct Fixture {
    pub(super) dir: TestDir,
    pub(super) readers: Vec<Reader>,
    pub(super) key: Key,
    servers: Vec<(&'static str, Server)>,
    database: PathBuf,
}

pub(super) struct Key {
    pub(super) id: String,
    pub(super) token: String,
}

impl Fixture {
    /// Creates a fixture over a new file in the working directory.
    pub(super) fn new() -> Self {
        let dir = TestDir::in_memory();
        fill(&dir, "catalogue.db");
        Self::over(dir, "catalogue.db")
    }

    /// Creates a fixture over the existing `database`, a path below the working directory. Each reader reads everything once.
    pub(super) fn over(dir: TestDir, database: &str) -> Self {
        let key = Key::create(&dir, database);
        Self::with_servers(dir, database, key, |command| command)
    }

    /// Like [`Self::over`], but with an existing key, and with servers whose command `wrap` changes.
    pub(super) fn with_servers(dir: TestDir, database: &str, key: Key, wrap: impl Fn(Command) -> Command) -> Self {
        let mut readers = Vec::new();
        let mut servers = Vec::new();
        for (name, option) in SERVERS {
            let arguments = format!("serve --listen 127.0.0.1:0 --log off --database sqlite:{database}{option}");
            let server = Server::start(&mut wrap(dir.command(&arguments)));
            readers.extend((0..CONNECTIONS).map(|_| Reader::connect(&server.address, &key.token, name)));
            servers.push((name, server));
        }
        let database = dir.path(database);
        let mut fixture = Self { dir, readers, key, servers, database };
        fixture.assert_new("");
        fixture
    }

    /// Starts a process that writes in plain SQL.
    pub(super) fn sql(&self) -> Sql {
        Sql::open(&self.database)
    }

    pub(super) fn database(&self) -> &Path {
        &self.database
    }

    /// Opens another connection to each server, with `token`.
    pub(super) fn new_connections(&self, token: &str) -> Vec<Reader> {
        let connect = |(name, server): &(&'static str, Server)| Reader::connect(&server.address, token, name);
        self.servers.iter().map(connect).collect()
    }

    /// Sends requests until the servers must have noticed a replaced file, which takes at most 1 ms (decision A14).
    /// Requests no list, page or detail.
    pub(super) fn wait_for_file_check(&mut self) {
        let replaced = Instant::now();
        let mut is_over = false;
        while !is_over {
            is_over = replaced.elapsed() >= Duration::from_millis(1);
            for reader in &mut self.readers {
                reader.get("/api/v1/me", "");
            }
        }
    }

    /// Asserts that the next response on each connection is new and contains `text`: list, page and detail.
    #[track_caller]
    pub(super) fn assert_new(&mut self, text: &str) {
        for path in [LIST, PAGE, DETAIL] {
            self.assert_new_at(path, text);
        }
    }

    /// Asserts that all connections, which request `path` concurrently, receive a new response with `text`.
    #[track_caller]
    pub(super) fn assert_new_at(&mut self, path: &str, text: &str) {
        for reader in &mut self.readers {
            reader.send_again(path);
        }
        for reader in &mut self.readers {
            reader.receive_new(path, text);
        }
    }

    /// Asserts that list, page and detail have not changed.
    #[track_caller]
    pub(super) fn assert_not_modified(&mut self) {
        for path in [LIST, PAGE, DETAIL] {
            self.assert_responses(path, 304, "");
        }
    }

    /// Asserts that the next response on each connection to a request with the last ETag has `status` and contains `text`.
    #[track_caller]
    pub(super) fn assert_responses(&mut self, path: &str, status: u16, text: &str) {
        for reader in &mut self.readers {
            let response = reader.get_again(path);
            assert!(
                response.status == status && response.body.contains(text),
                "{path}: {status} {text:?}: {response:?}"
            );
        }
    }

    /// Asserts that the key is refused everywhere, for `reason`.
    #[track_caller]
    pub(super) fn assert_refused(&mut self, reason: &str) {
        for path in [LIST, PAGE, DETAIL, "/api/v1/me"] {
            self.assert_responses(path, 401, &format!("\"reason\":\"{reason}\""));
        }
    }
}

impl Key {
    /// Creates a key of account `a`.
    pub(super) fn create(dir: &TestDir, database: &str) -> Self {
        let create = "keys create --account a --name n --scope read:courses --json";
        let key = dir.run(&format!("{create} --database sqlite:{database}")).json();
        let text = |name: &str| key.get(name).and_then(Value::as_str).unwrap().to_owned();
        Self { id: text("id"), token: text("token") }
    }
}

/// Imports two accounts and their courses.
pub(super) fn fill(dir: &TestDir, database: &str) {
    dir.run_reading(COURSES, &format!("import - --database sqlite:{database}")).succeeds();
}

/// Returns SQL that changes list, page and detail of account `a`.
pub(super) fn change(text: &str) -> String {
    format!("UPDATE courses SET title = '{text}' WHERE account_id = 'a'")
}

/// Returns the path of the database with `suffix`, such as `-wal`.
pub(super) fn sibling(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Removes WAL and WAL index of a database without writers, as an operator does who restores a file.
pub(super) fn remove_wal(database: &Path) {
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(sibling(database, suffix));
    }
}

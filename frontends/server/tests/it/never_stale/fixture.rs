//! [`Fixture`]: servers over one database, and their readers.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::reader::Reader;
use super::sql::Sql;
use super::{DETAIL, LIST, PAGE};
use crate::program::{COURSES, Server, TestDir};

/// Number of connections to each server.
const CONNECTIONS: usize = 3;
/// Names of the servers and their options.
const SERVERS: [(&str, &str); 2] = [("with page cache", ""), ("without page cache", " --page-cache 0")];

/// Two servers over one database, and readers of account `a`.
pub(super) struct Fixture<'d> {
    pub(super) dir: &'d TestDir,
    pub(super) readers: Vec<Reader>,
    servers: Vec<(&'static str, Server)>,
}

impl<'d> Fixture<'d> {
    /// Imports the courses and starts the servers. Each reader reads everything once.
    pub(super) fn new(dir: &'d TestDir) -> Self {
        dir.import(COURSES);
        Self::over(dir, &dir.key("a").1, |command| command)
    }

    /// Like [`Self::new`], but over an existing database, and with servers whose command `wrap` changes.
    pub(super) fn over(dir: &'d TestDir, token: &str, wrap: impl Fn(Command) -> Command) -> Self {
        let serve = |page_cache| dir.command(&format!("serve --listen 127.0.0.1:0 --log off{page_cache}"));
        let servers: Vec<_> =
            SERVERS.map(|(name, page_cache)| (name, Server::start(&mut wrap(serve(page_cache))))).into();
        let mut fixture = Self { dir, readers: Vec::new(), servers };
        fixture.readers = (0..CONNECTIONS).flat_map(|_| fixture.new_connections(token)).collect();
        fixture.assert_new("");
        fixture
    }

    /// Starts a process that writes in plain SQL to an SQLite database.
    pub(super) fn sql(&self) -> Sql {
        Sql::open(&self.dir.database())
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

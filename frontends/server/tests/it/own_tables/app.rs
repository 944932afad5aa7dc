//! [`App`]: another program's database, and ours over it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::Connection;

use crate::postgres::fixture::{Fixture, Session};
use crate::program::{Outcome, Server, TestDir};

/// Whose tables they are.
pub(super) const FRAMEWORKS: [&str; 3] = ["django", "rails", "laravel"];

/// Another program's database, with views.
pub(super) struct App {
    pub(super) framework: &'static str,
    pub(super) dir: TestDir,
    postgres: Option<Fixture>,
}

/// A writer's own connection.
pub(super) enum Writer {
    Sqlite(Connection),
    Postgres(Session),
}

impl App {
    /// An empty database of each kind that is installed.
    pub(super) fn empty(framework: &'static str) -> Vec<Self> {
        let sqlite = Self { framework, dir: TestDir::in_memory(), postgres: None };
        let postgres = Fixture::new().map(|fixture| Self { framework, dir: TestDir::new(), postgres: Some(fixture) });
        [Some(sqlite), postgres].into_iter().flatten().collect()
    }

    /// The framework's tables without a row, and the views that `views example` prints.
    pub(super) fn without_keys(framework: &'static str) -> Vec<Self> {
        let apps = Self::empty(framework);
        for app in &apps {
            app.sql(&app.example("tables"));
            app.sql(&app.dir.run(&format!("views example --from {framework} --for {}", app.kind())).succeeds());
        }
        apps
    }

    /// Creates the applications of `framework` with tables for keys.
    pub(super) fn of(framework: &'static str) -> Vec<Self> {
        let apps = Self::without_keys(framework);
        apps.iter().for_each(|app| drop(app.run("migrate").succeeds()));
        apps
    }

    /// Creates the applications of `framework` with tables for keys and the example's rows.
    pub(super) fn with_rows(framework: &'static str) -> Vec<Self> {
        let apps = Self::of(framework);
        let rows = fs::read_to_string(Self::folder(framework).join("rows.sql")).unwrap();
        apps.iter().for_each(|app| app.sql(&rows));
        apps
    }

    /// Makes the program connect to the database as `role`.
    pub(super) fn connected_as(&mut self, role: &str) {
        let fixture = self.postgres.as_mut().unwrap();
        fixture.address = fixture.address.replace("//postgres@", &format!("//{role}@"));
    }

    pub(super) fn is_postgres(&self) -> bool {
        self.postgres.is_some()
    }

    pub(super) fn kind(&self) -> &'static str {
        if self.is_postgres() { "postgres" } else { "sqlite" }
    }

    /// What stands in the example's file of that name for this database.
    pub(super) fn example(&self, name: &str) -> String {
        let file = Self::folder(self.framework).join(format!("{name}.{}.sql", self.kind()));
        fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    }

    pub(super) fn writer(&self) -> Writer {
        match &self.postgres {
            Some(fixture) => Writer::Postgres(fixture.session()),
            None => {
                let connection = Connection::open(self.dir.path("app.db")).unwrap();
                connection.busy_timeout(std::time::Duration::from_secs(60)).unwrap();
                Writer::Sqlite(connection)
            }
        }
    }

    /// Changes the other program's tables.
    pub(super) fn sql(&self, text: &str) {
        self.writer().run(text);
    }

    /// The program with what it is told of this database.
    pub(super) fn command(&self, arguments: &str) -> Command {
        let mut command = self.dir.command(arguments);
        command.env("CATALOGUE_COURSES", "views");
        match &self.postgres {
            // Patient: where all cores are busy, a session of the database may wait for seconds to run at all.
            Some(fixture) => {
                command.env("CATALOGUE_DATABASE", &fixture.address).env("CATALOGUE_DATABASE_TIMEOUT", "60s")
            }
            None => command.env("CATALOGUE_COURSES_DATABASE", "sqlite:app.db"),
        };
        command
    }

    pub(super) fn run(&self, arguments: &str) -> Outcome {
        self.command(arguments).output().unwrap().into()
    }

    pub(super) fn serve(&self, arguments: &str) -> Server {
        Server::start(&mut self.command(&format!("serve --listen 127.0.0.1:0 --log off {arguments}")))
    }

    /// A fresh key's id and token.
    pub(super) fn key(&self, account: &str) -> (String, String) {
        let key = self.run(&format!("keys create --account {account} --name n --scope read:courses --json")).json();
        let text = |field: &str| key[field].as_str().unwrap().to_owned();
        (text("id"), text("token"))
    }

    /// The example of that framework.
    pub(super) fn folder(framework: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/own_tables").join(framework)
    }

    /// The id of an account.
    pub(super) fn account(&self, number: u64) -> String {
        if self.framework == "laravel" { uuid(number) } else { number.to_string() }
    }
}

impl Writer {
    pub(super) fn run(&self, text: &str) {
        match self {
            Self::Sqlite(connection) => connection.execute_batch(text).unwrap(),
            Self::Postgres(session) => session.run(text),
        }
    }
}

/// A UUID with that number.
pub(super) fn uuid(number: u64) -> String {
    format!("0198c5d2-a4b0-7c3e-9f1d-{number:012x}")
}

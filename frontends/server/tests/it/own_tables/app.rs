//! [`App`]: a host application's database, and the catalogue over it.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::databases::Host;
use crate::program::{Server, TestDir};

/// Frameworks of the example applications.
pub(super) const FRAMEWORKS: [&str; 3] = ["django", "rails", "laravel"];

/// A working directory whose commands use a host application's database with the catalogue's views.
pub(super) struct App {
    pub(super) framework: &'static str,
    pub(super) dir: TestDir,
}

impl Deref for App {
    type Target = TestDir;

    fn deref(&self) -> &TestDir {
        &self.dir
    }
}

/// Names of a framework's tables of courses and lessons, and of the column of a course's account.
pub(super) struct Names {
    pub(super) courses: &'static str,
    pub(super) owner: &'static str,
    pub(super) lessons: &'static str,
}

impl App {
    /// Creates an empty SQLite database, and an empty PostgreSQL database if PostgreSQL is installed.
    pub(super) fn empty(framework: &'static str) -> Vec<Self> {
        let mut sqlite = TestDir::in_memory();
        sqlite.variables.push(("CATALOGUE_COURSES_DATABASE", "sqlite:app.db"));
        let app = |mut dir: TestDir| {
            dir.variables.push(("CATALOGUE_COURSES", "views"));
            Self { framework, dir }
        };
        [Some(sqlite), TestDir::postgres()].into_iter().flatten().map(app).collect()
    }

    /// Creates databases with the framework's empty tables and the views that `views example` prints.
    pub(super) fn without_keys(framework: &'static str) -> Vec<Self> {
        let apps = Self::empty(framework);
        for app in &apps {
            app.sql(&app.example("tables"));
            app.sql(&app.views_example());
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

    /// Creates the applications of all frameworks with their examples' rows.
    pub(super) fn all_with_rows() -> impl Iterator<Item = Self> {
        FRAMEWORKS.into_iter().flat_map(Self::with_rows)
    }

    pub(super) fn kind(&self) -> &'static str {
        if self.is_postgres() { "postgres" } else { "sqlite" }
    }

    /// Returns the example's SQL file `name` for this database.
    pub(super) fn example(&self, name: &str) -> String {
        let file = Self::folder(self.framework).join(format!("{name}.{}.sql", self.kind()));
        fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    }

    /// Returns the views that the program prints.
    pub(super) fn views_example(&self) -> String {
        self.run(&format!("views example --from {} --for {}", self.framework, self.kind())).succeeds()
    }

    /// Returns the triggers that the program prints.
    pub(super) fn revisions_example(&self) -> String {
        self.run(&format!("views example --revisions --from {} --for {}", self.framework, self.kind())).succeeds()
    }

    pub(super) fn names(&self) -> Names {
        let (courses, owner, lessons) = match self.framework {
            "django" => ("courses_course", "owner_id", "courses_module"),
            "rails" => ("courses", "account_id", "lessons"),
            _ => ("courses", "user_id", "lessons"),
        };
        Names { courses, owner, lessons }
    }

    /// Opens a connection of the host application.
    pub(super) fn host(&self) -> Host {
        if self.is_postgres() { self.dir.host() } else { Host::sqlite(&self.path("app.db")) }
    }

    /// Runs SQL as the host application.
    pub(super) fn sql(&self, text: &str) {
        self.host().run(text);
    }

    pub(super) fn serve(&self, arguments: &str) -> Server {
        self.dir.serve(&format!("--log off {arguments}"))
    }

    /// Starts a server, and returns it after it has logged a line with `text`, and the lines until then.
    pub(super) fn serve_until(&self, text: &str) -> (Server, String) {
        let mut server = Server::start(self.command("serve --listen 127.0.0.1:0").stderr(Stdio::piped()));
        let lines = server.notes_until(text).concat();
        (server, lines)
    }

    /// Returns the ids of the accounts.
    pub(super) fn accounts(&self) -> Vec<String> {
        let accounts = self.run("accounts list --json").json();
        accounts.as_array().unwrap().iter().map(|account| account["id"].as_str().unwrap().to_owned()).collect()
    }

    /// Returns the directory of a framework's example.
    pub(super) fn folder(framework: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/own_tables").join(framework)
    }

    /// Returns the id of account `number`.
    pub(super) fn account(&self, number: u64) -> String {
        if self.framework == "laravel" { uuid(number) } else { number.to_string() }
    }
}

/// Returns a UUID that contains `number`.
pub(super) fn uuid(number: u64) -> String {
    format!("0198c5d2-a4b0-7c3e-9f1d-{number:012x}")
}

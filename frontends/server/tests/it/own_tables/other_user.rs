//! The program, run by another user than the owner of the database file: the owner's application must keep write access.
//!
//! Only root can run programs as other users. Without root, the tests print a line and pass.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;

use rusqlite::Connection;

use super::app::App;
use crate::program::{Outcome, Server};
use crate::skip::or_skip_unless;

/// The users `daemon`, which owns the file, and `nobody`; each has a separate group.
const OWNER: u32 = 1;
const OTHER: u32 = 65534;

/// Commands that read the courses.
const COMMANDS: [&str; 5] =
    ["views check", "views show --account 1", "doctor", "serve --listen 127.0.0.1:0", "keys list"];

/// An app whose file, in a separate directory, belongs to [`OWNER`]. The user that runs the program owns the keys' database.
struct OtherOwnersApp(App);

impl OtherOwnersApp {
    fn new(journal_mode: &str) -> Option<Self> {
        let app = App::with_rows("django").into_iter().find(|app| !app.is_postgres()).unwrap();
        let is_root = fs::metadata(app.path("app.db")).unwrap().uid() == 0;
        or_skip_unless("root", is_root.then_some(()).ok_or_else(|| "cannot run programs as other users".to_owned()))?;
        // Other users may have no access to the directory of the program.
        app.dir.copy_program("program");
        for name in ["", "program"] {
            app.set_mode(name, 0o755);
        }
        for name in ["keys", "theirs"] {
            fs::create_dir(app.dir.path(name)).unwrap();
        }
        fs::rename(app.dir.path("catalogue.db"), app.dir.path("keys/catalogue.db")).unwrap();
        fs::rename(app.dir.path("app.db"), app.dir.path("theirs/app.db")).unwrap();
        let app = Self(app);
        app.writer().pragma_update_and_check(None, "journal_mode", journal_mode, |_| Ok(())).unwrap();
        app.set("theirs", 0o777, (OWNER, OWNER));
        app.set("theirs/app.db", 0o644, (OWNER, OWNER));
        Some(app)
    }

    fn set(&self, name: &str, mode: u32, (user, group): (u32, u32)) {
        chown(self.0.dir.path(name), Some(user), Some(group)).unwrap();
        self.0.set_mode(name, mode);
    }

    /// Opens the database like the owner's application: if root runs SQLite, files that it creates belong to the database's owner.
    fn writer(&self) -> Connection {
        let writer = Connection::open(self.0.dir.path("theirs/app.db")).unwrap();
        writer.query_row("SELECT count(*) FROM auth_user", [], |_| Ok(())).unwrap();
        writer
    }

    fn command(&self, user: u32, arguments: &str) -> std::process::Command {
        chown(self.0.dir.path("keys"), Some(user), Some(user)).unwrap();
        for file in fs::read_dir(self.0.dir.path("keys")).unwrap() {
            chown(file.unwrap().path(), Some(user), Some(user)).unwrap();
        }
        let mut command = std::process::Command::new(self.0.dir.path("program"));
        command.args(arguments.split(' ')).args(["--courses", "views", "--courses-database", "sqlite:theirs/app.db"]);
        command.args(["--database", "sqlite:keys/catalogue.db"]).current_dir(self.0.dir.path("")).env_clear();
        command.uid(user).gid(user);
        command
    }

    fn run(&self, user: u32, arguments: &str) -> Outcome {
        self.command(user, arguments).output().unwrap().into()
    }

    /// Returns the names of files next to the owner's database.
    fn sibling_files(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.dir.path("theirs")).unwrap();
        let mut names: Vec<_> = names.map(|name| name.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| name != "app.db");
        names.sort();
        names
    }

    /// Asserts that each command reports the problem with a hint and leaves no file behind.
    #[track_caller]
    fn assert_refused(&self, owner: &str) {
        for command in COMMANDS {
            let outcome = self.run(OTHER, command);
            let text = outcome.out.clone() + &outcome.err;
            let run_as =
                format!("run catalogue as the user {owner}, or start your program first and keep a connection");
            for piece in ["\"theirs/app.db\" is in WAL mode", "attempt to write a readonly database", &run_as] {
                assert!(outcome.status == Some(1) && text.contains(piece), "{command}: {piece}: {outcome:?}");
            }
            assert!(!text.contains("cannot be written by the user"), "{command}: {text}");
            assert_eq!(self.sibling_files(), [""; 0], "{command}");
        }
    }

    #[track_caller]
    fn assert_read(&self, user: u32) {
        self.run(user, "views check").succeeds();
        // The owner, with the file's group, may write the file and all files that now exist next to it.
        let group = fs::metadata(self.0.dir.path("theirs/app.db")).unwrap().gid();
        let mut owner = std::process::Command::new("test");
        for name in self.sibling_files() {
            owner.args(["-w", &format!("theirs/{name}"), "-a"]);
        }
        owner.args(["-w", "theirs/app.db"]).current_dir(self.0.dir.path("")).uid(OWNER).gid(group);
        assert!(owner.status().unwrap().success(), "{:?}", self.sibling_files());
        for name in self.sibling_files() {
            fs::remove_file(self.0.dir.path(&format!("theirs/{name}"))).unwrap();
        }
    }
}

#[test]
fn file_is_refused_if_owner_would_lose_write_access() {
    let Some(app) = OtherOwnersApp::new("wal") else { return };
    app.assert_refused("daemon");
    // Others may not write into the directory.
    app.set("theirs", 0o755, (OWNER, OWNER));
    app.assert_refused("daemon");
    app.set("theirs/app.db", 0o644, (0, 0));
    app.assert_refused("root");
    // Only the WAL exists, without its index.
    app.set("theirs", 0o777, (OWNER, OWNER));
    app.set("theirs/app.db", 0o644, (OWNER, OWNER));
    fs::write(app.0.dir.path("theirs/app.db-wal"), "").unwrap();
    let outcome = app.run(OTHER, "views check");
    assert!(outcome.status == Some(1) && outcome.err.contains("run catalogue as the user daemon"), "{outcome:?}");
    assert_eq!(app.sibling_files(), ["app.db-wal"]);
    fs::remove_file(app.0.dir.path("theirs/app.db-wal")).unwrap();
    // First, the program is not in the file's group, so new files would get another group. Then, the group may only read.
    app.set("theirs/app.db", 0o664, (OWNER, 2));
    app.assert_refused("daemon");
    app.set("theirs/app.db", 0o644, (OWNER, OTHER));
    app.assert_refused("daemon");
}

#[test]
fn file_is_read_if_owner_keeps_write_access() {
    let Some(app) = OtherOwnersApp::new("wal") else { return };
    app.assert_read(OWNER);
    app.assert_read(0);
    app.set("theirs/app.db", 0o666, (OWNER, OWNER));
    app.assert_read(OTHER);
    app.set("theirs/app.db", 0o664, (OWNER, OTHER));
    app.assert_read(OTHER);
    // New files inherit the group of the directory.
    app.set("theirs/app.db", 0o664, (OWNER, OWNER));
    app.set("theirs", 0o2777, (OWNER, OWNER));
    app.assert_read(OTHER);
    // While the owner's application has the file open, read permission is enough.
    app.set("theirs", 0o755, (OWNER, OWNER));
    app.set("theirs/app.db", 0o644, (OWNER, OWNER));
    let writer = app.writer();
    app.run(OTHER, "views check").succeeds();
    let served = Server::start(&mut app.command(OTHER, "serve --listen 127.0.0.1:0 --log off"));
    drop(served);
    for name in app.sibling_files() {
        assert_eq!(fs::metadata(app.0.dir.path(&format!("theirs/{name}"))).unwrap().uid(), OWNER, "{name}");
    }
    writer.execute_batch("UPDATE courses_course SET title = title").unwrap();
    drop(writer);
    let Some(app) = OtherOwnersApp::new("delete") else { return };
    app.assert_read(OTHER);
}

#[test]
fn unreadable_wal_is_named_in_error() {
    let Some(app) = OtherOwnersApp::new("wal") else { return };
    let _writer = app.writer();
    for name in ["app.db-shm", "app.db-wal"] {
        app.set(&format!("theirs/{name}"), 0o600, (OWNER, OWNER));
        for command in COMMANDS {
            let outcome = app.run(OTHER, command);
            let text = outcome.out.clone() + &outcome.err;
            let advice = "run catalogue as the user daemon, or let the group read and write";
            assert!(
                outcome.status == Some(1) && text.contains(name) && text.contains(advice),
                "{command}: {outcome:?}"
            );
            assert!(!text.contains("cannot be written by the user"), "{command}: {text}");
        }
        app.set(&format!("theirs/{name}"), 0o644, (OWNER, OWNER));
    }
    app.run(OTHER, "views check").succeeds();
}

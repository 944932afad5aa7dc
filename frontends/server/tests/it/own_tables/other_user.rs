//! The program runs as another user than the one whose file it reads, and that one's program can write all the same.
//!
//! Only root can run it as others, so elsewhere the tests say so in a line and pass.

use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;

use rusqlite::Connection;

use super::app::App;
use crate::program::{Outcome, Server};

/// The users `daemon`, whose the file is, and `nobody`; both have a group of their own.
const OWNER: u32 = 1;
const OTHER: u32 = 65534;

/// Commands that read the courses.
const COMMANDS: [&str; 5] =
    ["views check", "views show --account 1", "doctor", "serve --listen 127.0.0.1:0", "keys list"];

/// An app whose file is the owner's, in a directory of its own, beside keys of whoever runs the program.
struct OtherOwnersApp(App);

impl OtherOwnersApp {
    fn new(journal_mode: &str) -> Option<Self> {
        let app = App::with_rows("django").into_iter().find(|app| !app.is_postgres()).unwrap();
        if fs::metadata(app.dir.path("app.db")).unwrap().uid() != 0 {
            std::io::stderr().write_all(b"skipped: root alone runs programs as other users\n").unwrap();
            return None;
        }
        // The program itself may stand where others do not come.
        fs::copy(env!("CARGO_BIN_EXE_catalogue"), app.dir.path("program")).unwrap();
        for name in ["", "program"] {
            fs::set_permissions(app.dir.path(name), Permissions::from_mode(0o755)).unwrap();
        }
        for name in ["keys", "theirs"] {
            fs::create_dir(app.dir.path(name)).unwrap();
        }
        fs::rename(app.dir.path("catalogue.db"), app.dir.path("keys/catalogue.db")).unwrap();
        fs::rename(app.dir.path("app.db"), app.dir.path("theirs/app.db")).unwrap();
        let apart = Self(app);
        apart.writer().pragma_update_and_check(None, "journal_mode", journal_mode, |_| Ok(())).unwrap();
        apart.set("theirs", 0o777, (OWNER, OWNER));
        apart.set("theirs/app.db", 0o644, (OWNER, OWNER));
        Some(apart)
    }

    fn set(&self, name: &str, mode: u32, (user, group): (u32, u32)) {
        chown(self.0.dir.path(name), Some(user), Some(group)).unwrap();
        fs::set_permissions(self.0.dir.path(name), Permissions::from_mode(mode)).unwrap();
    }

    /// What the owner's program has open: where root makes files beside the database, these are its owner's.
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

    /// The files beside the owner's.
    fn sibling_files(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.dir.path("theirs")).unwrap();
        let mut names: Vec<_> = names.map(|name| name.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| name != "app.db");
        names.sort();
        names
    }

    /// Each command says what would happen and what to do, and leaves nothing behind.
    #[track_caller]
    fn assert_refused(&self, owner: &str) {
        for command in COMMANDS {
            let message = self.run(OTHER, command);
            let text = message.out.clone() + &message.err;
            let run_as =
                format!("run catalogue as the user {owner}, or start your program first and keep a connection");
            for piece in ["\"theirs/app.db\" is in WAL mode", "attempt to write a readonly database", &run_as] {
                assert!(message.status == Some(1) && text.contains(piece), "{command}: {piece}: {message:?}");
            }
            assert!(!text.contains("may not be written"), "{command}: {text}");
            assert_eq!(self.sibling_files(), [""; 0], "{command}");
        }
    }

    #[track_caller]
    fn assert_read(&self, user: u32) {
        self.run(user, "views check").succeeds();
        // What is beside the file by now, its owner may write, who is in its group.
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
fn a_file_whose_program_could_not_write_any_more_is_not_opened() {
    let Some(app) = OtherOwnersApp::new("wal") else { return };
    app.assert_refused("daemon");
    // Nor where nothing can be made beside it.
    app.set("theirs", 0o755, (OWNER, OWNER));
    app.assert_refused("daemon");
    app.set("theirs/app.db", 0o644, (0, 0));
    app.assert_refused("root");
    // Half of what is needed.
    app.set("theirs", 0o777, (OWNER, OWNER));
    app.set("theirs/app.db", 0o644, (OWNER, OWNER));
    fs::write(app.0.dir.path("theirs/app.db-wal"), "").unwrap();
    let message = app.run(OTHER, "views check");
    assert!(message.status == Some(1) && message.err.contains("run catalogue as the user daemon"), "{message:?}");
    assert_eq!(app.sibling_files(), ["app.db-wal"]);
    fs::remove_file(app.0.dir.path("theirs/app.db-wal")).unwrap();
    // A group that the new files would not have, or that may only read.
    app.set("theirs/app.db", 0o664, (OWNER, 2));
    app.assert_refused("daemon");
    app.set("theirs/app.db", 0o644, (OWNER, OTHER));
    app.assert_refused("daemon");
}

#[test]
fn a_file_whose_program_can_go_on_writing_is_read() {
    let Some(app) = OtherOwnersApp::new("wal") else { return };
    app.assert_read(OWNER);
    app.assert_read(0);
    app.set("theirs/app.db", 0o666, (OWNER, OWNER));
    app.assert_read(OTHER);
    app.set("theirs/app.db", 0o664, (OWNER, OTHER));
    app.assert_read(OTHER);
    // By the group that the directory hands on.
    app.set("theirs/app.db", 0o664, (OWNER, OWNER));
    app.set("theirs", 0o2777, (OWNER, OWNER));
    app.assert_read(OTHER);
    // While its program has it open, whoever may read it.
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
fn a_wal_that_may_not_be_read_is_named() {
    let Some(app) = OtherOwnersApp::new("wal") else { return };
    let _writer = app.writer();
    for name in ["app.db-shm", "app.db-wal"] {
        app.set(&format!("theirs/{name}"), 0o600, (OWNER, OWNER));
        for command in COMMANDS {
            let message = app.run(OTHER, command);
            let text = message.out.clone() + &message.err;
            let advice = "run catalogue as the user daemon, or let the group read and write";
            assert!(
                message.status == Some(1) && text.contains(name) && text.contains(advice),
                "{command}: {message:?}"
            );
            assert!(!text.contains("may not be written"), "{command}: {text}");
        }
        app.set(&format!("theirs/{name}"), 0o644, (OWNER, OWNER));
    }
    app.run(OTHER, "views check").succeeds();
}

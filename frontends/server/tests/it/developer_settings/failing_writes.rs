//! Changes of the developer settings under `serve` while writes to the disk fail.

use std::fs;
use std::path::PathBuf;

use rusqlite::Connection;

use super::changes::{Changes, FailingDatabase, SHAPE, TABLES};
use crate::failing_writes::shim::{DATABASE, Failure, Shim};
use crate::program::{COURSES, Server, TestDir};

/// A database on a file system whose calls fail on demand.
struct Disk {
    connection: Connection,
    /// File with the number of the call that fails.
    order: PathBuf,
    /// File that is created when a call fails.
    mark: PathBuf,
}

impl Disk {
    fn new(dir: &TestDir) -> Self {
        let connection = Connection::open(dir.path("catalogue.db")).unwrap();
        connection.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        for table in TABLES {
            connection.execute_batch(&format!("CREATE TEMP TABLE saved_{table} AS SELECT * FROM {table}")).unwrap();
        }
        Self { connection, order: dir.path("order"), mark: dir.path("mark") }
    }
}

impl FailingDatabase for Disk {
    fn restore(&self) {
        let each = TABLES.map(|table| format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM saved_{table};"));
        self.connection.execute_batch(&format!("BEGIN IMMEDIATE; {} COMMIT", each.concat())).unwrap();
    }

    fn shape(&self) -> String {
        self.connection.query_row(SHAPE, [], |row| row.get(0)).unwrap()
    }

    fn fail(&self, at: usize) {
        let draft = self.order.with_extension("draft");
        fs::write(&draft, at.to_string()).unwrap();
        fs::rename(draft, &self.order).unwrap();
    }

    fn stop(&self) -> bool {
        fs::remove_file(&self.order).unwrap();
        fs::remove_file(&self.mark).is_ok()
    }
}

#[test]
#[ignore = "takes a minute"]
fn each_change_reports_outcome_when_writes_fail() {
    let Some(shim) = Shim::shared() else { return };
    for error in [Failure::FULL, Failure::BROKEN] {
        let dir = TestDir::in_memory();
        dir.write("courses.jsonl", COURSES);
        dir.run("import courses.jsonl").succeeds();
        let serve = || {
            let mut serve = dir.command("serve --listen 127.0.0.1:0 --settings-url /settings --log off");
            serve.env("FAIL_ORDER", dir.path("order"));
            shim.preload(&mut serve, error, DATABASE, &dir.path("mark"));
            Server::start(&mut serve)
        };
        let link = || dir.run("settings link --account a --settings-url /settings").succeeds();
        let changes = Changes::new(&serve().address, [&link(), &link()]);
        let (not_done, unknown) = changes.assert_outcomes(&Disk::new(&dir), serve);
        assert!(not_done > 0 && unknown > 0, "{error:?}: {not_done} not made, {unknown} unknown");
    }
}

//! Whichever write to the disk fails under `serve`, a change of the developer settings says whether it was done.

use std::fs;
use std::path::PathBuf;

use rusqlite::Connection;

use super::changes::{Changes, FailingDatabase, SHAPE, TABLES};
use crate::failing_writes::shim::{DATABASE, Fault, Shim};
use crate::program::{COURSES, Server, TestDir};

/// A database on a file system that takes orders.
struct Disk {
    connection: Connection,
    order: PathBuf,
    mark: PathBuf,
}

impl Disk {
    fn new(dir: &TestDir) -> Self {
        let connection = Connection::open(dir.path("catalogue.db")).unwrap();
        connection.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        for table in TABLES {
            connection.execute_batch(&format!("CREATE TEMP TABLE kept_{table} AS SELECT * FROM {table}")).unwrap();
        }
        Self { connection, order: dir.path("order"), mark: dir.path("mark") }
    }
}

impl FailingDatabase for Disk {
    fn restore(&self) {
        let each = TABLES.map(|table| format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM kept_{table};"));
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
fn each_change_says_whether_it_was_done() {
    let Some(shim) = Shim::shared() else { return };
    for fault in [Fault::FULL, Fault::BROKEN] {
        let dir = TestDir::in_memory();
        dir.write("courses.jsonl", COURSES);
        dir.run("import courses.jsonl").succeeds();
        let serve = || {
            let mut serve = dir.command("serve --listen 127.0.0.1:0 --settings-url /settings --log off");
            serve.env("FAIL_ORDER", dir.path("order"));
            shim.put_before(&mut serve, fault, DATABASE, &dir.path("mark"));
            Server::start(&mut serve)
        };
        let link = || dir.run("settings link --account a --settings-url /settings").succeeds();
        let changes = Changes::new(&serve().address, [&link(), &link()]);
        let (not_done, unknown) = changes.assert_outcomes(&Disk::new(&dir), serve);
        assert!(not_done > 0 && unknown > 0, "{fault:?}: {not_done} not done, {unknown} not known");
    }
}

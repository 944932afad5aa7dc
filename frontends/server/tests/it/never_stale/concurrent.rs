//! Commits while all connections read concurrently, each on its own thread.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use super::DETAIL;
use super::fixture::Fixture;
use super::reader::Reader;
use super::sql::Sql;

/// Returns the number in the course detail: equal in the course and its module, which change in one transaction.
fn number_in(reader: &mut Reader) -> u64 {
    let response = reader.get(DETAIL, "");
    assert_eq!(response.status, 200, "{response:?}");
    let detail: serde_json::Value = serde_json::from_str(&response.body).unwrap();
    let [of_course, of_module] = [&detail["data"]["tagline"], &detail["data"]["modules"][0]["summary"]];
    assert_eq!(of_course, of_module, "a course and its module come from different commits");
    of_course.as_str().unwrap().parse().unwrap()
}

/// Increments the number in a transaction and returns it.
fn count_up(sql: &mut Sql) -> u64 {
    sql.run("BEGIN IMMEDIATE");
    let count = "UPDATE courses SET tagline = CAST(tagline AS INTEGER) + 1 WHERE account_id = 'a' AND slug = 'one' \
                 RETURNING CAST(tagline AS INTEGER)";
    let number = sql.run(count);
    sql.run(&format!("UPDATE modules SET summary = '{number}' WHERE account_id = 'a'"));
    sql.run("COMMIT");
    number.parse().unwrap()
}

/// Reads until `over`: no response may be older than the last commit before its request, or than the previous response.
fn read_on(reader: &mut Reader, committed: &AtomicU64, over: &AtomicBool) {
    let mut last = 0;
    loop {
        let is_last = over.load(Ordering::SeqCst);
        let at_least = committed.load(Ordering::SeqCst).max(last);
        let number = number_in(reader);
        assert!(number >= at_least, "got {number} after {at_least} was committed or read");
        last = number;
        if is_last {
            return;
        }
    }
}

/// Runs one writer for each of `first_statements`. Then, each writer makes `commits` commits while all readers read.
fn write_and_read(first_statements: &[&str], commits: usize) {
    let mut fixture = Fixture::new();
    let mut writers: Vec<_> = first_statements.iter().map(|_| fixture.sql()).collect();
    for (writer, statement) in writers.iter_mut().zip(first_statements) {
        writer.run(statement);
    }
    let committed = AtomicU64::new(count_up(&mut writers[0]));
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for reader in &mut fixture.readers {
            scope.spawn(|| read_on(reader, &committed, &over));
        }
        let write = |mut writer: Sql| {
            for _ in 0..commits {
                committed.fetch_max(count_up(&mut writer), Ordering::SeqCst);
            }
        };
        let threads: Vec<_> = writers.into_iter().map(|writer| scope.spawn(move || write(writer))).collect();
        let ended: Vec<_> = threads.into_iter().map(thread::ScopedJoinHandle::join).collect();
        // Before any assertion, so that the readers always end.
        over.store(true, Ordering::SeqCst);
        assert!(ended.iter().all(Result::is_ok), "a writer failed");
    });
    let all = (commits * first_statements.len() + 1) as u64;
    assert_eq!(committed.into_inner(), all);
    for reader in &mut fixture.readers {
        assert_eq!(number_in(reader), all);
    }
}

#[test]
fn concurrent_readers_never_see_older_state() {
    write_and_read(&["PRAGMA wal_autocheckpoint = 1000"], 300);
}

#[test]
fn concurrent_readers_never_see_older_state_during_checkpoints() {
    write_and_read(&["PRAGMA wal_autocheckpoint = 1", "PRAGMA wal_autocheckpoint = 2"], 100);
}

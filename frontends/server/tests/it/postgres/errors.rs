//! The database goes away and comes back under `serve`, or is slow.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use catalogue_postgres_cluster::Cluster;

use super::fixture::Fixture;
use crate::program::{COURSES, Server, get};

/// Asks as long as `is_running`, counts what was answered, and lets nothing pass but what may be.
pub(super) fn ask(address: &str, token: &str, is_running: &AtomicBool, served: &AtomicUsize, failed: &AtomicUsize) {
    let _ending = Ending(is_running);
    while is_running.load(Ordering::Relaxed) {
        for path in ["/api/v1/courses?limit=1", "/api/v1/courses/one", "/api/v1/me"] {
            match get(address, path, token) {
                (200, _) => served.fetch_add(1, Ordering::Relaxed),
                (500, body) if body["error"]["code"] == "internal_error" => failed.fetch_add(1, Ordering::Relaxed),
                other => panic!("{path}: {other:?}"),
            };
        }
    }
}

/// Waits until `count` is some more than now.
pub(super) fn grows(count: &AtomicUsize, is_running: &AtomicBool) {
    let enough = count.load(Ordering::Relaxed) + 20;
    while count.load(Ordering::Relaxed) < enough {
        assert!(is_running.load(Ordering::Relaxed), "an answer was wrong");
        thread::yield_now();
    }
}

/// Ends all that asks, also where one of them or the test fails.
pub(super) struct Ending<'f>(pub(super) &'f AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

#[test]
fn a_database_that_is_stopped_and_started_under_load_is_500_and_recovers() {
    if Cluster::shared().is_none() {
        return;
    }
    let cluster = Cluster::start().unwrap();
    let fixture = Fixture::on(&cluster, "postgres");
    fixture.import(COURSES);
    let (_, token) = fixture.key("a");
    // The cluster does not write each commit down at once.
    fixture.session().run("CHECKPOINT");
    // Nothing rendered is kept, so that each request reads courses too.
    let server = fixture.serve("--page-cache 0 --log off");
    let (is_running, served, failed) = (AtomicBool::new(true), AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| ask(&server.address, &token, &is_running, &served, &failed));
        }
        let _ending = Ending(&is_running);
        for mode in ["immediate", "fast"] {
            grows(&served, &is_running);
            cluster.control(&["-m", mode, "stop"]);
            grows(&failed, &is_running);
            cluster.control(&["start"]);
            grows(&served, &is_running);
            cluster.control(&["-m", mode, "restart"]);
            grows(&served, &is_running);
        }
    });
    assert_eq!(server.get("/api/v1/me", &token).0, 200);
    assert_eq!(server.end_by("TERM").0, Some(0));
}

#[test]
fn a_database_that_does_not_answer_in_time_is_500_and_recovers() {
    let Some(fixture) = Fixture::with_courses() else { return };
    let (_, token) = fixture.key("a");
    let mut command = fixture.command("serve --listen 127.0.0.1:0 --database-timeout 1s --log off");
    let server = Server::start(&mut command);
    let host = fixture.session();
    for table in ["courses", "credentials"] {
        host.run(&format!("BEGIN; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"));
        let (status, body) = server.get("/api/v1/courses", &token);
        assert_eq!((status, &body["error"]["code"]), (500, &"internal_error".into()), "{body}");
        host.run("ROLLBACK");
        while server.get("/api/v1/courses", &token).0 != 200 {}
    }
}

#[test]
fn what_the_database_says_in_several_lines_is_told_in_one() {
    let Some(fixture) = Fixture::with_courses() else { return };
    let refuse = r"CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION E'refused\n\tIs the server running?' USING DETAIL = 'A detail.', ERRCODE = '08006';
    END $$; CREATE TRIGGER refuse BEFORE INSERT ON credentials EXECUTE FUNCTION refuse()";
    fixture.session().run(refuse);
    let outcome = fixture.run("keys create --account a --name n --scope read:courses");
    assert_eq!((outcome.status, outcome.err.lines().count()), (Some(1), 1), "{}", outcome.err);
    assert!(outcome.err.contains("refused Is the server running? DETAIL: A detail."), "{}", outcome.err);
}

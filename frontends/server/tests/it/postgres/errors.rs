//! A database that is stopped, restarted or slow under `serve`, or returns an error of several lines.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use catalogue_postgres_cluster::Cluster;

use super::fixture::Fixture;
use crate::program::{COURSES, Server, get};

/// Sends requests while `is_running` and counts the responses. Panics on any other response than a 200 or a regular 500.
pub(super) fn load(address: &str, token: &str, is_running: &AtomicBool, served: &AtomicUsize, failed: &AtomicUsize) {
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

/// Waits until `count` has grown by 20.
pub(super) fn wait_for_growth(count: &AtomicUsize, is_running: &AtomicBool) {
    let enough = count.load(Ordering::Relaxed) + 20;
    while count.load(Ordering::Relaxed) < enough {
        assert!(is_running.load(Ordering::Relaxed), "a response was wrong");
        thread::yield_now();
    }
}

/// Ends all calls of [`load`] when dropped, even if a call or the test fails.
pub(super) struct Ending<'f>(pub(super) &'f AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

#[test]
fn requests_return_500_while_database_is_stopped_and_recover() {
    if Cluster::shared().is_none() {
        return;
    }
    let cluster = Cluster::start().unwrap();
    let fixture = Fixture::on(&cluster, "postgres");
    fixture.import(COURSES);
    let (_, token) = fixture.key("a");
    // The cluster commits asynchronously: without a checkpoint, its stop could lose the import.
    fixture.session().run("CHECKPOINT");
    // Without the page cache, each request also reads courses.
    let server = fixture.serve("--page-cache 0 --log off");
    let (is_running, served, failed) = (AtomicBool::new(true), AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| load(&server.address, &token, &is_running, &served, &failed));
        }
        let _ending = Ending(&is_running);
        for mode in ["immediate", "fast"] {
            wait_for_growth(&served, &is_running);
            cluster.control(&["-m", mode, "stop"]);
            wait_for_growth(&failed, &is_running);
            cluster.control(&["start"]);
            wait_for_growth(&served, &is_running);
            cluster.control(&["-m", mode, "restart"]);
            wait_for_growth(&served, &is_running);
        }
    });
    assert_eq!(server.get("/api/v1/me", &token).0, 200);
    assert_eq!(server.stop_with("TERM").0, Some(0));
}

#[test]
fn requests_return_500_when_database_times_out_and_recover() {
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
fn multiline_database_error_is_printed_on_one_line() {
    let Some(fixture) = Fixture::with_courses() else { return };
    let refuse = r"CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION E'refused\n\tIs the server running?' USING DETAIL = 'A detail.', ERRCODE = '08006';
    END $$; CREATE TRIGGER refuse BEFORE INSERT ON credentials EXECUTE FUNCTION refuse()";
    fixture.session().run(refuse);
    let outcome = fixture.run("keys create --account a --name n --scope read:courses");
    assert_eq!((outcome.status, outcome.err.lines().count()), (Some(1), 1), "{}", outcome.err);
    assert!(outcome.err.contains("refused Is the server running? DETAIL: A detail."), "{}", outcome.err);
}

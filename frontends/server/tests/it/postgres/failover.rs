//! Failover to a standby under `serve`, with the options of `examples/deployment`.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use catalogue_postgres_cluster::Cluster;

use super::fixture::{Session, url};
use crate::program::{COURSES, TestDir, get};
use crate::upgrade::clients::Ending;

const SETTINGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/deployment/catalogue.toml");

/// Sends requests while `is_running` and counts the responses. Panics on any other response than a 200 or a regular 500.
fn load(address: &str, token: &str, is_running: &AtomicBool, served: &AtomicUsize, failed: &AtomicUsize) {
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
fn wait_for_growth(count: &AtomicUsize, is_running: &AtomicBool) {
    let enough = count.load(Ordering::Relaxed) + 20;
    while count.load(Ordering::Relaxed) < enough {
        assert!(is_running.load(Ordering::Relaxed), "a response was wrong");
        thread::yield_now();
    }
}

/// Returns the connection string of a database with both hosts.
fn both(first: &Cluster, second: &Cluster) -> String {
    let [(first, _), (second, name)] = [first, second].map(|cluster| {
        let address = url(cluster, "postgres");
        let (socket, name) = address.strip_prefix("postgres://postgres@").unwrap().split_once('/').unwrap();
        (socket.to_owned(), name.to_owned())
    });
    format!("postgres://postgres@{first},{second}/{name}")
}

#[test]
fn standby_takes_over_under_load_and_former_primary_is_not_read() {
    if Cluster::shared().is_none() {
        return;
    }
    let first = Cluster::start().unwrap();
    let mut fixture = TestDir::over(url(&first, "postgres"));
    fixture.import(COURSES);
    let (id, token) = fixture.key("a");
    let second = first.standby().unwrap();
    fixture.address = both(&first, &second);
    // Without the page cache, each request also reads courses.
    let servers = [(); 2].map(|()| fixture.serve(&format!("--config {SETTINGS} --page-cache 0 --log off")));
    let (is_running, served, failed) = (AtomicBool::new(true), AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for server in servers.iter().cycle().take(4) {
            scope.spawn(|| load(&server.address, &token, &is_running, &served, &failed));
        }
        let _ending = Ending(&is_running);
        wait_for_growth(&served, &is_running);
        first.control(&["-m", "fast", "stop"]);
        wait_for_growth(&failed, &is_running);
        second.control(&["promote"]);
        wait_for_growth(&served, &is_running);
    });
    first.follow(&second);
    first.control(&["start"]);
    // From here on, responses from the former primary would be stale.
    Session::of(&first.address("postgres")).run("SELECT pg_wal_replay_pause()");
    for title in ["Drei", "Vier"] {
        fixture.import(&COURSES.replace("Zwei", title));
        for server in &servers {
            assert_eq!(server.get("/api/v1/courses/zwei", &token).1["data"]["title"], title);
        }
    }
    fixture.run(&format!("keys revoke {id}")).succeeds();
    for server in servers {
        let (status, refusal) = server.get("/api/v1/me", &token);
        assert_eq!((status, &refusal["error"]["details"]["reason"]), (401, &"revoked".into()));
        assert_eq!(server.stop_with("TERM").0, Some(0));
    }
}

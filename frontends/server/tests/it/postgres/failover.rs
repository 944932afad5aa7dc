//! Failover to a standby under `serve`, with the options of `examples/deployment`.

use catalogue_postgres_cluster::Cluster;

use super::fixture::{Session, url};
use crate::program::{COURSES, TestDir};
use crate::upgrade::clients::Load;

const SETTINGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/deployment/catalogue.toml");

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
    let addresses = servers.iter().map(|server| server.address.clone()).collect();
    Load::run_during(addresses, &token, true, |load| {
        load.wait_for_responses();
        first.control(&["-m", "fast", "stop"]);
        load.wait_for_failures();
        second.control(&["promote"]);
        load.wait_for_responses();
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

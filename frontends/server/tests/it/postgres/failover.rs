//! Failover to a standby under `serve`, with the options of `examples/deployment`.

use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread;

use catalogue_postgres_cluster::Cluster;

use super::errors::{Ending, load, wait_for_growth};
use super::fixture::{Fixture, Session, url};
use crate::program::{COURSES, Server};

const SETTINGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/deployment/catalogue.toml");

/// Two servers on a primary and a standby, and a key.
struct Deployment {
    first: Cluster,
    second: Cluster,
    fixture: Fixture,
    servers: [Server; 2],
    id: String,
    token: String,
}

impl Deployment {
    /// Starts the clusters and the servers. Returns `None` if PostgreSQL is missing and not required.
    fn start() -> Option<Self> {
        Cluster::shared()?;
        let first = Cluster::start().unwrap();
        let mut fixture = Fixture::on(&first, "postgres");
        fixture.import(COURSES);
        let (id, token) = fixture.key("a");
        let second = first.standby().unwrap();
        fixture.address = both(&first, &second);
        // Without the page cache, each request also reads courses.
        let servers = [(); 2].map(|()| fixture.serve(&format!("--config {SETTINGS} --page-cache 0 --log off")));
        Some(Self { first, second, fixture, servers, id, token })
    }

    /// Stops the primary by `stop` and promotes the standby under load, and waits until requests are served again.
    fn fail_over(&self, stop: impl FnOnce()) {
        let (is_running, served, failed) = (AtomicBool::new(true), AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for server in self.servers.iter().cycle().take(4) {
                scope.spawn(|| load(&server.address, &self.token, &is_running, &served, &failed));
            }
            let _ending = Ending(&is_running);
            wait_for_growth(&served, &is_running);
            stop();
            wait_for_growth(&failed, &is_running);
            self.second.control(&["promote"]);
            wait_for_growth(&served, &is_running);
        });
    }

    /// Asserts that the next response of each server reflects new commits.
    fn assert_fresh(&self) {
        for title in ["Drei", "Vier"] {
            self.fixture.import(&COURSES.replace("Zwei", title));
            for server in &self.servers {
                assert_eq!(server.get("/api/v1/courses/zwei", &self.token).1["data"]["title"], title);
            }
        }
        self.fixture.run(&format!("keys revoke {}", self.id)).succeeds();
        for server in &self.servers {
            let (status, refusal) = server.get("/api/v1/me", &self.token);
            assert_eq!((status, &refusal["error"]["details"]["reason"]), (401, &"revoked".into()));
        }
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
fn standby_takes_over_when_primary_is_killed_under_load() {
    let Some(deployment) = Deployment::start() else { return };
    deployment.fail_over(|| deployment.first.kill());
    deployment.assert_fresh();
    for server in deployment.servers {
        assert_eq!(server.stop_with("TERM").0, Some(0));
    }
}

#[test]
fn former_primary_is_not_read_after_return() {
    let Some(deployment) = Deployment::start() else { return };
    let Deployment { first, second, .. } = &deployment;
    deployment.fail_over(|| first.control(&["-m", "fast", "stop"]));
    first.follow(second);
    first.control(&["start"]);
    // From here on, responses from the former primary would be stale.
    Session::of(&first.address("postgres")).run("SELECT pg_wal_replay_pause()");
    deployment.assert_fresh();
}

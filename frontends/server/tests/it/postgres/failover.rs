//! A standby takes over under `serve`, with the settings of `examples/deployment`.

use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread;

use catalogue_postgres_cluster::Cluster;

use super::errors::{Ending, ask, grows};
use super::fixture::{Fixture, Session, url};
use crate::program::{COURSES, Server};

const SETTINGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/deployment/catalogue.toml");

/// Two servers on a primary and a standby, and a key with its id.
struct Deployment {
    first: Cluster,
    second: Cluster,
    fixture: Fixture,
    servers: [Server; 2],
    id: String,
    token: String,
}

impl Deployment {
    /// `None` where PostgreSQL is missing and not required.
    fn start() -> Option<Self> {
        Cluster::shared()?;
        let first = Cluster::start().unwrap();
        let mut fixture = Fixture::on(&first, "postgres");
        fixture.import(COURSES);
        let (id, token) = fixture.key("a");
        let second = first.standby().unwrap();
        fixture.address = both(&first, &second);
        // Nothing rendered is kept, so that each request reads courses too.
        let servers = [(); 2].map(|()| fixture.serve(&format!("--config {SETTINGS} --page-cache 0 --log off")));
        Some(Self { first, second, fixture, servers, id, token })
    }

    /// Asks both servers while the primary goes and the standby takes over, and until requests are served again.
    fn fail_over(&self, goes: impl FnOnce()) {
        let (is_running, served, failed) = (AtomicBool::new(true), AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for server in self.servers.iter().cycle().take(4) {
                scope.spawn(|| ask(&server.address, &self.token, &is_running, &served, &failed));
            }
            let _ending = Ending(&is_running);
            grows(&served, &is_running);
            goes();
            grows(&failed, &is_running);
            self.second.control(&["promote"]);
            grows(&served, &is_running);
        });
    }

    /// Whatever is committed from now on, each server's next answer shows it.
    fn answers_are_current(&self) {
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

/// The address of a database on both.
fn both(first: &Cluster, second: &Cluster) -> String {
    let [(first, _), (second, name)] = [first, second].map(|cluster| {
        let address = url(cluster, "postgres");
        let (socket, name) = address.strip_prefix("postgres://postgres@").unwrap().split_once('/').unwrap();
        (socket.to_owned(), name.to_owned())
    });
    format!("postgres://postgres@{first},{second}/{name}")
}

#[test]
fn a_standby_takes_over_from_a_primary_that_is_killed_under_load() {
    let Some(deployment) = Deployment::start() else { return };
    deployment.fail_over(|| deployment.first.kill());
    deployment.answers_are_current();
    for server in deployment.servers {
        assert_eq!(server.end_by("TERM").0, Some(0));
    }
}

#[test]
fn what_was_the_primary_is_not_read_when_it_is_back() {
    let Some(deployment) = Deployment::start() else { return };
    let Deployment { first, second, .. } = &deployment;
    deployment.fail_over(|| first.control(&["-m", "fast", "stop"]));
    first.follow(second);
    first.control(&["start"]);
    // From here on its answers would be old.
    Session::of(&first.address("postgres")).run("SELECT pg_wal_replay_pause()");
    deployment.answers_are_current();
}

//! Requests and a command whose connection to PostgreSQL is cut at any message: a request gets the correct response or a 500,
//! and a change reports whether it was made. The storage's tests hold this for each change.

#[path = "../../../../../storage/postgres/tests/it/lost_responses/proxy.rs"]
mod proxy;

use std::thread;

use catalogue_postgres_cluster::Cluster;
use serde_json::Value;

use super::fixture::{Fixture, Session};
use proxy::{MAX_MESSAGES, Proxy, Sender};

/// A database with courses, a proxy that can cut connections to it, and a direct connection.
struct Fixtures {
    fixture: Fixture,
    proxy: Proxy,
    host: Session,
    sender: Sender,
}

impl Fixtures {
    fn new(sender: Sender) -> Option<Self> {
        let mut fixture = Fixture::with_courses()?;
        let host = fixture.session();
        let proxy = Proxy::before(Cluster::shared().unwrap());
        let (_, name) = fixture.address.rsplit_once('/').unwrap();
        fixture.address = format!("postgres://postgres@127.0.0.1:{}/{name}?sslmode=disable", proxy.port);
        Some(Self { fixture, proxy, host, sender })
    }

    /// Returns each fixture, for cuts before a message of the client or of the server.
    fn both() -> impl Iterator<Item = Self> {
        [Sender::Client, Sender::Server].into_iter().map_while(Self::new)
    }

    /// Cuts the connections before message number `at`; messages count from 1.
    fn cut(&self, at: usize) {
        assert!(at < MAX_MESSAGES);
        self.proxy.cut(self.sender, at - 1);
    }

    /// Waits until the database has finished the statements of cut connections.
    fn settle(&self) {
        let busy = "SELECT CAST(pid AS TEXT) FROM pg_stat_activity WHERE datname = current_database() \
            AND state IS DISTINCT FROM 'idle' AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
        while !self.host.texts(busy).is_empty() {
            thread::yield_now();
        }
    }
}

#[test]
fn requests_return_correct_response_or_500() {
    for scene in Fixtures::both() {
        let (_, token) = scene.fixture.key("a");
        // Looks like a signed token; the storage knows that it was revoked.
        let signed = "eyJ0eXAiOiJhdCtqd3QiLCJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIiwiZXhwIjo0MTAyNDQ0ODAwfQ.AAAA";
        if cfg!(feature = "oauth") {
            scene.fixture.run_reading(signed, "tokens revoke --account a").succeeds();
        }
        for page_cache in ["0", "8MiB"] {
            let server = scene.fixture.serve(&format!("--page-cache {page_cache} --log off"));
            for (token, path) in [&*token, signed, "unknown"].iter().flat_map(|token| {
                ["me", "courses", "courses?limit=1", "courses/one", "courses/none"].map(|path| (token, path))
            }) {
                let get = || server.get(&format!("/api/v1/{path}"), token);
                let expected = without_id(get());
                for at in 1.. {
                    scene.cut(at);
                    let response = get();
                    let was_cut = scene.proxy.stop();
                    let context = format!("{path}, {:?} at {at}: {response:?}", scene.sender);
                    let is_failure = was_cut && response.0 == 500 && response.1["error"]["code"] == "internal_error";
                    assert!(is_failure || without_id(response) == expected, "{context}");
                    assert_eq!(without_id(get()), expected, "after {context}");
                    if !was_cut {
                        break;
                    }
                }
            }
        }
    }
}

fn without_id((status, mut body): (u16, Value)) -> (u16, Value) {
    body["error"]["details"]["requestId"].take();
    (status, body)
}

#[test]
#[ignore = "takes a minute"]
fn key_creation_reports_outcome() {
    for scene in Fixtures::both() {
        let keys = || scene.host.texts("SELECT id FROM credentials").len();
        let (mut unknown, mut not_made) = (0, 0);
        for at in 1.. {
            let before = keys();
            scene.cut(at);
            let outcome = scene.fixture.run("keys create --account a --name n --scope read:courses");
            let was_cut = scene.proxy.stop();
            scene.settle();
            let is_made = keys() > before;
            let context = format!("{:?} at {at}: {outcome:?}", scene.sender);
            if outcome.err.contains("it is not known whether") {
                unknown += 1;
            } else {
                assert_eq!(is_made, outcome.status == Some(0), "{context}");
                not_made += usize::from(!is_made);
            }
            if outcome.status != Some(0) {
                assert!(was_cut, "{context}");
                outcome.fails(1, &[]);
            }
            if !was_cut {
                break;
            }
        }
        assert!(unknown > 0 && not_made > 0, "{:?}: {unknown} unknown, {not_made} not made", scene.sender);
    }
}

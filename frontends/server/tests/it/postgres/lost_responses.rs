//! Requests whose connection to PostgreSQL is cut at any message get the correct response or a 500. The storage's tests hold
//! that each change reports whether it was made.

#[path = "../../../../../storage/postgres/tests/it/lost_responses/proxy.rs"]
mod proxy;

use catalogue_postgres_cluster::Cluster;
use serde_json::Value;

use crate::program::TestDir;
use proxy::{MAX_MESSAGES, Proxy, Sender};

/// A database with courses, and a proxy that can cut connections to it.
struct Fixtures {
    fixture: TestDir,
    proxy: Proxy,
    sender: Sender,
}

impl Fixtures {
    fn new(sender: Sender) -> Option<Self> {
        let mut fixture = TestDir::postgres_with_courses()?;
        let proxy = Proxy::before(Cluster::shared().unwrap());
        let (_, name) = fixture.address.rsplit_once('/').unwrap();
        fixture.address = format!("postgres://postgres@127.0.0.1:{}/{name}?sslmode=disable", proxy.port);
        Some(Self { fixture, proxy, sender })
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

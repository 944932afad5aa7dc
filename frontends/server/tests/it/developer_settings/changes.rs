//! Changes of the developer settings on a failing database: each response must match what the database contains.

use super::visitor::{TestResponse, Visitor};
use crate::program::Server;

/// Maximum changes and sign-ins per server process, below the rate limits by account and by client address.
const CHANGES: usize = 24;
const SIGN_INS: usize = 8;

/// Counts of keys, events, links and sessions, independent of random ids and times. Valid in both SQL dialects.
pub(crate) const SHAPE: &str = "SELECT CAST((SELECT count(*) FROM credentials) AS TEXT) || '/' \
    || (SELECT count(revoked_at) FROM credentials) || '/' || (SELECT count(replaced_by) FROM credentials) || '/' \
    || (SELECT count(*) FROM credentials WHERE name = 'b') || '/' || (SELECT count(*) FROM credential_events) || '/' \
    || (SELECT count(*) FROM sign_ins WHERE kind = 'link') || '/' || (SELECT count(*) FROM sign_ins)";

/// Tables that [`SHAPE`] reads.
pub(crate) const TABLES: [&str; 3] = ["credentials", "credential_events", "sign_ins"];

/// A database that fails on demand.
pub(crate) trait FailingDatabase {
    /// Restores the rows that existed before the first step failed.
    fn restore(&self);

    /// Returns the result of [`SHAPE`].
    fn shape(&self) -> String;

    /// Makes step number `at` fail; steps count from 1.
    fn fail(&self, at: usize);

    /// Stops failing, waits until the database is idle, and returns whether a step has failed.
    fn stop(&self) -> bool;
}

/// An owner with a key, a session and an unused link.
pub(crate) struct Changes {
    owner: Visitor,
    id: String,
    nonce: String,
    code: String,
}

impl Changes {
    /// Signs in at `address` and creates a key to change.
    pub(crate) fn new(address: &str, links: [&str; 2]) -> Self {
        let mut owner = Visitor::of(address);
        assert_eq!(owner.sign_in(links[0]).status, 303);
        let id = owner.create_key("partner").0;
        let page = owner.get("/settings/keys/new").body;
        let nonce = page.split("name=\"nonce\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        let code = links[1].trim_end().split_once('#').unwrap().1.to_owned();
        Self { owner, id, nonce, code }
    }

    /// Returns method, path below the settings URL, and body (a form or JSON) of each change.
    fn all(&self) -> [(&'static str, String, String); 10] {
        let Self { id, nonce, code, .. } = self;
        let json = format!(r#"{{"name":"a","scopes":["read:courses"],"expiresAt":null,"nonce":"{nonce}"}}"#);
        let rotation = format!(r#"{{"overlapSeconds":3600,"nonce":"{nonce}"}}"#);
        [
            ("POST", "keys".into(), format!("nonce={nonce}&name=a&scope=read:courses&expires=90d&date=")),
            ("POST", "api/keys".into(), json),
            ("POST", format!("keys/{id}/name"), "name=b".into()),
            ("PATCH", format!("api/keys/{id}"), r#"{"name":"b"}"#.into()),
            ("POST", format!("keys/{id}/rotate"), format!("nonce={nonce}&overlap=1h")),
            ("POST", format!("api/keys/{id}/rotate"), rotation),
            ("POST", format!("keys/{id}/revoke"), String::new()),
            ("POST", format!("api/keys/{id}/revoke"), "{}".into()),
            ("POST", "sign-in".into(), format!("code={code}")),
            ("POST", "sign-out".into(), String::new()),
        ]
    }

    fn send(&self, server: &Server, (method, path, body): &(&str, String, String)) -> TestResponse {
        let media_type = if path.starts_with("api") { "json" } else { "x-www-form-urlencoded" };
        let media_type = format!("Content-Type: application/{media_type}");
        let owner = if *path == "sign-in" { Visitor::of(&server.address) } else { self.owner.at(&server.address) };
        owner.send(method, &format!("/settings/{path}"), &["Sec-Fetch-Site: same-origin", &media_type], body)
    }

    /// Fails each step of each change in turn: the response must match the outcome, and a retry without a failure must make the
    /// change. Returns how often a change was not made, and how often its outcome was unknown.
    pub(crate) fn assert_outcomes(
        &self,
        database: &impl FailingDatabase,
        serve: impl Fn() -> Server,
    ) -> (usize, usize) {
        let mut output = (0, 0);
        for change in self.all() {
            let max_requests = if change.1 == "sign-in" { SIGN_INS } else { CHANGES };
            let (mut server, mut sent) = (serve(), 2);
            database.restore();
            let (before, expected) = (database.shape(), self.send(&server, &change).status);
            let done = database.shape();
            assert!(before != done && expected < 400, "{change:?}: {before} {expected}");
            for at in 1.. {
                database.restore();
                sent += 2;
                if sent > max_requests {
                    (server, sent) = (serve(), 2);
                }
                database.fail(at);
                let response = self.send(&server, &change);
                let failed = database.stop();
                let after = database.shape();
                let context = format!("{change:?} at {at}: {before} became {after} and not {done}, {response:?}");
                match response.status {
                    500 if response.body.contains("may or may not") => {
                        assert!(failed && (after == before || after == done), "{context}");
                        output.1 += 1;
                    }
                    500 => {
                        assert!(
                            failed && after == before && response.body.contains("Nothing has changed"),
                            "{context}"
                        );
                        output.0 += 1;
                    }
                    status => assert!(status == expected && after == done, "{context}"),
                }
                // A change that was made may be refused now, but is not made twice.
                let again = self.send(&server, &change);
                assert!(again.status == expected || after == done && again.status < 500, "{again:?} after {context}");
                assert_eq!(database.shape(), done, "{context}");
                if !failed {
                    break;
                }
            }
        }
        output
    }
}

//! Each change of the developer settings, held to what it says while the database below fails.

use super::visitor::{TestResponse, Visitor};
use crate::program::Server;

/// How many changes a server is asked for, and how many sign-ins: those of an account and of an address are limited.
const CHANGES: usize = 24;
const SIGN_INS: usize = 8;

/// What of keys, events, links and sessions a change changes, whatever ids and times were drawn, in any SQL.
pub(crate) const SHAPE: &str = "SELECT CAST((SELECT count(*) FROM credentials) AS TEXT) || '/' \
    || (SELECT count(revoked_at) FROM credentials) || '/' || (SELECT count(replaced_by) FROM credentials) || '/' \
    || (SELECT count(*) FROM credentials WHERE name = 'b') || '/' || (SELECT count(*) FROM credential_events) || '/' \
    || (SELECT count(*) FROM sign_ins WHERE kind = 'link') || '/' || (SELECT count(*) FROM sign_ins)";

/// Where that stands.
pub(crate) const TABLES: [&str; 3] = ["credentials", "credential_events", "sign_ins"];

/// A database that fails when it is told to.
pub(crate) trait FailingDatabase {
    /// Makes it what it was when the changes were made up.
    fn restore(&self);

    /// Its [`SHAPE`].
    fn shape(&self) -> String;

    /// Lets its step of that number fail, from 1.
    fn fail(&self, at: usize);

    /// Lets no step fail any more, waits until the database is done, and says whether one has failed.
    fn stop(&self) -> bool;
}

/// An owner, with a key and a session, and a link that was not used.
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
        let id = owner.make_key("partner").0;
        let page = owner.get("/settings/keys/new").body;
        let nonce = page.split("name=\"nonce\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        let code = links[1].trim_end().split_once('#').unwrap().1.to_owned();
        Self { owner, id, nonce, code }
    }

    /// A method, a path below the settings, and a body, which is a form or JSON.
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

    /// Lets one step of each change fail after the other: it is done or not, its answer says which, and when nothing fails any
    /// more, the same request does it. Gives how often one was not done, and how often that was not known.
    pub(crate) fn assert_outcomes(
        &self,
        database: &impl FailingDatabase,
        serve: impl Fn() -> Server,
    ) -> (usize, usize) {
        let mut output = (0, 0);
        for change in self.all() {
            let most = if change.1 == "sign-in" { SIGN_INS } else { CHANGES };
            let (mut server, mut sent) = (serve(), 2);
            database.restore();
            let (before, expected) = (database.shape(), self.send(&server, &change).status);
            let done = database.shape();
            assert!(before != done && expected < 400, "{change:?}: {before} {expected}");
            for at in 1.. {
                database.restore();
                sent += 2;
                if sent > most {
                    (server, sent) = (serve(), 2);
                }
                database.fail(at);
                let response = self.send(&server, &change);
                let met = database.stop();
                let displayed = database.shape();
                let context = format!("{change:?} at {at}: {before} became {displayed} and not {done}, {response:?}");
                match response.status {
                    500 if response.body.contains("not known whether") => {
                        assert!(met && (displayed == before || displayed == done), "{context}");
                        output.1 += 1;
                    }
                    500 => {
                        assert!(
                            met && displayed == before && response.body.contains("Nothing has changed"),
                            "{context}"
                        );
                        output.0 += 1;
                    }
                    status => assert!(status == expected && displayed == done, "{context}"),
                }
                // What was done may be refused now, and is not done twice.
                let again = self.send(&server, &change);
                assert!(
                    again.status == expected || displayed == done && again.status < 500,
                    "{again:?} after {context}"
                );
                assert_eq!(database.shape(), done, "{context}");
                if !met {
                    break;
                }
            }
        }
        output
    }
}

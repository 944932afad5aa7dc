//! Failing storage: no response reports success, and a retried request makes each change exactly once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use catalogue_core::storage::{KeyStorage, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};
use catalogue_storage_tests::intercept::Point;
use http::Request;
use serde_json::{Value, json};

use crate::app::{App, Key, form, get, json_request, new_key};
use crate::host::{FAILURE, READS};
use crate::sign_in::{Site, with_cookie};

#[tokio::test]
async fn failed_change_returns_500_and_changes_nothing() {
    for (kind, sentence) in [
        (StorageErrorKind::Other, "Internal server error. Nothing has changed."),
        (StorageErrorKind::Unavailable, "The database is unavailable. Nothing has changed. Try again in a minute."),
        (
            StorageErrorKind::Busy,
            "Another program is writing to the database; an import may be running. Nothing has changed.",
        ),
        (StorageErrorKind::OutcomeUnknown, "The change may or may not have been saved."),
    ] {
        let (app, key) = App::with_key().await;
        let nonce = app.nonce("/settings/keys/new").await;
        app.storage.fail_changes(kind);
        let new = [("nonce", &*nonce), ("name", "a"), ("scope", "read:courses"), ("expires", "never")];
        for response in [
            app.post("/settings/keys", &new).await,
            app.post(&key.page("/name"), &[("name", "b")]).await,
            app.post(&key.page("/rotate"), &[("nonce", &nonce), ("overlap", "0")]).await,
            app.post(&key.page("/revoke"), &[]).await,
        ] {
            assert_eq!(response.status, 500);
            response.shows("<title>Server error");
            response.shows(sentence);
            response.shows(response.header("x-request-id").unwrap());
            assert_eq!(response.body.contains("an import"), matches!(kind, StorageErrorKind::Busy));
            response.hides("/var/secret");
            response.hides("ccat_");
        }
        let response = app.create("a").await;
        let error = &response.json()["error"];
        assert_eq!((response.status, &error["code"]), (500, &json!("internal_error")));
        assert_eq!(error["details"]["requestId"], response.header("x-request-id").unwrap());
        assert_eq!(app.get("/settings/api/keys").await.data()[0]["name"], "partner");
    }
}

#[tokio::test]
async fn concurrently_removed_account_returns_404() {
    let (app, key) = App::with_key().await;
    app.storage.fail_changes(StorageErrorKind::UnknownReference);
    assert_eq!(app.create("a").await.failure().0, 404);
    assert_eq!(app.send("POST", &key.api("/rotate"), &json!({ "overlapSeconds": 0 })).await.failure().0, 404);
}

#[tokio::test]
async fn failed_read_returns_500_instead_of_empty_list() {
    let (app, key) = App::with_key().await;
    app.storage.fail(&READS, StorageErrorKind::Other);
    let key_page = key.page("");
    for path in ["/settings", "/settings/activity", "/settings/api/keys", "/settings/api/events", &key_page] {
        assert_eq!(app.get(path).await.status, 500, "{path}");
    }
    assert_eq!(app.post("/settings/check", &[("token", "ccat_x")]).await.status, 500);
}

#[tokio::test]
async fn failed_sign_in_or_sign_out_is_not_reported_as_success() {
    for (fails_at, sign_in, page, sign_out) in [
        (&["exchange_link"], 500, 200, 303),
        (&["find_session"], 303, 500, 500),
        // The client gets the new session even if its old one cannot be ended.
        (&["end_session"], 303, 200, 500),
    ] {
        let site = Site::new().await;
        let (replaced, session) = (site.sign_in("anna").await, site.sign_in("anna").await);
        let code = site.code("anna").await;
        site.storage.fail(fails_at, StorageErrorKind::Other);
        let responses = [
            site.call(with_cookie(form("/settings/sign-in", &[("code", &code)]), &replaced)).await,
            site.get("/settings", &session).await,
            site.sign_out(&session).await,
        ];
        assert_eq!(responses.each_ref().map(|response| response.status), [sign_in, page, sign_out], "{fails_at:?}");
        for response in responses.iter().filter(|response| response.status == 500) {
            assert_eq!(response.header("set-cookie"), None);
            response.shows("Internal server error. Nothing has changed.");
            response.hides("/var/secret");
        }
        site.storage.fail(&[], StorageErrorKind::Other);
        let after = site.get("/settings", &session).await.status;
        assert_eq!(after, if sign_out == 500 { 200 } else { 303 }, "{fails_at:?}");
    }
}

/// Settings with a key, a session and an unused link.
struct Fixture {
    site: Site,
    session: String,
    code: String,
    key: Key,
    nonce: String,
}

/// State without random values: the keys and events, and whether the session is valid. Each change alters it.
type Snapshot = (Vec<Value>, Vec<Value>, bool);

impl Fixture {
    async fn new() -> Self {
        let (app, key) = App::with_key().await;
        // Otherwise two keys would be in the order of their random ids.
        app.clock.advance(1);
        let nonce = app.nonce("/settings/keys/new").await;
        let site = Site::of(app);
        Self { session: site.sign_in("anna").await, code: site.code("anna").await, key, nonce, site }
    }

    async fn snapshot(&self) -> Snapshot {
        let (account, memory) = (AccountId::new("anna"), &self.site.storage.memory);
        let keys = memory.list_keys(&account, Timestamp::MAX, usize::MAX).await.unwrap().unwrap();
        let keys = keys.iter().map(|key| json!([key.name, key.revoked_at, key.expires_at, key.replaced_by.is_some()]));
        let events = memory.list_events(&account, 100).await.unwrap();
        let events = events.iter().map(|event| json!([event.action.name(), event.name]));
        let is_signed_in = self.site.get("/settings/api/keys", &self.session).await.status == 200;
        (keys.collect(), events.collect(), is_signed_in)
    }

    /// Returns all requests: for all pages, and for changes by form and JSON.
    fn requests(&self) -> Vec<Request<String>> {
        let Self { key, nonce, .. } = self;
        let new = [("nonce", &**nonce), ("name", "a"), ("scope", "read:courses"), ("expires", "never")];
        let mut new_json = new_key("a");
        new_json["nonce"] = json!(nonce);
        let mut requests = vec![
            get("/settings"),
            get("/settings/keys/new"),
            get(&key.page("")),
            get(&key.page("/revoke")),
            get(&key.page("/reminder.ics")),
            get("/settings/activity"),
            get("/settings/api/keys"),
            get(&key.api("")),
            get("/settings/api/events"),
            get("/settings/sign-in"),
            form("/settings/check", &[("token", &key.token)]),
            json_request("POST", "/settings/api/check", &json!({ "token": key.token })),
            form("/settings/keys", &new),
            json_request("POST", "/settings/api/keys", &new_json),
            form(&key.page("/name"), &[("name", "b")]),
            json_request("PATCH", &key.api(""), &json!({ "name": "b" })),
            form(&key.page("/rotate"), &[("nonce", nonce), ("overlap", "1h")]),
            json_request("POST", &key.api("/rotate"), &json!({ "overlapSeconds": 0, "nonce": nonce })),
            form(&key.page("/revoke"), &[]),
            json_request("POST", &key.api("/revoke"), &json!({})),
            form("/settings/sign-out", &[]),
        ];
        requests = requests.into_iter().map(|request| with_cookie(request, &self.session)).collect();
        requests.push(form("/settings/sign-in", &[("code", &self.code)]));
        requests
    }
}

/// Number of requests, and of those that change something.
const REQUESTS: (usize, usize) = (22, 10);

#[tokio::test]
async fn request_reports_outcome_when_any_storage_call_fails() {
    let mut counted = (0, 0);
    for number in 0..Fixture::new().await.requests().len() {
        let working = Fixture::new().await;
        let request = working.requests().swap_remove(number);
        let (before, expected) = (working.snapshot().await, working.site.call(request.clone()).await.status);
        let done = working.snapshot().await;
        assert!(expected < 400 || request.uri().path().ends_with(".ics"), "{request:?}: {expected}");
        counted = (counted.0 + 1, counted.1 + usize::from(before != done));
        for loses_result in [false, true] {
            for at in 1_usize.. {
                let fixture = Fixture::new().await;
                let (site, request) = (&fixture.site, fixture.requests().swap_remove(number));
                let begun = Arc::new(AtomicUsize::new(0));
                let counter = begun.clone();
                site.storage.set_fault(move |method, point| {
                    counter.fetch_add(usize::from(point == Point::Begun), Ordering::Relaxed);
                    let kind = match (READS.contains(&method), loses_result, point) {
                        (true, _, Point::Begun) => Some(StorageErrorKind::Unavailable),
                        (false, false, Point::Begun) => Some(StorageErrorKind::Other),
                        (false, true, Point::Done) => Some(StorageErrorKind::OutcomeUnknown),
                        _ => None,
                    };
                    kind.filter(|_| counter.load(Ordering::Relaxed) == at)
                });
                let response = site.call(request.clone()).await;
                let has_failed = begun.load(Ordering::Relaxed) >= at;
                site.storage.fail(&[], StorageErrorKind::Other);
                let snapshot = fixture.snapshot().await;
                let context = format!("{request:?}, call {at}, {loses_result}: {snapshot:?} after {response:?}");
                if response.status == 500 {
                    let is_unknown = response.body.contains("may or may not");
                    assert!(has_failed && (snapshot == before || is_unknown && snapshot == done), "{context}");
                    response.hides("ccat_");
                    response.hides(FAILURE);
                } else {
                    assert_eq!((response.status, &snapshot), (expected, &done), "{context}");
                }
                // The owner retries. A completed change may be refused now, and must not be made twice.
                let again = site.call(request).await.status;
                assert!(if snapshot == done { again < 500 } else { again == expected }, "{again}: {context}");
                assert_eq!(fixture.snapshot().await, done, "{context}");
                if !has_failed {
                    break;
                }
            }
        }
    }
    assert_eq!(counted, REQUESTS);
}

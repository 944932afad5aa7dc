//! Log lines, which never contain secrets or names of keys.

use std::io;
use std::sync::{Arc, Mutex};

use catalogue_core::MountUrl;
use catalogue_core::storage::{Actor, SignInStorage, StorageErrorKind};
use catalogue_settings::{DEFAULT_LINK_LIFETIME, SignInLink};
use http_body_util::Full;
use serde_json::json;
use tracing::subscriber::{DefaultGuard, NoSubscriber};
use tracing::{Dispatch, Level};
use tracing_subscriber::fmt::MakeWriter;

use crate::app::{App, TestResponse, form, get, storage};
use crate::failing::failing_app;
use crate::host::Host;
use crate::sign_in::COOKIE_NAME;

/// A buffer that collects the log as text.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Captures the log of this thread from now on.
///
/// Registers a second subscriber: with only one, the first thread to reach an event would decide for all threads whether it
/// is enabled.
fn capture_log() -> (Log, (Dispatch, DefaultGuard)) {
    let (log, second) = (Log::default(), Dispatch::new(NoSubscriber::default()));
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_max_level(Level::TRACE);
    let guard = tracing::subscriber::set_default(subscriber.with_writer(log.clone()).finish());
    (log, (second, guard))
}

#[tokio::test]
async fn failure_is_logged_with_cause() {
    let (log, _guard) = capture_log();
    let (app, id) = failing_app(StorageErrorKind::Other, true).await;
    for (response, level, cause) in [
        (
            app.post(&format!("/settings/keys/{id}/name"), &[("name", "b")]).await,
            "ERROR",
            "the disk at /var/secret is full",
        ),
        (TestResponse::of(app.settings.refuse(get("/settings")).await), "DEBUG", ""),
    ] {
        let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        let request = response.header("x-request-id").unwrap();
        let line = log.lines().find(|line| line.contains(request)).expect(level);
        assert!(line.contains(level) && line.contains(cause), "{line}");
    }
}

#[tokio::test]
async fn changes_are_logged_without_secrets_and_names() {
    let (log, _guard) = capture_log();
    let storage = storage().await;
    let app = App::over(storage.clone(), Host::of(storage), |builder| builder);
    let key = app.make("Acme school").await;
    let (id, token) = (key["id"].as_str().unwrap(), key["token"].as_str().unwrap());
    let path = format!("/settings/api/keys/{id}");
    let rotated = app.send("POST", &format!("{path}/rotate"), &json!({ "overlapSeconds": 60 })).await.data();
    for _ in 0..2 {
        app.send("PATCH", &path, &json!({ "name": "another name" })).await;
    }
    app.clock.advance(1);
    for _ in 0..2 {
        app.send("POST", &format!("{path}/revoke"), &json!({})).await;
        app.clock.advance(1);
    }
    app.post("/settings/check", &[("token", token)]).await;
    let url = MountUrl::parse("/settings").unwrap();
    let (link, stored_link) = SignInLink::mint("anna".into(), &url, app.clock.now(), DEFAULT_LINK_LIFETIME);
    app.storage.create_link(&stored_link, &Actor::OPERATOR).await.unwrap();
    let site = app.settings.with_sign_in(app.storage.clone());
    let request = form("/settings/sign-in", &[("code", link.code())]).map(|body| Full::new(bytes::Bytes::from(body)));
    let response = TestResponse::of(site.call(request).await);
    let session = response.header("set-cookie").unwrap().split([';', '=']).nth(1).unwrap().to_owned();
    let out = form("/settings/sign-out", &[]).map(|body| Full::new(bytes::Bytes::from(body)));
    for _ in 0..2 {
        let mut out = out.clone();
        out.headers_mut().insert("cookie", format!("{COOKIE_NAME}={session}").parse().unwrap());
        site.call(out).await;
    }
    let debug_text = format!("{app:?} {site:?} {link:?} {stored_link:?}", app = app.settings);
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for action in ["key_created", "key_rotated", "key_renamed", "key_revoked", "signed_in", "signed_out"] {
        assert_eq!(log.matches(&format!("action=\"{action}\"")).count(), 1, "{action}: {log}");
    }
    assert!(log.contains(&format!("account=\"anna\" actor=\"owner\" action=\"key_created\" key=\"{id}\"")), "{log}");
    for secret in [token, rotated["token"].as_str().unwrap(), link.code(), &session, "Acme school", "another name"] {
        assert!(!log.contains(secret) && !debug_text.contains(secret), "{secret}: {log} {debug_text}");
    }
}

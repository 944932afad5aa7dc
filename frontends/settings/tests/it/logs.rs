//! Log lines, which never contain secrets or names of keys.

use std::fs;

use catalogue_core::storage::StorageErrorKind;
use serde_json::json;
use tempfile::NamedTempFile;
use tracing::subscriber::{DefaultGuard, NoSubscriber};
use tracing::{Dispatch, Level};

use crate::app::{App, Key, TestResponse, get};
use crate::host::{FAILURE, HostStorage};
use crate::sign_in::{Site, cookie};

/// Captures the log of this thread from now on in a file.
///
/// Registers a second subscriber: with only one, the first thread to reach an event would decide for all threads whether it
/// is enabled.
fn capture_log() -> (NamedTempFile, (Dispatch, DefaultGuard)) {
    let (log, second) = (NamedTempFile::new().unwrap(), Dispatch::new(NoSubscriber::default()));
    let subscriber = tracing_subscriber::fmt().with_writer(log.reopen().unwrap()).with_ansi(false);
    let guard = tracing::subscriber::set_default(subscriber.with_max_level(Level::TRACE).finish());
    (log, (second, guard))
}

#[tokio::test]
async fn failure_is_logged_with_cause() {
    let (log, _guard) = capture_log();
    let (app, key) = App::with_key().await;
    app.storage.fail_changes(StorageErrorKind::Other);
    for (response, level, cause) in [
        (app.post(&key.page("/name"), &[("name", "b")]).await, "ERROR", FAILURE),
        (TestResponse::of(app.settings.refuse(get("/settings")).await), "DEBUG", ""),
    ] {
        let log = fs::read_to_string(log.path()).unwrap();
        let request = response.header("x-request-id").unwrap();
        let line = log.lines().find(|line| line.contains(request)).expect(level);
        assert!(line.contains(level) && line.contains(cause), "{line}");
    }
}

#[tokio::test]
async fn changes_are_logged_without_secrets_and_names() {
    let (log, _guard) = capture_log();
    let app = App::over(HostStorage::with_minute_resolution().await, |builder| builder);
    let key = app.make("Acme school").await;
    let rotated = Key::of(app.send("POST", &key.api("/rotate"), &json!({ "overlapSeconds": 60 })).await.data());
    for _ in 0..2 {
        app.send("PATCH", &key.api(""), &json!({ "name": "another name" })).await;
    }
    app.clock.advance(1);
    for _ in 0..2 {
        app.send("POST", &key.api("/revoke"), &json!({})).await;
        app.clock.advance(1);
    }
    app.post("/settings/check", &[("token", &key.token)]).await;
    let settings = format!("{:?}", app.settings);
    let site = Site::of(app);
    let code = site.code("anna").await;
    let session = cookie(&site.send_code(&code).await);
    for _ in 0..2 {
        site.sign_out(&session).await;
    }
    let session = session.split_once('=').unwrap().1;
    let debug_text = format!("{settings} {:?}", site.settings);
    let log = fs::read_to_string(log.path()).unwrap();
    for action in ["key_created", "key_rotated", "key_renamed", "key_revoked", "signed_in", "signed_out"] {
        assert_eq!(log.matches(&format!("action=\"{action}\"")).count(), 1, "{action}: {log}");
    }
    assert!(
        log.contains(&format!("account=\"anna\" actor=\"owner\" action=\"key_created\" key=\"{}\"", key.id)),
        "{log}"
    );
    for secret in [&*key.token, &rotated.token, &code, session, "Acme school", "another name"] {
        assert!(!log.contains(secret) && !debug_text.contains(secret), "{secret}: {log} {debug_text}");
    }
}

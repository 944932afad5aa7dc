//! Callers that the host application identifies by the request head, before a bearer token is read.

use std::sync::Arc;

use catalogue_core::auth::{CredentialKind, Identity, NewToken, Scopes, token_kind};
use catalogue_core::limit::ClientAddress;
use catalogue_core::{AccountId, Catalogue};
use http::header::{AUTHORIZATION, COOKIE};
use http::{Request, request};
use serde_json::json;

use crate::app::{OTHER, OWNER, TestApp, TestResponse, course, for_other, send};
use crate::clock::Clock;
use crate::observer::Recorder;

/// Returns the identity of the session that the cookie names.
fn session(head: &request::Parts) -> Option<Identity> {
    let cookie = head.headers.get(COOKIE)?.to_str().unwrap();
    let (account, id, scopes) = match cookie {
        "owner" => (OWNER, "session_1", "read:courses"),
        "other" => (OTHER, "session_2", "read:courses"),
        "profile" => (OWNER, "session_3", "read:profile"),
        "broken" => panic!("the sessions are broken"),
        _ => return None,
    };
    Some(Identity::api_key(AccountId::new(account), id, Scopes::from_names([scopes])))
}

fn mount(app: &TestApp) -> Catalogue {
    app.catalogue.mounted_at("/my").unwrap().identified_by(session)
}

fn get(target: &str, cookie: Option<&str>, token: Option<&str>) -> Request<()> {
    let mut request = Request::get(target);
    if let Some(cookie) = cookie {
        request = request.header(COOKIE, cookie);
    }
    if let Some(token) = token {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    request.body(()).unwrap()
}

async fn with_cookie(catalogue: &Catalogue, target: &str, cookie: &str) -> TestResponse {
    send(catalogue, "/my", get(target, Some(cookie), None)).await
}

/// Returns the slugs of all pages of the session.
async fn follow_links(catalogue: &Catalogue, cookie: &str) -> Vec<String> {
    let page = async |target: String| with_cookie(catalogue, &target, cookie).await;
    crate::app::follow_links("/my/courses?limit=1", page).await
}

#[tokio::test]
async fn session_reads_own_courses_along_own_links() {
    let app = TestApp::new().await;
    app.put([course("a", 2), course("b", 1), for_other(course("c", 2)), for_other(course("d", 1))]).await;
    let session_mount = mount(&app);
    assert_eq!(follow_links(&session_mount, "owner").await, ["a", "b"]);
    assert_eq!(follow_links(&session_mount, "other").await, ["c", "d"]);
    with_cookie(&session_mount, "/my/courses/c", "owner").await.failure(404, "not_found");
    assert_eq!(with_cookie(&session_mount, "/my/me", "other").await.data()["apiKeyId"], "session_2");
}

#[tokio::test]
async fn bearer_token_decides_without_a_session() {
    let app = TestApp::new().await;
    app.put([course("a", 0), for_other(course("b", 0))]).await;
    let (session_mount, key) = (mount(&app), app.key(OTHER, "read:courses").await);
    for cookie in [None, Some("nobody")] {
        let response = send(&session_mount, "/my", get("/my/courses", cookie, None)).await;
        assert_eq!(response.failure(401, "unauthorized"), json!({ "reason": "missing" }));
        let response = send(&session_mount, "/my", get("/my/courses", cookie, Some(&key))).await;
        assert_eq!(response.data()[0]["slug"], "b");
    }
    for token in [&*key, "wrong"] {
        let response = send(&session_mount, "/my", get("/my/courses", Some("owner"), Some(token))).await;
        assert_eq!(response.data()[0]["slug"], "a");
    }
    with_cookie(&app.catalogue, "/api/v1/me", "owner").await.failure(401, "unauthorized");
}

#[tokio::test]
async fn session_is_checked_like_a_token() {
    let app = TestApp::with(|builder| builder.accept([CredentialKind::OAuth])).await;
    let refused = with_cookie(&mount(&app), "/my/courses", "owner").await.failure(403, "insufficient_scope");
    assert_eq!(refused, json!({ "reason": "unsupported_credential" }));
    let app = TestApp::new().await;
    let refused = with_cookie(&mount(&app), "/my/courses", "profile").await.failure(403, "insufficient_scope");
    assert_eq!(refused, json!({ "required": ["read:courses"], "granted": ["read:profile"] }));
}

/// Sessions are a separate kind: `accept` does not restrict them. `/me` and observers get the host application's id.
#[tokio::test]
async fn session_keeps_the_id_from_the_host() {
    let callers = Recorder::of(|request| request.caller.map(|caller| (caller.kind, caller.credential_id.to_string())));
    let app = TestApp::with(|builder| builder.observer(Arc::clone(&callers)).accept([CredentialKind::ApiKey])).await;
    app.put([course("a", 0)]).await;
    callers.take();
    let session = |scope| Identity::session(AccountId::new(OWNER), "laptop 7", Scopes::from_names([scope]));
    let catalogue = app.catalogue.identified_by(move |_| Some(session("read:courses")));
    let me = send(&catalogue, "/api/v1", get("/api/v1/me", None, None)).await;
    assert_eq!(me.data(), json!({ "userId": OWNER, "apiKeyId": "laptop 7", "scopes": ["read:courses"] }));
    let list = send(&catalogue, "/api/v1", get("/api/v1/courses", None, None)).await;
    assert_eq!(list.data()[0]["slug"], "a");
    let called = app.catalogue.call_as(session("read:profile"), get("/api/v1/courses", None, None)).await;
    assert_eq!(called.status(), 403);
    let session = Some((CredentialKind::Session, "laptop 7".to_owned()));
    assert_eq!(callers.take(), [session.clone(), session.clone(), session]);
}

/// `ALL` and `from_name` exclude sessions, so no storage or option can name them.
#[test]
fn session_is_not_a_storage_kind() {
    assert_eq!(CredentialKind::ALL, [CredentialKind::ApiKey, CredentialKind::OAuth]);
    for kind in [CredentialKind::ApiKey, CredentialKind::OAuth, CredentialKind::Session] {
        let found = CredentialKind::from_name(kind.name());
        assert_eq!(found, Some(kind).filter(|kind| *kind != CredentialKind::Session));
    }
    let token = NewToken::mint(CredentialKind::Session);
    assert_eq!(token_kind(token.expose()), Some(CredentialKind::OAuth));
}

#[tokio::test]
async fn panicking_session_lookup_fails_only_affected_requests() {
    let app = TestApp::new().await;
    let session_mount = mount(&app);
    with_cookie(&session_mount, "/my/me", "broken").await.failure(500, "internal_error");
    assert_eq!(with_cookie(&session_mount, "/docs/llms.txt", "broken").await.status, 200);
    let known = session(&get("/", Some("owner"), None).into_parts().0).unwrap();
    assert_eq!(session_mount.call_as(known, get("/my/me", Some("broken"), None)).await.status(), 200);
}

#[tokio::test]
async fn session_has_own_allowance_and_no_token_attempts() {
    let clock = Clock::new();
    let app = TestApp::with(|builder| builder.rate_limiter(clock.limiter(2, 60))).await;
    let session_mount = mount(&app);
    for (cookie, status) in [("owner", 200), ("owner", 200), ("owner", 429), ("other", 200)] {
        let mut request = get("/my/me", Some(cookie), Some("guess"));
        request.extensions_mut().insert(ClientAddress([192, 0, 2, 1].into()));
        assert_eq!(send(&session_mount, "/my", request).await.status, status, "{cookie}");
    }
}

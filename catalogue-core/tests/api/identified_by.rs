//! Callers whom the host identifies by a request's head, before a bearer token is looked for.

use std::sync::{Arc, Mutex};

use catalogue_core::auth::{CredentialKind, Identity, NewToken, Scopes, token_kind};
use catalogue_core::limit::ClientAddress;
use catalogue_core::observe::{FinishedRequest, Observer};
use catalogue_core::{AccountId, Catalogue};
use http::header::{AUTHORIZATION, COOKIE};
use http::{Request, request};
use serde_json::json;

use crate::app::{OTHER, OWNER, TestApp, TestResponse, ask, course, of_other};
use crate::clock::Clock;

/// Who has the session that the cookie names.
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

fn mine(app: &TestApp) -> Catalogue {
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
    ask(catalogue, "/my", get(target, Some(cookie), None)).await
}

/// The slugs that following each `Link` of a session leads to.
async fn walk(catalogue: &Catalogue, cookie: &str) -> Vec<String> {
    let (mut slugs, mut target) = (Vec::new(), Some("/my/courses?limit=1".to_owned()));
    while let Some(address) = target {
        let page = with_cookie(catalogue, &address, cookie).await;
        slugs.extend(page.data().as_array().unwrap().iter().map(|item| item["slug"].as_str().unwrap().to_owned()));
        target = page.header("link").map(|link| link[1..].split_once('>').unwrap().0.to_owned());
    }
    slugs
}

#[tokio::test]
async fn a_session_reads_its_own_courses_along_its_own_links() {
    let app = TestApp::new().await;
    app.put([course("a", 2), course("b", 1), of_other(course("c", 2)), of_other(course("d", 1))]).await;
    let mine = mine(&app);
    assert_eq!(walk(&mine, "owner").await, ["a", "b"]);
    assert_eq!(walk(&mine, "other").await, ["c", "d"]);
    with_cookie(&mine, "/my/courses/c", "owner").await.failure(404, "not_found");
    assert_eq!(with_cookie(&mine, "/my/me", "other").await.data()["apiKeyId"], "session_2");
}

#[tokio::test]
async fn without_a_session_the_bearer_token_decides() {
    let app = TestApp::new().await;
    app.put([course("a", 0), of_other(course("b", 0))]).await;
    let (mine, key) = (mine(&app), app.key(OTHER, "read:courses").await);
    for cookie in [None, Some("nobody")] {
        let response = ask(&mine, "/my", get("/my/courses", cookie, None)).await;
        assert_eq!(response.failure(401, "unauthorized"), json!({ "reason": "missing" }));
        let response = ask(&mine, "/my", get("/my/courses", cookie, Some(&key))).await;
        assert_eq!(response.data()[0]["slug"], "b");
    }
    for token in [&*key, "wrong"] {
        let response = ask(&mine, "/my", get("/my/courses", Some("owner"), Some(token))).await;
        assert_eq!(response.data()[0]["slug"], "a");
    }
    with_cookie(&app.catalogue, "/api/v1/me", "owner").await.failure(401, "unauthorized");
}

#[tokio::test]
async fn a_session_passes_the_same_gate_as_a_token() {
    let app = TestApp::with(|builder| builder.accept([CredentialKind::OAuth])).await;
    let refused = with_cookie(&mine(&app), "/my/courses", "owner").await.failure(403, "insufficient_scope");
    assert_eq!(refused, json!({ "reason": "unsupported_credential" }));
    let app = TestApp::new().await;
    let refused = with_cookie(&mine(&app), "/my/courses", "profile").await.failure(403, "insufficient_scope");
    assert_eq!(refused, json!({ "required": ["read:courses"], "granted": ["read:profile"] }));
}

/// The host's own kind: its sessions are no keys and no OAuth tokens, in `/me`, to the observer and to the gate.
#[tokio::test]
async fn a_session_has_its_id_as_the_host_gives_it() {
    let callers = RecordedCallers::default();
    let app = TestApp::with(|builder| builder.observer(callers.clone()).accept([CredentialKind::ApiKey])).await;
    app.put([course("a", 0)]).await;
    let session = |scope| Identity::session(AccountId::new(OWNER), "laptop 7", Scopes::from_names([scope]));
    let mine = app.catalogue.identified_by(move |_| Some(session("read:courses")));
    let me = ask(&mine, "/api/v1", get("/api/v1/me", None, None)).await;
    assert_eq!(me.data(), json!({ "userId": OWNER, "apiKeyId": "laptop 7", "scopes": ["read:courses"] }));
    let list = ask(&mine, "/api/v1", get("/api/v1/courses", None, None)).await;
    assert_eq!(list.data()[0]["slug"], "a");
    let called = app.catalogue.call_as(session("read:profile"), get("/api/v1/courses", None, None)).await;
    assert_eq!(called.status(), 403);
    let session = (CredentialKind::Session, "laptop 7".to_owned());
    assert_eq!(*callers.0.lock().unwrap(), [session.clone(), session.clone(), session]);
}

/// Who called, as an observer is told.
#[derive(Clone, Debug, Default)]
struct RecordedCallers(Arc<Mutex<Vec<(CredentialKind, String)>>>);

impl Observer for RecordedCallers {
    fn finished(&self, request: &FinishedRequest<'_>) {
        let caller = request.caller.unwrap();
        self.0.lock().unwrap().push((caller.kind, caller.credential_id.to_string()));
    }
}

/// Nobody mistakes one for a kind that a storage keeps or a deployment accepts.
#[test]
fn sessions_are_no_kind_of_a_storage() {
    assert_eq!(CredentialKind::ALL, [CredentialKind::ApiKey, CredentialKind::OAuth]);
    assert_eq!(CredentialKind::from_name(CredentialKind::Session.name()), None);
    let token = NewToken::mint(CredentialKind::Session);
    assert_eq!(token_kind(token.expose()), Some(CredentialKind::OAuth));
}

#[tokio::test]
async fn sessions_that_panic_fail_the_requests_that_need_one() {
    let app = TestApp::new().await;
    let mine = mine(&app);
    with_cookie(&mine, "/my/me", "broken").await.failure(500, "internal_error");
    assert_eq!(with_cookie(&mine, "/docs/llms.txt", "broken").await.status, 200);
    let known = session(&get("/", Some("owner"), None).into_parts().0).unwrap();
    assert_eq!(mine.call_as(known, get("/my/me", Some("broken"), None)).await.status(), 200);
}

#[tokio::test]
async fn a_session_has_an_allowance_of_its_own_and_is_no_guess() {
    let clock = Clock::new();
    let app = TestApp::with(|builder| builder.rate_limiter(clock.limiter(2, 60))).await;
    let mine = mine(&app);
    for (cookie, status) in [("owner", 200), ("owner", 200), ("owner", 429), ("other", 200)] {
        let mut request = get("/my/me", Some(cookie), Some("guess"));
        request.extensions_mut().insert(ClientAddress([192, 0, 2, 1].into()));
        assert_eq!(ask(&mine, "/my", request).await.status, status, "{cookie}");
    }
}

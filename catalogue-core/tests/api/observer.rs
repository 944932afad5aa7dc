//! Reports of finished requests to the host application.

use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use catalogue_core::auth::CredentialKind;
use catalogue_core::limit::ClientAddress;
use catalogue_core::observe::{FinishedRequest, Observer};
use catalogue_core::storage::{Actor, KeyStorage};
use catalogue_core::{AccountId, Operation, Timestamp};
use http::{Method, Request, StatusCode};

use crate::app::{OWNER, TestApp};

/// Records each report.
#[derive(Clone, Debug, Default)]
struct Recorder(Arc<Mutex<Vec<RecordedRequest>>>);

#[derive(Debug)]
struct RecordedRequest {
    operation: Option<Operation>,
    status: StatusCode,
    account: Option<String>,
    request_id: String,
    duration: Duration,
}

impl Observer for Recorder {
    fn finished(&self, request: &FinishedRequest<'_>) {
        self.0.lock().unwrap().push(RecordedRequest {
            operation: request.operation,
            status: request.status,
            account: request.caller.map(|caller| caller.account.to_string()),
            request_id: request.request_id.to_owned(),
            duration: request.duration,
        });
    }
}

#[tokio::test]
async fn every_request_is_reported() {
    let recorder = Recorder::default();
    let app = TestApp::with(|builder| builder.observer(recorder.clone())).await;
    let token = app.key(OWNER, "read:courses").await;
    let bearer = format!("Bearer {token}");
    for (method, path, authorization, operation, status, account) in [
        (Method::GET, "/api/v1/courses", &*bearer, Some(Operation::ListCourses), 200, Some(OWNER)),
        (Method::HEAD, "/api/v1/courses", &*bearer, Some(Operation::ListCourses), 200, Some(OWNER)),
        (Method::GET, "/api/v1/courses?limit=0", &*bearer, Some(Operation::ListCourses), 400, Some(OWNER)),
        (Method::GET, "/api/v1/courses/none", &*bearer, Some(Operation::GetCourse), 404, Some(OWNER)),
        (Method::GET, "/api/v1/nothing", &*bearer, None, 404, Some(OWNER)),
        (Method::GET, "/api/v1/me", "Bearer wrong", Some(Operation::GetMe), 401, None),
        (Method::DELETE, "/api/v1/me", &*bearer, Some(Operation::GetMe), 405, None),
        (Method::OPTIONS, "/api/v1/me", "", Some(Operation::GetMe), 204, None),
        (Method::GET, "/docs/openapi.json", "", None, 200, None),
        (Method::GET, "/elsewhere", &*bearer, None, 404, None),
    ] {
        recorder.0.lock().unwrap().clear();
        let began = Instant::now();
        let response = app.send(method.clone(), path, &[("authorization", authorization)]).await;
        let elapsed = began.elapsed();
        let requests = std::mem::take(&mut *recorder.0.lock().unwrap());
        let [recorded] = &*requests else { panic!("{method} {path}: {requests:?}") };
        assert_eq!(recorded.operation, operation, "{method} {path}");
        assert_eq!(recorded.status, status, "{method} {path}");
        assert_eq!(recorded.status, response.status, "{method} {path}");
        assert_eq!(recorded.account.as_deref(), account, "{method} {path}");
        assert_eq!(recorded.request_id, response.headers["x-request-id"], "{method} {path}");
        assert!(Duration::ZERO < recorded.duration && recorded.duration <= elapsed, "{method} {path}");
    }
}

#[derive(Debug)]
struct Panics;

impl Observer for Panics {
    fn finished(&self, _: &FinishedRequest<'_>) {
        panic!("an error of the host application");
    }
}

#[tokio::test]
async fn panicking_observer_does_not_affect_response() {
    let app = TestApp::with(|builder| builder.observer(Panics)).await;
    assert_eq!(app.send(Method::GET, "/docs", &[]).await.status, 200);
}

#[derive(Clone, Debug, Default)]
struct Clients(Arc<Mutex<Vec<Option<IpAddr>>>>);

impl Observer for Clients {
    fn finished(&self, request: &FinishedRequest<'_>) {
        self.0.lock().unwrap().push(request.client.map(|client| client.0));
    }
}

#[tokio::test]
async fn client_address_is_reported_if_known() {
    let clients = Clients::default();
    let app = TestApp::with(|builder| builder.observer(clients.clone())).await;
    let address: IpAddr = [192, 0, 2, 1].into();
    let known = Request::get("/docs").extension(ClientAddress(address)).body(()).unwrap();
    clients.0.lock().unwrap().clear();
    app.catalogue.call(known).await;
    app.catalogue.call(Request::get("/docs").body(()).unwrap()).await;
    assert_eq!(*clients.0.lock().unwrap(), [Some(address), None]);
}

/// Credential ids of the caller and of a refused token.
#[derive(Clone, Debug, Default)]
struct Callers(Arc<Mutex<Vec<[Option<String>; 2]>>>);

impl Observer for Callers {
    fn finished(&self, request: &FinishedRequest<'_>) {
        let ids = [request.caller, request.refused].map(|identity| Some(identity?.credential_id.to_string()));
        assert!(request.refused.is_none_or(|refused| refused.account.as_str() == OWNER));
        self.0.lock().unwrap().push(ids);
    }
}

/// Reports show whether a leaked key is in use. A refused caller has no access, so it is not reported as the caller.
#[tokio::test]
async fn owner_of_refused_token_is_reported() {
    let callers = Callers::default();
    let app = TestApp::with(|builder| builder.observer(callers.clone())).await;
    let (good, good_id) = app.credential(CredentialKind::ApiKey, OWNER, "read:courses", None).await;
    let now = Some(Timestamp::now());
    let (expired, expired_id) = app.credential(CredentialKind::OAuth, OWNER, "read:courses", now).await;
    let (revoked, revoked_id) = app.credential(CredentialKind::ApiKey, OWNER, "read:courses", None).await;
    let owner = AccountId::new(OWNER);
    app.storage.revoke_key(&owner, &revoked_id, Timestamp::now(), &Actor::OPERATOR).await.unwrap().unwrap();
    for (token, path, expected) in [
        (&*good, "/api/v1/courses", [Some(good_id), None]),
        (&expired, "/api/v1/courses", [None, Some(expired_id)]),
        (&revoked, "/api/v1/me", [None, Some(revoked_id.clone())]),
        (&revoked, "/api/v1/nothing", [None, Some(revoked_id)]),
        ("wrong", "/api/v1/me", [None, None]),
        (&format!("{good}x"), "/api/v1/me", [None, None]),
    ] {
        app.get(token, path).await;
        assert_eq!(callers.0.lock().unwrap().pop().unwrap(), expected, "{path}");
    }
}

/// Method, body length, causes and trace of each report, as text.
#[derive(Clone, Debug, Default)]
struct Causes(Arc<Mutex<Vec<String>>>);

impl Observer for Causes {
    fn finished(&self, request: &FinishedRequest<'_>) {
        let FinishedRequest { method, body_length, refusal, exceeded, trace, .. } = request;
        let failure = request.failure.map(ToString::to_string);
        let trace = trace.map(|trace| trace.trace_id().to_owned());
        self.0.lock().unwrap().push(format!("{method} {body_length} {refusal:?} {exceeded:?} {failure:?} {trace:?}"));
    }
}

#[tokio::test]
async fn causes_and_traces_are_reported() {
    let causes = Causes::default();
    let app = TestApp::with(|builder| builder.observer((None::<Panics>, Some(Arc::new(causes.clone()))))).await;
    let bearer = format!("Bearer {}", app.key(OWNER, "read:courses").await);
    let full = TestApp::with(|builder| builder.observer(Box::new(causes.clone())).max_in_flight(0)).await;
    let trace = ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00");
    let none = "None None None None";
    for (app, method, headers, expected) in [
        (&app, Method::HEAD, &[("authorization", &*bearer)][..], format!("HEAD 0 {none}")),
        (
            &app,
            Method::GET,
            &[("authorization", &*bearer), trace],
            "GET {} None None None Some(\"4bf92f3577b34da6a3ce929d0e0e4736\")".to_owned(),
        ),
        (&app, Method::GET, &[], "GET {} Some(Missing) None None None".to_owned()),
        (&app, Method::GET, &[("authorization", "Bearer x")], "GET {} Some(Invalid) None None None".to_owned()),
        (&full, Method::GET, &[("authorization", &*bearer)], "GET {} None Some(InFlight) None None".to_owned()),
    ] {
        causes.0.lock().unwrap().clear();
        let response = app.send(method, "/api/v1/me", headers).await;
        let expected = expected.replace("{}", &response.body.len().to_string());
        assert_eq!(std::mem::take(&mut *causes.0.lock().unwrap()), [expected]);
    }
}

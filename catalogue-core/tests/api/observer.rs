//! Reports of finished requests to the host application.

use std::fmt::Debug;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use catalogue_core::auth::CredentialKind;
use catalogue_core::limit::ClientAddress;
use catalogue_core::observe::{FinishedRequest, Observer};
use catalogue_core::{Operation, Timestamp};
use http::{Method, Request};

use crate::app::{OWNER, TestApp};

/// Records a value of each report.
#[derive(Debug)]
pub(crate) struct Recorder<T> {
    value: fn(&FinishedRequest<'_>) -> T,
    recorded: Mutex<Vec<T>>,
}

impl<T> Recorder<T> {
    pub(crate) fn of(value: fn(&FinishedRequest<'_>) -> T) -> Arc<Self> {
        Arc::new(Self { value, recorded: Mutex::default() })
    }

    /// Returns what was recorded since the last call.
    pub(crate) fn take(&self) -> Vec<T> {
        std::mem::take(&mut *self.recorded.lock().unwrap())
    }
}

impl<T: Debug + Send + 'static> Observer for Recorder<T> {
    fn finished(&self, request: &FinishedRequest<'_>) {
        self.recorded.lock().unwrap().push((self.value)(request));
    }
}

#[tokio::test]
async fn every_request_is_reported() {
    let recorder = Recorder::of(|request| {
        let account = request.caller.map(|caller| caller.account.to_string());
        ((request.operation, request.status.as_u16(), account), request.request_id.to_owned(), request.duration)
    });
    let app = TestApp::with(|builder| builder.observer(Arc::clone(&recorder))).await;
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
        recorder.take();
        let began = Instant::now();
        let response = app.send(method.clone(), path, &[("authorization", authorization)]).await;
        let elapsed = began.elapsed();
        let requests = recorder.take();
        let [(recorded, request_id, duration)] = &*requests else { panic!("{method} {path}: {requests:?}") };
        assert_eq!(*recorded, (operation, status, account.map(str::to_owned)), "{method} {path}");
        assert_eq!(status, response.status.as_u16(), "{method} {path}");
        assert_eq!(*request_id, response.headers["x-request-id"], "{method} {path}");
        assert!(Duration::ZERO < *duration && *duration <= elapsed, "{method} {path}");
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

#[tokio::test]
async fn client_address_is_reported_if_known() {
    let clients = Recorder::of(|request| request.client.map(|client| client.0));
    let app = TestApp::with(|builder| builder.observer(Arc::clone(&clients))).await;
    let address: IpAddr = [192, 0, 2, 1].into();
    let known = Request::get("/docs").extension(ClientAddress(address)).body(()).unwrap();
    clients.take();
    app.catalogue.call(known).await;
    app.catalogue.call(Request::get("/docs").body(()).unwrap()).await;
    assert_eq!(clients.take(), [Some(address), None]);
}

/// Reports show whether a leaked key is in use. A refused caller has no access, so it is not reported as the caller.
#[tokio::test]
async fn owner_of_refused_token_is_reported() {
    // The credential ids of the caller and of a refused token.
    let callers = Recorder::of(|request| {
        assert!(request.refused.is_none_or(|refused| refused.account.as_str() == OWNER));
        [request.caller, request.refused].map(|identity| Some(identity?.credential_id.to_string()))
    });
    let app = TestApp::with(|builder| builder.observer(Arc::clone(&callers))).await;
    let (good, good_id) = app.credential(CredentialKind::ApiKey, OWNER, "read:courses", None).await;
    let now = Some(Timestamp::now());
    let (expired, expired_id) = app.credential(CredentialKind::OAuth, OWNER, "read:courses", now).await;
    let (revoked, revoked_id) = app.credential(CredentialKind::ApiKey, OWNER, "read:courses", None).await;
    app.revoke(&revoked_id).await;
    for (token, path, expected) in [
        (&*good, "/api/v1/courses", [Some(good_id), None]),
        (&expired, "/api/v1/courses", [None, Some(expired_id)]),
        (&revoked, "/api/v1/me", [None, Some(revoked_id.clone())]),
        (&revoked, "/api/v1/nothing", [None, Some(revoked_id)]),
        ("wrong", "/api/v1/me", [None, None]),
        (&format!("{good}x"), "/api/v1/me", [None, None]),
    ] {
        app.get(token, path).await;
        assert_eq!(callers.take().pop().unwrap(), expected, "{path}");
    }
}

#[tokio::test]
async fn causes_and_traces_are_reported() {
    let causes = Recorder::of(|request| {
        let FinishedRequest { method, body_length, refusal, exceeded, trace, .. } = request;
        let failure = request.failure.map(ToString::to_string);
        let trace = trace.map(|trace| trace.trace_id().to_owned());
        format!("{method} {body_length} {refusal:?} {exceeded:?} {failure:?} {trace:?}")
    });
    let app = TestApp::with(|builder| builder.observer((None::<Panics>, Some(Arc::clone(&causes))))).await;
    let bearer = format!("Bearer {}", app.key(OWNER, "read:courses").await);
    let full = TestApp::with(|builder| builder.observer(Box::new(Arc::clone(&causes))).max_in_flight(0)).await;
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
        causes.take();
        let response = app.send(method, "/api/v1/me", headers).await;
        let expected = expected.replace("{}", &response.body.len().to_string());
        assert_eq!(causes.take(), [expected]);
    }
}

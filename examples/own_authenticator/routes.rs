//! The host's own routes: sessions, the catalogue for whoever has a cookie, and the counts.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_TYPE, COOKIE, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{AppendHeaders, IntoResponse, Response};
use axum::routing::{get, post};
use catalogue_core::{AccountId, Authenticator, BearerToken, Catalogue, Verdict};

use crate::counts::Counts;
use crate::sessions::Sessions;

/// Where the catalogue is mounted.
pub(crate) const BASE: &str = "/api/v1";
/// Where it answers whoever has a cookie.
const MINE: &str = "/my";

/// What the routes need.
#[derive(Clone)]
pub(crate) struct Host {
    pub(crate) catalogue: Catalogue,
    pub(crate) sessions: Sessions,
    pub(crate) counts: Arc<Counts>,
}

pub(crate) fn all(host: Host) -> Router {
    Router::new()
        .route("/sessions", post(begin).delete(end))
        .route("/my/{*operation}", get(mine))
        .route("/metrics", get(metrics))
        .with_state(host)
}

/// Begins a session of the account that the body names. A real host asks for more than a name.
async fn begin(State(host): State<Host>, account: String) -> Response {
    let Ok(token) = host.sessions.begin(AccountId::new(account)).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    // Over HTTPS it says `Secure` as well.
    let cookie = format!("session={}; HttpOnly; SameSite=Strict; Path={MINE}", token.expose());
    (AppendHeaders([(SET_COOKIE, cookie)]), token.expose().to_owned()).into_response()
}

/// Ends the session whose token is the body.
async fn end(State(host): State<Host>, token: String) -> StatusCode {
    let Some(token) = BearerToken::new(&token) else { return StatusCode::BAD_REQUEST };
    match host.sessions.end(token).await {
        Ok(()) => StatusCode::NO_CONTENT,
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The catalogue for the caller that the cookie names: the host has found out who it is, so no token is asked for.
async fn mine(State(host): State<Host>, mut request: Request) -> Response {
    let target = request.uri().path_and_query().and_then(|target| target.as_str().strip_prefix(MINE)).unwrap_or("/");
    let Ok(uri) = Uri::try_from(format!("{BASE}{target}")) else {
        return StatusCode::URI_TOO_LONG.into_response();
    };
    *request.uri_mut() = uri;
    let verdict = match session_of(request.headers()) {
        Some(token) => host.sessions.authenticate(token).await,
        None => Ok(Verdict::NotMine),
    };
    let answer = match verdict {
        Ok(Verdict::Accepted(identity)) => host.catalogue.call_as(identity, request).await,
        // Answered as a request without a cookie is: by its `Authorization` header, and without one 401 in the envelope.
        Ok(_) => host.catalogue.call(request).await,
        Err(_) => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    };
    answer.map(Body::from)
}

fn session_of(headers: &HeaderMap) -> Option<BearerToken<'_>> {
    // HTTP/2 may send them apart.
    let fields = headers.get_all(COOKIE).iter().filter_map(|field| field.to_str().ok());
    BearerToken::new(fields.flat_map(|field| field.split("; ")).find_map(|cookie| cookie.strip_prefix("session="))?)
}

/// A real host shows them to its own network alone.
async fn metrics(State(host): State<Host>) -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], host.counts.render())
}

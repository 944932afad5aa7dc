//! Routes of the host application: sessions, the catalogue for callers with a cookie, and the counts.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, SET_COOKIE};
use axum::response::{AppendHeaders, IntoResponse};
use axum::routing::{get, post};
use catalogue_core::auth::BearerToken;
use catalogue_core::{AccountId, BuildError, Catalogue};
use catalogue_tower::CatalogueService;

use crate::counts::Counts;
use crate::sessions::Sessions;

/// State of the routes.
#[derive(Clone)]
pub(crate) struct Host {
    pub(crate) sessions: Sessions,
    pub(crate) counts: Arc<Counts>,
}

/// Returns all routes; the catalogue responds to requests that no other route takes.
pub(crate) fn all(host: Host, catalogue: Catalogue) -> Result<Router, BuildError> {
    let sessions = host.sessions.clone();
    // Without a valid cookie, the bearer token decides, as on the other mount.
    let my_mount = catalogue.mounted_at("/my")?.identified_by(move |head| sessions.by_cookie(head));
    let routes = Router::new()
        .route("/sessions", post(begin).delete(end))
        .route("/metrics", get(metrics))
        .route_service("/my/{*operation}", CatalogueService::new(my_mount))
        .fallback_service(CatalogueService::new(catalogue));
    Ok(routes.with_state(host))
}

/// Begins a session of the account in the body. A real application would require more than a name.
async fn begin(State(host): State<Host>, account: String) -> impl IntoResponse {
    let token = host.sessions.begin(AccountId::new(account));
    // Over HTTPS, add `Secure`.
    let cookie = format!("session={}; HttpOnly; SameSite=Strict; Path=/my", token.expose());
    (AppendHeaders([(SET_COOKIE, cookie)]), token.expose().to_owned())
}

/// Ends the session whose token is the body.
async fn end(State(host): State<Host>, token: String) -> StatusCode {
    let Some(token) = BearerToken::new(&token) else { return StatusCode::BAD_REQUEST };
    host.sessions.end(token);
    StatusCode::NO_CONTENT
}

/// Returns the metrics. A real application would restrict them to its network.
async fn metrics(State(host): State<Host>) -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], host.counts.render())
}

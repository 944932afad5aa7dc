//! Routes of the host application: the login, and the developer settings for logged-in users.

use axum::Router;
use axum::body::Body;
use axum::extract::{FromRef, Request, State};
use axum::http::StatusCode;
use axum::http::header::SET_COOKIE;
use axum::response::{AppendHeaders, Html, IntoResponse, Redirect, Response};
use axum::routing::{any, get, post};
use catalogue_core::Catalogue;
use catalogue_settings::DeveloperSettings;
use catalogue_tower::CatalogueService;

use crate::login::{Head, Logins, User};

const LOGIN: &str = "<!DOCTYPE html><title>Log in</title><form method=post action=/login>\
    <label>User <input name=user value=anna></label> <button>Log in</button></form>";

/// State of the routes.
#[derive(Clone)]
pub(crate) struct Host {
    pub(crate) settings: DeveloperSettings,
    pub(crate) logins: Logins,
}

impl FromRef<Host> for Logins {
    fn from_ref(host: &Host) -> Self {
        host.logins.clone()
    }
}

/// Returns all routes; the catalogue responds to requests that no other route takes.
pub(crate) fn all(host: Host, catalogue: Catalogue) -> Router {
    Router::new()
        .route("/", get(async || Html(LOGIN)))
        .route("/login", post(log_in))
        .route("/logout", get(log_out))
        .route("/settings", any(settings))
        .route("/settings/", any(settings))
        .route("/settings/{*rest}", any(settings))
        .with_state(host)
        .fallback_service(CatalogueService::new(catalogue))
}

/// Runs the developer settings for the logged-in user.
async fn settings(State(host): State<Host>, user: User, request: Request) -> Response {
    host.settings.call_as(user.owner(), request).await.map(Body::from)
}

async fn log_in(State(logins): State<Logins>, form: String) -> Response {
    let name =
        form.strip_prefix("user=").filter(|name| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric()));
    let Some(name) = name else { return StatusCode::BAD_REQUEST.into_response() };
    // Over HTTPS, add `Secure`.
    let cookie = format!("session={}; HttpOnly; SameSite=Lax; Path=/", logins.begin(name).expose());
    (AppendHeaders([(SET_COOKIE, cookie)]), Redirect::to("/settings")).into_response()
}

async fn log_out(State(logins): State<Logins>, Head(head): Head) -> Redirect {
    logins.end(&head);
    Redirect::to("/")
}

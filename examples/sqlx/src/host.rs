//! The platform's routes, with the catalogue among them: for partners with API keys, and for users with a session.

use axum::Router;
use axum::body::Body;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::header::COOKIE;
use axum::http::{StatusCode, request};
use axum::response::Response;
use axum::routing::{any, get};
use catalogue_core::auth::{BearerToken, Identity, Scopes};
use catalogue_core::{AccountId, BuildError, Catalogue, Timestamp};
use catalogue_tower::CatalogueService;
use sqlx::sqlite::SqlitePool;

/// State of the routes.
#[derive(Clone)]
struct Host {
    pool: SqlitePool,
    /// The catalogue for users with a session, mounted separately, so that links to the next page stay there.
    mine: Catalogue,
}

/// Returns all routes. The catalogue responds to requests that no other route takes.
///
/// # Errors
/// Returns an error if `/my` is also a URL of the catalogue's documents.
pub fn routes(pool: SqlitePool, catalogue: Catalogue) -> Result<Router, BuildError> {
    let host = Host { pool, mine: catalogue.mounted_at("/my")? };
    Ok(Router::new()
        .route("/about", get(async || "a course platform"))
        .route("/my/{*operation}", any(my_catalogue))
        .with_state(host)
        .fallback_service(CatalogueService::new(catalogue)))
}

/// Responds with the user's own courses, such as to a page of the platform with a list of them.
async fn my_catalogue(State(host): State<Host>, session: Session, request: Request) -> Response {
    let scopes = Scopes::from_names(["read:profile", "read:courses"]);
    let caller = Identity::session(AccountId::new(session.user.to_string()), format!("session_{}", session.id), scopes);
    host.mine.call_as(caller, request).await.map(Body::from)
}

/// Active session of a request, looked up in the database.
#[derive(sqlx::FromRow)]
struct Session {
    /// Id of the session. `GET /me` and the log contain it, so it is not the secret in the cookie.
    id: i64,
    #[sqlx(rename = "user_id")]
    user: i64,
}

impl FromRequestParts<Host> for Session {
    type Rejection = StatusCode;

    async fn from_request_parts(head: &mut request::Parts, host: &Host) -> Result<Self, StatusCode> {
        // HTTP/2 may send cookies in several headers.
        let fields = head.headers.get_all(COOKIE).iter().filter_map(|field| field.to_str().ok());
        let secret = fields.flat_map(|field| field.split("; ")).find_map(|cookie| cookie.strip_prefix("session="));
        let digest = secret.and_then(BearerToken::new).ok_or(StatusCode::UNAUTHORIZED)?.digest();
        let session = sqlx::query_as("SELECT id, user_id FROM sessions WHERE digest = ? AND expires_at > ?")
            .bind(&digest.as_bytes()[..])
            .bind(Timestamp::now().as_microseconds());
        match session.fetch_optional(&host.pool).await {
            Ok(session) => session.ok_or(StatusCode::UNAUTHORIZED),
            Err(error) => {
                tracing::error!(%error, "cannot look up a session");
                Err(StatusCode::INTERNAL_SERVER_ERROR)
            }
        }
    }
}

//! Cross-origin requests (decision A17): any origin for the documents, a list for the API, never with credentials.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method};

use crate::build_error::BuildError;
use crate::mount_url::parse_http_url;
use crate::response::entity::ALLOWED_METHODS;
use crate::route::Route;

const REQUEST_HEADERS: HeaderValue =
    HeaderValue::from_static("Authorization, If-None-Match, Traceparent, Tracestate, X-Request-Id");
const EXPOSED_HEADERS: HeaderValue =
    HeaderValue::from_static("ETag, Link, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id");
/// Seconds for which browsers may cache the response to a preflight.
const PREFLIGHT_SECONDS: HeaderValue = HeaderValue::from_static("600");

/// The origins whose scripts may call the API.
#[derive(Clone, Debug)]
pub(crate) struct AllowedOrigins(Vec<HeaderValue>);

impl AllowedOrigins {
    /// Allows `origins`, written as browsers send them: scheme, host, and the port unless it is the scheme's default.
    pub(crate) fn new(origins: &[String]) -> Result<Self, BuildError> {
        if let Some(bad) = origins.iter().find(|origin| !is_origin(origin)) {
            return Err(BuildError::Origin(bad.clone()));
        }
        let header = |origin: &String| HeaderValue::try_from(origin.to_ascii_lowercase()).expect("visible ASCII");
        Ok(Self(origins.iter().map(header).collect()))
    }

    /// Adds the CORS headers to the response of `route`, whether it is a failure or not.
    pub(crate) fn apply(&self, route: Route<'_>, request: &Parts, response_headers: &mut HeaderMap) {
        let origin = match route {
            Route::Outside | Route::Root => return,
            Route::Document(_) | Route::ProtectedResource | Route::UnknownDocument => HeaderValue::from_static("*"),
            Route::Operation(..) | Route::UnknownOperation => {
                if self.0.is_empty() {
                    return;
                }
                response_headers.append(VARY, HeaderValue::from_static("Origin"));
                match request.headers.get(ORIGIN) {
                    Some(origin) if self.0.contains(origin) => origin.clone(),
                    _ => return,
                }
            }
        };
        response_headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        response_headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
        if request.method == Method::OPTIONS && request.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
            response_headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(ALLOWED_METHODS));
            response_headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS);
            response_headers.insert(ACCESS_CONTROL_MAX_AGE, PREFLIGHT_SECONDS);
        }
    }
}

fn is_origin(origin: &str) -> bool {
    if origin.contains(['*', '?']) || origin.matches('/').count() != 2 {
        return false;
    }
    let Ok(url) = parse_http_url(origin) else { return false };
    !matches!((url.scheme_str(), url.port_u16()), (Some("http"), Some(80)) | (Some("https"), Some(443)))
}

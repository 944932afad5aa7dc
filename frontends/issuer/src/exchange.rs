//! [`exchange`]: one request to an issuer, and its response.

use std::time::Duration;

use bytes::Bytes;
use catalogue_core::chain;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, DATE, USER_AGENT};
use http::request::Builder;
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use tokio::time::timeout;

use crate::client::HttpClient;

/// The content coding that leaves the body unchanged.
const IDENTITY: &str = "identity";

/// Returns the body and the `Date` of the response, which must be a 200 of at most `max_bytes` bytes without a coding.
pub(crate) async fn exchange(
    client: &HttpClient,
    request: Builder,
    body: Bytes,
    max_bytes: usize,
) -> Result<(Bytes, Option<String>), String> {
    let request = request.header(USER_AGENT, concat!("catalogue/", env!("CARGO_PKG_VERSION")));
    // Without this header, any coding is acceptable (RFC 9110 section 12.5.3).
    let request = request.header(ACCEPT_ENCODING, IDENTITY);
    let request = request.body(Full::new(body)).expect("the URL and the headers are valid");
    let response = client.request(request).await.map_err(|error| chain(&error))?;
    if response.status() != StatusCode::OK {
        return Err(format!("unexpected status {}", response.status()));
    }
    if let Some(coding) = response.headers().get_all(CONTENT_ENCODING).iter().find(|coding| !is_identity(coding)) {
        return Err(format!(
            "the response has the Content-Encoding {coding:?}, which was not requested; disable compression for this URL \
             in the server or its proxy"
        ));
    }
    let date = date(response.headers());
    let body = Limited::new(response.into_body(), max_bytes).collect().await.map_err(|error| chain(&*error))?;
    Ok((body.to_bytes(), date))
}

/// Returns the result of `work`, or an error if it takes longer than `limit`.
pub(crate) async fn with_timeout<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, String>>,
) -> Result<T, String> {
    timeout(limit, work).await.unwrap_or_else(|_| Err(format!("no response within {limit:?}")))
}

fn is_identity(coding: &HeaderValue) -> bool {
    coding.is_empty() || coding.as_bytes().eq_ignore_ascii_case(IDENTITY.as_bytes())
}

fn date(headers: &HeaderMap) -> Option<String> {
    Some(headers.get(DATE)?.to_str().ok()?.to_owned())
}

//! [`Event`] and [`EventResponse`]: the input from a gateway, and the output to it.

use std::collections::BTreeMap;

use http::header::ACCEPT_ENCODING;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use serde::{Deserialize, Serialize};

/// A request as JSON.
#[derive(Deserialize)]
pub(crate) struct Event {
    method: String,
    /// Percent-encoded, as received.
    path: String,
    #[serde(default)]
    query: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

/// A response as JSON.
#[derive(Serialize)]
pub(crate) struct EventResponse {
    status: u16,
    headers: BTreeMap<String, String>,
    body: String,
}

impl Event {
    /// Converts the event into a request. Returns an error if it is not a valid request.
    pub(crate) fn into_request(self) -> Result<Request<()>, String> {
        let target = if self.query.is_empty() { self.path } else { format!("{}?{}", self.path, self.query) };
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let name: HeaderName = name.parse().map_err(|_| "invalid header name")?;
            let value = HeaderValue::from_str(value).map_err(|_| "invalid header value")?;
            headers.append(name, value);
        }
        // The gateway compresses, so that the body remains text and needs no base64 in JSON.
        headers.remove(ACCEPT_ENCODING);
        let request = Request::builder().method(&*self.method).uri(target).body(());
        let mut request = request.map_err(|error| error.to_string())?;
        *request.headers_mut() = headers;
        Ok(request)
    }
}

impl EventResponse {
    /// Converts a response of the catalogue.
    pub(crate) fn of(response: &Response<impl AsRef<[u8]>>) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut headers = BTreeMap::new();
        for name in response.headers().keys() {
            // For the catalogue's headers, a list of values is equivalent (RFC 9110 section 5.3).
            let values: Vec<_> = response.headers().get_all(name).iter().map(|value| text(value.as_bytes())).collect();
            headers.insert(name.to_string(), values.join(", "));
        }
        Self { status: response.status().as_u16(), headers, body: text(response.body().as_ref()) }
    }

    /// Returns the response to an event that is not a valid request.
    pub(crate) fn bad_request() -> Self {
        Self { status: StatusCode::BAD_REQUEST.as_u16(), headers: BTreeMap::new(), body: String::new() }
    }
}

//! [`TestRequest`]: a request that can be written to a socket or passed to the core.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, Uri, Version};

/// Host of all requests.
pub(crate) const HOST: &str = "catalogue.example";

/// A request. Its parts are text, so they may be invalid in HTTP.
#[derive(Clone, Debug)]
pub(crate) struct TestRequest {
    pub(crate) method: &'static str,
    pub(crate) target: String,
    pub(crate) version: Version,
    pub(crate) headers: Vec<(&'static str, Vec<u8>)>,
    pub(crate) body: Bytes,
    /// Whether the body is sent only after the response.
    pub(crate) sends_body_after_response: bool,
}

impl TestRequest {
    /// Creates a request without a token. Its request id is fixed, since the catalogue would generate a random one.
    pub(crate) fn new(method: &'static str, target: impl Into<String>) -> Self {
        let request = Self {
            method,
            target: target.into(),
            version: Version::HTTP_11,
            headers: Vec::new(),
            body: Bytes::new(),
            sends_body_after_response: false,
        };
        request.header("x-request-id", "the-id-of-the-suite")
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name, value.as_ref().to_owned()));
        self
    }

    pub(crate) fn bearer(self, token: &str) -> Self {
        self.header("authorization", format!("Bearer {token}"))
    }

    /// Adds a body and its length.
    pub(crate) fn body(self, body: &'static str) -> Self {
        self.header("content-length", body.len().to_string()).framed(body)
    }

    /// Adds a body whose length another header gives.
    pub(crate) fn framed(mut self, body: &'static str) -> Self {
        self.body = Bytes::from_static(body.as_bytes());
        self
    }

    /// Returns the request for [`catalogue_core::Catalogue::call`] or for an HTTP/2 client, with `origin` before the target.
    pub(crate) fn to_http(&self, origin: &str) -> Request<()> {
        let mut request = Request::new(());
        *request.method_mut() = Method::from_bytes(self.method.as_bytes()).expect("a case's methods are tokens");
        *request.uri_mut() = Uri::try_from(format!("{origin}{}", self.target)).expect("a case's targets are URLs");
        for (name, value) in &self.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a case's header names are tokens");
            let value = HeaderValue::from_bytes(value).expect("a case's header values are field values");
            request.headers_mut().append(name, value);
        }
        request
    }
}

//! [`Ask`]: one request, as it is written to a socket and as the core is asked it.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, Uri, Version};

/// Which host requests name.
pub(crate) const HOST: &str = "catalogue.example";

/// One request. Its parts are text that need not be what HTTP would have there.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) method: &'static str,
    pub(crate) target: String,
    pub(crate) version: Version,
    pub(crate) headers: Vec<(&'static str, Vec<u8>)>,
    pub(crate) body: Bytes,
    /// Whether the body comes after the answer.
    pub(crate) body_is_kept_back: bool,
}

impl Ask {
    /// A request without a token. Its id is given, since the catalogue would draw one at random.
    pub(crate) fn new(method: &'static str, target: impl Into<String>) -> Self {
        let ask = Self {
            method,
            target: target.into(),
            version: Version::HTTP_11,
            headers: Vec::new(),
            body: Bytes::new(),
            body_is_kept_back: false,
        };
        ask.header("x-request-id", "the-id-of-the-suite")
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name, value.as_ref().to_owned()));
        self
    }

    pub(crate) fn bearer(self, token: &str) -> Self {
        self.header("authorization", format!("Bearer {token}"))
    }

    /// The same with a body and its length.
    pub(crate) fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        let length = self.body.len().to_string();
        self.header("content-length", length)
    }

    /// The same request for [`catalogue_core::Catalogue::call`], or for a client of HTTP/2 after `origin`.
    pub(crate) fn to_request(&self, origin: &str) -> Request<()> {
        let mut request = Request::new(());
        *request.method_mut() = Method::from_bytes(self.method.as_bytes()).expect("a case's methods are tokens");
        *request.uri_mut() = Uri::try_from(format!("{origin}{}", self.target)).expect("a case's targets are addresses");
        for (name, value) in &self.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a case's header names are tokens");
            let value = HeaderValue::from_bytes(value).expect("a case's header values are field values");
            request.headers_mut().append(name, value);
        }
        request
    }
}

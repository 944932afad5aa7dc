//! Converts requests and responses, byte for byte, between the `http` crate and the older version of it in actix-web.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::body::{self, BodySize, BoxBody, MessageBody};
use actix_web::http::{StatusCode, Version as OlderVersion, header};
use actix_web::{HttpMessage as _, HttpRequest, HttpResponse};
use bytes::Bytes;
use catalogue_core::limit::ClientAddress;
use http::header::CONTENT_LENGTH;
use http::{HeaderName, HeaderValue, Method, Request, Response, Uri, Version};

/// Converts the request head. Drops the body and all extensions except the client address, by default the peer's.
pub(crate) fn request(request: &HttpRequest) -> Request<()> {
    let mut converted = Request::new(());
    let method = Method::from_bytes(request.method().as_str().as_bytes());
    *converted.method_mut() = method.expect("valid in both versions");
    // A target that the newer version rejects becomes `*`, which matches no URL of the catalogue, so nothing is exposed.
    *converted.uri_mut() = Uri::try_from(request.uri().to_string()).unwrap_or_else(|_| Uri::from_static("*"));
    *converted.version_mut() = version(request);
    converted.headers_mut().reserve(request.headers().len());
    for (name, value) in request.headers() {
        let name = HeaderName::from_bytes(name.as_str().as_bytes()).expect("valid in both versions");
        let value = HeaderValue::from_bytes(value.as_bytes()).expect("valid in both versions");
        converted.headers_mut().append(name, value);
    }
    let declared = request.extensions().get::<ClientAddress>().copied();
    if let Some(client) = declared.or_else(|| Some(ClientAddress(request.peer_addr()?.ip()))) {
        converted.extensions_mut().insert(client);
    }
    converted
}

fn version(request: &HttpRequest) -> Version {
    match request.version() {
        OlderVersion::HTTP_09 => Version::HTTP_09,
        OlderVersion::HTTP_10 => Version::HTTP_10,
        OlderVersion::HTTP_2 => Version::HTTP_2,
        OlderVersion::HTTP_3 => Version::HTTP_3,
        _ => Version::HTTP_11,
    }
}

/// Converts a response.
pub(crate) fn response(response: Response<Bytes>) -> HttpResponse {
    let (head, bytes) = response.into_parts();
    let status = StatusCode::from_u16(head.status.as_u16()).expect("valid in both versions");
    let mut converted = HttpResponse::new(status);
    for (name, value) in &head.headers {
        let name = header::HeaderName::from_bytes(name.as_str().as_bytes()).expect("valid in both versions");
        let value = header::HeaderValue::from_bytes(value.as_bytes()).expect("valid in both versions");
        converted.headers_mut().append(name, value);
    }
    let length = head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let body = match length {
        _ if !bytes.is_empty() => BoxBody::new(bytes),
        Some(length) => BoxBody::new(OmittedBody(length)),
        None => BoxBody::new(body::None::new()),
    };
    converted.set_body(body)
}

/// Empty body of a response to HEAD, with the omitted body's length: actix-web ignores `Content-Length` and sends `size`.
struct OmittedBody(u64);

impl MessageBody for OmittedBody {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.0)
    }

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        Poll::Ready(None)
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::Method as OlderMethod;
    use actix_web::http::header::HeaderValue as OlderValue;
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn head_is_converted_completely() {
        let request = TestRequest::with_uri("/a%2Fb//?c=+&c=%20")
            .method(OlderMethod::from_bytes(b"M-SEARCH").unwrap())
            .version(OlderVersion::HTTP_10)
            .append_header(("x-name", "one"))
            .append_header(("x-name", OlderValue::from_bytes(b"\xff\t\x80").unwrap()))
            .append_header(("x-empty", ""));
        let (head, ()) = super::request(&request.to_http_request()).into_parts();
        assert_eq!((head.method.as_str(), head.version), ("M-SEARCH", Version::HTTP_10));
        assert_eq!(head.uri, "/a%2Fb//?c=+&c=%20");
        let values: Vec<_> = head.headers.get_all("x-name").iter().map(HeaderValue::as_bytes).collect();
        assert_eq!(values, [&b"one"[..], b"\xff\t\x80"]);
        assert_eq!(head.headers["x-empty"], "");
        assert_eq!(head.headers.len(), 3);
    }

    #[test]
    fn client_is_declared_address_or_peer() {
        let client = |request: TestRequest| {
            let (head, ()) = super::request(&request.to_http_request()).into_parts();
            head.extensions.get::<ClientAddress>().map(|ClientAddress(address)| address.to_string())
        };
        let peer = || TestRequest::default().peer_addr("192.0.2.1:1234".parse().unwrap());
        assert_eq!(client(TestRequest::default()), None);
        assert_eq!(client(peer()).unwrap(), "192.0.2.1");
        let declared = peer().to_http_request();
        declared.extensions_mut().insert(ClientAddress([192, 0, 2, 2].into()));
        let (head, ()) = request(&declared).into_parts();
        assert_eq!(head.extensions.get(), Some(&ClientAddress([192, 0, 2, 2].into())));
    }

    #[test]
    fn every_target_form_is_preserved() {
        for target in ["*", "/", "/?", "http://example.com:8080/a?b", "example.com:443"] {
            let (head, ()) = request(&TestRequest::with_uri(target).to_http_request()).into_parts();
            assert_eq!(head.uri, target);
        }
    }
}

//! Requests of actix-web, which speaks an older version of `http`, become requests of ours by their bytes.

use actix_web::{HttpMessage as _, HttpRequest};
use catalogue_core::limit::ClientAddress;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri, Version};

/// The same request, without its body, and of its extensions with the client's address alone.
pub(crate) fn convert(request: &HttpRequest) -> Request<()> {
    let mut converted = Request::new(());
    *converted.method_mut() = method(request);
    *converted.uri_mut() = uri(request);
    *converted.version_mut() = version(request);
    *converted.headers_mut() = headers(request);
    if let Some(client) = client(request) {
        converted.extensions_mut().insert(client);
    }
    converted
}

/// The client's address, as far as it is known.
fn client(request: &HttpRequest) -> Option<ClientAddress> {
    let named = request.extensions().get::<ClientAddress>().copied();
    named.or_else(|| Some(ClientAddress(request.peer_addr()?.ip())))
}

fn method(request: &HttpRequest) -> Method {
    let name = request.method().as_str();
    Method::from_bytes(name.as_bytes()).expect("a method of the older version is one of the newer")
}

fn uri(request: &HttpRequest) -> Uri {
    // What is no target to the newer version is outside every address, as `*` is, so nothing could be let in by it.
    Uri::try_from(request.uri().to_string()).unwrap_or_else(|_| Uri::from_static("*"))
}

fn version(request: &HttpRequest) -> Version {
    use actix_web::http::Version as Older;

    match request.version() {
        Older::HTTP_09 => Version::HTTP_09,
        Older::HTTP_10 => Version::HTTP_10,
        Older::HTTP_2 => Version::HTTP_2,
        Older::HTTP_3 => Version::HTTP_3,
        _ => Version::HTTP_11,
    }
}

fn headers(request: &HttpRequest) -> HeaderMap {
    let headers = request.headers().iter().map(|(name, value)| {
        let name = HeaderName::from_bytes(name.as_str().as_bytes());
        let value = HeaderValue::from_bytes(value.as_bytes());
        (name.expect("the versions agree on names"), value.expect("the versions agree on values"))
    });
    // Collecting appends, so that a repeated header keeps all its values in their order.
    headers.collect()
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue as Older;
    use actix_web::http::{Method as OlderMethod, Version as OlderVersion};
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn every_part_of_the_head_is_kept() {
        let request = TestRequest::with_uri("/a%2Fb//?c=+&c=%20")
            .method(OlderMethod::from_bytes(b"M-SEARCH").unwrap())
            .version(OlderVersion::HTTP_10)
            .append_header(("x-name", "one"))
            .append_header(("x-name", Older::from_bytes(b"\xff\t\x80").unwrap()))
            .append_header(("x-empty", ""));
        let (head, ()) = convert(&request.to_http_request()).into_parts();
        assert_eq!((head.method.as_str(), head.version), ("M-SEARCH", Version::HTTP_10));
        assert_eq!(head.uri, "/a%2Fb//?c=+&c=%20");
        let values: Vec<_> = head.headers.get_all("x-name").iter().map(HeaderValue::as_bytes).collect();
        assert_eq!(values, [&b"one"[..], b"\xff\t\x80"]);
        assert_eq!(head.headers["x-empty"], "");
        assert_eq!(head.headers.len(), 3);
    }

    #[test]
    fn the_client_is_the_one_that_the_host_names_or_the_peer() {
        let client = |request: TestRequest| {
            let (head, ()) = convert(&request.to_http_request()).into_parts();
            head.extensions.get::<ClientAddress>().map(|ClientAddress(address)| address.to_string())
        };
        let peer = || TestRequest::default().peer_addr("192.0.2.1:1234".parse().unwrap());
        assert_eq!(client(TestRequest::default()), None);
        assert_eq!(client(peer()).unwrap(), "192.0.2.1");
        let named = peer().to_http_request();
        named.extensions_mut().insert(ClientAddress([192, 0, 2, 2].into()));
        let (head, ()) = convert(&named).into_parts();
        assert_eq!(head.extensions.get(), Some(&ClientAddress([192, 0, 2, 2].into())));
    }

    #[test]
    fn every_form_of_a_target_is_kept() {
        for target in ["*", "/", "/?", "http://example.com:8080/a?b", "example.com:443"] {
            let (head, ()) = convert(&TestRequest::with_uri(target).to_http_request()).into_parts();
            assert_eq!(head.uri, target);
        }
    }
}

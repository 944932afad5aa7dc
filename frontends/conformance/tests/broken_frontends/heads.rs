//! Flaws with headers and bodies of requests, and with features that only HTTP/1 has.

use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, IF_NONE_MATCH, ORIGIN, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Version};

use crate::broken::Broken;
use crate::flaws;

/// Drops from each request the header fields for which `dropped` returns `true`.
fn without(dropped: impl Fn(&HeaderName, &HeaderValue) -> bool + Send + Sync + 'static) -> Broken {
    Broken::request(move |head| {
        let fields = head.headers.iter().filter(|(name, value)| !dropped(name, value));
        head.headers = fields.map(|(name, value)| (name.clone(), value.clone())).collect();
    })
}

/// Refuses requests with a header field for which `refused` returns `true`.
fn refuses_field(status: u16, refused: impl Fn(&HeaderName, &HeaderValue) -> bool + Send + Sync + 'static) -> Broken {
    Broken::refuses(status, move |head| head.headers.iter().any(|(name, value)| refused(name, value)))
}

/// Keeps only the first or the last value of each header of requests.
fn keep_one_value(first: bool) -> Broken {
    Broken::request(move |head| {
        let mut retained = HeaderMap::new();
        for (name, value) in &head.headers {
            if !first || !retained.contains_key(name) {
                retained.insert(name, value.clone());
            }
        }
        head.headers = retained;
    })
}

fn is_text(value: &HeaderValue) -> bool {
    value.to_str().is_ok()
}

fn has_body(head: &Parts) -> bool {
    head.headers.contains_key(CONTENT_LENGTH)
}

/// Copies the token from the query to the header.
fn read_token_from_query(head: &mut Parts) {
    let token = head.uri.query().and_then(|query| query.strip_prefix("access_token="));
    if let Some(token) = token.map(|token| format!("Bearer {token}").parse().unwrap()) {
        head.headers.insert(AUTHORIZATION, token);
    }
}

/// Removes everything but ASCII letters, digits and hyphens from the request id.
fn sanitize_request_id(head: &mut Parts) {
    if let Some(id) = head.headers.get_mut("x-request-id") {
        let sanitized: String =
            id.to_str().unwrap().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        *id = sanitized.parse().unwrap();
    }
}

flaws! {
    get_with_body_is_refused: Broken::refuses(400, |head| head.method == Method::GET && has_body(head))
        => bodies::body_is_ignored, "A body is ignored";
    invalid_media_type_is_refused: refuses_field(415, |name, value| *name == CONTENT_TYPE && !value.as_bytes().contains(&b'/'))
        => bodies::body_is_not_parsed, "not parsed";
    json_body_is_refused: refuses_field(400, |name, value| *name == CONTENT_TYPE && value == "application/json")
        => bodies::body_is_not_parsed, "not parsed";
    body_without_media_type_is_refused: Broken::refuses(415, |head| has_body(head) && head.method == Method::POST)
        => bodies::method_is_refused_despite_a_body, "even with a body";
    response_waits_for_body: Broken::needs_body() => http1::response_does_not_wait_for_body, "does not wait for the body";
    chunked_body_is_refused: refuses_field(411, |name, _| *name == TRANSFER_ENCODING)
        => http1::chunked_body_is_ignored, "unknown length";

    missing_token_gets_bare_401: Broken::refuses(401, |head| !head.headers.contains_key(AUTHORIZATION))
        => credentials::missing_token_returns_401, "without a token";
    only_first_request_header_is_kept: keep_one_value(true)
        => credentials::repeated_tokens_return_401, "as often as it was sent";
    only_last_request_header_is_kept: keep_one_value(false)
        => credentials::repeated_tokens_return_401, "as often as it was sent";
    equal_header_values_are_merged: Broken::request(|head| {
        let values: Vec<_> = head.headers.get_all(AUTHORIZATION).iter().cloned().collect();
        if values.len() > 1 && values.iter().all(|value| *value == values[0]) {
            head.headers.insert(AUTHORIZATION, values[0].clone());
        }
    }) => credentials::repeated_tokens_return_401, "as often as it was sent";
    scheme_is_case_sensitive: without(|name, value| *name == AUTHORIZATION && !value.as_bytes().starts_with(b"Bearer "))
        => credentials::authentication_scheme_is_preserved, "Only the catalogue reads";
    non_text_headers_are_dropped: without(|_, value| !is_text(value))
        => credentials::non_ascii_bytes_are_preserved, "non-ASCII bytes reaches the catalogue";
    cookies_are_dropped: without(|name, _| *name == COOKIE)
        => credentials::cookie_identifies_caller, "cookies of a request reach the catalogue";
    token_is_read_from_query: Broken::request(read_token_from_query)
        => credentials::token_in_query_is_ignored, "in the query is not read";

    etags_are_dropped: without(|name, _| *name == IF_NONE_MATCH)
        => headers::matching_etag_returns_304, "If-None-Match reaches the catalogue";
    only_first_etag_is_kept: keep_one_value(true) => headers::repeated_headers_are_preserved, "Each line";
    only_last_etag_is_kept: keep_one_value(false) => headers::repeated_headers_are_preserved, "Each line";
    empty_header_is_refused: refuses_field(400, |_, value| value.is_empty())
        => headers::empty_headers_are_accepted, "without a value is accepted";
    host_responds_to_preflight: Broken::refuses(200, |head| {
        head.method == Method::OPTIONS && head.headers.contains_key(ORIGIN)
    }) => headers::preflight_returns_204, "responds to a preflight";
    origin_is_dropped: without(|name, _| *name == ORIGIN) => headers::origin_is_preserved, "origin reaches the catalogue";
    request_id_is_sanitized: Broken::request(sanitize_request_id) => headers::request_id_is_returned, "is returned";
    many_headers_are_refused: Broken::refuses(431, |head| head.headers.len() > 32) => headers::many_headers_are_accepted, "Fifty headers";
    long_header_is_refused: refuses_field(431, |_, value| value.len() > 2_048)
        => headers::long_header_is_accepted, "4,000 octets";
    non_text_header_is_refused: refuses_field(400, |_, value| !is_text(value))
        => headers::non_ascii_bytes_are_accepted, "in any header are accepted";

    absolute_target_is_refused: Broken::refuses(400, |head| head.uri.scheme().is_some())
        => http1::absolute_targets_are_accepted, "An absolute URL as target";
    absolute_target_is_used_as_path: Broken::request(|head| {
        if head.uri.scheme().is_some() {
            head.uri = format!("/{}", head.uri).parse().unwrap();
        }
    }) => http1::absolute_targets_are_accepted, "An absolute URL as target";
    absolute_target_without_path_is_refused: Broken::refuses(400, |head| head.uri.scheme().is_some() && head.uri.path() == "/")
        => http1::absolute_target_without_path_is_root, "without a path means its root";
    host_responds_to_asterisk: Broken::refuses(204, |head| head.uri.path() == "*")
        => http1::asterisk_returns_404, "not a path of the catalogue";
    target_without_path_panics: Broken::request(|head| assert!(!head.uri.path().is_empty()))
        => http1::connect_returns_404, "responds to CONNECT";
    http_1_0_is_refused: Broken::refuses(505, |head| head.version < Version::HTTP_11)
        => http1::http_1_0_is_supported, "the response of HTTP/1.1";
}

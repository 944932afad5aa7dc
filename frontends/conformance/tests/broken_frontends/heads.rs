//! Flaws with headers and bodies of requests, and with what only HTTP/1 can write.

use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, IF_NONE_MATCH, ORIGIN, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Version};

use crate::broken::Broken;
use crate::flaws;

/// Requests without some of their header fields.
fn without(dropped: impl Fn(&HeaderName, &HeaderValue) -> bool + Send + Sync + 'static) -> Broken {
    Broken::request(move |head| {
        let fields = head.headers.iter().filter(|(name, value)| !dropped(name, value));
        head.headers = fields.map(|(name, value)| (name.clone(), value.clone())).collect();
    })
}

/// Refuses requests with such a header field.
fn refuses_field(status: u16, refused: impl Fn(&HeaderName, &HeaderValue) -> bool + Send + Sync + 'static) -> Broken {
    Broken::refuses(status, move |head| head.headers.iter().any(|(name, value)| refused(name, value)))
}

/// Requests with the first or the last value of each header.
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

/// The token in the query moves to the header.
fn token_of_the_query(head: &mut Parts) {
    let token = head.uri.query().and_then(|query| query.strip_prefix("access_token="));
    if let Some(token) = token.map(|token| format!("Bearer {token}").parse().unwrap()) {
        head.headers.insert(AUTHORIZATION, token);
    }
}

/// Only letters and digits are left of the request's id.
fn tidy_id(head: &mut Parts) {
    if let Some(id) = head.headers.get_mut("x-request-id") {
        let tidy: String = id.to_str().unwrap().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        *id = tidy.parse().unwrap();
    }
}

flaws! {
    body_on_a_get_refused: Broken::refuses(400, |head| head.method == Method::GET && has_body(head))
        => bodies::body_is_ignored, "A body is ignored";
    media_types_refused: refuses_field(415, |name, value| *name == CONTENT_TYPE && !value.as_bytes().contains(&b'/'))
        => bodies::body_is_not_parsed, "not parsed";
    json_refused: refuses_field(400, |name, value| *name == CONTENT_TYPE && value == "application/json")
        => bodies::body_is_not_parsed, "not parsed";
    bodies_without_media_type_refused: Broken::refuses(415, |head| has_body(head) && head.method == Method::POST)
        => bodies::method_is_refused_despite_a_body, "with a body as without one";
    body_waited_for: Broken::needs_body() => http1::response_does_not_wait_for_body, "does not wait for the body";
    chunks_refused: refuses_field(411, |name, _| *name == TRANSFER_ENCODING)
        => http1::chunked_body_is_ignored, "unknown length";

    bare_refusals: Broken::refuses(401, |head| !head.headers.contains_key(AUTHORIZATION))
        => credentials::missing_token_returns_401, "without a token";
    first_request_header_values_only: keep_one_value(true)
        => credentials::repeated_tokens_return_401, "as often as it was sent";
    last_request_header_values_only: keep_one_value(false)
        => credentials::repeated_tokens_return_401, "as often as it was sent";
    same_values_merged: Broken::request(|head| {
        let values: Vec<_> = head.headers.get_all(AUTHORIZATION).iter().cloned().collect();
        if values.len() > 1 && values.iter().all(|value| *value == values[0]) {
            head.headers.insert(AUTHORIZATION, values[0].clone());
        }
    }) => credentials::repeated_tokens_return_401, "as often as it was sent";
    schemes_by_case: without(|name, value| *name == AUTHORIZATION && !value.as_bytes().starts_with(b"Bearer "))
        => credentials::authentication_scheme_is_preserved, "by the catalogue alone";
    non_text_headers_dropped: without(|_, value| !is_text(value))
        => credentials::non_ascii_bytes_are_preserved, "beyond ASCII reaches the catalogue";
    cookies_dropped: without(|name, _| *name == COOKIE)
        => credentials::cookie_identifies_caller, "cookies of a request reach the catalogue";
    token_read_from_the_query: Broken::request(token_of_the_query)
        => credentials::token_in_query_is_ignored, "in the query is not read";

    tags_dropped: without(|name, _| *name == IF_NONE_MATCH)
        => headers::matching_etag_returns_304, "If-None-Match reaches the catalogue";
    first_etags_only: keep_one_value(true) => headers::repeated_headers_are_preserved, "Each line";
    last_etags_only: keep_one_value(false) => headers::repeated_headers_are_preserved, "Each line";
    empty_values_refused: refuses_field(400, |_, value| value.is_empty())
        => headers::empty_headers_are_accepted, "without a value is no fault";
    preflights_answered_by_the_host: Broken::refuses(200, |head| {
        head.method == Method::OPTIONS && head.headers.contains_key(ORIGIN)
    }) => headers::preflight_returns_204, "by the catalogue";
    origins_dropped: without(|name, _| *name == ORIGIN) => headers::origin_is_preserved, "origin reaches the catalogue";
    ids_made_tidy: Broken::request(tidy_id) => headers::request_id_is_returned, "comes back";
    few_headers: Broken::refuses(431, |head| head.headers.len() > 32) => headers::many_headers_are_accepted, "Fifty headers";
    short_headers: refuses_field(431, |_, value| value.len() > 2_048)
        => headers::long_header_is_accepted, "4,000 octets";
    non_text_headers_refused: refuses_field(400, |_, value| !is_text(value))
        => headers::non_ascii_bytes_are_accepted, "in any header are no fault";

    absolute_targets_refused: Broken::refuses(400, |head| head.uri.scheme().is_some())
        => http1::absolute_targets_are_accepted, "A whole address as target";
    absolute_targets_as_paths: Broken::request(|head| {
        if head.uri.scheme().is_some() {
            head.uri = format!("/{}", head.uri).parse().unwrap();
        }
    }) => http1::absolute_targets_are_accepted, "A whole address as target";
    bare_roots_refused: Broken::refuses(400, |head| head.uri.scheme().is_some() && head.uri.path() == "/")
        => http1::absolute_target_without_path_is_root, "without a path means its root";
    asterisk_answered_by_the_host: Broken::refuses(204, |head| head.uri.path() == "*")
        => http1::asterisk_returns_404, "no path of the catalogue";
    panics_without_a_path: Broken::request(|head| assert!(!head.uri.path().is_empty()))
        => http1::connect_returns_404, "CONNECT is answered";
    older_versions_refused: Broken::refuses(505, |head| head.version < Version::HTTP_11)
        => http1::http_1_0_is_supported, "as one of HTTP/1.1";
}

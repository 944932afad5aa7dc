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
fn one_of_each(first: bool) -> Broken {
    Broken::request(move |head| {
        let mut kept = HeaderMap::new();
        for (name, value) in &head.headers {
            if !first || !kept.contains_key(name) {
                kept.insert(name, value.clone());
            }
        }
        head.headers = kept;
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
        => bodies::a_body_is_ignored, "A body is ignored";
    media_types_refused: refuses_field(415, |name, value| *name == CONTENT_TYPE && !value.as_bytes().contains(&b'/'))
        => bodies::a_body_is_not_parsed, "not parsed";
    json_refused: refuses_field(400, |name, value| *name == CONTENT_TYPE && value == "application/json")
        => bodies::a_body_is_not_parsed, "not parsed";
    bodies_without_media_type_refused: Broken::refuses(415, |head| has_body(head) && head.method == Method::POST)
        => bodies::a_body_does_not_hide_the_method, "with a body as without one";
    body_waited_for: Broken::needs_body() => http1::a_body_is_not_waited_for, "does not wait for the body";
    chunks_refused: refuses_field(411, |name, _| *name == TRANSFER_ENCODING)
        => http1::a_chunked_body_is_ignored, "unknown length";

    bare_refusals: Broken::refuses(401, |head| !head.headers.contains_key(AUTHORIZATION))
        => credentials::a_missing_token_is_refused, "without a token";
    first_values_of_requests: one_of_each(true)
        => credentials::repeated_tokens_are_refused, "as often as it was sent";
    last_values_of_requests: one_of_each(false)
        => credentials::repeated_tokens_are_refused, "as often as it was sent";
    same_values_merged: Broken::request(|head| {
        let values: Vec<_> = head.headers.get_all(AUTHORIZATION).iter().cloned().collect();
        if values.len() > 1 && values.iter().all(|value| *value == values[0]) {
            head.headers.insert(AUTHORIZATION, values[0].clone());
        }
    }) => credentials::repeated_tokens_are_refused, "as often as it was sent";
    schemes_by_case: without(|name, value| *name == AUTHORIZATION && !value.as_bytes().starts_with(b"Bearer "))
        => credentials::the_scheme_is_kept, "by the catalogue alone";
    headers_that_are_no_text_dropped: without(|_, value| !is_text(value))
        => credentials::bytes_beyond_ascii_are_kept, "beyond ASCII reaches the catalogue";
    cookies_dropped: without(|name, _| *name == COOKIE)
        => credentials::a_cookie_identifies_its_caller, "cookies of a request reach the catalogue";
    token_read_from_the_query: Broken::request(token_of_the_query)
        => credentials::a_token_in_the_query_is_none, "in the query is not read";

    tags_dropped: without(|name, _| *name == IF_NONE_MATCH)
        => headers::a_known_tag_is_not_modified, "If-None-Match reaches the catalogue";
    first_tags_alone: one_of_each(true) => headers::repeated_headers_are_kept_in_full, "Each line";
    last_tags_alone: one_of_each(false) => headers::repeated_headers_are_kept_in_full, "Each line";
    empty_values_refused: refuses_field(400, |_, value| value.is_empty())
        => headers::empty_headers_are_no_fault, "without a value is no fault";
    preflights_answered_by_the_host: Broken::refuses(200, |head| {
        head.method == Method::OPTIONS && head.headers.contains_key(ORIGIN)
    }) => headers::a_preflight_is_answered, "by the catalogue";
    origins_dropped: without(|name, _| *name == ORIGIN) => headers::the_origin_is_kept, "origin reaches the catalogue";
    ids_made_tidy: Broken::request(tidy_id) => headers::the_request_id_comes_back, "comes back";
    few_headers: Broken::refuses(431, |head| head.headers.len() > 32) => headers::many_headers_are_kept, "Fifty headers";
    short_headers: refuses_field(431, |_, value| value.len() > 2_048)
        => headers::a_long_header_is_kept, "4,000 octets";
    headers_of_text_alone: refuses_field(400, |_, value| !is_text(value))
        => headers::bytes_beyond_ascii_are_no_fault, "in any header are no fault";

    whole_addresses_refused: Broken::refuses(400, |head| head.uri.scheme().is_some())
        => http1::absolute_targets_are_understood, "A whole address as target";
    whole_addresses_as_paths: Broken::request(|head| {
        if head.uri.scheme().is_some() {
            head.uri = format!("/{}", head.uri).parse().unwrap();
        }
    }) => http1::absolute_targets_are_understood, "A whole address as target";
    bare_roots_refused: Broken::refuses(400, |head| head.uri.scheme().is_some() && head.uri.path() == "/")
        => http1::absolute_targets_may_have_no_path, "without a path means its root";
    asterisk_answered_by_the_host: Broken::refuses(204, |head| head.uri.path() == "*")
        => http1::the_asterisk_is_not_found, "no path of the catalogue";
    panics_without_a_path: Broken::request(|head| assert!(!head.uri.path().is_empty()))
        => http1::connect_is_not_found, "CONNECT is answered";
    older_versions_refused: Broken::refuses(505, |head| head.version < Version::HTTP_11)
        => http1::older_clients_are_answered, "as one of HTTP/1.1";
}

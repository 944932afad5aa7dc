//! Flaws with the status, headers and bodies of responses.

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, LINK, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};

use crate::broken::Broken;
use crate::flaws;

/// Replaces the body; the server adds its length.
fn rewritten(rewrite: impl Fn(&Bytes) -> Bytes + Send + Sync + 'static) -> Broken {
    Broken::response(move |_, response| {
        let body = rewrite(response.body());
        if body != response.body() {
            response.headers_mut().remove(CONTENT_LENGTH);
            *response.body_mut() = body;
        }
    })
}

/// Alters responses with the given status.
fn mapped(status: u16, map: impl Fn(&mut Response<Bytes>) + Send + Sync + 'static) -> Broken {
    Broken::response(move |_, response| {
        if response.status() == status {
            map(response);
        }
    })
}

/// Returns the first or the last value of each header.
fn keep_one_value(headers: &HeaderMap, first: bool) -> HeaderMap {
    let mut retained = HeaderMap::new();
    for (name, value) in headers {
        if !first || !retained.contains_key(name) {
            retained.insert(name, value.clone());
        }
    }
    retained
}

flaws! {
    long_body_is_truncated: rewritten(|body| body.slice(..body.len().min(8 << 10)))
        => responses::documents_are_complete, "is complete";
    every_media_type_is_json: Broken::response(|_, response| {
        if response.headers().contains_key(CONTENT_TYPE) {
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
    }) => responses::documents_are_complete, "the header content-type is";
    body_is_latin_1: rewritten(|body| String::from_utf8_lossy(body).chars().map(|c| c as u8).collect())
        => responses::non_ascii_text_is_preserved, "bytes of a body are unchanged";
    body_is_reserialized: rewritten(|body| String::from_utf8_lossy(body).replace(':', ": ").into())
        => responses::non_ascii_text_is_preserved, "bytes of a body are unchanged";
    body_is_altered_at_same_length: Broken::response(|_, response| {
        let body: Bytes = response.body().iter().map(|byte| if byte.is_ascii() { *byte } else { b'?' }).collect();
        *response.body_mut() = body;
    }) => responses::non_ascii_text_is_preserved, "the body differs";
    content_encoding_is_dropped: Broken::response(|_, response| {
        response.headers_mut().remove(CONTENT_ENCODING);
    }) => responses::compressed_responses_are_preserved, "the coding that the catalogue chose";
    responses_are_never_compressed: Broken::request(|head| {
        head.headers.remove(ACCEPT_ENCODING);
    }) => responses::compressed_responses_are_preserved, "the coding that the catalogue chose";
    only_first_response_header_is_kept: Broken::response(|_, response| {
        *response.headers_mut() = keep_one_value(response.headers(), true);
    }) => responses::repeated_headers_are_sent_in_full, "repeated header arrives";
    only_last_response_header_is_kept: Broken::response(|_, response| {
        *response.headers_mut() = keep_one_value(response.headers(), false);
    }) => responses::repeated_headers_are_sent_in_full, "repeated header arrives";
    link_is_dropped: Broken::response(|_, response| {
        response.headers_mut().remove(LINK);
    }) => responses::link_header_is_preserved, "the header link is missing";
    link_loses_prefix: Broken::response(|_, response| {
        if let Some(link) = response.headers().get(LINK) {
            let moved = link.to_str().unwrap().replace("/api/v1", "");
            response.headers_mut().insert(LINK, moved.parse().unwrap());
        }
    }) => responses::link_header_is_preserved, "the header link is";
    server_header_is_added: Broken::response(|_, response| {
        response.headers_mut().insert("server", HeaderValue::from_static("hyper"));
    }) => responses::link_header_is_preserved, "the header server was added";
    failure_body_is_replaced: Broken::response(|_, response| {
        if response.status().is_server_error() {
            *response = Response::new(Bytes::from_static(b"Internal Server Error"));
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        }
    }) => responses::failures_use_the_envelope, "has the catalogue's envelope";
    failure_returns_503: mapped(500, |response| *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE)
        => responses::failures_use_the_envelope, "the status is 503 and not 500";

    unauthorized_returns_403: mapped(401, |response| *response.status_mut() = StatusCode::FORBIDDEN)
        => credentials::unknown_token_returns_401, "the status is 403 and not 401";
    challenge_is_dropped: mapped(403, |response| {
        response.headers_mut().remove(WWW_AUTHENTICATE);
    }) => credentials::missing_scope_returns_403, "with its challenge";

    not_modified_returns_200: mapped(304, |response| *response.status_mut() = StatusCode::OK)
        => headers::matching_etag_returns_304, "If-None-Match reaches the catalogue";
    not_modified_lacks_etag: mapped(304, |response| {
        response.headers_mut().remove(ETAG);
    }) => headers::matching_etag_returns_304, "the header etag is missing";
    request_id_is_replaced: Broken::response(|_, response| {
        response.headers_mut().insert("x-request-id", HeaderValue::from_static("1"));
    }) => headers::request_id_is_returned, "is returned";

    head_has_zero_length: Broken::response(|head, response| {
        if head.method == Method::HEAD {
            response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
    }) => methods::head_has_headers_of_get, "the header content-length is";
    head_of_failure_lacks_length: Broken::response(|head, response| {
        if head.method == Method::HEAD && !response.status().is_success() {
            response.headers_mut().remove(CONTENT_LENGTH);
        }
    }) => methods::head_of_failure_has_its_headers, "headers of a failure";
    no_content_returns_200: mapped(204, |response| *response.status_mut() = StatusCode::OK)
        => methods::options_lists_methods, "the status is 200 and not 204";
}

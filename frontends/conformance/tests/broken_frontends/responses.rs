//! Flaws on the way back: what becomes of an answer's status, headers and body.

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, LINK, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};

use crate::broken::Broken;
use crate::flaws;

/// Another body, whose length the server finds out by itself.
fn rewritten(rewrite: impl Fn(&Bytes) -> Bytes + Send + Sync + 'static) -> Broken {
    Broken::response(move |_, response| {
        let body = rewrite(response.body());
        if body != response.body() {
            response.headers_mut().remove(CONTENT_LENGTH);
            *response.body_mut() = body;
        }
    })
}

/// Answers of one status become others.
fn mapped(status: u16, map: impl Fn(&mut Response<Bytes>) + Send + Sync + 'static) -> Broken {
    Broken::response(move |_, response| {
        if response.status() == status {
            map(response);
        }
    })
}

/// The first or the last value of each header.
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
    bodies_cut_short: rewritten(|body| body.slice(..body.len().min(8 << 10)))
        => responses::documents_are_complete, "arrives whole";
    one_media_type_for_all: Broken::response(|_, response| {
        if response.headers().contains_key(CONTENT_TYPE) {
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
    }) => responses::documents_are_complete, "the header content-type is";
    bodies_in_latin_1: rewritten(|body| String::from_utf8_lossy(body).chars().map(|c| c as u8).collect())
        => responses::non_ascii_text_is_preserved, "bytes arrive as they are";
    bodies_reserialized: rewritten(|body| String::from_utf8_lossy(body).replace(':', ": ").into())
        => responses::non_ascii_text_is_preserved, "bytes arrive as they are";
    bodies_of_the_same_length: Broken::response(|_, response| {
        let body: Bytes = response.body().iter().map(|byte| if byte.is_ascii() { *byte } else { b'?' }).collect();
        *response.body_mut() = body;
    }) => responses::non_ascii_text_is_preserved, "the body is another one";
    codings_not_named: Broken::response(|_, response| {
        response.headers_mut().remove(CONTENT_ENCODING);
    }) => responses::compressed_responses_are_preserved, "the coding that the catalogue chose";
    never_compressed: Broken::request(|head| {
        head.headers.remove(ACCEPT_ENCODING);
    }) => responses::compressed_responses_are_preserved, "the coding that the catalogue chose";
    first_response_header_values_only: Broken::response(|_, response| {
        *response.headers_mut() = keep_one_value(response.headers(), true);
    }) => responses::repeated_headers_are_sent_in_full, "repeated header arrives";
    last_response_header_values_only: Broken::response(|_, response| {
        *response.headers_mut() = keep_one_value(response.headers(), false);
    }) => responses::repeated_headers_are_sent_in_full, "repeated header arrives";
    links_dropped: Broken::response(|_, response| {
        response.headers_mut().remove(LINK);
    }) => responses::link_header_is_preserved, "the header link is missing";
    links_moved: Broken::response(|_, response| {
        if let Some(link) = response.headers().get(LINK) {
            let moved = link.to_str().unwrap().replace("/api/v1", "");
            response.headers_mut().insert(LINK, moved.parse().unwrap());
        }
    }) => responses::link_header_is_preserved, "the header link is";
    headers_added: Broken::response(|_, response| {
        response.headers_mut().insert("server", HeaderValue::from_static("hyper"));
    }) => responses::link_header_is_preserved, "the header server was added";
    failures_in_other_words: Broken::response(|_, response| {
        if response.status().is_server_error() {
            *response = Response::new(Bytes::from_static(b"Internal Server Error"));
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        }
    }) => responses::failures_use_the_envelope, "as the catalogue words it";
    failures_as_unavailable: mapped(500, |response| *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE)
        => responses::failures_use_the_envelope, "the status is 503 and not 500";

    unauthorized_as_forbidden: mapped(401, |response| *response.status_mut() = StatusCode::FORBIDDEN)
        => credentials::unknown_token_returns_401, "the status is 403 and not 401";
    challenges_dropped: mapped(403, |response| {
        response.headers_mut().remove(WWW_AUTHENTICATE);
    }) => credentials::missing_scope_returns_403, "with its challenge";

    not_modified_as_200: mapped(304, |response| *response.status_mut() = StatusCode::OK)
        => headers::matching_etag_returns_304, "If-None-Match reaches the catalogue";
    not_modified_without_its_tag: mapped(304, |response| {
        response.headers_mut().remove(ETAG);
    }) => headers::matching_etag_returns_304, "the header etag is missing";
    request_ids_replaced: Broken::response(|_, response| {
        response.headers_mut().insert("x-request-id", HeaderValue::from_static("1"));
    }) => headers::request_id_is_returned, "comes back";

    head_with_zero_length: Broken::response(|head, response| {
        if head.method == Method::HEAD {
            response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
    }) => methods::head_has_headers_of_get, "the header content-length is";
    head_of_failures_without_length: Broken::response(|head, response| {
        if head.method == Method::HEAD && !response.status().is_success() {
            response.headers_mut().remove(CONTENT_LENGTH);
        }
    }) => methods::head_of_failure_has_its_headers, "headers of a failure";
    no_content_as_200: mapped(204, |response| *response.status_mut() = StatusCode::OK)
        => methods::options_lists_methods, "the status is 200 and not 204";
}

//! Flaws on the way back: what becomes of an answer's status, headers and body.

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, LINK, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};

use crate::broken::Broken;
use crate::flaws;

/// Another body, whose length the server finds out by itself.
fn rewritten(rewrite: impl Fn(&Bytes) -> Bytes + Send + Sync + 'static) -> Broken {
    Broken::answer(move |_, response| {
        let body = rewrite(response.body());
        if body != response.body() {
            response.headers_mut().remove(CONTENT_LENGTH);
            *response.body_mut() = body;
        }
    })
}

/// Answers of one status become others.
fn mapped(status: u16, map: impl Fn(&mut Response<Bytes>) + Send + Sync + 'static) -> Broken {
    Broken::answer(move |_, response| {
        if response.status() == status {
            map(response);
        }
    })
}

/// The first or the last value of each header.
fn one_of_each(headers: &HeaderMap, first: bool) -> HeaderMap {
    let mut kept = HeaderMap::new();
    for (name, value) in headers {
        if !first || !kept.contains_key(name) {
            kept.insert(name, value.clone());
        }
    }
    kept
}

flaws! {
    bodies_cut_short: rewritten(|body| body.slice(..body.len().min(8 << 10)))
        => answers::documents_arrive_whole, "arrives whole";
    one_media_type_for_all: Broken::answer(|_, response| {
        if response.headers().contains_key(CONTENT_TYPE) {
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
    }) => answers::documents_arrive_whole, "the header content-type is";
    bodies_in_latin_1: rewritten(|body| String::from_utf8_lossy(body).chars().map(|c| c as u8).collect())
        => answers::text_beyond_ascii_arrives_as_it_is, "bytes arrive as they are";
    bodies_printed_anew: rewritten(|body| String::from_utf8_lossy(body).replace(':', ": ").into())
        => answers::text_beyond_ascii_arrives_as_it_is, "bytes arrive as they are";
    bodies_of_the_same_length: Broken::answer(|_, response| {
        let body: Bytes = response.body().iter().map(|byte| if byte.is_ascii() { *byte } else { b'?' }).collect();
        *response.body_mut() = body;
    }) => answers::text_beyond_ascii_arrives_as_it_is, "the body is another one";
    codings_not_named: Broken::answer(|_, response| {
        response.headers_mut().remove(CONTENT_ENCODING);
    }) => answers::compressed_answers_are_left_alone, "the coding that the catalogue chose";
    never_compressed: Broken::request(|head| {
        head.headers.remove(ACCEPT_ENCODING);
    }) => answers::compressed_answers_are_left_alone, "the coding that the catalogue chose";
    first_values_of_answers: Broken::answer(|_, response| {
        *response.headers_mut() = one_of_each(response.headers(), true);
    }) => answers::repeated_headers_are_sent_in_full, "repeated header arrives";
    last_values_of_answers: Broken::answer(|_, response| {
        *response.headers_mut() = one_of_each(response.headers(), false);
    }) => answers::repeated_headers_are_sent_in_full, "repeated header arrives";
    links_dropped: Broken::answer(|_, response| {
        response.headers_mut().remove(LINK);
    }) => answers::links_are_kept, "the header link is missing";
    links_moved: Broken::answer(|_, response| {
        if let Some(link) = response.headers().get(LINK) {
            let moved = link.to_str().unwrap().replace("/api/v1", "");
            response.headers_mut().insert(LINK, moved.parse().unwrap());
        }
    }) => answers::links_are_kept, "the header link is";
    headers_added: Broken::answer(|_, response| {
        response.headers_mut().insert("server", HeaderValue::from_static("hyper"));
    }) => answers::links_are_kept, "the header server was added";
    failures_in_other_words: Broken::answer(|_, response| {
        if response.status().is_server_error() {
            *response = Response::new(Bytes::from_static(b"Internal Server Error"));
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        }
    }) => answers::failures_are_the_envelope, "as the catalogue words it";
    failures_as_unavailable: mapped(500, |response| *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE)
        => answers::failures_are_the_envelope, "the status is 503 and not 500";

    unauthorized_as_forbidden: mapped(401, |response| *response.status_mut() = StatusCode::FORBIDDEN)
        => credentials::an_unknown_token_is_refused, "the status is 403 and not 401";
    challenges_dropped: mapped(403, |response| {
        response.headers_mut().remove(WWW_AUTHENTICATE);
    }) => credentials::a_missing_scope_is_refused, "with its challenge";

    not_modified_as_found: mapped(304, |response| *response.status_mut() = StatusCode::OK)
        => headers::a_known_tag_is_not_modified, "If-None-Match reaches the catalogue";
    not_modified_without_its_tag: mapped(304, |response| {
        response.headers_mut().remove(ETAG);
    }) => headers::a_known_tag_is_not_modified, "the header etag is missing";
    ids_of_its_own: Broken::answer(|_, response| {
        response.headers_mut().insert("x-request-id", HeaderValue::from_static("1"));
    }) => headers::the_request_id_comes_back, "comes back";

    lengths_of_what_head_leaves_out: Broken::answer(|head, response| {
        if head.method == Method::HEAD {
            response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
    }) => methods::head_has_the_headers_of_get, "the header content-length is";
    head_of_failures_without_length: Broken::answer(|head, response| {
        if head.method == Method::HEAD && !response.status().is_success() {
            response.headers_mut().remove(CONTENT_LENGTH);
        }
    }) => methods::head_of_a_failure_has_its_headers, "headers of a failure";
    no_content_as_found: mapped(204, |response| *response.status_mut() = StatusCode::OK)
        => methods::options_lists_the_methods, "the status is 200 and not 204";
}

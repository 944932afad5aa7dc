//! The flaws, each with the cases that catch it.

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, IF_NONE_MATCH, ORIGIN, TRANSFER_ENCODING};
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, Version};
use percent_encoding::percent_decode_str;

use crate::broken::{BodyArrived, Broken};
use crate::tests_of_flaws;

/// Alters the head of each request.
fn alters(alter: fn(&mut Parts)) -> Broken {
    Broken::request(move |head| {
        alter(head);
        Ok(())
    })
}

/// Refuses the requests for which `refused` returns `true`, with a bare status.
pub(crate) fn refuses(status: u16, refused: fn(&Parts) -> bool) -> Broken {
    Broken::request(move |head| if refused(head) { Err(status) } else { Ok(()) })
}

/// Refuses requests with a header field for which `refused` returns `true`.
fn refuses_field(status: u16, refused: fn(&HeaderName, &HeaderValue) -> bool) -> Broken {
    Broken::request(move |head| {
        let is_refused = head.headers.iter().any(|(name, value)| refused(name, value));
        if is_refused { Err(status) } else { Ok(()) }
    })
}

/// Drops from each request the header fields for which `dropped` returns `true`.
fn drops_field(dropped: fn(&HeaderName, &HeaderValue) -> bool) -> Broken {
    Broken::request(move |head| {
        let fields = head.headers.iter().filter(|(name, value)| !dropped(name, value));
        head.headers = fields.map(|(name, value)| (name.clone(), value.clone())).collect();
        Ok(())
    })
}

/// Replaces the path and the query by the results of `path` and `query`.
fn target(path: impl Fn(&str) -> String + Send + Sync + 'static, query: fn(&str) -> String) -> Broken {
    Broken::request(move |head| {
        let target = head.uri.path_and_query().map_or("", PathAndQuery::as_str);
        let altered = match target.split_once('?') {
            Some((before, after)) => format!("{}?{}", path(before), query(after)),
            None => path(target),
        };
        head.uri = Uri::try_from(altered).unwrap_or_else(|_| Uri::from_static("*"));
        Ok(())
    })
}

pub(crate) fn path(alter: fn(&str) -> String) -> Broken {
    target(alter, str::to_owned)
}

pub(crate) fn query(alter: fn(&str) -> String) -> Broken {
    target(str::to_owned, alter)
}

/// Keeps the query parameters for which `keep` returns `true`.
fn parameters(query: &str, keep: fn(&str) -> bool) -> String {
    query.split('&').filter(|parameter| keep(parameter)).collect::<Vec<_>>().join("&")
}

/// Sets a header of each response, or removes it.
pub(crate) fn sets(name: &'static str, value: Option<&'static str>) -> Broken {
    Broken::response(move |_, response| {
        response.headers_mut().remove(name);
        response
            .headers_mut()
            .extend(value.map(|value| (HeaderName::from_static(name), HeaderValue::from_static(value))));
    })
}

/// Replaces one status of responses by another.
fn maps(status: u16, other: u16) -> Broken {
    Broken::response(move |_, response| {
        if response.status() == status {
            *response.status_mut() = StatusCode::from_u16(other).unwrap();
        }
    })
}

/// Replaces the body of each response; the server adds its length.
fn rewrites(rewrite: fn(&Bytes) -> Bytes) -> Broken {
    Broken::response(move |_, response| {
        let body = rewrite(response.body());
        if body != response.body() {
            response.headers_mut().remove(CONTENT_LENGTH);
            *response.body_mut() = body;
        }
    })
}

/// Keeps only the first or the last value of each header.
fn keep_one_value(headers: &mut HeaderMap, first: bool) {
    let mut retained = HeaderMap::new();
    for (name, value) in &*headers {
        if !first || !retained.contains_key(name) {
            retained.insert(name, value.clone());
        }
    }
    *headers = retained;
}

tests_of_flaws! {
    // Bodies of requests.
    body_is_refused: refuses(400, |head| head.headers.contains_key(CONTENT_LENGTH))
        => bodies::body_is_ignored, bodies::method_is_refused_despite_a_body;
    media_type_is_refused: refuses_field(415, |name, _| *name == CONTENT_TYPE) => bodies::body_is_not_parsed;
    response_waits_for_body: refuses(408, |head| head.extensions.get() == Some(&BodyArrived(false)))
        => http1::response_does_not_wait_for_body;
    chunked_body_is_refused: refuses_field(411, |name, _| *name == TRANSFER_ENCODING) => http1::chunked_body_is_ignored;

    // Headers of requests.
    missing_token_gets_bare_401: refuses(401, |head| !head.headers.contains_key(AUTHORIZATION))
        => credentials::refusals_are_returned;
    only_first_request_header_is_kept: alters(|head| keep_one_value(&mut head.headers, true))
        => credentials::repeated_tokens_return_401, headers::repeated_headers_are_preserved;
    only_last_request_header_is_kept: alters(|head| keep_one_value(&mut head.headers, false))
        => credentials::repeated_tokens_return_401, headers::repeated_headers_are_preserved;
    equal_header_values_are_merged: alters(|head| {
        let values: Vec<_> = head.headers.get_all(AUTHORIZATION).iter().cloned().collect();
        if values.len() > 1 && values.iter().all(|value| *value == values[0]) {
            head.headers.insert(AUTHORIZATION, values[0].clone());
        }
    }) => credentials::repeated_tokens_return_401;
    scheme_is_case_sensitive: drops_field(|name, value| *name == AUTHORIZATION && !value.as_bytes().starts_with(b"Bearer "))
        => credentials::authentication_scheme_is_preserved;
    non_ascii_header_is_refused: refuses_field(400, |_, value| value.to_str().is_err())
        => credentials::non_ascii_bytes_are_preserved, headers::non_ascii_bytes_are_accepted;
    cookies_are_dropped: drops_field(|name, _| *name == COOKIE) => credentials::cookie_identifies_caller;
    token_is_read_from_query: alters(|head| {
        let token = head.uri.query().and_then(|query| query.strip_prefix("access_token="));
        let token = token.map(|token| (AUTHORIZATION, format!("Bearer {token}").parse().unwrap()));
        head.headers.extend(token);
    }) => credentials::token_in_query_is_ignored;
    etags_are_dropped: drops_field(|name, _| *name == IF_NONE_MATCH) => headers::matching_etag_returns_304;
    empty_header_is_refused: refuses_field(400, |_, value| value.is_empty()) => headers::empty_headers_are_accepted;
    host_responds_to_preflight: refuses(200, |head| head.method == Method::OPTIONS && head.headers.contains_key(ORIGIN))
        => headers::preflight_returns_204;
    origin_is_dropped: drops_field(|name, _| *name == ORIGIN) => headers::origin_is_preserved;
    request_id_with_punctuation_is_dropped: drops_field(|name, value| *name == "x-request-id" && value.as_bytes().contains(&b'!'))
        => headers::request_id_is_returned;
    many_headers_are_refused: refuses(431, |head| head.headers.len() > 32) => headers::many_headers_are_accepted;
    long_header_is_refused: refuses_field(431, |_, value| value.len() > 2_048) => headers::long_header_is_accepted;

    // Methods.
    head_is_not_routed: refuses(405, |head| head.method == Method::HEAD) => methods::head_has_headers_of_get;
    options_is_not_routed: refuses(405, |head| head.method == Method::OPTIONS) => methods::options_lists_methods;
    every_method_is_get: alters(|head| head.method = Method::GET)
        => methods::other_methods_return_405, methods::extension_methods_are_preserved, methods::method_case_is_preserved;
    methods_are_checked_before_path: Broken::response(|head, response| {
        if head.method == Method::DELETE {
            *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
        }
    }) => methods::path_is_checked_before_method;
    method_is_overridden_by_header: alters(|head| {
        if let Some(method) = head.headers.get("x-http-method-override") {
            head.method = Method::from_bytes(method.as_bytes()).unwrap();
        }
    }) => methods::method_overrides_are_ignored;

    // Paths.
    docs_mount_is_missing: refuses(404, |head| head.uri.path().starts_with("/docs")) => path::operations_and_documents_are_found;
    prefix_is_stripped: path(|path| path.strip_prefix("/api/v1").unwrap_or(path).to_owned())
        => path::operations_and_documents_are_found;
    mount_is_not_routed: refuses(404, |head| matches!(head.uri.path(), "/api/v1" | "/api/v1/" | "/docs" | "/docs/"))
        => path::mount_paths_are_routed;
    host_responds_outside_mounts: refuses(404, |head| !head.uri.path().starts_with("/api/v1") && !head.uri.path().starts_with("/docs"))
        => path::paths_outside_mounts_return_404;
    prefix_is_optional: path(|path| if path == "/me" { "/api/v1/me".to_owned() } else { path.to_owned() })
        => path::paths_outside_mounts_return_404;
    escaped_text_is_dropped: path(|path| percent_decode_str(path).decode_utf8_lossy().chars().filter(char::is_ascii).collect())
        => path::escaped_text_is_preserved;
    path_is_decoded_early: path(|path| percent_decode_str(path).decode_utf8_lossy().into_owned())
        => path::escapes_are_decoded_once, path::escaped_slash_is_not_a_separator, path::escapes_are_not_normalized;
    percent_is_encoded_again: path(|path| path.replace('%', "%25")) => path::escapes_are_decoded_once;
    invalid_escape_is_refused: refuses(400, |head| percent_decode_str(head.uri.path()).decode_utf8().is_err())
        => path::invalid_escapes_are_preserved;
    non_ascii_path_is_refused: refuses(400, |head| !head.uri.path().is_ascii()) => path::unescaped_text_is_preserved;
    plus_is_decoded_as_space: path(|path| path.replace('+', "%20")) => path::reserved_characters_are_preserved;
    segment_parameters_are_cut: path(|path| path.split(';').next().unwrap().to_owned()) => path::reserved_characters_are_preserved;
    trailing_slash_is_trimmed: path(|path| path[..1].to_owned() + path[1..].trim_end_matches('/')) => path::trailing_slash_is_preserved;
    double_slashes_are_merged: path(|path| path.replace("//", "/"))
        => path::double_slashes_are_preserved;
    double_slash_after_mount_is_merged: path(|path| path.replace("/api/v1//", "/api/v1/"))
        => path::double_slash_after_mount_is_preserved;
    dot_segments_are_resolved: path(|path| path.replace("/courses/../", "/").replace("/./", "/"))
         => path::dot_segments_are_preserved;
    path_is_lowercased: path(str::to_ascii_lowercase) => path::path_case_is_preserved;
    long_path_is_refused: refuses(431, |head| head.uri.path().len() > 4_096) => path::long_path_is_preserved;

    // Queries.
    query_is_dropped: query(|_| String::new()) => query::query_is_preserved;
    only_first_parameter_is_kept: query(|query| query.split('&').next().unwrap().to_owned())
        => query::paging_matches_core, query::repeated_parameters_are_preserved;
    empty_query_is_refused: refuses(400, |head| head.uri.query() == Some("")) => query::empty_query_is_accepted;
    empty_values_are_dropped: query(|query| parameters(query, |parameter| parameter.contains('=') && !parameter.ends_with('=')))
        => query::empty_values_are_preserved;
    leading_plus_is_trimmed: query(|query| query.replace("=+", "=")) => query::plus_is_preserved;
    query_is_decoded_early: query(|query| percent_decode_str(query).decode_utf8_lossy().into_owned())
        => query::escaped_separators_are_preserved;
    escaped_parameters_are_dropped: query(|query| parameters(query, |parameter| !parameter.contains('%')))
        => query::escaped_names_are_preserved;
    non_utf8_query_is_dropped: query(|query| percent_decode_str(query).decode_utf8().map_or(String::new(), |_| query.to_owned()))
        => query::malformed_escapes_are_preserved;
    query_is_cut_at_question_mark: query(|query| query.split('?').next().unwrap().to_owned())
        => query::slashes_and_question_marks_are_preserved;
    non_ascii_query_is_refused: refuses(400, |head| head.uri.query().is_some_and(|query| !query.is_ascii()))
        => query::unescaped_text_is_preserved;
    long_query_is_truncated: query(|query| query.chars().take(4_096).collect()) => query::long_query_is_preserved;

    // Other targets and versions of HTTP/1.
    absolute_target_is_refused: refuses(400, |head| head.uri.scheme().is_some())
        => http1::absolute_targets_are_accepted;
    host_responds_to_asterisk: refuses(204, |head| head.uri.path() == "*") => http1::asterisk_returns_404;
    target_without_path_panics: alters(|head| assert!(!head.uri.path().is_empty())) => http1::connect_returns_404, "no response";
    http_1_0_is_refused: refuses(505, |head| head.version < Version::HTTP_11) => http1::http_1_0_is_supported;

    // Responses.
    long_body_is_truncated: rewrites(|body| body.slice(..body.len().min(8 << 10))) => responses::documents_are_complete;
    every_media_type_is_json: sets("content-type", Some("application/json"))
        => responses::documents_are_complete, "the header content-type is";
    body_is_altered_at_same_length: rewrites(|body| body.iter().map(|byte| if byte.is_ascii() { *byte } else { b'?' }).collect())
        => path::escaped_text_is_preserved, "the body differs";
    content_encoding_is_dropped: sets("content-encoding", None) => responses::compressed_responses_are_preserved;
    responses_are_never_compressed: drops_field(|name, _| *name == "accept-encoding") => responses::compressed_responses_are_preserved;
    only_first_response_header_is_kept: Broken::response(|_, response| keep_one_value(response.headers_mut(), true))
        => responses::repeated_headers_are_sent_in_full;
    link_is_dropped: sets("link", None) => responses::link_header_is_preserved, "the header link is missing";
    link_loses_prefix: sets("link", Some("</courses?limit=1>; rel=\"next\""))
        => responses::link_header_is_preserved, "the header link is";
    server_header_is_added: sets("server", Some("hyper")) => responses::link_header_is_preserved, "the header server was added";
    failure_returns_503: maps(500, 503) => responses::failures_use_the_envelope, "the status is 503 and not 500";
    unauthorized_returns_403: maps(401, 403) => credentials::refusals_are_returned, "the status is 403 and not 401";
    challenge_is_dropped: sets("www-authenticate", None) => credentials::refusals_are_returned;
    not_modified_returns_200: maps(304, 200) => headers::matching_etag_returns_304;
    etag_is_dropped: sets("etag", None) => headers::matching_etag_returns_304, "the header etag is missing";
    request_id_is_replaced: sets("x-request-id", Some("1")) => headers::request_id_is_returned;
    head_has_zero_length: Broken::response(|head, response| {
        if head.method == Method::HEAD {
            response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
    }) => methods::head_has_headers_of_get, methods::head_of_failure_has_its_headers, "the header content-length is";
    no_content_returns_200: maps(204, 200) => methods::options_lists_methods, "the status is 200 and not 204";
}

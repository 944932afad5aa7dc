//! Flaws with methods.

use http::{Method, StatusCode};

use crate::broken::Broken;
use crate::flaws;

/// Replaces the method by the result of `alter`.
fn method(alter: impl Fn(&Method) -> Method + Send + Sync + 'static) -> Broken {
    Broken::request(move |head| head.method = alter(&head.method))
}

fn is_known(method: &Method) -> bool {
    [Method::GET, Method::HEAD, Method::OPTIONS].contains(method)
}

flaws! {
    head_is_not_routed: Broken::refuses(405, |head| head.method == Method::HEAD)
        => methods::head_has_headers_of_get, "HEAD gets the headers of GET";
    options_is_not_routed: Broken::refuses(405, |head| head.method == Method::OPTIONS)
        => methods::options_lists_methods, "OPTIONS reaches the catalogue";
    every_method_is_get: method(|_| Method::GET) => methods::other_methods_return_405, "The catalogue refuses methods";
    other_methods_return_501: Broken::refuses(501, |head| !is_known(&head.method))
        => methods::other_methods_return_405, "The catalogue refuses methods";
    other_methods_always_return_405: Broken::response(|head, response| {
        if !is_known(&head.method) {
            *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
        }
    }) => methods::path_is_checked_before_method, "Only the catalogue checks";
    unknown_methods_are_get: method(|method| match method.as_str() {
        "POST" | "PUT" | "PATCH" | "DELETE" | "TRACE" => method.clone(),
        _ if is_known(method) => method.clone(),
        _ => Method::GET,
    }) => methods::extension_methods_are_preserved, "HTTP does not define";
    method_is_uppercased: method(|method| method.as_str().to_ascii_uppercase().parse().unwrap())
        => methods::method_case_is_preserved, "in lower case";
    method_is_overridden_by_header: Broken::request(|head| {
        if let Some(method) = head.headers.get("x-http-method-override") {
            head.method = Method::from_bytes(method.as_bytes()).unwrap();
        }
    }) => methods::method_overrides_are_ignored, "does not replace the method";
}

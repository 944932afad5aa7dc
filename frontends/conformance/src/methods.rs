//! Methods reach the catalogue unchanged.

use std::convert::identity;

use crate::Frontend;
use crate::cases::case_table;
use crate::test_request::TestRequest;

case_table! {
    ($) __methods_cases; methods, frontend, rule, identity;

    head_has_headers_of_get: "HEAD gets the headers of GET and no body." => [
        (frontend.request("HEAD", "/api/v1/me"), 200),
        (frontend.request("HEAD", "/api/v1/courses?limit=1"), 200),
        (frontend.request("HEAD", "/docs/openapi.json"), 200),
    ];

    head_of_failure_has_its_headers: "HEAD gets the headers of a failure and no body." => [
        (TestRequest::new("HEAD", "/api/v1/me"), 401), (frontend.request("HEAD", "/elsewhere"), 404),
    ];

    options_lists_methods: "OPTIONS reaches the catalogue, whose response has neither body nor length." => [
        (TestRequest::new("OPTIONS", "/api/v1/courses"), 204),
        (TestRequest::new("OPTIONS", "/docs"), 204),
        (TestRequest::new("OPTIONS", "/elsewhere"), 404),
    ];

    /// A wrong method on an unknown path gets a 404, or below the base URL without a token a 401.
    path_is_checked_before_method: "Only the catalogue checks a method." => [
        (frontend.request("DELETE", "/elsewhere"), 404),
        (frontend.request("DELETE", "/api/v1/nothing"), 404),
        (TestRequest::new("PUT", "/api/v1/nothing"), 401),
    ];

    extension_methods_are_preserved: "A method that HTTP does not define reaches the catalogue." => [
        (frontend.request("PROPFIND", "/api/v1/me"), 405),
        (frontend.request("M-SEARCH", "/api/v1/me"), 405),
        (frontend.request("X", "/api/v1/me"), 405),
    ];

    method_case_is_preserved: "A method in lower case is another method." => [
        (frontend.request("get", "/api/v1/me"), 405),
    ];

    method_overrides_are_ignored: "A header does not replace the method." => [
        (frontend.get("/api/v1/me").header("x-http-method-override", "DELETE"), 200),
    ];

    /// Methods that write get a 405, and so does TRACE.
    other_methods_return_405: "The catalogue refuses methods that it does not have." => {
        for method in ["POST", "PUT", "PATCH", "DELETE", "TRACE"] {
            frontend.assert_matches_core(rule, 405, frontend.request(method, "/api/v1/courses")).await;
        }
        frontend.assert_matches_core(rule, 405, TestRequest::new("POST", "/docs/llms.txt")).await;
    };
}

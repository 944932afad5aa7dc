//! Methods reach the catalogue unchanged.

use crate::Frontend;
use crate::test_request::TestRequest;

/// HEAD has the headers of GET, including the length, and no body.
pub async fn head_has_headers_of_get(frontend: &Frontend) {
    let rule = "HEAD gets the headers of GET and no body.";
    for target in ["/api/v1/me", "/api/v1/courses?limit=1", "/docs/openapi.json"] {
        frontend.assert_matches_core(rule, 200, frontend.request("HEAD", target)).await;
    }
}

/// HEAD of a failure has the failure's headers, including the length, and no body.
pub async fn head_of_failure_has_its_headers(frontend: &Frontend) {
    let rule = "HEAD gets the headers of a failure and no body.";
    frontend.assert_matches_core(rule, 401, TestRequest::new("HEAD", "/api/v1/me")).await;
    frontend.assert_matches_core(rule, 404, frontend.request("HEAD", "/elsewhere")).await;
}

/// OPTIONS gets the list of methods, and needs no token.
pub async fn options_lists_methods(frontend: &Frontend) {
    let rule = "OPTIONS reaches the catalogue, whose response has neither body nor length.";
    frontend.assert_matches_core(rule, 204, TestRequest::new("OPTIONS", "/api/v1/courses")).await;
    frontend.assert_matches_core(rule, 204, TestRequest::new("OPTIONS", "/docs")).await;
    frontend.assert_matches_core(rule, 404, TestRequest::new("OPTIONS", "/elsewhere")).await;
}

/// Methods that write get a 405, and so does TRACE.
pub async fn other_methods_return_405(frontend: &Frontend) {
    let rule = "The catalogue refuses methods that it does not have.";
    for method in ["POST", "PUT", "PATCH", "DELETE", "TRACE"] {
        frontend.assert_matches_core(rule, 405, frontend.request(method, "/api/v1/courses")).await;
    }
    frontend.assert_matches_core(rule, 405, TestRequest::new("POST", "/docs/llms.txt")).await;
}

/// A wrong method on an unknown path gets a 404, or below the base URL without a token a 401.
pub async fn path_is_checked_before_method(frontend: &Frontend) {
    let rule = "Only the catalogue checks a method.";
    frontend.assert_matches_core(rule, 404, frontend.request("DELETE", "/elsewhere")).await;
    frontend.assert_matches_core(rule, 404, frontend.request("DELETE", "/api/v1/nothing")).await;
    frontend.assert_matches_core(rule, 401, TestRequest::new("PUT", "/api/v1/nothing")).await;
}

/// Methods of other standards and nonstandard methods reach the catalogue.
pub async fn extension_methods_are_preserved(frontend: &Frontend) {
    let rule = "A method that HTTP does not define reaches the catalogue.";
    for method in ["PROPFIND", "M-SEARCH", "X"] {
        frontend.assert_matches_core(rule, 405, frontend.request(method, "/api/v1/me")).await;
    }
}

/// The method `get` is not GET, because methods are case-sensitive.
pub async fn method_case_is_preserved(frontend: &Frontend) {
    frontend
        .assert_matches_core("A method in lower case is another method.", 405, frontend.request("get", "/api/v1/me"))
        .await;
}

/// A header does not override the method.
pub async fn method_overrides_are_ignored(frontend: &Frontend) {
    let request = frontend.get("/api/v1/me").header("x-http-method-override", "DELETE");
    frontend.assert_matches_core("A header does not replace the method.", 200, request).await;
}

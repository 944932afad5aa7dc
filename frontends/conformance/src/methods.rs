//! Methods reach the catalogue unchanged.

use crate::Frontend;
use crate::ask::Ask;

/// HEAD has the headers of GET, including the length, and no body.
pub async fn head_has_the_headers_of_get(frontend: &Frontend) {
    let rule = "HEAD is answered with the headers of GET and without a body.";
    for target in ["/api/v1/me", "/api/v1/courses?limit=1", "/docs/openapi.json"] {
        frontend.agrees(rule, 200, frontend.ask("HEAD", target)).await;
    }
}

/// HEAD of a failure has its length too.
pub async fn head_of_a_failure_has_its_headers(frontend: &Frontend) {
    let rule = "HEAD is answered with the headers of a failure and without its body.";
    frontend.agrees(rule, 401, Ask::new("HEAD", "/api/v1/me")).await;
    frontend.agrees(rule, 404, frontend.ask("HEAD", "/elsewhere")).await;
}

/// OPTIONS needs no token.
pub async fn options_lists_the_methods(frontend: &Frontend) {
    let rule = "OPTIONS reaches the catalogue, whose answer has neither body nor length.";
    frontend.agrees(rule, 204, Ask::new("OPTIONS", "/api/v1/courses")).await;
    frontend.agrees(rule, 204, Ask::new("OPTIONS", "/docs")).await;
    frontend.agrees(rule, 404, Ask::new("OPTIONS", "/elsewhere")).await;
}

/// Methods that write.
pub async fn other_methods_are_not_allowed(frontend: &Frontend) {
    let rule = "Methods that the catalogue does not have are refused by it.";
    for method in ["POST", "PUT", "PATCH", "DELETE", "TRACE"] {
        frontend.agrees(rule, 405, frontend.ask(method, "/api/v1/courses")).await;
    }
    frontend.agrees(rule, 405, Ask::new("POST", "/docs/llms.txt")).await;
}

/// A wrong method on an unknown path is not found; below the base URL it needs a token first.
pub async fn the_path_comes_before_the_method(frontend: &Frontend) {
    let rule = "A method is judged by the catalogue alone.";
    frontend.agrees(rule, 404, frontend.ask("DELETE", "/elsewhere")).await;
    frontend.agrees(rule, 404, frontend.ask("DELETE", "/api/v1/nothing")).await;
    frontend.agrees(rule, 401, Ask::new("PUT", "/api/v1/nothing")).await;
}

/// Methods of other standards, and nonstandard ones.
pub async fn extension_methods_are_kept(frontend: &Frontend) {
    let rule = "A method that HTTP does not name is one all the same.";
    for method in ["PROPFIND", "M-SEARCH", "X"] {
        frontend.agrees(rule, 405, frontend.ask(method, "/api/v1/me")).await;
    }
}

/// `get` is not GET.
pub async fn the_case_of_a_method_is_kept(frontend: &Frontend) {
    frontend.agrees("A method in small letters is another method.", 405, frontend.ask("get", "/api/v1/me")).await;
}

/// A header does not override the method.
pub async fn overrides_are_ignored(frontend: &Frontend) {
    let ask = frontend.get("/api/v1/me").header("x-http-method-override", "DELETE");
    frontend.agrees("A header does not replace the method.", 200, ask).await;
}

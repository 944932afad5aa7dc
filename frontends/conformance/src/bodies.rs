//! The body of a request is ignored.

use std::convert::identity;

use crate::Frontend;
use crate::cases::case_table;

case_table! {
    ($) __bodies_cases; bodies, frontend, rule, identity;

    body_is_ignored: "A body is ignored." => [(frontend.get("/api/v1/me").body("limit=0"), 200)];

    method_is_refused_despite_a_body: "A method is refused even with a body." => [
        (frontend.request("POST", "/api/v1/courses").body("{}"), 405),
        (frontend.request("PUT", "/api/v1/courses").body("{}"), 405),
        (frontend.request("DELETE", "/api/v1/courses").body("{}"), 405),
        (frontend.request("OPTIONS", "/api/v1/courses").body("{}"), 204),
    ];

    /// A body that does not match its media type is ignored, like any other.
    body_is_not_parsed: "A body is not parsed." => {
        for media_type in ["application/json", "application/x-www-form-urlencoded", "no media type"] {
            let request = frontend.get("/api/v1/courses?limit=1").header("content-type", media_type).body("{\"limit\": ");
            frontend.assert_matches_core(rule, 200, request).await;
        }
    };
}

//! Features that only HTTP/1 has.

use std::convert::identity;

use http::Version;

use crate::Frontend;
use crate::cases::case_table;
use crate::test_request::{HOST, TestRequest};

case_table! {
    ($) __http1_cases; http1, frontend, rule, identity;

    /// Requests to a proxy have such targets; every server must accept them (RFC 9112 section 3.2.2).
    absolute_targets_are_accepted: "An absolute URL as target means its path and query, or the root." => [
        (frontend.get(format!("http://{HOST}/api/v1/courses?limit=1")), 200),
        (frontend.get(format!("http://{HOST}/elsewhere")), 404),
        (frontend.get(format!("http://{HOST}")), 404),
    ];

    /// The asterisk stands for the whole server (RFC 9112 section 3.2.4), and the catalogue is only a part of it.
    asterisk_returns_404: "The asterisk is not a path of the catalogue." => [(TestRequest::new("OPTIONS", "*"), 404)];

    /// CONNECT is for proxies (RFC 9112 section 3.2.3).
    connect_returns_404: "The catalogue responds to CONNECT." => [
        (frontend.request("CONNECT", "example.com:443"), 404),
    ];

    chunked_body_is_ignored: "A body of unknown length is ignored." => [
        (frontend.get("/api/v1/me").header("transfer-encoding", "chunked").framed("7\r\nlimit=0\r\n0\r\n\r\n"), 200),
    ];

    /// An HTTP/1.0 request gets the response of HTTP/1.1; HTTP/1.0 does not require `Host`.
    http_1_0_is_supported: "An HTTP/1.0 request gets the response of HTTP/1.1." => {
        for method in ["GET", "HEAD"] {
            let mut request = frontend.request(method, "/api/v1/courses?limit=1");
            request.version = Version::HTTP_10;
            frontend.assert_matches_core(rule, 200, request).await;
        }
    };

    /// The response arrives before the body, which the client sends only afterwards.
    response_does_not_wait_for_body: "The response does not wait for the body." => {
        let mut request = frontend.get("/api/v1/me").body("limit=0");
        request.sends_body_after_response = true;
        frontend.assert_matches_core(rule, 200, request).await;
    };
}

//! Declared deviations are checked too: the suite catches each kind of wrong declaration.

use bytes::Bytes;
use catalogue_frontend_conformance::{Frontend, Protocol, Server, methods, query, responses, run};
use http::header::{CONTENT_LENGTH, ETAG};
use http::{HeaderName, HeaderValue};

use super::{Broken, assert_caught};

const CASE: &str = "query::repeated_parameters_are_preserved";

/// Runs a case over a frontend with the deviations that `declare` declares.
fn run_declared(
    broken: Broken,
    declare: impl Fn(Server) -> Server,
    case: &'static str,
    body: impl AsyncFnOnce(&Frontend),
) {
    run(case, Protocol::Http1, async |catalogue| declare(broken.serve(catalogue).await), body);
}

mod exceptions {
    use super::*;

    /// Runs `CASE` over a frontend that refuses repeated parameters with 422 if `flawed`, with `status` declared for `case`.
    fn run_with_exception(case: &str, status: impl Into<Option<u16>>, flawed: bool) {
        let status = status.into();
        let refused = move |query: &str| flawed && query.matches("limit").count() > 1;
        let broken = Broken::refuses(422, move |head| head.uri.query().is_some_and(refused));
        run_declared(
            broken,
            |server| server.expect_status(case, status),
            CASE,
            query::repeated_parameters_are_preserved,
        );
    }

    #[test]
    fn declared_deviation_passes() {
        run_with_exception(CASE, 422, true);
    }

    #[test]
    fn missing_deviation_fails_the_case() {
        assert_caught("the response does not differ", || run_with_exception(CASE, 400, false));
    }

    #[test]
    fn other_status_fails_the_case() {
        assert_caught("is 422 and not 400", || run_with_exception(CASE, 400, true));
    }

    #[test]
    fn declared_missing_response_passes() {
        let broken = Broken::request(|_| panic!("the connection breaks"));
        run_declared(broken, |server| server.expect_status(CASE, None), CASE, query::repeated_parameters_are_preserved);
    }

    #[test]
    fn unexpected_response_fails_the_case() {
        assert_caught("is 422 and not none", || run_with_exception(CASE, None, true));
    }

    #[test]
    fn deviation_of_other_case_has_no_effect() {
        let other = "query::empty_values_are_preserved";
        assert_caught("the status is 422 and not 400", || run_with_exception(other, 422, true));
    }

    #[test]
    fn unknown_case_is_refused() {
        assert_caught("unknown case", || run_with_exception("query::nothing", 422, true));
    }
}

mod requests {
    use super::*;

    const CASE: &str = "query::escaped_separators_are_preserved";

    /// Runs a case of three requests over a frontend that refuses the second with 422.
    fn run_with_exceptions(names: &[&str]) {
        let broken = Broken::refuses(422, |head| head.uri.query().is_some_and(|query| query.starts_with("limit%3D")));
        let declare = |server| names.iter().fold(server, |server: Server, name| server.expect_status(name, 422));
        run_declared(broken, declare, CASE, query::escaped_separators_are_preserved);
    }

    #[test]
    fn declared_request_passes() {
        run_with_exceptions(&["query::escaped_separators_are_preserved#2"]);
    }

    #[test]
    fn undeclared_request_is_named_in_failure() {
        assert_caught("(query::escaped_separators_are_preserved#2), the status is 422 and not 400", || {
            run_with_exceptions(&[]);
        });
    }

    #[test]
    fn unchanged_request_fails_the_case() {
        assert_caught("#1), the status is 400 and not 422, as", || {
            run_with_exceptions(&[
                "query::escaped_separators_are_preserved#1",
                "query::escaped_separators_are_preserved#2",
            ]);
        });
    }

    #[test]
    fn unsent_request_fails_the_case() {
        assert_caught("preserved#4 was declared, but no request", || {
            run_with_exceptions(&[
                "query::escaped_separators_are_preserved#2",
                "query::escaped_separators_are_preserved#4",
            ]);
        });
    }

    #[test]
    fn duplicate_declaration_is_refused() {
        assert_caught("was declared twice", || run_with_exceptions(&[CASE, CASE]));
    }

    #[test]
    fn invalid_request_number_is_refused() {
        for name in ["query::plus_is_preserved#", "query::plus_is_preserved#0", "query::plus_is_preserved#+1"] {
            assert_caught("is not a request; use a name like query::plus_is_preserved#1", || {
                run_with_exceptions(&[name]);
            });
        }
    }
}

mod bodies {
    use super::*;

    /// Runs `query_is_preserved` over a frontend that alters the request's target, with another body declared.
    fn run_with_other_body(alter: impl Fn(&str) -> String + Send + Sync + 'static) {
        let declare = |server: Server| server.expect_other_body("query::query_is_preserved");
        run_declared(Broken::target(alter), declare, "query::query_is_preserved", query::query_is_preserved);
    }

    #[test]
    fn declared_other_body_passes() {
        run_with_other_body(|target| target.replace("limit=1", "limit=2"));
    }

    #[test]
    fn unchanged_body_fails_the_case() {
        assert_caught("the response does not differ", || run_with_other_body(str::to_owned));
    }

    #[test]
    fn other_status_fails_the_case() {
        assert_caught("is 404 and not 200, as", || run_with_other_body(|target| format!("/elsewhere{target}")));
    }

    #[test]
    fn other_headers_with_same_body_fail_the_case() {
        let broken = Broken::response(|_, response| {
            response.headers_mut().remove(ETAG);
        });
        let declare = |server: Server| server.expect_other_body("query::query_is_preserved");
        assert_caught("the body does not differ", || {
            run_declared(broken, declare, "query::query_is_preserved", query::query_is_preserved);
        });
    }

    #[test]
    fn missing_response_fails_the_case() {
        let broken = Broken::request(|_| panic!("the connection breaks"));
        let declare = |server: Server| server.expect_other_body("query::query_is_preserved");
        assert_caught("the status is none and not 200", || {
            run_declared(broken, declare, "query::query_is_preserved", query::query_is_preserved);
        });
    }
}

mod headers {
    use super::*;

    const CASE: &str = "responses::link_header_is_preserved";

    /// Returns a frontend that sets a header of every response, or only of responses to GET.
    fn setting(name: &'static str, everywhere: bool) -> Broken {
        Broken::response(move |head, response| {
            if everywhere || head.method == http::Method::GET {
                response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static("hosts"));
            }
        })
    }

    fn removing(name: &'static str) -> Broken {
        Broken::response(move |_, response| {
            response.headers_mut().remove(name);
        })
    }

    fn run_adding(broken: Broken, names: &[&str]) {
        run_declared(
            broken,
            |server| server.adds_headers(names.iter().copied()),
            CASE,
            responses::link_header_is_preserved,
        );
    }

    fn run_dropping(broken: Broken, names: &[&str]) {
        run_declared(
            broken,
            |server| server.drops_headers(names.iter().copied()),
            CASE,
            responses::link_header_is_preserved,
        );
    }

    #[test]
    fn declared_added_header_passes() {
        run_adding(setting("server", true), &["Server"]);
    }

    #[test]
    fn missing_added_header_fails_the_case() {
        assert_caught("the header server was not added", || run_adding(Broken::new(), &["server"]));
    }

    #[test]
    fn header_added_to_some_responses_fails_the_case() {
        let declare = |server: Server| server.adds_headers(["server"]);
        let (case, body) = ("methods::options_lists_methods", methods::options_lists_methods);
        assert_caught("the header server was not added", || {
            run_declared(setting("server", false), declare, case, body);
        });
    }

    #[test]
    fn catalogue_header_cannot_be_added() {
        assert_caught("the header etag is the catalogue's", || run_adding(setting("etag", true), &["etag"]));
    }

    #[test]
    fn header_that_every_server_may_send_is_refused() {
        assert_caught("every server may send date", || run_adding(Broken::new(), &["Date"]));
    }

    #[test]
    fn undeclared_added_header_fails_the_case() {
        assert_caught("the header server was added", || run_adding(setting("server", true), &[]));
    }

    #[test]
    fn declared_dropped_header_passes() {
        run_dropping(removing("etag"), &["ETag"]);
    }

    #[test]
    fn undropped_header_fails_the_case() {
        assert_caught("the header etag was not dropped", || run_dropping(Broken::new(), &["etag"]));
    }

    #[test]
    fn replaced_header_fails_the_case() {
        assert_caught("the header etag was not dropped", || run_dropping(setting("etag", true), &["etag"]));
    }

    #[test]
    fn header_that_is_never_sent_cannot_be_dropped() {
        assert_caught("the catalogue never sends it", || run_dropping(Broken::new(), &["etags"]));
    }

    #[test]
    fn header_of_some_responses_can_be_dropped() {
        for name in ["www-authenticate", "allow", "access-control-allow-methods", "content-encoding"] {
            run_dropping(removing(name), &[name]);
        }
    }

    #[test]
    fn added_header_does_not_mask_missing_deviation() {
        let declare = |server: Server| server.adds_headers(["server"]).expect_status(CASE, 200);
        assert_caught("the response does not differ", || {
            run_declared(setting("server", true), declare, CASE, responses::link_header_is_preserved);
        });
    }

    #[test]
    fn added_header_does_not_mask_status_mismatch() {
        let broken = Broken::refuses(422, |head| head.uri.query().is_some());
        assert_caught("the status is 422 and not 200", || run_adding(broken, &["server"]));
    }

    #[test]
    fn added_header_does_not_mask_other_body() {
        let broken = Broken::response(|_, response| {
            response.headers_mut().insert("server", HeaderValue::from_static("hosts"));
            response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from_static("2"));
            *response.body_mut() = Bytes::from_static(b"{}");
        });
        assert_caught("the header content-length is", || run_adding(broken, &["server"]));
    }
}

//! Declared deviations are checked too: the suite catches each kind of wrong declaration.

use catalogue_frontend_conformance::{Protocol, Server, methods, query, responses, run};
use http::{HeaderValue, Method};

use crate::broken::Broken;
use crate::failure;
use crate::flaws::{path, query as alters_query, refuses, sets};

/// Creates a test of each declaration: the case fails with a message that contains the quoted words, or passes if there are
/// none.
macro_rules! declarations {
    ($($name:ident: $frontend:expr, $declare:expr, $topic:ident::$case:ident $(=> $words:literal)?;)*) => {
        $(
            #[test]
            fn $name() {
                let declare: fn(Server, &str) -> Server = $declare;
                let case = concat!(stringify!($topic), "::", stringify!($case));
                let fixture = async |catalogue| declare($frontend.serve(catalogue).await, case);
                let run = || run(case, Protocol::Http1, fixture, |frontend| Box::pin($topic::$case(frontend)));
                match [$($words)?].as_slice() as &[&str] {
                    [words] => {
                        let message = failure(run);
                        assert!(message.contains(words), "{message}");
                    }
                    _ => run(),
                }
            }
        )*
    };
}

/// Declares that requests of `case` get a 422.
fn expect_422(server: Server, case: &str, requests: &[&str]) -> Server {
    requests.iter().fold(server, |server, number| server.expect_status(&format!("{case}{number}"), 422))
}

fn refuses_repeated_parameters() -> Broken {
    refuses(422, |head| head.uri.query().is_some_and(|query| query.matches("limit").count() > 1))
}

/// Refuses the second request of `query::escaped_separators_are_preserved`.
fn refuses_second_request() -> Broken {
    refuses(422, |head| head.uri.query().is_some_and(|query| query.starts_with("limit%3D")))
}

fn breaks_connection() -> Broken {
    refuses(422, |_| panic!("the connection breaks"))
}

declarations! {
    declared_status_passes: refuses_repeated_parameters(), |server, case| server.expect_status(case, 422),
        query::repeated_parameters_are_preserved;
    missing_deviation_fails_the_case: Broken::new(), |server, case| server.expect_status(case, 400),
        query::repeated_parameters_are_preserved => "the response does not differ";
    other_status_fails_the_case: refuses_repeated_parameters(), |server, case| server.expect_status(case, 400),
        query::repeated_parameters_are_preserved => "is 422 and not 400, as";
    declared_missing_response_passes: breaks_connection(), |server, case| server.expect_status(case, None),
        query::repeated_parameters_are_preserved;
    unexpected_response_fails_the_case: refuses_repeated_parameters(), |server, case| server.expect_status(case, None),
        query::repeated_parameters_are_preserved => "is 422 and not none";
    deviation_of_other_case_has_no_effect: refuses_repeated_parameters(),
        |server, _| server.expect_status("query::empty_values_are_preserved", 422),
        query::repeated_parameters_are_preserved => "the status is 422 and not 400";
    unknown_case_is_refused: Broken::new(), |server, _| server.expect_status("query::nothing", 422),
        query::repeated_parameters_are_preserved => "unknown case";

    declared_request_passes: refuses_second_request(), |server, case| expect_422(server, case, &["#2"]),
        query::escaped_separators_are_preserved;
    undeclared_request_is_named_in_failure: refuses_second_request(), |server, _| server,
        query::escaped_separators_are_preserved
        => "(query::escaped_separators_are_preserved#2), the status is 422 and not 400";
    unchanged_request_fails_the_case: refuses_second_request(), |server, case| expect_422(server, case, &["#1", "#2"]),
        query::escaped_separators_are_preserved => "#1), the status is 400 and not 422, as";
    unsent_request_fails_the_case: refuses_second_request(), |server, case| expect_422(server, case, &["#2", "#4"]),
        query::escaped_separators_are_preserved => "preserved#4 was declared, but no request";
    duplicate_declaration_is_refused: refuses_second_request(), |server, case| expect_422(server, case, &["", ""]),
        query::escaped_separators_are_preserved => "was declared twice";
    missing_request_number_is_refused: Broken::new(), |server, case| expect_422(server, case, &["#"]),
        query::plus_is_preserved => "is not a request; use a name like query::plus_is_preserved#1";
    zero_as_request_number_is_refused: Broken::new(), |server, case| expect_422(server, case, &["#0"]),
        query::plus_is_preserved => "is not a request; use a name like query::plus_is_preserved#1";
    signed_request_number_is_refused: Broken::new(), |server, case| expect_422(server, case, &["#+1"]),
        query::plus_is_preserved => "is not a request; use a name like query::plus_is_preserved#1";

    declared_other_body_passes: alters_query(|_| "limit=2".to_owned()), |server, case| server.expect_other_body(case),
        query::query_is_preserved;
    unchanged_body_fails_the_case: Broken::new(), |server, case| server.expect_other_body(case),
        query::query_is_preserved => "the response does not differ";
    other_status_with_other_body_fails_the_case: path(|path| format!("/elsewhere{path}")),
        |server, case| server.expect_other_body(case), query::query_is_preserved => "is 404 and not 200, as";
    other_headers_with_same_body_fail_the_case: sets("etag", None), |server, case| server.expect_other_body(case),
        query::query_is_preserved => "the body does not differ";
    missing_response_fails_the_case: breaks_connection(), |server, case| server.expect_other_body(case),
        query::query_is_preserved => "the status is none and not 200";

    declared_added_header_passes: sets("server", Some("hosts")), |server, _| server.adds_headers(["Server"]),
        responses::link_header_is_preserved;
    missing_added_header_fails_the_case: Broken::new(), |server, _| server.adds_headers(["server"]),
        responses::link_header_is_preserved => "the header server was not added";
    header_added_to_some_responses_fails_the_case: Broken::response(|head, response| {
        if head.method == Method::GET {
            response.headers_mut().insert("server", HeaderValue::from_static("hosts"));
        }
    }), |server, _| server.adds_headers(["server"]),
        methods::options_lists_methods => "the header server was not added";
    catalogue_header_cannot_be_added: sets("etag", Some("hosts")), |server, _| server.adds_headers(["etag"]),
        responses::link_header_is_preserved => "the header etag is the catalogue's";
    header_that_every_server_may_send_is_refused: Broken::new(), |server, _| server.adds_headers(["Date"]),
        responses::link_header_is_preserved => "every server may send date";
    declared_dropped_header_passes: sets("etag", None), |server, _| server.drops_headers(["ETag"]),
        responses::link_header_is_preserved;
    undropped_header_fails_the_case: Broken::new(), |server, _| server.drops_headers(["etag"]),
        responses::link_header_is_preserved => "the header etag was not dropped";
    replaced_header_fails_the_case: sets("etag", Some("hosts")), |server, _| server.drops_headers(["etag"]),
        responses::link_header_is_preserved => "the header etag was not dropped";
    header_that_is_never_sent_cannot_be_dropped: Broken::new(), |server, _| server.drops_headers(["etags"]),
        responses::link_header_is_preserved => "the catalogue never sends it";
    headers_of_some_responses_can_be_dropped: Broken::new(),
        |server, _| server.drops_headers(["www-authenticate", "allow", "access-control-allow-methods", "content-encoding"]),
        responses::link_header_is_preserved;
    added_header_does_not_mask_missing_deviation: sets("server", Some("hosts")),
        |server, case| server.adds_headers(["server"]).expect_status(case, 200),
        responses::link_header_is_preserved => "the response does not differ";
    added_header_does_not_mask_status_mismatch: refuses(422, |head| head.uri.query().is_some()),
        |server, _| server.adds_headers(["server"]), responses::link_header_is_preserved => "the status is 422 and not 200";
    added_header_does_not_mask_other_body: Broken::response(|_, response| {
        response.headers_mut().insert("server", HeaderValue::from_static("hosts"));
        *response.body_mut() = vec![b'x'; response.body().len()].into();
    }), |server, _| server.adds_headers(["server"]), responses::link_header_is_preserved => "the body differs";
}

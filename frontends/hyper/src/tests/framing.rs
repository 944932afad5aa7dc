//! Heads that are refused before there is a request.

use super::super::ServerConfig;
use super::support::{GET, Server, assert_bare, status, with};

/// Asserts that each request gets the status, and that what follows it is not served.
macro_rules! refused {
    ($($name:ident: $request:expr => $status:literal;)*) => {
        $(
            #[tokio::test]
            async fn $name() {
                let server = Server::start_default().await;
                let smuggled = b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n".as_slice();
                let responses = server.exchange([$request.as_ref(), smuggled].concat()).await;
                assert_bare(&responses, $status);
                assert_eq!(server.reached(), 0);
            }
        )*
    };
}

refused! {
    no_request_line: b"\0\x01\x02\r\n\r\n" => "400";
    a_tls_greeting: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" => "400";
    a_line_without_target: b"GET HTTP/1.1\r\nHost: a\r\n\r\n" => "400";
    a_line_with_a_tab: b"GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n" => "400";
    a_line_with_two_spaces: b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n" => "400";
    a_line_without_version: b"GET /\r\nHost: a\r\n\r\n" => "400";
    an_unknown_version: b"GET / HTTP/1.2\r\nHost: a\r\n\r\n" => "400";
    the_preface_of_http_2: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" => "400";
    a_bad_method: b"G@T / HTTP/1.1\r\nHost: a\r\n\r\n" => "400";
    a_control_character_in_the_target: b"GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n" => "400";
    a_folded_field: b"GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n" => "400";
    a_space_before_the_first_field: b"GET / HTTP/1.1\r\n Host: a\r\n\r\n" => "400";
    a_space_before_the_colon: b"GET / HTTP/1.1\r\nHost : a\r\n\r\n" => "400";
    a_field_without_colon: b"GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n" => "400";
    a_field_without_name: b"GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n" => "400";
    a_bad_field_name: b"GET / HTTP/1.1\r\nHost: a\r\nX(Y): z\r\n\r\n" => "400";
    a_nul_in_a_value: b"GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n" => "400";
    a_nul_in_a_name: b"GET / HTTP/1.1\r\nHost: a\r\nX\0Y: a\r\n\r\n" => "400";
    a_lone_carriage_return_in_a_line: b"GET /\rx HTTP/1.1\r\nHost: a\r\n\r\n" => "400";
    a_lone_carriage_return_at_the_end_of_a_line: b"GET / HTTP/1.1\rHost: a\r\n\r\n" => "400";
    a_lone_carriage_return: b"GET / HTTP/1.1\r\nHost: a\r\nX: a\rY: b\r\n\r\n" => "400";
    a_length_that_is_negative: b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n" => "400";
    a_length_with_a_sign: b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n" => "400";
    a_length_that_is_no_number: b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1\r\n\r\n" => "400";
    a_length_that_is_empty: b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n" => "400";
    a_length_that_overflows: b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551616\r\n\r\n" => "400";
    a_list_of_lengths: b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n" => "400";
    differing_lengths: b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n" => "400";
    a_coding_that_is_not_chunked: b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n" => "400";
    a_coding_after_chunked: b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n" => "400";
    a_second_field_with_a_coding_after_chunked:
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n" => "400";
    a_coding_like_chunked: b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n" => "400";
    chunked_twice:
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n" => "400";
    chunked_twice_in_two_fields:
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        => "400";
    a_coding_before_chunked:
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n" => "400";
    a_field_with_a_coding_before_chunked:
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" => "400";
    an_empty_coding_before_chunked:
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: , chunked\r\n\r\n0\r\n\r\n" => "400";
    a_parameter_of_chunked:
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n" => "400";
    a_vertical_tab_before_chunked:
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n" => "400";
    a_coding_with_a_space_before_the_colon:
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n" => "400";
    a_folded_coding: b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n" => "400";
    a_coding_in_http_1_0: b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" => "400";
    a_coding_that_is_not_chunked_beside_a_length:
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: gzip\r\n\r\nabc" => "400";
    more_than_100_fields: format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(100)) => "431";
    a_head_beyond_16_kib: head_of(16 * 1024 + 1) => "431";
    fields_beyond_16_kib: format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", format!("X: {}\r\n", "x".repeat(1_000)).repeat(17))
        => "431";
    a_line_beyond_16_kib: format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(16 * 1024)) => "431";
    an_endless_line: "x".repeat(1024 * 1024) => "431";
}

/// Returns a request whose head has `bytes` bytes.
fn head_of(bytes: usize) -> String {
    let (before, after) = ("GET / HTTP/1.1\r\nHost: a\r\nX: ", "\r\n\r\n");
    format!("{before}{}{after}", "x".repeat(bytes - before.len() - after.len()))
}

#[tokio::test]
async fn a_hundred_fields_are_served() {
    let server = Server::start_default().await;
    let mut client = server.connect().await;
    client.send(format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(99))).await;
    assert_eq!(status(&client.response().await), "200");
}

#[tokio::test]
async fn a_head_of_16_kib_is_served() {
    let server = Server::start_default().await;
    let mut client = server.connect().await;
    client.send(head_of(16 * 1024)).await;
    assert_eq!(status(&client.response().await), "200");
}

#[tokio::test]
async fn head_limit_is_at_least_8_kib() {
    let server = Server::start(with(ServerConfig::default(), |c| c.limits.head_bytes = 1)).await;
    for (bytes, expected) in [(8 * 1024, "200"), (8 * 1024 + 1, "431")] {
        let mut client = server.connect().await;
        client.send(head_of(bytes)).await;
        assert_eq!(status(&client.response().await), expected);
    }
}

#[tokio::test]
async fn lines_may_end_with_a_line_feed_alone() {
    // RFC 9112, 2.2, allows it, and no program reads such a line differently.
    let server = Server::start_default().await;
    let mut client = server.connect().await;
    client.send("GET / HTTP/1.1\nHost: a\n\n").await;
    assert_eq!(status(&client.response().await), "200");
}

#[tokio::test]
async fn chunked_is_written_in_any_case() {
    let server = Server::start_default().await;
    let mut client = server.connect().await;
    client.send("POST / HTTP/1.1\r\nHost: a\r\ntransfer-encoding:\t Chunked \r\n\r\n0\r\n\r\n").await;
    assert_eq!(status(&client.response().await), "200");
    client.send(GET).await;
    assert_eq!(status(&client.response().await), "200");
}

#[tokio::test]
async fn a_refusal_follows_the_answers_before_it() {
    let server = Server::start_default().await;
    let mut client = server.connect().await;
    client.send([GET, b"GET / HTTP/1.1\r\nHost : a\r\n\r\n"].concat()).await;
    assert_eq!(status(&client.response().await), "200");
    assert_bare(&client.read_to_end().await, "400");
}

#[tokio::test]
async fn a_refused_client_leaves_the_server_alone() {
    let server = Server::start(with(ServerConfig::default(), |c| c.limits.connections = 1)).await;
    assert_bare(&server.exchange("what?\r\n\r\n").await, "400");
    let mut client = server.connect().await;
    client.send(GET).await;
    assert_eq!(status(&client.response().await), "200");
}

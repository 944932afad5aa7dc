//! Heads that are refused because of their form, their `Host` (RFC 9112, 3.2) or their size, and unusual or long heads, which
//! are served.

use super::super::ServerConfig;
use super::support::{GET, SMUGGLED, Server, assert_bare, status, with};

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
    binary_request_line_returns_400: b"\0\x01\x02\r\n\r\n" => "400";
    tls_client_hello_returns_400: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" => "400";
    line_without_target_returns_400: b"GET HTTP/1.1\r\nHost: a\r\n\r\n" => "400";
    line_with_tab_returns_400: b"GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n" => "400";
    line_with_two_spaces_returns_400: b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n" => "400";
    line_without_version_returns_400: b"GET /\r\nHost: a\r\n\r\n" => "400";
    unknown_version_returns_400: b"GET / HTTP/1.2\r\nHost: a\r\n\r\n" => "400";
    http_2_preface_returns_400: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" => "400";
    invalid_method_returns_400: b"G@T / HTTP/1.1\r\nHost: a\r\n\r\n" => "400";
    control_character_in_target_returns_400: b"GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n" => "400";
    folded_field_returns_400: b"GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n" => "400";
    space_before_first_field_returns_400: b"GET / HTTP/1.1\r\n Host: a\r\n\r\n" => "400";
    space_before_colon_returns_400: b"GET / HTTP/1.1\r\nHost : a\r\n\r\n" => "400";
    field_without_colon_returns_400: b"GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n" => "400";
    field_without_name_returns_400: b"GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n" => "400";
    invalid_field_name_returns_400: b"GET / HTTP/1.1\r\nHost: a\r\nX(Y): z\r\n\r\n" => "400";
    nul_in_value_returns_400: b"GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n" => "400";
    nul_in_name_returns_400: b"GET / HTTP/1.1\r\nHost: a\r\nX\0Y: a\r\n\r\n" => "400";
    bare_carriage_return_in_line_returns_400: b"GET /\rx HTTP/1.1\r\nHost: a\r\n\r\n" => "400";
    line_ended_by_carriage_return_returns_400: b"GET / HTTP/1.1\rHost: a\r\n\r\n" => "400";
    bare_carriage_return_in_field_returns_400: b"GET / HTTP/1.1\r\nHost: a\r\nX: a\rY: b\r\n\r\n" => "400";
    negative_length_returns_400: b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n" => "400";
    signed_length_returns_400: b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n" => "400";
    non_decimal_length_returns_400: b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1\r\n\r\n" => "400";
    empty_length_returns_400: b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n" => "400";
    overflowing_length_returns_400: b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551616\r\n\r\n" => "400";
    list_of_lengths_returns_400: b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n" => "400";
    differing_lengths_return_400: b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n" => "400";
    coding_other_than_chunked_returns_400: b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n" => "400";
    coding_after_chunked_returns_400: b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n" => "400";
    second_field_with_coding_after_chunked_returns_400:
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n" => "400";
    coding_similar_to_chunked_returns_400: b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n" => "400";
    chunked_twice_returns_400:
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n" => "400";
    chunked_in_two_fields_returns_400:
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        => "400";
    coding_before_chunked_returns_400:
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n" => "400";
    field_with_coding_before_chunked_returns_400:
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" => "400";
    empty_coding_before_chunked_returns_400:
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: , chunked\r\n\r\n0\r\n\r\n" => "400";
    parameter_of_chunked_returns_400:
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n" => "400";
    vertical_tab_before_chunked_returns_400:
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n" => "400";
    coding_with_space_before_colon_returns_400:
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n" => "400";
    folded_coding_returns_400: b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n" => "400";
    coding_in_http_1_0_returns_400: b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" => "400";
    coding_other_than_chunked_with_length_returns_400:
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: gzip\r\n\r\nabc" => "400";
    more_than_100_fields_return_431: format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(100)) => "431";
    head_over_16_kib_returns_431: head_of(16 * 1024 + 1) => "431";
    fields_over_16_kib_return_431: format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", format!("X: {}\r\n", "x".repeat(1_000)).repeat(17))
        => "431";
    line_over_16_kib_returns_431: format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(16 * 1024)) => "431";
    endless_line_returns_431: "x".repeat(1024 * 1024) => "431";
}

/// Asserts that each request gets the status, and that what follows it is not served.
async fn assert_refused(requests: impl IntoIterator<Item = Vec<u8>>, status: &str) {
    let server = Server::start_default().await;
    for request in requests {
        let responses = server.exchange([&request, SMUGGLED.as_bytes()].concat()).await;
        let start = request[..request.len().min(80)].escape_ascii();
        assert_eq!(self::status(&responses), status, "{start}: {responses}");
        assert_bare(&responses, status);
        assert_eq!(server.reached(), 0, "{start}");
    }
}

#[tokio::test]
async fn malformed_head_returns_400() {
    let heads: [&[u8]; 19] = [
        b"\0\x01\x02\r\n\r\n",
        // The beginning of a TLS handshake.
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.2\r\nHost: a\r\n\r\n",
        b"G@T / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /\rx HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\rHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\n Host: a\r\n\r\n",
        b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET http://a/ HTTP/1.1\r\nHost: a b\r\n\r\n",
        b"GET / HTTP/1.0\r\nHost: a b\r\n\r\n",
        b"GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET http://a/ HTTP/1.1\r\n\r\n",
        b"CONNECT a:443 HTTP/1.1\r\n\r\n",
    ];
    assert_refused(heads.map(<[u8]>::to_vec), "400").await;
    assert_refused(["GET", "HEAD"].map(|method| format!("{method} / HTTP/1.1\r\n\r\n").into()), "400").await;
}

#[tokio::test]
async fn invalid_host_or_field_returns_400() {
    let hosts = ["", "user@a", "a/b", "a b", "a:b", "http://a", "a\r\nHost: b", "a\r\nHost: a"];
    let fields = ["X: a\r\n b", "X", ": x", "X(Y): z", "X: a\0b", "X\0Y: a", "X: a\rY: b", "X : a"];
    let heads = hosts.map(|host| format!("Host:{host}")).into_iter();
    let heads = heads.chain(fields.map(|field| format!("Host: a\r\n{field}"))).chain(["Host : a".to_owned()]);
    assert_refused(heads.map(|head| format!("GET / HTTP/1.1\r\n{head}\r\n\r\n").into()), "400").await;
}

#[tokio::test]
async fn invalid_length_or_coding_returns_400() {
    let fields = [
        "Content-Length: -1",
        "Content-Length: +1",
        "Content-Length: 0x1",
        "Content-Length:",
        "Content-Length: 18446744073709551616",
        "Content-Length: 1, 1",
        "Content-Length: 1\r\nContent-Length: 2",
        "Content-Length: 3\r\nTransfer-Encoding: gzip",
        "Transfer-Encoding: gzip",
        "Transfer-Encoding: chunked, gzip",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: identity, chunked",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: , chunked",
        "Transfer-Encoding: chunked;q=1",
        "Transfer-Encoding: \x0bchunked",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding:\r\n chunked",
    ];
    let request = |fields| format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n\r\n0\r\n\r\n").into();
    assert_refused(fields.map(request), "400").await;
}

#[tokio::test]
async fn too_large_head_returns_431() {
    let fields = |text: &str, count| format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", text.repeat(count));
    let requests = [
        fields("X: y\r\n", 100),
        fields(&format!("X: {}\r\n", "x".repeat(1_000)), 17),
        head_of(16 * 1024 + 1),
        format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(16 * 1024)),
        "x".repeat(1024 * 1024),
    ];
    assert_refused(requests.map(String::into_bytes), "431").await;
}

/// Returns a request whose head has `bytes` bytes.
fn head_of(bytes: usize) -> String {
    let (before, after) = ("GET / HTTP/1.1\r\nHost: a\r\nX: ", "\r\n\r\n");
    format!("{before}{}{after}", "x".repeat(bytes - before.len() - after.len()))
}

#[tokio::test]
async fn unusual_and_long_heads_are_served() {
    let server = Server::start_default().await;
    for request in [
        "GET / HTTP/1.0\r\n\r\n",
        "GET http://a/ HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: example.com:8080\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n",
        // RFC 9112, 2.2, allows a server to accept such lines.
        "GET / HTTP/1.1\nHost: a\n\n",
        "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\ntransfer-encoding:\t Chunked \r\n\r\n0\r\n\r\n",
        &format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(99)),
        &head_of(16 * 1024),
    ] {
        let mut client = server.connect().await;
        client.send(request).await;
        assert_eq!(status(&client.response().await), "200", "{request}");
        if !request.contains("HTTP/1.0") {
            client.assert_served().await;
        }
    }
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
async fn refusal_follows_earlier_responses() {
    let (_server, mut client) = Server::start_default_with_client().await;
    client.send([GET, b"GET / HTTP/1.1\r\nHost : a\r\n\r\n"].concat()).await;
    assert_eq!(status(&client.response().await), "200");
    assert_bare(&client.read_to_end().await, "400");
}

#[tokio::test]
async fn refused_client_frees_its_connection() {
    let server = Server::start(with(ServerConfig::default(), |c| c.limits.connections = 1)).await;
    assert_bare(&server.exchange("what?\r\n\r\n").await, "400");
    let mut client = server.connect().await;
    client.assert_served().await;
}

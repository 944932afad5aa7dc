//! Heads that are refused because of their form, their `Host` (RFC 9112, 3.2) or their size, and unusual or long heads, which
//! are served.

use super::super::ServerConfig;
use super::support::{GET, SMUGGLED, Server, assert_bare, status, with};

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

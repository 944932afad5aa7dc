//! Request bodies that the service ignores, and malformed ones.

use super::support::{SMUGGLED, Server, announces_close, status};

/// Returns the head of a request with a body of `length` bytes.
fn post(length: usize) -> String {
    format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n")
}

/// Head of a request with a chunked body.
const CHUNKED: &str = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

#[tokio::test]
async fn request_pipelined_after_body_is_served() {
    let (_server, mut client) = Server::start_default_with_client().await;
    client.send(format!("{}hello{}world", post(5), post(5))).await;
    for _ in 0..2 {
        assert!(client.response().await.ends_with("POST /"));
    }
    client.assert_served().await;
}

#[tokio::test]
async fn service_gets_length_of_body() {
    let server = Server::start_default().await;
    for (head, expected) in [
        ("GET /body-hint HTTP/1.1\r\nHost: a\r\n\r\n", "Some(0) true"),
        ("POST /body-hint HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n", "Some(5) false"),
        ("POST /body-hint HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "None false"),
    ] {
        let mut client = server.connect().await;
        client.send(head).await;
        let response = client.response().await;
        assert!(response.ends_with(expected), "{response}");
    }
}

#[tokio::test]
async fn response_does_not_wait_for_body() {
    let server = Server::start_default().await;
    for head in [post(5), CHUNKED.to_owned()] {
        let mut client = server.connect().await;
        client.send(head).await;
        let response = client.read_to_end().await;
        assert!(response.ends_with("POST /"), "{response}");
    }
}

#[tokio::test]
async fn response_survives_unread_large_body() {
    let (_server, mut client) = Server::start_default_with_client().await;
    let body = "x".repeat(8 * 1024 * 1024);
    // The client reads nothing before it has sent everything.
    client.send(post(body.len()) + &body).await;
    let response = client.read_to_end().await;
    assert_eq!(status(&response), "200");
    assert!(response.ends_with("POST /"), "{response}");
}

#[tokio::test]
async fn ignored_body_gets_no_100_continue() {
    let server = Server::start_default().await;
    let request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";
    let response = server.exchange(request).await;
    assert_eq!(status(&response), "200");
    assert_eq!(response.matches("HTTP/1.1").count(), 1, "{response}");
}

#[tokio::test]
async fn client_is_served_without_waiting_for_continue() {
    let (_server, mut client) = Server::start_default_with_client().await;
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello").await;
    assert!(client.response().await.ends_with("POST /"));
    client.assert_served().await;
}

/// Chunks take precedence over a length, and nothing after them is served.
#[tokio::test]
async fn length_next_to_coding_smuggles_no_request() {
    for fields in [
        "Content-Length: 44\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: -5\r\n",
    ] {
        let server = Server::start_default().await;
        let request = format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n0\r\n\r\n{SMUGGLED}");
        let responses = server.exchange(request).await;
        assert!(status(&responses) == "200" && announces_close(&responses), "{responses}");
        assert_eq!(responses.matches("HTTP/1.1").count(), 1, "{responses}");
        assert_eq!(server.reached(), 1);
    }
}

#[tokio::test]
async fn nothing_after_malformed_body_is_served() {
    for (problem, body) in [
        ("non numeric chunk size", "x\r\n"),
        ("signed chunk size", "+1\r\na\r\n0\r\n\r\n"),
        ("prefixed chunk size", "0x1\r\na\r\n0\r\n\r\n"),
        ("overflowing chunk size", "fffffffffffffffff\r\n"),
        ("chunk size ended by line feed", "1\na\r\n0\r\n\r\n"),
        ("chunk extension with line feed", "1;a\nb\r\na\r\n0\r\n\r\n"),
        ("chunk longer than size", "1\r\nab\r\n0\r\n\r\n"),
        ("chunk ended by line feed", "1\r\na\n0\r\n\r\n"),
        ("last chunk with line feed", "0\r\n\n"),
        ("trailer ended by line feed", "0\r\nX: y\nGET / HTTP/1.1\r\n"),
    ] {
        let (server, mut client) = Server::start_default_with_client().await;
        client.send(format!("{CHUNKED}{body}{SMUGGLED}")).await;
        client.finish().await;
        let responses = client.read_to_end().await;
        assert_eq!(responses.matches("HTTP/1.1").count(), 1, "{problem}: {responses}");
        assert_eq!(server.reached(), 1, "{problem}");
    }
}

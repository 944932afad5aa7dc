//! Request bodies that the service ignores.

use super::support::{Client, GET, Server, announces_close, status};

/// Returns the head of a request with a body of `length` bytes.
fn post(length: usize) -> String {
    format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n")
}

/// Head of a request with a chunked body.
const CHUNKED: &str = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

/// Asserts that the connection serves a further request.
async fn assert_open(client: &mut Client) {
    client.send(GET).await;
    assert!(client.response().await.ends_with("GET /"));
}

#[tokio::test]
async fn ignored_body_that_came_with_its_head_keeps_the_connection() {
    let server = Server::start_default().await;
    let mut client = server.connect().await;
    client.send(post(5) + "hello").await;
    assert!(client.response().await.ends_with("POST /"));
    assert_open(&mut client).await;
}

#[tokio::test]
async fn a_request_right_behind_a_body_is_served() {
    let server = Server::start_default().await;
    let mut client = server.connect().await;
    client.send(format!("{}hello{}world", post(5), post(5))).await;
    assert_eq!(status(&client.response().await), "200");
    assert_eq!(status(&client.response().await), "200");
    assert_open(&mut client).await;
}

#[tokio::test]
async fn service_sees_the_length_of_a_body() {
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
async fn the_answer_does_not_wait_for_the_body() {
    let server = Server::start_default().await;
    for head in [post(5), CHUNKED.to_owned()] {
        let mut client = server.connect().await;
        client.send(head).await;
        let answer = client.read_to_end().await;
        assert!(answer.ends_with("POST /"), "{answer}");
    }
}

#[tokio::test]
async fn the_answer_survives_a_much_larger_body() {
    let server = Server::start_default().await;
    let mut client = server.connect().await;
    let body = "x".repeat(8 * 1024 * 1024);
    // The client reads nothing before it has sent everything.
    client.send(post(body.len()) + &body).await;
    let answer = client.read_to_end().await;
    assert_eq!(status(&answer), "200");
    assert!(answer.ends_with("POST /"), "{answer}");
}

#[tokio::test]
async fn nobody_is_told_to_continue() {
    let server = Server::start_default().await;
    let request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";
    let answer = server.exchange(request).await;
    assert_eq!(status(&answer), "200");
    assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{answer}");
}

#[tokio::test]
async fn who_does_not_wait_to_continue_is_answered_too() {
    let server = Server::start_default().await;
    let mut client = server.connect().await;
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello").await;
    assert!(client.response().await.ends_with("POST /"));
    assert_open(&mut client).await;
}

/// Asserts that of a length and chunks the chunks count, and that nothing after them is served.
async fn assert_not_smuggled(fields: &str) {
    let server = Server::start_default().await;
    let smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
    let responses = server.exchange(format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n0\r\n\r\n{smuggled}")).await;
    assert_eq!(status(&responses), "200");
    assert!(announces_close(&responses), "{responses}");
    assert_eq!(responses.matches("HTTP/1.1").count(), 1, "{responses}");
    assert_eq!(server.reached(), 1);
}

#[tokio::test]
async fn a_length_before_the_coding_smuggles_nothing() {
    assert_not_smuggled("Content-Length: 44\r\nTransfer-Encoding: chunked\r\n").await;
}

#[tokio::test]
async fn a_length_behind_the_coding_smuggles_nothing() {
    assert_not_smuggled("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n").await;
}

#[tokio::test]
async fn a_bad_length_behind_the_coding_smuggles_nothing() {
    assert_not_smuggled("Transfer-Encoding: chunked\r\nContent-Length: -5\r\n").await;
}

/// Asserts that nothing after a malformed body is served.
macro_rules! broken {
    ($($name:ident: $body:literal;)*) => {
        $(
            #[tokio::test]
            async fn $name() {
                let server = Server::start_default().await;
                let smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
                let mut client = server.connect().await;
                client.send(format!("{CHUNKED}{}{smuggled}", $body)).await;
                client.finish().await;
                let responses = client.read_to_end().await;
                assert_eq!(responses.matches("HTTP/1.1").count(), 1, "{responses}");
                assert_eq!(server.reached(), 1);
            }
        )*
    };
}

broken! {
    a_chunk_size_that_is_no_number: "x\r\n";
    a_chunk_size_with_a_sign: "+1\r\na\r\n0\r\n\r\n";
    a_chunk_size_with_a_prefix: "0x1\r\na\r\n0\r\n\r\n";
    a_chunk_size_that_overflows: "fffffffffffffffff\r\n";
    a_chunk_size_ended_by_a_line_feed: "1\na\r\n0\r\n\r\n";
    a_chunk_extension_with_a_line_feed: "1;a\nb\r\na\r\n0\r\n\r\n";
    a_chunk_longer_than_said: "1\r\nab\r\n0\r\n\r\n";
    a_chunk_ended_by_a_line_feed: "1\r\na\n0\r\n\r\n";
    an_end_of_chunks_with_a_line_feed: "0\r\n\n";
    a_trailer_ended_by_a_line_feed: "0\r\nX: y\nGET / HTTP/1.1\r\n";
}

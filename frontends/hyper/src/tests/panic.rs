//! A service that panics.

use super::support::{GET, Server, assert_bare, status};

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n")
}

/// Asserts that a panic of the service gets a 500, and ends only its connection.
async fn assert_survived(path: &str) {
    let server = Server::start_default().await;
    assert_bare(&server.exchange(get(path)).await, "500");
    assert_eq!(server.metrics.panics(), 1);
    let mut client = server.connect().await;
    client.send(GET).await;
    assert_eq!(status(&client.response().await), "200");
}

#[tokio::test]
async fn panic_in_service_call_returns_500() {
    assert_survived("/panic-in-call").await;
}

#[tokio::test]
async fn panic_in_future_returns_500() {
    assert_survived("/panic").await;
}

#[tokio::test]
async fn panic_in_suspended_future_returns_500() {
    assert_survived("/panic-late").await;
}

/// hyper already has the head, so there can be no other response: the connection ends before the response is complete.
#[tokio::test]
async fn panic_in_response_body_ends_connection() {
    let server = Server::start_default().await;
    for path in ["/panic-in-body", "/panic-late-in-body"] {
        let mut client = server.connect().await;
        client.send(GET).await;
        client.response().await;
        client.send(get(path)).await;
        assert!(!client.end().await.ends_with(b"0\r\n\r\n"), "{path}");
    }
    let mut client = server.connect().await;
    client.send(GET).await;
    assert_eq!(status(&client.response().await), "200");
    assert_eq!(server.metrics.panics(), 2);
}

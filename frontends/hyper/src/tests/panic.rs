//! A service that panics.

use super::support::{Server, assert_bare};

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n")
}

#[tokio::test]
async fn panic_returns_500_and_ends_only_its_connection() {
    for path in ["/panic-in-call", "/panic", "/panic-late"] {
        let (server, mut client) = Server::start_default_with_client().await;
        assert_bare(&server.exchange(get(path)).await, "500");
        assert_eq!(server.metrics.panics(), 1, "{path}");
        client.assert_served().await;
    }
}

/// hyper already has the head, so there can be no other response: the connection ends before the response is complete.
#[tokio::test]
async fn panic_in_response_body_ends_connection() {
    let server = Server::start_default().await;
    for path in ["/panic-in-body", "/panic-late-in-body"] {
        let mut client = server.connect().await;
        client.assert_served().await;
        client.send(get(path)).await;
        assert!(!client.end().await.ends_with(b"0\r\n\r\n"), "{path}");
    }
    let mut client = server.connect().await;
    client.assert_served().await;
    assert_eq!(server.metrics.panics(), 2);
}
